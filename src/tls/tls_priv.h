/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tls/tls.h"

#include <openssl/ssl.h>

struct tls_conn;

/* Each handshake that is under way takes 40 KiB, four times what an open connection needs. */
enum { TLS_OPENING_MAX = 1024 };
enum { TLS_SECURITY_LEVEL = 2 }; /* 112 bits: RSA from 2048 on, no SHA-1 */

struct tls {
	SSL_CTX *ctx;
	struct tls_conn *oldest, *newest; /* of those that are not open yet */
	unsigned n_opening;
	struct tls_cert cert;
	struct http_transport via;
	tls_refused_fn *refused;
	void *refused_ctx;
};

/* files.c: into t->ctx and t->cert. */
int tls_load_cert(struct tls *t, const char *path, struct err *e);
int tls_load_key(struct tls *t, const char *path, const char *cert_path, struct err *e);

/* What OpenSSL has to say about the last failure; never NULL. Forgets it. */
const char *tls_reason(void);

/* conn.c: its functions, for tls_new(). */
extern const struct http_transport tls_conn_transport;
