/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/host.h"
#include "base/fd.h"
#include "base/tree.h"
#include "sandbox/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define LIST_MAX 64
#define LINK_MAX_ 256u /* bytes of a link's text, and one */

/*
 * Seen read-only at their own place when they are there. Nothing here holds a secret on any distribution we know. Few,
 * because every mount costs at the start and again at the end.
 */
static const char *const etc_binds[] = { "/etc/ld.so.cache", "/etc/alternatives",    "/etc/ssl/certs",
					 "/etc/pki",         "/etc/java-17-openjdk", "/etc/java-21-openjdk",
					 "/etc/services",    "/etc/protocols",       NULL };
static const char *const top_links[] = { "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32", NULL };
static const struct {
	const char *path;
	unsigned major, minor;
} devices[] = {
	{ "/dev/null", 1, 3 },   { "/dev/zero", 1, 5 },    { "/dev/full", 1, 7 },
	{ "/dev/random", 1, 8 }, { "/dev/urandom", 1, 9 }, { "/dev/tty", 5, 0 },
};
#define N_DEVICES (sizeof(devices) / sizeof(devices[0]))

struct lists {
	struct source *binds;
	struct str *targets;
	size_t n_binds;
	struct str *links;
	size_t n_links;
};

static int lists_new(struct arena *a, struct lists *l, struct err *e)
{
	l->binds = ARENA_ARRAY(a, struct source, LIST_MAX);
	l->targets = ARENA_ARRAY(a, struct str, LIST_MAX);
	l->links = ARENA_ARRAY(a, struct str, LIST_MAX);
	return a->failed ? err_sys(e, ENOMEM, "profile") : 0;
}

static void lists_give(const struct lists *l, struct profile *p)
{
	p->root_binds = l->binds;
	p->root_targets = l->targets;
	p->n_root_binds = l->n_binds;
	p->links = l->links;
	p->n_links = l->n_links;
}

static int check_room(const struct lists *l, struct err *e)
{
	return l->n_binds < LIST_MAX ? 0 : err_set(e, ERR_LIMIT, "more than %d system directories", LIST_MAX);
}

/* Absent is fine; anything else that goes wrong is not. */
static int take_bind(struct lists *l, int r, struct str target, struct err *e)
{
	if (r < 0 && e->sys_errno == ENOENT) {
		*e = (struct err){ 0 };
		return 0;
	}
	if (r < 0)
		return r;
	l->targets[l->n_binds++] = target;
	return 0;
}

static int add_bind(struct arena *a, struct lists *l, struct str path, struct str target, struct err *e)
{
	int r = check_room(l, e);

	return r < 0 ? r : take_bind(l, source_resolve(a, path, &l->binds[l->n_binds], e), target, e);
}

/* At its own place. */
static int add_system(struct arena *a, struct lists *l, const char *path, struct err *e)
{
	int r = check_room(l, e);

	return r < 0 ? r : take_bind(l, source_system(a, path, &l->binds[l->n_binds], e), str_z(path), e);
}

static int take_link(struct arena *a, struct lists *l, const char *name, struct str at, struct str text,
		     struct err *e)
{
	if (text.n >= LINK_MAX_)
		return err_sys(e, ENAMETOOLONG, "read the link '%s'", name);
	if (l->n_links + 2 > LIST_MAX)
		return err_set(e, ERR_LIMIT, "more than %d links at the top of the root", LIST_MAX / 2);
	l->links[l->n_links++] = at;
	l->links[l->n_links++] = arena_str(a, text);
	return 0;
}

static int add_link(struct arena *a, struct lists *l, int dir, const char *name, struct str at, struct err *e)
{
	char text[LINK_MAX_];
	ssize_t n = readlinkat(dir, name, text, sizeof(text));

	if (n < 0)
		return err_sys(e, errno, "read the link '%s'", name);
	return take_link(a, l, name, at, (struct str){ .p = text, .n = (size_t)n }, e);
}

static int add_top(struct arena *a, struct lists *l, const char *path, struct err *e)
{
	char text[LINK_MAX_];
	ssize_t n = readlink(path, text, sizeof(text));

	if (n >= 0)
		return take_link(a, l, path, str_z(path), (struct str){ .p = text, .n = (size_t)n }, e);
	return add_system(a, l, path, e);
}

/* It says where the zone lies, below /usr, which is there inside too. */
static int add_localtime(struct arena *a, struct lists *l, struct err *e)
{
	static const char path[] = "/etc/localtime";
	char text[LINK_MAX_];
	ssize_t n = readlink(path, text, sizeof(text));
	struct str to = { .p = text, .n = n < 0 ? 0 : (size_t)n };

	if (str_starts(to, STR("/usr/")))
		return take_link(a, l, path, STR("/etc/localtime"), to, e);
	return add_system(a, l, path, e);
}

/* A container may have a link, a plain file or another device there: what is mounted must be the one that we mean. */
static int resolve_device(size_t i, struct source *ret, struct err *e)
{
	struct stat st;
	int r = lstat(devices[i].path, &st);

	if (r < 0)
		return err_sys(e, errno, "stat '%s'", devices[i].path);
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(devices[i].major, devices[i].minor))
		return err_set(e, ERR_UNAVAIL, "'%s' is not the device that it should be", devices[i].path);
	*ret = source_of(str_z(devices[i].path), &st);
	return 0;
}

static int add_devices(struct arena *a, struct profile *p, struct err *e)
{
	struct source *list = ARENA_ARRAY(a, struct source, N_DEVICES);

	if (!list)
		return err_sys(e, ENOMEM, "profile");
	for (size_t i = 0; i < N_DEVICES; i++) {
		int r = resolve_device(i, &list[i], e);

		if (r < 0)
			return r;
	}
	p->devices = list;
	p->n_devices = N_DEVICES;
	return 0;
}

struct files {
	struct str *v; /* pairs: path, content */
	size_t n;
};
#define FILES_MAX 24

static void put_file(struct files *f, const char *path, struct str content)
{
	f->v[f->n] = str_z(path);
	f->v[f->n + 1] = content;
	f->n += 2;
}

static void put_users(struct arena *a, struct files *f, const struct profile *p)
{
	put_file(f, "/etc/passwd",
		 arena_printf(a,
			      "root:x:0:0:root:/root:/usr/sbin/nologin\n"
			      "sandbox:x:%u:%u:sandbox:/tmp:/bin/sh\n"
			      "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
			      p->inner_uid, p->inner_gid));
	put_file(f, "/etc/group",
		 arena_printf(a, "root:x:0:\nsandbox:x:%u:\nnogroup:x:65534:\n", p->inner_gid));
	put_file(f, "/etc/nsswitch.conf",
		 STR("passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n"));
}

static int add_etc(struct arena *a, struct profile *p, struct err *e)
{
	struct files f = { .v = ARENA_ARRAY(a, struct str, FILES_MAX) };

	if (!f.v)
		return err_sys(e, ENOMEM, "profile");
	put_users(a, &f, p);
	put_file(&f, "/etc/hosts",
		 arena_printf(a, "127.0.0.1 localhost " STR_FMT "\n::1 localhost\n", STR_ARG(p->hostname)));
	put_file(&f, "/etc/resolv.conf", STR(""));
	p->files = f.v;
	p->n_files = f.n;
	return a->failed ? err_sys(e, ENOMEM, "profile") : 0;
}

int host_root(struct arena *a, struct profile *p, struct err *e)
{
	struct lists l = { 0 };
	int r = lists_new(a, &l, e);

	if (r >= 0)
		r = add_system(a, &l, "/usr", e);
	for (const char *const *t = top_links; *t && r >= 0; t++)
		r = add_top(a, &l, *t, e);
	for (const char *const *b = etc_binds; *b && r >= 0; b++)
		r = add_system(a, &l, *b, e);
	if (r >= 0)
		r = add_localtime(a, &l, e);
	if (r >= 0)
		r = add_etc(a, p, e);
	if (r >= 0)
		r = add_devices(a, p, e);
	lists_give(&l, p);
	return r;
}

/* What we make ourselves, whatever the image has under these names. */
static bool is_ours(const char *name)
{
	static const char *const ours[] = { ".",    "..",   "proc", "sys", "dev",   "tmp", "run",
					    "home", "root", "boot", "mnt", "media", NULL };

	for (const char *const *o = ours; *o; o++)
		if (strcmp(*o, name) == 0)
			return true;
	return false;
}

static int add_image_entry(struct arena *a, struct lists *l, int dir, struct str base, const char *name,
			   struct err *e)
{
	struct str at = arena_printf(a, "/%s", name), path;
	struct stat st;
	int r;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, errno, "image: stat '%s'", name);
	if (S_ISLNK(st.st_mode))
		return add_link(a, l, dir, name, at, e);
	if (!S_ISDIR(st.st_mode))
		return 0;
	path = arena_printf(a, "%.*s/%s", (int)base.n, base.p, name);
	r = add_bind(a, l, path, at, e);
	/* A link that took the directory's place since would lead out of the image. */
	if (r >= 0 && !(l->n_binds && str_eq(l->binds[l->n_binds - 1].path, path)))
		r = err_set(e, ERR_UNAVAIL, "image: '%s' changed while it was looked at", name);
	return r;
}

static int add_image_entries(struct arena *a, struct lists *l, struct str base, struct err *e)
{
	DIR *d = opendir(base.p);
	struct dirent *entry;
	int r = 0;

	if (!d)
		return err_sys(e, errno, "image: open '%s'", base.p);
	while (r >= 0 && (entry = tree_next(d)))
		if (!is_ours(entry->d_name))
			r = add_image_entry(a, l, dirfd(d), base, entry->d_name, e);
	if (r >= 0 && errno != 0)
		r = err_sys(e, errno, "image: read '%s'", base.p);
	(void)closedir(d);
	return r;
}

/*
 * The image's /etc is seen as it is, read-only: its own users, its own name service. A link at the top of the image is made
 * again inside, where it can only point at what is inside.
 */
int host_image_root(struct arena *a, struct str dir, struct profile *p, struct err *e)
{
	struct lists l = { 0 };
	struct source top;
	int r = lists_new(a, &l, e);

	if (r >= 0)
		r = source_resolve(a, dir, &top, e);
	if (r < 0)
		return err_wrap(e, "--image");
	if (top.is_file)
		r = err_set(e, ERR_USAGE, "image '" STR_FMT "' is not a directory", STR_ARG(dir));
	if (str_eq(top.path, STR("/")))
		r = err_set(
			e, ERR_USAGE,
			"image '" STR_FMT
			"' is the root of this host; fix: leave the image out, and the host's own /usr is used",
			STR_ARG(dir));
	p->image = top.path;
	if (r >= 0)
		r = add_image_entries(a, &l, top.path, e);
	if (r >= 0 && l.n_binds == 0)
		r = err_set(e, ERR_USAGE,
			    "image '" STR_FMT "' holds no root file system (no usr, bin or lib)",
			    STR_ARG(dir));
	if (r >= 0)
		r = add_devices(a, p, e);
	lists_give(&l, p);
	return r;
}

uint32_t host_landlock_abi(void)
{
	long abi = syscall(444 /* landlock_create_ruleset */, NULL, 0, 1u);

	return abi > 0 ? (uint32_t)abi : 0;
}
