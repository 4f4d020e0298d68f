/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/background.h"

#include "base/clock.h"

#include <poll.h>

enum { SLICE_MS = 200, PIECE = 64 << 10 };

const struct jobs_ops *background_ops(const struct tool_ctx *x, struct err *e)
{
	const struct tool_programs *p = x->programs;

	if (p && p->box && p->box->jobs)
		return p->box->jobs;
	(void)err_set(
		e, ERR_UNAVAIL,
		"this sandbox ends with the call, and has no background processes; use a session that is kept");
	return NULL;
}

const char *background_status(const struct jobs_info *info)
{
	if (info->running)
		return "running";
	if (info->end.reason == BOX_CANCELLED)
		return "killed";
	return info->end.reason == BOX_EXITED && info->end.value == 0 ? "completed" : "failed";
}

static void put_time(struct jsonw *w, const char *key, uint64_t unix_ms)
{
	char text[CLOCK_TEXT_MAX];
	struct str s;

	if (unix_ms && clock_format(unix_ms, text, &s) == 0)
		jsonw_kstr(w, key, s);
}

void background_put_info(struct jsonw *w, const struct jobs_info *info)
{
	struct tool_programs p = { 0 };

	jsonw_kz(w, "status", background_status(info));
	jsonw_kz(w, "sessionId", info->id);
	if (info->pid > 0)
		jsonw_ku64(w, "pid", (uint64_t)info->pid);
	jsonw_kz(w, "command", info->text);
	jsonw_kbool(w, "pty", info->pty);
	if (info->spill)
		jsonw_kbool(w, "outputOnly", true);
	put_time(w, "startedAt", info->started_ms);
	put_time(w, "endedAt", info->ended_ms);
	if (!info->running) {
		program_end(&p, &info->end);
		program_put_end(w, &p);
	}
}

void background_say_info(struct tool_ctx *x, struct jsonw *w, const struct jobs_info *info)
{
	background_put_info(w, info);
	if (info->running) {
		jsonw_knull(w, "exit");
		jsonw_kz(w, "reason", "running");
	}
	x->says_end = true;
}

/* ---- start ---- */

struct watch {
	struct tool_ctx *x;
	const struct jobs_ops *ops;
	struct jobs_info info;
	struct capture kept[JOBS_STREAMS_];
	char *piece[JOBS_STREAMS_];
	bool deaf, killed;
};

static void watch_done(struct watch *w)
{
	for (size_t i = 0; i < JOBS_STREAMS_; i++) {
		capture_done(&w->kept[i]);
		free(w->piece[i]);
	}
}
#define _cleanup_watch_ _cleanup_(watch_done)

static int watch_init(struct watch *w, struct tool_ctx *x, struct err *e)
{
	const struct tool_programs *p = x->programs;

	w->x = x;
	capture_init(&w->kept[JOBS_OUT], (size_t)(p->stdout_max ? p->stdout_max : TOOLS_STREAM_MAX), 0,
		     FD_NONE);
	capture_init(&w->kept[JOBS_ERR], (size_t)(p->stderr_max ? p->stderr_max : TOOLS_STREAM_MAX), 0,
		     FD_NONE);
	for (size_t i = 0; i < JOBS_STREAMS_; i++)
		if (!(w->piece[i] = malloc(PIECE)))
			return err_sys(e, ENOMEM, "watch a process");
	return 0;
}

/* What people are shown: the text that a shell reads, or the words. */
static struct str show(struct tool_ctx *x)
{
	struct strs argv = x->programs->argv;
	struct buf b;
	struct str ret;

	if (argv.n == 3 && str_eq(argv.v[1], STR("-c")))
		return argv.v[2];
	buf_init(&b, JOBS_TEXT_MAX);
	for (size_t i = 0; i < argv.n && !b.failed; i++) {
		if (i)
			buf_putc(&b, ' ');
		buf_put(&b, argv.v[i]);
	}
	ret = b.failed ? argv.v[0] : arena_str(x->arena, buf_str(&b));
	buf_done(&b);
	return ret;
}

static int start(struct watch *w, const struct program *q, bool timed, struct err *e)
{
	struct box *b = w->x->programs->box;
	struct box_call call;
	int r = program_call(w->x, q, &call, e);

	if (r < 0)
		return r;
	call.keep = true;
	if (!timed)
		call.deadline_ms = call.grace_ms = 0;
	r = w->ops->start(b, &call, show(w->x), &w->info, e);
	if (r >= 0 && q->has_input)
		r = w->ops->write(b, str_z(w->info.id), q->input, true, e);
	return r;
}

/* ---- wait ---- */

static bool is_cancelled(const struct watch *w)
{
	int fd = w->x->programs->cancel_fd;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return w->deaf || (fd > 0 && poll(&p, 1, 0) > 0);
}

static int take(struct watch *w, const struct jobs_part part[static JOBS_STREAMS_], struct err *e)
{
	const struct tool_programs *p = w->x->programs;

	for (int i = 0; i < JOBS_STREAMS_; i++) {
		struct str bytes = { .p = w->piece[i], .n = part[i].n };

		if (bytes.n == 0)
			continue;
		if (capture_put(&w->kept[i], bytes) < 0)
			return err_sys(e, ENOMEM, "take what the program writes");
		if (p->output && !w->deaf && p->output(p->output_ctx, i + 1, bytes) != 0)
			w->deaf = true;
	}
	return 0;
}

/* Until it has ended and all that it wrote was taken, or the time is over. */
static int watch(struct watch *w, uint64_t wait_ms, struct err *e)
{
	struct box *b = w->x->programs->box;
	uint64_t end = clock_deadline(wait_ms);

	for (;;) {
		struct jobs_part part[JOBS_STREAMS_] = { 0 };
		uint64_t now = clock_mono_ms(), left = now < end ? end - now : 0;
		int r = w->ops->poll(b, str_z(w->info.id), left < SLICE_MS ? left : SLICE_MS, w->piece, PIECE,
				     part, &w->info, e);

		if (r >= 0)
			r = take(w, part, e);
		if (r < 0)
			return r;
		if (part[JOBS_OUT].n + part[JOBS_ERR].n > 0 && (!w->info.running || left > 0))
			continue;
		if (!w->info.running || left == 0)
			return 0;
		if (is_cancelled(w) && !w->killed) {
			w->killed = true;
			r = w->ops->kill(b, str_z(w->info.id), &w->info, e);
			if (r < 0)
				return r;
		}
	}
}

static void put_streams(const struct watch *w, struct jsonw *out, struct str log)
{
	program_put_stream(out, "stdout", &w->kept[JOBS_OUT], log);
	program_put_stream(out, "stderr", &w->kept[JOBS_ERR], log);
	jsonw_kbool(out, "truncated",
		    capture_is_cut(&w->kept[JOBS_OUT]) || capture_is_cut(&w->kept[JOBS_ERR]));
}

/* It has ended in time: told as any other call. What it wrote is only kept when not all of it was told. */
static void put_ended(const struct watch *w, struct jsonw *out)
{
	bool cut = capture_is_cut(&w->kept[JOBS_OUT]) || capture_is_cut(&w->kept[JOBS_ERR]);
	struct str id = str_z(w->info.id);
	struct err ignored;

	program_end(w->x->programs, &w->info.end);
	program_say_end(w->x, out);
	put_streams(w, out, cut ? id : (struct str){ 0 });
	if (cut)
		jsonw_kstr(out, "log", id);
	else
		(void)w->ops->remove(w->x->programs->box, id, &ignored);
}

/* As a call that is waited for is told whose sandbox was ended. Its log has gone with it. */
static void put_lost(const struct watch *w, struct jsonw *out)
{
	program_end(w->x->programs, &(struct box_end){ .reason = BOX_LOST });
	program_say_end(w->x, out);
	put_streams(w, out, (struct str){ 0 });
}

int background_run(struct tool_ctx *x, const struct program *q, uint64_t wait_ms, bool timed, struct jsonw *w,
		   struct err *e)
{
	_cleanup_watch_ struct watch job = { .kept = { { .spill = FD_NONE }, { .spill = FD_NONE } } };
	struct err ignored;
	int r;

	job.ops = background_ops(x, e);
	if (!job.ops)
		return -1;
	x->programs->end = (struct tool_end){ 0 };
	r = watch_init(&job, x, e);
	if (r >= 0)
		r = start(&job, q, timed, e);
	if (r >= 0 && wait_ms > 0)
		r = watch(&job, wait_ms, e);
	if (r < 0 && box_is_lost(e)) {
		put_lost(&job, w);
		return 0;
	}
	if (r < 0) {
		program_failed(x->programs, e);
		if (job.info.id[0]) /* nobody would know its name */
			(void)job.ops->remove(x->programs->box, str_z(job.info.id), &ignored);
		return r;
	}
	if (!job.info.running && wait_ms > 0) {
		put_ended(&job, w);
		return 0;
	}
	background_say_info(x, w, &job.info);
	put_streams(&job, w, str_z(job.info.id));
	return 0;
}
