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

/*
 * For what is big and hardly ever used: behind everything else, in this order. What is used as long as a sandbox lives then shares a few pages (0: what
 * is big), and what is used at all lies in the 2 MiB of one page table, which each of our processes has to have and to copy.
 */
#define SPARSE(order) __attribute__((section(".bss.sparse" #order)))

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
	bool closed; /* the memory that we share cannot be dumped, and it changes nothing any more that would open it */
};

/* task.c */
typedef long task_fn(void);
struct task {
	long pid;
	task_fn *work;
	long result;
	int busy; /* 1; the kernel makes it 0 when the task has left our memory */
};
/* All: 0 or more, or -errno. Ending one that never began is an error. */
long task_begin(struct task *t, task_fn *work);
long task_result(const struct task *t); /* waits; for whoever shares our memory and cannot reap it */
long task_end(struct task *t);          /* waits and reaps */
void tasks_plain(void);                 /* before the first that shares our memory */
void tasks_forget(void);                /* when all have ended */

/* Records of enum group_record, one after the other. */
struct group_records {
	const char *p;
	size_t n;
};

/* While the walls are built, and forgotten with the plan. */
struct built {
	const char *empty;           /* an empty file of ours that nothing is mounted over; NULL = none yet */
	int tree_fd[PLAN_MAX_STEPS]; /* mounts that were made outside and have arrived, by step; 0 = none */
	uint64_t own_dev[OWN_MAX]; /* file systems that we made: the only ones in which anything is created */
	char parent[4096];         /* of what was created last, below the new root */
} __attribute__((aligned(4096)));

struct warden {
	const struct plan_header *plan; /* NULL until it is there */
	const struct step *steps;
	const char *strings;
	int root_fd;  /* the new root, before pivot */
	int rules_fd; /* Landlock */
	int tty_fd;   /* slave of our own PTY */
	uint32_t tty_flags;
	bool told_stopped; /* creel has not answered yet */
	int signals_fd;
	struct task net,
		detach;    /* what is made beside us: the network namespace; the host's tree, taken away */
	uint32_t n_mounts; /* that we have attached */
	bool has_net;      /* in the network namespace that the plan asks for */
	uint32_t umask;    /* the caller's; ours is 0, so that modes are what the plan says */
	uint32_t landlock_abi;
	bool mapped;    /* outside: the users of root's plans, before there is one */
	bool plain;     /* uid 0, and not the host's: WARDEN_PLAIN */
	bool waits;     /* nothing is made before the plan is there: WARDEN_WAIT */
	int life[2];    /* sockets, from outside to pid 1; closed = outside has gone */
	uint32_t heard; /* of what outside says once */
	unsigned n_own;
	int parent_fd;
	int live_fd, private_fd; /* outside: where the private directory lies, and itself, locked */
	bool private_stays;
	struct group_records groups;       /* records of cgroups to remove when creel cannot any more */
	struct child_said own_said, *said; /* what the payload's process says before it executes */
	int proc_fd;                       /* serving: /proc, for mark.c */
	int children_fd;                   /* and who our children are; negative: nobody says */
	long proc_from;                    /* and where its processes begin */
	uint64_t mark_top;                 /* and the highest that the second mark can be */
	struct plan_header kept;           /* what is left of the plan */
	struct warden_report report;
	struct built *built; /* while they are built */
};

int warden_main(const char *const *args);
/* Waits until the plan is sealed, and reads it. -EPIPE: creel has gone before that. */
long plan_wait(struct warden *w);
void plan_forget(struct warden *w);

/* memory.c: given back when it is worth it; a program that ends before that would wait for us. */
#define FORGET_MS 20
struct warden *warden_room(void);
extern size_t page_bytes; /* of this kernel: 4, 16 or 64 KiB on arm64 */
/* Whole pages of what is not read again give their memory back, and are clean when they are used again. */
void pages_forget(void *from, size_t n);
void stack_forget(void); /* what lies below where we stand */
/* Whatever is mapped above our own program: nothing there is used any more. */
void above_forget(void);

_Noreturn void die(int code);
long spawn_vm(int (*fn)(void *), void *arg, void *stack_top, long flags, int *child_tid);

/* groups.c: the cgroups that creel makes. Waits for the plan and hears of them; -EPIPE: creel has gone before the seal. */
long groups_wait(struct warden *w);
long groups_open_birth(const struct warden *w); /* -ENOENT: none */
void groups_remove(const struct warden *w);

/* helper.c: writes the user map by the host's setuid programs. */
long helper_maps(const struct plan_header *p, long pid);
void helper_forget(void); /* gives back the memory that was needed until then */

/* inside.c: pid 1 of the sandbox; outside.c: its parent on the host */
_Noreturn void inside(struct warden *w);
long change_user_late(struct warden *w); /* into the warden's, with PLAN_F_HELPER_MAPS */
int outside(struct warden *w, long pid, int pidfd);
/* The last thing that outside does, whatever happened before: waits until creel is done or gone, and leaves nothing behind. */
void finish(const struct warden *w);
_Noreturn void fail_outside(struct warden *w, long err, const char *what);

/* private.c: the run's private directory, made and removed outside */
long private_make(struct warden *w);          /* says what went wrong */
void private_settled(const struct warden *w); /* pid 1 has all that it needs */
void private_remove(const struct warden *w);
/* remove.c: everything below a directory, whatever a payload put there */
void remove_below(int top);
void give_rights(int dir, const char *name);

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

/*
 * control.c. What outside makes while pid 1 is at work is told over `life`: the number of a step, with the mount that was made
 * for it, or one of these.
 */
#define LIFE_MAPPED 0xffffffffu  /* the users are mapped */
#define LIFE_PRIVATE 0xfffffffeu /* the private directory is there */
#define LIFE_READY 0xfffffffdu   /* outside watches: the payload may start */
long life_send(const struct warden *w, uint32_t what, int fd_to_pass);
void life_wait(struct warden *w, uint32_t what);
int life_tree(struct warden *w, uint32_t step);
/* Two descriptors in one message. Never waits. */
long pass_two(int socket, int a, int b);
long control_send(const struct warden_report *r, int fd_to_pass);
long control_recv(struct warden_report *r, int flags);
/* Never waits: -EAGAIN. The bytes of one message, and the descriptors that came with it. */
struct taken {
	char *bytes;
	size_t max;
	int *fds;
	unsigned n_fds;
};
long message_take(int socket, struct taken *t, unsigned max_fds);
long message_put(int socket, const void *bytes, size_t n, int fd_to_pass);
void complain(struct warden *w, uint32_t step, long err, const char *what);
/* Says what failed and ends the process. */
_Noreturn void fail(struct warden *w, uint32_t step, long err, const char *what);

/* userns.c */
long userns_map_self(const struct plan_header *p);
long userns_limit(int proc); /* a descriptor of /proc, while it can be written to */

/* time.c: before we cannot be dumped, while we have capabilities */
long time_unshare(struct warden *w);

/* mounts.c, walls.c: one function per step kind; 0 or -errno, with w->report.what set on failure */
typedef long step_fn(struct warden *w, const struct step *s);
step_fn do_root, do_dir, do_link, do_file, do_bind, do_scratch, do_overlay, do_sealed, do_proc, do_mask,
	do_readonly, do_devpts, do_seal, do_pivot;
step_fn do_tty, do_hostname, do_net, do_listen, do_rlimit, do_keyring, do_chdir, do_landlock,
	do_landlock_rule, do_landlock_self, do_caps, do_no_new_privs, do_seccomp;

/* walls.c: empties the bounding set, which only a new program would look at */
long caps_unbound(void);

/* net.c, mounts.c: tasks beside us, before the plan is there */
void net_begin(struct warden *w);
void detach_begin(struct warden *w);
/* pivot.c: what the sandbox consists of when the host's tree has gone; 0 = not known */
uint32_t detach_left(void);
/* later.c: the last thing before pid 1 ends; whoever lives there by then, the kernel ends with it */
void mounts_later(const struct warden *w);
/* cpus.c: this task, and what it begins until it lets go; all others that it may run on; all that it may run on. */
void cpus_stay(void);
void cpus_elsewhere(void);
void cpus_any(void);
/* Of a sandbox that serves: to where its caller waits, and a child from there to wherever it may be. */
void cpus_follow(uint16_t cpu);
void cpus_home(void);

/* idmap.c: outside, as root: mounts whose owner is the payload's user inside. 0, or -errno of *ret_step */
long idmap_prepare(struct warden *w, uint32_t *ret_step);
void idmap_settled(void); /* pid 1 has them all */
void idmap_forget(void);  /* gives back the memory that was needed until then */

/* mounts.c */
long open_source(struct warden *w, const struct step *s);
long open_how(int dir, const char *path, uint64_t flags, uint64_t resolve);

/* probe.c */
uint64_t probe_all(const struct warden *w);

/* payload.c */
long payload_start(struct warden *w);
void started_forget(struct warden *w); /* gives back the memory that was needed until then */
int payload_serve(struct warden *w, long payload);
/* In the process that is to be executed: the payload's user, without capabilities. */
long become_payload(const struct plan_header *p);
/* The search that a shell makes, when there is a path; argv[0] itself otherwise. Returns only with -errno. */
long exec_program(const char *path, char **argv, char **env);
/*
 * A child that shares our memory and runs fn(w) on its own stack. Returns when it has been executed or has ended, or after so long
 * that somebody must have stopped it: then it has been killed. What it said is in *w->said.
 */
long spawn_begin(struct warden *w, int (*fn)(void *));
/* Whether the last one may still use our memory: it has not executed yet, nor ended. */
bool spawn_shares(void);
/* Until it does not; one that takes this long is killed where there are others who could hold it up. */
#define SPAWN_PATIENCE_S 2
void spawn_wait(const struct warden *w, long pid);
void open_signals(struct warden *w);
#define SIGNAL_END \
	SIGQUIT /* of the outside to pid 1, while it has one payload: end everything, and say what it has used */
bool signal_from_outside(const uint32_t info[32], uint32_t sig);
uint64_t usec(const void *timeval);

/* serve.c: requests, instead of one payload */
_Noreturn void serve(struct warden *w);
/* call.c */
struct request;
struct call_fds {
	int stream[3], body, program; /* negative = none */
};
long call_start(struct warden *w, struct request *r, const struct call_fds *fds);
/* Waits until it has executed, or could not. Until then *r and what it points to are the child's as well. */
void call_settle(const struct warden *w, const struct request *r, long pid);
/* mark.c: which call a process belongs to */
long mark_open(struct warden *w);
long mark_self(const struct warden *w, uint64_t id);
/* For each process that may belong to a call; returns how many were signalled: those for which `wanted` says so. */
typedef bool mark_wanted(uint64_t low, uint64_t high);
uint32_t mark_kill(const struct warden *w, mark_wanted *wanted, int sig);
/* Whether each of our children is one that `known` knows; false also when that cannot be told. */
bool mark_children(const struct warden *w, bool (*known)(long pid));
