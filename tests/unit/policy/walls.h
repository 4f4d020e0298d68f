/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration made of the built-in defaults and whatever a test says on top, a request from the local command line,
 * and the decision about it.
 */
#pragma once

#include "check.h"

#include "base/parse.h"
#include "policy/policy_priv.h"

struct walls {
	struct arena a;
	struct config c;
	struct request r;
	struct decision d;
};

static struct walls w;

static struct str walls_list_item(struct str *rest)
{
	struct str item = *rest, tail = { 0 };

	(void)str_cut(*rest, ',', &item, &tail);
	*rest = tail;
	return item;
}

static struct strs walls_list(struct str text)
{
	struct str *v = ARENA_ARRAY(&w.a, struct str, text.n + 1);
	size_t n = 0;

	while (text.n)
		v[n++] = walls_list_item(&text);
	return (struct strs){ .v = v, .n = n };
}

static inline struct env_vars walls_env(struct str text)
{
	struct env_var *v = ARENA_ARRAY(&w.a, struct env_var, text.n + 1);
	size_t n = 0;

	while (text.n) {
		struct str item = walls_list_item(&text);

		assert_true(str_cut(item, '=', &v[n].name, &v[n].value));
		v[n].kind = memmem(v[n].value.p, v[n].value.n, "${", 2) ? ENV_SECRET : ENV_LITERAL;
		v[n].origin = (struct origin){
			.kind = ORIGIN_FILE, .name = STR("test.json5"), .line = 7, .col = 1
		};
		n++;
	}
	return (struct env_vars){ .v = v, .n = n };
}

#define DEF_BOOL(field, def, names) field = str_eq(STR(def), STR("true"))
#define DEF_U64(field, def, names) assert_int_equal(str_to_u64(STR(def), UINT64_MAX, &field), 0)
#define DEF_SIZE(field, def, names) assert_int_equal(parse_size(STR(def), UINT64_MAX, &field), 0)
#define DEF_NUM(field, def, names) assert_int_equal(parse_double(STR(def), 0, 1e9, &field), 0)
#define DEF_ENUM(field, def, names) assert_true(enum_value(names, STR(def), false, &field))
#define DEF_STR(field, def, names) field = STR(def)
#define DEF_LIST(field, def, names) field = walls_list(STR(def))
#define DEF_ENV(field, def, names) field = walls_env(STR(def))
#define DEF_MAP(field, def, names) (void)field
#define DEF_BINDS(field, def, names) (void)field
#define DEF_LAYERS(field, def, names) (void)field
#define DEF_LISTMAP(field, def, names) (void)field
#define DEF_REF(field, def, names) (void)field

static inline void walls_defaults(struct settings *s)
{
#define OPT(id, field, type, key, flags, def, min, max, names, help) DEF_##type(s->field, def, names);
#include "model/options.def"
#undef OPT
}

static inline void walls_reset(void)
{
	arena_done(&w.a);
	memset(&w, 0, sizeof(w));
	arena_init(&w.a, 4 << 20);
	walls_defaults(&w.c.base);
	w.r = (struct request){ .via = VIA_CLI,
				.auth = AUTH_LOCAL,
				.facts = { .backends = 1u << BACKEND_HOST | 1u << BACKEND_NATIVE |
						       1u << BACKEND_DOCKER,
					   .home = STR("/home/u"),
					   .cwd = STR("/srv/project") } };
}

/* A person said it in a file. */
static const struct origin walls_file = {
	.kind = ORIGIN_FILE, .name = { .p = "test.json5", .n = 10 }, .line = 3, .col = 5
};
#define SAY_IN(s, id, field_, value)                \
	do {                                        \
		(s)->field_ = (value);              \
		(s)->has[OPT_##id] = true;          \
		(s)->origin[OPT_##id] = walls_file; \
	} while (0)
#define SAY(id, field, value) SAY_IN(&w.c.base, id, field, value)
#define LIST(text) walls_list(STR(text))

static inline struct bind walls_bind(const char *text)
{
	struct bind b = { .raw = str_z(text), .origin = walls_file };
	struct str rest;

	b.source = b.raw;
	if (str_cut(b.raw, ':', &b.source, &rest) && !str_cut(rest, ':', &b.target, &b.options))
		b.target = rest;
	b.readonly = str_eq(b.options, STR("ro")) || str_starts(b.options, STR("ro,")) ||
		     str_ends(b.options, STR(",ro"));
	return b;
}

static inline struct binds walls_binds(size_t n, const char *const *texts)
{
	struct bind *v = ARENA_ARRAY(&w.a, struct bind, n + 1);

	for (size_t i = 0; i < n; i++)
		v[i] = walls_bind(texts[i]);
	return (struct binds){ .v = v, .n = n };
}
#define BINDS(...)                                                                       \
	walls_binds(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *), \
		    (const char *const[]){ __VA_ARGS__ })

static inline struct agent *walls_agent(const char *id)
{
	struct agent *grown = ARENA_ARRAY(&w.a, struct agent, w.c.n_agents + 1);

	if (w.c.n_agents)
		memcpy(grown, w.c.agents, w.c.n_agents * sizeof(*grown));
	w.c.agents = grown;
	w.c.has_roster = true;
	grown[w.c.n_agents] = (struct agent){ .id = str_z(id),
					      .over = ARENA_NEW(&w.a, struct settings),
					      .origin = walls_file };
	return &grown[w.c.n_agents++];
}

static inline struct trust_rule *walls_rule(const char *match, enum trust trust)
{
	struct trust_rule *grown = ARENA_ARRAY(&w.a, struct trust_rule, w.c.n_rules + 1);

	if (w.c.n_rules)
		memcpy(grown, w.c.rules, w.c.n_rules * sizeof(*grown));
	w.c.rules = grown;
	grown[w.c.n_rules] = (struct trust_rule){ .match = str_z(match),
						  .trust = trust,
						  .over = ARENA_NEW(&w.a, struct settings),
						  .origin = walls_file };
	return &grown[w.c.n_rules++];
}

static inline struct tool_setting *walls_per_tool(const char *tool)
{
	struct tool_setting *grown = ARENA_ARRAY(&w.a, struct tool_setting, w.c.n_per_tool + 1);

	if (w.c.n_per_tool)
		memcpy(grown, w.c.per_tool, w.c.n_per_tool * sizeof(*grown));
	w.c.per_tool = grown;
	grown[w.c.n_per_tool] = (struct tool_setting){ .tool = str_z(tool), .origin = walls_file };
	return &grown[w.c.n_per_tool++];
}

static inline const struct decision *ask(const char *session, const char *tool)
{
	struct err e = { 0 };

	w.r.session_key = str_z(session);
	w.r.tool = str_z(tool);
	if (decide(&w.c, &w.r, &w.a, &w.d, &e) < 0)
		fail_msg("decide: %s", e.msg);
	return &w.d;
}

static inline const struct decision *ask_command(const char *session, const char *command)
{
	w.r.command = str_z(command);
	return ask(session, "exec");
}

static inline const struct decision *ask_argv(const char *session, const char *words)
{
	struct str *v = ARENA_ARRAY(&w.a, struct str, strlen(words) + 1), rest = str_z(words);
	size_t n = 0;

	while (rest.n) {
		struct str tail = { 0 };

		v[n] = rest;
		(void)str_cut(rest, ' ', &v[n], &tail);
		rest = tail;
		n++;
	}
	w.r.argv = (struct strs){ .v = v, .n = n };
	return ask(session, "exec");
}

#define CHECK_CODE(d, want)                                                                    \
	CHECK_CASE((d)->code == (want), "got %s (" STR_FMT "), want %s", code_word((d)->code), \
		   STR_ARG((d)->message), code_word(want))
#define CHECK_OK(d)                                                                         \
	CHECK_CASE((d)->verdict == VERDICT_ALLOW, "got %s: " STR_FMT, code_word((d)->code), \
		   STR_ARG((d)->message))

static inline bool has_reason(const struct decision *d, enum stage stage, const char *needle)
{
	for (size_t i = 0; i < d->n_reasons; i++)
		if (d->reasons[i].stage == stage && d->reasons[i].text.n &&
		    memmem(d->reasons[i].text.p, d->reasons[i].text.n, needle, strlen(needle)))
			return true;
	return false;
}

static inline bool has_warning(const struct decision *d, const char *code)
{
	for (size_t i = 0; i < d->n_warnings; i++)
		if (strcmp(d->warnings[i].code, code) == 0)
			return true;
	return false;
}

static inline bool has_fix(const struct decision *d, const char *needle)
{
	for (size_t i = 0; i < d->fix_it.n; i++)
		if (memmem(d->fix_it.v[i].p, d->fix_it.v[i].n, needle, strlen(needle)))
			return true;
	return false;
}

static inline const struct mount *mount_at(const struct decision *d, const char *target)
{
	for (size_t i = 0; i < d->n_mounts; i++)
		if (str_eq(d->mounts[i].target, str_z(target)))
			return &d->mounts[i];
	return NULL;
}

static inline const struct env_item *env_named(const struct decision *d, const char *name)
{
	for (size_t i = 0; i < d->n_env; i++)
		if (str_eq(d->env[i].name, str_z(name)))
			return &d->env[i];
	return NULL;
}
