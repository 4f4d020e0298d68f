/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call that does not want to end with itself, or wants to hold up pid 1 or look into other calls. Each way in its own word; they
 * can be combined:   linger WORD...   The last word says what it does then. The mark of the test is among the arguments, so that the
 * host can count who is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void nap(void)
{
	for (;;)
		(void)pause();
}

/* In a process of its own, whose parent has gone. */
static void daemonize(void)
{
	if (fork())
		_exit(0);
	(void)setsid();
	if (fork())
		_exit(0);
}

/* A brother of ours: pid 1's child at once, without anybody having died. */
static void brother(void)
{
	if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL) > 0)
		_exit(0);
}

static void hide(void)
{
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	(void)prctl(PR_SET_NAME, "nobody", 0, 0, 0);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* Every limit that can be set, up or down. */
static void lower(void)
{
	for (int i = 0; i < 16; i++) {
		struct rlimit l = { 0, 0 }, up = { RLIM_INFINITY, RLIM_INFINITY };

		if (i == RLIMIT_LOCKS || i == RLIMIT_RTTIME) {
			(void)setrlimit((__rlimit_resource_t)i, &up);
			(void)setrlimit((__rlimit_resource_t)i, &l);
		}
	}
}

/* Always young: a child, and gone. */
static void race(void)
{
	for (;;) {
		pid_t pid = fork();

		if (pid > 0)
			_exit(0);
		if (pid == 0)
			(void)setsid();
	}
}

/* As many as may be, and a new one for each that goes. */
static void bomb(void)
{
	for (;;)
		(void)fork();
}

static void deaf(void)
{
	for (int sig = 1; sig < 32; sig++)
		(void)signal(sig, SIG_IGN);
}

/* Stops whatever it may, for so many seconds. */
static void freeze(void)
{
	for (long end = time(NULL) + 4; time(NULL) < end;)
		for (int i = 0; i < 100; i++) {
			(void)kill(-1, SIGSTOP);
			(void)kill(1, SIGSTOP);
		}
	_exit(0);
}

static void queue(void)
{
	siginfo_t info = { .si_code = SI_QUEUE };

	for (int i = 0; i < 200000; i++)
		(void)syscall(SYS_rt_sigqueueinfo, 1, SIGRTMIN, &info);
	for (int sig = 1; sig < 32; sig++)
		if (sig != SIGTERM)
			(void)kill(1, sig);
	_exit(0);
}

static void flood(void)
{
	for (int i = 0; i < 2000; i++)
		if (fork() == 0)
			nap();
	_exit(0);
}

/* Who can be read: the mark of another call's environment, descriptors, memory. Prints what it could. */
static void look(void)
{
	static const char *const files[] = { "environ", "mem", "maps", "fd", "cwd", "root", "exe", "auxv" };
	static char path[64], text[65536];

	for (int pid = 1; pid < 2000; pid++)
		for (size_t i = 0; pid != getpid() && i < sizeof(files) / sizeof(files[0]); i++) {
			ssize_t n;
			int fd;

			(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
			fd = open(path, O_RDONLY | O_CLOEXEC);
			n = fd < 0 ? -1 : read(fd, text, sizeof(text));
			if (fd >= 0 && (n >= 0 || errno == EISDIR || errno == EIO))
				printf("%s %s\n", pid == 1 ? "warden" : "call", files[i]);
			if (n > 0 && memmem(text, (size_t)n, "SECRET=hunter2", 14))
				puts("secret"), (void)fflush(stdout);
			if (fd >= 0)
				(void)close(fd);
		}
	(void)fflush(stdout);
	_exit(0);
}

/* A socket among our descriptors, or one that can be opened, would be the warden's. */
static void sockets(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		int type;
		socklen_t n = sizeof(type);

		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0)
			puts("socket");
	}
	for (int fd = 0; fd < 64; fd++) {
		char path[64], target[64];

		(void)snprintf(path, sizeof(path), "/proc/1/fd/%d", fd);
		if (open(path, O_RDWR | O_CLOEXEC) >= 0 || readlink(path, target, sizeof(target)) >= 0)
			puts("fd of pid 1");
	}
	(void)fflush(stdout);
	_exit(0);
}

static const struct {
	const char *name;
	void (*act)(void);
} words[] = {
	{ "daemon", daemonize }, { "brother", brother }, { "hide", hide },       { "lower", lower },
	{ "race", race },        { "deaf", deaf },       { "freeze", freeze },   { "queue", queue },
	{ "flood", flood },      { "look", look },       { "sockets", sockets }, { "nap", nap },
	{ "bomb", bomb },
};

int main(int argc, char **argv)
{
	char host[65] = "";

	/* Outside it would stop, or flood, whoever else is there. */
	if (gethostname(host, sizeof(host) - 1) < 0 || strcmp(host, "box") != 0)
		return 99;
	for (int i = 1; i < argc; i++)
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
			if (strcmp(argv[i], words[k].name) == 0)
				words[k].act();
	return 0;
}
