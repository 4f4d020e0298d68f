/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask: pairs, tokens and agents of the canonical file. */
#include "config/load_priv.h"
#include "config/set_priv.h"
#include "model/pair.h"

static bool read_pair_field(struct load *l, size_t field, const struct value *v, const struct at *at,
			    struct pair *p)
{
	struct str *s = (struct str *)(void *)((char *)p + pair_fields[field].offset);
	struct str got = value_quote(l, v);

	if (v->kind == VALUE_INT && pair_fields[field].valid == pair_chat_valid)
		*s = got; /* chat ids are numbers, and people write them so */
	else if (!set_text(l, at, v, s))
		return false;
	if (pair_fields[field].valid(*s))
		return true;
	bad(l, at, v, "bad_value", STR_FMT " is not accepted here, accepted: %s", STR_ARG(got),
	    pair_fields[field].accepted);
	return false;
}

static bool read_pair(struct load *l, const struct value *v, const struct at *at, struct pair *ret)
{
	static const char *const known[] = { "channel", "agent", "chat_id", NULL };
	bool ok = true;

	*ret = (struct pair){ .origin = origin_of(at, v) };
	if (v->kind != VALUE_OBJ)
		return set_wrong_type(l, at, v, "an object with channel, agent and chat_id");
	for (size_t i = 0; i < v->obj.n; i++) {
		const struct member *m = &v->obj.m[i];
		struct at down = at_key(l, at, m->key);
		size_t f = 0;

		while (f < PAIR_FIELDS && !str_eq(m->key, str_z(pair_fields[f].key)))
			f++;
		if (f == PAIR_FIELDS)
			ok = (bad_key(l, at, m, known), false);
		else
			ok = read_pair_field(l, f, &m->v, &down, ret) && ok;
	}
	for (size_t f = 0; f < PAIR_FIELDS; f++) {
		if (value_get(v, str_z(pair_fields[f].key)))
			continue;
		bad(l, at, v, "missing_key", "%s is missing, accepted: %s", pair_fields[f].key,
		    pair_fields[f].accepted);
		ok = false;
	}
	return ok;
}

void read_pairs(struct load *l, const struct value *v, const struct at *at)
{
	if (v->kind != VALUE_ARR) {
		(void)set_wrong_type(l, at, v, "an array of pairs");
		return;
	}
	for (size_t i = 0; i < v->arr.n; i++) {
		struct at down = at_index(l, at, i);
		struct pair pair, *added;

		if (!read_pair(l, &v->arr.v[i], &down, &pair))
			continue;
		added = load_add_pair(l);
		if (added)
			*added = pair;
	}
}

static bool token_pairs(struct load *l, const struct value *v, const struct at *at, struct token *token)
{
	if (v->kind == VALUE_STR && str_eq(v->s, STR("*"))) {
		token->all_pairs = true;
		return true;
	}
	if (v->kind != VALUE_ARR)
		return set_wrong_type(l, at, v, "'*' or an array of pairs");
	token->pairs = ARENA_ARRAY(l->a, struct pair, v->arr.n);
	for (size_t i = 0; token->pairs && i < v->arr.n; i++) {
		struct at down = at_index(l, at, i);

		if (read_pair(l, &v->arr.v[i], &down, &token->pairs[token->n_pairs]))
			token->n_pairs++;
	}
	return true;
}

static bool token_ref(struct load *l, const struct value *v, const struct at *at, struct token *token)
{
	if (v->kind == VALUE_STR && !memchr(v->s.p, '\0', v->s.n) && load_parse_ref(v->s, &token->ref))
		return true;
	bad(l, at, v, "bad_ref", "not a reference to a secret, accepted: env:NAME or raw:VALUE");
	return false;
}

static void read_token(struct load *l, const struct value *v, const struct at *at)
{
	static const char *const known[] = { "ref", "pairs", NULL };
	struct token token = { .origin = origin_of(at, v) }, *added;

	if (v->kind != VALUE_OBJ) {
		bad(l, at, v, "wrong_type", "expected an object with ref and pairs");
		return;
	}
	for (size_t i = 0; i < v->obj.n; i++) {
		const struct member *m = &v->obj.m[i];
		struct at down = at_key(l, at, m->key);

		if (str_eq(m->key, STR("ref")))
			(void)token_ref(l, &m->v, &down, &token);
		else if (str_eq(m->key, STR("pairs")))
			(void)token_pairs(l, &m->v, &down, &token);
		else
			bad_key(l, at, m, known);
	}
	if (!value_get(v, STR("ref")))
		bad(l, at, v, "missing_key", "ref is missing, accepted: env:NAME or raw:VALUE");
	if (!value_get(v, STR("pairs")))
		bad(l, at, v, "missing_key", "pairs is missing, accepted: '*' or an array of pairs");
	added = load_add_token(l);
	if (added)
		*added = token;
}

void read_tokens(struct load *l, const struct value *v, const struct at *at)
{
	if (v->kind != VALUE_ARR) {
		(void)set_wrong_type(l, at, v, "an array of tokens");
		return;
	}
	for (size_t i = 0; i < v->arr.n; i++) {
		struct at down = at_index(l, at, i);

		read_token(l, &v->arr.v[i], &down);
	}
}

static bool read_default(struct load *l, const struct value *v, const struct at *at, struct agent *agent)
{
	if (v->kind != VALUE_BOOL)
		return set_wrong_type(l, at, v, "true or false");
	for (size_t i = 0; v->b && i < l->c->n_agents; i++) {
		if (!l->c->agents[i].is_default || &l->c->agents[i] == agent)
			continue;
		bad(l, at, v, "two_defaults",
		    "agent '" STR_FMT "' is the default already, accepted: one default",
		    STR_ARG(l->c->agents[i].id));
		return false;
	}
	agent->is_default = v->b;
	return true;
}

static void read_agent(struct load *l, const struct member *m, const struct at *at)
{
	struct origin o = origin_of(at, &m->v);
	struct agent *agent = load_agent(l, m->key, &o);
	struct value rest = m->v;

	if (!agent)
		return;
	rest.obj.m = ARENA_ARRAY(l->a, struct member, m->v.obj.n);
	rest.obj.n = 0;
	rest.index = NULL;
	for (size_t i = 0; rest.obj.m && i < m->v.obj.n; i++) {
		struct at down = at_key(l, at, m->v.obj.m[i].key);

		if (str_eq(m->v.obj.m[i].key, STR("default")))
			(void)read_default(l, &m->v.obj.m[i].v, &down, agent);
		else
			rest.obj.m[rest.obj.n++] = m->v.obj.m[i];
	}
	read_options(l, agent->over, F_AGENT, &rest, at, (struct str){ 0 });
}

void read_agents(struct load *l, const struct value *v, const struct at *at)
{
	if (v->kind != VALUE_OBJ) {
		(void)set_wrong_type(l, at, v, "an object: agent id to its settings");
		return;
	}
	l->c->has_roster = true;
	for (size_t i = 0; i < v->obj.n; i++) {
		const struct member *m = &v->obj.m[i];
		struct at down = at_key(l, at, m->key);

		if (!pair_agent_valid(m->key))
			bad(l, &down, &m->v, "bad_name",
			    "no agent id, accepted: lower-case letters, digits, - and _, at most 64");
		else if (m->v.kind != VALUE_OBJ)
			(void)set_wrong_type(l, &down, &m->v, "an object with default and settings");
		else
			read_agent(l, m, &down);
	}
}
