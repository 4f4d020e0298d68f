/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known secret values, and text without them: each becomes ${NAME}. A value is also found as JSON, base64, percent-encoding and
 * hexadecimal write it. The last look, not the first: a secret does not belong into a record, and this is for the
 * program that printed it, the person who typed it, the message that quoted it. Values that nobody named are not known here.
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

/* `r` may be NULL: nothing is known, and the text is put as it is. Longest match first, one pass from left to right. */
void redact_put(const struct redactor *r, struct buf *out, struct str text);
bool redact_finds(const struct redactor *r, struct str text);
