/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two decisions say the same, member by member and by what texts say; else the first that differs. For tests and fuzz targets. */
#pragma once

#include "policy/policy_priv.h"

#include <assert.h>

static inline bool same_origin(const struct origin *a, const struct origin *b)
{
	return a->kind == b->kind && a->line == b->line && a->col == b->col && str_eq(a->name, b->name) &&
	       str_eq(a->raw, b->raw);
}

/* Entries of the configuration are copied as they are: the same bytes, in whichever list. */
static inline bool same_bytes(const void *a, size_t n, const void *b, size_t m, size_t item)
{
	return n == m && (n == 0 || memcmp(a, b, n * item) == 0);
}

#define SAME(expr)                       \
	do {                             \
		if (!(expr))             \
			return "" #expr; \
	} while (0)
#define SAME_VALUE(field) SAME(a->field == b->field)
#define SAME_TEXT(field) SAME(str_eq(a->field, b->field))
#define SAME_LIST(field) SAME(strs_eq(a->field, b->field))
#define SAME_ORIGIN(field) SAME(same_origin(&a->field, &b->field))

#define SETTING_BOOL(f) SAME_VALUE(f)
#define SETTING_U64(f) SAME_VALUE(f)
#define SETTING_SIZE(f) SAME_VALUE(f)
#define SETTING_ENUM(f) SAME_VALUE(f)
#define SETTING_NUM(f) SAME(memcmp(&a->f, &b->f, sizeof(a->f)) == 0)
#define SETTING_STR(f) SAME_TEXT(f)
#define SETTING_LIST(f) SAME_LIST(f)
#define SETTING_ITEMS(f) SAME(same_bytes(a->f.v, a->f.n, b->f.v, b->f.n, sizeof(*a->f.v)))
#define SETTING_MAP(f) SETTING_ITEMS(f)
#define SETTING_ENV(f) SETTING_ITEMS(f)
#define SETTING_BINDS(f) SETTING_ITEMS(f)
#define SETTING_LAYERS(f) SETTING_ITEMS(f)
#define SETTING_LISTMAP(f) SETTING_ITEMS(f)
#define SETTING_REF(f) SAME(memcmp(&a->f, &b->f, sizeof(a->f)) == 0)

static inline const char *differs_settings(const struct settings *a, const struct settings *b)
{
#define OPT(id, field, type, key, flags, def, min, max, names, help) \
	SETTING_##type(field);                                       \
	SAME_VALUE(has[OPT_##id]);                                   \
	SAME_ORIGIN(origin[OPT_##id]);
#include "model/options.def"
#undef OPT
	return NULL;
}

static inline const char *differs_who(const struct decision *a, const struct decision *b)
{
	SAME_TEXT(who.agent);
	SAME_TEXT(who.session_key);
	SAME_TEXT(who.main_session_key);
	SAME_TEXT(who.rest);
	SAME_VALUE(who.is_main);
	SAME_VALUE(who.is_subagent);
	SAME_TEXT(who.channel);
	SAME_TEXT(who.chat_id);
	SAME_TEXT(who.user_id);
	SAME_TEXT(who.session_id);
	SAME_TEXT(who.token);
	SAME_VALUE(who.via);
	SAME_VALUE(who.block);
	SAME_VALUE(mode.trust);
	SAME_VALUE(mode.ruled);
	SAME_VALUE(mode.when);
	SAME_VALUE(mode.enforce);
	SAME_VALUE(mode.sandboxed);
	SAME_VALUE(mode.isolation_asked);
	SAME_VALUE(mode.place_min);
	SAME_VALUE(mode.caps);
	SAME_VALUE(mode.rule);
	SAME_TEXT(mode.pattern);
	return NULL;
}

static inline const char *differs_tool_list(const struct tool_list *a, const struct tool_list *b)
{
	SAME_LIST(names);
	SAME_VALUE(source);
	SAME(a->field == b->field || strcmp(a->field, b->field) == 0);
	SAME_ORIGIN(origin);
	return NULL;
}

static inline const char *differs_tool(const struct decision *a, const struct decision *b)
{
	SAME_TEXT(tool.name);
	SAME_TEXT(tool.asked);
	SAME_VALUE(tool.needs);
	SAME_VALUE(tool.gateway_side);
	SAME_LIST(tool.argv);
	SAME_TEXT(tool.path);
	SAME_VALUE(tool.shell);
	SAME_VALUE(tool.own_shell);
	SAME(!differs_tool_list(&a->tool.sbx_allow, &b->tool.sbx_allow));
	SAME(!differs_tool_list(&a->tool.sbx_deny, &b->tool.sbx_deny));
	return NULL;
}

static inline const char *differs_elevated(const struct elevated *a, const struct elevated *b)
{
	SAME_VALUE(requested);
	SAME_VALUE(enabled);
	SAME_VALUE(allowed);
	SAME_VALUE(used);
	SAME_VALUE(always);
	SAME_TEXT(channel);
	SAME_VALUE(has_global);
	SAME_VALUE(has_agent);
	SAME_LIST(global_from);
	SAME_LIST(agent_from);
	SAME_VALUE(n_failures);
	for (size_t i = 0; i < a->n_failures; i++) {
		SAME(strcmp(a->failures[i].gate, b->failures[i].gate) == 0);
		SAME_TEXT(failures[i].key);
	}
	return NULL;
}

static inline const char *differs_place(const struct decision *a, const struct decision *b)
{
	SAME_VALUE(place.place);
	SAME_VALUE(place.backend);
	SAME_TEXT(place.backend_name);
	SAME_VALUE(place.available);
	SAME_VALUE(place.scope);
	SAME_TEXT(place.key);
	SAME_TEXT(place.image);
	SAME_VALUE(place.ttl_s);
	SAME_VALUE(place.may_fall_back);
	SAME(!differs_elevated(&a->place.elevated, &b->place.elevated));
	SAME_VALUE(net.route);
	SAME_TEXT(net.network);
	SAME_LIST(net.hosts);
	SAME_VALUE(net.has_hosts);
	SAME(same_bytes(a->net.dests, a->net.n_dests, b->net.dests, b->net.n_dests, sizeof(struct dest)));
	SAME_VALUE(net.twin);
	return NULL;
}

static inline const char *differs_mounts(const struct decision *a, const struct decision *b)
{
	SAME_VALUE(n_ask_dirs);
	for (size_t i = 0; i < a->n_ask_dirs; i++) {
		SAME_TEXT(ask_dirs[i].path);
		SAME_TEXT(ask_dirs[i].inside);
	}
	SAME_VALUE(n_mounts);
	for (size_t i = 0; i < a->n_mounts; i++) {
		SAME_TEXT(mounts[i].host);
		SAME_TEXT(mounts[i].target);
		SAME_VALUE(mounts[i].writable);
		SAME_VALUE(mounts[i].overlay);
		SAME_VALUE(mounts[i].optional);
		SAME_VALUE(mounts[i].check_resolved);
		SAME_VALUE(mounts[i].source);
		SAME_ORIGIN(mounts[i].origin);
	}
	SAME_TEXT(workdir);
	SAME_TEXT(workspace);
	SAME_TEXT(agent_workspace);
	return NULL;
}

static inline const char *differs_env(const struct decision *a, const struct decision *b)
{
	SAME_VALUE(n_env);
	for (size_t i = 0; i < a->n_env; i++) {
		SAME_TEXT(env[i].name);
		SAME_VALUE(env[i].state);
		SAME_VALUE(env[i].secret);
		SAME_TEXT(env[i].value);
		SAME_TEXT(env[i].template);
		SAME(str_eq(str_z(a->env[i].why ? a->env[i].why : ""),
			    str_z(b->env[i].why ? b->env[i].why : "")));
		SAME_ORIGIN(env[i].origin);
	}
	return NULL;
}

static inline const char *differs_limits(const struct decision *a, const struct decision *b)
{
	SAME_VALUE(limits.timeout_s);
	SAME_VALUE(limits.stdout_max);
	SAME_VALUE(limits.stderr_max);
	SAME_VALUE(limits.read_bytes);
	SAME_VALUE(limits.read_max);
	SAME_VALUE(limits.write_max);
	SAME_VALUE(limits.output);
	SAME_VALUE(limits.pids);
	SAME_VALUE(limits.memory);
	SAME_VALUE(limits.tmpfs);
	SAME_VALUE(limits.disk);
	SAME_VALUE(limits.open_files);
	SAME(memcmp(&a->limits.cpus, &b->limits.cpus, sizeof(a->limits.cpus)) == 0);
	SAME_VALUE(limits.run_setup);
	SAME_VALUE(optional_walls);
	return NULL;
}

static inline const char *differs_words(const struct decision *a, const struct decision *b)
{
	SAME_VALUE(verdict);
	SAME_VALUE(code);
	SAME_VALUE(stopped_at);
	SAME_TEXT(message);
	SAME_TEXT(request_id);
	SAME_VALUE(n_reasons);
	SAME_VALUE(n_warnings);
	for (size_t i = 0; i < a->n_warnings; i++) {
		SAME_VALUE(warnings[i].severity);
		SAME(strcmp(a->warnings[i].code, b->warnings[i].code) == 0);
		SAME_TEXT(warnings[i].key);
		SAME_TEXT(warnings[i].text);
		SAME_ORIGIN(warnings[i].origin);
	}
	SAME_LIST(fix_it);
	return NULL;
}

static_assert(sizeof(void *) != 8 || sizeof(struct decision) - sizeof(struct settings) == 1096,
	      "a new member of a decision is to be compared, too");

/* NULL when they are the same. */
static inline const char *differs(const struct decision *a, const struct decision *b)
{
	const char *(*const parts[])(const struct decision *, const struct decision *) = {
		differs_words,  differs_who, differs_tool,   differs_place,
		differs_mounts, differs_env, differs_limits,
	};
	const char *what = differs_settings(&a->eff, &b->eff);

	for (size_t i = 0; !what && i < sizeof(parts) / sizeof(parts[0]); i++)
		what = parts[i](a, b);
	return what;
}
