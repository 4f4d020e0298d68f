/* SPDX-License-Identifier: Apache-2.0 */
/* creel-guard: started by creeld, with the sockets to listen on. */
#include "server/guard/guard.h"

#include "base/clock.h"
#include "base/private.h"
#include "policy/policy.h"
#include "server/jail.h"
#include "server/service.h"
#include "tls/tls.h"

#include <fcntl.h>
#include <stdio.h>

enum { SOURCES_MAX = 32768 };

struct program {
	struct service s;
	struct guard *guard;
	struct loop *loop;
	struct tls *tls; /* NULL: none */
	struct runner_token token;
	struct err untrusted; /* where the runner's socket is */
	bool sticky;
	char runner[SERVICE_PATH_MAX], tokens[SERVICE_PATH_MAX + 16], pairing[SERVICE_PATH_MAX + 16];
	int statm; /* how much memory it has: /proc is not in the jail */

	struct jail_dir dirs[3];
	char runner_dir[SERVICE_PATH_MAX];
	int keep[SERVICE_LISTENERS_MAX + 8];
	struct jail_opts jail;
	struct jail_walls walls;
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

/* While there are files: the certificate and its key are not in the jail. */
static int take_certificate(struct program *p, struct err *e)
{
	const struct settings *s = &p->s.config.base;
	int r;

	if (!s->serve_tls_cert.n && !s->serve_tls_key.n)
		return 0;
	r = tls_new(s->serve_tls_cert, s->serve_tls_key, &p->tls, e);
	if (r >= 0 && tls_cert(p->tls)->until_s < clock_unix_ms() / 1000 + TLS_SOON_S)
		LOG(LOG_WARN, "the certificate ends soon; fix: renew it, and send SIGHUP",
		    KV_STR("file", s->serve_tls_cert), KV_Z("until", tls_cert(p->tls)->until));
	return r;
}

/*
 * Where it may go: the files of tokens and senders, and the directory of the runner's socket. Tokens are for reading: the runner believes that file, and
 * whoever takes the guard over could write himself one for everything.
 */
static int plan_jail(struct program *p, struct err *e)
{
	struct str path, dir, name;
	int r = service_runner_address(&p->s, p->runner, e);

	if (r >= 0)
		r = service_runner_token(&p->s, &p->token, e);
	if (r < 0)
		return r;
	/* It serves all the same, and says so: a service that is only gone tells nobody why. */
	if (service_check_place(p->runner, &p->sticky, &p->untrusted) < 0)
		LOG(LOG_ERROR, "the runner is not asked, and no call is served",
		    KV_Z("why", p->untrusted.msg));
	(void)snprintf(p->tokens, sizeof(p->tokens), "%s/tokens", p->s.state_path);
	(void)snprintf(p->pairing, sizeof(p->pairing), "%s/pairing", p->s.state_path);
	/* First: it may be above the others. */
	path = str_z(p->runner);
	p->jail.tcp = !str_starts(path, STR("unix:"));
	if (!p->jail.tcp && str_cut_last(str_from(path, 5), '/', &dir, &name)) {
		(void)snprintf(p->runner_dir, sizeof(p->runner_dir), "%.*s", (int)dir.n, dir.p);
		p->dirs[p->jail.n_dirs++] = (struct jail_dir){ p->runner_dir, false };
	}
	p->dirs[p->jail.n_dirs++] = (struct jail_dir){ p->tokens, false };
	p->dirs[p->jail.n_dirs++] = (struct jail_dir){ p->pairing, true };
	for (size_t i = 0; i < p->jail.n_dirs; i++) {
		bool is_private = p->dirs[i].path != p->runner_dir;
		_cleanup_close_ int fd = is_private ? private_dir_open(p->dirs[i].path) : FD_NONE;

		if (is_private && fd < 0)
			return err_set(e, ERR_UNAVAIL, "directory '%s' %s: it has to be ours with mode 0700",
				       p->dirs[i].path, private_why(fd));
	}
	p->jail.dirs = p->dirs;
	p->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; i < p->s.n_listeners; i++)
		p->keep[p->jail.n_keep++] = p->s.listeners[i];
	p->keep[p->jail.n_keep++] = p->s.notify;
	p->keep[p->jail.n_keep++] = p->statm;
	p->jail.keep = p->keep;
	return 0;
}

static int lock_in(struct program *p, struct err *e)
{
	struct buf walls;
	int r = jail_seal(&p->jail, &p->walls, e);

	buf_init(&walls, 4096);
	jail_walls_json(&p->walls, &walls);
	if (r >= 0)
		r = guard_say_walls(p->guard, buf_str(&walls), e);
	buf_done(&walls);
	return r;
}

static int make_guard(struct program *p, struct err *e)
{
	return guard_new(p->loop,
			 &(struct guard_opts){
				 .config = &p->s.config,
				 .facts = p->s.facts,
				 .tokens_dir = p->tokens,
				 .pairing_dir = p->pairing,
				 .environ = p->s.environ,
				 .runner = str_z(p->runner),
				 .runner_token = runner_token_str(&p->token),
				 .runner_refused = p->untrusted.kind ? p->untrusted.msg : NULL,
				 .runner_ours = p->sticky,
				 .statm = p->statm,
				 .metrics_open = p->s.config.base.serve_metrics == METRICS_OPEN &&
						 !serve_is_public(&p->s.config),
				 .tls = p->tls,
			 },
			 &p->guard, e);
}

/* Their hashes are known by now; whoever takes the guard over should find no more than he is shown. */
static void wipe_tokens(const struct program *p)
{
	for (char *const *v = p->s.environ; *v; v++) {
		char *value = service_is_token(&p->s, *v) ? strchr(*v, '=') : NULL;

		if (value)
			explicit_bzero(value + 1, strlen(value + 1));
	}
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

	service_raise_files();
	if (r >= 0)
		r = take_certificate(p, e);
	if (r < 0 || p->s.args.check)
		return r;
	r = service_open_dirs(&p->s, e);
	if (r >= 0)
		r = service_listeners(&p->s, "guard", e);
	if (r >= 0)
		r = plan_jail(p, e);
	if (r >= 0)
		r = jail_root(&p->jail, &p->walls, e);
	p->s.state_fd = p->s.run_fd = FD_NONE; /* not among those that stay */
	if (r >= 0 && (r = loop_new(SOURCES_MAX, &p->loop)) < 0)
		r = err_sys(e, -r, "event loop");
	if (r >= 0)
		r = make_guard(p, e);
	wipe_tokens(p);
	if (r >= 0)
		r = service_signals(&p->s, p->loop, on_stop, p, e);
	if (r >= 0)
		r = lock_in(p, e);
	if (r >= 0)
		r = listen_on_all(p, e); /* from here on somebody may come in */
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
	(void)tls_free(p.tls);
	runner_token_wipe(&p.token);
	(void)loop_free(p.loop);
	return service_end(&p.s, r, &e);
}
