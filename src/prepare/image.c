/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --image DIR|NAME: what has a slash is a directory, as it is; a name is looked for in <state>/images and in
 * /var/lib/creel/images. Nobody else may be able to put something there: what runs under a name is what its owner put there.
 */
#include "prepare/prepare.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEM_IMAGES "/var/lib/creel/images/"
#define NAME_MAX_ 128u
#define LISTED_MAX 16u
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static bool name_valid(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		if (!letter && (i == 0 || !strchr("._-:@", c) || c == '\0'))
			return false;
	}
	return name.n > 0 && name.n <= NAME_MAX_;
}

static int check_ours(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(e, errno, "image '%s'", path);
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(
			e, ERR_DENIED,
			"'%s' belongs to somebody else or can be written by others, so it holds no image by name; fix: name "
			"the directory itself (--image ./DIR), or chown and chmod go-w it",
			path);
	return 0;
}

/* 1 = there, with its real path in `path`; 0 = not there. */
static int look_in(char *path, size_t size, struct err *e)
{
	_cleanup_close_ int dir = FD_NONE, image = FD_NONE;
	char *name = strrchr(path, '/'), link[64];
	ssize_t n;
	int rc;

	*name = '\0';
	dir = open(path, DIR_FLAGS);
	if (dir < 0)
		rc = errno == ENOENT ? 0 : err_sys(e, errno, "images in '%s'", path);
	else
		rc = check_ours(dir, path, e);
	*name = '/';
	if (rc < 0 || dir < 0)
		return rc;
	image = openat(dir, name + 1, DIR_FLAGS);
	if (image < 0 && errno == ENOENT)
		return 0;
	rc = image < 0 ? err_sys(e, errno, "image '%s' is no directory of its own", path)
		       : check_ours(image, path, e);
	if (rc < 0)
		return rc;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", image);
	n = readlink(link, path, size - 1);
	if (n < 0)
		return err_sys(e, errno, "resolve the image");
	path[n] = '\0';
	return 1;
}

static void list_in(struct buf *out, char *path)
{
	unsigned n = 0;
	struct dirent *entry;
	DIR *d;

	*strrchr(path, '/') = '\0';
	d = opendir(path);
	while (d && n < LISTED_MAX && (entry = readdir(d)))
		if (name_valid(str_z(entry->d_name)))
			buf_printf(out, "%s%s", n++ ? ", " : "", entry->d_name);
	if (d)
		(void)closedir(d);
	buf_printf(out, "%s in ", n ? "" : "nothing");
	buf_put_visible(out, str_z(path));
}

static int not_found(struct str name, char places[2][4096], int n, struct err *e)
{
	_cleanup_buf_ struct buf there = { 0 };

	buf_init(&there, 8192);
	for (int i = 0; i < n; i++) {
		buf_puts(&there, i ? "; " : "");
		list_in(&there, places[i]);
	}
	return err_set(
		e, ERR_NOTFOUND,
		"no image '" STR_FMT
		"'; fix: unpack it in one of these directories, or name one with a slash (./DIR); there is %.*s",
		STR_ARG(name), (int)there.n, there.p);
}

int image_find(const struct state_dir *s, struct arena *a, struct str name, struct str *ret, struct err *e)
{
	char places[2][4096];
	int n = 0, rc;

	*ret = name;
	if (!name.p || (name.n && memchr(name.p, '/', name.n)))
		return 0;
	if (!name_valid(name))
		return err_set(
			e, ERR_USAGE,
			"--image '" STR_FMT
			"': a name has at most %u letters, digits and . _ - : @ and starts with one of the "
			"first two; a directory has a slash (./DIR)",
			STR_ARG(name), NAME_MAX_);
	rc = state_path(s, "images", arena_printf(a, "%.*s", (int)name.n, name.p).p, places[n],
			sizeof(places[n]), e);
	if (rc < 0)
		return rc;
	(void)snprintf(places[1], sizeof(places[1]), SYSTEM_IMAGES "%.*s", (int)name.n, name.p);
	n = strcmp(places[0], places[1]) == 0 ? 1 : 2;
	for (int i = 0; i < n; i++) {
		rc = look_in(places[i], sizeof(places[i]), e);
		if (rc < 0)
			return rc;
		if (rc > 0) {
			*ret = arena_str(a, str_z(places[i]));
			return a->failed ? err_set(e, ERR_LIMIT, "out of memory") : 0;
		}
	}
	return not_found(name, places, n, e);
}
