/* SPDX-License-Identifier: Apache-2.0 */
#include "base/root.h"

#include "base/fd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_USER_NAMESPACE 0xEFFFFFFDu /* the kernel's own number for it (PROC_USER_INIT_INO) */
#define MAP_MAX 65536

/* Who uid 0 is in the namespace around ours: 0 there may be anybody, as here, or the host's root. */
static bool zero_is_zero(void)
{
	_cleanup_free_ char *map = NULL;
	size_t n = 0;
	uint32_t inside, outside;

	return fd_read_file("/proc/self/uid_map", MAP_MAX, &map, &n) < 0 ||
	       sscanf(map, "%" SCNu32 " %" SCNu32, &inside, &outside) != 2 || inside != 0 || outside == 0;
}

bool root_of_host(void)
{
	struct stat st;

	return geteuid() == 0 &&
	       (stat("/proc/self/ns/user", &st) < 0 || st.st_ino == FIRST_USER_NAMESPACE || zero_is_zero());
}
