/* SPDX-License-Identifier: Apache-2.0 */
/* What only OpenClaw's own explain has: its skills, its order of binds, its ssh directories, its one store. */
#include "walls.h"

#define GROUP "agent:main:telegram:group:1"

static void upstream(enum access access)
{
	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
	SAY(SCOPE, scope, SCOPE_SHARED);
	SAY(WS_ACCESS, ws_access, (int)access);
	SAY(COMPAT, compat, COMPAT_OPENCLAW_2026_9);
	w.c.formats = 1u << FORMAT_OPENCLAW;
}

static bool was_asked(const char *path, const char *inside)
{
	for (size_t i = 0; i < w.d.n_ask_dirs; i++)
		if (str_eq(w.d.ask_dirs[i].path, str_z(path)) &&
		    str_eq(w.d.ask_dirs[i].inside, str_z(inside)))
			return true;
	return false;
}

TEST(skills_are_asked_for_where_the_sandbox_may_write)
{
	upstream(ACCESS_NONE);
	CHECK_OK(ask(GROUP, ""));
	assert_int_equal(w.d.n_ask_dirs, 2);
	assert_true(was_asked("/home/u/.openclaw/sandboxes/skills", "/home/u/.openclaw/sandboxes"));
	assert_true(was_asked("/home/u/.openclaw/sandboxes/.agents/skills", "/home/u/.openclaw/sandboxes"));
	upstream(ACCESS_RW);
	CHECK_OK(ask(GROUP, ""));
	assert_int_equal(w.d.n_ask_dirs, 3);
	assert_true(was_asked("/home/u/.openclaw/workspace/skills", "/home/u/.openclaw/workspace"));
	upstream(ACCESS_RO);
	CHECK_OK(ask(GROUP, ""));
	assert_int_equal(w.d.n_ask_dirs, 0);
}

TEST(skills_that_exist_are_read_only_and_no_bind_covers_them)
{
	static const struct str dirs[] = { STR("/home/u/.openclaw/workspace/skills") };

	upstream(ACCESS_RW);
	SAY(WORKDIR, workdir, STR("/w/"));
	SAY(BINDS, binds, BINDS("/a:/w/skills", "/b:/w/skills/x", "/c:/w/.agents/skills"));
	w.r.facts.dirs = (struct strs){ .v = dirs, .n = 1 };
	CHECK_OK(ask(GROUP, ""));
	assert_int_equal(w.d.n_mounts, 4);
	CHECK_STR(w.d.mounts[1].host, STR("/home/u/.openclaw/workspace/skills"));
	CHECK_STR(w.d.mounts[1].target, STR("/w/skills"));
	assert_true(w.d.mounts[1].source == MOUNT_SKILL && !w.d.mounts[1].writable);
	CHECK_STR(w.d.mounts[2].host, STR("/b"));
	CHECK_STR(w.d.mounts[3].host, STR("/c"));
}

/* A text without a colon is compared as a target, too, and then it is none. */
TEST(of_binds_with_one_target_the_last_counts_even_when_it_is_no_mount)
{
	upstream(ACCESS_NONE);
	SAY(BINDS, binds, BINDS("/a:/x", "/b:/y", "/c:/x/", "/y"));
	CHECK_OK(ask(GROUP, ""));
	assert_int_equal(w.d.n_mounts, 2);
	CHECK_STR(w.d.mounts[1].host, STR("/c"));
	CHECK_STR(w.d.mounts[1].target, STR("/x"));
	SAY(BINDS, binds, BINDS("/a:/", "/b:"));
	CHECK_OK(ask(GROUP, ""));
	assert_int_equal(w.d.n_mounts, 1);
}

TEST(a_dot_as_working_directory_is_the_root_and_a_dot_with_a_slash_is_not)
{
	static const struct {
		const char *workdir, *target;
	} cases[] = { { ".", "/" },     { "./", "." }, { "a/..", "/" },
		      { "a/../", "." }, { "/", "/" },  { "..", ".." } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		upstream(ACCESS_NONE);
		SAY(WORKDIR, workdir, str_z(cases[i].workdir));
		CHECK_OK(ask(GROUP, ""));
		CHECK_STR(w.d.mounts[0].target, str_z(cases[i].target));
		CHECK_STR(w.d.workdir, str_z(cases[i].workdir));
	}
}

TEST(the_ssh_directory_is_a_posix_path_with_a_name_for_each_scope)
{
	upstream(ACCESS_NONE);
	SAY(BACKEND_NAME, backend_name, STR("SSH"));
	CHECK_OK(ask(GROUP, ""));
	CHECK_STR(w.d.workdir, STR("/tmp/openclaw-sandboxes/openclaw-ssh-shared-8198076c/workspace"));
	SAY(SSH_ROOT, ssh_root, STR(" \\a\\..\\b\\ "));
	CHECK_OK(ask(GROUP, ""));
	CHECK_STR(w.d.workdir, STR("/b/openclaw-ssh-shared-8198076c/workspace"));
	SAY(SCOPE, scope, SCOPE_AGENT);
	CHECK_OK(ask(GROUP, ""));
	assert_true(str_starts(w.d.workdir, STR("/b/openclaw-ssh-workspace-")));
	assert_int_equal(w.d.n_mounts, 0);
}

TEST(a_blank_ssh_directory_is_the_default_and_a_relative_one_refuses_every_backend)
{
	upstream(ACCESS_NONE);
	SAY(SSH_ROOT, ssh_root, STR(" "));
	CHECK_OK(ask(GROUP, ""));
	SAY(SSH_ROOT, ssh_root, STR("rel"));
	CHECK_CODE(ask(GROUP, ""), CODE_WORKSPACE_ESCAPE);
	assert_int_equal(w.d.stopped_at, STAGE_IDENTITY);
	SAY(COMPAT, compat, COMPAT_DOCUMENTS);
	CHECK_OK(ask(GROUP, ""));
}

TEST(sessions_of_one_store_belong_to_its_owner_unless_they_name_an_agent)
{
	static struct agent agents[] = { { .id = STR("a") }, { .id = STR("b") } };

	upstream(ACCESS_NONE);
	SAY(OWNERSHIP, ownership, OWNERSHIP_EXPLICIT);
	w.c.agents = agents;
	w.c.n_agents = 2;
	CHECK_CODE(ask("foo", ""), CODE_AGENT_AMBIGUOUS);
	w.c.store_owner = STR("b");
	CHECK_OK(ask("foo", ""));
	CHECK_STR(w.d.who.session_key, STR("agent:b:foo"));
	CHECK_OK(ask("global", ""));
	CHECK_STR(w.d.who.agent, STR("b"));
	CHECK_OK(ask("agent:a:foo", ""));
	CHECK_CODE(ask("", ""), CODE_AGENT_AMBIGUOUS);
	w.r.agent = STR("a");
	CHECK_CODE(ask("foo", ""), CODE_AGENT_MISMATCH);
	CHECK_OK(ask("", ""));
	w.r.agent = (struct str){ 0 };
	w.c.store_owner = STR("gone");
	CHECK_CODE(ask("foo", ""), CODE_UNKNOWN_AGENT);
}

TEST(directories_that_variables_move_are_those_of_agents_without_a_path)
{
	static struct agent agents[] = { { .id = STR("a"), .is_default = true }, { .id = STR("b") } };

	upstream(ACCESS_RW);
	w.c.agents = agents;
	w.c.n_agents = 2;
	w.c.openclaw = (struct openclaw_dirs){ .state = STR("/q"), .workspace = STR("/w") };
	CHECK_STR(ask("agent:a:x", "")->agent_workspace, STR("/w"));
	CHECK_STR(ask("agent:b:x", "")->agent_workspace, STR("/q/workspace-b"));
	SAY(WS_PATH, ws_path, STR("/srv"));
	CHECK_STR(ask("agent:b:x", "")->agent_workspace, STR("/srv/b"));
}

TEST(names_are_folded_as_unicode_has_it)
{
	upstream(ACCESS_NONE);
	SAY(SBX_ALLOW, sbx_allow, LIST("\u00a0\u00c9 ,GROUP:ui,\u212a"));
	CHECK_OK(ask("\u212aEY \u00c9", ""));
	CHECK_STR(w.d.who.session_key, STR("agent:main:key \u00e9"));
	CHECK_STR(w.d.tool.sbx_allow.names.v[0], STR("\u00e9"));
	CHECK_STR(w.d.tool.sbx_allow.names.v[1], STR("browser"));
	CHECK_STR(w.d.tool.sbx_allow.names.v[w.d.tool.sbx_allow.names.n - 2], STR("k"));
	CHECK_OK(ask("agent:\u212a:x", ""));
	CHECK_STR(w.d.who.agent, STR("k"));
}

TEST_MAIN()
