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
 * Whoever has been killed runs no instruction of its own any more. How long the kernel takes to put its namespaces away is not
 * ours to say, and on a machine with much else to do it is longer than that second: it begins when that is done.
 *
 * Every process that loses its parent becomes a child of ours, so none is overlooked.
 */
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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
#define DYING_MS 20000
#define EXITING 0x4u /* PF_EXITING, in the flags of /proc/PID/stat */
#define KILLED (1ull << (SIGKILL - 1))

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

/* The system call that somebody has stopped in, and its first argument for as long as it is not over. */
static long call_of(pid_t pid, unsigned long long *first)
{
	struct user_regs_struct regs = { 0 };
	struct iovec all = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &all) < 0)
		return -1;
#if defined(__x86_64__)
	*first = regs.rdi;
	return (long)regs.orig_rax;
#else
	*first = regs.regs[0];
	return (long)regs.regs[8];
#endif
}

/* As the tasks that work beside pid 1 do, and the payload does not. */
static bool shares_files(pid_t parent)
{
	unsigned long long flags = 0;
	long call = call_of(parent, &flags);

	return call < 0 || (call == SYS_clone && flags & CLONE_FILES);
}

/* Of the warden's children the first counts: it makes others that only map users. Of pid 1's the payload. */
static void count_in(pid_t parent, pid_t child)
{
	int at = generation(parent);

	if ((at == 1 && lines > 2) || (at == 2 && shares_files(parent)))
		return;
	if (at < 0 || at + 1 == GENERATIONS)
		return;
	line[at + 1] = child;
	lines = at + 2;
}

/*
 * A child may be heard of before its parent says that there is one: it waits until then, or its first calls would not be counted. Each is heard
 * of twice, in either order.
 */
static pid_t heard[64];

static bool heard_before(pid_t child)
{
	for (size_t i = 0; i < sizeof(heard) / sizeof(heard[0]); i++)
		if (heard[i] == child) {
			heard[i] = 0;
			return true;
		}
	for (size_t i = 0; i < sizeof(heard) / sizeof(heard[0]); i++)
		if (heard[i] == 0) {
			heard[i] = child;
			return false;
		}
	(void)fprintf(stderr, "too many processes at once\n");
	exit(99);
}

static void born(pid_t parent)
{
	unsigned long child = 0;

	if (ptrace(PTRACE_GETEVENTMSG, parent, NULL, &child) < 0)
		return;
	count_in(parent, (pid_t)child);
	if (heard_before((pid_t)child))
		(void)ptrace(PTRACE_SYSCALL, (pid_t)child, NULL, 0);
}

static void shoot(pid_t at)
{
	unsigned long long first = 0;
	long call = call_of(at, &first);

	for (int i = 0; i < lines; i++)
		if (victim < 0 || line[i] == at)
			(void)kill(line[i], SIGKILL);
	printf("killed %d %d %ld\n", line[0], at, call);
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
		if (status >> 16 == PTRACE_EVENT_STOP && sig == SIGTRAP && who != 0 && !heard_before(pid))
			return false;
		if (status >> 16 != PTRACE_EVENT_EXEC && status >> 16 != PTRACE_EVENT_STOP)
			born(pid);
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

static void read_line(const char *path, const char *begin, char *text, size_t n)
{
	FILE *f = fopen(path, "re");

	while (f && fgets(text, (int)n, f) && strncmp(text, begin, strlen(begin)) != 0)
		text[0] = '\0';
	if (f)
		(void)fclose(f);
}

/* Killed, or already on its way out: it cannot do anything any more. One that has just gone counts, too. */
static bool dying(long pid)
{
	static const char *const pending[] = { "SigPnd:", "ShdPnd:" };
	char path[64], text[4096] = "";
	unsigned flags = EXITING;
	const char *at;

	(void)snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	read_line(path, "", text, sizeof(text));
	at = strrchr(text, ')');
	if (at && sscanf(at, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 && flags & EXITING)
		return true;
	(void)snprintf(path, sizeof(path), "/proc/%ld/status", pid);
	for (int i = 0; i < 2; i++) {
		text[0] = '\0';
		read_line(path, pending[i], text, sizeof(text));
		if (text[0] && strtoull(text + strlen(pending[i]), NULL, 16) & KILLED)
			return true;
	}
	return !at;
}

/* The children of a process, as text; "" for one that has gone. */
static void children_of(long pid, char *text, size_t n)
{
	char path[64];

	text[0] = '\0';
	(void)snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", pid, pid);
	read_line(path, "", text, n);
}

/* Below a process: others wait for the one that is dying, as the warden outside does for pid 1, and creel for the warden. */
static bool someone_dies(long pid, int depth)
{
	char text[1024], *word, *rest;

	children_of(pid, text, sizeof(text));
	for (word = strtok_r(text, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
		if (dying(atol(word)) || (depth > 0 && someone_dies(atol(word), depth - 1)))
			return true;
	return false;
}

/* Until the last of them has ended: a second after the kernel has nobody left to put away. */
static bool all_gone(void)
{
	long begin = now_ms(), end = begin + WAIT_MS;

	for (;; (void)usleep(1000)) {
		pid_t pid;

		while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0)
			;
		if (pid < 0 && errno == ECHILD)
			return true;
		if (now_ms() < end)
			continue;
		if (!someone_dies(getpid(), GENERATIONS) || end > begin + DYING_MS)
			return false;
		end = now_ms() + WAIT_MS;
	}
}

int main(int argc, char **argv)
{
	char left_over[1024];
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
	if (!all_gone()) {
		children_of(getpid(), left_over, sizeof(left_over));
		printf("left %s\n", left_over);
	}
	return 0;
}
