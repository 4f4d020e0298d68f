/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/fd.h"
#include "sandbox/source.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static char dir[64], old_cwd[PATH_MAX];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void enter(void)
{
	char real[PATH_MAX];

	(void)snprintf(dir, sizeof(dir), "/tmp/creel-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_non_null(realpath(dir, real));
	assert_string_equal(real, dir);
	assert_non_null(getcwd(old_cwd, sizeof(old_cwd)));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(mkdir("d", 0700), 0);
	assert_int_equal(mkdir("d/sub", 0700), 0);
	(void)fd_close(open("f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(symlink("d/sub", "relative"), 0);
	assert_int_equal(symlink("/etc", "absolute"), 0);
	assert_int_equal(symlink("relative", "twice"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(symlink("missing", "dangling"), 0);
	assert_int_equal(mkfifo("pipe", 0600), 0);
}

static void leave(void)
{
	assert_int_equal(chdir(old_cwd), 0);
	assert_int_equal(nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static struct str below(struct arena *a, const char *name)
{
	return arena_printf(a, "%s/%s", dir, name);
}

static void check_identity(const struct source *s, const char *name)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(s->ino, st.st_ino);
	assert_int_equal(s->dev >> 32, major(st.st_dev));
	assert_int_equal(s->dev & 0xffffffff, minor(st.st_dev));
}

TEST(source_is_what_a_link_leads_to)
{
	static const struct {
		const char *name, *real;
	} cases[] = {
		{ "d/sub", "d/sub" },        { "relative", "d/sub" }, { "twice", "d/sub" },
		{ "d/../d/./sub", "d/sub" }, { "d//sub/", "d/sub" },
	};
	_cleanup_arena_ struct arena a = { 0 };

	arena_init(&a, 1 << 20);
	enter();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct source s = { 0 };
		struct err e = { 0 };

		CHECK_CASE(source_resolve(&a, below(&a, cases[i].name), &s, &e) == 0, "%s", e.msg);
		CHECK_STR(s.path, below(&a, cases[i].real));
		assert_false(s.is_file);
		check_identity(&s, "d/sub");
	}
	leave();
}

TEST(source_outside_shows_by_its_resolved_path)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct source s = { 0 };
	struct err e = { 0 };

	arena_init(&a, 1 << 20);
	enter();
	assert_int_equal(source_resolve(&a, below(&a, "absolute"), &s, &e), 0);
	CHECK_STR(s.path, STR("/etc"));
	leave();
}

TEST(source_may_be_a_file_or_a_pipe_and_is_not_opened_for_that)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct source s = { 0 };
	struct err e = { 0 };

	arena_init(&a, 1 << 20);
	enter();
	assert_int_equal(source_resolve(&a, below(&a, "f"), &s, &e), 0);
	assert_true(s.is_file);
	check_identity(&s, "f");
	assert_int_equal(source_resolve(&a, below(&a, "pipe"), &s, &e),
			 0); /* a real open() would wait for a writer */
	assert_true(s.is_file);
	leave();
}

TEST(source_that_is_not_there_says_so)
{
	static const struct {
		const char *name;
		int err;
	} cases[] = { { "missing", ENOENT }, { "dangling", ENOENT }, { "f/x", ENOTDIR }, { "loop", ELOOP } };
	_cleanup_arena_ struct arena a = { 0 };

	arena_init(&a, 1 << 20);
	enter();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct source s = { 0 };
		struct err e = { 0 };

		assert_true(source_resolve(&a, below(&a, cases[i].name), &s, &e) < 0);
		assert_int_equal(e.sys_errno, cases[i].err);
		assert_non_null(strstr(e.msg, cases[i].name));
		assert_null(s.path.p);
	}
	leave();
}

TEST(source_that_was_deleted_is_gone_though_its_descriptor_lives)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct source s = { 0 };
	struct err e = { 0 };

	arena_init(&a, 1 << 20);
	enter();
	assert_int_equal(mkdir("gone", 0700), 0);
	assert_int_equal(chdir("gone"), 0);
	assert_int_equal(rmdir("../gone"), 0);
	assert_true(source_resolve(&a, STR("."), &s, &e) < 0);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_non_null(strstr(e.msg, "deleted"));
	leave();
}

TEST(source_with_a_name_like_a_deleted_one_is_a_name)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct source s = { 0 };
	struct err e = { 0 };

	arena_init(&a, 1 << 20);
	enter();
	assert_int_equal(mkdir("x (deleted)", 0700), 0);
	assert_int_equal(source_resolve(&a, below(&a, "x (deleted)"), &s, &e), 0);
	CHECK_STR(s.path, below(&a, "x (deleted)"));
	leave();
}

TEST(source_refuses_a_nul_byte)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct source s = { 0 };
	struct err e = { 0 };

	arena_init(&a, 1 << 20);
	assert_true(source_resolve(&a, (struct str){ .p = "/etc\0/shadow", .n = 12 }, &s, &e) < 0);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(e.msg, "NUL"));
}

TEST(source_without_memory_is_an_error)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct source s = { 0 };
	struct err e = { 0 };

	arena_init(&a, 1);
	assert_true(source_resolve(&a, STR("/etc"), &s, &e) < 0);
	assert_int_equal(e.sys_errno, ENOMEM);
}

TEST(source_leaves_no_descriptor_open)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct source s = { 0 };
	struct err e = { 0 };
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC), after;

	arena_init(&a, 1 << 20);
	(void)close(before);
	assert_int_equal(source_resolve(&a, STR("/etc"), &s, &e), 0);
	assert_true(source_resolve(&a, STR("/nonexistent"), &s, &e) < 0);
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(after, before);
	(void)close(after);
}

TEST_MAIN()
