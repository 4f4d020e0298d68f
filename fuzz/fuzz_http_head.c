/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heads of requests (first byte even) and responses, in pieces: the result does not depend on where they were cut or moved to; every slice
 * lies inside the head; what is accepted has no control character, at most one way to end, and a host where it must; what is
 * refused has a status and a reason.
 */
#include "check.h"

#include "http/head.h"

#include <stdbool.h>

enum { FIELDS = 24 };

static const struct http_limits limits = { .head_bytes = 2048, .line_bytes = 600, .body_bytes = 1 << 20 };

static enum http_result run(struct http_head *h, struct http_field *fields, struct str s, size_t step,
			    uint8_t kind)
{
	enum http_result r = HTTP_MORE;

	http_head_init(h, kind & 1 ? HTTP_RESPONSE : HTTP_REQUEST,
		       (enum http_method)(kind / 2 % HTTP_METHOD_COUNT_), &limits, fields, FIELDS);
	for (size_t n = 0; r == HTTP_MORE && n < s.n;) {
		char *moved;

		n = s.n - n < step ? s.n : n + step;
		moved = malloc(n);
		CHECK(moved);
		memcpy(moved, s.p, n);
		r = http_head_parse(h, (struct str){ moved, n });
		http_head_rebase(h, s.p);
		free(moved);
	}
	return r;
}

static void check_span(const struct http_head *h, struct http_span s)
{
	struct str text = http_head_slice(h, s);

	CHECK(s.n == 0 || (size_t)s.at + s.n <= h->n_bytes);
	for (size_t i = 0; i < text.n; i++)
		CHECK(((unsigned char)text.p[i] >= 0x20 || text.p[i] == '\t') && text.p[i] != 0x7f);
}

static void check_done(const struct http_head *h, struct str s)
{
	unsigned hosts = 0, lengths = 0, codings = 0;

	CHECK(h->n_bytes <= s.n && h->n_bytes <= limits.head_bytes);
	CHECK(h->n_bytes >= 4 && memcmp(s.p + h->n_bytes - 4, "\r\n\r\n", 4) == 0);
	check_span(h, h->target);
	check_span(h, h->path);
	check_span(h, h->query);
	check_span(h, h->authority);
	check_span(h, h->host);
	check_span(h, h->reason);
	for (unsigned i = 0; i < h->n_fields; i++) {
		struct str name = http_field_name(h, &h->field[i]);

		CHECK(name.n > 0 && name.p + name.n <= s.p + h->n_bytes);
		check_span(h, (struct http_span){ h->field[i].value_at, h->field[i].value_n });
		hosts += str_eq_nocase(name, STR("host"));
		lengths += str_eq_nocase(name, STR("content-length"));
		codings += str_eq_nocase(name, STR("transfer-encoding"));
	}
	CHECK(lengths + codings <= 1);
	CHECK(h->framing != HTTP_LENGTH || (lengths == 1 && h->length > 0 && h->length <= limits.body_bytes));
	CHECK(h->framing != HTTP_CHUNKED || codings == 1);
	CHECK(h->role == HTTP_RESPONSE || (hosts <= 1 && (h->minor == 0 || h->host.n > 0)));
	CHECK(h->role == HTTP_RESPONSE || h->framing != HTTP_UNTIL_CLOSE);
	CHECK(h->role == HTTP_RESPONSE ? h->status >= 100 && h->status < 600 : h->form != HTTP_FORM_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_field fields_a[FIELDS], fields_b[FIELDS];
	struct http_head a, b;
	enum http_result whole;
	struct str s;

	if (size < 2)
		return 0;
	s = (struct str){ .p = (const char *)data + 2, .n = size - 2 };
	whole = run(&a, fields_a, s, SIZE_MAX, data[0]);
	CHECK(run(&b, fields_b, s, (size_t)data[1] + 1, data[0]) == whole);
	CHECK(a.fault.status == b.fault.status && a.fault.reason == b.fault.reason);
	if (whole == HTTP_BAD)
		CHECK(a.fault.status >= 400 && a.fault.status < 600 && a.fault.reason);
	if (whole != HTTP_DONE)
		return 0;
	CHECK(a.n_bytes == b.n_bytes && a.framing == b.framing && a.length == b.length &&
	      a.n_fields == b.n_fields);
	check_done(&a, s);
	return 0;
}
