/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file that somebody named: regular, bounded, without waiting; and parses it. */
#include "config/load_priv.h"

#include "base/fd.h"
#include "base/port.h"
#include "data/json.h"
#include "data/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* What cannot be read is told where it was asked for; a flag says no more than the name itself does. */
static void cannot(struct load *l, struct str path, const struct origin *asked_by, const char *what)
{
	const struct origin file = { .kind = ORIGIN_FILE, .name = path };

	if (asked_by && asked_by->kind == ORIGIN_FILE && asked_by->line)
		diag_add(l->diags, SEVERITY_ERROR, "unreadable_file", asked_by, (struct str){ 0 },
			 "'" STR_FMT "': %s", STR_ARG(path), what);
	else
		diag_add(l->diags, SEVERITY_ERROR, "unreadable_file", &file, (struct str){ 0 }, "%s", what);
}

/* O_NONBLOCK: the name may be a FIFO, and nobody may be at its other end. */
#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* With `top`, below that directory alone: whoever could put a link there must not choose what is read. */
static int open_file(const char *top, const char *path)
{
	_cleanup_close_ int dir = FD_NONE;
	int fd;

	if (!top) {
		fd = open(path, READ_FLAGS);
		return fd < 0 ? -errno : fd;
	}
	dir = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -errno : fd_open_beneath(dir, path, READ_FLAGS, 0);
}

static int open_regular(const char *top, const char *path, struct stat *ret_st)
{
	_cleanup_close_ int fd = open_file(top, path);

	if (fd < 0)
		return fd;
	if (fstat(fd, ret_st) < 0)
		return -errno;
	if (S_ISDIR(ret_st->st_mode))
		return -EISDIR;
	if (!S_ISREG(ret_st->st_mode))
		return -ENODEV;
	return TAKE_FD(fd);
}

static bool read_whole(struct load *l, struct str top, struct str path, struct str *ret, struct stat *ret_st,
		       const char **ret_why)
{
	_cleanup_free_ char *dir = NULL, *name = NULL, *text = NULL;
	_cleanup_close_ int fd = FD_NONE;
	size_t n = 0;
	int r = str_dupz(path, &name);

	if (r == 0 && top.n)
		r = str_dupz(top, &dir);
	if (r == 0)
		r = fd = open_regular(dir, name, ret_st);
	if (r >= 0)
		r = fd_read_all(fd, CONFIG_FILE_MAX, &text, &n);
	if (r >= 0) {
		*ret = arena_str(l->a, (struct str){ .p = text, .n = n });
		return !l->a->failed;
	}
	*ret_why = r == -EFBIG    ? "larger than 8 MiB, accepted: at most 8388608 bytes"
		   : r == -ENODEV ? "not a regular file"
		   : r == -EINVAL ? "the name holds a NUL character"
		   : r == -EXDEV ? "a link leads out of the directory; fix: -c names the file that is meant, "
				   "or --no-default-config"
				 : port_errno_text(-r);
	return false;
}

bool load_text(struct load *l, struct str path, const struct origin *asked_by, struct str *ret,
	       struct stat *ret_st)
{
	const char *why = "needs too much memory";

	if (read_whole(l, (struct str){ 0 }, path, ret, ret_st, &why))
		return true;
	cannot(l, path, asked_by, why);
	return false;
}

bool load_found(struct load *l, struct str dir, struct str name, struct str path, struct str *ret,
		struct stat *ret_st)
{
	const char *why = "needs too much memory";

	if (read_whole(l, dir, name, ret, ret_st, &why))
		return true;
	/* Nobody asked for it, and whoever stands where he may not look has perhaps never heard of it. */
	if (strcmp(why, port_errno_text(EACCES)) == 0)
		why = "cannot be looked for here: Permission denied; fix: cd to a directory of your own, or --no-default-config";
	cannot(l, path, NULL, why);
	return false;
}

bool load_exists(struct load *l, struct str path)
{
	struct str name = arena_str(l->a, path);

	/* Anything but "there is none" counts: a file that cannot be read must be an error, not a default. */
	return name.n && (access(name.p, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR));
}

static uint32_t digits(struct str *s)
{
	uint32_t n = 0;

	while (s->n && s->p[0] >= '0' && s->p[0] <= '9' && n < 100000000) {
		n = n * 10 + (uint32_t)(s->p[0] - '0');
		*s = str_from(*s, 1);
	}
	return n;
}

/* The parsers say "f:line:column: what". */
static void bad_syntax(struct load *l, struct str path, const struct err *e)
{
	struct origin o = { .kind = ORIGIN_FILE, .name = path };
	struct str rest = str_z(e->msg);

	if (str_starts(rest, STR("f:"))) {
		rest = str_from(rest, 2);
		o.line = digits(&rest);
		rest = str_from(rest, 1);
		o.col = digits(&rest);
		rest = str_from(rest, 2);
	}
	diag_add(l->diags, SEVERITY_ERROR, "bad_syntax", &o, (struct str){ 0 }, "%.*s", (int)rest.n, rest.p);
}

static struct value *parse(struct load *l, struct str path, struct str text, bool yaml, enum json_dup on_dup)
{
	const struct json_opts opts = {
		.name = "f", .json5 = true, .dup_keys = on_dup, .max_bytes = CONFIG_FILE_MAX
	};
	struct value *root = ARENA_NEW(l->a, struct value);
	struct err e = { 0 };
	int r;

	if (!root)
		return NULL;
	if (str_starts(text, STR("\xef\xbb\xbf"))) /* editors on some systems write a byte order mark */
		text = str_from(text, 3);
	r = yaml ? yaml_parse(l->a, text, "f", root, &e) : json_parse(l->a, text, &opts, root, &e);
	if (r == 0)
		return root;
	bad_syntax(l, path, &e);
	return NULL;
}

struct value *load_parse(struct load *l, struct str path, struct str text, enum format format)
{
	bool strict = format == FORMAT_CREEL || format == FORMAT_OPENCLAW_NET;

	return parse(l, path, text, format_is_yaml(format), strict ? JSON_DUP_REJECT : JSON_DUP_LAST);
}

struct value *load_file(struct load *l, struct str path, bool yaml, const struct origin *asked_by)
{
	struct str text;
	struct stat st;

	if (!load_text(l, path, asked_by, &text, &st))
		return NULL;
	return parse(l, path, text, yaml, JSON_DUP_LAST);
}
