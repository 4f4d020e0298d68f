/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a clerk answers, which the payload may be. The first byte says what was asked; the rest is the message. Of whatever is taken,
 * names are names, lie within the message, and end in NUL.
 */
#include "check.h"

#include "backend/files_reply.h"

#include <string.h>

static void check_entries(const char *p, size_t n, bool with_stat)
{
	struct reply_entries e = { .p = p, .n = n, .with_stat = with_stat };
	struct files_entry entry;
	size_t at = 0;

	while (reply_next(&e, &entry) == 1) {
		CHECK(e.at > at && e.at <= n);
		at = e.at;
		CHECK(entry.name.p >= p && entry.name.p + entry.name.n < p + n);
		CHECK(entry.name.n > 0 && entry.name.n <= 255 && strlen(entry.name.p) == entry.name.n);
		CHECK(!strchr(entry.name.p, '/') && strcmp(entry.name.p, ".") != 0 &&
		      strcmp(entry.name.p, "..") != 0);
		CHECK(entry.st.size <= INT64_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct clerk_request asked = { .seq = 1 };
	struct clerk_reply reply;
	size_t n;
	char *more;

	if (size < 1 + sizeof(reply) || size > 1 + CLERK_MESSAGE_MAX)
		return 0;
	asked.op = data[0] % CLERK_OP_END_;
	memcpy(&reply, data + 1, sizeof(reply));
	n = size - 1 - sizeof(reply);
	if (reply_check(&reply, &asked, n) < 0)
		return 0;
	CHECK(reply.result <= 0 && reply.result >= -4095 && reply.bytes == n);
	CHECK(n == 0 || asked.op == CLERK_LIST || asked.op == CLERK_NEXT ||
	      (asked.op == CLERK_GET && reply.flags == CLERK_R_WHOLE && n <= CLERK_GET_MAX));
	more = malloc(n ? n : 1); /* exactly so long, for the sanitizer */
	CHECK(more);
	if (n)
		memcpy(more, data + 1 + sizeof(reply), n);
	check_entries(more, n, false);
	check_entries(more, n, true);
	free(more);
	return 0;
}
