/* SPDX-License-Identifier: Apache-2.0 */
/* creel pairing list, approve, add and revoke: which senders are known. */
#include "cli/own.h"
#include "cli/session.h"

#include "audit/audit.h"
#include "base/clock.h"
#include "base/fd.h"
#include "identity/pairing.h"

#include <unistd.h>

struct desk {
	struct own own;
	struct pairing_store *store;
	struct audit *audit;
};

static void desk_closep(struct desk **d)
{
	if (*d) {
		(void)pairing_store_close((*d)->store);
		(void)audit_close((*d)->audit);
	}
}

static int desk_open(struct cli *cli, bool record, struct desk **ret, struct err *e)
{
	struct desk *d = *ret = ARENA_NEW(cli->arena, struct desk);
	_cleanup_close_ int above = FD_NONE;
	char path[OWN_PATH_MAX];
	int r = d ? own_load(cli, &d->own, e) : err_set(e, ERR_LIMIT, "out of memory");

	if (r >= 0)
		r = above = state_open(&d->own.state, ".", "pairing", path, sizeof(path), e);
	if (r >= 0)
		r = pairing_store_open(path, &d->store, e);
	if (r >= 0)
		r = pairing_store_load(d->store, e);
	return r < 0 || !record ? r : own_audit_open(&d->own, &d->audit, e);
}

static int record(struct desk *d, const char *what, struct str channel, struct str user, struct err *e)
{
	const struct audit_field f[] = { { "channel", channel }, { "sender", user } };

	return audit_event(d->audit, AUDIT_APPROVAL, what, f, 2, e);
}

static struct str operator_name(struct cli *cli)
{
	return arena_printf(cli->arena, "uid %u", (unsigned)getuid());
}

static void put_line(struct cli *cli, struct str channel, struct str user, const char *what)
{
	buf_put_visible(cli->out, channel);
	buf_putc(cli->out, ' ');
	buf_put_visible(cli->out, user);
	buf_printf(cli->out, ": %s\n", what);
}

/* ---- list ---- */

static void put_json(struct cli *cli, const struct pairing *p, uint64_t now)
{
	struct jsonw w;

	jsonw_init(&w, cli->out, 2);
	jsonw_obj(&w);
	jsonw_karr(&w, "senders");
	for (size_t i = 0; i < p->n_senders; i++) {
		jsonw_obj(&w);
		jsonw_kstr(&w, "channel", p->senders[i].channel);
		jsonw_kstr(&w, "user", p->senders[i].user);
		jsonw_kstr(&w, "name", p->senders[i].name);
		jsonw_kstr(&w, "by", p->senders[i].by);
		jsonw_ku64(&w, "approved_ms", p->senders[i].approved_ms);
		jsonw_obj_end(&w);
	}
	jsonw_arr_end(&w);
	jsonw_karr(&w, "pending");
	for (size_t i = 0; i < p->n_pending; i++) {
		if (!p->pending[i].code.n)
			continue; /* used */
		jsonw_obj(&w);
		jsonw_kstr(&w, "code", p->pending[i].code);
		jsonw_kstr(&w, "channel", p->pending[i].channel);
		jsonw_kstr(&w, "user", p->pending[i].user);
		jsonw_kstr(&w, "name", p->pending[i].name);
		jsonw_kstr(&w, "preview", p->pending[i].preview);
		jsonw_ku64(&w, "asked_ms", p->pending[i].asked_ms);
		jsonw_kbool(&w, "expired", !pairing_code_good(&p->pending[i], now));
		jsonw_obj_end(&w);
	}
	jsonw_arr_end(&w);
	jsonw_obj_end(&w);
	buf_putc(cli->out, '\n');
}

static void put_table(struct cli *cli, const struct pairing *p, uint64_t now)
{
	static const char *const titles[] = { "CODE", "CHANNEL", "USER", "NAME", "AGE", "MESSAGE" };
	struct columns c = {
		.arena = cli->arena, .n = 6, .titles = titles, .bold = output_wants_colour(cli)
	};

	for (size_t i = 0; i < p->n_pending; i++) {
		const struct pairing_pending *one = &p->pending[i];

		if (!one->code.n)
			continue;
		columns_put(&c, pairing_code_good(one, now) ? one->code : STR("expired"));
		columns_put(&c, one->channel);
		columns_put(&c, one->user);
		columns_put(&c, one->name.n ? one->name : STR("-"));
		columns_put(&c, short_age(cli->arena, now, one->asked_ms));
		columns_put(&c, one->preview);
	}
	for (size_t i = 0; i < p->n_senders; i++) {
		const struct pairing_sender *one = &p->senders[i];

		columns_put(&c, STR("known"));
		columns_put(&c, one->channel);
		columns_put(&c, one->user);
		columns_put(&c, one->name.n ? one->name : STR("-"));
		columns_put(&c, short_age(cli->arena, now, one->approved_ms));
		columns_put(&c, STR(""));
	}
	columns_print(&c, cli->out);
}

static bool has_waiting(const struct pairing *p)
{
	for (size_t i = 0; i < p->n_pending; i++)
		if (p->pending[i].code.n)
			return true;
	return false;
}

int run_pairing_list(struct cli *cli, struct err *e)
{
	_cleanup_(desk_closep) struct desk *d = NULL;
	const struct pairing *p;
	int r = desk_open(cli, false, &d, e);

	if (r < 0)
		return session_failed(r, e);
	p = pairing_store_get(d->store);
	if (cli->json)
		put_json(cli, p, clock_unix_ms());
	else if (p->n_senders || has_waiting(p))
		put_table(cli, p, clock_unix_ms());
	else if (!cli->quiet)
		output_complain(
			STR("no sender is known or waits; 'creel pairing add CHANNEL USER' adds one\n"));
	return 0;
}

/* ---- changing ---- */

/* Somebody whom nobody wrote down is not let in. */
static int record_known(struct desk *d, struct str channel, struct str user, struct err *e)
{
	struct err ignored = { 0 };
	int r = record(d, "paired", channel, user, e);

	if (r < 0)
		(void)pairing_revoke(d->store, channel, user, &ignored);
	else
		put_line(d->own.cli, channel, user, "known");
	return r;
}

int run_pairing_approve(struct cli *cli, struct err *e)
{
	_cleanup_(desk_closep) struct desk *d = NULL;
	struct pairing_sender who;
	int r = desk_open(cli, true, &d, e);

	if (r < 0)
		return session_failed(r, e);
	r = pairing_approve(d->store, cli->args.words.v[0], operator_name(cli), clock_unix_ms(), &who, e);
	return r < 0 ? r : record_known(d, who.channel, who.user, e);
}

int run_pairing_add(struct cli *cli, struct err *e)
{
	_cleanup_(desk_closep) struct desk *d = NULL;
	struct pairing_sender who = { .channel = cli->args.words.v[0],
				      .user = cli->args.words.v[1],
				      .approved_ms = clock_unix_ms() };
	int r = desk_open(cli, true, &d, e);

	if (r < 0)
		return session_failed(r, e);
	who.by = operator_name(cli);
	r = pairing_add(d->store, &who, e);
	if (r > 0)
		return record_known(d, who.channel, who.user, e);
	if (r == 0)
		put_line(cli, who.channel, who.user, "known already");
	return r;
}

int run_pairing_revoke(struct cli *cli, struct err *e)
{
	_cleanup_(desk_closep) struct desk *d = NULL;
	struct str channel = cli->args.words.v[0], user = cli->args.words.v[1];
	int r = desk_open(cli, true, &d, e);

	if (r < 0)
		return session_failed(r, e);
	r = pairing_revoke(d->store, channel, user, e);
	if (r >= 0)
		r = record(d, "unpaired", channel, user, e);
	if (r >= 0)
		put_line(cli, channel, user, "revoked");
	return r;
}
