/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/path.h"

#include "policy/session_key.h"

/* The next part of `rest` between slashes; false at the end. Empty parts are skipped. */
static bool next_part(struct str *rest, struct str *ret)
{
	size_t n = 0;

	while (rest->n > 0 && rest->p[0] == '/')
		*rest = str_from(*rest, 1);
	if (rest->n == 0)
		return false;
	while (n < rest->n && rest->p[n] != '/')
		n++;
	*ret = (struct str){ .p = rest->p, .n = n };
	*rest = str_from(*rest, n);
	return true;
}

/* Length of `out` without its last part. */
static size_t without_last(const char *out, size_t n, size_t root)
{
	while (n > root && out[n - 1] != '/')
		n--;
	return n > root ? n - 1 : root;
}

static bool last_is_up(const char *out, size_t n, size_t root)
{
	return n >= root + 2 && out[n - 1] == '.' && out[n - 2] == '.' &&
	       (n == root + 2 || out[n - 3] == '/');
}

struct str path_normalise(struct arena *a, struct str path)
{
	size_t root = path_is_absolute(path), n = root;
	struct str rest = path, part;
	char *out = arena_alloc(a, path.n + 2, 1);

	if (!out)
		return (struct str){ 0 };
	if (root)
		out[0] = '/';
	while (next_part(&rest, &part)) {
		if (str_eq(part, STR(".")))
			continue;
		if (str_eq(part, STR(".."))) {
			if (n > root && !last_is_up(out, n, root)) {
				n = without_last(out, n, root);
				continue;
			}
			if (root)
				continue;
		}
		if (n > root)
			out[n++] = '/';
		memcpy(out + n, part.p, part.n);
		n += part.n;
	}
	if (n == 0)
		out[n++] = '.';
	return (struct str){ .p = out, .n = n };
}

struct str path_join(struct arena *a, struct str dir, struct str name)
{
	char *out = arena_alloc(a, dir.n + name.n + 2, 1);

	if (!out)
		return (struct str){ 0 };
	if (dir.n)
		memcpy(out, dir.p, dir.n);
	dir.n -= dir.n > 0 && dir.p[dir.n - 1] == '/';
	out[dir.n] = '/';
	if (name.n)
		memcpy(out + dir.n + 1, name.p, name.n);
	return (struct str){ .p = out, .n = dir.n + 1 + name.n };
}

struct str path_expand(struct arena *a, const struct facts *f, struct str path)
{
	struct str p = trim_unicode(path);

	if (p.n > 0 && p.p[0] == '~' && (p.n == 1 || p.p[1] == '/'))
		p = path_join(a, f->home, str_from(p, p.n == 1 ? 1 : 2));
	else if (!path_is_absolute(p))
		p = path_join(a, f->cwd, p);
	return path_normalise(a, p);
}

bool path_within(struct str dir, struct str path)
{
	if (str_eq(dir, STR("/")))
		return path_is_absolute(path);
	return str_starts(path, dir) && (path.n == dir.n || path.p[dir.n] == '/');
}

struct str path_base(struct str path)
{
	struct str head, tail;

	return str_cut_last(path, '/', &head, &tail) ? tail : path;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool path_is_windows(struct str path)
{
	if (str_starts(path, STR("\\\\?\\")) || str_starts(path, STR("//?/")))
		path = str_from(path, 4);
	return path.n >= 3 && is_letter(path.p[0]) && path.p[1] == ':' &&
	       (path.p[2] == '\\' || path.p[2] == '/');
}
