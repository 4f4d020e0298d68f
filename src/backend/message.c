/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/message.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)
#define MFD_NOEXEC_SEAL_ 8u

union room {
	struct cmsghdr h;
	char bytes[CMSG_SPACE(sizeof(int) * MESSAGE_FDS_MAX)];
};

void message_close(struct message_fds *fds)
{
	for (size_t i = 0; i < fds->n; i++)
		(void)fd_close(fds->v[i]);
	fds->n = 0;
}

static struct iovec iov_of(struct str s)
{
	union {
		const char *in;
		void *out;
	} u = { .in = s.p }; /* only read */

	return (struct iovec){ .iov_base = u.out, .iov_len = s.n };
}

int message_send(int fd, struct str head, struct str body, const struct message_fds *fds)
{
	struct iovec iov[2] = { iov_of(head), iov_of(body) };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = body.n ? 2 : 1 };
	union room c;
	ssize_t n;

	if (fds && fds->n) {
		memset(&c, 0, sizeof(c));
		m.msg_control = &c;
		m.msg_controllen = (socklen_t)CMSG_SPACE(sizeof(int) * fds->n);
		c.h.cmsg_level = SOL_SOCKET;
		c.h.cmsg_type = SCM_RIGHTS;
		c.h.cmsg_len = (socklen_t)CMSG_LEN(sizeof(int) * fds->n);
		memcpy(CMSG_DATA(&c.h), fds->v, sizeof(int) * fds->n);
	}
	do
		n = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* There is one header: we never asked for credentials. */
static void take_fds(const struct msghdr *m, const union room *c, struct message_fds *ret)
{
	size_t n;

	if (m->msg_controllen < sizeof(c->h) || c->h.cmsg_level != SOL_SOCKET || c->h.cmsg_type != SCM_RIGHTS)
		return;
	n = (c->h.cmsg_len - CMSG_LEN(0)) / sizeof(int);
	if (n > MESSAGE_FDS_MAX)
		return;
	memcpy(ret->v, CMSG_DATA(&c->h), n * sizeof(int));
	ret->n = n;
}

ssize_t message_take(int fd, unsigned flags, void *head, size_t head_size, void *body, size_t body_size,
		     struct message_fds *ret)
{
	struct iovec iov[2] = { { .iov_base = head, .iov_len = head_size },
				{ .iov_base = body, .iov_len = body_size } };
	union room c;
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2, .msg_control = &c, .msg_controllen = sizeof(c) };
	int resets = 0;
	ssize_t n;

	*ret = (struct message_fds){ .n = 0 };
	/* Who went without hearing us out leaves an error, once; what was said before is still there behind it. */
	do
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | (flags & MESSAGE_WAIT ? 0 : MSG_DONTWAIT));
	while (n < 0 && (errno == EINTR || (errno == ECONNRESET && resets++ == 0)));
	ret->unheard = resets > 0;
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	take_fds(&m, &c, ret);
	if (!(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return n;
	message_close(ret);
	return m.msg_flags & MSG_TRUNC ? -EMSGSIZE : -EMFILE;
}

int message_seal(struct str bytes)
{
	_cleanup_close_ int fd =
		memfd_create("creel-message", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL_);
	int r;

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create("creel-message", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	r = fd < 0 ? -errno : fd_write_all(fd, bytes);
	if (r >= 0 && fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL) < 0)
		r = -errno;
	return r < 0 ? r : TAKE_FD(fd);
}

int message_map(int fd, size_t size, struct str *ret)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	void *p;

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &st) < 0 || size == 0 ||
	    st.st_size != (off_t)size)
		return -EINVAL;
	p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*ret = (struct str){ .p = p, .n = size };
	return 0;
}

void message_unmap(struct str *mapped)
{
	union {
		const char *in;
		void *out;
	} u = { .in = mapped->p };

	if (mapped->n)
		(void)munmap(u.out, mapped->n);
	*mapped = (struct str){ 0 };
}
