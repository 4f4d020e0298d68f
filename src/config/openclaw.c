/* SPDX-License-Identifier: Apache-2.0 */
#include "config/load_priv.h"
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

static struct value copy_of(struct arena *a, const struct value *v)
{
	struct value copy = *v;

	if (v->kind == VALUE_ARR) {
		copy.arr.v = ARENA_ARRAY(a, struct value, v->arr.n);
		for (size_t i = 0; copy.arr.v && i < v->arr.n; i++)
			copy.arr.v[i] = copy_of(a, &v->arr.v[i]);
	} else if (v->kind == VALUE_OBJ) {
		copy.index = NULL;
		copy.obj.m = ARENA_ARRAY(a, struct member, v->obj.n);
		for (size_t i = 0; copy.obj.m && i < v->obj.n; i++) {
			copy.obj.m[i] = v->obj.m[i];
			copy.obj.m[i].v = copy_of(a, &v->obj.m[i].v);
		}
	}
	return copy;
}

/* Fills in and checks; false after an error. */
static bool prepare(struct oc *o, struct value *root)
{
	size_t errors = o->l->diags->n_errors;

	oc_vars(o, root);
	oc_roster(o, root);
	oc_check(o, root);
	if (o->l->diags->n_errors == errors)
		oc_check_roster(o, root);
	if (o->l->diags->n_errors == errors)
		oc_check_cross(o, root);
	return o->l->diags->n_errors == errors;
}

/*
 * Upstream reads a file twice. What env.vars is made of after the first time is in the environment the second time, so
 * a variable may refer to another one. A file that is refused the first time is refused.
 */
static bool read_first(struct oc *o, const struct value *root)
{
	const struct diags told = *o->l->diags;
	struct value copy;

	if (!o->compat || !oc_vars_nest(o, root))
		return true;
	copy = copy_of(o->l->a, root);
	if (!prepare(o, &copy))
		return false;
	oc_vars_collect(o, &copy);
	*o->l->diags = told; /* warnings come again */
	o->from_list = NULL;
	return true;
}

/* The second time upstream looks where the variables of the first say; a file that is not there says nothing. */
static void read_moved(const struct oc *first, struct str file)
{
	struct oc o = { .l = first->l,
			.compat = true,
			.files = &file,
			.n_files = 1,
			.vars = first->vars,
			.n_vars = first->n_vars,
			.cap_vars = first->cap_vars };
	const struct origin asked_by = { .kind = ORIGIN_FILE, .name = first->files[0] };
	struct value nothing = { .kind = VALUE_OBJ }, *root = &nothing;
	struct stat st;
	struct str text;

	diag_add(o.l->diags, SEVERITY_WARN, "moved", &asked_by, STR("env.vars"),
		 "it moves OpenClaw's files: what is read there counts, not this file");
	if (load_exists(o.l, file)) {
		root = load_text(o.l, file, &asked_by, &text, &st)
			       ? load_parse(o.l, file, text, FORMAT_OPENCLAW)
			       : NULL;
		if (!root)
			return;
		oc_drop_proto(root);
	}
	if (oc_include(&o, root) && prepare(&o, root))
		oc_map(&o, root);
}

void read_openclaw(struct load *l, struct value *root, struct str file)
{
	struct oc o = { .l = l, .compat = l->c->base.compat == COMPAT_OPENCLAW_2026_9, .n_files = 1 };
	struct str moved;

	o.files = &file;
	oc_drop_proto(root);
	if (!oc_include(&o, root) || !read_first(&o, root))
		return;
	if (oc_is_moved(&o, &moved))
		read_moved(&o, moved);
	else if (prepare(&o, root))
		oc_map(&o, root);
}
