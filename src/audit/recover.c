/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log and head do not agree: somebody was killed between two writes, the power went, the disk was full, or a person was here.
 * The chain goes on from the last whole record; what is missing or torn is told in the log, never taken away.
 */
#include "audit/audit_priv.h"

#include "base/private.h"
#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARSE_BYTES ((size_t)8 << 20)

struct found {
	bool any;
	uint64_t first, seq;
	char hash[SHA256_HEX];
	uint64_t end; /* of the file */
	bool torn;
	struct line tail;
};

static int look_at(struct line *line, struct found *f)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct audit_record rec;
	struct err ignored = { 0 };

	arena_init(&arena, PARSE_BYTES);
	if (!line->whole) {
		f->torn = true;
		f->tail = *line;
		return 0;
	}
	if (line->too_long || audit_parse(&arena, line->text, &rec, &ignored) < 0)
		return 0; /* damage in the middle stays where it is: audit_verify() tells of it */
	if (!f->any)
		f->first = rec.seq;
	f->any = true;
	f->seq = rec.seq;
	memcpy(f->hash, rec.hash, SHA256_HEX);
	return 0;
}

static int scan(int fd, uint64_t from, struct found *ret)
{
	_cleanup_(lines_done) struct lines l = { .fd = FD_NONE };
	struct line line;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	r = lines_init(&l, fd, from, (uint64_t)st.st_size);
	if (r < 0)
		return r;
	while ((r = lines_next(&l, &line)) > 0)
		(void)look_at(&line, ret);
	ret->end = l.end;
	return r;
}

/* The newest file that was full, when nothing else says where the chain stands. */
static int scan_newest_old(struct audit *a, struct found *ret)
{
	char newest[FILE_NAME_MAX] = "";
	_cleanup_close_ int fd = openat(a->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int r;

	if (!d)
		return -errno;
	(void)TAKE_FD(fd);
	for (struct dirent *ent; (ent = tree_next(d));)
		if (str_starts(str_z(ent->d_name), STR("audit-")) &&
		    str_ends(str_z(ent->d_name), STR(".jsonl")) && strlen(ent->d_name) < sizeof(newest) &&
		    strcmp(ent->d_name, newest) > 0)
			memcpy(newest, ent->d_name, strlen(ent->d_name) + 1);
	r = -errno; /* 0 at the end */
	(void)closedir(d);
	if (r < 0 || !newest[0])
		return r;
	fd = private_file_open(a->dir, newest, O_RDONLY);
	return fd < 0 ? fd : scan(fd, 0, ret);
}

/*
 * We were killed between renaming the full file and naming the new one in the head. Whoever had the full one open may have added a record to it since, and
 * been killed before the head knew, or amid its line: `ret` has what is beyond the head.
 */
static bool rotation_was_cut(const struct audit *a, uint64_t log_size, struct found *ret)
{
	_cleanup_close_ int fd = FD_NONE;
	char name[FILE_NAME_MAX];
	struct stat st;

	if (log_size != 0)
		return false;
	head_old_name(a->head.first, name);
	fd = private_file_open(a->dir, name, O_RDONLY);
	return fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size >= a->head.size &&
	       scan(fd, a->head.size, ret) == 0;
}

/* A torn line is told of in the file that has it: that is the log again, in place of the empty one, which everybody who has it open finds removed. */
static int rotate_back(struct audit *a, struct err *e)
{
	char name[FILE_NAME_MAX];

	head_old_name(a->head.first, name);
	if (renameat(a->dir, name, a->dir, AUDIT_FILE) < 0)
		return err_sys(e, errno, "rename '%s' back", name);
	return audit_log_open(a, e);
}

static void go_on_from(struct audit *a, const struct found *f)
{
	a->head.seq = f->seq;
	memcpy(a->head.hash, f->hash, SHA256_HEX);
}

static void note_torn(const struct found *f, struct recovery *ret)
{
	ret->torn = f->torn;
	if (f->torn) {
		ret->torn_bytes = f->tail.bytes;
		memcpy(ret->torn_hash, f->tail.hash, SHA256_HEX);
	}
}

static int recover_without_head(struct audit *a, struct recovery *ret, struct err *e)
{
	struct found f = { 0 };
	int r = scan(a->log_fd, 0, &f);

	a->head = (struct head){ .first = 1, .hash = ZERO_HASH, .size = f.end };
	note_torn(&f, ret);
	if (r == 0 && f.any)
		a->head.first = f.first;
	if (r == 0 && !f.any) {
		r = scan_newest_old(a, &f);
		a->head.first = f.any ? f.seq + 1 : 1;
	}
	if (r < 0)
		return err_sys(e, r <= PRIVATE_FOREIGN ? EPERM : -r, "read the log");
	if (f.any)
		go_on_from(a, &f);
	ret->headless = f.any || ret->torn;
	return 0;
}

static int recover_with_head(struct audit *a, uint64_t log_size, struct recovery *ret, struct err *e)
{
	struct head h = a->head;
	struct found f = { 0 };
	/* Longer than the head knows: a writer ended between its line and the head. Shorter: all of it has to be looked at. */
	int r = scan(a->log_fd, log_size >= h.size ? h.size : 0, &f);

	if (r < 0)
		return err_sys(e, -r, "read the log");
	note_torn(&f, ret);
	a->head.size = f.end;
	if (f.any && f.seq > h.seq)
		go_on_from(a, &f);
	else if (log_size < h.size && (!f.any || f.seq < h.seq))
		ret->lost_last = h.seq;
	if (ret->lost_last)
		ret->lost_first = f.any ? f.seq + 1 : h.first;
	if (log_size < h.size && !f.any)
		a->head.first = h.seq + 1; /* others have to open the new file as well */
	return 0;
}

int recover(struct audit *a, int has_head, struct recovery *ret, struct err *e)
{
	struct found after = { 0 };
	struct stat st;
	bool cut;

	*ret = (struct recovery){ 0 };
	if (fstat(a->log_fd, &st) < 0)
		return err_sys(e, errno, "stat the log");
	if (has_head <= 0)
		return recover_without_head(a, ret, e);
	cut = rotation_was_cut(a, (uint64_t)st.st_size, &after);
	if (cut && !after.torn) {
		if (after.any && after.seq > a->head.seq)
			go_on_from(a, &after);
		a->head.first = a->head.seq + 1;
		a->head.size = 0;
		return 0;
	}
	if (cut && rotate_back(a, e) < 0)
		return -1;
	if (fstat(a->log_fd, &st) < 0)
		return err_sys(e, errno, "stat the log");
	return recover_with_head(a, (uint64_t)st.st_size, ret, e);
}
