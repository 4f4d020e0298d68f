/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel takes the program and answers as the table says.
 *
 * A second filter sends every call to us first. seccomp obeys the stricter of two filters, and an errno is stricter than
 * asking: what ours refuses never arrives here, and what it allows does, and is answered with a mark instead of being
 * done. So every number can be tried, exit_group() and reboot() among them, and nothing happens.
 */
#include "check.h"

#include "base/fd.h"
#include "sandbox/filter.h"
#include "sandbox/filter_numbers.h"
#include "sandbox/filter_priv.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define X32 0x40000000u
#define MARK 4000 /* an errno that nothing has */
#define GOODBYE 0x77
#define GARBAGE (UINT64_C(0xdeadbeef) << 32)
#define CALLS_MAX 16384

struct call {
	uint32_t nr;
	uint64_t a[4];
	int answer; /* 0 or a positive errno */
};

struct shared {
	int listener;
	size_t n;
	struct call calls[CALLS_MAX];
};

static int load(const struct sock_filter *insn, size_t n, unsigned flags)
{
	struct sock_filter copy[FILTER_MAX_INSNS];
	const struct sock_fprog prog = { .len = (unsigned short)n, .filter = copy };

	memcpy(copy, insn, n * sizeof(*insn));
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

static bool load_ours(void)
{
	static struct filter f;
	struct err e = { 0 };

	return filter_build(&f, &e) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       load(f.insn, f.n, 0) == 0;
}

/* In the child: from the second filter on, whatever is not refused is answered by the parent. */
static void make_calls(struct shared *s)
{
	static const struct sock_filter ask = { .code = BPF_RET | BPF_K, .k = SECCOMP_RET_USER_NOTIF };

	if (!load_ours())
		_exit(1);
	s->listener = load(&ask, 1, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	if (s->listener < 0)
		_exit(2);
	for (size_t i = 0; i < s->n; i++) {
		struct call *c = &s->calls[i];

		c->answer = syscall(c->nr, c->a[0], c->a[1], c->a[2], c->a[3], 0, 0) == -1 ? errno : 0;
	}
	syscall(SYS_exit_group, GOODBYE);
	for (;;)
		;
}

static bool answer_one(int listener)
{
	struct seccomp_notif in = { 0 };
	struct seccomp_notif_resp out = { .error = -MARK };
	struct pollfd p = { .fd = listener, .events = POLLIN };

	if (poll(&p, 1, 10000) != 1 || !(p.revents & POLLIN) ||
	    ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &in) < 0)
		return false;
	out.id = in.id;
	if (in.data.nr == SYS_exit_group && in.data.args[0] == GOODBYE) {
		out.error = 0;
		out.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	}
	return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &out) == 0;
}

/* The child shares our table of descriptors, so its listener is ours. */
static void try_calls(struct shared *s)
{
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	int status = 0;

	if (pid == 0)
		make_calls(s);
	assert_true(pid > 0);
	for (int i = 0; i < 5000 && *(volatile int *)&s->listener < 0 && waitpid(pid, &status, WNOHANG) == 0;
	     i++)
		(void)usleep(1000);
	assert_int_equal(status, 0);
	while (answer_one(s->listener))
		;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(close(s->listener), 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), GOODBYE);
}

static struct shared *new_calls(void)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(s, MAP_FAILED);
	s->listener = -1;
	return s;
}

static void add(struct shared *s, uint32_t nr, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	assert_true(s->n < CALLS_MAX);
	s->calls[s->n++] = (struct call){ .nr = nr, .a = { a0, a1, a2, a3 }, .answer = -1 };
}

static void check_answers(struct shared *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct call *c = &s->calls[i];
		const uint64_t args[6] = { c->a[0], c->a[1], c->a[2], c->a[3] };
		uint32_t ret = filter_expect(NATIVE_ARCH, c->nr, args);
		int want = ret == SECCOMP_RET_ALLOW ? MARK : (int)(ret & SECCOMP_RET_DATA);

		CHECK_CASE(c->answer == want, "number %#x (%#llx, %#llx, %#llx): %d, want %d", c->nr,
			   (unsigned long long)args[0], (unsigned long long)args[1],
			   (unsigned long long)args[2], c->answer, want);
	}
	assert_int_equal(munmap(s, sizeof(*s)), 0);
}

/* The kernel asks no filter about the two calls that its own trampolines make; a program that makes them dies (SIGILL). */
static bool is_exempt(uint32_t nr)
{
#if defined(__x86_64__)
	return nr == 335 || nr == 336;
#else
	(void)nr;
	return false;
#endif
}

TEST(kernel_answers_every_number_as_the_table_says)
{
	struct shared *s = new_calls();

	for (uint32_t nr = 0; nr < 1100; nr++)
		if (!is_exempt(nr))
			add(s, nr, 0, 0, 0, 0);
	for (uint32_t nr = 1100; nr < 1u << 30; nr *= 2)
		add(s, nr, 0, 0, 0, 0);
	try_calls(s);
	check_answers(s);
}

#if defined(__x86_64__)
TEST(kernel_has_no_x32)
{
	struct shared *s = new_calls();

	for (uint32_t nr = 0; nr < 600; nr++)
		add(s, nr | X32, 0, 0, 0, 0);
	try_calls(s);
	check_answers(s);
}

/* int 0x80 numbers are another table: 1 is exit, 11 execve, 102 socketcall, 120 clone. */
static long call_i386(long nr)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(0), "c"(0), "d"(0), "S"(0), "D"(0)
			 : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

TEST(kernel_has_no_i386_either)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		if (!load_ours())
			_exit(1);
		for (long nr = 0; nr < 500; nr++)
			if (call_i386(nr) != -ENOSYS)
				_exit(2);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* A kernel without the 32-bit ABI raises a signal of its own: as good. */
	assert_true((WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
		    (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV));
}
#endif

TEST(kernel_looks_at_arguments_as_the_table_says)
{
	struct shared *s = new_calls();

	for (uint64_t high = 0; high <= GARBAGE; high += GARBAGE) {
		add(s, SYS_ioctl, 0, high | TIOCSTI, 0, 0);
		add(s, SYS_ioctl, 0, high | TIOCLINUX_, 0, 0);
		add(s, SYS_ioctl, 0, high | TIOCSETD, 0, 0);
		add(s, SYS_ioctl, 0, high | TIOCGWINSZ, 0, 0);
		add(s, SYS_clone, high | SIGCHLD, 0, 0, 0);
		add(s, SYS_unshare, high | 0x80, 0, 0, 0);
		add(s, SYS_personality, high | 0xffffffff, 0, 0, 0);
		add(s, SYS_personality, high | 0x0400000, 0, 0, 0);
		for (uint64_t bit = 0; bit < 32; bit++) {
			add(s, SYS_clone, high | 1u << bit, 0, 0, 0);
			add(s, SYS_unshare, high | 1u << bit, 0, 0, 0);
		}
		for (uint64_t family = 0; family < 48; family++) {
			add(s, SYS_socketpair, high | family, 1, 0, 0);
			for (uint64_t type = 0; type < 12; type++)
				add(s, SYS_socket, high | family, high | type | SOCK_CLOEXEC, high, 0);
		}
		for (uint64_t protocol = 0; protocol < 300; protocol++)
			add(s, SYS_socket, AF_INET6, SOCK_STREAM, high | protocol, 0);
		for (uint64_t type = 0; type < 16; type++)
			add(s, SYS_mknodat, 0, 0, high | type << 12, 0);
		for (uint64_t pid = 0; pid < 4; pid++) {
			add(s, SYS_sched_setaffinity, high | pid, 0, 0, 0);
			for (uint64_t which = 0; which < 5; which++) {
				add(s, SYS_setpriority, high | which, high | pid, 0, 0);
				add(s, SYS_ioprio_set, high | which, high | pid, 0, 0);
			}
			for (uint64_t resource = 0; resource < 16; resource++)
				for (uint64_t pointers = 0; pointers < 4; pointers++)
					add(s, SYS_prlimit64, high | pid, high | resource,
					    pointers & 1 ? UINT64_C(1) << 32 : 0, pointers & 2 ? 8 : 0);
		}
	}
	try_calls(s);
	check_answers(s);
}

/* ---- nothing in between: what programs really do ---- */

static int in_child(int (*fn)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		alarm(10);
		_exit(load_ours() ? fn() : 99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

#define MUST(cond)                                \
	do {                                      \
		if (!(cond))                      \
			return __LINE__ % 90 + 1; \
	} while (0)
#define MUST_FAIL(call, errnum) MUST((call) == -1 && errno == (errnum))

static int use_refused(void)
{
	MUST_FAIL(unshare(CLONE_NEWUSER), EPERM);
	MUST_FAIL(syscall(SYS_clone3, NULL, 0), ENOSYS);
	MUST_FAIL(syscall(SYS_io_uring_setup, 1, NULL), ENOSYS);
	MUST_FAIL(syscall(SYS_fsopen, "tmpfs", 0), ENOSYS);
	MUST_FAIL(syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, 0), EPERM);
	MUST_FAIL(socket(AF_NETLINK, SOCK_RAW, 0), EAFNOSUPPORT);
	MUST_FAIL(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP), EPERM);
	MUST_FAIL(socket(AF_INET, SOCK_STREAM, 262 /* MPTCP */), EPERM);
	MUST_FAIL(mknod("/tmp/creel-test-device", S_IFCHR | 0600, 0x103), EPERM);
	MUST_FAIL(setpriority(PRIO_PROCESS, 1, 19), EPERM);
	return 0;
}

static int use_allowed(void)
{
	struct rlimit core = { 1, 1 };
	int pair[2];
	pid_t pid;

	MUST(getrlimit(RLIMIT_CORE, &core) == 0);
	MUST(setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 }) == 0); /* said to be done */
	MUST(core.rlim_max == 0 || (getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max != 0));
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	MUST(socket(AF_INET, SOCK_STREAM, 0) >= 0);
	pid = fork();
	if (pid == 0)
		_exit(7);
	MUST(pid > 0 && waitpid(pid, pair, 0) == pid && WEXITSTATUS(pair[0]) == 7);
	MUST(setpriority(PRIO_PROCESS, 0, 5) == 0);
	/* A stricter filter of one's own may be added; none of ours can be taken away. */
	MUST(load(&(struct sock_filter){ .code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW }, 1, 0) == 0);
	MUST_FAIL(syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, 0), EPERM);
	return 0;
}

TEST(kernel_refuses_real_attempts)
{
	assert_int_equal(in_child(use_refused), 0);
}

TEST(kernel_lets_programs_live)
{
	assert_int_equal(in_child(use_allowed), 0);
}

TEST_MAIN()
