/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a service whether it lives, as anybody could. */
#include "server/survey/look.h"

#include "base/clock.h"
#include "data/json.h"
#include "http/head.h"
#include "http/listen.h"
#include "net/message.h"
#include "tls/tls.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define WAIT_S 5
#define ANSWER_MAX 65536u
#define FIELDS_MAX 64u

static const char request[] = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/* Connected, blocking, and no wait is longer than WAIT_S. */
static int settle(int fd, struct err *e)
{
	const struct timeval wait = { .tv_sec = WAIT_S };
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int flags = fcntl(fd, F_GETFL), fault = 0;
	socklen_t n = sizeof(fault);

	if (poll(&p, 1, WAIT_S * 1000) <= 0)
		return err_sys(e, ETIMEDOUT, "connect");
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &n) < 0 || fault)
		return err_sys(e, fault ? fault : errno, "connect");
	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) < 0)
		return err_sys(e, errno, "connect");
	return 0;
}

/* "0.0.0.0" and "[::]" are every address of this machine: ours is one of them. */
static int connect_tcp(const char *address, int *ret, struct err *e)
{
	struct str host, port;
	uint64_t number;
	char text[64];

	if (!str_cut_last(str_z(address), ':', &host, &port) || str_to_u64(port, 65535, &number) < 0)
		return err_set(e, ERR_USAGE, "'%s' is not accepted: IP:PORT, [IPv6]:PORT or unix:PATH",
			       address);
	if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
		host = (struct str){ host.p + 1, host.n - 2 };
	if (str_eq(host, STR("0.0.0.0")) || str_eq(host, STR("localhost")))
		host = STR("127.0.0.1");
	if (str_eq(host, STR("::")))
		host = STR("::1");
	(void)snprintf(text, sizeof(text), "%.*s", (int)(host.n < 63 ? host.n : 63), host.p);
	return http_connect_tcp(text, (uint16_t)number, ret, e);
}

static int ask_plain(int fd, struct buf *answer, struct err *e)
{
	char piece[4096];
	ssize_t n = send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL);

	if (n != (ssize_t)sizeof(request) - 1)
		return err_sys(e, n < 0 ? errno : EPIPE, "send a request");
	while ((n = recv(fd, piece, sizeof(piece), 0)) > 0 && !answer->failed)
		buf_put(answer, (struct str){ piece, (size_t)n });
	if (answer->failed)
		return err_set(e, ERR_LIMIT, "the answer is longer than %u bytes", ANSWER_MAX);
	if (n < 0)
		return errno == EAGAIN ? err_set(e, ERR_LIMIT, "it did not answer within %d seconds", WAIT_S)
				       : err_sys(e, errno, "read the answer");
	return 0;
}

static int understand(struct look *l, struct str text, struct health *ret, struct err *e)
{
	struct value *v = ARENA_NEW(l->a, struct value);
	struct str kept = arena_str(l->a, text);

	if (!v || !kept.p)
		return err_set(e, ERR_LIMIT, "out of memory");
	if (json_parse(l->a, kept, &(struct json_opts){ .name = "answer" }, v, e) < 0)
		return -1;
	ret->said = v;
	ret->is_there = true;
	return 0;
}

static int understand_http(struct look *l, struct str bytes, struct health *ret, struct err *e)
{
	struct http_field fields[FIELDS_MAX];
	struct http_head h;

	http_head_init(&h, HTTP_RESPONSE, HTTP_GET, NULL, fields, FIELDS_MAX);
	if (http_head_parse(&h, bytes) != HTTP_DONE || h.framing != HTTP_LENGTH ||
	    h.length != bytes.n - h.n_bytes)
		return err_set(e, ERR_PROTO, "what answers there does not speak as the services do");
	if (h.status != 200)
		return err_set(e, ERR_PROTO, "it answers with status %u", h.status);
	return understand(l, str_from(bytes, h.n_bytes), ret, e);
}

void ask_http(struct look *l, const char *address, bool tls, struct health *ret)
{
	_cleanup_close_ int fd = FD_NONE;
	_cleanup_buf_ struct buf answer = { 0 };
	bool is_unix = strncmp(address, "unix:", 5) == 0;
	struct err *e = &ret->why;
	int r;

	*ret = (struct health){ .address = arena_str(l->a, str_z(address)), .is_tls = tls && !is_unix };
	buf_init(&answer, ANSWER_MAX);
	r = is_unix ? http_connect_unix(address + 5, &fd, e) : connect_tcp(address, &fd, e);
	if (r >= 0)
		r = settle(fd, e);
	if (r >= 0)
		r = ret->is_tls ? tls_ask(fd, str_z(request), &answer, e) : ask_plain(fd, &answer, e);
	if (r >= 0)
		(void)understand_http(l, buf_str(&answer), ret, e);
}

void ask_egress(struct look *l, const char *path, struct health *ret)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct err *e = &ret->why;
	char bytes[4096];
	ssize_t n;

	*ret = (struct health){ .address = arena_printf(l->a, "unix:%s", path) };
	if (fd < 0 || strlen(path) >= sizeof(sa.sun_path)) {
		(void)err_sys(e, fd < 0 ? errno : ENAMETOOLONG, "connect to '%s'", path);
		return;
	}
	memcpy(sa.sun_path, path, strlen(path));
	if (connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0) {
		(void)err_sys(e, errno, "connect to '%s'", path);
		return;
	}
	if (settle(fd, e) < 0)
		return;
	if (send(fd, EGRESS_ASK_HEALTH, sizeof(EGRESS_ASK_HEALTH) - 1, MSG_NOSIGNAL) < 0) {
		(void)err_sys(e, errno, "send a request");
		return;
	}
	n = recv(fd, bytes, sizeof(bytes), 0);
	if (n <= 0)
		(void)err_set(e, ERR_LIMIT, "it did not answer within %d seconds", WAIT_S);
	else
		(void)understand(l, (struct str){ bytes, (size_t)n }, ret, e);
}
