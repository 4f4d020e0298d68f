/* SPDX-License-Identifier: Apache-2.0 */
/*
 * May this host path appear in a sandbox? The textual half: absolute, not blocked, not over what we mount ourselves,
 * below the allowed roots. It sees names only; every bind that passes carries check_resolved, and the engine asks
 * again about what the name resolved to.
 */
#pragma once

#include "base/arena.h"
#include "model/decision.h"

struct bind_rules {
	const struct facts *facts;
	const struct settings *s;
	struct strs roots; /* normalised; none = anywhere that is not blocked */
	struct str
		ws_target; /* where the workspace goes in this sandbox; empty = /workspace and /agent alone */
	bool upstream_options; /* OpenClaw's reading: no mode means writable, unknown options are kept */
};

struct bind_view {
	struct str source, target; /* normalised */
	bool writable;
	bool mode_missing; /* neither ro nor rw was written */
	struct str why;    /* for a refusal: what is wrong, without the bind's own text */
};

/* CODE_OK, or the refusal with ret->why. */
enum code bind_check(struct arena *a, const struct bind_rules *rules, const struct bind *b,
		     struct bind_view *ret);

/* The blocked path that `source` (normalised) is, lies in, or would expose; false when none. */
struct bind_block {
	struct str path;
	bool covers; /* source is a parent of it */
};
/*
 * Every path that no bind may show, of the system and of the homes that `f` knows. Policy compares names; whoever can look at
 * files compares those too, because one file can have many names.
 */
struct blocked_path {
	struct str path;
	bool roomy; /* a workspace may lie below it */
};
const struct blocked_path *bind_blocked_paths(struct arena *a, const struct facts *f,
					      size_t *ret_n); /* NULL: no memory */
bool bind_source_blocked(struct arena *a, const struct facts *f, struct str source, struct bind_block *ret);

/* The same for a directory to work in. People do that below /root and ~/.config, but not in a home directory itself. */
bool workspace_blocked(struct arena *a, const struct facts *f, struct str dir, struct bind_block *ret);

/* Whether the host could be changed by who may write there: its programs, and the directories that all of its services share. Of workspaces and binds. */
bool source_is_system(struct str dir, struct bind_block *ret);

/* Names like .ssh, credentials, *.pem anywhere in the path: bind these read-only or not at all. */
bool bind_is_sensitive(struct str source);

/* How a message names the bind: as written in the file, never with a value from the environment in it. */
struct str bind_shown(const struct bind *b);
