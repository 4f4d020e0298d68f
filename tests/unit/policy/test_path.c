/* SPDX-License-Identifier: Apache-2.0 */
#include "walls.h"

#include "base/hash.h"
#include "policy/path.h"
#include "policy/workspace.h"

static void check_normal(const char *in, const char *want)
{
	walls_reset();
	CHECK_STR(path_normalise(&w.a, str_z(in)), str_z(want));
}

TEST(an_absolute_path_loses_its_dots_and_double_slashes)
{
	check_normal("/", "/");
	check_normal("//a//b/", "/a/b");
	check_normal("/a/./b/.", "/a/b");
	check_normal("/a/../b", "/b");
	check_normal("/a/b/../../c/..", "/");
	check_normal("/../../etc", "/etc");
	check_normal("/a/...", "/a/...");
	check_normal("/..a/b..", "/..a/b..");
}

TEST(a_relative_path_keeps_the_climbs_it_starts_with)
{
	check_normal("", ".");
	check_normal("a/..", ".");
	check_normal("./a", "a");
	check_normal("../a/../..", "../..");
	check_normal("a/../../b", "../b");
}

TEST(expanding_knows_the_home_and_the_current_directory)
{
	static const struct {
		const char *in, *want;
	} rows[] = {
		{ "~", "/home/u" },     { "~/", "/home/u" },       { "~/a/../b", "/home/u/b" },
		{ " /x/ ", "/x" },      { "a", "/srv/project/a" }, { "~user/x", "/srv/project/~user/x" },
		{ "", "/srv/project" }, { "..", "/srv" },
	};

	walls_reset();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_STR(path_expand(&w.a, &w.r.facts, str_z(rows[i].in)), str_z(rows[i].want));
}

TEST(a_directory_does_not_hold_its_namesakes)
{
	assert_true(path_within(STR("/work"), STR("/work")));
	assert_true(path_within(STR("/work"), STR("/work/a")));
	assert_false(path_within(STR("/work"), STR("/work-evil")));
	assert_false(path_within(STR("/work/a"), STR("/work")));
	assert_true(path_within(STR("/"), STR("/x")));
	assert_false(path_within(STR("/"), STR("x")));
}

TEST(windows_paths_are_recognised_in_all_their_spellings)
{
	assert_true(path_is_windows(STR("C:\\x")));
	assert_true(path_is_windows(STR("c:/x")));
	assert_true(path_is_windows(STR("\\\\?\\C:\\x")));
	assert_true(path_is_windows(STR("//?/C:/x")));
	assert_false(path_is_windows(STR("/c:/x")));
	assert_false(path_is_windows(STR("C:x")));
	assert_false(path_is_windows(STR("1:/x")));
}

TEST(a_slug_is_what_upstream_makes_of_a_key)
{
	static const struct {
		const char *key, *slug;
	} rows[] = {
		{ "agent:main", "agent-main-f331f052" },
		{ "agent:main:main", "agent-main-main-6d9217fe" },
		{ "  ", "session-3f3af1ec" },
		{ "///", "session-732c4e97" },
		{ "Agent:Main:Discord:Group:12345678901234567890",
		  "agent-main-discord-group-1234567-f9635d7e" },
		{ "agent:main:workspace:0123456789abcdef0123456789abcdef",
		  "workspace-5b1210f32562f84c6b0a5edabca1431f" },
	};

	walls_reset();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_STR(scope_slug(&w.a, str_z(rows[i].key)), str_z(rows[i].slug));
}

static void check_slug_text(const char *key, const char *text)
{
	char hex[SHA256_HEX];

	walls_reset();
	sha256_hex(str_trim(str_z(key)), hex);
	CHECK_STR(scope_slug(&w.a, str_z(key)), arena_printf(&w.a, "%s-%.8s", text, hex));
}

TEST(a_slug_folds_runs_of_other_characters_and_trims_dashes)
{
	check_slug_text("--a", "a");
	check_slug_text("a--", "a");
	check_slug_text("a--b", "a--b");
	check_slug_text("a:/ b", "a-b");
	check_slug_text("a-/b", "a--b");
	check_slug_text("../../etc/passwd", "..-..-etc-passwd");
	check_slug_text("x.y_z", "x.y_z");
	check_slug_text("agent:main:workspace:XYZ", "agent-main-workspace-xyz");
}

TEST(a_slug_is_one_part_of_a_path)
{
	static const char *const keys[] = { "..", ".", "a/b", "a/../../b", "\xff/\x01", "agent:x:y/z" };

	walls_reset();
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct str slug = scope_slug(&w.a, str_z(keys[i]));

		CHECK_CASE(!memchr(slug.p, '/', slug.n) && !str_eq(slug, STR("..")) && slug.n > 8,
			   "slug " STR_FMT, STR_ARG(slug));
	}
}

TEST(an_id_with_a_slash_or_a_dot_is_not_safe_in_a_path)
{
	assert_true(is_path_safe(STR("g-coder")));
	assert_true(is_path_safe(STR("-100123")));
	assert_false(is_path_safe(STR("")));
	assert_false(is_path_safe(STR("..")));
	assert_false(is_path_safe(STR("a/b")));
	assert_false(is_path_safe((struct str){ .p = "a\0b", .n = 3 }));
}

TEST_MAIN()
