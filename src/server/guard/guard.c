/* SPDX-License-Identifier: Apache-2.0 */
#include "server/guard/guard.h"

#include "base/clock.h"

#include <errno.h>

enum {
	CONNECTIONS_MAX = 10000,
	IDLE_LINK_MS = 10000,
	LAST_LINK_MS = 240000, /* the runner ends one that waits for longer than 300 seconds */
	HEALTH_MAX = 16384,
	FIELDS_MAX = 64,
};

struct guard *guard_free(struct guard *g)
{
	if (!g)
		return NULL;
	(void)http_server_free(g->server); /* `gone` ends what is under way */
	(void)tell_free(g->tell);
	(void)link_free(g->link);
	(void)fair_free(g->fair);
	(void)callers_free(g->callers);
	(void)pairing_store_close(g->pairing);
	(void)metrics_free(g->metrics);
	buf_done(&g->health);
	free(g);
	return NULL;
}

int guard_say_walls(struct guard *g, struct str json, struct err *e)
{
	struct jsonw w;

	g->health.n = 0;
	jsonw_init(&w, &g->health, 0);
	jsonw_obj(&w);
	jsonw_kz(&w, "status", "ok");
	jsonw_kz(&w, "version", CREEL_VERSION);
	jsonw_ku64(&w, "allowed_pairs", g->o.config->n_pairs);
	jsonw_kz(&w, "runner",
		 g->o.runner_refused ? "refused: another user could have put its socket there" : "trusted");
	jsonw_key(&w, STR("walls"));
	jsonw_raw(&w, json);
	if (g->o.tls) {
		jsonw_kobj(&w, "tls");
		jsonw_kz(&w, "min", "1.2");
		jsonw_kz(&w, "until", tls_cert(g->o.tls)->until);
		jsonw_obj_end(&w);
	} else {
		jsonw_key(&w, STR("tls"));
		jsonw_null(&w);
	}
	jsonw_obj_end(&w);
	return g->health.failed ? err_set(e, ERR_LIMIT, "/health is longer than it may be") : 0;
}

static int make_fair(struct guard *g, struct err *e)
{
	const struct settings *s = &g->o.config->base;
	unsigned running = (unsigned)s->serve_max_calls, queue = (unsigned)s->serve_queue;
	unsigned own = (unsigned)s->serve_token_calls;
	const struct fair_opts o = {
		.running = running,
		.running_per_caller = own && own < running ? own : running,
		.waiting = queue,
		/* One caller cannot fill it for all. */
		.waiting_per_caller = queue - queue / 4,
		.per_minute = s->serve_rate,
		.burst = s->serve_burst,
	};

	return fair_new(&o, &g->fair, e);
}

/* D2-4: longer than the longest call, its kill and its records. */
static void set_answer_ms(struct guard *g)
{
	uint64_t most = g->o.config->base.timeout_max_s;

	for (size_t i = 0; i < g->o.config->n_agents; i++)
		if (g->o.config->agents[i].over && g->o.config->agents[i].over->has[OPT_TIMEOUT_MAX_S] &&
		    g->o.config->agents[i].over->timeout_max_s > most)
			most = g->o.config->agents[i].over->timeout_max_s;
	g->answer_ms = most * 1000 + ANSWER_GRACE_MS;
}

int guard_new(struct loop *loop, const struct guard_opts *o, struct guard **ret, struct err *e)
{
	const struct http_server_opts http = { .limits = { .body_bytes = BODY_LARGE },
					       .max_fields = FIELDS_MAX,
					       .max_connections = CONNECTIONS_MAX };
	const struct callers_opts callers = { .dir = o->tokens_dir,
					      .config = o->config,
					      .environ = o->environ };
	const struct link_opts link = { .address = o->runner,
					.refused = o->runner_refused,
					.ours = o->runner_ours,
					.token = o->runner_token,
					.max_idle = (unsigned)o->config->base.serve_max_calls,
					.idle_ms = IDLE_LINK_MS,
					.last_ms = LAST_LINK_MS };
	_cleanup_(guard_freep) struct guard *g = calloc(1, sizeof(*g));

	if (!g)
		return err_sys(e, ENOMEM, "guard");
	g->loop = loop;
	g->o = *o;
	buf_init(&g->health, HEALTH_MAX);
	set_answer_ms(g);
	if (callers_open(&callers, &g->callers, e) < 0 ||
	    pairing_store_open(o->pairing_dir, &g->pairing, e) < 0 ||
	    metrics_new(METRICS_GUARD, &g->metrics, e) < 0 || make_fair(g, e) < 0 ||
	    link_new(loop, &link, &g->link, e) < 0 || tell_new(g, &g->tell, e) < 0 ||
	    http_server_new(loop, &http, &door_handler, g, &g->server, e) < 0 ||
	    guard_say_walls(g, o->walls.n ? o->walls : STR("null"), e) < 0)
		return -1;
	if (o->tls)
		tls_tell(o->tls, door_refused, g);
	pairing_store_patience(g->pairing, 20);
	*ret = TAKE_PTR(g);
	return 0;
}

int guard_listen(struct guard *g, int fd, struct err *e)
{
	if (g->o.tls && http_is_tcp(fd))
		return http_server_listen_via(g->server, fd, tls_transport(g->o.tls), e);
	if (http_is_public(fd)) {
		(void)fd_close(fd);
		return err_set(
			e, ERR_DENIED,
			"a socket of the guard can be reached from outside, and that takes TLS; fix: serve.tls.cert and "
			"serve.tls.key");
	}
	return http_server_listen(g->server, fd, e);
}

void guard_told(struct guard *g)
{
	loop_fn *drained = g->is_drained ? g->drained : NULL;

	if (!drained)
		return;
	g->drained = NULL;
	drained(g->loop, g->drained_ctx);
}

/* The last ones may have been refused just now. */
static void on_drained(struct loop *loop, void *ctx)
{
	struct guard *g = ctx;

	(void)loop;
	g->is_drained = true;
	if (tell_is_idle(g->tell))
		guard_told(g);
}

void guard_drain(struct guard *g, uint64_t ms, loop_fn *done, void *ctx)
{
	g->drained = done;
	g->drained_ctx = ctx;
	http_server_drain(g->server, ms, on_drained, g);
}
