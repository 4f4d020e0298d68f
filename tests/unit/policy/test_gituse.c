/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/gituse.h"
#include "world.h"

static enum git_use of(const char *text)
{
	const struct str argv[] = { STR("sh"), STR("-c"), str_z(text) };

	return git_use((struct strs){ argv, 3 });
}

TEST(argv_uses_git_when_its_program_is_git)
{
	assert_int_equal(git_use(LIST(STR("git"))), GIT_USED);
	assert_int_equal(git_use(LIST(STR("/usr/bin/git"), STR("status"))), GIT_USED);
	assert_int_equal(git_use(LIST(STR("git"), STR("push"))), GIT_PUSHES);
	assert_int_equal(git_use(LIST(STR("grep"), STR("git"))), GIT_NONE);
	assert_int_equal(git_use(LIST(STR("gitk"))), GIT_NONE);
	assert_int_equal(git_use(NO_LIST), GIT_NONE);
	assert_int_equal(git_use(LIST((struct str){ 0 })), GIT_NONE);
}

TEST(gits_own_options_do_not_hide_the_push)
{
	assert_int_equal(git_use(LIST(STR("git"), STR("-C"), STR("push"), STR("log"))), GIT_USED);
	assert_int_equal(git_use(LIST(STR("git"), STR("-C"), STR("d"), STR("--no-pager"), STR("push"))),
			 GIT_PUSHES);
	assert_int_equal(git_use(LIST(STR("git"), STR("-c"), STR("a=b"), STR("send-pack"))), GIT_PUSHES);
	assert_int_equal(git_use(LIST(STR("git"), STR("--git-dir=x"), STR("push"))), GIT_PUSHES);
	assert_int_equal(git_use(LIST(STR("git"), STR("-c"))), GIT_USED);
	assert_int_equal(git_use(LIST(STR("git"), STR(""))), GIT_USED);
}

TEST(wrappers_and_assignments_do_not_hide_git)
{
	assert_int_equal(git_use(LIST(STR("env"), STR("A=1"), STR("git"), STR("push"))), GIT_PUSHES);
	assert_int_equal(git_use(LIST(STR("timeout"), STR("5"), STR("git"), STR("log"))), GIT_USED);
	assert_int_equal(git_use(LIST(STR("sudo"), STR("-E"), STR("git"), STR("log"))), GIT_USED);
	assert_int_equal(git_use(LIST(STR("sudo"), STR("make"))), GIT_NONE);
	assert_int_equal(git_use(LIST(STR("env"))), GIT_NONE);
}

TEST(git_is_seen_wherever_a_program_stands_in_a_shell_text)
{
	static const char *const uses[] = {
		"git status",        "cd x && git log", "true; git log",
		"a | git apply",     "(git log)",       "echo $(git log)",
		"echo `git log`",    "A=1 git log",     "if true; then git log; fi",
		"\"git\" log",       "make\ngit log",   "{ git log; }",
		"bash -c 'git log'", "! git diff"
	};

	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		CHECK_CASE(of(uses[i]) == GIT_USED, "%s", uses[i]);
	assert_int_equal(of("git log; git push origin main"), GIT_PUSHES);
}

TEST(words_that_only_mention_git_do_not_count)
{
	static const char *const none[] = {
		"echo git", "grep -r git .", "cat .git/config", "make git", "", ";;", "ls"
	};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		CHECK_CASE(of(none[i]) == GIT_NONE, "%s", none[i]);
}

TEST(shells_in_shells_are_followed_a_few_times)
{
	assert_int_equal(git_use(LIST(STR("bash"), STR("-l"), STR("-c"), STR("git log"))), GIT_USED);
	assert_int_equal(git_use(LIST(STR("bash"), STR("-lc"), STR("git log"))), GIT_USED);
	assert_int_equal(git_use(LIST(STR("bash"), STR("script"))), GIT_NONE);
	assert_int_equal(git_use(LIST(STR("bash"))), GIT_NONE);
}

TEST_MAIN()
