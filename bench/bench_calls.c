/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call through libcreel, with its decision, its two lines in the audit log, the registry and a JSON result, beside the same program started on the
 * host. Every round has each once, in random order; what counts are the ratios.
 */
#include <creel/creel.h>

#include "measure.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WARM_UP 20

struct way {
	const char *name, *what;
	double (*once)(struct way *w);
	const char *const *argv;
	const char *tool, *args;
	struct creel_session **in;
	bool slow, missing;
	struct samples samples;
};

static const char *const payload[] = { "./payload", NULL };
static const char *const shell[] = { "/bin/sh", "-c", "true", NULL };
static const char *const python[] = { "/usr/bin/python3", "-c", "pass", NULL };
static char *no_env[] = { NULL };

static char dir[64], state[96];
static struct creel_engine *engine;
static struct creel_session *own, *kept;

/* ---- the ways ---- */

static double spawn_once(struct way *w)
{
	double start = measure_now_us();
	int status = 0;
	pid_t pid;

	if (posix_spawn(&pid, w->argv[0], NULL, NULL, (char *const *)(uintptr_t)w->argv, no_env) != 0 ||
	    waitpid(pid, &status, 0) != pid || status != 0)
		measure_fail("%s: %s", w->argv[0], strerror(errno));
	return measure_now_us() - start;
}

static void call(struct creel_session *s, const char *tool, const char *args)
{
	struct creel_call c = CREEL_CALL_INIT;
	struct creel_result r = CREEL_RESULT_INIT;
	struct creel_error e = { 0 };

	c.tool = tool;
	c.arguments = args;
	if (creel_call(s, &c, &r, &e) < 0)
		measure_fail("%s: %s", tool, e.message);
	if (r.status != CREEL_CALL_OK)
		measure_fail("%s %s: %s", tool, args, r.json);
	creel_result_free(&r);
}

static double call_once(struct way *w)
{
	double start = measure_now_us();

	call(*w->in, w->tool, w->args);
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
	if (creel_open(engine, &o, &s, &e) < 0)
		measure_fail("open: %s", e.message);
	return s;
}

static double first_call(struct way *w)
{
	struct creel_session *s;
	double start = measure_now_us(), took;

	s = open_session("agent:bench:new", CREEL_OWN);
	call(s, w->tool, w->args);
	took = measure_now_us() - start;
	(void)creel_close(s);
	return took;
}

static double ready_once(struct way *w)
{
	struct creel_error e;

	if (creel_pool_fill(own, &e) < 1)
		measure_fail("pool: %s", e.message);
	return first_call(w);
}

/* Without one in the pool, which is filled again before it is needed. */
static double new_once(struct way *w)
{
	(void)first_call(w);
	return first_call(w);
}

static double read_once(struct way *w)
{
	char text[4096];
	double start = measure_now_us();
	int fd = open("file", O_RDONLY | O_CLOEXEC);

	(void)w;
	if (fd < 0 || read(fd, text, sizeof(text)) != 1024)
		measure_fail("file: %s", strerror(errno));
	(void)close(fd);
	return measure_now_us() - start;
}

#define TINY "{\"command\":[\"./payload\"]}"

static struct way ways[] = {
	{ "spawn", "the program alone, on the host", spawn_once, payload },
	{ "call", "a call of it into a warm sandbox of this process", call_once, NULL, "exec", TINY, &own },
	{ "call-kept", "into one that a supervisor keeps", call_once, NULL, "exec", TINY, &kept },
	{ "ready", "the first call of a session, with a ready sandbox", ready_once, NULL, "exec", TINY,
	  .slow = true },
	{ "new", "the first call of a session without one", new_once, NULL, "exec", TINY, .slow = true },
	{ "sh", "sh -c true, on the host", spawn_once, shell },
	{ "call-sh", "a call of it", call_once, NULL, "exec", "{\"command\":[\"/bin/sh\",\"-c\",\"true\"]}",
	  &own },
	{ "python", "python3 -c pass, on the host", spawn_once, python, .slow = true },
	{ "call-python", "a call of it", call_once, NULL, "exec",
	  "{\"command\":[\"/usr/bin/python3\",\"-c\",\"pass\"]}", &own, .slow = true },
	{ "file", "open, read and close a file of 1 KiB, on the host", read_once },
	{ "read", "read of that file", call_once, NULL, "read", "{\"path\":\"file\"}", &own },
	{ "read-kept", "the same, through a supervisor", call_once, NULL, "read", "{\"path\":\"file\"}",
	  &kept },
};
#define N_WAYS (sizeof(ways) / sizeof(ways[0]))

static struct way *way(const char *name)
{
	for (size_t i = 0; i < N_WAYS; i++)
		if (strcmp(ways[i].name, name) == 0)
			return &ways[i];
	abort();
}

/* ---- where ---- */

static void copy_payload(void)
{
	int from = open(BENCH_PAYLOAD, O_RDONLY | O_CLOEXEC),
	    to = open("payload", O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	static char text[65536];
	ssize_t n = from < 0 ? -1 : read(from, text, sizeof(text));

	if (to < 0 || n <= 0 || write(to, text, (size_t)n) != n)
		measure_fail("payload: %s", strerror(errno));
	(void)close(from);
	(void)close(to);
}

static void open_place(void)
{
	struct creel_options o = CREEL_OPTIONS_INIT;
	struct creel_error e;
	char ws[96], kilobyte[1025];
	FILE *f;

	(void)snprintf(dir, sizeof(dir), "/tmp/creel-bench-XXXXXX");
	if (!mkdtemp(dir) || chmod(dir, 0755) < 0)
		measure_fail("mkdtemp: %s", strerror(errno));
	(void)snprintf(state, sizeof(state), "%s/state", dir);
	(void)snprintf(ws, sizeof(ws), "%s/ws", dir);
	if (mkdir(ws, 0755) < 0 || chdir(ws) < 0)
		measure_fail("%s: %s", ws, strerror(errno));
	copy_payload();
	memset(kilobyte, 'x', 1024);
	f = fopen("file", "we");
	if (!f || fwrite(kilobyte, 1024, 1, f) != 1 || fclose(f) != 0)
		measure_fail("file: %s", strerror(errno));
	o.flags = CREEL_NO_DEFAULT_CONFIG;
	o.state_dir = state;
	o.home = dir;
	o.pool = 1;
	if (creel_engine_new(&o, &engine, &e) < 0)
		measure_fail("%s", e.message);
	own = open_session("agent:bench:own", CREEL_OWN);
	kept = open_session("agent:bench:kept", 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void close_place(void)
{
	struct creel_filter all = CREEL_FILTER_INIT;

	all.all = 1;
	own = creel_close(own);
	kept = creel_close(kept);
	(void)creel_kill(engine, &all, NULL, NULL, NULL);
	engine = creel_engine_free(engine);
	if (chdir("/") < 0)
		measure_fail("/: %s", strerror(errno));
	(void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- measuring ---- */

static void one_round(unsigned round, unsigned settle_ms)
{
	size_t order[N_WAYS];

	for (size_t i = 0; i < N_WAYS; i++)
		order[i] = i;
	for (size_t i = N_WAYS; i > 1; i--) {
		size_t other = (size_t)random() % i, t = order[i - 1];

		order[i - 1] = order[other];
		order[other] = t;
	}
	for (size_t i = 0; i < N_WAYS; i++) {
		struct way *w = &ways[order[i]];

		if (w->missing || (w->slow && round % 4))
			continue;
		measure_settle(settle_ms);
		samples_add(&w->samples, w->once(w));
	}
}

static double ratio(const char *of, const char *to, double q)
{
	return samples_quantile(&way(of)->samples, q) / samples_quantile(&way(to)->samples, q);
}

static void print_all(void)
{
	static const struct {
		const char *of, *to;
		double q, at_most;
	} goals[] = {
		{ "call", "spawn", 0.5, 1.3 },
		{ "call", "spawn", 0.99, 3 },
		{ "call-kept", "spawn", 0.5, 2 },
		{ "call-sh", "sh", 0.5, 1.15 },
		{ "call-python", "python", 0.5, 1.15 },
		{ "ready", "spawn", 0.5, 2.5 },
		{ "read", "file", 0.5, 4 },
	};

	printf("%s\n%-12s %6s %9s %9s %9s %8s\n", measure_machine(), "", "n", "min ms", "p50 ms", "p99 ms",
	       "x spawn");
	for (size_t i = 0; i < N_WAYS; i++) {
		struct samples *s = &ways[i].samples;

		if (s->n)
			printf("%-12s %6zu %9.3f %9.3f %9.3f %8.2f  %s\n", ways[i].name, s->n,
			       samples_quantile(s, 0) / 1e3, samples_quantile(s, 0.5) / 1e3,
			       samples_quantile(s, 0.99) / 1e3, ratio(ways[i].name, "spawn", 0.5),
			       ways[i].what);
	}
	for (size_t i = 0; i < sizeof(goals) / sizeof(goals[0]); i++) {
		double r = ratio(goals[i].of, goals[i].to, goals[i].q);

		if (!isnan(r))
			printf("%s / %s, p%g: %.3f (aim: at most %g%s)\n", goals[i].of, goals[i].to,
			       goals[i].q * 100, r, goals[i].at_most,
			       r <= goals[i].at_most ? "" : "; missed");
	}
}

enum { OPT_ROUNDS = 256, OPT_SETTLE, OPT_HELP };
static const struct option longs[] = { { "rounds", required_argument, NULL, OPT_ROUNDS },
				       { "settle", required_argument, NULL, OPT_SETTLE },
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
		else {
			puts("Usage: bench_calls [--rounds N (400)] [--settle MS (100)]");
			return c == OPT_HELP ? 0 : 2;
		}
	}
	srandom((unsigned)getpid());
	open_place();
	way("python")->missing = way("call-python")->missing = access(python[0], X_OK) != 0;
	for (size_t i = 0; i < N_WAYS; i++)
		for (int n = 0; n < (ways[i].slow ? 1 : WARM_UP) && !ways[i].missing; n++)
			(void)ways[i].once(&ways[i]);
	for (unsigned i = 0; i < rounds; i++)
		one_round(i, settle_ms);
	print_all();
	for (size_t i = 0; i < N_WAYS; i++)
		samples_done(&ways[i].samples);
	close_place();
	return 0;
}
