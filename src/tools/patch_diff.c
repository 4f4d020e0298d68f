/* SPDX-License-Identifier: Apache-2.0 */
/* Unified diffs, with git's headers for new, deleted, renamed files and modes. Binary patches are refused. */
#include "tools/patch.h"

struct diff {
	struct arena *a;
	struct patch_reader r;
	struct patch *p;
	struct err *e;
};

static int refuse(struct diff *d, const char *what)
{
	return err_set(d->e, ERR_USAGE, "patch line %u: %s; the line is '" STR_FMT "'", d->r.number, what,
		       STR_ARG(d->r.line));
}

static int no_room(struct diff *d)
{
	return err_set(d->e, ERR_LIMIT,
		       "patch line %u: the patch is too large: %zu files and %zu lines of a hunk at most",
		       d->r.number, PATCH_FILES_MAX, PATCH_LINES_MAX);
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* One escape of a name in quotes, behind its '\'; how many characters it took, 0 when it is none. */
static size_t unescape(struct str s, char *ret)
{
	static const char from[] = "abtnvfr\"\\", to[] = "\a\b\t\n\v\f\r\"\\";
	const char *at;

	if (s.n >= 3 && s.p[0] <= '3' && is_octal(s.p[0]) && is_octal(s.p[1]) && is_octal(s.p[2])) {
		*ret = (char)((s.p[0] - '0') << 6 | (s.p[1] - '0') << 3 | (s.p[2] - '0'));
		return 3;
	}
	at = s.n && s.p[0] ? strchr(from, s.p[0]) : NULL;
	if (!at)
		return 0;
	*ret = to[at - from];
	return 1;
}

/* "a/f\303\274r" in quotes, as git writes a name that is not plain. */
static int unquote(struct diff *d, struct str s, struct str *ret)
{
	char *out = arena_alloc(d->a, s.n + 1, 1);
	size_t n = 0;

	if (!out)
		return no_room(d);
	for (size_t i = 1; i < s.n; i++) {
		if (s.p[i] == '"') {
			*ret = (struct str){ .p = out, .n = n };
			return 0;
		}
		if (s.p[i] == '\\') {
			size_t took = unescape(str_from(s, i + 1), &out[n]);

			if (took == 0)
				return refuse(d, "the quoted name has an unknown escape");
			i += took;
			n++;
			continue;
		}
		out[n++] = s.p[i];
	}
	return refuse(d, "the quoted name has no end");
}

/* A name behind "--- " or "rename to ": to the tab, without a time. */
static int take_name(struct diff *d, struct str s, struct str *ret)
{
	struct str head, tail;
	int r = 0;

	if (s.n > 0 && s.p[0] == '"')
		r = unquote(d, s, ret);
	else
		*ret = str_cut(s, '\t', &head, &tail) ? head : s;
	if (r == 0 && ret->n == 0)
		return refuse(d, "no file is named");
	return r;
}

static bool is_nothing(struct str name)
{
	return str_eq(name, STR("/dev/null"));
}

static struct str strip(struct str name)
{
	struct str head, tail;

	return str_cut(name, '/', &head, &tail) && tail.n ? tail : name;
}

/* git has a/ and b/ before the names; so have others, then on both sides. */
static void strip_prefixes(struct str *old, struct str *new)
{
	bool a = is_nothing(*old) || str_starts(*old, STR("a/"));
	bool b = is_nothing(*new) || str_starts(*new, STR("b/"));

	if (!a || !b || (is_nothing(*old) && is_nothing(*new)))
		return;
	if (!is_nothing(*old))
		*old = strip(*old);
	if (!is_nothing(*new))
		*new = strip(*new);
}

/* "12,3" or "12" */
static bool take_range(struct str s, size_t *ret_start, size_t *ret_n)
{
	struct str head = s, tail = STR("1");
	uint64_t start, n;

	(void)str_cut(s, ',', &head, &tail);
	if (str_to_u64(head, UINT32_MAX, &start) < 0 || str_to_u64(tail, PATCH_LINES_MAX, &n) < 0)
		return false;
	*ret_start = (size_t)start;
	*ret_n = (size_t)n;
	return true;
}

/* "@@ -1,2 +3,4 @@ …" */
static bool take_hunk_head(struct str line, size_t *start, size_t *n_old, size_t *n_new)
{
	struct str old, new, rest = str_from(line, 4);
	size_t ignored;

	return str_starts(line, STR("@@ -")) && str_cut(rest, ' ', &old, &rest) &&
	       str_starts(rest, STR("+")) && str_cut(str_from(rest, 1), ' ', &new, &rest) &&
	       str_starts(rest, STR("@@")) && take_range(old, start, n_old) &&
	       take_range(new, &ignored, n_new);
}

/* "\ No newline at end of file" is about the line before it. */
static bool take_no_newline(struct diff *d, struct patch_hunk *h)
{
	char kind = h->n_lines ? h->lines[h->n_lines - 1].kind : '\0';

	if (!patch_next(&d->r))
		return false;
	if (!str_starts(d->r.line, STR("\\ ")) || !kind) {
		patch_unread(&d->r);
		return false;
	}
	h->old_open |= kind != '+';
	h->new_open |= kind != '-';
	return true;
}

static int read_hunk_line(struct diff *d, struct patch_hunk *h, size_t *n_old, size_t *n_new)
{
	char kind = d->r.line.n ? d->r.line.p[0] : ' ';

	if ((kind != ' ' && kind != '-' && kind != '+') || (kind != '+' && *n_old == 0) ||
	    (kind != '-' && *n_new == 0))
		return refuse(d, "the hunk has fewer or other lines than its '@@' says");
	*n_old -= kind != '+';
	*n_new -= kind != '-';
	return patch_add_line(d->a, h, kind, str_from(d->r.line, d->r.line.n ? 1 : 0)) ? 0 : no_room(d);
}

static int read_hunk(struct diff *d, struct patch_file *f)
{
	struct patch_hunk *h = patch_add_hunk(d->a, f);
	size_t n_old, n_new;

	if (!h)
		return no_room(d);
	h->at_line = d->r.number;
	if (!take_hunk_head(d->r.line, &h->start, &n_old, &n_new))
		return refuse(d, "expected '@@ -LINE,COUNT +LINE,COUNT @@'");
	if (n_old == 0)
		h->start++; /* "after this line" */
	while (n_old || n_new) {
		int r;

		if (!patch_next(&d->r))
			return err_set(d->e, ERR_USAGE,
				       "the patch was cut off: the hunk of line %u lacks %zu lines",
				       h->at_line, n_old > n_new ? n_old : n_new);
		r = read_hunk_line(d, h, &n_old, &n_new);
		if (r < 0)
			return r;
		(void)take_no_newline(d, h);
	}
	return 0;
}

static int read_hunks(struct diff *d, struct patch_file *f)
{
	while (patch_next(&d->r)) {
		int r;

		if (!str_starts(d->r.line, STR("@@ "))) {
			patch_unread(&d->r);
			return 0;
		}
		r = read_hunk(d, f);
		if (r < 0)
			return r;
	}
	return 0;
}

/* "--- old" has been read. */
static int read_names(struct diff *d, struct patch_file *f)
{
	struct str old, new;
	int r = take_name(d, str_from(d->r.line, 4), &old);

	if (r < 0)
		return r;
	if (!patch_next(&d->r) || !str_starts(d->r.line, STR("+++ ")))
		return refuse(d, "after '--- FILE' comes '+++ FILE'");
	r = take_name(d, str_from(d->r.line, 4), &new);
	if (r < 0)
		return r;
	strip_prefixes(&old, &new);
	if (is_nothing(old) && is_nothing(new))
		return refuse(d, "both files are /dev/null");
	if (is_nothing(old))
		f->op = PATCH_ADD;
	else if (is_nothing(new))
		f->op = PATCH_DELETE;
	if (!f->path.p)
		f->path = is_nothing(old) ? new : old;
	/* Without git's "rename" two names are the file and its backup ("x.orig"): the new one is meant, as patch(1) has it. */
	if (!f->to.p && f->op == PATCH_UPDATE)
		f->path = new;
	return 0;
}

static int take_mode(struct diff *d, struct patch_file *f, struct str mode)
{
	f->has_mode = true;
	f->mode = str_eq(mode, STR("100755")) ? 0755 : 0644;
	if (!str_eq(mode, STR("100755")) && !str_eq(mode, STR("100644")))
		return refuse(d, "only regular files can be patched: mode 100644 or 100755");
	return 0;
}

/* One of git's lines between "diff --git" and the hunks. 1: it was one, and has been taken. */
static int take_git_line(struct diff *d, struct patch_file *f)
{
	struct str line = d->r.line;
	int r = 0;

	if (str_starts(line, STR("new file mode "))) {
		f->op = PATCH_ADD;
		r = take_mode(d, f, str_from(line, 14));
	} else if (str_starts(line, STR("deleted file mode "))) {
		f->op = PATCH_DELETE;
	} else if (str_starts(line, STR("new mode "))) {
		r = take_mode(d, f, str_from(line, 9));
	} else if (str_starts(line, STR("rename from "))) {
		r = take_name(d, str_from(line, 12), &f->path);
	} else if (str_starts(line, STR("rename to "))) {
		r = take_name(d, str_from(line, 10), &f->to);
	} else if (str_starts(line, STR("copy from ")) || str_starts(line, STR("GIT binary patch")) ||
		   str_starts(line, STR("Binary files "))) {
		return refuse(d, "copies and binary patches are not supported");
	} else if (!str_starts(line, STR("index ")) && !str_starts(line, STR("old mode ")) &&
		   !str_starts(line, STR("similarity index ")) &&
		   !str_starts(line, STR("dissimilarity index "))) {
		return 0;
	}
	return r < 0 ? r : 1;
}

/* "diff --git a/x b/x": the only place of the name when a file is empty or only its mode changes. Both halves are alike then. */
static struct str name_of_git_line(struct str line)
{
	struct str both = str_from(line, 11);
	size_t half = both.n / 2;
	struct str old = { .p = both.p, .n = half }, new = str_from(both, half + 1);

	if (both.n % 2 == 0 || both.p[half] != ' ' || !str_starts(old, STR("a/")) ||
	    !str_starts(new, STR("b/")) || !str_eq(strip(old), strip(new)))
		return (struct str){ 0 };
	return strip(old);
}

static int read_git(struct diff *d, struct patch_file *f)
{
	struct str name = name_of_git_line(d->r.line);
	int r;

	while (patch_next(&d->r)) {
		if (str_starts(d->r.line, STR("--- "))) {
			r = read_names(d, f);
			return r < 0 ? r : read_hunks(d, f);
		}
		r = take_git_line(d, f);
		if (r < 0)
			return r;
		if (r == 0) {
			patch_unread(&d->r);
			break;
		}
	}
	if (!f->path.p)
		f->path = name;
	return f->path.n ? 0 : refuse(d, "no file is named");
}

static int read_file(struct diff *d)
{
	bool git = str_starts(d->r.line, STR("diff --git "));
	struct patch_file *f = patch_add_file(d->a, d->p);
	int r;

	if (!f)
		return no_room(d);
	f->exact = true;
	f->at_line = d->r.number;
	if (git)
		r = read_git(d, f);
	else {
		r = read_names(d, f);
		if (r == 0)
			r = read_hunks(d, f);
	}
	if (r < 0)
		return r;
	if (f->op == PATCH_UPDATE && f->n_hunks == 0 && !f->to.p && !f->has_mode)
		return err_set(d->e, ERR_USAGE, "patch line %u: nothing is changed in '" STR_FMT "'",
			       f->at_line, STR_ARG(f->path));
	return 0;
}

int patch_parse_diff(struct arena *a, struct str text, struct patch *ret, struct err *e)
{
	struct diff d = { .a = a, .r = { .rest = text }, .p = ret, .e = e };

	*ret = (struct patch){ 0 };
	while (patch_next(&d.r)) {
		int r = 0;

		/* What stands between files (a commit message, "Only in …") is for people; a hunk without a file is not. */
		if (str_starts(d.r.line, STR("diff --git ")) || str_starts(d.r.line, STR("--- ")))
			r = read_file(&d);
		else if (str_starts(d.r.line, STR("@@ -")))
			r = refuse(&d, "this hunk belongs to no file");
		if (r < 0)
			return r;
	}
	return ret->n_files ? 0 : err_set(e, ERR_USAGE, "the patch names no file");
}
