/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call into a sandbox that is warm, beside the same program started on the host. Every round has each once, in random order; what
 * counts are the ratios.
 */
#include "backend/keeper.h"
#include "backend/kept.h"
#include "methods.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WARM_UP 20

struct way {
	const char *name, *what;
	double (*once)(struct way *w);
	const char *const *argv;
	unsigned flags;
	struct warm *box;
	bool slow, missing;
	struct samples samples;
};

static const char *const payload[] = { "./payload", NULL };
static const char *const shell[] = { "/bin/sh", "-c", "true", NULL };
static const char *const python[] = { "/usr/bin/python3", "-c", "pass", NULL };
static char *no_env[] = { NULL };

static struct engine *engine;
static struct warm box, busy; /* the second has a process in the background */
static struct box *kept;      /* that a keeper holds */
static char kept_dir[64];
static char *nsenter_argv[8];

static const char *path_of(const char *program)
{
	return program[0] == '.' ? "./payload" : program;
}

/* ---- the ways ---- */

static double spawn_once(struct way *w)
{
	double start = measure_now_us();
	int status = 0;
	pid_t pid;

	if (posix_spawn(&pid, path_of(w->argv[0]), NULL, NULL, (char *const *)(uintptr_t)w->argv, no_env) !=
		    0 ||
	    waitpid(pid, &status, 0) != pid || status != 0)
		measure_fail("%s: %s", w->argv[0], strerror(errno));
	return measure_now_us() - start;
}

static void call(struct warm *in, const char *const *words, unsigned flags)
{
	struct str argv[8];
	struct warm_call c = {
		.cwd = STR("/workspace"), .stdio = { -1, -1, -1 }, .flags = flags, .umask = 022
	};
	struct serve_event ev;
	struct err e = { 0 };

	while (words[c.argv.n]) {
		argv[c.argv.n] = str_z(words[c.argv.n]);
		c.argv.n++;
	}
	c.argv.v = argv;
	if (warm_exec(in, &c, &ev, &e) < 0)
		measure_fail("%s", e.msg);
	if (ev.reason != SERVE_EXITED || ev.value != 0)
		measure_fail("%s: reason %u, value %d", words[0], ev.reason, ev.value);
}

static double warm_once(struct way *w)
{
	double start = measure_now_us();

	call(w->box, w->argv, w->flags);
	return measure_now_us() - start;
}

static double hop_once(struct way *w)
{
	const struct str argv = str_z(w->argv[0]);
	struct box_call c = { .argv = { &argv, 1 }, .stdio = { -1, -1, -1 }, .umask = 022 };
	double start = measure_now_us();
	struct box_event ev;
	struct err e = { 0 };
	uint64_t id;

	if (kept->ops->exec(kept, &c, &id, &e) < 0 || kept->ops->next(kept, true, &ev, &e) != 1 ||
	    ev.kind != BOX_ENDED || ev.end.reason != BOX_EXITED || ev.end.value != 0)
		measure_fail("the keeper: %s", e.msg);
	return measure_now_us() - start;
}

static double nsenter_once(struct way *w)
{
	struct way in = *w;

	in.argv = (const char *const *)(uintptr_t)nsenter_argv;
	return spawn_once(&in);
}

/* From nothing to the end of the first call. */
static double new_once(struct way *w)
{
	double start = measure_now_us(), took;
	struct warm fresh;

	engine_serve(engine, &fresh);
	call(&fresh, w->argv, 0);
	took = measure_now_us() - start;
	warm_done(&fresh);
	return took;
}

/* The first call of one that is ready. */
static double ready_once(struct way *w)
{
	struct warm fresh;
	double start, took;

	engine_serve(engine, &fresh);
	start = measure_now_us();
	call(&fresh, w->argv, 0);
	took = measure_now_us() - start;
	warm_done(&fresh);
	return took;
}

static struct way ways[] = {
	{ "spawn", "the program alone, on the host", spawn_once, payload },
	{ "warm", "a call of it into a warm sandbox", warm_once, payload, 0, &box },
	{ "warm-apart", "the same, in a Landlock domain of its own", warm_once, payload, SERVE_F_APART,
	  &box },
	{ "warm-busy", "the same, while something runs in the background", warm_once, payload, 0, &busy },
	{ "warm-hop", "a call through a keeper", hop_once, payload },
	{ "ready", "the first call into a sandbox that stands ready", ready_once, payload, .slow = true },
	{ "new", "a new sandbox, up to the end of its first call", new_once, payload, .slow = true },
	{ "nsenter", "nsenter into the sandbox's namespaces (root)", nsenter_once, payload, .slow = true },
	{ "sh", "sh -c true, on the host", spawn_once, shell },
	{ "warm-sh", "a call of it", warm_once, shell, 0, &box },
	{ "python", "python3 -c pass, on the host", spawn_once, python, .slow = true },
	{ "warm-python", "a call of it", warm_once, python, 0, &box, .slow = true },
};
#define N_WAYS (sizeof(ways) / sizeof(ways[0]))

static struct way *way(const char *name)
{
	for (size_t i = 0; i < N_WAYS; i++)
		if (strcmp(ways[i].name, name) == 0)
			return &ways[i];
	abort();
}

/* ---- what they need ---- */

static void make_busy(void)
{
	const struct str argv[] = { STR("./payload"), STR("idle") };
	struct warm_call c = {
		.argv = { argv, 2 }, .cwd = STR("/workspace"), .stdio = { -1, -1, -1 }, .flags = SERVE_F_TELL
	};
	struct warm_event ev;
	struct err e = { 0 };
	uint64_t id;

	engine_serve(engine, &busy);
	if (warm_call(&busy, &c, &id, &e) < 0 || warm_next(&busy, true, &ev, &e) != 1 ||
	    ev.event.msg != SERVE_STARTED)
		measure_fail("cannot start a program in the background: %s", e.msg);
}

static void make_hop(void)
{
	struct keeper_spec spec = { .plan = engine_plan(engine),
				    .workdir = STR("/workspace"),
				    .dir = STR("") };
	struct keeper_started started;
	struct err e = { 0 };

	(void)snprintf(kept_dir, sizeof(kept_dir), "/tmp/creel-bench-XXXXXX");
	if (!mkdtemp(kept_dir))
		measure_fail("mkdtemp: %s", strerror(errno));
	spec.dir = str_z(kept_dir);
	spec.keeper_fd = open(BENCH_KEEPER, O_RDONLY | O_CLOEXEC);
	if (keeper_start(&spec, &started, &e) < 0 || kept_open(spec.dir, &kept, &e) < 0)
		measure_fail("%s", e.msg);
	(void)close(spec.keeper_fd);
}

static void end_hop(void)
{
	char lock[96];
	struct err e = { 0 };

	if (kept->ops->stop(kept, &e) < 0)
		measure_fail("%s", e.msg);
	kept = box_close(kept);
	(void)snprintf(lock, sizeof(lock), "%s/keeper.lock", kept_dir);
	(void)unlink(lock);
	(void)rmdir(kept_dir);
}

/* Pid 1 is the only child of the warden's outer half. */
static bool make_nsenter(void)
{
	static char pid[16], path[64], tool[] = "/usr/bin/nsenter", opt[] = "-t", all[] = "-a",
				       run[] = "/workspace/payload";
	FILE *f;
	int n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", box.box.warden.pid,
		       box.box.warden.pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fscanf(f, "%15[0-9]", pid);
	(void)fclose(f);
	memcpy(nsenter_argv, (char *[]){ tool, opt, pid, all, run, NULL }, 6 * sizeof(char *));
	return n == 1 && geteuid() == 0 && access(tool, X_OK) == 0;
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

static void put_goal(const char *of, const char *to, double q, double at_most)
{
	double r = ratio(of, to, q);

	if (!isnan(r))
		printf("%s / %s, p%g: %.3f (aim: at most %g%s)\n", of, to, q * 100, r, at_most,
		       r <= at_most ? "" : "; missed");
}

static void print_all(void)
{
	static const struct {
		const char *of, *to;
		double q, at_most;
	} goals[] = {
		{ "warm", "spawn", 0.5, 1.3 },          { "warm", "spawn", 0.99, 3 },
		{ "warm-hop", "spawn", 0.5, 2 },        { "warm-sh", "sh", 0.5, 1.15 },
		{ "warm-python", "python", 0.5, 1.15 }, { "ready", "spawn", 0.5, 2.5 },
		{ "warm-apart", "warm", 0.5, 1.15 },
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
	for (size_t i = 0; i < sizeof(goals) / sizeof(goals[0]); i++)
		put_goal(goals[i].of, goals[i].to, goals[i].q, goals[i].at_most);
}

/* ---- rates, and many at once ---- */

/* So many processes, each for as long: how many a second, together. */
static double rate(unsigned clients, unsigned ms, double (*once)(struct way *), bool own_box)
{
	int sums[2];
	double total = 0;

	if (pipe(sums) < 0)
		measure_fail("pipe: %s", strerror(errno));
	for (unsigned i = 0; i < clients; i++)
		if (fork() == 0) {
			struct warm own = WARM_NONE;
			struct way w = { .argv = payload, .box = &own };
			double end, n = 0;

			if (own_box)
				engine_serve(engine, &own);
			for (end = measure_now_us() + ms * 1e3; measure_now_us() < end; n++)
				(void)once(&w);
			_exit(write(sums[1], &n, sizeof(n)) != sizeof(n));
		}
	for (unsigned i = 0; i < clients; i++) {
		double n = 0;

		if (read(sums[0], &n, sizeof(n)) != sizeof(n))
			measure_fail("a client ended early");
		total += n;
	}
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	(void)close(sums[0]);
	(void)close(sums[1]);
	return total * 1e3 / ms;
}

static void print_rates(unsigned ms)
{
	double host = 0, warm = 0;

	for (int i = 0; i < 3; i++) {
		host += rate(2, ms, spawn_once, false) / 3;
		warm += rate(2, ms, warm_once, true) / 3;
	}
	printf("2 clients: %.0f calls/s, %.0f spawns/s: %.2f (aim: at least 0.6%s)\n", warm, host,
	       warm / host, warm / host >= 0.6 ? "" : "; missed");
}

static double median_call(struct warm *in, unsigned live, unsigned n, unsigned settle_ms)
{
	struct samples s = { 0 };
	double p50;

	for (unsigned i = 0; i < n; i++) {
		double start;

		measure_settle(settle_ms);
		start = measure_now_us();
		call(&in[(unsigned)random() % live], payload, 0);
		samples_add(&s, measure_now_us() - start);
	}
	p50 = samples_quantile(&s, 0.5);
	samples_done(&s);
	return p50;
}

static void print_live(unsigned live, unsigned settle_ms)
{
	struct warm *many = calloc(live, sizeof(*many));
	double few, all;
	unsigned n = 0;

	if (!many)
		measure_fail("out of memory");
	for (; n < 10 && n < live; n++)
		engine_serve(engine, &many[n]);
	few = median_call(many, n, 200, settle_ms);
	for (; n < live; n++)
		engine_serve(engine, &many[n]);
	all = median_call(many, n, 200, settle_ms);
	printf("a call with %u live sandboxes / with 10: %.2f (aim: at most 1.3%s)\n", live, all / few,
	       all / few <= 1.3 ? "" : "; missed");
	for (unsigned i = 0; i < n; i++)
		warm_done(&many[i]);
	free(many);
}

enum { OPT_ROUNDS = 256, OPT_SETTLE, OPT_LIVE, OPT_HELP };
static const struct option longs[] = { { "rounds", required_argument, NULL, OPT_ROUNDS },
				       { "settle", required_argument, NULL, OPT_SETTLE },
				       { "live", required_argument, NULL, OPT_LIVE },
				       { "help", no_argument, NULL, OPT_HELP },
				       { NULL, 0, NULL, 0 } };

int main(int argc, char **argv)
{
	static struct bench b = { .creel = BENCH_CREEL, .warden = BENCH_WARDEN, .payload = BENCH_PAYLOAD };
	unsigned rounds = 400, settle_ms = 100, live = 1000;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		if (c == OPT_ROUNDS)
			rounds = measure_number("--rounds", optarg, 1, 100000);
		else if (c == OPT_SETTLE)
			settle_ms = measure_number("--settle", optarg, 0, 10000);
		else if (c == OPT_LIVE)
			live = measure_number("--live", optarg, 1, 5000);
		else {
			puts("Usage: bench_warm [--rounds N (400)] [--settle MS (100)] [--live N (1000)]");
			return c == OPT_HELP ? 0 : 2;
		}
	}
	srandom((unsigned)getpid());
	bench_open(&b);
	engine = engine_open(b.warden, b.workspace, NULL);
	make_hop();
	engine_serve(engine, &box);
	make_busy();
	way("nsenter")->missing = !make_nsenter();
	way("python")->missing = way("warm-python")->missing = access(python[0], X_OK) != 0;
	for (size_t i = 0; i < N_WAYS; i++)
		for (int k = 0; !ways[i].missing && k < (ways[i].slow ? 2 : WARM_UP); k++)
			(void)ways[i].once(&ways[i]);
	for (unsigned i = 0; i < rounds; i++)
		one_round(i, settle_ms);
	print_all();
	print_rates(rounds < 10 ? 50 : 1000);
	print_live(live, settle_ms);
	warm_done(&box);
	warm_done(&busy);
	end_hop();
	engine = engine_close(engine);
	bench_close(&b);
	for (size_t i = 0; i < N_WAYS; i++)
		samples_done(&ways[i].samples);
	return 0;
}
