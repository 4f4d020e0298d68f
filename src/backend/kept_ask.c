/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/kept_priv.h"
#include "base/clock.h"

#include <poll.h>
#include <sys/socket.h>

#define LINE_MS 1000u

void kept_reply_done(struct kept_reply *r)
{
	message_unmap(&r->mapped);
	r->fd = fd_close(r->fd);
}

/* ---- asking ---- */

int kept_send(struct kept *k, struct keeper_request *h, struct str body, struct message_fds *fds,
	      struct err *e)
{
	_cleanup_close_ int large = FD_NONE;
	struct message_fds all = *fds;
	int r;

	h->version = KEEPER_VERSION;
	h->body = (uint32_t)body.n;
	if (body.n > KEEPER_INLINE_MAX) {
		large = message_seal(body);
		if (large < 0)
			return err_sys(e, -large, "pass %zu bytes to the keeper", body.n);
		h->fds |= KEEPER_FD_BODY;
		all.v[all.n++] = large;
		body.n = 0;
	}
	r = message_send(k->socket, (struct str){ .p = (const char *)h, .n = sizeof(*h) }, body, &all);
	if (r == 0) {
		k->sent++;
		return 0;
	}
	k->unheard |= r == -ECONNRESET; /* said once: of what was sent before */
	if (r == -EPIPE || r == -ECONNRESET || r == -ENOTCONN)
		return err_set(e, ERR_UNAVAIL, "the sandbox has ended");
	if (r != -EAGAIN && r != -ETOOMANYREFS)
		return err_sys(e, -r, "ask the keeper");
	(void)err_set(e, ERR_LIMIT, "the keeper has more requests than it can take at once");
	return -EAGAIN;
}

static bool put_list(struct buf *b, struct strs list)
{
	bool nul = false;

	for (size_t i = 0; i < list.n; i++) {
		nul |= list.v[i].n && memchr(list.v[i].p, '\0', list.v[i].n);
		buf_put(b, list.v[i]);
		buf_putc(b, '\0');
	}
	return !nul;
}

static uint32_t call_flags(const struct box_call *c)
{
	return (c->pty ? KEEPER_F_PTY : 0) | (c->keep ? KEEPER_F_KEEP : 0) | (c->apart ? KEEPER_F_APART : 0) |
	       (c->tell ? KEEPER_F_TELL : 0);
}

int kept_put_call(struct buf *b, const struct box_call *call, struct str text, struct keeper_request *h,
		  struct err *e)
{
	const struct str places[] = { call->cwd, call->path, text };
	bool whole;

	if (call->argv.n == 0 || call->argv.v[0].n == 0)
		return err_set(e, ERR_USAGE, "no command");
	if (call->argv.n > KEEPER_ARGS_MAX || call->env.n > KEEPER_ARGS_MAX)
		return err_set(e, ERR_LIMIT, "%zu arguments and %zu variables: at most %u of each",
			       call->argv.n, call->env.n, KEEPER_ARGS_MAX);
	whole = put_list(b, call->argv) && put_list(b, call->env) &&
		put_list(b, (struct strs){ places, text.p ? 3 : 2 });
	if (!whole)
		return err_set(e, ERR_USAGE, "an argument, a variable or a path holds a NUL byte");
	if (b->failed)
		return err_set(e, ERR_LIMIT, "the command and its environment are larger than %u bytes",
			       KEEPER_BODY_MAX);
	h->flags = call_flags(call);
	h->argc = (uint32_t)call->argv.n;
	h->envc = (uint32_t)call->env.n;
	h->umask = (uint16_t)(call->umask & 0777);
	h->cpu = call->cpu;
	h->rows = call->rows;
	h->columns = call->columns;
	h->deadline_ms = call->deadline_ms;
	h->grace_ms = call->grace_ms;
	h->open_files = call->open_files;
	h->file_bytes = call->file_bytes;
	return 0;
}

/* ---- hearing ---- */

static void is_gone(struct kept *k)
{
	k->gone = true;
	events_ring(&k->later);
}

/* Whoever speaks like this is not asked again. */
static int garbage(struct kept *k, int r, struct err *e)
{
	(void)shutdown(k->socket, SHUT_RDWR);
	is_gone(k);
	if (r == -EPROTONOSUPPORT)
		(void)err_set(
			e, ERR_PROTO,
			"another version of creel keeps this sandbox; end it first, then it is made anew");
	else
		(void)err_set(e, ERR_PROTO, "the keeper said what is no message");
	k->why = *e;
	return -(int)ERR_PROTO;
}

/* A message that could not bring its descriptors: the call can never be spoken to, the question has no answer. */
static void without_fds(struct kept *k, struct keeper_event *h)
{
	struct keeper_request cancel = { .msg = KEEPER_CANCEL, .id = h->id };
	struct err ignored;

	if (h->msg == KEEPER_EVENT)
		(void)kept_send(k, &cancel, STR(""), &(struct message_fds){ .n = 0 }, &ignored);
	h->err_kind = ERR_LIMIT;
	h->sys_errno = EMFILE;
	h->body = 0;
	h->fds = 0;
}

static int map_event(struct kept *k, struct kept_reply *m, struct box_event *ret)
{
	*ret = (struct box_event){ .kind = (enum box_event_kind)m->head.kind,
				   .call = m->head.id,
				   .fd = FD_NONE,
				   .pid = m->head.pid };
	keeper_event_err(&m->head, m->body, &ret->err);
	if (ret->kind == BOX_GONE) {
		k->why = ret->err;
		return 0;
	}
	if (asked_find(&k->asked, ret->call) < 0)
		return 0;
	if (ret->kind == BOX_PTY) {
		if (m->fd < 0)
			return 0;
		ret->fd = TAKE_FD(m->fd);
	}
	keeper_get_end(&m->head.end, &ret->end);
	if (ret->kind == BOX_ENDED || ret->kind == BOX_FAILED)
		(void)asked_drop(&k->asked, ret->call);
	return 1;
}

/* Sorts what came with a message that was checked. */
static int open_message(struct kept *k, size_t n, struct message_fds *fds, struct kept_reply *m)
{
	size_t at = 0;

	m->body = (struct str){ .p = k->body, .n = n - sizeof(m->head) };
	if (m->head.fds & 1u) {
		m->fd = fds->v[at];
		fds->v[at++] = FD_NONE;
	}
	if (!(m->head.fds & KEEPER_FD_BODY))
		return 0;
	if (message_map(fds->v[at], m->head.body, &m->mapped) < 0)
		return -EINVAL;
	m->body = m->mapped;
	return 0;
}

int kept_hear(struct kept *k, bool wait, struct box_event *ret, struct kept_reply *ret_reply, struct err *e)
{
	_cleanup_fds_ struct message_fds fds = { .n = 0 };
	_cleanup_reply_ struct kept_reply m = KEPT_REPLY_NONE;
	ssize_t n = message_take(k->socket, wait ? MESSAGE_WAIT : 0, &m.head, sizeof(m.head), k->body,
				 sizeof(k->body), &fds);
	int r;

	k->unheard |= fds.unheard;
	if (n == 0)
		is_gone(k);
	if (n == 0 || n == -EAGAIN)
		return (int)n;
	if (n == -EMFILE) {
		without_fds(k, &m.head);
		n = sizeof(m.head);
	}
	if (n < 0 && n != -EMSGSIZE)
		return err_sys(e, (int)-n, "hear from the keeper");
	r = n < 0 ? -EINVAL : keeper_event_check(&m.head, (size_t)n, fds.n);
	if (r >= 0)
		r = open_message(k, (size_t)n, &fds, &m);
	if (r < 0)
		return garbage(k, r, e);
	if (m.head.msg == KEEPER_EVENT)
		return map_event(k, &m, ret);
	if (ret_reply) {
		kept_reply_done(ret_reply);
		*ret_reply = m;
		m = KEPT_REPLY_NONE;
	}
	return 0;
}

/* ---- waiting ---- */

/* Waits until something can be heard, or sent; what is heard and is no answer is kept for next(). */
static int pump(struct kept *k, short events, uint64_t end, struct kept_reply *ret, struct err *e)
{
	struct pollfd p = { .fd = k->socket, .events = events };
	struct box_event ev;
	int r;

	if (poll(&p, 1, clock_poll_ms(end)) == 0)
		return err_set(e, ERR_LIMIT, "the keeper did not answer in time");
	if (!(p.revents & (POLLIN | POLLHUP | POLLERR)))
		return 0;
	r = kept_hear(k, false, &ev, ret, e);
	if (r == 1 && events_put(&k->later, &ev) < 0)
		return err_set(e, ERR_LIMIT, "more is said in this sandbox than is heard");
	return r == -EAGAIN ? 0 : r;
}

/* ---- the line ---- */

/* What it had to say when the keeper has gone: pid 1 goes with him, and hangs up last. */
static int hear_out(struct kept *k, uint64_t end, struct err *e)
{
	struct pollfd p = { .fd = line_fd(k->line), .events = POLLIN };
	struct box_event ev;

	while (line_calls(k->line) && !line_gone(k->line)) {
		int r = line_hear(k->line, &ev, e);

		if (r == 1 && events_put(&k->later, &ev) < 0)
			return err_set(e, ERR_LIMIT, "more is said in this sandbox than is heard");
		if (r < 0 && r != -EAGAIN)
			return r;
		if (r == -EAGAIN && poll(&p, 1, clock_poll_ms(end)) == 0)
			break;
	}
	return 0;
}

int kept_settle_line(struct kept *k, struct err *e)
{
	uint64_t end = clock_deadline(k->answer_ms);
	struct box_event ev;
	struct err ignored;
	int r = k->gone ? hear_out(k, end, e) : 0;

	/* Why its calls were ended the keeper knows, who ends with the sandbox. */
	while (r >= 0 && line_calls(k->line) && !line_unbegun(k->line) && !k->gone &&
	       pump(k, POLLIN, end, NULL, &ignored) >= 0)
		;
	while (r >= 0 && line_lost(k->line, &ev)) {
		if (ev.kind == BOX_ENDED)
			ev.err = k->why;
		if (events_put(&k->later, &ev) < 0)
			r = err_set(e, ERR_LIMIT, "more is said in this sandbox than is heard");
	}
	k->line = line_close(k->line);
	return r;
}

/* When one of its calls is waited for, that is where something comes from. */
static int hear_line(struct kept *k, struct box_event *ret, struct err *e)
{
	int r = line_hear(k->line, ret, e);

	if (r == 0 && line_gone(k->line))
		r = kept_settle_line(k, e);
	return r == 0 ? events_take(&k->later, ret) : r;
}

int kept_hear_any(struct kept *k, bool wait, struct box_event *ret, struct err *e)
{
	struct pollfd p[2] = { { .fd = k->socket, .events = POLLIN }, { .events = POLLIN } };
	int r;

	if (!k->line)
		return kept_hear(k, wait, ret, NULL, e);
	if (line_calls(k->line)) {
		r = hear_line(k, ret, e);
		if (r != -EAGAIN)
			return r;
	}
	p[1].fd = line_fd(k->line);
	r = poll(p, 2, wait ? -1 : 0);
	if (r < 0 && errno != EINTR)
		return err_sys(e, errno, "hear from the sandbox");
	if (r > 0 && p[1].revents)
		r = hear_line(k, ret, e);
	else if (r > 0)
		r = kept_hear(k, false, ret, NULL, e);
	else
		r = -EAGAIN;
	return r == -EAGAIN && wait ? 0 : r;
}

/* ---- asking ---- */

/* A line is worth less: there is another way. */
static uint64_t patience(const struct kept *k, const struct keeper_request *h)
{
	return h->msg == KEEPER_LINE && k->answer_ms > LINE_MS ? LINE_MS : k->answer_ms;
}

int kept_ask(struct kept *k, struct keeper_request *h, struct str body, struct message_fds *fds,
	     uint64_t wait_ms, struct kept_reply *ret, struct err *e)
{
	uint64_t end = clock_deadline(patience(k, h) + wait_ms), sent;
	/* Of the others a call may have asked before. */
	const bool begins = h->msg == KEEPER_JOB_START || h->msg == KEEPER_FILES;
	bool asked;
	int r = -EAGAIN;

	if (h->msg >= KEEPER_JOB_START && !h->owner && !(h->flags & KEEPER_F_ANY))
		return err_set(e, ERR_BUG, "nobody was named who asks about background processes");
	h->id = ++k->last_question;
	while (!k->gone && r == -EAGAIN) {
		r = kept_send(k, h, body, fds, e);
		if (r == -EAGAIN && pump(k, POLLIN | POLLOUT, end, NULL, e) < 0)
			return -(int)e->kind;
	}
	asked = r >= 0;
	sent = k->sent;
	while (!k->gone && r >= 0 && (ret->head.msg != KEEPER_REPLY || ret->head.id != h->id))
		r = pump(k, POLLIN, end, ret, e);
	if (k->gone && ret->head.id != h->id && k->why.kind == ERR_PROTO) {
		*e = k->why; /* it lives, and cannot be understood */
		return -(int)e->kind;
	}
	if (k->gone && ret->head.id != h->id)
		r = box_lost(e);
	if (begins && r < 0 && e->kind == ERR_UNAVAIL && (!asked || (k->unheard && k->sent == sent)))
		return box_unbegun(e);
	if (r < 0 || ret->head.err_kind == ERR_NONE)
		return r < 0 ? r : 0;
	keeper_event_err(&ret->head, ret->body, e);
	if (!e->msg[0])
		return err_set(e, e->kind, "no room for a descriptor; fix: raise ulimit -n");
	return -(int)e->kind;
}
