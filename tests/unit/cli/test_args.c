/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "cli/args.h"

#include <stddef.h>

struct values {
	bool quiet, loud, help;
	struct arg_value session, mode, number, write;
	struct arg_list sets;
};

#define AT(field) .at = offsetof(struct values, field)

static const struct enum_name modes[] = { { "none", 0 }, { "light", 1 }, { "docker", 2 }, { NULL, 0 } };

static const struct arg_option common[] = {
	{ .name = "quiet", .letter = 'q', .kind = ARG_FLAG, AT(quiet), .exclude = 1, .help = "h" },
	{ .name = "verbose", .letter = 'v', .kind = ARG_FLAG, AT(loud), .exclude = 1, .help = "h" },
	{ .name = "help", .letter = 'h', .kind = ARG_FLAG, AT(help), .help = "h" },
	{ .name = "session", .kind = ARG_TEXT, AT(session), .meta = "KEY", .help = "h" },
	{ .name = "set", .letter = 'e', .kind = ARG_LIST, AT(sets), .meta = "K=V", .help = "h" },
};
static const struct arg_option own[] = {
	{ .name = "mode", .kind = ARG_TEXT, AT(mode), .meta = "MODE", .names = modes, .help = "h" },
	{ .name = "number", .letter = 'n', .kind = ARG_NUMBER, AT(number), .meta = "N", .help = "h" },
	{ .name = "write", .kind = ARG_OPTIONAL, AT(write), .meta = "PATH", .help = "h" },
};
static const struct arg_word words[] = {
	{ .name = "FORMAT", .names = modes },
	{ .name = "FILE" },
	{ .name = "PATH", .optional = true },
};
static const struct command deep[] = {
	{ .name = "check", .options = { own, 3 } },
	{ .name = "import", .options = { own, 3 }, .words = words, .n_words = 3 },
};
static const struct command subs[] = {
	{ .name = "run", .options = { own, 3 }, .takes_command = true },
	{ .name = "config", .subs = deep, .n_subs = 2 },
	{ .name = "secret", .hidden = true },
};
static const struct command program = { .name = "prog", .options = { common, 5 }, .subs = subs, .n_subs = 3 };

static struct arena arena;
static struct values got;
static struct args args;
static struct err err;

/* The words of one line; a word in which '_' stands for a blank. */
static int parse(const char *line)
{
	static struct str argv[64];
	static char text[1024];
	struct str rest;
	size_t n = 0;

	arena_done(&arena);
	arena_init(&arena, 1 << 20);
	got = (struct values){ 0 };
	err = (struct err){ 0 };
	assert_true(strlen(line) < sizeof(text));
	memcpy(text, line, strlen(line) + 1);
	rest = str_z(text);
	while (rest.n) {
		if (!str_cut(rest, ' ', &argv[n], &rest)) {
			argv[n] = rest;
			rest = (struct str){ 0 };
		}
		n++;
	}
	return args_parse(&program, (struct strs){ .v = argv, .n = n }, &arena, &got, &args, &err);
}

static void refuse(const char *line, const char *message)
{
	int r = parse(line);

	if (r == 0)
		r = args_check_words(&args, &err);
	CHECK_CASE(r < 0, "'%s' was accepted", line);
	CHECK_CASE(strstr(err.msg, message), "'%s': got '%s', want '%s'", line, err.msg, message);
	assert_int_equal(err.kind, ERR_USAGE);
}

TEST(args_common_options_stand_before_and_after_the_command_word)
{
	assert_int_equal(parse("--session a:b run"), 0);
	CHECK_STR(got.session.text, STR("a:b"));
	assert_int_equal(parse("run --session a:b"), 0);
	CHECK_STR(got.session.text, STR("a:b"));
	assert_int_equal(parse("-q config --session=x check -e k=v"), 0);
	assert_true(got.quiet);
	CHECK_STR(got.session.text, STR("x"));
	CHECK_STR(got.sets.v[0], STR("k=v"));
	assert_string_equal(args_command(&args)->name, "check");
}

TEST(args_a_value_follows_as_word_behind_equals_or_behind_the_letter)
{
	assert_int_equal(parse("run --number 7"), 0);
	assert_int_equal(got.number.number, 7);
	assert_int_equal(parse("run --number=7"), 0);
	assert_int_equal(got.number.number, 7);
	assert_int_equal(parse("run -n7"), 0);
	assert_int_equal(got.number.number, 7);
	assert_int_equal(parse("run -qn 7"), 0);
	assert_int_equal(got.number.number, 7);
	assert_true(got.quiet);
}

TEST(args_a_value_may_begin_with_one_dash)
{
	assert_int_equal(parse("--session -100123 run"), 0);
	CHECK_STR(got.session.text, STR("-100123"));
}

TEST(args_a_value_that_begins_with_two_dashes_needs_the_equals_sign)
{
	refuse("run --session --mode", "needs a value");
	assert_int_equal(parse("run --session=--mode"), 0);
	CHECK_STR(got.session.text, STR("--mode"));
}

TEST(args_an_empty_value_is_a_value)
{
	assert_int_equal(parse("run --session="), 0);
	assert_true(got.session.has);
	assert_int_equal(got.session.text.n, 0);
}

TEST(args_lists_keep_their_order)
{
	assert_int_equal(parse("-e a=1 run -eb=2 --set c=3 --set=d=4"), 0);
	assert_int_equal(got.sets.n, 4);
	CHECK_STR(got.sets.v[1], STR("b=2"));
	CHECK_STR(got.sets.v[3], STR("d=4"));
}

TEST(args_everything_behind_two_dashes_is_the_command)
{
	assert_int_equal(parse("run -q -- prog --mode -x --"), 0);
	assert_true(args.has_rest);
	assert_int_equal(args.rest.n, 4);
	CHECK_STR(args.rest.v[1], STR("--mode"));
	CHECK_STR(args.rest.v[3], STR("--"));
	assert_int_equal(parse("run --"), 0);
	assert_true(args.has_rest);
	assert_int_equal(args.rest.n, 0);
}

TEST(args_two_dashes_end_options_where_there_is_no_command)
{
	assert_int_equal(parse("config import light -- -q"), 0);
	assert_int_equal(args.words.n, 2);
	CHECK_STR(args.words.v[1], STR("-q"));
	assert_false(got.quiet);
}

TEST(args_an_optional_value_is_taken_only_behind_equals)
{
	assert_int_equal(parse("config import --write light file"), 0);
	assert_true(got.write.has);
	assert_int_equal(got.write.text.n, 0);
	CHECK_STR(args.words.v[0], STR("light"));
	assert_int_equal(parse("config import --write=p light file"), 0);
	CHECK_STR(got.write.text, STR("p"));
}

TEST(args_unknown_names_are_refused_with_the_nearest_one)
{
	refuse("--sesion x run", "unknown option '--sesion', did you mean '--session'?");
	refuse("run --mod light", "did you mean '--mode'?");
	refuse("--xyzzy", "unknown option '--xyzzy'");
	refuse("-x", "unknown option '-x'");
	refuse("rnu", "unknown command 'rnu', did you mean 'run'?");
	refuse("config chekc", "did you mean 'check'?");
	refuse("frobnicate", "unknown command 'frobnicate'");
}

TEST(args_a_hidden_command_is_never_suggested)
{
	refuse("secrets", "unknown command 'secrets'");
	assert_null(strstr(err.msg, "did you mean"));
	refuse("", "one of run or config");
}

TEST(args_an_option_before_its_command_says_where_it_belongs)
{
	refuse("--number 7 run", "belongs to the command 'run'");
}

TEST(args_no_abbreviations)
{
	refuse("--sess x run", "unknown option '--sess'");
}

TEST(args_values_are_checked)
{
	refuse("run --mode ligth", "'ligth' is not none, light or docker (did you mean 'light'?)");
	refuse("run --mode x", "'x' is not none, light or docker");
	refuse("run --mode", "'--mode' needs a value: --mode MODE");
	refuse("run --number -7", "'-7' is not a whole number");
	refuse("run --number 99999999999999999999", "is not a whole number");
	refuse("run --quiet=yes", "'--quiet' takes no value");
	refuse("config import dokcer f",
	       "FORMAT: 'dokcer' is not none, light or docker (did you mean 'docker'?)");
}

TEST(args_what_is_said_twice_is_refused_unless_it_is_a_flag_or_a_list)
{
	refuse("--session a run --session b", "'--session' is given twice");
	assert_int_equal(parse("-q run -q"), 0);
}

TEST(args_options_that_exclude_each_other_are_refused_together)
{
	refuse("-q run -v", "'--quiet' and '--verbose' exclude each other");
	refuse("run -qv", "exclude each other");
}

TEST(args_words_are_counted)
{
	refuse("config import", "FORMAT is missing");
	refuse("config import light", "FILE is missing");
	refuse("config import light f p q", "unexpected 'q'");
	refuse("config check x", "unexpected 'x'");
	refuse("run make", "write a command after '--'");
	refuse("config", "one of check or import");
}

TEST_MAIN()
