/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walls of one sandbox, as plain data: what the decision grants, with everything about the host filled in that the
 * plan needs. Made once per sandbox; the plan is a pure function of it.
 */
#pragma once

#include "model/names.h"

#include <stdint.h>

/* A source on the host that has been opened, resolved and checked; the warden takes it only if it is still the same. */
struct source {
	struct str path; /* absolute, without symlinks */
	uint64_t dev, ino;
	bool is_file;    /* not a directory */
	bool is_special; /* neither directory nor regular file */
};

struct profile_mount {
	struct source source; /* empty path: a tmpfs */
	struct str target;
	bool writable;
	bool overlay; /* upper and work are private directories of ours */
	bool sealed;  /* read-only, and as an overlay: no socket in it is one of the host's */
	struct str upper, work;
	bool idmap;    /* its owner is the payload's user inside (root alone can make such a mount) */
	uint64_t size; /* of a tmpfs */
	bool devices;  /* device nodes work below it */
};

/* A terminal of its own, made inside. */
struct profile_tty {
	unsigned streams; /* 1 << 0, 1, 2: the standard streams that are it; 0 = there is none */
	bool foreground;  /* it may read at once; otherwise whoever reads is stopped, and creel decides */
	uint16_t rows, columns; /* at the start; 0 = unknown */
	struct str modes;       /* what TCGETS said of the caller's own; empty = as the kernel makes them */
};

struct profile {
	/* what runs */
	bool serve; /* nothing yet: calls are made later (sandbox/warm.h), and argv is empty */
	struct strs argv, env;
	struct str path; /* where argv[0] is looked for when it has no slash */
	struct str cwd;
	struct profile_tty tty;

	/* who: uid and gid outside, inside; with two users also the warden's */
	uint32_t outer_uid, outer_gid, inner_uid, inner_gid;
	bool two_users;
	bool subids; /* the second by newuidmap: the payload is the caller, and mounts keep their owners */
	uint32_t warden_uid, warden_gid;

	/* what it sees */
	const struct source *
		root_binds; /* read-only, at their own path: /usr, or an image's top level (targets in root_targets) */
	const struct str *root_targets;
	struct str image; /* the directory that the root comes from; empty = the host's own */
	size_t n_root_binds;
	const struct str *links; /* pairs: path, what it says */
	size_t n_links;
	const struct profile_mount *mounts;
	size_t n_mounts;
	const struct source *masks; /* sockets of the host, by their path inside: covered */
	size_t n_masks;
	bool masking; /* some directory of the host is seen as it is */
	bool later; /* all of it lies on the file system of the root directory: that is in use whatever we do */
	bool private_stays;      /* what is below is a session's: it outlives the sandbox */
	struct str private_dir;  /* of this run alone, made by the warden: the overlays' upper and work */
	const struct str *files; /* pairs: path, content */
	size_t n_files;
	const struct source *devices;
	size_t n_devices;
	/* Whether it may know who commits; /etc/gitconfig (empty = there is none), of which a change alone makes no other sandbox. */
	bool git;
	struct str gitconfig;
	struct str hostname;
	struct str blocked; /* the source that made it fail: it may not be seen inside */

	/* limits */
	uint64_t timeout_ms, grace_ms;
	uint64_t pids, memory, open_files, tmpfs, disk; /* disk: 0 = no limit */
	double cpus;

	uint16_t proxy_port;   /* of its loopback: a socket that listens there is passed out; 0 = none */
	bool time_optional;    /* policy can do without clocks of its own */
	uint32_t landlock_abi; /* 0 = the kernel has none */
	uint64_t crash_at;     /* tests */
};
