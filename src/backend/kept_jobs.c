/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/jobs.h"
#include "backend/kept_priv.h"

#define NO_FDS (&(struct message_fds){ .n = 0 })

static int bad_answer(struct err *e)
{
	return err_set(e, ERR_PROTO, "the keeper said what is no answer");
}

static void set_viewer(const struct box *b, struct keeper_request *h)
{
	h->owner = b->jobs_owner;
	h->flags |= b->jobs_any ? KEEPER_F_ANY : 0;
}

static int name_job(const struct box *b, struct str id, struct keeper_request *h, struct err *e)
{
	h->job = keeper_job_number(id);
	set_viewer(b, h);
	if (!h->job)
		return err_set(e, ERR_NOTFOUND, "there is no process '" STR_FMT "'", STR_ARG(id));
	return 0;
}

/* Asks, and takes the one job that the answer is about. */
static int ask_one(struct box *b, struct keeper_request *h, struct str body, struct message_fds *fds,
		   struct jobs_info *ret, struct err *e)
{
	_cleanup_reply_ struct kept_reply m = KEPT_REPLY_NONE;
	int r = kept_ask(kept_of(b), h, body, fds, 0, &m, e);

	if (r < 0)
		return r;
	return keeper_event_job(&m.body, ret) < 0 || m.body.n ? bad_answer(e) : 0;
}

static int ask_named(struct box *b, struct str id, struct keeper_request *h, struct str body,
		     struct jobs_info *ret, struct err *e)
{
	struct jobs_info unused;
	int r = name_job(b, id, h, e);

	return r < 0 ? r : ask_one(b, h, body, NO_FDS, ret ? ret : &unused, e);
}

static int jobs_start(struct box *b, const struct box_call *call, struct str text, struct jobs_info *ret,
		      struct err *e)
{
	struct keeper_request h = { .msg = KEEPER_JOB_START, .owner = b->jobs_owner };
	struct buf body;
	int r;

	for (int i = 0; i < 3; i++)
		if (call->stdio[i] >= 0)
			return err_set(e, ERR_USAGE, "a background process has streams of its own");
	buf_init(&body, KEEPER_BODY_MAX);
	r = kept_put_call(&body, call, text.p ? text : STR(""), &h, e);
	h.flags &= ~(uint32_t)KEEPER_F_TELL;
	if (r >= 0)
		r = ask_one(b, &h, buf_str(&body), NO_FDS, ret, e);
	if (body.p)
		explicit_bzero(body.p, body.n);
	buf_done(&body);
	return r;
}

static int jobs_list(struct box *b, struct jobs_info *ret, size_t max, size_t *ret_n, struct err *e)
{
	struct keeper_request h = { .msg = KEEPER_JOB_LIST };
	_cleanup_reply_ struct kept_reply m = KEPT_REPLY_NONE;
	size_t n = 0;
	int r;

	set_viewer(b, &h);
	r = kept_ask(kept_of(b), &h, STR(""), NO_FDS, 0, &m, e);
	if (r < 0)
		return r;
	for (; m.body.n && n < max; n++)
		if (keeper_event_job(&m.body, &ret[n]) < 0)
			return bad_answer(e);
	*ret_n = n;
	return 0;
}

static int jobs_info(struct box *b, struct str id, struct jobs_info *ret, struct err *e)
{
	return ask_named(b, id, &(struct keeper_request){ .msg = KEEPER_JOB_INFO }, STR(""), ret, e);
}

static int jobs_poll(struct box *b, struct str id, uint64_t wait_ms, char *out[static JOBS_STREAMS_],
		     size_t size, struct jobs_part part[static JOBS_STREAMS_], struct jobs_info *ret,
		     struct err *e)
{
	struct keeper_request h = { .msg = KEEPER_JOB_POLL,
				    .size = size < JOBS_READ_MAX ? size : JOBS_READ_MAX,
				    .wait_ms = wait_ms < JOBS_WAIT_MAX_MS ? wait_ms : JOBS_WAIT_MAX_MS };
	_cleanup_reply_ struct kept_reply m = KEPT_REPLY_NONE;
	int r = name_job(b, id, &h, e);

	if (r >= 0)
		r = kept_ask(kept_of(b), &h, STR(""), NO_FDS, h.wait_ms, &m, e);
	if (r < 0)
		return r;
	if (keeper_event_job(&m.body, ret) < 0 ||
	    keeper_event_parts(m.body, out, h.size, part, JOBS_STREAMS_) < 0)
		return bad_answer(e);
	return 0;
}

static int jobs_log(struct box *b, struct str id, enum jobs_stream stream, uint64_t at, char *out,
		    size_t size, struct jobs_part *ret, struct err *e)
{
	struct keeper_request h = { .msg = KEEPER_JOB_LOG,
				    .stream = stream,
				    .at = at,
				    .size = size < JOBS_READ_MAX ? size : JOBS_READ_MAX };
	_cleanup_reply_ struct kept_reply m = KEPT_REPLY_NONE;
	int r = name_job(b, id, &h, e);

	if (r >= 0)
		r = kept_ask(kept_of(b), &h, STR(""), NO_FDS, 0, &m, e);
	if (r < 0)
		return r;
	return keeper_event_parts(m.body, &out, h.size, ret, 1) < 0 ? bad_answer(e) : 0;
}

static int jobs_write(struct box *b, struct str id, struct str bytes, bool close, struct err *e)
{
	struct keeper_request h = { .msg = KEEPER_JOB_WRITE, .flags = close ? KEEPER_F_CLOSE : 0 };

	if (bytes.n > JOBS_INPUT_MAX)
		return err_set(e, ERR_LIMIT, "%zu bytes of input: at most %d at once", bytes.n,
			       JOBS_INPUT_MAX);
	return ask_named(b, id, &h, bytes, NULL, e);
}

static int jobs_signal(struct box *b, struct str id, int signo, struct err *e)
{
	return ask_named(b, id, &(struct keeper_request){ .msg = KEEPER_JOB_SIGNAL, .signal = signo },
			 STR(""), NULL, e);
}

static int jobs_kill(struct box *b, struct str id, struct jobs_info *ret, struct err *e)
{
	return ask_named(b, id, &(struct keeper_request){ .msg = KEEPER_JOB_KILL }, STR(""), ret, e);
}

static int jobs_remove(struct box *b, struct str id, struct err *e)
{
	return ask_named(b, id, &(struct keeper_request){ .msg = KEEPER_JOB_REMOVE }, STR(""), NULL, e);
}

static int jobs_adopt(struct box *b, const struct jobs_adopt *what, struct jobs_info *ret, struct err *e)
{
	struct keeper_request h = { .msg = KEEPER_JOB_ADOPT,
				    .wait_ms = what->started_ms,
				    .owner = b->jobs_owner };
	const struct keeper_end end = keeper_put_end(&what->end);
	struct message_fds fds = { .n = 0 };
	char room[sizeof(end) + JOBS_TEXT_MAX];
	struct buf body;

	for (unsigned i = 0; i < JOBS_STREAMS_; i++)
		if (what->fd[i] >= 0) {
			h.fds |= 1u << i;
			fds.v[fds.n++] = what->fd[i];
		}
	buf_init_on(&body, sizeof(room), room, sizeof(room));
	buf_put(&body, (struct str){ .p = (const char *)&end, .n = sizeof(end) });
	buf_put(&body, (struct str){ .p = what->text.p,
				     .n = what->text.n < JOBS_TEXT_MAX ? what->text.n : JOBS_TEXT_MAX - 1 });
	return ask_one(b, &h, buf_str(&body), &fds, ret, e);
}

const struct jobs_ops kept_jobs = { .start = jobs_start,
				    .list = jobs_list,
				    .info = jobs_info,
				    .poll = jobs_poll,
				    .log = jobs_log,
				    .write = jobs_write,
				    .signal = jobs_signal,
				    .kill = jobs_kill,
				    .remove = jobs_remove,
				    .adopt = jobs_adopt };
