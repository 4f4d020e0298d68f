/* SPDX-License-Identifier: Apache-2.0 */
/* A value that is found is a part of the text and could be a token; an error names the file and a line, and has nothing of the value in it. */
#include "check.h"

#include "identity/envfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct str names[] = { { "SANDBOX_GUARD_TOKEN", 19 }, { "A", 1 } };
	struct str in = { .p = (const char *)data, .n = size };

	for (size_t k = 0; k < 2; k++) {
		struct err e = { 0 };
		struct str got;
		int r = envfile_find(in, "f", names[k], &got, &e);

		if (r < 0) {
			CHECK(e.kind == ERR_USAGE && e.msg[0] == 'f' && e.msg[1] == ':');
			for (const char *c = e.msg; *c; c++)
				CHECK((unsigned char)*c >= 0x20 && *c != 0x7f);
			continue;
		}
		CHECK((r == 1) == (got.n > 0) && got.n <= 255);
		for (size_t i = 0; i < got.n; i++)
			CHECK(got.p[i] > ' ' && got.p[i] <= '~' && got.p[i] != '"' && got.p[i] != '\'');
		CHECK(got.n == 0 || (got.p >= in.p && got.p + got.n <= in.p + in.n));
	}
	return 0;
}
