/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/envname.h"

/* clang-format off */
static const char *const secret_endings[] = {
	"TOKEN", "API_KEY", "APIKEY", "SECRET", "PASSWORD", "PASSWD", "PRIVATE_KEY", "ACCESS_KEY", "ADMIN_KEY", "SECRET_KEY",
	"CREDENTIALS", "PASSPHRASE", "PASS",
};
/* clang-format on */
#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* A whole word at the end: MY_TOKEN and TOKEN, but not MAX_TOKENS and not BETOKEN. */
static bool ends_in_word(struct str name, struct str word)
{
	struct str tail = str_from(name, name.n - word.n);

	return name.n >= word.n && str_eq_nocase(tail, word) &&
	       (name.n == word.n || name.p[name.n - word.n - 1] == '_');
}

bool env_name_looks_secret(struct str name)
{
	for (size_t i = 0; i < LEN(secret_endings); i++)
		if (name.n >= str_z(secret_endings[i]).n && ends_in_word(name, str_z(secret_endings[i])))
			return true;
	return false;
}

bool env_template_next(struct str template, size_t *at, struct str *ret_name)
{
	for (size_t i = *at; i + 2 < template.n; i++) {
		struct str rest = str_from(template, i), name, tail;

		if (!str_starts(rest, STR("${")) || !str_cut(str_from(rest, 2), '}', &name, &tail) ||
		    !env_name_valid(name))
			continue;
		*at = i + 2 + name.n + 1;
		*ret_name = name;
		return true;
	}
	*at = template.n;
	return false;
}
