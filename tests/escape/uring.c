/* SPDX-License-Identifier: Apache-2.0 */
/* What libuv and others do: io_uring where it is there, a thread that reads where it is not. Prints which, and the bytes read. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static ssize_t got;
static char bytes[4096];

static void *read_all(void *path)
{
	int fd = open(path, O_RDONLY);

	got = fd < 0 ? -errno : read(fd, bytes, sizeof(bytes));
	return NULL;
}

int main(int argc, char **argv)
{
	char params[120] = { 0 };
	long ring = syscall(425 /* io_uring_setup */, 4, params);
	pthread_t t;

	if (ring < 0 && errno != ENOSYS) {
		perror("io_uring_setup");
		return 1;
	}
	if (argc != 2 || pthread_create(&t, NULL, read_all, argv[1]) != 0 || pthread_join(t, NULL) != 0)
		return 2;
	printf("%s %zd\n", ring < 0 ? "threads" : "ring", got);
	return got < 0;
}
