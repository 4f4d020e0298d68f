/* SPDX-License-Identifier: Apache-2.0 */
#include "server/paths.h"

#include "base/utf8.h"

static struct str next_part(struct str *rest)
{
	struct str head;

	if (!str_cut(*rest, '/', &head, rest)) {
		head = *rest;
		*rest = (struct str){ 0 };
		return head;
	}
	/* "a/" has an empty part behind the slash, and is not "a". */
	return head;
}

static bool path_matches(const char *pattern, struct str path, struct path_match *ret)
{
	struct str want = str_z(pattern), got = path;
	size_t n_parts = 0, want_slashes = 0, got_slashes = 0;

	for (size_t i = 0; i < want.n; i++)
		want_slashes += want.p[i] == '/';
	for (size_t i = 0; i < got.n; i++)
		got_slashes += got.p[i] == '/';
	if (want_slashes != got_slashes)
		return false;
	for (size_t i = 0; i <= want_slashes; i++) {
		struct str w = next_part(&want), g = next_part(&got);

		if (w.n == 0 || w.p[0] != '{') {
			if (!str_eq(w, g))
				return false;
			continue;
		}
		if (g.n == 0 || n_parts == PATH_PARTS_MAX)
			return false;
		ret->part[n_parts++] = g;
	}
	return true;
}

unsigned path_find(const struct path_row *table, size_t n, enum http_method method, struct str path,
		   struct path_match *ret)
{
	struct path_match m = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (!path_matches(table[i].path, path, &m))
			continue;
		m.allowed |= 1u << table[i].method;
		m.s2 = table[i].s2;
		if (table[i].method != method)
			continue;
		m.route = &table[i];
		*ret = m;
		return 0;
	}
	*ret = m;
	return m.allowed ? 405 : 404;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return false;
	return utf8_valid(s);
}

bool path_decode(struct arena *a, struct str text, struct str *ret)
{
	char *out;
	size_t n = 0;

	if (text.n > PATH_TEXT_MAX)
		return false;
	out = arena_alloc(a, text.n + 1, 1);
	if (!out)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		int high, low;

		if (text.p[i] != '%') {
			out[n++] = text.p[i];
			continue;
		}
		high = i + 2 < text.n ? hex(text.p[i + 1]) : -1;
		low = i + 2 < text.n ? hex(text.p[i + 2]) : -1;
		if (high < 0 || low < 0)
			return false;
		out[n++] = (char)(high * 16 + low);
		i += 2;
	}
	*ret = (struct str){ out, n };
	return is_text(*ret);
}

void path_encode(struct buf *out, struct str text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    memchr("-._~", c, 4)) {
			buf_putc(out, (char)c);
			continue;
		}
		buf_putc(out, '%');
		buf_putc(out, digits[c >> 4]);
		buf_putc(out, digits[c & 15]);
	}
}

static bool take_value(struct arena *a, const char *const *names, struct str name, struct str value,
		       struct path_query *ret)
{
	for (size_t i = 0; names && names[i] && i < PATH_QUERY_MAX; i++) {
		if (!str_eq(name, str_z(names[i])))
			continue;
		if (ret->has[i]) {
			ret->why = "is there twice";
			return false;
		}
		ret->has[i] = true;
		ret->why = "has a value that is no text, or not encoded as one";
		return path_decode(a, value, &ret->value[i]);
	}
	ret->why = "is not known here";
	return false;
}

bool path_query(struct arena *a, const char *const *names, struct str query, struct path_query *ret)
{
	*ret = (struct path_query){ 0 };
	while (query.n) {
		struct str one, name, value = { .p = "", .n = 0 };

		if (!str_cut(query, '&', &one, &query)) {
			one = query;
			query = (struct str){ 0 };
		}
		if (!str_cut(one, '=', &name, &value))
			name = one;
		if (take_value(a, names, name, value, ret))
			continue;
		ret->bad = name;
		return false;
	}
	return true;
}
