/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled program against the reference, on every number, every architecture and every kind of argument. */
#include "bpf.h"

#include "sandbox/filter_numbers.h"
#include "sandbox/filter_priv.h"

#include <seccomp.h>
#include <signal.h>

#define X32 0x40000000u
#define GARBAGE (UINT64_C(0xdeadbeef) << 32) /* the kernel takes an int and does not look there */
#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Every constant that a check compares with, its neighbours, and things that are none of them. */
/* clang-format off */
static const uint64_t values[] = {
	0, 1, 2, 3, 4, 5, 6, 9, 10, 11, 14, 15, 16, 17, 31, 0x80, 0x100, 0xfff, SOCK_STREAM | SOCK_CLOEXEC, SOCK_RAW | SOCK_NONBLOCK,
	CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET | CLONE_VM, CLONE_VM | CLONE_FILES, 262,
	TIOCSTI, TIOCSTI + 1, TIOCLINUX_, TIOCSETD, TIOCGWINSZ,
	S_IFIFO | 0600, S_IFREG | 0644, S_IFSOCK, S_IFCHR | 0666, S_IFBLK, S_IFDIR,
	S_IFREG | 04755, 02755, O_CREAT | O_WRONLY, O_TMPFILE | O_RDWR, F_SETLEASE, GARBAGE | F_SETLEASE, GARBAGE | 04000,
	0x7fffffff, 0xffffffff, UINT64_MAX, GARBAGE, GARBAGE | 1, GARBAGE | TIOCSTI, GARBAGE | AF_UNIX, GARBAGE | S_IFCHR,
};
static const uint64_t pointers[] = { 0, 8, UINT64_C(1) << 32, GARBAGE | 8, 04755 };
/* clang-format on */

static const uint32_t arches[] = { AUDIT_ARCH_X86_64, AUDIT_ARCH_I386,    AUDIT_ARCH_AARCH64,
				   AUDIT_ARCH_ARM,    AUDIT_ARCH_RISCV64, 0 };

static void build(struct filter *f)
{
	struct err e = { 0 };

	assert_int_equal(filter_build(f, &e), 0);
}

static void compare(const struct filter *f, const struct seccomp_data *d, struct coverage *c)
{
	uint32_t want = filter_expect(d->arch, (uint32_t)d->nr, (const uint64_t *)d->args);
	uint32_t got = bpf_run(f, d, c);

	CHECK_CASE(got == want, "arch %#x nr %u (%#llx, %#llx, %#llx, %#llx): %#x, want %#x", d->arch,
		   (unsigned)d->nr, d->args[0], d->args[1], d->args[2], d->args[3], got, want);
}

static void compare_diagonal(const struct filter *f, uint32_t arch, uint32_t nr, struct coverage *c)
{
	for (size_t i = 0; i < LEN(values); i++) {
		struct seccomp_data d = { .nr = (int)nr, .arch = arch };

		for (size_t a = 0; a < 6; a++)
			d.args[a] = values[i];
		compare(f, &d, c);
	}
}

static void compare_product(const struct filter *f, uint32_t nr, struct coverage *c)
{
	for (size_t i = 0; i < LEN(values) * LEN(values) * LEN(values) * LEN(pointers); i++) {
		struct seccomp_data d = { .nr = (int)nr, .arch = NATIVE_ARCH };

		d.args[0] = values[i % LEN(values)];
		d.args[1] = values[i / LEN(values) % LEN(values)];
		d.args[2] = values[i / LEN(values) / LEN(values) % LEN(values)];
		d.args[3] = pointers[i / LEN(values) / LEN(values) / LEN(values)];
		compare(f, &d, c);
	}
}

static bool checked(uint32_t nr)
{
	enum filter_action a = filter_action(nr);

	return a != FILTER_ALLOW && a != FILTER_EPERM && a != FILTER_ENOSYS;
}

TEST(filter_answers_as_the_table_says_and_no_instruction_is_idle)
{
	static struct coverage c;
	static struct filter f;

	build(&f);
	for (uint32_t nr = 0; nr <= 1100; nr++)
		for (size_t a = 0; a < LEN(arches); a++) {
			compare_diagonal(&f, arches[a], nr, &c);
			compare_diagonal(&f, arches[a], nr | X32, &c);
		}
	compare_diagonal(&f, NATIVE_ARCH, UINT32_MAX, &c);
	for (uint32_t nr = 0; nr < NR_MAX; nr++)
		if (checked(nr))
			compare_product(&f, nr, &c);
	for (size_t i = 0; i < f.n; i++) {
		CHECK_CASE(c.executed[i], "instruction %zu never runs", i);
		if (bpf_is_branch(f.insn[i].code))
			CHECK_CASE(c.taken[i] && c.fell[i], "instruction %zu always goes one way", i);
	}
}

TEST(filter_is_a_tree_that_is_not_deep)
{
	static struct filter f;
	static struct coverage c;
	struct seccomp_data d = { .arch = NATIVE_ARCH };

	build(&f);
	assert_in_range(f.n, 100,
			400); /* the kernel tries the whole program for every number when it is loaded */
	for (d.nr = 0; d.nr < 600; d.nr++) {
		size_t n = 0;

		memset(&c, 0, sizeof(c));
		(void)bpf_run(&f, &d, &c);
		for (size_t i = 0; i < f.n; i++)
			n += c.executed[i];
		CHECK_CASE(n <= 24, "%zu instructions for number %d", n, d.nr);
	}
}

TEST(filter_is_the_same_every_time)
{
	static struct filter a, b;

	memset(&b, 0xff, sizeof(b));
	build(&a);
	build(&b);
	assert_int_equal(a.n, b.n);
	assert_memory_equal(a.insn, b.insn, a.n * sizeof(a.insn[0]));
}

/* ---- what the numbers mean ---- */

/* Younger than libseccomp may be. From the kernel's table; one number everywhere, but for the two of x86. */
/* clang-format off */
static const struct {
	const char *name;
	uint32_t nr;
} young[] = {
	{ "futex_waitv", 449 }, { "set_mempolicy_home_node", 450 }, { "cachestat", 451 }, { "fchmodat2", 452 },
	{ "map_shadow_stack", 453 }, { "futex_wake", 454 }, { "futex_wait", 455 }, { "futex_requeue", 456 },
	{ "lsm_get_self_attr", 459 }, { "lsm_set_self_attr", 460 }, { "lsm_list_modules", 461 }, { "mseal", 462 },
	{ "setxattrat", 463 }, { "getxattrat", 464 }, { "listxattrat", 465 }, { "removexattrat", 466 },
#if defined(__x86_64__)
	{ "uretprobe", 335 },
#endif
};

/* Known, and answered as if they were not. */
static const char *const absent[] = {
	"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "io_submit", "io_getevents", "io_pgetevents",
	"io_cancel", "io_destroy",
	"fsopen", "fsconfig", "fsmount", "fspick", "open_tree", "open_tree_attr", "move_mount", "mount_setattr",
	"openat2", "epoll_ctl_old", "epoll_wait_old", "statmount", "listmount", "file_getattr", "file_setattr", "uprobe", "listns",
};
/* clang-format on */

static uint32_t young_number(const char *name)
{
	for (size_t i = 0; i < LEN(young); i++)
		if (strcmp(young[i].name, name) == 0)
			return young[i].nr;
	return NONE;
}

static bool is_absent(const char *name)
{
	for (size_t i = 0; i < LEN(absent); i++)
		if (strcmp(absent[i], name) == 0)
			return true;
	return false;
}

TEST(filter_names_mean_what_libseccomp_says_they_mean)
{
	size_t known = 0;

	for (size_t i = 0; i < filter_n_rows; i++) {
		const struct filter_row *r = &filter_rows[i];
		int nr = seccomp_syscall_resolve_name_arch(NATIVE_ARCH, r->name);

		if (r->nr == NONE) {
			CHECK_CASE(nr < 0, "%s exists here as %d", r->name, nr);
			continue;
		}
		if (nr == __NR_SCMP_ERROR)
			nr = (int)young_number(r->name);
		else
			known++;
		CHECK_CASE(nr >= 0 && (uint32_t)nr == r->nr, "%s is %u in the table and %d elsewhere",
			   r->name, r->nr, nr);
	}
	assert_true(known > 250); /* arm64 never had the oldest ones */
}

TEST(filter_has_every_number_at_most_once)
{
	for (size_t i = 0; i < filter_n_rows; i++) {
		assert_true(filter_rows[i].action != FILTER_ENOSYS);
		assert_true(filter_rows[i].nr < NR_MAX || filter_rows[i].nr == NONE);
		for (size_t k = 0; k < i && filter_rows[i].nr != NONE; k++)
			CHECK_CASE(filter_rows[i].nr != filter_rows[k].nr, "%s and %s", filter_rows[i].name,
				   filter_rows[k].name);
	}
}

TEST(filter_forgets_no_call_that_libseccomp_knows)
{
	size_t seen = 0;

	for (int nr = 0; nr < (int)NR_MAX; nr++) {
		char *name = seccomp_syscall_resolve_num_arch(NATIVE_ARCH, nr);

		if (!name)
			continue;
		seen++;
		CHECK_CASE((filter_action((uint32_t)nr) == FILTER_ENOSYS) == is_absent(name), "%s (%d) is %s",
			   name, nr, filter_action_name(filter_action((uint32_t)nr)));
		free(name);
	}
	assert_true(seen > 300);
}

static uint32_t expect_named(const char *name, uint64_t a0, uint64_t a1, uint64_t a2)
{
	const uint64_t args[6] = { a0, a1, a2 };
	int nr = seccomp_syscall_resolve_name_arch(NATIVE_ARCH, name);

	CHECK_CASE(nr >= 0, "%s", name);
	return filter_expect(NATIVE_ARCH, (uint32_t)nr, args);
}

/* The reference is checked too, against the words of the design rather than against itself. */
TEST(filter_hides_what_programs_can_do_without)
{
	static const char *const hidden[] = {
		"clone3",    "io_uring_setup", "io_uring_enter", "io_uring_register",
		"fsopen",    "fsconfig",       "fsmount",        "fspick",
		"open_tree", "move_mount",     "mount_setattr",  "openat2"
	};

	for (size_t i = 0; i < LEN(hidden); i++)
		assert_int_equal(expect_named(hidden[i], 0, 0, 0), SECCOMP_RET_ERRNO | ENOSYS);
	for (uint32_t nr = 500; nr < 1100; nr++)
		assert_int_equal(filter_expect(NATIVE_ARCH, nr, (uint64_t[6]){ 0 }),
				 SECCOMP_RET_ERRNO | ENOSYS);
}

TEST(filter_refuses_what_reaches_the_host)
{
	static const char *const refused[] = {
		"mount",
		"umount2",
		"pivot_root",
		"chroot",
		"setns",
		"ptrace",
		"process_vm_readv",
		"process_vm_writev",
		"pidfd_getfd",
		"kcmp",
		"bpf",
		"perf_event_open",
		"userfaultfd",
		"init_module",
		"finit_module",
		"kexec_load",
		"reboot",
		"swapon",
		"acct",
		"syslog",
		"keyctl",
		"add_key",
		"request_key",
		"open_by_handle_at",
		"name_to_handle_at",
		"quotactl",
		"fanotify_init",
		"clock_settime",
		"settimeofday",
		"adjtimex",
		"sethostname",
		"setdomainname",
		"memfd_secret",
	};

	for (size_t i = 0; i < LEN(refused); i++)
		CHECK_CASE(expect_named(refused[i], 0, 0, 0) == (SECCOMP_RET_ERRNO | EPERM), "%s",
			   refused[i]);
}

TEST(filter_does_not_look_at_the_upper_half_of_an_int)
{
	assert_int_equal(expect_named("ioctl", 0, TIOCSTI, 0), RET_EPERM);
	assert_int_equal(expect_named("ioctl", 0, GARBAGE | TIOCSTI, 0), RET_EPERM);
	assert_int_equal(expect_named("ioctl", 0, GARBAGE | TIOCLINUX_, 0), RET_EPERM);
	assert_int_equal(expect_named("ioctl", GARBAGE, GARBAGE | TIOCGWINSZ, 0), RET_ALLOW);
	assert_int_equal(expect_named("socket", GARBAGE | AF_PACKET, SOCK_RAW, 0), RET_EAFNOSUPPORT);
	assert_int_equal(expect_named("unshare", GARBAGE | CLONE_NEWUSER, 0, 0), RET_EPERM);
	assert_int_equal(expect_named("clone", CLONE_NEWNET | SIGCHLD, 0, 0), RET_EPERM);
	assert_int_equal(expect_named("sched_setaffinity", GARBAGE | 1, 0, 0), RET_EPERM);
}

TEST(filter_lets_files_pipes_and_sockets_be_made_but_no_device)
{
	assert_int_equal(expect_named("mknodat", 3, 0, S_IFIFO | 0600), RET_ALLOW);
	assert_int_equal(expect_named("mknodat", 3, 0, S_IFSOCK | 0600), RET_ALLOW);
	assert_int_equal(expect_named("mknodat", 3, 0, 0644), RET_ALLOW);
	assert_int_equal(expect_named("mknodat", 3, 0, S_IFCHR | 0600),
			 RET_EPERM); /* also an overlay's whiteout */
	assert_int_equal(expect_named("mknodat", 3, 0, S_IFBLK | 0600), RET_EPERM);
	assert_int_equal(expect_named("mknodat", 3, 0, S_IFDIR | 0600), RET_EPERM);
}

TEST(filter_lets_no_file_run_as_its_owner)
{
	const uint64_t made[6] = { 3, 0, O_CREAT | O_RDWR, 04755 },
		       unnamed[6] = { 3, 0, O_TMPFILE | O_RDWR, 02755 };
	const uint64_t read[6] = { 3, 0, O_RDONLY, 04755 }, plain[6] = { 3, 0, O_CREAT | O_WRONLY, 01777 };
	uint32_t openat_nr = (uint32_t)seccomp_syscall_resolve_name_arch(NATIVE_ARCH, "openat");

	assert_int_equal(expect_named("fchmod", 3, 04755, 0), RET_EPERM);
	assert_int_equal(expect_named("fchmod", 3, GARBAGE | 02755, 0), RET_EPERM);
	assert_int_equal(expect_named("fchmod", 3, 01777, 0), RET_ALLOW);
	assert_int_equal(expect_named("fchmodat", 3, 0, 06755), RET_EPERM);
	assert_int_equal(expect_named("fchmodat", 3, 0, 0755), RET_ALLOW);
	assert_int_equal(expect_named("mknodat", 3, 0, S_IFREG | 04755), RET_EPERM);
	assert_int_equal(filter_expect(NATIVE_ARCH, openat_nr, made), RET_EPERM);
	assert_int_equal(filter_expect(NATIVE_ARCH, openat_nr, unnamed), RET_EPERM);
	assert_int_equal(filter_expect(NATIVE_ARCH, openat_nr, read), RET_ALLOW);
	assert_int_equal(filter_expect(NATIVE_ARCH, openat_nr, plain), RET_ALLOW);
}

TEST(filter_lets_nobody_hold_up_a_writer_outside)
{
	assert_int_equal(expect_named("fcntl", 3, F_SETLEASE, F_RDLCK), RET_EPERM);
	assert_int_equal(expect_named("fcntl", 3, F_GETLEASE, 0), RET_ALLOW);
	assert_int_equal(expect_named("fcntl", 3, F_SETFL, 0), RET_ALLOW);
}

TEST(filter_leaves_pid_1_and_the_core_limit_alone)
{
	const uint64_t core_with_old[6] = { 0, RLIMIT_CORE, 8, 8 };
	uint32_t prlimit = (uint32_t)seccomp_syscall_resolve_name_arch(NATIVE_ARCH, "prlimit64");

	assert_int_equal(expect_named("sched_setscheduler", 1, 0, 0), RET_EPERM);
	assert_int_equal(expect_named("sched_setscheduler", 0, 0, 0), RET_ALLOW);
	assert_int_equal(expect_named("setpriority", 0, 1, 19), RET_EPERM);
	assert_int_equal(expect_named("setpriority", 0, 0, 19), RET_ALLOW);
	assert_int_equal(expect_named("setpriority", 1, 0, 19), RET_ALLOW);
	assert_int_equal(expect_named("setpriority", 2, 1000, 19), RET_EPERM);
	assert_int_equal(expect_named("ioprio_set", 1, 1, 0), RET_EPERM);
	assert_int_equal(expect_named("ioprio_set", 3, 0, 0), RET_EPERM);
	assert_int_equal(expect_named("prlimit64", 1, RLIMIT_NOFILE, 0), RET_EPERM);
	assert_int_equal(expect_named("prlimit64", 1, RLIMIT_LOCKS, 0), RET_ALLOW);
	assert_int_equal(expect_named("prlimit64", 1, RLIMIT_RTTIME, 0), RET_ALLOW);
	assert_int_equal(expect_named("prlimit64", 1, RLIMIT_LOCKS, 8), RET_EPERM);
	assert_int_equal(expect_named("prlimit64", 0, RLIMIT_NOFILE, 8), RET_ALLOW);
	assert_int_equal(expect_named("prlimit64", 0, RLIMIT_CORE, 0), RET_ALLOW);
	assert_int_equal(expect_named("prlimit64", 0, RLIMIT_CORE, 8), SECCOMP_RET_ERRNO | 0);
	assert_int_equal(filter_expect(NATIVE_ARCH, prlimit, core_with_old), RET_EPERM);
}

TEST(filter_actions_have_names_of_their_own)
{
	for (enum filter_action a = 0; a < FILTER_ACTION_COUNT_; a++)
		for (enum filter_action b = 0; b < a; b++)
			assert_string_not_equal(filter_action_name(a), filter_action_name(b));
	assert_string_equal(filter_action_name(FILTER_ACTION_COUNT_), "?");
}

TEST_MAIN()
