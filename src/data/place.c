/* SPDX-License-Identifier: Apache-2.0 */
#include "data/place_priv.h"

struct place place_find(struct str text, size_t at)
{
	struct place w = { .line = 1, .col = 1 };
	size_t i = at >= 3 && str_starts(text, STR("\xef\xbb\xbf")) ? 3 : 0;

	for (; i < at; i++) {
		char c = text.p[i];
		bool cr_of_pair = c == '\r' && i + 1 < text.n && text.p[i + 1] == '\n';

		if (c == '\n' || (c == '\r' && !cr_of_pair))
			w = (struct place){ .line = w.line + 1, .col = 1 };
		else if (((unsigned char)c & 0xc0) != 0x80)
			w.col++;
	}
	return w;
}

enum { QUOTE_MAX = 128 };

void place_quote(struct buf *out, struct str s)
{
	buf_init(out, QUOTE_MAX);
	buf_put_visible(out, s); /* what does not fit is left away: that is the cut */
}
