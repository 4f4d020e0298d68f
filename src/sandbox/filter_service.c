/* SPDX-License-Identifier: Apache-2.0 */
/* What a service may ask the kernel for once it is locked in. What is not here answers ENOSYS; EPERM where a library would take that for an old kernel. */
#include "sandbox/filter_numbers.h"
#include "sandbox/filter_priv.h"

#include <string.h>

#define R(name, action)                             \
	{                                           \
#name, __NR_##name, FILTER_##action \
	}

/* clang-format off */
static const struct filter_row rows[] = {
	/* descriptors and waiting */
	R(read, ALLOW), R(readv, ALLOW), R(pread64, ALLOW), R(preadv, ALLOW), R(write, ALLOW), R(writev, ALLOW), R(pwrite64, ALLOW), R(lseek, ALLOW), R(close, ALLOW),
	R(close_range, ALLOW), R(fcntl, FCNTL), R(dup3, ALLOW), R(ioctl, IOCTL), R(poll, ALLOW), R(ppoll, ALLOW), R(select, ALLOW), R(pselect6, ALLOW), R(epoll_create1, ALLOW),
	R(epoll_ctl, ALLOW), R(epoll_wait, ALLOW), R(epoll_pwait, ALLOW), R(epoll_pwait2, ALLOW), R(eventfd2, ALLOW), R(signalfd4, ALLOW), R(timerfd_create, ALLOW),
	R(timerfd_settime, ALLOW), R(timerfd_gettime, ALLOW), R(pipe2, ALLOW), R(splice, ALLOW),
	/* sockets */
	R(socket, UNIX), R(socketpair, SOCKETPAIR), R(accept, ALLOW), R(accept4, ALLOW), R(connect, ALLOW), R(recvfrom, ALLOW), R(recvmsg, ALLOW), R(sendto, ALLOW), R(sendmsg, ALLOW),
	R(shutdown, ALLOW), R(getsockname, ALLOW), R(getpeername, ALLOW), R(getsockopt, ALLOW), R(setsockopt, ALLOW), R(bind, EPERM), R(listen, EPERM),
	/* files in the directories that it was given */
	R(openat, OPENAT), R(openat2, ALLOW), R(open, OPEN), R(fstat, ALLOW), R(newfstatat, ALLOW), R(stat, ALLOW), R(lstat, ALLOW), R(statx, ALLOW), R(fstatfs, ALLOW), R(faccessat, ALLOW),
	R(faccessat2, ALLOW), R(readlinkat, ALLOW), R(getdents64, ALLOW), R(flock, ALLOW), R(fsync, ALLOW), R(fdatasync, ALLOW), R(ftruncate, ALLOW), R(fallocate, ALLOW), R(rename, ALLOW),
	R(renameat, ALLOW), R(renameat2, ALLOW), R(unlink, ALLOW), R(unlinkat, ALLOW), R(mkdir, ALLOW), R(mkdirat, ALLOW), R(fchmod, MODE1), R(fchown, ALLOW), R(umask, ALLOW), R(inotify_init1, ALLOW),
	R(inotify_add_watch, ALLOW), R(inotify_rm_watch, ALLOW), R(getcwd, ALLOW),
	/* memory */
	R(brk, ALLOW), R(mmap, DATA), R(mprotect, DATA), R(pkey_mprotect, DATA), R(munmap, ALLOW), R(mremap, ALLOW), R(madvise, ALLOW), R(msync, ALLOW), R(mincore, ALLOW), R(mlock, ALLOW), R(munlock, ALLOW),
	R(memfd_create, EPERM), R(shmat, EPERM),
	/* itself */
	R(rt_sigaction, ALLOW), R(rt_sigprocmask, ALLOW), R(rt_sigreturn, ALLOW), R(sigaltstack, ALLOW), R(restart_syscall, ALLOW), R(exit, ALLOW), R(exit_group, ALLOW), R(futex, ALLOW),
	R(set_robust_list, ALLOW), R(rseq, ALLOW), R(getpid, ALLOW), R(getppid, ALLOW), R(gettid, ALLOW), R(getuid, ALLOW), R(geteuid, ALLOW), R(getgid, ALLOW), R(getegid, ALLOW), R(getresuid, ALLOW),
	R(getresgid, ALLOW), R(getrandom, ALLOW), R(getrusage, ALLOW), R(getrlimit, ALLOW), R(prlimit64, PRLIMIT), R(times, ALLOW), R(sysinfo, ALLOW), R(uname, ALLOW), R(getcpu, ALLOW),
	R(sched_yield, ALLOW), R(sched_getaffinity, ALLOW), R(clock_gettime, ALLOW), R(clock_getres, ALLOW), R(clock_nanosleep, ALLOW), R(nanosleep, ALLOW), R(gettimeofday, ALLOW), R(time, ALLOW),
	R(arch_prctl, ALLOW), R(capget, ALLOW),
	/* what somebody who has taken it over would want */
	R(execve, EPERM), R(execveat, EPERM), R(clone, EPERM), R(fork, EPERM), R(vfork, EPERM), R(unshare, EPERM), R(setns, EPERM), R(ptrace, EPERM), R(process_vm_readv, EPERM),
	R(process_vm_writev, EPERM), R(kill, EPERM), R(tkill, EPERM), R(tgkill, EPERM), R(rt_sigqueueinfo, EPERM), R(pidfd_open, EPERM), R(pidfd_send_signal, EPERM), R(pidfd_getfd, EPERM), R(mount, EPERM),
	R(umount2, EPERM), R(pivot_root, EPERM), R(chroot, EPERM), R(bpf, EPERM), R(perf_event_open, EPERM), R(keyctl, EPERM), R(add_key, EPERM), R(request_key, EPERM), R(prctl, EPERM), R(seccomp, EPERM),
	R(setuid, EPERM), R(setresuid, EPERM), R(setgid, EPERM), R(setresgid, EPERM), R(capset, EPERM), R(personality, EPERM), R(userfaultfd, EPERM), R(mknod, EPERM), R(mknodat, EPERM), R(linkat, EPERM),
	R(link, EPERM), R(symlink, EPERM), R(symlinkat, EPERM), R(chmod, EPERM), R(fchmodat, EPERM), R(chown, EPERM), R(fchownat, EPERM), R(init_module, EPERM), R(finit_module, EPERM), R(reboot, EPERM),
	R(name_to_handle_at, EPERM), R(open_by_handle_at, EPERM), R(setrlimit, EPERM),
};
/* clang-format on */

int filter_build_service(bool tcp, struct filter *ret, struct err *e)
{
	struct filter_row mine[sizeof(rows) / sizeof(rows[0])];

	memcpy(mine, rows, sizeof(rows));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (tcp && mine[i].nr == __NR_socket)
			mine[i].action = FILTER_SOCKET;
	return filter_compile(mine, sizeof(rows) / sizeof(rows[0]), ret, e);
}
