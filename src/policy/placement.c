/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the call runs: on the host, or in which sandbox.
 *
 * A sandbox that was asked for is had or the call is refused; the one way back to the host is S4's "prefer", and only
 * while nothing else asks for isolation (C8). placement_pick.c chooses among the backends.
 */
#include "policy/placement.h"

#include "policy/posture.h"
#include "policy/workspace.h"

static const enum stage here = STAGE_PLACEMENT;

static bool is_exec(const struct ctx *x)
{
	struct str tool = placement_tool(x);

	return str_eq(tool, STR("exec")) || str_eq(tool, STR("process"));
}

/* C16. Upstream's default differs from the documents'. */
static enum scope scope_of(const struct ctx *x)
{
	const struct settings *s = &x->d->eff;

	if (is_tier1(x))
		return SCOPE_JOB;
	if (s->compat == COMPAT_OPENCLAW_2026_9 && !said(s, OPT_SCOPE))
		return SCOPE_AGENT;
	return (enum scope)s->scope;
}

static bool settle_on_host(struct ctx *x, const char *what, const struct origin *o, const char *text)
{
	struct decision *d = x->d;
	enum option door;
	struct str address = public_address(&d->eff, &door);

	d->place.place = PLACE_HOST;
	d->place.backend = BACKEND_HOST;
	d->place.available = true;
	why(x, here, what, STR("host"), o, "%s", text);
	if (address.n && d->tool.needs & CAP_BIT(CAP_PROC_EXEC) && !d->eff.serve_unsafe) {
		fix_it(x, STR("tools.per.shell.enforce=require"));
		fix_it(x, STR("serve.bind=127.0.0.1"));
		return deny(x, here, CODE_UNSAFE_PUBLIC_BIND, &d->eff.origin[door],
			    "'" STR_FMT "' would run on the host while '" STR_FMT
			    "' can be reached from outside: sandbox it, or listen on loopback",
			    STR_ARG(d->tool.name), STR_ARG(shown(&d->eff, door, address)));
	}
	return true;
}

/* C9's last sentence: the one true "everything local"; the mode stage has let it pass for this session. */
static bool settle_without_sandbox(struct ctx *x)
{
	enum option door;
	const struct origin flag = { .kind = ORIGIN_FLAG, .name = STR("--no-sandbox") };
	struct str address = public_address(&x->d->eff, &door);

	if (address.n)
		return deny(x, here, CODE_NO_SANDBOX_REFUSED, &x->d->eff.origin[door],
			    "--no-sandbox is refused while '" STR_FMT "' can be reached from outside",
			    STR_ARG(shown(&x->d->eff, door, address)));
	warn(x, "no_sandbox", &flag, STR("--no-sandbox"), "runs on the host without any wall");
	return settle_on_host(x, "place", &flag, "the local operator asked for no sandbox");
}

/* S1-6, for whom elevated_check() let it pass (C27). */
static bool settle_elevated(struct ctx *x)
{
	if (!settle_on_host(x, "elevated", &x->d->eff.origin[OPT_ELEV_ALLOW],
			    "elevated exec leaves the sandbox"))
		return false;
	x->d->place.elevated.used = true;
	warn(x, "elevated", &x->d->eff.origin[OPT_ELEV_ALLOW], STR("tools.elevated"),
	     "elevated: runs on the host, outside of the sandbox");
	return true;
}

/* tools.exec.host, where it contradicts what the session gets. */
static bool check_exec_host(struct ctx *x, bool wanted)
{
	const struct settings *s = &x->d->eff;
	const struct origin *o = &s->origin[OPT_EXEC_HOST];

	if (!is_exec(x) || s->exec_host == EXEC_HOST_AUTO)
		return true;
	if (s->exec_host == EXEC_HOST_SANDBOX && !wanted) {
		fix_it(x, STR("mode.when=all"));
		return deny(x, here, CODE_SANDBOX_UNAVAILABLE, o,
			    "tools.exec.host is sandbox, but this session is not sandboxed");
	}
	if (s->exec_host == EXEC_HOST_NODE && !wanted)
		return deny(x, here, CODE_UNKNOWN_BACKEND, o,
			    "tools.exec.host is node, and creel reaches no nodes");
	if (s->exec_host != EXEC_HOST_SANDBOX && wanted)
		warn(x, "exec_host_ignored", o, STR("tools.exec.host"),
		     "exec stays in the sandbox: the session is sandboxed, and the stricter demand wins");
	return true;
}

/* C33: it is a start-up error, so it does not wait for the call that would need it. */
static bool check_built(struct ctx *x)
{
	const struct settings *s = &x->d->eff;

	if (s->osb_provider != PROVIDER_OPENSANDBOX || x->r->facts.opensandbox_built)
		return true;
	/* None alone would run OpenClaw.NET's tools on the host. */
	fix_it(x,
	       STR("backend.opensandbox.provider=None with mode.when=all: the native sandbox, on this host"));
	fix_it(x, STR("no build of this version has the client: -Dopensandbox=true is for a later one"));
	return deny(
		x, here, CODE_BACKEND_NOT_BUILT, &s->origin[OPT_OSB_PROVIDER],
		"provider is OpenSandbox, but this creel was built without it (meson option -Dopensandbox=true, which this version does not have yet)");
}

static bool is_unconfined(struct str profile)
{
	return str_eq_nocase(str_trim(profile), STR("unconfined"));
}

static bool check_profiles(struct ctx *x)
{
	const struct settings *s = &x->d->eff;

	if (is_unconfined(s->seccomp_profile))
		return deny(x, here, CODE_PROFILE_UNCONFINED, &s->origin[OPT_SECCOMP_PROFILE],
			    "backend.seccompProfile 'unconfined' is refused: name a profile or leave it out");
	if (is_unconfined(s->apparmor_profile))
		return deny(
			x, here, CODE_PROFILE_UNCONFINED, &s->origin[OPT_APPARMOR_PROFILE],
			"backend.apparmorProfile 'unconfined' is refused: name a profile or leave it out");
	return true;
}

/* S4-48: leases are kept per session id and S4's own tool name. */
static struct str lease_key(struct ctx *x)
{
	struct str session = x->d->who.session_id.n ? x->d->who.session_id : x->d->who.session_key;
	/* process looks after what exec has left running. */
	struct str tool = is_exec(x) ? STR("shell") : placement_tool(x);
	char *out = arena_alloc(x->a, session.n + tool.n + 2, 1);

	if (!out)
		return (struct str){ 0 };
	memcpy(out, session.p, session.n);
	out[session.n] = ':';
	memcpy(out + session.n + 1, tool.p, tool.n);
	return (struct str){ .p = out, .n = session.n + 1 + tool.n };
}

static void fill_lifetime(struct ctx *x)
{
	struct decision *d = x->d;

	if (d->place.backend == BACKEND_OPENSANDBOX)
		d->place.scope = SCOPE_LEASE;
	if (d->place.scope == SCOPE_LEASE) {
		d->place.key = lease_key(x);
	} else if (d->place.scope == SCOPE_JOB) {
		d->place.key = d->request_id.n ? d->request_id : STR("job");
	} else {
		d->place.key = scope_key(x, d->place.scope);
	}
	why(x, here, "lifetime", str_z(enum_name(scope_names, (int)d->place.scope)),
	    &d->eff.origin[OPT_SCOPE], "one sandbox per key '" STR_FMT "'", STR_ARG(d->place.key));
}

/* Template, then the browser's own, then backend.image. The native engine needs none: only one that was asked for. */
static void fill_image(struct ctx *x, const struct tool_setting *per)
{
	struct decision *d = x->d;
	bool browser = str_eq(d->tool.name, STR("browser"));
	enum option id = browser ? OPT_BROWSER_IMAGE : OPT_IMAGE;
	const struct origin *o = &d->eff.origin[id];

	d->place.image = browser ? d->eff.browser_image : d->eff.image;
	if (per && per->template.n) {
		d->place.image = per->template;
		o = &per->origin;
	} else if (d->place.backend == BACKEND_NATIVE && !said(&d->eff, id)) {
		d->place.image = (struct str){ 0 };
		return;
	}
	why(x, here, "image", o->raw.n ? o->raw : d->place.image, o, "image of the sandbox");
}

static void fill_ttl(struct ctx *x, const struct tool_setting *per)
{
	bool own = per && per->has_ttl;

	if (x->d->place.scope != SCOPE_LEASE)
		return;
	x->d->place.ttl_s = own ? per->ttl_s : x->d->eff.osb_ttl_s;
	why(x, here, "ttl", arena_printf(x->a, "%llu", (unsigned long long)x->d->place.ttl_s),
	    own ? &per->origin : &x->d->eff.origin[OPT_OSB_TTL_S], "seconds that the lease lives");
}

static bool settle_in_sandbox(struct ctx *x, const struct demand *dem)
{
	bool refused = false;

	if (!is_upstream_view(x) && !check_profiles(x))
		return false;
	if (!placement_pick(x, dem, &refused)) {
		if (refused)
			return false;
		return settle_on_host(x, "fallback", dem->origin,
				      "prefer: no sandbox is available and nothing else asks for isolation");
	}
	fill_lifetime(x);
	fill_image(x, dem->per);
	fill_ttl(x, dem->per);
	return true;
}

static bool nothing_to_run(struct ctx *x)
{
	x->d->place.place = PLACE_NOWHERE;
	x->d->place.available = true;
	why(x, here, "place", STR("gateway"), NULL,
	    "the gateway itself answers '" STR_FMT "'; only policy applies", STR_ARG(x->d->tool.name));
	return true;
}

bool stage_placement(struct ctx *x)
{
	struct decision *d = x->d;
	struct demand dem = demand_of(x);

	d->place.scope = scope_of(x);
	d->eff.scope = (int)d->place.scope;
	d->place.backend_name = placement_backend_name(x);
	d->mode.enforce = dem.enforce;
	if (d->tool.gateway_side)
		return nothing_to_run(x);
	if (!is_upstream_view(x) && (!check_built(x) || !check_exec_host(x, dem.wanted)))
		return false;
	if (x->r->no_sandbox && x->r->via == VIA_CLI)
		return settle_without_sandbox(x);
	if (!dem.wanted)
		return settle_on_host(x, "place", dem.origin, dem.why);
	if (d->place.elevated.requested && is_exec(x))
		return settle_elevated(x);
	return settle_in_sandbox(x, &dem);
}
