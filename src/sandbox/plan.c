/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/plan.h"
#include "base/cleanup.h"
#include "sandbox/filter.h"
#include "sandbox/landlock.h"
#include "sandbox/wire.h"

#include <errno.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/resource.h>

#define CAP_KILL_ 5
#define CAP_SETGID_ 6
#define CAP_SETUID_ 7

#define BYTES_PER_FILE 16384u /* as mke2fs has it: an inode for each */
#define FILES_LEAST 4096u
#define ROOT_SIZE (4ull << 20)  /* for what we put there; the scratch directories come on top */
#define MASK_FILE "/dev/.empty" /* ours, in the new root, where it is sealed */
/* The same, where nothing is ever mounted over them: made only when they are needed. */
#define COVER_FILE "/dev/.covered"
#define COVER_DIR "/dev/.nothing"

struct build {
	const struct profile *p;
	struct step steps[PLAN_MAX_STEPS + 1]; /* the last takes what is too much */
	size_t n;
	struct buf strings;
	bool nul, too_many;
};

static void pad(struct buf *b, size_t align)
{
	static const char zeros[8];

	buf_put(b, (struct str){ .p = zeros, .n = (align - b->n % align) % align });
}

static uint32_t add_bytes(struct build *b, const void *bytes, size_t n, size_t align)
{
	uint32_t at;

	pad(&b->strings, align);
	at = (uint32_t)b->strings.n;
	buf_put(&b->strings, (struct str){ .p = bytes, .n = n });
	buf_putc(&b->strings, '\0');
	return at;
}

static uint32_t add_str(struct build *b, struct str s)
{
	b->nul = b->nul || (s.n && memchr(s.p, '\0', s.n)); /* "a\0b" must not become "a" */
	return add_bytes(b, s.p, s.n, 1);
}

static struct step *add(struct build *b, enum step_kind kind, struct str a, struct str s)
{
	struct step *st = &b->steps[b->n];

	if (b->n < PLAN_MAX_STEPS)
		b->n++;
	else
		b->too_many = true;
	*st = (struct step){ .kind = kind, .a = add_str(b, a), .b = add_str(b, s) };
	return st;
}

static void add_x(struct build *b, enum step_kind kind, struct str a, uint64_t x, uint64_t y)
{
	struct step *s = add(b, kind, a, STR(""));

	s->x = x;
	s->y = y;
}

static void add_bind(struct build *b, const struct source *src, struct str target, uint32_t flags)
{
	struct step *s = add(b, STEP_BIND, target, src->path);

	s->x = src->dev;
	s->y = src->ino;
	s->flags = flags | (src->is_file ? STEP_F_FILE : STEP_F_REC);
}

static bool has_dir(const struct build *b, struct str path)
{
	for (size_t i = 0; i < b->n && !b->strings.failed; i++)
		if (b->steps[i].kind == STEP_DIR && str_eq(str_z(b->strings.p + b->steps[i].a), path))
			return true;
	return false;
}

static void add_dir(struct build *b, struct str path)
{
	if (!has_dir(b, path))
		add_x(b, STEP_DIR, path, 0755, 0);
}

/* Every directory above a target, so that binds may land anywhere. */
static void add_parents(struct build *b, struct str target)
{
	for (size_t i = 1; i < target.n; i++)
		if (target.p[i] == '/')
			add_dir(b, (struct str){ .p = target.p, .n = i });
}

/* Content is bytes, not a name: it may hold anything. */
static void add_file(struct build *b, struct str path, struct str content, uint64_t mode)
{
	struct step *s = add(b, STEP_FILE, path, STR(""));

	s->b = add_bytes(b, content.p, content.n, 1);
	s->x = mode;
	s->y = content.n;
}

static void add_root(struct build *b)
{
	static const char *const dirs[] = { "/etc", "/dev", "/var", "/home", "/proc", NULL };
	const struct profile *p = b->p;

	add_x(b, STEP_ROOT, STR("/"), ROOT_SIZE + p->tmpfs, 0);
	for (const char *const *d = dirs; *d; d++)
		add_dir(b, str_z(*d));
	for (size_t i = 0; i + 1 < p->n_links; i += 2)
		(void)add(b, STEP_LINK, p->links[i], p->links[i + 1]);
	for (size_t i = 0; i + 1 < p->n_files; i += 2) {
		add_parents(b, p->files[i]);
		add_file(b, p->files[i], p->files[i + 1], 0644);
	}
	for (size_t i = 0; i < p->n_root_binds; i++) {
		add_parents(b, p->root_targets[i]);
		add_bind(b, &p->root_binds[i], p->root_targets[i], STEP_F_RO);
	}
}

static void add_dev(struct build *b)
{
	static const char *const links[] = {
		"/dev/fd",     "/proc/self/fd",   "/dev/stdin",  "/proc/self/fd/0",
		"/dev/stdout", "/proc/self/fd/1", "/dev/stderr", "/proc/self/fd/2",
		"/dev/ptmx",   "pts/ptmx",        NULL
	};
	const struct profile *p = b->p;

	for (size_t i = 0; i < p->n_devices; i++)
		add_bind(b, &p->devices[i], p->devices[i].path, STEP_F_DEV | STEP_F_NOEXEC);
	(void)add(b, STEP_DEVPTS, STR("/dev/pts"), STR(""));
	add_x(b, STEP_SCRATCH, STR("/dev/shm"), p->tmpfs, 01777);
	for (const char *const *l = links; *l; l += 2)
		(void)add(b, STEP_LINK, str_z(l[0]), str_z(l[1]));
}

static void add_proc(struct build *b)
{
	/* The names of the user's keys on the host stand in keys: the kernel shows them to whoever has the user's uid. */
	static const char *const masked[] = { "/proc/kcore", "/proc/sysrq-trigger", "/proc/keys", NULL };

	add_file(b, STR(MASK_FILE), STR(""), 0444);
	(void)add(b, STEP_PROC, STR("/proc"), STR(""));
	for (const char *const *m = masked; *m; m++)
		add(b, STEP_MASK, str_z(*m), STR(MASK_FILE))->flags = STEP_F_OPTIONAL;
	(void)add(b, STEP_READONLY, STR("/proc/sys"), STR(""));
}

static void add_overlay(struct build *b, const struct profile_mount *m)
{
	struct step *s = add(b, STEP_OVERLAY, m->target, m->source.path);

	/* three strings in a row: lower, upper, work */
	(void)add_str(b, m->upper);
	(void)add_str(b, m->work);
	s->x = m->source.dev;
	s->y = m->source.ino;
	s->flags = m->idmap ? STEP_F_IDMAP : 0;
}

/* Without an upper layer: overlayfs wants two lower ones then, and the second is an empty directory of ours. */
static void add_sealed(struct build *b, const struct profile_mount *m)
{
	struct step *s;

	add_dir(b, STR(COVER_DIR));
	s = add(b, STEP_SEALED, m->target, m->source.path);
	(void)add_str(b, STR(COVER_DIR));
	s->x = m->source.dev;
	s->y = m->source.ino;
	s->flags = STEP_F_RO | (m->idmap ? STEP_F_IDMAP : 0u);
}

/* Sockets of the host. Each has to be the very one that creel saw: somebody else may be moving things in that tree. */
static void add_covers(struct build *b)
{
	const struct profile *p = b->p;

	if (p->n_masks)
		add_file(b, STR(COVER_FILE), STR(""), 0);
	for (size_t i = 0; i < p->n_masks; i++) {
		struct step *s = add(b, STEP_MASK, p->masks[i].path, STR(COVER_FILE));

		s->x = p->masks[i].dev;
		s->y = p->masks[i].ino;
	}
}

static void add_mounts(struct build *b)
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

static void add_rule(struct build *b, struct str path, uint64_t rights)
{
	struct step *s = add(b, STEP_LANDLOCK_RULE, path, STR(""));

	s->x = rights;
	s->flags = STEP_F_OPTIONAL;
}

/* The second wall says the same as the mounts: read everything that is there, write where a mount is writable. */
static void add_landlock(struct build *b)
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
	(void)add(b, STEP_LANDLOCK_SELF, STR(""), STR(""));
}

static void add_limits(struct build *b)
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
	/* A user who may run at real-time priority does not lend that to a payload. */
	add_x(b, STEP_RLIMIT, STR("rtprio"), RLIMIT_RTPRIO, 0);
	add_x(b, STEP_RLIMIT, STR("nice"), RLIMIT_NICE, 0);
}

static int add_filter(struct build *b, struct err *e)
{
	struct filter f;
	struct step *s;
	int r = filter_build(&f, e);

	if (r < 0)
		return r;
	s = add(b, STEP_SECCOMP, STR(""), STR(""));
	s->x = f.n;
	s->b = add_bytes(b, f.insn, f.n * sizeof(f.insn[0]), 8);
	return 0;
}

static void add_tty(struct build *b)
{
	const struct profile_tty *t = &b->p->tty;
	struct step *s = add(b, STEP_TTY, STR(""), STR(""));

	s->flags = (t->streams & TTY_F_STREAMS) | (t->foreground ? TTY_F_FOREGROUND : 0);
	s->x = (uint64_t)t->rows << 16 | t->columns;
	s->y = t->modes.n == TTY_MODES_BYTES ? TTY_MODES_BYTES : 0;
	s->b = add_bytes(b, t->modes.p, s->y, 4);
}

/*
 * The order is the security argument. Mounts come first, while we may mount; the root is sealed and the host's tree is
 * gone before anything of the payload is looked at; capabilities go after the last step that needs one; the filter comes
 * last, because it also binds the warden.
 */
static int add_all(struct build *b, struct err *e)
{
	const struct profile *p = b->p;

	add_root(b);
	add_dev(b);
	add_proc(b);
	add_mounts(b);
	add_covers(b);
	(void)add(b, STEP_SEAL, STR("/"), STR(""));
	(void)add(b, STEP_PIVOT, STR("/"), STR(""));
	if (p->tty.streams)
		add_tty(b);
	(void)add(b, STEP_HOSTNAME, p->hostname, STR(""));
	(void)add(b, STEP_KEYRING, STR(""), STR(""));
	(void)add(b, STEP_CHDIR, p->cwd, STR(""));
	add_limits(b);
	(void)add(b, STEP_NO_NEW_PRIVS, STR(""), STR(""));
	add_landlock(b);
	(void)add(b, STEP_NET, STR(""), STR("")); /* late: the longer it is made beside us, the better */
	add_x(b, STEP_CAPS, STR(""),
	      p->two_users ? 1u << CAP_KILL_ | 1u << CAP_SETGID_ | 1u << CAP_SETUID_ : 0, 0);
	return add_filter(b, e);
}

static void put_offsets(struct build *b, struct buf *out, struct strs list)
{
	for (size_t i = 0; i < list.n; i++) {
		uint32_t at = add_str(b, list.v[i]);

		buf_put(out, (struct str){ .p = (const char *)&at, .n = sizeof(at) });
	}
}

static uint64_t probes_for(const struct profile *p)
{
	uint64_t all = (1ull << PROBE_COUNT_) - 1;

	/* Told by the warden itself, not tried. */
	all &= ~(1ull << PROBE_NO_TTY | 1ull << PROBE_LANDLOCK_ON);
	(void)p;
	return all;
}

uint64_t plan_disk_files(uint64_t bytes)
{
	uint64_t files = bytes / BYTES_PER_FILE;

	return files < FILES_LEAST ? FILES_LEAST : files;
}

static void fill_header(const struct profile *p, struct plan_header *h)
{
	h->magic = PLAN_MAGIC;
	h->version = PLAN_VERSION;
	h->flags = (p->tty.streams ? PLAN_F_TTY : 0) | (p->two_users ? PLAN_F_PARENT_MAPS : 0) |
		   (p->time_optional ? PLAN_F_TIME_OPTIONAL : 0);
	h->ns_flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
		      CLONE_NEWUTS | CLONE_NEWCGROUP;
	h->outer_uid = p->outer_uid;
	h->outer_gid = p->outer_gid;
	h->inner_uid = p->inner_uid;
	h->inner_gid = p->inner_gid;
	h->warden_outer_uid = p->warden_uid;
	h->warden_outer_gid = p->warden_gid;
	h->timeout_ms = p->timeout_ms;
	h->grace_ms = p->grace_ms;
	h->disk_bytes = p->disk;
	h->disk_files = plan_disk_files(p->disk);
	h->crash_at = p->crash_at;
	h->probes = probes_for(p);
}

/* ---- what is refused before anything is built ---- */

/* Absolute, and spelled in the one way that says where it is: a wall named by a path must be about that path. */
static bool plain_path(struct str path)
{
	struct str rest = path, part;
	bool more = path.n > 1 && path.p[0] == '/';

	if (!more)
		return false;
	rest = str_from(rest, 1);
	while (more) {
		more = str_cut(rest, '/', &part, &rest);
		part = more ? part : rest;
		if (part.n == 0 || str_eq(part, STR(".")) || str_eq(part, STR("..")))
			return false;
	}
	return true;
}

static bool lies_in(struct str path, struct str dir)
{
	return str_starts(path, dir) && (path.n == dir.n || path.p[dir.n] == '/');
}

/* Policy refuses these already; the walls stand on them, so they are looked at again. */
static int check_target(struct str target, struct err *e)
{
	if (!plain_path(target))
		return err_set(e, ERR_USAGE, "'" STR_FMT "' is not the plain absolute path of a place inside",
			       STR_ARG(target));
	if (lies_in(target, STR("/proc")) || lies_in(target, STR("/sys")) || lies_in(target, STR("/dev")))
		return err_set(e, ERR_DENIED, "nothing can be mounted at '" STR_FMT "': a wall stands there",
			       STR_ARG(target));
	return 0;
}

static int check_input(const struct profile *p, struct err *e)
{
	int r = 0;

	if (p->argv.n == 0)
		return err_set(e, ERR_USAGE, "no command");
	if (p->argv.n > PLAN_MAX_ARGS || p->env.n > PLAN_MAX_ARGS)
		return err_set(e, ERR_LIMIT, "%zu arguments and %zu variables: at most %u of each", p->argv.n,
			       p->env.n, PLAN_MAX_ARGS);
	for (size_t i = 0; i < p->n_mounts && r >= 0; i++)
		r = check_target(p->mounts[i].target, e);
	for (size_t i = 0; i < p->n_root_binds && r >= 0; i++)
		r = check_target(p->root_targets[i], e);
	return r;
}

/* ---- the whole ---- */

static int check_built(const struct build *b, bool too_big, struct err *e)
{
	if (b->nul)
		return err_set(e, ERR_USAGE, "an argument, a variable or a path holds a NUL byte");
	if (b->too_many)
		return err_set(e, ERR_LIMIT, "the mounts need more than %u steps", PLAN_MAX_STEPS);
	if (too_big)
		return err_set(e, ERR_LIMIT, "the command and its environment are larger than %u bytes",
			       PLAN_MAX_BYTES);
	return 0;
}

static void lay_out(struct build *b, struct plan_header *h, struct buf *offsets)
{
	const struct profile *p = b->p;

	h->path = p->path.n ? add_str(b, p->path) : 0;
	h->private_dir = p->private_dir.n ? add_str(b, p->private_dir) : 0;
	h->argc = (uint32_t)p->argv.n;
	h->envc = (uint32_t)p->env.n;
	h->argv = sizeof(*h);
	h->env = h->argv + 4 * h->argc;
	put_offsets(b, offsets, p->argv);
	put_offsets(b, offsets, p->env);
	pad(offsets, 8);
	h->steps = (uint32_t)(sizeof(*h) + offsets->n);
	h->n_steps = (uint32_t)b->n;
	h->strings = h->steps + (uint32_t)(b->n * sizeof(struct step));
	h->n_strings = (uint32_t)b->strings.n;
	h->size = h->strings + h->n_strings;
}

static int build(struct build *b, struct buf *out, struct err *e)
{
	_cleanup_buf_ struct buf offsets = { 0 };
	struct plan_header h = { 0 };
	bool too_big;
	int r;

	buf_init(&offsets, PLAN_MAX_BYTES);
	buf_putc(&b->strings, '\0'); /* offset 0 is the empty string */
	r = add_all(b, e);
	if (r < 0)
		return r;
	fill_header(b->p, &h);
	lay_out(b, &h, &offsets);
	too_big = b->strings.failed || offsets.failed || h.size > PLAN_MAX_BYTES;
	r = check_built(b, too_big, e);
	if (r < 0)
		return r;
	buf_put(out, (struct str){ .p = (const char *)&h, .n = sizeof(h) });
	buf_put(out, buf_str(&offsets));
	buf_put(out, (struct str){ .p = (const char *)b->steps, .n = b->n * sizeof(struct step) });
	buf_put(out, buf_str(&b->strings));
	return check_built(b, out->failed, e);
}

/* One piece, large enough that only the pages that are used are ever touched. */
struct room {
	struct build b;
	char strings[128 << 10];
};

int plan_build(const struct profile *p, struct buf *out, struct err *e)
{
	_cleanup_free_ struct room *room = NULL;
	struct build *b;
	int r = check_input(p, e);

	if (r < 0)
		return r;
	room = calloc(1, sizeof(*room));
	if (!room)
		return err_sys(e, ENOMEM, "plan");
	b = &room->b;
	b->p = p;
	buf_init_on(&b->strings, PLAN_MAX_BYTES, room->strings, sizeof(room->strings));
	r = build(b, out, e);
	buf_done(&b->strings);
	return r;
}
