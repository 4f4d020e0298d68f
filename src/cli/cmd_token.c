/* SPDX-License-Identifier: Apache-2.0 */
/* creel token new, list and revoke: who may call over the network, and for whom. */
#include "cli/own.h"
#include "cli/session.h"

#include "audit/audit.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/parse.h"
#include "identity/runner.h"
#include "identity/tokens.h"

#include <inttypes.h>

#define EXPIRES_MAX_MS ((uint64_t)36500 * 86400 * 1000)

struct desk {
	struct own own;
	struct token_store *store;
	struct audit *audit;
};

static void desk_closep(struct desk **d)
{
	if (*d) {
		(void)token_store_close((*d)->store);
		(void)audit_close((*d)->audit);
	}
}

static struct desk *desk_new(struct cli *cli, struct err *e)
{
	struct desk *d = ARENA_NEW(cli->arena, struct desk);

	if (!d)
		(void)err_set(e, ERR_LIMIT, "out of memory");
	return d;
}

/* With `record`, also the log: what cannot be recorded does not happen. */
static int desk_open(struct desk *d, struct cli *cli, bool record, struct err *e)
{
	_cleanup_close_ int above = FD_NONE;
	char path[OWN_PATH_MAX];
	int r = own_load(cli, &d->own, e);

	if (r >= 0)
		r = above = state_open(&d->own.state, ".", "tokens", path, sizeof(path), e);
	if (r >= 0)
		r = token_store_open(path, &d->store, e);
	if (r >= 0)
		r = token_store_load(d->store, e);
	return r < 0 || !record ? r : own_audit_open(&d->own, &d->audit, e);
}

static void put_pairs(struct buf *out, const struct token_entry *t)
{
	buf_puts(out, t->all_pairs ? "*" : "");
	for (size_t i = 0; i < t->n_pairs; i++) {
		const struct pair *p = &t->pairs[i];

		buf_puts(out, i ? "," : "");
		if (!str_eq(p->channel, STR("telegram"))) {
			buf_put(out, p->channel);
			buf_putc(out, ':');
		}
		buf_put(out, p->agent);
		buf_putc(out, ':');
		buf_put(out, p->chat_id);
	}
}

static int record(struct desk *d, const char *what, struct str id, struct str name, struct str pairs,
		  struct err *e)
{
	const struct audit_field f[] = {
		{ "token", id }, { "name", name }, { "pairs", pairs }, { "admin", STR("true") }
	};

	return audit_event(d->audit, AUDIT_TOKEN, what, f, d->own.cli->admin ? 4 : 3, e);
}

/* ---- new ---- */

static int take_options(struct cli *cli, struct token_entry *pairs, struct token_opts *o, struct err *e)
{
	uint64_t ms = 0;

	*o = (struct token_opts){ .name = cli->name.text, .pairs = pairs, .now_ms = clock_unix_ms() };
	if (!cli->pairs.has)
		return err_set(
			e, ERR_USAGE,
			"for whom? --pairs AGENT:CHAT[,AGENT:CHAT...]; '*' is every pair of the allowlist");
	if (cli->name.has && !token_name_valid(cli->name.text))
		return err_set(e, ERR_USAGE,
			       "--name '" STR_FMT
			       "' is not accepted: letters, digits, '.', '_' and '-', at most %u",
			       STR_ARG(cli->name.text), TOKEN_NAME_MAX);
	if (cli->expires.has && (parse_duration(cli->expires.text, EXPIRES_MAX_MS, &ms) < 0 || ms == 0))
		return err_set(e, ERR_USAGE,
			       "--expires '" STR_FMT "' is not accepted: a time such as 30m, 12h or 90d",
			       STR_ARG(cli->expires.text));
	o->expires_ms = ms ? o->now_ms + ms : 0;
	pairs->admin = cli->admin;
	return token_pairs_parse(cli->arena, cli->pairs.text, pairs, e) < 0 ? err_wrap(e, "--pairs") : 0;
}

static bool is_listed(const struct config *c, const struct pair *p)
{
	for (size_t i = 0; i < c->n_pairs; i++)
		if (str_eq(c->pairs[i].channel, p->channel) && str_eq(c->pairs[i].agent, p->agent) &&
		    str_eq(c->pairs[i].chat_id, p->chat_id))
			return true;
	return false;
}

/* A token opens nothing that the allowlist does not: said now, and not when the first call gets 403. */
static void warn_about_pairs(const struct desk *d, const struct token_entry *t)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, OUTPUT_MAX);
	if (t->all_pairs)
		buf_puts(
			&text,
			"note: whoever holds this token can speak for every agent and chat of the allowlist\n");
	if (t->admin)
		buf_puts(&text, "note: whoever holds this token can answer approvals for everybody\n");
	for (size_t i = 0; i < t->n_pairs; i++) {
		const struct pair *p = &t->pairs[i];

		if (!is_listed(&d->own.config, p))
			buf_printf(
				&text,
				"note: " STR_FMT ":" STR_FMT " (" STR_FMT
				") is not in the allowlist yet: calls for it are refused until identity.pairs has it\n",
				STR_ARG(p->agent), STR_ARG(p->chat_id), STR_ARG(p->channel));
	}
	if (!d->own.cli->quiet)
		output_complain(buf_str(&text));
}

static void put_new(struct cli *cli, const struct token_opts *o, const char *id, const char *token,
		    struct str pairs)
{
	struct jsonw w;

	if (!cli->json) {
		buf_puts(cli->out, token);
		buf_putc(cli->out, '\n');
		return;
	}
	jsonw_init(&w, cli->out, 2);
	jsonw_obj(&w);
	jsonw_kz(&w, "id", id);
	jsonw_kstr(&w, "name", o->name);
	jsonw_kz(&w, "token", token);
	jsonw_kstr(&w, "pairs", pairs);
	jsonw_kbool(&w, "admin", o->pairs->admin);
	time_json(&w, "expires", o->expires_ms);
	jsonw_obj_end(&w);
	buf_putc(cli->out, '\n');
}

/* The runner's own: guard and runner read it from the state directory, so it is not printed. */
static int new_runner_token(struct cli *cli, struct err *e)
{
	_cleanup_(desk_closep) struct desk *d = desk_new(cli, e);
	_cleanup_runner_token_ struct runner_token token = { 0 };
	_cleanup_close_ int state = FD_NONE;
	char path[OWN_PATH_MAX];
	int r = d ? 0 : -1;

	if (r >= 0 && (cli->pairs.has || cli->expires.has || cli->name.has || cli->admin))
		return err_set(e, ERR_USAGE, "--runner takes none of --pairs, --expires, --name and --admin");
	if (r >= 0)
		r = desk_open(d, cli, true, e);
	if (r >= 0)
		r = state = state_open(&d->own.state, ".", RUNNER_TOKEN_FILE, path, sizeof(path), e);
	if (r >= 0)
		r = record(d, "made", STR("runner"), STR("runner"), STR(""), e);
	if (r >= 0)
		r = runner_token_make(state, path, &token, e);
	if (r < 0)
		return session_failed(r, e);
	if (!cli->quiet)
		buf_printf(cli->out, "%s\n", path);
	return 0;
}

int run_token_new(struct cli *cli, struct err *e)
{
	_cleanup_(desk_closep) struct desk *d = desk_new(cli, e);
	_cleanup_buf_ struct buf pairs = { 0 };
	struct token_entry bound = { 0 };
	char token[TOKEN_TEXT_MAX] = "", id[TOKEN_ID_MAX] = "";
	struct token_opts o;
	int r;

	if (cli->for_runner)
		return new_runner_token(cli, e);
	r = d ? take_options(cli, &bound, &o, e) : -1;
	if (r < 0)
		return r;
	r = desk_open(d, cli, true, e);
	if (r < 0)
		return session_failed(r, e);
	buf_init(&pairs, OUTPUT_MAX);
	put_pairs(&pairs, &bound);
	r = token_new(d->store, &o, token, id, e);
	if (r >= 0)
		r = record(d, "made", str_z(id), o.name, buf_str(&pairs), e);
	if (r < 0) {
		struct err ignored = { 0 };

		/* One that nobody wrote down is good for nothing. */
		if (id[0])
			(void)token_revoke(d->store, str_z(id), clock_unix_ms(), id, &ignored);
		explicit_bzero(token, sizeof(token));
		return r;
	}
	put_new(cli, &o, id, token, buf_str(&pairs));
	explicit_bzero(token, sizeof(token));
	warn_about_pairs(d, &bound);
	if (!cli->quiet && !cli->json)
		output_complain(STR(
			"this is the only time that the token is shown; 'creel token list' shows the rest of it\n"));
	return 0;
}

/* ---- list ---- */

static void put_list_json(struct cli *cli, const struct tokens *t, uint64_t now)
{
	struct jsonw w;

	jsonw_init(&w, cli->out, 2);
	jsonw_obj(&w);
	jsonw_karr(&w, "tokens");
	for (size_t i = 0; i < t->n; i++) {
		_cleanup_buf_ struct buf pairs = { 0 };
		const struct token_entry *one = &t->v[i];
		char id[TOKEN_ID_MAX];

		buf_init(&pairs, OUTPUT_MAX);
		put_pairs(&pairs, one);
		token_id(one, id);
		jsonw_obj(&w);
		jsonw_kz(&w, "id", id);
		jsonw_kstr(&w, "name", one->name);
		jsonw_kz(&w, "state", enum_name(token_state_names, (int)token_state(one, now)));
		jsonw_kstr(&w, "pairs", buf_str(&pairs));
		jsonw_kbool(&w, "admin", one->admin);
		time_json(&w, "created", one->created_ms);
		time_json(&w, "expires", one->expires_ms);
		time_json(&w, "used", one->used_ms);
		time_json(&w, "revoked", one->revoked_ms);
		jsonw_obj_end(&w);
	}
	jsonw_arr_end(&w);
	jsonw_obj_end(&w);
	buf_putc(cli->out, '\n');
}

static struct str ahead(struct arena *a, uint64_t now, uint64_t then)
{
	if (!then)
		return STR("never");
	return then > now ? arena_printf(a, "in " STR_FMT, STR_ARG(short_age(a, then, now)))
			  : arena_printf(a, STR_FMT " ago", STR_ARG(short_age(a, now, then)));
}

static void put_table(struct cli *cli, const struct tokens *t, uint64_t now)
{
	static const char *const titles[] = { "ID",      "NAME",    "ADMIN",    "STATE",
					      "CREATED", "EXPIRES", "LAST USE", "PAIRS" };
	struct columns c = {
		.arena = cli->arena, .n = 8, .titles = titles, .bold = output_wants_colour(cli)
	};

	for (size_t i = 0; i < t->n; i++) {
		_cleanup_buf_ struct buf pairs = { 0 };
		const struct token_entry *one = &t->v[i];
		char id[TOKEN_ID_MAX];

		buf_init(&pairs, OUTPUT_MAX);
		put_pairs(&pairs, one);
		token_id(one, id);
		columns_put(&c, str_z(id));
		columns_put(&c, one->name.n ? one->name : STR("-"));
		columns_put(&c, one->admin ? STR("yes") : STR("-"));
		columns_put(&c, str_z(enum_name(token_state_names, (int)token_state(one, now))));
		columns_put(&c, ahead(cli->arena, now, one->created_ms));
		columns_put(&c, ahead(cli->arena, now, one->expires_ms));
		columns_put(&c, ahead(cli->arena, now, one->used_ms));
		columns_put(&c, buf_str(&pairs));
	}
	columns_print(&c, cli->out);
}

/* For scripts and shells: what revoke takes. */
static void put_ids(struct cli *cli, const struct tokens *t)
{
	char id[TOKEN_ID_MAX];

	for (size_t i = 0; i < t->n; i++) {
		token_id(&t->v[i], id);
		buf_printf(cli->out, "%s\n", id);
	}
}

int run_token_list(struct cli *cli, struct err *e)
{
	_cleanup_(desk_closep) struct desk *d = desk_new(cli, e);
	const struct tokens *t;
	int r = d ? desk_open(d, cli, false, e) : -1;

	if (r < 0)
		return session_failed(r, e);
	t = token_store_tokens(d->store);
	if (cli->json)
		put_list_json(cli, t, clock_unix_ms());
	else if (cli->quiet)
		put_ids(cli, t);
	else if (t->n)
		put_table(cli, t, clock_unix_ms());
	else
		output_complain(STR("no tokens; 'creel token new --pairs AGENT:CHAT' makes one\n"));
	return 0;
}

/* ---- revoke ---- */

int run_token_revoke(struct cli *cli, struct err *e)
{
	_cleanup_(desk_closep) struct desk *d = desk_new(cli, e);
	int r = d ? desk_open(d, cli, true, e) : -1;

	if (r < 0)
		return session_failed(r, e);
	for (size_t i = 0; r >= 0 && i < cli->args.words.n; i++) {
		char id[TOKEN_ID_MAX];

		r = token_revoke(d->store, cli->args.words.v[i], clock_unix_ms(), id, e);
		if (r > 0)
			r = record(d, "revoked", str_z(id), STR(""), STR(""), e) < 0 ? -1 : 1;
		if (r >= 0)
			buf_printf(cli->out, "%s: revoked%s\n", id, r ? "" : " already");
	}
	return r < 0 ? r : 0;
}
