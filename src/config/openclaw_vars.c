/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ${NAME} in string values: replaced by the environment's value, else by env.vars' of the same file. $${NAME}
 * is the text ${NAME}. A variable that is unset or empty stays as written and is warned about, as upstream
 * has it.
 *
 * What came from the environment may be a secret: such values are marked, and messages quote what was
 * written. The environment of a sandbox (docker.env) is not filled in here at all: there, ${NAME} is kept as
 * the name of a secret, and read where a tool is started and allowed to have it.
 */
#include "config/openclaw_priv.h"

#include "base/buf.h"

#define TEXT_MAX ((size_t)4 << 20)

/* Where we are, as far as it matters: on the way to an env block, in one, or elsewhere. */
enum where { ELSEWHERE = 0, ROOT, AGENTS, ROSTER, AGENT, SANDBOX, DOCKER, ENV };

/* clang-format off */
static const struct {
	enum where from;
	const char *key; /* NULL: any */
	enum where to;
} steps[] = {
	{ ROOT,    "agents",        AGENTS },
	{ AGENTS,  "defaults",      AGENT },
	{ AGENTS,  "entries",       ROSTER },
	{ AGENTS,  "list",          ROSTER },
	{ ROSTER,  NULL,            AGENT },
	{ AGENT,   "sandbox",       SANDBOX },
	{ SANDBOX, "docker",        DOCKER },
	{ SANDBOX, "networkDocker", DOCKER },
	{ DOCKER,  "env",           ENV },
};

/* The parts that are read in documents mode. Nobody needs the gateway's passwords in memory to decide. */
static const char *const read_parts[] = { "agents", "tools", "session" };

/*
 * Names that a file may not put into the environment: what a loader, shell, interpreter or build tool obeys,
 * and names of credentials that belong to the host.
 */
static const char *const blocked_prefixes[] = {
	"LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG_", "NPM_CONFIG_", "CARGO_REGISTRIES_", "TF_VAR_",
};
static const char blocked_names[] =
	" OPENCLAW_INCLUDE_ROOTS OPENCLAW_CONFIG_READONLY OPENCLAW_ALLOW_OLDER_BINARY_DESTRUCTIVE_ACTIONS "
	"ALL_PROXY AMQP_URL ANSIBLE_CALLBACK_PLUGINS ANSIBLE_COLLECTIONS_PATH ANSIBLE_CONFIG "
	"ANSIBLE_CONNECTION_PLUGINS ANSIBLE_FILTER_PLUGINS ANSIBLE_INVENTORY_PLUGINS ANSIBLE_LIBRARY "
	"ANSIBLE_LOOKUP_PLUGINS ANSIBLE_MODULE_UTILS ANSIBLE_REMOTE_TEMP ANSIBLE_ROLES_PATH "
	"ANSIBLE_STRATEGY_PLUGINS ANT_OPTS AWS_ACCESS_KEY_ID AWS_CONFIG_FILE "
	"AWS_CONTAINER_CREDENTIALS_FULL_URI AWS_CONTAINER_CREDENTIALS_RELATIVE_URI AWS_SECRET_ACCESS_KEY "
	"AWS_SECURITY_TOKEN AWS_SESSION_TOKEN AWS_SHARED_CREDENTIALS_FILE AWS_WEB_IDENTITY_TOKEN_FILE "
	"AZURE_AUTH_LOCATION AZURE_CLIENT_ID AZURE_CLIENT_SECRET BASHOPTS BASH_ENV BROWSER BUNDLE_GEMFILE "
	"BUN_CONFIG_REGISTRY BZR_EDITOR BZR_PLUGIN_PATH BZR_SSH CARGO_BUILD_RUSTC "
	"CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER CARGO_BUILD_RUSTC_WRAPPER CARGO_BUILD_RUSTDOC CARGO_HOME "
	"CATALINA_OPTS CC CFLAGS CGO_CFLAGS CGO_LDFLAGS CLASSPATH CMAKE_CXX_COMPILER CMAKE_C_COMPILER "
	"CMAKE_TOOLCHAIN_FILE COMPOSER_HOME CONDA_DEFAULT_ENV CONDA_PREFIX CONFIG_SHELL CONFIG_SITE "
	"CORECLR_PROFILER CORECLR_PROFILER_PATH CPATH CPLUS_INCLUDE_PATH CPP CURL_CA_BUNDLE CURL_HOME CXX "
	"CXXCPP C_INCLUDE_PATH DATABASE_URL DENO_DIR DOCKER_CERT_PATH DOCKER_CONTEXT DOCKER_HOST "
	"DOCKER_TLS_VERIFY DOTNET_ADDITIONAL_DEPS DOTNET_STARTUP_HOOKS EDITOR ELIXIR_ERL_OPTIONS "
	"EMACSLOADPATH ENV ERL_AFLAGS ERL_FLAGS ERL_ZFLAGS EXINIT FCEDIT FPATH GCONV_PATH GEM_HOME GEM_PATH "
	"GH_TOKEN GITHUB_TOKEN GITLAB_TOKEN GIT_ALLOW_PROTOCOL GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_ASKPASS "
	"GIT_COMMON_DIR GIT_DIR GIT_EDITOR GIT_EXEC_PATH GIT_EXTERNAL_DIFF GIT_HOOK_PATH GIT_INDEX_FILE "
	"GIT_NAMESPACE GIT_OBJECT_DIRECTORY GIT_PAGER GIT_PROTOCOL_FROM_USER GIT_PROXY_COMMAND "
	"GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_SSL_NO_VERIFY "
	"GIT_TEMPLATE_DIR GIT_WORK_TREE GLIBC_TUNABLES GOENV GOFLAGS GONOPROXY GONOSUMCHECK GONOSUMDB "
	"GOOGLE_APPLICATION_CREDENTIALS GOPATH GOPRIVATE GOPROXY GRADLE_OPTS GRADLE_USER_HOME GVIMINIT "
	"HELM_HOME HELM_PLUGINS HGEDITOR HGMERGE HGRCPATH HISTFILE HOME HOSTALIASES HTTPS_PROXY HTTP_PROXY "
	"IFS JAVA_OPTS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS JULIA_EDITOR KSH_ENV KUBECONFIG LDFLAGS LESSCLOSE "
	"LESSOPEN LIBRARY_PATH LUA_CPATH LUA_INIT LUA_INIT_5_1 LUA_INIT_5_2 LUA_INIT_5_3 LUA_INIT_5_4 "
	"LUA_PATH MAKE MAKEFLAGS MANPAGER MAVEN_OPTS MFLAGS MONGODB_URI MYVIMRC NODE_AUTH_TOKEN "
	"NODE_EXTRA_CA_CERTS NODE_OPTIONS NODE_PATH NODE_REDIRECT_WARNINGS NODE_REPL_EXTERNAL_MODULE "
	"NODE_REPL_HISTORY NODE_TLS_REJECT_UNAUTHORIZED NODE_V8_COVERAGE NO_PROXY NPM_TOKEN OBJC_INCLUDE_PATH "
	"OPENSSL_CONF OPENSSL_ENGINES PACKER_PLUGIN_PATH PAGER PERL5DB PERL5DBCMD PERL5LIB PERL5OPT PHPRC "
	"PHP_INI_SCAN_DIR PIP_CONFIG_FILE PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_INDEX_URL PIP_PYPI_URL "
	"PIP_TRUSTED_HOST PROMPT_COMMAND PS4 PYTHONBREAKPOINT PYTHONHOME PYTHONPATH PYTHONSTARTUP "
	"PYTHONUSERBASE REDIS_URL REQUESTS_CA_BUNDLE RUBYLIB RUBYOPT RUBYSHELL RUSTC RUSTC_WORKSPACE_WRAPPER "
	"RUSTC_WRAPPER RUSTDOC RUSTFLAGS RUSTUP_DIST_ROOT RUSTUP_DIST_SERVER RUSTUP_HOME RUSTUP_TOOLCHAIN "
	"RUSTUP_UPDATE_ROOT R_ENVIRON R_ENVIRON_USER R_LIBS_USER R_PROFILE R_PROFILE_USER SBT_OPTS SHELL "
	"SHELLOPTS SSH_ASKPASS SSH_AUTH_SOCK SSLKEYLOGFILE SSL_CERT_DIR SSL_CERT_FILE SUDO_ASKPASS "
	"SUDO_EDITOR SVN_EDITOR SVN_SSH SYSTEMROOT TCLLIBPATH TF_CLI_CONFIG_FILE TF_PLUGIN_CACHE_DIR "
	"UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL UV_INDEX UV_INDEX_URL UV_PYTHON VAGRANT_VAGRANTFILE VIMINIT "
	"VIRTUAL_ENV VISUAL WGETRC WINDIR XDG_CACHE_HOME XDG_CONFIG_DIRS XDG_CONFIG_HOME XDG_DATA_DIRS "
	"XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME YARN_RC_FILENAME ZDOTDIR _JAVA_OPTIONS ";
/* clang-format on */

static enum where step(enum where from, struct str key)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i].from == from && (!steps[i].key || str_eq(key, str_z(steps[i].key))))
			return steps[i].to;
	return ELSEWHERE;
}

static bool in_words(const char *words, struct str upper)
{
	const char *hit = words;

	if (upper.n == 0)
		return false;
	while ((hit = memmem(hit, strlen(hit), upper.p, upper.n)) != NULL) {
		if (hit[-1] == ' ' && hit[upper.n] == ' ')
			return true;
		hit++;
	}
	return false;
}

static bool is_blocked(struct oc *o, struct str name)
{
	char *p = arena_alloc(o->l->a, name.n, 1);
	struct str upper = { p, name.n };

	if (!p)
		return true;
	for (size_t i = 0; i < name.n; i++)
		p[i] = name.p[i] >= 'a' && name.p[i] <= 'z' ? (char)(name.p[i] - 'a' + 'A') : name.p[i];
	for (size_t i = 0; i < sizeof(blocked_prefixes) / sizeof(blocked_prefixes[0]); i++)
		if (str_starts(upper, str_z(blocked_prefixes[i])))
			return true;
	if (str_starts(upper, STR("CARGO_TARGET_")) &&
	    (str_ends(upper, STR("_LINKER")) || str_ends(upper, STR("_RUNNER"))))
		return true;
	return in_words(blocked_names, upper);
}

/* The length of "${NAME}" at the front of `s`, and its name; 0 when there is none. */
static size_t reference(struct str s, struct str *ret_name)
{
	size_t n = 2;

	if (s.n < 4 || s.p[0] != '$' || s.p[1] != '{')
		return 0;
	while (n < s.n && ((s.p[n] >= 'A' && s.p[n] <= 'Z') || s.p[n] == '_' ||
			   (n > 2 && s.p[n] >= '0' && s.p[n] <= '9')))
		n++;
	if (n == 2 || n == s.n || s.p[n] != '}')
		return 0;
	*ret_name = (struct str){ s.p + 2, n - 2 };
	return n + 1;
}

static bool has_reference(struct str s)
{
	struct str name;

	for (; s.n > 0; s = str_from(s, 1)) {
		if (s.p[0] == '$' && reference(str_from(s, 1), &name) > 0)
			s = str_from(s, 1 + reference(str_from(s, 1), &name) - 1);
		else if (reference(s, &name) > 0)
			return true;
	}
	return false;
}

static bool get_one(const struct oc *o, struct str name, struct str *ret)
{
	if (load_getenv(o->l, name, ret) && str_trim(*ret).n > 0)
		return true;
	for (size_t i = 0; i < o->n_vars; i++) {
		if (str_eq(o->vars[i].name, name)) {
			*ret = o->vars[i].value;
			return true;
		}
	}
	return load_getenv(o->l, name, ret);
}

/* One name has an older spelling. */
bool oc_getenv(const struct oc *o, struct str name, struct str *ret)
{
	bool found = get_one(o, name, ret);

	if ((found && oc_trim(*ret).n > 0) || !o->compat || !str_eq(name, STR("ZAI_API_KEY")))
		return found;
	return get_one(o, STR("Z_AI_API_KEY"), ret);
}

typedef bool look_up(const struct oc *o, struct str name, struct str *ret);

/* What became of a text. */
struct filled {
	struct str text;
	bool changed, from_variable;
	struct str missing; /* the last name that has no value; empty when all have one */
};

/* One reference, escaped reference or other byte of the front of `text`; returns its length. */
static size_t fill_next(const struct oc *o, struct str text, look_up *value_of, struct buf *b,
			struct filled *f)
{
	struct str name, value;
	size_t n = text.p[0] == '$' ? reference(str_from(text, 1), &name) : 0;

	if (n > 0) {
		buf_put(b, (struct str){ text.p + 1, n });
		f->changed = true;
		return 1 + n;
	}
	n = reference(text, &name);
	if (n > 0 && value_of(o, name, &value)) {
		buf_put(b, value);
		load_env_used(o->l, name, value);
		f->changed = f->from_variable = true;
		return n;
	}
	if (n > 0)
		f->missing = name;
	n = n > 0 ? n : 1;
	buf_put(b, (struct str){ text.p, n });
	return n;
}

static struct filled fill_text(struct oc *o, struct str text, look_up *value_of)
{
	_cleanup_buf_ struct buf b = { 0 };
	struct filled f = { .text = text };

	if (!memchr(text.p, '$', text.n))
		return f;
	buf_init(&b, TEXT_MAX);
	while (text.n > 0)
		text = str_from(text, fill_next(o, text, value_of, &b, &f));
	if (f.changed && !b.failed)
		f.text = arena_str(o->l->a, buf_str(&b));
	return f;
}

struct str oc_expand(struct oc *o, struct str text)
{
	return text.n > 0 ? fill_text(o, text, oc_getenv).text : text;
}

/* Only what the file itself says; a dollar in it could turn into a reference that nobody wrote. */
static bool own_value(const struct oc *o, struct str name, struct str *ret)
{
	struct str outside;

	if (load_getenv(o->l, name, &outside) && str_trim(outside).n > 0)
		return false;
	return oc_getenv(o, name, ret) && !memchr(ret->p, '$', ret->n);
}

/* In an env block $${NAME} stays: what reads the template knows it. */
static bool has_escape(struct str text)
{
	struct str name;

	for (size_t i = 0; i + 1 < text.n; i++)
		if (text.p[i] == '$' && reference(str_from(text, i + 1), &name) > 0)
			return true;
	return false;
}

static void fill(struct oc *o, struct value *v, const struct trail *t, enum where w)
{
	struct filled f;

	if (v->s.n == 0 || (w == ENV && has_escape(v->s)))
		return;
	f = fill_text(o, v->s, w == ENV ? own_value : oc_getenv);
	if (w != ENV && f.from_variable) {
		v->from_env = true;
		v->raw = v->s;
	}
	v->s = f.text;
	if (w != ENV && f.missing.n > 0)
		oc_warn(o, t, v, "unset_variable",
			"the variable " STR_FMT " is not set: the text stays as it is written",
			STR_ARG(f.missing));
}

static void walk(struct oc *o, struct value *v, const struct trail *t, enum where w);

static void walk_array(struct oc *o, struct value *v, const struct trail *t, enum where w)
{
	for (size_t i = 0; i < v->arr.n; i++) {
		struct trail down = { .up = t, .index = i };

		walk(o, &v->arr.v[i], &down, step(w, (struct str){ 0 }));
	}
}

static void walk(struct oc *o, struct value *v, const struct trail *t, enum where w)
{
	if (v->kind == VALUE_STR)
		fill(o, v, t, w);
	else if (v->kind == VALUE_ARR)
		walk_array(o, v, t, w);
	if (v->kind != VALUE_OBJ)
		return;
	for (size_t i = 0; i < v->obj.n; i++) {
		struct member *m = &v->obj.m[i];
		struct trail down = { .up = t, .key = m->key };

		/* The values in an env block are in it themselves. */
		walk(o, &m->v, &down, w == ENV ? ENV : step(w, m->key));
	}
}

static bool is_read(struct str key)
{
	for (size_t i = 0; i < sizeof(read_parts) / sizeof(read_parts[0]); i++)
		if (str_eq(key, str_z(read_parts[i])))
			return true;
	return false;
}

/*
 * env.vars: what may be referred to although the environment lacks it. Older releases took other texts in env
 * as well; upstream still does so before it refuses them.
 */
static void collect(struct oc *o, const struct value *vars)
{
	for (size_t i = 0; vars && vars->kind == VALUE_OBJ && i < vars->obj.n; i++) {
		const struct member *m = &vars->obj.m[i];
		struct str name = oc_trim(m->key);
		struct oc_var *v;

		if (m->v.kind != VALUE_STR || oc_trim(m->v.s).n == 0 || !env_name_valid(name) ||
		    has_reference(m->v.s) || is_blocked(o, name))
			continue;
		v = arena_grow(o->l->a, o->vars, o->n_vars, &o->cap_vars, sizeof(*v),
			       _Alignof(struct oc_var));
		if (!v)
			return;
		o->vars = v;
		o->vars[o->n_vars++] = (struct oc_var){ .name = name, .value = m->v.s };
	}
}

bool oc_vars_nest(struct oc *o, const struct value *root)
{
	const struct value *vars = value_path(root, "env.vars");

	for (size_t i = 0; vars && vars->kind == VALUE_OBJ && i < vars->obj.n; i++) {
		const struct member *m = &vars->obj.m[i];
		struct str name = oc_trim(m->key);

		if (m->v.kind == VALUE_STR && !is_blocked(o, name) &&
		    (has_reference(m->v.s) || str_starts(name, STR("OPENCLAW_"))))
			return true;
	}
	return false;
}

void oc_vars_collect(struct oc *o, const struct value *root)
{
	collect(o, value_path(root, "env.vars"));
	collect(o, value_get(root, STR("env")));
}

void oc_vars(struct oc *o, struct value *root)
{
	const struct trail top = { 0 };

	if (root->kind != VALUE_OBJ)
		return;
	oc_vars_collect(o, root);
	for (size_t i = 0; i < root->obj.n; i++) {
		struct member *m = &root->obj.m[i];
		struct trail down = { .up = &top, .key = m->key };

		if (o->compat || is_read(m->key))
			walk(o, &m->v, &down, step(ROOT, m->key));
	}
}
