/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which walls held: for machines in the report, for people with -v. They hold from before the command is executed, so a command
 * that could not be has them, too; what ended earlier has none that anybody can vouch for, and that is null, not false.
 */
#include "cli/run.h"

#include "base/parse.h"
#include "sandbox/plan.h"

static const char *const namespaces[] = { "user", "mount", "pid", "net", "ipc", "uts", "cgroup" };
static const char *const walls[] = { "root", "capabilities", "no_new_privs", "seccomp" };
static const char *const limit[] = { "memory", "pids", "cpu" };
#define COUNT(t) (sizeof(t) / sizeof((t)[0]))

unsigned run_missing_walls(const struct run *r)
{
	if (!r->walled)
		return 0;
	return (r->last.landlock_abi ? 0 : 1u << WALL_LANDLOCK) | (r->last.time_ns ? 0 : 1u << WALL_TIME) |
	       (r->asked & ~r->held ? 1u << WALL_LIMITS : 0);
}

static const char *holder(const struct run *r, unsigned i)
{
	if (r->held & 1u << i)
		return r->held_by == CGROUP_V2 ? "cgroup-v2" : "cgroup-v1";
	return i == 1 ? "rlimit" : "none";
}

/* apart: no directory of the host is seen as it is; covered: some are, and each socket that was bound there is hidden */
static const char *sockets(const struct run *r)
{
	return r->profile.masking ? "covered" : "apart";
}

/* ---- for machines ---- */

static void put_unknown(struct jsonw *w)
{
	jsonw_knull(w, "namespaces");
	for (size_t i = 0; i < COUNT(walls); i++)
		jsonw_knull(w, walls[i]);
	jsonw_knull(w, "landlock");
	jsonw_knull(w, "users");
	jsonw_knull(w, "host_sockets");
	jsonw_knull(w, "limits");
}

static void put_known(const struct run *r, struct jsonw *w)
{
	jsonw_karr(w, "namespaces");
	for (size_t i = 0; i < COUNT(namespaces); i++)
		jsonw_str(w, str_z(namespaces[i]));
	if (r->last.time_ns)
		jsonw_str(w, STR("time"));
	jsonw_arr_end(w);
	for (size_t i = 0; i < COUNT(walls); i++)
		jsonw_kbool(w, walls[i], true);
	jsonw_ku64(w, "landlock", r->last.landlock_abi);
	jsonw_ku64(w, "users", r->profile.two_users ? 2 : 1);
	jsonw_kz(w, "host_sockets", sockets(r));
	jsonw_kobj(w, "limits");
	for (unsigned i = 0; i < COUNT(limit); i++)
		jsonw_kz(w, limit[i], holder(r, i));
	jsonw_obj_end(w);
}

void run_put_walls(const struct run *r, struct jsonw *w)
{
	jsonw_kobj(w, "walls");
	if (r->walled)
		put_known(r, w);
	else
		put_unknown(w);
	jsonw_karr(w, "optional_missing");
	for (const struct enum_name *n = wall_names; n->name; n++)
		if (run_missing_walls(r) & 1u << n->value)
			jsonw_str(w, str_z(n->name));
	jsonw_arr_end(w);
	jsonw_karr(w, "probes");
	for (unsigned i = 0; i < 64; i++)
		if (r->last.probes & 1ull << i)
			jsonw_str(w, str_z(probe_name(i)));
	jsonw_arr_end(w);
	jsonw_obj_end(w);
}

/* ---- for people ---- */

void run_tell_decided(const struct run *r)
{
	const struct decision *d = r->decision;
	_cleanup_buf_ struct buf text = { 0 };
	char size[PARSE_TEXT_MAX];

	buf_init(&text, 16384);
	buf_printf(&text, "creel run: decided: trust=%s place=%s backend=%s network=%s\n",
		   enum_name(trust_names, (int)d->mode.trust), enum_name(place_names, (int)d->place.place),
		   enum_name(backend_names, (int)d->place.backend),
		   enum_name(route_names, (int)d->net.route));
	for (size_t i = 0; i < d->n_mounts; i++) {
		const struct mount *m = &d->mounts[i];

		if (m->source == MOUNT_SCRATCH)
			continue;
		buf_printf(&text, "creel run: decided: %s ", enum_name(mount_source_names, (int)m->source));
		buf_put_visible(&text, m->host);
		buf_puts(&text, " at ");
		buf_put_visible(&text, m->target);
		buf_puts(&text, m->overlay    ? ", writes go to a private layer\n"
				: m->writable ? ", writable\n"
					      : ", read-only\n");
	}
	buf_printf(&text, "creel run: decided: timeout=%llu s memory=" STR_FMT " pids=%llu cpus=%g\n",
		   (unsigned long long)d->limits.timeout_s,
		   STR_ARG(parse_format_size(d->limits.memory, size)), (unsigned long long)d->limits.pids,
		   d->limits.cpus);
	redact(&text, &r->config, false);
	output_complain(buf_str(&text));
}

static void put_held(const struct run *r, struct buf *text)
{
	buf_puts(text, "creel run: held: namespaces");
	for (size_t i = 0; i < COUNT(namespaces); i++)
		buf_printf(text, " %s", namespaces[i]);
	buf_puts(text, r->last.time_ns ? " time" : "");
	for (size_t i = 0; i < COUNT(walls); i++)
		buf_printf(text, ", %s", walls[i]);
	if (r->last.landlock_abi)
		buf_printf(text, ", landlock %u", r->last.landlock_abi);
	buf_printf(text, ", host sockets %s, %d probes\ncreel run: held: limits", sockets(r),
		   __builtin_popcountll(r->last.probes));
	for (unsigned i = 0; i < COUNT(limit); i++)
		buf_printf(text, " %s=%s", limit[i], holder(r, i));
	for (const struct enum_name *n = wall_names; n->name; n++)
		if (run_missing_walls(r) & 1u << n->value)
			buf_printf(text, ", without %s, as walls.optional accepts", n->name);
	buf_putc(text, '\n');
}

void run_tell_end(const struct run *r)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, 16384);
	if (r->walled)
		put_held(r, &text);
	else
		buf_puts(&text, "creel run: held: not known, it ended before its walls stood\n");
	buf_printf(&text, "creel run: ended: %s, status %d, after %llu.%03llu s\n",
		   enum_name(run_reason_names, (int)r->reason), r->status,
		   (unsigned long long)(r->wall_us / 1000000),
		   (unsigned long long)(r->wall_us / 1000 % 1000));
	output_complain(buf_str(&text));
}
