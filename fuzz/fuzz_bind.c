/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A normalised path holds no "..", and stays as it is when normalised again. What is blocked stays blocked however many
 * slashes and dots are put into its name.
 */
#include "base/buf.h"
#include "policy/bind.h"
#include "policy/path.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool held)
{
	if (!held)
		abort();
}

static void check_normal(struct str p)
{
	struct str part, rest = str_from(p, 1);

	expect(p.n > 0 && p.p[0] == '/');
	expect(p.n == 1 || p.p[p.n - 1] != '/');
	while (str_cut(rest, '/', &part, &rest))
		expect(part.n > 0 && !str_eq(part, STR("..")) && !str_eq(part, STR(".")));
	expect(!str_eq(rest, STR("..")) && !str_eq(rest, STR(".")));
}

static struct str respelled(struct arena *a, struct str path, const char *slash, const char *end)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < path.n; i++)
		if (path.p[i] == '/')
			buf_puts(&b, slash);
		else
			buf_putc(&b, path.p[i]);
	buf_puts(&b, end);
	return arena_str(a, buf_str(&b));
}

static enum code check(struct arena *a, const struct facts *f, struct str source, struct bind_view *v)
{
	static const struct settings none;
	const struct bind_rules rules = { .facts = f, .s = &none };
	const struct bind b = {
		.raw = source, .source = source, .target = STR("/x"), .options = STR("ro"), .readonly = true
	};

	return bind_check(a, &rules, &b, v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const slashes[] = { "//", "/./", "/x/../" }, *const ends[] = { "", "/", "/.",
											  "/x/.." };
	const struct facts facts = { .home = STR("/home/u"), .cwd = STR("/srv") };
	_cleanup_arena_ struct arena a;
	struct str path, normal;
	struct bind_view v, w;
	enum code code;

	if (size > 4096)
		return 0;
	arena_init(&a, 8 << 20);
	path = path_join(&a, (struct str){ .p = "", .n = 0 },
			 (struct str){ .p = (const char *)data, .n = size });
	normal = path_normalise(&a, path);
	check_normal(normal);
	expect(str_eq(path_normalise(&a, normal), normal));
	code = check(&a, &facts, path, &v);
	for (size_t i = 0; i < 3 && !path_is_windows(path); i++)
		for (size_t k = 0; k < 4; k++) {
			struct str other = respelled(&a, normal, slashes[i], ends[k]);

			if (path_is_windows(other) || memchr(path.p, '\0', path.n) ||
			    path.p[path.n - 1] <= ' ')
				continue;
			expect(check(&a, &facts, other, &w) == code);
			expect(code != CODE_OK || str_eq(v.source, w.source));
		}
	return 0;
}
