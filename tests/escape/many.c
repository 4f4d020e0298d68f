/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many N PARALLEL COMMAND [ARGUMENT...] [+ ARGUMENT... [+ ...]]: runs the command N times, so many at once, with the sets of
 * arguments in turn; each must end with 0. Then says how many processes have lost their parent and come to us, and how many
 * file descriptors more than before we have ourselves.
 */
#include <dirent.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SETS_MAX 8
#define ARGS_MAX 64

extern char **environ;
static char *sets[SETS_MAX][ARGS_MAX + 2];
static int n_sets;

/* Every set begins with the command. */
static int cut(char *command, char **argv)
{
	int n = 1;

	sets[0][0] = command;
	for (n_sets = 1; *argv; argv++) {
		if (strcmp(*argv, "+") != 0) {
			if (n == ARGS_MAX)
				return -1;
			sets[n_sets - 1][n++] = *argv;
			continue;
		}
		if (n_sets == SETS_MAX)
			return -1;
		sets[n_sets++][0] = command;
		n = 1;
	}
	return 0;
}

static long reaped, failed, running;

static bool reap(void)
{
	int status;

	if (waitpid(-1, &status, 0) < 0)
		return false;
	reaped++;
	running--;
	if (status != 0 && failed++ == 0)
		fprintf(stderr, "the first that failed: %#x\n", (unsigned)status);
	return true;
}

static int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = -3; /* ., .. and the directory itself */

	while (d && readdir(d))
		n++;
	if (d)
		(void)closedir(d);
	return n;
}

int main(int argc, char **argv)
{
	long n = argc > 3 ? atol(argv[1]) : 0;
	int before = count_fds();

	if (n <= 0 || cut(argv[3], argv + 4) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return 99;
	for (long i = 0; i < n; i++) {
		pid_t pid;
		int r;

		if (running >= atol(argv[2]))
			(void)reap();
		r = posix_spawn(&pid, argv[3], NULL, NULL, sets[i % n_sets], environ);
		if (r != 0)
			return fprintf(stderr, "spawn: %s\n", strerror(r)), 99;
		running++;
	}
	while (reap())
		;
	printf("ran %ld failed %ld orphans %ld descriptors %d\n", n, failed, reaped - n,
	       count_fds() - before);
	return failed != 0;
}
