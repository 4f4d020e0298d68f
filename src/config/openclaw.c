/* SPDX-License-Identifier: Apache-2.0 */
#include "config/openclaw_priv.h"

#include <stdarg.h>

static struct str file_of(const struct oc *o, const struct value *v)
{
	size_t lo = 0, hi = o->n_places;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (o->places[mid].v < v)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < o->n_places && o->places[lo].v == v ? o->files[o->places[lo].file] : o->files[0];
}

static bool is_entries(const struct trail *t)
{
	return t->up && t->up->up && !t->up->up->up && str_eq(t->key, STR("entries")) &&
	       str_eq(t->up->key, STR("agents"));
}

static size_t place_in_list(const struct oc *o, struct str id)
{
	size_t i = 0;

	while (i < o->from_list->obj.n &&
	       o->from_list->obj.m[i].key.p != id.p) /* two may have the same text */
		i++;
	return i;
}

/* agents.list has numbers where agents.entries has names. */
struct at oc_at(struct oc *o, const struct trail *t, const struct value *v)
{
	struct at at = { .file = o->files[0] };

	if (o->from_list && is_entries(t)) {
		at.key = STR("agents.list");
	} else if (o->from_list && t->up && is_entries(t->up)) {
		at.key = arena_printf(o->l->a, "agents.list[%zu]", place_in_list(o, t->key));
	} else if (t->up) {
		at = oc_at(o, t->up, v);
		at = t->key.p ? at_key(o->l, &at, t->key) : at_index(o->l, &at, t->index);
	}
	at.file = file_of(o, v);
	return at;
}

void oc_bad(struct oc *o, const struct trail *t, const struct value *v, const char *code, const char *fmt,
	    ...)
{
	struct at at = oc_at(o, t, v);
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	bad(o->l, &at, v, code, "%s", text);
}

void oc_warn(struct oc *o, const struct trail *t, const struct value *v, const char *code, const char *fmt,
	     ...)
{
	struct at at = oc_at(o, t, v);
	struct origin origin = origin_of(&at, v);
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag_add(o->l->diags, SEVERITY_WARN, code, &origin, at.key, "%s", text);
}

void read_openclaw(struct load *l, struct value *root, struct str file)
{
	struct oc o = { .l = l, .compat = l->c->base.compat == COMPAT_OPENCLAW_2026_9, .n_files = 1 };
	size_t errors = l->diags->n_errors;

	o.files = &file;
	oc_drop_proto(root);
	if (!oc_include(&o, root))
		return;
	oc_vars(&o, root);
	oc_roster(&o, root);
	oc_check(&o, root);
	if (l->diags->n_errors == errors)
		oc_check_roster(&o, root);
	if (l->diags->n_errors == errors)
		oc_check_cross(&o, root);
	if (l->diags->n_errors == errors)
		oc_map(&o, root);
}
