/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts that OpenClaw's own explain lists, for an answer in its shape: nothing is checked, because it does not
 * check there either, and nothing is refused. The order is that of an ordered map: a later mount with the same target
 * takes the place of the earlier one.
 */
#include "policy/mounts.h"

#include "policy/path.h"
#include "policy/workspace.h"

enum { SKILL_DIRS = 3 };

/* Upstream's last step is to take slashes off the end, so "./" is not the root that "." is. */
static struct str target_of(struct arena *a, struct str path)
{
	struct str t = path_normalise(a, path);
	bool dot = str_eq(t, STR(".")) && !str_ends(path, STR("/"));

	return dot ? STR("/") : t;
}

/* The shared one has a name from another hash than all the others. */
static struct str ssh_workdir(struct ctx *x)
{
	struct str id = x->d->place.scope == SCOPE_SHARED ? STR("shared-8198076c")
							  : scope_slug(x->a, x->d->place.key);
	struct str dir = path_join(x->a, workspace_ssh_root(x),
				   arena_printf(x->a, "openclaw-ssh-" STR_FMT, STR_ALL(id)));

	return path_normalise(x->a, path_join(x->a, dir, STR("workspace")));
}

static bool is_container(struct str backend)
{
	return str_eq_nocase(backend, STR("docker")) || str_eq_nocase(backend, STR("podman"));
}

/* Where it would run: in a container, on the ssh host, or unknown. */
static struct str workdir_of(struct ctx *x)
{
	struct str backend = x->d->place.backend_name;

	if (str_eq_nocase(backend, STR("ssh")))
		return ssh_workdir(x);
	return is_container(backend) ? x->d->eff.workdir : (struct str){ 0 };
}

static bool add_workspace(struct ctx *x, size_t *cap)
{
	const struct decision *d = x->d;
	const struct origin *o = &d->eff.origin[OPT_WS_ACCESS];
	bool ro = d->eff.ws_access == ACCESS_RO;

	if (!mount_add(x, cap,
		       &(struct mount){ .host = d->workspace,
					.target = target_of(x->a, d->workdir),
					.writable = !ro,
					.source = MOUNT_WORKSPACE,
					.origin = *o }))
		return false;
	if (!ro || str_eq(d->workspace, d->agent_workspace))
		return true;
	return mount_add(x, cap,
			 &(struct mount){ .host = d->agent_workspace,
					  .target = STR("/agent"),
					  .source = MOUNT_AGENT,
					  .origin = *o });
}

/* One directory of skills: below which it must stay, where it lies on the host, where in the container. */
struct skills {
	struct str root, host, target;
};

/* Nothing to protect where the workspace is read-only anyway. */
static size_t skills_of(struct ctx *x, struct skills out[static SKILL_DIRS])
{
	static const struct str own = STR("skills"), agents = STR(".agents/skills"),
				made = STR(".openclaw/sandbox-skills");
	struct decision *d = x->d;
	size_t n = 0;

	if (d->eff.ws_access == ACCESS_RO)
		return 0;
	out[n++] = (struct skills){ .root = d->workspace,
				    .host = path_join(x->a, d->workspace, own),
				    .target = own };
	out[n++] = (struct skills){ .root = d->workspace,
				    .host = path_join(x->a, d->workspace, agents),
				    .target = agents };
	if (d->eff.ws_access == ACCESS_RW) {
		struct str root = path_join(x->a, workspace_skills_dir(x), made);

		out[n++] = (struct skills){ .root = root,
					    .host = path_join(x->a, root, own),
					    .target = path_join(x->a, made, own) };
	}
	for (size_t i = 0; i < n; i++)
		out[i].target = target_of(x->a, path_join(x->a, d->workdir, out[i].target));
	return n;
}

static bool exists(const struct ctx *x, struct str dir)
{
	const struct strs *dirs = &x->r->facts.dirs;

	for (size_t i = 0; i < dirs->n; i++)
		if (str_eq(dirs->v[i], dir))
			return true;
	return false;
}

/* Leaves in `s` those that exist, and tells the caller which to look for. */
static size_t add_skills(struct ctx *x, struct skills s[static SKILL_DIRS], size_t *cap)
{
	size_t n = skills_of(x, s), kept = 0;
	struct ask_dir *ask = n > 0 ? ARENA_ARRAY(x->a, struct ask_dir, n) : NULL;

	for (size_t i = 0; ask && i < n; i++) {
		ask[i] = (struct ask_dir){ .path = s[i].host, .inside = s[i].root };
		if (!exists(x, s[i].host))
			continue;
		(void)mount_add(x, cap,
				&(struct mount){ .host = s[i].host,
						 .target = s[i].target,
						 .source = MOUNT_SKILL,
						 .origin = { .kind = ORIGIN_BUILTIN } });
		s[kept++] = s[i];
	}
	x->d->ask_dirs = ask;
	x->d->n_ask_dirs = ask ? n : 0;
	return kept;
}

static bool has_target(const struct bind *b)
{
	return b->source.n < b->raw.n;
}

/* What binds are compared by: the target, or the whole text of one without. */
static struct str bind_key(struct ctx *x, const struct bind *b)
{
	return has_target(b) ? target_of(x->a, b->target) : b->raw;
}

static bool is_covered(struct str key, const struct skills *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(s[i].target, key))
			return true;
	return false;
}

static bool add_bind(struct ctx *x, const struct bind *b, size_t *cap)
{
	if (b->source.n == 0 || !path_is_absolute(b->target))
		return true;
	return mount_add(
		x, cap,
		&(struct mount){
			.host = path_normalise(x->a, path_is_absolute(b->source)
							     ? b->source
							     : path_join(x->a, x->r->facts.cwd, b->source)),
			.target = target_of(x->a, b->target),
			.writable = !b->readonly,
			.optional = true,
			.check_resolved = true,
			.source = MOUNT_BIND,
			.origin = b->origin });
}

/* Of binds with one target the last counts, at the place of the first; none may cover the skills. */
static bool add_binds(struct ctx *x, const struct skills *s, size_t n_skills, size_t *cap)
{
	const struct binds *binds = &x->d->eff.binds;
	struct str *keys = ARENA_ARRAY(x->a, struct str, binds->n + 1);
	const struct bind **last = ARENA_ARRAY(x->a, const struct bind *, binds->n + 1);
	size_t n = 0, at;

	if (!keys || !last)
		return false;
	for (size_t i = 0; i < binds->n; i++) {
		struct str key = bind_key(x, &binds->v[i]);

		if (has_target(&binds->v[i]) && is_covered(key, s, n_skills))
			continue;
		for (at = 0; at < n && !str_eq(keys[at], key);)
			at++;
		keys[at] = key;
		last[at] = &binds->v[i];
		n += at == n;
	}
	for (size_t i = 0; i < n; i++)
		if (!add_bind(x, last[i], cap))
			return false;
	return true;
}

bool mounts_upstream(struct ctx *x)
{
	struct skills skills[SKILL_DIRS];
	size_t cap = 0, n;

	x->d->workdir = workdir_of(x);
	if (!is_container(x->d->place.backend_name) || x->d->workdir.n == 0)
		return true;
	if (!add_workspace(x, &cap))
		return false;
	n = add_skills(x, skills, &cap);
	return add_binds(x, skills, n, &cap);
}
