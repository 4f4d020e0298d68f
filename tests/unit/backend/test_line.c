/* SPDX-License-Identifier: Apache-2.0 */
/* Lines to pid 1 of a sandbox that a keeper holds: what goes over them, who ends with whom, and who says what he may not. */
#include "boxes.h"

#include "sandbox/wire_serve.h"

#define DAEMONS "(setsid setsid sleep $MARK </dev/null >/dev/null 2>&1 &) ; (sleep $MARK &) ; "

static bool is_on_line(uint64_t id)
{
	return id >> SERVE_LINE_BIT;
}

/* The first call is the keeper's; those after it have a line. */
static void first_call(struct den *d)
{
	struct box_call c = sh("exit 3");
	uint64_t id = ask(d, &c);

	MUST(!is_on_line(id) && hear_end(d, id).value == 3);
}

WITH_KEEPER(calls_after_the_first_need_it_no_more)
{
	struct box_call c;
	struct err e = { 0 };
	uint64_t id, kept;

	first_call(d);
	check_sh(d, "echo by line", 0, "by line\n");
	MUST(kill(d->keeper.pid, SIGSTOP) == 0);
	check_sh(d, "echo it sleeps; pwd", 0, "it sleeps\n/tmp\n");
	c = sh("exec sleep $MARK");
	id = ask(d, &c);
	MUST(is_on_line(id));
	wait_marked(1);
	MUST(d->box->ops->signal(d->box, id, SIGTERM, &e) == 0);
	MUST(hear_end(d, id).value == SIGTERM);
	c = sh(DAEMONS "exec sleep $MARK");
	id = ask(d, &c);
	wait_marked(3);
	MUST(d->box->ops->cancel(d->box, id, 0, &e) == 0);
	MUST(hear_end(d, id).reason == BOX_CANCELLED && count_marked(NULL) == 0);
	MUST(d->box->ops->signal(d->box, id, SIGTERM, &e) < 0 && e.kind == ERR_NOTFOUND);
	MUST(kill(d->keeper.pid, SIGCONT) == 0);
	/* What the keeper has to know of is still asked of him. */
	c = sh("exit 0");
	c.keep = true;
	kept = ask(d, &c);
	MUST(!is_on_line(kept) && hear_end(d, kept).value == 0);
	c.keep = false;
	c.tell = true;
	kept = ask(d, &c);
	MUST(!is_on_line(kept) && hear(d).kind == BOX_STARTED && hear_end(d, kept).value == 0);
}

WITH_KEEPER(what_cannot_start_is_named_on_a_line)
{
	const struct str nothing[] = { STR("/no/such/program") };
	struct box_call c;
	struct box_event ev;
	uint64_t id;

	first_call(d);
	c = sh("exit 0");
	c.argv = (struct strs){ nothing, 1 };
	id = ask(d, &c);
	ev = hear(d);
	MUST(is_on_line(id) && ev.kind == BOX_FAILED && ev.call == id && ev.err.kind == ERR_NOTFOUND);
	MUST(strstr(ev.err.msg, "'/no/such/program': no such program"));
	c = sh("exit 0");
	c.cwd = STR("/no/such/place");
	(void)ask(d, &c);
	ev = hear(d);
	MUST(ev.kind == BOX_FAILED && strstr(ev.err.msg, "working directory '/no/such/place'"));
	check_sh(d, "echo still here", 0, "still here\n");
}

WITH_KEEPER(calls_of_a_killed_line_end)
{
	struct box_call c;
	pid_t pid = fork();
	int status;

	MUST(pid >= 0);
	if (pid == 0) {
		struct den own = *d;

		own.box = den_connect(d);
		first_call(&own);
		c = sh(DAEMONS "exec sleep $MARK");
		MUST(is_on_line(ask(&own, &c)) && is_on_line(ask(&own, &c)));
		wait_marked(6);
		(void)kill(getpid(), SIGKILL);
	}
	first_call(d);
	check_sh(d, "echo mine", 0, "mine\n");
	MUST(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	wait_marked(0);
	check_sh(d, "echo mine", 0, "mine\n");
}

/* Its result is there before the keeper is killed, and heard after it; what ran is lost, and says so. */
WITH_KEEPER(a_killed_keeper_takes_no_finished_result_of_a_line_along)
{
	struct box_call c;
	struct pollfd p = { .fd = d->box->ops->fd(d->box), .events = POLLIN };
	uint64_t done, runs;

	first_call(d);
	c = sh("exit 7");
	done = ask(d, &c);
	MUST(is_on_line(done) && poll(&p, 1, 10000) == 1);
	c = sh("exec sleep $MARK");
	runs = ask(d, &c);
	wait_marked(1);
	MUST(kill(d->keeper.pid, SIGKILL) == 0);
	wait_dead(d->keeper.pid);
	MUST(hear_end(d, done).value == 7);
	MUST(is_on_line(runs) && hear_end(d, runs).reason == BOX_LOST);
	for (int i = 0; i < 3; i++)
		MUST(hear(d).kind == BOX_GONE);
	check_gone_within(1000);
	{
		char path[128];

		(void)snprintf(path, sizeof(path), "%s/socket", d->dir);
		MUST(unlink(path) == 0);
		(void)snprintf(path, sizeof(path), "%s/logs", d->dir);
		(void)rmdir(path);
	}
}

static pid_t child_of(pid_t pid)
{
	char path[64], text[32] = "";
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	MUST(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && close(fd) == 0);
	return (pid_t)strtol(text, NULL, 10);
}

static pid_t pid_1(const struct den *d)
{
	return child_of(child_of(d->keeper.pid));
}

/* With its own: what a call may do to its session, and the group of the scheduler that is made with it, is nothing to who stands outside. */
WITH_KEEPER(calls_share_a_session_with_pid_1_and_nobody_else)
{
	const pid_t one = pid_1(d);
	struct box_call c;
	struct err e = { 0 };
	pid_t of_call = 0;
	uint64_t id;

	first_call(d);
	c = sh("exec sleep $MARK");
	id = ask(d, &c);
	wait_marked(1);
	MUST(is_on_line(id) && count_marked(&of_call) == 1);
	MUST(getsid(one) == one && getsid(of_call) == one && getpgid(of_call) != getpgid(one));
	MUST(d->box->ops->cancel(d->box, id, 0, &e) == 0 && hear_end(d, id).reason == BOX_CANCELLED);
}

/* Whichever of recv(2) and send(2) hears it: the kernel says it once. */
WITH_KEEPER(what_was_never_read_is_known_also_when_more_is_asked_after_it)
{
	struct box_call c;
	struct box_event ev;
	struct err e = { 0 };
	uint64_t unread, next;
	pid_t one = pid_1(d);

	first_call(d);
	check_sh(d, "echo by line", 0, "by line\n");
	MUST(kill(one, SIGSTOP) == 0);
	c = sh("exit 5");
	unread = ask(d, &c);
	MUST(is_on_line(unread) && kill(one, SIGKILL) == 0);
	wait_dead(one);
	MUST(d->box->ops->exec(d->box, &c, &next, &e) >= 0 || box_is_unbegun(&e));
	do
		ev = hear(d);
	while (ev.call != unread && ev.kind != BOX_GONE);
	MUST(ev.kind == BOX_FAILED && box_is_unbegun(&ev.err));
	while (hear(d).kind != BOX_GONE)
		;
	check_gone_within(1000);
}

/* A call is only asked for; that there may be a line is not worth a wait, nor that others wait for the keeper. */
WITH_KEEPER(who_gets_no_line_in_time_does_without)
{
	enum { N = 3 };
	struct den v[N];
	struct box_call c;
	uint64_t id[N], begun;
	const pid_t one = pid_1(d);

	for (int i = 0; i < N; i++) {
		v[i] = *d;
		v[i].box = den_connect(d);
		first_call(&v[i]);
	}
	MUST(kill(one, SIGSTOP) == 0);
	begun = clock_mono_ms();
	c = sh("exit 4");
	for (int i = 0; i < N; i++)
		id[i] = ask(&v[i], &c);
	MUST(clock_mono_ms() - begun < N * 1500);
	MUST(kill(one, SIGCONT) == 0);
	for (int i = 0; i < N; i++) {
		MUST(!is_on_line(id[i]) && hear_end(&v[i], id[i]).value == 4);
		(void)box_close(v[i].box);
	}
}

WITH_KEEPER(more_clients_than_lines_are_all_served)
{
	enum { N = SERVE_LINES_MAX + 6 };
	struct den v[N];
	int on_line = 0;

	for (int i = 0; i < N; i++) {
		v[i] = *d;
		v[i].box = den_connect(d);
		first_call(&v[i]);
	}
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < N; i++) {
			struct box_call c = sh("exit 4");
			uint64_t id = ask(&v[i], &c);

			on_line += is_on_line(id);
			MUST(hear_end(&v[i], id).value == 4);
		}
	MUST(on_line == 3 * (int)SERVE_LINES_MAX);
	for (int i = 0; i < N; i++)
		(void)box_close(v[i].box);
	/* Their places are free again, as soon as pid 1 has seen that they have gone. */
	for (uint64_t end = clock_deadline(10000);;) {
		struct den again = *d;
		struct box_call c;
		uint64_t id;

		again.box = den_connect(d);
		first_call(&again);
		c = sh("exit 4");
		id = ask(&again, &c);
		MUST(hear_end(&again, id).value == 4);
		(void)box_close(again.box);
		if (is_on_line(id))
			break;
		MUST(clock_mono_ms() < end && usleep(2000) == 0);
	}
}

/* Pid 1 may have as few as the configuration gives to calls: those that it is sent with one come before lines. */
static void few_files(uint64_t files, int want_lines)
{
	enum { N = SERVE_LINES_MAX };
	struct den own = { .kind = KEPT }, v[N];
	int on_line = 0;

	served_files = files;
	den_start(&own, &(struct keeper_spec){ .idle_s = 30 });
	served_files = 0;
	for (int i = 0; i < N; i++) {
		struct box_call c;
		uint64_t id;

		v[i] = own;
		v[i].box = den_connect(&own);
		first_call(&v[i]);
		c = sh("exit 4");
		for (int fd = 0; fd <= 2; fd++)
			MUST((c.stdio[fd] = open("/dev/null", O_RDWR | O_CLOEXEC)) >= 0);
		id = ask(&v[i], &c);
		on_line += is_on_line(id);
		MUST(hear_end(&v[i], id).value == 4);
		for (int fd = 0; fd <= 2; fd++)
			(void)close(c.stdio[fd]);
	}
	MUST(on_line < N && on_line >= want_lines);
	for (int i = 0; i < N; i++) {
		check_sh(&v[i], "echo all", 0, "all\n");
		(void)box_close(v[i].box);
	}
	den_end(&own);
}

WITH_KEEPER(lines_leave_pid_1_room_for_what_a_call_brings)
{
	(void)d;
	few_files(16, 0);
	few_files(24, 4);
}

WITH_KEEPER(is_not_idle_while_lines_are_used)
{
	struct den own = { .kind = KEPT };
	struct box_call c;
	uint64_t id, end = clock_deadline(2500);

	(void)d;
	den_start(&own, &(struct keeper_spec){ .idle_s = 1 });
	own.box = den_connect(&own);
	first_call(&own);
	do { /* longer than it may be idle: of these it hears nothing */
		check_sh(&own, "echo used", 0, "used\n");
		(void)usleep(100000);
	} while (clock_mono_ms() < end);
	c = sh("sleep 2.5; exit 7");
	id = ask(&own, &c);
	MUST(is_on_line(id) && hear_end(&own, id).value == 7);
	MUST(hear(&own).kind == BOX_GONE);
	(void)box_close(own.box);
	den_end(&own);
}

/* A pid 1 that somebody has stopped does not say whether a line is used; nobody is there who could use one. */
WITH_KEEPER(is_idle_without_clients_whatever_pid_1_says)
{
	struct den own = { .kind = KEPT };
	pid_t one;

	(void)d;
	den_start(&own, &(struct keeper_spec){ .idle_s = 1 });
	one = pid_1(&own);
	own.box = den_connect(&own);
	first_call(&own);
	check_sh(&own, "echo by line", 0, "by line\n");
	MUST(kill(one, SIGSTOP) == 0);
	(void)box_close(own.box);
	wait_dead(own.keeper.pid);
	den_end(&own);
}

/* ---- whoever has a line, and says what he likes ---- */

struct raw {
	int fd;
	uint64_t base; /* its numbers are above this */
};

static struct raw raw_line(struct den *d, uint32_t number)
{
	struct raw r = { .base = (uint64_t)number << SERVE_LINE_BIT };
	struct err e = { 0 };

	if (native_line(d->box, number, &r.fd, &e) < 0)
		fail_with("native_line", &e);
	return r;
}

static const char exit_5[] = "sh\0-c\0exit 5\0/tmp\0/usr/bin:/bin"; /* its last NUL is the array's own */

static struct serve_request good_exec(uint64_t id)
{
	return (struct serve_request){ .msg = SERVE_EXEC, .id = id, .argc = 3, .body = sizeof(exit_5) };
}

static void send_exec(const struct raw *l, const struct serve_request *h)
{
	struct iovec iov[2] = { { .iov_base = memcpy(&(struct serve_request){ 0 }, h, sizeof(*h)),
				  .iov_len = sizeof(*h) },
				{ .iov_base = memcpy((char[sizeof(exit_5)]){ 0 }, exit_5, sizeof(exit_5)),
				  .iov_len = sizeof(exit_5) } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = h->msg == SERVE_EXEC ? 2 : 1 };

	MUST(sendmsg(l->fd, &m, MSG_NOSIGNAL) > 0);
}

static void native_raw_body(struct den *d)
{
	struct raw other = raw_line(d, 900);
	const uint64_t own = (uint64_t)7 << SERVE_LINE_BIT;
	const struct serve_request bad[] = {
		{ .msg = SERVE_STOP, .id = own },
		{ .msg = SERVE_LIST, .id = own },
		{ .msg = SERVE_STAT, .id = own },
		{ .msg = SERVE_RETIRE, .id = own },
		{ .msg = SERVE_LINE, .id = own + ((uint64_t)1 << SERVE_LINE_BIT) },
		{ .msg = SERVE_CANCEL, .id = 1 },              /* of who holds the sandbox */
		{ .msg = SERVE_CANCEL, .id = other.base + 1 }, /* of another line */
		{ .msg = SERVE_EXEC, .id = 5, .argc = 3, .body = sizeof(exit_5) },
		{ .msg = SERVE_EXEC, .id = other.base + 9, .argc = 3, .body = sizeof(exit_5) },
		{ .msg = SERVE_EXEC,
		  .id = own + 1,
		  .argc = 3,
		  .body = sizeof(exit_5),
		  .flags = SERVE_F_TELL },
		{ .msg = SERVE_EXEC, .id = own + 1, .argc = 3, .body = sizeof(exit_5), .flags = SERVE_F_PTY },
		/* What it leaves behind nobody could end, or find, when the line has gone; programs come from inside. */
		{ .msg = SERVE_EXEC,
		  .id = own + 1,
		  .argc = 3,
		  .body = sizeof(exit_5),
		  .flags = SERVE_F_KEEP },
		{ .msg = SERVE_EXEC,
		  .id = own + 1,
		  .argc = 3,
		  .body = sizeof(exit_5),
		  .flags = SERVE_F_PROGRAM },
		{ .msg = 5, .id = own },
		{ .msg = SERVE_SIGNAL, .id = own + 1, .signal = -1 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct raw l = raw_line(d, 7);

		send_exec(&l, &bad[i]);
		MUST(is_hung_up(l.fd));
		(void)close(l.fd);
	}
	for (size_t n = 1; n < sizeof(struct serve_request); n += 9) {
		struct raw l = raw_line(d, 8);

		MUST(send(l.fd, bad, n, MSG_NOSIGNAL) == (ssize_t)n && is_hung_up(l.fd));
		(void)close(l.fd);
	}
	check_sh(d, "echo still here", 0, "still here\n");
	(void)close(other.fd);
}

TEST(line_what_may_not_be_said_on_one_ends_it_and_nothing_else)
{
	FOR_EACH_USER(user) den_run(NATIVE, user, native_raw_body);
}

static void numbers_body(struct den *d)
{
	struct raw l = raw_line(d, SERVE_LINE_LAST), m = raw_line(d, 1);
	struct serve_request h = good_exec(l.base + 1);
	struct serve_event ev;
	struct err e = { 0 };
	int fd;

	send_exec(&l, &h);
	MUST(recv(l.fd, &ev, sizeof(ev), 0) == sizeof(ev) && ev.msg == SERVE_EXIT && ev.id == h.id &&
	     ev.value == 5);
	send_exec(&l, &h); /* the same number again */
	MUST(recv(l.fd, &ev, sizeof(ev), 0) == sizeof(ev) && ev.msg == SERVE_REPLY && ev.err == EEXIST);
	h.id = l.base; /* and one that is no call's */
	send_exec(&l, &h);
	MUST(recv(l.fd, &ev, sizeof(ev), 0) == sizeof(ev) && ev.msg == SERVE_REPLY && ev.err == EEXIST);
	/* Numbers of lines are each once, at a time, and from 1 on. */
	MUST(native_line(d->box, 1, &fd, &e) < 0 && native_line(d->box, 0, &fd, &e) < 0);
	MUST(native_line(d->box, SERVE_LINE_LAST + 1, &fd, &e) < 0);
	check_sh(d, "echo still here", 0, "still here\n");
	(void)close(l.fd);
	(void)close(m.fd);
}

TEST(line_numbers_are_each_for_one_call)
{
	FOR_EACH_USER(user) den_run(NATIVE, user, numbers_body);
}

/* It asks and never listens: nothing is lost of what it asked for, and nobody else waits for it. */
static void deaf_body(struct den *d)
{
	struct raw l = raw_line(d, 3), m = raw_line(d, 4);
	struct serve_request h = good_exec(l.base);
	struct serve_event ev;
	uint64_t said = 0, n = 0;

	for (int idle = 0; idle < 300;) { /* until pid 1 takes no more, for as long as that */
		struct iovec iov[2] = { { .iov_base = &h, .iov_len = sizeof(h) },
					{ .iov_base =
						  memcpy((char[sizeof(exit_5)]){ 0 }, exit_5, sizeof(exit_5)),
					  .iov_len = sizeof(exit_5) } };
		struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

		h.id = l.base + said + 1;
		h.flags = 0;
		h.argc = said % 3 ? 3 : 1000; /* some cannot start: their body is not what the head says */
		if (sendmsg(l.fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) > 0) {
			said++;
			idle = 0;
		} else {
			idle++;
			(void)usleep(1000);
		}
	}
	MUST(said > 256);
	check_sh(d, "echo others", 0, "others\n");
	h = good_exec(m.base + 1);
	send_exec(&m, &h);
	MUST(recv(m.fd, &ev, sizeof(ev), 0) == sizeof(ev) && ev.msg == SERVE_EXIT && ev.value == 5);
	for (; n < said; n++)
		MUST(recv(l.fd, &ev, sizeof(ev), 0) == sizeof(ev) && ev.id > l.base &&
		     ev.id <= l.base + said);
	(void)close(l.fd);
	(void)close(m.fd);
	check_sh(d, "echo others", 0, "others\n");
}

TEST(line_that_does_not_listen_holds_up_nobody_and_loses_nothing)
{
	FOR_EACH_USER(user) den_run(NATIVE, user, deaf_body);
}

#define GROUPS "/sys/fs/cgroup/memory"
#define POOR GROUPS "/creel-test-line"

static void put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
}

/* In a group that has no memory left, and where nobody is killed for that, an end cannot be said: it is said later. */
static void poor_body(struct den *d)
{
	struct raw l = raw_line(d, 3);
	struct serve_request h = good_exec(l.base + 1);
	struct pollfd p = { .fd = l.fd, .events = POLLIN };
	struct serve_event ev;
	char pid[16], poor[64];

	(void)snprintf(pid, sizeof(pid), "%d", child_of(child_of(getpid())));
	(void)snprintf(poor, sizeof(poor), "%s-%d", POOR, getpid());
	MUST(mkdir(poor, 0755) == 0);
	/* One that cannot start has no process of its own that would wait for memory. */
	h.argc = 1000;
	MUST(chdir(poor) == 0);
	put_file("memory.oom_control", "1");
	put_file("memory.limit_in_bytes", "0");
	put_file("cgroup.procs", pid);
	send_exec(&l, &h);
	MUST(poll(&p, 1, 300) >= 0);
	put_file("memory.limit_in_bytes", "-1");
	MUST(poll(&p, 1, 5000) == 1 && recv(l.fd, &ev, sizeof(ev), 0) == sizeof(ev) && ev.id == h.id);
	put_file(GROUPS "/cgroup.procs", pid);
	MUST(chdir("/") == 0 && rmdir(poor) == 0);
	(void)close(l.fd);
}

TEST(line_what_there_is_no_memory_to_say_is_said_later)
{
	/* Groups of version 2 always kill somebody. */
	if (getuid() == 0 && access(GROUPS "/memory.oom_control", W_OK) == 0)
		den_run(NATIVE, 0, poor_body);
}

/* None is hung up on while a call runs on one, or was there a moment ago; when all are, what was asked for and not read is known to be that. */
static void retire_body(struct den *d)
{
	struct raw l = raw_line(d, 3), m = raw_line(d, 4);
	struct serve_request h = good_exec(l.base + 1);
	struct serve_event ev;
	uint64_t unused_ms = 1;
	struct err e = { 0 };

	send_exec(&l, &h);
	MUST(recv(l.fd, &ev, sizeof(ev), 0) == sizeof(ev) && ev.value == 5);
	MUST(native_retire(d->box, 60000, &unused_ms, &e) == 0 && unused_ms < 60000);
	MUST(native_retire(d->box, 0, &unused_ms, &e) == 1);
	MUST(is_hung_up(l.fd) && is_hung_up(m.fd));
	check_sh(d, "echo still here", 0, "still here\n");
	(void)close(l.fd);
	(void)close(m.fd);
}

TEST(line_all_are_hung_up_on_when_none_is_used)
{
	FOR_EACH_USER(user) den_run(NATIVE, user, retire_body);
}

TEST_MAIN()
