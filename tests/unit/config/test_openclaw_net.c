/* SPDX-License-Identifier: Apache-2.0 */
/* OpenClaw.NET's appsettings.json and variables, as S4 has them. */
#include "config/loading.h"

static void load_fixture(struct loading *w, const char *name)
{
	loading_init(w);
	w->files[0] = (struct config_source){
		.format = FORMAT_OPENCLAW_NET,
		.path = arena_printf(&w->a, "%s/openclaw-net/%s", getenv("CREEL_TEST_DATA"), name),
	};
	w->in.files = w->files;
	w->in.n_files = 1;
	load_it(w);
}

static const struct tool_setting *tool(const struct loading *w, const char *name)
{
	for (size_t i = 0; i < w->c->n_per_tool; i++)
		if (str_eq(w->c->per_tool[i].tool, str_z(name)))
			return &w->c->per_tool[i];
	fail_msg("no settings for %s", name);
	return NULL;
}

TEST(the_shipped_settings_of_the_whole_application_load)
{
	_cleanup_loading_ struct loading w;

	load_fixture(&w, "appsettings.json");
	CHECK_LOADS(&w);
	assert_int_equal(w.d.n, 0);
	assert_int_equal(w.c->base.osb_provider, PROVIDER_OPENSANDBOX);
	CHECK_STR(w.c->base.osb_endpoint, STR("http://localhost:5000"));
	assert_int_equal(w.c->base.osb_api_key.kind, REF_ENV);
	CHECK_STR(w.c->base.osb_api_key.text, STR("OPEN_SANDBOX_API_KEY"));
	assert_int_equal(w.c->base.osb_ttl_s, 300);
	CHECK_STR(w.c->base.serve_bind, STR("127.0.0.1"));
	assert_int_equal(tool(&w, "exec")->enforce, ENFORCE_PREFER);
	CHECK_STR(tool(&w, "exec")->template, STR("alpine:3.20"));
	assert_int_equal(tool(&w, "exec")->ttl_s, 300);
	CHECK_STR(tool(&w, "code_exec")->template, STR("nikolaik/python-nodejs:python3.12-nodejs22-slim"));
	CHECK_STR(tool(&w, "browser")->template, STR("mcr.microsoft.com/playwright:v1.52.0-noble"));
	assert_int_equal(tool(&w, "browser")->ttl_s, 600);
}

TEST(the_stricter_example_for_a_public_bind_loads)
{
	_cleanup_loading_ struct loading w;

	load_fixture(&w, "appsettings.Production.json");
	CHECK_LOADS(&w);
	CHECK_STR(w.c->base.serve_bind, STR("0.0.0.0"));
	assert_int_equal(tool(&w, "exec")->enforce, ENFORCE_REQUIRE);
	assert_int_equal(tool(&w, "code_exec")->enforce, ENFORCE_PREFER);
}

TEST(the_shortest_opt_out_needs_nothing_else)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	load_text_as(&w, "openclaw-net:appsettings.json",
		     "{ \"OpenClaw\": { \"Sandbox\": { \"Provider\": \"None\" } } }");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.osb_provider, PROVIDER_NONE);
	assert_int_equal(tool(&w, "exec")->enforce, ENFORCE_PREFER);
	assert_int_equal(tool(&w, "exec")->origin.kind, ORIGIN_PROFILE);
}

TEST(a_file_without_any_sandbox_settings_has_the_provider_off)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	load_text_as(&w, "openclaw-net:appsettings.json", "{\"Logging\":{},\"OpenClaw\":{\"Port\":1}}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.osb_provider, PROVIDER_NONE);
}

TEST(keys_in_any_case_and_with_colons_are_the_same_keys)
{
	static const char *const texts[] = {
		"{openclaw:{SANDBOX:{provider:'opensandbox',ENDPOINT:'http://h',defaultttl:'60',tools:{Shell:{mode:'REQUIRE',template:'a',ttl:5}}}}}",
		"{'OpenClaw:Sandbox:Provider':'OpenSandbox','OpenClaw:Sandbox':{Endpoint:'http://h',DefaultTTL:60},"
		"OpenClaw:{'sandbox:tools:shell':{Mode:'Require'},Sandbox:{Tools:{'shell:Template':'a',shell:{TTL:'5'}}}}}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		load_text_as(&w, "openclaw-net:a.json", texts[i]);
		CHECK_LOADS(&w);
		assert_int_equal(w.c->base.osb_provider, PROVIDER_OPENSANDBOX);
		CHECK_STR(w.c->base.osb_endpoint, STR("http://h"));
		assert_int_equal(w.c->base.osb_ttl_s, 60);
		assert_int_equal(tool(&w, "exec")->enforce, ENFORCE_REQUIRE);
		CHECK_STR(tool(&w, "exec")->template, STR("a"));
		assert_int_equal(tool(&w, "exec")->ttl_s, 5);
	}
}

TEST(every_mistake_of_the_validator_is_told)
{
	static const struct {
		const char *sandbox, *want;
	} cases[] = {
		{ "Provider:'Docker'",
		  "OpenClaw.Sandbox.Provider: 'Docker' is not accepted, accepted: None or OpenSandbox" },
		{ "Provider:5",
		  "OpenClaw.Sandbox.Provider: 5 is not accepted, accepted: None or OpenSandbox" },
		{ "DefaultTTL:0",
		  "OpenClaw.Sandbox.DefaultTTL: 0 is not accepted, accepted: seconds, 1 to 604800" },
		{ "DefaultTTL:-5", "OpenClaw.Sandbox.DefaultTTL: -5 is not accepted" },
		{ "DefaultTTL:1.5", "OpenClaw.Sandbox.DefaultTTL: 1.5 is not accepted" },
		{ "DefaultTTL:'soon'", "OpenClaw.Sandbox.DefaultTTL: 'soon' is not accepted" },
		{ "Provider:'OpenSandbox'", "OpenClaw.Sandbox.Endpoint: missing with Provider OpenSandbox" },
		{ "Provider:'OpenSandbox',Endpoint:' '", "OpenClaw.Sandbox.Endpoint: missing" },
		{ "Endpoint:'localhost:5000'", "accepted: a URL that starts with http:// or https://" },
		{ "Endpoint:5", "OpenClaw.Sandbox.Endpoint: 5 is not accepted, accepted: a URL" },
		{ "Tools:{shell:{Mode:'Always'}}",
		  "OpenClaw.Sandbox.Tools.shell.Mode: 'Always' is not accepted, accepted: None, Prefer or Require" },
		{ "Tools:{shell:{TTL:0}}", "OpenClaw.Sandbox.Tools.shell.TTL: 0 is not accepted" },
		{ "Tools:{shell:{Template:5}}", "OpenClaw.Sandbox.Tools.shell.Template: 5 is not accepted" },
		{ "Provider:'OpenSandbox',Endpoint:'http://h',Tools:{shell:{Mode:'Require'}}",
		  "OpenClaw.Sandbox.Tools: Template is missing for 'exec', accepted: the name of an image, or Mode None" },
		{ "Provider:'OpenSandbox',Endpoint:'http://h',Tools:{shell:{TTL:5}}",
		  "Template is missing for 'exec'" },
		{ "Tools:{shell:'Prefer'}",
		  "OpenClaw.Sandbox.Tools.shell: expected a tool with Mode, Template and TTL" },
		{ "Tools:[]", "OpenClaw.Sandbox.Tools: expected an object" },
		{ "Providr:'None'",
		  "OpenClaw.Sandbox.Providr: unknown key 'Providr', did you mean 'Provider'?" },
		{ "Tools:{shell:{Image:'a'}}",
		  "OpenClaw.Sandbox.Tools.shell.Image: unknown key 'Image', accepted: Mode, Template, TTL" },
		{ "Provider:'None',provider:'OpenSandbox'", "stands here twice" },
		{ "ApiKey:5", "OpenClaw.Sandbox.ApiKey: expected env:NAME, raw:VALUE or the key itself" },
		{ "ApiKey:'env:not a name'",
		  "OpenClaw.Sandbox.ApiKey: what follows env: is not the name of a variable" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		load_text_as(&w, "openclaw-net:a.json",
			     arena_printf(&w.a, "{OpenClaw:{Sandbox:{%s}}}", cases[i].sandbox).p);
		CHECK_TOLD(&w, "a.json:1:");
		CHECK_TOLD(&w, cases[i].want);
	}
}

TEST(a_tool_that_stays_local_needs_no_template)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	load_text_as(
		&w, "openclaw-net:a.json",
		"{OpenClaw:{Sandbox:{Provider:'OpenSandbox',Endpoint:'http://h',Tools:{shell:{Mode:'None'},git:{TTL:5}}}}}");
	CHECK_LOADS(&w);
	assert_int_equal(tool(&w, "exec")->enforce, ENFORCE_OFF);
}

TEST(an_api_key_is_a_variable_a_raw_text_or_bare_and_then_raw)
{
	static const struct {
		const char *key;
		enum ref_kind kind;
		const char *text;
	} cases[] = {
		{ "env:KEY", REF_ENV, "KEY" },
		{ "raw:s3cret", REF_RAW, "s3cret" },
		{ "s3cret", REF_RAW, "s3cret" },
		{ "", REF_NONE, "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		load_text_as(&w, "openclaw-net:a.json",
			     arena_printf(&w.a, "{OpenClaw:{Sandbox:{ApiKey:'%s'}}}", cases[i].key).p);
		CHECK_LOADS(&w);
		assert_int_equal(w.c->base.osb_api_key.kind, cases[i].kind);
		CHECK_STR(w.c->base.osb_api_key.text, str_z(cases[i].text));
	}
}

TEST(variables_come_over_the_file_and_may_complete_it)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	use_env(&w, "OpenClaw__Sandbox__Provider=OpenSandbox");
	use_env(&w, "OPENCLAW__SANDBOX__ENDPOINT=http://elsewhere:9");
	use_env(&w, "openclaw__sandbox__tools__shell__mode=require");
	use_env(&w, "OpenClaw__Sandbox__Tools__shell__Template=busybox");
	use_env(&w, "OpenClaw__Sandbox__DefaultTTL=7");
	use_env(&w, "OpenClaw__Security__AllowUnsafeToolingOnPublicBind=true");
	use_env(&w, "OpenClaw__BindAddress=::");
	use_env(&w, "OpenClaw__Llm__Model=x");
	load_text_as(&w, "openclaw-net:a.json", "{OpenClaw:{Sandbox:{Provider:'None',DefaultTTL:300}}}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.osb_provider, PROVIDER_OPENSANDBOX);
	CHECK_STR(w.c->base.osb_endpoint, STR("http://elsewhere:9"));
	assert_int_equal(w.c->base.osb_ttl_s, 7);
	assert_int_equal(tool(&w, "exec")->enforce, ENFORCE_REQUIRE);
	CHECK_STR(tool(&w, "exec")->template, STR("busybox"));
	assert_true(w.c->base.serve_unsafe);
	CHECK_STR(w.c->base.serve_bind, STR("::"));
	assert_int_equal(w.c->base.origin[OPT_OSB_PROVIDER].kind, ORIGIN_ENV);
	CHECK_STR(w.c->base.origin[OPT_OSB_PROVIDER].name, STR("OpenClaw__Sandbox__Provider"));
}

TEST(variables_alone_without_such_a_file_change_nothing)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	use_env(&w, "OpenClaw__Sandbox__Provider=OpenSandbox");
	load_creel(&w, "{}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.osb_provider, PROVIDER_NONE);
}

TEST(a_key_in_a_variable_is_kept_by_its_name_alone)
{
	_cleanup_loading_ struct loading w;

	loading_init(&w);
	use_env(&w, "OpenClaw__Sandbox__ApiKey=hunter2hunter2");
	load_text_as(&w, "openclaw-net:a.json", "{}");
	CHECK_LOADS(&w);
	assert_int_equal(w.c->base.osb_api_key.kind, REF_ENV);
	CHECK_STR(w.c->base.osb_api_key.text, STR("OpenClaw__Sandbox__ApiKey"));
}

TEST(what_a_variable_holds_is_in_no_message)
{
	static const char *const names[] = { "Provider",
					     "DefaultTTL",
					     "Endpoint",
					     "Nonsense",
					     "Tools__shell__Mode",
					     "Tools__shell__TTL",
					     "Tools__shell__Nonsense",
					     "Tools__shell",
					     "Tools",
					     "ApiKey__x" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		use_env(&w, arena_printf(&w.a, "OpenClaw__Sandbox__%s=hunter2hunter2", names[i]).p);
		load_text_as(&w, "openclaw-net:a.json", "{}");
		CHECK_CASE(w.r < 0, "%s loads", names[i]);
		CHECK_CASE(!strstr(told(&w), "hunter2") && !strstr(w.e.msg, "hunter2"), "%s: %s", names[i],
			   told(&w));
		CHECK_TOLD(&w, arena_printf(&w.a, "environment OpenClaw__Sandbox__%s", names[i]).p);
	}
}

TEST(what_is_no_such_file_is_refused)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "[]", "a.json:1:1: expected an object with OpenClaw in it, found an array" },
		{ "{OpenClaw:5}", "a.json:1:11: OpenClaw: expected an object" },
		{ "{OpenClaw:{Sandbox:true}}", "a.json:1:20: OpenClaw.Sandbox: expected an object" },
		{ "{OpenClaw:{Security:{AllowRawSecretRefsOnPublicBind:'maybe'}}}",
		  "accepted: true or false" },
		{ "{OpenClaw:{BindAddress:5}}",
		  "OpenClaw.BindAddress: 5 is not accepted, accepted: an address" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_loading_ struct loading w;

		loading_init(&w);
		load_text_as(&w, "openclaw-net:a.json", cases[i].text);
		CHECK_TOLD(&w, cases[i].want);
	}
}

TEST_MAIN()
