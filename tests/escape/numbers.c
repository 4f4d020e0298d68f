/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Number 39: makes every system call, and prints what the filter that is on says to it. None is carried out: a thread asks
 * under a second filter that hands everything over to a listener, which answers EBADFD. A filter that refuses comes before
 * that, so EBADFD means: it would have been let through.
 */
#include "numbers.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct call calls[NUMBERS_MAX];
static long answers[NUMBERS_MAX];
static size_t n_calls;
static atomic_int listener = -1, finished;

#if defined(__x86_64__)
static long native(uint32_t nr, const uint64_t *a)
{
	register uint64_t r10 __asm__("r10") = a[3];
	register uint64_t r8 __asm__("r8") = 0;
	register uint64_t r9 __asm__("r9") = 0;
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"((uint64_t)nr), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}

static long i386(uint32_t nr, const uint64_t *a)
{
	long r;

	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"((uint64_t)nr), "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(0ul), "D"(0ul)
			 : "r8", "r9", "r10", "r11", "memory");
	return (int)r;
}

static long make(const struct call *c)
{
	return c->door == DOOR_I386 ? i386(c->nr, c->args) : native(c->nr, c->args);
}
#else
static long make(const struct call *c)
{
	register uint64_t x8 __asm__("x8") = c->nr;
	register uint64_t x0 __asm__("x0") = c->args[0];
	register uint64_t x1 __asm__("x1") = c->args[1];
	register uint64_t x2 __asm__("x2") = c->args[2];
	register uint64_t x3 __asm__("x3") = c->args[3];
	register uint64_t x4 __asm__("x4") = 0;
	register uint64_t x5 __asm__("x5") = 0;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return (long)x0;
}
#endif

/* From the filter on, this thread can do nothing but ask: it never returns. */
static void *ask(void *arg)
{
	struct sock_filter hand_over[] = { { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF } };
	struct sock_fprog prog = { 1, hand_over };
	long fd;

	(void)arg;
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
	atomic_store(&listener, fd < 0 ? -2 : (int)fd);
	for (size_t i = 0; fd >= 0 && i < n_calls; i++)
		answers[i] = make(&calls[i]);
	atomic_store(&finished, 1);
	while (atomic_load(&finished))
		; /* pthread_exit() would ask too */
	return NULL;
}

static void answer(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct seccomp_notif n;
	struct seccomp_notif_resp r = { .error = -EBADFD };

	if (poll(&p, 1, 10) <= 0)
		return;
	memset(&n, 0, sizeof(n));
	if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &n) < 0)
		return;
	r.id = n.id;
	(void)ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &r);
}

static void print(size_t i)
{
	const struct call *c = &calls[i];
	long r = answers[i];
	const char *word = r == -EBADFD ? "let through" : r < 0 ? strerrorname_np((int)-r) : "carried out";

	printf("%s %u %llx %llx %llx %llx = %s\n", door_names[c->door], c->nr, (unsigned long long)c->args[0],
	       (unsigned long long)c->args[1], (unsigned long long)c->args[2], (unsigned long long)c->args[3],
	       word ? word : "?");
}

int main(void)
{
	pthread_t t;

	n_calls = all_calls(calls);
	if (pthread_create(&t, NULL, ask, NULL) != 0)
		return 99;
	while (atomic_load(&listener) == -1)
		(void)sched_yield();
	if (atomic_load(&listener) < 0)
		return 98;
	while (!atomic_load(&finished))
		answer(atomic_load(&listener));
	for (size_t i = 0; i < n_calls; i++)
		print(i);
	(void)fflush(stdout);
	_exit(0);
}
