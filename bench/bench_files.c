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
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK ((size_t)1 << 20)
#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

#define BURST 64u

struct file {
	const char *name;
	size_t size;
	unsigned flags; /* FILES_SYNC */
};

static struct files *files;
static char *room; /* CHUNK bytes */
static const char *docker_host, *docker_container;

static void read_all(int fd, const struct file *f)
{
	size_t n = 0;
	ssize_t got = 1;

	while (n < f->size && (got = read(fd, room, CHUNK)) > 0)
		n += (size_t)got;
	if (n != f->size)
		measure_fail("%s: %zu bytes: %s", f->name, n, strerror(errno));
	(void)close(fd);
}

static double direct_read(const struct way *w)
{
	const struct file *f = w->with;
	double start = measure_now_us();
	int fd = open(f->name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		measure_fail("%s: %s", f->name, strerror(errno));
	read_all(fd, f);
	return measure_now_us() - start;
}

static double clerk_read(const struct way *w)
{
	const struct file *f = w->with;
	double start = measure_now_us();
	struct files_content c;
	int r = files->ops->get(files, f->name, 0, &c);

	if (r < 0)
		measure_fail("%s: %s", f->name, strerror(-r));
	if (!c.p)
		read_all(c.fd, f);
	else if (c.n != f->size)
		measure_fail("%s: %zu bytes", f->name, c.n);
	free(c.p);
	return measure_now_us() - start;
}

/* One after the other, without a pause: what one of them takes. */
static double direct_burst(const struct way *w)
{
	double sum = 0;

	for (unsigned i = 0; i < BURST; i++)
		sum += direct_read(w);
	return sum / BURST;
}

static double clerk_burst(const struct way *w)
{
	double sum = 0;

	for (unsigned i = 0; i < BURST; i++)
		sum += clerk_read(w);
	return sum / BURST;
}

/* As everybody does it: beside it, and renamed. */
static double direct_write(const struct way *w)
{
	const struct file *f = w->with;
	double start = measure_now_us();
	int fd = open("new.tmp", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), dir;

	if (fd < 0 || fd_write_all(fd, (struct str){ .p = room, .n = f->size }) < 0 ||
	    (f->flags & FILES_SYNC && fsync(fd) < 0) || close(fd) < 0 || rename("new.tmp", f->name) < 0)
		measure_fail("%s: %s", f->name, strerror(errno));
	if (f->flags & FILES_SYNC) {
		dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0 || fsync(dir) < 0)
			measure_fail("%s: %s", f->name, strerror(errno));
		(void)close(dir);
	}
	return measure_now_us() - start;
}

static double clerk_write(const struct way *w)
{
	const struct file *f = w->with;
	const struct files_put what = { .content = { .p = room, .n = f->size }, .mode = 0666 };
	double start = measure_now_us();
	bool existed = false;
	int r = files->ops->put(files, f->name, FILES_PARENTS | f->flags, &what, &existed);

	if (r < 0)
		measure_fail("%s: %s", f->name, strerror(-r));
	return measure_now_us() - start;
}

static double docker_cat(const struct way *w)
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

static const struct file small = { "small", KIB, 0 }, medium = { "medium", MIB, 0 },
			 large = { "large", 100 * MIB, 0 }, w1 = { "w1", KIB, 0 }, w2 = { "w2", KIB, 0 },
			 w3 = { "w3", MIB, 0 }, w4 = { "w4", MIB, 0 }, w5 = { "w5", KIB, FILES_SYNC },
			 w6 = { "w6", KIB, FILES_SYNC }, w7 = { "w7", MIB, FILES_SYNC },
			 w8 = { "w8", MIB, FILES_SYNC };

static struct way table[] = {
	{ "read-1k", "open, read, close", direct_read, &small },
	{ "clerk-read-1k", "the same through the clerk", clerk_read, &small },
	{ "paused-1k", "read-1k, after 3 ms in which nothing was done", direct_read, &small, .paused = true },
	{ "clerk-paused-1k", "clerk-read-1k, after as long", clerk_read, &small, .paused = true },
	{ "burst-1k", "one of 64 in a row", direct_burst, &small, 2 },
	{ "clerk-burst-1k", "the same through the clerk", clerk_burst, &small, 2 },
	{ "read-1m", "", direct_read, &medium },
	{ "clerk-read-1m", "", clerk_read, &medium },
	{ "read-100m", "", direct_read, &large, 10 },
	{ "clerk-read-100m", "", clerk_read, &large, 10 },
	{ "write-1k", "a new file, renamed over the old one", direct_write, &w1 },
	{ "clerk-write-1k", "the same through the clerk", clerk_write, &w2 },
	{ "write-1m", "", direct_write, &w3, 2 },
	{ "clerk-write-1m", "", clerk_write, &w4, 2 },
	{ "sync-1k", "write-1k with fsync of file and directory", direct_write, &w5, 4 },
	{ "clerk-sync-1k", "", clerk_write, &w6, 4 },
	{ "sync-1m", "", direct_write, &w7, 8 },
	{ "clerk-sync-1m", "", clerk_write, &w8, 8 },
	{ "docker-cat", "docker exec cat of 1 KiB", docker_cat, &small, 10 },
};
static const struct ways ways = { table, sizeof(table) / sizeof(table[0]) };

static const struct goal goals[] = {
	{ "clerk-read-1k", "read-1k", 0.5, 4 },
	{ "clerk-paused-1k", "paused-1k", 0.5, 4 },
	{ "clerk-burst-1k", "burst-1k", 0.5, 4 },
	{ "clerk-read-1m", "read-1m", 0.5, 1.3 },
	{ "clerk-read-100m", "read-100m", 0.5, 1.15 },
	{ "clerk-write-1k", "write-1k", 0.5, 1.5 },
	{ "clerk-write-1m", "write-1m", 0.5, 1.5 },
	{ "clerk-sync-1k", "sync-1k", 0.5, 1.5 },
	{ "clerk-sync-1m", "sync-1m", 0.5, 1.5 },
	{ "docker-cat", "clerk-read-1k", 0.5, 500, .at_least = true },
};

static void make_file(const char *name, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	for (size_t n = 0; fd >= 0 && n < size; n += CHUNK)
		if (fd_write_all(fd, (struct str){ .p = room, .n = size < CHUNK ? size : CHUNK }) < 0)
			measure_fail("%s: %s", name, strerror(errno));
	if (fd < 0 || fsync(fd) < 0 || close(fd) < 0)
		measure_fail("%s: %s", name, strerror(errno));
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
	way_find(ways, "docker-cat")->missing = !docker_host || !docker_container;
	ways_measure(ways, rounds, settle_ms);
	ways_print(ways, goals, sizeof(goals) / sizeof(goals[0]));
	wire = files_wire_close(wire);
	warm_done(&box);
	engine = engine_close(engine);
	bench_close(&b);
	free(room);
	ways_done(ways);
	return 0;
}
