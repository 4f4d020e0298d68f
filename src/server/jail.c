/* SPDX-License-Identifier: Apache-2.0 */
/* The second half: what a process of its own root may still ask the kernel for; and whether all of it holds. */
#include "server/jail.h"

#include "base/fd.h"
#include "base/jsonw.h"
#include "sandbox/filter.h"
#include "sandbox/landlock.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LL_NET_BOTH 3ull /* bind and connect, TCP */

static const char *const names[] = {
	[JAIL_USER] = "user",       [JAIL_MOUNTS] = "mounts",   [JAIL_IPC] = "ipc",
	[JAIL_NETWORK] = "network", [JAIL_PRIVS] = "privs",     [JAIL_LANDLOCK] = "landlock",
	[JAIL_SECCOMP] = "seccomp", [JAIL_NO_DUMP] = "no_dump",
};

const char *jail_wall_name(enum jail_wall w)
{
	return w < JAIL_WALL_COUNT_ ? names[w] : "?";
}

void jail_walls_json(const struct jail_walls *w, struct buf *out)
{
	struct jsonw j;

	jsonw_init(&j, out, 0);
	jsonw_obj(&j);
	for (unsigned i = 0; i < JAIL_WALL_COUNT_; i++)
		jsonw_kbool(&j, names[i], w->held[i]);
	jsonw_obj_end(&j);
}

static int missing(struct err *e, enum jail_wall w, int errnum, const char *fix)
{
	return err_sys(e, errnum, "the wall '%s' cannot be built; fix: %s", names[w], fix);
}

/*
 * Should: have no capability, in the own namespace either, and no way to get one.
 * Mustn't: have a mount left to make.
 */
static int drop_privs(struct err *e)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	for (int cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno != EINVAL)
			return missing(e, JAIL_PRIVS, errno,
				       "a kernel that lets a process drop capabilities");
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &head, none) < 0)
		return missing(e, JAIL_PRIVS, errno, "a kernel that lets a process drop capabilities");
	return 0;
}

/*
 * Should: leave no core behind, and let nobody look inside.
 * Mustn't: lower the number of files: that is how many callers it can have.
 */
static int limit(struct err *e)
{
	const struct rlimit zero = { 0, 0 }, one = { 1, 1 };

	if (setrlimit(RLIMIT_CORE, &zero) < 0 || setrlimit(RLIMIT_NPROC, &one) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return missing(e, JAIL_NO_DUMP, errno, "limits that may be lowered");
	/* A new user namespace has made us forget it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return missing(e, JAIL_NO_DUMP, errno, "a kernel that tells of a parent's end");
	return 0;
}

struct rules {
	uint64_t fs, net, scoped;
};

struct path_rule {
	uint64_t rights;
	int32_t fd;
} __attribute__((packed));

static int allow_dirs(const struct jail_opts *o, int rules, uint64_t known, struct err *e)
{
	for (size_t i = 0; i < o->n_dirs; i++) {
		_cleanup_close_ int fd = open(o->dirs[i].path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		struct path_rule rule = { .fd = fd, .rights = LL_READ_FILE | LL_READ_DIR };

		if (o->dirs[i].writable)
			rule.rights |= LL_WRITE_FILE | LL_REMOVE_FILE | LL_MAKE_REG | LL_TRUNCATE;
		rule.rights &= known;
		if (fd < 0 || syscall(SYS_landlock_add_rule, rules, 1, &rule, 0) < 0)
			return missing(e, JAIL_LANDLOCK, errno,
				       "a kernel with Landlock (CONFIG_SECURITY_LANDLOCK, lsm=landlock)");
	}
	return 0;
}

/*
 * Should: say once more, by another mechanism, which files there are; where the kernel can, also: no TCP, no signals, no abstract sockets.
 * Mustn't: take away connections that are there.
 */
static int put_on_landlock(const struct jail_opts *o, unsigned *ret_abi, struct err *e)
{
	static const char fix[] =
		"a kernel with Landlock (CONFIG_SECURITY_LANDLOCK, and landlock among lsm=)";
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
	struct rules r = { .fs = (1ull << 13) - 1 };
	_cleanup_close_ int fd = FD_NONE;

	if (abi < 1)
		return missing(e, JAIL_LANDLOCK, errno, fix);
	r.fs |= (abi >= 2 ? LL_REFER : 0) | (abi >= 3 ? LL_TRUNCATE : 0) | (abi >= 5 ? LL_IOCTL_DEV : 0);
	r.net = abi >= 4 && !o->tcp ? LL_NET_BOTH : 0;
	r.scoped = abi >= 6 ? LL_SCOPE_ABSTRACT | LL_SCOPE_SIGNAL : 0;
	fd = (int)syscall(SYS_landlock_create_ruleset, &r, (size_t)(abi >= 6 ? 24 : abi >= 4 ? 16 : 8), 0);
	if (fd < 0)
		return missing(e, JAIL_LANDLOCK, errno, fix);
	if (allow_dirs(o, fd, r.fs, e) < 0)
		return -1;
	if (syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return missing(e, JAIL_LANDLOCK, errno, fix);
	*ret_abi = (unsigned)abi;
	return 0;
}

/*
 * Should: be the last wall, because it takes away the means to build one.
 * Mustn't: be put on before files that are needed are open or can be opened in the jail.
 */
static int put_on_filter(const struct jail_opts *o, struct err *e)
{
	static struct filter f;
	struct sock_fprog prog;

	if (filter_build_service(o->tcp, &f, e) < 0)
		return -1;
	prog = (struct sock_fprog){ .len = (unsigned short)f.n, .filter = f.insn };
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
		return missing(e, JAIL_SECCOMP, errno, "a kernel with CONFIG_SECCOMP_FILTER");
	return 0;
}

/* ---- does it hold? ---- */

static bool refused(long r, int a, int b)
{
	return r < 0 && (errno == a || errno == b);
}

static bool no_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is = refused(fd, ENOENT, EACCES);

	(void)fd_close(fd);
	return is;
}

static bool mounts_hold(void)
{
	int fd = open("/x", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	bool is = refused(fd, EROFS, EACCES);

	(void)fd_close(fd);
	return is && no_file("/etc/passwd") && no_file("/proc/self/status") && no_file("/usr/bin") &&
	       no_file("/dev/null");
}

static bool seccomp_holds(const struct jail_opts *o)
{
	char *const nothing[] = { NULL };
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool is = page != MAP_FAILED;
	int fd;

	is = is && refused(mprotect(page, 4096, PROT_READ | PROT_EXEC), EPERM, EPERM);
	is = is && refused(execve("/bin/true", nothing, nothing), EPERM, EPERM);
	is = is && refused(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), EPERM, EPERM);
	is = is && refused(unshare(CLONE_NEWUSER), EPERM, EPERM);
	is = is && refused(ptrace(PTRACE_TRACEME, 0, NULL, NULL), EPERM, EPERM);
	is = is && refused(mount("x", "/", "tmpfs", 0, NULL), EPERM, EPERM);
	is = is && refused(kill(getppid(), 0), EPERM, EPERM);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	is = is && (o->tcp ? fd >= 0 : refused(fd, EAFNOSUPPORT, EAFNOSUPPORT));
	(void)fd_close(fd);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	is = is && (o->tcp || refused(fd, EPERM, EPERM));
	(void)fd_close(fd);
	if (page != MAP_FAILED)
		(void)munmap(page, 4096);
	return is;
}

static bool privs_hold(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct now[2] = { { 0 } };

	if (syscall(SYS_capget, &head, now) < 0)
		return false;
	return !(now[0].effective | now[0].permitted | now[0].inheritable | now[1].effective |
		 now[1].permitted | now[1].inheritable);
}

/* Before prctl(2) is gone. */
static bool is_locked_up(void)
{
	return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

int jail_seal(const struct jail_opts *o, struct jail_walls *walls, struct err *e)
{
	bool locked_up;

	if (drop_privs(e) < 0 || limit(e) < 0)
		return -1;
	locked_up = is_locked_up();
	if (put_on_landlock(o, &walls->landlock_abi, e) < 0 || put_on_filter(o, e) < 0)
		return -1;
	walls->held[JAIL_MOUNTS] = mounts_hold();
	walls->held[JAIL_PRIVS] = locked_up && privs_hold();
	walls->held[JAIL_LANDLOCK] = walls->landlock_abi > 0;
	walls->held[JAIL_SECCOMP] = seccomp_holds(o);
	walls->held[JAIL_NO_DUMP] = locked_up;
	for (unsigned i = 0; i < JAIL_WALL_COUNT_; i++)
		if (!walls->held[i] && !(i == JAIL_NETWORK && o->tcp))
			return err_set(e, ERR_UNAVAIL, "the wall '%s' was built and does not hold", names[i]);
	return 0;
}
