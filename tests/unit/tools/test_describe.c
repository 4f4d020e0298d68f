/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "data/json.h"
#include "tools/describe.h"

#include <stdio.h>

static struct value schema_of(const struct tool *t, struct arena *a)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct err e = { 0 };
	struct value v;
	struct jsonw w;

	buf_init(&out, 1 << 20);
	jsonw_init(&w, &out, 0);
	tools_put_schema(t, &w);
	assert_false(out.failed);
	CHECK_CASE(json_parse(a, arena_str(a, buf_str(&out)), &(struct json_opts){ 0 }, &v, &e) == 0,
		   "%s: %s", t->name, e.msg);
	return v;
}

TEST(every_tool_has_a_schema_with_its_arguments)
{
	struct arena a;

	arena_init(&a, 4 << 20);
	for (size_t i = 0; i < tools_count(); i++) {
		const struct tool *t = tools_at(i);
		struct value v = schema_of(t, &a);
		const struct value *properties = value_path(&v, "inputSchema.properties");

		CHECK_STR(value_get(&v, STR("name"))->s, str_z(t->name));
		assert_non_null(properties);
		assert_int_equal(properties->obj.n, t->n_args);
		assert_false(value_path(&v, "inputSchema.additionalProperties")->b);
		assert_true(value_get(&v, STR("needs"))->arr.n > 0);
		for (size_t k = 0; k < t->n_args; k++)
			CHECK_CASE(
				value_get(value_get(properties, str_z(t->args[k].name)), STR("description")),
				"%s.%s", t->name, t->args[k].name);
	}
	arena_done(&a);
}

TEST(a_schema_says_what_the_row_says)
{
	struct arena a;
	struct value v;

	arena_init(&a, 4 << 20);
	v = schema_of(tools_find(STR("exec")), &a);
	assert_int_equal(value_get(&v, STR("aliases"))->arr.n, 3);
	CHECK_STR(value_get(&v, STR("aliases"))->arr.v[0].s, STR("bash"));
	assert_int_equal(value_path(&v, "inputSchema.properties.command.type")->kind, VALUE_ARR);
	CHECK_STR(value_path(&v, "inputSchema.properties.env.additionalProperties.type")->s, STR("string"));
	CHECK_STR(value_path(&v, "inputSchema.required")->arr.v[0].s, STR("command"));
	v = schema_of(tools_find(STR("edit")), &a);
	CHECK_STR(value_path(&v, "inputSchema.properties.edits.items.properties.oldText.type")->s,
		  STR("string"));
	v = schema_of(tools_find(STR("ls")), &a);
	assert_int_equal(value_path(&v, "inputSchema.properties.depth.maximum")->i, 64);
	assert_int_equal(value_path(&v, "inputSchema.properties.depth.minimum")->i, 1);
	arena_done(&a);
}

TEST(the_manual_names_every_tool_and_argument)
{
	_cleanup_buf_ struct buf out = { 0 };
	char text[96];

	buf_init(&out, 1 << 20);
	tools_put_manual(&out);
	assert_false(out.failed);
	for (size_t i = 0; i < tools_count(); i++) {
		const struct tool *t = tools_at(i);

		(void)snprintf(text, sizeof(text), "## %s\n", t->name);
		CHECK_CASE(strstr(out.p, text), "%s", t->name);
		for (size_t k = 0; k < t->n_args; k++) {
			(void)snprintf(text, sizeof(text), "*%s*", t->args[k].name);
			CHECK_CASE(strstr(out.p, text), "%s.%s", t->name, t->args[k].name);
		}
	}
}

TEST_MAIN()
