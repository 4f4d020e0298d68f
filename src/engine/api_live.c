/* SPDX-License-Identifier: Apache-2.0 */
/* The public door to the sandboxes that live, and to the list of tools. */
#include "engine/api.h"

#include "base/jsonw.h"
#include "engine/engine.h"
#include "policy/tooldb.h"
#include "tools/describe.h"

#include <stdlib.h>

struct passing {
	creel_sandbox_fn *each;
	void *ctx;
};

/* Slices of the registry need not end in a NUL. */
static const char *z(struct arena *a, struct str s)
{
	return arena_str(a, s).p;
}

static int pass_on(void *ctx, const struct live_info *info)
{
	const struct passing *p = ctx;
	const struct reg_entry *e = info->entry;
	_cleanup_arena_ struct arena a = { 0 };
	struct creel_sandbox s;

	arena_init(&a, (size_t)1 << 20);
	s = (struct creel_sandbox){ .size = sizeof(s),
				    .key = z(&a, e->key),
				    .session = z(&a, e->session),
				    .agent = z(&a, e->agent),
				    .scope = enum_name(scope_names, (int)e->scope),
				    .backend = enum_name(backend_names, (int)e->backend),
				    .state = info->layers ? "layers"
							  : enum_name(reg_state_names, (int)e->state),
				    .workspace = z(&a, e->workspace),
				    .walls = z(&a, e->profile_digest),
				    .mounts = z(&a, e->mounts_digest),
				    .created_ms = e->created_ms,
				    .used_ms = e->used_ms,
				    .warned_ms = e->warned_ms,
				    .calls = e->calls,
				    .supervisor = (int64_t)e->supervisor.pid,
				    .warden = (int64_t)e->warden.pid,
				    .alive = info->alive,
				    .running = info->running,
				    .memory_bytes = info->memory_bytes,
				    .cpu_us = info->cpu_us,
				    .why = info->why,
				    .disk_bytes = info->disk_bytes,
				    .memory_summed = info->memory_summed,
				    .owner = (int64_t)e->owner };
	return p->each ? p->each(p->ctx, &s) : 0;
}

static int read_filter(const struct creel_filter *given, bool ends, struct live_filter *ret, struct err *e)
{
	struct creel_filter f = { 0 };
	int scope = 0;

	if (given && !api_take(&f, sizeof(f), given, sizeof(f.size)))
		return err_set(e, ERR_USAGE, "the filter has no size: begin with CREEL_FILTER_INIT");
	*ret = (struct live_filter){ .key = api_str(f.key),
				     .session = api_str(f.session),
				     .agent = api_str(f.agent) };
	if ((f.key && !f.key[0]) || (f.session && !f.session[0]) || (f.agent && !f.agent[0]))
		return err_set(e, ERR_USAGE, "a key, session or agent must not be blank");
	if (f.scope && !enum_value(scope_names, str_z(f.scope), false, &scope))
		return err_set(e, ERR_USAGE,
			       "scope '%s' is not accepted: job, session, agent, shared or lease", f.scope);
	ret->has_scope = f.scope;
	ret->scope = (enum scope)scope;
	if (ends && !f.key && !f.session && !f.agent && !f.scope && !f.all)
		return err_set(e, ERR_USAGE, "say which sandboxes are meant: a session, an agent, or all");
	return 0;
}

int creel_list(struct creel_engine *c, const struct creel_filter *given, creel_sandbox_fn *each, void *ctx,
	       struct creel_error *error)
{
	struct passing p = { .each = each, .ctx = ctx };
	struct live_filter f;
	struct err e = { 0 };
	int r = read_filter(given, false, &f, &e);

	if (r >= 0)
		r = live_list(api_engine(c), &f, pass_on, &p, &e);
	return r < 0 && e.kind != ERR_NONE ? api_fail(error, &e) : r;
}

int creel_inspect(struct creel_engine *c, const char *key, char **ret_json, struct creel_error *error)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct err e = { 0 };

	buf_init(&out, (size_t)16 << 20);
	if (live_inspect(api_engine(c), api_str(key), &out, &e) < 0)
		return api_fail(error, &e);
	*ret_json = api_text(&out);
	return 0;
}

static int end_some(struct creel_engine *c, const struct creel_filter *given, bool busy_too, const char *what,
		    creel_sandbox_fn *each, void *ctx, struct creel_error *error)
{
	struct passing p = { .each = each, .ctx = ctx };
	struct live_filter f;
	struct err e = { 0 };
	int r = read_filter(given, true, &f, &e);

	if (r >= 0)
		r = live_end(api_engine(c), &f, busy_too, what, pass_on, &p, &e);
	return r < 0 && e.kind != ERR_NONE ? api_fail(error, &e) : r;
}

int creel_kill(struct creel_engine *c, const struct creel_filter *f, creel_sandbox_fn *each, void *ctx,
	       struct creel_error *e)
{
	return end_some(c, f, true, "killed", each, ctx, e);
}

int creel_recreate(struct creel_engine *c, const struct creel_filter *f, int force, creel_sandbox_fn *each,
		   void *ctx, struct creel_error *e)
{
	return end_some(c, f, force, "ended to be recreated", each, ctx, e);
}

int creel_prune(struct creel_engine *c, const struct creel_prune_options *given, creel_sandbox_fn *each,
		void *ctx, struct creel_error *error)
{
	struct creel_prune_options o = CREEL_PRUNE_INIT;
	struct passing p = { .each = each, .ctx = ctx };
	struct prune_opts po;
	struct err e = { 0 };
	int r = 0;

	if (given && !api_take(&o, sizeof(o), given, offsetof(struct creel_prune_options, layers_days)))
		r = err_set(&e, ERR_USAGE, "the options have no size: begin with CREEL_PRUNE_INIT");
	po = (struct prune_opts){ .dry = o.dry,
				  .idle_hours = o.idle_hours,
				  .max_age_days = o.max_age_days,
				  .layers_days = o.layers_days };
	if (r >= 0)
		r = live_prune(api_engine(c), &po, pass_on, &p, &e);
	return r < 0 && e.kind != ERR_NONE ? api_fail(error, &e) : r;
}

/* ---- tools ---- */

static void put_needs(struct jsonw *w, unsigned needs)
{
	jsonw_karr(w, "needs");
	for (const struct enum_name *n = cap_names; n->name; n++)
		if (needs & CAP_BIT(n->value))
			jsonw_str(w, str_z(n->name));
	jsonw_arr_end(w);
}

/* Known to policy alone. */
static bool is_other(const struct tool_info *t)
{
	return t->gateway_side && !tools_find(str_z(t->name));
}

static void put_other(const struct tool_info *t, struct jsonw *w)
{
	jsonw_obj(w);
	jsonw_kz(w, "name", t->name);
	put_needs(w, t->needs);
	jsonw_kbool(w, "gateway", true);
	jsonw_obj_end(w);
}

void engine_tools(struct buf *out)
{
	struct jsonw w;

	jsonw_init(&w, out, 2);
	jsonw_arr(&w);
	for (size_t i = 0; i < tools_count(); i++)
		tools_put_schema(tools_at(i), &w);
	for (size_t i = 0; i < tool_count(); i++)
		if (is_other(tool_at(i)))
			put_other(tool_at(i), &w);
	jsonw_arr_end(&w);
	buf_putc(out, '\n');
}

static int give_text(struct buf *out, char **ret_json, struct creel_error *error)
{
	struct err e = { 0 };

	*ret_json = api_text(out);
	if (*ret_json)
		return 0;
	(void)err_set(&e, ERR_LIMIT, "out of memory");
	return api_fail(error, &e);
}

int creel_tools(struct creel_engine *c, char **ret_json, struct creel_error *error)
{
	_cleanup_buf_ struct buf out = { 0 };

	(void)c;
	buf_init(&out, (size_t)4 << 20);
	engine_tools(&out);
	return give_text(&out, ret_json, error);
}

static const struct tool_info *find_other(struct str name)
{
	for (size_t i = 0; i < tool_count(); i++)
		if (is_other(tool_at(i)) && str_eq_nocase(str_z(tool_at(i)->name), name))
			return tool_at(i);
	return NULL;
}

int creel_tool(struct creel_engine *c, const char *name, char **ret_json, struct creel_error *error)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct str asked = str_z(name ? name : "");
	const struct tool *t = tools_find(asked);
	const struct tool_info *other = t ? NULL : find_other(asked);
	struct jsonw w;
	int r;

	(void)c;
	*ret_json = NULL;
	if (!t && !other)
		return 0;
	buf_init(&out, (size_t)1 << 20);
	jsonw_init(&w, &out, 0);
	if (t)
		tools_put_schema(t, &w);
	else
		put_other(other, &w);
	r = give_text(&out, ret_json, error);
	return r < 0 ? r : 1;
}
