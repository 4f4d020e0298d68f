/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/warden/lines.h"
#include "sandbox/warden/serve.h"

#include <asm/resource.h>

#define OWN_FDS 3 /* at once, beside what is there always: a terminal's two sides, rules */

SPARSE(1) static struct line lines[SERVE_LINES_MAX];
static uint32_t n_lines; /* slots up to here have been used */
static uint64_t used_us; /* when one was used last */
static uint64_t own_highest;

static struct line *line_of(uint64_t id)
{
	for (uint32_t i = 0; i < n_lines; i++)
		if (lines[i].number && lines[i].number == id >> SERVE_LINE_BIT)
			return &lines[i];
	return NULL;
}

/* ---- coming and going ---- */

static bool can_mark(const struct warden *w, uint32_t number)
{
	const uint64_t last = ((uint64_t)number + 1) << SERVE_LINE_BIT;
	uint64_t low[2] = { 0 };

	return SYS4(prlimit64, 0, RLIMIT_LOCKS, 0, low) >= 0 && low[1] >= last && w->mark_top >= last;
}

/* Descriptors that a call brings, and those that we open on the way, have to find room however many lines there are. */
static bool leaves_room(int fd)
{
	uint64_t files[2] = { 0 };

	return SYS4(prlimit64, 0, RLIMIT_NOFILE, 0, files) >= 0 &&
	       (uint64_t)fd + SERVE_FDS_MAX + OWN_FDS < files[0];
}

long line_add(const struct warden *w, uint32_t number, int fd)
{
	struct line *l = NULL;

	if (number == 0 || number > SERVE_LINE_LAST || line_of((uint64_t)number << SERVE_LINE_BIT))
		return -EINVAL;
	if (!can_mark(w, number))
		return -EPERM;
	for (uint32_t i = 0; i < SERVE_LINES_MAX && !l; i++)
		l = lines[i].number ? NULL : &lines[i];
	if (!l || !leaves_room(fd))
		return -EAGAIN;
	*l = (struct line){ .number = number, .fd = fd, .highest = (uint64_t)number << SERVE_LINE_BIT };
	if (l >= lines + n_lines)
		n_lines = (uint32_t)(l - lines) + 1;
	return 0;
}

void line_drop(struct line *l)
{
	calls_forsake(l->number);
	SYS1(close, l->fd);
	*l = (struct line){ 0 };
	while (n_lines > 0 && !lines[n_lines - 1].number)
		n_lines--;
}

void lines_drop(void)
{
	for (uint32_t i = n_lines; i > 0; i--)
		if (lines[i - 1].number)
			line_drop(&lines[i - 1]);
}

/* ---- saying ---- */

static long say(struct line *l, const struct serve_event *e)
{
	long r = l->deaf ? -EAGAIN : message_put(l->fd, e, sizeof(*e), -1);

	used_us = now_us();
	if (r >= 0 || r == -EPIPE || r == -ECONNRESET) /* its other side has gone: the poll will tell */
		return 0;
	l->deaf = true; /* or there is no memory to say it with */
	return -EAGAIN;
}

long event_say(const struct serve_event *e)
{
	struct line *l = line_of(e->id);

	if (l)
		return say(l, e);
	return e->id >> SERVE_LINE_BIT ? 0 : message_put(WARDEN_FD_CONTROL, e, sizeof(*e), -1);
}

void line_answer(uint64_t id, const struct serve_event *e)
{
	struct line *l = line_of(id);

	if (!l || say(l, e) >= 0)
		return;
	/* There is one place: as long as it is taken nothing is read from this line. */
	l->unsaid = *e;
	l->has_unsaid = true;
}

uint64_t *highest_of(uint64_t id)
{
	struct line *l = line_of(id);

	return l ? &l->highest : &own_highest;
}

uint64_t lines_unused(void)
{
	return now_us() - used_us;
}

/* ---- waiting ---- */

unsigned lines_poll(struct pollfd p[static SERVE_LINES_MAX])
{
	for (uint32_t i = 0; i < n_lines; i++)
		p[i] = (struct pollfd){ .fd = lines[i].number ? lines[i].fd : -1,
					.events = lines[i].deaf ? POLLOUT : POLLIN };
	return n_lines;
}

static void listens_again(struct line *l)
{
	l->deaf = false;
	if (l->has_unsaid && say(l, &l->unsaid) >= 0)
		l->has_unsaid = false;
}

struct line *lines_next(const struct pollfd *p, unsigned n, unsigned *at)
{
	while (*at < n) {
		struct line *l = &lines[*at];
		short events = p[(*at)++].revents;

		if (!l->number)
			continue;
		if (events & (POLLHUP | POLLERR | POLLNVAL))
			line_drop(l);
		else if (events & POLLOUT)
			listens_again(l);
		else if (events & POLLIN) {
			used_us = now_us();
			return l;
		}
	}
	return NULL;
}
