/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan's bytes, looked at again: what the warden checks, written a second time and with less trust. For printing, for
 * tests and for the fuzzer. Refuses anything that does not lie within its bounds.
 */
#pragma once

#include "base/str.h"
#include "sandbox/wire.h"

struct plan_view {
	struct plan_header head;
	struct str bytes;   /* the whole plan */
	struct str strings; /* its last byte is NUL */
};

/* 0, or -EINVAL. The view borrows `plan`, which need not be aligned. */
int plan_open(struct str plan, struct plan_view *ret);

/* i must be below head.n_steps, head.argc, head.envc. */
struct step plan_step(const struct plan_view *v, uint32_t i);
struct str plan_arg(const struct plan_view *v, uint32_t i);
struct str plan_env(const struct plan_view *v, uint32_t i);

/* The string at an offset, without its NUL; empty when the offset is out of range. */
struct str plan_text(const struct plan_view *v, uint32_t offset);
/* Exactly n bytes at an offset: a file's content, a filter. .p is NULL when they are not all there. */
struct str plan_bytes(const struct plan_view *v, uint32_t offset, uint64_t n);
/* The string that follows one that plan_text() gave; empty at the end. */
struct str plan_text_after(const struct plan_view *v, struct str before);
