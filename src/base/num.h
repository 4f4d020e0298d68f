/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doubles to text and back, the same under every locale.
 */
#pragma once

#include "base/str.h"

/* The longest text of num_format() and its NUL. */
#define NUM_TEXT_MAX 32

/*
 * The shortest decimal that reads back as the same double, laid out as JavaScript does (1e+21, 0.000001, 1e-7),
 * except that minus zero keeps its sign. -EDOM for NaN and infinities; nothing is written then.
 */
int num_format(double v, char out[static NUM_TEXT_MAX], struct str *ret);

/*
 * [+-] digits [. digits] [e [+-] digits], at least one digit before or after the point; nothing around it, no
 * hexadecimal, no "inf". Rounds to nearest even. Overflow gives an infinity and underflow a zero, as strtod()
 * does. -EINVAL when the text is anything else.
 */
int num_parse(struct str s, double *ret);
