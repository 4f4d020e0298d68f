/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /etc/subuid, as anybody may have written it. Whatever the bytes: an id that is found is a number that a line gives to this user, and
 * is neither the user's own nor the one that is nobody's; and a line in front that gives nothing changes nothing.
 */
#include "check.h"
#include "sandbox/subids.h"

#include <stdlib.h>

#define UID 1000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exactly that length, so that a sanitizer sees a look beyond it. */
	static const char front[] = "other:1:1\n";
	const size_t n = sizeof(front) - 1;
	char *text = malloc(size + 1), *more = malloc(size + n);
	uint32_t id = 0, again = 0;
	bool found;

	CHECK(text && more);
	memcpy(text, data, size);
	memcpy(more, front, n);
	memcpy(more + n, data, size);
	found = subids_find((struct str){ .p = text, .n = size }, STR("me"), UID, &id);
	if (found)
		CHECK(id != 0 && id != UID && id != UINT32_MAX);
	CHECK(subids_find((struct str){ .p = more, .n = size + n }, STR("me"), UID, &again) == found);
	CHECK(!found || again == id);
	free(text);
	free(more);
	return 0;
}
