/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pid 1 reads from its socket, by the very code that it reads it with: a request is refused, or everything that it names lies
 * within its bytes, ends in NUL, and is all of them.
 */
#include "check.h"

#include "sandbox/warden/request.c"

#include <stdlib.h>
#include <string.h>

static void check_lists(const struct request *r, const char *body, size_t n)
{
	size_t slots = (size_t)(r->head.argc > r->head.envc ? r->head.argc : r->head.envc) + 1, used;
	char **list = calloc(slots, sizeof(*list));

	CHECK(list);
	for (uint32_t i = 0; i < r->head.n_limits; i++)
		(void)request_limit(r, i);
	used = r->head.n_limits * sizeof(struct serve_limit);
	for (int k = 0; k < 2; k++) {
		uint32_t count = k ? r->head.envc : r->head.argc;

		request_list(k ? r->env : r->argv, count, list);
		CHECK(list[count] == NULL);
		for (uint32_t i = 0; i < count; i++) {
			CHECK(list[i] == body + used);
			used += strlen(list[i]) + 1;
			CHECK(used <= n);
		}
	}
	CHECK(r->cwd == body + used && r->path == r->cwd + strlen(r->cwd) + 1);
	CHECK(r->path + strlen(r->path) + 1 == body + n);
	free(list);
}

/* Each may come from one place at most, and nothing that ends the sandbox, or asks about others, over a line. */
static void check_place(const struct request *r)
{
	const uint32_t line = (uint32_t)(r->head.id >> SERVE_LINE_BIT);
	const bool of_a_call =
		r->head.msg == SERVE_EXEC || r->head.msg == SERVE_CANCEL || r->head.msg == SERVE_SIGNAL;

	CHECK(!request_may_come(r, line + 1) || line + 1 == 0);
	if (line && request_may_come(r, line))
		CHECK(of_a_call && !request_may_come(r, 0) &&
		      (r->head.msg != SERVE_EXEC || !(r->head.flags & ~SERVE_F_LINE)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request r = { 0 };
	size_t rest = 0, n;
	char *body;

	if (size > SERVE_INLINE_MAX)
		return -1;
	n = size < sizeof(r.head) ? 0 : size - sizeof(r.head);
	/* The same bytes as a body of their own: there a message is its head alone. */
	if (request_head(data, size, &r, &rest) < 0 && request_head(data, size - n, &r, &rest) < 0)
		return 0;
	check_place(&r);
	if (r.head.msg != SERVE_EXEC)
		return 0;
	body = malloc(n + 1); /* exactly so long, for the sanitizer */
	CHECK(body);
	body = realloc(body, n ? n : 1);
	CHECK(body);
	memcpy(body, data + size - n, n);
	if (request_body(&r, body, n) == 0)
		check_lists(&r, body, n);
	free(body);
	return 0;
}
