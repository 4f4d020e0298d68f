/* SPDX-License-Identifier: Apache-2.0 */
/*
 * killat VICTIM N COMMAND [ARGUMENT...]: runs the command, and kills one process of it with SIGKILL at its N-th stop: every
 * system call is two, one before and one after it. VICTIM: 0 = the command itself, 1 = its child, 2 = the child of that, ...
 * or "all" = whoever lives, at the N-th stop of anybody.
 *
 *   "killed FIRST PID CALL"    the command, who was killed, and the number of the system call
 *   "ended STATUS"             it made fewer than N stops
 *   "left PID..."              these lived on for more than a second after the kill: that is what must not be
 *
 * Every process that loses its parent becomes a child of ours, so none is overlooked.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OPTIONS                                                                                   \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | \
	 PTRACE_O_TRACEEXEC)
#define GENERATIONS 4
#define SYSCALL_STOP (SIGTRAP | 0x80)
#define WAIT_MS 1000
#define RUN_SECONDS 60

static pid_t line[GENERATIONS]; /* the command, its child, the child of that, ... */
static int lines, victim;       /* victim < 0: all */
static long left;

/* Seized, not attached to: no process is ever sent a signal by the tracer, and what is let go runs on. */
static void start(char **argv)
{
	int gate[2], status;
	pid_t pid;
	char go = 0;

	if (pipe(gate) < 0)
		_exit(99);
	pid = fork();
	if (pid == 0) {
		(void)close(gate[1]);
		(void)!read(gate[0], &go, 1);
		(void)close(gate[0]);
		execv(argv[0], argv);
		perror(argv[0]);
		_exit(99);
	}
	if (pid < 0 || ptrace(PTRACE_SEIZE, pid, NULL, OPTIONS) < 0 ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, 0) < 0 || waitpid(pid, &status, 0) != pid ||
	    ptrace(PTRACE_SYSCALL, pid, NULL, 0) < 0) {
		perror("trace");
		_exit(99);
	}
	line[lines++] = pid;
	(void)close(gate[0]);
	(void)close(gate[1]);
}

static int generation(pid_t pid)
{
	for (int i = 0; i < lines; i++)
		if (line[i] == pid)
			return i;
	return -1;
}

/* Of the warden's children the first counts: it makes others that only map users. Of pid 1's the one that it waits for: the payload. */
static void born(pid_t parent, int event)
{
	int at = generation(parent);
	unsigned long child = 0;

	if ((at == 1 && lines > 2) || (at == 2 && event != PTRACE_EVENT_VFORK))
		return;
	if (at < 0 || at + 1 == GENERATIONS || ptrace(PTRACE_GETEVENTMSG, parent, NULL, &child) < 0)
		return;
	line[at + 1] = (pid_t)child;
	lines = at + 2;
}

static void shoot(pid_t at)
{
	struct user_regs_struct regs = { 0 };

	(void)ptrace(PTRACE_GETREGS, at, NULL, &regs);
	for (int i = 0; i < lines; i++)
		if (victim < 0 || line[i] == at)
			(void)kill(line[i], SIGKILL);
	printf("killed %d %d %ld\n", line[0], at, (long)regs.orig_rax);
}

/* true: the shot was fired. Whoever is traced and lives on is let go when we end. */
static bool stopped(pid_t pid, int status)
{
	int sig = WSTOPSIG(status), who = generation(pid);

	if (sig == SYSCALL_STOP) {
		if ((victim < 0 ? who >= 0 : who == victim) && --left == 0) {
			shoot(pid);
			return true;
		}
		sig = 0;
	} else if (status >> 16) {
		if (status >> 16 != PTRACE_EVENT_EXEC && status >> 16 != PTRACE_EVENT_STOP)
			born(pid, status >> 16);
		sig = 0;
	}
	(void)ptrace(PTRACE_SYSCALL, pid, NULL, sig);
	return false;
}

static int trace(char **argv)
{
	int status;

	start(argv);
	for (;;) {
		pid_t pid = waitpid(-1, &status, __WALL);

		if (pid < 0)
			return 0;
		if (WIFSTOPPED(status) && stopped(pid, status))
			return 0;
		if (!WIFSTOPPED(status) && pid == line[0]) {
			printf("ended %d\n",
			       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
			return 0;
		}
	}
}

static long now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Until the last of them has ended. */
static bool all_gone(void)
{
	for (long end = now_ms() + WAIT_MS; now_ms() < end; (void)usleep(1000)) {
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0)
			;
		if (pid < 0 && errno == ECHILD)
			return true;
	}
	return false;
}

static void list_children(void)
{
	char path[64], text[4096] = "";
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "r");
	if (!f || !fgets(text, sizeof(text), f))
		(void)snprintf(text, sizeof(text), "somebody");
	printf("left %s\n", text);
	if (f)
		(void)fclose(f);
}

int main(int argc, char **argv)
{
	pid_t tracer;
	int status = 0;

	if (argc < 4 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return 99;
	victim = strcmp(argv[1], "all") == 0 ? -1 : atoi(argv[1]);
	left = atol(argv[2]);
	(void)setvbuf(stdout, NULL, _IONBF, 0);
	tracer = fork();
	if (tracer == 0) {
		(void)alarm(RUN_SECONDS);
		_exit(trace(argv + 3));
	}
	if (waitpid(tracer, &status, 0) != tracer || status != 0)
		return printf("the tracer failed: %#x\n", (unsigned)status), 99;
	if (!all_gone())
		list_children();
	return 0;
}
