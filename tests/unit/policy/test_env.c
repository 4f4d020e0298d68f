/* SPDX-License-Identifier: Apache-2.0 */
#include "walls.h"

#include "policy/envname.h"

#define GROUP "agent:main:telegram:group:1"

/* S3's passthrough, with both variables in the gateway's environment. */
static void dual(void)
{
	static const struct str set[] = { { .p = "GH_TOKEN", .n = 8 }, { .p = "BRAVE_API_KEY", .n = 13 } };

	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(ROUTE_EXEC, route_exec, LIST("gh"));
	SAY(ENV_SET, env_set,
	    walls_env(STR("GH_TOKEN=${GH_TOKEN},BRAVE_API_KEY=${BRAVE_API_KEY},MODE=fast")));
	w.r.facts.env_names = (struct strs){ .v = set, .n = 2 };
}

static enum env_state state_of(const struct decision *d, const char *name)
{
	CHECK_OK(d);
	CHECK_CASE(env_named(d, name) != NULL, "no %s", name);
	return env_named(d, name)->state;
}

TEST(c17_the_environment_starts_empty_with_a_few_of_our_own)
{
	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	CHECK_OK(ask(GROUP, "exec"));
	assert_int_equal(w.d.n_env, 6);
	CHECK_STR(env_named(&w.d, "LANG")->value, STR("C.UTF-8"));
	CHECK_STR(env_named(&w.d, "HOME")->value, STR("/tmp"));
	CHECK_STR(env_named(&w.d, "CREEL_WORKSPACE")->value, STR("/workspace"));
	assert_true(env_named(&w.d, "PATH")->value.n > 0);
	CHECK_STR(env_named(&w.d, "npm_config_fetch_retries")->value, STR("0"));
	CHECK_STR(env_named(&w.d, "PIP_RETRIES")->value, STR("0"));
}

TEST(who_has_a_network_or_says_otherwise_tries_again_as_ever)
{
	dual();
	assert_int_equal(state_of(ask_command(GROUP, "gh pr list"), "GH_TOKEN"), ENV_SET);
	assert_null(env_named(&w.d, "PIP_RETRIES"));
	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(ENV_SET, env_set, walls_env(STR("PIP_RETRIES=3")));
	CHECK_OK(ask(GROUP, "exec"));
	CHECK_STR(env_named(&w.d, "PIP_RETRIES")->value, STR("3"));
	SAY(COMPAT, compat, COMPAT_OPENCLAW_2026_9);
	CHECK_OK(ask(GROUP, "exec"));
	assert_null(env_named(&w.d, "npm_config_fetch_retries"));
}

TEST(home_is_the_workspace_where_tmp_is_not_private_and_where_upstream_has_it)
{
	struct str only_run[] = { STR("/run") };

	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(TMPFS, tmpfs, ((struct strs){ .v = only_run, .n = 1 }));
	CHECK_OK(ask(GROUP, "exec"));
	CHECK_STR(env_named(&w.d, "HOME")->value, STR("/workspace"));
	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(COMPAT, compat, COMPAT_OPENCLAW_2026_9);
	CHECK_OK(ask(GROUP, "exec"));
	CHECK_STR(env_named(&w.d, "HOME")->value, STR("/workspace"));
}

TEST(c17_a_secret_goes_to_the_network_sandbox)
{
	dual();
	assert_int_equal(state_of(ask_command(GROUP, "gh pr list"), "GH_TOKEN"), ENV_SET);
	assert_true(env_named(&w.d, "GH_TOKEN")->secret);
	assert_int_equal(env_named(&w.d, "GH_TOKEN")->value.n, 0);
	CHECK_STR(env_named(&w.d, "GH_TOKEN")->template, STR("${GH_TOKEN}"));
}

TEST(c17_a_secret_is_withheld_from_the_isolated_sandbox_and_a_literal_is_not)
{
	dual();
	assert_int_equal(state_of(ask_command(GROUP, "ls"), "GH_TOKEN"), ENV_WITHHELD);
	assert_true(strstr(env_named(&w.d, "GH_TOKEN")->why, "network sandbox"));
	assert_int_equal(env_named(&w.d, "GH_TOKEN")->template.n, 0);
	assert_int_equal(state_of(&w.d, "MODE"), ENV_SET);
	CHECK_STR(env_named(&w.d, "MODE")->value, STR("fast"));
}

TEST(c17_a_secret_needs_the_capability)
{
	struct trust_rule *r;

	dual();
	r = walls_rule("agent:*", TRUST_NONE);
	r->has_deny = true;
	r->deny = LIST("secrets");
	assert_int_equal(state_of(ask_command(GROUP, "gh x"), "GH_TOKEN"), ENV_WITHHELD);
	assert_true(strstr(env_named(&w.d, "GH_TOKEN")->why, "capability secrets"));
}

TEST(c17_a_variable_that_is_not_set_is_left_out_with_a_warning)
{
	dual();
	w.r.facts.env_names.n = 1;
	assert_int_equal(state_of(ask_command(GROUP, "gh x"), "BRAVE_API_KEY"), ENV_UNSET);
	assert_true(has_warning(&w.d, "env_unset"));
	assert_int_equal(state_of(&w.d, "GH_TOKEN"), ENV_SET);
}

TEST(c17_a_template_needs_all_of_its_variables)
{
	dual();
	SAY(ENV_SET, env_set, walls_env(STR("URL=https://${GH_TOKEN}:${OTHER}@x")));
	assert_int_equal(state_of(ask_command(GROUP, "gh x"), "URL"), ENV_UNSET);
	SAY(ENV_SET, env_set, walls_env(STR("URL=https://${GH_TOKEN}:${BRAVE_API_KEY}@x")));
	assert_int_equal(state_of(ask_command(GROUP, "gh x"), "URL"), ENV_SET);
}

TEST(c18_scope_both_gives_secrets_to_both_sandboxes)
{
	dual();
	SAY(ENV_SECRET_SCOPE, env_secret_scope, SECRET_SCOPE_BOTH);
	assert_int_equal(state_of(ask_command(GROUP, "ls"), "GH_TOKEN"), ENV_SET);
	assert_int_equal(state_of(ask_command("untrusted:x", "ls"), "GH_TOKEN"), ENV_WITHHELD);
}

TEST(a_single_networked_sandbox_is_the_network_sandbox)
{
	dual();
	SAY(NET_PRIMARY, net_primary, STR("bridge"));
	assert_int_equal(state_of(ask_command(GROUP, "ls"), "GH_TOKEN"), ENV_SET);
}

TEST(names_in_env_secrets_are_secrets)
{
	dual();
	SAY(ENV_SET, env_set, walls_env(STR("")));
	SAY(ENV_SECRETS, env_secrets, LIST("GH_TOKEN,MISSING"));
	assert_int_equal(state_of(ask_command(GROUP, "gh x"), "GH_TOKEN"), ENV_SET);
	assert_int_equal(state_of(&w.d, "MISSING"), ENV_UNSET);
	assert_int_equal(state_of(ask_command(GROUP, "ls"), "GH_TOKEN"), ENV_WITHHELD);
}

TEST(the_network_sandbox_may_have_an_environment_of_its_own)
{
	dual();
	SAY(ROUTE_ENV, route_env, walls_env(STR("MODE=net,EXTRA=1")));
	CHECK_OK(ask_command(GROUP, "gh x"));
	CHECK_STR(env_named(&w.d, "MODE")->value, STR("net"));
	assert_int_equal(state_of(&w.d, "EXTRA"), ENV_SET);
	CHECK_OK(ask_command(GROUP, "ls"));
	CHECK_STR(env_named(&w.d, "MODE")->value, STR("fast"));
	assert_null(env_named(&w.d, "EXTRA"));
}

TEST(tier1_is_given_no_secret)
{
	dual();
	SAY(PROFILE, profile, PROFILE_TIER1);
	SAY(ENV_SECRET_SCOPE, env_secret_scope, SECRET_SCOPE_BOTH);
	assert_int_equal(state_of(ask_argv(GROUP, "python3 x"), "GH_TOKEN"), ENV_WITHHELD);
}

TEST(variables_of_the_loader_and_the_shell_are_kept_out)
{
	static const char *const names[] = { "LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "IFS",
					     "GLIBC_TUNABLES" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		dual();
		SAY(ENV_SET, env_set, walls_env(arena_printf(&w.a, "%s=x", names[i])));
		assert_int_equal(state_of(ask(GROUP, "exec"), names[i]), ENV_WITHHELD);
		assert_true(has_warning(&w.d, "env_kept_out"));
		assert_int_equal(env_named(&w.d, names[i])->value.n, 0);
	}
}

TEST(our_own_variables_cannot_be_set_and_the_tool_s_can)
{
	dual();
	SAY(ENV_SET, env_set, walls_env(STR("CREEL_WORKSPACE=/etc,PATH=/opt/bin,LANG=de_DE.UTF-8")));
	CHECK_OK(ask(GROUP, "exec"));
	CHECK_STR(env_named(&w.d, "CREEL_WORKSPACE")->value, STR("/workspace"));
	CHECK_STR(env_named(&w.d, "PATH")->value, STR("/opt/bin"));
	CHECK_STR(env_named(&w.d, "LANG")->value, STR("de_DE.UTF-8"));
}

TEST(a_name_or_value_that_no_environment_can_hold_is_refused)
{
	struct env_var odd = { .kind = ENV_LITERAL, .origin = walls_file };

	dual();
	SAY(ENV_SET, env_set, ((struct env_vars){ .v = &odd, .n = 1 }));
	odd.name = STR("1A");
	CHECK_CODE(ask(GROUP, "exec"), CODE_ENV_INVALID);
	odd.name = STR("A=B");
	CHECK_CODE(ask(GROUP, "exec"), CODE_ENV_INVALID);
	odd.name = STR("A");
	odd.value = STR("a\nb");
	CHECK_CODE(ask(GROUP, "exec"), CODE_ENV_INVALID);
	odd.value = (struct str){ .p = "a\0b", .n = 3 };
	CHECK_CODE(ask(GROUP, "exec"), CODE_ENV_INVALID);
	odd.value = STR("a b");
	CHECK_OK(ask(GROUP, "exec"));
	SAY(ENV_SECRETS, env_secrets, LIST("NOT-A-NAME"));
	CHECK_CODE(ask(GROUP, "exec"), CODE_ENV_INVALID);
}

TEST(there_is_an_end_to_the_number_of_variables)
{
	struct env_var *many;

	dual();
	many = ARENA_ARRAY(&w.a, struct env_var, 600);
	for (size_t i = 0; i < 600; i++)
		many[i] = (struct env_var){ .name = arena_printf(&w.a, "V%zu", i), .kind = ENV_LITERAL };
	SAY(ENV_SET, env_set, ((struct env_vars){ .v = many, .n = 600 }));
	CHECK_CODE(ask(GROUP, "exec"), CODE_ENV_INVALID);
}

TEST(upstream_s_environment_loses_lang_when_one_is_given_without_it)
{
	dual();
	CHECK_OK(ask(GROUP, "exec"));
	assert_non_null(env_named(&w.d, "LANG"));
	SAY(COMPAT, compat, COMPAT_OPENCLAW_2026_9);
	CHECK_OK(ask(GROUP, "exec"));
	assert_null(env_named(&w.d, "LANG"));
	SAY(ENV_SET, env_set, walls_env(STR("LANG=C,A=1")));
	CHECK_OK(ask(GROUP, "exec"));
	CHECK_STR(env_named(&w.d, "LANG")->value, STR("C"));
}

TEST(on_the_host_the_environment_is_the_caller_s)
{
	dual();
	SAY(WHEN, when, WHEN_OFF);
	CHECK_OK(ask("agent:main:main", "exec"));
	assert_int_equal(w.d.n_env, 0);
}

TEST(no_reason_message_or_warning_holds_a_literal_value)
{
	dual();
	SAY(ENV_SET, env_set, walls_env(STR("PASSWORD=hunter2,LD_PRELOAD=hunter2")));
	CHECK_OK(ask(GROUP, "exec"));
	for (size_t i = 0; i < w.d.n_reasons; i++) {
		assert_null(memmem(w.d.reasons[i].text.p, w.d.reasons[i].text.n, "hunter2", 7));
		assert_null(memmem(w.d.reasons[i].value.p, w.d.reasons[i].value.n, "hunter2", 7));
	}
	for (size_t i = 0; i < w.d.n_warnings; i++)
		assert_null(memmem(w.d.warnings[i].text.p, w.d.warnings[i].text.n, "hunter2", 7));
}

/* --- raw: --- */

TEST(a_raw_api_key_is_refused_on_a_public_bind)
{
	walls_reset();
	SAY(OSB_PROVIDER, osb_provider, PROVIDER_OPENSANDBOX);
	SAY(OSB_API_KEY, osb_api_key, ((struct secret_ref){ .kind = REF_RAW, .text = STR("hunter2") }));
	w.r.facts.opensandbox_built = true;
	CHECK_OK(ask("agent:main:main", "read"));
	SAY(SERVE_BIND, serve_bind, STR("0.0.0.0"));
	CHECK_CODE(ask("agent:main:main", "read"), CODE_RAW_SECRET_PUBLIC);
	assert_null(memmem(w.d.message.p, w.d.message.n, "hunter2", 7));
	SAY(SERVE_RAW, serve_raw, true);
	CHECK_OK(ask("agent:main:main", "read"));
}

TEST(a_raw_token_is_refused_on_a_public_bind)
{
	struct token t = { .ref = { .kind = REF_RAW, .text = STR("hunter2") } };

	walls_reset();
	w.c.tokens = &t;
	w.c.n_tokens = 1;
	SAY(SERVE_GUARD, serve_guard, STR("0.0.0.0:18888"));
	CHECK_CODE(ask("agent:main:main", "read"), CODE_RAW_SECRET_PUBLIC);
	t.ref.kind = REF_ENV;
	CHECK_OK(ask("agent:main:main", "read"));
}

/* --- names --- */

TEST(names_that_look_like_secrets_are_recognised)
{
	static const char *const yes[] = {
		"GH_TOKEN", "token",           "OPENAI_API_KEY",        "MY_PASSWORD",
		"X_SECRET", "SSH_PRIVATE_KEY", "AWS_SECRET_ACCESS_KEY", "DB_PASS"
	};
	static const char *const no[] = {
		"MAX_TOKENS", "BETOKEN", "LANG", "KEY", "SECRETARY", "COMPASS", ""
	};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		CHECK_CASE(env_name_looks_secret(str_z(yes[i])), "missed %s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		CHECK_CASE(!env_name_looks_secret(str_z(no[i])), "cried wolf at %s", no[i]);
}

TEST(a_template_gives_its_names_one_after_another)
{
	struct str name;
	size_t at = 0;

	assert_true(env_template_next(STR("a${B}c$D${}${1x}${E_2}$"), &at, &name));
	CHECK_STR(name, STR("B"));
	assert_true(env_template_next(STR("a${B}c$D${}${1x}${E_2}$"), &at, &name));
	CHECK_STR(name, STR("E_2"));
	assert_false(env_template_next(STR("a${B}c$D${}${1x}${E_2}$"), &at, &name));
	at = 0;
	assert_false(env_template_next(STR("${open"), &at, &name));
}

TEST_MAIN()
