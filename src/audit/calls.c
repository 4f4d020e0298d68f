/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which calls are under way: a file of small slots beside the log, one for each call that was decided and has not finished. Whoever has a call
 * under way holds the lock of its slot, and the kernel lets go of it with the process, however that ends and in whatever pid namespace. So a slot that is filled
 * and not locked is a call whose caller was killed; the next who opens the log writes its end, with the reason "lost".
 *
 * Only for the truth of the log: a file that cannot be had, or is full, keeps nobody from calling.
 */
#include "audit/audit_priv.h"

#include "base/private.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CALLS_FILE "audit.calls"
#define SETTLE_MAX 16 /* by one who opens: each may have to read the log */
#define LOST_EXIT 125
#define NOT_WRITTEN UINT64_MAX /* its record was about to be written */

struct slot {
	uint64_t seq; /* of "decided"; 0 = free */
	uint8_t n_request, n_session, n_tool;
	char request[80], session[120], tool[45];
};
static_assert(sizeof(struct slot) == 256, "so many bytes of the file");

enum { SLOTS = 256 };

/* ---- slots ---- */

static bool lock_slot(const struct audit *a, unsigned i, int type)
{
	struct flock l = { .l_type = (short)type,
			   .l_whence = SEEK_SET,
			   .l_start = (off_t)(i * sizeof(struct slot)),
			   .l_len = sizeof(struct slot) };

	return fcntl(a->calls_fd, F_OFD_SETLK, &l) == 0;
}

static bool read_slot(const struct audit *a, unsigned i, struct slot *ret)
{
	ssize_t n = pread(a->calls_fd, ret, sizeof(*ret), (off_t)(i * sizeof(*ret)));

	if (n >= 0 && n < (ssize_t)sizeof(*ret))
		memset((char *)ret + n, 0, sizeof(*ret) - (size_t)n);
	return n >= 0;
}

static bool write_seq(const struct audit *a, unsigned i, uint64_t seq)
{
	return pwrite(a->calls_fd, &seq, sizeof(seq), (off_t)(i * sizeof(struct slot))) ==
	       (ssize_t)sizeof(seq);
}

/* One of our own that is free, or another that nobody has; negative when there is none. */
static int take_slot(struct audit *a)
{
	unsigned first = (unsigned)a->pid % SLOTS;
	struct slot s;

	for (unsigned k = 0; k < a->n_held; k++)
		if (a->held[k].seq == 0)
			return (int)k;
	for (unsigned n = 0; n < SLOTS && a->n_held < AUDIT_HELD_MAX; n++) {
		unsigned i = (first + n) % SLOTS;
		bool ours = false;

		for (unsigned k = 0; k < a->n_held; k++)
			ours |= a->held[k].slot == i;
		if (ours || !lock_slot(a, i, F_WRLCK))
			continue;
		if (read_slot(a, i, &s) && s.seq == 0) {
			a->held[a->n_held] = (struct audit_held){ .slot = i };
			return (int)a->n_held++;
		}
		(void)lock_slot(a, i, F_UNLCK); /* somebody's who was killed: for the next who opens */
	}
	return -1;
}

static uint8_t put(char *to, size_t room, struct str s)
{
	size_t n = s.n < room ? s.n : room;

	if (n)
		memcpy(to, s.p, n);
	return (uint8_t)n;
}

int calls_begin(struct audit *a, const struct decision *d)
{
	struct slot s = { .seq = NOT_WRITTEN };
	int k = a->calls_fd < 0 || a->pid != getpid() ? -1 : take_slot(a);

	if (k < 0)
		return k;
	s.n_request = put(s.request, sizeof(s.request), d->request_id);
	s.n_session = put(s.session, sizeof(s.session), d->who.session_key);
	s.n_tool = put(s.tool, sizeof(s.tool), d->tool.name.n ? d->tool.name : d->tool.asked);
	if (pwrite(a->calls_fd, &s, sizeof(s), (off_t)(a->held[k].slot * sizeof(s))) != (ssize_t)sizeof(s)) {
		(void)write_seq(a, a->held[k].slot, 0);
		return -1;
	}
	a->held[k].seq = NOT_WRITTEN;
	return k;
}

void calls_begun(struct audit *a, int held, uint64_t seq)
{
	if (held < 0)
		return;
	a->held[held].seq = seq;
	(void)write_seq(a, a->held[held].slot, seq);
}

void calls_end(struct audit *a, uint64_t seq)
{
	for (unsigned k = 0; k < a->n_held; k++)
		if (seq && a->held[k].seq == seq)
			calls_begun(a, (int)k, 0);
}

/* ---- what the killed have left ---- */

static bool holds(struct str line, const char *what)
{
	return memmem(line.p, line.n, what, strlen(what)) != NULL;
}

/* Of a record, which begins with it. */
static uint64_t number_of(struct str line)
{
	static const struct str begin = STR("{\"seq\":");
	uint64_t n = 0;

	if (!str_starts(line, begin))
		return 0;
	for (size_t i = begin.n; i < line.n && line.p[i] >= '0' && line.p[i] <= '9'; i++)
		n = n * 10 + (uint64_t)(line.p[i] - '0');
	return n;
}

static void name_end(uint64_t seq, char *out, size_t size)
{
	(void)snprintf(out, size, "\"kind\":\"finished\",\"decided\":%llu,", (unsigned long long)seq);
}

struct search {
	const struct slot *slot;
	char request[sizeof(((struct slot *)0)->request) + 16], ended[64];
	uint64_t first, seq; /* of the file; of the call, 0 = not found */
	bool done;           /* its end was written */
};

/* Quotes in texts are escaped, so what begins with one is what it seems to be. */
static void look_at(struct search *f, struct str line)
{
	uint64_t seq = number_of(line);
	bool known = f->slot->seq != NOT_WRITTEN;

	if (f->first == 0)
		f->first = seq;
	if ((known ? seq == f->slot->seq : holds(line, f->request)) && holds(line, "\"kind\":\"decided\"")) {
		f->seq = seq;
		f->done = false;
		name_end(seq, f->ended, sizeof(f->ended));
	}
	f->done |= f->ended[0] && holds(line, f->ended);
}

/* The number of a call that was decided and has no end; 0 when there is none. One of an older file has to be believed. */
static uint64_t look_up(const struct audit *a, const struct slot *s)
{
	_cleanup_close_ int fd = private_file_open(a->dir, AUDIT_FILE, O_RDONLY);
	struct search f = { .slot = s };
	struct lines l;
	struct line line;

	if (fd < 0 || lines_init(&l, fd, 0, UINT64_MAX) < 0)
		return 0;
	(void)snprintf(f.request, sizeof(f.request), "\"request\":\"%.*s\"", (int)s->n_request, s->request);
	if (s->seq != NOT_WRITTEN)
		name_end(s->seq, f.ended, sizeof(f.ended));
	while (lines_next(&l, &line) > 0)
		look_at(&f, line.text);
	lines_done(&l);
	if (f.seq == 0 && s->seq < f.first)
		f.seq = s->seq;
	return f.done ? 0 : f.seq;
}

static void settle(struct audit *a, unsigned i)
{
	struct err ignored = { 0 };
	struct audit_end end = { .reason = "lost", .exit = LOST_EXIT };
	struct slot s;

	if (!read_slot(a, i, &s) || s.seq == 0)
		return;
	s.n_request = s.n_request > sizeof(s.request) ? sizeof(s.request) : s.n_request;
	s.n_session = s.n_session > sizeof(s.session) ? sizeof(s.session) : s.n_session;
	s.n_tool = s.n_tool > sizeof(s.tool) ? sizeof(s.tool) : s.n_tool;
	end.decided = look_up(a, &s);
	if (end.decided) {
		end.request_id = (struct str){ .p = s.request, .n = s.n_request };
		end.session = (struct str){ .p = s.session, .n = s.n_session };
		end.tool = (struct str){ .p = s.tool, .n = s.n_tool };
		if (audit_finished(a, &end, &ignored) < 0)
			return; /* the next one may be able to */
	}
	(void)write_seq(a, i, 0);
}

void calls_open(struct audit *a)
{
	_cleanup_free_ struct slot *all = calloc(SLOTS, sizeof(*all));
	unsigned settled = 0;

	a->calls_fd = private_file_open(a->dir, CALLS_FILE, O_RDWR | O_CREAT);
	if (a->calls_fd < 0)
		a->calls_fd = FD_NONE;
	if (!all || a->calls_fd < 0 || pread(a->calls_fd, all, SLOTS * sizeof(*all), 0) < 0)
		return;
	for (unsigned i = 0; i < SLOTS && settled < SETTLE_MAX; i++) {
		if (all[i].seq == 0 || !lock_slot(a, i, F_WRLCK))
			continue;
		settle(a, i);
		(void)lock_slot(a, i, F_UNLCK);
		settled++;
	}
}
