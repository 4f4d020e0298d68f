/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts, namespaces and privileges: what would take a wall down. Numbers 13, 14, 33, 37, 40, 46, 47 and 49. */
#include "attack.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>

#define NR_OPEN_TREE 428
#define NR_MOVE_MOUNT 429
#define NR_FSOPEN 430
#define NR_FSCONFIG 431
#define NR_FSMOUNT 432
#define NR_FSPICK 433
#define NR_PIDFD_OPEN 434
#define NR_CLONE3 435
#define NR_MOUNT_SETATTR 442
#define OPEN_TREE_CLONE_ 1u
#define NEWTIME 0x80

/* Where an attempt may mount something: there inside and outside. Outside it is in a namespace of its own. */
#define PLACE "/tmp"

static int mount_type(char **argv)
{
	return outcome(mount("none", PLACE, argv[0], 0, argv[1][0] ? argv[1] : NULL));
}

static int mount_bind(char **argv)
{
	(void)argv;
	return outcome(mount("/usr", PLACE, NULL, MS_BIND, NULL));
}

static int remount_usr(char **argv)
{
	(void)argv;
	(void)mount("/usr", "/usr", NULL, MS_BIND, NULL);
	(void)mount(NULL, "/usr", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL);
	return outcome(mount(NULL, "/usr", NULL, MS_BIND | MS_REMOUNT, NULL));
}

static int mount_move(char **argv)
{
	(void)argv;
	(void)mount("none", PLACE, "tmpfs", 0, NULL);
	return outcome(mount(PLACE, "/var/tmp", NULL, MS_MOVE, NULL));
}

static int mount_shared(char **argv)
{
	(void)argv;
	return outcome(mount(NULL, "/", NULL, MS_SHARED | MS_REC, NULL));
}

static int umount_detach(char **argv)
{
	(void)argv;
	(void)mount("none", PLACE, "tmpfs", 0, NULL);
	return outcome(umount2(PLACE, MNT_DETACH));
}

static int pivot(char **argv)
{
	(void)argv;
	(void)mount("none", PLACE, "tmpfs", 0, NULL);
	(void)chdir(PLACE);
	return outcome(syscall(SYS_pivot_root, ".", "."));
}

static int change_root(char **argv)
{
	(void)argv;
	return outcome(chroot(PLACE));
}

/* The classic: a directory that stays open across a second chroot leads up past the first. */
static int chroot_twice(char **argv)
{
	int top = open("/", O_RDONLY | O_DIRECTORY);

	(void)argv;
	if (chroot(PLACE) < 0)
		return -errno;
	return outcome(fchdir(top));
}

static int tree_open(char **argv)
{
	(void)argv;
	return outcome(syscall(NR_OPEN_TREE, AT_FDCWD, "/usr", 0));
}

static int tree_clone(char **argv)
{
	(void)argv;
	return outcome(syscall(NR_OPEN_TREE, AT_FDCWD, "/usr", OPEN_TREE_CLONE_));
}

static int tree_move(char **argv)
{
	long fd = syscall(NR_OPEN_TREE, AT_FDCWD, "/usr", OPEN_TREE_CLONE_);

	(void)argv;
	return outcome(syscall(NR_MOVE_MOUNT, fd, "", AT_FDCWD, PLACE, 4 /* F_EMPTY_PATH */));
}

static int fs_open(char **argv)
{
	(void)argv;
	return outcome(syscall(NR_FSOPEN, "tmpfs", 0));
}

static int fs_mount(char **argv)
{
	long fs = syscall(NR_FSOPEN, "tmpfs", 0);

	(void)argv;
	if (syscall(NR_FSCONFIG, fs, 6 /* CMD_CREATE */, NULL, NULL, 0) < 0)
		return -errno;
	return outcome(syscall(NR_FSMOUNT, fs, 0, 0));
}

static int fs_pick(char **argv)
{
	(void)argv;
	(void)mount("none", PLACE, "tmpfs", 0, NULL);
	return outcome(syscall(NR_FSPICK, AT_FDCWD, PLACE, 0));
}

static int set_attributes(char **argv)
{
	const unsigned long long attr[4] = { 0, 2 /* NOSUID off */, 0, 0 };

	(void)argv;
	(void)mount("none", PLACE, "tmpfs", MS_NOSUID, NULL);
	return outcome(syscall(NR_MOUNT_SETATTR, AT_FDCWD, PLACE, 0, attr, sizeof(attr)));
}

static int name_to_flag(const char *name)
{
	static const struct {
		const char *name;
		int flag;
	} all[] = { { "user", CLONE_NEWUSER },     { "mnt", CLONE_NEWNS },  { "pid", CLONE_NEWPID },
		    { "net", CLONE_NEWNET },       { "ipc", CLONE_NEWIPC }, { "uts", CLONE_NEWUTS },
		    { "cgroup", CLONE_NEWCGROUP }, { "time", NEWTIME },     { NULL, 0 } };

	for (int i = 0; all[i].name; i++)
		if (strcmp(all[i].name, name) == 0)
			return all[i].flag;
	return 0;
}

static int do_unshare(char **argv)
{
	return outcome(unshare(name_to_flag(argv[0])));
}

/* With bits in the upper half, which a filter that compares 64 bits would not recognise. */
static int unshare_high(char **argv)
{
	return outcome(syscall(SYS_unshare, (unsigned)name_to_flag(argv[0]) | 0xdeadbeeful << 32));
}

static int wait_for(long pid)
{
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		(void)waitpid((pid_t)pid, NULL, __WALL);
	return outcome(pid);
}

static int do_clone(char **argv)
{
	return wait_for(syscall(SYS_clone, (unsigned long)name_to_flag(argv[0]) | SIGCHLD, 0, 0, 0, 0));
}

static int do_clone3(char **argv)
{
	unsigned long long args[11] = { (unsigned)name_to_flag(argv[0]) };

	args[4] = SIGCHLD;
	return wait_for(syscall(NR_CLONE3, args, sizeof(args)));
}

static int set_ns(char **argv)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/self/ns/%s", argv[0]);
	fd = open(path, O_RDONLY);
	return outcome(setns(fd, 0));
}

static int set_ns_pidfd(char **argv)
{
	long fd = syscall(NR_PIDFD_OPEN, getppid(), 0);

	(void)argv;
	return outcome(setns((int)fd, CLONE_NEWUTS | CLONE_NEWNET));
}

static int set_ids(char **argv)
{
	uid_t id = (uid_t)atoi(argv[1]);

	switch (argv[0][0]) {
	case 'u':
		return outcome(setresuid(id, id, id));
	case 'g':
		return outcome(setresgid(id, id, id));
	case 'f':
		(void)syscall(SYS_setfsuid, id);
		return syscall(SYS_setfsuid, -1) == (long)id ? 0 : -EPERM;
	default:
		return outcome(setgroups(1, &id));
	}
}

static int cap_set(char **argv)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 1u << CAP_SYS_ADMIN, 1u << CAP_SYS_ADMIN, 0 }, { 0 } };

	(void)argv;
	return outcome(syscall(SYS_capset, &head, data));
}

static int cap_bound(char **argv)
{
	(void)argv;
	return prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 1 ? 0 : -EPERM;
}

static int cap_ambient(char **argv)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 }, { 0 } };

	(void)argv;
	(void)syscall(SYS_capget, &head, data);
	data[0].inheritable |= 1u << CAP_SYS_ADMIN;
	(void)syscall(SYS_capset, &head, data);
	return outcome(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0));
}

static int secure_bits(char **argv)
{
	(void)argv;
	return outcome(prctl(PR_SET_SECUREBITS, prctl(PR_GET_SECUREBITS), 0, 0, 0));
}

/* Unset is what the control finds; nothing can take it back. */
static int new_privs(char **argv)
{
	(void)argv;
	if (prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0)
		return 0;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? 0 : -EPERM;
}

/* A filter of our own that lets everything through, put on top of the one that is there. */
static int loosen(unsigned flags)
{
	struct sock_filter all[] = { { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW } };
	struct sock_fprog prog = { 1, all };

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog) < 0)
		return -errno;
	return outcome(mount("none", PLACE, "tmpfs", 0, NULL));
}

static int loosen_plain(char **argv)
{
	(void)argv;
	return loosen(0);
}

static int loosen_tsync(char **argv)
{
	(void)argv;
	return loosen(SECCOMP_FILTER_FLAG_TSYNC);
}

static int loosen_strict(char **argv)
{
	(void)argv;
	(void)prctl(PR_SET_SECCOMP, 0 /* SECCOMP_MODE_DISABLED */, 0, 0, 0);
	return outcome(mount("none", PLACE, "tmpfs", 0, NULL));
}

static int make_socket(char **argv)
{
	return outcome(socket(atoi(argv[0]), atoi(argv[1]), atoi(argv[2])));
}

static int make_socket_high(char **argv)
{
	return outcome(syscall(SYS_socket, (unsigned)atoi(argv[0]) | 1ul << 32,
			       (unsigned)atoi(argv[1]) | 1ul << 33, atoi(argv[2])));
}

static int make_pair(char **argv)
{
	int fds[2];

	return outcome(socketpair(atoi(argv[0]), atoi(argv[1]), atoi(argv[2]), fds));
}

static int clock_set(char **argv)
{
	struct timespec now;

	(void)argv;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	return outcome(clock_settime(CLOCK_REALTIME, &now));
}

static int day_set(char **argv)
{
	struct timezone zone = { 0 };

	(void)argv;
	(void)syscall(SYS_gettimeofday, NULL, &zone);
	return outcome(syscall(SYS_settimeofday, NULL, &zone));
}

static int clock_tick(char **argv)
{
	struct timex t = { 0 };
	int r = adjtimex(&t);

	(void)argv;
	t.modes = ADJ_TICK; /* to what it is */
	return r < 0 ? -errno : outcome(adjtimex(&t));
}

static int clock_tick2(char **argv)
{
	struct timex t = { 0 };

	(void)argv;
	(void)clock_adjtime(CLOCK_REALTIME, &t);
	t.modes = ADJ_TICK;
	t.tick = t.tick ? t.tick : 10000;
	return outcome(clock_adjtime(CLOCK_REALTIME, &t));
}

static int host_name(char **argv)
{
	char name[65] = "";

	(void)argv;
	(void)gethostname(name, sizeof(name) - 1);
	return outcome(sethostname(name, strlen(name)));
}

static const struct attempt attempts[] = {
	{ "mount", mount_type },
	{ "mount_bind", mount_bind },
	{ "mount_move", mount_move },
	{ "mount_shared", mount_shared },
	{ "remount_usr", remount_usr },
	{ "umount", umount_detach },
	{ "pivot_root", pivot },
	{ "chroot", change_root },
	{ "chroot_twice", chroot_twice },
	{ "open_tree", tree_open },
	{ "open_tree_clone", tree_clone },
	{ "move_mount", tree_move },
	{ "fsopen", fs_open },
	{ "fsmount", fs_mount },
	{ "fspick", fs_pick },
	{ "mount_setattr", set_attributes },
	{ "unshare", do_unshare },
	{ "unshare_high", unshare_high },
	{ "clone", do_clone },
	{ "clone3", do_clone3 },
	{ "setns", set_ns },
	{ "setns_pidfd", set_ns_pidfd },
	{ "set", set_ids },
	{ "capset", cap_set },
	{ "bounding", cap_bound },
	{ "ambient", cap_ambient },
	{ "securebits", secure_bits },
	{ "new_privs", new_privs },
	{ "loosen", loosen_plain },
	{ "loosen_tsync", loosen_tsync },
	{ "loosen_off", loosen_strict },
	{ "socket", make_socket },
	{ "socket_high", make_socket_high },
	{ "socketpair", make_pair },
	{ "clock_settime", clock_set },
	{ "settimeofday", day_set },
	{ "adjtimex", clock_tick },
	{ "clock_adjtime", clock_tick2 },
	{ "sethostname", host_name },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return attack_main(argc, argv, attempts);
}
