/* SPDX-License-Identifier: Apache-2.0 */
/* Looking into the list of tools: a row is a tool or an argument of one. */
#include "cli/session.h"

struct str tool_member(const struct value *row, const char *key)
{
	const struct value *v = value_get(row, str_z(key));

	return v && v->kind == VALUE_STR ? v->s : (struct str){ .p = "" };
}

bool tool_has_name(const struct value *row, struct str name)
{
	const struct value *aliases = value_get(row, STR("aliases"));

	if (str_eq_nocase(tool_member(row, "name"), name))
		return true;
	for (size_t i = 0; aliases && aliases->kind == VALUE_ARR && i < aliases->arr.n; i++)
		if (aliases->arr.v[i].kind == VALUE_STR && str_eq_nocase(aliases->arr.v[i].s, name))
			return true;
	return false;
}

const struct value *tool_find(const struct value *rows, struct str name)
{
	for (size_t i = 0; rows && rows->kind == VALUE_ARR && i < rows->arr.n; i++)
		if (tool_has_name(&rows->arr.v[i], name))
			return &rows->arr.v[i];
	return NULL;
}

const struct value *tool_argument(const struct value *tool, struct str name)
{
	return tool_find(value_get(tool, STR("arguments")), name);
}

/* "type": one, or "types": several. */
bool tool_argument_takes(const struct value *argument, struct str type)
{
	const struct value *several = value_get(argument, STR("types"));

	if (str_eq(tool_member(argument, "type"), type))
		return true;
	for (size_t i = 0; several && several->kind == VALUE_ARR && i < several->arr.n; i++)
		if (several->arr.v[i].kind == VALUE_STR && str_eq(several->arr.v[i].s, type))
			return true;
	return false;
}
