/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classic BPF as seccomp runs it, with a memory of what was executed. Knows the instructions that our compiler may use and
 * refuses every other, as it refuses a jump out of the program or a load that is not a word of struct seccomp_data.
 */
#pragma once

#include "check.h"
#include "sandbox/filter.h"

#include <linux/seccomp.h>

struct coverage {
	bool executed[FILTER_MAX_INSNS], taken[FILTER_MAX_INSNS], fell[FILTER_MAX_INSNS];
};

static inline bool bpf_is_branch(uint16_t code)
{
	return BPF_CLASS(code) == BPF_JMP && BPF_OP(code) != BPF_JA;
}

static inline bool bpf_branch(const struct sock_filter *i, uint32_t a)
{
	switch (i->code) {
	case BPF_JMP | BPF_JEQ | BPF_K:
		return a == i->k;
	case BPF_JMP | BPF_JGE | BPF_K:
		return a >= i->k;
	case BPF_JMP | BPF_JGT | BPF_K:
		return a > i->k;
	case BPF_JMP | BPF_JSET | BPF_K:
		return (a & i->k) != 0;
	default:
		fail_msg("instruction %#x is not one of ours", i->code);
		return false;
	}
}

static inline uint32_t bpf_load(const struct seccomp_data *d, uint32_t at)
{
	uint32_t word;

	CHECK_CASE(at % 4 == 0 && at + 4 <= sizeof(*d), "load at %u", at);
	memcpy(&word, (const char *)d + at, sizeof(word));
	return word;
}

static inline uint32_t bpf_run(const struct filter *f, const struct seccomp_data *d, struct coverage *c)
{
	uint32_t a = 0;

	for (size_t pc = 0; pc < f->n; pc++) {
		const struct sock_filter *i = &f->insn[pc];

		c->executed[pc] = true;
		if (i->code == (BPF_RET | BPF_K))
			return i->k;
		if (i->code == (BPF_LD | BPF_W | BPF_ABS))
			a = bpf_load(d, i->k);
		else if (i->code == (BPF_ALU | BPF_AND | BPF_K))
			a &= i->k;
		else if (i->code == (BPF_JMP | BPF_JA))
			pc += i->k;
		else {
			bool yes = bpf_branch(i, a);

			c->taken[pc] |= yes;
			c->fell[pc] |= !yes;
			pc += yes ? i->jt : i->jf;
		}
	}
	fail_msg("the program ends without an answer");
	return 0;
}
