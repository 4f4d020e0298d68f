/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON bodies of calls, as guard and runner both read them, and as the guard writes them anew for the runner: POST /run (S2's contract) and
 * POST /v1/calls and /v1/explain. Shapes, sizes and unknown members are checked here; who may do what is for policy alone. Pure.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/jsonw.h"
#include "data/value.h"

enum {
	WIRE_ID_MAX = 200,      /* bytes of a request_id */
	WIRE_NAME_MAX = 256,    /* of agent, type, chat_id, user_id and tool */
	WIRE_SESSION_MAX = 512, /* of a session key */
	WIRE_TIMEOUT_MAX_S = 86400,
};
#define WIRE_BODY_MAX ((size_t)16 << 20)
/* A file_write of 2,000,000 bytes, each of them written as \u00XX, and the rest. */
#define WIRE_RUN_MAX ((size_t)13 << 20)

struct wire_call {
	struct str request_id; /* empty: one is made */
	struct str agent, channel, chat_id, user_id;
	struct str session; /* /v1 only; empty: follows from the pair */
	struct str tool;
	const struct value *args; /* an object; NULL: none */
	uint64_t timeout_s;       /* /v1 only; 0: as configured */
	bool has_scope;
	bool has_policy; /* the caller sent policy of its own (policy, trust, sandbox …): dropped, and to be told */
};

/* What to answer instead. `text` is ours and quotes no more than names of members, or a word that is no JSON. */
struct wire_fault {
	unsigned status;  /* 400, 413 or 422 */
	const char *word; /* invalid_json, schema, too_large: for /v1 */
	char text[200];
};

/* What json_parse() has found. False, for who returns with it. */
bool wire_no_json(struct wire_fault *f, const struct err *e);

/*
 * Slices point into `body` or the arena. With `strict`, as the runner reads what the guard wrote, no member may be there that is not known, and no
 * policy either. False: see *fault.
 */
bool wire_read_run(struct arena *a, struct str body, bool strict, struct wire_call *ret,
		   struct wire_fault *fault);
bool wire_read_call(struct arena *a, struct str body, bool strict, struct wire_call *ret,
		    struct wire_fault *fault);

/* The body again, with what was understood and nothing else. */
void wire_write_run(struct jsonw *w, const struct wire_call *c);
void wire_write_call(struct jsonw *w, const struct wire_call *c);

/* A UUID of version 4, for calls that have no id. False when the kernel has no random bytes. */
enum { WIRE_UUID_MAX = 37 };
bool wire_uuid(char out[static WIRE_UUID_MAX]);
