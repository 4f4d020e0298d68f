/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the readers share: the load in progress, the option table, and the functions that put a checked
 * value into the config. A reader walks its own format's tree and calls these; it never stores by hand.
 */
#pragma once

#include "config/config.h"
#include "data/value.h"

enum option_type {
	TYPE_BOOL = 0,
	TYPE_U64,
	TYPE_NUM,
	TYPE_SIZE,
	TYPE_ENUM,
	TYPE_STR,
	TYPE_LIST,
	TYPE_MAP,
	TYPE_ENV,
	TYPE_BINDS,
	TYPE_LAYERS,
	TYPE_LISTMAP,
	TYPE_REF,
};

struct option_info {
	const char *key;
	enum option_type type;
	size_t offset; /* in struct settings */
	unsigned flags;
	const char *def;
	double min, max;
	const struct enum_name *names;
	const char *help;
};
const struct option_info *option_info(enum option id);
bool option_find(struct str key, enum option *ret); /* exact dotted key */

/* One load in progress. */
struct load {
	const struct config_input *in;
	struct arena *a;
	struct diags *diags;
	struct config *c; /* being built */
	unsigned depth;   /* of imports and includes */
};

/* A place in one file, while walking it. */
struct at {
	struct str file;
	struct str key; /* dotted path in the file's own words, e.g. "agents.defaults.sandbox.mode" */
};

struct origin origin_of(const struct at *at,
			const struct value *v); /* ORIGIN_FILE with v's line:column (and raw if from_env) */
struct at at_key(struct load *l, const struct at *at, struct str key);
struct at at_index(struct load *l, const struct at *at, size_t i);

/* Adds an error at `v`. Text of from_env values must not be part of it: use value_quote(). */
void bad(struct load *l, const struct at *at, const struct value *v, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* How a message names the offending value: 'text' (cut at 64), a number, "an object"; for from_env values the raw text. */
struct str value_quote(struct load *l, const struct value *v);
/* "unknown key 'x'", with "did you mean 'y'?" out of `known`; at the member's own position. */
void bad_key(struct load *l, const struct at *at, const struct member *m, const char *const *known);

/*
 * Checks type and range by the table, stores, sets has[] and origin[]. False after adding an error.
 * `v` may be of the option's JSON type; a string is also taken where `-e key=value` text is (numbers, bools, lists
 * split at commas) when from_text.
 */
bool load_set(struct load *l, struct settings *s, enum option id, const struct value *v, const struct at *at,
	      bool from_text);
/* Stores a value that a reader made itself (already checked by it). */
bool load_set_str(struct load *l, struct settings *s, enum option id, struct str text,
		  const struct origin *o);
bool load_set_enum(struct load *l, struct settings *s, enum option id, int value, const struct origin *o);
bool load_set_bool(struct load *l, struct settings *s, enum option id, bool value, const struct origin *o);
bool load_set_u64(struct load *l, struct settings *s, enum option id, uint64_t value, const struct origin *o);
bool load_set_list(struct load *l, struct settings *s, enum option id, struct strs list,
		   const struct origin *o);
bool load_set_binds(struct load *l, struct settings *s, enum option id, const struct value *v,
		    const struct at *at);
/* name -> string object; ${NAME} values become ENV_SECRET. Checks names (portable) and values (no CR, LF, NUL). */
bool load_set_env(struct load *l, struct settings *s, enum option id, const struct value *v,
		  const struct at *at);

/* Arrays of the config that grow while it is read. NULL on memory failure (added as an error). */
struct agent *load_agent(struct load *l, struct str normalised_id,
			 const struct origin *o); /* finds or adds, with its `over` */
struct trust_rule *load_add_rule(struct load *l);
struct pair *load_add_pair(struct load *l);
struct token *load_add_token(struct load *l);
struct tool_setting *load_per_tool(struct load *l, struct str tool,
				   const struct origin *o); /* finds or adds */

/* bind.c: "host:target[:options]" with the Windows drive letter rule. False when blank. */
bool bind_parse(struct str text, struct bind *ret);

/* getenv() on the input's environ; an empty value counts as unset. */
bool load_getenv(const struct load *l, struct str name, struct str *ret);

/* Readers. Each takes its own file's tree; errors are in l->diags. */
void read_creel(struct load *l, const struct value *root, struct str file);  /* read_creel.c */
void read_athena(struct load *l, const struct value *root, struct str file); /* read_athena.c */
void read_openclaw(struct load *l, struct value *root,
		   struct str file); /* openclaw*.c: includes, variables, schema */
void read_allowlist(struct load *l, const struct value *root, struct str file);    /* read_allowlist.c */
void read_openclaw_net(struct load *l, const struct value *root, struct str file); /* read_openclaw_net.c */
void read_openclaw_net_env(struct load *l); /* OpenClaw__Sandbox__… variables */
void read_ansible(struct load *l, const struct value *root, struct str file); /* read_ansible.c */
void read_ansible_var(struct load *l, struct str name, const struct value *v, const struct origin *o,
		      bool from_text);

/* Reads and parses a file: regular, bounded, JSON5 or YAML by format. NULL after adding an error. */
struct value *load_file(struct load *l, struct str path, bool yaml, const struct origin *asked_by);
