/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/collect.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/stay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)64 << 10)
#define DRAIN_MAX \
	((size_t)2 << 20) /* more than a pipe holds: one that is still filled is not emptied for ever */
#define LATE_MS 10000u    /* the box ends a call at its deadline; this long after it we ask it to */
#define TTY_EMPTY_MS 20u  /* a terminal that nobody has open at the moment says EIO */
/*
 * So long only the end is waited for: a program that ends by then, as most do, has left what it wrote in the pipes, and need not have woken us
 * for each piece. Who writes more than a pipe holds waits for us as long, once.
 */
#define QUIET_MS 2u
#define END_OF_INPUT "\x04"

struct collector {
	struct box *box;
	const struct collect_spec *s;
	struct collected *ret;
	uint64_t id;
	int out, err; /* what we read; with a terminal `out` is its other side */
	/* What it writes to: ours, too, so that it need not wake us to say that it closed them. */
	int out_other, err_other;
	int in, in_other; /* what we write, and the side that we keep so that nobody's going away is a signal to us */
	struct str rest; /* of the input */
	unsigned ends;   /* how often a terminal is still to be told that there is no more */
	uint64_t out_again_ms, give_up_ms;
	uint64_t streams_at_ms; /* until then nobody listens to them */
	char *chunk;
	bool deaf; /* the callback wants no more */
	bool cancelled, ended;
	struct staying staying; /* while nobody listens to the streams */
};

void collected_done(struct collected *c)
{
	capture_done(&c->out);
	capture_done(&c->err);
}

static void close_all(struct collector *c)
{
	stay_end(&c->staying);
	if (c->in != c->out)
		c->in = fd_close(c->in);
	c->out = fd_close(c->out);
	c->err = fd_close(c->err);
	c->in_other = fd_close(c->in_other);
	c->out_other = fd_close(c->out_other);
	c->err_other = fd_close(c->err_other);
	free(c->chunk);
}
#define _cleanup_collector_ _cleanup_(close_all)

/* ---- taking output ---- */

static void cancel(struct collector *c)
{
	struct err ignored; /* it has ended by now, or the box has, and both are told */

	if (c->cancelled || c->ended)
		return;
	c->cancelled = true;
	c->give_up_ms = clock_deadline(LATE_MS);
	(void)c->box->ops->cancel(c->box, c->id, 0, &ignored);
}

static int take(struct collector *c, int stream, struct str bytes)
{
	int r = capture_put(stream == 1 ? &c->ret->out : &c->ret->err, bytes);

	if (r == 0 && c->s->output && !c->deaf && c->s->output(c->s->ctx, stream, bytes) != 0) {
		c->deaf = true;
		cancel(c);
	}
	return r;
}

/* How many bytes; 0 when there are none now; *fd is closed at its end. */
static ssize_t pump(struct collector *c, int stream, int *fd)
{
	ssize_t n;
	int r;

	if (!c->chunk && !(c->chunk = malloc(CHUNK)))
		return -ENOMEM;
	n = read(*fd, c->chunk, CHUNK);
	if (n > 0) {
		r = take(c, stream, (struct str){ .p = c->chunk, .n = (size_t)n });
		return r < 0 ? r : n;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0 && errno == EIO && c->s->call.pty && !c->ended) {
		c->out_again_ms = clock_deadline(TTY_EMPTY_MS);
		return 0;
	}
	if (n < 0 && errno != EIO)
		return -errno;
	if (c->in == *fd)
		c->in = FD_NONE;
	*fd = fd_close(*fd);
	return 0;
}

/* What is in the stream at the end of the program, without waiting for more. */
static int drain(struct collector *c, int stream, int *fd)
{
	ssize_t n = 1;

	for (size_t sum = 0; *fd >= 0 && n > 0 && sum < DRAIN_MAX; sum += (size_t)n) {
		n = pump(c, stream, fd);
		if (n < 0)
			return (int)n;
	}
	return 0;
}

/* ---- giving input ---- */

static void end_input(struct collector *c)
{
	if (c->in != c->out)
		c->in = fd_close(c->in);
	c->in = FD_NONE;
}

static void feed(struct collector *c)
{
	struct str what = c->rest.n ? c->rest : (struct str){ .p = END_OF_INPUT, .n = 1 };
	ssize_t n = write(c->in, what.p, what.n);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0)
		end_input(c); /* nobody reads there any more */
	else if (c->rest.n)
		c->rest = str_from(c->rest, (size_t)n);
	else
		c->ends--;
	if (c->rest.n == 0 && c->ends == 0)
		end_input(c);
}

/* ---- hearing of it ---- */

static int got_terminal(struct collector *c, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		(void)fd_close(fd);
		return -errno;
	}
	c->out = c->in = fd;
	/* It ends a line that was begun, too, and only then the input. */
	c->ends = c->rest.n && c->rest.p[c->rest.n - 1] != '\n' ? 2 : 1;
	return 0;
}

static int hear(struct collector *c, struct err *e)
{
	struct box_event ev = { .fd = FD_NONE };
	int r = c->box->ops->next(c->box, false, &ev, e);

	if (r == -EAGAIN)
		return 0;
	if (r < 0)
		return r;
	if (ev.kind == BOX_GONE || (ev.call == c->id && ev.kind == BOX_ENDED)) {
		c->ended = true;
		c->ret->end = ev.kind == BOX_GONE ? (struct box_end){ 0 } : ev.end;
		c->ret->lost = ev.err;
		return 0;
	}
	if (ev.call != c->id) { /* of a call that nobody waits for any more */
		(void)fd_close(ev.fd);
		return 0;
	}
	if (ev.kind == BOX_FAILED) {
		*e = ev.err;
		return -1;
	}
	if (ev.kind == BOX_PTY && c->out < 0) {
		r = got_terminal(c, ev.fd);
		return r < 0 ? err_sys(e, -r, "read a terminal") : 0;
	}
	(void)fd_close(ev.fd);
	return 0;
}

/* ---- the whole ---- */

static int open_pipe(int *ret_ours, int *ret_theirs, bool we_read)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return -errno;
	*ret_ours = p[we_read ? 0 : 1];
	*ret_theirs = p[we_read ? 1 : 0];
	/* Ours alone: the two sides of a pipe have flags of their own, and a program may count on waiting. */
	if (fcntl(*ret_ours, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	/* The program may be another user than we are, and opens /dev/stderr by its name. Nobody else can name it. */
	return fchmod(*ret_theirs, 0666) < 0 ? -errno : 0;
}

static void close_pipes(struct tool_memory *m)
{
	for (int i = 0; i < 2; i++) {
		(void)fd_close(m->pipes[i][0]);
		(void)fd_close(m->pipes[i][1]);
	}
	m->has_pipes = false;
}

void tools_forget(struct tool_memory *m)
{
	if (m->has_pipes)
		close_pipes(m);
	*m = (struct tool_memory){ 0 };
}

/* Without them the next one makes its own, and tells what is wrong. */
static void make_pipes(struct tool_memory *m)
{
	m->pipes[0][0] = m->pipes[0][1] = m->pipes[1][0] = m->pipes[1][1] = FD_NONE;
	if (open_pipe(&m->pipes[0][0], &m->pipes[0][1], true) < 0 ||
	    open_pipe(&m->pipes[1][0], &m->pipes[1][1], true) < 0)
		close_pipes(m);
	else
		m->has_pipes = true;
}

/* Nobody else has ever had them: what a program before this one left behind cannot write into them. */
static int take_pipes(struct collector *c)
{
	struct tool_memory *m = c->s->memory;
	int r;

	if (!m || !m->has_pipes) {
		r = open_pipe(&c->out, &c->out_other, true);
		return r < 0 ? r : open_pipe(&c->err, &c->err_other, true);
	}
	c->out = m->pipes[0][0];
	c->out_other = m->pipes[0][1];
	c->err = m->pipes[1][0];
	c->err_other = m->pipes[1][1];
	m->has_pipes = false;
	return 0;
}

static int begin(struct collector *c, struct err *e)
{
	struct box_call call = c->s->call;
	int r = 0;

	call.stdio[0] = call.stdio[1] = call.stdio[2] = FD_NONE;
	if (!call.pty) {
		r = take_pipes(c);
		if (r == 0 && c->s->has_input && c->rest.n > 0)
			r = open_pipe(&c->in, &c->in_other, false);
		call.stdio[0] = c->in_other;
		call.stdio[1] = c->out_other;
		call.stdio[2] = c->err_other;
	}
	if (r < 0)
		return err_sys(e, -r, "make a pipe");
	if (!call.pty)
		c->streams_at_ms = clock_deadline(QUIET_MS);
	if (call.deadline_ms)
		c->give_up_ms = clock_deadline(call.deadline_ms + call.grace_ms + LATE_MS);
	if (c->box->ops->follows && !call.pty)
		call.cpu = stay_begin(&c->staying);
	return c->box->ops->exec(c->box, &call, &c->id, e);
}

static bool readable(const struct pollfd *p)
{
	return (p->revents & (POLLIN | POLLHUP | POLLERR)) != 0;
}

enum { BOX_FD, OUT_FD, ERR_FD, IN_FD, CANCEL_FD, FDS };

static int wait_for_something(struct collector *c, struct pollfd p[static FDS])
{
	uint64_t now = clock_mono_ms(), until = c->give_up_ms;
	bool quiet = now < c->streams_at_ms, out_waits = quiet || (c->out_again_ms && now < c->out_again_ms);

	if (!quiet)
		stay_end(&c->staying);
	if (quiet)
		until = c->streams_at_ms;
	else if (out_waits && c->out_again_ms < until)
		until = c->out_again_ms;
	p[BOX_FD] = (struct pollfd){ .fd = c->box->ops->fd(c->box), .events = POLLIN };
	p[OUT_FD] = (struct pollfd){ .fd = out_waits ? FD_NONE : c->out, .events = POLLIN };
	p[ERR_FD] = (struct pollfd){ .fd = quiet ? FD_NONE : c->err, .events = POLLIN };
	p[IN_FD] = (struct pollfd){ .fd = out_waits && c->in == c->out ? FD_NONE : c->in, .events = POLLOUT };
	p[CANCEL_FD] = (struct pollfd){ .fd = c->cancelled ? FD_NONE : c->s->cancel_fd, .events = POLLIN };
	return poll(p, FDS, clock_poll_ms(until)) < 0 && errno != EINTR ? -errno : 0;
}

/* One round: whatever is ready, each once, so that no stream keeps another waiting. */
static int step(struct collector *c, struct err *e)
{
	struct pollfd p[FDS];
	ssize_t n = wait_for_something(c, p);

	if (n == 0 && c->out >= 0 && readable(&p[OUT_FD]))
		n = pump(c, 1, &c->out);
	if (n >= 0 && c->err >= 0 && readable(&p[ERR_FD]))
		n = pump(c, 2, &c->err);
	if (n < 0)
		return err_sys(e, (int)-n, "take what the program writes");
	if (c->in >= 0 && p[IN_FD].revents)
		feed(c);
	if (readable(&p[CANCEL_FD]))
		cancel(c);
	if (clock_mono_ms() >= c->give_up_ms) {
		if (c->cancelled)
			return err_set(e, ERR_UNAVAIL, "the sandbox does not end the call");
		cancel(c);
	}
	return readable(&p[BOX_FD]) ? hear(c, e) : 0;
}

int collect_run(struct box *b, const struct collect_spec *spec, struct collected *ret, struct err *e)
{
	_cleanup_collector_ struct collector c = { .box = b,
						   .s = spec,
						   .ret = ret,
						   .out = FD_NONE,
						   .err = FD_NONE,
						   .out_other = FD_NONE,
						   .err_other = FD_NONE,
						   .in = FD_NONE,
						   .in_other = FD_NONE,
						   .rest = spec->input,
						   .give_up_ms = CLOCK_NEVER };
	int r;

	*ret = (struct collected){ 0 };
	capture_init(&ret->out, spec->out_max, spec->spill_max, spec->spill_dir);
	capture_init(&ret->err, spec->err_max, spec->spill_max, spec->spill_dir);
	r = begin(&c, e);
	if (r < 0)
		return r;
	/* For the next one, while this one runs. */
	if (spec->memory && !spec->memory->has_pipes && !spec->call.pty)
		make_pipes(spec->memory);
	while (r >= 0 && !c.ended)
		r = step(&c, e);
	if (r < 0) {
		cancel(&c);
		return r;
	}
	c.out_other = fd_close(c.out_other);
	c.err_other = fd_close(c.err_other);
	r = drain(&c, 1, &c.out);
	if (r >= 0)
		r = drain(&c, 2, &c.err);
	return r < 0 ? err_sys(e, -r, "take what the program writes") : 0;
}
