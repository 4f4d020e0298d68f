/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the public door share. The handles are the engine's own structs under other names. */
#pragma once

#include <creel/creel.h>

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

struct engine;
struct session;

static inline struct engine *api_engine(struct creel_engine *c)
{
	return (void *)c;
}

static inline struct creel_engine *api_of_engine(struct engine *g)
{
	return (void *)g;
}

static inline struct session *api_session(struct creel_session *s)
{
	return (void *)s;
}

static inline struct creel_session *api_of_session(struct session *s)
{
	return (void *)s;
}

int api_fail(struct creel_error *out, const struct err *e); /* -1 */
struct str api_str(const char *z);                          /* NULL: empty, with p NULL */
/* A struct of a caller's version: what it does not have is zero. False when it is NULL or smaller than `least`. */
bool api_take(void *to, size_t room, const void *from, size_t least);
/* api_approval.c */
struct reg_approval;
void api_tell_approval(const struct reg_approval *row, creel_waiting_fn *tell, void *ctx);
/* The text, for creel_free(); NULL when memory ran out. */
char *api_text(struct buf *b);
