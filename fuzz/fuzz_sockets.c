/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel says of sockets and mounts, with names in it that others chose. Whatever the bytes: they are read or refused,
 * never beyond their end; a name is a slice of its message, and a mount point is absolute and as long as its text at most.
 */
#include "check.h"
#include "sandbox/mountinfo.h"
#include "sandbox/unixdiag.h"

#include <errno.h>

static void check_socket(struct str body)
{
	struct unix_sock s = { 0 };
	int r = unixdiag_parse(body, &s);

	CHECK(r == 1 || r == 0 || r == -EINVAL);
	if (r == 1 && s.name.n) {
		CHECK(s.name.p >= body.p && s.name.n <= body.n);
		CHECK((size_t)(s.name.p - body.p) <= body.n - s.name.n);
		CHECK(!memchr(s.name.p, '\0', s.name.n));
	}
}

static void check_mount(struct str line)
{
	_cleanup_arena_ struct arena a;
	struct mount_line m = { 0 };
	int r;

	arena_init(&a, (size_t)4 << 20);
	r = mountinfo_parse(&a, line, &m);
	CHECK(r == 0 || r == -EINVAL || r == -ENOMEM);
	if (r == 0)
		CHECK(m.point.n > 0 && m.point.n <= line.n && m.point.p[0] == '/');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exactly that length, so that a sanitizer sees a look beyond it. */
	char *copy = malloc(size ? size : 1);
	struct str s = { .p = copy, .n = size };

	CHECK(copy);
	if (size)
		memcpy(copy, data, size);
	check_socket(s);
	check_mount(s);
	free(copy);
	return 0;
}
