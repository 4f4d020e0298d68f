/* SPDX-License-Identifier: Apache-2.0 */
/* A short look at a server from outside. It waits, and is not for a process that serves. */
#include "tls/tls_priv.h"

#include "base/buf.h"

#include <errno.h>
#include <openssl/err.h>

static void ctx_freep(SSL_CTX **c)
{
	SSL_CTX_free(*c);
}
static void ssl_freep(SSL **s)
{
	SSL_free(*s);
}

static int failed(struct err *e, const char *step)
{
	int errnum = errno;

	if (ERR_peek_error() == 0 && errnum)
		return err_sys(e, errnum, "TLS: %s", step);
	return err_set(e, ERR_PROTO, "TLS: %s: %s", step, tls_reason());
}

int tls_ask(int fd, struct str request, struct buf *answer, struct err *e)
{
	_cleanup_(ctx_freep) SSL_CTX *ctx = NULL;
	_cleanup_(ssl_freep) SSL *ssl = NULL;
	char piece[4096];
	size_t n;

	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1 ||
	    !(ctx = SSL_CTX_new(TLS_client_method())) || !(ssl = SSL_new(ctx)) || SSL_set_fd(ssl, fd) != 1)
		return failed(e, "set up");
	ERR_clear_error();
	errno = 0;
	if (SSL_set_min_proto_version(ssl, TLS1_2_VERSION) != 1 || SSL_connect(ssl) != 1)
		return failed(e, "handshake");
	if (SSL_write_ex(ssl, request.p, request.n, &n) != 1 || n != request.n)
		return failed(e, "send a request");
	while (SSL_read_ex(ssl, piece, sizeof(piece), &n) == 1 && !answer->failed)
		buf_put(answer, (struct str){ piece, n });
	if (answer->failed)
		return err_set(e, ERR_LIMIT, "the answer is longer than it may be");
	return SSL_get_error(ssl, 0) == SSL_ERROR_ZERO_RETURN ? 0 : failed(e, "read the answer");
}
