/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the OpenClaw reader share. The order is upstream's: includes are put in, variables are
 * put in, `agents.list` becomes `agents.entries`, then the shape of everything is checked, then what creel
 * knows is taken over. Nothing is taken over from a file that has one error.
 *
 * Two strictnesses. Under compat a file is refused exactly when OpenClaw 2026.9.6 refuses it. In documents
 * mode the parts that creel reads are as strict, but names of older releases and of the fork with the two
 * networks are understood, and what belongs to other parts of OpenClaw is left alone: its shape changes with
 * every release.
 */
#pragma once

#include "config/config_priv.h"

/* A variable of env.vars, which counts when the environment has none of that name. */
struct oc_var {
	struct str name, value;
};

/* Which file a value came from, for values that did not come from the main one. */
struct oc_place {
	const struct value *v;
	size_t file;
};

struct oc {
	struct load *l;
	bool compat;
	struct str *files; /* [0] is the main file */
	size_t n_files, cap_files;
	struct oc_place *places; /* sorted by v */
	size_t n_places, cap_places;
	const struct value *from_list; /* agents.entries, when it was made of agents.list */
	struct oc_var *vars;
	size_t n_vars, cap_vars;
	const struct value *plugins; /* of the file; NULL: none */
	bool plugins_missing;        /* some lie where nothing is: what only they know is not asked for */
};

/* The way to a value, kept on the stack: most values are fine, and their names are never needed. */
struct trail {
	const struct trail *up; /* NULL: the root, which has no name */
	struct str key;         /* p is NULL: an element of an array, by index */
	size_t index;
};

/* For a message or an origin: the dotted name, and the file that `v` stands in. */
struct at oc_at(struct oc *o, const struct trail *t, const struct value *v);
void oc_bad(struct oc *o, const struct trail *t, const struct value *v, const char *code, const char *fmt,
	    ...) __attribute__((format(printf, 5, 6)));
void oc_warn(struct oc *o, const struct trail *t, const struct value *v, const char *code, const char *fmt,
	     ...) __attribute__((format(printf, 5, 6)));

/* openclaw_include.c: replaces every {$include: ...} in the tree. False after an error. */
bool oc_include(struct oc *o, struct value *root);
/* Drops members named __proto__ at any depth, as JavaScript's parsers in effect do. */
void oc_drop_proto(struct value *v);

/* A value was copied: the copy stands in the same file. */
void oc_moved(struct oc *o, const struct value *from, const struct value *to);

/* openclaw_path.c: texts and paths, as JavaScript has them. */
struct str oc_trim(struct str s); /* Unicode's blanks too: "\u00a0host" is "host" upstream */
struct str oc_path_normal(struct arena *a, struct str path); /* no ".", "..", "//", trailing "/" */
struct str oc_path_join(struct arena *a, struct str dir, struct str path);
struct str oc_path_dir(struct str path);              /* "." when there is none */
bool oc_path_within(struct str path, struct str dir); /* equal or below; both normal */
bool oc_path_is_tilde(struct str path);               /* "~", "~/x", "~\x" */
struct str oc_path_tilde(struct arena *a, struct str path, struct str home);
struct str oc_path_resolve(struct oc *o,
			   struct str path); /* absolute against the current directory, normal */
/* Trimmed, with the home directory in the place of "~", absolute, normal. */
struct str oc_path_expand(struct oc *o, struct str path);

/* openclaw_dirs.c: what variables say about OpenClaw's own directories. */
struct str oc_home(struct oc *o);
/* Whether env.vars has OpenClaw read another file the second time, and which. */
bool oc_is_moved(struct oc *o, struct str *ret);
void oc_dirs(struct oc *o, const struct value *root);

/*
 * openclaw_vars.c: ${NAME} in string values. Never fails: a missing variable stays as written, with a
 * warning.
 */
void oc_vars(struct oc *o, struct value *root);
/* Whether env.vars may make upstream's second reading differ from its first: one refers to another, or moves files. */
bool oc_vars_nest(struct oc *o, const struct value *root);
/* Takes those of a tree that is filled in. */
void oc_vars_collect(struct oc *o, const struct value *root);
/* The value behind a name: the environment, else env.vars. */
bool oc_getenv(const struct oc *o, struct str name, struct str *ret);
/* As oc_vars() does for one text. */
struct str oc_expand(struct oc *o, struct str text);

/* openclaw_agents.c: agents.list becomes agents.entries; who owns what is nobody's in particular. */
void oc_roster(struct oc *o, struct value *root);
void oc_check_roster(struct oc *o, const struct value *root);
struct str oc_agent_id(struct arena *a, struct str id); /* normalised */
struct str oc_marked_agent(struct oc *o,
			   const struct value *root); /* the one with 'default: true'; or empty */
/* The agent that calls without a name are for; empty when there is none. */
struct str oc_default_agent(struct oc *o, const struct value *root);

/* openclaw_schema.c */
void oc_check(struct oc *o, const struct value *root);
bool oc_is_plugin_named(const struct oc *o, struct str name); /* in plugins.entries or plugins.allow */
/* openclaw_cross.c: what one value says about another far away. */
void oc_check_cross(struct oc *o, const struct value *root);
/* openclaw_map.c, openclaw_map_tools.c */
void oc_map(struct oc *o, const struct value *root);
void oc_map_tools(struct oc *o, struct settings *s, const struct value *tools, const struct trail *t);
struct value oc_with_names(struct oc *o, const struct value *v, const struct trail *up);
struct str oc_number_text(struct oc *o, const struct value *v); /* as JavaScript writes it */
void oc_map_channels(struct oc *o, const struct value *channels, const struct trail *t);
