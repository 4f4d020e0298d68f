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
	if (hint == HINT_TOOL)
		return "creel call --list -q 2>/dev/null";
	return hint == HINT_SANDBOX ? "creel list -q 2>/dev/null" : NULL;
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
	} else if (o->hint == HINT_FILE || o->hint == HINT_CONFIG) {
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

static void bash_offer(struct buf *out, const struct command *const *path, size_t n)
{
	const struct command *c = path[n - 1];

	buf_puts(out, "\t\"");
	bash_path(out, path, n);
	buf_puts(out, "\")\n\t\toptions=\"");
	bash_option_names(out, &c->options);
	buf_puts(out, "\"\n\t\twords=\"");
	for (size_t i = 0; i < c->n_subs; i++)
		if (!c->subs[i].hidden)
			buf_printf(out, " %s", c->subs[i].name);
	for (size_t i = 0; i < c->n_words; i++) {
		if (c->words[i].names) {
			buf_putc(out, ' ');
			words_put(out, c->words[i].names, ' ');
		} else if (hint_command(c->words[i].hint)) {
			buf_printf(out, " $(%s)", hint_command(c->words[i].hint));
		}
	}
	buf_puts(out, "\"\n\t\t;;\n");
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
		      "_creel() {\n"
		      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
		      "\tlocal path=creel word words options i\n");
	bash_keys(out);
	buf_puts(out, "\tCOMPREPLY=()\n"
		      "\tif [[ $cur == = ]]; then\n"
		      "\t\tcur=\n"
		      "\telif [[ $prev == = && $COMP_CWORD -gt 1 ]]; then\n"
		      "\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
		      "\tfi\n"
		      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		      "\t\tword=${COMP_WORDS[i]}\n"
		      "\t\tcase \"$path $word\" in\n");
	bash_each(out, bash_descend);
	buf_puts(out, "\t\t*)\n"
		      "\t\t\tcase \"$path:$word\" in\n"
		      "\t\t\t*:--)\n"
		      "\t\t\t\tcompopt -o default\n"
		      "\t\t\t\treturn\n"
		      "\t\t\t\t;;\n"
		      "\t\t\t*:=");
	bash_each(out, bash_skip);
	buf_puts(out, ") ((i++)) ;;\n"
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
	buf_puts(out, "\" -- \"$cur\")\n"
		      "\telse\n"
		      "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
		      "\t\t[[ $path == *import || $path == *call ]] && compopt -o default\n"
		      "\tfi\n"
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
