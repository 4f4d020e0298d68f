/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One answer in the output of an interpreter that stays: what stands between "\0creel-begin NONCE\n" and "\0creel-end NONCE STATUS\n".
 * The nonce is the caller's and new each time, so neither an earlier answer nor anything that a program prints without
 * knowing it can be taken for one. Bytes come in pieces of any size; nothing is held back but what may be the begin of a mark.
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

#define FRAME_NONCE_MAX 40
#define FRAME_MARK_MAX (FRAME_NONCE_MAX + 16)

enum frame_state { FRAME_BEFORE = 0, FRAME_INSIDE, FRAME_STATUS, FRAME_AFTER };

struct frame {
	enum frame_state state;
	char begin[FRAME_MARK_MAX], end[FRAME_MARK_MAX];
	size_t n_begin, n_end;
	size_t matched; /* bytes of the mark that is looked for */
	unsigned status;
};

/* 0 goes on; anything else is what frame_put() returns. */
typedef int frame_emit(void *ctx, struct str bytes);

void frame_init(struct frame *f, struct str nonce); /* letters and digits, at most FRAME_NONCE_MAX */
int frame_put(struct frame *f, struct str bytes, frame_emit *emit, void *ctx);
/* Bytes are missing here: a mark that was begun is none, and what follows is taken for the answer. */
void frame_gap(struct frame *f);
