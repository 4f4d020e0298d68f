/* SPDX-License-Identifier: Apache-2.0 */
#include "http/listen.h"

#include "base/fd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

union address {
	struct sockaddr any;
	struct sockaddr_un unix_;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int unix_address(const char *path, union address *ret, socklen_t *ret_n, struct err *e)
{
	size_t n = strlen(path);

	*ret = (union address){ .unix_.sun_family = AF_UNIX };
	if (n == 0 || n >= sizeof(ret->unix_.sun_path))
		return err_set(e, ERR_USAGE, "the path of a socket has 1 to %zu bytes: '%s'",
			       sizeof(ret->unix_.sun_path) - 1, path);
	memcpy(ret->unix_.sun_path, path, n);
	*ret_n = (socklen_t)sizeof(ret->unix_);
	return 0;
}

static int tcp_address(const char *text, uint16_t port, union address *ret, socklen_t *ret_n, struct err *e)
{
	*ret = (union address){ .v4 = { .sin_family = AF_INET, .sin_port = htons(port) } };
	*ret_n = sizeof(ret->v4);
	if (inet_pton(AF_INET, text, &ret->v4.sin_addr) == 1)
		return 0;
	*ret = (union address){ .v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) } };
	*ret_n = sizeof(ret->v6);
	if (inet_pton(AF_INET6, text, &ret->v6.sin6_addr) == 1)
		return 0;
	return err_set(e, ERR_USAGE, "'%s' is not a numeric address", text);
}

static int open_socket(const union address *a, int *ret, struct err *e)
{
	int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return err_sys(e, errno, "socket");
	*ret = fd;
	return 0;
}

int http_listen_unix(const char *path, mode_t mode, int *ret_fd, struct err *e)
{
	_cleanup_close_ int fd = FD_NONE;
	union address a;
	socklen_t n;

	if (unix_address(path, &a, &n, e) < 0 || open_socket(&a, &fd, e) < 0)
		return -1;
	/* The inode takes the mode of the socket, so there is no moment in which others may connect, and no umask is touched. */
	if (fchmod(fd, mode & 0777) < 0)
		return err_sys(e, errno, "set the mode of a socket");
	if (bind(fd, &a.any, n) < 0)
		return err_sys(e, errno, "bind '%s'", path);
	if (chmod(path, mode & 0777) < 0 || listen(fd, SOMAXCONN) < 0) {
		int errnum = errno;

		(void)unlink(path);
		return err_sys(e, errnum, "listen on '%s'", path);
	}
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int http_listen_tcp(const char *address, uint16_t port, int *ret_fd, uint16_t *ret_port, struct err *e)
{
	_cleanup_close_ int fd = FD_NONE;
	const int on = 1;
	union address a;
	socklen_t n;

	if (tcp_address(address, port, &a, &n, e) < 0 || open_socket(&a, &fd, e) < 0)
		return -1;
	/* An address that was in use a minute ago may be taken again; one that is in use may not. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 || bind(fd, &a.any, n) < 0 ||
	    listen(fd, SOMAXCONN) < 0 || getsockname(fd, &a.any, &n) < 0)
		return err_sys(e, errno, "listen on %s port %u", address, port);
	*ret_port = ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int connect_to(const union address *a, socklen_t n, const char *what, int *ret_fd, struct err *e)
{
	_cleanup_close_ int fd = FD_NONE;
	const int on = 1;

	if (open_socket(a, &fd, e) < 0)
		return -1;
	if (a->any.sa_family != AF_UNIX)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(fd, &a->any, n) < 0 && errno != EINPROGRESS)
		return err_sys(e, errno, "connect to '%s'", what);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int http_connect_unix(const char *path, int *ret_fd, struct err *e)
{
	union address a;
	socklen_t n;

	if (unix_address(path, &a, &n, e) < 0)
		return -1;
	return connect_to(&a, n, path, ret_fd, e);
}

int http_connect_tcp(const char *address, uint16_t port, int *ret_fd, struct err *e)
{
	union address a;
	socklen_t n;

	if (tcp_address(address, port, &a, &n, e) < 0)
		return -1;
	return connect_to(&a, n, address, ret_fd, e);
}

bool http_is_public(int fd)
{
	union address a = { 0 };
	socklen_t n = sizeof(a);
	const unsigned char *b = a.v6.sin6_addr.s6_addr;

	if (getsockname(fd, &a.any, &n) < 0)
		return true;
	if (a.any.sa_family == AF_UNIX)
		return false;
	if (a.any.sa_family == AF_INET)
		return (ntohl(a.v4.sin_addr.s_addr) >> 24) != 127;
	if (a.any.sa_family == AF_INET6)
		return !IN6_IS_ADDR_LOOPBACK(&a.v6.sin6_addr) &&
		       !(IN6_IS_ADDR_V4MAPPED(&a.v6.sin6_addr) && b[12] == 127);
	return true;
}

bool http_is_tcp(int fd)
{
	union address a = { 0 };
	socklen_t n = sizeof(a);

	return getsockname(fd, &a.any, &n) == 0 &&
	       (a.any.sa_family == AF_INET || a.any.sa_family == AF_INET6);
}

void http_peer_of(int fd, struct http_peer *ret)
{
	struct ucred cred;
	socklen_t n_cred = sizeof(cred), n;
	char text[INET6_ADDRSTRLEN];
	union address a = { 0 };

	*ret = (struct http_peer){ .uid = (uid_t)-1, .gid = (gid_t)-1 };
	n = sizeof(a);
	if (getpeername(fd, &a.any, &n) < 0)
		return;
	if (a.any.sa_family == AF_UNIX && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n_cred) == 0) {
		ret->is_unix = true;
		ret->uid = cred.uid;
		ret->gid = cred.gid;
		ret->pid = cred.pid;
	} else if (a.any.sa_family == AF_INET && inet_ntop(AF_INET, &a.v4.sin_addr, text, sizeof(text))) {
		(void)snprintf(ret->address, sizeof(ret->address), "%s:%u", text, ntohs(a.v4.sin_port));
	} else if (a.any.sa_family == AF_INET6 && inet_ntop(AF_INET6, &a.v6.sin6_addr, text, sizeof(text))) {
		(void)snprintf(ret->address, sizeof(ret->address), "[%s]:%u", text, ntohs(a.v6.sin6_port));
	}
}
