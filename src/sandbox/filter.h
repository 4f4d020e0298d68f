/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system call filter: a table of every number, compiled into a binary tree of BPF.
 *
 * What the table does not name answers ENOSYS, as if the kernel did not have it, so that programs fall back. What is
 * known and refused answers EPERM. Other ABIs (i386, x32) answer ENOSYS whole. The tree takes microseconds to make, so
 * nothing is cached anywhere.
 */
#pragma once

#include "base/err.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum filter_action {
	FILTER_ENOSYS = 0,
	FILTER_EPERM,
	FILTER_ALLOW,
	/* allowed when the arguments pass */
	FILTER_CLONE,       /* no new namespace */
	FILTER_UNSHARE,     /* no new namespace */
	FILTER_IOCTL,       /* nothing that types into a terminal or loads a line discipline */
	FILTER_SOCKET,      /* unix; inet stream and datagram with their usual protocols */
	FILTER_SOCKETPAIR,  /* unix */
	FILTER_PERSONALITY, /* ask, or the default */
	FILTER_PRLIMIT, /* oneself, but for reading what marks the calls; the limit on cores stays as it is, whatever is asked */
	FILTER_SETRLIMIT, /* the same */
	FILTER_SCHED,     /* not pid 1: who can starve it can outlive the deadline */
	FILTER_PRIORITY,  /* not pid 1, not a whole user */
	FILTER_IOPRIO,    /* the same */
	FILTER_MKNOD,     /* files, pipes and sockets; no device, no whiteout of an overlay */
	FILTER_MKNODAT,   /* the same */
	FILTER_MODE1,     /* a mode in argument 1: neither setuid nor setgid */
	FILTER_MODE2,     /* in argument 2 */
	FILTER_OPEN,      /* the same for a file that is made: flags and mode in 1 and 2 */
	FILTER_OPENAT,    /* in 2 and 3 */
	FILTER_FCNTL,     /* no lease: whoever writes to the file outside would wait for us */
	FILTER_UNIX,      /* a socket: unix streams alone */
	FILTER_DATA,      /* memory with protection in argument 2: not executable */
	FILTER_ACTION_COUNT_
};

#define FILTER_MAX_INSNS 1024

struct filter {
	struct sock_filter insn[FILTER_MAX_INSNS];
	size_t n;
};

/* What the table says about a number of the native ABI. */
enum filter_action filter_action(uint32_t nr);
const char *filter_action_name(enum filter_action a);
/* With the arguments: what the kernel must answer. Returns SECCOMP_RET_*. The reference that tests compare with. */
uint32_t filter_expect(uint32_t arch, uint32_t nr, const uint64_t args[6]);

int filter_build(struct filter *ret, struct err *e);
/*
 * For a service that has locked itself in (server/jail.h): reads, writes, waits, takes connections, and makes unix ones; with `tcp` inet ones too. No
 * new process or program, no executable memory, no signal to anybody, no mount, no key. What it does not need answers EPERM or ENOSYS.
 */
int filter_build_service(bool tcp, struct filter *ret, struct err *e);
