/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS 1.2 and 1.3 for a server of http/server.h, by OpenSSL. A process that links this room can speak TLS, and no other can.
 *
 * Everything is read by tls_new(): certificate, key, and what OpenSSL itself needs; afterwards no file is opened, so that a process may lock itself in.
 * At most 1024 handshakes are under way at once: the oldest makes room for the next. openssl.cnf and OPENSSL_CONF do not count. No renegotiation, no compression, no tickets, no early data, no client certificates. The process has to
 * ignore SIGPIPE.
 */
#pragma once

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "http/transport.h"

#define TLS_SOON_S (14u * 86400u) /* a certificate that ends within this is told of */

struct tls;

/* Of the certificate that callers are shown. Unix seconds. */
struct tls_cert {
	uint64_t from_s, until_s;
	char until[24]; /* "2026-11-17T07:39:00Z" */
};

/*
 * PEM files. `cert` begins with the server's own certificate; the others behind it are sent along. `key` must be nobody's but ours or root's. A message
 * names the option, the file and the fix.
 */
int tls_new(struct str cert, struct str key, struct tls **ret, struct err *e);
struct tls *tls_free(struct tls *t);
DEFINE_CLEANUP(tls, tls_free)

const struct tls_cert *tls_cert(const struct tls *t);
/* For http_server_listen_via(). */
const struct http_transport *tls_transport(const struct tls *t);

/* Who is told of a client that did not get as far as its first request, and why. Clients that went away without a word are not told of. */
typedef void tls_refused_fn(void *ctx, const struct http_peer *peer, const char *why);
void tls_tell(struct tls *t, tls_refused_fn *fn, void *ctx);

/*
 * The other side, for who wants to know whether a server speaks: sends `request` over the connected, blocking socket and reads until the server ends it. Trusts
 * any certificate, and tells nothing to it that others may not know. Negative: *e says how far it came. Each wait is the socket's own (SO_RCVTIMEO).
 */
struct buf;
int tls_ask(int fd, struct str request, struct buf *answer, struct err *e);
