/* SPDX-License-Identifier: Apache-2.0 */
/* What no plan is made of, and what is not read as one. */
#include "plan_world.h"

static void check_refused(struct world *w, enum err_kind kind, const char *words)
{
	assert_true(plan_build(&w->p, &w->bytes, &w->e) < 0);
	CHECK_CASE(w->e.kind == kind, "%s: %s", err_kind_name(w->e.kind), w->e.msg);
	CHECK_CASE(strstr(w->e.msg, words), "'%s' does not say '%s'", w->e.msg, words);
	assert_int_equal(w->bytes.n, 0); /* and nothing is left that could be taken for one */
}

TEST(plan_refuses_a_nul_byte_wherever_it_stands)
{
	const struct str nul = { .p = "a\0b", .n = 3 }, path = { .p = "/a\0b", .n = 4 };

	for (int where = 0; where < 9; where++) {
		WORLD(w);
		struct str *const places[] = { &w.argv[0],         &w.argv[2],  &w.env[1],
					       &w.p.path,          &w.p.cwd,    &w.mounts[0].source.path,
					       &w.mounts[3].upper, &w.links[1], &w.mounts[1].target };

		*places[where] = where == 8 ? path : nul;
		check_refused(&w, ERR_USAGE, "NUL byte");
	}
}

TEST(plan_refuses_an_empty_command)
{
	WORLD(w);

	w.p.argv.n = 0;
	check_refused(&w, ERR_USAGE, "no command");
}

TEST(plan_that_serves_takes_no_command_environment_or_terminal)
{
	for (int i = 0; i < 3; i++) {
		WORLD(w);

		w.p.serve = true;
		w.p.argv.n = i == 0;
		w.p.env.n = i == 1;
		w.p.tty.streams = i == 2;
		check_refused(&w, ERR_USAGE, "come with each call");
	}
}

TEST(plan_refuses_a_hundred_thousand_arguments_and_takes_what_it_promises)
{
	struct str *many = calloc(100000, sizeof(*many));
	_cleanup_free_ void *owner = many;
	WORLD(w);

	assert_non_null(owner);
	for (size_t i = 0; i < 100000; i++)
		many[i] = STR("x");
	w.p.argv = (struct strs){ .v = many, .n = 100000 };
	check_refused(&w, ERR_LIMIT, "100000 arguments");
	w.p.argv.n = PLAN_MAX_ARGS + 1;
	check_refused(&w, ERR_LIMIT, "at most 65536");
	w.p.argv.n = PLAN_MAX_ARGS;
	world_build(&w);
	assert_int_equal(w.v.head.argc, PLAN_MAX_ARGS);
	CHECK_STR(plan_arg(&w.v, PLAN_MAX_ARGS - 1), STR("x"));
}

TEST(plan_refuses_too_many_variables)
{
	struct str *many = calloc(PLAN_MAX_ARGS + 1, sizeof(*many));
	_cleanup_free_ void *owner = many;
	WORLD(w);

	assert_non_null(owner);
	for (size_t i = 0; i <= PLAN_MAX_ARGS; i++)
		many[i] = STR("A=");
	w.p.env = (struct strs){ .v = many, .n = PLAN_MAX_ARGS + 1 };
	check_refused(&w, ERR_LIMIT, "65537 variables");
}

/* Every length of the environment around the maximum: too big is refused, and never loops or cuts. */
TEST(plan_refuses_more_bytes_than_it_can_hold)
{
	_cleanup_free_ char *big = malloc((size_t)5 << 20);
	bool fit = false, refused = false;

	assert_non_null(big);
	memset(big, 'x', (size_t)5 << 20);
	for (size_t n = PLAN_MAX_BYTES - 20000; n < PLAN_MAX_BYTES + 20; n += 997) {
		WORLD(w);

		w.env[0] = (struct str){ .p = big, .n = n };
		if (plan_build(&w.p, &w.bytes, &w.e) == 0) {
			assert_false(refused);
			fit = true;
			assert_int_equal(plan_open(buf_str(&w.bytes), &w.v), 0);
			assert_int_equal(plan_env(&w.v, 0).n, n);
			continue;
		}
		refused = true;
		assert_int_equal(w.e.kind, ERR_LIMIT);
		assert_non_null(strstr(w.e.msg, "larger than 4194304 bytes"));
	}
	assert_true(fit && refused);
}

TEST(plan_refuses_a_buffer_that_is_too_small_for_it)
{
	WORLD(whole);

	world_build(&whole);
	for (size_t max = 0; max < whole.bytes.n; max += 173) {
		WORLD(w);

		w.bytes.max_bytes = max;
		assert_true(plan_build(&w.p, &w.bytes, &w.e) < 0);
		assert_int_equal(w.e.kind, ERR_LIMIT);
	}
}

TEST(plan_refuses_more_steps_than_it_can_hold)
{
	static struct profile_mount many[600];
	static char names[600][8];
	WORLD(w);

	for (size_t i = 0; i < LEN(many); i++) {
		(void)snprintf(names[i], sizeof(names[i]), "/t%zu", i);
		many[i] = (struct profile_mount){ .target = str_z(names[i]), .size = 1 };
	}
	w.p.mounts = many;
	w.p.n_mounts = LEN(many);
	check_refused(&w, ERR_LIMIT, "more than 512 steps");
	w.p.n_mounts = 200; /* two steps each: a mount and a rule */
	world_build(&w);
}

TEST(plan_refuses_targets_that_a_wall_stands_on)
{
	static const char *const bad[] = {
		"/proc", "/proc/sys", "/dev", "/dev/shm", "/sys", "/sys/fs/cgroup"
	};

	for (size_t i = 0; i < LEN(bad); i++) {
		WORLD(w);

		w.mounts[1].target = str_z(bad[i]);
		check_refused(&w, ERR_DENIED, "a wall stands there");
		w.mounts[1].target = STR("/fine");
		w.root_targets[0] = str_z(bad[i]);
		check_refused(&w, ERR_DENIED, bad[i]);
	}
}

TEST(plan_refuses_targets_that_are_not_plain_paths)
{
	static const char *const bad[] = {
		"",       "/",       "x",   "x/y", "//",    "/a//b", "/a/",
		"/a/./b", "/a/../b", "/..", "/.",  "/a/..", "./a",   "/workspace/"
	};
	static const char *const good[] = { "/a", "/a/b", "/...", "/a/..b", "/procs", "/device", "/.hidden" };

	for (size_t i = 0; i < LEN(bad); i++) {
		WORLD(w);

		w.mounts[1].target = str_z(bad[i]);
		check_refused(&w, ERR_USAGE, "plain absolute path");
	}
	for (size_t i = 0; i < LEN(good); i++) {
		WORLD(w);

		w.mounts[1].target = str_z(good[i]);
		world_build(&w);
	}
}

/* ---- reading ---- */

TEST(plan_cut_anywhere_is_no_plan)
{
	WORLD(w);
	struct plan_view v;

	world_build(&w);
	for (size_t n = 0; n < w.bytes.n; n++) {
		/* a copy of exactly that length, so that a sanitizer sees a look beyond it */
		_cleanup_free_ char *cut = malloc(n + 1);

		memcpy(cut, w.bytes.p, n);
		assert_int_equal(plan_open((struct str){ .p = cut, .n = n }, &v), -EINVAL);
	}
}

TEST(plan_that_points_outside_itself_is_no_plan)
{
	static const size_t fields[] = {
		offsetof(struct plan_header, magic),     offsetof(struct plan_header, version),
		offsetof(struct plan_header, size),      offsetof(struct plan_header, n_steps),
		offsetof(struct plan_header, steps),     offsetof(struct plan_header, strings),
		offsetof(struct plan_header, n_strings), offsetof(struct plan_header, argv),
		offsetof(struct plan_header, argc),      offsetof(struct plan_header, env),
		offsetof(struct plan_header, envc),      offsetof(struct plan_header, path),
	};
	static const uint32_t wrong[] = { UINT32_MAX, UINT32_MAX - 7, 1u << 31, PLAN_MAX_BYTES };
	WORLD(w);
	struct plan_view v;

	world_build(&w);
	for (size_t f = 0; f < LEN(fields); f++)
		for (size_t i = 0; i < LEN(wrong); i++) {
			uint32_t old;

			memcpy(&old, w.bytes.p + fields[f], 4);
			memcpy(w.bytes.p + fields[f], &wrong[i], 4);
			CHECK_CASE(plan_open(buf_str(&w.bytes), &v) == -EINVAL, "field at %zu = %#x",
				   fields[f], wrong[i]);
			memcpy(w.bytes.p + fields[f], &old, 4);
		}
	assert_int_equal(plan_open(buf_str(&w.bytes), &v), 0);
}

static void check_bad_step(struct world *w, enum step_kind kind, void (*spoil)(struct step *s))
{
	int i = find_step(&w->v, 0, kind, NULL);
	char *at = w->bytes.p + w->v.head.steps + (size_t)i * sizeof(struct step);
	struct step old, s;
	struct plan_view v;

	assert_true(i >= 0);
	memcpy(&old, at, sizeof(old));
	s = old;
	spoil(&s);
	memcpy(at, &s, sizeof(s));
	assert_int_equal(plan_open(buf_str(&w->bytes), &v), -EINVAL);
	memcpy(at, &old, sizeof(old));
	assert_int_equal(plan_open(buf_str(&w->bytes), &v), 0);
}

static void spoil_kind(struct step *s)
{
	s->kind = STEP_COUNT_;
}
static void spoil_none(struct step *s)
{
	s->kind = STEP_NONE;
}
static void spoil_a(struct step *s)
{
	s->a = UINT32_MAX;
}
static void spoil_b(struct step *s)
{
	s->b = 1u << 30;
}
static void spoil_length(struct step *s)
{
	s->y = UINT64_MAX;
}
static void spoil_count(struct step *s)
{
	s->x = UINT64_MAX / 8 + 1; /* times eight is eight */
}
static void spoil_port(struct step *s)
{
	s->x = 65536;
}
static void spoil_no_port(struct step *s)
{
	s->x = 0;
}
static void spoil_align(struct step *s)
{
	s->b += 4;
}

TEST(plan_step_that_points_outside_is_no_step)
{
	WORLD(w);

	w.p.tty.streams = 7;
	w.p.proxy_port = 3128;
	world_build(&w);
	check_bad_step(&w, STEP_LISTEN, spoil_port);
	check_bad_step(&w, STEP_LISTEN, spoil_no_port);
	check_bad_step(&w, STEP_TTY, spoil_b);
	check_bad_step(&w, STEP_TTY, spoil_length);
	check_bad_step(&w, STEP_BIND, spoil_kind);
	check_bad_step(&w, STEP_BIND, spoil_none);
	check_bad_step(&w, STEP_BIND, spoil_a);
	check_bad_step(&w, STEP_BIND, spoil_b);
	check_bad_step(&w, STEP_FILE, spoil_length);
	check_bad_step(&w, STEP_SECCOMP, spoil_count);
	check_bad_step(&w, STEP_SECCOMP, spoil_align);
}

TEST(plan_strings_out_of_range_are_empty)
{
	WORLD(w);

	world_build(&w);
	assert_int_equal(plan_text(&w.v, UINT32_MAX).n, 0);
	assert_null(plan_bytes(&w.v, 0, (uint64_t)w.v.head.n_strings + 1).p);
	assert_int_equal(plan_text_after(&w.v, plan_text(&w.v, w.v.head.n_strings - 1)).n, 0);
}

TEST_MAIN()
