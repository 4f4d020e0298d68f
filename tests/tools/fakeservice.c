/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service without a trade, for tests of creeld: it begins as all services do, and tells everybody who connects who it is, one line each. FAKE_DIR has files
 * that make it misbehave: "NAME.fails" (ends before it is ready), "NAME.mute" (never ready), "NAME.slow" (does not end when it is told to).
 */
#include "server/service.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct service s;
static const char *name;

static bool has(const char *what)
{
	char path[512];
	const char *dir = getenv("FAKE_DIR");

	(void)snprintf(path, sizeof(path), "%s/%s.%s", dir ? dir : "/nowhere", name, what);
	return access(path, F_OK) == 0;
}

static void on_connection(struct loop *l, void *ctx, uint32_t events)
{
	int fd = accept4(*(const int *)ctx, NULL, NULL, SOCK_CLOEXEC);
	char line[256];

	(void)l, (void)events;
	if (fd < 0)
		return;
	(void)snprintf(line, sizeof(line), "%s %d %.*s %s\n", name, (int)getpid(),
		       (int)s.config.base.main_key.n, s.config.base.main_key.p,
		       getenv(RUNNER_TOKEN_VARIABLE) ? "token" : "no token");
	(void)!write(fd, line, strlen(line));
	(void)close(fd);
}

static void on_stop(struct loop *l, void *ctx)
{
	(void)ctx;
	if (!has("slow"))
		loop_stop(l, 0);
}

static int serve(struct loop *l, struct err *e)
{
	struct loop_id ignored;
	int r = service_load(&s, e);

	if (r >= 0)
		r = service_listeners(&s, name, e);
	if (r >= 0)
		r = service_signals(&s, l, on_stop, NULL, e);
	for (size_t i = 0; r >= 0 && i < s.n_listeners; i++)
		r = loop_add_fd(l, s.listeners[i], EPOLLIN, on_connection, &s.listeners[i], &ignored);
	if (r < 0)
		return r;
	if (has("fails"))
		return err_set(e, ERR_USAGE, "told to fail");
	if (!has("mute"))
		service_ready(&s, "fake");
	return loop_run(l);
}

int main(int argc, char **argv)
{
	struct err e = { 0 };
	struct loop *l = NULL;
	int r;

	name = strrchr(argv[0], '-') ? strrchr(argv[0], '-') + 1 : argv[0];
	r = service_begin(&s, name, argc, argv, &e);
	if (r == 0)
		r = loop_new(16, &l);
	if (r == 0)
		r = serve(l, &e);
	return service_end(&s, r, &e);
}
