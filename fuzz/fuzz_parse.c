/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever is given: a value is written exactly when 0 is returned; it lies within the maximum asked for; a larger
 * maximum changes nothing; what was read prints as text that reads back equal; slices lie inside the input.
 */
#include "base/num.h"
#include "base/parse.h"
#include "check.h"

#include <errno.h>
#include <math.h>

#define UNTOUCHED UINT64_C(0xdeadbeefdeadbeef)

typedef int unit_parser(struct str s, uint64_t max, uint64_t *ret);
typedef struct str unit_printer(uint64_t v, char out[static PARSE_TEXT_MAX]);

static void check_unit(struct str s, unit_parser *parse, unit_printer *print)
{
	char text[PARSE_TEXT_MAX];
	uint64_t v = UNTOUCHED, again = UNTOUCHED, tight = UNTOUCHED;
	int r = parse(s, UINT64_MAX, &v);

	if (r < 0) {
		CHECK((r == -EINVAL || r == -ERANGE) && v == UNTOUCHED);
		CHECK(parse(s, 1000, &v) == r);
		return;
	}
	CHECK(r == 0);
	CHECK(parse(print(v, text), UINT64_MAX, &again) == 0 && again == v);
	CHECK(parse(s, v, &tight) == 0 && tight == v);
	tight = UNTOUCHED;
	if (v > 0)
		CHECK(parse(s, v - 1, &tight) == -ERANGE && tight == UNTOUCHED);
}

static void check_number(struct str s)
{
	char text[NUM_TEXT_MAX];
	struct str printed;
	double v = 7, back;
	int64_t i = 7;

	if (num_parse(s, &v) == 0 && isfinite(v)) {
		CHECK(num_format(v, text, &printed) == 0 && num_parse(printed, &back) == 0);
		CHECK(back == v && signbit(back) == signbit(v));
	}
	if (parse_i64(s, INT64_MIN, INT64_MAX, &i) == 0)
		CHECK(num_parse(s, &v) == 0 && v == (double)i);
}

static void check_host(struct str s)
{
	struct str host = { 0 };
	uint16_t port = 0;
	struct parse_net net = { 0 };

	if (parse_host_port(s, 443, &host, &port) == 0) {
		CHECK(port > 0 && host.n > 0 && host.p >= s.p && host.p + host.n <= s.p + s.n);
		CHECK(!memchr(host.p, '\0', host.n) && !memchr(host.p, ']', host.n) &&
		      !memchr(host.p, '/', host.n));
	}
	if (parse_net(s, &net) == 0)
		CHECK(parse_net_contains(&net, &net));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str s = { .p = (const char *)data, .n = size };
	bool b;

	check_unit(s, parse_size, parse_format_size);
	check_unit(s, parse_duration, parse_format_duration);
	check_number(s);
	check_host(s);
	CHECK(parse_bool(s, &b) == 0 || size != 1 || (data[0] != '0' && data[0] != '1'));
	return 0;
}
