/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the audit room share: where the chain stands, and who may write next. */
#pragma once

#include "audit/audit.h"
#include "base/fd.h"

#define HEAD_FILE "audit.head"
#define ZERO_HASH "0000000000000000000000000000000000000000000000000000000000000000"
#define FILE_NAME_MAX 40
#define HASH_TAIL \
	(sizeof(",\"hash\":\"\"}") - 1 + SHA256_HEX - 1) /* what the hash of a line does not cover */

/* The last record that was written whole, and the file it is in. */
struct head {
	uint64_t seq;   /* 0 = none */
	uint64_t size;  /* of the file, with it */
	uint64_t first; /* seq of the file's first record: its name once it is full */
	char hash[SHA256_HEX];
};

/* The same as its file has it: a word, three numbers and a blank each, the hash and a newline. */
#define HEAD_MAGIC "creel-audit 1 "
#define HEAD_BYTES (sizeof(HEAD_MAGIC) - 1 + 3 * 21 + SHA256_HEX)
struct head_seen {
	char text[HEAD_BYTES]; /* empty = nothing yet */
	struct head head;
};

#define AUDIT_HELD_MAX 64u /* calls under way of one handle that a kill would leave open */

struct audit {
	int dir, head_fd, log_fd; /* the head's file is also the lock: it is never renamed */
	pid_t pid;
	char *path; /* of the directory, for messages */
	struct head head;
	struct head_seen seen; /* in the head's file, when it was read or written last */
	bool has_log;          /* log_fd is the file that head names */
	bool new_name;         /* the directory has to be synced too */
	uint64_t max_file_bytes, keep, sync_ms, lock_ms;
	uint64_t dirty_since_ms; /* monotonic; 0 = clean */
	const struct redactor *redactor;
	uint64_t (*now_ms)(void);
	int calls_fd; /* calls.c */
	struct audit_held {
		unsigned slot;
		uint64_t seq; /* 0 = free */
	} held[AUDIT_HELD_MAX];
	unsigned n_held;
};

/* head.c */
int head_read(int fd, struct head *ret); /* 1, 0 when there is none, -EBADMSG when it is garbled */
int head_read_again(int fd, struct head_seen *seen, struct head *ret); /* the same, by who was there before */
/* Whether it says something else than `mark`, which says afterwards what it says. */
bool head_moved(int fd, char mark[static HEAD_BYTES]);
int head_write(int fd, const struct head *h, struct head_seen *seen);
void head_old_name(uint64_t first, char out[static FILE_NAME_MAX]);

/* recover.c: called with the lock, when file and head do not agree. Fills what has to be told in the log itself. */
struct recovery {
	bool torn;
	uint64_t torn_bytes;
	char torn_hash[SHA256_HEX];
	uint64_t lost_first, lost_last; /* 0 = none */
	bool headless;
};
int recover(struct audit *a, int has_head, struct recovery *ret, struct err *e);

/* files.c: files that are full, oldest first. */
#define AUDIT_FILES_MAX 100000
struct audit_name {
	char z[FILE_NAME_MAX];
};
int files_list(int dir, struct arena *arena, struct audit_name **ret, size_t *ret_n); /* -errno */
/* With the lock. Removes the oldest beyond a->keep, once `tell` has written which records go with them. */
int files_prune(struct audit *a, int (*tell)(struct audit *a, uint64_t first, uint64_t last, struct err *e),
		struct err *e);

/* calls.c: which calls are under way. What calls_begin() returns is given to calls_begun() with the number of the record, or 0 when there is none. */
void calls_open(struct audit *a);
int calls_begin(struct audit *a, const struct decision *d);
void calls_begun(struct audit *a, int held, uint64_t seq);
void calls_end(struct audit *a, uint64_t seq);

/* append.c: one record. `body` is the inside of a JSON object, without "seq", "time", "pid", "prev" and "hash". */
int audit_log_open(struct audit *a, struct err *e); /* anew, by its name */
int append(struct audit *a, struct str body, uint64_t *ret_seq, struct err *e);

/* lines.c: text by lines, in bounded memory. */
struct lines {
	int fd;
	uint64_t end; /* not read beyond */
	uint64_t at;  /* of the next line */
	char *buf;
	size_t n, used;
};
struct line {
	struct str text; /* without newline; empty when it is too long */
	uint64_t at, bytes;
	bool whole;            /* ends in a newline */
	bool too_long;         /* skipped */
	char hash[SHA256_HEX]; /* of its bytes, when it is not whole */
};
int lines_init(struct lines *l, int fd, uint64_t from, uint64_t end);
void lines_done(struct lines *l);
int lines_next(struct lines *l, struct line *ret); /* 1, or 0 at the end */

void hash_line(struct str covered, char out[static SHA256_HEX]);
int wrap_path(const struct audit *a, struct err *e);
