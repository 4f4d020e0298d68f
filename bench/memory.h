/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of idle sandboxes: what their processes map, each shared page divided among those who share it, and what the
 * kernel counts for itself before and after. The second is the whole machine's: other work on it disturbs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum kernel_part {
	KERNEL_SLAB,
	KERNEL_PAGE_TABLES,
	KERNEL_STACK,
	KERNEL_PERCPU,
	KERNEL_SHMEM, /* what lies in the tmpfs of a sandbox, and its plan */
	KERNEL_COUNT_
};
extern const char *const kernel_part_names[KERNEL_COUNT_];

struct kernel_memory {
	double kib[KERNEL_COUNT_];
};

struct user_memory {
	double walls_kib;  /* PSS of everything but the leaf */
	double shared_kib; /* the part of it that KERNEL_SHMEM has, too */
	double leaf_kib;   /* PSS of the processes without children: the payload */
	unsigned n_processes;
};

void memory_kernel(struct kernel_memory *ret);

/* Adds the process and everything below it. False when one of them may not be looked at, or has gone. */
bool memory_add_tree(pid_t pid, struct user_memory *sum);
