/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS as a client that does not talk to just anybody: the server's certificate must be good now, be for the host that was asked for, and lead to
 * an authority that this system trusts (OpenSSL's default places; SSL_CERT_FILE and SSL_CERT_DIR name others). Nothing is sent before that. The
 * process has to ignore SIGPIPE.
 */
#pragma once

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <stdint.h>
#include <sys/types.h>

struct tls_client;

struct tls_peer {
	const char *host; /* a name of at most 253 bytes, or an address without brackets */
	bool is_address;
	uint64_t deadline_ms; /* of clock_mono_ms(), for everything */
};

/* Why there is no connection. */
enum tls_fault {
	TLS_FAULT_OTHER = 0,
	TLS_FAULT_TIME,
	TLS_FAULT_PLAIN, /* what answers does not speak TLS */
	TLS_FAULT_TRUST, /* nobody whom this system trusts has signed it */
	TLS_FAULT_HOST,  /* it is somebody else's */
	TLS_FAULT_DATES,
	TLS_FAULT_NONE,
};

/* Over a connected, non-blocking socket, which stays the caller's. */
int tls_client_new(int fd, const struct tls_peer *p, struct tls_client **ret, enum tls_fault *ret_fault,
		   struct err *e);
struct tls_client *tls_client_free(struct tls_client *c);
DEFINE_CLEANUP(tls_client, tls_client_free)

/* Bytes; 0 when the server has said that it ends here. -ETIMEDOUT, -ECONNRESET (cut off), -EPROTO and others. */
ssize_t tls_client_read(struct tls_client *c, void *to, size_t n);
/* All of it, or negative errno. */
int tls_client_write(struct tls_client *c, struct str bytes);
