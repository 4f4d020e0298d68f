/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/program.h"

#include "backend/jobs.h"
#include "base/clock.h"

#include <stdio.h>

#define ROWS 24
#define COLUMNS 80

/* ---- what is asked for ---- */

int program_words(struct arena *a, const struct value *v, struct strs *ret, struct err *e)
{
	struct str *words = ARENA_ARRAY(a, struct str, v->arr.n);

	if (!words)
		return err_set(e, ERR_LIMIT, "the command has more words than fit");
	for (size_t i = 0; i < v->arr.n; i++) {
		words[i] = v->arr.v[i].s;
		if ((int64_t)words[i].n > PROGRAM_ARG_MAX)
			return err_set(
				e, ERR_LIMIT,
				"argument %zu has %zu bytes, and the kernel takes %lld; write it to a file "
				"or pass it as stdin",
				i, words[i].n, (long long)PROGRAM_ARG_MAX);
	}
	*ret = (struct strs){ .v = words, .n = v->arr.n };
	return 0;
}

static bool is_set(struct strs env, struct str name)
{
	for (size_t i = 0; i < env.n; i++)
		if (env.v[i].n > name.n && env.v[i].p[name.n] == '=' &&
		    memcmp(env.v[i].p, name.p, name.n) == 0)
			return true;
	return false;
}

static int check_variable(const struct tool_programs *p, const struct member *m, struct err *e)
{
	if (!env_name_valid(m->key))
		return err_set(e, ERR_USAGE,
			       "'" STR_FMT "' is no name of a variable: letters, digits and _ are",
			       STR_ARG(m->key));
	if (env_name_is_loader(m->key) || str_eq(m->key, STR("PATH")))
		return err_set(e, ERR_DENIED,
			       "the variable '" STR_FMT
			       "' changes which code is loaded, and cannot be set by a call",
			       STR_ARG(m->key));
	if (is_set(p->env, m->key))
		return err_set(e, ERR_DENIED,
			       "the variable '" STR_FMT "' is set by policy, and cannot be changed by a call",
			       STR_ARG(m->key));
	if (memchr(m->v.s.p ? m->v.s.p : "", '\0', m->v.s.n))
		return err_set(e, ERR_USAGE, "the value of '" STR_FMT "' holds a NUL byte", STR_ARG(m->key));
	if ((int64_t)(m->key.n + m->v.s.n + 1) > PROGRAM_ARG_MAX)
		return err_set(e, ERR_LIMIT,
			       "the value of '" STR_FMT "' has %zu bytes, and the kernel takes %lld",
			       STR_ARG(m->key), m->v.s.n, (long long)PROGRAM_ARG_MAX);
	return 0;
}

/* Those of the decision first; what they hold stays where it is. */
static int add_env(struct tool_ctx *x, const struct value *more, struct strs *ret, struct err *e)
{
	const struct tool_programs *p = x->programs;
	struct str *v;

	*ret = p->env;
	if (!more || more->obj.n == 0)
		return 0;
	if (more->obj.n > PROGRAM_ENV_MAX)
		return err_set(e, ERR_LIMIT, "%zu variables, and a call may set %d", more->obj.n,
			       PROGRAM_ENV_MAX);
	v = ARENA_ARRAY(x->arena, struct str, p->env.n + more->obj.n);
	for (size_t i = 0; v && i < p->env.n; i++)
		v[i] = p->env.v[i];
	for (size_t i = 0; v && i < more->obj.n; i++) {
		const struct member *m = &more->obj.m[i];
		int r = check_variable(p, m, e);
		char *text;

		if (r < 0)
			return r;
		text = arena_alloc(x->arena, m->key.n + m->v.s.n + 2, 1);
		if (!text)
			break;
		memcpy(text, m->key.p, m->key.n);
		text[m->key.n] = '=';
		if (m->v.s.n)
			memcpy(text + m->key.n + 1, m->v.s.p, m->v.s.n);
		v[p->env.n + i] = (struct str){ .p = text, .n = m->key.n + 1 + m->v.s.n };
	}
	if (x->arena->failed)
		return err_set(e, ERR_LIMIT, "the environment is more than fits");
	*ret = (struct strs){ .v = v, .n = p->env.n + more->obj.n };
	return 0;
}

static int set_cwd(struct tool_ctx *x, struct str said, struct str *ret, struct err *e)
{
	struct str work = x->programs->workdir;

	*ret = work;
	if (said.n == 0)
		return 0;
	if (memchr(said.p, '\0', said.n))
		return err_set(e, ERR_USAGE, "the working directory holds a NUL byte");
	*ret = said;
	if (said.p[0] != '/' && work.n) /* without one the box knows where it starts */
		*ret = arena_printf(x->arena, "%.*s/%.*s", (int)work.n, work.p, (int)said.n, said.p);
	return 0;
}

/*
 * Programs that every shell has in itself, and that say other things than those on the disk, which a small image may not even have. The words are run
 * as they were decided about, by the shell, which reads nothing of these. Not printf, test and [: what stands between brackets there is worked out by some shells, commands in
 * it included (bash: printf -v 'a[$(id)]', test -v; others: test 'a[$(id)]' -eq 0).
 */
static int words_by_shell(struct tool_ctx *x, struct strs *argv, struct err *e)
{
	static const char *const own[] = { "echo", "false", "kill", "pwd", "true" };
	static const char *const by[] = { "sh", "-c", "\"$@\"", "sh" };
	const size_t n_by = sizeof(by) / sizeof(by[0]);
	struct str *all;
	size_t i = 0;

	while (i < sizeof(own) / sizeof(own[0]) && !str_eq(argv->v[0], str_z(own[i])))
		i++;
	if (i == sizeof(own) / sizeof(own[0]))
		return 0;
	all = ARENA_ARRAY(x->arena, struct str, argv->n + n_by);
	if (!all)
		return err_set(e, ERR_LIMIT, "out of memory");
	for (i = 0; i < n_by; i++)
		all[i] = str_z(by[i]);
	memcpy(all + n_by, argv->v, argv->n * sizeof(argv->v[0]));
	*argv = (struct strs){ .v = all, .n = argv->n + n_by };
	return 0;
}

int program_call(struct tool_ctx *x, const struct program *q, struct box_call *ret, struct err *e)
{
	const struct tool_programs *p = x->programs;
	int r;

	if (!p || !p->box)
		return err_set(e, ERR_UNAVAIL, "there is no sandbox here that runs programs");
	if (p->argv.n == 0)
		return err_set(e, ERR_BUG, "nothing was decided to be run");
	*ret = (struct box_call){ .argv = p->argv,
				  .path = p->path,
				  .stdio = { FD_NONE, FD_NONE, FD_NONE },
				  .pty = q->pty,
				  .rows = ROWS,
				  .columns = COLUMNS,
				  .apart = p->apart,
				  .deadline_ms = p->timeout_ms,
				  .grace_ms = p->grace_ms,
				  .umask = 022 };
	r = p->own_shell ? words_by_shell(x, &ret->argv, e) : 0;
	if (r >= 0)
		r = add_env(x, q->env, &ret->env, e);
	return r < 0 ? r : set_cwd(x, q->cwd, &ret->cwd, e);
}

/* ---- how it ended ---- */

void program_end(struct tool_programs *p, const struct box_end *end)
{
	struct tool_end *t = &p->end;

	*t = (struct tool_end){ .ran = true, .end = *end };
	switch (end->reason) {
	case BOX_EXITED:
		t->exit = end->value;
		if (end->value)
			(void)snprintf(t->error, sizeof(t->error), "exit_%d", end->value);
		return;
	case BOX_SIGNALED:
		t->exit = 128 + end->value;
		(void)snprintf(t->error, sizeof(t->error), "signal_%d", end->value);
		return;
	case BOX_TIMEOUT:
		t->exit = 124;
		break;
	case BOX_CANCELLED:
		t->exit = end->value ? end->value : 125;
		break;
	case BOX_LOST:
	case BOX_REASON_COUNT_:
	default:
		t->exit = 125;
		break;
	}
	(void)snprintf(t->error, sizeof(t->error), "%s", enum_name(box_reason_names, (int)end->reason));
}

void program_failed(struct tool_programs *p, const struct err *e)
{
	p->end.exit = e->kind == ERR_NOTFOUND ? 127 : e->kind == ERR_DENIED ? 126 : 125;
}

void program_put_end(struct jsonw *w, const struct tool_programs *p)
{
	const struct box_end *end = &p->end.end;

	jsonw_key(w, STR("exit"));
	jsonw_i64(w, p->end.exit);
	jsonw_kz(w, "reason", enum_name(box_reason_names, (int)end->reason));
	if (end->reason == BOX_SIGNALED)
		jsonw_ku64(w, "signal", (uint64_t)end->value);
	if (end->left)
		jsonw_ku64(w, "left", end->left);
}

void program_say_end(struct tool_ctx *x, struct jsonw *w)
{
	program_put_end(w, x->programs);
	x->says_end = true;
}

/* ---- what it wrote ---- */

static void put_sizes(struct jsonw *w, const char *key, uint64_t total, bool cut)
{
	char name[40];

	(void)snprintf(name, sizeof(name), "%sBytes", key);
	jsonw_ku64(w, name, total);
	(void)snprintf(name, sizeof(name), "%sTruncated", key);
	jsonw_kbool(w, name, cut);
}

void program_put_stream(struct jsonw *w, const char *key, const struct capture *c, struct str log)
{
	_cleanup_buf_ struct buf text = { 0 };

	buf_init(&text, c->max + 256);
	capture_text(c, log, &text);
	if (text.failed) {
		w->out->failed = true;
		return;
	}
	jsonw_kstr(w, key, buf_str(&text));
	put_sizes(w, key, c->total, capture_is_cut(c));
}

/* Its front alone: true when that is not all. */
static bool put_front(struct jsonw *w, const char *key, const struct capture *c, size_t characters)
{
	bool cut;

	jsonw_kstr(w, key, capture_front(c, characters, &cut));
	put_sizes(w, key, c->total, cut);
	return cut;
}

/* The files with all of it go to whoever keeps the box; without one nothing was written to them. */
static struct str keep_log(struct tool_ctx *x, const struct collected *c, uint64_t started_ms,
			   struct jobs_info *info)
{
	const struct tool_programs *p = x->programs;
	struct jobs_adopt what = { .text = p->argv.v[0],
				   .fd = { c->out.spill, c->err.spill },
				   .end = c->end,
				   .started_ms = started_ms };
	struct err ignored; /* the result is there all the same, and names no log then */

	if (!p->box->jobs || (!capture_is_cut(&c->out) && !capture_is_cut(&c->err)) || c->out.spill_err ||
	    c->err.spill_err)
		return (struct str){ 0 };
	if (p->box->jobs->adopt(p->box, &what, info, &ignored) < 0)
		return (struct str){ 0 };
	return str_z(info->id);
}

static void put_result(struct tool_ctx *x, const struct program *q, const struct collected *c,
		       uint64_t started_ms, struct jsonw *w)
{
	struct jobs_info info;
	struct str log = { 0 };
	bool cut;

	program_say_end(x, w);
	if (c->end.reason == BOX_LOST && c->lost.kind != ERR_NONE)
		jsonw_kz(w, "why", c->lost.msg);
	if (q->characters) {
		cut = put_front(w, "stdout", &c->out, q->characters);
		cut |= put_front(w, "stderr", &c->err, q->characters);
	} else {
		log = keep_log(x, c, started_ms, &info);
		program_put_stream(w, "stdout", &c->out, log);
		program_put_stream(w, "stderr", &c->err, log);
		cut = capture_is_cut(&c->out) || capture_is_cut(&c->err);
	}
	jsonw_kbool(w, "truncated", cut);
	if (log.n)
		jsonw_kstr(w, "log", log);
}

static uint64_t or_default(uint64_t given, uint64_t def)
{
	return given ? given : def;
}

int program_run(struct tool_ctx *x, const struct program *q, struct jsonw *w, struct err *e)
{
	struct collect_spec spec = { 0 };
	_cleanup_collected_ struct collected c = { .out.spill = FD_NONE, .err.spill = FD_NONE };
	uint64_t started_ms = clock_unix_ms();
	int r = program_call(x, q, &spec.call, e);
	struct tool_programs *p = x->programs;

	if (r < 0)
		return r;
	p->end = (struct tool_end){ 0 };
	spec.memory = p->memory;
	spec.has_input = q->has_input;
	spec.input = q->input;
	spec.out_max = (size_t)or_default(p->stdout_max, TOOLS_STREAM_MAX);
	spec.err_max = (size_t)or_default(p->stderr_max, TOOLS_STREAM_MAX);
	if (q->characters) /* a character has four bytes at most, and of what is kept the front is three quarters */
		spec.out_max = spec.err_max = q->characters * 16 / 3 + 16;
	else if (p->box->jobs)
		spec.spill_max = or_default(p->spill_max, TOOLS_SPILL_MAX);
	spec.spill_dir = p->spill_dir > 0 ? p->spill_dir : FD_NONE;
	spec.cancel_fd = p->cancel_fd > 0 ? p->cancel_fd : FD_NONE;
	spec.output = p->output;
	spec.ctx = p->output_ctx;
	r = collect_run(p->box, &spec, &c, e);
	if (r < 0) {
		program_failed(p, e);
		return r;
	}
	program_end(p, &c.end);
	put_result(x, q, &c, started_ms, w);
	return 0;
}
