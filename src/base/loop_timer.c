/* SPDX-License-Identifier: Apache-2.0 */
/* The loop's timers: a binary heap of slots, each source knowing its place so that removing one costs no search. */
#include "base/loop_priv.h"

static bool earlier(const struct loop *l, uint32_t a, uint32_t b)
{
	const struct source *x = &l->source[a], *y = &l->source[b];

	return x->at_ms != y->at_ms ? x->at_ms < y->at_ms : x->order < y->order;
}

static void put(struct loop *l, uint32_t at, uint32_t slot)
{
	l->timers.heap[at] = slot;
	l->source[slot].heap_at = at;
}

static void sift_up(struct loop *l, uint32_t at)
{
	uint32_t slot = l->timers.heap[at];

	while (at > 0 && earlier(l, slot, l->timers.heap[(at - 1) / 2])) {
		put(l, at, l->timers.heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(l, at, slot);
}

static void sift_down(struct loop *l, uint32_t at)
{
	uint32_t slot = l->timers.heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= l->timers.n)
			break;
		if (child + 1 < l->timers.n && earlier(l, l->timers.heap[child + 1], l->timers.heap[child]))
			child++;
		if (!earlier(l, l->timers.heap[child], slot))
			break;
		put(l, at, l->timers.heap[child]);
		at = child;
	}
	put(l, at, slot);
}

/* Both arrays as long as there can be timers, so that collecting what is due never allocates. */
static int reserve(struct loop *l)
{
	uint32_t cap = l->cap;
	uint32_t *heap;
	struct loop_id *due;

	if (l->timers.cap >= cap)
		return 0;
	heap = reallocarray(l->timers.heap, cap, sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	l->timers.heap = heap;
	due = reallocarray(l->timers.due, cap, sizeof(*due));
	if (!due)
		return -ENOMEM;
	l->timers.due = due;
	l->timers.cap = cap;
	return 0;
}

int timers_add(struct loop *l, uint32_t slot)
{
	int r = reserve(l);

	if (r < 0)
		return r;
	l->source[slot].order = l->timers.next_order++;
	l->timers.heap[l->timers.n] = slot;
	sift_up(l, l->timers.n++);
	return 0;
}

void timers_remove(struct loop *l, uint32_t slot)
{
	uint32_t at = l->source[slot].heap_at, last;

	if (at == NO_SLOT)
		return;
	l->source[slot].heap_at = NO_SLOT;
	last = l->timers.heap[--l->timers.n];
	if (last == slot)
		return;
	put(l, at, last);
	sift_up(l, at);
	sift_down(l, l->source[last].heap_at);
}

uint64_t timers_next(const struct loop *l)
{
	return l->timers.n > 0 ? l->source[l->timers.heap[0]].at_ms : CLOCK_NEVER;
}

size_t timers_collect(struct loop *l, uint64_t now_ms)
{
	size_t n = 0;

	while (l->timers.n > 0 && timers_next(l) <= now_ms) {
		uint32_t slot = l->timers.heap[0];

		timers_remove(l, slot);
		l->timers.due[n++] =
			(struct loop_id){ .slot = slot, .generation = l->source[slot].generation };
	}
	return n;
}
