/* SPDX-License-Identifier: Apache-2.0 */
/* Whole messages over SOCK_SEQPACKET, with a descriptor or without: to creel, and from the outside to pid 1. */
#include "sandbox/warden/warden.h"

#include <linux/socket.h>

struct iovec_ {
	void *base;
	size_t len;
};
struct msghdr_ {
	void *name;
	int namelen;
	struct iovec_ *iov;
	size_t iovlen;
	void *control;
	size_t controllen;
	int flags;
};
struct cmsg_ {
	size_t len;
	int level, type;
	int fd, second;
};
#define SOL_SOCKET_ 1
#define SCM_RIGHTS_ 1
#define MSG_NOSIGNAL_ 0x4000
#define MSG_CMSG_CLOEXEC_ 0x40000000

#define MSG_DONTWAIT_ 0x40
#define MSG_CTRUNC_ 8
#define MSG_TRUNC_ 0x20
#define TAKE_FDS 8

static long send_with(int socket, void *bytes, size_t n, int fd_to_pass, int flags)
{
	struct iovec_ iov = { bytes, n };
	struct cmsg_ c = { .len = sizeof(size_t) + 3 * sizeof(int),
			   .level = SOL_SOCKET_,
			   .type = SCM_RIGHTS_,
			   .fd = fd_to_pass };
	struct msghdr_ m = { .iov = &iov, .iovlen = 1 };

	if (fd_to_pass >= 0) {
		m.control = &c;
		m.controllen = sizeof(c);
	}
	return SYS3(sendmsg, socket, &m, MSG_NOSIGNAL_ | flags);
}

/* In one message of one byte. */
long pass_two(int socket, int a, int b)
{
	char byte = 0;
	struct iovec_ iov = { &byte, 1 };
	struct cmsg_ c = { .len = sizeof(size_t) + 4 * sizeof(int),
			   .level = SOL_SOCKET_,
			   .type = SCM_RIGHTS_,
			   .fd = a,
			   .second = b };
	struct msghdr_ m = { .iov = &iov, .iovlen = 1, .control = &c, .controllen = sizeof(c) };

	return SYS3(sendmsg, socket, &m, MSG_NOSIGNAL_ | MSG_DONTWAIT_);
}

long control_send(const struct warden_report *r, int fd_to_pass)
{
	struct warden_report copy = *r;

	return send_with(WARDEN_FD_CONTROL, &copy, sizeof(copy), fd_to_pass, 0);
}

long life_send(const struct warden *w, uint32_t what, int fd_to_pass)
{
	return send_with(w->life[1], &what, sizeof(what), fd_to_pass, 0);
}

static uint32_t bit_of(uint32_t what)
{
	return 1u << (LIFE_MAPPED - what);
}

/* One message of the outside; a mount that it carries is kept for its step. */
static void life_next(struct warden *w)
{
	uint32_t what = 0;
	struct iovec_ iov = { &what, sizeof(what) };
	struct cmsg_ c = { 0 };
	struct msghdr_ m = { .iov = &iov, .iovlen = 1, .control = &c, .controllen = sizeof(c) };
	long n;

	do
		n = SYS3(recvmsg, w->life[0], &m, MSG_CMSG_CLOEXEC_);
	while (n == -EINTR);
	if (n != (long)sizeof(what))
		die(125); /* outside has gone, or ends us: it has said why */
	if (what >= LIFE_READY)
		w->heard |= bit_of(what);
	else if (what < w->plan->n_steps && c.level == SOL_SOCKET_ && c.type == SCM_RIGHTS_)
		w->built->tree_fd[what] = c.fd;
	else
		die(125);
}

void life_wait(struct warden *w, uint32_t what)
{
	while (!(w->heard & bit_of(what)))
		life_next(w);
}

int life_tree(struct warden *w, uint32_t step)
{
	while (!w->built->tree_fd[step])
		life_next(w);
	return w->built->tree_fd[step];
}

long control_recv(struct warden_report *r, int flags)
{
	long n;

	do
		n = SYS6(recvfrom, WARDEN_FD_CONTROL, r, sizeof(*r), flags, 0, 0);
	while (n == -EINTR);
	if (n == 0)
		return -EPIPE;
	return n == (long)sizeof(*r) ? 0 : n < 0 ? n : -EPROTO;
}

long message_put(int socket, const void *bytes, size_t n, int fd_to_pass)
{
	void *from;

	memcpy(&from, &bytes, sizeof(from)); /* sendmsg(2) does not write to it */
	return send_with(socket, from, n, fd_to_pass, MSG_DONTWAIT_);
}

struct cmsg_many {
	size_t len;
	int level, type;
	int fd[TAKE_FDS];
};

/* Too many descriptors, or bytes, or anything else beside: all are closed, and it is no message. */
static long give_back(int *fds, unsigned *n_fds, long err)
{
	while (*n_fds > 0)
		SYS1(close, fds[--*n_fds]);
	return err;
}

long message_take(int socket, struct taken *t, unsigned max_fds)
{
	struct iovec_ iov = { t->bytes, t->max };
	struct cmsg_many c = { 0 };
	struct msghdr_ m = { .iov = &iov, .iovlen = 1, .control = &c, .controllen = sizeof(c) };
	long n = SYS3(recvmsg, socket, &m, MSG_CMSG_CLOEXEC_ | MSG_DONTWAIT_);
	const size_t head = sizeof(c) - sizeof(c.fd);

	t->n_fds = 0;
	if (n < 0)
		return n == -EINTR ? -EAGAIN : n;
	if (m.controllen >= head && c.level == SOL_SOCKET_ && c.type == SCM_RIGHTS_ && c.len >= head)
		t->n_fds = (unsigned)((c.len - head) / sizeof(int));
	if (t->n_fds <= max_fds && !(m.flags & (MSG_CTRUNC_ | MSG_TRUNC_))) {
		memcpy(t->fds, c.fd, t->n_fds * sizeof(int));
		return n;
	}
	return give_back(c.fd, &t->n_fds, -EMSGSIZE);
}

void complain(struct warden *w, uint32_t step, long err, const char *what)
{
	size_t at = 0;

	/* Pid 1 has gone while we told it something: it has said why itself, or was killed. */
	if (err == -EPIPE || err == -ECONNRESET)
		return;
	w->report.msg = MSG_FAILED;
	w->report.step = step;
	w->report.err = (int32_t)-err;
	if (what)
		text_put(w->report.what, sizeof(w->report.what), &at, what);
	(void)control_send(&w->report, -1);
}

_Noreturn void fail(struct warden *w, uint32_t step, long err, const char *what)
{
	complain(w, step, err, what);
	die(125);
}
