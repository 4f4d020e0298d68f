/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision record as JSON. Names and order of the members are an interface: programs and the audit log read it.
 * Of the environment only names and states are written.
 */
#include "policy/explain_priv.h"

static void put_origin(struct jsonw *w, const char *key, const struct origin *o)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, 8192);
	origin_put(&text, o);
	jsonw_kstr(w, key, buf_str(&text));
}

static void put_strs(struct jsonw *w, const char *key, struct strs list)
{
	jsonw_karr(w, key);
	for (size_t i = 0; i < list.n; i++)
		jsonw_str(w, list.v[i]);
	jsonw_arr_end(w);
}

static void put_caps(struct jsonw *w, const char *key, unsigned caps)
{
	jsonw_karr(w, key);
	for (const struct enum_name *n = cap_names; n->name; n++)
		if (caps & CAP_BIT(n->value))
			jsonw_str(w, str_z(n->name));
	jsonw_arr_end(w);
}

static void put_opt(struct jsonw *w, const char *key, struct str s)
{
	if (s.n)
		jsonw_kstr(w, key, s);
	else
		jsonw_knull(w, key);
}

static void put_identity(struct jsonw *w, const struct decision *d)
{
	jsonw_kobj(w, "identity");
	jsonw_kstr(w, "agent", d->who.agent);
	jsonw_kstr(w, "session_key", d->who.session_key);
	jsonw_kstr(w, "main_session_key", d->who.main_session_key);
	jsonw_kbool(w, "is_main", d->who.is_main);
	jsonw_kbool(w, "is_subagent", d->who.is_subagent);
	put_opt(w, "channel", d->who.channel);
	put_opt(w, "chat_id", d->who.chat_id);
	put_opt(w, "user_id", d->who.user_id);
	put_opt(w, "session_id", d->who.session_id);
	jsonw_kz(w, "via", enum_name(via_names, (int)d->who.via));
	jsonw_obj_end(w);
}

static void put_mode(struct jsonw *w, const struct decision *d)
{
	jsonw_kobj(w, "mode");
	jsonw_kz(w, "trust", enum_name(trust_names, (int)d->mode.trust));
	jsonw_kz(w, "when", enum_name(when_names, (int)d->mode.when));
	jsonw_kz(w, "enforce", enum_name(enforce_names, (int)d->mode.enforce));
	jsonw_kbool(w, "sandboxed", d->mode.sandboxed);
	jsonw_kz(w, "place_min", enum_name(place_names, (int)d->mode.place_min));
	put_caps(w, "caps", d->mode.caps);
	put_opt(w, "pattern", d->mode.pattern);
	if (d->mode.rule)
		put_origin(w, "rule", &d->mode.rule->origin);
	jsonw_obj_end(w);
}

static void put_tool(struct jsonw *w, const struct decision *d)
{
	jsonw_kobj(w, "tool");
	put_opt(w, "name", d->tool.name);
	put_opt(w, "asked", d->tool.asked);
	put_caps(w, "needs", d->tool.needs);
	jsonw_kbool(w, "gateway_side", d->tool.gateway_side);
	put_strs(w, "argv", d->tool.argv);
	jsonw_kbool(w, "shell", d->tool.shell);
	jsonw_obj_end(w);
}

static void put_backend(struct jsonw *w, const struct decision *d)
{
	jsonw_kobj(w, "backend");
	jsonw_kz(w, "name", enum_name(backend_names, (int)d->place.backend));
	jsonw_kz(w, "place", enum_name(place_names, (int)d->place.place));
	jsonw_kbool(w, "available", d->place.available);
	jsonw_kz(w, "lifetime", enum_name(scope_names, (int)d->place.scope));
	put_opt(w, "key", d->place.key);
	put_opt(w, "image", explain_value(d, OPT_IMAGE, d->place.image));
	jsonw_ku64(w, "ttl_s", d->place.ttl_s);
	jsonw_kbool(w, "may_fall_back", d->place.may_fall_back);
	jsonw_kz(w, "provider", enum_name(provider_names, d->eff.osb_provider));
	jsonw_kobj(w, "elevated");
	jsonw_kbool(w, "requested", d->place.elevated.requested);
	jsonw_kbool(w, "enabled", d->place.elevated.enabled);
	jsonw_kbool(w, "allowed", d->place.elevated.allowed);
	jsonw_obj_end(w);
	jsonw_obj_end(w);
}

static void put_network(struct jsonw *w, const struct decision *d)
{
	jsonw_kobj(w, "network");
	jsonw_kz(w, "route", enum_name(route_names, (int)d->net.route));
	jsonw_kstr(w, "network", explain_network(d));
	if (d->net.has_hosts)
		put_strs(w, "hosts", d->net.hosts);
	else
		jsonw_knull(w, "hosts");
	jsonw_kbool(w, "twin", d->net.twin);
	jsonw_obj_end(w);
}

static void put_mount(struct jsonw *w, const struct mount *m)
{
	jsonw_obj(w);
	jsonw_kz(w, "source", enum_name(mount_source_names, (int)m->source));
	put_opt(w, "host", explain_host(m));
	jsonw_kstr(w, "target", m->target);
	jsonw_kbool(w, "writable", m->writable);
	jsonw_kbool(w, "overlay", m->overlay);
	jsonw_kbool(w, "optional", m->optional);
	jsonw_kbool(w, "check_resolved", m->check_resolved);
	put_origin(w, "origin", &m->origin);
	jsonw_obj_end(w);
}

static void put_mounts(struct jsonw *w, const struct decision *d)
{
	jsonw_karr(w, "mounts");
	for (size_t i = 0; i < d->n_mounts; i++)
		put_mount(w, &d->mounts[i]);
	jsonw_arr_end(w);
	jsonw_kz(w, "workspace_access", explain_workspace(d));
	put_opt(w, "workdir", explain_value(d, OPT_WORKDIR, d->workdir));
}

static void put_env(struct jsonw *w, const struct decision *d)
{
	jsonw_kobj(w, "env");
	for (size_t i = 0; i < d->n_env; i++) {
		jsonw_key(w, d->env[i].name);
		jsonw_str(w, str_z(enum_name(env_state_names, (int)d->env[i].state)));
	}
	jsonw_obj_end(w);
}

static void put_limits(struct jsonw *w, const struct decision *d)
{
	jsonw_kobj(w, "limits");
	jsonw_ku64(w, "timeout_s", d->limits.timeout_s);
	jsonw_ku64(w, "stdout", d->limits.stdout_max);
	jsonw_ku64(w, "stderr", d->limits.stderr_max);
	jsonw_ku64(w, "output", d->limits.output);
	jsonw_ku64(w, "read", d->limits.read_bytes);
	jsonw_ku64(w, "read_max", d->limits.read_max);
	jsonw_ku64(w, "write_max", d->limits.write_max);
	jsonw_ku64(w, "pids", d->limits.pids);
	jsonw_ku64(w, "memory", d->limits.memory);
	jsonw_key(w, STR("cpus"));
	jsonw_num(w, d->limits.cpus);
	jsonw_ku64(w, "tmpfs", d->limits.tmpfs);
	jsonw_ku64(w, "disk", d->limits.disk);
	jsonw_ku64(w, "open_files", d->limits.open_files);
	jsonw_kbool(w, "run_setup", d->limits.run_setup);
	jsonw_karr(w, "optional_walls");
	for (const struct enum_name *n = wall_names; n->name; n++)
		if (d->optional_walls & 1u << n->value)
			jsonw_str(w, str_z(n->name));
	jsonw_arr_end(w);
	jsonw_obj_end(w);
}

static void put_reasons(struct jsonw *w, const struct decision *d)
{
	jsonw_karr(w, "reasons");
	for (size_t i = 0; i < d->n_reasons; i++) {
		const struct reason *r = &d->reasons[i];

		jsonw_obj(w);
		jsonw_kz(w, "stage", enum_name(stage_names, (int)r->stage));
		jsonw_kz(w, "what", r->what);
		jsonw_kstr(w, "value", r->value);
		jsonw_kstr(w, "reason", r->text);
		put_origin(w, "source", &r->origin);
		jsonw_obj_end(w);
	}
	jsonw_arr_end(w);
}

static void put_warnings(struct jsonw *w, const struct decision *d)
{
	jsonw_karr(w, "warnings");
	for (size_t i = 0; i < d->n_warnings; i++) {
		jsonw_obj(w);
		jsonw_kz(w, "code", d->warnings[i].code);
		put_opt(w, "key", d->warnings[i].key);
		jsonw_kstr(w, "message", d->warnings[i].text);
		put_origin(w, "source", &d->warnings[i].origin);
		jsonw_obj_end(w);
	}
	jsonw_arr_end(w);
}

/* "native,docker" as a list; "none" as an empty one. */
static void put_assumed(struct jsonw *w, const struct explain_opts *o)
{
	struct str rest = str_eq(o->assumed, STR("none")) ? STR("") : o->assumed, word;

	jsonw_kobj(w, "assumed");
	jsonw_karr(w, "backends");
	while (rest.n) {
		if (!str_cut(rest, ',', &word, &rest)) {
			word = rest;
			rest = (struct str){ 0 };
		}
		jsonw_str(w, word);
	}
	jsonw_arr_end(w);
	jsonw_kbool(w, "token", o->assumed_token);
	jsonw_obj_end(w);
}

/* What was not reached was not decided: the member is there and null, so that nobody reads a zero as an answer. */
static void put_stages(struct jsonw *w, const struct decision *d)
{
	static const struct {
		const char *key;
		void (*put)(struct jsonw *, const struct decision *);
	} part[] = {
		[STAGE_IDENTITY] = { "identity", put_identity },
		[STAGE_MODE] = { "mode", put_mode },
		[STAGE_TOOL] = { "tool", put_tool },
		[STAGE_PLACEMENT] = { "backend", put_backend },
		[STAGE_NETWORK] = { "network", put_network },
		[STAGE_MOUNTS] = { "mounts", put_mounts },
		[STAGE_ENV] = { "env", put_env },
		[STAGE_LIMITS] = { "limits", put_limits },
	};

	for (enum stage s = STAGE_IDENTITY; s < STAGE_COUNT_; s++) {
		if (explain_reached(d, s))
			part[s].put(w, d);
		else
			jsonw_knull(w, part[s].key);
	}
}

void explain_json(const struct decision *d, const struct explain_opts *o, struct jsonw *w)
{
	jsonw_obj(w);
	put_opt(w, "request_id", d->request_id);
	put_stages(w, d);
	jsonw_kz(w, "verdict", enum_name(verdict_names, (int)d->verdict));
	jsonw_kz(w, "code", code_word(d->code));
	if (d->verdict != VERDICT_ALLOW) {
		jsonw_kstr(w, "message", d->message);
		jsonw_kz(w, "stopped_at", enum_name(stage_names, (int)d->stopped_at));
	}
	put_reasons(w, d);
	put_warnings(w, d);
	put_strs(w, "fixIt", d->fix_it);
	if (o->assumed.n)
		put_assumed(w, o);
	jsonw_obj_end(w);
}
