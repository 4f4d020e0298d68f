/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between a decision and a sandbox: what both `creel run` and the engine have to find out about this host before walls can be built, and the
 * questions that are asked about it. Computes no permission of its own: it asks policy again about names that were resolved.
 *
 * Uses no library but the C library: the program that starts fastest has it, too.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "model/config.h"
#include "model/decision.h"
#include "sandbox/cgroup.h"
#include "sandbox/profile.h"

/* ---- facts.c: what decide() may know about the world ---- */

/* The value of a variable, NULL when it is unset or empty. */
const char *environ_get(char *const *vars, const char *name);
/* The same variables with OPENCLAW_STATE_DIR as said: for readers of a configuration the flag is the variable. */
char *const *environ_with_state_dir(struct arena *a, char *const *vars, struct str dir);

struct facts_input {
	char *const *environ;
	struct str state_dir; /* as said; empty = not said */
	struct str home, cwd; /* empty = of this process */
};
/* Only native is supposed to work; everything is borrowed or lies in the arena. */
int facts_find(const struct facts_input *in, struct arena *a, struct facts *ret, struct err *e);

/* What the configuration adds to them. */
void facts_take(const struct config *c, struct facts *f);

/* Those of the decision's ask_dirs that exist: directories, not links to one, that stay inside when links are followed. */
struct strs facts_dirs(struct arena *a, const struct decision *d);

/* ---- state.c: where creel keeps what is its own ---- */

/* What was said (--state-dir), $XDG_STATE_HOME/creel or ~/.local/state/creel; for root /var/lib/creel, because the sandbox is
 * another user then and could not pass through /root. */
struct state_dir {
	struct str said; /* empty = not */
	struct str home;
	char *const *environ;
};
/* <state>/<kind>/<name> */
int state_path(const struct state_dir *s, const char *kind, const char *name, char *out, size_t size,
	       struct err *e);
/*
 * <state>/<kind>, made when it is missing, opened and seen to be ours alone, with nobody else's above it; the path of <name> in it, without any
 * link, is left in `out`.
 */
int state_open(const struct state_dir *s, const char *kind, const char *name, char *out, size_t size,
	       struct err *e);

/*
 * In live/, what nobody has locked any more was left by a creel and a warden that were killed together: it is removed. Looks at so many names at most;
 * a thousand that live must not slow down the next.
 */
void state_sweep(int live, unsigned max);

/* A directory that is ours with mode 0700, made when only its last part is missing, with nobody else's above it; its path without any link. */
int state_private(const char *path, char *out, size_t size, struct err *e);

/*
 * The directory of the audit log: that of audit.path where the configuration says one, else <state>/audit. With `make` the state directory is
 * made and looked at as state_open() does; the log's own directory never is.
 */
#define STATE_AUDIT_FILE "audit.jsonl"
int state_audit(const struct state_dir *s, const struct config *c, bool make, char *out, size_t size,
		struct err *e);

/*
 * Where a socket of that name lies in the runtime directory: /run/creel for root, $XDG_RUNTIME_DIR/creel for anybody else, and <state>/run where a state directory was
 * named (whoever names one has services of his own) or there is nothing else. Nothing is made and nothing looked at.
 */
int state_run_path(const struct state_dir *s, const char *name, char *out, size_t size, struct err *e);

/* ---- blocked.c: may this resolved path be seen inside? ---- */

struct known_path;
struct source_rules {
	struct arena *arena;
	const struct facts *facts;
	struct known_path *
		known; /* where names led that were asked about before; NULL at first, and for one sandbox only */
};
/* As struct profile_input wants it, with a struct source_rules as its ctx: policy is asked about the name, and then the files themselves are compared. */
bool source_allowed(void *rules, struct str resolved, enum source_use use, struct str *ret_why);

/* state.c: whether something of it is an overlay, whose upper layer lies in the state directory. */
bool wants_layers(const struct decision *d);

/* ---- gituser.c: who commits ---- */

#define GIT_USER_MAX 256u /* bytes of one value */
struct git_user {
	struct str name, email; /* UTF-8 without control characters; empty = none */
};
/* user.name and user.email of a file as git reads it, without what it includes; the last ones count, also over those that are there already. */
void git_user_parse(struct arena *a, struct str text, struct git_user *u);
/* A file for git with these two alone; empty when there are none. */
struct str git_user_text(struct arena *a, const struct git_user *u);
/*
 * Both out of the files where git itself looks for what is the user's own: ~/.config/git/config ($XDG_CONFIG_HOME) and ~/.gitconfig, or
 * $GIT_CONFIG_GLOBAL instead. A file that is not there or larger than 64 KiB says nothing.
 */
struct git_user git_user_find(struct arena *a, struct str home, char *const *vars);

/* ---- gitdir.c: where the repository is ---- */

#define GIT_FATAL 128 /* what git ends with when it finds none */
/* Why git finds none in this workspace although the user has one, or cannot clone one in it, and what to do; empty = nothing to say. */
struct str git_hint(struct arena *a, const struct decision *d);

/* ---- image.c ---- */

/* The directory that is meant: what has a slash is one, a name is looked for in <state>/images and /var/lib/creel/images. */
int image_find(const struct state_dir *s, struct arena *a, struct str name, struct str *ret, struct err *e);

/* ---- limits.c ---- */

/* What the decision says, and which of it somebody asked for by name; ERR_USAGE when no program could start with it. */
int limits_find(const struct decision *d, struct cgroup_limits *ret, struct err *e);
/*
 * Limits that somebody named, or a refusal; where policy can do without them, the best that the host has. The heir removes the groups if
 * we are killed (sandbox/cgroup.h); NULL = nobody.
 */
int limits_hold_for(const struct cgroup_heir *heir, const struct decision *d, struct cgroup_limits *limits,
		    struct str parent, struct cgroup *ret, struct err *e);

/* ---- network.c ---- */

/* What --net asked for by name (empty = nothing) is had, or the call is refused. */
int network_given(const struct decision *d, struct str asked, struct err *e);
/* A route that was decided and that no sandbox of this build has: the refusal. */
int network_missing(const struct decision *d, struct err *e);

/* ---- redact.c ---- */

#define REDACT_MAX ((size_t)64 << 20)
/*
 * Values from the environment become ${NAME}. OpenClaw prints paths filled in, and its shape is for comparing,
 * so there only variables whose names speak of secrets are hidden.
 */
void redact(struct buf *b, const struct config *c, bool only_secret_names);
