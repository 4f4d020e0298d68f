/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/process_log.h"

#include "base/utf8.h"

#include <stdio.h>

#define PIECE ((size_t)256 << 10)
#define LAST_LINES 200

struct reader {
	struct box *box;
	const struct jobs_ops *ops;
	struct str id;
	enum jobs_stream stream;
	char *piece;
	uint64_t at, end; /* what is written while we read is for the next time */
};

/* The next piece; empty at the end. */
static int next_piece(struct reader *r, size_t size, struct str *ret, struct err *e)
{
	struct jobs_part part = { 0 };
	uint64_t left = r->end > r->at ? r->end - r->at : 0;
	int k = 0;

	*ret = (struct str){ .p = r->piece, .n = 0 };
	if (size > PIECE)
		size = PIECE;
	if (size > left)
		size = (size_t)left;
	if (size > 0)
		k = r->ops->log(r->box, r->id, r->stream, r->at, r->piece, size, &part, e);
	if (k < 0)
		return k;
	ret->n = part.n;
	if (part.n)
		r->at = part.at + part.n;
	return 0;
}

static void put(struct jsonw *w, const char *key, const char *what, uint64_t v)
{
	char name[48];

	(void)snprintf(name, sizeof(name), "%s%s", key, what);
	jsonw_ku64(w, name, v);
}

static void put_truncated(struct jsonw *w, const char *key, bool cut)
{
	char name[48];

	(void)snprintf(name, sizeof(name), "%sTruncated", key);
	jsonw_kbool(w, name, cut);
}

/* ---- bytes ---- */

static int put_bytes(struct reader *r, const struct process_log *q, const struct jobs_log *log,
		     const char *key, struct jsonw *w, struct err *e)
{
	uint64_t want = q->limit < q->max ? q->limit : q->max;
	_cleanup_buf_ struct buf text = { 0 };
	struct str piece, whole;
	uint64_t begin;
	size_t missing;
	int k;

	r->at = q->offset > log->first ? q->offset : log->first;
	begin = r->at;
	buf_init(&text, q->max + 8);
	do {
		k = next_piece(r, (size_t)(want - text.n), &piece, e);
		if (k < 0)
			return k;
		if (text.n == 0 && piece.n)
			begin = r->at - piece.n;
		buf_put(&text, piece);
	} while (piece.n > 0 && text.n < want && !text.failed);
	if (text.failed)
		return err_sys(e, ENOMEM, "read a log");
	whole = buf_str(&text);
	if (begin + whole.n < log->total && text_stump(whole, &missing) < whole.n)
		whole.n -= text_stump(whole, &missing); /* it begins the next part */
	jsonw_kstr(w, key, whole);
	put(w, key, "Offset", begin);
	put(w, key, "NextOffset", begin + whole.n);
	put(w, key, "Bytes", log->total);
	put_truncated(w, key, begin + whole.n < log->total);
	return 0;
}

/* ---- lines ---- */

static int count_lines(struct reader *r, uint64_t *ret, struct err *e)
{
	struct str piece = { 0 };
	char last = '\n';
	int k;

	*ret = 0;
	do {
		k = next_piece(r, PIECE, &piece, e);
		if (k < 0)
			return k;
		for (const char *p = piece.p, *end = p + piece.n;
		     p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
			++*ret;
		if (piece.n)
			last = piece.p[piece.n - 1];
	} while (piece.n > 0);
	*ret += last != '\n';
	return 0;
}

struct window {
	uint64_t from, to; /* lines */
	uint64_t line;     /* that the next byte belongs to */
	struct buf text;
	size_t max;
	bool cut;
};

static void take_lines(struct window *v, struct str piece)
{
	struct str line;

	while (v->line < v->to && text_next_line(&piece, &line)) {
		bool whole = line.p[line.n - 1] == '\n';

		if (v->line >= v->from) {
			size_t room = v->max - v->text.n;

			v->cut |= line.n > room;
			if (line.n > room)
				line = utf8_prefix(line, room);
			buf_put(&v->text, line);
		}
		v->line += whole;
	}
}

static int put_lines(struct reader *r, const struct process_log *q, const struct jobs_log *log,
		     const char *key, struct jsonw *w, struct err *e)
{
	uint64_t total, limit = q->has_limit ? q->limit : q->has_offset ? UINT64_MAX : LAST_LINES;
	struct window v = { .max = q->max };
	struct str piece;
	int k;

	r->at = log->first;
	k = count_lines(r, &total, e);
	if (k < 0)
		return k;
	v.from = q->has_offset ? q->offset : total > limit ? total - limit : 0;
	v.to = limit > UINT64_MAX - v.from ? UINT64_MAX : v.from + limit;
	r->at = log->first;
	buf_init(&v.text, q->max + 1);
	do {
		k = next_piece(r, PIECE, &piece, e);
		if (k >= 0)
			take_lines(&v, piece);
	} while (k >= 0 && piece.n > 0 && v.line < v.to && !v.cut);
	if (k >= 0) {
		jsonw_kstr(w, key, buf_str(&v.text));
		put(w, key, "Offset", v.from < total ? v.from : total);
		put(w, key, "Lines", total);
		put(w, key, "Bytes", log->total);
		put_truncated(w, key, v.cut || v.from > 0 || v.to < total);
	}
	buf_done(&v.text);
	return k;
}

int process_put_log(struct tool_ctx *x, const struct jobs_ops *ops, struct str id,
		    const struct process_log *q, struct jsonw *w, struct err *e)
{
	struct reader r = { .box = x->programs->box, .ops = ops, .id = id };
	struct jobs_info info;
	int k = ops->info(r.box, id, &info, e);

	if (k < 0)
		return k;
	background_say_info(x, w, &info);
	r.piece = arena_alloc(x->arena, PIECE, 1);
	for (int i = 0; r.piece && k >= 0 && i < JOBS_STREAMS_; i++) {
		const struct jobs_log *log = &info.log[i];
		const char *key = i == JOBS_OUT ? "stdout" : "stderr";

		if (!(i == JOBS_OUT ? q->out : q->err))
			continue;
		r.stream = (enum jobs_stream)i;
		r.end = log->total;
		if (log->first)
			put(w, key, "Dropped", log->first);
		k = q->by_bytes ? put_bytes(&r, q, log, key, w, e) : put_lines(&r, q, log, key, w, e);
	}
	return k;
}
