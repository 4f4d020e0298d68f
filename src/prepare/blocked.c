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

/* As struct source has it. */
static uint64_t device_of(const struct stat *st)
{
	return (uint64_t)major(st->st_dev) << 32 | minor(st->st_dev);
}

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
		ret->v[ret->n].dev = device_of(&st);
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

struct known_path {
	struct known_path *next;
	struct str path;
	struct source source;
	bool there;
};

static bool find_path(struct source_rules *r, struct str path, struct source *ret);

/* Absolute, and every name in it a name: no "//", "." or "..", and no slash at the end. */
static bool is_plain(struct str path)
{
	struct str rest = path, name;

	if (path.n < 2 || path.p[0] != '/' || memchr(path.p, '\0', path.n))
		return false;
	for (rest = str_from(path, 1); rest.n; rest = str_from(rest, name.n + 1)) {
		const char *slash = memchr(rest.p, '/', rest.n);

		name = (struct str){ .p = rest.p, .n = slash ? (size_t)(slash - rest.p) : rest.n };
		if (name.n == 0 || str_eq(name, STR(".")) || str_eq(name, STR("..")))
			return false;
	}
	return path.p[path.n - 1] != '/';
}

/*
 * Where nothing on the way is a link, a path leads to itself: that is seen with one question for each name, of which most were asked before, instead of four
 * for the whole. Anything else is opened and asked for its name.
 */
static bool look_up(struct source_rules *r, const struct known_path *k, struct source *ret)
{
	struct err absent = { 0 };
	struct str dir = { 0 }, name;
	struct source above;
	struct stat st;

	if (is_plain(k->path) && str_cut_last(k->path, '/', &dir, &name)) {
		if (dir.n && !find_path(r, dir, &above))
			return false;
		if (!dir.n || str_eq(above.path, dir)) {
			if (lstat(k->path.p, &st) < 0)
				return false;
			if (!S_ISLNK(st.st_mode)) {
				*ret = source_of(k->path, &st);
				return true;
			}
		}
	}
	return source_resolve(r->arena, k->path, ret, &absent) >= 0;
}

/* The same few directories are asked about again and again. */
static bool find_path(struct source_rules *r, struct str path, struct source *ret)
{
	struct known_path *k = r->known;

	while (k && !str_eq(k->path, path))
		k = k->next;
	if (!k) {
		k = ARENA_NEW(r->arena, struct known_path);
		if (!k)
			return false;
		*k = (struct known_path){ .path = arena_str(r->arena, path) };
		if (!k->path.p || r->arena->failed)
			return false;
		k->there = look_up(r, k, &k->source);
		k->next = r->known;
		r->known = k;
	}
	*ret = k->source;
	return k->there;
}

/* Where an absolute path leads, as far as there is anything; the rest will be made there. */
static struct str resolve_deepest(struct source_rules *r, struct str path, struct source *ret)
{
	struct str head = path, name;

	*ret = (struct source){ 0 };
	while (!find_path(r, head.n ? head : STR("/"), ret))
		if (!head.n || !str_cut_last(head, '/', &head, &name))
			return path;
	return head.n < path.n ? path_join(r->arena, ret->path, str_from(path, head.n + 1)) : ret->path;
}

/* Whether what is asked about is this directory, or one that it lies in, under whatever name. */
static bool is_around(struct source_rules *r, struct str dir, const struct chain *asked)
{
	struct str name;
	struct source s;

	while (asked->n) {
		if (find_path(r, dir.n ? dir : STR("/"), &s) && s.dev == asked->v[0].dev &&
		    s.ino == asked->v[0].ino)
			return true;
		if (!dir.n || !str_cut_last(dir, '/', &dir, &name))
			break;
	}
	return false;
}

/* The directory that was asked about last, and the name that it really has: most on the list lie beside the one before. */
struct parent {
	struct str dir, real;
	bool there, around;
};

/* The same as resolve_deepest(), with one call for what is no link. False: nothing is there. */
static bool find_blocked(struct source_rules *r, struct str path, const struct chain *asked,
			 struct parent *last, struct str *ret_real, struct source *ret, bool *ret_around)
{
	struct str dir = { 0 }, name = path;
	struct stat st;

	(void)str_cut_last(path, '/', &dir, &name);
	if (!last->real.n || !str_eq(dir, last->dir)) {
		last->dir = dir;
		last->real = resolve_deepest(r, dir.n ? dir : STR("/"), ret);
		last->there = str_eq(last->real, ret->path);
		last->around = is_around(r, last->real, asked);
	}
	*ret_around = last->around;
	*ret_real = arena_str(r->arena, path_join(r->arena, last->real, name));
	if (!last->there || r->arena->failed || lstat(ret_real->p, &st) < 0)
		return false;
	if (S_ISLNK(st.st_mode)) {
		*ret_real = resolve_deepest(r, path, ret);
		*ret_around |= is_around(r, *ret_real, asked);
		return str_eq(*ret_real, ret->path);
	}
	ret->dev = device_of(&st);
	ret->ino = st.st_ino;
	return true;
}

/* Is it the blocked one, in it, or around it? `there`: the blocked one exists. A workspace may lie below one that is roomy. */
static bool meets(const struct chain *chain, struct str resolved, struct str real, const struct source *there,
		  bool below_too)
{
	struct chain itself = *chain;

	if (path_within(resolved, real))
		return true; /* covers it, or is it */
	if (!below_too)
		itself.n = itself.n > 0;
	return (below_too && path_within(real, resolved)) || (there && chain_has(&itself, there));
}

/* Whether this path would show a file that no sandbox may see, under whatever name it has there. */
static bool shows_blocked(struct source_rules *r, struct str resolved, bool bind, struct str *ret_why)
{
	size_t n = 0;
	const struct blocked_path *list = bind_blocked_paths(r->arena, r->facts, &n);
	struct parent last = { 0 };
	struct chain chain;

	if (!list || !read_chain(resolved, &chain)) {
		*ret_why = STR("cannot be compared with the paths that are never bound");
		return true;
	}
	for (size_t i = 0; i < n; i++) {
		struct source s = { 0 };
		struct str real;
		bool around = true;
		bool there = find_blocked(r, list[i].path, &chain, &last, &real, &s, &around);

		if (!r->arena->failed && !around &&
		    !meets(&chain, resolved, real, there ? &s : NULL, bind || !list[i].roomy))
			continue;
		*ret_why = arena_printf(r->arena, "shows '%.*s' under another name", (int)list[i].path.n,
					list[i].path.p);
		return true;
	}
	return false;
}

static bool is_blocked(struct arena *a, const struct facts *f, struct str resolved, bool bind,
		       struct bind_block *ret)
{
	return bind ? bind_source_blocked(a, f, resolved, ret) : workspace_blocked(a, f, resolved, ret);
}

static struct str real_name(struct source_rules *r, struct str path)
{
	struct source ignored;

	return path.n ? resolve_deepest(r, path_expand(r->arena, r->facts, path), &ignored) : path;
}

/*
 * The same directories by the names that they really have: a home or the state directory may have been named by a link, and not all that is
 * theirs be there yet.
 */
static bool is_blocked_by_real_name(struct source_rules *r, struct str resolved, bool bind,
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

static const char *advice(enum source_use use, bool hosts)
{
	if (use == SOURCE_BIND)
		return "";
	if (use == SOURCE_BIND_WRITTEN)
		return hosts ? ", a directory of the system, and a bind with rw could change the host itself; "
			       "fix: bind it with ro"
			     : "";
	if (hosts)
		return ", a directory of the system, and access rw could change the host itself; "
		       "fix: --workspace-access overlay or ro, or another --workspace";
	return use == SOURCE_IMAGE ? ", which no sandbox may see; fix: another --image"
				   : ", which no sandbox may see; fix: another --workspace";
}

bool source_allowed(void *rules, struct str resolved, enum source_use use, struct str *ret_why)
{
	struct source_rules *r = rules;
	const bool bind = use == SOURCE_BIND || use == SOURCE_BIND_WRITTEN;
	struct bind_block block = { 0 };
	bool hosts =
		(use == SOURCE_WRITTEN || use == SOURCE_BIND_WRITTEN) && source_is_system(resolved, &block);

	if (!hosts && !is_blocked(r->arena, r->facts, resolved, bind, &block) &&
	    !is_blocked_by_real_name(r, resolved, bind, &block)) {
		if (!shows_blocked(r, resolved, bind, ret_why))
			return true;
		*ret_why = arena_printf(r->arena, "%.*s%s", (int)ret_why->n, ret_why->p, advice(use, false));
		return false;
	}
	*ret_why = arena_printf(r->arena, "%s '%.*s'%s", block.covers ? "covers" : "is or lies in",
				(int)block.path.n, block.path.p, advice(use, hosts));
	return false;
}
