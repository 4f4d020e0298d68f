/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the road on which the tool runs, and what its end means for the call. */
#include "engine/road_priv.h"

#include "base/clock.h"
#include "base/fd.h"

#define GRACE_MS 2000u
#define MEMBERS_USUAL 480u   /* of a tool that says little */
#define LIMITS_LOOK_MS 1000u /* a count older than that may have calls of others in it */

bool trip_gives_secrets(const struct trip *t)
{
	for (size_t i = 0; i < t->d->n_env; i++)
		if (t->d->env[i].secret && t->d->env[i].state == ENV_SET)
			return true;
	return t->s->env_secret;
}

/* What is beyond limits.output is passed on to nobody, and the call is cancelled. */
static int pass_output(void *ctx, int stream, struct str bytes)
{
	struct trip *t = ctx;
	uint64_t max = t->d->limits.output, had = t->stdout_bytes + t->stderr_bytes;

	if (max && bytes.n > max - (had < max ? had : max)) {
		bytes.n = (size_t)(max - (had < max ? had : max));
		t->too_much = true;
	}
	*(stream == 2 ? &t->stderr_bytes : &t->stdout_bytes) += bytes.n;
	if (t->o->output && bytes.n && t->o->output(t->o->ctx, stream, bytes))
		return 1;
	return t->too_much;
}

static struct str search_path(const struct trip *t)
{
	for (size_t i = 0; i < t->programs.env.n; i++)
		if (str_starts(t->programs.env.v[i], STR("PATH=")))
			return str_from(t->programs.env.v[i], 5);
	return STR("/usr/local/bin:/usr/bin:/bin");
}

/* Inside, where the caller stands outside. */
static struct str start_dir(const struct trip *t)
{
	struct str work = t->d->workdir, below = t->s->below;

	if (t->s->on_host)
		return (struct str){ 0 };
	return below.n ? arena_printf(t->a, "%.*s/%.*s", (int)work.n, work.p, (int)below.n, below.p) : work;
}

/* Never 0: that is everybody. */
static uint64_t owner_of(struct str session_key)
{
	unsigned char sum[SHA256_BYTES];
	struct sha256 c;
	uint64_t n;

	sha256_init(&c);
	sha256_add(&c, session_key);
	sha256_end(&c, sum);
	memcpy(&n, sum, sizeof(n));
	return n ? n : 1;
}

/* A sandbox may be shared by many sessions; what one of them has started is not there for the others. */
static void set_owner(const struct trip *t)
{
	struct box *b = t->s->box;

	if (!b)
		return;
	b->jobs_owner = owner_of(t->d->who.session_key);
	b->jobs_any = t->o->all_processes && t->tool && t->tool->looks_after;
}

static void fill_programs(struct trip *t)
{
	const struct decision *d = t->d;
	struct tool_programs *p = &t->programs;

	set_owner(t);
	p->box = t->s->box;
	p->memory = &t->g->memory;
	p->argv = d->tool.argv;
	p->own_shell = d->tool.own_shell;
	p->path = search_path(t);
	p->workdir = start_dir(t);
	p->timeout_ms = d->limits.timeout_s * 1000;
	p->grace_ms = GRACE_MS;
	p->stdout_max = d->limits.stdout_max;
	p->stderr_max = d->limits.stderr_max;
	p->apart = trip_gives_secrets(t);
	p->cancel_fd = t->o->cancel_fd;
	p->output = pass_output;
	p->output_ctx = t;
}

static int run_tool(struct trip *t, struct err *e)
{
	const struct decision *d = t->d;
	_cleanup_secret_env_ struct secret_env env = { 0 };
	struct tool_ctx x = { .arena = t->a,
			      .work = d->workdir,
			      .below = t->s->on_host ? (struct str){ 0 } : t->s->below,
			      .work_only = d->eff.fs_workspace_only,
			      .read_bytes = d->limits.read_bytes,
			      .read_max = d->limits.read_max,
			      .write_max = d->limits.write_max,
			      .deadline_ms = clock_deadline(d->limits.timeout_s * 1000),
			      .programs = &t->programs };
	struct jsonw w;
	int r = 0;

	/* Values that are secret lie in memory that is wiped; where there are none, that would be for nothing. */
	if (trip_gives_secrets(t))
		r = secrets_env(t->g->secrets, d, &env, e);
	if (r >= 0)
		r = session_env(t->s, d, t->s->on_host ? t->g->input.environ : env.v, t->a, &t->programs.env,
				e);
	/* Who runs programs needs nobody to open files for him. */
	if (r >= 0 && !(t->tool->needs & CAP_BIT(CAP_PROC_EXEC)))
		r = t->s->box->ops->files(t->s->box, &x.files, e);
	if (r < 0)
		return r;
	if (x.files)
		x.files->heard = 0;
	fill_programs(t);
	buf_reserve(&t->members, MEMBERS_USUAL);
	jsonw_init(&w, &t->members, 0);
	jsonw_obj(&w);
	r = tools_run(t->tool, &x, &t->args, &w, e);
	jsonw_obj_end(&w);
	t->out.says_end = x.says_end;
	t->out.says_artifacts = x.says_artifacts;
	t->unheard = x.files && x.files->heard == 0 && e->sys_errno == ECONNRESET;
	if (r >= 0 && t->members.failed)
		return err_set(e, ERR_LIMIT, "the result is larger than %zu bytes", RESULT_MAX);
	return r;
}

/* A program that was not well may have had too little of something: only the cgroup tells, and it counts for the sandbox as a whole. */
static void look_for_limits(struct trip *t)
{
	const struct tool_end *end = &t->programs.end;
	const struct limits_seen before = t->s->seen;
	const bool failed =
		end->end.reason == BOX_SIGNALED || (end->end.reason == BOX_EXITED && end->end.value != 0);

	if (!end->ran || !failed || t->s->on_host)
		return;
	session_count_limits(t->s);
	if (t->s->seen.oom_kills > before.oom_kills)
		trip_denial(t, (struct denial){ .operation = "allocate",
						.object = STR("memory"),
						.verdict = "killed",
						.rule = STR("limits.memory"),
						.layer = "cgroup",
						.hint = STR("limits.memory allows more"),
						.count = t->s->seen.oom_kills - before.oom_kills });
	if (t->s->seen.pids_refused > before.pids_refused)
		trip_denial(t, (struct denial){ .operation = "fork",
						.object = STR("a process or thread"),
						.verdict = "refused",
						.rule = STR("limits.pids"),
						.layer = "cgroup",
						.hint = STR("limits.pids allows more"),
						.count = t->s->seen.pids_refused - before.pids_refused });
}

/* Which programs there were, and how they ended, is the tool's to say; what that means for the call is said here. */
static void judge(struct trip *t, int r)
{
	const struct tool_end *end = &t->programs.end;
	struct outcome *o = &t->out;

	o->has_usage = end->ran;
	o->end = end->end;
	if (end->ran)
		look_for_limits(t);
	if (t->too_much)
		trip_denial(t, (struct denial){ .operation = "write",
						.object = STR("standard output and standard error"),
						.verdict = "killed",
						.rule = STR("limits.output"),
						.layer = "creel",
						.hint = STR("--output-limit SIZE allows more") });
	if (r < 0) {
		(void)trip_error(t, end->error[0] ? end->error : NULL);
		if (end->exit)
			o->exit = end->exit;
		return;
	}
	if (o->members.n == 0)
		o->members = (struct str){ .p = t->members.p + 1, .n = t->members.n - 2 };
	o->reason = end->ran ? enum_name(box_reason_names, (int)end->end.reason) : "done";
	o->exit = end->exit;
	o->status = end->error[0] ? CALL_FAILED : CALL_OK;
	o->error = end->error[0] ? end->error : NULL;
	if (t->too_much && end->end.reason == BOX_CANCELLED)
		o->error = "output_limit";
}

/* What the caller should know by then. The result begins its warnings with the same. */
static void warn_first(struct trip *t)
{
	_cleanup_buf_ struct buf text = { 0 };

	if (!t->o->warn)
		return;
	if (t->s->on_host && !t->s->who.no_sandbox)
		t->o->warn(t->o->ctx,
			   t->d->place.elevated.used
				   ? "elevated: on the host, outside of the sandbox and without any wall"
				   : "on the host, without any wall: nothing asks for a sandbox here; "
				     "--sandbox light does");
	buf_init(&text, 16384);
	if (session_elsewhere(t->s, &text))
		t->o->warn(t->o->ctx, buf_str(&text).p);
	text.n = 0;
	if (session_apart(t->s, t->d, &text))
		t->o->warn(t->o->ctx, buf_str(&text).p);
}

/* What the proxy has refused is told with the result. A proxy that has gone took with it what the call could reach, and the record of it. */
static bool end_way(struct trip *t, int fd)
{
	struct net_report *n = ARENA_NEW(t->a, struct net_report);
	const struct net_report *before = t->out.net; /* of a call that goes again */
	struct err e = { 0 };

	if (!n || egress_close(fd, n, &e) < 0) {
		t->out.err = e;
		(void)trip_error(t, "egress_lost");
		return false;
	}
	if (before) {
		n->requests += before->requests;
		n->bytes_up += before->bytes_up;
		n->bytes_down += before->bytes_down;
		n->denials_lost += before->denials_lost;
	}
	t->out.net = n;
	for (size_t i = 0; i < n->n_denials; i++) {
		size_t had = t->out.n_denials;

		trip_denial(t, way_denial(&n->denials[i]));
		n->denials_lost += t->out.n_denials == had;
	}
	return true;
}

/* Ended by somebody while the call was on its way there: the next one has it, once. What may have begun is not tried again. */
static bool goes_again(struct trip *t, int r)
{
	if (r >= 0 || t->again || t->s->on_host || t->programs.end.ran ||
	    !(t->unheard || box_is_unbegun(&t->out.err)))
		return false;
	if (t->s->for_one)
		session_end(t->s, true);
	t->again = true;
	t->out.err = (struct err){ 0 };
	t->members.n = 0;
	return true;
}

static int run_in_place(struct trip *t)
{
	_cleanup_close_ int way = FD_NONE;
	struct err *e = &t->out.err;
	struct err ignored = { 0 };
	int r;

	if (way_find(t->g, t->d, &way, e) < 0)
		return trip_error(t, "egress_unavailable");
	r = session_sandbox(t->s, t->d, t->a, e);
	if (r < 0)
		return trip_error(t, e->kind == ERR_DENIED ? NULL
				     : t->s->setup.failed  ? "setup_failed"
							   : "sandbox_unavailable");
	spare_want(t->s, &t->request, t->d);
	if (way >= 0 && way_open(way, t->s, t->d, t->out.request_id, t->a, e) < 0)
		return trip_error(t, "egress_unavailable");
	if (!t->again) {
		if (t->o->allowed)
			t->o->allowed(t->o->ctx);
		warn_first(t);
	}
	if (!t->s->on_host && clock_mono_ms() - t->s->seen.looked_ms >= LIMITS_LOOK_MS)
		session_count_limits(t->s);
	t->began = t->out.placed = true;
	r = run_tool(t, e);
	if (goes_again(t, r)) {
		if (way >= 0 && !end_way(t, TAKE_FD(way)))
			return 0;
		return run_in_place(t);
	}
	judge(t, r);
	if (way >= 0)
		(void)end_way(t, TAKE_FD(way));
	if (t->s->kept && t->g->registry)
		(void)registry_touch(t->g->registry, t->d->place.key, clock_unix_ms(), &ignored);
	return 0;
}

/* An elevated call leaves the sandbox, and the sandbox stays for the next one. */
static int run_elevated(struct trip *t)
{
	struct session_hand *hand = ARENA_NEW(t->a, struct session_hand);
	int r;

	if (!hand)
		return err_set(&t->out.err, ERR_LIMIT, "out of memory");
	session_put_aside(t->s, hand);
	r = run_in_place(t);
	t->elevated = hand;
	return r;
}

int trip_run(struct trip *t)
{
	return t->d->place.elevated.used ? run_elevated(t) : run_in_place(t);
}
