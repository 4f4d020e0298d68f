/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of creel.json5(5), in scdoc's language, and the plain list of keys. */
#include "config/config_priv.h"

#include "base/num.h"

static const char *const type_words[] = {
	[TYPE_BOOL] = "true or false",
	[TYPE_U64] = "integer",
	[TYPE_NUM] = "number",
	[TYPE_SIZE] = "size",
	[TYPE_ENUM] = NULL,
	[TYPE_STR] = "text",
	[TYPE_LIST] = "list",
	[TYPE_MAP] = "name to value",
	[TYPE_ENV] = "name to text",
	[TYPE_BINDS] = "list of binds",
	[TYPE_LAYERS] = "match to tool lists",
	[TYPE_LISTMAP] = "channel to list",
	[TYPE_REF] = "secret reference",
};

/* scdoc reads these as formatting. */
static void put_escaped(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\*_[]#<>|~`", *text))
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
}

static void put_number(struct buf *out, double v)
{
	char text[NUM_TEXT_MAX];
	struct str s;

	if (num_format(v, text, &s) == 0)
		buf_put(out, s);
}

static void put_accepted(struct buf *out, const struct option_info *info)
{
	char words[256];

	if (info->type == TYPE_ENUM) {
		enum_list(info->names, words, sizeof(words));
		put_escaped(out, words);
		return;
	}
	put_escaped(out, type_words[info->type]);
	if (info->type != TYPE_U64 && info->type != TYPE_NUM && info->type != TYPE_SIZE)
		return;
	buf_puts(out, ", ");
	put_number(out, info->min);
	buf_puts(out, " to ");
	put_number(out, info->max);
}

static void put_row(struct buf *out, const struct option_info *info)
{
	buf_putc(out, '*');
	put_escaped(out, info->key);
	buf_puts(out, "*\n\t");
	put_escaped(out, info->help);
	buf_puts(out, ".++\nAccepted: ");
	put_accepted(out, info);
	if (info->def[0]) {
		buf_puts(out, ". Default: ");
		put_escaped(out, info->def);
	}
	if (info->flags & F_AGENT)
		buf_puts(out, ". Per agent");
	if (info->flags & F_RULE)
		buf_puts(out, ", per rule");
	buf_puts(out, ".\n\n");
}

void config_man_table(struct buf *out)
{
	for (unsigned i = 0; i < OPT_COUNT_; i++)
		put_row(out, option_info((enum option)i));
}

void config_keys(struct buf *out)
{
	for (unsigned i = 0; i < OPT_COUNT_; i++)
		buf_printf(out, "%s\n", option_info((enum option)i)->key);
}
