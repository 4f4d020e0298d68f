/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An error is plain data in storage the caller owns.
 *
 * No allocation: it works when memory has run out, and a child between
 * clone() and execve() can send it to its parent with one write(2), because
 * sizeof(struct err) <= PIPE_BUF makes that write atomic.
 */
#pragma once

/* The kind says who has to act. The HTTP status and the exit code are looked up from it. */
enum err_kind {
	ERR_NONE = 0,
	ERR_USAGE,    /* the caller asked for nonsense */
	ERR_DENIED,   /* policy said no */
	ERR_NOTFOUND, /* the thing named does not exist */
	ERR_LIMIT,    /* a size, count, rate or time bound was hit */
	ERR_UNAVAIL,  /* the kernel or a backend cannot do this here */
	ERR_PROTO,    /* a peer spoke garbage */
	ERR_SYS,      /* a system call failed: see sys_errno */
	ERR_BUG,      /* our own invariant broke */
	ERR_KIND_COUNT_
};

struct err {
	enum err_kind kind;
	int sys_errno; /* positive, 0 when no system call was involved */
	char msg[504];
};

/* Each returns a negative number, so that `return err_set(...)` is the whole error path. */
int err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), nonnull));
int err_sys(struct err *e, int errnum, const char *fmt, ...) __attribute__((format(printf, 3, 4), nonnull));

/* Puts context in front of the message already there: "load policy 'x': open: No such file". */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3), nonnull));

const char *err_kind_name(enum err_kind kind);

/* What a caller over HTTP sees. ERR_NONE is 200; a kind out of range is 500. */
unsigned err_kind_http(enum err_kind kind);

/* What a shell sees: 126 for "policy said no", 125 for every other failure, as env(1) and docker do. */
int err_kind_exit(enum err_kind kind);
