/* SPDX-License-Identifier: Apache-2.0 */
#include "prepare/prepare.h"

#include "base/fd.h"
#include "base/private.h"
#include "base/procfs.h"
#include "base/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 64u
#define UNMAPPED_UID 65534u /* root of the host, seen from a container */
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Whatever the umask says: a sandbox that is another user has to pass through. */
static int make_passable(const char *path, struct err *e)
{
	int r = private_mkdir(AT_FDCWD, path, 0711);

	return r < 0 ? err_sys(e, -r, "create '%s'", path) : 0;
}

static int make_above(char *path, struct err *e)
{
	for (char *at = path + 1; *at; at++) {
		int r;

		if (*at != '/')
			continue;
		*at = '\0';
		r = make_passable(path, e);
		*at = '/';
		if (r < 0)
			return r;
	}
	return 0;
}

int state_path(const struct state_dir *s, const char *kind, const char *name, char *out, size_t size,
	       struct err *e)
{
	const char *xdg = environ_get(s->environ, "XDG_STATE_HOME");
	int n;

	if (s->said.n)
		n = snprintf(out, size, "%.*s/%s/%s", (int)s->said.n, s->said.p, kind, name);
	else if (root_of_host())
		n = snprintf(out, size, "/var/lib/creel/%s/%s", kind, name);
	else if (xdg && xdg[0] == '/')
		n = snprintf(out, size, "%s/creel/%s/%s", xdg, kind, name);
	else
		n = snprintf(out, size, "%.*s/.local/state/creel/%s/%s", (int)s->home.n, s->home.p, kind,
			     name);
	return n < (int)size ? 0 : err_set(e, ERR_LIMIT, "the state directory's name is too long");
}

int state_run_path(const struct state_dir *s, const char *name, char *out, size_t size, struct err *e)
{
	const char *xdg = environ_get(s->environ, "XDG_RUNTIME_DIR");
	bool root = root_of_host();
	int n;

	if (s->said.n || (!root && !(xdg && xdg[0] == '/')))
		return state_path(s, "run", name, out, size, e);
	n = root ? snprintf(out, size, "/run/creel/%s", name) : snprintf(out, size, "%s/creel/%s", xdg, name);
	return n > 0 && n < (int)size ? 0 : err_set(e, ERR_LIMIT, "the runtime directory's name is too long");
}

/* Whoever owns a directory above ours, or may write to it, can put another in its place; but not in a sticky one like /tmp. */
static bool is_others(const struct stat *st)
{
	return st->st_uid != 0 && st->st_uid != geteuid() && st->st_uid != UNMAPPED_UID;
}

static bool others_write(const struct stat *st)
{
	bool group = st->st_mode & S_IWGRP && st->st_gid != 0 && st->st_gid != getegid();

	return !(st->st_mode & S_ISVTX) && (group || st->st_mode & S_IWOTH);
}

/* What is wrong with a directory above ours, and what to do about it there; NULL: nothing. */
static const char *fault_of(const struct stat *st, bool passable, const char **ret_fix)
{
	*ret_fix = "";
	if (is_others(st))
		return "belongs to somebody else";
	*ret_fix = "chmod go-w it, or ";
	if (others_write(st))
		return "can be written by others";
	*ret_fix = "chmod o+x it, or ";
	return passable && root_of_host() && !(st->st_mode & S_IXOTH)
		       ? "lets no other user pass, which the sandbox is"
		       : NULL;
}

/* The path that `fd` really has. */
static ssize_t name_of(int fd, char *out, size_t size)
{
	char link[64];

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, out, size);
}

static int refuse_above(int fd, const char *up, const char *path, const char *fault, const char *fix,
			struct err *e)
{
	_cleanup_close_ int dir = openat(fd, up, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[4096];
	ssize_t n = dir < 0 ? -1 : name_of(dir, name, sizeof(name));

	return err_set(e, ERR_UNAVAIL,
		       "the directory '%.*s' above '%s' %s; fix: %sname a state directory of your own with "
		       "--state-dir",
		       n > 0 ? (int)n : 2, n > 0 ? name : "..", path, fault, fix);
}

/* Up to the root, by the directories themselves: the names that led here may have been links. */
static int check_above(int fd, const char *path, bool passable, struct err *e)
{
	char up[3 * DEPTH_MAX + 3] = "..";
	struct stat st = { 0 }, below;
	const char *fault, *fix;

	for (unsigned i = 0; i + 1 < DEPTH_MAX; i++) {
		below = st;
		if (fstatat(fd, up, &st, 0) < 0)
			return err_sys(e, errno, "look above '%s'", path);
		if (st.st_dev == below.st_dev && st.st_ino == below.st_ino)
			return 0;
		fault = fault_of(&st, passable, &fix);
		if (fault)
			return refuse_above(fd, up, path, fault, fix, e);
		memcpy(up + 2 + (size_t)3 * i, "/..", 4);
	}
	return err_set(e, ERR_LIMIT, "'%s' lies deeper than %u directories", path, DEPTH_MAX);
}

/* live/ and runs/ lie in a directory that others may be able to write to: only one that is ours alone is used. */
static int open_ours(const char *path, struct err *e)
{
	_cleanup_close_ int fd = open(path, DIR_FLAGS);
	struct stat st;
	int rc;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, errno, "open '%s': --state-dir names another place", path);
	if (st.st_uid != geteuid())
		return err_set(
			e, ERR_UNAVAIL,
			"'%s' belongs to somebody else; fix: name a state directory of your own with --state-dir",
			path);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(
			e, ERR_UNAVAIL,
			"'%s' can be written by others; fix: chmod go-w it, or name a state directory of your own with "
			"--state-dir",
			path);
	rc = check_above(fd, path, true, e);
	return rc < 0 ? rc : TAKE_FD(fd);
}

/* A home directory may be reached through a link, and the warden follows none. */
static int real_path(int fd, const char *id, char *out, size_t size, struct err *e)
{
	ssize_t n = name_of(fd, out, size);

	if (n < 0)
		return procfs_check(e) < 0 ? -1 : err_sys(e, errno, "resolve the state directory");
	if ((size_t)n + strlen(id) + 2 > size)
		return err_set(e, ERR_LIMIT, "the state directory's name is too long");
	(void)snprintf(out + n, size - (size_t)n, "/%s", id);
	return 0;
}

/* Which one it is, and a place that is not taken away from anybody: below a sticky directory a name that is ours stays ours. */
static int cannot_make(const char *path, struct err *e)
{
	char dir[4096];
	size_t used;

	(void)snprintf(dir, sizeof(dir), "%s", path);
	for (int up = 0; up < 2; up++)
		*strrchr(dir, '/') = '\0'; /* what state_path() has put behind it */
	(void)err_wrap(e, "state directory '%s'", dir);
	used = strlen(e->msg);
	(void)snprintf(
		e->msg + used, sizeof(e->msg) - used,
		"; fix: name another with --state-dir, as in creel run --state-dir /var/tmp/creel-%u -- true",
		geteuid());
	return -(int)e->kind;
}

int state_open(const struct state_dir *s, const char *kind, const char *name, char *out, size_t size,
	       struct err *e)
{
	_cleanup_close_ int fd = FD_NONE;
	int rc = state_path(s, kind, name, out, size, e);

	if (rc < 0)
		return err_wrap(e, "state directory (--state-dir names another)");
	rc = make_above(out, e);
	if (rc < 0)
		return cannot_make(out, e);
	*strrchr(out, '/') = '\0';
	fd = open_ours(out, e);
	rc = fd < 0 ? fd : real_path(fd, name, out, size, e);
	return rc < 0 ? rc : TAKE_FD(fd);
}

int state_private(const char *path, char *out, size_t size, struct err *e)
{
	_cleanup_close_ int fd = private_dir_open(path);
	int rc;

	if (fd < 0)
		return err_set(e, ERR_UNAVAIL, "directory '%s' %s: it has to be ours with mode 0700", path,
			       private_why(fd));
	rc = check_above(fd, path, false, e);
	if (rc >= 0)
		rc = real_path(fd, ".", out, size, e);
	if (rc < 0)
		return rc;
	*strrchr(out, '/') = '\0';
	return TAKE_FD(fd);
}

int state_audit(const struct state_dir *s, const struct config *c, bool make, char *out, size_t size,
		struct err *e)
{
	struct str path = c->base.audit_path, dir, file;
	_cleanup_close_ int fd = FD_NONE;
	int n;

	if (!c->base.has[OPT_AUDIT_PATH]) {
		if (!make) {
			n = state_path(s, "audit", ".", out, size, e);
			if (n >= 0)
				*strrchr(out, '/') = '\0';
			return n;
		}
		fd = state_open(s, ".", "audit", out, size, e);
		return fd < 0 ? fd : 0;
	}
	if (!str_cut_last(path, '/', &dir, &file) || !str_eq(file, STR(STATE_AUDIT_FILE)))
		return err_set(e, ERR_USAGE,
			       "audit.path: '" STR_FMT
			       "' is not accepted: a directory, and then " STATE_AUDIT_FILE,
			       STR_ARG(path));
	n = dir.n && dir.p[0] == '~'
		    ? snprintf(out, size, "%.*s%.*s", (int)s->home.n, s->home.p, (int)dir.n - 1, dir.p + 1)
		    : snprintf(out, size, "%.*s", (int)dir.n, dir.p);
	return n > 0 && (size_t)n < size ? 0 : err_set(e, ERR_LIMIT, "audit.path is too long");
}

bool wants_layers(const struct decision *d)
{
	for (size_t i = 0; i < d->n_mounts; i++)
		if (d->mounts[i].overlay)
			return true;
	return false;
}
