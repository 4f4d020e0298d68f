/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allowlist.json: {"telegram": [{"agent": "g-coder", "chat_id": "-100123"}]}. Who may call, and nothing else.
 * A row that allows nobody is told and left out; the program that this file comes from drops it without a
 * word.
 */
#include "config/config_priv.h"

#define PAIRS_MAX 4096

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* [a-z0-9][a-z0-9-]{0,62} */
static bool agent_ok(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_alnum(s.p[i]) && !(s.p[i] == '-' && i > 0))
			return false;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] >= 'A' && s.p[i] <= 'Z')
			return false;
	return s.n >= 1 && s.n <= 63;
}

/* -?[A-Za-z0-9_]{1,64} */
static bool chat_ok(struct str s)
{
	if (s.n > 0 && s.p[0] == '-')
		s = str_from(s, 1);
	for (size_t i = 0; i < s.n; i++)
		if (!is_alnum(s.p[i]) && s.p[i] != '_')
			return false;
	return s.n >= 1 && s.n <= 64;
}

static bool channel_ok(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_alnum(s.p[i]) && s.p[i] != '_' && s.p[i] != '-')
			return false;
	return s.n >= 1 && s.n <= 64;
}

static void skip(struct load *l, const struct value *v, const struct at *at, const char *why)
{
	struct origin o = origin_of(at, v);

	diag_add(l->diags, SEVERITY_WARN, "skipped_pair", &o, at->key, "left out: %s", why);
}

static const char *why_not(const struct value *row)
{
	const struct value *agent = value_get(row, STR("agent")), *chat = value_get(row, STR("chat_id"));

	if (row->kind != VALUE_OBJ)
		return "not an object with agent and chat_id";
	if (!agent || agent->kind != VALUE_STR)
		return "agent is not a string";
	if (!chat || chat->kind != VALUE_STR)
		return "chat_id is not a string in quotes";
	if (!agent_ok(agent->s))
		return "no agent is called so, accepted: 1..63 of a-z, 0-9 and '-'";
	if (!chat_ok(chat->s))
		return "no chat is called so, accepted: 1..64 of A-Z, a-z, 0-9 and '_', after a '-' or not";
	return NULL;
}

static bool have_pair(const struct load *l, struct str channel, struct str agent, struct str chat)
{
	for (size_t i = 0; i < l->c->n_pairs; i++) {
		const struct pair *p = &l->c->pairs[i];

		if (str_eq(p->channel, channel) && str_eq(p->agent, agent) && str_eq(p->chat_id, chat))
			return true;
	}
	return false;
}

static void read_row(struct load *l, struct str channel, const struct value *row, const struct at *at)
{
	const char *why = why_not(row);
	struct str agent, chat;
	struct pair *p;

	if (why) {
		skip(l, row, at, why);
		return;
	}
	agent = value_get(row, STR("agent"))->s;
	chat = value_get(row, STR("chat_id"))->s;
	if (have_pair(l, channel, agent, chat))
		return;
	if (l->c->n_pairs == PAIRS_MAX) {
		bad(l, at, row, "too_many", "accepted: at most %d pairs", PAIRS_MAX);
		return;
	}
	p = load_add_pair(l);
	if (p)
		*p = (struct pair){
			.channel = channel, .agent = agent, .chat_id = chat, .origin = origin_of(at, row)
		};
}

static void read_channel(struct load *l, const struct member *m, const struct at *at)
{
	struct str channel = str_trim(m->key);

	if (m->v.kind != VALUE_ARR || !channel_ok(channel)) {
		bad(l, at, &m->v, "wrong_type",
		    "expected the name of a channel and a list of {agent, chat_id}, found " STR_FMT,
		    STR_ARG(value_quote(l, &m->v)));
		return;
	}
	for (size_t i = 0; i < m->v.arr.n; i++) {
		struct at down = at_index(l, at, i);

		read_row(l, channel, &m->v.arr.v[i], &down);
	}
}

void read_allowlist(struct load *l, const struct value *root, struct str file)
{
	const struct at at = { .file = file };

	if (root->kind != VALUE_OBJ) {
		bad(l, &at, root, "wrong_type", "expected {\"telegram\": [{agent, chat_id}]}, found " STR_FMT,
		    STR_ARG(value_quote(l, root)));
		return;
	}
	for (size_t i = 0; i < root->obj.n; i++) {
		struct at down = at_key(l, &at, root->obj.m[i].key);

		read_channel(l, &root->obj.m[i], &down);
	}
	if (l->c->n_pairs == 0)
		skip(l, root, &at, "no pair is allowed, so every call is refused");
}
