/* SPDX-License-Identifier: Apache-2.0 */
/* Where --report goes: an open file descriptor, or a file. */
#include "cli/cli.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The directory is opened now: a command that may write to it, or above it, can put another in its place. */
static int check_file(struct cli *cli, const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char dir[4096];
	struct stat st;

	if (snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".") >=
	    (int)sizeof(dir))
		return err_set(e, ERR_USAGE, "--report: the file name is too long");
	cli->report_dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (cli->report_dir < 0 || faccessat(cli->report_dir, ".", W_OK | X_OK, 0) < 0)
		return err_sys(e, errno, "--report: write into '%s'", dir);
	if (!name[0] ||
	    (fstatat(cli->report_dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode)))
		return err_set(e, ERR_USAGE,
			       "--report: '%s' is not a regular file; a number names an open file descriptor",
			       path);
	return 0;
}

int report_check(struct cli *cli, struct err *e)
{
	_cleanup_free_ char *path = NULL;
	uint64_t fd;

	if (!cli->report.has)
		return 0;
	if (cli->report.text.n == 0)
		return err_set(e, ERR_USAGE,
			       "--report: a file name or the number of an open file descriptor");
	if (str_eq(cli->report.text, STR("-")))
		return err_set(
			e, ERR_USAGE,
			"--report: '-' is not accepted: 1 is standard output, 2 standard error, and ./- "
			"a file of that name");
	if (str_to_u64(cli->report.text, 1 << 20, &fd) == 0)
		return fcntl((int)fd, F_GETFD) < 0
			       ? err_set(e, ERR_USAGE, "--report: file descriptor %d is not open", (int)fd)
			       : 0;
	if (str_dupz(cli->report.text, &path) < 0)
		return err_set(e, ERR_USAGE, "--report: the file name holds a NUL byte");
	return check_file(cli, path, e);
}

/* A number is an open file descriptor, anything else a file: written whole or not at all. */
int report_write(const struct cli *cli, struct str text, struct err *e)
{
	struct str to = cli->report.text;
	_cleanup_free_ char *path = NULL;
	uint64_t fd;
	int rc;

	if (str_to_u64(to, 1 << 20, &fd) == 0) {
		rc = fd_write_all((int)fd, text);
		return rc < 0 ? err_sys(e, -rc, "--report: write to file descriptor %d", (int)fd) : 0;
	}
	if (str_dupz(to, &path) < 0)
		return err_set(e, ERR_USAGE, "--report: the file name holds a NUL byte");
	rc = fd_write_atomic(cli->report_dir, strrchr(path, '/') ? strrchr(path, '/') + 1 : path, text, 0600);
	return rc < 0 ? err_sys(e, -rc, "--report: write '%s'", path) : 0;
}
