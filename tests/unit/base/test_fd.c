/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory of its own for each test, removed whole. */
struct tmp {
	char path[64];
	int fd;
};

static void tmp_init(struct tmp *t)
{
	strcpy(t->path, "/tmp/creel-test-fd-XXXXXX");
	assert_non_null(mkdtemp(t->path));
	t->fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(t->fd >= 0);
}

static size_t count_entries(const struct tmp *t)
{
	DIR *d = opendir(t->path);
	size_t n = 0;

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));)
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(d);
	return n;
}

static void tmp_done(struct tmp *t)
{
	DIR *d = opendir(t->path);

	for (struct dirent *e; d && (e = readdir(d));)
		if (unlinkat(dirfd(d), e->d_name, 0) < 0)
			(void)unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	if (d)
		closedir(d);
	(void)rmdir(t->path);
	(void)fd_close(t->fd);
}

#define TMP(name)                                    \
	_cleanup_(tmp_done) struct tmp name = { 0 }; \
	tmp_init(&name)

static void put_file(const struct tmp *t, const char *name, struct str text, mode_t mode)
{
	_cleanup_close_ int fd = openat(t->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(fd_write_all(fd, text), 0);
}

static void check_file(const struct tmp *t, const char *name, struct str want)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	assert_int_equal(fd_read_file_beneath(t->fd, name, 1 << 20, &text, &n), 0);
	CHECK_STR(((struct str){ text, n }), want);
}

TEST(fd_none_is_no_descriptor_and_not_the_working_directory)
{
	assert_true(FD_NONE < 0);
	assert_int_not_equal(FD_NONE, AT_FDCWD);
	assert_int_equal(fd_close(FD_NONE), FD_NONE);
}

TEST(fd_close_keeps_errno)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	errno = ENOSPC;
	assert_int_equal(fd_close(fd), FD_NONE);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

TEST(fd_take_moves_ownership)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), taken;

	{
		_cleanup_close_ int own = fd;

		taken = TAKE_FD(own);
		assert_int_equal(own, FD_NONE);
	}
	assert_true(fcntl(taken, F_GETFD) & FD_CLOEXEC);
	(void)fd_close(taken);
}

TEST(fd_open_beneath_refuses_every_way_out)
{
	TMP(t);
	static const char *const outside[] = { "/etc/passwd", "../x", "a/../../x", "link", "dir/up" };

	assert_int_equal(symlinkat("/etc/passwd", t.fd, "link"), 0);
	assert_int_equal(mkdirat(t.fd, "a", 0700), 0);
	assert_int_equal(symlinkat("..", t.fd, "dir"), 0);
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		assert_int_equal(fd_open_beneath(t.fd, outside[i], O_RDONLY, 0), -EXDEV);
}

TEST(fd_open_beneath_opens_close_on_exec_and_follows_links_that_stay)
{
	TMP(t);
	_cleanup_close_ int fd = FD_NONE;

	put_file(&t, "file", STR("x"), 0600);
	assert_int_equal(symlinkat("file", t.fd, "link"), 0);
	fd = fd_open_beneath(t.fd, "link", O_RDONLY, 0);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fd_open_beneath(t.fd, "none", O_RDONLY, 0), -ENOENT);
}

TEST(fd_read_all_tells_exactly_max_from_too_big)
{
	TMP(t);
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	put_file(&t, "f", STR("12345"), 0600);
	assert_int_equal(fd_read_file_beneath(t.fd, "f", 4, &text, &n), -EFBIG);
	assert_null(text);
	assert_int_equal(fd_read_file_beneath(t.fd, "f", 5, &text, &n), 0);
	assert_int_equal(n, 5);
	assert_string_equal(text, "12345");
}

TEST(fd_read_all_takes_an_empty_file_and_a_maximum_of_nothing)
{
	TMP(t);
	_cleanup_free_ char *text = NULL;
	size_t n = 9;

	put_file(&t, "f", STR(""), 0600);
	assert_int_equal(fd_read_file_beneath(t.fd, "f", 0, &text, &n), 0);
	assert_int_equal(n, 0);
	assert_string_equal(text, "");
	put_file(&t, "g", STR("x"), 0600);
	assert_int_equal(fd_read_file_beneath(t.fd, "g", 0, &text, &n), -EFBIG);
}

TEST(fd_read_all_reads_more_than_fstat_promised)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	/* /proc files say their size is 0 */
	assert_int_equal(fd_read_file("/proc/self/status", 1 << 20, &text, &n), 0);
	assert_true(n > 100);
	assert_int_equal(strncmp(text, "Name:", 5), 0);
}

TEST(fd_read_all_grows_through_a_pipe)
{
	_cleanup_free_ char *text = NULL;
	char piece[1000];
	size_t n = 0;
	int p[2];

	memset(piece, 'q', sizeof(piece));
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	for (int i = 0; i < 50; i++)
		assert_int_equal(fd_write_all(p[1], (struct str){ piece, sizeof(piece) }), 0);
	(void)fd_close(p[1]);
	assert_int_equal(fd_read_all(p[0], 50000, &text, &n), 0);
	assert_int_equal(n, 50000);
	assert_int_equal(strspn(text, "q"), 50000);
	(void)fd_close(p[0]);
}

TEST(fd_read_all_reports_a_failing_read)
{
	_cleanup_free_ char *text = NULL;
	size_t n;

	assert_int_equal(fd_read_all(FD_NONE, 10, &text, &n), -EBADF);
	assert_int_equal(fd_read_all(0, SIZE_MAX, &text, &n), -EINVAL);
	assert_null(text);
}

TEST(fd_read_file_refuses_what_is_no_regular_file_without_waiting)
{
	TMP(t);
	_cleanup_free_ char *text = NULL;
	size_t n;

	assert_int_equal(mkfifoat(t.fd, "fifo", 0600), 0);
	assert_int_equal(mkdirat(t.fd, "dir", 0700), 0);
	assert_int_equal(fd_read_file_beneath(t.fd, "fifo", 10, &text, &n), -ENXIO);
	assert_int_equal(fd_read_file_beneath(t.fd, "dir", 10, &text, &n), -EISDIR);
	assert_int_equal(fd_read_file("/dev/zero", 10, &text, &n), -ENXIO);
	assert_int_equal(fd_read_file("/nonexistent/x", 10, &text, &n), -ENOENT);
}

TEST(fd_write_all_reports_a_full_disk)
{
	_cleanup_close_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, STR("x")), -ENOSPC);
	assert_int_equal(fd_write_all(fd, STR("")), 0);
}

TEST(fd_write_atomic_creates_with_the_mode_minus_umask)
{
	TMP(t);
	mode_t before = umask(027);
	struct stat st;

	assert_int_equal(fd_write_atomic(t.fd, "new", STR("text"), 0666), 0);
	(void)umask(before);
	check_file(&t, "new", STR("text"));
	assert_int_equal(fstatat(t.fd, "new", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(count_entries(&t), 1);
}

TEST(fd_write_atomic_takes_no_right_from_the_owner_for_a_umask)
{
	TMP(t);
	mode_t before = umask(0777);
	struct stat st;

	assert_int_equal(fd_write_atomic(t.fd, "new", STR("text"), 0644), 0);
	(void)umask(before);
	assert_int_equal(fstatat(t.fd, "new", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

TEST(fd_write_atomic_keeps_the_mode_of_the_file_it_replaces)
{
	TMP(t);
	struct stat before, after;

	put_file(&t, "f", STR("old"), 0604);
	assert_int_equal(fstatat(t.fd, "f", &before, 0), 0);
	assert_int_equal(fd_write_atomic(t.fd, "f", STR("new"), 0644), 0);
	check_file(&t, "f", STR("new"));
	assert_int_equal(fstatat(t.fd, "f", &after, 0), 0);
	assert_int_equal(after.st_mode, before.st_mode);
	assert_int_equal(after.st_uid, before.st_uid);
	assert_true(after.st_ino != before.st_ino);
	assert_int_equal(count_entries(&t), 1);
}

TEST(fd_write_atomic_keeps_the_owner_of_the_file_it_replaces)
{
	TMP(t);
	struct stat st;

	if (geteuid() != 0)
		skip(); /* only root can make a file that is somebody else's */
	put_file(&t, "f", STR("old"), 0600);
	assert_int_equal(fchownat(t.fd, "f", 12345, 54321, 0), 0);
	assert_int_equal(fd_write_atomic(t.fd, "f", STR("new"), 0644), 0);
	assert_int_equal(fstatat(t.fd, "f", &st, 0), 0);
	assert_int_equal(st.st_uid, 12345);
	assert_int_equal(st.st_gid, 54321);
	assert_int_equal(st.st_mode & 07777, 0600);
}

TEST(fd_write_atomic_leaves_an_open_reader_its_old_text)
{
	TMP(t);
	_cleanup_close_ int fd = FD_NONE;
	_cleanup_free_ char *text = NULL;
	size_t n;

	put_file(&t, "f", STR("old"), 0600);
	fd = openat(t.fd, "f", O_RDONLY | O_CLOEXEC);
	assert_int_equal(fd_write_atomic(t.fd, "f", STR("newer"), 0600), 0);
	assert_int_equal(fd_read_all(fd, 100, &text, &n), 0);
	assert_string_equal(text, "old");
}

TEST(fd_write_atomic_refuses_a_link_and_what_is_no_file)
{
	TMP(t);

	put_file(&t, "real", STR("old"), 0600);
	assert_int_equal(symlinkat("real", t.fd, "link"), 0);
	assert_int_equal(mkdirat(t.fd, "dir", 0700), 0);
	assert_int_equal(fd_write_atomic(t.fd, "link", STR("new"), 0600), -ELOOP);
	assert_int_equal(fd_write_atomic(t.fd, "dir", STR("new"), 0600), -ENXIO);
	assert_int_equal(fd_write_atomic(t.fd, "dir/", STR("new"), 0600), -EISDIR);
	assert_int_equal(fd_write_atomic(t.fd, "none/x", STR("new"), 0600), -ENOENT);
	assert_int_equal(fd_write_atomic(t.fd, "", STR("new"), 0600), -EISDIR);
	check_file(&t, "real", STR("old"));
	assert_int_equal(count_entries(&t), 3);
}

TEST(fd_write_atomic_takes_absolute_and_nested_paths)
{
	TMP(t);
	char path[128];

	assert_int_equal(mkdirat(t.fd, "sub", 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/sub/f", t.path);
	assert_int_equal(fd_write_atomic(AT_FDCWD, path, STR("1"), 0600), 0);
	check_file(&t, "sub/f", STR("1"));
	assert_int_equal(fd_write_atomic(t.fd, "sub/f", STR("2"), 0600), 0);
	check_file(&t, "sub/f", STR("2"));
	assert_int_equal(unlinkat(t.fd, "sub/f", 0), 0);
}

/* The file size limit stands in for a full disk: the write fails half way. */
TEST(fd_write_atomic_that_fails_half_way_leaves_the_old_file_and_nothing_else)
{
	TMP(t);
	struct rlimit before, small;
	static char big[10000];
	int r;

	put_file(&t, "f", STR("old"), 0600);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){ .rlim_cur = 4096, .rlim_max = before.rlim_max };
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	r = fd_write_atomic(t.fd, "f", (struct str){ big, sizeof(big) }, 0600);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	(void)signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(r, -EFBIG);
	check_file(&t, "f", STR("old"));
	assert_int_equal(count_entries(&t), 1);
}

TEST_MAIN()
