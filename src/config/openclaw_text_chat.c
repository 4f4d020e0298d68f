/* SPDX-License-Identifier: Apache-2.0 */
/* The spellings that only channels of openclaw.json have. */
#include "config/openclaw_text_priv.h"

bool oc_is_digits(struct str s)
{
	return s.n > 0 && all_of(s, is_digit);
}

bool oc_is_uri(struct str s)
{
	struct oc_url u;

	return oc_url_parse(s, &u) && oc_trim(s).n == s.n;
}

static bool is_uri_of(struct str s, const char *scheme)
{
	struct oc_url u;

	return oc_is_uri(s) && oc_url_parse(s, &u) && str_eq_nocase(u.scheme, str_z(scheme));
}

bool oc_is_ws_url(struct str s)
{
	return is_uri_of(s, "ws") || is_uri_of(s, "wss");
}

bool oc_is_http_prefix(struct str s)
{
	return oc_is_uri(s) && (str_starts(s, STR("http://")) || str_starts(s, STR("https://")));
}

bool oc_is_https(struct str s)
{
	return is_uri_of(s, "https");
}

/* What follows "http://" or "https://" in any case; empty when neither is in front. */
static struct str behind_http(struct str s)
{
	size_t n = s.n > 5 && (s.p[4] == 's' || s.p[4] == 'S') ? 8 : 7;

	if (s.n <= n || !str_eq_nocase((struct str){ s.p, n }, n == 8 ? STR("https://") : STR("http://")))
		return (struct str){ 0 };
	return str_from(s, n);
}

bool oc_is_http_no_login(struct str s)
{
	struct str rest = behind_http(s);

	for (size_t i = 0; i < rest.n && !memchr("/?#", rest.p[i], 3); i++)
		if (rest.p[i] == '@')
			return false;
	return rest.p || str_eq_nocase(s, STR("http://")) || str_eq_nocase(s, STR("https://"));
}

bool oc_is_relay(struct str s)
{
	struct str rest = behind_http(s);

	if (rest.n > 0 && rest.p[rest.n - 1] == '/')
		rest.n--;
	for (size_t i = 0; i < rest.n; i++)
		if (memchr("\\/?#@", rest.p[i], 5))
			return false;
	return rest.n > 0 && oc_is_uri(s);
}

bool oc_is_feishu(struct str s)
{
	return str_eq(s, STR("feishu")) || str_eq(s, STR("lark")) || oc_is_https(s);
}

static bool is_local_part(char c)
{
	return is_alnum(c) || memchr("_'+-.", c, 5);
}

bool oc_is_email(struct str s)
{
	struct str name, domain, head, last;

	if (!str_cut(s, '@', &name, &domain) || !str_cut_last(domain, '.', &head, &last))
		return false;
	if (name.n == 0 || !all_of(name, is_local_part) || name.p[0] == '.' ||
	    memchr(".'", name.p[name.n - 1], 2))
		return false;
	for (size_t i = 1; i < name.n; i++)
		if (name.p[i] == '.' && name.p[i - 1] == '.')
			return false;
	for (size_t i = 0; i < last.n; i++)
		if (!is_lower(last.p[i]) && !is_upper(last.p[i]))
			return false;
	return last.n >= 2 && oc_all_labels(head);
}

bool oc_is_uuid(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? s.p[i] != '-' : !is_hex(s.p[i]))
			return false;
	return s.n == 36 && s.p[14] >= '1' && s.p[14] <= '5' && memchr("89aAbB", s.p[19], 6);
}

bool oc_is_handle(struct str s)
{
	return s.n >= 1 && s.n <= 63 && all_of(s, is_alias_char) && s.p[0] != '_' && s.p[0] != '-';
}

bool oc_is_account(struct str s)
{
	return s.n >= 1 && s.n <= 64 && all_of(s, is_alias_char) && s.p[0] != '_' && s.p[0] != '-' &&
	       !str_eq(s, STR("constructor")) && !str_eq(s, STR("prototype"));
}

static bool is_peer_char(char c)
{
	return is_alias_char(c) || c == '.';
}

bool oc_is_peer(struct str s)
{
	return s.n >= 1 && s.n <= 64 && all_of(s, is_peer_char) && (is_lower(s.p[0]) || is_digit(s.p[0]));
}

/* One word of lower case letters and digits, or two; anything else around them. */
bool oc_is_wake_name(struct str s)
{
	size_t words = 0;

	for (size_t i = 0; i < s.n; i++) {
		bool in = is_lower(s.p[i]) || is_digit(s.p[i]);
		bool before = i > 0 && (is_lower(s.p[i - 1]) || is_digit(s.p[i - 1]));

		words += in && !before;
	}
	return words == 1 || words == 2;
}

bool oc_is_socket(struct str s)
{
	return s.n > 1 && s.p[0] == '/' && s.p[1] != '/' && s.p[s.n - 1] != '/' && !memchr(s.p, 0, s.n);
}

bool oc_is_file_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f || s.p[i] == '/' || s.p[i] == '\\' ||
		    (i > 0 && s.p[i] == '.' && s.p[i - 1] == '.'))
			return false;
	return (s.n > 0 && oc_trim(s).n == s.n) && s.n <= 2048;
}

bool oc_is_openai_profile(struct str s)
{
	const struct str head = STR("openai:");
	struct str name;

	if (!str_starts(s, head) || s.n == head.n)
		return false;
	name = str_from(s, head.n);
	for (size_t i = 0; i < name.n; i++)
		if ((unsigned char)name.p[i] <= ' ' || name.p[i] == '/' || (i == 0 && name.p[i] == ':'))
			return false;
	return true;
}

bool oc_is_shell_variable(struct str s)
{
	return s.n > 0 && !is_digit(s.p[0]) && all_of(s, is_variable_char);
}
