/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search: lines that hold a pattern, or files by name. It walks down in the order of names, follows no link, and leaves out
 * what ignore files name, .git, node_modules and files that are no text, unless it is told to look there. Every bound that ends
 * it early is told in the result.
 */
#include "tools/ignore.h"
#include "tools/match.h"
#include "tools/nameglob.h"
#include "tools/walk.h"

#include "base/clock.h"
#include "base/utf8.h"

#define TIME_MS 10000u
#define NAMES_MAX ((size_t)100000) /* of one directory */
#define LINE_SHOWN ((size_t)1000)

/* The ignore rules of one directory, and of those above it. */
struct level {
	const struct level *up;
	struct ignore rules;
	size_t from; /* where paths relative to it begin in paths relative to the start */
};

struct search {
	struct tool_ctx *x;
	struct jsonw *w;
	struct err *e;
	struct match *match; /* NULL: names alone */
	struct nameglob *glob;
	struct text text; /* of the file that is searched */
	uint64_t deadline_ms;
	uint64_t depth;
	size_t context, limit;
	bool ignored, binary, is_file;
	size_t found, files;
	size_t too_large, not_text, unreadable, too_deep;
	char start[FILES_PATH_MAX]; /* as it was said */
	const char *stopped;        /* why it ended before its end; NULL: it has not */
	const char *left_out;       /* why it has not seen everything, and went on */
};

static void search_done(struct search *s)
{
	match_free(s->match);
	free(s->glob);
	text_done(&s->text);
}

static bool is_over(struct search *s)
{
	if (!s->stopped && clock_mono_ms() >= s->deadline_ms)
		s->stopped = "time";
	return s->stopped != NULL;
}

static bool count_found(struct search *s)
{
	if (s->found == s->limit) {
		s->stopped = "limit";
		return false;
	}
	s->found++;
	return true;
}

/* The part of a long line that the match is in. */
static struct str shown_part(struct str line, size_t from)
{
	size_t start = from > LINE_SHOWN / 2 ? from - LINE_SHOWN / 2 : 0;

	if (line.n <= LINE_SHOWN)
		return line;
	while (start > 0 && ((unsigned char)line.p[start] & 0xc0) == 0x80)
		start--;
	return utf8_prefix(str_from(line, start), LINE_SHOWN);
}

static struct str line_without_end(struct str line)
{
	if (line.n > 0 && line.p[line.n - 1] == '\n')
		line.n--;
	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	return line;
}

/* The `n` lines before byte `at`, which begins a line: where they start, and how many there are. */
static size_t lines_before(struct str text, size_t at, size_t n, size_t *ret_n)
{
	size_t have = 0;

	while (have < n && at > 0) {
		at--;
		while (at > 0 && text.p[at - 1] != '\n')
			at--;
		have++;
	}
	*ret_n = have;
	return at;
}

static void put_lines(struct search *s, const char *key, struct str rest, size_t n)
{
	struct str line;

	jsonw_karr(s->w, key);
	for (size_t i = 0; i < n && text_next_line(&rest, &line); i++)
		jsonw_str(s->w, shown_part(line_without_end(line), 0));
	jsonw_arr_end(s->w);
}

/* As read takes it: with the directory in front that was asked for. */
static const char *told(const struct search *s, const char *name, char out[static FILES_PATH_MAX])
{
	return !s->is_file && walk_join(out, s->start, str_z(name)) ? out : name;
}

static void put_match(struct search *s, const char *name, size_t number, struct str line, size_t from)
{
	struct str text = text_str(&s->text), shown = shown_part(line, from);
	size_t at = (size_t)(line.p - text.p), n, start;
	const char *nl = memchr(text.p + at, '\n', text.n - at);
	char path[FILES_PATH_MAX];

	jsonw_obj(s->w);
	jsonw_kz(s->w, "path", told(s, name, path));
	jsonw_ku64(s->w, "line", number);
	jsonw_ku64(s->w, "column", from + 1);
	jsonw_kstr(s->w, "text", shown);
	if (shown.n < line.n)
		jsonw_kbool(s->w, "cut", true);
	if (s->context) {
		start = lines_before(text, at, s->context, &n);
		put_lines(s, "before", (struct str){ text.p + start, at - start }, n);
		put_lines(s, "after", nl ? str_from(text, (size_t)(nl - text.p) + 1) : STR(""), s->context);
	}
	jsonw_obj_end(s->w);
}

static int search_text(struct search *s, const char *name)
{
	struct str rest = text_str(&s->text), line;
	size_t from, to;

	if (!match_may(s->match, rest))
		return 0;
	for (size_t number = 1; text_next_line(&rest, &line); number++) {
		int r;

		if (number % 256 == 0 && is_over(s))
			return 0;
		line = line_without_end(line);
		r = match_find(s->match, line, &from, &to);
		if (r == -ELOOP)
			return err_set(
				s->e, ERR_LIMIT,
				"search: the pattern tries too many ways on line %zu of '%s'; make it simpler, or give literal",
				number, name);
		if (r < 0)
			return err_sys(s->e, -r, "search '%s'", name);
		if (r == 0)
			continue;
		if (!count_found(s))
			return 0;
		put_match(s, name, number, line, from);
	}
	return 0;
}

static bool is_text(struct str text)
{
	return !memchr(text.p, '\0', text.n < 8192 ? text.n : 8192);
}

/* A file that cannot be read, or is gone, must not hide the rest; a clerk that is gone hides all of it. */
static int search_file(struct search *s, const char *path, const char *name)
{
	_cleanup_content_ struct files_content c = CONTENT_NONE;
	int r = s->x->files->ops->get(s->x->files, path, s->is_file ? 0 : FILES_NOFOLLOW, &c);

	if (r < 0) {
		s->unreadable++;
		return s->is_file || r == -ECONNRESET ? tools_say(s->e, r, "search", str_z(name)) : 0;
	}
	if (c.st.size > TOOLS_FILE_BYTES) {
		s->too_large++;
		return 0;
	}
	text_done(&s->text);
	if (content_take(&c, TOOLS_FILE_BYTES, &s->text) < 0) {
		s->unreadable++;
		return 0;
	}
	if (!s->binary && !is_text(text_str(&s->text))) {
		s->not_text++;
		return 0;
	}
	s->files++;
	return search_text(s, name);
}

static int visit_file(struct search *s, const char *path, const char *name)
{
	char full[FILES_PATH_MAX];

	if (s->glob && !nameglob_any(s->glob, str_z(name)))
		return 0;
	if (s->match)
		return search_file(s, path, name);
	if (count_found(s))
		jsonw_str(s->w, str_z(told(s, name, full)));
	return 0;
}

static bool is_left_out(const struct search *s, const struct level *at, const char *name, struct str last,
			bool is_dir)
{
	if (s->ignored)
		return false;
	if (is_dir && (str_eq(last, STR(".git")) || str_eq(last, STR("node_modules"))))
		return true;
	for (; at; at = at->up) {
		enum ignore_verdict v = ignore_says(&at->rules, str_z(name + at->from), is_dir);

		if (v != IGNORE_SILENT)
			return v == IGNORE_YES;
	}
	return false;
}

static void load_rules(struct search *s, struct arena *a, const char *dir, const struct listing *l,
		       struct level *level)
{
	for (size_t i = 0; i < l->n; i++) {
		_cleanup_content_ struct files_content c = CONTENT_NONE;
		_cleanup_text_ struct text text = { 0 };
		char path[FILES_PATH_MAX];

		if (!str_eq(l->v[i].name, STR(".gitignore")) && !str_eq(l->v[i].name, STR(".ignore")))
			continue;
		if (!S_ISREG(l->v[i].st.mode) || !walk_join(path, dir, l->v[i].name))
			continue;
		if (s->x->files->ops->get(s->x->files, path, FILES_NOFOLLOW, &c) == 0 &&
		    content_take(&c, IGNORE_BYTES, &text) == 0)
			ignore_parse(a, arena_str(a, text_str(&text)), &level->rules);
	}
}

static int walk(struct search *s, const char *path, const char *name, const struct level *up, uint64_t depth);

static int visit(struct search *s, const char *dir, const char *dir_name, const struct files_entry *entry,
		 const struct level *level, uint64_t depth)
{
	char path[FILES_PATH_MAX], name[FILES_PATH_MAX];
	bool is_dir = S_ISDIR(entry->st.mode);
	int r;

	if (!walk_join(path, dir, entry->name) || !walk_join(name, dir_name, entry->name)) {
		s->unreadable++;
		return 0;
	}
	if (is_left_out(s, level, name, entry->name, is_dir))
		return 0;
	if (S_ISREG(entry->st.mode))
		return visit_file(s, path, name);
	if (!is_dir)
		return 0;
	if (depth == s->depth) {
		s->too_deep++;
		return 0;
	}
	r = walk(s, path, name, level, depth + 1);
	if (r < 0 && r != -ECONNRESET && s->e->kind == ERR_NONE) {
		s->unreadable++;
		return 0;
	}
	return r;
}

/* Below zero and with an empty error: an errno of the listing, for the caller to judge. */
static int walk(struct search *s, const char *path, const char *name, const struct level *up, uint64_t depth)
{
	_cleanup_listing_ struct listing l = { 0 };
	struct level level = { .up = up, .from = str_eq(str_z(name), STR(".")) ? 0 : strlen(name) + 1 };
	int r = listing_load(s->x->files, path, depth > 1 ? FILES_NOFOLLOW : 0, NAMES_MAX, &l);

	if (r < 0)
		return r;
	if (!s->ignored)
		load_rules(s, &l.arena, path, &l, &level);
	if (l.total > l.n)
		s->left_out = "directory too large";
	for (size_t i = 0; i < l.n && r == 0 && !is_over(s); i++)
		r = visit(s, path, name, &l.v[i], &level, depth);
	return r;
}

static int set_up(struct search *s, const struct tool_in *in)
{
	uint64_t own = clock_deadline(TIME_MS);
	int r;

	if (!in->v[SEARCH_PATTERN] && !in->v[SEARCH_GLOB])
		return err_set(s->e, ERR_USAGE,
			       "search: give 'pattern' for lines, 'glob' for names of files, or both");
	s->deadline_ms = s->x->deadline_ms && s->x->deadline_ms < own ? s->x->deadline_ms : own;
	s->context = (size_t)tools_int(in, SEARCH_CONTEXT, 0);
	s->limit = (size_t)tools_int(in, SEARCH_LIMIT, 100);
	s->depth = (uint64_t)tools_int(in, SEARCH_DEPTH, 64);
	s->ignored = tools_bool(in, SEARCH_IGNORED);
	s->binary = tools_bool(in, SEARCH_BINARY);
	if (in->v[SEARCH_PATTERN]) {
		r = match_new(tools_str(in, SEARCH_PATTERN), tools_bool(in, SEARCH_LITERAL),
			      tools_bool(in, SEARCH_IGNORE_CASE), &s->match, s->e);
		if (r < 0)
			return r;
	}
	if (!in->v[SEARCH_GLOB])
		return 0;
	s->glob = malloc(sizeof(*s->glob));
	if (!s->glob)
		return err_sys(s->e, ENOMEM, "search");
	return nameglob_parse(tools_str(in, SEARCH_GLOB), s->glob, s->e);
}

/* The start may be one file: then it is searched whatever it is called. */
static int begin(struct search *s, struct str said, const char *path)
{
	int r = walk(s, path, ".", NULL, 1);

	if (r == -ENOTDIR && s->match) {
		char name[FILES_PATH_MAX];

		s->is_file = true;
		(void)walk_join(name, "", said);
		return search_file(s, path, name);
	}
	return r < 0 && s->e->kind == ERR_NONE ? tools_say(s->e, r, "search", said) : r;
}

static void put_counts(const struct search *s, struct jsonw *w)
{
	jsonw_ku64(w, "found", s->found);
	if (s->match)
		jsonw_ku64(w, "filesSearched", s->files);
	if (s->too_large)
		jsonw_ku64(w, "filesTooLarge", s->too_large);
	if (s->not_text)
		jsonw_ku64(w, "filesNotText", s->not_text);
	if (s->unreadable)
		jsonw_ku64(w, "unreadable", s->unreadable);
	if (s->too_deep)
		jsonw_ku64(w, "directoriesTooDeep", s->too_deep);
	jsonw_kbool(w, "truncated", s->stopped || s->left_out);
	if (s->stopped || s->left_out)
		jsonw_kz(w, "why", s->stopped ? s->stopped : s->left_out);
}

int tool_search(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e)
{
	_cleanup_(search_done) struct search s = { .x = x, .w = w, .e = e };
	struct str said = in->v[SEARCH_PATH] ? tools_str(in, SEARCH_PATH) : STR(".");
	const char *path;
	int r;

	*e = (struct err){ 0 };
	r = tools_path(x, said, &path, e);
	if (r == 0)
		r = set_up(&s, in);
	if (r < 0)
		return r;
	jsonw_karr(w, s.match ? "matches" : "files");
	while (said.n > 1 && said.p[said.n - 1] == '/')
		said.n--;
	(void)walk_join(s.start, ".", said);
	r = begin(&s, said, path);
	if (r < 0)
		return r;
	/* Who says how deep has what he wanted. */
	if (in->v[SEARCH_DEPTH])
		s.too_deep = 0;
	else if (s.too_deep && !s.left_out)
		s.left_out = "directories too deep";
	jsonw_arr_end(w);
	put_counts(&s, w);
	return 0;
}
