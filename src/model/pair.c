/* SPDX-License-Identifier: Apache-2.0 */
#include "model/pair.h"

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* ^[a-z0-9_][a-z0-9_-]{0,63}$ */
bool pair_agent_valid(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || (i > 0 && c == '-')))
			return false;
	}
	return s.n >= 1 && s.n <= 64;
}

bool pair_chat_valid(struct str s)
{
	if (s.n && s.p[0] == '-')
		s = str_from(s, 1);
	for (size_t i = 0; i < s.n; i++)
		if (!is_alnum(s.p[i]) && s.p[i] != '_')
			return false;
	return s.n >= 1 && s.n <= 64;
}

bool pair_channel_valid(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_alnum(s.p[i]) && s.p[i] != '_' && s.p[i] != '-')
			return false;
	return s.n >= 1 && s.n <= 64;
}

const struct pair_field pair_fields[PAIR_FIELDS] = {
	{ "channel", offsetof(struct pair, channel), pair_channel_valid, "letters, digits, _ and -" },
	{ "agent", offsetof(struct pair, agent), pair_agent_valid,
	  "lower-case letters, digits, - and _, at most 64" },
	{ "chat_id", offsetof(struct pair, chat_id), pair_chat_valid,
	  "letters, digits and _, a leading -, at most 64" },
};
