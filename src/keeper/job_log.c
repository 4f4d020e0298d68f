/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What jobs have written, in files of the session's directory: two for each stream at most, each half of what it may hold. When
 * the younger is full, the older goes, so nothing is ever copied. An offset counts from the first byte that was ever written.
 */
#include "keeper/keeper_priv.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOGS_DIR "logs"
#define HALF_MIN 4096u
#define NAME_MAX_ 48

static uint64_t half(const struct keeper *k)
{
	return k->log_bytes / 2 > HALF_MIN ? k->log_bytes / 2 : HALF_MIN;
}

static void name_of(const struct job *j, unsigned s, uint32_t number, char out[static NAME_MAX_])
{
	(void)snprintf(out, NAME_MAX_, "%s.%s.%u", j->info.id, s == JOBS_ERR ? "err" : "out", number);
}

static void remove_file(const struct job *j, unsigned s, uint32_t number)
{
	char name[NAME_MAX_];

	name_of(j, s, number, name);
	(void)unlinkat(j->k->logs, name, 0);
}

/* ---- dropping ---- */

static void drop_older(struct job *j, unsigned s)
{
	struct job_log *l = &j->log[s];

	if (l->middle > l->first)
		remove_file(j, s, l->number - 1);
	j->k->logs_total -= l->middle - l->first;
	l->first = l->middle;
}

void log_drop(struct job *j, unsigned s)
{
	struct job_log *l = &j->log[s];

	drop_older(j, s);
	if (l->total > l->middle)
		remove_file(j, s, l->number);
	j->k->logs_total -= l->total - l->middle;
	l->first = l->middle = l->total;
	l->number++;
	l->fd = fd_close(l->fd);
}

/* False when there is nothing to drop. */
static bool drop_largest(struct keeper *k)
{
	struct job *of = NULL;
	uint64_t most = 0;
	unsigned stream = 0;

	for (struct job *j = k->jobs; j; j = j->next)
		for (unsigned s = 0; s < JOBS_STREAMS_; s++)
			if (j->log[s].total - j->log[s].first > most) {
				most = j->log[s].total - j->log[s].first;
				of = j;
				stream = s;
			}
	if (!of)
		return false;
	if (of->log[stream].middle > of->log[stream].first)
		drop_older(of, stream);
	else
		log_drop(of, stream);
	return true;
}

static struct job *oldest_ended(const struct keeper *k, const struct job *but)
{
	struct job *j = k->jobs;

	while (j && (j->info.running || j == but))
		j = j->next;
	return j;
}

/* All of them together have a limit, too: first the oldest that have ended go, then the oldest half of the largest. */
static void make_room(struct job *j, uint64_t n)
{
	struct keeper *k = j->k;

	while (k->logs_total + n > k->logs_bytes) {
		struct job *old = oldest_ended(k, j);

		if (old)
			job_free(old);
		else if (!drop_largest(k))
			return;
	}
}

/* ---- writing ---- */

static int open_younger(struct job *j, unsigned s)
{
	struct job_log *l = &j->log[s];
	char name[NAME_MAX_];

	if (l->fd >= 0)
		return 0;
	name_of(j, s, l->number, name);
	l->fd = openat(j->k->logs, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return l->fd < 0 ? -errno : 0;
}

static void turn(struct job *j, unsigned s)
{
	struct job_log *l = &j->log[s];

	drop_older(j, s);
	l->middle = l->total;
	l->number++;
	l->fd = fd_close(l->fd);
}

void log_append(struct job *j, unsigned s, struct str bytes)
{
	struct job_log *l = &j->log[s];

	make_room(j, bytes.n);
	while (bytes.n) {
		size_t room, n;
		int r;

		if (l->total - l->middle >= half(j->k))
			turn(j, s);
		room = (size_t)(half(j->k) - (l->total - l->middle));
		n = bytes.n < room ? bytes.n : room;
		r = open_younger(j, s);
		if (r >= 0)
			r = fd_write_all(l->fd, (struct str){ .p = bytes.p, .n = n });
		l->total += n;
		j->k->logs_total += n;
		if (r <
		    0) /* the disk is full: what is there is no whole any more, and goes; the count goes on */
			log_drop(j, s);
		bytes = str_from(bytes, n);
	}
}

int log_adopt(struct job *j, unsigned s, int fd)
{
	struct job_log *l = &j->log[s];
	struct stat st;
	uint64_t n, size;
	off_t at;
	int r;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EINVAL;
	size = (uint64_t)st.st_size;
	n = size < j->k->log_bytes ? size : j->k->log_bytes;
	make_room(j, n);
	at = (off_t)(size - n);
	l->first = l->middle = l->total = size - n;
	r = n ? open_younger(j, s) : 0;
	while (r >= 0 && (uint64_t)at < size) {
		ssize_t k = sendfile(l->fd, fd, &at, (size_t)(size - (uint64_t)at));

		r = k < 0 ? -errno : k == 0 ? -EIO : 0;
	}
	l->total = size;
	j->k->logs_total += n;
	l->fd = fd_close(l->fd);
	return r;
}

/* ---- reading ---- */

static size_t read_file(const struct job *j, unsigned s, uint32_t number, uint64_t from, char *out,
			size_t size)
{
	char name[NAME_MAX_];
	_cleanup_close_ int fd = FD_NONE;
	size_t n = 0;

	name_of(j, s, number, name);
	fd = openat(j->k->logs, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	while (fd >= 0 && n < size) {
		ssize_t k = pread(fd, out + n, size - n, (off_t)(from + n));

		if (k <= 0)
			break;
		n += (size_t)k;
	}
	return n;
}

size_t log_read(const struct job *j, unsigned s, uint64_t *at, char *out, size_t size)
{
	const struct job_log *l = &j->log[s];
	size_t n = 0;

	*at = *at < l->first ? l->first : *at > l->total ? l->total : *at;
	if (*at < l->middle) {
		uint64_t there = l->middle - *at;
		size_t want = there < size ? (size_t)there : size;

		n = read_file(j, s, l->number - 1, *at - l->first, out, want);
		if (n < want)
			return n;
	}
	if (n < size && *at + n < l->total) {
		uint64_t there = l->total - (*at + n);
		size_t want = there < size - n ? (size_t)there : size - n;

		n += read_file(j, s, l->number, *at + n - l->middle, out + n, want);
	}
	return n;
}

/* ---- the directory ---- */

static void empty(int fd)
{
	DIR *d = fdopendir(fcntl(fd, F_DUPFD_CLOEXEC, 3));
	const struct dirent *ent;

	while (d && (ent = readdir(d)) != NULL) /* one thread: NOLINT(concurrency-mt-unsafe) */
		if (ent->d_name[0] == 'p')
			(void)unlinkat(fd, ent->d_name, 0);
	if (d)
		(void)closedir(d);
}

int logs_open(struct keeper *k, struct err *e)
{
	struct stat st;

	if (mkdirat(k->dir, LOGS_DIR, 0700) < 0 && errno != EEXIST)
		return err_sys(e, errno, "make the directory of the logs");
	k->logs = openat(k->dir, LOGS_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (k->logs < 0 || fstat(k->logs, &st) < 0)
		return err_sys(e, errno, "open the directory of the logs");
	if (st.st_uid != geteuid() || st.st_mode & 077)
		return err_set(e, ERR_DENIED, "the directory of the logs has to be ours, with mode 0700");
	empty(k->logs);
	return 0;
}

void logs_done(struct keeper *k)
{
	if (k->logs < 0)
		return;
	empty(k->logs);
	k->logs = fd_close(k->logs);
	(void)unlinkat(k->dir, LOGS_DIR, AT_REMOVEDIR);
}
