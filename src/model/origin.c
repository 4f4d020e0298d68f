/* SPDX-License-Identifier: Apache-2.0 */
#include "model/origin.h"

void origin_put(struct buf *out, const struct origin *o)
{
	switch (o->kind) {
	case ORIGIN_BUILTIN:
		buf_puts(out, "built-in");
		return;
	case ORIGIN_PROFILE:
		buf_puts(out, "profile ");
		break;
	case ORIGIN_ENV:
		buf_puts(out, "environment ");
		break;
	case ORIGIN_FLAG:
		buf_puts(out, "flag ");
		break;
	case ORIGIN_REQUEST:
		buf_puts(out, "the request");
		return;
	case ORIGIN_FILE:
	case ORIGIN_KIND_COUNT_:
		break;
	}
	buf_put_visible(out, o->name);
	if (o->line)
		buf_printf(out, ":%u:%u", o->line, o->col);
}
