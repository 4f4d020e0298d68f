/* SPDX-License-Identifier: Apache-2.0 */
#include "calling.h"

#include "policy/policy.h"
#include "policy/policy_priv.h"

TEST(tools_need_what_policy_says_they_need)
{
	_cleanup_arena_ struct arena a;

	arena_init(&a, 1 << 16);
	assert_int_equal(tools_count(), 16);
	for (size_t i = 0; i < tools_count(); i++) {
		const struct tool *t = tools_at(i);
		const struct tool_info *info = tool_find(tool_canonical(&a, (enum compat)0, str_z(t->name)));

		CHECK_CASE(info != NULL, "%s is unknown to policy", t->name);
		CHECK_CASE(info->needs == t->needs, "%s", t->name);
		CHECK_CASE(t->needs != 0 && t->help && t->limits && t->run, "%s", t->name);
		for (size_t k = 0; k < t->n_args; k++)
			CHECK_CASE(t->args[k].name && t->args[k].help, "%s, argument %zu", t->name, k);
	}
}

TEST(tools_are_found_by_name_and_alias_in_any_case)
{
	assert_ptr_equal(tools_find(STR("apply-patch")), tools_find(STR("apply_patch")));
	assert_ptr_equal(tools_find(STR("Read")), tools_find(STR("read")));
	assert_non_null(tools_find(STR("FILE_WRITE")));
	assert_null(tools_find(STR("reads")));
	assert_null(tools_find(STR("")));
}

TEST(tools_refuse_arguments_with_the_way_out)
{
	static const struct {
		const char *tool, *args, *words;
		enum err_kind kind;
	} cases[] = {
		{ "read", "{}", "'path' is missing: a string", ERR_USAGE },
		{ "read", "[]", "the arguments are an array, and must be an object", ERR_USAGE },
		{ "read", "null", "the arguments are null, and must be an object", ERR_USAGE },
		{ "read", "{path:'a', ofset:1}", "unknown argument 'ofset', did you mean 'offset'?",
		  ERR_USAGE },
		{ "read", "{path:'a', x:1}", "it takes path, offset, limit, byteOffset, byteLimit",
		  ERR_USAGE },
		{ "read", "{path:1}", "'path' is an integer, and must be a string", ERR_USAGE },
		{ "read", "{path:'a', offset:'1'}", "'offset' is a string, and must be an integer",
		  ERR_USAGE },
		{ "read", "{path:'a', offset:1.5}", "'offset' is a number, and must be an integer",
		  ERR_USAGE },
		{ "read", "{path:'a', offset:-1}", "'offset' is -1, and must be 1..", ERR_USAGE },
		{ "read", "{path:'a', offset:0}", "'offset' is 0, and must be 1..", ERR_USAGE },
		{ "read", "{path:'a', byteOffset:-1}", "'byteOffset' is -1, and must be 0..", ERR_USAGE },
		{ "read", "{path:'a', offset:1, byteLimit:1}", "not both", ERR_USAGE },
		{ "read", "{path:'a', file_path:'b'}", "'path' is given twice, also as 'file_path'",
		  ERR_USAGE },
		{ "read", "{path:''}", "the path is empty", ERR_USAGE },
		{ "read", "{path:'a\\u0000b'}", "NUL byte", ERR_USAGE },
		{ "write", "{path:'a', content:null}", "'content' is missing", ERR_USAGE },
		{ "write", "{path:'a', content:[]}", "'content' is an array, and must be a string",
		  ERR_USAGE },
		{ "write", "{path:'a', content:'', append:'yes'}",
		  "'append' is a string, and must be true or false", ERR_USAGE },
		{ "edit", "{path:'a', edits:[]}", "'edits' has 0 items, and must be 1..1000", ERR_USAGE },
		{ "edit", "{path:'a', edits:[{oldText:'a'}]}", "edits[0]: 'newText' is missing", ERR_USAGE },
		{ "edit", "{path:'a', edits:[{oldText:'a',newText:'b'},3]}",
		  "edits[1]: the arguments are an integer", ERR_USAGE },
		{ "edit", "{path:'a', edits:[{oldText:'a',newText:'b',c:1}]}",
		  "edits[0]: unknown argument 'c'", ERR_USAGE },
		{ "edit", "{path:'a', oldText:'a'}", "'newText' is missing", ERR_USAGE },
		{ "edit", "{path:'a', oldText:'a', newText:'b', edits:[{oldText:'a',newText:'b'}]}",
		  "not both", ERR_USAGE },
		{ "search", "{}", "give 'pattern' for lines, 'glob' for names", ERR_USAGE },
		{ "search", "{pattern:''}", "'pattern' has 0 bytes, and must be 1..4096", ERR_USAGE },
		{ "ls", "{depth:65}", "'depth' is 65, and must be 1..64", ERR_USAGE },
	};
	YARD(p);
	CALL(c, p);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		call_fails(&c, cases[i].tool, cases[i].args, cases[i].kind, cases[i].words);
}

TEST(tools_take_null_for_not_given_and_the_names_that_agents_know)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("one\n"), 0644);
	call_ok(&c, "read", "{file_path:'a', offset:null, limit:null}");
	CHECK_STR(got_str(&c, "text"), STR("one\n"));
	call_ok(&c, "edit", "{file_path:'a', old_string:'one', new_string:'two', replace_all:null}");
	YARD_CHECK(p.work, "a", STR("two\n"));
}

/* Every tool that takes a path, with every way out of the workspace that there is. */
TEST(tools_keep_to_the_workspace_when_told_to)
{
	static const char *const calls[][2] = {
		{ "read", "{path:'%s'}" },
		{ "write", "{path:'%s', content:'x'}" },
		{ "write", "{path:'%s', content:'x', append:true}" },
		{ "edit", "{path:'%s', oldText:'secret', newText:'x'}" },
		{ "ls", "{path:'%s'}" },
		{ "search", "{path:'%s', pattern:'secret'}" },
		{ "apply_patch",
		  "{input:'*** Begin Patch\\n*** Update File: %s\\n-secret\\n+x\\n*** End Patch'}" },
		{ "apply_patch", "{input:'*** Begin Patch\\n*** Delete File: %s\\n*** End Patch'}" },
		{ "apply_patch", "{input:'*** Begin Patch\\n*** Add File: %s.new\\n+x\\n*** End Patch'}" },
		{ "apply_patch", "{input:'--- %s\\n+++ %s\\n@@ -1 +1 @@\\n-secret\\n+x\\n'}" },
	};
	static const char *const paths[] = {
		"/top/secret",         "../top/secret",
		"a/../../top/secret",  "out/secret",
		"/work/../top/secret", "/work/out/secret",
		"/work-other/secret",  "../../../../../../../../../../top/secret"
	};
	YARD(p);
	CALL(c, p);
	char args[512];

	assert_int_equal(mkdirat(p.work, "a", 0755), 0);
	assert_int_equal(symlinkat("../top", p.work, "out"), 0);
	yard_put(p.root, "top/secret", STR("secret\n"), 0644);
	yard_put(p.root, "work-other/secret", STR("secret\n"), 0644);
	/* Without the rule the same path is there. */
	call_ok(&c, "read", "{path:'out/secret'}");
	CHECK_STR(got_str(&c, "text"), STR("secret\n"));
	c.ctx.work_only = true;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		for (size_t k = 0; k < sizeof(paths) / sizeof(paths[0]); k++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			(void)snprintf(args, sizeof(args), calls[i][1], paths[k], paths[k]);
#pragma GCC diagnostic pop
			if (call_run(&c, calls[i][0], str_z(args)) >= 0)
				fail_msg("%s %s did not fail", calls[i][0], args);
			CHECK_CASE(c.e.kind == ERR_DENIED, "%s %s: %s", calls[i][0], args, c.e.msg);
		}
	YARD_CHECK(p.root, "top/secret", STR("secret\n"));
	assert_int_equal(yard_count(p.work), 2);
	yard_put(p.work, "a/b", STR("mine"), 0644);
	call_ok(&c, "read", "{path:'/work/a/b'}");
	call_ok(&c, "read", "{path:'a/../a/b'}");
}

TEST_MAIN()
