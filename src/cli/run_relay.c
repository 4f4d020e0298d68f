/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --output-limit: the command writes into pipes of ours, and we pass on so much and no more. Without a limit its streams are the
 * caller's own, and none of this happens.
 *
 * Who does not read stops the command, as without us: a stream is read from only when what was read before has been written. Who
 * goes away makes its next write fail.
 */
#include "cli/run.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DRAIN_MS 2000u /* for a reader that does not read, after a command that was ended */

struct stream {
	int in, theirs, out;
	bool file; /* never has to be waited for */
	size_t at, n;
	char bytes[65536];
};

struct relay {
	struct stream s[2];
	uint64_t left;
	bool over;
};

static int open_stream(struct stream *s, int out, struct err *e)
{
	struct stat st;
	int p[2];

	if (pipe2(p, O_CLOEXEC) < 0)
		return err_sys(e, errno, "pipe");
	s->in = p[0];
	s->theirs = p[1];
	s->out = out;
	s->file = fstat(out, &st) == 0 && S_ISREG(st.st_mode);
	return 0;
}

int relay_open(struct relay **ret, uint64_t limit, unsigned terminals, struct err *e)
{
	_cleanup_(relay_closep) struct relay *r = calloc(1, sizeof(*r));
	int rc = 0;

	if (!r)
		return err_sys(e, ENOMEM, "output");
	r->left = limit;
	for (int i = 0; i < 2; i++)
		r->s[i].in = r->s[i].theirs = FD_NONE;
	for (int i = 0; i < 2 && rc >= 0; i++)
		if (!(terminals & 2u << i))
			rc = open_stream(&r->s[i], STDOUT_FILENO + i, e);
	if (rc >= 0)
		*ret = TAKE_PTR(r);
	return rc;
}

struct relay *relay_close(struct relay *r)
{
	for (int i = 0; r && i < 2; i++) {
		(void)fd_close(r->s[i].in);
		(void)fd_close(r->s[i].theirs);
	}
	free(r);
	return NULL;
}

void relay_give(const struct relay *r, struct sandbox_stdio *io)
{
	if (r->s[0].theirs >= 0)
		io->out = r->s[0].theirs;
	if (r->s[1].theirs >= 0)
		io->err = r->s[1].theirs;
}

void relay_begin(struct relay *r)
{
	for (int i = 0; i < 2; i++)
		r->s[i].theirs = fd_close(r->s[i].theirs);
}

bool relay_over(const struct relay *r)
{
	return r && r->over;
}

/* ---- bytes ---- */

size_t relay_count(struct relay *r, size_t n)
{
	if (n > r->left) {
		r->over = true;
		n = (size_t)r->left;
	}
	r->left -= n;
	return n;
}

static void take(struct relay *r, struct stream *s)
{
	ssize_t n = read(s->in, s->bytes, sizeof(s->bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		s->in = fd_close(s->in);
		return;
	}
	s->at = 0;
	s->n = relay_count(r, (size_t)n);
}

/* What can be written to takes PIPE_BUF bytes without making us wait, if it is a pipe; a terminal or a socket nearly always. */
static void give(struct stream *s)
{
	size_t left = s->n - s->at;
	ssize_t n = write(s->out, s->bytes + s->at, s->file || left < PIPE_BUF ? left : PIPE_BUF);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n >= 0) {
		s->at += (size_t)n;
		return;
	}
	/* The command hears of it by its next write, as it would without us. */
	s->in = fd_close(s->in);
	s->n = s->at = 0;
}

/* One event on a stream. */
static void move(struct relay *r, struct stream *s)
{
	if (s->at < s->n)
		give(s);
	else if (s->in >= 0)
		take(r, s);
	if (s->file && s->at < s->n)
		give(s);
}

static struct pollfd wanted(const struct relay *r, const struct stream *s)
{
	if (s->at < s->n)
		return (struct pollfd){ .fd = s->out, .events = POLLOUT };
	return (struct pollfd){ .fd = r->over ? FD_NONE : s->in, .events = POLLIN };
}

/* 0 = nothing is left to wait for. Sets what happened on the two others. */
static int turn(struct relay *r, struct pollfd p[4], int timeout_ms)
{
	int n;

	p[2] = wanted(r, &r->s[0]);
	p[3] = wanted(r, &r->s[1]);
	n = poll(p, 4, timeout_ms);
	if (n < 0)
		p[0].revents = p[1].revents = p[2].revents = p[3].revents = 0;
	for (int i = 0; i < 2 && n > 0; i++)
		if (p[2 + i].revents)
			move(r, &r->s[i]);
	return n < 0 && errno != EINTR ? -errno : n;
}

void relay_wants(const struct relay *r, struct pollfd p[static RELAY_POLL])
{
	p[0] = wanted(r, &r->s[0]);
	p[1] = wanted(r, &r->s[1]);
}

void relay_serve(struct relay *r, const struct pollfd p[static RELAY_POLL])
{
	for (int i = 0; i < 2; i++)
		if (p[i].revents)
			move(r, &r->s[i]);
}

void relay_drain(struct relay *r, int signals, bool was_ended)
{
	while (wanted(r, &r->s[0]).fd >= 0 || wanted(r, &r->s[1]).fd >= 0) {
		struct pollfd p[4] = { { .fd = FD_NONE }, { .fd = signals, .events = POLLIN } };

		if (turn(r, p, was_ended ? (int)DRAIN_MS : -1) <= 0 || p[1].revents)
			return;
	}
}
