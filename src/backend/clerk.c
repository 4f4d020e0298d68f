/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/clerk.h"
#include "base/fd.h"

#include <sys/socket.h>

int clerk_open_program(int *ret_fd, struct err *e)
{
	return sandbox_open_program("clerk", "creel-clerk", ret_fd, e);
}

int clerk_start(struct warm *w, int program, struct str workdir, mode_t umask, int *ret_socket,
		uint64_t *ret_id, struct err *e)
{
	const struct str argv[] = { STR("creel-clerk") };
	int pair[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(e, errno, "socketpair");
	r = warm_call(w,
		      &(struct warm_call){ .argv = { argv, 1 },
					   .cwd = workdir,
					   .stdio = { pair[1], FD_NONE, FD_NONE },
					   .flags = SERVE_F_PROGRAM,
					   .program = program,
					   .umask = umask & 0777 },
		      ret_id, e);
	(void)fd_close(pair[1]);
	if (r < 0) {
		(void)fd_close(pair[0]);
		return r;
	}
	*ret_socket = pair[0];
	return 0;
}
