/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of files_dir share. */
#pragma once

#include "backend/files_dir.h"
#include "base/port.h"

/* openat2() from the root or the workspace, as the path says. An fd, or a negative errno. */
int files_dir_open(struct files *f, const char *path, int flags, mode_t mode);

/* files_dir_walk.c: the same without openat2(). */
int files_dir_walk(int base, bool in_root, const char *path, int flags, mode_t mode);

/*
 * The directory that holds `path`, O_PATH, and the last name. -EISDIR for "/", "." and "..". `ret_made` is NULL, or directories that are missing are made,
 * and how long the path of the first of them is, is left there; when that fails in the middle, those that were made are removed.
 */
int files_dir_parent(struct files *f, const char *path, size_t *ret_made, char name[static 256]);
/* The directories on the way to `path` from that length on go, unless something is in them by now. 0: none were made. */
void files_dir_unmake(struct files *f, const char *path, size_t made);

struct files_stat files_dir_stat(const struct stat *st);
int files_dir_check_regular(int fd, struct files_stat *ret); /* -EISDIR, -ENXIO; ret may be NULL */

/* files_dir_list.c, files_dir_stage.c: operations */
int files_dir_list(struct files *f, const char *path, unsigned flags, files_each *each, void *ctx);
int files_dir_stage(struct files *f, const char *path, unsigned flags, mode_t mode, struct files_stage *ret);
int files_dir_commit(struct files *f, struct files_stage *s, unsigned flags);
int files_dir_undo(struct files *f, struct files_stage *s);
void files_dir_drop(struct files *f, struct files_stage *s);
