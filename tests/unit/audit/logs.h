/* SPDX-License-Identifier: Apache-2.0 */
/* A log with records in it, and what audit_verify() says of it. */
#pragma once

#include "spot.h"

#include "audit/audit.h"

static inline struct audit *open_log(const struct spot *p, uint64_t max_file_bytes)
{
	const struct audit_opts o = { .dir = p->dir, .max_file_bytes = max_file_bytes };
	struct audit *a = NULL;
	struct err e = { 0 };

	if (audit_open(&o, &a, &e) < 0)
		fail_msg("%s", e.msg);
	return a;
}

static inline int put_event(struct audit *a, const char *what, struct err *e)
{
	const struct audit_field f[] = { { "name", STR("some text that makes the record longer") } };

	return audit_event(a, AUDIT_SANDBOX, what, f, 1, e);
}

static inline void put_events(struct audit *a, unsigned n)
{
	struct err e = { 0 };

	for (unsigned i = 0; i < n; i++)
		if (put_event(a, "created", &e) < 0)
			fail_msg("%s", e.msg);
}

static inline void fill_log(const struct spot *p, unsigned n)
{
	_cleanup_(audit_closep) struct audit *a = open_log(p, 0);

	put_events(a, n);
}

static inline struct audit_verdict verify(const struct spot *p)
{
	const struct audit_verify_opts o = { .dir = p->dir };
	struct audit_verdict v;
	struct err e = { 0 };

	if (audit_verify(&o, &v, &e) < 0)
		fail_msg("%s", e.msg);
	return v;
}

static inline void check_whole(const struct spot *p, uint64_t n_records)
{
	struct audit_verdict v = verify(p);

	if (v.n_findings)
		fail_msg("%s:%llu: %s", v.findings[0].file, (unsigned long long)v.findings[0].line,
			 v.findings[0].text);
	assert_int_equal(v.n_records, n_records);
	assert_int_equal(v.last.seq, n_records);
}

static inline bool has_fault(const struct audit_verdict *v, enum audit_fault fault)
{
	for (size_t i = 0; i < v->n_findings && i < AUDIT_FINDINGS_MAX; i++)
		if (v->findings[i].fault == fault)
			return true;
	return false;
}
