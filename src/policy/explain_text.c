/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision for people: one row per stage, in the order in which they were decided. The words none, off and all mean
 * different things on different axes, so a value never stands without its axis: trust=none, network=none.
 */
#include "policy/explain_priv.h"

#include "base/num.h"
#include "base/parse.h"

#define LABEL_COLUMNS 11

enum colour { COLOUR_DIM, COLOUR_GREEN, COLOUR_YELLOW, COLOUR_RED, COLOUR_NONE };

struct page {
	const struct decision *d;
	const struct explain_opts *o;
	struct buf *out;
};

static void colour(const struct page *p, enum colour c)
{
	static const char *const code[] = {
		[COLOUR_DIM] = "\033[2m",    [COLOUR_GREEN] = "\033[1;32m", [COLOUR_YELLOW] = "\033[1;33m",
		[COLOUR_RED] = "\033[1;31m", [COLOUR_NONE] = "\033[0m",
	};

	if (p->o->colour)
		buf_puts(p->out, code[c]);
}

static void label(const struct page *p, const char *name)
{
	colour(p, COLOUR_DIM);
	buf_printf(p->out, "%-*s", LABEL_COLUMNS, name);
	colour(p, COLOUR_NONE);
}

static void next_line(const struct page *p)
{
	buf_printf(p->out, "\n%*s", LABEL_COLUMNS, "");
}

static void key_str(const struct page *p, const char *key, struct str value)
{
	buf_printf(p->out, "%s=", key);
	buf_put_visible(p->out, value);
}

/* " (why; where)" */
static void put_reason(const struct page *p, const struct reason *r)
{
	struct str text;

	if (!r || str_trim(r->text).n == 0)
		return;
	text = str_trim(r->text);
	buf_puts(p->out, " (");
	buf_put_visible(p->out, text);
	if (r->origin.kind != ORIGIN_BUILTIN) {
		buf_puts(p->out, "; ");
		origin_put(p->out, &r->origin);
	}
	buf_putc(p->out, ')');
}

static void because(const struct page *p, enum stage s, const char *what)
{
	put_reason(p, explain_reason(p->d, s, what));
}

/* Why it runs on the host: the reason has that value, under whichever name it was decided. */
static void because_host(const struct page *p)
{
	for (size_t i = 0; i < p->d->n_reasons; i++)
		if (p->d->reasons[i].stage == STAGE_PLACEMENT &&
		    str_eq(p->d->reasons[i].value, STR("host"))) {
			put_reason(p, &p->d->reasons[i]);
			return;
		}
}

/* ---- rows ---- */

static void put_identity(const struct page *p)
{
	const struct decision *d = p->d;

	key_str(p, "agent", d->who.agent.n ? d->who.agent : STR("none"));
	buf_putc(p->out, ' ');
	key_str(p, "session", d->who.session_key.n ? d->who.session_key : STR("none"));
	buf_printf(p->out, " main=%s via=%s", explain_bool(d->who.is_main),
		   enum_name(via_names, (int)d->who.via));
	if (d->who.is_subagent)
		buf_puts(p->out, " subagent=yes");
	if (d->who.channel.n) {
		buf_putc(p->out, ' ');
		key_str(p, "channel", d->who.channel);
	}
	if (d->who.chat_id.n) {
		buf_putc(p->out, ' ');
		key_str(p, "chat", d->who.chat_id);
	}
}

static void put_mode(const struct page *p)
{
	const struct decision *d = p->d;

	buf_printf(p->out, "trust=%s", enum_name(trust_names, (int)d->mode.trust));
	because(p, STAGE_MODE, "trust");
	buf_printf(p->out, " when=%s sandboxed=%s", enum_name(when_names, (int)d->mode.when),
		   explain_bool(d->mode.sandboxed));
	next_line(p);
	buf_puts(p->out, "caps=");
	explain_caps(p->out, d->mode.caps);
}

static void put_tool(const struct page *p)
{
	const struct decision *d = p->d;
	bool refused = d->verdict == VERDICT_DENY && d->stopped_at == STAGE_TOOL;

	if (d->tool.name.n == 0 && d->tool.asked.n == 0) {
		buf_puts(p->out, "none asked about");
		return;
	}
	buf_put_visible(p->out, d->tool.name.n ? d->tool.name : d->tool.asked);
	if (d->tool.name.n && d->tool.asked.n && !str_eq(d->tool.name, d->tool.asked)) {
		buf_puts(p->out, " (alias ");
		buf_put_visible(p->out, d->tool.asked);
		buf_putc(p->out, ')');
	}
	buf_puts(p->out, refused ? " refused" : " allowed");
	if (d->tool.gateway_side)
		buf_puts(p->out, ", by the gateway itself");
	if (d->tool.needs) {
		buf_puts(p->out, ", needs ");
		explain_caps(p->out, d->tool.needs);
	}
	if (d->tool.shell)
		buf_puts(p->out, ", as a shell command");
}

static void put_backend(const struct page *p)
{
	const struct decision *d = p->d;

	if (d->tool.gateway_side) {
		buf_puts(p->out, "gateway, nothing runs here");
	} else if (d->place.place == PLACE_HOST) {
		buf_puts(p->out, "host, without a sandbox");
		because_host(p);
	} else {
		buf_printf(p->out, "%s %s", enum_name(backend_names, (int)d->place.backend),
			   enum_name(place_names, (int)d->place.place));
		buf_printf(p->out, ", lifetime=%s", enum_name(scope_names, (int)d->place.scope));
	}
	buf_printf(p->out, ", enforce=%s, provider=%s", enum_name(enforce_names, (int)d->mode.enforce),
		   enum_name(provider_names, d->eff.osb_provider));
	if (d->place.may_fall_back)
		buf_puts(p->out, ", may fall back to the host");
	if (d->place.elevated.requested)
		buf_printf(p->out, ", elevated=%s", explain_bool(d->place.elevated.allowed));
}

static void put_network(const struct page *p)
{
	const struct decision *d = p->d;

	key_str(p, "network", explain_network(d));
	buf_printf(p->out, " route=%s", enum_name(route_names, (int)d->net.route));
	because(p, STAGE_NETWORK, "route");
	if (d->net.has_hosts) {
		next_line(p);
		buf_puts(p->out, "hosts=");
		explain_list(p->out, d->net.hosts, ",");
		if (d->net.hosts.n == 0)
			buf_puts(p->out, "none");
	}
}

static void put_mount(const struct page *p, const struct mount *m)
{
	next_line(p);
	if (m->host.n) {
		buf_put_visible(p->out, explain_host(m));
		buf_puts(p->out, " -> ");
	}
	buf_put_visible(p->out, m->target);
	buf_printf(p->out, " (%s, %s", enum_name(mount_source_names, (int)m->source),
		   m->overlay    ? "read-only lower + private upper"
		   : m->writable ? "rw"
				 : "ro");
	buf_puts(p->out, m->optional ? ", skipped when missing" : "");
	if (m->source == MOUNT_BIND && m->origin.kind != ORIGIN_BUILTIN) {
		buf_puts(p->out, "; ");
		origin_put(p->out, &m->origin);
	}
	buf_putc(p->out, ')');
}

/* What really happens to the workspace: a layer over it counts for more than the access that is configured. */
static void put_mounts(const struct page *p)
{
	const struct decision *d = p->d;

	buf_printf(p->out, "workspace=%s", explain_workspace(d));
	if (d->n_mounts == 0)
		because(p, STAGE_MOUNTS, "workspace");
	for (size_t i = 0; i < d->n_mounts; i++)
		put_mount(p, &d->mounts[i]);
}

static bool same_fate(const struct env_item *a, const struct env_item *b)
{
	if (a->state != b->state || a->secret != b->secret)
		return false;
	return a->why == b->why || (a->why && b->why && strcmp(a->why, b->why) == 0);
}

/* All variables that fare as `first` does, then what becomes of them. */
static void put_env_group(const struct page *p, size_t first)
{
	const struct decision *d = p->d;
	const struct env_item *f = &d->env[first];

	for (size_t i = first; i < d->n_env; i++) {
		if (!same_fate(f, &d->env[i]))
			continue;
		if (i > first)
			buf_puts(p->out, ", ");
		buf_put_visible(p->out, d->env[i].name);
		if (f->secret && f->state != ENV_WITHHELD)
			buf_printf(p->out, "=<%s>", enum_name(env_state_names, (int)f->state));
	}
	if (f->state != ENV_SET)
		buf_printf(p->out, " %s", enum_name(env_state_names, (int)f->state));
	if (f->state != ENV_SET && f->why)
		buf_printf(p->out, " (%s)", f->why);
}

static void put_env(const struct page *p)
{
	const struct decision *d = p->d;
	bool any = false;

	for (size_t i = 0; i < d->n_env; i++) {
		bool known = false;

		for (size_t k = 0; k < i && !known; k++)
			known = same_fate(&d->env[k], &d->env[i]);
		if (known)
			continue;
		if (any)
			buf_puts(p->out, "; ");
		any = true;
		put_env_group(p, i);
	}
	if (any)
		return;
	buf_puts(p->out, d->place.place == PLACE_HOST ? "inherited" : "empty");
	because(p, STAGE_ENV, "env");
}

static void put_limits(const struct page *p)
{
	const struct decision *d = p->d;
	char size[PARSE_TEXT_MAX], number[NUM_TEXT_MAX];
	struct str cpus = STR("?"), memory = parse_format_size(d->limits.memory, size);

	(void)num_format(d->limits.cpus, number, &cpus);
	buf_printf(p->out, "%llu s, %.*s, %llu pids, %.*s cpus, ", (unsigned long long)d->limits.timeout_s,
		   (int)memory.n, memory.p, (unsigned long long)d->limits.pids, (int)cpus.n, cpus.p);
	memory = parse_format_size(d->limits.tmpfs, size);
	buf_printf(p->out, "tmpfs %.*s, ", (int)memory.n, memory.p);
	memory = parse_format_size(d->limits.disk, size);
	buf_printf(p->out, "disk %.*s, ", (int)memory.n, memory.p);
	buf_printf(p->out, "%llu files, stdout %llu, stderr %llu", (unsigned long long)d->limits.open_files,
		   (unsigned long long)d->limits.stdout_max, (unsigned long long)d->limits.stderr_max);
	for (const struct enum_name *n = wall_names; n->name; n++)
		if (d->optional_walls & 1u << n->value)
			buf_printf(p->out, "; without %s if need be", n->name);
	if (d->optional_walls)
		because(p, STAGE_LIMITS, "walls");
}

/* ---- verdict ---- */

static void put_verdict(const struct page *p)
{
	static const enum colour shade[] = {
		[VERDICT_DENY] = COLOUR_RED,
		[VERDICT_ASK] = COLOUR_YELLOW,
		[VERDICT_ALLOW] = COLOUR_GREEN,
	};
	const struct decision *d = p->d;
	const struct reason *r = explain_reason(d, d->stopped_at, "refused");

	label(p, "verdict");
	colour(p, shade[d->verdict]);
	buf_puts(p->out, enum_name(verdict_names, (int)d->verdict));
	if (d->verdict == VERDICT_DENY)
		buf_printf(p->out, " %s", code_word(d->code));
	colour(p, COLOUR_NONE);
	if (d->verdict != VERDICT_ALLOW && d->message.n) {
		next_line(p);
		buf_put_visible(p->out, d->message);
	}
	if (d->verdict == VERDICT_DENY && r) {
		next_line(p);
		buf_printf(p->out, "decided by %s: ", enum_name(stage_names, (int)d->stopped_at));
		origin_put(p->out, &r->origin);
	}
	buf_putc(p->out, '\n');
	for (size_t i = 0; i < d->fix_it.n && d->verdict != VERDICT_ALLOW; i++) {
		label(p, i ? "" : "fixIt");
		buf_put_visible(p->out, d->fix_it.v[i]);
		buf_putc(p->out, '\n');
	}
}

static void put_reasons(const struct page *p, enum stage s)
{
	for (size_t i = 0; i < p->d->n_reasons; i++) {
		const struct reason *r = &p->d->reasons[i];

		if (r->stage != s)
			continue;
		buf_printf(p->out, "    - %s", r->what);
		if (r->value.n) {
			buf_putc(p->out, '=');
			buf_put_visible(p->out, r->value);
		}
		if (r->text.n) {
			buf_puts(p->out, ": ");
			buf_put_visible(p->out, r->text);
		}
		buf_puts(p->out, " [");
		origin_put(p->out, &r->origin);
		buf_puts(p->out, "]\n");
	}
}

static void put_notes(const struct page *p)
{
	for (size_t i = 0; i < p->d->n_warnings; i++)
		diag_put(p->out, &p->d->warnings[i]);
	if (p->o->assumed_token) {
		label(p, "assumed");
		buf_puts(p->out, "the caller has a valid token\n");
	}
	if (p->o->assumed.n) {
		label(p, "assumed");
		buf_puts(p->out, "backends that work here: ");
		buf_put_visible(p->out, p->o->assumed);
		buf_puts(p->out, " (nothing was probed)\n");
	}
}

void explain_text(const struct decision *d, const struct explain_opts *o, struct buf *out)
{
	static const struct {
		const char *label;
		void (*put)(const struct page *);
	} row[] = {
		[STAGE_IDENTITY] = { "identity", put_identity },
		[STAGE_MODE] = { "mode", put_mode },
		[STAGE_TOOL] = { "tool", put_tool },
		[STAGE_PLACEMENT] = { "backend", put_backend },
		[STAGE_NETWORK] = { "network", put_network },
		[STAGE_MOUNTS] = { "mounts", put_mounts },
		[STAGE_ENV] = { "env", put_env },
		[STAGE_LIMITS] = { "limits", put_limits },
	};
	const struct page page = { .d = d, .o = o, .out = out };

	if (o->banner && explain_reached(d, STAGE_MODE) && d->mode.trust != TRUST_NONE)
		buf_printf(out, "🔒 Sandbox mode: %s\n", enum_name(trust_names, (int)d->mode.trust));
	for (enum stage s = STAGE_IDENTITY; s < STAGE_COUNT_ && explain_reached(d, s); s++) {
		if (d->tool.gateway_side && s > STAGE_PLACEMENT)
			break; /* nothing runs here: there is nothing to say about its walls */
		label(&page, row[s].label);
		row[s].put(&page);
		buf_putc(out, '\n');
		if (o->verbose)
			put_reasons(&page, s);
	}
	put_verdict(&page);
	put_notes(&page);
}
