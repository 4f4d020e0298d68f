/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the records say. Names, verdicts, numbers, and the command or the file's name as far as it is short; never output, file contents, variables'
 * values or tokens. Each text is cut, and goes through the redactor first: cut before, half a secret would not be known again.
 */
#include "audit/audit_priv.h"

#include "base/jsonw.h"

enum { TEXT_MAX = 512, ARGV_BYTES = 2048, ARGV_MAX = 64, DENIALS_MAX = 32, FIELDS_MAX = 32 };
#define REDACTED_MAX ((size_t)1 << 20)

struct record {
	const struct audit *a;
	struct buf text;
	struct jsonw w;
	char room[2048]; /* of the text, usually enough */
};

static void record_done(struct record *r)
{
	buf_done(&r->text);
}

static void record_init(struct record *r, const struct audit *a, enum audit_kind kind)
{
	r->a = a;
	buf_init_on(&r->text, AUDIT_LINE_MAX, r->room, sizeof(r->room));
	jsonw_init(&r->w, &r->text, 0);
	jsonw_obj(&r->w);
	jsonw_kz(&r->w, "kind", enum_name(audit_kind_names, (int)kind));
}

/* Without its braces: what every record has comes around it. */
static int record_append(struct record *r, struct audit *a, uint64_t *ret_seq, struct err *e)
{
	jsonw_obj_end(&r->w);
	if (r->text.failed)
		return err_set(e, ERR_LIMIT, "audit log: a record is larger than %zu bytes", AUDIT_LINE_MAX);
	return append(a, (struct str){ .p = r->text.p + 1, .n = r->text.n - 2 }, ret_seq, e);
}

static bool put_redacted(struct record *r, struct str t, size_t max)
{
	bool cut = t.n > max;

	if (cut)
		t.n = max;
	while (cut && t.n && ((unsigned char)t.p[t.n] & 0xc0) == 0x80)
		t.n--;
	jsonw_str(&r->w, t);
	return cut;
}

static bool put_changed(struct record *r, struct str s, size_t max)
{
	_cleanup_buf_ struct buf b = { 0 };
	char room[512]; /* usually enough */

	buf_init_on(&b, REDACTED_MAX, room, sizeof(room));
	redact_put(r->a->redactor, &b, s);
	return put_redacted(r, b.failed ? STR("<unknown>") : buf_str(&b), max);
}

/* Text of at most `max` bytes; true when it was cut. */
static bool put_text(struct record *r, struct str s, size_t max)
{
	/* Beyond this nobody would see it: looking for secrets in megabytes of arguments takes long. */
	if (s.n > REDACTED_MAX / 8)
		s.n = REDACTED_MAX / 8;
	return redact_may_change(r->a->redactor, s) ? put_changed(r, s, max) : put_redacted(r, s, max);
}

static void put_field(struct record *r, const char *key, struct str s)
{
	if (!s.n)
		return;
	jsonw_key(&r->w, str_z(key));
	(void)put_text(r, s, TEXT_MAX);
}

static void put_argv(struct record *r, const struct strs *argv)
{
	size_t left = ARGV_BYTES;
	bool cut = argv->n > ARGV_MAX;

	if (!argv->n)
		return;
	jsonw_karr(&r->w, "argv");
	for (size_t i = 0; i < argv->n && i < ARGV_MAX && left > 0; i++) {
		size_t max = left < TEXT_MAX ? left : TEXT_MAX;

		cut |= put_text(r, argv->v[i], max);
		left -= argv->v[i].n < max ? argv->v[i].n : max;
	}
	jsonw_arr_end(&r->w);
	if (cut || left == 0)
		jsonw_kbool(&r->w, "argv_cut", true);
}

static void put_who(struct record *r, const struct decision *d)
{
	put_field(r, "request", d->request_id);
	jsonw_kz(&r->w, "via", enum_name(via_names, (int)d->who.via));
	put_field(r, "agent", d->who.agent);
	put_field(r, "session", d->who.session_key);
	put_field(r, "channel", d->who.channel);
	put_field(r, "chat", d->who.chat_id);
	put_field(r, "user", d->who.user_id);
	put_field(r, "token", d->who.token);
}

static void put_where(struct record *r, const struct decision *d, struct str walls)
{
	jsonw_kz(&r->w, "place", enum_name(place_names, (int)d->place.place));
	jsonw_kz(&r->w, "backend", enum_name(backend_names, (int)d->place.backend));
	jsonw_kz(&r->w, "scope", enum_name(scope_names, (int)d->place.scope));
	put_field(r, "key", d->place.key);
	jsonw_kz(&r->w, "route", enum_name(route_names, (int)d->net.route));
	put_field(r, "workspace", d->workspace);
	put_field(r, "walls", walls);
	if (d->place.elevated.requested)
		jsonw_kbool(&r->w, "elevated", d->place.elevated.used);
}

int audit_decided(struct audit *a, const struct decision *d, struct str walls, uint64_t *ret_seq,
		  struct err *e)
{
	_cleanup_(record_done) struct record r = { .a = NULL };
	uint64_t seq = 0;
	int held, code;

	record_init(&r, a, AUDIT_DECIDED);
	jsonw_kz(&r.w, "verdict", enum_name(verdict_names, (int)d->verdict));
	jsonw_kz(&r.w, "code", code_word(d->code));
	if (d->verdict == VERDICT_DENY)
		jsonw_kz(&r.w, "stage", enum_name(stage_names, (int)d->stopped_at));
	put_field(&r, "message", d->message);
	put_who(&r, d);
	put_field(&r, "tool", d->tool.name.n ? d->tool.name : d->tool.asked);
	jsonw_kz(&r.w, "trust", enum_name(trust_names, (int)d->mode.trust));
	put_where(&r, d, walls);
	put_argv(&r, &d->tool.argv);
	put_field(&r, "path", d->tool.path);
	held = calls_begin(a, d);
	code = record_append(&r, a, &seq, e);
	calls_begun(a, held, code < 0 ? 0 : seq);
	if (ret_seq)
		*ret_seq = seq;
	return code;
}

static void put_denial(struct record *r, const struct denial *d)
{
	jsonw_obj(&r->w);
	jsonw_kz(&r->w, "layer", d->layer ? d->layer : "?");
	jsonw_kz(&r->w, "operation", d->operation ? d->operation : "?");
	jsonw_kz(&r->w, "verdict", d->verdict ? d->verdict : "?");
	jsonw_key(&r->w, STR("object"));
	(void)put_text(r, d->object, TEXT_MAX / 4);
	jsonw_key(&r->w, STR("rule"));
	(void)put_text(r, d->rule, TEXT_MAX / 4);
	jsonw_ku64(&r->w, "count", d->count);
	jsonw_obj_end(&r->w);
}

static void put_denials(struct record *r, const struct audit_end *end)
{
	if (!end->n_denials)
		return;
	jsonw_ku64(&r->w, "n_denials", end->n_denials);
	jsonw_karr(&r->w, "denials");
	for (size_t i = 0; i < end->n_denials && i < DENIALS_MAX; i++)
		put_denial(r, &end->denials[i]);
	jsonw_arr_end(&r->w);
}

int audit_finished(struct audit *a, const struct audit_end *end, struct err *e)
{
	_cleanup_(record_done) struct record r = { .a = NULL };
	int code;

	record_init(&r, a, AUDIT_FINISHED);
	jsonw_ku64(&r.w, "decided", end->decided);
	put_field(&r, "request", end->request_id);
	put_field(&r, "session", end->session);
	put_field(&r, "tool", end->tool);
	jsonw_kz(&r.w, "reason", end->reason ? end->reason : "?");
	jsonw_key(&r.w, STR("exit"));
	jsonw_i64(&r.w, end->exit);
	jsonw_ku64(&r.w, "duration_ms", end->duration_ms);
	jsonw_ku64(&r.w, "cpu_ms", end->cpu_ms);
	jsonw_ku64(&r.w, "peak_bytes", end->peak_bytes);
	jsonw_ku64(&r.w, "stdout_bytes", end->stdout_bytes);
	jsonw_ku64(&r.w, "stderr_bytes", end->stderr_bytes);
	jsonw_kbool(&r.w, "truncated", end->truncated);
	if (end->elevated)
		jsonw_kbool(&r.w, "elevated", true);
	put_field(&r, "approval", end->approval);
	put_field(&r, "error", end->error);
	put_field(&r, "why", end->why);
	put_denials(&r, end);
	code = record_append(&r, a, NULL, e);
	if (code >= 0)
		calls_end(a, end->decided);
	return code;
}

int audit_event(struct audit *a, enum audit_kind kind, const char *what, const struct audit_field *f,
		size_t n, struct err *e)
{
	_cleanup_(record_done) struct record r = { .a = NULL };

	if (kind <= AUDIT_FINISHED || kind >= AUDIT_REPAIRED || n > FIELDS_MAX)
		return err_set(e, ERR_BUG, "audit log: not an event, or more than %d fields", FIELDS_MAX);
	record_init(&r, a, kind);
	jsonw_kz(&r.w, "what", what);
	for (size_t i = 0; i < n; i++)
		put_field(&r, f[i].key, f[i].value);
	return record_append(&r, a, NULL, e);
}
