/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a text something stands, for messages. */
#pragma once

#include "base/buf.h"

#include <stdint.h>

struct place {
	uint32_t line, col; /* from 1; columns count code points, a byte order mark at the start is none */
};

/* Counts from the start of the text, so for errors only. A line ends with LF, CR LF or CR. */
struct place place_find(struct str text, size_t at);

/* Outside text for a message of one line: made visible and cut to a length that fits. */
void place_quote(struct buf *out, struct str s);
