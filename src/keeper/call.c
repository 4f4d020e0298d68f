/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: which of the box's belongs to whom, and who is told what of them. */
#include "keeper/keeper_priv.h"

#include <time.h>

#define PATIENCE 500    /* ms that the box may be busy */
#define HEAR_AT_ONCE 64 /* events before the clients have their turn */
#define RETRY_MS 5u

static struct call *find(struct keeper *k, uint64_t id)
{
	for (size_t i = 0; i < KEEPER_CALLS_MAX; i++)
		if (k->calls[i].id == id)
			return &k->calls[i];
	return NULL;
}

/* ---- asking ---- */

/* Pid 1 takes no request while it has something to tell that nobody hears. */
bool call_patient(struct keeper *k, int *tries)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	if (++*tries > PATIENCE || k->gone)
		return false;
	calls_hear(k);
	(void)nanosleep(&pause, NULL);
	return !k->gone;
}

int call_begin(struct keeper *k, const struct box_call *bc, struct call *as, struct err *e)
{
	struct call *slot = k->n_calls < KEEPER_CALLS_MAX ? find(k, 0) : NULL;
	int tries = 0, r;

	if (!slot || k->gone) {
		(void)err_set(e, ERR_LIMIT, "%u calls run in this sandbox already", KEEPER_CALLS_MAX);
		return -EAGAIN;
	}
	do
		r = k->box->ops->exec(k->box, bc, &as->id, e);
	while (r == -EAGAIN && call_patient(k, &tries));
	if (r < 0)
		return r;
	k->stat.round = 0;
	slot = find(k, 0); /* others may have ended meanwhile, none has begun */
	*slot = *as;
	k->n_calls++;
	if (as->client)
		as->client->n_calls++;
	return 0;
}

int call_signal(struct keeper *k, uint64_t id, int signo, bool tree, struct err *e)
{
	const struct box_ops *ops = k->box->ops;
	int tries = 0, r;

	do
		r = tree ? ops->cancel(k->box, id, signo, e) : ops->signal(k->box, id, signo, e);
	while (r == -EAGAIN && call_patient(k, &tries));
	return r;
}

/* ---- hearing ---- */

static void remember_left(const struct call *c)
{
	struct client *of = c->client;

	of->left[of->left_at].theirs = c->theirs;
	of->left[of->left_at].id = c->id;
	of->left_at = (of->left_at + 1) % LEFT_MAX;
}

static void tell_client(struct call *c, struct box_event *ev)
{
	struct keeper_event h = { .msg = KEEPER_EVENT,
				  .id = c->theirs,
				  .kind = ev->kind,
				  .pid = ev->pid,
				  .err_kind = (int32_t)ev->err.kind,
				  .sys_errno = ev->err.sys_errno,
				  .end = keeper_put_end(&ev->end) };

	if (ev->kind == BOX_ENDED && c->keep)
		remember_left(c);
	client_say(c->client, &h, ev->kind == BOX_FAILED ? str_z(ev->err.msg) : STR(""), TAKE_FD(ev->fd));
}

static void tell_job(struct job *j, struct box_event *ev)
{
	switch (ev->kind) {
	case BOX_STARTED:
		job_started(j, ev->pid);
		return;
	case BOX_PTY:
		job_pty(j, TAKE_FD(ev->fd));
		return;
	case BOX_FAILED:
		job_failed(j, &ev->err);
		return;
	case BOX_ENDED:
		job_ended(j, &ev->end);
		return;
	case BOX_GONE:
	default:
		return;
	}
}

static void tell_gone(struct keeper *k, const struct err *why)
{
	for (struct client *c = k->clients; c; c = c->next) {
		struct keeper_event h = { .msg = KEEPER_EVENT,
					  .kind = BOX_GONE,
					  .err_kind = (int32_t)why->kind,
					  .sys_errno = why->sys_errno };

		client_say(c, &h, str_z(why->msg), FD_NONE);
	}
	/* A client may have been there, or none: processes in the background have nobody who waits. */
	if (why->kind != ERR_NONE)
		kept_dir_note(k->dir, why->msg);
	k->gone = true;
	loop_stop(k->loop, 0);
}

static void tell(struct keeper *k, struct box_event *ev)
{
	struct call *c = ev->call ? find(k, ev->call) : NULL, was;

	if (!c)
		return;
	was = *c;
	if (ev->kind == BOX_ENDED || ev->kind == BOX_FAILED) {
		*c = (struct call){ 0 };
		k->n_calls--;
		if (was.client)
			was.client->n_calls--;
		k->stat.round = 0;
		keeper_active(k);
	}
	if (was.client)
		tell_client(&was, ev);
	else if (was.job)
		tell_job(was.job, ev);
}

void calls_hear(struct keeper *k)
{
	struct box_event ev;
	struct err e = { 0 };

	for (int i = 0; i < HEAR_AT_ONCE && !k->gone; i++) {
		int r = k->box->ops->next(k->box, false, &ev, &e);

		if (r == -EAGAIN)
			return;
		if (r < 0 || ev.kind == BOX_GONE) {
			tell_gone(k, r < 0 ? &e : &ev.err);
			return;
		}
		tell(k, &ev);
		(void)fd_close(ev.fd);
	}
}

/* ---- a client that has gone ---- */

static void retry(struct loop *l, void *ctx)
{
	struct keeper *k = ctx;

	(void)l;
	calls_retry(k);
	keeper_settle(k);
}

void calls_retry(struct keeper *k)
{
	bool again = false;
	struct err ignored;

	for (size_t i = 0; i < KEEPER_CALLS_MAX && !k->gone; i++) {
		struct call *c = &k->calls[i];

		if (c->id && c->cancel)
			c->cancel = k->box->ops->cancel(k->box, c->id, 0, &ignored) == -EAGAIN;
		again |= c->id && c->cancel;
	}
	if (again && !loop_has(k->loop, k->retry_source))
		(void)loop_add_timer(k->loop, clock_deadline(RETRY_MS), retry, k, &k->retry_source);
}

void calls_forsake(struct keeper *k, struct client *of)
{
	for (size_t i = 0; i < KEEPER_CALLS_MAX; i++)
		if (k->calls[i].id && k->calls[i].client == of) {
			k->calls[i].client = NULL;
			k->calls[i].cancel = true;
		}
	if (of->n_calls)
		calls_retry(k);
}
