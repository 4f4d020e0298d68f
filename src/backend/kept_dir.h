/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a session, as both sides of its socket see it: opened once, ours alone, and the socket named beneath it. */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <sys/un.h>

/* ERR_NOTFOUND: it is not there. ERR_DENIED: it is somebody else's, or others may enter it. */
int kept_dir_open(struct str path, int *ret_fd, struct err *e);
/* A name that fits, however long the path is: through the descriptor. */
struct sockaddr_un kept_dir_socket(int dir);
/*
 * For who binds it: its path, where that fits. The kernel lists it by this name, and whoever makes a sandbox looks there for sockets that have to be
 * covered; one whose name leads nowhere has to be searched for in whole workspaces.
 */
struct sockaddr_un kept_dir_socket_name(int dir);

/*
 * Why the sandbox has ended by itself while nobody may have looked: left by its keeper, for the next one who comes. False when there is no such note.
 * Taken, it is told by nobody else.
 */
#define KEPT_NOTE_MAX 512u
void kept_dir_note(int dir, const char *why);
bool kept_dir_ended(const char *path, bool take, char out[static KEPT_NOTE_MAX]);
