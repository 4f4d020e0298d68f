/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

double measure_now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* The fourth field of /proc/loadavg: runnable/all. We are one of the runnable ourselves. */
static bool is_quiet(void)
{
	FILE *f = fopen("/proc/loadavg", "re");
	unsigned runnable = 0;
	int n = f ? fscanf(f, "%*s %*s %*s %u/", &runnable) : 0;

	if (f)
		(void)fclose(f);
	return n != 1 || runnable <= 1;
}

bool measure_is_first(void)
{
	int policy = sched_getscheduler(0);

	return policy == SCHED_FIFO || policy == SCHED_RR;
}

void measure_settle(unsigned max_ms)
{
	double end = measure_now_us() + max_ms * 1e3;

	while (!measure_is_first() && !is_quiet() && measure_now_us() < end)
		(void)usleep(500);
}

void samples_add(struct samples *s, double us)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 64;
		s->us = realloc(s->us, s->cap * sizeof(*s->us));
		if (!s->us)
			measure_fail("out of memory");
	}
	s->us[s->n++] = us;
	s->sorted = false;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double samples_quantile(struct samples *s, double q)
{
	if (s->n == 0)
		return NAN;
	if (!s->sorted)
		qsort(s->us, s->n, sizeof(*s->us), by_value);
	s->sorted = true;
	return s->us[(size_t)(q * (double)(s->n - 1) + 0.5)];
}

void samples_done(struct samples *s)
{
	free(s->us);
	*s = (struct samples){ 0 };
}

_Noreturn void measure_fail(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	(void)vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

unsigned measure_number(const char *option, const char *text, unsigned min, unsigned max)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end || v < min || v > max)
		measure_fail("%s: '%s' is not a number in %u..%u", option, text, min, max);
	return (unsigned)v;
}

const char *measure_machine(void)
{
	static char text[256];
	struct utsname u;
	char day[32] = "";
	time_t now = time(NULL);
	struct tm tm;

	if (uname(&u) < 0 || !gmtime_r(&now, &tm))
		measure_fail("uname: %s", strerror(errno));
	(void)strftime(day, sizeof(day), "%Y-%m-%d", &tm);
	(void)snprintf(text, sizeof(text), "%s %.64s, %ld processors, uid %u, %s%s", u.sysname, u.release,
		       sysconf(_SC_NPROCESSORS_ONLN), (unsigned)geteuid(), day,
		       measure_is_first() ? ", real-time priority" : "");
	return text;
}
