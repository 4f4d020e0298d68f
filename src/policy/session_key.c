/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/session_key.h"
#include "policy/tooltables.h"

#include "base/utf8.h"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z');
}

static bool is_id_char(char c)
{
	return is_alnum(c) || c == '_' || c == '-';
}

struct str lower_ascii(struct arena *a, struct str s)
{
	char *p = arena_alloc(a, s.n + 1, 1);

	if (!p)
		return (struct str){ .p = "", .n = 0 };
	for (size_t i = 0; i < s.n; i++)
		p[i] = lower(s.p[i]);
	return (struct str){ .p = p, .n = s.n };
}

static bool is_space(uint32_t c)
{
	return (c >= 0x09 && c <= 0x0d) || c == ' ' || c == 0xa0 || c == 0x1680 ||
	       (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
	       c == 0x3000 || c == 0xfeff;
}

/* The last code point starts at most three bytes before the last byte. */
static size_t last_char(struct str s, uint32_t *ret)
{
	for (size_t n = 1; n <= 4 && n <= s.n; n++)
		if (utf8_decode(str_from(s, s.n - n), ret) == (int)n)
			return n;
	*ret = UTF8_REPLACEMENT;
	return 1;
}

struct str trim_unicode(struct str s)
{
	uint32_t c;
	int n;

	while ((n = utf8_decode(s, &c)) > 0 && is_space(c))
		s = str_from(s, (size_t)n);
	while (s.n > 0) {
		size_t width = last_char(s, &c);

		if (!is_space(c))
			break;
		s.n -= width;
	}
	return s;
}

static bool is_printable(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return false;
	return true;
}

enum session_shape session_key_parse(struct str key, struct session_key *ret)
{
	enum session_shape shape = session_key_split(key, ret);

	return ret->raw.n > SESSION_KEY_MAX || !is_printable(ret->raw) ? SESSION_MALFORMED : shape;
}

enum session_shape session_key_split(struct str key, struct session_key *ret)
{
	const struct str prefix = STR("agent:");
	struct str raw = trim_unicode(key), agent, rest;

	*ret = (struct session_key){ .raw = raw, .rest = raw };
	if (raw.n == 0)
		return SESSION_MISSING;
	if (raw.n < prefix.n || !str_eq_nocase((struct str){ .p = raw.p, .n = prefix.n }, prefix))
		return SESSION_UNSCOPED;
	if (!str_cut(str_from(raw, prefix.n), ':', &agent, &rest))
		return SESSION_MALFORMED;
	agent = trim_unicode(agent);
	if (agent.n == 0 || rest.n == 0 || rest.p[0] == ':')
		return SESSION_MALFORMED;
	ret->agent = agent;
	ret->rest = rest;
	return SESSION_AGENT;
}

/* Runs of what may not be there become one '-'. */
static size_t dashed(struct str id, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < id.n; i++) {
		if (is_id_char(id.p[i]))
			out[n++] = lower(id.p[i]);
		else if (i == 0 || is_id_char(id.p[i - 1]))
			out[n++] = '-';
	}
	return n;
}

static bool is_clean_id(struct str id)
{
	if (id.n == 0 || id.n > AGENT_ID_MAX || !is_alnum(id.p[0]))
		return false;
	for (size_t i = 1; i < id.n; i++)
		if (!is_id_char(id.p[i]))
			return false;
	return true;
}

bool agent_id_normalise(struct arena *a, struct str id, struct str *ret)
{
	struct str out;
	char *p;

	id = trim_unicode(id);
	if (is_clean_id(id)) {
		*ret = lower_ascii(a, id);
		return true;
	}
	id = utf8_lower(a, id);
	p = arena_alloc(a, id.n + 1, 1);
	out = (struct str){ .p = p, .n = p ? dashed(id, p) : 0 };
	while (out.n > 0 && out.p[0] == '-')
		out = str_from(out, 1);
	while (out.n > 0 && out.p[out.n - 1] == '-')
		out.n--;
	if (out.n > AGENT_ID_MAX)
		out.n = AGENT_ID_MAX;
	*ret = out.n ? out : STR("main");
	return out.n > 0;
}

bool agent_id_is_strict(struct str id)
{
	if (id.n == 0 || id.n > 63)
		return false;
	for (size_t i = 0; i < id.n; i++) {
		char c = id.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (i > 0 && c == '-')))
			return false;
	}
	return true;
}

bool chat_id_is_valid(struct str id)
{
	if (id.n > 0 && id.p[0] == '-')
		id = str_from(id, 1);
	if (id.n == 0 || id.n > 64)
		return false;
	for (size_t i = 0; i < id.n; i++)
		if (!is_alnum(id.p[i]) && id.p[i] != '_')
			return false;
	return true;
}

bool channel_is_valid(struct str channel)
{
	if (channel.n == 0 || channel.n > 64)
		return false;
	for (size_t i = 0; i < channel.n; i++)
		if (!is_id_char(channel.p[i]))
			return false;
	return true;
}

static bool starts_nocase(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq_nocase((struct str){ .p = s.p, .n = prefix.n }, prefix);
}

bool session_rest_is_subagent(struct str rest)
{
	return starts_nocase(rest, STR("subagent:"));
}

bool session_rest_group(struct str rest, struct str *ret_channel, struct str *ret_group)
{
	struct str channel, kind, id;

	if (session_rest_is_subagent(rest))
		rest = str_from(rest, sizeof("subagent:") - 1);
	if (!str_cut(rest, ':', &channel, &id) || !str_cut(id, ':', &kind, &id))
		return false;
	if (!str_eq_nocase(kind, STR("group")) && !str_eq_nocase(kind, STR("channel")))
		return false;
	if (channel.n == 0 || id.n == 0)
		return false;
	*ret_channel = channel;
	*ret_group = id;
	return true;
}

struct str session_rest_channel(struct str rest)
{
	struct strs known = channel_ids();
	struct str first, tail;

	rest = trim_unicode(rest);
	while (rest.n > 0 && rest.p[0] == ':')
		rest = str_from(rest, 1);
	if (!str_cut(rest, ':', &first, &tail))
		first = rest;
	first = trim_unicode(first);
	for (size_t i = 0; i < known.n; i++)
		if (str_eq_nocase(known.v[i], first))
			return known.v[i];
	return (struct str){ .p = "", .n = 0 };
}
