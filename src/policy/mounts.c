/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sandbox sees of the host: one workspace by the access that was given (C4, C5), the agent's own directory
 * where it is read-only, the vault, the binds, and private scratch. The order is upstream's, and a later mount with
 * the same target takes the place of the earlier one. Directories are made from identity alone (workspace.h).
 */
#include "policy/mounts.h"

#include "policy/bind.h"
#include "policy/path.h"
#include "policy/posture.h"
#include "policy/workspace.h"

static const enum stage here = STAGE_MOUNTS;

enum { MOUNTS_MAX = 256 };

bool mount_add(struct ctx *x, size_t *cap, const struct mount *m)
{
	struct decision *d = x->d;
	struct mount *grown;

	for (size_t i = 0; i < d->n_mounts; i++)
		if (str_eq(d->mounts[i].target, m->target)) {
			d->mounts[i] = *m;
			return true;
		}
	if (d->n_mounts == MOUNTS_MAX)
		return deny(x, here, CODE_BIND_INVALID, &m->origin, "more than %d mounts", MOUNTS_MAX);
	if (d->n_mounts == *cap) {
		grown = arena_grow(x->a, d->mounts, d->n_mounts, cap, sizeof(*grown), alignof(struct mount));
		if (!grown)
			return false;
		d->mounts = grown;
	}
	d->mounts[d->n_mounts++] = *m;
	return true;
}

/* S0's own habit, where no profile brings another: an untrusted session sees the tree through an overlay. */
static bool is_s0_session(const struct ctx *x)
{
	const struct settings *s = &x->d->eff;

	return x->d->mode.trust != TRUST_NONE &&
	       (s->profile == PROFILE_NONE || s->profile == PROFILE_ATHENA) &&
	       s->compat == COMPAT_DOCUMENTS &&
	       !(x->c->formats & ~(1u << FORMAT_ATHENA | 1u << FORMAT_CREEL)) && !said(s, OPT_WS_ACCESS);
}

/* S2-16: read-only, and rw for the tools whose whole work is to write. */
static enum access access_per_tool(const struct ctx *x)
{
	unsigned needs = x->d->tool.needs;

	return needs & CAP_BIT(CAP_FS_WRITE) && !(needs & CAP_BIT(CAP_PROC_EXEC)) ? ACCESS_RW : ACCESS_RO;
}

static enum access access_of(const struct ctx *x)
{
	const struct settings *s = &x->d->eff;
	enum access access = is_s0_session(x) ? ACCESS_OVERLAY : (enum access)s->ws_access;

	if (is_tier1(x) || access == ACCESS_PER_TOOL)
		return access_per_tool(x);
	if (access == ACCESS_RW && s->ws_overlay)
		return ACCESS_OVERLAY;
	/* C10: in S0's docker mode writing works and the host never changes. */
	if (access == ACCESS_RW && x->d->mode.trust < TRUST_LIGHT)
		return ACCESS_OVERLAY;
	return access;
}

struct layout {
	enum access access;
	struct str target;   /* of the workspace */
	struct str agent_at; /* of the agent's directory; empty = not mounted */
	bool single;         /* nothing but the agent's directory itself, at `target` */
};

static struct layout layout_of(const struct ctx *x)
{
	const struct settings *s = &x->d->eff;
	struct layout l = { .access = access_of(x), .target = STR("/workspace") };

	if (s->ws_target.n)
		l.target = s->ws_target;
	else if (is_s0_session(x))
		l.target = STR("/sandbox");
	else if (said(s, OPT_WORKDIR) || s->compat == COMPAT_OPENCLAW_2026_9)
		l.target = s->workdir;
	l.single = is_tier1(x) || s->ws_target.n > 0 || l.access == ACCESS_OVERLAY || l.access == ACCESS_RW;
	if (l.access == ACCESS_RO && !l.single)
		l.agent_at = STR("/agent");
	return l;
}

/*
 * S2: <root>/<agent>/group_<chat>; all parts are checked again here, because a path is made of them. S2 knew one channel. A chat of another one may have the
 * same id and is somebody else's: <channel>.group_<chat>, with a dot, because no id has one.
 */
static bool tier1_dir(struct ctx *x, struct str *ret)
{
	struct str agent = x->d->who.agent, chat = x->d->who.chat_id, channel = x->d->who.channel;
	bool other = channel.n && !str_eq(channel, STR("telegram"));
	struct str leaf = workspace_slug(x, x->d->who.session_key);

	if (!is_path_safe(agent) || (chat.n && !is_path_safe(chat)) || (other && !is_path_safe(channel)))
		return deny(x, here, CODE_WORKSPACE_ESCAPE, NULL,
			    "agent, channel or chat id could leave the workspace root");
	if (chat.n)
		leaf = arena_printf(x->a, STR_FMT "%sgroup_" STR_FMT, STR_ALL(other ? channel : STR("")),
				    other ? "." : "", STR_ALL(chat));
	*ret = path_join(x->a, path_join(x->a, workspace_root(x), agent), leaf);
	return true;
}

static bool fill_dirs(struct ctx *x, const struct layout *l)
{
	struct decision *d = x->d;

	d->agent_workspace = workspace_agent_dir(x);
	if (is_tier1(x)) {
		if (!tier1_dir(x, &d->workspace))
			return false;
		d->agent_workspace = d->workspace;
	} else if (l->single) {
		d->workspace = d->agent_workspace;
	} else if (d->place.scope == SCOPE_SHARED && d->eff.compat == COMPAT_OPENCLAW_2026_9) {
		d->workspace = workspace_root(x); /* upstream's: with everybody's private workspace in it */
	} else {
		d->workspace =
			path_join(x->a, workspace_root(x), workspace_slug(x, scope_key(x, d->place.scope)));
	}
	return true;
}

/* C19: the network sandbox may be given less. Never another directory: that is how D3-14 showed a hidden one. */
static bool is_writable(const struct ctx *x, enum access access)
{
	bool in_twin = x->d->net.route == ROUTE_NETWORK || (x->d->net.route == ROUTE_HOSTS && x->d->net.twin);

	if (!(x->d->mode.caps & CAP_BIT(CAP_FS_WRITE)) || access == ACCESS_RO)
		return false;
	return !(in_twin && x->d->eff.route_workspace == RW_RO);
}

/* Where the host path comes from: that one is shown as written when the environment had a part in it. */
static const struct origin *host_origin(const struct ctx *x, const struct layout *l)
{
	const struct settings *s = &x->d->eff;
	const struct origin *o = &s->origin[l->single && !is_tier1(x) ? OPT_WS_PATH : OPT_WS_ROOT];

	return o->raw.n ? o : &s->origin[OPT_WS_ACCESS];
}

static struct str target_shown(const struct ctx *x, struct str target)
{
	const struct settings *s = &x->d->eff;

	return shown(s, OPT_WS_TARGET, shown(s, OPT_WORKDIR, target));
}

/* A file that was named decides about the next call, too. One that was only found can make nothing weaker. */
static void warn_of_config(struct ctx *x, const struct mount *m)
{
	for (size_t i = 0; i < x->c->n_imports; i++) {
		const struct import *f = &x->c->imports[i];

		if (f->origin.kind == ORIGIN_BUILTIN ||
		    !path_within(m->host, path_expand(x->a, &x->r->facts, f->path)))
			continue;
		warn(x, "config_in_workspace", &f->origin, STR("mounts.workspace.access"),
		     "the configuration '" STR_FMT
		     "' lies in the workspace, and a command may write there: it could decide about the next call; "
		     "keep it elsewhere, or use access overlay",
		     STR_ARG(f->path));
	}
}

static bool add_workspace(struct ctx *x, const struct layout *l, size_t *cap)
{
	struct decision *d = x->d;
	struct mount m = { .host = d->workspace,
			   .target = path_normalise(x->a, l->target),
			   .writable = is_writable(x, l->access),
			   .source = MOUNT_WORKSPACE,
			   .origin = *host_origin(x, l) };

	m.overlay = m.writable && l->access == ACCESS_OVERLAY;
	why(x, here, "workspace", target_shown(x, m.target), &d->eff.origin[OPT_WS_ACCESS],
	    "'" STR_FMT "' %s (access %s)", STR_ARG(m.origin.raw.n ? m.origin.raw : m.host),
	    m.overlay    ? "read-only with a private layer for writes"
	    : m.writable ? "read and write"
			 : "read-only",
	    enum_name(access_names, (int)l->access));
	/* C10. Whoever typed it waits for his files to change. */
	if (m.overlay && d->eff.ws_access == ACCESS_RW && !d->eff.ws_overlay &&
	    d->eff.origin[OPT_WS_ACCESS].kind == ORIGIN_FLAG)
		warn(x, "access_is_overlay", &d->eff.origin[OPT_WS_ACCESS], STR("mounts.workspace.access"),
		     "workspace access is overlay and not rw: with trust %s the host's files never change",
		     enum_name(trust_names, (int)d->mode.trust));
	if (m.writable && !m.overlay)
		warn_of_config(x, &m);
	if (!mount_add(x, cap, &m))
		return false;
	if (l->agent_at.n == 0 || str_eq(d->workspace, d->agent_workspace))
		return true;
	m = (struct mount){ .host = d->agent_workspace,
			    .target = l->agent_at,
			    .source = MOUNT_AGENT,
			    .origin = d->eff.origin[OPT_WS_PATH] };
	why(x, here, "agent", m.target, &d->eff.origin[OPT_WS_ACCESS],
	    "the agent's workspace '" STR_FMT "', read-only",
	    STR_ARG(m.origin.raw.n ? m.origin.raw : m.host));
	return mount_add(x, cap, &m);
}

/* A home directory holds the keys, and / holds everything: neither is a place that a sandbox may see. */
static bool workspace_is_fit(struct ctx *x, const struct layout *l)
{
	const struct decision *d = x->d;
	struct str dirs[] = { d->workspace, l->agent_at.n ? d->agent_workspace : d->workspace };
	enum option ids[] = { l->single && !is_tier1(x) ? OPT_WS_PATH : OPT_WS_ROOT, OPT_WS_PATH };
	struct bind_block block;

	for (size_t i = 0; i < 2; i++) {
		if (i > 0 && str_eq(dirs[i], dirs[0]))
			break;
		if (!workspace_blocked(x->a, &x->r->facts, path_normalise(x->a, dirs[i]), &block))
			continue;
		fix_it(x,
		       ids[i] == OPT_WS_PATH ? STR("mounts.workspace.path") : STR("mounts.workspace.root"));
		return deny(x, here, CODE_BIND_BLOCKED, &d->eff.origin[ids[i]],
			    "the workspace '" STR_FMT "' %s '" STR_FMT "', which no sandbox may see",
			    STR_ARG(shown(&d->eff, ids[i], dirs[i])),
			    block.covers ? "covers" : "is or lies in", STR_ARG(block.path));
	}
	return true;
}

/* What the host itself lives on is not written to. */
static bool workspace_is_no_system(struct ctx *x, const struct layout *l)
{
	const struct decision *d = x->d;
	enum option id = l->single && !is_tier1(x) ? OPT_WS_PATH : OPT_WS_ROOT;
	struct bind_block block;

	if (l->access == ACCESS_OVERLAY || !is_writable(x, l->access) ||
	    !source_is_system(path_normalise(x->a, d->workspace), &block))
		return true;
	fix_it(x, STR("mounts.workspace.access=overlay"));
	return deny(x, here, CODE_BIND_BLOCKED, &d->eff.origin[id],
		    "the workspace '" STR_FMT "' %s '" STR_FMT
		    "', a directory of the system: with access rw a command could change the host itself",
		    STR_ARG(shown(&d->eff, id, d->workspace)), block.covers ? "covers" : "is or lies in",
		    STR_ARG(block.path));
}

/* The last one goes before whatever lies in it, which it would cover up. */
static void move_below(struct decision *d)
{
	struct mount last = d->mounts[d->n_mounts - 1];
	size_t at = 0;

	while (at + 1 < d->n_mounts && !path_within(last.target, d->mounts[at].target))
		at++;
	for (size_t i = d->n_mounts - 1; i > at; i--)
		d->mounts[i] = d->mounts[i - 1];
	d->mounts[at] = last;
}

/* Docker's --tmpfs syntax: path[:options]. */
static bool add_scratch(struct ctx *x, size_t *cap)
{
	const struct settings *s = &x->d->eff;

	for (size_t i = 0; i < s->tmpfs.n; i++) {
		struct str path = str_trim(s->tmpfs.v[i]), options;
		struct mount m = { .writable = true,
				   .source = MOUNT_SCRATCH,
				   .origin = s->origin[OPT_TMPFS] };

		(void)str_cut(path, ':', &path, &options);
		m.target = path_normalise(x->a, path);
		if (!path_is_absolute(path) || m.target.n == 1)
			return deny(x, here, CODE_BIND_INVALID, &m.origin,
				    "backend.tmpfs: '" STR_FMT "' is not an absolute path below /",
				    STR_ARG(shown(s, OPT_TMPFS, path)));
		for (size_t k = 0; k < x->d->n_mounts; k++)
			if (str_eq(x->d->mounts[k].target, m.target))
				m.target.n = 0; /* what was mounted on purpose is not covered up */
		if (!m.target.n)
			continue;
		if (!mount_add(x, cap, &m))
			return false;
		move_below(x->d);
	}
	return true;
}

/* Where the work is: with access ro that lies beside a private directory, which holds nothing. */
static struct str start_of(const struct ctx *x, const struct layout *l, struct str target)
{
	if (said(&x->d->eff, OPT_WORKDIR))
		return path_normalise(x->a, x->d->eff.workdir);
	return l->agent_at.n && !str_eq(x->d->workspace, x->d->agent_workspace) ? l->agent_at : target;
}

static struct str host_workdir(struct ctx *x)
{
	x->d->agent_workspace = x->d->workspace = workspace_agent_dir(x);
	return x->d->workspace;
}

/* A remote sandbox has a file system of its own. */
static bool mounts_remote(struct ctx *x)
{
	x->d->workdir = x->d->eff.workdir;
	if (x->d->eff.binds.n)
		warn(x, "binds_not_remote", &x->d->eff.binds.v[0].origin, STR("mounts.binds"),
		     "binds do not reach a remote sandbox");
	why(x, here, "workspace", STR("remote"), NULL, "a remote sandbox sees nothing of this host");
	return true;
}

bool stage_mounts(struct ctx *x)
{
	struct decision *d = x->d;
	struct layout l = layout_of(x);
	struct str target;
	size_t cap = 0;

	if (d->tool.gateway_side)
		return true;
	if (d->place.place == PLACE_HOST) {
		d->workdir = host_workdir(x);
		why(x, here, "workspace", shown(&d->eff, OPT_WS_PATH, d->workdir), NULL,
		    "no mounts: the host's own files");
		return true;
	}
	if (!fill_dirs(x, &l))
		return false;
	if (is_upstream_view(x))
		return mounts_upstream(x);
	if (d->place.place == PLACE_REMOTE)
		return mounts_remote(x);
	target = path_normalise(x->a, l.target);
	d->workdir = start_of(x, &l, target);
	if (!path_is_absolute(target) || target.n == 1 || !path_is_absolute(d->workdir))
		return deny(x, here, CODE_WORKSPACE_ESCAPE, &d->eff.origin[OPT_WS_TARGET],
			    "the workspace's place inside, '" STR_FMT "', is not an absolute path below /",
			    STR_ARG(target_shown(x, l.target)));
	return workspace_is_fit(x, &l) && workspace_is_no_system(x, &l) && add_workspace(x, &l, &cap) &&
	       binds_add(x, target, &cap) && add_scratch(x, &cap);
}
