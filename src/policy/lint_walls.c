/* SPDX-License-Identifier: Apache-2.0 */
/* Binds, networks, profiles, setup and limits: what would be refused, and what opens more than it seems to. */
#include "policy/lint.h"

#include "base/parse.h"
#include "policy/bind.h"
#include "policy/path.h"
#include "policy/posture.h"

static void check_bind_view(struct lint *l, const struct bind *b, const struct bind_view *view,
			    struct str key)
{
	struct str text = bind_shown(b);

	if (view->mode_missing && l->compat == COMPAT_DOCUMENTS) {
		diag_add(l->d, SEVERITY_WARN, "bind_mode_missing", &b->origin, key,
			 "'" STR_FMT "' says neither ro nor rw: it is bound read-only", STR_ARG(text));
		diag_fix(l->d, "end it in :ro or :rw");
	}
	if (!view->writable)
		return;
	if (bind_is_sensitive(view->source)) {
		diag_add(l->d, SEVERITY_WARN, "bind_sensitive_rw", &b->origin, key,
			 "'" STR_FMT "' looks like secrets and is writable", STR_ARG(text));
		diag_fix(l->d, "end it in :ro, or do not bind it");
	} else {
		diag_add(l->d, SEVERITY_WARN, "bind_rw_no_overlay", &b->origin, key,
			 "'" STR_FMT
			 "' is writable and no overlay protects it: changes reach the host at once",
			 STR_ARG(text));
		diag_fix(l->d, "end it in :ro, or work in the workspace with mounts.workspace.overlay");
	}
}

static void check_bind(struct lint *l, const struct lint_view *v, const struct bind *b, const char *option)
{
	const struct bind_rules rules = { .facts = l->f,
					  .s = v->s,
					  .upstream_options = l->compat == COMPAT_OPENCLAW_2026_9 };
	struct str key = lint_key(l, v, option);
	struct bind_view view;
	enum code code = bind_check(l->a, &rules, b, &view);

	if (str_trim(b->raw).n == 0)
		return;
	if (v->s->profile == PROFILE_TIER1) {
		diag_add(l->d, SEVERITY_ERROR, "bind_forbidden_in_tier1", &b->origin, key,
			 "'" STR_FMT "': tier 1 refuses every bind", STR_ARG(bind_shown(b)));
		diag_fix(l->d, "remove it");
		return;
	}
	if (code == CODE_OK) {
		check_bind_view(l, b, &view, key);
		return;
	}
	diag_add(l->d, SEVERITY_ERROR, code_word(code), &b->origin, key, "'" STR_FMT "': " STR_FMT,
		 STR_ARG(bind_shown(b)), STR_ARG(view.why));
	diag_fix(l->d, code == CODE_BIND_INVALID ? "/host/path:/path/inside:ro or :rw"
						 : "bind a directory of the project at a path of its own");
}

static void check_targets(struct lint *l, const struct lint_view *v, const struct binds *binds,
			  const char *option)
{
	for (size_t i = 1; i < binds->n; i++)
		for (size_t k = 0; k < i; k++) {
			if (!binds->v[i].target.n || !str_eq(path_normalise(l->a, binds->v[i].target),
							     path_normalise(l->a, binds->v[k].target)))
				continue;
			diag_add(l->d, SEVERITY_WARN, "bind_target_twice", &binds->v[k].origin,
				 lint_key(l, v, option),
				 "'" STR_FMT "' is replaced by '" STR_FMT "', which has the same target",
				 STR_ARG(bind_shown(&binds->v[k])), STR_ARG(bind_shown(&binds->v[i])));
			diag_fix(l->d, "remove one of them");
			break;
		}
}

void lint_binds(struct lint *l, const struct lint_view *v)
{
	for (size_t i = 0; v->own->has[OPT_BINDS] && i < v->own->binds.n; i++)
		check_bind(l, v, &v->own->binds.v[i], "mounts.binds");
	for (size_t i = 0; v->own->has[OPT_BROWSER_BINDS] && i < v->own->browser_binds.n; i++)
		check_bind(l, v, &v->own->browser_binds.v[i], "browser.binds");
	if (v->own->has[OPT_BINDS])
		check_targets(l, v, &v->s->binds, "mounts.binds");
	if (!v->agent && said(v->s, OPT_VAULT_ENABLED) && v->s->vault_enabled &&
	    v->s->vault_access == RW_RW && !v->s->ws_overlay) {
		diag_add(l->d, SEVERITY_WARN, "vault_rw_no_overlay", &v->s->origin[OPT_VAULT_ENABLED],
			 STR("mounts.vault"), "the vault is writable and no overlay protects it");
		diag_fix(l->d, "mounts.vault.access: \"ro\", or mounts.workspace.overlay: true");
	}
}

static void check_network(struct lint *l, const struct lint_view *v, enum option id, const char *key,
			  struct str name)
{
	struct str use, text = shown(v->s, id, name);
	enum code code = network_check(name, v->s->net_join, &use);

	if (!v->own->has[id])
		return;
	if (code == CODE_OK &&
	    (use.n < 10 || !str_eq_nocase((struct str){ .p = use.p, .n = 10 }, STR("container:"))))
		return;
	if (code == CODE_OK) {
		diag_add(l->d, SEVERITY_WARN, "network_join", &v->own->origin[id], lint_key(l, v, key),
			 "'" STR_FMT "' shares the network of another container", STR_ARG(text));
	} else {
		diag_add(l->d, SEVERITY_ERROR, code_word(code), &v->own->origin[id], lint_key(l, v, key),
			 "'" STR_FMT "' is refused whenever a sandbox is made", STR_ARG(text));
	}
	diag_fix(l->d, "none, bridge or the name of a network");
}

/* S1-46. OpenClaw takes any text for it; whoever enforces it later could not. */
static void check_cdp_range(struct lint *l, const struct lint_view *v)
{
	struct str range = str_trim(v->own->browser_cdp_range);
	struct parse_net net;

	if (!v->own->has[OPT_BROWSER_CDP_RANGE] || range.n == 0 || parse_net(range, &net) == 0)
		return;
	diag_add(l->d, SEVERITY_ERROR, "cdp_range_invalid", &v->own->origin[OPT_BROWSER_CDP_RANGE],
		 lint_key(l, v, "network.browser.cdpSourceRange"),
		 "'" STR_FMT "' is not a network in CIDR notation",
		 STR_ARG(shown(v->own, OPT_BROWSER_CDP_RANGE, range)));
	diag_fix(l->d, "such as 172.21.0.1/32; bits behind the prefix must be zero");
}

static void check_profile(struct lint *l, const struct lint_view *v, enum option id, const char *key,
			  struct str name)
{
	if (!v->own->has[id] || !str_eq_nocase(str_trim(name), STR("unconfined")))
		return;
	diag_add(l->d, SEVERITY_ERROR, "profile_unconfined", &v->own->origin[id], lint_key(l, v, key),
		 "'unconfined' is refused whenever a sandbox is made");
	diag_fix(l->d, "name a profile, or leave it out");
}

static void check_setup(struct lint *l, const struct lint_view *v)
{
	struct setup_faults f = setup_check(v->s);
	const struct origin *o = &v->s->origin[OPT_SETUP_COMMAND];
	struct str key = lint_key(l, v, "backend.setupCommand");

	if (v->agent && !v->own->has[OPT_SETUP_COMMAND] && !v->own->has[OPT_USER] &&
	    !v->own->has[OPT_READONLY_ROOT] && !v->own->has[OPT_NET_PRIMARY])
		return;
	if (f.not_root) {
		diag_add(l->d, SEVERITY_WARN, "setup_needs_root", o, key,
			 "installs packages, which needs root");
		diag_fix(l->d, "backend.user: \"0:0\", or an image that has them");
	}
	if (f.readonly_root) {
		diag_add(l->d, SEVERITY_WARN, "setup_readonly_root", o, key,
			 "writes to the root file system, which is read-only");
		diag_fix(l->d, "backend.readOnlyRoot: false, or an image that has it");
	}
	if (f.no_network) {
		diag_add(l->d, SEVERITY_WARN, "setup_no_network", o, key,
			 "installs packages, but the sandbox has no network to fetch them from");
		diag_fix(l->d, "an image that has them, or network.primary: \"bridge\"");
	}
}

/* A primary with a network is the only sandbox: D3-7. */
static void check_routes(struct lint *l, const struct lint_view *v)
{
	bool said_here =
		said(v->own, OPT_ROUTE_TOOLS) || said(v->own, OPT_ROUTE_EXEC) ||
		(v->own->has[OPT_NET_PRIMARY] && (said(v->s, OPT_ROUTE_TOOLS) || said(v->s, OPT_ROUTE_EXEC)));
	struct str primary;

	(void)network_check(v->s->net_primary, v->s->net_join, &primary);
	if (said_here && (v->s->route_tools.n || v->s->route_exec.n) && !str_eq(primary, STR("none"))) {
		diag_add(l->d, SEVERITY_WARN, "route_without_effect", &v->s->origin[OPT_NET_PRIMARY],
			 lint_key(l, v, "network.route"),
			 "the route lists have no effect: network.primary gives every tool a network");
		diag_fix(l->d, "network.primary: \"none\", or remove the lists");
	}
	for (size_t i = 0; v->own->has[OPT_ROUTE_HOSTS] && i < v->own->route_hosts.n; i++) {
		if (host_rule_valid(v->own->route_hosts.v[i]))
			continue;
		diag_add(l->d, SEVERITY_ERROR, "host_invalid", &v->own->origin[OPT_ROUTE_HOSTS],
			 lint_key(l, v, "network.route.hosts"),
			 "'" STR_FMT "' is not host[:port] or *.domain[:port]",
			 STR_ARG(shown(v->own, OPT_ROUTE_HOSTS, v->own->route_hosts.v[i])));
		diag_fix(l->d, "write the host alone, without scheme and path");
	}
}

/* The proxy dials addresses and asks nobody for names, so an entry without one reaches nothing. */
static void check_internal(struct lint *l, const struct lint_view *v)
{
	const struct origin *o = &v->own->origin[OPT_INTERNAL_HOSTS];
	struct str key = lint_key(l, v, "network.internal.hosts");

	for (size_t i = 0; v->own->has[OPT_INTERNAL_HOSTS] && i < v->own->internal_hosts.n; i++) {
		struct str entry = shown(v->own, OPT_INTERNAL_HOSTS, v->own->internal_hosts.v[i]);
		struct dest d;
		const char *wrong = dest_parse(v->own->internal_hosts.v[i], &d);

		if (wrong) {
			diag_add(l->d, SEVERITY_ERROR, "host_invalid", o, key, "'" STR_FMT "': %s",
				 STR_ARG(entry), wrong);
			diag_fix(l->d, "name[:port][=address[:port]], as in ollama:11434=127.0.0.1:11434");
		} else if (!d.addr.n) {
			diag_add(l->d, SEVERITY_INFO, "internal_host_without_address", o, key,
				 "'" STR_FMT
				 "' has no address, so calls to it are let through and reach nothing",
				 STR_ARG(entry));
			diag_fix(l->d, STR_FMT "%s=ADDRESS%s", STR_ARG(entry), d.port ? "" : ":PORT",
				 d.port ? "" : ":PORT");
		}
	}
}

static void check_limits(struct lint *l, const struct lint_view *v)
{
	const struct settings *s = v->s;

	if ((v->own->has[OPT_TIMEOUT_S] || v->own->has[OPT_TIMEOUT_MAX_S]) &&
	    s->timeout_s > s->timeout_max_s) {
		diag_add(l->d, SEVERITY_WARN, "timeout_above_max", &s->origin[OPT_TIMEOUT_S],
			 lint_key(l, v, "limits.timeout_s"),
			 "%llu is above limits.timeout_max_s, %llu, which wins",
			 (unsigned long long)s->timeout_s, (unsigned long long)s->timeout_max_s);
		diag_fix(l->d, "raise limits.timeout_max_s or lower limits.timeout_s");
	}
	if ((v->own->has[OPT_READ_BYTES] || v->own->has[OPT_READ_MAX]) && s->read_bytes > s->read_max) {
		diag_add(l->d, SEVERITY_WARN, "read_above_max", &s->origin[OPT_READ_BYTES],
			 lint_key(l, v, "limits.read"), "is above limits.read_max, which wins");
		diag_fix(l->d, "raise limits.read_max or lower limits.read");
	}
}

/* clang-format off */
static const struct {
	enum option id;
	const char *key;
} container_options[] = {
#define OPT(id, field, type, key, flags, def, min, max, names, help) { (flags) & F_CONTAINER ? OPT_##id : OPT_COUNT_, key },
#include "model/options.def"
#undef OPT
};
/* clang-format on */

/* The first option about containers that a person said here; NULL when there is none. */
static const char *first_container_option(const struct settings *own, enum option *ret_id)
{
	for (size_t i = 0; i < sizeof(container_options) / sizeof(container_options[0]); i++)
		if (container_options[i].id != OPT_COUNT_ && said(own, container_options[i].id)) {
			*ret_id = container_options[i].id;
			return container_options[i].key;
		}
	return NULL;
}

static bool some_agent_is_sandboxed(const struct lint *l)
{
	for (size_t i = 0; i < l->c->n_agents; i++)
		if (l->c->agents[i].over && l->c->agents[i].over->has[OPT_WHEN] &&
		    l->c->agents[i].over->when != WHEN_OFF)
			return true;
	return false;
}

/* OpenClaw's own sessions have none of S0's prefixes, so there it is hardly meant. */
static void tell_unused(struct lint *l, const struct lint_view *v, enum option id, const char *key)
{
	bool literal = l->c->base.athena_literal;
	bool openclaw = l->c->formats & 1u << FORMAT_OPENCLAW;

	diag_add(
		l->d, literal || openclaw ? SEVERITY_WARN : SEVERITY_INFO, "sandbox_settings_unused",
		&v->own->origin[id], lint_key(l, v, key),
		literal ? "has no effect while mode.when is off and no rule sandboxes a session"
			: "mode.when is off and there is no rule: only sessions like untrusted:* and creel run use it");
	diag_fix(l->d, "mode.when: \"non-main\" or \"all\"");
}

static void check_used(struct lint *l, const struct lint_view *v)
{
	enum option id;
	const char *key = first_container_option(v->own, &id);
	int scope = v->s->scope;

	if (!key)
		return;
	if (v->agent && scope == SCOPE_SHARED) {
		diag_add(l->d, SEVERITY_WARN, "shared_scope_ignores_agent", &v->own->origin[id],
			 lint_key(l, v, key), "ignored: a shared sandbox has one shape for all agents");
		diag_fix(l->d, "set it for all agents, or backend.scope: \"agent\"");
	} else if (!lint_is_sandboxed(l, v) && (v->agent || !some_agent_is_sandboxed(l))) {
		tell_unused(l, v, id, key);
	}
}

static void check_dangerous(struct lint *l, const struct lint_view *v)
{
	const struct {
		enum option id;
		bool on;
		const char *key, *text;
	} flags[] = {
		{ OPT_NET_JOIN, v->own->net_join, "network.dangerously_allow_namespace_join",
		  "sandboxes may share another container's network" },
		{ OPT_BINDS_RESERVED, v->own->binds_reserved, "mounts.dangerously_allow_reserved_targets",
		  "binds may cover the workspace" },
		{ OPT_BINDS_EXTERNAL, v->own->binds_external, "mounts.dangerously_allow_external_sources",
		  "binds may come from anywhere that is not blocked" },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (!v->own->has[flags[i].id] || !flags[i].on)
			continue;
		diag_add(l->d, SEVERITY_WARN, "dangerous_flag", &v->own->origin[flags[i].id],
			 lint_key(l, v, flags[i].key), "%s", flags[i].text);
		diag_fix(l->d, "remove it unless you need exactly that");
	}
}

/* What policy can do without, an attacker can do without, too. */
static void check_optional_walls(struct lint *l, const struct lint_view *v)
{
	if (!v->own->has[OPT_WALLS_OPTIONAL])
		return;
	for (size_t i = 0; i < v->own->walls_optional.n; i++) {
		diag_add(l->d, SEVERITY_WARN, "wall_optional", &v->own->origin[OPT_WALLS_OPTIONAL],
			 lint_key(l, v, "walls.optional"),
			 "'" STR_FMT "': calls run on a host that lacks this wall",
			 STR_ARG(v->own->walls_optional.v[i]));
		diag_fix(l->d, "leave it out where creel doctor finds the wall");
	}
}

void lint_walls(struct lint *l, const struct lint_view *v)
{
	check_network(l, v, OPT_NET_PRIMARY, "network.primary", v->s->net_primary);
	check_network(l, v, OPT_ROUTE_NETWORK, "network.route.network", v->s->route_network);
	check_network(l, v, OPT_BROWSER_NETWORK, "network.browser.network", v->s->browser_network);
	check_cdp_range(l, v);
	check_profile(l, v, OPT_SECCOMP_PROFILE, "backend.seccompProfile", v->s->seccomp_profile);
	check_profile(l, v, OPT_APPARMOR_PROFILE, "backend.apparmorProfile", v->s->apparmor_profile);
	check_setup(l, v);
	check_routes(l, v);
	check_internal(l, v);
	check_limits(l, v);
	check_optional_walls(l, v);
	check_used(l, v);
	check_dangerous(l, v);
}
