/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child's side of proc.c, from its birth to execve(). It runs in the parent's memory, beside the parent: it makes system calls
 * without the C library, because errno is the parent's, and writes to its own stack, to *s and to pid_text alone.
 */
#pragma once

#include "base/proc.h"

#include <sched.h>

/* The child's stack ends where it begins. */
struct proc_start {
	struct proc_spec spec;
	pid_t parent;
	int busy;    /* 1; the kernel makes it 0 when the child has left our memory */
	int error;   /* written by the child */
	int place;   /* PLACE_… */
	int started; /* 1: it has had a processor */
	bool moved;
	cpu_set_t home; /* the processors that it may use */
} __attribute__((aligned(16)));

/* Who may say where the child runs. */
enum {
	PLACE_FREE,   /* the parent, if it likes */
	PLACE_MOVING, /* the parent does at this moment */
	PLACE_HOME    /* nobody any more: it is about to execute its program */
};

/* For clone(2); does not return. */
int proc_child(void *start);
