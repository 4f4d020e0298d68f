/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/tools_priv.h"

/* The rest of an absolute path behind the workspace's own; false when it lies elsewhere. */
static bool cut_work(struct str work, struct str *path)
{
	if (!str_starts(*path, work))
		return false;
	if (path->n > work.n && path->p[work.n] != '/')
		return false; /* "/workspace-other" */
	*path = str_from(*path, work.n);
	while (path->n > 0 && path->p[0] == '/')
		*path = str_from(*path, 1);
	if (path->n == 0)
		*path = STR(".");
	return true;
}

int tools_path(struct tool_ctx *x, struct str said, const char **ret, struct err *e)
{
	struct str path = said;

	if (path.n == 0)
		return err_set(e, ERR_USAGE, "the path is empty; name a file or directory");
	if (memchr(path.p, '\0', path.n))
		return err_set(e, ERR_USAGE,
			       "the path '" STR_FMT "' holds a NUL byte, which no file name can have",
			       STR_ARG(path));
	if (x->below.n && path.p[0] != '/')
		path = arena_printf(x->arena, "%.*s/%.*s", (int)x->below.n, x->below.p, (int)path.n, path.p);
	if (x->arena->failed)
		return err_set(e, ERR_LIMIT, "no memory for a path");
	if (x->work_only && path.p[0] == '/' && !cut_work(x->work, &path))
		return err_set(e, ERR_DENIED,
			       "'" STR_FMT "' lies outside the workspace '" STR_FMT "'; name a file in it",
			       STR_ARG(said), STR_ARG(x->work));
	if (path.n + x->work.n + 1 >= FILES_PATH_MAX)
		return err_set(e, ERR_USAGE, "the path '" STR_FMT "…' has %zu bytes, and may have %zu",
			       STR_ARG(path), path.n, FILES_PATH_MAX - x->work.n - 2);
	if (!x->work_only && path.p[0] != '/')
		path = arena_printf(x->arena, "%.*s/%.*s", (int)x->work.n, x->work.p, (int)path.n, path.p);
	else
		path = arena_str(x->arena, path);
	if (x->arena->failed)
		return err_set(e, ERR_LIMIT, "no memory for a path");
	*ret = path.p;
	return 0;
}

/* clang-format off */
static const struct {
	int errnum;
	enum err_kind kind;
	const char *text;
} words[] = {
	{ ENOENT,       ERR_NOTFOUND, "there is no such file or directory" },
	{ EACCES,       ERR_DENIED,   "the sandbox's user has no right to it" },
	{ EROFS,        ERR_DENIED,   "it lies on a read-only file system; write below the workspace or /tmp, or ask for workspace access rw" },
	{ EXDEV,        ERR_DENIED,   "it leads out of the workspace" },
	{ EPERM,        ERR_DENIED,   "the kernel does not permit it: the file belongs to somebody else or cannot be changed" },
	{ ELOOP,        ERR_USAGE,    "there are too many symbolic links, or one of /proc's own, on the way" },
	{ EISDIR,       ERR_USAGE,    "it is a directory, and must be a file" },
	{ ENOTDIR,      ERR_USAGE,    "it, or a part of its path, is a file, and must be a directory" },
	{ ENXIO,        ERR_USAGE,    "it is a FIFO, socket or device, and must be a regular file" },
	{ ENAMETOOLONG, ERR_USAGE,    "a name has more than 255 bytes, or the path more than 4095" },
	{ EEXIST,       ERR_USAGE,    "there is something of that name already" },
	{ ENOSPC,       ERR_LIMIT,    "no space is left there; the file is as it was" },
	{ EDQUOT,       ERR_LIMIT,    "the quota is used up; the file is as it was" },
	{ EFBIG,        ERR_LIMIT,    "it would be larger than a file may be; the file is as it was" },
	{ ETXTBSY,      ERR_UNAVAIL,  "it is a program that is running" },
	{ ESTALE,       ERR_UNAVAIL,  "somebody else changed it meanwhile; read it again and repeat the change" },
	{ EAGAIN,       ERR_UNAVAIL,  "directories on the way are being moved; try again" },
	{ ECONNRESET,   ERR_UNAVAIL,  "the sandbox's clerk, who works on its files, was killed; try again" },
};
/* clang-format on */

int tools_say(struct err *e, int r, const char *verb, struct str said)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].errnum == -r) {
			r = err_set(e, words[i].kind, "cannot %s '" STR_FMT "': %s", verb, STR_ARG(said),
				    words[i].text);
			e->sys_errno = words[i].errnum;
			return r;
		}
	return err_sys(e, -r, "cannot %s '" STR_FMT "'", verb, STR_ARG(said));
}
