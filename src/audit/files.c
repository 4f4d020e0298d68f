/* SPDX-License-Identifier: Apache-2.0 */
/* The files that are full: which there are, and how many stay. */
#include "audit/audit_priv.h"
#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct audit_name *)a)->z, ((const struct audit_name *)b)->z);
}

int files_list(int dir, struct arena *arena, struct audit_name **ret, size_t *ret_n)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	size_t cap = 0;

	if (!d) {
		r = -errno;
		(void)fd_close(fd);
		return r;
	}
	for (struct dirent *ent; r == 0 && (ent = tree_next(d));) {
		struct str name = str_z(ent->d_name);

		if (!str_starts(name, STR("audit-")) || !str_ends(name, STR(".jsonl")) ||
		    name.n >= FILE_NAME_MAX)
			continue;
		*ret = arena_grow(arena, *ret, *ret_n, &cap, sizeof(**ret), alignof(struct audit_name));
		if (!*ret || *ret_n == AUDIT_FILES_MAX)
			r = -E2BIG;
		else
			memcpy((*ret)[(*ret_n)++].z, name.p, name.n + 1);
	}
	if (r == 0)
		r = -errno; /* 0 at the end */
	(void)closedir(d);
	if (r == 0 && *ret_n)
		qsort(*ret, *ret_n, sizeof(**ret), by_name);
	return r;
}

/* Of its name; 0 when it is none of ours. */
static uint64_t first_of(const char *name)
{
	struct str s = str_z(name), digits;
	uint64_t n = 0;

	if (s.n != sizeof("audit-.jsonl") - 1 + 20)
		return 0;
	digits = (struct str){ .p = s.p + 6, .n = 20 };
	return str_to_u64(digits, UINT64_MAX, &n) == 0 ? n : 0;
}

int files_prune(struct audit *a, int (*tell)(struct audit *a, uint64_t first, uint64_t last, struct err *e),
		struct err *e)
{
	_cleanup_arena_ struct arena arena = { 0 };
	struct audit_name *v = NULL;
	uint64_t first, last;
	size_t n = 0, gone;
	int r;

	if (a->keep == 0)
		return 0;
	arena_init(&arena, (size_t)AUDIT_FILES_MAX * sizeof(*v) * 3);
	r = files_list(a->dir, &arena, &v, &n);
	if (r < 0)
		return err_sys(e, -r, "list the audit directory");
	if (n <= a->keep)
		return 0;
	gone = n - (size_t)a->keep;
	first = first_of(v[0].z);
	last = first_of(v[gone].z);
	/* Names that a person gave are nobody's to count: all stay. */
	for (size_t i = 0; i <= gone; i++)
		if (first_of(v[i].z) == 0)
			return 0;
	if (first >= last)
		return 0;
	r = tell(a, first, last - 1, e);
	for (size_t i = 0; r >= 0 && i < gone; i++)
		(void)unlinkat(a->dir, v[i].z, 0); /* one that stays goes next time */
	return r;
}
