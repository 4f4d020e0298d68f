/* SPDX-License-Identifier: Apache-2.0 */
/* The checked tree into settings: agents.defaults into the base, agents.entries into agents, session, env. */
#include "config/openclaw_priv.h"

#include "base/num.h"
#include "base/parse.h"

/* Keys below sandbox whose value goes over as it is. */
/* clang-format off */
static const struct plain {
	const char *key;
	enum option id;
} plain[] = {
	{ "mode",                    OPT_WHEN },
	{ "scope",                   OPT_SCOPE },
	{ "workspaceAccess",         OPT_WS_ACCESS },
	{ "workspaceRoot",           OPT_WS_ROOT },
	{ "docker.image",            OPT_IMAGE },
	{ "docker.containerPrefix",  OPT_CONTAINER_PREFIX },
	{ "docker.workdir",          OPT_WORKDIR },
	{ "docker.readOnlyRoot",     OPT_READONLY_ROOT },
	{ "docker.tmpfs",            OPT_TMPFS },
	{ "docker.network",          OPT_NET_PRIMARY },
	{ "docker.user",             OPT_USER },
	{ "docker.capDrop",          OPT_CAP_DROP },
	{ "docker.pidsLimit",        OPT_PIDS },
	{ "docker.cpus",             OPT_CPUS },
	{ "docker.gpus",             OPT_GPUS },
	{ "docker.seccompProfile",   OPT_SECCOMP_PROFILE },
	{ "docker.apparmorProfile",  OPT_APPARMOR_PROFILE },
	{ "docker.dns",              OPT_DNS },
	{ "docker.extraHosts",       OPT_EXTRA_HOSTS },
	{ "docker.binds",            OPT_BINDS },
	{ "docker.dangerouslyAllowReservedContainerTargets", OPT_BINDS_RESERVED },
	{ "docker.dangerouslyAllowExternalBindSources",      OPT_BINDS_EXTERNAL },
	{ "docker.dangerouslyAllowContainerNamespaceJoin",   OPT_NET_JOIN },
	{ "ssh.target",              OPT_SSH_TARGET },
	{ "ssh.command",             OPT_SSH_COMMAND },
	{ "ssh.workspaceRoot",       OPT_SSH_ROOT },
	{ "browser.enabled",         OPT_BROWSER_ENABLED },
	{ "browser.image",           OPT_BROWSER_IMAGE },
	{ "browser.containerPrefix", OPT_BROWSER_PREFIX },
	{ "browser.network",         OPT_BROWSER_NETWORK },
	{ "browser.cdpPort",         OPT_BROWSER_CDP_PORT },
	{ "browser.cdpSourceRange",  OPT_BROWSER_CDP_RANGE },
	{ "browser.vncPort",         OPT_BROWSER_VNC_PORT },
	{ "browser.noVncPort",       OPT_BROWSER_NOVNC_PORT },
	{ "browser.headless",        OPT_BROWSER_HEADLESS },
	{ "browser.enableNoVnc",     OPT_BROWSER_NOVNC },
	{ "browser.noVncEnabled",    OPT_BROWSER_NOVNC },
	{ "browser.allowHostControl", OPT_BROWSER_HOST_CTL },
	{ "browser.autoStart",       OPT_BROWSER_AUTOSTART },
	{ "browser.autoStartTimeoutMs", OPT_BROWSER_START_MS },
	{ "browser.binds",           OPT_BROWSER_BINDS },
	{ "prune.idleHours",         OPT_PRUNE_IDLE_H },
	{ "prune.maxAgeDays",        OPT_PRUNE_AGE_D },
	{ "networkAllow",            OPT_ROUTE_TOOLS },
	{ "networkExecAllow",        OPT_ROUTE_EXEC },
	{ "networkDocker.network",   OPT_ROUTE_NETWORK },
};
/* clang-format on */

static double number_of(const struct value *v)
{
	return v->kind == VALUE_INT ? (double)v->i : v->num;
}

/*
 * Upstream takes every number; ours have a range. Beyond it the nearest counts there, and is an error in
 * documents mode.
 */
static struct value within_range(struct oc *o, enum option id, const struct value *v, const struct trail *t)
{
	const struct option_info *info = option_info(id);
	struct value near = *v;
	double d;

	if (!o->compat || (v->kind != VALUE_INT && v->kind != VALUE_NUM) || info->min >= info->max)
		return near;
	d = number_of(v);
	if (d >= info->min && d <= info->max)
		return near;
	d = d < info->min ? info->min : info->max;
	near.kind = info->type == TYPE_NUM ? VALUE_NUM : VALUE_INT;
	if (near.kind == VALUE_NUM)
		near.num = d;
	else
		near.i = (int64_t)d;
	oc_warn(o, t, v, "out_of_range", "beyond what creel can do: %g is used", d);
	return near;
}

/* Upstream puts the home directory into paths when it loads them; elsewhere that is done where they are opened. */
static void expand_home(struct oc *o, enum option id, struct value *v)
{
	struct str s = v->kind == VALUE_STR ? oc_trim(v->s) : (struct str){ 0 };
	bool of_upstream = id == OPT_WS_ROOT || id == OPT_WORKDIR || id == OPT_WS_PATH;

	if (id != OPT_SSH_ROOT && !(o->compat && of_upstream))
		return;
	if (oc_path_is_tilde(s) && o->l->in->home.n > 0)
		v->s = oc_path_expand(o, s);
}

/* Upstream takes names that nobody can mean: they are left out, and said so. */
struct value oc_with_names(struct oc *o, const struct value *v, const struct trail *up)
{
	struct value kept = *v;

	if (!o->compat || v->kind != VALUE_OBJ)
		return kept;
	kept.index = NULL;
	kept.obj.n = 0;
	kept.obj.m = ARENA_ARRAY(o->l->a, struct member, v->obj.n);
	for (size_t i = 0; kept.obj.m && i < v->obj.n; i++) {
		const struct member *m = &v->obj.m[i];
		const struct trail t = { .up = up, .key = m->key };

		if (m->key.n > 0 && !memchr(m->key.p, 0, m->key.n))
			kept.obj.m[kept.obj.n++] = *m;
		else
			oc_warn(o, &t, &m->v, "bad_name",
				"a name is empty or holds a NUL character: left out");
	}
	return kept;
}

static void set(struct oc *o, struct settings *s, enum option id, const struct value *v,
		const struct trail *t)
{
	struct at at = oc_at(o, t, v);
	struct value near = within_range(o, id, v, t);

	near = oc_with_names(o, &near, t);
	expand_home(o, id, &near);
	(void)load_set(o->l, s, id, &near, &at, false);
}

/* "docker.image" below `up`, as a trail of one or two steps. */
static void set_path(struct oc *o, struct settings *s, const struct plain *p, const struct value *sandbox,
		     const struct trail *up)
{
	const struct value *v = value_path(sandbox, p->key);
	const struct trail t = { .up = up, .key = str_z(p->key) };

	if (v)
		set(o, s, p->id, v, &t);
}

static struct value text_value(const struct value *like, struct str s)
{
	return (struct value){ .kind = VALUE_STR, .line = like->line, .col = like->col, .s = s };
}

/* A number as JavaScript writes it. */
struct str oc_number_text(struct oc *o, const struct value *v)
{
	char text[NUM_TEXT_MAX];
	struct str s;

	if (v->kind == VALUE_INT && v->i > -((int64_t)1 << 53) && v->i < (int64_t)1 << 53)
		return arena_printf(o->l->a, "%lld", (long long)v->i);
	if (num_format(number_of(v), text, &s) < 0)
		return (struct str){ 0 };
	return arena_str(o->l->a, s);
}

static void map_backend(struct oc *o, struct settings *s, const struct value *sandbox, const struct trail *up)
{
	const struct trail t = { .up = up, .key = STR("backend") };
	const struct value *v = value_get(sandbox, STR("backend"));
	struct origin origin;
	struct at at;

	if (!v || oc_trim(v->s).n == 0)
		return;
	at = oc_at(o, &t, v);
	origin = origin_of(&at, v);
	(void)load_set_str(o->l, s, OPT_BACKEND_NAME, oc_trim(v->s), &origin);
}

/* The word of releases before scope: one sandbox for each session, or one for all. */
static void map_per_session(struct oc *o, struct settings *s, const struct value *sandbox,
			    const struct trail *up)
{
	const struct trail t = { .up = up, .key = STR("perSession") };
	const struct value *v = value_get(sandbox, STR("perSession"));
	struct origin origin;
	struct at at;

	if (!v || value_get(sandbox, STR("scope")))
		return;
	at = oc_at(o, &t, v);
	origin = origin_of(&at, v);
	(void)load_set_enum(o->l, s, OPT_SCOPE, v->b ? SCOPE_SESSION : SCOPE_SHARED, &origin);
}

/* The lines of a list, as they are or as they were written. */
static struct str lines_of(struct oc *o, const struct value *list, bool as_written)
{
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, (size_t)1 << 20);
	for (size_t i = 0; i < list->arr.n; i++) {
		const struct value *line = &list->arr.v[i];

		buf_puts(&b, i > 0 ? "\n" : "");
		buf_put(&b, as_written && line->from_env ? line->raw : line->s);
	}
	if (b.failed)
		return (struct str){ 0 };
	return arena_str(o->l->a, buf_str(&b));
}

static void map_setup(struct oc *o, struct settings *s, const struct value *sandbox, const struct trail *up)
{
	const struct trail t = { .up = up, .key = STR("docker.setupCommand") };
	const struct value *v = value_path(sandbox, "docker.setupCommand");
	struct value joined;

	if (v && v->kind == VALUE_STR)
		set(o, s, OPT_SETUP_COMMAND, v, &t);
	if (!v || v->kind == VALUE_STR)
		return;
	joined = text_value(v, lines_of(o, v, false));
	joined.raw = lines_of(o, v, true);
	for (size_t i = 0; i < v->arr.n; i++)
		joined.from_env = joined.from_env || v->arr.v[i].from_env;
	if (v->arr.n > 0 && !joined.s.p)
		oc_bad(o, &t, v, "too_large", "accepted: at most 1 MiB of commands");
	else
		set(o, s, OPT_SETUP_COMMAND, &joined, &t);
}

/* Upstream hands the text on unread; what is no size is told here, and refused where the documents count. */
static void map_memory(struct oc *o, struct settings *s, const struct value *sandbox, const struct trail *up)
{
	const struct trail t = { .up = up, .key = STR("docker.memory") };
	const struct value *v = value_path(sandbox, "docker.memory");
	struct value size;
	uint64_t bytes;

	if (!v || (v->kind == VALUE_STR && oc_trim(v->s).n == 0))
		return;
	size = *v;
	if (v->kind == VALUE_STR)
		size.s = oc_trim(v->s);
	if (v->kind == VALUE_NUM) {
		size.kind = VALUE_INT;
		size.i = v->num > 0 && v->num < 0x1p62 ? (int64_t)v->num : v->num > 0 ? INT64_MAX : 0;
	}
	if (o->compat && v->kind == VALUE_STR && parse_size(size.s, UINT64_MAX, &bytes) < 0) {
		oc_warn(o, &t, v, "wrong_value", "not a size: the built-in limit is used");
		return;
	}
	set(o, s, OPT_MEMORY, &size, &t);
}

static void map_swap(struct oc *o, struct settings *s, const struct value *sandbox, const struct trail *up)
{
	const struct trail t = { .up = up, .key = STR("docker.memorySwap") };
	const struct value *v = value_path(sandbox, "docker.memorySwap");
	struct value text;

	if (!v)
		return;
	text = v->kind == VALUE_STR ? *v : text_value(v, oc_number_text(o, v));
	set(o, s, OPT_MEMORY_SWAP, &text, &t);
}

static struct str ulimit_text(struct oc *o, const struct value *v)
{
	const struct value *soft = value_get(v, STR("soft")), *hard = value_get(v, STR("hard"));

	if (v->kind == VALUE_STR)
		return oc_trim(v->s);
	if (v->kind != VALUE_OBJ)
		return oc_number_text(o, v);
	if (soft && hard)
		return arena_printf(o->l->a, "%lld:%lld", (long long)soft->i, (long long)hard->i);
	return soft || hard ? oc_number_text(o, soft ? soft : hard) : (struct str){ 0 };
}

static void map_ulimits(struct oc *o, struct settings *s, const struct value *sandbox, const struct trail *up)
{
	const struct trail t = { .up = up, .key = STR("docker.ulimits") };
	const struct value *v = value_path(sandbox, "docker.ulimits");
	struct value texts;
	size_t n = 0;

	if (!v)
		return;
	texts = *v;
	texts.index = NULL;
	texts.obj.m = ARENA_ARRAY(o->l->a, struct member, v->obj.n);
	for (size_t i = 0; texts.obj.m && i < v->obj.n; i++) {
		struct str text = ulimit_text(o, &v->obj.m[i].v);

		if (text.n == 0)
			continue;
		texts.obj.m[n] = v->obj.m[i];
		texts.obj.m[n].v = text_value(&v->obj.m[i].v, text);
		if (v->obj.m[i].v.kind == VALUE_STR) {
			texts.obj.m[n].v.from_env = v->obj.m[i].v.from_env;
			texts.obj.m[n].v.raw = v->obj.m[i].v.raw;
		}
		n++;
	}
	texts.obj.n = texts.obj.m ? n : 0;
	set(o, s, OPT_ULIMITS, &texts, &t);
}

/* Other backends take what an env file cannot: it is left out, and said so. */
static struct value usable_env(struct oc *o, const struct value *env, const struct trail *up)
{
	struct value v = *env;

	if (!o->compat)
		return v;
	v.index = NULL;
	v.obj.n = 0;
	v.obj.m = ARENA_ARRAY(o->l->a, struct member, env->obj.n);
	for (size_t i = 0; v.obj.m && i < env->obj.n; i++) {
		const struct member *m = &env->obj.m[i];
		const struct trail t = { .up = up, .key = m->key };

		if (env_name_valid(m->key) && !memchr(m->v.s.p, '\n', m->v.s.n) &&
		    !memchr(m->v.s.p, '\r', m->v.s.n) && !memchr(m->v.s.p, 0, m->v.s.n))
			v.obj.m[v.obj.n++] = *m;
		else
			oc_warn(o, &t, &m->v, "env_invalid", "not a variable of one line: left out");
	}
	return v;
}

/* The built-in LANG goes with any env block under compat, as it does upstream; the documents never say so. */
static void keep_lang(struct oc *o, struct settings *s)
{
	const struct env_vars old = s->env_set;
	struct env_var *v;

	for (size_t i = 0; i < old.n; i++)
		if (str_eq(old.v[i].name, STR("LANG")))
			return;
	v = ARENA_ARRAY(o->l->a, struct env_var, old.n + 1);
	if (!v)
		return;
	v[0] = (struct env_var){ .name = STR("LANG"), .kind = ENV_LITERAL, .value = STR("C.UTF-8") };
	for (size_t i = 0; i < old.n; i++)
		v[i + 1] = old.v[i];
	s->env_set = (struct env_vars){ .v = v, .n = old.n + 1 };
}

static void map_env(struct oc *o, struct settings *s, const struct value *sandbox, const struct trail *up)
{
	const struct trail t = { .up = up, .key = STR("docker.env") };
	const struct trail net = { .up = up, .key = STR("networkDocker.env") };
	const struct value *env = value_path(sandbox, "docker.env"),
			   *net_env = value_path(sandbox, "networkDocker.env");
	struct value v;

	if (env) {
		v = usable_env(o, env, &t);
		set(o, s, OPT_ENV_SET, &v, &t);
		if (!o->compat && s == &o->l->c->base)
			keep_lang(o, s);
	}
	if (net_env)
		set(o, s, OPT_ROUTE_ENV, net_env, &net);
}

/* The network sandbox is made like the isolated one; only its network and environment are its own. */
static void note_network_docker(struct oc *o, const struct value *sandbox, const struct trail *up)
{
	const struct value *v = value_get(sandbox, STR("networkDocker"));
	const struct trail t = { .up = up, .key = STR("networkDocker") };

	for (size_t i = 0; v && i < v->obj.n; i++) {
		const struct trail down = { .up = &t, .key = v->obj.m[i].key };

		if (!str_eq(v->obj.m[i].key, STR("network")) && !str_eq(v->obj.m[i].key, STR("env")))
			oc_warn(o, &down, &v->obj.m[i].v, "ignored_key",
				"the network sandbox takes this from docker: ignored here");
	}
}

static void map_sandbox(struct oc *o, struct settings *s, const struct value *sandbox, const struct trail *up)
{
	const struct trail t = { .up = up, .key = STR("sandbox") };
	const struct plain visible = { "sessionToolsVisibility", OPT_SESSIONS_VISIBLE };

	if (!sandbox)
		return;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		set_path(o, s, &plain[i], sandbox, &t);
	if (s == &o->l->c->base) /* of an agent nobody looks at it */
		set_path(o, s, &visible, sandbox, &t);
	map_backend(o, s, sandbox, &t);
	map_per_session(o, s, sandbox, &t);
	map_setup(o, s, sandbox, &t);
	map_memory(o, s, sandbox, &t);
	map_swap(o, s, sandbox, &t);
	map_ulimits(o, s, sandbox, &t);
	map_env(o, s, sandbox, &t);
	note_network_docker(o, sandbox, &t);
}

static void map_workspace(struct oc *o, struct settings *s, const struct value *owner, const struct trail *up)
{
	const struct trail t = { .up = up, .key = STR("workspace") };
	const struct value *v = value_get(owner, STR("workspace"));
	struct value trimmed;

	if (!v || oc_trim(v->s).n == 0)
		return;
	trimmed = *v;
	trimmed.s = oc_trim(v->s);
	set(o, s, OPT_WS_PATH, &trimmed, &t);
}

static void map_agent(struct oc *o, const struct member *m, struct str default_id, const struct trail *up)
{
	const struct trail t = { .up = up, .key = m->key };
	const struct trail at_tools = { .up = &t, .key = STR("tools") };
	struct str id = oc_agent_id(o->l->a, m->key);
	struct at at = oc_at(o, &t, &m->v);
	struct origin origin = origin_of(&at, &m->v);
	struct agent *agent = load_agent(o->l, id, &origin);

	if (!agent)
		return;
	agent->is_default = str_eq(id, default_id);
	map_workspace(o, agent->over, &m->v, &t);
	map_sandbox(o, agent->over, value_get(&m->v, STR("sandbox")), &t);
	oc_map_tools(o, agent->over, value_get(&m->v, STR("tools")), &at_tools);
}

static void map_agents(struct oc *o, const struct value *root, const struct trail *top)
{
	const struct trail up = { .up = top, .key = STR("agents") }, t = { .up = &up, .key = STR("entries") };
	const struct trail at_defaults = { .up = &up, .key = STR("defaults") };
	const struct trail at_owner = { .up = &up, .key = STR("ownership") };
	const struct value *agents = value_get(root, STR("agents")),
			   *defaults = value_get(agents, STR("defaults"));
	const struct value *entries = value_get(agents, STR("entries")),
			   *owner = value_get(agents, STR("ownership"));
	struct str default_id = oc_default_agent(o, root);

	if (entries && entries->obj.n == 1 && !value_get(&entries->obj.m[0].v, STR("default")))
		default_id = (struct str){ 0 };
	if (owner)
		set(o, &o->l->c->base, OPT_OWNERSHIP, owner, &at_owner);
	map_workspace(o, &o->l->c->base, defaults, &at_defaults);
	map_sandbox(o, &o->l->c->base, value_get(defaults, STR("sandbox")), &at_defaults);
	for (size_t i = 0; entries && i < entries->obj.n; i++)
		map_agent(o, &entries->obj.m[i], default_id, &t);
	/* An empty roster is the same as none: there is "main". */
	o->l->c->has_roster = o->l->c->has_roster || (entries && entries->obj.n > 0);
}

static void map_session(struct oc *o, const struct value *session, const struct trail *top)
{
	const struct trail up = { .up = top, .key = STR("session") };
	const struct trail at_scope = { .up = &up, .key = STR("scope") },
			   at_main = { .up = &up, .key = STR("mainKey") };
	const struct value *scope = value_get(session, STR("scope")),
			   *main_key = value_get(session, STR("mainKey"));

	if (scope)
		set(o, &o->l->c->base, OPT_SESSION_SCOPE, scope, &at_scope);
	if (main_key && o->compat)
		oc_warn(o, &at_main, main_key, "ignored_key",
			"the main session is always 'main' here: ignored");
	else if (main_key && oc_trim(main_key->s).n > 0)
		set(o, &o->l->c->base, OPT_MAIN_KEY, main_key, &at_main);
}

void oc_map(struct oc *o, const struct value *root)
{
	const struct trail top = { 0 };
	const struct trail at_tools = { .up = &top, .key = STR("tools") },
			   at_channels = { .up = &top, .key = STR("channels") };

	oc_dirs(o, root);
	map_agents(o, root, &top);
	map_session(o, value_get(root, STR("session")), &top);
	oc_map_tools(o, &o->l->c->base, value_get(root, STR("tools")), &at_tools);
	oc_map_channels(o, value_get(root, STR("channels")), &at_channels);
}
