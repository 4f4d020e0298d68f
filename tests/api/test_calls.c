/* SPDX-License-Identifier: Apache-2.0 */
/* What one call is given, may do, and tells. */
#include "lab.h"

#include <sys/resource.h>

BOTH_WAYS(state_stays_warm_from_call_to_call)
{
	struct creel_session *s = open_as(l, "agent:a:one", "rw");

	MUST_SAY(sh(l, s, "cd /tmp && echo hi > a"), "");
	MUST_SAY(sh(l, s, "cat /tmp/a"), "hi\n");
	MUST_SAY(sh(l, s, "echo made > file; pwd"), "/workspace\n");
	(void)creel_close(s);
	MUST_SAY(slurp("file"), "made\n");
}

BOTH_WAYS(a_result_tells_how_a_program_ended)
{
	struct creel_session *s = open_as(l, "agent:a:one", "rw");

	MUST_HOLD(call(l, s, "exec", "{\"command\":\"echo out; echo err >&2; exit 3\"}", CREEL_CALL_FAILED),
		  "\"exit\":3");
	MUST(l->r.exit == 3);
	MUST_HOLD(l->r.json, "\"stdout\":\"out\\n\"");
	MUST_HOLD(l->r.json, "\"stderr\":\"err\\n\"");
	MUST_HOLD(l->r.json, "\"error\":\"exit_3\"");
	MUST_HOLD(l->r.json, "\"usage\":{\"wall_us\":");
	MUST_HOLD(l->r.json, "\"backend\":\"native\"");
	(void)call(l, s, "exec", "{\"command\":\"kill -9 $$\"}", CREEL_CALL_FAILED);
	MUST(l->r.exit == 128 + SIGKILL);
	MUST_HOLD(call(l, s, "exec", "{\"command\":\"sleep 60\",\"timeout\":1}", CREEL_CALL_FAILED),
		  "\"reason\":\"timeout\"");
	MUST(l->r.exit == 124);
	(void)call(l, s, "exec", "{\"command\":[\"/no/such/program\"]}", CREEL_CALL_ERROR);
	MUST(l->r.exit == 127 && l->r.kind == CREEL_NOTFOUND);
	MUST_HOLD(call(l, s, "exec", "{\"command\":\"printf '\\\\377x'\"}", CREEL_CALL_OK),
		  "\"stdout\":\"\xef\xbf\xbdx\"");
	(void)creel_close(s);
}

static int pipe_that_is_ready(void)
{
	int p[2];

	MUST(pipe2(p, O_CLOEXEC) == 0 && write(p[1], "x", 1) == 1);
	(void)close(p[1]);
	return p[0];
}

BOTH_WAYS(a_call_is_cancelled_whole_by_a_descriptor_or_by_who_hears_it)
{
	struct creel_session *s = open_as(l, "agent:a:one", "rw");
	struct creel_call c = CREEL_CALL_INIT;

	c.tool = "exec";
	c.arguments = "{\"command\":\"(sleep 61.25 &) ; sleep 61.25\"}";
	c.cancel_fd = pipe_that_is_ready();
	MUST_HOLD(call_full(l, s, &c, CREEL_CALL_FAILED), "\"reason\":\"cancelled\"");
	(void)close(c.cancel_fd);
	l->cancel_when_heard = 1;
	MUST_HOLD(call(l, s, "exec", "{\"command\":\"echo now; sleep 61.25\"}", CREEL_CALL_FAILED),
		  "cancelled");
	l->cancel_when_heard = 0;
	MUST_SAY(sh(l, s, "pgrep -x sleep | wc -l"), "0\n");
	(void)creel_close(s);
}

/* What stands after two calls is about the tool, and never about the next command. */
BOTH_WAYS(what_was_allowed_before_allows_no_other_command)
{
	struct creel_session *s = open_as(l, "untrusted:one", "rw");

	for (int i = 0; i < 3; i++)
		MUST_HOLD(call(l, s, "exec", "{\"command\":\"true\"}", CREEL_CALL_OK), "\"ok\":true");
	for (int i = 0; i < 2; i++) {
		MUST_HOLD(call(l, s, "exec", "{\"command\":\"git status\"}", CREEL_CALL_REFUSED),
			  "Action 'git' denied in sandbox mode 'docker'");
		MUST_HOLD(
			call(l, s, "exec", "{\"command\":\"sleep 61.25\",\"timeout\":1}", CREEL_CALL_FAILED),
			"\"reason\":\"timeout\"");
		MUST_SAY(sh(l, s, "echo one"), "one\n");
		(void)call(l, s, "exec", "{\"command\":\"true\",\"elevated\":true}", CREEL_CALL_REFUSED);
	}
	(void)creel_close(s);
}

BOTH_WAYS(what_is_refused_says_so_in_the_words_of_the_documents)
{
	struct creel_session *s = open_as(l, "agent:a:one", "ro");
	static const char *const writers[] = { "write", "edit", "apply_patch" };
	static const char *const args[] = {
		"{\"path\":\"x\",\"content\":\"y\"}", "{\"path\":\"x\",\"oldText\":\"a\",\"newText\":\"b\"}",
		"{\"input\":\"*** Begin Patch\\n*** Add File: x\\n+y\\n*** End Patch\\n\"}"
	};

	for (size_t i = 0; i < 3; i++) {
		MUST_HOLD(call(l, s, writers[i], args[i], CREEL_CALL_REFUSED),
			  "workspaceAccess \\\"ro\\\" disables write, edit and apply_patch");
		MUST(l->r.exit == 126 && l->r.kind == CREEL_DENIED);
	}
	MUST(access("x", F_OK) < 0);
	MUST_HOLD(call(l, s, "no_such_tool", "{}", CREEL_CALL_REFUSED), "\"error\":\"tool_not_allowed\"");
	(void)creel_close(s);
}

BOTH_WAYS(bad_arguments_are_errors_and_nothing_runs)
{
	struct creel_session *s = open_as(l, "agent:a:one", "rw");
	static const char *const bad[] = { "{\"command\":\"touch ran\",\"nosuch\":1}",
					   "{\"command\":7}",
					   "[]",
					   "{",
					   "{\"command\":\"touch ran\"} x",
					   "{\"command\":\"touch ran\",\"timeout\":\"soon\"}",
					   "{}" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		MUST_HOLD(call(l, s, "exec", bad[i], CREEL_CALL_ERROR), "\"ok\":false");
		MUST(l->r.exit == 125);
	}
	(void)call(l, s, "exec", "{\"command\":\"touch \\u0000ran\"}", CREEL_CALL_REFUSED);
	MUST(access("ran", F_OK) < 0);
	(void)creel_close(s);
}

/* As `sh -c` would: its own echo, not that of the disk. Words that were given as words are a program's. */
BOTH_WAYS(a_text_has_the_programs_of_the_shell_itself)
{
	struct creel_session *s = open_as(l, "agent:a:one", NULL);

	MUST_SAY(sh(l, s, "echo 'a\\\\tb' -e"), "a\tb -e\n");
	MUST_HOLD(call(l, s, "exec", "{\"command\":[\"echo\",\"-n\",\"a\\\\tb\"]}", CREEL_CALL_OK),
		  "\"stdout\":\"a\\\\tb\"");
	MUST_SAY(sh(l, s, "printf '%s|' 'a b' '$HOME' ';'"), "a b|$HOME|;|");
	MUST_SAY(sh(l, s, "cd /usr && pwd"), "/usr\n");
	MUST_HOLD(call(l, s, "exec", "{\"command\":\"test -f /nothing\"}", CREEL_CALL_FAILED), "\"exit\":1");
	(void)creel_close(s);
}

/* Its warden has begun by then. */
WITH_LAB(a_sandbox_that_cannot_be_made_leaves_no_process, CREEL_OWN)
{
	static const struct {
		const char *image, *memory, *held;
	} bad[] = { { "/nonexistent/root", NULL, "/nonexistent/root" },
		    { NULL, "1", "memory" } }; /* no group can hold it, or nobody may make one */

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct creel_session_options o = CREEL_SESSION_INIT;
		struct creel_session *s;

		o.image = bad[i].image;
		o.memory = bad[i].memory;
		s = open_with(l, "agent:a:one", &o);
		MUST_HOLD(call(l, s, "exec", "{\"command\":\"touch ran\"}", CREEL_CALL_ERROR), bad[i].held);
		MUST(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
		(void)creel_close(s);
	}
	MUST(access("ran", F_OK) < 0);
}

WITH_LAB(tools_of_the_gateway_are_decided_about_and_never_run, CREEL_OWN)
{
	struct creel_session_options o = CREEL_SESSION_INIT;
	struct creel_session *s;
	struct creel_error e;

	MUST(creel_open(l->g, &o, &s, &e) == 0);
	MUST_HOLD(call(l, s, "message", "{\"text\":\"hello\"}", CREEL_CALL_VERDICT), "\"verdict\":\"allow\"");
	(void)creel_close(s);
}

WITH_LAB(a_call_that_cannot_be_recorded_does_not_run, CREEL_OWN)
{
	struct creel_session *s = open_as(l, "agent:a:one", "rw");
	struct rlimit before, none = { 0 };

	MUST_SAY(sh(l, s, "echo ran > first"), "");
	MUST(access("first", F_OK) == 0);
	MUST(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && getrlimit(RLIMIT_FSIZE, &before) == 0);
	none.rlim_max = before.rlim_max; /* no file of ours can grow any more: as a disk that is full */
	MUST(setrlimit(RLIMIT_FSIZE, &none) == 0);
	MUST_HOLD(call(l, s, "exec", "{\"command\":\"echo ran > second\"}", CREEL_CALL_ERROR),
		  "\"error\":\"audit_unavailable\"");
	MUST(setrlimit(RLIMIT_FSIZE, &before) == 0);
	MUST(access("second", F_OK) < 0);
	MUST_SAY(sh(l, s, "echo ran > third"), "");
	MUST(access("third", F_OK) == 0);
	(void)creel_close(s);
}

WITH_LAB(every_call_is_decided_and_finished_in_the_log, CREEL_OWN)
{
	struct creel_session *s = open_as(l, "agent:a:one", "rw");
	struct creel_call c = CREEL_CALL_INIT;
	char path[128];
	const char *log;

	c.tool = "exec";
	c.arguments = "{\"command\":\"exit 7\"}";
	c.request_id = "my-own-number";
	MUST_HOLD(call_full(l, s, &c, CREEL_CALL_FAILED), "\"request_id\":\"my-own-number\"");
	(void)snprintf(path, sizeof(path), "%s/audit/audit.jsonl", l->state);
	log = slurp(path);
	MUST_HOLD(log, "\"kind\":\"decided\"");
	MUST_HOLD(log, "\"kind\":\"finished\",\"decided\":1,\"request\":\"my-own-number\"");
	MUST_HOLD(log, "\"exit\":7");
	(void)creel_close(s);
}

WITH_LAB(on_the_host_only_when_that_was_decided_and_the_result_says_so, CREEL_OWN)
{
	struct creel_session_options o = CREEL_SESSION_INIT;
	struct creel_session *s;
	struct creel_error e;

	MUST(creel_open(l->g, &o, &s, &e) == 0);
	MUST_HOLD(call(l, s, "exec", "{\"command\":\"echo on-the-host > here; exit 4\"}", CREEL_CALL_FAILED),
		  "\"place\":\"host\"");
	MUST(l->r.exit == 4);
	MUST_HOLD(l->r.json, "ran on the host, without any wall");
	MUST_HOLD(l->r.json, "\"walls\":null");
	MUST_SAY(slurp("here"), "on-the-host\n");
	MUST_HOLD(call(l, s, "exec", "{\"command\":\"(sleep 61.5 &); sleep 61.5\",\"timeout\":1}",
		       CREEL_CALL_FAILED),
		  "\"reason\":\"timeout\"");
	(void)call(l, s, "exec", "{\"command\":[\"/no/such/program\"]}", CREEL_CALL_ERROR);
	MUST(l->r.exit == 127);
	MUST_HOLD(call(l, s, "read", "{\"path\":\"here\"}", CREEL_CALL_OK), "on-the-host");
	(void)creel_close(s);
}

WITH_LAB(options_of_no_size_are_refused, CREEL_OWN)
{
	struct creel_session_options o = CREEL_SESSION_INIT;
	struct creel_session *s = NULL;
	struct creel_error e;

	o.size = 0;
	MUST(creel_open(l->g, &o, &s, &e) < 0 && e.kind == CREEL_USAGE && !s);
	o = (struct creel_session_options)CREEL_SESSION_INIT;
	o.session = " ";
	MUST(creel_open(l->g, &o, &s, &e) < 0 && e.kind == CREEL_USAGE);
	MUST_HOLD(e.message, "must not be blank");
	o.session = NULL;
	o.trust = "nobody";
	MUST(creel_open(l->g, &o, &s, &e) < 0 && e.kind == CREEL_USAGE);
	MUST_HOLD(e.message, "readonly");
}

TEST_MAIN()
