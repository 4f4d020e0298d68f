/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a session works (docs/decisions/008). Its workspace is the session's and not the caller's: while its sandbox lives, a call that says nothing
 * about a workspace works on the one that the sandbox was made with, whatever directory its caller stands in. Only what follows the
 * caller's directory can stay behind like that: a workspace that was asked for or configured is never exchanged for another.
 */
#include "engine/engine_priv.h"

#include "base/fd.h"
#include "base/private.h"
#include "base/root.h"
#include "policy/posture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The rest of `path` below `dir`, empty when it is the same; false when it lies elsewhere. */
static bool lies_in(struct str dir, struct str path, struct str *ret_rest)
{
	if (!str_starts(path, dir) || (path.n > dir.n && path.p[dir.n] != '/'))
		return false;
	*ret_rest = path.n > dir.n ? str_from(path, dir.n + 1) : (struct str){ 0 };
	return true;
}

void session_place_init(struct session *s, const struct decision *d)
{
	s->cwd = s->who.facts.cwd;
	s->named = s->who.session_key.n > 0;
	s->follows = !s->own && d->place.place > PLACE_HOST && d->place.backend == BACKEND_NATIVE &&
		     d->place.scope != SCOPE_JOB && !said(&d->eff, OPT_WS_PATH) &&
		     str_eq(d->workspace, s->cwd) && d->place.key.n <= REGISTRY_KEY_MAX;
	s->place_key = s->follows ? arena_str(&s->arena, d->place.key) : (struct str){ 0 };
}

/* Nobody asks for a sandbox that is about to go, and what cannot be read is told by whoever needs it. */
static bool find_live(struct session *s, struct arena *a, struct reg_entry *ret)
{
	struct err ignored = { 0 };
	struct registry *reg;

	return engine_registry(s->engine, &reg, &ignored) >= 0 &&
	       registry_find(reg, s->place_key, a, ret, &ignored) >= 0 && ret->state == REG_READY &&
	       reg_proc_alive(&ret->supervisor) == REG_ALIVE;
}

void session_find_place(struct session *s, struct arena *a)
{
	struct reg_entry live;
	struct str rest = { 0 };
	bool inside;

	if (!s->follows || s->box)
		return;
	s->who.facts.cwd = s->cwd;
	s->below = (struct str){ 0 };
	s->elsewhere = false;
	if (!find_live(s, a, &live) || live.workspace.n == 0 || live.workspace.n >= sizeof(s->place))
		return;
	inside = lies_in(live.workspace, s->cwd, &rest);
	/* Who names no session means the directory he stands in: the rule for other mounts decides. */
	if (!inside && !s->named)
		return;
	memcpy(s->place, live.workspace.p, live.workspace.n);
	s->place[live.workspace.n] = '\0';
	s->who.facts.cwd = (struct str){ .p = s->place, .n = live.workspace.n };
	s->below = rest;
	s->elsewhere = !inside;
}

bool session_elsewhere(const struct session *s, struct buf *out)
{
	if (!s->elsewhere || s->on_host)
		return false;
	buf_puts(out, "works on '");
	buf_put(out, s->who.facts.cwd);
	buf_puts(out, "', as this session does, and not on '");
	buf_put(out, s->cwd);
	buf_puts(out, "'; --workspace says another, for another --session or after creel recreate");
	return true;
}

/* OpenClaw's default: whoever has brought its file here finds none of the files that they stand among. Who has asked for it in this call knows. */
bool session_apart(const struct session *s, const struct decision *d, struct buf *out)
{
	const struct origin *o = &d->eff.origin[OPT_WS_ACCESS];

	if (d->place.place <= PLACE_HOST || s->who.via != VIA_CLI || d->eff.ws_access != ACCESS_NONE ||
	    str_eq(d->workspace, d->agent_workspace) ||
	    (o->kind == ORIGIN_FLAG && str_eq(o->name, STR("--workspace-access"))))
		return false;
	buf_puts(out, "works in a private directory of the session, and not on '");
	buf_put(out, d->agent_workspace);
	buf_puts(out, "' (mounts.workspace.access is none, ");
	origin_put(out, o);
	buf_puts(out, "); --workspace-access overlay shows that, and leaves it as it is");
	return true;
}

/* ---- tier-1 workspaces ---- */

/* Made with what is missing above it, to be passed through: the sandbox of root is another user. */
static int open_root(struct str root, struct err *e)
{
	_cleanup_free_ char *z = NULL;
	int fd, r = -1;

	if (str_dupz(root, &z) < 0)
		return err_set(e, ERR_USAGE, "mounts.workspace.root: path holds a NUL byte");
	fd = open(z, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (char *at = z + 1; fd < 0 && errno == ENOENT && *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		r = private_mkdir(AT_FDCWD, z, 0711);
		if (r < 0)
			return err_sys(e, -r, "create '%s'", z);
		*at = '/';
		errno = ENOENT;
	}
	if (fd < 0 && errno == ENOENT && (r = private_mkdir(AT_FDCWD, z, 0711)) < 0)
		return err_sys(e, -r, "create '%s'", z);
	if (fd < 0 && r >= 0)
		fd = open(z, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_sys(e, errno, "workspaces '%s'", z) : fd;
}

/* One more directory, and nothing but a directory, of whoever owns the one above. Takes `above`. */
static int enter(int above, struct str name, struct str whole, struct err *e)
{
	_cleanup_close_ int dir = above, below = FD_NONE;
	_cleanup_free_ char *z = NULL;
	struct stat st;
	int made;

	if (str_dupz(name, &z) < 0)
		return err_set(e, ERR_USAGE, "workspace: path holds a NUL byte");
	made = private_mkdir(dir, z, 0700);
	if (made < 0)
		return err_sys(e, -made, "create workspace '" STR_FMT "'", STR_ARG(whole));
	below = openat(dir, z, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below < 0 || fstat(dir, &st) < 0)
		return err_sys(e, errno, "workspace '" STR_FMT "'", STR_ARG(whole));
	/* As root for somebody else: what is made in his place is his. */
	if (made && root_of_host() && (st.st_uid || st.st_gid) && fchown(below, st.st_uid, st.st_gid) < 0)
		return err_sys(e, errno, "give workspace '" STR_FMT "' to its owner", STR_ARG(whole));
	return TAKE_FD(below);
}

int session_make_place(const struct decision *d, struct err *e)
{
	struct str root, agent, leaf;
	int fd;

	if (d->who.via != VIA_GUARD && d->who.via != VIA_RUNNER)
		return 0;
	/* <root>/<agent>/group_<chat>: the last two are our own words, checked by policy; the root is the operator's. */
	if (!str_cut_last(d->workspace, '/', &root, &leaf) || !str_cut_last(root, '/', &root, &agent))
		return err_set(e, ERR_BUG, "workspace '" STR_FMT "' has no root", STR_ARG(d->workspace));
	fd = open_root(root, e);
	if (fd >= 0)
		fd = enter(fd, agent, d->workspace, e);
	if (fd >= 0)
		fd = enter(fd, leaf, d->workspace, e);
	if (fd < 0)
		return fd;
	(void)fd_close(fd);
	return 0;
}
