/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of a client into a server behind TLS. Bit 0 of the first byte says which: as they are on the wire, and then no request may come of them; or inside
 * a real connection, and then the answers are those of a server without TLS, wherever they were cut. It always ends the connection behind the client.
 */
#include "answers.h"
#include "check.h"

#include "base/fd.h"
#include "tls/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { QUIET = 48 };

static struct tls *tls;
static SSL_CTX *client_ctx;
static unsigned n_requests;

static void on_whole(void *ctx, struct http_exchange *x)
{
	const struct http_head *h = http_exchange_head(x);

	(void)ctx;
	n_requests++;
	CHECK(http_answer(x, 200, NULL, 0, http_head_slice(h, h->path)) == 0);
}

/* A certificate of its own: only tls_new() knows how to read one. */
static void set_up(void)
{
	char cert[] = "/tmp/creel-fuzz-tls-XXXXXX", key[] = "/tmp/creel-fuzz-tls-XXXXXX";
	FILE *cert_file = fdopen(mkstemp(cert), "w"), *key_file = fdopen(mkstemp(key), "w");
	EVP_PKEY *pkey = EVP_EC_gen("P-256");
	X509 *x = X509_new();
	struct err e = { 0 };

	CHECK(cert_file && key_file && pkey && x);
	(void)signal(SIGPIPE, SIG_IGN);
	CHECK(X509_set_version(x, 2) && ASN1_INTEGER_set(X509_get_serialNumber(x), 1) &&
	      X509_set_pubkey(x, pkey));
	CHECK(X509_gmtime_adj(X509_getm_notBefore(x), 0) && X509_gmtime_adj(X509_getm_notAfter(x), 86400));
	CHECK(X509_sign(x, pkey, EVP_sha256()) > 0);
	CHECK(PEM_write_X509(cert_file, x) &&
	      PEM_write_PrivateKey(key_file, pkey, NULL, NULL, 0, NULL, NULL));
	CHECK(fclose(cert_file) == 0 && fclose(key_file) == 0);
	CHECK(tls_new(str_z(cert), str_z(key), &tls, &e) == 0);
	CHECK(unlink(cert) == 0 && unlink(key) == 0);
	X509_free(x);
	EVP_PKEY_free(pkey);
	client_ctx = SSL_CTX_new(TLS_client_method());
	CHECK(client_ctx);
}

static void take(int fd, SSL *ssl, struct buf *out)
{
	char block[8192];
	size_t got;
	ssize_t n;

	while (ssl && SSL_read_ex(ssl, block, sizeof(block), &got) == 1)
		buf_put(out, (struct str){ block, got });
	while (!ssl && (n = recv(fd, block, sizeof(block), MSG_DONTWAIT)) > 0)
		buf_put(out, (struct str){ block, (size_t)n });
	ERR_clear_error();
}

static bool give(int fd, SSL *ssl, struct str piece)
{
	size_t sent = 0;

	if (ssl)
		return SSL_write_ex(ssl, piece.p, piece.n, &sent) == 1 && sent == piece.n;
	return send(fd, piece.p, piece.n, MSG_NOSIGNAL) == (ssize_t)piece.n;
}

static void turn(struct loop *l, int fd, SSL *ssl, struct buf *out, int n)
{
	for (int i = 0; i < n; i++) {
		CHECK(loop_step(l, 0) >= 0);
		take(fd, ssl, out);
	}
}

static SSL *connect_to(struct loop *l, int fd)
{
	SSL *ssl = SSL_new(client_ctx);
	int r = -1;

	CHECK(ssl && SSL_set_fd(ssl, fd) == 1);
	for (int i = 0; i < 20 && (r = SSL_connect(ssl)) != 1; i++)
		CHECK(loop_step(l, 0) >= 0);
	CHECK(r == 1);
	return ssl;
}

/* `via` on the server's side; with `speaks` the client has TLS, too. */
static void run(const struct http_transport *via, bool speaks, struct str in, size_t step, struct buf *out)
{
	static const struct http_handler handler = { .whole = on_whole };
	const struct http_server_opts opts = { .limits = { 2048, 600, 4096 },
					       .max_fields = 16,
					       .output_bytes = 65536 };
	struct http_server *s;
	SSL *ssl = NULL;
	struct loop *l;
	struct err e;
	int pair[2];

	CHECK(loop_new(64, &l) == 0 && http_server_new(l, &opts, &handler, NULL, &s, &e) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
	CHECK(conn_new(s, pair[0], via) == 0);
	if (speaks)
		ssl = connect_to(l, pair[1]);
	while (in.n > 0) {
		size_t n = in.n < step ? in.n : step;

		if (!give(pair[1], ssl, (struct str){ in.p, n }))
			break;
		in = str_from(in, n);
		turn(l, pair[1], ssl, out, 1);
	}
	turn(l, pair[1], ssl, out, QUIET);
	if (ssl)
		(void)SSL_shutdown(ssl);
	(void)shutdown(pair[1], SHUT_WR);
	for (int i = 0; i < 2000 && http_server_connections(s) > 0; i++)
		turn(l, pair[1], ssl, out, 1);
	CHECK(http_server_connections(s) == 0);
	take(pair[1], ssl, out);
	SSL_free(ssl);
	ERR_clear_error();
	(void)fd_close(pair[1]);
	(void)http_server_free(s);
	(void)loop_free(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf plain, secret;
	struct str in;

	if (size < 2 || size > 4096)
		return 0;
	if (!tls)
		set_up();
	in = (struct str){ .p = (const char *)data + 1, .n = size - 1 };
	buf_init(&plain, ANSWERS_MAX);
	buf_init(&secret, ANSWERS_MAX);
	n_requests = 0;
	if (data[0] & 1) {
		run(&http_plain, false, in, in.n, &plain);
		run(tls_transport(tls), true, in, 1 + (size_t)(data[0] >> 1) * 16, &secret);
		check_same_answers(&plain, &secret);
	} else {
		run(tls_transport(tls), false, in, 1 + (size_t)(data[0] >> 1) * 16, &secret);
		CHECK(n_requests == 0);
	}
	buf_done(&plain);
	buf_done(&secret);
	return 0;
}
