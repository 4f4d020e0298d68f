/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/kept.h"
#include "backend/kept_dir.h"
#include "backend/kept_priv.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define ANSWER_MS 10000u
#define CONNECT_S 5
#define STOP_MS 15000u

struct kept *kept_of(const struct box *b)
{
	union {
		const struct box *in;
		struct kept *out;
	} u = { .in = b }; /* the first member */

	return u.out;
}

/* ---- calls ---- */

static int send_call(struct kept *k, const struct box_call *call, struct keeper_request *h, struct str body,
		     struct err *e)
{
	struct message_fds fds = { .n = 0 };

	for (unsigned i = 0; i < 3; i++)
		if (call->stdio[i] >= 0) {
			h->fds |= 1u << i;
			fds.v[fds.n++] = call->stdio[i];
		}
	return kept_send(k, h, body, &fds, e);
}

/* A second call is likely to be followed by more: from there on a line is worth the question. What goes wrong here is only that there is none. */
static void open_line(struct kept *k)
{
	struct keeper_request h = { .msg = KEEPER_LINE };
	_cleanup_reply_ struct kept_reply m = KEPT_REPLY_NONE;
	uint32_t number;
	struct str workdir;
	struct err ignored;

	k->line_asked = true;
	if (kept_ask(k, &h, STR(""), &(struct message_fds){ .n = 0 }, 0, &m, &ignored) < 0 || m.fd < 0 ||
	    keeper_event_line(m.body, &number, &workdir) < 0 ||
	    line_open(TAKE_FD(m.fd), number, workdir, &k->line, &ignored) < 0)
		return;
	if (events_watch(&k->later, line_fd(k->line)) < 0)
		k->line = line_close(k->line);
}

/* False: it is the keeper's. */
static bool exec_on_line(struct kept *k, const struct box_call *call, uint64_t *ret_id, struct err *e,
			 int *ret)
{
	if (k->called && !k->line_asked)
		open_line(k);
	k->called = true;
	if (!k->line || !line_takes(k->line, call))
		return false;
	*ret = line_exec(k->line, call, ret_id, e);
	return *ret != -EAGAIN && !line_gone(k->line);
}

static int exec_by_keeper(struct kept *k, const struct box_call *call, uint64_t *ret_id, struct err *e)
{
	struct keeper_request h = { .msg = KEEPER_EXEC, .id = k->last_id + 1 };
	char room[4096]; /* usually enough */
	struct buf body;
	int r;

	buf_init_on(&body, KEEPER_BODY_MAX, room, sizeof(room));
	r = kept_put_call(&body, call, (struct str){ 0 }, &h, e);
	if (r >= 0)
		r = send_call(k, call, &h, buf_str(&body), e);
	if (body.p)
		explicit_bzero(body.p, body.n);
	buf_done(&body);
	if (r < 0)
		return e->kind == ERR_UNAVAIL ? box_unbegun(e) : r;
	*ret_id = ++k->last_id;
	k->exec = *ret_id;
	k->exec_sent = k->sent;
	(void)asked_add(&k->asked, *ret_id);
	return 0;
}

static int kept_exec(struct box *b, const struct box_call *call, uint64_t *ret_id, struct err *e)
{
	struct kept *k = kept_of(b);
	int r = 0;

	if (k->asked.n + (k->line ? line_calls(k->line) : 0) == ASKED_MAX) {
		(void)err_set(e, ERR_LIMIT, "%u calls of this client run already", ASKED_MAX);
		return -EAGAIN;
	}
	if (!k->gone && exec_on_line(k, call, ret_id, e, &r))
		return r;
	return k->gone ? box_unbegun(e) : exec_by_keeper(k, call, ret_id, e);
}

static int say(struct kept *k, enum keeper_msg msg, uint64_t id, int signo, struct err *e)
{
	struct keeper_request h = { .msg = msg, .id = id, .signal = signo };

	if (k->gone)
		return err_set(e, ERR_UNAVAIL, "the sandbox has ended");
	if (id == 0 || id > k->last_id)
		return err_set(e, ERR_NOTFOUND, "there is no call %ju", (uintmax_t)id);
	if (msg == KEEPER_SIGNAL && asked_find(&k->asked, id) < 0)
		return err_set(e, ERR_NOTFOUND, "call %ju has ended", (uintmax_t)id);
	return kept_send(k, &h, STR(""), &(struct message_fds){ .n = 0 }, e);
}

static int kept_cancel(struct box *b, uint64_t id, int signo, struct err *e)
{
	struct kept *k = kept_of(b);

	if (line_number(id))
		return k->line ? line_cancel(k->line, id, signo, e) : 0; /* all of its calls have ended */
	return say(k, KEEPER_CANCEL, id, signo, e);
}

static int kept_signal(struct box *b, uint64_t id, int signo, struct err *e)
{
	struct kept *k = kept_of(b);

	if (line_number(id) && k->line)
		return line_signal(k->line, id, signo, e);
	return say(k, KEEPER_SIGNAL, id, signo, e);
}

/* ---- events ---- */

static int kept_next(struct box *b, bool wait, struct box_event *ret, struct err *e)
{
	struct kept *k = kept_of(b);
	int r = events_take(&k->later, ret);
	uint64_t id;

	while (r == 0 && !k->gone)
		r = kept_hear_any(k, wait, ret, e);
	/* What the line has said before is still to be heard. */
	if (r == 0 && k->line)
		r = kept_settle_line(k, e);
	if (r == 0)
		r = events_take(&k->later, ret);
	if (r != 0)
		return r;
	id = asked_take(&k->asked);
	*ret = (struct box_event){
		.kind = id ? BOX_ENDED : BOX_GONE, .call = id, .fd = FD_NONE, .err = k->why
	};
	if (id && id == k->exec && k->unheard && k->exec_sent == k->sent) {
		ret->kind = BOX_FAILED;
		(void)box_unbegun(&ret->err);
	}
	events_ring(&k->later);
	return 1;
}

static int kept_fd(const struct box *b)
{
	return kept_of(b)->later.wait;
}

/* ---- the whole ---- */

static int kept_files(struct box *b, struct files **ret, struct err *e)
{
	struct keeper_request h = { .msg = KEEPER_FILES };
	_cleanup_reply_ struct kept_reply m = KEPT_REPLY_NONE;
	struct kept *k = kept_of(b);
	int r = 0;

	if (!k->wire || files_wire_broken(k->wire)) {
		r = kept_ask(k, &h, STR(""), &(struct message_fds){ .n = 0 }, 0, &m, e);
		if (r < 0)
			return r;
		if (m.fd < 0)
			return err_set(e, ERR_PROTO, "the keeper said what is no answer");
		r = k->wire ? files_wire_renew(k->wire, TAKE_FD(m.fd))
			    : files_wire_open(TAKE_FD(m.fd), 0, &k->wire);
	}
	if (r < 0)
		return err_sys(e, -r, "reach the files of the sandbox");
	*ret = files_wire_files(k->wire);
	return 0;
}

static int kept_stat(struct box *b, struct box_stat *ret, struct err *e)
{
	struct keeper_request h = { .msg = KEEPER_STAT };
	_cleanup_reply_ struct kept_reply m = KEPT_REPLY_NONE;
	int r = kept_ask(kept_of(b), &h, STR(""), &(struct message_fds){ .n = 0 }, 0, &m, e);

	if (r >= 0 && keeper_event_stat(m.body, ret) < 0)
		r = err_set(e, ERR_PROTO, "the keeper said what is no answer");
	return r;
}

/* The answer is that it hangs up, which it does last. */
static int kept_stop(struct box *b, struct err *e)
{
	struct keeper_request h = { .msg = KEEPER_STOP };
	_cleanup_reply_ struct kept_reply m = KEPT_REPLY_NONE;
	struct kept *k = kept_of(b);
	int r = k->gone ? 0 : kept_ask(k, &h, STR(""), &(struct message_fds){ .n = 0 }, STOP_MS, &m, e);

	return k->gone ? 0 : r < 0 ? r : err_set(e, ERR_PROTO, "the keeper said what is no answer");
}

static void kept_close(struct box *b)
{
	struct kept *k = kept_of(b);

	k->wire = files_wire_close(k->wire);
	k->line = line_close(k->line);
	events_done(&k->later);
	(void)fd_close(k->socket);
	free(k);
}

static const struct box_ops kept_ops = { .name = "native",
					 .follows = true,
					 .exec = kept_exec,
					 .cancel = kept_cancel,
					 .signal = kept_signal,
					 .fd = kept_fd,
					 .next = kept_next,
					 .files = kept_files,
					 .stat = kept_stat,
					 .stop = kept_stop,
					 .close = kept_close };

/* ---- connecting ---- */

static int check_peer(int fd, struct err *e)
{
	struct ucred who;
	socklen_t n = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0)
		return err_sys(e, errno, "see who keeps the sandbox");
	if (who.uid != geteuid() && who.uid != 0)
		return err_set(e, ERR_DENIED, "the sandbox is kept by another user");
	return 0;
}

static int reach(struct str path, int *ret_fd, struct err *e)
{
	const struct timeval patience = { .tv_sec = CONNECT_S };
	_cleanup_close_ int dir = FD_NONE, fd = FD_NONE;
	struct sockaddr_un a;
	int r = kept_dir_open(path, &dir, e);

	if (r < 0)
		return r;
	a = kept_dir_socket(dir);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0)
		return err_sys(e, errno, "reach the keeper");
	if (connect(fd, (const struct sockaddr *)&a, sizeof(a)) < 0) {
		if (errno == ENOENT || errno == ECONNREFUSED)
			return err_set(e, ERR_NOTFOUND, "nobody keeps a sandbox in '" STR_FMT "'",
				       STR_ARG(path));
		if (errno == EAGAIN)
			return err_set(e, ERR_LIMIT, "the keeper of '" STR_FMT "' does not answer",
				       STR_ARG(path));
		return err_sys(e, errno, "reach the keeper of '" STR_FMT "'", STR_ARG(path));
	}
	r = check_peer(fd, e);
	if (r >= 0)
		*ret_fd = TAKE_FD(fd);
	return r;
}

int kept_open_hasty(struct str dir, uint64_t answer_ms, struct box **ret, struct err *e)
{
	_cleanup_close_ int fd = FD_NONE;
	struct kept *k;
	int r = reach(dir, &fd, e);

	if (r < 0)
		return r;
	k = calloc(1, sizeof(*k));
	if (!k)
		return err_sys(e, ENOMEM, "reach the keeper");
	k->box = (struct box){ .ops = &kept_ops, .jobs = &kept_jobs };
	k->socket = TAKE_FD(fd);
	k->answer_ms = answer_ms;
	r = events_init(&k->later, k->socket);
	if (r < 0) {
		kept_close(&k->box);
		return err_sys(e, -r, "wait for a sandbox");
	}
	*ret = &k->box;
	return 0;
}

int kept_open(struct str dir, struct box **ret, struct err *e)
{
	return kept_open_hasty(dir, ANSWER_MS, ret, e);
}

pid_t kept_peer(const struct box *b)
{
	struct ucred who = { 0 };
	socklen_t n = sizeof(who);

	return getsockopt(kept_of(b)->socket, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0 ? 0 : who.pid;
}
