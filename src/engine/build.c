/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/build.h"

#include "backend/keeper.h"
#include "backend/native.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/root.h"
#include "sandbox/plan.h"
#include "sandbox/profile.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define PLAN_MAX ((size_t)4 << 20)

void build_name(struct str key, char out[static BUILD_NAME_MAX])
{
	char hex[SHA256_HEX];

	sha256_hex(key, hex);
	memcpy(out, hex, BUILD_NAME_MAX - 1);
	out[BUILD_NAME_MAX - 1] = '\0';
}

/* A session's layers are its work, like its workspace: they stay. A job's are removed by its warden, as those of a run. */
static int name_private_dir(struct build *b, struct err *e)
{
	static _Atomic unsigned count; /* of all threads */
	const struct build_input *in = &b->in;
	_cleanup_close_ int dir = FD_NONE;
	char id[64];

	static_assert(sizeof(id) >= BUILD_NAME_MAX, "either name fits");
	if (in->passing)
		(void)snprintf(id, sizeof(id), "%llx-%d-%u", (unsigned long long)clock_unix_ms(), getpid(),
			       count++);
	else
		build_name(in->decision->place.key, id);
	dir = state_open(in->state, in->passing ? "live" : "layers", id, b->private_dir,
			 sizeof(b->private_dir), e);
	if (dir >= 0 && !in->passing)
		layers_note(dir, id, in->decision->place.key);
	return dir < 0 ? dir : 0;
}

int build_make(const struct build_input *in, struct arena *a, struct diags *diags, struct build *ret,
	       struct err *e)
{
	struct source_rules rules = { .arena = a, .facts = in->facts };
	struct profile_input p = { .decision = in->decision,
				   .serve = true,
				   .private_stays = !in->passing,
				   .uid = getuid(),
				   .root = root_of_host(),
				   .gid = getgid(),
				   .allowed = source_allowed,
				   .ctx = &rules };
	struct git_user git;
	struct str image = in->image.p ? in->image : in->decision->place.image;
	int r;

	*ret = (struct build){ .in = *in };
	if (!image.n)
		image.p = NULL;
	r = image_find(in->state, a, image, &p.image, e);
	if (r >= 0 && wants_layers(in->decision))
		r = name_private_dir(ret, e);
	if (r >= 0)
		r = limits_find(in->decision, &ret->limits, e);
	ret->limits.stays = true; /* one call of many, and the warden serves the next */
	p.private_dir = str_z(ret->private_dir);
	if (in->local && !scope_is_shared(in->decision->place.scope)) {
		git = git_user_find(a, in->facts->home, in->state->environ);
		p.gitconfig = git_user_text(a, &git);
	}
	if (r >= 0)
		r = profile_make(&p, a, diags, &ret->profile, e);
	if (r < 0)
		return r;
	ret->profile.timeout_ms = 0; /* calls have deadlines; it has none */
	digest_profile(&ret->profile, &ret->digest);
	if (in->decision->limits.run_setup)
		digest_setup(in->decision->eff.setup_command, &ret->digest);
	return 0;
}

/* ---- the same or not ---- */

static void put(struct buf *out, struct str s)
{
	uint32_t n = (uint32_t)s.n;

	buf_put(out, (struct str){ .p = (const char *)&n, .n = sizeof(n) });
	buf_put(out, s);
}

static void put_mount(struct buf *out, const struct mount *m)
{
	const char flags[] = { (char)m->writable, (char)m->overlay, (char)m->optional,
			       (char)m->check_resolved, (char)m->source };

	put(out, m->host);
	put(out, m->target);
	buf_put(out, (struct str){ .p = flags, .n = sizeof(flags) });
}

void build_walls(const struct decision *d, struct buf *out)
{
	const struct settings *s = &d->eff;
	const uint64_t numbers[] = {
		d->limits.pids,
		d->limits.memory,
		d->limits.tmpfs,
		d->limits.disk,
		d->limits.open_files,
		d->optional_walls,
		d->mode.caps & CAP_BIT(CAP_VCS),
		(uint64_t)(d->limits.cpus * 1000),
		(uint64_t)d->place.backend << 8 | (uint64_t)d->place.place << 4 | d->place.scope,
		(uint64_t)s->has[OPT_MEMORY] << 2 | (uint64_t)s->has[OPT_PIDS] << 1 | s->has[OPT_CPUS]
	};

	buf_put(out, (struct str){ .p = (const char *)numbers, .n = sizeof(numbers) });
	put(out, d->place.image);
	put(out, d->workdir);
	put(out, d->workspace);
	put(out, d->limits.run_setup ? s->setup_command : (struct str){ 0 });
	for (size_t i = 0; i < d->n_mounts; i++)
		put_mount(out, &d->mounts[i]);
}

void build_signature(const struct decision *d, struct buf *out)
{
	put(out, d->place.key);
	build_walls(d, out);
}

/* ---- starting ---- */

/* Of v1, there are groups for limits that somebody named; they are entered, not born in. */
static bool may_have_group(const struct build_input *in)
{
	const struct settings *s = &in->decision->eff;

	return in->parent.n || s->has[OPT_MEMORY] || s->has[OPT_PIDS] || s->has[OPT_CPUS] ||
	       cgroup_v2_possible();
}

void build_early(const struct build_input *in, int warden_fd, struct sandbox *ret)
{
	const struct sandbox_stdio none = { FD_NONE, FD_NONE, FD_NONE };
	struct err ignored = { 0 };

	if (sandbox_spawn(warden_fd, &none, SPAWN_BESIDE | (may_have_group(in) ? SPAWN_WAITS : 0), ret,
			  &ignored) < 0)
		*ret = SANDBOX_NONE;
}

/* One that has made its namespaces outside of any group cannot be moved into one any more. */
static struct sandbox *early_for(const struct build *b, const struct cgroup *cgroup)
{
	struct sandbox *s = b->early;

	return s && s->warden.pid > 0 && (s->waits || cgroup->version == CGROUP_NONE) ? s : NULL;
}

/* One that waits is told of each group before it is made: it removes them if we are killed, and makes room with us where we are alone. */
static int make_groups(struct build *b, struct cgroup *cgroup, struct err *e)
{
	struct sandbox *s = b->early && b->early->waits ? b->early : NULL;
	const struct cgroup_heir heir = { .tell = sandbox_tell_group,
					  .ctx = s,
					  .pid = s ? s->warden.pid : 0 };

	return limits_hold_for(s && s->warden.pid > 0 ? &heir : NULL, b->in.decision, &b->limits,
			       b->in.parent, cgroup, e);
}

static int make_plan(struct build *b, struct cgroup *cgroup, struct buf *plan, struct err *e)
{
	int r = make_groups(b, cgroup, e);

	if (r < 0)
		return r;
	/* Both count alike where warden and payload are one user; the rlimit would answer first, and nobody would hear of it. */
	if (cgroup->have & CGROUP_PIDS)
		b->profile.pids++;
	buf_init(plan, PLAN_MAX);
	r = plan_build(&b->profile, plan, e);
	if (cgroup->have & CGROUP_PIDS)
		b->profile.pids--; /* as decided, for whoever asks again */
	if (r < 0) {
		if (b->early)
			sandbox_done(b->early); /* may be in one */
		cgroup_done(cgroup);
	}
	return r;
}

/* A session has one sandbox at a time with its layers. */
static int explain_busy(const struct build *b, int r, struct err *e)
{
	if (r >= 0 || e->sys_errno != EBUSY || !b->private_dir[0])
		return r;
	return err_set(e, ERR_LIMIT,
		       "another sandbox uses the private layers of '" STR_FMT
		       "'; fix: end it, or give this session another key",
		       STR_ARG(b->in.decision->place.key));
}

static int own(struct build *b, int warden_fd, bool wait, struct box **ret, struct err *e)
{
	_cleanup_buf_ struct buf plan = { 0 };
	struct cgroup cgroup = CGROUP_EMPTY;
	struct native_spec spec = { .cgroup = &cgroup,
				    .workdir = b->in.decision->workdir,
				    .warden_fd = warden_fd,
				    .clerk_fd = b->clerk_fd };
	int r = make_plan(b, &cgroup, &plan, e);

	if (r < 0)
		return r;
	spec.plan = buf_str(&plan);
	spec.early = early_for(b, &cgroup);
	return explain_busy(b, wait ? native_open(&spec, ret, e) : native_begin(&spec, ret, e), e);
}

int build_own(struct build *b, int warden_fd, struct box **ret, struct err *e)
{
	return own(b, warden_fd, true, ret, e);
}

int build_begin(struct build *b, int warden_fd, struct box **ret, struct err *e)
{
	return own(b, warden_fd, false, ret, e);
}

int build_stands(const struct build *b, struct box *box, struct err *e)
{
	int r = native_stands(box, true, e);

	return r > 0   ? 0
	       : r < 0 ? explain_busy(b, r, e)
		       : err_set(e, ERR_BUG, "a sandbox was not waited for");
}

int build_kept(struct build *b, const struct build_kept *k, pid_t *ret_pid, struct err *e)
{
	_cleanup_buf_ struct buf plan = { 0 };
	struct cgroup cgroup = CGROUP_EMPTY;
	struct keeper_spec spec = { .dir = k->dir,
				    .cgroup = &cgroup,
				    .workdir = b->in.decision->workdir,
				    .idle_s = k->idle_s,
				    .durable = k->durable };
	struct keeper_started started;
	int r = make_plan(b, &cgroup, &plan, e);

	if (r < 0)
		return r;
	spec.plan = buf_str(&plan);
	r = explain_busy(b, keeper_start(&spec, &started, e), e);
	if (r >= 0)
		*ret_pid = started.pid;
	return r;
}
