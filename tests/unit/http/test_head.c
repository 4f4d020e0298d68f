/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include <errno.h>

static struct http_field fields[STREAM_FIELDS];

static enum http_result parse(struct http_head *h, const char *text)
{
	http_head_init(h, HTTP_REQUEST, HTTP_OTHER, NULL, fields, STREAM_FIELDS);
	return http_head_parse(h, str_z(text));
}

static enum http_result parse_response(struct http_head *h, enum http_method asked, const char *text)
{
	http_head_init(h, HTTP_RESPONSE, asked, NULL, fields, STREAM_FIELDS);
	return http_head_parse(h, str_z(text));
}

TEST(a_request_is_read_into_slices_of_its_own_bytes)
{
	const char *text = "POST /v1/calls?x=%20a HTTP/1.1\r\nHost: localhost:18888\r\nContent-Length: 5\r\n"
			   "Authorization:Bearer abc \t\r\n\r\nhello";
	struct http_head h;
	struct str token;

	assert_int_equal(parse(&h, text), HTTP_DONE);
	assert_int_equal(h.method, HTTP_POST);
	assert_int_equal(h.form, HTTP_ORIGIN);
	assert_int_equal(h.minor, 1);
	CHECK_STR(http_head_slice(&h, h.path), STR("/v1/calls"));
	CHECK_STR(http_head_slice(&h, h.query), STR("x=%20a"));
	CHECK_STR(http_head_slice(&h, h.host), STR("localhost:18888"));
	assert_int_equal(h.framing, HTTP_LENGTH);
	assert_int_equal(h.length, 5);
	assert_true(h.keep_alive);
	assert_int_equal(http_head_one(&h, STR("AUTHORIZATION"), &token), 0);
	CHECK_STR(token, STR("Bearer abc"));
	assert_ptr_equal(token.p, strstr(text, "Bearer"));
	CHECK_STR(str_from(str_z(text), h.n_bytes), STR("hello"));
}

TEST(a_head_means_the_same_wherever_its_pieces_were_cut)
{
	const struct str text = STR(
		"GET http://a.example:80/p?q HTTP/1.1\r\nHost: a.example\r\nX: 1\r\nConnection: close\r\n\r\n");

	for (size_t step = 1; step <= text.n; step++) {
		struct http_head h;

		http_head_init(&h, HTTP_REQUEST, HTTP_OTHER, NULL, fields, STREAM_FIELDS);
		assert_int_equal(stream_head(&h, text, step), HTTP_DONE);
		assert_int_equal(h.n_bytes, text.n);
		CHECK_STR(http_head_slice(&h, h.path), STR("/p"));
		CHECK_STR(http_head_slice(&h, h.host), STR("a.example:80"));
		assert_false(h.keep_alive);
	}
}

TEST(a_part_of_a_head_asks_for_more)
{
	const char *text = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

	for (size_t n = 0; n < strlen(text); n++) {
		struct http_head h;

		http_head_init(&h, HTTP_REQUEST, HTTP_OTHER, NULL, fields, STREAM_FIELDS);
		assert_int_equal(http_head_parse(&h, (struct str){ text, n }), HTTP_MORE);
	}
}

TEST(the_target_has_the_form_that_its_method_allows)
{
	static const struct {
		const char *line;
		enum http_form form;
		const char *authority, *path;
	} cases[] = {
		{ "GET / HTTP/1.1", HTTP_ORIGIN, "", "/" },
		{ "GET //x/../y;p=1 HTTP/1.1", HTTP_ORIGIN, "", "//x/../y;p=1" },
		{ "GET http://h HTTP/1.1", HTTP_ABSOLUTE, "h", "" },
		{ "GET HTTP://h/a HTTP/1.1", HTTP_ABSOLUTE, "h", "/a" },
		{ "OPTIONS * HTTP/1.1", HTTP_ASTERISK, "", "" },
		{ "CONNECT h:443 HTTP/1.1", HTTP_AUTHORITY, "h:443", "" },
		{ "BREW /pot HTTP/1.1", HTTP_ORIGIN, "", "/pot" },
		/* Refused. */
		{ "GET h:443 HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "GET * HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "CONNECT / HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "CONNECT h HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "CONNECT http://h:1/ HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "CONNECT h:0 HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "CONNECT h:65536 HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "GET ftp://h/ HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "GET http:///a HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "GET http://user@h/a HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "GET http://h:/a HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "GET /a#b HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "GET /% HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "GET /%4 HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "GET /%4g HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "GET /a b HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "GET /\\ HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "GET /\xc3\xa4 HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
		{ "GET a HTTP/1.1", HTTP_FORM_NONE, NULL, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];
		struct http_head h;
		enum http_result r;

		(void)snprintf(text, sizeof(text), "%s\r\nHost: h\r\n\r\n", cases[i].line);
		r = parse(&h, text);
		CHECK_CASE((r == HTTP_DONE) == (cases[i].form != HTTP_FORM_NONE), "%s", cases[i].line);
		if (r != HTTP_DONE) {
			CHECK_CASE(h.fault.status == 400, "%s", cases[i].line);
			continue;
		}
		CHECK_CASE(h.form == cases[i].form, "%s", cases[i].line);
		CHECK_STR(http_head_slice(&h, h.authority), str_z(cases[i].authority));
		CHECK_STR(http_head_slice(&h, h.path), str_z(cases[i].path));
	}
}

/* Each is a whole head; the status is what it is answered with. */
static const struct {
	const char *text;
	unsigned status;
} refused[] = {
	{ "GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505 },
	{ "GET / HTTP/1.2\r\nHost: x\r\n\r\n", 505 },
	{ "GET / HTTP/0.9\r\nHost: x\r\n\r\n", 505 },
	{ "GET / http/1.1\r\nHost: x\r\n\r\n", 400 },
	{ "GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 400 },
	{ "GET /\r\n\r\n", 400 },
	{ "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400 },
	{ "GET /  HTTP/1.1\r\nHost: x\r\n\r\n", 400 },
	{ " GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400 },
	{ "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 400 },
	{ "\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 400 },
	{ "G(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: x\r\nname\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: x\r\na b: c\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: x\r\na: \x7f\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: x\r\na: \x01\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: x\r\na: b\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: x\r\n\n", 400 },
	{ "GET / HTTP/1.1\r\nHost:\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: x y\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: x, y\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: u@x\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: x:80:81\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400 },
	{ "GET / HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n", 400 },
	{ "GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", 400 },
	{ "GET http://a:8080/ HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
	{ "CONNECT a:443 HTTP/1.1\r\nHost: b:443\r\n\r\n", 400 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", 400 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 5\r\n\r\n", 400 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n", 400 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x5\r\n\r\n", 400 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9223372036854775808\r\n\r\n", 400 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8388609\r\n\r\n", 413 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n", 501 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n\r\n", 400 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked,\r\n\r\n", 400 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \"chunked\"\r\n\r\n", 501 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 400 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked;q=1\r\n\r\n", 501 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
	  400 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n", 400 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n", 400 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\x0b\r\n\r\n", 400 },
	{ "CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\nContent-Length: 5\r\n\r\n", 400 },
	{ "TRACE / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n", 400 },
	{ "POST / HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\n\r\n", 417 },
	{ "GET / HTTP/1.1\r\nHost: x\r\nConnection: close, Content-Length\r\n\r\n", 400 },
	{ "GET / HTTP/1.1\r\nHost: x\r\nConnection: a b\r\n\r\n", 400 },
	{ "\x16\x03\x01", 400 },
};

TEST(what_could_be_understood_in_two_ways_is_refused_with_a_status_and_a_reason)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct http_head h;

		CHECK_CASE(parse(&h, refused[i].text) == HTTP_BAD, "accepted: %s", refused[i].text);
		CHECK_CASE(h.fault.status == refused[i].status, "%u for %s", h.fault.status, refused[i].text);
		assert_non_null(h.fault.reason);
		assert_false(h.keep_alive);
		/* And it stays refused. */
		CHECK_CASE(http_head_parse(&h, str_z(refused[i].text)) == HTTP_BAD, "%s", refused[i].text);
	}
}

TEST(no_control_character_is_taken_in_a_name_a_value_or_a_target)
{
	/* Where the byte under test stands. */
	static const char *const texts[] = { "GET /@ HTTP/1.1\r\nHost: x\r\n\r\n",
					     "GET / HTTP/1.1\r\nHost: x\r\na@: b\r\n\r\n",
					     "GET / HTTP/1.1\r\nHost: x\r\na: b@b\r\n\r\n" };

	for (int c = 0; c < 256; c++)
		for (size_t i = 0; i < 3; i++) {
			_cleanup_free_ char *text = strdup(texts[i]);
			struct str s = str_z(texts[i]);
			struct http_head h;
			enum http_result r;

			assert_non_null(text);
			*strchr(text, '@') = (char)c;
			http_head_init(&h, HTTP_REQUEST, HTTP_OTHER, NULL, fields, STREAM_FIELDS);
			r = http_head_parse(&h, (struct str){ text, s.n });
			if ((c < 0x20 && !(c == '\t' && i == 2)) || c == 0x7f || (c >= 0x80 && i < 2))
				CHECK_CASE(r == HTTP_BAD, "byte %d at place %zu is taken", c, i);
			if (i == 2 && c >= 0x20 && c != 0x7f)
				CHECK_CASE(r == HTTP_DONE, "byte %d is not taken in a value", c);
		}
}

TEST(what_is_too_long_or_too_much_says_which)
{
	const struct http_limits small = { .head_bytes = 256, .line_bytes = 64, .body_bytes = 10 };
	static const struct {
		const char *begin;
		unsigned status;
	} cases[] = { { "GET /", 414 }, { "GET / HTTP/1.1\r\nX: ", 431 } };

	for (size_t i = 0; i < 2; i++)
		for (size_t whole = 0; whole < 2; whole++) {
			char text[512];
			int n = snprintf(text, sizeof(text), "%s%0*d%s", cases[i].begin, 65, 0,
					 whole ? " HTTP/1.1\r\nHost: x\r\n\r\n" : "");
			struct http_head h;

			http_head_init(&h, HTTP_REQUEST, HTTP_OTHER, &small, fields, STREAM_FIELDS);
			assert_int_equal(http_head_parse(&h, (struct str){ text, (size_t)n }), HTTP_BAD);
			assert_int_equal(h.fault.status, cases[i].status);
		}
}

TEST(a_head_may_be_as_long_as_the_limit_and_no_longer)
{
	const char *text = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	struct http_limits l = http_limits_default;
	struct http_head h;

	l.head_bytes = (uint32_t)strlen(text);
	http_head_init(&h, HTTP_REQUEST, HTTP_OTHER, &l, fields, STREAM_FIELDS);
	assert_int_equal(http_head_parse(&h, str_z(text)), HTTP_DONE);
	l.head_bytes--;
	http_head_init(&h, HTTP_REQUEST, HTTP_OTHER, &l, fields, STREAM_FIELDS);
	assert_int_equal(http_head_parse(&h, str_z(text)), HTTP_BAD);
	assert_int_equal(h.fault.status, 431);
}

TEST(more_fields_than_there_is_room_for_are_refused)
{
	struct http_head h;

	http_head_init(&h, HTTP_REQUEST, HTTP_OTHER, NULL, fields, 2);
	assert_int_equal(http_head_parse(&h, STR("GET / HTTP/1.1\r\nHost: x\r\na: b\r\n\r\n")), HTTP_DONE);
	http_head_init(&h, HTTP_REQUEST, HTTP_OTHER, NULL, fields, 2);
	assert_int_equal(http_head_parse(&h, STR("GET / HTTP/1.1\r\nHost: x\r\na: b\r\nc: d\r\n\r\n")),
			 HTTP_BAD);
	assert_int_equal(h.fault.status, 431);
}

TEST(keep_alive_follows_version_and_connection)
{
	static const struct {
		const char *version, *connection;
		bool keep;
	} cases[] = {
		{ "1.1", "x", true },
		{ "1.1", "close", false },
		{ "1.1", "keep-alive, CLOSE", false },
		{ "1.0", "x", false },
		{ "1.0", "Keep-Alive", true },
		{ "1.0", "keep-alive, close", false },
		{ "1.1", ", ,te,", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];
		struct http_head h;

		(void)snprintf(text, sizeof(text), "GET / HTTP/%s\r\nHost: x\r\nConnection: %s\r\n\r\n",
			       cases[i].version, cases[i].connection);
		assert_int_equal(parse(&h, text), HTTP_DONE);
		CHECK_CASE(h.keep_alive == cases[i].keep, "%s", text);
	}
}

TEST(expect_and_upgrade_count_where_they_mean_something)
{
	struct http_head h;

	assert_int_equal(
		parse(&h, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: 100-Continue\r\n\r\n"),
		HTTP_DONE);
	assert_true(h.expect_continue);
	assert_int_equal(parse(&h, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n"), HTTP_DONE);
	assert_false(h.expect_continue);
	assert_int_equal(parse(&h, "POST / HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n"),
			 HTTP_DONE);
	assert_false(h.expect_continue);
	assert_int_equal(
		parse(&h, "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"),
		HTTP_DONE);
	assert_true(h.wants_upgrade);
	assert_int_equal(parse(&h, "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n"), HTTP_DONE);
	assert_false(h.wants_upgrade);
}

TEST(a_field_that_is_there_twice_has_no_one_value)
{
	struct http_head h;
	struct str v;

	assert_int_equal(parse(&h, "GET / HTTP/1.1\r\nHost: x\r\nA: 1\r\nB: 2\r\na: 3\r\n\r\n"), HTTP_DONE);
	assert_int_equal(http_head_one(&h, STR("a"), &v), -EEXIST);
	assert_int_equal(http_head_one(&h, STR("b"), &v), 0);
	assert_int_equal(http_head_one(&h, STR("c"), &v), -ENOENT);
}

TEST(an_answer_is_framed_by_what_was_asked_and_what_it_says)
{
	static const struct {
		enum http_method asked;
		const char *text;
		enum http_framing framing;
		bool keep;
	} cases[] = {
		{ HTTP_GET, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", HTTP_LENGTH, true },
		{ HTTP_HEAD, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", HTTP_NO_BODY, true },
		{ HTTP_GET, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", HTTP_CHUNKED, true },
		{ HTTP_GET, "HTTP/1.1 200 \r\n\r\n", HTTP_UNTIL_CLOSE, false },
		{ HTTP_GET, "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", HTTP_LENGTH, false },
		{ HTTP_GET, "HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n", HTTP_NO_BODY, true },
		{ HTTP_GET, "HTTP/1.1 304 Not\r\nContent-Length: 9\r\n\r\n", HTTP_NO_BODY, true },
		{ HTTP_GET, "HTTP/1.1 100 Continue\r\n\r\n", HTTP_NO_BODY, true },
		{ HTTP_CONNECT, "HTTP/1.1 200 OK\r\n\r\n", HTTP_NO_BODY, true },
		{ HTTP_CONNECT, "HTTP/1.1 407 No\r\n\r\n", HTTP_UNTIL_CLOSE, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_head h;

		CHECK_CASE(parse_response(&h, cases[i].asked, cases[i].text) == HTTP_DONE, "%s",
			   cases[i].text);
		CHECK_CASE(h.framing == cases[i].framing && h.keep_alive == cases[i].keep, "%s",
			   cases[i].text);
	}
}

TEST(an_ambiguous_answer_is_a_bad_gateway)
{
	static const char *const cases[] = {
		"HTTP/1.1 200\r\n\r\n",
		"HTTP/1.1 099 x\r\n\r\n",
		"HTTP/1.1 600 x\r\n\r\n",
		"HTTP/1.1 2000 x\r\n\r\n",
		"HTTP/1.1  200 x\r\n\r\n",
		"HTTP/2.0 200 x\r\n\r\n",
		"\r\nHTTP/1.1 200 OK\r\n\r\n",
		"ICY 200 OK\r\n\r\n",
		"HTTP/1.1 200 a\x01\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
		"HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n",
		"HTTP/1.1 101 Up\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 8388609\r\n\r\n",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_head h;

		CHECK_CASE(parse_response(&h, HTTP_GET, cases[i]) == HTTP_BAD, "accepted: %s", cases[i]);
		CHECK_CASE(h.fault.status == 502, "%u for %s", h.fault.status, cases[i]);
	}
}

TEST_MAIN()
