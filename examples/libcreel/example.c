/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One session of an agent: asks what may be done, writes a file, runs a program with its output as it comes, and reads the result.
 *
 *   cc example.c $(pkg-config --cflags --libs libcreel) -o example && ./example STATE_DIR WORKSPACE
 */
#include <creel/creel.h>

#include <stdio.h>

static int print(void *ctx, int stream, const char *data, size_t n)
{
	(void)ctx;
	return fwrite(data, 1, n, stream == CREEL_STDERR ? stderr : stdout) !=
	       n; /* anything but 0 cancels the call */
}

static int call(struct creel_session *session, const char *tool, const char *arguments)
{
	struct creel_call c = CREEL_CALL_INIT;
	struct creel_result r = CREEL_RESULT_INIT;
	struct creel_error e;
	int status;

	c.tool = tool;
	c.arguments = arguments;
	c.output = print;
	if (creel_call(session, &c, &r, &e) < 0) {
		fprintf(stderr, "%s: %s\n", tool, e.message);
		return e.exit;
	}
	status = r.exit;
	printf("%s: %s\n", tool, r.json);
	creel_result_free(&r);
	return status;
}

static int talk(struct creel_session *session)
{
	struct creel_error e;
	char *why = NULL;
	int allowed = creel_decide(session, "exec", "{\"command\": \"make\"}", &why, &e);

	if (allowed < 0) {
		fprintf(stderr, "decide: %s\n", e.message);
		return e.exit;
	}
	printf("exec is %s\n", allowed ? "allowed" : "refused");
	creel_free(why); /* every reason, as JSON */
	if (call(session, "write",
		 "{\"path\": \"hello.sh\", \"content\": \"echo hello from $CREEL_WORKSPACE\\n\"}") != 0)
		return 1;
	if (call(session, "exec", "{\"command\": [\"sh\", \"hello.sh\"], \"timeout\": 10}") != 0)
		return 1;
	return call(session, "exec", "{\"command\": \"exit 3\"}") == 3 ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct creel_options options = CREEL_OPTIONS_INIT;
	struct creel_session_options who = CREEL_SESSION_INIT;
	struct creel_engine *engine = NULL;
	struct creel_session *session = NULL;
	struct creel_error e;
	int status = 125;

	if (argc != 3) {
		fprintf(stderr, "Usage: example STATE_DIR WORKSPACE\n");
		return 2;
	}
	options.flags = CREEL_NO_DEFAULT_CONFIG;
	options.state_dir = argv[1];
	who.flags = CREEL_OWN |
		    CREEL_FORCE_SANDBOX; /* a sandbox of this process, whatever the configuration says */
	who.session = "agent:example:main";
	who.workspace = argv[2];
	who.workspace_access = "rw";
	if (creel_engine_new(&options, &engine, &e) == 0 && creel_open(engine, &who, &session, &e) == 0)
		status = talk(session);
	else
		fprintf(stderr, "creel: %s\n", e.message);
	creel_close(session);
	creel_engine_free(engine);
	return status;
}
