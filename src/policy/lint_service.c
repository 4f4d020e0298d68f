/* SPDX-License-Identifier: Apache-2.0 */
/* S4's provider, its per-tool modes, and the addresses that something listens on. */
#include "policy/lint.h"

#include "policy/posture.h"

static bool is_s4_tool(struct str tool)
{
	return str_eq(tool, STR("exec")) || str_eq(tool, STR("code_exec")) || str_eq(tool, STR("browser"));
}

static struct str per_key(struct lint *l, const struct tool_setting *t)
{
	return arena_printf(l->a, "tools.per." STR_FMT, STR_ARG(t->tool));
}

static void check_require(struct lint *l, const struct tool_setting *t)
{
	if (t->enforce != ENFORCE_REQUIRE || !(l->c->formats & 1u << FORMAT_OPENCLAW_NET) ||
	    l->c->base.osb_provider != PROVIDER_NONE || l->c->base.when == WHEN_ALL)
		return;
	diag_add(l->d, SEVERITY_WARN, "require_without_provider", &t->origin, per_key(l, t),
		 "Require contradicts provider None: with OpenClaw.NET's file alone the tool runs locally");
	diag_fix(l->d, "mode.when: \"all\", for the native sandbox on this host, or remove Require");
}

static void check_prefer(struct lint *l, const struct tool_setting *t)
{
	enum option door;
	struct str address = public_address(&l->c->base, &door);

	if (t->enforce != ENFORCE_PREFER || !address.n ||
	    (t->origin.kind == ORIGIN_PROFILE && l->c->base.osb_provider == PROVIDER_NONE))
		return;
	diag_add(l->d, SEVERITY_WARN, "prefer_public_bind", &t->origin, per_key(l, t),
		 "Prefer may fall back to the host, which is unsafe while '" STR_FMT
		 "' can be reached from outside",
		 STR_ARG(shown(&l->c->base, door, address)));
	diag_fix(l->d, "enforce: \"require\", or listen on 127.0.0.1");
}

static void check_tool(struct lint *l, const struct tool_setting *t)
{
	if (!tool_find(t->tool)) {
		diag_add(l->d, SEVERITY_WARN, "per_tool_unknown", &t->origin, per_key(l, t), "no such tool");
		diag_fix(l->d, "shell, code_exec, browser, or another tool of `creel explain --matrix`");
	} else if (!is_s4_tool(t->tool) && l->c->formats == 1u << FORMAT_OPENCLAW_NET) {
		diag_add(l->d, SEVERITY_WARN, "per_tool_ignored", &t->origin, per_key(l, t),
			 "OpenClaw.NET sandboxes shell, code_exec and browser only");
		diag_fix(l->d, "remove it");
	}
}

static void check_template(struct lint *l, const struct tool_setting *t)
{
	if (l->c->base.osb_provider != PROVIDER_OPENSANDBOX || !is_s4_tool(t->tool) || t->template.n ||
	    (t->has_enforce && t->enforce == ENFORCE_OFF))
		return;
	diag_add(l->d, SEVERITY_WARN, "template_missing", &t->origin, per_key(l, t),
		 "no template: the lease is made from backend.image");
	diag_fix(l->d, "template: \"alpine:3.20\", or the image that the tool needs");
}

static void check_provider(struct lint *l)
{
	const struct settings *s = &l->c->base;

	if (s->osb_provider != PROVIDER_OPENSANDBOX)
		return;
	if (!l->f->opensandbox_built) {
		diag_add(l->d, SEVERITY_ERROR, "backend_not_built", &s->origin[OPT_OSB_PROVIDER],
			 STR("backend.opensandbox.provider"), "OpenSandbox is not part of this build");
		diag_fix(
			l->d,
			"provider: \"None\" with mode.when: \"all\", for the native sandbox on this host; no build of this version has the client (-Dopensandbox=true)");
	}
	if (str_trim(s->osb_endpoint).n == 0) {
		diag_add(l->d, SEVERITY_WARN, "endpoint_missing", &s->origin[OPT_OSB_PROVIDER],
			 STR("backend.opensandbox.endpoint"), "provider OpenSandbox has no endpoint");
		diag_fix(l->d, "backend.opensandbox.endpoint: \"http://localhost:5000\"");
	}
}

static bool is_backend_word(struct str word)
{
	static const char *const known[] = { "native", "docker", "podman", "opensandbox" };

	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
		if (str_eq_nocase(word, str_z(known[k])))
			return true;
	return false;
}

void lint_backend(struct lint *l, const struct lint_view *v)
{
	struct str word = str_trim(v->own->backend_name);

	if (!v->own->has[OPT_BACKEND_NAME] || word.n == 0 || is_backend_word(word))
		return;
	diag_add(l->d, SEVERITY_ERROR, "unknown_backend", &v->own->origin[OPT_BACKEND_NAME],
		 lint_key(l, v, "backend.name"), "'" STR_FMT "' is not a backend",
		 STR_ARG(shown(v->own, OPT_BACKEND_NAME, word)));
	diag_fix(l->d, "native, docker, podman or opensandbox");
}

static void check_order(struct lint *l)
{
	const struct settings *s = &l->c->base;

	for (size_t i = 0; i < s->backend_order.n; i++) {
		struct str word = str_trim(s->backend_order.v[i]);

		if (is_backend_word(word))
			continue;
		diag_add(l->d, SEVERITY_ERROR, "unknown_backend", &s->origin[OPT_BACKEND_ORDER],
			 STR("backend.order"), "'" STR_FMT "' is not a backend",
			 STR_ARG(shown(s, OPT_BACKEND_ORDER, word)));
		diag_fix(l->d, "native, docker, podman or opensandbox");
	}
}

void lint_per_tool(struct lint *l)
{
	check_provider(l);
	check_order(l);
	for (size_t i = 0; i < l->c->n_per_tool; i++) {
		const struct tool_setting *t = &l->c->per_tool[i];

		check_tool(l, t);
		check_template(l, t);
		if (!t->has_enforce)
			continue;
		check_require(l, t);
		check_prefer(l, t);
	}
}

static bool has_raw_secret(const struct config *c, const struct origin **ret)
{
	if (c->base.osb_api_key.kind == REF_RAW) {
		*ret = &c->base.origin[OPT_OSB_API_KEY];
		return true;
	}
	for (size_t i = 0; i < c->n_tokens; i++)
		if (c->tokens[i].ref.kind == REF_RAW) {
			*ret = &c->tokens[i].origin;
			return true;
		}
	return false;
}

/* Some session's shell is not sandboxed by anything. */
static bool runs_locally(const struct config *c)
{
	if (c->base.when == WHEN_ALL || c->base.trust_default != TRUST_NONE)
		return false;
	for (size_t i = 0; i < c->n_per_tool; i++)
		if (str_eq(c->per_tool[i].tool, STR("exec")) && c->per_tool[i].has_enforce)
			return c->per_tool[i].enforce == ENFORCE_OFF ||
			       (c->base.osb_provider == PROVIDER_NONE &&
				(c->per_tool[i].enforce == ENFORCE_PREFER ||
				 c->formats == 1u << FORMAT_OPENCLAW_NET));
	return true;
}

/* The guard may stand in the open, but only behind TLS. */
static void check_tls(struct lint *l)
{
	const struct settings *s = &l->c->base;
	bool cert = s->serve_tls_cert.n > 0, key = s->serve_tls_key.n > 0;

	if (cert != key) {
		diag_add(l->d, SEVERITY_ERROR, "tls_incomplete",
			 &s->origin[cert ? OPT_SERVE_TLS_CERT : OPT_SERVE_TLS_KEY], STR("serve.tls"),
			 "there is a %s without its %s", cert ? "certificate" : "key",
			 cert ? "key" : "certificate");
		diag_fix(l->d, "set both serve.tls.cert and serve.tls.key, or neither");
	}
	if (!cert && !key && address_is_public(s->serve_guard)) {
		diag_add(l->d, SEVERITY_ERROR, "public_without_tls", &s->origin[OPT_SERVE_GUARD],
			 STR("serve.guard"), "'" STR_FMT "' can be reached from outside, and that takes TLS",
			 STR_ARG(shown(s, OPT_SERVE_GUARD, s->serve_guard)));
		diag_fix(l->d,
			 "set serve.tls.cert and serve.tls.key, or listen on 127.0.0.1:18888 or unix:PATH");
	}
}

/* S4-46, S4-47: what is only told of elsewhere is refused when strangers can connect to the guard. */
const struct diag *serve_refusal(const struct config *c, const struct diags *found)
{
	static const struct {
		const char *code;
		bool only_public, only_errors;
	} rows[] = {
		{ "tls_incomplete", false, false },    { "public_without_tls", false, false },
		{ "prefer_public_bind", true, false }, { "raw_secret_public", true, true },
		{ "local_shell_public", true, false },
	};
	bool is_public = address_is_public(c->base.serve_guard);

	for (size_t i = 0; i < found->n; i++)
		for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
			if (strcmp(found->v[i].code, rows[k].code) == 0 &&
			    (is_public || !rows[k].only_public) &&
			    (!rows[k].only_errors || found->v[i].severity == SEVERITY_ERROR))
				return &found->v[i];
	return NULL;
}

bool serve_is_public(const struct config *c)
{
	return address_is_public(c->base.serve_guard);
}

void lint_doors(struct lint *l)
{
	const struct settings *s = &l->c->base;
	const struct origin *o;
	enum option door;
	struct str address = public_address(s, &door);

	check_tls(l);
	if (!address.n)
		return;
	if (door != OPT_SERVE_BIND && door != OPT_SERVE_GUARD) {
		diag_add(l->d, SEVERITY_WARN, "public_address", &s->origin[door], STR("serve"),
			 "'" STR_FMT "' can be reached from outside", STR_ARG(shown(s, door, address)));
		diag_fix(l->d, "127.0.0.1 or unix:, with a proxy in front that authenticates");
	}
	if (has_raw_secret(l->c, &o)) {
		diag_add(l->d, s->serve_raw ? SEVERITY_WARN : SEVERITY_ERROR, "raw_secret_public", o,
			 STR("raw:"), "a raw: secret while '" STR_FMT "' can be reached from outside",
			 STR_ARG(shown(s, door, address)));
		diag_fix(l->d, "env:NAME");
	}

	if (!s->serve_unsafe && runs_locally(l->c)) {
		diag_add(l->d, SEVERITY_WARN, "local_shell_public", &s->origin[door], STR("mode.when"),
			 "commands would run on the host while '" STR_FMT
			 "' can be reached from outside: they are refused",
			 STR_ARG(shown(s, door, address)));
		diag_fix(l->d,
			 "tools.per.shell.enforce: \"require\", mode.when: \"all\", or listen on 127.0.0.1");
	}
	if (s->serve_unsafe) {
		diag_add(l->d, SEVERITY_WARN, "unsafe_public_bind", &s->origin[OPT_SERVE_UNSAFE],
			 STR("serve.allowUnsafeToolingOnPublicBind"),
			 "commands on the host are allowed on a public bind");
		diag_fix(l->d, "remove it and sandbox the shell: tools.per.shell.enforce: \"require\"");
	}
}
