/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and changing files that are not ours: numbers 1 to 25. Paths come from the test. */
#include "attack.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

static int read_file(char **argv)
{
	char bytes[4096];
	int fd = open(argv[0], O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));

	if (n < 0)
		return -errno;
	printf("# %.*s\n", (int)n, bytes);
	return 0;
}

static int write_file(char **argv)
{
	int fd = open(argv[0], O_WRONLY | O_APPEND);

	return fd < 0 ? -errno : outcome(write(fd, "evil\n", 5));
}

static int create_file(char **argv)
{
	int fd = open(argv[0], O_WRONLY | O_CREAT | O_TRUNC, 0666);

	return fd < 0 ? -errno : outcome(write(fd, "evil\n", 5));
}

/* ../../../… to a path from the root: 64 steps up are more than any tree here is deep. */
static int read_up(char **argv)
{
	char path[8192] = "";
	char *to[ATTACK_ARGS] = { path };

	for (int i = 0; i < 64; i++)
		strcat(path, "../");
	strncat(path, argv[0][0] == '/' ? argv[0] + 1 : argv[0], sizeof(path) - strlen(path) - 1);
	return read_file(to);
}

static int make_dir(char **argv)
{
	return outcome(mkdir(argv[0], 0777));
}

static int remove_file(char **argv)
{
	return outcome(unlink(argv[0]));
}

static int hard_link(char **argv)
{
	return outcome(link(argv[0], argv[1]));
}

static int sym_link(char **argv)
{
	return outcome(symlink(argv[0], argv[1]));
}

static int move(char **argv)
{
	return outcome(rename(argv[0], argv[1]));
}

static int truncate_file(char **argv)
{
	return outcome(truncate(argv[0], 0));
}

static int change_mode(char **argv)
{
	return outcome(chmod(argv[0], (mode_t)strtoul(argv[1], NULL, 8)));
}

static int change_mode_fd(char **argv)
{
	int fd = open(argv[0], O_RDONLY);

	return fd < 0 ? -errno : outcome(fchmod(fd, (mode_t)strtoul(argv[1], NULL, 8)));
}

static int change_mode_at(char **argv)
{
	return outcome(fchmodat(AT_FDCWD, argv[0], (mode_t)strtoul(argv[1], NULL, 8), 0));
}

static int change_mode_at2(char **argv)
{
	return outcome(syscall(452 /* fchmodat2 */, AT_FDCWD, argv[0], strtoul(argv[1], NULL, 8), 0));
}

/* A file that is born with a mode that chmod() would be refused. */
static int create_mode(char **argv)
{
	return outcome(open(argv[0], O_WRONLY | O_CREAT | O_EXCL, (mode_t)strtoul(argv[1], NULL, 8)));
}

static int create_mode_creat(char **argv)
{
	return outcome(creat(argv[0], (mode_t)strtoul(argv[1], NULL, 8)));
}

static int create_mode_openat2(char **argv)
{
	unsigned long long how[3] = { O_WRONLY | O_CREAT | O_EXCL, strtoul(argv[1], NULL, 8), 0 };

	return outcome(syscall(437 /* openat2 */, AT_FDCWD, argv[0], how, sizeof(how)));
}

static int create_mode_tmpfile(char **argv)
{
	int fd = open(argv[0], O_TMPFILE | O_RDWR, (mode_t)strtoul(argv[1], NULL, 8));
	char from[64];

	if (fd < 0)
		return -errno;
	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	return outcome(linkat(AT_FDCWD, from, AT_FDCWD, argv[2], AT_SYMLINK_FOLLOW));
}

static int change_owner(char **argv)
{
	return outcome(chown(argv[0], (uid_t)atoi(argv[1]), (gid_t)atoi(argv[1])));
}

static int change_times(char **argv)
{
	const struct timespec then[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	return outcome(utimensat(AT_FDCWD, argv[0], then, 0));
}

static int set_xattr(char **argv)
{
	return outcome(setxattr(argv[0], argv[1], argv[2], strlen(argv[2]), 0));
}

static int make_node(char **argv)
{
	mode_t type = argv[1][0] == 'b' ? S_IFBLK : argv[1][0] == 'p' ? S_IFIFO : S_IFCHR;

	return outcome(
		mknod(argv[0], type | 0666, makedev((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]))));
}

static int open_node(char **argv)
{
	return outcome(open(argv[0], O_RDWR | O_NONBLOCK));
}

static int lock_file(char **argv)
{
	int fd = open(argv[0], O_RDONLY);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	if (argv[1][0]) { /* held while the test looks */
		printf("# locked\n");
		(void)fflush(stdout);
		(void)!read(STDIN_FILENO, argv[1], 1);
	}
	return 0;
}

static int lease_file(char **argv)
{
	int fd = open(argv[0], O_RDONLY);

	return fd < 0 ? -errno : outcome(fcntl(fd, F_SETLEASE, F_RDLCK));
}

/* Everything that is open beyond 0 to 2, and what lies above it. */
static int find_fds(char **argv)
{
	int found = 0;

	(void)argv;
	for (int fd = 3; fd < 4096; fd++) {
		struct stat st;
		int up;

		if (fstat(fd, &st) < 0)
			continue;
		found++;
		up = openat(fd, "..", O_PATH);
		printf("# fd %d mode %o%s\n", fd, st.st_mode, up >= 0 ? " leads up" : "");
		(void)close(up);
	}
	return found ? 0 : -ENOENT;
}

/* argv[0] below every directory that standard input, or an open file descriptor, leads to. */
static int read_from_fd(char **argv)
{
	char bytes[256], up[4200];
	int fd = atoi(argv[0]);
	ssize_t n;
	int file;

	(void)snprintf(up, sizeof(up), "../../../../../../../../%s", argv[1] + (argv[1][0] == '/'));
	file = openat(fd, up, O_RDONLY);
	if (file < 0 && fchdir(fd) == 0)
		file = open(up, O_RDONLY);
	n = file < 0 ? -1 : read(file, bytes, sizeof(bytes));
	if (n < 0)
		return -errno;
	printf("# %.*s\n", (int)n, bytes);
	return 0;
}

/* Opens what a file descriptor is open on once more, for reading and writing. */
static int reopen_fd(char **argv)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%s", argv[0]);
	fd = open(path, O_RDWR | O_TRUNC);
	return fd < 0 ? -errno : 0;
}

/* /proc/PID/{root,cwd,fd/N} of every process that can be seen, then down to argv[0]. */
static int one_pid(const char *pid, const char *path)
{
	static const char *const ways[] = { "root", "cwd/../../../../../../../..", "fd/0", "fd/3", "fd/4",
					    NULL };
	int best = -ENOENT;

	for (const char *const *w = ways; *w; w++) {
		char full[8192];
		int fd;

		(void)snprintf(full, sizeof(full), "/proc/%s/%s%s", pid, *w, path);
		fd = open(full, O_RDONLY);
		if (fd >= 0)
			return 0;
		if (errno != ENOENT)
			best = -errno;
	}
	return best;
}

static int through_proc(char **argv)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	int r, best = one_pid("1", argv[0]);

	if (best != 0)
		best = one_pid("self", argv[0]);
	while (d && best != 0 && (e = readdir(d)))
		if (e->d_name[0] >= '0' && e->d_name[0] <= '9') {
			r = one_pid(e->d_name, argv[0]);
			best = r == 0 ? 0 : best;
		}
	return best;
}

static int run_suid(char **argv)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		execl(argv[0], argv[0], "effective", (char *)NULL);
		_exit(97);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 42 ? 0
	       : WEXITSTATUS(status) == 97                    ? -EACCES
							      : -EPERM;
}

/* Run by run_suid: did the file's owner or group become ours? */
static int effective(void)
{
	return geteuid() != getuid() || getegid() != getgid() ? 42 : 0;
}

static int exec_memfd(char **argv)
{
	static char name[] = "memfd", word[] = "effective", *const args[] = { name, word, NULL };
	static char *const env[] = { NULL };
	int self = open("/proc/self/exe", O_RDONLY), fd = (int)syscall(SYS_memfd_create, "x", 0), status = 0;
	char bytes[4096];
	ssize_t n;
	pid_t pid;

	(void)argv;
	if (self < 0 || fd < 0)
		return -errno;
	while ((n = read(self, bytes, sizeof(bytes))) > 0)
		if (write(fd, bytes, (size_t)n) != n)
			return -EIO;
	pid = fork();
	if (pid == 0) {
		(void)syscall(SYS_execveat, fd, "", args, env, AT_EMPTY_PATH);
		_exit(errno == EACCES ? 97 : 96);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EACCES;
}

/* The kernel's own struct, with room behind it. */
union handle {
	struct file_handle h;
	unsigned char bytes[sizeof(struct file_handle) + 128];
};

static int by_handle(char **argv)
{
	union handle f = { .h = { .handle_type = atoi(argv[0]) } };
	int mount_fd = open(argv[2][0] ? argv[2] : "/", O_RDONLY);
	size_t n = strlen(argv[1]) / 2;

	for (size_t i = 0; i < n && i < 128; i++) {
		char pair[3] = { argv[1][2 * i], argv[1][2 * i + 1], '\0' };

		f.bytes[sizeof(f.h) + i] = (unsigned char)strtoul(pair, NULL, 16);
	}
	f.h.handle_bytes = (unsigned)n;
	return outcome(open_by_handle_at(mount_fd, &f.h, O_RDONLY));
}

static int to_handle(char **argv)
{
	union handle f = { .h = { .handle_bytes = 128 } };
	int mount_id;

	if (name_to_handle_at(AT_FDCWD, argv[0], &f.h, &mount_id, 0) < 0)
		return -errno;
	printf("# %d,", f.h.handle_type);
	for (unsigned i = 0; i < f.h.handle_bytes && i < 128; i++)
		printf("%02x", f.bytes[sizeof(f.h) + i]);
	printf("\n");
	return 0;
}

/* Every entry of /dev that is no link, and whether it opens. */
static int list_dev(char **argv)
{
	DIR *d = opendir("/dev");
	const struct dirent *e;

	(void)argv;
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			printf("# %s\n", e->d_name);
	return d ? 0 : -errno;
}

static const struct attempt attempts[] = {
	{ "read", read_file },
	{ "read_up", read_up },
	{ "write", write_file },
	{ "create", create_file },
	{ "mkdir", make_dir },
	{ "unlink", remove_file },
	{ "link", hard_link },
	{ "symlink", sym_link },
	{ "rename", move },
	{ "truncate", truncate_file },
	{ "chmod", change_mode },
	{ "fchmod", change_mode_fd },
	{ "fchmodat", change_mode_at },
	{ "fchmodat2", change_mode_at2 },
	{ "open_mode", create_mode },
	{ "creat_mode", create_mode_creat },
	{ "openat2_mode", create_mode_openat2 },
	{ "tmpfile_mode", create_mode_tmpfile },
	{ "chown", change_owner },
	{ "utimes", change_times },
	{ "setxattr", set_xattr },
	{ "mknod", make_node },
	{ "open_node", open_node },
	{ "flock", lock_file },
	{ "lease", lease_file },
	{ "fds", find_fds },
	{ "from_fd", read_from_fd },
	{ "reopen", reopen_fd },
	{ "through_proc", through_proc },
	{ "run_suid", run_suid },
	{ "memfd", exec_memfd },
	{ "by_handle", by_handle },
	{ "to_handle", to_handle },
	{ "dev", list_dev },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "effective") == 0)
		return effective();
	return attack_main(argc, argv, attempts);
}
