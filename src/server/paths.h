/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of a table of routes a request means, and what stands in its path and query. Pure. Nothing is made equal that is not: no dot segments, no
 * doubled slashes, no decoding of what a route spells out; a part that is a name (`{key}`) and values of the query are decoded, strictly.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "http/head.h"

/* 0 is what asks for most. */
enum path_needs {
	NEEDS_ADMIN = 0,
	NEEDS_TOKEN,
	NEEDS_TOKEN_OR_OPEN, /* an admin token, unless the operator has opened it */
	NEEDS_NOTHING,
};

struct visit;

struct path_row {
	enum http_method method;
	const char *path; /* "/v1/sessions/{key}" */
	enum path_needs needs;
	bool s2;                  /* errors have S2's shape */
	size_t body_max;          /* 0: it takes no body */
	const char *const *query; /* names that may be in it, ends in NULL; NULL: none */
	const char *label;        /* in metrics and logs */
	void (*answer)(struct visit *v);
};

enum { PATH_PARTS_MAX = 2, PATH_QUERY_MAX = 6, PATH_TEXT_MAX = 1024 };

struct path_match {
	const struct path_row *route;
	struct str part[PATH_PARTS_MAX]; /* of the names in the path, in order, as they came */
	unsigned allowed;                /* 405: 1 << enum http_method of those that there are */
	bool s2;                         /* errors of this path have S2's shape, whatever the method */
};

/* 0; or 404, or 405. */
unsigned path_find(const struct path_row *table, size_t n, enum http_method method, struct str path,
		   struct path_match *ret);

/* "%41" -> "A"; a plus is a plus. False for what is no encoding, and for what is not text or holds control characters. */
bool path_decode(struct arena *a, struct str text, struct str *ret);
/* Everything but letters, digits and -._~: becomes %XX. */
void path_encode(struct buf *out, struct str text);

struct path_query {
	struct str value[PATH_QUERY_MAX]; /* in the order of `names`; decoded */
	bool has[PATH_QUERY_MAX];
	struct str bad;  /* of an error: the name */
	const char *why; /* "is there twice": what is wrong with it */
};
/* False: see bad. */
bool path_query(struct arena *a, const char *const *names, struct str query, struct path_query *ret);
