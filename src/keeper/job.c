/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs: the list of them, and what becomes of one. */
#include "keeper/keeper_priv.h"

#include <fcntl.h>
#include <stdio.h>

struct job *job_new(struct keeper *k, uint64_t owner)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->k = k;
	j->number = ++k->last_job;
	j->owner = owner;
	j->in = FD_NONE;
	for (unsigned s = 0; s < JOBS_STREAMS_; s++) {
		j->out[s] = FD_NONE;
		j->log[s] = JOB_LOG_NONE;
	}
	j->info.running = true;
	j->info.started_ms = clock_unix_ms();
	(void)snprintf(j->info.id, sizeof(j->info.id), "p%u", j->number);
	*k->jobs_end = j;
	k->jobs_end = &j->next;
	k->n_live++;
	return j;
}

/* Cut between two code points. */
void job_set_text(struct job *j, struct str text)
{
	size_t n = text.n < JOBS_TEXT_MAX ? text.n : JOBS_TEXT_MAX - 1;

	while (n > 0 && n < text.n && ((unsigned char)text.p[n] & 0xc0) == 0x80)
		n--;
	if (n)
		memcpy(j->info.text, text.p, n);
	j->info.text[n] = '\0';
}

struct job *job_find(struct keeper *k, const struct keeper_request *h)
{
	for (struct job *j = k->jobs; j; j = j->next)
		if (j->number == h->job && job_is_for(j, h))
			return j;
	return NULL;
}

static void unlink_job(struct job *j)
{
	struct keeper *k = j->k;

	for (struct job **at = &k->jobs; *at; at = &(*at)->next)
		if (*at == j) {
			*at = j->next;
			if (k->jobs_end == &j->next)
				k->jobs_end = at;
			break;
		}
	if (j->info.running)
		k->n_live--;
	else
		k->n_ended--;
}

void job_free(struct job *j)
{
	struct keeper *k = j->k;
	struct err e;

	unlink_job(j);
	if (k->gone)
		(void)box_lost(&e);
	else
		(void)err_set(&e, ERR_NOTFOUND, "process '%s' was removed", j->info.id);
	for (struct client *c = k->clients; c; c = c->next)
		if (c->waiting.job == j) {
			client_refuse(c, c->waiting.op, c->waiting.id, &e);
			client_answered(c);
		}
	for (size_t i = 0; i < KEEPER_CALLS_MAX; i++)
		if (k->calls[i].job == j) {
			k->calls[i].job = NULL;
			k->calls[i].cancel = true;
		}
	calls_retry(k);
	job_close(j);
	for (unsigned s = 0; s < JOBS_STREAMS_; s++)
		log_drop(j, s);
	free(j->input);
	free(j);
}

void jobs_done(struct keeper *k)
{
	while (k->jobs)
		job_free(k->jobs);
}

void jobs_trim(struct keeper *k)
{
	for (struct job *j = k->jobs; j && k->n_ended > JOBS_ENDED_MAX;) {
		struct job *next = j->next;

		if (!j->info.running)
			job_free(j);
		j = next;
	}
}

/* ---- what becomes of one ---- */

void job_started(struct job *j, pid_t pid)
{
	struct err e;

	j->info.pid = pid;
	j->known = true;
	if (job_watch(j, &e) < 0) { /* nobody would take what it writes */
		(void)call_signal(j->k, j->call, 0, true, &e);
		job_close(j);
	}
	job_answer(j);
}

void job_pty(struct job *j, int fd)
{
	j->out[JOBS_OUT] = fd;
	j->in = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	(void)fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK); /* the same open file for both */
}

void job_failed(struct job *j, const struct err *e)
{
	for (struct client *c = j->k->clients; c; c = c->next)
		if (c->waiting.job == j) {
			client_refuse(c, c->waiting.op, c->waiting.id, e);
			client_answered(c);
		}
	job_free(j);
}

void job_ended(struct job *j, const struct box_end *end)
{
	struct keeper *k = j->k;

	job_drain(j); /* all that was written is in the log before its end is told */
	j->info.running = false;
	j->info.end = *end;
	j->info.ended_ms = clock_unix_ms();
	job_rest(j);
	k->n_live--;
	k->n_ended++;
	job_answer(j);
	jobs_trim(k);
}
