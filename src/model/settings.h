/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One value for every option of options.def, whether it was set, and by whom. The same struct
 * holds the base (everything has a value: built-in, profile, files, flags) and what an agent block
 * or a rule overrides (only options with has[] count). Plain data; the strings live in the config's arena.
 *
 * Secrets are never in here: `${NAME}` and `env:NAME` are kept as names, and read where they are used.
 * The one exception is a `raw:` reference, marked so; it must not be printed.
 */
#pragma once

#include "base/str.h"
#include "model/names.h"
#include "model/origin.h"

#include <stdbool.h>
#include <stdint.h>

struct map_entry {
	struct str key, value;
	struct origin origin;
};
struct map {
	const struct map_entry *v;
	size_t n;
};

/* NAME=value for a tool. */
enum env_kind {
	ENV_SECRET = 0, /* the value is, or contains, ${NAME}: template holds the text with its references */
	ENV_LITERAL,
};
struct env_var {
	struct str name;
	enum env_kind kind;
	struct str value; /* ENV_LITERAL: the value. ENV_SECRET: the template, e.g. "${GH_TOKEN}" */
	struct origin origin;
};
struct env_vars {
	const struct env_var *v;
	size_t n;
};

/* host:target[:options] as written, and split. */
struct bind {
	struct str raw, source, target, options; /* target is empty when the text has no second part */
	bool readonly;                           /* some option is "ro" */
	struct origin origin;
};
struct binds {
	const struct bind *v;
	size_t n;
};

/* allow/alsoAllow/deny for whom `match` names (provider, sender, group). */
struct tool_layer {
	struct str match;
	enum tool_profile profile;
	bool has_allow, has_also_allow, has_deny;
	struct strs allow, also_allow, deny;
	struct origin origin;
};
struct tool_layers {
	const struct tool_layer *v;
	size_t n;
};

struct listmap_entry {
	struct str key;
	struct strs values;
	struct origin origin;
};
struct listmap {
	const struct listmap_entry *v;
	size_t n;
};

/* A reference to a secret. */
enum ref_kind { REF_NONE = 0, REF_ENV /* text = variable name */, REF_RAW /* text = the secret itself */ };
struct secret_ref {
	enum ref_kind kind;
	struct str text;
};

#define OPT_C_BOOL bool
#define OPT_C_U64 uint64_t
#define OPT_C_NUM double
#define OPT_C_SIZE uint64_t
#define OPT_C_ENUM int
#define OPT_C_STR struct str
#define OPT_C_LIST struct strs
#define OPT_C_MAP struct map
#define OPT_C_ENV struct env_vars
#define OPT_C_BINDS struct binds
#define OPT_C_LAYERS struct tool_layers
#define OPT_C_LISTMAP struct listmap
#define OPT_C_REF struct secret_ref

enum option {
#define OPT(id, field, type, key, flags, def, min, max, names, help) OPT_##id,
#include "model/options.def"
#undef OPT
	OPT_COUNT_
};

/* In the order of the table, not of the sizes. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct settings {
#define OPT(id, field, type, key, flags, def, min, max, names, help) OPT_C_##type field;
#include "model/options.def"
#undef OPT
	bool has[OPT_COUNT_]; /* said by a profile, file, variable or flag; a built-in default does not count */
	struct origin origin[OPT_COUNT_];
};

enum option_flag {
	F_AGENT = 1 << 0,
	F_CONTAINER = 1 << 1,
	F_ADD = 1 << 2,
	F_SECRET = 1 << 3,
	F_RULE = 1 << 4,
};
