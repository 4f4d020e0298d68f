/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be begun before anything is decided. Making namespaces takes as long as reading the configuration and asking policy, so
 * the warden does the one while we do the other. Where it has to be born in a group, it is only executed, and makes them while we make
 * its plan. Until it has a plan it holds nothing and runs nothing; when the answer is no, or the host, it ends.
 */
#include "cli/run.h"

#include "base/fd.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

void run_init(struct run *r, struct cli *cli)
{
	r->cli = cli;
	r->diags.arena = cli->arena;
	r->box = SANDBOX_NONE;
	r->cgroup = CGROUP_EMPTY;
	r->signals = FD_NONE;
	r->live_fd = r->spare_fd = r->private_fd = FD_NONE;
}

/*
 * Blocked before anything is made: a signal that comes during the start is passed on once there is somebody to pass it to,
 * and never ends us with a cgroup and a directory left behind.
 */
int run_open_signals(struct run *r, struct err *e)
{
	static const int forwarded[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP
	};
	sigset_t set;

	if (r->signals >= 0)
		return 0;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&set, forwarded[i]);
	(void)sigprocmask(SIG_BLOCK, &set, &r->before);
	r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signals < 0 ? err_sys(e, errno, "signalfd") : 0;
}

/* One that needs other streams than ours is not begun before that is known. */
static bool may_begin(const struct cli *cli)
{
	return !cli->plan && !cli->no_sandbox && !cli->output_limit.has && !cli->backend.has && !isatty(0) &&
	       !isatty(1) && !isatty(2);
}

/* Of v1, there are groups for limits that somebody named; they are entered, not born in. */
static bool may_have_group(const struct cli *cli)
{
	return cli->memory.has || cli->pids.has || cli->cpus.has || cli->cgroup_parent.has ||
	       cgroup_v2_possible();
}

/* Whatever goes wrong here will go wrong again, and be told, when the sandbox is really asked for. */
void run_begin(struct run *r)
{
	const struct sandbox_stdio io = { 0, 1, 2 };
	_cleanup_close_ int warden = FD_NONE;
	struct err ignored = { 0 };

	if (!may_begin(r->cli) || run_open_signals(r, &ignored) < 0 ||
	    sandbox_open_warden(&warden, &ignored) < 0)
		return;
	r->waits = may_have_group(r->cli);
	r->begun = sandbox_spawn(warden, &io, SPAWN_BESIDE | (r->waits ? SPAWN_WAITS : 0), &r->box,
				 &ignored) >= 0;
}

void run_abandon(struct run *r)
{
	if (r->begun) {
		sandbox_done(&r->box);
		cgroup_done(&r->cgroup);
	}
	r->begun = r->waits = false;
}

/*
 * Whoever waits for us, a shell in a loop above all, goes on after a program that ends by itself, and stops after one that an
 * interrupt has ended. That the command killed itself is not an interrupt: it has no say in what our caller does next.
 */
void run_die_alike(struct run *r)
{
	const struct rlimit no_core = { 0 };
	sigset_t set;

	if (r->reason != RUN_SIGNAL || r->interrupted == 0 || r->code != r->interrupted)
		return;
	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)signal(r->interrupted, SIG_DFL);
	(void)kill(r->typed ? 0 : getpid(), r->interrupted);
	sigemptyset(&set);
	sigaddset(&set, r->interrupted);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void run_restore_signals(struct run *r)
{
	if (r->signals < 0)
		return;
	r->signals = fd_close(r->signals);
	(void)sigprocmask(SIG_SETMASK, &r->before, NULL);
}
