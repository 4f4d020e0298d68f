/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/placement.h"

#include "policy/posture.h"

static const enum stage here = STAGE_PLACEMENT;

/* clang-format off */
static const struct {
	const char *word;
	enum backend_id id;
} words[] = {
	{ "native",      BACKEND_NATIVE },
	{ "docker",      BACKEND_DOCKER },
	{ "podman",      BACKEND_DOCKER }, /* the same API on another socket */
	{ "opensandbox", BACKEND_OPENSANDBOX },
};
static const struct {
	enum place place;   /* the furthest it can offer */
	const char *remedy; /* when it is not there */
} backends[] = {
	[BACKEND_NONE]        = { PLACE_NOWHERE,   "" },
	[BACKEND_HOST]        = { PLACE_HOST,      "" },
	[BACKEND_NATIVE]      = { PLACE_CONTAINER, "creel doctor" },
	[BACKEND_DOCKER]      = { PLACE_CONTAINER, "systemctl start docker" },
	[BACKEND_OPENSANDBOX] = { PLACE_REMOTE,    "backend.opensandbox.endpoint" },
};
/* clang-format on */

static enum backend_id backend_by_word(struct str word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_eq_nocase(str_z(words[i].word), word))
			return words[i].id;
	return BACKEND_NONE;
}

struct str placement_tool(const struct ctx *x)
{
	return str_eq(x->d->tool.name, STR("git")) ? STR("exec") : x->d->tool.name;
}

/* S4-18: the three high-risk tools of its first version. */
static bool is_s4_tool(const struct ctx *x)
{
	struct str tool = placement_tool(x);

	return str_eq(tool, STR("exec")) || str_eq(tool, STR("code_exec")) || str_eq(tool, STR("browser"));
}

static bool is_lone_s4(const struct config *c)
{
	if (c->formats == 0)
		return c->base.profile == PROFILE_OPENCLAW_NET;
	return c->formats == 1u << FORMAT_OPENCLAW_NET;
}

static const struct tool_setting *per_tool(const struct ctx *x)
{
	for (size_t i = 0; i < x->c->n_per_tool; i++)
		if (x->d->tool.name.n && str_eq(x->c->per_tool[i].tool, placement_tool(x)))
			return &x->c->per_tool[i];
	return NULL;
}

/* tools.per.<tool>.enforce, less what C9's switch takes from it: without a provider S4's "prefer" means nothing. */
static enum enforce per_tool_enforce(const struct ctx *x, const struct demand *d)
{
	bool s4_file = x->c->formats & 1u << FORMAT_OPENCLAW_NET || d->per->origin.kind == ORIGIN_PROFILE;

	if (x->d->eff.osb_provider == PROVIDER_NONE && s4_file && d->per->enforce == ENFORCE_PREFER)
		return ENFORCE_OFF;
	return d->per->enforce;
}

/* What S4's axis alone says about this tool. */
static enum enforce s4_enforce(const struct ctx *x, const struct demand *d)
{
	bool provider = x->d->eff.osb_provider == PROVIDER_OPENSANDBOX, s4_tool = is_s4_tool(x);

	if (d->lone_s4 && (!provider || !s4_tool))
		return ENFORCE_OFF; /* C9: the global off switch of a lone S4 file; S4-19: other tools are not its */
	if (d->per && d->per->has_enforce)
		return per_tool_enforce(x, d);
	return provider && s4_tool ? ENFORCE_PREFER : ENFORCE_OFF;
}

/* C9: "require" that S4's own switch turned off is worth a word. */
static void tell_switched_off(struct ctx *x, const struct demand *d)
{
	if (d->lone_s4 && d->per && d->per->has_enforce && d->per->enforce == ENFORCE_REQUIRE &&
	    x->d->eff.osb_provider == PROVIDER_NONE && is_s4_tool(x) && !x->d->mode.sandboxed)
		warn(x, "require_without_provider", &d->per->origin, d->per->tool,
		     "Require has no effect while the provider is None: the tool runs locally");
}

/* C8: what was asked more softly than it is carried out is said. */
static void tell_require(struct ctx *x, enum enforce asked, const struct origin *o, const char *because)
{
	if (asked != ENFORCE_REQUIRE)
		why(x, here, "enforce", STR("require"), o, "%s behaves like require: %s",
		    enum_name(enforce_names, (int)asked), because);
}

struct demand demand_of(struct ctx *x)
{
	const struct settings *s = &x->d->eff;
	struct demand d = { .lone_s4 = is_lone_s4(x->c),
			    .per = per_tool(x),
			    .isolation = x->d->mode.isolation_asked };
	enum enforce s4 = s4_enforce(x, &d);
	bool off_switch = d.lone_s4 && s->osb_provider == PROVIDER_NONE;
	enum option door = OPT_SERVE_BIND;

	d.wanted = d.isolation || s4 != ENFORCE_OFF;
	d.origin = &s->origin[off_switch || s4 != ENFORCE_OFF ? OPT_OSB_PROVIDER : OPT_WHEN];
	if (d.per && d.per->has_enforce && s4 != ENFORCE_OFF)
		d.origin = &d.per->origin;
	d.why = off_switch ? "provider None: OpenClaw.NET's tools run locally" : "nothing asks for a sandbox";
	tell_switched_off(x, &d);
	d.enforce = s4;
	if (d.isolation) {
		d.enforce = ENFORCE_REQUIRE;
		tell_require(x, s4 != ENFORCE_OFF ? s4 : (enum enforce)s->enforce, d.origin,
			     "the session itself is sandboxed");
	} else if (s4 == ENFORCE_PREFER && public_address(s, &door).n) {
		d.enforce = ENFORCE_REQUIRE;
		tell_require(x, s4, &s->origin[door], "the gateway can be reached from outside");
	}
	return d;
}

/* Upstream: the agent's name if it is not blank, else the defaults'. */
static struct str configured_name(const struct ctx *x)
{
	struct str name = str_trim(x->d->eff.backend_name);

	return name.n ? name : str_trim(x->c->base.backend_name);
}

struct str placement_backend_name(struct ctx *x)
{
	struct str name = configured_name(x);

	if (name.n || x->d->eff.compat != COMPAT_OPENCLAW_2026_9)
		return name;
	return STR("docker");
}

enum { CANDIDATES_MAX = 8 };
struct candidates {
	enum backend_id id[CANDIDATES_MAX];
	size_t n;
	struct str unknown; /* a word that is no backend */
	const struct origin *origin;
};

static void add(struct candidates *c, enum backend_id id)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->id[i] == id)
			return;
	if (c->n < CANDIDATES_MAX)
		c->id[c->n++] = id;
}

static void add_word(struct candidates *c, struct str word)
{
	enum backend_id id = backend_by_word(str_trim(word));

	if (id == BACKEND_NONE)
		c->unknown = word;
	else
		add(c, id);
}

/* tools.per, then backend.name alone, else backend.order. */
static struct candidates candidates(struct ctx *x, const struct demand *d)
{
	const struct settings *s = &x->d->eff;
	struct str name = configured_name(x);
	struct candidates c = { .origin = &s->origin[name.n ? OPT_BACKEND_NAME : OPT_BACKEND_ORDER] };

	if (s->osb_provider == PROVIDER_OPENSANDBOX && is_s4_tool(x)) {
		add(&c, BACKEND_OPENSANDBOX);
		if (d->lone_s4 && !d->isolation)
			return c; /* S4 knows no other sandbox */
	}
	if (name.n) {
		add_word(&c, name);
		return c;
	}
	for (size_t i = 0; i < s->backend_order.n; i++)
		add_word(&c, s->backend_order.v[i]);
	return c;
}

static bool is_available(const struct ctx *x, enum backend_id id)
{
	const struct facts *f = &x->r->facts;

	if (id == BACKEND_OPENSANDBOX &&
	    (x->d->eff.osb_provider != PROVIDER_OPENSANDBOX || !f->opensandbox_built || is_tier1(x)))
		return false; /* C9 takes it off the list; S2's one mount cannot reach a remote sandbox */
	return f->backends & 1u << id;
}

/* On the native engine "restricted" and "container" are the same walls: the name follows the demand. */
static enum place place_of(const struct ctx *x, enum backend_id id)
{
	if (id == BACKEND_NATIVE && x->d->mode.place_min == PLACE_RESTRICTED)
		return PLACE_RESTRICTED;
	return backends[id].place;
}

static bool choose(struct ctx *x, const struct candidates *c)
{
	for (size_t i = 0; i < c->n; i++) {
		enum backend_id id = c->id[i];

		if (backends[id].place < x->d->mode.place_min || !is_available(x, id))
			continue;
		x->d->place.backend = id;
		x->d->place.place = place_of(x, id);
		x->d->place.available = true;
		return true;
	}
	return false;
}

static bool refuse_unknown(struct ctx *x, const struct candidates *c)
{
	fix_it(x, STR("backend.name=native"));
	return deny(x, here, CODE_UNKNOWN_BACKEND, c->origin,
		    "backend '" STR_FMT "' is not one that creel has: native, docker, podman or opensandbox",
		    STR_ARG(c->origin->raw.n ? c->origin->raw : c->unknown));
}

static bool refuse_unavailable(struct ctx *x, const struct candidates *c)
{
	char names[128] = "";
	size_t at = 0;

	for (size_t i = 0; i < c->n && at < sizeof(names); i++) {
		int n = snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
				 enum_name(backend_names, (int)c->id[i]));

		at += n > 0 ? (size_t)n : 0;
		fix_it(x, str_z(backends[c->id[i]].remedy));
	}
	return deny(x, here, CODE_SANDBOX_UNAVAILABLE, c->origin,
		    "needs a sandbox (%s or further from the host), but none can be had here; missing: %s",
		    enum_name(place_names, (int)(x->d->mode.place_min > PLACE_HOST ? x->d->mode.place_min
										   : PLACE_CONTAINER)),
		    c->n ? names : "backend.order is empty");
}

/* The printed view of a backend that this host may not even have. */
static bool view_upstream(struct ctx *x)
{
	enum backend_id id = backend_by_word(x->d->place.backend_name);

	x->d->place.backend = id;
	x->d->place.place = id == BACKEND_NONE ? PLACE_REMOTE : backends[id].place;
	x->d->place.available = is_available(x, id);
	return true;
}

bool placement_pick(struct ctx *x, const struct demand *d, bool *ret_refused)
{
	struct candidates c = candidates(x, d);

	*ret_refused = false;
	if (is_upstream_view(x))
		return view_upstream(x);
	if (c.unknown.n) {
		*ret_refused = true;
		return refuse_unknown(x, &c);
	}
	if (!choose(x, &c)) {
		*ret_refused = d->enforce != ENFORCE_PREFER;
		return *ret_refused ? refuse_unavailable(x, &c) : false;
	}
	x->d->place.may_fall_back = d->enforce == ENFORCE_PREFER;
	if (!x->d->place.backend_name.n)
		x->d->place.backend_name = str_z(enum_name(backend_names, (int)x->d->place.backend));
	why(x, here, "backend", str_z(enum_name(backend_names, (int)x->d->place.backend)), c.origin,
	    "place %s, enforce %s%s", enum_name(place_names, (int)x->d->place.place),
	    enum_name(enforce_names, (int)d->enforce),
	    x->d->place.may_fall_back ? ", may fall back to the host" : "");
	return true;
}
