/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Self-attestation: in the final context, just before the payload is executed, try what must not be possible.
 * A probe never succeeds by half: each is one call that would be harmless if it went through, or whose effect
 * ends with this sandbox.
 */
#include "sandbox/warden/warden.h"

#include <linux/capability.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/time_types.h>

#define AF_INET_ 2
#define AF_NETLINK_ 16
#define AF_PACKET_ 17
#define SOCK_DGRAM_ 2
#define SOCK_RAW_ 3
#define SOCK_CLOEXEC_ 02000000
#define PTRACE_SEIZE_ 0x4206
#define TIOCSTI_ 0x5412

static bool refused(long r)
{
	return r < 0;
}

/* Opened for writing or reading would already be the hole: close and say so. */
static bool open_refused(const char *path, int flags)
{
	long fd = SYS4(openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NONBLOCK, 0600);

	if (fd >= 0)
		SYS1(close, fd);
	return fd < 0;
}

static bool socket_refused(long family, long type)
{
	long fd = SYS3(socket, family, type | SOCK_CLOEXEC_, 0);

	if (fd >= 0)
		SYS1(close, fd);
	return fd < 0;
}

static bool p_mount(void)
{
	return refused(SYS5(mount, "none", "/tmp", "tmpfs", 0, 0));
}
static bool p_unshare(void)
{
	return refused(SYS1(unshare, CLONE_NEWUSER));
}
static bool p_setns(void)
{
	/* Ourselves, by a descriptor: what is opened below /proc takes memory as long as the sandbox lives. */
	long fd = SYS2(pidfd_open, SYS0(getpid), 0), r;

	if (fd < 0)
		fd = SYS4(openat, AT_FDCWD, "/proc/self/ns/uts", O_RDONLY | O_CLOEXEC, 0);
	r = SYS2(setns, fd < 0 ? 0 : fd, CLONE_NEWUTS);
	if (fd >= 0)
		SYS1(close, fd);
	return r < 0;
}
static bool p_ptrace(void)
{
	return refused(SYS4(ptrace, PTRACE_SEIZE_, 1, 0, 0));
}
static bool p_kill(void)
{
	/* pid 1 takes no signal from inside that it has no handler for; being still asked here is the proof. */
	SYS2(kill, 1, 9);
	return SYS0(getppid) == 1;
}
static bool p_warden_mem(void)
{
	return open_refused("/proc/1/mem", O_RDWR) && open_refused("/proc/1/environ", O_RDONLY);
}
static bool p_write_root(void)
{
	return open_refused("/.creel-probe", O_WRONLY | O_CREAT);
}
static bool p_write_usr(void)
{
	return open_refused("/usr/.creel-probe", O_WRONLY | O_CREAT);
}
static bool p_sys(void)
{
	return open_refused("/sys/kernel", O_PATH);
}
static bool p_host_pids(void)
{
	return SYS0(getppid) == 1;
}
static bool p_caps(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };
	long r = SYS2(capget, &head, data);

	return r >= 0 && !(data[0].effective | data[0].permitted | data[1].effective | data[1].permitted);
}
static bool p_bounding(void)
{
	for (int cap = 0; cap < 64; cap++) {
		long r = SYS5(prctl, PR_CAPBSET_READ, cap, 0, 0, 0);

		if (r > 0)
			return false;
		if (r < 0)
			break;
	}
	return true;
}
static bool p_nnp(void)
{
	return SYS5(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}
static bool p_seccomp(void)
{
	return SYS5(prctl, PR_GET_SECCOMP, 0, 0, 0, 0) == 2;
}
static bool p_keyctl(void)
{
	return refused(SYS2(keyctl, 0, -3));
}
static bool p_bpf(void)
{
	return refused(SYS3(bpf, 0, 0, 0));
}
static bool p_perf(void)
{
	char attr[128] = { 0 };
	long fd = SYS5(perf_event_open, attr, 0, -1, -1, 0);

	if (fd >= 0)
		SYS1(close, fd);
	return fd < 0;
}
static bool p_io_uring(void)
{
	char params[120] = { 0 };
	long fd = SYS2(io_uring_setup, 1, params);

	if (fd >= 0)
		SYS1(close, fd);
	return fd < 0;
}
static bool p_uffd(void)
{
	long fd = SYS1(userfaultfd, O_CLOEXEC);

	if (fd >= 0)
		SYS1(close, fd);
	return fd < 0;
}
static bool p_module(void)
{
	return refused(SYS3(init_module, 0, 0, ""));
}
static bool p_reboot(void)
{
	return refused(SYS4(reboot, 0, 0, 0, 0));
}
static bool p_netlink(void)
{
	return socket_refused(AF_NETLINK_, SOCK_RAW_);
}
static bool p_packet(void)
{
	return socket_refused(AF_PACKET_, SOCK_RAW_);
}
static bool p_no_route(void)
{
	/* 192.0.2.1 is nobody's address (RFC 5737); connecting a datagram socket only asks for a route. */
	unsigned char to[16] = { AF_INET_, 0, 0, 9, 192, 0, 2, 1 };
	long fd = SYS3(socket, AF_INET_, SOCK_DGRAM_ | SOCK_CLOEXEC_, 0), r;

	if (fd < 0)
		return true;
	r = SYS3(connect, fd, to, sizeof(to));
	SYS1(close, fd);
	return r < 0;
}
static bool p_mknod(void)
{
	long r = SYS4(mknodat, AT_FDCWD, "/tmp/.creel-probe", 0020600, 0x103);

	if (r >= 0)
		SYS3(unlinkat, AT_FDCWD, "/tmp/.creel-probe", 0);
	return r < 0;
}
static bool p_chroot(void)
{
	return refused(SYS1(chroot, "/"));
}
static bool p_handle(void)
{
	unsigned char handle[16] = { 8, 0, 0, 0, 1, 0, 0, 0, 2 };

	return refused(SYS3(open_by_handle_at, AT_FDCWD, handle, 0));
}
static bool p_setuid(void)
{
	return SYS0(geteuid) != 0 && refused(SYS3(setresuid, 0, 0, 0));
}
static bool p_clock(void)
{
	return refused(SYS2(clock_settime, 0, 0));
}
static bool p_sysctl(void)
{
	return open_refused("/proc/sys/kernel/core_pattern", O_WRONLY) &&
	       open_refused("/proc/sysrq-trigger", O_WRONLY);
}
#define FDS 61
static bool p_no_fds(void)
{
	const struct __kernel_timespec now = { 0 };
	struct pollfd p[FDS];
	long r;

	/* 0-2 are the payload's; ours were closed, and nothing else may be there. */
	for (int i = 0; i < FDS; i++)
		p[i] = (struct pollfd){ .fd = 3 + i };
	r = SYS5(ppoll, p, FDS, &now, 0, 0);
	if (r != -EINVAL)
		return r == FDS;
	/* More than it may have open. */
	for (int i = 0; i < FDS; i++)
		if (SYS2(fcntl, p[i].fd, F_GETFD) >= 0)
			return false;
	return true;
}
static bool p_personality(void)
{
	return refused(SYS1(personality, 0x0400000));
}
static bool p_tiocsti(void)
{
	char c = '\0';

	return refused(SYS3(ioctl, 0, TIOCSTI_, &c));
}
static bool p_cgroup(void)
{
	return open_refused("/sys/fs/cgroup", O_PATH);
}

/* clang-format off */
static bool (*const probes[PROBE_COUNT_])(void) = {
	[PROBE_MOUNT] = p_mount,               [PROBE_UNSHARE_USER] = p_unshare,   [PROBE_SETNS] = p_setns,
	[PROBE_PTRACE_WARDEN] = p_ptrace,      [PROBE_KILL_WARDEN] = p_kill,       [PROBE_WARDEN_MEM] = p_warden_mem,
	[PROBE_WRITE_ROOT] = p_write_root,     [PROBE_WRITE_USR] = p_write_usr,    [PROBE_SYS_ABSENT] = p_sys,
	[PROBE_HOST_PIDS] = p_host_pids,       [PROBE_CAPS_EMPTY] = p_caps,        [PROBE_BOUNDING_EMPTY] = p_bounding,
	[PROBE_NO_NEW_PRIVS] = p_nnp,          [PROBE_SECCOMP_ON] = p_seccomp,     [PROBE_KEYCTL] = p_keyctl,
	[PROBE_BPF] = p_bpf,                   [PROBE_PERF] = p_perf,              [PROBE_IO_URING] = p_io_uring,
	[PROBE_USERFAULTFD] = p_uffd,          [PROBE_INIT_MODULE] = p_module,     [PROBE_REBOOT] = p_reboot,
	[PROBE_NETLINK] = p_netlink,           [PROBE_PACKET] = p_packet,          [PROBE_NO_ROUTE] = p_no_route,
	[PROBE_MKNOD] = p_mknod,               [PROBE_CHROOT] = p_chroot,          [PROBE_OPEN_BY_HANDLE] = p_handle,
	[PROBE_SETUID_ROOT] = p_setuid,        [PROBE_CLOCK_SET] = p_clock,        [PROBE_SYSCTL_WRITE] = p_sysctl,
	[PROBE_NO_FDS] = p_no_fds,             [PROBE_PERSONALITY] = p_personality, [PROBE_TIOCSTI] = p_tiocsti,
	[PROBE_CGROUP_HIDDEN] = p_cgroup,
};
/* clang-format on */

uint64_t probe_all(const struct warden *w)
{
	uint64_t held = 0;

	for (unsigned i = 0; i < PROBE_COUNT_; i++)
		if (w->plan->probes & 1ull << i && probes[i] && probes[i]())
			held |= 1ull << i;
	return held;
}
