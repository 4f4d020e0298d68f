/* SPDX-License-Identifier: Apache-2.0 */
#include "walls.h"

#define GROUP "agent:main:telegram:group:1"

static void sandbox_all(void)
{
	walls_reset();
	SAY(WHEN, when, WHEN_ALL);
}

static uint64_t timeout_for(uint64_t asked)
{
	w.r.has_timeout = true;
	w.r.timeout_s = asked;
	CHECK_OK(ask(GROUP, "exec"));
	return w.d.limits.timeout_s;
}

TEST(the_timeout_is_the_configured_one_unless_the_caller_asks)
{
	sandbox_all();
	CHECK_OK(ask(GROUP, "exec"));
	assert_int_equal(w.d.limits.timeout_s, 30);
	assert_int_equal(timeout_for(120), 120);
}

TEST(a_caller_s_timeout_is_clamped_and_told)
{
	sandbox_all();
	SAY(TIMEOUT_MAX_S, timeout_max_s, 600);
	assert_int_equal(timeout_for(100000), 600);
	assert_true(has_reason(&w.d, STAGE_LIMITS, "100000 was asked for, 1..600 is allowed"));
	assert_int_equal(timeout_for(0), 1);
}

TEST(a_configured_timeout_above_the_maximum_is_clamped_too)
{
	sandbox_all();
	SAY(TIMEOUT_S, timeout_s, 900);
	SAY(TIMEOUT_MAX_S, timeout_max_s, 60);
	CHECK_OK(ask(GROUP, "exec"));
	assert_int_equal(w.d.limits.timeout_s, 60);
}

TEST(c25_tier1_commands_have_1_to_60_seconds)
{
	sandbox_all();
	SAY(PROFILE, profile, PROFILE_TIER1);
	SAY(TIMEOUT_S, timeout_s, 10);
	CHECK_OK(ask_argv(GROUP, "python3 x"));
	assert_int_equal(w.d.limits.timeout_s, 10);
	assert_int_equal(timeout_for(61), 60);
	assert_int_equal(timeout_for(45), 45);
}

TEST(s2_the_file_tools_of_tier1_have_one_timeout_whatever_the_caller_says)
{
	sandbox_all();
	SAY(PROFILE, profile, PROFILE_TIER1);
	SAY(TIMEOUT_S, timeout_s, 10);
	w.r.has_timeout = true;
	w.r.timeout_s = 55;
	CHECK_OK(ask(GROUP, "file_read"));
	assert_int_equal(w.d.limits.timeout_s, 10);
}

TEST(a_rule_may_set_limits)
{
	struct trust_rule *r;

	walls_reset();
	r = walls_rule("untrusted:*", TRUST_DOCKER);
	SAY_IN(r->over, TIMEOUT_S, timeout_s, 7);
	SAY_IN(r->over, PIDS, pids, 9);
	CHECK_OK(ask("untrusted:x", "exec"));
	assert_int_equal(w.d.limits.timeout_s, 7);
	assert_int_equal(w.d.limits.pids, 9);
}

TEST(every_limit_of_the_configuration_arrives)
{
	sandbox_all();
	SAY(READ_BYTES, read_bytes, 5000);
	SAY(READ_MAX, read_max, 4000);
	SAY(CPUS, cpus, 2.5);
	CHECK_OK(ask(GROUP, "exec"));
	assert_int_equal(w.d.limits.stdout_max, 80000);
	assert_int_equal(w.d.limits.stderr_max, 80000);
	assert_int_equal(w.d.limits.read_bytes, 4000);
	assert_int_equal(w.d.limits.read_max, 4000);
	assert_int_equal(w.d.limits.write_max, 2000000);
	assert_int_equal(w.d.limits.memory, 512 << 20);
	assert_int_equal(w.d.limits.tmpfs, 256 << 20);
	assert_int_equal(w.d.limits.open_files, 1024);
	assert_true(w.d.limits.cpus > 2.4 && w.d.limits.cpus < 2.6);
}

TEST(o04_no_wall_is_optional_unless_it_is_named)
{
	static const struct str named[] = { STR("landlock"), STR("limits") };

	sandbox_all();
	CHECK_OK(ask(GROUP, "exec"));
	assert_int_equal(w.d.optional_walls, 0);
	sandbox_all();
	SAY(WALLS_OPTIONAL, walls_optional, ((struct strs){ named, 2 }));
	CHECK_OK(ask(GROUP, "exec"));
	assert_int_equal(w.d.optional_walls, 1u << WALL_LANDLOCK | 1u << WALL_LIMITS);
}

TEST(a_limit_of_zero_is_refused_because_it_would_mean_none)
{
	sandbox_all();
	w.c.base.pids = 0;
	CHECK_CODE(ask(GROUP, "exec"), CODE_LIMIT_INVALID);
	sandbox_all();
	w.c.base.memory = 0;
	CHECK_CODE(ask(GROUP, "exec"), CODE_LIMIT_INVALID);
	sandbox_all();
	w.c.base.cpus = 0;
	CHECK_CODE(ask(GROUP, "exec"), CODE_LIMIT_INVALID);
	sandbox_all();
	w.c.base.timeout_max_s = 0;
	CHECK_CODE(ask(GROUP, "exec"), CODE_LIMIT_INVALID);
}

/* --- setup --- */

static void setup(const char *command)
{
	sandbox_all();
	SAY(SETUP_COMMAND, setup_command, str_z(command));
}

TEST(s1_39_setup_runs_in_a_sandbox_that_outlives_the_call)
{
	setup("echo ready");
	CHECK_OK(ask(GROUP, "exec"));
	assert_true(w.d.limits.run_setup);
	setup("  ");
	CHECK_OK(ask(GROUP, "exec"));
	assert_false(w.d.limits.run_setup);
	setup("echo ready");
	SAY(PROFILE, profile, PROFILE_TIER1);
	CHECK_OK(ask_argv(GROUP, "python3 x"));
	assert_false(w.d.limits.run_setup);
	walls_reset();
	SAY(SETUP_COMMAND, setup_command, STR("echo"));
	CHECK_OK(ask("agent:main:main", "exec"));
	assert_false(w.d.limits.run_setup);
}

TEST(s1_40_a_package_install_needs_root)
{
	setup("apt-get update && apt-get install -y python3");
	SAY(READONLY_ROOT, readonly_root, false);
	SAY(NET_PRIMARY, net_primary, STR("bridge"));
	CHECK_OK(ask(GROUP, "exec"));
	assert_true(has_warning(&w.d, "setup_needs_root"));
	assert_false(has_warning(&w.d, "setup_readonly_root"));
	assert_false(has_warning(&w.d, "setup_no_network"));
	SAY(USER, user, STR("1000:1000"));
	CHECK_OK(ask(GROUP, "exec"));
	assert_true(has_warning(&w.d, "setup_needs_root"));
	SAY(USER, user, STR("0:0"));
	CHECK_OK(ask(GROUP, "exec"));
	assert_false(has_warning(&w.d, "setup_needs_root"));
	SAY(USER, user, STR("root"));
	CHECK_OK(ask(GROUP, "exec"));
	assert_false(has_warning(&w.d, "setup_needs_root"));
}

TEST(s1_41_writes_in_setup_need_a_writable_root)
{
	setup("mkdir -p /opt/x");
	CHECK_OK(ask(GROUP, "exec"));
	assert_true(has_warning(&w.d, "setup_readonly_root"));
	assert_false(has_warning(&w.d, "setup_needs_root"));
	SAY(READONLY_ROOT, readonly_root, false);
	CHECK_OK(ask(GROUP, "exec"));
	assert_false(has_warning(&w.d, "setup_readonly_root"));
	setup("echo captain aptly");
	CHECK_OK(ask(GROUP, "exec"));
	assert_int_equal(w.d.n_warnings, 0);
}

TEST(s1_31_a_package_install_without_network_is_told)
{
	setup("apk add git");
	CHECK_OK(ask(GROUP, "exec"));
	assert_true(has_warning(&w.d, "setup_no_network"));
}

TEST_MAIN()
