/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may be asked for: which tool this is, whether S2's three-tool rule lets it in, whether it survives OpenClaw's
 * layers, whether the workspace takes writes, whether the session's trust has the capabilities it needs, and whether the
 * command itself may be started. Every layer that takes the tool away is recorded; the first one is the refusal.
 */
#include "policy/gituse.h"
#include "policy/layers.h"
#include "policy/rule.h"
#include "policy/session_key.h"
#include "policy/tier1.h"
#include "policy/tooltables.h"

static const enum stage here = STAGE_TOOL;
static const struct origin builtin = { .kind = ORIGIN_BUILTIN };
static const struct origin request = { .kind = ORIGIN_REQUEST };

#define TOOL_NAME_MAX 128

/* Has a command that can be looked at; of code_exec that is a short text for bash. */
static bool has_command(struct str name)
{
	return str_eq(name, STR("exec")) || str_eq(name, STR("git")) || str_eq(name, STR("code_exec"));
}

/* --- the command --- */

/* S0-36, to the letter. */
static bool deny_action(struct ctx *x, struct str action, const struct origin *o)
{
	return deny(x, here, CODE_CAPABILITY_DENIED, o, "Action '" STR_FMT "' denied in sandbox mode '%s'",
		    STR_ARG(action), enum_name(trust_names, (int)x->d->mode.trust));
}

/* A string that is one simple command is run as its words; any other only by a shell. */
static void settle_command(struct ctx *x)
{
	const struct settings *s = &x->d->eff;
	struct strs split = { 0 };
	struct str *sh;

	x->d->tool.argv = x->r->argv;
	if (x->r->argv.n > 0 || x->r->command.n == 0)
		return;
	if (command_split(x->a, x->r->command, &split) == COMMAND_SIMPLE) {
		x->d->tool.argv = split;
		x->d->tool.own_shell = s->shells == SHELLS_ALLOW && !s->has[OPT_PROGRAMS] && !s->programs.n;
		return;
	}
	sh = ARENA_ARRAY(x->a, struct str, 3);
	if (!sh)
		return;
	sh[0] = STR("sh");
	sh[1] = STR("-c");
	sh[2] = x->r->command;
	x->d->tool.argv = (struct strs){ .v = sh, .n = 3 };
	x->d->tool.shell = true;
}

/* The git tool starts git and nothing else, or "allow: [git]" would allow everything. */
static bool check_git_tool(struct ctx *x, enum git_use use)
{
	if (!str_eq(x->d->tool.name, STR("git")) || x->d->tool.argv.n == 0 ||
	    (use != GIT_NONE && !x->d->tool.shell && str_ends(x->d->tool.argv.v[0], STR("git"))))
		return true;
	return deny(x, here, CODE_INVALID_CMD, &request, "the git tool runs git, not '" STR_FMT "'",
		    STR_ARG(x->d->tool.argv.v[0]));
}

/* --- which tool --- */

static bool name_is_sound(struct str name)
{
	if (name.n == 0 || name.n > TOOL_NAME_MAX)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if ((unsigned char)name.p[i] <= 0x20 || name.p[i] == 0x7f)
			return false;
	return true;
}

static bool unknown_tool(struct ctx *x)
{
	return deny(x, here, CODE_TOOL_NOT_ALLOWED, &request,
		    "no such tool: '" STR_FMT "'; what is not known and in no allow list does not exist",
		    STR_ARG(x->d->tool.asked));
}

/* Plugins and MCP servers bring tools of their own. They exist when an allow list names them; the gateway runs them. */
static bool adopt_unknown(struct ctx *x, const struct layer *layers, size_t n)
{
	const struct trust_rule *rule = x->d->mode.rule;
	struct str name = x->d->tool.name;
	bool by_rule = rule && rule->has_allow && tool_list_names(compat_of(x), rule->allow, name);

	if (!by_rule && !layers_name(compat_of(x), layers, n, name))
		return unknown_tool(x);
	x->d->tool.gateway_side = true;
	why(x, here, "tool", name, &request,
	    "not one of creel's: an allow list names it, the gateway runs it");
	/* S0-35: an unknown action is denied, unless the session's own rule names it */
	if (x->d->mode.trust != TRUST_NONE && !by_rule)
		return deny_action(x, x->d->tool.asked, rule ? &rule->origin : &builtin);
	return true;
}

static bool find_tool(struct ctx *x, const struct layer *layers, size_t n)
{
	const struct tool_info *info;

	x->d->tool.asked = str_trim(x->r->tool);
	x->d->tool.path = x->r->path;
	if (x->r->tool.n == 0 && x->r->argv.n + x->r->command.n > 0)
		x->d->tool.asked = STR("exec");
	if (!name_is_sound(x->d->tool.asked))
		return unknown_tool(x);
	x->d->tool.name = tool_canonical(x->a, compat_of(x), x->d->tool.asked);
	info = tool_find(x->d->tool.name);
	if (is_tier1(x) && !tier1_tool_allowed(x, x->d->tool.name))
		return deny(x, here, CODE_TOOL_NOT_ALLOWED, &builtin,
			    "tier-1 calls have file_read, file_write and shell_exec, not '" STR_FMT "'",
			    STR_ARG(x->d->tool.asked));
	if (!info)
		return adopt_unknown(x, layers, n);
	x->d->tool.needs = info->needs;
	x->d->tool.gateway_side = info->gateway_side;
	return true;
}

/* --- the layers --- */

static struct str layer_key(struct ctx *x, const struct layer *l, const char *field)
{
	if (l->part.n)
		return arena_printf(x->a, "%s.%.*s.%s", l->key, (int)(l->part.n < 200 ? l->part.n : 200),
				    l->part.p, field);
	return arena_printf(x->a, "%s.%s", l->key, field);
}

static bool is_sandbox_layer(const struct layer *l)
{
	return str_eq(str_z(l->what), STR("sandbox"));
}

/* The sandbox's lists are expanded: a person wants to read the entry that is in the file. */
static struct str as_written(const struct ctx *x, const struct layer *l, const struct subject *s,
			     struct str entry)
{
	const struct settings *over = x->d->who.block ? x->d->who.block->over : NULL;
	const struct strs lists[] = { over ? over->sbx_deny : (struct strs){ 0 }, x->c->base.sbx_deny };

	for (size_t i = 0; is_sandbox_layer(l) && i < 2; i++)
		if (tool_list_has(compat_of(x), lists[i], s->name, &entry) ||
		    (s->also.n && tool_list_has(compat_of(x), lists[i], s->also, &entry)))
			break;
	return entry;
}

/* What to change. A built-in list cannot be edited, but alsoAllow goes over it. */
static struct str remedy(struct ctx *x, const struct layer *l, bool denied, struct str key, struct str entry)
{
	const struct tool_list *list = denied ? &x->d->tool.sbx_deny : &x->d->tool.sbx_allow;

	if (is_sandbox_layer(l) && list->source == LIST_DEFAULT)
		return arena_printf(x->a, "%s.alsoAllow: add " STR_FMT, l->key, STR_ARG(x->d->tool.name));
	if (denied)
		return arena_printf(x->a, "%.*s: remove " STR_FMT, (int)key.n, key.p, STR_ARG(entry));
	return arena_printf(x->a, "%.*s: add " STR_FMT, (int)key.n, key.p, STR_ARG(x->d->tool.name));
}

static bool refuse_by_layer(struct ctx *x, const struct layer *l, const struct subject *s,
			    enum layer_verdict v, struct str entry)
{
	bool denied = v == LAYER_DENIES;
	struct str key = layer_key(x, l, denied ? "deny" : l->field), name = x->d->tool.name;

	if (denied)
		entry = as_written(x, l, s, entry);
	fix_it(x, remedy(x, l, denied, key, entry));
	if (denied)
		return deny(x, here, CODE_TOOL_DENIED_BY_POLICY, &l->deny_origin,
			    "tool '" STR_FMT "' is denied by %.*s ('" STR_FMT "')", STR_ARG(name), (int)key.n,
			    key.p, STR_ARG(entry));
	return deny(x, here, CODE_TOOL_DENIED_BY_POLICY, &l->allow_origin,
		    "tool '" STR_FMT "' is not in %.*s", STR_ARG(name), (int)key.n, key.p);
}

/* git through exec may be denied as git; the git tool counts as exec, too. */
static struct subject subject_of(const struct ctx *x, enum git_use use)
{
	struct subject s = { .name = x->d->tool.name };

	if (str_eq(s.name, STR("git")))
		s = (struct subject){ .name = s.name, .also = STR("exec"), .also_allowed = true };
	else if (use != GIT_NONE)
		s.also = STR("git");
	return s;
}

/* S0's words can be asked about; the built-in lists of sandboxed sessions, which know only tools, say nothing of them. */
static bool is_question_only(const struct ctx *x, const struct layer *l)
{
	const struct tool_list *allow = &x->d->tool.sbx_allow;
	bool built_in = allow->source == LIST_DEFAULT || str_eq(str_z(allow->field), STR("alsoAllow"));

	if (str_eq(str_z(l->what), STR("sandbox")) && built_in)
		for (size_t i = 0; i < n_tool_rows; i++)
			if (tool_rows[i].action && str_eq(str_z(tool_rows[i].info.name), x->d->tool.name))
				return true;
	return false;
}

static bool check_layers(struct ctx *x, const struct layer *layers, size_t n, enum git_use use)
{
	const struct subject s = subject_of(x, use);
	struct str entry = { .p = "", .n = 0 };
	bool passes = true;

	for (size_t i = 0; i < n; i++) {
		enum layer_verdict v = layer_check(compat_of(x), &layers[i], &s, &entry);

		if (v == LAYER_PASSES || (v == LAYER_LACKS && is_question_only(x, &layers[i])))
			why(x, here, "layer", str_z(layers[i].what),
			    layers[i].allow.n ? &layers[i].allow_origin : &layers[i].deny_origin,
			    "lets it pass");
		else
			passes = refuse_by_layer(x, &layers[i], &s, v, entry);
	}
	return passes;
}

static bool check_workspace(struct ctx *x)
{
	const struct settings *s = &x->d->eff;

	if (!x->d->mode.sandboxed || s->ws_access != ACCESS_RO || !(x->d->tool.needs & CAP_BIT(CAP_FS_WRITE)))
		return true;
	fix_it(x, STR("mounts.workspace.access=rw"));
	return deny(x, here, CODE_TOOL_DENIED_BY_POLICY, &s->origin[OPT_WS_ACCESS],
		    "workspaceAccess \"ro\" disables write, edit and apply_patch");
}

/* --- S0 --- */

static bool check_rule(struct ctx *x)
{
	const struct trust_rule *rule = x->d->mode.rule;
	struct str entry;

	if (!rule || rule_leaves_tool(compat_of(x), rule, x->d->tool.name, &entry))
		return true;
	why(x, here, "rule", rule->match, &rule->origin,
	    entry.n ? "deny takes the tool away: " STR_FMT : "allow does not name the tool%.*s",
	    STR_ARG(entry));
	remedy_rule(x, entry);
	return deny_action(x, x->d->tool.asked, &rule->origin);
}

/* The first capability that is missing, by name. */
static const char *first_missing(unsigned missing)
{
	unsigned i = 0;

	while (i + 1 < CAP_COUNT_ && !(missing & CAP_BIT(i)))
		i++;
	return enum_name(cap_names, (int)i);
}

static bool check_caps(struct ctx *x, enum git_use use)
{
	const struct trust_rule *rule = x->d->mode.rule;
	const struct origin *o = rule ? &rule->origin : &builtin;
	unsigned missing = x->d->tool.needs & ~x->d->mode.caps;

	if (missing) {
		why(x, here, "capability", str_z(first_missing(missing)), o, "the session does not have it");
		remedy_trust(x, x->d->tool.needs | (use == GIT_NONE ? 0 : CAP_BIT(CAP_VCS)));
		return deny_action(x, x->d->tool.asked, o);
	}
	if (use == GIT_NONE)
		return true;
	x->d->tool.needs |= CAP_BIT(CAP_VCS);
	if (!(x->d->mode.caps & CAP_BIT(CAP_VCS))) {
		why(x, here, "capability", STR("vcs"), o,
		    "the command runs git (found by looking at it: advice, not a wall)");
		remedy_trust(x, x->d->tool.needs);
		return deny_action(x, STR("git"), o);
	}
	return true;
}

static bool check_push(struct ctx *x, enum git_use use)
{
	const struct trust_rule *rule = x->d->mode.rule;

	if (use != GIT_PUSHES || !rule || !rule_denies_push(rule))
		return true;
	why(x, here, "git_push", STR("denied"), &rule->origin,
	    "found by looking at the command: advice, not a wall; the wall is no network and no credentials");
	remedy_rule(x, STR("git_push"));
	return deny_action(x, STR("git_push"), &rule->origin);
}

static bool check_exec_mode(struct ctx *x)
{
	const struct settings *s = &x->d->eff;

	if (s->exec_mode != EXEC_MODE_DENY || !(x->d->tool.needs & CAP_BIT(CAP_PROC_EXEC)))
		return true;
	fix_it(x, STR("tools.exec.mode"));
	return deny(x, here, CODE_EXEC_MODE_DENIED, &s->origin[OPT_EXEC_MODE], "tools.exec.mode is deny");
}

/* The command itself: which program, with which words. */
static bool check_command(struct ctx *x)
{
	return !(x->d->tool.needs & CAP_BIT(CAP_PROC_EXEC)) || x->d->tool.gateway_side || command_allowed(x);
}

bool tool_arguments(struct ctx *x)
{
	x->d->tool.asked = str_trim(x->r->tool);
	x->d->tool.path = x->r->path;
	settle_command(x);
	/* git counts as a tool of its own for the layers, and needs a capability. */
	if (has_command(x->d->tool.name) &&
	    (str_eq(x->d->tool.name, STR("git")) || git_use(x->d->tool.argv) != GIT_NONE))
		return false;
	return check_command(x);
}

static void record(struct ctx *x)
{
	struct str asked = x->d->tool.asked, name = x->d->tool.name;

	why(x, here, "tool", name, &request,
	    str_eq(asked, name) ? "asked for by its name%.*s" : "alias " STR_FMT,
	    str_eq(asked, name) ? 0 : (int)(asked.n < 128 ? asked.n : 128), asked.p);
}

bool stage_tool(struct ctx *x)
{
	struct layer layers[LAYERS_MAX];
	enum git_use use = GIT_NONE;
	size_t n;

	sandbox_tools_resolve(x);
	if (x->r->tool.n == 0 && x->r->argv.n == 0 && x->r->command.n == 0 && is_local(x->r->via))
		return true; /* only who and where */
	n = layers_collect(x, layers);
	if (!find_tool(x, layers, n))
		return false;
	record(x);
	settle_command(x);
	if (has_command(x->d->tool.name))
		use = git_use(x->d->tool.argv);
	if (!check_layers(x, layers, n, use) || !check_workspace(x) || !check_rule(x) ||
	    !check_caps(x, use) || !check_push(x, use) || !check_git_tool(x, use) || !check_exec_mode(x))
		return false;
	if (!check_command(x))
		return false;
	why(x, here, "allowed", x->d->tool.name, &builtin, "%s",
	    x->d->tool.gateway_side ? "the gateway's own: only policy applies" : "nothing takes it away");
	return true;
}
