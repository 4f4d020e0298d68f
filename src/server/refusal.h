/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the guard has refused by itself, as it tells the runner, who keeps the log: POST /v1/refused. Several in one body, because whoever is refused does not
 * wait for the log, and may be refused often. Pure.
 */
#pragma once

#include "server/wire.h"

enum { REFUSALS_MAX = 256, REFUSAL_TEXT_MAX = 512 };
#define REFUSALS_BODY_MAX ((size_t)256 << 10)

struct refusal {
	struct str stage;   /* that refused it; empty for a token */
	struct str code;    /* of policy, or the state of a token that was not taken */
	struct str message; /* for the operator */
	struct str route, request_id, token, peer;
	struct str agent, channel, chat_id, user_id, tool; /* what was asked for; all empty: a token alone */
};

struct refusals {
	uint64_t untold; /* that there was no room for */
	size_t n;
	struct refusal v[REFUSALS_MAX];
};

/* One object; texts are cut where they are too long. */
void refusal_put(struct jsonw *w, const struct refusal *r);
/* Slices point into the body or the arena. Strict: the guard writes nothing else. */
bool refusals_read(struct arena *a, struct str body, struct refusals *ret, struct wire_fault *fault);
