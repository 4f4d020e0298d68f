/* SPDX-License-Identifier: Apache-2.0 */
/* A registry in a directory of its own, and entries to put into it. */
#pragma once

#include "spot.h"

#include "base/arena.h"
#include "engine/registry.h"

static inline struct registry *open_registry_with(const struct spot *p, const char *sessions)
{
	const struct registry_opts o = { .dir = p->dir, .sessions = sessions, .wait_ms = 30000 };
	struct registry *r = NULL;
	struct err e = { 0 };

	if (registry_open(&o, &r, &e) < 0)
		fail_msg("%s", e.msg);
	return r;
}

static inline struct registry *open_registry(const struct spot *p)
{
	return open_registry_with(p, NULL);
}

static inline struct reg_proc self(void)
{
	struct reg_proc p;
	struct err e = { 0 };

	assert_int_equal(reg_proc_self(&p, &e), 0);
	return p;
}

/* One that lived in this boot, and is gone. */
static inline struct reg_proc gone(void)
{
	struct reg_proc p = self();

	p.start += 12345;
	return p;
}

static inline struct reg_entry entry(const char *key)
{
	return (struct reg_entry){
		.key = str_z(key),
		.scope = SCOPE_SESSION,
		.session = STR("agent:main:main"),
		.agent = STR("main"),
		.backend = BACKEND_NATIVE,
		.state = REG_READY,
		.profile_digest = STR("aa"),
		.mounts_digest = STR("bb"),
		.workspace = STR("/home/u/w"),
		.socket = STR("/run/x"),
		.supervisor = self(),
		.warden = self(),
		.created_ms = 1000,
		.used_ms = 2000,
		.calls = 1,
	};
}

static inline void put(struct registry *r, const struct reg_entry *en)
{
	struct err e = { 0 };

	if (registry_put(r, en, &e) < 0)
		fail_msg("%s", e.msg);
}

#define OK(call)                                 \
	do {                                     \
		struct err e_ = { 0 }, *e = &e_; \
		if ((call) < 0)                  \
			fail_msg("%s", e_.msg);  \
	} while (0)

static inline size_t count(struct registry *r)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct reg_entry *v = NULL;
	size_t n = 0;

	arena_init(&a, (size_t)64 << 20);
	OK(registry_list(r, NULL, &a, &v, &n, e));
	return n;
}

static inline enum reg_state state_of(struct registry *r, const char *key)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct reg_entry found;

	arena_init(&a, 1 << 20);
	OK(registry_find(r, str_z(key), &a, &found, e));
	return found.state;
}
