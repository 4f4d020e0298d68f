/* SPDX-License-Identifier: Apache-2.0 */
/* What openclaw.json says, and where it ends up: the samples of the documents, and every key that is read. */
#include "config/claw.h"

TEST(the_minimal_recipe_loads)
{
	_cleanup_loading_ struct loading w;

	load_claw(
		&w,
		"{ agents: { defaults: { sandbox: { mode: \"non-main\", scope: \"session\", workspaceAccess: \"none\" } } } }");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.when, WHEN_NON_MAIN);
	assert_int_equal(w.c->base.scope, SCOPE_SESSION);
	assert_int_equal(w.c->base.ws_access, ACCESS_NONE);
	assert_int_equal(w.d.n, 0);
}

TEST(the_groups_recipe_loads)
{
	_cleanup_loading_ struct loading w;

	load_data(&w, "groups.json5");
	CHECK_LOADS(&w);
	assert_int_equal(w.d.n, 0);
	assert_int_equal(w.c->base.when, WHEN_NON_MAIN);
	CHECK_LIST(&w, w.c->base.sbx_allow, "group:messaging,group:sessions");
	CHECK_LIST(&w, w.c->base.sbx_deny, "group:runtime,group:fs,group:ui,nodes,cron,gateway");
	assert_false(w.c->base.has[OPT_SBX_ALSO_ALLOW]);
	assert_int_equal(w.c->base.origin[OPT_SBX_DENY].line, 16);
}

TEST(the_two_network_sample_loads_with_its_secrets_as_names)
{
	_cleanup_loading_ struct loading w;
	const struct env_var *gh;

	load_data(&w, "bilrost.json");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.when, WHEN_ALL);
	assert_int_equal(w.c->base.scope, SCOPE_SESSION);
	assert_int_equal(w.c->base.ws_access, ACCESS_RW);
	CHECK_STR(w.c->base.net_primary, STR("none"));
	CHECK_LIST(&w, w.c->base.route_tools, "web_fetch,web_search");
	CHECK_LIST(&w, w.c->base.route_exec, "gh");
	CHECK_STR(w.c->base.route_network, STR("bridge"));
	CHECK_STR(w.c->base.ws_path, STR("/workspace"));
	assert_int_equal(w.c->base.binds.n, 1);
	CHECK_STR(w.c->base.binds.v[0].source, STR("/workspace-obsidian"));
	assert_false(w.c->base.binds.v[0].readonly);
	gh = env_named(w.c->base.env_set, "GH_TOKEN");
	assert_non_null(gh);
	assert_int_equal(gh->kind, ENV_SECRET);
	CHECK_STR(gh->value, STR("${GH_TOKEN}"));
	assert_int_equal(gh->origin.line, 14);
	assert_int_equal(env_named(w.c->base.env_set, "BRAVE_API_KEY")->kind, ENV_SECRET);
}

TEST(agents_of_the_older_list_override_the_defaults)
{
	_cleanup_loading_ struct loading w;
	const struct agent *build, *support;

	load_data(&w, "agents-list.json5");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->n_agents, 2);
	build = config_agent(w.c, STR("build"));
	support = config_agent(w.c, STR("support"));
	assert_true(build->is_default);
	assert_false(support->is_default);
	assert_int_equal(w.c->base.binds.n, 2);
	CHECK_STR(w.c->base.binds.v[0].target, STR("/source"));
	assert_true(w.c->base.binds.v[0].readonly);
	assert_int_equal(build->over->when, WHEN_ALL);
	assert_int_equal(build->over->scope, SCOPE_AGENT);
	assert_int_equal(build->over->ws_access, ACCESS_RW);
	CHECK_STR(build->over->binds.v[0].raw, STR("/mnt/cache:/cache:rw"));
	assert_false(support->over->has[OPT_WHEN]);
	assert_true(support->over->has[OPT_BINDS]);
	assert_int_equal(support->over->binds.n, 0);
	CHECK_LIST(&w, support->over->sbx_allow, "group:messaging");
	CHECK_LIST(&w, support->over->sbx_deny, "group:runtime,group:fs");
	assert_true(was_told(&w, ":13:11: warning: agents.list: an older form of 'agents.entries'"));
}

TEST(a_file_of_an_older_release_loads_and_what_is_left_out_is_said)
{
	_cleanup_loading_ struct loading w;
	const struct settings *s;

	load_data(&w, "home.json5");
	CHECK_LOADS(&w);
	s = &w.c->base;
	CHECK_STR(s->ws_path, STR("/srv/work/main"));
	CHECK_STR(s->origin[OPT_WS_PATH].raw, STR("${WORK}/main"));
	assert_int_equal(s->scope, SCOPE_SESSION);
	CHECK_STR(s->setup_command, STR("apt-get update\napt-get install -y python3"));
	CHECK_STR(s->user, STR("0:0"));
	assert_false(s->readonly_root);
	CHECK_STR(s->net_primary, STR("bridge"));
	assert_int_equal(s->memory, 1 << 30);
	CHECK_STR(s->memory_swap, STR("2147483648"));
	assert_true(s->cpus == 1.5);
	assert_int_equal(s->pids, 256);
	assert_int_equal(s->ulimits.n, 3);
	CHECK_STR(s->ulimits.v[0].key, STR("nofile"));
	CHECK_STR(s->ulimits.v[0].value, STR("1024:2048"));
	CHECK_STR(s->ulimits.v[1].value, STR("256"));
	CHECK_STR(s->ulimits.v[2].value, STR("0"));
	assert_true(s->browser_enabled);
	assert_false(s->browser_novnc);
	assert_int_equal(s->prune_idle_h, 12);
	assert_int_equal(s->prune_age_d, 3);
	assert_int_equal(s->tools_profile, TOOL_PROFILE_CODING);
	CHECK_LIST(&w, s->tools_deny, "gateway");
	assert_true(s->elev_enabled);
	CHECK_STR(s->elev_allow.v[0].key, STR("telegram"));
	CHECK_LIST(&w, s->elev_allow.v[0].values, "12345,@bob");
	assert_int_equal(s->exec_mode, EXEC_MODE_ASK);
	assert_true(s->fs_workspace_only);
	CHECK_STR(s->main_key, STR("home"));
	assert_int_equal(s->tools_by_group.n, 1);
	CHECK_STR(s->tools_by_group.v[0].match, STR("telegram:-100123"));
	CHECK_LIST(&w, s->tools_by_group.v[0].allow, "message");
	CHECK_LIST(&w, s->tools_by_group.v[0].deny, "exec");
	assert_true(config_agent(w.c, STR("main-agent"))->is_default);
	CHECK_STR(config_agent(w.c, STR("family"))->over->ws_path, STR("~/family"));
	assert_true(was_told(&w, "canvasHost: of an older release: ignored"));
	assert_true(was_told(&w, "perSession: an older name for 'scope'"));
	assert_true(was_told(&w, "memorySearch: OpenClaw 2026.9 has no such key: ignored"));
	assert_false(was_told(&w, "OPENCLAW_GATEWAY_TOKEN")); /* nobody reads it, so nobody asks for it */
}

TEST(every_key_of_the_sandbox_arrives_where_it_belongs)
{
	static const struct {
		const char *text;
		enum option id;
	} keys[] = {
		{ "mode:'all'", OPT_WHEN },
		{ "backend:'podman'", OPT_BACKEND_NAME },
		{ "workspaceAccess:'ro'", OPT_WS_ACCESS },
		{ "sessionToolsVisibility:'all'", OPT_SESSIONS_VISIBLE },
		{ "scope:'shared'", OPT_SCOPE },
		{ "workspaceRoot:'/r'", OPT_WS_ROOT },
		{ "docker:{image:'i'}", OPT_IMAGE },
		{ "docker:{containerPrefix:'p'}", OPT_CONTAINER_PREFIX },
		{ "docker:{workdir:'/w'}", OPT_WORKDIR },
		{ "docker:{readOnlyRoot:false}", OPT_READONLY_ROOT },
		{ "docker:{tmpfs:['/t']}", OPT_TMPFS },
		{ "docker:{network:'bridge'}", OPT_NET_PRIMARY },
		{ "docker:{user:'1'}", OPT_USER },
		{ "docker:{capDrop:[]}", OPT_CAP_DROP },
		{ "docker:{env:{A:'1'}}", OPT_ENV_SET },
		{ "docker:{setupCommand:'x'}", OPT_SETUP_COMMAND },
		{ "docker:{pidsLimit:5}", OPT_PIDS },
		{ "docker:{memory:'1g'}", OPT_MEMORY },
		{ "docker:{memorySwap:'2g'}", OPT_MEMORY_SWAP },
		{ "docker:{cpus:2}", OPT_CPUS },
		{ "docker:{gpus:'all'}", OPT_GPUS },
		{ "docker:{ulimits:{nofile:1}}", OPT_ULIMITS },
		{ "docker:{seccompProfile:'s'}", OPT_SECCOMP_PROFILE },
		{ "docker:{apparmorProfile:'a'}", OPT_APPARMOR_PROFILE },
		{ "docker:{dns:['1.1.1.1']}", OPT_DNS },
		{ "docker:{extraHosts:['a:1.2.3.4']}", OPT_EXTRA_HOSTS },
		{ "docker:{binds:['/a:/b']}", OPT_BINDS },
		{ "docker:{dangerouslyAllowReservedContainerTargets:true}", OPT_BINDS_RESERVED },
		{ "docker:{dangerouslyAllowExternalBindSources:true}", OPT_BINDS_EXTERNAL },
		{ "docker:{dangerouslyAllowContainerNamespaceJoin:true}", OPT_NET_JOIN },
		{ "ssh:{target:'u@h'}", OPT_SSH_TARGET },
		{ "ssh:{command:'ssh2'}", OPT_SSH_COMMAND },
		{ "ssh:{workspaceRoot:'/r'}", OPT_SSH_ROOT },
		{ "browser:{enabled:true}", OPT_BROWSER_ENABLED },
		{ "browser:{image:'b'}", OPT_BROWSER_IMAGE },
		{ "browser:{containerPrefix:'b'}", OPT_BROWSER_PREFIX },
		{ "browser:{network:'n'}", OPT_BROWSER_NETWORK },
		{ "browser:{cdpPort:1}", OPT_BROWSER_CDP_PORT },
		{ "browser:{cdpSourceRange:'172.21.0.1/32'}", OPT_BROWSER_CDP_RANGE },
		{ "browser:{vncPort:1}", OPT_BROWSER_VNC_PORT },
		{ "browser:{noVncPort:1}", OPT_BROWSER_NOVNC_PORT },
		{ "browser:{headless:true}", OPT_BROWSER_HEADLESS },
		{ "browser:{noVncEnabled:false}", OPT_BROWSER_NOVNC },
		{ "browser:{allowHostControl:true}", OPT_BROWSER_HOST_CTL },
		{ "browser:{autoStart:false}", OPT_BROWSER_AUTOSTART },
		{ "browser:{autoStartTimeoutMs:5}", OPT_BROWSER_START_MS },
		{ "browser:{binds:[]}", OPT_BROWSER_BINDS },
		{ "prune:{idleHours:0}", OPT_PRUNE_IDLE_H },
		{ "prune:{maxAgeDays:0}", OPT_PRUNE_AGE_D },
		{ "networkAllow:[]", OPT_ROUTE_TOOLS },
		{ "networkExecAllow:['gh']", OPT_ROUTE_EXEC },
		{ "networkDocker:{network:'n'}", OPT_ROUTE_NETWORK },
		{ "networkDocker:{env:{A:'1'}}", OPT_ROUTE_ENV },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		load_text_as(&w, "openclaw:openclaw.json", in_sandbox(&w, keys[i].text));
		CHECK_LOADS(&w);
		CHECK_CASE(w.c->base.has[keys[i].id] && w.c->base.origin[keys[i].id].kind == ORIGIN_FILE,
			   "%s did not arrive", keys[i].text);
	}
}

TEST(every_key_of_the_tools_arrives_where_it_belongs_for_the_file_and_for_an_agent)
{
	static const struct {
		const char *text;
		enum option id;
		bool file_only;
	} keys[] = {
		{ "profile:'minimal'", OPT_TOOLS_PROFILE },
		{ "allow:['read']", OPT_TOOLS_ALLOW },
		{ "alsoAllow:['read']", OPT_TOOLS_ALSO_ALLOW },
		{ "deny:['exec']", OPT_TOOLS_DENY },
		{ "byProvider:{'openai/gpt':{deny:['exec']}}", OPT_TOOLS_BY_PROVIDER },
		{ "toolsBySender:{'id:1':{allow:['read']}}", OPT_TOOLS_BY_SENDER },
		{ "sandbox:{tools:{allow:[]}}", OPT_SBX_ALLOW },
		{ "sandbox:{tools:{alsoAllow:['browser']}}", OPT_SBX_ALSO_ALLOW },
		{ "sandbox:{tools:{deny:[]}}", OPT_SBX_DENY },
		{ "subagents:{tools:{allow:['a']}}", OPT_SUB_ALLOW, true },
		{ "subagents:{tools:{alsoAllow:['a']}}", OPT_SUB_ALSO_ALLOW, true },
		{ "subagents:{tools:{deny:['a']}}", OPT_SUB_DENY, true },
		{ "elevated:{enabled:true}", OPT_ELEV_ENABLED },
		{ "elevated:{allowFrom:{telegram:['*']}}", OPT_ELEV_ALLOW },
		{ "fs:{workspaceOnly:true}", OPT_FS_WORKSPACE_ONLY },
		{ "exec:{host:'sandbox'}", OPT_EXEC_HOST },
		{ "exec:{mode:'deny'}", OPT_EXEC_MODE },
		{ "exec:{security:'deny'}", OPT_EXEC_MODE },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		_cleanup_loading_ struct loading w;
		const struct settings *over;

		loading_init(&w);
		load_text_as(&w, "openclaw:openclaw.json",
			     arena_printf(&w.a, "{tools:{%s},agents:{entries:{main:{tools:{%s}}}}}",
					  keys[i].text, keys[i].file_only ? "" : keys[i].text)
				     .p);
		CHECK_LOADS(&w);
		over = config_agent(w.c, STR("main"))->over;
		CHECK_CASE(w.c->base.has[keys[i].id], "%s did not arrive", keys[i].text);
		CHECK_CASE(keys[i].file_only || over->has[keys[i].id], "%s did not arrive at the agent",
			   keys[i].text);
	}
}

TEST(an_explicit_false_zero_or_empty_value_of_an_agent_is_an_override)
{
	_cleanup_loading_ struct loading w;
	const struct settings *over;

	load_claw(
		&w,
		"{agents:{entries:{main:{sandbox:{workspaceRoot:'',docker:{readOnlyRoot:false,capDrop:[],network:''}}}}}}");
	CHECK_LOADS(&w);
	over = config_agent(w.c, STR("main"))->over;
	assert_true(over->has[OPT_READONLY_ROOT] && !over->readonly_root);
	assert_true(over->has[OPT_CAP_DROP] && over->cap_drop.n == 0);
	assert_true(over->has[OPT_NET_PRIMARY] && over->net_primary.n == 0);
	assert_true(over->has[OPT_WS_ROOT] && over->ws_root.n == 0);
	assert_false(over->has[OPT_WHEN]);
}

TEST(a_blank_backend_or_workspace_is_not_said)
{
	_cleanup_loading_ struct loading w;

	load_claw(&w, "{agents:{defaults:{workspace:' ',sandbox:{backend:'  '}}}}");
	CHECK_LOADS(&w);
	assert_false(w.c->base.has[OPT_BACKEND_NAME]);
	assert_false(w.c->base.has[OPT_WS_PATH]);
}

TEST(an_explicit_scope_wins_over_the_older_word_for_it)
{
	_cleanup_loading_ struct loading w, v;

	loading_init(&w);
	load_text_as(&w, "openclaw:openclaw.json", in_sandbox(&w, "scope:'agent',perSession:true"));
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.scope, SCOPE_AGENT);
	loading_init(&v);
	load_text_as(&v, "openclaw:openclaw.json", in_sandbox(&v, "perSession:false"));
	CHECK_LOADS(&v);
	assert_int_equal(v.c->base.scope, SCOPE_SHARED);
}

TEST(security_and_ask_become_the_mode_that_replaced_them)
{
	static const struct {
		const char *text;
		enum exec_mode mode;
	} cases[] = {
		{ "security:'deny'", EXEC_MODE_DENY },
		{ "security:'allowlist',ask:'off'", EXEC_MODE_ALLOWLIST },
		{ "security:'allowlist'", EXEC_MODE_ASK },
		{ "security:'full',ask:'off'", EXEC_MODE_FULL },
		{ "security:'full',ask:'always'", EXEC_MODE_ALWAYS },
		{ "security:'full',ask:'on-miss'", EXEC_MODE_ASK },
		{ "security:'allowlist',ask:'always'", EXEC_MODE_ALWAYS },
		{ "ask:'off'", EXEC_MODE_UNSET },
		{ "mode:'auto'", EXEC_MODE_AUTO },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		load_text_as(&w, "openclaw:openclaw.json",
			     arena_printf(&w.a, "{tools:{exec:{%s}}}", cases[i].text).p);
		CHECK_LOADS(&w);
		CHECK_CASE(w.c->base.exec_mode == (int)cases[i].mode, "%s gives %d", cases[i].text,
			   w.c->base.exec_mode);
	}
}

TEST(senders_that_are_numbers_become_text_as_javascript_writes_it)
{
	_cleanup_loading_ struct loading w;

	load_claw(&w, "{tools:{elevated:{allowFrom:{x:[12345,' a ','',1.50,1e21,-0,9007199254740993]}}}}");
	CHECK_LOADS(&w);
	CHECK_LIST(&w, w.c->base.elev_allow.v[0].values, "12345,a,1.5,1e+21,0,9007199254740992");
}

TEST(tools_of_groups_channels_and_guilds_become_layers)
{
	_cleanup_loading_ struct loading w;

	load_claw(&w, "{channels:{telegram:{groups:{'*':{tools:{deny:['exec']}},'-1':{requireMention:true}}},"
		      "slack:{channels:{C1:{tools:{allow:['read']}}}},"
		      "discord:{guilds:{'9':{channels:{'42':{tools:{alsoAllow:['web_fetch']}}}}}}}}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.tools_by_group.n, 3);
	CHECK_STR(w.c->base.tools_by_group.v[0].match, STR("telegram:*"));
	CHECK_LIST(&w, w.c->base.tools_by_group.v[0].deny, "exec");
	CHECK_STR(w.c->base.tools_by_group.v[1].match, STR("slack:C1"));
	CHECK_STR(w.c->base.tools_by_group.v[2].match, STR("discord:42"));
	assert_true(w.c->base.tools_by_group.v[2].has_also_allow);
}

TEST(an_environment_block_keeps_the_built_in_language)
{
	_cleanup_loading_ struct loading w, v, own;

	loading_init(&w);
	load_text_as(&w, "openclaw:openclaw.json", in_sandbox(&w, "docker:{env:{A:'1'}}"));
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.env_set.n, 2);
	CHECK_STR(env_named(w.c->base.env_set, "LANG")->value, STR("C.UTF-8"));
	assert_int_equal(env_named(w.c->base.env_set, "LANG")->origin.kind, ORIGIN_BUILTIN);

	loading_init(&own);
	load_text_as(&own, "openclaw:openclaw.json", in_sandbox(&own, "docker:{env:{LANG:'de_DE.UTF-8'}}"));
	CHECK_LOADS(&own);
	CHECK_STR(env_named(own.c->base.env_set, "LANG")->value, STR("de_DE.UTF-8"));

	/* upstream drops it with any block */
	load_compat(&v, "{agents:{defaults:{sandbox:{docker:{env:{A:'1'}}}}}}");
	CHECK_LOADS(&v);
	assert_null(env_named(v.c->base.env_set, "LANG"));
}

TEST(the_main_key_is_honoured_unless_upstream_is_asked_for)
{
	_cleanup_loading_ struct loading w, v;

	load_claw(&w, "{session:{mainKey:'home',scope:'global'}}");
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.main_key, STR("home"));
	assert_int_equal(w.c->base.session_scope, SESSION_GLOBAL);
	load_compat(&v, "{session:{mainKey:'home'}}");
	CHECK_LOADS(&v);
	CHECK_STR(v.c->base.main_key, STR("main"));
	assert_true(was_told(
		&v, "openclaw.json:1:19: warning: session.mainKey: the main session is always 'main' here"));
}

TEST(settings_of_the_network_sandbox_that_come_from_the_isolated_one_are_said)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	load_text_as(&w, "openclaw:openclaw.json",
		     in_sandbox(&w, "networkDocker:{network:'bridge',image:'x'}"));
	CHECK_LOADS(&w);
	assert_true(was_told(&w, "networkDocker.image: the network sandbox takes this from docker"));
}

TEST(an_empty_object_and_no_sandbox_at_all_are_the_defaults)
{
	static const char *const texts[] = { "{}", "{agents:{}}", "{agents:{defaults:{}}}",
					     "{agents:{entries:{}}}", "{agents:{list:[]}}" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		_cleanup_loading_ struct loading w, v;

		load_claw(&w, texts[i]);
		CHECK_LOADS(&w);
		assert_int_equal(w.c->base.when, WHEN_OFF);
		assert_int_equal(w.c->n_agents, 0);
		assert_false(w.c->has_roster);
		load_compat(&v, texts[i]);
		CHECK_LOADS(&v);
	}
}

TEST_MAIN()
