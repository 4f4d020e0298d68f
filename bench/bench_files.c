/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of a warm sandbox read and written through its clerk, as the file tools do it, beside the same done by this very process on
 * the host's side, and beside `docker exec`. Every round has each once, in random order; what counts are the ratios.
 */
#include "methods.h"

#include "backend/clerk.h"
#include "backend/files_wire.h"

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
#define CHUNK ((size_t)1 << 20)
#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

struct way {
	const char *name, *what;
	double (*once)(struct way *w);
	const char *file;
	size_t size;
	unsigned flags; /* FILES_SYNC */
	unsigned every; /* of so many rounds */
	bool missing;
	struct samples samples;
};

static struct files *files;
static char *room; /* CHUNK bytes */
static const char *docker_host, *docker_container;

static void read_all(int fd, struct way *w)
{
	size_t n = 0;
	ssize_t got = 1;

	while (n < w->size && (got = read(fd, room, CHUNK)) > 0)
		n += (size_t)got;
	if (n != w->size)
		measure_fail("%s: %zu bytes: %s", w->file, n, strerror(errno));
	(void)close(fd);
}

static double direct_read(struct way *w)
{
	double start = measure_now_us();
	int fd = open(w->file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		measure_fail("%s: %s", w->file, strerror(errno));
	read_all(fd, w);
	return measure_now_us() - start;
}

static double clerk_read(struct way *w)
{
	double start = measure_now_us();
	struct files_stat st;
	int fd = files->ops->open(files, w->file, 0, 0, &st);

	if (fd < 0)
		measure_fail("%s: %s", w->file, strerror(-fd));
	read_all(fd, w);
	return measure_now_us() - start;
}

/* As everybody does it: beside it, and renamed. */
static double direct_write(struct way *w)
{
	double start = measure_now_us();
	int fd = open("new.tmp", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), dir;

	if (fd < 0 || fd_write_all(fd, (struct str){ .p = room, .n = w->size }) < 0 ||
	    (w->flags & FILES_SYNC && fsync(fd) < 0) || close(fd) < 0 || rename("new.tmp", w->file) < 0)
		measure_fail("%s: %s", w->file, strerror(errno));
	if (w->flags & FILES_SYNC) {
		dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0 || fsync(dir) < 0)
			measure_fail("%s: %s", w->file, strerror(errno));
		(void)close(dir);
	}
	return measure_now_us() - start;
}

static double clerk_write(struct way *w)
{
	const struct files_put what = { .content = { .p = room, .n = w->size }, .mode = 0666 };
	double start = measure_now_us();
	bool existed = false;
	int r = files->ops->put(files, w->file, FILES_PARENTS | w->flags, &what, &existed);

	if (r < 0)
		measure_fail("%s: %s", w->file, strerror(-r));
	return measure_now_us() - start;
}

static double docker_cat(struct way *w)
{
	const char *const words[] = { "docker",         "-H",   docker_host, "exec",
				      docker_container, "/cat", "/small",    NULL };
	char *const *argv;
	posix_spawn_file_actions_t quiet;
	double start, took;
	int status = 0;
	pid_t pid;

	(void)w;
	memcpy(&argv, &(const void *){ words }, sizeof(argv));
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	start = measure_now_us();
	if (posix_spawnp(&pid, words[0], &quiet, NULL, argv, environ) != 0 ||
	    waitpid(pid, &status, 0) != pid || status != 0)
		measure_fail("docker exec: status %d: %s", status, strerror(errno));
	took = measure_now_us() - start;
	posix_spawn_file_actions_destroy(&quiet);
	return took;
}

static struct way ways[] = {
	{ "read-1k", "open, read, close", direct_read, "small", KIB, .every = 1 },
	{ "clerk-read-1k", "the same through the clerk", clerk_read, "small", KIB, .every = 1 },
	{ "read-1m", "", direct_read, "medium", MIB, .every = 1 },
	{ "clerk-read-1m", "", clerk_read, "medium", MIB, .every = 1 },
	{ "read-100m", "", direct_read, "large", 100 * MIB, .every = 10 },
	{ "clerk-read-100m", "", clerk_read, "large", 100 * MIB, .every = 10 },
	{ "write-1k", "a new file, renamed over the old one", direct_write, "w1", KIB, .every = 1 },
	{ "clerk-write-1k", "the same through the clerk", clerk_write, "w2", KIB, .every = 1 },
	{ "write-1m", "", direct_write, "w3", MIB, .every = 2 },
	{ "clerk-write-1m", "", clerk_write, "w4", MIB, .every = 2 },
	{ "sync-1k", "write-1k with fsync of file and directory", direct_write, "w5", KIB, FILES_SYNC,
	  .every = 4 },
	{ "clerk-sync-1k", "", clerk_write, "w6", KIB, FILES_SYNC, .every = 4 },
	{ "sync-1m", "", direct_write, "w7", MIB, FILES_SYNC, .every = 8 },
	{ "clerk-sync-1m", "", clerk_write, "w8", MIB, FILES_SYNC, .every = 8 },
	{ "docker-cat", "docker exec cat of 1 KiB", docker_cat, "small", KIB, .every = 10 },
};
#define N_WAYS (sizeof(ways) / sizeof(ways[0]))

static struct way *way(const char *name)
{
	for (size_t i = 0; i < N_WAYS; i++)
		if (strcmp(ways[i].name, name) == 0)
			return &ways[i];
	abort();
}

static void make_file(const char *name, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	for (size_t n = 0; fd >= 0 && n < size; n += CHUNK)
		if (fd_write_all(fd, (struct str){ .p = room, .n = size < CHUNK ? size : CHUNK }) < 0)
			measure_fail("%s: %s", name, strerror(errno));
	if (fd < 0 || fsync(fd) < 0 || close(fd) < 0)
		measure_fail("%s: %s", name, strerror(errno));
}

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

		if (w->missing || round % w->every)
			continue;
		measure_settle(settle_ms);
		samples_add(&w->samples, w->once(w));
	}
}

static double p50(const char *name)
{
	return samples_quantile(&way(name)->samples, 0.5);
}

static void print_all(void)
{
	static const struct {
		const char *of, *to;
		double at_most;
	} goals[] = {
		{ "clerk-read-1k", "read-1k", 4 },        { "clerk-read-1m", "read-1m", 1.3 },
		{ "clerk-read-100m", "read-100m", 1.15 }, { "clerk-write-1k", "write-1k", 1.5 },
		{ "clerk-write-1m", "write-1m", 1.5 },    { "clerk-sync-1k", "sync-1k", 1.5 },
		{ "clerk-sync-1m", "sync-1m", 1.5 },
	};
	double docker = p50("docker-cat") / p50("clerk-read-1k");

	printf("%s\n%-16s %6s %10s %10s %10s\n", measure_machine(), "", "n", "min us", "p50 us", "p99 us");
	for (size_t i = 0; i < N_WAYS; i++) {
		struct samples *s = &ways[i].samples;

		if (s->n)
			printf("%-16s %6zu %10.1f %10.1f %10.1f  %s\n", ways[i].name, s->n,
			       samples_quantile(s, 0), samples_quantile(s, 0.5), samples_quantile(s, 0.99),
			       ways[i].what);
	}
	for (size_t i = 0; i < sizeof(goals) / sizeof(goals[0]); i++) {
		double r = p50(goals[i].of) / p50(goals[i].to);

		printf("%s / %s, p50: %.2f (aim: at most %g%s)\n", goals[i].of, goals[i].to, r,
		       goals[i].at_most, r <= goals[i].at_most ? "" : "; missed");
	}
	if (!isnan(docker))
		printf("docker-cat / clerk-read-1k, p50: %.0f (aim: at least 500%s)\n", docker,
		       docker >= 500 ? "" : "; missed");
}

static struct files_wire *open_clerk(struct warm *box)
{
	struct files_wire *wire = NULL;
	struct err e = { 0 };
	uint64_t id;
	int file = open(BENCH_CLERK, O_RDONLY | O_CLOEXEC), program = -1, socket = -1, r;

	if (sandbox_seal_program(file, "creel-clerk", &program, &e) < 0 ||
	    clerk_start(box, program, STR("/workspace"), 022, &socket, &id, &e) < 0)
		measure_fail("%s", e.msg);
	r = files_wire_open(socket, 0, &wire);
	if (r < 0)
		measure_fail("clerk: %s", strerror(-r));
	(void)close(program);
	(void)close(file);
	return wire;
}

enum { OPT_ROUNDS = 256, OPT_SETTLE, OPT_HOST, OPT_CONTAINER, OPT_HELP };
static const struct option longs[] = { { "rounds", required_argument, NULL, OPT_ROUNDS },
				       { "settle", required_argument, NULL, OPT_SETTLE },
				       { "docker-host", required_argument, NULL, OPT_HOST },
				       { "container", required_argument, NULL, OPT_CONTAINER },
				       { "help", no_argument, NULL, OPT_HELP },
				       { NULL, 0, NULL, 0 } };

static void take_options(int argc, char **argv, unsigned *rounds, unsigned *settle_ms)
{
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		if (c == OPT_ROUNDS)
			*rounds = measure_number("--rounds", optarg, 1, 100000);
		else if (c == OPT_SETTLE)
			*settle_ms = measure_number("--settle", optarg, 0, 10000);
		else if (c == OPT_HOST)
			docker_host = optarg;
		else if (c == OPT_CONTAINER)
			docker_container = optarg;
		else {
			puts("Usage: bench_files [--rounds N (400)] [--settle MS (100)] [--docker-host URL --container NAME]");
			exit(c == OPT_HELP ? 0 : 2);
		}
	}
}

int main(int argc, char **argv)
{
	static struct bench b = { .creel = BENCH_CREEL, .warden = BENCH_WARDEN, .payload = BENCH_PAYLOAD };
	unsigned rounds = 400, settle_ms = 100;
	static struct warm box;
	struct files_wire *wire;
	struct engine *engine;

	take_options(argc, argv, &rounds, &settle_ms);
	srandom((unsigned)getpid());
	bench_open(&b);
	room = malloc(CHUNK);
	if (!room)
		measure_fail("out of memory");
	memset(room, 'x', CHUNK);
	make_file("small", KIB);
	make_file("medium", MIB);
	make_file("large", 100 * MIB);
	engine = engine_open(b.warden, b.workspace, NULL);
	engine_serve(engine, &box);
	wire = open_clerk(&box);
	files = files_wire_files(wire);
	way("docker-cat")->missing = !docker_host || !docker_container;
	for (size_t i = 0; i < N_WAYS; i++)
		for (unsigned k = 0; !ways[i].missing && k < (ways[i].every == 1 ? WARM_UP : 2); k++)
			(void)ways[i].once(&ways[i]);
	for (unsigned i = 0; i < rounds; i++)
		one_round(i, settle_ms);
	print_all();
	wire = files_wire_close(wire);
	warm_done(&box);
	engine = engine_close(engine);
	bench_close(&b);
	free(room);
	for (size_t i = 0; i < N_WAYS; i++)
		samples_done(&ways[i].samples);
	return 0;
}
