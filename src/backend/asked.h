/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that were asked for and whose end was not heard yet, by number. */
#pragma once

#include "base/str.h"

#define ASKED_MAX 256u

struct asked {
	uint64_t id[ASKED_MAX]; /* 0 = free */
	uint32_t n;
};

/* Where a number is noted; -ENOENT. */
int asked_find(const struct asked *a, uint64_t id);
/* Where it is noted from now on; -EAGAIN when there are too many. */
int asked_add(struct asked *a, uint64_t id);
/* False when it was not there. */
bool asked_drop(struct asked *a, uint64_t id);
/* Any of them, which is dropped; 0 = there are none. */
uint64_t asked_take(struct asked *a);
