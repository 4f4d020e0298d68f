/* SPDX-License-Identifier: Apache-2.0 */
/* The one channel to creel: whole messages over SOCK_SEQPACKET. */
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
	int fd, pad;
};
#define SOL_SOCKET_ 1
#define SCM_RIGHTS_ 1
#define MSG_NOSIGNAL_ 0x4000

long control_send(const struct warden_report *r, int fd_to_pass)
{
	struct warden_report copy = *r;
	struct iovec_ iov = { &copy, sizeof(copy) };
	struct cmsg_ c = { .len = sizeof(size_t) + 3 * sizeof(int),
			   .level = SOL_SOCKET_,
			   .type = SCM_RIGHTS_,
			   .fd = fd_to_pass };
	struct msghdr_ m = { .iov = &iov, .iovlen = 1 };

	if (fd_to_pass >= 0) {
		m.control = &c;
		m.controllen = sizeof(c);
	}
	return SYS3(sendmsg, WARDEN_FD_CONTROL, &m, MSG_NOSIGNAL_);
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

void complain(struct warden *w, uint32_t step, long err, const char *what)
{
	size_t at = 0;

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
