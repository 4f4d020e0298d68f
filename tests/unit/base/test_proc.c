/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* /bin/sh -c SCRIPT with the given fds; the caller has 10 s before a hung child fails the test. */
static struct proc_spec shell(char *const argv[static 4], const int *fds, size_t n_fds)
{
	return (struct proc_spec){ .path = "/bin/sh", .argv = argv, .fds = fds, .n_fds = n_fds };
}
#define SH(script) ((char *[]){ (char[]){ "sh" }, (char[]){ "-c" }, (char[]){ script }, NULL })

static struct proc_status run(const struct proc_spec *spec)
{
	_cleanup_proc_ struct proc p = PROC_NONE;
	struct proc_status st = { 0 };

	assert_int_equal(proc_spawn(spec, &p), 0);
	assert_int_equal(proc_wait(&p, clock_deadline(10000), &st), 0);
	assert_int_equal(p.pid, 0);
	return st;
}

/* What the script prints. */
static void check_output(struct proc_spec spec, const char *want)
{
	_cleanup_proc_ struct proc child = PROC_NONE;
	_cleanup_free_ char *text = NULL;
	struct proc_status st;
	size_t n = 0;
	int p[2];

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	spec.fds = (int[]){ FD_NONE, p[1], 2 };
	spec.n_fds = 3;
	assert_int_equal(proc_spawn(&spec, &child), 0);
	(void)fd_close(p[1]);
	assert_int_equal(fd_read_all(p[0], 10000, &text, &n), 0);
	(void)fd_close(p[0]);
	assert_int_equal(proc_wait(&child, clock_deadline(10000), &st), 0);
	assert_string_equal(text, want);
}

static size_t open_fds(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

TEST(proc_reports_the_exit_status)
{
	struct proc_spec spec = shell(SH("exit 42"), NULL, 0);
	struct proc_status st = run(&spec);

	assert_int_equal(st.end, PROC_EXITED);
	assert_int_equal(st.code, 42);
}

TEST(proc_reports_the_signal_that_ended_it)
{
	struct proc_spec spec = shell(SH("kill -TERM $$"), NULL, 0);
	struct proc_status st = run(&spec);

	assert_int_equal(st.end, PROC_SIGNALED);
	assert_int_equal(st.code, SIGTERM);
}

TEST(proc_that_cannot_start_is_an_error_of_spawn)
{
	char *argv[] = { (char[]){ "x" }, NULL };
	size_t before = open_fds();
	struct proc p = PROC_NONE;

	assert_int_equal(proc_spawn(&(struct proc_spec){ .path = "/nonexistent", .argv = argv }, &p),
			 -ENOENT);
	assert_int_equal(proc_spawn(&(struct proc_spec){ .path = "/etc/passwd", .argv = argv }, &p), -EACCES);
	assert_int_equal(
		proc_spawn(&(struct proc_spec){ .path = "/bin/true", .argv = argv, .cwd = "/none" }, &p),
		-ENOENT);
	assert_int_equal(proc_spawn(&(struct proc_spec){ .path = NULL, .argv = argv }, &p), -EINVAL);
	assert_int_equal(proc_spawn(&(struct proc_spec){ .path = "/bin/true", .argv = argv, .n_fds = 3 }, &p),
			 -EINVAL);
	assert_int_equal(p.pid, 0);
	assert_int_equal(open_fds(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* and no zombie */
	assert_int_equal(errno, ECHILD);
}

TEST(proc_begun_says_what_spawn_would_have_said)
{
	const struct {
		const char *path;
		int error;
	} cases[] = { { "/bin/true", 0 }, { "/nonexistent", -ENOENT }, { "/", -EACCES } };
	size_t fds = open_fds();

	for (size_t i = 0; i < 3; i++) {
		char *const argv[] = { (char[]){ "x" }, NULL };
		struct proc_spec spec = { .path = cases[i].path, .argv = argv };
		struct proc_start *start = NULL;
		struct proc p = PROC_NONE;
		struct proc_status st;

		assert_int_equal(proc_begin(&spec, &start, &p), 0);
		assert_int_equal(proc_begun(&start, &p), cases[i].error);
		assert_null(start);
		assert_int_equal(proc_begun(&start, &p), 0); /* nothing is on its way any more */
		if (cases[i].error == 0)
			assert_int_equal(proc_wait(&p, clock_deadline(10000), &st), 0);
		proc_done(&p);
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
		assert_int_equal(open_fds(), fds);
	}
}

/* The child makes calls that fail, in our memory. */
TEST(proc_that_is_being_executed_leaves_errno_alone)
{
	char *const argv[] = { (char[]){ "x" }, NULL };
	struct proc_spec spec = { .path = "/nonexistent", .argv = argv };

	for (int i = 0; i < 50; i++) {
		struct proc_start *start = NULL;
		struct proc p = PROC_NONE;

		assert_int_equal(proc_begin(&spec, &start, &p), 0);
		for (int k = 0; k < 2000; k++) {
			assert_int_equal(close(-1), -1);
			assert_int_equal(errno, EBADF);
		}
		assert_int_equal(proc_begun(&start, &p), -ENOENT);
	}
}

/* It is moved to another processor at its birth, and back if nobody has begun it there; its program must not notice. */
TEST(proc_begun_may_run_where_its_parent_may)
{
	char *const argv[] = { (char[]){ "sleep" }, (char[]){ "60" }, NULL };
	struct proc_spec spec = { .path = "/bin/sleep", .argv = argv, .beside = true };
	cpu_set_t home, one, its;

	assert_int_equal(sched_getaffinity(0, sizeof(home), &home), 0);
	for (int i = 0; i < 60; i++) {
		_cleanup_proc_ struct proc p = PROC_NONE;
		struct proc_start *start = NULL;
		const cpu_set_t *want = &home;

		if (i % 3 == 2) { /* held to one itself */
			CPU_ZERO(&one);
			CPU_SET((size_t)sched_getcpu(), &one);
			assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
			want = &one;
		}
		assert_int_equal(proc_begin(&spec, &start, &p), 0);
		if (i % 3 == 1)
			assert_int_equal(usleep(2000), 0); /* it is done before we wait */
		assert_int_equal(proc_begun(&start, &p), 0);
		assert_int_equal(sched_getaffinity(p.pid, sizeof(its), &its), 0);
		assert_true(CPU_EQUAL(&its, want));
		assert_int_equal(sched_setaffinity(0, sizeof(home), &home), 0);
	}
}

TEST(proc_executes_a_descriptor_and_leaves_it_closed)
{
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, (char[]){ "echo $0 /proc/self/fd/*" }, NULL };
	struct proc_spec spec = { .argv = argv };

	for (int at = 3; at < 40; at += 9) { /* lower and higher than what it is given */
		_cleanup_close_ int fd = open("/bin/sh", O_PATH | O_CLOEXEC);

		spec.exec_fd = fcntl(fd, F_DUPFD_CLOEXEC, at);
		assert_true(spec.exec_fd >= at);
		/* the shell's own listing is fd 3; nothing else is there */
		check_output(spec, "sh /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n");
		assert_int_equal(close(spec.exec_fd), 0);
	}
}

TEST(proc_descriptor_to_execute_may_also_be_passed_on)
{
	_cleanup_close_ int fd = open("/bin/sh", O_RDONLY | O_CLOEXEC);
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" },
			 (char[]){ "test -e /proc/self/fd/3 && test /proc/self/fd/3 -ef /bin/sh && exit 7" },
			 NULL };
	struct proc_spec spec = { .exec_fd = fd, .argv = argv, .fds = (int[]){ -1, -1, 2, fd }, .n_fds = 4 };
	struct proc_status st = run(&spec);

	assert_int_equal(st.end, PROC_EXITED);
	assert_int_equal(st.code, 7);
}

TEST(proc_descriptor_that_is_no_program_is_an_error_of_spawn)
{
	char *argv[] = { (char[]){ "x" }, NULL };
	_cleanup_close_ int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	size_t before = open_fds();
	struct proc p = PROC_NONE;

	assert_int_equal(proc_spawn(&(struct proc_spec){ .exec_fd = file, .argv = argv }, &p), -EACCES);
	assert_int_equal(proc_spawn(&(struct proc_spec){ .exec_fd = 250, .argv = argv }, &p), -EBADF);
	assert_int_equal(proc_spawn(&(struct proc_spec){ .exec_fd = FD_NONE, .argv = argv }, &p), -EINVAL);
	assert_int_equal(p.pid, 0);
	assert_int_equal(open_fds(), before);
}

TEST(proc_wait_gives_up_at_the_deadline_and_kill_ends_it)
{
	struct proc_spec spec = shell(SH("exec sleep 60"), NULL, 0);
	_cleanup_proc_ struct proc p = PROC_NONE;
	struct proc_status st = { 0 };
	uint64_t start = clock_mono_ms();

	assert_int_equal(proc_spawn(&spec, &p), 0);
	assert_int_equal(proc_wait(&p, clock_deadline(50), &st), -ETIMEDOUT);
	assert_true(clock_mono_ms() - start >= 50);
	assert_int_equal(st.end, PROC_RUNNING);
	assert_int_equal(proc_kill(&p, SIGKILL), 0);
	assert_int_equal(proc_wait(&p, clock_deadline(10000), &st), 0);
	assert_int_equal(st.end, PROC_SIGNALED);
	assert_int_equal(st.code, SIGKILL);
	assert_int_equal(proc_kill(&p, SIGKILL), -ESRCH);
	assert_int_equal(proc_wait(&p, 0, &st), -ECHILD);
}

TEST(proc_done_kills_what_still_runs)
{
	struct proc_spec spec = shell(SH("exec sleep 60"), NULL, 0);
	size_t before = open_fds();
	struct proc p = PROC_NONE;
	pid_t pid;

	assert_int_equal(proc_spawn(&spec, &p), 0);
	pid = p.pid;
	proc_done(&p);
	assert_int_equal(p.pidfd, FD_NONE);
	assert_int_equal(kill(pid, 0), -1); /* reaped: the number is free */
	assert_int_equal(errno, ESRCH);
	assert_int_equal(open_fds(), before);
	proc_done(&p); /* twice is fine */
}

TEST(proc_environment_is_empty_unless_given)
{
	char *env[] = { (char[]){ "A=1" }, (char[]){ "B=2" }, NULL };
	char *argv[] = { (char[]){ "env" }, NULL };
	struct proc_spec spec = { .path = "/usr/bin/env", .argv = argv };

	check_output(spec, "");
	spec.envp = env;
	check_output(spec, "A=1\nB=2\n");
}

TEST(proc_gets_its_arguments_whole)
{
	char *argv[] = { (char[]){ "sh" },
			 (char[]){ "-c" },
			 (char[]){ "printf '[%s]' \"$@\"" },
			 (char[]){ "x" },
			 (char[]){ "" },
			 (char[]){ "a b" },
			 (char[]){ "$HOME" },
			 NULL };

	check_output((struct proc_spec){ .path = "/bin/sh", .argv = argv }, "[][a b][$HOME]");
}

TEST(proc_starts_in_its_directory)
{
	struct proc_spec spec = shell(SH("pwd"), NULL, 0);

	spec.cwd = "/usr";
	check_output(spec, "/usr\n");
}

/* The leak is opened without close-on-exec on purpose. */
TEST(proc_child_has_the_named_fds_and_no_other)
{
	_cleanup_close_ int leak = open("/dev/zero", O_RDONLY);

	assert_true(leak > 2);
	/* fd 3 is ls's own, on the directory it lists */
	check_output(shell(SH("exec ls /proc/self/fd"), NULL, 0), "0\n1\n2\n3\n");
}

TEST(proc_unnamed_stdio_is_dev_null)
{
	check_output(shell(SH("readlink /proc/self/fd/0"), NULL, 0), "/dev/null\n");
}

TEST(proc_fds_may_swap_places)
{
	_cleanup_free_ char *one = NULL, *two = NULL;
	struct proc_spec spec;
	int p[2], q[2], saved[2];
	size_t n;

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	assert_int_equal(pipe2(q, O_CLOEXEC), 0);
	/* our 1 becomes the child's 2 and the other way round */
	saved[0] = fcntl(1, F_DUPFD_CLOEXEC, 10);
	saved[1] = fcntl(2, F_DUPFD_CLOEXEC, 10);
	fflush(NULL);
	assert_int_equal(dup2(p[1], 1), 1);
	assert_int_equal(dup2(q[1], 2), 2);
	spec = shell(SH("echo out; echo err >&2"), (int[]){ FD_NONE, 2, 1 }, 3);
	(void)run(&spec);
	(void)dup2(saved[0], 1);
	(void)dup2(saved[1], 2);
	for (int i = 0; i < 2; i++)
		(void)fd_close(saved[i]);
	(void)fd_close(p[1]);
	(void)fd_close(q[1]);
	assert_int_equal(fd_read_all(p[0], 100, &one, &n), 0);
	assert_int_equal(fd_read_all(q[0], 100, &two, &n), 0);
	(void)fd_close(p[0]);
	(void)fd_close(q[0]);
	assert_string_equal(one, "err\n");
	assert_string_equal(two, "out\n");
}

TEST(proc_bad_fd_is_refused)
{
	struct proc_spec spec = shell(SH("true"), (int[]){ 250 }, 1);
	struct proc p = PROC_NONE;

	assert_int_equal(proc_spawn(&spec, &p), -EBADF);
}

static void on_signal(int sig)
{
	(void)sig;
}

TEST(proc_child_starts_with_default_signals_and_an_empty_mask)
{
	struct proc_spec spec = shell(SH("exec sed -n '/^Sig[BIC]/p' /proc/self/status"), NULL, 0);
	sigset_t some, before, after;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGUSR1, on_signal);
	sigemptyset(&some);
	sigaddset(&some, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &some, &before), 0);
	check_output(spec,
		     "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nSigCgt:\t0000000000000000\n");
	/* and ours are as they were */
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, &after), 0);
	assert_true(sigismember(&after, SIGTERM));
	assert_false(sigismember(&after, SIGINT));
	assert_true(signal(SIGPIPE, SIG_DFL) == SIG_IGN);
	assert_true(signal(SIGUSR1, SIG_DFL) == on_signal);
}

TEST(proc_new_session_leads_its_own_group)
{
	struct proc_spec spec = shell(SH("exec sleep 60"), NULL, 0);
	_cleanup_proc_ struct proc p = PROC_NONE, q = PROC_NONE;

	assert_int_equal(proc_spawn(&spec, &p), 0);
	assert_int_equal(getpgid(p.pid), getpgrp());
	spec.new_session = true;
	assert_int_equal(proc_spawn(&spec, &q), 0);
	assert_int_equal(getsid(q.pid), q.pid);
}

/* Waits on a pipe that only the grandchild holds: its end is the only thing that closes it. */
TEST(proc_die_with_parent_does)
{
	int p[2];
	char byte;
	pid_t middle;

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	fflush(NULL);
	middle = fork();
	assert_true(middle >= 0);
	if (middle == 0) {
		struct proc_spec spec = shell(SH("exec sleep 60"), (int[]){ FD_NONE, p[1] }, 2);
		struct proc child = PROC_NONE;

		spec.die_with_parent = true;
		_exit(proc_spawn(&spec, &child) == 0 ? 0 : 1);
	}
	(void)fd_close(p[1]);
	assert_int_equal(waitpid(middle, NULL, 0), middle);
	assert_int_equal(read(p[0], &byte, 1), 0);
	(void)fd_close(p[0]);
}

TEST(proc_without_descriptors_left_fails_and_leaks_nothing)
{
	struct proc_spec spec = shell(SH("true"), NULL, 0);
	struct rlimit before, none;
	struct proc p = PROC_NONE;
	size_t fds = open_fds();
	int r;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ .rlim_cur = 3, .rlim_max = before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	r = proc_spawn(&spec, &p);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(r, -EMFILE);
	assert_int_equal(open_fds(), fds);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

TEST_MAIN()
