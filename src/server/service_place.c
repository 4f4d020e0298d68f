/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the runner's socket lies. Whoever can put one there is given every call, with the token of its caller; so each directory on the way is ours or root's,
 * and nobody else can write to it. In a sticky one (/tmp) others cannot take a socket away, but may have been there first: there, who answers is
 * looked at with each connection. A link on the way is followed when it is ours or root's (/var/run), by way of directories of the same kind: it can be
 * put anywhere by whom it belongs to.
 */
#include "base/root.h"
#include "server/service.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40, UNMAPPED_UID = 65534 };

struct way {
	int at;                  /* the directory in which the next name is looked for */
	char rest[PATH_MAX];     /* what is still to go */
	char name[NAME_MAX + 1]; /* the next name */
	const char *behind;      /* what comes after it */
	unsigned links;
};

static const char *fault_of(const struct stat *st, bool last)
{
	const mode_t others = S_IWOTH | (last || (st->st_gid != 0 && st->st_gid != getegid()) ? S_IWGRP : 0);

	/* In a container the root above may be nobody's there. */
	if (st->st_uid != 0 && st->st_uid != geteuid() && (last || st->st_uid != UNMAPPED_UID))
		return "belongs to another user";
	if (st->st_mode & others && !(st->st_mode & S_ISVTX))
		return "can be written by others";
	/* Into one with mode 0700 only its owner comes, and there our name proves nothing. */
	if (last && st->st_uid && st->st_mode & 077 && strangers_look_ours())
		return "may belong to any user who has no name in this user namespace";
	return NULL;
}

static int refuse(int fd, const char *what, const char *fault, struct err *e)
{
	char link[64], path[PATH_MAX] = "?";
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n >= 0)
		path[n] = '\0';
	return err_set(e, ERR_DENIED,
		       "%s the runner's socket, '%s', %s, who could have put the socket there; fix: "
		       "serve.runner in a directory of your own with mode 0700, and start creeld again",
		       what, path, fault);
}

/* From the root on, whatever the address begins with. */
static int begin(struct way *w, const char *path)
{
	size_t n = 0, size = strlen(path) + 1;

	if (path[0] != '/' && !getcwd(w->rest, sizeof(w->rest) - 1))
		return -errno;
	n = strlen(w->rest);
	if (n)
		w->rest[n++] = '/';
	if (n + size > sizeof(w->rest))
		return -ENAMETOOLONG;
	memcpy(w->rest + n, path, size);
	w->at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->at < 0 ? -errno : 0;
}

static bool next_name(struct way *w)
{
	const char *p = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(p, "/");

	if (n == 0 || n > NAME_MAX)
		return false;
	memcpy(w->name, p, n);
	w->name[n] = '\0';
	w->behind = p + n;
	return true;
}

/* What the link says goes before the rest. */
static int follow(struct way *w, int link)
{
	char target[PATH_MAX];
	size_t left = strlen(w->behind) + 1;
	ssize_t n = readlinkat(link, "", target, sizeof(target));

	if (n <= 0 || ++w->links > LINKS_MAX)
		return n < 0 ? -errno : -ELOOP;
	if ((size_t)n + left > sizeof(w->rest))
		return -ENAMETOOLONG;
	memmove(w->rest + n, w->behind, left); /* begins with a slash, or is empty */
	memcpy(w->rest, target, (size_t)n);
	if (target[0] != '/')
		return 0;
	(void)fd_close(w->at);
	w->at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->at < 0 ? -errno : 0;
}

static int look_at_directory(const struct way *w, bool last, bool *ret_sticky, struct err *e)
{
	const char *fault;
	struct stat st;

	if (fstat(w->at, &st) < 0)
		return err_sys(e, errno, "look at the directory of the runner's socket");
	fault = fault_of(&st, last);
	*ret_sticky |= last && st.st_mode & (S_IWOTH | S_IWGRP);
	return fault ? refuse(w->at, last ? "the directory of" : "what lies above the directory of", fault, e)
		     : 0;
}

/* 1: there is more to go. */
static int step(struct way *w, bool last, struct err *e)
{
	_cleanup_close_ int next = openat(w->at, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int r = 0;

	if (next < 0 && errno == ENOENT && last)
		return 0; /* nobody listens yet */
	if (next < 0 || fstat(next, &st) < 0)
		return err_sys(e, errno, "'%s'", w->name);
	if (!S_ISLNK(st.st_mode)) {
		memmove(w->rest, w->behind, strlen(w->behind) + 1);
		(void)fd_close(w->at);
		w->at = TAKE_FD(next);
		return !last;
	}
	if (st.st_uid != 0 && (st.st_uid != geteuid() || strangers_look_ours()))
		return refuse(next, "a link on the way to", "belongs to another user", e);
	r = follow(w, next);
	return r < 0 ? err_sys(e, -r, "follow '%s'", w->name) : 1;
}

int service_check_place(const char *address, bool *ret_sticky, struct err *e)
{
	struct way w = { .at = FD_NONE };
	struct err why = { 0 };
	int r;

	*ret_sticky = false;
	if (!str_starts(str_z(address), STR("unix:")))
		return 0;
	address += sizeof("unix:") - 1;
	r = begin(&w, address);
	if (r < 0)
		(void)err_sys(&why, -r, "'%s'", address);
	else
		r = 1;
	while (r > 0 && next_name(&w)) {
		bool last = w.behind[strspn(w.behind, "/")] == '\0';

		r = look_at_directory(&w, last, ret_sticky, &why);
		if (r == 0)
			r = step(&w, last, &why);
	}
	(void)fd_close(w.at);
	if (r == 0)
		return 0;
	if (why.kind == ERR_DENIED) {
		*e = why;
		return -(int)ERR_DENIED;
	}
	return err_set(e, ERR_UNAVAIL, "the directory of the runner's socket, '%s', cannot be looked at%s%s",
		       address, why.msg[0] ? ": " : "", why.msg);
}
