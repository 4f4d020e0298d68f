/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox that serves, for a test. The test's body runs in a process of its own, which can be another user: there MUST() says
 * what went wrong and ends it.
 */
#pragma once

#include "engine.h"
#include "sandbox/warm.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define MUST(cond)                                                                                         \
	do {                                                                                               \
		if (!(cond)) {                                                                             \
			(void)fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #cond, \
				      errno);                                                              \
			_exit(1);                                                                          \
		}                                                                                          \
	} while (0)

#define ATTACKS "/attack" /* where the programs of tests/escape are, inside */

struct served {
	struct warm warm;
	struct cgroup cgroup;
	int warden;
};

static uint16_t served_proxy; /* where a socket for a proxy listens; 0 = nowhere */
static uint64_t served_files; /* open files; 0 = as ever */

static inline void served_plan(struct buf *plan)
{
	static struct profile p;
	static struct profile_mount m[16];
	static char attacks[512];
	struct setup s = { .script = "" };
	struct arena a;
	struct err e = { 0 };

	arena_init(&a, 4 << 20);
	/* build/src/sandbox/creel-warden -> build/tests/escape */
	(void)snprintf(attacks, sizeof(attacks), "%s", getenv("CREEL_WARDEN"));
	for (int i = 0; i < 3; i++)
		*strrchr(attacks, '/') = '\0';
	(void)strncat(attacks, "/tests/escape", sizeof(attacks) - strlen(attacks) - 1);
	s.mounts[0] = (struct profile_mount){ .source.path = str_z(attacks), .target = STR(ATTACKS) };
	box_profile(&s, &a, &p, m);
	m[0].idmap = false; /* it is only read, and may lie anywhere */
	p.argv = p.env = (struct strs){ 0 };
	p.serve = true;
	p.proxy_port = served_proxy;
	p.pids = 400;
	p.open_files = served_files ? served_files : p.open_files;
	buf_init(plan, PLAN_MAX_BYTES);
	if (plan_build(&p, plan, &e) < 0) {
		(void)fprintf(stderr, "plan: %s\n", e.msg);
		_exit(1);
	}
}

/* Apart from its caller: what is assigned here lies on the stack once more in a build for debugging. */
static inline void served_clear(struct served *s)
{
	memset(s, 0, sizeof(*s));
	s->warm = WARM_NONE;
	s->cgroup = CGROUP_EMPTY;
}

static inline void served_start(struct served *s)
{
	struct buf plan;
	struct err e = { 0 };

	served_clear(s);
	s->warden = open(getenv("CREEL_WARDEN"), O_RDONLY | O_CLOEXEC);
	served_plan(&plan);
	if (warm_start(s->warden, buf_str(&plan), &s->cgroup, &s->warm, &e) < 0 ||
	    warm_ready(&s->warm, &e) < 0) {
		(void)fprintf(stderr, "start: %s\n", e.msg);
		_exit(1);
	}
	buf_done(&plan);
}

static inline void served_end(struct served *s)
{
	warm_done(&s->warm);
	(void)close(s->warden);
}

/* As a user: root, with two users inside, or an ordinary one, with one. */
static inline void served_run(int as_user, void (*body)(struct served *s))
{
	pid_t pid;
	int status;

	assert_non_null(getenv("CREEL_WARDEN"));
	(void)snprintf(mark, sizeof(mark), "7%d.25", getpid());
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct served s;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (as_user && getuid() == 0)
			MUST(setgid(ORDINARY) == 0 && setuid(ORDINARY) == 0 &&
			     prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0);
		served_start(&s);
		body(&s);
		served_end(&s);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	CHECK_CASE(status == 0, "user %d: it ended with %#x", as_user, (unsigned)status);
	check_gone_within(1000);
}

/* ---- calls; a shell_call() lasts until the next ---- */

static inline struct warm_call shell_call(const char *script)
{
	static struct str argv[3], env[2];
	static char text[64];

	(void)snprintf(text, sizeof(text), "MARK=%s", mark);
	argv[0] = STR("sh");
	argv[1] = STR("-c");
	argv[2] = str_z(script);
	env[0] = STR("PATH=/usr/bin:/bin:/usr/sbin");
	env[1] = str_z(text);
	return (struct warm_call){ .argv = { argv, 3 },
				   .env = { env, 2 },
				   .cwd = STR("/tmp"),
				   .path = STR("/usr/bin:/bin"),
				   .stdio = { FD_NONE, FD_NONE, FD_NONE },
				   .umask = 022 };
}

/* Runs to its end; what it wrote is in `out`. */
static inline struct serve_event run_call(struct served *s, struct warm_call c, char *out, size_t size)
{
	struct serve_event ev = { 0 };
	struct err e = { 0 };
	ssize_t n = 0, k = 1;
	int p[2];

	MUST(pipe2(p, O_CLOEXEC) == 0);
	c.stdio[1] = c.stdio[2] = p[1];
	if (warm_exec(&s->warm, &c, &ev, &e) < 0) {
		(void)fprintf(stderr, "call: %s\n", e.msg);
		_exit(1);
	}
	(void)close(p[1]);
	while (k > 0 && (size_t)n + 1 < size) {
		k = read(p[0], out + n, size - (size_t)n - 1);
		n += k > 0 ? k : 0;
	}
	out[n] = '\0';
	(void)close(p[0]);
	return ev;
}

static inline void check_run(struct served *s, const char *script, int status, const char *want)
{
	char out[4096];
	struct serve_event ev = run_call(s, shell_call(script), out, sizeof(out));

	if (ev.reason != SERVE_EXITED || ev.value != status || strcmp(out, want) != 0 || ev.left) {
		(void)fprintf(stderr, "'%s': reason %u, value %d, left %u: %s\n", script, ev.reason, ev.value,
			      ev.left, out);
		_exit(1);
	}
}

static inline uint64_t begin(struct served *s, const struct warm_call *c)
{
	struct err e = { 0 };
	uint64_t id = 0;

	if (warm_call(&s->warm, c, &id, &e) < 0) {
		(void)fprintf(stderr, "call: %s\n", e.msg);
		_exit(1);
	}
	return id;
}

/* The next that is said of the calls. */
static inline struct serve_event hear_next(struct served *s)
{
	struct warm_event ev;
	struct err e = { 0 };

	MUST(warm_next(&s->warm, true, &ev, &e) == 1 && ev.kind == WARM_CALL);
	(void)fd_close(ev.fd);
	return ev.event;
}

static inline struct serve_event hear_exit(struct served *s, uint64_t id)
{
	struct serve_event ev = hear_next(s);

	if (ev.msg != SERVE_EXIT || ev.id != id) {
		(void)fprintf(stderr, "heard %u of %ju, not the end of %ju: errno %d\n", ev.msg,
			      (uintmax_t)ev.id, (uintmax_t)id, ev.err);
		_exit(1);
	}
	return ev;
}

/* Waits until so many processes of the host have the mark. */
static inline void wait_marked(int n)
{
	uint64_t end = clock_deadline(10000);

	while (count_marked(NULL) != n) {
		MUST(clock_mono_ms() < end);
		(void)usleep(2000);
	}
}
