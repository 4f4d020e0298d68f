/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sandbox has in memory where no cgroup counts it: the sum over its processes, each with its share of what several have (PSS), or with all that it has
 * where the kernel does not tell that. A process that comes or goes meanwhile is in it or not. What is in tmpfs and mapped by nobody is not.
 */
#include "engine/engine_priv.h"

#include "base/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PROCESSES_MAX 4096u
#define FILE_MAX ((size_t)64 << 10)

struct crowd {
	pid_t v[PROCESSES_MAX];
	size_t n;
};

/* Behind `name` in a file of lines; kB. */
static bool find_kib(struct str text, struct str name, uint64_t *ret)
{
	struct str line;

	while (str_cut(text, '\n', &line, &text)) {
		if (!str_starts(line, name))
			continue;
		line = str_trim(str_from(line, name.n));
		(void)str_cut(line, ' ', &line, &(struct str){ 0 });
		return str_to_u64(line, UINT64_MAX / 1024, ret) >= 0;
	}
	return false;
}

static uint64_t memory_of(pid_t pid)
{
	_cleanup_free_ char *pss = NULL, *status = NULL;
	char path[64];
	uint64_t kib = 0;
	size_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	if (fd_read_file(path, FILE_MAX, &pss, &n) >= 0 &&
	    find_kib((struct str){ .p = pss, .n = n }, STR("Pss:"), &kib))
		return kib * 1024;
	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (fd_read_file(path, FILE_MAX, &status, &n) >= 0 &&
	    find_kib((struct str){ .p = status, .n = n }, STR("VmRSS:"), &kib))
		return kib * 1024;
	return 0;
}

static void add_children(struct crowd *c, const char *path)
{
	_cleanup_free_ char *text = NULL;
	struct str rest = { 0 }, one;
	size_t n = 0;

	if (fd_read_file(path, FILE_MAX, &text, &n) < 0)
		return;
	rest = (struct str){ .p = text, .n = n };
	while (str_cut(rest, ' ', &one, &rest) && c->n < PROCESSES_MAX) {
		uint64_t pid;

		if (str_to_u64(one, INT32_MAX, &pid) >= 0)
			c->v[c->n++] = (pid_t)pid;
	}
}

/* Each thread has children of its own. */
static void add_below(struct crowd *c, pid_t pid)
{
	char path[320];
	struct dirent *entry;
	DIR *d;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%s/children", pid, entry->d_name);
		add_children(c, path);
	}
	if (d)
		(void)closedir(d);
}

size_t live_children(pid_t above, pid_t *v, size_t max)
{
	struct crowd *c = calloc(1, sizeof(*c));
	size_t n = 0;

	if (!c)
		return 0;
	add_below(c, above);
	n = c->n < max ? c->n : max;
	memcpy(v, c->v, n * sizeof(*v));
	free(c);
	return n;
}

uint64_t live_memory(pid_t above)
{
	struct crowd *c = calloc(1, sizeof(*c));
	uint64_t sum = 0;

	if (!c)
		return 0;
	add_below(c, above);
	for (size_t i = 0; i < c->n; i++) {
		sum += memory_of(c->v[i]);
		add_below(c, c->v[i]);
	}
	free(c);
	return sum;
}
