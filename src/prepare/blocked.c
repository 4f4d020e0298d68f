/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policy has compared names. A file can have more of them than its own: ~/.ssh may be a link that leads elsewhere, be mounted
 * in a second place, or lie on a file system that takes .SSH for the same. So the files themselves are compared, too.
 */
#include "prepare/prepare.h"

#include "policy/bind.h"
#include "policy/path.h"
#include "sandbox/source.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define DEPTH_MAX 128u

struct chain {
	struct {
		uint64_t dev, ino;
	} v[DEPTH_MAX];
	size_t n;
};

/* The source and every directory above it but the root; `path` has no links in it. */
static bool read_chain(struct str path, struct chain *ret)
{
	char name[4096];

	ret->n = 0;
	if (path.n >= sizeof(name))
		return false;
	for (size_t n = path.n; n > 1; n--) {
		struct stat st;

		if (n < path.n && path.p[n] != '/')
			continue;
		(void)snprintf(name, sizeof(name), "%.*s", (int)n, path.p);
		if (ret->n == DEPTH_MAX || stat(name, &st) < 0)
			return false;
		ret->v[ret->n].dev = (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev);
		ret->v[ret->n++].ino = st.st_ino;
	}
	return true;
}

static bool chain_has(const struct chain *c, const struct source *s)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].dev == s->dev && c->v[i].ino == s->ino)
			return true;
	return false;
}

/* Where an absolute path leads, as far as there is anything; the rest will be made there. */
static struct str resolve_deepest(struct arena *a, struct str path, struct source *ret)
{
	struct str head = path, name;
	struct err absent = { 0 };

	*ret = (struct source){ 0 };
	while (source_resolve(a, head.n ? head : STR("/"), ret, &absent) < 0)
		if (!head.n || !str_cut_last(head, '/', &head, &name))
			return path;
	return head.n < path.n ? path_join(a, ret->path, str_from(path, head.n + 1)) : ret->path;
}

/* Whether a bind of this path would show a file that no bind may show, under whatever name it has there. */
static bool shows_blocked(const struct source_rules *r, struct str resolved, struct str *ret_why)
{
	struct strs list = bind_blocked_paths(r->arena, r->facts);
	struct chain chain;

	if (!list.n || !read_chain(resolved, &chain)) {
		*ret_why = STR("cannot be compared with the paths that are never bound");
		return true;
	}
	for (size_t i = 0; i < list.n; i++) {
		struct source s;
		struct str real = resolve_deepest(r->arena, list.v[i], &s);
		bool there = str_eq(real, s.path);

		if (!path_within(real, resolved) && !path_within(resolved, real) &&
		    !(there && chain_has(&chain, &s)))
			continue;
		*ret_why = arena_printf(r->arena, "shows '%.*s' under another name", (int)list.v[i].n,
					list.v[i].p);
		return true;
	}
	return false;
}

static bool is_blocked(struct arena *a, const struct facts *f, struct str resolved, bool bind,
		       struct bind_block *ret)
{
	return bind ? bind_source_blocked(a, f, resolved, ret) : workspace_blocked(a, f, resolved, ret);
}

static struct str real_name(const struct source_rules *r, struct str path)
{
	struct source ignored;

	return path.n ? resolve_deepest(r->arena, path_expand(r->arena, r->facts, path), &ignored) : path;
}

/*
 * The same directories by the names that they really have: a home or the state directory may have been named by a link, and not all that is
 * theirs be there yet.
 */
static bool is_blocked_by_real_name(const struct source_rules *r, struct str resolved, bool bind,
				    struct bind_block *ret)
{
	struct facts f = *r->facts;
	struct str *roots = ARENA_ARRAY(r->arena, struct str, f.home_roots.n);

	if (!roots)
		return true;
	for (size_t i = 0; i < f.home_roots.n; i++)
		roots[i] = real_name(r, f.home_roots.v[i]);
	f.home_roots.v = roots;
	f.own_dir = real_name(r, f.own_dir);
	f.audit_dir = real_name(r, f.audit_dir);
	f.home = real_name(r, f.home);
	return is_blocked(r->arena, &f, resolved, bind, ret);
}

bool source_allowed(void *rules, struct str resolved, enum source_use use, struct str *ret_why)
{
	const struct source_rules *r = rules;
	const bool bind = use == SOURCE_BIND;
	struct bind_block block = { 0 };
	bool hosts = use == SOURCE_WRITTEN && workspace_is_system(resolved, &block);

	if (!hosts && !is_blocked(r->arena, r->facts, resolved, bind, &block) &&
	    !is_blocked_by_real_name(r, resolved, bind, &block))
		return !bind || !shows_blocked(r, resolved, ret_why);
	*ret_why = arena_printf(
		r->arena, "%s '%.*s'%s", block.covers ? "covers" : "is or lies in", (int)block.path.n,
		block.path.p,
		hosts  ? ", a directory of the system, and access rw could change the host itself; "
			 "fix: --workspace-access overlay or ro, or another --workspace"
		: bind ? ""
		: use == SOURCE_IMAGE ? ", which no sandbox may see; fix: another --image"
				      : ", which no sandbox may see; fix: another --workspace");
	return false;
}
