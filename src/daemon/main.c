/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/parent.h"

#include "base/private.h"
#include "identity/envfile.h"
#include "identity/tokens.h"
#include "sandbox/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

enum { SOURCES_MAX = 128, SECOND_MS = 1000 };

static const char usage[] = "creeld guard|runner|egress|all";

/* ---- signals ---- */

static void on_stop(struct loop *l, void *ctx)
{
	struct parent *p = ctx;

	(void)l;
	if (p->n_stops++) {
		LOG(LOG_WARN, "told to end again: ending at once");
		for (size_t i = 0; i < CHILDREN_MAX; i++)
			child_end(&p->children[i], SECOND_MS);
		return;
	}
	LOG(LOG_INFO, "stopping");
	service_stopping(p->s);
	parent_stop(p, 0);
}

static void on_hangup(struct loop *l, void *ctx)
{
	(void)l;
	change_begin(ctx, "SIGHUP");
}

static int take_signals(struct parent *p, struct err *e)
{
	struct loop_id ignored;
	int r = loop_add_signal(p->loop, SIGTERM, on_stop, p, &ignored);

	if (r >= 0)
		r = loop_add_signal(p->loop, SIGINT, on_stop, p, &ignored);
	if (r >= 0)
		r = loop_add_signal(p->loop, SIGHUP, on_hangup, p, &ignored);
	return r < 0 ? err_sys(e, -r, "wait for signals") : 0;
}

/* ---- what is wanted ---- */

static int choose(struct parent *p, struct err *e)
{
	struct str word = p->s->args.n_words ? p->s->args.words[0] : (struct str){ 0 };
	bool all = str_eq(word, STR("all")), any = all;

	for (int k = 0; k < KIND_COUNT_; k++) {
		p->kinds[k].lock = FD_NONE;
		p->kinds[k].wanted = all || str_eq(word, str_z(kind_names[k]));
		any |= p->kinds[k].wanted;
	}
	if (!word.n)
		return err_set(e, ERR_USAGE, "which service? usage: %s [options]; creeld --help tells more",
			       usage);
	return any ? 0
		   : err_set(e, ERR_USAGE, "'" STR_FMT "' is not a service: guard, runner, egress or all",
			     STR_ARG(word));
}

/* S2-28: what the environment does not have is looked for in ~/.openclaw/.env; of that file nothing else. */
static int take_env_file(struct parent *p, struct err *e)
{
	static const char *const names[] = { "SANDBOX_GUARD_TOKEN", RUNNER_TOKEN_VARIABLE };
	_cleanup_close_ int fd = FD_NONE;
	char path[SERVICE_PATH_MAX];
	char *text = NULL;
	size_t n = 0;
	int r = 0;

	(void)snprintf(path, sizeof(path), STR_FMT "/" ENVFILE_NAME, STR_ARG(p->s->facts.state_dir));
	fd = p->s->args.no_default_config ? -ENOENT : private_file_open(AT_FDCWD, path, O_RDONLY);
	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	if (fd < 0 || (r = fd_read_all(fd, ENVFILE_MAX, &text, &n)) < 0) {
		LOG(LOG_WARN, "a file of variables is not used: it has to be ours, with mode 0600",
		    KV_Z("path", path), KV_Z("why", fd < 0 ? private_why(fd) : "it cannot be read"));
		return 0;
	}
	for (size_t i = 0; r >= 0 && i < sizeof(names) / sizeof(names[0]); i++) {
		const char *have = getenv(names[i]); /* NOLINT(concurrency-mt-unsafe) */
		char value[256];
		struct str found;

		r = have && have[0] ? 0
				    : envfile_find((struct str){ text, n }, path, str_z(names[i]), &found, e);
		if (r <= 0)
			continue;
		(void)snprintf(value, sizeof(value), "%.*s", (int)found.n, found.p);
		if (setenv(names[i], value, 1) < 0) /* NOLINT(concurrency-mt-unsafe) */
			r = err_sys(e, errno, "take %s from '%s'", names[i], path);
		explicit_bzero(value, sizeof(value));
		LOG(LOG_INFO, "a token is taken from a file of variables", KV_Z("path", path),
		    KV_Z("variable", names[i]));
	}
	explicit_bzero(text, n);
	free(text);
	return r;
}

/* Each service looks for its own; here it is said before anything listens, with the command that helps. */
static int check_tokens(struct parent *p, struct err *e)
{
	struct runner_token token = { 0 };
	struct err why = { 0 };
	int r = 0;

	if (p->kinds[KIND_RUNNER].wanted || p->kinds[KIND_GUARD].wanted) {
		char *value = getenv(RUNNER_TOKEN_VARIABLE); /* NOLINT(concurrency-mt-unsafe) */

		r = runner_token_find(p->s->state_fd, p->s->state_path, value && value[0] ? value : NULL,
				      &token, e);
		explicit_bzero(&token, sizeof(token));
	}
	if (r >= 0 && p->kinds[KIND_GUARD].wanted && !service_has_fixed_token(p->s, environ)) {
		struct token_store *store = NULL;
		char dir[SERVICE_PATH_MAX + 8];

		(void)snprintf(dir, sizeof(dir), "%s/tokens", p->s->state_path);
		r = token_store_open(dir, &store, &why);
		if (r >= 0)
			r = token_store_load(store, &why);
		if (r < 0)
			*e = why;
		else if (token_store_tokens(store)->n == 0)
			r = err_set(
				e, ERR_NOTFOUND,
				"there is no token that a caller could show; fix: creel token new --pairs "
				"AGENT:CHAT (or '*' for all of the allowlist)");
		(void)token_store_close(store);
	}
	if (r < 0 && e->kind == ERR_NOTFOUND && p->s->args.state_dir.n) {
		size_t n = strlen(e->msg);

		(void)snprintf(e->msg + n, sizeof(e->msg) - n, "; with the same --state-dir");
	}
	return r < 0 ? r : 0;
}

/* It can be wanted, until a file has some; but a newcomer sees nothing else than refusals. */
static void warn_without_pairs(const struct parent *p)
{
	if (p->kinds[KIND_GUARD].wanted && p->s->config.n_pairs == 0)
		LOG(LOG_WARN, "no pair of agent and chat is allowed: every call is refused",
		    KV_Z("fix", "-c allowlist:FILE, or identity.pairs"));
}

/* Jobs name their limits: who has no cgroup for them is refused each, and would read it in the log of the first. */
static void warn_without_limits(const struct parent *p)
{
	const struct cgroup_limits all = { .must = CGROUP_MEMORY | CGROUP_PIDS | CGROUP_CPU,
					   .memory = (uint64_t)1 << 30,
					   .pids = 64,
					   .cpus = 1 };
	const struct strs optional = p->s->config.base.walls_optional;
	struct cgroup c = CGROUP_EMPTY;
	struct err e = { 0 };

	for (size_t i = 0; i < optional.n; i++)
		if (str_eq(optional.v[i], STR("limits")))
			return;
	if (p->kinds[KIND_RUNNER].wanted && cgroup_new(&all, STR(""), &c, &e) < 0)
		LOG(LOG_WARN, "tier-1 calls are refused: no cgroup can hold their limits",
		    KV_Z("fix", "a unit with Delegate=yes, root, or -e walls.optional=limits"));
	cgroup_done(&c);
}

/* ---- the life of it ---- */

static int serve(struct parent *p, struct err *e)
{
	int r = loop_new(SOURCES_MAX, &p->loop);

	if (r < 0)
		return err_sys(e, -r, "event loop");
	if (take_signals(p, e) < 0 || notify_listen(p, e) < 0 || sockets_open(p, p->s, e) < 0 ||
	    change_watch(p, e) < 0)
		return -1;
	children_go_on(p, false);
	r = loop_run(p->loop);
	return r < 0 ? err_sys(e, -r, "event loop") : r;
}

static void end(struct parent *p)
{
	for (size_t i = 0; i < CHILDREN_MAX; i++)
		if (p->children[i].state != CHILD_NONE)
			proc_done(&p->children[i].proc);
	sockets_close(p);
	if (p->notify_fd >= 0)
		(void)unlink(p->notify_path);
	p->notify_fd = fd_close(p->notify_fd);
	p->loop = loop_free(p->loop);
}

static int begin(struct parent *p, struct err *e)
{
	int r = choose(p, e);

	p->s->tells_findings = true;
	if (r >= 0)
		r = service_load(p->s, e);
	if (r >= 0)
		r = service_open_dirs(p->s, e);
	if (r >= 0)
		r = sockets_check(p->s, e);
	if (r >= 0)
		r = take_env_file(p, e);
	if (r >= 0)
		r = check_tokens(p, e);
	if (r >= 0)
		warn_without_pairs(p);
	/* The certificate can be read by the guard alone. */
	if (r >= 0 && p->s->args.check && p->kinds[KIND_GUARD].wanted && p->s->config.base.serve_tls_cert.n)
		r = child_check(p, KIND_GUARD, e);
	return r;
}

int main(int argc, char **argv)
{
	struct service *first = calloc(1, sizeof(*first));
	static struct parent p;
	struct cgroup group = CGROUP_EMPTY;
	struct err e = { 0 };
	int r, status;

	if (!first)
		return 1;
	p = (struct parent){ .s = first, .argv = argv, .argc = argc, .notify_fd = FD_NONE };
	for (size_t i = 0; i < CHILDREN_MAX; i++)
		p.children[i].proc = PROC_NONE;
	r = service_begin_words(first, "creeld", argc, argv, 1, usage, &e);
	if (r > 0)
		return 0;
	if (r >= 0)
		r = begin(&p, &e);
	if (r >= 0 && first->args.check) {
		LOG(LOG_INFO, "the configuration and the tokens are fit to serve with");
	} else if (r >= 0) {
		/* Limits of sandboxes are groups below ours, which a group that has processes cannot have. */
		if (cgroup_settle(&group))
			LOG(LOG_INFO, "sandboxes have their cgroups beside ours", KV_Z("ours", group.aside));
		warn_without_limits(&p);
		r = serve(&p, &e);
		end(&p);
		cgroup_done(&group);
	}
	status = service_end(p.s, r, &e);
	free(p.s);
	return r > 0 ? r : status;
}
