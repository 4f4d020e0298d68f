/* SPDX-License-Identifier: Apache-2.0 */
/* What each profile takes for granted (C3, C4, C5, C19, C25), and which one applies when none is named. */
#include "config/loading.h"

static int load_profile(struct loading *w, const char *name)
{
	loading_init(w);
	w->in.profile = str_z(name);
	return load_it(w);
}

TEST(every_profile_loads_and_has_its_name)
{
	for (const struct enum_name *n = profile_names; n->name; n++) {
		_cleanup_loading_ struct loading w = { 0 };

		load_profile(&w, n->name);
		CHECK_LOADS(&w);
		assert_int_equal(w.d.n, 0);
		assert_int_equal(w.c->base.profile, n->value);
	}
}

TEST(c3_the_built_in_default_is_off)
{
	_cleanup_loading_ struct loading w = { 0 };

	load_profile(&w, "none");
	assert_int_equal(w.c->base.when, WHEN_OFF);
	assert_false(w.c->base.has[OPT_WHEN]);
	assert_int_equal(w.c->base.trust_default, TRUST_NONE);
}

TEST(c4_the_workspace_default_is_the_profiles)
{
	static const struct {
		const char *profile;
		enum access want;
	} cases[] = { { "none", ACCESS_NONE },      { "openclaw", ACCESS_NONE },  { "bilrost", ACCESS_RW },
		      { "tier1", ACCESS_PER_TOOL }, { "athena", ACCESS_OVERLAY }, { "ci", ACCESS_OVERLAY } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		load_profile(&w, cases[i].profile);
		CHECK_CASE(w.c->base.ws_access == (int)cases[i].want, "%s", cases[i].profile);
	}
}

TEST(openclaw_is_off_session_none_and_without_network)
{
	_cleanup_loading_ struct loading w = { 0 };

	load_profile(&w, "openclaw");
	assert_int_equal(w.c->base.when, WHEN_OFF);
	assert_int_equal(w.c->base.scope, SCOPE_SESSION);
	CHECK_STR(w.c->base.net_primary, STR("none"));
	assert_true(w.c->base.readonly_root);
	assert_int_equal(w.c->base.origin[OPT_SCOPE].kind, ORIGIN_PROFILE);
}

TEST(the_default_scope_of_upstream_is_agent)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 }, u = { 0 };

	loading_init(&w);
	w.in.compat = STR("openclaw-2026.9");
	load_text_as(&w, "openclaw:openclaw.json", "{}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.scope, SCOPE_AGENT);
	assert_int_equal(w.c->base.compat, COMPAT_OPENCLAW_2026_9);

	loading_init(&v);
	v.in.compat = STR("openclaw-2026.9");
	load_text_as(&v, "openclaw:openclaw.json", "{agents:{defaults:{sandbox:{scope:'session'}}}}");
	CHECK_LOADS(&v);
	assert_int_equal(v.c->base.scope, SCOPE_SESSION);

	loading_init(&u);
	load_creel(&u, "{compat:'openclaw-2026.9'}");
	CHECK_LOADS(&u);
	assert_int_equal(u.c->base.scope, SCOPE_AGENT);
	assert_false(u.c->base.has[OPT_SCOPE]);
}

TEST(c5_athena_sees_the_tree_at_sandbox_under_a_private_layer)
{
	_cleanup_loading_ struct loading w = { 0 };

	load_profile(&w, "athena");
	assert_int_equal(w.c->base.when, WHEN_OFF);
	CHECK_STR(w.c->base.ws_target, STR("/sandbox"));
	CHECK_STR(w.c->base.workdir, STR("/sandbox"));
	CHECK_STR(w.c->base.image, STR("athena-sandbox"));
	CHECK_LIST(&w, w.c->base.tmpfs, "/tmp");
	CHECK_LIST(&w, w.c->base.backend_order, "native,docker");
}

TEST(c25_tier1_has_one_job_per_call_and_ten_seconds)
{
	_cleanup_loading_ struct loading w = { 0 };

	load_profile(&w, "tier1");
	assert_int_equal(w.c->base.scope, SCOPE_JOB);
	assert_int_equal(w.c->base.timeout_s, 10);
	assert_int_equal(w.c->base.timeout_max_s, 60);
	assert_int_equal(w.c->base.stdout_max, 80000);
	assert_int_equal(w.c->base.read_bytes, 200000);
	assert_int_equal(w.c->base.write_max, 2000000);
	CHECK_STR(w.c->base.net_primary, STR("none"));
	CHECK_LIST(&w, w.c->base.internal_hosts, "ollama,rag-service");
	CHECK_LIST(&w, w.c->base.programs, "curl,python3,python,pytest");
	assert_int_equal(w.c->base.shells, SHELLS_DENY);
	assert_false(w.c->base.elev_enabled);
}

TEST(s3_11_s3_12_bilrost_passes_two_secrets_by_name)
{
	_cleanup_loading_ struct loading w = { 0 };

	load_profile(&w, "bilrost");
	assert_int_equal(w.c->base.env_set.n, 2);
	CHECK_STR(w.c->base.env_set.v[0].name, STR("GH_TOKEN"));
	assert_int_equal(w.c->base.env_set.v[0].kind, ENV_SECRET);
	CHECK_STR(w.c->base.env_set.v[1].value, STR("${BRAVE_API_KEY}"));
	CHECK_STR(w.c->base.env_secrets_file, STR("/etc/openclaw/secrets.env"));
	assert_int_equal(w.c->base.env_secret_scope, SECRET_SCOPE_NETWORK);
	assert_int_equal(w.c->base.route_workspace, RW_RW);
}

TEST(s4_12_openclaw_net_prefers_a_sandbox_for_three_tools)
{
	_cleanup_loading_ struct loading w = { 0 };

	load_profile(&w, "openclaw-net");
	assert_int_equal(w.c->n_per_tool, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(w.c->per_tool[i].enforce, ENFORCE_PREFER);
	CHECK_STR(w.c->per_tool[0].tool, STR("exec"));
	CHECK_STR(w.c->per_tool[1].tool, STR("code_exec"));
	CHECK_STR(w.c->per_tool[2].tool, STR("browser"));
	assert_int_equal(w.c->base.osb_provider, PROVIDER_NONE);
	assert_int_equal(w.c->base.osb_ttl_s, 300);
	assert_int_equal(w.c->base.enforce, ENFORCE_REQUIRE);
}

TEST(ci_requires_a_sandbox_and_gives_it_room)
{
	_cleanup_loading_ struct loading w = { 0 };

	load_profile(&w, "ci");
	assert_int_equal(w.c->base.when, WHEN_ALL);
	assert_int_equal(w.c->base.enforce, ENFORCE_REQUIRE);
	CHECK_STR(w.c->base.net_primary, STR("none"));
	assert_int_equal(w.c->base.route_workspace, RW_RO);
	assert_int_equal(w.c->base.memory, (uint64_t)2 << 30);
	assert_int_equal(w.c->base.pids, 512);
	assert_true(w.c->base.cpus >= 2 && w.c->base.cpus <= 2);
	assert_int_equal(w.c->base.env_set.n, 2);
	CHECK_STR(w.c->base.env_set.v[0].name, STR("CI"));
}

TEST(the_file_that_is_read_chooses_the_profile)
{
	static const struct {
		const char *file, *text;
		enum profile_id want;
	} cases[] = {
		{ "creel:x", "{}", PROFILE_NONE },
		{ "openclaw:x", "{}", PROFILE_OPENCLAW },
		{ "athena:x", "{}", PROFILE_ATHENA },
		{ "allowlist:x", "{\"telegram\":[]}", PROFILE_TIER1 },
		{ "openclaw-net:x", "{\"OpenClaw\":{\"Sandbox\":{\"Provider\":\"None\"}}}",
		  PROFILE_OPENCLAW_NET },
		{ "ansible:x", "sandbox_mode: all\n", PROFILE_BILROST },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_text_as(&w, cases[i].file, cases[i].text);
		CHECK_LOADS(&w);
		CHECK_CASE(w.c->base.profile == (int)cases[i].want, "%s", cases[i].file);
	}
}

TEST(a_profile_that_is_named_wins_over_the_one_of_the_file)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 };

	loading_init(&w);
	w.in.profile = STR("ci");
	load_text_as(&w, "ansible:main.yml", "sandbox_image: x\n");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.profile, PROFILE_CI);
	assert_int_equal(w.c->base.ws_access, ACCESS_OVERLAY);
	CHECK_STR(w.c->base.image, STR("x"));

	loading_init(&v);
	put_file(&v, "main.yml", "sandbox_image: x\n");
	load_creel(&v, "{profile:'none',import:[{format:'ansible',path:'main.yml'}]}");
	CHECK_LOADS(&v);
	assert_int_equal(v.c->base.when, WHEN_OFF);
	assert_false(v.c->base.has[OPT_WS_ACCESS]);
}

TEST(a_profile_named_by_a_flag_wins_over_the_files)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	w.in.profile = STR("tier1");
	load_creel(&w, "{profile:'ci'}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.profile, PROFILE_TIER1);
	assert_int_equal(w.c->base.scope, SCOPE_JOB);
	assert_int_equal(w.c->base.pids, 128);
}

TEST(files_of_several_systems_bring_only_the_defaults_for_what_is_theirs)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_file(&w, "openclaw.json", "{agents:{defaults:{sandbox:{mode:'non-main'}}}}");
	put_file(&w, "allowlist.json", "{\"telegram\":[{\"agent\":\"g-coder\",\"chat_id\":\"1\"}]}");
	put_file(&w, "settings.yaml", "sandbox:\n  rules:\n    - match: \"client:*\"\n      mode: light\n");
	use_file(&w, "openclaw:openclaw.json");
	use_file(&w, "allowlist:allowlist.json");
	use_file(&w, "athena:settings.yaml");
	load_it(&w);
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.profile, PROFILE_NONE);
	assert_int_equal(w.c->base.when, WHEN_NON_MAIN);
	assert_int_equal(w.c->base.scope, SCOPE_SESSION);
	assert_int_equal(w.c->base.ws_access, ACCESS_NONE);
	assert_int_equal(w.c->base.timeout_s, 30);
	assert_int_equal(w.c->base.shells, SHELLS_ALLOW);
	assert_false(w.c->base.has[OPT_PROGRAMS]);
	CHECK_STR(w.c->base.image, STR("openclaw-sandbox:bookworm-slim"));
	CHECK_LIST(&w, w.c->base.internal_hosts, "ollama,rag-service");
	assert_int_equal(w.c->n_pairs, 1);
	assert_int_equal(w.c->n_rules, 1);
}

TEST(the_role_knows_better_than_openclaws_own_defaults)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	put_file(&w, "main.yml", "sandbox_image: x\n");
	put_file(&w, "openclaw.json", "{}");
	use_file(&w, "ansible:main.yml");
	use_file(&w, "openclaw:openclaw.json");
	load_it(&w);
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.when, WHEN_ALL);
	assert_int_equal(w.c->base.ws_access, ACCESS_RW);
}

TEST_MAIN()
