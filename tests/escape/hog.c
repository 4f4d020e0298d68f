/* SPDX-License-Identifier: Apache-2.0 */
/* Taking more than one's share: memory, processors, disk. Numbers 22, 27, 28 and 43. Amounts come from the test. */
#include "attack.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#define MIB ((size_t)1 << 20)

static int touch(char *p, size_t n)
{
	for (size_t i = 0; i < n; i += 4096)
		p[i] = 1;
	return 0;
}

static int eat_anon(char **argv)
{
	size_t n = (size_t)atoi(argv[0]) * MIB;
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -errno : touch(p, n);
}

static int eat_shm(char **argv)
{
	size_t n = (size_t)atoi(argv[0]) * MIB;
	int id = shmget(IPC_PRIVATE, n, IPC_CREAT | 0600);
	char *p = id < 0 ? NULL : shmat(id, NULL, 0);

	if (id < 0 || p == (void *)-1)
		return -errno;
	(void)shmctl(id, IPC_RMID, NULL); /* gone when we are */
	return touch(p, n);
}

static int eat_memfd(char **argv)
{
	size_t n = (size_t)atoi(argv[0]) * MIB;
	int fd = (int)syscall(SYS_memfd_create, "hog", 0);
	char *p;

	if (fd < 0 || ftruncate(fd, (off_t)n) < 0)
		return -errno;
	p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return p == MAP_FAILED ? -errno : touch(p, n);
}

static int eat_locked(char **argv)
{
	size_t n = (size_t)atoi(argv[0]) * MIB;
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? -errno : outcome(mlock(p, n));
}

static int eat_huge(char **argv)
{
	size_t n = (size_t)atoi(argv[0]) * MIB;
	char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	return p == MAP_FAILED ? -errno : touch(p, n);
}

/* argv[0] = file, argv[1] = MiB to write. */
static int fill_file(char **argv)
{
	static char block[1 << 20];
	int fd = open(argv[0], O_WRONLY | O_CREAT | O_TRUNC, 0600), n = 0, r = 0;

	memset(block, 'x', sizeof(block));
	if (fd < 0)
		return -errno;
	while (n < atoi(argv[1]) && (r = outcome(write(fd, block, sizeof(block)))) == 0)
		n++;
	printf("# %d MiB\n", n);
	return r;
}

static int fill_names(char **argv)
{
	int n = 0, r = 0;

	while (n < atoi(argv[1]) && r == 0) {
		char path[4096];
		int fd;

		(void)snprintf(path, sizeof(path), "%s/%d", argv[0], n);
		fd = open(path, O_WRONLY | O_CREAT, 0600);
		r = outcome(fd);
		(void)close(fd);
		n += r == 0;
	}
	printf("# %d files\n", n);
	return r;
}

static int sparse_file(char **argv)
{
	int fd = open(argv[0], O_WRONLY | O_CREAT | O_TRUNC, 0600);

	return fd < 0 ? -errno : outcome(ftruncate(fd, (off_t)atoi(argv[1]) << 30));
}

/* Directories inside each other, much deeper than a path can be long. */
static int dig(char **argv)
{
	int n = 0;

	while (n < atoi(argv[1]) && mkdir("d", 0700) == 0 && chdir("d") == 0)
		n++;
	printf("# %d deep\n", n);
	return n == atoi(argv[1]) ? 0 : -errno;
}

static void *spin(void *arg)
{
	struct timespec begin, now;

	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
	       *(const int *)arg);
	return NULL;
}

/* For argv[0] ms of wall time in argv[1] threads; prints the processor time that it got. */
static int burn(char **argv)
{
	int ms = atoi(argv[0]), n = atoi(argv[1]);
	pthread_t t[16];
	struct timespec used;

	for (int i = 0; i < n && i < 16; i++)
		if (pthread_create(&t[i], NULL, spin, &ms) != 0)
			return -EAGAIN;
	for (int i = 0; i < n && i < 16; i++)
		(void)pthread_join(t[i], NULL);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	printf("# %ld ms\n", used.tv_sec * 1000 + used.tv_nsec / 1000000);
	return 0;
}

static void *wait_for_end(void *arg)
{
	(void)arg;
	for (;;)
		(void)pause();
	return NULL;
}

static int many_threads(char **argv)
{
	int n = 0, err = 0;
	pthread_attr_t a;

	(void)pthread_attr_init(&a);
	(void)pthread_attr_setstacksize(&a, 65536);
	while (n < atoi(argv[0]) && !err) {
		pthread_t t;

		err = pthread_create(&t, &a, wait_for_end, NULL);
		n += !err;
	}
	printf("# %d threads\n", n);
	return -err;
}

static int real_time(char **argv)
{
	const struct sched_param p = { .sched_priority = 1 };

	(void)argv;
	return outcome(sched_setscheduler(0, SCHED_FIFO, &p));
}

static int be_nice(char **argv)
{
	return outcome(setpriority(PRIO_PROCESS, 0, atoi(argv[0])));
}

static int io_real_time(char **argv)
{
	(void)argv;
	return outcome(syscall(SYS_ioprio_set, 1, 0, 1 << 13));
}

/* argv[0] = which, argv[1] = what it would be raised to. */
static int raise_limit(char **argv)
{
	rlim_t to = strtoull(argv[1], NULL, 10);
	const struct rlimit l = { to, to };

	return outcome(setrlimit((__rlimit_resource_t)atoi(argv[0]), &l));
}

static int print_limit(char **argv)
{
	struct rlimit l;

	if (getrlimit((__rlimit_resource_t)atoi(argv[0]), &l) < 0)
		return -errno;
	printf("# %lld %lld\n", (long long)l.rlim_cur, (long long)l.rlim_max);
	return 0;
}

static int crash(char **argv)
{
	const struct rlimit l = { RLIM_INFINITY, RLIM_INFINITY };

	(void)argv;
	(void)setrlimit(RLIMIT_CORE, &l);
	abort();
}

static int denied_calls(char **argv)
{
	for (int i = 0; i < atoi(argv[0]); i++)
		if (syscall(SYS_pivot_root, "/", "/") == 0)
			return 0;
	return -errno;
}

static const struct attempt attempts[] = {
	{ "anon", eat_anon },     { "shm", eat_shm },          { "memfd", eat_memfd },
	{ "mlock", eat_locked },  { "huge", eat_huge },        { "fill", fill_file },
	{ "names", fill_names },  { "sparse", sparse_file },   { "deep", dig },
	{ "burn", burn },         { "threads", many_threads }, { "fifo", real_time },
	{ "nice", be_nice },      { "ioprio", io_real_time },  { "raise", raise_limit },
	{ "limit", print_limit }, { "crash", crash },          { "denied", denied_calls },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return attack_main(argc, argv, attempts);
}
