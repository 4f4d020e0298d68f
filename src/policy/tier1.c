/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/tier1.h"
#include "policy/path.h"

static const struct origin builtin = { .kind = ORIGIN_BUILTIN };
static const enum stage here = STAGE_TOOL;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct str shells[] = {
	{ "sh", 2 },  { "bash", 4 }, { "zsh", 3 },  { "fish", 4 }, { "dash", 4 },
	{ "ash", 3 }, { "ksh", 3 },  { "mksh", 4 }, { "csh", 3 },  { "tcsh", 4 },
};
/* S2's list, when tools.exec.programs says nothing. */
static const struct str programs[] = { { "curl", 4 }, { "python3", 7 }, { "python", 6 }, { "pytest", 6 } };

static bool in(const struct str *list, size_t n, struct str word)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(list[i], word))
			return true;
	return false;
}

bool policy_tier1_tool(struct str name)
{
	static const struct str wire[] = { { "file_read", 9 }, { "file_write", 10 }, { "shell_exec", 10 } };

	return in(wire, COUNT(wire), name);
}

bool tier1_tool_allowed(const struct ctx *x, struct str canonical)
{
	static const struct str names[] = { { "read", 4 }, { "write", 5 }, { "exec", 4 } };

	/* S2's doors speak S2's words */
	if (x->r->via == VIA_GUARD || x->r->via == VIA_RUNNER)
		return policy_tier1_tool(x->r->tool);
	return in(names, COUNT(names), canonical);
}

/* --- curl: every argument is looked at (D2-1) --- */

/*
 * http(s)://host[:port][/…]; no user, no brackets, nothing that two parsers could read in two ways, and nothing that curl makes
 * several URLs of: {a,b} and [1-9].
 */
static bool url_split(struct str url, struct dest_host *ret_host, uint16_t *ret_port)
{
	struct str scheme, rest;
	size_t end = 0;
	bool tls;

	if (!str_cut(url, ':', &scheme, &rest) || !str_starts(rest, STR("//")))
		return false;
	tls = str_eq_nocase(scheme, STR("https"));
	if (!tls && !str_eq_nocase(scheme, STR("http")))
		return false;
	for (size_t i = 0; i < rest.n; i++)
		if ((unsigned char)rest.p[i] <= 0x20 || rest.p[i] == 0x7f || strchr("\\{}[]", rest.p[i]))
			return false;
	rest = str_from(rest, 2);
	while (end < rest.n && rest.p[end] != '/' && rest.p[end] != '?' && rest.p[end] != '#')
		end++;
	return dest_authority_parse((struct str){ .p = rest.p, .n = end }, tls ? 443 : 80, ret_host,
				    ret_port);
}

/* An entry that says where the host is comes before one that only names it. */
static bool find_internal(const struct settings *s, const struct dest_host *host, uint16_t port,
			  struct dest *ret)
{
	bool found = false;
	struct dest d;

	for (size_t i = 0; i < s->internal_hosts.n; i++) {
		if (dest_parse(s->internal_hosts.v[i], &d) || !dest_matches(&d, host, port) ||
		    (found && !d.addr.n))
			continue;
		*ret = d;
		found = true;
		if (d.addr.n)
			break;
	}
	ret->host = *host;
	ret->port = port;
	return found;
}

bool tier1_url_dest(const struct settings *s, struct str url, struct dest *ret)
{
	struct dest_host host;
	uint16_t port;

	return url_split(url, &host, &port) && find_internal(s, &host, port, ret);
}

static bool curl_url(struct ctx *x, struct str url)
{
	char text[DEST_TEXT_MAX];
	struct dest_host host;
	struct dest dest;
	uint16_t port;

	if (!url_split(url, &host, &port))
		return deny(x, here, CODE_INVALID_URL, &builtin,
			    "curl URL must be http(s) with hostname, not '" STR_FMT "'", STR_ARG(url));
	if (!find_internal(&x->d->eff, &host, port, &dest))
		return deny(x, here, CODE_HOST_NOT_ALLOWED, &x->d->eff.origin[OPT_INTERNAL_HOSTS],
			    "curl host not allowed: '" STR_FMT "' is not in network.internal.hosts",
			    STR_ARG(dest_text(&host, port, text)));
	return true;
}

/* ~/.curlrc is a file of the workspace here: whoever can write there would add any flag to every call. */
static bool without_curlrc(struct ctx *x, struct strs argv)
{
	struct str *v = ARENA_ARRAY(x->a, struct str, argv.n + 1);

	if (!v)
		return false;
	v[0] = argv.v[0];
	v[1] = STR("-q"); /* curl wants it first */
	for (size_t i = 1; i < argv.n; i++)
		v[i + 1] = argv.v[i];
	x->d->tool.argv = (struct strs){ .v = v, .n = argv.n + 1 };
	return true;
}

static bool curl_allowed(struct ctx *x, struct strs argv)
{
	static const struct str flags[] = { { "-f", 2 }, { "-s", 2 }, { "-S", 2 }, { "-fsS", 4 } };
	uint64_t seconds;
	size_t urls = 0;

	for (size_t i = 1; i < argv.n; i++) {
		struct str arg = argv.v[i];

		if (in(flags, COUNT(flags), arg))
			continue;
		if (str_eq(arg, STR("-m"))) {
			if (++i == argv.n || str_to_u64(argv.v[i], 3600, &seconds) < 0)
				return deny(x, here, CODE_CURL_NEEDS_SECONDS, &builtin,
					    "curl -m requires seconds");
			continue;
		}
		if (arg.n > 0 && arg.p[0] == '-')
			return deny(x, here, CODE_CURL_FLAG_NOT_ALLOWED, &builtin,
				    "curl flag not allowed: " STR_FMT, STR_ARG(arg));
		if (!curl_url(x, arg))
			return false;
		urls++;
	}
	if (urls == 0)
		return deny(x, here, CODE_INVALID_URL, &builtin, "curl without a URL");
	return without_curlrc(x, argv);
}

/* --- any command --- */

static bool shell_allowed(struct ctx *x, struct str program)
{
	const struct settings *s = &x->d->eff;

	if (s->shells == SHELLS_ALLOW && !is_tier1(x))
		return true;
	if (!in(shells, COUNT(shells), path_base(program)))
		return true;
	return deny(x, here, CODE_SHELL_DENIED, &s->origin[OPT_SHELLS], "shell denied: '" STR_FMT "'",
		    STR_ARG(program));
}

static bool program_allowed(struct ctx *x, struct str program)
{
	const struct settings *s = &x->d->eff;
	bool said = s->has[OPT_PROGRAMS] || s->programs.n > 0;

	if (!said && !is_tier1(x))
		return true;
	if (said ? in(s->programs.v, s->programs.n, program) : in(programs, COUNT(programs), program))
		return true;
	fix_it(x, STR("tools.exec.programs"));
	return deny(x, here, CODE_BINARY_DENIED, &s->origin[OPT_PROGRAMS],
		    "binary denied: '" STR_FMT "' is not in tools.exec.programs", STR_ARG(program));
}

static bool words_are_sound(struct strs argv)
{
	if (argv.n == 0 || argv.v[0].n == 0)
		return false;
	for (size_t i = 0; i < argv.n; i++)
		if (argv.v[i].n && memchr(argv.v[i].p, '\0', argv.v[i].n))
			return false;
	return true;
}

bool command_allowed(struct ctx *x)
{
	struct strs argv = x->d->tool.argv;
	bool is_question = is_local(x->r->via) && argv.n == 0;

	if (is_tier1(x) && x->r->argv.n == 0 && !is_question)
		return deny(x, here, CODE_INVALID_CMD, &builtin, "cmd must be a non-empty list of words");
	if (argv.n == 0)
		return true; /* asked about, not run */
	if (!words_are_sound(argv))
		return deny(x, here, CODE_INVALID_CMD, &builtin,
			    "a command starts with a program and holds no NUL byte");
	if (!shell_allowed(x, argv.v[0]) || !program_allowed(x, argv.v[0]))
		return false;
	return !is_tier1(x) || !str_eq(argv.v[0], STR("curl")) || curl_allowed(x, argv);
}
