/* SPDX-License-Identifier: Apache-2.0 */
/* Names of keys, bytes in hexadecimal and pasted text: bounded, and a paste has exactly one end. */
#include "check.h"

#include "tools/keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str s = { .p = (const char *)data, .n = size }, body;
	struct buf b;
	struct err e = { 0 };

	buf_init(&b, size + 64);
	if (keys_put(s, &b, &e) < 0)
		CHECK(e.kind == ERR_USAGE);
	else
		CHECK(b.n > 0 && b.n < 16 && !b.failed);
	buf_done(&b);

	e = (struct err){ 0 };
	if (keys_put_hex(s, &b, &e) < 0)
		CHECK(e.kind == ERR_USAGE);
	else
		CHECK(b.n == 1);
	buf_done(&b);

	keys_put_paste(s, &b);
	CHECK(!b.failed && str_starts(buf_str(&b), STR("\x1b[200~")) &&
	      str_ends(buf_str(&b), STR("\x1b[201~")));
	body = (struct str){ .p = b.p + 6, .n = b.n - 12 };
	CHECK(body.n == 0 || !memchr(body.p, '\x1b', body.n));
	buf_done(&b);
	return 0;
}
