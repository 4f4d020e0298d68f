/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From flags, environment and files to what policy takes. Of the environment only names go on from here, apart from
 * the few variables read below; the config readers look up what a file refers to.
 */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *cli_getenv(const struct cli *cli, const char *name)
{
	size_t n = strlen(name);

	for (char *const *v = cli->environ; *v; v++)
		if (strncmp(*v, name, n) == 0 && (*v)[n] == '=')
			return (*v)[n + 1] ? *v + n + 1 : NULL;
	return NULL;
}

static bool blank(struct arg_value given)
{
	return given.has && str_trim(given.text).n == 0;
}

static int find_home(struct cli *cli, struct str *ret, struct err *e)
{
	const char *home = cli_getenv(cli, "HOME");
	struct passwd entry, *found = NULL;
	char text[4096];

	if (home) {
		*ret = str_z(home);
		return 0;
	}
	if (getpwuid_r(getuid(), &entry, text, sizeof(text), &found) != 0 || !found || !found->pw_dir[0])
		return err_set(e, ERR_UNAVAIL, "no home directory: HOME is unset and uid %lu has no account",
			       (unsigned long)getuid());
	*ret = arena_str(cli->arena, str_z(found->pw_dir));
	return 0;
}

static struct str find_state_dir(struct cli *cli, struct str home)
{
	const char *env = cli_getenv(cli, "OPENCLAW_STATE_DIR");

	if (cli->state_dir.has)
		return cli->state_dir.text;
	if (env)
		return str_z(env);
	return arena_printf(cli->arena, "%.*s/.openclaw", (int)home.n, home.p);
}

/* Names only: values stay where they are. */
static struct strs env_names(struct cli *cli)
{
	size_t n = 0, kept = 0;
	struct str *names;

	while (cli->environ[n])
		n++;
	names = ARENA_ARRAY(cli->arena, struct str, n);
	for (size_t i = 0; names && i < n; i++) {
		struct str value;

		if (str_cut(str_z(cli->environ[i]), '=', &names[kept], &value) && names[kept].n)
			kept++;
	}
	return (struct strs){ .v = names, .n = names ? kept : 0 };
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

/* The flag is the variable said in another place: the readers see it as that. */
static void put_state_dir(struct cli *cli)
{
	static const char name[] = "OPENCLAW_STATE_DIR=";
	size_t n = 0, kept = 0;
	char **copy;

	while (cli->environ[n])
		n++;
	copy = ARENA_ARRAY(cli->arena, char *, n + 2);
	if (!copy)
		return;
	for (size_t i = 0; i < n; i++)
		if (strncmp(cli->environ[i], name, sizeof(name) - 1) != 0)
			copy[kept++] = cli->environ[i];
	copy[kept] = arena_alloc(cli->arena, sizeof(name) + cli->state_dir.text.n, 1);
	if (!copy[kept])
		return;
	memcpy(copy[kept], name, sizeof(name) - 1);
	memcpy(copy[kept] + sizeof(name) - 1, cli->state_dir.text.p, cli->state_dir.text.n);
	cli->environ = copy;
}

int input_facts(struct cli *cli, struct facts *ret, struct err *e)
{
	const char *openclaw_home = cli_getenv(cli, "OPENCLAW_HOME");
	char cwd[PATH_MAX];
	struct str *roots;
	int r;

	*ret = (struct facts){ .backends = 1u << BACKEND_NATIVE };
	if (blank(cli->state_dir))
		return err_set(e, ERR_USAGE, "--state-dir must not be blank");
	if (cli->state_dir.has)
		put_state_dir(cli);
	r = find_home(cli, &ret->home, e);
	if (r < 0)
		return r;
	if (!getcwd(cwd, sizeof(cwd)))
		return err_sys(e, errno, "current directory");
	if (cli->backends.has) {
		r = assumed_backends(cli->backends.text, &ret->backends, e);
		if (r < 0)
			return r;
		/* Whoever supposes that it works supposes a build that has it: C33. */
		ret->opensandbox_built = ret->backends & 1u << BACKEND_OPENSANDBOX;
	}
	ret->cwd = arena_str(cli->arena, str_z(cwd));
	ret->state_dir = find_state_dir(cli, ret->home);
	ret->env_names = env_names(cli);
	roots = ARENA_NEW(cli->arena, struct str);
	if (roots && openclaw_home) {
		*roots = str_z(openclaw_home);
		ret->home_roots = (struct strs){ .v = roots, .n = 1 };
	}
	return cli->arena->failed ? err_set(e, ERR_LIMIT, "out of memory") : 0;
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

int input_config(struct cli *cli, const struct facts *f, struct diags *diags, struct config *ret,
		 struct err *e)
{
	struct config_input in = base_input(cli, f);
	struct config_source *files = NULL;
	int r = config_sources(cli, &files, e);

	if (r < 0)
		return r;
	in.files = files;
	in.n_files = cli->config.n;
	return config_load(&in, cli->arena, diags, ret, e);
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
