/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion_priv.h"

#include <stdio.h>

/* In single quotes only ' and \ mean something to fish. */
static void put_quoted(struct buf *out, const char *text)
{
	buf_putc(out, '\'');
	for (const char *p = text; *p; p++) {
		if (*p == '\'' || *p == '\\')
			buf_putc(out, '\\');
		buf_putc(out, *p);
	}
	buf_putc(out, '\'');
}

static void put_arguments(struct buf *out, const struct arg_option *o)
{
	if (o->kind == ARG_FLAG || o->kind == ARG_OPTIONAL) {
		buf_puts(out, " -f");
	} else if (o->names) {
		buf_puts(out, " -x -a '");
		words_put(out, o->names, ' ');
		buf_putc(out, '\'');
	} else if (o->hint == HINT_KEY) {
		buf_puts(out, " -x -a '(creel config keys 2>/dev/null | string replace -r \"\\$\" \"=\")'");
	} else if (hint_command(o->hint)) {
		buf_printf(out, " -x -a '(%s)'", hint_command(o->hint));
	} else if (o->hint == HINT_DIR) {
		buf_puts(out, " -x -a '(__fish_complete_directories)'");
	} else {
		buf_puts(out, o->hint == HINT_NONE ? " -x" : " -r -F");
	}
}

static void put_options(struct buf *out, const char *condition, const struct arg_options *o)
{
	for (size_t i = 0; i < o->n; i++) {
		buf_puts(out, "complete -c creel");
		if (condition)
			buf_printf(out, " -n '%s'", condition);
		if (o->v[i].letter)
			buf_printf(out, " -s %c", o->v[i].letter);
		buf_printf(out, " -l %s", o->v[i].name);
		put_arguments(out, &o->v[i]);
		buf_puts(out, " -d ");
		put_quoted(out, o->v[i].help);
		buf_putc(out, '\n');
	}
}

static void put_names(struct buf *out, const struct command *parent)
{
	for (size_t i = 0; i < parent->n_subs; i++)
		if (!parent->subs[i].hidden)
			buf_printf(out, " %s", parent->subs[i].name);
}

static void put_commands(struct buf *out, const char *condition, const struct command *parent)
{
	for (size_t i = 0; i < parent->n_subs; i++) {
		if (parent->subs[i].hidden)
			continue;
		buf_printf(out, "complete -c creel -f -n '%s' -a %s -d ", condition, parent->subs[i].name);
		put_quoted(out, parent->subs[i].summary);
		buf_putc(out, '\n');
	}
}

static void put_words(struct buf *out, const char *condition, const struct command *c)
{
	for (size_t i = 0; i < c->n_words; i++) {
		const char *asked = hint_command(c->words[i].hint);

		if (!c->words[i].names && !asked)
			continue;
		buf_printf(out, "complete -c creel -n '%s' -a '", condition);
		if (asked)
			buf_printf(out, "(%s)", asked);
		else
			words_put(out, c->words[i].names, ' ');
		buf_puts(out, "'\n");
	}
}

static void put_nested(struct buf *out, const struct command *c)
{
	_cleanup_buf_ struct buf condition = { 0 };

	buf_init(&condition, 4096);
	buf_printf(&condition, "__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from",
		   c->name);
	put_names(&condition, c);
	put_commands(out, condition.p ? condition.p : "", c);
	for (size_t i = 0; i < c->n_subs; i++) {
		condition.n = 0;
		buf_printf(&condition, "__fish_seen_subcommand_from %s; and __fish_seen_subcommand_from %s",
			   c->name, c->subs[i].name);
		put_options(out, condition.p, &c->subs[i].options);
		put_words(out, condition.p, &c->subs[i]);
	}
}

void completion_fish(struct buf *out)
{
	const struct command *c = &creel_command;
	char condition[128];

	buf_puts(out, "# fish completion for creel; made by 'creel completion fish'\n");
	buf_puts(out, "complete -c creel -f\n");
	put_commands(out, "__fish_use_subcommand", c);
	put_options(out, NULL, &c->options);
	for (size_t i = 0; i < c->n_subs; i++) {
		if (c->subs[i].hidden)
			continue;
		(void)snprintf(condition, sizeof(condition), "__fish_seen_subcommand_from %s",
			       c->subs[i].name);
		put_options(out, condition, &c->subs[i].options);
		put_words(out, condition, &c->subs[i]);
		if (c->subs[i].n_subs)
			put_nested(out, &c->subs[i]);
	}
	put_commands(out, "__fish_seen_subcommand_from help", c);
}
