/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory with files, and what comes out when they are loaded: the config, or all that is wrong with it as one
 * text in which the directory's name does not appear.
 */
#pragma once

#include "check.h"
#include "config/config_priv.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOAD_MEMORY ((size_t)64 << 20)
#define MAX_SOURCES 16

struct loading {
	char dir[64];
	struct arena a;
	struct diags d;
	struct config *c;
	struct err e;
	int r;
	struct config_input in;
	struct config_source files[MAX_SOURCES];
	struct str sets[MAX_SOURCES];
	char *environ[MAX_SOURCES];
	size_t n_env;
	struct buf text;
};

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static inline void loading_done(struct loading *w)
{
	if (w->dir[0])
		(void)nftw(w->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	arena_done(&w->a);
	buf_done(&w->text);
}
#define _cleanup_loading_ __attribute__((cleanup(loading_done)))

static inline void loading_init(struct loading *w)
{
	memset(w, 0, sizeof(*w));
	(void)snprintf(w->dir, sizeof(w->dir), "/tmp/creel-config-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	arena_init(&w->a, LOAD_MEMORY);
	buf_init(&w->text, 1 << 20);
	w->d.arena = &w->a;
	w->in.no_default_file = true;
	w->in.home = w->in.cwd = str_z(w->dir);
}

static inline struct str path_of(struct loading *w, const char *name)
{
	return arena_printf(&w->a, "%s/%s", w->dir, name);
}

/* Writes a file below the directory; "a/b" makes a. */
static inline struct str put_bytes(struct loading *w, const char *name, struct str text)
{
	struct str path = path_of(w, name), dir, base;
	int fd;

	if (str_cut_last(path, '/', &dir, &base))
		(void)mkdir(arena_str(&w->a, dir).p, 0700);
	fd = open(path.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text.p, text.n), (ssize_t)text.n);
	close(fd);
	return path;
}

static inline void put_file(struct loading *w, const char *name, const char *text)
{
	(void)put_bytes(w, name, str_z(text));
}

/* -c: "FORMAT:name" or a plain name, below the directory */
static inline void use_file(struct loading *w, const char *arg)
{
	struct config_source *s = &w->files[w->in.n_files];

	assert_true(w->in.n_files < MAX_SOURCES);
	assert_int_equal(config_source_parse(str_z(arg), s, &w->e), 0);
	s->path = arena_printf(&w->a, "%s/%.*s", w->dir, (int)s->path.n, s->path.p);
	w->in.files = w->files;
	w->in.n_files++;
}

/* -e */
static inline void use_set(struct loading *w, const char *arg)
{
	assert_true(w->in.sets.n < MAX_SOURCES);
	w->sets[w->in.sets.n] = str_z(arg);
	w->in.sets.v = w->sets;
	w->in.sets.n++;
}

static inline void use_env(struct loading *w, const char *line)
{
	struct str s = arena_str(&w->a, str_z(line));

	assert_true(w->n_env + 1 < MAX_SOURCES);
	memcpy(&w->environ[w->n_env++], &s.p, sizeof(s.p));
	w->in.environ = w->environ;
}

static inline int load_it(struct loading *w)
{
	w->c = ARENA_NEW(&w->a, struct config);
	assert_non_null(w->c);
	w->r = config_load(&w->in, &w->a, &w->d, w->c, &w->e);
	return w->r;
}

/* The text of a canonical file alone. */
static inline int load_text_as(struct loading *w, const char *format_and_name, const char *text)
{
	const char *name = strchr(format_and_name, ':');

	put_file(w, name ? name + 1 : format_and_name, text);
	use_file(w, format_and_name);
	return load_it(w);
}

static inline int load_creel(struct loading *w, const char *text)
{
	return load_text_as(w, "creel:creel.json5", text);
}

/* Everything that was said, one finding per line, without the directory. */
static inline const char *told(struct loading *w)
{
	struct buf all;
	struct str rest, dir = arena_printf(&w->a, "%s/", w->dir);

	buf_init(&all, 1 << 20);
	w->text.n = 0;
	for (size_t i = 0; i < w->d.n; i++)
		diag_put(&all, &w->d.v[i]);
	for (rest = buf_str(&all); rest.n;) {
		if (str_starts(rest, dir)) {
			rest = str_from(rest, dir.n);
			continue;
		}
		buf_putc(&w->text, rest.p[0]);
		rest = str_from(rest, 1);
	}
	buf_done(&all);
	return w->text.p && w->text.n ? w->text.p : "";
}

#define CHECK_LOADS(w)                                          \
	do {                                                    \
		if ((w)->r != 0)                                \
			fail_msg("does not load: %s", told(w)); \
	} while (0)
#define CHECK_TOLD(w, want)                                            \
	do {                                                           \
		if ((w)->r == 0)                                       \
			fail_msg("loads, want: %s", want);             \
		if (!strstr(told(w), (want)))                          \
			fail_msg("told: %s\nwant: %s", told(w), want); \
	} while (0)

static inline struct str joined(struct arena *a, struct strs list)
{
	struct str all = STR("");

	for (size_t i = 0; i < list.n; i++)
		all = arena_printf(a, "%.*s%s%.*s", (int)all.n, all.p, i ? "," : "", (int)list.v[i].n,
				   list.v[i].p);
	return all;
}
#define CHECK_LIST(w, list, want) CHECK_STR(joined(&(w)->a, (list)), STR(want))
