/* SPDX-License-Identifier: Apache-2.0 */
/* What somebody outside is told of a reason. */
#include "server/cause.h"

#include "check.h"

static struct str put(const char *text)
{
	static char room[1024];
	struct buf b;

	memset(room, 0, sizeof(room));
	buf_init_on(&b, sizeof(room) - 1, room, sizeof(room) - 1);
	cause_put(&b, str_z(text));
	assert_false(b.failed);
	buf_done(&b);
	return str_z(room);
}

TEST(a_cause_has_no_name_of_a_file_of_the_host)
{
	CHECK_STR(put("open '/home/me/my files/x': No such file"), STR("open '(path)': No such file"));
	CHECK_STR(put("open /srv/creel/a, /srv/b; (/c) \"/d e\" =/f ~/g x:/h"),
		  STR("open (path), (path); ((path)) \"(path)\" =(path) (path) x:(path)"));
	CHECK_STR(put("/first"), STR("(path)"));
	CHECK_STR(put("connect 'unix:/run/my dir/x' and \"a /b c\" don't /d e"),
		  STR("connect 'unix:(path)' and \"a (path)\" don't (path) e"));
	CHECK_STR(put("'/not closed and on"), STR("'(path)"));
}

TEST(a_cause_keeps_what_only_looks_like_a_path)
{
	CHECK_STR(put("and/or 10/s walls.optional=limits"), STR("and/or 10/s walls.optional=limits"));
	CHECK_STR(put(""), STR(""));
	CHECK_STR(put("a ~ b"), STR("a ~ b"));
}

TEST(a_cause_is_one_line_and_short)
{
	char text[2000];

	CHECK_STR(put("one\ntwo /three"), STR("one"));
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(put(text).n, CAUSE_MAX);
	/* A character is not cut in two. */
	memset(text, 'x', CAUSE_MAX - 1);
	memcpy(text + CAUSE_MAX - 1, "\xc3\xa9y", 4);
	assert_int_equal(put(text).n, CAUSE_MAX - 1);
	/* Nor is what replaces a path room for more. */
	for (size_t i = 0; i + 3 < sizeof(text); i += 3)
		memcpy(text + i, "/a ", 4);
	assert_true(put(text).n <= CAUSE_MAX);
}

TEST_MAIN()
