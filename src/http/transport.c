/* SPDX-License-Identifier: Apache-2.0 */
#include "http/transport.h"

#include <errno.h>
#include <sys/socket.h>

static ssize_t plain_read(void *state, int fd, void *to, size_t n)
{
	ssize_t got = recv(fd, to, n, 0);

	(void)state;
	return got < 0 ? (errno == EINTR ? -EAGAIN : -errno) : got;
}

static ssize_t plain_write(void *state, int fd, const void *from, size_t n)
{
	ssize_t sent;

	(void)state;
	do {
		sent = send(fd, from, n, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : sent;
}

static int plain_end(void *state, int fd)
{
	(void)state;
	return shutdown(fd, SHUT_WR) < 0 ? -errno : 0;
}

const struct http_transport http_plain = { .read = plain_read, .write = plain_write, .end = plain_end };
