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

static bool empty(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool r = tree_is_empty(dir);

	close(dir);
	return r;
}

TEST(tree_empty_is_told_from_read_and_from_unreadable)
{
	char path[64], name[256];
	int dir = make(path);

	assert_true(empty(path));
	put(dir, "a", 0);
	assert_false(empty(path)); /* as long as "." is, in a list */
	assert_int_equal(unlinkat(dir, "a", 0), 0);
	assert_true(empty(path));
	memset(name, 'n', 255);
	name[255] = '\0';
	put(dir, name, 0); /* longer than what is read at once */
	assert_false(empty(path));
	assert_int_equal(unlinkat(dir, name, 0), 0);
	assert_int_equal(mkdirat(dir, "..d", 0700), 0);
	assert_false(empty(path));
	assert_int_equal(unlinkat(dir, "..d", AT_REMOVEDIR), 0);
	assert_false(tree_is_empty(-1));
	close(dir);
	assert_int_equal(rmdir(path), 0);
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
	struct tree_size empty, full, none;
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
	assert_true(tree_measure(top, "a", &none) < 0);
	assert_true(tree_measure(top, "link", &none) < 0);
	assert_int_equal(tree_remove(AT_FDCWD, path), 0);
	close(top);
}

/* More levels than a process may have files open, and the last of them locked, with the file in it. */
TEST(tree_measures_what_is_nested_deep_and_what_is_locked_and_leaves_it_so)
{
	char path[64];
	int top = make(path);
	bool is_root = geteuid() == 0; /* who may read everything */
	struct tree_size seen = { 0 }, all = { 0 }, most = { .bytes = UINT64_MAX, .entries = 1000000 };
	struct stat st;

	if (is_root) {
		assert_int_equal(fchown(top, 65534, 65534), 0);
		assert_int_equal(seteuid(65534), 0);
	}
	assert_int_equal(mkdirat(top, "locked", 0700), 0);
	int locked = openat(top, "locked", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put(locked, "big", 20000);
	assert_int_equal(mkdirat(locked, "too", 0), 0);
	nest(top, 5000);
	assert_int_equal(fchmod(locked, 0), 0);
	assert_int_equal(tree_measure(AT_FDCWD, path, &seen), 0);
	assert_int_equal(seen.entries, 5001);
	assert_true(seen.incomplete);
	assert_int_equal(tree_measure_locked(AT_FDCWD, path, &most, &all), 0);
	assert_int_equal(all.entries, 5004);
	assert_false(all.incomplete);
	assert_true(all.bytes >= seen.bytes + 20000);
	assert_int_equal(fstat(locked, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0);
	assert_int_equal(tree_measure(AT_FDCWD, path, &seen), 0);
	assert_true(seen.incomplete);
	/* The top itself, too. */
	assert_int_equal(fchmod(top, 0), 0);
	assert_int_equal(tree_measure(AT_FDCWD, path, &seen), -EACCES);
	assert_int_equal(tree_measure_locked(AT_FDCWD, path, &most, &all), 0);
	assert_int_equal(all.entries, 5004);
	assert_int_equal(fstat(top, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0);
	assert_int_equal(fchmod(top, 0700), 0);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	close(locked);
	assert_int_equal(tree_remove(AT_FDCWD, path), 0);
	close(top);
}

/* Readable and not to be passed through, or the other way round, at the top and deeper than what stays open. */
TEST(tree_measures_what_is_half_locked_at_any_depth)
{
	static const mode_t modes[] = { 0400, 0600, 0444, 0100, 0300, 0 };
	struct tree_size most = { .bytes = UINT64_MAX, .entries = 1000000 }, all = { 0 };
	bool is_root = geteuid() == 0;

	for (size_t i = 0; i < 2 * sizeof(modes) / sizeof(modes[0]); i++) {
		mode_t mode = modes[i / 2];
		unsigned depth = i % 2 ? 100 : 3;
		char path[64];
		int top = make(path), at[101];
		struct stat st;

		if (is_root) {
			assert_int_equal(fchown(top, 65534, 65534), 0);
			assert_int_equal(seteuid(65534), 0);
		}
		at[0] = top;
		for (unsigned k = 1; k <= depth; k++) {
			assert_int_equal(mkdirat(at[k - 1], "d", 0700), 0);
			put(at[k - 1], "before", 1);
			put(at[k - 1], "z", 1);
			at[k] = openat(at[k - 1], "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			assert_true(at[k] >= 0);
		}
		put(at[depth], "big", 20000);
		for (unsigned k = 0; k <= depth; k++)
			assert_int_equal(fchmod(at[k], mode), 0);
		assert_int_equal(tree_measure_locked(AT_FDCWD, path, &most, &all), 0);
		assert_false(all.incomplete);
		assert_int_equal(all.entries, 3 * depth + 1);
		assert_true(all.bytes >= 20000);
		most.entries = 2; /* it is enough, and nothing stays unlocked for that */
		assert_int_equal(tree_measure_locked(AT_FDCWD, path, &most, &all), 0);
		assert_true(all.incomplete && all.entries <= 2 * depth + 1);
		most.entries = 1000000;
		for (unsigned k = 0; k <= depth; k++) {
			assert_int_equal(fstat(at[k], &st), 0);
			assert_int_equal(st.st_mode & 07777, mode);
			assert_int_equal(fchmod(at[k], 0700), 0);
			if (k)
				close(at[k]);
		}
		if (is_root)
			assert_int_equal(seteuid(0), 0);
		assert_int_equal(tree_remove(AT_FDCWD, path), 0);
		close(top);
	}
}

TEST(tree_counts_a_file_with_several_names_once)
{
	char path[64];
	int top = make(path);
	struct tree_size one, four;

	put(top, "a", 65536);
	assert_int_equal(tree_measure(AT_FDCWD, path, &one), 0);
	assert_int_equal(linkat(top, "a", top, "b", 0), 0);
	assert_int_equal(linkat(top, "a", top, "c", 0), 0);
	assert_int_equal(linkat(top, "a", top, "d", 0), 0);
	assert_int_equal(tree_measure(AT_FDCWD, path, &four), 0);
	assert_int_equal(four.entries, 4);
	assert_int_equal(four.bytes, one.bytes);
	assert_int_equal(tree_remove(AT_FDCWD, path), 0);
	close(top);
}

TEST_MAIN()
