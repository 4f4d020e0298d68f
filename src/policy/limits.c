/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long and how much. A caller may ask for another timeout and gets it within 1..max; every other limit is the
 * configuration's. A limit of zero would be no limit, so it is refused; only for the
 * disk and for what run passes on that can be meant.
 */
#include "policy/policy_priv.h"

#include "policy/posture.h"

static const enum stage here = STAGE_LIMITS;

enum { TIER1_TIMEOUT_MAX_S = 60 };

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t timeout_max(const struct ctx *x)
{
	uint64_t max = x->d->eff.timeout_max_s;

	return is_tier1(x) ? min_u64(max, TIER1_TIMEOUT_MAX_S) : max;
}

/* S2: its file tools have one timeout, whatever the caller says. */
static bool may_ask(const struct ctx *x)
{
	return x->r->has_timeout && (!is_tier1(x) || x->d->tool.needs & CAP_BIT(CAP_PROC_EXEC));
}

void fill_timeout(struct ctx *x)
{
	const struct settings *s = &x->d->eff;
	uint64_t max = timeout_max(x), asked = s->timeout_s, given;
	const struct origin *o = &s->origin[OPT_TIMEOUT_S];
	const struct origin request = { .kind = ORIGIN_REQUEST };

	if (may_ask(x)) {
		asked = x->r->timeout_s;
		o = &request;
	}
	given = min_u64(asked ? asked : 1, max);
	x->d->limits.timeout_s = given;
	if (x->r->brief)
		return;
	if (given == asked)
		why(x, here, "timeout", arena_printf(x->a, "%llu", (unsigned long long)given), o, "seconds");
	else
		why(x, here, "timeout", arena_printf(x->a, "%llu", (unsigned long long)given), o,
		    "seconds: %llu was asked for, 1..%llu is allowed", (unsigned long long)asked,
		    (unsigned long long)max);
}

static void tell_setup(struct ctx *x)
{
	const struct settings *s = &x->d->eff;
	struct setup_faults f = setup_check(s);
	const struct origin *o = &s->origin[OPT_SETUP_COMMAND];
	struct str key = STR("backend.setupCommand");

	if (f.not_root)
		warn(x, "setup_needs_root", o, key, "installs packages, which needs backend.user 0:0");
	if (f.readonly_root)
		warn(x, "setup_readonly_root", o, key,
		     "writes to the root file system, which needs backend.readOnlyRoot false");
	if (f.no_network)
		warn(x, "setup_no_network", o, key,
		     "installs packages, and network.primary none has nowhere to fetch from");
}

static bool check_not_zero(struct ctx *x)
{
	const struct decision *d = x->d;

	if (timeout_max(x) && d->eff.timeout_s && d->limits.pids && d->limits.memory && d->limits.cpus > 0 &&
	    d->limits.tmpfs && d->limits.open_files && d->limits.stdout_max && d->limits.stderr_max)
		return true;
	return deny(x, here, CODE_LIMIT_INVALID, NULL, "a limit is zero, and zero would mean no limit");
}

/* What is missing on the host and not named here is a refusal, later and elsewhere. */
static void fill_optional_walls(struct ctx *x)
{
	const struct settings *s = &x->d->eff;

	for (size_t i = 0; i < s->walls_optional.n; i++) {
		int wall;

		if (!enum_value(wall_names, s->walls_optional.v[i], false, &wall))
			continue;
		x->d->optional_walls |= 1u << wall;
		why(x, here, "walls", s->walls_optional.v[i], &s->origin[OPT_WALLS_OPTIONAL],
		    "a host without this wall is accepted");
	}
}

bool stage_limits(struct ctx *x)
{
	struct decision *d = x->d;
	const struct settings *s = &d->eff;

	d->limits.stdout_max = s->stdout_max;
	d->limits.stderr_max = s->stderr_max;
	d->limits.read_max = s->read_max;
	d->limits.read_bytes = min_u64(s->read_bytes, s->read_max);
	d->limits.write_max = s->write_max;
	d->limits.pids = s->pids;
	d->limits.memory = s->memory;
	d->limits.tmpfs = s->tmpfs_size;
	d->limits.disk = s->disk;
	d->limits.output = s->output;
	d->limits.open_files = s->open_files;
	d->limits.cpus = s->cpus;
	if (is_upstream_view(x) || d->tool.gateway_side)
		return true;
	if (!check_not_zero(x))
		return false;
	fill_timeout(x);
	fill_optional_walls(x);
	d->limits.run_setup = d->place.place >= PLACE_RESTRICTED && d->place.scope != SCOPE_JOB &&
			      str_trim(s->setup_command).n > 0;
	if (d->limits.run_setup)
		tell_setup(x);
	return true;
}
