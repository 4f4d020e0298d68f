/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int make(char path[static 64])
{
	strcpy(path, "/tmp/creel-test-tree-XXXXXX");
	assert_non_null(mkdtemp(path));
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void put(int dir, const char *name, size_t n)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	while (n--)
		assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
}

/* Each in the one before, without rights on itself at the end. */
static void nest(int dir, unsigned depth)
{
	int at = dup(dir);

	for (unsigned i = 0; i < depth; i++) {
		int next;

		assert_int_equal(mkdirat(at, "d", 0700), 0);
		next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		close(at);
		at = next;
	}
	put(at, "file", 1);
	assert_int_equal(fchmod(at, 0), 0);
	close(at);
}

TEST(tree_removes_what_is_nested_deep_and_has_no_rights_and_follows_no_link)
{
	char path[64];
	int top = make(path);

	assert_int_equal(mkdirat(top, "gone", 0700), 0);
	assert_int_equal(mkdirat(top, "stays", 0700), 0);
	int gone = openat(top, "gone", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int stays = openat(top, "stays", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put(stays, "file", 1);
	nest(gone, 3000);
	assert_int_equal(symlinkat("../stays", gone, "link"), 0);
	assert_int_equal(tree_remove(top, "gone"), 0);
	assert_int_equal(faccessat(top, "gone", F_OK, 0), -1);
	assert_int_equal(faccessat(stays, "file", F_OK, 0), 0);
	assert_int_equal(tree_remove(top, "gone"), -ENOENT);
	close(gone);
	close(stays);
	assert_int_equal(tree_remove(AT_FDCWD, path), 0);
	close(top);
}

TEST(tree_measures_entries_bytes_and_the_last_change_and_says_what_it_did_not_see)
{
	char path[64];
	int top = make(path);
	struct tree_size empty, full, deep;
	struct stat st;

	assert_int_equal(tree_measure(AT_FDCWD, path, &empty), 0);
	assert_int_equal(empty.entries, 0);
	put(top, "a", 5000);
	assert_int_equal(mkdirat(top, "sub", 0700), 0);
	assert_int_equal(symlinkat("/etc", top, "link"), 0);
	assert_int_equal(tree_measure(AT_FDCWD, path, &full), 0);
	assert_int_equal(full.entries, 3);
	assert_true(full.bytes >= 5000 && full.bytes < 1000000);
	assert_false(full.incomplete);
	/* An old time of the file's own does not make it old. */
	assert_int_equal(utimensat(top, "a", (struct timespec[2]){ { 1, 0 }, { 1, 0 } }, 0), 0);
	assert_int_equal(fstatat(top, "a", &st, 0), 0);
	assert_int_equal(tree_measure(AT_FDCWD, path, &full), 0);
	assert_true(full.newest_ms >= (uint64_t)st.st_ctim.tv_sec * 1000);
	nest(top, 100);
	assert_int_equal(tree_measure(AT_FDCWD, path, &deep), 0);
	assert_true(deep.incomplete);
	assert_true(tree_measure(top, "a", &deep) < 0);
	assert_true(tree_measure(top, "link", &deep) < 0);
	assert_int_equal(tree_remove(AT_FDCWD, path), 0);
	close(top);
}

TEST_MAIN()
