/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a terminal sends for a key: "Enter", "C-c", "^d", "M-x", "S-Tab", "C-Up", "F5", or any one character. Prefixes C-, M- and S-
 * (control, alt, shift) can be combined; names are of any case. Knows no terminal but xterm, whose sequences everybody else understands.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/* Appends to `out`. ERR_USAGE for what is no key: text has to be given as text. */
int keys_put(struct str name, struct buf *out, struct err *e);

/* One byte as one or two hexadecimal digits, "0x" allowed before them. */
int keys_put_hex(struct str digits, struct buf *out, struct err *e);

/*
 * As pasted: between the two marks by which a program tells pasted text from typed one. Escape characters are left out, as
 * terminals do: an end mark in the text would make the rest of it count as typed.
 */
void keys_put_paste(struct str text, struct buf *out);
