/* SPDX-License-Identifier: Apache-2.0 */
/* creel-guard: started by creeld, with the sockets to listen on. */
#include "server/guard/guard.h"
#include "server/service.h"

#include <fcntl.h>
#include <stdio.h>

enum { SOURCES_MAX = 32768 };

struct program {
	struct service s;
	struct guard *guard;
	struct loop *loop;
	struct runner_token token;
	char runner[SERVICE_PATH_MAX], tokens[SERVICE_PATH_MAX + 16], pairing[SERVICE_PATH_MAX + 16];
};

static void on_drained(struct loop *l, void *ctx)
{
	(void)ctx;
	loop_stop(l, 0);
}

static void on_stop(struct loop *l, void *ctx)
{
	struct program *p = ctx;

	(void)l;
	guard_drain(p->guard, p->s.config.base.serve_drain_s * 1000, on_drained, p);
}

static int make_guard(struct program *p, struct err *e)
{
	int r = service_runner_address(&p->s, p->runner, e);

	if (r >= 0)
		r = service_runner_token(&p->s, &p->token, e);
	if (r < 0)
		return r;
	(void)snprintf(p->tokens, sizeof(p->tokens), "%s/tokens", p->s.state_path);
	(void)snprintf(p->pairing, sizeof(p->pairing), "%s/pairing", p->s.state_path);
	return guard_new(p->loop,
			 &(struct guard_opts){
				 .config = &p->s.config,
				 .facts = p->s.facts,
				 .tokens_dir = p->tokens,
				 .pairing_dir = p->pairing,
				 .environ = p->s.environ,
				 .runner = str_z(p->runner),
				 .runner_token = runner_token_str(&p->token),
				 .statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC),
				 .metrics_open = p->s.config.base.serve_metrics == METRICS_OPEN,
			 },
			 &p->guard, e);
}

static int listen_on_all(struct program *p, struct err *e)
{
	for (size_t i = 0; i < p->s.n_listeners; i++)
		if (guard_listen(p->guard, TAKE_FD(p->s.listeners[i]), e) < 0)
			return -1;
	return 0;
}

static int serve(struct program *p, struct err *e)
{
	int r = service_load(&p->s, e);

	if (r >= 0)
		r = service_open_dirs(&p->s, e);
	if (r >= 0)
		r = service_listeners(&p->s, "guard", e);
	if (r >= 0 && (r = loop_new(SOURCES_MAX, &p->loop)) < 0)
		r = err_sys(e, -r, "event loop");
	if (r >= 0)
		r = make_guard(p, e);
	if (r >= 0)
		r = service_signals(&p->s, p->loop, on_stop, p, e);
	if (r >= 0)
		r = listen_on_all(p, e);
	if (r < 0)
		return r;
	service_ready(&p->s, "serving");
	r = loop_run(p->loop);
	service_stopping(&p->s);
	return r < 0 ? err_sys(e, -r, "event loop") : 0;
}

int main(int argc, char **argv)
{
	static struct program p;
	struct err e = { 0 };
	int r = service_begin(&p.s, "guard", argc, argv, &e);

	if (r > 0)
		return 0;
	if (r >= 0)
		r = serve(&p, &e);
	(void)guard_free(p.guard);
	runner_token_wipe(&p.token);
	(void)loop_free(p.loop);
	return service_end(&p.s, r, &e);
}
