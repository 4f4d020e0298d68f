/* SPDX-License-Identifier: Apache-2.0 */
/* Who is known to a service, from the file, the configuration and the environment. */
#include "check.h"
#include "spot.h"

#include "server/callers.h"

#define NOW ((uint64_t)1700000000000)

static char *const nothing[] = { NULL };

static struct callers *open_callers(const struct spot *p, const struct config *c, char *const *vars)
{
	struct callers *ret = NULL;
	struct err e = { 0 };

	if (callers_open(&(struct callers_opts){ .dir = p->dir, .config = c, .environ = vars }, &ret, &e) < 0)
		fail_msg("%s", e.msg);
	return ret;
}
#define CALLERS(name, ...) _cleanup_(callers_freep) struct callers *name = open_callers(__VA_ARGS__)

static void make(const struct spot *p, const char *name, const char *pairs, bool admin,
		 char out[static TOKEN_TEXT_MAX])
{
	_cleanup_(token_store_closep) struct token_store *s = NULL;
	_cleanup_arena_ struct arena a = { 0 };
	struct token_entry bound = { .admin = admin };
	struct token_opts o = { .name = str_z(name), .pairs = &bound, .now_ms = NOW };
	char id[TOKEN_ID_MAX];
	struct err e = { 0 };

	arena_init(&a, 1 << 20);
	assert_int_equal(token_store_open(p->dir, &s, &e), 0);
	assert_int_equal(token_pairs_parse(&a, str_z(pairs), &bound, &e), 0);
	if (token_new(s, &o, out, id, &e) < 0)
		fail_msg("%s", e.msg);
}

TEST(nobody_at_all_is_an_error_that_names_the_command)
{
	static char empty[] = "SANDBOX_GUARD_TOKEN=";
	char *const vars[] = { empty, NULL };
	static struct config c;
	struct callers *ret = NULL;
	struct err e = { 0 };
	SPOT(p);

	assert_true(callers_open(&(struct callers_opts){ .dir = p.dir, .config = &c, .environ = vars }, &ret,
				 &e) < 0);
	assert_non_null(strstr(e.msg, "creel token new"));
}

TEST(the_environments_token_is_for_all_pairs_unless_the_configuration_binds_it)
{
	static char variable[] = "SANDBOX_GUARD_TOKEN=0123456789abcdef0";
	char *const vars[] = { variable, NULL };
	struct pair pair = { .channel = STR("telegram"), .agent = STR("a"), .chat_id = STR("1") };
	struct token bound = { .ref = { REF_ENV, STR("SANDBOX_GUARD_TOKEN") }, .pairs = &pair, .n_pairs = 1 };
	static struct config plain, narrow;
	struct caller who;
	SPOT(p);

	narrow.tokens = &bound;
	narrow.n_tokens = 1;
	CALLERS(all, &p, &plain, vars);
	CALLERS(some, &p, &narrow, vars);

	assert_int_equal(callers_find(all, STR("0123456789abcdef0"), NOW, &who), TOKEN_VALID);
	assert_true(who.all_pairs && !who.admin && !who.stored);
	assert_true(callers_speak_on(all, &who, STR("signal")));
	assert_int_equal(callers_find(some, STR("0123456789abcdef0"), NOW, &who), TOKEN_VALID);
	assert_false(who.all_pairs);
	assert_true(callers_speak_on(some, &who, STR("telegram")) &&
		    !callers_speak_on(some, &who, STR("signal")));
	assert_false(callers_config(some)->tokens[who.index].all_pairs);
}

TEST(what_changes_in_the_file_counts_after_a_refresh_and_uses_are_noted_in_it)
{
	char one[TOKEN_TEXT_MAX], two[TOKEN_TEXT_MAX];
	static struct config c;
	struct caller who;
	SPOT(p);

	make(&p, "one", "a:1", false, one);
	CALLERS(s, &p, &c, nothing);
	make(&p, "two", "*", true, two);
	assert_int_equal(callers_find(s, str_z(two), NOW, &who), TOKEN_UNKNOWN);
	assert_int_equal(callers_refresh(s), 1);
	assert_int_equal(callers_refresh(s), 0);
	assert_int_equal(callers_find(s, str_z(two), NOW, &who), TOKEN_VALID);
	assert_true(who.all_pairs && who.admin && who.stored);
	callers_used(s, &who, NOW + 5);
	callers_note(s, NOW + 5);
	{
		_cleanup_(token_store_closep) struct token_store *store = NULL;
		struct err e = { 0 };

		assert_int_equal(token_store_open(p.dir, &store, &e), 0);
		assert_int_equal(token_store_load(store, &e), 1);
		assert_int_equal(token_store_tokens(store)->v[1].used_ms, NOW + 5);
		assert_int_equal(token_store_tokens(store)->v[0].used_ms, 0);
		assert_true(token_store_tokens(store)->v[1].admin && !token_store_tokens(store)->v[0].admin);
	}
	assert_int_equal(callers_find(s, str_z(one), NOW, &who), TOKEN_VALID); /* nothing was lost by it */
	assert_false(who.admin);
}

TEST_MAIN()
