/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files, variables and flags -> struct config. Everything that touches a file or the environment on the way
 * is here; what the values mean is policy's business.
 *
 * A configuration is loaded whole or not at all: with one error nothing is returned, and every error has
 * been added to `diags` as "file:line:column: key: what, accepted values".
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/jsonw.h"
#include "model/config.h"
#include "model/diag.h"

struct config_source {
	enum format format;
	bool detect; /* find the format from name and content */
	struct str path;
	struct origin origin; /* the flag, or the import line */
	bool discovered;      /* nobody named it: it lay in the current directory */
};

/* An option of the command line that says what a key says: what is wrong with it is told by the flag's name. */
struct config_flag {
	const char *flag; /* with its dashes */
	const char *key;
	struct str value;
};

struct config_input {
	const struct config_source *files; /* -c, in order */
	size_t n_files;
	struct strs sets;                /* -e, in order: k=v or {json} */
	const struct config_flag *flags; /* after them */
	size_t n_flags;
	struct str profile; /* --profile; empty = not said */
	struct str compat;  /* --compat; empty = not said */
	char *const
		*environ; /* for ${NAME}, OpenClaw__Sandbox__…, OPENCLAW_STATE_DIR; tests pass their own */
	struct str home;
	bool no_default_file; /* do not look for ~/.openclaw/creel.json5 and .athena/settings.yaml */
	struct str cwd;
};

/* 0 = loaded (there may be warnings in `diags`). Negative: *e is the first error, all of them are in `diags`. */
int config_load(const struct config_input *in, struct arena *a, struct diags *diags, struct config *ret,
		struct err *e);

/*
 * `from`, which stays as it is and outlives *ret, with flags over it as if it had been loaded with them. Their keys are those of options: nothing
 * that is a part of a list of agents, rules or tokens.
 */
int config_add_flags(const struct config *from, const struct config_flag *flags, size_t n, struct arena *a,
		     struct diags *diags, struct config *ret, struct err *e);

/* "FORMAT:FILE" or a plain file name. -EINVAL-like negative with *e set for an unknown FORMAT. */
int config_source_parse(struct str arg, struct config_source *ret, struct err *e);

enum show_as { SHOW_CREEL = 0, SHOW_OPENCLAW, SHOW_ATHENA, SHOW_ALLOWLIST, SHOW_OPENCLAW_NET, SHOW_ANSIBLE };
struct show_opts {
	bool origin; /* every value with its source */
	bool all;    /* defaults too, not only what was set */
	bool reveal; /* literal secrets as they are: only for `config import --write` */
	bool json;   /* strict JSON instead of JSON5 */
};
/* Canonical text; parses back to an equal config. */
void config_show(const struct config *c, const struct show_opts *o, struct buf *out);
/*
 * In another format's shape, e.g. the agents.defaults.sandbox block of openclaw.json. 0 = written; then *e has no kind,
 * and its message, when there is one, tells what that format cannot say.
 */
int config_show_as(const struct config *c, enum format as, const struct show_opts *o, struct buf *out,
		   struct err *e);

bool config_equal(const struct config *a, const struct config *b); /* values, not origins */

/* From the one table. */
void config_schema(struct jsonw *w);    /* JSON Schema of creel.json5 */
void config_man_table(struct buf *out); /* scdoc rows for creel.json5(5) */
void config_keys(struct buf *out);      /* one key per line, for completions */
