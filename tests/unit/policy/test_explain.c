/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "base/jsonw.h"
#include "policy/policy.h"

struct printed {
	struct buf text, json, openclaw, openclaw_text;
};

static struct printed print(struct world *w, const struct explain_opts *o)
{
	struct printed p = { 0 };
	struct jsonw j;

	buf_init(&p.text, 1 << 20);
	buf_init(&p.json, 1 << 20);
	buf_init(&p.openclaw, 1 << 20);
	buf_init(&p.openclaw_text, 1 << 20);
	explain_text(&w->d, o, &p.text);
	jsonw_init(&j, &p.json, 0);
	explain_json(&w->d, o, &j);
	jsonw_init(&j, &p.openclaw, 0);
	explain_openclaw(&w->c, &w->r, &w->d, &j);
	explain_openclaw_text(&w->c, &w->r, &w->d, &p.openclaw_text);
	return p;
}

static void printed_done(struct printed *p)
{
	buf_done(&p->text);
	buf_done(&p->json);
	buf_done(&p->openclaw);
	buf_done(&p->openclaw_text);
}
#define PRINTED(name, ...)                                           \
	__attribute__((cleanup(printed_done))) struct printed name = \
		print(w, &(struct explain_opts){ __VA_ARGS__ })

static bool has(const struct buf *b, const char *part)
{
	return b->p && strstr(b->p, part);
}

TEST(explain_no_printer_shows_the_value_of_a_variable)
{
	static const struct env_var vars[] = {
		{ .name = STR("PLAIN"), .kind = ENV_LITERAL, .value = STR("literal-value") },
		{ .name = STR("GH_TOKEN"), .kind = ENV_SECRET, .value = STR("${GH_TOKEN}") },
	};
	WORLD(w);

	w->c.base.env_set = (struct env_vars){ .v = vars, .n = 2 };
	w->c.base.when = WHEN_ALL;
	w->r.argv = KEEP(w, STR("true"));
	assert_int_equal(ask_for(w, "agent:main:main", "exec"), VERDICT_ALLOW);
	{
		PRINTED(p, .verbose = true);

		assert_true(has(&p.text, "PLAIN"));
		assert_true(has(&p.json, "\"PLAIN\":\"set\""));
		for (size_t i = 0; i < 4; i++) {
			const struct buf *all[] = { &p.text, &p.json, &p.openclaw, &p.openclaw_text };

			assert_false(has(all[i], "literal-value"));
		}
	}
}

TEST(explain_shows_what_is_written_in_place_of_what_the_environment_had)
{
	WORLD(w);

	w->c.base.when = WHEN_ALL;
	w->c.base.image = STR("from-the-environment:1");
	w->c.base.has[OPT_IMAGE] = true;
	w->c.base.origin[OPT_IMAGE] = (struct origin){ .kind = ORIGIN_FILE,
						       .name = STR("openclaw.json"),
						       .line = 3,
						       .col = 4,
						       .raw = STR("${IMAGE}:1") };
	w->r.facts.backends = 1u << BACKEND_DOCKER;
	w->r.argv = KEEP(w, STR("true"));
	assert_int_equal(ask_for(w, "agent:main:main", "exec"), VERDICT_ALLOW);
	{
		PRINTED(p, .verbose = true);

		assert_true(has(&p.json, "${IMAGE}:1"));
		assert_false(has(&p.json, "from-the-environment"));
		assert_false(has(&p.text, "from-the-environment"));
	}
}

TEST(explain_text_from_outside_cannot_move_the_cursor)
{
	WORLD(w);

	assert_int_equal(ask_for(w, "agent:main:main", "\033[31mred"), VERDICT_DENY);
	{
		PRINTED(p, .verbose = true);

		assert_false(has(&p.text, "\033"));
		assert_false(has(&p.json, "\033"));
	}
}

TEST(explain_uses_colours_only_when_told_to)
{
	WORLD(w);

	assert_int_equal(ask_for(w, "agent:main:main", "read"), VERDICT_ALLOW);
	{
		PRINTED(plain, .verbose = true);
		PRINTED(coloured, .colour = true);

		assert_false(has(&plain.text, "\033"));
		assert_true(has(&coloured.text, "\033[1;32mALLOW\033[0m"));
		assert_false(has(&coloured.json, "\033"));
	}
}

TEST(explain_a_verdict_that_needs_a_person_has_no_code)
{
	WORLD(w);

	w->c.base.exec_mode = EXEC_MODE_ASK;
	w->r.argv = KEEP(w, STR("true"));
	assert_int_equal(ask_for(w, "agent:main:main", "exec"), VERDICT_ASK);
	{
		PRINTED(p, .colour = true);

		assert_true(has(&p.text, "\033[1;33mASK\033[0m\n"));
		assert_true(has(&p.json, "\"verdict\":\"ASK\""));
	}
}

TEST(explain_a_record_that_was_never_filled_reads_as_a_refusal)
{
	WORLD(w);
	PRINTED(p, .verbose = true);

	assert_true(has(&p.text, "DENY undecided"));
	assert_true(has(&p.json, "\"verdict\":\"DENY\",\"code\":\"undecided\""));
	assert_true(has(&p.json, "\"mode\":null"));
}

TEST(explain_hosts_are_listed_where_there_is_a_list)
{
	WORLD(w);

	w->c.base.when = WHEN_ALL;
	w->c.base.route_exec = KEEP(w, STR("npm"));
	w->c.base.route_hosts = KEEP(w, STR("packages.example"));
	w->c.base.has[OPT_ROUTE_EXEC] = w->c.base.has[OPT_ROUTE_HOSTS] = true;
	w->r.argv = KEEP(w, STR("npm"), STR("ci"));
	assert_int_equal(ask_for(w, "agent:main:main", "exec"), VERDICT_ALLOW);
	{
		PRINTED(p, .verbose = false);

		assert_true(has(&p.text, "hosts=packages.example"));
		assert_true(has(&p.json, "\"hosts\":[\"packages.example\"]"));
	}
}

TEST(explain_assumptions_are_part_of_the_answer)
{
	WORLD(w);

	assert_int_equal(ask_for(w, "agent:main:main", "read"), VERDICT_ALLOW);
	{
		PRINTED(p, .assumed = STR("native,docker"), .assumed_token = true);
		PRINTED(none, .assumed = STR("none"));
		PRINTED(silent, .verbose = false);

		assert_true(has(&p.text, "native,docker (nothing was probed)"));
		assert_true(has(&p.text, "the caller has a valid token"));
		assert_true(
			has(&p.json, "\"assumed\":{\"backends\":[\"native\",\"docker\"],\"token\":true}"));
		assert_true(has(&none.json, "\"assumed\":{\"backends\":[],\"token\":false}"));
		assert_false(has(&silent.json, "assumed"));
	}
}

TEST(explain_matrix_takes_patterns_that_a_plain_sample_does_not_match)
{
	static struct trust_rule rules[] = {
		{ .match = STR("[ab]:*"),
		  .trust = TRUST_LIGHT }, /* no sample by putting x for every wildcard */
		{ .match = STR("c:?"), .trust = TRUST_LIGHT },
	};
	_cleanup_buf_ struct buf out = { 0 };
	WORLD(w);

	w->c.rules = rules;
	w->c.n_rules = 2;
	w->r.tool = STR("read");
	buf_init(&out, 1 << 20);
	assert_int_equal(explain_matrix(&w->c, &w->r, &w->a, false, &out, &w->e), 0);
	assert_true(has(&out, "\nc:x "));
	assert_false(has(&out, "[ab]"));
}

TEST(explain_matrix_without_memory_is_an_error)
{
	_cleanup_buf_ struct buf out = { 0 };
	WORLD(w);

	buf_init(&out, 1 << 20);
	w->a.max_bytes = w->a.used_bytes;
	w->a.next = w->a.end;
	assert_true(explain_matrix(&w->c, &w->r, &w->a, true, &out, &w->e) < 0);
	assert_int_equal(w->e.kind, ERR_LIMIT);
}

TEST_MAIN()
