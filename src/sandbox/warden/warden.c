/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes. Outside stays in the host's namespaces: it holds the deadline and dies with creel. Inside is pid 1 of the
 * sandbox: it builds the walls, starts the payload, reaps. When either dies, the kernel ends everything inside.
 */
#include "sandbox/warden/warden.h"

#include <asm/ioctls.h>
#include <linux/capability.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/poll.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/stat.h>
#include <linux/time_types.h>

static struct warden warden;

/* clang-format off */
static step_fn *const run[STEP_COUNT_] = {
	[STEP_ROOT] = do_root,         [STEP_DIR] = do_dir,           [STEP_LINK] = do_link,         [STEP_FILE] = do_file,
	[STEP_BIND] = do_bind,         [STEP_TMPFS] = do_tmpfs,       [STEP_OVERLAY] = do_overlay,   [STEP_PROC] = do_proc,
	[STEP_MASK] = do_mask,         [STEP_READONLY] = do_readonly, [STEP_DEVPTS] = do_devpts,     [STEP_SEAL] = do_seal,
	[STEP_PIVOT] = do_pivot,       [STEP_TTY] = do_tty,           [STEP_HOSTNAME] = do_hostname, [STEP_LO_UP] = do_lo_up,
	[STEP_RLIMIT] = do_rlimit,     [STEP_KEYRING] = do_keyring,   [STEP_CHDIR] = do_chdir,       [STEP_LANDLOCK] = do_landlock,
	[STEP_LANDLOCK_RULE] = do_landlock_rule, [STEP_LANDLOCK_SELF] = do_landlock_self,
	[STEP_CAPS] = do_caps,         [STEP_NO_NEW_PRIVS] = do_no_new_privs, [STEP_SECCOMP] = do_seccomp,
};
/* clang-format on */

static bool within(const struct plan_header *p, uint32_t at, uint64_t n)
{
	return at <= p->size && n <= p->size - at;
}

static long load_plan(struct warden *w)
{
	struct statx st;
	long r = SYS5(statx, WARDEN_FD_PLAN, "", AT_EMPTY_PATH, STATX_SIZE, &st);
	const struct plan_header *p;

	if (r < 0)
		return r;
	if (st.stx_size < sizeof(*p) || st.stx_size > PLAN_MAX_BYTES)
		return -EINVAL;
	r = SYS6(mmap, 0, st.stx_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, WARDEN_FD_PLAN, 0);
	if (r < 0 && r > -4096)
		return r;
	p = (const void *)r;
	if (p->magic != PLAN_MAGIC || p->version != PLAN_VERSION || p->size != st.stx_size ||
	    p->n_steps > PLAN_MAX_STEPS || p->steps % 8 ||
	    !within(p, p->steps, (uint64_t)p->n_steps * sizeof(struct step)) || p->strings % 8 ||
	    p->n_strings == 0 || !within(p, p->strings, p->n_strings) ||
	    ((const char *)p)[p->strings + p->n_strings - 1])
		return -EINVAL;
	w->plan = p;
	w->steps = (const void *)((const char *)p + p->steps);
	w->strings = (const char *)p + p->strings;
	return 0;
}

long do_tty(struct warden *w, const struct step *s)
{
	struct warden_report m = { .msg = MSG_TTY };
	int unlock = 0;
	long slave, r, master = SYS4(openat, AT_FDCWD, "/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC, 0);

	(void)s;
	if (master < 0)
		return master;
	r = SYS3(ioctl, master, TIOCSPTLCK, &unlock);
	slave = r < 0 ? r : SYS3(ioctl, master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave >= 0)
		r = control_send(&m, (int)master);
	SYS1(close, master);
	w->tty_fd = (int)slave;
	return slave < 0 ? slave : r < 0 ? r : 0;
}

static void become_warden(struct warden *w)
{
	const struct plan_header *p = w->plan;
	char go;
	long r;

	if (!(p->flags & PLAN_F_PARENT_MAPS)) {
		r = userns_map_self(p);
		if (r < 0)
			fail(w, 0, r, "map the user into the new user namespace");
		return;
	}
	if (SYS3(read, w->maps_fd, &go, 1) != 1)
		die(125);
	r = SYS2(setgroups, 0, 0);
	if (r >= 0)
		r = SYS3(setresgid, 0, 0, 0);
	if (r >= 0)
		r = SYS3(setresuid, 0, 0, 0);
	if (r < 0)
		fail(w, 0, r, "become the warden's user");
}

/* Everything but 0-2, the channel, and the mounts that were made outside; those are closed as they are used. */
static void close_rest(const struct warden *w)
{
	uint32_t from = WARDEN_FD_FIRST;

	SYS1(close, WARDEN_FD_PLAN);
	for (uint32_t i = 0; i < w->plan->n_steps; i++)
		if (w->tree_fd[i]) {
			if ((uint32_t)w->tree_fd[i] > from)
				SYS3(close_range, from, w->tree_fd[i] - 1, 0);
			from = (uint32_t)w->tree_fd[i] + 1;
		}
	SYS3(close_range, from, ~0u, 0);
}

static _Noreturn void inside(struct warden *w)
{
	uint64_t all = ~0ull;

	SYS4(rt_sigprocmask, SIG_SETMASK, &all, 0, 8);
	SYS5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	become_warden(w);
	/* Not before the map: /proc/self belongs to root as long as we cannot be dumped. */
	SYS5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
	SYS5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* changing uid cleared it */
	close_rest(w);
	for (uint32_t i = 0; i < w->plan->n_steps; i++) {
		const struct step *s = &w->steps[i];
		long r;

		if (w->plan->crash_at == i + 1)
			SYS2(kill, SYS0(getpid), SIGKILL), die(99);
		r = s->kind < STEP_COUNT_ && run[s->kind] ? run[s->kind](w, s) : -EINVAL;
		if (r < 0)
			fail(w, i, r, NULL);
	}
	die(payload_serve(w, payload_start(w)));
}

/* Written by us, who are root outside: the sandbox itself could not map a second user. */
static long write_maps(const struct plan_header *p, long pid)
{
	static const char *const names[] = { "/gid_map", "/uid_map" };

	for (int i = 0; i < 2; i++) {
		char path[64], text[128];
		size_t n = 0, t = 0;
		long fd, r;

		text_put(path, sizeof(path), &n, "/proc/");
		text_u64(path, sizeof(path), &n, (uint64_t)pid);
		text_put(path, sizeof(path), &n, names[i]);
		text_put(text, sizeof(text), &t, "0 ");
		text_u64(text, sizeof(text), &t, i ? p->warden_outer_uid : p->warden_outer_gid);
		text_put(text, sizeof(text), &t, " 1\n");
		text_u64(text, sizeof(text), &t, i ? p->inner_uid : p->inner_gid);
		text_put(text, sizeof(text), &t, " ");
		text_u64(text, sizeof(text), &t, i ? p->outer_uid : p->outer_gid);
		text_put(text, sizeof(text), &t, " 1\n");
		fd = SYS4(openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
		if (fd < 0)
			return fd;
		r = SYS3(write, fd, text, t);
		SYS1(close, fd);
		if (r < 0)
			return r;
	}
	return 0;
}

static void outside_timeout(struct warden *w)
{
	w->report = (struct warden_report){ .msg = MSG_EXIT, .reason = REASON_TIMEOUT };
	(void)control_send(&w->report, -1);
}

/* Ends when inside has ended; makes it end at the deadline, or when creel has gone. */
static int outside(struct warden *w, long pid, int pidfd)
{
	struct pollfd p[2] = { { .fd = pidfd, .events = POLLIN }, { .fd = WARDEN_FD_CONTROL, .events = 0 } };
	uint64_t left = w->plan->timeout_ms;
	bool warned = false;

	for (;;) {
		struct __kernel_timespec t = { .tv_sec = (long long)(left / 1000),
					       .tv_nsec = (long long)(left % 1000) * 1000000 };
		long n = SYS5(ppoll, p, 2, left ? &t : 0, 0, 0);

		if (n == -EINTR)
			continue;
		if (p[0].revents)
			break;
		if (n == 0 && !warned && w->plan->grace_ms) {
			outside_timeout(w);
			SYS4(pidfd_send_signal, pidfd, SIGTERM, 0, 0);
			warned = true;
			left = w->plan->grace_ms;
			continue;
		}
		if (n == 0 && !warned)
			outside_timeout(w);
		SYS4(pidfd_send_signal, pidfd, SIGKILL, 0, 0);
		break;
	}
	(void)pid;
	SYS5(waitid, 3 /* P_PIDFD */, pidfd, 0, 4 /* WEXITED */, 0);
	return 0;
}

int warden_main(void)
{
	struct warden *w = &warden;
	struct clone_args args = { 0 };
	int pidfd = -1, maps[2] = { -1, -1 };
	long pid, r = load_plan(w);

	w->root_fd = w->rules_fd = w->tty_fd = -EBADF;
	if (r < 0)
		fail(w, 0, r, "read the plan");
	SYS5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	SYS0(setsid);
	SYS3(fcntl, WARDEN_FD_CONTROL, F_SETFD, FD_CLOEXEC);
	if (w->plan->flags & PLAN_F_WAIT && (control_recv(&w->report, 0) < 0 || w->report.msg != MSG_GO))
		die(125);
	if (w->plan->flags & PLAN_F_PARENT_MAPS && SYS2(pipe2, maps, O_CLOEXEC) < 0)
		fail(w, 0, -EMFILE, "pipe");
	args.flags = w->plan->ns_flags | CLONE_PIDFD;
	args.pidfd = (uint64_t)(uintptr_t)&pidfd;
	args.exit_signal = SIGCHLD;
	if (w->plan->cgroup_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint32_t)w->plan->cgroup_fd;
	}
	w->maps_fd = maps[0];
	if (w->plan->flags & PLAN_F_PARENT_MAPS)
		idmap_prepare(w);
	pid = SYS2(clone3, &args, sizeof(args));
	if (pid == 0)
		inside(w);
	if (pid < 0)
		fail(w, 0, pid, "create namespaces");
	SYS5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (w->plan->flags & PLAN_F_PARENT_MAPS) {
		r = write_maps(w->plan, pid);
		if (r < 0)
			fail(w, 0, r, "write the user map");
		SYS3(write, maps[1], "x", 1);
	}
	return outside(w, pid, pidfd);
}
