/* SPDX-License-Identifier: Apache-2.0 */
#include "engine.h"

#include "measure.h"

#include "base/root.h"
#include "config/config.h"
#include "policy/policy.h"
#include "sandbox/plan.h"
#include "sandbox/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IDLE_MS (3600u * 1000u) /* longer than any measurement */

struct engine {
	struct arena arena;
	struct diags diags;
	struct config config;
	struct decision decision;
	struct profile profile;
	struct cgroup_limits limits;
	struct buf plan, serving;
	int warden;
};

/* The workspace is a directory that the measurement has made. */
static bool allow(void *ctx, struct str resolved, enum source_use use, struct str *why)
{
	(void)ctx;
	(void)resolved;
	(void)use;
	(void)why;
	return true;
}

/* As creel run asks when nothing but the access is said: see src/cli/run_load.c. */
static void ask_policy(struct engine *g, struct str workspace, struct strs argv)
{
	static char *no_env[] = { NULL };
	const struct str sets[] = { arena_printf(&g->arena, "mounts.workspace.path=%s", workspace.p),
				    STR("mounts.workspace.access=rw") };
	struct config_input in = { .sets = { .v = sets, .n = 2 },
				   .environ = no_env,
				   .home = STR("/nonexistent"),
				   .cwd = workspace,
				   .no_default_file = true };
	struct request r = { .via = VIA_CLI,
			     .auth = AUTH_LOCAL,
			     .tool = STR("exec"),
			     .argv = argv,
			     .force_sandbox = true,
			     .has_trust = true,
			     .trust = TRUST_LIGHT,
			     .facts = { .backends = 1u << BACKEND_NATIVE,
					.home = STR("/nonexistent"),
					.state_dir = STR("/nonexistent/.openclaw"),
					.cwd = workspace } };
	struct err e = { 0 };

	if (config_load(&in, &g->arena, &g->diags, &g->config, &e) < 0 ||
	    decide(&g->config, &r, &g->arena, &g->decision, &e) < 0)
		measure_fail("%s", e.msg);
	if (g->decision.verdict != VERDICT_ALLOW)
		measure_fail("policy says %s", enum_name(verdict_names, (int)g->decision.verdict));
	g->limits = (struct cgroup_limits){ .memory = g->decision.limits.memory,
					    .pids = g->decision.limits.pids,
					    .cpus = g->decision.limits.cpus };
}

static void make_plan(struct engine *g, struct strs argv)
{
	struct profile_input in = { .decision = &g->decision,
				    .argv = argv,
				    .uid = getuid(),
				    .gid = getgid(),
				    .root = root_of_host(),
				    .allowed = allow };
	struct engine_box probe;
	struct err e = { 0 };

	if (profile_make(&in, &g->arena, &g->diags, &g->profile, &e) < 0)
		measure_fail("%s", e.msg);
	g->profile.timeout_ms = IDLE_MS;
	engine_make_group(g, &probe); /* which kind it is belongs in the plan */
	engine_end(&probe);
	if (plan_build(&g->profile, &g->plan, &e) < 0)
		measure_fail("%s", e.msg);
}

struct engine *engine_open(const char *warden, const char *workspace, const char *argument)
{
	struct engine *g = calloc(1, sizeof(*g));
	struct str *argv;

	if (!g)
		measure_fail("out of memory");
	arena_init(&g->arena, (size_t)16 << 20);
	g->diags.arena = &g->arena;
	buf_init(&g->plan, PLAN_MAX_BYTES);
	buf_init(&g->serving, PLAN_MAX_BYTES);
	g->warden = open(warden, O_RDONLY | O_CLOEXEC);
	if (g->warden < 0)
		measure_fail("'%s': %s", warden, strerror(errno));
	argv = ARENA_ARRAY(&g->arena, struct str, 2);
	if (!argv)
		measure_fail("out of memory");
	argv[0] = STR("./payload");
	argv[1] = str_z(argument ? argument : "");
	ask_policy(g, str_z(workspace), (struct strs){ .v = argv, .n = argument ? 2 : 1 });
	make_plan(g, (struct strs){ .v = argv, .n = argument ? 2 : 1 });
	return g;
}

struct engine *engine_close(struct engine *g)
{
	if (!g)
		return NULL;
	(void)fd_close(g->warden);
	buf_done(&g->plan);
	buf_done(&g->serving);
	arena_done(&g->arena);
	free(g);
	return NULL;
}

const struct profile *engine_profile(const struct engine *g)
{
	return &g->profile;
}

struct str engine_run_plan(struct engine *g)
{
	return buf_str(&g->plan);
}

struct str engine_plan(struct engine *g)
{
	struct profile p = g->profile;
	struct err e = { 0 };

	p.serve = true;
	p.argv = p.env = (struct strs){ 0 };
	if (g->serving.n == 0 && plan_build(&p, &g->serving, &e) < 0)
		measure_fail("%s", e.msg);
	return buf_str(&g->serving);
}

void engine_serve(struct engine *g, struct warm *ret)
{
	const struct cgroup none = CGROUP_EMPTY;
	struct err e = { 0 };

	if (warm_start(g->warden, engine_plan(g), &none, ret, &e) < 0 || warm_ready(ret, &e) < 0)
		measure_fail("%s", e.msg);
}

void engine_make_group(struct engine *g, struct engine_box *ret)
{
	struct err e = { 0 };

	ret->box = SANDBOX_NONE;
	ret->cgroup = CGROUP_EMPTY;
	if (cgroup_new(&g->limits, STR(""), &ret->cgroup, &e) < 0)
		measure_fail("%s", e.msg);
}

/* False when the warden has gone. */
static bool hear(struct engine_box *b, struct warden_report *m)
{
	struct err e = { 0 };
	int fd, r = sandbox_next(&b->box, m, &fd, &e);

	if (r < 0)
		measure_fail("%s", e.msg);
	(void)fd_close(fd);
	if (r > 0 && m->msg == MSG_FAILED)
		measure_fail("%s: %s", m->what[0] ? m->what : step_name(m->step), strerror(m->err));
	return r > 0;
}

void engine_start(struct engine *g, struct engine_box *b)
{
	const struct sandbox_stdio none = { -1, -1, -1 };
	struct warden_report m = { 0 };
	struct err e = { 0 };

	if (sandbox_start(g->warden, buf_str(&g->plan), &none, &b->cgroup, &b->box, &e) < 0)
		measure_fail("%s", e.msg);
	while (m.msg != MSG_READY)
		if (!hear(b, &m))
			measure_fail("the sandbox ended before it had started");
}

void engine_wait(struct engine_box *b)
{
	struct warden_report m = { 0 };
	bool ended = false;

	while (hear(b, &m))
		ended |= m.msg == MSG_EXIT && m.reason == REASON_EXIT && m.value == 0;
	if (!ended)
		measure_fail("the payload did not end with 0");
	engine_end(b);
}

void engine_end(struct engine_box *b)
{
	sandbox_done(&b->box);
	cgroup_done(&b->cgroup);
}
