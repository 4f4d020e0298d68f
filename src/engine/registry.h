/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sandboxes live, who holds which lock, which leases run: one SQLite database (WAL) in a directory of ours, for every process
 * of this user. What it says is true when it is asked: who is recorded with a pid is recorded with the start time of that process and the boot, so
 * that a number used again is not taken for it.
 *
 * Refuses: a directory or file that others can reach, a database of a newer creel, a handle of before a fork. A database that is
 * damaged is set aside under another name, a new one begun, and every sandbox that lives registered again from its own `info` file;
 * registry_set_aside() tells. Never holds the value of a secret. Text that is returned lies in the caller's arena.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "model/names.h"
#include "model/request.h"

#include <stdint.h>
#include <sys/types.h>

#define REGISTRY_FILE "registry.db"
#define REGISTRY_INFO "info"
#define REGISTRY_TEXT_MAX 4096u /* of one text; keys are shorter */
#define REGISTRY_KEY_MAX 1024u
#define REGISTRY_ROWS_MAX 100000u /* of one answer */

/* ---- who ---- */

#define REG_BOOT_MAX 40u

/* One process, among all that ever ran on this machine. pid 0: none. */
struct reg_proc {
	uint64_t pid, start; /* clock ticks after boot, as /proc has them */
	uint64_t pidns;      /* in which the pid counts */
	char boot[REG_BOOT_MAX];
};

enum reg_alive {
	REG_UNKNOWN = 0, /* of another pid namespace, where we cannot look */
	REG_GONE,
	REG_ALIVE,
};

int reg_proc_self(struct reg_proc *ret, struct err *e);
int reg_proc_of(pid_t pid, struct reg_proc *ret, struct err *e); /* ERR_NOTFOUND when there is none */
/* The same for one of our own children, with less to read: `self` is us. */
int reg_proc_beside(pid_t pid, const struct reg_proc *self, struct reg_proc *ret, struct err *e);
enum reg_alive reg_proc_alive(const struct reg_proc *p); /* a zombie is gone */
bool reg_proc_stopped(const struct reg_proc *p);         /* it lives, and was stopped (SIGSTOP) */

/* ---- sandboxes ---- */

enum reg_state { REG_LOST = 0, REG_STARTING, REG_READY, REG_STOPPING, REG_SPARE, REG_STATE_COUNT_ };
extern const struct enum_name reg_state_names[];

struct reg_entry {
	struct str key; /* as the decision has it */
	enum scope scope;
	struct str session, agent;
	enum backend_id backend;
	enum reg_state state;
	struct str profile_digest, mounts_digest; /* engine/digest.h */
	struct str workspace, socket;
	struct reg_proc supervisor;   /* pid 0: a backend of somebody else's keeps it */
	struct reg_proc warden;       /* of the same boot and namespace */
	uint64_t created_ms, used_ms; /* Unix time */
	uint64_t warned_ms;           /* since when its user knows that its walls have changed; 0 = not */
	uint64_t calls;
	uint64_t
		owner; /* pid of the process that has it for itself (session_own.c); 0 = none. In no column */
};

struct reg_filter {
	struct str session, agent; /* empty = any */
	bool has_scope, has_state;
	enum scope scope;
	enum reg_state state;
};

struct registry_opts {
	const char *dir; /* made when only its last part is missing */
	const char *
		sessions; /* where the live ones keep their directories, each with an `info`; NULL = nowhere */
	uint32_t wait_ms; /* for other processes; 0 = 15000 */
};

struct registry;
int registry_open(const struct registry_opts *o, struct registry **ret, struct err *e);
struct registry *registry_close(struct registry *r); /* with what was touched */
DEFINE_CLEANUP(registry, registry_close)
/*
 * What was committed is there after a crash of any process. After a power cut it is there when this file was on the disk (fdatasync), and that is never waited
 * for: the keeper of a new sandbox sees to it. Leases, whose sandboxes live on elsewhere, are on the disk when they are put.
 */
const char *registry_log(const struct registry *r);

/* The name under which a damaged database lies now, since this handle was opened; NULL = none was. */
const char *registry_set_aside(const struct registry *r);

int registry_put(struct registry *r, const struct reg_entry *entry,
		 struct err *e); /* new, or in place of the old one */
int registry_find(struct registry *r, struct str key, struct arena *a, struct reg_entry *ret,
		  struct err *e); /* ERR_NOTFOUND */
/* Last used first. */
int registry_list(struct registry *r, const struct reg_filter *f, struct arena *a, struct reg_entry **ret,
		  size_t *ret_n, struct err *e);

/* How many there are but for jobs; spares, which are to be jobs, count. */
int registry_count_kept(struct registry *r, uint64_t *ret, struct err *e);

/*
 * `only`: nothing happens unless this is its supervisor, so that nobody removes what another has just put there; NULL = whoever's it
 * is. 1 when it was done, 0 when there was nothing to do it to.
 */
int registry_remove(struct registry *r, struct str key, const struct reg_proc *only, struct err *e);
int registry_set_state(struct registry *r, struct str key, enum reg_state state, const struct reg_proc *only,
		       struct err *e);
int registry_set_warned(struct registry *r, struct str key, uint64_t warned_ms, struct err *e);

/*
 * A call was made. Kept in memory, so it costs no system call; written by registry_flush(), by registry_close(), before this handle reads, and
 * when too many keys wait. An event loop calls flush at the deadline (monotonic; CLOCK_NEVER: nothing waits).
 */
int registry_touch(struct registry *r, struct str key, uint64_t now_ms, struct err *e);
int registry_flush(struct registry *r, struct err *e);
uint64_t registry_flush_deadline(const struct registry *r);

struct reg_reaped {
	uint64_t lost, removed,
		locks; /* now marked lost; jobs, whose end is the end of their entry; locks of the dead */
};
/* Entries and locks of processes that are gone: after a crash, after a reboot. */
int registry_reap(struct registry *r, struct reg_reaped *ret, struct err *e);

/* ---- what a live sandbox says of itself ---- */

/* Writes (0600, whole or not at all) or reads `info` in the sandbox's own directory. It is for as long as it lives, so it is not synced. */
#define REGISTRY_INFO_MAX ((size_t)256 * 1024)
int registry_info_text(const struct reg_entry *entry, struct buf *out, struct err *e);
int registry_info_write(int dir, const struct reg_entry *entry, struct err *e);
int registry_info_parse(struct arena *a, struct str text, struct reg_entry *ret, struct err *e);
/* Registers again everything below `sessions` whose supervisor lives; what is unreadable is left out and counted. */
int registry_rescan(struct registry *r, uint64_t *ret_found, uint64_t *ret_unreadable, struct err *e);

/* ---- locks ---- */

struct reg_lock {
	struct str name;     /* borrowed from whoever acquired it */
	uint64_t generation; /* grows with every acquisition: a later holder has a larger one */
};
struct reg_holder {
	struct reg_proc proc;
	uint64_t left_ms; /* until it expires */
};

/*
 * 1: ours until ttl_ms from now (in time that no clock change moves). 0: somebody else's, see *ret_holder (may be NULL). A lock whose holder is gone
 * or whose time is over is taken over. Not recursive.
 */
int registry_lock(struct registry *r, struct str name, uint64_t ttl_ms, struct reg_lock *ret,
		  struct reg_holder *ret_holder, struct err *e);
/* ERR_DENIED when it was taken over meanwhile: whoever gets that must not go on. */
int registry_renew(struct registry *r, const struct reg_lock *lock, uint64_t ttl_ms, struct err *e);
int registry_unlock(struct registry *r, const struct reg_lock *lock,
		    struct err *e); /* fine when it is not ours any more */

/* ---- leases (C16): a sandbox of another's, for so long ---- */

struct reg_lease {
	struct str key; /* sessionId:toolName */
	enum backend_id backend;
	struct str remote_id, template;
	uint64_t created_ms, used_ms, expires_ms; /* Unix time: the other side counts in it */
	uint64_t renewed;
};
int registry_lease_put(struct registry *r, const struct reg_lease *lease, struct err *e);
int registry_lease_find(struct registry *r, struct str key, struct arena *a, struct reg_lease *ret,
			struct err *e);
int registry_lease_list(struct registry *r, struct arena *a, struct reg_lease **ret, size_t *ret_n,
			struct err *e);
/* `remote_id`: only if it is still that one. 1 done, 0 not. */
int registry_lease_renew(struct registry *r, struct str key, struct str remote_id, uint64_t now_ms,
			 uint64_t expires_ms, struct err *e);
int registry_lease_remove(struct registry *r, struct str key, struct str remote_id, struct err *e);
