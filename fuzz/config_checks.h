/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold for anything that is loaded: with an error nothing is returned and the error has a text; without
 * one, the printed config reads back equal and prints the same, and every other format can be written, the JSON ones
 * as strict JSON.
 */
#pragma once

#include "base/fd.h"
#include "config/config.h"
#include "data/json.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUZZ_ARENA_BYTES ((size_t)64 << 20)
#define FUZZ_TEXT_BYTES ((size_t)16 << 20)

/* A regular file that has a name but no place: /proc/self/fd/N. */
struct fuzz_file {
	int fd;
	char path[32];
};

static inline void fuzz_file_done(struct fuzz_file *f)
{
	f->fd = fd_close(f->fd);
}
#define _cleanup_fuzz_file_ _cleanup_(fuzz_file_done)

static inline void fuzz_file_put(struct fuzz_file *f, struct str text)
{
	f->fd = memfd_create("fuzz", MFD_CLOEXEC);
	assert(f->fd >= 0);
	assert(write(f->fd, text.p, text.n) == (ssize_t)text.n);
	assert(lseek(f->fd, 0, SEEK_SET) == 0);
	(void)snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
}

static inline void check_nothing_loaded(const struct config *c, const struct diags *d, const struct err *e)
{
	const unsigned char *p = (const unsigned char *)c;

	for (size_t i = 0; i < sizeof(*c); i++)
		assert(p[i] == 0xa5);
	assert(e->kind != ERR_NONE && e->msg[0]);
	assert(d->n_errors > 0 || e->kind == ERR_LIMIT);
}

/* Text of one format, with further -e. Gives NULL when it was refused. */
static inline struct config *check_load(struct arena *a, enum format format, const struct str *text,
					struct strs sets)
{
	_cleanup_fuzz_file_ struct fuzz_file f = { .fd = FD_NONE };
	struct config_source source = { .format = format };
	struct config_input in = { .no_default_file = true, .sets = sets };
	struct diags d = { .arena = a };
	struct config *c = ARENA_NEW(a, struct config);
	struct err e = { 0 };

	assert(c);
	memset(c, 0xa5, sizeof(*c));
	if (text) {
		fuzz_file_put(&f, *text);
		source.path = str_z(f.path);
		in.files = &source;
		in.n_files = 1;
	}
	if (config_load(&in, a, &d, c, &e) == 0) {
		assert(d.n_errors == 0);
		return c;
	}
	check_nothing_loaded(c, &d, &e);
	return NULL;
}

static inline void check_written(const struct config *c, struct arena *a)
{
	static const enum format formats[] = { FORMAT_OPENCLAW, FORMAT_ALLOWLIST, FORMAT_OPENCLAW_NET,
					       FORMAT_ATHENA, FORMAT_ANSIBLE };
	const struct show_opts o = { 0 };
	const struct json_opts strict = { .name = "written" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		_cleanup_buf_ struct buf b = { 0 };
		struct err e = { 0 };
		struct value v;

		buf_init(&b, FUZZ_TEXT_BYTES);
		assert(config_show_as(c, formats[i], &o, &b, &e) == 0 && !b.failed);
		if (i < 3)
			assert(json_parse(a, buf_str(&b), &strict, &v, &e) == 0);
	}
}

static inline void check_shown(const struct config *c, struct arena *a)
{
	_cleanup_buf_ struct buf b = { 0 }, twice = { 0 };
	const struct show_opts o = { .reveal = true };
	struct config *again;
	struct str text;

	buf_init(&b, FUZZ_TEXT_BYTES);
	buf_init(&twice, FUZZ_TEXT_BYTES);
	config_show(c, &o, &b);
	assert(!b.failed);
	text = buf_str(&b);
	again = check_load(a, FORMAT_CREEL, &text, (struct strs){ 0 });
	assert(again && config_equal(c, again));
	config_show(again, &o, &twice);
	assert(str_eq(buf_str(&twice), text));
	check_written(c, a);
}
