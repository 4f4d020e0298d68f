/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict "ask" waits for a person. What the person allows is exactly one call, made by the one who waits, once; or, for a time, the same call again. "The same" is a
 * digest over who asks (door, session, agent, chat, user, sender), the tool, its argv and arguments (in any order), the directory, the variables of the session and the
 * search path: what differs in any of these has to be asked about again.
 *
 * No answer in time, a caller who goes, a store or log that cannot be written: not allowed. Asking and every answer, use and end is in the audit log first.
 * Approvals are for what agents ask; a process of this user that can write to the state directory can answer them, and could run anything anyway.
 */
#pragma once

#include "audit/redact.h"
#include "base/hash.h"
#include "data/value.h"
#include "engine/registry_approval.h"
#include "model/decision.h"

#define APPROVAL_ARGS_MAX ((size_t)64 << 20)
#define APPROVAL_SHOWN_MAX ((size_t)4096)
#define APPROVAL_FOR_MAX_S ((uint64_t)24 * 3600)

struct engine;
struct session;
struct call_opts;

/* ---- approval_call.c ---- */

struct approval_call {
	const struct decision *d;
	const struct value *args;
	struct str sender, workdir, path; /* path: where programs are looked for */
	struct strs env;                  /* of the session alone */
	const struct redactor *redactor;
};
int approval_digest(const struct approval_call *q, struct arena *a,
		    char out[static SHA256_HEX]); /* -ENOMEM */
/* The command as a shell would be told it, and all arguments as JSON. */
void approval_show(const struct approval_call *q, struct arena *a, struct str *ret_command,
		   struct str *ret_arguments);

/* ---- approval.c ---- */

/* What came of it. */
struct approval_end {
	enum approval_state state; /* USED and GRANTED: go on; nothing else does */
	struct str id, by, reason;
	uint64_t until_ms; /* 0 = once */
};

/* Asks and waits. Negative: nobody could be asked, which is no yes. Texts lie in `a`. */
int approval_ask(struct session *s, const struct decision *d, const struct value *args,
		 const struct call_opts *o, struct arena *a, struct approval_end *ret, struct err *e);

typedef int approval_fn(void *ctx, const struct reg_approval *row);
/* Those that wait and those granted; `all`: also those that have ended. Anything but 0 of `each` ends it and is returned. */
int engine_approvals(struct engine *g, struct str id, bool all, approval_fn *each, void *ctx, struct err *e);

struct approval_answer {
	struct str id; /* any case, with or without hyphens */
	bool allow;
	uint64_t for_s;        /* with allow; 0 = once */
	struct str by, reason; /* by: empty = the user of this process */
};
int engine_approval_answer(struct engine *g, const struct approval_answer *answer, struct err *e);
