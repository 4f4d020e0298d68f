/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion scripts out of the option tables: bash here, zsh and fish in their own files.
 */
#include "cli/completion_priv.h"

const struct enum_name shell_names[] = {
	{ "bash", SHELL_BASH },
	{ "zsh", SHELL_ZSH },
	{ "fish", SHELL_FISH },
	{ NULL, 0 },
};

void words_put(struct buf *out, const struct enum_name *names, char separator)
{
	for (const struct enum_name *n = names; n->name; n++)
		buf_printf(out, "%.*s%s", n != names, &separator, n->name);
}

/* What creel itself is asked for when the key is pressed. */
const char *hint_command(enum arg_hint hint)
{
	switch (hint) {
	case HINT_TOOL:
		return "creel call --list -q 2>/dev/null";
	case HINT_SANDBOX:
		return "creel list -q 2>/dev/null";
	case HINT_TOKEN:
		return "creel token list -q 2>/dev/null";
	case HINT_APPROVAL:
		return "creel approvals list -q 2>/dev/null";
	case HINT_NONE:
	case HINT_FILE:
	case HINT_DIR:
	case HINT_CONFIG:
	case HINT_KEY:
	case HINT_COMMAND:
	default:
		return NULL;
	}
}

/* ---- bash ---- */

static void bash_path(struct buf *out, const struct command *const *path, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s%s", i ? " " : "", path[i]->name);
}

typedef void bash_part(struct buf *out, const struct command *const *path, size_t n);

/* Calls `part` for every command that people see, the program first. */
static void bash_each(struct buf *out, bash_part *part)
{
	struct command_walk w = { .path = { &creel_command } };

	while (command_next(&w))
		if (!command_at(&w)->hidden)
			part(out, w.path, w.n);
}

/* "creel config show") path="creel config show" ;; */
static void bash_descend(struct buf *out, const struct command *const *path, size_t n)
{
	if (n == 1)
		return;
	buf_puts(out, "\t\t\"");
	bash_path(out, path, n);
	buf_puts(out, "\") path=\"");
	bash_path(out, path, n);
	buf_puts(out, "\" ;;\n");
}

/* ` | "creel explain"*":--tool"` */
static void bash_pattern(struct buf *out, const struct command *const *path, size_t n, const char *name,
			 char letter)
{
	buf_putc(out, '"');
	bash_path(out, path, n);
	buf_printf(out, "\"*\":--%s\"", name);
	if (!letter)
		return;
	buf_puts(out, " | \"");
	bash_path(out, path, n);
	buf_printf(out, "\"*\":-%c\"", letter);
}

/* The options that take the next word. */
static void bash_skip(struct buf *out, const struct command *const *path, size_t n)
{
	const struct arg_options *o = &path[n - 1]->options;

	for (size_t i = 0; i < o->n; i++) {
		if (o->v[i].kind == ARG_FLAG || o->v[i].kind == ARG_OPTIONAL)
			continue;
		buf_puts(out, " | ");
		bash_pattern(out, path, n, o->v[i].name, o->v[i].letter);
	}
}

static void bash_reply(struct buf *out, const struct arg_option *o)
{
	if (o->names) {
		buf_puts(out, "mapfile -t COMPREPLY < <(compgen -W \"");
		words_put(out, o->names, ' ');
		buf_puts(out, "\" -- \"$cur\")");
	} else if (hint_command(o->hint)) {
		buf_printf(out, "mapfile -t COMPREPLY < <(compgen -W \"$(%s)\" -- \"$cur\")",
			   hint_command(o->hint));
	} else if (o->hint == HINT_KEY) {
		buf_puts(
			out,
			"mapfile -t COMPREPLY < <(compgen -S = -W \"$keys\" -- \"$cur\"); compopt -o nospace");
	} else if (o->hint == HINT_DIR) {
		buf_puts(out, "mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); compopt -o filenames");
	} else if (o->hint == HINT_CONFIG) { /* [FORMAT:]FILE */
		buf_puts(out, "mapfile -t COMPREPLY < <(compgen -f -- \"${cur#*:}\"); compopt -o filenames");
	} else if (o->hint == HINT_FILE) {
		buf_puts(out, "mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); compopt -o filenames");
	} else {
		buf_puts(out, ":");
	}
}

static void bash_values(struct buf *out, const struct command *const *path, size_t n)
{
	const struct arg_options *o = &path[n - 1]->options;

	for (size_t i = 0; i < o->n; i++) {
		if (o->v[i].kind == ARG_FLAG)
			continue;
		buf_putc(out, '\t');
		bash_pattern(out, path, n, o->v[i].name, o->v[i].letter);
		buf_puts(out, ")\n\t\t");
		bash_reply(out, &o->v[i]);
		buf_puts(out, "\n\t\treturn\n\t\t;;\n");
	}
}

static void bash_option_names(struct buf *out, const struct arg_options *o)
{
	for (size_t i = 0; i < o->n; i++)
		buf_printf(out, " --%s", o->v[i].name);
}

static void bash_names(struct buf *out, const struct command *parent)
{
	for (size_t i = 0; i < parent->n_subs; i++)
		if (!parent->subs[i].hidden)
			buf_printf(out, " %s", parent->subs[i].name);
}

static void bash_offer(struct buf *out, const struct command *const *path, size_t n)
{
	const struct command *c = path[n - 1];

	buf_puts(out, "\t\"");
	bash_path(out, path, n);
	buf_puts(out, "\")\n\t\toptions=\"");
	bash_option_names(out, &c->options);
	buf_puts(out, "\"\n\t\twords=\"");
	bash_names(out, c);
	for (size_t i = 0; i < c->n_words; i++) {
		if (c->words[i].hint == HINT_COMMAND) {
			bash_names(out, &creel_command);
		} else if (c->words[i].names) {
			buf_putc(out, ' ');
			words_put(out, c->words[i].names, ' ');
		} else if (hint_command(c->words[i].hint)) {
			buf_printf(out, " $(%s)", hint_command(c->words[i].hint));
		}
	}
	if (c->bare_command)
		buf_puts(out, " $(compgen -c -- \"$cur\")");
	buf_puts(out, "\"\n\t\t;;\n");
}

/* From the first word on it is another program's command line. */
static void bash_bare(struct buf *out, const struct command *const *path, size_t n)
{
	if (!path[n - 1]->bare_command)
		return;
	buf_puts(out, " | \"");
	bash_path(out, path, n);
	buf_puts(out, ":\"[!-=]*");
}

static void bash_keys(struct buf *out)
{
	_cleanup_buf_ struct buf keys = { 0 };
	struct str rest, key;

	buf_init(&keys, OUTPUT_MAX);
	config_keys(&keys);
	buf_puts(out, "\tlocal keys=\"");
	for (rest = buf_str(&keys); str_cut(rest, '\n', &key, &rest);)
		buf_printf(out, "%.*s ", (int)key.n, key.p);
	buf_puts(out, "\"\n");
}

void completion_bash(struct buf *out)
{
	buf_puts(out, "# bash completion for creel; made by 'creel completion bash'\n"
		      "# shellcheck shell=bash\n"
		      "_creel_offer() {\n"
		      "\tlocal path=creel word words options i\n");
	bash_keys(out);
	buf_puts(out, "\tCOMPREPLY=()\n"
		      "\tif [[ $cur == = ]]; then\n"
		      "\t\tcur=\n"
		      "\telif [[ $prev == = && $n -gt 3 ]]; then\n"
		      "\t\tprev=${line[n - 3]}\n"
		      "\tfi\n"
		      "\tfor ((i = 1; i < n - 1; i++)); do\n"
		      "\t\tword=${line[i]}\n"
		      "\t\tcase \"$path $word\" in\n");
	bash_each(out, bash_descend);
	buf_puts(out, "\t\t*)\n"
		      "\t\t\tcase \"$path:$word\" in\n"
		      "\t\t\t*:--");
	bash_each(out, bash_bare);
	buf_puts(out, ")\n"
		      "\t\t\t\tcompopt -o default\n"
		      "\t\t\t\treturn\n"
		      "\t\t\t\t;;\n"
		      "\t\t\t*:=");
	bash_each(out, bash_skip);
	buf_puts(out, ")\n"
		      "\t\t\t\t((i++))\n"
		      "\t\t\t\t[[ ${line[i]} == = ]] && ((i++))\n"
		      "\t\t\t\t;;\n"
		      "\t\t\tesac\n"
		      "\t\t\t;;\n"
		      "\t\tesac\n"
		      "\tdone\n"
		      "\tcase \"$path:$prev\" in\n");
	bash_each(out, bash_values);
	buf_puts(out, "\tesac\n\tcase $path in\n");
	bash_each(out, bash_offer);
	buf_puts(out,
		 "\tesac\n\tif [[ $cur == -* ]]; then\n\t\tmapfile -t COMPREPLY < <(compgen -W \"$options");
	bash_option_names(out, &creel_command.options);
	buf_puts(
		out,
		"\" -- \"$cur\")\n"
		"\telse\n"
		"\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
		"\t\t[[ $path == *import || $path == *call ]] && compopt -o default\n"
		"\tfi\n"
		"}\n"
		/* bash breaks words at colons, and takes what is offered for what stands behind the last one. */
		"_creel() {\n"
		"\tlocal -a line=()\n"
		"\tlocal word glue='' n=0 cur prev\n"
		"\tfor word in \"${COMP_WORDS[@]:0:COMP_CWORD+1}\"; do\n"
		"\t\tif [[ $n -gt 1 && ($word == :* || $glue) ]]; then\n"
		"\t\t\tline[n - 1]+=$word\n"
		"\t\telse\n"
		"\t\t\tline[n++]=$word\n"
		"\t\tfi\n"
		"\t\t[[ $word == *: ]] && glue=1 || glue=''\n"
		"\tdone\n"
		"\tcur=${line[n - 1]} prev=${line[n - 2]}\n"
		"\t_creel_offer\n"
		"\t[[ $COMP_WORDBREAKS == *:* ]] && COMPREPLY=(\"${COMPREPLY[@]#\"${cur%\"${cur##*:}\"}\"}\")\n"
		"}\n"
		"complete -F _creel creel\n");
}

/* ---- the command ---- */

int run_completion(struct cli *cli, struct err *e)
{
	static void (*const print[])(struct buf *) = {
		[SHELL_BASH] = completion_bash,
		[SHELL_ZSH] = completion_zsh,
		[SHELL_FISH] = completion_fish,
	};
	int shell = SHELL_BASH;

	(void)e;
	(void)enum_value(shell_names, cli->args.words.v[0], false, &shell);
	print[shell](cli->out);
	return 0;
}
