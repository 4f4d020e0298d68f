/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digits to VALUE_INT or VALUE_NUM, the same for every text format. Whether the text may be written like that
 * is the caller's business: the grammar differs, the meaning does not.
 */
#pragma once

#include "data/value.h"

/* [+-] digits [. digits] [e [+-] digits] */
void number_decimal(struct str text, struct value *ret);

/* Digits of base 2^bits (8 or 16). Only kind, i and num are written. */
void number_radix(struct str digits, unsigned bits, bool minus, struct value *ret);

/* VALUE_INT when it fits, else VALUE_NUM (and false: the double may be rounded). */
bool number_integer(uint64_t magnitude, bool minus, struct value *ret);
