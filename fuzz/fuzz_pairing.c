/* SPDX-License-Identifier: Apache-2.0 */
/* What is read as a file of paired senders, written and read again, is the same. An error has a place. */
#include "check.h"

#include "identity/pairing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_buf_ struct buf once = { 0 }, twice = { 0 };
	struct pairing p = { 0 }, again = { 0 };
	struct err e = { 0 };

	arena_init(&a, (size_t)64 << 20);
	buf_init(&once, PAIRING_FILE_MAX);
	buf_init(&twice, PAIRING_FILE_MAX);
	if (pairing_parse(&a, (struct str){ (const char *)data, size }, "f", &p, &e) < 0) {
		CHECK(e.msg[0] == 'f' && e.msg[1] == ':' && p.n_senders == 0 && p.n_pending == 0);
		return 0;
	}
	CHECK(p.n_senders <= PAIRING_SENDERS_MAX && p.n_pending <= PAIRING_PENDING_MAX);
	for (size_t i = 0; i < p.n_senders; i++)
		CHECK(pairing_knows(&p, p.senders[i].channel, p.senders[i].user));
	pairing_write(&once, &p);
	CHECK(!once.failed && pairing_parse(&a, buf_str(&once), "again", &again, &e) == 0);
	pairing_write(&twice, &again);
	CHECK(str_eq(buf_str(&once), buf_str(&twice)));
	return 0;
}
