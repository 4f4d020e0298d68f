/* SPDX-License-Identifier: Apache-2.0 */
/* S3's variables: from the role's file, from -e, and together. */
#include "config/loading.h"

/* What the role's own defaults say, in the form they are written in. */
static const char role_defaults[] = "---\n"
				    "# follows docker_enabled\n"
				    "sandbox_enabled: \"{{ docker_enabled | default(true) | bool }}\"\n"
				    "\n"
				    "sandbox_mode: \"all\"\n"
				    "sandbox_scope: \"session\"\n"
				    "sandbox_workspace_access: \"rw\"\n"
				    "sandbox_image: \"openclaw-sandbox:bookworm-slim\"\n"
				    "sandbox_build_browser: false\n"
				    "sandbox_docker_network: \"none\"\n"
				    "sandbox_network_allow:\n"
				    "  - \"web_fetch\"\n"
				    "  - \"web_search\"\n"
				    "sandbox_network_allow_extra: []\n"
				    "sandbox_network_exec_allow:\n"
				    "  - \"gh\"\n"
				    "sandbox_network_exec_allow_extra: []\n"
				    "sandbox_network_docker_network: \"bridge\"\n"
				    "sandbox_setup_script: \"scripts/sandbox-setup.sh\"\n"
				    "sandbox_vault_path: \"/workspace-obsidian\"\n"
				    "sandbox_vault_access: \"rw\"\n";

static int load_vars(struct loading *w, const char *yaml)
{
	return load_text_as(w, "ansible:main.yml", yaml);
}

/* bilrost and one or two -e */
static int load_sets(struct loading *w, const char *one, const char *two)
{
	w->in.profile = STR("bilrost");
	use_set(w, one);
	if (two)
		use_set(w, two);
	return load_it(w);
}

TEST(s3_15_to_22_the_roles_defaults_load_as_they_are)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_vars(&w, role_defaults);
	CHECK_LOADS(&w);
	assert_int_equal(w.d.n, 0);
	assert_int_equal(w.c->base.when, WHEN_ALL);
	assert_int_equal(w.c->base.scope, SCOPE_SESSION);
	assert_int_equal(w.c->base.ws_access, ACCESS_RW);
	CHECK_STR(w.c->base.net_primary, STR("none"));
	CHECK_STR(w.c->base.route_network, STR("bridge"));
	CHECK_STR(w.c->base.image, STR("openclaw-sandbox:bookworm-slim"));
	CHECK_LIST(&w, w.c->base.route_tools, "web_fetch,web_search");
	CHECK_LIST(&w, w.c->base.route_exec, "gh");
	assert_int_equal(w.c->base.profile, PROFILE_BILROST);
	assert_int_equal(w.c->formats, 1u << FORMAT_ANSIBLE);
}

TEST(s3_41_extras_add_tools_without_overriding_the_defaults)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_file(&w, "main.yml", role_defaults);
	use_file(&w, "ansible:main.yml");
	use_set(&w, "{\"sandbox_network_allow_extra\": [\"mcp_fetch\"]}");
	load_it(&w);
	CHECK_LOADS(&w);
	CHECK_LIST(&w, w.c->base.route_tools, "web_fetch,web_search,mcp_fetch");
}

TEST(s3_43_s3_44_extras_come_as_json_objects)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_sets(&w, "{\"sandbox_network_allow_extra\": [\"mcp_fetch\"]}",
		  "{\"sandbox_network_exec_allow_extra\": [\"curl\", \"npm\"]}");
	CHECK_LOADS(&w);
	CHECK_LIST(&w, w.c->base.route_tools, "web_fetch,web_search,mcp_fetch");
	CHECK_LIST(&w, w.c->base.route_exec, "gh,curl,npm");
	CHECK_STR(w.c->base.origin[OPT_ROUTE_EXEC].name, STR("-e sandbox_network_exec_allow_extra"));
}

TEST(s3_45_s3_46_extras_are_empty_unless_set)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	w.in.profile = STR("bilrost");
	load_it(&w);
	CHECK_LOADS(&w);
	CHECK_LIST(&w, w.c->base.route_tools, "web_fetch,web_search");
	CHECK_LIST(&w, w.c->base.route_exec, "gh");
}

TEST(s3_47_extras_are_merged_without_duplicates)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_sets(&w, "sandbox_network_exec_allow_extra=gh,npm,npm",
		  "{\"sandbox_network_exec_allow_extra\":[\"npm\",\"curl\"]}");
	CHECK_LOADS(&w);
	CHECK_LIST(&w, w.c->base.route_exec, "gh,npm,curl");
}

TEST(extras_of_several_files_add_up)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_file(&w, "a.yml", "sandbox_network_allow_extra: [a]\n");
	put_file(&w, "b.yml", "sandbox_network_allow_extra: [b]\nsandbox_network_allow: [base]\n");
	use_file(&w, "ansible:a.yml");
	use_file(&w, "ansible:b.yml");
	load_it(&w);
	CHECK_LOADS(&w);
	CHECK_LIST(&w, w.c->base.route_tools, "base,a,b");
}

TEST(an_extra_joins_what_the_canonical_file_says)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_file(&w, "main.yml", role_defaults);
	use_set(&w, "sandbox_network_exec_allow_extra=npm");
	load_creel(&w, "{import:[{format:'ansible-vars',path:'main.yml'}],network:{route:{exec:['cargo']}}}");
	CHECK_LOADS(&w);
	CHECK_LIST(&w, w.c->base.route_exec, "cargo,npm");
}

TEST(s3_48_flags_take_pairs_and_objects_any_number_of_times_and_the_later_wins)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	use_set(&w, "{\"sandbox_mode\": \"off\", \"sandbox_scope\": \"agent\"}");
	load_sets(&w, "sandbox_mode=non-main", "{\"sandbox_image\":\"x:1\"}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.when, WHEN_NON_MAIN);
	assert_int_equal(w.c->base.scope, SCOPE_AGENT);
	CHECK_STR(w.c->base.image, STR("x:1"));
}

TEST(s3_49_one_bridge_network_for_all_tools_needs_no_routing)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 };

	loading_init(&w);
	put_file(&w, "main.yml", role_defaults);
	use_file(&w, "ansible:main.yml");
	use_set(&w, "sandbox_docker_network=bridge");
	load_it(&w);
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.net_primary, STR("bridge"));
	assert_int_equal(w.c->base.route_tools.n, 0);
	assert_int_equal(w.c->base.route_exec.n, 0);
	/* And back again. */
	loading_init(&v);
	load_sets(&v, "sandbox_docker_network=bridge", "sandbox_docker_network=none");
	CHECK_LOADS(&v);
	CHECK_LIST(&v, v.c->base.route_exec, "gh");
}

TEST(s3_50_empty_lists_leave_one_container_without_network)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_sets(&w, "{\"sandbox_network_allow\": [], \"sandbox_network_exec_allow\": []}", NULL);
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.net_primary, STR("none"));
	assert_int_equal(w.c->base.route_tools.n, 0);
	assert_int_equal(w.c->base.route_exec.n, 0);
	assert_true(w.c->base.has[OPT_ROUTE_TOOLS]);
}

TEST(s3_51_to_54_a_single_network_mode_can_be_set)
{
	static const char *const modes[] = { "bridge", "none", "host" };

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_sets(&w, arena_printf(&w.a, "sandbox_docker_network=%s", modes[i]).p, NULL);
		CHECK_LOADS(&w);
		CHECK_STR(w.c->base.net_primary, str_z(modes[i]));
	}
}

TEST(s3_74_the_vault_is_locked_read_only)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_sets(&w, "sandbox_vault_access=ro", NULL);
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.vault_access, RW_RO);
	assert_true(w.c->base.vault_enabled);
	CHECK_STR(w.c->base.vault_path, STR("/workspace-obsidian"));
}

TEST(s3_75_naming_the_vault_asks_for_it_under_any_profile)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	w.in.profile = STR("ci");
	use_set(&w, "sandbox_vault_path=/notes");
	load_it(&w);
	CHECK_LOADS(&w);
	assert_true(w.c->base.vault_enabled);
	CHECK_STR(w.c->base.vault_path, STR("/notes"));
}

TEST(s3_78_docker_enabled_false_switches_the_sandbox_off)
{
	static const char *const offs[] = { "docker_enabled=false", "docker_enabled=no",
					    "{\"docker_enabled\": false}", "sandbox_enabled=false" };

	for (size_t i = 0; i < sizeof(offs) / sizeof(offs[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		put_file(&w, "main.yml", role_defaults);
		use_file(&w, "ansible:main.yml");
		use_set(&w, offs[i]);
		use_set(&w, "sandbox_mode=all");
		load_it(&w);
		CHECK_LOADS(&w);
		CHECK_CASE(w.c->base.when == WHEN_OFF, "%s", offs[i]);
		assert_int_equal(w.c->base.origin[OPT_WHEN].kind, ORIGIN_FLAG);
	}
}

TEST(a_switch_that_is_turned_back_on_leaves_the_mode_as_it_was)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	use_set(&w, "sandbox_mode=non-main");
	use_set(&w, "docker_enabled=false");
	use_set(&w, "docker_enabled=true");
	load_it(&w);
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.when, WHEN_NON_MAIN);
}

TEST(a_switch_in_a_file_yields_to_the_canonical_file)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_file(&w, "main.yml", "docker_enabled: false\n");
	load_creel(&w, "{import:[{format:'ansible',path:'main.yml'}],mode:{when:'all'}}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.when, WHEN_ALL);
}

TEST(s3_80_sandbox_enabled_follows_docker_enabled)
{
	static const struct {
		const char *yaml;
		enum when want;
	} cases[] = {
		{ "sandbox_enabled: \"{{ docker_enabled }}\"\ndocker_enabled: false\n", WHEN_OFF },
		{ "docker_enabled: false\nsandbox_enabled: \"{{docker_enabled}}\"\n", WHEN_OFF },
		{ "docker_enabled: true\nsandbox_enabled: \"{{ docker_enabled }}\"\n", WHEN_ALL },
		{ "sandbox_enabled: \"{{ docker_enabled | default(true) | bool }}\"\n", WHEN_ALL },
		{ "sandbox_enabled: yes\ndocker_enabled: no\n", WHEN_ALL },
		{ "sandbox_enabled: false\n", WHEN_OFF },
		{ "docker_enabled: \"no\"\n", WHEN_OFF },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_vars(&w, cases[i].yaml);
		CHECK_LOADS(&w);
		CHECK_CASE(w.c->base.when == (int)cases[i].want, "%s", cases[i].yaml);
	}
}

/* One variable with each value it takes, and one that it does not take. */
static void check_words(const char *name, enum option id, const char *const *good, const char *accepted)
{
	for (; *good; good++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_vars(&w, arena_printf(&w.a, "%s: %s\n", name, *good).p);
		CHECK_CASE(w.r == 0, "%s=%s: %s", name, *good, told(&w));
		CHECK_CASE(w.c->base.has[id] && w.c->base.origin[id].line == 1, "%s=%s", name, *good);
	}
	{
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_vars(&w, arena_printf(&w.a, "x: 1\n%s: sideways\n", name).p);
		CHECK_TOLD(&w, arena_printf(&w.a, "main.yml:2:%zu: %s: ", strlen(name) + 3, name).p);
		CHECK_TOLD(&w, accepted);
	}
}

TEST(s3_81_to_94_every_variable_takes_its_values_and_no_others)
{
	check_words("sandbox_mode", OPT_WHEN, (const char *const[]){ "off", "non-main", "all", NULL },
		    "off, non-main or all");
	check_words("sandbox_scope", OPT_SCOPE, (const char *const[]){ "session", "agent", "shared", NULL },
		    "accepted: session, agent or shared");
	check_words("sandbox_workspace_access", OPT_WS_ACCESS,
		    (const char *const[]){ "none", "ro", "rw", NULL }, "accepted: none, ro or rw");
	check_words("sandbox_docker_network", OPT_NET_PRIMARY,
		    (const char *const[]){ "bridge", "host", "none", NULL },
		    "accepted: bridge, host or none");
	check_words("sandbox_network_docker_network", OPT_ROUTE_NETWORK,
		    (const char *const[]){ "bridge", "host", NULL }, "accepted: bridge or host");
	check_words("sandbox_vault_access", OPT_VAULT_ACCESS, (const char *const[]){ "ro", "rw", NULL },
		    "ro or rw");
	check_words("sandbox_build_browser", OPT_BUILD_BROWSER,
		    (const char *const[]){ "true", "false", "yes", "\"no\"", NULL },
		    "expected true or false");
}

TEST(s3_84_s3_92_s3_93_texts_are_taken)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_vars(
		&w,
		"sandbox_image: my/image:1\nsandbox_setup_script: x.sh\nsandbox_vault_path: /v\nsandbox_build_browser: true\n");
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.image, STR("my/image:1"));
	CHECK_STR(w.c->base.setup_script, STR("x.sh"));
	CHECK_STR(w.c->base.vault_path, STR("/v"));
	assert_true(w.c->base.build_browser);
}

TEST(s3_87_to_90_lists_come_as_yaml_json_text_and_words)
{
	static const char *const forms[] = { "{\"sandbox_network_allow\": [\"a\", \"b\"]}",
					     "sandbox_network_allow=[\"a\",\"b\"]",
					     "sandbox_network_allow=['a', 'b']", "sandbox_network_allow=a,b",
					     "sandbox_network_allow = a, b" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_sets(&w, forms[i], NULL);
		CHECK_LOADS(&w);
		CHECK_LIST(&w, w.c->base.route_tools, "a,b");
	}
}

TEST(s3_95_any_variable_is_overridden_with_a_flag)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_file(&w, "main.yml", role_defaults);
	use_file(&w, "ansible:main.yml");
	use_set(&w, "sandbox_docker_network=none");
	use_set(&w, "sandbox_workspace_access=ro");
	load_it(&w);
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.net_primary, STR("none"));
	assert_int_equal(w.c->base.ws_access, ACCESS_RO);
	CHECK_STR(w.c->base.origin[OPT_WS_ACCESS].name, STR("-e sandbox_workspace_access"));
}

TEST(a_variable_of_the_role_that_does_not_exist_is_an_error)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 };

	loading_init(&w);
	load_vars(&w, "a: 1\nsandbox_mdoe: all\n");
	CHECK_TOLD(&w, "main.yml:2:");
	CHECK_TOLD(&w, "sandbox_mdoe: unknown key 'sandbox_mdoe', did you mean 'sandbox_mode'?");
	loading_init(&v);
	load_sets(&v, "sandbox_colour=red", NULL);
	CHECK_TOLD(
		&v,
		"flag -e sandbox_colour: sandbox_colour: unknown key 'sandbox_colour', accepted: sandbox_enabled");
}

TEST(variables_of_other_roles_are_none_of_our_business)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_vars(
		&w,
		"gateway_port: 18789\nfirewall_allowed_domains: [a, b]\nsandbox_mode: all\nnested: { sandbox_mode: 3 }\n");
	CHECK_LOADS(&w);
}

TEST(variables_of_later_versions_of_the_role_are_told_to_have_no_effect)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_vars(&w, "sandbox_vault_mount: /workspace/obsidian\n");
	CHECK_LOADS(&w);
	assert_int_equal(w.d.n_warnings, 1);
	assert_non_null(strstr(told(&w), "warning: sandbox_vault_mount: has no effect"));
}

TEST(a_variable_may_refer_to_a_plain_one_of_the_same_file)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 };

	loading_init(&w);
	load_vars(&w, "my_image: img:2\nsandbox_image: \"{{ my_image }}\"\n");
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.image, STR("img:2"));
	loading_init(&v);
	load_vars(&v, "sandbox_image: \"{{ elsewhere }}\"\nsandbox_mode: \"{{ a }}\"\na: \"{{ b }}\"\n");
	CHECK_TOLD(&v, "main.yml:1:16: sandbox_image: {{ elsewhere }} is no plain variable of this file");
	CHECK_TOLD(&v, "sandbox_mode: {{ b }} is no plain variable");
}

TEST(a_file_of_variables_must_be_a_mapping)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_vars(&w, "- sandbox_mode: all\n");
	CHECK_TOLD(&w, "main.yml:1:1: expected variables, found array");
}

TEST(a_variable_alone_brings_the_roles_defaults_with_it)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 };

	loading_init(&w);
	use_set(&w, "{\"sandbox_network_exec_allow_extra\":[\"npm\"]}");
	load_it(&w);
	CHECK_LOADS(&w);
	CHECK_LIST(&w, w.c->base.route_exec, "gh,npm");
	assert_int_equal(w.c->base.when, WHEN_ALL);
	/* Beside a file of another kind it changes only what it says. */
	loading_init(&v);
	use_set(&v, "sandbox_image=x");
	load_creel(&v, "{}");
	CHECK_LOADS(&v);
	assert_int_equal(v.c->base.when, WHEN_OFF);
	assert_int_equal(v.c->formats, 1u << FORMAT_ANSIBLE | 1u << FORMAT_CREEL);
}

TEST_MAIN()
