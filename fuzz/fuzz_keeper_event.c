/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever a keeper says to its client: it is refused, or every number, text and part of it is within its bounds, and nothing is written
 * beyond what the client has room for. The first byte says how many descriptors came.
 */
#include "check.h"

#include "backend/wire_keeper.h"
#include "sandbox/wire_serve.h"

#define ROOM 512u

static void check_parts(struct str body, size_t n_parts)
{
	char out[2][ROOM + 1], *const to[2] = { out[0], out[1] };
	struct jobs_part parts[2] = { 0 };
	size_t sum = n_parts * sizeof(struct keeper_part);

	out[0][ROOM] = out[1][ROOM] = 'x';
	if (keeper_event_parts(body, to, ROOM, parts, n_parts) == 0) {
		for (size_t i = 0; i < n_parts; i++) {
			CHECK(parts[i].n <= ROOM);
			CHECK(parts[i].n == 0 || memcmp(out[i], body.p + sum, parts[i].n) == 0);
			sum += parts[i].n;
		}
		CHECK(sum == body.n);
	}
	CHECK(out[0][ROOM] == 'x' && out[1][ROOM] == 'x');
}

static void check_body(const struct keeper_event *h, struct str body)
{
	struct jobs_info info;
	struct box_stat st;
	struct err e;
	struct str rest = body, workdir;
	uint32_t number;

	if (keeper_event_line(body, &number, &workdir) == 0)
		CHECK(number > 0 && number <= SERVE_LINE_LAST && workdir.n < body.n &&
		      workdir.p + workdir.n == body.p + body.n && !memchr(workdir.p, 0, workdir.n));
	keeper_event_err(h, body, &e);
	CHECK(e.kind < ERR_KIND_COUNT_ && strlen(e.msg) < sizeof(e.msg));
	if (keeper_event_stat(body, &st) == 0)
		CHECK(strlen(st.walls) < sizeof(st.walls));
	while (keeper_event_job(&rest, &info) == 0) {
		CHECK(strlen(info.text) < sizeof(info.text) && info.end.reason < BOX_REASON_COUNT_);
		CHECK(keeper_job_number(str_z(info.id)) != 0);
		check_parts(rest, 2);
	}
	check_parts(body, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct keeper_event h = { 0 };
	size_t n_fds, n;
	char *bytes;

	if (size < 1)
		return 0;
	n_fds = data[0] % 4;
	n = size - 1;
	bytes = malloc(n + 1);
	CHECK(bytes);
	memcpy(bytes, data + 1, n);
	memcpy(&h, bytes, n < sizeof(h) ? n : sizeof(h));
	if (keeper_event_check(&h, n, n_fds) == 0) {
		struct box_end end;

		CHECK(h.kind <= BOX_FAILED && h.op < KEEPER_REQUEST_END_);
		keeper_get_end(&h.end, &end);
		CHECK(end.reason < BOX_REASON_COUNT_);
		check_body(&h, (struct str){ .p = bytes + sizeof(h), .n = n - sizeof(h) });
	}
	free(bytes);
	return 0;
}
