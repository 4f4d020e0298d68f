/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Session keys, as OpenClaw writes them (agent:<id>:<rest>) and as the other documents do (any word). Nothing is looked
 * up here and nothing is decided: a key is taken apart, an agent id is normalised.
 */
#pragma once

#include "policy/policy_priv.h"

#define SESSION_KEY_MAX 1024
#define AGENT_ID_MAX 64

enum session_shape {
	SESSION_MALFORMED =
		0, /* starts with agent: but does not go on as it must; or too long, or control characters */
	SESSION_MISSING,  /* blank */
	SESSION_UNSCOPED, /* no agent: in front */
	SESSION_AGENT,    /* agent and rest are filled */
};

struct session_key {
	struct str raw;   /* trimmed */
	struct str agent; /* as written, trimmed; not normalised */
	struct str rest;  /* behind agent:<id>: ; the whole key when unscoped */
};

enum session_shape session_key_parse(struct str key, struct session_key *ret);
/* Upstream's rules alone: any length, any character. */
enum session_shape session_key_split(struct str key, struct session_key *ret);

/*
 * Lower case; every run of other characters than [a-z0-9_-] becomes one '-', none of them at the ends; at most 64. False
 * when nothing is left (then *ret is "main", as upstream has it).
 */
bool agent_id_normalise(struct arena *a, struct str id, struct str *ret);

/* ^[a-z0-9][a-z0-9-]{0,62}$ and ^-?[A-Za-z0-9_]{1,64}$: what a remote caller may say. */
bool agent_id_is_strict(struct str id);
bool chat_id_is_valid(struct str id);
bool channel_is_valid(struct str channel); /* [A-Za-z0-9_-]{1,64} */

/* The rest of a sub-agent's key starts with "subagent:". */
bool session_rest_is_subagent(struct str rest);

/* <channel>:group:<id> or <channel>:channel:<id>; false when the rest names no group. */
bool session_rest_group(struct str rest, struct str *ret_channel, struct str *ret_group);
/* The first part of the rest, when it is the id of a chat channel; empty otherwise. */
struct str session_rest_channel(struct str rest);

/* White space at both ends as JavaScript sees it: Unicode's too. */
struct str trim_unicode(struct str s);
/* ASCII only. */
struct str lower_ascii(struct arena *a, struct str s);
