/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/bind.h"
#include "policy/mounts.h"

#include "policy/path.h"
#include "policy/posture.h"

static const enum stage here = STAGE_MOUNTS;

/* The browser's own list, once it is said, even empty, stands instead of the common one. */
static struct binds binds_of(const struct ctx *x, enum option *ret_id)
{
	const struct settings *s = &x->d->eff;

	*ret_id = str_eq(x->d->tool.name, STR("browser")) && s->has[OPT_BROWSER_BINDS] ? OPT_BROWSER_BINDS
										       : OPT_BINDS;
	return *ret_id == OPT_BINDS ? s->binds : s->browser_binds;
}

/* mounts.allowedRoots, or in upstream's rules the two workspaces; none = anywhere that is not blocked. */
static bool roots_of(struct ctx *x, struct strs *ret)
{
	const struct settings *s = &x->d->eff;
	bool configured = s->has[OPT_BIND_ROOTS];
	size_t n = configured ? s->bind_roots.n : 2;
	struct str *roots;

	*ret = (struct strs){ 0 };
	if (!configured && (s->compat != COMPAT_OPENCLAW_2026_9 || s->binds_external))
		return true;
	roots = ARENA_ARRAY(x->a, struct str, n + 1);
	if (!roots)
		return false;
	roots[0] = STR("\n"); /* set and empty: below nothing */
	for (size_t i = 0; configured && i < n; i++)
		roots[i] = path_expand(x->a, &x->r->facts, s->bind_roots.v[i]);
	if (!configured) {
		roots[0] = x->d->workspace;
		roots[1] = x->d->agent_workspace;
	}
	*ret = (struct strs){ .v = roots, .n = n ? n : 1 };
	return true;
}

static void advise(struct ctx *x, enum code code)
{
	if (code == CODE_BIND_OUTSIDE_ROOTS)
		fix_it(x, STR("mounts.allowedRoots"));
	if (code == CODE_BIND_RESERVED_TARGET)
		fix_it(x, STR("mounts.dangerously_allow_reserved_targets"));
	fix_it(x, STR("mounts.binds"));
}

static void tell_bind(struct ctx *x, const struct bind *b, const struct bind_view *v,
		      enum mount_source source, bool overlay)
{
	struct str key = source == MOUNT_VAULT ? STR("mounts.vault") : STR("mounts.binds");

	why(x, here, "bind", b->origin.raw.n ? b->origin.raw : v->target, &b->origin,
	    "'" STR_FMT "' %s: shows the host's files as they are", STR_ARG(bind_shown(b)),
	    overlay       ? "read-only with a private layer for writes"
	    : v->writable ? "read and write"
			  : "read-only");
	if (v->mode_missing && !v->writable)
		warn(x, "bind_mode_missing", &b->origin, key,
		     "'" STR_FMT "' says neither ro nor rw: bound read-only", STR_ARG(bind_shown(b)));
	if (v->writable && !overlay)
		warn(x, bind_is_sensitive(v->source) ? "bind_sensitive_rw" : "bind_rw", &b->origin, key,
		     "'" STR_FMT "' is writable and no overlay protects it", STR_ARG(bind_shown(b)));
}

static bool add_bind(struct ctx *x, const struct bind_rules *rules, const struct bind *b,
		     enum mount_source source, size_t *cap)
{
	bool overlay = source == MOUNT_VAULT && x->d->eff.ws_overlay && !b->readonly;
	struct bind_view v;
	enum code code;

	if (str_trim(b->raw).n == 0)
		return true;
	if (is_tier1(x))
		return deny(x, here, CODE_BIND_FORBIDDEN_IN_TIER1, &b->origin,
			    "tier 1 has exactly one mount: bind '" STR_FMT "' is refused",
			    STR_ARG(bind_shown(b)));
	code = bind_check(x->a, rules, b, &v);
	if (code != CODE_OK) {
		advise(x, code);
		return deny(x, here, code, &b->origin, "bind '" STR_FMT "': " STR_FMT, STR_ARG(bind_shown(b)),
			    STR_ARG(v.why));
	}
	tell_bind(x, b, &v, source, overlay);
	return mount_add(x, cap,
			 &(struct mount){ .host = v.source,
					  .target = v.target,
					  .writable = v.writable,
					  .overlay = overlay,
					  .optional = true,
					  .check_resolved = true,
					  .source = source,
					  .origin = b->origin });
}

/* S3-70..76: a bind of a fixed place onto itself, that may be missing. A bind of the same target comes later and wins. */
static bool add_vault(struct ctx *x, const struct bind_rules *rules, size_t *cap)
{
	const struct settings *s = &x->d->eff;
	struct bind b = { .raw = s->vault_path,
			  .source = s->vault_path,
			  .target = s->vault_path,
			  .options = s->vault_access == RW_RW ? STR("rw") : STR("ro"),
			  .readonly = s->vault_access != RW_RW,
			  .origin = s->origin[OPT_VAULT_PATH] };

	/* A profile's vault is not for tier 1; one that a person asked for is refused like any bind. */
	if (!s->vault_enabled || (is_tier1(x) && !said(s, OPT_VAULT_ENABLED)))
		return true;
	return add_bind(x, rules, &b, MOUNT_VAULT, cap);
}

bool binds_add(struct ctx *x, struct str ws_target, size_t *cap)
{
	struct bind_rules rules = { .facts = &x->r->facts,
				    .s = &x->d->eff,
				    .ws_target = ws_target,
				    .upstream_options = x->d->eff.compat == COMPAT_OPENCLAW_2026_9 };
	enum option id;
	struct binds binds = binds_of(x, &id);

	if (!roots_of(x, &rules.roots) || !add_vault(x, &rules, cap))
		return false;
	for (size_t i = 0; i < binds.n; i++)
		if (!add_bind(x, &rules, &binds.v[i], MOUNT_BIND, cap))
			return false;
	return true;
}
