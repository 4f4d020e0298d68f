/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/keeper.h"
#include "backend/keeper_boot.h"
#include "backend/kept_dir.h"
#include "backend/message.h"
#include "backend/wire_keeper.h"
#include "base/buf.h"
#include "base/port.h"
#include "base/proc.h"
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#define START_MS 30000u
#define LOG_BYTES ((uint64_t)8 << 20)
#define LOGS_BYTES ((uint64_t)256 << 20)

/* ---- what it is told ---- */

static void put_raw(struct buf *b, const void *p, size_t n)
{
	buf_put(b, (struct str){ .p = p, .n = n });
}

static int write_boot(const struct keeper_spec *spec, const struct cgroup *c, int *ret_fd, struct err *e)
{
	struct keeper_boot boot = { .version = KEEPER_VERSION,
				    .plan = (uint32_t)spec->plan.n,
				    .workdir = (uint32_t)spec->workdir.n,
				    .durable = (uint32_t)spec->durable.n,
				    .group_version = c->version,
				    .group_have = c->have,
				    .idle_s = spec->idle_s,
				    .log_bytes = spec->log_bytes ? spec->log_bytes : LOG_BYTES,
				    .logs_bytes = spec->logs_bytes ? spec->logs_bytes : LOGS_BYTES };
	_cleanup_buf_ struct buf b;
	int fd;

	static_assert(sizeof(boot.group) == sizeof(c->dir) && sizeof(boot.group_aside) == sizeof(c->aside),
		      "as cgroup.h has it");
	memcpy(boot.group, c->dir, sizeof(boot.group));
	memcpy(boot.group_aside, c->aside, sizeof(boot.group_aside));
	buf_init(&b, KEEPER_BOOT_MAX);
	put_raw(&b, &boot, sizeof(boot));
	buf_put(&b, spec->plan);
	buf_put(&b, spec->workdir);
	buf_put(&b, spec->durable);
	if (b.failed)
		return err_set(e, ERR_LIMIT, "the plan of a sandbox is larger than %u bytes",
			       KEEPER_BOOT_MAX);
	fd = message_seal(buf_str(&b));
	if (fd < 0)
		return err_sys(e, -fd, "pass the plan to a keeper");
	*ret_fd = fd;
	return 0;
}

static bool group_valid(const struct keeper_boot *b)
{
	bool ended = memchr(b->group_aside, '\0', sizeof(b->group_aside));

	for (size_t i = 0; i < 3; i++)
		ended = ended && memchr(b->group[i], '\0', sizeof(b->group[i]));
	return ended && b->group_version <= CGROUP_V2;
}

int keeper_boot_read(struct str bytes, struct keeper_boot *ret, struct str *ret_plan, struct str *ret_workdir,
		     struct str *ret_durable)
{
	if (bytes.n < sizeof(*ret))
		return -EINVAL;
	memcpy(ret, bytes.p, sizeof(*ret));
	bytes = str_from(bytes, sizeof(*ret));
	if (ret->version != KEEPER_VERSION || !group_valid(ret) ||
	    bytes.n != (size_t)ret->plan + (size_t)ret->workdir + (size_t)ret->durable)
		return -EINVAL;
	*ret_plan = (struct str){ .p = bytes.p, .n = ret->plan };
	bytes = str_from(bytes, ret->plan);
	*ret_workdir = (struct str){ .p = bytes.p, .n = ret->workdir };
	*ret_durable = str_from(bytes, ret->workdir);
	return 0;
}

/* ---- starting it ---- */

static int spawn(const struct keeper_spec *spec, const int *fds, size_t n_fds, struct err *e)
{
	_cleanup_close_ int own = FD_NONE;
	_cleanup_proc_ struct proc p = PROC_NONE;
	char name[] = "creel-keeper", *argv[] = { name, NULL };
	struct proc_spec ps = { .exec_fd = spec->keeper_fd,
				.argv = argv,
				.fds = fds,
				.n_fds = n_fds,
				.cwd = "/",
				.new_session = true };
	struct proc_status st;
	int r;

	if (ps.exec_fd <= 0) {
		r = sandbox_find_program("keeper", name, &own, e);
		if (r < 0)
			return r;
		ps.exec_fd = own;
	}
	r = proc_spawn(&ps, &p);
	if (r == -EAGAIN)
		return err_set(e, ERR_UNAVAIL, "start creel-keeper: " SANDBOX_NO_TASKS);
	/* It forks, so that nobody has to reap it, and ends at once. */
	if (r >= 0)
		r = proc_wait(&p, clock_deadline(START_MS), &st);
	if (r == -ECHILD) /* who ignores SIGCHLD has nobody to wait for */
		r = 0;
	return r < 0 ? err_sys(e, -r, "start creel-keeper") : 0;
}

static int await_ready(int fd, struct keeper_ready *ret, struct err *e)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t end = clock_deadline(START_MS);
	ssize_t n;
	int r;

	do
		r = poll(&p, 1, clock_poll_ms(end));
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return err_set(e, ERR_LIMIT, "the sandbox did not stand within %u s", START_MS / 1000);
	n = r < 0 ? -1 : read(fd, ret, sizeof(*ret)); /* in one piece: less than a pipe holds */
	if (n != (ssize_t)sizeof(*ret))
		return err_set(e, ERR_UNAVAIL, "creel-keeper ended before the sandbox stood");
	if (ret->err.kind == ERR_NONE)
		return 0;
	*e = ret->err;
	e->msg[sizeof(e->msg) - 1] = '\0';
	return -(int)e->kind;
}

static int start(const struct keeper_spec *spec, const struct cgroup *c, struct keeper_ready *ret,
		 struct err *e)
{
	_cleanup_close_ int dir = FD_NONE, boot = FD_NONE, heard = FD_NONE, said = FD_NONE;
	int pair[2], r = kept_dir_open(spec->dir, &dir, e);

	if (r >= 0)
		r = write_boot(spec, c, &boot, e);
	if (r >= 0 && pipe2(pair, O_CLOEXEC) < 0)
		r = err_sys(e, errno, "pipe");
	if (r < 0)
		return r;
	heard = pair[0];
	said = pair[1];
	{
		const int fds[] = { FD_NONE, FD_NONE, FD_NONE, boot, said, dir, c->fd };

		r = spawn(spec, fds, c->fd >= 0 ? 7 : 6, e);
	}
	said = fd_close(said);
	return r < 0 ? r : await_ready(heard, ret, e);
}

int keeper_start(const struct keeper_spec *spec, struct keeper_started *ret, struct err *e)
{
	struct cgroup c = spec->cgroup ? *spec->cgroup : CGROUP_EMPTY;
	struct keeper_ready ready;
	int r;

	if (spec->cgroup)
		*spec->cgroup = CGROUP_EMPTY;
	r = start(spec, &c, &ready, e);
	if (r < 0) {
		cgroup_done(&c); /* a keeper that got this far has done it; one that did not has not */
		return r;
	}
	(void)fd_close(c.fd); /* the rest is the keeper's */
	*ret = (struct keeper_started){ .pid = ready.pid,
					.probes = ready.probes,
					.landlock_abi = ready.landlock_abi };
	memcpy(ret->walls, ready.walls, sizeof(ret->walls) - 1);
	return 0;
}
