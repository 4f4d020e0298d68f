/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must be fast to win: the other half of a race.
 *
 *   race swap A B          exchanges the two names, again and again
 *   race exe SECONDS       opens every /proc/PID/exe for writing, again and again; says how often that worked
 *   race link A B NAME     makes NAME point at A, at B, at A, ...
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXCHANGE 2

static int swap(const char *a, const char *b)
{
	for (;;)
		if (syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, EXCHANGE) < 0)
			return perror("exchange"), 1;
}

static int exe(int seconds)
{
	time_t end = time(NULL) + seconds;
	long opened = 0, tried = 0;

	while (time(NULL) < end) {
		DIR *d = opendir("/proc");
		const struct dirent *e;

		while (d && (e = readdir(d))) {
			char path[300];
			int fd;

			if (e->d_name[0] < '0' || e->d_name[0] > '9')
				continue;
			(void)snprintf(path, sizeof(path), "/proc/%s/exe", e->d_name);
			fd = open(path, O_WRONLY);
			tried++;
			opened += fd >= 0;
			(void)close(fd);
		}
		(void)closedir(d);
	}
	printf("tried %ld opened %ld\n", tried, opened);
	return tried > 0 ? 0 : 1;
}

static int relink(const char *a, const char *b, const char *name)
{
	char next[4096];

	(void)snprintf(next, sizeof(next), "%s.next", name);
	for (int i = 0;; i++) {
		(void)unlink(next);
		if (symlink(i % 2 ? a : b, next) < 0 || rename(next, name) < 0)
			return perror("relink"), 1;
	}
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "swap") == 0)
		return swap(argv[2], argv[3]);
	if (argc == 3 && strcmp(argv[1], "exe") == 0)
		return exe(atoi(argv[2]));
	if (argc == 5 && strcmp(argv[1], "link") == 0)
		return relink(argv[2], argv[3], argv[4]);
	return 99;
}
