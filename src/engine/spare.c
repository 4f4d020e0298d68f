/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sandboxes for one call (scope job) that are made before the call comes, while nobody waits (serve.pool). After a call its session wants one more like
 * the one that was used; whoever serves has it made when there is nothing else to do.
 *
 * A spare hangs on the session that it was made for, which is one caller and one chat, so nobody else's call can come to it. It is given out once, and only
 * to a call for which the very same sandbox would be made at that moment: the decision is made anew, everything that it names is looked up
 * anew, and walls, mounts and limits are compared; where sockets of the host have to be covered there is none. Nothing has run in it; what a call brings (command,
 * variables, secrets, the way out) comes with the call. What does not fit, or has died, is let go of.
 */
#include "engine/engine_priv.h"

#include "backend/clerk.h"
#include "backend/native.h"
#include "base/clock.h"
#include "base/fd.h"
#include "sandbox/mountinfo.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

#define WANT_MAX ((size_t)32 << 10)
#define REAP_MS 10000u

/* What of the last call's request was decided by. Its words may be secret, and are wiped. */
struct spare_want {
	struct request request; /* of it: what it asked for; who asked is the session's */
	size_t bytes;
	struct str argv[];
};

bool spare_possible(const struct session *s, const struct decision *d)
{
	bool remote = s->who.via != VIA_CLI && s->who.via != VIA_LIBRARY;

	return s->config->base.serve_pool > 0 && remote && !s->own && d->place.scope == SCOPE_JOB &&
	       d->place.place != PLACE_HOST && d->place.backend == BACKEND_NATIVE;
}

/* ---- what is wanted ---- */

static void forget_want(struct session *s)
{
	struct spare_want *w = s->spares.want;

	s->spares.want = NULL;
	if (w)
		explicit_bzero(w, w->bytes);
	free(w);
}

void spare_want(struct session *s, const struct request *r, const struct decision *d)
{
	size_t words = r->tool.n + r->command.n + r->path.n, bytes;
	struct spare_want *w;
	char *at;

	forget_want(s);
	for (size_t i = 0; i < r->argv.n; i++)
		words += r->argv.v[i].n;
	bytes = sizeof(*w) + r->argv.n * sizeof(w->argv[0]) + words;
	if (!spare_possible(s, d) || bytes > WANT_MAX)
		return;
	w = calloc(1, bytes);
	if (!w)
		return; /* the next call makes its own */
	at = (char *)&w->argv[r->argv.n];
	w->bytes = bytes;
	w->request = (struct request){ .tool = str_put(&at, r->tool),
				       .command = str_put(&at, r->command),
				       .path = str_put(&at, r->path),
				       .has_timeout = r->has_timeout,
				       .timeout_s = r->timeout_s,
				       .wants_elevated = r->wants_elevated,
				       .passive = r->passive };
	for (size_t i = 0; i < r->argv.n; i++)
		w->argv[i] = str_put(&at, r->argv.v[i]);
	w->request.argv = (struct strs){ .v = w->argv, .n = r->argv.n };
	s->spares.want = w;
}

static struct request request_of(const struct session *s, const struct spare_want *w)
{
	struct request r = s->who;

	r.tool = w->request.tool;
	r.command = w->request.command;
	r.path = w->request.path;
	r.argv = w->request.argv;
	r.has_timeout = w->request.has_timeout;
	r.timeout_s = w->request.timeout_s;
	r.wants_elevated |= w->request.wants_elevated;
	r.passive = w->request.passive;
	r.brief = true;
	return r;
}

void session_want_none(struct session *s)
{
	forget_want(s);
}

bool session_wants_spare(const struct session *s)
{
	return s->spares.want != NULL;
}

/* ---- the host's mounts ---- */

/*
 * Below a directory that a sandbox sees may be mounts of the host, which it has as they were when it was made. The kernel tells that any has changed
 * since it was asked last. 0: it does not tell.
 */
static uint64_t mounts_now(struct engine *g)
{
	struct pollfd p = { .events = POLLPRI };
	int r;

	if (g->mounts_fd < 0)
		g->mounts_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	p.fd = g->mounts_fd;
	r = p.fd < 0 ? -1 : poll(&p, 1, 0);
	g->mounts_changed += r > 0;
	return r < 0 ? 0 : g->mounts_changed + 1;
}

static bool is_below(struct str point, struct str dir)
{
	return point.n > dir.n && str_starts(point, dir) && (dir.n == 1 || point.p[dir.n] == '/');
}

/* What cannot be read counts as yes. */
static bool has_mounts_below(const struct profile *p)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct mount_lines lines = { 0 };
	bool found;

	arena_init(&a, (size_t)16 << 20);
	found = mountinfo_read(&a, &lines) < 0;
	for (size_t i = 0; !found && i < lines.n; i++) {
		for (size_t j = 0; !found && j < p->n_mounts; j++)
			found = p->mounts[j].source.path.n &&
				is_below(lines.v[i].point, p->mounts[j].source.path);
		for (size_t j = 0; !found && j < p->n_root_binds; j++)
			found = is_below(lines.v[i].point, p->root_binds[j].path);
	}
	return found;
}

/* Which mount has changed is found out only for one that has had none below it since it was begun: it is as it was when that is still so. */
static bool mounts_fit(struct spare *x, uint64_t mounted, const struct profile *p)
{
	if (x->mounted != mounted && mounted && x->stands && !x->below && !has_mounts_below(p))
		x->mounted = mounted;
	return x->mounted == mounted;
}

/* ---- letting go ---- */

static struct spare remove_at(struct session *s, unsigned i)
{
	struct spare x = s->spares.v[i];

	s->spares.v[i] = s->spares.v[--s->spares.n];
	return x;
}

/* One whose warden was killed has left what it wrote. */
static void let_go(struct session *s, struct spare x, bool lost)
{
	struct err ignored = { 0 };
	struct registry *reg;

	(void)box_close(x.box);
	s->engine->counts.pool_dropped++;
	if (x.key[0] && engine_registry(s->engine, &reg, &ignored) >= 0)
		(void)registry_remove(reg, str_z(x.key), NULL, &ignored);
	if (lost && x.layers)
		job_sweep(s->engine);
}

/* 1: it can be used. 0: it is still being made. */
static int look_at(struct session *s, struct spare *x, bool wait)
{
	struct err ignored = { 0 };
	int r;

	if (x->stands)
		return pool_is_there(x->box) ? 1 : -1;
	r = native_stands(x->box, wait, &ignored);
	x->stands = r > 0;
	x->below |= x->stands && x->mounted != mounts_now(s->engine); /* nobody knows what it got of that */
	s->engine->counts.pool_made += x->stands;
	return r;
}

unsigned session_spares(struct session *s, unsigned *ret_ready)
{
	*ret_ready = 0;
	for (unsigned i = 0; i < s->spares.n;) {
		int r = look_at(s, &s->spares.v[i], false);

		*ret_ready += r > 0;
		if (r >= 0)
			i++;
		else
			let_go(s, remove_at(s, i), true);
	}
	return s->spares.n;
}

unsigned session_drop_spares(struct session *s, uint64_t before_ms)
{
	const unsigned before = s->spares.n;

	for (unsigned i = 0; i < s->spares.n;)
		if (s->spares.v[i].made_ms < before_ms)
			let_go(s, remove_at(s, i), false);
		else
			i++;
	return before - s->spares.n;
}

uint64_t session_oldest_spare(const struct session *s)
{
	uint64_t oldest = CLOCK_NEVER;

	for (unsigned i = 0; i < s->spares.n; i++)
		oldest = s->spares.v[i].made_ms < oldest ? s->spares.v[i].made_ms : oldest;
	return oldest;
}

void spares_done(struct session *s)
{
	(void)session_drop_spares(s, CLOCK_NEVER);
	forget_want(s);
}

/* ---- giving out ---- */

static bool hash_walls(const struct decision *d, char out[static SHA256_HEX])
{
	_cleanup_buf_ struct buf walls = { 0 };
	char room[2048];

	buf_init_on(&walls, 1 << 20, room, sizeof(room));
	build_walls(d, &walls);
	sha256_hex(buf_str(&walls), out);
	return !walls.failed;
}

static bool fits(const struct spare *x, const struct digest *digest, const char *walls)
{
	return digest_same(&x->digest, digest) && strcmp(x->walls, walls) == 0;
}

bool spare_take(struct session *s, const struct decision *d, const struct build *b)
{
	char walls[SHA256_HEX];
	uint64_t mounted;

	if (!spare_possible(s, d) || !hash_walls(d, walls))
		return false;
	mounted = s->spares.n ? mounts_now(s->engine) : 0;
	for (unsigned i = 0; i < s->spares.n;) {
		struct spare x;

		if (!fits(&s->spares.v[i], &b->digest, walls) ||
		    !mounts_fit(&s->spares.v[i], mounted, &b->profile)) {
			/* Decided alike, and the host is not what it was: nobody will ever need it. Not in the way of this call. */
			if (strcmp(s->spares.v[i].walls, walls) == 0)
				s->spares.v[i].made_ms = 0;
			i++;
			continue;
		}
		x = remove_at(s, i);
		if (look_at(s, &x, true) <= 0) {
			let_go(s, x, true);
			continue;
		}
		s->box = x.box;
		memcpy(s->job_key, x.key, sizeof(s->job_key));
		s->engine->counts.pool_hits++;
		return true;
	}
	s->engine->counts.pool_misses++;
	return false;
}

/* ---- making ---- */

/* Listed by the key that it will have as a job. */
static int enter(struct session *s, const struct decision *d, struct spare *x, struct err *e)
{
	struct reg_entry entry = session_entry(s, d);
	struct registry *reg;
	int r = engine_registry(s->engine, &reg, e);

	entry.state = REG_SPARE;
	entry.profile_digest = str_z(x->digest.walls);
	entry.mounts_digest = str_z(x->digest.mounts);
	if (r >= 0)
		r = job_name(x->box, &entry, x->key, e);
	if (r >= 0)
		r = registry_put(reg, &entry, e);
	if (r < 0)
		x->key[0] = '\0';
	return r;
}

/* Spares have what room the others leave, and make room for them: nobody is refused because of one. */
int engine_has_room(struct engine *g, uint64_t more, struct err *e)
{
	const uint64_t max = g->config.base.serve_max_sandboxes;
	struct reg_reaped reaped;
	struct registry *reg;
	uint64_t n = 0;
	int r = max == 0 ? 1 : engine_registry(g, &reg, e);

	if (max == 0 || r < 0)
		return r;
	r = registry_count_kept(reg, &n, e);
	if (r >= 0 && n + more > max && clock_mono_ms() >= g->reap_ms) {
		/* Whoever was killed has left its rows, and perhaps nobody has looked since. */
		g->reap_ms = clock_deadline(REAP_MS);
		r = registry_reap(reg, &reaped, e);
		if (r >= 0)
			r = registry_count_kept(reg, &n, e);
	}
	return r < 0 ? r : n + more <= max;
}

static int make(struct session *s, const struct decision *d, struct build *b, uint64_t mounted, struct err *e)
{
	struct spare x = { .digest = b->digest, .layers = b->private_dir[0], .mounted = mounted };
	struct err ignored = { 0 };
	int warden, r = engine_warden(s->engine, &warden, e);

	if (!hash_walls(d, x.walls))
		return err_set(e, ERR_LIMIT, "out of memory");
	if (x.digest.covers || mounted == 0)
		return 0; /* nobody could have it */
	for (unsigned i = 0; i < s->spares.n; i++)
		if (fits(&s->spares.v[i], &x.digest, x.walls) &&
		    mounts_fit(&s->spares.v[i], mounted, &b->profile))
			return 0;
	if (s->spares.n == SPARES_MAX)
		(void)session_drop_spares(s, session_oldest_spare(s) + 1);
	x.below = has_mounts_below(&b->profile);
	/* Its copy is made once; a call whose clerk cannot be had says so itself. */
	if (r >= 0 && s->engine->clerk_fd < 0)
		(void)clerk_open_program(&s->engine->clerk_fd, &ignored);
	b->clerk_fd = s->engine->clerk_fd;
	if (r >= 0)
		r = build_begin(b, warden, &x.box, e);
	if (r >= 0)
		r = enter(s, d, &x, e);
	if (r < 0) {
		(void)box_close(x.box);
		return r;
	}
	x.made_ms = clock_mono_ms();
	s->spares.v[s->spares.n++] = x;
	return 1;
}

int session_make_spare(struct session *s, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct diags diags = { .arena = &a };
	struct build_input in;
	struct request request;
	struct decision *d;
	struct build *b;
	uint64_t mounted;
	int r;

	if (!s->spares.want)
		return 0;
	arena_init(&a, CALL_ARENA_MAX);
	mounted = mounts_now(s->engine);
	d = ARENA_NEW(&a, struct decision);
	b = ARENA_NEW(&a, struct build);
	request = request_of(s, s->spares.want);
	r = d && b ? decide(s->config, &request, &a, d, e) : err_set(e, ERR_LIMIT, "out of memory");
	if (r >= 0 && d->verdict == VERDICT_ALLOW && spare_possible(s, d)) {
		in = session_build_input(s, d);
		r = session_make_place(d, e);
		if (r >= 0)
			r = build_make(&in, &a, &diags, b, e);
		if (r >= 0)
			r = make(s, d, b, mounted, e);
	}
	forget_want(s);
	return r;
}
