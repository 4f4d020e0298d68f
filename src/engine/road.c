/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The road of one call: arguments, decision, "decided" in the log, sandbox, tool, result, "finished" in the log. Whatever happens on the way, the
 * caller gets a result, and what was decided and begun is finished in the log, too.
 */
#include "engine/road_priv.h"

#include "base/clock.h"

#include <stdio.h>

#define ARGUMENTS_MAX ((size_t)64 << 20)

/* ---- asking ---- */

/* Over in one process as in the next: who reads the log finds the call by it. */
static struct str make_id(struct trip *t)
{
	struct buf id;

	buf_init_on(&id, sizeof(t->id) - 1, t->id, sizeof(t->id));
	buf_puts(&id, t->g->run_id);
	buf_putc(&id, '-');
	buf_put_u64(&id, ++t->g->requests);
	return buf_str(&id);
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
	r->path = ask.path;
	r->has_timeout = ask.has_timeout || t->o->timeout_s;
	r->timeout_s = t->o->timeout_s && (!ask.has_timeout || t->o->timeout_s < ask.timeout_s)
			       ? t->o->timeout_s
			       : ask.timeout_s;
	r->wants_elevated |= ask.wants_elevated;
	r->passive = ask.passive;
	r->brief = true;
	return rc;
}

/* What cannot be read is decided about like a call without arguments: it is in the log, too. */
static int read_and_ask(struct trip *t, struct err *e)
{
	struct err ignored = { 0 };
	int r = read_arguments(t, e);

	if (r >= 0)
		return fill_request(t, e);
	t->args = (struct value){ .kind = VALUE_OBJ };
	(void)fill_request(t, &ignored);
	return r;
}

static int record_decision(struct trip *t, struct err *e)
{
	struct audit *audit;
	int r = engine_audit(t->g, &audit, e);

	if (r >= 0)
		r = engine_record_config(t->g, e);
	if (r >= 0 && trip_gives_secrets(t))
		r = secrets_teach(t->g->secrets, t->d, t->g->redactor, e);
	if (r >= 0)
		r = audit_decided(audit, t->d, str_z(t->s->digest.walls), &t->seq, e);
	t->decided = r >= 0;
	if (t->d->verdict != VERDICT_ALLOW || t->d->place.elevated.requested)
		t->g->hurry = false; /* these are to survive a power cut */
	return r < 0 ? err_wrap(e, "the decision cannot be recorded, so nothing was run") : 0;
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

	trip_find_tool(t);
	session_find_place(t->s, t->a);
	asked = read_and_ask(t, e);
	if (t->a->failed) /* nothing more can be thought about */
		return trip_error(t, NULL);
	if (asked < 0) {
		wrong = *e;
		*e = (struct err){ 0 };
	}
	t->d = ARENA_NEW(t->a, struct decision);
	if (!t->d)
		return err_set(e, ERR_LIMIT, "out of memory");
	if (trip_decide(t, e) < 0)
		return -1;
	t->out.d = t->d;
	if (record_decision(t, e) < 0)
		return trip_error(t, "audit_unavailable");
	/* A tool that is refused is refused first, whatever its arguments: nobody learns more about it. */
	if (asked < 0 && (t->d->verdict != VERDICT_DENY || t->d->stopped_at > STAGE_TOOL)) {
		*e = wrong;
		return trip_error(t, NULL);
	}
	if (t->d->verdict == VERDICT_DENY)
		return trip_refused(t);
	if (t->d->tool.gateway_side && t->d->verdict == VERDICT_ALLOW)
		return trip_verdict(t);
	if (!t->tool) {
		(void)err_set(e, ERR_NOTFOUND,
			      "there is no tool '" STR_FMT "'; creel call --list shows those that there are",
			      STR_ARG(t->o->tool));
		return trip_error(t, "unknown_tool");
	}
	if (tools_check_built(t->tool, e) < 0 || check_route(t, e) < 0)
		return trip_error(t, NULL);
	if (t->d->verdict != VERDICT_ALLOW) {
		int yes = trip_ask_person(t);

		if (yes <= 0)
			return yes;
	}
	return trip_run(t);
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
	_cleanup_buf_ struct buf why = { 0 };
	struct err ignored = { 0 };

	if (o->status == CALL_ERROR) {
		buf_init(&why, 65536);
		buf_puts(&why, o->err.msg);
		redact(&why, t->s->config, false);
		end.error = str_z(o->error ? o->error : "");
		end.why = buf_str(&why);
	}
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
	ret->of_host = o->status == CALL_ERROR     ? !t->began
		       : o->status == CALL_REFUSED ? t->d->stopped_at == STAGE_MOUNTS
						   : false;
	ret->warned = (t->d && t->d->n_warnings) || t->s->elsewhere || t->s->ended[0] ||
		      (t->g->registry && registry_set_aside(t->g->registry));
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
	s->ended[0] = '\0';
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
