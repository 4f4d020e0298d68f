/* SPDX-License-Identifier: Apache-2.0 */
/* S3's two sandboxes as decisions: who is routed where, what one network mode for all means, and who gets which key. */
#include "walls.h"

#define SESSION "agent:main:main"

/* The role's defaults. */
static void bilrost(void)
{
	static const struct str set[] = { { .p = "GH_TOKEN", .n = 8 }, { .p = "BRAVE_API_KEY", .n = 13 } };

	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(SCOPE, scope, SCOPE_SESSION);
	SAY(WS_ACCESS, ws_access, ACCESS_RW);
	SAY(SBX_ALLOW, sbx_allow, LIST("*"));
	SAY(SBX_DENY, sbx_deny, LIST(""));
	SAY(ROUTE_TOOLS, route_tools, LIST("web_fetch,web_search"));
	SAY(ROUTE_EXEC, route_exec, LIST("gh"));
	SAY(VAULT_ENABLED, vault_enabled, true);
	SAY(ENV_SET, env_set, walls_env(STR("GH_TOKEN=${GH_TOKEN},BRAVE_API_KEY=${BRAVE_API_KEY}")));
	w.r.facts.env_names = (struct strs){ .v = set, .n = 2 };
}

static bool runs_here(const struct tool_info *t)
{
	return !t->gateway_side && strcmp(t->name, "browser") != 0;
}

/* Every tool that is carried out here, with every state of the two lists. */
TEST(s3_29_a_match_of_either_list_is_the_bridge_and_everything_else_is_isolated)
{
	static const char *const tool_lists[] = { "", "web_fetch,web_search", "read" };
	static const char *const programs[] = { "", "gh", "gh,npm" };

	for (size_t l = 0; l < 3; l++)
		for (size_t p = 0; p < 3; p++)
			for (size_t i = 0; i < tool_count(); i++) {
				struct strs tools, execs;
				bool listed, twin;

				if (!runs_here(tool_at(i)))
					continue;
				bilrost();
				SAY(ROUTE_TOOLS, route_tools, tools = walls_list(str_z(tool_lists[l])));
				SAY(ROUTE_EXEC, route_exec, execs = walls_list(str_z(programs[p])));
				listed =
					tool_list_has(COMPAT_DOCUMENTS, tools, str_z(tool_at(i)->name), NULL);
				twin = tools.n + execs.n > 0;
				CHECK_OK(ask(SESSION, tool_at(i)->name));
				CHECK_CASE((w.d.net.route == ROUTE_NETWORK) == listed, "%s with %s",
					   tool_at(i)->name, tool_lists[l]);
				CHECK_CASE(listed || w.d.net.route == ROUTE_NONE, "%s", tool_at(i)->name);
				assert_int_equal(w.d.net.twin, twin);
			}
}

TEST(s3_28_the_first_word_of_the_command_is_compared_and_no_other)
{
	bilrost();
	CHECK_OK(ask_command(SESSION, "gh api /user"));
	assert_int_equal(w.d.net.route, ROUTE_NETWORK);
	CHECK_OK(ask_command(SESSION, "echo gh"));
	assert_int_equal(w.d.net.route, ROUTE_NONE);
	CHECK_OK(ask_command(SESSION, "ghost"));
	assert_int_equal(w.d.net.route, ROUTE_NONE);
}

TEST(s3_4_to_13_the_two_sandboxes_have_the_same_mounts_and_not_the_same_network_and_keys)
{
	static const char *const mounts[] = { "/workspace", "/workspace-obsidian" };

	bilrost();
	CHECK_OK(ask_command(SESSION, "make"));
	CHECK_STR(w.d.net.network, STR("none"));
	assert_int_equal(env_named(&w.d, "GH_TOKEN")->state, ENV_WITHHELD);
	for (size_t i = 0; i < 2; i++)
		assert_true(mount_at(&w.d, mounts[i])->writable);
	CHECK_OK(ask_command(SESSION, "gh pr list"));
	CHECK_STR(w.d.net.network, STR("bridge"));
	assert_int_equal(env_named(&w.d, "GH_TOKEN")->state, ENV_SET);
	assert_int_equal(env_named(&w.d, "BRAVE_API_KEY")->state, ENV_SET);
	for (size_t i = 0; i < 2; i++)
		assert_true(mount_at(&w.d, mounts[i])->writable);
}

TEST(s3_52_one_bridge_for_all_tools)
{
	static const char *const lines[] = { "npm install", "curl https://example.com", "gh api /user",
					     "ls" };

	bilrost();
	SAY(NET_PRIMARY, net_primary, STR("bridge"));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		CHECK_OK(ask_command(SESSION, lines[i]));
		CHECK_STR(w.d.net.network, STR("bridge"));
		assert_false(w.d.net.twin);
	}
}

TEST(s3_53_without_network_no_tool_has_one_and_the_gateway_is_not_concerned)
{
	bilrost();
	SAY(ROUTE_TOOLS, route_tools, LIST(""));
	SAY(ROUTE_EXEC, route_exec, LIST(""));
	SAY(BROWSER_NETWORK, browser_network, STR("none"));
	for (size_t i = 0; i < tool_count(); i++) {
		CHECK_OK(ask(SESSION, tool_at(i)->name));
		if (tool_at(i)->gateway_side)
			assert_int_equal(w.d.place.place, PLACE_NOWHERE);
		else
			CHECK_CASE(str_eq(w.d.net.network, STR("none")), "%s", tool_at(i)->name);
	}
}

TEST(s3_65_variables_go_to_the_network_sandbox_alone)
{
	static const char *const isolated[] = { "read", "write", "exec", "process", "search" };

	bilrost();
	for (size_t i = 0; i < sizeof(isolated) / sizeof(isolated[0]); i++) {
		CHECK_OK(ask(SESSION, isolated[i]));
		assert_int_equal(env_named(&w.d, "GH_TOKEN")->state, ENV_WITHHELD);
		assert_int_equal(env_named(&w.d, "BRAVE_API_KEY")->state, ENV_WITHHELD);
	}
}

TEST(s3_66_a_reference_takes_the_value_from_the_gateways_environment_or_is_left_out)
{
	bilrost();
	CHECK_OK(ask_command(SESSION, "gh pr list"));
	assert_int_equal(env_named(&w.d, "GH_TOKEN")->state, ENV_SET);
	assert_int_equal(env_named(&w.d, "GH_TOKEN")->value.n, 0);
	w.r.facts.env_names.n = 0;
	CHECK_OK(ask_command(SESSION, "gh pr list"));
	assert_int_equal(env_named(&w.d, "GH_TOKEN")->state, ENV_UNSET);
	assert_true(has_warning(&w.d, "env_unset"));
}

TEST(s3_68_s3_69_gh_has_its_token_and_web_search_its_key)
{
	bilrost();
	CHECK_OK(ask_command(SESSION, "gh pr create --title \"Fix bug\""));
	assert_int_equal(env_named(&w.d, "GH_TOKEN")->state, ENV_SET);
	w.r.command = (struct str){ 0 };
	CHECK_OK(ask(SESSION, "web_search"));
	CHECK_STR(w.d.net.network, STR("bridge"));
	assert_int_equal(env_named(&w.d, "BRAVE_API_KEY")->state, ENV_SET);
}

TEST(s3_79_without_the_sandbox_tools_run_where_the_gateway_runs)
{
	bilrost();
	SAY(WHEN, when, WHEN_OFF);
	CHECK_OK(ask(SESSION, "exec"));
	assert_int_equal(w.d.place.place, PLACE_HOST);
}

TEST_MAIN()
