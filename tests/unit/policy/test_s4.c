/* SPDX-License-Identifier: Apache-2.0 */
/* S4's flow: which tools its switch concerns, what the mode of a tool means, and what is left alone. */
#include "walls.h"

#define SESSION "agent:main:main"

/* OpenClaw.NET's file alone, as its reader leaves it. */
static void lone_s4(enum provider p, bool reachable)
{
	walls_reset();
	w.c.formats = 1u << FORMAT_OPENCLAW_NET;
	SAY(OSB_PROVIDER, osb_provider, (int)p);
	SAY(OSB_ENDPOINT, osb_endpoint, STR("http://localhost:5000"));
	w.r.facts.opensandbox_built = true;
	w.r.facts.backends = 1u << BACKEND_HOST | (reachable ? 1u << BACKEND_OPENSANDBOX : 0);
}

enum { UNSAID = ENFORCE_COUNT_ };

static void set_mode(const char *canonical, unsigned mode)
{
	struct tool_setting *t;

	if (mode == UNSAID)
		return;
	t = walls_per_tool(canonical);
	t->has_enforce = true;
	t->enforce = (enum enforce)mode;
}

/* S4's own sentences: nowhere means that the call fails closed. */
static enum place expected(bool capable, unsigned mode, enum provider p, bool reachable)
{
	if (p == PROVIDER_NONE || !capable || mode == ENFORCE_OFF)
		return PLACE_HOST;
	if (reachable)
		return PLACE_REMOTE;
	return mode == ENFORCE_REQUIRE ? PLACE_NOWHERE : PLACE_HOST;
}

TEST(s4_9_to_16_every_cell_of_the_flow)
{
	static const struct {
		const char *asked, *canonical;
		bool capable;
	} tools[] = { { "shell", "exec", true },      { "code_exec", "code_exec", true },
		      { "browser", "browser", true }, { "read", "read", false },
		      { "write", "write", false },    { "web_fetch", "web_fetch", false } };

	for (size_t t = 0; t < sizeof(tools) / sizeof(tools[0]); t++)
		for (unsigned mode = 0; mode <= UNSAID; mode++)
			for (unsigned bits = 0; bits < 4; bits++) {
				enum provider p = bits & 1 ? PROVIDER_OPENSANDBOX : PROVIDER_NONE;
				bool reachable = bits & 2;
				enum place want = expected(tools[t].capable, mode, p, reachable);

				lone_s4(p, reachable);
				set_mode(tools[t].canonical, mode);
				(void)ask(SESSION, tools[t].asked);
				CHECK_CASE((w.d.verdict == VERDICT_DENY) == (want == PLACE_NOWHERE),
					   "%s mode %u bits %u: %s", tools[t].asked, mode, bits,
					   code_word(w.d.code));
				if (want == PLACE_NOWHERE)
					CHECK_CODE(&w.d, CODE_SANDBOX_UNAVAILABLE);
				else
					assert_int_equal(w.d.place.place, want);
			}
}

TEST(s4_7_a_risky_tool_leaves_the_gateways_host)
{
	lone_s4(PROVIDER_OPENSANDBOX, true);
	CHECK_OK(ask(SESSION, "shell"));
	assert_int_equal(w.d.place.backend, BACKEND_OPENSANDBOX);
	assert_int_equal(w.d.n_mounts, 0);
}

TEST(s4_11_the_override_of_one_tool_is_nothing_to_another)
{
	lone_s4(PROVIDER_OPENSANDBOX, false);
	set_mode("exec", ENFORCE_REQUIRE);
	CHECK_CODE(ask(SESSION, "shell"), CODE_SANDBOX_UNAVAILABLE);
	CHECK_OK(ask(SESSION, "code_exec"));
	assert_int_equal(w.d.mode.enforce, ENFORCE_PREFER);
	assert_int_equal(w.d.place.place, PLACE_HOST);
}

/* A tool of a plugin is one that creel does not know and a list names. */
TEST(s4_17_s4_19_tools_of_a_plugin_are_the_bridges_whatever_the_provider_is)
{
	for (unsigned bits = 0; bits < 4; bits++) {
		lone_s4(bits & 1 ? PROVIDER_OPENSANDBOX : PROVIDER_NONE, bits & 2);
		SAY(TOOLS_ALSO_ALLOW, tools_also_allow, LIST("docs__*"));
		set_mode("docs__search", ENFORCE_REQUIRE);
		CHECK_OK(ask(SESSION, "docs__search"));
		assert_true(w.d.tool.gateway_side);
		assert_int_equal(w.d.place.place, PLACE_NOWHERE);
	}
}

TEST(s4_17_in_process_tools_stay_in_the_process_and_native_ones_go_to_the_service)
{
	lone_s4(PROVIDER_OPENSANDBOX, true);
	assert_int_equal(ask(SESSION, "read")->place.place, PLACE_HOST);
	assert_int_equal(ask(SESSION, "shell")->place.place, PLACE_REMOTE);
	assert_int_equal(ask(SESSION, "message")->place.place, PLACE_NOWHERE);
}

TEST(s4_23_the_provider_without_the_build_is_an_error_for_every_tool)
{
	static const char *const tools[] = { "shell", "code_exec", "browser", "read" };

	lone_s4(PROVIDER_OPENSANDBOX, true);
	w.r.facts.opensandbox_built = false;
	for (size_t i = 0; i < 4; i++) {
		CHECK_CODE(ask(SESSION, tools[i]), CODE_BACKEND_NOT_BUILT);
		assert_true(has_fix(&w.d, "-Dopensandbox=true"));
	}
}

TEST(s4_42_any_image_may_stand_in_for_the_shipped_one)
{
	static const char *const images[] = { "registry.example:5000/hardened/shell@sha256:0123456789abcdef",
					      "node:22", "debian" };

	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
		lone_s4(PROVIDER_OPENSANDBOX, true);
		walls_per_tool("exec")->template = str_z(images[i]);
		CHECK_STR(ask(SESSION, "shell")->place.image, str_z(images[i]));
	}
}

TEST(s4_46_s4_47_on_a_public_bind_require_is_safe_and_prefer_is_not)
{
	lone_s4(PROVIDER_OPENSANDBOX, false);
	SAY(SERVE_BIND, serve_bind, STR("0.0.0.0"));
	set_mode("exec", ENFORCE_PREFER);
	CHECK_CODE(ask(SESSION, "shell"), CODE_SANDBOX_UNAVAILABLE);
	w.c.per_tool[0].enforce = ENFORCE_OFF;
	CHECK_CODE(ask(SESSION, "shell"), CODE_UNSAFE_PUBLIC_BIND);
	w.c.per_tool[0].enforce = ENFORCE_REQUIRE;
	w.r.facts.backends |= 1u << BACKEND_OPENSANDBOX;
	CHECK_OK(ask(SESSION, "shell"));
	assert_int_equal(w.d.place.place, PLACE_REMOTE);
}

TEST_MAIN()
