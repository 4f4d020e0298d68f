/* SPDX-License-Identifier: Apache-2.0 */
#include "calling.h"

/* "name:type" of all entries, joined by blanks. */
static struct str names(struct call *c)
{
	const struct value *list = got(c, "entries");
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 1 << 16);
	for (size_t i = 0; i < list->arr.n; i++) {
		buf_puts(&b, i ? " " : "");
		buf_put(&b, value_get(&list->arr.v[i], STR("name"))->s);
		buf_putc(&b, ':');
		buf_put(&b, (struct str){ value_get(&list->arr.v[i], STR("type"))->s.p, 1 });
	}
	return arena_str(&c->arena, buf_str(&b));
}

TEST(ls_is_sorted_and_knows_types_and_sizes)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "b.txt", STR("12345"), 0644);
	yard_put(p.work, "a.sh", STR(""), 0755);
	assert_int_equal(mkdirat(p.work, "dir", 0755), 0);
	assert_int_equal(symlinkat("/nowhere", p.work, "link"), 0);
	assert_int_equal(mkfifoat(p.work, ".pipe", 0644), 0);
	call_ok(&c, "ls", "{}");
	CHECK_STR(names(&c), STR(".pipe:f a.sh:f b.txt:f dir:d link:l"));
	CHECK_STR(value_get(&got(&c, "entries")->arr.v[0], STR("type"))->s, STR("fifo"));
	assert_int_equal(value_get(&got(&c, "entries")->arr.v[2], STR("size"))->i, 5);
	assert_non_null(value_get(&got(&c, "entries")->arr.v[1], STR("executable")));
	assert_null(value_get(&got(&c, "entries")->arr.v[2], STR("executable")));
	assert_false(got_bool(&c, "truncated"));
	assert_int_equal(got_int(&c, "shown"), 5);
}

TEST(ls_goes_down_as_far_as_told_and_follows_no_link)
{
	YARD(p);
	CALL(c, p);

	assert_int_equal(mkdirat(p.work, "d", 0755), 0);
	assert_int_equal(mkdirat(p.work, "d/e", 0755), 0);
	yard_put(p.work, "d/e/f", STR(""), 0644);
	assert_int_equal(symlinkat("..", p.work, "d/up"), 0);
	call_ok(&c, "ls", "{recursive:true}");
	CHECK_STR(names(&c), STR("d:d d/e:d d/e/f:f d/up:l"));
	call_ok(&c, "ls", "{depth:2}");
	CHECK_STR(names(&c), STR("d:d d/e:d d/up:l"));
	call_ok(&c, "ls", "{path:'d/e'}");
	CHECK_STR(names(&c), STR("f:f"));
	call_ok(&c, "ls", "{path:'/'}");
	assert_true(strstr(names(&c).p, "work:d")); /* of a sandbox there is more */
	call_ok(&c, "ls", "{path:'d/up', depth:1}");
	CHECK_STR(names(&c), STR("d:d"));
}

TEST(ls_of_a_large_directory_is_cut_and_says_so)
{
	YARD(p);
	CALL(c, p);
	char name[32];

	for (int i = 0; i < 3000; i++) {
		(void)snprintf(name, sizeof(name), "f%04d", 2999 - i);
		(void)fd_close(openat(p.work, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	}
	call_ok(&c, "ls", "{limit:2}");
	CHECK_STR(names(&c), STR("f0000:f f0001:f"));
	assert_true(got_bool(&c, "truncated"));
	assert_int_equal(got_int(&c, "atLeast"), 3000);
	call_ok(&c, "ls", "{limit:3000}");
	assert_false(got_bool(&c, "truncated"));
}

TEST(ls_shows_names_that_are_no_text)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "new\nline", STR(""), 0644);
	yard_put(p.work, "\xff\x01", STR(""), 0644);
	call_ok(&c, "ls", "{}");
	CHECK_STR(names(&c), STR("new\nline:f \xef\xbf\xbd\x01:f"));
}

TEST(ls_refuses_what_is_no_directory)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "f", STR(""), 0644);
	call_fails(&c, "ls", "{path:'f'}", ERR_USAGE, "cannot list 'f'");
	call_fails(&c, "ls", "{path:'gone'}", ERR_NOTFOUND, "cannot list 'gone'");
}

TEST_MAIN()
