/* SPDX-License-Identifier: Apache-2.0 */
/* What all services share: options, sockets that were handed over, telling the parent, signals, the runner's token. */
#include "spot.h"

#include "base/clock.h"
#include "server/service.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#define COUNT(v) ((int)(sizeof(v) / sizeof((v)[0])) - 1)

static int parse(const char *const *argv, int argc, size_t words, struct service_args *a, struct err *e)
{
	char *v[16];

	memcpy(v, argv, (size_t)argc * sizeof(*v));
	*e = (struct err){ 0 };
	return service_args_parse(argc, v, words, a, e);
}

TEST(options_mean_what_they_mean_on_the_command_line)
{
	const char *argv[] = { "x",           "-c",    "a.json",       "--config=athena:b",
			       "-ek=v",       "--set", "{\"a\":1}",    "-v",
			       "--state-dir", "/s",    "--log-format", "json",
			       "all",         NULL };
	struct service_args a;
	struct err e;

	assert_int_equal(parse(argv, COUNT(argv), 1, &a, &e), 0);
	assert_int_equal(a.n_config, 2);
	CHECK_STR(a.config[1], STR("athena:b"));
	assert_int_equal(a.n_sets, 2);
	CHECK_STR(a.sets[0], STR("k=v"));
	CHECK_STR(a.state_dir, STR("/s"));
	assert_int_equal(a.log_format, LOG_JSON);
	assert_true(a.verbose && !a.quiet);
	CHECK_STR(a.words[0], STR("all"));
}

TEST(wrong_options_are_refused_and_named)
{
	static const struct {
		const char *argv[5];
		const char *says;
	} cases[] = {
		{ { "x", "--nothing" }, "unknown option '--nothing'" },
		{ { "x", "-z" }, "unknown option '-z'" },
		{ { "x", "--state-dir" }, "needs a value" },
		{ { "x", "--state-dir", " " }, "must not be blank" },
		{ { "x", "--state-dir=a", "--state-dir=b" }, "given twice" },
		{ { "x", "--quiet=yes" }, "takes no value" },
		{ { "x", "-qv" }, "exclude each other" },
		{ { "x", "--log-format=xml" }, "'xml' is not text or json" },
		{ { "x", "guard" }, "unexpected 'guard'" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct service_args a;
		struct err e;
		int n = 0;

		while (n < 5 && cases[i].argv[n])
			n++;
		assert_true(parse(cases[i].argv, n, 0, &a, &e) < 0);
		CHECK_CASE(strstr(e.msg, cases[i].says), "%s, want %s", e.msg, cases[i].says);
	}
}

TEST(readiness_is_one_datagram_also_to_an_abstract_name)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	socklen_t n = sizeof(sa.sun_family); /* the kernel chooses an abstract name */
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct service s = { .notify = FD_NONE };
	struct err e = { 0 };
	char name[120] = "@", got[256];
	ssize_t len;

	assert_int_equal(bind(fd, (struct sockaddr *)&sa, n), 0);
	n = sizeof(sa);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &n), 0);
	memcpy(name + 1, sa.sun_path + 1, n - offsetof(struct sockaddr_un, sun_path) - 1);
	assert_int_equal(notify_open(name, &s.notify, &e), 0);
	service_ready(&s, "two\nlines");
	len = recv(fd, got, sizeof(got), MSG_DONTWAIT);
	CHECK_STR(((struct str){ .p = got, .n = (size_t)len }), STR("READY=1\nSTATUS=two lines\n"));
	service_reloading(&s);
	len = recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT);
	assert_true(len > 0);
	got[len] = '\0';
	assert_non_null(strstr(got, "RELOADING=1\nMONOTONIC_USEC="));
	fd_closep(&s.notify);
	assert_int_equal(notify_open(NULL, &s.notify, &e), 0);
	assert_true(s.notify < 0);
	service_ready(&s, "nobody"); /* harmless */
	assert_true(notify_open("relative", &s.notify, &e) < 0);
}

static int listening(void)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa.sun_family)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

/* In a child, whose descriptors and variables are its own: 0 when the service took exactly `want` sockets, else what it says. */
static void in_child(const char *fds, const char *names, bool own_pid, bool plain, size_t want,
		     const char *says)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		struct service s = { .notify = FD_NONE };
		struct err e = { 0 };
		char number[16];
		int a = fcntl(listening(), F_DUPFD, 100), b = fcntl(listening(), F_DUPFD, 100), r;

		(void)dup2(plain ? open("/dev/null", O_RDWR) : a, 3);
		(void)dup2(b, 4);
		(void)snprintf(number, sizeof(number), "%d", own_pid ? getpid() : getppid());
		(void)setenv("LISTEN_PID", number, 1);
		(void)setenv("LISTEN_FDS", fds, 1);
		(void)unsetenv("LISTEN_FDNAMES");
		if (names)
			(void)setenv("LISTEN_FDNAMES", names, 1);
		s.environ = environ;
		r = service_listeners(&s, "guard", &e);
		if (says)
			_exit(r < 0 && strstr(e.msg, says) ? 0 : 1);
		_exit(r == 0 && s.n_listeners == want && fcntl(s.listeners[0], F_GETFD) & FD_CLOEXEC &&
				      fcntl(s.listeners[0], F_GETFL) & O_NONBLOCK && !getenv("LISTEN_FDS")
			      ? 0
			      : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	CHECK_CASE(status == 0, "LISTEN_FDS=%s LISTEN_FDNAMES=%s: %d", fds, names ? names : "", status);
}

TEST(sockets_are_taken_by_their_names)
{
	in_child("2", NULL, true, false, 2, NULL);
	in_child("2", "guard:guard", true, false, 2, NULL);
	in_child("2", "runner:guard", true, false, 1, NULL);
	in_child("1", "guard", true, false, 1, NULL);
}

TEST(sockets_that_are_not_ours_or_no_sockets_are_refused)
{
	in_child("2", NULL, false, false, 0, "started by creeld");
	in_child("2", "runner:egress", true, false, 0, "no socket that is named 'guard'");
	in_child("1", NULL, true, true, 0, "descriptor 3");
	in_child("99", NULL, true, false, 0, "not a number up to 64");
}

static void drained(struct loop *l, void *ctx)
{
	(void)l;
	*(int *)ctx += 1;
}

TEST(the_first_sigterm_drains_and_the_second_ends_at_once)
{
	_cleanup_(loop_freep) struct loop *l = NULL;
	struct service s = { .notify = FD_NONE };
	struct err e = { 0 };
	int n = 0;

	assert_int_equal(loop_new(8, &l), 0);
	assert_int_equal(service_signals(&s, l, drained, &n, &e), 0);
	(void)raise(SIGTERM);
	assert_int_equal(loop_step(l, clock_deadline(5000)), 0);
	assert_int_equal(n, 1);
	(void)raise(SIGTERM);
	assert_int_equal(loop_run(l), SERVICE_CUT);
	assert_int_equal(n, 1);
}

TEST(directories_are_made_private_and_a_shared_one_is_refused)
{
	SPOT(p);
	struct service s = { .environ = environ, .args.state_dir = str_z(p.dir) };
	struct err e = { 0 };
	char path[SERVICE_PATH_MAX];
	struct stat st;

	assert_int_equal(chmod(p.path, 0711), 0);
	assert_int_equal(service_open_dirs(&s, &e), 0);
	assert_int_equal(fstat(s.run_fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(service_runner_address(&s, path, &e), 0);
	assert_int_equal(strncmp(path, "unix:/", 6), 0);
	assert_true(str_ends(str_z(path), STR("/d/run/runner.sock")));
	(void)fchmod(s.run_fd, 0755);
	fd_closep(&s.state_fd);
	fd_closep(&s.run_fd);
	assert_true(service_open_dirs(&s, &e) < 0);
	assert_non_null(strstr(e.msg, "0700"));
	fd_closep(&s.state_fd);
}

TEST(the_runners_token_comes_from_the_variable_or_a_private_file)
{
	SPOT(p);
	_cleanup_close_ int dir = open(p.path, O_RDONLY | O_DIRECTORY);
	struct runner_token made, found;
	struct err e = { 0 };

	assert_true(runner_token_find(dir, p.path, NULL, &found, &e) < 0);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_non_null(strstr(e.msg, "creel token new --runner"));
	assert_int_equal(runner_token_make(dir, p.path, &made, &e), 0);
	assert_int_equal(made.n, 71);
	assert_int_equal(runner_token_find(dir, p.path, NULL, &found, &e), 0);
	CHECK_STR(runner_token_str(&found), runner_token_str(&made));
	assert_int_equal(runner_token_find(dir, p.path, "other", &found, &e), 0);
	CHECK_STR(runner_token_str(&found), STR("other"));
	assert_true(runner_token_find(dir, p.path, "two words", &found, &e) < 0);
	assert_null(strstr(e.msg, "two words")); /* a secret is not quoted */
	assert_int_equal(fchmodat(dir, RUNNER_TOKEN_FILE, 0644, 0), 0);
	assert_true(runner_token_find(dir, p.path, NULL, &found, &e) < 0);
	assert_non_null(strstr(e.msg, "can be reached by others"));
}

TEST_MAIN()
