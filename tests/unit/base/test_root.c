/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/fd.h"
#include "base/root.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_file(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* What `inside` of a new user namespace is, whose maker is `uid`; then that of one more in there. */
static int other(uid_t uid, uid_t inside, uid_t inner)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		char map[64];

		if (uid && (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
			_exit(9);
		(void)prctl(PR_SET_DUMPABLE, 1); /* or its own /proc were root's */
		for (int i = 0; i < 2; i++) {
			uid_t to = i ? inner : inside;
			char groups[64];

			(void)snprintf(map, sizeof(map), "%u %u 1\n", to, geteuid());
			(void)snprintf(groups, sizeof(groups), "%u %u 1\n", to, getegid());
			if (unshare(CLONE_NEWUSER) < 0 || !write_file("/proc/self/uid_map", map) ||
			    !write_file("/proc/self/setgroups", "deny") ||
			    !write_file("/proc/self/gid_map", groups) || geteuid() != to)
				_exit(8);
		}
		_exit(root_of_host());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 8);
	return WEXITSTATUS(status);
}

TEST(root_is_the_hosts_and_nobody_who_is_called_so)
{
	static const uid_t names[][2] = { { 0, 0 },         { 0, 1000 },     { 1000, 0 }, { 1000, 1000 },
					  { 65534, 65534 }, { 1000, 65534 }, { 65534, 0 } };

	assert_int_equal(root_of_host(), geteuid() == 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(other(geteuid() == 0 ? 12345 : 0, names[i][0], names[i][1]), 0);
		if (geteuid() == 0)
			assert_int_equal(other(0, names[i][0], names[i][1]), 1);
	}
	/* Whom that root is, nobody can tell who is called as those without a name: he may be the host's. */
	assert_int_equal(other(geteuid() == 0 ? 12345 : 0, 0, 65534), 1);
}

TEST_MAIN()
