/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Schema (draft 2020-12) of creel.json5, out of the option table. */
#include "config/node_priv.h"

#define TEXT "^[^\\u0000]*$" /* no NUL */
#define ENV_NAME "^[A-Za-z_][A-Za-z0-9_]*$"

static void kind(struct jsonw *w, const char *type)
{
	jsonw_kz(w, "type", type);
}

static void text(struct jsonw *w, const char *pattern)
{
	kind(w, "string");
	if (pattern)
		jsonw_kz(w, "pattern", pattern);
}

/* key: { type: string, pattern } */
static void text_member(struct jsonw *w, const char *key, const char *pattern)
{
	jsonw_kobj(w, key);
	text(w, pattern);
	jsonw_obj_end(w);
}

static void list_of_text(struct jsonw *w, const char *pattern)
{
	kind(w, "array");
	jsonw_kobj(w, "items");
	text(w, pattern);
	jsonw_obj_end(w);
}

static void list_member(struct jsonw *w, const char *key)
{
	jsonw_kobj(w, key);
	list_of_text(w, TEXT);
	jsonw_obj_end(w);
}

static void words(struct jsonw *w, const struct enum_name *names)
{
	jsonw_karr(w, "enum");
	for (; names->name; names++)
		jsonw_str(w, str_z(names->name));
	jsonw_arr_end(w);
}

static void words_member(struct jsonw *w, const char *key, const struct enum_name *names)
{
	jsonw_kobj(w, key);
	words(w, names);
	jsonw_obj_end(w);
}

static void range(struct jsonw *w, const struct option_info *info)
{
	jsonw_key(w, STR("minimum"));
	jsonw_num(w, info->min);
	jsonw_key(w, STR("maximum"));
	jsonw_num(w, info->max);
}

static void required(struct jsonw *w, const char *const *keys)
{
	jsonw_karr(w, "required");
	for (; *keys; keys++)
		jsonw_str(w, str_z(*keys));
	jsonw_arr_end(w);
}

static void size_of(struct jsonw *w, const struct option_info *info)
{
	jsonw_karr(w, "anyOf");
	jsonw_obj(w);
	kind(w, "integer");
	range(w, info);
	jsonw_obj_end(w);
	jsonw_obj(w);
	text(w, "^[0-9]+(\\.[0-9]+)?([kKmMgGtTpP]([iI]?[bB])?)?$");
	jsonw_obj_end(w);
	jsonw_arr_end(w);
}

static void map_of_text(struct jsonw *w, const char *names, const char *values)
{
	kind(w, "object");
	if (names) {
		jsonw_kobj(w, "propertyNames");
		jsonw_kz(w, "pattern", names);
		jsonw_obj_end(w);
	}
	jsonw_kobj(w, "additionalProperties");
	if (values)
		text(w, values);
	jsonw_obj_end(w);
}

static void layers(struct jsonw *w)
{
	kind(w, "object");
	jsonw_kobj(w, "additionalProperties");
	kind(w, "object");
	jsonw_kbool(w, "additionalProperties", false);
	jsonw_kobj(w, "properties");
	words_member(w, "profile", tool_profile_names);
	list_member(w, "allow");
	list_member(w, "alsoAllow");
	list_member(w, "deny");
	jsonw_obj_end(w);
	jsonw_obj_end(w);
}

static void listmap(struct jsonw *w)
{
	kind(w, "object");
	jsonw_kobj(w, "additionalProperties");
	kind(w, "array");
	jsonw_kobj(w, "items");
	jsonw_karr(w, "type");
	jsonw_str(w, STR("string"));
	jsonw_str(w, STR("number"));
	jsonw_arr_end(w);
	jsonw_obj_end(w);
	jsonw_obj_end(w);
}

/* Text that may be left out by writing null. */
static void text_or_null(struct jsonw *w, const char *pattern, bool may_be_null)
{
	if (!may_be_null) {
		text(w, pattern);
		return;
	}
	jsonw_karr(w, "type");
	jsonw_str(w, STR("string"));
	jsonw_str(w, STR("null"));
	jsonw_arr_end(w);
	jsonw_kz(w, "pattern", pattern);
}

static void constraint(struct jsonw *w, const struct option_info *info)
{
	switch (info->type) {
	case TYPE_BOOL:
		kind(w, "boolean");
		return;
	case TYPE_U64:
		kind(w, "integer");
		range(w, info);
		return;
	case TYPE_NUM:
		kind(w, "number");
		range(w, info);
		return;
	case TYPE_SIZE:
		size_of(w, info);
		return;
	case TYPE_ENUM:
		words(w, info->names);
		return;
	case TYPE_STR:
		text_or_null(w, TEXT, info->def[0] == '\0');
		return;
	case TYPE_LIST:
		list_of_text(w, TEXT);
		return;
	case TYPE_MAP:
		map_of_text(w, NULL, NULL);
		return;
	case TYPE_ENV:
		map_of_text(w, ENV_NAME, "^[^\\u0000\\r\\n]*$");
		return;
	case TYPE_BINDS:
		list_of_text(w, "\\S");
		return;
	case TYPE_LAYERS:
		layers(w);
		return;
	case TYPE_LISTMAP:
		listmap(w);
		return;
	case TYPE_REF:
		text_or_null(w, "^(env:[A-Za-z_][A-Za-z0-9_]*|raw:.+)$", true);
		return;
	}
}

/* An option as a schema, with what the manual says about it. */
static struct str option_schema(struct arena *a, const struct option_info *info)
{
	_cleanup_buf_ struct buf b = { 0 };
	struct jsonw w;

	buf_init(&b, 1 << 16);
	jsonw_init(&w, &b, 0);
	jsonw_obj(&w);
	constraint(&w, info);
	jsonw_kz(&w, "description", info->help);
	if (info->def[0])
		jsonw_kz(&w, "$comment", info->def);
	jsonw_obj_end(&w);
	a->failed |= b.failed;
	return arena_str(a, buf_str(&b));
}

/* Options as a tree whose leaves are schemas: those with `need` in their flags, below `prefix`. */
static struct node *option_tree(struct arena *a, unsigned need, const char *prefix)
{
	struct node *root = node_new(a, NODE_OBJ);
	size_t skip = strlen(prefix);

	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		const struct option_info *info = option_info((enum option)i);

		if ((need == 0 || info->flags & need) && str_starts(str_z(info->key), str_z(prefix)))
			node_at(a, root, info->key + skip, NODE_TEXT)->text = option_schema(a, info);
	}
	return root;
}

/* A part that is no option: hung into the tree as finished text. */
static void add_part(struct arena *a, struct node *root, const char *path, void (*write)(struct jsonw *))
{
	_cleanup_buf_ struct buf b = { 0 };
	struct jsonw w;

	buf_init(&b, 1 << 18);
	jsonw_init(&w, &b, 0);
	jsonw_obj(&w);
	write(&w);
	jsonw_obj_end(&w);
	a->failed |= b.failed;
	node_at(a, root, path, NODE_TEXT)->text = arena_str(a, buf_str(&b));
}

/* Closed objects all the way down: an unknown key is an error. As deep as the table. NOLINTBEGIN(misc-no-recursion) */
static void put_tree(struct jsonw *w, const struct node *n)
{
	kind(w, "object");
	jsonw_kbool(w, "additionalProperties", false);
	jsonw_kobj(w, "properties");
	for (const struct node *c = n->first; c; c = c->next) {
		jsonw_key(w, c->key);
		if (c->kind == NODE_TEXT) {
			jsonw_raw(w, c->text);
			continue;
		}
		jsonw_obj(w);
		put_tree(w, c);
		jsonw_obj_end(w);
	}
	jsonw_obj_end(w);
}

/* NOLINTEND(misc-no-recursion) */

static void put_import(struct jsonw *w)
{
	static const char *const formats[] = { "creel",          "athena",         "athena-yaml",
					       "openclaw",       "openclaw-json5", "allowlist",
					       "allowlist-json", "openclaw-net",   "ansible",
					       "ansible-vars" };

	kind(w, "array");
	jsonw_kobj(w, "items");
	kind(w, "object");
	jsonw_kbool(w, "additionalProperties", false);
	required(w, (const char *const[]){ "path", NULL });
	jsonw_kobj(w, "properties");
	text_member(w, "path", "^[^\\u0000]+$");
	jsonw_kobj(w, "format");
	jsonw_karr(w, "enum");
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		jsonw_str(w, str_z(formats[i]));
	jsonw_arr_end(w);
	jsonw_obj_end(w);
	jsonw_obj_end(w);
	jsonw_obj_end(w);
}

static void put_pairs(struct jsonw *w)
{
	kind(w, "array");
	jsonw_kobj(w, "items");
	kind(w, "object");
	jsonw_kbool(w, "additionalProperties", false);
	required(w, (const char *const[]){ "channel", "agent", "chat_id", NULL });
	jsonw_kobj(w, "properties");
	text_member(w, "channel", "^[A-Za-z0-9_-]{1,64}$");
	text_member(w, "agent", "^[a-z0-9_][a-z0-9_-]{0,63}$");
	jsonw_kobj(w, "chat_id");
	jsonw_karr(w, "type");
	jsonw_str(w, STR("string"));
	jsonw_str(w, STR("integer"));
	jsonw_arr_end(w);
	jsonw_kz(w, "pattern", "^-?[A-Za-z0-9_]{1,64}$");
	jsonw_obj_end(w);
	jsonw_obj_end(w);
	jsonw_obj_end(w);
}

static void put_tokens(struct jsonw *w)
{
	kind(w, "array");
	jsonw_kobj(w, "items");
	kind(w, "object");
	jsonw_kbool(w, "additionalProperties", false);
	required(w, (const char *const[]){ "ref", "pairs", NULL });
	jsonw_kobj(w, "properties");
	text_member(w, "ref", "^(env:[A-Za-z_][A-Za-z0-9_]*|raw:.+)$");
	jsonw_kobj(w, "pairs");
	jsonw_karr(w, "anyOf");
	jsonw_obj(w);
	jsonw_kz(w, "const", "*");
	jsonw_obj_end(w);
	jsonw_obj(w);
	put_pairs(w);
	jsonw_obj_end(w);
	jsonw_arr_end(w);
	jsonw_obj_end(w);
	jsonw_obj_end(w);
	jsonw_obj_end(w);
}

static void put_per_tool(struct jsonw *w)
{
	kind(w, "object");
	jsonw_kobj(w, "additionalProperties");
	kind(w, "object");
	jsonw_kbool(w, "additionalProperties", false);
	jsonw_kobj(w, "properties");
	words_member(w, "enforce", enforce_names);
	text_member(w, "template", TEXT);
	jsonw_kobj(w, "ttl");
	kind(w, "integer");
	range(w, option_info(OPT_OSB_TTL_S));
	jsonw_obj_end(w);
	jsonw_obj_end(w);
	jsonw_obj_end(w);
}

/* key: the closed object of some options */
static void tree_member(struct jsonw *w, struct arena *a, const char *key, unsigned need, const char *prefix)
{
	jsonw_kobj(w, key);
	put_tree(w, option_tree(a, need, prefix));
	jsonw_obj_end(w);
}

static void put_rules(struct jsonw *w)
{
	_cleanup_arena_ struct arena a = { 0 };

	arena_init(&a, 1 << 22);
	kind(w, "array");
	jsonw_kobj(w, "items");
	kind(w, "object");
	jsonw_kbool(w, "additionalProperties", false);
	required(w, (const char *const[]){ "match", "trust", NULL });
	jsonw_kobj(w, "properties");
	text_member(w, "match", "^[^\\u0000]+$");
	words_member(w, "trust", trust_names);
	list_member(w, "allow");
	list_member(w, "deny");
	tree_member(w, &a, "route", F_RULE, "network.route.");
	tree_member(w, &a, "limits", F_RULE, "limits.");
	jsonw_obj_end(w);
	jsonw_obj_end(w);
	w->out->failed |= a.failed;
}

static void put_default(struct jsonw *w)
{
	kind(w, "boolean");
}

static void put_agents(struct jsonw *w)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct node *tree;

	arena_init(&a, 1 << 22);
	tree = option_tree(&a, F_AGENT, "");
	add_part(&a, tree, "default", put_default);
	kind(w, "object");
	jsonw_kobj(w, "propertyNames");
	jsonw_kz(w, "pattern", "^[a-z0-9_][a-z0-9_-]{0,63}$");
	jsonw_obj_end(w);
	jsonw_kobj(w, "additionalProperties");
	put_tree(w, tree);
	jsonw_obj_end(w);
	w->out->failed |= a.failed;
}

static void put_schema_key(struct jsonw *w)
{
	kind(w, "string");
}

void config_schema(struct jsonw *w)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct node *root;

	arena_init(&a, 1 << 24);
	root = option_tree(&a, 0, "");
	add_part(&a, root, "$schema", put_schema_key);
	add_part(&a, root, "import", put_import);
	add_part(&a, root, "identity.pairs", put_pairs);
	add_part(&a, root, "identity.tokens", put_tokens);
	add_part(&a, root, "mode.trust.rules", put_rules);
	add_part(&a, root, "tools.per", put_per_tool);
	add_part(&a, root, "agents", put_agents);
	jsonw_obj(w);
	jsonw_kz(w, "$schema", "https://json-schema.org/draft/2020-12/schema");
	jsonw_kz(w, "title", "creel.json5");
	put_tree(w, root);
	jsonw_obj_end(w);
	w->out->failed |= a.failed;
}
