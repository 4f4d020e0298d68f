/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/describe.h"

#include "model/names.h"

#include <inttypes.h>

/* ---- JSON Schema ---- */

static const struct {
	const char *type, *words, *min, *max; /* keywords for the range, or NULL */
} types[TOOL_TYPE_COUNT_] = {
	[TOOL_STR] = { "string", "text", "minLength", NULL },
	[TOOL_INT] = { "integer", "number", "minimum", "maximum" },
	[TOOL_BOOL] = { "boolean", "true or false", NULL, NULL },
	[TOOL_LIST] = { "array", "list", "minItems", "maxItems" },
	[TOOL_NUM] = { "number", "number", "minimum", "maximum" },
	[TOOL_STRS] = { "array", "list of texts", "minItems", "maxItems" },
	[TOOL_COMMAND] = { NULL, "text or list of texts", NULL, NULL },
	[TOOL_MAP] = { "object", "object of texts", NULL, NULL },
};

static void put_object(const struct tool_arg *rows, size_t n, struct jsonw *w);

static bool next_word(struct str *rest, struct str *ret)
{
	if (rest->n == 0)
		return false;
	if (!str_cut(*rest, ' ', ret, rest)) {
		*ret = *rest;
		rest->n = 0;
	}
	return true;
}

static void put_names(struct jsonw *w, const char *key, const char *words)
{
	struct str rest = str_z(words ? words : ""), word;

	jsonw_karr(w, key);
	while (next_word(&rest, &word))
		jsonw_str(w, word);
	jsonw_arr_end(w);
}

static void put_strings(struct jsonw *w)
{
	jsonw_kobj(w, "items");
	jsonw_kz(w, "type", "string");
	jsonw_obj_end(w);
}

static void put_type(const struct tool_arg *row, struct jsonw *w)
{
	if (types[row->type].type)
		jsonw_kz(w, "type", types[row->type].type);
	if (row->type == TOOL_COMMAND) {
		jsonw_karr(w, "type");
		jsonw_str(w, STR("string"));
		jsonw_str(w, STR("array"));
		jsonw_arr_end(w);
	}
	if (row->type == TOOL_STRS || row->type == TOOL_COMMAND)
		put_strings(w);
	if (row->type == TOOL_LIST) {
		jsonw_kobj(w, "items");
		put_object(row->items, row->n_items, w);
		jsonw_obj_end(w);
	}
	if (row->type == TOOL_MAP) {
		jsonw_kobj(w, "additionalProperties");
		jsonw_kz(w, "type", "string");
		jsonw_obj_end(w);
	}
}

static void put_range(const struct tool_arg *row, struct jsonw *w)
{
	if (types[row->type].min && row->min != 0) {
		jsonw_key(w, str_z(types[row->type].min));
		jsonw_i64(w, row->min);
	}
	if (types[row->type].max) {
		jsonw_key(w, str_z(types[row->type].max));
		jsonw_i64(w, row->max);
	}
}

static void put_arg(const struct tool_arg *row, struct jsonw *w)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, 1024);
	buf_puts(&text, row->help);
	if (row->alias)
		buf_printf(&text, " (also: %s)", row->alias);
	jsonw_key(w, str_z(row->name));
	jsonw_obj(w);
	put_type(row, w);
	put_range(row, w);
	jsonw_kstr(w, "description", buf_str(&text));
	if (row->alias)
		put_names(w, "x-aliases", row->alias);
	if (row->words)
		put_names(w, "examples", row->words);
	jsonw_obj_end(w);
}

/* The members of an object that the caller has begun. */
static void put_object(const struct tool_arg *rows, size_t n, struct jsonw *w)
{
	jsonw_kz(w, "type", "object");
	jsonw_kobj(w, "properties");
	for (size_t i = 0; i < n; i++)
		put_arg(&rows[i], w);
	jsonw_obj_end(w);
	jsonw_karr(w, "required");
	for (size_t i = 0; i < n; i++)
		if (rows[i].required)
			jsonw_str(w, str_z(rows[i].name));
	jsonw_arr_end(w);
	jsonw_kbool(w, "additionalProperties", false);
}

void tools_put_schema(const struct tool *t, struct jsonw *w)
{
	jsonw_obj(w);
	jsonw_kz(w, "name", t->name);
	put_names(w, "aliases", t->alias);
	jsonw_kz(w, "description", t->help);
	jsonw_kz(w, "limits", t->limits);
	jsonw_karr(w, "needs");
	for (const struct enum_name *c = cap_names; c->name; c++)
		if (t->needs & CAP_BIT(c->value))
			jsonw_str(w, str_z(c->name));
	jsonw_arr_end(w);
	jsonw_kobj(w, "inputSchema");
	put_object(t->args, t->n_args, w);
	jsonw_obj_end(w);
	jsonw_obj_end(w);
}

/* ---- scdoc ---- */

/* scdoc gives a meaning to these in running text. */
static void put_text(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("*_\\<>", *text))
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
}

static void put_words(struct buf *out, const char *before, const char *words)
{
	struct str rest = str_z(words ? words : ""), word;

	for (bool first = true; next_word(&rest, &word); first = false)
		buf_printf(out, "%s*%.*s*", first ? before : ", ", (int)word.n, word.p);
}

static void put_rows(struct buf *out, const struct tool_arg *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_printf(out, "*%s*", rows[i].name);
		put_words(out, ", ", rows[i].alias);
		buf_printf(out, " (%s%s)++\n", types[rows[i].type].words, rows[i].required ? ", needed" : "");
		put_text(out, rows[i].help);
		buf_puts(out, "\n\n");
		for (size_t k = 0; k < rows[i].n_items; k++) {
			buf_printf(out, "of each: *%s*: ", rows[i].items[k].name);
			put_text(out, rows[i].items[k].help);
			buf_puts(out, "\n\n");
		}
	}
}

void tools_put_manual(struct buf *out)
{
	for (size_t i = 0; i < tools_count(); i++) {
		const struct tool *t = tools_at(i);

		buf_printf(out, "## %s\n\n", t->name);
		put_text(out, t->help);
		buf_puts(out, ".\n\nNeeds");
		for (const struct enum_name *c = cap_names; c->name; c++)
			if (t->needs & CAP_BIT(c->value))
				buf_printf(out, " %s", c->name);
		put_words(out, ". Also called ", t->alias);
		buf_puts(out, ". Limits: ");
		put_text(out, t->limits);
		buf_puts(out, ".\n\n");
		put_rows(out, t->args, t->n_args);
	}
}
