/* SPDX-License-Identifier: Apache-2.0 */
/* What the table cannot say about a text: which words, addresses and names it may be. */
#include "config/set_priv.h"

#include "base/parse.h"
#include "model/request.h"

static bool is_backend(struct str s)
{
	int id;

	return enum_value(backend_names, s, false, &id) && id != BACKEND_NONE && id != BACKEND_HOST;
}

/* "host:port", "[v6]:port" or "unix:/path"; port 0 lets the system choose. */
static bool is_address(struct str s)
{
	struct str host, port;
	uint64_t n;

	if (str_starts(s, STR("unix:/")))
		return s.n > strlen("unix:/");
	return str_cut_last(s, ':', &host, &port) && host.n && str_to_u64(port, 65535, &n) == 0;
}

static bool is_absolute(struct str s)
{
	return s.n && s.p[0] == '/';
}

static bool is_optional_wall(struct str s)
{
	int id;

	return enum_value(wall_names, s, false, &id);
}

static bool is_suffix(struct str s)
{
	return s.n > 1 && s.p[0] == '.';
}

static const struct {
	enum option id;
	bool (*valid)(struct str);
	const char *accepted;
} checks[] = {
	{ OPT_BACKEND_ORDER, is_backend, "native, docker or opensandbox" },
	{ OPT_ENV_SECRETS, env_name_valid, "variable names: letters, digits and _, no leading digit" },
	{ OPT_WALLS_OPTIONAL, is_optional_wall, "landlock, time or limits" },
	{ OPT_SYNC_BLOCKED_EXT, is_suffix, "file name endings that start with a dot" },
	{ OPT_VAULT_PATH, is_absolute, "an absolute path" },
	{ OPT_SERVE_GUARD, is_address, "host:port or unix:/path" },
	{ OPT_SERVE_RUNNER, is_address, "host:port or unix:/path" },
	{ OPT_SERVE_OPENSANDBOX, is_address, "host:port or unix:/path" },
};

bool check_text(const struct set *t, struct str text, const struct value *v, const struct at *at)
{
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct str got;

		if (checks[i].id != t->id || checks[i].valid(text))
			continue;
		got = value_quote(t->l, v);
		bad(t->l, at, v, "bad_value", STR_FMT " is not accepted here, accepted: %s", STR_ARG(got),
		    checks[i].accepted);
		return false;
	}
	return true;
}
