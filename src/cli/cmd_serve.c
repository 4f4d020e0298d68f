/* SPDX-License-Identifier: Apache-2.0 */
/* The services are creeld's, which takes our place: the same words and options, without "serve". */
#include "cli/cli.h"

#include "base/procfs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define PROGRAM "creeld"

/* Beside us where creel is installed; in its own room in a build tree. */
static int start(const char *below, char **argv, char *const *vars)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;
	size_t room;

	if (n <= 0)
		return -ENOENT;
	path[n] = '\0';
	slash = strrchr(path, '/');
	room = slash ? sizeof(path) - (size_t)(slash + 1 - path) : 0;
	if (!slash || (size_t)snprintf(slash + 1, room, "%s" PROGRAM, below) >= room)
		return -ENAMETOOLONG;
	(void)execve(path, argv, vars);
	return -errno;
}

int run_serve(struct cli *cli, struct err *e)
{
	size_t n = 1;
	bool found = false;
	int r;

	if (cli->json || cli->session.has || cli->agent.has || cli->sandbox.has)
		return err_set(
			e, ERR_USAGE,
			"serve: --json, --session, --agent and --sandbox are not for services; --log-format "
			"json is for their log");
	for (char **a = cli->argv + 1; *a; a++) {
		if (!found && strcmp(*a, "serve") == 0)
			found = true;
		else
			cli->argv[n++] = *a;
	}
	cli->argv[n] = NULL;
	cli->argv[0] = (char[]){ PROGRAM };
	signals_give_back();
	r = start("../daemon/", cli->argv,
		  cli->environ); /* first: a build tree must not start an installed one */
	if (r == -ENOENT || r == -ENOTDIR)
		r = start("", cli->argv, cli->environ);
	if (r == -ENOENT && procfs_check(e) < 0)
		return -1;
	if (r == -ENOENT)
		return err_set(e, ERR_UNAVAIL,
			       PROGRAM " is not installed beside creel; 'meson install' puts it there");
	return err_sys(e, -r, "start " PROGRAM);
}
