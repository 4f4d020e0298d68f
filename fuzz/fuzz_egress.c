/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of the egress service, from either side. What is taken is written as a text that is taken as the same; a rule that is taken has an
 * address, and lets its own host through.
 */
#include "net/message.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool held)
{
	if (!held)
		abort();
}

static void check_rules(struct strs rules)
{
	static struct net_rules r;
	const struct dest *rule;
	struct err e = { 0 };

	r = (struct net_rules){ .option = "o" };
	for (size_t i = 0; i < rules.n; i++)
		if (net_rules_add(&r, rules.v[i], &e) == 0)
			expect(r.v[r.n - 1].addr.n && r.v[r.n - 1].port);
	for (size_t i = 0; i < r.n; i++)
		expect(net_judge(&r, &r.v[i].host, r.v[i].port, &rule) == NET_ALLOWED && rule);
}

static void check_hello(struct str text)
{
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_buf_ struct buf out = { 0 };
	struct egress_hello h, again;
	struct err e = { 0 };

	arena_init(&a, 1 << 20);
	buf_init(&out, (size_t)8 * EGRESS_MESSAGE_MAX);
	if (egress_hello_parse(text, &a, &h, &e) < 0) {
		expect(e.kind == ERR_PROTO || e.kind == ERR_LIMIT);
		return;
	}
	check_rules(h.rules);
	egress_hello_put(&h, &out);
	expect(!out.failed);
	if (out.n > EGRESS_MESSAGE_MAX)
		return;
	expect(egress_hello_parse(buf_str(&out), &a, &again, &e) == 0);
	expect(str_eq(h.session, again.session) && h.rules.n == again.rules.n);
	for (size_t i = 0; i < h.rules.n; i++)
		expect(str_eq(h.rules.v[i], again.rules.v[i]));
}

static void check_numbers(struct str text)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct egress_numbers n, again;
	struct err e = { 0 };

	if (egress_numbers_parse(text, &n, &e) < 0) {
		expect(e.kind == ERR_PROTO);
		return;
	}
	buf_init(&out, 1024);
	egress_numbers_put(&n, &out);
	expect(!out.failed && egress_numbers_parse(buf_str(&out), &again, &e) == 0);
	expect(memcmp(&n, &again, sizeof(n)) == 0);
}

static void check_report(struct str text)
{
	static struct net_report r, again;
	_cleanup_buf_ struct buf out = { 0 };
	struct err e = { 0 };

	if (egress_report_parse(text, &r, &e) < 0)
		return;
	buf_init(&out, (size_t)8 * EGRESS_MESSAGE_MAX);
	egress_report_put(&r, &out);
	expect(!out.failed);
	if (out.n > EGRESS_MESSAGE_MAX)
		return;
	expect(egress_report_parse(buf_str(&out), &again, &e) == 0 && again.n_denials == r.n_denials);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { .p = (const char *)data, .n = size };
	struct err e = { 0 };

	check_hello(text);
	check_report(text);
	check_numbers(text);
	(void)egress_answer_parse(text, &e);
	(void)egress_is_end(text);
	return 0;
}
