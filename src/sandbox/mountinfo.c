/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/mountinfo.h"
#include "base/fd.h"
#include "base/port.h"

#include <fcntl.h>
#include <stdlib.h>

/* Blank, tab, newline and backslash are written as three octal digits. */
static int unescape(struct str in, char *out, size_t *ret_n)
{
	size_t n = 0;

	for (size_t i = 0; i < in.n; i++) {
		unsigned v = 0;

		if (in.p[i] != '\\') {
			out[n++] = in.p[i];
			continue;
		}
		if (in.n - i < 4)
			return -EINVAL;
		for (size_t k = 1; k <= 3; k++) {
			if (in.p[i + k] < '0' || in.p[i + k] > '7')
				return -EINVAL;
			v = v * 8 + (unsigned)(in.p[i + k] - '0');
		}
		if (v == 0 || v > 255)
			return -EINVAL;
		out[n++] = (char)v;
		i += 3;
	}
	*ret_n = n;
	return 0;
}

static int parse_dev(struct str s, uint64_t *ret)
{
	struct str major, minor;
	uint64_t a, b;

	if (!str_cut(s, ':', &major, &minor) || str_to_u64(major, UINT32_MAX, &a) < 0 ||
	    str_to_u64(minor, UINT32_MAX, &b) < 0)
		return -EINVAL;
	*ret = a << 32 | b;
	return 0;
}

/* id parent major:minor root point options… - type source options */
int mountinfo_parse(struct arena *a, struct str line, struct mount_line *ret)
{
	struct mount_line m = { 0 };
	struct str field[5], rest = line;
	char *point;

	for (size_t i = 0; i < 5; i++)
		if (!str_cut(rest, ' ', &field[i], &rest))
			return -EINVAL;
	if (str_to_u64(field[0], UINT64_MAX, &m.id) < 0 || parse_dev(field[2], &m.dev) < 0 ||
	    field[4].n == 0 || field[4].p[0] != '/')
		return -EINVAL;
	point = arena_alloc(a, field[4].n + 1, 1); /* never longer than what is unescaped */
	if (!point)
		return -ENOMEM;
	if (unescape(field[4], point, &m.point.n) < 0)
		return -EINVAL;
	point[m.point.n] = '\0';
	m.point.p = point;
	*ret = m;
	return 0;
}

int mountinfo_read(struct arena *a, struct mount_lines *ret)
{
	_cleanup_free_ char *text = NULL;
	struct mount_lines l = { 0 };
	struct str rest, line;
	size_t len = 0, cap = 0;
	int r = fd_read_file("/proc/self/mountinfo", MOUNTINFO_MAX, &text, &len);

	if (r < 0)
		return r;
	rest = (struct str){ .p = text, .n = len };
	while (str_cut(rest, '\n', &line, &rest)) {
		if (l.n == MOUNTINFO_LINES)
			return -E2BIG;
		if (l.n == cap)
			l.v = arena_grow(a, l.v, l.n, &cap, sizeof(*l.v), alignof(struct mount_line));
		r = l.v ? mountinfo_parse(a, line, &l.v[l.n]) : -ENOMEM;
		if (r < 0)
			return r;
		l.n++;
	}
	*ret = l;
	return 0;
}

/* ---- one mount: numbers and structs of Linux 6.8 ---- */

enum { STATX_MNT_ID_UNIQUE_ = 0x4000, NR_STATMOUNT_ = 457, STATMOUNT_SB_BASIC_ = 1 };

int mountinfo_dev(const char *path, uint64_t *ret)
{
	struct {
		uint32_t size, spare;
		uint64_t mnt_id, param;
	} ask = { .size = sizeof(ask), .param = STATMOUNT_SB_BASIC_ };
	union {
		struct {
			uint32_t size, options;
			uint64_t mask;
			uint32_t dev_major, dev_minor;
		} is;
		char room[1024];
	} answer = { .room = { 0 } };
	struct port_statx st = { 0 };

	if (port_statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_MNT_ID_UNIQUE_, &st) < 0)
		return -errno;
	ask.mnt_id = st.stx_mnt_id;
	if (!(st.stx_mask & STATX_MNT_ID_UNIQUE_))
		return -ENOSYS;
	if (syscall(NR_STATMOUNT_, &ask, &answer, sizeof(answer), 0) < 0)
		return -errno;
	if (!(answer.is.mask & STATMOUNT_SB_BASIC_))
		return -ENOSYS;
	*ret = (uint64_t)answer.is.dev_major << 32 | answer.is.dev_minor;
	return 0;
}
