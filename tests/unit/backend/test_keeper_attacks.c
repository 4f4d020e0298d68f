/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that do not keep to the rules, and processes that are killed in the middle: the keeper serves the others, and nothing is
 * left of anybody.
 */
#include "boxes.h"

#include "backend/kept_dir.h"
#include "backend/message.h"
#include "backend/wire_keeper.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define DAEMONS "(setsid setsid sleep $MARK </dev/null >/dev/null 2>&1 &) ; (sleep $MARK &) ; "

/* ---- a client that says what it likes ---- */

static int raw_connect(const struct den *d)
{
	struct sockaddr_un a;
	struct err e = { 0 };
	int dir = FD_NONE, fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	MUST(kept_dir_open(str_z(d->dir), &dir, &e) == 0);
	a = kept_dir_socket(dir);
	MUST(fd >= 0 && connect(fd, (const struct sockaddr *)&a, sizeof(a)) == 0);
	(void)close(dir);
	return fd;
}

static void send_bytes(int fd, const void *bytes, size_t n)
{
	MUST(send(fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n);
}

WITH_KEEPER(nonsense_ends_the_connection_and_nothing_else)
{
	static char bytes[sizeof(struct keeper_request) + KEEPER_INLINE_MAX + 100];
	struct keeper_request good = { .version = KEEPER_VERSION, .msg = KEEPER_EXEC, .id = 1, .argc = 1 };
	const size_t sizes[] = { 1, 8, sizeof(good) - 1, sizeof(good) + 1, sizeof(bytes) };

	memcpy(bytes, &good, sizeof(good));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		int fd = raw_connect(d);

		send_bytes(fd, bytes, sizes[i]);
		MUST(is_hung_up(fd));
		(void)close(fd);
	}
	for (uint32_t msg = 0; msg < 80; msg++) {
		struct keeper_request h = { .version = KEEPER_VERSION,
					    .msg = msg,
					    .id = UINT64_MAX,
					    .argc = UINT32_MAX,
					    .envc = UINT32_MAX,
					    .body = UINT32_MAX,
					    .flags = UINT32_MAX,
					    .signal = -1,
					    .size = UINT64_MAX };
		int fd = raw_connect(d);

		send_bytes(fd, &h, sizeof(h));
		MUST(is_hung_up(fd));
		(void)close(fd);
	}
	check_sh(d, "echo still here", 0, "still here\n");
}

WITH_KEEPER(questions_about_jobs_by_nobody_are_refused)
{
	static const struct keeper_request questions[] = {
		{ .msg = KEEPER_JOB_LIST },
		{ .msg = KEEPER_JOB_ADOPT, .flags = KEEPER_F_ANY, .owner = 1 },
		{ .msg = KEEPER_STAT, .flags = KEEPER_F_ANY },
		{ .msg = KEEPER_JOB_INFO, .job = 1 },
		{ .msg = KEEPER_STAT, .owner = 1 }
	};

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		struct keeper_request h = questions[i];
		int fd = raw_connect(d);

		h.version = KEEPER_VERSION;
		h.id = 1;
		send_bytes(fd, &h, sizeof(h));
		MUST(is_hung_up(fd));
		(void)close(fd);
	}
	check_sh(d, "echo still here", 0, "still here\n");
}

WITH_KEEPER(numbers_that_do_not_grow_and_bodies_that_lie_are_refused)
{
	static const char call[] = "true\0/tmp\0/bin:/usr/bin"; /* its last NUL is the array's own */
	struct keeper_request h = {
		.version = KEEPER_VERSION, .msg = KEEPER_EXEC, .id = 5, .argc = 1, .body = sizeof(call)
	};
	struct message_fds fds = { .n = 1 };
	struct str head = { (const char *)&h, sizeof(h) }, body = { call, sizeof(call) };
	int fd = raw_connect(d);

	MUST(message_send(fd, head, body, NULL) == 0 && message_send(fd, head, body, NULL) == 0);
	MUST(is_hung_up(fd)); /* the same number twice */
	(void)close(fd);
	h.argc = 9; /* more strings than there are */
	fd = raw_connect(d);
	MUST(message_send(fd, head, body, NULL) == 0 && is_hung_up(fd));
	(void)close(fd);
	/* A body in memory that can still be changed. */
	h = (struct keeper_request){ .version = KEEPER_VERSION,
				     .msg = KEEPER_EXEC,
				     .id = 1,
				     .argc = 1,
				     .fds = KEEPER_FD_BODY,
				     .body = sizeof(call) };
	fds.v[0] = memfd_create("open", MFD_CLOEXEC);
	MUST(fds.v[0] >= 0 && fd_write_all(fds.v[0], body) == 0);
	fd = raw_connect(d);
	MUST(message_send(fd, head, STR(""), &fds) == 0 && is_hung_up(fd));
	(void)close(fd);
	(void)close(fds.v[0]);
	check_sh(d, "echo still here", 0, "still here\n");
}

WITH_KEEPER(another_version_is_told_so)
{
	/* Its head may be shorter or longer than ours: then with what looks like a body. */
	static const size_t sizes[] = { sizeof(struct keeper_request), 16,
					sizeof(struct keeper_request) + 64 };
	struct {
		struct keeper_request h;
		char more[64];
	} m = { .h = { .version = KEEPER_VERSION + 1, .msg = KEEPER_STAT, .id = 1 } };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct keeper_event ev = { 0 };
		char text[512] = "";
		struct message_fds fds;
		int fd = raw_connect(d);

		send_bytes(fd, &m, sizes[i]);
		MUST(message_take(fd, MESSAGE_WAIT, &ev, sizeof(ev), text, sizeof(text) - 1, &fds) > 0);
		MUST(ev.err_kind == ERR_PROTO && strstr(text, "another version") && is_hung_up(fd));
		(void)close(fd);
	}
}

/* Many calls, many questions, and nobody listens: the others do not notice. */
WITH_KEEPER(a_client_that_never_reads_holds_nobody_up)
{
	struct keeper_request h = { .version = KEEPER_VERSION, .msg = KEEPER_STAT };
	struct den deaf = *d;
	struct box_call c = sh("exit 0");
	struct err e = { 0 };
	int fd = raw_connect(d), sent = 0;
	uint64_t id;

	deaf.box = den_connect(d);
	for (int i = 0; i < 256; i++) {
		int r;

		while ((r = deaf.box->ops->exec(deaf.box, &c, &id, &e)) == -EAGAIN)
			(void)usleep(1000);
		MUST(r == 0);
	}
	for (; sent < 100000; sent++) {
		h.id = (uint64_t)sent + 1;
		if (send(fd, &h, sizeof(h), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			break;
	}
	MUST(sent < 100000 && errno == EAGAIN); /* it is not asked for more than it takes */
	for (int i = 0; i < 10; i++)
		check_sh(d, "echo others", 0, "others\n");
	for (int i = 0; i < 256; i++) /* and nothing was lost */
		MUST(hear(&deaf).kind == BOX_ENDED);
	(void)box_close(deaf.box);
	(void)close(fd);
	check_sh(d, "echo others", 0, "others\n");
}

static int count_connected(const int *fds, int n)
{
	int live = 0;
	char byte;

	for (int i = 0; i < n; i++)
		live += recv(fds[i], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
	return live;
}

WITH_KEEPER(more_clients_than_it_takes_wait_and_disturb_nobody)
{
	enum { MANY = 1536 + 20 };
	struct rlimit files;
	int fds[MANY];

	MUST(getrlimit(RLIMIT_NOFILE, &files) == 0);
	files.rlim_cur = files.rlim_max;
	MUST(setrlimit(RLIMIT_NOFILE, &files) == 0);
	for (int i = 0; i < MANY; i++)
		fds[i] = raw_connect(d);
	check_sh(d, "echo others", 0, "others\n");
	MUST(count_connected(fds, MANY) == MANY);
	for (int i = 0; i < MANY; i++)
		(void)close(fds[i]);
	for (uint64_t end = clock_deadline(10000);;) {
		struct box *again = NULL;
		struct box_stat st;
		struct err e = { 0 };
		int r = kept_open(str_z(d->dir), &again, &e);

		r = r < 0 ? r : again->ops->stat(again, &st, &e);
		(void)box_close(again);
		if (r == 0)
			break;
		MUST(clock_mono_ms() < end && usleep(2000) == 0);
	}
}

/* Descriptors that a client has no room for: the call is ended, the question is answered, and the connection stays. */
WITH_KEEPER(a_client_without_room_for_descriptors_is_not_stuck)
{
	struct box_call c = sh("exec sleep $MARK");
	struct rlimit few = { .rlim_cur = 0, .rlim_max = 0 }, before;
	struct box_end end;
	uint64_t id;

	c.pty = true;
	MUST(getrlimit(RLIMIT_NOFILE, &before) == 0);
	few = before;
	few.rlim_cur = 3; /* every number below is taken */
	id = ask(d, &c);
	MUST(setrlimit(RLIMIT_NOFILE, &few) == 0);
	end = hear_end(d, id); /* by our cancel, or since nobody holds its terminal any more */
	MUST(end.reason == BOX_CANCELLED || (end.reason == BOX_SIGNALED && end.value == SIGHUP));
	MUST(setrlimit(RLIMIT_NOFILE, &before) == 0);
	check_sh(d, "echo still here", 0, "still here\n");
}

/* The keeper itself has no descriptor left: it says so, goes on, and is whole again when somebody lets go. */
WITH_KEEPER(without_descriptors_it_refuses_and_goes_on)
{
	struct den *poor =
		mmap(NULL, sizeof(*poor), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct box_call c = sh("exit 0");
	struct box_event ev;
	int fds[64], status;
	pid_t pid = fork();

	(void)d;
	MUST(poor != MAP_FAILED && pid >= 0);
	if (pid == 0) {
		MUST(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 40, 40 }) == 0);
		den_start(poor, &(struct keeper_spec){ .idle_s = 60 });
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	poor->box = den_connect(poor);
	check_sh(poor, "echo first", 0, "first\n");
	for (int i = 0; i < 64; i++)
		fds[i] = raw_connect(poor); /* more than it can take: the rest waits at the door */
	for (int i = 0; i < 3; i++)
		c.stdio[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
	c.keep = true; /* such a call is asked of the keeper, and of nobody else */
	do {           /* until it has taken as many as it can */
		(void)ask(poor, &c);
		ev = hear(poor);
	} while (ev.kind == BOX_ENDED);
	MUST(ev.kind == BOX_FAILED && ev.err.kind == ERR_LIMIT && strstr(ev.err.msg, "descriptors"));
	for (int i = 0; i < 64; i++)
		(void)close(fds[i]);
	do { /* until it has seen that they have gone */
		(void)ask(poor, &c);
		ev = hear(poor);
	} while (ev.kind == BOX_FAILED && ev.err.kind == ERR_LIMIT);
	MUST(ev.kind == BOX_ENDED && ev.end.value == 0);
	for (int i = 0; i < 3; i++)
		(void)close(c.stdio[i]);
	poor->box = box_close(poor->box);
	den_end(poor);
	(void)munmap(poor, sizeof(*poor));
}

WITH_KEEPER(a_call_beyond_the_table_is_told_and_not_lost)
{
	const struct str sleeper[] = { STR("/usr/bin/sleep"), STR("100") };
	struct den other = *d;
	struct box_call c = sh("");
	struct err e = { 0 };
	uint32_t own = 150;
	uint64_t id;

	other.box = den_connect(d);
	c.argv = (struct strs){ sleeper, 2 };
	for (int i = 0; i < 300; i++) {
		struct den *of = i % 2 ? d : &other;
		int r;

		while ((r = of->box->ops->exec(of->box, &c, &id, &e)) == -EAGAIN)
			(void)usleep(1000);
		MUST(r == 0);
	}
	for (int refused = 0; refused < 44; refused++) {
		struct pollfd p[2] = { { .fd = d->box->ops->fd(d->box), .events = POLLIN },
				       { .fd = other.box->ops->fd(other.box), .events = POLLIN } };
		struct box_event ev;

		MUST(poll(p, 2, 20000) > 0);
		own -= p[0].revents != 0;
		ev = hear(p[0].revents ? d : &other);
		MUST(ev.kind == BOX_FAILED && ev.err.kind == ERR_LIMIT && strstr(ev.err.msg, "256 calls"));
	}
	(void)box_close(other.box); /* its calls end with it */
	for (uint64_t end = clock_deadline(20000);;) {
		struct box_stat st = { 0 };
		int r = d->box->ops->stat(d->box, &st, &e);

		if (r < 0 && e.kind != ERR_LIMIT) /* that one is: pid 1 is busy ending a hundred calls */
			fail_with("stat", &e);
		MUST(clock_mono_ms() < end);
		if (r >= 0 && st.calls == own)
			break;
		(void)usleep(2000);
	}
	check_sh(d, "echo one more", 0, "one more\n");
}

/* The name is open to everybody, and the keeper asks the kernel who it is: another user is nobody here. */
static void other_user(struct den *d)
{
	char path[128];
	int status, dir;
	pid_t pid;

	if (geteuid() != 0)
		return; /* nobody else can be had */
	(void)snprintf(path, sizeof(path), "%s/socket", d->dir);
	MUST(chmod(path, 0666) == 0);
	dir = open(d->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pid = fork();
	MUST(dir >= 0 && pid >= 0);
	if (pid == 0) {
		struct sockaddr_un a = kept_dir_socket(dir);
		struct keeper_request h = { .version = KEEPER_VERSION, .msg = KEEPER_STOP, .id = 1 };
		struct err e = { 0 };
		struct box *box = NULL;
		int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

		MUST(fd >= 0 && chmod(d->dir, 0711) == 0 && setgid(ORDINARY) == 0 && setuid(ORDINARY) == 0);
		(void)snprintf(a.sun_path, sizeof(a.sun_path), "%.64s/socket", d->dir);
		MUST(connect(fd, (const struct sockaddr *)&a, sizeof(a)) == 0);
		(void)send(fd, &h, sizeof(h), MSG_NOSIGNAL);
		MUST(is_hung_up(fd));
		MUST(kept_open(str_z(d->dir), &box, &e) < 0);
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	MUST(chmod(d->dir, 0700) == 0);
	(void)close(dir);
	check_sh(d, "echo still here", 0, "still here\n");
}

TEST(keeper_another_user_is_turned_away)
{
	FOR_EACH_USER(user) den_run(KEPT, user, other_user);
}

TEST(keeper_started_by_hand_says_who_starts_it)
{
	int p[2], status;
	char text[256];
	pid_t pid;

	assert_non_null(getenv("CREEL_KEEPER"));
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)dup2(p[1], 2);
		(void)syscall(SYS_close_range, 3, ~0U, 0);
		(void)execl(getenv("CREEL_KEEPER"), "creel-keeper", (char *)NULL);
		_exit(99);
	}
	(void)close(p[1]);
	read_out(p[0], text, sizeof(text));
	(void)close(p[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
	CHECK_CASE(strstr(text, "started by creel"), "%s", text);
}

/* ---- many at once ---- */

static void many_calls(const struct den *d, int who)
{
	struct den own = *d;

	own.box = den_connect(d);
	for (int i = 0; i < 10; i++) {
		char script[128], want[64];

		(void)snprintf(script, sizeof(script), "echo %d of %d; cat; exit %d", i, who, who);
		(void)snprintf(want, sizeof(want), "%d of %d\n", i, who);
		check_sh(&own, script, who, want);
	}
	(void)box_close(own.box);
	_exit(0);
}

WITH_KEEPER(two_hundred_calls_of_twenty_processes_have_their_own_output)
{
	enum { N = 20 };
	pid_t pids[N];
	int status;

	for (int i = 0; i < N; i++) {
		pids[i] = fork();
		MUST(pids[i] >= 0);
		if (pids[i] == 0)
			many_calls(d, i);
	}
	for (int i = 0; i < N; i++)
		MUST(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
}

static int keeper_fds(const struct den *d)
{
	char path[64];
	DIR *dir;
	int n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", d->keeper.pid);
	dir = opendir(path);
	while (dir && readdir(dir))
		n++;
	if (dir)
		(void)closedir(dir);
	return n;
}

WITH_KEEPER(killed_clients_leave_nothing_in_it)
{
	struct files *files;
	struct err err = { 0 };
	int before, status;

	MUST(d->box->ops->files(d->box, &files, &err) == 0); /* the program of a clerk stays open */
	check_sh(d, "echo first", 0, "first\n");
	before = keeper_fds(d); /* 0 for an ordinary user: it cannot be dumped */
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		MUST(pid >= 0);
		if (pid == 0) {
			struct den own = *d;
			struct box_call c = sh(DAEMONS "exec sleep $MARK");

			own.box = den_connect(d);
			MUST(own.box->ops->files(own.box, &files, &err) == 0);
			c.pty = i % 2;
			for (int k = 0; k < 5; k++)
				(void)ask(&own, &c);
			if (i % 3)
				wait_marked(15);
			(void)kill(getpid(), SIGKILL);
		}
		MUST(waitpid(pid, &status, 0) == pid && status == SIGKILL);
		wait_marked(0);
	}
	check_sh(d, "echo last", 0, "last\n");
	for (uint64_t end = clock_deadline(10000); keeper_fds(d) != before;)
		MUST(clock_mono_ms() < end && usleep(2000) == 0);
}

TEST_MAIN()
