/* SPDX-License-Identifier: Apache-2.0 */
/* Which records of the audit log are meant. */
#include "cli/own.h"

#include "base/clock.h"
#include "base/parse.h"
#include "data/value.h"

#define SINCE_MAX_MS ((uint64_t)36500 * 86400 * 1000)

/* ---- what was asked for ---- */

/* "2026", "2026-11-17", "2026-11-17T01:02", … up to what a record has: compared as text, so it has to be the front of one. */
static bool is_time(struct str s)
{
	static const char form[] = "0000-00-00T00:00:00.000Z";

	if (s.n < 4 || s.n > sizeof(form) - 1)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		bool digit = s.p[i] >= '0' && s.p[i] <= '9';

		/* Seconds without their fraction may end in Z, too. */
		if (form[i] == '0' ? !digit : s.p[i] != form[i] && !(i == 19 && s.n == 20 && s.p[i] == 'Z'))
			return false;
	}
	return true;
}

static int take_since(struct audit_filter *f, struct cli *cli, struct err *e)
{
	struct str text = cli->since.text, when;
	char buf[CLOCK_TEXT_MAX];
	uint64_t ms, now = clock_unix_ms();

	if (is_time(text)) {
		if (text.n == 20)
			text.n--;
		f->since = text;
		return 0;
	}
	if (parse_duration(text, SINCE_MAX_MS, &ms) < 0)
		return err_set(e, ERR_USAGE,
			       "--since '" STR_FMT
			       "' is not accepted: how long ago (30m, 2h, 7d) or a time in UTC "
			       "(2026-11-17, 2026-11-17T01:02:03Z)",
			       STR_ARG(text));
	if (clock_format(now > ms ? now - ms : 0, buf, &when) < 0)
		return err_set(e, ERR_USAGE, "--since: the clock is beyond the year 9999");
	f->since = arena_str(cli->arena, when);
	return 0;
}

static int take_text(const struct arg_value *v, const char *flag, struct str *ret, struct err *e)
{
	if (v->has && str_trim(v->text).n == 0)
		return err_set(e, ERR_USAGE, "%s must not be blank", flag);
	*ret = v->text;
	return 0;
}

int filter_init(struct audit_filter *f, struct cli *cli, struct err *e)
{
	int r;

	*f = (struct audit_filter){ .denied = cli->denied, .arena = cli->arena };
	f->open = ARENA_ARRAY(cli->arena, uint64_t, FILTER_OPEN_MAX);
	if (!f->open)
		return err_set(e, ERR_LIMIT, "out of memory");
	r = take_text(&cli->session, "--session", &f->session, e);
	if (r >= 0)
		r = take_text(&cli->agent, "--agent", &f->agent, e);
	if (r >= 0)
		r = take_text(&cli->tool, "--tool", &f->tool, e);
	if (r >= 0)
		r = take_text(&cli->request_id, "--request", &f->request, e);
	return r < 0 || !cli->since.has ? r : take_since(f, cli, e);
}

/* ---- one record ---- */

struct str record_text(const struct value *record, const char *key)
{
	const struct value *v = value_get(record, str_z(key));

	return v && v->kind == VALUE_STR ? v->s : (struct str){ 0 };
}

int64_t record_number(const struct value *record, const char *key)
{
	const struct value *v = value_get(record, str_z(key));

	return v && v->kind == VALUE_INT ? v->i : 0;
}

static bool knows_key(const struct audit_filter *f, struct str key)
{
	for (size_t i = 0; i < f->n_keys; i++)
		if (str_eq(f->keys[i], key))
			return true;
	return false;
}

static void learn(struct audit_filter *f, uint64_t seq, struct str key)
{
	f->open[f->next_open++ % FILTER_OPEN_MAX] = seq;
	if (key.n && f->n_keys < FILTER_KEYS_MAX && !knows_key(f, key))
		f->keys[f->n_keys++] = arena_str(f->arena, key);
}

static bool ends_one(const struct audit_filter *f, uint64_t decided)
{
	for (size_t i = 0; decided && i < FILTER_OPEN_MAX; i++)
		if (f->open[i] == decided)
			return true;
	return false;
}

static bool is(struct str wanted, const struct value *record, const char *key)
{
	return wanted.n == 0 || str_eq(wanted, record_text(record, key));
}

static bool is_denial(const struct value *record)
{
	struct str verdict = record_text(record, "verdict"), what = record_text(record, "what");

	return (verdict.n && !str_eq(verdict, STR("ALLOW"))) || record_number(record, "n_denials") > 0 ||
	       str_eq(what, STR("refused")) || str_eq(what, STR("denied"));
}

/* The same question to every kind of record, each in the words that it has. */
static bool is_meant(struct audit_filter *f, uint64_t seq, const struct value *record)
{
	struct str kind = record_text(record, "kind");

	if (str_eq(kind, STR("finished")))
		return ends_one(f, (uint64_t)record_number(record, "decided")) ||
		       (!f->agent.n && is(f->session, record, "session") && is(f->tool, record, "tool") &&
			is(f->request, record, "request"));
	if (str_eq(kind, STR("sandbox")) && (f->session.n || f->agent.n))
		return !f->tool.n && !f->request.n && knows_key(f, record_text(record, "key"));
	if (!is(f->session, record, "session") || !is(f->agent, record, "agent") ||
	    !is(f->tool, record, "tool") || !is(f->request, record, "request"))
		return false;
	if (str_eq(kind, STR("decided")))
		learn(f, seq, record_text(record, "key"));
	return true;
}

bool filter_takes(struct audit_filter *f, uint64_t seq, const struct value *record)
{
	bool meant = is_meant(f, seq, record); /* also of old ones: what they teach counts */

	if (f->since.n && str_cmp(record_text(record, "time"), f->since) < 0)
		return false;
	return meant && (!f->denied || is_denial(record));
}
