/* SPDX-License-Identifier: Apache-2.0 */
/* Calls into a sandbox that stays: what they get, how they end, and that they end whole and alone. */
#include "served.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#define WITH_SERVED(name)                                          \
	static void name##_body(struct served *s);                 \
	TEST(warm_##name)                                          \
	{                                                          \
		FOR_EACH_USER(user) served_run(user, name##_body); \
	}                                                          \
	static void name##_body(struct served *s)

WITH_SERVED(calls_run_and_say_how_they_ended)
{
	check_run(s, "echo hi; exit 3", 3, "hi\n");
	check_run(s, "echo $0 $MARK | wc -w; pwd; umask; id -u", 0, "2\n/tmp\n0022\n1000\n");
	check_run(s, "ls /proc/self/fd | wc -l", 0, "4\n"); /* 0, 1, 2, and what ls itself opens */
	check_run(
		s, "grep -E '^(Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | tr -d ' \t\n'",
		0,
		"CapPrm:0000000000000000CapEff:0000000000000000CapBnd:0000000000000000CapAmb:0000000000000000NoNewPrivs:1Seccomp:2");
}

WITH_SERVED(nothing_listens_where_no_proxy_is_wanted)
{
	MUST(s->warm.listener < 0);
	check_run(s, "bash -c ': < /dev/tcp/127.0.0.1/3128' 2>/dev/null && echo open; true", 0, "");
}

/* Somebody outside who answers one connection. */
static void answer_one(int listener)
{
	pid_t pid = fork();

	MUST(pid >= 0);
	if (pid == 0) {
		int fd = accept(listener, NULL, NULL);

		(void)!write(fd, "from outside\n", 13);
		_exit(0);
	}
}

static void proxy_body(struct served *s)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);
	int host = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	MUST(s->warm.listener >= 0 && getsockname(s->warm.listener, (struct sockaddr *)&at, &n) == 0);
	MUST(at.sin_addr.s_addr == htonl(INADDR_LOOPBACK) && ntohs(at.sin_port) == served_proxy);
	/* the same address outside is another one */
	MUST(connect(host, (struct sockaddr *)&at, n) < 0 && errno == ECONNREFUSED);
	(void)close(host);
	answer_one(s->warm.listener);
	check_run(s, "bash -c 'cat < /dev/tcp/127.0.0.1/31288'", 0, "from outside\n");
	/* nobody inside holds it, can take its place, or has another way out */
	check_run(s, "ls /proc/self/fd | wc -l", 0, "4\n");
	check_run(s, "bash -c ': < /dev/tcp/192.0.2.1/80' 2>&1 | grep -q unreachable && echo no", 0, "no\n");
	check_run(
		s,
		"python3 -c 'import socket; s = socket.socket(); s.bind((\"127.0.0.1\", 31288))' 2>&1 | grep -c 'in use'",
		0, "1\n");
	s->warm.listener = (close(s->warm.listener), -1);
	check_run(s, "bash -c ': < /dev/tcp/127.0.0.1/31288' 2>&1 | grep -q refused && echo no", 0, "no\n");
}

TEST(warm_a_socket_that_listens_inside_is_answered_from_outside_alone)
{
	served_proxy = 31288;
	FOR_EACH_USER(user) served_run(user, proxy_body);
	served_proxy = 0;
}

static void must_fail(struct served *s, const struct warm_call *c, int err, const char *words)
{
	struct serve_event ev;
	struct err e = { 0 };

	MUST(warm_exec(&s->warm, c, &ev, &e) < 0);
	if (e.sys_errno != err || !strstr(e.msg, words)) {
		(void)fprintf(stderr, "errno %d, not %d; '%s' does not say '%s'\n", e.sys_errno, err, e.msg,
			      words);
		_exit(1);
	}
}

/* It lies nowhere inside, and nothing but the streams is left to it. */
WITH_SERVED(a_program_can_come_with_the_request)
{
	struct warm_call c =
		shell_call("ls /proc/self/fd | wc -l; echo $0; touch /usr/x 2>/dev/null || echo walls");
	int file = open("/bin/sh", O_RDONLY | O_CLOEXEC), dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct str name = STR("/nowhere/sh");
	struct serve_event ev;
	struct err e = { 0 };
	char out[64];
	struct str argv[3];

	memcpy(argv, c.argv.v, sizeof(argv));
	argv[0] = name;
	c.argv.v = argv;
	c.flags = SERVE_F_PROGRAM;
	MUST(sandbox_seal_program(file, "sh", &c.program, &e) == 0);
	ev = run_call(s, c, out, sizeof(out));
	MUST(ev.reason == SERVE_EXITED && ev.value == 0 && strcmp(out, "4\n/nowhere/sh\nwalls\n") == 0);
	(void)close(c.program);
	c.program = dir;
	must_fail(s, &c, EACCES, "exec '/nowhere/sh'");
	c.program = file; /* of the host's tree: Landlock knows nothing of it */
	must_fail(s, &c, EACCES, "exec '/nowhere/sh'");
	(void)close(file);
	(void)close(dir);
}

WITH_SERVED(state_stays_between_calls)
{
	check_run(s, "cd /tmp && echo kept > a", 0, "");
	check_run(s, "cat /tmp/a", 0, "kept\n");
}

WITH_SERVED(a_signal_is_told)
{
	char out[64];
	struct serve_event ev = run_call(s, shell_call("kill -9 $$"), out, sizeof(out));

	MUST(ev.reason == SERVE_SIGNALED && ev.value == 9);
}

WITH_SERVED(what_cannot_start_is_an_error_that_names_it)
{
	const struct str missing = STR("/nowhere/at/all"), nul = { "a\0b", 3 };
	const struct serve_limit core = { .resource = RLIMIT_CORE },
				 locks = { .resource = RLIMIT_LOCKS, .value = 9 };
	struct warm_call c = shell_call("exit 0");
	int tty = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	c.argv = (struct strs){ &missing, 1 };
	must_fail(s, &c, ENOENT, "exec '/nowhere/at/all'");
	c = shell_call("exit 0");
	c.cwd = STR("/nowhere");
	must_fail(s, &c, ENOENT, "working directory '/nowhere'");
	c = shell_call("exit 0");
	c.argv = (struct strs){ &nul, 1 };
	must_fail(s, &c, 0, "NUL");
	c = shell_call("exit 0");
	c.stdio[0] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must_fail(s, &c, EISDIR, "start the call");
	c.stdio[0] = tty;
	must_fail(s, &c, ENOTTY, "start the call");
	c = shell_call("exit 0");
	c.n_limits = 1;
	c.limits = &core;
	must_fail(s, &c, EINVAL, "start the call");
	c.limits = &locks;
	must_fail(s, &c, EINVAL, "start the call");
	check_run(s, "echo still here", 0, "still here\n");
}

WITH_SERVED(limits_hold_for_the_call_and_are_never_raised)
{
	const struct serve_limit limits[] = { { .resource = RLIMIT_NOFILE, .value = 33 },
					      { .resource = RLIMIT_FSIZE, .value = UINT64_MAX - 1 } };
	struct warm_call c = shell_call("ulimit -Hn; ulimit -n 34 2>/dev/null || echo no");
	char out[64];

	c.limits = limits;
	c.n_limits = 2;
	MUST(run_call(s, c, out, sizeof(out)).value == 0 && strcmp(out, "33\nno\n") == 0);
	check_run(s, "ulimit -Hn", 0, "256\n");
}

WITH_SERVED(large_arguments_and_environments_arrive)
{
	size_t n = (size_t)100 << 10, vars = 40;
	char *big = malloc(n + 1), out[64], *env = malloc(vars * (n + 8));
	struct str argv[4] = { STR("sh"), STR("-c"), STR("echo ${#1} ${#V39}"), STR("sh") }, list[5], e[40];
	struct warm_call c = shell_call("");

	memset(big, 'x', n);
	memcpy(list, argv, sizeof(argv));
	list[4] = (struct str){ big, n };
	for (size_t i = 0; i < vars; i++) {
		char *at = env + i * (n + 8);
		int k = snprintf(at, 8, "V%zu=", i);

		memset(at + k, 'y', n);
		e[i] = (struct str){ at, (size_t)k + n };
	}
	c.argv = (struct strs){ list, 5 };
	c.env = (struct strs){ e, 8 };
	MUST(run_call(s, c, out, sizeof(out)).value == 0 && strcmp(out, "102400 0\n") == 0);
	c.env.n = vars; /* 4 MB: more than the kernel takes at once, and told as that, or run */
	{
		struct serve_event ev;
		struct err err = { 0 };
		int r = warm_exec(&s->warm, &c, &ev, &err);

		MUST((r == 0 && ev.value == 0) || err.sys_errno == E2BIG);
	}
	check_run(s, "echo still here", 0, "still here\n");
	free(big);
	free(env);
}

WITH_SERVED(many_run_at_once_each_with_its_own_end)
{
	enum { N = 100 };
	struct warm_call c = shell_call("read x; exit $x");
	uint64_t ids[N];
	int in[N][2], ended = 0;
	struct err e = { 0 };

	for (int i = 0; i < N; i++) {
		MUST(pipe2(in[i], O_CLOEXEC) == 0);
		c.stdio[0] = in[i][0];
		ids[i] = begin(s, &c);
		(void)close(in[i][0]);
	}
	MUST(warm_ask(&s->warm, SERVE_LIST, &e) == 0);
	MUST(hear_next(s).value == N);
	for (int i = N - 1; i >= 0; i--) {
		char text[8];
		int k = snprintf(text, sizeof(text), "%d\n", i + 1);

		MUST(write(in[i][1], text, (size_t)k) == k);
		(void)close(in[i][1]);
	}
	while (ended < N) {
		struct serve_event ev = hear_next(s);
		int i = 0;

		MUST(ev.msg == SERVE_EXIT);
		while (i < N && ids[i] != ev.id)
			i++;
		MUST(i < N && ev.reason == SERVE_EXITED && ev.value == i + 1);
		ids[i] = 0;
		ended++;
	}
}

/* More than the table holds: refused, and the rest goes on. */
WITH_SERVED(too_many_calls_are_refused)
{
	struct warm_call c = shell_call("sleep 100");
	struct err e = { 0 };
	uint64_t id, first = 0;
	int refused = 0;

	c.argv = (struct strs){ (const struct str[]){ STR("/usr/bin/sleep"), STR("100") }, 2 };
	for (unsigned i = 0; i < SERVE_CALLS_MAX + 3; i++) {
		int r;

		while ((r = warm_call(&s->warm, &c, &id, &e)) == -EAGAIN)
			(void)usleep(2000);
		MUST(r == 0);
		first = first ? first : id;
	}
	for (; refused < 3; refused++) {
		struct serve_event ev = hear_next(s);

		MUST(ev.msg == SERVE_REPLY && ev.err == EUSERS && ev.id > SERVE_CALLS_MAX);
	}
	MUST(warm_cancel(&s->warm, first, 0, &e) == 0);
	MUST(hear_exit(s, first).reason == SERVE_CANCELLED);
	check_run(s, "echo one more", 0, "one more\n");
}

/* More of them are under way than this user may have: to be asked again when somebody has taken some, as when the socket is full. Root may have more. */
WITH_SERVED(descriptors_under_way_are_waited_for)
{
	enum { MANY = 40 };
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int) * MANY)];
	} c = { .h = { .cmsg_level = SOL_SOCKET,
		       .cmsg_type = SCM_RIGHTS,
		       .cmsg_len = CMSG_LEN(sizeof(int) * MANY) } };
	struct iovec iov = { .iov_base = (char[]){ 0 }, .iov_len = 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)
	};
	struct warm_call call = shell_call("exit 0");
	struct rlimit before, few;
	struct err e = { 0 };
	uint64_t id;
	int pair[2], fds[MANY];

	if (geteuid() == 0)
		return;
	MUST(getrlimit(RLIMIT_NOFILE, &before) == 0 &&
	     socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) == 0);
	for (int i = 0; i < MANY; i++)
		fds[i] = pair[0];
	memcpy(CMSG_DATA(&c.h), fds, sizeof(fds));
	few = before;
	few.rlim_cur = MANY;
	MUST(setrlimit(RLIMIT_NOFILE, &few) == 0);
	MUST(sendmsg(pair[0], &m, 0) == 1);
	while (sendmsg(pair[0], &m, MSG_DONTWAIT) == 1)
		;
	MUST(errno == ETOOMANYREFS);
	call.stdio[1] = pair[0];
	MUST(warm_call(&s->warm, &call, &id, &e) == -EAGAIN && e.kind == ERR_LIMIT);
	(void)close(pair[0]);
	(void)close(pair[1]);
	MUST(setrlimit(RLIMIT_NOFILE, &before) == 0);
	check_run(s, "echo again", 0, "again\n");
}

#define DAEMONS "(setsid setsid sleep $MARK </dev/null >/dev/null 2>&1 &) ; (sleep $MARK &) ; "

static void set_mark(const char *tail)
{
	(void)snprintf(mark, sizeof(mark), "7%d.%s", getppid(), tail);
}

WITH_SERVED(cancel_ends_the_whole_call_and_no_other)
{
	struct warm_call c;
	struct serve_event ev;
	struct err e = { 0 };
	uint64_t a = 0, b = 0;

	set_mark("111");
	c = shell_call(DAEMONS "sleep $MARK; exit 1");
	a = begin(s, &c);
	wait_marked(3);
	set_mark("222");
	c = shell_call(DAEMONS "sleep $MARK; exit 1");
	b = begin(s, &c);
	wait_marked(3);
	MUST(warm_cancel(&s->warm, a, 0, &e) == 0);
	ev = hear_exit(s, a);
	MUST(ev.reason == SERVE_CANCELLED && ev.value == 128 + SIGKILL && ev.left == 0);
	wait_marked(3);
	set_mark("111");
	MUST(count_marked(NULL) == 0);
	MUST(warm_cancel(&s->warm, b, 0, &e) == 0);
	MUST(hear_exit(s, b).reason == SERVE_CANCELLED);
	set_mark("222");
	MUST(count_marked(NULL) == 0);
	/* What never was, and what is long over. */
	MUST(warm_cancel(&s->warm, 1000, 0, &e) == 0);
	MUST(hear_next(s).err == ESRCH);
	MUST(warm_cancel(&s->warm, a, 0, &e) == 0);
	ev = hear_next(s);
	MUST(ev.msg == SERVE_REPLY && ev.op == SERVE_CANCEL && ev.err == 0 && ev.value == 0);
}

/* DAEMONS, when those who made the two have gone: until then they count, too. Both are children of pid 1 then. */
static bool are_left_alone(void)
{
	DIR *d = opendir("/proc");
	const struct dirent *entry;
	pid_t parent = 0, pid;
	int n = 0;

	MUST(d);
	while ((entry = readdir(d))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || !has_mark(entry->d_name))
			continue;
		pid = (pid_t)strtol(entry->d_name, NULL, 10);
		n += parent == 0 || parent == parent_of(pid) ? 1 : 100;
		parent = parent_of(pid);
	}
	(void)closedir(d);
	return n == 2 && parent;
}

static void wait_left_alone(void)
{
	uint64_t end = clock_deadline(10000);

	while (!are_left_alone()) {
		MUST(clock_mono_ms() < end);
		(void)usleep(2000);
	}
}

WITH_SERVED(what_a_call_leaves_behind_ends_with_it_unless_it_is_kept)
{
	struct warm_call c, other;
	struct serve_event ev;
	struct err e = { 0 };
	uint64_t id, running;

	set_mark("333");
	other = shell_call("sleep 100");
	running = begin(s, &other); /* so that pid 1 has other children, too */
	c = shell_call(DAEMONS "exit 4");
	id = begin(s, &c);
	MUST(hear_exit(s, id).value == 4);
	MUST(count_marked(NULL) == 0);
	c.flags = SERVE_F_KEEP;
	id = begin(s, &c);
	MUST(hear_exit(s, id).value == 4);
	wait_marked(2);
	check_run(s, "echo next", 0, "next\n");
	wait_left_alone();
	MUST(warm_cancel(&s->warm, id, 0, &e) == 0);
	ev = hear_next(s);
	MUST(ev.msg == SERVE_REPLY && ev.id == id && ev.value == 2);
	MUST(count_marked(NULL) == 0);
	/* And what is kept ends with the sandbox: see check_gone_within() in served_run(). */
	c = shell_call(DAEMONS "exit 4");
	c.flags = SERVE_F_KEEP;
	id = begin(s, &c);
	MUST(hear_exit(s, id).value == 4);
	wait_marked(2);
	(void)running;
}

WITH_SERVED(deadline_asks_and_then_ends_that_call_alone)
{
	struct warm_call other = shell_call("sleep 1000"), c;
	struct serve_event ev;
	uint64_t id = 0, keep = begin(s, &other), start = clock_mono_ms();
	struct err e = { 0 };

	c = shell_call("trap 'exit 9' TERM; " DAEMONS "while :; do sleep 0.02; done");
	c.deadline_ms = 150;
	c.grace_ms = 5000;
	id = begin(s, &c);
	ev = hear_exit(s, id);
	MUST(ev.reason == SERVE_TIMEOUT && ev.value == 9);
	MUST(clock_mono_ms() - start >= 150 && count_marked(NULL) == 0);
	c = shell_call("trap '' TERM; " DAEMONS "while :; do sleep 0.02; done");
	c.deadline_ms = 100;
	c.grace_ms = 100;
	id = begin(s, &c);
	ev = hear_exit(s, id);
	MUST(ev.reason == SERVE_TIMEOUT && ev.value == 128 + SIGKILL && count_marked(NULL) == 0);
	MUST(warm_signal(&s->warm, keep, SIGTERM, &e) == 0);
	for (int i = 0; i < 2; i++) {
		ev = hear_next(s);
		MUST(ev.id == keep &&
		     (ev.msg == SERVE_REPLY ? ev.err == 0
					    : ev.reason == SERVE_SIGNALED && ev.value == SIGTERM));
	}
}

WITH_SERVED(a_call_has_a_terminal_of_its_own)
{
	struct warm_call c =
		shell_call("stty size; tty; [ -t 0 ] && ls -l $(tty) | cut -c1; echo done >/dev/tty");
	struct warm_event ev;
	struct err e = { 0 };
	char out[256] = "";
	ssize_t n = 0, k = 1;
	uint64_t id;
	int master;

	c.flags = SERVE_F_PTY | SERVE_F_TELL;
	c.rows = 33;
	c.columns = 77;
	id = begin(s, &c);
	MUST(warm_next(&s->warm, true, &ev, &e) == 1 && ev.event.msg == SERVE_PTY && ev.event.id == id &&
	     ev.fd >= 0);
	master = ev.fd;
	MUST(hear_next(s).msg == SERVE_STARTED);
	while (k > 0 && n < 255) {
		k = read(master, out + n, 255 - (size_t)n);
		n += k > 0 ? k : 0;
	}
	MUST(strcmp(out, "33 77\r\n/dev/pts/0\r\nc\r\ndone\r\n") == 0);
	MUST(hear_exit(s, id).value == 0);
	(void)close(master);
}

WITH_SERVED(usage_is_told)
{
	char out[64];
	struct serve_event ev =
		run_call(s, shell_call("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"), out, sizeof(out));
	struct err e = { 0 };

	MUST(ev.wall_us > 1000 && ev.user_us > 1000 && ev.max_rss_kb > 500);
	MUST(warm_ask(&s->warm, SERVE_STAT, &e) == 0);
	ev = hear_next(s);
	MUST(ev.msg == SERVE_REPLY && ev.op == SERVE_STAT && ev.value == 0 && ev.user_us > 1000);
}

WITH_SERVED(a_request_to_stop_ends_everything)
{
	struct warm_call c = shell_call(DAEMONS "sleep $MARK");
	struct warm_event ev;
	struct err e = { 0 };

	(void)begin(s, &c);
	wait_marked(3);
	MUST(warm_ask(&s->warm, SERVE_STOP, &e) == 0);
	MUST(warm_next(&s->warm, true, &ev, &e) == 0);
	MUST(count_marked(NULL) == 0);
}

/* Nothing that can be sent makes pid 1 do anything but say no. */
WITH_SERVED(nonsense_is_answered_and_nothing_else)
{
	struct serve_request r = { .msg = SERVE_EXEC, .id = 1, .argc = 1, .body = 4 };
	struct warm_event ev;
	struct err e = { 0 };
	static char bytes[SERVE_INLINE_MAX + 100];
	int fd = warm_fd(&s->warm);
	const size_t sizes[] = {
		1, 3, sizeof(r) - 1, sizeof(r), sizeof(r) + 3, sizeof(r) + 5, sizeof(bytes)
	};

	memcpy(bytes, &r, sizeof(r));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		MUST(send(fd, bytes, sizes[i], 0) == (ssize_t)sizes[i]);
		MUST(warm_next(&s->warm, true, &ev, &e) == 1 && ev.event.msg == SERVE_REPLY &&
		     ev.event.err > 0);
	}
	for (uint32_t msg = 0; msg < 200; msg++) {
		if (msg == MSG_END || msg == SERVE_STOP || (msg >= SERVE_LIST && msg <= SERVE_STAT))
			continue;
		r = (struct serve_request){
			.msg = msg, .id = UINT64_MAX, .argc = UINT32_MAX, .envc = UINT32_MAX
		};
		MUST(send(fd, &r, sizeof(r), 0) == (ssize_t)sizeof(r));
		MUST(warm_next(&s->warm, true, &ev, &e) == 1 && ev.event.msg == SERVE_REPLY &&
		     ev.event.err > 0);
	}
	check_run(s, "echo still here", 0, "still here\n");
}

/* ---- begun before there is a plan ---- */

static const struct sandbox_stdio no_stdio = { FD_NONE, FD_NONE, FD_NONE };

/* He has what we had when he was born, for longer than we live. */
static pid_t bystander(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		(void)alarm(30);
		for (;;)
			(void)pause();
	}
	MUST(pid > 0);
	return pid;
}

static void begin_beside_a_bystander(struct served *s)
{
	for (unsigned how = 0; how <= SPAWN_WAITS; how += SPAWN_WAITS) {
		struct sandbox early = SANDBOX_NONE;
		struct warm w = WARM_NONE;
		struct err e = { 0 };
		struct buf plan;
		pid_t other, pid;

		served_plan(&plan);
		MUST(sandbox_spawn(s->warden, &no_stdio, how | SPAWN_BESIDE, &early, &e) == 0);
		pid = early.warden.pid;
		other = bystander();
		(void)alarm(20);
		MUST(warm_resume(&early, buf_str(&plan), &s->cgroup, &w, &e) == 0);
		MUST(warm_ready(&w, &e) == 0);
		warm_done(&w);
		(void)alarm(0);
		MUST(waitpid(pid, NULL, WNOHANG) < 0 && errno == ECHILD); /* was waited for */
		MUST(kill(other, SIGKILL) == 0 && waitpid(other, NULL, 0) == other);
		buf_done(&plan);
	}
}

TEST(warm_begins_and_ends_whoever_else_was_forked_meanwhile)
{
	FOR_EACH_USER(user)
	served_run(user, begin_beside_a_bystander);
}

static void resume_dead(int warden, bool killed, const char *want)
{
	const struct cgroup group = { .version = CGROUP_V1, .dir = { "/nonexistent/group" } };
	struct sandbox early = SANDBOX_NONE;
	struct warm w = WARM_NONE;
	struct err e = { 0 };
	struct pollfd p;

	MUST(sandbox_spawn(warden, &no_stdio, SPAWN_WAITS | SPAWN_BESIDE, &early, &e) == 0);
	p = (struct pollfd){ .fd = early.warden.pidfd, .events = POLLIN };
	MUST(!killed || kill(early.warden.pid, SIGKILL) == 0);
	MUST(poll(&p, 1, 20000) == 1);
	MUST(warm_resume(&early, STR("plan"), &group, &w, &e) < 0);
	if (!strstr(e.msg, want))
		(void)fprintf(stderr, "'%s' does not say '%s'\n", e.msg, want);
	MUST(strstr(e.msg, want));
	MUST(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* Whoever uses the library may have left SIGPIPE as it is. */
TEST(warm_a_warden_that_has_died_before_its_plan_is_an_error)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		int bad = memfd_create("no-program", MFD_CLOEXEC);
		int good = open(getenv("CREEL_WARDEN"), O_RDONLY | O_CLOEXEC);

		MUST(signal(SIGPIPE, SIG_DFL) != SIG_ERR && write(bad, "text", 4) == 4);
		resume_dead(bad, false, "start creel-warden: Exec format error");
		resume_dead(good, true, "tell the warden of its cgroup: Broken pipe");
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	CHECK_CASE(status == 0, "it ended with %#x", (unsigned)status);
}

TEST_MAIN()
