/* SPDX-License-Identifier: Apache-2.0 */
/* creel approvals list, show, allow and deny: calls that wait for a person, and the answer. */
#include "cli/session.h"

#include "base/clock.h"
#include "base/parse.h"

#define FOR_MAX_MS ((uint64_t)24 * 3600 * 1000)

struct waiting {
	struct cli *cli;
	struct columns table;
	struct jsonw w;
	uint64_t now;
	size_t n;
};

static void put_json(struct jsonw *w, const struct creel_approval *a)
{
	const struct {
		const char *key, *value;
	} texts[] = {
		{ "id", a->id },           { "kind", a->kind },
		{ "state", a->state },     { "request", a->request_id },
		{ "session", a->session }, { "agent", a->agent },
		{ "channel", a->channel }, { "chat_id", a->chat_id },
		{ "tool", a->tool },       { "via", a->via },
		{ "command", a->command }, { "arguments", a->arguments },
		{ "workdir", a->workdir }, { "call", a->call },
		{ "by", a->by },           { "reason", a->reason },
	};

	jsonw_obj(w);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		jsonw_kz(w, texts[i].key, texts[i].value);
	time_json(w, "created", a->created_ms);
	time_json(w, "expires", a->expires_ms);
	time_json(w, "answered", a->answered_ms);
	time_json(w, "until", a->until_ms);
	jsonw_ku64(w, "used", a->used);
	jsonw_obj_end(w);
}

/* ---- list ---- */

static int list_json(void *ctx, const struct creel_approval *a)
{
	struct waiting *x = ctx;

	put_json(&x->w, a);
	return 0;
}

/* Until when it waits, or may be made again. */
static struct str left(struct waiting *x, const struct creel_approval *a)
{
	bool granted = str_eq(str_z(a->state), STR("granted")),
	     waits = str_eq(str_z(a->state), STR("waiting"));
	uint64_t end = granted ? a->until_ms : a->expires_ms;

	if ((!granted && !waits) || end <= x->now)
		return STR("-");
	return short_age(x->cli->arena, end, x->now);
}

static int list_row(void *ctx, const struct creel_approval *a)
{
	struct waiting *x = ctx;
	struct columns *c = &x->table;

	x->n++;
	if (x->cli->quiet) {
		buf_put_visible(x->cli->out, str_z(a->id));
		buf_putc(x->cli->out, '\n');
		return 0;
	}
	columns_put(c, str_z(a->id));
	columns_put(c, str_z(a->kind));
	columns_put(c, str_z(a->state));
	columns_put(c, short_age(x->cli->arena, x->now, a->created_ms));
	columns_put(c, left(x, a));
	columns_put(c, a->session[0] ? str_z(a->session) : STR("-"));
	columns_put(c, str_z(a->tool));
	columns_put(c, str_z(a->command));
	return 0;
}

int run_approvals_list(struct cli *cli, struct err *e)
{
	static const char *const titles[] = { "ID",   "KIND",    "STATE", "AGE",
					      "LEFT", "SESSION", "TOOL",  "COMMAND" };
	_cleanup_(creel_engine_freep) struct creel_engine *c = NULL;
	struct creel_approval_filter f = CREEL_APPROVAL_FILTER_INIT;
	struct waiting x = { .cli = cli, .now = clock_unix_ms() };
	struct creel_error ce = { 0 };
	int r = session_engine(cli, 0, &c, e);

	if (r < 0)
		return session_failed(r, e);
	f.all = cli->all;
	x.table = (struct columns){
		.arena = cli->arena, .n = 8, .titles = titles, .bold = output_wants_colour(cli)
	};
	if (cli->json) {
		jsonw_init(&x.w, cli->out, 2);
		jsonw_obj(&x.w);
		jsonw_karr(&x.w, "approvals");
	}
	r = creel_approvals(c, &f, cli->json ? list_json : list_row, &x, &ce);
	if (r < 0)
		return session_error(&ce, e);
	if (cli->json) {
		jsonw_arr_end(&x.w);
		jsonw_obj_end(&x.w);
		buf_putc(cli->out, '\n');
	} else if (cli->quiet) {
		return 0; /* the ids are told */
	} else if (x.n) {
		columns_print(&x.table, cli->out);
	} else {
		output_complain(STR("nothing waits for an answer\n"));
	}
	return 0;
}

/* ---- show ---- */

static int show_one(void *ctx, const struct creel_approval *a)
{
	struct waiting *x = ctx;
	struct value tree;
	struct err ignored = { 0 };
	_cleanup_buf_ struct buf json = { 0 };
	struct jsonw w;

	if (x->cli->json) {
		jsonw_init(&w, x->cli->out, 2);
		put_json(&w, a);
		buf_putc(x->cli->out, '\n');
		return 0;
	}
	buf_init(&json, OUTPUT_MAX);
	jsonw_init(&w, &json, 0);
	put_json(&w, a);
	if (session_json(x->cli, buf_str(&json).p, &tree, &ignored) < 0)
		return -1;
	show_value(x->cli->out, &tree, 0);
	return 0;
}

int run_approvals_show(struct cli *cli, struct err *e)
{
	_cleanup_(creel_engine_freep) struct creel_engine *c = NULL;
	struct creel_approval_filter f = CREEL_APPROVAL_FILTER_INIT;
	struct waiting x = { .cli = cli };
	struct creel_error ce = { 0 };
	int r = session_engine(cli, 0, &c, e);

	if (r < 0)
		return session_failed(r, e);
	f.id = cli->args.words.v[0].p;
	f.all = 1;
	return creel_approvals(c, &f, show_one, &x, &ce) < 0 ? session_error(&ce, e) : 0;
}

/* ---- allow, deny ---- */

static int answer(struct cli *cli, struct creel_answer *a, const char *said, struct err *e)
{
	_cleanup_(creel_engine_freep) struct creel_engine *c = NULL;
	struct creel_error ce = { 0 };
	int r = session_text(cli, &cli->reason, "--reason", &a->reason, e);

	if (r >= 0)
		r = session_engine(cli, 0, &c, e);
	if (r < 0)
		return session_failed(r, e);
	a->id = cli->args.words.v[0].p;
	if (creel_approval_answer(c, a, &ce) < 0)
		return session_error(&ce, e);
	buf_put_visible(cli->out, cli->args.words.v[0]);
	buf_printf(cli->out, ": %s\n", said);
	return 0;
}

int run_approvals_allow(struct cli *cli, struct err *e)
{
	struct creel_answer a = CREEL_ANSWER_INIT;
	uint64_t ms = 0;

	a.allow = 1;
	if (cli->for_time.has && (parse_duration(cli->for_time.text, FOR_MAX_MS, &ms) < 0 || ms < 1000))
		return err_set(e, ERR_USAGE,
			       "--for '" STR_FMT "' is not accepted: a time such as 10m or 2h, 1s to 24h",
			       STR_ARG(cli->for_time.text));
	a.for_s = ms / 1000;
	return answer(cli, &a, a.for_s ? "allowed for that time" : "allowed once", e);
}

int run_approvals_deny(struct cli *cli, struct err *e)
{
	struct creel_answer a = CREEL_ANSWER_INIT;

	return answer(cli, &a, "denied", e);
}
