/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creel explain: one decision, printed. Nothing is run, nothing is probed: which backends work here is supposed, and
 * the output says so.
 */
#include "cli/cli.h"

#include "policy/policy.h"
#include "prepare/prepare.h"

enum { AS_CREEL = 0, AS_OPENCLAW };

struct explain {
	struct cli *cli;
	struct facts facts;
	struct config config;
	struct request request;
	struct diags diags;
};

static bool as_openclaw(const struct cli *cli)
{
	return cli->as.has && cli->as.value == AS_OPENCLAW;
}

static struct str assumed_words(struct arena *a, unsigned backends)
{
	_cleanup_buf_ struct buf words = { 0 };

	buf_init(&words, 256);
	for (const struct enum_name *n = backend_names; n->name; n++)
		if (n->value >= BACKEND_NATIVE && backends & (1u << n->value))
			buf_printf(&words, "%s%s", words.n ? "," : "", n->name);
	if (words.n == 0)
		buf_puts(&words, "none");
	return arena_str(a, buf_str(&words));
}

/* ---- OpenClaw's way to report an error with --json ---- */

static void envelope_open(struct jsonw *w, struct str message)
{
	jsonw_obj(w);
	jsonw_kbool(w, "ok", false);
	jsonw_kobj(w, "error");
	jsonw_kz(w, "type", "cli_error");
	jsonw_kstr(w, "message", message);
	jsonw_obj_end(w);
}

static void envelope_close(struct jsonw *w)
{
	jsonw_obj_end(w);
	buf_putc(w->out, '\n');
}

static void put_config_envelope(struct cli *cli, const struct diags *d, const struct err *e)
{
	struct jsonw w;

	jsonw_init(&w, cli->out, 2);
	envelope_open(&w, str_z(e->msg));
	jsonw_karr(&w, "issues");
	for (size_t i = 0; i < d->n; i++) {
		if (d->v[i].severity != SEVERITY_ERROR)
			continue;
		jsonw_obj(&w);
		jsonw_kstr(&w, "path", d->v[i].key.n ? d->v[i].key : STR("<root>"));
		jsonw_kstr(&w, "message", d->v[i].text);
		jsonw_obj_end(&w);
	}
	jsonw_arr_end(&w);
	envelope_close(&w);
}

void explain_error(struct cli *cli, struct str message)
{
	struct jsonw w;

	if (!as_openclaw(cli) || !cli->json)
		return;
	cli->out->n = 0;
	jsonw_init(&w, cli->out, 2);
	envelope_open(&w, message);
	envelope_close(&w);
}

/* ---- loading ---- */

static bool token_fits(const struct token *t, const struct request *r)
{
	bool fits = t->all_pairs;

	for (size_t i = 0; i < t->n_pairs && !fits; i++)
		fits = str_eq(t->pairs[i].agent, r->agent) && str_eq(t->pairs[i].chat_id, r->chat_id);
	return fits;
}

/* The question is what a caller may do, not whether the token it holds is known: the best one there is, or one for all. */
static void assume_token(struct explain *x)
{
	struct token *any = ARENA_NEW(x->cli->arena, struct token);

	for (size_t i = 0; i < x->config.n_tokens; i++)
		if (token_fits(&x->config.tokens[i], &x->request)) {
			x->request.token = i;
			return;
		}
	if (x->config.n_tokens || !any)
		return;
	any->all_pairs = true;
	x->config.tokens = any;
	x->config.n_tokens = 1;
}

static int load(struct explain *x, struct err *e)
{
	struct cli *cli = x->cli;
	int r = input_facts(cli, &x->facts, e);

	if (r < 0)
		return r;
	/* OpenClaw's own answer does not depend on what this host can run. */
	if (as_openclaw(cli) && !cli->backends.has)
		x->facts.backends |= 1u << BACKEND_DOCKER;
	r = input_config(cli, &x->facts, &x->diags, &x->config, e);
	if (r < 0)
		return r;
	r = input_request(cli, &x->request, e);
	x->request.facts = x->facts;
	if (r >= 0 && x->request.auth == AUTH_TOKEN)
		assume_token(x);
	return r;
}

static int load_failed(struct explain *x, int r, const struct err *e)
{
	if (x->diags.n_errors == 0)
		return r;
	if (as_openclaw(x->cli) && x->cli->json)
		put_config_envelope(x->cli, &x->diags, e);
	output_diags(&x->diags, SEVERITY_ERROR, NULL);
	return EXIT_TROUBLE;
}

/* ---- the three shapes ---- */

static int verdict_status(const struct decision *d)
{
	return d->verdict == VERDICT_ALLOW ? 0 : EXIT_REFUSED;
}

/* The decision is pure, so it says which directories it would like to know about, and is asked again. */
static int decide_with_dirs(struct explain *x, struct request *r, struct decision *d, struct err *e)
{
	int rc = decide(&x->config, r, x->cli->arena, d, e);

	if (rc < 0 || d->n_ask_dirs == 0)
		return rc;
	r->facts.dirs = facts_dirs(x->cli->arena, d);
	return r->facts.dirs.n ? decide(&x->config, r, x->cli->arena, d, e) : rc;
}

static int explain_as_openclaw(struct explain *x, struct err *e)
{
	struct request where = x->request;
	struct decision *d = ARENA_NEW(x->cli->arena, struct decision);
	struct jsonw w;
	int r;

	if (!d)
		return err_set(e, ERR_LIMIT, "out of memory");

	/* The shape is about who and where; the tool counts for the exit status alone. */
	where.tool = (struct str){ 0 };
	where.argv = (struct strs){ 0 };
	where.command = (struct str){ 0 };
	r = decide_with_dirs(x, &where, d, e);
	if (r < 0)
		return r;
	if (d->verdict != VERDICT_ALLOW && d->stopped_at == STAGE_IDENTITY) {
		if (!x->cli->json)
			return err_set(e, ERR_DENIED, STR_FMT, STR_ARG(d->message));
		explain_error(x->cli, d->message);
		return EXIT_REFUSED;
	}
	if (x->cli->json) {
		jsonw_init(&w, x->cli->out, 2);
		explain_openclaw(&x->config, &where, d, &w);
		buf_putc(x->cli->out, '\n');
	} else {
		explain_openclaw_text(&x->config, &where, d, x->cli->out);
	}
	if (x->request.tool.n == 0)
		return 0;
	r = decide(&x->config, &x->request, x->cli->arena, d, e);
	return r < 0 ? r : verdict_status(d);
}

/* run and call ask for more than the main session does by itself; who tries explain first must not be misled. */
static void note_default_mode(const struct cli *cli, const struct decision *d)
{
	bool named =
		cli->session.has || cli->agent.has || cli->sandbox.has || cli->via.has || cli->channel.has;

	if (!named && !cli->quiet && d->verdict == VERDICT_ALLOW && d->place.place == PLACE_HOST)
		output_complain(
			STR("note: this is the main session; creel run and creel call ask for a sandbox "
			    "where no --session is named: --sandbox light shows it\n"));
}

static int explain_one(struct explain *x, struct err *e)
{
	struct cli *cli = x->cli;
	struct explain_opts o = {
		.verbose = cli->verbose,
		.colour = output_wants_colour(cli),
		.banner = !cli->quiet,
		.assumed_token = x->request.auth == AUTH_TOKEN,
		.assumed = assumed_words(cli->arena, x->facts.backends),
	};
	struct decision *d = ARENA_NEW(cli->arena, struct decision);
	struct jsonw w;
	int r;

	if (!d)
		return err_set(e, ERR_LIMIT, "out of memory");
	r = decide(&x->config, &x->request, cli->arena, d, e);
	if (r < 0)
		return r;
	if (cli->json) {
		jsonw_init(&w, cli->out, 2);
		explain_json(d, &o, &w);
		buf_putc(cli->out, '\n');
	} else {
		explain_text(d, &o, cli->out);
		note_default_mode(cli, d);
	}
	return verdict_status(d);
}

int run_explain(struct cli *cli, struct err *e)
{
	struct explain *x = ARENA_NEW(cli->arena, struct explain);
	int r;

	if (!x)
		return err_set(e, ERR_LIMIT, "out of memory");
	x->cli = cli;
	x->diags.arena = cli->arena;
	r = load(x, e);
	if (r < 0)
		return load_failed(x, r, e);
	if (!cli->quiet)
		output_diags(&x->diags, SEVERITY_WARN, &x->config);
	if (cli->matrix)
		r = explain_matrix(&x->config, &x->request, cli->arena, cli->json, cli->out, e);
	else
		r = as_openclaw(cli) ? explain_as_openclaw(x, e) : explain_one(x, e);
	redact(cli->out, &x->config, as_openclaw(cli));
	return r;
}
