/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent of pid 1, in the host's namespaces, where nothing inside can reach it: it writes the user map when creel is
 * root, holds the deadline, and ends everything when creel has gone. It has no death signal of its own, because it
 * outlives a killed creel to remove the cgroups and the private directory that nobody else would; the closed channel tells it as surely.
 */
#include "sandbox/warden/warden.h"

#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/prctl.h>
#include <linux/signal.h>
#include <linux/time.h>
#include <linux/time_types.h>

#define P_PIDFD_ 3
#define WEXITED_ 4
#define SHUT_WR_ 1
#define END_MS 2000

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

static uint64_t now_ms(void)
{
	struct __kernel_timespec t = { 0 };

	SYS2(clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void say_end(struct warden *w, enum warden_reason reason, int value)
{
	w->report = (struct warden_report){ .msg = MSG_EXIT, .reason = reason, .value = value };
	(void)control_send(&w->report, -1);
}

enum event { EVENT_ENDED, EVENT_DEADLINE, EVENT_DISK, EVENT_CREEL_GONE, EVENT_LEAVE };

#define NEVER UINT64_MAX
struct alarms {
	uint64_t deadline, disk, forget; /* ms; NEVER = none */
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Whatever cannot be understood counts as creel gone: that ends everything. */
static enum event wait_for(int pidfd, uint64_t at)
{
	struct pollfd p[2] = { { .fd = pidfd, .events = POLLIN },
			       { .fd = WARDEN_FD_CONTROL, .events = POLLRDHUP } };

	for (;;) {
		uint64_t now = at == NEVER ? 0 : now_ms(), left = at > now ? at - now : 0;
		struct __kernel_timespec t = { .tv_sec = (long long)(left / 1000),
					       .tv_nsec = (long long)(left % 1000) * 1000000 };
		long n = SYS5(ppoll, p, 2, at == NEVER ? 0 : &t, 0, 0);

		if (n == -EINTR)
			continue;
		if (n > 0 && p[0].revents)
			return EVENT_ENDED;
		/* It lives, and has nothing more to say. */
		if (n > 0 && p[1].revents == POLLRDHUP)
			return EVENT_LEAVE;
		return n == 0 ? EVENT_DEADLINE : EVENT_CREEL_GONE;
	}
}

/* Pid 1 has let go of its end of the line: nothing keeps the payload from being executed now. */
static bool is_begun(const struct warden *w)
{
	struct pollfd p = { .fd = w->life[1], .events = 0 };
	const struct __kernel_timespec now = { 0 };

	return SYS5(ppoll, &p, 1, &now, 0, 0) > 0;
}

/* A sandbox that stays: what nobody needs any more goes. Returns when to look again. */
static uint64_t forget(struct warden *w)
{
	if (!is_begun(w))
		return now_ms() + FORGET_MS;
	SYS1(close, w->life[1]);
	w->life[1] = -EBADF;
	plan_forget(w);
	idmap_forget();
	helper_forget();
	above_forget();
	return NEVER;
}

/* Looks at the disk on the way. */
static enum event wait_until(struct warden *w, int pidfd, struct alarms *a)
{
	for (;;) {
		uint64_t next = least(a->disk, a->forget);
		enum event e = wait_for(pidfd, least(next, a->deadline));
		enum disk_end end;

		if (e != EVENT_DEADLINE || next >= a->deadline)
			return e;
		if (a->forget <= next) {
			a->forget = forget(w);
			continue;
		}
		a->disk = disk_look(w, now_ms(), &end);
		if (end == DISK_FINE)
			continue;
		say_end(w, REASON_DISK, (int)end);
		return EVENT_DISK;
	}
}

/* The streams are the payload's alone: while we held them too, nobody would see that it has closed them. */
static void let_go(void)
{
	SYS3(close_range, 0, 2, 0);
	SYS1(close, WARDEN_FD_PLAN);
	SYS1(close, WARDEN_FD_GO);
}

/* Nobody has waited for it, so its number is still its own; a kernel may refuse the call that takes a pidfd. */
static long signal_inside(long pid, int pidfd, int sig)
{
	long r = SYS4(pidfd_send_signal, pidfd, sig, 0, 0);

	return r < 0 ? SYS2(kill, pid, sig) : r;
}

/* Pid 1 ends the rest first and says what it has used; if it cannot, it is killed like the rest. */
static enum event end_inside(const struct warden *w, enum event e, long pid, int pidfd)
{
	if (w->plan->flags & PLAN_F_SERVE || signal_inside(pid, pidfd, SIGNAL_END) < 0)
		return e;
	return wait_for(pidfd, now_ms() + END_MS);
}

static enum event watch(struct warden *w, long pid, int pidfd)
{
	const struct plan_header *p = w->plan; /* until we wait: forget() moves it */
	uint64_t now = now_ms();
	struct alarms a = { .deadline = p->timeout_ms ? now + p->timeout_ms : NEVER,
			    .disk = p->disk_bytes ? disk_start(now) : NEVER,
			    .forget = now + FORGET_MS };
	enum event e = wait_until(w, pidfd, &a);

	if (e == EVENT_DEADLINE) {
		say_end(w, REASON_TIMEOUT, 0);
		if (w->plan->grace_ms) {
			(void)signal_inside(pid, pidfd, SIGTERM);
			a.deadline = now_ms() + w->plan->grace_ms;
			e = wait_until(w, pidfd, &a);
		}
	}
	return e == EVENT_DEADLINE || e == EVENT_DISK ? end_inside(w, e, pid, pidfd) : e;
}

/* Until creel has closed the channel; without `wait`: whether it has. Inside hears of it, too, and may have ended before us. */
static bool creel_gone(bool wait)
{
	struct pollfd p = { .fd = WARDEN_FD_CONTROL, .events = 0 };
	const struct __kernel_timespec now = { 0 };
	long n;

	do
		n = SYS5(ppoll, &p, 1, wait ? 0 : &now, 0, 0);
	while (n == -EINTR);
	return n != 0;
}

/*
 * creel hears that everything has ended, and looks at what was changed and used; when it closes the channel it has kept or removed the
 * private directory, or it was killed and has not.
 */
void finish(const struct warden *w)
{
	if (w->private_fd < 0 && !w->groups.n)
		return;
	if (!creel_gone(false)) {
		SYS2(shutdown, WARDEN_FD_CONTROL, SHUT_WR_);
		(void)creel_gone(true);
	}
	groups_remove(w);
	if (w->private_fd >= 0)
		private_remove(w);
}

_Noreturn void fail_outside(struct warden *w, long err, const char *what)
{
	complain(w, 0, err, what);
	finish(w);
	die(125);
}

/* As the plan of a creel that is root will have them. */
static const struct plan_header root_users = { .flags = PLAN_F_PARENT_MAPS,
					       .outer_uid = ROOT_PAYLOAD_ID,
					       .outer_gid = ROOT_PAYLOAD_ID,
					       .inner_uid = INNER_ID,
					       .inner_gid = INNER_ID,
					       .warden_outer_uid = ROOT_WARDEN_ID,
					       .warden_outer_gid = ROOT_WARDEN_ID };

static bool has_root_users(const struct plan_header *p)
{
	const struct plan_header *r = &root_users;

	return (p->flags & PLAN_F_TWO_USERS) == r->flags && p->outer_uid == r->outer_uid &&
	       p->outer_gid == r->outer_gid && p->inner_uid == r->inner_uid && p->inner_gid == r->inner_gid &&
	       p->warden_outer_uid == r->warden_outer_uid && p->warden_outer_gid == r->warden_outer_gid;
}

/* While creel makes the plan: pid 1 need not wait for us then, on a processor that it may have to wait for, too. */
static long map_early(struct warden *w, long pid)
{
	long r = 0;

	if (SYS0(getuid) != 0 || w->plain)
		return 0;
	r = write_maps(&root_users, pid);
	if (r >= 0)
		r = life_send(w, LIFE_MAPPED, -1);
	w->mapped = true;
	if (r < 0)
		complain(w, 0, r, "write the user map");
	return r;
}

static long map_users(struct warden *w, long pid)
{
	long r = w->plan->flags & PLAN_F_HELPER_MAPS ? helper_maps(w->plan, pid) : write_maps(w->plan, pid);

	if (r >= 0)
		r = life_send(w, LIFE_MAPPED, -1);
	if (r < 0)
		complain(
			w, 0, r,
			w->plan->flags & PLAN_F_HELPER_MAPS
				? "map two users with newuidmap and newgidmap (walls.subuid=never does without)"
				: "write the user map");
	return r;
}

static long map_mounts(struct warden *w)
{
	uint32_t step = 0;
	long r = idmap_prepare(w, &step);

	if (r < 0)
		complain(w, step, r, "map the owner of the workspace");
	return r;
}

static long watch_disk(struct warden *w)
{
	long r = w->plan->disk_bytes ? disk_open(w) : 0;

	if (r < 0)
		complain(w, 0, r, "watch the disk");
	return r;
}

static long take_plan(struct warden *w, long pid)
{
	long r = SYS5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);

	SYS1(close, w->life[0]); /* so that pid 1 ends when we do */
	if (r >= 0 && !w->plan) {
		r = map_early(w, pid);
		if (r < 0)
			return r;
		r = plan_wait(w);
	}
	if (r >= 0 && w->mapped && !has_root_users(w->plan))
		r = -EINVAL;
	if (r < 0)
		complain(w, 0, r, "read the plan");
	return r;
}

/* What only we can make. Pid 1 builds what it can meanwhile, and waits where it needs one of these. */
static long prepare(struct warden *w, long pid)
{
	long r = take_plan(w, pid);
	bool root = r >= 0 && w->plan->flags & PLAN_F_PARENT_MAPS;

	if (r >= 0 && !w->mapped && w->plan->flags & PLAN_F_TWO_USERS)
		r = map_users(w, pid);
	if (r >= 0 && w->plan->private_dir)
		r = private_make(w);
	if (r >= 0)
		r = watch_disk(w);
	if (r >= 0 && root)
		r = map_mounts(w);
	if (r >= 0 && creel_gone(false))
		r = -EPIPE;
	if (r >= 0)
		r = life_send(w, LIFE_READY, -1);
	idmap_settled();
	private_settled(w);
	return r;
}

/* Ends when inside has ended; makes it end at the deadline, or when creel has gone. */
int outside(struct warden *w, long pid, int pidfd)
{
	long r = prepare(w, pid);
	enum event e;

	let_go();
	e = r < 0 ? EVENT_CREEL_GONE : watch(w, pid, pidfd);
	/* It waits for inside in our place, which is about to end (later.c) and has a death signal. */
	if (e == EVENT_LEAVE && w->private_fd < 0 && !w->groups.n)
		return 0;
	if (e != EVENT_ENDED && signal_inside(pid, pidfd, SIGKILL) < 0)
		return 125; /* our end is its end, too */
	SYS5(waitid, P_PIDFD_, pidfd, 0, WEXITED_, 0);
	finish(w);
	return 0;
}
