/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the writers of the foreign formats share: the tree they build, and the account of what their format can carry.
 */
#pragma once

#include "config/node_priv.h"

enum part {
	PART_RULES = 0,
	PART_RULE_SETTINGS,
	PART_PAIRS,
	PART_TOKENS,
	PART_PER_TOOL,
	PART_AGENTS,
	PART_COUNT_
};

struct foreign {
	const struct config *c;
	const struct show_opts *o;
	struct arena *a;
	struct node *root;
	bool carried[OPT_COUNT_];
	bool carried_part[PART_COUNT_];
	bool narrowed_scope,
		narrowed_access; /* a word that the format does not have became the next stricter one */
};

/* "session" for job and lease; "ro" for overlay and per-tool. */
const char *show_as_scope(struct foreign *x, const struct settings *s);
const char *show_as_access(struct foreign *x, const struct settings *s);

void show_openclaw(struct foreign *x); /* show_openclaw.c */
void show_athena(struct foreign *x);   /* show_others.c and below */
void show_allowlist(struct foreign *x);
void show_openclaw_net(struct foreign *x);
void show_ansible(struct foreign *x);
