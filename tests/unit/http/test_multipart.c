/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/buf.h"
#include "http/multipart.h"

#include <errno.h>

/* "[name/filename/type:data]" for each part, "." at the end, "!" when it is refused, "?" when it is not whole. */
static void run(struct str text, size_t step, struct buf *out)
{
	size_t given = 0;
	struct multipart m;
	struct str in = { text.p, 0 }, piece;

	assert_int_equal(multipart_init(&m, STR("multipart/form-data; boundary=B"), 3), 0);
	for (;;) {
		enum multipart_event e = multipart_next(&m, &in, &piece);

		if (e == MULTIPART_PART)
			buf_printf(out, "[%.*s/%.*s/%.*s:", (int)m.name.n, m.name.p, (int)m.filename.n,
				   m.filename.p, (int)m.type.n, m.type.p);
		else if (e == MULTIPART_DATA)
			buf_put(out, piece);
		else if (e == MULTIPART_PART_END)
			buf_putc(out, ']');
		else if (e == MULTIPART_BAD || given == text.n) {
			assert_true(e != MULTIPART_BAD || m.reason);
			buf_putc(out, e == MULTIPART_BAD ? '!' : e == MULTIPART_END ? '.' : '?');
			return;
		} else {
			size_t more = text.n - given < step ? text.n - given : step;

			given += more;
			in.n += more;
		}
	}
}

static void check_run(struct str text, const char *want)
{
	for (size_t step = 1; step <= text.n; step++) {
		_cleanup_buf_ struct buf b;

		buf_init(&b, 1 << 16);
		run(text, step, &b);
		CHECK_STR(buf_str(&b), str_z(want));
	}
}

#define NAMED(name) "Content-Disposition: form-data; name=\"" name "\"\r\n"

TEST(parts_are_the_same_wherever_they_were_cut)
{
	check_run(
		STR("--B\r\n" NAMED(
			"a") "\r\nhello\r\n--B\r\n"
			     "content-type: text/x\r\nContent-Disposition:form-data; filename=f.txt; name=b\r\n\r\n"
			     "\r\n-\r\n--\r\n--A\r\n\r\n--B--\r\n"),
		"[a//:hello][b/f.txt/text/x:\r\n-\r\n--\r\n--A\r\n].");
	check_run(STR("--B\r\n" NAMED("empty") "\r\n\r\n--B--"), "[empty//:].");
	check_run(STR("--B\r\n" NAMED("empty") "\r\n\r\n\r\n--B--"), "[empty//:\r\n].");
	check_run(STR("--B--\r\n"), ".");
}

TEST(a_body_that_is_not_whole_says_so)
{
	check_run(STR("--B\r\n" NAMED("a") "\r\nhello"), "[a//:hello?");
	check_run(STR("--B\r\n" NAMED("a")), "?");
	check_run(STR("--"), "?");
}

TEST(what_is_not_strictly_a_form_is_refused)
{
	static const char *const cases[] = {
		"preamble\r\n--B\r\n",
		"\r\n--B\r\n",
		"--BXY",
		"--B \r\n",
		"--B\nx",
		"--B\r\n\r\n\r\ndata\r\n--B--",
		"--B\r\nContent-Type: x\r\n\r\n",
		"--B\r\nContent-Disposition: attachment; name=a\r\n\r\n",
		"--B\r\nContent-Disposition: form-data\r\n\r\n",
		"--B\r\nContent-Disposition: form-data; name=a; name=b\r\n\r\n",
		"--B\r\nContent-Disposition: form-data; name=\"a\\\"\"\r\n\r\n",
		"--B\r\nContent-Disposition: form-data; name=\"a\r\n\r\n",
		"--B\r\nContent-Disposition: form-data; name\r\n\r\n",
		"--B\r\nContent-Disposition: form-data name=a\r\n\r\n",
		"--B\r\n" NAMED("a") NAMED("b") "\r\n",
		"--B\r\n" NAMED("a") "Content-Transfer-Encoding: base64\r\n\r\n",
		"--B\r\n" NAMED("a") " folded\r\n\r\n",
		"--B\r\n" NAMED("a") "X: \x01\r\n\r\n",
		"--B\r\n" NAMED("a") "X: a\nb\r\n\r\n",
		"--B\r\n" NAMED("a") "X : a\r\n\r\n",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t step = 1; step <= strlen(cases[i]); step++) {
			_cleanup_buf_ struct buf b;

			buf_init(&b, 4096);
			run(str_z(cases[i]), step, &b);
			CHECK_CASE(str_eq(buf_str(&b), STR("!")), "case %zu by %zu: %s", i, step, b.p);
		}
	check_run(STR("--B--\r\nepilogue"), "!");
	check_run(STR("--B--x"), "!");
	check_run(STR("--B\r\n" NAMED("a") "\r\nx\r\n--BBB"), "[a//:x!");
}

TEST(parts_and_their_heads_are_bounded)
{
	_cleanup_buf_ struct buf b, out;

	buf_init(&b, 1 << 16);
	buf_init(&out, 1 << 16);
	for (int i = 0; i < 4; i++)
		buf_puts(&b, i ? "\r\n--B\r\n" NAMED("a") "\r\n" : "--B\r\n" NAMED("a") "\r\n");
	run(buf_str(&b), SIZE_MAX, &out);
	CHECK_STR(buf_str(&out), STR("[a//:][a//:][a//:]!"));
	b.n = out.n = 0;
	buf_puts(&b, "--B\r\n" NAMED("a") "X: ");
	while (b.n < MULTIPART_HEAD_MAX + 10)
		buf_putc(&b, 'x');
	run(buf_str(&b), 100, &out);
	CHECK_STR(buf_str(&out), STR("!"));
}

TEST(the_boundary_comes_from_the_content_type)
{
	static const char *const bad[] = {
		"multipart/mixed; boundary=B",
		"multipart/form-data",
		"multipart/form-data; boundary=",
		"multipart/form-data; boundary=\"\"",
		"multipart/form-data; boundary=a; boundary=b",
		"multipart/form-data; boundary=\"a \"",
		"multipart/form-data; boundary=\"a\tb\"",
		"multipart/form-data; boundary=a*b",
		"multipart/form-data; boundary=a b",
		"multipart/form-datax; boundary=a",
		"multipart/form-data; boundary=0123456789012345678901234567890123456789012345678901234567890123456789x",
	};
	struct multipart m;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_CASE(multipart_init(&m, str_z(bad[i]), 1) == -EINVAL, "%s", bad[i]);
	assert_int_equal(multipart_init(&m, STR("Multipart/Form-Data;charset=x; BOUNDARY=\"a b\""), 1), 0);
	assert_int_equal(m.n_delimiter, 7);
}

TEST_MAIN()
