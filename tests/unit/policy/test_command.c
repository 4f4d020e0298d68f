/* SPDX-License-Identifier: Apache-2.0 */
#include "walls.h"

static enum command_kind split(struct str text, struct strs *ret)
{
	walls_reset();
	*ret = (struct strs){ 0 };
	return command_split(&w.a, text, ret);
}

#define COMPLEX(text)                                                                                  \
	do {                                                                                           \
		struct strs argv_;                                                                     \
		CHECK_CASE(split(STR(text), &argv_) == COMMAND_COMPLEX, "taken for simple: %s", text); \
	} while (0)

static void check_words(struct str text, size_t n, const char *const *want)
{
	struct strs argv;

	CHECK_CASE(split(text, &argv) == COMMAND_SIMPLE, "not simple: " STR_FMT, STR_ARG(text));
	assert_int_equal(argv.n, n);
	for (size_t i = 0; i < n; i++)
		CHECK_STR(argv.v[i], str_z(want[i]));
}
#define WORDS(text, ...)                                                                            \
	check_words(STR(text), sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *), \
		    (const char *const[]){ __VA_ARGS__ })

TEST(c23_a_string_that_is_one_simple_command_becomes_its_words)
{
	WORDS("gh", "gh");
	WORDS("  gh\tpr   list ", "gh", "pr", "list");
	WORDS("/usr/bin/gh api", "/usr/bin/gh", "api");
}

TEST(quotes_and_escapes_are_read_as_a_shell_reads_them)
{
	WORDS("gh pr create --title \"Fix bug\"", "gh", "pr", "create", "--title", "Fix bug");
	WORDS("echo 'a $HOME ; b' \"it's\"", "echo", "a $HOME ; b", "it's");
	WORDS("echo a\\ b \\; \\$x \\\\", "echo", "a b", ";", "$x", "\\");
	WORDS("echo \"a\\\"b\\\\c\\$d\\`e\\nf\"", "echo", "a\"b\\c$d`e\\nf");
	WORDS("g'h' p\"r\"", "gh", "pr");
	WORDS("echo '' \"\"", "echo", "", "");
}

TEST(characters_that_only_mean_something_in_front_are_literal_elsewhere)
{
	WORDS("find . ! -name a#b", "find", ".", "!", "-name", "a#b");
	WORDS("git show HEAD~1 a=b", "git", "show", "HEAD~1", "a=b");
	WORDS("printf %s ] , @ ^", "printf", "%s", "]", ",", "@", "^");
	WORDS("echo gr\xc3\xbc\xc3\x9f", "echo", "gr\xc3\xbc\xc3\x9f");
}

TEST(d3_1_a_second_command_makes_the_line_complex)
{
	COMPLEX("gh x; curl y");
	COMPLEX("gh --version; curl https://evil.example");
	COMPLEX("gh x && curl y");
	COMPLEX("gh x || curl y");
	COMPLEX("gh x | curl y");
	COMPLEX("gh x & curl y");
	COMPLEX("gh x\ncurl y");
	COMPLEX("gh x\rcurl y");
	COMPLEX("gh x\n");
	COMPLEX("gh $(curl y)");
	COMPLEX("gh `curl y`");
	COMPLEX("gh \"$(curl y)\"");
	COMPLEX("gh \"`curl y`\"");
	COMPLEX("gh <(curl y)");
	COMPLEX("gh >(curl y)");
	COMPLEX("(gh x)");
	COMPLEX("{ gh x; }");
}

TEST(every_metacharacter_outside_quotes_makes_a_line_complex)
{
	static const char metas[] = ";&|`$()<>{}*?[\n\r\v\f\x01\x7f";

	for (size_t i = 0; i < sizeof(metas) - 1; i++) {
		char text[] = "gh a?b";
		struct strs argv;

		text[4] = metas[i];
		CHECK_CASE(split(str_z(text), &argv) == COMMAND_COMPLEX, "byte 0x%02x",
			   (unsigned char)metas[i]);
	}
}

TEST(a_nul_byte_is_never_part_of_a_simple_command)
{
	struct strs argv;

	assert_int_equal(split((struct str){ .p = "gh \0x", .n = 5 }, &argv), COMMAND_COMPLEX);
	assert_int_equal(split((struct str){ .p = "gh '\0'", .n = 6 }, &argv), COMMAND_COMPLEX);
	assert_int_equal(split((struct str){ .p = "gh \"\0\"", .n = 6 }, &argv), COMMAND_COMPLEX);
	assert_int_equal(split((struct str){ .p = "gh \"\\\0\"", .n = 7 }, &argv), COMMAND_COMPLEX);
	assert_int_equal(split((struct str){ .p = "gh \\\0", .n = 5 }, &argv), COMMAND_COMPLEX);
}

TEST(what_a_shell_would_expand_is_complex)
{
	COMPLEX("gh ~");
	COMPLEX("gh ~/x");
	COMPLEX("make PREFIX=~/x");
	COMPLEX("scp a:~/x");
	COMPLEX("gh $HOME");
	COMPLEX("gh \"$HOME\"");
	COMPLEX("gh *.c");
	COMPLEX("gh a?c");
	COMPLEX("gh [ab]");
	COMPLEX("gh {a,b}");
	COMPLEX("gh # comment");
	COMPLEX("# comment");
}

TEST(an_assignment_or_a_negation_in_front_is_complex)
{
	COMPLEX("GH_TOKEN=x gh api");
	COMPLEX("A= gh");
	COMPLEX("! gh x");
	COMPLEX("!gh x");
}

TEST(text_that_ends_too_early_is_complex)
{
	COMPLEX("");
	COMPLEX("   \t");
	COMPLEX("gh 'open");
	COMPLEX("gh \"open");
	COMPLEX("gh \"open\\");
	COMPLEX("gh \\");
	COMPLEX("gh a\\\nb");
	COMPLEX("gh \"a\\\nb\"");
	COMPLEX("'' gh");
}

TEST(a_program_that_starts_another_is_complex)
{
	COMPLEX("env curl x");
	COMPLEX("sudo curl x");
	COMPLEX("sh -c curl");
	COMPLEX("/bin/bash -c curl");
	COMPLEX("timeout 5 curl x");
	COMPLEX("xargs curl");
	COMPLEX("nohup gh");
	COMPLEX("busybox wget");
	COMPLEX("ssh host");
	COMPLEX("'e'nv curl x");
	COMPLEX("\\sudo curl x");
}

TEST(what_only_a_shell_can_do_is_complex)
{
	COMPLEX("cd /x");
	COMPLEX("export A");
	COMPLEX("if true");
	COMPLEX("eval gh");
	COMPLEX("exec gh");
	COMPLEX(". ./env");
	COMPLEX("source env");
}

TEST(a_line_has_at_most_1024_words_and_128_kib)
{
	char *text = test_malloc(300 << 10);
	struct strs argv;

	for (size_t i = 0; i < 1024; i++)
		memcpy(text + 2 * i, "a ", 2);
	assert_int_equal(split((struct str){ .p = text, .n = 2048 }, &argv), COMMAND_SIMPLE);
	assert_int_equal(argv.n, 1024);
	memcpy(text + 2048, "a", 1);
	assert_int_equal(split((struct str){ .p = text, .n = 2049 }, &argv), COMMAND_COMPLEX);
	memset(text, 'a', 300 << 10);
	assert_int_equal(split((struct str){ .p = text, .n = 128 << 10 }, &argv), COMMAND_SIMPLE);
	assert_int_equal(split((struct str){ .p = text, .n = (128 << 10) + 1 }, &argv), COMMAND_COMPLEX);
	test_free(text);
}

TEST(without_memory_a_command_is_complex)
{
	struct arena none;
	struct strs argv;

	arena_init(&none, 16);
	assert_int_equal(command_split(&none, STR("a command that is longer than the arena"), &argv),
			 COMMAND_COMPLEX);
	arena_done(&none);
	arena_init(&none, 64);
	assert_int_equal(command_split(&none, STR("a b c d e f g h i j k l"), &argv), COMMAND_COMPLEX);
	arena_done(&none);
}

TEST_MAIN()
