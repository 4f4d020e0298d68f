/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may call a service: the tokens of tokens.json, which is looked at again before each answer, so that a token that was revoked is good for nothing at
 * once; identity.tokens of the configuration; and SANDBOX_GUARD_TOKEN of the environment, for all pairs of the allowlist. Guard and runner know
 * callers by this one piece. Of every token only its hash is kept. What a caller may do is for policy alone.
 */
#pragma once

#include "identity/tokens.h"

struct callers;

struct callers_opts {
	const char *dir;             /* of tokens.json */
	const struct config *config; /* outlives it */
	char *const *environ;        /* looked at now, and not kept */
	bool told;                   /* somebody else has opened the same, and told what is odd about them */
};

/* ERR_USAGE when there is nobody: the message names the command that makes a token. */
int callers_open(const struct callers_opts *o, struct callers **ret, struct err *e);
struct callers *callers_free(struct callers *c);
DEFINE_CLEANUP(callers, callers_free)

/* Reads the file again if it has changed: 1, or 0. After an error (told once in the log) they are what they were. */
int callers_refresh(struct callers *c);

struct caller {
	size_t index;          /* as decide() takes it, until the next refresh */
	char id[TOKEN_ID_MAX]; /* names it: in logs, and where somebody is counted for */
	struct str name;       /* until the next refresh; may be empty */
	bool all_pairs, admin;
	bool stored;   /* in the file: its last use can be noted there */
	uint64_t list; /* which list the index is of */
};
/* In time that tells nothing about the others. *ret only when it is TOKEN_VALID. */
enum token_state callers_find(const struct callers *c, struct str presented, uint64_t now_ms,
			      struct caller *ret);
/* Whether it is still the list that the caller was found in: in another one its index is somebody else's. */
bool callers_is_current(const struct callers *c, const struct caller *who);
/* Whether the caller is bound to a pair of that channel, or to all. */
bool callers_speak_on(const struct callers *c, const struct caller *who, struct str channel);

/* A text that is the same as long as every index is that of the same token, with the same rights: when it was used last does not count. */
const char *callers_people(const struct callers *c);

/* The configuration with them in it, as decide() takes it; until the next refresh. */
const struct config *callers_config(const struct callers *c);

/* Remembered, and written to the file by callers_note() at most once a minute: the runner's work, because the guard may not write what it is told who may come by. */
void callers_used(struct callers *c, const struct caller *who, uint64_t now_ms);
/* 1: as after a refresh that has found something new. */
int callers_note(struct callers *c, uint64_t now_ms);
