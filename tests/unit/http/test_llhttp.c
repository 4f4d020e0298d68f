/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests from the tests of llhttp, run in place where they lie beside the project: what a strict llhttp refuses is not taken
 * here, and what it takes is either taken or refused for one of the reasons in which this reader is stricter.
 */
#include "vectors.h"

static struct str decode(struct arena *a, struct str text)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *out = arena_alloc(a, text.n + 1, 1);
	unsigned bits = 0, word = 0;
	size_t n = 0;

	for (size_t i = 0; i < text.n && text.p[i] != '='; i++) {
		const char *at = memchr(alphabet, text.p[i], 64);

		assert_non_null(at);
		word = word << 6 | (unsigned)(at - alphabet);
		bits += 6;
		if (bits >= 8)
			out[n++] = (char)(word >> (bits -= 8));
	}
	return (struct str){ out, n };
}

/* Most of the cases are not about Host, and have none. */
static struct str with_host(struct arena *a, struct str raw)
{
	_cleanup_buf_ struct buf b;
	struct str line, rest = raw;

	buf_init(&b, 1 << 20);
	while (str_cut(rest, '\n', &line, &rest)) {
		buf_put(&b, line);
		buf_putc(&b, '\n');
		if (str_ends(line, STR(" HTTP/1.1\r")) && !memmem(raw.p, raw.n, "Host:", 5))
			buf_puts(&b, "Host: x\r\n");
	}
	buf_put(&b, rest);
	return arena_str(a, buf_str(&b));
}

/* In these it is the connection that differs, not the message: both stop there, or a method is not of its list. */
static const char *const not_about_messages[] = {
	"Data after `Connection: close`",
	"Pause on CONNECT/Upgrade",
	"Invalid method for HTTP/x.x request",
	"Expected space after method",
};

/* What is refused here and taken there. */
static const char *const stricter[] = {
	"this is not HTTP", /* more than one empty line between requests */
	"the target is neither a path nor an http address",
	"the request line is not 'METHOD target HTTP/1.1'", /* HTTP/0.9, ICE */
	"the version is not written as HTTP/1.1",           /* RTSP */
	"the target has a byte that no URI may have, or a '%' without two digits",
	"the target's host is not 'host' or 'host:port'",
	"Host is not 'host' or 'host:port'",
	"Host is not the host of the target",
};

static bool is_in(const char *const *list, size_t n, struct str text)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(text, str_z(list[i])))
			return true;
	return false;
}

static void check(const struct value *c, struct arena *a)
{
	struct str raw = with_host(a, decode(a, vectors_text(c, "raw"))), error = vectors_text(c, "error");
	struct str title = vectors_text(c, "title");
	_cleanup_stream_ struct stream s = stream_run(raw, SIZE_MAX);
	bool refused = s.n > 0 && s.status[s.n - 1] >= 400;

	if (error.n == 0)
		CHECK_CASE(!refused ||
				   is_in(stricter, sizeof(stricter) / sizeof(stricter[0]), str_z(s.reason)),
			   "refused: %.*s: %s", (int)title.n, title.p, s.reason);
	else if (!is_in(not_about_messages, sizeof(not_about_messages) / sizeof(not_about_messages[0]),
			error))
		CHECK_CASE(refused || s.n == 0, "taken: %.*s (%.*s)", (int)title.n, title.p, (int)error.n,
			   error.p);
}

TEST(what_llhttp_refuses_is_not_taken_and_what_it_takes_is_refused_only_on_purpose)
{
	_cleanup_vectors_ struct vectors v;

	vectors_load(&v, "CREEL_VECTORS", "http/llhttp-requests.json");
	assert_true(v.cases->arr.n > 100);
	for (size_t i = 0; i < v.cases->arr.n; i++)
		check(&v.cases->arr.v[i], &v.arena);
}

TEST_MAIN()
