/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever a client sends to a keeper: it is refused, or it is within its bounds, and a call that is read holds the strings that were
 * sent, in their order and all of them. The same for what a keeper is started with. The first byte says how many descriptors came.
 */
#include "check.h"

#include "backend/keeper_boot.h"
#include "backend/wire_keeper.h"
#include "base/buf.h"

static bool is_inside(struct str s, struct str of)
{
	return s.p >= of.p && s.n <= of.n && s.p + s.n <= of.p + of.n;
}

static void put(struct buf *b, struct str s, struct str body)
{
	CHECK(is_inside(s, body) && (!s.n || !memchr(s.p, '\0', s.n)));
	buf_put(b, s);
	buf_putc(b, '\0');
}

static void check_call(const struct keeper_request *h, struct str body)
{
	size_t n = (size_t)h->argc + h->envc;
	struct str *strs = calloc(n, sizeof(*strs)), text;
	struct box_call c;
	struct buf again;

	CHECK(strs && h->argc >= 1);
	buf_init(&again, KEEPER_BODY_MAX);
	if (keeper_request_call(h, body, strs, &c, &text) == 0) {
		CHECK(c.argv.n == h->argc && c.env.n == h->envc && c.umask <= 0777);
		for (size_t i = 0; i < n; i++)
			put(&again, strs[i], body);
		put(&again, c.cwd, body);
		put(&again, c.path, body);
		if (h->msg == KEEPER_JOB_START)
			put(&again, text, body);
		CHECK(!again.failed && str_eq(buf_str(&again), body));
		for (int i = 0; i < 3; i++)
			CHECK(c.stdio[i] < 0);
	}
	buf_done(&again);
	free(strs);
}

static void check_boot(struct str bytes)
{
	struct keeper_boot boot;
	struct str plan, workdir, durable;

	if (keeper_boot_read(bytes, &boot, &plan, &workdir, &durable) < 0)
		return;
	CHECK(is_inside(plan, bytes) && is_inside(workdir, bytes) && is_inside(durable, bytes));
	CHECK(sizeof(boot) + plan.n + workdir.n + durable.n == bytes.n && boot.group_version <= CGROUP_V2);
	for (int i = 0; i < 3; i++)
		CHECK(strlen(boot.group[i]) < sizeof(boot.group[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct keeper_request h = { 0 };
	size_t n_fds, n;
	char *bytes;

	if (size < 1)
		return 0;
	n_fds = data[0] % 6;
	n = size - 1;
	bytes = malloc(n + 1); /* of exactly that length, so that a sanitizer sees a look beyond it */
	CHECK(bytes);
	memcpy(bytes, data + 1, n);
	check_boot((struct str){ .p = bytes, .n = n });
	memcpy(&h, bytes, n < sizeof(h) ? n : sizeof(h));
	if (keeper_request_check(&h, n, n_fds) == 0) {
		CHECK(h.msg > KEEPER_NONE && h.msg < KEEPER_REQUEST_END_ && h.body <= KEEPER_BODY_MAX);
		CHECK(h.size <= JOBS_READ_MAX && h.stream < JOBS_STREAMS_ && h.signal >= 0 && h.signal <= 64);
		CHECK(n == sizeof(h) + (h.fds & KEEPER_FD_BODY ? 0 : h.body));
		if (h.msg == KEEPER_EXEC || h.msg == KEEPER_JOB_START)
			check_call(&h, (struct str){ .p = bytes + sizeof(h), .n = n - sizeof(h) });
	}
	free(bytes);
	return 0;
}
