/* SPDX-License-Identifier: Apache-2.0 */
/* process: looks after the programs that exec has left running. Arguments and words are those that OpenClaw's clients send. */
#include "base/clock.h"
#include "tools/background.h"
#include "tools/keys.h"
#include "tools/process_log.h"

#include <signal.h>

#define INPUT_MAX ((size_t)JOBS_INPUT_MAX)
#define POLL_DEFAULT_MS 0
#define WHOLE_MS 50 /* for the rest of a code point, at least */

struct act {
	struct tool_ctx *x;
	const struct tool_in *in;
	struct box *box;
	const struct jobs_ops *ops;
	struct str id;
	struct jsonw *w;
};

/* ---- looking ---- */

static int act_list(struct act *a, struct err *e)
{
	const size_t max = JOBS_LIVE_MAX + JOBS_ENDED_MAX;
	struct jobs_info *all = ARENA_ARRAY(a->x->arena, struct jobs_info, max);
	size_t n = 0;
	int r = all ? a->ops->list(a->box, all, max, &n, e) : 0;

	if (r < 0)
		return r;
	jsonw_karr(a->w, "sessions");
	for (size_t i = 0; i < n; i++) {
		jsonw_obj(a->w);
		background_put_info(a->w, &all[i]);
		jsonw_ku64(a->w, "stdoutBytes", all[i].log[JOBS_OUT].total);
		jsonw_ku64(a->w, "stderrBytes", all[i].log[JOBS_ERR].total);
		jsonw_obj_end(a->w);
	}
	jsonw_arr_end(a->w);
	return 0;
}

struct polled {
	char *text[JOBS_STREAMS_];
	struct jobs_part part[JOBS_STREAMS_];
	struct jobs_info info;
};

/* A code point that was cut by the size or by the moment is completed, if its rest is there or comes as long as somebody waits anyway. */
static int complete(struct act *a, struct polled *p, uint64_t deadline, struct err *e)
{
	size_t need = 0;
	struct jobs_part more[JOBS_STREAMS_] = { 0 };
	uint64_t now = clock_mono_ms(), wait = deadline > now + WHOLE_MS ? deadline - now : WHOLE_MS;
	char *behind[JOBS_STREAMS_];
	int r;

	for (int i = 0; i < JOBS_STREAMS_; i++) {
		size_t missing;

		(void)text_stump((struct str){ .p = p->text[i], .n = p->part[i].n }, &missing);
		need = missing > need ? missing : need;
		behind[i] = p->text[i] + p->part[i].n;
	}
	if (need == 0)
		return 0;
	r = a->ops->poll(a->box, a->id, p->info.running ? wait : 0, behind, need, more, &p->info, e);
	for (int i = 0; r >= 0 && i < JOBS_STREAMS_; i++)
		p->part[i].n += more[i].n;
	return r;
}

static int act_poll(struct act *a, struct err *e)
{
	const struct tool_programs *t = a->x->programs;
	uint64_t wait = (uint64_t)tools_int(a->in, PROCESS_TIMEOUT, POLL_DEFAULT_MS);
	size_t size = (size_t)(t->stdout_max ? t->stdout_max : TOOLS_STREAM_MAX);
	uint64_t deadline = clock_deadline(wait < JOBS_WAIT_MAX_MS ? wait : JOBS_WAIT_MAX_MS);
	struct polled p = { 0 };
	int r;

	if (size > JOBS_READ_MAX)
		size = JOBS_READ_MAX;
	for (int i = 0; i < JOBS_STREAMS_; i++)
		if (!(p.text[i] = arena_alloc(a->x->arena, size + 4, 1)))
			return 0; /* tools_run() says it */
	r = a->ops->poll(a->box, a->id, wait < JOBS_WAIT_MAX_MS ? wait : JOBS_WAIT_MAX_MS, p.text, size,
			 p.part, &p.info, e);
	if (r >= 0)
		r = complete(a, &p, deadline, e);
	if (r < 0)
		return r;
	background_say_info(a->x, a->w, &p.info);
	for (int i = 0; i < JOBS_STREAMS_; i++) {
		jsonw_kstr(a->w, i ? "stderr" : "stdout", (struct str){ .p = p.text[i], .n = p.part[i].n });
		jsonw_ku64(a->w, i ? "stderrBytes" : "stdoutBytes", p.info.log[i].total);
	}
	jsonw_kbool(a->w, "more",
		    p.info.log[JOBS_OUT].total > p.part[JOBS_OUT].at + p.part[JOBS_OUT].n ||
			    p.info.log[JOBS_ERR].total > p.part[JOBS_ERR].at + p.part[JOBS_ERR].n);
	return 0;
}

static int act_log(struct act *a, struct err *e)
{
	struct process_log q = {
		.by_bytes = a->in->v[PROCESS_BYTE_OFFSET] || a->in->v[PROCESS_BYTE_LIMIT],
		.has_offset = a->in->v[PROCESS_OFFSET] != NULL,
		.has_limit = a->in->v[PROCESS_LIMIT] != NULL,
	};
	struct str stream = tools_str(a->in, PROCESS_STREAM);
	uint64_t max = a->x->programs->stdout_max;

	q.offset = (uint64_t)tools_int(a->in, q.by_bytes ? PROCESS_BYTE_OFFSET : PROCESS_OFFSET, 0);
	q.limit = (uint64_t)tools_int(a->in, q.by_bytes ? PROCESS_BYTE_LIMIT : PROCESS_LIMIT, INT64_MAX);
	q.max = (size_t)(max ? max : TOOLS_STREAM_MAX);
	if (stream.n && !str_eq(stream, STR("stdout")) && !str_eq(stream, STR("stderr")))
		return err_set(e, ERR_USAGE, "'stream' is '" STR_FMT "', and must be stdout or stderr",
			       STR_ARG(stream));
	q.out = !str_eq(stream, STR("stderr"));
	q.err = !str_eq(stream, STR("stdout"));
	return process_put_log(a->x, a->ops, a->id, &q, a->w, e);
}

/* ---- talking ---- */

static int send(struct act *a, struct str bytes, bool close, struct err *e)
{
	struct jobs_info info;
	int r = a->ops->write(a->box, a->id, bytes, close, e);

	if (r >= 0)
		r = a->ops->info(a->box, a->id, &info, e);
	if (r < 0)
		return r;
	background_say_info(a->x, a->w, &info);
	jsonw_ku64(a->w, "written", bytes.n);
	return 0;
}

static int act_write(struct act *a, struct err *e)
{
	bool close = tools_bool(a->in, PROCESS_EOF);

	if (!a->in->v[PROCESS_DATA] && !close)
		return err_set(e, ERR_USAGE, "process: write needs 'data', or 'eof'");
	return send(a, tools_str(a->in, PROCESS_DATA), close, e);
}

static int send_buf(struct act *a, struct buf *b, struct err *e)
{
	if (b->failed)
		return err_set(e, ERR_LIMIT, "process: more than %zu bytes of input at once", INPUT_MAX);
	return send(a, buf_str(b), false, e);
}

/* A line, as the Enter key ends it in a terminal and as a file ends it elsewhere. */
static int act_submit(struct act *a, struct err *e)
{
	_cleanup_buf_ struct buf b = { 0 };
	struct jobs_info info;
	int r = a->ops->info(a->box, a->id, &info, e);

	if (r < 0)
		return r;
	buf_init(&b, INPUT_MAX);
	buf_put(&b, tools_str(a->in, PROCESS_DATA));
	buf_putc(&b, info.pty ? '\r' : '\n');
	return send_buf(a, &b, e);
}

static int each_string(const struct value *list, int (*put)(struct str s, struct buf *out, struct err *e),
		       struct buf *out, struct err *e)
{
	for (size_t i = 0; list && i < list->arr.n; i++) {
		int r = put(list->arr.v[i].s, out, e);

		if (r < 0)
			return r;
	}
	return 0;
}

static int act_send_keys(struct act *a, struct err *e)
{
	_cleanup_buf_ struct buf b = { 0 };
	int r;

	buf_init(&b, INPUT_MAX);
	buf_put(&b, tools_str(a->in, PROCESS_LITERAL));
	r = each_string(a->in->v[PROCESS_HEX], keys_put_hex, &b, e);
	if (r >= 0)
		r = each_string(a->in->v[PROCESS_KEYS], keys_put, &b, e);
	if (r < 0)
		return r;
	if (b.n == 0 && !b.failed)
		return err_set(e, ERR_USAGE, "process: send-keys needs 'keys', 'hex' or 'literal'");
	return send_buf(a, &b, e);
}

static int act_paste(struct act *a, struct err *e)
{
	_cleanup_buf_ struct buf b = { 0 };
	struct str text = tools_str(a->in, PROCESS_TEXT);

	if (text.n == 0)
		return err_set(e, ERR_USAGE, "process: paste needs 'text'");
	if (a->in->v[PROCESS_BRACKETED] && !tools_bool(a->in, PROCESS_BRACKETED))
		return send(a, text, false, e);
	buf_init(&b, INPUT_MAX);
	keys_put_paste(text, &b);
	return send_buf(a, &b, e);
}

/* ---- ending ---- */

static const struct enum_name signals[] = { { "HUP", SIGHUP },   { "INT", SIGINT },     { "QUIT", SIGQUIT },
					    { "KILL", SIGKILL }, { "USR1", SIGUSR1 },   { "USR2", SIGUSR2 },
					    { "TERM", SIGTERM }, { "CONT", SIGCONT },   { "STOP", SIGSTOP },
					    { "TSTP", SIGTSTP }, { "WINCH", SIGWINCH }, { NULL, 0 } };

static int parse_signal(struct str s, int *ret, struct err *e)
{
	struct str name = s;
	char words[128];
	uint64_t n;

	if (name.n > 3 && str_eq_nocase((struct str){ .p = name.p, .n = 3 }, STR("SIG")))
		name = str_from(name, 3);
	if (enum_value(signals, name, true, ret))
		return 0;
	if (str_to_u64(name, 64, &n) == 0 && n > 0) {
		*ret = (int)n;
		return 0;
	}
	enum_list(signals, words, sizeof(words));
	return err_set(e, ERR_USAGE, "'signal' is '" STR_FMT "', and must be %s, or 1..64", STR_ARG(s),
		       words);
}

static int put_after(struct act *a, int r, struct err *e)
{
	struct jobs_info info;

	if (r >= 0)
		r = a->ops->info(a->box, a->id, &info, e);
	if (r >= 0)
		background_say_info(a->x, a->w, &info);
	return r;
}

static int act_signal(struct act *a, struct err *e)
{
	struct str said = tools_str(a->in, PROCESS_SIGNAL);
	int signo = SIGTERM;
	int r = said.n ? parse_signal(said, &signo, e) : 0;

	return r < 0 ? r : put_after(a, a->ops->signal(a->box, a->id, signo, e), e);
}

static int act_kill(struct act *a, struct err *e)
{
	struct jobs_info info;
	int r;

	if (a->in->v[PROCESS_SIGNAL]) /* a signal of one's own is meant */
		return act_signal(a, e);
	r = a->ops->kill(a->box, a->id, &info, e);
	if (r >= 0)
		background_say_info(a->x, a->w, &info);
	return r;
}

static int act_remove(struct act *a, struct err *e)
{
	int r = a->ops->remove(a->box, a->id, e);

	if (r < 0)
		return r;
	jsonw_kz(a->w, "status", "removed");
	jsonw_kstr(a->w, "sessionId", a->id);
	return 0;
}

static int act_clear(struct act *a, struct err *e)
{
	struct jobs_info info;
	int r = a->ops->info(a->box, a->id, &info, e);

	if (r < 0)
		return r;
	if (info.running)
		return err_set(e, ERR_USAGE,
			       "process: '" STR_FMT "' still runs; kill ends it, remove ends and clears it",
			       STR_ARG(a->id));
	return act_remove(a, e);
}

/* ---- */

static const struct action {
	const char *name;
	bool any;   /* needs no sessionId */
	bool feeds; /* the program gets something to read */
	int (*run)(struct act *a, struct err *e);
} actions[] = {
	{ "list", true, false, act_list },      { "poll", false, false, act_poll },
	{ "log", false, false, act_log },       { "write", false, true, act_write },
	{ "submit", false, true, act_submit },  { "send-keys", false, true, act_send_keys },
	{ "paste", false, true, act_paste },    { "signal", false, false, act_signal },
	{ "kill", false, false, act_kill },     { "clear", false, false, act_clear },
	{ "remove", false, false, act_remove },
};
#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

static const struct action *find_action(struct str name, struct err *e)
{
	_cleanup_buf_ struct buf list = { 0 };

	for (size_t i = 0; i < ACTIONS; i++)
		if (str_eq_nocase(name, str_z(actions[i].name)))
			return &actions[i];
	buf_init(&list, 200);
	for (size_t i = 0; i < ACTIONS; i++)
		buf_printf(&list, "%s%s", i ? ", " : "", actions[i].name);
	(void)err_set(e, ERR_USAGE, "process: no action '" STR_FMT "'; there are %s", STR_ARG(name), list.p);
	return NULL;
}

int tool_process_ask(struct arena *a, const struct tool_in *in, struct tool_ask *ret, struct err *e)
{
	const struct action *action = find_action(tools_str(in, PROCESS_ACTION), e);

	(void)a;
	ret->passive = action && !action->feeds;
	return action ? 0 : -1;
}

/* Where there is no sandbox, nothing runs; none is made to find that out. */
static int run_nowhere(const struct action *action, const struct act *a, struct err *e)
{
	if (!action->any)
		return err_set(e, ERR_NOTFOUND, "there is no process '" STR_FMT "'", STR_ARG(a->id));
	jsonw_karr(a->w, "sessions");
	jsonw_arr_end(a->w);
	return 0;
}

int tool_process(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e)
{
	const struct action *action = find_action(tools_str(in, PROCESS_ACTION), e);
	struct act a = { .x = x, .in = in, .w = w, .id = tools_str(in, PROCESS_ID) };
	bool nowhere = x->programs && !x->programs->box;

	if (!action)
		return -1;
	a.ops = nowhere ? NULL : background_ops(x, e);
	if (!a.ops && !nowhere)
		return -1;
	a.box = x->programs->box;
	x->programs->end = (struct tool_end){ 0 };
	if (!action->any && a.id.n == 0)
		return err_set(e, ERR_USAGE, "process: %s needs 'sessionId', as exec or list has told it",
			       action->name);
	return nowhere ? run_nowhere(action, &a, e) : action->run(&a, e);
}
