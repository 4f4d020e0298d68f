/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child's side of proc.c, from its birth to execve(). It runs in the parent's memory, beside the parent: it makes system calls
 * without the C library, because errno is the parent's, and writes to its own stack, to *s and to pid_text alone.
 */
#pragma once

#include "base/proc.h"

/* The child's stack ends where it begins. */
struct proc_start {
	struct proc_spec spec;
	pid_t parent;
	int busy;  /* 1; the kernel makes it 0 when the child has left our memory */
	int error; /* written by the child */
} __attribute__((aligned(16)));

/* For clone(2); does not return. */
int proc_child(void *start);
