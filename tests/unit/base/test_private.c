/* SPDX-License-Identifier: Apache-2.0 */
#include "spot.h"

#include "base/private.h"

TEST(a_private_directory_is_made_once_and_opened_again)
{
	SPOT(p);
	int fd = private_dir_open(p.dir);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	fd_close(fd);
	fd = private_dir_open(p.dir);
	assert_true(fd >= 0);
	fd_close(fd);
}

TEST(a_directory_that_others_can_enter_is_not_private)
{
	SPOT(p);

	assert_int_equal(mkdir(p.dir, 0700), 0);
	assert_int_equal(chmod(p.dir, 0710), 0);
	assert_int_equal(private_dir_open(p.dir), PRIVATE_SHARED);
	assert_int_equal(chmod(p.dir, 0701), 0);
	assert_int_equal(private_dir_open(p.dir), PRIVATE_SHARED);
}

TEST(a_link_to_a_directory_is_not_private)
{
	SPOT(p);

	assert_int_equal(symlink("/root", p.dir), 0);
	assert_int_equal(private_dir_open(p.dir), -ENOTDIR);
}

TEST(a_private_file_has_one_name_one_owner_and_is_a_file)
{
	SPOT(p);
	int fd;

	assert_int_equal(mkdir(p.dir, 0700), 0);
	spot_write(&p, "f", STR("x"));
	fd = private_file_open(AT_FDCWD, spot_file(&p, "f"), O_RDONLY);
	assert_true(fd >= 0);
	fd_close(fd);
	assert_int_equal(chmod(spot_file(&p, "f"), 0604), 0);
	assert_int_equal(private_file_open(AT_FDCWD, spot_file(&p, "f"), O_RDONLY), PRIVATE_SHARED);
	assert_int_equal(chmod(spot_file(&p, "f"), 0600), 0);
	assert_int_equal(link(spot_file(&p, "f"), spot_file(&p, "g")), 0);
	assert_int_equal(private_file_open(AT_FDCWD, spot_file(&p, "f"), O_RDONLY), PRIVATE_LINKED);
	assert_int_equal(symlink("f", spot_file(&p, "l")), 0);
	assert_int_equal(private_file_open(AT_FDCWD, spot_file(&p, "l"), O_RDONLY), -ELOOP);
	assert_int_equal(mkfifo(spot_file(&p, "p"), 0600), 0);
	assert_int_equal(private_file_open(AT_FDCWD, spot_file(&p, "p"), O_RDONLY), PRIVATE_SPECIAL);
	assert_int_equal(private_file_open(AT_FDCWD, "/dev/null", O_RDONLY), PRIVATE_SPECIAL);
}

TEST(what_is_somebody_elses_is_not_private)
{
	SPOT(p);

	if (geteuid() != 0) {
		assert_int_equal(private_dir_open("/"), PRIVATE_FOREIGN);
		return;
	}
	assert_int_equal(mkdir(p.dir, 0700), 0);
	spot_write(&p, "f", STR("x"));
	assert_int_equal(chown(spot_file(&p, "f"), 12345, 12345), 0);
	assert_int_equal(private_file_open(AT_FDCWD, spot_file(&p, "f"), O_RDONLY), PRIVATE_FOREIGN);
	assert_int_equal(chown(p.dir, 12345, 12345), 0);
	assert_int_equal(private_dir_open(p.dir), PRIVATE_FOREIGN);
}

TEST(every_fault_has_its_words)
{
	assert_string_equal(private_why(PRIVATE_FOREIGN), "belongs to another user");
	assert_string_equal(private_why(PRIVATE_SPECIAL), "is not a regular file");
	assert_string_equal(private_why(-ELOOP), "is a symbolic link");
	assert_string_equal(private_why(-ENOENT), "No such file or directory");
	assert_string_equal(private_why(-6000), "cannot be opened");
}

TEST_MAIN()

TEST(what_is_made_has_its_mode_whatever_the_umask_is)
{
	static const mode_t masks[] = { 0, 0022, 0077, 0277, 0777 };

	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		SPOT(p);
		mode_t before = umask(masks[i]);
		int fd = private_dir_open(p.dir), file, made;
		struct stat st;

		assert_true(fd >= 0);
		file = private_file_open(fd, "f", O_RDWR | O_CREAT);
		made = private_mkdir(fd, "d", 0711);
		(void)umask(before);
		assert_true(file >= 0);
		assert_int_equal(made, 1);
		assert_int_equal(private_mkdir(fd, "d", 0700), 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0700);
		assert_int_equal(fstat(file, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		assert_int_equal(fstatat(fd, "d", &st, 0), 0);
		assert_int_equal(st.st_mode & 07777, 0711);
		fd_close(file);
		fd_close(fd);
	}
}

/* As whoever makes it leaves it for a moment, or for good when he is killed. Root is never kept out: it is told nothing. */
TEST(what_was_left_without_any_rights_is_opened_all_the_same)
{
	SPOT(p);
	int fd, file;

	assert_int_equal(mkdir(p.dir, 0), 0);
	fd = private_dir_open(p.dir);
	assert_true(fd >= 0);
	file = openat(fd, "f", O_RDWR | O_CREAT | O_CLOEXEC, 0);
	fd_close(file);
	file = private_file_open(fd, "f", O_RDWR | O_CREAT);
	assert_true(file >= 0);
	fd_close(file);
	fd_close(fd);
}
