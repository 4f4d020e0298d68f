/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the C libraries that we build with have under different names, or not at all: glibc for tests and sanitizers, musl for
 * the program that is installed (it starts in a fraction of the time).
 */
#pragma once

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

/* Never replaces what is there. musl has no renameat2() before 1.2.5. */
static inline int port_rename_new(int from_dir, const char *from, int to_dir, const char *to)
{
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, RENAME_NOREPLACE);
}

/* statx(2) as the kernel has it (Linux 5.8): musl has it since 1.2.5, and without the number of the mount. */
struct port_statx {
	uint32_t stx_mask, stx_blksize;
	uint64_t stx_attributes;
	uint32_t stx_nlink, stx_uid, stx_gid;
	uint16_t stx_mode, pad;
	uint64_t stx_ino, stx_size, stx_blocks, stx_attributes_mask;
	struct {
		int64_t sec;
		uint32_t nsec, pad;
	} stx_atime, stx_btime, stx_ctime, stx_mtime;
	uint32_t stx_rdev_major, stx_rdev_minor, stx_dev_major, stx_dev_minor;
	uint64_t stx_mnt_id, spare[13];
};
static_assert(sizeof(struct port_statx) == 256, "as the kernel has it");

enum { PORT_STATX_TYPE = 0x1, PORT_STATX_NLINK = 0x4, PORT_STATX_INO = 0x100, PORT_STATX_MNT_ID = 0x1000 };

static inline int port_statx(int dir, const char *path, int flags, unsigned mask, struct port_statx *ret)
{
	return (int)syscall(SYS_statx, dir, path, flags, mask, ret);
}

/* What an errno means, untranslated; NULL for a number that is none. */
static inline const char *port_errno_text(int errnum)
{
#ifdef __GLIBC__
	return strerrordesc_np(errnum);
#else
	return errnum > 0 ? strerror(errnum) : NULL; /* a constant, in musl: NOLINT(concurrency-mt-unsafe) */
#endif
}
