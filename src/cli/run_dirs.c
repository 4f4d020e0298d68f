/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private directory of one run: <state>/runs/<id>, where <state> is --state-dir, $XDG_STATE_HOME/creel or
 * ~/.local/state/creel; for root /var/lib/creel, because the sandbox is another user then and could not pass through /root.
 */
#include "cli/run.h"

#include "base/clock.h"
#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_all(char *path, struct err *e)
{
	for (char *at = path + 1;; at++) {
		char c = *at;

		if (c != '/' && c != '\0')
			continue;
		*at = '\0';
		if (mkdir(path, c == '\0' ? 0700 : 0711) < 0 && errno != EEXIST)
			return err_sys(e, errno, "create '%s'", path);
		*at = c;
		if (c == '\0')
			return 0;
	}
}

int run_make_private_dir(struct run *r, struct err *e)
{
	const struct cli *cli = r->cli;
	const char *xdg = getenv("XDG_STATE_HOME");
	char id[32];
	int n;

	(void)snprintf(id, sizeof(id), "%llx-%d", (unsigned long long)clock_unix_ms(), getpid());
	if (cli->state_dir.has)
		n = snprintf(r->private_dir, sizeof(r->private_dir), "%.*s/runs/%s",
			     (int)cli->state_dir.text.n, cli->state_dir.text.p, id);
	else if (getuid() == 0)
		n = snprintf(r->private_dir, sizeof(r->private_dir), "/var/lib/creel/runs/%s", id);
	else if (xdg && xdg[0] == '/')
		n = snprintf(r->private_dir, sizeof(r->private_dir), "%s/creel/runs/%s", xdg, id);
	else
		n = snprintf(r->private_dir, sizeof(r->private_dir), "%.*s/.local/state/creel/runs/%s",
			     (int)r->facts.home.n, r->facts.home.p, id);
	if (n >= (int)sizeof(r->private_dir)) {
		r->private_dir[0] = '\0';
		return err_set(e, ERR_LIMIT, "the state directory's name is too long");
	}
	n = make_all(r->private_dir, e);
	if (n < 0)
		r->private_dir[0] = '\0';
	return n;
}

/* Below a directory of ours; nothing is followed, nothing else is touched. */
static void remove_tree(int parent, const char *name, unsigned depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *entry;
	DIR *d;

	if (fd < 0 && errno == EACCES &&
	    fchmodat(parent, name, 0700, 0) == 0) /* overlayfs makes work/ without any rights */
		fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d)
		fd = fd_close(fd);
	while (d && depth < 512 && (entry = readdir(d))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) < 0 && (errno == EISDIR || errno == EPERM))
			remove_tree(fd, entry->d_name, depth + 1);
	}
	if (d)
		(void)closedir(d);
	(void)unlinkat(parent, name, AT_REMOVEDIR);
}

void run_remove_private_dir(struct run *r)
{
	if (r->private_dir[0])
		remove_tree(AT_FDCWD, r->private_dir, 0);
	r->private_dir[0] = '\0';
}
