/* SPDX-License-Identifier: Apache-2.0 */
#include "walls.h"

#include "base/hash.h"
#include "policy/workspace.h"

#define GROUP "agent:main:telegram:group:1"

static void sandbox_all(void)
{
	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
}

static void upstream(void)
{
	sandbox_all();
	SAY(COMPAT, compat, COMPAT_OPENCLAW_2026_9);
	w.c.formats = 1u << FORMAT_OPENCLAW;
}

static void check_mount(size_t i, const char *host, const char *target, bool writable,
			enum mount_source source)
{
	const struct mount *m = &w.d.mounts[i];

	assert_true(i < w.d.n_mounts);
	CHECK_STR(m->host, str_z(host));
	CHECK_STR(m->target, str_z(target));
	assert_int_equal(m->writable, writable);
	assert_int_equal(m->source, source);
}

/* --- the workspace --- */

/* Upstream's name with 128 bits of the hash instead of 32: two keys cannot share it. */
static struct str private_name(const char *key)
{
	char hex[SHA256_HEX];

	sha256_hex(str_z(key), hex);
	return arena_printf(&w.a, "%s%.24s", scope_slug(&w.a, str_z(key)).p, hex + 8);
}

TEST(c4_the_default_workspace_is_private_and_writable)
{
	sandbox_all();
	SAY(WS_ROOT, ws_root, STR("~/boxes"));
	CHECK_OK(ask(GROUP, "exec"));
	CHECK_STR(w.d.workspace, arena_printf(&w.a, "/home/u/boxes/%s", private_name(GROUP).p));
	assert_int_equal(w.d.mounts[0].source, MOUNT_WORKSPACE);
	CHECK_STR(w.d.mounts[0].target, STR("/workspace"));
	assert_true(w.d.mounts[0].writable && !w.d.mounts[0].overlay);
	CHECK_STR(w.d.agent_workspace, STR("/srv/project"));
	assert_null(mount_at(&w.d, "/agent"));
}

/* In the root itself it would see the private workspaces of all others, as upstream has it. */
TEST(a_shared_sandbox_has_a_directory_of_its_own_below_the_root)
{
	sandbox_all();
	SAY(SCOPE, scope, SCOPE_SHARED);
	CHECK_STR(ask(GROUP, "exec")->workspace,
		  STR("/home/u/.openclaw/sandboxes/shared-a4d26868017c0ccffe2efe50944ef421"));
	w.r.facts.state_dir = STR("/var/lib/oc");
	CHECK_STR(ask(GROUP, "exec")->workspace,
		  STR("/var/lib/oc/sandboxes/shared-a4d26868017c0ccffe2efe50944ef421"));
	w.c.base.compat = COMPAT_OPENCLAW_2026_9;
	CHECK_STR(ask(GROUP, "exec")->workspace, STR("/var/lib/oc/sandboxes"));
}

TEST(c5_rw_is_the_agent_s_workspace_at_slash_workspace)
{
	sandbox_all();
	SAY(WS_ACCESS, ws_access, ACCESS_RW);
	SAY(WS_PATH, ws_path, STR("~/ws"));
	CHECK_OK(ask(GROUP, "exec"));
	check_mount(0, "/home/u/ws", "/workspace", true, MOUNT_WORKSPACE);
	assert_null(mount_at(&w.d, "/agent"));
	CHECK_STR(w.d.workdir, STR("/workspace"));
}

TEST(c5_ro_is_the_agent_s_workspace_read_only_at_slash_agent)
{
	sandbox_all();
	SAY(WS_ACCESS, ws_access, ACCESS_RO);
	CHECK_OK(ask(GROUP, "exec"));
	assert_false(mount_at(&w.d, "/workspace")->writable);
	check_mount(1, "/srv/project", "/agent", false, MOUNT_AGENT);
	CHECK_STR(w.d.workdir, STR("/agent"));
	CHECK_STR(env_named(&w.d, "CREEL_WORKSPACE")->value, STR("/agent"));
	SAY(WORKDIR, workdir, STR("/workspace"));
	CHECK_OK(ask(GROUP, "exec"));
	CHECK_STR(w.d.workdir, STR("/workspace"));
}

TEST(c5_a_target_that_is_given_holds_the_workspace_alone)
{
	sandbox_all();
	SAY(WS_ACCESS, ws_access, ACCESS_RO);
	SAY(WS_TARGET, ws_target, STR("/code/"));
	CHECK_OK(ask(GROUP, "exec"));
	check_mount(0, "/srv/project", "/code", false, MOUNT_WORKSPACE);
	assert_null(mount_at(&w.d, "/agent"));
	CHECK_STR(w.d.workdir, STR("/code"));
	CHECK_STR(env_named(&w.d, "CREEL_WORKSPACE")->value, STR("/code"));
}

TEST(a_workspace_cannot_be_mounted_over_the_root)
{
	static const char *const bad[] = { "/", "relative", "/x/.." };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		sandbox_all();
		SAY(WS_TARGET, ws_target, str_z(bad[i]));
		CHECK_CODE(ask(GROUP, "exec"), CODE_WORKSPACE_ESCAPE);
	}
}

TEST(a_workspace_that_shows_keys_or_the_system_is_refused)
{
	static const char *const bad[] = {
		"/",           "/home",         "/home/u",        "~",        "~/.ssh",        "~/.ssh/x",
		"~/.config",   "/etc",          "/etc/nginx",     "/proc",    "/var/run/x",    "/root",
		"/srv/../etc", "/home/u/../u/", "/x/docker.sock", "/home/u2", "/home/u2/.ssh", "~/.openclaw",
		"~/.kube"
	};
	static const char *const good[] = { "/srv/project", "/home/u/project",      "/root/project",
					    "/etcetera",    "~/.config/editor",     "~/.cargo/x",
					    "/home/u2/p",   "~/.openclaw/workspace" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		sandbox_all();
		SAY(WS_ACCESS, ws_access, i % 2 ? ACCESS_RW : ACCESS_RO);
		SAY(WS_PATH, ws_path, str_z(bad[i]));
		CHECK_CODE(ask(GROUP, "exec"), CODE_BIND_BLOCKED);
		CHECK_STR(w.d.fix_it.v[0], STR("mounts.workspace.path"));
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		sandbox_all();
		SAY(WS_ACCESS, ws_access, ACCESS_RW);
		SAY(WS_PATH, ws_path, str_z(good[i]));
		CHECK_OK(ask(GROUP, "exec"));
	}
}

TEST(what_the_host_lives_on_is_shown_and_not_written_to)
{
	for (enum access a = ACCESS_NONE; a <= ACCESS_OVERLAY; a++) {
		if (a == ACCESS_NONE || a == ACCESS_PER_TOOL)
			continue;
		sandbox_all();
		SAY(WS_ACCESS, ws_access, (int)a);
		SAY(WS_PATH, ws_path, STR("/usr/lib"));
		CHECK_CODE(ask(GROUP, "exec"), a == ACCESS_RW ? CODE_BIND_BLOCKED : CODE_OK);
		if (a == ACCESS_RW)
			CHECK_STR(w.d.fix_it.v[0], STR("mounts.workspace.access=overlay"));
	}
}

TEST(private_workspaces_are_not_made_among_keys_either)
{
	sandbox_all();
	SAY(WS_ROOT, ws_root, STR("~/.ssh"));
	CHECK_CODE(ask(GROUP, "exec"), CODE_BIND_BLOCKED);
	CHECK_STR(w.d.fix_it.v[0], STR("mounts.workspace.root"));
}

TEST(c29_overlay_is_an_option_of_every_backend)
{
	static const char *const backends[] = { "native", "docker" };

	for (size_t i = 0; i < 2; i++) {
		sandbox_all();
		SAY(BACKEND_NAME, backend_name, str_z(backends[i]));
		SAY(WS_ACCESS, ws_access, ACCESS_RW);
		SAY(WS_OVERLAY, ws_overlay, true);
		CHECK_OK(ask(GROUP, "exec"));
		check_mount(0, "/srv/project", "/workspace", true, MOUNT_WORKSPACE);
		assert_true(w.d.mounts[0].overlay);
	}
}

TEST(c10_in_s0_s_docker_mode_writing_works_and_the_host_never_changes)
{
	walls_reset();
	CHECK_OK(ask("untrusted:pr-482", "exec"));
	check_mount(0, "/srv/project", "/sandbox", true, MOUNT_WORKSPACE);
	assert_true(w.d.mounts[0].overlay);
	CHECK_STR(w.d.workdir, STR("/sandbox"));
	SAY(WS_ACCESS, ws_access, ACCESS_RW);
	CHECK_OK(ask("untrusted:pr-482", "exec"));
	assert_true(w.d.mounts[0].overlay);
	assert_false(has_warning(&w.d, "access_is_overlay"));
	w.c.base.origin[OPT_WS_ACCESS] =
		(struct origin){ .kind = ORIGIN_FLAG, .name = STR("--workspace-access") };
	CHECK_OK(ask("untrusted:pr-482", "exec"));
	assert_true(w.d.mounts[0].overlay && has_warning(&w.d, "access_is_overlay"));
	CHECK_OK(ask("client:leon", "exec"));
	assert_false(w.d.mounts[0].overlay || has_warning(&w.d, "access_is_overlay"));
}

TEST(c10_athena_s_profile_has_the_tree_under_a_private_layer)
{
	walls_reset();
	SAY(PROFILE, profile, PROFILE_ATHENA);
	w.c.base.ws_access = ACCESS_OVERLAY;
	w.c.base.ws_target = STR("/sandbox");
	CHECK_OK(ask("client:leon", "exec"));
	check_mount(0, "/srv/project", "/sandbox", true, MOUNT_WORKSPACE);
	assert_true(w.d.mounts[0].overlay);
}

TEST(s0_18_a_readonly_session_sees_the_tree_and_cannot_write)
{
	walls_reset();
	CHECK_OK(ask("analysis:x", "read"));
	check_mount(0, "/srv/project", "/sandbox", false, MOUNT_WORKSPACE);
	assert_false(w.d.mounts[0].overlay);
	SAY(WS_ACCESS, ws_access, ACCESS_RW);
	CHECK_OK(ask("analysis:x", "read"));
	assert_false(w.d.mounts[0].writable);
}

TEST(openclaw_s_files_keep_their_own_layout_for_untrusted_sessions)
{
	walls_reset();
	w.c.formats = 1u << FORMAT_OPENCLAW;
	CHECK_OK(ask("untrusted:x", "exec"));
	CHECK_STR(w.d.mounts[0].target, STR("/workspace"));
	assert_false(w.d.mounts[0].overlay);
}

TEST(c19_the_network_sandbox_has_the_workspace_rw_unless_told_ro)
{
	sandbox_all();
	SAY(WS_ACCESS, ws_access, ACCESS_RW);
	SAY(ROUTE_EXEC, route_exec, LIST("gh"));
	CHECK_OK(ask_command(GROUP, "gh x"));
	assert_true(w.d.mounts[0].writable);
	SAY(ROUTE_WORKSPACE, route_workspace, RW_RO);
	CHECK_OK(ask_command(GROUP, "gh x"));
	check_mount(0, "/srv/project", "/workspace", false, MOUNT_WORKSPACE);
	CHECK_OK(ask_command(GROUP, "ls"));
	assert_true(w.d.mounts[0].writable);
}

TEST(d3_14_a_hidden_workspace_stays_hidden_in_the_network_sandbox)
{
	sandbox_all();
	SAY(ROUTE_EXEC, route_exec, LIST("gh"));
	SAY(ROUTE_WORKSPACE, route_workspace, RW_RO);
	CHECK_OK(ask_command(GROUP, "gh x"));
	assert_null(mount_at(&w.d, "/agent"));
	assert_false(str_eq(w.d.mounts[0].host, STR("/srv/project")));
}

TEST(on_the_host_there_are_no_mounts)
{
	walls_reset();
	CHECK_OK(ask("agent:main:main", "exec"));
	assert_int_equal(w.d.n_mounts, 0);
	CHECK_STR(w.d.workdir, STR("/srv/project"));
}

TEST(private_scratch_comes_last_and_covers_nothing)
{
	sandbox_all();
	SAY(TMPFS, tmpfs, LIST("/tmp:size=1m,/var/tmp/,/workspace,/run"));
	CHECK_OK(ask(GROUP, "exec"));
	assert_int_equal(w.d.n_mounts, 4);
	assert_int_equal(mount_at(&w.d, "/workspace")->source, MOUNT_WORKSPACE);
	assert_int_equal(mount_at(&w.d, "/tmp")->source, MOUNT_SCRATCH);
	assert_non_null(mount_at(&w.d, "/var/tmp"));
	w.c.base.binds = (struct binds){ .v = (struct bind[]){ walls_bind("/srv/a:/tmp/a:ro") }, .n = 1 };
	w.c.base.has[OPT_BINDS] = true;
	CHECK_OK(ask(GROUP, "exec"));
	assert_int_equal(w.d.n_mounts, 5);
	assert_true(mount_at(&w.d, "/tmp") < mount_at(&w.d, "/tmp/a")); /* what lies in it is mounted later */
	SAY(TMPFS, tmpfs, LIST("tmp"));
	CHECK_CODE(ask(GROUP, "exec"), CODE_BIND_INVALID);
	SAY(TMPFS, tmpfs, LIST("/"));
	CHECK_CODE(ask(GROUP, "exec"), CODE_BIND_INVALID);
}

/* --- whose directory --- */

TEST(openclaw_s_default_agent_has_the_plain_workspace_and_others_their_own)
{
	upstream();
	walls_agent("main")->is_default = true;
	walls_agent("b");
	SAY(WS_ACCESS, ws_access, ACCESS_RW);
	CHECK_STR(ask("agent:main:x", "")->workspace, STR("/home/u/.openclaw/workspace"));
	CHECK_STR(ask("agent:b:x", "")->workspace, STR("/home/u/.openclaw/workspace-b"));
	SAY(WS_PATH, ws_path, STR("~/ws"));
	CHECK_STR(ask("agent:main:x", "")->workspace, STR("/home/u/ws"));
	CHECK_STR(ask("agent:b:x", "")->workspace, STR("/home/u/ws/b"));
	SAY_IN(w.c.agents[1].over, WS_PATH, ws_path, STR("/srv/oc/ops"));
	CHECK_STR(ask("agent:b:x", "")->workspace, STR("/srv/oc/ops"));
}

TEST(the_only_agent_owns_the_plain_workspace_and_a_ghost_never_does)
{
	upstream();
	SAY(WS_ACCESS, ws_access, ACCESS_RW);
	CHECK_STR(ask("agent:main:x", "")->workspace, STR("/home/u/.openclaw/workspace"));
	CHECK_STR(ask("agent:ghost:main", "")->workspace, STR("/home/u/.openclaw/workspace-ghost"));
	walls_agent("solo");
	CHECK_STR(ask("agent:solo:x", "")->workspace, STR("/home/u/.openclaw/workspace"));
	walls_agent("b");
	CHECK_STR(ask("agent:solo:x", "")->workspace, STR("/home/u/.openclaw/workspace-solo"));
	w.r.facts.state_dir = STR("/q");
	CHECK_STR(ask("agent:solo:x", "")->workspace, STR("/q/workspace-solo"));
}

/* --- tier 1 --- */

static void tier1(void)
{
	sandbox_all();
	SAY(PROFILE, profile, PROFILE_TIER1);
	w.r.agent = STR("g-coder");
	w.r.channel = STR("telegram");
	w.r.chat_id = STR("-100123");
}

TEST(c4_tier1_mounts_one_workspace_read_only_and_rw_for_write_tools_alone)
{
	tier1();
	CHECK_OK(ask("", "file_read"));
	check_mount(0, "/home/u/.openclaw/workspaces/g-coder/group_-100123", "/workspace", false,
		    MOUNT_WORKSPACE);
	CHECK_OK(ask("", "file_write"));
	assert_true(w.d.mounts[0].writable);
	CHECK_OK(ask_argv("", "python3 x.py"));
	assert_false(w.d.mounts[0].writable);
	assert_null(mount_at(&w.d, "/agent"));
}

TEST(tier1_chats_with_one_id_in_two_channels_have_two_workspaces)
{
	tier1();
	w.r.channel = STR("signal");
	CHECK_OK(ask("", "file_read"));
	check_mount(0, "/home/u/.openclaw/workspaces/g-coder/signal.group_-100123", "/workspace", false,
		    MOUNT_WORKSPACE);
	w.r.channel = STR("group_x");
	w.r.chat_id = STR("1");
	CHECK_OK(ask("", "file_read"));
	check_mount(0, "/home/u/.openclaw/workspaces/g-coder/group_x.group_1", "/workspace", false,
		    MOUNT_WORKSPACE);
}

TEST(tier1_has_its_workspace_access_whatever_is_configured)
{
	tier1();
	SAY(WS_ACCESS, ws_access, ACCESS_RW);
	CHECK_OK(ask_argv("", "python3 x.py"));
	assert_false(w.d.mounts[0].writable);
}

TEST(access_per_tool_works_outside_tier1_too)
{
	sandbox_all();
	SAY(WS_ACCESS, ws_access, ACCESS_PER_TOOL);
	CHECK_OK(ask(GROUP, "write"));
	check_mount(0, "/srv/project", "/workspace", true, MOUNT_WORKSPACE);
	CHECK_OK(ask(GROUP, "exec"));
	assert_false(mount_at(&w.d, "/agent")->writable);
}

TEST(a_tier1_session_without_a_chat_gets_a_directory_by_its_key)
{
	tier1();
	w.r.channel = w.r.chat_id = (struct str){ 0 };
	CHECK_OK(ask("agent:g-coder:x", "file_read"));
	CHECK_STR(w.d.workspace, arena_printf(&w.a, "/home/u/.openclaw/workspaces/g-coder/%s",
					      private_name("agent:g-coder:x").p));
}

TEST(c32_tier1_refuses_every_bind)
{
	tier1();
	SAY(BINDS, binds, BINDS("/srv/a:/a:ro"));
	CHECK_CODE(ask("", "file_read"), CODE_BIND_FORBIDDEN_IN_TIER1);
	tier1();
	SAY(VAULT_ENABLED, vault_enabled, true);
	CHECK_CODE(ask("", "file_read"), CODE_BIND_FORBIDDEN_IN_TIER1);
}

TEST(c32_a_vault_that_only_a_profile_brings_is_left_out_of_tier1)
{
	tier1();
	w.c.base.vault_enabled = true;
	CHECK_OK(ask("", "file_read"));
	assert_null(mount_at(&w.d, "/workspace-obsidian"));
}

/* Identity lets no such id through; the stage that makes a path of it does not rely on that. */
static void check_escape(struct str agent, struct str chat_id)
{
	struct ctx x = { .c = &w.c, .r = &w.r, .a = &w.a, .d = &w.d };

	tier1();
	CHECK_OK(ask("", "file_read"));
	w.d.code = CODE_UNDECIDED;
	w.d.n_mounts = w.d.n_reasons = w.d.n_warnings = 0;
	w.d.who.agent = agent;
	w.d.who.chat_id = chat_id;
	assert_false(stage_mounts(&x));
	CHECK_CODE(&w.d, CODE_WORKSPACE_ESCAPE);
}

TEST(an_id_that_could_climb_out_of_the_root_is_refused)
{
	check_escape(STR("../x"), STR("1"));
	check_escape(STR("a"), STR("x/../../../etc"));
}

/* --- binds --- */

TEST(s1_21_binds_are_mounted_and_checked_again_after_links_are_resolved)
{
	const struct mount *m;

	sandbox_all();
	SAY(BINDS, binds, BINDS("/home/user/source:/source:ro", "/mnt/cache:/cache:rw"));
	CHECK_OK(ask(GROUP, "exec"));
	m = mount_at(&w.d, "/source");
	assert_true(!m->writable && m->optional && m->check_resolved && m->source == MOUNT_BIND);
	m = mount_at(&w.d, "/cache");
	assert_true(m->writable && m->optional && m->check_resolved);
	assert_true(has_warning(&w.d, "bind_rw"));
	assert_true(has_reason(&w.d, STAGE_MOUNTS, "shows the host's files as they are"));
}

TEST(s1_53_an_agent_s_binds_come_after_the_base_s_and_the_last_of_one_target_wins_in_the_first_place)
{
	struct agent *a;

	sandbox_all();
	a = walls_agent("main");
	SAY(BINDS, binds, BINDS("/srv/ref:/reference:ro", "/srv/drafts:/drafts:rw"));
	SAY_IN(a->over, BINDS, binds, BINDS("/srv/cache:/cache:rw", "/srv/other:/reference/:rw"));
	CHECK_OK(ask(GROUP, "exec"));
	check_mount(1, "/srv/other", "/reference", true, MOUNT_BIND);
	check_mount(2, "/srv/drafts", "/drafts", true, MOUNT_BIND);
	check_mount(3, "/srv/cache", "/cache", true, MOUNT_BIND);
}

TEST(a_bind_that_is_not_allowed_refuses_the_call)
{
	static const struct {
		const char *bind;
		enum code code;
	} rows[] = {
		{ "/etc:/x:ro", CODE_BIND_BLOCKED },
		{ "/var/run/docker.sock:/var/run/docker.sock", CODE_BIND_BLOCKED },
		{ "/srv:/workspace/x:ro", CODE_BIND_RESERVED_TARGET },
		{ "rel:/x:ro", CODE_BIND_INVALID },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sandbox_all();
		SAY(BINDS, binds, BINDS(rows[i].bind));
		CHECK_CODE(ask(GROUP, "read"), rows[i].code);
		assert_int_equal(w.d.stopped_at, STAGE_MOUNTS);
	}
}

TEST(a_blank_bind_is_nothing_and_one_without_mode_is_read_only)
{
	sandbox_all();
	SAY(BINDS, binds, BINDS("  ", "/srv/a:/a"));
	CHECK_OK(ask(GROUP, "exec"));
	assert_false(mount_at(&w.d, "/a")->writable);
	assert_true(has_warning(&w.d, "bind_mode_missing"));
}

TEST(s1_28_a_writable_bind_of_something_sensitive_is_told)
{
	sandbox_all();
	SAY(BINDS, binds, BINDS("/srv/secrets:/s:rw"));
	CHECK_OK(ask(GROUP, "exec"));
	assert_true(has_warning(&w.d, "bind_sensitive_rw"));
}

TEST(sources_must_lie_below_the_allowed_roots)
{
	sandbox_all();
	SAY(BIND_ROOTS, bind_roots, LIST("~/src,/srv/ok"));
	SAY(BINDS, binds, BINDS("/home/u/src/a:/a:ro", "/srv/ok:/b:ro"));
	CHECK_OK(ask(GROUP, "exec"));
	SAY(BINDS, binds, BINDS("/srv/other:/a:ro"));
	CHECK_CODE(ask(GROUP, "exec"), CODE_BIND_OUTSIDE_ROOTS);
	assert_true(has_fix(&w.d, "mounts.allowedRoots"));
	SAY(BIND_ROOTS, bind_roots, LIST(""));
	SAY(BINDS, binds, BINDS("/srv/ok:/a:ro"));
	CHECK_CODE(ask(GROUP, "exec"), CODE_BIND_OUTSIDE_ROOTS);
}

TEST(upstream_binds_only_from_the_workspaces_unless_told_otherwise)
{
	upstream();
	SAY(WS_PATH, ws_path, STR("/srv/ws"));
	SAY(BINDS, binds, BINDS("/srv/ws/shared:/shared:ro"));
	CHECK_OK(ask(GROUP, "read"));
	SAY(BINDS, binds, BINDS("/srv/ext:/x:ro"));
	CHECK_CODE(ask(GROUP, "read"), CODE_BIND_OUTSIDE_ROOTS);
	SAY(BINDS_EXTERNAL, binds_external, true);
	CHECK_OK(ask(GROUP, "read"));
	SAY(BINDS, binds, BINDS("/etc:/x:ro"));
	CHECK_CODE(ask(GROUP, "read"), CODE_BIND_BLOCKED);
}

TEST(s1_48_the_browser_s_own_binds_stand_instead_of_the_others_even_when_empty)
{
	sandbox_all();
	SAY(SBX_ALLOW, sbx_allow, LIST("*"));
	SAY(SBX_DENY, sbx_deny, LIST(""));
	SAY(BINDS, binds, BINDS("/srv/a:/a:ro"));
	CHECK_OK(ask(GROUP, "browser"));
	assert_non_null(mount_at(&w.d, "/a"));
	SAY(BROWSER_BINDS, browser_binds, ((struct binds){ 0 }));
	CHECK_OK(ask(GROUP, "browser"));
	assert_null(mount_at(&w.d, "/a"));
	CHECK_OK(ask(GROUP, "exec"));
	assert_non_null(mount_at(&w.d, "/a"));
}

TEST(there_is_an_end_to_the_number_of_mounts)
{
	struct bind *many;

	sandbox_all();
	many = ARENA_ARRAY(&w.a, struct bind, 300);
	for (size_t i = 0; i < 300; i++)
		many[i] = walls_bind(arena_printf(&w.a, "/srv/%zu:/b/%zu:ro", i, i).p);
	SAY(BINDS, binds, ((struct binds){ .v = many, .n = 300 }));
	CHECK_CODE(ask(GROUP, "exec"), CODE_BIND_INVALID);
}

TEST(binds_do_not_reach_a_remote_sandbox)
{
	sandbox_all();
	SAY(OSB_PROVIDER, osb_provider, PROVIDER_OPENSANDBOX);
	w.r.facts.opensandbox_built = true;
	w.r.facts.backends = 1u << BACKEND_OPENSANDBOX;
	SAY(BINDS, binds, BINDS("/srv/a:/a:ro"));
	CHECK_OK(ask(GROUP, "exec"));
	assert_int_equal(w.d.n_mounts, 0);
	assert_true(has_warning(&w.d, "binds_not_remote"));
}

/* --- the vault --- */

TEST(c21_the_vault_is_bound_where_it_lies_and_may_be_missing)
{
	const struct mount *m;

	sandbox_all();
	SAY(VAULT_ENABLED, vault_enabled, true);
	CHECK_OK(ask(GROUP, "exec"));
	m = mount_at(&w.d, "/workspace-obsidian");
	assert_true(m->writable && m->optional && m->check_resolved && m->source == MOUNT_VAULT);
	CHECK_STR(m->host, STR("/workspace-obsidian"));
	assert_true(has_warning(&w.d, "bind_rw"));
	CHECK_STR(w.d.warnings[0].key, STR("mounts.vault"));
}

TEST(s3_74_the_vault_can_be_locked_read_only)
{
	sandbox_all();
	SAY(VAULT_ENABLED, vault_enabled, true);
	SAY(VAULT_ACCESS, vault_access, RW_RO);
	CHECK_OK(ask(GROUP, "exec"));
	assert_false(mount_at(&w.d, "/workspace-obsidian")->writable);
	assert_false(has_warning(&w.d, "bind_rw"));
}

TEST(c21_a_vault_under_an_overlay_needs_no_warning)
{
	sandbox_all();
	SAY(VAULT_ENABLED, vault_enabled, true);
	SAY(WS_OVERLAY, ws_overlay, true);
	CHECK_OK(ask(GROUP, "exec"));
	assert_true(mount_at(&w.d, "/workspace-obsidian")->overlay);
	assert_false(has_warning(&w.d, "bind_rw"));
}

TEST(s3_71_a_bind_of_the_vault_stands_for_the_vault)
{
	sandbox_all();
	SAY(VAULT_ENABLED, vault_enabled, true);
	SAY(BINDS, binds, BINDS("/workspace-obsidian:/workspace-obsidian:ro"));
	CHECK_OK(ask(GROUP, "exec"));
	assert_false(mount_at(&w.d, "/workspace-obsidian")->writable);
	assert_int_equal(mount_at(&w.d, "/workspace-obsidian")->source, MOUNT_BIND);
}

TEST(a_vault_in_a_blocked_place_is_refused)
{
	sandbox_all();
	SAY(VAULT_ENABLED, vault_enabled, true);
	SAY(VAULT_PATH, vault_path, STR("/etc"));
	CHECK_CODE(ask(GROUP, "exec"), CODE_BIND_BLOCKED);
}

/* --- upstream's view --- */

TEST(upstream_s_view_lists_mounts_in_its_order_and_checks_nothing)
{
	upstream();
	SAY(WS_ACCESS, ws_access, ACCESS_RO);
	SAY(SCOPE, scope, SCOPE_SHARED);
	SAY(BINDS, binds,
	    BINDS("/var/run/docker.sock:/var/run/docker.sock", "/a/../c/:/b/../x/:ro", "/d:/x", "/f: /g",
		  "/h:rel", "/i"));
	CHECK_OK(ask(GROUP, ""));
	assert_int_equal(w.d.n_mounts, 4);
	check_mount(0, "/home/u/.openclaw/sandboxes", "/workspace", false, MOUNT_WORKSPACE);
	check_mount(1, "/home/u/.openclaw/workspace", "/agent", false, MOUNT_AGENT);
	check_mount(2, "/var/run/docker.sock", "/var/run/docker.sock", true, MOUNT_BIND);
	check_mount(3, "/d", "/x", true, MOUNT_BIND);
	CHECK_CODE(ask(GROUP, "read"), CODE_BIND_BLOCKED);
}

TEST(upstream_s_view_lets_a_bind_take_the_workspace_s_place)
{
	upstream();
	SAY(WORKDIR, workdir, STR("/w/"));
	SAY(BINDS, binds, BINDS("/e:/w/:ro"));
	CHECK_OK(ask(GROUP, ""));
	assert_int_equal(w.d.n_mounts, 1);
	check_mount(0, "/e", "/w", false, MOUNT_BIND);
	CHECK_STR(w.d.workdir, STR("/w/"));
}

TEST(upstream_s_view_keeps_a_relative_workdir_and_shows_nothing_for_an_empty_one)
{
	upstream();
	SAY(WORKDIR, workdir, STR("work"));
	CHECK_OK(ask(GROUP, ""));
	CHECK_STR(w.d.mounts[0].target, STR("work"));
	SAY(WORKDIR, workdir, STR(""));
	CHECK_OK(ask(GROUP, ""));
	assert_int_equal(w.d.n_mounts, 0);
}

TEST(upstream_s_view_shows_the_agent_once_when_its_directories_are_the_same)
{
	upstream();
	SAY(SCOPE, scope, SCOPE_SHARED);
	SAY(WS_ACCESS, ws_access, ACCESS_RO);
	SAY(WS_ROOT, ws_root, STR("~/.openclaw/workspace"));
	CHECK_OK(ask(GROUP, ""));
	assert_int_equal(w.d.n_mounts, 1);
}

TEST(upstream_s_view_of_other_backends_has_no_mounts)
{
	upstream();
	SAY(WS_PATH, ws_path, STR("/home/u/ws"));
	SAY(BACKEND_NAME, backend_name, STR(" SSH "));
	SAY(SSH_ROOT, ssh_root, STR("/a/../b//"));
	CHECK_OK(ask(GROUP, ""));
	assert_int_equal(w.d.n_mounts, 0);
	CHECK_STR(w.d.workdir, STR("/b/openclaw-ssh-workspace-79c5f2c2fb731cde560a327cc3447285/workspace"));
	SAY(BACKEND_NAME, backend_name, STR("our-engine"));
	CHECK_OK(ask(GROUP, ""));
	assert_int_equal(w.d.workdir.n, 0);
}

TEST_MAIN()
