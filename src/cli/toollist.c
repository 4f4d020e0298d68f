/* SPDX-License-Identifier: Apache-2.0 */
/* The tools as the library lists them, for people: what there is, what one of them takes. */
#include "cli/session.h"

#include "data/json.h"

static int take_tree(struct cli *cli, char *json, struct value *ret, struct err *e)
{
	struct str copy = arena_str(cli->arena, str_z(json)); /* the tree points into it */

	creel_free(json);
	return session_json(cli, copy.p, ret, e);
}

int toollist_load(struct cli *cli, struct creel_engine *c, struct value *ret, struct err *e)
{
	struct creel_error ce = { 0 };
	char *json = NULL;

	if (creel_tools(c, &json, &ce) < 0)
		return session_error(&ce, e);
	return take_tree(cli, json, ret, e);
}

static const struct arg_guess tool_guesses[] = {
	{ "run", "exec" },       { "grep", "search" },       { "rg", "search" },
	{ "glob", "search" },    { "find", "search" },       { "cat", "read" },
	{ "open", "read" },      { "python", "code_exec" },  { "python3", "code_exec" },
	{ "node", "code_exec" }, { "patch", "apply_patch" }, { "replace", "edit" },
	{ "ps", "process" },     { "curl", "web_fetch" },    { "save", "write" },
	{ NULL, NULL },
};

static struct str guess_tool(struct str name)
{
	for (const struct arg_guess *g = tool_guesses; g->word; g++)
		if (str_eq(str_z(g->word), name))
			return str_z(g->instead);
	return (struct str){ 0 };
}

/* There is no such tool: which may have been meant? */
static int refuse(struct cli *cli, struct creel_engine *c, struct str name, struct err *e)
{
	struct value tools = { 0 };
	struct str near = guess_tool(name);
	unsigned best = near.n ? 0 : 3;
	int r = toollist_load(cli, c, &tools, e);

	if (r < 0)
		return r;
	for (size_t i = 0; tools.kind == VALUE_ARR && i < tools.arr.n; i++) {
		struct str known = tool_member(&tools.arr.v[i], "name");
		unsigned d = str_distance(name, known, best);

		if (d < best && (d == 1 || 2 * d < name.n) && d < name.n) {
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

int toollist_choose(struct cli *cli, struct creel_engine *c, struct str name, struct value *ret,
		    struct err *e)
{
	struct str z = arena_str(cli->arena, name);
	struct creel_error ce = { 0 };
	char *json = NULL;
	int r = creel_tool(c, z.p, &json, &ce);

	if (r < 0)
		return session_error(&ce, e);
	return r == 0 ? refuse(cli, c, name, e) : take_tree(cli, json, ret, e);
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

static bool is_gateway(const struct value *tool)
{
	const struct value *v = value_get(tool, STR("gateway"));

	return v && v->kind == VALUE_BOOL && v->b;
}

/* creel has nothing to tell about them but that they exist: their names, and no row each. */
static void put_gateway(struct cli *cli, const struct value *tools)
{
	_cleanup_buf_ struct buf names = { 0 };

	buf_init(&names, OUTPUT_MAX);
	for (size_t i = 0; tools->kind == VALUE_ARR && i < tools->arr.n; i++)
		if (is_gateway(&tools->arr.v[i])) {
			buf_puts(&names, names.n ? ", " : "");
			buf_put_visible(&names, tool_member(&tools->arr.v[i], "name"));
		}
	if (names.n == 0)
		return;
	buf_puts(cli->out,
		 "\nThe agent's gateway carries these out; creel decides whether they may be called:\n  ");
	help_wrap(cli->out, buf_str(&names), 2);
}

void toollist_put(struct cli *cli, const struct value *tools)
{
	static const char *const titles[] = { "TOOL", "NEEDS", "WHAT IT DOES" };
	struct columns c = {
		.arena = cli->arena, .n = 3, .titles = titles, .bold = output_wants_colour(cli)
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
		if (is_gateway(t))
			continue;
		columns_put(&c, tool_member(t, "name"));
		columns_put(&c, joined(cli->arena, value_get(t, STR("needs")), "-"));
		columns_put(&c, tool_member(t, "description"));
	}
	if (cli->quiet)
		return;
	columns_print(&c, cli->out);
	put_gateway(cli, tools);
}

static void put_types(struct buf *out, const struct value *schema)
{
	const struct value *type = value_get(schema, STR("type"));

	buf_put(out, tool_member(schema, "type"));
	for (size_t i = 0; type && type->kind == VALUE_ARR && i < type->arr.n; i++)
		if (type->arr.v[i].kind == VALUE_STR)
			buf_printf(out, "%s" STR_FMT, i ? " or " : "", STR_ARG(type->arr.v[i].s));
}

/* Those of an object; the objects of a list are told about below it, once. */
static void put_arguments(struct buf *out, const struct value *schema, unsigned indent)
{
	const struct value *all = value_get(schema, STR("properties"));

	for (size_t i = 0; all && all->kind == VALUE_OBJ && i < all->obj.n; i++) {
		const struct member *m = &all->obj.m[i];
		const struct value *items = value_get(&m->v, STR("items"));

		buf_printf(out, "%*s%-12.*s ", (int)indent, "", (int)m->key.n, m->key.p);
		put_types(out, &m->v);
		buf_puts(out, tool_has_word(value_get(schema, STR("required")), m->key, false) ? ", needed: "
											       : ": ");
		buf_put_visible(out, tool_member(&m->v, "description"));
		buf_putc(out, '\n');
		if (items && indent < 4)
			put_arguments(out, items, indent + 4);
	}
}

void toollist_put_help(struct buf *out, const struct value *tool)
{
	const struct value *schema = value_get(tool, STR("inputSchema"));
	const struct value *aliases = value_get(tool, STR("aliases"));
	struct str name = tool_member(tool, "name");

	buf_printf(out, "Usage: creel call [OPTION...] " STR_FMT " [JSON|-|NAME=VALUE...]\n\n" STR_FMT,
		   STR_ARG(name), STR_ARG(name));
	for (size_t i = 0; aliases && aliases->kind == VALUE_ARR && i < aliases->arr.n; i++)
		if (aliases->arr.v[i].kind == VALUE_STR)
			buf_printf(out, ", " STR_FMT, STR_ARG(aliases->arr.v[i].s));
	buf_puts(out, ": ");
	buf_put_visible(out, tool_member(tool, "description"));
	buf_putc(out, '\n');
	if (is_gateway(tool))
		buf_puts(out,
			 "\nThe agent's gateway carries it out; creel decides whether it may be called.\n");
	if (tool_properties(tool)->obj.n) {
		buf_puts(out, "\nArguments:\n");
		put_arguments(out, schema, 2);
	}
	if (tool_member(tool, "limits").n) {
		buf_puts(out, "\nLimits: ");
		buf_put_visible(out, tool_member(tool, "limits"));
		buf_putc(out, '\n');
	}
	buf_puts(out,
		 "\n'creel call --help' has the options; --schema prints the arguments as JSON Schema.\n");
}

int toollist_put_schema(struct buf *out, const struct value *tool, struct err *e)
{
	const struct value *schema = value_get(tool, STR("inputSchema"));
	struct jsonw w;

	if (!schema)
		return err_set(e, ERR_NOTFOUND,
			       "'" STR_FMT
			       "' is carried out by the agent's gateway, which knows its arguments",
			       STR_ARG(tool_member(tool, "name")));
	jsonw_init(&w, out, 2);
	json_write(&w, schema);
	buf_putc(out, '\n');
	return 0;
}
