/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user's file of git's settings. Whatever the bytes: what is taken from it is short text on one line, and the file that we write of it says
 * the same when it is read, and nothing else.
 */
#include "base/utf8.h"
#include "check.h"
#include "prepare/prepare.h"

#include <string.h>

static void check_value(struct str s)
{
	CHECK(s.n <= GIT_USER_MAX && utf8_valid(s));
	for (size_t i = 0; i < s.n; i++)
		CHECK((unsigned char)s.p[i] >= ' ' && s.p[i] != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exactly that length, so that a sanitizer sees a look beyond it. */
	char *text = malloc(size + !size);
	_cleanup_arena_ struct arena a = { 0 };
	struct git_user u = { 0 }, again = { 0 };

	CHECK(text);
	if (size)
		memcpy(text, data, size);
	arena_init(&a, (size_t)1 << 24);
	git_user_parse(&a, (struct str){ .p = text, .n = size }, &u);
	check_value(u.name);
	check_value(u.email);
	git_user_parse(&a, git_user_text(&a, &u), &again);
	CHECK(a.failed || (str_eq(u.name, again.name) && str_eq(u.email, again.email)));
	free(text);
	return 0;
}
