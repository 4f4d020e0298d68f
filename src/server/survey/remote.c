/* SPDX-License-Identifier: Apache-2.0 */
#include "server/survey/remote.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "http/body.h"
#include "http/write.h"
#include "tls/client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BODY_MAX = 256 * 1024, IN_MAX = 1024 * 1024, REQUEST_MAX = 16384, FIELDS_MAX = 64 };

/* Negative errno; -ETIMEDOUT at the deadline. */
static int wait_for(int fd, short events, uint64_t deadline_ms)
{
	struct pollfd p = { .fd = fd, .events = events };
	int n;

	do
		n = poll(&p, 1, clock_poll_ms(deadline_ms));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n == 0 ? -ETIMEDOUT : 0;
}

/* ---- the host ---- */

struct lookup {
	int fault; /* of getaddrinfo() */
	size_t n;
	struct remote_address v[REMOTE_ADDRESSES_MAX];
};

static void look_up(const struct endpoint *at, struct lookup *l)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC,
					.ai_socktype = SOCK_STREAM,
					.ai_flags = at->is_address ? AI_NUMERICHOST : 0 };
	struct addrinfo *list = NULL;

	l->fault = getaddrinfo(at->host.p, NULL, &hints, &list);
	for (struct addrinfo *i = l->fault ? NULL : list; i && l->n < REMOTE_ADDRESSES_MAX; i = i->ai_next) {
		struct remote_address *to = &l->v[l->n];

		if (i->ai_addrlen > sizeof(to->a))
			continue;
		memcpy(&to->a, i->ai_addr, i->ai_addrlen);
		to->n = i->ai_addrlen;
		if (to->a.any.sa_family == AF_INET)
			to->a.v4.sin_port = htons(at->port);
		else
			to->a.v6.sin6_port = htons(at->port);
		l->n++;
	}
	if (list)
		freeaddrinfo(list);
}

/* In the child: one write, which a pipe takes whole. */
_Noreturn static void look_up_for(pid_t parent, const struct endpoint *at, int out)
{
	struct lookup l = { 0 };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	look_up(at, &l);
	_exit(write(out, &l, sizeof(l)) == (ssize_t)sizeof(l) ? 0 : 1);
}

static int look_up_in_time(const struct remote *r, struct lookup *ret)
{
	_Static_assert(sizeof(*ret) <= 4096, "a pipe takes it in one piece");
	pid_t self = getpid(), child;
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child == 0)
		look_up_for(self, &r->at, ends[1]);
	rc = child < 0 ? -errno : 0;
	(void)fd_close(ends[1]);
	if (rc == 0)
		rc = wait_for(ends[0], POLLIN, r->deadline_ms);
	if (rc == 0 && read(ends[0], ret, sizeof(*ret)) != (ssize_t)sizeof(*ret))
		rc = -EIO;
	(void)fd_close(ends[0]);
	if (child > 0) {
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
	}
	return rc;
}

enum trouble remote_find(struct remote *r, struct err *e)
{
	struct lookup l = { 0 };
	int rc = 0;

	if (r->at.is_address)
		look_up(&r->at, &l);
	else
		rc = look_up_in_time(r, &l);
	if (rc == -ETIMEDOUT) {
		(void)err_set(e, ERR_LIMIT, "no server of names answered in time");
		return TROUBLE_NAME;
	}
	if (rc < 0) {
		(void)err_sys(e, -rc, "look the host up");
		return TROUBLE_OTHER;
	}
	if (l.fault || l.n == 0) {
		(void)err_set(e, ERR_NOTFOUND, "'" STR_FMT "': %s", STR_ARG(r->at.host),
			      l.fault ? gai_strerror(l.fault) : "no address");
		return TROUBLE_NAME;
	}
	memcpy(r->v, l.v, sizeof(r->v));
	r->n = l.n;
	return TROUBLE_NONE;
}

/* ---- the connection ---- */

static bool is_far(const struct remote_address *to)
{
	const unsigned char *b = to->a.v6.sin6_addr.s6_addr;

	if (to->a.any.sa_family == AF_INET)
		return ntohl(to->a.v4.sin_addr.s_addr) >> 24 != 127;
	return !IN6_IS_ADDR_LOOPBACK(&to->a.v6.sin6_addr) &&
	       !(IN6_IS_ADDR_V4MAPPED(&to->a.v6.sin6_addr) && b[12] == 127);
}

static int connect_one(const struct remote_address *to, uint64_t deadline_ms, int *ret)
{
	_cleanup_close_ int fd = socket(to->a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t n = sizeof(int);
	int fault = 0, r;

	if (fd < 0)
		return -errno;
	if (connect(fd, &to->a.any, to->n) < 0 && errno != EINPROGRESS)
		return -errno;
	r = wait_for(fd, POLLOUT, deadline_ms);
	if (r == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &n) < 0)
		fault = errno;
	if (r < 0 || fault)
		return r < 0 ? r : -fault;
	*ret = TAKE_FD(fd);
	return 0;
}

static void say_address(const struct remote_address *to, char text[static INET6_ADDRSTRLEN])
{
	const void *at = to->a.any.sa_family == AF_INET ? (const void *)&to->a.v4.sin_addr
							: (const void *)&to->a.v6.sin6_addr;

	if (!inet_ntop(to->a.any.sa_family, at, text, INET6_ADDRSTRLEN))
		text[0] = '\0';
}

/* One address after the other, each with its part of the time that is left: one that swallows everything is not the only one. */
static enum trouble connect_any(struct remote *r, int *ret, struct err *e)
{
	char text[INET6_ADDRSTRLEN] = "";
	int rc = -EADDRNOTAVAIL;

	for (size_t i = 0; i < r->n; i++) {
		uint64_t now = clock_mono_ms();
		uint64_t left = r->deadline_ms > now ? r->deadline_ms - now : 0;

		rc = connect_one(&r->v[i], clock_deadline(left / (r->n - i)), ret);
		say_address(&r->v[i], text);
		if (rc == 0) {
			r->is_far = is_far(&r->v[i]);
			r->v[0] = r->v[i]; /* the next question goes to whom this one was put */
			r->n = 1;
			return TROUBLE_NONE;
		}
	}
	(void)err_sys(e, -rc, "connect to %s, port %u", text, r->at.port);
	return rc == -ECONNREFUSED ? TROUBLE_REFUSED : rc == -ETIMEDOUT ? TROUBLE_TIMEOUT : TROUBLE_OTHER;
}

/* ---- the answer ---- */

struct answer {
	struct http_field fields[FIELDS_MAX];
	struct http_head head;
	struct http_body body;
	struct buf in, text;
	size_t at; /* what was taken of `in` */
	bool in_body;
	const char *fault;
	bool is_long;
};

static void answer_done(struct answer *x)
{
	buf_done(&x->in);
	buf_done(&x->text);
}

static void begin_head(struct answer *x)
{
	const struct http_limits limits = { .head_bytes = http_limits_default.head_bytes,
					    .line_bytes = http_limits_default.line_bytes,
					    .body_bytes = BODY_MAX };

	http_head_init(&x->head, HTTP_RESPONSE, HTTP_GET, &limits, x->fields, FIELDS_MAX);
}

/* As feed(). What a server says while it thinks (1xx) is passed over. */
static int feed_head(struct answer *x)
{
	while (!x->in_body) {
		enum http_result r = http_head_parse(&x->head, str_from(buf_str(&x->in), x->at));

		if (r == HTTP_MORE)
			return 0;
		if (r == HTTP_BAD || x->head.status == 101) {
			x->fault = r == HTTP_BAD ? x->head.fault.reason
						 : "it changes the protocol, which nobody has asked for";
			x->is_long = r == HTTP_BAD && x->head.fault.status == 413;
			return -1;
		}
		x->at += x->head.n_bytes;
		x->in_body = x->head.status >= 200;
		if (x->in_body)
			http_body_init(&x->body, &x->head);
		else
			begin_head(x);
	}
	return 1;
}

/* 1: it is whole; 0: more has to come; -1: see fault. */
static int feed(struct answer *x, struct str piece)
{
	int r;

	buf_put(&x->in, piece);
	x->is_long = x->in.failed;
	if (x->is_long)
		return -1;
	r = feed_head(x);
	while (r > 0) {
		struct str rest = str_from(buf_str(&x->in), x->at), data;
		size_t before = rest.n;
		enum http_piece p = http_body_next(&x->body, &rest, &data);

		x->at += before - rest.n;
		if (p == HTTP_PIECE_DATA) {
			buf_put(&x->text, data);
			continue;
		}
		x->fault = x->body.fault.reason;
		x->is_long = p == HTTP_PIECE_BAD && x->body.fault.status == 413;
		return p == HTTP_PIECE_END ? 1 : p == HTTP_PIECE_MORE ? 0 : -1;
	}
	return r;
}

/* The first byte of what a server of TLS says to who does not speak it. */
static bool speaks_tls(const struct answer *x)
{
	return x->in.n > 2 && x->in.p[0] == 0x15 && x->in.p[1] == 0x03;
}

static enum trouble ended(const struct answer *x, struct err *e)
{
	(void)err_set(e, ERR_PROTO,
		      x->in.n ? "it ended the connection before its answer was whole"
			      : "it ended the connection without an answer");
	return speaks_tls(x) ? TROUBLE_SPEECH : TROUBLE_CUT;
}

static enum trouble malformed(const struct answer *x, struct err *e)
{
	if (x->is_long) {
		(void)err_set(e, ERR_LIMIT, "the answer is longer than %d KiB", BODY_MAX / 1024);
		return TROUBLE_LONG;
	}
	(void)err_set(e, ERR_PROTO, "its answer is refused: %s",
		      speaks_tls(x) ? "it is TLS, and the endpoint is http://" : x->fault);
	return TROUBLE_SPEECH;
}

/* ---- one question ---- */

static ssize_t read_some(const struct remote *r, int fd, struct tls_client *tls, char *to, size_t n)
{
	int rc;
	ssize_t got;

	if (tls)
		return tls_client_read(tls, to, n);
	rc = wait_for(fd, POLLIN, r->deadline_ms);
	if (rc < 0)
		return rc;
	got = recv(fd, to, n, MSG_DONTWAIT);
	return got < 0 ? -errno : got;
}

static int send_all(const struct remote *r, int fd, struct tls_client *tls, struct str bytes)
{
	if (tls)
		return tls_client_write(tls, bytes);
	while (bytes.n > 0) {
		int rc = wait_for(fd, POLLOUT, r->deadline_ms);
		ssize_t n = rc < 0 ? -1 : send(fd, bytes.p, bytes.n, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (rc < 0)
			return rc;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		bytes = str_from(bytes, n > 0 ? (size_t)n : 0);
	}
	return 0;
}

static enum trouble broken(int rc, struct err *e)
{
	if (rc == -ETIMEDOUT) {
		(void)err_set(e, ERR_LIMIT, "no whole answer came in time");
		return TROUBLE_SILENT;
	}
	(void)err_sys(e, -rc, "read the answer");
	return TROUBLE_CUT;
}

/* A server that answers without reading all may have gone before we have sent all: what it has said counts. */
static enum trouble exchange(const struct remote *r, int fd, struct tls_client *tls, struct str request,
			     struct answer *x, struct err *e)
{
	int sent = send_all(r, fd, tls, request), r_feed = 0;
	char piece[4096];

	if (sent == -ETIMEDOUT)
		return broken(sent, e);
	while (r_feed == 0) {
		ssize_t n = read_some(r, fd, tls, piece, sizeof(piece));

		if (n == -EAGAIN || n == -EINTR)
			continue;
		if (n < 0)
			return broken((int)n, e);
		if (n == 0)
			return x->in_body && http_body_ends_here(&x->body) ? TROUBLE_NONE : ended(x, e);
		r_feed = feed(x, (struct str){ piece, (size_t)n });
	}
	return r_feed > 0 ? TROUBLE_NONE : malformed(x, e);
}

static enum trouble greet(const struct remote *r, int fd, struct tls_client **ret, struct err *e)
{
	/* clang-format off */
	static const enum trouble of[] = {
		[TLS_FAULT_OTHER] = TROUBLE_TLS,   [TLS_FAULT_TIME] = TROUBLE_SILENT, [TLS_FAULT_PLAIN] = TROUBLE_PLAIN,
		[TLS_FAULT_TRUST] = TROUBLE_TRUST, [TLS_FAULT_HOST] = TROUBLE_HOST,   [TLS_FAULT_DATES] = TROUBLE_DATES,
		[TLS_FAULT_NONE] = TROUBLE_NONE,
	};
	/* clang-format on */
	enum tls_fault fault;

	(void)tls_client_new(fd,
			     &(struct tls_peer){ .host = r->at.host.p,
						 .is_address = r->at.is_address,
						 .deadline_ms = r->deadline_ms },
			     ret, &fault, e);
	return of[fault];
}

static int write_request(const struct endpoint *at, const char *path, struct str key, struct buf *out)
{
	struct http_writer w;
	char target[2048];
	int n = snprintf(target, sizeof(target), STR_FMT "%s", STR_ALL(at->base), path);

	if (n < 0 || (size_t)n >= sizeof(target))
		return -ENOSPC;
	http_write_request(&w, out, STR("GET"), (struct str){ target, (size_t)n }, at->authority);
	http_write_field(&w, STR("Accept"), STR("application/json"));
	http_write_field(&w, STR("User-Agent"), STR("creel/" CREEL_VERSION));
	if (key.n)
		http_write_field(&w, STR("OPEN-SANDBOX-API-KEY"), key);
	http_write_connection(&w, HTTP_CLOSE);
	return http_write_end(&w);
}

static enum trouble ask(struct remote *r, struct str request, struct answer *x, struct err *e)
{
	_cleanup_(tls_client_freep) struct tls_client *tls = NULL;
	_cleanup_close_ int fd = FD_NONE;
	enum trouble t = connect_any(r, &fd, e);

	if (t == TROUBLE_NONE && r->at.is_tls)
		t = greet(r, fd, &tls, e);
	return t == TROUBLE_NONE ? exchange(r, fd, tls, request, x, e) : t;
}

void remote_ask(struct remote *r, struct arena *a, const char *path, struct str key, struct reply *ret)
{
	struct answer *x = ARENA_NEW(a, struct answer);
	_cleanup_buf_ struct buf request = { 0 };

	*ret = (struct reply){ 0 };
	if (!x) {
		(void)err_set(&ret->why, ERR_LIMIT, "out of memory");
		return;
	}
	buf_init(&request, REQUEST_MAX);
	buf_init(&x->in, IN_MAX);
	buf_init(&x->text, BODY_MAX);
	begin_head(x);
	if (write_request(&r->at, path, key, &request) < 0)
		(void)err_set(&ret->why, ERR_USAGE, "the question cannot be written as HTTP");
	else
		ret->trouble = ask(r, buf_str(&request), x, &ret->why);
	if (ret->trouble == TROUBLE_NONE) {
		ret->status = x->head.status;
		ret->body = arena_str(a, buf_str(&x->text));
	}
	if (request.p)
		explicit_bzero(request.p, request.n); /* the key was in it */
	answer_done(x);
}
