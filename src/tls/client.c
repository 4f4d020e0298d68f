/* SPDX-License-Identifier: Apache-2.0 */
/* The client's side of one connection, with a server that has to show who it is. It waits, and is not for a process that serves. */
#include "tls/client.h"

#include "base/clock.h"
#include "tls/tls_priv.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

struct tls_client {
	SSL_CTX *ctx;
	SSL *ssl;
	int fd;
	uint64_t deadline_ms;
};

struct tls_client *tls_client_free(struct tls_client *c)
{
	if (!c)
		return NULL;
	SSL_free(c->ssl);
	SSL_CTX_free(c->ctx);
	ERR_clear_error();
	free(c);
	return NULL;
}

/* 0 to try again; negative errno, of which -EPROTO has its reason in OpenSSL's queue. *ret_ended: with TLS's own word. */
static int after(struct tls_client *c, int r, bool *ret_ended)
{
	int errnum = errno, what = SSL_get_error(c->ssl, r);
	struct pollfd p = { .fd = c->fd, .events = what == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN };
	int n;

	*ret_ended = what == SSL_ERROR_ZERO_RETURN;
	if (*ret_ended)
		return -ECONNRESET;
	if (what == SSL_ERROR_SYSCALL)
		return errnum ? -errnum : -ECONNRESET;
	if (what != SSL_ERROR_WANT_READ && what != SSL_ERROR_WANT_WRITE)
		return -EPROTO;
	do
		n = poll(&p, 1, clock_poll_ms(c->deadline_ms));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n == 0 ? -ETIMEDOUT : 0;
}

static void prepare(void)
{
	ERR_clear_error();
	errno = 0;
}

ssize_t tls_client_read(struct tls_client *c, void *to, size_t n)
{
	bool ended = false;
	size_t got;
	int r;

	do {
		prepare();
		r = SSL_read_ex(c->ssl, to, n, &got);
		if (r == 1)
			return (ssize_t)got;
		r = after(c, r, &ended);
	} while (r == 0);
	return ended ? 0 : r;
}

int tls_client_write(struct tls_client *c, struct str bytes)
{
	bool ended = false;
	size_t sent;
	int r;

	do {
		prepare();
		r = SSL_write_ex(c->ssl, bytes.p, bytes.n, &sent);
		if (r == 1)
			return 0; /* partial writes are off: all of it */
		r = after(c, r, &ended);
	} while (r == 0);
	return r;
}

static enum tls_fault fault_of_cert(long result)
{
	switch (result) {
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		return TLS_FAULT_HOST;
	case X509_V_ERR_CERT_HAS_EXPIRED:
	case X509_V_ERR_CERT_NOT_YET_VALID:
		return TLS_FAULT_DATES;
	default:
		return TLS_FAULT_TRUST;
	}
}

static enum tls_fault why_not(struct tls_client *c, int r, struct err *e)
{
	long result = SSL_get_verify_result(c->ssl);
	int reason = ERR_GET_REASON(ERR_peek_error());

	if (r == -ETIMEDOUT) {
		(void)err_sys(e, ETIMEDOUT, "TLS: handshake");
		return TLS_FAULT_TIME;
	}
	if (result != X509_V_OK) {
		(void)err_set(e, ERR_DENIED, "TLS: %s", X509_verify_cert_error_string(result));
		ERR_clear_error();
		return fault_of_cert(result);
	}
	if (r != -EPROTO) {
		(void)err_sys(e, -r, "TLS: handshake");
		return TLS_FAULT_OTHER;
	}
	(void)err_set(e, ERR_PROTO, "TLS: handshake: %s", tls_reason());
	return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
			       reason == SSL_R_PACKET_LENGTH_TOO_LONG || reason == SSL_R_UNKNOWN_PROTOCOL
		       ? TLS_FAULT_PLAIN
		       : TLS_FAULT_OTHER;
}

/* Whose certificate it has to be. */
static bool expect(SSL *ssl, const struct tls_peer *p)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
	char name[256];

	SSL_set_verify(ssl, SSL_VERIFY_PEER, NULL);
	X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (p->is_address)
		return X509_VERIFY_PARAM_set1_ip_asc(param, p->host) == 1;
	(void)snprintf(name, sizeof(name), "%s", p->host); /* it takes no const, and makes a copy */
	return SSL_set1_host(ssl, p->host) == 1 && SSL_set_tlsext_host_name(ssl, name) == 1;
}

static bool set_up(struct tls_client *c, const struct tls_peer *p)
{
	static const unsigned char ours[] = "\x08http/1.1";

	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1)
		return false;
	c->ctx = SSL_CTX_new(TLS_client_method());
	if (!c->ctx || SSL_CTX_set_min_proto_version(c->ctx, TLS1_2_VERSION) != 1 ||
	    SSL_CTX_set_default_verify_paths(c->ctx) != 1)
		return false;
	SSL_CTX_set_security_level(c->ctx, TLS_SECURITY_LEVEL);
	(void)SSL_CTX_set_options(c->ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	c->ssl = SSL_new(c->ctx);
	return c->ssl && SSL_set_fd(c->ssl, c->fd) == 1 &&
	       SSL_set_alpn_protos(c->ssl, ours, sizeof(ours) - 1) == 0 && expect(c->ssl, p);
}

int tls_client_new(int fd, const struct tls_peer *p, struct tls_client **ret, enum tls_fault *ret_fault,
		   struct err *e)
{
	_cleanup_(tls_client_freep) struct tls_client *c = calloc(1, sizeof(*c));
	bool ended;
	int r;

	*ret_fault = TLS_FAULT_OTHER;
	if (!c)
		return err_sys(e, ENOMEM, "TLS");
	c->fd = fd;
	c->deadline_ms = p->deadline_ms;
	if (!set_up(c, p))
		return err_set(e, ERR_UNAVAIL, "TLS cannot be set up: %s", tls_reason());
	do {
		prepare();
		r = SSL_connect(c->ssl);
		if (r == 1) {
			*ret_fault = TLS_FAULT_NONE;
			*ret = TAKE_PTR(c);
			return 0;
		}
		r = after(c, r, &ended);
	} while (r == 0);
	*ret_fault = why_not(c, r, e);
	return -1;
}
