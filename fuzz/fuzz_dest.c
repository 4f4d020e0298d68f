/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An entry of network.internal.hosts, a newline, a host and port. What is taken has one spelling, which is read back as the same; a
 * rule matches that spelling, and matches nothing that has another one.
 */
#include "model/dest.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool held)
{
	if (!held)
		abort();
}

static void check_authority(struct str text, const struct dest *d)
{
	char a[DEST_TEXT_MAX], b[DEST_TEXT_MAX];
	struct dest_host h, again;
	struct str spelt, rule;
	uint16_t port, port2;

	if (!dest_authority_parse(text, 80, &h, &port))
		return;
	spelt = dest_text(&h, port, a);
	expect(dest_authority_parse(spelt, 0, &again, &port2) && port2 == port && dest_host_eq(&h, &again));
	expect(str_eq(dest_text(&again, port2, b), spelt));
	if (!d)
		return;
	rule = dest_text(&d->host, d->port ? d->port : port, b);
	expect(dest_matches(d, &h, port) == str_eq(rule, spelt));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { .p = (const char *)data, .n = size }, entry = text,
		   authority = { .p = "", .n = 0 };
	char out[DEST_TEXT_MAX];
	struct dest d;
	bool ok;

	(void)str_cut(text, '\n', &entry, &authority);
	ok = dest_parse(entry, &d) == NULL;
	check_authority(authority, ok ? &d : NULL);
	if (!ok)
		return 0;
	expect(d.addr.n == 0 || (d.port && d.addr_port));
	expect(d.addr.n == 0 || dest_addr_text(&d.addr, out).n > 0);
	if (d.port)
		check_authority(dest_text(&d.host, d.port, out), &d);
	return 0;
}
