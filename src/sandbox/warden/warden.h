/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The warden: builds the walls from a plan, is pid 1 inside them, starts the payload, reaps, and says how it ended.
 * It never allocates, never resolves a name that it was not given, and has no way to be told more than the plan says.
 */
#pragma once

#include "sandbox/warden/sys.h"
#include "sandbox/wire.h"

#include <stdbool.h>

#define OWN_MAX 64

/* What getdents64() gives. */
struct dir_entry {
	uint64_t ino;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

/* Written by the child, which shares our memory; or, where it cannot, this page of it. */
struct child_said {
	long err;
	uint32_t step;
	uint64_t probes;
};

struct warden {
	const struct plan_header *plan;
	const struct step *steps;
	const char *strings;
	int root_fd;  /* the new root, before pivot */
	int rules_fd; /* Landlock */
	int tty_fd;   /* slave of our own PTY */
	uint32_t tty_flags;
	bool told_stopped; /* creel has not answered yet */
	int signals_fd;
	uint32_t landlock_abi;
	int life[2]; /* a pipe from outside: a byte = the users are mapped; closed = outside has gone */
	int tree_fd[PLAN_MAX_STEPS]; /* mounts made outside, by step; 0 = none */
	uint64_t own_dev[OWN_MAX]; /* file systems that we made: the only ones in which anything is created */
	unsigned n_own;
	char parent[4096]; /* of what was created last, below the new root */
	int parent_fd;
	int live_fd, private_fd; /* outside: where the private directory lies, and itself, locked */
	const char *const
		*groups; /* cgroup directories to remove when creel cannot any more; NULL ends them */
	struct child_said own_said, *said; /* what the payload's process says before it executes */
	struct warden_report report;
};

int warden_main(const char *const *groups);
void plan_forget(struct warden *w);
_Noreturn void die(int code);
long spawn_vm(int (*fn)(void *), void *arg, void *stack_top, long flags);

/* inside.c: pid 1 of the sandbox; outside.c: its parent on the host */
_Noreturn void inside(struct warden *w);
int outside(struct warden *w, long pid, int pidfd);
void remove_groups(const struct warden *w);
/* The last thing that outside does, whatever happened before: waits until creel is done or gone, and leaves nothing behind. */
void finish(const struct warden *w);
_Noreturn void fail_outside(struct warden *w, long err, const char *what);

/* private.c: the run's private directory, made and removed outside */
void private_make(struct warden *w);
void private_remove(const struct warden *w);
/* remove.c: everything below a directory, whatever a payload put there */
void remove_below(int top);

/* disk.c: what the sandbox takes of the host's disk; times in ms. The last two return when to look (again). */
long disk_open(struct warden *w); /* while there is a plan */
uint64_t disk_start(uint64_t now);
uint64_t disk_look(const struct warden *w, uint64_t now, enum disk_end *ret);

/* text.c */
const char *plan_str(const struct warden *w, uint32_t offset);
/* The string after one that plan_str() gave; "" at the end of the plan. */
const char *plan_str_after(const struct warden *w, const char *s);
void text_put(char *buf, size_t size, size_t *at, const char *s);
void text_u64(char *buf, size_t size, size_t *at, uint64_t v);

/* control.c */
long control_send(const struct warden_report *r, int fd_to_pass);
long control_recv(struct warden_report *r, int flags);
void complain(struct warden *w, uint32_t step, long err, const char *what);
/* Says what failed and ends the process. */
_Noreturn void fail(struct warden *w, uint32_t step, long err, const char *what);

/* userns.c */
long userns_map_self(const struct plan_header *p);

/* time.c: before we cannot be dumped, while we have capabilities */
long time_unshare(struct warden *w);

/* mounts.c, walls.c: one function per step kind; 0 or -errno, with w->report.what set on failure */
typedef long step_fn(struct warden *w, const struct step *s);
step_fn do_root, do_dir, do_link, do_file, do_bind, do_tmpfs, do_overlay, do_sealed, do_proc, do_mask,
	do_readonly, do_devpts, do_seal, do_pivot;
step_fn do_tty, do_hostname, do_lo_up, do_rlimit, do_keyring, do_chdir, do_landlock, do_landlock_rule,
	do_landlock_self, do_caps, do_no_new_privs, do_seccomp;

/* idmap.c: outside, as root, before the user namespace: mounts whose owner is the payload's user inside */
void idmap_prepare(struct warden *w);

/* mounts.c */
long open_source(struct warden *w, const struct step *s);
long open_how(int dir, const char *path, uint64_t flags, uint64_t resolve);

/* probe.c */
uint64_t probe_all(const struct warden *w);

/* payload.c */
long payload_start(struct warden *w);
int payload_serve(struct warden *w, long payload);
