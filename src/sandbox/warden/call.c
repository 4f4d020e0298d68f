/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call: from a request to a program that runs. The walls stand already and are inherited; what is set here is who it is, what it
 * belongs to, its limits and its streams.
 */
#include "sandbox/warden/request.h"
#include "sandbox/warden/warden.h"

#include <asm/ioctls.h>
#include <asm/resource.h>
#include <linux/fcntl.h>
#include <linux/prctl.h>
#include <linux/signal.h>

#define PROGRAM_FD 3

SPARSE(2)
static char *argv_[SERVE_ARGS_MAX + 1], *env_[SERVE_ARGS_MAX + 1]; /* pages that are not used cost nothing */

/* What the child takes from us; one at a time. */
static struct {
	const struct request *r;
	struct call_fds
		fds; /* a stream that is negative: /dev/null, which we have there ourselves, or the terminal */
} next;

static bool limit_allowed(uint32_t resource)
{
	return resource < RLIM_NLIMITS && resource != RLIMIT_CORE && resource != RLIMIT_LOCKS &&
	       resource != RLIMIT_RTTIME;
}

static long set_limit(struct serve_limit l)
{
	uint64_t old[2] = { 0 }, lim[2] = { l.value, l.value };
	long r = limit_allowed(l.resource) ? SYS4(prlimit64, 0, l.resource, 0, old) : -EINVAL;

	/* Never raised: what the sandbox was given is the ceiling. */
	if (r >= 0 && old[1] < l.value)
		lim[0] = lim[1] = old[1];
	return r < 0 ? r : SYS4(prlimit64, 0, l.resource, lim, 0);
}

static long set_limits(const struct request *r)
{
	long ret = 0;

	for (uint32_t i = 0; i < r->head.n_limits && ret >= 0; i++)
		ret = set_limit(request_limit(r, i));
	return ret;
}

/*
 * A domain below the common one: whoever is in it cannot look into what is beside it. What it forbids by itself is forbidden already.
 */
static long stand_apart(const struct warden *w)
{
	const uint64_t make_block = 1u << 11;
	long fd = w->landlock_abi ? SYS3(landlock_create_ruleset, &make_block, sizeof(make_block), 0)
				  : -EOPNOTSUPP;
	long r = fd < 0 ? fd : SYS2(landlock_restrict_self, fd, 0);

	if (fd >= 0)
		SYS1(close, fd);
	return r;
}

/* As the payload's user, whose it then is. The master goes out at once: we keep nothing of it. */
static long make_terminal(const struct serve_request *h)
{
	const uint16_t size[4] = { h->rows, h->columns, 0, 0 };
	struct serve_event say = { .msg = SERVE_PTY, .id = h->id };
	int unlock = 0;
	long slave, r, master = SYS4(openat, AT_FDCWD, "/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC, 0);

	if (master < 0)
		return master;
	r = SYS3(ioctl, master, TIOCSPTLCK, &unlock);
	slave = r < 0 ? r : SYS3(ioctl, master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	r = slave < 0 ? slave : SYS3(ioctl, master, TIOCSWINSZ, size);
	if (r >= 0)
		r = SYS3(ioctl, slave, TIOCSCTTY, 0);
	for (int fd = 0; fd <= 2 && r >= 0; fd++)
		if (next.fds.stream[fd] < 0)
			r = SYS3(dup3, slave, fd, 0);
	return r < 0 ? r : message_put(WARDEN_FD_CONTROL, &say, sizeof(say), (int)master);
}

static long take_streams(void)
{
	long r = 0;

	for (int fd = 0; fd <= 2 && r >= 0; fd++)
		if (next.fds.stream[fd] >= 0)
			r = SYS3(dup3, next.fds.stream[fd], fd, 0);
	return r;
}

/* All but the streams, and the program, which closes itself by being executed. */
static long close_rest(void)
{
	const int keep = next.fds.program >= 0;
	long r = 0;

	if (keep && next.fds.program != PROGRAM_FD)
		r = SYS3(dup3, next.fds.program, PROGRAM_FD, O_CLOEXEC);
	return r < 0 ? r : SYS3(close_range, PROGRAM_FD + keep, ~0u, 0);
}

static long execute(void)
{
	return next.fds.program < 0 ? exec_program(next.r->path, argv_, env_)
				    : SYS5(execveat, PROGRAM_FD, "", argv_, env_, AT_EMPTY_PATH);
}

/* Everything but the user: as long as that is the warden's, where there are two, nobody inside can stop us. */
static long prepare(const struct warden *w)
{
	const struct serve_request *h = &next.r->head;
	/* A session is a group of the scheduler, too, which costs more than all the rest here: only for whoever has a terminal, or stays. */
	long r = h->flags & (SERVE_F_PTY | SERVE_F_KEEP) ? SYS0(setsid) : SYS2(setpgid, 0, 0);

	if (r >= 0)
		r = take_streams();
	if (r >= 0)
		r = mark_self(w, h->id);
	if (r >= 0)
		r = set_limits(next.r);
	if (r >= 0 && h->flags & SERVE_F_APART)
		r = stand_apart(w);
	return r;
}

/* Shares our memory until it executes: it may write into *w->said and nothing else. */
static int child(void *arg)
{
	struct warden *w = arg;
	const struct serve_request *h = &next.r->head;
	uint64_t no_signals = 0;
	long r = prepare(w);

	SYS1(umask, h->umask);
	if (r >= 0)
		r = become_payload(w->plan);
	/* Changing the user makes the memory that we share dumpable again, where the host says so. */
	if (w->plan->flags & PLAN_F_TWO_USERS)
		w->said->closed = SYS5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0) >= 0;
	if (r >= 0 && h->flags & SERVE_F_PTY)
		r = make_terminal(h);
	if (r >= 0)
		r = close_rest();
	w->said->err = r;
	if (r < 0)
		return 125;
	w->said->step = SERVE_AT_CWD;
	r = SYS1(chdir, next.r->cwd);
	w->said->err = r;
	if (r < 0)
		return 126;
	w->said->step = SERVE_AT_EXEC;
	SYS4(rt_sigprocmask, SIG_SETMASK, &no_signals, 0, 8);
	cpus_home();
	w->said->err = execute();
	return 127;
}

/* The program to execute is argv[0] as it is, when that is a path: then there is nothing to look for. */
static void fill_lists(struct request *r)
{
	request_list(r->argv, r->head.argc, argv_);
	request_list(r->env, r->head.envc, env_);
	for (const char *c = argv_[0]; *c; c++)
		if (*c == '/')
			r->path = "";
}

/* What was ours for a moment, and may be secret. */
static void forget_lists(const struct request *r)
{
	memset(argv_, 0, (r->head.argc + 1) * sizeof(argv_[0]));
	memset(env_, 0, (r->head.envc + 1) * sizeof(env_[0]));
}

long call_start(struct warden *w, struct request *r, const struct call_fds *fds)
{
	long pid;

	fill_lists(r);
	next.r = r;
	next.fds = *fds;
	pid = spawn_begin(w, child);
	if (pid < 0)
		forget_lists(r);
	return pid;
}

void call_settle(const struct warden *w, const struct request *r, long pid)
{
	spawn_wait(w, pid);
	forget_lists(r);
}
