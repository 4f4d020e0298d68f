/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One single-threaded epoll loop per process: descriptors, monotonic timers, signals and the end of children.
 *
 * A handler may remove any source, its own too, and add others: what it is referred to by is a handle (slot and
 * generation), and an event that waits for a source that is gone by then is dropped. The loop owns none of the
 * descriptors: remove the source, then close the fd.
 */
#pragma once

#include "base/cleanup.h"
#include "base/proc.h"

#include <stdint.h>
#include <sys/epoll.h>

struct loop;

/* Zero is "none". */
struct loop_id {
	uint32_t slot, generation;
};

typedef void loop_fd_fn(struct loop *l, void *ctx,
			uint32_t events); /* EPOLLIN, EPOLLOUT, EPOLLHUP, EPOLLERR... */
typedef void loop_fn(struct loop *l, void *ctx);
typedef void loop_child_fn(struct loop *l, void *ctx, struct proc_status status);

/* -EMFILE once max_sources are in use: every add below can return that. */
int loop_new(uint32_t max_sources, struct loop **ret);
struct loop *loop_free(struct loop *l);
DEFINE_CLEANUP(loop, loop_free)

/* Level-triggered, until removed. */
int loop_add_fd(struct loop *l, int fd, uint32_t events, loop_fd_fn *fn, void *ctx, struct loop_id *ret);
int loop_mod_fd(struct loop *l, struct loop_id id, uint32_t events);

/*
 * Once, at at_ms (clock_mono_ms()) or as soon after as can be; by time, and timers of one time in the order they were
 * added. The handle is dead when fn runs. A timer added by a handler waits for the next round even when already due,
 * so one that always re-arms itself cannot keep descriptors waiting.
 */
int loop_add_timer(struct loop *l, uint64_t at_ms, loop_fn *fn, void *ctx, struct loop_id *ret);
int loop_mod_timer(struct loop *l, struct loop_id id, uint64_t at_ms);

/* The signal is blocked and read from a signalfd, until removed. -EBUSY when it has a handler already. */
int loop_add_signal(struct loop *l, int signo, loop_fn *fn, void *ctx, struct loop_id *ret);

/* Once, when the process behind `pidfd` has ended; it is reaped then (struct proc: set pid to 0). */
int loop_add_child(struct loop *l, int pidfd, loop_child_fn *fn, void *ctx, struct loop_id *ret);

/* -ENOENT when it is gone already: harmless, and what a handle is for. */
int loop_del(struct loop *l, struct loop_id id);
bool loop_has(const struct loop *l, struct loop_id id);

/*
 * Runs until loop_stop() and returns what was given to it (0 or positive), or a negative errno. The round in which
 * the stop came is finished first.
 */
int loop_run(struct loop *l);
void loop_stop(struct loop *l, int result);

/* One round: waits until something happens or deadline_ms, and runs what is due. Not from inside a handler. */
int loop_step(struct loop *l, uint64_t deadline_ms);
/* The timers that are due, and nothing else: nobody looks whether anything has happened. Not from inside a handler. */
void loop_run_due(struct loop *l);

/* How many rounds were begun. What has come in one of them had come before its first handler ran. */
uint64_t loop_rounds(const struct loop *l);

/* Ends the wait of the running round. Only this may be called from a signal handler or another process's copy. */
void loop_wake(struct loop *l);
