/* SPDX-License-Identifier: Apache-2.0 */
/*
 * $include: an object with this key becomes the content of the files it names, with its other keys merged
 * over it. What is read must be a plain file of one name, at most 2 MiB, in the directory of the main file or
 * below OPENCLAW_INCLUDE_ROOTS, both as written and where it really lies. Whoever can write a config file can
 * so not make us read /etc/shadow into a message.
 */
#include "config/openclaw_priv.h"

#include "base/fd.h"
#include "data/json.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>

#define INCLUDE_MAX_DEPTH 10
#define INCLUDE_MAX_BYTES ((size_t)2 << 20)
#define INCLUDE_MAX_PATH 4096
#define INCLUDE_MAX_FILES 255

/*
 * While files are merged, a value carries the number of its file in the upper bits of its column; afterwards
 * these move to oc.places and the columns are as before.
 */
#define FILE_SHIFT 24
#define COLUMN_MASK ((1u << FILE_SHIFT) - 1)

static const struct str include_key = { "$include", 8 };

/* One file being resolved; the chain of these is what a cycle is looked for in. */
struct frame {
	const struct frame *up;
	struct str path; /* normal */
	size_t file;
	unsigned depth;
};

static bool resolve(struct oc *o, const struct frame *f, struct value *v);

static void retag(struct value *v, uint32_t tag)
{
	v->col = (v->col < COLUMN_MASK ? v->col : COLUMN_MASK) | tag;
	if (v->kind == VALUE_ARR)
		for (size_t i = 0; i < v->arr.n; i++)
			retag(&v->arr.v[i], tag);
	if (v->kind != VALUE_OBJ)
		return;
	for (size_t i = 0; i < v->obj.n; i++)
		retag(&v->obj.m[i].v, tag);
}

static void fail(struct oc *o, const struct frame *f, const struct value *v, const char *code,
		 const char *fmt, ...) __attribute__((format(printf, 5, 6)));

static void fail(struct oc *o, const struct frame *f, const struct value *v, const char *code,
		 const char *fmt, ...)
{
	struct at at = { .file = o->files[f->file], .key = include_key };
	struct value where = *v;
	char text[512];
	va_list ap;

	where.col &= COLUMN_MASK;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	bad(o->l, &at, &where, code, "%s", text);
}

/* Merging as upstream does it: objects by key, arrays one after the other, everything else replaced. */

static bool is_dropped_key(struct str key)
{
	return str_eq(key, STR("__proto__")) || str_eq(key, STR("constructor")) ||
	       str_eq(key, STR("prototype"));
}

static void join_arrays(struct oc *o, struct value *dst, const struct value *src)
{
	struct value *v = ARENA_ARRAY(o->l->a, struct value, dst->arr.n + src->arr.n);

	if (!v)
		return;
	for (size_t i = 0; i < dst->arr.n; i++)
		v[i] = dst->arr.v[i];
	for (size_t i = 0; i < src->arr.n; i++)
		v[dst->arr.n + i] = src->arr.v[i];
	dst->arr.n += src->arr.n;
	dst->arr.v = v;
}

static void merge(struct oc *o, struct value *dst, const struct value *src);

/*
 * Copies the members that may stay and tells where the others stood. Keys are unique, so those are three at
 * most.
 */
static size_t copy_members(struct member *to, const struct value *from, size_t dropped[static 3],
			   size_t *ret_n)
{
	size_t n = 0, n_dropped = 0;

	for (size_t i = 0; i < from->obj.n; i++) {
		if (!is_dropped_key(from->obj.m[i].key))
			to[n++] = from->obj.m[i];
		else if (n_dropped < 3)
			dropped[n_dropped++] = i;
	}
	*ret_n = n_dropped;
	return n;
}

static void merge_objects(struct oc *o, struct value *dst, const struct value *src)
{
	struct member *m = ARENA_ARRAY(o->l->a, struct member, dst->obj.n + src->obj.n);
	size_t n, n_dropped, dropped[3];

	if (!m)
		return;
	n = copy_members(m, dst, dropped, &n_dropped);
	for (size_t i = 0; i < src->obj.n; i++) {
		const struct member *from = &src->obj.m[i], *old = value_member(dst, from->key);
		size_t at;

		if (is_dropped_key(from->key))
			continue;
		if (!old) {
			m[n++] = *from;
			continue;
		}
		at = (size_t)(old - dst->obj.m);
		for (size_t k = n_dropped; k-- > 0;)
			at -= dropped[k] < (size_t)(old - dst->obj.m);
		merge(o, &m[at].v, &from->v);
	}
	dst->obj.m = m;
	dst->obj.n = n;
	dst->index = NULL;
}

static void merge(struct oc *o, struct value *dst, const struct value *src)
{
	if (dst->kind == VALUE_OBJ && src->kind == VALUE_OBJ)
		merge_objects(o, dst, src);
	else if (dst->kind == VALUE_ARR && src->kind == VALUE_ARR)
		join_arrays(o, dst, src);
	else
		*dst = *src;
}

/* Where a descriptor really leads, by the kernel's own word for it. Empty when that cannot be had. */
static struct str real_path(struct arena *a, int fd)
{
	char link[32], target[INCLUDE_MAX_PATH];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, target, sizeof(target));
	if (n <= 0 || (size_t)n == sizeof(target))
		return (struct str){ 0 };
	return arena_str(a, (struct str){ target, (size_t)n });
}

static bool within_root(struct oc *o, struct str root, struct str path, struct str real)
{
	_cleanup_close_ int dir = FD_NONE;
	struct str z = arena_str(o->l->a, root);

	if (path.n > 0 && !oc_path_within(path, root))
		return false;
	if (real.n == 0)
		return true;
	dir = z.n > 0 ? open(z.p, O_PATH | O_DIRECTORY | O_CLOEXEC) : FD_NONE;
	if (dir < 0)
		return false;
	z = real_path(o->l->a, dir);
	return z.n > 0 && oc_path_within(real, z);
}

/* With an empty `real` only the text is looked at. */
static bool is_allowed(struct oc *o, struct str path, struct str real)
{
	struct str roots = { 0 }, root;

	if (within_root(o, oc_path_expand(o, oc_path_dir(o->files[0])), path, real))
		return true;
	(void)load_getenv(o->l, STR("OPENCLAW_INCLUDE_ROOTS"), &roots);
	while (roots.n > 0) {
		if (!str_cut(roots, ':', &root, &roots)) {
			root = roots;
			roots = (struct str){ 0 };
		}
		root = str_trim(root);
		if (root.n > 0 && (root.p[0] == '/' || root.p[0] == '~') &&
		    within_root(o, oc_path_expand(o, root), path, real))
			return true;
	}
	return false;
}

static bool read_text(struct oc *o, const struct frame *f, const struct value *at, struct str name,
		      struct str path, struct str *ret)
{
	/* Not blocking: a FIFO must not hold us before we can see that it is one. */
	_cleanup_close_ int fd = open(path.p, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	_cleanup_free_ char *text = NULL;
	struct stat st = { 0 };
	struct str real;
	size_t n = 0;

	if (fd < 0 || fstat(fd, &st) < 0) {
		fail(o, f, at, "include_unreadable", "cannot read '" STR_FMT "': %s", STR_ARG(name),
		     strerror(errno));
		return false;
	}
	real = real_path(o->l->a, fd);
	if (real.n == 0 || !is_allowed(o, (struct str){ 0 }, real)) {
		fail(o, f, at, "include_outside",
		     "'" STR_FMT "' leads out of the configuration's directory through a link",
		     STR_ARG(name));
		return false;
	}
	if (!S_ISREG(st.st_mode) || st.st_nlink > 1) {
		fail(o, f, at, "include_not_plain",
		     "'" STR_FMT "' is %s, accepted is a plain file of one name", STR_ARG(name),
		     S_ISREG(st.st_mode) ? "hard-linked" : "not a regular file");
		return false;
	}
	if (fd_read_all(fd, INCLUDE_MAX_BYTES, &text, &n) < 0) {
		fail(o, f, at, "include_too_large", "'" STR_FMT "' cannot be read or is larger than 2 MiB",
		     STR_ARG(name));
		return false;
	}
	*ret = arena_str(o->l->a, (struct str){ text, n });
	return true;
}

static bool check_path(struct oc *o, const struct frame *f, const struct value *at, struct str name,
		       struct str path)
{
	if (name.n == 0 || name.n >= INCLUDE_MAX_PATH || path.n >= INCLUDE_MAX_PATH ||
	    memchr(name.p, 0, name.n)) {
		fail(o, f, at, "include_path", "a path of 1..%d bytes without NUL is accepted",
		     INCLUDE_MAX_PATH - 1);
		return false;
	}
	if (!is_allowed(o, path, (struct str){ 0 })) {
		fail(o, f, at, "include_outside",
		     "'" STR_FMT "' lies outside of the configuration's directory", STR_ARG(name));
		return false;
	}
	for (const struct frame *up = f; up; up = up->up) {
		if (!str_eq(up->path, path))
			continue;
		fail(o, f, at, "include_loop", "'" STR_FMT "' includes itself", STR_ARG(name));
		return false;
	}
	if (f->depth >= INCLUDE_MAX_DEPTH || o->n_files > INCLUDE_MAX_FILES) {
		fail(o, f, at, "include_depth", "accepted are %d levels of includes and %d files",
		     INCLUDE_MAX_DEPTH, INCLUDE_MAX_FILES);
		return false;
	}
	return true;
}

static size_t add_file(struct oc *o, struct str path)
{
	struct str *files = arena_grow(o->l->a, o->files, o->n_files, &o->cap_files, sizeof(*files),
				       _Alignof(struct str));

	if (!files)
		return 0;
	o->files = files;
	o->files[o->n_files] = path;
	return o->n_files++;
}

static bool include_one(struct oc *o, const struct frame *f, const struct value *at, struct value *ret)
{
	struct str dir = oc_path_dir(f->path), path, text;
	struct frame inner = { .up = f, .depth = f->depth + 1 };
	struct json_opts opts = { .json5 = true, .dup_keys = JSON_DUP_LAST, .max_bytes = INCLUDE_MAX_BYTES };
	struct err e = { 0 };

	path = oc_path_join(o->l->a, dir, at->s);
	if (!check_path(o, f, at, at->s, path) || !read_text(o, f, at, at->s, path, &text))
		return false;
	inner.path = path;
	inner.file = add_file(o, path);
	opts.name = path.p;
	if (json_parse(o->l->a, text, &opts, ret, &e) < 0) {
		fail(o, f, at, "include_syntax", "%s", e.msg);
		return false;
	}
	oc_drop_proto(ret);
	retag(ret, (uint32_t)inner.file << FILE_SHIFT);
	return resolve(o, &inner, ret);
}

/* [a, b]: merged from left to right into {}. */
static bool include_list(struct oc *o, const struct frame *f, const struct value *list, struct value *ret)
{
	*ret = (struct value){ .kind = VALUE_OBJ, .line = list->line, .col = list->col };
	for (size_t i = 0; i < list->arr.n; i++) {
		struct value one = { 0 };

		if (list->arr.v[i].kind != VALUE_STR) {
			fail(o, f, &list->arr.v[i], "include_type", "a file name is accepted");
			return false;
		}
		if (!include_one(o, f, &list->arr.v[i], &one))
			return false;
		merge(o, ret, &one);
	}
	return true;
}

static bool include(struct oc *o, const struct frame *f, const struct value *what, struct value *ret)
{
	if (what->kind == VALUE_STR)
		return include_one(o, f, what, ret);
	if (what->kind == VALUE_ARR)
		return include_list(o, f, what, ret);
	fail(o, f, what, "include_type", "a file name or a list of file names is accepted, not %s",
	     value_kind_name(what->kind));
	return false;
}

/* The object without its $include. */
static struct value siblings(struct oc *o, const struct value *v)
{
	struct value rest = *v;

	rest.index = NULL;
	rest.obj.n = 0;
	rest.obj.m = ARENA_ARRAY(o->l->a, struct member, v->obj.n);
	for (size_t i = 0; rest.obj.m && i < v->obj.n; i++)
		if (!str_eq(v->obj.m[i].key, include_key))
			rest.obj.m[rest.obj.n++] = v->obj.m[i];
	return rest;
}

static bool resolve_object(struct oc *o, const struct frame *f, struct value *v)
{
	const struct value *what = value_get(v, include_key);
	struct value base = { 0 }, rest;

	if (!what) {
		for (size_t i = 0; i < v->obj.n; i++)
			if (!resolve(o, f, &v->obj.m[i].v))
				return false;
		return true;
	}
	if (!include(o, f, what, &base))
		return false;
	rest = siblings(o, v);
	if (rest.obj.n > 0 && base.kind != VALUE_OBJ) {
		fail(o, f, what, "include_type",
		     "with keys beside it, $include needs a file that holds an object");
		return false;
	}
	for (size_t i = 0; i < rest.obj.n; i++)
		if (!resolve(o, f, &rest.obj.m[i].v))
			return false;
	if (rest.obj.n > 0)
		merge(o, &base, &rest);
	*v = base;
	return true;
}

static bool resolve(struct oc *o, const struct frame *f, struct value *v)
{
	if (v->kind == VALUE_OBJ)
		return resolve_object(o, f, v);
	if (v->kind != VALUE_ARR)
		return true;
	for (size_t i = 0; i < v->arr.n; i++)
		if (!resolve(o, f, &v->arr.v[i]))
			return false;
	return true;
}

static bool has_include(const struct value *v)
{
	if (v->kind == VALUE_OBJ) {
		for (size_t i = 0; i < v->obj.n; i++)
			if (str_eq(v->obj.m[i].key, include_key) || has_include(&v->obj.m[i].v))
				return true;
		return false;
	}
	if (v->kind == VALUE_ARR)
		for (size_t i = 0; i < v->arr.n; i++)
			if (has_include(&v->arr.v[i]))
				return true;
	return false;
}

/* Moves the file numbers out of the columns. */
static void settle(struct oc *o, struct value *v)
{
	size_t file = v->col >> FILE_SHIFT;

	v->col &= COLUMN_MASK;
	if (file > 0) {
		struct oc_place *p = arena_grow(o->l->a, o->places, o->n_places, &o->cap_places, sizeof(*p),
						_Alignof(struct oc_place));

		if (!p)
			return;
		o->places = p;
		o->places[o->n_places++] = (struct oc_place){ .v = v, .file = file };
	}
	if (v->kind == VALUE_ARR)
		for (size_t i = 0; i < v->arr.n; i++)
			settle(o, &v->arr.v[i]);
	if (v->kind != VALUE_OBJ)
		return;
	for (size_t i = 0; i < v->obj.n; i++)
		settle(o, &v->obj.m[i].v);
}

/* Sorted insertion keeps file_of() a binary search; this happens once for each agent of a list at most. */
void oc_moved(struct oc *o, const struct value *from, const struct value *to)
{
	struct oc_place *p;
	size_t at = 0;

	while (at < o->n_places && o->places[at].v != from)
		at++;
	if (at == o->n_places)
		return;
	p = arena_grow(o->l->a, o->places, o->n_places, &o->cap_places, sizeof(*p),
		       _Alignof(struct oc_place));
	if (!p)
		return;
	o->places = p;
	o->places[o->n_places++] = (struct oc_place){ .v = to, .file = o->places[at].file };
	for (size_t i = o->n_places - 1; i > 0 && o->places[i - 1].v > o->places[i].v; i--) {
		struct oc_place swap = o->places[i];

		o->places[i] = o->places[i - 1];
		o->places[i - 1] = swap;
	}
}

static int by_value(const void *a, const void *b)
{
	const struct oc_place *x = a, *y = b;

	return (x->v > y->v) - (x->v < y->v);
}

bool oc_include(struct oc *o, struct value *root)
{
	struct frame main_file = { .path = oc_path_expand(o, o->files[0]) };

	if (!has_include(root))
		return true;
	retag(root, 0);
	if (!resolve(o, &main_file, root))
		return false;
	settle(o, root);
	if (o->n_places > 1)
		qsort(o->places, o->n_places, sizeof(*o->places), by_value);
	return !o->l->a->failed;
}

void oc_drop_proto(struct value *v)
{
	size_t n = 0;

	if (v->kind == VALUE_ARR)
		for (size_t i = 0; i < v->arr.n; i++)
			oc_drop_proto(&v->arr.v[i]);
	if (v->kind != VALUE_OBJ)
		return;
	for (size_t i = 0; i < v->obj.n; i++) {
		if (str_eq(v->obj.m[i].key, STR("__proto__")))
			continue;
		oc_drop_proto(&v->obj.m[i].v);
		if (n != i)
			v->obj.m[n] = v->obj.m[i];
		n++;
	}
	if (n < v->obj.n)
		v->index = NULL;
	v->obj.n = n;
}
