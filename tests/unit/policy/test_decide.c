/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

/* Of trusted and others, known and unknown ones. */
static const char *const sessions[] = { "", "untrusted:x", "client:y", "agent:main:telegram:group:1",
					"agent:bad" };
static const char *const tools[] = { "", "exec", "read", "browser", "nope" };

static bool same_verdict(const struct decision *a, const struct decision *b)
{
	return a->verdict == b->verdict && a->code == b->code && a->stopped_at == b->stopped_at &&
	       a->n_warnings == b->n_warnings && a->n_mounts == b->n_mounts && a->n_env == b->n_env &&
	       a->fix_it.n == b->fix_it.n && str_eq(a->message, b->message) && a->mode.caps == b->mode.caps &&
	       a->mode.trust == b->mode.trust && a->place.place == b->place.place &&
	       str_eq(a->place.key, b->place.key) && memcmp(&a->limits, &b->limits, sizeof(a->limits)) == 0;
}

static bool same_decision(const struct decision *a, const struct decision *b)
{
	if (!same_verdict(a, b) || a->n_reasons != b->n_reasons)
		return false;
	for (size_t i = 0; i < a->n_reasons; i++)
		if (!str_eq(a->reasons[i].text, b->reasons[i].text) ||
		    !str_eq(a->reasons[i].value, b->reasons[i].value))
			return false;
	return true;
}

TEST(the_same_question_has_the_same_answer)
{
	struct decision *first = calloc(1, sizeof(*first));
	WORLD(w);

	assert_non_null(first);
	w->c.base.when = WHEN_NON_MAIN;
	for (size_t s = 0; s < 5; s++)
		for (size_t t = 0; t < 5; t++) {
			ask_for(w, sessions[s], tools[t]);
			*first = w->d;
			ask_for(w, sessions[s], tools[t]);
			CHECK_CASE(same_decision(first, &w->d), "%s %s", sessions[s], tools[t]);
		}
	free(first);
}

TEST(a_brief_question_has_the_same_answer_with_no_reason_but_that_of_a_refusal)
{
	struct decision *full = calloc(1, sizeof(*full));
	WORLD(w);

	assert_non_null(full);
	w->c.base.when = WHEN_NON_MAIN;
	for (size_t s = 0; s < 5; s++)
		for (size_t t = 0; t < 5; t++) {
			w->r.brief = false;
			ask_for(w, sessions[s], tools[t]);
			*full = w->d;
			w->r.brief = true;
			ask_for(w, sessions[s], tools[t]);
			CHECK_CASE(same_verdict(full, &w->d), "%s %s", sessions[s], tools[t]);
			for (size_t i = 0; i < w->d.n_reasons; i++)
				CHECK_STR(str_z(w->d.reasons[i].what), STR("refused"));
			CHECK_CASE((w->d.n_reasons > 0) == (w->d.verdict == VERDICT_DENY), "%s %s",
				   sessions[s], tools[t]);
		}
	free(full);
}

TEST(every_stage_of_an_allowed_call_says_why)
{
	unsigned seen = 0;
	WORLD(w);

	w->r.argv = LIST(STR("make"));
	w->c.base.when = WHEN_ALL;
	ask_for(w, "agent:main:main", "exec");
	CHECK_ALLOW(w);
	assert_int_equal(w->d.code, CODE_OK);
	CHECK_STR(w->d.message, STR("allowed"));
	for (size_t i = 0; i < w->d.n_reasons; i++) {
		seen |= 1u << w->d.reasons[i].stage;
		assert_non_null(w->d.reasons[i].what);
		assert_true(w->d.reasons[i].text.n > 0);
	}
	for (unsigned s = 0; s < STAGE_COUNT_; s++)
		CHECK_CASE(seen & 1u << s, "%s is silent", enum_name(stage_names, (int)s));
}

TEST(a_refusal_has_a_code_a_message_a_stage_and_a_reason)
{
	WORLD(w);

	ask_for(w, "analysis:x", "bash");
	assert_int_equal(w->d.verdict, VERDICT_DENY);
	assert_int_equal(w->d.code, CODE_CAPABILITY_DENIED);
	assert_int_equal(w->d.stopped_at, STAGE_TOOL);
	assert_true(has_reason(&w->d, STAGE_TOOL, "refused", "capability_denied"));
	assert_true(has_reason(&w->d, STAGE_TOOL, "capability", "proc.exec"));
}

TEST(the_first_refusal_stays)
{
	WORLD(w);
	struct ctx x = { .c = &w->c, .r = &w->r, .a = &w->a, .d = &w->d };

	assert_false(deny(&x, STAGE_TOOL, CODE_TOOL_NOT_ALLOWED, NULL, "one"));
	assert_false(deny(&x, STAGE_ENV, CODE_ENV_INVALID, NULL, "two"));
	assert_int_equal(w->d.code, CODE_TOOL_NOT_ALLOWED);
	assert_int_equal(w->d.stopped_at, STAGE_TOOL);
	CHECK_STR(w->d.message, STR("one"));
	assert_int_equal(w->d.n_reasons, 2);
}

TEST(records_are_bounded)
{
	char line[32];
	WORLD(w);
	struct ctx x = { .c = &w->c, .r = &w->r, .a = &w->a, .d = &w->d };

	for (int i = 0; i < 2000; i++) {
		why(&x, STAGE_TOOL, "x", STR("v"), NULL, "%d", i);
		warn(&x, "x", NULL, STR("k"), "%d", i);
		snprintf(line, sizeof(line), "line %d", i);
		fix_it(&x, str_z(line));
		fix_it(&x, str_z(line));
	}
	assert_true(w->d.n_reasons < 2000 && w->d.n_reasons >= 100);
	assert_true(w->d.n_warnings < 2000 && w->d.n_warnings >= 100);
	assert_true(w->d.fix_it.n < 2000 && w->d.fix_it.n >= 10);
	CHECK_STR(w->d.fix_it.v[1], STR("line 1"));
	CHECK_STR(w->d.reasons[1].text, STR("1"));
}

TEST(a_long_reason_is_cut)
{
	char text[3000];
	WORLD(w);
	struct ctx x = { .c = &w->c, .r = &w->r, .a = &w->a, .d = &w->d };

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	why(&x, STAGE_TOOL, "x", STR("v"), NULL, "%s", text);
	assert_int_equal(w->d.reasons[0].text.n, 1023);
	why(&x, STAGE_TOOL, "x", STR("v"), NULL, "%s", "");
	assert_int_equal(w->d.reasons[1].text.n, 0);
}

/* Every size up to what is needed: an error each time, a refusal in the record, and nothing read that is not there. */
TEST(a_decision_without_enough_memory_is_an_error_and_a_refusal)
{
	const struct str argv[] = { STR("make"), STR("test") };
	static struct settings over;
	static struct agent only[] = { { .id = { "main", 4 }, .over = &over } };
	size_t needed = 0;
	WORLD(w);

	over.has[OPT_SBX_ALSO_ALLOW] = true;
	over.sbx_also_allow = LIST(STR("browser"), STR("group:ui"));
	w->c.agents = only;
	w->c.n_agents = 1;
	w->c.base.when = WHEN_ALL;
	w->r.argv = (struct strs){ argv, 2 };
	w->r.command = STR("a | b");
	w->r.wants_elevated = true;
	w->r.channel = STR("telegram");
	w->r.sender = STR("x");
	for (size_t max = 0; max < 400000; max += max < 20000 ? 97 : 1999) {
		struct arena a;
		int r;

		arena_init(&a, max);
		r = decide(&w->c, &w->r, &a, &w->d, &w->e);
		assert_int_equal(w->d.verdict, VERDICT_DENY);
		if (r == 0) {
			needed = max;
			arena_done(&a);
			break;
		}
		assert_int_equal(w->e.kind, ERR_LIMIT);
		assert_int_equal(w->d.code, CODE_UNDECIDED);
		arena_done(&a);
	}
	assert_true(needed > 0);
}

TEST(the_request_id_is_carried_along)
{
	WORLD(w);

	w->r.request_id = STR("6f1c");
	ask(w);
	CHECK_STR(w->d.request_id, STR("6f1c"));
}

TEST_MAIN()
