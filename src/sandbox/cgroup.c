/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/cgroup.h"
#include "base/fd.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define V2_MAGIC 0x63677270
#define ROOT "/sys/fs/cgroup"
#define PERIOD_US 100000u

static const char *const controller[] = { "memory", "pids", "cpu" };

/* ---- small files ---- */

static int put(const char *dir, const char *file, const char *text)
{
	char path[CGROUP_PATH_MAX + 64];
	_cleanup_close_ int fd = FD_NONE;

	if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

static int put_u64(const char *dir, const char *file, uint64_t v)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64, v);
	return put(dir, file, text);
}

/* The whole file into `out`; empty when it cannot be read. */
static void get(const char *dir, const char *file, char *out, size_t size)
{
	char path[CGROUP_PATH_MAX + 64];
	_cleanup_close_ int fd = FD_NONE;
	ssize_t n = -1;

	if (snprintf(path, sizeof(path), "%s/%s", dir, file) < (int)sizeof(path))
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, out, size - 1);
	out[n > 0 ? n : 0] = '\0';
}

/* "name 12" on a line of its own; a file that is one number when name is NULL. */
static uint64_t get_u64(const char *dir, const char *file, const char *name)
{
	char text[4096], *at = text;

	get(dir, file, text, sizeof(text));
	if (name) {
		size_t n = strlen(name);

		while (at && (strncmp(at, name, n) != 0 || at[n] != ' ')) {
			at = strchr(at, '\n');
			at = at ? at + 1 : NULL;
		}
		at = at ? at + n + 1 : NULL;
	}
	return at ? strtoull(at, NULL, 10) : 0;
}

/* ---- where we are ---- */

/* Our own group in the hierarchy with this controller ("" = v2), as /proc/self/cgroup has it. */
static int own_group(const char *name, char *out, size_t size)
{
	char text[8192], *line, *save = text;

	get("/proc/self", "cgroup", text, sizeof(text));
	while ((line = strsep(&save, "\n"))) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL, *word;

		if (!path)
			continue;
		*path++ = '\0';
		list++;
		if (!*name) {
			if (*list)
				continue;
			return snprintf(out, size, "%s", path) < (int)size ? 0 : -ENAMETOOLONG;
		}
		while ((word = strsep(&list, ",")))
			if (strcmp(word, name) == 0)
				return snprintf(out, size, "%s", path) < (int)size ? 0 : -ENAMETOOLONG;
	}
	return -ENOENT;
}

static const char *v2_root(void)
{
	struct statfs fs;

	if (statfs(ROOT, &fs) == 0 && fs.f_type == V2_MAGIC)
		return ROOT;
	if (statfs(ROOT "/unified", &fs) == 0 && fs.f_type == V2_MAGIC)
		return ROOT "/unified";
	return NULL;
}

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += n)
		if ((at == text || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\n' || at[n] == '\0'))
			return true;
	return false;
}

/* Limits that children of this v2 directory can have; turned on when they are only available. */
static unsigned v2_controllers(const char *dir)
{
	char text[512];
	unsigned have = 0;

	for (int i = 0; i < 3; i++) {
		char on[32];

		get(dir, "cgroup.subtree_control", text, sizeof(text));
		if (!has_word(text, controller[i])) {
			(void)snprintf(on, sizeof(on), "+%s", controller[i]);
			(void)put(dir, "cgroup.subtree_control",
				  on); /* refused where processes live in it: then it is off */
			get(dir, "cgroup.subtree_control", text, sizeof(text));
		}
		if (has_word(text, controller[i]))
			have |= 1u << i;
	}
	return have;
}

static void group_name(char *out, size_t size)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	(void)snprintf(out, size, "creel-%d-%lx", getpid(), (unsigned long)t.tv_nsec);
}

/* ---- making one ---- */

static unsigned v2_set(const char *dir, const struct cgroup_limits *l)
{
	unsigned have = 0;
	char text[64];

	if (l->memory && put_u64(dir, "memory.max", l->memory) == 0) {
		(void)put(dir, "memory.swap.max", "0");
		(void)put(dir, "memory.oom.group", "1");
		have |= CGROUP_MEMORY;
	}
	if (l->pids && put_u64(dir, "pids.max", l->pids) == 0)
		have |= CGROUP_PIDS;
	(void)snprintf(text, sizeof(text), "%" PRIu64 " %u", (uint64_t)(l->cpus * PERIOD_US), PERIOD_US);
	if (l->cpus > 0 && put(dir, "cpu.max", text) == 0)
		have |= CGROUP_CPU;
	return have;
}

static bool v2_try(const char *parent, const struct cgroup_limits *l, struct cgroup *c)
{
	char name[64];
	unsigned can = v2_controllers(parent);

	if (!can)
		return false;
	group_name(name, sizeof(name));
	if (snprintf(c->dir[0], CGROUP_PATH_MAX, "%s/%s", parent, name) >= CGROUP_PATH_MAX ||
	    mkdir(c->dir[0], 0755) < 0) {
		c->dir[0][0] = '\0';
		return false;
	}
	c->version = CGROUP_V2;
	c->have = v2_set(c->dir[0], l) & can;
	c->fd = open(c->dir[0], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->fd >= 0 && (c->have & l->must) == l->must)
		return true;
	cgroup_done(c);
	return false;
}

/* Up from our own group: a group with processes in it cannot have children with limits, its parent may. */
static bool v2_find(const struct cgroup_limits *l, struct cgroup *c)
{
	const char *root = v2_root();
	char own[CGROUP_PATH_MAX / 2], path[CGROUP_PATH_MAX];

	if (!root || own_group("", own, sizeof(own)) < 0)
		return false;
	for (int up = 0; up < 16; up++) {
		char *slash;

		(void)snprintf(path, sizeof(path), "%s%s", root, own[1] ? own : "");
		if (v2_try(path, l, c))
			return true;
		slash = strrchr(own, '/');
		if (!own[1] || !slash)
			return false;
		slash[slash == own] = '\0';
	}
	return false;
}

static int v1_dir(int i, char *out, size_t size)
{
	char own[CGROUP_PATH_MAX / 2], name[64];
	int r = own_group(controller[i], own, sizeof(own));

	if (r < 0)
		return r;
	group_name(name, sizeof(name));
	if (snprintf(out, size, ROOT "/%s%s/%s", controller[i], own[1] ? own : "", name) >= (int)size)
		return -ENAMETOOLONG;
	return mkdir(out, 0755) < 0 ? -errno : 0;
}

static int v1_set(int i, const char *dir, const struct cgroup_limits *l)
{
	int r;

	switch (i) {
	case 0:
		r = put_u64(dir, "memory.limit_in_bytes", l->memory);
		(void)put_u64(dir, "memory.memsw.limit_in_bytes",
			      l->memory); /* absent without swap accounting */
		return r;
	case 1:
		return put_u64(dir, "pids.max", l->pids);
	default:
		r = put_u64(dir, "cpu.cfs_period_us", PERIOD_US);
		return r < 0 ? r : put_u64(dir, "cpu.cfs_quota_us", (uint64_t)(l->cpus * PERIOD_US));
	}
}

static void v1_make(const struct cgroup_limits *l, struct cgroup *c)
{
	for (int i = 0; i < 3; i++) {
		if (!(l->must & 1u << i))
			continue;
		if (v1_dir(i, c->dir[i], CGROUP_PATH_MAX) < 0) {
			c->dir[i][0] = '\0';
			continue;
		}
		c->version = CGROUP_V1;
		if (v1_set(i, c->dir[i], l) == 0)
			c->have |= 1u << i;
	}
}

static int missing(const struct cgroup_limits *l, unsigned have, struct err *e)
{
	char list[64] = "";

	for (int i = 0; i < 3; i++)
		if (l->must & ~have & 1u << i)
			(void)snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
				       *list ? ", " : "", controller[i]);
	return err_set(
		e, ERR_UNAVAIL,
		"no cgroup for the limit on %s: this process may not make one; fix: systemd-run --user --scope -p Delegate=yes "
		"creel run …, or run as root",
		list);
}

int cgroup_new(const struct cgroup_limits *l, struct str parent, struct cgroup *ret, struct err *e)
{
	struct cgroup c = CGROUP_EMPTY;
	char dir[CGROUP_PATH_MAX];

	if (parent.n) {
		(void)snprintf(dir, sizeof(dir), "%.*s", (int)parent.n, parent.p);
		if (!v2_try(dir, l, &c))
			return err_set(e, ERR_UNAVAIL, "cannot make a cgroup with the limits in '%s'", dir);
	} else if (!v2_find(l, &c) && l->must)
		v1_make(l, &c);
	if ((c.have & l->must) != l->must) {
		unsigned have = c.have;

		cgroup_done(&c);
		return missing(l, have, e);
	}
	*ret = c;
	return 0;
}

int cgroup_add(const struct cgroup *c, pid_t pid)
{
	for (int i = 0; i < 3 && c->version == CGROUP_V1; i++) {
		int r = c->dir[i][0] ? put_u64(c->dir[i], "cgroup.procs", (uint64_t)pid) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

void cgroup_stat(const struct cgroup *c, struct cgroup_stat *ret)
{
	*ret = (struct cgroup_stat){ 0 };
	if (c->version == CGROUP_V2) {
		ret->oom_kills = get_u64(c->dir[0], "memory.events", "oom_kill");
		ret->pids_refused = get_u64(c->dir[0], "pids.events", "max");
		ret->throttled_us = get_u64(c->dir[0], "cpu.stat", "throttled_usec");
		ret->cpu_us = get_u64(c->dir[0], "cpu.stat", "usage_usec");
		ret->memory_peak = get_u64(c->dir[0], "memory.peak", NULL);
	} else if (c->version == CGROUP_V1) {
		ret->oom_kills = get_u64(c->dir[0], "memory.oom_control", "oom_kill");
		ret->memory_peak = get_u64(c->dir[0], "memory.max_usage_in_bytes", NULL);
		ret->pids_refused = get_u64(c->dir[1], "pids.events", "max");
		ret->throttled_us = get_u64(c->dir[2], "cpu.stat", "throttled_time") / 1000;
	}
}

static void kill_members(const char *dir)
{
	char text[8192], *save = text, *line;

	get(dir, "cgroup.procs", text, sizeof(text));
	while ((line = strsep(&save, "\n")))
		if (*line)
			(void)kill((pid_t)strtol(line, NULL, 10), SIGKILL);
}

static void remove_dir(const char *dir, bool v2)
{
	const struct timespec pause = { .tv_nsec = 2000000 };

	/* Bounded: a task that cannot die (stuck in the kernel) must not hold us; the next run sweeps what is left. */
	for (int i = 0; i < 250 && rmdir(dir) < 0 && errno == EBUSY; i++) {
		if (!v2 || put(dir, "cgroup.kill", "1") < 0)
			kill_members(dir);
		(void)nanosleep(&pause, NULL);
	}
}

void cgroup_done(struct cgroup *c)
{
	for (int i = 0; i < 3; i++)
		if (c->dir[i][0])
			remove_dir(c->dir[i], c->version == CGROUP_V2);
	c->fd = fd_close(c->fd);
	*c = CGROUP_EMPTY;
}
