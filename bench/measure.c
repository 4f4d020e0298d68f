/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP 20
#define WAYS_MAX 32
#define PAUSE_US 3000

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

/* ---- rounds ---- */

struct way *way_find(struct ways w, const char *name)
{
	for (size_t i = 0; i < w.n; i++)
		if (strcmp(w.v[i].name, name) == 0)
			return &w.v[i];
	measure_fail("there is no way '%s'", name);
}

static void one_round(struct ways w, unsigned round, unsigned settle_ms)
{
	size_t order[WAYS_MAX];

	for (size_t i = 0; i < w.n; i++)
		order[i] = i;
	for (size_t i = w.n; i > 1; i--) {
		size_t other = (size_t)random() % i, t = order[i - 1];

		order[i - 1] = order[other];
		order[other] = t;
	}
	for (size_t i = 0; i < w.n; i++) {
		struct way *now = &w.v[order[i]];

		if (now->missing || (now->every && round % now->every))
			continue;
		measure_settle(settle_ms);
		if (now->paused)
			(void)usleep(PAUSE_US);
		samples_add(&now->samples, now->once(now));
	}
}

void ways_measure(struct ways w, unsigned rounds, unsigned settle_ms)
{
	if (w.n > WAYS_MAX)
		measure_fail("more than %d ways", WAYS_MAX);
	srandom((unsigned)getpid());
	for (size_t i = 0; i < w.n; i++)
		for (int k = 0; !w.v[i].missing && k < (w.v[i].every > 1 ? 2 : WARM_UP); k++)
			(void)w.v[i].once(&w.v[i]);
	for (unsigned i = 0; i < rounds; i++)
		one_round(w, i, settle_ms);
}

static void print_goal(struct ways w, const struct goal *g)
{
	double r = samples_quantile(&way_find(w, g->of)->samples, g->q) /
		   samples_quantile(&way_find(w, g->to)->samples, g->q);
	bool met = g->at_least ? r >= g->bound : r <= g->bound;

	if (!isnan(r))
		printf("%s / %s, p%g: %.*f (aim: at %s %g%s)\n", g->of, g->to, g->q * 100, r < 100 ? 2 : 0, r,
		       g->at_least ? "least" : "most", g->bound, met ? "" : "; missed");
}

void ways_print(struct ways w, const struct goal *goals, size_t n_goals)
{
	double first = samples_quantile(&w.v[0].samples, 0.5);

	printf("%s\n%-16s %6s %10s %10s %10s %8s\n", measure_machine(), "", "n", "min us", "p50 us", "p99 us",
	       "x first");
	for (size_t i = 0; i < w.n; i++) {
		struct samples *s = &w.v[i].samples;

		if (s->n)
			printf("%-16s %6zu %10.1f %10.1f %10.1f %8.2f  %s\n", w.v[i].name, s->n,
			       samples_quantile(s, 0), samples_quantile(s, 0.5), samples_quantile(s, 0.99),
			       samples_quantile(s, 0.5) / first, w.v[i].what);
	}
	for (size_t i = 0; i < n_goals; i++)
		print_goal(w, &goals[i]);
}

void ways_done(struct ways w)
{
	for (size_t i = 0; i < w.n; i++)
		samples_done(&w.v[i].samples);
}

double way_spawn(const struct way *w)
{
	/* Somebody without an account has no home directory of his own either. */
	static char home[] = "HOME=/", *env[] = { home, NULL };
	const char *const *argv = w->with;
	double start = measure_now_us();
	int status = 0;
	pid_t pid;

	if (posix_spawn(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv, env) != 0 ||
	    waitpid(pid, &status, 0) != pid || status != 0)
		measure_fail("%s: %s", argv[0], strerror(errno));
	return measure_now_us() - start;
}

/* ---- the rest ---- */

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
