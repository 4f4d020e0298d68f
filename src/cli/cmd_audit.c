/* SPDX-License-Identifier: Apache-2.0 */
/* creel audit show, follow and verify: what was decided and what came of it, and whether that is still all of it. */
#include "cli/own.h"
#include "cli/session.h"

#include "audit/audit.h"
#include "base/clock.h"
#include "data/json.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <unistd.h>

#define RECORD_ARENA ((size_t)8 << 20)
#define FLUSH_BYTES ((size_t)64 << 10)
enum { FOLLOW_BACK = 256 * 1024, FOLLOW_ROWS = 10, FOLLOW_LOOK_MS = 1000, NOT_WHOLE = 1, LAST_MAX = 10000 };

struct ring;

struct show {
	struct cli *cli;
	struct audit_filter filter;
	struct buf text; /* not printed yet */
	bool terminal;
	uint64_t n_shown;
	struct ring *last; /* NULL = all of them */
	struct err *e;
};

static void show_done(struct show *s)
{
	buf_done(&s->text);
}

static int show_init(struct show *s, struct cli *cli, struct err *e)
{
	s->cli = cli;
	s->e = e;
	s->terminal = isatty(STDOUT_FILENO) == 1;
	buf_init(&s->text, OUTPUT_MAX);
	return filter_init(&s->filter, cli, e);
}

static int flush(struct show *s)
{
	int r;

	if (s->text.failed)
		return err_set(s->e, ERR_LIMIT, "out of memory");
	r = output_all(STDOUT_FILENO, buf_str(&s->text), s->e);
	s->text.n = 0;
	return r;
}

/* Into s->text; 1 when the record is meant. */
static int put_record(struct show *s, const struct audit_record *rec)
{
	const struct json_opts o = { .max_depth = 8, .max_bytes = AUDIT_LINE_MAX, .max_values = 8192 };
	_cleanup_arena_ struct arena a = { 0 };
	struct err ignored = { 0 };
	struct value v;

	arena_init(&a, RECORD_ARENA);
	if (json_parse(&a, rec->line, &o, &v, &ignored) < 0 || !filter_takes(&s->filter, rec->seq, &v))
		return 0;
	if (s->cli->json)
		audit_line_put(&s->text, rec->line, s->terminal);
	else
		audit_row_put(&s->text, &a, &v);
	return 1;
}

/* ---- the last rows ---- */

struct ring {
	struct buf *row;
	size_t max, n; /* n: how many there were in all */
};

static void ring_done(struct ring *k)
{
	for (size_t i = 0; k->row && i < k->max; i++)
		buf_done(&k->row[i]);
}

static int ring_init(struct ring *k, struct cli *cli, uint64_t max, struct err *e)
{
	if (max < 1 || max > LAST_MAX)
		return err_set(e, ERR_USAGE, "--last is 1..%d", LAST_MAX);
	k->row = ARENA_ARRAY(cli->arena, struct buf, max);
	k->max = max;
	return k->row ? 0 : err_set(e, ERR_LIMIT, "out of memory");
}

static void ring_keep(struct ring *k, struct show *s)
{
	struct buf *b = &k->row[k->n++ % k->max];

	buf_done(b);
	*b = s->text;
	buf_init(&s->text, OUTPUT_MAX);
}

static int ring_print(struct ring *k, struct show *s)
{
	int r = 0;

	if (!s->cli->json && !s->cli->quiet)
		audit_row_title(&s->text, output_wants_colour(s->cli));
	for (size_t i = k->n > k->max ? k->n - k->max : 0; r >= 0 && i < k->n; i++) {
		buf_put(&s->text, buf_str(&k->row[i % k->max]));
		r = s->text.n >= FLUSH_BYTES ? flush(s) : 0;
	}
	return r < 0 ? r : flush(s);
}

/* ---- show ---- */

static int show_last_record(struct show *s, const struct audit_record *rec)
{
	if (put_record(s, rec) == 0)
		return 0;
	s->n_shown++;
	if (s->text.failed)
		return flush(s);
	ring_keep(s->last, s);
	return 0;
}

static int show_record(void *ctx, const struct audit_record *rec)
{
	struct show *s = ctx;

	if (s->last)
		return show_last_record(s, rec);
	if (s->n_shown == 0 && !s->cli->json && !s->cli->quiet && s->text.n == 0)
		audit_row_title(&s->text, output_wants_colour(s->cli));
	s->n_shown += (uint64_t)put_record(s, rec);
	return s->text.n >= FLUSH_BYTES || s->text.failed ? flush(s) : 0;
}

static void tell(const struct cli *cli, const char *text)
{
	if (!cli->quiet)
		output_complain(str_z(text));
}

static bool is_there(const char *dir)
{
	return access(dir, F_OK) == 0;
}

static int find_log(struct cli *cli, char dir[static OWN_PATH_MAX], struct err *e)
{
	struct own *o = ARENA_NEW(cli->arena, struct own);
	int r;

	if (!o)
		return err_set(e, ERR_LIMIT, "out of memory");
	r = own_load(cli, o, e);
	if (r >= 0)
		r = own_audit_dir(o, false, dir, e);
	return r;
}

/* What is to be shown, and of which log. */
static int show_begin(struct show *s, struct cli *cli, char dir[static OWN_PATH_MAX], struct err *e)
{
	int r = show_init(s, cli, e);

	return r < 0 ? r : find_log(cli, dir, e);
}

static int no_log(const struct cli *cli, const char *dir)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, 2 * OWN_PATH_MAX);
	buf_puts(&text, "no audit log in '");
	buf_put_visible(&text, str_z(dir));
	buf_puts(&text, "' yet; the first 'creel call' makes it (--state-dir and audit.path say where)\n");
	tell(cli, buf_str(&text).p);
	return 0;
}

int run_audit_show(struct cli *cli, struct err *e)
{
	_cleanup_(show_done) struct show s = { 0 };
	_cleanup_(ring_done) struct ring last = { 0 };
	struct audit_verdict v;
	struct audit_verify_opts o = { .each = show_record, .ctx = &s };
	char dir[OWN_PATH_MAX];
	int r = show_begin(&s, cli, dir, e);

	if (r >= 0 && cli->last.has) {
		r = ring_init(&last, cli, cli->last.number, e);
		s.last = &last;
	}
	if (r < 0)
		return session_failed(r, e);
	if (!is_there(dir))
		return no_log(cli, dir);
	o.dir = dir;
	r = audit_verify(&o, &v, e);
	if (r >= 0 && s.n_shown)
		r = s.last ? ring_print(&last, &s) : flush(&s);
	if (r < 0)
		return r;
	if (!s.n_shown)
		tell(cli, v.n_records
				  ? "no records like that; 'creel audit show' without a choice shows all\n"
				  : "no records\n");
	if (v.n_findings)
		tell(cli, "the log is not whole: 'creel audit verify' tells what is wrong with it\n");
	return 0;
}

/* ---- follow ---- */

/* All that is there now; `keep` NULL: printed at once. */
static int take_all(struct show *s, struct audit_tail *t, struct ring *keep)
{
	for (;;) {
		_cleanup_arena_ struct arena a = { 0 };
		struct audit_record rec;
		int r;

		arena_init(&a, RECORD_ARENA);
		r = audit_tail_next(t, &a, &rec, s->e);
		if (r <= 0)
			return r;
		r = put_record(s, &rec);
		if (r > 0 && keep)
			ring_keep(keep, s);
		else if (r > 0)
			r = flush(s);
		if (r < 0)
			return r;
	}
}

/* Until there may be more: 1; 0 when nobody reads our output any more. */
static int wait_for_more(const struct audit_tail *t, struct err *e)
{
	struct pollfd p[] = { { .fd = STDOUT_FILENO }, { .fd = audit_tail_fd(t), .events = POLLIN } };

	if (poll(p, 2, FOLLOW_LOOK_MS) < 0 && errno != EINTR)
		return err_sys(e, errno, "poll");
	return !(p[0].revents & (POLLERR | POLLHUP | POLLNVAL));
}

int run_audit_follow(struct cli *cli, struct err *e)
{
	_cleanup_(audit_tail_closep) struct audit_tail *t = NULL;
	_cleanup_(show_done) struct show s = { 0 };
	_cleanup_(ring_done) struct ring last = { 0 };
	char dir[OWN_PATH_MAX];
	int r = show_begin(&s, cli, dir, e);

	if (r >= 0)
		r = ring_init(&last, cli, FOLLOW_ROWS, e);
	if (r < 0)
		return session_failed(r, e);
	if (!is_there(dir))
		return err_set(e, ERR_NOTFOUND, "no audit log in '%s' yet; the first 'creel call' makes it",
			       dir);
	r = audit_tail_open(dir, FOLLOW_BACK, &t, e);
	if (r >= 0)
		r = take_all(&s, t, &last);
	if (r >= 0)
		r = ring_print(&last, &s);
	while (r >= 0) {
		r = wait_for_more(t, e);
		if (r == 0)
			return 0;
		if (r > 0)
			r = take_all(&s, t, NULL);
	}
	return e->sys_errno == EPIPE ? 0 : r;
}

/* ---- verify ---- */

static int take_anchor(struct str text, struct audit_anchor *ret, struct err *e)
{
	struct str seq, hash;
	bool fine = str_cut(text, ':', &seq, &hash) && str_to_u64(seq, UINT64_MAX - 1, &ret->seq) == 0 &&
		    ret->seq > 0 && hash.n == SHA256_HEX - 1;

	for (size_t i = 0; fine && i < hash.n; i++)
		fine = memchr("0123456789abcdef", hash.p[i], 16) != NULL;
	if (!fine)
		return err_set(
			e, ERR_USAGE,
			"--anchor '" STR_FMT
			"' is not accepted: NUMBER:HASH of a record, as 'creel audit verify' prints it",
			STR_ARG(text));
	memcpy(ret->hash, hash.p, hash.n);
	return 0;
}

static int take_anchors(struct cli *cli, struct audit_verify_opts *o, struct err *e)
{
	struct audit_anchor *v = ARENA_ARRAY(cli->arena, struct audit_anchor, cli->anchors.n);

	if (!v)
		return err_set(e, ERR_LIMIT, "out of memory");
	for (size_t i = 0; i < cli->anchors.n; i++) {
		int r = take_anchor(cli->anchors.v[i], &v[i], e);

		if (r < 0)
			return r;
	}
	o->anchors = v;
	o->n_anchors = cli->anchors.n;
	o->first_seq = cli->first_seq.has ? cli->first_seq.number : 0;
	return 0;
}

static size_t findings_told(const struct audit_verdict *v)
{
	return v->n_findings < AUDIT_FINDINGS_MAX ? (size_t)v->n_findings : AUDIT_FINDINGS_MAX;
}

static void put_verdict(struct buf *out, const struct audit_verdict *v)
{
	for (size_t i = 0; i < findings_told(v); i++) {
		const struct audit_finding *f = &v->findings[i];

		buf_put_visible(out, str_z(f->file));
		if (f->line)
			buf_printf(out, ":%" PRIu64, f->line);
		buf_puts(out, ": ");
		buf_put_visible(out, str_z(f->text));
		buf_putc(out, '\n');
	}
	if (v->n_findings > AUDIT_FINDINGS_MAX)
		buf_printf(out, "and %" PRIu64 " more\n", v->n_findings - AUDIT_FINDINGS_MAX);
	buf_printf(out, "%s: %" PRIu64 " record%s in %" PRIu64 " file%s",
		   v->n_findings ? "not whole" : "whole", v->n_records, v->n_records == 1 ? "" : "s",
		   v->n_files, v->n_files == 1 ? "" : "s");
	if (v->n_repaired)
		buf_printf(out, ", %" PRIu64 " torn line%s that the log tells of", v->n_repaired,
			   v->n_repaired == 1 ? "" : "s");
	if (v->last.seq)
		buf_printf(out, "; last %" PRIu64 ":%s", v->last.seq, v->last.hash);
	buf_putc(out, '\n');
}

static void put_verdict_json(struct buf *out, const struct audit_verdict *v)
{
	struct jsonw w;

	jsonw_init(&w, out, 2);
	jsonw_obj(&w);
	jsonw_kbool(&w, "whole", v->n_findings == 0);
	jsonw_ku64(&w, "records", v->n_records);
	jsonw_ku64(&w, "files", v->n_files);
	jsonw_ku64(&w, "first", v->first_seq);
	jsonw_ku64(&w, "repaired", v->n_repaired);
	jsonw_kobj(&w, "last");
	jsonw_ku64(&w, "seq", v->last.seq);
	jsonw_kz(&w, "hash", v->last.seq ? v->last.hash : "");
	jsonw_obj_end(&w);
	jsonw_ku64(&w, "n_findings", v->n_findings);
	jsonw_karr(&w, "findings");
	for (size_t i = 0; i < findings_told(v); i++) {
		jsonw_obj(&w);
		jsonw_kz(&w, "fault", enum_name(audit_fault_names, (int)v->findings[i].fault));
		jsonw_kz(&w, "file", v->findings[i].file);
		jsonw_ku64(&w, "line", v->findings[i].line);
		jsonw_ku64(&w, "seq", v->findings[i].seq);
		jsonw_kz(&w, "text", v->findings[i].text);
		jsonw_obj_end(&w);
	}
	jsonw_arr_end(&w);
	jsonw_obj_end(&w);
	buf_putc(out, '\n');
}

int run_audit_verify(struct cli *cli, struct err *e)
{
	struct audit_verify_opts o = { 0 };
	struct audit_verdict v;
	char dir[OWN_PATH_MAX];
	int r = take_anchors(cli, &o, e);

	if (r >= 0)
		r = find_log(cli, dir, e);
	if (r < 0)
		return session_failed(r, e);
	o.dir = dir;
	r = audit_verify(&o, &v, e);
	if (r < 0)
		return r;
	if (cli->json)
		put_verdict_json(cli->out, &v);
	else
		put_verdict(cli->out, &v);
	return v.n_findings ? NOT_WHOLE : 0;
}
