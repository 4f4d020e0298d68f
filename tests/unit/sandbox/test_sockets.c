/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the sockets of the host that a directory would show. What comes of it inside is in tests/escape/test_sockets.py. */
#include "check.h"

#include "base/fd.h"
#include "base/port.h"
#include "sandbox/mountinfo.h"
#include "sandbox/sockets.h"
#include "sandbox/source.h"
#include "sandbox/unixdiag.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char dir[64];
static struct arena arena;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void enter(void)
{
	(void)snprintf(dir, sizeof(dir), "/tmp/creel-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
	arena_init(&arena, (size_t)64 << 20);
}

static void leave(void)
{
	arena_done(&arena);
	assert_int_equal(nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static struct str at(const char *name)
{
	return arena_printf(&arena, "%s/%s", dir, name);
}

static int bound(const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", name);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

/* One directory of the host, seen at /data. */
static struct profile hide(struct profile_mount *m, bool two_users, struct err *e)
{
	struct profile p = { .two_users = two_users };

	m->target = STR("/data");
	assert_int_equal(source_resolve(&arena, str_z(dir), &m->source, e), 0);
	(void)sockets_hide(&arena, m, 1, false, &p, e);
	return p;
}

TEST(unixdiag_lists_a_bound_socket_with_its_file)
{
	_cleanup_close_ int fd = FD_NONE;
	struct unix_socks all = { 0 };
	struct stat st;
	bool found = false;

	enter();
	fd = bound(at("s").p);
	assert_int_equal(stat(at("s").p, &st), 0);
	assert_int_equal(unixdiag_list(&arena, &all), 0);
	for (size_t i = 0; i < all.n; i++)
		if (str_eq(all.v[i].name, at("s")))
			found = all.v[i].ino == (uint32_t)st.st_ino && all.v[i].dev != 0;
	assert_true(found);
	leave();
}

TEST(mountinfo_reads_what_is_escaped)
{
	struct mount_line m = { 0 };

	enter();
	assert_int_equal(mountinfo_parse(&arena, STR("36 35 98:2 /r /a\\040b\\134c rw - ext4 /dev/x rw"), &m),
			 0);
	assert_int_equal(m.id, 36);
	assert_true(m.dev == (98ull << 32 | 2));
	assert_true(str_eq(m.point, STR("/a b\\c")));
	assert_int_equal(mountinfo_parse(&arena, STR("36 35 98:2 /r /a\\04"), &m), -EINVAL);
	assert_int_equal(mountinfo_parse(&arena, STR("x 35 98:2 /r /a rw"), &m), -EINVAL);
	assert_int_equal(mountinfo_parse(&arena, STR("1 35 98:2 /r a rw"), &m), -EINVAL);
	leave();
}

/* The same number, whichever way the kernel was asked. */
TEST(mountinfo_one_mount_is_of_the_file_system_that_its_line_says)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct mount_lines all = { 0 };
	size_t seen = 0;

	arena_init(&a, (size_t)16 << 20);
	assert_int_equal(mountinfo_read(&a, &all), 0);
	for (size_t i = 0; i < all.n; i++) {
		struct port_statx st = { 0 };
		uint64_t dev = 0;
		int r;

		/* one that lies below another mount of the same point is not to be had by its name */
		if (port_statx(AT_FDCWD, all.v[i].point.p, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
			       PORT_STATX_MNT_ID, &st) < 0 ||
		    st.stx_mnt_id != all.v[i].id)
			continue;
		r = mountinfo_dev(all.v[i].point.p, &dev);
		if (r == -ENOSYS || r == -EPERM)
			skip(); /* this kernel does not tell */
		assert_int_equal(r, 0);
		CHECK_CASE(dev == all.v[i].dev, "%s", all.v[i].point.p);
		seen++;
	}
	assert_true(seen > 0);
	assert_true(mountinfo_dev("/nowhere/at/all", &(uint64_t){ 0 }) == -ENOENT);
}

TEST(sockets_below_a_writable_directory_are_covered)
{
	_cleanup_close_ int one = FD_NONE, two = FD_NONE;
	struct profile_mount m = { .writable = true };
	struct err e = { 0 };
	struct profile p;
	struct stat st;

	enter();
	assert_int_equal(mkdir(at("sub").p, 0700), 0);
	one = bound(at("sub/s").p);
	p = hide(&m, false, &e);
	assert_int_equal(e.kind, ERR_NONE);
	assert_false(m.sealed);
	assert_true(p.masking);
	assert_int_equal(p.n_masks, 1);
	assert_true(str_eq(p.masks[0].path, STR("/data/sub/s")));
	assert_int_equal(stat(at("sub/s").p, &st), 0);
	assert_int_equal(p.masks[0].ino, st.st_ino);
	/* without the mounts below it, as root's are */
	m.idmap = true;
	p = hide(&m, true, &e);
	assert_int_equal(p.n_masks, 1);
	assert_int_equal(p.masks[0].ino, st.st_ino);
	m.idmap = false;
	/* a second name: the tree is searched, and both are found */
	assert_int_equal(link(at("sub/s").p, at("other").p), 0);
	p = hide(&m, false, &e);
	assert_int_equal(p.n_masks, 2);
	/* moved away from its name */
	two = bound(at("was").p);
	assert_int_equal(rename(at("was").p, at("is").p), 0);
	p = hide(&m, true, &e);
	assert_int_equal(p.n_masks, 3);
	m.idmap = true;
	p = hide(&m, true, &e);
	assert_int_equal(p.n_masks, 3);
	assert_int_equal(e.kind, ERR_NONE);
	leave();
}

TEST(sockets_in_what_is_only_read_need_no_cover)
{
	_cleanup_close_ int fd = FD_NONE;
	struct profile_mount m = { 0 };
	struct err e = { 0 };
	struct profile p;

	enter();
	fd = bound(at("s").p);
	p = hide(&m, false, &e);
	assert_int_equal(e.kind, ERR_NONE);
	assert_true(m.sealed);
	assert_false(p.masking);
	assert_int_equal(p.n_masks, 0);
	leave();
}

TEST(sockets_covered_by_a_later_mount_are_left_alone)
{
	struct profile_mount m[2] = { { .writable = true, .target = STR("/data") },
				      { .target = STR("/data/sub"), .size = 4096 } };
	_cleanup_close_ int fd = FD_NONE;
	struct profile p = { 0 };
	struct err e = { 0 };

	enter();
	assert_int_equal(mkdir(at("sub").p, 0700), 0);
	fd = bound(at("sub/s").p);
	assert_int_equal(source_resolve(&arena, str_z(dir), &m[0].source, &e), 0);
	assert_int_equal(sockets_hide(&arena, m, 2, false, &p, &e), 0);
	assert_int_equal(p.n_masks, 0);
	leave();
}

TEST_MAIN()
