/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox that a process has for itself (CREEL_OWN) leaves a note in own/ of the state directory for as long as it lives, so that whoever looks sees it
 * and can end it. A file, and not a row of the registry: its owner may open thousands, and never reads them. The name says who the owner is; what the
 * note says of the sandbox is believed only while that very process is there. Without the note everything works; so it may fail.
 *
 * The owner holds a lock, one for all of its notes, which tells that it is there even to who cannot see its processes (in or out of a container).
 */
#include "engine/engine_priv.h"

#include "backend/native.h"
#include "base/fd.h"
#include "base/private.h"
#include "base/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_TRIES 8
#define NOTES_MAX 100000u

static void lock_name(struct str run, char out[static OWN_NAME_MAX])
{
	(void)snprintf(out, OWN_NAME_MAX, ".%.*s", (int)run.n, run.p);
}

/* Who looks may take a lock that is not locked yet for a forgotten one: it counts only with its name. */
static int take_lock(struct engine *g)
{
	char name[OWN_NAME_MAX];
	struct stat st, named;

	lock_name(str_z(g->run_id), name);
	for (int i = 0; g->own_lock < 0 && i < LOCK_TRIES; i++) {
		_cleanup_close_ int fd = private_file_open(g->own_dir, name, O_RDWR | O_CREAT);

		if (fd < 0)
			return fd;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
		    fstatat(g->own_dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == named.st_ino)
			g->own_lock = TAKE_FD(fd);
	}
	return g->own_lock < 0 ? -EBUSY : 0;
}

void own_done(struct engine *g)
{
	char name[OWN_NAME_MAX];

	lock_name(str_z(g->run_id), name);
	if (g->own_lock >= 0 && g->self.pid == (uint64_t)getpid())
		(void)unlinkat(g->own_dir, name, 0);
	(void)fd_close(g->own_lock);
	(void)fd_close(g->own_dir);
}

static int open_dir(struct engine *g, struct err *e)
{
	char path[4096];

	if (g->own_dir >= 0)
		return 0;
	if (reg_proc_self(&g->self, e) < 0)
		return -1;
	g->own_dir = state_open(&g->state, "own", "any", path, sizeof(path), e);
	return g->own_dir < 0 ? -1 : 0;
}

static void note_name(const struct engine *g, uint64_t count, char out[static OWN_NAME_MAX])
{
	(void)snprintf(out, OWN_NAME_MAX, "%" PRIu64 "-%" PRIu64 "-%" PRIu64 "-%s", g->self.pid,
		       g->self.start, count, g->run_id);
}

void own_drop(struct own_begun *b)
{
	if (b->fd >= 0 && b->by == getpid())
		(void)unlinkat(b->dir, b->name, 0);
	(void)fd_close(b->fd);
	*b = OWN_NOT_BEGUN;
}

/* What takes time, before anybody waits for it: the name in the directory, and what /proc says of the warden. */
void own_begin(struct engine *g, const struct box *box, struct own_begun *ret)
{
	_cleanup_(own_drop) struct own_begun b = OWN_NOT_BEGUN;
	struct err ignored = { 0 };

	*ret = OWN_NOT_BEGUN;
	if (open_dir(g, &ignored) < 0 || take_lock(g) < 0 ||
	    reg_proc_beside(native_pid(box), &g->self, &b.warden, &ignored) < 0)
		return;
	b.dir = g->own_dir;
	b.by = getpid();
	b.count = g->own_count + 1;
	note_name(g, b.count, b.name);
	b.fd = openat(b.dir, b.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (b.fd < 0 || private_mode(b.fd, 0600) < 0)
		return;
	g->own_count++;
	*ret = b;
	b = OWN_NOT_BEGUN;
}

static int write_note(int fd, const struct reg_entry *entry, struct err *e)
{
	_cleanup_buf_ struct buf text = { 0 };
	int r = registry_info_text(entry, &text, e);

	if (r >= 0)
		r = fd_write_all(fd, buf_str(&text));
	return r;
}

void own_note(struct session *s, const struct decision *d, struct own_begun *b)
{
	struct reg_entry entry = session_entry(s, d);
	struct err ignored = { 0 };
	char key[OWN_NAME_MAX];

	if (b->fd < 0)
		own_begin(s->engine, s->box, b);
	if (b->fd < 0)
		return;
	entry.supervisor = b->warden;
	(void)snprintf(key, sizeof(key), "own:%" PRIu64 "-%" PRIu64, entry.supervisor.pid,
		       entry.supervisor.start);
	entry.key = str_z(key);
	if (write_note(b->fd, &entry, &ignored) < 0)
		return; /* it is dropped */
	s->own_note = b->count;
	(void)fd_close(b->fd);
	*b = OWN_NOT_BEGUN;
}

void own_forget(struct session *s)
{
	char name[OWN_NAME_MAX];

	if (!s->own_note)
		return;
	note_name(s->engine, s->own_note, name);
	(void)unlinkat(s->engine->own_dir, name, 0);
	s->own_note = 0;
}

void own_record_end(struct session *s, const struct err *why)
{
	(void)snprintf(s->ended, sizeof(s->ended), "%s",
		       why->kind != ERR_NONE ? why->msg : "somebody has killed it");
	kept_record(s->engine, "ended", str_z(s->key), s->ended);
}

/* ---- reading ---- */

static bool owner_of(const struct engine *g, const char *name, struct reg_proc *ret, struct str *ret_run)
{
	struct str pid, start, count, rest = str_z(name);

	*ret = g->self; /* the boot and the namespace */
	return str_cut(rest, '-', &pid, &rest) && str_cut(rest, '-', &start, &rest) &&
	       str_cut(rest, '-', &count, ret_run) && ret_run->n > 0 && ret_run->n < sizeof(g->run_id) &&
	       str_to_u64(pid, UINT64_MAX, &ret->pid) >= 0 && str_to_u64(start, UINT64_MAX, &ret->start) >= 0;
}

/* Nobody holds its lock, or there is none any more: wherever it ran, it has gone. */
static bool is_left(const struct engine *g, struct str run)
{
	char name[OWN_NAME_MAX];
	_cleanup_close_ int fd = FD_NONE;

	lock_name(run, name);
	fd = private_file_open(g->own_dir, name, O_RDONLY);
	if (fd < 0)
		return fd == -ENOENT;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return false;
	(void)unlinkat(g->own_dir, name, 0);
	return true;
}

static int read_note(int dir, const char *name, struct arena *a, struct reg_entry *ret, struct err *e)
{
	_cleanup_close_ int fd = private_file_open(dir, name, O_RDONLY);
	_cleanup_free_ char *text = NULL;
	size_t n = 0;
	int r;

	if (fd < 0)
		return err_set(e, ERR_UNAVAIL, "'%s' %s", name, private_why(fd));
	r = fd_read_all(fd, REGISTRY_INFO_MAX, &text, &n);
	return r < 0 ? err_sys(e, -r, "read '%s'", name)
		     : registry_info_parse(a, arena_str(a, (struct str){ .p = text, .n = n }), ret, e);
}

/* True with *ret when it lives. What was left is removed; what cannot be read may be under way, as long as its owner is. */
static bool look_at_note(const struct engine *g, const char *name, struct arena *a, struct reg_entry *ret)
{
	struct err ignored = { 0 };
	struct reg_proc owner;
	struct str run;
	bool known;

	if (name[0] == '.') {
		if (strlen(name) > 2 && strlen(name) <= sizeof(g->run_id))
			(void)is_left(g, str_z(name + 1));
		return false;
	}
	if (!owner_of(g, name, &owner, &run))
		return false;
	known = read_note(g->own_dir, name, a, ret, &ignored) >= 0;
	if (is_left(g, run) || (known && reg_proc_alive(&ret->supervisor) == REG_GONE)) {
		(void)unlinkat(g->own_dir, name, 0);
		return false;
	}
	if (known)
		ret->owner = owner.pid;
	return known;
}

int own_list(struct engine *g, struct arena *a, struct reg_entry **v, size_t *n, struct err *e)
{
	size_t cap = *n;
	struct reg_entry *grown;
	struct dirent *ent;
	DIR *d = NULL;
	unsigned i;
	int copy, r = open_dir(g, e);

	if (r < 0)
		return r;
	copy = openat(g->own_dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = copy < 0 ? NULL : fdopendir(copy);
	if (!d) {
		(void)fd_close(copy);
		return err_sys(e, errno, "read 'own' of the state directory");
	}
	for (i = 0; r >= 0 && i < NOTES_MAX && (ent = tree_next(d)); i++) {
		struct reg_entry entry;

		if (!look_at_note(g, ent->d_name, a, &entry))
			continue;
		grown = *n < cap ? *v : arena_grow(a, *v, *n, &cap, sizeof(**v), alignof(struct reg_entry));
		if (!grown)
			r = err_set(e, ERR_LIMIT, "out of memory");
		else
			(*v = grown)[(*n)++] = entry;
	}
	if (r >= 0 && i < NOTES_MAX && errno != 0)
		r = err_sys(e, errno, "read 'own' of the state directory");
	(void)closedir(d);
	return r;
}
