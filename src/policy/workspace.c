/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/workspace.h"

#include "base/hash.h"
#include "policy/path.h"
#include "policy/posture.h"
#include "policy/session_key.h"

enum { SLUG_TEXT = 32, SLUG_HASH = 8, OWN_HASH = 32, WORKSPACE_HASH = 32 };

bool is_path_safe(struct str id)
{
	for (size_t i = 0; i < id.n; i++) {
		char c = id.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '-' || c == '_'))
			return false;
	}
	return id.n > 0;
}

/* OpenClaw's files bring OpenClaw's layout of directories along. */
static bool has_openclaw_layout(const struct ctx *x)
{
	return x->d->eff.compat == COMPAT_OPENCLAW_2026_9 || x->d->eff.profile == PROFILE_OPENCLAW ||
	       x->c->formats & 1u << FORMAT_OPENCLAW;
}

/* The one agent that gets the plain default directory; a session key may name an agent that nobody configured. */
static bool is_workspace_owner(const struct ctx *x)
{
	const struct config *c = x->c;

	if (c->n_agents == 0)
		return str_eq(x->d->who.agent, STR("main"));
	if (x->d->who.block && x->d->who.block->is_default)
		return true;
	for (size_t i = 0; i < c->n_agents; i++)
		if (c->agents[i].is_default)
			return false;
	return c->n_agents == 1 && x->d->who.block;
}

static struct str state_dir(struct ctx *x)
{
	if (x->r->facts.state_dir.n)
		return path_expand(x->a, &x->r->facts, x->r->facts.state_dir);
	return path_expand(x->a, &x->r->facts, STR("~/.openclaw"));
}

struct str workspace_ssh_root(struct ctx *x)
{
	struct str root = trim_unicode(x->d->eff.ssh_root);
	char *p = arena_alloc(x->a, root.n + 1, 1);

	if (root.n == 0)
		return STR("/tmp/openclaw-sandboxes");
	for (size_t i = 0; p && i < root.n; i++)
		p[i] = root.p[i] == '\\' ? '/' : root.p[i];
	if (!p || p[0] != '/')
		return (struct str){ 0 };
	return path_normalise(x->a, (struct str){ .p = p, .n = root.n });
}

struct str workspace_skills_dir(struct ctx *x)
{
	struct str all = path_join(x->a, state_dir(x), STR("sandbox/skills-workspaces"));

	return path_join(x->a, all, scope_slug(x->a, x->d->place.key));
}

/* Where upstream looks when the file says nothing: its variables count, which only its reader knows. */
static struct str default_dir(struct ctx *x)
{
	const struct openclaw_dirs *dirs = &x->c->openclaw;
	struct str state = dirs->state.n ? dirs->state : state_dir(x);

	if (!is_workspace_owner(x))
		return path_join(x->a, state,
				 arena_printf(x->a, "workspace-" STR_FMT, STR_ALL(x->d->who.agent)));
	return dirs->workspace.n ? dirs->workspace : path_join(x->a, state, STR("workspace"));
}

/* What is written in a file is trimmed; the directory that somebody stands in is called what it is. */
static struct str expand(struct ctx *x, struct str path)
{
	return str_eq(path, x->r->facts.cwd) ? path_normalise(x->a, path)
					     : path_expand(x->a, &x->r->facts, path);
}

static struct str openclaw_dir(struct ctx *x, struct str configured)
{
	const struct agent *block = x->d->who.block;
	bool own = block && block->over && block->over->has[OPT_WS_PATH] && str_trim(block->over->ws_path).n;
	struct str base = x->c->base.ws_path;

	if (own)
		return expand(x, configured);
	if (str_trim(base).n) {
		base = expand(x, base);
		return is_workspace_owner(x) ? base : path_join(x->a, base, x->d->who.agent);
	}
	return default_dir(x);
}

struct str workspace_agent_dir(struct ctx *x)
{
	struct str configured = x->d->eff.ws_path;

	if (has_openclaw_layout(x))
		return openclaw_dir(x, configured);
	return expand(x, str_trim(configured).n ? configured : STR("."));
}

/* S2 keeps its workspaces beside OpenClaw's sandboxes; both defaults follow the state directory. */
struct str workspace_root(struct ctx *x)
{
	static const struct str home_state = STR("~/.openclaw/");
	const struct settings *s = &x->d->eff;

	if (!said(s, OPT_WS_ROOT) && is_tier1(x))
		return path_join(x->a, state_dir(x), STR("workspaces"));
	if (!said(s, OPT_WS_ROOT) && str_starts(s->ws_root, home_state))
		return path_join(x->a, state_dir(x), str_from(s->ws_root, home_state.n));
	return path_expand(x->a, &x->r->facts, s->ws_root);
}

/* Lower case; '\0' for what has no place in a slug. */
static char slug_char(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-')
		return c;
	return '\0';
}

/* Every run of other characters is one '-'; none at the ends; then cut. */
static size_t slug_text(struct str key, char out[static SLUG_TEXT])
{
	size_t n = 0, dashes = 0;
	bool in_run = false;

	for (size_t i = 0; i < key.n && n < SLUG_TEXT; i++) {
		char c = slug_char(key.p[i]);

		dashes += c == '-' || (c == '\0' && !in_run);
		in_run = c == '\0';
		if (c == '\0' || c == '-')
			continue;
		for (; n > 0 && dashes > 0 && n < SLUG_TEXT; dashes--)
			out[n++] = '-';
		dashes = 0;
		if (n < SLUG_TEXT)
			out[n++] = c;
	}
	return n;
}

static bool has_workspace_part(struct str key)
{
	static const struct str mark = STR(":workspace:");
	struct str hex;

	if (key.n < mark.n + WORKSPACE_HASH)
		return false;
	hex = str_from(key, key.n - WORKSPACE_HASH);
	for (size_t i = 0; i < hex.n; i++)
		if (!((hex.p[i] >= '0' && hex.p[i] <= '9') || (hex.p[i] >= 'a' && hex.p[i] <= 'f')))
			return false;
	key.n -= WORKSPACE_HASH;
	return str_ends(key, mark);
}

static struct str slug_of(struct arena *a, struct str key, int digits)
{
	char hex[SHA256_HEX], text[SLUG_TEXT];
	struct str trimmed = str_trim(key);
	size_t n;

	if (trimmed.n == 0)
		trimmed = STR("session");
	sha256_hex(trimmed, hex);
	if (has_workspace_part(trimmed))
		return arena_printf(a, "workspace-%.*s", WORKSPACE_HASH, hex);
	n = slug_text(trimmed, text);
	if (n == 0)
		return arena_printf(a, "session-%.*s", digits, hex);
	return arena_printf(a, "%.*s-%.*s", (int)n, text, digits, hex);
}

struct str scope_slug(struct arena *a, struct str key)
{
	return slug_of(a, key, SLUG_HASH);
}

struct str workspace_slug(const struct ctx *x, struct str key)
{
	return slug_of(x->a, key, x->d->eff.compat == COMPAT_OPENCLAW_2026_9 ? SLUG_HASH : OWN_HASH);
}

static struct str concat(struct arena *a, struct str head, struct str tail)
{
	char *out = arena_alloc(a, head.n + tail.n + 1, 1);

	if (!out)
		return (struct str){ 0 };
	memcpy(out, head.p, head.n);
	memcpy(out + head.n, tail.p, tail.n);
	return (struct str){ .p = out, .n = head.n + tail.n };
}

static struct str with_workspace(struct ctx *x, struct str key)
{
	char hex[SHA256_HEX];

	if (x->d->eff.compat != COMPAT_OPENCLAW_2026_9)
		return key;
	sha256_hex(workspace_agent_dir(x), hex);
	return concat(x->a, key, arena_printf(x->a, ":workspace:%.*s", WORKSPACE_HASH, hex));
}

struct str scope_key(struct ctx *x, enum scope scope)
{
	struct str session = x->d->who.session_key, agent = x->d->who.agent;

	if (scope == SCOPE_SHARED)
		return STR("shared");
	if (scope == SCOPE_AGENT)
		return with_workspace(x, arena_printf(x->a, "agent:" STR_FMT, STR_ALL(agent)));
	if (x->d->eff.compat == COMPAT_OPENCLAW_2026_9 && str_eq(session, STR("global")))
		session = arena_printf(x->a, "agent:" STR_FMT ":main", STR_ALL(agent));
	return with_workspace(x, session);
}
