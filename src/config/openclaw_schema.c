/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the tree along the tables. A wrong value is told with what is accepted there; a wrong key with what
 * it may have meant. Everything that is wrong is told, not only the first thing.
 */
#include "config/load_priv.h"
#include "config/openclaw_shape_priv.h"

#include <math.h>

#define KNOWN_MAX 96

/* clang-format off */
static const struct { unsigned kind; const char *name; } kind_names[] = {
	{ K_BOOL, "true or false" }, { K_STR, "a string" }, { K_ARR, "a list" }, { K_OBJ, "an object" },
};
/* clang-format on */

static void check(struct oc *o, const struct shape *s, const struct value *v, const struct trail *t);

static double number_of(const struct value *v)
{
	return v->kind == VALUE_INT ? (double)v->i : v->num;
}

/* "a string or a whole number in 1..65535" */
static void put_range(const struct shape *s, struct buf *b)
{
	bool whole = (s->kinds & K_NUM) == K_INT;

	buf_puts(b, whole ? "a whole number" : "a number");
	if (s->min >= s->max)
		return;
	if (s->above)
		buf_printf(b, " above %g", s->min);
	else if (s->max >= SAFE_INT)
		buf_printf(b, " from %g", s->min);
	else
		buf_printf(b, " in %g..%g", s->min, s->max);
}

static void put_words(const struct shape *s, struct buf *b)
{
	for (size_t i = 0; s->words[i]; i++)
		buf_printf(b, "%s'%s'", i == 0 ? "" : s->words[i + 1] ? ", " : " or ", s->words[i]);
}

static struct str accepted(struct oc *o, const struct shape *s)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 1024);
	for (size_t i = 0; i < sizeof(kind_names) / sizeof(kind_names[0]); i++) {
		if (!(s->kinds & kind_names[i].kind))
			continue;
		buf_puts(&b, b.n > 0 ? " or " : "");
		if (kind_names[i].kind == K_STR && s->words)
			put_words(s, &b);
		else if (kind_names[i].kind == K_STR && s->text != TEXT_ANY)
			buf_puts(&b, oc_text_accepted((enum shape_text)s->text));
		else if (kind_names[i].kind == K_STR && s->max_len > 0)
			buf_printf(&b, "a string of at most %u characters", (unsigned)s->max_len);
		else if (kind_names[i].kind == K_STR && s->min_len > 0)
			buf_puts(&b, "a string that is not empty");
		else
			buf_puts(&b, kind_names[i].name);
	}
	if (s->kinds & K_NUM) {
		buf_puts(&b, b.n > 0 ? " or " : "");
		put_range(s, &b);
	}
	return arena_str(o->l->a, buf_str(&b));
}

static bool holds_word(struct str text, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= text.n; i++)
		if (str_eq_nocase((struct str){ .p = text.p + i, .n = n }, (struct str){ .p = word, .n = n }))
			return true;
	return false;
}

/* Below a key like this a value may be a secret, however wrong its type is: it is named by its kind. */
static bool is_secret_place(const struct trail *t)
{
	static const char *const words[] = { "token",   "secret",     "password", "passphrase", "apikey",
					     "api_key", "credential", "auth",     "cookie",     "headers",
					     "env",     "vars",       "_key",     "privatekey" };

	for (; t; t = t->up)
		for (size_t i = 0; t->key.p && i < sizeof(words) / sizeof(words[0]); i++)
			if (holds_word(t->key, words[i]))
				return true;
	return false;
}

static void bad_value(struct oc *o, const struct shape *s, const struct value *v, const struct trail *t)
{
	struct str got = value_quote(o->l, v), want = accepted(o, s);

	if (is_secret_place(t) && v->kind != VALUE_NULL && v->kind != VALUE_BOOL)
		got = arena_printf(o->l->a, "this %s", value_kind_name(v->kind));

	oc_bad(o, t, v, "wrong_value", STR_FMT " is not accepted, accepted: %.*s", STR_ARG(got), (int)want.n,
	       want.p);
}

/* As JavaScript counts: what needs more than 16 bits counts twice. */
static size_t length_of(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c & 0xc0) != 0x80)
			n += c >= 0xf0 ? 2 : 1;
	}
	return n;
}

static bool spelling_ok(const struct oc *o, const struct shape *s, struct str text)
{
	bool of_plugins = s->text == TEXT_TARGET || s->text == TEXT_MEMORY_SLOT;

	if (of_plugins && o->plugins_missing)
		return s->text == TEXT_MEMORY_SLOT || oc_trim(text).n > 0;
	return oc_text_ok((enum shape_text)s->text, text);
}

static bool word_ok(const struct oc *o, const struct shape *s, struct str text)
{
	if (!s->words) {
		text = s->trim ? oc_trim(text) : text;
		return text.n >= s->min_len && (s->max_len == 0 || length_of(text) <= s->max_len) &&
		       spelling_ok(o, s, text);
	}
	for (size_t i = 0; s->words[i]; i++)
		if (str_eq(text, str_z(s->words[i])))
			return true;
	return false;
}

static bool number_ok(const struct shape *s, const struct value *v)
{
	double d = number_of(v);

	if (!isfinite(d))
		return false;
	if ((s->kinds & K_NUM) == K_INT && (v->kind != VALUE_INT || fabs(d) > SAFE_INT))
		return false;
	if (s->min >= s->max)
		return true;
	return d <= s->max && (s->above ? d > s->min : d >= s->min);
}

static const struct shape_key *find_key(const struct shape_key *keys, struct str name)
{
	for (; keys && keys->name; keys++)
		if (str_eq(name, str_z(keys->name)))
			return keys;
	return NULL;
}

/* What may be written here, in this mode. */
static void known_keys(const struct oc *o, const struct shape_key *keys, const char *ret[static KNOWN_MAX])
{
	size_t n = 0;

	for (; keys && keys->name && n + 1 < KNOWN_MAX; keys++)
		if (!(keys->flags & (KEY_OLD | KEY_LIST)) && !(o->compat && keys->flags & KEY_OURS))
			ret[n++] = keys->name;
	ret[n] = NULL;
}

static bool looks_like_one(struct str name, const char *const *known)
{
	for (; *known; known++)
		if (str_distance(name, str_z(*known), 2) <= 2 && name.n > 2)
			return true;
	return false;
}

static void unknown_key(struct oc *o, const struct shape *s, const struct member *m, const struct trail *t)
{
	const struct trail down = { .up = t, .key = m->key };
	const char *known[KNOWN_MAX];
	struct at at = oc_at(o, t, &m->v);

	known_keys(o, s->keys, known);
	if (!o->compat && s->open && !looks_like_one(m->key, known))
		oc_warn(o, &down, &m->v, "unknown_key", "OpenClaw 2026.9 has no such key: ignored");
	else
		bad_key(o->l, &at, m, known);
}

/* False when the key is refused, or has nothing behind it that we look at. */
static bool key_counts(struct oc *o, const struct shape *s, const struct shape_key *k, const struct member *m,
		       const struct trail *t)
{
	const struct trail down = { .up = t, .key = m->key };

	if (o->compat && k->flags & (KEY_OLD | KEY_OURS)) {
		unknown_key(o, s, m, t);
		return false;
	}
	if (k->flags & KEY_OLD && k->now)
		oc_warn(o, &down, &m->v, "old_key", "an older name for '%s': understood", k->now);
	else if (k->flags & KEY_OLD)
		oc_warn(o, &down, &m->v, "old_key", "of an older release: ignored");
	return o->compat || !s->part || k->flags & KEY_READ;
}

/* An account of a channel has the keys of the channel. */
static void check_accounts(struct oc *o, const struct shape *s, const struct value *v, const struct trail *t)
{
	const struct shape account = { .kinds = K_OBJ, .keys = s->keys, .below = true };

	for (size_t i = 0; i < v->obj.n; i++) {
		const struct trail down = { .up = t, .key = v->obj.m[i].key };

		check(o, &account, &v->obj.m[i].v, &down);
	}
}

static void check_member(struct oc *o, const struct shape *s, const struct member *m, const struct trail *t)
{
	const struct trail down = { .up = t, .key = m->key };
	const struct shape_key *k = find_key(s->keys, m->key);

	if (k && ((k->flags & KEY_LIST && !o->from_list) || (k->flags & KEY_TOP && s->below) ||
		  (k->flags & KEY_BELOW && !s->below)))
		k = NULL;
	if (k) {
		if (key_counts(o, s, k, m, t))
			check(o, &k->v, &m->v, &down);
		if (k->flags & KEY_ACCOUNTS && m->v.kind == VALUE_OBJ)
			check_accounts(o, s, &m->v, &down);
	} else if (s->each) {
		if (!oc_text_ok((enum shape_text)s->key_text, m->key))
			oc_bad(o, &down, &m->v, "bad_name", "the name is not accepted, accepted: %s",
			       oc_text_accepted((enum shape_text)s->key_text));
		check(o, s->each, &m->v, &down);
	} else {
		unknown_key(o, s, m, t);
	}
}

static void check_object(struct oc *o, const struct shape *s, const struct value *v, const struct trail *t)
{
	if (s->max_items > 0 && v->obj.n > s->max_items)
		oc_bad(o, t, v, "too_many", "%zu names, accepted: at most %u", v->obj.n,
		       (unsigned)s->max_items);
	for (size_t i = 0; i < v->obj.n; i++)
		check_member(o, s, &v->obj.m[i], t);
	for (const struct shape_key *k = s->keys; k && k->name; k++)
		if (k->flags & KEY_NEEDED && !value_member(v, str_z(k->name)))
			oc_bad(o, t, v, "missing_key", "'%s' is missing", k->name);
}

static void check_array(struct oc *o, const struct shape *s, const struct value *v, const struct trail *t)
{
	if (v->arr.n < s->min_items)
		oc_bad(o, t, v, "too_few", "%zu entries, accepted: %u or more", v->arr.n,
		       (unsigned)s->min_items);
	if (s->max_items > 0 && v->arr.n > s->max_items)
		oc_bad(o, t, v, "too_many", "%zu entries, accepted: at most %u", v->arr.n,
		       (unsigned)s->max_items);
	if (!s->items)
		return;
	for (size_t i = 0; i < v->arr.n; i++) {
		const struct trail down = { .up = t, .index = i };

		check(o, s->items, &v->arr.v[i], &down);
	}
}

/* True when the value itself is right; what it contains is checked as well. */
static bool kind_ok(struct oc *o, const struct shape *s, const struct value *v, const struct trail *t)
{
	if (!(s->kinds & (1u << v->kind)))
		return false;
	switch (v->kind) {
	case VALUE_STR:
		return word_ok(o, s, v->s);
	case VALUE_INT:
	case VALUE_NUM:
		return number_ok(s, v);
	case VALUE_ARR:
		check_array(o, s, v, t);
		return true;
	case VALUE_OBJ:
		check_object(o, s, v, t);
		return true;
	case VALUE_NULL:
	case VALUE_BOOL:
	case VALUE_KIND_COUNT_:
		break;
	}
	return true;
}

/* True when one of several shapes fits; nothing is told. */
static bool any_fits(struct oc *o, const struct shape *const *any, const struct value *v,
		     const struct trail *t)
{
	const struct diags before = *o->l->diags;
	bool fits = false;

	for (; *any && !fits; any++) {
		check(o, *any, v, t);
		fits = o->l->diags->n_errors == before.n_errors;
		*o->l->diags = before;
	}
	return fits;
}

static void check(struct oc *o, const struct shape *s, const struct value *v, const struct trail *t)
{
	size_t errors = o->l->diags->n_errors;

	s = s->same ? s->same : s;
	if (s->kinds == K_ANY)
		return;
	if (s->any) {
		if (!any_fits(o, s->any, v, t))
			oc_bad(o, t, v, "wrong_value", "not one of the forms that are accepted here");
		return;
	}
	if (!kind_ok(o, s, v, t))
		bad_value(o, s, v, t);
	else if (s->check != CHECK_NONE && o->l->diags->n_errors == errors)
		oc_check_more(o, s->check, v, t);
}

void oc_check_shape(struct oc *o, const struct shape *s, const struct value *v, const struct trail *t)
{
	check(o, s, v, t);
}

/* Upstream keeps what it cannot check until the plugins are back. */
static bool are_missing(struct oc *o)
{
	const struct value *paths = value_path(o->plugins, "load.paths");

	for (size_t i = 0; paths && paths->kind == VALUE_ARR && i < paths->arr.n; i++)
		if (paths->arr.v[i].kind == VALUE_STR && oc_trim(paths->arr.v[i].s).n > 0 &&
		    !load_exists(o->l, oc_path_expand(o, paths->arr.v[i].s)))
			return true;
	return false;
}

void oc_check(struct oc *o, const struct value *root)
{
	const struct trail top = { 0 };

	o->plugins = o->compat ? value_get(root, STR("plugins")) : NULL;
	o->plugins_missing = are_missing(o);
	check(o, &oc_root, root, &top);
}
