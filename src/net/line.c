/* SPDX-License-Identifier: Apache-2.0 */
#include "net/line.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define WAIT_MS 5000u
#define ASK_MS 1000u

static int fail_connect(const char *path, int errnum, struct err *e)
{
	if (errnum == ENOENT || errnum == ECONNREFUSED)
		return err_set(
			e, ERR_UNAVAIL,
			"the egress proxy is not running (nobody answers at '%s'); fix: creel serve egress",
			path);
	(void)err_sys(e, errnum, "reach the egress proxy at '%s'", path);
	e->kind = ERR_UNAVAIL;
	return -1;
}

/* Whoever is there sees everything that the sandbox sends: it has to be us, or root. */
static int check_peer(int fd, const char *path, struct err *e)
{
	struct ucred cred = { .uid = (uid_t)-1 };
	socklen_t n = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) == 0 &&
	    (cred.uid == geteuid() || cred.uid == 0))
		return 0;
	return err_set(e, ERR_UNAVAIL, "'%s' is served by another user (uid %d)", path, (int)cred.uid);
}

int egress_connect(const char *path, int *ret_fd, struct err *e)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t n = strlen(path);

	if (fd < 0)
		return err_sys(e, errno, "open a socket");
	if (n >= sizeof(a.sun_path))
		return err_set(e, ERR_UNAVAIL, "'%s' is too long for the address of a socket", path);
	memcpy(a.sun_path, path, n + 1);
	/* It does not wait: a queue that is full is a service that hangs. */
	if (connect(fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		return fail_connect(path, errno, e);
	if (check_peer(fd, path, e) < 0)
		return -1;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int send_text(int fd, struct str text, int pass, struct err *e)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c;
	struct iovec iov = { .iov_len = text.n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	memcpy(&iov.iov_base, &text.p, sizeof(iov.iov_base)); /* sendmsg(2) does not write to it */
	if (pass >= 0) {
		memset(&c, 0, sizeof(c));
		m.msg_control = &c;
		m.msg_controllen = sizeof(c.room);
		c.h.cmsg_level = SOL_SOCKET;
		c.h.cmsg_type = SCM_RIGHTS;
		c.h.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&c.h), &pass, sizeof(int));
	}
	if (sendmsg(fd, &m, MSG_NOSIGNAL) < 0) {
		int errnum = errno;

		(void)err_sys(e, errnum, "speak to the egress proxy");
		e->kind = ERR_UNAVAIL;
		return -1;
	}
	return 0;
}

/* One message; 0 bytes: it has gone. */
static int receive(int fd, unsigned wait_ms, char *out, size_t size, size_t *ret_n, struct err *e)
{
	uint64_t end = clock_deadline(wait_ms);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;
	int r;

	do
		r = poll(&p, 1, clock_poll_ms(end));
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return err_set(e, ERR_UNAVAIL, "the egress proxy did not answer within %u ms", wait_ms);
	n = recv(fd, out, size, MSG_TRUNC);
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		return err_set(e, ERR_UNAVAIL,
			       "the egress proxy has ended, and with it what the call could reach");
	if (n < 0 || (size_t)n > size)
		return err_set(e, ERR_PROTO, "the egress proxy sent something that is no message");
	*ret_n = (size_t)n;
	return 0;
}

int egress_hand_over(int fd, const struct egress_hello *hello, int listener, struct err *e)
{
	_cleanup_buf_ struct buf text = { 0 };
	char in[4096];
	size_t n;

	buf_init(&text, EGRESS_MESSAGE_MAX);
	egress_hello_put(hello, &text);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the rules of the call are longer than %u bytes",
			       EGRESS_MESSAGE_MAX);
	if (send_text(fd, buf_str(&text), listener, e) < 0 || receive(fd, WAIT_MS, in, sizeof(in), &n, e) < 0)
		return -1;
	if (egress_answer_parse((struct str){ in, n }, e) < 0)
		return err_wrap(e, "the egress proxy refuses");
	return 0;
}

int egress_close(int fd, struct net_report *ret, struct err *e)
{
	_cleanup_close_ int own = fd;
	_cleanup_buf_ struct buf text = { 0 };
	_cleanup_free_ char *in = malloc(EGRESS_MESSAGE_MAX);
	struct err ignored = { 0 };
	size_t n;

	if (!in)
		return err_sys(e, ENOMEM, "hear the egress proxy");
	buf_init(&text, 64);
	egress_end_put(&text);
	/* A proxy that has gone is told by what is not answered. */
	(void)send_text(own, buf_str(&text), FD_NONE, &ignored);
	if (receive(own, WAIT_MS, in, EGRESS_MESSAGE_MAX, &n, e) < 0)
		return -1;
	return egress_report_parse((struct str){ in, n }, ret, e);
}

int egress_ask(const char *path, struct egress_numbers *ret, struct err *e)
{
	_cleanup_close_ int fd = FD_NONE;
	_cleanup_buf_ struct buf text = { 0 };
	char in[1024];
	size_t n;

	buf_init(&text, sizeof(in));
	egress_ask_put(&text);
	if (egress_connect(path, &fd, e) < 0 || send_text(fd, buf_str(&text), FD_NONE, e) < 0 ||
	    receive(fd, ASK_MS, in, sizeof(in), &n, e) < 0)
		return -1;
	return egress_numbers_parse((struct str){ in, n }, ret, e);
}
