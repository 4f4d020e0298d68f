/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories and files that are ours alone: what holds state or secrets. The open file is checked, never its name. Nothing is
 * put right silently: a file that others could read has been read by them, and whoever owns it has to know.
 */
#pragma once

#include "base/fd.h"

#include <sys/types.h>

/* Beside the negative errno of the call that failed; private_why() has a sentence for each. */
enum private_fault {
	PRIVATE_FOREIGN = -5001, /* belongs to another user */
	PRIVATE_SHARED = -5002,  /* its mode lets others in */
	PRIVATE_LINKED = -5003,  /* it has a second name */
	PRIVATE_SPECIAL = -5004, /* no regular file */
};

/*
 * Directories and files of ours have exactly the mode that they are made with, whatever the umask of the process is; that one is
 * not touched, since other threads may depend on it.
 *
 * 1: made; 0: there is something of this name already. An open file that was just made gets its mode from private_mode().
 */
int private_mkdir(int dirfd, const char *path, mode_t mode);
int private_mode(int fd, mode_t mode);

/* The directory, made (0700) when only its last part is missing. Not through a symbolic link in its last part. */
int private_dir_open(const char *path);

/* A regular file beneath `dirfd` (or AT_FDCWD), with one name, ours, mode 0600 or less. Made 0600 with O_CREAT. Never waits. */
int private_file_open(int dirfd, const char *path, int flags);

/* The same of a file that must not be opened for it: 0, or what is wrong. */
struct stat;
int private_file_check(const struct stat *st);

/* "belongs to another user": what is wrong with it; for an errno, what that means. */
const char *private_why(int fault);
