/* SPDX-License-Identifier: Apache-2.0 */
#include "base/procfs.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PROC_TYPE 0x9fa0

/* Of a pid namespace that we are not in it has no "self"; of one around ours, it calls us by another number. */
const char *procfs_fault(void)
{
	char text[32];
	struct statfs fs;
	ssize_t n = readlink("/proc/self", text, sizeof(text) - 1);

	if (n > 0) {
		text[n] = '\0';
		if (strtol(text, NULL, 10) == (long)getpid())
			return NULL;
	}
	return statfs("/proc", &fs) < 0 || fs.f_type != PROC_TYPE ? "/proc is not mounted here"
								  : "/proc is that of another pid namespace";
}

int procfs_check(struct err *e)
{
	int saved = errno;
	const char *fault = procfs_fault();

	errno = saved;
	return fault ? err_set(e, ERR_UNAVAIL, "%s; fix: " PROCFS_FIX, fault) : 0;
}
