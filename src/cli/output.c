/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include "base/fd.h"
#include "base/port.h"
#include "prepare/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const char *cli_getenv(const struct cli *cli, const char *name)
{
	return environ_get(cli->environ, name);
}

static int write_all(int fd, struct str text)
{
	while (text.n) {
		ssize_t n = write(fd, text.p, text.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text = str_from(text, (size_t)n);
	}
	return 0;
}

int output_all(int fd, struct str text, struct err *e)
{
	int r = write_all(fd, text);

	return r < 0 ? err_sys(e, -r, "write standard output") : 0;
}

void output_complain(struct str text)
{
	(void)write_all(STDERR_FILENO, text); /* there is nobody left to tell */
}

void output_diags(const struct diags *d, enum severity least, const struct config *c)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, OUTPUT_MAX);
	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].severity <= least)
			diag_put(&text, &d->v[i]);
	if (d->n_dropped)
		buf_printf(&text, "creel: %zu more of these are not shown\n", d->n_dropped);
	if (c)
		redact(&text, c, false);
	output_complain(buf_str(&text));
}

bool output_wants_colour(const struct cli *cli)
{
	return !cli->json && !cli_getenv(cli, "NO_COLOR") && isatty(STDOUT_FILENO) == 1;
}

bool output_reads_utf8(const struct cli *cli)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *value = NULL;
	struct str language, set;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !value; i++)
		value = cli_getenv(cli, names[i]);
	if (!value || !str_cut(str_z(value), '.', &language, &set))
		return true;
	return (set.n >= 5 && str_eq_nocase((struct str){ .p = set.p, .n = 5 }, STR("utf-8"))) ||
	       (set.n >= 4 && str_eq_nocase((struct str){ .p = set.p, .n = 4 }, STR("utf8")));
}

/* ---- whole files ---- */

/* ".name.XXXXXX" beside the target, so that the rename stays in one file system. */
static int temp_beside(const char *path, char *out, size_t size)
{
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash - path) + 1 : 0;
	int n = snprintf(out, size, "%.*s.%s.%ld", dir, path, path + dir, (long)getpid());

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int fill(const char *temp, struct str text, bool *ret_made)
{
	_cleanup_close_ int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r;

	if (fd < 0)
		return -errno;
	*ret_made = true;
	r = write_all(fd, text);
	if (r < 0)
		return r;
	return fsync(fd) < 0 ? -errno : 0;
}

static int move(const char *temp, const char *path, bool replace)
{
	if (replace)
		return rename(temp, path) < 0 ? -errno : 0;
	if (port_rename_new(AT_FDCWD, temp, AT_FDCWD, path) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* A file system without RENAME_NOREPLACE: a hard link refuses an existing name just as well. */
	if (link(temp, path) < 0)
		return -errno;
	(void)unlink(temp);
	return 0;
}

int output_file(const char *path, struct str text, bool replace, struct err *e)
{
	_cleanup_free_ char *real = replace ? realpath(path, NULL) : NULL; /* a symlink stays a symlink */
	const char *target = real ? real : path;
	char temp[PATH_MAX];
	struct stat st;
	bool made = false;
	int r;

	if (replace && stat(target, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(e, ERR_USAGE, "'%s' is not a regular file", path);
	r = temp_beside(target, temp, sizeof(temp));
	if (r < 0)
		return err_sys(e, -r, "write '%s'", path);
	r = fill(temp, text, &made);
	if (r == 0)
		r = move(temp, target, replace);
	if (r < 0 && made)
		(void)unlink(temp);
	if (r == -EEXIST)
		return err_set(e, ERR_USAGE, "'%s' exists; --force replaces it", made ? path : temp);
	if (r == 0)
		return 0;
	return err_sys(e, -r, "write '%s'", path);
}

bool cli_variable(const struct cli *cli, struct str name, struct str *ret)
{
	for (char *const *v = cli->environ; *v; v++) {
		struct str key, value;

		if (str_cut(str_z(*v), '=', &key, &value) && str_eq(key, name)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

void output_unset(const struct cli *cli, const char *command)
{
	for (size_t i = 0; i < cli->env.n && !cli->quiet; i++) {
		struct str name = cli->env.v[i], value;
		_cleanup_buf_ struct buf line = { 0 };

		if (str_cut(name, '=', &name, &value) || cli_variable(cli, name, &value))
			continue;
		buf_init(&line, OUTPUT_MAX);
		buf_printf(&line, "creel %s: --env ", command);
		buf_put_visible(&line, name);
		buf_puts(&line, ": not set here, so it is left out; --env NAME=VALUE gives it a value\n");
		output_complain(buf_str(&line));
	}
}

struct str output_fix(struct str fix)
{
	static const char native[] = "--backend native: in this build no other backend runs commands";
	static const struct {
		const char *policy, *typed;
	} table[] = {
		{ "systemctl start docker", native },
		{ "backend.opensandbox.endpoint", native },
		{ "mounts.workspace.path",
		  "--workspace DIR (or cd there, or mounts.workspace.path): not /, not a whole home directory, no "
		  "directory of the system such as /etc or /root, and none with creel's own state in it (--state-dir)" },
		{ "mounts.workspace.access=overlay",
		  "--workspace-access overlay (or ro): the host's files stay as they are; or --workspace DIR: another directory" },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (str_eq(fix, str_z(table[i].policy)))
			return str_z(table[i].typed);
	return fix;
}
