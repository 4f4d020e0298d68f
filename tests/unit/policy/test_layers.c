/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#define MAIN "agent:main:main"
#define GROUP "agent:main:telegram:group:-100123"

static struct settings over;
static struct agent only[] = { { .id = { "main", 4 }, .over = &over } };

static void with_agent(struct world *w)
{
	memset(&over, 0, sizeof(over));
	w->c.agents = only;
	w->c.n_agents = 1;
}

static bool allowed(struct world *w, const char *session, const char *tool)
{
	return ask_for(w, session, tool) == VERDICT_ALLOW;
}

/* S1-55 */
TEST(tools_allow_says_which_tools_exist)
{
	WORLD(w);

	w->c.base.tools_allow = LIST(STR("read"), STR("group:web"));
	assert_true(allowed(w, MAIN, "read"));
	assert_true(allowed(w, MAIN, "web_fetch"));
	assert_false(allowed(w, MAIN, "exec"));
	CHECK_DENY(w, CODE_TOOL_DENIED_BY_POLICY);
	CHECK_STR(w->d.message, STR("tool 'exec' is not in tools.allow"));
	assert_true(list_holds(w->d.fix_it, "tools.allow: add exec"));
}

TEST(an_empty_allow_is_all)
{
	WORLD(w);

	w->c.base.has[OPT_TOOLS_ALLOW] = true;
	assert_true(allowed(w, MAIN, "exec"));
	w->c.base.tools_allow = LIST(STR(" "));
	assert_true(allowed(w, MAIN, "exec"));
}

TEST(deny_wins_in_its_own_layer)
{
	WORLD(w);

	w->c.base.tools_allow = LIST(STR("exec"), STR("*"));
	w->c.base.tools_deny = LIST(STR("Group:Runtime"));
	assert_false(allowed(w, MAIN, "bash"));
	CHECK_STR(w->d.message, STR("tool 'exec' is denied by tools.deny ('Group:Runtime')"));
	assert_true(list_holds(w->d.fix_it, "tools.deny: remove Group:Runtime"));
	assert_true(allowed(w, MAIN, "read"));
}

TEST(a_tool_must_survive_the_agents_layer_too)
{
	WORLD(w);

	with_agent(w);
	w->c.base.tools_allow = LIST(STR("read"), STR("exec"));
	over.tools_deny = LIST(STR("exec"));
	assert_false(allowed(w, MAIN, "exec"));
	assert_true(allowed(w, MAIN, "read"));
	over.tools_deny = NO_LIST;
	over.tools_allow = LIST(STR("exec"), STR("write"));
	assert_true(allowed(w, MAIN, "exec"));
	assert_false(allowed(w, MAIN, "read"));
	assert_false(allowed(w, MAIN, "write"));
}

TEST(every_layer_that_takes_it_away_is_recorded)
{
	size_t refused = 0;
	WORLD(w);

	with_agent(w);
	w->c.base.tools_deny = LIST(STR("exec"));
	over.tools_deny = LIST(STR("exec"));
	w->c.base.when = WHEN_ALL;
	w->c.base.sbx_deny = LIST(STR("exec"));
	w->c.base.has[OPT_SBX_DENY] = true;
	assert_false(allowed(w, MAIN, "exec"));
	for (size_t i = 0; i < w->d.n_reasons; i++)
		refused += strcmp(w->d.reasons[i].what, "refused") == 0;
	assert_int_equal(refused, 3);
	CHECK_STR(w->d.message, STR("tool 'exec' is denied by tools.deny ('exec')"));
}

TEST(also_allow_adds_but_never_restricts)
{
	WORLD(w);

	w->c.base.tools_also_allow = LIST(STR("web_fetch"));
	assert_true(allowed(w, MAIN, "exec"));
	w->c.base.tools_allow = LIST(STR("read"));
	assert_true(allowed(w, MAIN, "web_fetch"));
	assert_false(allowed(w, MAIN, "exec"));
}

TEST(a_profile_is_a_base_list_and_also_allow_adds_to_it)
{
	WORLD(w);

	w->c.base.tools_profile = TOOL_PROFILE_MINIMAL;
	assert_true(allowed(w, MAIN, "session_status"));
	assert_false(allowed(w, MAIN, "exec"));
	CHECK_STR(w->d.message, STR("tool 'exec' is not in tools.profile.alsoAllow"));
	w->c.base.tools_also_allow = LIST(STR("exec"));
	assert_true(allowed(w, MAIN, "exec"));
	w->c.base.tools_also_allow = NO_LIST;
	w->c.base.tools_profile = TOOL_PROFILE_CODING;
	assert_true(allowed(w, MAIN, "exec"));
	assert_true(allowed(w, MAIN, "memory_get"));
	assert_false(allowed(w, MAIN, "message"));
	w->c.base.tools_profile = TOOL_PROFILE_MESSAGING;
	assert_true(allowed(w, MAIN, "message"));
	assert_false(allowed(w, MAIN, "exec"));
	w->c.base.tools_profile = TOOL_PROFILE_FULL;
	assert_true(allowed(w, MAIN, "exec"));
}

TEST(the_agents_profile_and_also_allow_replace_the_bases)
{
	WORLD(w);

	with_agent(w);
	w->c.base.tools_profile = TOOL_PROFILE_FULL;
	w->c.base.tools_also_allow = LIST(STR("web_fetch"));
	over.has[OPT_TOOLS_PROFILE] = true;
	over.tools_profile = TOOL_PROFILE_MINIMAL;
	assert_true(allowed(w, MAIN, "web_fetch"));
	assert_false(allowed(w, MAIN, "exec"));
	over.has[OPT_TOOLS_ALSO_ALLOW] = true;
	over.tools_also_allow = LIST(STR("exec"));
	assert_true(allowed(w, MAIN, "exec"));
	assert_false(allowed(w, MAIN, "web_fetch"));
}

TEST(provider_and_model_before_provider)
{
	const struct tool_layer base_layers[] = {
		{ .match = STR("acme"), .has_deny = true, .deny = LIST(STR("exec")) },
		{ .match = STR(" Acme/Big "), .has_deny = true, .deny = LIST(STR("read")) },
		{ .match = STR("other/"), .has_deny = true, .deny = LIST(STR("write")) },
	};
	WORLD(w);

	w->c.base.tools_by_provider = (struct tool_layers){ base_layers, 3 };
	assert_true(allowed(w, MAIN, "exec"));
	w->r.provider = STR("ACME");
	assert_false(allowed(w, MAIN, "exec"));
	CHECK_STR(w->d.message, STR("tool 'exec' is denied by tools.byProvider.acme.deny ('exec')"));
	w->r.model = STR("big");
	assert_true(allowed(w, MAIN, "exec"));
	assert_false(allowed(w, MAIN, "read"));
	w->r.model = STR("small");
	assert_false(allowed(w, MAIN, "exec"));
	w->r.provider = STR("other");
	assert_false(allowed(w, MAIN, "write"));
	w->r.provider = STR("nobody");
	assert_true(allowed(w, MAIN, "write"));
}

TEST(a_providers_profile_is_a_layer_and_the_agents_comes_first)
{
	const struct tool_layer global[] = { { .match = STR("acme"), .profile = TOOL_PROFILE_MINIMAL } };
	const struct tool_layer own[] = { { .match = STR("acme"),
					    .profile = TOOL_PROFILE_CODING,
					    .has_also_allow = true,
					    .also_allow = LIST(STR("message")) } };
	WORLD(w);

	with_agent(w);
	w->r.provider = STR("acme");
	w->c.base.tools_by_provider = (struct tool_layers){ global, 1 };
	assert_false(allowed(w, MAIN, "exec"));
	over.tools_by_provider = (struct tool_layers){ own, 1 };
	assert_true(allowed(w, MAIN, "exec"));
	assert_true(allowed(w, MAIN, "message"));
	assert_false(allowed(w, MAIN, "canvas"));
}

TEST(the_agents_provider_layer_counts_beside_the_bases)
{
	const struct tool_layer own[] = {
		{ .match = STR("acme"), .has_deny = true, .deny = LIST(STR("exec")) }
	};
	WORLD(w);

	with_agent(w);
	over.tools_by_provider = (struct tool_layers){ own, 1 };
	w->r.provider = STR("acme");
	assert_false(allowed(w, MAIN, "exec"));
	CHECK_STR(w->d.message, STR("tool 'exec' is denied by agents.*.tools.byProvider.acme.deny ('exec')"));
}

TEST(a_groups_lists_hold_in_that_group)
{
	const struct tool_layer groups[] = {
		{ .match = STR("*"), .deny = LIST(STR("write")) },
		{ .match = STR("telegram:*"), .deny = LIST(STR("edit")) },
		{ .match = STR("telegram:-100123"), .deny = LIST(STR("exec")) },
		{ .match = STR("telegram:-100123:topic:7"), .deny = LIST(STR("read")) },
	};
	WORLD(w);

	w->c.base.tools_by_group = (struct tool_layers){ groups, 4 };
	assert_false(allowed(w, GROUP, "exec"));
	assert_true(allowed(w, GROUP, "edit"));
	assert_false(allowed(w, GROUP ":topic:9", "exec"));
	assert_false(allowed(w, GROUP ":topic:7", "read"));
	assert_true(allowed(w, GROUP ":topic:7", "exec"));
	assert_true(allowed(w, GROUP "4", "exec"));
	assert_false(allowed(w, GROUP "4", "edit"));
	assert_false(allowed(w, "agent:main:slack:channel:C1", "write"));
	assert_true(allowed(w, "agent:main:slack:channel:C1", "edit"));
	assert_true(allowed(w, MAIN, "write"));
}

TEST(a_senders_lists_hold_for_that_sender)
{
	const struct tool_layer senders[] = {
		{ .match = STR("*"), .deny = LIST(STR("exec")) },
		{ .match = STR("id:7"), .deny = LIST(STR("read")) },
		{ .match = STR("channel:telegram:7"), .deny = LIST(STR("write")) },
		{ .match = STR("@Bob"), .deny = LIST(STR("edit")) },
		{ .match = STR("name:Eve"), .deny = LIST(STR("search")) },
	};
	WORLD(w);

	w->c.base.tools_by_sender = (struct tool_layers){ senders, 5 };
	assert_false(allowed(w, MAIN, "exec")); /* nobody known: the wildcard */
	w->r.sender = STR("7");
	assert_false(allowed(w, MAIN, "read"));
	assert_true(allowed(w, MAIN, "exec"));
	assert_false(allowed(w, GROUP, "write"));
	assert_true(allowed(w, GROUP, "read"));
	w->r.sender = STR("bob");
	assert_false(allowed(w, MAIN, "edit"));
	w->r.sender = STR("@BOB");
	assert_false(allowed(w, MAIN, "edit"));
	w->r.sender = STR("Eve"); /* an id that looks like somebody's name */
	assert_true(allowed(w, MAIN, "search"));
	w->r.sender = STR("name:eve");
	assert_false(allowed(w, MAIN, "search"));
	w->r.sender = STR("stranger");
	assert_false(allowed(w, MAIN, "exec"));
}

TEST(the_agents_senders_come_before_the_bases)
{
	const struct tool_layer base_layers[] = { { .match = STR("7"), .deny = LIST(STR("read")) } };
	const struct tool_layer own[] = { { .match = STR("7"), .deny = LIST(STR("write")) } };
	WORLD(w);

	with_agent(w);
	w->c.base.tools_by_sender = (struct tool_layers){ base_layers, 1 };
	over.tools_by_sender = (struct tool_layers){ own, 1 };
	w->r.sender = STR("7");
	assert_true(allowed(w, MAIN, "read"));
	assert_false(allowed(w, MAIN, "write"));
	w->r.sender = STR("8");
	assert_true(allowed(w, MAIN, "write"));
}

TEST(sub_agents_lose_what_is_not_for_them_whatever_is_allowed)
{
	WORLD(w);

	w->c.base.sub_allow = LIST(STR("*"));
	w->c.base.sub_also_allow = LIST(STR("gateway"));
	assert_false(allowed(w, "agent:main:subagent:1", "gateway"));
	assert_false(allowed(w, "agent:main:subagent:1", "sessions_spawn"));
	assert_true(allowed(w, "agent:main:subagent:1", "read"));
	w->c.base.sub_deny = LIST(STR("read"));
	assert_false(allowed(w, "agent:main:subagent:1", "read"));
	assert_true(allowed(w, MAIN, "gateway"));
	w->c.base.sub_deny = NO_LIST;
	w->c.base.sub_allow = LIST(STR("exec"));
	w->c.base.sub_also_allow = LIST(STR("write"));
	assert_false(allowed(w, "agent:main:subagent:1", "read"));
	assert_true(allowed(w, "agent:main:subagent:1", "write"));
}

TEST(upstream_lets_whoever_may_write_patch)
{
	WORLD(w);

	w->c.base.tools_allow = LIST(STR("write"));
	assert_false(allowed(w, MAIN, "apply_patch"));
	w->c.base.compat = COMPAT_OPENCLAW_2026_9;
	assert_true(allowed(w, MAIN, "apply_patch"));
	w->c.base.tools_deny = LIST(STR("apply_patch"));
	assert_false(allowed(w, MAIN, "apply_patch"));
	w->c.base.tools_deny = NO_LIST;
	w->c.base.tools_allow = LIST(STR("read"));
	w->c.base.tools_also_allow = LIST(STR("write"));
	assert_true(allowed(w, MAIN, "apply_patch"));
}

TEST(denying_exec_denies_the_git_tool_and_denying_git_denies_git_by_exec)
{
	const struct str argv[] = { STR("git"), STR("log") };
	WORLD(w);

	w->r.argv = (struct strs){ argv, 2 };
	w->c.base.tools_deny = LIST(STR("group:runtime"));
	assert_false(allowed(w, MAIN, "git"));
	w->c.base.tools_deny = LIST(STR("git"));
	assert_false(allowed(w, MAIN, "exec"));
	assert_false(allowed(w, MAIN, "git"));
	w->c.base.tools_deny = NO_LIST;
	w->c.base.tools_allow = LIST(STR("git"));
	assert_true(allowed(w, MAIN, "git"));
	assert_false(allowed(w, MAIN, "exec"));
	w->c.base.tools_allow = LIST(STR("exec"));
	assert_true(allowed(w, MAIN, "git"));
}

/* S1-17 */
TEST(a_read_only_workspace_disables_write_edit_and_apply_patch)
{
	static const char *const writers[] = { "write", "edit", "apply_patch", "file_write" };
	WORLD(w);

	w->c.base.ws_access = ACCESS_RO;
	w->c.base.when = WHEN_ALL;
	for (size_t i = 0; i < 4; i++) {
		assert_false(allowed(w, MAIN, writers[i]));
		CHECK_DENY(w, CODE_TOOL_DENIED_BY_POLICY);
		CHECK_STR(w->d.message, STR("workspaceAccess \"ro\" disables write, edit and apply_patch"));
	}
	assert_true(allowed(w, MAIN, "read"));
	assert_true(allowed(w, MAIN, "exec"));
	w->c.base.when = WHEN_OFF;
	assert_true(allowed(w, MAIN, "write"));
}

TEST_MAIN()
