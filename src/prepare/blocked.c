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
		struct err absent = { 0 };

		if (source_resolve(r->arena, list.v[i], &s, &absent) < 0)
			continue;
		if (!path_within(s.path, resolved) && !path_within(resolved, s.path) &&
		    !chain_has(&chain, &s))
			continue;
		*ret_why = arena_printf(r->arena, "shows '%.*s' under another name", (int)list.v[i].n,
					list.v[i].p);
		return true;
	}
	return false;
}

/* Where an absolute path leads, as far as there is anything; the rest will be made there. */
static struct str resolve_deepest(struct arena *a, struct str path)
{
	struct str head = path, name;
	struct err absent = { 0 };
	struct source s;

	while (source_resolve(a, head.n ? head : STR("/"), &s, &absent) < 0)
		if (!head.n || !str_cut_last(head, '/', &head, &name))
			return path;
	return head.n < path.n ? path_join(a, s.path, str_from(path, head.n + 1)) : s.path;
}

/* The state directory may have been named by a link, and not be there yet. */
static bool holds_own(const struct source_rules *r, struct str resolved, struct bind_block *ret)
{
	struct facts f = *r->facts;

	if (!f.own_dir.n)
		return false;
	f.own_dir = resolve_deepest(r->arena, path_expand(r->arena, &f, f.own_dir));
	return workspace_blocked(r->arena, &f, resolved, ret);
}

bool source_allowed(void *rules, struct str resolved, bool workspace, struct str *ret_why)
{
	const struct source_rules *r = rules;
	struct bind_block block;

	if (workspace ? !workspace_blocked(r->arena, r->facts, resolved, &block) &&
				!holds_own(r, resolved, &block)
		      : !bind_source_blocked(r->arena, r->facts, resolved, &block))
		return workspace || !shows_blocked(r, resolved, ret_why);
	*ret_why = arena_printf(r->arena, "%s '%.*s'", block.covers ? "covers" : "is or lies in",
				(int)block.path.n, block.path.p);
	return false;
}
