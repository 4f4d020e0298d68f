/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/tls_priv.h"

#include <limits.h>
#include <openssl/err.h>
#include <stdlib.h>

/* Forward secrecy and authenticated encryption alone; TLS 1.3 has nothing else. */
#define CIPHERS_12 "ECDHE+AESGCM:ECDHE+CHACHA20"

/* HTTP/1.1 is all that is spoken here: who wants something else hears so. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *n_out, const unsigned char *in,
			   unsigned n_in, void *ctx)
{
	static const unsigned char ours[] = "\x08http/1.1";
	unsigned char *found;

	(void)ssl;
	(void)ctx;
	if (SSL_select_next_proto(&found, n_out, ours, sizeof(ours) - 1, in, n_in) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = found;
	return SSL_TLSEXT_ERR_OK;
}

static int set_up(SSL_CTX *ctx, struct err *e)
{
	if (SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1 ||
	    SSL_CTX_set_cipher_list(ctx, CIPHERS_12) != 1 || SSL_CTX_set_num_tickets(ctx, 0) != 1)
		return err_set(e, ERR_UNAVAIL, "TLS cannot be set up: %s", tls_reason());
	SSL_CTX_set_security_level(ctx, TLS_SECURITY_LEVEL);
	(void)SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
					       SSL_OP_CIPHER_SERVER_PREFERENCE);
	(void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	/* What waits to be written may have moved; thousands of quiet connections need no buffers. */
	(void)SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					    SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
	return 0;
}

static int take_path(const char *option, struct str path, char out[static PATH_MAX], struct err *e)
{
	if (path.n >= PATH_MAX || memchr(path.p, '\0', path.n))
		return err_set(e, ERR_LIMIT, "%s: a path of more than %d bytes, or with NUL, is not accepted",
			       option, PATH_MAX - 1);
	memcpy(out, path.p, path.n);
	out[path.n] = '\0';
	return 0;
}

int tls_new(struct str cert_path, struct str key_path, struct tls **ret, struct err *e)
{
	char cert[PATH_MAX], key[PATH_MAX];
	_cleanup_(tls_freep) struct tls *t = calloc(1, sizeof(*t));

	if (!t)
		return err_sys(e, ENOMEM, "TLS");
	if (take_path("serve.tls.cert", cert_path, cert, e) < 0 ||
	    take_path("serve.tls.key", key_path, key, e) < 0)
		return -1;
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1)
		return err_set(e, ERR_UNAVAIL, "OpenSSL does not start: %s", tls_reason());
	t->ctx = SSL_CTX_new(TLS_server_method());
	if (!t->ctx)
		return err_set(e, ERR_UNAVAIL, "TLS cannot be set up: %s", tls_reason());
	t->via = tls_conn_transport;
	t->via.ctx = t;
	if (set_up(t->ctx, e) < 0 || tls_load_cert(t, cert, e) < 0 || tls_load_key(t, key, cert, e) < 0)
		return -1;
	*ret = TAKE_PTR(t);
	return 0;
}

struct tls *tls_free(struct tls *t)
{
	if (t)
		SSL_CTX_free(t->ctx);
	free(t);
	return NULL;
}

const struct tls_cert *tls_cert(const struct tls *t)
{
	return &t->cert;
}

const struct http_transport *tls_transport(const struct tls *t)
{
	return &t->via;
}

void tls_tell(struct tls *t, tls_refused_fn *fn, void *ctx)
{
	t->refused = fn;
	t->refused_ctx = ctx;
}
