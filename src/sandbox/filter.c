/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler: ranges of equal answers, a balanced tree over them, and behind the tree one check per kind of argument.
 * Jumps go forward only, as the kernel demands, so everything is emitted in one pass.
 */
#include "sandbox/filter.h"
#include "sandbox/filter_priv.h"

#include <assert.h>
#include <string.h>

#define RANGES_MAX 256u
#define ODD_MAX 3u

/* Up to the next one's `from`. Single numbers in it that are answered otherwise are asked for by themselves: one comparison instead of two. */
struct range {
	uint16_t from;
	uint8_t action, n_odd;
	struct {
		uint16_t nr;
		uint8_t action;
	} odd[ODD_MAX];
};
static_assert(NR_MAX <= UINT16_MAX && FILTER_ACTION_COUNT_ <= UINT8_MAX, "a range holds numbers and actions");

struct compiler {
	struct filter *out;
	struct range ranges[RANGES_MAX];
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

static void emit_range(struct compiler *c, const struct range *r)
{
	for (size_t i = 0; i < r->n_odd; i++) {
		(void)emit(c, BPF_JMP | BPF_JEQ | BPF_K, r->odd[i].nr, 0, 1);
		emit_leaf(c, r->odd[i].action);
	}
	emit_leaf(c, r->action);
}

/*
 * The first range of the right half: both hold about as many numbers, because the kernel tries the program for each number that it has when
 * the filter is put on. Of the last range it has hardly any.
 */
static size_t middle(const struct compiler *c, size_t lo, size_t hi)
{
	uint32_t first = c->ranges[lo].from;
	uint32_t last = hi == c->n_ranges ? c->ranges[hi - 1].from : c->ranges[hi].from;
	size_t mid = lo + 1;

	while (mid + 1 < hi && c->ranges[mid].from - first < last - c->ranges[mid].from)
		mid++;
	return mid;
}

/* About half at each step. NOLINTBEGIN(misc-no-recursion) */
/* Instructions that emit_tree() makes of these ranges. */
static size_t tree_size(const struct compiler *c, size_t lo, size_t hi)
{
	size_t mid, left;

	if (hi - lo == 1)
		return 1 + 2 * (size_t)c->ranges[lo].n_odd;
	mid = middle(c, lo, hi);
	left = tree_size(c, lo, mid);
	return (left > UINT8_MAX ? 2 : 1) + left + tree_size(c, mid, hi);
}

/* A balanced tree over ranges[lo..hi): "not below the middle" goes right. */
static void emit_tree(struct compiler *c, size_t lo, size_t hi)
{
	size_t mid, left;

	if (hi - lo == 1) {
		emit_range(c, &c->ranges[lo]);
		return;
	}
	mid = middle(c, lo, hi);
	left = tree_size(c, lo, mid);
	/* A branch reaches 255 instructions far; a left half that is longer is jumped over. */
	if (left > UINT8_MAX) {
		(void)emit(c, BPF_JMP | BPF_JGE | BPF_K, c->ranges[mid].from, 0, 1);
		(void)emit(c, BPF_JMP | BPF_JA, (uint32_t)left, 0, 0);
	} else
		(void)emit(c, BPF_JMP | BPF_JGE | BPF_K, c->ranges[mid].from, (uint8_t)left, 0);
	emit_tree(c, lo, mid);
	emit_tree(c, mid, hi);
}
/* NOLINTEND(misc-no-recursion) */

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

static void emit_ioctl_check(struct compiler *c)
{
	emit_load(c, arg_low(1));
	emit_ret_if(c, TIOCSTI, RET_EPERM);
	emit_ret_if(c, TIOCLINUX_, RET_EPERM);
	emit_ret_if(c, TIOCSETD, RET_EPERM);
	emit_ret(c, RET_ALLOW);
}

static void emit_personality_check(struct compiler *c)
{
	emit_load(c, arg_low(0));
	emit_ret_if(c, 0, RET_ALLOW);
	emit_ret_if(c, ASK_PERSONALITY, RET_ALLOW);
	emit_ret(c, RET_EPERM);
}

/* Argument `arg` is k: one answer; anything else: the other. */
static void emit_equal_check(struct compiler *c, unsigned arg, uint32_t k, uint32_t yes, uint32_t no)
{
	emit_load(c, arg_low(arg));
	emit_ret_if(c, k, yes);
	emit_ret(c, no);
}

/* Messages with descriptors in them are what egress is asked by, and nothing that a locked service has to say. */
static void emit_unix_check(struct compiler *c)
{
	emit_load(c, arg_low(0));
	(void)emit(c, BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0);
	emit_ret(c, RET_EAFNOSUPPORT);
	emit_load(c, arg_low(1));
	(void)emit(c, BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE_MASK, 0, 0);
	emit_ret_if(c, SOCK_STREAM, RET_ALLOW);
	emit_ret(c, RET_EPERM);
}

/* Falls through when the pointer is not NULL; returns `value` when it is. */
static void emit_ret_if_null(struct compiler *c, unsigned arg, uint32_t value)
{
	emit_load(c, arg_low(arg));
	(void)emit(c, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
	emit_load(c, arg_low(arg) + sizeof(uint32_t));
	emit_ret_if(c, 0, value);
}

static void emit_prlimit_check(struct compiler *c)
{
	emit_load(c, arg_low(0));
	(void)emit(c, BPF_JMP | BPF_JEQ | BPF_K, 0, 10, 0);
	emit_load(c, arg_low(1));
	(void)emit(c, BPF_JMP | BPF_JEQ | BPF_K, MARK_LOW, 2, 0);
	(void)emit(c, BPF_JMP | BPF_JEQ | BPF_K, MARK_HIGH, 1, 0);
	emit_ret(c, RET_EPERM);
	emit_ret_if_null(c, 2, RET_ALLOW);
	emit_ret(c, RET_EPERM);
	emit_load(c, arg_low(1));
	(void)emit(c, BPF_JMP | BPF_JEQ | BPF_K, RLIMIT_CORE, 1, 0);
	emit_ret(c, RET_ALLOW);
	emit_ret_if_null(c, 2, RET_ALLOW);
	emit_ret_if_null(c, 3, RET_DONE);
	emit_ret(c, RET_EPERM);
}

static void emit_priority_check(struct compiler *c, uint32_t process, uint32_t user)
{
	emit_load(c, arg_low(0));
	emit_ret_if(c, user, RET_EPERM);
	(void)emit(c, BPF_JMP | BPF_JEQ | BPF_K, process, 1, 0);
	emit_ret(c, RET_ALLOW);
	emit_equal_check(c, 1, WARDEN_PID, RET_EPERM, RET_ALLOW);
}

static void emit_mknod_check(struct compiler *c, unsigned arg)
{
	emit_load(c, arg_low(arg));
	(void)emit(c, BPF_JMP | BPF_JSET | BPF_K, SET_ID, 0, 1);
	emit_ret(c, RET_EPERM);
	(void)emit(c, BPF_ALU | BPF_AND | BPF_K, S_IFMT, 0, 0);
	emit_ret_if(c, 0, RET_ALLOW);
	emit_ret_if(c, S_IFREG, RET_ALLOW);
	emit_ret_if(c, S_IFIFO, RET_ALLOW);
	emit_ret_if(c, S_IFSOCK, RET_ALLOW);
	emit_ret(c, RET_EPERM);
}

/* The mode counts only where a file is made; elsewhere the register holds anything. */
static void emit_open_check(struct compiler *c, unsigned flags, unsigned mode)
{
	emit_load(c, arg_low(flags));
	(void)emit(c, BPF_JMP | BPF_JSET | BPF_K, MAKES_FILE, 1, 0);
	emit_ret(c, RET_ALLOW);
	emit_mask_check(c, mode, SET_ID);
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
		emit_ioctl_check(c);
		break;
	case FILTER_SOCKET:
		emit_socket_check(c);
		break;
	case FILTER_SOCKETPAIR:
		emit_equal_check(c, 0, AF_UNIX, RET_ALLOW, RET_EAFNOSUPPORT);
		break;
	case FILTER_PERSONALITY:
		emit_personality_check(c);
		break;
	case FILTER_PRLIMIT:
		emit_prlimit_check(c);
		break;
	case FILTER_SETRLIMIT:
		emit_equal_check(c, 0, RLIMIT_CORE, RET_DONE, RET_ALLOW);
		break;
	case FILTER_SCHED:
		emit_equal_check(c, 0, WARDEN_PID, RET_EPERM, RET_ALLOW);
		break;
	case FILTER_PRIORITY:
		emit_priority_check(c, PRIORITY_PROCESS, PRIORITY_USER);
		break;
	case FILTER_IOPRIO:
		emit_priority_check(c, IOPRIO_PROCESS, IOPRIO_USER);
		break;
	case FILTER_MKNOD:
		emit_mknod_check(c, 1);
		break;
	case FILTER_MKNODAT:
		emit_mknod_check(c, 2);
		break;
	case FILTER_MODE1:
		emit_mask_check(c, 1, SET_ID);
		break;
	case FILTER_MODE2:
		emit_mask_check(c, 2, SET_ID);
		break;
	case FILTER_OPEN:
		emit_open_check(c, 1, 2);
		break;
	case FILTER_OPENAT:
		emit_open_check(c, 2, 3);
		break;
	case FILTER_FCNTL:
		emit_equal_check(c, 1, F_SETLEASE, RET_EPERM, RET_ALLOW);
		break;
	case FILTER_UNIX:
		emit_unix_check(c);
		break;
	case FILTER_DATA:
		emit_mask_check(c, 2, PROT_EXEC);
		break;
	case FILTER_ENOSYS:
	case FILTER_EPERM:
	case FILTER_ALLOW:
	case FILTER_ACTION_COUNT_:
		break;
	}
}

static void take_number(struct compiler *c, uint16_t nr, uint8_t action, uint8_t next)
{
	struct range *r = c->n_ranges ? &c->ranges[c->n_ranges - 1] : NULL;

	if (r && r->action == action)
		return;
	if (r && r->action == next && r->n_odd < ODD_MAX) {
		r->odd[r->n_odd].nr = nr;
		r->odd[r->n_odd++].action = action;
	} else if (c->n_ranges < RANGES_MAX)
		c->ranges[c->n_ranges++] = (struct range){ .from = nr, .action = action };
	else
		c->failed = true;
}

/* Neighbours with the same answer become one range, and so do those with one other number in between. The last one goes on for ever. */
static void collect_ranges(struct compiler *c, const struct filter_row *rows, size_t n_rows)
{
	uint8_t table[NR_MAX + 2] = { FILTER_ENOSYS }; /* and what is above */

	for (size_t i = 0; i < n_rows; i++)
		if (rows[i].nr < NR_MAX)
			table[rows[i].nr] = (uint8_t)rows[i].action;
	for (uint16_t nr = 0; nr <= NR_MAX; nr++)
		take_number(c, nr, table[nr], table[nr + 1]);
}

int filter_compile(const struct filter_row *rows, size_t n_rows, struct filter *ret, struct err *e)
{
	struct compiler c = { .out = ret };

	ret->n = 0;
	collect_ranges(&c, rows, n_rows);
	emit_load(&c, offsetof(struct seccomp_data, arch));
	(void)emit(&c, BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
	emit_ret(&c, RET_ENOSYS);
	emit_load(&c, offsetof(struct seccomp_data, nr));
	emit_tree(&c, 0, c.n_ranges);
	for (enum filter_action a = FILTER_CLONE; a < FILTER_ACTION_COUNT_; a++) {
		for (size_t i = 0; i < c.n_jumps[a]; i++)
			ret->insn[c.jumps[a][i]].k = (uint32_t)(ret->n - c.jumps[a][i] - 1);
		if (c.n_jumps[a])
			emit_check(&c, a);
	}
	if (c.failed)
		return err_set(e, ERR_BUG, "the system call table does not fit its filter");
	filter_share(ret);
	return 0;
}

int filter_build(struct filter *ret, struct err *e)
{
	return filter_compile(filter_rows, filter_n_rows, ret, e);
}
