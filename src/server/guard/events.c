/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/events for many: whoever follows takes a process of the runner, so all who show the same token share one stream of what comes from now on, and
 * each event is given to all of them. Whoever asks for earlier ones (Last-Event-ID) has a stream of his own beside it until he has what was missed.
 * Who does not read is let go: he knows the number of the last event that he has.
 */
#include "server/guard/guard.h"

#include "base/log.h"

enum { SHARED_MAX = 4, OWN_MAX = 2, EVENT_MAX = 1 << 20 };

struct hearing {
	struct hearing *next;
	struct guard *g;
	char id[TOKEN_ID_MAX];
	struct errand *errand;
	struct visit *first;    /* who hears */
	bool own;               /* of one who is behind */
	struct hearing *shared; /* of an own one: where he goes then; NULL when that has ended */
	unsigned awaited;       /* of a shared one: how many own ones wait for it */
	struct buf text;        /* of an event that is not whole yet */
	uint64_t last;          /* number of the last event */
	unsigned status;
	bool begun, busy;
};

static void end_hearing(struct hearing *h)
{
	struct hearing **at = &h->g->hearings;

	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	for (struct hearing *o = h->g->hearings; o; o = o->next)
		if (o->shared == h)
			o->shared = NULL;
	if (h->errand)
		errand_cancel(h->errand);
	if (h->shared && --h->shared->awaited == 0 && !h->shared->first && !h->shared->busy)
		end_hearing(h->shared);
	buf_done(&h->text);
	free(h);
}

static void end_if_unheard(struct hearing *h)
{
	if (!h->first && !h->awaited && !h->busy)
		end_hearing(h);
}

/* ---- who hears ---- */

static void add(struct hearing *h, struct visit *v)
{
	v->hearing = h;
	v->hears_next = h->first;
	h->first = v;
}

void events_forget(struct visit *v)
{
	struct hearing *h = v->hearing;
	struct visit **at;

	if (!h)
		return;
	for (at = &h->first; *at != v; at = &(*at)->hears_next)
		;
	*at = v->hears_next;
	v->hearing = NULL;
	end_if_unheard(h);
}

static void leave(struct visit *v, bool whole)
{
	struct http_exchange *x = v->x;

	say_done(v, 200);
	http_exchange_set(x, NULL);
	visit_free(v); /* takes him out of the list */
	if (whole)
		http_answer_end(x);
	else
		http_answer_abort(x);
}

static void begin(struct visit *v)
{
	static const struct http_answer_field fields[] = {
		{ STR("Content-Type"), STR("text/event-stream") },
		{ STR("Cache-Control"), STR("no-store") },
	};

	if (v->streams)
		return;
	if (http_answer_begin(v->x, 200, fields, 2) < 0) {
		leave(v, false);
		return;
	}
	v->streams = true;
	http_exchange_settle(v->x);
}

static void give(struct visit *v, struct str event, uint64_t number)
{
	if (!v->streams || (number && number <= v->heard))
		return;
	if (http_answer_write(v->x, event) < 0)
		leave(v, false);
	else if (number)
		v->heard = number;
}

/* The stream has ended: those who hear it are told, or end with it. */
static void end_all(struct hearing *h)
{
	h->busy = true;
	while (h->first) {
		struct visit *v = h->first;

		if (v->streams)
			leave(v, true);
		else if (h->status == 503 || h->status == 429)
			say_retry(v, 503, "busy", STR("too many follow the events already"), 10);
		else
			say_error(v, 502, "runner_unreachable", STR("the runner cannot be reached"));
	}
	end_hearing(h);
}

/* ---- the runner's stream ---- */

static void on_head(void *ctx, struct errand *r, const struct http_head *head)
{
	struct hearing *h = ctx;
	struct visit *next;
	struct str type;

	(void)r;
	h->status = head->status;
	if (head->status != 200 || http_head_one(head, STR("Content-Type"), &type) < 0 ||
	    !str_starts(type, STR("text/event-stream")))
		return;
	h->begun = h->busy = true;
	for (struct visit *v = h->first; v; v = next) {
		next = v->hears_next;
		begin(v);
	}
	h->busy = false;
	end_if_unheard(h);
}

/* The number behind "id:"; 0 when there is none. */
static uint64_t number_of(struct str event)
{
	struct str line;
	uint64_t n;

	while (str_cut(event, '\n', &line, &event))
		if (str_starts(line, STR("id:")) &&
		    str_to_u64(str_trim(str_from(line, 3)), INT64_MAX, &n) >= 0)
			return n;
	return 0;
}

/* He has all that was before the shared stream began, or as much as it has given: from here on he hears that. */
static bool catches_up(struct hearing *h, bool quiet)
{
	struct hearing *shared = h->shared;
	struct visit *v = h->first;

	if (!h->own || !v || !shared || !shared->begun ||
	    !(quiet || (shared->last && h->last >= shared->last)))
		return false;
	h->first = NULL;
	v->hears_next = NULL;
	add(shared, v);
	end_hearing(h);
	return true;
}

static void on_body(void *ctx, struct errand *r, struct str piece)
{
	struct hearing *h = ctx;
	const char *end;
	bool quiet = false;

	(void)r;
	if (!h->begun)
		return;
	buf_put(&h->text, piece);
	if (h->text.failed) {
		LOG(LOG_ERROR, "an event is longer than accepted");
		end_all(h);
		return;
	}
	h->busy = true;
	while (h->text.n && (end = memmem(h->text.p, h->text.n, "\n\n", 2))) {
		struct str event = { h->text.p, (size_t)(end - h->text.p) + 2 };
		uint64_t number = number_of(event);
		struct visit *next;

		quiet = number == 0;
		h->last = number ? number : h->last;
		for (struct visit *v = h->first; v; v = next) {
			next = v->hears_next;
			give(v, event, number);
		}
		h->text.n -= event.n;
		memmove(h->text.p, h->text.p + event.n, h->text.n);
	}
	h->busy = false;
	if (!catches_up(h, quiet))
		end_if_unheard(h);
}

static void on_end(void *ctx)
{
	struct hearing *h = ctx;

	h->errand = NULL;
	end_all(h);
}

static void on_fail(void *ctx, const struct err *e)
{
	struct hearing *h = ctx;

	LOG(LOG_WARN, "the runner's events have ended", KV_Z("why", e->msg));
	h->errand = NULL;
	end_all(h);
}

/* ---- somebody comes ---- */

static struct hearing *open_hearing(struct visit *v, bool own, struct str last_id)
{
	static const struct errand_handler handler = {
		.head = on_head, .body = on_body, .end = on_end, .fail = on_fail
	};
	const struct errand_request q = { .method = STR("GET"),
					  .target = STR("/v1/events"),
					  .caller_token = visit_token(v),
					  .accept = STR("text/event-stream"),
					  .last_event_id = last_id,
					  .answer_ms = v->g->answer_ms,
					  .body_ms = SILENCE_MS };
	struct hearing *h;
	struct err e = { 0 };
	unsigned n = 0;

	for (h = v->g->hearings; h; h = h->next)
		n += h->own == own;
	h = n < (own ? OWN_MAX : SHARED_MAX) ? calloc(1, sizeof(*h)) : NULL;
	if (!h)
		return NULL;
	h->g = v->g;
	h->own = own;
	memcpy(h->id, v->who.id, sizeof(h->id));
	buf_init(&h->text, EVENT_MAX);
	if (link_send(v->g->link, &q, &handler, h, &h->errand, &e) < 0) {
		LOG(LOG_ERROR, "the runner cannot be reached", KV_Z("why", e.msg));
		free(h);
		return NULL;
	}
	h->next = v->g->hearings;
	v->g->hearings = h;
	return h;
}

static struct hearing *shared_of(struct visit *v)
{
	for (struct hearing *h = v->g->hearings; h; h = h->next)
		if (!h->own && strcmp(h->id, v->who.id) == 0)
			return h;
	return open_hearing(v, false, (struct str){ 0 });
}

void answer_events(struct visit *v)
{
	struct str last = { 0 };
	struct hearing *shared, *h;
	bool behind = http_head_one(http_exchange_head(v->x), STR("Last-Event-ID"), &last) == 0;

	if (behind && str_to_u64(last, INT64_MAX, &v->heard) < 0) {
		say_error(v, 422, "schema", STR("Last-Event-ID: has to be a number"));
		return;
	}
	h = shared = shared_of(v);
	if (shared && behind) {
		h = open_hearing(v, true, last);
		if (h) {
			h->shared = shared;
			shared->awaited++;
		} else {
			end_if_unheard(shared);
		}
	}
	if (!h) {
		say_retry(v, 503, "busy", STR("too many follow the events already"), 10);
		return;
	}
	add(h, v);
	/* Thousands may be open for days: nothing is kept that is of no use any more. */
	v->match.part[0] = v->match.part[1] = (struct str){ 0 };
	v->query = (struct path_query){ 0 };
	arena_done(&v->arena);
	if (h->begun)
		begin(v);
}
