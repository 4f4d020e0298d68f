/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine_priv.h"

#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define SESSION_ARENA_MAX ((size_t)64 << 20)

/* ---- who ---- */

static void keep(struct session *s, struct str *text)
{
	*text = text->p ? arena_str(&s->arena, *text) : *text;
}

static bool is_local_via(enum via via)
{
	return via == VIA_CLI || via == VIA_LIBRARY;
}

static void keep_who(struct session *s, const struct request *who)
{
	struct request *r = &s->who;

	*r = *who;
	if (is_local_via(r->via))
		r->auth = AUTH_LOCAL;
	else if (r->auth == AUTH_LOCAL)
		r->auth = AUTH_INVALID;
	r->tool = r->command = r->request_id = (struct str){ 0 };
	r->argv = (struct strs){ 0 };
	keep(s, &r->agent);
	keep(s, &r->session_key);
	keep(s, &r->session_id);
	keep(s, &r->channel);
	keep(s, &r->chat_id);
	keep(s, &r->user_id);
	keep(s, &r->sender);
	keep(s, &r->provider);
	keep(s, &r->model);
	r->facts = s->engine->facts;
}

static bool is_set(const struct facts *f, struct str name)
{
	for (size_t i = 0; i < f->env_names.n; i++)
		if (str_eq(f->env_names.v[i], name))
			return true;
	return false;
}

/* NAME has its value from the environment, and is a secret as far as we know. */
static int keep_env(struct session *s, struct strs env, struct err *e)
{
	struct str *v = ARENA_ARRAY(&s->arena, struct str, env.n);
	size_t n = 0;

	for (size_t i = 0; v && i < env.n; i++) {
		struct str name = env.v[i], value = { 0 };
		bool given = str_cut(name, '=', &name, &value);
		struct str z = arena_str(&s->arena, name);
		const char *set;

		if (!env_name_valid(name) || memchr(value.p ? value.p : "", 0, value.n))
			return err_set(e, ERR_USAGE,
				       "--env: '" STR_FMT "' is not a name of letters, digits and '_'",
				       STR_ARG(name));
		set = given ? NULL : environ_get(s->engine->input.environ, z.p);
		if (!given && !set && !is_set(&s->engine->facts, name))
			continue;
		if (!set)
			set = ""; /* it has a value, and that is empty */
		s->env_secret |= !given;
		if (!given && *set && redactor_add(s->engine->redactor, name, str_z(set)) < 0)
			return err_set(e, ERR_LIMIT, "--env: too many values to keep out of the log");
		v[n++] = given ? arena_str(&s->arena, env.v[i]) : arena_printf(&s->arena, "%s=%s", z.p, set);
	}
	s->env = (struct strs){ .v = v, .n = n };
	return s->arena.failed ? err_set(e, ERR_LIMIT, "the environment is too large") : 0;
}

/* Keys of its own, over what everybody has. */
static int load_own(struct session *s, const struct session_opts *o, struct err *e)
{
	struct config_flag *flags = ARENA_ARRAY(&s->arena, struct config_flag, o->n_flags);
	struct diags diags = { .arena = &s->arena };

	s->config = &s->engine->config;
	if (o->n_flags == 0)
		return 0;
	for (size_t i = 0; flags && i < o->n_flags; i++) {
		flags[i] = o->flags[i];
		keep(s, &flags[i].value);
	}
	s->config = &s->own_config;
	if (!flags)
		return err_set(e, ERR_LIMIT, "out of memory");
	return config_add_flags(&s->engine->config, flags, o->n_flags, &s->arena, &diags, &s->own_config, e);
}

/* The decision is pure: it says which directories it would like to know about. They are looked for once. */
static int look_around(struct session *s, struct err *e)
{
	struct decision *d = ARENA_NEW(&s->arena, struct decision);
	int r = d ? decide(s->config, &s->who, &s->arena, d, e) : err_set(e, ERR_LIMIT, "out of memory");

	if (r < 0)
		return r;
	s->refused = CODE_OK;
	if (d->verdict != VERDICT_ALLOW && d->stopped_at == STAGE_IDENTITY && !is_local_via(s->who.via)) {
		s->refused = d->code;
		return 0;
	}
	if (d->verdict != VERDICT_ALLOW && d->stopped_at == STAGE_IDENTITY)
		return err_set(e, ERR_DENIED, "refused (%s): " STR_FMT, code_word(d->code),
			       STR_ARG(d->message));
	if (d->n_ask_dirs)
		s->who.facts.dirs = facts_dirs(&s->arena, d);
	session_place_init(s, d);
	return 0;
}

int session_open(struct engine *g, const struct session_opts *o, struct session **ret, struct err *e)
{
	_cleanup_(session_closep) struct session *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_set(e, ERR_LIMIT, "out of memory");
	s->engine = g;
	arena_init(&s->arena, SESSION_ARENA_MAX);
	buf_init(&s->made_for, 1 << 20);
	s->own = o->own;
	s->cancel_fd = FD_NONE;
	s->image = o->image;
	s->net = o->net;
	s->cgroup_parent = o->cgroup_parent;
	keep(s, &s->image);
	keep(s, &s->net);
	keep(s, &s->cgroup_parent);
	keep_who(s, &o->who);
	r = keep_env(s, o->env, e);
	if (r >= 0)
		r = load_own(s, o, e);
	if (r >= 0)
		r = look_around(s, e);
	if (r >= 0 && s->arena.failed)
		r = err_set(e, ERR_LIMIT, "out of memory");
	s->call_memory = r < 0 ? NULL : calloc(1, CALL_ARENA_FIRST);
	if (r >= 0 && !s->call_memory)
		r = err_set(e, ERR_LIMIT, "out of memory");
	if (r < 0)
		return r;
	*ret = s;
	s = NULL;
	return 0;
}

enum code session_refused(const struct session *s)
{
	return s->refused;
}

struct str session_place_key(const struct session *s)
{
	return str_z(s->box ? s->key : "");
}

struct session *session_close(struct session *s)
{
	if (!s)
		return NULL;
	session_let_go(s);
	spares_done(s);
	buf_done(&s->made_for);
	for (size_t i = 0; i < s->env.n; i++)
		if (s->env.v[i].n) {
			char *p;

			memcpy(&p, &s->env.v[i].p, sizeof(p));
			explicit_bzero(p, s->env.v[i].n);
		}
	session_tools_done(s);
	arena_done(&s->arena);
	free(s->call_memory);
	free(s);
	return NULL;
}

/* ---- its sandbox ---- */

void session_let_go(struct session *s)
{
	s->box = box_close(s->box);
	job_forget(s);
	own_forget(s);
	s->key[0] = '\0';
	s->kept = s->on_host = s->for_one = s->warn = false;
	s->digest = (struct digest){ 0 };
	s->made_for.n = 0;
	s->seen = (struct limits_seen){ 0 };
}

/* One that has lost a call has ended, or is about to; if its warden was killed, nobody else removes what it wrote. */
void session_end(struct session *s, bool lost)
{
	bool for_one = s->for_one;

	session_let_go(s);
	if (for_one && lost)
		job_sweep(s->engine);
}

void session_put_aside(struct session *s, struct session_hand *h)
{
	*h = (struct session_hand){ .box = s->box,
				    .made_for = s->made_for,
				    .digest = s->digest,
				    .kept = s->kept,
				    .on_host = s->on_host,
				    .for_one = s->for_one,
				    .warn = s->warn,
				    .own_note = s->own_note,
				    .warn_until_ms = s->warn_until_ms,
				    .seen = s->seen };
	memcpy(h->key, s->key, sizeof(h->key));
	s->box = NULL;
	s->own_note = 0;
	buf_init(&s->made_for, 1 << 20);
	session_let_go(s);
}

void session_take_up(struct session *s, struct session_hand *h)
{
	session_let_go(s);
	buf_done(&s->made_for);
	s->box = h->box;
	s->made_for = h->made_for;
	s->digest = h->digest;
	s->kept = h->kept;
	s->on_host = h->on_host;
	s->for_one = h->for_one;
	s->warn = h->warn;
	s->own_note = h->own_note;
	s->warn_until_ms = h->warn_until_ms;
	s->seen = h->seen;
	memcpy(s->key, h->key, sizeof(s->key));
}

struct str session_host_dir(const struct session *s, const struct decision *d)
{
	return s->follows || !d->workspace.n ? s->cwd : d->workspace;
}

/* Asks the sandbox, so not for every call. One that does not answer has not changed. */
void session_count_limits(struct session *s)
{
	struct box_stat st;
	struct err ignored = { 0 };

	s->seen.looked_ms = clock_mono_ms();
	if (s->box && s->box->ops->stat(s->box, &st, &ignored) >= 0) {
		s->seen.oom_kills = st.oom_kills;
		s->seen.pids_refused = st.pids_refused;
	}
}

/* What is said while nobody waits is that it has ended, or nothing. */
static bool still_there(struct session *s)
{
	struct box_event ev;
	struct err ignored = { 0 };
	int r;

	do {
		r = s->box->ops->next(s->box, false, &ev, &ignored);
		if (r == 1 && ev.kind == BOX_PTY)
			(void)fd_close(ev.fd);
	} while (r == 1 && ev.kind != BOX_GONE);
	if (r == 1 && s->own)
		own_record_end(s, &ev.err);
	return r == -EAGAIN;
}

/* While its walls are built there is time to begin its note. */
static int new_sandbox(struct session *s, struct build *b, struct own_begun *note, struct err *e)
{
	int warden, r = engine_warden(s->engine, &warden, e);

	b->clerk_fd = s->engine->clerk_fd;
	if (r >= 0)
		r = build_begin(b, warden, &s->box, e);
	if (r < 0)
		return r;
	if (s->own)
		own_begin(s->engine, s->box, note);
	return build_stands(b, s->box, e);
}

static int own_sandbox(struct session *s, const struct decision *d, struct build *b, struct arena *a,
		       struct own_begun *note, struct err *e)
{
	int r = 0;

	if (!spare_take(s, d, b) &&
	    (b->private_dir[0] || !pool_take(&s->engine->pool, &b->digest, &s->box, note)))
		r = new_sandbox(s, b, note, e);
	if (r >= 0)
		r = setup_run(s, d, s->box, a, e);
	if (r < 0)
		s->box = box_close(s->box);
	return r;
}

struct build_input session_build_input(const struct session *s, const struct decision *d)
{
	return (struct build_input){ .decision = d,
				     .facts = &s->who.facts,
				     .state = &s->engine->state,
				     .image = s->image,
				     .parent = s->cgroup_parent,
				     .local = is_local_via(s->who.via),
				     .passing = d->place.scope == SCOPE_JOB };
}

/* Not when one may be ready: which one fits is known only when the rest is. */
static void begin_early(struct session *s, const struct build_input *in, struct sandbox *ret)
{
	struct err ignored = { 0 };
	int warden;

	if ((s->own || in->passing) && !s->engine->pool.n && !s->spares.n &&
	    engine_warden(s->engine, &warden, &ignored) >= 0)
		build_early(in, warden, ret);
}

/* Who only looks after processes of a session that has none needs no sandbox for that. */
static bool needs_none(struct session *s, const struct decision *d, struct arena *a)
{
	const struct tool *t = tools_find(d->tool.name);

	return t && t->looks_after && !s->own && d->place.place != PLACE_HOST &&
	       d->place.scope != SCOPE_JOB && kept_is_none(s, d, a);
}

int session_sandbox(struct session *s, const struct decision *d, struct arena *a, struct err *e)
{
	_cleanup_buf_ struct buf want = { 0 };
	const struct build_input in = session_build_input(s, d);
	_cleanup_sandbox_ struct sandbox early = SANDBOX_NONE;
	_cleanup_(own_drop) struct own_begun note = OWN_NOT_BEGUN;
	struct diags diags = { .arena = a };
	char room[2048];
	struct build *b;
	int r;

	if (network_given(d, s->net, e) < 0)
		return -1;
	buf_init_on(&want, 1 << 20, room, sizeof(room));
	build_signature(d, &want);
	if (want.failed || d->place.key.n > REGISTRY_KEY_MAX)
		return err_set(e, ERR_LIMIT, "the key of the sandbox is too long");
	/* Once: what is in a sandbox of the session alone is not read again either. */
	if (in.local && !s->git_found && scope_is_shared(d->place.scope)) {
		s->git = git_user_find(&s->arena, s->who.facts.home, s->engine->state.environ);
		s->git_found = true;
	}
	if (s->box && str_eq(buf_str(&want), buf_str(&s->made_for)) && still_there(s)) {
		s->engine->counts.reused += s->kept;
		return 0;
	}
	session_let_go(s);
	if (needs_none(s, d, a))
		return 0;
	b = ARENA_NEW(a, struct build);
	if (!b)
		return err_set(e, ERR_LIMIT, "out of memory");
	if (d->place.place == PLACE_HOST) {
		r = host_open(session_host_dir(s, d), &s->box, e);
	} else {
		begin_early(s, &in, &early);
		r = session_make_place(d, e);
		if (r >= 0)
			r = build_make(&in, a, &diags, b, e);
		b->early = &early;
		if (r >= 0)
			r = s->own || in.passing ? own_sandbox(s, d, b, a, &note, e)
						 : kept_sandbox(s, d, b, a, e);
		s->digest = b->digest;
		s->kept = r >= 0 && !s->own && !in.passing;
		if (r >= 0 && s->own)
			own_note(s, d, &note);
		else if (r >= 0 && in.passing)
			r = job_register(s, d, e);
	}
	if (r < 0)
		return r;
	/* One that is new has counted nothing, unless it was set up. */
	if (s->seen.looked_ms == 0 && !d->limits.run_setup)
		s->seen.looked_ms = clock_mono_ms();
	s->on_host = d->place.place == PLACE_HOST;
	s->for_one = in.passing;
	(void)snprintf(s->key, sizeof(s->key), "%.*s", (int)d->place.key.n, d->place.key.p);
	buf_put(&s->made_for, buf_str(&want));
	return s->made_for.failed ? err_set(e, ERR_LIMIT, "out of memory") : 0;
}

/* ---- ready for the next ---- */

/* Only what sees no layer and no directory of one session alone can be anybody's next. */
int session_pool_fill(struct session *s, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct pool *pool = &s->engine->pool;
	struct decision *d;
	struct build *b;
	struct diags diags = { .arena = &a };
	int warden, r;

	arena_init(&a, CALL_ARENA_MAX);
	d = ARENA_NEW(&a, struct decision);
	b = ARENA_NEW(&a, struct build);
	if (!d || !b)
		return err_set(e, ERR_LIMIT, "out of memory");
	r = decide(s->config, &s->who, &a, d, e);
	if (r < 0)
		return r;
	if (d->verdict != VERDICT_ALLOW || d->place.place == PLACE_HOST || d->place.backend != BACKEND_NATIVE)
		return err_set(e, ERR_USAGE, "only sandboxes of this host can be made ready");
	r = build_make(&(struct build_input){ .decision = d,
					      .facts = &s->who.facts,
					      .state = &s->engine->state,
					      .image = s->image,
					      .parent = s->cgroup_parent,
					      .local = is_local_via(s->who.via) },
		       &a, &diags, b, e);
	if (r >= 0 && b->private_dir[0])
		return err_set(
			e, ERR_USAGE,
			"a sandbox with private layers belongs to one session; none can be made ready");
	if (r >= 0)
		r = engine_warden(s->engine, &warden, e);
	while (r >= 0 && !b->digest.covers && pool->n < pool->size) {
		struct box *box = NULL;
		struct own_begun note;

		r = build_own(b, warden, &box, e);
		if (r < 0)
			break;
		own_begin(s->engine, box, &note);
		(void)pool_put(pool, &b->digest, box, &note); /* there is room */
	}
	return r < 0 ? r : (int)pool_count(pool, &b->digest);
}
