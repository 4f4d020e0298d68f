/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include "base/clock.h"

#include <sys/file.h>
#include <time.h>

/*
 * flock(2) cannot wait with a deadline, and a writer that was stopped (SIGSTOP) holds its lock for ever. Who writes a record of the audit log has it
 * for some microseconds, and to sleep takes fifty at least: a few more tries come first. The wait between two tries then grows from 20 µs to 5 ms.
 */
#define TRIES_AT_ONCE 24 /* about 10 µs */

int fd_lock(int fd, int how, uint64_t wait_ms)
{
	uint64_t deadline = 0;
	struct timespec pause = { .tv_nsec = 20000 };
	int tries = 0;

	while (flock(fd, how | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (tries++ < TRIES_AT_ONCE)
			continue;
		if (!deadline)
			deadline = clock_deadline(wait_ms);
		else if (clock_mono_ms() >= deadline)
			return -ETIMEDOUT;
		(void)nanosleep(&pause, NULL);
		if (pause.tv_nsec < 5000000)
			pause.tv_nsec *= 2;
	}
	return 0;
}
