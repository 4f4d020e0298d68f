/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says, and in which order: the order is the security argument. */
#include "plan_world.h"

#include "sandbox/filter.h"

#include <linux/sched.h>
#include <sys/resource.h>

/* ---- pure ---- */

TEST(plan_is_the_same_bytes_for_the_same_profile)
{
	WORLD(a);
	WORLD(b);

	world_build(&a);
	b.p.argv.v = (const struct str[]){ STR("sh"), STR("-c"), STR("echo") }; /* equal, elsewhere */
	world_build(&b);
	assert_int_equal(a.bytes.n, b.bytes.n);
	assert_memory_equal(a.bytes.p, b.bytes.p, a.bytes.n);
}

TEST(plan_is_appended_and_stands_on_its_own)
{
	WORLD(w);
	struct str bytes;

	buf_puts(&w.bytes, "before");
	assert_int_equal(plan_build(&w.p, &w.bytes, &w.e), 0);
	bytes = str_from(buf_str(&w.bytes), 6);
	assert_int_equal(plan_open(bytes, &w.v), 0);
}

TEST(plan_carries_command_environment_and_users)
{
	WORLD(w);

	world_build(&w);
	assert_int_equal(w.v.head.argc, 3);
	CHECK_STR(plan_arg(&w.v, 0), STR("sh"));
	CHECK_STR(plan_arg(&w.v, 2), STR("echo"));
	assert_int_equal(w.v.head.envc, 2);
	CHECK_STR(plan_env(&w.v, 1), STR("SECRET=hunter2"));
	CHECK_STR(plan_text(&w.v, w.v.head.path), STR("/usr/bin:/bin"));
	assert_int_equal(w.v.head.outer_uid, 501);
	assert_int_equal(w.v.head.outer_gid, 502);
	assert_int_equal(w.v.head.inner_uid, 1000);
	assert_int_equal(w.v.head.inner_gid, 1001);
	assert_int_equal(w.v.head.timeout_ms, 5000);
	assert_int_equal(w.v.head.grace_ms, 200);
	assert_int_equal(w.v.head.flags, 0);
	assert_int_equal(w.v.head.crash_at, 0);
}

TEST(plan_without_a_search_path_takes_the_command_as_it_is)
{
	WORLD(w);

	w.p.path = STR("");
	world_build(&w);
	assert_int_equal(w.v.head.path, 0);
}

TEST(plan_always_asks_for_every_namespace)
{
	const uint32_t all = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
			     CLONE_NEWUTS | CLONE_NEWCGROUP;
	WORLD(w);

	world_build(&w);
	assert_int_equal(w.v.head.ns_flags, all);
}

TEST(plan_asks_for_every_probe_that_can_be_tried)
{
	WORLD(w);

	world_build(&w);
	for (unsigned i = 0; i < PROBE_COUNT_; i++) {
		bool told = i == PROBE_NO_TTY || i == PROBE_LANDLOCK_ON;

		CHECK_CASE((w.v.head.probes >> i & 1) == !told, "%s", probe_name(i));
	}
	assert_int_equal(w.v.head.probes >> PROBE_COUNT_, 0);
}

/* ---- order ---- */

static bool builds_the_tree(uint32_t kind)
{
	return kind >= STEP_ROOT && kind <= STEP_DEVPTS;
}

TEST(plan_builds_the_tree_then_seals_it_then_leaves_the_host)
{
	WORLD(w);
	int seal, pivot;

	world_build(&w);
	seal = find_step(&w.v, 0, STEP_SEAL, NULL);
	pivot = find_step(&w.v, 0, STEP_PIVOT, NULL);
	assert_int_equal(plan_step(&w.v, 0).kind, STEP_ROOT);
	assert_int_equal(pivot, seal + 1);
	for (uint32_t i = 0; i < w.v.head.n_steps; i++) {
		uint32_t kind = plan_step(&w.v, i).kind;

		CHECK_CASE(builds_the_tree(kind) == ((int)i < seal), "step %u, %s", i, step_name(kind));
		assert_int_not_equal(kind, STEP_NONE);
	}
}

/* Kinds that appear once, in the order in which they must appear. */
static const enum step_kind order[] = {
	STEP_ROOT,     STEP_DEVPTS,  STEP_PROC,  STEP_SEAL,         STEP_PIVOT,    STEP_TTY,
	STEP_HOSTNAME, STEP_KEYRING, STEP_CHDIR, STEP_NO_NEW_PRIVS, STEP_LANDLOCK, STEP_LANDLOCK_SELF,
	STEP_NET,      STEP_LISTEN,  STEP_CAPS,  STEP_SECCOMP,
};

TEST(plan_takes_its_walls_in_the_one_right_order)
{
	WORLD(w);
	int last = -1;

	w.p.tty.streams = 7;
	w.p.proxy_port = 3128;
	world_build(&w);
	for (size_t i = 0; i < LEN(order); i++) {
		int at = find_step(&w.v, 0, order[i], NULL);

		CHECK_CASE(at > last, "%s comes too early", step_name(order[i]));
		CHECK_CASE(find_step(&w.v, at + 1, order[i], NULL) < 0, "%s comes twice",
			   step_name(order[i]));
		last = at;
	}
	assert_int_equal(last, w.v.head.n_steps - 1); /* the filter binds the warden too, so it is the last */
}

TEST(plan_sets_limits_before_capabilities_go_and_rules_between_open_and_enter)
{
	WORLD(w);
	int open, enter, caps;

	world_build(&w);
	open = find_step(&w.v, 0, STEP_LANDLOCK, NULL);
	enter = find_step(&w.v, 0, STEP_LANDLOCK_SELF, NULL);
	caps = find_step(&w.v, 0, STEP_CAPS, NULL);
	for (int i = 0; i < (int)w.v.head.n_steps; i++) {
		uint32_t kind = plan_step(&w.v, (uint32_t)i).kind;

		if (kind == STEP_LANDLOCK_RULE)
			assert_true(i > open && i < enter);
		if (kind == STEP_RLIMIT)
			assert_true(i < caps);
	}
}

TEST(plan_listens_for_a_proxy_only_when_asked)
{
	WORLD(w);
	WORLD(other);

	world_build(&w);
	assert_int_equal(find_step(&w.v, 0, STEP_LISTEN, NULL), -1);
	other.p.proxy_port = 3128;
	world_build(&other);
	assert_int_equal(plan_step(&other.v, (uint32_t)find_step(&other.v, 0, STEP_LISTEN, NULL)).x, 3128);
}

TEST(plan_has_a_terminal_only_when_asked)
{
	WORLD(w);

	world_build(&w);
	assert_int_equal(find_step(&w.v, 0, STEP_TTY, NULL), -1);
	assert_false(w.v.head.flags & PLAN_F_TTY);
}

TEST(plan_says_which_streams_are_the_terminal_and_how_it_is_born)
{
	static const char modes[TTY_MODES_BYTES] = "as the kernel has them";
	WORLD(w);
	struct step s;
	int at;

	w.p.tty = (struct profile_tty){
		.streams = 5, .rows = 24, .columns = 80, .modes = { modes, sizeof(modes) }
	};
	world_build(&w);
	at = find_step(&w.v, 0, STEP_TTY, NULL);
	assert_true(at > 0 && w.v.head.flags & PLAN_F_TTY);
	s = plan_step(&w.v, (uint32_t)at);
	assert_int_equal(s.flags, 5);
	assert_int_equal(s.x, 24 << 16 | 80);
	CHECK_STR(plan_bytes(&w.v, s.b, s.y), ((struct str){ modes, sizeof(modes) }));
}

/* ---- the tree ---- */

static bool is_made(const struct plan_view *v, uint32_t before, struct str path)
{
	for (uint32_t i = 0; i < before; i++) {
		struct step s = plan_step(v, i);

		if ((s.kind == STEP_DIR || s.kind == STEP_ROOT || s.kind == STEP_SCRATCH ||
		     s.kind == STEP_BIND || s.kind == STEP_OVERLAY || s.kind == STEP_PROC) &&
		    str_eq(plan_text(v, s.a), path))
			return true;
	}
	return false;
}

TEST(plan_makes_every_directory_before_what_lies_in_it)
{
	WORLD(w);

	world_build(&w);
	for (uint32_t i = 1; builds_the_tree(plan_step(&w.v, i).kind); i++) {
		struct step s = plan_step(&w.v, i);
		struct str path = plan_text(&w.v, s.a), head, tail;

		if (s.kind == STEP_MASK || s.kind == STEP_READONLY)
			continue; /* about what the kernel put there */
		assert_true(str_cut_last(path, '/', &head, &tail));
		CHECK_CASE(is_made(&w.v, i, head.n ? head : STR("/")), "%s '%.*s' is in the air",
			   step_name(s.kind), (int)path.n, path.p);
	}
}

TEST(plan_makes_no_directory_twice)
{
	WORLD(w);

	world_build(&w);
	(void)the_step(&w.v, STEP_DIR, "/etc");
	(void)the_step(&w.v, STEP_DIR, "/etc/ssl");
	(void)the_step(&w.v, STEP_DIR, "/mnt");
	(void)the_step(&w.v, STEP_DIR, "/mnt/a");
}

TEST(plan_has_the_links_of_a_merged_usr)
{
	WORLD(w);
	struct step s;

	world_build(&w);
	s = the_step(&w.v, STEP_LINK, "/bin");
	CHECK_STR(plan_text(&w.v, s.b), STR("usr/bin"));
	s = the_step(&w.v, STEP_LINK, "/lib64");
	CHECK_STR(plan_text(&w.v, s.b), STR("usr/lib64"));
}

TEST(plan_keeps_files_byte_for_byte)
{
	WORLD(w);
	struct step s;

	world_build(&w);
	s = the_step(&w.v, STEP_FILE, "/etc/deep/down/nul");
	CHECK_STR(plan_bytes(&w.v, s.b, s.y), ((struct str){ .p = "a\0b", .n = 3 }));
	assert_int_equal(s.x, 0644);
}

TEST(plan_masks_only_with_an_empty_file_of_its_own)
{
	WORLD(w);
	int proc, n = 0;

	world_build(&w);
	proc = find_step(&w.v, 0, STEP_PROC, "/proc");
	for (uint32_t i = 0; i < w.v.head.n_steps; i++) {
		struct step s = plan_step(&w.v, i), file;
		char name[64];

		if (s.kind != STEP_MASK)
			continue;
		n++;
		assert_true((int)i > proc);
		(void)snprintf(name, sizeof(name), STR_FMT, STR_ARG(plan_text(&w.v, s.b)));
		if (str_eq(plan_text(&w.v, s.a),
			   STR("/proc/pressure"))) { /* a directory, so by an empty one */
			assert_true(find_step(&w.v, 0, STEP_DIR, name) >= 0);
			continue;
		}
		file = the_step(&w.v, STEP_FILE, name);
		assert_int_equal(file.y, 0);
		assert_int_equal(file.x, 0444);
	}
	assert_int_equal(n, 4);
	assert_true(find_step(&w.v, proc, STEP_MASK, "/proc/pressure") > 0);
	assert_true(find_step(&w.v, proc, STEP_MASK, "/proc/kcore") > 0);
	assert_true(find_step(&w.v, proc, STEP_MASK, "/proc/keys") > 0);
	assert_true(find_step(&w.v, proc, STEP_MASK, "/proc/sysrq-trigger") > 0);
	assert_true(find_step(&w.v, proc, STEP_READONLY, "/proc/sys") > 0);
}

TEST(plan_binds_the_system_read_only_and_by_identity)
{
	WORLD(w);
	struct step s;

	world_build(&w);
	s = the_step(&w.v, STEP_BIND, "/usr");
	CHECK_STR(plan_text(&w.v, s.b), STR("/host/usr"));
	assert_int_equal(s.x, 1);
	assert_int_equal(s.y, 2);
	assert_int_equal(s.flags, STEP_F_RO | STEP_F_REC);
	for (uint32_t i = 0; i < w.v.head.n_steps; i++) {
		s = plan_step(&w.v, i);
		if (s.kind == STEP_BIND)
			assert_true(s.y != 0); /* 0 would mean: take whatever has the name */
	}
}

TEST(plan_gives_each_mount_what_it_was_granted)
{
	static const struct {
		const char *target;
		uint32_t flags;
	} cases[] = {
		{ "/workspace", STEP_F_REC | STEP_F_IDMAP },
		{ "/mnt/a/b/data", STEP_F_REC | STEP_F_RO },
		{ "/mnt/a/file", STEP_F_FILE },
		{ "/dev/null", STEP_F_FILE | STEP_F_DEV | STEP_F_NOEXEC },
	};
	WORLD(w);

	world_build(&w);
	for (size_t i = 0; i < LEN(cases); i++)
		CHECK_CASE(the_step(&w.v, STEP_BIND, cases[i].target).flags == cases[i].flags, "%s: %#x",
			   cases[i].target, the_step(&w.v, STEP_BIND, cases[i].target).flags);
	assert_int_equal(the_step(&w.v, STEP_SCRATCH, "/tmp").x, 4096);
	assert_int_equal(the_step(&w.v, STEP_SCRATCH, "/tmp").y, 01777);
	assert_int_equal(the_step(&w.v, STEP_SCRATCH, "/dev/shm").x, 65536);
}

TEST(plan_names_the_three_layers_of_an_overlay_in_a_row)
{
	WORLD(w);
	struct str lower, upper;

	world_build(&w);
	lower = plan_text(&w.v, the_step(&w.v, STEP_OVERLAY, "/overlaid").b);
	upper = plan_text_after(&w.v, lower);
	CHECK_STR(lower, STR("/srv/src"));
	CHECK_STR(upper, STR("/state/upper"));
	CHECK_STR(plan_text_after(&w.v, upper), STR("/state/work"));
	assert_int_equal(the_step(&w.v, STEP_OVERLAY, "/overlaid").y, 12);
}

TEST(plan_shows_what_is_only_read_as_an_overlay_with_nothing_above)
{
	WORLD(w);
	struct step s;

	w.mounts[1].sealed = true;
	world_build(&w);
	assert_true(find_step(&w.v, 0, STEP_BIND, "/mnt/a/b/data") < 0);
	s = the_step(&w.v, STEP_SEALED, "/mnt/a/b/data");
	CHECK_STR(plan_text(&w.v, s.b), STR("/srv/data"));
	CHECK_STR(plan_text_after(&w.v, plan_text(&w.v, s.b)), STR("/dev/.nothing"));
	assert_int_equal(s.x, 8);
	assert_int_equal(s.y, 10);
	assert_int_equal(s.flags, STEP_F_RO);
	assert_true(find_step(&w.v, 0, STEP_DIR, "/dev/.nothing") > 0);
}

TEST(plan_covers_sockets_by_identity_and_after_every_mount)
{
	static const struct source masks[] = { { STR("/workspace/s"), 8, 99, true, false } };
	WORLD(w);
	struct step s;
	int at;

	w.p.masks = masks;
	w.p.n_masks = 1;
	world_build(&w);
	at = find_step(&w.v, 0, STEP_MASK, "/workspace/s");
	assert_true(at > find_step(&w.v, 0, STEP_SCRATCH, "/home/sandbox"));
	assert_true(at < find_step(&w.v, 0, STEP_SEAL, "/"));
	s = plan_step(&w.v, (uint32_t)at);
	CHECK_STR(plan_text(&w.v, s.b), STR("/dev/.covered"));
	assert_int_equal(s.x, 8);
	assert_int_equal(s.y, 99);
	assert_int_equal(s.flags, 0); /* one that has gone is a reason to stop */
	assert_int_equal(the_step(&w.v, STEP_FILE, "/dev/.covered").y, 0);
}

/* ---- the other walls ---- */

TEST(plan_lets_landlock_write_where_a_mount_is_writable_and_nowhere_else)
{
	static const struct {
		const char *path;
		uint64_t rights;
	} rules[] = {
		{ "/", LL_READ },
		{ "/dev", LL_READ | LL_WRITE_FILE | LL_TRUNCATE | LL_IOCTL_DEV },
		{ "/dev/shm", LL_READ | LL_WRITE },
		{ "/proc", LL_READ | LL_WRITE_FILE | LL_TRUNCATE },
		{ "/workspace", LL_READ | LL_WRITE },
		{ "/mnt/a/file", LL_READ_FILE | LL_WRITE_FILE | LL_TRUNCATE },
		{ "/overlaid", LL_READ | LL_WRITE },
		{ "/tmp", LL_READ | LL_WRITE },
		{ "/home/sandbox", LL_READ | LL_WRITE },
	};
	WORLD(w);
	size_t n = 0;

	world_build(&w);
	for (uint32_t i = 0; i < w.v.head.n_steps; i++)
		n += plan_step(&w.v, i).kind == STEP_LANDLOCK_RULE;
	assert_int_equal(n, LEN(rules));
	for (size_t i = 0; i < LEN(rules); i++)
		assert_int_equal(the_step(&w.v, STEP_LANDLOCK_RULE, rules[i].path).x, rules[i].rights);
	assert_int_equal(the_step(&w.v, STEP_LANDLOCK, NULL).x, LL_ALL);
	assert_int_equal(the_step(&w.v, STEP_LANDLOCK, NULL).y, LL_SCOPE_ABSTRACT | LL_SCOPE_SIGNAL);
}

TEST(plan_grants_no_rule_for_devices_and_sockets_of_others)
{
	WORLD(w);

	world_build(&w);
	for (uint32_t i = 0; i < w.v.head.n_steps; i++) {
		struct step s = plan_step(&w.v, i);

		if (s.kind == STEP_LANDLOCK_RULE)
			assert_int_equal(s.x & (LL_MAKE_CHAR | LL_MAKE_BLOCK), 0);
	}
}

TEST(plan_has_no_landlock_where_the_kernel_has_none)
{
	WORLD(w);

	w.p.landlock_abi = 0;
	world_build(&w);
	assert_int_equal(find_step(&w.v, 0, STEP_LANDLOCK, NULL), -1);
	assert_int_equal(find_step(&w.v, 0, STEP_LANDLOCK_RULE, NULL), -1);
	assert_int_equal(find_step(&w.v, 0, STEP_LANDLOCK_SELF, NULL), -1);
}

TEST(plan_leaves_pid_1_capabilities_only_to_change_users)
{
	WORLD(one);
	WORLD(two);

	world_build(&one);
	assert_int_equal(the_step(&one.v, STEP_CAPS, NULL).x, 0);
	two.p.two_users = true;
	two.p.warden_uid = 777;
	world_build(&two);
	assert_int_equal(the_step(&two.v, STEP_CAPS, NULL).x,
			 1 << 5 | 1 << 6 | 1 << 7); /* kill, setgid, setuid */
	assert_true(two.v.head.flags & PLAN_F_PARENT_MAPS);
	assert_int_equal(two.v.head.warden_outer_uid, 777);
}

TEST(plan_that_serves_has_no_command_and_lets_pid_1_see_every_process)
{
	WORLD(one);
	WORLD(two);

	one.p.serve = two.p.serve = two.p.two_users = true;
	one.p.argv = one.p.env = two.p.argv = two.p.env = (struct strs){ 0 };
	world_build(&one);
	world_build(&two);
	assert_true(one.v.head.flags & PLAN_F_SERVE);
	assert_int_equal(one.v.head.argc, 0);
	assert_int_equal(the_step(&one.v, STEP_CAPS, NULL).x, 1 << 19); /* ptrace */
	assert_int_equal(the_step(&two.v, STEP_CAPS, NULL).x,
			 1 << 5 | 1 << 6 | 1 << 7 | 1 << 19 | 1 << 24); /* and resource */
}

TEST(plan_sets_the_limits_of_the_profile)
{
	static const struct {
		const char *name;
		uint64_t resource, value;
	} limits[] = {
		{ "core", RLIMIT_CORE, 1 },
		{ "nofile", RLIMIT_NOFILE, 256 },
		{ "nproc", RLIMIT_NPROC, 64 },
		{ "memlock", RLIMIT_MEMLOCK, 8 << 20 },
		{ "rtprio", RLIMIT_RTPRIO, 0 },
		{ "nice", RLIMIT_NICE, 0 },
		{ "msgqueue", RLIMIT_MSGQUEUE, 819200 },
		{ "sigpending", RLIMIT_SIGPENDING, 1024 },
	};
	WORLD(w);

	world_build(&w);
	for (size_t i = 0; i < LEN(limits); i++) {
		struct step s = the_step(&w.v, STEP_RLIMIT, limits[i].name);

		assert_int_equal(s.x, limits[i].resource);
		assert_int_equal(s.y, limits[i].value);
	}
}

TEST(plan_without_a_limit_on_processes_sets_none)
{
	WORLD(w);

	w.p.pids = 0;
	world_build(&w);
	assert_int_equal(find_step(&w.v, 0, STEP_RLIMIT, "nproc"), -1);
}

TEST(plan_carries_the_filter_whole)
{
	static struct filter f;
	WORLD(w);
	struct step s;

	world_build(&w);
	s = the_step(&w.v, STEP_SECCOMP, NULL);
	assert_int_equal(filter_build(&f, &w.e), 0);
	assert_int_equal(s.x, f.n);
	assert_memory_equal(plan_bytes(&w.v, s.b, s.x * sizeof(f.insn[0])).p, f.insn,
			    f.n * sizeof(f.insn[0]));
}

TEST(plan_tells_the_warden_where_a_test_kills_it)
{
	WORLD(w);

	w.p.crash_at = 3;
	world_build(&w);
	assert_int_equal(w.v.head.flags, 0);
	assert_int_equal(w.v.head.crash_at, 3);
}

TEST_MAIN()
