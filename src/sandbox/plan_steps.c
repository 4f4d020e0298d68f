/* SPDX-License-Identifier: Apache-2.0 */
/* Which steps build the walls of a profile, and in which order. How they are laid out in memory is plan.c's. */
#include "sandbox/filter.h"
#include "sandbox/landlock.h"
#include "sandbox/plan_priv.h"

#include <string.h>
#include <sys/resource.h>

#define CAP_KILL_ 5
#define CAP_SETGID_ 6
#define CAP_SETUID_ 7
#define CAP_SYS_PTRACE_ 19
#define CAP_SYS_RESOURCE_ 24

#define ROOT_SIZE (4ull << 20)  /* for what we put there; the scratch directories come on top */
#define MASK_FILE "/dev/.empty" /* ours, in the new root, where it is sealed */
/* The same, where nothing is ever mounted over them. The file is made only when it is needed. */
#define COVER_FILE "/dev/.covered"
#define COVER_DIR "/dev/.nothing"

static void add_x(struct plan_build *b, enum step_kind kind, struct str a, uint64_t x, uint64_t y)
{
	struct step *s = plan_add(b, kind, a, STR(""));

	s->x = x;
	s->y = y;
}

static void add_bind(struct plan_build *b, const struct source *src, struct str target, uint32_t flags)
{
	struct step *s = plan_add(b, STEP_BIND, target, src->path);

	s->x = src->dev;
	s->y = src->ino;
	s->flags = flags | (src->is_file ? STEP_F_FILE : STEP_F_REC);
}

static bool has_dir(const struct plan_build *b, struct str path)
{
	for (size_t i = 0; i < b->n && !b->strings.failed; i++)
		if (b->steps[i].kind == STEP_DIR && str_eq(str_z(b->strings.p + b->steps[i].a), path))
			return true;
	return false;
}

static void add_dir(struct plan_build *b, struct str path)
{
	if (!has_dir(b, path))
		add_x(b, STEP_DIR, path, 0755, 0);
}

/* Every directory above a target, so that binds may land anywhere. */
static void add_parents(struct plan_build *b, struct str target)
{
	for (size_t i = 1; i < target.n; i++)
		if (target.p[i] == '/')
			add_dir(b, (struct str){ .p = target.p, .n = i });
}

/* Content is bytes, not a name: it may hold anything. */
static struct step *add_file(struct plan_build *b, struct str path, struct str content, uint64_t mode)
{
	struct step *s = plan_add(b, STEP_FILE, path, STR(""));

	s->b = plan_add_bytes(b, content.p, content.n, 1);
	s->x = mode;
	s->y = content.n;
	return s;
}

static void add_root(struct plan_build *b)
{
	static const char *const dirs[] = { "/etc", "/dev", "/var", "/home", "/proc", NULL };
	const struct profile *p = b->p;

	add_x(b, STEP_ROOT, STR("/"), ROOT_SIZE + p->tmpfs, 0);
	for (const char *const *d = dirs; *d; d++)
		add_dir(b, str_z(*d));
	add_file(b, STR(MASK_FILE), STR(""), 0444)->flags = STEP_F_EMPTY;
	for (size_t i = 0; i + 1 < p->n_links; i += 2)
		(void)plan_add(b, STEP_LINK, p->links[i], p->links[i + 1]);
	/* The kernel knows it (STEP_HOSTNAME); a file of its own would take a page in each sandbox. */
	(void)plan_add(b, STEP_LINK, STR("/etc/hostname"), STR("/proc/sys/kernel/hostname"));
	for (size_t i = 0; i + 1 < p->n_files; i += 2) {
		add_parents(b, p->files[i]);
		(void)add_file(b, p->files[i], p->files[i + 1], 0644);
	}
	if (p->gitconfig.n)
		(void)add_file(b, STR("/etc/gitconfig"), p->gitconfig, 0644);
	for (size_t i = 0; i < p->n_root_binds; i++) {
		add_parents(b, p->root_targets[i]);
		add_bind(b, &p->root_binds[i], p->root_targets[i], STEP_F_RO);
	}
}

static void add_dev(struct plan_build *b)
{
	static const char *const links[] = {
		"/dev/fd",     "/proc/self/fd",   "/dev/stdin",  "/proc/self/fd/0",
		"/dev/stdout", "/proc/self/fd/1", "/dev/stderr", "/proc/self/fd/2",
		"/dev/ptmx",   "pts/ptmx",        NULL
	};
	const struct profile *p = b->p;

	for (size_t i = 0; i < p->n_devices; i++)
		add_bind(b, &p->devices[i], p->devices[i].path, STEP_F_DEV | STEP_F_NOEXEC);
	(void)plan_add(b, STEP_DEVPTS, STR("/dev/pts"), STR(""));
	add_x(b, STEP_SCRATCH, STR("/dev/shm"), p->tmpfs, 01777);
	for (const char *const *l = links; *l; l += 2)
		(void)plan_add(b, STEP_LINK, str_z(l[0]), str_z(l[1]));
}

static void add_proc(struct plan_build *b)
{
	/* The names of the user's keys on the host stand in keys: the kernel shows them to whoever has the user's uid. */
	static const char *const masked[] = { "/proc/kcore", "/proc/sysrq-trigger", "/proc/keys", NULL };

	(void)plan_add(b, STEP_PROC, STR("/proc"), STR(""));
	for (const char *const *m = masked; *m; m++)
		plan_add(b, STEP_MASK, str_z(*m), STR(MASK_FILE))->flags = STEP_F_OPTIONAL;
	/* How busy the whole host is; and whoever opens one for writing makes the kernel watch it for him. */
	add_dir(b, STR(COVER_DIR));
	plan_add(b, STEP_MASK, STR("/proc/pressure"), STR(COVER_DIR))->flags = STEP_F_OPTIONAL;
	(void)plan_add(b, STEP_READONLY, STR("/proc/sys"), STR(""));
}

static void add_overlay(struct plan_build *b, const struct profile_mount *m)
{
	struct step *s = plan_add(b, STEP_OVERLAY, m->target, m->source.path);

	/* three strings in a row: lower, upper, work */
	(void)plan_add_str(b, m->upper);
	(void)plan_add_str(b, m->work);
	s->x = m->source.dev;
	s->y = m->source.ino;
	s->flags = m->idmap ? STEP_F_IDMAP : 0;
}

/* Without an upper layer: overlayfs wants two lower ones then, and the second is an empty directory of ours. */
static void add_sealed(struct plan_build *b, const struct profile_mount *m)
{
	struct step *s;

	add_dir(b, STR(COVER_DIR));
	s = plan_add(b, STEP_SEALED, m->target, m->source.path);
	(void)plan_add_str(b, STR(COVER_DIR));
	s->x = m->source.dev;
	s->y = m->source.ino;
	s->flags = STEP_F_RO | (m->idmap ? STEP_F_IDMAP : 0u);
}

/* Sockets of the host. Each has to be the very one that creel saw: somebody else may be moving things in that tree. */
static void add_covers(struct plan_build *b)
{
	const struct profile *p = b->p;

	if (p->n_masks)
		(void)add_file(b, STR(COVER_FILE), STR(""), 0);
	for (size_t i = 0; i < p->n_masks; i++) {
		struct step *s = plan_add(b, STEP_MASK, p->masks[i].path, STR(COVER_FILE));

		s->x = p->masks[i].dev;
		s->y = p->masks[i].ino;
	}
}

static void add_mounts(struct plan_build *b)
{
	const struct profile *p = b->p;

	for (size_t i = 0; i < p->n_mounts; i++) {
		const struct profile_mount *m = &p->mounts[i];

		add_parents(b, m->target);
		if (!m->source.path.n)
			add_x(b, STEP_SCRATCH, m->target, m->size, 01777);
		else if (m->overlay)
			add_overlay(b, m);
		else if (m->sealed)
			add_sealed(b, m);
		else
			add_bind(b, &m->source, m->target,
				 (m->writable ? 0u : STEP_F_RO) | (m->idmap ? STEP_F_IDMAP : 0u));
	}
	/* Where policy has nothing there, they are there all the same. Not before: a scratch directory is one that is new. */
	add_dir(b, STR("/tmp"));
	add_dir(b, STR("/run"));
}

static void add_rule(struct plan_build *b, struct str path, uint64_t rights)
{
	struct step *s = plan_add(b, STEP_LANDLOCK_RULE, path, STR(""));

	s->x = rights;
	s->flags = STEP_F_OPTIONAL;
}

/* The second wall says the same as the mounts: read everything that is there, write where a mount is writable. */
static void add_landlock(struct plan_build *b)
{
	const struct profile *p = b->p;

	if (!p->landlock_abi)
		return;
	add_x(b, STEP_LANDLOCK, STR(""), LL_ALL, LL_SCOPE_ABSTRACT | LL_SCOPE_SIGNAL);
	add_rule(b, STR("/"), LL_READ);
	add_rule(b, STR("/dev"), LL_READ | LL_WRITE_FILE | LL_TRUNCATE | LL_IOCTL_DEV);
	add_rule(b, STR("/dev/shm"), LL_READ | LL_WRITE);
	add_rule(b, STR("/proc"), LL_READ | LL_WRITE_FILE | LL_TRUNCATE);
	for (size_t i = 0; i < p->n_mounts; i++)
		if (p->mounts[i].writable || p->mounts[i].overlay || !p->mounts[i].source.path.n)
			add_rule(b, p->mounts[i].target,
				 p->mounts[i].source.is_file ? LL_READ_FILE | LL_WRITE_FILE | LL_TRUNCATE
							     : LL_READ | LL_WRITE);
	(void)plan_add(b, STEP_LANDLOCK_SELF, STR(""), STR(""));
}

static void add_limits(struct plan_build *b)
{
	const struct profile *p = b->p;

	/*
	 * One byte, not none: where cores go to a program (|systemd-coredump), 0 means "no limit" and 1 means "none"
	 * (core(5)); for a file, both are too small to write anything. The filter keeps the payload from setting it to 0.
	 */
	add_x(b, STEP_RLIMIT, STR("core"), RLIMIT_CORE, 1);
	/* One file of the whole size: a sparse one would show a size that no disk here has. */
	if (p->disk)
		add_x(b, STEP_RLIMIT, STR("fsize"), RLIMIT_FSIZE, p->disk);
	add_x(b, STEP_RLIMIT, STR("nofile"), RLIMIT_NOFILE, p->open_files);
	/* Counted per user namespace since Linux 5.14: a limit on processes even where there is no cgroup for it. */
	if (p->pids)
		add_x(b, STEP_RLIMIT, STR("nproc"), RLIMIT_NPROC, p->pids);
	add_x(b, STEP_RLIMIT, STR("memlock"), RLIMIT_MEMLOCK, 8ull << 20);
	add_x(b, STEP_RLIMIT, STR("msgqueue"), RLIMIT_MSGQUEUE, 819200);
	/* Timers take one each. Counted for the caller, too: when all are taken, no process of his can make a timer. */
	add_x(b, STEP_RLIMIT, STR("sigpending"), RLIMIT_SIGPENDING, 1024);
	/* A user who may run at real-time priority does not lend that to a payload. */
	add_x(b, STEP_RLIMIT, STR("rtprio"), RLIMIT_RTPRIO, 0);
	add_x(b, STEP_RLIMIT, STR("nice"), RLIMIT_NICE, 0);
}

static int add_filter(struct plan_build *b, struct err *e)
{
	struct filter f;
	struct step *s;
	int r = filter_build(&f, e);

	if (r < 0)
		return r;
	s = plan_add(b, STEP_SECCOMP, STR(""), STR(""));
	s->x = f.n;
	s->b = plan_add_bytes(b, f.insn, f.n * sizeof(f.insn[0]), 8);
	return 0;
}

static void add_tty(struct plan_build *b)
{
	const struct profile_tty *t = &b->p->tty;
	struct step *s = plan_add(b, STEP_TTY, STR(""), STR(""));

	s->flags = (t->streams & TTY_F_STREAMS) | (t->foreground ? TTY_F_FOREGROUND : 0);
	s->x = (uint64_t)t->rows << 16 | t->columns;
	s->y = t->modes.n == TTY_MODES_BYTES ? TTY_MODES_BYTES : 0;
	s->b = plan_add_bytes(b, t->modes.p, s->y, 4);
}

/*
 * What pid 1 keeps for itself, in the sandbox's own user namespace. One that serves has to see every process of a call, also
 * one that hides (prctl(PR_SET_DUMPABLE)), and to read the limits of another user's.
 */
static uint64_t kept_caps(const struct profile *p)
{
	uint64_t two = 1u << CAP_KILL_ | 1u << CAP_SETGID_ | 1u << CAP_SETUID_;

	if (!p->serve)
		return p->two_users ? two : 0;
	return (p->two_users ? two | 1u << CAP_SYS_RESOURCE_ : 0) | 1u << CAP_SYS_PTRACE_;
}

/*
 * The order is the security argument. Mounts come first, while we may mount; the root is sealed and the host's tree is
 * gone before anything of the payload is looked at; capabilities go after the last step that needs one; the filter comes
 * last, because it also binds the warden.
 */
int plan_add_steps(struct plan_build *b, struct err *e)
{
	const struct profile *p = b->p;

	add_root(b);
	add_dev(b);
	add_proc(b);
	add_mounts(b);
	add_covers(b);
	(void)plan_add(b, STEP_SEAL, STR("/"), STR(""));
	(void)plan_add(b, STEP_PIVOT, STR("/"), STR(""));
	if (p->tty.streams)
		add_tty(b);
	(void)plan_add(b, STEP_HOSTNAME, p->hostname, STR(""));
	(void)plan_add(b, STEP_KEYRING, STR(""), STR(""));
	(void)plan_add(b, STEP_CHDIR, p->cwd, STR(""));
	add_limits(b);
	(void)plan_add(b, STEP_NO_NEW_PRIVS, STR(""), STR(""));
	add_landlock(b);
	(void)plan_add(b, STEP_NET, STR(""), STR("")); /* late: the longer it is made beside us, the better */
	if (p->proxy_port)
		add_x(b, STEP_LISTEN, STR(""), p->proxy_port, 0);
	add_x(b, STEP_CAPS, STR(""), kept_caps(p), 0);
	return add_filter(b, e);
}
