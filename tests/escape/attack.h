/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every attack program here is: a table of attempts by name, each one thing that a sandbox must not let happen. The same
 * program runs outside, where an attempt has to succeed (else the test proves nothing), and inside.
 *
 *   program NAME[=ARG[,ARG]]...     one line for each: "NAME: DONE" or "NAME: EPERM" (what the kernel said) or "NAME: SIGSYS"
 *
 * Each attempt is a process of its own and has 20 seconds. Lines that start with '#' are what an attempt found out.
 * ATTACK_PRIVATE=1 gives each a mount namespace of its own first, so that the control outside changes nothing there.
 */
#pragma once

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define ATTACK_ARGS 8
#define ATTACK_SECONDS 20

struct attempt {
	const char *name;
	int (*run)(char **argv); /* 0 = it worked, else a negative errno; missing arguments are "" */
};

/* r of a system call that says -1 and errno. */
static inline int outcome(long r)
{
	return r < 0 ? -errno : 0;
}

static inline void attack_private(void)
{
	if (!getenv("ATTACK_PRIVATE"))
		return;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		perror("ATTACK_PRIVATE");
		_exit(99);
	}
}

/* A word is changed in place: NAME '\0' ARG '\0' ARG. */
static inline void attack_cut(char *word, char **argv)
{
	static char none[1];

	for (int i = 0; i < ATTACK_ARGS; i++)
		argv[i] = none;
	word = strchr(word, '=');
	for (int i = 0; word && i < ATTACK_ARGS; i++) {
		*word++ = '\0';
		argv[i] = word;
		word = strchr(word, ',');
	}
}

static inline void attack_one(const struct attempt *a, char **argv, int *result)
{
	int status = 0;
	pid_t pid;

	*result = -ECANCELED;
	(void)fflush(stdout);
	pid = fork();
	if (pid == 0) {
		(void)alarm(ATTACK_SECONDS);
		attack_private();
		*result = a->run(argv);
		(void)fflush(stdout);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		printf("%s: no fork\n", a->name);
		return;
	}
	if (WIFSIGNALED(status))
		printf("%s: SIG%s\n", a->name, sigabbrev_np(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		printf("%s: exit %d\n", a->name, WEXITSTATUS(status));
	else
		printf("%s: %s\n", a->name, *result == 0 ? "DONE" : strerrorname_np(-*result));
}

static inline int attack_main(int argc, char **argv, const struct attempt *table)
{
	int *result = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (result == MAP_FAILED)
		return 99;
	for (int i = 1; i < argc; i++) {
		const struct attempt *a = table;
		char *args[ATTACK_ARGS];

		attack_cut(argv[i], args);
		while (a->name && strcmp(a->name, argv[i]) != 0)
			a++;
		if (!a->name) {
			fprintf(stderr, "%s: no attempt '%s'\n", argv[0], argv[i]);
			return 98;
		}
		attack_one(a, args, result);
	}
	return 0;
}
