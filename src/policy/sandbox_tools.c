/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tool lists of sandboxed sessions: allow, alsoAllow and deny are each taken from the agent, else from the base,
 * else from the version's defaults; then groups are expanded. They are resolved for every decision, because explain
 * shows them, and count only when the session is sandboxed.
 */
#include "policy/policy_priv.h"
#include "policy/session_key.h"
#include "policy/tooltables.h"

#include "base/hash.h"
#include "base/utf8.h"

/* One configured list, trimmed and in lower case. `set` and empty is not the same as not set. */
struct picked {
	bool set;
	enum list_source source;
	struct strs list;
	struct origin origin;
};

static struct strs folded(struct arena *a, struct strs list)
{
	struct str *v = list.n > 0 ? ARENA_ARRAY(a, struct str, list.n) : NULL;

	if (!v)
		return (struct strs){ 0 };
	for (size_t i = 0; i < list.n; i++)
		v[i] = utf8_lower(a, trim_unicode(list.v[i]));
	return (struct strs){ .v = v, .n = list.n };
}

static struct picked pick(const struct ctx *x, enum option id, size_t offset)
{
	const struct settings *over = x->d->who.block ? x->d->who.block->over : NULL;
	const struct settings *from = over && over->has[id] ? over : &x->c->base;
	struct picked p = { .set = from->has[id], .origin = from->origin[id] };

	if (p.set) {
		p.source = from == over ? LIST_AGENT : LIST_GLOBAL;
		memcpy(&p.list, (const char *)from + offset, sizeof(p.list));
		p.list = folded(x->a, p.list);
	}
	return p;
}
#define PICK(x, id, field) pick((x), (id), offsetof(struct settings, field))

/* A list of names without doubles. The table keeps long lists from costing the square of their length. */
struct names {
	struct arena *a;
	struct str *v;
	size_t n, cap;
	size_t *slots; /* index + 1 */
	size_t n_slots;
};

static bool grow_slots(struct names *l)
{
	size_t n = l->n_slots ? l->n_slots * 4 : 64;
	size_t *slots = ARENA_ARRAY(l->a, size_t, n);

	if (!slots)
		return false;
	for (size_t i = 0; i < l->n; i++) {
		size_t at = hash_fast(l->v[i], 0) & (n - 1);

		while (slots[at])
			at = (at + 1) & (n - 1);
		slots[at] = i + 1;
	}
	l->slots = slots;
	l->n_slots = n;
	return true;
}

static void add(struct names *l, struct str name)
{
	struct str *grown;
	size_t at;

	if (name.n == 0 || (l->n * 2 >= l->n_slots && !grow_slots(l)))
		return;
	for (at = hash_fast(name, 0) & (l->n_slots - 1); l->slots[at]; at = (at + 1) & (l->n_slots - 1))
		if (str_eq(l->v[l->slots[at] - 1], name))
			return;
	if (l->n == l->cap) {
		grown = arena_grow(l->a, l->v, l->n, &l->cap, sizeof(*l->v), alignof(struct str));
		if (!grown)
			return;
		l->v = grown;
	}
	l->v[l->n++] = name;
	l->slots[at] = l->n;
}

/* Entries of a folded list as they count: alias and group resolved. */
static void add_expanded(struct names *l, enum compat compat, struct strs list)
{
	struct strs members;

	for (size_t i = 0; i < list.n; i++) {
		struct str name = tool_list_name(compat, list.v[i]);

		if (!tool_group(compat, name, &members)) {
			add(l, name);
			continue;
		}
		for (size_t k = 0; k < members.n; k++)
			add(l, members.v[k]);
	}
}

static bool holds(const struct names *l, struct str name)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->v[i], name))
			return true;
	return false;
}

static struct strs as_strs(const struct names *l)
{
	return (struct strs){ .v = l->v, .n = l->n };
}

/* The default denies, except those that the operator allows by name, group or glob. */
static void add_default_deny(struct names *l, enum compat compat, struct strs allow, struct strs also)
{
	struct strs defaults = sandbox_default_deny(compat);

	for (size_t i = 0; i < defaults.n; i++)
		if (!tool_list_has(compat, allow, defaults.v[i], NULL) &&
		    !tool_list_has(compat, also, defaults.v[i], NULL))
			add(l, defaults.v[i]);
}

/* Upstream: whoever may do anything may look at pictures, unless that is denied. */
static void add_image_tool(struct names *allow, struct names *deny, enum compat compat)
{
	struct str tool = sandbox_image_tool(compat);

	if (tool.n == 0)
		return;
	if (tool_list_has(compat, as_strs(deny), STR("image"), NULL) &&
	    !tool_list_has(compat, as_strs(deny), tool, NULL))
		add(deny, tool);
	if (allow->n > 0 && !holds(deny, tool) && !holds(allow, tool))
		add(allow, tool);
}

static void set_allow(struct tool_list *out, const struct picked *allow, const struct picked *also)
{
	const struct picked *by = allow;

	if (also->set && also->source == LIST_AGENT && allow->source != LIST_AGENT)
		by = also;
	else if (also->set && !allow->set)
		by = also;
	out->source = by->set ? by->source : LIST_DEFAULT;
	out->field = by == also ? "alsoAllow" : "allow";
	out->origin = by->set ? by->origin : (struct origin){ .kind = ORIGIN_BUILTIN };
}

/* Documents: every deny list counts, the base's too when the agent has its own. Upstream: the agent's replaces it. */
static void add_deny(struct ctx *x, struct names *l, enum compat compat, const struct picked *deny)
{
	if (compat == COMPAT_DOCUMENTS && deny->source == LIST_AGENT && x->c->base.has[OPT_SBX_DENY])
		add_expanded(l, compat, folded(x->a, x->c->base.sbx_deny));
	add_expanded(l, compat, deny->list);
}

void sandbox_tools_resolve(struct ctx *x)
{
	enum compat compat = compat_of(x);
	struct picked allow = PICK(x, OPT_SBX_ALLOW, sbx_allow);
	struct picked also = PICK(x, OPT_SBX_ALSO_ALLOW, sbx_also_allow);
	struct picked deny = PICK(x, OPT_SBX_DENY, sbx_deny);
	struct names a = { .a = x->a }, d = { .a = x->a };
	struct tool_list *out = &x->d->tool.sbx_allow;

	set_allow(out, &allow, &also);
	x->d->tool.sbx_deny = (struct tool_list){ .source = deny.set ? deny.source : LIST_DEFAULT,
						  .field = "deny",
						  .origin = deny.origin };
	if (!allow.set && !also.set && !deny.set) { /* nearly always: nothing to build */
		out->names = sandbox_default_allow(compat);
		x->d->tool.sbx_deny.names = sandbox_default_deny(compat);
		return;
	}
	if (!allow.set)
		add_expanded(&a, compat, sandbox_default_allow(compat));
	else
		add_expanded(&a, compat, allow.list);
	if (!allow.set || allow.list.n > 0)
		add_expanded(&a, compat, also.list);
	if (deny.set)
		add_deny(x, &d, compat, &deny);
	else
		add_default_deny(&d, compat, allow.list, also.list);
	add_image_tool(&a, &d, compat);
	out->names = as_strs(&a);
	x->d->tool.sbx_deny.names = as_strs(&d);
}
