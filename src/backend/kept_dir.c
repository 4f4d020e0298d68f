/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/kept_dir.h"
#include "backend/wire_keeper.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int kept_dir_open(struct str path, int *ret_fd, struct err *e)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_close_ int fd = FD_NONE;
	struct stat st;
	int r = str_dupz(path, &name);

	if (r < 0)
		return err_sys(e, -r, "session directory '" STR_FMT "'", STR_ARG(path));
	fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return err_set(e, ERR_NOTFOUND, "session directory '" STR_FMT "': there is none",
			       STR_ARG(path));
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, errno, "session directory '" STR_FMT "'", STR_ARG(path));
	if (st.st_uid != geteuid() || st.st_mode & 077)
		return err_set(e, ERR_DENIED,
			       "session directory '" STR_FMT "': it has to be ours, with mode 0700",
			       STR_ARG(path));
	*ret_fd = TAKE_FD(fd);
	return 0;
}

struct sockaddr_un kept_dir_socket(int dir)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/" KEEPER_SOCKET, dir);
	return a;
}

struct sockaddr_un kept_dir_socket_name(int dir)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char link[64], path[sizeof(a.sun_path)];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
	n = readlink(link, path, sizeof(path));
	if (n <= 0 || path[0] != '/' || (size_t)n + sizeof("/" KEEPER_SOCKET) > sizeof(a.sun_path))
		return kept_dir_socket(dir);
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%.*s/" KEEPER_SOCKET, (int)n, path);
	return a;
}
