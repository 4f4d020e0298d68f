/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records for people, one line each, as they come: widths are fixed, because nobody knows what comes. Everything in a record was text of
 * a stranger once, so nothing of it reaches a terminal as it is.
 */
#include "cli/own.h"

#include "base/utf8.h"
#include "data/value.h"

#include <inttypes.h>

static const struct {
	const char *title;
	size_t width;
} cols[] = {
	{ "SEQ", 7 }, { "TIME", 24 }, { "EVENT", 9 }, { "RESULT", 10 }, { "SESSION", 24 }, { "TOOL", 11 }
};

/* ---- cells ---- */

static void put_cell(struct buf *out, size_t col, struct str text)
{
	_cleanup_buf_ struct buf seen = { 0 };
	size_t width;

	buf_init(&seen, AUDIT_CELL_MAX);
	buf_put_visible(&seen, text);
	width = utf8_columns(buf_str(&seen));
	buf_put(out, buf_str(&seen));
	buf_printf(out, "%*s", (int)(width < cols[col].width ? cols[col].width - width : 0) + 2, "");
}

static struct str result_of(struct arena *a, const struct value *record)
{
	struct str kind = record_text(record, "kind"), reason = record_text(record, "reason");

	if (str_eq(kind, STR("decided")))
		return record_text(record, "verdict");
	if (!str_eq(kind, STR("finished")))
		return record_text(record, "what");
	if (str_eq(reason, STR("exited")) || str_eq(reason, STR("exit")))
		return arena_printf(a, "exit %" PRId64, record_number(record, "exit"));
	return reason;
}

/* ---- the rest of the line ---- */

static void put_argv(struct buf *out, const struct value *argv)
{
	for (size_t i = 0; argv && argv->kind == VALUE_ARR && i < argv->arr.n; i++) {
		buf_puts(out, i ? " " : "");
		if (argv->arr.v[i].kind == VALUE_STR)
			buf_put_visible(out, argv->arr.v[i].s);
	}
}

static void put_decided(struct buf *out, const struct value *record)
{
	if (str_eq(record_text(record, "verdict"), STR("ALLOW"))) {
		put_argv(out, value_get(record, STR("argv")));
		buf_put_visible(out, record_text(record, "path"));
		return;
	}
	buf_put_visible(out, record_text(record, "code"));
	buf_puts(out, ": ");
	buf_put_visible(out, record_text(record, "message"));
}

static void put_finished(struct buf *out, const struct value *record)
{
	const struct value *denials = value_get(record, STR("denials"));

	buf_printf(out, "of %" PRId64 ", %" PRId64 " ms", record_number(record, "decided"),
		   record_number(record, "duration_ms"));
	if (record_text(record, "error").n) {
		buf_puts(out, "; ");
		buf_put_visible(out, record_text(record, "error"));
		buf_puts(out, ": ");
		buf_put_visible(out, record_text(record, "why"));
	}
	for (size_t i = 0; denials && denials->kind == VALUE_ARR && i < denials->arr.n; i++) {
		buf_puts(out, i ? ", " : "; ");
		buf_put_visible(out, record_text(&denials->arr.v[i], "layer"));
		buf_putc(out, ' ');
		buf_put_visible(out, record_text(&denials->arr.v[i], "verdict"));
		buf_putc(out, ' ');
		buf_put_visible(out, record_text(&denials->arr.v[i], "operation"));
		buf_putc(out, ' ');
		buf_put_visible(out, record_text(&denials->arr.v[i], "object"));
	}
}

/* What a kind has of its own, as name=value. */
static void put_others(struct buf *out, const struct value *record)
{
	static const char *const everywhere[] = { "seq",  "time", "pid",  "kind",   "what",
						  "prev", "hash", "tool", "session" };
	bool first = true;

	for (size_t i = 0; record->kind == VALUE_OBJ && i < record->obj.n; i++) {
		const struct member *m = &record->obj.m[i];
		bool skip = m->v.kind != VALUE_STR && m->v.kind != VALUE_INT;

		for (size_t k = 0; k < sizeof(everywhere) / sizeof(everywhere[0]); k++)
			skip |= str_eq(m->key, str_z(everywhere[k]));
		if (skip)
			continue;
		buf_puts(out, first ? "" : " ");
		first = false;
		buf_put_visible(out, m->key);
		buf_putc(out, '=');
		if (m->v.kind == VALUE_STR)
			buf_put_visible(out, m->v.s);
		else
			buf_printf(out, "%" PRId64, m->v.i);
	}
}

/* ---- lines ---- */

void audit_row_title(struct buf *out, bool bold)
{
	buf_puts(out, bold ? "\033[1m" : "");
	for (size_t i = 0; i < sizeof(cols) / sizeof(cols[0]); i++)
		buf_printf(out, "%-*s", (int)cols[i].width + 2, cols[i].title);
	buf_puts(out, bold ? "DETAIL\033[0m\n" : "DETAIL\n");
}

void audit_row_put(struct buf *out, struct arena *a, const struct value *record)
{
	struct str kind = record_text(record, "kind");

	put_cell(out, 0, arena_printf(a, "%" PRId64, record_number(record, "seq")));
	put_cell(out, 1, record_text(record, "time"));
	put_cell(out, 2, kind);
	put_cell(out, 3, result_of(a, record));
	put_cell(out, 4, record_text(record, "session"));
	put_cell(out, 5, record_text(record, "tool"));
	if (str_eq(kind, STR("decided")))
		put_decided(out, record);
	else if (str_eq(kind, STR("finished")))
		put_finished(out, record);
	else
		put_others(out, record);
	buf_putc(out, '\n');
}

void audit_line_put(struct buf *out, struct str line, bool terminal)
{
	uint32_t cp = 0;
	int n;

	for (; terminal && (n = utf8_decode(line, &cp)) > 0; line = str_from(line, (size_t)n)) {
		if (utf8_is_visible(cp))
			buf_put(out, (struct str){ .p = line.p, .n = (size_t)n });
		else if (cp < 0x10000)
			buf_printf(out, "\\u%04" PRIx32, cp);
		else /* as JSON has it: in two halves */
			buf_printf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + ((cp - 0x10000) >> 10),
				   0xdc00 + ((cp - 0x10000) & 0x3ff));
	}
	if (!terminal)
		buf_put(out, line);
	buf_putc(out, '\n');
}
