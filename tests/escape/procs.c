/* SPDX-License-Identifier: Apache-2.0 */
/* Other processes: signals, tracing, memory; and processes that do not want to end. Numbers 26, 29 to 32 and 54. */
#include "attack.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#define NR_PIDFD_SEND_SIGNAL 424
#define NR_PIDFD_OPEN 434
#define NR_PIDFD_GETFD 438

static void nap(long ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	(void)nanosleep(&t, NULL);
}

static int pid_of(const char *text)
{
	return text[0] == 'p' ? (int)getppid() : atoi(text);
}

static int send_signal(char **argv)
{
	return outcome(kill(pid_of(argv[0]), atoi(argv[1])));
}

/* Proof by being still there to ask: a signal that pid 1 had taken would have ended us with it. */
static int kill_init(char **argv)
{
	for (int sig = 1; sig <= 64; sig++)
		if (sig != SIGTERM) /* asks it to end what it holds, which is us: that is no escape */
			(void)kill(1, sig);
	(void)argv;
	nap(100);
	return -EPERM;
}

static int tg_signal(char **argv)
{
	return outcome(syscall(SYS_tgkill, atoi(argv[0]), atoi(argv[0]), atoi(argv[1])));
}

static int queue_signal(char **argv)
{
	siginfo_t info = { .si_code = SI_QUEUE };

	return outcome(syscall(SYS_rt_sigqueueinfo, atoi(argv[0]), atoi(argv[1]), &info));
}

static int pidfd_signal(char **argv)
{
	long fd = syscall(NR_PIDFD_OPEN, atoi(argv[0]), 0);

	return fd < 0 ? -errno : outcome(syscall(NR_PIDFD_SEND_SIGNAL, fd, atoi(argv[1]), NULL, 0));
}

/* A child of ours that sleeps: what the control attacks, and what a debugger would be used on. */
static int own_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		nap(3000);
		_exit(0);
	}
	nap(20);
	return pid;
}

static int target(const char *text)
{
	return text[0] == 'c' ? own_child() : pid_of(text);
}

static int done_with(const char *text, int pid, int r)
{
	if (text[0] == 'c') {
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
	}
	return r;
}

static int do_seize(char **argv)
{
	int pid = target(argv[0]);

	return done_with(argv[0], pid, outcome(ptrace(PTRACE_SEIZE, pid, 0, 0)));
}

static int do_attach(char **argv)
{
	int pid = target(argv[0]);

	return done_with(argv[0], pid, outcome(ptrace(PTRACE_ATTACH, pid, 0, 0)));
}

static int read_memory(char **argv)
{
	int pid = target(argv[0]);
	char ours[8], *theirs = (char *)&environ; /* the same program: the address is good there too */
	struct iovec l = { ours, 8 }, r = { theirs, 8 };

	return done_with(argv[0], pid, outcome(process_vm_readv(pid, &l, 1, &r, 1, 0)));
}

static int write_memory(char **argv)
{
	int pid = target(argv[0]);
	static long word;
	struct iovec l = { &word, 8 }, r = { &word, 8 };

	return done_with(argv[0], pid, outcome(process_vm_writev(pid, &l, 1, &r, 1, 0)));
}

static int open_in_proc(const char *text, const char *name, int flags)
{
	int pid = target(text), fd, r;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, flags);
	r = outcome(fd);
	return done_with(text, pid, r);
}

static int open_memory(char **argv)
{
	return open_in_proc(argv[0], "mem", O_RDWR);
}

static int open_environ(char **argv)
{
	return open_in_proc(argv[0], "environ", O_RDONLY);
}

static int open_exe(char **argv)
{
	return open_in_proc(argv[0], "exe", O_RDONLY);
}

static int open_maps(char **argv)
{
	return open_in_proc(argv[0], "maps", O_RDONLY);
}

static int open_oom(char **argv)
{
	return open_in_proc(argv[0], "oom_score_adj", O_WRONLY);
}

static int take_fd(char **argv)
{
	int pid = target(argv[0]);
	long fd = syscall(NR_PIDFD_OPEN, pid, 0);

	return done_with(argv[0], pid, fd < 0 ? -errno : outcome(syscall(NR_PIDFD_GETFD, fd, 0, 0)));
}

static int do_kcmp(char **argv)
{
	int pid = target(argv[0]);

	return done_with(argv[0], pid, outcome(syscall(SYS_kcmp, getpid(), pid, 0, 0, 0)));
}

static int do_prlimit(char **argv)
{
	int pid = target(argv[0]);
	unsigned long long old[2];

	return done_with(argv[0], pid, outcome(syscall(SYS_prlimit64, pid, 0, NULL, old)));
}

static int set_affinity(char **argv)
{
	int pid = target(argv[0]);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	return done_with(argv[0], pid, outcome(sched_setaffinity(pid, sizeof(set), &set)));
}

/* How many processes can be seen in /proc, and how many answer to a signal. */
static int count_pids(char **argv)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	int seen = 0, answer = 0;

	(void)argv;
	while (d && (e = readdir(d)))
		seen += e->d_name[0] >= '0' && e->d_name[0] <= '9';
	for (int pid = 2; pid < 32768; pid++)
		answer += kill(pid, 0) == 0 || errno == EPERM;
	printf("# seen %d answering %d\n", seen, answer);
	return 0;
}

/* In the background, with a session of its own, deaf to everything that can be ignored; it writes its beat into a file. */
static int daemonise(char **argv)
{
	pid_t pid = fork();

	if (pid != 0)
		return outcome(pid);
	(void)setsid();
	if (fork() != 0)
		_exit(0);
	for (int sig = 1; sig < 65; sig++)
		(void)signal(sig, SIG_IGN);
	(void)close(0);
	(void)close(1);
	(void)close(2);
	(void)alarm(0);
	for (int i = 0; i < 600; i++) {
		int fd = open(argv[0], O_WRONLY | O_CREAT | O_APPEND, 0666);

		(void)!write(fd, ".", 1);
		(void)close(fd);
		nap(50);
	}
	_exit(0);
}

static int be_deaf(char **argv)
{
	for (int sig = 1; sig < 65; sig++)
		(void)signal(sig, SIG_IGN);
	(void)alarm(0);
	for (int i = 0; i < atoi(argv[0]); i++)
		nap(1000);
	return 0;
}

static int stop_self(char **argv)
{
	(void)argv;
	(void)alarm(0);
	(void)kill(getppid(), SIGSTOP);
	(void)raise(SIGSTOP);
	return 0;
}

/* Children whose parent has gone: whoever is pid 1 has to take them. */
static int orphans(char **argv)
{
	for (int i = 0; i < atoi(argv[0]); i++) {
		pid_t pid = fork();

		if (pid == 0) {
			(void)!fork();
			_exit(0);
		}
		if (pid < 0)
			return -errno;
		(void)waitpid(pid, NULL, 0);
	}
	return 0;
}

/* As many processes as we get, all of them waiting until we end; says how many. */
static int fork_bomb(char **argv)
{
	int max = atoi(argv[0]), n = 0, err = 0, over[2];

	if (pipe(over) < 0)
		return -errno;
	while (n < max && !err) {
		pid_t pid = fork();

		if (pid == 0) {
			char c;

			(void)close(over[1]);
			_exit((int)read(over[0], &c, 1));
		}
		if (pid < 0)
			err = errno;
		else
			n++;
	}
	printf("# %d\n", n);
	return err ? -err : 0;
}

static void fork_more(void)
{
	for (;;)
		if (fork() < 0)
			nap(1);
}

/* The classic one: every child forks too. It ends by the test's deadline alone. */
static int fork_tree(char **argv)
{
	(void)argv;
	(void)alarm(0);
	fork_more();
	return 0;
}

static const struct attempt attempts[] = {
	{ "kill", send_signal },
	{ "kill_init", kill_init },
	{ "tgkill", tg_signal },
	{ "sigqueue", queue_signal },
	{ "pidfd_signal", pidfd_signal },
	{ "seize", do_seize },
	{ "attach", do_attach },
	{ "vm_read", read_memory },
	{ "vm_write", write_memory },
	{ "mem", open_memory },
	{ "environ", open_environ },
	{ "exe", open_exe },
	{ "maps", open_maps },
	{ "oom_score_adj", open_oom },
	{ "getfd", take_fd },
	{ "kcmp", do_kcmp },
	{ "prlimit", do_prlimit },
	{ "setaffinity", set_affinity },
	{ "count", count_pids },
	{ "daemon", daemonise },
	{ "deaf", be_deaf },
	{ "stop", stop_self },
	{ "orphans", orphans },
	{ "forks", fork_bomb },
	{ "fork_tree", fork_tree },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return attack_main(argc, argv, attempts);
}
