/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that run, and how they end. A call ends when its main process does; then what it left behind is ended, too, unless it is
 * to go on, and only when nothing of it is left is its end told: whoever hears it can look at the files.
 */
#include "sandbox/warden/lines.h"
#include "sandbox/warden/serve.h"

#include <linux/resource.h>
#include <linux/signal.h>
#include <linux/time.h>
#include <linux/wait.h>

#define TICK_MS 5u       /* between two looks at what does not end */
#define GIVE_UP_MS 2000u /* a task that cannot die is not waited for for ever */

SPARSE(0) static struct call calls[SERVE_CALLS_MAX];
static uint32_t n_used; /* slots up to here have been used */
static uint32_t n_live, n_killing, n_ended, n_timed;

static uint64_t now; /* 0 = not asked yet */

uint64_t now_us(void)
{
	struct __kernel_timespec t = { 0 };

	if (!now) {
		SYS2(clock_gettime, CLOCK_MONOTONIC, &t);
		now = (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
	}
	return now;
}

void now_again(void)
{
	now = 0;
}

struct call *call_new(uint64_t id)
{
	for (uint32_t i = 0; i < SERVE_CALLS_MAX; i++)
		if (!calls[i].id) {
			/* before it starts: it may have ended when we run again */
			calls[i] = (struct call){ .id = id, .cleanup = true, .begun_us = now_us() };
			n_used = i >= n_used ? i + 1 : n_used;
			n_live++;
			return &calls[i];
		}
	return NULL;
}

void call_free(struct call *c)
{
	n_live--;
	n_timed -= c->deadline != 0;
	n_killing -= c->killing;
	n_ended -= c->ended;
	*c = (struct call){ 0 };
	while (n_used > 0 && !calls[n_used - 1].id)
		n_used--;
}

void call_begin(struct call *c, const struct serve_request *h, long pid)
{
	c->cleanup = false;
	c->pid = pid;
	c->flags = h->flags;
	c->grace_ms = h->grace_ms;
	c->deadline = h->deadline_ms ? c->begun_us / 1000 + h->deadline_ms : 0;
	n_timed += c->deadline != 0;
}

struct call *call_find(uint64_t id)
{
	for (uint32_t i = 0; i < n_used; i++)
		if (id && calls[i].id == id)
			return &calls[i];
	return NULL;
}

uint32_t call_list(struct serve_item *out, uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_used; i++) {
		const struct call *c = &calls[i];

		if (!c->id)
			continue;
		if (out && n < max)
			out[n] = (struct serve_item){ .id = c->id,
						      .pid = (int32_t)c->pid,
						      .reason = c->end.reason };
		n++;
	}
	return n;
}

static void begin_killing(struct call *c)
{
	if (c->killing || c->ended)
		return;
	c->killing = true;
	n_killing++;
	c->give_up = now_us() / 1000 + GIVE_UP_MS;
}

void call_cancel(struct call *c)
{
	if (c->ended)
		return; /* its end is on its way */
	if (c->end.reason != SERVE_TIMEOUT)
		c->end.reason = SERVE_CANCELLED;
	begin_killing(c);
}

void calls_forsake(uint32_t line)
{
	for (uint32_t i = 0; i < n_used; i++)
		if (calls[i].id && calls[i].id >> SERVE_LINE_BIT == line)
			call_cancel(&calls[i]);
}

bool calls_on_lines(void)
{
	for (uint32_t i = 0; i < n_used; i++)
		if (calls[i].id >> SERVE_LINE_BIT)
			return true;
	return false;
}

static void over(struct call *c)
{
	n_killing -= c->killing;
	c->killing = false;
	if (!c->ended)
		n_ended++;
	c->ended = true;
}

/* ---- how it ended ---- */

static void note_end(struct call *c, int status, const struct rusage *u)
{
	bool signaled = status & 0x7f;
	struct serve_event *e = &c->end;

	c->pid = 0;
	if (e->reason == SERVE_EXITED) {
		e->reason = signaled ? SERVE_SIGNALED : SERVE_EXITED;
		e->value = signaled ? status & 0x7f : status >> 8 & 0xff;
	} else
		e->value = signaled ? 128 + (status & 0x7f) : status >> 8 & 0xff;
	e->wall_us = now_us() - c->begun_us;
	e->user_us = usec(&u->ru_utime);
	e->sys_us = usec(&u->ru_stime);
	e->max_rss_kb = (uint64_t)u->ru_maxrss;
}

/* Orphans are reaped on the way. True: there is nobody left at all. */
static bool reap_all(void)
{
	struct rusage u = { 0 };
	int status = 0;
	long pid;

	while ((pid = SYS4(wait4, -1, &status, WNOHANG, &u)) > 0)
		for (uint32_t i = 0; i < n_used; i++) {
			struct call *c = &calls[i];

			if (!c->id || c->pid != pid)
				continue;
			note_end(c, status, &u);
			if (c->flags & SERVE_F_KEEP && !c->killing)
				over(c);
			else
				begin_killing(c);
			break;
		}
	return pid == -ECHILD;
}

static bool being_killed(uint64_t low, uint64_t high)
{
	bool wanted = false;

	for (uint32_t i = 0; i < n_used; i++) {
		struct call *c = &calls[i];

		if (!c->killing || c->id < low || c->id > high)
			continue;
		c->found++;
		wanted = true;
	}
	return wanted;
}

/*
 * The first process of another call, which goes on. Only its own call's can be below it: whoever loses its parent becomes a child of one of its own
 * call's, or ours. So where all our children are of this kind, nobody is left of any call that is being ended.
 */
static bool is_spared(long pid)
{
	for (uint32_t i = 0; i < n_used; i++)
		if (calls[i].id && calls[i].pid == pid)
			return !calls[i].killing;
	return false;
}

/* A fork that is under way fails on the pending signal; what was born before that is found by the next look. */
static void end_trees(const struct warden *w, bool nobody_left)
{
	for (uint32_t i = 0; i < n_used; i++)
		calls[i].found = 0;
	if (!nobody_left && !mark_children(w, is_spared))
		(void)mark_kill(w, being_killed, SIGKILL);
	for (uint32_t i = 0; i < n_used; i++) {
		struct call *c = &calls[i];

		if (!c->killing)
			continue;
		c->n_killed =
			c->found / 2 > c->n_killed ? c->found / 2 : c->n_killed; /* each is looked at twice */
		if (c->found == 0 && c->pid == 0) {
			over(c);
			continue;
		}
		if (now_us() / 1000 < c->give_up)
			continue;
		c->end.left = c->found / 2;
		over(c);
	}
}

/* ---- deadlines ---- */

static uint64_t asked_id;

static bool is_asked(uint64_t low, uint64_t high)
{
	return low <= asked_id && asked_id <= high;
}

static void pass_deadline(const struct warden *w, struct call *c, uint64_t ms)
{
	c->end.reason = SERVE_TIMEOUT;
	if (!c->asked && c->grace_ms) {
		c->asked = true;
		c->deadline = ms + c->grace_ms;
		asked_id = c->id;
		(void)mark_kill(w, is_asked, SIGTERM);
		return;
	}
	c->deadline = 0;
	n_timed--;
	begin_killing(c);
}

static void keep_deadlines(const struct warden *w)
{
	uint64_t ms = n_timed ? now_us() / 1000 : 0;

	for (uint32_t i = 0; n_timed && i < n_used; i++) {
		struct call *c = &calls[i];

		if (c->deadline && c->deadline <= ms && !c->killing && !c->ended)
			pass_deadline(w, c, ms);
	}
}

/* ---- the whole ---- */

/* False: who holds the sandbox does not listen just now. One line that does not holds up nobody else. */
static bool tell_ends(void)
{
	bool listens = true;

	for (uint32_t i = 0; n_ended && i < n_used; i++) {
		struct call *c = &calls[i];
		struct serve_event *e = &c->end;

		if (!c->ended || !(listens || c->id >> SERVE_LINE_BIT))
			continue;
		e->msg = c->cleanup ? SERVE_REPLY : SERVE_EXIT;
		e->op = c->cleanup ? SERVE_CANCEL : SERVE_EXEC;
		e->id = c->id;
		if (c->cleanup)
			e->value = (int32_t)c->n_killed;
		e->ended = c->n_killed;
		if (event_say(e) >= 0)
			call_free(c);
		else if (!(c->id >> SERVE_LINE_BIT))
			listens = false;
	}
	return listens;
}

bool calls_step(struct warden *w, bool reap)
{
	bool nobody_left = false;

	if (n_timed)
		keep_deadlines(w);
	if (reap || n_killing) {
		begun_settle(w);
		nobody_left = reap_all();
	}
	if (n_killing)
		end_trees(w, nobody_left);
	return tell_ends();
}

static uint64_t next_alarm(void)
{
	uint64_t at = UINT64_MAX;

	for (uint32_t i = 0; i < n_used; i++) {
		const struct call *c = &calls[i];

		if (c->deadline && !c->killing && !c->ended && c->deadline < at)
			at = c->deadline;
	}
	return at;
}

const struct __kernel_timespec *calls_patience(struct __kernel_timespec *t)
{
	uint64_t at = n_timed ? next_alarm() : UINT64_MAX, from = at == UINT64_MAX ? 0 : now_us() / 1000;
	uint64_t ms = at > from ? at - from : 0;

	if (n_killing)
		ms = ms < TICK_MS ? ms : TICK_MS;
	else if (at == UINT64_MAX)
		return NULL;
	*t = (struct __kernel_timespec){ .tv_sec = (long long)(ms / 1000),
					 .tv_nsec = (long long)(ms % 1000) * 1000000 };
	return t;
}
