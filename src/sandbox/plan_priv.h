/* SPDX-License-Identifier: Apache-2.0 */
/* A plan while it is made: plan.c keeps it and lays it out, plan_steps.c says what is in it. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "model/profile.h"
#include "sandbox/wire.h"

struct plan_build {
	const struct profile *p;
	struct step steps[PLAN_MAX_STEPS + 1]; /* the last takes what is too much */
	size_t n;
	struct buf strings;
	bool nul, too_many;
};

/* Offsets in `strings`, each followed by a NUL byte. A string that holds one makes the plan be refused. */
uint32_t plan_add_bytes(struct plan_build *b, const void *bytes, size_t n, size_t align);
uint32_t plan_add_str(struct plan_build *b, struct str s);
/* The new step, to be filled; never NULL: what is too much is refused at the end. */
struct step *plan_add(struct plan_build *b, enum step_kind kind, struct str a, struct str s);

/* plan_steps.c */
int plan_add_steps(struct plan_build *b, struct err *e);
