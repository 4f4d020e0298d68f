/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user's place for one test of the library: a state directory, a home and a workspace of its own, removed whole. The body runs in a process of its
 * own, as root and as an ordinary user; there MUST() says what went wrong and ends it. Nothing but the public header is used.
 */
#pragma once

#include "check.h"

#include <creel/creel.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ORDINARY 12345

#define MUST(cond)                                                                                         \
	do {                                                                                               \
		if (!(cond)) {                                                                             \
			(void)fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #cond, \
				      errno);                                                              \
			lab_fail();                                                                        \
		}                                                                                          \
	} while (0)

struct lab {
	char dir[64], state[96], ws[96];
	unsigned flags; /* of every session: CREEL_OWN or 0 */
	const char *set[16];
	size_t n_set;
	unsigned pool;
	struct creel_engine *g;
	char heard[8192]; /* by output */
	size_t n_heard;
	int cancel_when_heard;
	struct creel_result r; /* of the last call */
};

static struct lab lab_; /* one per process */

static inline void lab_end_all(struct lab *l)
{
	struct creel_filter all = CREEL_FILTER_INIT;
	struct creel_error e;

	all.all = 1;
	if (l->g && creel_kill(l->g, &all, NULL, NULL, &e) < 0)
		(void)fprintf(stderr, "kill: %s\n", e.message);
}

_Noreturn static inline void lab_fail(void)
{
	lab_end_all(&lab_);
	_exit(1);
}

static inline void lab_say(void *ctx, int severity, const char *text)
{
	(void)ctx;
	(void)fprintf(stderr, "%s: %s\n", severity == CREEL_ERROR ? "error" : "warning", text);
}

static inline struct creel_engine *lab_engine(struct lab *l)
{
	struct creel_options o = CREEL_OPTIONS_INIT;
	struct creel_engine *g = NULL;
	struct creel_error e;

	o.flags = CREEL_NO_DEFAULT_CONFIG;
	o.state_dir = l->state;
	o.home = l->dir;
	o.cwd = l->ws;
	o.set = l->set;
	o.n_set = l->n_set;
	o.pool = l->pool;
	o.say = lab_say;
	if (creel_engine_new(&o, &g, &e) < 0) {
		(void)fprintf(stderr, "engine: %s\n", e.message);
		lab_fail();
	}
	return g;
}

/* Another configuration from now on. */
static inline void lab_again(struct lab *l, const char *set)
{
	(void)creel_engine_free(l->g);
	if (set)
		l->set[l->n_set++] = set;
	l->g = lab_engine(l);
}

static inline struct creel_session *open_with(struct lab *l, const char *session,
					      struct creel_session_options *o)
{
	struct creel_session *s = NULL;
	struct creel_error e;

	o->flags |= l->flags | CREEL_FORCE_SANDBOX;
	o->session = session;
	if (creel_open(l->g, o, &s, &e) < 0) {
		(void)fprintf(stderr, "open %s: %s\n", session, e.message);
		lab_fail();
	}
	return s;
}

static inline struct creel_session *open_as(struct lab *l, const char *session, const char *access)
{
	struct creel_session_options o = CREEL_SESSION_INIT;

	o.workspace_access = access;
	return open_with(l, session, &o);
}

static inline int lab_hear(void *ctx, int stream, const char *data, size_t n)
{
	struct lab *l = ctx;

	(void)stream;
	if (n > sizeof(l->heard) - 1 - l->n_heard)
		n = sizeof(l->heard) - 1 - l->n_heard;
	memcpy(l->heard + l->n_heard, data, n);
	l->n_heard += n;
	l->heard[l->n_heard] = '\0';
	return l->cancel_when_heard && l->n_heard;
}

/* The result's text, until the next call. */
static inline const char *call_full(struct lab *l, struct creel_session *s, struct creel_call *c, int status)
{
	struct creel_error e = { 0 };

	creel_result_free(&l->r);
	l->r = (struct creel_result)CREEL_RESULT_INIT;
	l->n_heard = 0;
	l->heard[0] = '\0';
	c->output = lab_hear;
	c->ctx = l;
	if (creel_call(s, c, &l->r, &e) < 0) {
		(void)fprintf(stderr, "%s %s: %s\n", c->tool, c->arguments, e.message);
		lab_fail();
	}
	if (l->r.status != status) {
		(void)fprintf(stderr, "%s %.200s: status %d, not %d: %.2000s\n", c->tool, c->arguments,
			      l->r.status, status, l->r.json);
		lab_fail();
	}
	return l->r.json;
}

static inline const char *call(struct lab *l, struct creel_session *s, const char *tool, const char *args,
			       int status)
{
	struct creel_call c = CREEL_CALL_INIT;

	c.tool = tool;
	c.arguments = args;
	return call_full(l, s, &c, status);
}

/* A shell text without quotes and backslashes in it; what it wrote to standard output. */
static inline const char *sh(struct lab *l, struct creel_session *s, const char *text)
{
	static char args[4096];

	(void)snprintf(args, sizeof(args), "{\"command\":\"%s\"}", text);
	(void)call(l, s, "exec", args, CREEL_CALL_OK);
	return l->heard;
}

#define MUST_SAY(text_, want_)                                                                             \
	do {                                                                                               \
		const char *got_ = (text_);                                                                \
		if (strcmp(got_, want_) != 0) {                                                            \
			(void)fprintf(stderr, "%s:%d: '%s', not '%s'\n", __FILE__, __LINE__, got_, want_); \
			lab_fail();                                                                        \
		}                                                                                          \
	} while (0)

#define MUST_HOLD(text_, part_)                                                                         \
	do {                                                                                            \
		const char *got_ = (text_);                                                             \
		if (!strstr(got_, part_)) {                                                             \
			(void)fprintf(stderr, "%s:%d: no '%s' in %.3000s\n", __FILE__, __LINE__, part_, \
				      got_);                                                            \
			lab_fail();                                                                     \
		}                                                                                       \
	} while (0)

static inline int lab_count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	MUST(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n;
}

/* The whole file, into memory that is used again by the next. */
static inline const char *slurp(const char *path)
{
	static char text[4 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0, k = fd < 0 ? 0 : 1;

	while (k > 0 && (size_t)n < sizeof(text) - 1) {
		k = read(fd, text + n, sizeof(text) - 1 - (size_t)n);
		n += k > 0 ? k : 0;
	}
	if (fd >= 0)
		(void)close(fd);
	text[n] = '\0';
	return text;
}

static inline int lab_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void lab_child(int as_user, void (*body)(struct lab *l))
{
	struct lab *l = &lab_;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (as_user && getuid() == 0)
		MUST(setgid(ORDINARY) == 0 && setuid(ORDINARY) == 0 &&
		     prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0);
	MUST(setenv("HOME", l->dir, 1) == 0 && chdir(l->ws) == 0);
	l->g = lab_engine(l);
	body(l);
	creel_result_free(&l->r);
	lab_end_all(l);
	(void)creel_engine_free(l->g);
	_exit(0);
}

static inline void lab_run(unsigned flags, int as_user, void (*body)(struct lab *l))
{
	struct lab *l = &lab_;
	pid_t pid;
	int status;
	uid_t who = as_user && getuid() == 0 ? ORDINARY : getuid();

	*l = (struct lab){ .flags = flags };
	(void)strcpy(l->dir, "/tmp/creel-api-XXXXXX");
	assert_non_null(mkdtemp(l->dir));
	(void)snprintf(l->state, sizeof(l->state), "%s/state", l->dir);
	(void)snprintf(l->ws, sizeof(l->ws), "%s/ws", l->dir);
	assert_int_equal(mkdir(l->ws, 0755), 0);
	assert_int_equal(chmod(l->dir, 0755), 0);
	assert_int_equal(chown(l->ws, who, who), 0);
	assert_int_equal(chown(l->dir, who, who), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		lab_child(as_user, body);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	(void)nftw(l->dir, lab_remove, 16, FTW_DEPTH | FTW_PHYS);
	CHECK_CASE(status == 0, "%s, user %d: it ended with %#x", flags & CREEL_OWN ? "own" : "kept", as_user,
		   (unsigned)status);
}

/* Root and an ordinary user; who is no root is that user. */
#define LAB_USERS (getuid() == 0 ? 2 : 1)

#define WITH_LAB(name, flags_)                                  \
	static void name##_body(struct lab *l);                 \
	TEST(name)                                              \
	{                                                       \
		for (int user_ = 0; user_ < LAB_USERS; user_++) \
			lab_run(flags_, user_, name##_body);    \
	}                                                       \
	static void name##_body(struct lab *l)

/* In a sandbox of this process, and in one that a supervisor keeps. */
#define BOTH_WAYS(name)                                                             \
	static void name##_body(struct lab *l);                                     \
	TEST(name)                                                                  \
	{                                                                           \
		for (int user_ = 0; user_ < 2 * LAB_USERS; user_++)                 \
			lab_run(user_ & 1 ? 0 : CREEL_OWN, user_ / 2, name##_body); \
	}                                                                           \
	static void name##_body(struct lab *l)
