/* SPDX-License-Identifier: Apache-2.0 */
/* pid 1 of the sandbox: takes the steps of the plan one after the other, then starts the payload. */
#include "sandbox/warden/warden.h"

#include <asm/ioctls.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/prctl.h>
#include <linux/signal.h>
#include <linux/stat.h>
#include <linux/time_types.h>

/* clang-format off */
static step_fn *const run[STEP_COUNT_] = {
	[STEP_ROOT] = do_root,         [STEP_DIR] = do_dir,           [STEP_LINK] = do_link,         [STEP_FILE] = do_file,
	[STEP_BIND] = do_bind,         [STEP_SCRATCH] = do_scratch,   [STEP_OVERLAY] = do_overlay,   [STEP_PROC] = do_proc,
	[STEP_SEALED] = do_sealed,
	[STEP_MASK] = do_mask,         [STEP_READONLY] = do_readonly, [STEP_DEVPTS] = do_devpts,     [STEP_SEAL] = do_seal,
	[STEP_PIVOT] = do_pivot,       [STEP_TTY] = do_tty,           [STEP_HOSTNAME] = do_hostname, [STEP_NET] = do_net,
	[STEP_RLIMIT] = do_rlimit,     [STEP_KEYRING] = do_keyring,   [STEP_CHDIR] = do_chdir,       [STEP_LANDLOCK] = do_landlock,
	[STEP_LANDLOCK_RULE] = do_landlock_rule, [STEP_LANDLOCK_SELF] = do_landlock_self,
	[STEP_CAPS] = do_caps,         [STEP_NO_NEW_PRIVS] = do_no_new_privs, [STEP_SECCOMP] = do_seccomp,
	[STEP_LISTEN] = do_listen,
};
/* clang-format on */

static void own_clocks(struct warden *w)
{
	long r = time_unshare(w);

	if (r < 0)
		fail(w, 0, r, "wall 'time': make a time namespace (-e walls.optional=time does without it)");
}

static long change_user(void)
{
	long r = SYS2(setgroups, 0, 0);

	if (r >= 0)
		r = SYS3(setresgid, 0, 0, 0);
	return r < 0 ? r : SYS3(setresuid, 0, 0, 0);
}

static void become_warden(struct warden *w)
{
	const struct plan_header *p = w->plan;
	long r;

	if (!(p->flags & PLAN_F_TWO_USERS)) {
		r = userns_map_self(p);
		if (r < 0)
			fail(w, 0, r, "map the user into the new user namespace");
		own_clocks(w);
		return;
	}
	life_wait(w, LIFE_MAPPED);
	own_clocks(w); /* as the user that we are: /proc/self is another's once we have changed it */
	/* One that another program maps is the caller as long as files of the caller's are opened (do_caps). */
	r = p->flags & PLAN_F_PARENT_MAPS ? change_user() : 0;
	if (r < 0)
		fail(w, 0, r, "become the warden's user");
}

/*
 * Nobody inside may read or trace pid 1, and it dies with the process outside that holds the deadline. Not before the map:
 * /proc/self belongs to root as long as we cannot be dumped, and changing the user clears the second.
 */
static void guard_self(struct warden *w)
{
	struct pollfd p = { .fd = w->life[0], .events = 0 };
	struct __kernel_timespec now = { 0 };
	long r = SYS5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);

	if (r >= 0)
		r = SYS5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (r < 0)
		fail(w, 0, r, "close pid 1 to others");
	/* Outside may have died before the line above; getppid() is 0 in a new pid namespace and says nothing. */
	if (SYS5(ppoll, &p, 1, &now, 0, 0) != 0)
		die(125);
}

long change_user_late(struct warden *w)
{
	long r;

	if (!(w->plan->flags & PLAN_F_HELPER_MAPS))
		return 0;
	r = change_user();
	if (r >= 0)
		guard_self(w);
	return r;
}

/*
 * A directory as standard input would be a way out of the new root: openat(0, "../.."). A terminal would be the caller's:
 * creel gives us none, and we take none.
 */
static void check_stdio(struct warden *w)
{
	for (int fd = 0; fd <= 2; fd++) {
		struct statx st = { 0 };
		uint32_t termios[16]; /* the kernel's has nine */
		long r = SYS5(statx, fd, "", AT_EMPTY_PATH, STATX_TYPE, &st);

		if (r >= 0 && (st.stx_mode & 0170000) == 0040000)
			r = -EISDIR;
		if (r >= 0 && (st.stx_mode & 0170000) == 0020000 && SYS3(ioctl, fd, TCGETS, termios) >= 0)
			r = -EPERM;
		if (r < 0)
			fail(w, 0, r, "take over a standard stream");
	}
}

/* Everything but 0-2, what creel gave us and the line to the outside. The group that we were born in is not ours to have. */
static void close_rest(struct warden *w)
{
	long r = w->life[0] == WARDEN_FD_LAST ? 0 : SYS3(dup3, w->life[0], WARDEN_FD_LAST, O_CLOEXEC);

	w->life[0] = WARDEN_FD_LAST;
	if (r >= 0)
		r = SYS3(close_range, WARDEN_FD_LAST + 1, ~0u, 0);
	if (r < 0)
		fail(w, 0, r, "close what is not ours");
}

/* Outside says what is wrong with one that cannot be read. */
static void take_plan(struct warden *w)
{
	if (!w->plan && plan_wait(w) < 0)
		die(125);
	cpus_any();
	SYS1(close, WARDEN_FD_PLAN);
	SYS1(close, WARDEN_FD_GO);
}

_Noreturn void inside(struct warden *w)
{
	uint64_t all = ~0ull;
	int code;

	SYS4(rt_sigprocmask, SIG_SETMASK, &all, 0, 8);
	SYS1(close, w->life[1]);
	/* Once more in guard_self(): changing the user clears it, and waiting for the map can take long. */
	SYS5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	close_rest(w);
	detach_begin(w); /* first: after the other one, we may have to wait for a processor */
	if (!w->plan)
		(void)caps_unbound(); /* while nobody waits for us; do_caps() asks for the rest, and whether there is any */
	net_begin(w);
	take_plan(w);
	become_warden(w);
	guard_self(w);
	check_stdio(w);
	for (uint32_t i = 0; i < w->plan->n_steps; i++) {
		const struct step *s = &w->steps[i];
		long r;

		if (w->plan->crash_at == i + 1)
			SYS2(kill, SYS0(getpid), SIGKILL), die(99);
		r = s->kind < STEP_COUNT_ && run[s->kind] ? run[s->kind](w, s) : -EINVAL;
		if (r < 0)
			fail(w, i, r, NULL);
	}
	if (w->plan->flags & PLAN_F_SERVE)
		serve(w);
	code = payload_serve(w, payload_start(w));
	if (code == 0 && w->report.err == 0)
		mounts_later(w);
	die(code);
}
