/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/kept_line.h"
#include "backend/native_priv.h"
#include "base/fd.h"

#define CALLS_MAX 16u /* at once; the others go through the keeper */

struct asked_call {
	uint64_t id; /* 0 = free */
	char program[NATIVE_NAME_MAX], cwd[NATIVE_NAME_MAX];
};

struct line {
	struct warm warm;
	bool gone;
	uint32_t n;
	struct asked_call calls[CALLS_MAX];
	struct str workdir; /* behind the struct */
};

int line_open(int fd, uint32_t number, struct str workdir, struct line **ret, struct err *e)
{
	struct line *l = calloc(1, sizeof(*l) + workdir.n + 1);
	char *behind;

	if (!l) {
		(void)fd_close(fd);
		return err_sys(e, ENOMEM, "open a line to the sandbox");
	}
	warm_join(number, fd, &l->warm);
	behind = (char *)(l + 1);
	l->workdir = str_put(&behind, workdir);
	*ret = l;
	return 0;
}

struct line *line_close(struct line *l)
{
	if (l)
		warm_done(&l->warm);
	free(l);
	return NULL;
}

int line_fd(const struct line *l)
{
	return warm_fd(&l->warm);
}

bool line_gone(const struct line *l)
{
	return l->gone;
}

uint32_t line_calls(const struct line *l)
{
	return l->n;
}

bool line_number(uint64_t id)
{
	return id >> SERVE_LINE_BIT;
}

/* What goes on when its call has ended has to be found when its caller has gone, which the keeper remembers. */
bool line_takes(const struct line *l, const struct box_call *call)
{
	return !l->gone && l->n < CALLS_MAX && !call->pty && !call->tell && !call->keep;
}

/* ---- asking ---- */

static struct asked_call *find(struct line *l, uint64_t id)
{
	for (unsigned i = 0; i < CALLS_MAX; i++)
		if (l->calls[i].id == id)
			return &l->calls[i];
	return NULL;
}

static int unless_gone(struct line *l, int r, struct err *e)
{
	r = native_unless_gone(r, e);
	l->gone |= r < 0 && box_is_unbegun(e);
	return r;
}

int line_exec(struct line *l, const struct box_call *call, uint64_t *ret_id, struct err *e)
{
	struct serve_limit limits[2];
	const struct warm_call w = native_call(call, l->workdir, limits);
	struct asked_call *slot = find(l, 0);
	int r = warm_call(&l->warm, &w, ret_id, e);

	if (r < 0)
		return unless_gone(l, r, e);
	slot->id = *ret_id;
	native_name(slot->program, call->argv.v[0]);
	native_name(slot->cwd, w.cwd);
	l->n++;
	return 0;
}

static int no_call(uint64_t id, struct err *e)
{
	return err_set(e, ERR_NOTFOUND, "there is no call %ju", (uintmax_t)id);
}

/* Of one that has ended nothing is left: what may go on is not asked for here. */
int line_cancel(struct line *l, uint64_t id, int signo, struct err *e)
{
	if (find(l, id))
		return unless_gone(l, warm_cancel(&l->warm, id, signo, e), e);
	return id <= l->warm.last_id ? 0 : no_call(id, e);
}

int line_signal(struct line *l, uint64_t id, int signo, struct err *e)
{
	if (find(l, id))
		return unless_gone(l, warm_signal(&l->warm, id, signo, e), e);
	return no_call(id, e);
}

/* ---- hearing ---- */

static void forget(struct line *l, struct asked_call *c)
{
	c->id = 0;
	l->n--;
}

int line_hear(struct line *l, struct box_event *ret, struct err *e)
{
	struct warm_event w;
	struct asked_call *c;
	int r = warm_next(&l->warm, false, &w, e);

	/* Whoever says what is no message is not listened to any more. */
	if (r == 0 || (r < 0 && r != -EAGAIN))
		l->gone = true;
	if (r <= 0)
		return l->gone ? 0 : r;
	(void)fd_close(w.fd);
	c = w.kind == WARM_CALL && w.event.id ? find(l, w.event.id) : NULL;
	if (!c || !(w.event.msg == SERVE_EXIT || (w.event.msg == SERVE_REPLY && w.event.op == SERVE_EXEC)))
		return 0;
	*ret = (struct box_event){ .kind = BOX_ENDED, .call = c->id, .fd = FD_NONE };
	if (w.event.msg == SERVE_EXIT) {
		native_end(&w.event, &ret->end);
	} else {
		ret->kind = BOX_FAILED;
		native_failure(&w.event, str_z(c->program), str_z(c->cwd), &ret->err);
	}
	forget(l, c);
	return 1;
}

/* ---- the end ---- */

bool line_unbegun(const struct line *l)
{
	return l->n == 1 && l->warm.unheard && l->warm.unheard == l->warm.last_id;
}

bool line_lost(struct line *l, struct box_event *ret)
{
	for (unsigned i = 0; l->n && i < CALLS_MAX; i++) {
		struct asked_call *c = &l->calls[i];

		if (!c->id)
			continue;
		*ret = (struct box_event){ .kind = BOX_ENDED, .call = c->id, .fd = FD_NONE };
		if (c->id == l->warm.unheard) {
			ret->kind = BOX_FAILED;
			(void)box_unbegun(&ret->err);
		}
		forget(l, c);
		return true;
	}
	return false;
}
