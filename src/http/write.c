/* SPDX-License-Identifier: Apache-2.0 */
#include "http/write.h"

#include "http/chars.h"
#include "http/head_priv.h"

#include <errno.h>
#include <inttypes.h>

void http_write_status(struct http_writer *w, struct buf *out, unsigned status)
{
	*w = (struct http_writer){ .out = out, .begin = out->n, .bad = status < 100 || status > 599 };
	if (!w->bad)
		buf_printf(out, "HTTP/1.1 %u %s\r\n", status, http_status_text(status));
}

/* The reader's own rules decide: what it would refuse is not sent. */
static bool request_ok(struct str method, struct str target, struct str host)
{
	struct http_head h;

	http_head_init(&h, HTTP_REQUEST, HTTP_OTHER, NULL, NULL, 0);
	if (!http_all(method, CHAR_TOKEN) || target.n == 0 || target.n > h.limits.line_bytes)
		return false;
	h.method = http_method_find(method);
	h.base = target.p;
	h.target = head_span(&h, target);
	return head_target(&h, target) == HTTP_DONE && head_host_ok(host, false);
}

void http_write_request(struct http_writer *w, struct buf *out, struct str method, struct str target,
			struct str host)
{
	*w = (struct http_writer){ .out = out, .begin = out->n, .bad = !request_ok(method, target, host) };
	if (w->bad)
		return;
	buf_put(out, method);
	buf_putc(out, ' ');
	buf_put(out, target);
	buf_puts(out, " HTTP/1.1\r\nHost: ");
	buf_put(out, host);
	buf_puts(out, "\r\n");
}

static bool is_ours(struct str name)
{
	static const char *const ours[] = { "host", "content-length", "transfer-encoding", "connection" };

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (str_eq_nocase(name, str_z(ours[i])))
			return true;
	return false;
}

void http_write_field(struct http_writer *w, struct str name, struct str value)
{
	if (!http_all(name, CHAR_TOKEN) || name.n > 255 || is_ours(name) ||
	    http_span_field(value) != value.n) {
		w->bad = true;
		return;
	}
	buf_put(w->out, name);
	buf_puts(w->out, ": ");
	buf_put(w->out, value);
	buf_puts(w->out, "\r\n");
}

static bool frame_once(struct http_writer *w)
{
	w->bad = w->bad || w->framed;
	w->framed = true;
	return !w->bad;
}

void http_write_length(struct http_writer *w, uint64_t n_bytes)
{
	if (frame_once(w))
		buf_printf(w->out, "Content-Length: %" PRIu64 "\r\n", n_bytes);
}

void http_write_chunked(struct http_writer *w)
{
	if (frame_once(w))
		buf_puts(w->out, "Transfer-Encoding: chunked\r\n");
}

void http_write_connection(struct http_writer *w, enum http_after after)
{
	static const char *const words[] = {
		[HTTP_CLOSE] = "close",
		[HTTP_KEEP] = "keep-alive",
		[HTTP_UPGRADE] = "Upgrade",
	};

	buf_printf(w->out, "Connection: %s\r\n", words[after]);
}

int http_write_end(struct http_writer *w)
{
	struct buf *out = w->out;
	int r = w->bad ? -EINVAL : 0;

	buf_puts(out, "\r\n");
	if (r == 0 && out->failed)
		r = -ENOSPC;
	if (r < 0 && out->p && out->n > w->begin) {
		out->n = w->begin;
		out->p[out->n] = '\0';
	}
	return r;
}

void http_write_chunk(struct buf *out, struct str data)
{
	if (data.n == 0)
		return;
	buf_printf(out, "%zx\r\n", data.n);
	buf_put(out, data);
	buf_puts(out, "\r\n");
}

void http_write_last_chunk(struct buf *out)
{
	buf_puts(out, "0\r\n\r\n");
}
