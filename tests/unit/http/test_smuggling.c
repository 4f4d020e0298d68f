/* SPDX-License-Identifier: Apache-2.0 */
/* The 23 cases of tests/vectors/http/smuggling.json, through head and body as a server uses them. */
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

TEST_MAIN()
