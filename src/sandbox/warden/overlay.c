/* SPDX-License-Identifier: Apache-2.0 */
/* Overlays: a workspace whose changes go to a layer of ours, and one that is only read. */
#include "sandbox/warden/tree.h"

#include <linux/fcntl.h>
#include <linux/mount.h>

/*
 * b starts three strings: lower, upper, work. They are opened like every source, and given to overlayfs by fd, through the
 * new /proc (attached at /proc/proc until the pivot): no name is looked up twice, and none needs escaping. A lower layer
 * that was made outside has to be attached before overlayfs takes it; the overlay then covers it.
 *
 * "volatile" (Linux 5.10): without it, ending the sandbox syncs the whole file system that the upper layer lies on. A layer that
 * stays for the next sandbox has to be on the disk by then.
 */
static long open_lower(struct warden *w, const struct step *s, const char *target)
{
	int made = made_outside(w, s);
	long r;

	if (!made)
		return open_source(w, s);
	r = set_attr(made, STEP_F_RO, false);
	if (r >= 0)
		r = attach_at(w, made, target);
	return r < 0 ? r : open_target(w, target);
}

static long open_layer(struct warden *w, const struct step *s, const char *path)
{
	struct step one = *s;

	one.b = (uint32_t)(path - w->strings);
	one.y = 0; /* ours: nothing to compare with */
	return open_source(w, &one);
}

static void fd_name(char *text, size_t size, long fd)
{
	size_t at = 0;

	text_put(text, size, &at, "/proc/proc/self/fd/");
	text_u64(text, size, &at, (uint64_t)fd);
}

long do_overlay(struct warden *w, const struct step *s)
{
	const char *target = plan_str(w, s->a), *lower = plan_str(w, s->b);
	const char *upper = plan_str_after(w, lower), *work = plan_str_after(w, upper);
	char text[3][40];
	const char *options[] = { "lowerdir",  text[0],   "upperdir",
				  text[1],     "workdir", text[2],
				  "userxattr", NULL,      w->plan->flags & PLAN_F_STAYS ? NULL : "volatile",
				  NULL,        NULL };
	long fd[3] = { -1, -1, -1 }, r = make_target(w, target, false);

	if (r >= 0)
		r = told(w, fd[0] = open_lower(w, s, target), "open", lower);
	if (w->plan->private_dir)
		life_wait(w, LIFE_PRIVATE);
	if (r >= 0)
		r = told(w, fd[1] = open_layer(w, s, upper), "open", upper);
	if (r >= 0)
		r = told(w, fd[2] = open_layer(w, s, work), "open", work);
	for (int i = 0; i < 3 && r >= 0; i++)
		fd_name(text[i], sizeof(text[i]), fd[i]);
	if (r >= 0)
		r = told(
			w,
			attach_at(w,
				  own(w, new_mount("overlay", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)),
				  target),
			"mount overlay", target);
	for (int i = 0; i < 3; i++)
		if (fd[i] >= 0)
			SYS1(close, fd[i]);
	return r;
}

/* b starts two strings: lower, and an empty directory in the new root. Both are lower layers, and nothing can be written. */
long do_sealed(struct warden *w, const struct step *s)
{
	const char *target = plan_str(w, s->a), *lower = plan_str(w, s->b), *empty = plan_str_after(w, lower);
	char text[80];
	const char *options[] = { "lowerdir", text, "userxattr", NULL, NULL };
	long fd[2] = { -1, -1 }, r = make_target(w, target, false);
	size_t at;

	if (r >= 0)
		r = told(w, fd[1] = open_target(w, empty), "open", empty);
	if (r >= 0)
		r = told(w, fd[0] = open_lower(w, s, target), "open", lower);
	if (r >= 0) {
		fd_name(text, sizeof(text), fd[0]);
		at = strlen(text);
		text_put(text, sizeof(text), &at, ":");
		fd_name(text + at, sizeof(text) - at, fd[1]);
		r = told(w,
			 attach_at(w,
				   new_mount("overlay", options,
					     MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY),
				   target),
			 "mount overlay", target);
	}
	for (int i = 0; i < 2; i++)
		if (fd[i] >= 0)
			SYS1(close, fd[i]);
	return r;
}
