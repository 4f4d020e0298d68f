/* SPDX-License-Identifier: Apache-2.0 */
#include "base/root.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Belongs to the host's root, whoever mounts it; to nobody, where he has no name. */
#define ROOTS_OWN "/proc/sys/kernel"
/* The host's root may open it by being that, without any capability, and nobody else may. */
#define ROOTS_ALONE "/proc/sys/kernel/cad_pid"

/* How we are called one namespace further out; false: we have no name of our own here, or nobody can tell. */
static bool name_outside(uid_t uid, unsigned long *ret)
{
	unsigned long inside, outside, n;
	FILE *f = fopen("/proc/self/uid_map", "re");
	bool found = false;

	while (f && !found && fscanf(f, "%lu %lu %lu", &inside, &outside, &n) == 3)
		if (uid >= inside && uid - inside < n) {
			*ret = outside + (uid - inside);
			found = true;
		}
	if (f)
		(void)fclose(f);
	return found;
}

/* Who is called nobody in a namespace has the name that is shown for everybody without one, the host's root among them. Told apart by two signs together, or not at all. */
static bool is_nobody(uid_t uid)
{
	_cleanup_close_ int fd = FD_NONE;
	unsigned long outside = 0;

	if (uid == 0 || !name_outside(uid, &outside) || outside == 0)
		return false;
	fd = open(ROOTS_ALONE, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 && errno == EACCES;
}

bool root_of_host(void)
{
	uid_t uid = geteuid();
	struct stat st;

	if (stat(ROOTS_OWN, &st) < 0)
		return uid == 0;
	return st.st_uid == uid && !is_nobody(uid);
}

bool strangers_look_ours(void)
{
	struct stat st;

	return geteuid() != 0 && stat(ROOTS_OWN, &st) == 0 && st.st_uid == geteuid();
}
