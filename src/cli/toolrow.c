/* SPDX-License-Identifier: Apache-2.0 */
/* Looking into the schema of a tool. */
#include "cli/session.h"

struct str tool_member(const struct value *row, const char *key)
{
	const struct value *v = value_get(row, str_z(key));

	return v && v->kind == VALUE_STR ? v->s : (struct str){ .p = "" };
}

bool tool_has_word(const struct value *list, struct str word, bool nocase)
{
	for (size_t i = 0; list && list->kind == VALUE_ARR && i < list->arr.n; i++) {
		const struct value *v = &list->arr.v[i];

		if (v->kind == VALUE_STR && (nocase ? str_eq_nocase(v->s, word) : str_eq(v->s, word)))
			return true;
	}
	return false;
}

const struct value *tool_properties(const struct value *tool)
{
	static const struct value none = { .kind = VALUE_OBJ };
	const struct value *p = value_path(tool, "inputSchema.properties");

	return p && p->kind == VALUE_OBJ ? p : &none;
}

const struct member *tool_argument(const struct value *tool, struct str name)
{
	const struct value *all = tool_properties(tool);

	for (size_t i = 0; i < all->obj.n; i++) {
		const struct member *m = &all->obj.m[i];

		if (str_eq(m->key, name) || tool_has_word(value_get(&m->v, STR("x-aliases")), name, false))
			return m;
	}
	return NULL;
}

bool tool_needs(const struct value *tool, const struct member *argument)
{
	return tool_has_word(value_path(tool, "inputSchema.required"), argument->key, false);
}

/* "type" is one word, or a list of them. */
bool tool_argument_takes(const struct member *argument, struct str type)
{
	return str_eq(tool_member(&argument->v, "type"), type) ||
	       tool_has_word(value_get(&argument->v, STR("type")), type, false);
}
