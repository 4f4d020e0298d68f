/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/native.h"
#include "backend/asked.h"
#include "backend/clerk.h"
#include "backend/events.h"
#include "backend/files_wire.h"
#include "backend/native_priv.h"
#include "base/clock.h"
#include "base/port.h"
#include "sandbox/warm.h"

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#define STAT_MS 5000u /* less than whoever asks the keeper waits (kept.c) */
#define LINE_MS 500u  /* the same; there is another way, and nobody else is served meanwhile */
#define CLERK_UMASK 022

const struct enum_name box_reason_names[] = { { "lost", BOX_LOST },           { "exited", BOX_EXITED },
					      { "signaled", BOX_SIGNALED },   { "timeout", BOX_TIMEOUT },
					      { "cancelled", BOX_CANCELLED }, { NULL, 0 } };

static_assert(ASKED_MAX == SERVE_CALLS_MAX, "no more than the warden takes");

struct native {
	struct box box;
	struct warm warm;
	struct cgroup cgroup;
	struct events later;
	struct str workdir; /* behind the struct */
	struct str begun;   /* the plan, behind that, until the walls stand; empty = they do */
	struct asked asked;
	struct {
		char program[NATIVE_NAME_MAX], cwd[NATIVE_NAME_MAX];
	} names[ASKED_MAX]; /* of the calls in `asked`: what to name when one could not start */
	uint32_t last_question;
	bool gone;
	struct err why; /* it went; ERR_NONE when nobody said */
	struct box_stat walls;
	/* its files */
	int clerk_fd, own_clerk_fd; /* the program; the second is ours to close */
	struct files_wire *wire;    /* NULL until somebody asks */
	uint64_t clerk;             /* whose socket that is */
	uint32_t n_clerks;          /* that run */
};

/* Nothing else fails with these two, and what a keeper says keeps them. */
enum { UNBEGUN = ESHUTDOWN, LOST = ECONNABORTED };

static int ended(struct err *e, int how, const char *text)
{
	int r = err_set(e, ERR_UNAVAIL, "%s", text);

	e->sys_errno = how;
	return r;
}

int box_unbegun(struct err *e)
{
	return ended(e, UNBEGUN, "the sandbox has ended");
}

bool box_is_unbegun(const struct err *e)
{
	return e->kind == ERR_UNAVAIL && e->sys_errno == UNBEGUN;
}

int box_lost(struct err *e)
{
	return ended(e, LOST, "the sandbox was ended, and what ran in it with it");
}

bool box_is_lost(const struct err *e)
{
	return e->kind == ERR_UNAVAIL && e->sys_errno == LOST;
}

static struct native *native_of(const struct box *b)
{
	union {
		const struct box *in;
		struct native *out;
	} u = { .in = b }; /* the first member; whoever asks for an fd promises not to write */

	return u.out;
}

/* ---- calls ---- */

static int native_exec(struct box *b, const struct box_call *call, uint64_t *ret_id, struct err *e)
{
	struct native *n = native_of(b);
	struct serve_limit limits[2];
	struct warm_call w = native_call(call, n->workdir, limits);
	int r, at;

	if (n->gone)
		return box_unbegun(e);
	if (n->asked.n == ASKED_MAX) {
		(void)err_set(e, ERR_LIMIT, "%u calls run in this sandbox already", ASKED_MAX);
		return -EAGAIN;
	}
	r = warm_call(&n->warm, &w, ret_id, e);
	if (r < 0)
		return native_unless_gone(r, e);
	at = asked_add(&n->asked, *ret_id);
	native_name(n->names[at].program, call->argv.v[0]);
	native_name(n->names[at].cwd, w.cwd);
	return 0;
}

static int check_known(struct native *n, uint64_t id, struct err *e)
{
	if (n->gone)
		return err_set(e, ERR_UNAVAIL, "the sandbox has ended");
	if (id == 0 || id > n->warm.last_id)
		return err_set(e, ERR_NOTFOUND, "there is no call %ju", (uintmax_t)id);
	return 0;
}

static int native_cancel(struct box *b, uint64_t id, int signo, struct err *e)
{
	struct native *n = native_of(b);
	int r = check_known(n, id, e);

	return r < 0 ? r : warm_cancel(&n->warm, id, signo, e);
}

static int native_signal(struct box *b, uint64_t id, int signo, struct err *e)
{
	struct native *n = native_of(b);
	int r = check_known(n, id, e);

	if (r < 0)
		return r;
	if (asked_find(&n->asked, id) < 0)
		return err_set(e, ERR_NOTFOUND, "call %ju has ended", (uintmax_t)id);
	return warm_signal(&n->warm, id, signo, e);
}

/* ---- hearing ---- */

/* True when it is something that whoever has the box wants to hear. */
static bool map_call(struct native *n, const struct warm_event *w, struct box_event *ret)
{
	const struct serve_event *ev = &w->event;
	int at = asked_find(&n->asked, ev->id);
	struct err ignored;

	ret->call = ev->id;
	if (at < 0) { /* a clerk's, or the answer to a cancel of what has ended */
		n->n_clerks -= n->n_clerks && (ev->msg == SERVE_EXIT || ev->op == SERVE_EXEC);
		(void)fd_close(w->fd);
		return false;
	}
	switch (ev->msg) {
	case SERVE_STARTED:
		ret->kind = BOX_STARTED;
		ret->pid = ev->value;
		return true;
	case SERVE_PTY:
		ret->kind = BOX_PTY;
		ret->fd = w->fd;
		if (w->fd < 0) /* no room for a descriptor: nobody could ever speak to it */
			(void)warm_cancel(&n->warm, ev->id, 0, &ignored);
		return w->fd >= 0;
	case SERVE_EXIT:
		ret->kind = BOX_ENDED;
		native_end(ev, &ret->end);
		(void)asked_drop(&n->asked, ev->id);
		return true;
	default:
		if (ev->op != SERVE_EXEC)
			return false; /* the answer to a signal */
		ret->kind = BOX_FAILED;
		native_failure(ev, str_z(n->names[at].program), str_z(n->names[at].cwd), &ret->err);
		(void)asked_drop(&n->asked, ev->id);
		return true;
	}
}

static bool is_answer(const struct serve_event *ev)
{
	return ev->msg == SERVE_REPLY &&
	       (ev->op == SERVE_STAT || ev->op == SERVE_LINE || ev->op == SERVE_RETIRE);
}

/* 1 and *ret, 0 when there is nothing to tell, or -EAGAIN; *ret_answer when it was the answer to a question. */
static int hear(struct native *n, bool wait, struct box_event *ret, struct serve_event *ret_answer,
		struct err *e)
{
	struct warm_event w;
	int r = warm_next(&n->warm, wait, &w, e);

	*ret = (struct box_event){ .fd = FD_NONE };
	if (r == -EAGAIN && warm_ended(&n->warm)) {
		r = warm_next(&n->warm, false, &w, e); /* what it said last */
		r = r == -EAGAIN ? 0 : r;
	}
	if (r == 0) {
		n->gone = true;
		events_ring(&n->later);
		return 0;
	}
	if (r < 0)
		return r;
	if (w.kind == WARM_SANDBOX) {
		(void)fd_close(w.fd);
		native_why(&w.report, &n->why);
		return 0;
	}
	if (is_answer(&w.event)) {
		if (ret_answer)
			*ret_answer = w.event;
		return 0;
	}
	return map_call(n, &w, ret);
}

/* First those that it took with it, then the end itself. */
static void tell_gone(struct native *n, struct box_event *ret)
{
	uint64_t id = asked_take(&n->asked);

	*ret = (struct box_event){
		.kind = id ? BOX_ENDED : BOX_GONE, .call = id, .fd = FD_NONE, .err = n->why
	};
	if (id && id == n->warm.unheard) {
		ret->kind = BOX_FAILED;
		(void)box_unbegun(&ret->err);
	}
}

static int native_next(struct box *b, bool wait, struct box_event *ret, struct err *e)
{
	struct native *n = native_of(b);
	int r = events_take(&n->later, ret);

	/* Nobody has asked for anything: there is nothing to hear but its end, and one look tells. */
	if (r == 0 && !n->gone && !wait && n->asked.n == 0 && !warm_stirs(&n->warm))
		return -EAGAIN;
	while (r == 0 && !n->gone)
		r = hear(n, wait, ret, NULL, e);
	if (r == 0) {
		tell_gone(n, ret);
		events_ring(&n->later);
		return 1;
	}
	return r;
}

static int native_fd(const struct box *b)
{
	return native_of(b)->later.wait;
}

/* ---- the whole ---- */

int native_clerk(struct box *b, int *ret_socket, uint64_t *ret_id, struct err *e)
{
	struct native *n = native_of(b);
	int r = n->gone ? box_unbegun(e) : 0;

	if (r >= 0 && n->clerk_fd <= 0) {
		r = clerk_open_program(&n->own_clerk_fd, e);
		n->clerk_fd = n->own_clerk_fd;
	}
	if (r >= 0)
		r = native_unless_gone(
			clerk_start(&n->warm, n->clerk_fd, n->workdir, CLERK_UMASK, ret_socket, ret_id, e),
			e);
	if (r >= 0)
		n->n_clerks++;
	return r;
}

/* One that is broken may be stopped, and would never see that its socket is closed. */
static int native_files(struct box *b, struct files **ret, struct err *e)
{
	struct native *n = native_of(b);
	struct err ignored;
	int socket = FD_NONE, r = 0;

	if (!n->wire || files_wire_broken(n->wire)) {
		if (n->wire)
			(void)warm_cancel(&n->warm, n->clerk, 0, &ignored);
		r = native_clerk(b, &socket, &n->clerk, e);
		if (r < 0)
			return r;
		r = n->wire ? files_wire_renew(n->wire, socket) : files_wire_open(socket, 0, &n->wire);
	}
	if (r < 0)
		return err_sys(e, -r, "reach the files of the sandbox");
	*ret = files_wire_files(n->wire);
	return 0;
}

/* Waits until something can be heard, or asked; what is heard and is no answer is kept for next(). */
static int pump(struct native *n, short events, uint64_t end, struct serve_event *ret, struct err *e)
{
	struct pollfd p = { .fd = warm_fd(&n->warm), .events = events };
	struct box_event ev;
	int r = hear(n, false, &ev, ret, e);

	if (r == -EAGAIN && poll(&p, 1, clock_poll_ms(end)) == 0)
		return err_set(e, ERR_LIMIT, "the sandbox did not answer in time");
	if (r == 1 && events_put(&n->later, &ev) < 0)
		return err_set(e, ERR_LIMIT, "more is said in this sandbox than is heard");
	return r == -EAGAIN ? 0 : r;
}

/* An answer to one that was given up on may come first, and is not taken for this one's: each has a number. */
static int ask(struct native *n, struct serve_request *q, int fd, struct serve_event *ret, struct err *e)
{
	uint64_t end = clock_deadline(q->msg == SERVE_LINE ? LINE_MS : STAT_MS);
	bool asked = false;
	int r = 0;

	if (q->msg != SERVE_LINE)
		q->id = ++n->last_question;
	while (!n->gone && r >= 0 && (ret->msg != SERVE_REPLY || ret->op != q->msg || ret->id != q->id)) {
		if (!asked) {
			r = warm_put(&n->warm, q, fd, e);
			asked = r >= 0;
		}
		if (r >= 0 || r == -EAGAIN)
			r = pump(n, asked ? POLLIN : POLLIN | POLLOUT, end, ret, e);
	}
	return n->gone ? err_set(e, ERR_UNAVAIL, "the sandbox has ended") : r < 0 ? r : 0;
}

static int native_stat(struct box *b, struct box_stat *ret, struct err *e)
{
	struct native *n = native_of(b);
	struct serve_event ev = { 0 };
	struct cgroup_stat c;
	int r = ask(n, &(struct serve_request){ .msg = SERVE_STAT }, FD_NONE, &ev, e);

	if (r < 0)
		return r;
	cgroup_stat(&n->cgroup, &c);
	*ret = n->walls;
	ret->calls = (uint32_t)ev.value - ((uint32_t)ev.value < n->n_clerks ? 0 : n->n_clerks);
	ret->user_us = ev.user_us;
	ret->sys_us = ev.sys_us;
	ret->memory_bytes = c.memory_now;
	ret->oom_kills = c.oom_kills;
	ret->pids_refused = c.pids_refused;
	return 0;
}

int native_line(struct box *b, uint32_t number, int *ret_socket, struct err *e)
{
	struct native *n = native_of(b);
	struct serve_request q = { .msg = SERVE_LINE };
	struct serve_event ev = { 0 };
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, errno, "socketpair");
	q.id = (uint64_t)number << SERVE_LINE_BIT;
	r = ask(n, &q, pair[1], &ev, e);
	if (r >= 0 && ev.err)
		r = ev.err == EAGAIN ? err_set(e, ERR_LIMIT, "this sandbox has as many lines as it may")
				     : err_sys(e, ev.err, "open a line to the sandbox");
	(void)fd_close(pair[1]);
	if (r < 0)
		(void)fd_close(pair[0]);
	else
		*ret_socket = pair[0];
	return r;
}

struct str native_workdir(const struct box *b)
{
	return native_of(b)->workdir;
}

int native_retire(struct box *b, uint64_t idle_ms, uint64_t *ret_unused_ms, struct err *e)
{
	struct native *n = native_of(b);
	struct serve_request q = { .msg = SERVE_RETIRE, .deadline_ms = idle_ms };
	struct serve_event ev = { 0 };
	int r = ask(n, &q, FD_NONE, &ev, e);

	*ret_unused_ms = ev.wall_us / 1000;
	return r < 0 ? r : ev.err == 0;
}

static int native_stop(struct box *b, struct err *e)
{
	struct native *n = native_of(b);
	uint64_t last = n->warm.last_id;

	(void)e;
	warm_done(&n->warm);
	n->warm.last_id = last;
	cgroup_done(&n->cgroup);
	n->gone = true;
	events_ring(&n->later);
	return 0;
}

static void native_close(struct box *b)
{
	struct native *n = native_of(b);

	n->wire = files_wire_close(n->wire);
	(void)fd_close(n->own_clerk_fd);
	events_done(&n->later); /* before the socket goes: its epoll looks at it */
	warm_done(&n->warm);
	cgroup_done(&n->cgroup);
	free(n);
}

static const struct box_ops native_ops = { .name = "native",
					   .follows = true,
					   .exec = native_exec,
					   .cancel = native_cancel,
					   .signal = native_signal,
					   .fd = native_fd,
					   .next = native_next,
					   .files = native_files,
					   .stat = native_stat,
					   .stop = native_stop,
					   .close = native_close };

pid_t native_pid(const struct box *b)
{
	return native_of(b)->warm.box.warden.pid;
}

int native_take_listener(struct box *b)
{
	struct native *n = native_of(b);

	return b->ops == &native_ops ? TAKE_FD(n->warm.listener) : FD_NONE;
}

static int start(struct native *n, const struct native_spec *spec, struct err *e)
{
	_cleanup_close_ int own = FD_NONE;
	int warden = spec->warden_fd, r = 0;

	if (spec->early)
		return warm_resume(spec->early, spec->plan, &n->cgroup, &n->warm, e);
	if (warden <= 0) {
		r = sandbox_open_warden(&own, e);
		warden = own;
	}
	return r < 0 ? r : warm_start(warden, spec->plan, &n->cgroup, &n->warm, e);
}

static int stand(struct native *n, struct str plan, bool wait, struct err *e)
{
	int r = warm_ready_now(&n->warm, wait, e);

	if (r < 0)
		return r;
	native_walls(&n->warm.ready, plan, &n->cgroup, &n->walls);
	r = events_init(&n->later, warm_fd(&n->warm));
	return r < 0 ? err_sys(e, -r, "wait for a sandbox") : 0;
}

int native_stands(struct box *b, bool wait, struct err *e)
{
	struct native *n = native_of(b);
	int r = n->begun.n ? stand(n, n->begun, wait, e) : 0;

	if (r >= 0)
		n->begun.n = 0;
	return r >= 0 ? 1 : r == -EAGAIN ? 0 : r;
}

static int open_box(const struct native_spec *spec, bool wait, struct box **ret, struct err *e)
{
	struct cgroup cgroup = spec->cgroup ? *spec->cgroup : CGROUP_EMPTY;
	struct native *n = calloc(1, sizeof(*n) + spec->workdir.n + (wait ? 0 : spec->plan.n) + 1);
	char *behind;
	int r;

	if (spec->cgroup)
		*spec->cgroup = CGROUP_EMPTY;
	if (!n) {
		cgroup_done(&cgroup);
		return err_sys(e, ENOMEM, "keep a sandbox");
	}
	n->box.ops = &native_ops;
	n->warm = WARM_NONE;
	n->cgroup = cgroup;
	n->later = EVENTS_NONE;
	n->clerk_fd = spec->clerk_fd;
	n->own_clerk_fd = FD_NONE;
	behind = (char *)(n + 1);
	n->workdir = str_put(&behind, spec->workdir);
	if (!wait)
		n->begun = str_put(&behind, spec->plan);
	r = start(n, spec, e);
	if (r >= 0 && wait)
		r = stand(n, spec->plan, true, e);
	if (r < 0) {
		native_close(&n->box);
		return r;
	}
	*ret = &n->box;
	return 0;
}

int native_open(const struct native_spec *spec, struct box **ret, struct err *e)
{
	return open_box(spec, true, ret, e);
}

int native_begin(const struct native_spec *spec, struct box **ret, struct err *e)
{
	return open_box(spec, false, ret, e);
}
