/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/wire_keeper.h"
#include "base/port.h"
#include "sandbox/wire_serve.h"

#include <errno.h>
#include <stdio.h>

#define SIGNAL_MAX 64

/* ---- requests ---- */

/* What each of them may have. */
/* clang-format off */
static const struct {
	uint32_t flags, fds;
	bool call;   /* arguments, variables, limits */
	bool body;   /* other than a call's */
	bool signal, job;
} rules[] = {
	[KEEPER_EXEC]       = { KEEPER_F_PTY | KEEPER_F_KEEP | KEEPER_F_APART | KEEPER_F_TELL, 7 | KEEPER_FD_BODY, true, false, false, false },
	[KEEPER_CANCEL]     = { 0, 0, false, false, true, false },
	[KEEPER_SIGNAL]     = { 0, 0, false, false, true, false },
	[KEEPER_STAT]       = { 0, 0, false, false, false, false },
	[KEEPER_FILES]      = { 0, 0, false, false, false, false },
	[KEEPER_STOP]       = { 0, 0, false, false, false, false },
	[KEEPER_LINE]       = { 0, 0, false, false, false, false },
	[KEEPER_JOB_START]  = { KEEPER_F_PTY | KEEPER_F_KEEP | KEEPER_F_APART, KEEPER_FD_BODY, true, false, false, false },
	[KEEPER_JOB_LIST]   = { KEEPER_F_ANY, 0, false, false, false, false },
	[KEEPER_JOB_INFO]   = { KEEPER_F_ANY, 0, false, false, false, true },
	[KEEPER_JOB_POLL]   = { KEEPER_F_ANY, 0, false, false, false, true },
	[KEEPER_JOB_LOG]    = { KEEPER_F_ANY, 0, false, false, false, true },
	[KEEPER_JOB_WRITE]  = { KEEPER_F_CLOSE | KEEPER_F_ANY, KEEPER_FD_BODY, false, true, false, true },
	[KEEPER_JOB_SIGNAL] = { KEEPER_F_ANY, 0, false, false, true, true },
	[KEEPER_JOB_KILL]   = { KEEPER_F_ANY, 0, false, false, false, true },
	[KEEPER_JOB_REMOVE] = { KEEPER_F_ANY, 0, false, false, false, true },
	[KEEPER_JOB_ADOPT]  = { 0, 3, false, true, false, false },
};
/* clang-format on */
static_assert(sizeof(rules) / sizeof(rules[0]) == KEEPER_REQUEST_END_, "each request has its rule");

static bool head_valid(const struct keeper_request *h)
{
	if (h->msg == KEEPER_NONE || h->msg >= KEEPER_REQUEST_END_)
		return false;
	if (h->flags & ~rules[h->msg].flags || h->fds & ~rules[h->msg].fds)
		return false;
	if (rules[h->msg].call ? h->argc == 0 || h->argc > KEEPER_ARGS_MAX || h->envc > KEEPER_ARGS_MAX ||
					 h->umask > 0777
			       : h->argc || h->envc)
		return false;
	if (h->body > KEEPER_BODY_MAX || (h->body && !rules[h->msg].call && !rules[h->msg].body))
		return false;
	if (h->signal < 0 || h->signal > SIGNAL_MAX || (h->signal && !rules[h->msg].signal))
		return false;
	if ((h->owner || h->flags & KEEPER_F_ANY) != (h->msg >= KEEPER_JOB_START))
		return false;
	return h->stream < JOBS_STREAMS_ && (h->job != 0) == rules[h->msg].job && h->size <= JOBS_READ_MAX &&
	       (h->msg == KEEPER_JOB_ADOPT || h->wait_ms <= JOBS_WAIT_MAX_MS);
}

int keeper_request_check(const struct keeper_request *h, size_t n, size_t n_fds)
{
	/* First: of another version the head may be shorter. */
	if (n >= sizeof(h->version) && h->version != KEEPER_VERSION)
		return -EPROTONOSUPPORT;
	if (n < sizeof(*h))
		return -EINVAL;
	if (!head_valid(h) || (size_t)__builtin_popcount(h->fds) != n_fds)
		return -EINVAL;
	return n - sizeof(*h) == (h->fds & KEEPER_FD_BODY ? 0 : h->body) ? 0 : -EINVAL;
}

/* The string at the beginning of *rest, which is moved behind its NUL. */
static bool cut(struct str *rest, struct str *ret)
{
	const char *nul = rest->n ? memchr(rest->p, '\0', rest->n) : NULL;

	if (!nul)
		return false;
	*ret = (struct str){ .p = rest->p, .n = (size_t)(nul - rest->p) };
	*rest = str_from(*rest, ret->n + 1);
	return true;
}

int keeper_request_call(const struct keeper_request *h, struct str body, struct str *strs,
			struct box_call *ret, struct str *ret_text)
{
	struct str rest = body, cwd, path;

	*ret_text = (struct str){ 0 };
	for (uint32_t i = 0; i < h->argc + h->envc; i++)
		if (!cut(&rest, &strs[i]))
			return -EINVAL;
	if (!cut(&rest, &cwd) || !cut(&rest, &path) ||
	    (h->msg == KEEPER_JOB_START && !cut(&rest, ret_text)) || rest.n)
		return -EINVAL;
	*ret = (struct box_call){ .argv = { strs, h->argc },
				  .env = { strs + h->argc, h->envc },
				  .cwd = cwd,
				  .path = path,
				  .stdio = { FD_NONE, FD_NONE, FD_NONE },
				  .pty = h->flags & KEEPER_F_PTY,
				  .rows = h->rows,
				  .columns = h->columns,
				  .keep = h->flags & KEEPER_F_KEEP,
				  .apart = h->flags & KEEPER_F_APART,
				  .tell = h->flags & KEEPER_F_TELL,
				  .deadline_ms = h->deadline_ms,
				  .grace_ms = h->grace_ms,
				  .open_files = h->open_files,
				  .file_bytes = h->file_bytes,
				  .umask = h->umask,
				  .cpu = h->cpu };
	return 0;
}

/* ---- events ---- */

int keeper_event_check(const struct keeper_event *h, size_t n, size_t n_fds)
{
	/* First: of another version the head may be shorter. */
	if (n >= sizeof(h->version) && h->version != KEEPER_VERSION)
		return -EPROTONOSUPPORT;
	if (n < sizeof(*h))
		return -EINVAL;
	if ((h->msg != KEEPER_EVENT && h->msg != KEEPER_REPLY) || h->kind > BOX_FAILED ||
	    h->op >= KEEPER_REQUEST_END_ || h->err_kind < 0 || h->err_kind >= ERR_KIND_COUNT_ ||
	    h->end.reason >= BOX_REASON_COUNT_)
		return -EINVAL;
	if (h->fds & ~(1u | KEEPER_FD_BODY) || (size_t)__builtin_popcount(h->fds) != n_fds ||
	    h->body > KEEPER_BODY_MAX)
		return -EINVAL;
	return n - sizeof(*h) == (h->fds & KEEPER_FD_BODY ? 0 : h->body) ? 0 : -EINVAL;
}

void keeper_event_err(const struct keeper_event *h, struct str body, struct err *ret)
{
	size_t n = body.n < sizeof(ret->msg) ? body.n : sizeof(ret->msg) - 1;

	*ret = (struct err){ .kind = (enum err_kind)h->err_kind, .sys_errno = h->sys_errno };
	if (n)
		memcpy(ret->msg, body.p, n);
}

int keeper_event_stat(struct str body, struct box_stat *ret)
{
	struct keeper_stat w;

	if (body.n != sizeof(w))
		return -EINVAL;
	memcpy(&w, body.p, sizeof(w));
	*ret = (struct box_stat){ .calls = w.calls,
				  .user_us = w.user_us,
				  .sys_us = w.sys_us,
				  .memory_bytes = w.memory_bytes,
				  .oom_kills = w.oom_kills,
				  .pids_refused = w.pids_refused,
				  .probes = w.probes,
				  .landlock_abi = w.landlock_abi };
	memcpy(ret->walls, w.walls, sizeof(ret->walls) - 1);
	return 0;
}

int keeper_event_line(struct str body, uint32_t *ret_number, struct str *ret_workdir)
{
	struct keeper_line w;

	if (body.n < sizeof(w))
		return -EINVAL;
	memcpy(&w, body.p, sizeof(w));
	*ret_number = w.number;
	*ret_workdir = str_from(body, sizeof(w));
	return w.number && w.number <= SERVE_LINE_LAST &&
			       !memchr(body.p + sizeof(w), '\0', body.n - sizeof(w))
		       ? 0
		       : -EINVAL;
}

int keeper_event_job(struct str *body, struct jobs_info *ret)
{
	struct keeper_job w;

	if (body->n < sizeof(w))
		return -EINVAL;
	memcpy(&w, body->p, sizeof(w));
	if (w.number == 0 || w.end.reason >= BOX_REASON_COUNT_)
		return -EINVAL;
	*ret = (struct jobs_info){ .running = w.running,
				   .pty = w.pty,
				   .input = w.input,
				   .spill = w.spill,
				   .pid = w.pid,
				   .started_ms = w.started_ms,
				   .ended_ms = w.ended_ms };
	(void)snprintf(ret->id, sizeof(ret->id), "p%u", w.number);
	keeper_get_end(&w.end, &ret->end);
	memcpy(ret->text, w.text, sizeof(ret->text) - 1);
	for (size_t i = 0; i < JOBS_STREAMS_; i++)
		ret->log[i] = (struct jobs_log){ .first = w.first[i], .total = w.total[i] };
	*body = str_from(*body, sizeof(w));
	return 0;
}

int keeper_event_parts(struct str body, char *const *out, size_t size, struct jobs_part *parts, size_t n)
{
	struct keeper_part w[JOBS_STREAMS_];
	struct str rest;

	if (n > JOBS_STREAMS_ || body.n < n * sizeof(w[0]))
		return -EINVAL;
	memcpy(w, body.p, n * sizeof(w[0]));
	rest = str_from(body, n * sizeof(w[0]));
	for (size_t i = 0; i < n; i++) {
		if (w[i].n > size || w[i].n > rest.n)
			return -EINVAL;
		if (w[i].n)
			memcpy(out[i], rest.p, w[i].n);
		parts[i] = (struct jobs_part){ .at = w[i].at, .n = w[i].n };
		rest = str_from(rest, w[i].n);
	}
	return rest.n ? -EINVAL : 0;
}

/* ---- both ways ---- */

struct keeper_end keeper_put_end(const struct box_end *e)
{
	return (struct keeper_end){ .reason = e->reason,
				    .value = e->value,
				    .wall_us = e->wall_us,
				    .user_us = e->user_us,
				    .sys_us = e->sys_us,
				    .peak_kib = e->peak_kib,
				    .left = e->left,
				    .ended = e->ended };
}

void keeper_get_end(const struct keeper_end *w, struct box_end *ret)
{
	*ret = (struct box_end){ .reason = (enum box_reason)w->reason,
				 .value = w->value,
				 .wall_us = w->wall_us,
				 .user_us = w->user_us,
				 .sys_us = w->sys_us,
				 .peak_kib = w->peak_kib,
				 .left = w->left,
				 .ended = w->ended };
}

struct keeper_job keeper_put_job(const struct jobs_info *i, uint32_t number)
{
	struct keeper_job w = { .number = number,
				.running = i->running,
				.pty = i->pty,
				.input = i->input,
				.spill = i->spill,
				.pid = i->pid,
				.started_ms = i->started_ms,
				.ended_ms = i->ended_ms,
				.end = keeper_put_end(&i->end) };

	for (size_t s = 0; s < JOBS_STREAMS_; s++) {
		w.first[s] = i->log[s].first;
		w.total[s] = i->log[s].total;
	}
	memcpy(w.text, i->text, sizeof(w.text));
	return w;
}

uint32_t keeper_job_number(struct str id)
{
	uint64_t n;

	if (id.n < 2 || id.n >= JOBS_ID_MAX || id.p[0] != 'p' || id.p[1] == '0' ||
	    str_to_u64(str_from(id, 1), UINT32_MAX, &n) < 0)
		return 0;
	return (uint32_t)n;
}
