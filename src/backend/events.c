/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/events.h"
#include "base/fd.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CAP_FIRST 16u

static int watch(int epoll, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

int events_init(struct events *q, int fd)
{
	int r;

	*q = EVENTS_NONE;
	q->wait = epoll_create1(EPOLL_CLOEXEC);
	q->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = q->wait < 0 || q->bell < 0 ? -errno : watch(q->wait, fd);
	if (r >= 0)
		r = watch(q->wait, q->bell);
	if (r < 0)
		events_done(q);
	return r;
}

int events_watch(struct events *q, int fd)
{
	return watch(q->wait, fd);
}

void events_done(struct events *q)
{
	for (size_t i = 0; i < q->n; i++)
		(void)fd_close(q->v[(q->first + i) % q->cap].fd);
	free(q->v);
	(void)fd_close(q->wait);
	(void)fd_close(q->bell);
	*q = EVENTS_NONE;
}

void events_ring(struct events *q)
{
	const uint64_t one = 1;

	if (!q->rung && q->bell >= 0)
		q->rung = write(q->bell, &one, sizeof(one)) == (ssize_t)sizeof(one);
}

static void hush(struct events *q)
{
	uint64_t ignored;

	if (q->rung && read(q->bell, &ignored, sizeof(ignored)) == (ssize_t)sizeof(ignored))
		q->rung = false;
}

static int grow(struct events *q)
{
	size_t cap = q->cap ? q->cap * 2 : CAP_FIRST;
	struct box_event *v = cap <= EVENTS_MAX ? calloc(cap, sizeof(*v)) : NULL;

	if (!v)
		return cap > EVENTS_MAX ? -ENOBUFS : -ENOMEM;
	for (size_t i = 0; i < q->n; i++)
		v[i] = q->v[(q->first + i) % q->cap];
	free(q->v);
	q->v = v;
	q->first = 0;
	q->cap = cap;
	return 0;
}

int events_put(struct events *q, const struct box_event *ev)
{
	int r = q->n == q->cap ? grow(q) : 0;

	if (r < 0) {
		(void)fd_close(ev->fd);
		return r;
	}
	q->v[(q->first + q->n++) % q->cap] = *ev;
	events_ring(q);
	return 0;
}

bool events_take(struct events *q, struct box_event *ret)
{
	if (!q->n)
		return false;
	*ret = q->v[q->first];
	q->first = (q->first + 1) % q->cap;
	if (--q->n == 0)
		hush(q);
	return true;
}
