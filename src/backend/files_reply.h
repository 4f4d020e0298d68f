/* SPDX-License-Identifier: Apache-2.0 */
/* What a clerk answers, looked at: pure. Nothing of it is used before it has been through here. */
#pragma once

#include "backend/clerk_wire.h"
#include "backend/files.h"

/* The head, whose bytes are there; `more` bytes came behind it. 0 or -EPROTO. */
int reply_check(const struct clerk_reply *reply, const struct clerk_request *asked, size_t more);

struct files_stat reply_stat(const struct clerk_stat *st);

struct reply_entries {
	const char *p;
	size_t n, at;
	bool with_stat;
};
/* 1 and *ret, whose name lies in the bytes; 0 at the end; -EPROTO. */
int reply_next(struct reply_entries *e, struct files_entry *ret);
