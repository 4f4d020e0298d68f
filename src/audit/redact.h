/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known secret values, and text without them: each becomes ${NAME}. A value is also found as JSON, base64, percent-encoding and
 * hexadecimal write it. The last look, not the first: a secret does not belong into a record, and this is for the
 * program that printed it, the person who typed it, the message that quoted it. A value that nobody named is found only where a mark stands before it.
 */
#pragma once

#include "base/buf.h"

/* Shorter values are no secrets, and replacing them would garble everything. */
#define REDACT_SHORTEST 4u

struct redactor;

int redactor_new(struct redactor **ret);            /* -ENOMEM */
struct redactor *redactor_free(struct redactor *r); /* wipes what it knew */
DEFINE_CLEANUP(redactor, redactor_free)

/* Copies both. A value that is too short is left out (0), so is one that is known already. -ENOMEM, -ENOSPC: too many. */
int redactor_add(struct redactor *r, struct str name, struct str value);

/* marks.c: values that nobody named, by what stands before them. */
struct redact_marks {
	bool (*looks_secret)(struct str name);
	bool wide; /* also where it may be none: "basic …", "name: …", "NAME=$OTHER" */
};
void redact_marked(const struct redact_marks *m, struct buf *out, struct str text);
bool redact_may_be_marked(const struct redact_marks *m,
			  struct str text); /* false: redact_marked() would change nothing */
/* From now on redact_put() looks for those, too. */
void redactor_mark(struct redactor *r, const struct redact_marks *m);

/* `r` may be NULL: nothing is known, and the text is put as it is. Longest match first, one pass from left to right. */
void redact_put(const struct redactor *r, struct buf *out, struct str text);
bool redact_finds(const struct redactor *r, struct str text);
/* false: redact_put() would put the text as it is, which is so with most. Cheap to ask. */
bool redact_may_change(const struct redactor *r, struct str text);
