/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What creel and its warden say to each other. The warden has no libc, so this header needs only the
 * compiler's own; everything is fixed-size and position-independent.
 *
 * creel writes the plan into a memfd and seals it: header, steps, then one block of NUL-terminated strings to
 * which everything refers by offset. The warden maps it read-only and trusts it no further than its bounds.
 *
 * The warden is started before the plan is there, and makes the namespaces meanwhile. When the plan is sealed, creel
 * closes its end of a pipe, and both halves of the warden hear that at once. A creel that died has sealed nothing.
 */
#pragma once

#include <stdint.h>

#define PLAN_MAGIC 0x6e616c70u /* "plan" */
#define PLAN_VERSION 6u
#define PLAN_MAX_BYTES (4u << 20)
#define PLAN_MAX_STEPS 512u
#define PLAN_MAX_ARGS 65536u /* arguments, and variables */

/* File descriptors that the warden is started with; everything else is closed before it looks. */
enum warden_fd {
	WARDEN_FD_PLAN = 3,
	WARDEN_FD_CONTROL = 4, /* SOCK_SEQPACKET to creel */
	WARDEN_FD_GO = 5,      /* a stream that creel ends when the plan is sealed */
	WARDEN_FD_LAST = 6,    /* inside: the line to the outside */
};

/*
 * Users in a sandbox, and on the host when root starts it: there they exist nowhere, so nothing in it owns, or is owned by, anybody of
 * the host. The same for every plan of root's, so that the warden can map them before it has one.
 */
#define INNER_ID 1000u
#define ROOT_PAYLOAD_ID 0x6c726300u
#define ROOT_WARDEN_ID 0x6c726301u

/* The host's programs that map a second user. By these names alone: whoever sets PATH does not choose them. */
#define HELPER_UID "/usr/bin/newuidmap"
#define HELPER_GID "/usr/bin/newgidmap"

/* The argument of the warden. */
#define WARDEN_EARLY "early" /* makes the namespaces at once, and maps root's users */
#define WARDEN_PLAIN "plain" /* after it: uid 0 that is not the host's root (base/root.h) */
#define WARDEN_WAIT "wait"   /* makes nothing before the plan is sealed: creel makes its groups first */

/*
 * To a warden that waits, creel says through the pipe which cgroups it is about to make, each before it makes it: so there is always
 * somebody who removes them when creel cannot any more. A record is one of these, a path and a NUL.
 */
enum group_record {
	GROUP_V1 = '1',   /* creel moves the warden into it */
	GROUP_V2 = '2',   /* may be made, and may be gone again */
	GROUP_BORN = '@', /* of those of v2 the one that pid 1 is born in */
};
#define GROUP_RECORDS_MAX 24576u /* bytes of all; a pipe takes more */

/* In the order in which they are built. Names in sandbox/plan.c and in the warden's report. */
enum step_kind {
	STEP_NONE = 0,
	STEP_ROOT, /* tmpfs that becomes /; x = size */
	STEP_DIR,  /* a = path, x = mode */
	STEP_LINK, /* a = path, b = what it says */
	STEP_FILE, /* a = path, b = content, x = mode */
	STEP_BIND, /* a = target, b = source (absolute, resolved), x = st_dev, y = st_ino (0,0 = do not check) */
	STEP_SCRATCH, /* a = target, y = mode; x = size, where it cannot lie in the root's own tmpfs */
	STEP_OVERLAY, /* a = target, b = "lowerdir=…,upperdir=…,workdir=…" made by creel from paths it owns */
	STEP_SEALED, /* a = target; b starts two strings: a directory of the host, an empty one in the new root */
	STEP_PROC, /* a = target */
	STEP_MASK, /* a = path in the new root: hidden behind b; x, y = what must be there, as for STEP_BIND */
	STEP_READONLY, /* a = path in the new root: bound onto itself, read-only */
	STEP_DEVPTS,   /* a = target */
	STEP_SEAL,     /* the root tmpfs becomes read-only */
	STEP_PIVOT,
	STEP_TTY, /* a PTY in the new devpts, x = rows << 16 | columns, b = its modes, y bytes; the master goes to creel */
	STEP_HOSTNAME, /* a = name */
	STEP_RLIMIT,   /* x = resource, y = value */
	STEP_KEYRING,
	STEP_CHDIR,         /* a = path; b = fallback */
	STEP_LANDLOCK,      /* x = handled file access, y = scoped; opens the rule set */
	STEP_LANDLOCK_RULE, /* a = path, x = rights */
	STEP_LANDLOCK_SELF,
	STEP_NET, /* into the network namespace that was made meanwhile, with loopback up */
	STEP_LISTEN, /* x = port: a socket that listens there, on its loopback alone; it goes to creel, and nobody inside has it */
	STEP_CAPS, /* x = what pid 1 keeps for itself */
	STEP_NO_NEW_PRIVS,
	STEP_SECCOMP, /* b = offset of struct sock_filter[x] */
	STEP_COUNT_
};

enum step_flag {
	STEP_F_RO = 1,
	STEP_F_NOEXEC = 2,
	STEP_F_DEV = 4,      /* device nodes work below it */
	STEP_F_OPTIONAL = 8, /* a missing source is skipped, and said so */
	STEP_F_IDMAP = 16,   /* owner of the source <-> the payload's uid, by the user namespace */
	STEP_F_FILE = 32,    /* the source is not a directory */
	STEP_F_REC = 64,     /* with the mounts below it */
	STEP_F_EMPTY =
		128, /* a file that stays empty and is never covered: those that are need only a name of it */
};

/* Flags of STEP_TTY; the first three are 1 << the standard stream that is the terminal. */
enum tty_flag {
	TTY_F_STREAMS = 7,
	TTY_F_FOREGROUND = 8,
};
#define TTY_MODES_BYTES 36 /* struct termios, as the kernel has it */

struct step {
	uint32_t kind, flags;
	uint32_t a, b; /* offsets into the strings */
	uint64_t x, y;
};

enum plan_flag {
	PLAN_F_TTY = 1,
	PLAN_F_PARENT_MAPS = 2, /* creel is root: two uids, the map is written from outside */
	PLAN_F_HELPER_MAPS = 4, /* two uids, the map is written by newuidmap and newgidmap */
	PLAN_F_TWO_USERS = PLAN_F_PARENT_MAPS | PLAN_F_HELPER_MAPS,
	PLAN_F_TIME_OPTIONAL = 8, /* policy can do without clocks of its own */
	PLAN_F_SERVE = 16,        /* no payload of its own: pid 1 starts what it is asked to (wire_serve.h) */
	PLAN_F_STAYS =
		32, /* the private directory is there before and after: taken, or made, and never removed */
	PLAN_F_LATER = 64, /* the kernel may take the mounts down when everybody has gone (later.c) */
};

struct plan_header {
	uint32_t magic, version, size, flags;
	uint32_t n_steps, steps;     /* count and offset */
	uint32_t strings, n_strings; /* offset and length; the last byte is NUL */
	uint32_t argv, argc;         /* offset of argc string offsets */
	uint32_t env, envc;
	uint32_t path; /* directories to look for argv[0] in, as PATH has them; 0 = argv[0] is a path */
	uint32_t private_dir; /* to be made, and removed if creel cannot; 0 = none */
	uint32_t ns_flags;    /* CLONE_NEW* */
	uint32_t outer_uid, outer_gid, inner_uid, inner_gid;
	uint32_t warden_outer_uid, warden_outer_gid; /* with PLAN_F_TWO_USERS */
	uint64_t timeout_ms;                         /* 0 = none */
	uint64_t grace_ms;                           /* between TERM and KILL */
	uint64_t disk_bytes, disk_files;             /* of the upper layers; 0 = nobody watches */
	uint64_t probes;                             /* bits 1 << enum probe: must be refused */
	uint64_t crash_at;                           /* tests: SIGKILL oneself before step n; 0 = never */
};

/* Forbidden things that the probe tries in the final context. A bit is set when the thing was refused. */
enum probe {
	PROBE_MOUNT = 0,
	PROBE_UNSHARE_USER,
	PROBE_SETNS,
	PROBE_PTRACE_WARDEN,
	PROBE_KILL_WARDEN,
	PROBE_WARDEN_MEM,
	PROBE_WRITE_ROOT,
	PROBE_WRITE_USR,
	PROBE_SYS_ABSENT,
	PROBE_HOST_PIDS,
	PROBE_CAPS_EMPTY,
	PROBE_BOUNDING_EMPTY,
	PROBE_NO_NEW_PRIVS,
	PROBE_SECCOMP_ON,
	PROBE_KEYCTL,
	PROBE_BPF,
	PROBE_PERF,
	PROBE_IO_URING,
	PROBE_USERFAULTFD,
	PROBE_INIT_MODULE,
	PROBE_REBOOT,
	PROBE_NETLINK,
	PROBE_PACKET,
	PROBE_NO_ROUTE,
	PROBE_MKNOD,
	PROBE_CHROOT,
	PROBE_OPEN_BY_HANDLE,
	PROBE_SETUID_ROOT,
	PROBE_CLOCK_SET,
	PROBE_SYSCTL_WRITE,
	PROBE_NO_FDS,
	PROBE_NO_TTY,
	PROBE_PERSONALITY,
	PROBE_TIOCSTI,
	PROBE_LANDLOCK_ON,
	PROBE_CGROUP_HIDDEN,
	PROBE_COUNT_
};

enum warden_msg {
	MSG_NONE = 0,
	/* warden -> creel */
	MSG_READY, /* walls stand; the payload starts now, or requests are served */
	MSG_FAILED,
	MSG_EXIT,
	MSG_SKIPPED, /* an optional source is missing: value = step */
	MSG_TTY,     /* carries the master's fd */
	MSG_STOPPED, /* value = the signal that stopped the payload; said once, until MSG_CONTINUE; only with a terminal */
	MSG_LISTEN, /* carries the socket of STEP_LISTEN */
	/* creel -> warden */
	MSG_SIGNAL,   /* value = signal */
	MSG_CONTINUE, /* after MSG_STOPPED; value = 1: the terminal is the payload's, 0: it is nobody's */
	MSG_END,      /* pid 1 ends, and with it everything */
};

enum warden_reason { REASON_EXIT = 0, REASON_SIGNAL, REASON_TIMEOUT, REASON_LOST, REASON_DISK };

/* REASON_DISK: which of them it was, in `value` */
enum disk_end {
	DISK_FINE = 0,
	DISK_BYTES, /* the layers hold more than they may */
	DISK_FILES, /* or more files */
	DISK_HIDDEN, /* something cannot be counted, and more is gone from the file system than the layers may hold */
	DISK_RESERVE, /* the file system is nearly full */
};

struct warden_report {
	uint32_t msg;
	uint32_t step;   /* MSG_FAILED: index into the plan, or STEP_* kinds above it: see `what` */
	int32_t err;     /* errno; MSG_EXIT: EBUSY when something inside has not ended yet */
	uint32_t reason; /* enum warden_reason */
	int32_t value;   /* exit code or signal; pid; step */
	uint32_t landlock_abi;
	uint32_t time_ns; /* 1 = clocks of its own */
	uint64_t probes;  /* refused */
	uint64_t wall_us, user_us, sys_us, max_rss_kb;
	char what[160];
};
