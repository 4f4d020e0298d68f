/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the host's disk a sandbox takes. There is no quota that an ordinary user could set, so the upper layers are
 * counted from outside, where nothing inside can stop it: cheaply, by asking the file system how much is free, and exactly, by
 * walking the layers, when that has changed enough to matter. Apart from one question at the start, the first
 * look comes when a short run is long over.
 *
 * What was deleted and is still open cannot be counted; it is bounded by the reserve, which counts everything.
 */
#include "sandbox/warden/warden.h"

#include <linux/fcntl.h>
#include <linux/resource.h>
#include <linux/stat.h>

#define FIRST_MS 200u
#define SHORTEST_MS 20u
#define LONGEST_MS 2000u
#define FASTEST_PER_MS (1ull << 20) /* a disk that writes 1 GiB a second */
#define MOST_FILES_PER_MS 500u
#define RESERVE_MAX (1ull << 30)
#define DEPTH_MAX 4096 /* levels that are counted */
#define SLICE 4096u    /* entries between two looks at the rest of the world */
#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct space {
	uint64_t bytes, files; /* free */
	uint64_t reserve, files_reserve;
};

struct level {
	int fd;
	int at, n;
	char room[1024] __attribute__((aligned(8)));
};

static struct {
	int fd; /* on the file system that is watched */
	bool layers;
	struct space first, last;          /* at the start, at the last exact look */
	uint64_t bytes, files, unknown;    /* found by the walk that is going on */
	uint64_t known_bytes, known_files; /* by the one before */
	uint64_t begun, not_before;        /* ms */
	unsigned depth;                    /* of the walk; 0 = none is going on */
} disk;
SPARSE(3) static struct level stack[DEPTH_MAX]; /* pages that are not used cost nothing */

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- what the file system says ---- */

/* struct statfs of 64-bit Linux. */
struct statfs_ {
	long type, block_size;
	uint64_t blocks, free, available, files, files_free;
	long rest[16];
};

static bool look(int fd, struct space *ret)
{
	struct statfs_ s = { 0 };

	if (SYS2(fstatfs, fd, &s) < 0)
		return false;
	ret->bytes = s.available * (uint64_t)s.block_size;
	ret->files =
		s.files ? s.files_free : UINT64_MAX; /* some file systems make inodes as they need them */
	ret->reserve = min_u64(RESERVE_MAX, s.blocks * (uint64_t)s.block_size / 20);
	ret->files_reserve = s.files / 20;
	return true;
}

/* The layers', or that of the first writable directory of the host: the reserve alone is kept there. */
static int open_watched(struct warden *w)
{
	disk.layers = w->private_fd >= 0;
	if (disk.layers)
		return w->private_fd;
	for (uint32_t i = 0; i < w->plan->n_steps; i++) {
		const struct step *s = &w->steps[i];

		if (s->kind == STEP_BIND && !(s->flags & (STEP_F_RO | STEP_F_DEV | STEP_F_FILE)))
			return (int)open_source(w, s);
	}
	return -ENOENT;
}

/* ---- counting ---- */

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static bool begins(const char *name, const char *with)
{
	while (*with && *name == *with) {
		name++;
		with++;
	}
	return !*with;
}

/*
 * What overlayfs works in, and what is left of it ("old"): nothing inside has a name there, and an ordinary user may not look into it, which would pass for
 * something hidden.
 */
static bool is_overlays_own(const char *name)
{
	return disk.depth == 1 && (begins(name, "work") || begins(name, "old"));
}

static bool is_gone(long r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP;
}

static void push(long fd)
{
	if (is_gone(fd))
		return; /* by now, or another in its place, which the next walk finds */
	if (fd < 0 || disk.depth == DEPTH_MAX) {
		if (fd >= 0)
			SYS1(close, fd);
		disk.unknown++;
		return;
	}
	stack[disk.depth].fd = (int)fd;
	stack[disk.depth].at = stack[disk.depth].n = 0;
	disk.depth++;
}

static void count_one(int dir, const char *name)
{
	struct statx st = { 0 };
	long r = SYS5(statx, dir, name, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_BLOCKS | STATX_NLINK, &st);

	if (r < 0) {
		disk.unknown += r != -ENOENT; /* that one: it is gone by now */
		return;
	}
	disk.files++;
	if ((st.stx_mode & 0170000) == 0040000) {
		disk.bytes += st.stx_blocks * 512;
		if (!is_overlays_own(name))
			push(SYS4(openat, dir, name, OPEN_DIR, 0));
	} else {
		/* Each name of a file that has several takes its share. */
		disk.bytes += st.stx_blocks * 512 / (st.stx_nlink ? st.stx_nlink : 1);
	}
}

static bool over(const struct plan_header *p)
{
	return disk.bytes > p->disk_bytes || disk.files > p->disk_files;
}

static void end_walk(void)
{
	while (disk.depth)
		SYS1(close, stack[--disk.depth].fd);
}

/* One slice of the walk. It ends early when there is too much already. */
static void count_some(const struct plan_header *p)
{
	for (unsigned i = 0; i < SLICE && disk.depth && !over(p); i++) {
		struct level *l = &stack[disk.depth - 1];
		const struct dir_entry *e;

		if (l->at >= l->n) {
			l->n = (int)SYS3(getdents64, l->fd, l->room, sizeof(l->room));
			l->at = 0;
		}
		if (l->n <= 0) {
			disk.unknown += l->n < 0 && l->n != -ENOENT; /* that one: it was removed meanwhile */
			SYS1(close, l->fd);
			disk.depth--;
			continue;
		}
		e = (const void *)(l->room + l->at);
		l->at += e->size;
		if (!is_dots(e->name))
			count_one(l->fd, e->name);
	}
}

/* Each level of the walk is an open directory. */
static void raise_own_limit(void)
{
	struct rlimit64 l = { 0 };

	if (SYS4(prlimit64, 0, RLIMIT_NOFILE, 0, &l) < 0 || l.rlim_cur == l.rlim_max)
		return;
	l.rlim_cur = l.rlim_max;
	SYS4(prlimit64, 0, RLIMIT_NOFILE, &l, 0);
}

static void begin_walk(const struct space *now, uint64_t ms)
{
	raise_own_limit();
	disk.bytes = disk.files = disk.unknown = 0;
	disk.last = *now;
	disk.begun = ms;
	push(SYS4(openat, disk.fd, ".", OPEN_DIR, 0));
}

/* ---- when, and what follows ---- */

/* Before anything runs: what it hides before the first look has to be missed too, and what cannot be watched must not run. */
long disk_open(struct warden *w)
{
	long fd = open_watched(w);

	disk.fd = -EBADF;
	if (fd == -ENOENT)
		return 0; /* nothing of the host's can be written to */
	if (fd < 0)
		return fd;
	if (!look((int)fd, &disk.first))
		return -EIO;
	disk.fd = (int)fd;
	/* On a disk that is nearly full already, half of what there was is left to the others. */
	disk.first.reserve = min_u64(disk.first.reserve, disk.first.bytes / 2);
	disk.first.files_reserve = min_u64(disk.first.files_reserve, disk.first.files / 2);
	return 0;
}

static uint64_t fallen(uint64_t from, uint64_t to)
{
	return from > to ? from - to : 0;
}

static bool worth_a_walk(const struct plan_header *p, const struct space *now, uint64_t ms)
{
	uint64_t room = fallen(p->disk_bytes, disk.known_bytes);
	uint64_t files_room = fallen(p->disk_files, disk.known_files);

	if (!disk.layers || (now->bytes == disk.last.bytes && now->files == disk.last.files))
		return false;
	return ms >= disk.not_before || fallen(disk.last.bytes, now->bytes) > room / 2 ||
	       fallen(disk.last.files, now->files) > files_room / 2;
}

/* Half of the time in which a fast disk could get there. */
static uint64_t time_for(uint64_t bytes, uint64_t files, uint64_t least)
{
	uint64_t ms = min_u64(bytes / FASTEST_PER_MS, files / MOST_FILES_PER_MS) / 2;

	return ms < least ? least : min_u64(ms, LONGEST_MS);
}

/* Later where nothing can happen so soon. For the host's last space it is worth to look more often. */
static uint64_t next_look(const struct plan_header *p, const struct space *now)
{
	return min_u64(time_for(fallen(p->disk_bytes, disk.known_bytes),
				fallen(p->disk_files, disk.known_files), FIRST_MS),
		       time_for(fallen(now->bytes, disk.first.reserve),
				fallen(now->files, disk.first.files_reserve), SHORTEST_MS));
}

static enum disk_end judge(const struct plan_header *p, const struct space *now)
{
	if (disk.layers && disk.bytes > p->disk_bytes)
		return DISK_BYTES;
	if (disk.layers && disk.files > p->disk_files)
		return DISK_FILES;
	/* It hides something from us, and the file system says how much that may be. */
	if (disk.layers && disk.unknown && fallen(disk.first.bytes, now->bytes) > p->disk_bytes)
		return DISK_HIDDEN;
	if (now->bytes < disk.first.reserve || now->files < disk.first.files_reserve)
		return DISK_RESERVE;
	return DISK_FINE;
}

uint64_t disk_start(uint64_t ms)
{
	return disk.fd < 0 ? UINT64_MAX : ms + FIRST_MS;
}

/* The walk may be big: it goes on in slices, and takes at most a fiftieth of the time. */
static uint64_t go_on(const struct plan_header *p, const struct space *now, uint64_t ms)
{
	count_some(p);
	if (disk.depth && !over(p))
		return ms;
	end_walk();
	disk.known_bytes = disk.bytes;
	disk.known_files = disk.files;
	disk.not_before = ms + LONGEST_MS + 50 * (ms - disk.begun);
	return ms + next_look(p, now);
}

uint64_t disk_look(const struct warden *w, uint64_t ms, enum disk_end *ret)
{
	const struct plan_header *p = w->plan;
	struct space now;
	uint64_t next;

	*ret = DISK_FINE;
	if (!look(disk.fd, &now))
		return ms + LONGEST_MS;
	if (!disk.depth && worth_a_walk(p, &now, ms))
		begin_walk(&now, ms);
	next = disk.depth ? go_on(p, &now, ms) : ms + next_look(p, &now);
	*ret = disk.depth ? DISK_FINE : judge(p, &now);
	return next;
}
