/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into services: the time of day is so many seconds away from what it is as the first eight bytes of the file CREEL_TEST_CLOCK say, from the moment
 * that they say so. It is mapped, so that a process that is locked in sees it too. The clock that never jumps is left alone.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset;

__attribute__((constructor)) static void open_it(void)
{
	const char *path = getenv("CREEL_TEST_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *p = fd >= 0 ? mmap(NULL, sizeof(*offset), PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

	if (p != MAP_FAILED)
		offset = p;
	if (fd >= 0)
		(void)close(fd);
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *ts)
{
	int r = (int)syscall(SYS_clock_gettime, clock, ts);

	if (r == 0 && clock == CLOCK_REALTIME && offset)
		ts->tv_sec += *offset;
	return r;
}
