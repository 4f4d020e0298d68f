/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Background processes of a box: started by one client, looked at by another, ended with the box. Whoever keeps the box makes their
 * streams, takes all that they write, and holds a bounded log of it, so that one that writes much is never held up, and none is
 * lost because its starter went.
 *
 * Several who do not know each other may share a box: a process belongs to whom the box was told of when it was started (jobs_owner), and for
 * others it is not there, neither in a list nor by its name. jobs_any is for who looks after all of them.
 *
 * struct box has a pointer to these where they can be had; it is NULL for a box that ends with this process. Each of them waits for
 * its answer, some seconds at most; box events that come meanwhile are kept for next().
 */
#pragma once

#include "backend/backend.h"

#define JOBS_LIVE_MAX 64   /* ERR_LIMIT beyond */
#define JOBS_ENDED_MAX 256 /* the oldest is removed */
#define JOBS_ID_MAX 16     /* "p1", "p2", ... with NUL; never used again in one box */
#define JOBS_TEXT_MAX 256  /* of the command, to show; cut at a code point, with NUL */
#define JOBS_READ_MAX (1 << 20)
#define JOBS_INPUT_MAX (1 << 20) /* that it has not read yet */
#define JOBS_WAIT_MAX_MS 60000

enum jobs_stream { JOBS_OUT = 0, JOBS_ERR, JOBS_STREAMS_ }; /* a terminal has only the first */

struct jobs_log {
	uint64_t first; /* what lies before this was dropped */
	uint64_t total; /* all that was ever written */
};

struct jobs_info {
	char id[JOBS_ID_MAX];
	char text[JOBS_TEXT_MAX];
	bool running, pty;
	bool input;                    /* its standard input is open */
	bool spill;                    /* the kept output of a foreground call: adopt() */
	pid_t pid;                     /* inside */
	uint64_t started_ms, ended_ms; /* unix time; 0 = not yet */
	struct box_end end;            /* when it does not run any more */
	struct jobs_log log[JOBS_STREAMS_];
};

/* A part of a log. */
struct jobs_part {
	uint64_t at; /* of its first byte; above what was asked for when that was dropped */
	size_t n;
};

struct jobs_adopt {
	struct str text;
	int fd[JOBS_STREAMS_]; /* regular files with what was written, read to their end; negative = none */
	struct box_end end;
	uint64_t started_ms;
};

struct jobs_ops {
	/*
	 * The streams of `call` are made here: its stdio has to be negative. Its input stays open until it is closed, and `keep` is as given.
	 * Returns when it has been started; an error says why not, as BOX_FAILED has it. `text` is what people are shown.
	 */
	int (*start)(struct box *b, const struct box_call *call, struct str text, struct jobs_info *ret,
		     struct err *e);
	/* All of them, the oldest first; at most `max`. */
	int (*list)(struct box *b, struct jobs_info *ret, size_t max, size_t *ret_n, struct err *e);
	int (*info)(struct box *b, struct str id, struct jobs_info *ret, struct err *e);
	/*
	 * What came since the last poll of this job by anybody, of each stream at most `size` bytes into out[stream]; when there is nothing,
	 * waits for so long for output or its end. What is left is for the next poll.
	 */
	int (*poll)(struct box *b, struct str id, uint64_t wait_ms, char *out[static JOBS_STREAMS_],
		    size_t size, struct jobs_part part[static JOBS_STREAMS_], struct jobs_info *ret,
		    struct err *e);
	/* From byte `at` on, at most `size` (and JOBS_READ_MAX). n is 0 at the end. Polls do not notice. */
	int (*log)(struct box *b, struct str id, enum jobs_stream stream, uint64_t at, char *out, size_t size,
		   struct jobs_part *ret, struct err *e);
	/* To its standard input, and then closes it, when told so (of a terminal: what ends input there). ERR_LIMIT: it does not read. */
	int (*write)(struct box *b, struct str id, struct str bytes, bool close, struct err *e);
	int (*signal)(struct box *b, struct str id, int signo, struct err *e); /* its process group */
	/* The whole tree; returns when it has ended. Also what an ended one has left behind. */
	int (*kill)(struct box *b, struct str id, struct jobs_info *ret, struct err *e);
	/* With its log; one that runs is killed first. */
	int (*remove)(struct box *b, struct str id, struct err *e);
	/* Output of a foreground call that was too much for its caller: kept as the log of a job that has ended. */
	int (*adopt)(struct box *b, const struct jobs_adopt *what, struct jobs_info *ret, struct err *e);
};
