/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu.h"
#include "measure.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { DEPTH = 8 };

const char *const cpu_names[CPU_COUNT_] = { "guard", "runner", "keeper", "warden", "programs", "others" };

void cpu_adopt(void)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

struct facts {
	char name[32];
	int parent;
	double children_us;
};

static int facts_of(int pid, struct facts *ret)
{
	char path[64], text[1024];
	const char *end;
	long user, sys;
	size_t n;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	n = fread(text, 1, sizeof(text) - 1, f);
	(void)fclose(f);
	text[n] = '\0';
	end = strrchr(text, ')');
	if (!end || sscanf(text, "%*d (%31[^)]", ret->name) != 1 ||
	    sscanf(end, ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %ld %ld", &ret->parent, &user,
		   &sys) != 3)
		return -1;
	ret->children_us = (double)(user + sys) * 1e6 / (double)sysconf(_SC_CLK_TCK);
	return 0;
}

static double own_us(int pid)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	if (f)
		(void)fclose(f);
	return (double)ns / 1e3;
}

static bool is_ours(int parent)
{
	struct facts f;

	for (unsigned depth = 0; parent > 1 && depth < DEPTH; depth++) {
		if (parent == (int)getpid())
			return true;
		if (facts_of(parent, &f) < 0)
			return false;
		parent = f.parent;
	}
	return false;
}

static enum cpu_of kind_of(const char *name)
{
	for (int i = 0; i < CPU_PROGRAMS; i++)
		if (strncmp(name, "creel-", 6) == 0 && strcmp(name + 6, cpu_names[i]) == 0)
			return (enum cpu_of)i;
	return CPU_OTHERS;
}

void cpu_take(struct cpu *ret)
{
	DIR *d = opendir("/proc");
	const struct dirent *de;

	if (!d)
		measure_fail("/proc: %s", strerror(errno));
	*ret = (struct cpu){ 0 };
	while ((de = readdir(d))) {
		int pid = atoi(de->d_name);
		struct facts f;

		if (pid <= 0 || facts_of(pid, &f) < 0 || !is_ours(f.parent))
			continue;
		ret->us[kind_of(f.name)] += own_us(pid);
		if (kind_of(f.name) == CPU_WARDEN)
			ret->us[CPU_PROGRAMS] += f.children_us;
	}
	(void)closedir(d);
}
