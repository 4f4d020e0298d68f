/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the start to the end of a program that does nothing: by creel, by its engine alone, and by the peers. Every round has
 * each once, in random order, so that whatever else the machine does hits all alike; what counts are the ratios.
 */
#include "methods.h"

#include "base/buf.h"
#include "base/jsonw.h"

#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WARM_UP 3

struct options {
	unsigned rounds, slow_rounds, settle_ms;
	bool json, named;
};

/* What we claim. A ratio of two methods' quantiles. */
static const struct goal goals[] = {
	{ "creel", "bwrap", 0.5, 0.5 },     { "creel", "bwrap", 0.99, 0.7 },
	{ "creel", "bwrap-ovl", 0.5, 0.5 }, { "creel", "bwrap-ovl", 0.99, 0.7 },
	{ "creel-rw", "bwrap", 0.5, 0.5 },  { "creel-rw", "bwrap", 0.99, 0.7 },
	{ "engine", "bwrap", 0.5, 0.4 },    { "creel", "runc", 0.5, 0.1 },
	{ "creel", "docker", 0.5, 0.015 },
};
#define N_GOALS (sizeof(goals) / sizeof(goals[0]))

/* ---- measuring ---- */

static void prepare(struct bench *b, const struct options *o)
{
	for (size_t i = 0; i < n_methods; i++) {
		struct method *m = &methods[i];

		if (!m->wanted)
			continue;
		m->missing = m->prepare(b, m);
		if (m->missing && o->named)
			measure_fail("%s: %s", m->name, m->missing);
		for (int k = 0; !m->missing && k < WARM_UP; k++)
			(void)m->once(b, m);
	}
}

static void shuffle(size_t *v, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t other = (size_t)random() % i, t = v[i - 1];

		v[i - 1] = v[other];
		v[other] = t;
	}
}

/* A slow method has its turn in slow_rounds of all rounds, evenly spread. */
static bool has_turn(const struct method *m, unsigned round, const struct options *o)
{
	if (!m->wanted || m->missing)
		return false;
	if (!m->slow || o->slow_rounds >= o->rounds)
		return true;
	return (uint64_t)round * o->slow_rounds / o->rounds !=
	       (uint64_t)(round + 1) * o->slow_rounds / o->rounds;
}

static void one_round(struct bench *b, unsigned round, const struct options *o)
{
	size_t order[32];

	for (size_t i = 0; i < n_methods; i++)
		order[i] = i;
	shuffle(order, n_methods);
	for (size_t i = 0; i < n_methods; i++) {
		struct method *m = &methods[order[i]];

		if (!has_turn(m, round, o))
			continue;
		measure_settle(o->settle_ms);
		samples_add(&m->samples, m->once(b, m));
	}
}

/* ---- saying ---- */

/* NaN when one of the two was not measured. */
static double ratio(const char *of, const char *to, double quantile)
{
	struct method *a = method_find(of), *b = method_find(to);

	return a && b ? samples_quantile(&a->samples, quantile) / samples_quantile(&b->samples, quantile)
		      : NAN;
}

static void put_ratio(double r)
{
	if (isnan(r))
		printf(" %8s", "-");
	else
		printf(" %8.*f", r < 0.1 ? 4 : r < 100 ? 2 : 0, r);
}

static void print_table(void)
{
	printf("%-11s %5s %9s %9s %9s %8s %8s %8s\n", "", "n", "min ms", "p50 ms", "p99 ms", "x spawn",
	       "x bwrap", "p99");
	for (size_t i = 0; i < n_methods; i++) {
		struct method *m = &methods[i];

		if (m->missing)
			printf("%-11s %s\n", m->name, m->missing);
		if (m->samples.n == 0)
			continue;
		printf("%-11s %5zu %9.3f %9.3f %9.3f", m->name, m->samples.n,
		       samples_quantile(&m->samples, 0) / 1e3, samples_quantile(&m->samples, 0.5) / 1e3,
		       samples_quantile(&m->samples, 0.99) / 1e3);
		put_ratio(ratio(m->name, "spawn", 0.5));
		put_ratio(ratio(m->name, "bwrap", 0.5));
		put_ratio(ratio(m->name, "bwrap", 0.99));
		printf("  %s\n", m->what);
	}
}

static void print_goals(void)
{
	for (size_t i = 0; i < N_GOALS; i++) {
		const struct goal *g = &goals[i];
		double r = ratio(g->of, g->to, g->q);

		if (!isnan(r))
			printf("%s / %s, p%g: %.3f (aim: at most %g%s)\n", g->of, g->to, g->q * 100, r,
			       g->bound, r <= g->bound ? "" : "; missed");
	}
}

static void put_number(struct jsonw *w, const char *key, double v)
{
	jsonw_key(w, str_z(key));
	jsonw_num(w, v);
}

static void print_json(void)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct jsonw w;

	buf_init(&out, (size_t)1 << 20);
	jsonw_init(&w, &out, 2);
	jsonw_obj(&w);
	jsonw_kz(&w, "machine", measure_machine());
	jsonw_karr(&w, "methods");
	for (size_t i = 0; i < n_methods; i++) {
		struct method *m = &methods[i];

		if (m->samples.n == 0)
			continue;
		jsonw_obj(&w);
		jsonw_kz(&w, "name", m->name);
		jsonw_ku64(&w, "n", m->samples.n);
		put_number(&w, "min_us", samples_quantile(&m->samples, 0));
		put_number(&w, "p50_us", samples_quantile(&m->samples, 0.5));
		put_number(&w, "p99_us", samples_quantile(&m->samples, 0.99));
		put_number(&w, "p50_to_bwrap", ratio(m->name, "bwrap", 0.5));
		put_number(&w, "p99_to_bwrap", ratio(m->name, "bwrap", 0.99));
		jsonw_obj_end(&w);
	}
	jsonw_arr_end(&w);
	jsonw_obj_end(&w);
	buf_putc(&out, '\n');
	(void)fwrite(out.p, 1, out.n, stdout);
}

/* ---- the command line ---- */

static void want(struct options *o, char *list)
{
	char *name;

	o->named = strcmp(list, "ours") != 0;
	for (size_t i = 0; i < n_methods; i++)
		methods[i].wanted = !o->named && methods[i].ours;
	while (o->named && (name = strsep(&list, ","))) {
		struct method *m = method_find(name);

		if (!m)
			measure_fail("--methods: '%s' is none; see --help", name);
		m->wanted = true;
	}
}

static void help(void)
{
	puts("Usage: bench_run [OPTION...]\n\n"
	     "  --rounds N           each method once in each (300)\n"
	     "  --slow-rounds N      for docker (40)\n"
	     "  --settle MS          wait at most so long for a quiet machine before each sample (100)\n"
	     "  --methods LIST       of the names below, with commas; or 'ours'; all that can be had unless given\n"
	     "  --bundle DIR         OCI bundle that runs the payload, for crun and runc\n"
	     "  --docker-host URL    where dockerd listens\n"
	     "  --image NAME         image with /payload in it (creel-bench)\n"
	     "  --json               print JSON for programs\n");
	for (size_t i = 0; i < n_methods; i++)
		printf("  %-11s %s\n", methods[i].name, methods[i].what);
}

enum {
	OPT_ROUNDS = 256,
	OPT_SLOW,
	OPT_SETTLE,
	OPT_METHODS,
	OPT_BUNDLE,
	OPT_DOCKER,
	OPT_IMAGE,
	OPT_JSON,
	OPT_HELP
};

static const struct option longs[] = {
	{ "rounds", required_argument, NULL, OPT_ROUNDS },
	{ "slow-rounds", required_argument, NULL, OPT_SLOW },
	{ "settle", required_argument, NULL, OPT_SETTLE },
	{ "methods", required_argument, NULL, OPT_METHODS },
	{ "bundle", required_argument, NULL, OPT_BUNDLE },
	{ "docker-host", required_argument, NULL, OPT_DOCKER },
	{ "image", required_argument, NULL, OPT_IMAGE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static void take_option(int c, struct options *o, struct bench *b)
{
	switch (c) {
	case OPT_ROUNDS:
		o->rounds = measure_number("--rounds", optarg, 1, 100000);
		break;
	case OPT_SLOW:
		o->slow_rounds = measure_number("--slow-rounds", optarg, 1, 100000);
		break;
	case OPT_SETTLE:
		o->settle_ms = measure_number("--settle", optarg, 0, 10000);
		break;
	case OPT_METHODS:
		want(o, optarg);
		break;
	case OPT_BUNDLE:
		b->bundle = optarg;
		break;
	case OPT_DOCKER:
		b->docker_host = optarg;
		break;
	case OPT_IMAGE:
		b->image = optarg;
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case OPT_HELP:
		help();
		exit(0);
	default:
		exit(2);
	}
}

int main(int argc, char **argv)
{
	static struct bench b = {
		.creel = BENCH_CREEL, .warden = BENCH_WARDEN, .payload = BENCH_PAYLOAD, .image = "creel-bench"
	};
	struct options o = { .rounds = 300, .slow_rounds = 40, .settle_ms = 100 };
	int c;

	for (size_t i = 0; i < n_methods; i++)
		methods[i].wanted = true;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0)
		take_option(c, &o, &b);
	if (optind < argc)
		measure_fail("'%s' is too much; see --help", argv[optind]);
	srandom((unsigned)getpid());
	bench_open(&b);
	b.engine = engine_open(b.warden, b.workspace, NULL);
	prepare(&b, &o);
	for (unsigned i = 0; i < o.rounds; i++)
		one_round(&b, i, &o);
	if (o.json) {
		print_json();
	} else {
		printf("%s\n", measure_machine());
		print_table();
		print_goals();
	}
	bench_close(&b);
	for (size_t i = 0; i < n_methods; i++)
		samples_done(&methods[i].samples);
	return 0;
}
