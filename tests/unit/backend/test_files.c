/* SPDX-License-Identifier: Apache-2.0 */
#include "yard.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define OP(p, op, ...) ((p).files->ops->op((p).files, __VA_ARGS__))

static int read_at(struct yard *p, const char *path, char text[static 256], struct str *ret)
{
	_cleanup_close_ int fd = p->files->ops->open(p->files, path, 0, 0, NULL);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, text, 256);
	assert_true(n >= 0);
	*ret = (struct str){ text, (size_t)n };
	return 0;
}

static int write_at(struct yard *p, const char *path, struct str text, unsigned flags)
{
	struct files_stage s = FILES_STAGE_NONE;
	int r = p->files->ops->stage(p->files, path, FILES_PARENTS, 0666, &s);

	if (r < 0)
		return r;
	r = fd_write_all(s.fd, text);
	if (r == 0)
		r = p->files->ops->commit(p->files, &s, flags);
	p->files->ops->drop(p->files, &s);
	return r;
}

#define CHECK_READ(p, path, want)                                          \
	do {                                                               \
		char text_[256];                                           \
		struct str read_ = { 0 };                                  \
		assert_int_equal(read_at(&(p), (path), text_, &read_), 0); \
		CHECK_STR(read_, (want));                                  \
	} while (0)

TEST(files_an_absolute_path_stays_in_the_root_however_it_is_written)
{
	YARD(p);
	char up[512] = "";
	size_t n = 0;

	yard_put(p.root, "top/canary", STR("the sandbox's"), 0644);
	for (int i = 0; i < 64; i++)
		n += (size_t)snprintf(up + n, sizeof(up) - n, "/..");
	(void)snprintf(up + n, sizeof(up) - n, "/top/canary");
	assert_int_equal(symlinkat("/top/canary", p.work, "absolute"), 0);
	assert_int_equal(symlinkat("../../../top/canary", p.work, "relative"), 0);
	/* The same link does lead out when nobody holds it back. */
	YARD_CHECK(p.work, "../../canary", STR(CANARY));

	CHECK_READ(p, up, STR("the sandbox's"));
	CHECK_READ(p, "/work/absolute", STR("the sandbox's"));
	CHECK_READ(p, "/work/relative", STR("the sandbox's"));
	assert_int_equal(write_at(&p, "/work/relative", STR("new"), 0), 0);
	YARD_CHECK(p.root, "top/canary", STR("new"));
}

TEST(files_a_relative_path_never_leaves_the_workspace)
{
	static const char *const out[] = { "../x", "a/../../x", "up/x", "abs", "abs/x" };
	YARD(p);

	yard_put(p.root, "x", STR("outside"), 0644); /* in a sandbox it is not even there */
	yard_put(p.work, "y", STR("inside"), 0644);
	assert_int_equal(mkdirat(p.work, "a", 0755), 0);
	assert_int_equal(symlinkat("..", p.work, "up"), 0);
	assert_int_equal(symlinkat("/", p.work, "abs"), 0);
	assert_int_equal(symlinkat("../y", p.work, "a/in"), 0);
	for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++) {
		struct files_stat st;

		CHECK_CASE(OP(p, open, out[i], 0, 0, NULL) == -EXDEV, "open %s", out[i]);
		CHECK_CASE(OP(p, stat, out[i], 0, &st) == -EXDEV, "stat %s", out[i]);
		CHECK_CASE(write_at(&p, out[i], STR("z"), 0) == -EXDEV, "write %s", out[i]);
		if (i != 3) { /* the name of the link itself is inside */
			CHECK_CASE(OP(p, remove, out[i], 0) == -EXDEV, "remove %s", out[i]);
			CHECK_CASE(OP(p, rename, "y", out[i], 0) == -EXDEV, "rename %s", out[i]);
			CHECK_CASE(OP(p, mkdir, out[i], FILES_PARENTS, 0755) == -EXDEV, "mkdir %s", out[i]);
		}
	}
	YARD_CHECK(p.root, "x", STR("outside"));
	CHECK_READ(p, "a/in", STR("inside"));
	assert_int_equal(write_at(&p, "a/in", STR("through"), 0), 0);
	YARD_CHECK(p.work, "y", STR("through"));
}

TEST(files_what_is_no_regular_file_is_refused_without_waiting)
{
	YARD(p);
	struct files_stage s;

	assert_int_equal(mkfifoat(p.work, "fifo", 0666), 0);
	assert_int_equal(mknodat(p.work, "socket", S_IFSOCK | 0666, 0), 0);
	assert_int_equal(OP(p, open, "fifo", 0, 0, NULL), -ENXIO);
	assert_int_equal(OP(p, open, "fifo", FILES_APPEND, 0666, NULL), -ENXIO);
	assert_int_equal(OP(p, open, "socket", 0, 0, NULL), -ENXIO);
	assert_int_equal(OP(p, open, "/work", 0, 0, NULL), -EISDIR);
	assert_int_equal(OP(p, stage, "fifo", 0, 0666, &s), -ENXIO);
	assert_int_equal(OP(p, stage, "socket", 0, 0666, &s), -ENXIO);
	assert_int_equal(OP(p, stage, "/work", 0, 0666, &s), -EISDIR);
	assert_int_equal(OP(p, stage, "/", 0, 0666, &s), -EISDIR);
	assert_int_equal(OP(p, stage, "new/", 0, 0666, &s), -EISDIR);
}

/* Whichever of the two it came as. */
static void check_got(struct files *f, const char *path, struct str want)
{
	struct files_content c = { .fd = FD_NONE };
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	assert_int_equal(f->ops->get(f, path, 0, &c), 0);
	assert_true((c.fd >= 0) == !c.p);
	if (c.p) {
		assert_int_equal(c.p[c.n], '\0');
		text = c.p;
		n = c.n;
	} else {
		assert_int_equal(fd_read_all(c.fd, (size_t)1 << 20, &text, &n), 0);
		(void)close(c.fd);
	}
	assert_true(str_eq((struct str){ .p = text, .n = n }, want));
	assert_int_equal(c.st.size, n);
	assert_true(S_ISREG(c.st.mode));
}

TEST(files_what_is_got_is_what_is_there)
{
	static const size_t sizes[] = { 0, 1, 1024, 4096, 16383, 16384, 16385, 200000 };
	_cleanup_free_ char *bytes = malloc(200000);
	struct files_content c;
	YARD(p);

	assert_non_null(bytes);
	for (size_t i = 0; i < 200000; i++)
		bytes[i] = (char)(i * 7 + i / 251);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct str want = { .p = bytes, .n = sizes[i] };

		yard_put(p.work, "got", want, 0644);
		check_got(p.files, "got", want);
		check_got(p.files, "/work/got", want);
	}
	assert_int_equal(symlinkat("got", p.work, "link"), 0);
	check_got(p.files, "link", (struct str){ .p = bytes, .n = 200000 });
	assert_int_equal(OP(p, get, "link", FILES_NOFOLLOW, &c), -ELOOP);
	assert_int_equal(OP(p, get, "../x", 0, &c), -EXDEV);
	assert_int_equal(OP(p, get, "none", 0, &c), -ENOENT);
	assert_int_equal(OP(p, get, ".", 0, &c), -EISDIR);
	assert_int_equal(mkfifoat(p.work, "pipe", 0666), 0);
	assert_int_equal(OP(p, get, "pipe", 0, &c), -ENXIO);
	assert_int_equal(p.system->ops->get(p.system, "/proc/self/fd/0", 0, &c), -ELOOP);
}

TEST(files_a_device_is_no_regular_file_either)
{
	YARD(p);
	struct files_stage s;

	assert_int_equal(p.system->ops->open(p.system, "/dev/zero", 0, 0, NULL), -ENXIO);
	assert_int_equal(p.system->ops->stage(p.system, "/dev/null", 0, 0666, &s), -ENXIO);
	assert_int_equal(p.system->ops->open(p.system, "/proc/self/fd/0", 0, 0, NULL), -ELOOP);
	assert_int_equal(p.system->ops->open(p.system, "/proc/self/root/etc/passwd", 0, 0, NULL), -ELOOP);
	assert_int_equal(p.system->ops->open(p.system, "/proc/thread-self/cwd/x", 0, 0, NULL), -ELOOP);
}

TEST(files_links_that_lead_nowhere_are_told_apart)
{
	YARD(p);
	struct files_stage s;

	assert_int_equal(symlinkat("loop", p.work, "loop"), 0);
	assert_int_equal(symlinkat("not/there", p.work, "dangling"), 0);
	assert_int_equal(OP(p, open, "loop", 0, 0, NULL), -ELOOP);
	assert_int_equal(OP(p, stage, "loop", 0, 0666, &s), -ELOOP);
	assert_int_equal(OP(p, open, "dangling", 0, 0, NULL), -ENOENT);
	assert_int_equal(OP(p, stage, "dangling", 0, 0666, &s), -ENOENT);
	assert_int_equal(write_at(&p, "dangling", STR("made"), 0), 0);
	YARD_CHECK(p.work, "not/there", STR("made"));
}

TEST(files_a_file_that_is_replaced_keeps_mode_and_owner_and_nothing_is_left)
{
	YARD(p);
	bool gives_away = geteuid() == 0 && !p.boxed;
	struct stat st;

	yard_put(p.work, "a", STR("old"), 0751);
	if (gives_away)
		assert_int_equal(fchownat(p.work, "a", 12345, 54321, 0), 0);
	assert_int_equal(write_at(&p, "a", STR("new"), FILES_SYNC), 0);
	YARD_CHECK(p.work, "a", STR("new"));
	assert_int_equal(fstatat(p.work, "a", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0751);
	assert_int_equal(st.st_uid, gives_away ? 12345 : geteuid());
	assert_int_equal(st.st_gid, gives_away ? 54321 : getegid());
	assert_int_equal(yard_count(p.work), 1);
}

TEST(files_a_new_file_gets_its_mode_minus_umask)
{
	mode_t old = umask(027);
	YARD(p);
	struct stat st;

	assert_int_equal(write_at(&p, "deep/down/a", STR("x"), 0), 0);
	(void)umask(old);
	assert_int_equal(fstatat(p.work, "deep/down/a", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
}

TEST(files_a_stage_that_is_dropped_changes_nothing)
{
	YARD(p);
	struct files_stage s;

	yard_put(p.work, "a", STR("old"), 0644);
	assert_int_equal(OP(p, stage, "a", 0, 0666, &s), 0);
	assert_true(s.exists);
	assert_int_equal(s.old.size, 3);
	assert_int_equal(fd_write_all(s.fd, STR("new")), 0);
	assert_int_equal(yard_count(p.work), 1);
	p.files->ops->drop(p.files, &s);
	assert_int_equal(s.fd, FD_NONE);
	YARD_CHECK(p.work, "a", STR("old"));
	assert_int_equal(yard_count(p.work), 1);
}

TEST(files_undo_brings_the_old_file_back_and_takes_a_new_one_away)
{
	YARD(p);
	struct files_stage a, b;
	struct stat before, after;

	yard_put(p.work, "a", STR("old"), 0644);
	assert_int_equal(fstatat(p.work, "a", &before, 0), 0);
	assert_int_equal(OP(p, stage, "a", 0, 0666, &a), 0);
	assert_int_equal(OP(p, stage, "b", 0, 0666, &b), 0);
	assert_int_equal(fd_write_all(a.fd, STR("new a")), 0);
	assert_int_equal(fd_write_all(b.fd, STR("new b")), 0);
	assert_int_equal(OP(p, commit, &a, FILES_KEEP_OLD), 0);
	assert_int_equal(OP(p, commit, &b, FILES_KEEP_OLD | FILES_NEW), 0);
	YARD_CHECK(p.work, "a", STR("new a"));
	YARD_CHECK(p.work, "b", STR("new b"));
	assert_int_equal(OP(p, undo, &b), 0);
	assert_int_equal(OP(p, undo, &a), 0);
	p.files->ops->drop(p.files, &a);
	p.files->ops->drop(p.files, &b);
	YARD_CHECK(p.work, "a", STR("old"));
	assert_int_equal(fstatat(p.work, "a", &after, 0), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(yard_count(p.work), 1);
}

TEST(files_kept_old_content_is_gone_after_drop)
{
	YARD(p);

	yard_put(p.work, "a", STR("old"), 0644);
	assert_int_equal(write_at(&p, "a", STR("new"), FILES_KEEP_OLD), 0);
	YARD_CHECK(p.work, "a", STR("new"));
	assert_int_equal(yard_count(p.work), 1);
}

TEST(files_new_never_replaces)
{
	YARD(p);
	struct files_stage s;

	yard_put(p.work, "a", STR("old"), 0644);
	assert_int_equal(write_at(&p, "a", STR("new"), FILES_NEW), -EEXIST);
	assert_int_equal(OP(p, stage, "b", 0, 0666, &s), 0);
	yard_put(p.work, "b", STR("came since"), 0644);
	assert_int_equal(OP(p, commit, &s, FILES_NEW), -EEXIST);
	assert_int_equal(OP(p, commit, &s, 0), -ESTALE);
	p.files->ops->drop(p.files, &s);
	YARD_CHECK(p.work, "b", STR("came since"));
	yard_put(p.work, "c", STR("c"), 0644);
	assert_int_equal(OP(p, rename, "c", "a", FILES_NEW), -EEXIST);
	assert_int_equal(OP(p, rename, "c", "a", 0), 0);
	YARD_CHECK(p.work, "a", STR("c"));
}

struct names {
	char seen[4096];
	size_t n, stop_at;
};

static int note(void *ctx, const struct files_entry *entry)
{
	struct names *l = ctx;

	l->n++;
	(void)strncat(l->seen, entry->name.p, sizeof(l->seen) - strlen(l->seen) - 1);
	return l->stop_at && l->n == l->stop_at ? 7 : 0;
}

TEST(files_a_list_has_every_name_once_and_can_be_ended)
{
	YARD(p);
	struct names all = { .n = 0 }, some = { .stop_at = 3 };
	char name[32];

	for (int i = 0; i < 3000; i++) {
		(void)snprintf(name, sizeof(name), "file-with-a-longer-name-%d", i);
		assert_true(fd_close(openat(p.work, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) == FD_NONE);
	}
	assert_int_equal(OP(p, list, "/work", FILES_WITH_STAT, note, &all), 0);
	assert_int_equal(all.n, 3000);
	assert_int_equal(OP(p, list, "/work", 0, note, &some), 7);
	assert_int_equal(OP(p, list, "/work/file-with-a-longer-name-1", 0, note, &some), -ENOTDIR);
	assert_int_equal(OP(p, list, "/gone", 0, note, &some), -ENOENT);
}

TEST(files_directories_rights_and_removal)
{
	YARD(p);
	struct files_stat st;

	assert_int_equal(OP(p, mkdir, "a/b/c", 0, 0755), -ENOENT);
	assert_int_equal(OP(p, mkdir, "a/b/c", FILES_PARENTS, 0755), 0);
	assert_int_equal(OP(p, mkdir, "a/b/c", FILES_PARENTS, 0755), 0);
	assert_int_equal(OP(p, mkdir, "a/b/c", 0, 0755), -EEXIST);
	yard_put(p.work, "f", STR("x"), 0644);
	assert_int_equal(OP(p, mkdir, "f", FILES_PARENTS, 0755), -EEXIST);
	assert_int_equal(OP(p, chmod, "f", 0700), 0);
	assert_int_equal(OP(p, stat, "f", 0, &st), 0);
	assert_int_equal(st.mode, S_IFREG | 0700);
	assert_int_equal(OP(p, remove, "a/b/c", 0), -EISDIR);
	assert_int_equal(OP(p, remove, "a/b", FILES_DIRECTORY), -ENOTEMPTY);
	assert_int_equal(OP(p, remove, "a/b/c", FILES_DIRECTORY), 0);
	assert_int_equal(OP(p, remove, "f", 0), 0);
	assert_int_equal(OP(p, stat, "f", 0, &st), -ENOENT);
}

TEST(files_names_and_paths_that_are_too_long_are_refused)
{
	YARD(p);
	_cleanup_free_ char *path = malloc(70000);
	struct files_stage s;

	memset(path, 'x', 70000);
	for (size_t n = 256; n < 70000; n *= 4) {
		path[n] = '\0';
		assert_int_equal(OP(p, open, path, 0, 0, NULL), -ENAMETOOLONG);
		assert_int_equal(OP(p, stage, path, FILES_PARENTS, 0666, &s), -ENAMETOOLONG);
		assert_int_equal(OP(p, mkdir, path, FILES_PARENTS, 0777), -ENAMETOOLONG);
		path[n] = 'x';
	}
}

/* Swaps "swap" between a directory, a link to the top of the host's tree and a link to the root, until killed. */
static pid_t swapper(const struct yard *p)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	for (;;) {
		(void)syscall(SYS_renameat2, p->work, "swap", p->work, "link", 2);
		(void)syscall(SYS_renameat2, p->work, "swap", p->work, "link", 2);
	}
}

TEST(files_a_link_that_is_swapped_in_on_the_way_never_leads_out)
{
	YARD(p);
	char text[256];
	struct str got = { 0 };
	unsigned inside = 0, refused = 0;
	pid_t pid;

	assert_int_equal(mkdirat(p.work, "swap", 0755), 0);
	yard_put(p.work, "swap/canary", STR("inside"), 0644);
	assert_int_equal(symlinkat("../..", p.work, "link"), 0);
	pid = swapper(&p);
	for (int i = 0; i < 20000; i++) {
		int r = read_at(&p, i & 1 ? "swap/canary" : "/work/swap/canary", text, &got);

		if (r == 0)
			CHECK_STR(got, STR("inside"));
		inside += r == 0;
		refused += r < 0;
		if (i % 4 == 0)
			(void)write_at(&p, i & 8 ? "swap/canary" : "/work/swap/canary", STR("inside"), 0);
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(inside > 0);
	print_message("# %u inside, %u refused\n", inside, refused);
}

TEST(files_directories_that_were_made_for_a_write_that_failed_are_gone_and_others_stay)
{
	YARD(p);
	struct files_stage s = FILES_STAGE_NONE;
	char path[512];
	struct stat st;

	assert_int_equal(mkdirat(p.work, "old", 0755), 0);
	assert_int_equal(OP(p, stage, "old/a//b/./c/file", FILES_PARENTS, 0666, &s), 0);
	assert_int_equal(fstatat(p.work, "old/a/b/c", &st, 0), 0);
	OP(p, drop, &s);
	assert_int_equal(fstatat(p.work, "old/a", &st, 0), -1);
	assert_int_equal(fstatat(p.work, "old", &st, 0), 0);
	/* Somebody else has used one of them since. */
	assert_int_equal(OP(p, stage, "old/a/b/c/file", FILES_PARENTS, 0666, &s), 0);
	yard_put(p.work, "old/a/other", STR("x"), 0644);
	OP(p, drop, &s);
	assert_int_equal(fstatat(p.work, "old/a/other", &st, 0), 0);
	assert_int_equal(fstatat(p.work, "old/a/b", &st, 0), -1);
	/* A name on the way that cannot be: what came before it goes. */
	(void)snprintf(path, sizeof(path), "new/er/%0300d/file", 0);
	assert_int_equal(OP(p, stage, path, FILES_PARENTS, 0666, &s), -ENAMETOOLONG);
	assert_int_equal(fstatat(p.work, "new", &st, 0), -1);
	/* One that was written stays, of course. */
	assert_int_equal(write_at(&p, "kept/a/file", STR("x"), 0), 0);
	CHECK_READ(p, "kept/a/file", STR("x"));
}

static bool write_deep(struct yard *p, const char *path)
{
	return write_at(p, path, STR("deep"), 0) == 0;
}

static bool drop_deep(struct yard *p, const char *path)
{
	struct files_stage s = FILES_STAGE_NONE;

	if (OP((*p), stage, path, FILES_PARENTS, 0666, &s) != 0)
		return false;
	OP((*p), drop, &s);
	return true;
}

static _Noreturn void be_counted(struct yard *p, const char *path, bool (*work)(struct yard *, const char *))
{
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0 || raise(SIGSTOP) != 0)
		_exit(2);
	_exit(!work(p, path));
}

/* Every system call stops it twice. */
static unsigned count_calls(struct yard *p, const char *path, bool (*work)(struct yard *, const char *))
{
	unsigned stops = 0;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		be_counted(p, path, work);
	for (;;) {
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (!WIFSTOPPED(status))
			break;
		stops++;
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, 0, 0), 0);
	}
	assert_int_equal(status, 0);
	return stops / 2;
}

/* Without openat2(), to find each from the top again takes a million. */
TEST(files_each_new_directory_on_the_way_costs_the_same)
{
	enum { DEEP = 1000, EACH = 12 };
	YARD(p);
	char path[2 * DEEP + 2];
	unsigned n;

	for (int i = 0; i < DEEP; i++)
		memcpy(path + (ptrdiff_t)i * 2, "d/", 2);
	memcpy(path + (ptrdiff_t)2 * DEEP, "f", 2);
	n = count_calls(&p, path, write_deep);
	CHECK_CASE(n < DEEP * EACH, "%u calls for %d directories", n, DEEP);
	CHECK_READ(p, path, STR("deep"));
}

TEST(files_each_directory_that_is_taken_back_costs_the_same)
{
	enum { DEEP = 2000, EACH = 17 };
	YARD(p);
	char path[2 * DEEP + 8];
	struct stat st;
	unsigned n;

	assert_int_equal(mkdirat(p.work, "old", 0755), 0);
	memcpy(path, "old/", 4);
	for (int i = 0; i < DEEP; i++)
		memcpy(path + 4 + (ptrdiff_t)i * 2, "d/", 2);
	memcpy(path + 4 + (ptrdiff_t)2 * DEEP, "f", 2);
	n = count_calls(&p, path, drop_deep);
	CHECK_CASE(n < DEEP * EACH, "%u calls for %d directories", n, DEEP);
	assert_int_equal(fstatat(p.work, "old/d", &st, 0), -1);
	assert_int_equal(fstatat(p.work, "old", &st, 0), 0);
	/* By another way, and from the root: the same are gone. */
	assert_true(drop_deep(&p, "old/a/b/../c/d/f"));
	assert_true(drop_deep(&p, "/work/old/./a//b/./c/f"));
	assert_int_equal(fstatat(p.work, "old/a", &st, 0), -1);
	assert_int_equal(fstatat(p.work, "old", &st, 0), 0);
}

/* In a child, because the limit stays: a file that cannot grow beyond it is a disk that is full. */
TEST(files_a_full_disk_leaves_the_old_content)
{
	YARD(p);
	char big[8192];
	int status = 0;
	pid_t pid;

	memset(big, 'n', sizeof(big));
	yard_put(p.work, "a", STR("old"), 0644);
	pid = fork();
	if (pid == 0) {
		struct rlimit small = { 4096, 4096 };

		(void)signal(SIGXFSZ, SIG_IGN);
		if (setrlimit(RLIMIT_FSIZE, &small) < 0)
			_exit(1);
		_exit(write_at(&p, "a", (struct str){ big, sizeof(big) }, 0) == -EFBIG ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	YARD_CHECK(p.work, "a", STR("old"));
	assert_int_equal(yard_count(p.work), 1);
}

TEST_MAIN()
