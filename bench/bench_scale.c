/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many idle sandboxes at once, all started by this one process through the engine: what one more costs when 0, 9, 99 and 999
 * live already, and how much memory each takes; beside it the memory of some that were started by `creel run` and by bwrap.
 */
#include "memory.h"
#include "methods.h"

#include "base/buf.h"
#include "base/jsonw.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define WARM_UP 5
#define LIVE_MAX 4000u /* three descriptors each */
#define LEVELS_MAX 8
#define CALM_S 2u
#define FALL_MAX 10u /* the kernel takes network namespaces down in its own time */
#define GOAL_RATIO 1.5
#define GOAL_PSS_KIB 64
#define GOAL_ALL_KIB 450
#define IDLE_WAIT_MS 5000

extern char **environ;

struct options {
	unsigned live, samples, peers, settle_ms;
	bool json;
};

struct level {
	unsigned live; /* with the one that is measured */
	struct samples create, both;
	struct samples peer; /* bwrap in between, from start to end: shows what is the machine's doing */
};

struct memory {
	const char *name;
	unsigned n;
	bool has_user; /* an ordinary user may not look at the warden */
	struct user_memory user;
	struct kernel_memory before, top, kernel; /* the last per sandbox */
	double all_kib;                           /* without the payload's PSS */
	double own_kib; /* without what the same payload costs the kernel when there is no wall around it */
};

/* ---- time ---- */

static void create(struct engine *g, struct engine_box *ret)
{
	engine_make_group(g, ret);
	engine_start(g, ret);
}

/* As many live as before, afterwards. */
static void measure_level(struct bench *b, struct method *peer, struct level *l, const struct options *o)
{
	for (unsigned i = 0; i < o->samples; i++) {
		struct engine_box box;
		double start, created;

		measure_settle(o->settle_ms);
		start = measure_now_us();
		create(b->engine, &box);
		created = measure_now_us();
		engine_end(&box);
		samples_add(&l->create, created - start);
		samples_add(&l->both, measure_now_us() - start);
		if (!peer)
			continue;
		measure_settle(o->settle_ms);
		samples_add(&l->peer, peer->once(b, peer));
	}
}

/* 1, 10, 100... and the number that was asked for. */
static unsigned make_levels(struct level *levels, unsigned live)
{
	unsigned n = 0;

	for (unsigned at = 1; at < live && n < LEVELS_MAX - 1; at *= 10)
		levels[n++].live = at;
	levels[n++].live = live;
	return n;
}

/* ---- memory ---- */

static void begin_memory(struct memory *m, const char *name, unsigned n)
{
	*m = (struct memory){ .name = name, .n = n };
	(void)sleep(CALM_S);
	memory_kernel(&m->before);
}

/*
 * All of them live. What the kernel counts comes first: each file of /proc that is looked at takes an inode and a name as long as the process
 * lives, and the looking is ours.
 */
static void top_memory(struct memory *m, const pid_t *pids)
{
	(void)sleep(CALM_S);
	memory_kernel(&m->top);
	m->has_user = true;
	for (unsigned i = 0; i < m->n && m->has_user; i++)
		m->has_user = memory_add_tree(pids[i], &m->user);
	m->user.walls_kib /= m->n;
	m->user.shared_kib /= m->n;
	m->user.leaf_kib /= m->n;
}

/*
 * All of them have gone. What the rest of the machine took meanwhile is in the rise and missing from the fall, so the mean of
 * both is what they took.
 */
static void end_memory(struct memory *m)
{
	struct kernel_memory now, earlier;

	memory_kernel(&now);
	for (unsigned i = 0; i < FALL_MAX; i++) {
		earlier = now;
		(void)sleep(CALM_S);
		memory_kernel(&now);
		if (now.kib[KERNEL_SLAB] > earlier.kib[KERNEL_SLAB] * 0.99)
			break;
	}
	m->all_kib = m->has_user ? m->user.walls_kib - m->user.shared_kib : NAN;
	for (int i = 0; i < KERNEL_COUNT_; i++) {
		m->kernel.kib[i] = (m->top.kib[i] - (m->before.kib[i] + now.kib[i]) / 2) / m->n;
		m->all_kib += m->kernel.kib[i];
	}
}

/* Says a byte when it idles: to look for it in /proc would take memory, see top_memory(). */
static pid_t spawn(struct method *m, const int *says)
{
	struct pollfd said = { .fd = says[0], .events = POLLIN };
	posix_spawn_file_actions_t quiet;
	char byte;
	pid_t pid;
	int r;

	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&quiet, says[1], STDOUT_FILENO);
	r = posix_spawn(&pid, m->argv[0], &quiet, NULL, m->argv, environ);
	posix_spawn_file_actions_destroy(&quiet);
	if (r != 0)
		measure_fail("%s: '%s': %s", m->name, m->argv[0], strerror(r));
	if (poll(&said, 1, IDLE_WAIT_MS) != 1 || read(says[0], &byte, 1) != 1)
		measure_fail("%s: the payload does not idle", m->name);
	return pid;
}

/* Programs that each hold one sandbox open; has_user is certain, for only root comes here. */
static void measure_programs(struct method *m, unsigned n_processes, unsigned n, struct memory *ret)
{
	pid_t *pids = calloc(n, sizeof(*pids));
	int says[2];

	if (!pids || pipe2(says, O_CLOEXEC) < 0)
		measure_fail("out of memory");
	begin_memory(ret, m->name, n);
	for (unsigned i = 0; i < n; i++)
		pids[i] = spawn(m, says);
	top_memory(ret, pids);
	if (ret->user.n_processes != n * n_processes)
		measure_fail("%s: %u processes instead of %u", m->name, ret->user.n_processes,
			     n * n_processes);
	for (unsigned i = 0; i < n; i++) {
		(void)kill(pids[i], SIGTERM);
		(void)waitpid(pids[i], NULL, 0);
	}
	end_memory(ret);
	free(pids);
	(void)close(says[0]);
	(void)close(says[1]);
}

static unsigned measure_peers(struct bench *b, const struct options *o, struct memory *ret)
{
	static struct method bare = { .name = "no wall" }, cli = { .name = "creel run" },
			     bwrap = { .name = "bwrap" };
	unsigned n = 0;

	method_add_all(&bare, (const char *const[]){ "./payload", "idle", "say", NULL });
	measure_programs(&bare, 1, o->peers, &ret[n++]);
	/* Its own process, the two of the warden, the payload. */
	method_add_all(&cli, (const char *const[]){ b->creel, "run", "-q", "--workspace-access", "rw", "--",
						    "./payload", "idle", "say", NULL });
	measure_programs(&cli, 4, o->peers, &ret[n++]);
	if (method_add_program(&bwrap, "bwrap"))
		return n;
	bwrap_arguments(&bwrap, engine_profile(b->engine));
	method_add_all(&bwrap, (const char *const[]){ "--", "./payload", "idle", "say", NULL });
	measure_programs(&bwrap, 3, o->peers, &ret[n++]);
	return n;
}

/* ---- saying ---- */

static void print_levels(struct level *levels, unsigned n)
{
	double first = samples_quantile(&levels[0].create, 0.5);
	double last = samples_quantile(&levels[n - 1].create, 0.5);
	double peer = samples_quantile(&levels[0].peer, 0.5);

	printf("%6s %5s %10s %8s %8s %15s %10s %8s\n", "live", "n", "create p50", "p99 ms", "x first",
	       "+ destroy p50", "bwrap p50", "x first");
	for (unsigned i = 0; i < n; i++) {
		struct level *l = &levels[i];

		printf("%6u %5zu %10.3f %8.3f %8.2f %15.3f %10.3f %8.2f\n", l->live, l->create.n,
		       samples_quantile(&l->create, 0.5) / 1e3, samples_quantile(&l->create, 0.99) / 1e3,
		       samples_quantile(&l->create, 0.5) / first, samples_quantile(&l->both, 0.5) / 1e3,
		       samples_quantile(&l->peer, 0.5) / 1e3, samples_quantile(&l->peer, 0.5) / peer);
	}
	printf("creating number %u: %.2f x the first (aim: at most %g%s)\n", levels[n - 1].live, last / first,
	       GOAL_RATIO, last / first <= GOAL_RATIO ? "" : "; missed");
}

static void print_memory_goals(const struct memory *m)
{
	printf("engine: PSS %.1f KiB (aim: at most %d%s); in all, without the payload's own, %.0f KiB (aim: at most %d%s)\n",
	       m->user.walls_kib, GOAL_PSS_KIB, m->user.walls_kib <= GOAL_PSS_KIB ? "" : "; missed",
	       m->own_kib, GOAL_ALL_KIB, m->own_kib <= GOAL_ALL_KIB ? "" : "; missed");
}

static void print_memory(const struct memory *m, unsigned n)
{
	printf("KiB per sandbox: PSS of its walls, PSS of the payload, what the kernel counts, all but the payload's PSS, and that\n"
	       "without what the payload costs the kernel when there is no wall\n");
	printf("%-10s %5s %7s %7s", "", "n", "PSS", "payload");
	for (int i = 0; i < KERNEL_COUNT_; i++)
		printf(" %11s", kernel_part_names[i]);
	printf(" %8s %8s\n", "in all", "its own");
	for (unsigned i = 0; i < n; i++) {
		printf("%-10s %5u %7.1f %7.1f", m[i].name, m[i].n, m[i].user.walls_kib, m[i].user.leaf_kib);
		for (int k = 0; k < KERNEL_COUNT_; k++)
			printf(" %11.1f", m[i].kernel.kib[k]);
		printf(" %8.1f %8.1f\n", m[i].all_kib, m[i].own_kib);
	}
}

static void put_number(struct jsonw *w, const char *key, double v)
{
	jsonw_key(w, str_z(key));
	jsonw_num(w, v);
}

static void put_levels(struct jsonw *w, struct level *levels, unsigned n)
{
	jsonw_karr(w, "levels");
	for (unsigned i = 0; i < n; i++) {
		jsonw_obj(w);
		jsonw_ku64(w, "live", levels[i].live);
		put_number(w, "create_p50_us", samples_quantile(&levels[i].create, 0.5));
		put_number(w, "create_p99_us", samples_quantile(&levels[i].create, 0.99));
		put_number(w, "create_destroy_p50_us", samples_quantile(&levels[i].both, 0.5));
		put_number(w, "bwrap_p50_us", samples_quantile(&levels[i].peer, 0.5));
		jsonw_obj_end(w);
	}
	jsonw_arr_end(w);
}

static void put_memory(struct jsonw *w, const struct memory *m, unsigned n)
{
	jsonw_karr(w, "memory");
	for (unsigned i = 0; i < n; i++) {
		jsonw_obj(w);
		jsonw_kz(w, "name", m[i].name);
		jsonw_ku64(w, "n", m[i].n);
		put_number(w, "pss_kib", m[i].user.walls_kib);
		put_number(w, "payload_kib", m[i].user.leaf_kib);
		for (int k = 0; k < KERNEL_COUNT_; k++)
			put_number(w, kernel_part_names[k], m[i].kernel.kib[k]);
		put_number(w, "all_kib", m[i].all_kib);
		put_number(w, "own_kib", m[i].own_kib);
		jsonw_obj_end(w);
	}
	jsonw_arr_end(w);
}

static void print_json(struct level *levels, unsigned n_levels, const struct memory *m, unsigned n_memory)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct jsonw w;

	buf_init(&out, (size_t)1 << 20);
	jsonw_init(&w, &out, 2);
	jsonw_obj(&w);
	jsonw_kz(&w, "machine", measure_machine());
	put_levels(&w, levels, n_levels);
	put_memory(&w, m, n_memory);
	jsonw_obj_end(&w);
	buf_putc(&out, '\n');
	(void)fwrite(out.p, 1, out.n, stdout);
}

/* ---- the command line ---- */

static void take_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "live", required_argument, NULL, 'l' },
		{ "samples", required_argument, NULL, 'n' },
		{ "peers", required_argument, NULL, 'p' },
		{ "settle", required_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		if (c == 'l')
			o->live = measure_number("--live", optarg, 1, LIVE_MAX);
		else if (c == 'n')
			o->samples = measure_number("--samples", optarg, 1, 10000);
		else if (c == 'p')
			o->peers = measure_number("--peers", optarg, 0, 1000);
		else if (c == 's')
			o->settle_ms = measure_number("--settle", optarg, 0, 10000);
		else if (c == 'j')
			o->json = true;
		else if (c == 'h')
			puts("Usage: bench_scale [OPTION...]\n\n"
			     "  --live N      sandboxes at once (1000)\n"
			     "  --samples N   of one more, with 1, 10, 100... live (50)\n"
			     "  --peers N     programs whose memory is looked at, of creel run and bwrap each (100)\n"
			     "  --settle MS   wait at most so long for a quiet machine before each sample (100)\n"
			     "  --json        print JSON for programs");
		if (c == 'h' || c == '?')
			exit(c == 'h' ? 0 : 2);
	}
	if (optind < argc)
		measure_fail("'%s' is too much; see --help", argv[optind]);
}

static void raise_open_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0) {
		l.rlim_cur = l.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &l);
	}
}

/* Fills `boxes` and ends them again; on the way each level is measured, and at the top the memory. */
static void measure_engine(struct bench *b, struct level *levels, unsigned n_levels, struct memory *m,
			   const struct options *o)
{
	struct method *peer = o->peers ? method_find("bwrap") : NULL;
	struct engine_box *boxes = calloc(o->live, sizeof(*boxes));
	pid_t *pids = calloc(o->live, sizeof(*pids));
	unsigned live = 0;

	if (!boxes || !pids)
		measure_fail("out of memory");
	if (peer && peer->prepare(b, peer))
		peer = NULL;
	for (int i = 0; i < WARM_UP; i++) {
		create(b->engine, &boxes[0]);
		engine_end(&boxes[0]);
	}
	begin_memory(m, "engine", o->live);
	for (unsigned i = 0; i < n_levels; i++) {
		while (live + 1 < levels[i].live)
			create(b->engine, &boxes[live++]);
		measure_level(b, peer, &levels[i], o);
	}
	create(b->engine, &boxes[live++]);
	for (unsigned i = 0; i < live; i++)
		pids[i] = boxes[i].box.warden.pid;
	top_memory(m, pids);
	while (live)
		engine_end(&boxes[--live]);
	end_memory(m);
	free(boxes);
	free(pids);
}

int main(int argc, char **argv)
{
	static struct bench b = { .creel = BENCH_CREEL, .warden = BENCH_WARDEN, .payload = BENCH_PAYLOAD };
	static struct level levels[LEVELS_MAX];
	struct options o = { .live = 1000, .samples = 50, .peers = 100, .settle_ms = 100 };
	struct memory memory[4]; /* of ours, of no walls, of the programs */
	unsigned n_levels, n_memory = 1;

	take_options(argc, argv, &o);
	raise_open_files();
	bench_open(&b);
	b.engine = engine_open(b.warden, b.workspace, "idle");
	n_levels = make_levels(levels, o.live);
	/* First the few: what a thousand leave free in the kernel's caches would seem to make them cheap. */
	if (geteuid() == 0 && o.peers)
		n_memory += measure_peers(&b, &o, &memory[1]);
	measure_engine(&b, levels, n_levels, &memory[0], &o);
	for (unsigned i = 0; i < n_memory; i++)
		memory[i].own_kib = n_memory > 1 ? memory[i].all_kib - memory[1].all_kib : NAN;
	if (o.json) {
		print_json(levels, n_levels, memory, n_memory);
	} else {
		printf("%s\n", measure_machine());
		print_levels(levels, n_levels);
		if (memory[0].has_user)
			print_memory(memory, n_memory);
		if (n_memory > 1)
			print_memory_goals(&memory[0]);
		if (!memory[0].has_user)
			printf("memory: only root may look at a warden's\n");
	}
	bench_close(&b);
	for (unsigned i = 0; i < n_levels; i++) {
		samples_done(&levels[i].create);
		samples_done(&levels[i].both);
		samples_done(&levels[i].peer);
	}
	return 0;
}
