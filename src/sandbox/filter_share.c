/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same answer is written down once for as many branches as can reach it, a branch goes to where a jump would take it, and what nobody
 * reaches any more is left out: the kernel translates every instruction each time the filter is put on.
 */
#include "sandbox/filter_priv.h"

#define REACH 255u /* of a branch */

static bool is_branch(const struct sock_filter *i)
{
	return BPF_CLASS(i->code) == BPF_JMP && BPF_OP(i->code) != BPF_JA;
}

static bool is_return(const struct sock_filter *i)
{
	return i->code == (BPF_RET | BPF_K);
}

/* How far it is from `at` to where the jump that is `by` instructions on goes; there, if that is too far. */
static uint8_t past_jump(const struct filter *f, size_t at, uint8_t by)
{
	const struct sock_filter *x = &f->insn[at + 1 + by];
	const bool jump = BPF_CLASS(x->code) == BPF_JMP && !is_branch(x);

	return jump && x->k + 1 <= REACH - by ? (uint8_t)(by + 1 + x->k) : by;
}

/* How far it is from `at` to the last place that answers what the one `by` instructions on answers. */
static uint8_t last_like(const struct filter *f, size_t at, uint8_t by)
{
	size_t first = at + 1 + by, last = at + 1 + REACH;

	if (!is_return(&f->insn[first]))
		return by;
	if (last >= f->n)
		last = f->n - 1;
	while (!is_return(&f->insn[last]) || f->insn[last].k != f->insn[first].k)
		last--; /* no further than to `first` */
	return (uint8_t)(last - at - 1);
}

/* Jumps go forward, so one pass finds all that can be reached. */
static void mark_reached(const struct filter *f, bool *reached)
{
	reached[0] = true;
	for (size_t i = 0; i < f->n; i++) {
		const struct sock_filter *x = &f->insn[i];

		if (!reached[i] || is_return(x))
			continue;
		if (is_branch(x))
			reached[i + 1 + x->jt] = reached[i + 1 + x->jf] = true;
		else
			reached[i + 1 + (BPF_CLASS(x->code) == BPF_JMP ? x->k : 0)] = true;
	}
}

void filter_share(struct filter *f)
{
	bool reached[FILTER_MAX_INSNS + 1] = { false };
	uint32_t to[FILTER_MAX_INSNS + 1]; /* where an instruction goes */
	uint32_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		if (is_branch(&f->insn[i])) {
			f->insn[i].jt = last_like(f, i, past_jump(f, i, f->insn[i].jt));
			f->insn[i].jf = last_like(f, i, past_jump(f, i, f->insn[i].jf));
		}
	mark_reached(f, reached);
	for (size_t i = 0; i <= f->n; i++) {
		to[i] = n;
		n += i < f->n && reached[i];
	}
	for (size_t i = 0; i < f->n; i++) {
		struct sock_filter x = f->insn[i];

		if (!reached[i])
			continue;
		if (is_branch(&x)) {
			x.jt = (uint8_t)(to[i + 1 + x.jt] - to[i] - 1);
			x.jf = (uint8_t)(to[i + 1 + x.jf] - to[i] - 1);
		} else if (BPF_CLASS(x.code) == BPF_JMP)
			x.k = to[i + 1 + x.k] - to[i] - 1;
		f->insn[to[i]] = x;
	}
	f->n = n;
}
