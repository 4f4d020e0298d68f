/* SPDX-License-Identifier: Apache-2.0 */
/* What clients ask about jobs, and what they are told, at once or when it is so. */
#include "keeper/keeper_priv.h"

#include "base/buf.h"
#include "base/port.h"

#define END_MS 5000u /* a tree that does not end within it has a process that cannot */
#define ANSWER_MAX ((size_t)4 << 20)
static_assert(2u * JOBS_READ_MAX + 4096 < ANSWER_MAX && ANSWER_MAX <= KEEPER_BODY_MAX &&
		      (JOBS_LIVE_MAX + JOBS_ENDED_MAX + 1) * sizeof(struct keeper_job) < ANSWER_MAX,
	      "every answer fits");

static void put_job(struct buf *b, struct job *j)
{
	struct keeper_job w;

	j->info.input = j->in >= 0 && !j->close_input;
	for (unsigned s = 0; s < JOBS_STREAMS_; s++)
		j->info.log[s] = (struct jobs_log){ .first = j->log[s].first, .total = j->log[s].total };
	w = keeper_put_job(&j->info, j->number);
	buf_put(b, (struct str){ .p = (const char *)&w, .n = sizeof(w) });
}

/* Who asks for its removal hears of it when its logs are gone. */
static void reply_job(struct client *c, uint32_t op, uint64_t id, struct job *j)
{
	char room[sizeof(struct keeper_job) + 16];
	struct buf b;

	for (unsigned s = 0; op == KEEPER_JOB_REMOVE && s < JOBS_STREAMS_; s++)
		log_drop(j, s);
	buf_init_on(&b, sizeof(room), room, sizeof(room));
	put_job(&b, j);
	client_reply(c, op, id, buf_str(&b), FD_NONE);
}

static void refuse_text(struct client *c, uint32_t op, uint64_t id, enum err_kind kind, const char *text,
			const struct job *j)
{
	struct err e;

	(void)err_set(&e, kind, "process '%s' %s", j->info.id, text);
	client_refuse(c, op, id, &e);
}

/* ---- output ---- */

/* A part's head and its bytes go to different places: all heads come first. */
static size_t read_part(struct job *j, unsigned s, uint64_t at, char *out, size_t size, struct buf *heads)
{
	size_t n = log_read(j, s, &at, out, size);
	const struct keeper_part w = { .at = at, .n = n };

	buf_put(heads, (struct str){ .p = (const char *)&w, .n = sizeof(w) });
	return n;
}

static void reply_parts(struct client *c, uint32_t op, uint64_t id, struct buf *b, struct str bytes)
{
	struct err e;

	buf_put(b, bytes);
	if (!b->failed)
		client_reply(c, op, id, buf_str(b), FD_NONE);
	else {
		(void)err_sys(&e, ENOMEM, "read a log");
		client_refuse(c, op, id, &e);
	}
}

static void reply_poll(struct client *c, uint32_t op, uint64_t id, struct job *j, size_t size)
{
	_cleanup_free_ char *bytes = malloc(size * JOBS_STREAMS_ + 1);
	_cleanup_buf_ struct buf b;
	size_t n = 0;

	buf_init(&b, bytes ? ANSWER_MAX : 0);
	put_job(&b, j);
	for (unsigned s = 0; bytes && s < JOBS_STREAMS_; s++) {
		size_t got = read_part(j, s, j->polled[s], bytes + n, size, &b);
		uint64_t from = j->polled[s] < j->log[s].first ? j->log[s].first : j->polled[s];

		j->polled[s] = from + got;
		n += got;
	}
	reply_parts(c, op, id, &b, (struct str){ .p = bytes, .n = n });
}

static bool has_news(const struct job *j)
{
	return !j->info.running || j->log[JOBS_OUT].total > j->polled[JOBS_OUT] ||
	       j->log[JOBS_ERR].total > j->polled[JOBS_ERR];
}

static void take_poll(struct asking *a, struct job *j)
{
	if (a->h->wait_ms && !has_news(j))
		client_wait(a->c, a->h, j, a->h->wait_ms);
	else
		reply_poll(a->c, a->h->msg, a->h->id, j, a->h->size);
}

static void take_log(struct asking *a, struct job *j)
{
	_cleanup_free_ char *bytes = malloc(a->h->size + 1);
	_cleanup_buf_ struct buf b;
	size_t n;

	buf_init(&b, bytes ? ANSWER_MAX : 0);
	n = bytes ? read_part(j, a->h->stream, a->h->at, bytes, a->h->size, &b) : 0;
	reply_parts(a->c, a->h->msg, a->h->id, &b, (struct str){ .p = bytes, .n = n });
}

/* ---- the rest ---- */

static void reply_or_refuse(struct asking *a, struct job *j, int r, const struct err *e)
{
	if (r < 0)
		client_refuse(a->c, a->h->msg, a->h->id, e);
	else
		reply_job(a->c, a->h->msg, a->h->id, j);
}

static void take_info(struct asking *a, struct job *j)
{
	reply_job(a->c, a->h->msg, a->h->id, j);
}

static void take_write(struct asking *a, struct job *j)
{
	struct err e = { 0 };
	int r = job_input(j, a->body, a->h->flags & KEEPER_F_CLOSE, &e);

	reply_or_refuse(a, j, r, &e);
}

static void take_signal(struct asking *a, struct job *j)
{
	struct err e = { 0 };
	int r = j->info.running ? call_signal(a->k, j->call, a->h->signal, false, &e)
				: err_set(&e, ERR_NOTFOUND, "process '%s' has ended", j->info.id);

	reply_or_refuse(a, j, r, &e);
}

/* Of one that has ended it is what it left behind, if it was to go on. */
static void take_kill(struct asking *a, struct job *j)
{
	bool removes = a->h->msg == KEEPER_JOB_REMOVE;
	struct err e = { 0 };
	int r = j->call ? call_signal(a->k, j->call, 0, true, &e) : 0;

	if (r >= 0 && j->info.running) {
		client_wait(a->c, a->h, j, END_MS);
		return;
	}
	reply_or_refuse(a, j, r, &e);
	if (r >= 0 && removes)
		job_free(j);
}

typedef void take_fn(struct asking *a, struct job *j);
static take_fn *const takers[KEEPER_REQUEST_END_] = {
	[KEEPER_JOB_INFO] = take_info,   [KEEPER_JOB_POLL] = take_poll,     [KEEPER_JOB_LOG] = take_log,
	[KEEPER_JOB_WRITE] = take_write, [KEEPER_JOB_SIGNAL] = take_signal, [KEEPER_JOB_KILL] = take_kill,
	[KEEPER_JOB_REMOVE] = take_kill,
};

static void take_list(struct asking *a)
{
	_cleanup_buf_ struct buf b;

	buf_init(&b, ANSWER_MAX);
	for (struct job *j = a->k->jobs; j; j = j->next)
		if (job_is_for(j, a->h))
			put_job(&b, j);
	reply_parts(a->c, a->h->msg, a->h->id, &b, STR(""));
}

static int adopt(struct asking *a, struct job *j, struct err *e)
{
	struct keeper_end end;
	size_t at = 0;

	if (a->body.n < sizeof(end))
		return err_set(e, ERR_PROTO, "a log without an end");
	memcpy(&end, a->body.p, sizeof(end));
	end.reason = end.reason < BOX_REASON_COUNT_ ? end.reason : BOX_LOST;
	keeper_get_end(&end, &j->info.end);
	job_set_text(j, str_from(a->body, sizeof(end)));
	j->info.spill = true;
	j->info.started_ms = a->h->wait_ms;
	for (unsigned s = 0; s < JOBS_STREAMS_; s++) {
		int r = a->h->fds & 1u << s ? log_adopt(j, s, a->fds->v[at++]) : 0;

		if (r < 0)
			return err_sys(e, -r, "keep the output of a call");
	}
	return 0;
}

static void take_adopt(struct asking *a)
{
	struct job *j = job_new(a->k, a->h->owner);
	struct err e = { 0 };
	int r;

	if (!j) {
		(void)err_sys(&e, ENOMEM, "keep the output of a call");
		client_refuse(a->c, a->h->msg, a->h->id, &e);
		return;
	}
	r = adopt(a, j, &e);
	j->info.running = false;
	j->info.ended_ms = clock_unix_ms();
	j->known = true;
	a->k->n_live--;
	a->k->n_ended++;
	reply_or_refuse(a, j, r, &e);
	if (r < 0)
		job_free(j);
	else
		jobs_trim(a->k);
}

void job_request(struct asking *a)
{
	struct job *j = a->h->job ? job_find(a->k, a->h) : NULL;
	struct err e;

	if (a->h->msg == KEEPER_JOB_LIST)
		take_list(a);
	else if (a->h->msg == KEEPER_JOB_ADOPT)
		take_adopt(a);
	else if (j)
		takers[a->h->msg](a, j);
	else {
		(void)err_set(&e, ERR_NOTFOUND, "there is no process 'p%u'", a->h->job);
		client_refuse(a->c, a->h->msg, a->h->id, &e);
	}
}

/* ---- what was waited for ---- */

static bool is_due(const struct waiting *w, const struct job *j)
{
	switch (w->op) {
	case KEEPER_JOB_START:
		return j->known;
	case KEEPER_JOB_POLL:
		return has_news(j);
	default:
		return !j->info.running;
	}
}

void job_answer(struct job *j)
{
	bool remove = false;

	for (struct client *c = j->k->clients; c; c = c->next) {
		struct waiting w = c->waiting;

		if (w.job != j || !is_due(&w, j))
			continue;
		client_answered(c);
		if (w.op == KEEPER_JOB_POLL)
			reply_poll(c, w.op, w.id, j, w.size);
		else
			reply_job(c, w.op, w.id, j);
		remove |= w.op == KEEPER_JOB_REMOVE;
	}
	if (remove)
		job_free(j);
}

void job_late(struct client *c)
{
	struct waiting w = c->waiting;

	client_answered(c);
	if (w.op == KEEPER_JOB_POLL)
		reply_poll(c, w.op, w.id, w.job, w.size);
	else
		refuse_text(c, w.op, w.id, ERR_LIMIT,
			    w.op == KEEPER_JOB_START ? "did not start in time" : "could not be ended in time",
			    w.job);
}
