/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loop.h"

#include "base/loop_priv.h"

#include <assert.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { EVENTS_PER_ROUND = 64 };

/* epoll_event.data of the loop's own two descriptors; generation 0 belongs to no source. */
enum { DATA_SIGNALS = 0, DATA_WAKE = 1 };

static uint64_t pack(struct loop_id id)
{
	return (uint64_t)id.generation << 32 | id.slot;
}

static struct loop_id unpack(uint64_t data)
{
	return (struct loop_id){ .slot = (uint32_t)data, .generation = (uint32_t)(data >> 32) };
}

static int watch(struct loop *l, int op, int fd, uint32_t events, uint64_t data)
{
	struct epoll_event ev = { .events = events, .data.u64 = data };

	return epoll_ctl(l->epoll, op, fd, &ev) < 0 ? -errno : 0;
}

static int open_own(struct loop *l)
{
	sigset_t none;
	int r;

	sigemptyset(&none);
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	l->signals = signalfd(-1, &none, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->epoll < 0 || l->wake < 0 || l->signals < 0)
		return -errno;
	r = watch(l, EPOLL_CTL_ADD, l->wake, EPOLLIN, DATA_WAKE);
	return r < 0 ? r : watch(l, EPOLL_CTL_ADD, l->signals, EPOLLIN, DATA_SIGNALS);
}

int loop_new(uint32_t max_sources, struct loop **ret)
{
	_cleanup_(loop_freep) struct loop *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->epoll = l->wake = l->signals = FD_NONE;
	l->max_sources = max_sources;
	l->free_slot = NO_SLOT;
	sigemptyset(&l->handled);
	sigemptyset(&l->blocked_by_us);
	r = open_own(l);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(l);
	return 0;
}

struct loop *loop_free(struct loop *l)
{
	if (!l)
		return NULL;
	(void)pthread_sigmask(SIG_UNBLOCK, &l->blocked_by_us, NULL);
	(void)fd_close(l->epoll);
	(void)fd_close(l->wake);
	(void)fd_close(l->signals);
	free(l->source);
	free(l->timers.heap);
	free(l->timers.due);
	free(l);
	return NULL;
}

static int grow(struct loop *l)
{
	uint32_t cap = l->cap ? l->cap * 2 : 16;
	struct source *s;

	cap = cap < l->max_sources ? cap : l->max_sources;
	if (cap <= l->cap)
		return -EMFILE;
	s = reallocarray(l->source, cap, sizeof(*s));
	if (!s)
		return -ENOMEM;
	l->source = s;
	/* Backwards, so that slots are handed out from the front. */
	for (uint32_t i = cap; i-- > l->cap;) {
		s[i] = (struct source){ .generation = 1, .next_free = l->free_slot };
		l->free_slot = i;
	}
	l->cap = cap;
	return 0;
}

static int take_slot(struct loop *l, struct source init, struct loop_id *ret)
{
	struct source *s;
	uint32_t slot;

	if (l->free_slot == NO_SLOT) {
		int r = grow(l);

		if (r < 0)
			return r;
	}
	slot = l->free_slot;
	s = &l->source[slot];
	l->free_slot = s->next_free;
	init.generation = s->generation;
	*s = init;
	*ret = (struct loop_id){ .slot = slot, .generation = s->generation };
	return 0;
}

/* From here on every handle to it, and every event that already waits for it, is stale. */
static void drop_slot(struct loop *l, uint32_t slot)
{
	struct source *s = &l->source[slot];
	uint32_t next = s->generation + 1;

	*s = (struct source){ .generation = next ? next : 1, .next_free = l->free_slot };
	l->free_slot = slot;
}

static struct source *find(const struct loop *l, struct loop_id id)
{
	if (id.slot >= l->cap || id.generation == 0 || l->source[id.slot].generation != id.generation)
		return NULL;
	return l->source[id.slot].kind == SOURCE_NONE ? NULL : &l->source[id.slot];
}

bool loop_has(const struct loop *l, struct loop_id id)
{
	return find(l, id) != NULL;
}

static int add_watched(struct loop *l, struct source init, uint32_t events, struct loop_id *ret)
{
	struct loop_id id;
	int r = take_slot(l, init, &id);

	if (r < 0)
		return r;
	r = watch(l, EPOLL_CTL_ADD, init.fd, events, pack(id));
	if (r < 0) {
		drop_slot(l, id.slot);
		return r;
	}
	*ret = id;
	return 0;
}

int loop_add_fd(struct loop *l, int fd, uint32_t events, loop_fd_fn *fn, void *ctx, struct loop_id *ret)
{
	struct source init = { .kind = SOURCE_FD, .fd = fd, .on_fd = fn, .ctx = ctx };

	return add_watched(l, init, events, ret);
}

int loop_mod_fd(struct loop *l, struct loop_id id, uint32_t events)
{
	const struct source *s = find(l, id);

	if (!s || s->kind != SOURCE_FD)
		return -ENOENT;
	return watch(l, EPOLL_CTL_MOD, s->fd, events, pack(id));
}

int loop_add_child(struct loop *l, int pidfd, loop_child_fn *fn, void *ctx, struct loop_id *ret)
{
	struct source init = { .kind = SOURCE_CHILD, .fd = pidfd, .on_child = fn, .ctx = ctx };

	return add_watched(l, init, EPOLLIN, ret);
}

int loop_add_timer(struct loop *l, uint64_t at_ms, loop_fn *fn, void *ctx, struct loop_id *ret)
{
	struct source init = {
		.kind = SOURCE_TIMER, .fn = fn, .ctx = ctx, .at_ms = at_ms, .heap_at = NO_SLOT
	};
	struct loop_id id;
	int r = take_slot(l, init, &id);

	if (r < 0)
		return r;
	r = timers_add(l, id.slot);
	if (r < 0) {
		drop_slot(l, id.slot);
		return r;
	}
	*ret = id;
	return 0;
}

int loop_mod_timer(struct loop *l, struct loop_id id, uint64_t at_ms)
{
	struct source *s = find(l, id);

	if (!s || s->kind != SOURCE_TIMER)
		return -ENOENT;
	timers_remove(l, id.slot);
	s->at_ms = at_ms;
	return timers_add(l, id.slot); /* has room: it was in before */
}

static int update_signals(struct loop *l)
{
	return signalfd(l->signals, &l->handled, 0) < 0 ? -errno : 0;
}

int loop_add_signal(struct loop *l, int signo, loop_fn *fn, void *ctx, struct loop_id *ret)
{
	struct source init = { .kind = SOURCE_SIGNAL, .signo = signo, .fn = fn, .ctx = ctx };
	sigset_t one, before;
	struct loop_id id;
	int r;

	sigemptyset(&one);
	if (signo >= SIGNAL_MAX || sigaddset(&one, signo) < 0)
		return -EINVAL;
	if (sigismember(&l->handled, signo))
		return -EBUSY;
	r = take_slot(l, init, &id);
	if (r < 0)
		return r;
	sigaddset(&l->handled, signo);
	(void)pthread_sigmask(SIG_BLOCK, &one, &before); /* only a bad `how` could fail */
	if (!sigismember(&before, signo))
		sigaddset(&l->blocked_by_us, signo);
	l->by_signal[signo] = id;
	r = update_signals(l);
	if (r < 0) {
		(void)loop_del(l, id);
		return r;
	}
	*ret = id;
	return 0;
}

static void forget_signal(struct loop *l, int signo)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, signo);
	sigdelset(&l->handled, signo);
	(void)update_signals(l);
	if (sigismember(&l->blocked_by_us, signo))
		(void)pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	sigdelset(&l->blocked_by_us, signo);
	l->by_signal[signo] = (struct loop_id){ 0 };
}

int loop_del(struct loop *l, struct loop_id id)
{
	const struct source *s = find(l, id);

	if (!s)
		return -ENOENT;
	switch (s->kind) {
	case SOURCE_FD:
	case SOURCE_CHILD:
		/* Fails when the fd was closed first; epoll forgot it then, and a late event is stale. */
		(void)watch(l, EPOLL_CTL_DEL, s->fd, 0, 0);
		break;
	case SOURCE_TIMER:
		timers_remove(l, id.slot);
		break;
	case SOURCE_SIGNAL:
		forget_signal(l, s->signo);
		break;
	case SOURCE_NONE:
		break;
	}
	drop_slot(l, id.slot);
	return 0;
}

static void run_signal(struct loop *l, int signo)
{
	const struct source *s = signo < SIGNAL_MAX ? find(l, l->by_signal[signo]) : NULL;

	if (s)
		s->fn(l, s->ctx);
}

/* A batch may hold a signal whose source a handler just removed: run_signal() looks it up each time. */
static void run_signals(struct loop *l)
{
	struct signalfd_siginfo info[8];
	ssize_t n = read(l->signals, info, sizeof(info));

	for (ssize_t i = 0; i < n / (ssize_t)sizeof(info[0]); i++)
		run_signal(l, (int)info[i].ssi_signo);
}

static void run_child_end(struct loop *l, struct loop_id id, const struct source *s)
{
	loop_child_fn *fn = s->on_child;
	void *ctx = s->ctx;
	struct proc_status status = { .end = PROC_RUNNING };

	/* Reaped by somebody else: it has ended, and that is all that can be said. */
	if (proc_reap(s->fd, &status) == 0)
		return;
	(void)loop_del(l, id);
	fn(l, ctx, status);
}

static void run_event(struct loop *l, const struct epoll_event *ev)
{
	struct loop_id id = unpack(ev->data.u64);
	const struct source *s = find(l, id);
	uint64_t count;

	if (id.generation == 0 && id.slot == DATA_SIGNALS)
		run_signals(l);
	else if (id.generation == 0)
		(void)!read(l->wake, &count, sizeof(count));
	else if (s && s->kind == SOURCE_CHILD)
		run_child_end(l, id, s);
	else if (s)
		s->on_fd(l, s->ctx, ev->events);
}

/* The handle dies before the handler runs: a timer that fires has been used up. */
static void run_timers(struct loop *l)
{
	size_t n = timers_collect(l, clock_mono_ms());

	for (size_t i = 0; i < n; i++) {
		struct loop_id id = l->timers.due[i];
		const struct source *s = find(l, id);
		loop_fn *fn;
		void *ctx;

		if (!s ||
		    s->heap_at != NO_SLOT) /* removed, or moved to a later time, by a handler before it */
			continue;
		fn = s->fn;
		ctx = s->ctx;
		drop_slot(l, id.slot);
		fn(l, ctx);
	}
}

int loop_step(struct loop *l, uint64_t deadline_ms)
{
	struct epoll_event ev[EVENTS_PER_ROUND];
	uint64_t timer_ms = timers_next(l);
	int n;

	assert(!l->in_step);
	n = epoll_wait(l->epoll, ev, EVENTS_PER_ROUND,
		       clock_poll_ms(timer_ms < deadline_ms ? timer_ms : deadline_ms));
	if (n < 0 && errno != EINTR)
		return -errno;
	l->in_step = true;
	l->rounds++;
	for (int i = 0; i < n; i++)
		run_event(l, &ev[i]);
	run_timers(l);
	l->in_step = false;
	return 0;
}

uint64_t loop_rounds(const struct loop *l)
{
	return l->rounds;
}

void loop_run_due(struct loop *l)
{
	assert(!l->in_step);
	l->in_step = true;
	run_timers(l);
	l->in_step = false;
}

int loop_run(struct loop *l)
{
	while (!l->stopped) {
		int r = loop_step(l, CLOCK_NEVER);

		if (r < 0)
			return r;
	}
	l->stopped = false; /* after, not before: a stop that came first still counts */
	return l->result;
}

void loop_stop(struct loop *l, int result)
{
	assert(result >= 0);
	l->stopped = true;
	l->result = result;
}

void loop_wake(struct loop *l)
{
	int saved = errno;
	uint64_t one = 1;

	/* Fails only when the counter is full, and then the loop is awake anyway. */
	(void)!write(l->wake, &one, sizeof(one));
	errno = saved;
}
