/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stay.h"

static bool go(int cpu, cpu_set_t *ret)
{
	CPU_ZERO(ret);
	CPU_SET((size_t)cpu, ret);
	return sched_setaffinity(0, sizeof(*ret), ret) == 0;
}

uint16_t stay_here(void)
{
	int cpu = sched_getcpu();

	return cpu < 0 || cpu >= CPU_SETSIZE ? 0 : (uint16_t)(cpu + 1);
}

uint16_t stay_begin(struct staying *s)
{
	int cpu = sched_getcpu();

	s->stays = false;
	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(s->before), &s->before) < 0)
		return 0;
	if (CPU_COUNT(&s->before) > 1) {
		if (!CPU_ISSET((size_t)cpu, &s->before) || !go(cpu, &s->here))
			return 0;
		s->stays = true;
	}
	return (uint16_t)(cpu + 1);
}

void stay_end(struct staying *s)
{
	cpu_set_t now;

	if (s->stays && sched_getaffinity(0, sizeof(now), &now) == 0 && CPU_EQUAL(&now, &s->here))
		(void)sched_setaffinity(0, sizeof(s->before), &s->before);
	s->stays = false;
}

void stay_follow(struct following *f, uint16_t cpu)
{
	uint16_t to = cpu == f->last ? cpu : 0;
	cpu_set_t one;

	f->last = cpu;
	if (to == f->at || to > CPU_SETSIZE)
		return;
	if (!f->has_home)
		f->has_home = sched_getaffinity(0, sizeof(f->home), &f->home) == 0;
	if (!f->has_home)
		return;
	if (to && (!CPU_ISSET((size_t)to - 1, &f->home) || !go(to - 1, &one)))
		to = 0;
	if (!to)
		(void)sched_setaffinity(0, sizeof(f->home), &f->home);
	f->at = to;
}
