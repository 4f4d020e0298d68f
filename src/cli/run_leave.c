/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a run that has nothing to clean up. The process outside would wait for pid 1, and we for it; but pid 1 has said its last
 * word, so the one outside may go at once, and we wait for both: as the subreaper we inherit pid 1. Nobody else ever has to reap it.
 */
#include "cli/run.h"

#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#define LEAVE_MS 5000u

/* A private directory is locked by the one outside until pid 1 is dead, and groups are empty then. */
static bool may_leave(const struct run *r)
{
	return r->ended && r->box.warden.pid > 0 && !r->profile.private_dir.n &&
	       r->cgroup.version == CGROUP_NONE;
}

/* 1 = one of the two, 0 = none has ended yet, negative = there is none. Both are of the group that the one outside leads. */
static int reap_one(pid_t group)
{
	siginfo_t info = { .si_pid = 0 };

	while (waitid(P_PGID, (id_t)group, &info, WEXITED | WNOHANG) < 0)
		if (errno != EINTR)
			return -errno;
	return info.si_pid != 0;
}

void run_leave(struct run *r)
{
	uint64_t deadline = clock_deadline(LEAVE_MS);
	sigset_t child;
	int n;

	/* Not earlier: we may have children that our caller made, and theirs are not our business. */
	if (!may_leave(r) || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	(void)signal(SIGCHLD, SIG_DFL); /* ignored, it would not come, and nobody could be waited for */
	(void)sigprocmask(SIG_BLOCK, &child, NULL);
	if (shutdown(r->box.control, SHUT_WR) < 0)
		return;
	while ((n = reap_one(r->box.warden.pid)) >= 0) {
		int left = clock_poll_ms(deadline);
		const struct timespec t = { .tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000l };

		if (n == 0 && (left == 0 || (sigtimedwait(&child, NULL, &t) < 0 && errno == EAGAIN)))
			return;
	}
	r->box.warden.pid = 0; /* it was one of them */
}
