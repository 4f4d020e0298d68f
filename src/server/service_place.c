/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the runner's socket lies. Whoever can put one there is given every call, with the token of its caller; so each directory on the way is ours or root's,
 * and nobody else can write to it. In a sticky one (/tmp) others cannot take a socket away, but may have been there first: there, who answers is
 * looked at with each connection.
 */
#include "server/service.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, UNMAPPED_UID = 65534 };

static const char *fault_of(const struct stat *st, bool last)
{
	const mode_t others = S_IWOTH | (last || (st->st_gid != 0 && st->st_gid != getegid()) ? S_IWGRP : 0);

	/* In a container the root above may be nobody's there. */
	if (st->st_uid != 0 && st->st_uid != geteuid() && (last || st->st_uid != UNMAPPED_UID))
		return "belongs to another user";
	if (st->st_mode & others && !(st->st_mode & S_ISVTX))
		return "can be written by others";
	return NULL;
}

int service_check_place(const char *address, bool *ret_sticky, struct err *e)
{
	struct str dir = STR("."), name, path = str_from(str_z(address), sizeof("unix:") - 1);
	char text[SERVICE_PATH_MAX], up[3 * DEPTH_MAX + 4] = ".";
	_cleanup_close_ int fd = FD_NONE;
	struct stat st = { 0 }, below;

	*ret_sticky = false;
	if (!str_starts(str_z(address), STR("unix:")))
		return 0;
	if (str_cut_last(path, '/', &dir, &name) && dir.n == 0)
		dir = STR("/");
	(void)snprintf(text, sizeof(text), "%.*s", (int)dir.n, dir.p);
	fd = open(text, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (unsigned i = 0; fd >= 0 && i < DEPTH_MAX; i++) {
		const char *fault;

		below = st;
		if (fstatat(fd, up, &st, 0) < 0)
			break;
		if (i > 0 && st.st_dev == below.st_dev && st.st_ino == below.st_ino)
			return 0;
		fault = fault_of(&st, i == 0);
		if (fault)
			return err_set(
				e, ERR_DENIED,
				"%s directory of the runner's socket, '%s', %s, who could have put the "
				"socket there; fix: serve.runner in a directory of your own with mode "
				"0700, and start creeld again",
				i ? "what lies above the" : "the", text, fault);
		*ret_sticky |= i == 0 && st.st_mode & (S_IWOTH | S_IWGRP);
		(void)snprintf(up + (i ? strlen(up) : 0), 4, "%s", i ? "/.." : "..");
	}
	return err_set(e, ERR_UNAVAIL, "the directory of the runner's socket, '%s', cannot be looked at",
		       text);
}
