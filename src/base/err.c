/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/port.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static_assert(sizeof(struct err) <= _POSIX_PIPE_BUF, "a child sends struct err in one atomic write");
static_assert(ERR_NONE == 0, "a zeroed error is no error");

/* clang-format off */
static const struct {
	const char *name;
	unsigned http;
	int exit;
} kinds[] = {
	[ERR_NONE]     = { "none",        200, 0 },
	[ERR_USAGE]    = { "usage",       400, 125 },
	[ERR_DENIED]   = { "denied",      403, 126 },
	[ERR_NOTFOUND] = { "not-found",   404, 125 },
	[ERR_LIMIT]    = { "limit",       413, 125 },
	[ERR_UNAVAIL]  = { "unavailable", 503, 125 },
	[ERR_PROTO]    = { "protocol",    502, 125 },
	[ERR_SYS]      = { "system",      500, 125 },
	[ERR_BUG]      = { "bug",         500, 125 },
};
/* clang-format on */
static_assert(sizeof(kinds) / sizeof(kinds[0]) == ERR_KIND_COUNT_, "every kind has a row");

const char *err_kind_name(enum err_kind kind)
{
	return kind < ERR_KIND_COUNT_ ? kinds[kind].name : "unknown";
}

unsigned err_kind_http(enum err_kind kind)
{
	return kind < ERR_KIND_COUNT_ ? kinds[kind].http : 500;
}

int err_kind_exit(enum err_kind kind)
{
	return kind < ERR_KIND_COUNT_ ? kinds[kind].exit : 125;
}

/* Puts `tail` at msg[at], cut off where the struct ends: a long path must not cost us the error. */
static void append(struct err *e, size_t at, const char *tail)
{
	size_t room, n;

	if (at >= sizeof(e->msg) - 1)
		return;
	room = sizeof(e->msg) - 1 - at;
	n = strnlen(tail, room);
	memcpy(e->msg + at, tail, n);
	e->msg[at + n] = '\0';
}

/* vsnprintf() that reports where the text really ends, also when it did not fit. */
static __attribute__((format(printf, 2, 0))) size_t format(struct err *e, const char *fmt, va_list ap)
{
	if (vsnprintf(e->msg, sizeof(e->msg), fmt, ap) < 0)
		e->msg[0] = '\0';
	return strlen(e->msg);
}

int err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	e->kind = kind;
	e->sys_errno = 0;
	va_start(ap, fmt);
	(void)format(e, fmt, ap);
	va_end(ap);
	return -(int)kind;
}

int err_sys(struct err *e, int errnum, const char *fmt, ...)
{
	const char *why = port_errno_text(errnum);
	va_list ap;
	size_t n;

	e->kind = ERR_SYS;
	e->sys_errno = errnum;
	va_start(ap, fmt);
	n = format(e, fmt, ap);
	va_end(ap);
	append(e, n, ": ");
	append(e, strlen(e->msg), why ? why : "unknown error");
	return -(int)ERR_SYS;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	const struct err inner = *e;
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	n = format(e, fmt, ap);
	va_end(ap);
	append(e, n, ": ");
	append(e, strlen(e->msg), inner.msg);
	return -(int)e->kind;
}
