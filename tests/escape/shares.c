/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking all that the kernel has of something which the host and every sandbox on it share. With the argument "hold" it is kept until
 * standard input ends, and what was got is told before; with a number, no more than so many are taken.
 */
#include "attack.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#define BATCH 512

static int one_aio(void)
{
	aio_context_t context = 0;

	return outcome(syscall(SYS_io_setup, BATCH, &context));
}

static int one_inotify(void)
{
	return outcome(inotify_init1(IN_CLOEXEC));
}

/* A timer keeps a signal ready for itself. */
static int one_timer(void)
{
	struct sigevent say = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t t;

	return outcome(timer_create(CLOCK_MONOTONIC, &say, &t));
}

static int one_terminal(void)
{
	return outcome(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC));
}

/* A descriptor on its way: sent, and taken by nobody. A socket holds a few hundred messages. */
static int one_flight(void)
{
	static int pair[2] = { -1, -1 };
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c = {
		.h = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
	};
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)
	};

	for (int tries = 0; tries < 2; tries++) {
		if (pair[0] >= 0 && sendmsg(pair[0], &m, MSG_DONTWAIT) >= 0)
			return 0;
		if (pair[0] >= 0 && errno != EAGAIN)
			break;
		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
			break;
	}
	return outcome(-1);
}

/* 0 when as many were got as were asked for; with "hold", when none was refused before the first. */
static int take(char **argv, int (*one)(void))
{
	bool hold = strcmp(argv[0], "hold") == 0;
	int most = hold ? 1 << 20 : atoi(argv[0]), n = 0, r = 0;
	char byte;

	while (n < most && (r = one()) == 0)
		n++;
	printf("# %d\n", n);
	(void)fflush(stdout);
	if (!hold)
		return r;
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return n > 0 ? 0 : r;
}

static int take_flights(char **argv)
{
	return take(argv, one_flight);
}

static int take_aio(char **argv)
{
	return take(argv, one_aio);
}
static int take_inotify(char **argv)
{
	return take(argv, one_inotify);
}
static int take_timers(char **argv)
{
	return take(argv, one_timer);
}
static int take_terminals(char **argv)
{
	return take(argv, one_terminal);
}

static const struct attempt attempts[] = {
	{ "aio", take_aio },         { "inotify", take_inotify },
	{ "timers", take_timers },   { "terminals", take_terminals },
	{ "flights", take_flights }, { NULL, NULL },
};

int main(int argc, char **argv)
{
	return attack_main(argc, argv, attempts);
}
