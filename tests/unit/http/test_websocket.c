/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "http/websocket.h"

#include <errno.h>

static const unsigned char mask[4] = { 0x37, 0xfa, 0x21, 0x3d };

/* "TEXT:piece " per message as it is whole, "ping:x " and so on; "!code" at the end when it is refused. */
static void run(struct str text, bool from_client, size_t step, struct buf *out)
{
	static const char *const names[] = { [WS_TEXT] = "text",
					     [WS_BINARY] = "binary",
					     [WS_CLOSE] = "close",
					     [WS_PING] = "ping",
					     [WS_PONG] = "pong" };
	bool inside = false;
	struct ws_reader r;

	ws_reader_init(&r, from_client, 1000);
	for (size_t at = 0; at < text.n; at += step) {
		size_t n = text.n - at < step ? text.n - at : step;
		_cleanup_free_ char *copy = malloc(n);
		char *in = copy;
		enum ws_event e;
		struct str piece;

		assert_non_null(copy);
		memcpy(copy, text.p + at, n);
		while ((e = ws_read(&r, &in, &n, &piece)) != WS_MORE) {
			if (e == WS_BAD) {
				buf_printf(out, "!%u", r.code);
				return;
			}
			if (e == WS_CONTROL)
				buf_printf(out, "(%s %u:", names[r.opcode],
					   r.opcode == WS_CLOSE ? r.code : 0);
			else if (!inside)
				buf_printf(out, "%s:", names[r.opcode]);
			buf_put(out, piece);
			inside = e == WS_DATA ? !r.is_last : inside;
			buf_puts(out, e == WS_CONTROL ? ")" : r.is_last ? " " : "");
		}
		assert_int_equal(n, 0);
	}
}

static void check_run(struct str text, bool from_client, const char *want)
{
	for (size_t step = 1; step <= text.n; step++) {
		_cleanup_buf_ struct buf b;

		buf_init(&b, 1 << 20);
		run(text, from_client, step, &b);
		/* Whether a control frame or a piece comes first inside a message depends on the cut only by order of bytes. */
		CHECK_STR(buf_str(&b), str_z(want));
	}
}

TEST(the_example_of_the_rfc_gives_its_accept)
{
	char accept[WS_ACCEPT_BYTES];

	ws_accept(STR("dGhlIHNhbXBsZSBub25jZQ=="), accept);
	CHECK_STR(((struct str){ accept, sizeof(accept) }), STR("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
	ws_accept(STR("x3JJHMbDL1EzLkh9GBhXDw=="), accept);
	CHECK_STR(((struct str){ accept, sizeof(accept) }), STR("HSmrc0sMlYUkAGmm5OPpG2HaGWk="));
}

TEST(a_handshake_is_whole_or_refused)
{
	static const struct {
		const char *line, *fields;
		unsigned status;
	} cases[] = {
		{ "GET /",
		  "Upgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
		  0 },
		{ "POST /",
		  "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
		  400 },
		{ "GET /",
		  "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
		  400 },
		{ "GET /",
		  "Upgrade: h2c\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
		  400 },
		{ "GET /",
		  "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 8\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
		  426 },
		{ "GET /",
		  "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=",
		  400 },
		{ "GET /",
		  "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZR==",
		  400 },
		{ "GET /",
		  "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a\r\nSec-WebSocket-Key: b",
		  400 },
		{ "GET /", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13", 400 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_fault fault = { 0 };
		struct http_field fields[16];
		struct http_head h;
		char text[512], accept[WS_ACCEPT_BYTES];

		(void)snprintf(text, sizeof(text), "%s HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", cases[i].line,
			       cases[i].fields);
		http_head_init(&h, HTTP_REQUEST, HTTP_OTHER, NULL, fields, 16);
		assert_int_equal(http_head_parse(&h, str_z(text)), HTTP_DONE);
		CHECK_CASE(ws_handshake(&h, accept, &fault) == (cases[i].status == 0), "case %zu", i);
		CHECK_CASE(fault.status == cases[i].status, "case %zu: %u", i, fault.status);
	}
}

TEST(the_frames_of_the_rfc_are_read)
{
	check_run(STR("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), true, "text:Hello ");
	check_run(STR("\x81\x05Hello"), false, "text:Hello ");
	check_run(STR("\x01\x03Hel\x80\x02lo"), false, "text:Hello ");
	check_run(STR("\x89\x05Hello\x8a\x85"), false, "(ping 0:Hello)!1002");
	check_run(STR("\x01\x00\x00\x00\x80\x00"), false, "text: ");
	check_run(STR("\x82\x00\x81\x00"), false, "binary: text: ");
}

TEST(a_control_frame_may_stand_between_fragments)
{
	check_run(STR("\x01\x03Hel\x89\x01!\x80\x02lo\x88\x00"), false, "text:Hel(ping 0:!)lo (close 0:)");
}

TEST(what_the_rfc_forbids_is_refused_with_its_code)
{
	static const struct {
		struct str text;
		bool from_client;
		const char *want;
	} cases[] = {
		{ STR("\x81\x05Hello"), true, "!1002" },          /* not masked */
		{ STR("\x81\x85\0\0\0\0Hello"), false, "!1002" }, /* masked */
		{ STR("\xc1\x00"), false, "!1002" },              /* reserved bit */
		{ STR("\x83\x00"), false, "!1002" },              /* opcode */
		{ STR("\x8b\x00"), false, "!1002" },
		{ STR("\x80\x00"), false, "!1002" },         /* continues nothing */
		{ STR("\x01\x00\x01\x00"), false, "!1002" }, /* a message in a message */
		{ STR("\x09\x00"), false, "!1002" },         /* fragmented ping */
		{ STR("\x89\x7e\x00\x7e"), false, "!1002" }, /* long ping */
		{ STR("\x82\x7e\x00\x05"), false, "!1002" }, /* length not shortest */
		{ STR("\x82\x7f\0\0\0\0\0\0\xff\xff"), false, "!1002" },
		{ STR("\x82\x7f\x80\0\0\0\0\0\0\0"), false, "!1002" },
		{ STR("\x82\x7e\x03\xe9"), false, "!1009" }, /* 1001 bytes */
		{ STR("\x82\x7f\0\0\0\0\0\1\0\0"), false, "!1009" },
		{ STR("\x88\x01\x03"), false, "!1002" },     /* half a code */
		{ STR("\x88\x02\x03\xed"), false, "!1002" }, /* 1005 */
		{ STR("\x88\x02\x00\x00"), false, "!1002" },
		{ STR("\x88\x02\x13\x88"), false, "!1002" }, /* 5000 */
		{ STR("\x88\x03\x03\xe8\xff"), false, "!1007" },
		{ STR("\x88\x00\x81\x00"), false, "(close 0:)!1002" }, /* a frame behind the close */
		{ STR("\x81\x01\xff"), false, "!1007" },
		{ STR("\x81\x02\xc3\x28"), false, NULL },
		{ STR("\x81\x03\xed\xa0\x80"), false, NULL },     /* a surrogate */
		{ STR("\x81\x02\xc0\x80"), false, NULL },         /* overlong */
		{ STR("\x81\x04\xf4\x90\x80\x80"), false, NULL }, /* above U+10FFFF */
		{ STR("\x81\x02\xe2\x82"), false, NULL },         /* cut off */
		{ STR("\x01\x01\xc3\x80\x01z"), false, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (cases[i].want) {
			check_run(cases[i].text, cases[i].from_client, cases[i].want);
			continue;
		}
		/* How much of the text was given before depends on the cut; that it is refused does not. */
		for (size_t step = 1; step <= cases[i].text.n; step++) {
			_cleanup_buf_ struct buf b;

			buf_init(&b, 4096);
			run(cases[i].text, cases[i].from_client, step, &b);
			CHECK_CASE(str_ends(buf_str(&b), STR("!1007")), "case %zu by %zu: %s", i, step, b.p);
		}
	}
}

TEST(a_code_point_may_lie_across_fragments)
{
	check_run(STR("\x01\x01\xe2\x00\x01\x82\x80\x01\xac"), false, "text:\xe2\x82\xac ");
}

TEST(what_is_written_is_read_back_at_every_size_of_the_length)
{
	static const size_t sizes[] = { 0, 1, 125, 126, 127, 65535, 65536, 70000 };
	_cleanup_free_ char *data = calloc(1, 70000);

	assert_non_null(data);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int masked = 0; masked < 2; masked++) {
			struct str payload = { data, sizes[i] }, piece;
			_cleanup_buf_ struct buf b;
			struct ws_reader r;
			size_t n, got = 0;
			enum ws_event e;
			char *in;

			buf_init(&b, 1 << 20);
			assert_int_equal(masked ? ws_write_masked(&b, WS_BINARY, true, payload, mask)
						: ws_write(&b, WS_BINARY, true, payload),
					 0);
			ws_reader_init(&r, masked, 70000);
			in = b.p;
			n = b.n;
			while ((e = ws_read(&r, &in, &n, &piece)) == WS_DATA) {
				got += piece.n;
				for (size_t k = 0; k < piece.n; k++)
					assert_int_equal(piece.p[k], 0);
			}
			assert_int_equal(e, WS_MORE);
			assert_int_equal(got, sizes[i]);
			assert_true(r.is_last);
		}
}

TEST(what_may_not_be_sent_is_not_written)
{
	static const unsigned codes[] = { 0, 999, 1004, 1005, 1006, 1015, 2999, 5000 };
	static const char long_text[126];
	_cleanup_buf_ struct buf b;

	buf_init(&b, 4096);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		assert_int_equal(ws_write_close(&b, codes[i], STR("x")), -EINVAL);
	assert_int_equal(ws_write_close(&b, 1000, (struct str){ long_text, 124 }), -EMSGSIZE);
	assert_int_equal(ws_write(&b, WS_PING, true, (struct str){ long_text, 126 }), -EMSGSIZE);
	assert_int_equal(ws_write(&b, WS_PING, false, STR("")), -EMSGSIZE);
	assert_int_equal(b.n, 0);
	assert_int_equal(ws_write_close(&b, 1001, STR("bye")), 0);
	check_run(buf_str(&b), false,
		  "(close 1001:\x03\xe9"
		  "bye)");
}

TEST_MAIN()
