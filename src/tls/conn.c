/* SPDX-License-Identifier: Apache-2.0 */
/* One connection. The handshake is part of its first read. */
#include "tls/tls_priv.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

struct tls_conn {
	struct tls *tls;
	struct tls_conn *prev, *next; /* among those that are not open yet */
	bool opening;
	SSL *ssl;
	const struct http_peer *peer;
	bool failed, ended, told;
	bool read_wants_out, write_wants_in;
};

static void tell(struct tls_conn *c, const char *why)
{
	if (c->told || !c->tls->refused)
		return;
	c->told = true;
	c->tls->refused(c->tls->refused_ctx, c->peer, why);
}

static void opened(struct tls_conn *c)
{
	struct tls *t = c->tls;

	if (!c->opening)
		return;
	c->opening = false;
	*(c->prev ? &c->prev->next : &t->oldest) = c->next;
	*(c->next ? &c->next->prev : &t->newest) = c->prev;
	t->n_opening--;
}

/* A handshake that is meant takes milliseconds: who is the oldest of a thousand is not in a hurry. The server hears of it as of any end. */
static void make_room(struct tls *t)
{
	struct tls_conn *c = t->oldest;

	if (t->n_opening < TLS_OPENING_MAX)
		return;
	opened(c);
	c->failed = true;
	tell(c, "it did not finish the handshake, and others came");
	(void)shutdown(SSL_get_fd(c->ssl), SHUT_RDWR);
}

static void opens(struct tls_conn *c)
{
	struct tls *t = c->tls;

	make_room(t);
	c->opening = true;
	c->prev = t->newest;
	*(t->newest ? &t->newest->next : &t->oldest) = c;
	t->newest = c;
	t->n_opening++;
}

static int begin(void *ctx, int fd, const struct http_peer *peer, void **ret)
{
	struct tls_conn *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->tls = ctx;
	c->peer = peer;
	c->ssl = SSL_new(c->tls->ctx);
	if (!c->ssl || SSL_set_fd(c->ssl, fd) != 1) {
		ERR_clear_error();
		SSL_free(c->ssl);
		free(c);
		return -ENOMEM;
	}
	SSL_set_accept_state(c->ssl);
	opens(c);
	*ret = c;
	return 0;
}

static const char *why_of(unsigned long code)
{
	const char *text;

	switch (ERR_GET_REASON(code)) {
	case SSL_R_HTTP_REQUEST:
	case SSL_R_HTTPS_PROXY_REQUEST:
		return "it speaks plain HTTP: this address takes https:// alone";
	case SSL_R_UNSUPPORTED_PROTOCOL:
	case SSL_R_UNKNOWN_PROTOCOL:
	case SSL_R_VERSION_TOO_LOW:
		return "it offers nothing newer than TLS 1.1";
	default:
		text = ERR_reason_error_string(code);
		return text ? text : "the handshake failed";
	}
}

/* Negative errno; 0 is the peer's own end. errno is the call's. */
static int fault_of(struct tls_conn *c, int r, bool writing)
{
	int errnum = errno;

	switch (SSL_get_error(c->ssl, r)) {
	case SSL_ERROR_WANT_READ:
		c->write_wants_in = writing;
		return -EAGAIN;
	case SSL_ERROR_WANT_WRITE:
		c->read_wants_out = !writing;
		return -EAGAIN;
	case SSL_ERROR_ZERO_RETURN:
		return writing ? -EPIPE : 0;
	case SSL_ERROR_SYSCALL:
		c->failed = true;
		return errnum ? -errnum : -ECONNRESET;
	default:
		c->failed = true;
		/* Who hangs up without a word is no news: a look whether the port is open does that. */
		if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
			c->told = true;
			return -ECONNRESET;
		}
		if (!SSL_is_init_finished(c->ssl))
			tell(c, why_of(ERR_peek_error()));
		return -EPROTO;
	}
}

/* We have nothing to say to the client's last word, so the kernel would wait with its receipt, and a client that gathers small writes for that. */
static void greet(struct tls_conn *c, int fd)
{
	const int on = 1, errnum = errno;

	opened(c);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
	errno = errnum;
}

static ssize_t conn_read(void *state, int fd, void *to, size_t n)
{
	struct tls_conn *c = state;
	size_t got = 0;
	int r;

	if (c->failed)
		return -EPROTO;
	c->read_wants_out = false;
	ERR_clear_error();
	errno = 0;
	r = SSL_read_ex(c->ssl, to, n, &got);
	if (c->opening && SSL_is_init_finished(c->ssl))
		greet(c, fd);
	if (r == 1)
		return (ssize_t)got;
	return fault_of(c, r, false);
}

static ssize_t conn_write(void *state, int fd, const void *from, size_t n)
{
	struct tls_conn *c = state;
	size_t sent = 0;
	int r;

	(void)fd;
	if (c->failed)
		return -EPIPE;
	c->write_wants_in = false;
	ERR_clear_error();
	errno = 0;
	r = SSL_write_ex(c->ssl, from, n, &sent);
	if (r == 1)
		return (ssize_t)sent;
	return fault_of(c, r, true);
}

static uint32_t wants(const void *state, bool writing)
{
	const struct tls_conn *c = state;

	if (writing)
		return c->write_wants_in ? EPOLLIN : EPOLLOUT;
	return c->read_wants_out ? EPOLLOUT : EPOLLIN;
}

static bool pending(const void *state)
{
	const struct tls_conn *c = state;

	return !c->failed && SSL_pending(c->ssl) > 0;
}

static bool is_open(const void *state)
{
	const struct tls_conn *c = state;

	return SSL_is_init_finished(c->ssl) == 1;
}

/* One try: a peer that does not take even this will hear nothing more anyway. */
static void say_end(struct tls_conn *c)
{
	if (c->failed || c->ended || !SSL_is_init_finished(c->ssl))
		return;
	c->ended = true;
	ERR_clear_error();
	(void)SSL_shutdown(c->ssl);
	ERR_clear_error();
}

static int end(void *state, int fd)
{
	say_end(state);
	return shutdown(fd, SHUT_WR) < 0 ? -errno : 0;
}

static void close_it(void *state, bool clean)
{
	struct tls_conn *c = state;

	if (!is_open(c) && !c->failed)
		tell(c, "it did not finish the handshake");
	if (clean)
		say_end(c);
	opened(c);
	SSL_free(c->ssl);
	free(c);
}

const struct http_transport tls_conn_transport = { .begin = begin,
						   .read = conn_read,
						   .write = conn_write,
						   .wants = wants,
						   .pending = pending,
						   .is_open = is_open,
						   .end = end,
						   .close = close_it };
