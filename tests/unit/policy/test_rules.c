/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/rule.h"
#include "world.h"

/* The three rules of S0-12..14, as printed there. */
static struct trust_rule printed[3];

static void printed_rules(struct world *w)
{
	static const struct str client_deny[] = { { "secrets", 7 },
						  { "external_api", 12 },
						  { "git_push", 8 } };
	static const struct str untrusted_allow[] = { { "bash", 4 }, { "read", 4 }, { "edit", 4 } };
	static const struct str untrusted_deny[] = { { "browser", 7 }, { "network", 7 }, { "git", 3 } };
	static const struct str analysis_allow[] = { { "read", 4 }, { "search", 6 } };
	static const struct str analysis_deny[] = { { "write", 5 }, { "bash", 4 }, { "git", 3 } };

	printed[0] = (struct trust_rule){ .match = STR("client:*"),
					  .trust = TRUST_LIGHT,
					  .has_deny = true,
					  .deny = { client_deny, 3 },
					  .origin = { .kind = ORIGIN_FILE, .line = 4 } };
	printed[1] = (struct trust_rule){ .match = STR("untrusted:*"),
					  .trust = TRUST_DOCKER,
					  .has_allow = true,
					  .allow = { untrusted_allow, 3 },
					  .has_deny = true,
					  .deny = { untrusted_deny, 3 } };
	printed[2] = (struct trust_rule){ .match = STR("analysis:*"),
					  .trust = TRUST_READONLY,
					  .has_allow = true,
					  .allow = { analysis_allow, 2 },
					  .has_deny = true,
					  .deny = { analysis_deny, 3 } };
	w->c.rules = printed;
	w->c.n_rules = 3;
}

struct answer {
	const char *key, *tool;
	bool allowed;
};

static void check_answers(struct world *w, const struct answer *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		ask_for(w, t[i].key, t[i].tool);
		CHECK_CASE((w->d.verdict == VERDICT_ALLOW) == t[i].allowed, "%s in %s: %s %.*s", t[i].tool,
			   t[i].key, code_word(w->d.code), (int)w->d.message.n, w->d.message.p);
		if (!t[i].allowed)
			CHECK_DENY(w, CODE_CAPABILITY_DENIED);
	}
}

/* S0-12..15 */
TEST(the_printed_rules_do_what_they_say)
{
	static const struct answer t[] = {
		{ "client:leon", "read", true },          { "client:leon", "write", true },
		{ "client:leon", "bash", true },          { "client:leon", "git", true },
		{ "client:leon", "browser", true },       { "client:leon", "secrets", false },
		{ "client:leon", "external_api", false }, { "client:leon", "git_push", false },
		{ "client:leon", "web_fetch", false },    { "untrusted:x", "bash", true },
		{ "untrusted:x", "exec", true },          { "untrusted:x", "process", true },
		{ "untrusted:x", "code_exec", true },     { "untrusted:x", "read", true },
		{ "untrusted:x", "edit", true },          { "untrusted:x", "apply_patch", true },
		{ "untrusted:x", "write", false },        { "untrusted:x", "browser", false },
		{ "untrusted:x", "network", false },      { "untrusted:x", "git", false },
		{ "untrusted:x", "search", false },       { "analysis:q", "read", true },
		{ "analysis:q", "search", true },         { "analysis:q", "write", false },
		{ "analysis:q", "edit", false },          { "analysis:q", "bash", false },
		{ "analysis:q", "git", false },
	};
	WORLD(w);

	printed_rules(w);
	check_answers(w, t, sizeof(t) / sizeof(t[0]));
}

/* C12: git is allowed in light, pushing is not */
TEST(a_push_is_denied_while_other_git_is_not)
{
	const struct str push[] = { STR("git"), STR("-C"), STR("x"), STR("push") };
	const struct str log_[] = { STR("git"), STR("log") };
	WORLD(w);

	printed_rules(w);
	w->r.argv = (struct strs){ push, 4 };
	ask_for(w, "client:leon", "exec");
	CHECK_DENY(w, CODE_CAPABILITY_DENIED);
	CHECK_STR(w->d.message, STR("Action 'git_push' denied in sandbox mode 'light'"));
	assert_true(has_reason(&w->d, STAGE_TOOL, "git_push", "denied"));
	ask_for(w, "client:leon", "git");
	CHECK_STR(w->d.message, STR("Action 'git_push' denied in sandbox mode 'light'"));
	w->r.argv = (struct strs){ log_, 2 };
	ask_for(w, "client:leon", "exec");
	CHECK_ALLOW(w);
	assert_true(w->d.tool.needs & CAP_BIT(CAP_VCS));
}

TEST(git_by_way_of_exec_needs_vcs)
{
	const struct str argv[] = { STR("/usr/bin/git"), STR("status") };
	WORLD(w);

	w->r.argv = (struct strs){ argv, 2 };
	ask_for(w, "untrusted:x", "exec");
	CHECK_DENY(w, CODE_CAPABILITY_DENIED);
	CHECK_STR(w->d.message, STR("Action 'git' denied in sandbox mode 'docker'"));
	w->r.argv = NO_LIST;
	w->r.command = STR("cd /workspace && git status");
	ask_for(w, "untrusted:x", "exec");
	CHECK_STR(w->d.message, STR("Action 'git' denied in sandbox mode 'docker'"));
	ask_for(w, "client:x", "exec");
	CHECK_ALLOW(w);
}

/* checklist 4.1 */
TEST(the_git_tool_of_an_untrusted_session_is_refused_in_s0s_words)
{
	const struct str argv[] = { STR("git"), STR("push") };
	WORLD(w);

	w->r.argv = (struct strs){ argv, 2 };
	ask_for(w, "untrusted:pr-482", "git");
	CHECK_DENY(w, CODE_CAPABILITY_DENIED);
	CHECK_STR(w->d.message, STR("Action 'git' denied in sandbox mode 'docker'"));
}

TEST(the_git_tool_starts_nothing_but_git)
{
	const struct str argv[] = { STR("rm"), STR("-rf"), STR("/") };
	WORLD(w);

	w->r.argv = (struct strs){ argv, 3 };
	ask_for(w, "main:x", "git");
	CHECK_DENY(w, CODE_INVALID_CMD);
	w->r.argv = NO_LIST;
	w->r.command = STR("git status; rm -rf /");
	ask_for(w, "main:x", "git");
	CHECK_DENY(w, CODE_INVALID_CMD);
	w->r.command = STR("git status");
	ask_for(w, "main:x", "git");
	CHECK_ALLOW(w);
}

TEST(every_token_as_deny_takes_its_capability)
{
	static const struct {
		const char *token;
		unsigned gone;
	} t[] = {
		{ "secrets", CAP_BIT(CAP_SECRETS) },
		{ "external_api", CAP_BIT(CAP_API) },
		{ "git", CAP_BIT(CAP_VCS) },
		{ "git_push", 0 },
		{ "bash", CAP_BIT(CAP_PROC_EXEC) },
		{ "read", CAP_BIT(CAP_FS_READ) },
		{ "edit", CAP_BIT(CAP_FS_WRITE) },
		{ " Write ", CAP_BIT(CAP_FS_WRITE) },
		{ "search", 0 },
		{ "browser", CAP_BIT(CAP_BROWSER) },
		{ "network", CAP_BIT(CAP_NET) | CAP_BIT(CAP_NET_INTERNAL) },
		{ "group:fs", 0 },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct str one = str_z(t[i].token);
		struct trust_rule r = { .has_deny = true, .deny = { &one, 1 } };
		unsigned all = cap_matrix(TRUST_NONE);

		CHECK_CASE(rule_caps(COMPAT_DOCUMENTS, &r, all) == (all & ~t[i].gone), "%s", t[i].token);
	}
}

TEST(deny_write_also_stops_edit)
{
	struct str write = STR("write");
	struct trust_rule r = {
		.match = STR("x:*"), .trust = TRUST_NONE, .has_deny = true, .deny = { &write, 1 }
	};
	static const struct answer t[] = { { "x:1", "write", false },
					   { "x:1", "edit", false },
					   { "x:1", "apply_patch", false },
					   { "x:1", "read", true } };
	WORLD(w);

	w->c.rules = &r;
	w->c.n_rules = 1;
	check_answers(w, t, 4);
}

TEST(a_rule_may_name_tools_groups_and_globs)
{
	const struct str deny[] = { STR("group:memory"), STR("sessions_*"), STR("search") };
	struct trust_rule r = {
		.match = STR("x:*"), .trust = TRUST_NONE, .has_deny = true, .deny = { deny, 3 }
	};
	static const struct answer t[] = { { "x:1", "memory_get", false }, { "x:1", "sessions_list", false },
					   { "x:1", "search", false },     { "x:1", "session_status", true },
					   { "x:1", "message", true },     { "x:1", "read", true } };
	WORLD(w);

	w->c.rules = &r;
	w->c.n_rules = 1;
	check_answers(w, t, 6);
}

TEST(allow_leaves_only_the_capabilities_it_names)
{
	const struct str allow[] = { STR("read"), STR("group:web") };
	struct trust_rule r = { .has_allow = true, .allow = { allow, 2 } };

	assert_int_equal(rule_caps(COMPAT_DOCUMENTS, &r, cap_matrix(TRUST_NONE)),
			 CAP_BIT(CAP_FS_READ) | CAP_BIT(CAP_NET) | CAP_BIT(CAP_API));
	assert_int_equal(rule_caps(COMPAT_DOCUMENTS, &r, cap_matrix(TRUST_LIGHT)), CAP_BIT(CAP_FS_READ));
}

TEST(an_empty_allow_of_a_rule_allows_nothing)
{
	struct trust_rule r = { .match = STR("x:*"), .trust = TRUST_NONE, .has_allow = true };
	WORLD(w);

	w->c.rules = &r;
	w->c.n_rules = 1;
	ask_for(w, "x:1", "read");
	CHECK_DENY(w, CODE_CAPABILITY_DENIED);
	assert_int_equal(w->d.mode.caps, 0);
	assert_true(has_reason(&w->d, STAGE_MODE, "caps", "none"));
}

TEST(allow_never_gives_more_than_the_mode_has)
{
	const struct str allow[] = { STR("bash"), STR("write"), STR("network"), STR("secrets"), STR("git") };
	struct trust_rule r = {
		.match = STR("x:*"), .trust = TRUST_READONLY, .has_allow = true, .allow = { allow, 5 }
	};
	static const struct answer t[] = { { "x:1", "bash", false },
					   { "x:1", "write", false },
					   { "x:1", "network", false },
					   { "x:1", "git", false },
					   { "x:1", "read", false } };
	WORLD(w);

	w->c.rules = &r;
	w->c.n_rules = 1;
	check_answers(w, t, 5);
}

TEST(a_weakened_session_keeps_its_rules_denies)
{
	WORLD(w);

	printed_rules(w);
	w->r.has_trust = w->r.allow_weaken = true;
	w->r.trust = TRUST_NONE;
	ask_for(w, "client:leon", "secrets");
	CHECK_DENY(w, CODE_CAPABILITY_DENIED);
	ask_for(w, "client:leon", "network");
	CHECK_ALLOW(w);
}

TEST(the_refusal_points_at_the_rule)
{
	WORLD(w);

	printed_rules(w);
	ask_for(w, "client:leon", "git_push");
	assert_true(has_reason(&w->d, STAGE_TOOL, "rule", "client:*"));
	assert_int_equal(w->d.reasons[w->d.n_reasons - 1].origin.line, 4);
	CHECK_STR(w->d.message, STR("Action 'git_push' denied in sandbox mode 'light'"));
}

/* What is advised is done; nothing else of the request is changed. */
static bool do_as_told(struct world *w)
{
	for (size_t i = 0; i < w->d.fix_it.n; i++)
		for (enum trust t = 0; t < TRUST_COUNT_; t++) {
			char flag[64];

			(void)snprintf(flag, sizeof(flag), "--sandbox %s", enum_name(trust_names, (int)t));
			if (!str_starts(w->d.fix_it.v[i], str_z(flag)))
				continue;
			w->r.has_trust = true;
			w->r.trust = t;
			w->r.allow_weaken =
				memmem(w->d.fix_it.v[i].p, w->d.fix_it.v[i].n, "--allow-weaken", 14);
			return true;
		}
	return false;
}

/* With what was asked for by flag, and with what the session has anyway. */
TEST(a_refusal_by_the_mode_says_which_one_lets_it_pass_and_that_one_does)
{
	static const char *const keys[] = { "analysis:x", "untrusted:x", "client:x", "main:x" };
	static const char *const tools[] = { "exec",    "write",   "edit",    "git",          "process",
					     "browser", "network", "secrets", "external_api", "code_exec" };
	unsigned refused = 0;
	WORLD(w);

	for (unsigned i = 0; i < 4 * 10 * (TRUST_COUNT_ + 1); i++) {
		const char *key = keys[i % 4], *tool = tools[i / 4 % 10];
		unsigned flag = i / 40;

		w->r.has_trust = flag < TRUST_COUNT_;
		w->r.trust = w->r.has_trust ? (enum trust)flag : TRUST_READONLY;
		w->r.allow_weaken = false;
		ask_for(w, key, tool);
		if (w->d.code != CODE_CAPABILITY_DENIED)
			continue;
		refused++;
		CHECK_CASE(do_as_told(w), "%s in %s", tool, key);
		ask_for(w, key, tool);
		CHECK_CASE(w->d.code != CODE_CAPABILITY_DENIED && w->d.code != CODE_WEAKEN_REFUSED,
			   "%s in %s: %.*s", tool, key, STR_ARG(w->d.message));
	}
	assert_true(refused > 40);
}

TEST(a_refusal_by_the_mode_names_what_the_session_has_it_from)
{
	WORLD(w);

	ask_for(w, "untrusted:x", "git");
	assert_true(list_holds(w->d.fix_it,
			       "mode.trust.rules: add { match: \"untrusted:x\", trust: \"light\" }"));
	assert_true(list_holds(w->d.fix_it, "--sandbox light --allow-weaken"));
	w->c.base.trust_default = TRUST_READONLY;
	ask_for(w, "other:x", "write");
	assert_true(list_holds(w->d.fix_it, "mode.trust.default=docker"));
	w->r.has_trust = true;
	w->r.trust = TRUST_DOCKER;
	ask_for(w, "client:x", "git");
	assert_int_equal(w->d.fix_it.n, 1);
	CHECK_STR(w->d.fix_it.v[0], STR("--sandbox light"));
	w->r.via = VIA_LIBRARY;
	ask_for(w, "client:x", "git");
	assert_int_equal(w->d.fix_it.n, 1);
	assert_true(str_starts(w->d.fix_it.v[0], STR("trust \"light\"")));
}

TEST(a_refusal_by_a_rule_names_the_entry)
{
	WORLD(w);

	printed_rules(w);
	ask_for(w, "client:leon", "git_push");
	assert_true(list_holds(w->d.fix_it, "mode.trust.rules: remove git_push from deny of 'client:*'"));
	ask_for(w, "untrusted:x", "write");
	assert_true(list_holds(w->d.fix_it, "mode.trust.rules: add write to allow of 'untrusted:*'"));
	ask_for(w, "client:leon", "secrets"); /* no mode has it, as long as the rule says no */
	assert_true(list_holds(w->d.fix_it, "mode.trust.rules: allow and deny of 'client:*'"));
	assert_int_equal(w->d.fix_it.n, 1);
}

TEST_MAIN()
