/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What loop.c and its timer heap share. A source is never pointed to across a handler call: the array may move.
 */
#pragma once

#include "base/loop.h"

#include <signal.h>

#define NO_SLOT UINT32_MAX
#define SIGNAL_MAX 65

enum source_kind { SOURCE_NONE = 0, SOURCE_FD, SOURCE_TIMER, SOURCE_SIGNAL, SOURCE_CHILD };

struct source {
	enum source_kind kind;
	uint32_t generation;
	uint32_t next_free; /* when kind is SOURCE_NONE */
	int fd, signo;
	union {
		loop_fd_fn *on_fd;
		loop_child_fn *on_child;
		loop_fn *fn; /* timer, signal */
	};
	void *ctx;
	uint64_t at_ms, order; /* timers: when, and who came first */
	uint32_t heap_at;      /* timers: place in the heap, NO_SLOT when due or none */
};

struct loop {
	int epoll, wake, signals;
	struct source *source;
	uint32_t cap, max_sources, free_slot;
	struct {
		uint32_t *heap; /* slots, the earliest first */
		struct loop_id *due;
		uint32_t n, cap;
		uint64_t next_order;
	} timers;
	sigset_t handled, blocked_by_us;
	struct loop_id by_signal[SIGNAL_MAX];
	bool stopped, in_step;
	int result;
	uint64_t rounds;
};

int timers_add(struct loop *l, uint32_t slot);
void timers_remove(struct loop *l, uint32_t slot);
uint64_t timers_next(const struct loop *l); /* CLOCK_NEVER when there is none */

/* Takes what is due at now_ms out of the heap into timers.due, in order; returns how many. */
size_t timers_collect(struct loop *l, uint64_t now_ms);
