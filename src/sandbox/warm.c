/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/warm.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/port.h"
#include "sandbox/advice.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
#define MFD_NOEXEC_SEAL_ 8u

int warm_start(int warden_fd, struct str plan, const struct cgroup *cgroup, struct warm *ret, struct err *e)
{
	const struct sandbox_stdio none = { FD_NONE, FD_NONE, FD_NONE };
	int r;

	*ret = WARM_NONE;
	r = sandbox_start(warden_fd, plan, &none, cgroup, &ret->box, e);
	if (r < 0)
		warm_done(ret);
	return r;
}

int warm_resume(struct sandbox *box, struct str plan, const struct cgroup *cgroup, struct warm *ret,
		struct err *e)
{
	int r = sandbox_resume(box, plan, cgroup, e);

	*ret = WARM_NONE;
	if (r < 0) {
		sandbox_done(box);
	} else {
		ret->box = *box;
	}
	*box = SANDBOX_NONE;
	return r;
}

int warm_fd(const struct warm *w)
{
	return w->box.control;
}

void warm_done(struct warm *w)
{
	(void)fd_close(w->listener);
	sandbox_done(&w->box);
	*w = WARM_NONE;
}

/* ---- hearing ---- */

static_assert(sizeof(struct warden_report) >= sizeof(struct serve_event) &&
		      sizeof(struct warden_report) - sizeof(struct serve_event) <=
			      sizeof(((struct warm *)NULL)->heard),
	      "either fits in what is received");

/* A message has a serve_event's bytes in ret->event, and what is more in w->heard. */
static int unpack(struct warm *w, size_t n, struct warm_event *ret, struct err *e)
{
	const size_t head = sizeof(ret->event), item = sizeof(w->heard[0]);

	if (n == sizeof(ret->report) && ret->event.msg < SERVE_EXEC) {
		ret->kind = WARM_SANDBOX;
		memcpy(&ret->report, &ret->event, head);
		memcpy((char *)&ret->report + head, w->heard, n - head);
		ret->report.what[sizeof(ret->report.what) - 1] = '\0';
		return 1;
	}
	if (n < head || ret->event.msg < SERVE_STARTED || (n - head) % item)
		return err_set(e, ERR_PROTO, "the warden sent %zu bytes that are no message", n);
	ret->kind = WARM_CALL;
	ret->items = w->heard;
	ret->n_items = (n - head) / item;
	return 1;
}

int warm_next(struct warm *w, bool wait, struct warm_event *ret, struct err *e)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c;
	struct iovec iov[2] = { { .iov_base = &ret->event, .iov_len = sizeof(ret->event) },
				{ .iov_base = w->heard, .iov_len = sizeof(w->heard) } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2, .msg_control = &c, .msg_controllen = sizeof(c) };
	int r, resets = 0;
	ssize_t n;

	ret->fd = FD_NONE;
	/* A warden that was killed with requests unread leaves an error, once; what it had said is still there behind it. */
	do
		n = recvmsg(w->box.control, &m, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
	while (n < 0 && (errno == EINTR || (errno == ECONNRESET && resets++ == 0)));
	if (resets)
		w->unheard = w->said;
	if (n < 0 && errno == EAGAIN)
		return -EAGAIN;
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return 0;
	if (n < 0)
		return err_sys(e, errno, "hear from the warden");
	if (m.msg_controllen >= sizeof(struct cmsghdr) && c.h.cmsg_type == SCM_RIGHTS)
		memcpy(&ret->fd, CMSG_DATA(&c.h), sizeof(int));
	r = unpack(w, (size_t)n, ret, e);
	if (r < 0 || (ret->kind == WARM_SANDBOX && ret->report.msg != MSG_LISTEN))
		ret->fd = fd_close(ret->fd);
	return r;
}

bool warm_stirs(const struct warm *w)
{
	struct pollfd p[2] = { { .fd = w->box.control, .events = POLLIN },
			       { .fd = w->box.warden.pidfd, .events = POLLIN } };

	return poll(p, 2, 0) != 0;
}

bool warm_ended(const struct warm *w)
{
	struct pollfd p = { .fd = w->box.warden.pidfd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

int warm_ready(struct warm *w, struct err *e)
{
	return warm_ready_now(w, true, e);
}

int warm_ready_now(struct warm *w, bool wait, struct err *e)
{
	struct warm_event ev;

	for (;;) {
		int r = warm_next(w, wait, &ev, e);

		if (r < 0)
			return r;
		if (r == 0)
			return err_set(e, ERR_UNAVAIL, "the sandbox ended before its walls stood");
		if (ev.kind == WARM_SANDBOX && ev.report.msg == MSG_LISTEN && w->listener < 0)
			w->listener = TAKE_FD(ev.fd);
		(void)fd_close(ev.fd);
		if (ev.kind == WARM_SANDBOX && ev.report.msg == MSG_FAILED)
			return advice_failed(&ev.report, e);
		if (ev.kind == WARM_SANDBOX && ev.report.msg == MSG_READY) {
			w->ready = ev.report;
			return 0;
		}
	}
}

/* ---- asking ---- */

struct parts {
	struct serve_request head;
	struct buf body;
	int fds[SERVE_FDS_MAX];
	size_t n_fds;
};

/* Only what arrived whole was asked; -EAGAIN when nothing can be sent now. */
static int send_parts(struct warm *w, struct parts *p, bool with_body, struct err *e)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int) * SERVE_FDS_MAX)];
	} c;
	struct iovec iov[2] = { { .iov_base = &p->head, .iov_len = sizeof(p->head) },
				{ .iov_base = p->body.p, .iov_len = with_body ? p->body.n : 0 } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };

	if (p->n_fds) {
		m.msg_control = &c;
		m.msg_controllen = (socklen_t)CMSG_SPACE(sizeof(int) * p->n_fds);
		memset(&c, 0, sizeof(c));
		c.h.cmsg_level = SOL_SOCKET;
		c.h.cmsg_type = SCM_RIGHTS;
		c.h.cmsg_len = (socklen_t)CMSG_LEN(sizeof(int) * p->n_fds);
		memcpy(CMSG_DATA(&c.h), p->fds, sizeof(int) * p->n_fds);
	}
	if (sendmsg(w->box.control, &m, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
		w->said = p->head.msg == SERVE_EXEC ? p->head.id : 0;
		return 0;
	}
	/* The same that recvmsg(2) says above, and said once: what was sent last was not read. */
	if (errno == ECONNRESET)
		w->unheard = w->said;
	/* The second: too many descriptors of this user are under way, which those who take them change. */
	if (errno != EAGAIN && errno != ETOOMANYREFS)
		return err_sys(e, errno, "ask the sandbox");
	(void)err_set(e, ERR_LIMIT, "the sandbox has more requests than it can take at once");
	return -EAGAIN;
}

static void put_list(struct parts *p, struct strs list, bool *nul)
{
	for (size_t i = 0; i < list.n; i++) {
		*nul |= list.v[i].n && memchr(list.v[i].p, '\0', list.v[i].n);
		buf_put(&p->body, list.v[i]);
		buf_putc(&p->body, '\0');
	}
}

static int put_body(struct parts *p, const struct warm_call *call, struct err *e)
{
	const struct str places[] = { call->cwd.n ? call->cwd : STR("/"), call->path };
	bool nul = false;

	for (size_t i = 0; i < call->n_limits; i++)
		buf_put(&p->body,
			(struct str){ .p = (const char *)&call->limits[i], .n = sizeof(call->limits[i]) });
	put_list(p, call->argv, &nul);
	put_list(p, call->env, &nul);
	put_list(p, (struct strs){ places, 2 }, &nul);
	if (nul)
		return err_set(e, ERR_USAGE, "an argument, a variable or a path holds a NUL byte");
	if (p->body.failed)
		return err_set(e, ERR_LIMIT, "the command and its environment are larger than %u bytes",
			       SERVE_BODY_MAX);
	return 0;
}

static int check_call(const struct warm_call *call, struct err *e)
{
	if (call->argv.n == 0 || call->argv.v[0].n == 0)
		return err_set(e, ERR_USAGE, "no command");
	if (call->argv.n > SERVE_ARGS_MAX || call->env.n > SERVE_ARGS_MAX)
		return err_set(e, ERR_LIMIT, "%zu arguments and %zu variables: at most %u of each",
			       call->argv.n, call->env.n, SERVE_ARGS_MAX);
	if (call->n_limits > SERVE_LIMITS_MAX)
		return err_set(e, ERR_LIMIT, "%zu limits: at most %u", call->n_limits, SERVE_LIMITS_MAX);
	return 0;
}

/* Too large for a message: in memory that nobody can change any more. */
static int move_body(struct parts *p, int *ret_fd, struct err *e)
{
	_cleanup_close_ int fd =
		memfd_create("creel-call", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL_);
	int r;

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create("creel-call", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	r = fd < 0 ? -errno : fd_write_all(fd, buf_str(&p->body));
	if (r >= 0 && fcntl(fd, F_ADD_SEALS, SEALS) < 0)
		r = -errno;
	if (r < 0)
		return err_sys(e, -r, "pass the command");
	p->head.streams |= SERVE_BODY_FD;
	p->fds[p->n_fds++] = fd;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* After the streams and the body: the last of them. */
static void put_program(struct parts *p, const struct warm_call *call)
{
	if (call->flags & SERVE_F_PROGRAM)
		p->fds[p->n_fds++] = call->program;
}

static void fill_head(struct parts *p, const struct warm_call *call, uint64_t id)
{
	p->head = (struct serve_request){ .msg = SERVE_EXEC,
					  .flags = call->flags,
					  .id = id,
					  .argc = (uint32_t)call->argv.n,
					  .envc = (uint32_t)call->env.n,
					  .n_limits = (uint32_t)call->n_limits,
					  .body = (uint32_t)p->body.n,
					  .deadline_ms = call->deadline_ms,
					  .grace_ms = call->grace_ms,
					  .umask = (uint16_t)call->umask,
					  .cpu = call->cpu,
					  .rows = call->rows,
					  .columns = call->columns };
	for (unsigned i = 0; i < 3; i++)
		if (call->stdio[i] >= 0) {
			p->head.streams |= 1u << i;
			p->fds[p->n_fds++] = call->stdio[i];
		}
}

int warm_call(struct warm *w, const struct warm_call *call, uint64_t *ret_id, struct err *e)
{
	char room[4096]; /* usually enough */
	struct parts p = { .n_fds = 0 };
	_cleanup_close_ int body = FD_NONE;
	int r = check_call(call, e);

	if (r < 0)
		return r;
	buf_init_on(&p.body, SERVE_BODY_MAX, room, sizeof(room));
	r = put_body(&p, call, e);
	if (r >= 0) {
		fill_head(&p, call, w->last_id + 1);
		if (sizeof(p.head) + p.body.n > SERVE_INLINE_MAX)
			r = move_body(&p, &body, e);
		put_program(&p, call);
	}
	if (r >= 0)
		r = send_parts(w, &p, body < 0, e);
	if (p.body.p)
		explicit_bzero(p.body.p, p.body.n);
	buf_done(&p.body);
	if (r >= 0)
		*ret_id = ++w->last_id;
	return r;
}

int warm_put(struct warm *w, const struct serve_request *head, int fd, struct err *e)
{
	struct parts p = { .head = *head, .fds = { fd }, .n_fds = fd >= 0 };

	return send_parts(w, &p, false, e);
}

static int ask(struct warm *w, enum serve_msg msg, uint64_t id, int signo, struct err *e)
{
	return warm_put(w, &(struct serve_request){ .msg = msg, .id = id, .signal = signo }, FD_NONE, e);
}

int warm_cancel(struct warm *w, uint64_t id, int signo, struct err *e)
{
	return ask(w, SERVE_CANCEL, id, signo, e);
}

int warm_signal(struct warm *w, uint64_t id, int signo, struct err *e)
{
	return ask(w, SERVE_SIGNAL, id, signo, e);
}

int warm_ask(struct warm *w, enum serve_msg what, struct err *e)
{
	return ask(w, what, 0, 0, e);
}

/* ---- lines ---- */

void warm_join(uint32_t number, int fd, struct warm *ret)
{
	*ret = WARM_NONE;
	ret->box.control = fd;
	ret->last_id = (uint64_t)number << SERVE_LINE_BIT;
}

/* ---- one after the other ---- */

static int call_failed(const struct serve_event *ev, const struct warm_call *call, struct err *e)
{
	if (ev->value == SERVE_AT_CWD)
		return err_sys(e, ev->err, "working directory '" STR_FMT "'", STR_ARG(call->cwd));
	if (ev->value == SERVE_AT_EXEC)
		return err_sys(e, ev->err, "exec '" STR_FMT "'", STR_ARG(call->argv.v[0]));
	return err_sys(e, ev->err, "start the call");
}

int warm_exec(struct warm *w, const struct warm_call *call, struct serve_event *ret, struct err *e)
{
	struct warm_event ev;
	uint64_t id = 0;
	int r = warm_call(w, call, &id, e);

	while (r >= 0) {
		r = warm_next(w, true, &ev, e);
		if (r == 0)
			return err_set(e, ERR_UNAVAIL, "the sandbox has ended");
		if (r < 0)
			break;
		(void)fd_close(ev.fd);
		if (ev.kind != WARM_CALL || ev.event.id != id)
			continue;
		if (ev.event.msg == SERVE_REPLY)
			return call_failed(&ev.event, call, e);
		if (ev.event.msg == SERVE_EXIT) {
			*ret = ev.event;
			return 0;
		}
	}
	return r;
}
