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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct ask {
	const char *const *argv;
	unsigned flags;
	struct warm *box;
};

static const char *const payload[] = { "./payload", NULL };
static const char *const shell[] = { "/bin/sh", "-c", "true", NULL };
static const char *const python[] = { "/usr/bin/python3", "-c", "pass", NULL };

static struct engine *engine;
static struct warm box, busy; /* the second has a process in the background */
static struct box *kept;      /* that a keeper holds */
static char kept_dir[64];
static char *nsenter_argv[8];
static struct bench bench = { .creel = BENCH_CREEL, .warden = BENCH_WARDEN, .payload = BENCH_PAYLOAD };

/* ---- the ways ---- */

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

static double warm_once(const struct way *w)
{
	const struct ask *a = w->with;
	double start = measure_now_us();

	call(a->box, a->argv, a->flags);
	return measure_now_us() - start;
}

static double hop_once(const struct way *w)
{
	const char *const *words = w->with;
	const struct str argv = str_z(words[0]);
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

static double bwrap_once(const struct way *w)
{
	struct method *m = method_find(w->with);

	return m->once(&bench, m);
}

/* From nothing to the end of the first call. */
static double new_once(const struct way *w)
{
	double start = measure_now_us(), took;
	struct warm fresh;

	engine_serve(engine, &fresh);
	call(&fresh, w->with, 0);
	took = measure_now_us() - start;
	warm_done(&fresh);
	return took;
}

/* The first call of one that is ready. */
static double ready_once(const struct way *w)
{
	struct warm fresh;
	double start, took;

	engine_serve(engine, &fresh);
	start = measure_now_us();
	call(&fresh, w->with, 0);
	took = measure_now_us() - start;
	warm_done(&fresh);
	return took;
}

static const struct ask tiny = { payload, 0, &box }, apart = { payload, SERVE_F_APART, &box },
			beside = { payload, 0, &busy }, sh = { shell, 0, &box }, py = { python, 0, &box };

static struct way table[] = {
	{ "spawn", "the program alone, on the host", way_spawn, payload },
	{ "warm", "a call of it into a warm sandbox", warm_once, &tiny },
	{ "warm-apart", "the same, in a Landlock domain of its own", warm_once, &apart },
	{ "warm-busy", "the same, while something runs in the background", warm_once, &beside },
	{ "warm-hop", "a call through a keeper", hop_once, payload },
	{ "ready", "the first call into a sandbox that stands ready", ready_once, payload, 4 },
	{ "new", "a new sandbox, up to the end of its first call", new_once, payload, 4 },
	{ "bwrap", "bwrap --unshare-all, the same mounts, no filter", bwrap_once, "bwrap", 4 },
	{ "nsenter", "nsenter into the sandbox's namespaces (root)", way_spawn, nsenter_argv, 4 },
	{ "sh", "sh -c true, on the host", way_spawn, shell },
	{ "warm-sh", "a call of it", warm_once, &sh },
	{ "python", "python3 -c pass, on the host", way_spawn, python, 4 },
	{ "warm-python", "a call of it", warm_once, &py, 4 },
};
static const struct ways ways = { table, sizeof(table) / sizeof(table[0]) };

static const struct goal goals[] = {
	{ "warm", "spawn", 0.5, 1.3 },          { "warm", "spawn", 0.99, 3 },
	{ "warm-hop", "spawn", 0.5, 2 },        { "warm-sh", "sh", 0.5, 1.15 },
	{ "warm-python", "python", 0.5, 1.15 }, { "ready", "spawn", 0.5, 2.5 },
	{ "warm-apart", "warm", 0.5, 1.15 },    { "new", "bwrap", 0.5, 0.4 },
};

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

/* ---- rates, and many at once ---- */

/* So many processes, each for as long: how many a second, together. */
static double rate(unsigned clients, unsigned ms, double (*once)(const struct way *), bool own_box)
{
	int sums[2];
	double total = 0;

	if (pipe(sums) < 0)
		measure_fail("pipe: %s", strerror(errno));
	for (unsigned i = 0; i < clients; i++)
		if (fork() == 0) {
			struct warm own = WARM_NONE;
			const struct ask in = { payload, 0, &own };
			const struct way w = { .with = own_box ? (const void *)&in : (const void *)payload };
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
		host += rate(2, ms, way_spawn, false) / 3;
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
	double few, same, all;
	unsigned n = 0, first;

	if (!many)
		measure_fail("out of memory");
	for (; n < 10 && n < live; n++)
		engine_serve(engine, &many[n]);
	first = n;
	few = median_call(many, n, 200, settle_ms);
	for (; n < live; n++)
		engine_serve(engine, &many[n]);
	same = median_call(many, first, 200, settle_ms);
	all = median_call(many, n, 200, settle_ms);
	printf("a call into one of 10 sandboxes, with %u live / with 10: %.2f (aim: at most 1.3%s)\n", live,
	       same / few, same / few <= 1.3 ? "" : "; missed");
	printf("into any of the %u, most of them for the first time: %.2f\n", live, all / few);
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
	struct method *bwrap = method_find("bwrap");
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
	bench_open(&bench);
	engine = bench.engine = engine_open(bench.warden, bench.workspace, NULL);
	make_hop();
	engine_serve(engine, &box);
	make_busy();
	way_find(ways, "bwrap")->missing = bwrap->prepare(&bench, bwrap) != NULL;
	way_find(ways, "nsenter")->missing = !make_nsenter();
	way_find(ways, "python")->missing = way_find(ways, "warm-python")->missing =
		access(python[0], X_OK) != 0;
	ways_measure(ways, rounds, settle_ms);
	ways_print(ways, goals, sizeof(goals) / sizeof(goals[0]));
	print_rates(rounds < 10 ? 50 : 1000);
	print_live(live, settle_ms);
	warm_done(&box);
	warm_done(&busy);
	end_hop();
	bench_close(&bench); /* and with it the engine */
	ways_done(ways);
	return 0;
}
