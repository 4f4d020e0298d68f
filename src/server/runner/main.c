/* SPDX-License-Identifier: Apache-2.0 */
/* creel-runner, as creeld starts it: sockets from LISTEN_FDS, configuration by the same words. */
#include "server/runner/runner.h"
#include "server/service.h"

#include "base/log.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define EMPTY_DIR "empty"

enum { MORE_WORKERS = 8 };

static void say(void *ctx, enum severity severity, struct str line)
{
	(void)ctx;
	/* The parent has told of what is no error (service.h). */
	LOG(severity == SEVERITY_ERROR ? LOG_ERROR : LOG_DEBUG, "configuration", KV_STR("finding", line));
}

/* What was for this process alone. */
static bool is_ours(struct str variable)
{
	static const char *const names[] = { "LISTEN_PID=", "LISTEN_FDS=", "LISTEN_FDNAMES=",
					     "NOTIFY_SOCKET=" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_starts(variable, str_z(names[i])))
			return true;
	return false;
}

/* What opens doors, and what was for this process alone, is not for calls that run on the host. */
static char *const *without_secrets(struct service *s)
{
	char *const *from = s->environ;
	size_t n = 0, kept = 0;
	char **to;

	while (from[n])
		n++;
	to = ARENA_ARRAY(&s->arena, char *, n + 1);
	for (size_t i = 0; to && i < n; i++)
		if (!is_ours(str_z(from[i])) && !service_is_token(s, from[i]))
			to[kept++] = from[i];
	return to;
}

static int make_engine(struct service *s, struct runner *r, struct err *e)
{
	const struct engine_opts o = { .config = { .v = s->args.config, .n = s->args.n_config },
				       .sets = { .v = s->args.sets, .n = s->args.n_sets },
				       .profile = s->args.profile,
				       .compat = s->args.compat,
				       .state_dir = s->args.state_dir,
				       .environ = without_secrets(s),
				       .no_default_config = s->args.no_default_config,
				       .say = say };

	return o.environ ? engine_new(&o, &r->engine, e) : err_sys(e, ENOMEM, "environment");
}

static int sort_sockets(const struct service *s, struct runner *r, struct err *e)
{
	for (size_t i = 0; i < s->n_listeners; i++) {
		int family = 0;
		socklen_t n = sizeof(family);
		size_t *count;
		int *sockets;

		if (getsockopt(s->listeners[i], SOL_SOCKET, SO_DOMAIN, &family, &n) < 0)
			return err_sys(e, errno, "listening socket");
		sockets = family == AF_UNIX ? r->sockets[DOOR_UNIX] : r->ports;
		count = family == AF_UNIX ? &r->n_sockets[DOOR_UNIX] : &r->n_ports;
		if (*count == DOOR_SOCKETS_MAX)
			return err_set(e, ERR_LIMIT, "more than %d sockets of one kind", DOOR_SOCKETS_MAX);
		sockets[(*count)++] = s->listeners[i];
	}
	if (r->n_ports == 0)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, r->handed) < 0)
		return err_sys(e, errno, "a way from the port to the workers");
	r->sockets[DOOR_TCP][r->n_sockets[DOOR_TCP]++] = r->handed[1];
	return 0;
}

static int share(struct runner *r, struct err *e)
{
	r->slots = mmap(NULL, SLOTS_MAX * sizeof(*r->slots), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	r->news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->slots == MAP_FAILED || r->news < 0)
		return err_sys(e, errno, "memory for the workers");
	return metrics_new(METRICS_RUNNER, &r->metrics, e);
}

static int take_token(struct service *s, struct runner *r, struct err *e)
{
	_cleanup_runner_token_ struct runner_token token = { 0 };
	struct sha256 c;
	int n = service_runner_token(s, &token, e);

	if (n < 0)
		return n;
	sha256_init(&c);
	sha256_add(&c, runner_token_str(&token));
	sha256_end(&c, r->token_hash);
	return 0;
}

/* Callers' tokens, should somebody write one into a call. The runner's own is wiped by now, and known to no caller. */
static int hide_tokens(const struct service *s, struct runner *r, struct err *e)
{
	struct str name, value;
	int n = 0;

	for (char *const *v = s->environ; n >= 0 && *v; v++)
		if (service_is_token(s, *v) && str_cut(str_z(*v), '=', &name, &value))
			n = engine_hide(r->engine, name, value, e);
	for (size_t i = 0; n >= 0 && i < s->config.n_tokens; i++)
		if (s->config.tokens[i].ref.kind == REF_RAW)
			n = engine_hide(r->engine, STR("raw"), s->config.tokens[i].ref.text, e);
	return n;
}

/* Nobody who may call is a mistake that whoever starts us should hear of. */
static int check_callers(const struct runner *r, struct err *e)
{
	_cleanup_(callers_freep) struct callers *c = NULL;

	return callers_open(&(struct callers_opts){ .dir = r->tokens_dir,
						    .config = engine_config(r->engine),
						    .environ = r->environ },
			    &c, e);
}

static void ready(void *ctx)
{
	service_ready(ctx, "serving");
}

static void stopping(void *ctx)
{
	LOG(LOG_INFO, "stopping");
	service_stopping(ctx);
}

/* In a build tree we lie one room deeper than those who look for what belongs to us. */
static void look_beside(void)
{
	char path[SERVICE_PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct str dir, name;

	if (n > 0 && str_cut_last((struct str){ .p = path, .n = (size_t)n }, '/', &dir, &name) &&
	    str_ends(dir, STR("/src/server/runner"))) {
		path[dir.n] = '\0';
		sandbox_look_beside(path);
	}
}

/* What the operator has named is given; the directory that we were started in is not. */
static int leave_cwd(const struct service *s, struct runner *r, struct err *e)
{
	char path[SERVICE_PATH_MAX + 8];

	if (mkdirat(s->state_fd, EMPTY_DIR, 0700) < 0 && errno != EEXIST)
		return err_sys(e, errno, "create '%s/" EMPTY_DIR "'", s->state_path);
	(void)snprintf(path, sizeof(path), "%s/" EMPTY_DIR, s->state_path);
	return engine_set_cwd(r->engine, str_z(path), e);
}

static int run(struct service *s, struct runner *r, struct err *e)
{
	static char tokens_dir[SERVICE_PATH_MAX + 8];
	const struct settings *base;
	int n = service_load(s, e);

	if (n >= 0)
		n = service_open_dirs(s, e);
	if (n >= 0)
		n = service_listeners(s, "runner", e);
	if (n >= 0)
		n = sort_sockets(s, r, e);
	if (n >= 0)
		n = share(r, e);
	if (n >= 0)
		n = make_engine(s, r, e);
	if (n >= 0)
		n = leave_cwd(s, r, e);
	if (n >= 0)
		n = take_token(s, r, e);
	if (n >= 0)
		n = hide_tokens(s, r, e);
	if (n < 0)
		return n;
	(void)snprintf(tokens_dir, sizeof(tokens_dir), "%s/tokens", s->state_path);
	r->tokens_dir = tokens_dir;
	r->environ = s->environ;
	base = &engine_config(r->engine)->base;
	r->drain_ms = base->serve_drain_s * 1000;
	r->max_workers[DOOR_UNIX] = (unsigned)base->serve_max_calls + MORE_WORKERS;
	r->max_workers[DOOR_TCP] = r->max_workers[DOOR_UNIX]; /* only who has shown the token gets one */
	n = check_callers(r, e);
	return n < 0 ? n : parent_run(r, ready, stopping, s, e);
}

int main(int argc, char **argv)
{
	static struct service s;
	static struct runner r;
	struct err e = { 0 };
	int n = service_begin(&s, "runner", argc, argv, &e);

	if (n > 0)
		return 0;
	look_beside();
	if (n >= 0)
		n = run(&s, &r, &e);
	(void)engine_free(r.engine);
	return service_end(&s, n, &e);
}
