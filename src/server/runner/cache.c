/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions that are open, so that a warm call pays for no new one. One belongs to exactly one identity: door, token, agent, chat, user and session key. A
 * session of a caller who is refused is never kept.
 */
#include "server/runner/runner.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>

enum { SESSIONS_MAX = 16, NAME_MAX_BYTES = 4096 };

struct entry {
	struct session *session;
	struct buf name;
	uint64_t used;
};

struct cache {
	struct entry v[SESSIONS_MAX];
	uint64_t uses;
	unsigned per_place;
	struct session *passing; /* open for one call alone */
};

int cache_new(unsigned per_place, struct cache **ret)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->per_place = per_place < 1 ? 1 : per_place;
	return 0;
}

static void drop(struct entry *e)
{
	e->session = session_close(e->session);
	buf_done(&e->name);
	*e = (struct entry){ 0 };
}

void cache_clear(struct cache *c)
{
	for (unsigned i = 0; i < SESSIONS_MAX; i++)
		drop(&c->v[i]);
	c->passing = session_close(c->passing);
}

struct cache *cache_free(struct cache *c)
{
	if (c)
		cache_clear(c);
	free(c);
	return NULL;
}

void cache_drop(struct cache *c, struct session *s)
{
	for (unsigned i = 0; i < SESSIONS_MAX; i++)
		if (s && c->v[i].session == s)
			drop(&c->v[i]);
	if (c->passing == s)
		c->passing = session_close(c->passing);
}

/* Lengths in front: no two identities have one name. */
static void put_name(struct buf *out, const struct request *r)
{
	const struct str parts[] = { r->agent, r->session_key, r->channel, r->chat_id, r->user_id };

	buf_printf(out, "%d %zu", (int)r->via, r->token);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		buf_printf(out, " %zu:", parts[i].n);
		buf_put(out, parts[i]);
	}
}

static struct entry *find(struct cache *c, struct str name)
{
	struct entry *oldest = &c->v[0];

	for (unsigned i = 0; i < SESSIONS_MAX; i++) {
		if (c->v[i].session && str_eq(buf_str(&c->v[i].name), name))
			return &c->v[i];
		if (!c->v[i].session || (oldest->session && c->v[i].used < oldest->used))
			oldest = &c->v[i];
	}
	drop(oldest);
	return oldest;
}

/* The one that was used longest ago, of those that are connected with this sandbox, when they are more than may be. */
static struct entry *one_too_many(struct cache *c, struct str place)
{
	struct entry *oldest = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < SESSIONS_MAX; i++) {
		struct entry *e = &c->v[i];

		if (!e->session || !str_eq(session_place_key(e->session), place))
			continue;
		n++;
		if (!oldest || e->used < oldest->used)
			oldest = e;
	}
	return n > c->per_place ? oldest : NULL;
}

/* Where a sandbox is, is known once a session was used: the last one that was. */
static void trim(struct cache *c)
{
	for (unsigned i = 0; i < SESSIONS_MAX; i++) {
		struct str place = c->v[i].session && c->v[i].used == c->uses
					   ? session_place_key(c->v[i].session)
					   : (struct str){ 0 };
		struct entry *old = place.n ? one_too_many(c, place) : NULL;

		if (old)
			drop(old);
	}
}

int cache_session(struct cache *c, struct engine *g, const struct request *who, struct session **ret,
		  struct err *e)
{
	const struct session_opts o = { .who = *who };
	struct entry *at;
	struct buf name;
	int r;

	c->passing = session_close(c->passing);
	trim(c);
	buf_init(&name, NAME_MAX_BYTES);
	put_name(&name, who);
	at = name.failed ? NULL : find(c, buf_str(&name));
	if (at && at->session) {
		buf_done(&name);
		at->used = ++c->uses;
		*ret = at->session;
		return 0;
	}
	r = session_open(g, &o, ret, e);
	if (r < 0 || !at || session_refused(*ret) != CODE_OK) {
		buf_done(&name);
		c->passing = r < 0 ? NULL : *ret;
		return r;
	}
	*at = (struct entry){ .session = *ret, .name = name, .used = ++c->uses };
	return 0;
}

/* ---- spares ---- */

unsigned cache_spares(struct cache *c, unsigned *ret_ready)
{
	unsigned n = 0, ready;

	*ret_ready = 0;
	for (unsigned i = 0; i < SESSIONS_MAX; i++)
		if (c->v[i].session) {
			n += session_spares(c->v[i].session, &ready);
			*ret_ready += ready;
		}
	return n;
}

unsigned cache_drop_spares(struct cache *c, uint64_t before_ms)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SESSIONS_MAX; i++)
		n += c->v[i].session ? session_drop_spares(c->v[i].session, before_ms) : 0;
	return n;
}

uint64_t cache_oldest_spare(const struct cache *c)
{
	uint64_t oldest = CLOCK_NEVER;

	for (unsigned i = 0; i < SESSIONS_MAX; i++)
		if (c->v[i].session && session_oldest_spare(c->v[i].session) < oldest)
			oldest = session_oldest_spare(c->v[i].session);
	return oldest;
}

/* The session that was used last of those that want one. */
static struct session *who_wants(const struct cache *c)
{
	const struct entry *found = NULL;

	for (unsigned i = 0; i < SESSIONS_MAX; i++)
		if (c->v[i].session && session_wants_spare(c->v[i].session) &&
		    (!found || found->used < c->v[i].used))
			found = &c->v[i];
	return found ? found->session : NULL;
}

bool cache_wants_spare(const struct cache *c)
{
	return who_wants(c) != NULL;
}

int cache_make_spare(struct cache *c, struct err *e)
{
	struct session *s = who_wants(c);

	return s ? session_make_spare(s, e) : 0;
}

void cache_want_none(struct cache *c)
{
	for (struct session *s; (s = who_wants(c));)
		session_want_none(s);
}
