/* SPDX-License-Identifier: Apache-2.0 */
/* The whole log, from its first file to its last record: is it what was written? Reads only; memory does not grow with the log. */
#include "audit/audit_priv.h"

#include "base/private.h"
#include "data/json.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ANCHORS_MAX = 64 };
#define PARSE_BYTES ((size_t)8 << 20)

struct walk {
	const struct audit_verify_opts *o;
	struct audit_verdict *v;
	const char *file;
	uint64_t line;
	uint64_t anchors; /* bits: those that were met */
	uint64_t missing_first,
		pruned_last; /* 0 = none: not there from here on; went on purpose up to here */
	/* a line that is no record: fine when the next one says that it was torn */
	bool has_garbled;
	uint64_t garbled_bytes, garbled_line;
	char garbled_hash[SHA256_HEX], garbled_why[120];
};

static void __attribute__((format(printf, 4, 5)))
find(struct walk *w, enum audit_fault fault, uint64_t seq, const char *fmt, ...)
{
	struct audit_finding *f = &w->v->findings[w->v->n_findings];
	va_list args;

	if (w->v->n_findings++ >= AUDIT_FINDINGS_MAX)
		return;
	*f = (struct audit_finding){ .fault = fault, .seq = seq, .line = w->line };
	(void)snprintf(f->file, sizeof(f->file), "%s", w->file);
	va_start(args, fmt);
	(void)vsnprintf(f->text, sizeof(f->text), fmt, args);
	va_end(args);
}

/* ---- lines ---- */

static bool tells_of(const struct walk *w, const struct audit_record *rec, struct arena *arena)
{
	const struct json_opts o = { .max_depth = 8, .max_bytes = AUDIT_LINE_MAX, .max_values = 64 };
	const struct value *bytes, *hash;
	struct err ignored = { 0 };
	struct value v;

	if (rec->kind != AUDIT_REPAIRED || json_parse(arena, rec->line, &o, &v, &ignored) < 0)
		return false;
	bytes = value_get(&v, STR("bytes"));
	hash = value_get(&v, STR("sha256"));
	return bytes && bytes->kind == VALUE_INT && (uint64_t)bytes->i == w->garbled_bytes && hash &&
	       hash->kind == VALUE_STR && str_eq(hash->s, str_z(w->garbled_hash));
}

static void settle_garbled(struct walk *w, const struct audit_record *next, struct arena *arena)
{
	uint64_t line = w->line;

	if (!w->has_garbled)
		return;
	w->has_garbled = false;
	if (next && tells_of(w, next, arena)) {
		w->v->n_repaired++;
		return;
	}
	w->line = w->garbled_line;
	find(w, AUDIT_FAULT_GARBLED, 0, "%s", w->garbled_why);
	w->line = line;
}

static void note_garbled(struct walk *w, const struct line *line, const char *why)
{
	settle_garbled(w, NULL, NULL);
	w->has_garbled = true;
	w->garbled_line = w->line;
	w->garbled_bytes = line->bytes - line->whole;
	if (line->text.n || !line->hash[0])
		sha256_hex(line->text, w->garbled_hash);
	else
		memcpy(w->garbled_hash, line->hash, SHA256_HEX);
	(void)snprintf(w->garbled_why, sizeof(w->garbled_why), "%.100s",
		       line->whole ? why : "ends in a torn line: the next record will say so");
}

static void check_first(struct walk *w, const struct audit_record *rec)
{
	uint64_t first = w->o->first_seq ? w->o->first_seq : 1;

	w->v->first_seq = rec->seq;
	/* A record that is still to come may say that they went on purpose. */
	if (rec->seq > first)
		w->missing_first = first;
	if (rec->seq == 1 && strcmp(rec->prev, ZERO_HASH) != 0)
		find(w, AUDIT_FAULT_CHAIN, 1, "record 1 follows another one");
}

static void check_chain(struct walk *w, const struct audit_record *rec)
{
	const struct audit_anchor *last = &w->v->last;

	if (rec->kind == AUDIT_LOST)
		find(w, AUDIT_FAULT_LOST, rec->seq,
		     "records before it had been written and were gone: after a power cut, or removed");
	else if (!last->seq)
		check_first(w, rec);
	else if (rec->seq > last->seq + 1)
		find(w, AUDIT_FAULT_CHAIN, rec->seq,
		     "record %" PRIu64 " follows %" PRIu64 ": what was between them was removed or moved",
		     rec->seq, last->seq);
	else if (rec->seq <= last->seq)
		find(w, AUDIT_FAULT_CHAIN, rec->seq,
		     "record %" PRIu64 " stands behind %" PRIu64 ": it was moved or copied", rec->seq,
		     last->seq);
	else if (strcmp(rec->prev, last->hash) != 0)
		find(w, AUDIT_FAULT_CHAIN, rec->seq,
		     "record %" PRIu64 " does not follow the one before it: that was changed", rec->seq);
	if (!w->v->first_seq)
		w->v->first_seq = rec->seq;
}

static void note_pruned(struct walk *w, const struct audit_record *rec, struct arena *arena)
{
	const struct json_opts o = { .max_depth = 8, .max_bytes = AUDIT_LINE_MAX, .max_values = 64 };
	const struct value *last;
	struct err ignored = { 0 };
	struct value v;

	if (rec->kind != AUDIT_PRUNED || json_parse(arena, rec->line, &o, &v, &ignored) < 0)
		return;
	last = value_get(&v, STR("last"));
	/* What came after it cannot have gone before it was written. */
	if (last && last->kind == VALUE_INT && last->i > 0 && (uint64_t)last->i < rec->seq &&
	    (uint64_t)last->i > w->pruned_last)
		w->pruned_last = (uint64_t)last->i;
}

static void meet_anchors(struct walk *w, const struct audit_record *rec)
{
	for (size_t i = 0; i < w->o->n_anchors; i++)
		if (w->o->anchors[i].seq == rec->seq && strcmp(w->o->anchors[i].hash, rec->hash) == 0)
			w->anchors |= UINT64_C(1) << i;
}

static int check_line(struct walk *w, const struct line *line)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct audit_record rec;
	struct err e = { 0 };

	w->line++;
	arena_init(&arena, PARSE_BYTES);
	if (!line->whole || line->too_long || audit_parse(&arena, line->text, &rec, &e) < 0) {
		note_garbled(w, line, line->too_long ? "longer than any record" : e.msg);
		return 0;
	}
	settle_garbled(w, &rec, &arena);
	check_chain(w, &rec);
	note_pruned(w, &rec, &arena);
	meet_anchors(w, &rec);
	w->v->n_records++;
	w->v->last.seq = rec.seq;
	memcpy(w->v->last.hash, rec.hash, SHA256_HEX);
	return w->o->each ? w->o->each(w->o->ctx, &rec) : 0;
}

/* ---- files ---- */

static int check_fd(struct walk *w, const char *name, int fd, uint64_t size)
{
	_cleanup_(lines_done) struct lines l = { .fd = FD_NONE };
	struct line line;
	int r = lines_init(&l, fd, 0, size);

	w->file = name;
	w->line = 0;
	w->v->n_files++;
	while (r == 0 && (r = lines_next(&l, &line)) > 0)
		r = check_line(w, &line);
	settle_garbled(w, NULL, NULL);
	w->line = 0;
	return r;
}

static int check_old(struct walk *w, int dir, const char *name)
{
	_cleanup_close_ int fd = private_file_open(dir, name, O_RDONLY);
	struct stat st;

	w->file = name;
	w->line = 0;
	if (fd < 0 || fstat(fd, &st) < 0) {
		find(w, AUDIT_FAULT_FILE, 0, "%s", private_why(fd < 0 ? fd : -errno));
		return 0;
	}
	return check_fd(w, name, fd, (uint64_t)st.st_size);
}

/* ---- as it is at one moment ---- */

struct snapshot {
	int dir, log;
	int log_fault;
	uint64_t log_size;
	int has_head; /* as head_read() has it */
	struct head head;
	struct audit_name *old;
	size_t n_old;
};

static void snapshot_done(struct snapshot *s)
{
	(void)fd_close(s->log);
	(void)fd_close(s->dir);
}

static int snapshot_files(struct snapshot *s, struct arena *arena, struct err *e)
{
	struct stat st;
	int r = files_list(s->dir, arena, &s->old, &s->n_old);

	if (r < 0)
		return err_sys(e, -r, "list the audit directory");
	s->log = private_file_open(s->dir, AUDIT_FILE, O_RDONLY);
	if (s->log < 0) {
		s->log_fault = s->log;
		s->log = FD_NONE;
		return 0;
	}
	if (fstat(s->log, &st) < 0)
		return err_sys(e, errno, "stat '" AUDIT_FILE "'");
	s->log_size = (uint64_t)st.st_size;
	return 0;
}

static int snapshot(struct snapshot *s, const struct audit_verify_opts *o, struct arena *arena, struct err *e)
{
	_cleanup_close_ int head = FD_NONE;
	int r;

	s->dir = open(o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0)
		return err_sys(e, errno, "open audit directory '%s'", o->dir);
	head = private_file_open(s->dir, HEAD_FILE, O_RDONLY);
	if (head >= 0) {
		r = fd_lock(head, LOCK_SH, o->lock_ms ? o->lock_ms : 5000);
		if (r < 0)
			return err_sys(e, -r, "lock '%s/" HEAD_FILE "'", o->dir);
	}
	s->has_head = head < 0 ? head : head_read(head, &s->head);
	return snapshot_files(s, arena, e);
}

static void check_end(struct walk *w, const struct snapshot *s)
{
	const struct audit_anchor *last = &w->v->last;
	bool is_empty = !w->v->n_records && !s->n_old && s->log_size == 0;

	w->file = HEAD_FILE;
	if (s->has_head <= 0 && !is_empty)
		find(w, AUDIT_FAULT_FILE, 0, "%s: where the log ended is not known",
		     s->has_head == 0 || s->has_head == -ENOENT ? "is not there" : private_why(s->has_head));
	if (s->has_head > 0 && last->seq < s->head.seq)
		find(w, AUDIT_FAULT_SHORT, last->seq,
		     "cut at the end: the log ends with record %" PRIu64 ", but %" PRIu64 " had been written",
		     last->seq, s->head.seq);
	if (s->has_head > 0 && last->seq == s->head.seq && last->seq && strcmp(last->hash, s->head.hash) != 0)
		find(w, AUDIT_FAULT_CHAIN, last->seq, "the last record is not the one that was written");
	w->file = AUDIT_FILE;
	if (w->missing_first && w->pruned_last + 1 < w->v->first_seq)
		find(w, AUDIT_FAULT_SHORT, w->v->first_seq,
		     "begins with record %" PRIu64 "; %" PRIu64 " to %" PRIu64 " are missing",
		     w->v->first_seq, w->missing_first, w->v->first_seq - 1);
	w->v->pruned_last = w->missing_first ? w->pruned_last : 0;
	for (size_t i = 0; i < w->o->n_anchors; i++)
		if (!(w->anchors & UINT64_C(1) << i))
			find(w, AUDIT_FAULT_SHORT, w->o->anchors[i].seq,
			     "record %" PRIu64 " is not there as it was noted", w->o->anchors[i].seq);
}

int audit_verify(const struct audit_verify_opts *o, struct audit_verdict *ret, struct err *e)
{
	_cleanup_(snapshot_done) struct snapshot s = { .dir = FD_NONE, .log = FD_NONE };
	_cleanup_arena_ struct arena arena = { 0 };
	struct walk w = { .o = o, .v = ret };
	int r;

	*ret = (struct audit_verdict){ 0 };
	if (o->n_anchors > ANCHORS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d anchors", ANCHORS_MAX);
	arena_init(&arena, (size_t)AUDIT_FILES_MAX * sizeof(struct audit_name) * 3);
	r = snapshot(&s, o, &arena, e);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < s.n_old; i++)
		r = check_old(&w, s.dir, s.old[i].z);
	w.file = AUDIT_FILE;
	if (r == 0 && s.log >= 0)
		r = check_fd(&w, AUDIT_FILE, s.log, s.log_size);
	else if (r == 0 && s.log_fault != -ENOENT)
		find(&w, AUDIT_FAULT_FILE, 0, "%s", private_why(s.log_fault));
	if (r < 0)
		return e->kind ? r : err_sys(e, -r, "read audit log '%s'", o->dir);
	check_end(&w, &s);
	return 0;
}
