/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <string.h>

#define HELP_COLUMNS 100
#define HELP_INDENT 30 /* where the explanations begin */

void help_wrap(struct buf *out, struct str text, size_t indent)
{
	size_t column = indent;
	struct str word;

	while (text.n) {
		if (!str_cut(text, ' ', &word, &text)) {
			word = text;
			text = (struct str){ 0 };
		}
		if (column > indent && column + 1 + word.n > HELP_COLUMNS) {
			buf_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			buf_putc(out, ' ');
			column++;
		}
		buf_put(out, word);
		column += word.n;
	}
	buf_putc(out, '\n');
}

void option_put(struct buf *out, const struct arg_option *o, bool with_letter_column)
{
	if (o->letter)
		buf_printf(out, "-%c, ", o->letter);
	else if (with_letter_column)
		buf_puts(out, "    ");
	buf_printf(out, "--%s", o->name);
	if (o->kind == ARG_OPTIONAL)
		buf_printf(out, "[=%s]", o->meta);
	else if (o->meta)
		buf_printf(out, " %s", o->meta);
}

static void put_help(struct buf *out, const struct arg_option *o)
{
	_cleanup_buf_ struct buf text = { 0 };
	char words[256];

	buf_init(&text, 4096);
	buf_puts(&text, o->help);
	if (o->names && !o->hidden_names) {
		enum_list(o->names, words, sizeof(words));
		buf_printf(&text, ": %s", words);
	}
	help_wrap(out, buf_str(&text), HELP_INDENT);
}

static void put_option(struct buf *out, const struct arg_option *o)
{
	size_t start = out->n;

	buf_puts(out, "  ");
	option_put(out, o, true);
	if (out->n - start + 2 > HELP_INDENT)
		buf_printf(out, "\n%*s", HELP_INDENT, "");
	else
		buf_printf(out, "%*s", (int)(HELP_INDENT - (out->n - start)), "");
	put_help(out, o);
}

static void put_options(struct buf *out, const char *title, const struct arg_options *o)
{
	if (o->n == 0)
		return;
	buf_printf(out, "\n%s:\n", title);
	for (size_t i = 0; i < o->n; i++)
		put_option(out, &o->v[i]);
}

static void put_commands(struct buf *out, const struct command *c)
{
	if (c->n_subs == 0)
		return;
	buf_puts(out, "\nCommands:\n");
	for (size_t i = 0; i < c->n_subs; i++)
		if (!c->subs[i].hidden)
			buf_printf(out, "  %-12s %s\n", c->subs[i].name, c->subs[i].summary);
}

static void put_examples(struct buf *out, const char *examples)
{
	struct str rest, line, command, what;

	if (!examples)
		return;
	buf_puts(out, "\nExamples:\n");
	rest = str_z(examples);
	while (str_cut(rest, '\n', &line, &rest)) {
		if (!str_cut(line, '\t', &command, &what))
			continue;
		buf_puts(out, "  ");
		buf_put(out, command);
		buf_puts(out, "\n      ");
		buf_put(out, what);
		buf_putc(out, '\n');
	}
}

void help_put(struct buf *out, const struct args *args)
{
	const struct command *c = args_command(args);

	buf_puts(out, "Usage: ");
	args_path_put(out, args);
	buf_puts(out, " [OPTION...]");
	if (c->usage)
		buf_printf(out, " %s", c->usage);
	else if (c->n_subs)
		buf_puts(out, " COMMAND");
	buf_puts(out, "\n\n");
	help_wrap(out, str_z(c->about), 0);
	put_commands(out, c);
	if (args->n_path > 1)
		put_options(out, "Options", &c->options);
	put_options(out, args->n_path > 1 ? "Common options" : "Options", &args->path[0]->options);
	put_examples(out, c->examples);
	buf_puts(out, args->n_path > 1
			      ? "\nSee creel(1) and creel.json5(5).\n"
			      : "\n'creel help COMMAND' tells more. See creel(1) and creel.json5(5).\n");
}

int run_help(struct cli *cli, struct err *e)
{
	struct args shown = { .path = { &creel_command }, .n_path = 1 };

	for (size_t i = 0; i < cli->args.words.n; i++) {
		const struct command *sub = command_find(args_command(&shown), cli->args.words.v[i]);
		const char *near = sub ? NULL : command_near(args_command(&shown), cli->args.words.v[i]);

		if (near)
			return err_set(e, ERR_USAGE, "there is no command '" STR_FMT "', did you mean '%s'?",
				       STR_ARG(cli->args.words.v[i]), near);
		if (!sub && args_command(&shown)->helps)
			return err_set(e, ERR_USAGE, "'creel call " STR_FMT " --help' tells about a tool",
				       STR_ARG(cli->args.words.v[i]));
		if (!sub)
			return err_set(e, ERR_USAGE, "there is no command '" STR_FMT "'",
				       STR_ARG(cli->args.words.v[i]));
		shown.path[shown.n_path++] = sub;
	}
	help_put(cli->out, &shown);
	return 0;
}
