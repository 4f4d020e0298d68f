/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers 50 and S21: what a system call is given changes while the kernel reads it. One thread writes the harmless and the
 * forbidden value into the same place in turn, another makes the call. Whoever looks at memory to decide, and then lets the
 * kernel read it again, loses sooner or later.
 *
 *   DONE if the forbidden one was had once; else the last error. "# MADE" says how often the harmless one was.
 */
#include "attack.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#define PATH_ROOM 256
#define WORD "canary-"

static struct {
	char path[PATH_ROOM];
	struct sockaddr_un address;
	struct msghdr message;
	struct sockaddr_un names[2];
	char *argv[4];
	char *good, *bad;
	_Atomic bool stop;
} shared;

static void put(char *to, const char *text)
{
	size_t i = 0;

	for (; text[i] && i < PATH_ROOM - 1; i++)
		__atomic_store_n(&to[i], text[i], __ATOMIC_RELAXED);
	__atomic_store_n(&to[i], '\0', __ATOMIC_RELAXED);
}

/* All places at once: whichever the attempt uses. A mixture of the two is a third name, which is not there. */
static void *flip(void *arg)
{
	(void)arg;
	for (unsigned i = 0; !shared.stop; i++) {
		char *text = i & 1 ? shared.bad : shared.good;

		put(shared.path, text);
		put(shared.address.sun_path, text);
		__atomic_store_n(&shared.message.msg_name, (void *)&shared.names[i & 1], __ATOMIC_RELAXED);
		__atomic_store_n(&shared.argv[0], text, __ATOMIC_RELAXED);
	}
	return NULL;
}

static int race(char **argv, int (*once)(long *made))
{
	long made = 0, n = atol(argv[2]);
	pthread_t thread;
	int last = -ENODATA;

	shared.good = argv[0];
	shared.bad = argv[1];
	put(shared.path, argv[0]);
	for (int i = 0; i < 2; i++) {
		shared.names[i].sun_family = AF_UNIX;
		put(shared.names[i].sun_path, argv[i]);
	}
	shared.address = shared.names[0];
	shared.argv[0] = argv[0];
	if (pthread_create(&thread, NULL, flip, NULL) != 0)
		return -EAGAIN;
	while (n-- > 0 && last != 0) {
		int r = once(&made);

		last = r == -ENODATA ? last : r;
	}
	shared.stop = true;
	(void)pthread_join(thread, NULL);
	printf("# %ld\n", made);
	return last == -ENODATA ? -EAGAIN : last;
}

/* 0 = the forbidden, -ENODATA = the harmless */
static int open_once(long *made)
{
	char text[64] = "";
	int fd = openat(AT_FDCWD, shared.path, O_RDONLY);

	if (fd < 0)
		return -errno;
	(void)!read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	(*made)++;
	return strncmp(text, WORD, sizeof(WORD) - 1) == 0 ? 0 : -ENODATA;
}

static int connect_once(long *made)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), r = 0;
	struct sockaddr_un peer = { 0 };
	socklen_t n = sizeof(peer);

	if (fd < 0 || connect(fd, (struct sockaddr *)&shared.address, sizeof(shared.address)) < 0 ||
	    getpeername(fd, (struct sockaddr *)&peer, &n) < 0)
		r = -errno;
	else if (strcmp(peer.sun_path, shared.bad) != 0)
		r = -ENODATA;
	*made += r == -ENODATA;
	(void)close(fd);
	return r;
}

/* Whether it arrived at the forbidden one is what the test asks there. */
static int send_once(long *made)
{
	static int fd = -1;
	char byte = 'e';
	struct iovec iov = { &byte, 1 };

	if (fd < 0)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	shared.message.msg_namelen = sizeof(struct sockaddr_un);
	shared.message.msg_iov = &iov;
	shared.message.msg_iovlen = 1;
	if (sendmsg(fd, &shared.message, 0) < 0)
		return -errno;
	(*made)++;
	return -ENODATA;
}

/* The forbidden program ends with 77. */
static int exec_once(long *made)
{
	char *none[] = { NULL };
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		/* The thread does not live on in a child: a second one flips here. */
		pthread_t thread;

		(void)pthread_create(&thread, NULL, flip, NULL);
		execve(shared.path, shared.argv, none);
		_exit(errno == EACCES ? 126 : 127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return 0;
	*made += WIFEXITED(status) && WEXITSTATUS(status) == 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? -ENODATA : -ENOENT;
}

static int listener(const char *path, int type)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	(void)unlink(path);
	return fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
			       (type == SOCK_STREAM && listen(fd, 4096) < 0)
		       ? -errno
		       : fd;
}

/* Takes what comes to the harmless one, so that it never is full. */
static void *drain(void *arg)
{
	char text[64];
	int fd = *(int *)arg, type = 0;
	socklen_t n = sizeof(type);

	(void)getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n);
	while (!shared.stop)
		if (type == SOCK_DGRAM)
			(void)!recv(fd, text, sizeof(text), 0);
		else
			(void)close(accept(fd, NULL, NULL));
	return NULL;
}

static int with_listener(char **argv, int type, int (*once)(long *made))
{
	int fd = listener(argv[0], type);
	pthread_t thread;

	if (fd < 0 || pthread_create(&thread, NULL, drain, &fd) != 0)
		return fd < 0 ? fd : -EAGAIN;
	return race(argv, once);
}

static int try_open(char **argv)
{
	return race(argv, open_once);
}

static int try_exec(char **argv)
{
	return race(argv, exec_once);
}

static int try_connect(char **argv)
{
	return with_listener(argv, SOCK_STREAM, connect_once);
}

static int try_send(char **argv)
{
	return with_listener(argv, SOCK_DGRAM, send_once);
}

int main(int argc, char **argv)
{
	static const struct attempt table[] = { { "open", try_open },
						{ "exec", try_exec },
						{ "connect", try_connect },
						{ "sendmsg", try_send },
						{ NULL, NULL } };

	return attack_main(argc, argv, table);
}
