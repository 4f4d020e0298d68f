/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public suites run in place: JSONTestSuite (y_ must be read, n_ refused, i_ is ours to choose) and json5-tests
 * (.json and .json5 must be read, .js and .txt refused). The folder comes as CREEL_VECTORS; this program is only
 * built into the tests where it exists.
 */
#include "check.h"
#include "reading.h"

#include "base/fd.h"

#include <fcntl.h>
#include <fts.h>
#include <unistd.h>

static void read_file(const char *path, char **ret, size_t *ret_n)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK_CASE(fd >= 0 && fd_read_all(fd, 1 << 20, ret, ret_n) >= 0, "cannot read %s", path);
}

static bool accepts(const char *path, bool json5)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_arena_ struct arena a;
	const struct json_opts opts = { .name = path, .json5 = json5, .dup_keys = JSON_DUP_LAST };
	struct value v;
	struct err e;
	size_t n = 0;

	read_file(path, &text, &n);
	arena_init(&a, (size_t)64 << 20);
	return json_parse(&a, (struct str){ .p = text, .n = n }, &opts, &v, &e) >= 0;
}

/* Every file below the folder; how many there were. */
static size_t each_file(const char *folder, void (*check)(const char *path, struct str name))
{
	const char *root = getenv("CREEL_VECTORS");
	char path[4096];
	char *const roots[] = { path, NULL };
	size_t n = 0;
	FTS *walk;

	assert_non_null(root);
	(void)snprintf(path, sizeof(path), "%s/%s", root, folder);
	walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	assert_non_null(walk);
	for (FTSENT *f = fts_read(walk); f; f = fts_read(walk)) {
		if (f->fts_info == FTS_D && strcmp(f->fts_name, "todo") == 0)
			(void)fts_set(walk, f, FTS_SKIP);
		if (f->fts_info != FTS_F)
			continue;
		check(f->fts_path, str_z(f->fts_name));
		n++;
	}
	(void)fts_close(walk);
	return n;
}

static void check_json(const char *path, struct str name)
{
	bool accepted = accepts(path, false);

	if (str_starts(name, STR("y_")))
		CHECK_CASE(accepted, "refused: %s", path);
	else if (str_starts(name, STR("n_")))
		CHECK_CASE(!accepted, "accepted: %s", path);
}

TEST(json_test_suite_is_read_as_the_standard_says)
{
	assert_true(each_file("json/test_parsing", check_json) > 300);
}

static void check_json5(const char *path, struct str name)
{
	if (str_ends(name, STR(".json")) || str_ends(name, STR(".json5")))
		CHECK_CASE(accepts(path, true), "refused: %s", path);
	else if (str_ends(name, STR(".js")) || str_ends(name, STR(".txt")))
		CHECK_CASE(!accepts(path, true), "accepted: %s", path);
}

TEST(json5_tests_are_read_as_the_specification_says)
{
	assert_true(each_file("json5", check_json5) > 100);
}

static void check_subset(const char *path, __attribute__((unused)) struct str name)
{
	CHECK_CASE(!accepts(path, false) || accepts(path, true), "strict reads it, JSON5 does not: %s", path);
}

TEST(whatever_strict_json_reads_json5_reads_too)
{
	assert_true(each_file("json", check_subset) > 300);
	assert_true(each_file("json5", check_subset) > 100);
}

TEST_MAIN()
