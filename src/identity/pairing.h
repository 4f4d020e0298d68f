/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairing of unknown senders (protocol 412). Whoever is not known gets a code and nothing else: his message is not processed. The operator approves the
 * code that the sender shows him, and the sender is known from then on. A code is good for 24 hours; a sender gets three in an hour,
 * also when he was approved and revoked meanwhile.
 *
 * The file is <dir>/pairing.json, kept as tokens.h says of its own. It holds what strangers wrote (name, the front of the message): never print it
 * as it is. Whether a sender who is known may do something is for policy alone.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

#define PAIRING_FILE "pairing.json"
#define PAIRING_FILE_MAX ((size_t)4 << 20)
#define PAIRING_CODE_MAX 7 /* six digits and NUL */
#define PAIRING_CODE_MS ((uint64_t)24 * 3600 * 1000)
#define PAIRING_HOUR_MS ((uint64_t)3600 * 1000)
enum {
	PAIRING_PER_HOUR = 3,
	PAIRING_SENDERS_MAX = 4096,
	PAIRING_PENDING_MAX = 1024,
	PAIRING_NAME_BYTES = 128,
	PAIRING_PREVIEW_BYTES = 400, /* 100 characters */
};

struct pairing_sender {
	struct str channel, user, name;
	struct str by; /* who approved */
	uint64_t approved_ms;
};

struct pairing_pending {
	struct str code; /* empty: it has been used, or taken back, and counts for the hour alone */
	struct str channel, user, name, preview;
	uint64_t asked_ms;
};

struct pairing {
	struct pairing_sender *senders;
	size_t n_senders;
	struct pairing_pending *pending; /* also those that have expired: they count for the hour */
	size_t n_pending;
};

/* ---- pairing.c: pure ---- */

/* Errors read "name:line:column: what", kind ERR_USAGE. */
int pairing_parse(struct arena *a, struct str text, const char *name, struct pairing *ret, struct err *e);
void pairing_write(struct buf *out, const struct pairing *p);
bool pairing_knows(const struct pairing *p, struct str channel, struct str user);
bool pairing_code_good(const struct pairing_pending *p, uint64_t now_ms);
bool pairing_code_recent(const struct pairing_pending *p, uint64_t now_ms); /* counts for the hour */
/* 1..64 of letters, digits and "_@.+:-" */
bool pairing_user_valid(struct str user);

/* ---- pairing_store.c: the file ---- */

struct pairing_store;
int pairing_store_open(const char *dir, struct pairing_store **ret, struct err *e);
struct pairing_store *pairing_store_close(struct pairing_store *s);
DEFINE_CLEANUP(pairing_store, pairing_store_close)
int pairing_store_load(struct pairing_store *s, struct err *e); /* 1 when it has changed */
const struct pairing *pairing_store_get(const struct pairing_store *s);
void pairing_store_patience(struct pairing_store *s, uint64_t ms); /* as token_store_patience() */

struct pairing_ask {
	struct str channel, user;
	struct str name, preview; /* cut */
	uint64_t now_ms;
};
/* 1: the sender is known. 0: not, and this is his code. ERR_LIMIT: he had three in this hour, or too many wait. */
int pairing_ask(struct pairing_store *s, const struct pairing_ask *ask, char code[static PAIRING_CODE_MAX],
		struct err *e);
/* *ret is valid until the next call. Any case. ERR_NOTFOUND: no such code, or it has expired. */
int pairing_approve(struct pairing_store *s, struct str code, struct str by, uint64_t now_ms,
		    struct pairing_sender *ret, struct err *e);
/* Without a code: the operator himself. 0 when he was known. */
int pairing_add(struct pairing_store *s, const struct pairing_sender *who, struct err *e);
/* ERR_NOTFOUND: he is not known. Codes that he has are good for nothing, too. */
int pairing_revoke(struct pairing_store *s, struct str channel, struct str user, struct err *e);
