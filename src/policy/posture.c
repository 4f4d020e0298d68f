/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/posture.h"

#include "base/parse.h"

bool said(const struct settings *s, enum option id)
{
	return s->has[id] && s->origin[id].kind != ORIGIN_BUILTIN && s->origin[id].kind != ORIGIN_PROFILE;
}

bool is_upstream_view(const struct ctx *x)
{
	return x->d->eff.compat == COMPAT_OPENCLAW_2026_9 && x->d->tool.name.n == 0;
}

static bool host_is_loopback(struct str host)
{
	struct parse_net net = { 0 }, loopback = { 0 };

	if (str_eq_nocase(host, STR("localhost")))
		return true;
	if (parse_net(host, &net) < 0)
		return false;
	(void)parse_net(host.p[0] == ':' ? STR("::1") : STR("127.0.0.0/8"), &loopback);
	return parse_net_contains(&loopback, &net);
}

bool address_is_public(struct str address)
{
	struct str a = str_trim(address), host;
	uint16_t port;

	if (a.n == 0 || str_starts(a, STR("unix:")) || str_eq_nocase(a, STR("loopback")))
		return false;
	if (str_starts(a, STR("http://")))
		a = str_from(a, 7);
	else if (str_starts(a, STR("https://")))
		a = str_from(a, 8);
	if (memchr(a.p, ':', a.n) && a.p[0] == ':')
		return !host_is_loopback(a); /* "::1", or ":8080", which is every interface */
	if (str_ends(a, STR(":0")))          /* any port that is free: the address is what counts */
		a.n -= 2;
	if (parse_host_port(a, 1, &host, &port) < 0)
		return true;
	return !host_is_loopback(host);
}

struct str public_address(const struct settings *s, enum option *ret_id)
{
	const struct {
		enum option id;
		struct str address;
	} doors[] = {
		{ OPT_SERVE_BIND, s->serve_bind },
		{ OPT_SERVE_GUARD, s->serve_guard },
		{ OPT_SERVE_RUNNER, s->serve_runner },
		{ OPT_SERVE_OPENSANDBOX, s->serve_opensandbox },
	};

	for (size_t i = 0; i < sizeof(doors) / sizeof(doors[0]); i++)
		if (address_is_public(doors[i].address)) {
			*ret_id = doors[i].id;
			return doors[i].address;
		}
	return (struct str){ 0 };
}

struct str shown(const struct settings *s, enum option id, struct str value)
{
	return s->origin[id].raw.n ? s->origin[id].raw : value;
}

/* clang-format off */
static const char *const package_managers[] = {
	"apt", "apt-get", "aptitude", "apk", "dnf", "dpkg", "microdnf", "pacman", "rpm", "yum", "zypper", NULL,
};
static const char *const writers[] = {
	"adduser", "chmod", "chown", "cp", "groupadd", "install", "ln", "mkdir", "mv", "tee", "touch", "useradd", NULL,
};
/* clang-format on */

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '_' || c == '.';
}

static bool has_word(struct str text, const char *const *words)
{
	for (size_t i = 0; i < text.n;) {
		struct str word = { .p = text.p + i, .n = 0 };

		while (i + word.n < text.n && is_word_char(word.p[word.n]))
			word.n++;
		for (const char *const *w = words; word.n && *w; w++)
			if (str_eq(str_z(*w), word))
				return true;
		i += word.n ? word.n : 1;
	}
	return false;
}

static bool user_is_root(struct str user)
{
	struct str name = str_trim(user), group;

	(void)str_cut(name, ':', &name, &group);
	return str_eq(name, STR("0")) || str_eq(name, STR("root"));
}

struct setup_faults setup_check(const struct settings *s)
{
	bool installs = has_word(s->setup_command, package_managers);
	bool writes = installs || has_word(s->setup_command, writers);

	return (struct setup_faults){
		.not_root = installs && !user_is_root(s->user),
		.no_network = installs && (s->net_primary.n == 0 || str_eq(s->net_primary, STR("none"))),
		.readonly_root = writes && s->readonly_root,
	};
}

static bool is_network_name(struct str s)
{
	if (s.n == 0 || !is_word_char(s.p[0]) || s.p[0] == '-' || s.p[0] == '_' || s.p[0] == '.')
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_word_char(s.p[i]))
			return false;
	return true;
}

enum code network_check(struct str name, bool may_join, struct str *ret)
{
	static const struct str join = STR("container:");
	struct str n = str_trim(name);

	*ret = n.n ? n : STR("none");
	if (n.n == 0)
		return CODE_OK;
	if (str_eq_nocase(n, STR("host")))
		return CODE_NETWORK_HOST_BLOCKED;
	if (n.n >= join.n && str_eq_nocase((struct str){ .p = n.p, .n = join.n }, join)) {
		if (!may_join)
			return CODE_NETWORK_JOIN_BLOCKED;
		n = str_from(n, join.n);
	}
	return is_network_name(n) ? CODE_OK : CODE_NETWORK_NAME_INVALID;
}
