/* SPDX-License-Identifier: Apache-2.0 */
/* A config in the shape of another system's file, and what of it that file cannot say. */
#include "config/show_as_priv.h"

#include <stdio.h>

#define SHOW_MEMORY_MAX ((size_t)256 << 20)

static const struct {
	void (*build)(struct foreign *);
	bool yaml;
} writers[FORMAT_COUNT_] = {
	[FORMAT_ATHENA] = { show_athena, true },        [FORMAT_OPENCLAW] = { show_openclaw, false },
	[FORMAT_ALLOWLIST] = { show_allowlist, false }, [FORMAT_OPENCLAW_NET] = { show_openclaw_net, false },
	[FORMAT_ANSIBLE] = { show_ansible, true },
};

const char *show_as_scope(struct foreign *x, const struct settings *s)
{
	bool narrowed = s->scope == SCOPE_JOB || s->scope == SCOPE_LEASE;

	x->narrowed_scope |= narrowed;
	return narrowed ? "session" : enum_name(scope_names, s->scope);
}

const char *show_as_access(struct foreign *x, const struct settings *s)
{
	bool narrowed = s->ws_access == ACCESS_OVERLAY || s->ws_access == ACCESS_PER_TOOL;

	x->narrowed_access |= narrowed;
	return narrowed ? "ro" : enum_name(access_names, s->ws_access);
}

/* A growing ", a, b" that stops with "and N more" before it is full. */
struct left_out {
	char text[360];
	size_t n, used, more;
};

static void leave_out(struct left_out *l, const char *what)
{
	size_t len = strlen(what);

	if (l->used + len + 24 > sizeof(l->text)) {
		l->more++;
		return;
	}
	l->used += (size_t)snprintf(l->text + l->used, sizeof(l->text) - l->used, "%s%s", l->n ? ", " : "",
				    what);
	l->n++;
}

static void collect(const struct foreign *x, struct left_out *l)
{
	const struct {
		bool there;
		const char *name;
	} parts[PART_COUNT_] = {
		[PART_RULES] = { x->c->n_rules > 0, "mode.trust.rules" },
		[PART_RULE_SETTINGS] = { false, "route and limits of rules" },
		[PART_PAIRS] = { x->c->n_pairs > 0, "identity.pairs" },
		[PART_TOKENS] = { x->c->n_tokens > 0, "identity.tokens" },
		[PART_PER_TOOL] = { x->c->n_per_tool > 0, "tools.per" },
		[PART_AGENTS] = { x->c->n_agents > 0, "agents" },
	};
	bool rule_settings = false;

	for (size_t i = 0; i < x->c->n_rules; i++)
		rule_settings |= x->c->rules[i].over != NULL;
	for (size_t i = 0; i < PART_COUNT_; i++)
		if ((parts[i].there || (i == PART_RULE_SETTINGS && rule_settings)) && !x->carried_part[i])
			leave_out(l, parts[i].name);
	for (unsigned i = OPT_COMPAT + 1; i < OPT_COUNT_; i++)
		if (!x->carried[i] && show_is_said(x->c, (enum option)i))
			leave_out(l, option_info((enum option)i)->key);
}

/* Not an error: what could be said was said. But whoever reads the result should know. */
static void note(const struct foreign *x, enum format as, struct err *e)
{
	const char *name = enum_name(format_names, (int)as);
	struct left_out l = { 0 };

	collect(x, &l);
	if (x->narrowed_scope)
		leave_out(&l, "backend.scope (written as session)");
	if (x->narrowed_access)
		leave_out(&l, "mounts.workspace.access (written as ro)");
	if (l.n == 0)
		return;
	if (l.more)
		(void)snprintf(e->msg, sizeof(e->msg), "%s cannot say: %s and %zu more", name, l.text,
			       l.more);
	else
		(void)snprintf(e->msg, sizeof(e->msg), "%s cannot say: %s", name, l.text);
}

int config_show_as(const struct config *c, enum format as, const struct show_opts *o, struct buf *out,
		   struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct foreign x = { .c = c, .o = o, .a = &a };

	arena_init(&a, SHOW_MEMORY_MAX);
	if (as == FORMAT_CREEL) {
		config_show(c, o, out);
		return 0;
	}
	if ((unsigned)as >= FORMAT_COUNT_)
		return err_set(e, ERR_USAGE, "unknown format");
	x.root = node_new(&a, NODE_OBJ);
	writers[as].build(&x);
	if (a.failed)
		return err_set(e, ERR_LIMIT, "the configuration needs too much memory");
	if (writers[as].yaml)
		print_yaml(out, x.root);
	else
		print_json(out, x.root, false);
	*e = (struct err){ 0 };
	note(&x, as, e);
	return 0;
}
