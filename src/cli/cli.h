/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line program: reads arguments, loads the configuration, asks policy, prints. It computes no
 * permission of its own. Results go to standard output, words for people to standard error; the exit status is 0,
 * 125 when creel itself could not do its work, 126 when policy refused.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "cli/args.h"
#include "config/config.h"
#include "model/request.h"

#define EXIT_REFUSED 126
#define EXIT_TROUBLE 125

#define OUTPUT_MAX ((size_t)64 << 20)
#define ARENA_MAX ((size_t)256 << 20)

/* One run of the program. The option tables in commands.c point into it. */
struct cli {
	/* every command */
	struct arg_list config, sets;
	struct arg_value profile, compat, session, agent, sandbox, state_dir;
	bool no_default_config, json, quiet, verbose, help, version;

	/* explain */
	struct arg_value tool, as, via, channel, chat_id, sender, provider, model, timeout, command, backends;
	bool matrix, elevated, allow_weaken;

	/* config */
	struct arg_value show_as, write_to;
	bool strict, origin, all, force;

	/* run */
	struct arg_value workspace, ws_access, net, memory, pids, cpus, disk, output_limit, backend, image,
		report, cgroup_parent;
	struct arg_list env;
	bool tty, plan, no_sandbox;
	int report_dir; /* of the file that --report names; report_check() opens it */

	/* call */
	struct arg_value scope, session_id, user_id, request_id;
	bool list_tools, schema, text, stream;

	/* list, inspect, kill, recreate, prune */
	struct arg_value idle_hours, max_age_days, layers_days;
	bool yes, dry_run;

	/* audit, incident */
	struct arg_value since, last, first_seq, output;
	struct arg_list anchors;
	bool denied;

	/* approvals */
	struct arg_value for_time, reason;

	/* serve */
	struct arg_value log_format;
	bool serve_check;

	/* token */
	struct arg_value pairs, expires, name;
	bool admin, for_runner;

	struct config_flag flags[16]; /* of those above: what they say of the configuration */
	size_t n_flags;

	struct args args;
	struct arena *arena;
	struct buf *out;
	char *const *environ;
	char **argv; /* as it came */
};

/* commands.c: the tables. */
extern const struct command creel_command;
extern const struct arg_guess habits[];       /* habits.c */
extern const struct enum_name format_words[]; /* format_names and the longer words of imports */

int run_run(struct cli *cli, struct err *e);
int run_doctor(struct cli *cli, struct err *e);
int run_explain(struct cli *cli, struct err *e);
int run_config_check(struct cli *cli, struct err *e);
int run_config_show(struct cli *cli, struct err *e);
int run_config_import(struct cli *cli, struct err *e);
int run_config_schema(struct cli *cli, struct err *e);
int run_config_keys(struct cli *cli, struct err *e);
int run_version(struct cli *cli, struct err *e);
int run_serve(struct cli *cli, struct err *e);
/* In creel-session; in creel they start it (away.c). */
int run_call(struct cli *cli, struct err *e);
int run_list(struct cli *cli, struct err *e);
int run_inspect(struct cli *cli, struct err *e);
int run_kill(struct cli *cli, struct err *e);
int run_recreate(struct cli *cli, struct err *e);
int run_prune(struct cli *cli, struct err *e);
int run_incident_export(struct cli *cli, struct err *e);
int run_approvals_list(struct cli *cli, struct err *e);
int run_approvals_show(struct cli *cli, struct err *e);
int run_approvals_allow(struct cli *cli, struct err *e);
int run_approvals_deny(struct cli *cli, struct err *e);
int run_pairing_list(struct cli *cli, struct err *e);
int run_pairing_approve(struct cli *cli, struct err *e);
int run_pairing_add(struct cli *cli, struct err *e);
int run_pairing_revoke(struct cli *cli, struct err *e);
int run_token_new(struct cli *cli, struct err *e);
int run_token_list(struct cli *cli, struct err *e);
int run_token_revoke(struct cli *cli, struct err *e);
int run_audit_show(struct cli *cli, struct err *e);
int run_audit_follow(struct cli *cli, struct err *e);
int run_audit_verify(struct cli *cli, struct err *e);
int run_help(struct cli *cli, struct err *e);
int run_completion(struct cli *cli, struct err *e);
int run_manual(struct cli *cli, struct err *e);

/* OpenClaw's envelope for an error, in place of what was to be printed; nothing unless its shape was asked for. */
void explain_error(struct cli *cli, struct str message);

/* help.c */
void help_put(struct buf *out, const struct args *args);
/* Words of `text` from column `indent` on, broken before column 100. The first line is already indented. */
void help_wrap(struct buf *out, struct str text, size_t indent);
/* "-c, --config FILE" */
void option_put(struct buf *out, const struct arg_option *o, bool with_letter_column);

/* completion*.c */
enum shell { SHELL_BASH = 0, SHELL_ZSH, SHELL_FISH };
extern const struct enum_name shell_names[];
void completion_bash(struct buf *out);
void completion_zsh(struct buf *out);
void completion_fish(struct buf *out);

/* manual.c */
enum manual_part { MANUAL_COMMANDS = 0, MANUAL_OPTIONS, MANUAL_CODES, MANUAL_KEYS };
extern const struct enum_name manual_names[];

/* The text of a call's or a person's question as plain data. Everything is borrowed or lies in cli->arena. */
int input_facts(struct cli *cli, struct facts *ret, struct err *e);
int input_request(const struct cli *cli, struct request *ret, struct err *e);
/* Loads what -c, -e, --profile, --compat and the default files say. On failure the errors are in *diags. */
int input_config(struct cli *cli, struct facts *f, struct diags *diags, struct config *ret, struct err *e);
/* Only this file, for `config import`. */
int input_one_file(struct cli *cli, const struct facts *f, const struct config_source *file,
		   struct diags *diags, struct config *ret, struct err *e);

/* The value of a variable of ours, NULL when it is unset or empty. */
const char *cli_getenv(const struct cli *cli, const char *name);

/* input.c: zero would be no limit, and is not what whoever types it gets */
int timeout_check(const struct cli *cli, struct err *e);

/* report.c: --report FD|FILE */
int report_check(struct cli *cli, struct err *e); /* before anything runs: could it be written? */
int report_write(const struct cli *cli, struct str text, struct err *e);

/* signals.c: SIGPIPE and SIGXFSZ are ignored, and what is executed in our place gets them as we got them. */
void signals_take(void);
void signals_give_back(void);

/* output.c */
/* All of it or an error; a reader that went away (EPIPE) is ERR_SYS with that errno. */
int output_all(int fd, struct str text, struct err *e);
void output_complain(struct str text); /* standard error, as good as it goes */
/* Of our own environment; false when it is not set. */
bool cli_variable(const struct cli *cli, struct str name, struct str *ret);
/* Tells, unless -q, of each --env NAME that has no value here. */
void output_unset(const struct cli *cli, const char *command);
/* Policy names keys, and what a host would need; whoever types a command wants to know what to type. */
struct str output_fix(struct str fix);
/* The diags of that severity and worse, one per line, to standard error; redacted by `c` unless that is NULL. */
void output_diags(const struct diags *d, enum severity least, const struct config *c);
bool output_wants_colour(const struct cli *cli);
/* Only a character set that is named and is another says no: a terminal that does not say reads UTF-8. */
bool output_reads_utf8(const struct cli *cli);
/* A whole new file, mode 0600, in one step: the old or the new, never a part. -EEXIST unless `replace`. */
int output_file(const char *path, struct str text, bool replace, struct err *e);
