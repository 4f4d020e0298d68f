/* SPDX-License-Identifier: Apache-2.0 */
/* What a sandbox is made from on this machine, whatever it is. */
#include "check.h"

#include "sandbox/host.h"

#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static struct profile look(struct arena *a)
{
	struct profile p = { .inner_uid = 4242, .inner_gid = 4343, .hostname = STR("box") };
	struct err e = { 0 };

	arena_init(a, 4 << 20);
	CHECK_CASE(host_root(a, &p, &e) == 0, "%s", e.msg);
	return p;
}

static struct str file_of(const struct profile *p, const char *path)
{
	for (size_t i = 0; i + 1 < p->n_files; i += 2)
		if (str_eq(p->files[i], str_z(path)))
			return p->files[i + 1];
	fail_msg("no %s", path);
	return STR("");
}

static bool holds(struct str s, const char *words)
{
	return memmem(s.p, s.n, words, strlen(words));
}

TEST(host_brings_usr_and_the_way_to_it)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct profile p = look(&a);
	bool usr = false, bin = false;

	for (size_t i = 0; i < p.n_root_binds; i++) {
		usr |= str_eq(p.root_targets[i], STR("/usr"));
		bin |= str_eq(p.root_targets[i], STR("/bin")); /* where /usr is not merged */
		assert_true(p.root_binds[i].ino != 0);
	}
	for (size_t i = 0; i < p.n_links; i += 2)
		bin |= str_eq(p.links[i], STR("/bin"));
	assert_true(usr && bin);
	assert_int_equal(p.n_links % 2, 0);
}

TEST(host_brings_nothing_that_holds_secrets_or_services)
{
	static const char *const never[] = { "/etc",
					     "/root",
					     "/home",
					     "/run",
					     "/var",
					     "/sys",
					     "/proc",
					     "/dev",
					     "/boot",
					     "/tmp",
					     "/etc/shadow",
					     "/etc/ssh",
					     "/etc/ssl/private",
					     "/" };
	_cleanup_arena_ struct arena a = { 0 };
	struct profile p = look(&a);

	for (size_t i = 0; i < p.n_root_binds; i++)
		for (size_t k = 0; k < sizeof(never) / sizeof(never[0]); k++) {
			assert_false(str_eq(p.root_targets[i], str_z(never[k])));
			assert_false(str_eq(p.root_binds[i].path, str_z(never[k])));
		}
}

TEST(host_writes_its_own_users_and_hosts)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct profile p = look(&a);

	assert_true(holds(file_of(&p, "/etc/passwd"), "\nsandbox:x:4242:4343:"));
	assert_true(holds(file_of(&p, "/etc/group"), "\nsandbox:x:4343:"));
	assert_true(holds(file_of(&p, "/etc/hosts"), "127.0.0.1 localhost box\n"));
	CHECK_STR(file_of(&p, "/etc/resolv.conf"), STR("")); /* there is nobody to ask */
	assert_int_equal(p.n_files % 2, 0);
}

TEST(host_brings_the_six_harmless_devices_and_each_is_the_right_one)
{
	static const struct {
		const char *path;
		unsigned major, minor;
	} want[] = { { "/dev/null", 1, 3 },   { "/dev/zero", 1, 5 },    { "/dev/full", 1, 7 },
		     { "/dev/random", 1, 8 }, { "/dev/urandom", 1, 9 }, { "/dev/tty", 5, 0 } };
	_cleanup_arena_ struct arena a = { 0 };
	struct profile p = look(&a);

	assert_int_equal(p.n_devices, 6);
	for (size_t i = 0; i < 6; i++) {
		struct stat st;

		CHECK_STR(p.devices[i].path, str_z(want[i].path));
		assert_true(p.devices[i].is_file);
		assert_int_equal(lstat(want[i].path, &st), 0);
		assert_true(S_ISCHR(st.st_mode) && st.st_rdev == makedev(want[i].major, want[i].minor));
		assert_int_equal(st.st_ino, p.devices[i].ino);
	}
}

/* ---- images ---- */

static char image[64];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void make_image(const char *const *dirs, const char *const *links)
{
	char path[256];

	(void)snprintf(image, sizeof(image), "/tmp/creel-test-XXXXXX");
	assert_non_null(mkdtemp(image));
	for (; *dirs; dirs++) {
		(void)snprintf(path, sizeof(path), "%s/%s", image, *dirs);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	for (; *links; links += 2) {
		(void)snprintf(path, sizeof(path), "%s/%s", image, links[0]);
		assert_int_equal(symlink(links[1], path), 0);
	}
}

static void remove_image(void)
{
	assert_int_equal(nftw(image, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

TEST(host_image_is_seen_by_its_top_level_and_no_link_of_it_is_followed)
{
	static const char *const dirs[] = { "usr", "opt", "proc", "dev", "run", "tmp", "root", "sys", NULL };
	static const char *const links[] = { "bin", "usr/bin", "lib", "/etc", "srv", "../../..", NULL };
	_cleanup_arena_ struct arena a = { 0 };
	struct profile p = { 0 };
	struct err e = { 0 };

	arena_init(&a, 4 << 20);
	make_image(dirs, links);
	CHECK_CASE(host_image_root(&a, str_z(image), &p, &e) == 0, "%s", e.msg);
	assert_int_equal(p.n_root_binds, 2); /* usr and opt: the rest we make ourselves */
	for (size_t i = 0; i < 2; i++)
		assert_true(str_starts(p.root_binds[i].path, str_z(image)));
	assert_int_equal(p.n_links, 6);   /* made again inside, where they can only point at what is inside */
	assert_int_equal(p.n_devices, 6); /* of the host, never of the image */
	remove_image();
}

TEST(host_image_that_is_none_is_refused)
{
	static const char *const none[] = { NULL };
	_cleanup_arena_ struct arena a = { 0 };
	struct profile p = { 0 };
	struct err e = { 0 };

	arena_init(&a, 4 << 20);
	make_image(none, none);
	assert_true(host_image_root(&a, str_z(image), &p, &e) < 0);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_true(host_image_root(&a, STR("/etc/passwd"), &p, &e) < 0);
	assert_non_null(strstr(e.msg, "not a directory"));
	assert_true(host_image_root(&a, STR("/nonexistent"), &p, &e) < 0);
	assert_int_equal(e.sys_errno, ENOENT);
	remove_image();
}

TEST(host_without_memory_is_an_error)
{
	for (size_t max = 0; max < 20000; max += 800) {
		_cleanup_arena_ struct arena a = { 0 };
		struct profile p = { .hostname = STR("box") };
		struct err e = { 0 };

		arena_init(&a, max);
		if (host_root(&a, &p, &e) < 0)
			assert_true(e.kind != ERR_NONE);
		else
			assert_false(a.failed);
	}
}

TEST_MAIN()
