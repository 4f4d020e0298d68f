/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHILDREN_MAX 16

const char *const kernel_part_names[KERNEL_COUNT_] = {
	[KERNEL_SLAB] = "Slab",         [KERNEL_PAGE_TABLES] = "PageTables",
	[KERNEL_STACK] = "KernelStack", [KERNEL_PERCPU] = "Percpu",
	[KERNEL_SHMEM] = "Shmem",
};

/* "Name:   12 kB" lines: value of the one that is asked for; false when there is none. */
static bool field(const char *text, const char *name, double *ret)
{
	size_t n = strlen(name);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, n) == 0 && at[n] == ':') {
			*ret = strtod(at + n + 1, NULL);
			return true;
		}
	}
	return false;
}

static bool read_text(const char *path, char *out, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(out, 1, size - 1, f) : 0;

	if (f)
		(void)fclose(f);
	out[n] = '\0';
	return n > 0;
}

void memory_kernel(struct kernel_memory *ret)
{
	char text[8192];

	*ret = (struct kernel_memory){ 0 };
	(void)read_text("/proc/meminfo", text, sizeof(text));
	for (int i = 0; i < KERNEL_COUNT_; i++)
		(void)field(text, kernel_part_names[i], &ret->kib[i]);
}

static size_t children(pid_t pid, pid_t *out)
{
	char path[64], text[1024], *at = text, *end;
	size_t n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	(void)read_text(path, text, sizeof(text));
	for (; n < CHILDREN_MAX; at = end) {
		long child = strtol(at, &end, 10);

		if (end == at)
			break;
		out[n++] = (pid_t)child;
	}
	return n;
}

/* At most as deep as a sandbox of ours with the program around it. */
static bool add(pid_t pid, struct user_memory *sum, int depth)
{
	pid_t below[CHILDREN_MAX];
	size_t n = children(pid, below);
	char path[64], text[4096];
	double pss, shared;

	(void)snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	if (depth > 8 || !read_text(path, text, sizeof(text)) || !field(text, "Pss", &pss) ||
	    !field(text, "Pss_Shmem", &shared))
		return false;
	sum->n_processes++;
	if (n == 0) {
		sum->leaf_kib += pss;
	} else {
		sum->walls_kib += pss;
		sum->shared_kib += shared;
	}
	for (size_t i = 0; i < n; i++)
		if (!add(below[i], sum, depth + 1))
			return false;
	return true;
}

bool memory_add_tree(pid_t pid, struct user_memory *sum)
{
	return add(pid, sum, 0);
}
