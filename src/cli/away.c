/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that live in creel-session: they need SQLite and more, and this program starts faster without. It takes our place, with our
 * arguments and environment; the table, and so the help and the usage errors, are the same in both.
 */
#include "cli/cli.h"

#include "base/fd.h"
#include "base/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#ifndef CREEL_LIBEXEC
#define CREEL_LIBEXEC "/usr/libexec/creel"
#endif
#define PROGRAM "creel-session"

/* A build tree runs uninstalled: there it lies in our own directory. */
static int path_beside(char *out, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", out, size - sizeof(PROGRAM));
	char *slash;

	if (n <= 0 || (size_t)n >= size - sizeof(PROGRAM))
		return -ENOENT;
	out[n] = '\0';
	slash = strrchr(out, '/');
	if (!slash)
		return -ENOENT;
	memcpy(slash + 1, PROGRAM, sizeof(PROGRAM));
	return 0;
}

static int away(struct cli *cli, struct err *e)
{
	char path[PATH_MAX];

	signals_give_back(); /* ignored is inherited; it has its own mind about that */
	if (path_beside(path, sizeof(path)) == 0)
		(void)execve(path, cli->argv, cli->environ);
	(void)execve(CREEL_LIBEXEC "/" PROGRAM, cli->argv, cli->environ);
	if (errno == ENOENT && procfs_check(e) < 0)
		return -1;
	if (errno == ENOENT)
		return err_set(e, ERR_UNAVAIL,
			       PROGRAM " is not installed: expected " CREEL_LIBEXEC "/" PROGRAM
				       "; 'meson install' puts it there");
	return err_sys(e, errno, "start " CREEL_LIBEXEC "/" PROGRAM);
}

int run_call(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_list(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_inspect(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_kill(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_recreate(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_prune(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_audit_show(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_audit_follow(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_audit_verify(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_token_new(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_token_list(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_token_revoke(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_incident_export(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_approvals_list(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_approvals_show(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_approvals_allow(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_approvals_deny(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_pairing_list(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_pairing_approve(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_pairing_add(struct cli *cli, struct err *e)
{
	return away(cli, e);
}

int run_pairing_revoke(struct cli *cli, struct err *e)
{
	return away(cli, e);
}
