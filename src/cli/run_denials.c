/* SPDX-License-Identifier: Apache-2.0 */
/* What a run was refused, as those who refused it tell: its decision, its mounts, its cgroup, its warden. */
#include "cli/run.h"

#include "base/clock.h"
#include "model/denial.h"

struct putting {
	const struct run *r;
	struct jsonw *w;
};

/* "limits.pids (creel.json5:3:5)" */
static struct str rule_of(const struct run *r, const char *word, const struct origin *o)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 4096);
	buf_printf(&b, "%s (", word);
	origin_put(&b, o);
	buf_puts(&b, ")");
	return arena_str(r->cli->arena, buf_str(&b));
}

static void put(const struct putting *p, struct denial d)
{
	d.time_ms = p->r->ended_ms ? p->r->ended_ms : clock_unix_ms();
	d.session = p->r->decision->who.session_key;
	d.tool = p->r->decision->tool.name;
	d.count = d.count ? d.count : 1;
	denial_put(p->w, &d);
}

static void put_policy(const struct putting *p)
{
	const struct decision *d = p->r->decision;
	const struct origin *o = NULL;
	struct origin none = { 0 };

	for (size_t i = 0; i < d->n_reasons; i++)
		if (d->reasons[i].stage == d->stopped_at)
			o = &d->reasons[i].origin;
	put(p, (struct denial){ .operation = "call",
				.object = p->r->cli->args.rest.v[0],
				.verdict = "refused",
				.rule = rule_of(p->r, code_word(d->code), o ? o : &none),
				.layer = "policy",
				.hint = d->fix_it.n ? d->fix_it.v[0] : (struct str){ 0 } });
}

struct limit_hit {
	uint64_t count;
	const char *operation, *object, *verdict, *layer, *key, *hint;
	enum option option;
};

static void put_limits(const struct putting *p)
{
	const struct run *r = p->r;
	/* clang-format off */
	const struct limit_hit hits[] = {
		{ r->stat.pids_refused, "fork", "a process or thread", "refused", "cgroup", "limits.pids", "--pids N allows more", OPT_PIDS },
		{ r->stat.oom_kills, "allocate", "memory", "killed", "cgroup", "limits.memory", "--memory SIZE allows more", OPT_MEMORY },
		{ r->reason == RUN_TIMEOUT, "run", "time", "killed", "warden", "limits.timeout_s", "--timeout SECONDS allows more",
		  OPT_TIMEOUT_S },
		{ r->reason == RUN_DISK, "write", "disk", "killed", "warden", "limits.disk", "--disk SIZE allows more", OPT_DISK },
		{ r->reason == RUN_OUTPUT, "write", "standard output and standard error", "killed", "creel", "limits.output",
		  "--output-limit SIZE allows more", OPT_OUTPUT },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(hits) / sizeof(hits[0]); i++) {
		const struct limit_hit *h = &hits[i];

		if (h->count)
			put(p,
			    (struct denial){ .operation = h->operation,
					     .object = str_z(h->object),
					     .verdict = h->verdict,
					     .rule = rule_of(r, h->key, &r->decision->eff.origin[h->option]),
					     .layer = h->layer,
					     .hint = str_z(h->hint),
					     .count = h->count });
	}
}

void run_put_denials(const struct run *r, struct jsonw *w)
{
	const struct putting p = { r, w };

	jsonw_karr(w, "denials");
	if (r->decision && r->decision->verdict != VERDICT_ALLOW)
		put_policy(&p);
	if (r->decision && r->profile.blocked.n)
		put(&p,
		    (struct denial){
			    .operation = "mount",
			    .object = r->profile.blocked,
			    .verdict = "refused",
			    .rule = STR("bind_blocked"),
			    .layer = "mounts",
			    .hint = STR(
				    "bind something else: what lies there is never given to a sandbox") });
	if (r->decision)
		put_limits(&p);
	jsonw_arr_end(w);
}
