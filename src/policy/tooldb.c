/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy_priv.h"
#include "policy/session_key.h"
#include "policy/tooltables.h"

static const struct str *alias_find(const struct tool_alias *t, struct str name)
{
	for (; t->alias.p; t++)
		if (t->alias.n == name.n && str_eq_nocase(t->alias, name))
			return &t->name;
	return NULL;
}

const struct tool_info *tool_find(struct str canonical)
{
	for (size_t i = 0; i < n_tool_rows; i++)
		if (str_eq(str_z(tool_rows[i].info.name), canonical))
			return &tool_rows[i].info;
	return NULL;
}

size_t tool_count(void)
{
	return n_tool_rows;
}

const struct tool_info *tool_at(size_t i)
{
	return &tool_rows[i].info;
}

struct str tool_canonical(struct arena *a, enum compat compat, struct str asked)
{
	struct str name = str_trim(asked);
	const struct str *real = alias_find(tool_aliases(compat), name);

	if (!real)
		real = alias_find(asked_aliases, name);
	return real ? *real : lower_ascii(a, name);
}

bool tool_group(enum compat compat, struct str group, struct strs *ret)
{
	size_t n;
	const struct tool_group *g = tool_groups(compat, &n);

	for (size_t i = 0; i < n; i++)
		if (g[i].name.n == group.n && str_eq_nocase(g[i].name, group)) {
			*ret = g[i].members;
			return true;
		}
	return false;
}

struct str tool_list_name(enum compat compat, struct str entry)
{
	struct str name = str_trim(entry);
	const struct str *real = alias_find(tool_aliases(compat), name);

	return real ? *real : name;
}

/* <server>__<tool> */
static bool is_mcp_name(struct str name)
{
	for (size_t i = 1; i + 2 < name.n; i++)
		if (name.p[i] == '_' && name.p[i + 1] == '_')
			return true;
	return false;
}

static bool in(struct strs list, struct str name)
{
	for (size_t i = 0; i < list.n; i++)
		if (str_eq(list.v[i], name))
			return true;
	return false;
}

/* Upstream's entries that mean more than what they say. */
static bool upstream_covers(struct str entry, struct str tool)
{
	if (str_eq_nocase(entry, STR("update_plan")))
		return str_eq(tool, STR("progress_card"));
	if (str_eq_nocase(entry, STR("canvas")))
		return str_eq(tool, STR("show_widget"));
	return (str_eq_nocase(entry, STR("group:plugins")) || str_eq_nocase(entry, STR("bundle-mcp"))) &&
	       is_mcp_name(tool);
}

static bool entry_covers(enum compat compat, struct str entry, struct str tool)
{
	struct strs members;

	if (entry.n == 0)
		return false;
	if (entry.n > 6 && str_eq_nocase((struct str){ .p = entry.p, .n = 6 }, STR("group:")) &&
	    tool_group(compat, entry, &members))
		return in(members, tool);
	if (compat == COMPAT_OPENCLAW_2026_9 && upstream_covers(entry, tool))
		return true;
	return tool_glob_matches(entry, tool);
}

bool tool_list_has(enum compat compat, struct strs list, struct str canonical, struct str *ret_entry)
{
	for (size_t i = 0; i < list.n; i++)
		if (entry_covers(compat, tool_list_name(compat, list.v[i]), canonical)) {
			if (ret_entry)
				*ret_entry = list.v[i];
			return true;
		}
	return false;
}

static bool is_only_stars(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '*')
			return false;
	return true;
}

bool tool_list_names(enum compat compat, struct strs list, struct str name)
{
	for (size_t i = 0; i < list.n; i++) {
		struct str entry = tool_list_name(compat, list.v[i]);

		if (!is_only_stars(entry) && entry_covers(compat, entry, name))
			return true;
	}
	return false;
}
