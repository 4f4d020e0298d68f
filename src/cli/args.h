/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines described by tables. One table per command says what there is; parsing, --help, the shell
 * completions and the OPTIONS part of the manual all read that table, so they cannot disagree.
 *
 * Takes: --name value, --name=value, -x value, -xvalue, clusters of flags (-qv), "--". Options that every command
 * has may stand before and after the command word. Refuses: abbreviations, unknown names (with the nearest one),
 * a value for a flag, an option given twice (unless it is a list or a flag), two options that exclude each other.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "model/names.h"

enum arg_kind {
	ARG_FLAG = 0, /* bool */
	ARG_TEXT,     /* struct arg_value */
	ARG_LIST,     /* struct arg_list; repeatable */
	ARG_NUMBER,   /* struct arg_value with number */
	ARG_OPTIONAL, /* struct arg_value; a value only as --name=value */
};

/* What a shell offers after the option. */
enum arg_hint {
	HINT_NONE = 0,
	HINT_FILE,
	HINT_DIR,
	HINT_CONFIG,
	HINT_KEY,
	HINT_TOOL,
	HINT_SANDBOX,
	HINT_TOKEN,
	HINT_APPROVAL,
	HINT_COMMAND, /* one of creel's own */
};

struct arg_value {
	bool has;
	struct str text;
	int value;       /* from `names` */
	uint64_t number; /* ARG_NUMBER */
};

struct arg_list {
	struct str *v;
	size_t n, cap;
};

struct arg_option {
	const char *name; /* without the dashes */
	const char *meta; /* NULL for a flag */
	const char *help;
	const struct enum_name *names; /* accepted words; NULL = any text */
	size_t at;                     /* offset of the value in what args_parse() fills */
	enum arg_kind kind;
	enum arg_hint hint;
	unsigned exclude;  /* options with the same number other than 0 exclude each other */
	char letter;       /* 0 = none */
	bool hidden_names; /* do not list the words in the help text */
};

struct arg_options {
	const struct arg_option *v;
	size_t n;
};

/* A word that is not an option. */
struct arg_word {
	const char *name;
	const struct enum_name *names;
	enum arg_hint hint;
	bool optional;
	bool many; /* the last one alone: any number of them */
};

/* What people type who know other programs; not a command, but it is clear what they want. */
struct arg_guess {
	const char *word, *instead; /* NULL ends the list */
};

struct cli;

#define COMMAND_MAX_DEPTH 3
struct command {
	const char *name;
	const char *summary;  /* one line, for the list of commands */
	const char *usage;    /* what stands behind the options in the usage line; NULL = nothing */
	const char *about;    /* paragraphs, for --help and the manual */
	const char *examples; /* lines "command\twhat it does" */
	struct arg_options options;
	const struct arg_word *words;
	size_t n_words;
	bool takes_command; /* everything after "--" is a command line */
	bool bare_command;  /* so is everything from the first word that is not an option on */
	bool reads_config;  /* its one subject is the configuration: a word is most likely a file */
	bool helps;         /* it has help of its own for what its first word names */
	bool hidden;
	const struct arg_guess *guesses; /* for words that are none of subs; NULL = none */
	const struct arg_guess *habits;  /* options of other programs, and what to do here; NULL = none */
	const struct command *subs;
	size_t n_subs;
	int (*run)(struct cli *cli, struct err *e); /* the exit status, or negative with *e */
};

/* Where the parser leaves what is not an option. */
struct args {
	const struct command *path[COMMAND_MAX_DEPTH]; /* path[0] is the program */
	size_t n_path;
	struct arg_list words;
	struct strs rest; /* after "--" */
	bool has_rest;
};

static inline const struct command *args_command(const struct args *a)
{
	return a->path[a->n_path - 1];
}

/*
 * Fills `values` (by the options' offsets) and *ret. Missing words and missing sub-commands are not errors here:
 * --help may stand beside them; see args_check_words().
 */
int args_parse(const struct command *program, struct strs argv, struct arena *a, void *values,
	       struct args *ret, struct err *e);

/* The words that the command needs are all there and of its vocabulary. */
int args_check_words(const struct args *args, struct err *e);

/* "creel config show" into `out` */
void args_path_put(struct buf *out, const struct args *args);

/* Finds by "name" in one table. */
const struct arg_option *arg_option_find(const struct arg_options *o, struct str name);
const struct command *command_find(const struct command *parent, struct str name);
/* The one whose name is nearly that; NULL = none. */
const char *command_near(const struct command *parent, struct str word);

/* Every command of a tree, each before those below it: { .path = { root } } and then command_next() until false. */
struct command_walk {
	const struct command *path[COMMAND_MAX_DEPTH];
	size_t next[COMMAND_MAX_DEPTH]; /* the sub-command of path[i] that comes next */
	size_t n;
};
bool command_next(struct command_walk *w);

static inline const struct command *command_at(const struct command_walk *w)
{
	return w->path[w->n - 1];
}

static inline void *arg_at(void *values, const struct arg_option *o)
{
	return (char *)values + o->at;
}
