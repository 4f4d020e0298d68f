/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds of every patch that parses: names that are not empty, lines of the three kinds; and its hunks fit into the text
 * that is made of their own old lines, giving the text that is made of their new ones.
 */
#pragma once

#include "base/buf.h"
#include "tools/patch.h"

#include <assert.h>

static inline void check_shape(const struct patch *p)
{
	assert(p->n_files > 0 && p->n_files <= PATCH_FILES_MAX);
	for (size_t i = 0; i < p->n_files; i++) {
		const struct patch_file *f = &p->files[i];

		assert(f->path.n > 0);
		assert(!f->to.p || f->to.n > 0);
		for (size_t k = 0; k < f->n_hunks; k++)
			for (size_t l = 0; l < f->hunks[k].n_lines; l++)
				assert(memchr(" -+", f->hunks[k].lines[l].kind, 3) &&
				       !memchr(f->hunks[k].lines[l].text.p, '\n',
					       f->hunks[k].lines[l].text.n));
	}
}

/* The lines of all hunks but those of `not`. Says how many there were, and the least of one hunk. */
static inline void put_side(const struct patch_file *f, char not, struct buf *out, size_t *least)
{
	*least = SIZE_MAX;
	for (size_t k = 0; k < f->n_hunks; k++) {
		size_t n = 0;

		for (size_t l = 0; l < f->hunks[k].n_lines; l++) {
			if (f->hunks[k].lines[l].kind == not )
				continue;
			buf_put(out, f->hunks[k].lines[l].text);
			buf_putc(out, '\n');
			n++;
		}
		*least = n < *least ? n : *least;
	}
}

/* Where the patch says itself where to go, or adds without a place, its own lines need not be found in their order. */
static inline bool is_plain(const struct patch_file *f)
{
	for (size_t k = 0; k < f->n_hunks; k++)
		if (f->hunks[k].n_find || f->hunks[k].start || (f->hunks[k].at_end && k + 1 < f->n_hunks))
			return false;
	return !f->exact;
}

static inline void check_fit(struct arena *a, const struct patch_file *f, bool has_cr)
{
	_cleanup_buf_ struct buf old = { 0 }, new = { 0 };
	struct err e = { 0 };
	struct str got = { 0 };
	size_t least, ignored;
	int r;

	buf_init(&old, 1 << 20);
	buf_init(&new, 1 << 20);
	put_side(f, '+', &old, &least);
	put_side(f, '-', &new, &ignored);
	r = patch_fit(a, f, buf_str(&old), &got, &e);
	assert(r == 0 || e.kind == ERR_USAGE || e.kind == ERR_LIMIT);
	if (!is_plain(f) || least == 0 || has_cr || a->failed)
		return;
	assert(r == 0);
	assert(str_eq(got, buf_str(&new)));
}

static inline int check_patch(const uint8_t *data, size_t size, bool agent)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct str text = { .p = (const char *)data, .n = size };
	struct patch p = { 0 };
	struct err e = { 0 };
	int r;

	arena_init(&a, (size_t)64 << 20);
	r = agent ? patch_parse_agent(&a, text, &p, &e) : patch_parse_diff(&a, text, &p, &e);
	if (r < 0) {
		assert(e.kind == ERR_USAGE || e.kind == ERR_LIMIT);
		return 0;
	}
	check_shape(&p);
	for (size_t i = 0; i < p.n_files; i++)
		check_fit(&a, &p.files[i], size && memchr(data, '\r', size));
	return 0;
}
