/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stations of one load: files are found, read and parsed into a flat list in order of precedence; the profile is
 * chosen; then every source is applied, then the flags.
 */
#pragma once

#include "config/config_priv.h"

#include <sys/stat.h>

#define CONFIG_FILE_MAX ((size_t)8 << 20)
#define IMPORT_DEPTH_MAX 8
#define IMPORT_COUNT_MAX 256

/* One file, read and parsed. */
struct source {
	enum format format;
	struct value *root;
	struct str path;
	struct origin origin;
	bool discovered;
};

struct sources {
	struct source *v;
	size_t n, cap;
	size_t n_read; /* files that were opened, whether they took part or not */
};

/* file.c. *ret_st tells which file it was. */
bool load_text(struct load *l, struct str path, const struct origin *asked_by, struct str *ret,
	       struct stat *ret_st);
/* The same of a file that nobody named: `name`, without leaving `dir` by any link; `path` is how it is called. */
bool load_found(struct load *l, struct str dir, struct str name, struct str path, struct str *ret,
		struct stat *ret_st);
struct value *load_parse(struct load *l, struct str path, struct str text, enum format format);
bool load_exists(struct load *l, struct str path);

/* detect.c. False after adding an error. */
bool load_detect(struct load *l, struct str path, struct str text, enum format *ret, struct value **ret_root);
bool format_parse(struct str word, enum format *ret); /* aliases too */
bool format_is_yaml(enum format f);

/* gather.c: the files of the input, or the default ones, with what they import, lowest precedence first. */
void load_gather(struct load *l, struct sources *ret);
/* One entry of import[]; false after adding an error. */
bool read_import(struct load *l, const struct value *v, const struct at *at, struct str importing_file,
		 struct config_source *ret);

/* table.c, sets.c: defaults as the table has them. */
void load_defaults(struct load *l);

/* profiles.c */
void profile_apply(struct load *l, enum profile_id id, bool own_only);
enum profile_id profile_of_format(enum format f);

/* sets.c */
void load_set_arg(struct load *l, struct str arg);                /* one -e */
void load_set_flag(struct load *l, const struct config_flag *f);  /* a flag that stands for a key */
bool sets_peek(struct load *l, const char *key, struct str *ret); /* the last -e of that key */
bool sets_name_ansible(struct load *l);                           /* some -e is one of S3's variables */
/* key=value, or a member of -e '{json}'; also how profiles are written. */
void load_set_key(struct load *l, struct str key, const struct value *v, const struct origin *o,
		  bool from_text);

/* read_creel.c */
bool read_creel_member(struct load *l, const struct member *m, const struct at *at);
void read_per_tool(struct load *l, const struct value *v, const struct at *at);
bool read_per_tool_field(struct load *l, struct str tool, const struct member *m, const struct at *at,
			 bool from_text);
/* Every option of `obj` into `s`; only those with `need` in their flags, unless it is 0. */
void read_options(struct load *l, struct settings *s, unsigned need, const struct value *obj,
		  const struct at *at, struct str path);
/* read_rules.c */
void read_rules(struct load *l, const struct value *v, const struct at *at);
/* read_identity.c */
void read_pairs(struct load *l, const struct value *v, const struct at *at);
void read_tokens(struct load *l, const struct value *v, const struct at *at);
void read_agents(struct load *l, const struct value *v, const struct at *at);
