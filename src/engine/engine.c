/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine_priv.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/private.h"
#include "policy/envname.h"
#include "sandbox/sandbox.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENGINE_ARENA_MAX ((size_t)256 << 20)
#define PATH_LEN 4096

/* ---- the configuration ---- */

static struct str copy(struct engine *g, struct str s)
{
	return s.p ? arena_str(&g->arena, s) : s;
}

static struct strs copy_all(struct engine *g, struct strs list)
{
	struct str *v = ARENA_ARRAY(&g->arena, struct str, list.n);

	for (size_t i = 0; v && i < list.n; i++)
		v[i] = arena_str(&g->arena, list.v[i]);
	return (struct strs){ .v = v, .n = v ? list.n : 0 };
}

static int find_sources(struct engine *g, struct strs names, struct err *e)
{
	struct config_source *s = ARENA_ARRAY(&g->arena, struct config_source, names.n);

	for (size_t i = 0; s && i < names.n; i++) {
		int r = config_source_parse(arena_str(&g->arena, names.v[i]), &s[i], e);

		if (r < 0)
			return err_wrap(e, "--config");
		s[i].origin = (struct origin){ .kind = ORIGIN_FLAG, .name = STR("--config") };
	}
	g->input.files = s;
	g->input.n_files = names.n;
	return s ? 0 : err_set(e, ERR_LIMIT, "out of memory");
}

static int find_facts(struct engine *g, const struct engine_opts *o, struct err *e)
{
	struct facts_input in = { .environ = o->environ,
				  .state_dir = copy(g, o->state_dir),
				  .home = copy(g, o->home),
				  .cwd = copy(g, o->cwd) };
	int r;

	if (o->state_dir.p && str_trim(o->state_dir).n == 0)
		return err_set(e, ERR_USAGE, "--state-dir must not be blank");
	if (in.state_dir.n)
		in.environ = environ_with_state_dir(&g->arena, in.environ, in.state_dir);
	r = facts_find(&in, &g->arena, &g->facts, e);
	g->facts.backends |= 1u << BACKEND_HOST;
	g->state = (struct state_dir){ .said = in.state_dir, .home = g->facts.home, .environ = in.environ };
	g->input.environ = in.environ;
	return r;
}

static void tell(const struct engine_opts *o, const struct diags *d, const struct config *c)
{
	for (size_t i = 0; o->say && i < d->n; i++) {
		_cleanup_buf_ struct buf line = { 0 };

		if (d->v[i].severity > SEVERITY_WARN)
			continue;
		buf_init(&line, REDACT_MAX);
		diag_put(&line, &d->v[i]);
		if (c)
			redact(&line, c, false);
		o->say(o->ctx, d->v[i].severity, str_trim(buf_str(&line)));
	}
}

static int load_config(struct engine *g, const struct engine_opts *o, struct err *e)
{
	int r = find_facts(g, o, e);

	if (r >= 0)
		r = find_sources(g, o->config, e);
	if (r < 0)
		return r;
	g->input.sets = copy_all(g, o->sets);
	g->input.profile = copy(g, o->profile);
	g->input.compat = copy(g, o->compat);
	g->input.home = g->facts.home;
	g->input.cwd = g->facts.cwd;
	g->input.no_default_file = o->no_default_config;
	g->diags.arena = &g->arena;
	if (g->arena.failed)
		return err_set(e, ERR_LIMIT, "out of memory");
	r = config_load(&g->input, &g->arena, &g->diags, &g->config, e);
	tell(o, &g->diags, r < 0 ? NULL : &g->config);
	return r;
}

/* Names that a secrets file has count as set. */
static int open_secrets(struct engine *g, struct err *e)
{
	const struct settings *s = &g->config.base;
	struct str file = s->env_secrets_file;
	struct str path = file.n && file.p[0] == '~'
				  ? arena_printf(&g->arena, "%.*s%.*s", (int)g->facts.home.n, g->facts.home.p,
						 (int)file.n - 1, file.p + 1)
				  : arena_str(&g->arena, file);
	struct secrets_opts o = { .file = path.p,
				  .optional = s->origin[OPT_ENV_SECRETS_FILE].kind == ORIGIN_PROFILE,
				  .environ = g->input.environ };
	int r = secrets_open(&o, &g->secrets, e);

	return r < 0 ? r : secrets_names(g->secrets, &g->arena, &g->facts.env_names, e);
}

/* What the file holds is in no record, whoever says it: no decision is needed for that. */
static int teach_all(struct engine *g, struct err *e)
{
	struct decision *none = ARENA_NEW(&g->arena, struct decision);

	return none ? secrets_teach(g->secrets, none, g->redactor, e)
		    : err_set(e, ERR_LIMIT, "out of memory");
}

static int name_run(struct engine *g, struct err *e)
{
	uint64_t n = 0;

	if (getrandom(&n, sizeof(n), 0) != (ssize_t)sizeof(n))
		return err_sys(e, errno, "getrandom");
	(void)snprintf(g->run_id, sizeof(g->run_id), "%016llx", (unsigned long long)n);
	return 0;
}

/* Whoever uses the library from a build tree lies anywhere; what belongs to it lies beside it. */
static void find_library(void)
{
	static const char marker;
	char path[PATH_LEN];
	Dl_info where;

	if (dladdr(&marker, &where) && where.dli_fname && strstr(where.dli_fname, "/libcreel.so") &&
	    realpath(where.dli_fname, path))
		sandbox_look_beside(path);
}

int engine_forked(struct engine *g, struct err *e)
{
	if (g->audit || g->registry || g->warden_fd >= 0 || g->pool.n)
		return err_set(e, ERR_BUG, "an engine that is in use cannot be forked");
	return name_run(g, e);
}

const struct config *engine_config(const struct engine *g)
{
	return &g->config;
}

void engine_set_tokens(struct engine *g, struct token *v, size_t n)
{
	g->config.tokens = v;
	g->config.n_tokens = n;
}

struct engine_counts engine_counts(const struct engine *g)
{
	return g->counts;
}

int engine_new(const struct engine_opts *o, struct engine **ret, struct err *e)
{
	_cleanup_(engine_freep) struct engine *g = calloc(1, sizeof(*g));
	int r;

	if (!g)
		return err_set(e, ERR_LIMIT, "out of memory");
	find_library();
	arena_init(&g->arena, ENGINE_ARENA_MAX);
	g->warden_fd = FD_NONE;
	pool_init(&g->pool, o->pool);
	r = load_config(g, o, e);
	if (r >= 0)
		r = open_secrets(g, e);
	if (r >= 0)
		r = name_run(g, e);
	if (r >= 0 && redactor_new(&g->redactor) < 0)
		r = err_set(e, ERR_LIMIT, "out of memory");
	if (r >= 0) {
		redactor_mark(g->redactor, &(struct redact_marks){ .looks_secret = env_name_looks_secret });
		r = teach_all(g, e);
	}
	if (r < 0)
		return r;
	*ret = g;
	g = NULL;
	return 0;
}

struct engine *engine_free(struct engine *g)
{
	if (!g)
		return NULL;
	tools_forget(&g->memory);
	pool_done(&g->pool);
	(void)registry_close(g->registry);
	(void)audit_close(g->audit);
	(void)redactor_free(g->redactor);
	(void)secrets_free(g->secrets);
	(void)fd_close(g->warden_fd);
	arena_done(&g->arena);
	free(g);
	return NULL;
}

/* ---- what is opened when it is needed first ---- */

/* <state>/<name>, seen to be ours. */
static int state_place(struct engine *g, const char *name, char *out, size_t size, struct err *e)
{
	_cleanup_close_ int dir = state_open(&g->state, ".", name, out, size, e);

	return dir < 0 ? dir : 0;
}

static_assert(sizeof(STATE_AUDIT_FILE) == sizeof(AUDIT_FILE), "one name for the log");

int engine_audit_dir(struct engine *g, char *out, size_t size, struct err *e)
{
	return state_audit(&g->state, &g->config, true, out, size, e);
}

int engine_audit(struct engine *g, struct audit **ret, struct err *e)
{
	char path[PATH_LEN];
	struct audit_opts o = { .dir = path, .redactor = g->redactor };
	int r = 0;

	if (!g->audit) {
		r = engine_audit_dir(g, path, sizeof(path), e);
		if (r >= 0)
			r = audit_open(&o, &g->audit, e);
	}
	*ret = g->audit;
	return r;
}

int engine_registry(struct engine *g, struct registry **ret, struct err *e)
{
	char path[PATH_LEN], sessions[PATH_LEN];
	struct registry_opts o = { .dir = path, .sessions = sessions };
	_cleanup_close_ int dir = FD_NONE;
	int r = 0;

	if (!g->registry) {
		r = state_place(g, "registry", path, sizeof(path), e);
		if (r >= 0)
			r = dir = state_open(&g->state, "sessions", ".", sessions, sizeof(sessions), e);
		if (r >= 0)
			r = registry_open(&o, &g->registry, e);
	}
	*ret = g->registry;
	return r < 0 ? r : 0;
}

int engine_warden(struct engine *g, int *ret, struct err *e)
{
	int r = 0;

	if (g->warden_fd < 0)
		r = sandbox_open_warden(&g->warden_fd, e);

	*ret = g->warden_fd;
	return r;
}

int engine_session_dir(struct engine *g, struct str key, char *out, size_t size, struct err *e)
{
	_cleanup_close_ int dir = FD_NONE, own = FD_NONE;
	char name[BUILD_NAME_MAX];

	build_name(key, name);
	dir = state_open(&g->state, "sessions", name, out, size, e);
	if (dir < 0)
		return dir;
	own = private_dir_open(out);
	return own < 0 ? err_set(e, ERR_UNAVAIL, "'%s': %s", out, private_why(own)) : 0;
}

int engine_open(struct engine *g, struct err *e)
{
	struct registry *registry;
	struct audit *audit;
	int warden, r = engine_audit(g, &audit, e);

	if (r >= 0)
		r = engine_registry(g, &registry, e);
	return r < 0 ? r : engine_warden(g, &warden, e);
}

/* ---- what waits ---- */

int engine_flush(struct engine *g, struct err *e)
{
	int r = g->audit ? audit_sync(g->audit, e) : 0;

	if (r >= 0 && g->registry)
		r = registry_flush(g->registry, e);
	return r;
}

void engine_tick(struct engine *g)
{
	uint64_t now = clock_mono_ms();
	struct err ignored = { 0 };

	if (g->audit && audit_sync_deadline(g->audit) <= now)
		(void)audit_sync(g->audit, &ignored);
	if (g->registry && registry_flush_deadline(g->registry) <= now)
		(void)registry_flush(g->registry, &ignored);
}
