/* SPDX-License-Identifier: Apache-2.0 */
#include "config/openclaw_priv.h"

#include "base/utf8.h"

static bool is_blank(uint32_t cp)
{
	return (cp >= 9 && cp <= 13) || cp == ' ' || cp == 0xa0 || cp == 0x1680 ||
	       (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 || cp == 0x2029 || cp == 0x202f ||
	       cp == 0x205f || cp == 0x3000 || cp == 0xfeff;
}

struct str oc_trim(struct str s)
{
	uint32_t cp;
	size_t back;
	int n;

	while ((n = utf8_decode(s, &cp)) > 0 && is_blank(cp))
		s = str_from(s, (size_t)n);
	while (s.n > 0) {
		for (back = 1; back < s.n && back < 4 && ((unsigned char)s.p[s.n - back] & 0xc0) == 0x80;)
			back++;
		n = utf8_decode((struct str){ s.p + s.n - back, back }, &cp);
		if (n != (int)back || !is_blank(cp))
			break;
		s.n -= back;
	}
	return s;
}

/* Appends one component to the path in `b` of length n; ".." takes one away. */
static size_t put_component(char *b, size_t n, bool absolute, struct str c)
{
	size_t cut = n;

	if (c.n == 0 || str_eq(c, STR(".")))
		return n;
	if (str_eq(c, STR(".."))) {
		while (cut > 0 && b[cut - 1] != '/')
			cut--;
		if (n > 0 && !str_eq((struct str){ b + cut, n - cut }, STR("..")))
			return cut > 0 ? cut - 1 : 0;
		if (absolute)
			return 0;
	}
	if (n > 0 || absolute)
		b[n++] = '/';
	memcpy(b + n, c.p, c.n);
	return n + c.n;
}

struct str oc_path_normal(struct arena *a, struct str path)
{
	char *b = arena_alloc(a, path.n + 2, 1);
	bool absolute = path.n > 0 && path.p[0] == '/';
	struct str rest = path, head;
	size_t n = 0;

	if (!b)
		return (struct str){ 0 };
	while (str_cut(rest, '/', &head, &rest))
		n = put_component(b, n, absolute, head);
	n = put_component(b, n, absolute, rest);
	if (n == 0)
		b[n++] = absolute ? '/' : '.';
	b[n] = '\0';
	return (struct str){ b, n };
}

struct str oc_path_join(struct arena *a, struct str dir, struct str path)
{
	char *b;

	if (path.n > 0 && path.p[0] == '/')
		return oc_path_normal(a, path);
	b = arena_alloc(a, dir.n + 1 + path.n, 1);
	if (!b)
		return (struct str){ 0 };
	memcpy(b, dir.p, dir.n);
	b[dir.n] = '/';
	if (path.n > 0)
		memcpy(b + dir.n + 1, path.p, path.n);
	return oc_path_normal(a, (struct str){ b, dir.n + 1 + path.n });
}

struct str oc_path_dir(struct str path)
{
	struct str dir, base;

	if (!str_cut_last(path, '/', &dir, &base))
		return STR(".");
	return dir.n > 0 ? dir : STR("/");
}

bool oc_path_within(struct str path, struct str dir)
{
	if (str_eq(dir, STR("/")))
		return path.n > 0 && path.p[0] == '/';
	if (str_eq(dir, STR(".")))
		return path.n > 0 && path.p[0] != '/' && !oc_path_within(path, STR(".."));
	return str_starts(path, dir) && (path.n == dir.n || path.p[dir.n] == '/');
}

bool oc_path_is_tilde(struct str path)
{
	return path.n > 0 && path.p[0] == '~' && (path.n == 1 || path.p[1] == '/' || path.p[1] == '\\');
}

struct str oc_path_tilde(struct arena *a, struct str path, struct str home)
{
	struct str rest = path.n > 0 ? str_from(path, 1) : path;

	return oc_path_is_tilde(path) ? arena_printf(a, "%.*s%.*s", (int)home.n, home.p, (int)rest.n, rest.p)
				      : path;
}

struct str oc_path_resolve(struct oc *o, struct str path)
{
	struct str cwd = o->l->in->cwd;

	return oc_path_join(o->l->a, cwd.n > 0 ? cwd : STR("."), path);
}

struct str oc_path_expand(struct oc *o, struct str path)
{
	path = oc_trim(path);
	return oc_path_resolve(o, oc_path_is_tilde(path) ? oc_path_tilde(o->l->a, path, oc_home(o)) : path);
}
