/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about spellings share. */
#pragma once

#include "config/openclaw_shape_priv.h"

static inline bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static inline bool is_alnum(char c)
{
	return is_lower(c) || is_upper(c) || is_digit(c);
}

static inline bool all_of(struct str s, bool (*ok)(char))
{
	for (size_t i = 0; i < s.n; i++)
		if (!ok(s.p[i]))
			return false;
	return true;
}

static inline bool is_alias_char(char c)
{
	return is_lower(c) || is_digit(c) || c == '_' || c == '-';
}

static inline bool is_variable_char(char c)
{
	return is_upper(c) || is_digit(c) || c == '_';
}

/* host names */
bool oc_all_labels(struct str s);

/* openclaw_text_chat.c: spellings of channels */
typedef bool text_rule(struct str s);
text_rule oc_is_digits, oc_is_uri, oc_is_ws_url, oc_is_http_prefix, oc_is_https, oc_is_http_no_login,
	oc_is_relay, oc_is_feishu, oc_is_email, oc_is_uuid, oc_is_handle, oc_is_account, oc_is_peer,
	oc_is_wake_name, oc_is_socket, oc_is_file_name, oc_is_openai_profile, oc_is_shell_variable;
