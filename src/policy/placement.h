/* SPDX-License-Identifier: Apache-2.0 */
/* What placement's two files share: who asks for a sandbox and how firmly, and the choice among backends. */
#pragma once

#include "policy/policy_priv.h"

struct demand {
	bool wanted;                    /* a sandbox is asked for */
	bool isolation;                 /* by an axis other than S4's: never back to the host (C8) */
	bool lone_s4;                   /* only OpenClaw.NET's file was read: its rules to the letter */
	enum enforce enforce;           /* as it will be carried out */
	const struct tool_setting *per; /* tools.per.<tool>; NULL = none */
	const struct origin *origin;
	const char *why;
};
struct demand demand_of(struct ctx *x);

/* The tool that placement asks about: git is an exec. */
struct str placement_tool(const struct ctx *x);

/* The name for output: as configured, else what will be used. */
struct str placement_backend_name(struct ctx *x);

/*
 * Fills place, backend, available, may_fall_back. False: none can be had, and either the call was refused (*ret_refused)
 * or C8 lets it run on the host.
 */
bool placement_pick(struct ctx *x, const struct demand *d, bool *ret_refused);
