/* SPDX-License-Identifier: Apache-2.0 */
#include "walls.h"

/* Every stage has something to do. */
static void rich(void)
{
	static const struct str set[] = { { .p = "GH_TOKEN", .n = 8 } };

	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(WS_ACCESS, ws_access, ACCESS_RO);
	SAY(ROUTE_EXEC, route_exec, LIST("gh"));
	SAY(ROUTE_HOSTS, route_hosts, LIST("api.github.com"));
	SAY(BINDS, binds, BINDS("/srv/a:/a:ro", "/srv/b:/b:rw", "~/c:/c"));
	SAY(BIND_ROOTS, bind_roots, LIST("/srv,~,/workspace-obsidian"));
	SAY(VAULT_ENABLED, vault_enabled, true);
	SAY(ENV_SET, env_set, walls_env(STR("GH_TOKEN=${GH_TOKEN},A=1,LD_PRELOAD=x,B=${UNSET}")));
	SAY(ENV_SECRETS, env_secrets, LIST("C"));
	SAY(SETUP_COMMAND, setup_command, STR("apt-get install x"));
	w.r.facts.env_names = (struct strs){ .v = set, .n = 1 };
	w.r.command = STR("gh pr create --title 'a b'");
	w.r.session_key = STR("agent:main:telegram:group:1");
	w.r.tool = STR("exec");
}

static bool decides_with(size_t bytes)
{
	_cleanup_arena_ struct arena a;
	struct err e = { 0 };
	int r;

	arena_init(&a, bytes);
	r = decide(&w.c, &w.r, &a, &w.d, &e);
	if (r == 0)
		return true;
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(w.d.verdict, VERDICT_DENY);
	return false;
}

static void check_every_size(void)
{
	size_t enough = 0;

	for (size_t bytes = 1; !enough; bytes += bytes < 2048 ? 7 : 61)
		if (decides_with(bytes)) {
			assert_int_equal(w.d.verdict, VERDICT_ALLOW);
			enough = bytes;
		}
	assert_true(enough > 1024);
}

TEST(wherever_memory_ends_the_decision_is_a_refusal)
{
	rich();
	check_every_size();
}

TEST(wherever_memory_ends_upstream_s_view_is_a_refusal)
{
	rich();
	SAY(COMPAT, compat, COMPAT_OPENCLAW_2026_9);
	SAY(BACKEND_NAME, backend_name, STR("ssh"));
	w.r.tool = w.r.command = (struct str){ 0 };
	check_every_size();
	SAY(BACKEND_NAME, backend_name, STR("docker"));
	check_every_size();
}

TEST(wherever_memory_ends_a_lease_is_a_refusal)
{
	rich();
	SAY(OSB_PROVIDER, osb_provider, PROVIDER_OPENSANDBOX);
	w.r.facts.opensandbox_built = true;
	w.r.facts.backends = 1u << BACKEND_OPENSANDBOX;
	check_every_size();
}

TEST(wherever_memory_ends_a_tier1_call_is_a_refusal)
{
	static const struct str argv[] = { { .p = "curl", .n = 4 },
					   { .p = "http://ollama:11434/", .n = 20 } };

	walls_reset();
	SAY(PROFILE, profile, PROFILE_TIER1);
	SAY(INTERNAL_HOSTS, internal_hosts, LIST("ollama"));
	w.r.session_key = STR("agent:main:x");
	w.r.tool = STR("exec");
	w.r.argv = (struct strs){ .v = argv, .n = 2 };
	check_every_size();
}

TEST(the_linter_survives_wherever_memory_ends)
{
	struct agent *a;

	rich();
	a = walls_agent("main");
	SAY_IN(a->over, BINDS, binds, BINDS("/etc:/a:ro", "/srv/x:/b:rw"));
	SAY_IN(a->over, WS_PATH, ws_path, STR("~/x"));
	for (size_t bytes = 1; bytes < 64 << 10; bytes += bytes < 2048 ? 7 : 509) {
		_cleanup_arena_ struct arena arena;
		struct diags d = { .arena = &arena };

		arena_init(&arena, bytes);
		lint(&w.c, &w.r.facts, &d);
	}
}

TEST_MAIN()
