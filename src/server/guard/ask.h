/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only the guard reads of bodies, beside server/wire.h: S2's checks of the arguments, in S2's words, and the small bodies of /v1. Pure. Whether something
 * is allowed is policy's; here is only what shape it has.
 */
#pragma once

#include "model/request.h"
#include "server/guard/schema.h"
#include "server/wire.h"

/* S2's checks 7 to 9, which come after those of who asks: the arguments of its three tools. *ret_argv is the command of shell_exec. */
enum { ASK_CONTENT_MAX = 2000000 };
struct ask_s2 {
	struct strs argv;
	struct count timeout_s;
};
bool ask_check_s2(struct arena *a, const struct wire_call *c, struct ask_s2 *ret, struct wire_fault *f);
/* The call again with the arguments that its tool has, and no others; false when memory ran out. */
bool ask_clean_s2(struct arena *a, struct wire_call *c);

/* POST /v1/approvals/{id} */
struct ask_answer {
	struct str answer;
	struct count for_s;
};
bool ask_read_answer(struct arena *a, struct str body, struct ask_answer *ret, struct wire_fault *f);
void ask_write_answer(struct jsonw *w, const struct ask_answer *q);
/* POST /v1/pairing */
struct ask_pairing {
	struct str channel, user, name, message;
};
bool ask_read_pairing(struct arena *a, struct str body, struct ask_pairing *ret, struct wire_fault *f);

/* For decide(). */
void ask_request(const struct wire_call *c, enum via via, size_t token, struct request *ret);
