/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/plan.h"
#include "base/cleanup.h"
#include "sandbox/plan_priv.h"

#include <errno.h>
#include <linux/sched.h>
#include <string.h>

#define BYTES_PER_FILE 16384u /* as mke2fs has it: an inode for each */
#define FILES_LEAST 4096u

static void pad(struct buf *b, size_t align)
{
	static const char zeros[8];

	buf_put(b, (struct str){ .p = zeros, .n = (align - b->n % align) % align });
}

uint32_t plan_add_bytes(struct plan_build *b, const void *bytes, size_t n, size_t align)
{
	uint32_t at;

	pad(&b->strings, align);
	at = (uint32_t)b->strings.n;
	buf_put(&b->strings, (struct str){ .p = bytes, .n = n });
	buf_putc(&b->strings, '\0');
	return at;
}

uint32_t plan_add_str(struct plan_build *b, struct str s)
{
	b->nul = b->nul || (s.n && memchr(s.p, '\0', s.n)); /* "a\0b" must not become "a" */
	return plan_add_bytes(b, s.p, s.n, 1);
}

struct step *plan_add(struct plan_build *b, enum step_kind kind, struct str a, struct str s)
{
	struct step *st = &b->steps[b->n];

	if (b->n < PLAN_MAX_STEPS)
		b->n++;
	else
		b->too_many = true;
	*st = (struct step){ .kind = kind, .a = plan_add_str(b, a), .b = plan_add_str(b, s) };
	return st;
}

static void put_offsets(struct plan_build *b, struct buf *out, struct strs list)
{
	for (size_t i = 0; i < list.n; i++) {
		uint32_t at = plan_add_str(b, list.v[i]);

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

static uint32_t plan_maps(const struct profile *p)
{
	return !p->two_users ? 0 : p->subids ? PLAN_F_HELPER_MAPS : PLAN_F_PARENT_MAPS;
}

static void fill_header(const struct profile *p, struct plan_header *h)
{
	h->magic = PLAN_MAGIC;
	h->version = PLAN_VERSION;
	h->flags = (p->tty.streams ? PLAN_F_TTY : 0) | plan_maps(p) |
		   (p->time_optional ? PLAN_F_TIME_OPTIONAL : 0) | (p->serve ? PLAN_F_SERVE : 0) |
		   (p->private_stays ? PLAN_F_STAYS : 0) | (p->later ? PLAN_F_LATER : 0);
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

	if (p->serve && (p->argv.n || p->env.n || p->tty.streams))
		return err_set(
			e, ERR_USAGE,
			"a sandbox that serves calls has no command, environment or terminal of its own: they come with each call");
	if (!p->serve && p->argv.n == 0)
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

static int check_built(const struct plan_build *b, bool too_big, struct err *e)
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

static void lay_out(struct plan_build *b, struct plan_header *h, struct buf *offsets)
{
	const struct profile *p = b->p;

	h->path = p->path.n ? plan_add_str(b, p->path) : 0;
	h->private_dir = p->private_dir.n ? plan_add_str(b, p->private_dir) : 0;
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

static int build(struct plan_build *b, struct buf *out, struct err *e)
{
	_cleanup_buf_ struct buf offsets = { 0 };
	struct plan_header h = { 0 };
	bool too_big;
	int r;

	buf_init(&offsets, PLAN_MAX_BYTES);
	buf_putc(&b->strings, '\0'); /* offset 0 is the empty string */
	r = plan_add_steps(b, e);
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
	struct plan_build b;
	char strings[128 << 10];
};

int plan_build(const struct profile *p, struct buf *out, struct err *e)
{
	_cleanup_free_ struct room *room = NULL;
	struct plan_build *b;
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
