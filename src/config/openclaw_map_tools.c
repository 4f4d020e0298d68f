/* SPDX-License-Identifier: Apache-2.0 */
/* Tool policy of openclaw.json into settings: tools of the file, of an agent, of a channel's groups. */
#include "config/openclaw_priv.h"

/* clang-format off */
static const struct {
	const char *key;
	enum option id;
	bool base_only;
} plain[] = {
	{ "profile",                 OPT_TOOLS_PROFILE },
	{ "allow",                   OPT_TOOLS_ALLOW },
	{ "alsoAllow",               OPT_TOOLS_ALSO_ALLOW },
	{ "deny",                    OPT_TOOLS_DENY },
	{ "byProvider",              OPT_TOOLS_BY_PROVIDER },
	{ "toolsBySender",           OPT_TOOLS_BY_SENDER },
	{ "sandbox.tools.allow",     OPT_SBX_ALLOW },
	{ "sandbox.tools.alsoAllow", OPT_SBX_ALSO_ALLOW },
	{ "sandbox.tools.deny",      OPT_SBX_DENY },
	{ "subagents.tools.allow",     OPT_SUB_ALLOW,      true },
	{ "subagents.tools.alsoAllow", OPT_SUB_ALSO_ALLOW, true },
	{ "subagents.tools.deny",      OPT_SUB_DENY,       true },
	{ "elevated.enabled",        OPT_ELEV_ENABLED },
	{ "fs.workspaceOnly",        OPT_FS_WORKSPACE_ONLY },
	{ "exec.host",               OPT_EXEC_HOST },
	{ "exec.mode",               OPT_EXEC_MODE },
};

/*
 * security and ask of older files, as the one word that replaced them; what asks more is the stricter
 * reading.
 */
static const struct {
	const char *security, *ask; /* NULL: any other */
	enum exec_mode mode;
} exec_modes[] = {
	{ "deny",      NULL,  EXEC_MODE_DENY },
	{ "allowlist", "off", EXEC_MODE_ALLOWLIST },
	{ "allowlist", "always", EXEC_MODE_ALWAYS },
	{ "allowlist", NULL,  EXEC_MODE_ASK },
	{ "full",      "off", EXEC_MODE_FULL },
	{ "full",      "always", EXEC_MODE_ALWAYS },
	{ "full",      NULL,  EXEC_MODE_ASK },
};
/* clang-format on */

static void set(struct oc *o, struct settings *s, enum option id, const struct value *v,
		const struct trail *t)
{
	struct at at = oc_at(o, t, v);
	struct value named = oc_with_names(o, v, t);

	(void)load_set(o->l, s, id, &named, &at, false);
}

static void map_exec(struct oc *o, struct settings *s, const struct value *tools, const struct trail *up)
{
	const struct value *security = value_path(tools, "exec.security"),
			   *ask = value_path(tools, "exec.ask");
	const struct trail t = { .up = up, .key = STR("exec.security") };
	struct origin origin;
	struct at at;

	for (size_t i = 0; security && i < sizeof(exec_modes) / sizeof(exec_modes[0]); i++) {
		if (!str_eq(security->s, str_z(exec_modes[i].security)) ||
		    (exec_modes[i].ask && !(ask && str_eq(ask->s, str_z(exec_modes[i].ask)))))
			continue;
		at = oc_at(o, &t, security);
		origin = origin_of(&at, security);
		(void)load_set_enum(o->l, s, OPT_EXEC_MODE, (int)exec_modes[i].mode, &origin);
		return;
	}
}

/* Senders may be numbers: as text, the way JavaScript writes them. Blank ones are nobody. */
static struct value senders(struct oc *o, const struct value *list)
{
	struct value v = *list;
	size_t n = 0;

	v.arr.v = ARENA_ARRAY(o->l->a, struct value, list->arr.n);
	for (size_t i = 0; v.arr.v && i < list->arr.n; i++) {
		struct value *to = &v.arr.v[n];

		*to = list->arr.v[i];
		if (to->kind != VALUE_STR)
			*to = (struct value){ .kind = VALUE_STR,
					      .line = to->line,
					      .col = to->col,
					      .s = oc_number_text(o, to) };
		to->s = oc_trim(to->s);
		n += to->s.n > 0;
	}
	v.arr.n = v.arr.v ? n : 0;
	return v;
}

static void map_elevated(struct oc *o, struct settings *s, const struct value *tools, const struct trail *up)
{
	const struct trail t = { .up = up, .key = STR("elevated.allowFrom") };
	const struct value *from = value_path(tools, "elevated.allowFrom");
	struct value v;

	if (!from)
		return;
	v = *from;
	v.index = NULL;
	v.obj.m = ARENA_ARRAY(o->l->a, struct member, from->obj.n);
	for (size_t i = 0; v.obj.m && i < from->obj.n; i++) {
		v.obj.m[i] = from->obj.m[i];
		v.obj.m[i].v = senders(o, &from->obj.m[i].v);
	}
	if (v.obj.m)
		set(o, s, OPT_ELEV_ALLOW, &v, &t);
}

void oc_map_tools(struct oc *o, struct settings *s, const struct value *tools, const struct trail *t)
{
	if (!tools)
		return;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		const struct trail down = { .up = t, .key = str_z(plain[i].key) };
		const struct value *v = value_path(tools, plain[i].key);

		if (v && !(plain[i].base_only && s != &o->l->c->base))
			set(o, s, plain[i].id, v, &down);
	}
	map_exec(o, s, tools, t);
	map_elevated(o, s, tools, t);
}

/* Of the channels only one thing is read: which tools exist in a group. The rest is not even looked at. */

static bool is_policy(const struct value *v)
{
	static const struct str lists[] = { { "allow", 5 }, { "alsoAllow", 9 }, { "deny", 4 } };

	if (!v || v->kind != VALUE_OBJ)
		return false;
	for (size_t i = 0; i < v->obj.n; i++) {
		bool known = false;

		for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
			known = known || str_eq(v->obj.m[i].key, lists[k]);
		if (!known || v->obj.m[i].v.kind != VALUE_ARR)
			return false;
		for (size_t k = 0; k < v->obj.m[i].v.arr.n; k++)
			if (v->obj.m[i].v.arr.v[k].kind != VALUE_STR)
				return false;
	}
	return true;
}

static void map_group(struct oc *o, struct str channel, const struct member *group, const struct trail *up)
{
	const struct trail t = { .up = up, .key = group->key }, at_tools = { .up = &t, .key = STR("tools") };
	const struct trail at_senders = { .up = &t, .key = STR("toolsBySender") };
	const struct value *tools = value_get(&group->v, STR("tools")),
			   *by = value_get(&group->v, STR("toolsBySender"));
	struct member m = { .line = group->line, .col = group->col };
	struct value one = { .kind = VALUE_OBJ, .line = group->line, .col = group->col, .obj = { &m, 1 } };

	if (by)
		oc_warn(o, &at_senders, by, "ignored_key",
			"lists for single senders of a group are not taken over");
	if (!tools)
		return;
	if (!is_policy(tools)) {
		oc_bad(o, &at_tools, tools, "wrong_value",
		       "accepted: an object with allow, alsoAllow and deny, each a list of names");
		return;
	}
	m.key = arena_printf(o->l->a, "%.*s:%.*s", (int)channel.n, channel.p, (int)group->key.n,
			     group->key.p);
	m.v = *tools;
	set(o, &o->l->c->base, OPT_TOOLS_BY_GROUP, &one, &at_tools);
}

static void map_groups(struct oc *o, struct str channel, const struct value *groups, const struct trail *t)
{
	for (size_t i = 0; groups && groups->kind == VALUE_OBJ && i < groups->obj.n; i++)
		map_group(o, channel, &groups->obj.m[i], t);
}

/* Some channels put their rooms one level down, in guilds or teams. */
static void map_nested(struct oc *o, struct str channel, const struct value *outer, const struct trail *t)
{
	for (size_t i = 0; outer && outer->kind == VALUE_OBJ && i < outer->obj.n; i++) {
		const struct trail down = { .up = t, .key = outer->obj.m[i].key },
				   rooms = { .up = &down, .key = STR("channels") };

		map_groups(o, channel, value_get(&outer->obj.m[i].v, STR("channels")), &rooms);
	}
}

void oc_map_channels(struct oc *o, const struct value *channels, const struct trail *t)
{
	for (size_t i = 0; channels && i < channels->obj.n; i++) {
		const struct member *c = &channels->obj.m[i];
		const struct trail down = { .up = t, .key = c->key };
		const struct trail groups = { .up = &down, .key = STR("groups") },
				   rooms = { .up = &down, .key = STR("channels") };
		const struct trail guilds = { .up = &down, .key = STR("guilds") },
				   teams = { .up = &down, .key = STR("teams") };

		map_groups(o, c->key, value_get(&c->v, STR("groups")), &groups);
		map_groups(o, c->key, value_get(&c->v, STR("channels")), &rooms);
		map_nested(o, c->key, value_get(&c->v, STR("guilds")), &guilds);
		map_nested(o, c->key, value_get(&c->v, STR("teams")), &teams);
	}
}
