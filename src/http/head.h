/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of an HTTP/1.x message (RFC 9112): request or status line and fields, read as the bytes come, without copies
 * and without system calls. One reader for the server, the proxy and the client.
 *
 * It refuses whatever two readers could understand in two ways, because that is what request smuggling is made of: line
 * ends other than CR LF, folded lines, white space before a colon, NUL and other control characters, a repeated or signed
 * or too large Content-Length, Content-Length beside Transfer-Encoding, codings other than chunked, Transfer-Encoding in
 * HTTP/1.0, a missing, repeated or contradicted Host, and every byte that RFC 3986 does not allow in a target. It repairs
 * nothing. It does not decode paths, knows no resource and no body.
 */
#pragma once

#include "base/str.h"

enum http_role { HTTP_REQUEST = 0, HTTP_RESPONSE };

/* BAD is final: the connection cannot be used for anything but an answer. */
enum http_result { HTTP_BAD = 0, HTTP_MORE, HTTP_DONE };

enum http_method {
	HTTP_OTHER = 0, /* a valid name that is not below: see http_method_text() */
	HTTP_GET,
	HTTP_HEAD,
	HTTP_POST,
	HTTP_PUT,
	HTTP_DELETE,
	HTTP_PATCH,
	HTTP_OPTIONS,
	HTTP_CONNECT,
	HTTP_TRACE,
	HTTP_METHOD_COUNT_
};

enum http_form {
	HTTP_FORM_NONE = 0,
	HTTP_ORIGIN,    /* /path?query */
	HTTP_ABSOLUTE,  /* http://host/path?query: to a proxy */
	HTTP_AUTHORITY, /* host:port, with CONNECT alone */
	HTTP_ASTERISK,  /* *, with OPTIONS alone */
};

enum http_framing { HTTP_NO_BODY = 0, HTTP_LENGTH, HTTP_CHUNKED, HTTP_UNTIL_CLOSE };

/* The fields that have a meaning for the message itself. */
enum http_name {
	HTTP_NAME_OTHER = 0,
	HTTP_NAME_HOST,
	HTTP_NAME_EXPECT,
	HTTP_NAME_UPGRADE,
	HTTP_NAME_CONNECTION,
	HTTP_NAME_CONTENT_LENGTH,
	HTTP_NAME_TRANSFER_ENCODING,
	HTTP_NAME_COUNT_
};

/* What to answer, and why: the reason is a sentence of ours and holds nothing of the peer's. */
struct http_fault {
	unsigned status;
	const char *reason;
};

/* Nothing above HTTP_HEAD_MAX is possible: places in a head are kept in 16 bits. */
#define HTTP_HEAD_MAX 65535u
struct http_limits {
	uint32_t head_bytes; /* all of it */
	uint32_t line_bytes; /* one line, without its end */
	uint64_t body_bytes; /* more is 413 */
};

/* 16 KiB of head, lines of 8 KiB, bodies of 8 MiB. */
extern const struct http_limits http_limits_default;

/* A place in the head's bytes. */
struct http_span {
	uint16_t at, n;
};

struct http_field {
	uint16_t name_at, value_at, value_n;
	uint8_t name_n, name; /* enum http_name */
};

struct http_head {
	enum http_role role;
	enum http_method method; /* of a response: the one that was asked with */
	enum http_form form;
	struct http_span method_span, target, path, query, authority; /* empty where there is none */
	bool is_https;                                                /* absolute form: the scheme */
	bool has_query;                                               /* "/?" has an empty one */
	unsigned minor;                                               /* HTTP/1.minor: 0 or 1 */
	unsigned status;                                              /* responses: 100..599 */
	struct http_span reason;
	struct http_span
		host; /* value of Host, or the authority of an absolute target, or nothing (HTTP/1.0) */

	struct http_field *field; /* the caller's */
	unsigned n_fields, max_fields;

	enum http_framing framing;
	uint64_t length;      /* HTTP_LENGTH */
	bool keep_alive;      /* the connection can be used again after this message */
	bool expect_continue; /* the client waits for 100 before it sends the body */
	bool wants_upgrade;   /* Upgrade, and Connection says so; see http_head_one("upgrade") */

	size_t n_bytes; /* HTTP_DONE: length of the head; what follows is the body */
	struct http_fault fault;

	/* Private from here on. */
	struct http_limits limits;
	const char *base;
	uint32_t line_at, scanned;
	uint8_t phase;
	bool has_upgrade, says_upgrade, says_close, says_keep_alive, has_length, has_coding;
};

/* `limits` NULL: the default. For a response, `asked` is the method of the request: it decides whether there is a body. */
void http_head_init(struct http_head *h, enum http_role role, enum http_method asked,
		    const struct http_limits *limits, struct http_field *fields, unsigned max_fields);

/*
 * `bytes` is everything that has come since the head began; more of it each time, at the same address or another, and what
 * lies behind the head is not looked at. Each line is parsed once. HTTP_BAD: see fault.
 */
enum http_result http_head_parse(struct http_head *h, struct str bytes);

/* The bytes have moved (all slices follow), since the last http_head_parse(). */
void http_head_rebase(struct http_head *h, const char *bytes);

/* Slices of the bytes that were given last. */
static inline struct str http_head_slice(const struct http_head *h, struct http_span s)
{
	return s.n > 0 ? (struct str){ .p = h->base + s.at, .n = s.n } : (struct str){ .p = "", .n = 0 };
}

static inline struct str http_field_name(const struct http_head *h, const struct http_field *f)
{
	return (struct str){ .p = h->base + f->name_at, .n = f->name_n };
}

static inline struct str http_field_value(const struct http_head *h, const struct http_field *f)
{
	return http_head_slice(h, (struct http_span){ .at = f->value_at, .n = f->value_n });
}

/*
 * The value of the one field of that name (in any case). -ENOENT when there is none, -EEXIST when there are several: what is
 * there twice has no one meaning, and who asks for a token or a type must not pick.
 */
int http_head_one(const struct http_head *h, struct str name, struct str *ret);

/* "GET"; NULL for HTTP_OTHER. */
const char *http_method_name(enum http_method m);
enum http_method http_method_find(struct str name);

/* "Not Found"; "" for a number without a name. */
const char *http_status_text(unsigned status);
