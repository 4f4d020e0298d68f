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
	const char *key, *def, *help;
	const struct enum_name *names;
	double min, max;
	size_t offset; /* in struct settings */
	enum option_type type;
	unsigned flags;
};
const struct option_info *option_info(enum option id);
bool option_find(struct str key, enum option *ret); /* exact dotted key */
void *option_field(struct settings *s, enum option id);
const void *option_value(const struct settings *s, enum option id);
bool option_is_deny(enum option id); /* a deny list: what several sources say adds up */

struct ansible; /* ansible_priv.h */

/* One load in progress. */
struct load {
	const struct config_input *in;
	struct arena *a;
	struct diags *diags;
	struct config *c;        /* being built */
	unsigned depth;          /* of imports and includes */
	struct ansible *ansible; /* S3's variables so far; NULL before the first one */
	size_t cap_agents, cap_rules, cap_pairs, cap_tokens, cap_per_tool, cap_imports, cap_env_used;
	bool too_many_agents; /* said already */
};

/* A place in one file, while walking it. */
struct at {
	struct str file;
	struct str key; /* dotted path in the file's own words, e.g. "agents.defaults.sandbox.mode" */
	const struct origin
		*from; /* not a file: every value below comes from here (a flag, a variable, a profile) */
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
 * split at commas) when from_text. null is "not said" where the default is no value, and else an error.
 *
 * What an earlier source said is replaced, except: deny lists add up, and maps (env, limits by name, layers,
 * senders by channel) are merged by their keys. A built-in default is always replaced as a whole.
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
bool load_set_ref(struct load *l, struct settings *s, enum option id, struct secret_ref ref,
		  const struct origin *o);
/* `first`, then what `more` adds to it, no name twice. */
struct strs load_unite(struct load *l, struct strs first, struct strs more);
/* "env:NAME" or "raw:VALUE". False for anything else. */
bool load_parse_ref(struct str text, struct secret_ref *ret);
bool load_set_binds(struct load *l, struct settings *s, enum option id, const struct value *v,
		    const struct at *at);
/*
 * name -> string object. Checks names (portable) and values (no CR, LF, NUL). A value with ${NAME} in it, or one that
 * is from_env, becomes ENV_SECRET with the text as written; $${NAME} in a literal is unescaped to ${NAME}.
 */
bool load_set_env(struct load *l, struct settings *s, enum option id, const struct value *v,
		  const struct at *at);

/*
 * Arrays of the config that grow while it is read. NULL on memory failure (added as an error). A pointer is good
 * until the next one of its kind is added.
 */
struct agent *load_agent(struct load *l, struct str normalised_id,
			 const struct origin *o); /* finds or adds, with its `over` */
struct trust_rule *load_add_rule(struct load *l);
struct pair *load_add_pair(struct load *l);
struct token *load_add_token(struct load *l);
struct import *load_add_import(struct load *l);
/* Remembers a variable that was put into a value, so that no printer shows it. */
void load_env_used(struct load *l, struct str name, struct str value);
struct tool_setting *load_per_tool(struct load *l, struct str tool,
				   const struct origin *o); /* finds or adds */

/* Trimmed, lower-case, aliases resolved ("shell" -> "exec"): the name under which tools.per is kept. */
struct str load_tool_name(struct load *l, struct str name);

/* Names whose values are not shown: TOKEN, SECRET, PASSWORD, API_KEY and their like. */
bool secret_name(struct str name);

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

/*
 * Reads and parses a file: regular, bounded, JSON5 (of equal keys the last one counts, as JavaScript has it) or YAML.
 * `path` is used as it is. NULL after adding an error, at `asked_by` when the file itself cannot be read.
 */
struct value *load_file(struct load *l, struct str path, bool yaml, const struct origin *asked_by);
