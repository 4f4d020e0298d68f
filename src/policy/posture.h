/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a call or a configuration that several stages and the linter ask for. */
#pragma once

#include "policy/policy_priv.h"

/* A person said it, not a profile and not we. */
bool said(const struct settings *s, enum option id);

/* The answer is only printed in upstream's shape: nothing is refused that upstream would have printed. */
bool is_upstream_view(const struct ctx *x);

/* "", "unix:…", 127/8, ::1 and localhost are not reachable from outside; every other address is. */
bool address_is_public(struct str address);

/* The first address served on that is public; empty when there is none. */
struct str public_address(const struct settings *s, enum option *ret_id);

/* The text of an option for a message: as written, when the value holds something from the environment. */
struct str shown(const struct settings *s, enum option id, struct str value);

/* What S1-40 and S1-41 say about setupCommand. */
struct setup_faults {
	bool not_root;      /* it calls a package manager, which needs user 0 */
	bool no_network;    /* and somewhere to fetch from */
	bool readonly_root; /* it writes, and the root file system takes no writes */
};
struct setup_faults setup_check(const struct settings *s);

/* C6, C7 and the alphabet. CODE_OK, or the refusal; *ret is the name to use ("none" for an empty one). */
enum code network_check(struct str name, bool may_join, struct str *ret);
