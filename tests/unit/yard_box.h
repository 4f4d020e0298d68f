/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real sandbox around directories of the host, with a clerk in it, for the tests of files. As root its payload is another user, and the directories are idmapped mounts.
 */
#pragma once

#include "check.h"

#include "backend/clerk.h"
#include "backend/files_wire.h"
#include "base/arena.h"
#include "sandbox/host.h"
#include "sandbox/plan.h"
#include "sandbox/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define YARD_BOX_DIRS 4

struct yard_box {
	struct warm warm;
	struct cgroup cgroup;
	struct files_wire *wire;
	int program;
	uint64_t clerk; /* the call */
};

static inline void yard_box_must(int r, const char *what, const struct err *e)
{
	if (r < 0)
		fail_msg("%s: %d %s", what, r, e->msg);
}

static inline void yard_box_profile(struct arena *a, const char *root, const char *const dirs[],
				    struct profile *p, struct profile_mount *m)
{
	struct err e = { 0 };
	size_t n = 0;

	*p = (struct profile){ .serve = true,
			       .cwd = STR("/"),
			       .outer_uid = getuid(),
			       .outer_gid = getgid(),
			       .inner_uid = 1000,
			       .inner_gid = 1000,
			       .two_users = getuid() == 0,
			       .hostname = STR("box"),
			       .pids = 64,
			       .open_files = 1024,
			       .tmpfs = 1 << 20,
			       .landlock_abi = host_landlock_abi() };
	if (p->two_users) {
		p->outer_uid = p->outer_gid = ROOT_PAYLOAD_ID;
		p->warden_uid = p->warden_gid = ROOT_WARDEN_ID;
	}
	for (; dirs[n]; n++) {
		m[n] = (struct profile_mount){ .target = arena_printf(a, "/%s", dirs[n]),
					       .writable = true,
					       .idmap = p->two_users };
		yard_box_must(source_resolve(a, arena_printf(a, "%s/%s", root, dirs[n]), &m[n].source, &e),
			      dirs[n], &e);
	}
	m[n++] = (struct profile_mount){ .target = STR("/tmp"), .writable = true, .size = 1 << 20 };
	p->mounts = m;
	p->n_mounts = n;
}

static inline void yard_box_open_clerk(struct yard_box *b, uint64_t answer_ms)
{
	mode_t mask = umask(0);
	struct err e = { 0 };
	int socket = -1;

	(void)umask(mask);
	b->wire = files_wire_close(b->wire);
	yard_box_must(clerk_start(&b->warm, b->program, STR("/work"), mask, &socket, &b->clerk, &e), "clerk",
		      &e);
	yard_box_must(files_wire_open(socket, answer_ms, &b->wire), "wire", &e);
}

/* Apart from its caller: what is assigned here lies on the stack once more in a build for debugging. */
static inline void yard_box_clear(struct yard_box *b)
{
	memset(b, 0, sizeof(*b));
	b->warm = WARM_NONE;
	b->cgroup = CGROUP_EMPTY;
	b->program = FD_NONE;
}

/* `dirs`, of `root`, at the same names below "/"; the first is the workspace. */
static inline void yard_box_open(struct yard_box *b, const char *root, const char *const dirs[])
{
	struct profile_mount m[YARD_BOX_DIRS + 1];
	struct profile p;
	struct arena a;
	struct buf plan;
	struct err e = { 0 };
	int warden = open(getenv("CREEL_WARDEN"), O_RDONLY | O_CLOEXEC);
	int clerk = open(getenv("CREEL_CLERK"), O_RDONLY | O_CLOEXEC);

	yard_box_clear(b);
	arena_init(&a, 4 << 20);
	buf_init(&plan, PLAN_MAX_BYTES);
	yard_box_profile(&a, root, dirs, &p, m);
	yard_box_must(host_root(&a, &p, &e), "root", &e);
	yard_box_must(plan_build(&p, &plan, &e), "plan", &e);
	yard_box_must(warm_start(warden, buf_str(&plan), &b->cgroup, &b->warm, &e), "start", &e);
	yard_box_must(warm_ready(&b->warm, &e), "ready", &e);
	yard_box_must(sandbox_seal_program(clerk, "creel-clerk", &b->program, &e), "seal", &e);
	buf_done(&plan);
	arena_done(&a);
	(void)close(warden);
	(void)close(clerk);
	yard_box_open_clerk(b, 0);
}

static inline void yard_box_close(struct yard_box *b)
{
	b->wire = files_wire_close(b->wire);
	warm_done(&b->warm);
	b->program = fd_close(b->program);
}
