/* SPDX-License-Identifier: Apache-2.0 */
/* What every box promises, of whichever kind it is. */
#include "boxes.h"

#include <pty.h>

WITH_BOX(calls_run_in_the_workdir_and_say_how_they_ended)
{
	char out[64];
	struct box_end end;

	check_sh(d, "echo hi; pwd; umask; id -u; exit 3", 3, "hi\n/tmp\n0022\n1000\n");
	check_sh(d, "ls /proc/self/fd | wc -l", 0, "4\n");
	end = run(d, sh("kill -9 $$"), out, sizeof(out));
	MUST(end.reason == BOX_SIGNALED && end.value == SIGKILL && end.wall_us > 0 && end.peak_kib > 0);
	check_sh(d, "echo kept > a", 0, "");
	check_sh(d, "cat /tmp/a", 0, "kept\n");
}

static void must_fail(struct den *d, const struct box_call *c, enum err_kind kind, const char *words)
{
	uint64_t id = ask(d, c);
	struct box_event ev = hear(d);

	MUST(ev.kind == BOX_FAILED && ev.call == id);
	if (ev.err.kind != kind || !strstr(ev.err.msg, words))
		fail_with(words, &ev.err);
}

WITH_BOX(what_cannot_start_is_named)
{
	const struct str missing = STR("no-such"), file = STR("/tmp/plain"), text = STR("/tmp/text"),
			 dir = STR("/tmp");
	struct box_call c = sh("exit 0");

	check_sh(d, "echo x > plain; echo x > text; chmod 755 text; echo > /tmp/f", 0, "");
	c.argv = (struct strs){ &missing, 1 };
	must_fail(d, &c, ERR_NOTFOUND, "'no-such': no such program");
	c.argv = (struct strs){ &file, 1 };
	must_fail(d, &c, ERR_DENIED, "'/tmp/plain': not executable");
	c.argv = (struct strs){ &dir, 1 };
	must_fail(d, &c, ERR_DENIED, "'/tmp': not executable");
	c.argv = (struct strs){ &text, 1 };
	must_fail(d, &c, ERR_DENIED, "'/tmp/text': not a program");
	c = sh("exit 0");
	c.cwd = STR("/nowhere");
	must_fail(d, &c, ERR_USAGE, "working directory '/nowhere': no such directory");
	c.cwd = STR("/tmp/f");
	must_fail(d, &c, ERR_USAGE, "working directory '/tmp/f': not a directory");
	check_sh(d, "echo still here", 0, "still here\n");
}

WITH_BOX(streams_of_the_caller_are_checked)
{
	struct box_call c = sh("exit 0");
	int tty, slave, directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	MUST(openpty(&tty, &slave, NULL, NULL, NULL) == 0);
	c.stdio[0] = slave;
	must_fail(d, &c, ERR_USAGE, "a standard stream is a terminal");
	c.stdio[0] = directory;
	must_fail(d, &c, ERR_USAGE, "a standard stream is a directory");
	(void)close(tty);
	(void)close(slave);
	(void)close(directory);
}

WITH_BOX(nonsense_is_refused_before_it_is_asked)
{
	const struct str nul = { "a\0b", 3 };
	struct box_call c = sh("exit 0");
	struct err e = { 0 };
	uint64_t id = 0;

	c.argv = (struct strs){ &nul, 1 };
	MUST(d->box->ops->exec(d->box, &c, &id, &e) < 0 && e.kind == ERR_USAGE);
	c.argv.n = 0;
	MUST(d->box->ops->exec(d->box, &c, &id, &e) < 0 && e.kind == ERR_USAGE);
	MUST(d->box->ops->cancel(d->box, 0, 0, &e) < 0 && e.kind == ERR_NOTFOUND);
	MUST(d->box->ops->cancel(d->box, 99, 0, &e) < 0 && e.kind == ERR_NOTFOUND);
	MUST(d->box->ops->signal(d->box, 99, SIGTERM, &e) < 0 && e.kind == ERR_NOTFOUND);
	check_sh(d, "echo still here", 0, "still here\n");
}

WITH_BOX(limits_and_flags_reach_the_call)
{
	struct box_call c = sh("ulimit -n; ulimit -f; umask; echo $0");
	struct box_event ev;
	char out[64];
	uint64_t id;

	c.open_files = 33;
	c.file_bytes = 5120;
	c.umask = 077;
	MUST(run(d, c, out, sizeof(out)).value == 0 && strcmp(out, "33\n10\n0077\nsh\n") == 0);
	c = sh("exit 0");
	c.tell = true;
	id = ask(d, &c);
	ev = hear(d);
	MUST(ev.kind == BOX_STARTED && ev.call == id && ev.pid > 1);
	MUST(hear_end(d, id).value == 0);
}

WITH_BOX(large_commands_arrive_whole)
{
	size_t n = (size_t)100 << 10;
	char *big = malloc(n), out[64];
	struct str argv[5] = { STR("sh"), STR("-c"), STR("echo ${#1}"), STR("sh"), { big, n } };
	struct box_call c = sh("");

	memset(big, 'x', n);
	c.argv = (struct strs){ argv, 5 };
	MUST(run(d, c, out, sizeof(out)).value == 0 && strcmp(out, "102400\n") == 0);
	free(big);
}

#define DAEMONS "(setsid setsid sleep $MARK </dev/null >/dev/null 2>&1 &) ; (sleep $MARK &) ; "

WITH_BOX(cancel_ends_a_whole_tree_and_no_other)
{
	struct box_call c = sh("exec sleep 1000");
	struct err e = { 0 };
	uint64_t other = ask(d, &c), id;
	struct box_end end;

	c = sh(DAEMONS "sleep $MARK; exit 1");
	id = ask(d, &c);
	wait_marked(3);
	MUST(d->box->ops->cancel(d->box, id, 0, &e) == 0);
	end = hear_end(d, id);
	MUST(end.reason == BOX_CANCELLED && end.left == 0 && count_marked(NULL) == 0);
	MUST(d->box->ops->signal(d->box, id, SIGTERM, &e) < 0 && e.kind == ERR_NOTFOUND);
	MUST(d->box->ops->cancel(d->box, id, 0, &e) == 0); /* nothing of it is left, which is fine */
	MUST(d->box->ops->signal(d->box, other, SIGTERM, &e) == 0);
	end = hear_end(d, other);
	MUST(end.reason == BOX_SIGNALED && end.value == SIGTERM);
}

WITH_BOX(what_is_kept_goes_on_until_it_is_cancelled)
{
	struct box_call c = sh(DAEMONS "exit 4");
	struct err e = { 0 };
	uint64_t id;

	c.keep = true;
	id = ask(d, &c);
	MUST(hear_end(d, id).value == 4);
	wait_marked(2);
	check_sh(d, "echo next", 0, "next\n");
	wait_marked(2);
	MUST(d->box->ops->cancel(d->box, id, 0, &e) == 0);
	wait_marked(0);
	check_sh(d, "echo next", 0, "next\n"); /* the answer to the cancel is nobody's event */
}

WITH_BOX(deadline_ends_the_call)
{
	struct box_call c = sh("trap 'exit 9' TERM; " DAEMONS "while :; do sleep 0.02; done");
	struct box_end end;
	char out[8];

	c.grace_ms = 5000;
	c.deadline_ms = 25;
	do { /* until the shell has come as far as its trap */
		c.deadline_ms *= 4;
		end = run(d, c, out, sizeof(out));
		MUST(end.reason == BOX_TIMEOUT && count_marked(NULL) == 0);
	} while (end.value != 9 && c.deadline_ms < 5000);
	MUST(end.value == 9);
}

WITH_BOX(a_call_has_a_terminal_of_its_own)
{
	struct box_call c = sh("stty size; tty; echo done >/dev/tty");
	struct box_event ev;
	char out[256];
	uint64_t id;

	c.pty = true;
	c.rows = 33;
	c.columns = 77;
	id = ask(d, &c);
	ev = hear(d);
	MUST(ev.kind == BOX_PTY && ev.call == id && ev.fd >= 0);
	read_out(ev.fd, out, sizeof(out));
	MUST(strcmp(out, "33 77\r\n/dev/pts/0\r\ndone\r\n") == 0);
	(void)close(ev.fd);
	MUST(hear_end(d, id).value == 0);
}

WITH_BOX(stat_tells_and_loses_no_event)
{
	struct box_call c = sh("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
	struct pollfd p = { .fd = d->box->ops->fd(d->box), .events = POLLIN };
	struct box_stat st, again;
	struct box_event ev;
	struct err e = { 0 };
	uint64_t first = ask(d, &c), last;

	c = sh("exec sleep $MARK");
	last = ask(d, &c);
	MUST(poll(&p, 1, 10000) == 1); /* the end of the first is there, and stays */
	MUST(d->box->ops->stat(d->box, &st, &e) == 0);
	MUST(st.calls == 1 && st.user_us > 1000 && st.probes > 20 && strlen(st.walls) == 64);
	MUST(poll(&p, 1, 0) == 1);
	MUST(hear_end(d, first).value == 0);
	MUST(d->box->ops->next(d->box, false, &ev, &e) == -EAGAIN && poll(&p, 1, 0) == 0);
	MUST(d->box->ops->cancel(d->box, last, 0, &e) == 0);
	MUST(hear_end(d, last).reason == BOX_CANCELLED);
	MUST(d->box->ops->stat(d->box, &again, &e) == 0 && again.calls == 0);
	MUST(strcmp(again.walls, st.walls) == 0);
}

WITH_BOX(too_many_calls_are_refused_and_the_rest_goes_on)
{
	const struct str sleeper[] = { STR("/usr/bin/sleep"), STR("100") };
	struct box_call c = sh("");
	struct err e = { 0 };
	uint64_t id = 0, first = 0;
	int r = 0, asked = 0;

	c.argv = (struct strs){ sleeper, 2 };
	while (asked < 300) {
		r = d->box->ops->exec(d->box, &c, &id, &e);
		if (r == -EAGAIN && asked == 256)
			break;
		if (r == -EAGAIN) { /* requests are on their way */
			(void)usleep(2000);
			continue;
		}
		MUST(r == 0);
		first = first ? first : id;
		asked++;
	}
	MUST(asked == 256 && e.kind == ERR_LIMIT);
	MUST(d->box->ops->cancel(d->box, first, 0, &e) == 0);
	MUST(hear_end(d, first).reason == BOX_CANCELLED);
	check_sh(d, "echo one more", 0, "one more\n");
}

/* Whoever ends it: every call is heard of, and then the end, again and again. */
static void check_gone(struct den *d, uint64_t a, uint64_t b)
{
	struct pollfd p = { .fd = d->box->ops->fd(d->box), .events = POLLIN };
	struct box_call c = sh("exit 0");
	struct box_stat st;
	struct err e = { 0 };
	uint64_t id;

	for (int i = 0; i < 2; i++) {
		struct box_event ev;

		MUST(poll(&p, 1, 5000) == 1);
		ev = hear(d);
		MUST(ev.kind == BOX_ENDED && ev.end.reason == BOX_LOST && (ev.call == a || ev.call == b));
	}
	for (int i = 0; i < 3; i++) {
		MUST(poll(&p, 1, 5000) == 1);
		MUST(hear(d).kind == BOX_GONE);
	}
	MUST(count_marked(NULL) == 0);
	MUST(d->box->ops->exec(d->box, &c, &id, &e) < 0 && e.kind == ERR_UNAVAIL);
	MUST(d->box->ops->stat(d->box, &st, &e) < 0 && e.kind == ERR_UNAVAIL);
	MUST(d->box->ops->cancel(d->box, a, 0, &e) < 0);
}

static void begin_two(struct den *d, uint64_t ids[static 2])
{
	struct box_call c = sh(DAEMONS "exec sleep $MARK");

	c.keep = true;
	ids[0] = ask(d, &c);
	ids[1] = ask(d, &c);
	wait_marked(6);
}

WITH_BOX(stop_ends_everything)
{
	struct err e = { 0 };
	uint64_t ids[2];

	begin_two(d, ids);
	MUST(d->box->ops->stop(d->box, &e) == 0);
	check_gone(d, ids[0], ids[1]);
}

static pid_t find_pid_1(void)
{
	pid_t pid = 0;

	MUST(count_marked(&pid) > 0);
	for (char name[64] = ""; strcmp(name, "creel-warden") != 0;) {
		char path[64];
		int fd;
		ssize_t n;

		pid = parent_of(pid);
		(void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = read(fd, name, sizeof(name) - 1);
		MUST(fd >= 0 && n > 0);
		name[n - 1] = '\0';
		(void)close(fd);
	}
	return pid;
}

WITH_BOX(pid_1_killed_is_told)
{
	uint64_t ids[2];

	begin_two(d, ids);
	MUST(kill(find_pid_1(), SIGKILL) == 0);
	check_gone(d, ids[0], ids[1]);
}

WITH_BOX(one_that_ends_while_nothing_runs_is_told)
{
	struct box_call c = sh("exec sleep $MARK");
	uint64_t id = ask(d, &c), end = clock_deadline(10000);
	struct box_event ev;
	struct err e = { 0 };
	pid_t pid;
	int r;

	wait_marked(1);
	pid = find_pid_1();
	MUST(d->box->ops->cancel(d->box, id, 0, &e) == 0);
	(void)hear_end(d, id);
	MUST(d->box->ops->next(d->box, false, &ev, &e) == -EAGAIN);
	MUST(kill(pid, SIGKILL) == 0);
	while ((r = d->box->ops->next(d->box, false, &ev, &e)) == -EAGAIN)
		MUST(clock_mono_ms() < end && usleep(1000) == 0);
	MUST(r == 1 && ev.kind == BOX_GONE);
}

/* It never took what we asked for last, and that is told; what it had told before is heard all the same. */
static void finished_first(struct den *d)
{
	struct box_call c = sh("exec sleep $MARK");
	struct pollfd p = { .fd = d->box->ops->fd(d->box), .events = POLLIN };
	uint64_t running = ask(d, &c), done, late;
	struct box_event ev;
	pid_t pid;

	wait_marked(1);
	pid = find_pid_1();
	c = sh("exit 7");
	done = ask(d, &c);
	MUST(poll(&p, 1, 10000) == 1);
	MUST(kill(pid, SIGSTOP) == 0);
	late = ask(d, &c);
	MUST(kill(pid, SIGKILL) == 0);
	check_gone_within(5000);
	(void)usleep(50000); /* the outer half goes a moment later */
	MUST(hear_end(d, done).value == 7);
	for (int i = 0; i < 2; i++) {
		ev = hear(d);
		if (ev.call == late)
			MUST(ev.kind == BOX_FAILED && box_is_unbegun(&ev.err));
		else
			MUST(ev.kind == BOX_ENDED && ev.end.reason == BOX_LOST && ev.call == running);
	}
	MUST(hear(d).kind == BOX_GONE);
}

TEST(box_native_tells_finished_results_after_the_warden_was_killed)
{
	FOR_EACH_USER(user) den_run(NATIVE, user, finished_first);
}

WITH_BOX(close_ends_the_calls_that_were_asked_for)
{
	uint64_t ids[2];

	begin_two(d, ids);
}

/* A group of its own, where this process may make one: told by stat, and gone with the box. */
static void with_group(struct den *d)
{
	const struct cgroup_limits limits = { .must = CGROUP_MEMORY, .memory = (uint64_t)64 << 20 };
	struct cgroup c = CGROUP_EMPTY, copy;
	struct box_stat st;
	struct err e = { 0 };
	struct box *own = d->box;

	if (cgroup_new(&limits, STR(""), &c, &e) < 0) {
		MUST(e.kind == ERR_UNAVAIL);
		return;
	}
	copy = c;
	d->box = open_native(&c);
	MUST(c.version == CGROUP_NONE && c.dir[0][0] == '\0' && access(copy.dir[0], F_OK) == 0);
	check_sh(d, "python3 -c 'a = bytearray(200 << 20)' >/dev/null 2>&1; echo $?", 0, "137\n");
	MUST(d->box->ops->stat(d->box, &st, &e) == 0);
	MUST(st.oom_kills == 1 && st.memory_bytes > 0 && st.memory_bytes <= limits.memory);
	(void)box_close(d->box);
	MUST(access(copy.dir[0], F_OK) < 0 && errno == ENOENT);
	d->box = own;
}

TEST(box_native_takes_a_cgroup_over_and_removes_it)
{
	FOR_EACH_USER(user) den_run(NATIVE, user, with_group);
}

TEST(box_native_names_the_wall_that_does_not_stand)
{
	struct native_spec spec = { .plan = STR("no plan at all") };
	struct box *box = NULL;
	struct err e = { 0 };

	spec.warden_fd = open(getenv("CREEL_WARDEN"), O_RDONLY | O_CLOEXEC);
	assert_true(native_open(&spec, &box, &e) < 0);
	assert_null(box);
	CHECK_CASE(strstr(e.msg, "plan"), "%s", e.msg);
	(void)close(spec.warden_fd);
}

TEST_MAIN()
