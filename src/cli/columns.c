/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/session.h"

#include "base/clock.h"
#include "base/utf8.h"

#include <inttypes.h>

#define GAP 2u

/* What came from outside, as it will be seen: a cell is as wide as its visible text. */
static struct str visible(struct arena *a, struct str text)
{
	_cleanup_buf_ struct buf seen = { 0 };

	buf_init(&seen, OUTPUT_MAX);
	buf_put_visible(&seen, text);
	return arena_str(a, buf_str(&seen));
}

void columns_put(struct columns *c, struct str text)
{
	struct str *grown;

	if (c->n_cells == c->cap) {
		grown = arena_grow(c->arena, c->cells, c->n_cells, &c->cap, sizeof(*grown),
				   alignof(struct str));
		if (!grown)
			return;
		c->cells = grown;
	}
	c->cells[c->n_cells++] = visible(c->arena, text);
}

static void put_cell(struct buf *out, struct str text, size_t width, bool right, bool last)
{
	int pad = (int)(width - utf8_columns(text));

	if (right)
		buf_printf(out, "%*s", pad, "");
	buf_put(out, text);
	if (!last)
		buf_printf(out, "%*s", (right ? 0 : pad) + (int)GAP, "");
}

void columns_print(const struct columns *c, struct buf *out)
{
	size_t width[COLUMNS_MAX] = { 0 };

	for (size_t i = 0; i < c->n; i++)
		width[i] = strlen(c->titles[i]);
	for (size_t i = 0; i < c->n_cells; i++)
		if (utf8_columns(c->cells[i]) > width[i % c->n])
			width[i % c->n] = utf8_columns(c->cells[i]);
	if (c->bold)
		buf_puts(out, "\033[1m");
	for (size_t i = 0; i < c->n; i++)
		put_cell(out, str_z(c->titles[i]), width[i], c->right & 1u << i, i + 1 == c->n);
	buf_puts(out, c->bold ? "\033[0m\n" : "\n");
	for (size_t i = 0; i < c->n_cells; i++) {
		bool last = (i + 1) % c->n == 0;

		put_cell(out, c->cells[i], width[i % c->n], c->right & 1u << (i % c->n), last);
		if (last)
			buf_putc(out, '\n');
	}
}

void time_json(struct jsonw *w, const char *key, uint64_t ms)
{
	char text[CLOCK_TEXT_MAX];
	struct str when;

	if (ms && clock_format(ms, text, &when) == 0)
		jsonw_kstr(w, key, when);
	else
		jsonw_knull(w, key);
}

struct str short_age(struct arena *a, uint64_t now_ms, uint64_t then_ms)
{
	static const struct {
		uint64_t from, unit; /* seconds */
		char letter;
	} units[] = { { 172800, 86400, 'd' }, { 7200, 3600, 'h' }, { 120, 60, 'm' }, { 0, 1, 's' } };
	uint64_t s = now_ms > then_ms ? (now_ms - then_ms) / 1000
				      : 0; /* a clock that went back makes nothing older */
	size_t i = 0;

	while (s < units[i].from)
		i++;
	return arena_printf(a, "%" PRIu64 "%c", s / units[i].unit, units[i].letter);
}

struct str short_size(struct arena *a, uint64_t bytes)
{
	static const char letters[] = "BKMGT";
	size_t i = 0;

	while (bytes >= 10240 && i + 2 < sizeof(letters)) {
		bytes /= 1024;
		i++;
	}
	return arena_printf(a, "%" PRIu64 "%c", bytes, letters[i]);
}
