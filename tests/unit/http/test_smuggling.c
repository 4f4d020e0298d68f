/* SPDX-License-Identifier: Apache-2.0 */
/* The 23 cases of tests/vectors/http/smuggling.json, through head and body, and through a server's sockets. */
#include "serving.h"
#include "vectors.h"

static void check(struct str name, struct str request, struct str expect, size_t step)
{
	_cleanup_stream_ struct stream s = stream_run(request, step);

	if (str_eq(expect, STR("200")))
		CHECK_CASE(s.n == 1 && s.status[0] == 200, "%.*s, by %zu", (int)name.n, name.p, step);
	else if (str_eq(expect, STR("200,200")))
		CHECK_CASE(s.n == 2 && s.status[0] == 200 && s.status[1] == 200, "%.*s, by %zu", (int)name.n,
			   name.p, step);
	else /* "reject ...", always at the first request, and with a status of the client's fault */
		CHECK_CASE(s.n == 1 && (s.status[0] == 400 || s.status[0] == 501) && s.reason,
			   "%.*s, by %zu: %u", (int)name.n, name.p, step, s.n ? s.status[0] : 0);
}

TEST(each_of_the_smuggling_cases_gives_the_stated_result_wherever_it_is_cut)
{
	_cleanup_vectors_ struct vectors v;

	vectors_load(&v, "CREEL_TEST_VECTORS", "http/smuggling.json");
	assert_int_equal(v.cases->arr.n, 23);
	for (size_t i = 0; i < v.cases->arr.n; i++) {
		const struct value *c = &v.cases->arr.v[i];
		struct str request = vectors_text(c, "request");

		assert_true(request.n > 0);
		for (size_t step = 1; step <= request.n; step++)
			check(vectors_text(c, "name"), request, vectors_text(c, "expect"), step);
	}
}

static size_t count(struct str text, const char *what)
{
	size_t n = 0;

	for (const char *at; (at = memmem(text.p, text.n, what, strlen(what))); n++)
		text = str_from(text, (size_t)(at - text.p) + 1);
	return n;
}

TEST(a_server_answers_each_of_the_smuggling_cases_as_stated)
{
	_cleanup_vectors_ struct vectors v;
	_cleanup_serving_ struct serving s;

	vectors_load(&v, "CREEL_TEST_VECTORS", "http/smuggling.json");
	serving_start(&s, NULL);
	for (size_t i = 0; i < v.cases->arr.n; i++) {
		const struct value *c = &v.cases->arr.v[i];
		struct str expect = vectors_text(c, "expect"), name = vectors_text(c, "name");
		size_t want = str_eq(expect, STR("200")) ? 1 : str_eq(expect, STR("200,200")) ? 2 : 0;
		_cleanup_close_ int fd = serving_connect(&s, true);
		_cleanup_buf_ struct buf got;

		buf_init(&got, 65536);
		serving_send(&s, fd, vectors_text(c, "request"));
		/* What is good leaves the connection open; what is refused ends it. */
		CHECK_CASE(serving_read(&s, fd, &got, want ? "HTTP/1.1 200" : NULL, want) == (want > 0),
			   "%.*s", (int)name.n, name.p);
		CHECK_CASE(count(buf_str(&got), "HTTP/1.1 200") == want, "%.*s", (int)name.n, name.p);
		CHECK_CASE(count(buf_str(&got), "Connection: close") == (want ? 0 : 1), "%.*s", (int)name.n,
			   name.p);
	}
}

TEST_MAIN()
