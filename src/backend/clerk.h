/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a clerk in a sandbox that serves: creel-clerk, as a call like any other, so behind every wall and as the payload's user.
 * It ends when its socket is closed; who cannot wait for that, because the payload may have stopped it, cancels the call.
 */
#pragma once

#include "base/err.h"
#include "sandbox/warm.h"

/* A copy of creel-clerk in memory that nobody can write to, for any number of starts; the caller's to close. */
int clerk_open_program(int *ret_fd, struct err *e);

/*
 * Asks for it, without waiting: the socket is for files_wire_open(), and what goes wrong later shows there as -ECONNRESET. The
 * number is that of the call, whose SERVE_EXIT (or SERVE_REPLY with an error) comes like that of any other.
 */
int clerk_start(struct warm *w, int program, struct str workdir, mode_t umask, int *ret_socket,
		uint64_t *ret_id, struct err *e);
