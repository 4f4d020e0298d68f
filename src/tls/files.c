/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate and its key, looked at before anybody relies on them. */
#include "tls/tls_priv.h"

#include "base/clock.h"
#include "base/fd.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 262144, CHAIN_MAX = 10 };

static void bio_freep(BIO **b)
{
	(void)BIO_free(*b);
}
static void x509_freep(X509 **x)
{
	X509_free(*x);
}
static void pkey_freep(EVP_PKEY **k)
{
	EVP_PKEY_free(*k);
}

const char *tls_reason(void)
{
	unsigned long code = ERR_peek_last_error();
	const char *text = code ? ERR_reason_error_string(code) : NULL;

	ERR_clear_error();
	return text ? text : "no reason was given";
}

/* Nobody is there to type one. */
static int no_password(char *out, int size, int writing, void *ctx)
{
	(void)out;
	(void)size;
	(void)writing;
	(void)ctx;
	return -1;
}

static uint64_t unix_of(const ASN1_TIME *at)
{
	struct tm tm = { 0 };
	time_t t;

	if (!at || ASN1_TIME_to_tm(at, &tm) != 1)
		return 0;
	t = timegm(&tm);
	return t > 0 ? (uint64_t)t : 0;
}

static void write_time(uint64_t s, char out[static 24])
{
	char text[CLOCK_TEXT_MAX];
	struct str t;

	if (clock_format(s * 1000, text, &t) < 0 || t.n < 20)
		(void)snprintf(out, 24, "after the year 9999");
	else
		(void)snprintf(out, 24, "%.19sZ", text);
}

static int check_times(struct tls *t, const X509 *x, const char *path, struct err *e)
{
	uint64_t now = clock_unix_ms() / 1000;
	char from[24];

	t->cert.from_s = unix_of(X509_get0_notBefore(x));
	t->cert.until_s = unix_of(X509_get0_notAfter(x));
	write_time(t->cert.until_s, t->cert.until);
	write_time(t->cert.from_s, from);
	if (now > t->cert.until_s)
		return err_set(
			e, ERR_UNAVAIL,
			"serve.tls.cert: the certificate in '%s' has expired at %s; fix: put a renewed one there",
			path, t->cert.until);
	if (now < t->cert.from_s)
		return err_set(
			e, ERR_UNAVAIL,
			"serve.tls.cert: the certificate in '%s' is not valid before %s; fix: set this machine's clock, or "
			"take another one",
			path, from);
	return 0;
}

static int open_file(const char *option, const char *path, struct stat *st, int *ret, struct err *e)
{
	_cleanup_close_ int fd = FD_NONE;

	if (path[0] != '/')
		return err_set(e, ERR_USAGE, "%s: '%s' is not accepted: an absolute path", option, path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, st) < 0)
		return err_sys(e, errno, "%s: '%s' cannot be read", option, path);
	if (!S_ISREG(st->st_mode))
		return err_set(e, ERR_USAGE, "%s: '%s' is no regular file", option, path);
	*ret = TAKE_FD(fd);
	return 0;
}

static int read_text(const char *option, const char *path, int fd, char **ret, size_t *n, struct err *e)
{
	int r = fd_read_all(fd, FILE_MAX, ret, n);

	if (r == -EFBIG)
		return err_set(e, ERR_LIMIT, "%s: '%s' is larger than %d bytes", option, path, FILE_MAX);
	return r < 0 ? err_sys(e, -r, "%s: '%s' cannot be read", option, path) : 0;
}

/* The certificates behind the first. */
static int load_chain(struct tls *t, BIO *in, const char *path, struct err *e)
{
	for (int i = 0;; i++) {
		X509 *x = PEM_read_bio_X509(in, NULL, no_password, NULL);

		if (!x && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) {
			ERR_clear_error();
			return 0;
		}
		if (!x)
			return err_set(e, ERR_UNAVAIL,
				       "serve.tls.cert: a certificate in '%s' cannot be read: %s", path,
				       tls_reason());
		if (i == CHAIN_MAX || SSL_CTX_add0_chain_cert(t->ctx, x) != 1) {
			X509_free(x);
			return i == CHAIN_MAX
				       ? err_set(e, ERR_LIMIT,
						 "serve.tls.cert: '%s' has more than %d certificates behind the first",
						 path, CHAIN_MAX)
				       : err_set(e, ERR_UNAVAIL,
						 "serve.tls.cert: a certificate in '%s' is not accepted: %s",
						 path, tls_reason());
		}
	}
}

int tls_load_cert(struct tls *t, const char *path, struct err *e)
{
	_cleanup_close_ int fd = FD_NONE;
	_cleanup_free_ char *text = NULL;
	_cleanup_(bio_freep) BIO *in = NULL;
	_cleanup_(x509_freep) X509 *x = NULL;
	struct stat st;
	size_t n = 0;

	if (open_file("serve.tls.cert", path, &st, &fd, e) < 0 ||
	    read_text("serve.tls.cert", path, fd, &text, &n, e) < 0)
		return -1;
	in = BIO_new_mem_buf(text, (int)n);
	x = in ? PEM_read_bio_X509_AUX(in, NULL, no_password, NULL) : NULL;
	if (!x)
		return err_set(e, ERR_UNAVAIL,
			       "serve.tls.cert: '%s' does not begin with a certificate in PEM: %s", path,
			       tls_reason());
	if (check_times(t, x, path, e) < 0)
		return -1;
	if (SSL_CTX_use_certificate(t->ctx, x) != 1)
		return err_set(e, ERR_UNAVAIL, "serve.tls.cert: the certificate in '%s' is not accepted: %s",
			       path, tls_reason());
	return load_chain(t, in, path, e);
}

/* Ours or root's, and nobody else reads it; a group may, where root has said so (root:ssl-cert 0640 is Debian's habit). */
static int check_private(const char *path, const struct stat *st, struct err *e)
{
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return err_set(
			e, ERR_DENIED,
			"serve.tls.key: '%s' belongs to uid %u, who could change it; fix: chown %u '%s'",
			path, st->st_uid, geteuid(), path);
	if ((st->st_mode & 0037) || ((st->st_mode & 0040) && st->st_uid != 0))
		return err_set(
			e, ERR_DENIED,
			"serve.tls.key: '%s' has mode %04o, so that others can read or change the key; fix: chmod 600 "
			"'%s', and take a new key if somebody has read this one",
			path, (unsigned)st->st_mode & 07777, path);
	return 0;
}

int tls_load_key(struct tls *t, const char *path, const char *cert_path, struct err *e)
{
	_cleanup_close_ int fd = FD_NONE;
	_cleanup_(bio_freep) BIO *in = NULL;
	_cleanup_(pkey_freep) EVP_PKEY *key = NULL;
	char *text = NULL;
	struct stat st;
	bool locked;
	size_t n = 0;

	if (open_file("serve.tls.key", path, &st, &fd, e) < 0 || check_private(path, &st, e) < 0 ||
	    read_text("serve.tls.key", path, fd, &text, &n, e) < 0)
		return -1;
	locked = memmem(text, n, "ENCRYPTED", 9);
	in = BIO_new_mem_buf(text, (int)n);
	key = in ? PEM_read_bio_PrivateKey(in, NULL, no_password, NULL) : NULL;
	explicit_bzero(text, n);
	free(text);
	if (!key && locked)
		return err_set(
			e, ERR_UNAVAIL,
			"serve.tls.key: '%s' is protected by a password, and nobody is there to type it; fix: openssl "
			"pkey -in '%s' -out NEW, mode 0600",
			path, path);
	if (!key)
		return err_set(e, ERR_UNAVAIL, "serve.tls.key: '%s' has no private key in PEM: %s", path,
			       tls_reason());
	if (X509_check_private_key(SSL_CTX_get0_certificate(t->ctx), key) != 1) {
		ERR_clear_error();
		return err_set(e, ERR_UNAVAIL,
			       "serve.tls.key: '%s' is not the key of the certificate in '%s'", path,
			       cert_path);
	}
	if (SSL_CTX_use_PrivateKey(t->ctx, key) != 1)
		return err_set(e, ERR_UNAVAIL, "serve.tls.key: the key in '%s' is not accepted: %s", path,
			       tls_reason());
	return 0;
}
