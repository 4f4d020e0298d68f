/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may be started: S2's rules for tier-1 calls (a list of words, no shell, few programs, curl to internal hosts
 * only), and the same checks where tools.exec.shells or tools.exec.programs ask for them.
 */
#pragma once

#include "policy/policy_priv.h"

/* file_read, file_write and shell_exec, and nothing else. */
bool tier1_tool_allowed(const struct ctx *x, struct str canonical);

/* Checks d->tool.argv; denies with shell_denied, binary_denied, invalid_cmd, or one of curl's. */
bool command_allowed(struct ctx *x);

/* Where the URL leads: its host and port, and the address that network.internal.hosts has for them (n = 0: none). False when it is no such host's. */
bool tier1_url_dest(const struct settings *s, struct str url, struct dest *ret);
