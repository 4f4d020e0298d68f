/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/filter.h"
#include "sandbox/filter_priv.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "the filter knows x86-64 and arm64"
#endif

#define NR_MAX 1024u /* numbers above answer ENOSYS; x32's have bit 30 set, so they are above too */
#define NEW_NAMESPACES                                                                            \
	((uint32_t)(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
		    CLONE_NEWPID | CLONE_NEWNET))
#define NEW_TIME 0x80u     /* CLONE_NEWTIME; in clone(2) these bits are the exit signal */
#define TIOCLINUX_ 0x541cu /* types into a console, as TIOCSTI does */
#define ASK_PERSONALITY 0xffffffffu
#define SOCKET_TYPE_MASK 0xfu /* without SOCK_CLOEXEC and SOCK_NONBLOCK */

#define RET_ALLOW SECCOMP_RET_ALLOW
#define RET_EPERM (SECCOMP_RET_ERRNO | EPERM)
#define RET_ENOSYS (SECCOMP_RET_ERRNO | ENOSYS)
#define RET_EAFNOSUPPORT (SECCOMP_RET_ERRNO | EAFNOSUPPORT)

const char *filter_action_name(enum filter_action a)
{
	static const char *const names[] = { "enosys", "eperm",  "allow",       "clone",  "unshare",
					     "ioctl",  "socket", "personality", "prlimit" };

	static_assert(sizeof(names) / sizeof(names[0]) == FILTER_ACTION_COUNT_, "every action has a name");
	return a < FILTER_ACTION_COUNT_ ? names[a] : "?";
}

enum filter_action filter_action(uint32_t nr)
{
	for (size_t i = 0; i < filter_n_rows; i++)
		if (filter_rows[i].nr == nr)
			return filter_rows[i].action;
	return FILTER_ENOSYS;
}

static uint32_t expect_socket(uint32_t domain, uint32_t type, uint32_t protocol)
{
	type &= SOCKET_TYPE_MASK;
	if (domain == AF_UNIX)
		return RET_ALLOW;
	if (domain != AF_INET && domain != AF_INET6)
		return RET_EAFNOSUPPORT;
	if (type != SOCK_STREAM && type != SOCK_DGRAM)
		return RET_EPERM;
	return protocol == 0 || protocol == IPPROTO_TCP || protocol == IPPROTO_UDP ? RET_ALLOW : RET_EPERM;
}

uint32_t filter_expect(uint32_t arch, uint32_t nr, const uint64_t args[6])
{
	/* The kernel takes these arguments as int; what stands in the upper half is not looked at by either side. */
	uint32_t a0 = (uint32_t)args[0], a1 = (uint32_t)args[1], a2 = (uint32_t)args[2];

	if (arch != NATIVE_ARCH || nr >= NR_MAX)
		return RET_ENOSYS;
	switch (filter_action(nr)) {
	case FILTER_ALLOW:
		return RET_ALLOW;
	case FILTER_EPERM:
		return RET_EPERM;
	case FILTER_CLONE:
		return a0 & NEW_NAMESPACES ? RET_EPERM : RET_ALLOW;
	case FILTER_UNSHARE:
		return a0 & (NEW_NAMESPACES | NEW_TIME) ? RET_EPERM : RET_ALLOW;
	case FILTER_IOCTL:
		return a1 == TIOCSTI || a1 == TIOCLINUX_ ? RET_EPERM : RET_ALLOW;
	case FILTER_SOCKET:
		return expect_socket(a0, a1, a2);
	case FILTER_PERSONALITY:
		return a0 == 0 || a0 == ASK_PERSONALITY ? RET_ALLOW : RET_EPERM;
	case FILTER_PRLIMIT:
		return a0 == 0 ? RET_ALLOW : RET_EPERM;
	case FILTER_ENOSYS:
	case FILTER_ACTION_COUNT_:
		break;
	}
	return RET_ENOSYS;
}

/* ---- the compiler ---- */

struct range {
	uint32_t from; /* up to the next range's from */
	enum filter_action action;
};

struct compiler {
	struct filter *out;
	struct range ranges[NR_MAX];
	size_t n_ranges;
	size_t jumps[FILTER_ACTION_COUNT_][8]; /* places that jump to an action's check */
	size_t n_jumps[FILTER_ACTION_COUNT_];
	bool failed;
};

static size_t emit(struct compiler *c, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	struct filter *f = c->out;

	if (f->n == FILTER_MAX_INSNS) {
		c->failed = true;
		return 0;
	}
	f->insn[f->n] = (struct sock_filter){ .code = code, .jt = jt, .jf = jf, .k = k };
	return f->n++;
}

static void emit_ret(struct compiler *c, uint32_t value)
{
	(void)emit(c, BPF_RET | BPF_K, value, 0, 0);
}

static void emit_load(struct compiler *c, size_t offset)
{
	(void)emit(c, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* Returns `value` when the accumulator is `k`. */
static void emit_ret_if(struct compiler *c, uint32_t k, uint32_t value)
{
	(void)emit(c, BPF_JMP | BPF_JEQ | BPF_K, k, 0, 1);
	emit_ret(c, value);
}

static size_t arg_low(unsigned i)
{
	return offsetof(struct seccomp_data, args) +
	       i * sizeof(uint64_t); /* both architectures are little-endian */
}

static void emit_leaf(struct compiler *c, enum filter_action a)
{
	if (a == FILTER_ALLOW || a == FILTER_EPERM || a == FILTER_ENOSYS) {
		emit_ret(c, a == FILTER_ALLOW ? RET_ALLOW : a == FILTER_EPERM ? RET_EPERM : RET_ENOSYS);
		return;
	}
	if (c->n_jumps[a] == sizeof(c->jumps[a]) / sizeof(c->jumps[a][0])) {
		c->failed = true;
		return;
	}
	c->jumps[a][c->n_jumps[a]++] = emit(c, BPF_JMP | BPF_JA, 0, 0, 0);
}

/* A balanced tree over ranges[lo..hi): "not below the middle" goes right. */
static void emit_tree(struct compiler *c, size_t lo, size_t hi)
{
	size_t mid = lo + (hi - lo) / 2, at, right;

	if (hi - lo == 1) {
		emit_leaf(c, c->ranges[lo].action);
		return;
	}
	at = emit(c, BPF_JMP | BPF_JGE | BPF_K, c->ranges[mid].from, 0, 0);
	emit_tree(c, lo, mid);
	right = c->out->n - at - 1;
	if (right > UINT8_MAX)
		c->failed = true;
	c->out->insn[at].jt = (uint8_t)right;
	emit_tree(c, mid, hi);
}

static void emit_mask_check(struct compiler *c, unsigned arg, uint32_t mask)
{
	emit_load(c, arg_low(arg));
	(void)emit(c, BPF_JMP | BPF_JSET | BPF_K, mask, 0, 1);
	emit_ret(c, RET_EPERM);
	emit_ret(c, RET_ALLOW);
}

static void emit_socket_check(struct compiler *c)
{
	emit_load(c, arg_low(0));
	emit_ret_if(c, AF_UNIX, RET_ALLOW);
	(void)emit(c, BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 2, 0);
	(void)emit(c, BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 1, 0);
	emit_ret(c, RET_EAFNOSUPPORT);
	emit_load(c, arg_low(1));
	(void)emit(c, BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE_MASK, 0, 0);
	(void)emit(c, BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 2, 0);
	(void)emit(c, BPF_JMP | BPF_JEQ | BPF_K, SOCK_DGRAM, 1, 0);
	emit_ret(c, RET_EPERM);
	emit_load(c, arg_low(2));
	emit_ret_if(c, 0, RET_ALLOW);
	emit_ret_if(c, IPPROTO_TCP, RET_ALLOW);
	emit_ret_if(c, IPPROTO_UDP, RET_ALLOW);
	emit_ret(c, RET_EPERM);
}

static void emit_check(struct compiler *c, enum filter_action a)
{
	switch (a) {
	case FILTER_CLONE:
		emit_mask_check(c, 0, NEW_NAMESPACES);
		break;
	case FILTER_UNSHARE:
		emit_mask_check(c, 0, NEW_NAMESPACES | NEW_TIME);
		break;
	case FILTER_IOCTL:
		emit_load(c, arg_low(1));
		emit_ret_if(c, TIOCSTI, RET_EPERM);
		emit_ret_if(c, TIOCLINUX_, RET_EPERM);
		emit_ret(c, RET_ALLOW);
		break;
	case FILTER_SOCKET:
		emit_socket_check(c);
		break;
	case FILTER_PERSONALITY:
		emit_load(c, arg_low(0));
		emit_ret_if(c, 0, RET_ALLOW);
		emit_ret_if(c, ASK_PERSONALITY, RET_ALLOW);
		emit_ret(c, RET_EPERM);
		break;
	case FILTER_PRLIMIT:
		emit_load(c, arg_low(0));
		emit_ret_if(c, 0, RET_ALLOW);
		emit_ret(c, RET_EPERM);
		break;
	case FILTER_ENOSYS:
	case FILTER_EPERM:
	case FILTER_ALLOW:
	case FILTER_ACTION_COUNT_:
		break;
	}
}

/* Neighbours with the same answer become one range. */
static void collect_ranges(struct compiler *c)
{
	enum filter_action table[NR_MAX] = { FILTER_ENOSYS };

	for (size_t i = 0; i < filter_n_rows; i++)
		if (filter_rows[i].nr < NR_MAX)
			table[filter_rows[i].nr] = filter_rows[i].action;
	for (uint32_t nr = 0; nr < NR_MAX; nr++)
		if (nr == 0 || table[nr] != table[nr - 1])
			c->ranges[c->n_ranges++] = (struct range){ .from = nr, .action = table[nr] };
}

int filter_build(struct filter *ret, struct err *e)
{
	struct compiler c = { .out = ret };

	ret->n = 0;
	collect_ranges(&c);
	emit_load(&c, offsetof(struct seccomp_data, arch));
	(void)emit(&c, BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
	emit_ret(&c, RET_ENOSYS);
	emit_load(&c, offsetof(struct seccomp_data, nr));
	(void)emit(&c, BPF_JMP | BPF_JGE | BPF_K, NR_MAX, 0, 1);
	emit_ret(&c, RET_ENOSYS);
	emit_tree(&c, 0, c.n_ranges);
	for (enum filter_action a = FILTER_CLONE; a < FILTER_ACTION_COUNT_; a++) {
		for (size_t i = 0; i < c.n_jumps[a]; i++)
			ret->insn[c.jumps[a][i]].k = (uint32_t)(ret->n - c.jumps[a][i] - 1);
		if (c.n_jumps[a])
			emit_check(&c, a);
	}
	if (c.failed)
		return err_set(e, ERR_BUG, "the system call table does not fit its filter");
	return 0;
}
