/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What will be printed, as a small tree: built once from the config, then written as JSON5, strict JSON or YAML.
 */
#pragma once

#include "config/config_priv.h"

enum node_kind {
	NODE_TEXT = 0, /* `text` is JSON already: a string, number, word or a whole list */
	NODE_OBJ,
	NODE_ARR,
};

struct node {
	struct str key; /* of a member of an object */
	enum node_kind kind;
	struct str text;
	const struct origin *origin; /* NULL: nothing to say */
	struct node *first, *last, *next;
};

/* All of these give a node that can be written to even when memory ran out; check arena->failed. */
struct node *node_new(struct arena *a, enum node_kind kind);
struct node *node_add(struct arena *a, struct node *parent, struct str key, enum node_kind kind);
/* "a.b.c" below `root`; the objects on the way are made when they are not there. */
struct node *node_at(struct arena *a, struct node *root, const char *dotted, enum node_kind kind);

void node_str(struct arena *a, struct node *n, struct str s);
void node_z(struct arena *a, struct node *n, const char *s);
void node_u64(struct arena *a, struct node *n, uint64_t v);
void node_num(struct arena *a, struct node *n, double v);
void node_bool(struct node *n, bool v);
void node_strs(struct arena *a, struct node *n, struct strs list); /* n becomes an array */

/* print.c */
void print_json5(struct buf *out, const struct node *root, bool with_origin);
void print_json(struct buf *out, const struct node *root,
		bool with_origin); /* {"value":…,"origin":…} per value */
void print_yaml(struct buf *out, const struct node *root);

/* show_value.c: one option of `s` as it is written in the canonical file. */
void node_option(struct arena *a, struct node *n, const struct settings *s, enum option id, bool reveal);
void node_ref(struct arena *a, struct node *n, const struct secret_ref *ref, bool reveal);
void node_env(struct arena *a, struct node *n, const struct env_vars *env, bool reveal);

/* show.c */
bool show_is_said(const struct config *c,
		  enum option id); /* by a file or flag, or by a profile that has no name here */
