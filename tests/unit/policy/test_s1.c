/* SPDX-License-Identifier: Apache-2.0 */
/* S1 as decisions: who is main, what an agent overrides, what a container is given, which layer has which say. */
#include "walls.h"

#define MAIN "agent:main:main"
#define GROUP "agent:main:telegram:group:1"

static void sandbox_all(void)
{
	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
}

TEST(s1_2_the_tools_of_a_sandboxed_session_run_in_its_sandbox)
{
	static const char *const tools[] = {
		"exec", "read", "write", "edit", "apply_patch", "process", "bash"
	};

	sandbox_all();
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		CHECK_OK(ask(GROUP, tools[i]));
		CHECK_CASE(w.d.place.place == PLACE_CONTAINER, "%s", tools[i]);
		CHECK_STR(w.d.place.key, STR(GROUP));
	}
}

TEST(s1_10_the_main_key_makes_a_session_main_and_not_the_agent)
{
	walls_reset();
	SAY(WHEN, when, WHEN_NON_MAIN);
	assert_false(ask("agent:main:main", "")->mode.sandboxed);
	assert_false(ask("agent:build:main", "")->mode.sandboxed);
	assert_true(ask("agent:main:work", "")->mode.sandboxed);
	SAY(MAIN_KEY, main_key, STR("work"));
	assert_false(ask("agent:main:work", "")->mode.sandboxed);
	assert_false(ask("agent:build:work", "")->mode.sandboxed);
	assert_true(ask("agent:main:main", "")->mode.sandboxed);
}

TEST(s1_12_to_14_sessions_share_a_sandbox_exactly_as_the_scope_says)
{
	static const struct {
		int scope;
		bool same_agent, all;
	} rows[] = { { SCOPE_SESSION, false, false },
		     { SCOPE_AGENT, true, false },
		     { SCOPE_SHARED, true, true } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str one, other, stranger;

		sandbox_all();
		if (rows[i].scope != SCOPE_SESSION) /* the default */
			SAY(SCOPE, scope, rows[i].scope);
		one = ask("agent:a:telegram:group:1", "exec")->place.key;
		other = ask("agent:a:telegram:group:2", "exec")->place.key;
		stranger = ask("agent:b:telegram:group:1", "exec")->place.key;
		assert_int_equal(str_eq(one, other), rows[i].same_agent);
		assert_int_equal(str_eq(one, stranger), rows[i].all);
	}
}

TEST(s1_15_by_default_tools_see_a_directory_below_openclaws_sandboxes)
{
	sandbox_all();
	CHECK_OK(ask(GROUP, "exec"));
	assert_true(str_starts(w.d.workspace, STR("/home/u/.openclaw/sandboxes/")));
	CHECK_STR(mount_at(&w.d, "/workspace")->host, w.d.workspace);
	for (size_t i = 0; i < w.d.n_mounts; i++)
		assert_false(str_starts(w.d.mounts[i].host, STR("/srv/project")));
}

TEST(s1_35_the_root_is_read_only_unless_it_is_said_otherwise)
{
	sandbox_all();
	assert_true(ask(GROUP, "exec")->eff.readonly_root);
	SAY(READONLY_ROOT, readonly_root, false);
	assert_false(ask(GROUP, "exec")->eff.readonly_root);
}

TEST(s1_36_to_38_user_setup_and_environment_reach_the_sandbox_and_not_the_host)
{
	sandbox_all();
	SAY(USER, user, STR("1000:1000"));
	SAY(SETUP_COMMAND, setup_command, STR("echo ready"));
	SAY(ENV_SET, env_set, walls_env(STR("MY_VAR=value")));
	CHECK_OK(ask(GROUP, "exec"));
	CHECK_STR(w.d.eff.user, STR("1000:1000"));
	CHECK_STR(w.d.eff.setup_command, STR("echo ready"));
	assert_true(w.d.limits.run_setup);
	CHECK_STR(env_named(&w.d, "MY_VAR")->value, STR("value"));
	SAY(WHEN, when, WHEN_OFF);
	CHECK_OK(ask(GROUP, "exec"));
	assert_false(w.d.limits.run_setup);
	assert_null(env_named(&w.d, "MY_VAR"));
}

TEST(s1_42_nothing_of_the_gateways_environment_is_inherited)
{
	static const struct str gateway[] = { { .p = "OPENAI_API_KEY", .n = 14 }, { .p = "EDITOR", .n = 6 } };

	sandbox_all();
	SAY(NET_PRIMARY, net_primary, STR("bridge"));
	w.r.facts.env_names = (struct strs){ .v = gateway, .n = 2 };
	CHECK_OK(ask(GROUP, "exec"));
	assert_null(env_named(&w.d, "OPENAI_API_KEY"));
	assert_null(env_named(&w.d, "EDITOR"));
	SAY(ENV_SET, env_set, walls_env(STR("OPENAI_API_KEY=${OPENAI_API_KEY}")));
	CHECK_OK(ask(GROUP, "exec"));
	assert_int_equal(env_named(&w.d, "OPENAI_API_KEY")->state, ENV_SET);
}

/* --- browser --- */

static void with_browser(void)
{
	sandbox_all();
	SAY(SBX_ALLOW, sbx_allow, LIST("browser"));
	SAY(SBX_DENY, sbx_deny, LIST(""));
	SAY(BACKEND_NAME, backend_name, STR("docker"));
}

TEST(s1_43_the_browser_tool_has_its_own_image_and_starts_by_itself)
{
	with_browser();
	CHECK_OK(ask(GROUP, "browser"));
	assert_int_equal(w.d.place.place, PLACE_CONTAINER);
	CHECK_STR(w.d.place.image, STR("openclaw-sandbox-browser:bookworm-slim"));
	assert_true(w.d.eff.browser_autostart);
	assert_int_equal(w.d.eff.browser_start_ms, 12000);
}

TEST(s1_46_an_agent_may_narrow_who_reaches_the_browsers_port)
{
	struct agent *a;

	with_browser();
	CHECK_STR(ask(GROUP, "browser")->eff.browser_cdp_range, STR(""));
	a = walls_agent("main");
	SAY_IN(a->over, BROWSER_CDP_RANGE, browser_cdp_range, STR("172.21.0.1/32"));
	CHECK_STR(ask(GROUP, "browser")->eff.browser_cdp_range, STR("172.21.0.1/32"));
}

/* A call cannot name the host's browser yet; so allowing it changes nothing, and above all opens nothing. */
TEST(s1_47_the_browser_of_a_sandboxed_session_stays_in_the_sandbox_even_where_host_control_is_allowed)
{
	with_browser();
	assert_false(ask(GROUP, "browser")->eff.browser_host_ctl);
	SAY(BROWSER_HOST_CTL, browser_host_ctl, true);
	CHECK_OK(ask(GROUP, "browser"));
	assert_true(w.d.eff.browser_host_ctl);
	assert_int_equal(w.d.place.place, PLACE_CONTAINER);
	assert_int_equal(w.d.net.route, ROUTE_BROWSER);
}

/* --- agents --- */

TEST(s1_49_to_52_an_agent_has_its_own_mode_scope_and_workspace_access)
{
	struct agent *a;

	walls_reset();
	SAY(WHEN, when, WHEN_NON_MAIN);
	walls_agent("main");
	a = walls_agent("build");
	SAY_IN(a->over, WHEN, when, WHEN_ALL);
	SAY_IN(a->over, SCOPE, scope, SCOPE_AGENT);
	SAY_IN(a->over, WS_ACCESS, ws_access, ACCESS_RO);
	CHECK_OK(ask("agent:build:main", "exec"));
	assert_true(w.d.mode.sandboxed);
	CHECK_STR(w.d.place.key, STR("agent:build"));
	assert_false(mount_at(&w.d, "/agent")->writable);
	CHECK_CODE(ask("agent:build:main", "write"), CODE_TOOL_DENIED_BY_POLICY);
	CHECK_OK(ask("agent:main:main", "write"));
	assert_false(w.d.mode.sandboxed);
	CHECK_OK(ask(GROUP, "exec"));
	CHECK_STR(w.d.place.key, STR(GROUP));
	assert_null(mount_at(&w.d, "/agent"));
}

TEST(s1_53_an_agents_empty_bind_list_adds_nothing_and_a_shared_sandbox_takes_none_of_its_binds)
{
	struct agent *a;

	sandbox_all();
	SAY(BINDS, binds, BINDS("/home/user/source:/source:ro"));
	a = walls_agent("main");
	SAY_IN(a->over, BINDS, binds, ((struct binds){ 0 }));
	CHECK_OK(ask(GROUP, "exec"));
	assert_non_null(mount_at(&w.d, "/source"));
	SAY_IN(a->over, BINDS, binds, BINDS("/mnt/cache:/cache:rw"));
	CHECK_OK(ask(GROUP, "exec"));
	assert_non_null(mount_at(&w.d, "/cache"));
	SAY(SCOPE, scope, SCOPE_SHARED);
	CHECK_OK(ask(GROUP, "exec"));
	assert_null(mount_at(&w.d, "/cache"));
	assert_non_null(mount_at(&w.d, "/source"));
}

/* --- the three layers --- */

static void elevate(void)
{
	static const struct str senders[] = { { .p = "7", .n = 1 } };
	static const struct listmap_entry entry = { .key = { .p = "telegram", .n = 8 },
						    .values = { .v = senders, .n = 1 } };

	SAY(ELEV_ENABLED, elev_enabled, true);
	SAY(ELEV_ALLOW, elev_allow, ((struct listmap){ .v = &entry, .n = 1 }));
	w.r.sender = STR("7");
	w.r.wants_elevated = true;
}

TEST(s1_55_to_57_policy_says_whether_sandbox_says_where_and_elevated_leads_out_of_the_sandbox_alone)
{
	walls_reset();
	SAY(WHEN, when, WHEN_NON_MAIN);
	assert_int_equal(ask(MAIN, "exec")->place.place, PLACE_HOST);
	assert_int_equal(ask(GROUP, "exec")->place.place, PLACE_CONTAINER);
	elevate();
	assert_int_equal(ask(GROUP, "exec")->place.place, PLACE_HOST);
	assert_int_equal(w.d.verdict, VERDICT_ASK);
	SAY(SBX_DENY, sbx_deny, LIST("exec"));
	CHECK_CODE(ask(GROUP, "exec"), CODE_TOOL_DENIED_BY_POLICY);
	SAY(SBX_DENY, sbx_deny, LIST(""));
	SAY(TOOLS_DENY, tools_deny, LIST("exec"));
	CHECK_CODE(ask(GROUP, "exec"), CODE_TOOL_DENIED_BY_POLICY);
	w.r.wants_elevated = false;
	CHECK_CODE(ask(MAIN, "exec"), CODE_TOOL_DENIED_BY_POLICY);
	CHECK_OK(ask(MAIN, "read"));
}

TEST(s1_59_groups_and_plain_names_stand_side_by_side_in_one_list)
{
	static const char *const denied[] = { "exec",    "process", "read",  "write", "edit",   "apply_patch",
					      "browser", "canvas",  "nodes", "cron",  "gateway" };
	static const char *const left[] = { "message", "sessions_list", "session_status", "memory_get" };

	walls_reset();
	SAY(TOOLS_DENY, tools_deny, LIST("group:runtime,group:fs,group:ui,nodes,cron,gateway"));
	for (size_t i = 0; i < sizeof(denied) / sizeof(denied[0]); i++)
		CHECK_CASE(ask(MAIN, denied[i])->code == CODE_TOOL_DENIED_BY_POLICY, "%s: %s", denied[i],
			   code_word(w.d.code));
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		CHECK_OK(ask(MAIN, left[i]));
}

TEST_MAIN()
