/* SPDX-License-Identifier: Apache-2.0 */
/* Where a text that is not in a file almost is: for the message that helps to get it right. */
#pragma once

#include "base/buf.h"

/* "; near: line 3 differs in white space alone", "; most like it is line 9", or what else can be said; nothing when nothing is near. */
void near_put(struct str file, struct str wanted, struct buf *out);

/* "lines 4, 9, 12 …": where `wanted` stands, the first eight places. */
void near_put_places(struct str file, struct str wanted, struct buf *out);

/* The line (from 1) that byte `at` is in. */
size_t near_line(struct str file, size_t at);
