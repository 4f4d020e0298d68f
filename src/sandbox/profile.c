/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/profile.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/private.h"
#include "sandbox/host.h"
#include "sandbox/sockets.h"
#include "sandbox/source.h"
#include "sandbox/subids.h"
#include "sandbox/wire.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct making {
	const struct profile_input *in;
	struct arena *a;
	struct diags *warnings;
	struct profile_mount *mounts;
	size_t n;
	struct str blocked;
};

/* Named after what they belong to, so that the next sandbox finds its own again whatever else is mounted by then. */
static int name_lasting(struct making *m, struct profile_mount *pm, struct err *e)
{
	struct str dir = m->in->private_dir;
	struct str of = arena_printf(m->a, "%.*s:%.*s", (int)pm->source.path.n, pm->source.path.p,
				     (int)pm->target.n, pm->target.p);
	char hex[SHA256_HEX];

	sha256_hex(of, hex);
	pm->upper = arena_printf(m->a, "%.*s/upper-%.16s", (int)dir.n, dir.p, hex);
	pm->work = arena_printf(m->a, "%.*s/work-%.16s", (int)dir.n, dir.p, hex);
	return m->a->failed ? err_sys(e, ENOMEM, "profile") : 0;
}

/* Only their names: the warden makes them, so that somebody is there to remove them from the first moment on. */
static int name_layers(struct making *m, struct profile_mount *pm, struct err *e)
{
	struct str dir = m->in->private_dir;

	pm->overlay = true;
	if (m->in->private_stays)
		return name_lasting(m, pm, e);
	pm->upper = arena_printf(m->a, "%.*s/upper%zu", (int)dir.n, dir.p, m->n);
	pm->work = arena_printf(m->a, "%.*s/work%zu", (int)dir.n, dir.p, m->n);
	return m->a->failed ? err_sys(e, ENOMEM, "profile") : 0;
}

/* A private workspace is made when it is not there yet; any other source must exist. */
static int ensure_private_workspace(const struct decision *d, const struct mount *mt, struct err *e)
{
	_cleanup_free_ char *z = NULL;
	int r;

	if (mt->source != MOUNT_WORKSPACE || str_eq(d->workspace, d->agent_workspace))
		return 0;
	if (str_dupz(mt->host, &z) < 0)
		return err_set(e, ERR_USAGE, "workspace: path holds a NUL byte");
	for (char *at = z + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		/* To be passed through: it may be the state directory, and the sandbox of root is another user. */
		r = private_mkdir(AT_FDCWD, z, 0711);
		if (r < 0)
			return err_sys(e, -r, "create '%s'", z);
		*at = '/';
	}
	r = private_mkdir(AT_FDCWD, z, 0700);
	return r < 0 ? err_sys(e, -r, "create '%s'", z) : 0;
}

static enum source_use use_of(const struct mount *m)
{
	bool written = m->writable && !m->overlay;

	if (m->source != MOUNT_WORKSPACE && m->source != MOUNT_AGENT)
		return written ? SOURCE_BIND_WRITTEN : SOURCE_BIND;
	return written ? SOURCE_WRITTEN : SOURCE_SHOWN;
}

static int resolve_mount(struct making *m, const struct mount *mt, struct profile_mount *pm, bool *skip,
			 struct err *e)
{
	struct str reason = { 0 };
	enum source_use use;
	bool same;
	int r = ensure_private_workspace(m->in->decision, mt, e);

	if (r >= 0)
		r = source_resolve(m->a, mt->host, &pm->source, e);
	if (r < 0 && mt->optional && e->sys_errno == ENOENT) {
		diag_add(m->warnings, SEVERITY_WARN, "bind_source_missing", &mt->origin, STR("mounts"),
			 "'" STR_FMT "' is not there: the bind is left out", STR_ARG(mt->host));
		*skip = true;
		*e = (struct err){ 0 };
		return 0;
	}
	if (r < 0 && mt->source == MOUNT_WORKSPACE && e->sys_errno == ENOENT)
		return err_set(e, ERR_USAGE,
			       "workspace '" STR_FMT
			       "' is not there; fix: make it, or name another with --workspace",
			       STR_ARG(mt->host));
	if (r < 0)
		return err_wrap(e, "%s", enum_name(mount_source_names, (int)mt->source));
	if (mt->source == MOUNT_WORKSPACE && pm->source.is_file)
		return err_set(e, ERR_USAGE, "workspace '" STR_FMT "' is not a directory", STR_ARG(mt->host));
	/* A bind of a socket is the way to whoever listens on it; a FIFO or a device is no file either. */
	m->blocked = pm->source.path;
	if (pm->source.is_special)
		return err_set(
			e, ERR_DENIED,
			"bind_blocked: '" STR_FMT
			"' is a socket, a FIFO or a device: only directories and regular files can be bound",
			STR_ARG(pm->source.path));
	/* An overlay would hide it: its top is ours, and only what lies below could not be read. */
	if (mt->source == MOUNT_WORKSPACE &&
	    faccessat(AT_FDCWD, pm->source.path.p, R_OK | X_OK, AT_EACCESS) < 0)
		return err_sys(e, errno, "workspace '" STR_FMT "'", STR_ARG(mt->host));
	same = str_eq(mt->host, pm->source.path);
	use = use_of(mt);
	if ((mt->check_resolved || (use != SOURCE_BIND && use != SOURCE_BIND_WRITTEN)) &&
	    !m->in->allowed(m->in->ctx, pm->source.path, use, &reason))
		return err_set(e, ERR_DENIED, "bind_blocked: '" STR_FMT "'%s" STR_FMT "%s %.*s",
			       STR_ARG(mt->host), same ? "" : ", which is '",
			       STR_ARG(same ? STR("") : pm->source.path), same ? "" : "',", (int)reason.n,
			       reason.p);
	m->blocked = (struct str){ 0 };
	return 0;
}

static int add_mount(struct making *m, const struct profile *p, const struct mount *mt, struct err *e)
{
	struct profile_mount *pm = &m->mounts[m->n];
	bool skip = false;
	int r = 0;

	*pm = (struct profile_mount){ .target = mt->target, .writable = mt->writable, .size = p->tmpfs };
	if (mt->source != MOUNT_SCRATCH)
		r = resolve_mount(m, mt, pm, &skip, e);
	pm->idmap = p->two_users && !p->subids && mt->source != MOUNT_SCRATCH;
	if (r >= 0 && !skip && mt->overlay)
		r = name_layers(m, pm, e);
	if (r >= 0 && !skip)
		m->n++;
	return r;
}

/* Two setuid programs take as long as the rest of a start: by themselves only where a sandbox stays. */
static int fill_subids(const struct profile_input *in, struct profile *p, struct err *e)
{
	const enum subuid how = (enum subuid)in->decision->eff.walls_subuid;
	struct subids found;
	int r;

	/* Who is uid 0 without being root has no range of his own: what /etc/subuid says of root is about another. */
	if (how == SUBUID_NEVER || (how == SUBUID_AUTO && (!in->serve || in->uid == 0)))
		return 0;
	r = subids_look(&found, e);
	if (r < 0 && how == SUBUID_AUTO) {
		*e = (struct err){ 0 };
		return 0;
	}
	if (r < 0)
		return err_wrap(e, "walls.subuid is 'always'");
	p->two_users = p->subids = true;
	p->warden_uid = found.uid;
	p->warden_gid = found.gid;
	return 0;
}

static int fill_users(const struct profile_input *in, struct profile *p, struct err *e)
{
	p->inner_uid = p->inner_gid = INNER_ID;
	p->outer_uid = in->uid;
	p->outer_gid = in->gid;
	if (!in->root)
		return fill_subids(in, p, e);
	p->two_users = true;
	p->outer_uid = p->outer_gid = ROOT_PAYLOAD_ID;
	p->warden_uid = p->warden_gid = ROOT_WARDEN_ID;
	return 0;
}

static void fill_limits(const struct decision *d, struct profile *p)
{
	p->timeout_ms = d->limits.timeout_s * 1000;
	p->grace_ms = 2000;
	p->pids = d->limits.pids;
	p->memory = d->limits.memory;
	p->cpus = d->limits.cpus;
	p->open_files = d->limits.open_files;
	p->tmpfs = d->limits.tmpfs;
	p->disk = d->limits.disk;
}

/* The second wall around files is a wall: a host without it is refused, unless policy names it as one to do without. */
static int fill_walls(const struct decision *d, struct profile *p, struct err *e)
{
	p->time_optional = d->optional_walls & 1u << WALL_TIME;
	p->landlock_abi = host_landlock_abi();
	if (p->landlock_abi || d->optional_walls & 1u << WALL_LANDLOCK)
		return 0;
	return err_set(
		e, ERR_UNAVAIL,
		"wall 'landlock' cannot be built: this kernel has no Landlock, or it is switched off; fix: add "
		"landlock to the lsm= list of the kernel command line, or accept it with -e "
		"walls.optional=landlock");
}

/* Everything at its top is seen inside, so it is asked about like a workspace. Of / host_image_root() says itself that it is none. */
static int check_image(struct making *m, struct str resolved, struct profile *p, struct err *e)
{
	struct str why = { 0 };

	if (resolved.n == 1 || m->in->allowed(m->in->ctx, resolved, SOURCE_IMAGE, &why))
		return 0;
	p->blocked = resolved;
	return err_set(e, ERR_DENIED, "bind_blocked: image '" STR_FMT "' %.*s", STR_ARG(m->in->image),
		       (int)why.n, why.p);
}

static int make_image_root(struct making *m, struct profile *p, struct err *e)
{
	struct source top;
	int r = source_resolve(m->a, m->in->image, &top, e);

	if (r < 0)
		return err_wrap(e, "--image");
	r = check_image(m, top.path, p, e);
	if (r >= 0)
		r = host_image_root(m->a, m->in->image, p, e);
	/* Somebody may have changed where the name leads. */
	if (r >= 0 && !str_eq(p->image, top.path))
		r = check_image(m, p->image, p, e);
	return r;
}

/* ---- what may be taken down later ---- */

/* The directory that a path lies in. 0 = not known; no file system has that number. */
static uint64_t dev_above(struct making *m, struct str path)
{
	struct source above;
	struct err ignored = { 0 };
	size_t n = path.n;

	while (n > 1 && path.p[n - 1] != '/')
		n--;
	path.n = n;
	return source_system(m->a, arena_str(m->a, path).p, &above, &ignored) < 0 ? 0 : above.dev;
}

/*
 * Nobody can unmount the root directory's file system, or take its disk away: it makes no difference when the sandbox's mounts of it go. Of any other
 * it does: whoever waits for us unmounts it next. Layers that stay are mounted by the session's next sandbox. Device nodes lie in memory.
 */
static bool goes_later(struct making *m, const struct profile *p)
{
	struct err ignored = { 0 };
	struct source root;
	bool layers = false;

	if (source_system(m->a, "/", &root, &ignored) < 0)
		return false;
	for (size_t i = 0; i < p->n_root_binds; i++)
		if (p->root_binds[i].dev != root.dev)
			return false;
	for (size_t i = 0; i < p->n_mounts; i++) {
		layers |= p->mounts[i].overlay;
		if (p->mounts[i].source.path.n && p->mounts[i].source.dev != root.dev)
			return false;
	}
	return !layers || (!p->private_stays && dev_above(m, p->private_dir) == root.dev);
}

int profile_make(const struct profile_input *in, struct arena *a, struct diags *warnings, struct profile *ret,
		 struct err *e)
{
	const struct decision *d = in->decision;
	struct making m = { .in = in, .a = a, .warnings = warnings };
	int r;

	*ret = (struct profile){ .argv = in->argv,
				 .env = in->env,
				 .serve = in->serve,
				 .cwd = d->workdir,
				 .tty = in->tty,
				 .private_dir = in->private_dir,
				 .private_stays = in->private_stays,
				 .proxy_port = d->net.route == ROUTE_INTERNAL ? PROXY_PORT : 0,
				 .git = d->mode.caps & CAP_BIT(CAP_VCS),
				 .hostname = STR("sandbox") };
	if (ret->git && !in->image.n)
		ret->gitconfig = in->gitconfig;
	if (!in->serve && (in->argv.n == 0 || in->argv.v[0].n == 0))
		return err_set(e, ERR_USAGE, "no command");
	if (!in->serve && !memchr(in->argv.v[0].p, '/', in->argv.v[0].n))
		ret->path = STR("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	fill_limits(d, ret);
	r = fill_users(in, ret, e);
	if (r >= 0)
		r = fill_walls(d, ret, e);
	if (r < 0)
		return r;
	m.mounts = ARENA_ARRAY(a, struct profile_mount, d->n_mounts + 1);
	if (!m.mounts)
		return err_sys(e, ENOMEM, "profile");
	for (size_t i = 0; i < d->n_mounts; i++) {
		r = add_mount(&m, ret, &d->mounts[i], e);
		if (r < 0 && e->kind == ERR_DENIED)
			ret->blocked = m.blocked;
		if (r < 0)
			return r;
	}
	ret->mounts = m.mounts;
	ret->n_mounts = m.n;
	r = in->image.n ? make_image_root(&m, ret, e) : host_root(a, ret, e);
	if (r < 0)
		return r;
	ret->later = goes_later(&m, ret);
	return sockets_hide(a, m.mounts, m.n, in->image.n > 0, ret, e);
}
