/* SPDX-License-Identifier: Apache-2.0 */
#include "http/head.h"

#include "http/chars.h"
#include "http/head_priv.h"

#include <assert.h>
#include <errno.h>

enum { METHOD_BYTES_MAX = 24, NAME_BYTES_MAX = 255 };
enum { PHASE_BEGIN = 0, PHASE_FIRST_LINE, PHASE_FIELDS, PHASE_DONE, PHASE_BAD };

const struct http_limits http_limits_default = {
	.head_bytes = 16384,
	.line_bytes = 8192,
	.body_bytes = (uint64_t)8 << 20,
};

/* The lengths of the names that matter are all different, so a length names its only candidate. */
static const struct {
	const char *text;
	enum http_name name;
} known_names[] = {
	[4] = { "host", HTTP_NAME_HOST },
	[6] = { "expect", HTTP_NAME_EXPECT },
	[7] = { "upgrade", HTTP_NAME_UPGRADE },
	[10] = { "connection", HTTP_NAME_CONNECTION },
	[14] = { "content-length", HTTP_NAME_CONTENT_LENGTH },
	[17] = { "transfer-encoding", HTTP_NAME_TRANSFER_ENCODING },
};

static enum http_name find_name(struct str name)
{
	if (name.n >= sizeof(known_names) / sizeof(known_names[0]) || !known_names[name.n].text)
		return HTTP_NAME_OTHER;
	if (!str_eq_nocase(name, (struct str){ known_names[name.n].text, name.n }))
		return HTTP_NAME_OTHER;
	return known_names[name.n].name;
}

enum http_result head_bad(struct http_head *h, unsigned status, const char *reason)
{
	/* What a server answers badly is its fault, whatever it is. */
	h->fault = (struct http_fault){ .status = h->role == HTTP_RESPONSE ? 502 : status, .reason = reason };
	h->phase = PHASE_BAD;
	h->keep_alive = false;
	return HTTP_BAD;
}

struct http_span head_span(const struct http_head *h, struct str s)
{
	return (struct http_span){ .at = (uint16_t)(s.p - h->base), .n = (uint16_t)s.n };
}

void http_head_init(struct http_head *h, enum http_role role, enum http_method asked,
		    const struct http_limits *limits, struct http_field *fields, unsigned max_fields)
{
	*h = (struct http_head){
		.role = role,
		.method = role == HTTP_RESPONSE ? asked : HTTP_OTHER,
		.field = fields,
		.max_fields = max_fields,
		.limits = limits ? *limits : http_limits_default,
		.base = "",
	};
	if (h->limits.head_bytes > HTTP_HEAD_MAX)
		h->limits.head_bytes = HTTP_HEAD_MAX;
}

static enum http_result too_long(struct http_head *h)
{
	if (h->phase == PHASE_FIELDS)
		return head_bad(h, 431, "the header fields are longer than this server takes");
	return head_bad(h, 414, "the request line is longer than this server takes");
}

/* The next whole line without its CR LF. */
static enum http_result next_line(struct http_head *h, struct str bytes, struct str *ret)
{
	size_t end = bytes.n < h->limits.head_bytes ? bytes.n : h->limits.head_bytes;
	const char *from = bytes.p + h->line_at;
	const char *lf = h->scanned < end ? memchr(bytes.p + h->scanned, '\n', end - h->scanned) : NULL;

	if (!lf) {
		h->scanned = (uint32_t)end;
		if (end == h->limits.head_bytes || end - h->line_at > h->limits.line_bytes + 1)
			return too_long(h);
		return HTTP_MORE;
	}
	/* Its length first: the answer must not depend on whether the line came in one piece. */
	if ((size_t)(lf - from) > h->limits.line_bytes + 1)
		return too_long(h);
	if (lf == from || lf[-1] != '\r')
		return head_bad(h, 400, "a line of the head does not end in CR LF");
	*ret = (struct str){ .p = from, .n = (size_t)(lf - from) - 1 };
	h->line_at = h->scanned = (uint32_t)(lf + 1 - bytes.p);
	return HTTP_DONE;
}

static enum http_result version(struct http_head *h, const char *v)
{
	if (memcmp(v, "HTTP/", 5) != 0 || !http_char(v[5], CHAR_DIGIT) || v[6] != '.' ||
	    !http_char(v[7], CHAR_DIGIT))
		return head_bad(h, 400, "the version is not written as HTTP/1.1");
	if (v[5] != '1' || v[7] > '1')
		return head_bad(h, 505, "this server speaks HTTP/1.1 and HTTP/1.0");
	h->minor = (unsigned)(v[7] - '0');
	return HTTP_DONE;
}

static enum http_result request_line(struct http_head *h, struct str line)
{
	const size_t tail = sizeof(" HTTP/1.1") - 1;
	size_t n = http_span_of(line, CHAR_TOKEN);
	struct str target;

	if (n == 0 || n > METHOD_BYTES_MAX || n == line.n || line.p[n] != ' ')
		return head_bad(h, 400, "the request does not begin with the name of a method and one space");
	if (line.n < n + 1 + 1 + tail || line.p[line.n - tail] != ' ')
		return head_bad(h, 400, "the request line is not 'METHOD target HTTP/1.1'");
	if (version(h, line.p + line.n - tail + 1) == HTTP_BAD)
		return HTTP_BAD;
	h->method_span = head_span(h, (struct str){ line.p, n });
	h->method = http_method_find((struct str){ line.p, n });
	target = (struct str){ .p = line.p + n + 1, .n = line.n - tail - n - 1 };
	h->target = head_span(h, target);
	return head_target(h, target);
}

static enum http_result status_line(struct http_head *h, struct str line)
{
	uint64_t code;
	struct str reason;

	if (line.n < sizeof("HTTP/1.1 200 ") - 1 || line.p[8] != ' ' || line.p[12] != ' ')
		return head_bad(h, 502, "the status line is not 'HTTP/1.1 200 reason'");
	if (version(h, line.p) == HTTP_BAD)
		return HTTP_BAD;
	if (str_to_u64((struct str){ line.p + 9, 3 }, 599, &code) < 0 || code < 100)
		return head_bad(h, 502, "the status is not a number from 100 to 599");
	reason = str_from(line, 13);
	if (http_span_field(reason) != reason.n)
		return head_bad(h, 502, "the reason has a control character");
	h->status = (unsigned)code;
	h->reason = head_span(h, reason);
	return HTTP_DONE;
}

static enum http_result field_line(struct http_head *h, struct str line)
{
	size_t n = http_span_of(line, CHAR_TOKEN);
	struct str name = { line.p, n }, value;

	if (line.p[0] == ' ' || line.p[0] == '\t')
		return head_bad(h, 400, "a header field is folded over two lines");
	if (n == line.n || line.p[n] != ':' || n == 0)
		return head_bad(h, 400, "a header field is not a name, a colon and a value");
	if (n > NAME_BYTES_MAX)
		return head_bad(h, 431, "the name of a header field is longer than 255 bytes");
	value = str_from(line, n + 1);
	if (http_span_field(value) != value.n)
		return head_bad(h, 400, "a header field has a control character");
	if (h->n_fields == h->max_fields)
		return head_bad(h, 431, "there are more header fields than this server takes");
	value = http_trim(value);
	h->field[h->n_fields++] = (struct http_field){
		.name_at = (uint16_t)(name.p - h->base),
		.name_n = (uint8_t)n,
		.value_at = (uint16_t)(value.p - h->base),
		.value_n = (uint16_t)value.n,
		.name = (uint8_t)find_name(name),
	};
	return HTTP_DONE;
}

/* A first byte that begins no head is refused at once: whoever speaks TLS here should not wait for a deadline. */
static bool begins_badly(const struct http_head *h, struct str bytes)
{
	if (h->phase > PHASE_FIRST_LINE || bytes.n <= h->line_at)
		return false;
	if (h->role == HTTP_REQUEST && h->phase == PHASE_BEGIN && bytes.p[0] == '\r')
		return false;
	return !http_char(bytes.p[h->line_at], CHAR_TOKEN);
}

static enum http_result one_line(struct http_head *h, struct str line)
{
	enum http_result r;

	if (h->phase == PHASE_FIELDS) {
		if (line.n > 0)
			return field_line(h, line);
		h->n_bytes = h->line_at;
		r = head_rules(h);
		h->phase = r == HTTP_DONE ? PHASE_DONE : PHASE_BAD;
		return r;
	}
	/* One empty line before a request is what old clients send behind a body (RFC 9112 section 2.2). */
	if (line.n == 0 && h->phase == PHASE_BEGIN && h->role == HTTP_REQUEST) {
		h->phase = PHASE_FIRST_LINE;
		return HTTP_DONE;
	}
	r = h->role == HTTP_REQUEST ? request_line(h, line) : status_line(h, line);
	if (r == HTTP_DONE)
		h->phase = PHASE_FIELDS;
	return r;
}

enum http_result http_head_parse(struct http_head *h, struct str bytes)
{
	assert(bytes.n >= h->scanned);
	if (bytes.n > 0)
		h->base = bytes.p;
	while (h->phase < PHASE_DONE) {
		enum http_result r;
		struct str line;

		if (begins_badly(h, bytes))
			return head_bad(h, 400, "this is not HTTP");
		r = next_line(h, bytes, &line);
		if (r == HTTP_DONE)
			r = one_line(h, line);
		if (r != HTTP_DONE)
			return r;
	}
	return h->phase == PHASE_DONE ? HTTP_DONE : HTTP_BAD;
}

void http_head_rebase(struct http_head *h, const char *bytes)
{
	h->base = bytes;
}

int http_head_one(const struct http_head *h, struct str name, struct str *ret)
{
	const struct http_field *found = NULL;

	for (unsigned i = 0; i < h->n_fields; i++) {
		if (!str_eq_nocase(http_field_name(h, &h->field[i]), name))
			continue;
		if (found)
			return -EEXIST;
		found = &h->field[i];
	}
	if (!found)
		return -ENOENT;
	*ret = http_field_value(h, found);
	return 0;
}
