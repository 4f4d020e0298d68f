/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/sockets.h"
#include "base/buf.h"
#include "base/fd.h"
#include "base/port.h"
#include "base/tree.h"
#include "sandbox/mountinfo.h"
#include "sandbox/unixdiag.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_MAX ((size_t)64 << 20)

/* A directory of the host that is seen inside as it is. */
struct exposed {
	struct str path, target;
	size_t order;    /* mounts from this one on may cover what it shows */
	uint64_t mnt_id; /* 0 = unknown */
	bool deep;       /* with the mounts below it */
	bool one;        /* of one file system, `dev` */
	uint64_t dev;
	bool walk; /* its tree has to be searched */
};

struct hiding {
	struct arena *a;
	struct profile *p;
	const struct profile_mount *mounts;
	size_t n_mounts;
	struct exposed *places;
	size_t n_places;
	struct source *masks;
	size_t n_masks;
	struct mount_lines lines; /* read when they are needed */
};

static bool lies_in(struct str path, struct str dir)
{
	return str_starts(path, dir) && (path.n == dir.n || dir.n == 1 || path.p[dir.n] == '/');
}

static struct str below(struct str path, struct str dir)
{
	return str_from(path, dir.n == 1 ? 0 : dir.n);
}

static int need_lines(struct hiding *h, struct err *e)
{
	int r = h->lines.n ? 0 : mountinfo_read(h->a, &h->lines);

	return r < 0 ? err_sys(e, -r, "read /proc/self/mountinfo") : 0;
}

static bool has_mounts_below(const struct hiding *h, struct str path)
{
	for (size_t i = 0; i < h->lines.n; i++)
		if (h->lines.v[i].point.n > path.n && lies_in(h->lines.v[i].point, path))
			return true;
	return false;
}

/* ---- what is only read ---- */

/*
 * An overlay shows one file system. Below a user namespace the kernel does not let go of the mounts that lie on a directory,
 * so a tree with mounts in it stays a bind for an ordinary user; root's binds have none of them anyway.
 */
static int seal(struct hiding *h, struct profile_mount *m, struct err *e)
{
	const bool root = h->p->two_users && !h->p->subids;
	int r;

	if (!m->source.path.n || m->source.is_file || m->overlay || m->writable)
		return 0;
	r = root ? 0 : need_lines(h, e);
	if (r >= 0)
		m->sealed = root || !has_mounts_below(h, m->source.path);
	return r;
}

/* ---- what is seen as it is ---- */

static void add_place(struct hiding *h, struct str path, struct str target, size_t order, bool deep)
{
	struct exposed *pl = &h->places[h->n_places++];
	struct port_statx st = { 0 };

	*pl = (struct exposed){ .path = path, .target = target, .order = order, .deep = deep };
	if (port_statx(AT_FDCWD, path.p, AT_SYMLINK_NOFOLLOW, PORT_STATX_MNT_ID, &st) == 0 &&
	    st.stx_mask & PORT_STATX_MNT_ID)
		pl->mnt_id = st.stx_mnt_id;
}

static int find_places(struct hiding *h, bool image, struct err *e)
{
	const struct profile *p = h->p;
	size_t n_root = image ? p->n_root_binds : 0; /* the host's own /usr is no place for sockets */

	h->places = ARENA_ARRAY(h->a, struct exposed, h->n_mounts + n_root + 1);
	if (!h->places)
		return err_sys(e, ENOMEM, "profile");
	for (size_t i = 0; i < n_root; i++)
		if (!p->root_binds[i].is_file)
			add_place(h, p->root_binds[i].path, p->root_targets[i], 0, true);
	for (size_t i = 0; i < h->n_mounts; i++) {
		const struct profile_mount *m = &h->mounts[i];

		if (m->source.path.n && !m->source.is_file && !m->overlay && !m->sealed)
			add_place(h, m->source.path, m->target, i + 1, !m->idmap);
	}
	return 0;
}

/* Something that is mounted later hides it, too. */
static bool is_covered(const struct hiding *h, const struct exposed *pl, struct str inside)
{
	for (size_t i = pl->order; i < h->n_mounts; i++)
		if (lies_in(inside, h->mounts[i].target))
			return true;
	return false;
}

static int add_mask(struct hiding *h, const struct exposed *pl, struct str rest, const struct port_statx *st,
		    struct err *e)
{
	struct str inside =
		arena_printf(h->a, "%.*s%.*s", (int)pl->target.n, pl->target.p, (int)rest.n, rest.p);

	for (size_t i = 0; i < h->n_masks; i++)
		if (str_eq(h->masks[i].path, inside))
			return 0;
	if (is_covered(h, pl, inside))
		return 0;
	if (h->n_masks == SOCKETS_MASK_MAX)
		return err_set(e, ERR_LIMIT,
			       "more than %u unix sockets lie below '" STR_FMT
			       "' and could be reached; fix: remove them, or --workspace-access overlay",
			       SOCKETS_MASK_MAX, STR_ARG(pl->path));
	h->masks[h->n_masks++] =
		(struct source){ .path = inside,
				 .dev = (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor,
				 .ino = st->stx_ino,
				 .is_file = true };
	return h->a->failed ? err_sys(e, ENOMEM, "profile") : 0;
}

/* ---- by name ---- */

struct found {
	struct port_statx st;
	char path[4096];
	struct str real;
};

/* Where a socket is now, if its name still leads to it, and if it has no other. */
static bool resolve(const struct unix_sock *s, struct found *ret)
{
	_cleanup_close_ int fd = FD_NONE;
	char link[64];
	ssize_t n;

	if (!s->name.n || s->name.p[0] != '/')
		return false;
	fd = open(s->name.p, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 ||
	    port_statx(fd, "", AT_EMPTY_PATH,
		       PORT_STATX_INO | PORT_STATX_TYPE | PORT_STATX_NLINK | PORT_STATX_MNT_ID, &ret->st) < 0)
		return false;
	if (!S_ISSOCK(ret->st.stx_mode) || (uint32_t)ret->st.stx_ino != s->ino || ret->st.stx_nlink != 1)
		return false;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, ret->path, sizeof(ret->path));
	ret->real = (struct str){ .p = ret->path, .n = n > 0 ? (size_t)n : 0 };
	return n > 0 && n < (ssize_t)sizeof(ret->path) && ret->path[0] == '/';
}

/* Does the place show the file system that the socket lies on? What is not known counts as yes. */
static bool shows(const struct hiding *h, const struct exposed *pl, uint64_t dev)
{
	bool known = false;

	if (pl->one)
		return pl->dev == dev;
	for (size_t i = 0; i < h->lines.n; i++) {
		const struct mount_line *l = &h->lines.v[i];
		bool own = pl->mnt_id && l->id == pl->mnt_id;

		known = known || own;
		if ((own || (pl->deep && lies_in(l->point, pl->path))) && l->dev == dev)
			return true;
	}
	return !known;
}

static int judge(struct hiding *h, struct exposed *pl, const struct found *f, struct err *e)
{
	bool same_mount = pl->mnt_id && f->st.stx_mask & PORT_STATX_MNT_ID && f->st.stx_mnt_id == pl->mnt_id;

	if (f->real.n > pl->path.n && lies_in(f->real, pl->path) && (pl->deep || same_mount))
		return add_mask(h, pl, below(f->real, pl->path), &f->st, e);
	/* Elsewhere on the same mount is elsewhere; through another mount, it may be here as well. */
	pl->walk = pl->walk || !same_mount;
	return 0;
}

static int hide_one(struct hiding *h, const struct unix_sock *s, struct err *e)
{
	bool looked = false, resolved = false;
	struct found f = { 0 };
	int r = 0;

	for (size_t i = 0; i < h->n_places && r >= 0; i++) {
		struct exposed *pl = &h->places[i];

		if (pl->walk || !shows(h, pl, s->dev))
			continue;
		if (!looked)
			resolved = resolve(s, &f);
		looked = true;
		if (resolved)
			r = judge(h, pl, &f, e);
		else
			pl->walk = true;
	}
	return r;
}

/* Where no mount below a place is shown with it, its own says it all. */
static bool all_of_one(struct hiding *h)
{
	bool all = true;

	for (size_t i = 0; i < h->n_places; i++) {
		struct exposed *pl = &h->places[i];

		pl->one = !pl->deep && mountinfo_dev(pl->path.p, &pl->dev) == 0;
		all = all && pl->one;
	}
	return all;
}

static int hide_listed(struct hiding *h, struct err *e)
{
	struct unix_socks socks = { 0 };
	int r = unixdiag_list(h->a, &socks);

	if (r < 0) {
		for (size_t i = 0; i < h->n_places; i++)
			h->places[i].walk = true;
		return h->a->failed ? err_sys(e, ENOMEM, "profile") : 0;
	}
	r = socks.n && !all_of_one(h) ? need_lines(h, e) : 0;
	for (size_t i = 0; i < socks.n && r >= 0; i++)
		r = hide_one(h, &socks.v[i], e);
	return r;
}

/* ---- by searching ---- */

struct walk {
	struct hiding *h;
	const struct exposed *pl;
	int top;
	struct buf stack; /* paths below the top, each ended by NUL; the last is taken first */
	size_t n_seen;
};

static int open_below(const struct walk *w, const char *path, struct err *e)
{
	int fd = path[0] ? fd_open_beneath(w->top, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
			 : fcntl(w->top, F_DUPFD_CLOEXEC, 3);
	struct stat st;

	if (fd >= 0 || fd == -ENOENT || fd == -ENOTDIR)
		return fd;
	/* Somebody else's, and closed to us: then it is closed to the payload, which is nobody more than we are. */
	if (fd == -EACCES && faccessat(w->top, path, X_OK, AT_EACCESS) < 0 &&
	    fstatat(w->top, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid != geteuid())
		return -ENOENT;
	return err_sys(
		e, path[0] ? -fd : errno,
		"search '" STR_FMT
		"/%s' for unix sockets that have to be hidden (fix: chmod u+rx it, or --workspace-access overlay)",
		STR_ARG(w->pl->path), path);
}

static int see(struct walk *w, int dir, const char *path, const char *name, struct err *e)
{
	struct port_statx st;
	struct str rest;

	if (port_statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		       PORT_STATX_TYPE | PORT_STATX_INO | PORT_STATX_MNT_ID, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(e, errno, "stat '%s'", name);
	if (S_ISSOCK(st.stx_mode)) {
		rest = arena_printf(w->h->a, "%s%s/%s", path[0] ? "/" : "", path, name);
		return add_mask(w->h, w->pl, rest, &st, e);
	}
	if (!S_ISDIR(st.stx_mode) ||
	    (!w->pl->deep && st.stx_mask & PORT_STATX_MNT_ID && st.stx_mnt_id != w->pl->mnt_id))
		return 0;
	buf_printf(&w->stack, "%s%s%s", path, path[0] ? "/" : "", name);
	buf_putc(&w->stack, '\0');
	return w->stack.failed ? err_sys(e, ENOMEM, "search '" STR_FMT "'", STR_ARG(w->pl->path)) : 0;
}

static int search_dir(struct walk *w, const char *path, struct err *e)
{
	int fd = open_below(w, path, e), r = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (fd < 0)
		return e->kind == ERR_NONE ? 0 : fd;
	if (!d) {
		(void)fd_close(fd);
		return err_sys(e, ENOMEM, "search '" STR_FMT "'", STR_ARG(w->pl->path));
	}
	while (r >= 0 && (entry = tree_next(d))) {
		unsigned char t = entry->d_type;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (++w->n_seen > SOCKETS_WALK_MAX)
			r = err_set(e, ERR_LIMIT,
				    "'" STR_FMT
				    "' holds more than %u files, and a unix socket of this host may be "
				    "among them; fix: --workspace-access overlay",
				    STR_ARG(w->pl->path), SOCKETS_WALK_MAX);
		else if (t == DT_SOCK || t == DT_DIR || t == DT_UNKNOWN)
			r = see(w, dirfd(d), path, entry->d_name, e);
	}
	if (r >= 0 && errno != 0) /* what cannot be seen may be one, too */
		r = err_sys(e, errno, "search '" STR_FMT "' for unix sockets", STR_ARG(w->pl->path));
	(void)closedir(d);
	return r;
}

/* The last path on the stack, taken off. */
static struct str pop(struct buf *stack)
{
	size_t end = stack->n - 1, at = end;

	while (at > 0 && stack->p[at - 1])
		at--;
	stack->n = at;
	return (struct str){ .p = stack->p + at, .n = end - at };
}

static int search_tree(struct hiding *h, const struct exposed *pl, struct err *e)
{
	_cleanup_close_ int top = open(pl->path.p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct walk w = { .h = h, .pl = pl, .top = top };
	int r = 0;

	if (top < 0)
		return err_sys(e, errno, "search '" STR_FMT "' for unix sockets", STR_ARG(pl->path));
	buf_init(&w.stack, STACK_MAX);
	buf_putc(&w.stack, '\0');
	while (r >= 0 && w.stack.n && !w.stack.failed) {
		_cleanup_free_ char *path = NULL;

		r = str_dupz(pop(&w.stack), &path);
		r = r < 0 ? err_sys(e, ENOMEM, "search '" STR_FMT "'", STR_ARG(pl->path))
			  : search_dir(&w, path, e);
	}
	buf_done(&w.stack);
	return r;
}

/* ---- in what is closed to us ---- */

static int write_self(const char *name, const char *text)
{
	_cleanup_close_ int fd = open(name, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd_write_all(fd, str_z(text));
}

/* In a user namespace of our own: there we may read whatever is ours, as the payload may after a chmod. */
static int become_owner(void)
{
	char uids[64], gids[64];
	int r;

	(void)snprintf(uids, sizeof(uids), "%u %u 1", geteuid(), geteuid());
	(void)snprintf(gids, sizeof(gids), "%u %u 1", getegid(), getegid());
	if (unshare(CLONE_NEWUSER) < 0)
		return -errno;
	r = write_self("/proc/self/setgroups", "deny");
	if (r >= 0)
		r = write_self("/proc/self/uid_map", uids);
	return r < 0 ? r : write_self("/proc/self/gid_map", gids);
}

struct told {
	struct source mask; /* .path lies elsewhere now */
	char path[4096];
};

/* Never returns: what was found goes through the pipe, and a dot when that is all. */
static _Noreturn void tell_found(struct hiding *h, const struct exposed *pl, int out)
{
	size_t first = h->n_masks;
	struct err e = { 0 };
	int r = become_owner();

	if (r < 0)
		_exit(1);
	r = search_tree(h, pl, &e);
	for (size_t i = first; i < h->n_masks && r >= 0; i++) {
		struct told t = { .mask = h->masks[i] };

		if (t.mask.path.n >= sizeof(t.path))
			_exit(1);
		memcpy(t.path, t.mask.path.p, t.mask.path.n);
		r = fd_write_all(out, (struct str){ .p = (const char *)&t, .n = sizeof(t) });
	}
	if (r >= 0)
		(void)fd_write_all(out, STR("."));
	_exit(0);
}

static int take_found(struct hiding *h, const char *text, size_t n)
{
	if (n == 0 || text[--n] != '.')
		return -1;
	for (; n >= sizeof(struct told); n -= sizeof(struct told), text += sizeof(struct told)) {
		struct told t;

		memcpy(&t, text, sizeof(t));
		if (h->n_masks == SOCKETS_MASK_MAX || t.mask.path.n >= sizeof(t.path))
			return -1;
		h->masks[h->n_masks] = t.mask;
		h->masks[h->n_masks++].path =
			arena_str(h->a, (struct str){ .p = t.path, .n = t.mask.path.n });
	}
	return n || h->a->failed ? -1 : 0;
}

/* 0: all of it was searched. */
static int search_as_owner(struct hiding *h, const struct exposed *pl)
{
	_cleanup_close_ int in = FD_NONE, out = FD_NONE;
	_cleanup_free_ char *text = NULL;
	int ends[2], r;
	size_t n = 0;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	in = ends[0];
	out = ends[1];
	pid = fork();
	if (pid == 0)
		tell_found(h, pl, out);
	out = fd_close(out);
	r = pid < 0 ? -1 : fd_read_all(in, SOCKETS_MASK_MAX * sizeof(struct told) + 1, &text, &n);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return r < 0 ? -1 : take_found(h, text, n);
}

/* A directory of ours that we cannot read is no secret from the payload: it could open it, and reach what lies there. */
static int search(struct hiding *h, const struct exposed *pl, struct err *e)
{
	int r = search_tree(h, pl, e);

	if (r >= 0 || e->sys_errno != EACCES || search_as_owner(h, pl) < 0)
		return r;
	*e = (struct err){ 0 };
	return 0;
}

int sockets_hide(struct arena *a, struct profile_mount *mounts, size_t n_mounts, bool image,
		 struct profile *p, struct err *e)
{
	struct hiding h = { .a = a, .p = p, .mounts = mounts, .n_mounts = n_mounts };
	int r = 0;

	for (size_t i = 0; i < n_mounts && r >= 0; i++)
		r = seal(&h, &mounts[i], e);
	if (r >= 0)
		r = find_places(&h, image, e);
	if (r < 0 || h.n_places == 0)
		return r;
	h.masks = ARENA_ARRAY(a, struct source, SOCKETS_MASK_MAX);
	if (!h.masks)
		return err_sys(e, ENOMEM, "profile");
	r = hide_listed(&h, e);
	for (size_t i = 0; i < h.n_places && r >= 0; i++)
		if (h.places[i].walk)
			r = search(&h, &h.places[i], e);
	p->masks = h.masks;
	p->n_masks = h.n_masks;
	p->masking = true;
	return r;
}
