/* SPDX-License-Identifier: Apache-2.0 */
#include "calling.h"

#include "base/sanitize.h"

#include <sys/resource.h>

TEST(read_gives_a_whole_small_file_and_its_numbers)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("one\ntwo\nthree"), 0644);
	call_ok(&c, "read", "{path:'a'}");
	CHECK_STR(got_str(&c, "text"), STR("one\ntwo\nthree"));
	CHECK_STR(got_str(&c, "type"), STR("text"));
	assert_int_equal(got_int(&c, "lines"), 3);
	assert_int_equal(got_int(&c, "totalLines"), 3);
	assert_int_equal(got_int(&c, "bytes"), 13);
	assert_int_equal(got_int(&c, "totalBytes"), 13);
	assert_false(got_bool(&c, "truncated"));
}

TEST(read_of_an_empty_file_is_empty_text)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR(""), 0644);
	call_ok(&c, "read", "{path:'a'}");
	CHECK_STR(got_str(&c, "text"), STR(""));
	assert_int_equal(got_int(&c, "totalLines"), 0);
	assert_false(got_bool(&c, "truncated"));
}

TEST(read_by_lines_starts_where_told_and_says_where_to_go_on)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("1\n2\r\n3\n4\n5"), 0644);
	call_ok(&c, "read", "{path:'a', offset:2, limit:2}");
	CHECK_STR(got_str(&c, "text"), STR("2\r\n3\n"));
	assert_int_equal(got_int(&c, "offset"), 2);
	assert_int_equal(got_int(&c, "lines"), 2);
	assert_int_equal(got_int(&c, "totalLines"), 5);
	assert_int_equal(got_int(&c, "nextOffset"), 4);
	assert_true(got_bool(&c, "truncated"));
	call_ok(&c, "read", "{path:'a', offset:4, limit:99}");
	CHECK_STR(got_str(&c, "text"), STR("4\n5"));
	assert_false(got_bool(&c, "truncated"));
	assert_false(has(&c, "nextOffset"));
	call_ok(&c, "read", "{path:'a', offset:5}");
	CHECK_STR(got_str(&c, "text"), STR("5"));
	call_fails(&c, "read", "{path:'a', offset:6}", ERR_USAGE, "offset is line 6, and 'a' has 5 lines");
}

TEST(read_by_bytes_splits_no_character)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("x\xc3\xa4\xe2\x82\xac!"), 0644);
	call_ok(&c, "read", "{path:'a', byteLimit:2}");
	CHECK_STR(got_str(&c, "text"), STR("x"));
	assert_int_equal(got_int(&c, "nextByteOffset"), 1);
	call_ok(&c, "read", "{path:'a', byteOffset:1, byteLimit:4}");
	CHECK_STR(got_str(&c, "text"), STR("\xc3\xa4"));
	call_ok(&c, "read", "{path:'a', byteOffset:3}");
	CHECK_STR(got_str(&c, "text"), STR("\xe2\x82\xac!"));
	call_ok(&c, "read", "{path:'a', byteOffset:7}");
	CHECK_STR(got_str(&c, "text"), STR(""));
	call_fails(&c, "read", "{path:'a', byteOffset:8}", ERR_USAGE, "has 7 bytes");
}

TEST(read_shows_what_is_not_utf8_as_replacement)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "latin", STR("caf\xe9!\n"), 0644);
	call_ok(&c, "read", "{path:'latin'}");
	CHECK_STR(got_str(&c, "text"), STR("caf\xef\xbf\xbd!\n"));
}

TEST(read_pages_through_a_file_by_what_it_says_and_misses_nothing)
{
	YARD(p);
	CALL(c, p);
	static char text[40000], seen[50000];
	size_t n = 0, have = 0;
	char args[64];

	for (int i = 0; n < sizeof(text) - 40; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "line %d%s\n", i,
				      i % 7 ? "" : " \xc3\xa4\xc3\xb6");
	yard_put(p.work, "a", (struct str){ text, n }, 0644);
	c.ctx.read_bytes = 1000;
	for (int64_t at = 1; at;) {
		(void)snprintf(args, sizeof(args), "{path:'a', offset:%ld}", (long)at);
		call_ok(&c, "read", args);
		assert_true(got_str(&c, "text").n <= 1000);
		memcpy(seen + have, got_str(&c, "text").p, got_str(&c, "text").n);
		have += got_str(&c, "text").n;
		at = has(&c, "nextOffset") ? got_int(&c, "nextOffset") : 0;
	}
	CHECK_STR(((struct str){ seen, have }), ((struct str){ text, n }));
}

TEST(read_cuts_a_line_that_is_too_long_and_leads_on_by_bytes)
{
	YARD(p);
	CALL(c, p);
	static char text[5000];

	memset(text, 'x', sizeof(text));
	yard_put(p.work, "a", (struct str){ text, sizeof(text) }, 0644);
	c.ctx.read_bytes = 1000;
	call_ok(&c, "read", "{path:'a'}");
	assert_int_equal(got_str(&c, "text").n, 1000);
	assert_int_equal(got_int(&c, "nextByteOffset"), 1000);
	assert_int_equal(got_int(&c, "totalLines"), 1);
	assert_true(got_bool(&c, "truncated"));
}

TEST(read_says_what_a_file_is_by_its_content)
{
	static const struct {
		struct str bytes;
		const char *type, *mime;
	} cases[] = {
		{ { "\x89PNG\r\n\x1a\n\0\0", 10 }, "image", "image/png" },
		{ { "\xff\xd8\xff\xe0", 4 }, "image", "image/jpeg" },
		{ { "GIF89a\1\0\1\0", 10 }, "image", "image/gif" },
		{ { "RIFF\1\0\0\0WEBPVP8 ", 16 }, "image", "image/webp" },
		{ { "\x7f"
		    "ELF\2\1\1\0",
		    8 },
		  "binary",
		  "application/x-elf" },
		{ { "%PDF-1.7\n", 9 }, "binary", "application/pdf" },
		{ { "a\0b", 3 }, "binary", "application/octet-stream" },
		{ { "\xff\xfe"
		    "a\0",
		    4 },
		  "binary",
		  "text/plain; charset=utf-16le" },
		{ { "GIF89a is a format", 18 }, "text", "text/plain" },
		{ { "BZh", 3 }, "text", "text/plain" },
		{ { "\xef\xbb\xbf"
		    "bom",
		    6 },
		  "text",
		  "text/plain" },
	};
	YARD(p);
	CALL(c, p);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		yard_put(p.work, "f.txt", cases[i].bytes, 0644);
		call_ok(&c, "read", "{path:'f.txt'}");
		CHECK_STR(got_str(&c, "type"), str_z(cases[i].type));
		CHECK_STR(got_str(&c, "mime"), str_z(cases[i].mime));
	}
}

TEST(read_gives_an_image_whole_and_other_bytes_only_by_number)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "i", STR("\x89PNG\r\n\x1a\n\0!"), 0644);
	call_ok(&c, "read", "{path:'i'}");
	CHECK_STR(got_str(&c, "data"), STR("iVBORw0KGgoAIQ=="));
	c.ctx.read_max = 5;
	c.ctx.read_bytes = 5;
	call_fails(&c, "read", "{path:'i'}", ERR_LIMIT, "the image 'i' has 10 bytes, and may have 5");
	yard_put(p.work, "b", STR("a\0\1\2\3"), 0644);
	call_ok(&c, "read", "{path:'b'}");
	assert_false(has(&c, "data"));
	assert_false(has(&c, "text"));
	assert_int_equal(got_int(&c, "totalBytes"), 5);
	call_ok(&c, "read", "{path:'b', byteOffset:1, byteLimit:2}");
	CHECK_STR(got_str(&c, "data"), STR("AAE="));
	assert_true(got_bool(&c, "truncated"));
}

TEST(read_refuses_what_is_no_file_with_words)
{
	YARD(p);
	CALL(c, p);
	char name[5000] = "{path:'";

	assert_int_equal(mkfifoat(p.work, "fifo", 0666), 0);
	assert_int_equal(symlinkat("loop", p.work, "loop"), 0);
	assert_int_equal(symlinkat("gone", p.work, "dangling"), 0);
	yard_put(p.work, "f", STR("x"), 0644);
	call_fails(&c, "read", "{path:'fifo'}", ERR_USAGE, "'fifo': it is a FIFO, socket or device");
	call_fails(&c, "read", "{path:'/work'}", ERR_USAGE, "it is a directory");
	call_fails(&c, "read", "{path:'missing'}", ERR_NOTFOUND, "there is no such file");
	call_fails(&c, "read", "{path:'dangling'}", ERR_NOTFOUND, "there is no such file");
	call_fails(&c, "read", "{path:'loop'}", ERR_USAGE, "too many symbolic links");
	call_fails(&c, "read", "{path:'f/x'}", ERR_USAGE, "must be a directory");
	memset(name + 7, 'n', 4080);
	memcpy(name + 7 + 4080, "'}", 3);
	call_fails(&c, "read", name, ERR_USAGE, "more than 255 bytes");
	memset(name + 7, 'n', 4500);
	memcpy(name + 7 + 4500, "'}", 3);
	call_fails(&c, "read", name, ERR_LIMIT, "'path' has 4500 bytes, and must be 0..4095");
}

/* A part of a file of 100 MiB must not cost 100 MiB. */
TEST(read_of_a_little_of_a_huge_file_takes_little_memory)
{
	YARD(p);
	CALL(c, p);
	_cleanup_close_ int fd = openat(p.work, "huge", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct rlimit old, small;
	char block[4096];

	memset(block, 'x', sizeof(block));
	block[sizeof(block) - 1] = '\n';
	for (int i = 0; i < 25600; i++)
		assert_int_equal(fd_write_all(fd, (struct str){ block, sizeof(block) }), 0);
	assert_int_equal(getrlimit(RLIMIT_DATA, &old), 0);
	small = (struct rlimit){ (rlim_t)16 << 20, old.rlim_max };
#ifdef SANITIZE_ADDRESS_ON
	small = old; /* the sanitizer's own memory counts, too */
#endif
	assert_int_equal(setrlimit(RLIMIT_DATA, &small), 0);
	(void)call_run(&c, "read", STR("{path:'huge', offset:25000, limit:2}"));
	assert_int_equal(setrlimit(RLIMIT_DATA, &old), 0);
	assert_int_equal(c.r, 0);
	assert_int_equal(got_str(&c, "text").n, 8192);
	assert_int_equal(got_int(&c, "totalLines"), 25600);
	assert_int_equal(got_int(&c, "totalBytes"), 104857600);
	assert_int_equal(got_int(&c, "nextOffset"), 25002);
	call_ok(&c, "read", "{path:'huge', byteOffset:104857590}");
	CHECK_STR(got_str(&c, "text"), STR("xxxxxxxxx\n"));
}

TEST(read_never_gives_more_than_the_limit)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("x\ny\n"), 0644);
	call_fails(&c, "read", "{path:'a', byteLimit:3000000}", ERR_LIMIT, "limits.read_max");
	c.ctx.read_max = 2;
	call_ok(&c, "read", "{path:'a', limit:1000}");
	CHECK_STR(got_str(&c, "text"), STR("x\n"));
	assert_true(got_bool(&c, "truncated"));
}

TEST(read_knows_files_without_a_size)
{
	YARD(p);
	CALL(c, p);

	c.ctx.files = p.system;
	call_ok(&c, "read", "{path:'/proc/self/status'}");
	assert_true(str_starts(got_str(&c, "text"), STR("Name:\t")));
	assert_false(got_bool(&c, "truncated"));
}

TEST_MAIN()
