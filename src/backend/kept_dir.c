/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/kept_dir.h"
#include "backend/wire_keeper.h"
#include "base/private.h"

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

#define NOTE_FILE "ended"

/* On a disk that is full perhaps: then there is none. */
void kept_dir_note(int dir, const char *why)
{
	(void)fd_write_atomic(dir, NOTE_FILE, str_z(why), 0600);
}

bool kept_dir_ended(const char *path, bool take, char out[static KEPT_NOTE_MAX])
{
	_cleanup_close_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), fd = FD_NONE;
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	fd = dir < 0 ? FD_NONE : private_file_open(dir, NOTE_FILE, O_RDONLY);
	if (fd < 0)
		return false;
	if (take)
		(void)unlinkat(dir, NOTE_FILE, 0);
	if (fd_read_all(fd, KEPT_NOTE_MAX - 1, &text, &n) < 0 || n == 0)
		return false;
	memcpy(out, text, n);
	out[n] = '\0';
	return true;
}
