/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pid 1 of a sandbox that serves calls: takes requests, starts programs, reaps, and says how each ended. Nothing here waits for
 * anybody: what cannot be said now is kept, in a table of fixed size, until creel listens.
 */
#include "sandbox/warden/serve.h"
#include "sandbox/warden/lines.h"

#include <asm/ioctls.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/signal.h>
#include <linux/stat.h>
#include <linux/time.h>
#include <linux/wait.h>

SPARSE(0) static char message[SERVE_INLINE_MAX] __attribute__((aligned(8)));
SPARSE(0)
static char reply[sizeof(struct serve_event) + SERVE_CALLS_MAX * sizeof(struct serve_item)]
	__attribute__((aligned(8)));
static size_t reply_n; /* not sent yet */

/*
 * A child that has our memory until it executes. We do not wait for that: its end comes soon enough, and being woken twice takes longer than most
 * programs. Whatever else happens, it is settled first.
 */
static struct {
	struct request r;
	struct call *c; /* NULL = there is none */
	size_t bytes;   /* of `message`, to be forgotten */
} begun;
#define BEGUN_TICK_MS 5 /* between two looks at it */

static bool put(const void *bytes, size_t n)
{
	return message_put(WARDEN_FD_CONTROL, bytes, n, -1) !=
	       -EAGAIN; /* creel has gone: the poll will tell */
}

static void answer(const struct request *r, int32_t err, int32_t value, size_t more)
{
	struct serve_event *e = (void *)reply;

	if (r->head.id >> SERVE_LINE_BIT && r->head.msg != SERVE_LINE) {
		const struct serve_event said = {
			.msg = SERVE_REPLY, .op = r->head.msg, .id = r->head.id, .err = err, .value = value
		};

		if (r->head.msg == SERVE_EXEC)
			line_answer(r->head.id, &said);
		return;
	}
	e->msg = SERVE_REPLY;
	e->op = r->head.msg;
	e->id = r->head.id;
	e->err = err;
	e->value = value;
	reply_n = sizeof(*e) + more;
	if (put(reply, reply_n))
		reply_n = 0;
}

/* ---- a call ---- */

/* A directory as standard input would be a way out of the root, a terminal would be the caller's. */
static long check_stream(int fd)
{
	struct statx st = { 0 };
	uint32_t termios[16]; /* the kernel's has nine */
	long r = SYS5(statx, fd, "", AT_EMPTY_PATH, STATX_TYPE, &st);

	if (r >= 0 && (st.stx_mode & 0170000) == 0040000)
		return -EISDIR;
	if (r >= 0 && (st.stx_mode & 0170000) == 0020000 && SYS3(ioctl, fd, TCGETS, termios) >= 0)
		return -ENOTTY;
	return r < 0 ? r : 0;
}

/* In the order in which they came: as many as the head says, and no more. */
static long sort_fds(const struct request *r, const int *got, unsigned n, struct call_fds *ret)
{
	const bool wanted[] = { r->head.streams & 1, r->head.streams & 2, r->head.streams & 4,
				r->head.streams & SERVE_BODY_FD, r->head.flags & SERVE_F_PROGRAM };
	int *const to[] = { &ret->stream[0], &ret->stream[1], &ret->stream[2], &ret->body, &ret->program };
	unsigned at = 0;
	long err = 0;

	for (unsigned i = 0; i < sizeof(to) / sizeof(to[0]); i++) {
		*to[i] = -1;
		if (!wanted[i])
			continue;
		if (at == n)
			return -EINVAL;
		*to[i] = got[at++];
		if (i < 3 && err >= 0)
			err = check_stream(*to[i]);
	}
	return at != n ? -EINVAL : err;
}

/* Sealed, so that nobody can shrink it below our feet. */
static long map_body(const struct request *r, int fd)
{
	const long seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	struct statx st = { 0 };
	long got = SYS2(fcntl, fd, F_GET_SEALS), e = SYS5(statx, fd, "", AT_EMPTY_PATH, STATX_SIZE, &st);

	if (got < 0 || e < 0 || (got & seals) != seals || st.stx_size != r->head.body || r->head.body == 0)
		return -EINVAL;
	return SYS6(mmap, 0, r->head.body, 1 /* PROT_READ */, 2 /* MAP_PRIVATE */, fd, 0);
}

static long start(struct warden *w, struct request *r, const struct call_fds *fds, struct call **ret)
{
	struct call *c = call_new(r->head.id);
	long pid;

	if (!c)
		return -EUSERS;
	pid = call_start(w, r, fds);
	if (pid < 0) {
		call_free(c);
		return pid;
	}
	call_begin(c, &r->head, pid);
	*ret = c;
	return 0;
}

static void tell_started(const struct call *c)
{
	const struct serve_event e = { .msg = SERVE_STARTED, .id = c->id, .value = (int32_t)c->pid };

	if (c->flags & SERVE_F_TELL && !put(&e, sizeof(e))) {
		memcpy(reply, &e, sizeof(e));
		reply_n = sizeof(e);
	}
}

/* Lines have another way: what is kept there may be waiting for who holds the sandbox. */
static void forget_reply(const struct request *r)
{
	if (!(r->head.id >> SERVE_LINE_BIT))
		memset(reply, 0, sizeof(struct serve_event));
}

void begun_settle(struct warden *w)
{
	struct call *c = begun.c;

	if (!c)
		return;
	begun.c = NULL;
	call_settle(w, &begun.r, c->pid);
	now_again();
	if (w->plan->flags & PLAN_F_TWO_USERS && !w->said->closed) /* it was killed before it could */
		SYS5(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (w->said->err < 0) {
		call_free(c);
		forget_reply(&begun.r);
		answer(&begun.r, (int32_t)-w->said->err, (int32_t)w->own_said.step, 0);
	} else
		tell_started(c);
	memset(message, 0, begun.bytes);
	begun.bytes = 0;
	cpus_follow(begun.r.head.cpu);
}

/* After a while nobody is believed to execute any more: see spawn_wait(). */
static void begun_look(struct warden *w)
{
	if (begun.c && spawn_shares() && now_us() < begun.c->begun_us + SPAWN_PATIENCE_S * 1000000)
		return;
	if (begun.c && spawn_shares())
		SYS2(kill, begun.c->pid, SIGKILL);
	begun_settle(w);
}

/* Secrets are forgotten at once, and who wants to hear of the start does so at once. */
static bool may_settle_later(const struct serve_request *h)
{
	return !(h->flags & (SERVE_F_PTY | SERVE_F_TELL | SERVE_F_APART | SERVE_F_PROGRAM)) &&
	       !(h->streams & SERVE_BODY_FD);
}

static void take_exec(struct warden *w, struct request *r, const int *got, unsigned n)
{
	struct call_fds fds;
	long mapped = 0, err = sort_fds(r, got, n, &fds);
	struct call *c = NULL;

	w->own_said.step = SERVE_AT_SETUP;
	if (err >= 0 && r->head.id <= *highest_of(r->head.id))
		err = -EEXIST;
	if (err >= 0 && fds.body >= 0) {
		mapped = map_body(r, fds.body);
		err = mapped < 0 && mapped > -4096 ? mapped : 0;
		/* an address from the kernel: NOLINTNEXTLINE(performance-no-int-to-ptr) */
		r->body = err < 0 ? NULL : (const char *)mapped;
	}
	if (err >= 0)
		err = request_body(r, r->body, r->head.body);
	if (err >= 0) {
		*highest_of(r->head.id) = r->head.id;
		err = start(w, r, &fds, &c);
	}
	if (err < 0)
		answer(r, (int32_t)-err, (int32_t)w->own_said.step, 0);
	else
		begun.c = c;
	if (!may_settle_later(&r->head))
		begun_settle(w);
	if (mapped > 0 || mapped < -4095)
		SYS2(munmap, mapped, r->head.body);
}

/* ---- the other requests ---- */

static uint64_t wanted_id;

static bool is_wanted(uint64_t low, uint64_t high)
{
	return low <= wanted_id && wanted_id <= high;
}

/* Also what a call has left behind, whose own end was told long ago. Another signal than KILL is sent once. */
static void take_cancel(struct warden *w, const struct request *r)
{
	struct call *c = call_find(r->head.id);

	if (r->head.id == 0 || r->head.id > *highest_of(r->head.id)) {
		answer(r, ESRCH, 0, 0);
		return;
	}
	wanted_id = r->head.id;
	if (r->head.signal != 0 && r->head.signal != SIGKILL) {
		answer(r, 0, (int32_t)mark_kill(w, is_wanted, r->head.signal), 0);
		return;
	}
	if (!c)
		c = call_new(r->head.id);
	if (!c) {
		answer(r, EAGAIN, 0, 0);
		return;
	}
	call_cancel(c);
}

static void take_signal_request(const struct request *r)
{
	const struct call *c = call_find(r->head.id);
	long err = !c || c->pid <= 0 ? -ESRCH : SYS2(kill, -c->pid, r->head.signal);

	answer(r, err < 0 ? (int32_t)-err : 0, 0, 0);
}

static void take_list(const struct request *r)
{
	struct serve_item *items = (void *)(reply + sizeof(struct serve_event));
	uint32_t n = call_list(items, SERVE_CALLS_MAX);

	answer(r, 0, (int32_t)n, n * sizeof(*items));
}

static void take_stat(const struct request *r)
{
	struct serve_event *e = (void *)reply;
	struct rusage u = { 0 };

	(void)SYS2(getrusage, RUSAGE_CHILDREN, &u);
	e->user_us = usec(&u.ru_utime);
	e->sys_us = usec(&u.ru_stime);
	e->max_rss_kb = (uint64_t)u.ru_maxrss;
	answer(r, 0, (int32_t)call_list(NULL, SERVE_CALLS_MAX), 0);
}

/* The descriptor stays here when it is taken. */
static void take_line(const struct warden *w, const struct request *r, int *fds, unsigned n)
{
	const uint32_t number = (uint32_t)(r->head.id >> SERVE_LINE_BIT);
	long err = n == 1 ? line_add(w, number, fds[0]) : -EINVAL;

	if (err >= 0)
		fds[0] = -1;
	answer(r, err < 0 ? (int32_t)-err : 0, 0, 0);
}

/* Nobody can begin a call between the look and the end of the lines: what was asked for and not read, its caller hears to be unread. */
static void take_retire(const struct request *r)
{
	struct serve_event *e = (void *)reply;
	bool used = calls_on_lines();

	e->wall_us = used ? 0 : lines_unused();
	if (used || e->wall_us / 1000 < r->head.deadline_ms) {
		answer(r, EBUSY, 0, 0);
		return;
	}
	lines_drop();
	answer(r, 0, 0, 0);
}

static void dispatch(struct warden *w, struct request *r, int *fds, unsigned n)
{
	switch (r->head.msg) {
	case SERVE_EXEC:
		take_exec(w, r, fds, n);
		return;
	case SERVE_CANCEL:
		take_cancel(w, r);
		return;
	case SERVE_SIGNAL:
		take_signal_request(r);
		return;
	case SERVE_LIST:
		take_list(r);
		return;
	case SERVE_STAT:
		take_stat(r);
		return;
	case SERVE_LINE:
		take_line(w, r, fds, n);
		return;
	case SERVE_RETIRE:
		take_retire(r);
		return;
	default: /* SERVE_STOP */
		mounts_later(w);
		die(0);
	}
}

/* What was in a request may be secret, and a later child inherits our memory. */
static void forget_request(long n, const int *fds, unsigned n_fds)
{
	for (unsigned i = 0; i < n_fds; i++)
		if (fds[i] >= 0)
			SYS1(close, fds[i]);
	begun.bytes = n > 0 ? (size_t)n : 0;
	if (!begun.c)
		memset(message, 0, begun.bytes);
}

/* Whether creel, through the warden's other half, wants everything to end. */
static bool is_the_end(long n)
{
	const struct warden_report *said = (const void *)message;

	return n == (long)sizeof(*said) && said->msg == MSG_END;
}

/* One request of who holds the sandbox. */
static void take_request(struct warden *w)
{
	struct request *r = &begun.r; /* of nobody else: it was settled */
	int fds[SERVE_FDS_MAX] = { 0 };
	struct taken t = { .bytes = message, .max = sizeof(message), .fds = fds };
	size_t rest = 0;
	long n = message_take(WARDEN_FD_CONTROL, &t, SERVE_FDS_MAX), err;

	if (n == -EAGAIN)
		return;
	if (n == 0)
		die(1);
	if (is_the_end(n)) {
		mounts_later(w);
		die(0);
	}
	memset(reply, 0, sizeof(struct serve_event));
	*r = (struct request){ 0 };
	err = n < 0 ? n : request_head(message, (size_t)n, r, &rest);
	if (err >= 0 && !request_may_come(r, 0))
		err = -EINVAL;
	if (err < 0 && r->head.id >> SERVE_LINE_BIT)
		r->head.id = 0; /* whatever it says, this is who asked */
	r->body = message + sizeof(r->head);
	if (err < 0)
		answer(r, (int32_t)-err, 0, 0);
	else
		dispatch(w, r, fds, t.n_fds);
	forget_request(n, fds, t.n_fds);
}

/* The same of a line. Who does not keep to what may be said there is hung up on. */
static void take_from_line(struct warden *w, struct line *l)
{
	struct request *r = &begun.r;
	int fds[SERVE_FDS_MAX] = { 0 };
	struct taken t = { .bytes = message, .max = sizeof(message), .fds = fds };
	size_t rest = 0;
	long n = message_take(l->fd, &t, SERVE_FDS_MAX);

	if (n == -EAGAIN)
		return;
	*r = (struct request){ 0 };
	if (n <= 0 || request_head(message, (size_t)n, r, &rest) < 0 || !request_may_come(r, l->number))
		line_drop(l);
	else {
		r->body = message + sizeof(r->head);
		dispatch(w, r, fds, t.n_fds);
	}
	forget_request(n, fds, t.n_fds);
}

/* ---- the loop ---- */

static void take_signals(struct warden *w, bool *reap)
{
	uint32_t info[2][32] = {
		0
	}; /* struct signalfd_siginfo; one that is left free says that there are no more */
	long n;

	do {
		n = SYS3(read, w->signals_fd, info, sizeof(info));
		for (long i = 0; i < n / (long)sizeof(info[0]); i++) {
			*reap |= info[i][0] == SIGCHLD;
			if (signal_from_outside(info[i], SIGTERM))
				SYS2(kill, -1, SIGTERM);
		}
	} while (n == (long)sizeof(info));
}

/* 0-2 stay taken, so that nothing that we are sent is ever one of them; whoever is executed without a stream has this one. */
static void take_null(struct warden *w)
{
	long fd = SYS4(openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0), r = fd;

	for (int i = 0; i <= 2 && r >= 0; i++)
		r = SYS3(dup3, fd, i, 0);
	if (r >= 0)
		r = mark_open(w);
	if (r < 0)
		fail(w, 0, r, "make ready to serve");
	SYS1(close, fd);
}

/* Who holds the sandbox comes last: what is asked of it about calls comes after the calls that its clients have asked for before, on their lines. */
static void take_requests(struct warden *w, const struct pollfd *p, unsigned n_lines)
{
	struct line *l;
	unsigned at = 0;

	while ((l = lines_next(p + 1, n_lines, &at))) {
		begun_settle(w);
		take_from_line(w, l);
	}
	if (p[0].revents & POLLIN) {
		begun_settle(w);
		take_request(w);
	}
}

_Noreturn void serve(struct warden *w)
{
	struct pollfd p[2 + SERVE_LINES_MAX] = { { .events = POLLIN }, { .fd = WARDEN_FD_CONTROL } };
	bool reap = true; /* the process that tried the walls */
	bool forgotten = false;
	/* Calls have our session: not that of the outside, for whose share of the processor one could ask in /proc/self/autogroup. */
	long r = SYS0(setsid);

	if (r < 0)
		fail(w, 0, r, "make a session for calls");
	(void)payload_start(w);
	started_forget(w);
	take_null(w);
	p[0].fd = w->signals_fd;
	for (;;) {
		const struct __kernel_timespec tick = { .tv_nsec = BEGUN_TICK_MS * 1000000 };
		struct __kernel_timespec t;
		bool ends_said = calls_step(w, reap);
		const struct __kernel_timespec *patience = begun.c ? &tick : calls_patience(&t);
		bool idle = !forgotten && !patience;
		unsigned n_lines = lines_poll(p + 2);

		reap = false;
		p[1].events = reply_n || !ends_said ? POLLOUT : POLLIN;
		t = idle ? (struct __kernel_timespec){ .tv_nsec = FORGET_MS * 1000000 } : t;
		r = SYS5(ppoll, p, 2 + n_lines, idle ? &t : patience, 0, 0);
		now_again();
		if (idle && r == 0) {
			above_forget();
			forgotten = true;
		}
		if (r > 0)
			begun_settle(w);
		else
			begun_look(w);
		if (p[0].revents)
			take_signals(w, &reap);
		if (p[1].revents & (POLLHUP | POLLERR)) {
			mounts_later(w);
			die(1); /* creel is gone: so is everything here */
		}
		if (p[1].revents & POLLOUT && reply_n && put(reply, reply_n))
			reply_n = 0;
		take_requests(w, p + 1, n_lines);
	}
}
