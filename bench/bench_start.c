/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From exec to exit: creel explain beside a dynamic `true`, in turns, so that whatever else the machine does hits both.
 *
 *	bench_start CREEL [ARG...]	(default: explain --no-default-config)
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 400

extern char **environ;

struct run {
	char *const *argv;
	double us[ROUNDS];
	long max_rss_kb;
};

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void once(struct run *r, int i, posix_spawn_file_actions_t *quiet)
{
	double start = now_us();
	struct rusage u;
	int status;
	pid_t pid;

	if (posix_spawn(&pid, r->argv[0], quiet, NULL, r->argv, environ) != 0 ||
	    wait4(pid, &status, 0, &u) != pid || !WIFEXITED(status) ||
	    (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 126)) {
		fprintf(stderr, "bench_start: '%s' did not run\n", r->argv[0]);
		exit(1);
	}
	r->us[i] = now_us() - start;
	if (u.ru_maxrss > r->max_rss_kb)
		r->max_rss_kb = u.ru_maxrss;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(struct run *r)
{
	qsort(r->us, ROUNDS, sizeof(r->us[0]), by_value);
	return r->us[ROUNDS / 2];
}

int main(int argc, char **argv)
{
	static char path[] = "/bin/true", *const nothing[] = { path, NULL };
	static struct run creel, base = { .argv = nothing };
	posix_spawn_file_actions_t quiet;
	double c, b;

	if (argc < 2)
		return 2;
	creel.argv = argv + 1;
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	for (int i = 0; i < ROUNDS; i++) {
		once(&base, i, &quiet);
		once(&creel, i, &quiet);
	}
	posix_spawn_file_actions_destroy(&quiet);
	b = median(&base);
	c = median(&creel);
	printf("exec to exit, median of %d: true %.0f us, creel %.0f us: %.2f x (aim: at most 3 x)\n", ROUNDS,
	       b, c, c / b);
	printf("memory: true %ld kB, creel %ld kB (aim: under 8192 kB)\n", base.max_rss_kb, creel.max_rss_kb);
	return 0;
}
