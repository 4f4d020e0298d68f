/* SPDX-License-Identifier: Apache-2.0 */
#include "server/guard/schema.h"

#include <stdio.h>

/* Control characters of a name become visible, and it is cut: the sentence goes back to whoever sent it, and to a log. */
static bool bad(char *fault, struct str name, const char *what)
{
	char text[160];
	struct buf b;

	buf_init_on(&b, sizeof(text), text, sizeof(text));
	buf_put_visible(&b, (struct str){ name.p, name.n < 32 ? name.n : 32 });
	(void)snprintf(fault, SCHEMA_FAULT_MAX, "%.*s: %s", (int)(b.n < 100 ? b.n : 100), b.n ? b.p : "",
		       what);
	buf_done(&b);
	return false;
}

/* Whoever misspelled one learns which there are. */
static bool unknown(char *fault, const struct schema *s, struct str name)
{
	_cleanup_buf_ struct buf what = { 0 };

	buf_init(&what, SCHEMA_FAULT_MAX);
	buf_puts(&what, "is not known here; accepted:");
	for (size_t i = 0; i < s->n; i++)
		buf_printf(&what, "%s %s", i ? "," : "", s->fields[i].name);
	return bad(fault, name, buf_str(&what).p);
}

static const struct field *find(const struct schema *s, struct str name)
{
	for (size_t i = 0; i < s->n; i++)
		if (str_eq(name, str_z(s->fields[i].name)))
			return &s->fields[i];
	return NULL;
}

static bool read_count(const struct field *f, const struct value *v, struct count *ret, char *fault)
{
	char what[80];

	if (v->kind == VALUE_INT && v->i >= 0 && (uint64_t)v->i <= f->max) {
		*ret = (struct count){ .said = true, .n = (uint64_t)v->i };
		return true;
	}
	(void)snprintf(what, sizeof(what), "has to be a whole number, 0..%zu", f->max);
	return bad(fault, str_z(f->name), what);
}

static bool read_text(const struct field *f, const struct value *v, struct str *ret, char *fault)
{
	char what[80];

	if (v->kind != VALUE_STR)
		return bad(fault, str_z(f->name), "has to be a text");
	if (v->s.n > f->max) {
		(void)snprintf(what, sizeof(what), "is longer than %zu bytes", f->max);
		return bad(fault, str_z(f->name), what);
	}
	*ret = v->s;
	return true;
}

static bool read_field(const struct field *f, const struct value *v, void *base, char *fault)
{
	void *ret = (char *)base + f->offset;

	return f->kind == FIELD_COUNT ? read_count(f, v, ret, fault) : read_text(f, v, ret, fault);
}

bool schema_read(const struct schema *s, const struct value *v, void *ret,
		 char fault[static SCHEMA_FAULT_MAX])
{
	if (v->kind != VALUE_OBJ)
		return bad(fault, STR("body"), "has to be an object");
	for (size_t i = 0; i < v->obj.n; i++) {
		const struct member *m = &v->obj.m[i];
		const struct field *f = find(s, m->key);

		if (!f)
			return unknown(fault, s, m->key);
		/* A member that may be left out may be null. */
		if (!f->required && m->v.kind == VALUE_NULL)
			continue;
		if (!read_field(f, &m->v, ret, fault))
			return false;
	}
	for (size_t i = 0; i < s->n; i++)
		if (s->fields[i].required && !value_get(v, str_z(s->fields[i].name)))
			return bad(fault, str_z(s->fields[i].name), "is missing");
	return true;
}
