/* SPDX-License-Identifier: Apache-2.0 */
/* What a client asks for: looked up in a table, and done. */
#include "keeper/keeper_priv.h"

#include "backend/native.h"
#include "sandbox/wire_serve.h"

#include <unistd.h>

#define STRS_FEW 128u
#define START_MS 8000u

static void refuse(struct asking *a, const struct err *e)
{
	client_refuse(a->c, a->h->msg, a->h->id, e);
}

/* ---- calls ---- */

static int open_body(struct asking *a, struct str *ret_mapped)
{
	int r;

	if (!(a->h->fds & KEEPER_FD_BODY))
		return 0;
	r = message_map(a->fds->v[a->fds->n - 1], a->h->body, ret_mapped);
	a->body = *ret_mapped;
	return r;
}

static void pass_streams(const struct asking *a, struct box_call *bc)
{
	size_t at = 0;

	for (unsigned i = 0; i < 3; i++)
		if (a->h->fds & 1u << i)
			bc->stdio[i] = a->fds->v[at++];
}

/* With the strings of a call in `room` when they are few. */
static int read_call(struct asking *a, struct str *room, struct str **ret_more, struct box_call *ret,
		     struct str *ret_text, struct err *e)
{
	size_t n = (size_t)a->h->argc + a->h->envc;
	struct str *strs = room;

	if (n > STRS_FEW) {
		strs = calloc(n, sizeof(*strs));
		*ret_more = strs;
	}
	if (!strs)
		return err_sys(e, ENOMEM, "take a call");
	if (keeper_request_call(a->h, a->body, strs, ret, ret_text) < 0) {
		a->c->broken = true;
		return err_set(e, ERR_PROTO, "the body of a call is not what its head says");
	}
	return 0;
}

static void take_exec(struct asking *a)
{
	struct call as = { .theirs = a->h->id, .client = a->c, .keep = a->h->flags & KEEPER_F_KEEP };
	struct str room[STRS_FEW], text;
	_cleanup_free_ struct str *more = NULL;
	_cleanup_(message_unmap) struct str mapped = { 0 };
	struct box_call bc;
	struct err e = { 0 };
	int r = 0;

	if (a->h->id <= a->c->last_id || open_body(a, &mapped) < 0) {
		a->c->broken = true;
		return;
	}
	a->c->last_id = a->h->id;
	r = read_call(a, room, &more, &bc, &text, &e);
	if (r >= 0) {
		pass_streams(a, &bc);
		r = call_begin(a->k, &bc, &as, &e);
	}
	if (r < 0)
		refuse(a, &e);
	/* While it runs: moving takes its time. */
	stay_follow(&a->k->following, a->h->cpu);
}

/* The box's number of a call of this client, also of one that has ended and left something behind. */
static uint64_t number_of(const struct asking *a)
{
	for (size_t i = 0; i < KEEPER_CALLS_MAX; i++)
		if (a->k->calls[i].client == a->c && a->k->calls[i].theirs == a->h->id)
			return a->k->calls[i].id;
	for (size_t i = 0; i < LEFT_MAX; i++)
		if (a->c->left[i].theirs == a->h->id)
			return a->c->left[i].id;
	return 0;
}

static void take_signal(struct asking *a)
{
	uint64_t id = a->h->id ? number_of(a) : 0;
	struct err ignored;

	if (id)
		(void)call_signal(a->k, id, a->h->signal, a->h->msg == KEEPER_CANCEL, &ignored);
}

/* ---- the whole ---- */

static const struct stat_seen *see_stat(struct keeper *k)
{
	struct stat_seen *s = &k->stat;
	uint64_t round = loop_rounds(k->loop);

	/* Of calls on lines we do not hear, so whoever asks after the end of one has to be told what is so since. */
	if (s->round != round || k->last_line) {
		*s = (struct stat_seen){ .round = round };
		s->r = k->box->ops->stat(k->box, &s->stat, &s->err);
	}
	return s;
}

static void take_stat(struct asking *a)
{
	const struct stat_seen *seen = see_stat(a->k);
	const struct box_stat st = seen->stat;
	struct keeper_stat w;

	if (seen->r < 0) {
		refuse(a, &seen->err);
		return;
	}
	w = (struct keeper_stat){ .calls = st.calls,
				  .probes = st.probes,
				  .landlock_abi = st.landlock_abi,
				  .user_us = st.user_us,
				  .sys_us = st.sys_us,
				  .memory_bytes = st.memory_bytes,
				  .oom_kills = st.oom_kills,
				  .pids_refused = st.pids_refused };
	memcpy(w.walls, st.walls, sizeof(st.walls));
	client_reply(a->c, a->h->msg, a->h->id, (struct str){ .p = (const char *)&w, .n = sizeof(w) },
		     FD_NONE);
}

static void take_files(struct asking *a)
{
	struct err e = { 0 }, ignored;
	int socket = FD_NONE, patience = 0, r;

	/* The one before is not wanted any more; where the payload has stopped it, it does not see that itself. */
	if (a->c->clerk)
		(void)call_signal(a->k, a->c->clerk, 0, true, &ignored);
	a->c->clerk = 0;
	do
		r = native_clerk(a->k->box, &socket, &a->c->clerk, &e);
	while (r == -EAGAIN && call_patient(a->k, &patience));
	if (r < 0)
		refuse(a, &e);
	else
		client_reply(a->c, a->h->msg, a->h->id, STR(""), socket);
}

static void take_line(struct asking *a)
{
	struct keeper *k = a->k;
	const struct str workdir = native_workdir(k->box);
	struct keeper_line h = { .number = k->last_line + 1 };
	char body[sizeof(h) + 4096];
	struct err e = { 0 };
	int socket = FD_NONE, r = 0;

	if (k->last_line == SERVE_LINE_LAST)
		r = err_set(&e, ERR_LIMIT, "this sandbox has had as many lines as it may");
	else if (workdir.n > sizeof(body) - sizeof(h))
		r = err_set(&e, ERR_LIMIT, "the sandbox's working directory is too long to be told");
	if (r >= 0) {
		k->last_line++;
		r = native_line(k->box, h.number, &socket, &e);
	}
	if (r < 0) {
		refuse(a, &e);
		return;
	}
	memcpy(body, &h, sizeof(h));
	if (workdir.n)
		memcpy(body + sizeof(h), workdir.p, workdir.n);
	client_reply(a->c, a->h->msg, a->h->id, (struct str){ .p = body, .n = sizeof(h) + workdir.n },
		     socket);
}

static void take_stop(struct asking *a)
{
	loop_stop(a->k->loop, 0);
}

static void take_job(struct asking *a)
{
	_cleanup_(message_unmap) struct str mapped = { 0 };

	if (open_body(a, &mapped) < 0)
		a->c->broken = true;
	else
		job_request(a);
}

static void take_job_start(struct asking *a);

typedef void take_fn(struct asking *a);
static take_fn *const takers[KEEPER_REQUEST_END_] = {
	[KEEPER_EXEC] = take_exec,      [KEEPER_CANCEL] = take_signal,       [KEEPER_SIGNAL] = take_signal,
	[KEEPER_STAT] = take_stat,      [KEEPER_FILES] = take_files,         [KEEPER_STOP] = take_stop,
	[KEEPER_LINE] = take_line,      [KEEPER_JOB_START] = take_job_start, [KEEPER_JOB_LIST] = take_job,
	[KEEPER_JOB_INFO] = take_job,   [KEEPER_JOB_POLL] = take_job,        [KEEPER_JOB_LOG] = take_job,
	[KEEPER_JOB_WRITE] = take_job,  [KEEPER_JOB_SIGNAL] = take_job,      [KEEPER_JOB_KILL] = take_job,
	[KEEPER_JOB_REMOVE] = take_job, [KEEPER_JOB_ADOPT] = take_job,
};

void request_take(struct client *c, const struct keeper_request *h, struct str body, struct message_fds *fds)
{
	struct asking a = { .k = c->k, .c = c, .h = h, .body = body, .fds = fds };

	if (!c->k->gone)
		takers[h->msg](&a);
}

/* ---- a job ---- */

static int begin_job(struct asking *a, struct job *j, struct box_call *bc, struct err *e)
{
	struct call as = { .job = j, .keep = bc->keep };
	int theirs[3] = { FD_NONE, FD_NONE, FD_NONE };
	int r = bc->pty ? 0 : job_open_pipes(j, theirs, e);

	if (r >= 0) {
		memcpy(bc->stdio, theirs, sizeof(theirs));
		bc->tell = true;
		r = call_begin(a->k, bc, &as, e);
	}
	for (int i = 0; i < 3; i++)
		(void)fd_close(theirs[i]);
	if (r >= 0)
		j->call = as.id;
	return r;
}

static void take_job_start(struct asking *a)
{
	struct str room[STRS_FEW], text;
	_cleanup_free_ struct str *more = NULL;
	_cleanup_(message_unmap) struct str mapped = { 0 };
	struct box_call bc;
	struct err e = { 0 };
	struct job *j = NULL;
	int r;

	if (open_body(a, &mapped) < 0) {
		a->c->broken = true;
		return;
	}
	r = read_call(a, room, &more, &bc, &text, &e);
	if (r >= 0 && a->k->n_live == JOBS_LIVE_MAX)
		r = err_set(&e, ERR_LIMIT, "%d background processes run in this sandbox already",
			    JOBS_LIVE_MAX);
	if (r >= 0) {
		j = job_new(a->k, a->h->owner);
		r = j ? 0 : err_sys(&e, ENOMEM, "start a background process");
	}
	if (r >= 0) {
		job_set_text(j, text);
		j->info.pty = bc.pty;
		r = begin_job(a, j, &bc, &e);
	}
	if (r >= 0) {
		client_wait(a->c, a->h, j, START_MS);
		return;
	}
	if (j)
		job_free(j);
	refuse(a, &e);
}
