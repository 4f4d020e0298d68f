/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/bind.h"

#include "policy/path.h"

/* clang-format off */
static const char *const blocked[] = {
	"/etc", "/private/etc", "/proc", "/sys", "/dev", "/root", "/boot", "/run", "/var/run", "/private/var/run",
};
/* Below every home directory. */
static const char *const blocked_in_home[] = {
	".aws", ".cargo", ".config", ".docker", ".gnupg", ".netrc", ".npm", ".ssh",
	/* ours: keys of other tools, and the files that decide what an agent may do */
	".azure", ".git-credentials", ".kube", ".local/share/keyrings", ".password-store", ".pki",
	".config/creel", ".athena/settings.yaml", ".openclaw/.env", ".openclaw/creel.json5", ".openclaw/credentials", ".openclaw/openclaw.json",
};
/* Below creel's own directory: who may do what, what was done, what others have written. */
static const char *const blocked_in_own[] = {
	"audit", "layers", "live", "own", "pairing", "registry", "run", "runner.token", "runs", "sessions", "spare", "tokens",
};
/* Beside the audit log, where audit.path says another place. */
static const char *const blocked_in_log[] = {
	"audit.calls", "audit.config", "audit.head", "audit.jsonl",
};
/* A workspace may well lie below one of these; a bind may not. */
static const char *const roomy[] = {
	"/root", ".cargo", ".config", ".npm", "layers", "runs",
};
/* The host's programs, and what it knows about itself: whoever can write here changes the host. */
static const char *const system_trees[] = {
	"/bin", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/sbin", "/snap", "/usr",
	"/var/lib/apt", "/var/lib/containerd", "/var/lib/containers", "/var/lib/docker", "/var/lib/dpkg", "/var/lib/kubelet", "/var/lib/pacman",
	"/var/lib/rpm", "/var/lib/snapd", "/var/lib/sudo", "/var/lib/systemd", "/var/spool/cron",
};
/* The same of all of it together; one directory in it may be anybody's. */
static const char *const system_tops[] = {
	"/opt", "/var", "/var/cache", "/var/lib", "/var/log", "/var/spool",
};
static const char *const system_sources[] = {
	"/usr/local/src", "/usr/src",
};
/* Whoever can write to one of these owns the host, wherever somebody put it. */
static const char *const control_sockets[] = {
	"docker.sock", "podman.sock", "containerd.sock", "crio.sock",
};
/* Never a place for a bind, not even with the override: the walls stand on them. */
static const char *const system_targets[] = {
	"/proc", "/sys", "/dev",
};
static const char *const reserved_targets[] = {
	"/workspace", "/agent",
};
static const char *const known_options[] = {
	"ro", "rw", "z", "Z", "cached", "delegated", "consistent",
};
static const char *const sensitive_names[] = {
	".ssh", ".aws", ".gnupg", ".kube", ".docker", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".env",
	".config", ".password-store", ".azure", ".gcloud", ".openclaw", ".athena",
	"secrets", "secret", "credentials", "private", "keys", "keystore", "id_rsa", "id_ed25519", "shadow",
};
static const char *const sensitive_endings[] = {
	".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".env", ".credentials", ".secret", ".kdbx",
};
/* clang-format on */
#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static const char *find(const char *const *list, size_t n, struct str word)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(str_z(list[i]), word))
			return list[i];
	return NULL;
}

static bool hits(struct str source, struct str path, struct bind_block *ret)
{
	bool targets = path_within(path, source);

	if (!targets && !path_within(source, path))
		return false;
	*ret = (struct bind_block){ .path = path, .covers = !targets };
	return true;
}

struct search {
	struct arena *a;
	const struct facts *facts;
	struct str source;
	bool workspace;
};

/* `name` is the path's entry in its table. */
static bool forbids(const struct search *s, struct str path, const char *name, struct bind_block *ret)
{
	if (!hits(s->source, path, ret))
		return false;
	return !s->workspace || ret->covers || str_eq(s->source, path) ||
	       !find(roomy, LEN(roomy), str_z(name));
}

static bool hits_home(const struct search *s, struct str home, struct bind_block *ret)
{
	home = path_normalise(s->a, home);
	if (!path_is_absolute(home) || home.n == 1)
		return false;
	if (!path_within(home, s->source) && !path_within(s->source, home))
		return false; /* nor does anything in it */
	for (size_t i = 0; i < LEN(blocked_in_home); i++)
		if (forbids(s, path_join(s->a, home, str_z(blocked_in_home[i])), blocked_in_home[i], ret))
			return true;
	return false;
}

static struct str own_dir(struct arena *a, const struct facts *f)
{
	return f->own_dir.n ? path_expand(a, f, f->own_dir) : (struct str){ 0 };
}

static struct str audit_dir(struct arena *a, const struct facts *f)
{
	return f->audit_dir.n ? path_expand(a, f, f->audit_dir) : (struct str){ 0 };
}

/* The directory may hold other things, too: it is only said to be ours alone. */
static bool hits_log(const struct search *s, struct bind_block *ret)
{
	struct str log = audit_dir(s->a, s->facts), full;

	if (!log.n)
		return false;
	for (size_t i = 0; i < LEN(blocked_in_log); i++)
		if (hits(s->source, path_join(s->a, log, str_z(blocked_in_log[i])), ret))
			return true;
	full = path_join(s->a, log, STR("audit-")); /* a full file, with its number */
	if (!str_starts(s->source, full))
		return false;
	*ret = (struct bind_block){ .path = s->source };
	return true;
}

static bool hits_own(const struct search *s, struct bind_block *ret)
{
	struct str own = own_dir(s->a, s->facts);

	if (!own.n || (!path_within(own, s->source) && !path_within(s->source, own)))
		return false;
	for (size_t i = 0; i < LEN(blocked_in_own); i++)
		if (forbids(s, path_join(s->a, own, str_z(blocked_in_own[i])), blocked_in_own[i], ret))
			return true;
	return false;
}

/* Somebody else's home, where homes usually are: his keys are no more ours to show than our own. */
static bool hits_other_home(const struct search *s, struct bind_block *ret)
{
	struct str name, rest, below;

	if (str_eq(s->source, STR("/home"))) {
		*ret = (struct bind_block){ .path = STR("/home"), .covers = true };
		return true;
	}
	if (!str_starts(s->source, STR("/home/")))
		return false;
	below = str_from(s->source, 6);
	if (!str_cut(below, '/', &name, &rest))
		name = below;
	return hits_home(s, path_join(s->a, STR("/home"), name), ret);
}

static bool is_blocked(const struct search *s, struct bind_block *ret)
{
	const char *sock = find(control_sockets, LEN(control_sockets), path_base(s->source));

	if (str_eq(s->source, STR("/"))) {
		*ret = (struct bind_block){ .path = STR("/"), .covers = true };
		return true;
	}
	for (size_t i = 0; i < LEN(blocked); i++)
		if (forbids(s, str_z(blocked[i]), blocked[i], ret))
			return true;
	if (sock) {
		*ret = (struct bind_block){ .path = str_z(sock) };
		return true;
	}
	if (hits_home(s, s->facts->home, ret) || hits_other_home(s, ret) || hits_own(s, ret) ||
	    hits_log(s, ret))
		return true;
	for (size_t i = 0; i < s->facts->home_roots.n; i++)
		if (hits_home(s, s->facts->home_roots.v[i], ret))
			return true;
	return false;
}

struct listing {
	struct arena *a;
	struct blocked_path *v;
	size_t n;
};

static void list_below(struct listing *l, struct str dir, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		l->v[l->n++] = (struct blocked_path){ .path = dir.n ? path_join(l->a, dir, str_z(names[i]))
								    : str_z(names[i]),
						      .roomy = find(roomy, LEN(roomy), str_z(names[i])) };
}

static void list_home(struct listing *l, struct str home)
{
	home = path_normalise(l->a, home);
	if (path_is_absolute(home) && home.n > 1)
		list_below(l, home, blocked_in_home, LEN(blocked_in_home));
}

const struct blocked_path *bind_blocked_paths(struct arena *a, const struct facts *f, size_t *ret_n)
{
	size_t max = LEN(blocked) + LEN(blocked_in_own) + LEN(blocked_in_log) +
		     (f->home_roots.n + 1) * LEN(blocked_in_home);
	struct str own = own_dir(a, f), log = audit_dir(a, f);
	struct listing l = { .a = a, .v = ARENA_ARRAY(a, struct blocked_path, max) };

	if (!l.v)
		return NULL;
	list_below(&l, (struct str){ 0 }, blocked, LEN(blocked));
	if (own.n)
		list_below(&l, own, blocked_in_own, LEN(blocked_in_own));
	if (log.n)
		list_below(&l, log, blocked_in_log, LEN(blocked_in_log));
	list_home(&l, f->home);
	for (size_t i = 0; i < f->home_roots.n; i++)
		if (!str_eq(f->home_roots.v[i], f->home))
			list_home(&l, f->home_roots.v[i]);
	*ret_n = l.n;
	return l.v;
}

bool bind_source_blocked(struct arena *a, const struct facts *f, struct str source, struct bind_block *ret)
{
	return is_blocked(&(struct search){ .a = a, .facts = f, .source = source }, ret);
}

bool workspace_blocked(struct arena *a, const struct facts *f, struct str dir, struct bind_block *ret)
{
	return is_blocked(&(struct search){ .a = a, .facts = f, .source = dir, .workspace = true }, ret);
}

bool source_is_system(struct str dir, struct bind_block *ret)
{
	for (size_t i = 0; i < LEN(system_sources); i++)
		if (path_within(str_z(system_sources[i]), dir))
			return false;
	for (size_t i = 0; i < LEN(system_trees); i++)
		if (hits(dir, str_z(system_trees[i]), ret))
			return true;
	for (size_t i = 0; i < LEN(system_tops); i++)
		if (str_eq(dir, str_z(system_tops[i]))) {
			*ret = (struct bind_block){ .path = dir };
			return true;
		}
	return false;
}

static bool part_is_sensitive(struct str part)
{
	if (find(sensitive_names, LEN(sensitive_names), part))
		return true;
	for (size_t i = 0; i < LEN(sensitive_endings); i++)
		if (str_ends(part, str_z(sensitive_endings[i])))
			return true;
	return false;
}

bool bind_is_sensitive(struct str source)
{
	struct str part, rest = source;

	while (str_cut(rest, '/', &part, &rest))
		if (part_is_sensitive(part))
			return true;
	return part_is_sensitive(rest);
}

struct str bind_shown(const struct bind *b)
{
	return b->origin.raw.n ? b->origin.raw : b->raw;
}

static enum code refuse(struct bind_view *v, enum code code, struct str why)
{
	v->why = why;
	return code;
}

static enum code check_source(struct arena *a, const struct bind_rules *rules, struct bind_view *v)
{
	struct bind_block block;

	if (bind_source_blocked(a, rules->facts, v->source, &block))
		return refuse(v, CODE_BIND_BLOCKED,
			      arena_printf(a, "its source %s '" STR_FMT "', which is never bound",
					   block.covers ? "covers" : "targets", STR_ARG(block.path)));
	if (v->writable && source_is_system(v->source, &block))
		return refuse(
			v, CODE_BIND_BLOCKED,
			arena_printf(
				a,
				"its source %s '" STR_FMT
				"', a directory of the system: writable, a command could change the host itself",
				block.covers ? "covers" : "is or lies in", STR_ARG(block.path)));
	for (size_t i = 0; i < rules->roots.n; i++)
		if (path_within(rules->roots.v[i], v->source))
			return CODE_OK;
	if (rules->roots.n == 0)
		return CODE_OK;
	return refuse(v, CODE_BIND_OUTSIDE_ROOTS, STR("its source lies outside the allowed roots"));
}

static enum code reserved(struct arena *a, struct bind_view *v, struct str by)
{
	return refuse(
		v, CODE_BIND_RESERVED_TARGET,
		arena_printf(a, "its target is or lies in the reserved path '" STR_FMT "'", STR_ARG(by)));
}

static enum code check_target(struct arena *a, const struct bind_rules *rules, struct bind_view *v)
{
	if (v->target.n == 1)
		return reserved(a, v, STR("/"));
	for (size_t i = 0; i < LEN(system_targets); i++)
		if (path_within(str_z(system_targets[i]), v->target))
			return reserved(a, v, str_z(system_targets[i]));
	if (rules->s->binds_reserved)
		return CODE_OK;
	for (size_t i = 0; i < LEN(reserved_targets); i++)
		if (path_within(str_z(reserved_targets[i]), v->target))
			return reserved(a, v, str_z(reserved_targets[i]));
	/* A bind that holds the workspace's own target would hide it, one inside it would change it. */
	if (rules->ws_target.n &&
	    (path_within(rules->ws_target, v->target) || path_within(v->target, rules->ws_target)))
		return reserved(a, v, rules->ws_target);
	return CODE_OK;
}

/* ro wins over rw: "ro,rw" is read-only. Nothing said is read-only too, unless upstream's reading is asked for. */
static enum code check_options(struct arena *a, const struct bind_rules *rules, const struct bind *b,
			       struct bind_view *v)
{
	struct str option, rest = b->options;
	bool rw = false, more = b->options.n > 0;

	while (more) {
		more = str_cut(rest, ',', &option, &rest);
		option = str_trim(more ? option : rest);
		rw = rw || str_eq_nocase(option, STR("rw"));
		if (!rules->upstream_options && !find(known_options, LEN(known_options), option))
			return refuse(v, CODE_BIND_INVALID,
				      arena_printf(a, "its mode '" STR_FMT "' is neither ro nor rw",
						   STR_ARG(option)));
	}
	v->mode_missing = !b->readonly && !rw;
	v->writable = !b->readonly && (rw || rules->upstream_options);
	return CODE_OK;
}

/* Not trimmed: "/srv/x " is another directory than "/srv/x". */
static struct str source_of(struct arena *a, const struct facts *f, struct str source)
{
	return path_normalise(a, source.p[0] == '~' ? path_join(a, f->home, str_from(source, 2)) : source);
}

enum code bind_check(struct arena *a, const struct bind_rules *rules, const struct bind *b,
		     struct bind_view *ret)
{
	enum code code;

	*ret = (struct bind_view){ 0 };
	if (path_is_windows(b->source))
		return refuse(ret, CODE_BIND_INVALID, STR("its source is a Windows path, and this is Linux"));
	if (!path_is_absolute(b->source) && !str_starts(b->source, STR("~/")))
		return refuse(ret, CODE_BIND_INVALID, STR("its source is not an absolute path"));
	if (memchr(b->raw.p ? b->raw.p : "", '\0', b->raw.n))
		return refuse(ret, CODE_BIND_INVALID, STR("it holds a NUL byte"));
	ret->source = source_of(a, rules->facts, b->source);
	if (!path_is_absolute(b->target))
		return refuse(ret, CODE_BIND_INVALID, STR("it has no absolute target path"));
	ret->target = path_normalise(a, b->target);
	code = check_options(a, rules, b, ret);
	if (code == CODE_OK)
		code = check_source(a, rules, ret);
	return code == CODE_OK ? check_target(a, rules, ret) : code;
}
