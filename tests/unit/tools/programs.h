/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the tools that run programs, in a real sandbox, as root and as an ordinary user. The body runs in a process of its own
 * (backend/boxes.h): MUST() says what went wrong and ends it.
 */
#pragma once

#include "backend/boxes.h"

#include "base/buf.h"
#include "data/json.h"
#include "tools/tool.h"

struct caller {
	struct den *d;
	struct tool_ctx ctx;
	struct tool_programs programs;
	struct tool_memory memory;
	struct arena arena;
	struct buf out;
	struct value result;
	struct err e;
	char mark[64];
	struct str env[2];
	int r;
};

static inline void caller_init(struct caller *c, struct den *d)
{
	*c = (struct caller){ .d = d };
	arena_init(&c->arena, (size_t)512 << 20);
	buf_init(&c->out, (size_t)64 << 20);
	(void)snprintf(c->mark, sizeof(c->mark), "MARK=%s", mark);
	c->env[0] = STR("PATH=/usr/bin:/bin");
	c->env[1] = str_z(c->mark);
	c->programs = (struct tool_programs){ .box = d->box,
					      .memory = &c->memory,
					      .env = { c->env, 2 },
					      .path = STR("/usr/bin:/bin"),
					      .workdir = STR("/tmp"),
					      .timeout_ms = 60000 };
	c->ctx = (struct tool_ctx){ .arena = &c->arena, .work = STR("/tmp"), .programs = &c->programs };
}

static inline void caller_done(struct caller *c)
{
	tools_forget(&c->memory);
	buf_done(&c->out);
	arena_done(&c->arena);
}

#define CALLER(name, d_)                                   \
	_cleanup_(caller_done) struct caller name = { 0 }; \
	caller_init(&name, (d_))

/* What policy makes of a text where shells are allowed. */
static inline struct strs decided(struct caller *c, const struct tool_ask *ask)
{
	struct str *v;

	if (ask->argv.n)
		return ask->argv;
	v = ARENA_ARRAY(&c->arena, struct str, 3);
	v[0] = STR("sh");
	v[1] = STR("-c");
	v[2] = ask->command;
	return (struct strs){ v, 3 };
}

static inline int call_tool(struct caller *c, const char *tool, struct str args)
{
	const struct tool *t = tools_find(str_z(tool));
	struct tool_ask ask = { 0 };
	struct jsonw w;
	struct value v;

	MUST(t);
	buf_done(&c->out);
	c->e = (struct err){ 0 };
	c->result = (struct value){ 0 };
	if (json_parse(&c->arena, args, &(struct json_opts){ .json5 = true, .max_bytes = (size_t)64 << 20 },
		       &v, &c->e) < 0)
		fail_with("bad arguments of the test", &c->e);
	c->r = tools_ask(t, &c->arena, &v, &ask, &c->e);
	if (c->r < 0)
		return c->r;
	c->programs.argv = decided(c, &ask);
	if (ask.has_timeout)
		c->programs.timeout_ms = ask.timeout_s * 1000;
	jsonw_init(&w, &c->out, 0);
	jsonw_obj(&w);
	c->r = tools_run(t, &c->ctx, &v, &w, &c->e);
	if (c->r < 0) {
		MUST(c->e.kind != ERR_NONE);
		return c->r;
	}
	jsonw_obj_end(&w);
	/* What a tool writes is JSON, whatever the program wrote. */
	if (json_parse(&c->arena, buf_str(&c->out), &(struct json_opts){ .max_bytes = (size_t)64 << 20 },
		       &c->result, &c->e) < 0)
		fail_with("bad result", &c->e);
	return 0;
}

static inline void must_run(struct caller *c, const char *tool, const char *args)
{
	if (call_tool(c, tool, str_z(args)) < 0)
		fail_with(args, &c->e);
}

static inline void must_refuse(struct caller *c, const char *tool, const char *args, enum err_kind kind,
			       const char *words)
{
	if (call_tool(c, tool, str_z(args)) >= 0 || c->e.kind != kind || !strstr(c->e.msg, words)) {
		(void)fprintf(stderr, "%s %.200s: want '%s'\n", tool, args, words);
		fail_with("got", &c->e);
	}
}

static inline const struct value *member(const struct caller *c, const char *path)
{
	const struct value *v = value_path(&c->result, path);

	if (!v) {
		(void)fprintf(stderr, "the result has no '%s': %.400s\n", path, c->out.p);
		_exit(1);
	}
	return v;
}

static inline void must_be(const struct caller *c, const char *path, const char *want)
{
	const struct value *v = member(c, path);

	if (v->kind != VALUE_STR || !str_eq(v->s, str_z(want))) {
		(void)fprintf(stderr, "'%s' is '%.*s', not '%s': %.400s\n", path,
			      v->kind == VALUE_STR ? (int)v->s.n : 0, v->kind == VALUE_STR ? v->s.p : "",
			      want, c->out.p);
		_exit(1);
	}
}

static inline void must_count(const struct caller *c, const char *path, int64_t want)
{
	const struct value *v = member(c, path);

	if (v->kind != VALUE_INT || v->i != want) {
		(void)fprintf(stderr, "'%s' is %jd, not %jd: %.400s\n", path, (intmax_t)v->i, (intmax_t)want,
			      c->out.p);
		_exit(1);
	}
}

static inline bool is_true(const struct caller *c, const char *path)
{
	return member(c, path)->kind == VALUE_BOOL && member(c, path)->b;
}

#define CALLER_BODY_(name)                       \
	static void name##_in(struct caller *c); \
	static void name##_body(struct den *d)   \
	{                                        \
		CALLER(caller, d);               \
		name##_in(&caller);              \
	}

/* In a box of either kind. */
#define WITH_CALLER(name)                                                     \
	CALLER_BODY_(name)                                                    \
	TEST(name)                                                            \
	{                                                                     \
		for (enum kind kind = NATIVE; kind < KINDS_; kind++)          \
			FOR_EACH_USER(user) den_run(kind, user, name##_body); \
	}                                                                     \
	static void name##_in(struct caller *c)

/* In one that is kept: it has background processes. */
#define WITH_KEPT(name)                                               \
	CALLER_BODY_(name)                                            \
	TEST(name)                                                    \
	{                                                             \
		FOR_EACH_USER(user) den_run(KEPT, user, name##_body); \
	}                                                             \
	static void name##_in(struct caller *c)
