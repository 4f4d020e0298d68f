/* SPDX-License-Identifier: Apache-2.0 */
/* A profile with one of everything, none of which has to exist: the plan is pure. */
#pragma once

#include "check.h"

#include "base/buf.h"
#include "sandbox/landlock.h"
#include "sandbox/plan.h"
#include "sandbox/plan_read.h"

#include <errno.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

struct world {
	struct profile p;
	struct str argv[3], env[2], links[4], files[4], root_targets[2];
	struct source root_binds[2], devices[2];
	struct profile_mount mounts[6];
	struct buf bytes;
	struct plan_view v;
	struct err e;
};

static inline void world_init(struct world *w)
{
	*w = (struct world){
		.argv = { STR("sh"), STR("-c"), STR("echo") },
		.env = { STR("HOME=/tmp"), STR("SECRET=hunter2") },
		.links = { STR("/bin"), STR("usr/bin"), STR("/lib64"), STR("usr/lib64") },
		.files = { STR("/etc/passwd"), STR("root:x:0:0\n"), STR("/etc/deep/down/nul"),
			   (struct str){ .p = "a\0b", .n = 3 } },
		.root_binds = { { STR("/host/usr"), 1, 2, false, false }, { STR("/host/certs"), 1, 3, false, false } },
		.root_targets = { STR("/usr"), STR("/etc/ssl/certs") },
		.devices = { { STR("/dev/null"), 5, 6, true, true }, { STR("/dev/zero"), 5, 7, true, true } },
		.mounts = {
			{ .source = { STR("/home/me/ws"), 8, 9, false }, .target = STR("/workspace"), .writable = true, .idmap = true },
			{ .source = { STR("/srv/data"), 8, 10, false }, .target = STR("/mnt/a/b/data") },
			{ .source = { STR("/srv/file"), 8, 11, true }, .target = STR("/mnt/a/file"), .writable = true },
			{ .source = { STR("/srv/src"), 8, 12, false }, .target = STR("/overlaid"), .overlay = true,
			  .upper = STR("/state/upper"), .work = STR("/state/work") },
			{ .target = STR("/tmp"), .size = 4096 },
			{ .target = STR("/home/sandbox"), .size = 8192 },
		},
	};
	w->p = (struct profile){
		.argv = { w->argv, 3 },
		.env = { w->env, 2 },
		.path = STR("/usr/bin:/bin"),
		.cwd = STR("/workspace"),
		.outer_uid = 501,
		.outer_gid = 502,
		.inner_uid = 1000,
		.inner_gid = 1001,
		.root_binds = w->root_binds,
		.root_targets = w->root_targets,
		.n_root_binds = 2,
		.links = w->links,
		.n_links = 4,
		.mounts = w->mounts,
		.n_mounts = 6,
		.files = w->files,
		.n_files = 4,
		.devices = w->devices,
		.n_devices = 2,
		.hostname = STR("box"),
		.timeout_ms = 5000,
		.grace_ms = 200,
		.pids = 64,
		.open_files = 256,
		.tmpfs = 65536,
		.landlock_abi = 7,
	};
	buf_init(&w->bytes, (size_t)8 << 20);
}

static inline void world_build(struct world *w)
{
	CHECK_CASE(plan_build(&w->p, &w->bytes, &w->e) == 0, "%s", w->e.msg);
	assert_int_equal(plan_open(buf_str(&w->bytes), &w->v), 0);
}

static inline void world_done(struct world *w)
{
	buf_done(&w->bytes);
}
#define _cleanup_world_ _cleanup_(world_done)
#define WORLD(w)                        \
	_cleanup_world_ struct world w; \
	world_init(&w)

/* The first step of a kind at or after `from`; -1 when there is none. */
static inline int find_step(const struct plan_view *v, int from, enum step_kind kind, const char *a)
{
	for (uint32_t i = (uint32_t)from; i < v->head.n_steps; i++) {
		struct step s = plan_step(v, i);

		if (s.kind == kind && (!a || str_eq(plan_text(v, s.a), str_z(a))))
			return (int)i;
	}
	return -1;
}

static inline struct step the_step(const struct plan_view *v, enum step_kind kind, const char *a)
{
	int i = find_step(v, 0, kind, a);

	CHECK_CASE(i >= 0, "no step %s %s", step_name(kind), a ? a : "");
	CHECK_CASE(find_step(v, i + 1, kind, a) < 0, "two steps %s %s", step_name(kind), a ? a : "");
	return plan_step(v, (uint32_t)i);
}
