/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On which processor something is begun. Only a matter of time: what fails is left as it is, and whoever was held somewhere is let go
 * before it runs anything that is not ours.
 */
#include "sandbox/warden/warden.h"

static struct {
	unsigned long before[16], one[16], others[16];
	long bytes; /* of the first, as the kernel has them; 0 = nothing was changed */
} cpus;

void cpus_stay(void)
{
	unsigned cpu = 0;
	long n = SYS3(sched_getaffinity, 0, sizeof(cpus.before), cpus.before);

	cpus.bytes = 0;
	if (n <= 0 || SYS3(getcpu, &cpu, 0, 0) < 0 || cpu >= 8 * sizeof(cpus.one))
		return;
	memset(cpus.one, 0, sizeof(cpus.one));
	memcpy(cpus.others, cpus.before, sizeof(cpus.others));
	cpus.one[cpu / (8 * sizeof(long))] |= 1ul << cpu % (8 * sizeof(long));
	cpus.others[cpu / (8 * sizeof(long))] &= ~(1ul << cpu % (8 * sizeof(long)));
	if (SYS3(sched_setaffinity, 0, n, cpus.one) >= 0)
		cpus.bytes = n;
}

/* Writes nothing: a child that shares our memory asks at the same time. */
void cpus_any(void)
{
	if (cpus.bytes)
		SYS3(sched_setaffinity, 0, cpus.bytes, cpus.before);
}

/* A machine with one processor has no elsewhere. */
void cpus_elsewhere(void)
{
	if (cpus.bytes && SYS3(sched_setaffinity, 0, cpus.bytes, cpus.others) < 0)
		cpus_any();
}

/* ---- serving: as stay_follow() in base/stay.c ---- */

static struct {
	unsigned long home[16], one[16];
	long bytes;
	uint16_t last, at; /* and 1; 0 = anywhere */
} follow;

static bool go(unsigned cpu)
{
	const unsigned bits = 8 * sizeof(follow.one[0]);

	if (cpu >= 8 * (unsigned long)follow.bytes || !(follow.home[cpu / bits] & 1ul << cpu % bits))
		return false;
	memset(follow.one, 0, sizeof(follow.one));
	follow.one[cpu / bits] = 1ul << cpu % bits;
	return SYS3(sched_setaffinity, 0, follow.bytes, follow.one) >= 0;
}

/* No child may share our memory then. */
void cpus_follow(uint16_t cpu)
{
	uint16_t to = cpu == follow.last ? cpu : 0;

	follow.last = cpu;
	if (to == follow.at)
		return;
	if (follow.bytes <= 0)
		follow.bytes = SYS3(sched_getaffinity, 0, sizeof(follow.home), follow.home);
	if (follow.bytes <= 0)
		return;
	if (to && !go(to - 1u))
		to = 0;
	if (!to)
		SYS3(sched_setaffinity, 0, follow.bytes, follow.home);
	follow.at = to;
}

/* Writes nothing: a child that shares our memory asks. */
void cpus_home(void)
{
	if (follow.at)
		SYS3(sched_setaffinity, 0, follow.bytes, follow.home);
}
