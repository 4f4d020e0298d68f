/* SPDX-License-Identifier: Apache-2.0 */
/* creel kill, recreate and prune: sandboxes that end. Each says what became of which; none touches a workspace. */
#include "cli/session.h"

#include "base/clock.h"

#include <errno.h>
#include <unistd.h>

struct ending {
	struct cli *cli;
	struct creel_engine *engine;
	bool recreate;
	struct boxes meant, ended;
	struct err missed; /* told when the others have ended */
};

/* ---- which ones ---- */

static int check_choice(const struct cli *cli, struct err *e)
{
	bool by_name = cli->args.words.n > 0, by_rule = cli->session.has || cli->agent.has || cli->scope.has;

	if (!by_name && !by_rule && !cli->all)
		return err_set(
			e, ERR_USAGE,
			"which sandboxes? a KEY, --session KEY, --agent ID, --scope SCOPE or --all; 'creel list' shows them");
	if (by_name && (by_rule || cli->all))
		return err_set(e, ERR_USAGE,
			       "KEYs, and --session, --agent, --scope or --all exclude each other");
	if (cli->all && by_rule)
		return err_set(
			e, ERR_USAGE,
			"--all means every sandbox; leave it out to choose by --session, --agent or --scope");
	return 0;
}

static int list_into(struct ending *x, const struct creel_filter *f, struct err *e)
{
	struct creel_error ce = { 0 };
	size_t before = x->meant.n;

	if (creel_list(x->engine, f, boxes_add, &x->meant, &ce) >= 0)
		return 0;
	if (x->meant.n == before)
		return session_error(&ce, e);
	/* There may be others; those that were found end all the same. */
	(void)session_error(&ce, &x->missed);
	return 0;
}

/* Ending what others use, too, has to be asked for by its own name. */
static int check_shared(const struct ending *x, size_t from, struct str session, struct err *e)
{
	for (size_t i = from; i < x->meant.n; i++) {
		const struct creel_sandbox *b = &x->meant.v[i];

		if (!str_eq(str_z(b->session), session))
			return err_set(
				e, ERR_USAGE,
				"session '" STR_FMT
				"' has no sandbox of its own: it uses '%s' (scope %s), as others may; fix: creel %s %s, which ends it for all of them",
				STR_ARG(session), b->key, b->scope, x->recreate ? "recreate" : "kill",
				b->key);
	}
	return 0;
}

/* A key, or else a session. */
static int find_named(struct ending *x, struct str name, struct err *e)
{
	struct creel_filter f = CREEL_FILTER_INIT;
	size_t before = x->meant.n;
	int r;

	f.key = name.p;
	r = list_into(x, &f, e);
	if (r < 0 || x->meant.n > before)
		return r;
	f.key = NULL;
	f.session = name.p;
	r = list_into(x, &f, e);
	if (r >= 0)
		r = check_shared(x, before, name, e);
	if (r < 0 || x->meant.n > before)
		return r;
	return err_set(e, ERR_NOTFOUND,
		       "no sandbox '" STR_FMT "'; 'creel list --all' shows those that there are",
		       STR_ARG(name));
}

static int find_meant(struct ending *x, struct err *e)
{
	const struct cli *cli = x->cli;
	struct creel_filter f = CREEL_FILTER_INIT;
	int r = session_filter(x->cli, &f, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < cli->args.words.n && r >= 0; i++)
		r = find_named(x, cli->args.words.v[i], e);
	if (cli->args.words.n)
		return r;
	r = list_into(x, &f, e);
	if (r >= 0 && cli->session.has)
		r = check_shared(x, 0, str_z(f.session), e);
	if (r < 0 || x->meant.n || cli->all)
		return r;
	return err_set(e, ERR_NOTFOUND,
		       "no sandbox of that %s; 'creel list --all' shows those that there are",
		       cli->session.has ? "session"
		       : cli->agent.has ? "agent"
					: "scope");
}

/* ---- asking ---- */

static unsigned running_in(const struct boxes *b)
{
	unsigned n = 0;

	for (size_t i = 0; i < b->n; i++)
		n += b->v[i].running;
	return n;
}

static bool may_ask(const struct cli *cli)
{
	return !cli->yes && !cli->quiet && isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
}

static bool said_yes(const struct ending *x)
{
	_cleanup_buf_ struct buf text = { 0 };
	char answer[16] = { 0 };

	buf_init(&text, OUTPUT_MAX);
	for (size_t i = 0; i < x->meant.n; i++) {
		const struct creel_sandbox *b = &x->meant.v[i];

		if (b->running == 0)
			continue;
		buf_put_visible(&text, box_name(b));
		buf_printf(&text, ": %u call%s running\n", b->running, b->running == 1 ? "" : "s");
	}
	buf_puts(&text, "end them? [y/N] ");
	output_complain(buf_str(&text));
	for (;;) {
		ssize_t n = read(STDIN_FILENO, answer, sizeof(answer) - 1);

		if (n < 0 && errno == EINTR)
			continue;
		return n > 0 && (answer[0] == 'y' || answer[0] == 'Y');
	}
}

/* ---- ending ---- */

static int end_one(struct ending *x, const struct creel_sandbox *b, bool force, struct err *e)
{
	struct creel_filter f = CREEL_FILTER_INIT;
	struct creel_error ce = { 0 };
	int r;

	f.key = b->key;
	r = x->recreate ? creel_recreate(x->engine, &f, force, boxes_add, &x->ended, &ce)
			: creel_kill(x->engine, &f, boxes_add, &x->ended, &ce);
	return r < 0 ? session_error(&ce, e) : r;
}

static void tell(const struct cli *cli, struct buf *out, const struct creel_sandbox *b, const char *what)
{
	if (cli->json || cli->quiet)
		return;
	buf_put_visible(out, box_name(b));
	buf_printf(out, ": %s\n", what);
}

/* One after the other, so that each is told about, whatever becomes of the next. */
static int end_meant(struct ending *x, bool force, struct err *e)
{
	_cleanup_buf_ struct buf left = { 0 };
	int status = 0;

	buf_init(&left, OUTPUT_MAX);
	for (size_t i = 0; i < x->meant.n; i++) {
		const struct creel_sandbox *b = &x->meant.v[i];
		size_t before = x->ended.n;
		int r = end_one(x, b, force, e);

		/* Whatever is wrong with one keeps none of the others alive; it is told at the end. */
		if (r < 0) {
			x->missed = x->missed.kind == ERR_NONE ? *e : x->missed;
			*e = (struct err){ 0 };
		}
		if (x->ended.n > before) {
			tell(x->cli, x->cli->out, b,
			     x->recreate ? "ended; the next call makes it anew" : "ended");
			continue;
		}
		if (r < 0 || !x->recreate)
			continue; /* it was gone by then, or cannot be ended */
		tell(x->cli, &left, b, "left alone, because a call is running in it; -y ends that");
		status = EXIT_TROUBLE;
	}
	output_complain(buf_str(&left));
	if (x->missed.kind == ERR_NONE)
		return status;
	*e = x->missed;
	return -(int)e->kind;
}

static int end_boxes(struct cli *cli, bool recreate, struct err *e)
{
	_cleanup_(creel_engine_freep) struct creel_engine *c = NULL;
	struct ending x = { .cli = cli,
			    .recreate = recreate,
			    .meant = { .arena = cli->arena },
			    .ended = { .arena = cli->arena } };
	bool force = cli->yes;
	int r = check_choice(cli, e);

	if (r >= 0)
		r = session_engine(cli, 0, &c, e);
	if (r < 0)
		return session_failed(r, e);
	x.engine = c;
	r = find_meant(&x, e);
	if (r < 0)
		return r;
	if (running_in(&x.meant) && may_ask(cli)) {
		force = said_yes(&x);
		if (!force) {
			output_complain(STR("nothing was ended\n"));
			return EXIT_TROUBLE;
		}
	}
	r = end_meant(&x, force, e);
	if (cli->json)
		boxes_json(cli->out, "ended", &x.ended);
	if (x.meant.n == 0 && !cli->quiet && !cli->json)
		output_complain(STR("no sandboxes\n"));
	return r;
}

int run_kill(struct cli *cli, struct err *e)
{
	return end_boxes(cli, false, e);
}

int run_recreate(struct cli *cli, struct err *e)
{
	return end_boxes(cli, true, e);
}

/* ---- prune ---- */

static bool is_layers(const struct creel_sandbox *b)
{
	return str_eq(str_z(b->state), STR("layers"));
}

static void tell_pruned(struct cli *cli, const struct boxes *ended)
{
	uint64_t now = clock_unix_ms();

	for (size_t i = 0; i < ended->n; i++) {
		const struct creel_sandbox *b = &ended->v[i];
		bool old = b->why && str_eq(str_z(b->why), STR("old"));
		bool lost = b->why && str_eq(str_z(b->why), STR("lost"));
		struct str age = short_age(cli->arena, now, old ? b->created_ms : b->used_ms);

		buf_put_visible(cli->out, box_name(b));
		if (is_layers(b))
			buf_printf(cli->out, ": private layers (" STR_FMT ") %s, unused for " STR_FMT "\n",
				   STR_ARG(short_size(cli->arena, b->disk_bytes)),
				   cli->dry_run ? "would be removed" : "removed", STR_ARG(age));
		else if (lost)
			buf_printf(cli->out, ": %s, its processes were gone\n",
				   cli->dry_run ? "would be forgotten" : "forgotten");
		else
			buf_printf(cli->out, ": %s, %s for " STR_FMT "\n",
				   cli->dry_run ? "would end" : "ended", old ? "it has been there" : "idle",
				   STR_ARG(age));
	}
}

int run_prune(struct cli *cli, struct err *e)
{
	_cleanup_(creel_engine_freep) struct creel_engine *c = NULL;
	struct creel_prune_options o = CREEL_PRUNE_INIT;
	struct boxes ended = { .arena = cli->arena };
	struct creel_error ce = { 0 };
	int r;

	if (cli->session.has || cli->agent.has)
		return err_set(e, ERR_USAGE, "prune goes by age; 'creel kill' takes --session and --agent");
	if ((cli->idle_hours.has && cli->idle_hours.number > 87600) ||
	    (cli->max_age_days.has && cli->max_age_days.number > 3650) ||
	    (cli->layers_days.has && cli->layers_days.number > 3650))
		return err_set(e, ERR_USAGE,
			       "--idle-hours is 0..87600, --max-age-days and --layers-days 0..3650");
	r = session_engine(cli, 0, &c, e);
	if (r < 0)
		return session_failed(r, e);
	o.dry = cli->dry_run;
	o.idle_hours = cli->idle_hours.has ? (int64_t)cli->idle_hours.number : -1;
	o.max_age_days = cli->max_age_days.has ? (int64_t)cli->max_age_days.number : -1;
	o.layers_days = cli->layers_days.has ? (int64_t)cli->layers_days.number : -1;
	if (creel_prune(c, &o, boxes_add, &ended, &ce) < 0)
		return session_error(&ce, e);
	if (cli->json)
		boxes_json(cli->out, cli->dry_run ? "would_end" : "ended", &ended);
	else if (!cli->quiet && ended.n == 0)
		output_complain(STR("nothing to prune\n"));
	else if (!cli->quiet)
		tell_pruned(cli, &ended);
	return 0;
}
