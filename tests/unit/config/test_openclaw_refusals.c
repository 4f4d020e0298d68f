/* SPDX-License-Identifier: Apache-2.0 */
/* What makes openclaw.json be refused, in which mode, and with which words. */
#include "config/claw.h"

TEST(an_unknown_key_is_refused_at_its_place_with_what_it_may_have_meant)
{
	static const struct refusal cases[] = {
		{ "{\n  nope: {}\n}",
		  "openclaw.json:2:3: nope: unknown key 'nope', accepted: $schema, meta, env" },
		{ "{agent: {}}", "agent: unknown key 'agent', did you mean 'agents'?" },
		{ "{agents: {default: {}}}",
		  "agents.default: unknown key 'default', did you mean 'defaults'?" },
		{ "{agents:{defaults:{sandbox:{mod:'all'}}}}",
		  "openclaw.json:1:29: agents.defaults.sandbox.mod: unknown key 'mod', did you mean 'mode'?" },
		{ "{agents:{defaults:{sandbx:{mode:'all'}}}}",
		  "agents.defaults.sandbx: unknown key 'sandbx', did you mean 'sandbox'?" },
		{ "{agents:{defaults:{sandbox:{docker:{privileged:true}}}}}",
		  "agents.defaults.sandbox.docker.privileged: unknown key 'privileged'" },
		{ "{agents:{defaults:{sandbox:{browser:{allowedControlHosts:[]}}}}}",
		  "unknown key 'allowedControlHosts'" },
		{ "{agents:{defaults:{sandbox:{ssh:{port:1}}}}}",
		  "agents.defaults.sandbox.ssh.port: unknown key" },
		{ "{agents:{defaults:{sandbox:{prune:{hours:1}}}}}",
		  "agents.defaults.sandbox.prune.hours: unknown key" },
		{ "{agents:{defaults:{sandbox:{docker:{ulimits:{a:{max:1}}}}}}}",
		  "docker.ulimits.a.max: unknown key" },
		{ "{agents:{entries:{a:{sandbox:{docker:{bind:[]}}}}}}",
		  "agents.entries.a.sandbox.docker.bind: unknown key 'bind', did you mean 'binds'?" },
		{ "{tools:{denied:['exec']}}", "tools.denied: unknown key 'denied'" },
		{ "{tools:{sandbox:{tools:{denny:[]}}}}",
		  "tools.sandbox.tools.denny: unknown key 'denny', did you mean 'deny'?" },
		{ "{tools:{sandbox:{allow:[]}}}",
		  "tools.sandbox.allow: unknown key 'allow', accepted: tools" },
		{ "{tools:{elevated:{allow:{}}}}", "tools.elevated.allow: unknown key" },
		{ "{agents:{entries:{a:{tools:{subagents:{}}}}}}",
		  "agents.entries.a.tools.subagents: unknown key" },
	};

	CHECK_REFUSALS(cases, true);
}

TEST(a_wrong_type_word_or_number_is_refused_with_what_is_accepted)
{
	static const struct refusal cases[] = {
		{ "{agents:{defaults:{sandbox:{mode:'on'}}}}",
		  "openclaw.json:1:34: agents.defaults.sandbox.mode: 'on' is not accepted, accepted: 'off', 'non-main' or 'all'" },
		{ "{agents:{defaults:{sandbox:{mode:true}}}}",
		  "agents.defaults.sandbox.mode: true is not accepted" },
		{ "{agents:{defaults:{sandbox:{mode:null}}}}",
		  "agents.defaults.sandbox.mode: null is not accepted" },
		{ "{agents:{defaults:{sandbox:{scope:'job'}}}}", "accepted: 'session', 'agent' or 'shared'" },
		{ "{agents:{defaults:{sandbox:{workspaceAccess:'write'}}}}",
		  "accepted: 'none', 'ro' or 'rw'" },
		{ "{agents:{defaults:{sandbox:{backend:''}}}}",
		  "backend: '' is not accepted, accepted: a string that is not empty" },
		{ "{agents:{defaults:{sandbox:[]}}}",
		  "agents.defaults.sandbox: an array is not accepted, accepted: an object" },
		{ "{agents:{defaults:{sandbox:{docker:{pidsLimit:0}}}}}",
		  "pidsLimit: 0 is not accepted, accepted: a whole number from 1" },
		{ "{agents:{defaults:{sandbox:{docker:{pidsLimit:'many'}}}}}",
		  "pidsLimit: 'many' is not accepted" },
		{ "{agents:{defaults:{sandbox:{docker:{pidsLimit:1.5}}}}}",
		  "pidsLimit: 1.5 is not accepted" },
		{ "{agents:{defaults:{sandbox:{docker:{cpus:0}}}}}",
		  "cpus: 0 is not accepted, accepted: a number above 0" },
		{ "{agents:{defaults:{sandbox:{docker:{cpus:Infinity}}}}}",
		  "cpus: Infinity is not accepted" },
		{ "{agents:{defaults:{sandbox:{docker:{memory:true}}}}}",
		  "memory: true is not accepted, accepted: a string or a number" },
		{ "{agents:{defaults:{sandbox:{docker:{env:{A:1}}}}}}",
		  "docker.env.A: this integer is not accepted, accepted: a string" },
		{ "{agents:{defaults:{sandbox:{docker:{setupCommand:['a',1]}}}}}",
		  "setupCommand[1]: 1 is not accepted" },
		{ "{agents:{defaults:{sandbox:{docker:{binds:'/a:/b'}}}}}",
		  "binds: '/a:/b' is not accepted, accepted: a list" },
		{ "{agents:{defaults:{sandbox:{docker:{ulimits:{n:{soft:-1}}}}}}}",
		  "ulimits.n.soft: -1 is not accepted" },
		{ "{agents:{defaults:{sandbox:{prune:{idleHours:-1}}}}}",
		  "idleHours: -1 is not accepted, accepted: a whole number from 0" },
		{ "{agents:{defaults:{sandbox:{ssh:{identityData:{source:'env',id:'A'}}}}}}",
		  "identityData: 'provider' is missing" },
		{ "{agents:{defaults:{sandbox:{ssh:{identityData:5}}}}}",
		  "identityData: 5 is not accepted, accepted: a string or an object" },
		{ "{agents:{entries:{a:5}}}", "agents.entries.a: 5 is not accepted, accepted: an object" },
		{ "{agents:{entries:[]}}", "agents.entries: an array is not accepted, accepted: an object" },
		{ "{agents:null}", "agents: null is not accepted" },
		{ "{agents:{ownership:'mine'}}",
		  "agents.ownership: 'mine' is not accepted, accepted: 'explicit'" },
		{ "{tools:{allow:'read'}}", "tools.allow: 'read' is not accepted, accepted: a list" },
		{ "{tools:{allow:['read',1]}}", "tools.allow[1]: 1 is not accepted, accepted: a string" },
		{ "{tools:{profile:'all'}}", "accepted: 'minimal', 'coding', 'messaging' or 'full'" },
		{ "{tools:{exec:{host:'vm'}}}", "accepted: 'auto', 'sandbox', 'gateway' or 'node'" },
		{ "{tools:{elevated:{allowFrom:{telegram:'*'}}}}",
		  "allowFrom.telegram: '*' is not accepted, accepted: a list" },
		{ "{tools:{elevated:{allowFrom:{telegram:[true]}}}}",
		  "telegram[0]: true is not accepted, accepted: a string or a number" },
		{ "{session:{scope:'room'}}",
		  "session.scope: 'room' is not accepted, accepted: 'per-sender' or 'global'" },
		{ "[]", "openclaw.json:1:1: an array is not accepted, accepted: an object" },
		{ "5", "openclaw.json:1:1: 5 is not accepted, accepted: an object" },
		{ "", "openclaw.json:1:1: " },
		{ "{agents:{defaults:{sandbox:{mode:'all'}}}", "openclaw.json:1:42: " },
	};

	CHECK_REFUSALS(cases, true);
}

TEST(lists_that_contradict_each_other_are_refused_in_every_scope)
{
	static const struct refusal cases[] = {
		{ "{tools:{allow:['a'],alsoAllow:['b']}}",
		  "openclaw.json:1:8: tools: allow and alsoAllow cannot both have entries" },
		{ "{tools:{byProvider:{p:{allow:['a'],alsoAllow:['b']}}}}",
		  "tools.byProvider.p: allow and alsoAllow" },
		{ "{tools:{toolsBySender:{s:{allow:['a'],alsoAllow:['b']}}}}",
		  "tools.toolsBySender.s: allow and alsoAllow" },
		{ "{tools:{sandbox:{tools:{allow:['a'],alsoAllow:['b']}}}}",
		  "tools.sandbox.tools: allow and alsoAllow" },
		{ "{tools:{subagents:{tools:{allow:['a'],alsoAllow:['b']}}}}",
		  "tools.subagents.tools: allow and alsoAllow" },
		{ "{agents:{entries:{a:{tools:{allow:['a'],alsoAllow:['b']}}}}}",
		  "agents.entries.a.tools: allow and alsoAllow" },
		{ "{agents:{entries:{a:{tools:{sandbox:{tools:{allow:['a'],alsoAllow:['b']}}}}}}}",
		  "agents.entries.a.tools.sandbox.tools: allow and alsoAllow" },
		{ "{tools:{exec:{mode:'full',security:'full'}}}",
		  "tools.exec: mode replaces security and ask" },
		{ "{tools:{exec:{mode:'full',ask:'off'}}}", "tools.exec: mode replaces security and ask" },
	};
	_cleanup_loading_ struct loading w;

	CHECK_REFUSALS(cases, true);
	load_claw(&w, "{tools:{allow:[],alsoAllow:['b'],sandbox:{tools:{allow:['a'],alsoAllow:[]}}},"
		      "agents:{entries:{main:{tools:{sandbox:{tools:{alsoAllow:['c']}}}}}}}");
	CHECK_LOADS(&w);
}

TEST(a_bind_needs_an_absolute_source_in_every_mode)
{
	static const struct refusal cases[] = {
		{ "{agents:{defaults:{sandbox:{docker:{binds:['/ok:/ok','./x:/x:ro']}}}}}",
		  "docker.binds[1]: the source of './x:/x:ro' is not absolute, accepted: /path:target[:ro|rw]" },
		{ "{agents:{defaults:{sandbox:{docker:{binds:['data:/data']}}}}}", "is not absolute" },
		{ "{agents:{defaults:{sandbox:{docker:{binds:['~/x:/x']}}}}}", "is not absolute" },
		{ "{agents:{defaults:{sandbox:{docker:{binds:[' /a:/b']}}}}}", "is not absolute" },
		{ "{agents:{defaults:{sandbox:{docker:{binds:['  ']}}}}}",
		  "docker.binds[0]: a bind is empty" },
		{ "{agents:{defaults:{sandbox:{docker:{binds:['']}}}}}", "docker.binds[0]: a bind is empty" },
		{ "{agents:{defaults:{sandbox:{docker:{binds:['//?/C:/x:/y']}}}}}", "is not absolute" },
		{ "{agents:{defaults:{sandbox:{browser:{binds:['x:y']}}}}}",
		  "browser.binds[0]: the source of" },
		{ "{agents:{entries:{a:{sandbox:{docker:{binds:['x']}}}}}}",
		  "agents.entries.a.sandbox.docker.binds[0]" },
	};
	static const char *const fine[] = { "/a:/b", "/a:/b:ro", "C:\\\\x:/y:ro", "c:/x:/y",
					    "x:/y",  "/data",    "/etc:/x",       "/a:/b:wat" };

	CHECK_REFUSALS(cases, true);
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		load_text_as(&w, "openclaw:openclaw.json",
			     in_sandbox(&w, arena_printf(&w.a, "docker:{binds:['%s']}", fine[i]).p));
		CHECK_LOADS(&w);
	}
}

TEST(networks_and_profiles_that_upstream_refuses_to_load_are_left_to_the_decision)
{
	static const char *const texts[] = {
		"docker:{network:'host'}",
		"docker:{network:' HOST '}",
		"docker:{network:'\\u00a0host'}",
		"docker:{network:'container:abc'}",
		"browser:{network:'host'}",
		"browser:{network:'container:abc'}",
		"docker:{seccompProfile:'unconfined'}",
		"docker:{apparmorProfile:' Unconfined'}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		_cleanup_loading_ struct loading w, v;

		loading_init(&w);
		load_text_as(&w, "openclaw:openclaw.json", in_sandbox(&w, texts[i]));
		CHECK_LOADS(&w);
		loading_init(&v);
		v.in.compat = STR("openclaw-2026.9");
		load_text_as(&v, "openclaw:openclaw.json", in_sandbox(&v, texts[i]));
		CHECK_CASE(v.r < 0, "loads under compat: %s", texts[i]);
		CHECK_TOLD(&v, "is refused");
	}
}

TEST(joining_another_container_needs_the_flag_of_the_same_block)
{
	_cleanup_loading_ struct loading w, v;

	load_compat(
		&w,
		"{agents:{defaults:{sandbox:{docker:{network:'container:a',dangerouslyAllowContainerNamespaceJoin:true},"
		"browser:{network:'container:b'}}}}}");
	CHECK_LOADS(&w);
	load_compat(&v, "{agents:{defaults:{sandbox:{docker:{dangerouslyAllowContainerNamespaceJoin:true}}},"
			"entries:{main:{sandbox:{docker:{network:'container:a'}}}}}}");
	CHECK_TOLD(
		&v,
		"agents.entries.main.sandbox.docker.network: joining another container's network is refused");
}

TEST(older_names_and_the_forks_are_refused_where_upstream_refuses_them)
{
	static const char *const texts[] = { "{agents:{defaults:{sandbox:{perSession:true}}}}",
					     "{agents:{defaults:{sandbox:{browser:{enableNoVnc:true}}}}}",
					     "{agents:{defaults:{sandbox:{networkAllow:['x']}}}}",
					     "{agents:{defaults:{sandbox:{networkExecAllow:['x']}}}}",
					     "{agents:{defaults:{sandbox:{networkDocker:{}}}}}",
					     "{tools:{exec:{timeoutSec:5}}}",
					     "{agents:{defaults:{memorySearch:{}}}}",
					     "{canvasHost:{}}",
					     "{env:{FOO:'bar'}}",
					     "{meta:{lastTouchedAt:'x'}}" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		_cleanup_loading_ struct loading w, v;

		load_claw(&w, texts[i]);
		CHECK_CASE(w.r == 0, "does not load: %s: %s", texts[i], told(&w));
		load_compat(&v, texts[i]);
		CHECK_CASE(v.r < 0, "loads under compat: %s", texts[i]);
		CHECK_TOLD(&v, "unknown key");
	}
}

TEST(what_belongs_to_other_parts_of_openclaw_is_looked_at_under_compat_alone)
{
	static const char *const texts[] = { "{gateway:{port:'x'}}",
					     "{gateway:{nope:1}}",
					     "{agents:{defaults:{maxConcurrent:0}}}",
					     "{agents:{defaults:{heartbeat:{every:'soon'}}}}",
					     "{agents:{defaults:{heartbeat:{activeHours:{start:'24:00'}}}}}",
					     "{tools:{web:{search:{apiKey:'x'}}}}",
					     "{channels:{myspace:{}}}",
					     "{bindings:[{agentId:'x'}]}",
					     "{session:{maintenance:{pruneAfter:'0d'}}}",
					     "{session:{maintenance:{maxDiskBytes:'1gib'}}}",
					     "{tools:{github:{profileId:'ghp_1'}}}",
					     "{agents:{entries:{main:{identity:{avatar:'~/a.png'}}}}}" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		_cleanup_loading_ struct loading w, v;

		load_claw(&w, texts[i]);
		CHECK_CASE(w.r == 0, "does not load: %s: %s", texts[i], told(&w));
		load_compat(&v, texts[i]);
		CHECK_CASE(v.r < 0, "loads under compat: %s", texts[i]);
	}
}

/* Right and wrong of each rule that no table can say, as upstream answered. */
TEST(upstream_s_rules_of_spelling_hold_under_compat)
{
	static const struct {
		const char *text;
		bool fine;
	} cases[] = {
		{ "{agents:{defaults:{sandbox:{ssh:{identityData:{source:'env',provider:'p',id:'A_1'}}}}}}",
		  true },
		{ "{agents:{defaults:{sandbox:{ssh:{identityData:{source:'env',provider:'P',id:'A_1'}}}}}}",
		  false },
		{ "{agents:{defaults:{sandbox:{ssh:{identityData:{source:'env',provider:'p',id:'a'}}}}}}",
		  false },
		{ "{agents:{defaults:{sandbox:{ssh:{identityData:{source:'store',provider:'p-1',id:'1A'}}}}}}",
		  false },
		{ "{agents:{defaults:{sandbox:{ssh:{identityData:{source:'file',provider:'p',id:'/any thing'}}}}}}",
		  true },
		{ "{agents:{defaults:{sandbox:{ssh:{identityData:'plain'}}}}}", true },
		{ "{agents:{defaults:{heartbeat:{every:'30m'}}}}", true },
		{ "{agents:{defaults:{heartbeat:{every:'1.5h'}}}}", true },
		{ "{agents:{defaults:{heartbeat:{every:'0m'}}}}", true },
		{ "{agents:{defaults:{heartbeat:{every:''}}}}", true },
		{ "{agents:{defaults:{heartbeat:{every:' '}}}}", false },
		{ "{agents:{defaults:{heartbeat:{every:'1w'}}}}", false },
		{ "{agents:{defaults:{heartbeat:{every:'-1m'}}}}", false },
		{ "{agents:{defaults:{heartbeat:{activeHours:{start:'08:00',end:'24:00'}}}}}", true },
		{ "{agents:{defaults:{heartbeat:{activeHours:{start:'8:00'}}}}}", false },
		{ "{agents:{defaults:{heartbeat:{activeHours:{end:'24:01'}}}}}", false },
		{ "{agents:{defaults:{systemAgent:{agentId:' '}}}}", false },
		{ "{session:{maintenance:{pruneAfter:'30d'}}}", true },
		{ "{session:{maintenance:{pruneAfter:'1h30m'}}}", true },
		{ "{session:{maintenance:{pruneAfter:30}}}", true },
		{ "{session:{maintenance:{pruneAfter:0}}}", false },
		{ "{session:{maintenance:{pruneAfter:'5.d'}}}", false },
		{ "{session:{maintenance:{pruneAfter:false}}}", false },
		{ "{session:{maintenance:{preserveRecent:false}}}", true },
		{ "{session:{maintenance:{preserveRecent:true}}}", false },
		{ "{session:{maintenance:{archiveDashboardAfter:0}}}", true },
		{ "{session:{maintenance:{maxDiskBytes:'1.5gb'}}}", true },
		{ "{session:{maintenance:{maxDiskBytes:false}}}", true },
		{ "{session:{maintenance:{maxDiskBytes:true}}}", false },
		{ "{session:{maintenance:{maxDiskBytes:-1}}}", false },
		{ "{session:{maintenance:{highWaterBytes:'lots'}}}", false },
		{ "{tools:{github:{profileId:'ghp_0123456789abcdef0123456789abcdef'}}}", true },
		{ "{tools:{github:{profileId:'ghp_0123456789ABCDEF0123456789abcdef'}}}", false },
		{ "{tools:{web:{search:{anything:1}}}}", true },
		{ "{tools:{web:{search:{brave:{apiKey:'x'}}}}}", false },
		{ "{tools:{web:{search:{brave:'x'}}}}", true },
		{ "{channels:{telegram:{},defaults:{}}}", true },
		{ "{agents:{entries:{main:{identity:{avatar:'a/b.png'}}}}}", true },
		{ "{agents:{entries:{main:{identity:{avatar:'https://x/y.png'}}}}}", true },
		{ "{agents:{entries:{main:{identity:{avatar:'ftp://x/y.png'}}}}}", false },
		{ "{agents:{entries:{main:{identity:{avatar:'../x.png'}}}}}", false },
		{ "{agents:{entries:{main:{prototype:1}}}}", false },
		{ "{agents:{entries:{main:{contextTokens:'any'}}}}", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w;

		load_compat(&w, cases[i].text);
		CHECK_CASE((w.r == 0) == cases[i].fine, "%s: %s", cases[i].text, w.r ? told(&w) : "loads");
	}
}

TEST(an_environment_for_a_container_has_portable_names_and_single_lines)
{
	static const struct refusal cases[] = {
		{ "{agents:{defaults:{sandbox:{docker:{env:{'1A':'x'}}}}}}",
		  "agents.defaults.sandbox.docker.env.1A: not a" },
		{ "{agents:{defaults:{sandbox:{docker:{env:{'A B':'x'}}}}}}",
		  "agents.defaults.sandbox.docker.env.A B: not a" },
		{ "{agents:{defaults:{sandbox:{docker:{env:{A:'x\\ny'}}}}}}", "docker.env.A: " },
		{ "{agents:{defaults:{sandbox:{docker:{env:{A:'x\\u0000y'}}}}}}", "docker.env.A: " },
		{ "{agents:{entries:{a:{sandbox:{docker:{env:{A:'x\\ry'}}}}}}}",
		  "agents.entries.a.sandbox.docker.env.A: " },
	};
	_cleanup_loading_ struct loading w, shared, ml;

	CHECK_REFUSALS(cases, true);
	/* another backend takes them upstream; here they are left out */
	load_compat(&w, "{agents:{defaults:{sandbox:{backend:'ssh',docker:{env:{A:'x\\ny',B:'1'}}}}}}");
	CHECK_LOADS(&w);
	assert_null(env_named(w.c->base.env_set, "A"));
	assert_non_null(env_named(w.c->base.env_set, "B"));
	/* the agent's block is dropped with the shared scope */
	load_compat(&shared, "{agents:{entries:{main:{sandbox:{scope:'shared',docker:{env:{'1':'x'}}}}}}}");
	CHECK_LOADS(&shared);
	/* a variable with lines in it */
	loading_init(&ml);
	use_env(&ml, "MULTI=a\nhunter2");
	ml.in.compat = STR("openclaw-2026.9");
	load_text_as(&ml, "openclaw:openclaw.json",
		     "{agents:{defaults:{sandbox:{docker:{env:{A:'${MULTI}'}}}}}}");
	CHECK_TOLD(&ml, "docker.env.A: the value has a line end or NUL in it");
	assert_false(was_told(&ml, "hunter2"));
}

TEST(the_directory_of_the_ssh_backend_is_absolute)
{
	static const struct refusal cases[] = {
		{ "{agents:{defaults:{sandbox:{ssh:{workspaceRoot:'rel/x'}}}}}",
		  "agents.defaults.sandbox.ssh.workspaceRoot: not an absolute path" },
		{ "{agents:{entries:{a:{sandbox:{ssh:{workspaceRoot:'.'}}}}}}",
		  "agents.entries.a.sandbox.ssh.workspaceRoot: not" },
	};
	_cleanup_loading_ struct loading w, other, shared;

	CHECK_REFUSALS(cases, false);
	load_claw(&w, "{agents:{defaults:{sandbox:{ssh:{workspaceRoot:'~/x'}}}}}");
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.ssh_root, path_of(&w, "x"));
	/* upstream looks when it answers for the agent, and so does the decision */
	load_compat(&other, "{agents:{entries:{a:{default:true},b:{sandbox:{ssh:{workspaceRoot:'x'}}}}}}");
	CHECK_LOADS(&other);
	load_compat(&shared, "{agents:{entries:{a:{sandbox:{scope:'shared',ssh:{workspaceRoot:'x'}}}}}}");
	CHECK_LOADS(&shared);
}

TEST(numbers_beyond_what_creel_can_do_are_refused_or_brought_near_under_compat)
{
	static const struct {
		const char *text;
		enum option id;
	} cases[] = { { "browser:{cdpPort:70000}", OPT_BROWSER_CDP_PORT },
		      { "docker:{pidsLimit:9007199254740991}", OPT_PIDS },
		      { "docker:{cpus:1e9}", OPT_CPUS },
		      { "prune:{maxAgeDays:1000000}", OPT_PRUNE_AGE_D },
		      { "docker:{memory:-5}", OPT_MEMORY } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w, v;

		loading_init(&w);
		load_text_as(&w, "openclaw:openclaw.json", in_sandbox(&w, cases[i].text));
		CHECK_CASE(w.r < 0, "loads: %s", cases[i].text);
		loading_init(&v);
		v.in.compat = STR("openclaw-2026.9");
		load_text_as(&v, "openclaw:openclaw.json", in_sandbox(&v, cases[i].text));
		CHECK_LOADS(&v);
		assert_true(v.c->base.has[cases[i].id]);
		assert_true(was_told(&v, "beyond what creel can do"));
	}
}

TEST(everything_that_is_wrong_is_told_at_once_and_nothing_is_loaded)
{
	_cleanup_loading_ struct loading w;

	load_claw(&w, "{agents:{defaults:{sandbox:{mode:'x',scope:'y',docker:{zz:1}}}},tools:{allow:5}}");
	assert_true(w.r < 0);
	assert_int_equal(w.d.n_errors, 4);
	assert_null(w.c->agents);
	assert_int_equal(w.c->n_imports, 0);
}

TEST(of_equal_keys_the_last_one_counts_and_a_prototype_is_no_key)
{
	_cleanup_loading_ struct loading w, v;

	load_compat(&w, "{agents:{defaults:{sandbox:{mode:'off',mode:'all'}}}}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.when, WHEN_ALL);
	load_compat(
		&v,
		"{\"__proto__\":{agents:{defaults:{sandbox:{mode:'all'}}}},agents:{defaults:{sandbox:{mode:'non-main',__proto__:5}}}}");
	CHECK_LOADS(&v);
	assert_int_equal(v.c->base.when, WHEN_NON_MAIN);
}

TEST_MAIN()
