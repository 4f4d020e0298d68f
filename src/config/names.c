/* SPDX-License-Identifier: Apache-2.0 */
/* Names that the readers have to know: of tools, of variables, of secrets. */
#include "config/config_priv.h"

/* Only what S2 and S4 call the tools that can have settings of their own; policy knows the whole table. */
static const struct {
	const char *alias, *name;
} aliases[] = {
	{ "bash", "exec" },
	{ "shell", "exec" },
	{ "shell_exec", "exec" },
	{ "execute", "exec" },
	{ "file_read", "read" },
	{ "file_write", "write" },
	{ "apply-patch", "apply_patch" },
};

static struct str lower(struct load *l, struct str s)
{
	char *p = arena_alloc(l->a, s.n + 1, 1);

	if (!p)
		return (struct str){ .p = "", .n = 0 };
	for (size_t i = 0; i < s.n; i++) {
		p[i] = s.p[i];
		if (p[i] >= 'A' && p[i] <= 'Z')
			p[i] = (char)(p[i] | 0x20);
	}
	return (struct str){ .p = p, .n = s.n };
}

struct str load_tool_name(struct load *l, struct str name)
{
	struct str s = lower(l, str_trim(name));

	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (str_eq(s, str_z(aliases[i].alias)))
			return str_z(aliases[i].name);
	return s;
}

static bool contains_nocase(struct str s, struct str part)
{
	for (size_t i = 0; i + part.n <= s.n; i++)
		if (str_eq_nocase((struct str){ .p = s.p + i, .n = part.n }, part))
			return true;
	return false;
}

bool secret_name(struct str name)
{
	static const char *const parts[] = { "token",   "secret", "passw",      "passphrase", "credential",
					     "api_key", "apikey", "auth",       "private",    "_key",
					     "_pat",    "cookie", "session_id", "dsn",        "_pass" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (contains_nocase(name, str_z(parts[i])))
			return true;
	return str_eq_nocase(name, STR("key")) || str_eq_nocase(name, STR("pat")) ||
	       str_eq_nocase(name, STR("pass"));
}
