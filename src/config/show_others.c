/* SPDX-License-Identifier: Apache-2.0 */
/* .athena/settings.yaml, allowlist.json, appsettings.json and the variables of the ansible role. */
#include "config/show_as_priv.h"

static void put_z(struct foreign *x, struct node *to, const char *key, const char *value)
{
	node_z(x->a, node_at(x->a, to, key, NODE_TEXT), value);
}

void show_athena(struct foreign *x)
{
	struct node *list;

	x->carried[OPT_TRUST_DEFAULT] = true;
	x->carried_part[PART_RULES] = true;
	put_z(x, x->root, "sandbox.default_mode", enum_name(trust_names, x->c->base.trust_default));
	list = node_at(x->a, x->root, "sandbox.rules", NODE_ARR);
	for (size_t i = 0; i < x->c->n_rules; i++) {
		const struct trust_rule *r = &x->c->rules[i];
		struct node *n = node_add(x->a, list, (struct str){ 0 }, NODE_OBJ);

		node_str(x->a, node_add(x->a, n, STR("match"), NODE_TEXT), r->match);
		put_z(x, n, "mode", enum_name(trust_names, (int)r->trust));
		if (r->has_allow)
			node_strs(x->a, node_add(x->a, n, STR("allow"), NODE_ARR), r->allow);
		if (r->has_deny)
			node_strs(x->a, node_add(x->a, n, STR("deny"), NODE_ARR), r->deny);
	}
}

static struct node *channel_list(struct foreign *x, struct str channel)
{
	for (struct node *n = x->root->first; n; n = n->next)
		if (str_eq(n->key, channel))
			return n;
	return node_add(x->a, x->root, channel, NODE_ARR);
}

void show_allowlist(struct foreign *x)
{
	x->carried_part[PART_PAIRS] = true;
	(void)channel_list(x, STR("telegram"));
	for (size_t i = 0; i < x->c->n_pairs; i++) {
		const struct pair *p = &x->c->pairs[i];
		struct node *n = node_add(x->a, channel_list(x, p->channel), (struct str){ 0 }, NODE_OBJ);

		node_str(x->a, node_add(x->a, n, STR("agent"), NODE_TEXT), p->agent);
		node_str(x->a, node_add(x->a, n, STR("chat_id"), NODE_TEXT), p->chat_id);
	}
}

static void put_net_tool(struct foreign *x, struct node *tools, const struct tool_setting *t)
{
	static const char *const modes[ENFORCE_COUNT_] = {
		[ENFORCE_OFF] = "None", [ENFORCE_PREFER] = "Prefer", [ENFORCE_REQUIRE] = "Require"
	};
	struct str name = str_eq(t->tool, STR("exec")) ? STR("shell") : t->tool;
	struct node *n = node_add(x->a, tools, name, NODE_OBJ);

	if (t->has_enforce)
		put_z(x, n, "Mode", modes[t->enforce]);
	if (t->template.n)
		node_str(x->a, node_add(x->a, n, STR("Template"), NODE_TEXT), t->template);
	if (t->has_ttl)
		node_u64(x->a, node_add(x->a, n, STR("TTL"), NODE_TEXT), t->ttl_s);
}

void show_openclaw_net(struct foreign *x)
{
	static const enum option carried[] = { OPT_OSB_PROVIDER, OPT_OSB_ENDPOINT, OPT_OSB_API_KEY,
					       OPT_OSB_TTL_S };
	const struct settings *s = &x->c->base;
	struct node *sandbox = node_at(x->a, x->root, "OpenClaw.Sandbox", NODE_OBJ), *tools;

	for (size_t i = 0; i < sizeof(carried) / sizeof(carried[0]); i++)
		x->carried[carried[i]] = true;
	x->carried_part[PART_PER_TOOL] = true;
	put_z(x, sandbox, "Provider", enum_name(provider_names, s->osb_provider));
	if (s->osb_endpoint.n)
		node_option(x->a, node_at(x->a, sandbox, "Endpoint", NODE_TEXT), s, OPT_OSB_ENDPOINT,
			    x->o->reveal);
	if (s->osb_api_key.kind != REF_NONE)
		node_option(x->a, node_at(x->a, sandbox, "ApiKey", NODE_TEXT), s, OPT_OSB_API_KEY,
			    x->o->reveal);
	node_u64(x->a, node_at(x->a, sandbox, "DefaultTTL", NODE_TEXT), s->osb_ttl_s);
	if (x->c->n_per_tool == 0)
		return;
	tools = node_at(x->a, sandbox, "Tools", NODE_OBJ);
	/* The profile's own entries are that system's defaults: there without being said, and refused half-said. */
	for (size_t i = 0; i < x->c->n_per_tool; i++)
		if (x->c->per_tool[i].origin.kind != ORIGIN_PROFILE)
			put_net_tool(x, tools, &x->c->per_tool[i]);
}

/* clang-format off */
static const struct {
	const char *name;
	enum option id;
} vars[] = {
	{ "sandbox_mode",                   OPT_WHEN },
	{ "sandbox_scope",                  OPT_SCOPE },
	{ "sandbox_workspace_access",       OPT_WS_ACCESS },
	{ "sandbox_image",                  OPT_IMAGE },
	{ "sandbox_build_browser",          OPT_BUILD_BROWSER },
	{ "sandbox_docker_network",         OPT_NET_PRIMARY },
	{ "sandbox_network_allow",          OPT_ROUTE_TOOLS },
	{ "sandbox_network_exec_allow",     OPT_ROUTE_EXEC },
	{ "sandbox_network_docker_network", OPT_ROUTE_NETWORK },
	{ "sandbox_setup_script",           OPT_SETUP_SCRIPT },
	{ "sandbox_vault_path",             OPT_VAULT_PATH },
	{ "sandbox_vault_access",           OPT_VAULT_ACCESS },
};
/* clang-format on */

void show_ansible(struct foreign *x)
{
	const struct settings *s = &x->c->base;

	put_z(x, x->root, "sandbox_enabled", "{{ docker_enabled }}");
	x->carried[OPT_VAULT_ENABLED] = true;
	for (size_t i = 0; i < sizeof(vars) / sizeof(vars[0]); i++) {
		struct node *n = node_at(x->a, x->root, vars[i].name, NODE_TEXT);

		x->carried[vars[i].id] = true;
		if (vars[i].id == OPT_SCOPE)
			node_z(x->a, n, show_as_scope(x, s));
		else if (vars[i].id == OPT_WS_ACCESS)
			node_z(x->a, n, show_as_access(x, s));
		else
			node_option(x->a, n, s, vars[i].id, x->o->reveal);
	}
}
