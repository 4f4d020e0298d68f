/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/tooltables.h"
#include "world.h"

static bool is_group_of(enum compat compat, const char *group, const char *tool)
{
	struct strs members;

	return tool_group(compat, str_z(group), &members) && list_holds(members, tool);
}

/* C22 */
TEST(every_documents_names_mean_one_tool)
{
	static const struct {
		const char *asked, *canonical;
	} t[] = {
		{ "bash", "exec" },
		{ "shell", "exec" },
		{ "shell_exec", "exec" },
		{ "execute", "exec" },
		{ "EXEC", "exec" },
		{ " exec ", "exec" },
		{ "file_read", "read" },
		{ "file_write", "write" },
		{ "apply-patch", "apply_patch" },
		{ "code_exec", "code_exec" },
		{ "Sessions_List", "sessions_list" },
		{ "frob", "frob" },
	};
	WORLD(w);

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		CHECK_STR(tool_canonical(&w->a, COMPAT_DOCUMENTS, str_z(t[i].asked)), str_z(t[i].canonical));
		CHECK_STR(tool_canonical(&w->a, COMPAT_OPENCLAW_2026_9, str_z(t[i].asked)),
			  str_z(t[i].canonical));
	}
}

TEST(cron_and_automations_are_one_tool_under_each_versions_name)
{
	WORLD(w);

	CHECK_STR(tool_canonical(&w->a, COMPAT_DOCUMENTS, STR("automations")), STR("cron"));
	CHECK_STR(tool_canonical(&w->a, COMPAT_DOCUMENTS, STR("cron")), STR("cron"));
	CHECK_STR(tool_canonical(&w->a, COMPAT_OPENCLAW_2026_9, STR("cron")), STR("automations"));
	assert_true(tool_list_has(COMPAT_OPENCLAW_2026_9, LIST(STR("Cron")), STR("automations"), NULL));
	assert_true(tool_list_has(COMPAT_DOCUMENTS, LIST(STR("automations")), STR("cron"), NULL));
}

TEST(the_tables_hold_together)
{
	static const enum compat both[] = { COMPAT_DOCUMENTS, COMPAT_OPENCLAW_2026_9 };

	for (size_t v = 0; v < 2; v++) {
		size_t n;
		const struct tool_group *g = tool_groups(both[v], &n);

		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < g[i].members.n; k++)
				CHECK_CASE(tool_find(g[i].members.v[k]), "%.*s in %.*s",
					   (int)g[i].members.v[k].n, g[i].members.v[k].p, (int)g[i].name.n,
					   g[i].name.p);
		for (const struct tool_alias *t = tool_aliases(both[v]); t->alias.p; t++)
			assert_non_null(tool_find(t->name));
		for (size_t i = 0; i < sandbox_default_allow(both[v]).n; i++)
			assert_non_null(tool_find(sandbox_default_allow(both[v]).v[i]));
	}
	for (size_t i = 0; i < tool_count(); i++)
		assert_ptr_equal(tool_find(str_z(tool_at(i)->name)), tool_at(i));
	assert_null(tool_find(STR("frob")));
	assert_int_equal(tool_profile_list(COMPAT_DOCUMENTS, TOOL_PROFILE_NONE).n, 0);
	assert_int_equal(tool_profile_list(COMPAT_DOCUMENTS, (enum tool_profile)9).n, 0);
	assert_int_equal(tool_profile_list(COMPAT_DOCUMENTS, TOOL_PROFILE_FULL).n, 1);
}

/* S1-59 */
TEST(the_documents_groups_have_the_documents_members)
{
	static const struct {
		const char *group, *tool;
	} t[] = {
		{ "group:runtime", "exec" },
		{ "group:runtime", "process" },
		{ "group:fs", "read" },
		{ "group:fs", "write" },
		{ "group:fs", "edit" },
		{ "group:fs", "apply_patch" },
		{ "group:sessions", "sessions_list" },
		{ "group:sessions", "session_status" },
		{ "group:memory", "memory_get" },
		{ "group:web", "web_fetch" },
		{ "group:ui", "browser" },
		{ "group:ui", "canvas" },
		{ "group:automation", "cron" },
		{ "group:automation", "gateway" },
		{ "group:messaging", "message" },
		{ "group:nodes", "nodes" },
		{ "GROUP:FS", "read" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		CHECK_CASE(is_group_of(COMPAT_DOCUMENTS, t[i].group, t[i].tool), "%s %s", t[i].group,
			   t[i].tool);
	assert_false(is_group_of(COMPAT_DOCUMENTS, "group:media", "image"));
	assert_false(is_group_of(COMPAT_DOCUMENTS, "group:nope", "read"));
	assert_true(is_group_of(COMPAT_OPENCLAW_2026_9, "group:media", "view_image"));
	assert_false(is_group_of(COMPAT_OPENCLAW_2026_9, "group:openclaw", "exec"));
}

TEST(a_list_covers_by_name_alias_glob_and_group_in_any_case)
{
	const enum compat c = COMPAT_DOCUMENTS;
	struct str entry = { 0 };

	assert_true(tool_list_has(c, LIST(STR(" BASH ")), STR("exec"), &entry));
	CHECK_STR(entry, STR(" BASH "));
	assert_true(tool_list_has(c, LIST(STR("x"), STR("Group:Fs")), STR("edit"), &entry));
	CHECK_STR(entry, STR("Group:Fs"));
	assert_true(tool_list_has(c, LIST(STR("*")), STR("edit"), NULL));
	assert_true(tool_list_has(c, LIST(STR("web_*")), STR("web_fetch"), NULL));
	assert_false(tool_list_has(c, LIST(STR(""), STR("  ")), STR("edit"), NULL));
	assert_false(tool_list_has(c, LIST(STR("group:nope")), STR("edit"), NULL));
	assert_false(tool_list_has(c, LIST(STR("ba*")), STR("exec"), NULL));
	assert_false(tool_list_has(c, NO_LIST, STR("edit"), NULL));
}

TEST(upstreams_entries_that_mean_more_than_they_say)
{
	const enum compat c = COMPAT_OPENCLAW_2026_9;

	assert_true(tool_list_has(c, LIST(STR("update_plan")), STR("progress_card"), NULL));
	assert_true(tool_list_has(c, LIST(STR("canvas")), STR("show_widget"), NULL));
	assert_true(tool_list_has(c, LIST(STR("canvas")), STR("canvas"), NULL));
	assert_true(tool_list_has(c, LIST(STR("group:plugins")), STR("docs__search"), NULL));
	assert_true(tool_list_has(c, LIST(STR("bundle-mcp")), STR("docs__search"), NULL));
	assert_false(tool_list_has(c, LIST(STR("bundle-mcp")), STR("exec"), NULL));
	assert_false(tool_list_has(c, LIST(STR("bundle-mcp")), STR("web_fetch"), NULL));
	assert_false(tool_list_has(c, LIST(STR("bundle-mcp")), STR("x__"), NULL));
	assert_false(tool_list_has(c, LIST(STR("bundle-mcp")), STR("__x"), NULL));
	assert_false(tool_list_has(COMPAT_DOCUMENTS, LIST(STR("canvas")), STR("show_widget"), NULL));
}

TEST(needs_are_what_the_table_of_the_model_says)
{
	static const struct {
		const char *tool;
		unsigned needs;
		bool gateway;
	} t[] = {
		{ "read", CAP_BIT(CAP_FS_READ), false },
		{ "search", CAP_BIT(CAP_FS_READ), false },
		{ "write", CAP_BIT(CAP_FS_WRITE), false },
		{ "apply_patch", CAP_BIT(CAP_FS_WRITE), false },
		{ "exec", CAP_BIT(CAP_PROC_EXEC), false },
		{ "code_exec", CAP_BIT(CAP_PROC_EXEC), false },
		{ "web_fetch", CAP_BIT(CAP_NET) | CAP_BIT(CAP_API), false },
		{ "browser", CAP_BIT(CAP_BROWSER), false },
		{ "message", 0, true },
		{ "cron", 0, true },
		{ "gateway", 0, true },
		{ "nodes", 0, true },
		{ "memory_search", 0, true },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const struct tool_info *info = tool_find(str_z(t[i].tool));

		assert_non_null(info);
		assert_int_equal(info->needs, t[i].needs);
		assert_int_equal(info->gateway_side, t[i].gateway);
	}
}

TEST(an_unknown_tool_exists_only_when_an_allow_list_names_it)
{
	WORLD(w);

	ask_for(w, "main:x", "docs__search");
	CHECK_DENY(w, CODE_TOOL_NOT_ALLOWED);
	w->c.base.tools_allow = LIST(STR("*"));
	ask_for(w, "main:x", "docs__search");
	CHECK_DENY(w, CODE_TOOL_NOT_ALLOWED);
	w->c.base.tools_also_allow = LIST(STR("docs__*"));
	ask_for(w, "main:x", "docs__search");
	CHECK_ALLOW(w);
	assert_true(w->d.tool.gateway_side);
	assert_int_equal(w->d.tool.needs, 0);
	w->c.base.tools_deny = LIST(STR("docs__search"));
	ask_for(w, "main:x", "docs__search");
	CHECK_DENY(w, CODE_TOOL_DENIED_BY_POLICY);
}

/* S0-35 */
TEST(an_unknown_tool_is_denied_below_full_trust_unless_the_rule_names_it)
{
	const struct str allow[] = { STR("docs__search") };
	struct trust_rule r = {
		.match = STR("client:*"), .trust = TRUST_LIGHT, .has_allow = true, .allow = { allow, 1 }
	};
	WORLD(w);

	w->c.base.tools_also_allow = LIST(STR("docs__*"));
	ask_for(w, "client:x", "docs__search");
	CHECK_DENY(w, CODE_CAPABILITY_DENIED);
	w->c.rules = &r;
	w->c.n_rules = 1;
	ask_for(w, "client:x", "docs__search");
	CHECK_ALLOW(w);
	ask_for(w, "client:x", "docs__other");
	CHECK_DENY(w, CODE_CAPABILITY_DENIED);
}

TEST(a_name_that_is_no_name_is_no_tool)
{
	char name[200];
	WORLD(w);

	memset(name, 'a', sizeof(name));
	w->c.base.tools_also_allow = LIST(STR("a*"));
	w->r.tool = (struct str){ .p = name, .n = 128 };
	ask(w);
	CHECK_ALLOW(w);
	w->r.tool.n = 129;
	ask(w);
	CHECK_DENY(w, CODE_TOOL_NOT_ALLOWED);
	w->r.tool = STR("a b");
	ask(w);
	CHECK_DENY(w, CODE_TOOL_NOT_ALLOWED);
	w->r.tool = STR("   ");
	ask(w);
	CHECK_DENY(w, CODE_TOOL_NOT_ALLOWED);
	w->r.tool = (struct str){ .p = "a\0b", .n = 3 };
	ask(w);
	CHECK_DENY(w, CODE_TOOL_NOT_ALLOWED);
}

TEST(a_command_without_a_tool_is_exec)
{
	const struct str argv[] = { STR("make"), STR("test") };
	WORLD(w);

	w->r.argv = (struct strs){ argv, 2 };
	ask(w);
	CHECK_ALLOW(w);
	CHECK_STR(w->d.tool.name, STR("exec"));
	assert_int_equal(w->d.tool.argv.n, 2);
}

/* C23 */
TEST(a_simple_string_becomes_words_and_any_other_needs_a_shell)
{
	WORLD(w);

	w->r.command = STR("pytest -q");
	ask_for(w, "untrusted:x", "exec");
	assert_false(w->d.tool.shell);
	assert_int_equal(w->d.tool.argv.n, 2);
	CHECK_STR(w->d.tool.argv.v[1], STR("-q"));
	w->r.command = STR("pytest -q | tail");
	ask_for(w, "untrusted:x", "exec");
	assert_true(w->d.tool.shell);
	assert_int_equal(w->d.tool.argv.n, 3);
	CHECK_STR(w->d.tool.argv.v[2], STR("pytest -q | tail"));
}

TEST(the_alias_is_told)
{
	WORLD(w);

	ask_for(w, "main:x", "bash");
	CHECK_STR(w->d.tool.asked, STR("bash"));
	CHECK_STR(w->d.tool.name, STR("exec"));
	assert_true(has_reason(&w->d, STAGE_TOOL, "tool", "exec"));
	assert_true(has_reason(&w->d, STAGE_TOOL, "allowed", "exec"));
}

TEST(no_tool_asked_means_who_and_where_only)
{
	WORLD(w);

	ask_for(w, "agent:main:main", "");
	CHECK_ALLOW(w);
	assert_int_equal(w->d.tool.name.n, 0);
	assert_true(w->d.tool.sbx_allow.names.n > 0);
}

TEST(exec_mode_deny_refuses_every_way_to_start_a_process)
{
	static const char *const tools[] = { "exec", "process", "code_exec", "git" };
	WORLD(w);

	w->c.base.exec_mode = EXEC_MODE_DENY;
	for (size_t i = 0; i < 4; i++) {
		ask_for(w, "main:x", tools[i]);
		CHECK_DENY(w, CODE_EXEC_MODE_DENIED);
	}
	ask_for(w, "main:x", "read");
	CHECK_ALLOW(w);
}

TEST(on_the_host_a_person_is_asked_when_the_mode_says_so)
{
	const struct str argv[] = { STR("make") };
	WORLD(w);

	w->r.argv = (struct strs){ argv, 1 };
	w->c.base.exec_mode = EXEC_MODE_ASK;
	assert_int_equal(ask_for(w, "agent:main:main", "exec"), VERDICT_ASK);
	assert_int_equal(w->d.code, CODE_OK);
	CHECK_STR(w->d.message, STR("needs approval"));
	w->c.base.exec_mode = EXEC_MODE_AUTO;
	assert_int_equal(ask_for(w, "agent:main:main", "exec"), VERDICT_ASK);
	w->c.base.exec_mode = EXEC_MODE_ALWAYS;
	assert_int_equal(ask_for(w, "agent:main:main", "exec"), VERDICT_ASK);
	w->c.base.exec_mode = EXEC_MODE_FULL;
	assert_int_equal(ask_for(w, "agent:main:main", "exec"), VERDICT_ALLOW);
	w->c.base.exec_mode = EXEC_MODE_ASK;
	assert_int_equal(ask_for(w, "untrusted:x", "exec"), VERDICT_ALLOW);
	assert_int_equal(ask_for(w, "agent:main:main", "read"), VERDICT_ALLOW);
}

TEST(programs_that_are_listed_run_on_the_host_and_the_mode_says_what_becomes_of_others)
{
	static const struct {
		enum exec_mode mode;
		enum verdict listed, other;
	} t[] = {
		{ EXEC_MODE_UNSET, VERDICT_ALLOW, VERDICT_ALLOW },
		{ EXEC_MODE_ALLOWLIST, VERDICT_ALLOW, VERDICT_DENY },
		{ EXEC_MODE_ASK, VERDICT_ALLOW, VERDICT_ASK },
		{ EXEC_MODE_AUTO, VERDICT_ALLOW, VERDICT_ASK },
		{ EXEC_MODE_FULL, VERDICT_ALLOW, VERDICT_ALLOW },
		{ EXEC_MODE_ALWAYS, VERDICT_ASK, VERDICT_ASK },
		{ EXEC_MODE_DENY, VERDICT_DENY, VERDICT_DENY },
	};
	const struct str argv[] = { STR("make"), STR("all") }, path[] = { STR("./make") };
	WORLD(w);

	w->c.base.approval_programs = LIST(STR("make"));
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		w->c.base.exec_mode = (int)t[i].mode;
		w->r.argv = (struct strs){ argv, 2 };
		CHECK_CASE(ask_for(w, "agent:main:main", "exec") == t[i].listed, "listed, mode %d",
			   (int)t[i].mode);
		w->r.argv = (struct strs){ path, 1 };
		CHECK_CASE(ask_for(w, "agent:main:main", "exec") == t[i].other, "other, mode %d",
			   (int)t[i].mode);
		if (t[i].other == VERDICT_DENY)
			CHECK_DENY(w, CODE_EXEC_MODE_DENIED);
	}
}

TEST(programs_that_may_run_at_all_are_asked_about_unless_only_they_run)
{
	const struct str argv[] = { STR("make") };
	WORLD(w);

	w->c.base.programs = LIST(STR("make"));
	w->r.argv = (struct strs){ argv, 1 };
	w->c.base.exec_mode = EXEC_MODE_ASK;
	assert_int_equal(ask_for(w, "agent:main:main", "exec"), VERDICT_ASK);
	w->c.base.exec_mode = EXEC_MODE_ALLOWLIST;
	assert_int_equal(ask_for(w, "agent:main:main", "exec"), VERDICT_ALLOW);
}

TEST(who_only_looks_at_a_program_that_runs_on_the_host_asks_nobody)
{
	WORLD(w);

	w->c.base.exec_mode = EXEC_MODE_ALWAYS;
	w->r.passive = true;
	assert_int_equal(ask_for(w, "agent:main:main", "process"), VERDICT_ALLOW);
	w->r.passive = false;
	assert_int_equal(ask_for(w, "agent:main:main", "process"), VERDICT_ASK);
	w->c.base.exec_mode = EXEC_MODE_DENY;
	w->r.passive = true;
	ask_for(w, "agent:main:main", "process");
	CHECK_DENY(w, CODE_EXEC_MODE_DENIED);
}

TEST_MAIN()
