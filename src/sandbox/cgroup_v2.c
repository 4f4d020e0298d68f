/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a cgroup v2 group with limits can be made. Two rules of the kernel decide: a group that gives limits to its children
 * has no processes of its own (the root of all excepted), and who moves a process must be allowed to write to the nearest
 * group that is above both places.
 */
#include "base/fd.h"
#include "sandbox/cgroup_priv.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALL (CGROUP_MEMORY | CGROUP_PIDS | CGROUP_CPU)
#define LEVELS_MAX 16

/* v2 alone at the root, or beside v1. */
static int v2_root(const struct cgroup_host *h, char *out, size_t size)
{
	static const char *const places[] = { "", "/unified" };
	char path[CGROUP_PATH_MAX];

	for (size_t i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s%s/cgroup.controllers", h->root, places[i]);
		if (access(path, R_OK) == 0)
			return snprintf(out, size, "%s%s", h->root, places[i]) < (int)size ? 0
											   : -ENAMETOOLONG;
	}
	return -ENOENT;
}

/* ---- what a group gives to its children ---- */

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += n)
		if ((at == text || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\n' || at[n] == '\0'))
			return true;
	return false;
}

static unsigned listed(const char *dir, const char *file)
{
	char text[512];
	unsigned found = 0;

	cgroup_get(dir, file, text, sizeof(text));
	for (int i = 0; i < 3; i++)
		found |= has_word(text, cgroup_controller[i]) ? 1u << i : 0;
	return found;
}

/* The root of all has no type. */
static bool is_domain(const char *dir)
{
	char text[64];

	cgroup_get(dir, "cgroup.type", text, sizeof(text));
	return !*text || strcmp(text, "domain\n") == 0;
}

/*
 * A group with processes takes some controllers (pids, cpu) although it should not, and is for threads from then on: no
 * sandbox could ever be put below it. So it is not even tried.
 */
static bool may_divide(const char *dir)
{
	char type[64], procs[64];

	cgroup_get(dir, "cgroup.type", type, sizeof(type));
	cgroup_get(dir, "cgroup.procs", procs, sizeof(procs));
	return !*type || (strcmp(type, "domain\n") == 0 && !*procs);
}

static bool turn(const char *dir, char sign, unsigned which)
{
	char text[64] = "";

	for (int i = 0; i < 3; i++)
		if (which & 1u << i)
			(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%c%s ", sign,
				       cgroup_controller[i]);
	return cgroup_put(dir, "cgroup.subtree_control", text) == 0;
}

/* Limits that children of this directory can have; turned on when they are only available, all at once or one by one. */
static unsigned controllers(const char *dir)
{
	unsigned on = listed(dir, "cgroup.subtree_control");
	unsigned off = on == ALL ? 0 : listed(dir, "cgroup.controllers") & ~on;

	if (!off || !may_divide(dir))
		return on;
	if (!turn(dir, '+', off))
		for (unsigned bit = 1; bit < ALL; bit <<= 1)
			if (off & bit)
				(void)turn(dir, '+', bit);
	return listed(dir, "cgroup.subtree_control");
}

/* ---- making one ---- */

static unsigned set_limits(const char *dir, const struct cgroup_limits *l)
{
	unsigned have = 0;
	char text[64];

	if (l->memory && cgroup_put_u64(dir, "memory.max", l->memory) == 0) {
		(void)cgroup_put(dir, "memory.swap.max", "0");
		if (!l->stays)
			(void)cgroup_put(dir, "memory.oom.group", "1");
		have |= CGROUP_MEMORY;
	}
	if (l->pids && cgroup_put_u64(dir, "pids.max", l->pids) == 0)
		have |= CGROUP_PIDS;
	(void)snprintf(text, sizeof(text), "%" PRIu64 " %u", cgroup_quota_us(l), CGROUP_PERIOD_US);
	if (l->cpus > 0 && cgroup_put(dir, "cpu.max", text) == 0)
		have |= CGROUP_CPU;
	return have;
}

/* Who may make a directory may not always move a process into it; a tree of plain files has nothing to write to. */
static bool may_enter(const char *dir)
{
	char path[CGROUP_PATH_MAX + 64];

	(void)snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	return access(path, W_OK) == 0 || errno == ENOENT;
}

static void undo(struct cgroup *c)
{
	struct cgroup made = *c;

	made.aside[0] = '\0'; /* that one stays, until we go back */
	cgroup_done(&made);
	c->version = CGROUP_NONE;
	c->dir[0][0] = '\0';
	c->fd = FD_NONE;
	c->have = 0;
}

static bool try_in(const struct cgroup_host *h, const char *parent, const struct cgroup_limits *l,
		   struct cgroup *c, unsigned *seen)
{
	unsigned can = may_enter(parent) ? controllers(parent) : 0;

	if (!can || cgroup_make(h, CGROUP_V2, parent, c->dir[0]) < 0)
		return false;
	c->version = CGROUP_V2;
	c->have = set_limits(c->dir[0], l) & can;
	c->fd = open(c->dir[0], O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* Memory is for whole processes only: a group that has it is no group for threads. */
	if (c->fd >= 0 && (can & CGROUP_MEMORY || is_domain(c->dir[0]))) {
		*seen |= c->have;
		if ((c->have & l->must) == l->must)
			return true;
	}
	undo(c);
	return false;
}

/* ---- where ---- */

/* The kernel lists them in no order. */
static bool is_ours_alone(const char *dir, pid_t heir)
{
	char text[128], *save = text, *line;
	bool us = false;

	cgroup_get(dir, "cgroup.procs", text, sizeof(text));
	while ((line = strsep(&save, "\n")) && *line) {
		long pid = strtol(line, NULL, 10);

		if (pid != getpid() && (heir <= 0 || pid != heir))
			return false;
		us = us || pid == getpid();
	}
	return us;
}

/*
 * A service or scope with Delegate=yes is ours to divide, but we are in it. When nobody else is, we go into a group of our own
 * below it.
 */
static bool step_aside(const struct cgroup_host *h, const char *dir, struct cgroup *c)
{
	const pid_t heir = h->heir ? h->heir->pid : 0;
	char type[64];

	cgroup_get(dir, "cgroup.type", type, sizeof(type));
	if (strcmp(type, "domain\n") != 0 || !is_ours_alone(dir, heir) || !may_enter(dir) ||
	    cgroup_make(h, CGROUP_NONE, dir, c->aside) < 0)
		return false;
	if ((heir <= 0 || cgroup_put_u64(c->aside, "cgroup.procs", (uint64_t)heir) == 0) &&
	    cgroup_put(c->aside, "cgroup.procs", "0") == 0)
		return true;
	(void)rmdir(c->aside);
	c->aside[0] = '\0';
	return false;
}

bool cgroup_v2_settle(const struct cgroup_host *h, struct cgroup *c)
{
	char root[CGROUP_PATH_MAX / 4], own[CGROUP_PATH_MAX / 2], path[CGROUP_PATH_MAX];

	if (v2_root(h, root, sizeof(root)) < 0 || cgroup_own(h, "", own, sizeof(own)) < 0)
		return false;
	(void)snprintf(path, sizeof(path), "%s%s", root, own[1] ? own : "");
	return step_aside(h, path, c);
}

static void go_back(const struct cgroup *c, pid_t heir)
{
	char dir[CGROUP_PATH_MAX], *slash;

	if (!c->aside[0])
		return;
	memcpy(dir, c->aside, sizeof(dir));
	slash = strrchr(dir, '/');
	*slash = '\0';
	(void)turn(dir, '-', ALL);
	if (heir > 0)
		(void)cgroup_put_u64(dir, "cgroup.procs", (uint64_t)heir);
	if (cgroup_put(dir, "cgroup.procs", "0") == 0)
		(void)rmdir(c->aside);
}

void cgroup_v2_return(const struct cgroup *c)
{
	go_back(c, 0);
}

/* From our own group up: where processes are in it, its parent may be free of them. */
static bool try_upwards(const struct cgroup_host *h, const char *root, char *own,
			const struct cgroup_limits *l, struct cgroup *c, unsigned *seen)
{
	char path[CGROUP_PATH_MAX], *slash;

	for (int up = 0; up < LEVELS_MAX; up++) {
		(void)snprintf(path, sizeof(path), "%s%s", root, own[1] ? own : "");
		if (try_in(h, path, l, c, seen))
			return true;
		slash = strrchr(own, '/');
		if (!own[1] || !slash)
			return false;
		slash[slash == own] = '\0';
	}
	return false;
}

bool cgroup_v2_may(const struct cgroup_host *h)
{
	char root[CGROUP_PATH_MAX / 4], own[CGROUP_PATH_MAX / 2], path[CGROUP_PATH_MAX], *slash;

	if (v2_root(h, root, sizeof(root)) < 0 || !listed(root, "cgroup.controllers") ||
	    cgroup_own(h, "", own, sizeof(own)) < 0)
		return false;
	for (int up = 0; up < LEVELS_MAX; up++) {
		(void)snprintf(path, sizeof(path), "%s%s", root, own[1] ? own : "");
		if (may_enter(path))
			return true;
		slash = strrchr(own, '/');
		if (!own[1] || !slash)
			return false;
		slash[slash == own] = '\0';
	}
	return true;
}

bool cgroup_v2_find(const struct cgroup_host *h, const struct cgroup_limits *l, struct cgroup *c,
		    unsigned *seen)
{
	char root[CGROUP_PATH_MAX / 4], own[CGROUP_PATH_MAX / 2], path[CGROUP_PATH_MAX];

	if (v2_root(h, root, sizeof(root)) < 0 || cgroup_own(h, "", own, sizeof(own)) < 0)
		return false;
	(void)snprintf(path, sizeof(path), "%s%s", root, own[1] ? own : "");
	if (try_upwards(h, root, own, l, c, seen))
		return true;
	/* Last: while we are aside, nobody else can be put into our group. */
	if (!step_aside(h, path, c))
		return false;
	if (try_in(h, path, l, c, seen))
		return true;
	go_back(c, h->heir ? h->heir->pid : 0);
	c->aside[0] = '\0';
	return false;
}

/* The nearest group above both our own and `dir`. False when it cannot be told: then the kernel has the word. */
static bool common_parent(const struct cgroup_host *h, const char *dir, char out[static CGROUP_PATH_MAX])
{
	char root[CGROUP_PATH_MAX / 4], own[CGROUP_PATH_MAX / 2], real[PATH_MAX];
	size_t n = 0;

	if (v2_root(h, root, sizeof(root)) < 0 || cgroup_own(h, "", own, sizeof(own)) < 0 ||
	    !realpath(dir, real))
		return false;
	(void)snprintf(out, CGROUP_PATH_MAX, "%s%s", root, own[1] ? own : "");
	for (size_t i = 0; i == 0 || out[i - 1]; i++) {
		bool end = !out[i] || out[i] == '/', real_end = !real[i] || real[i] == '/';

		if (end && real_end)
			n = i;
		if (out[i] != real[i])
			break;
	}
	out[n] = '\0';
	return n >= strlen(root);
}

int cgroup_v2_below(const struct cgroup_host *h, const struct cgroup_limits *l, struct str parent,
		    struct cgroup *c, struct err *e)
{
	_cleanup_free_ char *dir = NULL;
	char common[CGROUP_PATH_MAX];
	unsigned seen = 0;

	if (parent.n >= CGROUP_PATH_MAX - 64 || str_dupz(parent, &dir) < 0)
		return err_set(e, ERR_USAGE, "'" STR_FMT "' cannot be a cgroup", STR_ARG(parent));
	if (common_parent(h, dir, common) && !may_enter(common))
		return err_set(
			e, ERR_UNAVAIL,
			"'%s' cannot be entered from here: this user may not write to '%s/cgroup.procs', which is "
			"above both; start creel below a group of this user's own, or run as root",
			dir, common);
	if (!try_in(h, dir, l, c, &seen))
		return err_set(
			e, ERR_UNAVAIL,
			"cannot make a cgroup with these limits in '%s': it must be a cgroup v2 directory "
			"that this user may write to, without processes of its own, whose cgroup.controllers name what is limited",
			dir);
	return 0;
}
