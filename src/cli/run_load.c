/* SPDX-License-Identifier: Apache-2.0 */
/* What the flags of run mean in terms of the configuration, and the question to policy. */
#include "cli/run.h"

static int add_set(struct cli *cli, const char *key, struct str value, struct err *e)
{
	struct arg_list *l = &cli->sets;

	if (l->n == l->cap) {
		struct str *grown =
			arena_grow(cli->arena, l->v, l->n, &l->cap, sizeof(*l->v), alignof(struct str));

		if (!grown)
			return err_set(e, ERR_LIMIT, "out of memory");
		l->v = grown;
	}
	l->v[l->n++] = arena_printf(cli->arena, "%s=%.*s", key, (int)value.n, value.p);
	return cli->arena->failed ? err_set(e, ERR_LIMIT, "out of memory") : 0;
}

/* --net none | bridge | HOST[,HOST…] */
static int set_net(struct cli *cli, struct err *e)
{
	struct str net = cli->net.text;
	int r;

	if (!cli->net.has)
		return 0;
	if (str_eq(net, STR("none")) || str_eq(net, STR("bridge")))
		return add_set(cli, "network.primary", net, e);
	r = add_set(cli, "network.route.tools", STR("exec"), e);
	return r < 0 ? r : add_set(cli, "network.route.hosts", net, e);
}

static int add_sets(struct cli *cli, struct err *e)
{
	const struct {
		const struct arg_value *v;
		const char *key;
	} map[] = {
		{ &cli->workspace, "mounts.workspace.path" },
		{ &cli->ws_access, "mounts.workspace.access" },
		{ &cli->memory, "limits.memory" },
		{ &cli->pids, "limits.pids" },
		{ &cli->cpus, "limits.cpus" },
		{ &cli->disk, "limits.disk" },
		{ &cli->output_limit, "limits.output" },
		{ &cli->backend, "backend.name" },
	};
	int r = set_net(cli, e);

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]) && r >= 0; i++)
		if (map[i].v->has)
			r = add_set(cli, map[i].key, map[i].v->text, e);
	return r;
}

/* What run does when nobody said otherwise: the host tree never changes, and a workspace is where you stand. */
static void run_defaults(struct run *r)
{
	struct settings *s = &r->config.base;

	if (!s->has[OPT_WS_ACCESS]) {
		s->ws_access = ACCESS_OVERLAY;
		s->origin[OPT_WS_ACCESS] = (struct origin){ .kind = ORIGIN_BUILTIN };
	}
	if (!s->has[OPT_WS_PATH])
		s->ws_path = r->facts.cwd;
	if (!s->has[OPT_TIMEOUT_S] && !r->request.has_timeout)
		s->timeout_s = s->timeout_max_s; /* a person waits; 30 s is for callers over the wire */
}

static unsigned asked_limits(const struct settings *s)
{
	return (s->has[OPT_MEMORY] ? CGROUP_MEMORY : 0u) | (s->has[OPT_PIDS] ? CGROUP_PIDS : 0u) |
	       (s->has[OPT_CPUS] ? CGROUP_CPU : 0u);
}

int run_load(struct run *r, struct err *e)
{
	struct cli *cli = r->cli;
	int rc = input_facts(cli, &r->facts, e);

	if (rc >= 0)
		rc = add_sets(cli, e);
	if (rc >= 0)
		rc = input_config(cli, &r->facts, &r->diags, &r->config, e);
	if (rc >= 0)
		rc = input_request(cli, &r->request, e);
	if (rc < 0)
		return rc;
	r->facts.backends |= 1u << BACKEND_HOST;
	r->request.facts = r->facts;
	r->request.tool = STR("exec");
	r->request.no_sandbox = cli->no_sandbox;
	if (!cli->session.has && !cli->sandbox.has && !cli->no_sandbox) {
		r->request.force_sandbox = true;
		r->request.has_trust = true;
		r->request.trust = TRUST_LIGHT;
	}
	run_defaults(r);
	r->decision = ARENA_NEW(cli->arena, struct decision);
	if (!r->decision)
		return err_set(e, ERR_LIMIT, "out of memory");
	rc = decide(&r->config, &r->request, cli->arena, r->decision, e);
	if (rc < 0)
		return rc;
	r->asked = asked_limits(&r->decision->eff);
	r->limits = (struct cgroup_limits){ .must = r->asked,
					    .memory = r->decision->limits.memory,
					    .pids = r->decision->limits.pids,
					    .cpus = r->decision->limits.cpus };
	return 0;
}
