/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes. Outside stays in the host's namespaces: it holds the deadline and dies with creel. Inside is pid 1 of the
 * sandbox: it builds the walls, starts the payload, reaps. When either dies, the kernel ends everything inside.
 */
#include "sandbox/warden/warden.h"

#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/stat.h>

static struct warden warden;

static bool within(const struct plan_header *p, uint32_t at, uint64_t n)
{
	return at <= p->size && n <= p->size - at;
}

static long load_plan(struct warden *w)
{
	struct statx st = { 0 };
	long r = SYS5(statx, WARDEN_FD_PLAN, "", AT_EMPTY_PATH, STATX_SIZE, &st);
	const struct plan_header *p;

	if (r < 0)
		return r;
	if (st.stx_size < sizeof(*p) || st.stx_size > PLAN_MAX_BYTES)
		return -EINVAL;
	r = SYS6(mmap, 0, st.stx_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, WARDEN_FD_PLAN, 0);
	if (r < 0 && r > -4096)
		return r;
	p = (const void *)r; /* an address from the kernel: NOLINT(performance-no-int-to-ptr) */
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

/*
 * What is left of the plan when it has been carried out: its header, and the name of the private directory. The rest takes
 * memory as long as the sandbox lives, and has the payload's environment in it.
 */
void plan_forget(struct warden *w)
{
	static struct plan_header kept;
	static char strings[4096 + 256]; /* begins with an empty one, as a plan does */
	const struct plan_header *p = w->plan;
	size_t at = 1;

	text_put(strings, sizeof(strings), &at, p->private_dir ? plan_str(w, p->private_dir) : "");
	memcpy(&kept, p, sizeof(kept));
	kept.private_dir = p->private_dir ? 1 : 0;
	kept.n_strings = (uint32_t)at + 1;
	kept.n_steps = 0;
	w->plan = &kept;
	w->steps = NULL;
	w->strings = strings;
	SYS2(munmap, p, kept.size);
}

/* The kernel writes to it. NOLINTNEXTLINE(readability-non-const-parameter) */
static long make_inside(struct warden *w, int *ret_pidfd)
{
	struct clone_args args = { .flags = w->plan->ns_flags | CLONE_PIDFD,
				   .pidfd = (uint64_t)(uintptr_t)ret_pidfd,
				   .exit_signal = SIGCHLD };

	if (w->plan->cgroup_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint32_t)w->plan->cgroup_fd;
	}
	return SYS2(clone3, &args, sizeof(args));
}

/* creel moves us into our groups first; a creel that is gone by now cannot remove them either. */
static void wait_for_go(const struct warden *w)
{
	struct warden_report m;

	if (!(w->plan->flags & PLAN_F_WAIT) || (control_recv(&m, 0) == 0 && m.msg == MSG_GO))
		return;
	remove_groups(w);
	die(125);
}

int warden_main(const char *const *groups)
{
	struct warden *w = &warden;
	int pidfd = -1;
	long pid, r = load_plan(w);

	w->groups = groups;
	w->root_fd = w->parent_fd = w->rules_fd = w->tty_fd = w->live_fd = w->private_fd = -EBADF;
	SYS5(prctl, PR_SET_NAME, "creel-warden", 0, 0,
	     0); /* executed from a descriptor, it is called by its number */
	if (r < 0)
		fail(w, 0, r, "read the plan");
	r = SYS3(fcntl, WARDEN_FD_CONTROL, F_SETFD, FD_CLOEXEC);
	if (r >= 0)
		r = SYS0(setsid); /* no terminal, and nobody's process group but our own */
	if (r < 0)
		fail(w, 0, r, "leave the caller's session");
	wait_for_go(w);
	r = SYS2(pipe2, w->life, O_CLOEXEC);
	if (r < 0)
		fail(w, 0, r, "make a pipe");
	if (w->plan->private_dir)
		private_make(w);
	r = w->plan->disk_bytes ? disk_open(w) : 0;
	if (r < 0)
		fail_outside(w, r, "watch the disk");
	if (w->plan->flags & PLAN_F_PARENT_MAPS)
		idmap_prepare(w);
	pid = make_inside(w, &pidfd);
	if (pid == 0)
		inside(w);
	if (pid < 0)
		fail_outside(w, pid, "create namespaces");
	return outside(w, pid, pidfd);
}
