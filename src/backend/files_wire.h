/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct files over a socket, at whose other end a clerk stands (src/clerk): a process inside the sandbox, with the payload's own
 * user, walls and limits, that resolves every path there. Small contents pass through the socket; of a larger file the clerk sends
 * the open one.
 *
 * Nothing that comes back is believed. The clerk runs where the payload runs, which may stop or kill it, or be it: sizes,
 * names, numbers and descriptors are checked, a descriptor is used when it is of a regular file and was opened as asked, and never
 * to resolve a name in. Who does not answer in time, or answers with what is no answer, is not asked again: every later
 * operation is -ECONNRESET, until the owner has started another clerk.
 */
#pragma once

#include "backend/files.h"

#define FILES_WIRE_ANSWER_MS 30000u

struct files_wire;

/* Takes the socket (SOCK_SEQPACKET), also when it fails. `answer_ms`: how long one answer may take; 0 = FILES_WIRE_ANSWER_MS. */
int files_wire_open(int socket, uint64_t answer_ms, struct files_wire **ret);
/* The same pointer each time, valid until close. */
struct files *files_wire_files(struct files_wire *w);
/* It did not answer, or lied: it has to be renewed. */
bool files_wire_broken(const struct files_wire *w);
/* Another clerk, behind the same pointer. What was begun with the one before is lost: -ECONNRESET. Takes the socket, also when it fails. */
int files_wire_renew(struct files_wire *w, int socket);
/* The clerk ends when its socket closes. Stages that were not dropped are dropped by it. */
struct files_wire *files_wire_close(struct files_wire *w);
