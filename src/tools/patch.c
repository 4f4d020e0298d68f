/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/patch.h"

bool patch_next(struct patch_reader *r)
{
	const char *nl;
	size_t n;

	if (r->back) {
		r->back = false;
		return true;
	}
	if (r->rest.n == 0)
		return false;
	nl = memchr(r->rest.p, '\n', r->rest.n);
	n = nl ? (size_t)(nl - r->rest.p) : r->rest.n;
	r->line = (struct str){ .p = r->rest.p, .n = n };
	r->rest = str_from(r->rest, nl ? n + 1 : n);
	if (r->line.n > 0 && r->line.p[r->line.n - 1] == '\r')
		r->line.n--;
	r->number++;
	return true;
}

void patch_unread(struct patch_reader *r)
{
	r->back = true;
}

struct patch_file *patch_add_file(struct arena *a, struct patch *p)
{
	struct patch_file *v;

	if (p->n_files == PATCH_FILES_MAX)
		return NULL;
	if (p->n_files == p->files_cap) {
		v = arena_grow(a, p->files, p->n_files, &p->files_cap, sizeof(*v),
			       alignof(struct patch_file));
		if (!v)
			return NULL;
		p->files = v;
	}
	v = &p->files[p->n_files++];
	*v = (struct patch_file){ 0 };
	return v;
}

struct patch_hunk *patch_add_hunk(struct arena *a, struct patch_file *f)
{
	struct patch_hunk *v;

	if (f->n_hunks == f->hunks_cap) {
		v = arena_grow(a, f->hunks, f->n_hunks, &f->hunks_cap, sizeof(*v),
			       alignof(struct patch_hunk));
		if (!v)
			return NULL;
		f->hunks = v;
	}
	v = &f->hunks[f->n_hunks++];
	*v = (struct patch_hunk){ 0 };
	return v;
}

bool patch_add_line(struct arena *a, struct patch_hunk *h, char kind, struct str text)
{
	struct patch_line *v;

	if (h->n_lines == PATCH_LINES_MAX)
		return false;
	if (h->n_lines == h->lines_cap) {
		v = arena_grow(a, h->lines, h->n_lines, &h->lines_cap, sizeof(*v),
			       alignof(struct patch_line));
		if (!v)
			return false;
		h->lines = v;
	}
	h->lines[h->n_lines++] = (struct patch_line){ .kind = kind, .text = text };
	return true;
}

int patch_parse(struct arena *a, struct str text, struct patch *ret, struct err *e)
{
	struct patch_reader r = { .rest = text };

	while (patch_next(&r)) {
		if (str_trim(r.line).n == 0)
			continue;
		if (str_starts(r.line, STR("*** Begin Patch")))
			return patch_parse_agent(a, text, ret, e);
		if (str_starts(r.line, STR("--- ")) || str_starts(r.line, STR("diff --git ")))
			return patch_parse_diff(a, text, ret, e);
	}
	return err_set(e, ERR_USAGE,
		       "the patch has neither '*** Begin Patch' nor a line '--- FILE' of a unified diff");
}
