/* SPDX-License-Identifier: Apache-2.0 */
/* The spellings that strings and names of openclaw.json have: one function for each, and what it accepts in words. */
#include "config/openclaw_text_priv.h"

#include "base/parse.h"
#include "base/utf8.h"

static bool is_colour(struct str s)
{
	s = s.n > 0 && s.p[0] == '#' ? str_from(s, 1) : s;
	return s.n == 6 && all_of(s, is_hex);
}

static bool is_accent(struct str s)
{
	return str_eq(s, STR("theme")) || (s.n > 0 && s.p[0] == '#' && is_colour(s));
}

static bool is_variable(struct str s)
{
	return s.n >= 1 && s.n <= 128 && is_upper(s.p[0]) && all_of(s, is_variable_char);
}

static bool is_alias(struct str s)
{
	return s.n >= 1 && s.n <= 64 && is_lower(s.p[0]) && all_of(s, is_alias_char);
}

static bool is_id_char(char c)
{
	return is_alnum(c) || c == '_' || c == '-';
}

static bool is_agent(struct str s)
{
	return s.n >= 1 && s.n <= 64 && is_alnum(s.p[0]) && all_of(s, is_id_char);
}

static bool is_dashed_char(char c)
{
	return is_lower(c) || is_digit(c) || c == '-';
}

static bool is_dashed(struct str s)
{
	return s.n > 0 && all_of(s, is_dashed_char);
}

static bool is_runtime(struct str s)
{
	return is_dashed(s) && is_lower(s.p[0]) && !str_eq(s, STR("auto")) && !str_eq(s, STR("default"));
}

static bool is_metric_char(char c)
{
	return is_alnum(c) || memchr("_./-", c, 4);
}

static bool is_metric(struct str s)
{
	return s.n == 0 || (!is_digit(s.p[0]) && is_alnum(s.p[0]) && all_of(s, is_metric_char));
}

/* Digits at `at`, as a number; -1 when they are none. */
static int digits_at(struct str s, size_t at, size_t n)
{
	int value = 0;

	for (size_t i = at; i < at + n; i++) {
		if (i >= s.n || !is_digit(s.p[i]))
			return -1;
		value = value * 10 + (s.p[i] - '0');
	}
	return value;
}

static int days_of(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return month < 1 || month > 12 ? 0 : days[month - 1] + (month == 2 && leap);
}

/* 2026-01-31T23:59:59[.123]Z */
static bool is_moment(struct str s)
{
	int year = digits_at(s, 0, 4), month = digits_at(s, 5, 2), day = digits_at(s, 8, 2);
	int hour = digits_at(s, 11, 2), minute = digits_at(s, 14, 2), second = digits_at(s, 17, 2);

	if (s.n < 20 || s.p[4] != '-' || s.p[7] != '-' || s.p[10] != 'T' || s.p[13] != ':' ||
	    s.p[16] != ':' || s.p[s.n - 1] != 'Z')
		return false;
	if (s.n > 20 && (s.n < 22 || s.p[19] != '.' || !all_of((struct str){ s.p + 20, s.n - 21 }, is_digit)))
		return false;
	return year >= 0 && day >= 1 && day <= days_of(year, month) && hour >= 0 && hour < 24 &&
	       minute >= 0 && minute < 60 && second >= 0 && second < 60;
}

static bool is_payload_key(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (memchr(".[]", s.p[i], 3))
			return false;
	return s.n > 0;
}

/* A file below a directory that is known. */
static bool is_module(struct str s)
{
	struct str part, rest;
	bool more = true;

	s = rest = oc_trim(s);
	if (s.n == 0 || s.p[0] == '/' || s.p[0] == '~' || memchr(s.p, ':', s.n))
		return false;
	while (more) {
		size_t n = 0;

		while (n < rest.n && rest.p[n] != '/' && rest.p[n] != '\\')
			n++;
		part = (struct str){ rest.p, n };
		more = n < rest.n;
		rest = more ? str_from(rest, n + 1) : rest;
		if (str_eq(part, STR("..")))
			return false;
	}
	return true;
}

static bool is_issuer_char(char c)
{
	return is_lower(c) || is_digit(c) || c == '.' || c == '-';
}

static bool is_issuer(struct str s)
{
	const struct str head = STR("https://"), tail = STR(".cloudflareaccess.com");
	struct str team;

	if (!str_starts(s, head) || !str_ends(s, tail) || s.n <= head.n + tail.n)
		return false;
	team = (struct str){ s.p + head.n, s.n - head.n - tail.n };
	return all_of(team, is_issuer_char) && is_dashed((struct str){ team.p, 1 }) && team.p[0] != '-' &&
	       is_alnum(team.p[team.n - 1]);
}

static bool is_http_url(struct str s)
{
	struct oc_url u;

	return oc_url_parse(s, &u) && oc_url_is_http(&u);
}

static bool is_metadata_url(struct str s)
{
	struct oc_url u;

	return oc_url_parse(s, &u) && str_eq_nocase(u.scheme, STR("https")) && u.rest.n > 1 &&
	       u.rest.p[0] == '/' && u.rest.p[1] != '?' && u.rest.p[1] != '#';
}

static bool is_origin(struct str s)
{
	struct oc_url u;

	return oc_url_parse(s, &u) && oc_url_is_origin(&u);
}

static bool is_public_origin(struct str s)
{
	struct oc_url u;

	return oc_url_parse(s, &u) && oc_url_is_origin(&u) &&
	       (str_eq_nocase(u.scheme, STR("https")) || oc_url_is_local(&u));
}

static bool is_catalog_url(struct str s)
{
	struct oc_url u;

	return oc_url_parse(s, &u) && (str_eq_nocase(u.scheme, STR("https")) ||
				       (str_eq_nocase(u.scheme, STR("http")) && oc_url_is_local(&u)));
}

/* Letters, digits and, inside, '-'. */
static bool is_label(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_alnum(s.p[i]) && !(s.p[i] == '-' && i > 0 && i + 1 < s.n))
			return false;
	return s.n >= 1 && s.n <= 63;
}

bool oc_all_labels(struct str s)
{
	struct str label;

	while (str_cut(s, '.', &label, &s))
		if (!is_label(label))
			return false;
	return is_label(s);
}

static bool is_address(struct str s)
{
	struct parse_net net;

	return parse_net(s, &net) == 0 && !memchr(s.p, '/', s.n);
}

static bool is_domain(struct str s)
{
	struct str head, last;

	return s.n <= 220 && str_cut_last(s, '.', &head, &last) && oc_all_labels(s) &&
	       !all_of(last, is_digit) && !is_address(s);
}

/* An exact host: dots at the end are left off, brackets around an address too. */
static bool is_exact_host(struct str s)
{
	s = oc_trim(s);
	while (s.n > 0 && s.p[s.n - 1] == '.')
		s.n--;
	if (s.n > 2 && s.p[0] == '[' && s.p[s.n - 1] == ']')
		s = (struct str){ s.p + 1, s.n - 2 };
	if (is_address(s))
		return true;
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= 0x80) /* becomes ASCII somehow */
			return utf8_valid(s);
	return s.n > 0 && s.n <= 253 && oc_all_labels(s);
}

bool oc_is_model(struct str s)
{
	struct str provider, model;

	s = oc_trim(s);
	return str_cut(s, '/', &provider, &model) && oc_trim(provider).n > 0 && oc_trim(model).n > 0;
}

static bool is_model_or_none(struct str s)
{
	return s.n == 0 || oc_is_model(s);
}

static bool is_absolute(struct str s)
{
	return s.n > 0 && s.p[0] == '/';
}

static bool is_rooted(struct str s)
{
	return is_absolute(s) || str_eq(s, STR("~")) || str_starts(s, STR("~/"));
}

static bool is_any_absolute(struct str s)
{
	bool drive = s.n > 2 && is_alnum(s.p[0]) && !is_digit(s.p[0]) && s.p[1] == ':' &&
		     (s.p[2] == '/' || s.p[2] == '\\');
	bool share =
		s.n > 4 && str_starts(s, STR("\\\\")) && s.p[2] != '\\' && memchr(s.p + 3, '\\', s.n - 4);

	return is_absolute(s) || drive || share;
}

static bool is_program(struct str s)
{
	struct str t = oc_trim(s);

	for (size_t i = 0; i < t.n; i++)
		if (t.p[i] == '\0' || strchr("\r\n;&|`$<>\"'", t.p[i]))
			return false;
	return t.n > 0 && is_any_absolute(s);
}

static bool is_duration(struct str s)
{
	double ms;

	return oc_duration(s, 1, &ms);
}

static bool is_a_minute(struct str s)
{
	double ms;

	return s.n > 0 && !is_digit(s.p[s.n - 1]) && oc_duration(s, 1, &ms) && ms >= 60000 &&
	       oc_trim((struct str){ s.p + s.n - 1, 1 }).n > 0;
}

static bool is_size(struct str s)
{
	return oc_size(s);
}

static bool is_target(struct str s)
{
	static const char *const words[] = { "owner", "last", "none" };

	s = oc_trim(s);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_eq_nocase(s, str_z(words[i])))
			return true;
	return oc_is_channel(s, true);
}

static bool is_trimmed(struct str s)
{
	return s.n > 0 && oc_trim(s).n == s.n;
}

static bool is_filled(struct str s)
{
	return s.n > 0;
}

static bool is_not_blank(struct str s)
{
	return oc_trim(s).n > 0;
}

static bool is_role(struct str s)
{
	return oc_trim(s).n > 0 && oc_trim(s).n <= 128;
}

static bool is_header_char(char c)
{
	return is_alnum(c) || memchr("!#$%&'*+-.^_`|~", c, 15);
}

static bool is_header(struct str s)
{
	return s.n > 0 && all_of(s, is_header_char);
}

/* host/owner/repository in lower case, without .git */
static bool is_repository(struct str s)
{
	struct str part, rest = s;
	size_t parts = 1;

	for (; str_cut(rest, '/', &part, &rest); parts++)
		if (part.n == 0 || str_eq(part, STR(".")) || str_eq(part, STR("..")))
			return false;
	for (size_t i = 0; i < s.n; i++)
		if (is_upper(s.p[i]) || (unsigned char)s.p[i] <= ' ' || strchr("\\?#@:%\"<>^`{|}[]", s.p[i]))
			return false;
	return parts >= 3 && rest.n > 0 && !str_ends(s, STR(".git")) && !str_eq(rest, STR(".")) &&
	       !str_eq(rest, STR(".."));
}

/* clang-format off */
/* The plugins that OpenClaw ships. */
static const char *const plugins[] = {
	"a2a", "active-memory", "admin-http-rpc", "alibaba", "anthropic", "apple-fm", "azure-speech", "beam", "bonjour",
	"browser", "canvas", "clawrouter", "code-mode-quickjs", "copilot-proxy", "crabbox", "cua-computer", "deepgram",
	"device-pair", "document-extract", "elevenlabs", "fal", "file-transfer", "geolocation", "github",
	"github-copilot", "google", "huggingface", "imap", "linux-node", "litellm", "llm-task", "lmstudio", "logbook",
	"memory-core", "memory-lancedb", "memory-wiki", "microsoft", "microsoft-foundry", "migrate-claude",
	"migrate-hermes", "minimax", "nvidia", "oc-path", "ollama", "onepassword", "openai", "opencode-go", "openrouter",
	"policy", "reef", "runway", "senseaudio", "session-share", "sglang", "talk-voice", "telegram", "together",
	"tts-local-cli", "vault", "vllm", "web-readability", "webhooks", "workboard", "xai",
};
/* clang-format on */

static bool is_memory_slot(struct str s)
{
	struct str name = oc_trim(s);

	for (size_t i = 0; i < sizeof(plugins) / sizeof(plugins[0]); i++)
		if (str_eq(name, str_z(plugins[i])))
			return true;
	return name.n == 0 || str_eq_nocase(name, STR("none"));
}

/* clang-format off */
static const struct {
	bool (*ok)(struct str s);
	const char *accepted;
} texts[TEXT_COUNT_] = {
	[TEXT_COLOUR]        = { is_colour,        "a colour of six hexadecimal digits" },
	[TEXT_ACCENT]        = { is_accent,        "'theme', or a colour like #aabbcc" },
	[TEXT_VARIABLE]      = { is_variable,      "the name of a variable in capitals, at most 128 characters" },
	[TEXT_ALIAS]         = { is_alias,         "lower case letters, digits, '_' and '-', at most 64" },
	[TEXT_AGENT]         = { is_agent,         "letters, digits, '_' and '-', at most 64" },
	[TEXT_DASHED]        = { is_dashed,        "lower case letters, digits and '-'" },
	[TEXT_RUNTIME]       = { is_runtime,       "the name of a runtime: lower case letters, digits and '-'" },
	[TEXT_METRIC]        = { is_metric,        "letters, digits and '_./-', a letter in front" },
	[TEXT_MOMENT]        = { is_moment,        "a time like 2026-01-31T23:59:59Z" },
	[TEXT_PAYLOAD_KEY]   = { is_payload_key,   "a key without '.', '[' and ']'" },
	[TEXT_MODULE]        = { is_module,        "a relative path without '..'" },
	[TEXT_ISSUER]        = { is_issuer,        "https://<team>.cloudflareaccess.com" },
	[TEXT_HTTP_URL]      = { is_http_url,      "an http or https URL" },
	[TEXT_METADATA_URL]  = { is_metadata_url,  "an https URL with a path" },
	[TEXT_ORIGIN]        = { is_origin,        "scheme and host of an http or https URL" },
	[TEXT_PUBLIC_ORIGIN] = { is_public_origin, "scheme and host of an https URL, or of an http one of this machine" },
	[TEXT_CATALOG_URL]   = { is_catalog_url,   "an https URL, or an http one of this machine" },
	[TEXT_DOMAIN]        = { is_domain,        "a domain of two or more parts" },
	[TEXT_HOST]          = { is_exact_host,    "a host without scheme, path, wildcard and port" },
	[TEXT_MODEL]         = { is_model_or_none, "provider/model, or nothing" },
	[TEXT_ABSOLUTE]      = { is_absolute,      "an absolute path" },
	[TEXT_ROOTED]        = { is_rooted,        "an absolute path, or one that starts with ~" },
	[TEXT_ANY_ABSOLUTE]  = { is_any_absolute,  "an absolute path" },
	[TEXT_PROGRAM]       = { is_program,       "the absolute path of a program" },
	[TEXT_DURATION]      = { is_duration,      "a number with ms, s, m, h or d" },
	[TEXT_A_MINUTE]      = { is_a_minute,      "a duration of a minute or more" },
	[TEXT_SIZE]          = { is_size,          "a number with b, kb, mb, gb or tb" },
	[TEXT_TARGET]        = { is_target,        "'owner', 'last', 'none' or a channel" },
	[TEXT_TRIMMED]       = { is_trimmed,       "a name without blanks around it" },
	[TEXT_FILLED]        = { is_filled,        "a name that is not empty" },
	[TEXT_NOT_BLANK]     = { is_not_blank,     "a text that is not blank" },
	[TEXT_ROLE]          = { is_role,          "a name of at most 128 characters" },
	[TEXT_HEADER]        = { is_header,        "the name of a header" },
	[TEXT_REPOSITORY]    = { is_repository,    "host/owner/repository in lower case" },
	[TEXT_MEMORY_SLOT]   = { is_memory_slot,   "a plugin that OpenClaw has, or 'none'" },
	[TEXT_DIGITS]        = { oc_is_digits,        "digits" },
	[TEXT_URI]           = { oc_is_uri,           "a URL" },
	[TEXT_WS_URL]        = { oc_is_ws_url,        "a ws or wss URL" },
	[TEXT_HTTP_PREFIX]   = { oc_is_http_prefix,   "an http or https URL" },
	[TEXT_HTTPS]         = { oc_is_https,         "an https URL" },
	[TEXT_HTTP_NO_LOGIN] = { oc_is_http_no_login, "an http or https URL without a user" },
	[TEXT_RELAY]         = { oc_is_relay,         "scheme and host of an http or https URL" },
	[TEXT_FEISHU]        = { oc_is_feishu,        "'feishu', 'lark' or an https URL" },
	[TEXT_EMAIL]         = { oc_is_email,         "an address like a@b.example" },
	[TEXT_UUID]          = { oc_is_uuid,          "a UUID" },
	[TEXT_ACCOUNT]       = { oc_is_account,       "lower case letters, digits, '_' and '-', at most 64" },
	[TEXT_PEER]          = { oc_is_peer,          "lower case letters, digits and '._-', at most 64" },
	[TEXT_HANDLE]        = { oc_is_handle,        "lower case letters, digits, '_' and '-', at most 63" },
	[TEXT_WAKE_NAME]     = { oc_is_wake_name,     "one or two words in lower case" },
	[TEXT_SOCKET]        = { oc_is_socket,        "the absolute path of a socket" },
	[TEXT_FILE_NAME]     = { oc_is_file_name,     "the name of a file" },
	[TEXT_OPENAI_PROFILE] = { oc_is_openai_profile, "openai:<name>" },
	[TEXT_SHELL_VARIABLE] = { oc_is_shell_variable, "the name of a variable in capitals" },
};
/* clang-format on */

bool oc_text_ok(enum shape_text text, struct str s)
{
	return text == TEXT_ANY || texts[text].ok(s);
}

const char *oc_text_accepted(enum shape_text text)
{
	return texts[text].accepted;
}
