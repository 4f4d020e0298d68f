/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to an HTTP service somewhere: one connection each, a GET without body, and an answer that is read as strictly as any. No redirect is
 * followed, no proxy is used, and all of it ends with one deadline, the look at the name included.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <netinet/in.h>
#include <stdbool.h>

#define REMOTE_ADDRESSES_MAX 8u

/* "https://host:port/base", as far as questions need it. */
struct endpoint {
	bool is_tls, is_address; /* is_address: the host is a number, no name */
	uint16_t port;
	struct str host;      /* NUL-terminated, without brackets */
	struct str authority; /* as Host says it */
	struct str base;      /* path without "/v1" and slashes at its end: "" mostly */
	struct str shown;     /* for people */
};
/* What is wrong is told without the text, which may hold a password. */
int endpoint_read(struct arena *a, struct str text, struct endpoint *ret, struct err *e);

/* Why there is no answer. */
enum trouble {
	TROUBLE_OTHER = 0,
	TROUBLE_NAME,    /* nobody knows the host */
	TROUBLE_REFUSED, /* nothing listens there */
	TROUBLE_TIMEOUT, /* no connection in time */
	TROUBLE_SILENT,  /* a connection, and no answer in time */
	TROUBLE_SPEECH,  /* what came is not HTTP */
	TROUBLE_CUT,     /* it ended the connection before its answer was whole */
	TROUBLE_LONG,    /* more than anybody would answer */
	TROUBLE_TLS,     /* the handshake failed */
	TROUBLE_PLAIN,   /* it does not speak TLS */
	TROUBLE_TRUST,
	TROUBLE_HOST,
	TROUBLE_DATES,
	TROUBLE_NONE,
	TROUBLE_COUNT_
};

struct remote_address {
	socklen_t n;
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a;
};

struct remote {
	struct endpoint at;
	uint64_t deadline_ms; /* of clock_mono_ms() */
	struct remote_address v[REMOTE_ADDRESSES_MAX];
	size_t n;
	bool is_far; /* the last connection led to another machine, or may have */
};

struct reply {
	enum trouble trouble;
	struct err why;
	unsigned status;
	struct str body; /* in the arena */
};

/* Numbers at once; names by a process of its own, because nothing else bounds that. */
enum trouble remote_find(struct remote *r, struct err *e);

/* GET <base><path>, with the key where there is one. */
void remote_ask(struct remote *r, struct arena *a, const char *path, struct str key, struct reply *ret);
