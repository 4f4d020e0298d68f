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

#define AF_UNIX_ 1
#define SOCK_SEQPACKET_ 5
#define SOCK_CLOEXEC_ 02000000

#define NAMESPACES                                                                                 \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | \
	 CLONE_NEWCGROUP)

static bool within(const struct plan_header *p, uint32_t at, uint64_t n)
{
	return at <= p->size && n <= p->size - at;
}

/* As creel leaves it: nobody can change it any more. */
static long check_seals(void)
{
	long seals = SYS2(fcntl, WARDEN_FD_PLAN, F_GET_SEALS);
	const long all = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

	return seals < 0 ? seals : (seals & all) == all ? 0 : -EPIPE;
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
	SPARSE(0) static char strings[4096 + 256]; /* begins with an empty one, as a plan does */
	static const char none[2];
	const struct plan_header *p = w->plan;
	size_t at = 1;

	if (!p)
		return;
	if (p->private_dir)
		text_put(strings, sizeof(strings), &at, plan_str(w, p->private_dir));
	memcpy(&w->kept, p, sizeof(w->kept));
	w->kept.private_dir = p->private_dir ? 1 : 0;
	w->kept.n_strings = (uint32_t)at + 1;
	w->kept.n_steps = 0;
	w->plan = &w->kept;
	w->steps = NULL;
	w->strings = p->private_dir ? strings : none;
	SYS2(munmap, p, w->kept.size);
	pages_forget(w->built, sizeof(*w->built));
	stack_forget();
}

long plan_wait(struct warden *w)
{
	char byte;
	long r;

	do
		r = SYS3(read, WARDEN_FD_GO, &byte, 1);
	while (r == -EINTR);
	/* Its end, and nothing else, says that the plan is there. */
	r = r > 0 ? -EPROTO : r < 0 ? r : check_seals();
	if (r >= 0)
		r = load_plan(w);
	if (r >= 0 && w->plan->ns_flags != NAMESPACES)
		r = -EINVAL;
	return r;
}

/* The kernel writes to it. NOLINTNEXTLINE(readability-non-const-parameter) */
static long make_inside(const struct warden *w, int *ret_pidfd)
{
	struct clone_args args = { .flags = (NAMESPACES & ~CLONE_NEWNET) |
					    CLONE_PIDFD, /* net.c makes that one */
				   .pidfd = (uint64_t)(uintptr_t)ret_pidfd,
				   .exit_signal = SIGCHLD };
	long group = groups_open_birth(w), pid;

	if (group < 0 && group != -ENOENT)
		return group;
	if (group >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)group;
	}
	pid = SYS2(clone3, &args, sizeof(args));
	if (group >= 0)
		SYS1(close, group);
	return pid;
}

static bool is(const char *arg, const char *word)
{
	return arg && strlen(arg) == strlen(word) && memcmp(arg, word, strlen(word)) == 0;
}

/* A creel that is gone by now cannot remove the groups that it made. */
static void wait_here(struct warden *w)
{
	long r = w->waits ? groups_wait(w) : 0;

	if (r < 0)
		fail_outside(w, r, "read the plan");
}

int warden_main(const char *const *args)
{
	struct warden *w = warden_room();
	int pidfd = -1;
	long pid, r;

	w->waits = is(*args, WARDEN_WAIT);
	w->plain = *args && is(args[1], WARDEN_PLAIN);
	w->root_fd = w->parent_fd = w->rules_fd = w->tty_fd = w->live_fd = w->private_fd = -EBADF;
	SYS5(prctl, PR_SET_NAME, "creel-warden", 0, 0,
	     0); /* executed from a descriptor, it is called by its number */
	w->umask = (uint32_t)SYS1(umask, 0);
	r = SYS3(fcntl, WARDEN_FD_CONTROL, F_SETFD, FD_CLOEXEC);
	if (r >= 0)
		r = SYS0(setsid); /* no terminal, and nobody's process group but our own */
	if (r >= 0)
		r = SYS4(socketpair, AF_UNIX_, SOCK_SEQPACKET_ | SOCK_CLOEXEC_, 0, w->life);
	if (r < 0)
		fail_outside(w, r, "leave the caller's session");
	wait_here(w);
	pid = make_inside(w, &pidfd);
	if (pid == 0)
		inside(w);
	if (pid < 0)
		fail_outside(w, pid, "create namespaces");
	return outside(w, pid, pidfd);
}
