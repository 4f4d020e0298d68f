/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the call can reach. Nothing, unless something says otherwise: a capability, a network of its own (browser,
 * primary), or the two lists that send a tool or a program to the session's second, networked sandbox.
 *
 * route.exec names programs. It matches the first word of a call that is certainly one simple command, exactly as
 * written: "gh" is not "/usr/bin/gh" and not "GH"; an entry with '*' is a glob. A line for a shell matches nothing (D3-1).
 */
#include "policy/policy_priv.h"
#include "policy/posture.h"
#include "policy/tier1.h"

static const enum stage here = STAGE_NETWORK;

static bool is_none(struct str network)
{
	return str_eq(network, STR("none"));
}

/* C6 and C7 for one option. Replaces the text in `*name` by the name to use. */
static bool check_name(struct ctx *x, enum option id, const char *key, struct str *name)
{
	const struct settings *s = &x->d->eff;
	struct str as_written = shown(s, id, *name);
	enum code code = network_check(*name, s->net_join, name);

	if (code == CODE_OK)
		return true;
	if (code == CODE_NETWORK_HOST_BLOCKED) {
		fix_it(x, arena_printf(x->a, "%s=bridge", key));
		return deny(x, here, code, &s->origin[id],
			    "%s: the host's own network is never shared with a sandbox: use bridge", key);
	}
	if (code == CODE_NETWORK_JOIN_BLOCKED)
		return deny(x, here, code, &s->origin[id],
			    "%s: '" STR_FMT "' joins the network of another container: use bridge, or set "
			    "network.dangerously_allow_namespace_join",
			    key, STR_ARG(as_written));
	return deny(x, here, code, &s->origin[id],
		    "%s: '" STR_FMT "' is not a network: none, bridge or a name of [A-Za-z0-9_.-]", key,
		    STR_ARG(as_written));
}

static void set_route(struct ctx *x, enum route route, struct str network, const struct origin *o,
		      struct str text)
{
	x->d->net.route = route;
	x->d->net.network = network;
	why(x, here, "route", str_z(enum_name(route_names, (int)route)), o, STR_FMT, STR_ARG(text));
}

static bool route_none(struct ctx *x, const struct origin *o, const char *text)
{
	set_route(x, ROUTE_NONE, STR("none"), o, str_z(text));
	return true;
}

/* S2-19: only what this very call names, not everything that is listed. The tool stage has found every URL sound. */
static bool dests_of_curl(struct ctx *x)
{
	struct strs argv = x->d->tool.argv;
	struct dest *dests = ARENA_ARRAY(x->a, struct dest, argv.n);
	struct str *hosts = ARENA_ARRAY(x->a, struct str, argv.n);
	char text[DEST_TEXT_MAX];
	size_t n = 0;

	for (size_t i = 1; dests && hosts && i < argv.n; i++) {
		if (!tier1_url_dest(&x->d->eff, argv.v[i], &dests[n]))
			continue;
		hosts[n] = arena_str(x->a, dest_text(&dests[n].host, dests[n].port, text));
		n++;
	}
	x->d->net.dests = dests;
	x->d->net.n_dests = n;
	x->d->net.hosts = (struct strs){ .v = hosts, .n = n };
	x->d->net.has_hosts = true;
	return dests && hosts;
}

/* Tier 1: S2's internal network for curl, whose hosts the tool stage checked, and nothing for anybody else. */
static bool route_tier1(struct ctx *x)
{
	const struct settings *s = &x->d->eff;
	struct strs argv = x->d->tool.argv;
	struct str network = s->internal_name;

	if (argv.n == 0 || x->d->tool.shell || !str_eq(argv.v[0], STR("curl")))
		return route_none(x, NULL, "a tier-1 call reaches nothing");
	if (!(x->d->mode.caps & CAP_BIT(CAP_NET_INTERNAL)))
		return route_none(x, NULL, "capability net.internal is absent");
	if (!check_name(x, OPT_INTERNAL_NAME, "network.internal.name", &network))
		return false;
	if (!dests_of_curl(x))
		return false;
	set_route(x, ROUTE_INTERNAL, network, &s->origin[OPT_INTERNAL_HOSTS],
		  STR("curl to a listed internal host"));
	return true;
}

static bool program_listed(struct strs list, struct str program)
{
	for (size_t i = 0; i < list.n; i++) {
		struct str entry = str_trim(list.v[i]);
		bool glob = entry.n && memchr(entry.p, '*', entry.n);

		if (glob ? session_glob_matches(entry, program) : str_eq(entry, program))
			return true;
	}
	return false;
}

/* The list that sends this call to the network sandbox; false when neither does. */
static bool is_routed(struct ctx *x, enum option *ret_list, struct str *ret_what)
{
	const struct settings *s = &x->d->eff;
	const struct decision *d = x->d;

	if (d->tool.name.n && tool_list_has((enum compat)s->compat, s->route_tools, d->tool.name, ret_what)) {
		*ret_list = OPT_ROUTE_TOOLS;
		return true;
	}
	if (d->tool.argv.n == 0 || d->tool.shell || !program_listed(s->route_exec, d->tool.argv.v[0]))
		return false;
	*ret_list = OPT_ROUTE_EXEC;
	*ret_what = d->tool.argv.v[0];
	return true;
}

/* The second sandbox is stricter than configured, whatever was configured. */
static void harden_twin(struct ctx *x)
{
	static const struct str all[] = { STR("ALL") };
	struct settings *s = &x->d->eff;

	if (!s->readonly_root)
		why(x, here, "readOnlyRoot", STR("true"), NULL, "forced in the network sandbox");
	if (s->cap_drop.n != 1 || !str_eq_nocase(s->cap_drop.v[0], all[0]))
		why(x, here, "capDrop", STR("ALL"), NULL, "forced in the network sandbox");
	s->readonly_root = true;
	s->cap_drop = (struct strs){ .v = all, .n = 1 };
}

static void name_twin(struct ctx *x)
{
	struct str key = x->d->place.key;
	char *out;

	if (x->d->place.scope == SCOPE_JOB || x->d->place.scope == SCOPE_LEASE)
		return;
	out = arena_alloc(x->a, key.n + 5, 1);
	if (!out)
		return;
	memcpy(out, key.p, key.n);
	memcpy(out + key.n, "-net", 4);
	x->d->place.key = (struct str){ .p = out, .n = key.n + 4 };
}

/* C24: with a host list the proxy decides by destination; an empty list is a list of no host. */
static bool route_out(struct ctx *x, enum route route, struct str network, const struct origin *o,
		      struct str text)
{
	const struct settings *s = &x->d->eff;

	if (is_none(network))
		return route_none(x, o, "the network sandbox has network none");
	if (!s->has[OPT_ROUTE_HOSTS]) {
		set_route(x, route, network, o, text);
		return true;
	}
	x->d->net.has_hosts = true;
	x->d->net.hosts = s->route_hosts;
	if (s->route_hosts.n == 0)
		return route_none(x, &s->origin[OPT_ROUTE_HOSTS],
				  "network.route.hosts is set and names no host");
	for (size_t i = 0; i < s->route_hosts.n; i++)
		if (!host_rule_valid(s->route_hosts.v[i]))
			return deny(x, here, CODE_HOST_NOT_ALLOWED, &s->origin[OPT_ROUTE_HOSTS],
				    "network.route.hosts: '" STR_FMT
				    "' is not host[:port] or *.domain[:port]",
				    STR_ARG(shown(s, OPT_ROUTE_HOSTS, s->route_hosts.v[i])));
	set_route(x, ROUTE_HOSTS, network, &s->origin[OPT_ROUTE_HOSTS],
		  STR("the proxy lets the listed hosts through and nothing else"));
	return true;
}

static bool route_twin(struct ctx *x, enum option list, struct str what)
{
	struct str network = x->d->eff.route_network;

	if (!check_name(x, OPT_ROUTE_NETWORK, "network.route.network", &network))
		return false;
	if (!route_out(x, ROUTE_NETWORK, network, &x->d->eff.origin[list],
		       arena_printf(x->a, "%s has '" STR_FMT "'",
				    list == OPT_ROUTE_TOOLS ? "network.route.tools" : "network.route.exec",
				    STR_ARG(what))))
		return false;
	if (x->d->net.route == ROUTE_NONE)
		return true;
	harden_twin(x);
	name_twin(x);
	return true;
}

/* C11: hosts that the matching rule itself adds, unless it also denies the network. */
static bool rule_adds_hosts(const struct ctx *x)
{
	const struct trust_rule *rule = x->d->mode.rule;

	if (!rule || !rule->over || !rule->over->has[OPT_ROUTE_HOSTS] || rule->over->route_hosts.n == 0)
		return false;
	for (size_t i = 0; i < rule->deny.n; i++)
		if (str_eq_nocase(str_trim(rule->deny.v[i]), STR("network")))
			return false;
	return true;
}

static bool route_without_net(struct ctx *x)
{
	bool browser = str_eq(x->d->tool.name, STR("browser"));
	enum option list = OPT_ROUTE_HOSTS;
	struct str what = { 0 };

	if (rule_adds_hosts(x) && (is_routed(x, &list, &what) || browser)) {
		x->d->net.twin = true;
		return route_twin(x, list == OPT_ROUTE_HOSTS ? OPT_ROUTE_TOOLS : list, x->d->tool.name);
	}
	return route_none(x, x->d->mode.rule ? &x->d->mode.rule->origin : NULL,
			  browser ? "capability net is absent: the browser starts and sees loopback alone"
				  : "capability net is absent");
}

static bool route_browser(struct ctx *x)
{
	struct str network = x->d->eff.browser_network;

	if (!check_name(x, OPT_BROWSER_NETWORK, "network.browser.network", &network))
		return false;
	return route_out(x, ROUTE_BROWSER, network, &x->d->eff.origin[OPT_BROWSER_NETWORK],
			 STR("the browser has a network of its own"));
}

static bool route_sandbox(struct ctx *x)
{
	const struct settings *s = &x->d->eff;
	struct str primary = s->net_primary, what = { 0 };
	enum option list;

	if (!is_upstream_view(x) && !check_name(x, OPT_NET_PRIMARY, "network.primary", &primary))
		return false;
	/* S3-49: a primary with a network is the only sandbox, and the lists say nothing. D3-2: either list makes two. */
	x->d->net.twin = is_none(primary) && (s->route_tools.n || s->route_exec.n);
	if (!(x->d->mode.caps & CAP_BIT(CAP_NET)))
		return route_without_net(x);
	if (str_eq(x->d->tool.name, STR("browser")))
		return route_browser(x);
	if (!is_none(primary))
		return route_out(x, ROUTE_PRIMARY, primary, &s->origin[OPT_NET_PRIMARY],
				 STR("one sandbox with this network"));
	if (x->d->net.twin && is_routed(x, &list, &what))
		return route_twin(x, list, what);
	return route_none(x, &s->origin[OPT_NET_PRIMARY],
			  x->d->net.twin ? "not on a route list: the isolated sandbox"
					 : "network.primary is none");
}

bool stage_network(struct ctx *x)
{
	struct decision *d = x->d;

	d->net.network = STR("none");
	if (d->tool.gateway_side)
		return true;
	if (d->place.place == PLACE_HOST) {
		set_route(x, ROUTE_HOST, STR("host"), NULL, STR("runs on the host, with the host's network"));
		if (!(d->mode.caps & CAP_BIT(CAP_NET)))
			warn(x, "network_not_enforced", NULL, STR("network"),
			     "capability net is absent, but nothing on the host takes the network away");
		return true;
	}
	if (is_tier1(x))
		return route_tier1(x);
	return route_sandbox(x);
}
