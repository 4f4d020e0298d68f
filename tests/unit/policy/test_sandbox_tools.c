/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/tooltables.h"
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

static void as_upstream(struct world *w)
{
	w->c.base.compat = COMPAT_OPENCLAW_2026_9;
	w->c.base.when = WHEN_ALL;
}

#define SET(s, id, field, ...)                           \
	do {                                             \
		(s)->has[OPT_##id] = true;               \
		(s)->field = world_keep(w, __VA_ARGS__); \
	} while (0)

static void check_list(struct strs got, const char *want)
{
	struct str rest = str_z(want);
	size_t i = 0;

	while (rest.n) {
		struct str head = rest, tail = { 0 };

		(void)str_cut(rest, ' ', &head, &tail);
		CHECK_CASE(i < got.n, "ends before '%.*s'", (int)head.n, head.p);
		CHECK_STR(got.v[i], head);
		rest = tail;
		i++;
	}
	assert_int_equal(got.n, i);
}

static bool allowed(struct world *w, const char *session, const char *tool)
{
	return ask_for(w, session, tool) == VERDICT_ALLOW;
}

/* S1-60 */
TEST(the_minimal_recipe_sandboxes_everything_but_the_main_session)
{
	WORLD(w);

	w->c.base.when = WHEN_NON_MAIN;
	assert_true(allowed(w, MAIN, "exec"));
	assert_false(w->d.mode.sandboxed);
	assert_true(allowed(w, GROUP, "exec"));
	assert_true(w->d.mode.sandboxed);
	assert_true(allowed(w, GROUP, "write"));
}

/* S1-61, S1-62 */
TEST(the_groups_recipe_leaves_messaging_and_sessions_to_groups)
{
	static const char *const yes[] = { "message",       "sessions_list",  "sessions_history",
					   "sessions_send", "sessions_spawn", "session_status" };
	static const char *const no[] = { "exec", "bash",        "process",   "read",   "write",
					  "edit", "apply_patch", "browser",   "canvas", "nodes",
					  "cron", "gateway",     "code_exec", "git",    "search" };
	WORLD(w);

	w->c.base.when = WHEN_NON_MAIN;
	SET(&w->c.base, SBX_ALLOW, sbx_allow, LIST(STR("group:messaging"), STR("group:sessions")));
	SET(&w->c.base, SBX_DENY, sbx_deny,
	    LIST(STR("group:runtime"), STR("group:fs"), STR("group:ui"), STR("nodes"), STR("cron"),
		 STR("gateway")));
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		CHECK_CASE(allowed(w, GROUP, yes[i]), "%s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		CHECK_CASE(!allowed(w, GROUP, no[i]), "%s", no[i]);
		CHECK_DENY(w, CODE_TOOL_DENIED_BY_POLICY);
		CHECK_CASE(allowed(w, MAIN, no[i]), "%s in the main session", no[i]);
	}
	assert_false(allowed(w, GROUP, "exec"));
	CHECK_STR(w->d.message, STR("tool 'exec' is denied by tools.sandbox.deny ('group:runtime')"));
	assert_true(list_holds(w->d.fix_it, "tools.sandbox.deny: remove group:runtime"));
}

/* S1-54 */
TEST(an_agents_own_sandbox_lists)
{
	WORLD(w);

	with_agent(w);
	w->c.base.when = WHEN_ALL;
	SET(&over, SBX_ALLOW, sbx_allow, LIST(STR("group:messaging")));
	SET(&over, SBX_DENY, sbx_deny, LIST(STR("group:runtime"), STR("group:fs")));
	assert_true(allowed(w, MAIN, "message"));
	assert_false(allowed(w, MAIN, "exec"));
	assert_false(allowed(w, MAIN, "read"));
	assert_false(allowed(w, MAIN, "sessions_list"));
	assert_int_equal(w->d.tool.sbx_allow.source, LIST_AGENT);
	assert_int_equal(w->d.tool.sbx_deny.source, LIST_AGENT);
}

TEST(documents_add_the_bases_denies_to_the_agents_and_upstream_replaces_them)
{
	WORLD(w);

	with_agent(w);
	SET(&w->c.base, SBX_DENY, sbx_deny, LIST(STR("exec")));
	SET(&over, SBX_DENY, sbx_deny, LIST(STR("write")));
	ask(w);
	check_list(w->d.tool.sbx_deny.names, "exec write");
	as_upstream(w);
	ask(w);
	check_list(w->d.tool.sbx_deny.names, "write");
}

/* S0-23 with S1's defaults: the matrix is S0's, the built-in lists are S1's */
TEST(built_in_lists_are_for_sessions_that_s1_sandboxes)
{
	WORLD(w);

	assert_true(allowed(w, "client:x", "browser"));
	w->c.base.when = WHEN_ALL;
	assert_false(allowed(w, "client:x", "browser"));
	CHECK_DENY(w, CODE_TOOL_DENIED_BY_POLICY);
	w->c.base.when = WHEN_OFF;
	SET(&w->c.base, SBX_DENY, sbx_deny, LIST(STR("browser")));
	assert_false(allowed(w, "client:x", "browser"));
	assert_true(allowed(w, MAIN, "browser"));
}

TEST(the_default_lists_of_each_version)
{
	WORLD(w);

	w->c.base.when = WHEN_ALL;
	assert_true(allowed(w, MAIN, "exec"));
	assert_true(allowed(w, MAIN, "search"));
	assert_true(allowed(w, MAIN, "web_fetch"));
	assert_false(allowed(w, MAIN, "browser"));
	assert_false(allowed(w, MAIN, "cron"));
	assert_false(allowed(w, MAIN, "message"));
	assert_int_equal(w->d.tool.sbx_allow.source, LIST_DEFAULT);
	assert_string_equal(w->d.tool.sbx_allow.field, "allow");
	as_upstream(w);
	ask_for(w, MAIN, "");
	check_list(
		w->d.tool.sbx_allow.names,
		"exec process read ls write edit apply_patch view_image sessions_list sessions_history sessions_search "
		"sessions_send sessions_spawn sessions_yield subagents session_status");
	check_list(
		w->d.tool.sbx_deny.names,
		"browser canvas computer mobile_ui nodes automations gateway feishu googlechat nostr buzz msteams "
		"mattermost nextcloud-talk matrix raft a2a line zalo clickclack zalouser sms synology-chat tlon discord "
		"imessage irc reef signal slack telegram twitch whatsapp");
	assert_false(allowed(w, MAIN, "web_fetch"));
}

TEST(a_built_in_list_is_answered_with_also_allow)
{
	WORLD(w);

	w->c.base.when = WHEN_ALL;
	assert_false(allowed(w, MAIN, "browser"));
	CHECK_STR(w->d.message, STR("tool 'browser' is denied by tools.sandbox.deny ('browser')"));
	assert_true(list_holds(w->d.fix_it, "tools.sandbox.alsoAllow: add browser"));
	assert_false(allowed(w, MAIN, "message"));
	assert_true(list_holds(w->d.fix_it, "tools.sandbox.alsoAllow: add message"));
	SET(&w->c.base, SBX_ALLOW, sbx_allow, LIST(STR("read")));
	assert_false(allowed(w, MAIN, "message"));
	assert_true(list_holds(w->d.fix_it, "tools.sandbox.allow: add message"));
	SET(&w->c.base, SBX_ALLOW, sbx_allow, LIST(STR("git"), STR("exec")));
	SET(&w->c.base, SBX_DENY, sbx_deny, LIST(STR("Group:Runtime")));
	assert_false(allowed(w, MAIN, "git"));
	CHECK_STR(w->d.message, STR("tool 'git' is denied by tools.sandbox.deny ('Group:Runtime')"));
}

TEST(s0s_words_are_not_tools_to_the_built_in_lists)
{
	WORLD(w);

	w->c.base.when = WHEN_ALL;
	assert_true(allowed(w, MAIN, "network"));
	SET(&w->c.base, SBX_ALLOW, sbx_allow, LIST(STR("read")));
	assert_false(allowed(w, MAIN, "network"));
}

/* The shapes of the recorded answers of 2026.9.6. */
TEST(upstream_allow_replaces_and_expands_groups)
{
	WORLD(w);

	as_upstream(w);
	SET(&w->c.base, SBX_ALLOW, sbx_allow,
	    LIST(STR("group:nope"), STR("read"), STR("read"), STR("group:fs")));
	SET(&w->c.base, SBX_DENY, sbx_deny, LIST(STR("group:web"), STR("web_fetch")));
	ask(w);
	check_list(w->d.tool.sbx_allow.names, "group:nope read ls write edit apply_patch view_image");
	check_list(w->d.tool.sbx_deny.names, "web_search web_fetch x_search");
	assert_int_equal(w->d.tool.sbx_allow.source, LIST_GLOBAL);
	assert_int_equal(w->d.tool.sbx_deny.source, LIST_GLOBAL);
}

TEST(upstream_also_allow_adds_to_the_default_and_takes_from_the_default_deny)
{
	WORLD(w);

	as_upstream(w);
	SET(&w->c.base, SBX_ALSO_ALLOW, sbx_also_allow, LIST(STR("group:ui"), STR("web_fetch")));
	ask(w);
	assert_true(list_holds(w->d.tool.sbx_allow.names, "browser"));
	assert_true(list_holds(w->d.tool.sbx_allow.names, "web_fetch"));
	assert_false(list_holds(w->d.tool.sbx_deny.names, "browser"));
	assert_false(list_holds(w->d.tool.sbx_deny.names, "canvas"));
	assert_true(list_holds(w->d.tool.sbx_deny.names, "computer"));
	assert_int_equal(w->d.tool.sbx_allow.source, LIST_GLOBAL);
	assert_string_equal(w->d.tool.sbx_allow.field, "alsoAllow");
	assert_int_equal(w->d.tool.sbx_deny.source, LIST_DEFAULT);
}

TEST(upstream_an_empty_allow_is_all_and_also_allow_still_takes_from_the_default_deny)
{
	WORLD(w);

	as_upstream(w);
	SET(&w->c.base, SBX_ALLOW, sbx_allow, NO_LIST);
	SET(&w->c.base, SBX_ALSO_ALLOW, sbx_also_allow, LIST(STR("browser")));
	ask(w);
	assert_int_equal(w->d.tool.sbx_allow.names.n, 0);
	assert_false(list_holds(w->d.tool.sbx_deny.names, "browser"));
	assert_true(list_holds(w->d.tool.sbx_deny.names, "canvas"));
	assert_true(allowed(w, MAIN, "web_fetch"));
	assert_true(allowed(w, MAIN, "browser"));
	assert_false(allowed(w, MAIN, "canvas"));
}

TEST(upstream_a_star_in_allow_empties_the_default_deny)
{
	WORLD(w);

	as_upstream(w);
	SET(&w->c.base, SBX_ALLOW, sbx_allow, LIST(STR("*")));
	ask(w);
	check_list(w->d.tool.sbx_allow.names, "* view_image");
	assert_int_equal(w->d.tool.sbx_deny.names.n, 0);
}

TEST(upstream_an_empty_deny_is_no_deny)
{
	WORLD(w);

	as_upstream(w);
	SET(&w->c.base, SBX_DENY, sbx_deny, NO_LIST);
	ask(w);
	assert_int_equal(w->d.tool.sbx_deny.names.n, 0);
	assert_int_equal(w->d.tool.sbx_deny.source, LIST_GLOBAL);
}

TEST(upstream_aliases_are_resolved_and_the_picture_tool_follows_image)
{
	WORLD(w);

	as_upstream(w);
	SET(&w->c.base, SBX_ALLOW, sbx_allow,
	    LIST(STR("bash"), STR(" Apply-Patch "), STR("cron"), STR("image")));
	SET(&w->c.base, SBX_DENY, sbx_deny, LIST(STR("image")));
	ask(w);
	check_list(w->d.tool.sbx_allow.names, "exec apply_patch automations image");
	check_list(w->d.tool.sbx_deny.names, "image view_image");
}

TEST(upstream_each_list_is_the_agents_else_the_bases)
{
	WORLD(w);

	with_agent(w);
	as_upstream(w);
	SET(&w->c.base, SBX_ALLOW, sbx_allow, LIST(STR("exec"), STR("read")));
	SET(&over, SBX_ALSO_ALLOW, sbx_also_allow, LIST(STR("browser")));
	ask(w);
	check_list(w->d.tool.sbx_allow.names, "exec read browser view_image");
	assert_int_equal(w->d.tool.sbx_allow.source, LIST_AGENT);
	assert_string_equal(w->d.tool.sbx_allow.field, "alsoAllow");
	with_agent(w);
	w->c.base.has[OPT_SBX_ALLOW] = false;
	SET(&w->c.base, SBX_ALSO_ALLOW, sbx_also_allow, LIST(STR("web_search")));
	SET(&w->c.base, SBX_DENY, sbx_deny, LIST(STR("write")));
	SET(&over, SBX_ALLOW, sbx_allow, LIST(STR("read")));
	ask(w);
	check_list(w->d.tool.sbx_allow.names, "read web_search view_image");
	check_list(w->d.tool.sbx_deny.names, "write");
	assert_int_equal(w->d.tool.sbx_allow.source, LIST_AGENT);
	assert_string_equal(w->d.tool.sbx_allow.field, "allow");
	assert_int_equal(w->d.tool.sbx_deny.source, LIST_GLOBAL);
}

TEST(upstream_names_that_nobody_knows_stay_as_they_are)
{
	WORLD(w);

	as_upstream(w);
	SET(&w->c.base, SBX_ALSO_ALLOW, sbx_also_allow,
	    LIST(STR("group:plugins"), STR("bundle-mcp"), STR("Docs__*"), STR(" ")));
	ask(w);
	assert_true(list_holds(w->d.tool.sbx_allow.names, "group:plugins"));
	assert_true(list_holds(w->d.tool.sbx_allow.names, "bundle-mcp"));
	assert_true(list_holds(w->d.tool.sbx_allow.names, "docs__*"));
	assert_int_equal(w->d.tool.sbx_allow.names.n, 19);
	assert_true(allowed(w, MAIN, "docs__search"));
}

TEST(a_long_list_is_resolved_without_doubles)
{
	enum { N = 5000 };
	static char text[N][8];
	static struct str names[2 * N];
	WORLD(w);

	for (size_t i = 0; i < N; i++) {
		snprintf(text[i], sizeof(text[i]), "t%zu", i);
		names[i] = names[N + i] = str_z(text[i]);
	}
	as_upstream(w);
	SET(&w->c.base, SBX_ALLOW, sbx_allow, (struct strs){ names, 2 * N });
	ask(w);
	assert_int_equal(w->d.tool.sbx_allow.names.n, N + 1);
	CHECK_STR(w->d.tool.sbx_allow.names.v[N - 1], str_z(text[N - 1]));
}

TEST_MAIN()
