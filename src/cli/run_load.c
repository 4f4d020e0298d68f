/* SPDX-License-Identifier: Apache-2.0 */
/* What the flags of run mean in terms of the configuration, and the question to policy. */
#include "cli/run.h"

#include <assert.h>

static void add_flag(struct cli *cli, const char *flag, const char *key, struct str value)
{
	assert(cli->n_flags < sizeof(cli->flags) / sizeof(cli->flags[0]));
	cli->flags[cli->n_flags++] = (struct config_flag){ .flag = flag, .key = key, .value = value };
}

/* --net none | bridge | HOST[,HOST…] */
static void add_net(struct cli *cli)
{
	struct str net = cli->net.text;

	if (!cli->net.has)
		return;
	if (str_eq(net, STR("none")) || str_eq(net, STR("bridge"))) {
		add_flag(cli, "--net", "network.primary", net);
		return;
	}
	add_flag(cli, "--net", "network.route.tools", STR("exec"));
	add_flag(cli, "--net", "network.route.hosts", net);
}

/* Blank is what a script passes whose variable is not set: taken as "not given" it would be another directory or group. */
static int check_blank(const struct cli *cli, struct err *e)
{
	const struct {
		const struct arg_value *v;
		const char *flag;
	} flags[] = {
		{ &cli->workspace, "--workspace" },
		{ &cli->backend, "--backend" },
		{ &cli->net, "--net" },
		{ &cli->image, "--image" },
		{ &cli->cgroup_parent, "--cgroup-parent" },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].v->has && str_trim(flags[i].v->text).n == 0)
			return err_set(e, ERR_USAGE, "%s must not be blank", flags[i].flag);
	return 0;
}

static int add_flags(struct cli *cli, struct err *e)
{
	const struct {
		const struct arg_value *v;
		const char *flag, *key;
	} map[] = {
		{ &cli->workspace, "--workspace", "mounts.workspace.path" },
		{ &cli->ws_access, "--workspace-access", "mounts.workspace.access" },
		{ &cli->memory, "--memory", "limits.memory" },
		{ &cli->pids, "--pids", "limits.pids" },
		{ &cli->cpus, "--cpus", "limits.cpus" },
		{ &cli->disk, "--disk", "limits.disk" },
		{ &cli->output_limit, "--output-limit", "limits.output" },
		{ &cli->backend, "--backend", "backend.name" },
	};

	int rc = check_blank(cli, e);

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]) && rc >= 0; i++)
		if (map[i].v->has)
			add_flag(cli, map[i].flag, map[i].key, map[i].v->text);
	add_net(cli);
	return rc;
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

int run_load(struct run *r, struct err *e)
{
	struct cli *cli = r->cli;
	int rc = input_facts(cli, &r->facts, e);

	if (rc >= 0)
		rc = timeout_check(cli, e);
	if (rc >= 0)
		rc = add_flags(cli, e);
	if (rc >= 0)
		rc = input_config(cli, &r->facts, &r->diags, &r->config, e);
	if (rc >= 0)
		rc = input_request(cli, &r->request, e);
	if (rc < 0)
		return rc;
	r->facts.backends |= 1u << BACKEND_HOST;
	r->request.facts = r->facts;
	r->request.tool = STR("exec");
	r->request.brief = true;
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
	if (rc >= 0)
		rc = limits_find(r->decision, &r->limits, e);
	if (rc < 0)
		return rc;
	r->asked = r->limits.must;
	return 0;
}
