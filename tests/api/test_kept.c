/* SPDX-License-Identifier: Apache-2.0 */
/* Sandboxes that outlive who made them: found again, made anew, ended, and what is left of them after a crash. */
#include "lab.h"

#include "backend/wire_keeper.h"

#include <glob.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

static void in_another_process(struct lab *l, void (*body)(struct lab *l, int i), int i)
{
	pid_t pid = fork();
	int status;

	MUST(pid >= 0);
	if (pid == 0) {
		l->g = lab_engine(l); /* a handle of before a fork is nobody's */
		body(l, i);
		(void)creel_engine_free(l->g);
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

static void put_mark(struct lab *l, int i)
{
	struct creel_session *s = open_as(l, "agent:a:one", NULL);
	char text[64];

	(void)snprintf(text, sizeof(text), "echo %d > /tmp/mark", i);
	(void)sh(l, s, text);
	(void)creel_close(s);
}

WITH_LAB(the_next_process_finds_the_same_warm_sandbox, 0)
{
	struct creel_session *s;

	in_another_process(l, put_mark, 41);
	s = open_as(l, "agent:a:one", NULL);
	MUST_SAY(sh(l, s, "cat /tmp/mark"), "41\n");
	in_another_process(l, put_mark, 42);
	MUST_SAY(sh(l, s, "cat /tmp/mark"), "42\n");
	(void)creel_close(s);
}

struct seen {
	int n, alive;
	struct creel_sandbox last;
	char key[64], state[16];
};

static int see(void *ctx, const struct creel_sandbox *b)
{
	struct seen *s = ctx;

	s->n++;
	s->alive += b->alive;
	s->last = *b;
	(void)snprintf(s->key, sizeof(s->key), "%s", b->key);
	(void)snprintf(s->state, sizeof(s->state), "%s", b->state);
	return 0;
}

static struct seen look(struct lab *l)
{
	struct seen s = { 0 };
	struct creel_error e;

	if (creel_list(l->g, NULL, see, &s, &e) < 0) {
		(void)fprintf(stderr, "list: %s\n", e.message);
		lab_fail();
	}
	return s;
}

WITH_LAB(list_and_inspect_tell_what_lives, 0)
{
	struct creel_session *s = open_as(l, "agent:a:one", NULL);
	struct creel_error e;
	struct seen seen;
	char *json = NULL;

	MUST(look(l).n == 0);
	for (int i = 0; i < 3; i++)
		(void)sh(l, s, "true");
	seen = look(l);
	MUST(seen.n == 1 && seen.alive == 1 && seen.last.calls == 3 && seen.last.supervisor > 0);
	MUST_SAY(seen.key, "agent:a:one");
	MUST_SAY(seen.state, "ready");
	(void)call(l, s, "exec", "{\"command\":\"sleep 63.25\",\"background\":true}", CREEL_CALL_OK);
	MUST(creel_inspect(l->g, "agent:a:one", &json, &e) == 0);
	MUST_HOLD(json, "sleep 63.25");
	creel_free(json);
	MUST(creel_inspect(l->g, "agent:a:two", &json, &e) < 0 && e.kind == CREEL_NOTFOUND);
	(void)creel_close(s);
}

static int count_notes(const struct lab *l)
{
	char path[128];
	struct dirent *entry;
	DIR *d;
	int n = 0;

	(void)snprintf(path, sizeof(path), "%s/own", l->state);
	d = opendir(path);
	MUST(d);
	while ((entry = readdir(d)))
		n += entry->d_name[0] != '.';
	(void)closedir(d);
	return n;
}

static void die_with_a_sandbox(struct lab *l, int told)
{
	struct creel_session *s;

	l->g = lab_engine(l);
	s = open_as(l, "agent:b:one", "rw");
	(void)sh(l, s, "true");
	MUST(write(told, "x", 1) == 1);
	for (;;)
		(void)pause();
}

WITH_LAB(the_own_sandbox_that_somebody_has_killed_is_told_with_the_next_call_and_once, CREEL_OWN)
{
	struct creel_session *s = open_as(l, "agent:a:one", NULL);
	static const char said[] = "the sandbox of the call before was ended: somebody has killed it";
	struct seen seen;
	char path[128];

	(void)sh(l, s, "true");
	seen = look(l);
	MUST(seen.n == 1 && seen.last.supervisor > 0);
	MUST(kill((pid_t)seen.last.supervisor, SIGKILL) == 0);
	for (int i = 0; i < 500 && look(l).n; i++)
		(void)usleep(20000);
	MUST_SAY(sh(l, s, "echo again"), "again\n");
	MUST_HOLD(l->r.json, said);
	(void)sh(l, s, "true");
	MUST(!strstr(l->r.json, said));
	(void)snprintf(path, sizeof(path), "%s/audit/audit.jsonl", l->state);
	MUST_HOLD(slurp(path), "somebody has killed it");
	(void)creel_close(s);
}

/* Its process is not there any more, and neither is the sandbox: whoever looks finds that out. */
WITH_LAB(the_own_sandbox_of_a_process_that_died_is_not_told, CREEL_OWN)
{
	struct seen seen;
	int told[2];
	pid_t pid;
	char c;

	MUST(look(l).n == 0);
	MUST(pipe(told) == 0);
	pid = fork();
	MUST(pid >= 0);
	if (pid == 0)
		die_with_a_sandbox(l, told[1]);
	MUST(read(told[0], &c, 1) == 1);
	seen = look(l);
	MUST(seen.n == 1 && seen.alive == 1 && seen.last.owner == pid && count_notes(l) == 1);
	MUST(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
	for (int i = 0; i < 500 && look(l).n; i++)
		(void)usleep(20000);
	MUST(look(l).n == 0 && count_notes(l) == 0);
}

WITH_LAB(list_tells_of_sandboxes_that_a_process_has_for_itself, CREEL_OWN)
{
	struct creel_session *a = open_as(l, "agent:a:one", "rw"), *b = open_as(l, "agent:b:one", "rw");
	struct creel_prune_options all = CREEL_PRUNE_INIT;
	struct creel_filter f = CREEL_FILTER_INIT;
	struct creel_error e;
	struct seen seen;
	char *json = NULL;

	MUST(look(l).n == 0); /* none was needed yet */
	(void)sh(l, a, "true");
	seen = look(l);
	MUST(seen.n == 1 && seen.alive == 1 && seen.last.owner == getpid() && seen.last.supervisor > 0);
	MUST_SAY(seen.state, "ready");
	(void)sh(l, b, "true");
	MUST(look(l).n == 2 && count_notes(l) == 2);
	MUST(creel_inspect(l->g, "agent:a:one", &json, &e) == 0);
	MUST_HOLD(json, "\"owner\": ");
	creel_free(json);
	/* age and a change of the walls are its owner's business; who says kill means it */
	all.max_age_days = all.idle_hours = 1;
	f.agent = "a";
	MUST(creel_recreate(l->g, &f, 0, NULL, NULL, &e) == 0 &&
	     creel_prune(l->g, &all, NULL, NULL, &e) == 0);
	MUST(creel_kill(l->g, &f, NULL, NULL, &e) == 1 && look(l).n == 1);
	MUST_SAY(sh(l, a, "echo again"), "again\n");
	MUST(look(l).n == 2 && count_notes(l) == 2);
	(void)creel_close(a);
	MUST(look(l).n == 1);
	(void)creel_close(b);
	MUST(look(l).n == 0 && count_notes(l) == 0);
}

/* Its note is begun before anybody uses it, and says nothing until then. */
WITH_LAB(one_that_stands_ready_is_told_of_when_it_is_used, CREEL_OWN)
{
	struct creel_session *a;
	struct creel_error e;
	struct seen seen;
	int status;
	pid_t pid;

	l->pool = 2;
	lab_again(l, NULL);
	a = open_as(l, "agent:a:one", "rw");
	MUST(creel_pool_fill(a, &e) == 2 && look(l).n == 0 && count_notes(l) == 2);
	(void)sh(l, a, "true");
	seen = look(l);
	MUST(seen.n == 1 && seen.alive == 1 && seen.last.owner == getpid() && count_notes(l) == 2);
	MUST(kill((pid_t)seen.last.supervisor, 0) == 0);
	(void)creel_close(a);
	MUST(look(l).n == 0 && count_notes(l) == 1);
	lab_again(l, NULL);
	MUST(look(l).n == 0 && count_notes(l) == 0);
	pid = fork();
	MUST(pid >= 0);
	if (pid == 0) {
		l->g = lab_engine(l);
		a = open_as(l, "agent:a:one", "rw");
		_exit(creel_pool_fill(a, &e) == 2 ? 0 : 1); /* as when it is killed */
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0 && count_notes(l) == 2);
	MUST(look(l).n == 0 && count_notes(l) == 0);
}

/* As one that a container has, which shares our state directory and not our processes. */
static void move_to_another_namespace(const struct lab *l)
{
	char pattern[128], *at;
	const char *text;
	glob_t notes;
	FILE *f;

	(void)snprintf(pattern, sizeof(pattern), "%s/own/*", l->state);
	MUST(glob(pattern, 0, NULL, &notes) == 0 && notes.gl_pathc == 1);
	text = slurp(notes.gl_pathv[0]);
	at = strstr(text, "\"pidns\": ");
	MUST(at && (f = fopen(notes.gl_pathv[0], "w")));
	at += strlen("\"pidns\": ");
	MUST(fprintf(f, "%.*s1%s", (int)(at - text), text, at + strspn(at, "0123456789")) > 0 &&
	     fclose(f) == 0);
	globfree(&notes);
}

WITH_LAB(one_that_cannot_be_ended_from_here_is_not_told_as_ended_and_the_others_are, CREEL_OWN)
{
	struct creel_session *a = open_as(l, "agent:a:one", "rw"), *b = open_as(l, "agent:b:one", "rw");
	struct creel_filter f = CREEL_FILTER_INIT;
	struct creel_error e;

	(void)sh(l, a, "touch /tmp/there");
	move_to_another_namespace(l);
	MUST(look(l).alive == 0 && look(l).last.memory_bytes == 0);
	(void)sh(l, b, "touch /tmp/there");
	MUST(look(l).n == 2 && look(l).alive == 1);
	f.all = 1;
	MUST(creel_kill(l->g, &f, NULL, NULL, &e) < 0 && e.kind == CREEL_UNAVAIL);
	MUST_HOLD(e.message, "is in another pid namespace");
	MUST_SAY(sh(l, a, "ls /tmp"), "there\n");
	MUST_SAY(sh(l, b, "ls /tmp"), ""); /* a new one */
	(void)creel_close(a);
	(void)creel_close(b);
}

/* A container that was killed has left a note, and nobody here can see whether its processes are there. */
WITH_LAB(a_note_of_a_process_that_has_gone_is_forgotten_wherever_it_ran, CREEL_OWN)
{
	pid_t pid = fork();
	int status;

	MUST(pid >= 0);
	if (pid == 0) {
		struct creel_session *s;

		l->g = lab_engine(l);
		s = open_as(l, "agent:a:one", "rw");
		(void)sh(l, s, "true");
		move_to_another_namespace(l);
		_exit(look(l).n == 1 ? 0 : 1); /* as when it is killed */
	}
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	MUST(count_notes(l) == 1);
	MUST(look(l).n == 0 && count_notes(l) == 0);
}

WITH_LAB(kill_ends_what_it_is_told_and_nothing_else, 0)
{
	struct creel_session *a = open_as(l, "agent:a:one", NULL), *b = open_as(l, "agent:b:one", NULL);
	struct creel_filter f = CREEL_FILTER_INIT;
	struct creel_error e;

	(void)sh(l, a, "echo x > /tmp/x; echo kept > kept");
	(void)sh(l, b, "echo x > /tmp/x");
	MUST(creel_kill(l->g, &f, NULL, NULL, &e) < 0 && e.kind == CREEL_USAGE); /* nobody was named */
	f.agent = "a";
	MUST(creel_kill(l->g, &f, NULL, NULL, &e) == 1);
	MUST(look(l).n == 1);
	MUST_SAY(sh(l, a, "ls /tmp; cat kept"), "kept\n"); /* a new one; the workspace is the old */
	MUST_SAY(sh(l, b, "ls /tmp"), "x\n");
	f.agent = NULL;
	f.session = "agent:b:one";
	MUST(creel_recreate(l->g, &f, 0, NULL, NULL, &e) == 1);
	MUST_SAY(sh(l, b, "ls /tmp"), "");
	(void)creel_close(a);
	(void)creel_close(b);
}

WITH_LAB(a_supervisor_that_is_killed_is_told_as_lost_and_made_anew, 0)
{
	struct creel_session *s = open_as(l, "agent:a:one", "overlay");
	const struct timespec moment = { .tv_nsec = 50000000 };
	struct seen seen;
	struct creel_prune_options prune = CREEL_PRUNE_INIT;
	struct creel_error e;

	(void)sh(l, s, "echo kept > file");
	seen = look(l);
	MUST(kill((pid_t)seen.last.supervisor, SIGKILL) == 0);
	for (int i = 0; i < 100 && kill((pid_t)seen.last.supervisor, 0) == 0; i++)
		(void)nanosleep(&moment, NULL);
	MUST_SAY(look(l).state, "lost");
	MUST(creel_prune(l->g, &prune, NULL, NULL, &e) == 1);
	MUST(look(l).n == 0);
	MUST_SAY(sh(l, s, "cat file"), "kept\n"); /* the same handle goes on, in a new sandbox */
	MUST(look(l).alive == 1);
	(void)creel_close(s);
}

/* The first child of a process; 0 = none. */
static pid_t child_of(pid_t pid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	return (pid_t)strtol(slurp(path), NULL, 10);
}

/* Whichever of them is killed while a call runs: the call is told as lost, and the next one works. */
WITH_LAB(a_call_whose_sandbox_is_killed_is_lost_and_the_next_one_works, 0)
{
	struct creel_session *s = open_as(l, "agent:a:one", NULL);

	for (int which = 0; which < 2; which++) {
		const struct timespec moment = { .tv_nsec = 200000000 };
		pid_t victim, killer;

		(void)sh(l, s, "true");
		victim = (pid_t)look(l).last.supervisor;
		if (which)
			victim = child_of(victim); /* the warden */
		MUST(victim > 1);
		killer = fork();
		if (killer == 0) {
			(void)nanosleep(&moment, NULL);
			_exit(kill(victim, SIGKILL) != 0);
		}
		MUST_HOLD(call(l, s, "exec", "{\"command\":\"sleep 64.5\"}", CREEL_CALL_FAILED), "lost");
		MUST(waitpid(killer, NULL, 0) == killer);
		MUST_SAY(sh(l, s, "echo again"), "again\n");
	}
	(void)creel_close(s);
}

WITH_LAB(a_changed_configuration_warns_while_it_is_hot_and_refuses_other_mounts, 0)
{
	struct creel_session *s = open_as(l, "agent:a:one", "rw");
	struct seen before;

	(void)sh(l, s, "echo x > /tmp/x");
	before = look(l);
	(void)creel_close(s);
	lab_again(l, "limits.open_files=512");
	s = open_as(l, "agent:a:one", "rw");
	MUST_HOLD(call(l, s, "exec", "{\"command\":\"cat /tmp/x\"}", CREEL_CALL_OK),
		  "the configuration has changed");
	MUST(look(l).last.supervisor == before.last.supervisor && look(l).last.warned_ms > 0);
	(void)creel_close(s);
	s = open_as(l, "agent:a:one", "ro");
	(void)call(l, s, "exec", "{\"command\":\"true\"}", CREEL_CALL_ERROR);
	MUST(l->r.kind == CREEL_DENIED);
	(void)creel_close(s);
}

WITH_LAB(prune_ends_what_is_told_and_keeps_workspaces, 0)
{
	struct creel_session *s = open_as(l, "agent:a:one", NULL);
	struct creel_prune_options o = CREEL_PRUNE_INIT;
	struct creel_error e;

	(void)sh(l, s, "echo kept > file");
	MUST(creel_prune(l->g, &o, NULL, NULL, &e) == 0);
	o.idle_hours = o.max_age_days = 0;
	MUST(creel_prune(l->g, &o, NULL, NULL, &e) == 0); /* 0 is never */
	MUST(look(l).alive == 1);
	MUST_SAY(sh(l, s, "cat file"), "kept\n");
	(void)creel_close(s);
}

WITH_LAB(a_damaged_registry_is_set_aside_and_nothing_is_lost_that_lives, 0)
{
	struct creel_session *s = open_as(l, "agent:a:one", NULL);
	struct seen before;
	char path[128];
	glob_t found;
	int fd;

	(void)sh(l, s, "echo x > /tmp/x");
	before = look(l);
	(void)creel_close(s);
	l->g = creel_engine_free(l->g);
	for (int i = 0; i < 2; i++) { /* and its log, which would have had everything */
		(void)snprintf(path, sizeof(path), "%s/registry/registry.db%s", l->state, i ? "-wal" : "");
		fd = open(path, O_WRONLY | O_CLOEXEC);
		MUST(fd >= 0 && pwrite(fd, "this is no database at all, whatever its name", 45, 0) == 45);
		(void)close(fd);
	}
	l->g = lab_engine(l);
	s = open_as(l, "agent:a:one", NULL);
	MUST_HOLD(call(l, s, "exec", "{\"command\":\"cat /tmp/x\"}", CREEL_CALL_OK),
		  "the registry was damaged");
	MUST_SAY(l->heard, "x\n");
	MUST(look(l).last.supervisor == before.last.supervisor);
	(void)snprintf(path, sizeof(path), "%s/registry/registry.db.corrupt-*", l->state);
	MUST(glob(path, 0, NULL, &found) == 0 && found.gl_pathc >= 1);
	globfree(&found);
	(void)creel_close(s);
}

/* Takes the keeper's place at its socket. */
static int take_place(const char *socket_path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	MUST(strlen(socket_path) < sizeof(at.sun_path) && unlink(socket_path) == 0);
	(void)strcpy(at.sun_path, socket_path);
	MUST(bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, 9) == 0);
	return fd;
}

_Noreturn static void speak_as_before(int listener)
{
	struct keeper_event said = { .version = KEEPER_VERSION - 1, .msg = KEEPER_REPLY };
	struct keeper_request asked;
	int who;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (;;) {
		who = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		while (recv(who, &asked, sizeof(asked), 0) == (ssize_t)sizeof(asked)) {
			said.op = asked.msg;
			said.id = asked.id;
			(void)send(who, &said, sizeof(said), MSG_NOSIGNAL);
		}
		(void)close(who);
	}
}

/* What one does that takes what it hears for no message. */
_Noreturn static void hang_up(int listener)
{
	char asked[4096];
	int who;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (;;) {
		who = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		(void)!recv(who, asked, sizeof(asked), 0);
		(void)close(who);
	}
}

/* After an upgrade: the sandbox lives, and nobody can speak to its keeper. It stays in sight until somebody ends it. */
static void check_other_version(struct lab *l, void (*speak)(int))
{
	struct creel_session *s = open_as(l, "agent:a:one", NULL);
	struct creel_filter f = CREEL_FILTER_INIT;
	struct creel_error e;
	struct seen before;
	char *json = NULL, path[128], *at;
	int listener;
	pid_t pid;

	(void)sh(l, s, "echo x > /tmp/x; echo kept > kept");
	(void)creel_close(s);
	before = look(l);
	MUST(creel_inspect(l->g, "agent:a:one", &json, &e) == 0);
	at = strstr(json, "\"socket\": \"");
	MUST(at && sscanf(at + 11, "%127[^\"]", path) == 1);
	creel_free(json);
	MUST(kill((pid_t)before.last.supervisor, SIGSTOP) == 0);
	listener = take_place(path);
	pid = fork();
	MUST(pid >= 0);
	if (pid == 0)
		speak(listener);
	(void)close(listener);
	s = open_as(l, "agent:a:one", NULL);
	for (int i = 0; i < 2; i++) { /* the second finds everything as it was */
		struct seen now;

		MUST_HOLD(call(l, s, "exec", "{\"command\":\"true\"}", CREEL_CALL_ERROR),
			  "is kept by another version of creel; fix: creel recreate 'agent:a:one'");
		now = look(l);
		MUST(now.n == 1 && now.last.supervisor == before.last.supervisor);
	}
	f.session = "agent:a:one";
	MUST(creel_recreate(l->g, &f, 0, NULL, NULL, &e) == 1);
	MUST(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
	MUST_SAY(sh(l, s, "ls /tmp; cat kept"), "kept\n");
	(void)creel_close(s);
}

WITH_LAB(a_keeper_of_another_version_is_refused_with_a_way_that_works, 0)
{
	check_other_version(l, speak_as_before);
}

WITH_LAB(a_keeper_that_does_not_know_what_it_hears_is_refused_the_same_way, 0)
{
	check_other_version(l, hang_up);
}

/* ---- many at once ---- */

static void ten_calls(struct lab *l, int i)
{
	char key[64], text[128], want[64];
	struct creel_session *s;

	(void)snprintf(key, sizeof(key), "agent:a:s%d", i);
	s = open_as(l, key, NULL);
	for (int k = 0; k < 10; k++) {
		(void)snprintf(text, sizeof(text), "echo %d-%d; cat /tmp/who 2>/dev/null; echo %d > /tmp/who",
			       i, k, i);
		(void)snprintf(want, sizeof(want), k ? "%d-%d\n%d\n" : "%d-%d\n", i, k, i);
		MUST_SAY(sh(l, s, text), want);
	}
	(void)creel_close(s);
}

WITH_LAB(two_hundred_calls_in_twenty_sessions_each_get_their_own_answer, 0)
{
	pid_t pids[20];
	int status;

	for (int i = 0; i < 20; i++) {
		pids[i] = fork();
		MUST(pids[i] >= 0);
		if (pids[i] == 0) {
			l->g = lab_engine(l);
			ten_calls(l, i);
			(void)creel_engine_free(l->g);
			_exit(0);
		}
	}
	for (int i = 0; i < 20; i++)
		MUST(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
	MUST(look(l).alive == 20);
}

/* Eight processes want the same sandbox at the same moment: one makes it, and all use it. */
WITH_LAB(who_comes_at_the_same_time_shares_one_sandbox, 0)
{
	pid_t pids[8];
	int status;

	for (int i = 0; i < 8; i++) {
		pids[i] = fork();
		MUST(pids[i] >= 0);
		if (pids[i] == 0) {
			struct creel_session *s;

			l->g = lab_engine(l);
			s = open_as(l, "agent:a:one", NULL);
			(void)sh(l, s, "echo x >> /tmp/all");
			(void)creel_close(s);
			(void)creel_engine_free(l->g);
			_exit(0);
		}
	}
	for (int i = 0; i < 8; i++)
		MUST(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
	MUST(look(l).n == 1);
	MUST_SAY(sh(l, open_as(l, "agent:a:one", NULL), "wc -l < /tmp/all"), "8\n");
}

/* The maker of a sandbox is killed at any moment: the next one takes over, and nothing is left behind. */
WITH_LAB(who_is_killed_while_he_makes_a_sandbox_is_in_nobodys_way, 0)
{
	for (int i = 0; i < 6; i++) {
		const struct timespec when = { .tv_nsec = i * 4000000 };
		struct creel_session *s;
		pid_t pid = fork();
		int status;

		MUST(pid >= 0);
		if (pid == 0) {
			l->g = lab_engine(l);
			put_mark(l, 1);
			_exit(0);
		}
		(void)nanosleep(&when, NULL);
		(void)kill(pid, SIGKILL);
		MUST(waitpid(pid, &status, 0) == pid);
		s = open_as(l, "agent:a:one", NULL);
		(void)sh(l, s, "true");
		(void)creel_close(s);
		MUST(look(l).n == 1);
		lab_end_all(l);
		MUST(look(l).n == 0);
	}
}

TEST_MAIN()
