/* SPDX-License-Identifier: Apache-2.0 */
/* What the fields of a head mean together (RFC 9112 sections 3.2, 6 and 9; RFC 9110 sections 7.6 to 10.1). */
#include "http/chars.h"
#include "http/head_priv.h"

static enum http_result on_host(struct http_head *h, struct str value)
{
	if (h->host.n > 0)
		return head_bad(h, 400, "there is more than one Host");
	/* A response has none; if it has, it means nothing. */
	if (h->role == HTTP_REQUEST && !head_host_ok(value, false))
		return head_bad(h, 400, "Host is not 'host' or 'host:port'");
	h->host = head_span(h, value);
	return HTTP_DONE;
}

static enum http_result on_length(struct http_head *h, struct str value)
{
	if (h->has_length)
		return head_bad(h, 400, "there is more than one Content-Length");
	if (str_to_u64(value, INT64_MAX, &h->length) < 0)
		return head_bad(h, 400, "Content-Length is not a number");
	h->has_length = true;
	return HTTP_DONE;
}

static enum http_result on_coding(struct http_head *h, struct str value)
{
	struct str rest = value, item;
	bool other = false;

	if (h->has_coding)
		return head_bad(h, 400, "there is more than one Transfer-Encoding");
	h->has_coding = true;
	if (str_eq_nocase(value, STR("chunked")))
		return HTTP_DONE;
	while (http_list_next(&rest, &item)) {
		if (str_eq_nocase(item, STR("chunked")) && http_trim(rest).n > 0)
			return head_bad(h, 400, "chunked is not the last Transfer-Encoding");
		other = other || !str_eq_nocase(item, STR("chunked"));
	}
	if (other)
		return head_bad(h, 501, "chunked is the only Transfer-Encoding that this server knows");
	return head_bad(h, 400, "Transfer-Encoding is not 'chunked'");
}

/* Who may be told that a field ends here could be told to drop the one that says where the body ends. */
static bool may_be_dropped(struct str option)
{
	static const char *const needed[] = { "host", "content-length", "transfer-encoding",
					      "authorization" };

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (str_eq_nocase(option, str_z(needed[i])))
			return false;
	return true;
}

static enum http_result on_connection(struct http_head *h, struct str value)
{
	struct str item;

	while (http_list_next(&value, &item)) {
		if (!http_all(item, CHAR_TOKEN))
			return head_bad(h, 400, "Connection is not a list of names");
		if (!may_be_dropped(item))
			return head_bad(h, 400, "Connection names a field that every reader needs");
		h->says_close = h->says_close || str_eq_nocase(item, STR("close"));
		h->says_keep_alive = h->says_keep_alive || str_eq_nocase(item, STR("keep-alive"));
		h->says_upgrade = h->says_upgrade || str_eq_nocase(item, STR("upgrade"));
	}
	return HTTP_DONE;
}

static enum http_result on_expect(struct http_head *h, struct str value)
{
	if (h->role == HTTP_RESPONSE || h->minor == 0)
		return HTTP_DONE;
	if (!str_eq_nocase(value, STR("100-continue")))
		return head_bad(h, 417, "100-continue is the only expectation that this server meets");
	h->expect_continue = true;
	return HTTP_DONE;
}

static enum http_result on_upgrade(struct http_head *h, struct str value)
{
	h->has_upgrade = value.n > 0;
	return HTTP_DONE;
}

static enum http_result (*const on_field[HTTP_NAME_COUNT_])(struct http_head *, struct str) = {
	[HTTP_NAME_HOST] = on_host,
	[HTTP_NAME_EXPECT] = on_expect,
	[HTTP_NAME_UPGRADE] = on_upgrade,
	[HTTP_NAME_CONNECTION] = on_connection,
	[HTTP_NAME_CONTENT_LENGTH] = on_length,
	[HTTP_NAME_TRANSFER_ENCODING] = on_coding,
};

static enum http_result host_rules(struct http_head *h)
{
	if (h->host.n == 0 && h->minor > 0)
		return head_bad(h, 400, "there is no Host");
	if (h->authority.n == 0)
		return HTTP_DONE;
	/* RFC 9112 lets the target win. Somebody on the way may have looked at the other one. */
	if (h->host.n > 0 && !head_same_host(h))
		return head_bad(h, 400, "Host is not the host of the target");
	h->host = h->authority;
	return HTTP_DONE;
}

static enum http_result request_body(struct http_head *h)
{
	if (h->has_coding)
		h->framing = HTTP_CHUNKED;
	else if (h->has_length && h->length > 0)
		h->framing = HTTP_LENGTH;
	if (h->framing != HTTP_NO_BODY && (h->method == HTTP_CONNECT || h->method == HTTP_TRACE))
		return head_bad(h, 400, "a request with this method has no body");
	if (h->framing == HTTP_NO_BODY)
		h->expect_continue = false;
	return HTTP_DONE;
}

static enum http_result response_body(struct http_head *h)
{
	if (h->status < 200 || h->status == 204) {
		if (h->has_coding || h->length > 0)
			return head_bad(h, 502, "an answer with this status has no body");
		return HTTP_DONE;
	}
	if (h->method == HTTP_HEAD || h->status == 304)
		return HTTP_DONE;
	if (h->method == HTTP_CONNECT && h->status < 300)
		return HTTP_DONE;
	if (h->has_coding)
		h->framing = HTTP_CHUNKED;
	else if (!h->has_length)
		h->framing = HTTP_UNTIL_CLOSE;
	else if (h->length > 0)
		h->framing = HTTP_LENGTH;
	return HTTP_DONE;
}

static enum http_result body_rules(struct http_head *h)
{
	enum http_result r;

	if (h->has_coding && h->has_length)
		return head_bad(h, 400, "there are both Content-Length and Transfer-Encoding");
	if (h->has_coding && h->minor == 0)
		return head_bad(h, 400, "HTTP/1.0 has no Transfer-Encoding");
	r = h->role == HTTP_REQUEST ? request_body(h) : response_body(h);
	if (r == HTTP_DONE && h->framing == HTTP_LENGTH && h->length > h->limits.body_bytes)
		return head_bad(h, 413, "the body is larger than this server takes");
	return r;
}

enum http_result head_rules(struct http_head *h)
{
	for (unsigned i = 0; i < h->n_fields; i++) {
		const struct http_field *f = &h->field[i];

		if (f->name != HTTP_NAME_OTHER && on_field[f->name](h, http_field_value(h, f)) == HTTP_BAD)
			return HTTP_BAD;
	}
	if (h->role == HTTP_REQUEST && host_rules(h) == HTTP_BAD)
		return HTTP_BAD;
	if (body_rules(h) == HTTP_BAD)
		return HTTP_BAD;
	h->keep_alive =
		!h->says_close && (h->minor > 0 || h->says_keep_alive) && h->framing != HTTP_UNTIL_CLOSE;
	h->wants_upgrade = h->has_upgrade && h->says_upgrade && h->minor > 0;
	return HTTP_DONE;
}
