/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/files_dir.h"
#include "backend/files_dir_priv.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct files_dir *self(struct files *f)
{
	return (const struct files_dir *)(const void *)f;
}

int files_dir_open(struct files *f, const char *path, int flags, mode_t mode)
{
	const struct files_dir *d = self(f);
	bool from_root = path[0] == '/', creates = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
	struct open_how how = {
		.flags = (unsigned)flags | O_CLOEXEC,
		.mode = creates ? mode : 0,
		.resolve = RESOLVE_NO_MAGICLINKS | (from_root ? RESOLVE_IN_ROOT : RESOLVE_BENEATH),
	};
	int tries = 0;
	long fd;

	if (d->walk)
		return files_dir_walk(from_root ? d->root : d->work, from_root, path, flags, mode);
	/* EAGAIN: a directory moved on the way. Bounded, because whoever moves it can go on moving it. */
	do
		fd = syscall(SYS_openat2, from_root ? d->root : d->work, path, &how, sizeof(how));
	while (fd < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < 64)));
	return fd < 0 ? -errno : (int)fd;
}

struct files_stat files_dir_stat(const struct stat *st)
{
	return (struct files_stat){
		.mode = st->st_mode,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.size = (uint64_t)st->st_size,
		.dev = st->st_dev,
		.ino = st->st_ino,
		.nlink = st->st_nlink,
		.mtime_ms = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000,
	};
}

int files_dir_check_regular(int fd, struct files_stat *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -ENXIO;
	if (ret)
		*ret = files_dir_stat(&st);
	return 0;
}

/* "/a/b/c" -> "/a/b" and "c"; "c" -> "." and "c". Slashes at the end are dropped. */
static int split(const char *path, char dir[static FILES_PATH_MAX], struct str *ret_name)
{
	struct str s = str_z(path), head = { 0 }, name = s;

	while (s.n > 1 && s.p[s.n - 1] == '/')
		s.n--;
	name = s;
	if (s.n >= FILES_PATH_MAX)
		return -ENAMETOOLONG;
	if (str_cut_last(s, '/', &head, &name))
		(void)snprintf(dir, FILES_PATH_MAX, "%.*s/", (int)head.n, head.p);
	else
		(void)snprintf(dir, FILES_PATH_MAX, ".");
	if (name.n == 0 || str_eq(name, STR(".")) || str_eq(name, STR("..")))
		return -EISDIR;
	*ret_name = name;
	return name.n > 255 ? -ENAMETOOLONG : 0;
}

/* Names on a path, and how many of them are held open at once. */
enum { NAMES_MAX = FILES_PATH_MAX / 2, PART_NAMES = 46 };
static_assert(PART_NAMES * PART_NAMES >= NAMES_MAX && FILES_PATH_MAX <= UINT16_MAX, "every path has room");

/*
 * One after the other from the top, each in the one before. Where that is no plain directory (a link, ".."), the kernel resolves the whole way to the next with all
 * links on it.
 */
static int make_dirs(struct files *f, const char *dir, size_t *ret_made)
{
	char part[FILES_PATH_MAX], up[FILES_PATH_MAX];
	size_t n = strlen(dir);
	_cleanup_close_ int fd = FD_NONE;

	for (size_t i = 1; i <= n; i++) {
		struct str name;
		int next;

		if (i < n && dir[i] != '/')
			continue;
		if (dir[i - 1] == '/')
			continue; /* "/", "a//" */
		memcpy(part, dir, i);
		part[i] = '\0';
		if (split(part, up, &name) < 0) { /* nothing to make */
			if (!str_ends(str_z(part), STR("/.")))
				fd = fd_close(fd);
			continue;
		}
		if (fd < 0)
			fd = files_dir_open(f, up, O_PATH | O_DIRECTORY, 0);
		if (fd < 0)
			return fd;
		if (mkdirat(fd, part + (name.p - part), 0777) == 0)
			*ret_made = *ret_made ? *ret_made : i;
		else if (errno != EEXIST)
			return -errno;
		next = openat(fd, part + (name.p - part), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		(void)fd_close(fd);
		fd = next;
	}
	return 0;
}

/* The names from there on, each ended; none where ".." is one of them. */
static size_t plain_names(char *dir, size_t from, uint16_t at[static NAMES_MAX])
{
	size_t n = 0;

	for (char *p = dir + from; *p;) {
		struct str name = { .p = p, .n = strcspn(p, "/") };

		if (str_eq(name, STR("..")))
			return 0;
		if (name.n && !str_eq(name, STR(".")))
			at[n++] = (uint16_t)(p - dir);
		p += name.n;
		if (*p)
			*p++ = '\0';
	}
	return n;
}

static int enter(int fd, const char *name)
{
	return openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The last one first, each in the one before. Takes `fd`. */
static void remove_part(int fd, const char *dir, const uint16_t *at, size_t n)
{
	int held[PART_NAMES];
	size_t i = 0;

	for (held[0] = fd; i + 1 < n && held[i] >= 0; i++)
		held[i + 1] = enter(held[i], dir + at[i]);
	for (i++; i-- > 0;) {
		if (held[i] < 0)
			continue;
		(void)!unlinkat(held[i], dir + at[i], AT_REMOVEDIR);
		(void)fd_close(held[i]);
	}
}

/* Gone down once to where each part of them begins, and once more to the end of each: nothing is looked for from the top, and ".." is not asked for. Takes `fd`. */
static void remove_names(int fd, const char *dir, const uint16_t *at, size_t n)
{
	int begins[PART_NAMES];
	size_t parts = 0, i;

	for (i = 0; i < n && fd >= 0; i++) {
		int above = fd;

		if (i % PART_NAMES == 0)
			begins[parts++] = fd;
		fd = i + 1 < n ? enter(above, dir + at[i]) : FD_NONE;
		if (i % PART_NAMES != 0)
			(void)fd_close(above);
	}
	while (parts-- > 0) {
		size_t from = parts * PART_NAMES;

		remove_part(begins[parts], dir, at + from, i - from < PART_NAMES ? i - from : PART_NAMES);
	}
}

/* By the whole way to each: ".." stands on it. */
static __attribute__((noinline)) void unmake_each(struct files *f, const char *path, size_t made)
{
	char dir[FILES_PATH_MAX], part[FILES_PATH_MAX], up[FILES_PATH_MAX];
	struct str name;

	if (split(path, dir, &name) < 0)
		return;
	for (size_t i = strlen(dir); i >= made; i--) {
		_cleanup_close_ int fd = FD_NONE;

		if (dir[i] && dir[i] != '/')
			continue;
		memcpy(part, dir, i);
		part[i] = '\0';
		if (split(part, up, &name) < 0)
			continue;
		fd = files_dir_open(f, up, O_PATH | O_DIRECTORY, 0);
		/* Without its slashes at the end: the same as in make_dirs(). */
		if (fd >= 0 && part[name.p - part + (ptrdiff_t)name.n] == '\0')
			(void)!unlinkat(fd, part + (name.p - part), AT_REMOVEDIR);
	}
}

void files_dir_unmake(struct files *f, const char *path, size_t made)
{
	char dir[FILES_PATH_MAX], first;
	uint16_t at[NAMES_MAX];
	size_t from = made, n;
	struct str name;
	int fd;

	if (made == 0 || split(path, dir, &name) < 0)
		return;
	while (from > 0 && dir[from - 1] != '/')
		from--;
	n = plain_names(dir, from, at);
	if (n == 0) {
		unmake_each(f, path, made);
		return;
	}
	first = dir[from];
	dir[from] = '\0';
	fd = files_dir_open(f, from ? dir : ".", O_PATH | O_DIRECTORY, 0);
	dir[from] = first;
	if (fd >= 0)
		remove_names(fd, dir, at, n);
}

int files_dir_parent(struct files *f, const char *path, size_t *ret_made, char name[static 256])
{
	char dir[FILES_PATH_MAX];
	struct str last;
	int fd, r = split(path, dir, &last);

	if (r < 0)
		return r;
	memcpy(name, last.p, last.n);
	name[last.n] = '\0';
	fd = files_dir_open(f, dir, O_PATH | O_DIRECTORY, 0);
	if (fd != -ENOENT || !ret_made)
		return fd;
	r = make_dirs(f, dir, ret_made);
	fd = r < 0 ? r : files_dir_open(f, dir, O_PATH | O_DIRECTORY, 0);
	if (fd < 0) {
		files_dir_unmake(f, path, *ret_made);
		*ret_made = 0;
	}
	return fd;
}

/* O_NONBLOCK: the path may name a FIFO, and nobody may be on the other end. */
static int op_open(struct files *f, const char *path, unsigned flags, mode_t mode, struct files_stat *ret_st)
{
	int how = (flags & FILES_APPEND ? O_WRONLY | O_APPEND | O_CREAT : O_RDONLY) | O_NONBLOCK | O_NOCTTY |
		  (flags & FILES_NOFOLLOW ? O_NOFOLLOW : 0);
	_cleanup_close_ int fd = files_dir_open(f, path, how, mode), parent = FD_NONE;
	char name[256];
	size_t made = 0;
	int r;

	if (fd == -ENOENT && flags & FILES_APPEND && flags & FILES_PARENTS) {
		parent = files_dir_parent(f, path, &made, name);
		if (parent < 0)
			return parent;
		fd = files_dir_open(f, path, how, mode);
		if (fd < 0)
			files_dir_unmake(f, path, made);
	}
	if (fd < 0)
		return fd;
	r = files_dir_check_regular(fd, ret_st);
	return r < 0 ? r : TAKE_FD(fd);
}

static int op_get(struct files *f, const char *path, unsigned flags, struct files_content *ret)
{
	*ret = (struct files_content){ .fd = FD_NONE };
	ret->fd = op_open(f, path, flags & FILES_NOFOLLOW, 0, &ret->st);
	return ret->fd < 0 ? ret->fd : 0;
}

static int op_stat(struct files *f, const char *path, unsigned flags, struct files_stat *ret)
{
	_cleanup_close_ int fd =
		files_dir_open(f, path, O_PATH | (flags & FILES_NOFOLLOW ? O_NOFOLLOW : 0), 0);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = files_dir_stat(&st);
	return 0;
}

static int op_mkdir(struct files *f, const char *path, unsigned flags, mode_t mode)
{
	char name[256];
	size_t made = 0;
	_cleanup_close_ int dir = files_dir_parent(f, path, flags & FILES_PARENTS ? &made : NULL, name);
	struct stat st;

	if (dir == -EISDIR)
		return flags & FILES_PARENTS ? 0 : -EEXIST; /* "/", "." */
	if (dir < 0)
		return dir;
	if (mkdirat(dir, name, mode) == 0)
		return 0;
	if (errno != EEXIST || !(flags & FILES_PARENTS))
		return -errno;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -EEXIST;
}

static int op_remove(struct files *f, const char *path, unsigned flags)
{
	char name[256];
	_cleanup_close_ int dir = files_dir_parent(f, path, NULL, name);

	if (dir < 0)
		return dir;
	return unlinkat(dir, name, flags & FILES_DIRECTORY ? AT_REMOVEDIR : 0) < 0 ? -errno : 0;
}

static int op_rename(struct files *f, const char *from, const char *to, unsigned flags)
{
	char from_name[256], to_name[256];
	_cleanup_close_ int from_dir = files_dir_parent(f, from, NULL, from_name), to_dir = FD_NONE;
	unsigned how = flags & FILES_NEW ? RENAME_NOREPLACE : 0;

	if (from_dir < 0)
		return from_dir;
	to_dir = files_dir_parent(f, to, NULL, to_name);
	if (to_dir < 0)
		return to_dir;
	return syscall(SYS_renameat2, from_dir, from_name, to_dir, to_name, how) < 0 ? -errno : 0;
}

/* Through an open file and not O_PATH, which fchmod() refuses; so the file has to be readable or writable. */
static int op_chmod(struct files *f, const char *path, mode_t mode)
{
	_cleanup_close_ int fd = files_dir_open(f, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);

	if (fd == -EACCES)
		fd = files_dir_open(f, path, O_WRONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return fd;
	return fchmod(fd, mode & 07777) < 0 ? -errno : 0;
}

static const struct files_ops ops = {
	.open = op_open,
	.get = op_get,
	.stat = op_stat,
	.list = files_dir_list,
	.mkdir = op_mkdir,
	.remove = op_remove,
	.rename = op_rename,
	.chmod = op_chmod,
	.stage = files_dir_stage,
	.commit = files_dir_commit,
	.undo = files_dir_undo,
	.drop = files_dir_drop,
	.put = files_put_staged,
};

void files_dir_init(struct files_dir *d, int root, int work)
{
	*d = (struct files_dir){ .files = { .ops = &ops }, .root = root, .work = work };
}
