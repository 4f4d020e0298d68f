/* SPDX-License-Identifier: Apache-2.0 */
/* creel list and creel inspect: which sandboxes there are, and all about one. */
#include "cli/session.h"

#include "base/clock.h"
#include "data/json.h"

#include <inttypes.h>

/* ---- list ---- */

static bool is_lost(const struct creel_sandbox *b)
{
	return str_eq(str_z(b->state), STR("lost"));
}

static void drop_lost(struct boxes *all)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->n; i++)
		if (!is_lost(&all->v[i]) || all->v[i].why)
			all->v[kept++] = all->v[i];
	all->n = kept;
}

static struct str state_of(struct arena *a, const struct creel_sandbox *b)
{
	if (is_lost(b) && b->why)
		return arena_printf(a, "lost: %s", b->why);
	if (b->owner)
		return arena_printf(a, "%s, of %" PRId64, b->state, b->owner);
	if (b->alive && b->running)
		return arena_printf(a, "busy (%u)", b->running);
	if (!b->alive && !is_lost(b))
		return arena_printf(a, "%s, silent", b->state);
	return str_z(b->state);
}

/* "~" where it is the sum over processes, and not what the kernel has counted. */
static struct str memory_of(struct arena *a, const struct creel_sandbox *b)
{
	struct str size = b->memory_bytes ? short_size(a, b->memory_bytes) : STR("-");

	return b->memory_summed ? arena_printf(a, "~" STR_FMT, STR_ARG(size)) : size;
}

static void put_table(struct cli *cli, const struct boxes *all)
{
	static const char *const titles[] = { "SESSION", "SCOPE", "BACKEND", "STATE",
					      "AGE",     "IDLE",  "MEMORY",  "CALLS" };
	struct columns c = {
		.arena = cli->arena, .n = 8, .titles = titles, .right = 0xf0, .bold = output_wants_colour(cli)
	};
	uint64_t now = clock_unix_ms();

	for (size_t i = 0; i < all->n; i++) {
		const struct creel_sandbox *b = &all->v[i];

		columns_put(&c, box_name(b));
		columns_put(&c, str_z(b->scope));
		columns_put(&c, str_z(b->backend));
		columns_put(&c, state_of(cli->arena, b));
		columns_put(&c, short_age(cli->arena, now, b->created_ms));
		columns_put(&c, b->owner ? STR("-") : short_age(cli->arena, now, b->used_ms));
		columns_put(&c, memory_of(cli->arena, b));
		columns_put(&c, b->owner ? STR("-") : arena_printf(cli->arena, "%" PRIu64, b->calls));
	}
	columns_print(&c, cli->out);
}

static void put_keys(struct cli *cli, const struct boxes *all)
{
	for (size_t i = 0; i < all->n; i++) {
		buf_put_visible(cli->out, str_z(all->v[i].key));
		buf_putc(cli->out, '\n');
	}
}

static void put_none(const struct cli *cli, size_t lost)
{
	_cleanup_buf_ struct buf line = { 0 };

	buf_init(&line, 4096);
	if (cli->session.has || cli->agent.has || cli->scope.has)
		buf_puts(&line, "no sandboxes like that; 'creel list' without a choice shows all");
	else
		buf_puts(&line, "no sandboxes; 'creel call exec -- COMMAND' makes one");
	if (lost)
		buf_printf(&line, " (%zu lost: --all shows them, 'creel prune' forgets them)", lost);
	buf_putc(&line, '\n');
	output_complain(buf_str(&line));
}

int run_list(struct cli *cli, struct err *e)
{
	_cleanup_(creel_engine_freep) struct creel_engine *c = NULL;
	struct creel_filter f = CREEL_FILTER_INIT;
	struct boxes all = { .arena = cli->arena };
	struct creel_error ce = { 0 };
	size_t found;
	int r = session_filter(cli, &f, e);

	if (r >= 0)
		r = session_engine(cli, 0, &c, e);
	if (r < 0)
		return session_failed(r, e);
	if (creel_list(c, &f, boxes_add, &all, &ce) < 0)
		return session_error(&ce, e);
	found = all.n;
	if (!cli->all)
		drop_lost(&all);
	if (cli->json)
		boxes_json(cli->out, "sandboxes", &all);
	else if (cli->quiet)
		put_keys(cli, &all);
	else if (all.n == 0)
		put_none(cli, found);
	else
		put_table(cli, &all);
	return 0;
}

/* ---- inspect ---- */

static int which_one(struct cli *cli, const char **ret, struct err *e)
{
	if (cli->args.words.n && cli->session.has)
		return err_set(e, ERR_USAGE, "a KEY and --session exclude each other");
	if (cli->args.words.n) {
		*ret = cli->args.words.v[0].p;
		return 0;
	}
	if (!cli->session.has)
		return err_set(e, ERR_USAGE,
			       "which sandbox? a KEY or --session KEY; 'creel list' shows them");
	return session_text(cli, &cli->session, "--session", ret, e);
}

/* Milliseconds since 1970 are for programs. "created_ms" becomes "created", with the time and how long ago that was; 0 is never. */
static void put_times(struct arena *a, struct value *v)
{
	uint64_t now = clock_unix_ms();

	for (size_t i = 0; v->kind == VALUE_ARR && i < v->arr.n; i++)
		put_times(a, &v->arr.v[i]);
	for (size_t i = 0; v->kind == VALUE_OBJ && i < v->obj.n; i++) {
		struct member *m = &v->obj.m[i];
		char text[CLOCK_TEXT_MAX];
		struct str when;

		if (m->v.kind == VALUE_ARR)
			put_times(a, &m->v);
		if (m->v.kind != VALUE_INT || !str_ends(m->key, STR("_ms")))
			continue;
		m->key.n -= 3;
		if (m->v.i <= 0 || clock_format((uint64_t)m->v.i, text, &when) < 0)
			m->v = (struct value){ .kind = VALUE_STR, .s = STR("never") };
		else
			m->v = (struct value){ .kind = VALUE_STR,
					       .s = arena_printf(
						       a, STR_FMT " (" STR_FMT " ago)", STR_ARG(when),
						       STR_ARG(short_age(a, now, (uint64_t)m->v.i))) };
	}
}

int run_inspect(struct cli *cli, struct err *e)
{
	_cleanup_(creel_engine_freep) struct creel_engine *c = NULL;
	struct creel_error ce = { 0 };
	const char *key = NULL;
	struct value tree;
	struct jsonw w;
	char *json = NULL;
	int r = which_one(cli, &key, e);

	if (r >= 0)
		r = session_engine(cli, 0, &c, e);
	if (r < 0)
		return session_failed(r, e);
	if (creel_inspect(c, key, &json, &ce) < 0) {
		(void)session_error(&ce, e);
		if (e->kind == ERR_NOTFOUND)
			return err_set(e, ERR_NOTFOUND,
				       "no sandbox '" STR_FMT
				       "'; 'creel list --all' shows those that there are",
				       STR_ARG(str_z(key)));
		return -1;
	}
	r = session_json(cli, json, &tree, e);
	if (r >= 0 && cli->json) {
		jsonw_init(&w, cli->out, 2);
		json_write(&w, &tree);
		buf_putc(cli->out, '\n');
	} else if (r >= 0) {
		put_times(cli->arena, &tree);
		show_value(cli->out, &tree, 0);
	}
	creel_free(json);
	return r;
}
