/* SPDX-License-Identifier: Apache-2.0 */
/* What the static creel has in place of glibc's checked copies: they copy what fits, and nothing else. */
#include "../../../src/cli/fortify.c" /* first: it chooses how the others are read */

#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile size_t five = 5, four = 4; /* nobody may know them while compiling */

static int end_of(void (*what)(char *room))
{
	char room[8] = "........";
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		what(room);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void copy_too_much(char *room)
{
	(void)__memcpy_chk(room, "12345", five, four);
}

static void set_too_much(char *room)
{
	(void)__memset_chk(room, 'x', five, four);
}

TEST(fortify_what_fits_is_copied)
{
	char room[8] = ".......";

	assert_ptr_equal(__memcpy_chk(room, "12345", four, four), room);
	assert_string_equal(room, "1234...");
	assert_ptr_equal(__memset_chk(room, 'x', four, five), room);
	assert_string_equal(room, "xxxx...");
}

TEST(fortify_what_does_not_fit_ends_the_program)
{
	assert_int_equal(end_of(copy_too_much), SIGABRT);
	assert_int_equal(end_of(set_too_much), SIGABRT);
}

TEST_MAIN()
