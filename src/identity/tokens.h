/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens of callers over the network: who holds one may speak for the pairs (channel, agent, chat) that it is bound to, and for nobody else.
 * What is kept is the SHA-256 of a token, never the token: 256 random bits cannot be guessed, so nothing slower is needed. Whether a pair is
 * allowed is for policy alone (tokens_for_policy()).
 *
 * The file is <dir>/tokens.json, 0600 in a directory that is 0700; a file that others can reach, or with anything in it that is not understood, is
 * refused as a whole, with its place. It is replaced in one step and under a lock, and read again when it has changed. Uses no library but
 * the C library, and needs nothing but its directory's descriptor: a process that has locked itself in can go on using it.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "model/config.h"

#define TOKEN_PREFIX "creel_"
#define TOKEN_TEXT_MAX (sizeof(TOKEN_PREFIX) + 2 * (size_t)SHA256_BYTES) /* with NUL */
#define TOKEN_ID_MAX 13 /* 12 digits of the hash, which name it, and NUL */
#define TOKEN_NAME_MAX 64u
#define TOKENS_FILE "tokens.json"
#define TOKENS_FILE_MAX ((size_t)8 << 20)
enum { TOKENS_MAX = 1024, TOKEN_PAIRS_MAX = 256 };

struct token_entry {
	char hash[SHA256_HEX];
	struct str name; /* may be empty */
	bool all_pairs;
	bool admin; /* may answer approvals, see every pair's records and the metrics */
	struct pair *pairs;
	size_t n_pairs;
	uint64_t created_ms, expires_ms, used_ms, revoked_ms; /* Unix time; 0 = never */
};

struct tokens {
	struct token_entry *v;
	size_t n;
};

/* ---- tokens.c: pure ---- */

/* Errors read "name:line:column: what", kind ERR_USAGE. Nothing is taken from a file that has one. */
int tokens_parse(struct arena *a, struct str text, const char *name, struct tokens *ret, struct err *e);
void tokens_write(struct buf *out, const struct tokens *t);

enum token_state { TOKEN_UNKNOWN = 0, TOKEN_REVOKED, TOKEN_EXPIRED, TOKEN_VALID };
extern const struct enum_name token_state_names[];
enum token_state token_state(const struct token_entry *t, uint64_t now_ms);
/* What somebody presents: which entry it is, in time that tells nothing about the others. *ret only when it is known. */
enum token_state tokens_find(const struct tokens *t, struct str presented, uint64_t now_ms, size_t *ret);
void token_id(const struct token_entry *t, char out[static TOKEN_ID_MAX]);
bool token_name_valid(struct str name); /* letters, digits, '.', '_', '-'; at most TOKEN_NAME_MAX */
/* [CHANNEL:]AGENT:CHAT, comma between; "*" alone: all. The channel is telegram unless said. */
int token_pairs_parse(struct arena *a, struct str text, struct token_entry *ret, struct err *e);

/* As decide() takes them: request.token is the index of tokens_find(). Borrows from `t`. NULL when memory ran out. */
struct token *tokens_for_policy(const struct tokens *t, struct arena *a);

/* ---- store.c: the file ---- */

struct token_store;
int token_store_open(const char *dir, struct token_store **ret,
		     struct err *e); /* made when its last part is missing */
struct token_store *token_store_close(struct token_store *s);
DEFINE_CLEANUP(token_store, token_store_close)
/* Reads the file if it is not the one that was read last: 1, or 0. After an error the tokens are what they were. */
int token_store_load(struct token_store *s, struct err *e);
/* As they were read last; until the next call that loads or changes them. */
const struct tokens *token_store_tokens(const struct token_store *s);

struct token_opts {
	struct str name;
	const struct token_entry *pairs; /* all_pairs, pairs, n_pairs, admin of it */
	uint64_t now_ms, expires_ms;     /* expires_ms 0 = never */
};
/* The token itself is in `out` and nowhere else: wipe it. */
int token_new(struct token_store *s, const struct token_opts *o, char out[static TOKEN_TEXT_MAX],
	      char id[static TOKEN_ID_MAX], struct err *e);
/* By its id or name. ERR_NOTFOUND; 0 when it was revoked already, else 1. */
int token_revoke(struct token_store *s, struct str which, uint64_t now_ms, char id[static TOKEN_ID_MAX],
		 struct err *e);
/* Notes the last use of an entry; on the disk at most once a minute for each, because callers wait for it. */
int token_used(struct token_store *s, size_t index, uint64_t now_ms, struct err *e);
struct token_use {
	char id[TOKEN_ID_MAX];
	uint64_t ms;
};
/* The same of several at once, with one write; those that are gone by now are left out. 1 when the file was read again, so that what was borrowed has moved. */
int tokens_used(struct token_store *s, const struct token_use *uses, size_t n, struct err *e);
/* How long a change waits for the lock, 5 s if not said: who serves others cannot wait (ERR_UNAVAIL). */
void token_store_patience(struct token_store *s, uint64_t ms);
