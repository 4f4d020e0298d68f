/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the real warden with a plan made by hand. What creel would be is a process of its own (box_start), so that it can be
 * another user, and be killed; it tells what it heard over a pipe.
 */
#pragma once

#include "check.h"

#include "base/clock.h"
#include "base/fd.h"
#include "sandbox/cgroup.h"
#include "sandbox/host.h"
#include "sandbox/plan.h"
#include "sandbox/sandbox.h"
#include "sandbox/source.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ORDINARY 12345u

/* An argument that only payloads of this test have: "sleep $MARK" in a script. */
static char mark[32];

struct setup {
	bool as_user; /* drop to an ordinary user first, when we are root */
	const char *script;
	struct strs argv; /* instead of a script */
	const char *cwd, *stdin_path;
	struct profile_mount mounts[4]; /* source.path is looked up */
	uint64_t timeout_ms, grace_ms, crash_at;
	const struct cgroup_limits *limits;
	bool other_users; /* of root's plan: not those that are mapped before there is one */
	int ready_fd;     /* a byte is written here when the payload runs; 0 = none */
	/* Between the check of the sources and the start. */
	void (*meddle)(void);
};

struct outcome {
	int failed; /* could not even be started; text in what */
	int ready, n_exits, skipped;
	struct warden_report failure, exits[2];
	char what[512];
	size_t n;
	char out[8192];
};

static inline void box_profile(const struct setup *s, struct arena *a, struct profile *p,
			       struct profile_mount *m)
{
	static const char *const scratch[] = { "/tmp", "/var/tmp", "/run", "/home/sandbox" };
	struct str *argv = ARENA_ARRAY(a, struct str, 3), *env = ARENA_ARRAY(a, struct str, 2);
	struct err e = { 0 };
	size_t n = 0;

	argv[0] = STR("sh");
	argv[1] = STR("-c");
	argv[2] = str_z(s->script ? s->script : "");
	env[0] = STR("PATH=/usr/bin:/bin:/usr/sbin");
	env[1] = arena_printf(a, "MARK=%s", mark);
	*p = (struct profile){ .argv = s->argv.n ? s->argv : (struct strs){ argv, 3 },
			       .env = { env, 2 },
			       .path = STR("/usr/bin:/bin"),
			       .cwd = str_z(s->cwd ? s->cwd : "/"),
			       .outer_uid = getuid(),
			       .outer_gid = getgid(),
			       .inner_uid = 1000,
			       .inner_gid = 1000,
			       .two_users = getuid() == 0,
			       .hostname = STR("box"),
			       .timeout_ms = s->timeout_ms,
			       .grace_ms = s->grace_ms,
			       .pids = 64,
			       .open_files = 256,
			       .tmpfs = 1 << 20,
			       .crash_at = s->crash_at,
			       .landlock_abi = host_landlock_abi() };
	if (p->two_users) {
		p->outer_uid = p->outer_gid = ROOT_PAYLOAD_ID;
		p->warden_uid = p->warden_gid = ROOT_WARDEN_ID + s->other_users;
	}
	for (size_t i = 0; i < 4 && s->mounts[i].target.n; i++, n++) {
		m[n] = s->mounts[i];
		m[n].idmap = p->two_users && m[n].source.path.n;
		if (m[n].source.path.n && source_resolve(a, m[n].source.path, &m[n].source, &e) < 0)
			_exit(90);
	}
	for (size_t i = 0; i < 4; i++)
		m[n++] = (struct profile_mount){ .target = str_z(scratch[i]),
						 .writable = true,
						 .size = 1 << 20 };
	p->mounts = m;
	p->n_mounts = n;
	if (host_root(a, p, &e) < 0)
		_exit(91);
}

static inline void box_hear(const struct setup *s, struct sandbox *box, struct outcome *o)
{
	struct warden_report m;
	struct err e = { 0 };
	int fd;

	while (sandbox_next(box, &m, &fd, &e) > 0) {
		(void)fd_close(fd);
		if (m.msg == MSG_READY) {
			o->ready = 1;
			if (s->ready_fd)
				(void)fd_write_all(s->ready_fd, STR("x"));
		} else if (m.msg == MSG_FAILED)
			o->failure = m;
		else if (m.msg == MSG_SKIPPED)
			o->skipped++;
		else if (m.msg == MSG_EXIT && o->n_exits < 2)
			o->exits[o->n_exits++] = m;
	}
}

/* The process that stands for creel. Output of the payload goes to out_fd. */
static inline void box_creel(const struct setup *s, int out_fd, struct outcome *o)
{
	static struct profile p;
	struct profile_mount m[16] = { 0 };
	struct arena a;
	struct buf plan;
	struct err e = { 0 };
	_cleanup_sandbox_ struct sandbox box = SANDBOX_NONE;
	struct cgroup c = CGROUP_EMPTY;
	struct sandbox_stdio io = { .in = FD_NONE, .out = out_fd, .err = out_fd };
	int warden = open(getenv("CREEL_WARDEN"), O_RDONLY | O_CLOEXEC), r;

	if (s->as_user && getuid() == 0 &&
	    (setgid(ORDINARY) < 0 || setuid(ORDINARY) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0))
		_exit(92);
	if (s->stdin_path)
		io.in = open(s->stdin_path, O_RDONLY | O_CLOEXEC);
	arena_init(&a, 4 << 20);
	buf_init(&plan, PLAN_MAX_BYTES);
	box_profile(s, &a, &p, m);
	r = s->limits ? cgroup_new(s->limits, STR(""), &c, &e) : 0;
	if (r >= 0)
		r = plan_build(&p, &plan, &e);
	if (s->meddle)
		s->meddle();
	if (r >= 0)
		r = sandbox_start(warden, buf_str(&plan), &io, &c, &box, &e);
	(void)fd_close(out_fd);
	if (r < 0) {
		o->failed = 1;
		(void)snprintf(o->what, sizeof(o->what), "%s", e.msg);
	} else
		box_hear(s, &box, o);
	sandbox_done(&box);
	cgroup_done(&c);
}

struct launch {
	pid_t creel;
	int out, result; /* read ends */
};

static inline struct launch box_start(const struct setup *s)
{
	int out[2], result[2];
	struct launch b = { 0 };

	assert_non_null(getenv("CREEL_WARDEN"));
	(void)snprintf(mark, sizeof(mark), "7%d.25", getpid());
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(result, O_CLOEXEC), 0);
	b.creel = fork();
	if (b.creel == 0) {
		static struct outcome o;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* a test that fails leaves nobody behind */
		(void)close(out[0]);
		(void)close(result[0]);
		box_creel(s, out[1], &o);
		_exit(fd_write_all(result[1], (struct str){ .p = (const char *)&o, .n = sizeof(o) }) < 0);
	}
	assert_true(b.creel > 0);
	(void)close(out[1]);
	(void)close(result[1]);
	b.out = out[0];
	b.result = result[0];
	return b;
}

static inline struct outcome *box_finish(struct launch *b)
{
	static struct outcome o;
	_cleanup_free_ char *out = NULL, *result = NULL;
	size_t n = 0, n_out = 0;
	int status;

	assert_int_equal(fd_read_all(b->out, sizeof(o.out) - 1, &out, &n_out), 0);
	assert_int_equal(fd_read_all(b->result, sizeof(o), &result, &n), 0);
	assert_int_equal(waitpid(b->creel, &status, 0), b->creel);
	CHECK_CASE(n == sizeof(o), "the engine ended with %#x: %s", (unsigned)status, out);
	memcpy(&o, result, sizeof(o));
	memcpy(o.out, out, n_out + 1);
	o.n = n_out;
	(void)close(b->out);
	(void)close(b->result);
	return &o;
}

static inline struct outcome *box_run(const struct setup *s)
{
	struct launch b = box_start(s);

	return box_finish(&b);
}

/* The payload ran to its end with this status. */
static inline void box_check(const struct outcome *o, int status, const char *out)
{
	CHECK_CASE(o->ready, "it never ran: %s%s: %s", o->what, o->failure.what, strerror(o->failure.err));
	assert_int_equal(o->n_exits, 1);
	assert_int_equal(o->exits[0].reason, REASON_EXIT);
	CHECK_CASE(o->exits[0].value == status, "status %d, want %d: %s", o->exits[0].value, status, o->out);
	if (out)
		CHECK_STR(((struct str){ .p = o->out, .n = o->n }), str_z(out));
}

static inline void box_check_refused(const struct outcome *o, int err, const char *words)
{
	CHECK_CASE(!o->ready && o->n_exits == 0, "it ran: %s", o->out);
	CHECK_CASE(o->failure.err == err, "'%s': %s", o->failure.what, strerror(o->failure.err));
	CHECK_CASE(strstr(o->failure.what, words), "'%s' does not say '%s'", o->failure.what, words);
}

/* Each as root, where there are two users inside, and as an ordinary user, where there is one. */
#define FOR_EACH_USER(as_user_) for (int as_user_ = geteuid() != 0; as_user_ <= 1; as_user_++)

/* ---- a directory of our own on the host, which the ordinary user owns ---- */

static char home[64];

static inline void home_make(void)
{
	(void)snprintf(home, sizeof(home), "/tmp/creel-test-XXXXXX");
	assert_non_null(mkdtemp(home));
	assert_int_equal(chmod(home, 0755), 0);
	if (geteuid() == 0)
		assert_int_equal(chown(home, ORDINARY, ORDINARY), 0);
}

static inline char *home_path(const char *name)
{
	static char paths[8][160];
	static unsigned next;
	char *p = paths[next++ % 8];

	(void)snprintf(p, sizeof(paths[0]), "%s/%s", home, name);
	return p;
}

static inline void home_dir(const char *name)
{
	assert_int_equal(mkdir(home_path(name), 0755), 0);
	if (geteuid() == 0)
		assert_int_equal(chown(home_path(name), ORDINARY, ORDINARY), 0);
}

static inline bool home_has(const char *name)
{
	struct stat st;

	return lstat(home_path(name), &st) == 0;
}

static inline int home_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void home_remove(void)
{
	assert_int_equal(nftw(home, home_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* ---- processes of the host ---- */

static inline bool has_mark(const char *pid)
{
	_cleanup_close_ int fd = FD_NONE;
	char path[300], text[1024];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text));
	return n > 0 && memmem(text, (size_t)n, mark, strlen(mark));
}

/* Processes of the host that have the mark among their arguments. */
static inline int count_marked(pid_t *ret_last)
{
	DIR *d = opendir("/proc");
	struct dirent *entry;
	int n = 0;

	assert_non_null(d);
	while ((entry = readdir(d))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || !has_mark(entry->d_name))
			continue;
		n++;
		if (ret_last)
			*ret_last = (pid_t)strtol(entry->d_name, NULL, 10);
	}
	(void)closedir(d);
	return n;
}

static inline pid_t wait_for_marked(void)
{
	pid_t pid = 0;

	for (int i = 0; i < 2000 && count_marked(&pid) == 0; i++)
		(void)usleep(2000);
	assert_true(pid > 0);
	return pid;
}

/* 0 when it has gone. */
static inline pid_t parent_of(pid_t pid)
{
	char path[64], text[512] = "";
	_cleanup_close_ int fd = FD_NONE;
	const char *at;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (pid <= 0 || fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return 0;
	at = strrchr(text, ')');
	assert_non_null(at);
	return (pid_t)strtol(at + 4, NULL, 10);
}

static inline void check_gone_within(unsigned ms)
{
	uint64_t end = clock_deadline(ms);

	while (count_marked(NULL) > 0) {
		assert_true(clock_mono_ms() < end);
		(void)usleep(2000);
	}
}
