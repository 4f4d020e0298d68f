/* SPDX-License-Identifier: Apache-2.0 */
#include "walls.h"

#include "policy/posture.h"

#define ALL "agent:main:telegram:group:1"
#define MAIN "agent:main:main"

static void sandbox_all(void)
{
	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
}

static void only_backends(unsigned backends)
{
	w.r.facts.backends = 1u << BACKEND_HOST | backends;
}

static void provider(enum provider p)
{
	SAY(OSB_PROVIDER, osb_provider, (int)p);
	SAY(OSB_ENDPOINT, osb_endpoint, STR("http://localhost:5000"));
	w.r.facts.opensandbox_built = true;
}

/* OpenClaw.NET's file alone, as its reader leaves it. */
static void lone_s4(enum provider p)
{
	walls_reset();
	w.c.formats = 1u << FORMAT_OPENCLAW_NET;
	provider(p);
}

static struct tool_setting *s4_tool(const char *tool, enum enforce enforce)
{
	struct tool_setting *t = walls_per_tool(tool);

	t->has_enforce = true;
	t->enforce = enforce;
	return t;
}

/* --- host or sandbox --- */

TEST(a_session_that_nothing_sandboxes_runs_on_the_host)
{
	const struct decision *d;

	walls_reset();
	d = ask(MAIN, "exec");
	CHECK_OK(d);
	assert_int_equal(d->place.place, PLACE_HOST);
	assert_int_equal(d->place.backend, BACKEND_HOST);
	assert_int_equal(d->place.key.n, 0);
}

TEST(s1_8_the_main_session_runs_on_the_host_and_a_group_in_a_sandbox)
{
	walls_reset();
	SAY(WHEN, when, WHEN_NON_MAIN);
	assert_int_equal(ask(MAIN, "exec")->place.place, PLACE_HOST);
	assert_int_equal(ask(ALL, "exec")->place.place, PLACE_CONTAINER);
}

TEST(a_tool_of_the_gateway_itself_is_placed_nowhere)
{
	const struct decision *d;

	sandbox_all();
	only_backends(0);
	SAY(SBX_ALLOW, sbx_allow, LIST("message"));
	d = ask(ALL, "message");
	CHECK_OK(d);
	assert_int_equal(d->place.place, PLACE_NOWHERE);
	assert_int_equal(d->n_mounts + d->n_env, 0);
}

TEST(trust_light_is_restricted_and_trust_docker_a_container)
{
	walls_reset();
	assert_int_equal(ask("client:leon", "exec")->place.place, PLACE_RESTRICTED);
	assert_int_equal(ask("untrusted:x", "exec")->place.place, PLACE_CONTAINER);
	SAY(BACKEND_NAME, backend_name, STR("docker"));
	assert_int_equal(ask("client:leon", "exec")->place.place, PLACE_CONTAINER);
}

/* --- which backend --- */

TEST(the_first_backend_of_the_order_that_is_there_is_taken)
{
	sandbox_all();
	assert_int_equal(ask(ALL, "exec")->place.backend, BACKEND_NATIVE);
	only_backends(1u << BACKEND_DOCKER);
	assert_int_equal(ask(ALL, "exec")->place.backend, BACKEND_DOCKER);
	only_backends(1u << BACKEND_DOCKER | 1u << BACKEND_NATIVE);
	SAY(BACKEND_ORDER, backend_order, LIST("docker,native"));
	assert_int_equal(ask(ALL, "exec")->place.backend, BACKEND_DOCKER);
	CHECK_STR(w.d.place.backend_name, STR("docker"));
}

TEST(without_any_backend_a_sandboxed_call_is_refused_and_the_missing_ones_are_named)
{
	const struct decision *d;

	sandbox_all();
	only_backends(0);
	d = ask(ALL, "exec");
	CHECK_CODE(d, CODE_SANDBOX_UNAVAILABLE);
	assert_int_equal(d->verdict, VERDICT_DENY);
	assert_true(memmem(d->message.p, d->message.n, "native, docker", 14));
	assert_true(has_fix(d, "creel doctor"));
}

TEST(a_backend_that_is_nearer_to_the_host_than_asked_for_is_not_taken)
{
	struct ctx x = { .c = &w.c, .r = &w.r, .a = &w.a, .d = &w.d };

	sandbox_all();
	CHECK_OK(ask(ALL, "exec"));
	w.d.code = CODE_UNDECIDED;
	w.d.n_reasons = w.d.n_warnings = 0;
	w.d.mode.place_min = PLACE_REMOTE;
	assert_false(stage_placement(&x));
	CHECK_CODE(&w.d, CODE_SANDBOX_UNAVAILABLE);
}

TEST(an_empty_order_is_a_list_of_no_backend)
{
	sandbox_all();
	SAY(BACKEND_ORDER, backend_order, LIST(""));
	CHECK_CODE(ask(ALL, "exec"), CODE_SANDBOX_UNAVAILABLE);
	assert_true(has_reason(&w.d, STAGE_PLACEMENT, "backend.order is empty"));
}

TEST(a_backend_that_is_named_is_the_only_one)
{
	sandbox_all();
	SAY(BACKEND_NAME, backend_name, STR(" Docker "));
	assert_int_equal(ask(ALL, "exec")->place.backend, BACKEND_DOCKER);
	only_backends(1u << BACKEND_NATIVE);
	CHECK_CODE(ask(ALL, "exec"), CODE_SANDBOX_UNAVAILABLE);
}

TEST(podman_is_the_docker_backend)
{
	sandbox_all();
	SAY(BACKEND_NAME, backend_name, STR("podman"));
	assert_int_equal(ask(ALL, "exec")->place.backend, BACKEND_DOCKER);
	CHECK_STR(w.d.place.backend_name, STR("podman"));
}

TEST(a_blank_backend_of_an_agent_leaves_the_base_s)
{
	struct agent *a;

	sandbox_all();
	SAY(BACKEND_NAME, backend_name, STR("docker"));
	a = walls_agent("main");
	SAY_IN(a->over, BACKEND_NAME, backend_name, STR("  "));
	assert_int_equal(ask(ALL, "exec")->place.backend, BACKEND_DOCKER);
}

TEST(a_backend_that_creel_does_not_have_is_refused_when_a_tool_is_asked_for)
{
	static const char *const names[] = { "ssh", "openshell", "crabbox", "our-engine", "host", "none" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		sandbox_all();
		SAY(BACKEND_NAME, backend_name, str_z(names[i]));
		CHECK_CODE(ask(ALL, "exec"), CODE_UNKNOWN_BACKEND);
	}
	sandbox_all();
	SAY(BACKEND_ORDER, backend_order, LIST("native,docekr"));
	CHECK_CODE(ask(ALL, "exec"), CODE_UNKNOWN_BACKEND);
}

TEST(upstream_s_view_without_a_tool_shows_any_backend)
{
	sandbox_all();
	SAY(COMPAT, compat, COMPAT_OPENCLAW_2026_9);
	SAY(BACKEND_NAME, backend_name, STR("our-engine"));
	only_backends(0);
	CHECK_OK(ask(ALL, ""));
	CHECK_STR(w.d.place.backend_name, STR("our-engine"));
	assert_int_equal(w.d.place.backend, BACKEND_NONE);
	assert_false(w.d.place.available);
	CHECK_CODE(ask(ALL, "exec"), CODE_UNKNOWN_BACKEND);
}

TEST(upstream_s_default_backend_is_docker_and_its_case_is_kept)
{
	sandbox_all();
	SAY(COMPAT, compat, COMPAT_OPENCLAW_2026_9);
	CHECK_STR(ask(ALL, "")->place.backend_name, STR("docker"));
	SAY(BACKEND_NAME, backend_name, STR(" DOCKER "));
	CHECK_STR(ask(ALL, "")->place.backend_name, STR("DOCKER"));
	assert_int_equal(w.d.place.backend, BACKEND_DOCKER);
}

/* --- enforce --- */

TEST(c8_prefer_falls_back_to_the_host_when_nothing_else_asks_for_isolation)
{
	lone_s4(PROVIDER_OPENSANDBOX);
	CHECK_OK(ask(MAIN, "shell"));
	assert_int_equal(w.d.place.place, PLACE_HOST);
	assert_int_equal(w.d.mode.enforce, ENFORCE_PREFER);
	assert_true(has_reason(&w.d, STAGE_PLACEMENT, "prefer: no sandbox is available"));
}

TEST(c8_prefer_uses_the_sandbox_while_it_is_there_and_may_fall_back)
{
	lone_s4(PROVIDER_OPENSANDBOX);
	only_backends(1u << BACKEND_OPENSANDBOX);
	CHECK_OK(ask(MAIN, "shell"));
	assert_int_equal(w.d.place.backend, BACKEND_OPENSANDBOX);
	assert_int_equal(w.d.place.place, PLACE_REMOTE);
	assert_true(w.d.place.may_fall_back);
}

TEST(c8_prefer_behaves_like_require_in_a_sandboxed_session_and_says_so)
{
	sandbox_all();
	s4_tool("exec", ENFORCE_PREFER);
	only_backends(0);
	CHECK_CODE(ask(ALL, "exec"), CODE_SANDBOX_UNAVAILABLE);
	assert_true(has_reason(&w.d, STAGE_PLACEMENT, "prefer behaves like require"));
	only_backends(1u << BACKEND_NATIVE);
	CHECK_OK(ask(ALL, "exec"));
	assert_false(w.d.place.may_fall_back);
}

TEST(c8_the_configured_enforce_cannot_soften_a_sandboxed_session)
{
	static const enum enforce soft[] = { ENFORCE_PREFER, ENFORCE_OFF };

	for (size_t i = 0; i < 2; i++) {
		walls_reset();
		SAY(ENFORCE, enforce, (int)soft[i]);
		only_backends(0);
		CHECK_CODE(ask("untrusted:x", "exec"), CODE_SANDBOX_UNAVAILABLE);
		assert_true(has_reason(&w.d, STAGE_PLACEMENT, "behaves like require"));
	}
}

TEST(c8_prefer_behaves_like_require_on_a_public_bind)
{
	lone_s4(PROVIDER_OPENSANDBOX);
	SAY(SERVE_BIND, serve_bind, STR("0.0.0.0:8080"));
	CHECK_CODE(ask(MAIN, "shell"), CODE_SANDBOX_UNAVAILABLE);
	only_backends(1u << BACKEND_OPENSANDBOX);
	CHECK_OK(ask(MAIN, "shell"));
	assert_false(w.d.place.may_fall_back);
	assert_true(has_reason(&w.d, STAGE_PLACEMENT, "reached from outside"));
}

TEST(c8_a_canonical_prefer_takes_any_backend_before_it_falls_back)
{
	walls_reset();
	w.c.formats = 1u << FORMAT_CREEL;
	s4_tool("exec", ENFORCE_PREFER);
	assert_int_equal(ask(MAIN, "exec")->place.backend, BACKEND_NATIVE);
	only_backends(0);
	assert_int_equal(ask(MAIN, "exec")->place.place, PLACE_HOST);
}

TEST(s4_39_require_never_runs_locally)
{
	lone_s4(PROVIDER_OPENSANDBOX);
	s4_tool("exec", ENFORCE_REQUIRE);
	CHECK_CODE(ask(MAIN, "shell"), CODE_SANDBOX_UNAVAILABLE);
	assert_true(has_fix(&w.d, "backend.opensandbox.endpoint"));
}

TEST(s4_28_mode_none_of_a_tool_runs_it_locally)
{
	lone_s4(PROVIDER_OPENSANDBOX);
	only_backends(1u << BACKEND_OPENSANDBOX);
	s4_tool("exec", ENFORCE_OFF);
	assert_int_equal(ask(MAIN, "shell")->place.place, PLACE_HOST);
}

TEST(s4_12_the_default_is_prefer_for_the_three_tools_and_nothing_for_others)
{
	static const char *const tools[] = { "shell", "code_exec", "browser" };

	lone_s4(PROVIDER_OPENSANDBOX);
	only_backends(1u << BACKEND_OPENSANDBOX);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(ask(MAIN, tools[i])->place.backend, BACKEND_OPENSANDBOX);
		assert_int_equal(w.d.mode.enforce, ENFORCE_PREFER);
	}
	assert_int_equal(ask(MAIN, "read")->place.place, PLACE_HOST);
	s4_tool("read", ENFORCE_REQUIRE);
	assert_int_equal(ask(MAIN, "read")->place.place, PLACE_HOST);
}

TEST(the_git_tool_is_placed_like_exec)
{
	lone_s4(PROVIDER_OPENSANDBOX);
	only_backends(1u << BACKEND_OPENSANDBOX);
	s4_tool("exec", ENFORCE_REQUIRE);
	assert_int_equal(ask(MAIN, "git")->place.backend, BACKEND_OPENSANDBOX);
}

/* --- C9 --- */

TEST(c9_with_a_lone_s4_file_provider_none_runs_every_tool_locally_even_with_require)
{
	lone_s4(PROVIDER_NONE);
	s4_tool("exec", ENFORCE_REQUIRE);
	CHECK_OK(ask(MAIN, "shell"));
	assert_int_equal(w.d.place.place, PLACE_HOST);
	assert_true(has_warning(&w.d, "require_without_provider"));
	assert_int_equal(ask(MAIN, "browser")->place.place, PLACE_HOST);
	assert_int_equal(ask(MAIN, "read")->place.place, PLACE_HOST);
}

TEST(c9_the_profile_alone_counts_as_a_lone_s4_file)
{
	walls_reset();
	SAY(PROFILE, profile, PROFILE_OPENCLAW_NET);
	s4_tool("exec", ENFORCE_REQUIRE);
	assert_int_equal(ask(MAIN, "shell")->place.place, PLACE_HOST);
}

TEST(c9_provider_none_does_not_switch_off_other_axes)
{
	lone_s4(PROVIDER_NONE);
	assert_int_equal(ask("untrusted:x", "exec")->place.backend, BACKEND_NATIVE);
	SAY(WHEN, when, WHEN_ALL);
	assert_int_equal(ask(ALL, "exec")->place.backend, BACKEND_NATIVE);
}

TEST(c9_with_other_formats_provider_none_only_removes_opensandbox)
{
	walls_reset();
	w.c.formats = 1u << FORMAT_OPENCLAW | 1u << FORMAT_OPENCLAW_NET;
	provider(PROVIDER_NONE);
	SAY(WHEN, when, WHEN_NON_MAIN);
	SAY(BACKEND_ORDER, backend_order, LIST("opensandbox,native"));
	only_backends(1u << BACKEND_OPENSANDBOX | 1u << BACKEND_NATIVE);
	assert_int_equal(ask(ALL, "exec")->place.backend, BACKEND_NATIVE);
	s4_tool("exec", ENFORCE_PREFER);
	assert_int_equal(ask(MAIN, "exec")->place.place, PLACE_HOST);
	w.c.per_tool[0].enforce = ENFORCE_REQUIRE;
	assert_int_equal(ask(MAIN, "exec")->place.backend, BACKEND_NATIVE);
}

TEST(c9_no_sandbox_runs_on_the_host_and_leaves_a_warning)
{
	sandbox_all();
	w.r.no_sandbox = true;
	CHECK_OK(ask(ALL, "exec"));
	assert_int_equal(w.d.place.place, PLACE_HOST);
	assert_true(has_warning(&w.d, "no_sandbox"));
}

TEST(c9_no_sandbox_also_overrides_a_tool_s_require)
{
	walls_reset();
	s4_tool("exec", ENFORCE_REQUIRE);
	w.r.no_sandbox = true;
	assert_int_equal(ask(MAIN, "exec")->place.place, PLACE_HOST);
}

TEST(c9_no_sandbox_is_refused_on_a_public_bind)
{
	static const enum option doors[] = { OPT_SERVE_BIND, OPT_SERVE_GUARD, OPT_SERVE_RUNNER,
					     OPT_SERVE_OPENSANDBOX };

	for (size_t i = 0; i < 4; i++) {
		struct str *address[] = { &w.c.base.serve_bind, &w.c.base.serve_guard, &w.c.base.serve_runner,
					  &w.c.base.serve_opensandbox };

		sandbox_all();
		w.r.no_sandbox = true;
		*address[i] = STR("192.168.1.4:18888");
		w.c.base.has[doors[i]] = true;
		CHECK_CODE(ask(ALL, "read"), CODE_NO_SANDBOX_REFUSED);
	}
}

TEST(c9_nobody_but_the_local_command_line_may_ask_for_no_sandbox)
{
	sandbox_all();
	w.r.via = VIA_LIBRARY;
	w.r.no_sandbox = true;
	assert_int_equal(ask(ALL, "exec")->place.place, PLACE_CONTAINER);
}

/* --- C33 --- */

TEST(c33_a_provider_that_was_not_built_in_is_an_error_that_names_the_option)
{
	lone_s4(PROVIDER_OPENSANDBOX);
	w.r.facts.opensandbox_built = false;
	CHECK_CODE(ask(MAIN, "shell"), CODE_BACKEND_NOT_BUILT);
	assert_true(memmem(w.d.message.p, w.d.message.n, "-Dopensandbox=true", 18));
	CHECK_CODE(ask(MAIN, "read"), CODE_BACKEND_NOT_BUILT);
	assert_true(has_fix(&w.d, "-Dopensandbox=true"));
	/* What is advised first works in this build, and not without walls. */
	assert_true(str_starts(w.d.fix_it.v[0], STR("backend.opensandbox.provider=None with mode.when=all")));
	w.c.base.osb_provider = PROVIDER_NONE;
	w.c.base.when = WHEN_ALL;
	s4_tool("exec", ENFORCE_REQUIRE);
	CHECK_OK(ask(MAIN, "shell"));
	assert_int_equal(w.d.place.place, PLACE_CONTAINER);
	assert_int_equal(w.d.place.backend, BACKEND_NATIVE);
	assert_false(has_warning(&w.d, "require_without_provider"));
}

TEST(s4_3_a_build_without_opensandbox_is_fine_while_nobody_asks_for_it)
{
	lone_s4(PROVIDER_NONE);
	w.r.facts.opensandbox_built = false;
	CHECK_OK(ask(MAIN, "shell"));
}

/* --- public bind --- */

TEST(s4_47_a_local_shell_on_a_public_bind_is_unsafe)
{
	lone_s4(PROVIDER_NONE);
	SAY(SERVE_BIND, serve_bind, STR("0.0.0.0"));
	CHECK_CODE(ask(MAIN, "shell"), CODE_UNSAFE_PUBLIC_BIND);
	CHECK_OK(ask(MAIN, "read"));
	SAY(SERVE_UNSAFE, serve_unsafe, true);
	CHECK_OK(ask(MAIN, "shell"));
}

TEST(s4_46_require_with_opensandbox_counts_as_sandboxed_on_a_public_bind)
{
	lone_s4(PROVIDER_OPENSANDBOX);
	only_backends(1u << BACKEND_OPENSANDBOX);
	SAY(SERVE_BIND, serve_bind, STR("0.0.0.0"));
	s4_tool("exec", ENFORCE_REQUIRE);
	CHECK_OK(ask(MAIN, "shell"));
	assert_int_equal(w.d.place.place, PLACE_REMOTE);
}

TEST(only_loopback_and_unix_addresses_are_private)
{
	static const char *const local[] = { "",
					     "127.0.0.1",
					     "127.9.9.9:1",
					     "localhost:80",
					     "[::1]:80",
					     "::1",
					     "unix:/run/x",
					     " 127.0.0.1 ",
					     "http://127.0.0.1:5000",
					     "loopback",
					     "127.0.0.1:0",
					     "localhost:0",
					     "[::1]:0",
					     "https://localhost" };
	static const char *const open[] = {
		"0.0.0.0",     ":8080",  "[::]:80", "::",        "10.0.0.1:80",
		"example.com", "lan",    "*:80",    "128.0.0.1", "http://0.0.0.0:5000",
		"0.0.0.0:0",   "[::]:0", "fe80::0", "::0",       ":0"
	};

	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		CHECK_CASE(!address_is_public(str_z(local[i])), "'%s' is private", local[i]);
	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++)
		CHECK_CASE(address_is_public(str_z(open[i])), "'%s' is public", open[i]);
}

/* --- image, ttl, lifetime --- */

TEST(s4_40_the_template_is_the_image_and_s4_41_ttl_comes_from_the_tool_then_the_default)
{
	struct tool_setting *t;

	lone_s4(PROVIDER_OPENSANDBOX);
	only_backends(1u << BACKEND_OPENSANDBOX);
	t = walls_per_tool("browser");
	t->template = STR("mcr.microsoft.com/playwright:v1.52.0-noble");
	t->has_ttl = true;
	t->ttl_s = 600;
	CHECK_STR(ask(MAIN, "browser")->place.image, STR("mcr.microsoft.com/playwright:v1.52.0-noble"));
	assert_int_equal(w.d.place.ttl_s, 600);
	assert_int_equal(ask(MAIN, "shell")->place.ttl_s, 300);
}

TEST(an_image_is_configured_for_containers_and_only_on_request_for_the_native_engine)
{
	sandbox_all();
	assert_int_equal(ask(ALL, "exec")->place.image.n, 0);
	SAY(BACKEND_NAME, backend_name, STR("docker"));
	CHECK_STR(ask(ALL, "exec")->place.image, STR("openclaw-sandbox:bookworm-slim"));
	SAY(BACKEND_NAME, backend_name, STR("native"));
	SAY(IMAGE, image, STR("mine:1"));
	CHECK_STR(ask(ALL, "exec")->place.image, STR("mine:1"));
	SAY(SBX_ALLOW, sbx_allow, LIST("browser"));
	SAY(BACKEND_NAME, backend_name, STR("docker"));
	CHECK_STR(ask(ALL, "browser")->place.image, STR("openclaw-sandbox-browser:bookworm-slim"));
}

TEST(c16_a_sandbox_lives_per_session_agent_or_shared_and_its_key_says_which)
{
	sandbox_all();
	assert_int_equal(ask(ALL, "exec")->place.scope, SCOPE_SESSION);
	CHECK_STR(w.d.place.key, STR(ALL));
	SAY(SCOPE, scope, SCOPE_AGENT);
	CHECK_STR(ask(ALL, "exec")->place.key, STR("agent:main"));
	SAY(SCOPE, scope, SCOPE_SHARED);
	CHECK_STR(ask(ALL, "exec")->place.key, STR("shared"));
}

TEST(c16_a_tier1_call_is_a_job_whatever_the_scope_says)
{
	sandbox_all();
	SAY(PROFILE, profile, PROFILE_TIER1);
	SAY(SCOPE, scope, SCOPE_SHARED);
	w.r.request_id = STR("req-1");
	CHECK_OK(ask_argv(ALL, "python3 x.py"));
	assert_int_equal(w.d.place.scope, SCOPE_JOB);
	CHECK_STR(w.d.place.key, STR("req-1"));
	w.r.request_id = (struct str){ 0 };
	CHECK_STR(ask_argv(ALL, "python3 x.py")->place.key, STR("job"));
}

TEST(c16_a_lease_is_kept_per_session_id_and_tool_name)
{
	lone_s4(PROVIDER_OPENSANDBOX);
	only_backends(1u << BACKEND_OPENSANDBOX);
	CHECK_STR(ask(MAIN, "bash")->place.key, STR("agent:main:main:shell"));
	assert_int_equal(w.d.place.scope, SCOPE_LEASE);
	w.r.session_id = STR("s-77");
	CHECK_STR(ask(MAIN, "code_exec")->place.key, STR("s-77:code_exec"));
}

TEST(c16_a_lease_has_its_own_key_on_this_host_too)
{
	sandbox_all();
	SAY(SCOPE, scope, SCOPE_LEASE);
	CHECK_STR(ask(MAIN, "bash")->place.key, STR("agent:main:main:shell"));
	w.r.session_id = STR("s-77");
	CHECK_STR(ask(MAIN, "exec")->place.key, STR("s-77:shell"));
	CHECK_STR(ask(MAIN, "process")->place.key, STR("s-77:shell"));
	CHECK_STR(ask(MAIN, "code_exec")->place.key, STR("s-77:code_exec"));
	assert_int_equal(w.d.place.scope, SCOPE_LEASE);
}

TEST(upstream_s_default_scope_is_agent_and_its_key_holds_the_workspace)
{
	sandbox_all();
	SAY(COMPAT, compat, COMPAT_OPENCLAW_2026_9);
	SAY(WS_PATH, ws_path, STR("/home/u/ws"));
	assert_int_equal(ask(ALL, "")->place.scope, SCOPE_AGENT);
	CHECK_STR(w.d.place.key, STR("agent:main:workspace:59f00c3df4a2af58523f193f9e8ada36"));
	SAY(SCOPE, scope, SCOPE_SESSION);
	CHECK_STR(ask("agent:main:discord:group:1", "")->place.key,
		  STR("agent:main:discord:group:1:workspace:59f00c3df4a2af58523f193f9e8ada36"));
	CHECK_STR(ask("global", "")->place.key,
		  STR("agent:main:main:workspace:59f00c3df4a2af58523f193f9e8ada36"));
}

TEST(a_remote_sandbox_is_never_used_for_tier1)
{
	sandbox_all();
	provider(PROVIDER_OPENSANDBOX);
	SAY(PROFILE, profile, PROFILE_TIER1);
	only_backends(1u << BACKEND_OPENSANDBOX);
	CHECK_CODE(ask_argv(ALL, "python3 x.py"), CODE_SANDBOX_UNAVAILABLE);
}

/* --- exec.host, profiles, elevated --- */

TEST(exec_on_host_sandbox_without_a_sandbox_fails_closed)
{
	walls_reset();
	SAY(EXEC_HOST, exec_host, EXEC_HOST_SANDBOX);
	CHECK_CODE(ask(MAIN, "exec"), CODE_SANDBOX_UNAVAILABLE);
	CHECK_OK(ask(MAIN, "read"));
	SAY(WHEN, when, WHEN_ALL);
	CHECK_OK(ask(MAIN, "exec"));
}

TEST(exec_on_host_gateway_stays_in_the_sandbox_of_a_sandboxed_session)
{
	sandbox_all();
	SAY(EXEC_HOST, exec_host, EXEC_HOST_GATEWAY);
	assert_int_equal(ask(ALL, "exec")->place.place, PLACE_CONTAINER);
	assert_true(has_warning(&w.d, "exec_host_ignored"));
	SAY(WHEN, when, WHEN_OFF);
	assert_int_equal(ask(MAIN, "exec")->place.place, PLACE_HOST);
}

TEST(exec_on_host_node_is_something_creel_does_not_have)
{
	walls_reset();
	SAY(EXEC_HOST, exec_host, EXEC_HOST_NODE);
	CHECK_CODE(ask(MAIN, "exec"), CODE_UNKNOWN_BACKEND);
}

TEST(an_unconfined_profile_is_refused_in_any_spelling)
{
	sandbox_all();
	SAY(SECCOMP_PROFILE, seccomp_profile, STR(" Unconfined "));
	CHECK_CODE(ask(ALL, "exec"), CODE_PROFILE_UNCONFINED);
	sandbox_all();
	SAY(APPARMOR_PROFILE, apparmor_profile, STR("UNCONFINED"));
	CHECK_CODE(ask(ALL, "exec"), CODE_PROFILE_UNCONFINED);
	SAY(APPARMOR_PROFILE, apparmor_profile, STR("docker-default"));
	CHECK_OK(ask(ALL, "exec"));
}

static void allow_elevated(void)
{
	static const struct str senders[] = { { .p = "12345", .n = 5 } };
	static const struct listmap_entry entry = { .key = { .p = "telegram", .n = 8 },
						    .values = { .v = senders, .n = 1 } };

	SAY(ELEV_ENABLED, elev_enabled, true);
	SAY(ELEV_ALLOW, elev_allow, ((struct listmap){ .v = &entry, .n = 1 }));
	w.r.sender = STR("12345");
	w.r.wants_elevated = true;
}

TEST(c27_elevated_exec_runs_on_the_host_and_a_person_is_asked)
{
	sandbox_all();
	allow_elevated();
	assert_int_equal(ask(ALL, "exec")->verdict, VERDICT_ASK);
	assert_int_equal(w.d.place.place, PLACE_HOST);
}

TEST(c27_elevated_exec_keeps_to_the_mode_of_exec)
{
	static const struct {
		enum exec_mode mode;
		enum verdict want;
	} t[] = { { EXEC_MODE_UNSET, VERDICT_ASK },  { EXEC_MODE_ASK, VERDICT_ASK },
		  { EXEC_MODE_AUTO, VERDICT_ASK },   { EXEC_MODE_ALLOWLIST, VERDICT_DENY },
		  { EXEC_MODE_FULL, VERDICT_ALLOW }, { EXEC_MODE_ALWAYS, VERDICT_ASK },
		  { EXEC_MODE_DENY, VERDICT_DENY } };

	sandbox_all();
	allow_elevated();
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		SAY(EXEC_MODE, exec_mode, (int)t[i].mode);
		CHECK_CASE(ask(ALL, "exec")->verdict == t[i].want, "mode %d gives %d", (int)t[i].mode,
			   (int)w.d.verdict);
		CHECK_CASE(w.d.verdict == VERDICT_DENY || w.d.place.elevated.used, "mode %d", (int)t[i].mode);
	}
}

TEST(c27_elevated_moves_exec_alone)
{
	sandbox_all();
	allow_elevated();
	assert_int_equal(ask(ALL, "read")->place.place, PLACE_CONTAINER);
	assert_int_equal(w.d.verdict, VERDICT_ALLOW);
}

TEST(elevated_exec_on_a_public_bind_is_unsafe)
{
	sandbox_all();
	allow_elevated();
	SAY(SERVE_BIND, serve_bind, STR("0.0.0.0"));
	CHECK_CODE(ask(ALL, "exec"), CODE_UNSAFE_PUBLIC_BIND);
}

TEST_MAIN()
