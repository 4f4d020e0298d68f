/* SPDX-License-Identifier: Apache-2.0 */
/* Trust rules: those that never match, and grants that come to nothing. */
#include "policy/lint.h"

#include "policy/rule.h"
#include "policy/session_key.h"

/* Length of the [set] at `at`; 0 when it is not closed and so is an ordinary character. */
static size_t set_length(struct str p, size_t at)
{
	size_t n = 1;

	if (at + n < p.n && p.p[at + n] == '!')
		n++;
	if (at + n < p.n && p.p[at + n] == ']')
		n++;
	while (at + n < p.n && p.p[at + n] != ']')
		n++;
	return at + n < p.n ? n + 1 : 0;
}

static bool is_set(struct str p, size_t at)
{
	return p.p[at] == '[' && set_length(p, at) > 0;
}

/* Length of one step of a pattern: a '*', a '?', a [set] or a whole character. */
static size_t step(struct str p, size_t at)
{
	size_t n = 1;

	if (is_set(p, at))
		return set_length(p, at);
	while (((unsigned char)p.p[at] & 0x80) && at + n < p.n && ((unsigned char)p.p[at + n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* One step of `a` takes one step of `b`, whatever b's step stands for. Two sets are compared as written. */
static bool step_covers(struct str a, size_t i, struct str b, size_t j)
{
	const struct str x = { .p = a.p + i, .n = step(a, i) }, y = { .p = b.p + j, .n = step(b, j) };

	if (b.p[j] == '*')
		return false;
	if (a.p[i] == '?')
		return true;
	if (is_set(a, i) && !is_set(b, j) && b.p[j] != '?')
		return session_glob_matches(x, y);
	return str_eq(x, y);
}

bool glob_covers(struct str a, struct str b)
{
	size_t i = 0, j = 0, star = SIZE_MAX, mark = 0;

	while (j < b.n) {
		if (i < a.n && a.p[i] == '*') {
			star = i++;
			mark = j;
		} else if (i < a.n && step_covers(a, i, b, j)) {
			i += step(a, i);
			j += step(b, j);
		} else if (star != SIZE_MAX) {
			i = star + 1;
			mark += step(b, mark);
			j = mark;
		} else {
			return false;
		}
	}
	while (i < a.n && a.p[i] == '*')
		i++;
	return i == a.n;
}

static void check_reached(struct lint *l, size_t at)
{
	const struct trust_rule *r = &l->c->rules[at];

	for (size_t i = 0; i < at; i++) {
		const struct trust_rule *earlier = &l->c->rules[i];

		if (!glob_covers(earlier->match, r->match))
			continue;
		diag_add(l->d, SEVERITY_WARN, "rule_never_matches", &r->origin, STR("mode.trust.rules"),
			 "rule '" STR_FMT "' never matches: rule %zu, '" STR_FMT
			 "', takes every such session first",
			 STR_ARG(r->match), i + 1, STR_ARG(earlier->match));
		diag_fix(l->d, "move it before rule %zu, or remove it", i + 1);
		return;
	}
}

static bool list_has(struct strs list, struct str word)
{
	for (size_t i = 0; i < list.n; i++)
		if (str_eq_nocase(str_trim(list.v[i]), str_trim(word)))
			return true;
	return false;
}

static bool is_known(const struct lint *l, struct str entry)
{
	const struct strs one = { .v = &entry, .n = 1 };

	for (size_t i = 0; i < tool_count(); i++)
		if (tool_list_has(l->compat, one, str_z(tool_at(i)->name), NULL))
			return true;
	return str_eq(str_trim(entry), STR("*"));
}

/* The capabilities that an entry of allow is about. */
static unsigned caps_of(const struct lint *l, struct str entry)
{
	const struct trust_rule one = { .has_allow = true, .allow = { .v = &entry, .n = 1 } };

	return rule_caps(l->compat, &one, CAP_BIT(CAP_COUNT_) - 1);
}

static const char *first_cap(unsigned caps)
{
	unsigned i = 0;

	while (!(caps & CAP_BIT(i)))
		i++;
	return enum_name(cap_names, (int)i);
}

static void check_allow(struct lint *l, const struct trust_rule *r, struct str entry)
{
	unsigned beyond = caps_of(l, entry) & ~cap_matrix(r->trust);

	if (r->has_deny && list_has(r->deny, entry)) {
		diag_add(l->d, SEVERITY_WARN, "rule_contradicts", &r->origin, STR("allow"),
			 "rule '" STR_FMT "' both allows and denies '" STR_FMT "'; deny wins",
			 STR_ARG(r->match), STR_ARG(entry));
		diag_fix(l->d, "remove it from one of the two lists");
	} else if (beyond && !str_eq(str_trim(entry), STR("*"))) {
		diag_add(l->d, SEVERITY_WARN, "rule_beyond_trust", &r->origin, STR("allow"),
			 "rule '" STR_FMT "' allows '" STR_FMT
			 "', but mode %s has no %s; a rule only takes away",
			 STR_ARG(r->match), STR_ARG(entry), enum_name(trust_names, (int)r->trust),
			 first_cap(beyond));
		diag_fix(l->d, "remove it, or give the rule a mode that has it");
	}
}

static void check_known(struct lint *l, const struct trust_rule *r, struct strs list, const char *key)
{
	for (size_t i = 0; i < list.n; i++) {
		if (is_known(l, list.v[i]))
			continue;
		diag_add(l->d, SEVERITY_WARN, "rule_unknown_tool", &r->origin, str_z(key),
			 "rule '" STR_FMT "': '" STR_FMT "' is no tool, group or action that creel knows",
			 STR_ARG(r->match), STR_ARG(list.v[i]));
		diag_fix(l->d, "see `creel explain --matrix` for the names");
	}
}

/* agent:<id>:… of somebody who is not in the roster */
static void check_agent(struct lint *l, const struct trust_rule *r)
{
	struct session_key key;
	struct str id;

	if (!l->c->has_roster || session_key_parse(r->match, &key) != SESSION_AGENT ||
	    memchr(key.agent.p, '*', key.agent.n) || memchr(key.agent.p, '?', key.agent.n) ||
	    memchr(key.agent.p, '[', key.agent.n))
		return;
	(void)agent_id_normalise(l->a, key.agent, &id);
	if (config_agent(l->c, id))
		return;
	diag_add(l->d, SEVERITY_WARN, "rule_unknown_agent", &r->origin, STR("match"),
		 "rule '" STR_FMT "' is about agent '" STR_FMT "', which is not configured",
		 STR_ARG(r->match), STR_ARG(id));
	diag_fix(l->d, "add the agent, or remove the rule");
}

static void check_hosts(struct lint *l, const struct trust_rule *r)
{
	if (!r->over || !r->over->has[OPT_ROUTE_HOSTS])
		return;
	if (r->has_deny && r->over->route_hosts.n && list_has(r->deny, STR("network"))) {
		diag_add(l->d, SEVERITY_WARN, "rule_contradicts", &r->origin, STR("deny"),
			 "rule '" STR_FMT "' adds hosts and denies the network; deny wins",
			 STR_ARG(r->match));
		diag_fix(l->d, "remove 'network' from deny, or the hosts");
	}
	for (size_t i = 0; i < r->over->route_hosts.n; i++) {
		if (host_rule_valid(r->over->route_hosts.v[i]))
			continue;
		diag_add(l->d, SEVERITY_ERROR, "host_invalid", &r->origin, STR("network.route.hosts"),
			 "rule '" STR_FMT "': '" STR_FMT "' is not host[:port] or *.domain[:port]",
			 STR_ARG(r->match), STR_ARG(r->over->route_hosts.v[i]));
		diag_fix(l->d, "write the host alone, without scheme and path");
	}
}

void lint_rules(struct lint *l)
{
	for (size_t i = 0; i < l->c->n_rules; i++) {
		const struct trust_rule *r = &l->c->rules[i];

		check_reached(l, i);
		for (size_t k = 0; r->has_allow && k < r->allow.n; k++)
			check_allow(l, r, r->allow.v[k]);
		if (r->has_allow)
			check_known(l, r, r->allow, "allow");
		if (r->has_deny)
			check_known(l, r, r->deny, "deny");
		check_agent(l, r);
		check_hosts(l, r);
	}
}
