/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A box with a real sandbox behind it, for a test: held by the test's own process, or by a keeper. The body runs in a process of its own,
 * as root and as an ordinary user; there MUST() says what went wrong and ends it.
 */
#pragma once

#include "sandbox/served.h"

#include "backend/keeper.h"
#include "backend/kept.h"
#include "backend/native.h"

enum kind { NATIVE = 0, KEPT, KINDS_ };

struct den {
	enum kind kind;
	struct box *box;
	char dir[64]; /* of a keeper: its session */
	struct keeper_started keeper;
};

static inline void fail_with(const char *what, const struct err *e)
{
	(void)fprintf(stderr, "%s: %s (kind %s, errno %d)\n", what, e->msg, err_kind_name(e->kind),
		      e->sys_errno);
	_exit(1);
}

/* The same for all boxes of a process. */
static inline int clerk_program(void)
{
	static int program;
	struct err e = { 0 };
	int file;

	if (program)
		return program;
	file = open(getenv("CREEL_CLERK"), O_RDONLY | O_CLOEXEC);
	if (file < 0 || sandbox_seal_program(file, "creel-clerk", &program, &e) < 0)
		fail_with("creel-clerk", &e);
	(void)close(file);
	return program;
}

static inline struct box *open_native(struct cgroup *cgroup)
{
	struct native_spec spec = { .workdir = STR("/tmp"), .cgroup = cgroup, .clerk_fd = clerk_program() };
	struct box *box = NULL;
	struct err e = { 0 };
	struct buf plan;

	served_plan(&plan);
	spec.plan = buf_str(&plan);
	spec.warden_fd = open(getenv("CREEL_WARDEN"), O_RDONLY | O_CLOEXEC);
	if (native_open(&spec, &box, &e) < 0)
		fail_with("native_open", &e);
	(void)close(spec.warden_fd);
	buf_done(&plan);
	return box;
}

/* ---- kept ---- */

static inline int try_keeper(const char *dir, const struct keeper_spec *with, struct keeper_started *ret,
			     struct err *e)
{
	struct keeper_spec spec = *with;
	struct buf plan;
	int r;

	served_plan(&plan);
	spec.plan = buf_str(&plan);
	spec.dir = str_z(dir);
	spec.workdir = STR("/tmp");
	spec.keeper_fd = open(getenv("CREEL_KEEPER"), O_RDONLY | O_CLOEXEC);
	MUST(spec.keeper_fd >= 0);
	r = keeper_start(&spec, ret, e);
	(void)close(spec.keeper_fd);
	buf_done(&plan);
	return r;
}

static inline void den_start(struct den *d, const struct keeper_spec *with)
{
	struct err e = { 0 };

	d->kind = KEPT;
	(void)snprintf(d->dir, sizeof(d->dir), "/tmp/creel-test-kept-XXXXXX");
	MUST(mkdtemp(d->dir));
	if (try_keeper(d->dir, with, &d->keeper, &e) < 0)
		fail_with("keeper_start", &e);
}

static inline struct box *den_connect(const struct den *d)
{
	struct box *box = NULL;
	struct err e = { 0 };

	if (kept_open(str_z(d->dir), &box, &e) < 0)
		fail_with("kept_open", &e);
	box->jobs_owner = 1;
	return box;
}

static inline bool is_alive(pid_t pid)
{
	char path[64], text[256] = "";
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	(void)fd_close(fd);
	return n > 0 && !strstr(text, ") Z "); /* whoever adopts it reaps it when he likes */
}

static inline void wait_dead(pid_t pid)
{
	uint64_t end = clock_deadline(10000);

	while (is_alive(pid))
		MUST(clock_mono_ms() < end && usleep(2000) == 0);
}

/* Ends it, by whatever way it did not end yet, and sees that its directory holds nothing but the lock. */
static inline void den_end(struct den *d)
{
	char path[128];

	(void)kill(d->keeper.pid, SIGTERM);
	wait_dead(d->keeper.pid);
	(void)snprintf(path, sizeof(path), "%s/keeper.lock", d->dir);
	MUST(unlink(path) == 0);
	if (rmdir(d->dir) < 0) {
		(void)fprintf(stderr, "something is left in %s (errno %d)\n", d->dir, errno);
		_exit(1);
	}
}

/* Whether the other side hangs up; what it says before is read and forgotten. */
static inline bool is_hung_up(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char bytes[512];
	ssize_t n = 1;

	while (n > 0 && poll(&p, 1, 10000) == 1)
		n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* ---- a test ---- */

static inline int count_open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	MUST(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}

static inline void become(int as_user)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (as_user && getuid() == 0)
		MUST(setgid(ORDINARY) == 0 && setuid(ORDINARY) == 0 &&
		     prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0);
}

static inline void den_child(enum kind kind, int as_user, void (*body)(struct den *d))
{
	struct den d = { .kind = kind };
	int before;

	become(as_user);
	(void)clerk_program();
	before = count_open_fds();
	if (kind == NATIVE)
		d.box = open_native(NULL);
	else {
		den_start(&d, &(struct keeper_spec){ .idle_s = 30 });
		d.box = den_connect(&d);
	}
	body(&d);
	d.box = box_close(d.box);
	if (kind == KEPT)
		den_end(&d);
	if (count_open_fds() != before) {
		(void)fprintf(stderr, "%d descriptors before, %d after\n", before, count_open_fds());
		_exit(1);
	}
	_exit(0);
}

static inline void den_run(enum kind kind, int as_user, void (*body)(struct den *d))
{
	pid_t pid;
	int status;

	assert_non_null(getenv("CREEL_WARDEN"));
	assert_non_null(getenv("CREEL_KEEPER"));
	(void)snprintf(mark, sizeof(mark), "7%d.25", getpid());
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		den_child(kind, as_user, body);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	CHECK_CASE(status == 0, "kind %u, user %d: it ended with %#x", (unsigned)kind, as_user,
		   (unsigned)status);
	check_gone_within(1000);
}

#define WITH_KEEPER(name)                                             \
	static void name##_body(struct den *d);                       \
	TEST(keeper_##name)                                           \
	{                                                             \
		FOR_EACH_USER(user) den_run(KEPT, user, name##_body); \
	}                                                             \
	static void name##_body(struct den *d)

#define WITH_BOX(name)                                                        \
	static void name##_body(struct den *d);                               \
	TEST(box_##name)                                                      \
	{                                                                     \
		for (enum kind kind = NATIVE; kind < KINDS_; kind++)          \
			FOR_EACH_USER(user) den_run(kind, user, name##_body); \
	}                                                                     \
	static void name##_body(struct den *d)

/* ---- calls; a sh() lasts until the next ---- */

static inline struct box_call sh(const char *script)
{
	static struct str argv[3], env[2];
	static char text[64];

	(void)snprintf(text, sizeof(text), "MARK=%s", mark);
	argv[0] = STR("sh");
	argv[1] = STR("-c");
	argv[2] = str_z(script);
	env[0] = STR("PATH=/usr/bin:/bin:/usr/sbin");
	env[1] = str_z(text);
	return (struct box_call){ .argv = { argv, 3 },
				  .env = { env, 2 },
				  .path = STR("/usr/bin:/bin"),
				  .stdio = { FD_NONE, FD_NONE, FD_NONE },
				  .umask = 022 };
}

static inline uint64_t ask(struct den *d, const struct box_call *c)
{
	struct err e = { 0 };
	uint64_t id = 0;

	if (d->box->ops->exec(d->box, c, &id, &e) < 0)
		fail_with("exec", &e);
	return id;
}

static inline struct box_event hear(struct den *d)
{
	struct box_event ev;
	struct err e = { 0 };

	if (d->box->ops->next(d->box, true, &ev, &e) != 1)
		fail_with("next", &e);
	return ev;
}

static inline struct box_end hear_end(struct den *d, uint64_t id)
{
	struct box_event ev = hear(d);

	if (ev.kind != BOX_ENDED || ev.call != id) {
		(void)fprintf(stderr, "heard %u of %ju, not the end of %ju: %s\n", ev.kind,
			      (uintmax_t)ev.call, (uintmax_t)id, ev.err.msg);
		_exit(1);
	}
	return ev.end;
}

static inline void read_out(int fd, char *out, size_t size)
{
	ssize_t n = 0, k = 1;

	while (k > 0 && (size_t)n + 1 < size) {
		k = read(fd, out + n, size - (size_t)n - 1);
		n += k > 0 ? k : 0;
	}
	out[n] = '\0';
}

static inline struct box_end run(struct den *d, struct box_call c, char *out, size_t size)
{
	struct box_end end;
	uint64_t id;
	int p[2];

	MUST(pipe2(p, O_CLOEXEC) == 0);
	c.stdio[1] = c.stdio[2] = p[1];
	id = ask(d, &c);
	(void)close(p[1]);
	end = hear_end(d, id);
	read_out(p[0], out, size);
	(void)close(p[0]);
	return end;
}

static inline void check_sh(struct den *d, const char *script, int status, const char *want)
{
	char out[4096];
	struct box_end end = run(d, sh(script), out, sizeof(out));

	if (end.reason != BOX_EXITED || end.value != status || strcmp(out, want) != 0 || end.left) {
		(void)fprintf(stderr, "'%s': reason %u, value %d, left %u: %s\n", script, end.reason,
			      end.value, end.left, out);
		_exit(1);
	}
}
