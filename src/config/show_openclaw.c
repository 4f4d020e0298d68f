/* SPDX-License-Identifier: Apache-2.0 */
/* openclaw.json: agents.defaults, agents.entries, tools, session; with S3's network keys. */
#include "config/show_as_priv.h"

enum where {
	IN_AGENT = 0, /* agents.defaults, agents.entries.<id> */
	IN_TOOLS,     /* the top, agents.entries.<id> */
	IN_TOP,       /* the top alone */
};

/* clang-format off */
static const struct {
	enum option id;
	enum where where;
	const char *path;
} rows[] = {
	{ OPT_WS_PATH,           IN_AGENT, "workspace" },
	{ OPT_BACKEND_NAME,      IN_AGENT, "sandbox.backend" },
	{ OPT_WS_ROOT,           IN_AGENT, "sandbox.workspaceRoot" },
	{ OPT_IMAGE,             IN_AGENT, "sandbox.docker.image" },
	{ OPT_CONTAINER_PREFIX,  IN_AGENT, "sandbox.docker.containerPrefix" },
	{ OPT_WORKDIR,           IN_AGENT, "sandbox.docker.workdir" },
	{ OPT_READONLY_ROOT,     IN_AGENT, "sandbox.docker.readOnlyRoot" },
	{ OPT_TMPFS,             IN_AGENT, "sandbox.docker.tmpfs" },
	{ OPT_USER,              IN_AGENT, "sandbox.docker.user" },
	{ OPT_CAP_DROP,          IN_AGENT, "sandbox.docker.capDrop" },
	{ OPT_ENV_SET,           IN_AGENT, "sandbox.docker.env" },
	{ OPT_SETUP_COMMAND,     IN_AGENT, "sandbox.docker.setupCommand" },
	{ OPT_PIDS,              IN_AGENT, "sandbox.docker.pidsLimit" },
	{ OPT_MEMORY,            IN_AGENT, "sandbox.docker.memory" },
	{ OPT_MEMORY_SWAP,       IN_AGENT, "sandbox.docker.memorySwap" },
	{ OPT_CPUS,              IN_AGENT, "sandbox.docker.cpus" },
	{ OPT_GPUS,              IN_AGENT, "sandbox.docker.gpus" },
	{ OPT_ULIMITS,           IN_AGENT, "sandbox.docker.ulimits" },
	{ OPT_SECCOMP_PROFILE,   IN_AGENT, "sandbox.docker.seccompProfile" },
	{ OPT_APPARMOR_PROFILE,  IN_AGENT, "sandbox.docker.apparmorProfile" },
	{ OPT_DNS,               IN_AGENT, "sandbox.docker.dns" },
	{ OPT_EXTRA_HOSTS,       IN_AGENT, "sandbox.docker.extraHosts" },
	{ OPT_BINDS_RESERVED,    IN_AGENT, "sandbox.docker.dangerouslyAllowReservedContainerTargets" },
	{ OPT_BINDS_EXTERNAL,    IN_AGENT, "sandbox.docker.dangerouslyAllowExternalBindSources" },
	{ OPT_NET_JOIN,          IN_AGENT, "sandbox.docker.dangerouslyAllowContainerNamespaceJoin" },
	{ OPT_BROWSER_ENABLED,   IN_AGENT, "sandbox.browser.enabled" },
	{ OPT_BROWSER_IMAGE,     IN_AGENT, "sandbox.browser.image" },
	{ OPT_BROWSER_PREFIX,    IN_AGENT, "sandbox.browser.containerPrefix" },
	{ OPT_BROWSER_NETWORK,   IN_AGENT, "sandbox.browser.network" },
	{ OPT_BROWSER_CDP_RANGE, IN_AGENT, "sandbox.browser.cdpSourceRange" },
	{ OPT_BROWSER_CDP_PORT,  IN_AGENT, "sandbox.browser.cdpPort" },
	{ OPT_BROWSER_VNC_PORT,  IN_AGENT, "sandbox.browser.vncPort" },
	{ OPT_BROWSER_NOVNC_PORT, IN_AGENT, "sandbox.browser.noVncPort" },
	{ OPT_BROWSER_HEADLESS,  IN_AGENT, "sandbox.browser.headless" },
	{ OPT_BROWSER_NOVNC,     IN_AGENT, "sandbox.browser.noVncEnabled" },
	{ OPT_BROWSER_HOST_CTL,  IN_AGENT, "sandbox.browser.allowHostControl" },
	{ OPT_BROWSER_AUTOSTART, IN_AGENT, "sandbox.browser.autoStart" },
	{ OPT_BROWSER_START_MS,  IN_AGENT, "sandbox.browser.autoStartTimeoutMs" },
	{ OPT_BROWSER_BINDS,     IN_AGENT, "sandbox.browser.binds" },
	{ OPT_SSH_TARGET,        IN_AGENT, "sandbox.ssh.target" },
	{ OPT_SSH_COMMAND,       IN_AGENT, "sandbox.ssh.command" },
	{ OPT_SSH_ROOT,          IN_AGENT, "sandbox.ssh.workspaceRoot" },
	{ OPT_PRUNE_IDLE_H,      IN_AGENT, "sandbox.prune.idleHours" },
	{ OPT_PRUNE_AGE_D,       IN_AGENT, "sandbox.prune.maxAgeDays" },
	{ OPT_SESSIONS_VISIBLE,  IN_AGENT, "sandbox.sessionToolsVisibility" },
	{ OPT_TOOLS_PROFILE,     IN_TOOLS, "tools.profile" },
	{ OPT_TOOLS_ALLOW,       IN_TOOLS, "tools.allow" },
	{ OPT_TOOLS_ALSO_ALLOW,  IN_TOOLS, "tools.alsoAllow" },
	{ OPT_TOOLS_DENY,        IN_TOOLS, "tools.deny" },
	{ OPT_TOOLS_BY_PROVIDER, IN_TOOLS, "tools.byProvider" },
	{ OPT_TOOLS_BY_SENDER,   IN_TOOLS, "tools.toolsBySender" },
	{ OPT_SBX_ALLOW,         IN_TOOLS, "tools.sandbox.tools.allow" },
	{ OPT_SBX_ALSO_ALLOW,    IN_TOOLS, "tools.sandbox.tools.alsoAllow" },
	{ OPT_SBX_DENY,          IN_TOOLS, "tools.sandbox.tools.deny" },
	{ OPT_SUB_ALLOW,         IN_TOP,   "tools.subagents.tools.allow" },
	{ OPT_SUB_ALSO_ALLOW,    IN_TOP,   "tools.subagents.tools.alsoAllow" },
	{ OPT_SUB_DENY,          IN_TOP,   "tools.subagents.tools.deny" },
	{ OPT_ELEV_ENABLED,      IN_TOOLS, "tools.elevated.enabled" },
	{ OPT_ELEV_ALLOW,        IN_TOOLS, "tools.elevated.allowFrom" },
	{ OPT_FS_WORKSPACE_ONLY, IN_TOOLS, "tools.fs.workspaceOnly" },
	{ OPT_EXEC_HOST,         IN_TOOLS, "tools.exec.host" },
	{ OPT_EXEC_MODE,         IN_TOOLS, "tools.exec.mode" },
	{ OPT_MAIN_KEY,          IN_TOP,   "session.mainKey" },
	{ OPT_SESSION_SCOPE,     IN_TOP,   "session.scope" },
	{ OPT_OWNERSHIP,         IN_TOP,   "agents.ownership" },
};
/* clang-format on */

/* Options with a place of their own below. */
static const enum option by_hand[] = { OPT_WHEN,      OPT_SCOPE,       OPT_WS_ACCESS,    OPT_NET_PRIMARY,
				       OPT_BINDS,     OPT_ROUTE_TOOLS, OPT_ROUTE_EXEC,   OPT_ROUTE_NETWORK,
				       OPT_ROUTE_ENV, OPT_VAULT_PATH,  OPT_VAULT_ACCESS, OPT_VAULT_ENABLED };

/* Words of ours that mean "nothing said" and that OpenClaw's schema does not know. */
static bool is_no_word(const struct settings *s, enum option id)
{
	return (id == OPT_TOOLS_PROFILE && s->tools_profile == TOOL_PROFILE_NONE) ||
	       (id == OPT_EXEC_MODE &&
		(s->exec_mode == EXEC_MODE_UNSET || s->exec_mode == EXEC_MODE_ALWAYS)) ||
	       (id == OPT_OWNERSHIP && s->ownership == OWNERSHIP_IMPLICIT) ||
	       (option_info(id)->type == TYPE_STR && ((const struct str *)option_value(s, id))->n == 0);
}

/* What `mode` has no word for is said by the two keys that it replaced. */
static void put_always(struct foreign *x, const struct settings *s, struct node *top)
{
	if (!s->has[OPT_EXEC_MODE] || s->exec_mode != EXEC_MODE_ALWAYS)
		return;
	node_str(x->a, node_at(x->a, top, "tools.exec.security", NODE_TEXT), STR("full"));
	node_str(x->a, node_at(x->a, top, "tools.exec.ask", NODE_TEXT), STR("always"));
}

/* `agent` is agents.defaults or one entry; `top` is the root or that same entry. */
static void put_rows(struct foreign *x, const struct settings *s, struct node *agent, struct node *top,
		     bool is_base)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct node *to = rows[i].where == IN_AGENT ? agent : top;

		x->carried[rows[i].id] = true;
		if (!s->has[rows[i].id] || (rows[i].where == IN_TOP && !is_base) || is_no_word(s, rows[i].id))
			continue;
		node_option(x->a, node_at(x->a, to, rows[i].path, NODE_TEXT), s, rows[i].id, x->o->reveal);
	}
	put_always(x, s, top);
}

static void put_binds(struct foreign *x, const struct settings *s, struct node *agent, bool is_base)
{
	bool vault = is_base && s->vault_enabled && s->vault_path.n;
	const char *access = s->vault_access == RW_RW ? "rw" : "ro";
	struct node *list;

	if (!s->has[OPT_BINDS] && !vault)
		return;
	list = node_at(x->a, agent, "sandbox.docker.binds", NODE_ARR);
	node_option(x->a, list, s, OPT_BINDS, x->o->reveal);
	if (vault)
		node_str(x->a, node_add(x->a, list, (struct str){ 0 }, NODE_TEXT),
			 arena_printf(x->a, "%.*s:%.*s:%s", (int)s->vault_path.n, s->vault_path.p,
				      (int)s->vault_path.n, s->vault_path.p, access));
}

/* S3's keys, only where something is routed: an empty list means that there is no second container. */
static void put_network(struct foreign *x, const struct settings *s, struct node *agent)
{
	bool tools = s->has[OPT_ROUTE_TOOLS] && s->route_tools.n,
	     exec = s->has[OPT_ROUTE_EXEC] && s->route_exec.n;

	if (tools)
		node_option(x->a, node_at(x->a, agent, "sandbox.networkAllow", NODE_ARR), s, OPT_ROUTE_TOOLS,
			    x->o->reveal);
	if (exec)
		node_option(x->a, node_at(x->a, agent, "sandbox.networkExecAllow", NODE_ARR), s,
			    OPT_ROUTE_EXEC, x->o->reveal);
	if ((tools || exec) && s->route_network.n)
		node_option(x->a, node_at(x->a, agent, "sandbox.networkDocker.network", NODE_TEXT), s,
			    OPT_ROUTE_NETWORK, x->o->reveal);
	if (s->has[OPT_ROUTE_ENV])
		node_option(x->a, node_at(x->a, agent, "sandbox.networkDocker.env", NODE_OBJ), s,
			    OPT_ROUTE_ENV, x->o->reveal);
}

/* The first lines of the block are always there for the defaults: scripts look for them (S3-100, S3-101). */
static void put_head(struct foreign *x, const struct settings *s, struct node *agent, bool is_base)
{
	if (is_base || s->has[OPT_WHEN])
		node_option(x->a, node_at(x->a, agent, "sandbox.mode", NODE_TEXT), s, OPT_WHEN, x->o->reveal);
	if (is_base || s->has[OPT_SCOPE])
		node_z(x->a, node_at(x->a, agent, "sandbox.scope", NODE_TEXT), show_as_scope(x, s));
	if (is_base || s->has[OPT_WS_ACCESS])
		node_z(x->a, node_at(x->a, agent, "sandbox.workspaceAccess", NODE_TEXT),
		       show_as_access(x, s));
	if (is_base || s->has[OPT_NET_PRIMARY])
		node_option(x->a, node_at(x->a, agent, "sandbox.docker.network", NODE_TEXT), s,
			    OPT_NET_PRIMARY, x->o->reveal);
}

static void put_settings(struct foreign *x, const struct settings *s, struct node *agent, struct node *top,
			 bool is_base)
{
	put_head(x, s, agent, is_base);
	put_binds(x, s, agent, is_base);
	put_rows(x, s, agent, top, is_base);
	put_network(x, s, agent);
}

void show_openclaw(struct foreign *x)
{
	struct node *entries;

	for (size_t i = 0; i < sizeof(by_hand) / sizeof(by_hand[0]); i++)
		x->carried[by_hand[i]] = true;
	x->carried_part[PART_AGENTS] = true;
	put_settings(x, &x->c->base, node_at(x->a, x->root, "agents.defaults", NODE_OBJ), x->root, true);
	if (x->c->n_agents == 0)
		return;
	entries = node_at(x->a, x->root, "agents.entries", NODE_OBJ);
	for (size_t i = 0; i < x->c->n_agents; i++) {
		const struct agent *g = &x->c->agents[i];
		struct node *n = node_add(x->a, entries, g->id, NODE_OBJ);

		if (g->is_default)
			node_bool(node_add(x->a, n, STR("default"), NODE_TEXT), true);
		put_settings(x, g->over, n, n, false);
	}
}
