/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8 as RFC 3629 has it: no surrogates, nothing above U+10FFFF, no overlong forms.
 * Knows no locale and calls nothing that does.
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

struct arena;
struct buf;

#define UTF8_REPLACEMENT 0xfffdu

/*
 * The first code point of `s`: the number of bytes it takes (1..4), 0 when `s` is empty. When the bytes are
 * not UTF-8, -k: skip k bytes (1..3) and write one U+FFFD for them, as every browser does.
 */
int utf8_decode(struct str s, uint32_t *ret_cp);

/* Bytes written (1..4), or 0 for what is no code point (a surrogate, above U+10FFFF). */
size_t utf8_encode(uint32_t cp, char out[static 4]);

/* Length of the longest valid prefix; equal to s.n when all is well. */
size_t utf8_valid_prefix(struct str s);

static inline bool utf8_valid(struct str s)
{
	return utf8_valid_prefix(s) == s.n;
}

/* At most max_bytes of the front, without cutting a code point in two. */
struct str utf8_prefix(struct str s, size_t max_bytes);

/* Appends `s`, every invalid sequence as U+FFFD. */
void utf8_sanitize(struct str s, struct buf *out);

/* In lower case, as Unicode has it for no language in particular. What is not UTF-8 stays. */
struct str utf8_lower(struct arena *a, struct str s);

/* False for what moves the cursor or reorders text: C0, C1, DEL, bidi controls, line separators. */
bool utf8_is_visible(uint32_t cp);

/* Columns on a terminal: 0 for combining marks and invisible characters, 2 for wide CJK and emoji, else 1. */
unsigned utf8_width(uint32_t cp);

/* Of the whole slice; an invalid sequence counts as the one column of its U+FFFD. */
size_t utf8_columns(struct str s);
