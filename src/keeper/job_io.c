/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams of a job. Whatever it writes is taken, so it is never held up; what is written to it waits here, up to a maximum,
 * until it reads.
 */
#include "keeper/keeper_priv.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK 65536
#define DRAIN_CHUNKS 64 /* what others may still write while we look */

/* ---- output ---- */

static void close_out(struct job *j, unsigned s)
{
	(void)loop_del(j->k->loop, j->out_source[s]);
	j->out[s] = fd_close(j->out[s]);
	j->log[s].fd = fd_close(j->log[s].fd);
}

/* False when there is nothing more at the moment, or ever. */
static bool take(struct job *j, unsigned s)
{
	static char chunk[CHUNK];
	ssize_t n;

	if (j->out[s] < 0)
		return false;
	do
		n = read(j->out[s], chunk, sizeof(chunk));
	while (n < 0 && errno == EINTR);
	if (n > 0)
		log_append(j, s, (struct str){ .p = chunk, .n = (size_t)n });
	else if (n == 0 || errno != EAGAIN) /* a terminal that nobody holds any more says EIO */
		close_out(j, s);
	return n > 0;
}

void job_drain(struct job *j)
{
	for (unsigned s = 0; s < JOBS_STREAMS_; s++)
		for (int i = 0; i < DRAIN_CHUNKS && take(j, s); i++)
			;
}

static void out_ready(struct job *j, unsigned s)
{
	struct keeper *k = j->k;

	(void)take(j, s);
	job_rest(j);
	job_answer(j);
	keeper_settle(k);
}

static void stdout_ready(struct loop *l, void *ctx, uint32_t events)
{
	(void)l;
	(void)events;
	out_ready(ctx, JOBS_OUT);
}

static void stderr_ready(struct loop *l, void *ctx, uint32_t events)
{
	(void)l;
	(void)events;
	out_ready(ctx, JOBS_ERR);
}

int job_watch(struct job *j, struct err *e)
{
	static loop_fd_fn *const fns[JOBS_STREAMS_] = { stdout_ready, stderr_ready };

	for (unsigned s = 0; s < JOBS_STREAMS_; s++) {
		int r = j->out[s] < 0
				? 0
				: loop_add_fd(j->k->loop, j->out[s], EPOLLIN, fns[s], j, &j->out_source[s]);

		if (r < 0)
			return err_sys(e, -r, "take the output of a background process");
	}
	return 0;
}

int job_open_pipes(struct job *j, int theirs[static 3], struct err *e)
{
	int *const ours[3] = { &j->in, &j->out[JOBS_OUT], &j->out[JOBS_ERR] };

	for (int i = 0; i < 3; i++) {
		int pair[2], mine = i == 0 ? 1 : 0;

		if (pipe2(pair, O_CLOEXEC) < 0)
			return err_sys(e, errno, "make the streams of a background process");
		*ours[i] = pair[mine];
		theirs[i] = pair[1 - mine];
		(void)fcntl(*ours[i], F_SETFL, (i == 0 ? O_WRONLY : O_RDONLY) | O_NONBLOCK);
		/* The program may be another user than we are, and opens /dev/stderr by its name. */
		(void)fchmod(theirs[i], 0666);
	}
	return 0;
}

/* ---- input ---- */

static void close_in(struct job *j)
{
	(void)loop_del(j->k->loop, j->in_source);
	j->in = fd_close(j->in);
	free(j->input);
	j->input = NULL;
	j->input_n = j->input_at = 0;
}

void job_close(struct job *j)
{
	close_in(j);
	for (unsigned s = 0; s < JOBS_STREAMS_; s++)
		close_out(j, s);
}

void job_rest(struct job *j)
{
	if (!j->info.running && j->out[JOBS_OUT] < 0 && j->out[JOBS_ERR] < 0)
		job_close(j);
}

/* How much of it went; -EAGAIN never, other errors when it will not take any more. */
static ssize_t pass(int fd, const char *p, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t w = write(fd, p + done, n - done);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0 && errno == EAGAIN)
			break;
		if (w <= 0)
			return w < 0 ? -errno : -EIO;
		done += (size_t)w;
	}
	return (ssize_t)done;
}

static void in_ready(struct loop *l, void *ctx, uint32_t events)
{
	struct job *j = ctx;
	ssize_t n = pass(j->in, j->input + j->input_at, j->input_n - j->input_at);

	(void)events;
	j->input_at += n > 0 ? (size_t)n : 0;
	if (n < 0 || (j->input_at == j->input_n && j->close_input))
		close_in(j);
	else if (j->input_at == j->input_n) {
		(void)loop_del(l, j->in_source);
		free(j->input);
		j->input = NULL;
		j->input_n = j->input_at = 0;
	}
	keeper_settle(j->k);
}

/* Behind what waits already. */
static int keep_input(struct job *j, struct str bytes, struct err *e)
{
	size_t waits = j->input_n - j->input_at;
	char *p = malloc(waits + bytes.n);
	int r = p ? 0 : -ENOMEM;

	if (p) {
		if (waits)
			memcpy(p, j->input + j->input_at, waits);
		memcpy(p + waits, bytes.p, bytes.n);
		free(j->input);
		j->input = p;
		j->input_at = 0;
		j->input_n = waits + bytes.n;
	}
	if (r >= 0 && !loop_has(j->k->loop, j->in_source))
		r = loop_add_fd(j->k->loop, j->in, EPOLLOUT, in_ready, j, &j->in_source);
	return r < 0 ? err_sys(e, -r, "write to process '%s'", j->info.id) : 0;
}

static int put(struct job *j, struct str bytes, struct err *e)
{
	size_t waits = j->input_n - j->input_at;
	ssize_t n = 0;

	if (waits + bytes.n > JOBS_INPUT_MAX)
		return err_set(e, ERR_LIMIT,
			       "process '%s' does not read its input: %zu bytes wait, at most %d", j->info.id,
			       waits, JOBS_INPUT_MAX);
	if (!waits)
		n = pass(j->in, bytes.p, bytes.n);
	if (n < 0) {
		close_in(j);
		return err_set(e, ERR_UNAVAIL, "process '%s' has closed its input", j->info.id);
	}
	bytes = str_from(bytes, (size_t)n);
	return bytes.n ? keep_input(j, bytes, e) : 0;
}

int job_input(struct job *j, struct str bytes, bool close, struct err *e)
{
	int r = j->in < 0 || j->close_input
			? err_set(e, ERR_USAGE, "the input of process '%s' is closed", j->info.id)
			: 0;

	if (r >= 0 && bytes.n)
		r = put(j, bytes, e);
	if (r < 0 || !close)
		return r;
	/* A terminal stays open: ^D ends input at the beginning of a line, and is needed twice elsewhere. */
	if (j->info.pty)
		return put(j, bytes.n && bytes.p[bytes.n - 1] != '\n' ? STR("\004\004") : STR("\004"), e);
	j->close_input = true;
	if (j->input_n == j->input_at)
		close_in(j);
	return 0;
}
