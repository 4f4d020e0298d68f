/* SPDX-License-Identifier: Apache-2.0 */
/* Talking to what lies outside: sockets, shared memory, queues, keys. Numbers 36, 45 and 55 to 62. */
#include "attack.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

static int say_hello(int fd)
{
	return outcome(send(fd, "evil\n", 5, MSG_NOSIGNAL));
}

static int unix_name(const char *name, int type, size_t abstract)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t n = strlen(name);
	int fd = socket(AF_UNIX, type, 0);

	if (n + abstract > sizeof(a.sun_path))
		return -ENAMETOOLONG;
	memcpy(a.sun_path + abstract, name, n);
	if (connect(fd, (struct sockaddr *)&a,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + abstract + n)) < 0)
		return -errno;
	return say_hello(fd);
}

static int to_unix(char **argv)
{
	return unix_name(argv[0], SOCK_STREAM, 0);
}

static int to_unix_dgram(char **argv)
{
	return unix_name(argv[0], SOCK_DGRAM, 0);
}

static int to_abstract(char **argv)
{
	return unix_name(argv[0], SOCK_STREAM, 1);
}

static socklen_t address(const char *text, const char *port, struct sockaddr_storage *ret)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;

	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)atoi(port));
		return sizeof(*v4);
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons((uint16_t)atoi(port));
	return inet_pton(AF_INET6, text, &v6->sin6_addr) == 1 ? sizeof(*v6) : 0;
}

static int to_tcp(char **argv)
{
	struct sockaddr_storage a;
	socklen_t n = address(argv[0], argv[1], &a);
	int fd = socket(a.ss_family, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&a, n) < 0)
		return -errno;
	return say_hello(fd);
}

/* TCP Fast Open sends its first bytes without a connect(). */
static int to_tcp_fast(char **argv)
{
	struct sockaddr_storage a;
	socklen_t n = address(argv[0], argv[1], &a);
	int fd = socket(a.ss_family, SOCK_STREAM, 0);

	return outcome(sendto(fd, "evil\n", 5, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&a, n));
}

static int to_mptcp(char **argv)
{
	struct sockaddr_storage a;
	socklen_t n = address(argv[0], argv[1], &a);
	int fd = socket(a.ss_family, SOCK_STREAM, 262 /* IPPROTO_MPTCP */);

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, n) < 0)
		return -errno;
	return say_hello(fd);
}

static int to_udp(char **argv)
{
	struct sockaddr_storage a;
	socklen_t n = address(argv[0], argv[1], &a);
	int fd = socket(a.ss_family, SOCK_DGRAM, 0);

	return outcome(sendto(fd, "evil\n", 5, 0, (struct sockaddr *)&a, n));
}

static key_t key_from(const char *text)
{
	return (key_t)strtoul(text, NULL, 0);
}

static int find_shm(char **argv)
{
	int id = shmget(key_from(argv[0]), 0, 0);
	char *p = id < 0 ? NULL : shmat(id, NULL, 0);

	if (id < 0 || p == (void *)-1)
		return -errno;
	memcpy(p, "evil", 5);
	return 0;
}

static int find_msg(char **argv)
{
	const struct {
		long type;
		char text[8];
	} m = { 1, "evil" };
	int id = msgget(key_from(argv[0]), 0);

	return id < 0 ? -errno : outcome(msgsnd(id, &m, 5, IPC_NOWAIT));
}

static int find_sem(char **argv)
{
	struct sembuf up = { .sem_op = 1, .sem_flg = IPC_NOWAIT };
	int id = semget(key_from(argv[0]), 0, 0);

	return id < 0 ? -errno : outcome(semop(id, &up, 1));
}

/* Made here, for the test to look for outside. */
static int make_ipc(char **argv)
{
	key_t key = key_from(argv[0]);

	if (shmget(key, 4096, IPC_CREAT | 0666) < 0 || msgget(key, IPC_CREAT | 0666) < 0 ||
	    semget(key, 1, IPC_CREAT | 0666) < 0)
		return -errno;
	return 0;
}

static int find_queue(char **argv)
{
	mqd_t q = mq_open(argv[0], O_WRONLY);

	return q < 0 ? -errno : outcome(mq_send(q, "evil", 5, 0));
}

static int make_queue(char **argv)
{
	return outcome(mq_open(argv[0], O_CREAT | O_RDWR, 0666, NULL));
}

#define KEY_USER_KEYRING (-4)
#define KEYCTL_SEARCH 10
#define KEYCTL_DESCRIBE 6

static int add_key(char **argv)
{
	return outcome(syscall(SYS_add_key, "user", argv[0], argv[1], strlen(argv[1]), KEY_USER_KEYRING));
}

static int find_key(char **argv)
{
	return outcome(syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_USER_KEYRING, "user", argv[0], 0));
}

static int request_key(char **argv)
{
	return outcome(syscall(SYS_request_key, "user", argv[0], NULL, 0));
}

static int key_by_number(char **argv)
{
	char text[256];
	long n = syscall(SYS_keyctl, KEYCTL_DESCRIBE, atol(argv[0]), text, sizeof(text));

	return outcome(n);
}

/* Names of keys are secrets of their owner. */
static int key_in_proc(char **argv)
{
	char line[1024];
	FILE *f = fopen("/proc/keys", "re");

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, argv[0]))
			return 0;
	return f ? -ENOENT : -errno;
}

static int write_fifo(char **argv)
{
	int fd = open(argv[0], O_WRONLY | O_NONBLOCK);

	return fd < 0 ? -errno : outcome(write(fd, "evil\n", 5));
}

/* Sends a descriptor over a file descriptor, if that is a socket. */
static int pass_fd(char **argv)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c = {
		.h = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
	};
	struct iovec iov = { argv[0], 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c)
	};
	int root = open("/", O_RDONLY | O_DIRECTORY), best = -EBADF;

	memcpy(CMSG_DATA(&c.h), &root, sizeof(root));
	for (int fd = atoi(argv[0]); fd < 64; fd++)
		if (fd != root && sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			best = 0;
	return best;
}

static int listen_tcp(char **argv)
{
	struct sockaddr_storage a;
	socklen_t n = address(argv[0], argv[1], &a);
	int fd = socket(a.ss_family, SOCK_STREAM, 0);

	if (bind(fd, (struct sockaddr *)&a, n) < 0 || listen(fd, 4) < 0)
		return -errno;
	printf("# listening\n");
	(void)fflush(stdout);
	(void)!read(STDIN_FILENO, argv[2], 0);
	(void)sleep(2);
	return 0;
}

static const struct attempt attempts[] = {
	{ "unix", to_unix },
	{ "unix_dgram", to_unix_dgram },
	{ "abstract", to_abstract },
	{ "tcp", to_tcp },
	{ "tcp_fast_open", to_tcp_fast },
	{ "mptcp", to_mptcp },
	{ "udp", to_udp },
	{ "shm", find_shm },
	{ "msg", find_msg },
	{ "sem", find_sem },
	{ "make_ipc", make_ipc },
	{ "queue", find_queue },
	{ "make_queue", make_queue },
	{ "add_key", add_key },
	{ "find_key", find_key },
	{ "request_key", request_key },
	{ "key_by_number", key_by_number },
	{ "key_in_proc", key_in_proc },
	{ "fifo", write_fifo },
	{ "pass_fd", pass_fd },
	{ "listen", listen_tcp },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return attack_main(argc, argv, attempts);
}
