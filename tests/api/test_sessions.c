/* SPDX-License-Identifier: Apache-2.0 */
/* What sessions share and what they do not, and how long it lasts. */
#include "base/sanitize.h"
#include "lab.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

BOTH_WAYS(two_sessions_see_nothing_of_each_other)
{
	struct creel_session_options with_env = CREEL_SESSION_INIT;
	const char *const env[] = { "MINE=only-mine" };
	struct creel_session *a, *b;

	with_env.env = env;
	with_env.n_env = 1;
	a = open_with(l, "agent:a:one", &with_env);
	b = open_as(l, "agent:a:two", NULL);
	MUST_SAY(sh(l, a, "echo secret > /tmp/x; echo secret > kept; echo $MINE"), "only-mine\n");
	MUST_SAY(sh(l, b, "ls /tmp; ls; echo $MINE"), "\n");
	MUST_SAY(sh(l, a, "cat kept /tmp/x"), "secret\nsecret\n");
	MUST_SAY(sh(l, b, "ps -e | grep -c sleep; true"), "0\n");
	(void)creel_close(a);
	(void)creel_close(b);
}

WITH_LAB(processes_of_one_session_are_not_seen_by_another, 0)
{
	struct creel_session *a = open_as(l, "agent:a:one", NULL), *b = open_as(l, "agent:a:two", NULL);

	(void)call(l, a, "exec", "{\"command\":\"sleep 62.5\",\"background\":true}", CREEL_CALL_OK);
	MUST_SAY(sh(l, a, "pgrep -x sleep | wc -l"), "1\n");
	MUST_SAY(sh(l, b, "pgrep -x sleep | wc -l"), "0\n");
	(void)creel_close(a);
	(void)creel_close(b);
}

/* One sandbox for all sessions of an agent, or for everybody: the same /tmp, and the same workspace. */
static void check_shared(struct lab *l, const char *scope, const char *other, int shared)
{
	struct creel_session_options o = CREEL_SESSION_INIT;
	struct creel_session *a, *b;

	o.scope = scope;
	a = open_with(l, "agent:a:one", &o);
	b = open_with(l, other, &o);
	(void)sh(l, a, "echo $PPID > /tmp/mark; echo w > mark");
	MUST_SAY(sh(l, b, "ls /tmp; ls"), shared ? "mark\nmark\n" : "");
	(void)creel_close(a);
	(void)creel_close(b);
	lab_end_all(l);
}

WITH_LAB(scope_agent_shares_among_sessions_of_one_agent_alone, 0)
{
	check_shared(l, "agent", "agent:a:two", 1);
	check_shared(l, "agent", "agent:b:one", 0);
}

WITH_LAB(scope_shared_shares_with_everybody_and_scope_session_with_nobody, 0)
{
	check_shared(l, "session", "agent:a:two", 0);
	check_shared(l, "shared", "agent:b:one", 1);
}

BOTH_WAYS(private_layers_and_workspaces_outlive_the_sandbox)
{
	static const char *const ways[] = { "overlay", "none" };

	for (size_t i = 0; i < 2; i++) {
		struct creel_session *s = open_as(l, "agent:a:one", ways[i]);

		(void)sh(l, s, "echo kept > file; echo gone > /tmp/file; mkdir -p d && touch d/e");
		(void)creel_close(s);
		lab_end_all(l);
		s = open_as(l, "agent:a:one", ways[i]);
		MUST_SAY(sh(l, s, "cat file; ls d; ls /tmp"), "kept\ne\n");
		(void)sh(l, s, "rm -r file d");
		(void)creel_close(s);
		lab_end_all(l);
		s = open_as(l, "agent:a:one", ways[i]);
		MUST_SAY(sh(l, s, "ls"), "");
		(void)creel_close(s);
		lab_end_all(l);
	}
	MUST(access("file", F_OK) < 0); /* the host's own tree never changed */
}

BOTH_WAYS(a_job_has_a_sandbox_of_its_own_and_leaves_nothing)
{
	struct creel_session_options o = CREEL_SESSION_INIT;
	struct creel_session *s;
	char path[128];
	DIR *d;
	int n = 0;

	o.scope = "job";
	o.workspace_access = "overlay";
	s = open_with(l, "agent:a:one", &o);
	MUST_SAY(sh(l, s, "echo x > /tmp/a; echo y > b; ls /tmp ."), ".:\nb\n\n/tmp:\na\n");
	MUST_SAY(sh(l, s, "ls /tmp ."), ".:\n\n/tmp:\n");
	(void)creel_close(s);
	(void)snprintf(path, sizeof(path), "%s/live", l->state);
	d = opendir(path);
	MUST(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	MUST(n == 2);
}

static void put_secrets(struct lab *l)
{
	static char set[160];
	char path[128];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/secrets", l->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	MUST(fd >= 0 && write(fd, "API_TOKEN=tr0ub4dor-and-3\n", 26) == 26);
	(void)close(fd);
	(void)snprintf(set, sizeof(set), "env.secretsFile=%s", path);
	l->set[l->n_set++] = set;
	l->set[l->n_set++] = "env.secrets=API_TOKEN";
	l->set[l->n_set++] = "env.secret_scope=both";
	lab_again(l, "mode.when=all");
}

BOTH_WAYS(a_secret_reaches_the_call_and_no_record)
{
	struct creel_session *s;
	struct creel_error e;
	char path[128], *json = NULL;

	put_secrets(l);
	s = open_as(l, "agent:main:main", "rw");
	MUST_SAY(sh(l, s, "echo $API_TOKEN"), "tr0ub4dor-and-3\n");
	(void)call(l, s, "exec", "{\"command\":\"echo tr0ub4dor-and-3\"}", CREEL_CALL_OK);
	MUST(creel_decide(s, "exec", "{\"command\":\"env\"}", &json, &e) == 1);
	MUST_HOLD(json, "API_TOKEN");
	MUST(!strstr(json, "tr0ub4dor"));
	creel_free(json);
	(void)snprintf(path, sizeof(path), "%s/audit/audit.jsonl", l->state);
	MUST_HOLD(slurp(path), "${API_TOKEN}");
	MUST(!strstr(slurp(path), "tr0ub4dor"));
	(void)snprintf(path, sizeof(path), "%s/registry/registry.db-wal", l->state);
	MUST(!strstr(slurp(path), "tr0ub4dor"));
	(void)creel_close(s);
}

WITH_LAB(one_tool_is_told_by_any_of_its_names, 0)
{
	static const struct {
		const char *asked, *has;
	} rows[] = {
		{ "exec", "{\"name\":\"exec\"" },
		{ "EXEC", "{\"name\":\"exec\"" },
		{ "execute", "{\"name\":\"exec\"" },
		{ "read", "\"inputSchema\":{" },
		{ "message", "\"gateway\":true" },
		{ "Message", "{\"name\":\"message\"" },
		{ "no-such-tool", NULL },
		{ "", NULL },
	};
	struct creel_error e;
	char *all = NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *json = NULL;

		MUST(creel_tool(l->g, rows[i].asked, &json, &e) == (rows[i].has != NULL));
		if (rows[i].has)
			MUST_HOLD(json, rows[i].has);
		MUST((json != NULL) == (rows[i].has != NULL));
		creel_free(json);
	}
	MUST(creel_tools(l->g, &all, &e) == 0);
	MUST_HOLD(all, "\"name\": \"message\"");
	creel_free(all);
}

WITH_LAB(a_call_with_secrets_is_apart_from_others_in_its_sandbox, 0)
{
	struct creel_session *s;

	put_secrets(l);
	s = open_as(l, "agent:main:main", "rw");
	(void)call(l, s, "exec", "{\"command\":\"sleep 62.75\",\"background\":true}", CREEL_CALL_OK);
	MUST_SAY(sh(l, s, "cat /proc/$(pgrep -x sleep)/environ 2>/dev/null | grep -c API_TOKEN; true"),
		 "0\n");
	(void)creel_close(s);
}

WITH_LAB(ready_sandboxes_are_used_once_and_bounded, CREEL_OWN)
{
	struct creel_session *a, *b;
	struct creel_error e;

	l->pool = 2;
	lab_again(l, NULL);
	a = open_as(l, "agent:a:one", "rw");
	MUST(creel_pool_fill(a, &e) == 2);
	MUST(creel_pool_fill(a, &e) == 2);
	(void)sh(l, a, "echo mine > /tmp/a");
	b = open_as(l, "agent:a:two", "rw");
	MUST_SAY(sh(l, b, "ls /tmp"), "");
	(void)sh(l, b, "echo mine > /tmp/b");
	MUST_SAY(sh(l, a, "ls /tmp"), "a\n");
	(void)creel_close(a);
	MUST(creel_pool_fill(b, &e) == 2); /* what was used is not given back */
	a = open_as(l, "agent:a:one", "rw");
	MUST_SAY(sh(l, a, "ls /tmp"), "");
	(void)creel_close(a);
	(void)creel_close(b);
}

/* What is written through has the sockets of the host covered that are there: of one that stood ready, those that were there then. */
WITH_LAB(a_ready_sandbox_is_not_used_when_a_socket_has_come_since, CREEL_OWN)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct creel_session *a, *b;
	struct creel_error e;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	l->pool = 1;
	lab_again(l, NULL);
	a = open_as(l, "agent:a:one", "rw");
	MUST(creel_pool_fill(a, &e) == 1);
	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s/of-the-host", l->ws);
	MUST(fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, 1) == 0);
	b = open_as(l, "agent:a:two", "rw");
	MUST_SAY(
		sh(l, b,
		   "python3 -c \\\"import socket as s; print(s.socket(s.AF_UNIX).connect_ex('of-the-host') != 0)\\\""),
		"True\n");
	(void)close(fd);
	(void)creel_close(a);
	(void)creel_close(b);
}

/* Also in one that stood ready: it was made before anybody knew which session it is for. */
static void setup_once(struct lab *l, int pooled)
{
	struct creel_session *a, *b;
	struct creel_error e;

	l->pool = pooled ? 2 : 0;
	lab_again(l, "backend.setupCommand=echo ran >> /tmp/setup");
	a = open_as(l, "agent:a:one", "rw");
	MUST(!pooled || creel_pool_fill(a, &e) == 2);
	MUST_SAY(sh(l, a, "cat /tmp/setup"), "ran\n");
	MUST_SAY(sh(l, a, "cat /tmp/setup"), "ran\n");
	b = open_as(l, "agent:a:two", "rw");
	MUST_SAY(sh(l, b, "cat /tmp/setup"), "ran\n");
	(void)creel_close(a);
	(void)creel_close(b);
	lab_again(l, "backend.setupCommand=echo no; exit 3");
	a = open_as(l, "agent:a:three", "rw");
	MUST(!pooled || creel_pool_fill(a, &e) == 2);
	MUST_HOLD(call(l, a, "exec", "{\"command\":\"true\"}", CREEL_CALL_ERROR), "setup_failed");
	MUST_HOLD(call(l, a, "exec", "{\"command\":\"true\"}", CREEL_CALL_ERROR), "setup_failed");
	(void)creel_close(a);
}

WITH_LAB(setup_runs_once_in_a_sandbox_of_this_process_and_its_failure_refuses_every_call, CREEL_OWN)
{
	setup_once(l, 0);
}

WITH_LAB(setup_runs_once_in_a_sandbox_that_stood_ready_and_its_failure_refuses_every_call, CREEL_OWN)
{
	setup_once(l, 1);
}

static int env_number(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text ? atoi(text) : otherwise;
}

/* What a process holds: its memory, and what is open in it. Of one that is not ours to look into, nothing. */
struct holds {
	long kib;
	int fds;
};

static struct holds holds_of(pid_t pid)
{
	struct holds h = { 0 };
	char path[64];
	const char *at;
	DIR *d;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	at = strstr(slurp(path), "VmRSS:");
	h.kib = at ? strtol(at + 6, NULL, 10) : 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	while (d && readdir(d))
		h.fds++;
	if (d)
		(void)closedir(d);
	return h;
}

static int first_seen(void *ctx, const struct creel_sandbox *b)
{
	*(struct creel_sandbox *)ctx = *b;
	return 1;
}

/* Everybody who takes part: we, the supervisor, and below it the warden outside and the one inside. */
struct part {
	pid_t pid;
	struct holds at_first;
};

#define PARTS 4

static struct creel_sandbox find_parts(struct lab *l, struct part p[static PARTS])
{
	struct creel_sandbox b = { 0 };
	struct creel_error e;
	char path[64];

	MUST(creel_list(l->g, NULL, first_seen, &b, &e) >= 0);
	p[0].pid = getpid();
	p[1].pid = (pid_t)b.supervisor;
	for (size_t i = 2; i < PARTS; i++) {
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", p[i - 1].pid, p[i - 1].pid);
		p[i].pid = p[i - 1].pid ? (pid_t)strtol(slurp(path), NULL, 10) : 0;
	}
	for (size_t i = 0; i < PARTS; i++)
		if (p[i].pid)
			p[i].at_first = holds_of(p[i].pid);
	return b;
}

/* The last call may still be put away. */
static void check_parts(const struct part p[static PARTS])
{
	for (size_t i = 0; i < PARTS && p[i].pid; i++) {
		const struct timespec moment = { .tv_nsec = 50000000 };
		struct holds now = holds_of(p[i].pid);

		for (int k = 0; k < 100 && now.fds > p[i].at_first.fds; k++) {
			(void)nanosleep(&moment, NULL);
			now = holds_of(p[i].pid);
		}
		if (getenv("CREEL_LONG"))
			(void)fprintf(stderr, "part %zu: %d files, %ld KiB; at first %d, %ld\n", i, now.fds,
				      now.kib, p[i].at_first.fds, p[i].at_first.kib);
		MUST(now.fds <= p[i].at_first.fds);
#ifndef SANITIZE_ADDRESS_ON /* it keeps what was freed for a while */
		MUST(now.kib - p[i].at_first.kib < 2048);
#endif
	}
}

static void mixed(struct lab *l, struct creel_session *s, int i)
{
	char args[256];

	switch (i % 5) {
	case 0:
		(void)snprintf(args, sizeof(args), "{\"path\":\"f%d\",\"content\":\"%d\"}", i % 7, i);
		(void)call(l, s, "write", args, CREEL_CALL_OK);
		break;
	case 1:
		(void)snprintf(args, sizeof(args), "{\"path\":\"f%d\"}", (i - 1) % 7);
		(void)call(l, s, "read", args, CREEL_CALL_OK);
		break;
	case 2:
		(void)call(l, s, "exec", "{\"command\":\"exit 5\"}", CREEL_CALL_FAILED);
		break;
	case 3:
		(void)call(l, s, "exec", "{\"command\":[\"/usr/bin/true\"]}", CREEL_CALL_OK);
		break;
	default:
		(void)call(l, s, "no_such_tool", "{}", CREEL_CALL_REFUSED);
	}
}

/* CREEL_LONG=10000 for the whole of it. */
BOTH_WAYS(a_long_session_grows_neither_in_memory_nor_in_descriptors)
{
	struct creel_session *s = open_as(l, "agent:a:one", "rw");
	int n = env_number("CREEL_LONG", 300);
	struct part parts[PARTS] = { 0 };
	struct creel_sandbox before, after;

	for (int i = 0; i < 100; i++)
		mixed(l, s, i);
	before = find_parts(l, parts);
	for (int i = 0; i < n; i++)
		mixed(l, s, i);
	check_parts(parts);
	after = find_parts(l, parts);
	MUST(after.supervisor == before.supervisor);
	if (after.supervisor && !after.owner) /* what is refused was no call of the sandbox */
		MUST(after.calls - before.calls == (unsigned)(n - n / 5));
	(void)creel_close(s);
}

TEST_MAIN()
