/* SPDX-License-Identifier: Apache-2.0 */
/* config show --as: the other systems' own shapes. */
#include "config/loading.h"

#include "data/json.h"

static struct str show_as(struct loading *w, enum format as)
{
	const struct show_opts o = { 0 };
	struct buf b;
	struct str s;

	buf_init(&b, 1 << 20);
	CHECK_LOADS(w);
	assert_int_equal(config_show_as(w->c, as, &o, &b, &w->e), 0);
	s = arena_str(&w->a, buf_str(&b));
	buf_done(&b);
	return s;
}

/* The printed JSON; it must be strict. */
static const struct value *json_as(struct loading *w, enum format as)
{
	const struct json_opts strict = { .name = "shown" };
	struct value *v = ARENA_NEW(&w->a, struct value);
	struct str text = show_as(w, as);
	struct err e = { 0 };

	CHECK_CASE(json_parse(&w->a, text, &strict, v, &e) == 0, "%s\n%s", e.msg, text.p);
	return v;
}

/* What jq -c would say. */
static struct str at_path(struct loading *w, const struct value *root, const char *path)
{
	const struct value *v = value_path(root, path);
	struct jsonw j;
	struct buf b;
	struct str s;

	if (!v)
		return STR("null");
	buf_init(&b, 1 << 16);
	jsonw_init(&j, &b, 0);
	json_write(&j, v);
	s = arena_str(&w->a, buf_str(&b));
	buf_done(&b);
	return s;
}
#define CHECK_JSON(w, root, path, want) CHECK_STR(at_path((w), (root), (path)), STR(want))

static void load_bilrost(struct loading *w, const char *set)
{
	loading_init(w);
	w->in.profile = STR("bilrost");
	if (set)
		use_set(w, set);
	load_it(w);
}

TEST(s3_32_to_40_and_100_the_sandbox_block_of_the_role)
{
	_cleanup_loading_ struct loading w = { 0 };
	const struct value *v;

	load_bilrost(&w, NULL);
	v = json_as(&w, FORMAT_OPENCLAW);
	CHECK_JSON(&w, v, "agents.defaults.sandbox.mode", "\"all\"");
	CHECK_JSON(&w, v, "agents.defaults.sandbox.scope", "\"session\"");
	CHECK_JSON(&w, v, "agents.defaults.sandbox.workspaceAccess", "\"rw\"");
	CHECK_JSON(&w, v, "agents.defaults.sandbox.networkAllow", "[\"web_fetch\",\"web_search\"]");
	CHECK_JSON(&w, v, "agents.defaults.sandbox.networkExecAllow", "[\"gh\"]");
	CHECK_JSON(&w, v, "agents.defaults.sandbox.networkDocker.network", "\"bridge\"");
}

TEST(s3_101_the_network_mode)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 };

	load_bilrost(&w, NULL);
	CHECK_JSON(&w, json_as(&w, FORMAT_OPENCLAW), "agents.defaults.sandbox.docker.network", "\"none\"");
	load_bilrost(&v, "sandbox_docker_network=bridge");
	CHECK_JSON(&v, json_as(&v, FORMAT_OPENCLAW), "agents.defaults.sandbox.docker.network", "\"bridge\"");
	CHECK_JSON(&v, json_as(&v, FORMAT_OPENCLAW), "agents.defaults.sandbox.networkAllow", "null");
	CHECK_JSON(&v, json_as(&v, FORMAT_OPENCLAW), "agents.defaults.sandbox.networkDocker", "null");
}

TEST(s3_102_the_vault_bind)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 };

	load_bilrost(&w, NULL);
	CHECK_JSON(&w, json_as(&w, FORMAT_OPENCLAW), "agents.defaults.sandbox.docker.binds",
		   "[\"/workspace-obsidian:/workspace-obsidian:rw\"]");
	load_bilrost(&v, "sandbox_vault_access=ro");
	CHECK_JSON(&v, json_as(&v, FORMAT_OPENCLAW), "agents.defaults.sandbox.docker.binds",
		   "[\"/workspace-obsidian:/workspace-obsidian:ro\"]");
}

TEST(s3_103_the_environment_passthrough)
{
	_cleanup_loading_ struct loading w = { 0 };

	load_bilrost(&w, NULL);
	CHECK_JSON(&w, json_as(&w, FORMAT_OPENCLAW), "agents.defaults.sandbox.docker.env",
		   "{\"GH_TOKEN\":\"${GH_TOKEN}\",\"BRAVE_API_KEY\":\"${BRAVE_API_KEY}\"}");
}

TEST(an_extra_shows_in_the_list)
{
	_cleanup_loading_ struct loading w = { 0 };

	load_bilrost(&w, "{\"sandbox_network_exec_allow_extra\":[\"npm\"]}");
	CHECK_JSON(&w, json_as(&w, FORMAT_OPENCLAW), "agents.defaults.sandbox.networkExecAllow",
		   "[\"gh\",\"npm\"]");
}

TEST(s3_50_empty_lists_are_not_written)
{
	_cleanup_loading_ struct loading w = { 0 };
	const struct value *v;

	load_bilrost(&w, "{\"sandbox_network_allow\": [], \"sandbox_network_exec_allow\": []}");
	v = json_as(&w, FORMAT_OPENCLAW);
	CHECK_JSON(&w, v, "agents.defaults.sandbox.networkAllow", "null");
	CHECK_JSON(&w, v, "agents.defaults.sandbox.networkExecAllow", "null");
	CHECK_JSON(&w, v, "agents.defaults.sandbox.networkDocker", "null");
}

/* The file as OpenClaw has it, read and written and read again, means the same. */
static const char openclaw_file[] =
	"{\n"
	"  agents: {\n"
	"    defaults: { workspace: '/w', sandbox: { mode: 'non-main', scope: 'agent', workspaceAccess: 'ro', workspaceRoot: '/r',\n"
	"      docker: { image: 'i', network: 'bridge', readOnlyRoot: false, user: '0:0', capDrop: [], env: { A: '1', GH_TOKEN: '${GH_TOKEN}' },\n"
	"        setupCommand: 'x', binds: ['/home/user/source:/source:ro'], pidsLimit: 9, memory: '1g', cpus: 2, ulimits: { nofile: '1:2' },\n"
	"        dns: ['1.1.1.1'], tmpfs: ['/tmp'] },\n"
	"      browser: { enabled: true, cdpSourceRange: '172.21.0.1/32', binds: [] }, prune: { idleHours: 1, maxAgeDays: 2 } } },\n"
	"    entries: { main: { default: true }, build: { workspace: '/b', sandbox: { mode: 'all', docker: { binds: ['/mnt/cache:/cache:rw'] } },\n"
	"      tools: { allow: ['read'], sandbox: { tools: { allow: ['group:messaging'], deny: ['group:runtime', 'group:fs'] } } } } },\n"
	"  },\n"
	"  tools: { profile: 'coding', deny: ['cron'], elevated: { enabled: true, allowFrom: { telegram: ['1'] } }, exec: { host: 'sandbox' },\n"
	"    sandbox: { tools: { alsoAllow: ['browser'] } }, byProvider: { openai: { deny: ['exec'] } } },\n"
	"  session: { scope: 'per-sender' },\n"
	"}\n";

TEST(openclaws_own_file_survives_reading_and_writing)
{
	_cleanup_loading_ struct loading w = { 0 }, again = { 0 };
	struct str text;

	loading_init(&w);
	load_text_as(&w, "openclaw:openclaw.json", openclaw_file);
	text = show_as(&w, FORMAT_OPENCLAW);
	CHECK_STR(str_z(w.e.msg), STR(""));
	loading_init(&again);
	load_text_as(&again, "openclaw:openclaw.json", text.p);
	CHECK_CASE(again.r == 0, "%s\n%s", told(&again), text.p);
	CHECK_CASE(config_equal(w.c, again.c), "changed:\n%s", text.p);
}

TEST(agents_and_tools_have_their_places)
{
	_cleanup_loading_ struct loading w = { 0 };
	const struct value *v;

	loading_init(&w);
	load_creel(
		&w,
		"{agents:{main:{default:true},b:{mode:{when:'all'},tools:{sandbox:{deny:['x']}}}},tools:{deny:['y'],"
		"bySender:{z:{allow:['a']}}},identity:{mainKey:'m'}}");
	v = json_as(&w, FORMAT_OPENCLAW);
	CHECK_JSON(&w, v, "agents.entries.main", "{\"default\":true}");
	CHECK_JSON(&w, v, "agents.entries.b.sandbox.mode", "\"all\"");
	CHECK_JSON(&w, v, "agents.entries.b.tools.sandbox.tools.deny", "[\"x\"]");
	CHECK_JSON(&w, v, "tools.deny", "[\"y\"]");
	CHECK_JSON(&w, v, "tools.toolsBySender", "{\"z\":{\"allow\":[\"a\"]}}");
	CHECK_JSON(&w, v, "session.mainKey", "\"m\"");
}

TEST(what_a_format_cannot_say_is_told)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_creel(
		&w,
		"{mode:{trust:{rules:[{match:'a',trust:'docker',limits:{pids:3}}]}},network:{route:{hosts:['h']}},"
		"identity:{pairs:[{channel:'t',agent:'a',chat_id:'1'}],tokens:[{ref:'env:T',pairs:'*'}]},"
		"tools:{per:{x:{ttl:1}}},agents:{a:{}},backend:{scope:'job'},mounts:{workspace:{access:'overlay'}}}");
	(void)show_as(&w, FORMAT_OPENCLAW);
	CHECK_STR(
		str_z(w.e.msg),
		STR("openclaw cannot say: mode.trust.rules, route and limits of rules, identity.pairs, identity.tokens, tools.per, "
		    "network.route.hosts, backend.scope (written as session), mounts.workspace.access (written as ro)"));
	assert_int_equal(w.e.kind, ERR_NONE);
	(void)show_as(&w, FORMAT_ATHENA);
	assert_non_null(strstr(w.e.msg, "athena cannot say: route and limits of rules, identity.pairs"));
	(void)show_as(&w, FORMAT_ALLOWLIST);
	assert_non_null(strstr(w.e.msg, "allowlist cannot say: mode.trust.rules"));
	assert_null(strstr(w.e.msg, "identity.pairs"));
}

TEST(a_long_account_of_what_is_missing_is_counted)
{
	_cleanup_loading_ struct loading w = { 0 };
	struct buf b;

	loading_init(&w);
	buf_init(&b, 1 << 20);
	buf_putc(&b, '{');
	for (unsigned i = OPT_TIMEOUT_S; i < OPT_COUNT_; i++) {
		const struct option_info *o = option_info((enum option)i);

		if (!o->def[0])
			continue;
		buf_printf(&b, "'%s':", o->key);
		if (o->type == TYPE_ENUM)
			buf_printf(&b, "'%s',", o->def);
		else if (o->type == TYPE_U64 || o->type == TYPE_SIZE)
			buf_printf(&b, "%.0f,", o->max < 5000 ? o->max : o->min > 5000 ? o->min : 5000);
		else
			buf_puts(&b, o->type == TYPE_BOOL   ? "true,"
				     : o->type == TYPE_NUM  ? "1,"
				     : o->type == TYPE_LIST ? "[],"
							    : "'127.0.0.1:1',");
	}
	buf_putc(&b, '}');
	use_set(&w, b.p);
	load_it(&w);
	(void)show_as(&w, FORMAT_ALLOWLIST);
	assert_non_null(strstr(w.e.msg, " more"));
	buf_done(&b);
}

TEST(athenas_settings_survive_writing_and_reading)
{
	_cleanup_loading_ struct loading w = { 0 }, again = { 0 };
	struct str text;

	loading_init(&w);
	load_text_as(
		&w, "athena:settings.yaml",
		"sandbox:\n  default_mode: none\n  rules:\n    - match: \"client:*\"\n      mode: light\n"
		"      deny: [secrets, external_api, git_push]\n    - match: \"untrusted:*\"\n      mode: docker\n"
		"      allow: [bash, read, edit]\n      deny: [browser, network, git]\n"
		"    - match: \"a 'quoted' \\\"one\\\"\"\n      mode: readonly\n      allow: []\n");
	text = show_as(&w, FORMAT_ATHENA);
	CHECK_STR(str_z(w.e.msg), STR(""));
	loading_init(&again);
	load_text_as(&again, "athena:settings.yaml", text.p);
	CHECK_CASE(again.r == 0, "%s\n%s", told(&again), text.p);
	CHECK_CASE(config_equal(w.c, again.c), "changed:\n%s", text.p);
}

TEST(athenas_settings_are_written_as_yaml)
{
	_cleanup_loading_ struct loading w = { 0 }, v = { 0 };

	loading_init(&w);
	load_creel(&w,
		   "{mode:{trust:{default:'light',rules:[{match:'a:*',trust:'docker',deny:['network']}]}}}");
	CHECK_STR(show_as(&w, FORMAT_ATHENA),
		  STR("sandbox:\n  default_mode: \"light\"\n  rules:\n    - match: \"a:*\"\n"
		      "      mode: \"docker\"\n      deny: [\"network\"]\n"));
	loading_init(&v);
	load_creel(&v, "{}");
	CHECK_STR(show_as(&v, FORMAT_ATHENA), STR("sandbox:\n  default_mode: \"none\"\n  rules: []\n"));
}

TEST(the_allowlist_survives_writing_and_reading)
{
	_cleanup_loading_ struct loading w = { 0 }, again = { 0 };
	struct str text;

	loading_init(&w);
	load_text_as(&w, "allowlist:allowlist.json",
		     "{\"telegram\": [ {\"agent\": \"g-coder\", \"chat_id\": \"TG_GROUP_CODER_ID\"}, "
		     "{\"agent\": \"g-hello\", \"chat_id\": \"-100\"} ]}");
	text = show_as(&w, FORMAT_ALLOWLIST);
	CHECK_STR(str_z(w.e.msg), STR(""));
	loading_init(&again);
	load_text_as(&again, "allowlist:allowlist.json", text.p);
	CHECK_CASE(again.r == 0, "%s\n%s", told(&again), text.p);
	CHECK_CASE(config_equal(w.c, again.c), "changed:\n%s", text.p);
}

TEST(openclaw_nets_settings_survive_writing_and_reading)
{
	_cleanup_loading_ struct loading w = { 0 }, again = { 0 };
	struct str text;

	loading_init(&w);
	load_text_as(
		&w, "openclaw-net:appsettings.json",
		"{\"OpenClaw\":{\"Sandbox\":{\"Provider\":\"OpenSandbox\",\"Endpoint\":\"http://localhost:5000\","
		"\"ApiKey\":\"env:OPEN_SANDBOX_API_KEY\",\"DefaultTTL\":300,\"Tools\":{"
		"\"shell\":{\"Mode\":\"Require\",\"Template\":\"alpine:3.20\",\"TTL\":300},"
		"\"code_exec\":{\"Mode\":\"Prefer\",\"Template\":\"p\",\"TTL\":300},"
		"\"browser\":{\"Mode\":\"None\"}}}}}");
	text = show_as(&w, FORMAT_OPENCLAW_NET);
	CHECK_STR(str_z(w.e.msg), STR(""));
	loading_init(&again);
	load_text_as(&again, "openclaw-net:appsettings.json", text.p);
	CHECK_CASE(again.r == 0, "%s\n%s", told(&again), text.p);
	CHECK_CASE(config_equal(w.c, again.c), "changed:\n%s", text.p);
	CHECK_JSON(&w, json_as(&w, FORMAT_OPENCLAW_NET), "OpenClaw.Sandbox.Tools.shell",
		   "{\"Mode\":\"Require\",\"Template\":\"alpine:3.20\",\"TTL\":300}");
}

TEST(the_roles_variables_survive_writing_and_reading)
{
	_cleanup_loading_ struct loading w = { 0 }, again = { 0 };
	struct str text;

	load_bilrost(
		&w,
		"{\"sandbox_network_exec_allow_extra\":[\"npm\"],\"sandbox_vault_access\":\"ro\",\"sandbox_mode\":\"non-main\"}");
	text = show_as(&w, FORMAT_ANSIBLE);
	CHECK_STR(str_z(w.e.msg), STR(""));
	loading_init(&again);
	load_text_as(&again, "ansible:main.yml", text.p);
	CHECK_CASE(again.r == 0, "%s\n%s", told(&again), text.p);
	CHECK_CASE(config_equal(w.c, again.c), "changed:\n%s", text.p);
}

TEST(secrets_are_written_in_no_format)
{
	_cleanup_loading_ struct loading w = { 0 };

	loading_init(&w);
	load_creel(
		&w,
		"{env:{set:{MY_TOKEN:'hunter2'}},network:{route:{env:{A_KEY:'hunter2'}}},backend:{opensandbox:{apiKey:'raw:hunter2'}},"
		"identity:{tokens:[{ref:'raw:hunter2',pairs:'*'}]}}");
	for (int f = 0; f < FORMAT_COUNT_; f++) {
		assert_null(strstr(show_as(&w, (enum format)f).p, "hunter2"));
		assert_null(strstr(w.e.msg, "hunter2"));
	}
}

TEST(an_unknown_format_is_an_error)
{
	_cleanup_loading_ struct loading w = { 0 };
	const struct show_opts o = { 0 };
	struct buf b;

	loading_init(&w);
	load_it(&w);
	buf_init(&b, 100);
	assert_true(config_show_as(w.c, FORMAT_COUNT_, &o, &b, &w.e) < 0);
	buf_done(&b);
}

TEST_MAIN()
