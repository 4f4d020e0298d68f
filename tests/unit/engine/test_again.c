/* SPDX-License-Identifier: Apache-2.0 */
/* A sandbox that ends while a call is on its way there: what has certainly not begun is tried once more, and nothing else is. */
#include "check.h"

#include "backend/kept.h"
#include "backend/native.h"
#include "base/tree.h"
#include "engine/engine_priv.h"
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum how {
	GONE,    /* when the call comes */
	UNHEARD, /* with the call in its hands, unread */
	BEGUN,   /* when it has said something */
};

struct row {
	const char *name;
	const char *scope; /* NULL: of this process */
	const char *tool, *args;
	enum how how;
	unsigned kills; /* how often: one sandbox after the other */
	const char *want;
	const char *file; /* what is in `f` then */
};

#define EXEC "exec", "{\"command\":\"echo x >> f; echo said; sleep 0.4\"}"
#define WRITE "write", "{\"path\":\"f\",\"content\":\"x\\n\"}"
/* clang-format off */
static const struct row rows[] = {
	{ "own, exec, gone",        NULL,      EXEC,  GONE,    1, "\"ok\":true",            "x\n" },
	{ "own, exec, unheard",     NULL,      EXEC,  UNHEARD, 1, "\"ok\":true",            "x\n" },
	{ "own, exec, begun",       NULL,      EXEC,  BEGUN,   1, "\"reason\":\"lost\"",    "x\n" },
	{ "own, write, gone",       NULL,      WRITE, GONE,    1, "\"ok\":true",            "x\n" },
	{ "kept, exec, gone",       "session", EXEC,  GONE,    1, "\"ok\":true",            "x\n" },
	{ "kept, exec, unheard",    "session", EXEC,  UNHEARD, 1, "\"ok\":true",            "x\n" },
	{ "kept, exec, begun",      "session", EXEC,  BEGUN,   1, "\"reason\":\"lost\"",    "x\n" },
	{ "kept, write, gone",      "session", WRITE, GONE,    1, "\"ok\":true",            "x\n" },
	{ "kept, write, unheard",   "session", WRITE, UNHEARD, 1, "\"ok\":true",            "x\n" },
	{ "job, exec, gone",        "job",     EXEC,  GONE,    1, "\"ok\":true",            "x\n" },
	{ "job, write, gone",       "job",     WRITE, GONE,    1, "\"ok\":true",            "x\n" },
};
/* clang-format on */

struct lab {
	char path[64], ws[80], state[80];
	struct engine *g;
	struct session *s;
	const struct row *row;
	unsigned kills, allowed;
	pid_t killer;
};

static pid_t pid_of(const struct lab *l)
{
	return l->s->kept ? kept_peer(l->s->box) : native_pid(l->s->box);
}

static bool is_there(pid_t pid)
{
	char path[64], text[512], *at;
	int fd;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	(void)fd_close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	return at && at[2] != 'Z' && at[2] != 'X';
}

/* With everything below it. */
static void end_now(const struct lab *l)
{
	pid_t pid = pid_of(l), below[8];
	size_t n = live_children(pid, below, 8);

	assert_int_equal(kill(pid, SIGKILL), 0);
	while (is_there(pid))
		(void)usleep(2000);
	for (size_t i = 0; i < n; i++)
		while (is_there(below[i]))
			(void)usleep(2000);
}

/* Whoever would read it is stopped, and ended when it is in its hands: if that takes longer, it was gone before, which is as good. */
static void end_unheard(struct lab *l)
{
	pid_t pid = pid_of(l), below[8];
	size_t n = live_children(pid, below, 8);

	assert_int_equal(kill(pid, SIGSTOP), 0);
	for (size_t i = 0; !l->s->kept && i < n; i++)
		assert_int_equal(kill(below[i], SIGSTOP), 0);
	l->killer = fork();
	assert_true(l->killer >= 0);
	if (l->killer == 0) {
		(void)usleep(300000);
		_exit(kill(pid, SIGKILL) < 0);
	}
}

static void on_allowed(void *ctx)
{
	struct lab *l = ctx;

	l->allowed++;
	if (l->row->how == BEGUN || l->kills++ >= l->row->kills)
		return;
	if (l->row->how == GONE)
		end_now(l);
	else
		end_unheard(l);
}

static int on_output(void *ctx, int stream, struct str bytes)
{
	struct lab *l = ctx;

	(void)stream;
	(void)bytes;
	if (l->row->how == BEGUN && l->kills++ < l->row->kills)
		assert_int_equal(kill(pid_of(l), SIGKILL), 0);
	return 0;
}

static void lab_init(struct lab *l, const struct row *row)
{
	struct config_flag flags[] = { { "--workspace-access", "mounts.workspace.access", STR("rw") },
				       { "--scope", "backend.scope", STR("") } };
	struct session_opts so = { .who = { .via = VIA_LIBRARY,
					    .auth = AUTH_LOCAL,
					    .session_key = STR("agent:a:one"),
					    .force_sandbox = true },
				   .own = !row->scope,
				   .flags = flags,
				   .n_flags = row->scope ? 2 : 1 };
	struct err e = { 0 };
	static char *none[] = { NULL };

	*l = (struct lab){ .path = "/tmp/creel-test-again-XXXXXX", .row = row };
	assert_non_null(mkdtemp(l->path));
	assert_int_equal(chmod(l->path, 0711), 0);
	(void)snprintf(l->ws, sizeof(l->ws), "%s/ws", l->path);
	(void)snprintf(l->state, sizeof(l->state), "%s/state", l->path);
	assert_int_equal(mkdir(l->ws, 0755), 0);
	assert_int_equal(engine_new(&(struct engine_opts){ .state_dir = str_z(l->state),
							   .cwd = str_z(l->ws),
							   .home = str_z(l->path),
							   .environ = none,
							   .no_default_config = true },
				    &l->g, &e),
			 0);
	if (row->scope)
		flags[1].value = str_z(row->scope);
	if (session_open(l->g, &so, &l->s, &e) < 0)
		fail_msg("%s", e.msg);
}

static void lab_done(struct lab *l)
{
	struct err e = { 0 };

	l->s = session_close(l->s);
	assert_true(live_end(l->g, &(struct live_filter){ 0 }, true, NULL, NULL, NULL, &e) >= 0);
	engine_free(l->g);
	assert_int_equal(tree_remove(AT_FDCWD, l->path), 0);
}

static const char *slurp(const char *dir, const char *name)
{
	static char text[1 << 16];
	char path[256];
	int fd;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	(void)fd_close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static unsigned count(const char *text, const char *part)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		n++;
	return n;
}

static void call(struct lab *l, const char *tool, const char *args, bool with_hooks, struct call_result *ret)
{
	struct err e = { 0 };
	struct call_opts o = { .tool = str_z(tool), .args = str_z(args), .cancel_fd = FD_NONE, .ctx = l };

	if (with_hooks) {
		o.allowed = on_allowed;
		o.output = on_output;
	}
	if (session_call(l->s, &o, ret, &e) < 0)
		fail_msg("%s: %s", l->row->name, e.msg);
	buf_putc(&ret->json, '\0');
}

static void check(const struct row *row)
{
	struct call_result r;
	struct err e = { 0 };
	char dir[4096];
	struct lab l;

	lab_init(&l, row);
	/* So that its clerk is there, too. */
	if (strcmp(row->tool, "write") == 0) {
		call(&l, "write", "{\"path\":\"first\",\"content\":\"\"}", false, &r);
		assert_int_equal(r.status, CALL_OK);
		buf_done(&r.json);
	}
	call(&l, row->tool, row->args, true, &r);
	if (!strstr(r.json.p, row->want))
		fail_msg("%s: no %s in %s", row->name, row->want, r.json.p);
	buf_done(&r.json);
	if (strcmp(slurp(l.ws, "f"), row->file) != 0)
		fail_msg("%s: '%s' was written", row->name, slurp(l.ws, "f"));
	assert_int_equal(l.allowed, 1);
	if (l.killer > 0)
		assert_int_equal(waitpid(l.killer, NULL, 0), l.killer);
	/* One of each, and the one that was called first. */
	assert_int_equal(engine_audit_dir(l.g, dir, sizeof(dir), &e), 0);
	if (engine_flush(l.g, &e) < 0)
		fail_msg("%s", e.msg);
	for (int i = 0; i < 2; i++) {
		static const char *const kinds[] = { "\"kind\":\"decided\"", "\"kind\":\"finished\"" };
		unsigned n = count(slurp(dir, "audit.jsonl"), kinds[i]);

		if (n != 1u + (strcmp(row->tool, "write") == 0))
			fail_msg("%s: %u times %s in the log", row->name, n, kinds[i]);
	}
	lab_done(&l);
}

TEST(a_call_that_has_certainly_not_begun_is_tried_once_more)
{
	assert_non_null(getenv("CREEL_WARDEN"));
	sandbox_look_beside(getenv("CREEL_WARDEN"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&rows[i]);
}

TEST_MAIN()
