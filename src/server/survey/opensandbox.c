/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OpenSandbox service, where the provider is OpenSandbox: is it there, is it one, does it take the key. It is asked as any HTTP service is:
 * GET /health without a key, /v1/ping where that says nothing, and one page of /v1/sandboxes with the key. Nothing that it says is repeated: it
 * could have the key in it.
 */
#include "server/survey/look.h"

#include "base/clock.h"
#include "data/json.h"
#include "http/chars.h"
#include "policy/policy.h"
#include "prepare/prepare.h"
#include "server/survey/remote.h"

enum { LONGEST_MS = 5000, KEY_MAX = 4096, SCRATCH_MAX = 16 << 20 };

struct osb {
	struct look *l;
	struct remote r;
	const char *endpoint,
		*key_option;  /* where they are written: "backend.opensandbox.endpoint (creel.json5:3:14)" */
	struct str key;       /* empty: none */
	const char *key_name; /* for people; never the key */
	enum survey_state grade; /* of what keeps calls from it */
	bool is_built;
};

static const char name[] = "opensandbox";

/* ---- what policy would do ---- */

static const struct decision *decided(const struct osb *o, struct arena *a, const struct request *about,
				      bool built)
{
	struct decision *d = ARENA_NEW(a, struct decision);
	struct request q = *about;
	struct err e = { 0 };

	q.via = VIA_CLI;
	q.auth = AUTH_LOCAL;
	q.brief = true;
	q.facts = o->l->s->facts;
	q.facts.opensandbox_built = built;
	q.facts.backends = 1u << BACKEND_HOST | 1u << BACKEND_NATIVE;
	return d && decide(&o->l->s->config, &q, a, d, &e) >= 0 ? d : NULL;
}

/* One of the tools that it is for is refused without it, in this agent's main session or in another. */
static bool is_needed_by(const struct osb *o, struct str agent)
{
	static const char *const tools[] = { "exec", "code_exec", "browser" };
	bool is_needed = false;

	for (size_t i = 0; i < 6 && !is_needed; i++) {
		_cleanup_arena_ struct arena scratch;
		struct request q = { .tool = str_z(tools[i % 3]), .agent = agent };
		const struct decision *d;

		arena_init(&scratch, SCRATCH_MAX);
		if (i >= 3)
			q.session_key = arena_printf(&scratch, "agent:" STR_FMT ":doctor",
						     STR_ALL(agent.n ? agent : STR("main")));
		d = decided(o, &scratch, &q, true);
		is_needed = !d || d->code == CODE_SANDBOX_UNAVAILABLE;
	}
	return is_needed;
}

/* Calls that are refused without the service are a failure; when all of them would run elsewhere, it is a warning. */
static enum survey_state grade_of(const struct osb *o)
{
	const struct config *c = &o->l->s->config;
	bool is_needed = is_needed_by(o, (struct str){ 0 });

	for (size_t i = 0; i < c->n_agents && !is_needed; i++)
		is_needed = is_needed_by(o, c->agents[i].id);
	return is_needed ? SURVEY_FAIL : SURVEY_WARN;
}

/* Whether a call could use it is another question than whether it is there. Said in policy's own words, as explain does. */
static void say_client(struct osb *o)
{
	const struct decision *d = decided(o, o->l->a, &(struct request){ 0 }, false);

	if (d && d->code == CODE_BACKEND_NOT_BUILT && d->fix_it.n > 0)
		found(o->l, "opensandbox-use", SURVEY_FAIL,
		      arena_printf(o->l->a, STR_FMT, STR_ALL(d->message)).p,
		      "no call uses the service, and every call is refused but those that the gateway answers itself, whether the service can be reached or not",
		      arena_printf(o->l->a, STR_FMT, STR_ALL(d->fix_it.v[0])).p);
}

/* ---- what is found ---- */

static void say(struct osb *o, enum survey_state state, const char *what, const char *cause, const char *fix)
{
	found(o->l, name, state, arena_printf(o->l->a, STR_FMT " %s", STR_ALL(o->r.at.shown), what).p, cause,
	      fix);
}

/* clang-format off */
static const struct {
	const char *what, *fix; /* the fix ends with where the endpoint is written */
} troubles[TROUBLE_COUNT_] = {
	[TROUBLE_OTHER]   = { "cannot be reached", "put right what the cause names, or correct " },
	[TROUBLE_NAME]    = { "cannot be reached: its host is not known", "correct the host in " },
	[TROUBLE_REFUSED] = { "cannot be reached: nothing listens there", "start the OpenSandbox service there, or correct " },
	[TROUBLE_TIMEOUT] = { "cannot be reached: no connection within 5 seconds", "let this host through the firewall to it, or correct " },
	[TROUBLE_SILENT]  = { "does not answer within 5 seconds", "see the log of the OpenSandbox service, or correct " },
	[TROUBLE_SPEECH]  = { "gives no sound answer in HTTP", "name the host, port and scheme of the OpenSandbox service in " },
	[TROUBLE_CUT]     = { "does not answer", "see the log of what listens there; where that speaks TLS, write https:// in " },
	[TROUBLE_LONG]    = { "does not answer as OpenSandbox does", "name the host and port of the OpenSandbox service in " },
	[TROUBLE_TLS]     = { "cannot be reached: no TLS 1.2 or 1.3 with it", "see the log of the OpenSandbox service, or correct " },
	[TROUBLE_PLAIN]   = { "does not speak TLS", "have it serve TLS, or, on this machine, write http:// in " },
	[TROUBLE_TRUST]   = { "has a certificate that this system does not trust",
			      "SSL_CERT_FILE=CA.pem creel doctor, with the authority that has signed it; or correct " },
	[TROUBLE_HOST]    = { "has a certificate for another host", "name the host that stands in its certificate in " },
	[TROUBLE_DATES]   = { "has a certificate that is not good today", "renew the service's certificate, or set this machine's clock; or correct " },
};
/* clang-format on */

static void say_trouble(struct osb *o, enum trouble t, const char *why)
{
	say(o, o->grade, troubles[t].what, why,
	    arena_printf(o->l->a, "%s%s", troubles[t].fix, o->endpoint).p);
}

static void say_status(struct osb *o, const char *path, unsigned status)
{
	const char *what = arena_printf(o->l->a, "answers with status %u", status).p;
	const char *asked = arena_printf(o->l->a, "GET %s", path).p;

	if (status >= 500 || status == 429)
		say(o, o->grade, what,
		    arena_printf(o->l->a, "%s: something is there, and does not serve", asked).p,
		    arena_printf(o->l->a, "see the log of the OpenSandbox service, or correct %s",
				 o->endpoint)
			    .p);
	else if (status >= 300 && status < 400)
		say(o, o->grade, "answers with a redirect",
		    arena_printf(
			    o->l->a,
			    "%s: status %u, which is not followed: the key goes to nobody but the endpoint",
			    asked, status)
			    .p,
		    arena_printf(o->l->a, "name the place that it leads to in %s", o->endpoint).p);
	else
		say(o, o->grade, "is not OpenSandbox",
		    status == 200 ? arena_printf(o->l->a, "%s: what it says there is something else", asked).p
				  : arena_printf(o->l->a, "%s: status %u", asked, status).p,
		    arena_printf(o->l->a, "name the host, port and path of the OpenSandbox service in %s",
				 o->endpoint)
			    .p);
}

static void say_refused(struct osb *o, unsigned status)
{
	const struct secret_ref *ref = &o->l->s->config.base.osb_api_key;
	struct arena *a = o->l->a;
	const char *fix;

	if (ref->kind == REF_ENV)
		fix = arena_printf(a,
				   "export " STR_FMT
				   "=KEY where creel is started, with the key that the service was given",
				   STR_ALL(ref->text))
			      .p;
	else if (ref->kind == REF_RAW)
		fix = arena_printf(a, "write the key that the service was given into %s", o->key_option).p;
	else
		fix = arena_printf(
			      a,
			      "write env:OPEN_SANDBOX_API_KEY into %s, and the service's key into that variable",
			      o->key_option)
			      .p;
	/* Neither prefer nor anything else makes up for a key that is wrong: what is there and refuses is not missing. */
	say(o, SURVEY_FAIL, o->key.n ? "refuses the API key" : "wants an API key, and there is none",
	    arena_printf(a, "GET /v1/sandboxes: status %u, with %s", status, o->key_name).p, fix);
}

/* ---- the questions ---- */

static const struct value *json_of(struct osb *o, struct str body)
{
	const struct json_opts opts = { .name = "answer", .max_values = 20000 };
	struct value *v = ARENA_NEW(o->l->a, struct value);
	struct err e = { 0 };

	return v && body.p && json_parse(o->l->a, body, &opts, v, &e) >= 0 ? v : NULL;
}

static bool says_healthy(struct osb *o, const struct reply *y)
{
	const struct value *status;

	if (y->status != 200)
		return false;
	if (str_eq(str_trim(y->body), STR("Healthy"))) /* the one in .NET, which OpenClaw.NET names */
		return true;
	status = value_get(json_of(o, y->body), STR("status"));
	return status && status->kind == VALUE_STR && str_eq(status->s, STR("healthy"));
}

/* Not /health, but the API itself: behind a proxy that has no more than /v1, or as OpenClaw.NET asks. */
static bool pings(struct osb *o, struct reply *y)
{
	const struct value *v;

	remote_ask(&o->r, o->l->a, "/v1/ping", (struct str){ 0 }, y);
	if (y->trouble != TROUBLE_NONE) {
		say_trouble(o, y->trouble, y->why.msg);
		return false;
	}
	if (y->status == 401 || y->status == 403)
		return true;
	v = y->status == 200 ? json_of(o, y->body) : NULL;
	if (v && v->kind == VALUE_OBJ)
		return true;
	say_status(o, "/v1/ping", y->status);
	return false;
}

/* Nothing is shown to what is not OpenSandbox, as far as that can be told: the key is for the next question. */
static const char *is_opensandbox(struct osb *o)
{
	struct reply y;

	remote_ask(&o->r, o->l->a, "/health", (struct str){ 0 }, &y);
	if (y.trouble != TROUBLE_NONE) {
		say_trouble(o, y.trouble, y.why.msg);
		return NULL;
	}
	if (says_healthy(o, &y))
		return "/health says that it is healthy";
	if (y.status >= 500 || y.status == 429 || (y.status >= 300 && y.status < 400)) {
		say_status(o, "/health", y.status);
		return NULL;
	}
	return pings(o, &y) ? "/v1/ping answers" : NULL;
}

static void say_in_the_clear(struct osb *o)
{
	if (!o->key.n || o->r.at.is_tls || !o->r.is_far)
		return;
	found(o->l, "opensandbox-key", SURVEY_WARN,
	      arena_printf(o->l->a, "the API key goes to " STR_FMT " in the clear", STR_ALL(o->r.at.shown)).p,
	      "that is not this machine, and without TLS whoever sees the network's traffic can read the key",
	      arena_printf(o->l->a, "have the service serve TLS, and write https:// in %s", o->endpoint).p);
}

static void ask_with_key(struct osb *o, const char *health)
{
	const struct value *items;
	struct reply y;

	remote_ask(&o->r, o->l->a, "/v1/sandboxes?page=1&pageSize=1", o->key, &y);
	say_in_the_clear(o);
	items = y.status == 200 ? value_get(json_of(o, y.body), STR("items")) : NULL;
	if (y.trouble != TROUBLE_NONE)
		say_trouble(o, y.trouble, y.why.msg);
	else if (y.status == 401 || y.status == 403)
		say_refused(o, y.status);
	else if (!items || items->kind != VALUE_ARR)
		say_status(o, "/v1/sandboxes", y.status);
	else
		say(o, SURVEY_OK,
		    arena_printf(o->l->a, "is reachable%s: %s, and /v1/sandboxes answers with %s%s",
				 o->r.at.is_tls ? " over TLS" : "", health, o->key_name,
				 o->is_built ? "" : "; this build of creel does not use it")
			    .p,
		    NULL, NULL);
}

/* ---- what the configuration says ---- */

static const char *place_of(struct look *l, enum option id, const char *key, const char *net_key)
{
	const struct config *c = &l->s->config;
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, 4096);
	buf_puts(&text, c->formats == 1u << FORMAT_OPENCLAW_NET ? net_key : key);
	if (c->base.has[id] && c->base.origin[id].kind != ORIGIN_BUILTIN &&
	    c->base.origin[id].kind != ORIGIN_PROFILE) {
		buf_puts(&text, " (");
		origin_put(&text, &c->base.origin[id]);
		buf_puts(&text, ")");
	}
	return arena_str(l->a, buf_str(&text)).p;
}

static void find_key(struct osb *o)
{
	const struct secret_ref *ref = &o->l->s->config.base.osb_api_key;
	const char *value = NULL;

	o->key_name = "no API key";
	if (ref->kind == REF_RAW) {
		o->key = ref->text;
		o->key_name = arena_printf(o->l->a, "the API key of %s", o->key_option).p;
	} else if (ref->kind == REF_ENV) {
		value = environ_get(o->l->s->environ, arena_str(o->l->a, ref->text).p);
		o->key = value ? str_z(value) : (struct str){ 0 };
		o->key_name = value ? arena_printf(o->l->a, "the API key in " STR_FMT, STR_ALL(ref->text)).p
				    : arena_printf(o->l->a, "no API key: " STR_FMT " is not set",
						   STR_ALL(ref->text))
					      .p;
	}
}

static bool key_can_be_sent(struct osb *o)
{
	struct str k = o->key;

	if (k.n <= KEY_MAX && http_span_of(k, CHAR_FIELD) == k.n && http_trim(k).n == k.n)
		return true;
	say(o, SURVEY_FAIL, "was not asked whether it takes the API key",
	    arena_printf(
		    o->l->a,
		    "%s cannot be sent: it is longer than %d bytes, or has a line feed, a control character or a blank at an end",
		    o->key_name, KEY_MAX)
		    .p,
	    arena_printf(o->l->a, "put the key alone into %s", o->key_option).p);
	return false;
}

static void ask(struct osb *o)
{
	struct err e = { 0 };
	const char *health;
	enum trouble t;

	o->r.deadline_ms = clock_deadline(LONGEST_MS);
	t = remote_find(&o->r, &e);
	if (t != TROUBLE_NONE) {
		say_trouble(o, t, e.msg);
		return;
	}
	health = is_opensandbox(o);
	if (health && key_can_be_sent(o))
		ask_with_key(o, health);
}

void look_at_opensandbox(struct look *l)
{
	const struct settings *s = &l->s->config.base;
	struct osb *o = ARENA_NEW(l->a, struct osb);
	struct err e = { 0 };

	if (!o || s->osb_provider != PROVIDER_OPENSANDBOX)
		return;
	o->l = l;
	o->is_built = l->s->facts.opensandbox_built;
	o->endpoint =
		place_of(l, OPT_OSB_ENDPOINT, "backend.opensandbox.endpoint", "OpenClaw:Sandbox:Endpoint");
	o->key_option = place_of(l, OPT_OSB_API_KEY, "backend.opensandbox.apiKey", "OpenClaw:Sandbox:ApiKey");
	o->grade = grade_of(o);
	if (str_trim(s->osb_endpoint).n == 0) {
		found(l, name, SURVEY_FAIL, "provider is OpenSandbox, and there is no endpoint",
		      "nobody can be asked",
		      arena_printf(l->a, "write http://localhost:5000, or where the service is, into %s",
				   o->endpoint)
			      .p);
	} else if (endpoint_read(l->a, s->osb_endpoint, &o->r.at, &e) < 0) {
		found(l, name, SURVEY_FAIL, arena_printf(l->a, "%s cannot be used", o->endpoint).p, e.msg,
		      arena_printf(l->a, "write http://HOST:PORT or https://HOST:PORT into %s", o->endpoint)
			      .p);
	} else {
		find_key(o);
		ask(o);
	}
	if (!o->is_built)
		say_client(o);
}
