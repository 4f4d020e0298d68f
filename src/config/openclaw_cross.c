/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one value of openclaw.json says about another one far away. Upstream looks at the merged settings of
 * every agent here; what it only looks at when a sandbox is made is left to the decision.
 */
#include "config/openclaw_priv.h"

#include "base/utf8.h"

static struct str text_at(const struct value *v, const char *path)
{
	const struct value *text = value_path(v, path);

	return text && text->kind == VALUE_STR ? oc_trim(text->s) : (struct str){ 0 };
}

/* sandbox.<key> of the agent, else of the defaults; empty when neither says it. */
static struct str effective(const struct value *agent, const struct value *defaults, const char *path)
{
	struct str s = text_at(agent, path);

	return s.n > 0 ? s : text_at(defaults, path);
}

/* The environment of a container goes through a file of lines: NAME=value. What `over` says too is not looked at. */
static void check_env(struct oc *o, const struct value *owner, const struct value *over,
		      const struct trail *t)
{
	const struct trail sandbox = { .up = t, .key = STR("sandbox") },
			   docker = { .up = &sandbox, .key = STR("docker") },
			   env = { .up = &docker, .key = STR("env") };
	const struct value *vars = value_path(owner, "sandbox.docker.env");

	for (size_t i = 0; vars && i < vars->obj.n; i++) {
		const struct member *m = &vars->obj.m[i];
		const struct trail down = { .up = &env, .key = m->key };
		struct str value = oc_expand(o, m->v.s);

		if (value_get(over, m->key))
			continue;
		if (!env_name_valid(m->key))
			oc_bad(o, &down, &m->v, "env_invalid",
			       "not the name of a variable, accepted: letters, digits and '_', no digit in front");
		else if (value.n > 0 && (memchr(value.p, '\n', value.n) || memchr(value.p, '\r', value.n) ||
					 memchr(value.p, 0, value.n)))
			oc_bad(o, &down, &m->v, "env_invalid",
			       "the value has a line end or NUL in it, accepted: one line");
	}
}

static bool is_container(struct str backend)
{
	return backend.n == 0 || str_eq(backend, STR("docker")) || str_eq(backend, STR("podman"));
}

/* ssh and other backends take values of several lines. */
static void check_envs(struct oc *o, const struct value *agents, const struct trail *t)
{
	const struct trail at_defaults = { .up = t, .key = STR("defaults") },
			   at_entries = { .up = t, .key = STR("entries") };
	const struct value *defaults = value_get(agents, STR("defaults")),
			   *entries = value_get(agents, STR("entries"));
	bool alone = !entries || entries->obj.n == 0;

	if (alone && is_container(text_at(defaults, "sandbox.backend")))
		check_env(o, defaults, NULL, &at_defaults);
	for (size_t i = 0; entries && i < entries->obj.n; i++) {
		const struct value *agent = &entries->obj.m[i].v;
		const struct trail down = { .up = &at_entries, .key = entries->obj.m[i].key };

		bool shared = str_eq(effective(agent, defaults, "sandbox.scope"), STR("shared"));

		if (!is_container(effective(agent, defaults, "sandbox.backend")))
			continue;
		if (!shared)
			check_env(o, agent, NULL, &down);
		check_env(o, defaults, shared ? NULL : value_path(agent, "sandbox.docker.env"), &at_defaults);
	}
}

static void check_ssh_root(struct oc *o, const struct value *owner, const struct trail *t)
{
	const struct trail sandbox = { .up = t, .key = STR("sandbox") },
			   ssh = { .up = &sandbox, .key = STR("ssh") },
			   down = { .up = &ssh, .key = STR("workspaceRoot") };
	const struct value *root = value_path(owner, "sandbox.ssh.workspaceRoot");
	struct str s;

	if (!root)
		return;
	s = oc_trim(root->s);
	if (s.n == 0 || !(s.p[0] == '/' || s.p[0] == '\\' || oc_path_is_tilde(s)))
		oc_bad(o, &down, root, "ssh_root",
		       "not an absolute path, accepted: a path that starts with '/'");
}

/* Upstream refuses a bad root only when it answers for an agent that has it; so does the decision, under compat. */
static void check_ssh(struct oc *o, const struct value *root, const struct trail *t)
{
	const struct trail at_defaults = { .up = t, .key = STR("defaults") },
			   at_entries = { .up = t, .key = STR("entries") };
	const struct value *defaults = value_path(root, "agents.defaults"),
			   *entries = value_path(root, "agents.entries");

	for (size_t i = 0; entries && i < entries->obj.n; i++) {
		const struct member *m = &entries->obj.m[i];
		const struct trail down = { .up = &at_entries, .key = m->key };

		if (!str_eq(effective(&m->v, defaults, "sandbox.scope"), STR("shared")))
			check_ssh_root(o, &m->v, &down);
	}
	check_ssh_root(o, defaults, &at_defaults);
}

/* References to agents. An empty roster is that of "main". */
static bool is_agent(struct oc *o, const struct value *root, struct str id)
{
	const struct value *entries = value_path(root, "agents.entries");

	id = oc_agent_id(o->l->a, id);
	if (!entries || entries->obj.n == 0)
		return str_eq(id, STR("main"));
	for (size_t i = 0; i < entries->obj.n; i++)
		if (str_eq(oc_agent_id(o->l->a, entries->obj.m[i].key), id))
			return true;
	return false;
}

static void bad_agent(struct oc *o, const struct trail *t, const struct value *v)
{
	struct str got = value_quote(o->l, v);

	oc_bad(o, t, v, "unknown_agent", STR_FMT " is no agent of this file, accepted: one of agents.entries",
	       STR_ARG(got));
}

static void check_references(struct oc *o, const struct value *root, const struct trail *top)
{
	static const char *const paths[] = { "agents.defaults.heartbeat.agentId",
					     "agents.defaults.systemAgent.agentId", "talk.agentId" };
	const struct trail at_bindings = { .up = top, .key = STR("bindings") };
	const struct value *bindings = value_get(root, STR("bindings"));

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const struct trail t = { .up = top, .key = str_z(paths[i]) };
		const struct value *id = value_path(root, paths[i]);

		if (id && id->kind == VALUE_STR && !is_agent(o, root, id->s))
			bad_agent(o, &t, id);
	}
	for (size_t i = 0; bindings && i < bindings->arr.n; i++) {
		const struct trail item = { .up = &at_bindings, .index = i },
				   t = { .up = &item, .key = STR("agentId") };
		const struct value *id = value_get(&bindings->arr.v[i], STR("agentId"));

		if (!str_eq_nocase(oc_trim(id->s), STR("main")) && !is_agent(o, root, id->s))
			bad_agent(o, &t, id);
	}
}

/* A binding to an ACP agent is one to a peer; only such a binding has acp. */
static void check_bindings(struct oc *o, const struct value *root, const struct trail *top)
{
	const struct trail at_bindings = { .up = top, .key = STR("bindings") };
	const struct value *bindings = value_get(root, STR("bindings"));

	for (size_t i = 0; bindings && i < bindings->arr.n; i++) {
		const struct trail t = { .up = &at_bindings, .index = i };
		const struct value *b = &bindings->arr.v[i];
		bool acp = str_eq(text_at(b, "type"), STR("acp"));

		if (acp && text_at(b, "match.peer.id").n == 0)
			oc_bad(o, &t, b, "binding", "a binding of type 'acp' needs match.peer.id");
		if (value_get(b, acp ? STR("session") : STR("acp")))
			oc_bad(o, &t, b, "binding", "'%s' is not accepted in a binding of this type",
			       acp ? "session" : "acp");
	}
}

/* The lists of a broadcast name agents exactly as entries has them. */
static void check_broadcast(struct oc *o, const struct value *root, const struct trail *top)
{
	const struct trail up = { .up = top, .key = STR("broadcast") };
	const struct value *groups = value_get(root, STR("broadcast")),
			   *entries = value_path(root, "agents.entries");
	bool alone = !entries || entries->obj.n == 0;

	for (size_t i = 0; groups && i < groups->obj.n; i++) {
		const struct trail t = { .up = &up, .key = groups->obj.m[i].key };
		const struct value *list = &groups->obj.m[i].v;

		list = list->kind == VALUE_OBJ ? value_get(list, STR("agents")) : list;
		for (size_t k = 0; list && list->kind == VALUE_ARR && k < list->arr.n; k++) {
			const struct trail down = { .up = &t, .index = k };
			struct str id = list->arr.v[k].s;

			if (!value_member(entries, id) && !(alone && str_eq(id, STR("main"))))
				bad_agent(o, &down, &list->arr.v[k]);
		}
	}
}

/* Two agents cannot keep their state in one directory. */
static void check_dirs(struct oc *o, const struct value *root, const struct trail *t)
{
	const struct trail up = { .up = t, .key = STR("entries") };
	const struct value *entries = value_path(root, "agents.entries");

	for (size_t i = 0; entries && i < entries->obj.n; i++) {
		const struct trail down = { .up = &up, .key = entries->obj.m[i].key };
		struct str dir = text_at(&entries->obj.m[i].v, "agentDir");

		for (size_t k = 0; dir.n > 0 && k < i; k++) {
			struct str other = text_at(&entries->obj.m[k].v, "agentDir");

			if (other.n > 0 && str_eq(oc_path_expand(o, dir), oc_path_expand(o, other)))
				oc_bad(o, &down, &entries->obj.m[i].v, "agent_dir",
				       "two agents have the same agentDir, accepted: one for each");
		}
	}
}

static bool is_uri(struct str s)
{
	size_t n = 0;

	while (n < s.n && ((s.p[n] >= 'a' && s.p[n] <= 'z') || (s.p[n] >= 'A' && s.p[n] <= 'Z') ||
			   (n > 0 && ((s.p[n] >= '0' && s.p[n] <= '9') || memchr("+.-", s.p[n], 3)))))
		n++;
	return n > 0 && n < s.n && s.p[n] == ':' &&
	       !(n == 1 && n + 1 < s.n && (s.p[2] == '/' || s.p[2] == '\\'));
}

static bool avatar_ok(struct oc *o, struct str s)
{
	if (s.n == 0)
		return true;
	if (is_uri(s)) {
		struct str scheme, rest;

		(void)str_cut(s, ':', &scheme, &rest);
		return str_eq_nocase(scheme, STR("http")) || str_eq_nocase(scheme, STR("https")) ||
		       str_eq_nocase(scheme, STR("data"));
	}
	if (s.p[0] == '~' || s.p[0] == '/')
		return false;
	return !oc_path_within(oc_path_normal(o->l->a, s), STR(".."));
}

static void check_avatars(struct oc *o, const struct value *root, const struct trail *t)
{
	const struct trail up = { .up = t, .key = STR("entries") };
	const struct value *entries = value_path(root, "agents.entries");

	for (size_t i = 0; entries && i < entries->obj.n; i++) {
		const struct trail down = { .up = &up, .key = entries->obj.m[i].key };
		const struct value *avatar = value_path(&entries->obj.m[i].v, "identity.avatar");

		if (avatar && !avatar_ok(o, oc_trim(avatar->s)))
			oc_bad(o, &down, avatar, "avatar",
			       "identity.avatar is not accepted, accepted: a path in the workspace, or an http, https or data URL");
	}
}

static bool is_alias(struct oc *o, const struct value *models, struct str ref)
{
	for (size_t i = 0; models && i < models->obj.n; i++) {
		struct str alias = utf8_lower(o->l->a, text_at(&models->obj.m[i].v, "alias"));

		if (alias.n > 0 && str_eq(alias, utf8_lower(o->l->a, ref)))
			return true;
	}
	return false;
}

/* provider/model with parts that are neither empty nor patterns; the last may be a star alone. */
static bool is_model_ref(struct str ref)
{
	struct str part, rest = ref;
	size_t parts = 1;
	bool more = true;

	for (; more; parts++) {
		more = str_cut(rest, '/', &part, &rest);
		part = oc_trim(more ? part : rest);
		if (!more && parts > 1 && str_eq(part, STR("*")))
			return true;
		for (size_t i = 0; i < part.n; i++)
			if (part.p[i] == '*' || (unsigned char)part.p[i] <= ' ' || part.p[i] == 0x7f)
				return false;
		if (part.n == 0)
			return false;
	}
	return parts > 2;
}

static void check_model_refs(struct oc *o, const struct value *owner, const struct value *defaults,
			     const struct trail *t)
{
	const struct trail up = { .up = t, .key = STR("modelPolicy.allow") };
	const struct value *refs = value_path(owner, "modelPolicy.allow");

	for (size_t i = 0; refs && i < refs->arr.n; i++) {
		const struct trail down = { .up = &up, .index = i };
		struct str ref = oc_trim(refs->arr.v[i].s);

		if (!is_model_ref(ref) && !str_eq_nocase(ref, STR("openrouter:auto")) &&
		    !str_eq_nocase(ref, STR("openrouter:free")) &&
		    !is_alias(o, value_get(defaults, STR("models")), ref) &&
		    !is_alias(o, value_get(owner, STR("models")), ref))
			oc_bad(o, &down, &refs->arr.v[i], "model",
			       "no model, accepted: provider/model, provider/*, or an alias");
	}
}

static void check_models(struct oc *o, const struct value *root, const struct trail *t)
{
	const struct trail at_defaults = { .up = t, .key = STR("defaults") },
			   up = { .up = t, .key = STR("entries") };
	const struct value *defaults = value_path(root, "agents.defaults"),
			   *entries = value_path(root, "agents.entries");

	check_model_refs(o, defaults, defaults, &at_defaults);
	for (size_t i = 0; entries && i < entries->obj.n; i++) {
		const struct trail down = { .up = &up, .key = entries->obj.m[i].key };

		check_model_refs(o, &entries->obj.m[i].v, defaults, &down);
	}
}

/* What searches the web comes from a plugin; those that OpenClaw does not ship must be mentioned. */
static void check_search(struct oc *o, const struct value *root, const struct trail *top)
{
	static const char *const shipped[] = { "gemini", "grok", "minimax", "ollama" };
	const struct trail t = { .up = top, .key = STR("tools.web.search.provider") };
	const struct value *provider = value_path(root, "tools.web.search.provider");
	struct str name;

	if (!provider || provider->kind != VALUE_STR)
		return;
	name = oc_trim(provider->s);
	for (size_t i = 0; i < sizeof(shipped) / sizeof(shipped[0]); i++)
		if (str_eq(name, str_z(shipped[i])))
			return;
	if (name.n == 0 || (!o->plugins_missing && !oc_is_plugin_named(o, name)))
		oc_bad(o, &t, provider, "search_provider",
		       "OpenClaw does not have it, accepted: 'gemini', 'grok', 'minimax', 'ollama', or the plugin in plugins");
}

void oc_check_cross(struct oc *o, const struct value *root)
{
	const struct trail top = { 0 }, agents = { .up = &top, .key = STR("agents") };

	if (!o->compat) {
		check_ssh(o, root, &agents);
		return;
	}
	check_envs(o, value_get(root, STR("agents")), &agents);
	check_references(o, root, &top);
	check_bindings(o, root, &top);
	check_broadcast(o, root, &top);
	check_dirs(o, root, &agents);
	check_avatars(o, root, &agents);
	check_models(o, root, &agents);
	check_search(o, root, &top);
}
