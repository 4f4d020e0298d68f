/* SPDX-License-Identifier: Apache-2.0 */
#include "calling.h"

TEST(edit_replaces_what_is_there_once)
{
	YARD(p);
	CALL(c, p);
	struct stat st;

	yard_put(p.work, "a", STR("int a;\nint b;\nint c;"), 0600);
	call_ok(&c, "edit", "{path:'a', oldText:'int b;', newText:'long b;\\nlong d;'}");
	YARD_CHECK(p.work, "a", STR("int a;\nlong b;\nlong d;\nint c;"));
	assert_int_equal(got_int(&c, "replacements"), 1);
	assert_int_equal(got_int(&c, "firstLine"), 2);
	assert_int_equal(fstatat(p.work, "a", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	call_ok(&c, "edit", "{path:'a', oldText:'int c;', newText:''}");
	YARD_CHECK(p.work, "a", STR("int a;\nlong b;\nlong d;\n"));
}

TEST(edit_with_two_matches_says_where_and_changes_nothing)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("x = 1\ny\nx = 1\n"), 0644);
	call_fails(
		&c, "edit", "{path:'a', oldText:'x = 1', newText:'x = 2'}", ERR_USAGE,
		"is in 'a' 2 times (lines 1, 3); add lines around it until it is there once, or give replaceAll");
	YARD_CHECK(p.work, "a", STR("x = 1\ny\nx = 1\n"));
	call_ok(&c, "edit", "{path:'a', oldText:'x = 1', newText:'x = 2', replaceAll:true}");
	YARD_CHECK(p.work, "a", STR("x = 2\ny\nx = 2\n"));
	assert_int_equal(got_int(&c, "replacements"), 2);
	call_ok(&c, "edit", "{path:'a', oldText:'y\\nx', newText:'z'}");
	YARD_CHECK(p.work, "a", STR("x = 2\nz = 2\n"));
}

TEST(edit_makes_several_edits_in_order_or_none)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("a b c"), 0644);
	call_ok(&c, "edit", "{path:'a', edits:[{oldText:'a', newText:'bb'}, {oldText:'bb b', newText:'x'}]}");
	YARD_CHECK(p.work, "a", STR("x c"));
	call_fails(
		&c, "edit",
		"{path:'a', edits:[{oldText:'x', newText:'y'}, {oldText:'c', newText:'d'}, {oldText:'x', newText:'z'}]}",
		ERR_USAGE, "edits[2]: oldText is not in 'a'");
	YARD_CHECK(p.work, "a", STR("x c"));
	assert_int_equal(yard_count(p.work), 1);
}

TEST(edit_that_does_not_match_names_what_is_near)
{
	static const struct {
		const char *args, *words;
	} cases[] = {
		{ "{path:'a', oldText:'if (x) {\\n    go();', newText:'n'}",
		  "near: line 2 differs in white space alone" },
		{ "{path:'a', oldText:'IF (x)', newText:'n'}",
		  "near: line 2 differs in white space or upper and lower case alone" },
		{ "{path:'a', oldText:'go();\\nstay();', newText:'n'}",
		  "its line 'stay();' is there, at lines 5" },
		{ "{path:'a', oldText:'int compute_totals(items)\\n', newText:'n'}",
		  "most like it is line 6" },
		{ "{path:'a', oldText:'int compute_nothing_that_is_there(x)', newText:'n'}",
		  "read the file and copy the text exactly" },
		{ "{path:'a', oldText:'nowhere', newText:'n'}", "read the file and copy the text exactly" },
		{ "{path:'a', oldText:'', newText:'n'}", "oldText is empty; write makes a new file" },
		{ "{path:'a', oldText:'x', newText:'x'}", "are the same" },
	};
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a",
		 STR("void f()\n\tif (x) {\n\t\tgo();\n\t}\nstay();\nint compute_total(items)\n"), 0644);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		call_fails(&c, "edit", cases[i].args, ERR_USAGE, cases[i].words);
	call_fails(&c, "edit", "{path:'gone', oldText:'a', newText:'b'}", ERR_NOTFOUND, "no such file");
}

TEST(edit_keeps_the_line_ends_of_a_file)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "dos", STR("one\r\ntwo\r\nthree\r\n"), 0644);
	call_ok(&c, "edit", "{path:'dos', oldText:'one\\ntwo\\n', newText:'1\\n2\\n3\\n'}");
	YARD_CHECK(p.work, "dos", STR("1\r\n2\r\n3\r\nthree\r\n"));
	call_ok(&c, "edit", "{path:'dos', oldText:'2\\r\\n3', newText:'4\\r\\n5'}");
	YARD_CHECK(p.work, "dos", STR("1\r\n4\r\n5\r\nthree\r\n"));
	yard_put(p.work, "mixed", STR("one\r\ntwo\nthree\r\n"), 0644);
	call_ok(&c, "edit", "{path:'mixed', oldText:'two\\n', newText:'2\\n'}");
	YARD_CHECK(p.work, "mixed", STR("one\r\n2\nthree\r\n"));
}

TEST(edit_takes_unicode_and_bytes_that_are_none_as_they_are)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("\xef\xbb\xbf\xff\xfe gr\xc3\xbc\xc3\x9f \xf0\x9f\xa6\x9e\0 end"), 0644);
	call_ok(&c, "edit", "{path:'a', oldText:'gr\\u00fc\\u00df', newText:'hi'}");
	YARD_CHECK(p.work, "a", STR("\xef\xbb\xbf\xff\xfe hi \xf0\x9f\xa6\x9e\0 end"));
}

TEST(edit_replaces_a_million_places_in_reasonable_time)
{
	YARD(p);
	CALL(c, p);
	_cleanup_free_ char *text = malloc(2000000);
	struct stat st;

	for (size_t i = 0; i < 2000000; i += 2)
		memcpy(text + i, "a\n", 2);
	yard_put(p.work, "a", (struct str){ text, 2000000 }, 0644);
	call_ok(&c, "edit", "{path:'a', oldText:'a', newText:'bcd', replaceAll:true}");
	assert_int_equal(got_int(&c, "replacements"), 1000000);
	assert_int_equal(fstatat(p.work, "a", &st, 0), 0);
	assert_int_equal(st.st_size, 4000000);
	call_fails(&c, "edit", "{path:'a', oldText:'bcd', newText:'z'}", ERR_USAGE,
		   "1000000 times (lines 1, 2, 3, 4, 5, 6, 7, 8 …)");
}

TEST(edit_refuses_a_file_that_is_too_large_and_what_is_none)
{
	YARD(p);
	CALL(c, p);
	_cleanup_close_ int fd = openat(p.work, "big", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(ftruncate(fd, (16 << 20) + 1), 0);
	assert_int_equal(mkfifoat(p.work, "fifo", 0666), 0);
	call_fails(&c, "edit", "{path:'big', oldText:'a', newText:'b'}", ERR_LIMIT,
		   "has 16777217 bytes; a file that is changed may have 16777216");
	call_fails(&c, "edit", "{path:'fifo', oldText:'a', newText:'b'}", ERR_USAGE, "FIFO");
	call_fails(&c, "edit", "{path:'.', oldText:'a', newText:'b'}", ERR_USAGE, "directory");
}

/* Changes the file between the moment that it is read and the moment that it is written. */
static struct files_ops meddling;
static const struct files_ops *honest;
static int meddle_dir;

static int put_after_change(struct files *f, const char *path, unsigned flags, const struct files_put *what,
			    bool *ret_existed)
{
	yard_put(meddle_dir, "a", STR("somebody else's, and longer"), 0644);
	return honest->put(f, path, flags, what, ret_existed);
}

TEST(edit_never_overwrites_a_change_that_came_since_it_read)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("mine"), 0644);
	honest = p.files->ops;
	meddling = *honest;
	meddling.put = put_after_change;
	meddle_dir = p.work;
	p.files->ops = &meddling;
	call_fails(&c, "edit", "{path:'a', oldText:'mine', newText:'m'}", ERR_UNAVAIL,
		   "somebody else changed it meanwhile");
	YARD_CHECK(p.work, "a", STR("somebody else's, and longer"));
	assert_int_equal(yard_count(p.work), 1);
}

TEST_MAIN()
