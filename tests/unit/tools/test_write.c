/* SPDX-License-Identifier: Apache-2.0 */
#include "calling.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

TEST(write_makes_directories_and_says_whether_it_is_new)
{
	YARD(p);
	CALL(c, p);

	call_ok(&c, "write", "{path:'a/b/c.txt', content:'h\\u00e9'}");
	assert_true(got_bool(&c, "created"));
	assert_int_equal(got_int(&c, "bytes"), 3);
	YARD_CHECK(p.work, "a/b/c.txt", STR("h\xc3\xa9"));
	call_ok(&c, "write", "{path:'/work/a/b/c.txt', content:''}");
	assert_false(got_bool(&c, "created"));
	YARD_CHECK(p.work, "a/b/c.txt", STR(""));
}

TEST(write_keeps_the_mode_of_a_file_and_writes_through_a_link)
{
	YARD(p);
	CALL(c, p);
	struct stat st;

	yard_put(p.work, "run.sh", STR("old"), 0750);
	assert_int_equal(symlinkat("run.sh", p.work, "link"), 0);
	call_ok(&c, "write", "{path:'link', content:'new', append:false}");
	YARD_CHECK(p.work, "run.sh", STR("new"));
	assert_int_equal(fstatat(p.work, "run.sh", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode & 07777, 0750);
	assert_int_equal(fstatat(p.work, "link", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(yard_count(p.work), 2);
}

TEST(what_is_written_has_no_right_of_its_owner_any_more)
{
	YARD(p);
	CALL(c, p);
	struct stat st;

	yard_put(p.work, "s", STR("old\n"), 0644);
	assert_int_equal(fchmodat(p.work, "s", 06755, 0), 0);
	call_ok(&c, "edit", "{path:'s', oldText:'old', newText:'new'}");
	assert_int_equal(fstatat(p.work, "s", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
}

TEST(write_appends_when_told)
{
	YARD(p);
	CALL(c, p);

	call_ok(&c, "write", "{path:'d/log', content:'a\\n', append:true}");
	call_ok(&c, "write", "{path:'d/log', content:'b\\n', append:true}");
	YARD_CHECK(p.work, "d/log", STR("a\nb\n"));
}

TEST(write_refuses_what_is_no_file_and_what_is_too_large)
{
	YARD(p);
	CALL(c, p);

	assert_int_equal(mkfifoat(p.work, "fifo", 0666), 0);
	yard_put(p.work, "f", STR("x"), 0644);
	call_fails(&c, "write", "{path:'fifo', content:'x'}", ERR_USAGE, "FIFO, socket or device");
	call_fails(&c, "write", "{path:'fifo', content:'x', append:true}", ERR_USAGE,
		   "FIFO, socket or device");
	call_fails(&c, "write", "{path:'/work', content:'x'}", ERR_USAGE, "it is a directory");
	call_fails(&c, "write", "{path:'new/', content:'x'}", ERR_USAGE, "it is a directory");
	call_fails(&c, "write", "{path:'f/x', content:'x'}", ERR_USAGE, "must be a directory");
	c.ctx.write_max = 3;
	call_fails(&c, "write", "{path:'f', content:'four'}", ERR_LIMIT, "has 4 bytes, and may have 3");
	YARD_CHECK(p.work, "f", STR("x"));
}

static int map_self(uid_t uid, gid_t gid)
{
	const struct {
		const char *file;
		unsigned id;
	} maps[] = { { "setgroups", 0 }, { "uid_map", uid }, { "gid_map", gid } };

	for (size_t i = 0; i < 3; i++) {
		char path[64], text[64];
		_cleanup_close_ int fd = FD_NONE;

		(void)snprintf(path, sizeof(path), "/proc/self/%s", maps[i].file);
		(void)snprintf(text, sizeof(text), i ? "%u %u 1" : "deny", maps[i].id, maps[i].id);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || fd_write_all(fd, str_z(text)) < 0)
			return -1;
	}
	return 0;
}

/* In a child with a mount namespace of its own: the work directory becomes a file system of 64 KiB, or one that is read-only. */
static int with_mount(struct yard *p, const char *type, unsigned long flags, const char *options,
		      int (*body)(struct yard *p))
{
	char path[128], root[128];
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int status = 0;
	pid_t pid;

	(void)snprintf(root, sizeof(root), "%s/in", p->path);
	(void)snprintf(path, sizeof(path), "%s/in/work", p->path);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
		    (uid != 0 && map_self(uid, gid) < 0) ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount(type, path, type, flags, options) < 0)
			_exit(100);
		/* The descriptors that there are still lead to the mounts of before. */
		(void)fd_close(p->root);
		(void)fd_close(p->work);
		p->root = openat(AT_FDCWD, root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		p->work = openat(p->root, "work", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		yard_open(p);
		status = body(p);
		if (p->boxed)
			yard_box_close(p->box);
		_exit(status);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool holds(int dir, const char *path, const char *want)
{
	char text[64];

	return str_eq(yard_get(dir, path, text, sizeof(text)), str_z(want));
}

static int fill_disk(struct yard *p)
{
	static char args[200000];
	CALL(c, *p);
	size_t n = (size_t)snprintf(args, sizeof(args), "{path:'a', content:'");

	memset(args + n, 'x', 150000);
	memcpy(args + n + 150000, "'}", 3);
	yard_put(p->work, "a", STR("old"), 0644);
	if (call_run(&c, "write", str_z(args)) >= 0 || c.e.kind != ERR_LIMIT ||
	    !strstr(c.e.msg, "no space is left"))
		return 1;
	if (!holds(p->work, "a", "old") || yard_count(p->work) != 1)
		return 2;
	memcpy(args + n + 150000, "', append:true}", 16);
	if (call_run(&c, "write", str_z(args)) >= 0 || c.e.kind != ERR_LIMIT)
		return 3;
	return holds(p->work, "a", "old") ? 0 : 4;
}

TEST(write_on_a_full_disk_leaves_the_old_content)
{
	YARD(p);

	assert_int_equal(with_mount(&p, "tmpfs", 0, "size=64k", fill_disk), 0);
}

static int write_read_only(struct yard *p)
{
	static const char *const calls[][2] = {
		{ "write", "{path:'a', content:'x'}" },
		{ "edit", "{path:'b', oldText:'x', newText:'y'}" },
		{ "apply_patch", "{input:'*** Begin Patch\\n*** Add File: a\\n+x\\n*** End Patch'}" },
	};
	CALL(c, *p);

	for (size_t i = 0; i < 3; i++) {
		if (call_run(&c, calls[i][0], str_z(calls[i][1])) >= 0)
			return 1;
		if (i != 1 && (c.e.kind != ERR_DENIED || !strstr(c.e.msg, "read-only file system")))
			return 2 + (int)i;
	}
	return 0;
}

TEST(write_on_a_read_only_file_system_says_so)
{
	YARD(p);

	assert_int_equal(with_mount(&p, "tmpfs", MS_RDONLY, NULL, write_read_only), 0);
}

TEST(file_read_and_file_write_keep_the_rules_of_jobs)
{
	static const char *const bad[] = {
		"/etc/passwd", "\\\\x", "./a", "..", "../x", "a/../b", "a/..", ""
	};
	YARD(p);
	CALL(c, p);
	char args[128];

	call_ok(&c, "file_write", "{path:'d/a.txt', content:'h\\u00e9llo'}");
	CHECK_STR(got_str(&c, "stdout"), STR("OK"));
	CHECK_STR(value_get(&got(&c, "artifacts")->arr.v[0], STR("path"))->s, STR("d/a.txt"));
	CHECK_STR(value_get(&got(&c, "artifacts")->arr.v[0], STR("type"))->s, STR("file"));
	YARD_CHECK(p.work, "d/a.txt", STR("h\xc3\xa9llo"));
	call_ok(&c, "file_read", "{path:'d/a.txt'}");
	CHECK_STR(got_str(&c, "stdout"), STR("h\xc3\xa9llo"));
	assert_false(got_bool(&c, "truncated"));
	call_ok(&c, "file_read", "{path:'d/a.txt', max_bytes:1}");
	CHECK_STR(got_str(&c, "stdout"), STR("h"));
	assert_true(got_bool(&c, "truncated"));
	yard_put(p.work, "bytes",
		 STR("a\xff"
		     "b\0c"),
		 0644);
	call_ok(&c, "file_read", "{path:'bytes'}");
	CHECK_STR(got_str(&c, "stdout"), STR("a\xef\xbf\xbd"
					     "b\0c"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(args, sizeof(args), "{path:'%s', content:'x'}", bad[i]);
		call_fails(&c, "file_write", args, ERR_DENIED, "must be relative");
		CHECK_STR(str_z(tools_job_result(&c.e).error), STR("denied"));
		assert_int_equal(tools_job_result(&c.e).exit, 14);
	}
	assert_int_equal(symlinkat("../..", p.work, "out"), 0);
	call_fails(&c, "file_read", "{path:'out/canary'}", ERR_DENIED, "leads out of the workspace");
	call_fails(&c, "file_write", "{path:'out/canary', content:'x'}", ERR_DENIED,
		   "leads out of the workspace");
	call_fails(&c, "file_read", "{path:'missing'}", ERR_NOTFOUND, "no such file");
	CHECK_STR(str_z(tools_job_result(&c.e).error), STR("not_found"));
	assert_int_equal(tools_job_result(&c.e).exit, 15);
	call_fails(&c, "file_read", "{path:'a', max_bytes:2000001}", ERR_USAGE, "must be 1..2000000");
	call_fails(&c, "file_read", "{path:'a', max_bytes:0}", ERR_USAGE, "must be 1..2000000");
}

TEST(file_write_takes_two_million_bytes_and_not_one_more)
{
	YARD(p);
	CALL(c, p);
	_cleanup_free_ char *args = malloc(2000100);
	size_t n = (size_t)sprintf(args, "{path:'a', content:'");
	struct stat st;

	memset(args + n, 'x', 2000001);
	memcpy(args + n + 2000000, "'}", 3);
	call_ok(&c, "file_write", args);
	assert_int_equal(fstatat(p.work, "a", &st, 0), 0);
	assert_int_equal(st.st_size, 2000000);
	memcpy(args + n + 2000000, "x'}", 4);
	call_fails(&c, "file_write", args, ERR_LIMIT, "'content' has 2000001 bytes");
	call_ok(&c, "file_read", "{path:'a', max_bytes:2000000}");
	assert_int_equal(got_str(&c, "stdout").n, 2000000);
	call_ok(&c, "file_read", "{path:'a'}");
	assert_int_equal(got_str(&c, "stdout").n, 200000);
	assert_int_equal(got_int(&c, "totalBytes"), 2000000);
}

TEST_MAIN()
