/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One text through one reader. Property: it loads, or there is at least one error and each error has a line; what
 * the environment holds is in no finding and in nothing that is shown; what loads holds what config_checks.h says.
 */
#pragma once

#include "config_checks.h"

#define READER_SECRET "q7Zr-hunter2-Kx93"

static inline void reader_check_finding(const struct diag *d)
{
	struct buf b;

	buf_init(&b, 1 << 16);
	diag_put(&b, d);
	assert(!memmem(b.p ? b.p : "", b.n, READER_SECRET, strlen(READER_SECRET)));
	buf_done(&b);
	if (d->severity == SEVERITY_ERROR && d->origin.kind == ORIGIN_FILE)
		assert(d->origin.line > 0);
}

/* Nothing that a person sees of a loaded file says what a variable holds. */
static inline void reader_check_shown(const struct config *c)
{
	const struct show_opts opts[] = { { 0 }, { .origin = true, .all = true }, { .json = true } };

	for (size_t i = 0; i < sizeof(opts) / sizeof(opts[0]); i++) {
		_cleanup_buf_ struct buf b = { 0 };

		buf_init(&b, FUZZ_TEXT_BYTES);
		config_show(c, &opts[i], &b);
		assert(!memmem(b.p ? b.p : "", b.n, READER_SECRET, strlen(READER_SECRET)));
	}
	for (int f = 0; f < FORMAT_COUNT_; f++) {
		_cleanup_buf_ struct buf b = { 0 };
		struct err e = { 0 };

		buf_init(&b, FUZZ_TEXT_BYTES);
		(void)config_show_as(c, (enum format)f, &opts[0], &b, &e);
		assert(!memmem(b.p ? b.p : "", b.n, READER_SECRET, strlen(READER_SECRET)));
	}
}

static inline void reader_load(const struct config_input *in, bool with_shown)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct diags d = { .arena = &a };
	struct config c = { 0 };
	struct err e = { 0 };

	arena_init(&a, FUZZ_ARENA_BYTES);
	if (config_load(in, &a, &d, &c, &e) < 0) {
		assert(d.n_errors > 0 || e.kind == ERR_LIMIT);
	} else {
		reader_check_shown(&c);
		if (with_shown)
			check_shown(&c, &a);
	}
	assert(!strstr(e.msg, READER_SECRET));
	for (size_t i = 0; i < d.n; i++)
		reader_check_finding(&d.v[i]);
}

static inline int reader_run(enum format format, const char *compat, const uint8_t *data, size_t size)
{
	static char secret[] = "S=" READER_SECRET, token[] = "GH_TOKEN=" READER_SECRET,
		    home[] = "HOME=/home/fuzz";
	static char net[] = "OpenClaw__Sandbox__DefaultTTL=" READER_SECRET;
	static char *const plain[] = { secret, token, home, NULL }, *const with_net[] = { secret, net, NULL };
	_cleanup_fuzz_file_ struct fuzz_file f = { .fd = FD_NONE };
	struct config_source file = { .format = format };
	struct config_input in = { .files = &file, .n_files = 1, .no_default_file = true, .environ = plain };

	if (memmem(data, size, READER_SECRET, strlen(READER_SECRET)))
		return -1;
	fuzz_file_put(&f, (struct str){ (const char *)data, size });
	file.path = str_z(f.path);
	in.home = STR("/home/fuzz");
	in.cwd = STR("/nowhere");
	in.compat = compat ? str_z(compat) : (struct str){ 0 };
	if (format == FORMAT_OPENCLAW_NET && size % 2)
		in.environ = with_net;
	reader_load(&in, !compat && !memmem(data, size, "${S}", 4));
	return 0;
}
