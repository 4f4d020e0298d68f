/* SPDX-License-Identifier: Apache-2.0 */
/* The tools as the library lists them, for people: what there is, what one of them takes. */
#include "cli/session.h"

#include "data/json.h"

#include <inttypes.h>

int toollist_load(struct cli *cli, struct creel_engine *c, struct value *ret, struct err *e)
{
	struct creel_error ce = { 0 };
	char *json = NULL;
	struct str copy;

	if (creel_tools(c, &json, &ce) < 0)
		return session_error(&ce, e);
	copy = arena_str(cli->arena, str_z(json)); /* the tree points into it */
	creel_free(json);
	return session_json(cli, copy.p ? copy.p : "[]", ret, e);
}

int toollist_choose(const struct value *tools, struct str name, const struct value **ret, struct err *e)
{
	struct str near = { 0 };
	unsigned best = 3;

	*ret = tool_find(tools, name);
	if (*ret)
		return 0;
	for (size_t i = 0; tools->kind == VALUE_ARR && i < tools->arr.n; i++) {
		struct str known = tool_member(&tools->arr.v[i], "name");
		unsigned d = str_distance(name, known, best);

		if (d < best && d < name.n) {
			best = d;
			near = known;
		}
	}
	if (near.n)
		return err_set(e, ERR_USAGE, "unknown tool '" STR_FMT "', did you mean '" STR_FMT "'?",
			       STR_ARG(name), STR_ARG(near));
	return err_set(e, ERR_USAGE,
		       "unknown tool '" STR_FMT "'; 'creel call --list' prints those that exist",
		       STR_ARG(name));
}

/* ---- for people ---- */

static struct str joined(struct arena *a, const struct value *list, const char *none)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, 4096);
	for (size_t i = 0; list && list->kind == VALUE_ARR && i < list->arr.n; i++)
		if (list->arr.v[i].kind == VALUE_STR) {
			buf_puts(&text, text.n ? "," : "");
			buf_put(&text, list->arr.v[i].s);
		}
	return text.n ? arena_str(a, buf_str(&text)) : str_z(none);
}

void toollist_put(struct cli *cli, const struct value *tools)
{
	static const char *const titles[] = { "TOOL", "NEEDS", "RUNS", "WHAT IT DOES" };
	struct columns c = {
		.arena = cli->arena, .n = 4, .titles = titles, .bold = output_wants_colour(cli)
	};
	struct jsonw w;

	if (cli->json) {
		jsonw_init(&w, cli->out, 2);
		json_write(&w, tools);
		buf_putc(cli->out, '\n');
		return;
	}
	for (size_t i = 0; tools->kind == VALUE_ARR && i < tools->arr.n; i++) {
		const struct value *t = &tools->arr.v[i];

		if (cli->quiet) {
			buf_put_visible(cli->out, tool_member(t, "name"));
			buf_putc(cli->out, '\n');
			continue;
		}
		columns_put(&c, tool_member(t, "name"));
		columns_put(&c, joined(cli->arena, value_get(t, STR("needs")), "-"));
		columns_put(&c, tool_member(t, "runs"));
		columns_put(&c, tool_member(t, "help"));
	}
	if (!cli->quiet)
		columns_print(&c, cli->out);
}

static bool is_true(const struct value *row, const char *key)
{
	const struct value *v = value_get(row, str_z(key));

	return v && v->kind == VALUE_BOOL && v->b;
}

static void put_types(struct buf *out, const struct value *argument)
{
	const struct value *several = value_get(argument, STR("types"));

	buf_put(out, tool_member(argument, "type"));
	for (size_t i = 0; several && several->kind == VALUE_ARR && i < several->arr.n; i++)
		if (several->arr.v[i].kind == VALUE_STR)
			buf_printf(out, "%s" STR_FMT, i ? "|" : "", STR_ARG(several->arr.v[i].s));
}

static void put_argument(struct buf *out, const struct value *a, unsigned indent)
{
	const struct value *items = value_get(a, STR("items")), *aliases = value_get(a, STR("aliases"));
	struct str name = tool_member(a, "name");

	buf_printf(out, "%*s" STR_FMT "%*s", (int)indent, "", STR_ARG(name),
		   name.n < 12 ? (int)(12 - name.n) : 0, "");
	buf_putc(out, ' ');
	put_types(out, a);
	buf_puts(out, is_true(a, "required") ? ", needed: " : ": ");
	buf_put(out, tool_member(a, "help"));
	for (size_t i = 0; aliases && aliases->kind == VALUE_ARR && i < aliases->arr.n; i++)
		if (aliases->arr.v[i].kind == VALUE_STR)
			buf_printf(out, "%s" STR_FMT, i ? ", " : "; also called ",
				   STR_ARG(aliases->arr.v[i].s));
	buf_putc(out, '\n');
	for (size_t i = 0; items && items->kind == VALUE_ARR && i < items->arr.n; i++)
		put_argument(out, &items->arr.v[i], indent + 4);
}

void toollist_put_help(struct buf *out, const struct value *tool)
{
	const struct value *all = value_get(tool, STR("arguments")),
			   *aliases = value_get(tool, STR("aliases"));
	struct str name = tool_member(tool, "name"), runs = tool_member(tool, "runs");

	buf_printf(out, "Usage: creel call [OPTION...] " STR_FMT " [JSON|-|NAME=VALUE...]\n\n" STR_FMT,
		   STR_ARG(name), STR_ARG(name));
	for (size_t i = 0; aliases && aliases->kind == VALUE_ARR && i < aliases->arr.n; i++)
		if (aliases->arr.v[i].kind == VALUE_STR)
			buf_printf(out, ", " STR_FMT, STR_ARG(aliases->arr.v[i].s));
	buf_puts(out, ": ");
	buf_put(out, tool_member(tool, "help"));
	buf_putc(out, '\n');
	if (str_eq(runs, STR("gateway")))
		buf_puts(out,
			 "\nThe agent's gateway carries it out; creel decides whether it may be called.\n");
	if (str_eq(runs, STR("nowhere")))
		buf_puts(out, "\nNot available in this build.\n");
	if (all && all->kind == VALUE_ARR && all->arr.n) {
		buf_puts(out, "\nArguments:\n");
		for (size_t i = 0; i < all->arr.n; i++)
			put_argument(out, &all->arr.v[i], 2);
	}
	if (tool_member(tool, "limits").n) {
		buf_puts(out, "\nLimits: ");
		buf_put(out, tool_member(tool, "limits"));
		buf_putc(out, '\n');
	}
	buf_puts(out,
		 "\n'creel call --help' has the options; --schema prints the arguments as JSON Schema.\n");
}

/* ---- for programs ---- */

static void schema_type(struct jsonw *w, const struct value *a)
{
	const struct value *several = value_get(a, STR("types"));

	jsonw_key(w, STR("type"));
	if (several)
		json_write(w, several);
	else
		jsonw_str(w, tool_member(a, "type"));
}

static void schema_range(struct jsonw *w, const struct value *a)
{
	static const struct {
		const char *type, *min, *max;
	} names[] = {
		{ "integer", "minimum", "maximum" },
		{ "number", "minimum", "maximum" },
		{ "string", "minLength", "maxLength" },
		{ "array", "minItems", "maxItems" },
	};
	const struct value *min = value_get(a, STR("min")), *max = value_get(a, STR("max"));

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!str_eq(tool_member(a, "type"), str_z(names[i].type)))
			continue;
		if (min && min->kind == VALUE_INT && min->i > 0)
			jsonw_ku64(w, names[i].min, (uint64_t)min->i);
		if (max && max->kind == VALUE_INT && max->i > 0)
			jsonw_ku64(w, names[i].max, (uint64_t)max->i);
	}
}

static void schema_object(struct jsonw *w, const struct value *arguments);

static void schema_property(struct jsonw *w, const struct value *a)
{
	const struct value *items = value_get(a, STR("items"));

	jsonw_key(w, tool_member(a, "name"));
	jsonw_obj(w);
	schema_type(w, a);
	jsonw_kstr(w, "description", tool_member(a, "help"));
	schema_range(w, a);
	if (items && items->kind == VALUE_ARR && items->arr.n) {
		jsonw_kobj(w, "items");
		schema_object(w, items);
		jsonw_obj_end(w);
	} else if (tool_argument_takes(a, STR("array"))) {
		jsonw_kobj(w, "items");
		jsonw_kz(w, "type", "string");
		jsonw_obj_end(w);
	}
	if (tool_argument_takes(a, STR("object"))) {
		jsonw_kobj(w, "additionalProperties");
		jsonw_kz(w, "type", "string");
		jsonw_obj_end(w);
	}
	jsonw_obj_end(w);
}

static void schema_object(struct jsonw *w, const struct value *arguments)
{
	size_t n = arguments && arguments->kind == VALUE_ARR ? arguments->arr.n : 0;

	jsonw_kz(w, "type", "object");
	jsonw_kobj(w, "properties");
	for (size_t i = 0; i < n; i++)
		schema_property(w, &arguments->arr.v[i]);
	jsonw_obj_end(w);
	jsonw_karr(w, "required");
	for (size_t i = 0; i < n; i++)
		if (is_true(&arguments->arr.v[i], "required"))
			jsonw_str(w, tool_member(&arguments->arr.v[i], "name"));
	jsonw_arr_end(w);
	jsonw_kbool(w, "additionalProperties", false);
}

void toollist_put_schema(struct buf *out, const struct value *tool)
{
	struct jsonw w;

	jsonw_init(&w, out, 2);
	jsonw_obj(&w);
	jsonw_kz(&w, "$schema", "https://json-schema.org/draft/2020-12/schema");
	jsonw_kstr(&w, "title", tool_member(tool, "name"));
	jsonw_kstr(&w, "description", tool_member(tool, "help"));
	schema_object(&w, value_get(tool, STR("arguments")));
	jsonw_obj_end(&w);
	buf_putc(out, '\n');
}
