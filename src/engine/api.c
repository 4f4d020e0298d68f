/* SPDX-License-Identifier: Apache-2.0 */
/* The public door: plain C structs of some version of us, turned into those of the engine. Nothing is decided here. */
#include <creel/creel.h>

#include "engine/api.h"
#include "engine/engine.h"
#include "prepare/prepare.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static_assert((int)CREEL_USAGE == (int)ERR_USAGE && (int)CREEL_BUG == (int)ERR_BUG &&
		      (int)CREEL_BUG + 1 == (int)ERR_KIND_COUNT_,
	      "the kinds are the same");
static_assert((int)CREEL_CALL_OK == (int)CALL_OK && (int)CREEL_CALL_VERDICT == (int)CALL_VERDICT,
	      "so are the ends");

int api_fail(struct creel_error *out, const struct err *e)
{
	if (out) {
		out->kind = (int)e->kind;
		out->sys_errno = e->sys_errno;
		out->exit = err_kind_exit(e->kind);
		(void)snprintf(out->message, sizeof(out->message), "%.*s", (int)sizeof(out->message) - 1,
			       e->msg);
	}
	return -1;
}

struct str api_str(const char *z)
{
	return z ? str_z(z) : (struct str){ 0 };
}

bool api_take(void *to, size_t room, const void *from, size_t least)
{
	size_t size = 0;

	if (from)
		memcpy(&size, from, sizeof(size));
	if (size < least)
		return false;
	memset(to, 0, room);
	memcpy(to, from, size < room ? size : room);
	return true;
}

const char *creel_version(void)
{
	return CREEL_VERSION;
}

void creel_free(void *p)
{
	free(p);
}

char *api_text(struct buf *b)
{
	char *p = b->failed ? NULL : b->p;

	if (!p) {
		buf_done(b);
		return NULL;
	}
	*b = (struct buf){ 0 };
	return p;
}

/* ---- the engine ---- */

struct teller {
	creel_say_fn *say;
	void *ctx;
};

static void tell(void *ctx, enum severity severity, struct str line)
{
	const struct teller *t = ctx;
	_cleanup_free_ char *z = NULL;

	if (t->say && str_dupz(line, &z) == 0)
		t->say(t->ctx, severity == SEVERITY_ERROR ? CREEL_ERROR : CREEL_WARNING, z);
}

static struct strs list(struct arena *a, const char *const *v, size_t n)
{
	struct str *out = ARENA_ARRAY(a, struct str, n);

	for (size_t i = 0; out && i < n; i++)
		out[i] = api_str(v[i]);
	return (struct strs){ .v = out, .n = out ? n : 0 };
}

int creel_engine_new(const struct creel_options *given, struct creel_engine **ret, struct creel_error *error)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct creel_options o = { 0 };
	struct teller teller;
	struct engine_opts eo;
	struct engine *g = NULL;
	struct err e = { 0 };

	if (given && !api_take(&o, sizeof(o), given, sizeof(o.size))) {
		(void)err_set(&e, ERR_USAGE, "the options have no size: begin with CREEL_OPTIONS_INIT");
		return api_fail(error, &e);
	}
	arena_init(&a, (size_t)16 << 20);
	teller = (struct teller){ .say = o.say, .ctx = o.ctx };
	eo = (struct engine_opts){ .config = list(&a, o.config, o.n_config),
				   .sets = list(&a, o.set, o.n_set),
				   .profile = api_str(o.profile),
				   .compat = api_str(o.compat),
				   .state_dir = api_str(o.state_dir),
				   .cwd = api_str(o.cwd),
				   .home = api_str(o.home),
				   .environ = o.environ_ ? o.environ_ : environ,
				   .no_default_config = o.flags & CREEL_NO_DEFAULT_CONFIG,
				   .hurry = o.flags & CREEL_HURRY,
				   .pool = o.pool,
				   .say = tell,
				   .ctx = &teller };
	if (a.failed)
		(void)err_set(&e, ERR_LIMIT, "out of memory");
	if (a.failed || engine_new(&eo, &g, &e) < 0)
		return api_fail(error, &e);
	*ret = api_of_engine(g);
	return 0;
}

struct creel_engine *creel_engine_free(struct creel_engine *c)
{
	(void)engine_free(api_engine(c));
	return NULL;
}

int creel_flush(struct creel_engine *c, struct creel_error *error)
{
	struct err e = { 0 };

	return engine_flush(api_engine(c), &e) < 0 ? api_fail(error, &e) : 0;
}

/* ---- sessions ---- */

/* --net none | bridge | HOST[,HOST…], as creel run has it */
static size_t add_network(struct config_flag *v, size_t n, const char *net)
{
	if (!net)
		return n;
	if (strcmp(net, "none") == 0 || strcmp(net, "bridge") == 0) {
		v[n++] = (struct config_flag){ "--net", "network.primary", str_z(net) };
		return n;
	}
	v[n++] = (struct config_flag){ "--net", "network.route.tools", STR("exec") };
	v[n++] = (struct config_flag){ "--net", "network.route.hosts", str_z(net) };
	return n;
}

#define FLAGS_MAX 12

static size_t add_flags(const struct creel_session_options *o, struct config_flag v[static FLAGS_MAX])
{
	const struct {
		const char *flag, *key, *value;
	} map[] = {
		{ "--workspace", "mounts.workspace.path", o->workspace },
		{ "--workspace-access", "mounts.workspace.access", o->workspace_access },
		{ "--backend", "backend.name", o->backend },
		{ "--memory", "limits.memory", o->memory },
		{ "--pids", "limits.pids", o->pids },
		{ "--cpus", "limits.cpus", o->cpus },
		{ "--disk", "limits.disk", o->disk },
		{ "--output-limit", "limits.output", o->output_limit },
		{ "--scope", "backend.scope", o->scope },
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (map[i].value)
			v[n++] = (struct config_flag){ map[i].flag, map[i].key, str_z(map[i].value) };
	return add_network(v, n, o->network);
}

/* Blank is what a script passes whose variable is not set: taken as "not given" it would be another session or directory. */
static int check_blank(const struct creel_session_options *o, struct err *e)
{
	const struct {
		const char *value, *name;
	} all[] = {
		{ o->session, "session" },     { o->agent, "agent" },
		{ o->workspace, "workspace" }, { o->backend, "backend" },
		{ o->network, "net" },         { o->image, "image" },
		{ o->scope, "scope" },         { o->cgroup_parent, "cgroup-parent" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].value && str_trim(str_z(all[i].value)).n == 0)
			return err_set(e, ERR_USAGE, "--%s must not be blank", all[i].name);
	return 0;
}

static int fill_who(const struct creel_session_options *o, struct request *r, struct err *e)
{
	char words[128];
	int trust = TRUST_LIGHT;

	*r = (struct request){ .via = o->flags & CREEL_VIA_CLI ? VIA_CLI : VIA_LIBRARY,
			       .auth = AUTH_LOCAL,
			       .agent = api_str(o->agent),
			       .session_key = api_str(o->session),
			       .session_id = api_str(o->session_id),
			       .channel = api_str(o->channel),
			       .chat_id = api_str(o->chat_id),
			       .user_id = api_str(o->user_id),
			       .sender = api_str(o->sender),
			       .provider = api_str(o->provider),
			       .model = api_str(o->model),
			       .allow_weaken = o->flags & CREEL_ALLOW_WEAKEN,
			       .wants_elevated = o->flags & CREEL_ELEVATED,
			       .no_sandbox = o->flags & CREEL_NO_SANDBOX,
			       .force_sandbox = o->flags & CREEL_FORCE_SANDBOX };
	if (o->trust && !enum_value(trust_names, str_z(o->trust), false, &trust)) {
		enum_list(trust_names, words, sizeof(words));
		return err_set(e, ERR_USAGE, "--sandbox: '%s' is not accepted: %s", o->trust, words);
	}
	r->has_trust = o->trust || (r->force_sandbox && !o->session);
	r->trust = r->has_trust ? (enum trust)trust : TRUST_READONLY;
	return 0;
}

int creel_open(struct creel_engine *c, const struct creel_session_options *given, struct creel_session **ret,
	       struct creel_error *error)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct creel_session_options o;
	struct config_flag flags[FLAGS_MAX];
	struct session_opts so = { .flags = flags };
	struct session *s = NULL;
	struct err e = { 0 };
	int r = 0;

	arena_init(&a, (size_t)16 << 20);
	if (!api_take(&o, sizeof(o), given, sizeof(o.size)))
		r = err_set(&e, ERR_USAGE, "the options have no size: begin with CREEL_SESSION_INIT");
	if (r >= 0)
		r = check_blank(&o, &e);
	if (r >= 0)
		r = fill_who(&o, &so.who, &e);
	if (r >= 0) {
		so.own = o.flags & CREEL_OWN;
		so.n_flags = add_flags(&o, flags);
		so.image = api_str(o.image);
		so.net = api_str(o.network);
		so.cgroup_parent = api_str(o.cgroup_parent);
		so.env = list(&a, o.env, o.n_env);
		r = session_open(api_engine(c), &so, &s, &e);
	}
	if (r < 0)
		return api_fail(error, &e);
	*ret = api_of_session(s);
	return 0;
}

struct creel_session *creel_close(struct creel_session *s)
{
	(void)session_close(api_session(s));
	return NULL;
}

int creel_pool_fill(struct creel_session *like, struct creel_error *error)
{
	struct err e = { 0 };
	int r = session_pool_fill(api_session(like), &e);

	return r < 0 ? api_fail(error, &e) : r;
}

/* ---- calls ---- */

int creel_decide(struct creel_session *s, const char *tool, const char *arguments, char **ret_json,
		 struct creel_error *error)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct err e = { 0 };
	bool allowed = false;

	buf_init(&out, REDACT_MAX);
	if (session_decide(api_session(s), api_str(tool), api_str(arguments), &out, &allowed, &e) < 0)
		return api_fail(error, &e);
	*ret_json = api_text(&out);
	return allowed;
}

struct hearer {
	creel_output_fn *output;
	creel_say_fn *warn;
	creel_waiting_fn *waiting;
	void *ctx;
};

static int pass_on(void *ctx, int stream, struct str bytes)
{
	const struct hearer *h = ctx;

	return h->output(h->ctx, stream, bytes.p, bytes.n);
}

static void warn_first(void *ctx, const char *text)
{
	const struct hearer *h = ctx;

	h->warn(h->ctx, CREEL_WARNING, text);
}

static void tell_waiting(void *ctx, const struct reg_approval *row)
{
	const struct hearer *h = ctx;

	api_tell_approval(row, h->waiting, h->ctx);
}

int creel_call(struct creel_session *s, const struct creel_call *given, struct creel_result *ret,
	       struct creel_error *error)
{
	struct creel_call c;
	struct hearer hearer;
	struct call_opts o;
	struct call_result result = { 0 };
	struct err e = { 0 };
	size_t size = ret->size;

	if (size < offsetof(struct creel_result, n_json) ||
	    !api_take(&c, sizeof(c), given, offsetof(struct creel_call, ctx))) {
		(void)err_set(
			&e, ERR_USAGE,
			"a call or its result has no size: begin with CREEL_CALL_INIT and CREEL_RESULT_INIT");
		return api_fail(error, &e);
	}
	hearer = (struct hearer){ .output = c.output, .warn = c.warn, .waiting = c.waiting, .ctx = c.ctx };
	o = (struct call_opts){ .tool = api_str(c.tool),
				.args = api_str(c.arguments),
				.request_id = api_str(c.request_id),
				.timeout_s = c.timeout_s,
				.cancel_fd = c.cancel_fd,
				.output = c.output ? pass_on : NULL,
				.warn = c.warn ? warn_first : NULL,
				.waiting = c.waiting ? tell_waiting : NULL,
				.ctx = &hearer };
	if (c.n_arguments && c.arguments)
		o.args = (struct str){ .p = c.arguments, .n = c.n_arguments };
	if (session_call(api_session(s), &o, &result, &e) < 0)
		return api_fail(error, &e);
	*ret = (struct creel_result){ .size = size,
				      .status = (int)result.status,
				      .exit = result.exit,
				      .kind = (int)result.kind,
				      .n_json = result.json.n };
	ret->json = api_text(&result.json);
	return 0;
}

void creel_result_free(struct creel_result *r)
{
	union {
		const char *in;
		void *out;
	} u = { .in = r ? r->json : NULL };

	free(u.out);
	if (r) {
		r->json = NULL;
		r->n_json = 0;
	}
}
