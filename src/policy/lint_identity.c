/* SPDX-License-Identifier: Apache-2.0 */
/* Who may call: tokens, pairs, agents. */
#include "policy/lint.h"

#include "policy/path.h"
#include "policy/posture.h"
#include "policy/session_key.h"

static void check_tokens(struct lint *l)
{
	for (size_t i = 0; i < l->c->n_tokens; i++) {
		const struct token *t = &l->c->tokens[i];

		if (t->all_pairs) {
			diag_add(l->d, SEVERITY_WARN, "token_all_pairs", &t->origin, STR("identity.tokens"),
				 "pairs '*': whoever holds this token can speak for every agent and chat");
			diag_fix(l->d, "pairs: [{ channel, agent, chat_id }], one token per caller");
		} else if (t->n_pairs == 0) {
			diag_add(l->d, SEVERITY_WARN, "token_without_pairs", &t->origin,
				 STR("identity.tokens"), "this token may speak for nobody");
			diag_fix(l->d, "pairs: [{ channel, agent, chat_id }]");
		}
	}
}

static bool is_upper_word(struct str s)
{
	bool letter = false;

	for (size_t i = 0; i < s.n; i++) {
		letter = letter || (s.p[i] >= 'A' && s.p[i] <= 'Z');
		if (s.p[i] >= 'a' && s.p[i] <= 'z')
			return false;
	}
	return letter && memchr(s.p, '_', s.n);
}

/* TG_GROUP_CODER_ID, CHANGE_ME: an example that nobody filled in. */
static bool is_placeholder(struct str id)
{
	return is_upper_word(id) || str_eq_nocase(id, STR("changeme")) || str_eq_nocase(id, STR("todo")) ||
	       str_eq_nocase(id, STR("xxx"));
}

static bool same_pair(const struct pair *a, const struct pair *b)
{
	return str_eq(a->channel, b->channel) && str_eq(a->agent, b->agent) && str_eq(a->chat_id, b->chat_id);
}

static void check_pair(struct lint *l, size_t at)
{
	const struct pair *p = &l->c->pairs[at];
	struct str key = STR("identity.pairs");

	if (is_placeholder(p->chat_id)) {
		diag_add(l->d, SEVERITY_WARN, "pair_placeholder", &p->origin, key,
			 "chat_id '" STR_FMT "' is a placeholder", STR_ARG(p->chat_id));
		diag_fix(l->d, "the id of the real chat, e.g. \"-100123\"");
	} else if (!chat_id_is_valid(p->chat_id) || !agent_id_is_strict(p->agent)) {
		diag_add(l->d, SEVERITY_WARN, "pair_never_matches", &p->origin, key,
			 "agent '" STR_FMT "' with chat '" STR_FMT "' never matches: no caller can say these",
			 STR_ARG(p->agent), STR_ARG(p->chat_id));
		diag_fix(
			l->d,
			"agent: lower case letters, digits, '-'; chat_id: letters, digits, '_', one '-' in front");
	}
	if (l->c->has_roster && !config_agent(l->c, p->agent)) {
		diag_add(l->d, SEVERITY_WARN, "pair_unknown_agent", &p->origin, key,
			 "agent '" STR_FMT "' is not configured", STR_ARG(p->agent));
		diag_fix(l->d, "add the agent, or remove the pair");
	}
	for (size_t i = 0; i < at; i++)
		if (same_pair(&l->c->pairs[i], p)) {
			diag_add(l->d, SEVERITY_WARN, "pair_twice", &p->origin, key,
				 "the same pair stands here before");
			diag_fix(l->d, "remove one of them");
			return;
		}
}

static struct str own_workspace(struct lint *l, const struct agent *a)
{
	if (!a->over || !a->over->has[OPT_WS_PATH] || str_trim(a->over->ws_path).n == 0)
		return (struct str){ 0 };
	return path_expand(l->a, l->f, a->over->ws_path);
}

static void check_agents(struct lint *l)
{
	for (size_t i = 1; i < l->c->n_agents; i++) {
		const struct agent *a = &l->c->agents[i];
		struct str dir = own_workspace(l, a);

		for (size_t k = 0; dir.n && k < i; k++) {
			if (!str_eq(dir, own_workspace(l, &l->c->agents[k])))
				continue;
			diag_add(l->d, SEVERITY_WARN, "agents_share_workspace", &a->over->origin[OPT_WS_PATH],
				 arena_printf(l->a, "agents." STR_FMT ".mounts.workspace.path",
					      STR_ARG(a->id)),
				 "the same directory as agent '" STR_FMT
				 "': each can change the other's files",
				 STR_ARG(l->c->agents[k].id));
			diag_fix(l->d, "a directory of its own");
			break;
		}
	}
}

void lint_identity(struct lint *l)
{
	check_tokens(l);
	for (size_t i = 0; i < l->c->n_pairs; i++)
		check_pair(l, i);
	check_agents(l);
}
