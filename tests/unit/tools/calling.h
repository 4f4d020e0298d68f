/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a tool on a real directory: JSON in, JSON out, or the error. */
#pragma once

#include "yard.h"

#include "base/buf.h"
#include "data/json.h"
#include "tools/tool.h"

struct call {
	struct yard *yard;
	struct tool_ctx ctx;
	struct arena arena;
	struct buf out;
	struct value result;
	struct err e;
	int r;
};

static inline void call_init(struct call *c, struct yard *p)
{
	*c = (struct call){ .yard = p };
	arena_init(&c->arena, (size_t)512 << 20);
	buf_init(&c->out, (size_t)64 << 20);
	c->ctx = (struct tool_ctx){ .files = p->files, .arena = &c->arena, .work = STR("/work") };
}

static inline void call_done(struct call *c)
{
	buf_done(&c->out);
	arena_done(&c->arena);
}

#define CALL(name, yard_)                              \
	_cleanup_(call_done) struct call name = { 0 }; \
	call_init(&name, &(yard_))

static inline int call_run(struct call *c, const char *tool, struct str args)
{
	const struct tool *t = tools_find(str_z(tool));
	struct jsonw w;
	struct value v;

	assert_non_null(t);
	buf_done(&c->out);
	c->e = (struct err){ 0 };
	c->result = (struct value){ 0 };
	if (json_parse(&c->arena, args, &(struct json_opts){ .json5 = true, .max_bytes = (size_t)64 << 20 },
		       &v, &c->e) < 0)
		fail_msg("bad arguments of the test: %s", c->e.msg);
	jsonw_init(&w, &c->out, 0);
	jsonw_obj(&w);
	c->r = tools_run(t, &c->ctx, &v, &w, &c->e);
	if (c->r < 0) {
		assert_true(c->e.kind != ERR_NONE);
		return c->r;
	}
	jsonw_obj_end(&w);
	assert_false(c->out.failed);
	/* What a tool writes is JSON, whatever the file held. */
	if (json_parse(&c->arena, buf_str(&c->out), &(struct json_opts){ .max_bytes = (size_t)64 << 20 },
		       &c->result, &c->e) < 0)
		fail_msg("bad result: %s", c->e.msg);
	return 0;
}

/* Succeeds, or the test ends with the message. */
static inline void call_ok(struct call *c, const char *tool, const char *args)
{
	if (call_run(c, tool, str_z(args)) < 0)
		fail_msg("%s %s: %s", tool, args, c->e.msg);
}

/* Fails, with this kind and these words in the message. */
static inline void call_fails(struct call *c, const char *tool, const char *args, enum err_kind kind,
			      const char *words)
{
	if (call_run(c, tool, str_z(args)) >= 0)
		fail_msg("%s %s: did not fail", tool, args);
	if (c->e.kind != kind || !strstr(c->e.msg, words))
		fail_msg("%s %s: got kind %u, '%s'; want kind %u, '%s'", tool, args, (unsigned)c->e.kind,
			 c->e.msg, (unsigned)kind, words);
}

static inline const struct value *got(const struct call *c, const char *path)
{
	const struct value *v = value_path(&c->result, path);

	if (!v)
		fail_msg("the result has no '%s': %.400s", path, c->out.p);
	return v;
}

static inline struct str got_str(const struct call *c, const char *path)
{
	assert_int_equal(got(c, path)->kind, VALUE_STR);
	return got(c, path)->s;
}

static inline int64_t got_int(const struct call *c, const char *path)
{
	assert_int_equal(got(c, path)->kind, VALUE_INT);
	return got(c, path)->i;
}

static inline bool got_bool(const struct call *c, const char *path)
{
	assert_int_equal(got(c, path)->kind, VALUE_BOOL);
	return got(c, path)->b;
}

static inline bool has(const struct call *c, const char *path)
{
	return value_path(&c->result, path) != NULL;
}
