/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When root starts a sandbox, the payload is a user that exists nowhere, so it could neither read a private workspace nor
 * leave files there that belong to anybody. An idmapped mount (Linux 5.12) makes the owner of the workspace and the
 * payload's user the same, on this mount alone. Only the outside, with rights over the file system, can make one.
 */
#include "sandbox/warden/warden.h"

#include <linux/fcntl.h>
#include <linux/mount.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/stat.h>

static long write_id(long pid, const char *file, uint64_t from, uint64_t to)
{
	char path[64], text[64];
	size_t n = 0, t = 0;
	long fd, r;

	text_put(path, sizeof(path), &n, "/proc/");
	text_u64(path, sizeof(path), &n, (uint64_t)pid);
	text_put(path, sizeof(path), &n, file);
	text_u64(text, sizeof(text), &t, from);
	text_put(text, sizeof(text), &t, " ");
	text_u64(text, sizeof(text), &t, to);
	text_put(text, sizeof(text), &t, " 1\n");
	fd = SYS4(openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	r = SYS3(write, fd, text, t);
	SYS1(close, fd);
	return r;
}

static long open_ns(long pid)
{
	char path[64];
	size_t n = 0;

	text_put(path, sizeof(path), &n, "/proc/");
	text_u64(path, sizeof(path), &n, (uint64_t)pid);
	text_put(path, sizeof(path), &n, "/ns/user");
	return SYS4(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

static long holder; /* the process of the namespace that was made last; 0 = none */

void idmap_settled(void)
{
	/* One that cannot be killed is not waited for; it ends with us. */
	if (holder > 0 && SYS2(kill, holder, SIGKILL) >= 0)
		SYS4(wait4, holder, 0, 0, 0);
	holder = 0;
}

static int hold(void *arg)
{
	const long *us = arg;

	SYS5(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	while (SYS0(getppid) == *us) /* it may have died before the line above */
		SYS5(ppoll, 0, 0, 0, 0, 0);
	return 125;
}

SPARSE(0) static char stack[4096] __attribute__((aligned(4096)));

void idmap_forget(void)
{
	pages_forget(stack, sizeof(stack));
}

/*
 * A user namespace in which file system owner `uid` is the payload. It needs a process only while it is being made, which shares our
 * memory: a copy would take longer than all the rest.
 */
static long map_namespace(const struct plan_header *p, uint32_t uid, uint32_t gid)
{
	static long us;
	long pid, r, fd;

	idmap_settled(); /* there is one stack */
	us = SYS0(getpid);
	tasks_plain();
	pid = spawn_vm(hold, &us, stack + sizeof(stack), CLONE_NEWUSER | CLONE_VM | SIGCHLD, NULL);
	if (pid < 0)
		return pid;
	r = write_id(pid, "/uid_map", uid, p->outer_uid);
	if (r >= 0)
		r = write_id(pid, "/gid_map", gid, p->outer_gid);
	fd = r < 0 ? r : open_ns(pid);
	holder = pid;
	return fd;
}

static long idmapped_tree(struct warden *w, const struct step *s)
{
	struct mount_attr at = { .attr_set = MOUNT_ATTR_IDMAP };
	struct statx st = { 0 };
	long src = open_source(w, s), tree, ns, r;

	if (src < 0)
		return src;
	r = SYS5(statx, src, "", AT_EMPTY_PATH, STATX_UID | STATX_GID, &st);
	tree = r < 0 ? r : SYS3(open_tree, src, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	SYS1(close, src);
	if (tree < 0)
		return tree;
	ns = map_namespace(w->plan, st.stx_uid, st.stx_gid);
	at.userns_fd = (uint64_t)ns;
	r = ns < 0 ? ns : SYS5(mount_setattr, tree, "", AT_EMPTY_PATH, &at, sizeof(at));
	if (ns >= 0)
		SYS1(close, ns);
	if (r < 0)
		SYS1(close, tree);
	return r < 0 ? r : tree;
}

long idmap_prepare(struct warden *w, uint32_t *ret_step)
{
	long r = 0;

	for (uint32_t i = 0; i < w->plan->n_steps && r >= 0; i++) {
		long fd;

		if (!(w->steps[i].flags & STEP_F_IDMAP))
			continue;
		*ret_step = i;
		fd = idmapped_tree(w, &w->steps[i]);
		r = fd < 0 ? fd : life_send(w, i, (int)fd);
		if (fd >= 0)
			SYS1(close, fd);
	}
	return r;
}
