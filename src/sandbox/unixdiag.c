/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/unixdiag.h"
#include "base/fd.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define ANSWER_BYTES ((size_t)64 << 10)
#define ANSWER_S 5

static struct str cut_at_nul(struct str s)
{
	const char *nul = s.n ? memchr(s.p, '\0', s.n) : NULL;

	return nul ? (struct str){ .p = s.p, .n = (size_t)(nul - s.p) } : s;
}

/* A device number as the kernel keeps it: 12 bits and 20. */
static void take_vfs(struct str v, struct unix_sock *s)
{
	struct unix_diag_vfs vfs;

	memcpy(&vfs, v.p, sizeof(vfs));
	s->ino = vfs.udiag_vfs_ino;
	s->dev = (uint64_t)(vfs.udiag_vfs_dev >> 20) << 32 | (vfs.udiag_vfs_dev & 0xfffffu);
}

int unixdiag_parse(struct str body, struct unix_sock *ret)
{
	struct unix_sock s = { 0 };
	bool bound = false;

	if (body.n < sizeof(struct unix_diag_msg))
		return -EINVAL;
	body = str_from(body, sizeof(struct unix_diag_msg));
	while (body.n >= sizeof(struct rtattr)) {
		struct rtattr at;
		struct str value;

		memcpy(&at, body.p, sizeof(at));
		if (at.rta_len < sizeof(at) || at.rta_len > body.n)
			return -EINVAL;
		value = (struct str){ .p = body.p + sizeof(at), .n = at.rta_len - sizeof(at) };
		if (at.rta_type == UNIX_DIAG_NAME)
			s.name = cut_at_nul(value);
		if (at.rta_type == UNIX_DIAG_VFS && value.n < sizeof(struct unix_diag_vfs))
			return -EINVAL;
		if (at.rta_type == UNIX_DIAG_VFS) {
			take_vfs(value, &s);
			bound = true;
		}
		body = str_from(body, RTA_ALIGN((size_t)at.rta_len));
	}
	*ret = s;
	return bound;
}

static int ask(int fd)
{
	const struct {
		struct nlmsghdr head;
		struct unix_diag_req req;
	} q = { .head = { .nlmsg_len = sizeof(q),
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.req = { .sdiag_family = AF_UNIX,
			 .udiag_states = ~0u, /* one that does not listen yet may do so later */
			 .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_VFS } };
	const struct timeval patience = { .tv_sec = ANSWER_S };

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return send(fd, &q, sizeof(q), MSG_NOSIGNAL) == (ssize_t)sizeof(q) ? 0 : -errno;
}

struct listing {
	struct arena *a;
	struct unix_socks socks;
	size_t cap;
};

static int take_one(struct listing *l, struct str body)
{
	struct unix_sock s;
	int r = unixdiag_parse(body, &s);

	if (r <= 0)
		return r;
	if (l->socks.n == UNIXDIAG_MAX)
		return -E2BIG;
	if (l->socks.n == l->cap)
		l->socks.v = arena_grow(l->a, l->socks.v, l->socks.n, &l->cap, sizeof(s),
					alignof(struct unix_sock));
	s.name = arena_str(l->a, s.name);
	if (l->a->failed)
		return -ENOMEM;
	l->socks.v[l->socks.n++] = s;
	return 0;
}

/* 1 = that was the last. */
static int take_answer(struct listing *l, struct str rest)
{
	while (rest.n >= sizeof(struct nlmsghdr)) {
		struct nlmsghdr head;
		struct str body;
		int r = 0;

		memcpy(&head, rest.p, sizeof(head));
		if (head.nlmsg_len < sizeof(head) || head.nlmsg_len > rest.n)
			return -EPROTO;
		body = (struct str){ .p = rest.p + sizeof(head), .n = head.nlmsg_len - sizeof(head) };
		if (head.nlmsg_type == NLMSG_DONE)
			return 1;
		if (head.nlmsg_type == NLMSG_ERROR && body.n >= sizeof(r))
			memcpy(&r, body.p, sizeof(r));
		else if (head.nlmsg_type == SOCK_DIAG_BY_FAMILY)
			r = take_one(l, body);
		else
			r = -EPROTO;
		/* Something was left out: the list is not the list. */
		if (r < 0 || head.nlmsg_flags & NLM_F_DUMP_INTR)
			return r < 0 ? r : -EAGAIN;
		rest = str_from(rest, NLMSG_ALIGN((size_t)head.nlmsg_len));
	}
	return rest.n ? -EPROTO : 0;
}

int unixdiag_list(struct arena *a, struct unix_socks *ret)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	_cleanup_free_ char *bytes = malloc(ANSWER_BYTES);
	struct listing l = { .a = a };
	int r = fd < 0 ? -errno : bytes ? ask(fd) : -ENOMEM;

	while (r == 0) {
		ssize_t n = recv(fd, bytes, ANSWER_BYTES, MSG_TRUNC);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || (size_t)n > ANSWER_BYTES)
			return n < 0 ? -errno : -EPROTO;
		r = take_answer(&l, (struct str){ .p = bytes, .n = (size_t)n });
	}
	if (r < 0)
		return r;
	*ret = l.socks;
	return 0;
}
