/* SPDX-License-Identifier: Apache-2.0 */
/* What the clerk reads from its socket: it is refused, or everything that it names lies within its bytes, and paths end in NUL. */
#include "check.h"

#include "backend/files.h"
#include "clerk/request.h"

#include <string.h>

static void check_inside(const char *p, size_t n, const uint8_t *data, size_t size)
{
	const char *from = (const char *)data;

	CHECK(n == 0 || (p >= from && p + n <= from + size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request r = { 0 };
	uint8_t *own = malloc(size ? size : 1); /* exactly so long, for the sanitizer */

	CHECK(own);
	if (size)
		memcpy(own, data, size);
	if (request_parse(own, size, &r) == 0) {
		const struct clerk_request *h = &r.head;

		CHECK(h->op > 0 && h->op < CLERK_OP_END_ && h->mode <= 07777);
		CHECK(strlen(r.path) < FILES_PATH_MAX && strlen(r.to) < FILES_PATH_MAX);
		CHECK(h->n_path == 0 || strlen(r.path) + 1 == h->n_path);
		CHECK(h->n_to == 0 || strlen(r.to) + 1 == h->n_to);
		CHECK(r.content.n <= CLERK_PUT_MAX);
		check_inside(r.path, h->n_path, own, size);
		check_inside(r.to, h->n_to, own, size);
		check_inside(r.content.p, r.content.n, own, size);
		CHECK(sizeof(*h) + h->n_path + h->n_to + r.content.n == size);
	}
	free(own);
	return 0;
}
