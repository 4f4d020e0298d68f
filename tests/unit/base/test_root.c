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

/* What uid 0 of a new user namespace is, whose maker is `uid`; negative where there is none to be had. */
static int other_root(uid_t uid)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		char map[64];

		if (uid && (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
			_exit(9);
		(void)prctl(PR_SET_DUMPABLE, 1); /* or its own /proc were root's */
		(void)snprintf(map, sizeof(map), "0 %u 1\n", geteuid());
		if (unshare(CLONE_NEWUSER) < 0 || !write_file("/proc/self/uid_map", map) || geteuid() != 0)
			_exit(8);
		_exit(root_of_host());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 8);
	return WEXITSTATUS(status);
}

TEST(root_is_the_hosts_and_nobody_who_is_called_so)
{
	assert_int_equal(root_of_host(), geteuid() == 0);
	assert_int_equal(other_root(geteuid() == 0 ? 12345 : 0), 0);
	if (geteuid() == 0)
		assert_int_equal(other_root(0), 1); /* the same one, with fewer rights: no ordinary user */
}

TEST_MAIN()
