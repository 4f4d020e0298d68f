/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/err.h"

#include <errno.h>
#include <limits.h>

TEST(err_fits_one_atomic_pipe_write)
{
	assert_int_equal(sizeof(struct err), 512);
	assert_true(sizeof(struct err) <= _POSIX_PIPE_BUF);
}

TEST(err_set_says_kind_and_text)
{
	struct err e = { .sys_errno = 7 };
	int r = err_set(&e, ERR_DENIED, "tool '%s' is denied", "rm");

	assert_true(r < 0);
	assert_int_equal(e.kind, ERR_DENIED);
	assert_int_equal(e.sys_errno, 0);
	assert_string_equal(e.msg, "tool 'rm' is denied");
}

TEST(err_sys_adds_the_reason_in_english)
{
	struct err e = { 0 };

	assert_true(err_sys(&e, ENOENT, "open '%s'", "x") < 0);
	assert_int_equal(e.kind, ERR_SYS);
	assert_int_equal(e.sys_errno, ENOENT);
	assert_string_equal(e.msg, "open 'x': No such file or directory");
}

TEST(err_sys_knows_no_errno_and_still_answers)
{
	struct err e = { 0 };

	assert_true(err_sys(&e, 99999, "call") < 0);
	assert_string_equal(e.msg, "call: unknown error");
}

TEST(err_wrap_puts_context_in_front_and_keeps_the_kind)
{
	struct err e = { 0 };

	(void)err_sys(&e, EACCES, "open");
	assert_true(err_wrap(&e, "load '%s'", "c.json5") < 0);
	assert_string_equal(e.msg, "load 'c.json5': open: Permission denied");
	assert_int_equal(e.kind, ERR_SYS);
	assert_int_equal(e.sys_errno, EACCES);
}

TEST(err_text_too_long_is_cut_and_ends_in_nul)
{
	struct err e;
	char big[2000];

	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	memset(&e, 'z', sizeof(e));
	assert_true(err_set(&e, ERR_USAGE, "%s", big) < 0);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);

	memset(&e, 'z', sizeof(e));
	assert_true(err_sys(&e, ENOENT, "%s", big) < 0);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	assert_int_equal(e.sys_errno, ENOENT);
}

TEST(err_wrap_of_every_length_stays_inside)
{
	for (int n = 480; n < 510; n++) {
		struct err e = { 0 };

		(void)err_set(&e, ERR_USAGE, "inner");
		(void)err_wrap(&e, "%0*d", n, 0);
		assert_true(strlen(e.msg) < sizeof(e.msg));
		assert_true(strlen(e.msg) >= (size_t)(n < 503 ? n : 503));
	}
}

TEST(err_kind_has_name_status_and_exit_code)
{
	static const struct {
		enum err_kind kind;
		const char *name;
		unsigned http;
		int exit;
	} want[] = {
		{ ERR_NONE, "none", 200, 0 },        { ERR_USAGE, "usage", 400, 125 },
		{ ERR_DENIED, "denied", 403, 126 },  { ERR_NOTFOUND, "not-found", 404, 125 },
		{ ERR_LIMIT, "limit", 413, 125 },    { ERR_UNAVAIL, "unavailable", 503, 125 },
		{ ERR_PROTO, "protocol", 502, 125 }, { ERR_SYS, "system", 500, 125 },
		{ ERR_BUG, "bug", 500, 125 },
	};

	assert_int_equal(sizeof(want) / sizeof(want[0]), ERR_KIND_COUNT_);
	for (size_t i = 0; i < ERR_KIND_COUNT_; i++) {
		assert_string_equal(err_kind_name(want[i].kind), want[i].name);
		assert_int_equal(err_kind_http(want[i].kind), want[i].http);
		assert_int_equal(err_kind_exit(want[i].kind), want[i].exit);
	}
}

TEST(err_kind_out_of_range_is_a_failure_not_a_crash)
{
	assert_string_equal(err_kind_name(ERR_KIND_COUNT_), "unknown");
	assert_int_equal(err_kind_http(ERR_KIND_COUNT_), 500);
	assert_int_equal(err_kind_exit(ERR_KIND_COUNT_), 125);
}

TEST_MAIN()
