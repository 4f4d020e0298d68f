/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical file: its parts, and what is wrong with them. */
#include "config/loading.h"

TEST(the_whole_sample_loads)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_creel(
		&w,
		"{\n"
		"  version: 1,\n"
		"  profile: \"openclaw\",     // defaults only\n"
		"  import: [],\n"
		"  identity: { mainKey: \"main\", mainPatterns: [], tokens: [{ ref: \"env:SANDBOX_GUARD_TOKEN\", pairs: \"*\" }],\n"
		"              pairs: [{ channel: \"telegram\", agent: \"g-coder\", chat_id: \"-100123\" }] },\n"
		"  mode:    { when: \"non-main\", trust: { default: \"none\", rules: [{ match: \"untrusted:*\", trust: \"docker\", deny: [\"network\"] }] } },\n"
		"  tools:   { allow: [], deny: [], sandbox: { allow: [], deny: [] }, elevated: { enabled: false, allowFrom: {} },\n"
		"             per: { shell: { enforce: \"require\", template: \"alpine:3.20\", ttl: 300 } } },\n"
		"  backend: { order: [\"native\", \"docker\"], scope: \"session\", image: \"openclaw-sandbox:bookworm-slim\", readOnlyRoot: true, user: \"1000:1000\",\n"
		"             setupCommand: \"\", prune: { idleHours: 24, maxAgeDays: 7 },\n"
		"             opensandbox: { provider: \"None\", endpoint: \"http://localhost:5000\", apiKey: \"env:OPEN_SANDBOX_API_KEY\", defaultTTL: 300 } },\n"
		"  network: { primary: \"none\", route: { tools: [\"web_fetch\",\"web_search\"], exec: [\"gh\"], network: \"bridge\", workspace: \"rw\" },\n"
		"             internal: { name: \"openclaw_sandbox_net\", hosts: [\"ollama\",\"rag-service\"] }, browser: { network: \"openclaw-sandbox-browser\", cdpSourceRange: null } },\n"
		"  mounts:  { workspace: { access: \"none\", root: \"~/.openclaw/sandboxes\", overlay: false }, binds: [], vault: { path: \"/workspace-obsidian\", access: \"rw\" } },\n"
		"  env:     { set: { LANG: \"C.UTF-8\" }, secrets: [\"GH_TOKEN\",\"BRAVE_API_KEY\"], secretsFile: \"/etc/openclaw/secrets.env\", secret_scope: \"network\" },\n"
		"  limits:  { timeout_s: 10, timeout_max_s: 60, stdout: 80000, stderr: 80000, read: 200000, read_max: 2000000, write_max: 2000000, pids: 128, memory: \"512m\", cpus: 1.0, tmpfs: \"64m\" },\n"
		"  sync:    { mode: \"manual\", blockedExt: [\".env\",\".pem\",\".key\",\".p12\",\".pfx\",\".jks\",\".keystore\",\".secret\",\".credentials\"], warnSize: \"10M\" },\n"
		"  serve:   { guard: \"127.0.0.1:18888\", runner: \"unix:/run/creel/runner.sock\" },\n"
		"  audit:   { path: \"~/.openclaw/sandbox/audit.jsonl\" },\n"
		"}\n");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.profile, PROFILE_OPENCLAW);
	assert_int_equal(w.c->n_tokens, 1);
	assert_true(w.c->tokens[0].all_pairs);
	assert_int_equal(w.c->tokens[0].ref.kind, REF_ENV);
	CHECK_STR(w.c->tokens[0].ref.text, STR("SANDBOX_GUARD_TOKEN"));
	CHECK_STR(w.c->pairs[0].chat_id, STR("-100123"));
	assert_int_equal(w.c->rules[0].trust, TRUST_DOCKER);
	CHECK_LIST(&w, w.c->rules[0].deny, "network");
	assert_false(w.c->rules[0].has_allow);
	CHECK_STR(w.c->per_tool[0].tool, STR("exec"));
	assert_int_equal(w.c->per_tool[0].enforce, ENFORCE_REQUIRE);
	assert_int_equal(w.c->per_tool[0].ttl_s, 300);
	CHECK_STR(w.c->per_tool[0].template, STR("alpine:3.20"));
	assert_int_equal(w.c->base.osb_api_key.kind, REF_ENV);
}

TEST(an_unknown_key_is_an_error_with_position_and_suggestion)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "{\n  mdoe: {},\n}", "creel.json5:2:3: mdoe: unknown key 'mdoe', did you mean 'mode'?\n" },
		{ "{mode:{wen:'all'}}",
		  "creel.json5:1:8: mode.wen: unknown key 'wen', did you mean 'when'?\n" },
		{ "{mode:{nothing:1}}",
		  "mode.nothing: unknown key 'nothing', accepted: when, trust, enforce\n" },
		{ "{'mode.when':'all'}", "mode.when: unknown key 'mode.when', accepted: version, profile" },
		{ "{backend:{opensandbox:{api_key:''}}}", "unknown key 'api_key', did you mean 'apiKey'?" },
		{ "{'':1}", "unknown key ''" },
		{ "{agents:{a:{defualt:true}}}",
		  "agents.a.defualt: unknown key 'defualt', did you mean 'default'?" },
		{ "{tools:{per:{x:{enforced:1}}}}",
		  "tools.per.x.enforced: unknown key 'enforced', did you mean 'enforce'?" },
		{ "{identity:{pairs:[{channel:'t',agent:'a',chat_id:'1',chatid:'1'}]}}",
		  "did you mean 'chat_id'?" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_creel(&w, cases[i].text);
		CHECK_TOLD(&w, cases[i].want);
		assert_int_equal(w.d.n, 1);
	}
}

TEST(a_section_must_be_an_object)
{
	static const char *const texts[] = { "{mode:'all'}",
					     "{tools:[]}",
					     "{backend:{prune:3}}",
					     "{agents:[]}",
					     "{agents:{a:1}}",
					     "{tools:{per:1}}",
					     "{tools:{per:{x:1}}}",
					     "[]",
					     "1" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_creel(&w, texts[i]);
		CHECK_TOLD(&w, "expected an object");
	}
}

TEST(a_rule_is_checked)
{
	static const struct {
		const char *rule, *want;
	} cases[] = {
		{ "{trust:'none'}",
		  "mode.trust.rules[0]: match is missing, accepted: a pattern for session keys" },
		{ "{match:'x'}",
		  "mode.trust.rules[0]: trust is missing, accepted: none, light, docker or readonly" },
		{ "{match:'',trust:'none'}", "mode.trust.rules[0].match: empty" },
		{ "{match:3,trust:'none'}", "mode.trust.rules[0].match: expected a string, found 3" },
		{ "{match:'x',trust:'dcoker'}",
		  "trust: unknown value 'dcoker', accepted: none, light, docker or readonly; did you mean 'docker'?" },
		{ "{match:'x',mode:'none'}",
		  "mode.trust.rules[0].mode: unknown key 'mode', accepted: match, trust" },
		{ "{match:'x',trust:'none',allow:'read'}",
		  "allow: expected an array of strings, found 'read'" },
		{ "{match:'x',trust:'none',deny:[1]}", "deny[0]: expected a string, found 1" },
		{ "{match:'x',trust:'none',route:{network:'bridge'}}",
		  "route.network: cannot be set by a rule" },
		{ "{match:'x',trust:'none',limits:{stdout:1}}", "limits.stdout: cannot be set by a rule" },
		{ "{match:'x',trust:'none',limits:{pids:0}}", "limits.pids: 0 is not in range" },
		{ "{match:'x',trust:'none',limits:1}", "limits: expected an object" },
		{ "'x'", "mode.trust.rules[0]: expected an object with match and trust" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_creel(&w, arena_printf(&w.a, "{mode:{trust:{rules:[%s]}}}", cases[i].rule).p);
		CHECK_TOLD(&w, cases[i].want);
	}
}

TEST(a_rule_may_set_routes_and_limits)
{
	_cleanup_loading_ struct loading w = { 0 };
	const struct trust_rule *r;

	loading_init(&w);
	load_creel(
		&w,
		"{mode:{trust:{rules:[{match:'untrusted:pr-*',trust:'docker',allow:['bash'],route:{tools:['web_fetch'],"
		"exec:['npm'],hosts:['packages.example']},limits:{timeout_s:600,pids:512,memory:'2g',cpus:2}},"
		"{match:'x',trust:'none'}]}}}");
	CHECK_LOADS(&w);
	r = &w.c->rules[0];
	assert_non_null(r->over);
	CHECK_LIST(&w, r->over->route_tools, "web_fetch");
	CHECK_LIST(&w, r->over->route_exec, "npm");
	CHECK_LIST(&w, r->over->route_hosts, "packages.example");
	assert_int_equal(r->over->timeout_s, 600);
	assert_int_equal(r->over->pids, 512);
	assert_int_equal(r->over->memory, (uint64_t)2 << 30);
	assert_true(r->over->has[OPT_CPUS]);
	assert_false(r->over->has[OPT_STDOUT_MAX]);
	assert_null(w.c->rules[1].over);
}

TEST(pairs_and_tokens_are_checked)
{
	static const struct {
		const char *identity, *want;
	} cases[] = {
		{ "pairs:{}", "identity.pairs: expected an array of pairs" },
		{ "pairs:['x']", "identity.pairs[0]: expected an object with channel, agent and chat_id" },
		{ "pairs:[{agent:'a',chat_id:'1'}]", "identity.pairs[0]: channel is missing" },
		{ "pairs:[{channel:'t',chat_id:'1'}]", "identity.pairs[0]: agent is missing" },
		{ "pairs:[{channel:'t',agent:'a'}]", "identity.pairs[0]: chat_id is missing" },
		{ "pairs:[{channel:'t',agent:'A',chat_id:'1'}]",
		  "identity.pairs[0].agent: 'A' is not accepted here" },
		{ "pairs:[{channel:'t',agent:'a',chat_id:'x/../y'}]",
		  "identity.pairs[0].chat_id: 'x/../y' is not accepted here" },
		{ "pairs:[{channel:'a/b',agent:'a',chat_id:'1'}]", "identity.pairs[0].channel" },
		{ "tokens:{}", "identity.tokens: expected an array of tokens" },
		{ "tokens:[{pairs:'*'}]",
		  "identity.tokens[0]: ref is missing, accepted: env:NAME or raw:VALUE" },
		{ "tokens:[{ref:'env:T'}]",
		  "identity.tokens[0]: pairs is missing, accepted: '*' or an array of pairs" },
		{ "tokens:[{ref:'env:T',pairs:'all'}]",
		  "identity.tokens[0].pairs: expected '*' or an array of pairs" },
		{ "tokens:[{ref:'env:1',pairs:'*'}]", "identity.tokens[0].ref: not a reference to a secret" },
		{ "tokens:[{ref:'env:T',pairs:[{}]}]", "identity.tokens[0].pairs[0]: channel is missing" },
		{ "tokens:[{ref:'env:T',pairs:'*',name:'x'}]",
		  "identity.tokens[0].name: unknown key 'name', accepted: ref, pairs" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_creel(&w, arena_printf(&w.a, "{identity:{%s}}", cases[i].identity).p);
		CHECK_TOLD(&w, cases[i].want);
	}
}

TEST(a_token_can_be_bound_to_its_own_pairs)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_creel(
		&w,
		"{identity:{tokens:[{ref:'raw:s3cret',pairs:[{channel:'telegram',agent:'g-coder',chat_id:-100123}]},"
		"{ref:'env:B',pairs:[]}]}}");
	CHECK_LOADS(&w);
	assert_false(w.c->tokens[0].all_pairs);
	assert_int_equal(w.c->tokens[0].n_pairs, 1);
	CHECK_STR(w.c->tokens[0].pairs[0].chat_id, STR("-100123"));
	assert_int_equal(w.c->tokens[0].ref.kind, REF_RAW);
	assert_int_equal(w.c->tokens[1].n_pairs, 0);
	assert_false(w.c->tokens[1].all_pairs);
}

TEST(an_agent_may_set_what_is_meant_for_agents)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_creel(
		&w,
		"{agents:{main:{},build:{default:true,mode:{when:'all'},backend:{scope:'agent'},mounts:{binds:['/c:/c:rw']},"
		"tools:{sandbox:{allow:['group:messaging'],deny:[]}}}}}");
	CHECK_LOADS(&w);
	assert_true(w.c->has_roster);
	assert_int_equal(w.c->n_agents, 2);
	assert_false(w.c->agents[0].is_default);
	assert_true(w.c->agents[1].is_default);
	assert_int_equal(w.c->agents[1].over->when, WHEN_ALL);
	assert_true(w.c->agents[1].over->has[OPT_SBX_DENY]);
	assert_false(w.c->agents[0].over->has[OPT_WHEN]);
}

TEST(every_option_is_accepted_for_an_agent_exactly_when_the_table_says_so)
{
	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		const struct option_info *info = option_info((enum option)i);
		_cleanup_loading_ struct loading w = { 0 };
		struct str rest = str_z(info->key), word, head = STR(""), tail = STR("");
		bool refused;

		loading_init(&w);
		while (str_cut(rest, '.', &word, &rest)) {
			head = arena_printf(&w.a, "%.*s%.*s:{", (int)head.n, head.p, (int)word.n, word.p);
			tail = arena_printf(&w.a, "%.*s}", (int)tail.n, tail.p);
		}
		/* A function is no value of any type: whatever the option takes, this is not the complaint looked for. */
		load_creel(&w, arena_printf(&w.a, "{agents:{a:{%.*s%.*s:[[1]]%.*s}}}", (int)head.n, head.p,
					    (int)rest.n, rest.p, (int)tail.n, tail.p)
				       .p);
		refused = strstr(told(&w), "cannot be set for one agent") != NULL;
		CHECK_CASE(refused == !(info->flags & F_AGENT), "%s: %s", info->key, told(&w));
	}
}

TEST(agents_are_checked)
{
	static const struct {
		const char *agents, *want;
	} cases[] = {
		{ "{'A B':{}}", "agents.A B: no agent id, accepted: lower-case letters" },
		{ "{'-x':{}}", "agents.-x: no agent id" },
		{ "{a:{default:'yes'}}", "agents.a.default: expected true or false, found 'yes'" },
		{ "{a:{default:true},b:{default:true}}",
		  "agents.b.default: agent 'a' is the default already, accepted: one default" },
		{ "{a:{audit:{path:'x'}}}", "agents.a.audit.path: cannot be set for one agent" },
		{ "{a:{agents:{}}}", "agents.a.agents: unknown key 'agents'" },
		{ "{a:{tools:{per:{}}}}", "agents.a.tools.per: unknown key 'per'" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w = { 0 };

		loading_init(&w);
		load_creel(&w, arena_printf(&w.a, "{agents:%s}", cases[i].agents).p);
		CHECK_TOLD(&w, cases[i].want);
	}
}

TEST(settings_of_one_tool_are_checked_and_kept_under_its_one_name)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 };

	loading_init(&w);
	load_creel(&w, "{tools:{per:{Bash:{enforce:'prefer'},shell:{ttl:5},code_exec:{template:'x'}}}}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->n_per_tool, 2);
	CHECK_STR(w.c->per_tool[0].tool, STR("exec"));
	assert_int_equal(w.c->per_tool[0].enforce, ENFORCE_PREFER);
	assert_int_equal(w.c->per_tool[0].ttl_s, 5);
	assert_false(w.c->per_tool[1].has_ttl);

	loading_init(&v);
	load_creel(&v, "{tools:{per:{a:{enforce:'Prefer'},b:{ttl:0},c:{ttl:'5'},d:{template:5},' ':{}}}}");
	CHECK_TOLD(
		&v,
		"tools.per.a.enforce: unknown value 'Prefer', accepted: off, prefer or require; did you mean 'prefer'?");
	CHECK_TOLD(&v, "tools.per.b.ttl: 0 is no lifetime in seconds, accepted: 1 to 604800");
	CHECK_TOLD(&v, "tools.per.c.ttl: '5' is no lifetime");
	CHECK_TOLD(&v, "tools.per.d.template: expected a string, found 5");
	CHECK_TOLD(&v, "tools.per. : a tool's name is empty");
	assert_int_equal(v.d.n, 5);
}

TEST(a_schema_reference_for_editors_is_no_unknown_key)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_creel(&w, "{$schema:'./creel.schema.json',version:1}");
	CHECK_LOADS(&w);
}

/* {head item item … tail} with one item more than is accepted */
static int load_many(struct loading *w, const char *head, const char *item, const char *tail)
{
	struct buf b = { 0 };
	int r;

	buf_init(&b, 1 << 20);
	buf_puts(&b, head);
	for (int i = 0; i < 4097; i++)
		buf_printf(&b, "%s%d%s,", item, i, item[0] == '\'' ? "'" : ":'x'");
	buf_puts(&b, tail);
	r = load_creel(w, b.p);
	buf_done(&b);
	return r;
}

TEST(long_lists_and_maps_are_refused)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 }, u = { 0 };

	loading_init(&w);
	load_many(&w, "{tools:{allow:[", "'", "]}}");
	CHECK_TOLD(&w, "tools.allow: 4097 entries, accepted: at most 4096");
	loading_init(&v);
	load_many(&v, "{env:{set:{", "V", "}}}");
	CHECK_TOLD(&v, "env.set: 4097 entries, accepted: at most 4096");
	loading_init(&u);
	load_many(&u, "{mode:{trust:{rules:[", "'", "]}}}");
	CHECK_TOLD(&u, "mode.trust.rules: 4097 entries, accepted: at most 4096");
}

TEST(a_long_value_is_cut_in_a_message_and_never_inside_a_character)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_creel(&w, "{mode:{when:'aéééééééééééééééééééééééééééééééééééééééé'}}");
	CHECK_TOLD(&w, "unknown value 'aééééééééééééééééééééééééééééééé…', accepted");
}

TEST_MAIN()
