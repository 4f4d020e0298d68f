/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The export for incidents, and what is kept out of it: values that are known (of the secrets file, of variables whose names speak of secrets, of the
 * configuration's references), and what stands where a secret stands: behind raw:, Bearer, NAME= of such a name, and tokens of ours.
 */
#include "engine/api.h"

#include "audit/incident.h"
#include "base/clock.h"
#include "engine/engine_priv.h"
#include "policy/envname.h"

/* ---- known values ---- */

static int teach(struct redactor *r, struct str name, struct str value, struct err *e)
{
	int code = redactor_add(r, name, value);

	return code < 0 ? err_sys(e, -code, "redaction") : 0;
}

static int teach_environ(const struct engine *g, struct redactor *r, struct err *e)
{
	int code = 0;

	for (char *const *v = g->input.environ; code == 0 && v && *v; v++) {
		struct str name, value;

		if (str_cut(str_z(*v), '=', &name, &value) && env_name_looks_secret(name))
			code = teach(r, name, value, e);
	}
	return code;
}

static int teach_ref(const struct engine *g, const struct secret_ref *ref, struct redactor *r, struct err *e)
{
	const char *value = NULL;
	char name[256];

	if (ref->kind == REF_RAW)
		return teach(r, STR("raw"), ref->text, e);
	if (ref->kind == REF_ENV && ref->text.n < sizeof(name)) {
		memcpy(name, ref->text.p, ref->text.n);
		name[ref->text.n] = '\0';
		value = environ_get(g->input.environ, name);
	}
	return value ? teach(r, ref->text, str_z(value), e) : 0;
}

/* Written out in a file that should have had a reference: no less a secret for that. */
static int teach_literals(const struct env_vars *vars, struct redactor *r, struct err *e)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < vars->n; i++)
		if (vars->v[i].kind == ENV_LITERAL && env_name_looks_secret(vars->v[i].name))
			code = teach(r, vars->v[i].name, vars->v[i].value, e);
	return code;
}

static int teach_settings(const struct engine *g, const struct settings *s, struct redactor *r, struct err *e)
{
	int code = teach_ref(g, &s->osb_api_key, r, e);

	if (code == 0)
		code = teach_literals(&s->env_set, r, e);
	return code == 0 ? teach_literals(&s->route_env, r, e) : code;
}

/* The engine's own redactor knows the secrets file and what calls were given; this one knows more, and is for this alone. */
static int teach_config(const struct engine *g, struct redactor *r, struct err *e)
{
	const struct config *c = &g->config;
	int code = teach_settings(g, &c->base, r, e);

	for (size_t i = 0; code == 0 && i < c->n_agents; i++)
		if (c->agents[i].over)
			code = teach_settings(g, c->agents[i].over, r, e);
	for (size_t i = 0; code == 0 && i < c->n_tokens; i++)
		code = teach_ref(g, &c->tokens[i].ref, r, e);
	for (size_t i = 0; code == 0 && i < c->n_env_used; i++)
		if (env_name_looks_secret(c->env_used[i].name))
			code = teach(r, c->env_used[i].name, c->env_used[i].value, e);
	return code;
}

/* ---- both, in one text ---- */

struct hiding {
	const struct redactor *engine, *config;
};

static void hide(void *ctx, struct str text, struct buf *out)
{
	_cleanup_buf_ struct buf once = { 0 }, twice = { 0 };
	const struct hiding *h = ctx;

	buf_init(&once, INCIDENT_MAX);
	buf_init(&twice, INCIDENT_MAX);
	redact_put(h->engine, &once, text);
	redact_put(h->config, &twice, buf_str(&once));
	buf_put(out, once.failed || twice.failed ? STR("<redacted>") : buf_str(&twice));
}

/* ---- the export ---- */

int engine_incident(struct engine *g, struct str request, struct str session, struct buf *out, struct err *e)
{
	_cleanup_(redactor_freep) struct redactor *r = NULL;
	struct incident_opts o = { .request = request,
				   .session = session,
				   .now_ms = clock_unix_ms(),
				   .version = CREEL_VERSION,
				   .hide = hide };
	static const struct decision none;
	struct hiding hiding = { .engine = g->redactor };
	char dir[4096];
	int code;

	if (redactor_new(&r) < 0)
		return err_set(e, ERR_LIMIT, "out of memory");
	if ((request.n != 0) == (session.n != 0))
		return err_set(e, ERR_USAGE, "which? either a request or a session");
	redactor_mark(r, &(struct redact_marks){ .looks_secret = env_name_looks_secret, .wide = true });
	code = secrets_teach(g->secrets, &none, r, e);
	if (code >= 0)
		code = teach_environ(g, r, e);
	if (code >= 0)
		code = teach_config(g, r, e);
	if (code >= 0)
		code = state_audit(&g->state, &g->config, false, dir, sizeof(dir), e);
	if (code < 0)
		return code;
	o.dir = dir;
	hiding.config = r;
	o.ctx = &hiding;
	return incident_export(&o, out, e);
}

int creel_incident(struct creel_engine *c, const char *request, const char *session, char **ret_json,
		   struct creel_error *error)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct err e = { 0 };

	buf_init(&out, INCIDENT_MAX);
	if (engine_incident(api_engine(c), api_str(request), api_str(session), &out, &e) < 0)
		return api_fail(error, &e);
	*ret_json = api_text(&out);
	return 0;
}
