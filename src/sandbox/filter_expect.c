/* SPDX-License-Identifier: Apache-2.0 */
/* What the filter must answer, in plain C: the reference that the compiled program is compared with. */
#include "sandbox/filter.h"
#include "sandbox/filter_priv.h"

#include <assert.h>

const char *filter_action_name(enum filter_action a)
{
	/* clang-format off */
	static const char *const names[] = {
		[FILTER_ENOSYS] = "enosys",           [FILTER_EPERM] = "eperm",       [FILTER_ALLOW] = "allow",
		[FILTER_CLONE] = "clone",             [FILTER_UNSHARE] = "unshare",   [FILTER_IOCTL] = "ioctl",
		[FILTER_SOCKET] = "socket",           [FILTER_SOCKETPAIR] = "socketpair",
		[FILTER_PERSONALITY] = "personality", [FILTER_PRLIMIT] = "prlimit",   [FILTER_SETRLIMIT] = "setrlimit",
		[FILTER_SCHED] = "sched",             [FILTER_PRIORITY] = "priority", [FILTER_IOPRIO] = "ioprio",
		[FILTER_MKNOD] = "mknod",             [FILTER_MKNODAT] = "mknodat",   [FILTER_MODE1] = "mode1",
		[FILTER_MODE2] = "mode2",             [FILTER_OPEN] = "open",         [FILTER_OPENAT] = "openat",
		[FILTER_FCNTL] = "fcntl",
		[FILTER_UNIX] = "unix",
		[FILTER_DATA] = "data",
	};
	/* clang-format on */

	static_assert(sizeof(names) / sizeof(names[0]) == FILTER_ACTION_COUNT_, "every action has a name");
	return a < FILTER_ACTION_COUNT_ ? names[a] : "?";
}

enum filter_action filter_action(uint32_t nr)
{
	for (size_t i = 0; i < filter_n_rows; i++)
		if (filter_rows[i].nr == nr && nr < NR_MAX)
			return filter_rows[i].action;
	return FILTER_ENOSYS;
}

static uint32_t allow_if(bool yes)
{
	return yes ? RET_ALLOW : RET_EPERM;
}

static uint32_t expect_socket(uint32_t domain, uint32_t type, uint32_t protocol)
{
	type &= SOCKET_TYPE_MASK;
	if (domain == AF_UNIX)
		return RET_ALLOW;
	if (domain != AF_INET && domain != AF_INET6)
		return RET_EAFNOSUPPORT;
	if (type != SOCK_STREAM && type != SOCK_DGRAM)
		return RET_EPERM;
	return allow_if(protocol == 0 || protocol == IPPROTO_TCP || protocol == IPPROTO_UDP);
}

/*
 * Asking is fine; setting the limit on cores is said to be done, unless the old one is wanted back with it. Of others only what
 * marks the calls may be asked.
 */
static uint32_t expect_prlimit(uint32_t pid, uint32_t resource, uint64_t new_limit, uint64_t old_limit)
{
	if (pid != 0)
		return allow_if(new_limit == 0 && (resource == MARK_LOW || resource == MARK_HIGH));
	if (resource != RLIMIT_CORE || new_limit == 0)
		return RET_ALLOW;
	return old_limit == 0 ? RET_DONE : RET_EPERM;
}

static uint32_t expect_priority(uint32_t which, uint32_t who, uint32_t process, uint32_t user)
{
	return allow_if(which != user && !(which == process && who == WARDEN_PID));
}

static uint32_t expect_mknod(uint32_t mode)
{
	uint32_t type = mode & S_IFMT;

	return allow_if(!(mode & SET_ID) &&
			(type == 0 || type == S_IFREG || type == S_IFIFO || type == S_IFSOCK));
}

static uint32_t expect_open(uint32_t flags, uint32_t mode)
{
	return allow_if(!(flags & MAKES_FILE) || !(mode & SET_ID));
}

/* The kernel takes these arguments as int; what stands in the upper half is not looked at by either side. */
static uint32_t expect_checked(enum filter_action action, const uint64_t args[6])
{
	uint32_t a0 = (uint32_t)args[0], a1 = (uint32_t)args[1], a2 = (uint32_t)args[2];

	switch (action) {
	case FILTER_CLONE:
		return allow_if(!(a0 & NEW_NAMESPACES));
	case FILTER_UNSHARE:
		return allow_if(!(a0 & (NEW_NAMESPACES | NEW_TIME)));
	case FILTER_IOCTL:
		return allow_if(a1 != TIOCSTI && a1 != TIOCLINUX_ && a1 != TIOCSETD);
	case FILTER_SOCKET:
		return expect_socket(a0, a1, a2);
	case FILTER_SOCKETPAIR:
		return a0 == AF_UNIX ? RET_ALLOW : RET_EAFNOSUPPORT;
	case FILTER_PERSONALITY:
		return allow_if(a0 == 0 || a0 == ASK_PERSONALITY);
	case FILTER_PRLIMIT:
		return expect_prlimit(a0, a1, args[2], args[3]);
	case FILTER_SETRLIMIT:
		return a0 == RLIMIT_CORE ? RET_DONE : RET_ALLOW;
	case FILTER_SCHED:
		return allow_if(a0 != WARDEN_PID);
	case FILTER_PRIORITY:
		return expect_priority(a0, a1, PRIORITY_PROCESS, PRIORITY_USER);
	case FILTER_IOPRIO:
		return expect_priority(a0, a1, IOPRIO_PROCESS, IOPRIO_USER);
	case FILTER_MKNOD:
		return expect_mknod(a1);
	case FILTER_MKNODAT:
		return expect_mknod(a2);
	case FILTER_MODE1:
		return allow_if(!(a1 & SET_ID));
	case FILTER_MODE2:
		return allow_if(!(a2 & SET_ID));
	case FILTER_OPEN:
		return expect_open(a1, a2);
	case FILTER_OPENAT:
		return expect_open(a2, (uint32_t)args[3]);
	case FILTER_FCNTL:
		return allow_if(a1 != F_SETLEASE);
	case FILTER_UNIX:
		return a0 == AF_UNIX ? allow_if((a1 & SOCKET_TYPE_MASK) == SOCK_STREAM) : RET_EAFNOSUPPORT;
	case FILTER_DATA:
		return allow_if(!(a2 & PROT_EXEC));
	case FILTER_ALLOW:
		return RET_ALLOW;
	case FILTER_EPERM:
		return RET_EPERM;
	case FILTER_ENOSYS:
	case FILTER_ACTION_COUNT_:
		break;
	}
	return RET_ENOSYS;
}

uint32_t filter_expect(uint32_t arch, uint32_t nr, const uint64_t args[6])
{
	return arch == NATIVE_ARCH && nr < NR_MAX ? expect_checked(filter_action(nr), args) : RET_ENOSYS;
}
