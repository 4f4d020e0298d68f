/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A repository that the user sees and git inside does not: a worktree's or submodule's lies elsewhere, a part of one has none. What .git says was
 * perhaps written by a command in the sandbox, so a directory is only named when it knows the workspace, too.
 */
#include "prepare/prepare.h"

#include "base/fd.h"
#include "policy/path.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINK_MAX_BYTES ((size_t)8 << 10)

/* The one line of a small file; empty when it is something else. */
static struct str read_line(struct arena *a, struct str path)
{
	_cleanup_free_ char *text = NULL;
	struct str line, rest;
	size_t n = 0;

	path = arena_str(a, path);
	if (fd_read_file(path.p, LINK_MAX_BYTES, &text, &n) < 0 || n == 0 || memchr(text, '\0', n))
		return (struct str){ 0 };
	line = (struct str){ .p = text, .n = n };
	if (str_cut(line, '\n', &line, &rest) && str_trim(rest).n)
		return (struct str){ 0 };
	return arena_str(a, str_trim(line));
}

static bool is_there(struct arena *a, struct str path)
{
	struct stat st;

	return lstat(arena_str(a, path).p, &st) == 0;
}

/* Where a bind shows it under its own name. */
static bool is_bound(const struct decision *d, struct str path)
{
	for (size_t i = 0; i < d->n_mounts; i++)
		if (d->mounts[i].source != MOUNT_WORKSPACE &&
		    str_eq(d->mounts[i].host, d->mounts[i].target) && path_within(d->mounts[i].target, path))
			return true;
	return false;
}

/* <repository>/worktrees/<name>, whose `gitdir` names the workspace. */
static bool is_its_worktree(struct arena *a, struct str dir, struct str workspace, struct str *ret_repo)
{
	struct str above, name, last;

	if (!str_cut_last(dir, '/', &above, &name) || !str_cut_last(above, '/', ret_repo, &last) ||
	    !str_eq(last, STR("worktrees")))
		return false;
	return str_eq(read_line(a, path_join(a, dir, STR("gitdir"))), path_join(a, workspace, STR(".git")));
}

/* It goes into a command that somebody copies. */
static bool is_plain(struct str path)
{
	if (path.n > 127)
		return false; /* messages show no more */
	for (size_t i = 0; i < path.n; i++)
		if ((unsigned char)path.p[i] <= ' ' || path.p[i] == 0x7f || strchr("'\"\\$`:,[]", path.p[i]))
			return false;
	return true;
}

static struct str hint_at_link(struct arena *a, const struct decision *d, struct str workspace)
{
	struct str line = read_line(a, path_join(a, workspace, STR(".git"))), dir, repo, fix = { 0 };

	if (!str_starts(line, STR("gitdir:")))
		return (struct str){ 0 };
	dir = str_trim(str_from(line, sizeof("gitdir:") - 1));
	dir = path_normalise(a, path_is_absolute(dir) ? dir : path_join(a, workspace, dir));
	if (path_within(workspace, dir) || is_bound(d, dir))
		return (struct str){ 0 };
	if (is_its_worktree(a, dir, workspace, &repo) && is_plain(repo))
		fix = arena_printf(a,
				   "-e \"mounts.binds=['" STR_FMT ":" STR_FMT
				   ":ro']\" lets git read it, and not commit; or ",
				   STR_ARG(repo), STR_ARG(repo));
	return arena_printf(
		a,
		"git: the repository of this worktree lies outside of the workspace, and is not seen inside; "
		"fix: %.*sa clone, or the directory that holds the repository, as --workspace",
		(int)fix.n, fix.p ? fix.p : "");
}

static struct str hint_above(struct arena *a, struct str workspace)
{
	struct str dir = workspace, name;

	while (str_cut_last(dir, '/', &dir, &name) && dir.n)
		if (is_there(a, path_join(a, dir, STR(".git"))))
			return arena_printf(
				a,
				"git: the workspace is a part of the repository '%.*s', which is not seen "
				"inside; fix: that one as --workspace",
				(int)dir.n, dir.p);
	return (struct str){ 0 };
}

static bool has(struct str s, const char *text)
{
	return s.n && memmem(s.p, s.n, text, strlen(text));
}

/* Perhaps a directory: git itself, or a text for a shell. What has a colon is an address. */
static bool clones_directory(const struct decision *d)
{
	const struct strs v = d->tool.argv;
	bool git = v.n && (str_eq(v.v[0], STR("git")) || str_ends(v.v[0], STR("/git"))), found = false;

	for (size_t i = 0; i < v.n; i++) {
		if (has(v.v[i], "--no-hardlinks") || has(v.v[i], "--no-local") || has(v.v[i], ":"))
			return false;
		found |= git ? i > 0 && str_eq(v.v[i], STR("clone")) : has(v.v[i], "git clone ");
	}
	return found;
}

/* In an overlay a new link to a file of the lower layer is a copy with another number, for which git takes the directory for tampered with. */
static struct str hint_at_clone(const struct decision *d)
{
	return wants_layers(d) && clones_directory(d)
		       ? STR("git: if it spoke of a hard link: a directory of an overlay cannot be cloned with them; "
			     "fix: git clone --no-hardlinks, or --workspace-access rw")
		       : (struct str){ 0 };
}

struct str git_hint(struct arena *a, const struct decision *d)
{
	struct str workspace = path_normalise(a, d->agent_workspace.n ? d->agent_workspace : d->workspace);
	struct str hint;

	if (!(d->mode.caps & CAP_BIT(CAP_VCS)) || !path_is_absolute(workspace))
		return (struct str){ 0 };
	hint = is_there(a, path_join(a, workspace, STR(".git"))) ? hint_at_link(a, d, workspace)
								 : hint_above(a, workspace);
	return hint.n ? hint : hint_at_clone(d);
}
