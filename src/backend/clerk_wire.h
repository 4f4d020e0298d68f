/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said between files_wire.h and the clerk: one request, one reply, each one message over SOCK_SEQPACKET. A request is its
 * head and behind it a path, another path (rename) and a content (put), each path with its NUL. A reply is its head and, of a
 * list, entries, of a get the content of a small file; an open file comes as a descriptor.
 *
 * Both sides are of one build: numbers are as the machine has them, and there is no version.
 */
#pragma once

#include <stdint.h>

#define CLERK_MESSAGE_MAX 65536u
#define CLERK_PUT_MAX 49152u /* a content that travels in the message; a larger one is written to a stage */
#define CLERK_GET_MAX 16384u /* likewise the other way: what is larger is sent as the open file */
#define CLERK_LOOK_US 50u    /* either side looks for the other's next message so long before it sleeps */
#define CLERK_STAGES_MAX 256u
#define CLERK_LISTS_MAX 8u
#define CLERK_COPY_MAX ((uint64_t)16 << 20) /* of a file that the kernel makes up: it is sent as a copy */

enum clerk_op {
	CLERK_OPEN = 1, /* with FILES_APPEND to write; reply: stat, and the file */
	CLERK_STAT,
	CLERK_LIST, /* reply: entries; with CLERK_R_MORE a number, for the next two */
	CLERK_NEXT,
	CLERK_END,
	CLERK_MKDIR,
	CLERK_REMOVE,
	CLERK_RENAME,
	CLERK_CHMOD,
	CLERK_STAGE,  /* reply: number, stat of the old file with CLERK_R_EXISTS, and the file to write to */
	CLERK_COMMIT, /* reply: with CLERK_R_OVER there is nothing left to drop */
	CLERK_UNDO,
	CLERK_DROP,
	CLERK_PUT, /* reply: CLERK_R_EXISTS as it was before */
	CLERK_GET, /* reply: stat, and with CLERK_R_WHOLE the content, otherwise the file */
	CLERK_OP_END_,
};

enum clerk_reply_flag {
	CLERK_R_EXISTS = 1,
	CLERK_R_MORE = 2,
	CLERK_R_OVER = 4,
	CLERK_R_WHOLE = 8,
};
#define CLERK_R_ALL 15u

struct clerk_stat {
	uint64_t size, dev, ino, nlink;
	int64_t mtime_ms;
	uint32_t mode, uid, gid, given; /* given: 1, of `seen` */
};

struct clerk_request {
	uint16_t op;
	uint16_t cpu; /* where the answer is waited for, as stay_here() says */
	uint32_t seq;
	uint32_t flags; /* FILES_* */
	uint32_t mode;
	uint32_t number;        /* of a stage, from 1, or of a list */
	uint32_t n_path, n_to;  /* bytes, with NUL; 0 = none */
	uint32_t n_content;     /* bytes */
	struct clerk_stat seen; /* of CLERK_PUT */
};

struct clerk_reply {
	uint16_t op;    /* of the request */
	uint16_t cpu;   /* where the clerk has gone to be asked next (base/stay.h); 0 = anywhere */
	uint32_t seq;   /* of the request */
	int32_t result; /* 0 or a negative errno */
	uint32_t number;
	uint32_t flags; /* CLERK_R_* */
	uint32_t bytes; /* of the entries, or the content, behind it */
	struct clerk_stat st;
};

/* Then the stat, when it was asked for, the name and its NUL, and zeros up to `size`, which is a multiple of eight. */
struct clerk_entry {
	uint16_t size, name; /* bytes of all of it, and of the name */
	uint32_t mode;
};
