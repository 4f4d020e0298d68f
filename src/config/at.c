/* SPDX-License-Identifier: Apache-2.0 */
/* Where a reader stands, and how it says what is wrong there. */
#include "config/config_priv.h"

#include <stdarg.h>
#include <stdio.h>

#define QUOTE_MAX 64

struct origin origin_of(const struct at *at, const struct value *v)
{
	struct origin o = { .kind = ORIGIN_FILE, .name = at->file };

	if (at->from)
		o = *at->from;
	else if (v)
		o.line = v->line, o.col = v->col;
	if (v && v->kind == VALUE_STR && v->from_env)
		o.raw = v->raw;
	return o;
}

struct at at_key(struct load *l, const struct at *at, struct str key)
{
	struct at down = *at;

	/* Not arena_printf("%.*s"): a key may be longer than what a message shows, and is then still compared. */
	if (at->key.n == 0) {
		down.key = arena_str(l->a, key);
	} else {
		size_t n = at->key.n + 1 + key.n;
		char *p = arena_alloc(l->a, n + 1, 1);

		if (!p)
			return down;
		memcpy(p, at->key.p, at->key.n);
		p[at->key.n] = '.';
		if (key.n)
			memcpy(p + at->key.n + 1, key.p, key.n);
		down.key = (struct str){ .p = p, .n = n };
	}
	return down;
}

/* Asked for every item of every list, most of them right: printf would be half of the time that reading takes. */
struct at at_index(struct load *l, const struct at *at, size_t i)
{
	_cleanup_buf_ struct buf b = { 0 };
	struct at down = *at;
	char first[256];

	buf_init_on(&b, 1200, first, sizeof(first));
	buf_put(&b, (struct str){ .p = at->key.p, .n = at->key.n < 1024 ? at->key.n : 1024 });
	buf_putc(&b, '[');
	buf_put_u64(&b, i);
	buf_putc(&b, ']');
	down.key = arena_str(l->a, buf_str(&b));
	return down;
}

void bad(struct load *l, const struct at *at, const struct value *v, const char *code, const char *fmt, ...)
{
	struct origin o = origin_of(at, v);
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag_add(l->diags, SEVERITY_ERROR, code, &o, at->key, "%s", text);
}

/* At most QUOTE_MAX bytes, never half a character. */
static struct str cut(struct str s)
{
	if (s.n <= QUOTE_MAX)
		return s;
	s.n = QUOTE_MAX;
	while (s.n > 0 && ((unsigned char)s.p[s.n] & 0xc0) == 0x80)
		s.n--;
	return s;
}

static struct str quote_text(struct load *l, struct str s)
{
	struct str head = cut(s);

	return arena_printf(l->a, "'%.*s%s'", (int)head.n, head.p, head.n < s.n ? "…" : "");
}

struct str value_quote(struct load *l, const struct value *v)
{
	switch (v->kind) {
	case VALUE_STR:
		return quote_text(l, v->from_env ? v->raw : v->s);
	case VALUE_BOOL:
		return v->b ? STR("true") : STR("false");
	case VALUE_INT:
		return arena_printf(l->a, "%lld", (long long)v->i);
	case VALUE_NUM:
		return v->raw.n ? cut(v->raw) : arena_printf(l->a, "%g", v->num);
	case VALUE_NULL:
		return STR("null");
	case VALUE_ARR:
		return STR("an array");
	case VALUE_OBJ:
		return STR("an object");
	case VALUE_KIND_COUNT_:
		break;
	}
	return STR("?");
}

static const char *closest(struct str key, const char *const *known)
{
	const char *best = NULL;
	unsigned best_d = 3;

	for (; known && *known; known++) {
		unsigned d = str_distance(str_z(*known), key, best_d);

		if (d < best_d && d < key.n) {
			best = *known;
			best_d = d;
		}
	}
	return best;
}

/* "a, b, c": as many as fit, then "…". */
static void list_known(const char *const *known, char *out, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; known && known[i]; i++) {
		size_t n = strlen(known[i]) + (i ? 2 : 0);

		if (at + n + sizeof(", …") > size) {
			(void)snprintf(out + at, size - at, ", …");
			return;
		}
		(void)snprintf(out + at, size - at, "%s%s", i ? ", " : "", known[i]);
		at += n;
	}
}

void bad_key(struct load *l, const struct at *at, const struct member *m, const char *const *known)
{
	const struct value where = { .kind = VALUE_NULL, .line = m->line, .col = m->col };
	struct at down = at_key(l, at, m->key);
	const char *near = closest(m->key, known);
	struct str name = quote_text(l, m->key);
	char accepted[400] = "";

	list_known(known, accepted, sizeof(accepted));
	if (near)
		bad(l, &down, &where, "unknown_key", "unknown key %s, did you mean '%s'?", name.p, near);
	else if (accepted[0])
		bad(l, &down, &where, "unknown_key", "unknown key %s, accepted: %s", name.p, accepted);
	else
		bad(l, &down, &where, "unknown_key", "unknown key %s, accepted: nothing here", name.p);
}

bool load_getenv(const struct load *l, struct str name, struct str *ret)
{
	if (!l->in->environ || name.n == 0)
		return false;
	for (char *const *e = l->in->environ; *e; e++) {
		struct str line = str_z(*e);

		if (line.n > name.n + 1 && line.p[name.n] == '=' && str_starts(line, name)) {
			*ret = str_from(line, name.n + 1);
			return true;
		}
	}
	return false;
}
