/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call through libcreel, with its decision, its two lines in the audit log, the registry and a JSON result, beside the same program started on the
 * host. Every round has each once, in random order; what counts are the ratios.
 */
#include <creel/creel.h>

#include "docker.h"
#include "methods.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TINY "{\"command\":[\"./payload\"]}"

struct ask {
	const char *tool, *args;
	struct creel_session **in;
};

static const char *const payload[] = { "./payload", NULL };
static const char *const shell[] = { "/bin/sh", "-c", "true", NULL };
static const char *const python[] = { "/usr/bin/python3", "-c", "pass", NULL };

static const char *cli[24]; /* creel call, into a sandbox of its own that a keeper holds */

static struct bench bench = { .creel = BENCH_CREEL, .warden = BENCH_WARDEN, .payload = BENCH_PAYLOAD };
static struct docker docker;
static struct creel_engine *creel;
static struct creel_session *own, *kept;

/* ---- the ways ---- */

static void call(struct creel_session *s, const struct ask *a)
{
	struct creel_call c = CREEL_CALL_INIT;
	struct creel_result r = CREEL_RESULT_INIT;
	struct creel_error e = { 0 };

	c.tool = a->tool;
	c.arguments = a->args;
	if (creel_call(s, &c, &r, &e) < 0)
		measure_fail("%s: %s", a->tool, e.message);
	if (r.status != CREEL_CALL_OK)
		measure_fail("%s %s: %s", a->tool, a->args, r.json);
	creel_result_free(&r);
}

static double call_once(const struct way *w)
{
	const struct ask *a = w->with;
	double start = measure_now_us();

	call(*a->in, a);
	return measure_now_us() - start;
}

static struct creel_session *open_session(const char *key, unsigned flags)
{
	struct creel_session_options o = CREEL_SESSION_INIT;
	struct creel_session *s = NULL;
	struct creel_error e;

	o.flags = flags | CREEL_FORCE_SANDBOX;
	o.session = key;
	o.workspace_access = "rw";
	if (creel_open(creel, &o, &s, &e) < 0)
		measure_fail("open: %s", e.message);
	return s;
}

static double first_call(const struct way *w)
{
	struct creel_session *s;
	double start = measure_now_us(), took;

	s = open_session("agent:bench:new", CREEL_OWN);
	call(s, w->with);
	took = measure_now_us() - start;
	(void)creel_close(s);
	return took;
}

static double ready_once(const struct way *w)
{
	struct creel_error e;

	if (creel_pool_fill(own, &e) < 1)
		measure_fail("pool: %s", e.message);
	return first_call(w);
}

/* Without one in the pool, which is filled again before it is needed. */
static double new_once(const struct way *w)
{
	(void)first_call(w);
	return first_call(w);
}

static double bwrap_once(const struct way *w)
{
	struct method *m = method_find(w->with);

	return m->once(&bench, m);
}

static double docker_once(const struct way *w)
{
	return docker_exec(&docker, w->with);
}

static double read_once(const struct way *w)
{
	char text[4096];
	double start = measure_now_us();
	int fd = open(w->with, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text)) != 1024)
		measure_fail("file: %s", strerror(errno));
	(void)close(fd);
	return measure_now_us() - start;
}

static const struct ask tiny_own = { "exec", TINY, &own }, tiny_kept = { "exec", TINY, &kept },
			tiny_new = { "exec", TINY, NULL },
			sh_own = { "exec", "{\"command\":[\"/bin/sh\",\"-c\",\"true\"]}", &own },
			python_own = { "exec", "{\"command\":[\"/usr/bin/python3\",\"-c\",\"pass\"]}", &own },
			read_own = { "read", "{\"path\":\"file\"}", &own },
			read_kept = { "read", "{\"path\":\"file\"}", &kept };

static struct way table[] = {
	{ "spawn", "the program alone, on the host", way_spawn, payload },
	{ "call", "a call of it into a warm sandbox of this process", call_once, &tiny_own },
	{ "call-kept", "into one that a keeper holds", call_once, &tiny_kept },
	{ "cli", "by the command line: creel call, a program for each", way_spawn, cli },
	{ "ready", "the first call of a session, with a ready sandbox", ready_once, &tiny_new, 4 },
	{ "new", "the first call of a session without one", new_once, &tiny_new, 4 },
	{ "bwrap", "bwrap --unshare-all, the same mounts, no filter", bwrap_once, "bwrap", 4 },
	{ "docker-exec", "exec of it through Docker's API", docker_once, "/bench_payload", 10 },
	{ "sh", "sh -c true, on the host", way_spawn, shell },
	{ "call-sh", "a call of it", call_once, &sh_own },
	{ "python", "python3 -c pass, on the host", way_spawn, python, 4 },
	{ "call-python", "a call of it", call_once, &python_own, 4 },
	{ "file", "open, read and close a file of 1 KiB, on the host", read_once, "file" },
	{ "read", "read of that file", call_once, &read_own },
	{ "read-kept", "the same, through a keeper", call_once, &read_kept },
	{ "file-paused", "`file`, after 3 ms in which nothing was done", read_once, "file", .paused = true },
	{ "read-paused", "`read`, after as long", call_once, &read_own, .paused = true },
};
static const struct ways ways = { table, sizeof(table) / sizeof(table[0]) };

static const struct goal goals[] = {
	{ "call", "spawn", 0.5, 1.3 },
	{ "call", "spawn", 0.99, 3 },
	{ "call-kept", "spawn", 0.5, 2 },
	{ "call-sh", "sh", 0.5, 1.15 },
	{ "call-python", "python", 0.5, 1.15 },
	{ "ready", "spawn", 0.5, 2.5 },
	{ "new", "bwrap", 0.5, 0.4 },
	{ "docker-exec", "call", 0.5, 100, .at_least = true },
	{ "read", "file", 0.5, 4 },
	{ "read-paused", "file-paused", 0.5, 4 },
};

/* ---- where ---- */

static void make_cli(char *state)
{
	const char *words[] = { bench.creel,
				"--state-dir",
				state,
				"--no-default-config",
				"--quiet",
				"call",
				"--stream",
				"--sandbox",
				"light",
				"--workspace-access",
				"rw",
				"--session",
				"agent:bench:cli",
				"exec",
				TINY,
				NULL };

	memcpy(cli, words, sizeof(words));
	(void)way_spawn(&(struct way){ .with = cli });
}

static void open_place(void)
{
	struct creel_options o = CREEL_OPTIONS_INIT;
	struct creel_error e;
	struct method *m = method_find("bwrap");
	static char state[96];
	char kilobyte[1024];
	FILE *f;

	bench_open(&bench);
	bench.engine = engine_open(bench.warden, bench.workspace, NULL);
	way_find(ways, "bwrap")->missing = m->prepare(&bench, m) != NULL;
	(void)snprintf(state, sizeof(state), "%s/state", bench.dir);
	memset(kilobyte, 'x', sizeof(kilobyte));
	f = fopen("file", "we");
	if (!f || fwrite(kilobyte, sizeof(kilobyte), 1, f) != 1 || fclose(f) != 0)
		measure_fail("file: %s", strerror(errno));
	o.flags = CREEL_NO_DEFAULT_CONFIG;
	o.state_dir = state;
	o.home = bench.dir;
	o.pool = 1;
	if (creel_engine_new(&o, &creel, &e) < 0)
		measure_fail("%s", e.message);
	own = open_session("agent:bench:own", CREEL_OWN);
	kept = open_session("agent:bench:kept", 0);
	make_cli(state);
}

static void close_place(void)
{
	struct creel_filter all = CREEL_FILTER_INIT;

	all.all = 1;
	own = creel_close(own);
	kept = creel_close(kept);
	(void)creel_kill(creel, &all, NULL, NULL, NULL);
	creel = creel_engine_free(creel);
	bench_close(&bench);
}

enum { OPT_ROUNDS = 256, OPT_SETTLE, OPT_HOST, OPT_CONTAINER, OPT_HELP };
static const struct option longs[] = { { "rounds", required_argument, NULL, OPT_ROUNDS },
				       { "settle", required_argument, NULL, OPT_SETTLE },
				       { "docker-host", required_argument, NULL, OPT_HOST },
				       { "container", required_argument, NULL, OPT_CONTAINER },
				       { "help", no_argument, NULL, OPT_HELP },
				       { NULL, 0, NULL, 0 } };

int main(int argc, char **argv)
{
	unsigned rounds = 400, settle_ms = 100;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		if (c == OPT_ROUNDS)
			rounds = measure_number("--rounds", optarg, 1, 100000);
		else if (c == OPT_SETTLE)
			settle_ms = measure_number("--settle", optarg, 0, 10000);
		else if (c == OPT_HOST)
			docker.host = optarg;
		else if (c == OPT_CONTAINER)
			docker.container = optarg;
		else {
			puts("Usage: bench_calls [--rounds N (400)] [--settle MS (100)] [--docker-host URL --container NAME]");
			return c == OPT_HELP ? 0 : 2;
		}
	}
	open_place();
	way_find(ways, "python")->missing = way_find(ways, "call-python")->missing =
		access(python[0], X_OK) != 0;
	way_find(ways, "docker-exec")->missing = !docker.host || !docker.container;
	ways_measure(ways, rounds, settle_ms);
	ways_print(ways, goals, sizeof(goals) / sizeof(goals[0]));
	ways_done(ways);
	close_place();
	return 0;
}
