/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From flags, environment and files to what policy takes. Of the environment only names go on from here, apart from
 * the few variables read below; the config readers look up what a file refers to.
 */
#include "cli/cli.h"

#include "prepare/prepare.h"

static bool blank(struct arg_value given)
{
	return given.has && str_trim(given.text).n == 0;
}

/* "native,docker", or "none" alone. */
static int assumed_backends(struct str list, unsigned *ret, struct err *e)
{
	struct str word;
	int id;

	*ret = 0;
	if (str_eq(list, STR("none")))
		return 0;
	while (list.n) {
		if (!str_cut(list, ',', &word, &list)) {
			word = list;
			list = (struct str){ 0 };
		}
		if (!enum_value(backend_names, word, false, &id) || id < BACKEND_NATIVE)
			return err_set(e, ERR_USAGE,
				       "--assume-backends: '" STR_FMT
				       "' is not native, docker or opensandbox (or none, alone)",
				       STR_ARG(word));
		*ret |= 1u << id;
	}
	return 0;
}

int timeout_check(const struct cli *cli, struct err *e)
{
	return cli->timeout.has && cli->timeout.number == 0
		       ? err_set(e, ERR_USAGE, "--timeout: 0 would be no limit, accepted: 1 second and more")
		       : 0;
}

int input_facts(struct cli *cli, struct facts *ret, struct err *e)
{
	struct facts_input in = { .state_dir = cli->state_dir.text };
	int r;

	if (blank(cli->state_dir))
		return err_set(e, ERR_USAGE, "--state-dir must not be blank");
	/* The flag is the variable said in another place: the readers see it as that. */
	if (cli->state_dir.has)
		cli->environ = environ_with_state_dir(cli->arena, cli->environ, cli->state_dir.text);
	in.environ = cli->environ;
	r = facts_find(&in, cli->arena, ret, e);
	if (r < 0 || !cli->backends.has)
		return r;
	r = assumed_backends(cli->backends.text, &ret->backends, e);
	/* Whoever supposes that it works supposes a build that has it: C33. */
	ret->opensandbox_built = ret->backends & 1u << BACKEND_OPENSANDBOX;
	return r;
}

static int config_sources(struct cli *cli, struct config_source **ret, struct err *e)
{
	struct config_source *s = ARENA_ARRAY(cli->arena, struct config_source, cli->config.n);

	if (!s)
		return err_set(e, ERR_LIMIT, "out of memory");
	for (size_t i = 0; i < cli->config.n; i++) {
		int r = config_source_parse(cli->config.v[i], &s[i], e);

		if (r < 0)
			return err_wrap(e, "--config");
		s[i].origin = (struct origin){ .kind = ORIGIN_FLAG, .name = STR("--config") };
	}
	*ret = s;
	return 0;
}

static struct config_input base_input(const struct cli *cli, const struct facts *f)
{
	return (struct config_input){
		.sets = { .v = cli->sets.v, .n = cli->sets.n },
		.flags = cli->flags,
		.n_flags = cli->n_flags,
		.profile = cli->profile.text,
		.compat = cli->compat.text,
		.environ = cli->environ,
		.home = f->home,
		.cwd = f->cwd,
		.no_default_file = cli->no_default_config,
	};
}

int input_config(struct cli *cli, struct facts *f, struct diags *diags, struct config *ret, struct err *e)
{
	struct config_input in = base_input(cli, f);
	struct config_source *files = NULL;
	int r = config_sources(cli, &files, e);

	if (r < 0)
		return r;
	in.files = files;
	in.n_files = cli->config.n;
	r = config_load(&in, cli->arena, diags, ret, e);
	if (r >= 0)
		facts_take(ret, f);
	return r;
}

int input_one_file(struct cli *cli, const struct facts *f, const struct config_source *file,
		   struct diags *diags, struct config *ret, struct err *e)
{
	struct config_input in = base_input(cli, f);

	in.files = file;
	in.n_files = 1;
	in.no_default_file = true;
	return config_load(&in, cli->arena, diags, ret, e);
}

/* A command without a tool is a call of exec. */
static struct str asked_tool(const struct cli *cli)
{
	if (cli->tool.has || (!cli->args.has_rest && !cli->command.has))
		return cli->tool.text;
	return STR("exec");
}

/*
 * Blank is what a script passes whose variable is not set. Taken as "not given" it would be the main session, which
 * has full trust, or a question about no tool, which nothing refuses. OpenClaw does take it so.
 */
static int nothing_is_blank(const struct cli *cli, struct err *e)
{
	bool as_openclaw = cli->as.has && str_eq(cli->as.text, STR("openclaw"));

	if (blank(cli->agent))
		return err_set(e, ERR_USAGE, "--agent must not be blank");
	if (blank(cli->session) && !as_openclaw)
		return err_set(e, ERR_USAGE, "--session must not be blank");
	if (blank(cli->tool))
		return err_set(e, ERR_USAGE, "--tool must not be blank");
	return 0;
}

int input_request(const struct cli *cli, struct request *ret, struct err *e)
{
	enum via via = cli->via.has ? (enum via)cli->via.value : VIA_CLI;
	int r = nothing_is_blank(cli, e);

	if (r < 0)
		return r;
	if (cli->command.has && cli->args.has_rest)
		return err_set(e, ERR_USAGE, "'--command' and a command after '--' exclude each other");
	*ret = (struct request){
		.via = via,
		.auth = via == VIA_CLI || via == VIA_LIBRARY ? AUTH_LOCAL : AUTH_TOKEN,
		.agent = cli->agent.text,
		.session_key = cli->session.text,
		.channel = cli->channel.text,
		.chat_id = cli->chat_id.text,
		.sender = cli->sender.text,
		.provider = cli->provider.text,
		.model = cli->model.text,
		.tool = asked_tool(cli),
		.argv = cli->args.rest,
		.command = cli->command.text,
		.has_timeout = cli->timeout.has,
		.timeout_s = cli->timeout.number,
		.wants_elevated = cli->elevated,
		.has_trust = cli->sandbox.has,
		.trust = cli->sandbox.has ? (enum trust)cli->sandbox.value : TRUST_READONLY,
		.allow_weaken = cli->allow_weaken,
	};
	return 0;
}
