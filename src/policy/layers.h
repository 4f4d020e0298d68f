/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenClaw's layers of tool policy, in their order. A tool must survive every one of them; in a layer a deny wins, an
 * empty allow list allows all, and alsoAllow adds to an allow list or a profile but never makes one.
 */
#pragma once

#include "policy/policy_priv.h"

/* The tool as the lists see it. */
struct subject {
	struct str name;   /* what an allow must name */
	struct str also;   /* a second name that a deny may use; empty = none */
	bool also_allowed; /* the second name counts for allow, too */
};

struct layer {
	const char *what;  /* for the record: "tools", "agent", … */
	const char *key;   /* config path of the section */
	struct str part;   /* the entry of a keyed section (provider, group, sender); empty = none */
	const char *field; /* of the allow list */
	struct strs allow; /* empty = all */
	struct strs extra; /* alsoAllow: counts only beside a non-empty allow */
	struct strs deny;
	struct strs always; /* denied whatever is configured */
	struct origin allow_origin, deny_origin;
};

#define LAYERS_MAX 12

/* The layers that are in force for this call; returns how many. */
size_t layers_collect(const struct ctx *x, struct layer out[static LAYERS_MAX]);

enum layer_verdict { LAYER_DENIES = 0, LAYER_LACKS, LAYER_PASSES };
/* `ret_entry`: the entry that denies. */
enum layer_verdict layer_check(enum compat compat, const struct layer *l, const struct subject *s,
			       struct str *ret_entry);

/* Some allow list names the tool otherwise than by a lone '*': an unknown tool exists because of that alone. */
bool layers_name(enum compat compat, const struct layer *layers, size_t n, struct str name);
