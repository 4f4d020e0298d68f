/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision in the shape of OpenClaw's `sandbox explain`, so that its users and scripts can compare: the same
 * members in the same order, the same names of keys. What OpenClaw has no word for is not shown here.
 */
#include "policy/explain_priv.h"
#include "policy/path.h"

#define DOCS_URL "https://docs.openclaw.ai/sandbox"
#define SCRATCH_MAX ((size_t)1 << 20)

/* The answers that both forms print. */
struct view {
	const struct decision *d;
	struct arena *a;
	struct str backend, root, effective_root, workdir;
	const char *source; /* of the workspace */
	bool shows_mounts, has_workdir;
};

static struct str backend_of(const struct decision *d)
{
	if (d->place.backend_name.n)
		return d->place.backend_name;
	return str_z(enum_name(backend_names, (int)d->place.backend));
}

/* Upstream prints the root as configured, unless it begins with the home directory's sign. */
static struct str root_of(const struct request *r, const struct decision *d, struct arena *a)
{
	struct str trimmed = str_trim(d->eff.ws_root);

	if (str_eq(trimmed, STR("~")) || str_starts(trimmed, STR("~/")))
		return path_expand(a, &r->facts, trimmed);
	return d->eff.ws_root;
}

static bool is_backend(struct str name, const char *word)
{
	return str_eq_nocase(str_trim(name), str_z(word));
}

static struct view view_of(const struct request *r, const struct decision *d, struct arena *a)
{
	bool sandboxed = d->mode.sandboxed;
	struct view v = { .d = d, .a = a, .backend = backend_of(d), .root = root_of(r, d, a) };

	v.effective_root = sandboxed ? d->workspace : d->agent_workspace;
	v.workdir = sandboxed ? d->workdir : d->agent_workspace;
	v.source = !sandboxed ? "direct" : d->eff.ws_access == ACCESS_RW ? "agent" : "sandbox";
	v.shows_mounts =
		sandboxed && (is_backend(v.backend, "docker") || is_backend(v.backend, "podman") ||
			      (is_backend(v.backend, "native") && d->eff.compat != COMPAT_OPENCLAW_2026_9));
	v.has_workdir = !sandboxed || v.shows_mounts || is_backend(v.backend, "ssh");
	return v;
}

static const char *const list_sources[] = {
	[LIST_DEFAULT] = "default",
	[LIST_GLOBAL] = "global",
	[LIST_AGENT] = "agent",
};

static struct str list_key(struct arena *a, const struct tool_list *l)
{
	return arena_printf(a, "%stools.sandbox.tools.%s", l->source == LIST_AGENT ? "agents.entries.*." : "",
			    l->field ? l->field : "allow");
}

/* The keys to look at, most likely one first. */
static size_t fix_keys(const struct view *v, struct str out[static 16])
{
	static const char *const keys[] = {
		"agents.defaults.sandbox.mode=off", /* these two only where a mode is on */
		"agents.entries.*.sandbox.mode=off",
		"tools.sandbox.tools.allow",
		"tools.sandbox.tools.alsoAllow",
		"tools.sandbox.tools.deny",
		"agents.entries.*.tools.sandbox.tools.allow",
		"agents.entries.*.tools.sandbox.tools.alsoAllow",
		"agents.entries.*.tools.sandbox.tools.deny",
		"tools.elevated.enabled",
	};
	const struct elevated *e = &v->d->place.elevated;
	size_t n = 0;

	for (size_t i = v->d->mode.when == WHEN_OFF ? 2 : 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		out[n++] = str_z(keys[i]);
	if (e->channel.n)
		out[n++] =
			arena_printf(v->a, "tools.elevated.allowFrom.%.*s", (int)e->channel.n, e->channel.p);
	return n;
}

/* ---- JSON ---- */

static void put_strs(struct jsonw *w, const char *key, struct strs list)
{
	jsonw_karr(w, key);
	for (size_t i = 0; i < list.n; i++)
		jsonw_str(w, list.v[i]);
	jsonw_arr_end(w);
}

static void put_source(struct jsonw *w, const struct view *v, const char *key, const struct tool_list *l)
{
	jsonw_kobj(w, key);
	jsonw_kz(w, "source", list_sources[l->source]);
	jsonw_kstr(w, "key", list_key(v->a, l));
	jsonw_obj_end(w);
}

static void put_tools(struct jsonw *w, const struct view *v)
{
	const struct decision *d = v->d;

	jsonw_kobj(w, "tools");
	put_strs(w, "allow", d->tool.sbx_allow.names);
	put_strs(w, "deny", d->tool.sbx_deny.names);
	jsonw_kobj(w, "sources");
	put_source(w, v, "allow", &d->tool.sbx_allow);
	put_source(w, v, "deny", &d->tool.sbx_deny);
	jsonw_obj_end(w);
	jsonw_obj_end(w);
}

static void put_mounts(struct jsonw *w, const struct view *v)
{
	jsonw_karr(w, "workspaceMounts");
	for (size_t i = 0; i < v->d->n_mounts && v->shows_mounts; i++) {
		const struct mount *m = &v->d->mounts[i];

		if (m->source > MOUNT_BIND)
			continue;
		jsonw_obj(w);
		jsonw_kstr(w, "hostRoot", m->host);
		jsonw_kstr(w, "containerRoot", m->target);
		jsonw_kbool(w, "writable", m->writable);
		jsonw_kz(w, "source", enum_name(mount_source_names, (int)m->source));
		jsonw_obj_end(w);
	}
	jsonw_arr_end(w);
}

static void put_sandbox(struct jsonw *w, const struct view *v)
{
	const struct decision *d = v->d;

	jsonw_kobj(w, "sandbox");
	jsonw_kz(w, "mode", enum_name(when_names, (int)d->mode.when));
	jsonw_kz(w, "scope", enum_name(scope_names, (int)d->place.scope));
	jsonw_kstr(w, "backend", v->backend);
	jsonw_kz(w, "workspaceAccess", enum_name(access_names, d->eff.ws_access));
	jsonw_kstr(w, "workspaceRoot", v->root);
	jsonw_kstr(w, "effectiveHostWorkspaceRoot", v->effective_root);
	if (v->has_workdir)
		jsonw_kstr(w, "runtimeWorkdir", v->workdir);
	put_mounts(w, v);
	jsonw_kz(w, "workspaceSource", v->source);
	jsonw_kbool(w, "sessionIsSandboxed", d->mode.sandboxed);
	put_tools(w, v);
	jsonw_obj_end(w);
}

static void put_elevated(struct jsonw *w, const struct elevated *e)
{
	jsonw_kobj(w, "elevated");
	jsonw_kbool(w, "enabled", e->enabled);
	if (e->channel.n)
		jsonw_kstr(w, "channel", e->channel);
	jsonw_kbool(w, "allowedByConfig", e->allowed);
	jsonw_kbool(w, "alwaysAllowedByConfig", e->always);
	jsonw_kobj(w, "allowFrom");
	if (e->has_global)
		put_strs(w, "global", e->global_from);
	if (e->has_agent)
		put_strs(w, "agent", e->agent_from);
	jsonw_obj_end(w);
	jsonw_karr(w, "failures");
	for (size_t i = 0; i < e->n_failures; i++) {
		jsonw_obj(w);
		jsonw_kz(w, "gate", e->failures[i].gate);
		jsonw_kstr(w, "key", e->failures[i].key);
		jsonw_obj_end(w);
	}
	jsonw_arr_end(w);
	jsonw_obj_end(w);
}

void explain_openclaw(const struct config *c, const struct request *r, const struct decision *d,
		      struct jsonw *w)
{
	_cleanup_arena_ struct arena scratch = { 0 };
	struct str fix[16];
	struct view v;
	size_t n;

	(void)c;
	arena_init(&scratch, SCRATCH_MAX);
	v = view_of(r, d, &scratch);
	n = fix_keys(&v, fix);

	jsonw_obj(w);
	jsonw_kz(w, "docsUrl", DOCS_URL);
	jsonw_kstr(w, "agentId", d->who.agent);
	jsonw_kstr(w, "sessionKey", d->who.session_key);
	jsonw_kstr(w, "mainSessionKey", d->who.main_session_key);
	put_sandbox(w, &v);
	put_elevated(w, &d->place.elevated);
	put_strs(w, "fixIt", (struct strs){ .v = fix, .n = n });
	jsonw_obj_end(w);
	w->out->failed |= scratch.failed;
}

/* ---- text ---- */

static void line(struct buf *out, const char *key, struct str value)
{
	buf_printf(out, "  %s: ", key);
	buf_put_visible(out, value);
	buf_putc(out, '\n');
}

static void put_effective(struct buf *out, const struct view *v)
{
	const struct decision *d = v->d;

	buf_puts(out, "Effective sandbox:\n");
	line(out, "agentId", d->who.agent);
	line(out, "sessionKey", d->who.session_key);
	line(out, "mainSessionKey", d->who.main_session_key);
	buf_printf(out, "  runtime: %s\n", d->mode.sandboxed ? "sandboxed" : "direct");
	buf_printf(out, "  mode: %s scope: %s\n", enum_name(when_names, (int)d->mode.when),
		   enum_name(scope_names, (int)d->place.scope));
	buf_printf(out, "  workspaceAccess: %s workspaceRoot: ", enum_name(access_names, d->eff.ws_access));
	buf_put_visible(out, v->root);
	buf_putc(out, '\n');
	line(out, "effectiveHostWorkspaceRoot", v->effective_root);
	buf_puts(out, "  backend: ");
	buf_put_visible(out, v->backend);
	buf_puts(out, " runtimeWorkdir: ");
	buf_put_visible(out, v->has_workdir ? v->workdir : STR("(unknown)"));
	buf_printf(out, " workspaceSource: %s\n", v->source);
}

static void put_mount_lines(struct buf *out, const struct view *v)
{
	bool any = false;

	for (size_t i = 0; i < v->d->n_mounts && v->shows_mounts; i++) {
		const struct mount *m = &v->d->mounts[i];

		if (m->source > MOUNT_BIND)
			continue;
		if (!any)
			buf_puts(out, "  workspaceMounts:\n");
		any = true;
		buf_puts(out, "    - ");
		buf_put_visible(out, m->host);
		buf_puts(out, " -> ");
		buf_put_visible(out, m->target);
		buf_printf(out, " %s (%s)\n", m->writable ? "rw" : "ro",
			   enum_name(mount_source_names, (int)m->source));
	}
}

static void put_list(struct buf *out, const char *key, const struct tool_list *l)
{
	buf_printf(out, "  %-5s (%s): ", key, list_sources[l->source]);
	if (l->names.n == 0)
		buf_puts(out, "(empty)");
	explain_list(out, l->names, ", ");
	buf_putc(out, '\n');
}

static void put_elevated_lines(struct buf *out, const struct elevated *e)
{
	buf_printf(out, "\nElevated:\n  enabled: %s\n", e->enabled ? "true" : "false");
	line(out, "channel", e->channel.n ? e->channel : STR("(unknown)"));
	buf_printf(out, "  allowedByConfig: %s\n", e->allowed ? "true" : "false");
	if (e->n_failures == 0)
		return;
	buf_puts(out, "  failing gates: ");
	for (size_t i = 0; i < e->n_failures; i++) {
		buf_printf(out, "%s%s (", i ? ", " : "", e->failures[i].gate);
		buf_put_visible(out, e->failures[i].key);
		buf_putc(out, ')');
	}
	buf_putc(out, '\n');
}

void explain_openclaw_text(const struct config *c, const struct request *r, const struct decision *d,
			   struct buf *out)
{
	_cleanup_arena_ struct arena scratch = { 0 };
	struct str fix[16];
	struct view v;
	size_t n;

	(void)c;
	arena_init(&scratch, SCRATCH_MAX);
	v = view_of(r, d, &scratch);
	n = fix_keys(&v, fix);

	put_effective(out, &v);
	put_mount_lines(out, &v);
	buf_puts(out, "\nSandbox tool policy:\n");
	put_list(out, "allow", &d->tool.sbx_allow);
	put_list(out, "deny", &d->tool.sbx_deny);
	put_elevated_lines(out, &d->place.elevated);
	if (d->mode.when == WHEN_NON_MAIN && d->mode.sandboxed) {
		buf_puts(out, "\nHint: in non-main mode the main session runs on the host: ");
		buf_put_visible(out, d->who.main_session_key);
		buf_putc(out, '\n');
	}
	buf_puts(out, "\nFix-it:\n");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "  - %.*s\n", (int)fix[i].n, fix[i].p);
	buf_puts(out, "\nDocs: " DOCS_URL "\n");
	out->failed |= scratch.failed;
}
