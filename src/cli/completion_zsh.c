/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion_priv.h"

#include <stdio.h>

/* Inside '…[here]…': the quote ends the string, and [ ] : \ are _arguments' own. */
static void put_text(struct buf *out, const char *text)
{
	for (const char *p = text; *p; p++) {
		if (*p == '\'') {
			buf_puts(out, "'\\''");
			continue;
		}
		if (*p == '[' || *p == ']' || *p == ':' || *p == '\\')
			buf_putc(out, '\\');
		buf_putc(out, *p);
	}
}

static void put_action(struct buf *out, const struct enum_name *names, enum arg_hint hint)
{
	static const char *const action[] = {
		[HINT_NONE] = "",
		[HINT_FILE] = "_files",
		[HINT_DIR] = "_files -/",
		[HINT_CONFIG] = "_files",
		[HINT_KEY] = "_creel_keys",
		[HINT_TOOL] = "_creel_tools",
		[HINT_SANDBOX] = "_creel_sandboxes",
		[HINT_TOKEN] = "_creel_ask_tokens",
		[HINT_APPROVAL] = "_creel_ask_approvals",
		[HINT_COMMAND] = "_creel_ask_commands",
	};

	if (names) {
		buf_putc(out, '(');
		words_put(out, names, ' ');
		buf_putc(out, ')');
	} else {
		buf_puts(out, action[hint]);
	}
}

/* One spelling of an option; `name` with its dashes. */
static void put_spec(struct buf *out, const struct arg_option *o, const char *name, bool letter)
{
	static const char *const value[] = {
		[ARG_FLAG] = "",    [ARG_TEXT] = "=",      [ARG_LIST] = "=",
		[ARG_NUMBER] = "=", [ARG_OPTIONAL] = "=-",
	};

	buf_puts(out, "\t'");
	if (o->kind == ARG_LIST)
		buf_putc(out, '*');
	else if (o->letter)
		buf_printf(out, "(-%c --%s)", o->letter, o->name);
	buf_printf(out, "%s%s[", name, letter && o->kind != ARG_FLAG ? "+" : value[o->kind]);
	put_text(out, o->help);
	buf_puts(out, "]");
	if (o->meta) {
		buf_puts(out, o->kind == ARG_OPTIONAL ? "::" : ":");
		put_text(out, o->meta);
		buf_putc(out, ':');
		put_action(out, o->names, o->hint);
	}
	buf_puts(out, "'\n");
}

static void put_option(struct buf *out, const struct arg_option *o)
{
	char name[64];

	if (o->letter) {
		(void)snprintf(name, sizeof(name), "-%c", o->letter);
		put_spec(out, o, name, true);
	}
	(void)snprintf(name, sizeof(name), "--%s", o->name);
	put_spec(out, o, name, false);
}

static void put_options(struct buf *out, const struct arg_options *o)
{
	for (size_t i = 0; i < o->n; i++)
		put_option(out, &o->v[i]);
}

/* '1:command:((explain\:"..." …))' */
static void put_commands(struct buf *out, const struct command *c)
{
	buf_puts(out, "\t'1:command:((");
	for (size_t i = 0; i < c->n_subs; i++) {
		if (c->subs[i].hidden)
			continue;
		buf_printf(out, "%s\\:\"", c->subs[i].name);
		put_text(out, c->subs[i].summary);
		buf_puts(out, "\" ");
	}
	buf_puts(out, "))'\n");
}

static void put_words(struct buf *out, const struct command *c)
{
	bool many = false;

	for (size_t i = 0; i < c->n_words; i++) {
		many = c->words[i].many;
		if (many)
			buf_printf(out, "\t'*:%s:", c->words[i].name);
		else
			buf_printf(out, "\t'%zu:%s%s:", i + 1, c->words[i].optional ? ":" : "",
				   c->words[i].name);
		put_action(out, c->words[i].names, c->words[i].hint);
		buf_puts(out, "'\n");
	}
	if (c->takes_command && !many) /* one "*" is all that _arguments takes */
		buf_puts(out, "\t'*::command: _normal'\n");
}

/* "_creel_config_show" */
static void put_name(struct buf *out, const struct command_walk *w)
{
	for (size_t i = 0; i < w->n; i++)
		buf_printf(out, "_%s", w->path[i]->name);
}

static void put_function(struct buf *out, const struct command_walk *w)
{
	const struct command *c = command_at(w);

	put_name(out, w);
	buf_puts(out,
		 "() {\n\tlocal curcontext=\"$curcontext\" line state\n\t_arguments -C $_creel_common $");
	put_name(out, w);
	buf_puts(out, "_args\n");
	if (c->n_subs)
		buf_puts(out, "\tcase $line[1] in\n");
	for (size_t i = 0; i < c->n_subs; i++) {
		if (c->subs[i].hidden)
			continue;
		buf_printf(out, "\t%s) ", c->subs[i].name);
		put_name(out, w);
		buf_printf(out, "_%s ;;\n", c->subs[i].name);
	}
	buf_puts(out, c->n_subs ? "\tesac\n}\n" : "}\n");
}

static void put_args(struct buf *out, const struct command_walk *w)
{
	const struct command *c = command_at(w);

	put_name(out, w);
	buf_puts(out, "_args=(\n");
	if (w->n > 1) /* the program's own are in _creel_common, for every command */
		put_options(out, &c->options);
	if (c->n_subs) {
		put_commands(out, c);
		buf_puts(out, "\t'*::arg:->args'\n");
	}
	put_words(out, c);
	buf_puts(out, ")\n");
}

/* A function that asks creel for the words. */
static void put_asking(struct buf *out, const char *name, enum arg_hint hint)
{
	buf_printf(out,
		   "%s() {\n"
		   "\tlocal -a words\n"
		   "\twords=(${(f)\"$(_call_program words %s)\"})\n"
		   "\tcompadd -a words\n"
		   "}\n",
		   name, hint_command(hint));
}

void completion_zsh(struct buf *out)
{
	struct command_walk w = { .path = { &creel_command } };

	buf_puts(out, "#compdef creel\n"
		      "# zsh completion for creel; made by 'creel completion zsh'\n"
		      "_creel_keys() {\n"
		      "\tlocal -a keys\n"
		      "\tkeys=(${(f)\"$(_call_program keys creel config keys 2>/dev/null)\"})\n"
		      "\tcompadd -S = -a keys\n"
		      "}\n");
	put_asking(out, "_creel_tools", HINT_TOOL);
	put_asking(out, "_creel_sandboxes", HINT_SANDBOX);
	put_asking(out, "_creel_ask_tokens", HINT_TOKEN);
	put_asking(out, "_creel_ask_approvals", HINT_APPROVAL);
	buf_puts(out, "_creel_ask_commands() { compadd --");
	for (size_t i = 0; i < creel_command.n_subs; i++)
		if (!creel_command.subs[i].hidden)
			buf_printf(out, " %s", creel_command.subs[i].name);
	buf_puts(out, "; }\n");
	buf_puts(out, "_creel_common=(\n");
	put_options(out, &creel_command.options);
	buf_puts(out, ")\n");
	while (command_next(&w)) {
		if (command_at(&w)->hidden)
			continue;
		put_args(out, &w);
		put_function(out, &w);
	}
	buf_puts(out, "_creel \"$@\"\n");
}
