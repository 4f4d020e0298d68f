/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one stream of a program has written, in bounded memory: the first three quarters of what may be kept, and the last quarter. An
 * agent needs both (what was run, and how it ended); how many bytes are missing between them is counted and told. All bytes are counted,
 * and when there are too many, all of them up to another bound go into a file without a name, for whoever wants to read on.
 *
 * Knows nothing of programs: it is given bytes.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct capture {
	uint64_t total;
	size_t max, head_max;
	struct buf head;
	char *tail; /* a ring of max - head_max bytes */
	size_t tail_at, tail_n;
	/* the file */
	uint64_t spill_max, spilled;
	int spill_dir; /* negative = in memory */
	int spill;     /* FD_NONE until it is needed */
	int spill_err; /* negative errno: there is no file, or not all of it */
};

/* `spill_max` 0: nothing is kept beyond `max`. */
void capture_init(struct capture *c, size_t max, uint64_t spill_max, int spill_dir);
void capture_done(struct capture *c);
#define _cleanup_capture_ _cleanup_(capture_done)

/* -ENOMEM; a file that cannot be written is no error (spill_err). */
int capture_put(struct capture *c, struct str bytes);

static inline bool capture_is_cut(const struct capture *c)
{
	return c->total > c->max;
}

/*
 * What was kept, onto `out`: all of it, or the two parts with a line between them that says how many bytes were left out, and where they
 * are (`log`; empty: nowhere). No code point is cut in two. Bytes that are not UTF-8 are left as they are.
 */
void capture_text(const struct capture *c, struct str log, struct buf *out);

/* The front alone, of at most so many characters, a byte that is no UTF-8 counted as one. *ret_cut: there was more. */
struct str capture_front(const struct capture *c, size_t characters, bool *ret_cut);
