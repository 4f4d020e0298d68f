/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/walk.h"

#define LISTING_BYTES ((size_t)64 << 20)

void listing_done(struct listing *l)
{
	arena_done(&l->arena);
	*l = (struct listing){ 0 };
}

static int add(void *ctx, const struct files_entry *entry)
{
	struct listing *l = ctx;
	struct files_entry *v;

	l->total++;
	if (l->n == l->max)
		return 0;
	if (l->n == l->cap) {
		v = arena_grow(&l->arena, l->v, l->n, &l->cap, sizeof(*v), alignof(struct files_entry));
		if (!v)
			return -ENOMEM;
		l->v = v;
	}
	l->v[l->n] = *entry;
	l->v[l->n].name = arena_str(&l->arena, entry->name);
	if (l->arena.failed)
		return -ENOMEM;
	l->n++;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct files_entry *x = a, *y = b;

	return str_cmp(x->name, y->name);
}

int listing_load(struct files *f, const char *path, unsigned flags, size_t max, struct listing *ret)
{
	struct listing l = { .max = max };
	int r;

	arena_init(&l.arena, LISTING_BYTES);
	r = f->ops->list(f, path, flags, add, &l);
	if (r < 0) {
		listing_done(&l);
		return r;
	}
	if (l.n > 0)
		qsort(l.v, l.n, sizeof(*l.v), by_name);
	*ret = l;
	return 0;
}

bool walk_join(char out[static FILES_PATH_MAX], const char *dir, struct str name)
{
	struct str d = str_z(dir);
	bool bare = str_eq(d, STR(".")) || d.n == 0;

	while (d.n > 0 && d.p[d.n - 1] == '/')
		d.n--;
	if (d.n + name.n + 2 > FILES_PATH_MAX)
		return false;
	if (bare)
		d.n = 0;
	if (d.n)
		memmove(out, d.p, d.n);
	if (!bare)
		out[d.n++] = '/';
	memcpy(out + d.n, name.p, name.n);
	out[d.n + name.n] = '\0';
	return true;
}
