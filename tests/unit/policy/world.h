/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world to decide in: every option at its default, a local caller on the command line, the native engine at hand. A
 * test changes what it is about and asks.
 */
#pragma once

#include "check.h"
#include "defaults.h"

#define LIST(...)                                                 \
	((struct strs){ .v = (const struct str[]){ __VA_ARGS__ }, \
			.n = sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str) })
#define NO_LIST ((struct strs){ 0 })

struct world {
	struct config c;
	struct request r;
	struct arena a;
	struct decision d;
	struct err e;
};

static inline struct world *world_new(void)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	arena_init(&w->a, 8 << 20);
	world_defaults(&w->c.base, &w->a);
	w->r = (struct request){ .via = VIA_CLI,
				 .auth = AUTH_LOCAL,
				 .facts = { .backends = 1u << BACKEND_HOST | 1u << BACKEND_NATIVE,
					    .home = STR("/home/user"),
					    .state_dir = STR("/home/user/.openclaw"),
					    .cwd = STR("/home/user/project") } };
	return w;
}

static inline void world_freep(struct world **w)
{
	arena_done(&(*w)->a);
	free(*w);
}
#define WORLD(name) __attribute__((cleanup(world_freep))) struct world *name = world_new()

/* A list that lives as long as the world: LIST() alone dies with the block it stands in. */
static inline struct strs world_keep(struct world *w, struct strs l)
{
	struct str *v = ARENA_ARRAY(&w->a, struct str, l.n);

	assert_non_null(v);
	if (l.n)
		memcpy(v, l.v, l.n * sizeof(*v));
	return (struct strs){ .v = v, .n = l.n };
}
#define KEEP(w, ...) world_keep((w), LIST(__VA_ARGS__))

static inline enum verdict ask(struct world *w)
{
	assert_int_equal(decide(&w->c, &w->r, &w->a, &w->d, &w->e), 0);
	return w->d.verdict;
}

/* Asks for a tool in a session. */
static inline enum verdict ask_for(struct world *w, const char *session, const char *tool)
{
	w->r.session_key = str_z(session);
	w->r.tool = str_z(tool);
	return ask(w);
}

static inline bool has_reason(const struct decision *d, enum stage stage, const char *what, const char *value)
{
	for (size_t i = 0; i < d->n_reasons; i++)
		if (d->reasons[i].stage == stage && strcmp(d->reasons[i].what, what) == 0 &&
		    str_eq(d->reasons[i].value, str_z(value)))
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

static inline bool list_holds(struct strs l, const char *name)
{
	for (size_t i = 0; i < l.n; i++)
		if (str_eq(l.v[i], str_z(name)))
			return true;
	return false;
}

#define CHECK_ALLOW(w)                                                                               \
	do {                                                                                         \
		if ((w)->d.verdict != VERDICT_ALLOW)                                                 \
			fail_msg("refused: %s: %.*s", code_word((w)->d.code), (int)(w)->d.message.n, \
				 (w)->d.message.p);                                                  \
	} while (0)
#define CHECK_DENY(w, want)                                                                               \
	do {                                                                                              \
		if ((w)->d.verdict != VERDICT_DENY || (w)->d.code != (want))                              \
			fail_msg("got %s (%.*s), want %s", code_word((w)->d.code), (int)(w)->d.message.n, \
				 (w)->d.message.p, code_word(want));                                      \
	} while (0)

/* A small deterministic generator: the same cases on every machine. */
static inline uint64_t prng(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}
static inline size_t below(uint64_t *state, size_t n)
{
	return (size_t)(prng(state) % n);
}
