/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What objects of openclaw.json must have beyond the right keys, in the parts that creel does not read: a file with a
 * wrong one is refused by upstream, and so under compat. Each gets an object whose keys and types are right.
 */
#include "config/openclaw_shape_priv.h"

#include "base/utf8.h"

static struct str text_of(const struct value *v, const char *key)
{
	const struct value *text = value_get(v, str_z(key));

	return text && text->kind == VALUE_STR ? text->s : (struct str){ 0 };
}

static bool says(const struct value *v, const char *key, const char *word)
{
	return str_eq(text_of(v, key), str_z(word));
}

/* agents.*.models: what is said about one model cannot be said about many. */
void oc_check_models(struct oc *o, const struct value *v, const struct trail *t)
{
	for (size_t i = 0; i < v->obj.n; i++) {
		const struct member *m = &v->obj.m[i];
		const struct trail down = { .up = t, .key = m->key };
		bool exact = oc_is_model(m->key) && !memchr(m->key.p, '*', m->key.n);

		if (!exact && (value_get(&m->v, STR("pickerRuntimes")) || value_get(&m->v, STR("codeMode"))))
			oc_bad(o, &down, &m->v, "model",
			       "pickerRuntimes and codeMode are about one model, accepted: below a key like provider/model");
	}
}

static bool is_qualified(struct str peer)
{
	struct str channel, id;

	if (!str_cut(peer, ':', &channel, &id) || channel.n == 0 || id.n == 0 || id.p[0] == '\n')
		return false;
	for (size_t i = 0; i < channel.n; i++) {
		char c = channel.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '_' || c == '-')))
			return false;
	}
	return true;
}

void oc_check_broadcast(struct oc *o, const struct value *v, const struct trail *t)
{
	for (size_t i = 0; i < v->obj.n; i++) {
		const struct member *m = &v->obj.m[i];
		const struct trail down = { .up = t, .key = m->key };

		if (m->v.kind == VALUE_OBJ && !is_qualified(m->key))
			oc_bad(o, &down, &m->v, "broadcast",
			       "options of a group, accepted: below a key like channel:peer");
		if (m->v.kind == VALUE_ARR && is_qualified(m->key) && m->v.arr.n > 16)
			oc_bad(o, &down, &m->v, "broadcast", "accepted: at most 16 agents");
	}
}

void oc_check_browser(struct oc *o, const struct value *v, const struct trail *t)
{
	bool existing = says(v, "driver", "existing-session"), extension = says(v, "driver", "extension");
	bool url = text_of(v, "cdpUrl").n > 0;

	if (!existing && !extension && !url && !value_get(v, STR("cdpPort")))
		oc_bad(o, t, v, "browser_profile", "accepted: a profile with cdpPort or cdpUrl");
	if (!existing && text_of(v, "userDataDir").n > 0)
		oc_bad(o, t, v, "browser_profile", "userDataDir needs the driver 'existing-session'");
	if (extension && url)
		oc_bad(o, t, v, "browser_profile", "the driver 'extension' has no cdpUrl");
}

void oc_check_edge(struct oc *o, const struct value *v, const struct trail *t)
{
	static const char *const own[] = { "host",
					   "connection",
					   "upgrade",
					   "content-length",
					   "sec-websocket-key",
					   "sec-websocket-version",
					   "sec-websocket-protocol",
					   "sec-websocket-extensions" };

	if (v->obj.n == 0)
		oc_bad(o, t, v, "header", "accepted: one header or more");
	for (size_t i = 0; i < v->obj.n; i++) {
		const struct trail down = { .up = t, .key = v->obj.m[i].key };
		struct str name = v->obj.m[i].key;
		bool ok = true;

		for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
			ok = ok && !str_eq_nocase(name, str_z(own[k]));
		for (size_t k = 0; k < i; k++)
			ok = ok && !str_eq_nocase(name, v->obj.m[k].key);
		if (!ok)
			oc_bad(o, &down, &v->obj.m[i].v, "header",
			       "set twice, or set by the transport itself, accepted: another header");
	}
}

void oc_check_roles(struct oc *o, const struct value *v, const struct trail *t)
{
	const struct value *roles = value_get(v, STR("definitions"));
	struct str name = oc_trim(text_of(v, "default"));

	for (size_t i = 0; roles && i < roles->obj.n; i++)
		if (str_eq(oc_trim(roles->obj.m[i].key), name))
			return;
	oc_bad(o, t, v, "role", "default names no role, accepted: one of definitions");
}

static bool is_below(struct str domain, const struct value *origin)
{
	struct oc_url u;

	if (!origin || origin->kind != VALUE_STR || !oc_url_parse(origin->s, &u) || u.host.n < domain.n ||
	    !str_eq_nocase(str_from(u.host, u.host.n - domain.n), domain))
		return false;
	return u.host.n == domain.n || u.host.p[u.host.n - domain.n - 1] == '.';
}

/* A tunnel ends on this machine, and nobody comes in without a password. */
static void check_tunnel(struct oc *o, const struct value *v, const struct trail *t)
{
	const struct value *tunnel = value_get(v, STR("tailscale")), *auth = value_get(v, STR("auth"));
	struct str bind = text_of(v, "bind"), host = text_of(v, "customBindHost");
	bool local = bind.n == 0 || str_eq(bind, STR("loopback")) ||
		     (str_eq(bind, STR("custom")) && str_starts(host, STR("127.")));

	if (!says(tunnel, "mode", "serve") && !says(tunnel, "mode", "funnel"))
		return;
	if (!local)
		oc_bad(o, t, v, "gateway",
		       "tailscale needs a bind of this machine, accepted: bind 'loopback'");
	if (says(auth, "mode", "none"))
		oc_bad(o, t, v, "gateway", "tailscale cannot be used with auth.mode 'none'");
}

void oc_check_gateway(struct oc *o, const struct value *v, const struct trail *t)
{
	const struct value *ingress = value_path(v, "portals.ingress"), *port = value_get(v, STR("port")),
			   *origins = value_path(v, "controlUi.allowedOrigins");
	struct str domain = text_of(ingress, "domain");
	bool below;

	check_tunnel(o, v, t);
	if (!ingress)
		return;
	below = is_below(domain, value_get(v, STR("publicOrigin")));
	for (size_t i = 0; origins && i < origins->arr.n; i++)
		below = below || is_below(domain, &origins->arr.v[i]);
	if (below)
		oc_bad(o, t, ingress, "gateway",
		       "the portals' domain is the gateway's own, accepted: another one");
	if (value_get(ingress, STR("port"))->i == (port ? port->i : 18789))
		oc_bad(o, t, ingress, "gateway",
		       "the portals' port is the gateway's own, accepted: another one");
}

static void check_requester(struct oc *o, const struct value *v, const struct trail *t)
{
	const struct value *oauth = value_get(v, STR("oauth"));

	if (!says(oauth, "identity", "per-requester"))
		return;
	if (!says(v, "auth", "oauth") || value_get(oauth, STR("authProfileId")) ||
	    !value_get(v, STR("url")) || value_get(v, STR("command")) || says(v, "transport", "stdio"))
		oc_bad(o, t, v, "mcp",
		       "oauth.identity 'per-requester' needs auth 'oauth' and a url, and neither a command nor a profile");
}

void oc_check_mcp(struct oc *o, const struct value *v, const struct trail *t)
{
	static const char *const old[] = { "connectTimeout",
					   "connect_timeout",
					   "timeout",
					   "workingDirectory",
					   "supports_parallel_tool_calls",
					   "ssl_verify",
					   "client_cert",
					   "client_key",
					   "disabled" };

	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++)
		if (value_member(v, str_z(old[i])))
			oc_bad(o, t, v, "unknown_key", "'%s' is not accepted: it has another name", old[i]);
	check_requester(o, v, t);
	if (says(v, "transport", "stdio") && oc_trim(text_of(v, "command")).n == 0)
		oc_bad(o, t, v, "mcp", "transport 'stdio' needs a command");
}

/* clang-format off */
static const char *const bundled_providers[] = {
	"amazon-bedrock", "amazon-bedrock-mantle", "anthropic", "anthropic-vertex", "arcee", "azure-openai-responses",
	"byteplus", "byteplus-plan", "cerebras", "chutes", "claude-cli", "clawrouter", "cloudflare-ai-gateway", "codex",
	"comfy", "copilot-proxy", "dashscope", "deepinfra", "deepseek", "fal", "fireworks", "github-copilot", "gmi",
	"gmi-cloud", "gmicloud", "google", "google-antigravity", "google-gemini-cli", "google-vertex", "groq",
	"huggingface", "kilocode", "kimi", "kimi-coding", "litellm", "lmstudio", "meta", "microsoft-foundry", "minimax",
	"minimax-portal", "mistral", "modelstudio", "moonshot", "moonshot-ai", "moonshotai", "nvidia", "novita",
	"novita-ai", "novitaai", "ollama", "ollama-cloud", "openai", "opencode", "opencode-go", "openrouter", "qianfan",
	"qwen", "qwen-token-plan", "qwencloud", "sglang", "stepfun", "stepfun-plan", "synthetic", "tencent-tokenhub",
	"tencent-tokenplan", "together", "venice", "vercel-ai-gateway", "vllm", "volcengine", "volcengine-plan", "vydra",
	"x-ai", "xai", "xiaomi", "xiaomi-token-plan", "z.ai", "z-ai", "zai",
};
/* clang-format on */

static bool is_bundled(struct oc *o, struct str id)
{
	struct str name = utf8_lower(o->l->a, oc_trim(id));

	for (size_t i = 0; i < sizeof(bundled_providers) / sizeof(bundled_providers[0]); i++)
		if (str_eq(name, str_z(bundled_providers[i])))
			return true;
	return false;
}

void oc_check_providers(struct oc *o, const struct value *v, const struct trail *t)
{
	for (size_t i = 0; i < v->obj.n; i++) {
		const struct member *m = &v->obj.m[i];
		const struct trail down = { .up = t, .key = m->key };

		if (!is_bundled(o, m->key) &&
		    (text_of(&m->v, "baseUrl").n == 0 || !value_get(&m->v, STR("models"))))
			oc_bad(o, &down, &m->v, "model_provider",
			       "a provider that OpenClaw does not bring along, accepted: one with baseUrl and models");
	}
}

static void check_provider(struct oc *o, const struct value *v, const struct trail *t)
{
	const struct value *providers = value_get(v, STR("providers"));
	struct str name = utf8_lower(o->l->a, oc_trim(text_of(v, "provider")));

	if (!providers || providers->obj.n == 0)
		return;
	if (name.n > 0 ? !value_member(providers, name) : providers->obj.n > 1)
		oc_bad(o, t, v, "talk", "provider is none of providers, accepted: one of them");
}

void oc_check_talk(struct oc *o, const struct value *v, const struct trail *t)
{
	const struct trail down = { .up = t, .key = STR("realtime") };
	const struct value *realtime = value_get(v, STR("realtime"));

	check_provider(o, v, t);
	if (realtime)
		check_provider(o, realtime, &down);
}

void oc_check_hooks(struct oc *o, const struct value *v, const struct trail *t)
{
	const struct trail up = { .up = t, .key = STR("mappings") };
	const struct value *mappings = value_get(v, STR("mappings"));
	bool has_default = oc_trim(text_of(v, "defaultSessionKey")).n > 0;

	for (size_t i = 0; mappings && i < mappings->arr.n; i++) {
		const struct trail down = { .up = &up, .index = i };
		const struct value *m = &mappings->arr.v[i];

		if (!has_default && !says(m, "action", "wake") && says(m, "sessionMode", "persistent") &&
		    oc_trim(text_of(m, "sessionKey")).n == 0 && !value_get(m, STR("transform")))
			oc_bad(o, &down, m, "hook",
			       "a session that stays needs a key, accepted: with sessionKey or a transform");
	}
}
