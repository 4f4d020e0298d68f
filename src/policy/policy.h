/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision: pure. No I/O, no clock, no globals; allocates from the arena it is given.
 *
 * decide() fails only when the arena is exhausted (ERR_LIMIT) or on a bug; everything wrong with the
 * request or the configuration is a decision with verdict DENY, a code and a message. There is no second
 * place where a permission is computed.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/jsonw.h"
#include "model/config.h"
#include "model/decision.h"
#include "model/diag.h"
#include "model/request.h"

int decide(const struct config *c, const struct request *r, struct arena *a, struct decision *ret,
	   struct err *e);

/*
 * Of decide(), the first stage alone: who asks. CODE_OK when nobody is refused there; otherwise *ret is what decide() would have said. It never says that anything
 * may run. CODE_UNDECIDED: the arena is exhausted.
 */
enum code decide_who(const struct config *c, const struct request *r, struct arena *a, struct decision *ret);

/*
 * What was decided about a tool before, for the next call of it: the same as decide() would say, in a tenth of the time. standing_decide() answers
 * only for a request that standing_is_about(), and false means: ask decide(). `c` and the lists in r->facts have to stay as they are.
 */
struct standing;
struct standing *standing_new(const struct config *c, const struct request *r); /* NULL: out of memory */
struct standing *standing_free(struct standing *s);
bool standing_is_about(const struct standing *s, const struct config *c, const struct request *r);
bool standing_decide(const struct standing *s, const struct request *r, struct arena *a,
		     struct decision *ret);

/* file_read, file_write and shell_exec: all that S2's doors know. decide() asks this, too; a door that has to ask it first may. */
bool policy_tier1_tool(struct str name);

/* How a person wants to see it. */
struct explain_opts {
	bool verbose; /* every reason with the place it comes from */
	bool colour;
	bool banner;        /* S0's line about the sandbox mode first */
	bool assumed_token; /* a remote caller whose token was taken for granted */
	struct str
		assumed; /* backends that were supposed and not probed, "native,docker"; empty = says nothing */
};

/* Printers of the record. */
void explain_text(const struct decision *d, const struct explain_opts *o, struct buf *out);
void explain_json(const struct decision *d, const struct explain_opts *o, struct jsonw *w);
/* The shape of `openclaw sandbox explain --json`. */
void explain_openclaw(const struct config *c, const struct request *r, const struct decision *d,
		      struct jsonw *w);
void explain_openclaw_text(const struct config *c, const struct request *r, const struct decision *d,
			   struct buf *out);

/* sessions x tools; sessions come from the rules, the agents and the built-in prefixes. */
int explain_matrix(const struct config *c, const struct request *base, struct arena *a, bool json,
		   struct buf *out, struct err *e);

/* The linter: rules that never match, grants that contradict, risky values; each with a fix. */
void lint(const struct config *c, const struct facts *f, struct diags *d);

/* Whether callers from elsewhere can reach the guard, as it is configured. */
bool serve_is_public(const struct config *c);
/* The first of lint()'s findings with which the services must not be started; NULL: they may. */
const struct diag *serve_refusal(const struct config *c, const struct diags *found);
