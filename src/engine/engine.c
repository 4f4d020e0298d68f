/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine_priv.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/private.h"
#include "policy/envname.h"
#include "sandbox/sandbox.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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
	g->hurry = o->hurry;
	g->diags.arena = &g->arena;
	if (g->arena.failed)
		return err_set(e, ERR_LIMIT, "out of memory");
	r = config_load(&g->input, &g->arena, &g->diags, &g->config, e);
	if (r >= 0)
		facts_take(&g->config, &g->facts);
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
	g->config_changes++;
}

int engine_hide(struct engine *g, struct str name, struct str value, struct err *e)
{
	int r = redactor_add(g->redactor, name, value);

	return r < 0 ? err_sys(e, -r, "redaction") : 0;
}

int engine_set_cwd(struct engine *g, struct str dir, struct err *e)
{
	g->facts.cwd = arena_str(&g->arena, dir);
	return g->facts.cwd.p ? 0 : err_set(e, ERR_LIMIT, "out of memory");
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
	g->warden_fd = g->clerk_fd = g->mounts_fd = g->own_dir = g->own_lock = FD_NONE;
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
	if (g->hurry && g->audit)
		audit_hand_over(g->audit);
	(void)audit_close(g->audit);
	(void)redactor_free(g->redactor);
	(void)secrets_free(g->secrets);
	(void)fd_close(g->warden_fd);
	(void)fd_close(g->clerk_fd);
	(void)fd_close(g->mounts_fd);
	own_done(g);
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

static int open_audit(struct engine *g, struct err *e)
{
	char path[PATH_LEN];
	struct audit_opts o = { .dir = path,
				.redactor = g->redactor,
				.max_file_bytes = g->config.base.audit_rotate,
				.keep = g->config.base.audit_keep };
	int r = engine_audit_dir(g, path, sizeof(path), e);

	return r < 0 ? r : audit_open(&o, &g->audit, e);
}

int engine_audit(struct engine *g, struct audit **ret, struct err *e)
{
	int r = g->audit ? 0 : open_audit(g, e);

	*ret = g->audit;
	return r;
}

static bool is_built_in(const struct engine *g)
{
	for (size_t i = 0; i < OPT_COUNT_; i++)
		if (g->config.base.has[i])
			return false;
	return g->config.n_imports == 0 && g->config.n_agents == 0 && g->config.n_pairs == 0;
}

/* Which configuration is in force, when it is another than the last that was recorded. Its text never holds the value of a secret. */
static int record_config(struct engine *g, struct err *e)
{
	char dir[PATH_LEN];
	_cleanup_close_ int at = FD_NONE, fd = FD_NONE;
	_cleanup_buf_ struct buf text = { 0 }, files = { 0 };
	char digest[SHA256_HEX], last[SHA256_HEX] = "";
	struct audit_field f[2];

	buf_init(&text, (size_t)16 << 20);
	buf_init(&files, 65536);
	config_show(&g->config, &(struct show_opts){ .json = true }, &text);
	for (size_t i = 0; i < g->config.n_imports; i++) {
		buf_puts(&files, i ? " " : "");
		buf_put(&files, g->config.imports[i].path);
	}
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the configuration is too large to be recorded");
	sha256_hex(buf_str(&text), digest);
	at = engine_audit_dir(g, dir, sizeof(dir), e) < 0 ? -EIO : private_dir_open(dir);
	fd = at < 0 ? at : private_file_open(at, "audit.config", O_RDWR | O_CREAT);
	if (fd >= 0 && pread(fd, last, sizeof(last) - 1, 0) != (ssize_t)sizeof(last) - 1)
		last[0] = '\0';
	/* A log begins with the defaults that are built in: those are no news. */
	g->config_recorded = last[0] ? memcmp(last, digest, sizeof(last)) == 0 : is_built_in(g);
	if (g->config_recorded)
		return 0;
	f[0] = (struct audit_field){ "digest", str_z(digest) };
	f[1] = (struct audit_field){ "files",
				     files.n ? buf_str(&files) : STR("none: built-in defaults and flags") };
	if (audit_event(g->audit, AUDIT_CONFIG, last[0] ? "changed" : "read", f, 2, e) < 0)
		return -1;
	g->config_recorded = true;
	if (fd >= 0)
		(void)!pwrite(fd, digest, sizeof(digest) - 1, 0); /* or it is recorded again */
	return 0;
}

int engine_record_config(struct engine *g, struct err *e)
{
	return g->config_recorded ? 0 : record_config(g, e);
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
