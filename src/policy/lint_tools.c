/* SPDX-License-Identifier: Apache-2.0 */
/* Tool lists that name nothing or contradict each other, exec and elevated. */
#include "policy/lint.h"

#include "policy/posture.h"

enum { ELEVATED_MANY = 25 };

struct list_option {
	enum option id;
	const char *key;
};

static struct strs list_of(const struct settings *s, enum option id)
{
	const struct {
		enum option id;
		const struct strs *list;
	} lists[] = {
		{ OPT_TOOLS_ALLOW, &s->tools_allow },
		{ OPT_TOOLS_ALSO_ALLOW, &s->tools_also_allow },
		{ OPT_TOOLS_DENY, &s->tools_deny },
		{ OPT_SBX_ALLOW, &s->sbx_allow },
		{ OPT_SBX_ALSO_ALLOW, &s->sbx_also_allow },
		{ OPT_SBX_DENY, &s->sbx_deny },
		{ OPT_SUB_ALLOW, &s->sub_allow },
		{ OPT_SUB_ALSO_ALLOW, &s->sub_also_allow },
		{ OPT_SUB_DENY, &s->sub_deny },
		{ OPT_ROUTE_TOOLS, &s->route_tools },
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (lists[i].id == id)
			return *lists[i].list;
	return (struct strs){ 0 };
}

static bool covers_any(const struct lint *l, struct str entry)
{
	const struct strs one = { .v = &entry, .n = 1 };

	for (size_t i = 0; i < tool_count(); i++)
		if (tool_list_has(l->compat, one, str_z(tool_at(i)->name), NULL))
			return true;
	return false;
}

static const char *closest_tool(struct str name)
{
	const char *best = NULL;
	unsigned best_d = 3;

	for (size_t i = 0; i < tool_count(); i++) {
		unsigned d = str_distance(str_z(tool_at(i)->name), name, best_d);

		if (d < best_d && d < name.n) {
			best = tool_at(i)->name;
			best_d = d;
		}
	}
	return best;
}

static bool is_group(struct str entry)
{
	return entry.n >= 6 && str_eq_nocase((struct str){ .p = entry.p, .n = 6 }, STR("group:"));
}

/* A plugin's tool is nobody's mistake, so a name that resembles nothing is only noted. */
static void check_entry(struct lint *l, const struct lint_view *v, const struct list_option *o,
			struct str entry)
{
	struct str e = str_trim(entry);
	struct strs members;
	const char *meant;

	if (e.n == 0 || str_eq(e, STR("*")))
		return;
	if (is_group(e)) {
		if (tool_group(l->compat, e, &members) || str_eq_nocase(e, STR("group:plugins")))
			return;
		diag_add(l->d, SEVERITY_WARN, "tool_group_unknown", &v->own->origin[o->id],
			 lint_key(l, v, o->key), "'" STR_FMT "' is no group, so it covers no tool",
			 STR_ARG(shown(v->own, o->id, e)));
		diag_fix(l->d,
			 "group:runtime, fs, sessions, memory, web, ui, automation, messaging or nodes");
		return;
	}
	if (covers_any(l, e))
		return;
	meant = closest_tool(e);
	diag_add(l->d, meant ? SEVERITY_WARN : SEVERITY_INFO, "tool_pattern_unknown", &v->own->origin[o->id],
		 lint_key(l, v, o->key), "'" STR_FMT "' covers no tool that creel knows",
		 STR_ARG(shown(v->own, o->id, e)));
	if (meant)
		diag_fix(l->d, "did you mean '%s'?", meant);
	else
		diag_fix(l->d, "fine for a tool of a plugin; otherwise remove it");
}

static void check_names(struct lint *l, const struct lint_view *v)
{
	static const struct list_option lists[] = {
		{ OPT_TOOLS_ALLOW, "tools.allow" },
		{ OPT_TOOLS_ALSO_ALLOW, "tools.alsoAllow" },
		{ OPT_TOOLS_DENY, "tools.deny" },
		{ OPT_SBX_ALLOW, "tools.sandbox.allow" },
		{ OPT_SBX_ALSO_ALLOW, "tools.sandbox.alsoAllow" },
		{ OPT_SBX_DENY, "tools.sandbox.deny" },
		{ OPT_SUB_ALLOW, "tools.subagents.allow" },
		{ OPT_SUB_ALSO_ALLOW, "tools.subagents.alsoAllow" },
		{ OPT_SUB_DENY, "tools.subagents.deny" },
		{ OPT_ROUTE_TOOLS, "network.route.tools" },
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct strs list = list_of(v->own, lists[i].id);

		for (size_t k = 0; said(v->own, lists[i].id) && k < list.n; k++)
			check_entry(l, v, &lists[i], list.v[k]);
	}
}

static bool is_listed(const struct lint *l, struct strs list, struct str entry)
{
	for (size_t i = 0; i < list.n; i++)
		if (str_eq_nocase(str_trim(list.v[i]), str_trim(entry)) ||
		    str_eq(tool_canonical(l->a, l->compat, list.v[i]),
			   tool_canonical(l->a, l->compat, entry)))
			return true;
	return false;
}

/* Deny wins, so an entry that stands in both lists is an allow that was meant and is not had. */
static void check_contradictions(struct lint *l, const struct lint_view *v)
{
	static const struct {
		struct list_option allow, deny;
	} pairs[] = {
		{ { OPT_TOOLS_ALLOW, "tools.allow" }, { OPT_TOOLS_DENY, "tools.deny" } },
		{ { OPT_TOOLS_ALSO_ALLOW, "tools.alsoAllow" }, { OPT_TOOLS_DENY, "tools.deny" } },
		{ { OPT_SBX_ALLOW, "tools.sandbox.allow" }, { OPT_SBX_DENY, "tools.sandbox.deny" } },
		{ { OPT_SBX_ALSO_ALLOW, "tools.sandbox.alsoAllow" }, { OPT_SBX_DENY, "tools.sandbox.deny" } },
		{ { OPT_SUB_ALLOW, "tools.subagents.allow" }, { OPT_SUB_DENY, "tools.subagents.deny" } },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct strs allow = list_of(v->s, pairs[i].allow.id), deny = list_of(v->s, pairs[i].deny.id);

		if (!v->own->has[pairs[i].allow.id] && !v->own->has[pairs[i].deny.id])
			continue;
		for (size_t k = 0; k < allow.n; k++) {
			if (!is_listed(l, deny, allow.v[k]))
				continue;
			diag_add(l->d, SEVERITY_WARN, "tool_list_contradiction",
				 &v->s->origin[pairs[i].allow.id], lint_key(l, v, pairs[i].allow.key),
				 "'" STR_FMT "' is in %s too; deny wins",
				 STR_ARG(shown(v->s, pairs[i].allow.id, allow.v[k])), pairs[i].deny.key);
			diag_fix(l->d, "remove it from one of the two");
		}
	}
}

static bool is_denied(const struct lint *l, const struct settings *s, struct str tool)
{
	return tool_list_has(l->compat, s->tools_deny, tool, NULL);
}

/* Whoever may run commands may write files, unless the sandbox is read-only. */
static void check_exec_writes(struct lint *l, const struct lint_view *v)
{
	bool guarded =
		lint_is_sandboxed(l, v) && (v->s->ws_access == ACCESS_RO || v->s->ws_access == ACCESS_NONE);

	if (!v->own->has[OPT_TOOLS_DENY] || guarded || is_denied(l, v->s, STR("exec")) ||
	    !is_denied(l, v->s, STR("write")) || !is_denied(l, v->s, STR("edit")))
		return;
	diag_add(l->d, SEVERITY_WARN, "exec_still_writes", &v->own->origin[OPT_TOOLS_DENY],
		 lint_key(l, v, "tools.deny"), "write and edit are denied, but exec can still change files");
	diag_fix(l->d, "deny group:runtime too, or sandbox with mounts.workspace.access ro");
}

static void check_exec_host(struct lint *l, const struct lint_view *v)
{
	if (v->s->exec_host != EXEC_HOST_SANDBOX || v->s->when != WHEN_OFF ||
	    (v->agent && !v->own->has[OPT_EXEC_HOST] && !v->own->has[OPT_WHEN]))
		return;
	diag_add(l->d, SEVERITY_WARN, "exec_host_no_sandbox", &v->s->origin[OPT_EXEC_HOST],
		 lint_key(l, v, "tools.exec.host"),
		 "exec must run in a sandbox, but mode.when is off: exec is refused");
	diag_fix(l->d, "mode.when: \"all\" or \"non-main\", or tools.exec.host: \"auto\"");
}

static void check_senders(struct lint *l, const struct lint_view *v, const struct listmap_entry *e)
{
	struct str key = arena_printf(l->a, STR_FMT "." STR_FMT,
				      STR_ARG(lint_key(l, v, "tools.elevated.allowFrom")), STR_ARG(e->key));

	for (size_t i = 0; i < e->values.n; i++) {
		if (!str_eq(str_trim(e->values.v[i]), STR("*")))
			continue;
		diag_add(l->d, SEVERITY_WARN, "elevated_wildcard", &e->origin, key,
			 "'*' lets every sender run commands on the host");
		diag_fix(l->d, "list the senders that you trust");
		return;
	}
	if (e->values.n > ELEVATED_MANY) {
		diag_add(l->d, SEVERITY_WARN, "elevated_large", &e->origin, key,
			 "%zu senders may run commands on the host", e->values.n);
		diag_fix(l->d, "keep it to the few who need it, at most %d", ELEVATED_MANY);
	}
}

static void check_elevated(struct lint *l, const struct lint_view *v)
{
	const struct listmap *m = &v->own->elev_allow;

	for (size_t i = 0; v->own->has[OPT_ELEV_ALLOW] && i < m->n; i++)
		check_senders(l, v, &m->v[i]);
	if (said(v->own, OPT_ELEV_ENABLED) && v->own->elev_enabled && v->s->elev_allow.n == 0) {
		diag_add(l->d, SEVERITY_INFO, "elevated_nobody", &v->own->origin[OPT_ELEV_ENABLED],
			 lint_key(l, v, "tools.elevated.enabled"), "switched on, but no sender is listed");
		diag_fix(l->d, "tools.elevated.allowFrom.<channel>");
	}
}

void lint_tools(struct lint *l, const struct lint_view *v)
{
	check_names(l, v);
	check_contradictions(l, v);
	check_exec_writes(l, v);
	check_exec_host(l, v);
	check_elevated(l, v);
}
