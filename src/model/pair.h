/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a pair (channel, agent, chat) may look like: the same for the configuration and for tokens. */
#pragma once

#include "model/config.h"

bool pair_channel_valid(struct str s);
bool pair_agent_valid(struct str s);
bool pair_chat_valid(struct str s); /* ^-?[A-Za-z0-9_]{1,64}$ */

enum { PAIR_FIELDS = 3 };
struct pair_field {
	const char *key; /* as files have it */
	size_t offset;   /* of its slice in struct pair */
	bool (*valid)(struct str);
	const char *accepted;
};
extern const struct pair_field pair_fields[PAIR_FIELDS];
