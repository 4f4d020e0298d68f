/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "policy/policy_priv.h"

struct glob_case {
	const char *pattern, *text;
	bool matches;
};

static void check_session(const struct glob_case *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		CHECK_CASE(session_glob_matches(str_z(t[i].pattern), str_z(t[i].text)) == t[i].matches,
			   "'%s' against '%s'", t[i].pattern, t[i].text);
}
#define CHECK_SESSION(...)                                            \
	do {                                                          \
		static const struct glob_case t_[] = { __VA_ARGS__ }; \
		check_session(t_, sizeof(t_) / sizeof(t_[0]));        \
	} while (0)

TEST(session_glob_matches_the_whole_key)
{
	CHECK_SESSION({ "client:*", "client:leon", true }, { "client:*", "client:", true },
		      { "client:*", "xclient:leon", false }, { "client", "client:leon", false },
		      { "", "", true }, { "", "a", false }, { "*", "", true },
		      { "*", "anything/at.all", true });
}

TEST(session_glob_is_case_sensitive)
{
	CHECK_SESSION({ "client:*", "Client:leon", false }, { "A", "a", false });
}

TEST(session_glob_question_mark_is_one_character_also_of_utf8)
{
	CHECK_SESSION({ "a?c", "abc", true }, { "a?c", "ac", false },
		      { "a?c",
			"a\xc3\xa9"
			"c",
			true },
		      { "??", "\xf0\x9f\x98\x80", false }, { "?", "\xff", true }, { "?", "", false });
}

TEST(session_glob_sets_have_ranges_and_negation)
{
	CHECK_SESSION({ "[a-c]x", "bx", true }, { "[a-c]x", "dx", false }, { "[!a-c]x", "dx", true },
		      { "[!a-c]x", "ax", false }, { "[]]", "]", true }, { "[!]]", "]", false },
		      { "[!]]", "a", true }, { "[a-]", "-", true }, { "[-a]", "-", true },
		      { "[z-a]", "m", false }, { "[^a]", "^", true }, { "[^a]", "b", false },
		      { "pr-[0-9]*", "pr-482", true });
}

TEST(session_glob_a_set_that_never_closes_is_text)
{
	CHECK_SESSION({ "[abc", "[abc", true }, { "[abc", "a", false }, { "[", "[", true },
		      { "a[!", "a[!", true }, { "[]", "[]", true });
}

TEST(session_glob_a_backslash_is_a_backslash)
{
	CHECK_SESSION({ "a\\*", "a\\bc", true }, { "a\\*", "a*", false });
}

TEST(session_glob_slash_and_leading_dot_are_ordinary)
{
	CHECK_SESSION({ "*", "a/b", true }, { "*", ".hidden", true }, { "a*d", "a/b.c/d", true });
}

TEST(session_glob_several_stars_find_their_way)
{
	CHECK_SESSION({ "*a*b*c", "xxaxxbxxc", true }, { "*a*b*c", "xxaxxcxxb", false },
		      { "**a**", "a", true }, { "a*a*a", "aa", false }, { "*ab", "aab", true },
		      { "*[a-b]?c", "zzbxc", true });
}

/* Naive backtracking takes 2^60 steps here. */
TEST(globs_take_no_exponential_time)
{
	char pattern[256] = { 0 }, text[256] = { 0 };

	for (int i = 0; i < 60; i++)
		memcpy(pattern + 2 * i, "*a", 2);
	pattern[120] = 'b';
	memset(text, 'a', 200);
	assert_false(session_glob_matches(str_z(pattern), str_z(text)));
	assert_false(tool_glob_matches(str_z(pattern), str_z(text)));
}

TEST(tool_glob_knows_only_the_star_and_no_case)
{
	assert_true(tool_glob_matches(STR("sessions_*"), STR("sessions_list")));
	assert_true(tool_glob_matches(STR("SESSIONS_*"), STR("sessions_list")));
	assert_true(tool_glob_matches(STR("*"), STR("")));
	assert_true(tool_glob_matches(STR("e*c"), STR("exec")));
	assert_true(tool_glob_matches(STR("*x*c*"), STR("exec")));
	assert_false(tool_glob_matches(STR("e?ec"), STR("exec")));
	assert_true(tool_glob_matches(STR("e?ec"), STR("e?ec")));
	assert_false(tool_glob_matches(STR("[e]xec"), STR("exec")));
	assert_false(tool_glob_matches(STR("exec"), STR("execute")));
	assert_false(tool_glob_matches(STR("xec"), STR("exec")));
	assert_false(tool_glob_matches(STR(""), STR("exec")));
}

TEST_MAIN()
