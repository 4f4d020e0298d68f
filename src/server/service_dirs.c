/* SPDX-License-Identifier: Apache-2.0 */
#include "server/service.h"

#include "base/root.h"
#include "prepare/prepare.h"

#include <stdio.h>
#include <sys/un.h>
#include <unistd.h>

static struct state_dir state_of(const struct service *s)
{
	return (struct state_dir){ .said = s->args.state_dir, .home = s->facts.home, .environ = s->environ };
}

static void cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash && slash != path)
		*slash = '\0';
}

static int open_state(struct service *s, struct err *e)
{
	struct state_dir d = state_of(s);
	int fd = state_open(&d, ".", "x", s->state_path, sizeof(s->state_path), e);

	if (fd < 0)
		return fd;
	cut_last(s->state_path);
	s->state_fd = fd;
	return 0;
}

/* Whoever names a state directory has services of his own there; they must not meet those of the default place. */
static int run_path(const struct service *s, char *out, size_t size)
{
	const char *xdg = environ_get(s->environ, "XDG_RUNTIME_DIR");
	int n;

	if (s->args.state_dir.n)
		n = snprintf(out, size, "%s/run", s->state_path);
	else if (root_of_host())
		n = snprintf(out, size, "/run/creel");
	else if (xdg && xdg[0] == '/')
		n = snprintf(out, size, "%s/creel", xdg);
	else
		n = snprintf(out, size, "%s/run", s->state_path);
	return n > 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

int service_open_dirs(struct service *s, struct err *e)
{
	char path[SERVICE_PATH_MAX];
	int r = open_state(s, e);

	if (r < 0)
		return r;
	if (run_path(s, path, sizeof(path)) < 0)
		return err_set(e, ERR_LIMIT, "the runtime directory's name is too long");
	r = s->run_fd = state_private(path, s->run_path, sizeof(s->run_path), e);
	return r < 0 ? r : 0;
}

int service_socket_path(const struct service *s, const char *name, char out[static SERVICE_PATH_MAX],
			struct err *e)
{
	const size_t max = sizeof(((struct sockaddr_un *)0)->sun_path);
	int n = snprintf(out, SERVICE_PATH_MAX, "%s/%s", s->run_path, name);

	if (n < 0 || (size_t)n >= max)
		return err_set(
			e, ERR_LIMIT,
			"'%s/%s' is too long for the address of a socket, which has at most %zu bytes; "
			"fix: a shorter --state-dir or XDG_RUNTIME_DIR",
			s->run_path, name, max - 1);
	return 0;
}

int service_runner_address(const struct service *s, char out[static SERVICE_PATH_MAX], struct err *e)
{
	struct str said = s->config.base.serve_runner;
	char path[SERVICE_PATH_MAX];
	int n;

	if (said.n) {
		n = snprintf(out, SERVICE_PATH_MAX, "%.*s", (int)said.n, said.p);
	} else {
		if (service_socket_path(s, "runner.sock", path, e) < 0)
			return -1;
		n = snprintf(out, SERVICE_PATH_MAX, "unix:%.1000s", path);
	}
	return n > 0 && (size_t)n < SERVICE_PATH_MAX ? 0 : err_set(e, ERR_LIMIT, "serve.runner is too long");
}

int service_runner_token(struct service *s, struct runner_token *ret, struct err *e)
{
	char *value = getenv(RUNNER_TOKEN_VARIABLE); /* NOLINT(concurrency-mt-unsafe) */
	int r = runner_token_find(s->state_fd, s->state_path, value && value[0] ? value : NULL, ret, e);

	if (value)
		explicit_bzero(value, strlen(value)); /* /proc/PID/environ shows these bytes */
	return r;
}

static bool has_value(char *const *vars, struct str name)
{
	struct str key, value;

	for (char *const *v = vars; v && *v; v++)
		if (str_cut(str_z(*v), '=', &key, &value) && str_eq(key, name))
			return value.n > 0;
	return false;
}

bool service_has_fixed_token(const struct service *s, char *const *vars)
{
	for (size_t i = 0; i < s->config.n_tokens; i++) {
		const struct secret_ref *ref = &s->config.tokens[i].ref;

		if (ref->kind == REF_ENV ? has_value(vars, ref->text) : ref->kind == REF_RAW && ref->text.n)
			return true;
	}
	return has_value(vars, STR("SANDBOX_GUARD_TOKEN"));
}

bool service_is_token(const struct service *s, const char *variable)
{
	struct str name, value;

	if (!str_cut(str_z(variable), '=', &name, &value))
		return false;
	if (str_eq(name, STR(RUNNER_TOKEN_VARIABLE)) || str_eq(name, STR("SANDBOX_GUARD_TOKEN")))
		return true;
	for (size_t i = 0; i < s->config.n_tokens; i++)
		if (s->config.tokens[i].ref.kind == REF_ENV && str_eq(name, s->config.tokens[i].ref.text))
			return true;
	return false;
}
