/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The road of one call: arguments, decision, "decided" in the log, sandbox, tool, result, "finished" in the log. Whatever happens on the way, the
 * caller gets a result, and what was decided and begun is finished in the log, too.
 */
#include "engine/engine_priv.h"

#include "base/clock.h"
#include "base/fd.h"
#include "data/json.h"
#include "net/line.h"
#include "tools/tool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define ARGUMENTS_MAX ((size_t)64 << 20)
#define GRACE_MS 2000u
#define LIMITS_LOOK_MS 1000u /* a count older than that may have calls of others in it */

struct trip {
	struct session *s;
	struct engine *g;
	const struct call_opts *o;
	struct arena *a;
	const struct tool *tool; /* NULL: none of ours */
	struct value args;
	struct request request;
	struct decision *d;
	struct buf members; /* {...} that the tool wrote */
	struct tool_programs programs;
	struct outcome out;
	uint64_t seq; /* of "decided" */
	bool decided;
	struct denial denials[2 + NET_DENIALS_MAX];
	uint64_t stdout_bytes, stderr_bytes;
	bool too_much;                 /* it wrote more than limits.output */
	struct session_hand *elevated; /* what was in hand before; NULL = this call is not */
};

/* ---- asking ---- */

/* Over in one process as in the next: who reads the log finds the call by it. */
static struct str make_id(struct trip *t)
{
	return arena_printf(t->a, "%s-%llu", t->g->run_id, (unsigned long long)++t->g->requests);
}

static int read_arguments(struct trip *t, struct err *e)
{
	const struct json_opts jo = { .name = "arguments", .max_bytes = ARGUMENTS_MAX };
	int r;

	if (str_trim(t->o->args).n == 0) {
		t->args = (struct value){ .kind = VALUE_OBJ };
		return 0;
	}
	r = json_parse(t->a, t->o->args, &jo, &t->args, e);
	if (r >= 0 && t->args.kind != VALUE_OBJ)
		return err_set(e, ERR_USAGE, "arguments: %s is not accepted: an object, {\"name\": value, …}",
			       value_kind_name(t->args.kind));
	return r;
}

/* What policy judges is what the tool will do: the same reading of the same arguments. */
static int fill_request(struct trip *t, struct err *e)
{
	struct tool_ask ask = { 0 };
	struct request *r = &t->request;
	int rc = t->tool ? tools_ask(t->tool, t->a, &t->args, &ask, e) : 0;

	*r = t->s->who;
	r->request_id = t->out.request_id;
	r->tool = t->o->tool;
	r->argv = ask.argv;
	r->command = ask.command;
	r->has_timeout = ask.has_timeout || t->o->timeout_s;
	r->timeout_s = t->o->timeout_s && (!ask.has_timeout || t->o->timeout_s < ask.timeout_s)
			       ? t->o->timeout_s
			       : ask.timeout_s;
	r->wants_elevated |= ask.wants_elevated;
	r->passive = ask.passive;
	r->brief = true;
	return rc;
}

static bool gives_secrets(const struct trip *t)
{
	for (size_t i = 0; i < t->d->n_env; i++)
		if (t->d->env[i].secret && t->d->env[i].state == ENV_SET)
			return true;
	return t->s->env_secret;
}

static int record_decision(struct trip *t, struct err *e)
{
	struct audit *audit;
	int r = engine_audit(t->g, &audit, e);

	if (r >= 0)
		r = engine_record_config(t->g, e);
	if (r >= 0 && gives_secrets(t))
		r = secrets_teach(t->g->secrets, t->d, t->g->redactor, e);
	if (r >= 0)
		r = audit_decided(audit, t->d, str_z(t->s->digest.walls), &t->seq, e);
	t->decided = r >= 0;
	return r < 0 ? err_wrap(e, "the decision cannot be recorded, so nothing was run") : 0;
}

/* ---- the ways to an end ---- */

static const char *error_word(enum err_kind kind)
{
	static const char *const words[ERR_KIND_COUNT_] = {
		[ERR_NONE] = "error",     [ERR_USAGE] = "invalid_arguments",
		[ERR_DENIED] = "denied",  [ERR_NOTFOUND] = "not_found",
		[ERR_LIMIT] = "limit",    [ERR_UNAVAIL] = "unavailable",
		[ERR_PROTO] = "protocol", [ERR_SYS] = "system_error",
		[ERR_BUG] = "internal",
	};

	return kind < ERR_KIND_COUNT_ ? words[kind] : "error";
}

static int end_with_error(struct trip *t, const char *word)
{
	struct outcome *o = &t->out;

	o->status = CALL_ERROR;
	o->reason = "error";
	o->error = word ? word : error_word(o->err.kind);
	o->exit = err_kind_exit(o->err.kind);
	return 0;
}

static void add_denial(struct trip *t, struct denial dn)
{
	dn.time_ms = dn.time_ms ? dn.time_ms : clock_unix_ms();
	dn.session = t->d->who.session_key;
	dn.tool = t->d->tool.name;
	dn.count = dn.count ? dn.count : 1;
	if (t->out.n_denials < sizeof(t->denials) / sizeof(t->denials[0]))
		t->denials[t->out.n_denials++] = dn;
	t->out.denials = t->denials;
}

static int end_refused(struct trip *t)
{
	struct outcome *o = &t->out;
	const struct decision *d = t->d;

	o->status = CALL_REFUSED;
	o->reason = "refused";
	o->exit = 126;
	o->error = d->verdict == VERDICT_ASK ? "approval_required" : code_word(d->code);
	o->err.kind = ERR_DENIED;
	if (d->verdict == VERDICT_ASK)
		(void)err_set(
			&o->err, ERR_DENIED,
			"a person has to allow this first, and approvals.timeout_s is 0: nobody is asked");
	else
		(void)snprintf(o->err.msg, sizeof(o->err.msg), "%.*s", (int)d->message.n, d->message.p);
	add_denial(t, (struct denial){ .operation = "call",
				       .object = t->o->tool,
				       .verdict = "refused",
				       .rule = str_z(o->error),
				       .layer = "policy",
				       .hint = d->fix_it.n ? d->fix_it.v[0] : (struct str){ 0 } });
	return 0;
}

/* ---- a person ---- */

/* Each way in which it was not allowed. */
static const struct {
	const char *word, *text;
} unasked[APPROVAL_STATE_COUNT_] = {
	[APPROVAL_DENIED] = { "approval_denied", "a person was asked, and denied it" },
	[APPROVAL_EXPIRED] = { "approval_timeout", "a person was asked, and nobody answered in time" },
	[APPROVAL_WITHDRAWN] = { "approval_withdrawn", "nobody waits for the answer any more" },
};

static int end_unapproved(struct trip *t)
{
	const struct approval_end *end = &t->out.approval;
	struct outcome *o = &t->out;

	(void)end_refused(t);
	if (!end->id.n) /* approvals.timeout_s is 0 */
		return 0;
	o->error = unasked[end->state].word;
	t->denials[0].rule = str_z(o->error);
	if (end->by.n)
		(void)err_set(&o->err, ERR_DENIED, "%s (" STR_FMT "%s" STR_FMT ")", unasked[end->state].text,
			      STR_ARG(end->by), end->reason.n ? ": " : "", STR_ARG(end->reason));
	else
		(void)err_set(&o->err, ERR_DENIED,
			      "%s; fix: 'creel approvals list' while it waits, approvals.timeout_s",
			      unasked[end->state].text);
	return 0;
}

/* 1: go on. */
static int ask_person(struct trip *t)
{
	struct err *e = &t->out.err;
	int r = approval_ask(t->s, t->d, &t->args, t->o, t->a, &t->out.approval, e);

	if (r < 0)
		return end_with_error(t, e->kind == ERR_LIMIT ? "approval_limit" : "approval_unavailable");
	if (t->out.approval.state == APPROVAL_USED || t->out.approval.state == APPROVAL_GRANTED)
		return 1;
	return end_unapproved(t);
}

static int end_verdict(struct trip *t)
{
	t->out.status = CALL_VERDICT;
	t->out.reason = "decided";
	return 0;
}

/* ---- running ---- */

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

static void fill_programs(struct trip *t)
{
	const struct decision *d = t->d;
	struct tool_programs *p = &t->programs;

	p->box = t->s->box;
	p->memory = &t->g->memory;
	p->argv = d->tool.argv;
	p->path = search_path(t);
	p->workdir = start_dir(t);
	p->timeout_ms = d->limits.timeout_s * 1000;
	p->grace_ms = GRACE_MS;
	p->stdout_max = d->limits.stdout_max;
	p->stderr_max = d->limits.stderr_max;
	p->apart = gives_secrets(t);
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
	if (gives_secrets(t))
		r = secrets_env(t->g->secrets, d, &env, e);
	if (r >= 0)
		r = session_env(t->s, d, t->s->on_host ? t->g->input.environ : env.v, t->a, &t->programs.env,
				e);
	/* Who runs programs needs nobody to open files for him. */
	if (r >= 0 && !(t->tool->needs & CAP_BIT(CAP_PROC_EXEC)))
		r = t->s->box->ops->files(t->s->box, &x.files, e);
	if (r < 0)
		return r;
	fill_programs(t);
	jsonw_init(&w, &t->members, 0);
	jsonw_obj(&w);
	r = tools_run(t->tool, &x, &t->args, &w, e);
	jsonw_obj_end(&w);
	t->out.says_end = x.says_end;
	t->out.says_artifacts = x.says_artifacts;
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
		add_denial(t, (struct denial){ .operation = "allocate",
					       .object = STR("memory"),
					       .verdict = "killed",
					       .rule = STR("limits.memory"),
					       .layer = "cgroup",
					       .hint = STR("limits.memory allows more"),
					       .count = t->s->seen.oom_kills - before.oom_kills });
	if (t->s->seen.pids_refused > before.pids_refused)
		add_denial(t, (struct denial){ .operation = "fork",
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
		add_denial(t, (struct denial){ .operation = "write",
					       .object = STR("standard output and standard error"),
					       .verdict = "killed",
					       .rule = STR("limits.output"),
					       .layer = "creel",
					       .hint = STR("--output-limit SIZE allows more") });
	if (r < 0) {
		(void)end_with_error(t, end->error[0] ? end->error : NULL);
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
}

/* What the proxy has refused is told with the result. A proxy that has gone took with it what the call could reach, and the record of it. */
static void end_way(struct trip *t, int fd)
{
	struct net_report *n = ARENA_NEW(t->a, struct net_report);
	struct err e = { 0 };

	if (!n || egress_close(fd, n, &e) < 0) {
		t->out.err = e;
		(void)end_with_error(t, "egress_lost");
		return;
	}
	t->out.net = n;
	for (size_t i = 0; i < n->n_denials; i++)
		add_denial(t, way_denial(&n->denials[i]));
}

static int run_in_place(struct trip *t)
{
	_cleanup_close_ int way = FD_NONE;
	struct err *e = &t->out.err;
	struct err ignored = { 0 };
	int r;

	if (way_find(t->g, t->d, &way, e) < 0)
		return end_with_error(t, "egress_unavailable");
	r = session_sandbox(t->s, t->d, t->a, e);
	if (r < 0)
		return end_with_error(t, e->kind == ERR_DENIED ? NULL
					 : t->s->setup.failed  ? "setup_failed"
							       : "sandbox_unavailable");
	if (way >= 0 && way_open(way, t->s, t->d, t->out.request_id, t->a, e) < 0)
		return end_with_error(t, "egress_unavailable");
	if (t->o->allowed)
		t->o->allowed(t->o->ctx);
	warn_first(t);
	if (!t->s->on_host && clock_mono_ms() - t->s->seen.looked_ms >= LIMITS_LOOK_MS)
		session_count_limits(t->s);
	r = run_tool(t, e);
	judge(t, r);
	if (way >= 0)
		end_way(t, TAKE_FD(way));
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

/* What was decided and cannot be had in this build is told like any other thing that is missing. */
static int check_route(const struct trip *t, struct err *e)
{
	const struct decision *d = t->d;

	if (d->place.place == PLACE_HOST)
		return 0;
	if (d->place.backend != BACKEND_NATIVE)
		return err_set(e, ERR_UNAVAIL,
			       "backend '%s' cannot run calls in this build; fix: backend.order=native",
			       enum_name(backend_names, (int)d->place.backend));
	return d->net.route == ROUTE_NONE ? 0 : way_check(d, e);
}

static int decide_and_run(struct trip *t)
{
	struct err *e = &t->out.err, wrong = { 0 };
	int asked;

	if (read_arguments(t, e) < 0)
		return end_with_error(t, NULL);
	t->tool = tools_find(str_trim(t->o->tool));
	session_find_place(t->s, t->a);
	asked = fill_request(t, e);
	if (asked < 0) {
		wrong = *e;
		*e = (struct err){ 0 };
	}
	t->d = ARENA_NEW(t->a, struct decision);
	if (!t->d)
		return err_set(e, ERR_LIMIT, "out of memory");
	if (decide(t->s->config, &t->request, t->a, t->d, e) < 0)
		return -1;
	t->out.d = t->d;
	/* A tool that is refused is refused first, whatever its arguments: nobody learns more about it, and the log has it. */
	if (asked < 0 && (t->d->verdict != VERDICT_DENY || t->d->stopped_at > STAGE_TOOL)) {
		*e = wrong;
		return end_with_error(t, NULL);
	}
	if (record_decision(t, e) < 0)
		return end_with_error(t, "audit_unavailable");
	if (t->d->verdict == VERDICT_DENY)
		return end_refused(t);
	if (t->d->tool.gateway_side && t->d->verdict == VERDICT_ALLOW)
		return end_verdict(t);
	if (!t->tool) {
		(void)err_set(e, ERR_NOTFOUND,
			      "there is no tool '" STR_FMT "'; creel call --list shows those that there are",
			      STR_ARG(t->o->tool));
		return end_with_error(t, "unknown_tool");
	}
	if (tools_check_built(t->tool, e) < 0 || check_route(t, e) < 0)
		return end_with_error(t, NULL);
	if (t->d->verdict != VERDICT_ALLOW) {
		int yes = ask_person(t);

		if (yes <= 0)
			return yes;
	}
	return t->d->place.elevated.used ? run_elevated(t) : run_in_place(t);
}

static void record_end(struct trip *t)
{
	const struct outcome *o = &t->out;
	struct audit_end end = { .decided = t->seq,
				 .request_id = o->request_id,
				 .session = t->d ? t->d->who.session_key : t->s->who.session_key,
				 .tool = t->d ? t->d->tool.name : t->o->tool,
				 .reason = o->reason,
				 .exit = o->exit,
				 .duration_ms = o->duration_ms,
				 .stdout_bytes = t->stdout_bytes,
				 .stderr_bytes = t->stderr_bytes,
				 .cpu_ms = (o->end.user_us + o->end.sys_us) / 1000,
				 .peak_bytes = o->end.peak_kib * 1024,
				 .elevated = t->d && t->d->place.elevated.used,
				 .approval = o->approval.id,
				 .denials = o->denials,
				 .n_denials = o->n_denials };
	struct err ignored = { 0 };

	/* The call is over: a log that is full now is told by the next, which does not run. */
	if (t->decided && t->g->audit)
		(void)audit_finished(t->g->audit, &end, &ignored);
}

/* What of the result is told without its JSON. */
static void tell_result(const struct trip *t, struct call_result *ret)
{
	const struct outcome *o = &t->out;
	bool ran = o->status == CALL_OK || o->status == CALL_FAILED;

	ret->kind = ran ? ERR_NONE : o->err.kind;
	ret->sys_errno = ran ? 0 : o->err.sys_errno;
	ret->code = o->status == CALL_REFUSED ? t->d->code : CODE_OK;
	if (ret->code == CODE_OK && o->status == CALL_REFUSED) /* a person did, or nobody answered */
		ret->code = CODE_EXEC_MODE_DENIED;
	(void)snprintf(ret->error, sizeof(ret->error), "%s", o->error ? o->error : "");
	ret->ran = o->has_usage;
	ret->reason = o->end.reason;
	ret->backend = t->d && o->status != CALL_REFUSED ? t->d->place.backend : BACKEND_NONE;
	for (size_t i = 0; i < o->n_denials && i < CALL_LAYERS_MAX; i++)
		ret->layers[i] = o->denials[i].layer;
}

static int travel(struct session *s, const struct call_opts *o, struct arena *a, struct call_result *ret,
		  struct err *e)
{
	struct trip *t = ARENA_NEW(a, struct trip);
	bool lost;
	uint64_t begin = clock_mono_ns();
	int r;

	if (!t)
		return err_set(e, ERR_LIMIT, "out of memory");
	t->s = s;
	t->g = s->engine;
	t->o = o;
	t->a = a;
	s->cancel_fd = o->cancel_fd;
	s->setup = (struct setup_end){ 0 };
	buf_init(&t->members, RESULT_MAX);
	t->out.tool = o->tool;
	t->out.request_id = o->request_id.n ? o->request_id : make_id(t);
	r = decide_and_run(t);
	t->out.duration_ms = (clock_mono_ns() - begin) / 1000000;
	if (r >= 0) {
		record_end(t);
		result_put(s, &t->out, &ret->json);
		ret->status = t->out.status;
		ret->exit = t->out.exit;
		tell_result(t, ret);
	} else {
		*e = t->out.err;
	}
	buf_done(&t->members);
	lost = t->programs.end.ran && t->programs.end.end.reason == BOX_LOST;
	if (t->elevated)
		session_take_up(s, t->elevated);
	else if (s->for_one || lost)
		session_end(s, lost);
	if (r >= 0 && ret->json.failed)
		r = err_set(e, ERR_LIMIT, "the result is larger than %zu bytes", RESULT_MAX);
	return r;
}

/* From its start, holes and all: it has to be zero again. */
static size_t bytes_used(const struct session *s, const struct arena *a)
{
	const char *first = s->call_memory;

	return a->next >= first && a->next <= first + CALL_ARENA_FIRST ? (size_t)(a->next - first)
								       : CALL_ARENA_FIRST;
}

int session_call(struct session *s, const struct call_opts *o, struct call_result *ret, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	int r;

	if (o->tool.n == 0)
		return err_set(e, ERR_USAGE, "no tool was named");
	*ret = (struct call_result){ 0 };
	buf_init(&ret->json, RESULT_MAX);
	arena_init_again(&a, CALL_ARENA_MAX, s->call_memory, CALL_ARENA_FIRST, s->call_used);
	r = travel(s, o, &a, ret, e);
	s->call_used = bytes_used(s, &a);
	engine_tick(s->engine);
	if (r < 0)
		buf_done(&ret->json);
	return r;
}

/* ---- asking without running ---- */

int session_decide(struct session *s, struct str tool, struct str args, struct buf *out, bool *ret_allowed,
		   struct err *e)
{
	const struct call_opts o = { .tool = tool, .args = args };
	const struct explain_opts eo = { 0 };
	_cleanup_arena_ struct arena a = { 0 };
	struct trip *t;
	struct jsonw w;
	int r;

	arena_init(&a, CALL_ARENA_MAX);
	t = ARENA_NEW(&a, struct trip);
	if (!t)
		return err_set(e, ERR_LIMIT, "out of memory");
	t->s = s;
	t->g = s->engine;
	t->o = &o;
	t->a = &a;
	r = read_arguments(t, e);
	if (r < 0)
		return r;
	t->tool = tools_find(str_trim(tool));
	session_find_place(s, &a);
	r = fill_request(t, e);
	t->request.brief = false;
	t->d = ARENA_NEW(&a, struct decision);
	if (r >= 0)
		r = t->d ? decide(s->config, &t->request, &a, t->d, e)
			 : err_set(e, ERR_LIMIT, "out of memory");
	if (r < 0)
		return r;
	jsonw_init(&w, out, 2);
	explain_json(t->d, &eo, &w);
	buf_putc(out, '\n');
	redact(out, s->config, false);
	*ret_allowed = t->d->verdict == VERDICT_ALLOW;
	return out->failed ? err_set(e, ERR_LIMIT, "out of memory") : 0;
}
