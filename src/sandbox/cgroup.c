/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/private.h"
#include "base/root.h"
#include "sandbox/advice.h"
#include "sandbox/cgroup_priv.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define QUOTA_MIN_US 1000u /* the kernel takes no less */
#define PREFIX "creel-"
#define SWEEP_EVERY 64
#define SWEEP_AGE_S 60u

const char *const cgroup_controller[] = { "memory", "pids", "cpu" };

/* ---- small files ---- */

int cgroup_put(const char *dir, const char *file, const char *text)
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

int cgroup_put_u64(const char *dir, const char *file, uint64_t v)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64, v);
	return cgroup_put(dir, file, text);
}

/* The whole file into `out`; empty when it cannot be read. */
static void get_file(const char *path, char *out, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0)
		n = read(fd, out, size - 1);
	out[n > 0 ? n : 0] = '\0';
}

void cgroup_get(const char *dir, const char *file, char *out, size_t size)
{
	char path[CGROUP_PATH_MAX + 64];

	out[0] = '\0';
	if (*dir && snprintf(path, sizeof(path), "%s/%s", dir, file) < (int)sizeof(path))
		get_file(path, out, size);
}

/* "name 12" on a line of its own; a file that is one number when name is NULL. */
static uint64_t get_u64(const char *dir, const char *file, const char *name)
{
	char text[4096] = "", *at = text;

	cgroup_get(dir, file, text, sizeof(text));
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

static bool names_controller(char *list, const char *name)
{
	char *word;

	while ((word = strsep(&list, ",")))
		if (strcmp(word, name) == 0)
			return true;
	return false;
}

int cgroup_own(const struct cgroup_host *h, const char *name, char *out, size_t size)
{
	char text[8192], *line, *save = text;

	get_file(h->self, text, sizeof(text));
	while ((line = strsep(&save, "\n"))) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		if (*name ? !names_controller(list + 1, name) : list[1] != '\0')
			continue;
		if (path[0] != '/' || strncmp(path, "/..", 3) == 0)
			return -ENOENT;
		return snprintf(out, size, "%s", path) < (int)size ? 0 : -ENAMETOOLONG;
	}
	return -ENOENT;
}

static void group_name(char *out, size_t size)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	(void)snprintf(out, size, PREFIX "%d-%lx", getpid(), (unsigned long)t.tv_nsec);
}

static bool abandoned(const char *name, const struct stat *st, unsigned age_s)
{
	struct timespec now;
	char *end;
	long pid;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return false;
	pid = strtol(name + strlen(PREFIX), &end, 10);
	(void)clock_gettime(CLOCK_REALTIME, &now);
	return *end == '-' && pid > 1 && pid <= INT_MAX && st->st_mtime + (time_t)age_s <= now.tv_sec &&
	       kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

void cgroup_sweep(const char *dir, unsigned age_s)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	struct stat st;

	while (d && (entry = readdir(d))) /* a stream of our own: NOLINT(concurrency-mt-unsafe) */
		if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
		    abandoned(entry->d_name, &st, age_s))
			(void)unlinkat(dirfd(d), entry->d_name,
				       AT_REMOVEDIR); /* one with processes in it refuses */
	if (d)
		(void)closedir(d);
}

int cgroup_make(const struct cgroup_host *h, enum cgroup_version version, const char *parent,
		char out[static CGROUP_PATH_MAX])
{
	char name[64];
	int r = -ENAMETOOLONG;

	if (getpid() % SWEEP_EVERY == 0)
		cgroup_sweep(parent, SWEEP_AGE_S);
	group_name(name, sizeof(name));
	if (snprintf(out, CGROUP_PATH_MAX, "%s/%s", parent, name) < CGROUP_PATH_MAX)
		r = h->heir && version != CGROUP_NONE ? h->heir->tell(h->heir->ctx, version, out) : 0;
	if (r >= 0)
		r = h->make_dir(out);
	if (r < 0)
		out[0] = '\0';
	return r;
}

/* ---- making one ---- */

uint64_t cgroup_quota_us(const struct cgroup_limits *l)
{
	uint64_t us = (uint64_t)(l->cpus * CGROUP_PERIOD_US);

	return us < QUOTA_MIN_US ? QUOTA_MIN_US : us;
}

static int v1_dir(const struct cgroup_host *h, int i, char out[static CGROUP_PATH_MAX])
{
	char own[CGROUP_PATH_MAX / 2], parent[CGROUP_PATH_MAX];
	int r = cgroup_own(h, cgroup_controller[i], own, sizeof(own));

	if (r >= 0 && snprintf(parent, sizeof(parent), "%s/%s%s", h->root, cgroup_controller[i],
			       own[1] ? own : "") >= (int)sizeof(parent))
		r = -ENAMETOOLONG;
	return r < 0 ? r : cgroup_make(h, CGROUP_V1, parent, out);
}

/* What lies in TCP's buffers counts by itself in v1, and without a limit of its own not at all. */
static int v1_set_memory(const char *dir, uint64_t memory)
{
	int r = cgroup_put_u64(dir, "memory.limit_in_bytes", memory), tcp;

	(void)cgroup_put_u64(dir, "memory.memsw.limit_in_bytes", memory); /* absent without swap accounting */
	tcp = cgroup_put_u64(dir, "memory.kmem.tcp.limit_in_bytes", memory);
	return r < 0 || tcp == -ENOENT ? r : tcp;
}

static int v1_set(int i, const char *dir, const struct cgroup_limits *l)
{
	int r;

	switch (i) {
	case 0:
		return v1_set_memory(dir, l->memory);
	case 1:
		return cgroup_put_u64(dir, "pids.max", l->pids);
	default:
		r = cgroup_put_u64(dir, "cpu.cfs_period_us", CGROUP_PERIOD_US);
		return r < 0 ? r : cgroup_put_u64(dir, "cpu.cfs_quota_us", cgroup_quota_us(l));
	}
}

static void v1_make(const struct cgroup_host *h, const struct cgroup_limits *l, struct cgroup *c)
{
	for (int i = 0; i < 3; i++) {
		if (!(l->must & 1u << i))
			continue;
		if (v1_dir(h, i, c->dir[i]) < 0)
			continue;
		c->version = CGROUP_V1;
		if (v1_set(i, c->dir[i], l) == 0)
			c->have |= 1u << i;
	}
}

/* In a container there is no systemd to ask, and nothing to be gained by being its root. */
const char *cgroup_fix(void)
{
	if (advice_container())
		return "limits of the container itself (docker or podman run --memory 1g --pids-limit 512 --cpus 2; resources of a pod), and -e walls.optional=limits";
	return root_of_host()
		       ? "--cgroup-parent DIR, a cgroup v2 directory that can be written to and has no processes"
		       : "systemd-run --user --scope -p Delegate=yes creel …, or run as root";
}

static int missing(const struct cgroup_limits *l, unsigned have, struct err *e)
{
	char list[64] = "";

	if (!(l->must & ~have))
		have = 0; /* each of them somewhere, all of them nowhere */
	for (int i = 0; i < 3; i++)
		if (l->must & ~have & 1u << i)
			(void)snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
				       *list ? ", " : "", cgroup_controller[i]);
	return err_set(e, ERR_UNAVAIL,
		       "no cgroup for the limit on %s: this process may not make one; fix: %s", list,
		       cgroup_fix());
}

int cgroup_new_on(const struct cgroup_host *h, const struct cgroup_limits *l, struct str parent,
		  struct cgroup *ret, struct err *e)
{
	struct cgroup c = CGROUP_EMPTY;
	unsigned seen = 0;

	if (parent.n) {
		int r = cgroup_v2_below(h, l, parent, &c, e);

		if (r < 0)
			return r;
	} else if (!cgroup_v2_find(h, l, &c, &seen) && l->must) {
		v1_make(h, l, &c);
	}
	seen |= c.have;
	if ((c.have & l->must) != l->must) {
		cgroup_done(&c);
		return missing(l, seen, e);
	}
	*ret = c;
	return 0;
}

static int make_dir(const char *path)
{
	int r = private_mkdir(AT_FDCWD, path, 0755);

	return r == 0 ? -EEXIST : r < 0 ? r : 0;
}

static const struct cgroup_host host = { .root = "/sys/fs/cgroup",
					 .self = "/proc/self/cgroup",
					 .make_dir = make_dir };

bool cgroup_v2_possible(void)
{
	return cgroup_v2_may(&host);
}

bool cgroup_settle(struct cgroup *ret)
{
	*ret = CGROUP_EMPTY;
	return cgroup_v2_settle(&host, ret);
}

int cgroup_new(const struct cgroup_limits *l, struct str parent, struct cgroup *ret, struct err *e)
{
	return cgroup_new_on(&host, l, parent, ret, e);
}

int cgroup_new_for(const struct cgroup_heir *heir, const struct cgroup_limits *l, struct str parent,
		   struct cgroup *ret, struct err *e)
{
	struct cgroup_host h = host;

	h.heir = heir;
	return cgroup_new_on(&h, l, parent, ret, e);
}

int cgroup_add(const struct cgroup *c, pid_t pid)
{
	for (int i = 0; i < 3 && c->version == CGROUP_V1; i++) {
		int r = c->dir[i][0] ? cgroup_put_u64(c->dir[i], "cgroup.procs", (uint64_t)pid) : 0;

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
		ret->memory_now = get_u64(c->dir[0], "memory.current", NULL);
	} else if (c->version == CGROUP_V1) {
		ret->oom_kills = get_u64(c->dir[0], "memory.oom_control", "oom_kill");
		ret->memory_peak = get_u64(c->dir[0], "memory.max_usage_in_bytes", NULL);
		ret->memory_now = get_u64(c->dir[0], "memory.usage_in_bytes", NULL);
		ret->pids_refused = get_u64(c->dir[1], "pids.events", "max");
		ret->throttled_us = get_u64(c->dir[2], "cpu.stat", "throttled_time") / 1000;
	}
}

/* By pidfd, and only if it is still in this group: a number that was just read may be somebody else's by now. */
static void kill_member(const char *group, pid_t pid)
{
	_cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	char path[64], text[4096];

	if (pidfd < 0)
		return;
	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	get_file(path, text, sizeof(text));
	if (strstr(text, group))
		(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}

static void kill_members(const char *dir)
{
	char text[4096], *save = text, *line;
	const char *slash = strrchr(dir, '/');

	cgroup_get(dir, "cgroup.procs", text, sizeof(text));
	while (slash && (line = strsep(&save, "\n"))) {
		long pid = strtol(line, NULL, 10);

		/* 0 is one that our pid namespace does not see; to kill() it would mean all of our own group. */
		if (pid > 1 && pid <= INT_MAX)
			kill_member(slash, (pid_t)pid);
	}
}

static void remove_dir(const char *dir, bool v2)
{
	const struct timespec pause = { .tv_nsec = 2000000 };

	/* Bounded: a task that cannot die (stuck in the kernel) must not hold us; a later run sweeps what is left. */
	for (int i = 0; i < 250 && rmdir(dir) < 0 && errno == EBUSY; i++) {
		if (!v2 || cgroup_put(dir, "cgroup.kill", "1") < 0)
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
	cgroup_v2_return(c);
	*c = CGROUP_EMPTY;
}
