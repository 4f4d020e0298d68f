/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files that take part, and what they import, before any of them is applied. */
#include "config/load_priv.h"

#define PROJECT_FILE ".athena/settings.yaml"

/* The files that led here. */
struct chain {
	const struct chain *up;
	struct str path;
	dev_t dev;
	ino_t ino;
};

static struct str join(struct load *l, struct str dir, struct str name)
{
	size_t slash = dir.n && dir.p[dir.n - 1] != '/';
	char *p = arena_alloc(l->a, dir.n + slash + name.n + 1, 1);

	if (!p)
		return name;
	if (dir.n)
		memcpy(p, dir.p, dir.n);
	if (slash)
		p[dir.n] = '/';
	if (name.n)
		memcpy(p + dir.n + slash, name.p, name.n);
	return (struct str){ .p = p, .n = dir.n + slash + name.n };
}

/* "~/x" below the home directory; a relative name below the directory of the file that says it. */
static struct str resolve(struct load *l, struct str path, struct str importing_file)
{
	struct str dir, name;

	if (str_starts(path, STR("~/")) && l->in->home.n)
		return join(l, l->in->home, str_from(path, 2));
	if ((path.n && path.p[0] == '/') || !str_cut_last(importing_file, '/', &dir, &name))
		return path;
	return join(l, dir.n ? dir : STR("/"), path);
}

static bool import_format(struct load *l, const struct value *v, const struct at *at,
			  struct config_source *ret)
{
	struct str got;

	if (v->kind == VALUE_STR && format_parse(v->s, &ret->format)) {
		ret->detect = false;
		return true;
	}
	got = value_quote(l, v);
	bad(l, at, v, "unknown_value",
	    "unknown format " STR_FMT
	    ", accepted: creel, athena-yaml, openclaw-json5, allowlist-json, openclaw-net or ansible-vars",
	    STR_ARG(got));
	return false;
}

static bool import_path(struct load *l, const struct value *v, const struct at *at, struct str importing_file,
			struct config_source *ret)
{
	if (v->kind != VALUE_STR || v->s.n == 0 || memchr(v->s.p, '\0', v->s.n)) {
		bad(l, at, v, "wrong_type", "expected a file name");
		return false;
	}
	ret->path = resolve(l, v->s, importing_file);
	ret->origin = origin_of(at, v);
	return true;
}

bool read_import(struct load *l, const struct value *v, const struct at *at, struct str importing_file,
		 struct config_source *ret)
{
	static const char *const known[] = { "format", "path", NULL };
	bool ok = true;

	*ret = (struct config_source){ .detect = true };
	if (v->kind != VALUE_OBJ) {
		bad(l, at, v, "wrong_type", "expected an object with path and format");
		return false;
	}
	for (size_t i = 0; i < v->obj.n; i++) {
		const struct member *m = &v->obj.m[i];
		struct at down = at_key(l, at, m->key);

		if (str_eq(m->key, STR("format")))
			ok = import_format(l, &m->v, &down, ret) && ok;
		else if (str_eq(m->key, STR("path")))
			ok = import_path(l, &m->v, &down, importing_file, ret) && ok;
		else
			ok = (bad_key(l, at, m, known), false);
	}
	if (ok && ret->path.n == 0) {
		bad(l, at, v, "missing_key", "path is missing, accepted: the name of a file");
		return false;
	}
	return ok;
}

static bool no_loop(struct load *l, const struct config_source *s, const struct stat *st,
		    const struct chain *up, unsigned depth, size_t n_read)
{
	for (const struct chain *c = up; c; c = c->up) {
		if (c->dev != st->st_dev || c->ino != st->st_ino)
			continue;
		diag_add(l->diags, SEVERITY_ERROR, "import_loop", &s->origin, STR("import"),
			 "'" STR_FMT "' imports itself, by way of '" STR_FMT "'", STR_ARG(s->path),
			 STR_ARG(up->path));
		return false;
	}
	if (depth <= IMPORT_DEPTH_MAX && n_read <= IMPORT_COUNT_MAX)
		return true;
	diag_add(l->diags, SEVERITY_ERROR, "import_depth", &s->origin, STR("import"),
		 "'" STR_FMT
		 "' is imported %u levels deep as file %zu, accepted: at most %d levels and %d files",
		 STR_ARG(s->path), depth, n_read, IMPORT_DEPTH_MAX, IMPORT_COUNT_MAX);
	return false;
}

/* no_loop() ends every chain of imports. NOLINTBEGIN(misc-no-recursion) */
static void gather_one(struct load *l, struct sources *all, const struct config_source *s,
		       const struct chain *up, unsigned depth);

static void gather_imports(struct load *l, struct sources *all, const struct value *root,
			   const struct chain *self, unsigned depth)
{
	const struct value *list = value_get(root, STR("import"));
	const struct at top = { .file = self->path }, at = at_key(l, &top, STR("import"));

	if (!list)
		return;
	if (list->kind != VALUE_ARR) {
		bad(l, &at, list, "wrong_type", "expected an array of objects with path and format");
		return;
	}
	for (size_t i = 0; i < list->arr.n; i++) {
		struct at down = at_index(l, &at, i);
		struct config_source s;

		if (read_import(l, &list->arr.v[i], &down, self->path, &s))
			gather_one(l, all, &s, self, depth + 1);
	}
}

static void add(struct load *l, struct sources *all, const struct source *s)
{
	struct source *grown =
		arena_grow(l->a, all->v, all->n, &all->cap, sizeof(*all->v), alignof(struct source));

	if (!grown)
		return;
	all->v = grown;
	all->v[all->n++] = *s;
}

static void gather_one(struct load *l, struct sources *all, const struct config_source *s,
		       const struct chain *up, unsigned depth)
{
	struct source src = { .format = s->format,
			      .path = arena_str(l->a, s->path),
			      .origin = s->origin,
			      .discovered = s->discovered };
	struct str text;
	struct stat st;
	struct chain self;

	if (all->n_read > IMPORT_COUNT_MAX) /* told once */
		return;
	all->n_read++;
	if (!(s->discovered ? load_found(l, l->in->cwd, STR(PROJECT_FILE), src.path, &text, &st)
			    : load_text(l, src.path, &s->origin, &text, &st)) ||
	    !no_loop(l, s, &st, up, depth, all->n_read))
		return;
	if (s->detect) {
		if (!load_detect(l, src.path, text, &src.format, &src.root))
			return;
	} else {
		src.root = load_parse(l, src.path, text, src.format);
		if (!src.root)
			return;
	}
	self = (struct chain){ .up = up, .path = src.path, .dev = st.st_dev, .ino = st.st_ino };
	if (src.format == FORMAT_CREEL)
		gather_imports(l, all, src.root, &self, depth);
	add(l, all, &src);
}

/* NOLINTEND(misc-no-recursion) */

static void gather_canonical(struct load *l, struct sources *all)
{
	static const char *const places[] = { ".config/creel/creel.json5", ".openclaw/creel.json5" };

	for (size_t i = 0; l->in->home.n && i < sizeof(places) / sizeof(places[0]); i++) {
		struct config_source s = { .format = FORMAT_CREEL,
					   .path = join(l, l->in->home, str_z(places[i])) };

		if (load_exists(l, s.path)) {
			gather_one(l, all, &s, NULL, 0);
			return;
		}
	}
}

static void gather_named_by_env(struct load *l, struct sources *all, struct str name)
{
	const struct origin o = { .kind = ORIGIN_ENV, .name = STR("CREEL_CONFIG") };
	struct config_source s;
	struct err e = { 0 };

	if (config_source_parse(name, &s, &e) < 0) {
		diag_add(l->diags, SEVERITY_ERROR, "unknown_format", &o, (struct str){ 0 }, "%s", e.msg);
		return;
	}
	s.origin = o;
	gather_one(l, all, &s, NULL, 0);
}

static void gather_default(struct load *l, struct sources *all)
{
	struct config_source athena = { .format = FORMAT_ATHENA, .discovered = true };
	struct str name;

	if (l->in->cwd.n) {
		athena.path = join(l, l->in->cwd, STR(PROJECT_FILE));
		if (load_exists(l, athena.path))
			gather_one(l, all, &athena, NULL, 0);
	}
	if (load_getenv(l, STR("CREEL_CONFIG"), &name))
		gather_named_by_env(l, all, name);
	else
		gather_canonical(l, all);
}

void load_gather(struct load *l, struct sources *ret)
{
	for (size_t i = 0; i < l->in->n_files; i++)
		gather_one(l, ret, &l->in->files[i], NULL, 0);
	if (l->in->n_files == 0 && !l->in->no_default_file)
		gather_default(l, ret);
}
