/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "the filter knows x86-64 and arm64"
#endif

#define NR_MAX 1024u /* numbers above answer ENOSYS; x32's have bit 30 set, so they are above too */
#define NEW_NAMESPACES                                                                            \
	((uint32_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
		    CLONE_NEWPID | CLONE_NEWNET))
#define NEW_TIME 0x80u     /* CLONE_NEWTIME; in clone(2) these bits are the exit signal */
#define TIOCLINUX_ 0x541cu /* types into a console, as TIOCSTI does */
#define ASK_PERSONALITY 0xffffffffu
#define SOCKET_TYPE_MASK 0xfu /* without SOCK_CLOEXEC and SOCK_NONBLOCK */
#define WARDEN_PID 1u
/* Limits that limit nothing any more; pid 1 reads in them which call a process belongs to (docs/decisions/007). */
#define MARK_LOW ((uint32_t)RLIMIT_LOCKS)
#define MARK_HIGH ((uint32_t)RLIMIT_RTTIME)
/*
 * A file with these runs as its owner. On a writable workspace that is the caller, who may be root: nosuid holds inside, but
 * the file would lie in wait outside.
 */
#define SET_ID ((uint32_t)(S_ISUID | S_ISGID))
#define MAKES_FILE ((uint32_t)(O_CREAT | (O_TMPFILE & ~O_DIRECTORY)))

/* Numbers of the same two things in setpriority(2) and ioprio_set(2). */
#define PRIORITY_PROCESS 0u
#define PRIORITY_USER 2u
#define IOPRIO_PROCESS 1u
#define IOPRIO_USER 3u

#define RET_ALLOW SECCOMP_RET_ALLOW
#define RET_DONE (SECCOMP_RET_ERRNO | 0) /* 0 without having done anything */
#define RET_EPERM (SECCOMP_RET_ERRNO | EPERM)
#define RET_ENOSYS (SECCOMP_RET_ERRNO | ENOSYS)
#define RET_EAFNOSUPPORT (SECCOMP_RET_ERRNO | EAFNOSUPPORT)

struct filter_row {
	const char *name;
	uint32_t nr; /* NONE of filter_numbers.h where this architecture never had it */
	enum filter_action action;
};
extern const struct filter_row filter_rows[];
extern const size_t filter_n_rows;
int filter_compile(const struct filter_row *rows, size_t n_rows, struct filter *ret, struct err *e);

/* filter_share.c: the same filter with fewer instructions */
void filter_share(struct filter *f);
