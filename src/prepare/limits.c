/* SPDX-License-Identifier: Apache-2.0 */
#include "prepare/prepare.h"

#define MEMORY_LEAST (1u << 20)
#define PIDS_LEAST 5u

static unsigned asked_limits(const struct settings *s)
{
	return (s->has[OPT_MEMORY] ? CGROUP_MEMORY : 0u) | (s->has[OPT_PIDS] ? CGROUP_PIDS : 0u) |
	       (s->has[OPT_CPUS] ? CGROUP_CPU : 0u);
}

/* With less not even the sandbox can be built; a number without a unit was hardly meant as bytes then. */
static int check_memory(const struct settings *s, struct err *e)
{
	_cleanup_buf_ struct buf from = { 0 };

	if (!s->has[OPT_MEMORY] || s->memory >= MEMORY_LEAST)
		return 0;
	buf_init(&from, 4096);
	origin_put(&from, &s->origin[OPT_MEMORY]);
	return err_set(
		e, ERR_USAGE,
		STR_FMT
		": limits.memory: %llu bytes are too few for any program, accepted: 1m and more; a number alone "
		"is bytes, 512m and 2g have a unit",
		STR_ARG(buf_str(&from)), (unsigned long long)s->memory);
}

/* The sandbox itself takes some of them while it is built. */
static int check_pids(const struct settings *s, struct err *e)
{
	_cleanup_buf_ struct buf from = { 0 };

	if (!s->has[OPT_PIDS] || s->pids >= PIDS_LEAST)
		return 0;
	buf_init(&from, 4096);
	origin_put(&from, &s->origin[OPT_PIDS]);
	return err_set(e, ERR_USAGE,
		       STR_FMT
		       ": limits.pids: %llu are too few for a sandbox and any program, accepted: %u and more",
		       STR_ARG(buf_str(&from)), (unsigned long long)s->pids, PIDS_LEAST);
}

int limits_find(const struct decision *d, struct cgroup_limits *ret, struct err *e)
{
	*ret = (struct cgroup_limits){ .must = asked_limits(&d->eff),
				       .memory = d->limits.memory,
				       .pids = d->limits.pids,
				       .cpus = d->limits.cpus };
	return check_memory(&d->eff, e) < 0 ? -1 : check_pids(&d->eff, e);
}

int limits_hold_for(const struct cgroup_heir *heir, const struct decision *d, struct cgroup_limits *limits,
		    struct str parent, struct cgroup *ret, struct err *e)
{
	int rc = cgroup_new_for(heir, limits, parent, ret, e);

	if (rc >= 0 || !(d->optional_walls & 1u << WALL_LIMITS) || parent.n)
		return rc;
	*e = (struct err){ 0 };
	limits->must = 0;
	return cgroup_new_for(heir, limits, parent, ret, e);
}
