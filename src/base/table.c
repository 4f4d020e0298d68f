/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"

#include "base/utf8.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

enum { GAP_COLUMNS = 2, NARROWEST = 8, COLS_MAX = 32, CELL_MAX_BYTES = 64 << 10 };

static const struct str ellipsis = { .p = "\xe2\x80\xa6", .n = 3 };

void table_init(struct table *t, struct arena *a, const struct table_col *cols, size_t n_cols)
{
	assert(n_cols > 0 && n_cols <= COLS_MAX);
	*t = (struct table){ .arena = a, .cols = cols, .n_cols = n_cols };
}

static struct str make_visible(struct arena *a, struct str text)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, CELL_MAX_BYTES);
	buf_put_visible(&b, text);
	a->failed |= b.failed;
	return arena_str(a, buf_str(&b));
}

void table_cell(struct table *t, struct str text)
{
	struct str *cells =
		arena_grow(t->arena, t->cells, t->n_cells, &t->cap, sizeof(*cells), alignof(struct str));

	if (!cells)
		return;
	t->cells = cells;
	t->cells[t->n_cells++] = make_visible(t->arena, text);
}

void table_printf(struct table *t, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0) {
		t->arena->failed = true;
		return;
	}
	table_cell(t, (struct str){ .p = text, .n = (size_t)n });
	free(text);
}

void table_row(struct table *t, const struct str *cells)
{
	for (size_t i = 0; i < t->n_cols; i++)
		table_cell(t, cells[i]);
}

static bool has_header(const struct table *t)
{
	for (size_t c = 0; c < t->n_cols; c++)
		if (t->cols[c].title)
			return true;
	return false;
}

static struct str title(const struct table *t, size_t c)
{
	return str_z(t->cols[c].title ? t->cols[c].title : "");
}

static void measure(const struct table *t, size_t *width)
{
	assert(t->n_cols > 0);
	for (size_t c = 0; c < t->n_cols; c++)
		width[c] = utf8_columns(title(t, c));
	for (size_t i = 0; i < t->n_cells; i++) {
		size_t w = utf8_columns(t->cells[i]);

		if (w > width[i % t->n_cols])
			width[i % t->n_cols] = w;
	}
	for (size_t c = 0; c < t->n_cols; c++)
		if (t->cols[c].max_columns > 0 && width[c] > t->cols[c].max_columns)
			width[c] = t->cols[c].max_columns;
}

/* The column that should give way next: wrapping ones first, since they lose nothing. n_cols when none can. */
static size_t widest(const struct table *t, const size_t *width, bool wrapping)
{
	size_t best = t->n_cols;

	for (size_t c = 0; c < t->n_cols; c++) {
		if (width[c] <= NARROWEST || (wrapping && !t->cols[c].wrap))
			continue;
		if (best == t->n_cols || width[c] > width[best])
			best = c;
	}
	return best;
}

static void squeeze(const struct table *t, size_t *width, size_t max_columns)
{
	size_t total = (t->n_cols - 1) * GAP_COLUMNS;

	for (size_t c = 0; c < t->n_cols; c++)
		total += width[c];
	while (total > max_columns) {
		size_t c = widest(t, width, true), over = total - max_columns, less;

		if (c == t->n_cols)
			c = widest(t, width, false);
		if (c == t->n_cols)
			return;
		/* All of it from a wrapping column; from others one by one, so that they end up alike. */
		less = !t->cols[c].wrap ? 1 : over < width[c] - NARROWEST ? over : width[c] - NARROWEST;
		width[c] -= less;
		total -= less;
	}
}

/* The longest front of `s` that fits `columns`, marks on the last character included. */
static struct str front(struct str s, size_t columns)
{
	size_t at = 0, used = 0;

	while (at < s.n) {
		uint32_t cp = UTF8_REPLACEMENT;
		int n = utf8_decode(str_from(s, at), &cp);

		used += utf8_width(cp);
		if (used > columns)
			break;
		at += (size_t)(n < 0 ? -n : n);
	}
	return (struct str){ .p = s.p, .n = at };
}

/* The next line of a wrapping cell, taken off *rest: up to the last blank that fits, or a hard cut. */
static struct str next_line(struct str *rest, size_t columns)
{
	struct str line = front(*rest, columns), head, tail;

	if (line.n == 0 && rest->n > 0) /* a wide character in a column of one */
		line = front(*rest, columns + 1);
	if (line.n < rest->n && rest->p[line.n] != ' ' && str_cut_last(line, ' ', &head, &tail) && head.n > 0)
		line = head;
	*rest = str_from(*rest, line.n);
	while (rest->n > 0 && rest->p[0] == ' ')
		*rest = str_from(*rest, 1);
	return line;
}

static void pad(struct buf *out, size_t n)
{
	while (n-- > 0)
		buf_putc(out, ' ');
}

/* One printed line under construction: blanks are owed, and paid only when text follows. */
struct line {
	struct buf *out;
	size_t owed;
};

static void put_cell(struct line *l, struct str text, bool cut, size_t width, enum table_align align)
{
	size_t w = utf8_columns(text) + cut, room = width > w ? width - w : 0, blanks = 0;

	while (!cut && text.n > 0 && text.p[text.n - 1] == ' ') {
		text.n--;
		blanks++;
	}
	l->owed += align == TABLE_RIGHT ? room : 0;
	if (text.n > 0 || cut) {
		pad(l->out, l->owed);
		l->owed = 0;
		buf_put(l->out, text);
		if (cut)
			buf_put(l->out, ellipsis);
	}
	l->owed += blanks + (align == TABLE_LEFT ? room : 0) + GAP_COLUMNS;
}

/* One line of every column; true while some wrapping cell has more. */
static bool put_line(const struct table *t, const size_t *width, struct str *rest, struct buf *out)
{
	struct line l = { .out = out };
	bool more = false;

	for (size_t c = 0; c < t->n_cols; c++) {
		struct str text = rest[c];
		bool cut = !t->cols[c].wrap && utf8_columns(text) > width[c];

		if (t->cols[c].wrap)
			text = next_line(&rest[c], width[c]);
		else
			rest[c] = STR("");
		if (cut)
			text = front(text, width[c] > 0 ? width[c] - 1 : 0);
		put_cell(&l, text, cut, width[c], t->cols[c].align);
		more = more || rest[c].n > 0;
	}
	buf_putc(out, '\n');
	return more;
}

static void put_row(const struct table *t, const size_t *width, const struct str *cells, size_t n,
		    struct buf *out)
{
	struct str rest[COLS_MAX];

	for (size_t c = 0; c < t->n_cols; c++)
		rest[c] = c < n ? cells[c] : STR("");
	while (put_line(t, width, rest, out) && !out->failed)
		;
}

static void put_header(const struct table *t, const size_t *width, struct buf *out)
{
	struct str titles[COLS_MAX];

	for (size_t c = 0; c < t->n_cols; c++)
		titles[c] = title(t, c);
	put_row(t, width, titles, t->n_cols, out);
}

void table_print(const struct table *t, struct buf *out, size_t max_columns)
{
	size_t width[COLS_MAX];

	measure(t, width);
	if (max_columns > 0)
		squeeze(t, width, max_columns);
	if (has_header(t))
		put_header(t, width, out);
	for (size_t i = 0; i < t->n_cells; i += t->n_cols)
		put_row(t, width, t->cells + i, t->n_cells - i, out);
}
