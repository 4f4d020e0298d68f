/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stranger prints, made safe for somebody's terminal. Text, colours, cursor movement, erasing, the alternate screen and
 * the modes that pagers and line editors use pass as they are. Everything else is shown instead of obeyed: "^[]52;…" for
 * an ESC that would reach the clipboard, "^E" for a question that the terminal would answer as if somebody had typed.
 *
 * What passes is a list; what no rule names is shown. Bytes are never lost or reordered, and how the input is cut makes no
 * difference. At most TERMSAFE_HELD bytes are held back, until the sequence or character that they begin is complete.
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stdint.h>

#define TERMSAFE_HELD 64
/* Room that n bytes need, with what was held back and what termsafe_end() adds. */
#define TERMSAFE_ROOM(n) (4 * ((n) + TERMSAFE_HELD) + 512)

struct termsafe {
	bool ascii; /* the terminal does not read UTF-8: what is not ASCII is shown as \xNN */
	bool keys; /* what is typed goes to the same stranger, who may say how: mouse, paste, cursor keys, keypad */
	uint8_t n;
	char held[TERMSAFE_HELD];
	uint64_t switched; /* what has to be switched back */
};

void termsafe_put(struct termsafe *t, struct str in, struct buf *out);

/* What is still held back, shown; and the terminal's modes, colours and screen as they are normally. */
void termsafe_end(struct termsafe *t, struct buf *out);
