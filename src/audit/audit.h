/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of what was decided and what came of it: JSON, one record per line, appended to <dir>/audit.jsonl (0600), each
 * with the hash of the one before it. docs/decisions/006-one-audit-chain.md says why it is one chain under a lock.
 *
 * When audit_decided() returns 0 the line has been written: it survives us, and whoever waits for it before he runs the call
 * never runs one that is not recorded. When it fails (disk full, lock held) nothing of the record is left, and the call
 * must not run. It is on the disk, and survives a power cut, after audit_sync().
 *
 * A call whose process was killed before its audit_finished() is finished with the reason "lost" by the next who opens the log.
 *
 * Refuses: a directory or file that others can enter, a handle of before a fork. Never holds a secret value: every text goes
 * through the redactor, and what a record may say is listed here.
 */
#pragma once

#include "audit/redact.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "model/decision.h"
#include "model/denial.h"

#define AUDIT_LINE_MAX ((size_t)32 * 1024) /* with its newline */
#define AUDIT_FILE "audit.jsonl"

enum audit_kind {
	AUDIT_NONE = 0,
	AUDIT_DECIDED,
	AUDIT_FINISHED,
	AUDIT_TOKEN,    /* made, used, revoked, refused */
	AUDIT_CONFIG,   /* read, changed, refused */
	AUDIT_APPROVAL, /* asked, allowed, denied, timed out */
	AUDIT_SANDBOX,  /* created, reused, recreated, lost, pruned; leases too */
	/* written by the log itself */
	AUDIT_REPAIRED,  /* the line above was torn by a crash: how many bytes, and their hash */
	AUDIT_LOST,      /* records that had been written are not there any more: which */
	AUDIT_PRUNED,    /* the oldest files were more than are to be kept: which records went with them */
	AUDIT_RECOVERED, /* the head file was gone; nobody knows whether records are missing */
	AUDIT_KIND_COUNT_
};
extern const struct enum_name audit_kind_names[];

struct audit_opts {
	const char *dir;         /* made when only its last part is missing */
	uint64_t max_file_bytes; /* a new file is begun before one grows beyond; 0 = 64 MiB */
	uint64_t
		keep; /* full files; with a new one the oldest beyond go, and a record says so; 0 = all stay */
	uint32_t sync_ms; /* a record is on the disk at the latest so long after it was written; 0 = 1000 */
	uint32_t lock_ms; /* how long another writer may keep us waiting while nothing is written; 0 = 5000 */
	const struct redactor *redactor; /* borrowed; may be NULL */
	uint64_t (*now_ms)(void);        /* Unix time; NULL = the clock */
};

struct audit;
int audit_open(const struct audit_opts *o, struct audit **ret, struct err *e);
struct audit *audit_close(struct audit *a); /* with a sync, unless it was handed over */
DEFINE_CLEANUP(audit, audit_close)

/* `walls`: digest of the sandbox's walls, empty when there are none yet. *ret_seq names the record to audit_finished(). */
int audit_decided(struct audit *a, const struct decision *d, struct str walls, uint64_t *ret_seq,
		  struct err *e);

struct audit_end {
	uint64_t decided; /* seq of the decision */
	struct str request_id, session, tool;
	const char *reason; /* "exited", "timeout", "killed", "lost" …: a literal */
	int64_t exit;
	uint64_t duration_ms, stdout_bytes, stderr_bytes, cpu_ms, peak_bytes;
	struct str error,
		why; /* of a call that could not be carried out: the word, and the reason for the operator */
	bool truncated;
	bool elevated;                /* it left the sandbox, or would have */
	struct str approval;          /* which a person was asked for; empty = none */
	const struct denial *denials; /* the first 32 are written */
	size_t n_denials;
};
int audit_finished(struct audit *a, const struct audit_end *end, struct err *e);

struct audit_field {
	const char *key; /* a literal: [a-z_]+, and none of those that every record has */
	struct str value;
};
/* Everything else that has to be remembered. `what`: a literal, "created". */
int audit_event(struct audit *a, enum audit_kind kind, const char *what, const struct audit_field *f,
		size_t n, struct err *e);

/*
 * Waits for the disk, so it belongs off the way of a call: an event loop calls it at the deadline (CLOCK_NEVER: nothing
 * is due). A writer whose caller does not is made to wait once the deadline has passed.
 */
int audit_sync(struct audit *a, struct err *e);
/* In place of it, by who ends now: begins to write, and waits for nothing. The file system does the rest, at its own time. */
void audit_hand_over(struct audit *a);
uint64_t audit_sync_deadline(const struct audit *a);

/* The last record: kept elsewhere, it proves later that the log still holds all up to it. */
struct audit_anchor {
	uint64_t seq; /* 0 = no record yet */
	char hash[SHA256_HEX];
};
void audit_last(const struct audit *a, struct audit_anchor *ret);

/* ---- reading ---- */

struct audit_record {
	uint64_t seq;
	enum audit_kind kind; /* AUDIT_NONE: one that this version does not know */
	struct str time;
	char prev[SHA256_HEX], hash[SHA256_HEX];
	struct str line; /* the whole of it, without its newline */
};

enum audit_fault {
	AUDIT_FAULT_GARBLED = 0, /* no record, or its hash does not fit its text */
	AUDIT_FAULT_CHAIN,       /* something before it is missing, changed or in another place */
	AUDIT_FAULT_SHORT,       /* records that had been written, or that an anchor names, are not there */
	AUDIT_FAULT_LOST,        /* the log says so itself */
	AUDIT_FAULT_FILE,        /* a file cannot be read, or others can reach it */
	AUDIT_FAULT_COUNT_
};
extern const struct enum_name audit_fault_names[];

struct audit_finding {
	enum audit_fault fault;
	char file[40];
	uint64_t line, seq; /* 0 = none */
	char text[200];
};

#define AUDIT_FINDINGS_MAX 16u
struct audit_verdict {
	uint64_t n_records, n_files, first_seq, n_repaired;
	uint64_t pruned_last; /* records up to this one went on purpose, as the log says; 0 = none */
	struct audit_anchor last;
	uint64_t n_findings;                               /* 0: the log is whole */
	struct audit_finding findings[AUDIT_FINDINGS_MAX]; /* the first of them */
};

struct audit_verify_opts {
	const char *dir;
	uint64_t first_seq;                 /* older files were taken away on purpose: begins here; 0 = 1 */
	const struct audit_anchor *anchors; /* each must be in the chain */
	size_t n_anchors;
	/* Each whole record, in order; a negative number ends the walk and is returned. May be NULL. */
	int (*each)(void *ctx, const struct audit_record *r);
	void *ctx;
	uint32_t lock_ms;
};

/*
 * 0 when the log could be read, whatever is wrong with it. Writers may go on meanwhile; what they add later is not looked at.
 * Finds a record that was removed, changed, moved or cut off. Whoever may write to the file can also make a new chain from the
 * start: that is found with an anchor alone.
 */
int audit_verify(const struct audit_verify_opts *o, struct audit_verdict *ret, struct err *e);

/*
 * The log as it grows, over its files: for watching, not for proof. What is no record (yet) is passed over and counted. Begins with the
 * records of the last `back_bytes`. A log that does not exist yet is waited for, its directory is not.
 */
struct audit_tail;
int audit_tail_open(const char *dir, uint64_t back_bytes, struct audit_tail **ret, struct err *e);
struct audit_tail *audit_tail_close(struct audit_tail *t);
DEFINE_CLEANUP(audit_tail, audit_tail_close)
/* 1 with the next record, 0 when there is none now. *ret is valid until the next call; the arena is the caller's to end. */
int audit_tail_next(struct audit_tail *t, struct arena *a, struct audit_record *ret, struct err *e);
/* Readable when it is worth asking again; negative where the kernel has none left to give: ask from time to time. */
int audit_tail_fd(const struct audit_tail *t);
uint64_t audit_tail_skipped(const struct audit_tail *t);

/* One line, without its newline. ERR_PROTO when it is none of ours, or its hash is wrong. Slices point into `line` or the arena. */
int audit_parse(struct arena *a, struct str line, struct audit_record *ret, struct err *e);
