/* SPDX-License-Identifier: Apache-2.0 */
/* The tree that is being built: places below the new root, and mounts on them. Shared by tree.c, mounts.c, overlay.c and pivot.c. */
#pragma once

#include "sandbox/warden/warden.h"

/* tree.c. Leaves "verb 'path'" in the report when err is one; returns err. */
long told(struct warden *w, long err, const char *verb, const char *path);
const char *below_root(const char *path); /* without the leading slash */
bool lies_in(const char *path, const char *dir);
/* A place below the new root, without following a link. */
long open_target(struct warden *w, const char *path);
/* Remembers a file system that we made; gives the mount back. */
long own(struct warden *w, long mount);
bool in_root(const struct warden *w,
	     long dir); /* a directory of the root's own tmpfs, not of another on it */
/*
 * The directory that a path lies in, and its last name. Nothing is ever created in a directory of the host: not through a
 * link that somebody put there, and not as a mount point either, which would stay behind in the user's tree.
 * -EXDEV when the directory is not on a file system that we made. The descriptor stays ours.
 */
long parent_of(struct warden *w, const char *path, const char **ret_name);
void forget_parent(struct warden *w);
/* What a mount lands on; one that is there already will do. */
long make_target(struct warden *w, const char *path, bool file);

/* mounts.c */
long new_mount(const char *type, const char *const *options,
	       uint64_t attr);                                  /* name, value; a flag has no value */
long attach_at(struct warden *w, long mount, const char *path); /* and closes it */
long set_attr(long mount, uint32_t flags, bool recursive);
/* The mount that was made for this step outside, or 0. */
int made_outside(struct warden *w, const struct step *s);
