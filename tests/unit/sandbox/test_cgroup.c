/* SPDX-License-Identifier: Apache-2.0 */
/* Against a tree of plain files, where nothing is enforced, and against the real one of this machine, where it is. */
#include "check.h"

#include "base/fd.h"
#include "sandbox/advice.h"
#include "sandbox/cgroup.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a tree of plain files ---- */

static char tree[64], self_file[80];
static int make_errno;

static void put(const char *dir, const char *file, const char *text)
{
	char path[CGROUP_PATH_MAX + 80];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, str_z(text)), 0);
	(void)fd_close(fd);
}

static void check_file(const char *dir, const char *file, const char *want)
{
	_cleanup_free_ char *text = NULL;
	char path[CGROUP_PATH_MAX + 80];
	size_t n;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, file);
	CHECK_CASE(fd_read_file(path, 4096, &text, &n) == 0, "no %s", path);
	CHECK_CASE(strcmp(text, want) == 0, "%s is '%s', want '%s'", path, text, want);
}

static void make_below(const char *path)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s%s", tree, path);
	for (char *at = full + strlen(tree) + 1; *at; at++)
		if (*at == '/') {
			*at = '\0';
			(void)mkdir(full, 0700);
			*at = '/';
		}
	(void)mkdir(full, 0700);
}

/* As the kernel does: a new group has its files from birth. */
static int make_fake(const char *path)
{
	static const char *const files[] = { "memory.max",
					     "memory.swap.max",
					     "memory.oom.group",
					     "memory.kmem.tcp.limit_in_bytes",
					     "pids.max",
					     "cpu.max",
					     "memory.limit_in_bytes",
					     "cpu.cfs_period_us",
					     "cpu.cfs_quota_us",
					     "cgroup.procs" };

	if (make_errno)
		return -make_errno;
	if (mkdir(path, 0700) < 0)
		return -errno;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		put(path, files[i], "");
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static struct cgroup_host new_tree(const char *self)
{
	make_errno = 0;
	(void)snprintf(tree, sizeof(tree), "/tmp/creel-test-XXXXXX");
	assert_non_null(mkdtemp(tree));
	(void)snprintf(self_file, sizeof(self_file), "%s/self", tree);
	put(tree, "self", self);
	return (struct cgroup_host){ .root = tree, .self = self_file, .make_dir = make_fake };
}

static void remove_tree(void)
{
	assert_int_equal(nftw(tree, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void add_v2(const char *path, const char *on)
{
	char dir[256];

	make_below(path);
	(void)snprintf(dir, sizeof(dir), "%s%s", tree, path);
	put(dir, "cgroup.controllers", on);
	put(dir, "cgroup.subtree_control", on);
}

static const struct cgroup_limits all = {
	.must = CGROUP_MEMORY | CGROUP_PIDS | CGROUP_CPU, .memory = 64 << 20, .pids = 30, .cpus = 0.5
};

static void check_below(const char *dir, const char *parent)
{
	char want[256];

	(void)snprintf(want, sizeof(want), "%s%s/creel-%d-", tree, parent, getpid());
	CHECK_CASE(strncmp(dir, want, strlen(want)) == 0, "'%s' is not below '%s'", dir, want);
}

TEST(cgroup_v2_that_stays_does_not_end_as_a_whole)
{
	struct cgroup_host h = new_tree("0::/\n");
	struct cgroup_limits l = all;
	struct cgroup c = CGROUP_EMPTY;
	struct err e = { 0 };

	l.stays = true;
	add_v2("", "cpu memory pids\n");
	assert_int_equal(cgroup_new_on(&h, &l, STR(""), &c, &e), 0);
	check_file(c.dir[0], "memory.max", "67108864");
	check_file(c.dir[0], "memory.oom.group", "");
	cgroup_done(&c);
}

TEST(cgroup_v2_is_made_in_our_own_group)
{
	struct cgroup_host h = new_tree("0::/user.slice/me\n");
	struct cgroup c = CGROUP_EMPTY;
	struct err e = { 0 };

	add_v2("", "cpu memory pids\n");
	add_v2("/user.slice/me", "cpu memory pids\n");
	assert_int_equal(cgroup_new_on(&h, &all, STR(""), &c, &e), 0);
	assert_int_equal(c.version, CGROUP_V2);
	assert_int_equal(c.have, all.must);
	check_below(c.dir[0], "/user.slice/me");
	check_file(c.dir[0], "memory.max", "67108864");
	check_file(c.dir[0], "memory.swap.max", "0"); /* or it would grow on into swap */
	check_file(c.dir[0], "memory.oom.group", "1");
	check_file(c.dir[0], "pids.max", "30");
	check_file(c.dir[0], "cpu.max", "50000 100000");
	assert_true(c.fd >= 0);
	assert_true(fcntl(c.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(c.dir[1][0], '\0');
	cgroup_done(&c);
	remove_tree();
}

TEST(cgroup_v2_goes_up_to_a_group_that_can_have_limits)
{
	struct cgroup_host h = new_tree("1:name=systemd:/x\n0::/a/b/c\n");
	struct cgroup c = CGROUP_EMPTY;
	struct err e = { 0 };

	add_v2("", "");
	add_v2("/a", "memory cpu pids\n");
	add_v2("/a/b", "");
	add_v2("/a/b/c", "");
	assert_int_equal(cgroup_new_on(&h, &all, STR(""), &c, &e), 0);
	check_below(c.dir[0], "/a");
	cgroup_done(&c);
	remove_tree();
}

/* The kernel would take "+pids" there, and let nothing below it be entered ever after. */
TEST(cgroup_v2_with_processes_is_not_divided)
{
	struct cgroup_host h = new_tree("0::/a/b\n");
	struct cgroup c = CGROUP_EMPTY;
	struct err e = { 0 };
	char dir[128];

	add_v2("", "");
	add_v2("/a", "memory cpu pids\n");
	add_v2("/a/b", "memory cpu pids\n");
	(void)snprintf(dir, sizeof(dir), "%s/a/b", tree);
	put(dir, "cgroup.subtree_control", "");
	put(dir, "cgroup.type", "domain\n");
	put(dir, "cgroup.procs", "1\n");
	assert_int_equal(cgroup_new_on(&h, &all, STR(""), &c, &e), 0);
	check_below(c.dir[0], "/a");
	check_file(dir, "cgroup.subtree_control", "");
	cgroup_done(&c);
	put(dir, "cgroup.procs", "");
	put(dir, "cgroup.type", "domain threaded\n");
	assert_int_equal(cgroup_new_on(&h, &all, STR(""), &c, &e), 0);
	check_below(c.dir[0], "/a");
	cgroup_done(&c);
	put(dir, "cgroup.type", "domain\n");
	assert_true(cgroup_new_on(&h, &all, str_z(dir), &c, &e) <
		    0); /* plain files: nothing is on afterwards */
	check_file(dir, "cgroup.subtree_control", "+memory +pids +cpu ");
	remove_tree();
}

TEST(cgroup_v2_is_found_beside_v1)
{
	struct cgroup_host h = new_tree("5:memory:/\n0::/\n");
	struct cgroup c = CGROUP_EMPTY;
	struct err e = { 0 };

	add_v2("/unified", "cpu memory pids\n");
	assert_int_equal(cgroup_new_on(&h, &all, STR(""), &c, &e), 0);
	assert_int_equal(c.version, CGROUP_V2);
	check_below(c.dir[0], "/unified");
	cgroup_done(&c);
	remove_tree();
}

TEST(cgroup_names_of_controllers_are_whole_words)
{
	struct cgroup_host h = new_tree("0::/\n");
	struct cgroup c = CGROUP_EMPTY;
	struct err e = { 0 };

	add_v2("", "cpuset memoryx xpids\n");
	assert_true(cgroup_new_on(&h, &all, STR(""), &c, &e) < 0);
	assert_int_equal(c.version, CGROUP_NONE);
	remove_tree();
}

TEST(cgroup_best_effort_takes_what_there_is)
{
	struct cgroup_host h = new_tree("0::/\n");
	struct cgroup_limits soft = all;
	struct cgroup c = CGROUP_EMPTY;
	struct err e = { 0 };

	soft.must = CGROUP_PIDS;
	add_v2("", "pids\n");
	assert_int_equal(cgroup_new_on(&h, &soft, STR(""), &c, &e), 0);
	assert_int_equal(c.have,
			 CGROUP_PIDS); /* the files of the others are there, but nothing stands behind them */
	cgroup_done(&c);
	soft.must = 0;
	make_errno = EACCES;
	assert_int_equal(cgroup_new_on(&h, &soft, STR(""), &c, &e), 0);
	assert_int_equal(c.version, CGROUP_NONE);
	assert_int_equal(c.have, 0);
	assert_int_equal(e.kind, ERR_NONE);
	remove_tree();
}

TEST(cgroup_that_must_be_and_cannot_be_is_refused_with_the_fix)
{
	struct cgroup_host h = new_tree("0::/\n");
	struct cgroup c = CGROUP_EMPTY;
	struct err e = { 0 };

	add_v2("", "pids\n");
	assert_true(cgroup_new_on(&h, &all, STR(""), &c, &e) < 0);
	assert_int_equal(e.kind, ERR_UNAVAIL);
	CHECK_CASE(strstr(e.msg, "limit on memory, pids, cpu") || strstr(e.msg, "limit on memory, cpu"), "%s",
		   e.msg);
	assert_non_null(strstr(e.msg, advice_container() ? "fix: limits of the container itself (docker or podman run "
				      : geteuid() ? "fix: systemd-run --user --scope -p Delegate=yes creel "
						  : "fix: --cgroup-parent DIR"));
	assert_int_equal(c.version, CGROUP_NONE);
	assert_int_equal(c.fd, -EBADF);
	remove_tree();
}

TEST(cgroup_v1_takes_each_controller_from_its_own_hierarchy)
{
	struct cgroup_host h =
		new_tree("9:name=systemd:/\n4:memory:/deep/er\n3:cpu,cpuacct:/c\n2:pids:/\n0::/\n");
	struct cgroup c = CGROUP_EMPTY;
	struct err e = { 0 };

	make_below("/memory/deep/er");
	make_below("/cpu/c");
	make_below("/pids");
	assert_int_equal(cgroup_new_on(&h, &all, STR(""), &c, &e), 0);
	assert_int_equal(c.version, CGROUP_V1);
	assert_int_equal(c.have, all.must);
	check_below(c.dir[0], "/memory/deep/er");
	check_below(c.dir[1], "/pids");
	check_below(c.dir[2], "/cpu/c");
	check_file(c.dir[0], "memory.limit_in_bytes", "67108864");
	check_file(c.dir[0], "memory.kmem.tcp.limit_in_bytes", "67108864");
	check_file(c.dir[1], "pids.max", "30");
	check_file(c.dir[2], "cpu.cfs_period_us", "100000");
	check_file(c.dir[2], "cpu.cfs_quota_us", "50000");
	assert_true(c.fd < 0);
	assert_int_equal(cgroup_add(&c, 4711), 0);
	check_file(c.dir[0], "cgroup.procs", "4711");
	check_file(c.dir[2], "cgroup.procs", "4711");
	put(c.dir[0], "cgroup.procs", ""); /* cgroup_done() would look for it */
	cgroup_done(&c);
	remove_tree();
}

TEST(cgroup_v1_is_used_only_for_what_must_be)
{
	struct cgroup_host h = new_tree("4:memory:/\n2:pids:/\n");
	struct cgroup_limits l = all;
	struct cgroup c = CGROUP_EMPTY;
	struct err e = { 0 };

	make_below("/memory");
	make_below("/pids");
	l.must = 0;
	assert_int_equal(cgroup_new_on(&h, &l, STR(""), &c, &e), 0);
	assert_int_equal(c.version, CGROUP_NONE); /* moving into one takes milliseconds */
	l.must = CGROUP_PIDS;
	assert_int_equal(cgroup_new_on(&h, &l, STR(""), &c, &e), 0);
	assert_int_equal(c.dir[0][0], '\0');
	check_below(c.dir[1], "/pids");
	cgroup_done(&c);
	l.must = CGROUP_PIDS | CGROUP_CPU; /* there is no cpu hierarchy */
	assert_true(cgroup_new_on(&h, &l, STR(""), &c, &e) < 0);
	assert_non_null(strstr(e.msg, "limit on cpu:"));
	remove_tree();
}

TEST(cgroup_outside_our_namespace_is_nowhere)
{
	static const char *const odd[] = {
		"0::/../escape\n", "0::/..\n", "0::relative\n", "0:\n", "\n", "", "0::\n"
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		struct cgroup_host h = new_tree(odd[i]);
		struct cgroup c = CGROUP_EMPTY;
		struct err e = { 0 };

		add_v2("", "cpu memory pids\n");
		CHECK_CASE(cgroup_new_on(&h, &all, STR(""), &c, &e) < 0, "'%s' is taken", odd[i]);
		remove_tree();
	}
}

TEST(cgroup_parent_that_is_given_is_the_only_one_tried)
{
	struct cgroup_host h = new_tree("0::/\n");
	struct cgroup c = CGROUP_EMPTY;
	struct err e = { 0 };
	char parent[128];

	add_v2("", "cpu memory pids\n");
	add_v2("/mine", "cpu memory pids\n");
	(void)snprintf(parent, sizeof(parent), "%s/mine", tree);
	assert_int_equal(cgroup_new_on(&h, &all, str_z(parent), &c, &e), 0);
	check_below(c.dir[0], "/mine");
	cgroup_done(&c);
	(void)snprintf(parent, sizeof(parent), "%s/none", tree);
	assert_true(cgroup_new_on(&h, &all, str_z(parent), &c, &e) < 0);
	assert_int_equal(e.kind, ERR_UNAVAIL);
	assert_non_null(strstr(e.msg, parent));
	assert_true(cgroup_new_on(&h, &all, (struct str){ .p = "/a\0b", .n = 4 }, &c, &e) < 0);
	assert_int_equal(e.kind, ERR_USAGE);
	remove_tree();
}

TEST(cgroup_tiny_share_of_a_processor_is_the_least_the_kernel_takes)
{
	struct cgroup_host h = new_tree("0::/\n");
	struct cgroup_limits l = { .must = CGROUP_CPU, .cpus = 0.0001 };
	struct cgroup c = CGROUP_EMPTY;
	struct err e = { 0 };

	add_v2("", "cpu\n");
	assert_int_equal(cgroup_new_on(&h, &l, STR(""), &c, &e), 0);
	check_file(c.dir[0], "cpu.max", "1000 100000");
	cgroup_done(&c);
	remove_tree();
}

TEST(cgroup_stat_reads_both_versions)
{
	struct cgroup_host h = new_tree("0::/\n");
	struct cgroup_stat s;
	struct cgroup c = { .version = CGROUP_V2, .fd = -EBADF };

	(void)h;
	(void)snprintf(c.dir[0], sizeof(c.dir[0]), "%s", tree);
	put(tree, "memory.events", "low 1\noom 5\noom_kill 2\noom_group_kill 9\n");
	put(tree, "memory.peak", "4096\n");
	put(tree, "pids.events", "max 7\n");
	put(tree, "cpu.stat", "usage_usec 123\nuser_usec 100\nthrottled_usec 55\n");
	cgroup_stat(&c, &s);
	assert_int_equal(s.oom_kills, 2);
	assert_int_equal(s.memory_peak, 4096);
	assert_int_equal(s.pids_refused, 7);
	assert_int_equal(s.cpu_us, 123);
	assert_int_equal(s.throttled_us, 55);
	c.version = CGROUP_V1;
	put(tree, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
	put(tree, "memory.max_usage_in_bytes", "8192\n");
	cgroup_stat(&c, &s);
	assert_int_equal(s.oom_kills, 3);
	assert_int_equal(s.memory_peak, 8192);
	assert_int_equal(s.pids_refused, 0);
	cgroup_stat(&CGROUP_EMPTY, &s);
	assert_int_equal(s.oom_kills, 0);
	remove_tree();
}

/* ---- leftovers ---- */

TEST(cgroup_sweep_takes_only_old_empty_groups_of_the_dead)
{
	char mine[64], full[192];
	pid_t dead = fork();

	if (dead == 0)
		_exit(0);
	assert_int_equal(waitpid(dead, NULL, 0), dead);
	(void)new_tree("");
	(void)snprintf(mine, sizeof(mine), "/creel-%d-abc", getpid());
	make_below(mine);
	(void)snprintf(full, sizeof(full), "/creel-%d-1", dead);
	make_below(full);
	(void)snprintf(full, sizeof(full), "/creel-%d-2/busy", dead);
	make_below(full);
	make_below("/creel-x-1");
	make_below("/other-1-1");
	cgroup_sweep(tree, 3600); /* too young */
	(void)snprintf(full, sizeof(full), "%s/creel-%d-1", tree, dead);
	assert_int_equal(access(full, F_OK), 0);
	cgroup_sweep(tree, 0);
	assert_int_equal(access(full, F_OK), -1);
	(void)snprintf(full, sizeof(full), "%s/creel-%d-2", tree, dead);
	assert_int_equal(access(full, F_OK), 0);
	(void)snprintf(full, sizeof(full), "%s%s", tree, mine);
	assert_int_equal(access(full, F_OK), 0);
	(void)snprintf(full, sizeof(full), "%s/creel-x-1", tree);
	assert_int_equal(access(full, F_OK), 0);
	(void)snprintf(full, sizeof(full), "%s/other-1-1", tree);
	assert_int_equal(access(full, F_OK), 0);
	remove_tree();
	cgroup_sweep("/nonexistent", 0);
}

/* ---- the real one ---- */

static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			(void)pause();
	}
	assert_true(pid > 0);
	return pid;
}

/* As root there is always one: v2, or the controllers of v1. Without root there may be none, and then that is the answer. */
TEST(cgroup_of_this_machine_holds_and_goes)
{
	struct cgroup c = CGROUP_EMPTY;
	struct err e = { 0 };
	char dirs[3][CGROUP_PATH_MAX];
	pid_t pid;
	int status = 0;

	if (cgroup_new(&all, STR(""), &c, &e) < 0) {
		assert_int_equal(e.kind, ERR_UNAVAIL);
		assert_int_not_equal(geteuid(), 0);
		return;
	}
	assert_int_equal(c.have, all.must);
	memcpy(dirs, c.dir, sizeof(dirs));
	if (c.version == CGROUP_V1) {
		check_file(c.dir[0], "memory.limit_in_bytes", "67108864\n");
		check_file(c.dir[1], "pids.max", "30\n");
		check_file(c.dir[2], "cpu.cfs_quota_us", "50000\n");
	} else {
		check_file(c.dir[0], "memory.max", "67108864\n");
		check_file(c.dir[0], "pids.max", "30\n");
		check_file(c.dir[0], "cpu.max", "50000 100000\n");
	}
	pid = start_sleeper();
	assert_int_equal(cgroup_add(&c, pid), 0);
	if (c.version == CGROUP_V1) {
		char text[32];

		(void)snprintf(text, sizeof(text), "%d\n", pid);
		for (int i = 0; i < 3; i++)
			check_file(c.dir[i], "cgroup.procs", text);
	} else
		(void)kill(pid, SIGKILL); /* it would have been born there */
	/* Reaped by nobody while it is done: what is in it is killed, and the directories go all the same. */
	cgroup_done(&c);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	for (int i = 0; i < 3; i++)
		if (dirs[i][0])
			assert_int_equal(access(dirs[i], F_OK), -1);
	assert_int_equal(c.version, CGROUP_NONE);
}

TEST_MAIN()
