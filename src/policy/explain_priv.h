/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the printers share. They read the decision and nothing else, and they never show a value that came from the
 * environment: its text as written stands in for it.
 */
#pragma once

#include "policy/policy_priv.h"

/* The last reason of that stage about `what`; NULL when none was recorded. */
const struct reason *explain_reason(const struct decision *d, enum stage s, const char *what);

/* The stage was reached, so what it decided may be shown. */
static inline bool explain_reached(const struct decision *d, enum stage s)
{
	return d->verdict != VERDICT_DENY || s <= d->stopped_at;
}

/* Host side of a mount as it may be shown. */
struct str explain_host(const struct mount *m);
/* An option's value as it may be shown. */
struct str explain_value(const struct decision *d, enum option id, struct str value);
/* The network's name as it may be shown. */
struct str explain_network(const struct decision *d);

/* The access that the workspace was given, which need not be the configured one (tier 1, C10). */
const char *explain_workspace(const struct decision *d);

/* "fs.read,fs.write", "none" */
void explain_caps(struct buf *out, unsigned caps);
void explain_list(struct buf *out, struct strs list, const char *separator);

static inline const char *explain_bool(bool b)
{
	return b ? "yes" : "no";
}
