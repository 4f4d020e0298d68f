/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this host and this user can do, looked at one thing at a time: the causes behind "the sandbox cannot be built". It only
 * looks; the proof is to start one.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>

enum survey_state { SURVEY_FAIL = 0, SURVEY_WARN, SURVEY_OK };

struct survey_item {
	const char *name; /* stable word */
	enum survey_state state;
	struct str found; /* what is so */
	struct str cause; /* why it matters, when it is not ok */
	struct str fix;   /* one command */
};

#define SURVEY_MAX 40

struct survey {
	struct survey_item v[SURVEY_MAX];
	size_t n;
};

/* optional: walls that policy does without (1 << enum wall) */
void survey_host(struct arena *a, unsigned optional, struct survey *ret);
