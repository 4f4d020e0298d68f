/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allow and deny lists of a trust rule. Their words are S0's (secrets, external_api, git_push, git, bash, read,
 * edit, write, search, browser, network), tool names, globs and group:*. They only take away: from the capabilities of
 * the mode, and from the tools that may be asked for.
 */
#pragma once

#include "policy/policy_priv.h"

/* The capabilities that the rule leaves of `caps`. */
unsigned rule_caps(enum compat compat, const struct trust_rule *rule, unsigned caps);

/* Whether the rule leaves the tool; `ret_entry` is the deny entry that took it, empty when it is not in allow. */
bool rule_leaves_tool(enum compat compat, const struct trust_rule *rule, struct str canonical,
		      struct str *ret_entry);

/* deny: [git_push] */
bool rule_denies_push(const struct trust_rule *rule);
