/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/interpreter.h"
#include "tools/frame.h"

#include "base/clock.h"
#include "base/hash.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>

enum { SLICE_MS = 100, OBEY_MS = 2000, NONCE_BYTES = 16 };
#define PIECE ((size_t)64 << 10)
#define HEAD_MAX 80 /* "NONCE BYTES\n" */

struct talk {
	struct tool_ctx *x;
	struct box *box;
	const struct jobs_ops *ops;
	struct jobs_info info;
	bool fresh, deaf;
	uint64_t at[JOBS_STREAMS_]; /* of the log: what was read of it */
	struct frame frame[JOBS_STREAMS_];
	struct capture kept[JOBS_STREAMS_];
	char *piece, *wake[JOBS_STREAMS_];
	int stream; /* that is being read */
};

static void talk_done(struct talk *t)
{
	for (size_t i = 0; i < JOBS_STREAMS_; i++)
		capture_done(&t->kept[i]);
}
#define _cleanup_talk_ _cleanup_(talk_done)

static struct str id_of(const struct talk *t)
{
	return str_z(t->info.id);
}

/* ---- the one that is there, or a new one ---- */

/* One that was given secrets is another one: a call without them does not get into it. */
static void label(const struct tool_ctx *x, const struct interpreter *i, char out[static 64])
{
	(void)snprintf(out, 64, "code_exec: %s that stays%s", i->name, x->programs->apart ? ", apart" : "");
}

static int find(struct talk *t, const char *text, struct err *e)
{
	const size_t max = JOBS_LIVE_MAX + JOBS_ENDED_MAX;
	struct jobs_info *all = ARENA_ARRAY(t->x->arena, struct jobs_info, max);
	size_t n = 0;
	int r = all ? t->ops->list(t->box, all, max, &n, e) : err_sys(e, ENOMEM, "look for an interpreter");

	for (size_t i = 0; r >= 0 && i < n; i++)
		if (all[i].running && strcmp(all[i].text, text) == 0) {
			t->info = all[i];
			return 1;
		}
	return r < 0 ? r : 0;
}

static int start(struct talk *t, const char *text, struct err *e)
{
	struct box_call call;
	int r = program_call(t->x, &(struct program){ 0 }, &call, e);

	if (r < 0)
		return r;
	call.deadline_ms = call.grace_ms = 0; /* it is of the call, not of the interpreter */
	t->fresh = true;
	return t->ops->start(t->box, &call, str_z(text), &t->info, e);
}

static int find_or_start(struct talk *t, const struct interpreter *i, bool reset, struct err *e)
{
	char text[64];
	int r;

	label(t->x, i, text);
	r = find(t, text, e);
	if (r == 1 && reset) {
		r = t->ops->remove(t->box, id_of(t), e);
		if (r < 0)
			return r;
		r = 0;
	}
	return r == 0 ? start(t, text, e) : r;
}

/* ---- a text to it ---- */

static int begin(struct talk *t, struct str code, struct err *e)
{
	unsigned char random[NONCE_BYTES];
	char nonce[2 * NONCE_BYTES + 1], *text = arena_alloc(t->x->arena, HEAD_MAX + code.n, 1);
	int n, r;

	if (!text || getrandom(random, sizeof(random), 0) != sizeof(random))
		return err_sys(e, text ? errno : ENOMEM, "speak to an interpreter");
	hash_to_hex(random, sizeof(random), nonce);
	r = t->ops->info(t->box, id_of(t), &t->info, e);
	if (r < 0)
		return r;
	for (size_t i = 0; i < JOBS_STREAMS_; i++) {
		t->at[i] = t->info.log[i].total;
		frame_init(&t->frame[i], str_z(nonce));
	}
	n = snprintf(text, HEAD_MAX, "%s %zu\n", nonce, code.n);
	if (code.n)
		memcpy(text + n, code.p, code.n);
	return t->ops->write(t->box, id_of(t), (struct str){ .p = text, .n = (size_t)n + code.n }, false, e);
}

/* ---- its answer ---- */

static int emit(void *ctx, struct str bytes)
{
	struct talk *t = ctx;
	const struct tool_programs *p = t->x->programs;
	int r = capture_put(&t->kept[t->stream], bytes);

	if (r == 0 && p->output && !t->deaf && p->output(p->output_ctx, t->stream + 1, bytes) != 0)
		t->deaf = true;
	return r;
}

/* All that is in the log by now. */
static int read_stream(struct talk *t, int stream, struct err *e)
{
	struct jobs_part part = { 0 };
	int r;

	t->stream = stream;
	do {
		r = t->ops->log(t->box, id_of(t), (enum jobs_stream)stream, t->at[stream], t->piece, PIECE,
				&part, e);
		if (r < 0)
			return r;
		if (part.n > 0 && part.at > t->at[stream]) { /* it wrote faster than we read */
			frame_gap(&t->frame[stream]);
			t->kept[stream].total += part.at - t->at[stream];
		}
		if (part.n > 0)
			t->at[stream] = part.at + part.n;
		if (frame_put(&t->frame[stream], (struct str){ .p = t->piece, .n = part.n }, emit, t) < 0)
			return err_sys(e, ENOMEM, "take what the program writes");
	} while (part.n > 0 && t->frame[stream].state != FRAME_AFTER);
	return 0;
}

static bool has_answered(const struct talk *t)
{
	return t->frame[JOBS_OUT].state == FRAME_AFTER && t->frame[JOBS_ERR].state == FRAME_AFTER;
}

static bool is_cancelled(const struct talk *t)
{
	int fd = t->x->programs->cancel_fd;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return t->deaf || (fd > 0 && poll(&p, 1, 0) > 0);
}

/* Until the answer is whole, the interpreter has ended, it is cancelled, or the time is over. What a poll brings is only the wake-up. */
static int listen_until(struct talk *t, uint64_t end, bool heed_cancel, struct err *e)
{
	struct jobs_part ignored[JOBS_STREAMS_];
	int r = 0;

	for (;;) {
		bool over = clock_mono_ms() >= end || !t->info.running || (heed_cancel && is_cancelled(t));

		for (int i = 0; r >= 0 && i < JOBS_STREAMS_; i++)
			r = read_stream(t, i, e);
		if (r < 0 || over || has_answered(t))
			return r;
		r = t->ops->poll(t->box, id_of(t), SLICE_MS, t->wake, PIECE, ignored, &t->info, e);
		if (r < 0)
			return r;
	}
}

/* Interrupts it; the state stays when it obeys. Otherwise it is killed, with what it knew. */
static int interrupt(struct talk *t, struct err *e)
{
	int r = t->ops->signal(t->box, id_of(t), SIGINT, e);

	if (r >= 0)
		r = listen_until(t, clock_deadline(OBEY_MS), false, e);
	if (r >= 0 && !has_answered(t))
		r = t->ops->kill(t->box, id_of(t), &t->info, e);
	return r;
}

/* ---- the whole ---- */

static void end_of(const struct talk *t, bool late, bool cancelled, uint64_t begun_ns, struct box_end *ret)
{
	*ret = (struct box_end){ .reason = BOX_EXITED, .value = (int)t->frame[JOBS_OUT].status };
	if (late || cancelled)
		ret->reason = late ? BOX_TIMEOUT : BOX_CANCELLED;
	else if (!has_answered(t))
		*ret = t->info.end;
	ret->wall_us = (clock_mono_ns() - begun_ns) / 1000;
}

static void put_result(const struct talk *t, struct jsonw *w)
{
	program_say_end(t->x, w);
	program_put_stream(w, "stdout", &t->kept[JOBS_OUT], (struct str){ 0 });
	program_put_stream(w, "stderr", &t->kept[JOBS_ERR], (struct str){ 0 });
	jsonw_kbool(w, "truncated", capture_is_cut(&t->kept[JOBS_OUT]) || capture_is_cut(&t->kept[JOBS_ERR]));
	jsonw_kz(w, "sessionId", t->info.id);
	jsonw_kbool(w, "fresh", t->fresh);
	jsonw_kbool(w, "stateLost", !t->info.running);
}

static int talk_init(struct talk *t, struct tool_ctx *x, struct err *e)
{
	const struct tool_programs *p = x->programs;

	capture_init(&t->kept[JOBS_OUT], (size_t)(p->stdout_max ? p->stdout_max : TOOLS_STREAM_MAX), 0,
		     FD_NONE);
	capture_init(&t->kept[JOBS_ERR], (size_t)(p->stderr_max ? p->stderr_max : TOOLS_STREAM_MAX), 0,
		     FD_NONE);
	t->piece = arena_alloc(x->arena, PIECE, 1);
	t->wake[JOBS_OUT] = t->wake[JOBS_ERR] = arena_alloc(x->arena, PIECE, 1);
	return t->piece && t->wake[JOBS_ERR] ? 0 : err_sys(e, ENOMEM, "speak to an interpreter");
}

int interpreter_run(struct tool_ctx *x, const struct interpreter *i, struct str code, bool reset,
		    struct jsonw *w, struct err *e)
{
	struct tool_programs *p = x->programs;
	_cleanup_talk_ struct talk t = { .x = x, .kept = { { .spill = FD_NONE }, { .spill = FD_NONE } } };
	uint64_t end = p && p->timeout_ms ? clock_deadline(p->timeout_ms) : CLOCK_NEVER,
		 begun_ns = clock_mono_ns();
	bool late = false, cancelled = false;
	struct box_end ended;
	int r;

	t.ops = background_ops(x, e);
	if (!t.ops)
		return -1;
	t.box = p->box;
	p->end = (struct tool_end){ 0 };
	r = talk_init(&t, x, e);
	if (r >= 0)
		r = find_or_start(&t, i, reset, e);
	if (r >= 0)
		r = begin(&t, code, e);
	if (r >= 0)
		r = listen_until(&t, end, true, e);
	if (r >= 0 && !has_answered(&t) && t.info.running) {
		late = clock_mono_ms() >= end;
		cancelled = !late;
		r = interrupt(&t, e);
	}
	if (r < 0)
		return r;
	end_of(&t, late, cancelled, begun_ns, &ended);
	program_end(p, &ended);
	put_result(&t, w);
	return 0;
}
