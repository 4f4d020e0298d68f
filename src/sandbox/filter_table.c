/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every system call that is answered with something else than ENOSYS. On purpose not here: clone3, io_uring_*, the new mount
 * API (so that libmount falls back to mount(2) and is refused there), openat2 (the mode of a file that it makes lies in memory,
 * where a filter cannot look), io_setup and its like (all processes of the host share fs.aio-max-nr, and one can take it all), and
 * whatever the next kernel brings.
 */
#include "sandbox/filter_numbers.h"
#include "sandbox/filter_priv.h"

#define R(name, action)                             \
	{                                           \
#name, __NR_##name, FILTER_##action \
	}

/* clang-format off */
const struct filter_row filter_rows[] = {
	R(_sysctl, EPERM), R(accept, ALLOW), R(accept4, ALLOW), R(access, ALLOW), R(acct, EPERM),
	R(add_key, EPERM), R(adjtimex, EPERM), R(afs_syscall, EPERM), R(alarm, ALLOW), R(arch_prctl, ALLOW),
	R(bind, ALLOW), R(bpf, EPERM), R(brk, ALLOW), R(cachestat, ALLOW), R(capget, ALLOW), R(capset, ALLOW),
	R(chdir, ALLOW), R(chmod, MODE1), R(chown, ALLOW), R(chroot, EPERM), R(clock_adjtime, EPERM),
	R(clock_getres, ALLOW), R(clock_gettime, ALLOW), R(clock_nanosleep, ALLOW), R(clock_settime, EPERM),
	R(clone, CLONE), R(close, ALLOW), R(close_range, ALLOW), R(connect, ALLOW), R(copy_file_range, ALLOW),
	R(creat, MODE1), R(create_module, EPERM), R(delete_module, EPERM), { "dup", __NR_dup, FILTER_ALLOW }, R(dup2, ALLOW),
	R(dup3, ALLOW), R(epoll_create, ALLOW), R(epoll_create1, ALLOW), R(epoll_ctl, ALLOW),
	R(epoll_pwait, ALLOW), R(epoll_pwait2, ALLOW), R(epoll_wait, ALLOW),
	R(eventfd, ALLOW), R(eventfd2, ALLOW), R(execve, ALLOW), R(execveat, ALLOW), R(exit, ALLOW),
	R(exit_group, ALLOW), R(faccessat, ALLOW), R(faccessat2, ALLOW), R(fadvise64, ALLOW), R(fallocate, ALLOW),
	R(fanotify_init, EPERM), R(fanotify_mark, EPERM), R(fchdir, ALLOW), R(fchmod, MODE1), R(fchmodat, MODE2),
	R(fchmodat2, MODE2), R(fchown, ALLOW), R(fchownat, ALLOW), R(fcntl, FCNTL), R(fdatasync, ALLOW),
	R(fgetxattr, ALLOW), R(finit_module, EPERM), R(flistxattr, ALLOW), R(flock, ALLOW), R(fork, ALLOW),
	R(fremovexattr, ALLOW), R(fsetxattr, ALLOW), R(fstat, ALLOW), R(fstatfs, ALLOW), R(fsync, ALLOW),
	R(ftruncate, ALLOW), R(futex, ALLOW), R(futex_requeue, ALLOW), R(futex_wait, ALLOW),
	R(futex_waitv, ALLOW), R(futex_wake, ALLOW), R(futimesat, ALLOW), R(get_kernel_syms, EPERM),
	R(get_mempolicy, EPERM), R(get_robust_list, ALLOW), R(get_thread_area, ALLOW), R(getcpu, ALLOW),
	R(getcwd, ALLOW), R(getdents, ALLOW), R(getdents64, ALLOW), R(getegid, ALLOW), R(geteuid, ALLOW),
	R(getgid, ALLOW), R(getgroups, ALLOW), R(getitimer, ALLOW), R(getpeername, ALLOW), R(getpgid, ALLOW),
	R(getpgrp, ALLOW), R(getpid, ALLOW), R(getpmsg, EPERM), R(getppid, ALLOW), R(getpriority, ALLOW),
	R(getrandom, ALLOW), R(getresgid, ALLOW), R(getresuid, ALLOW), R(getrlimit, ALLOW), R(getrusage, ALLOW),
	R(getsid, ALLOW), R(getsockname, ALLOW), R(getsockopt, ALLOW), R(gettid, ALLOW), R(gettimeofday, ALLOW),
	R(getuid, ALLOW), R(getxattr, ALLOW), R(getxattrat, ALLOW), R(init_module, EPERM),
	R(inotify_add_watch, ALLOW), R(inotify_init, ALLOW), R(inotify_init1, ALLOW), R(inotify_rm_watch, ALLOW),
	R(ioctl, IOCTL), R(ioperm, EPERM), R(iopl, EPERM),
	R(ioprio_get, ALLOW), R(ioprio_set, IOPRIO), R(kcmp, EPERM), R(kexec_file_load, EPERM),
	R(kexec_load, EPERM), R(keyctl, EPERM), R(kill, ALLOW), R(landlock_add_rule, ALLOW),
	R(landlock_create_ruleset, ALLOW), R(landlock_restrict_self, ALLOW), R(lchown, ALLOW),
	R(lgetxattr, ALLOW), R(link, ALLOW), R(linkat, ALLOW), R(listen, ALLOW), R(listxattr, ALLOW),
	R(listxattrat, ALLOW), R(llistxattr, ALLOW), R(lookup_dcookie, EPERM), R(lremovexattr, ALLOW),
	R(lseek, ALLOW), R(lsetxattr, ALLOW), R(lsm_get_self_attr, EPERM), R(lsm_list_modules, EPERM),
	R(lsm_set_self_attr, EPERM), R(lstat, ALLOW), R(madvise, ALLOW), R(map_shadow_stack, ALLOW),
	R(mbind, EPERM), R(membarrier, ALLOW), R(memfd_create, ALLOW), R(memfd_secret, EPERM),
	R(migrate_pages, EPERM), R(mincore, ALLOW), R(mkdir, ALLOW), R(mkdirat, ALLOW), R(mknod, MKNOD),
	R(mknodat, MKNODAT), R(mlock, ALLOW), R(mlock2, ALLOW), R(mlockall, ALLOW), R(mmap, ALLOW),
	R(modify_ldt, EPERM), R(mount, EPERM), R(move_pages, EPERM), R(mprotect, ALLOW), R(mq_getsetattr, ALLOW),
	R(mq_notify, ALLOW), R(mq_open, ALLOW), R(mq_timedreceive, ALLOW), R(mq_timedsend, ALLOW),
	R(mq_unlink, ALLOW), R(mremap, ALLOW), R(mseal, ALLOW), R(msgctl, ALLOW), R(msgget, ALLOW),
	R(msgrcv, ALLOW), R(msgsnd, ALLOW), R(msync, ALLOW), R(munlock, ALLOW), R(munlockall, ALLOW),
	R(munmap, ALLOW), R(name_to_handle_at, EPERM), R(nanosleep, ALLOW), R(newfstatat, ALLOW),
	R(nfsservctl, EPERM), R(open, OPEN), R(open_by_handle_at, EPERM), R(openat, OPENAT),
	R(pause, ALLOW), R(perf_event_open, EPERM), R(personality, PERSONALITY), R(pidfd_getfd, EPERM),
	R(pidfd_open, ALLOW), R(pidfd_send_signal, ALLOW), R(pipe, ALLOW), R(pipe2, ALLOW), R(pivot_root, EPERM),
	R(pkey_alloc, ALLOW), R(pkey_free, ALLOW), R(pkey_mprotect, ALLOW), R(poll, ALLOW), R(ppoll, ALLOW),
	R(prctl, ALLOW), R(pread64, ALLOW), R(preadv, ALLOW), R(preadv2, ALLOW), R(prlimit64, PRLIMIT),
	R(process_madvise, EPERM), R(process_mrelease, ALLOW), R(process_vm_readv, EPERM),
	R(process_vm_writev, EPERM), R(pselect6, ALLOW), R(ptrace, EPERM), R(putpmsg, EPERM), R(pwrite64, ALLOW),
	R(pwritev, ALLOW), R(pwritev2, ALLOW), R(query_module, EPERM), R(quotactl, EPERM), R(quotactl_fd, EPERM),
	R(read, ALLOW), R(readahead, ALLOW), R(readlink, ALLOW), R(readlinkat, ALLOW), R(readv, ALLOW),
	R(reboot, EPERM), R(recvfrom, ALLOW), R(recvmmsg, ALLOW), R(recvmsg, ALLOW), R(remap_file_pages, ALLOW),
	R(removexattr, ALLOW), R(removexattrat, ALLOW), R(rename, ALLOW), R(renameat, ALLOW), R(renameat2, ALLOW),
	R(request_key, EPERM), R(restart_syscall, ALLOW), R(rmdir, ALLOW), R(rseq, ALLOW), R(rt_sigaction, ALLOW),
	R(rt_sigpending, ALLOW), R(rt_sigprocmask, ALLOW), R(rt_sigqueueinfo, ALLOW), R(rt_sigreturn, ALLOW),
	R(rt_sigsuspend, ALLOW), R(rt_sigtimedwait, ALLOW), R(rt_tgsigqueueinfo, ALLOW),
	R(sched_get_priority_max, ALLOW), R(sched_get_priority_min, ALLOW), R(sched_getaffinity, ALLOW),
	R(sched_getattr, ALLOW), R(sched_getparam, ALLOW), R(sched_getscheduler, ALLOW),
	R(sched_rr_get_interval, ALLOW), R(sched_setaffinity, SCHED), R(sched_setattr, SCHED),
	R(sched_setparam, SCHED), R(sched_setscheduler, SCHED), R(sched_yield, ALLOW), R(seccomp, ALLOW),
	R(security, EPERM), R(select, ALLOW), R(semctl, ALLOW), R(semget, ALLOW), R(semop, ALLOW),
	R(semtimedop, ALLOW), R(sendfile, ALLOW), R(sendmmsg, ALLOW), R(sendmsg, ALLOW), R(sendto, ALLOW),
	R(set_mempolicy, EPERM), R(set_mempolicy_home_node, EPERM), R(set_robust_list, ALLOW),
	R(set_thread_area, ALLOW), R(set_tid_address, ALLOW), R(setdomainname, EPERM), R(setfsgid, ALLOW),
	R(setfsuid, ALLOW), R(setgid, ALLOW), R(setgroups, ALLOW), R(sethostname, EPERM), R(setitimer, ALLOW),
	R(setns, EPERM), R(setpgid, ALLOW), R(setpriority, PRIORITY), R(setregid, ALLOW), R(setresgid, ALLOW),
	R(setresuid, ALLOW), R(setreuid, ALLOW), R(setrlimit, SETRLIMIT), R(setsid, ALLOW), R(setsockopt, ALLOW),
	R(settimeofday, EPERM), R(setuid, ALLOW), R(setxattr, ALLOW), R(setxattrat, ALLOW), R(shmat, ALLOW),
	R(shmctl, ALLOW), R(shmdt, ALLOW), R(shmget, ALLOW), R(shutdown, ALLOW), R(sigaltstack, ALLOW),
	R(signalfd, ALLOW), R(signalfd4, ALLOW), R(socket, SOCKET), R(socketpair, SOCKETPAIR), R(splice, ALLOW),
	R(stat, ALLOW), R(statfs, ALLOW), R(statx, ALLOW), R(swapoff, EPERM), R(swapon, EPERM), R(symlink, ALLOW),
	R(symlinkat, ALLOW), R(sync, ALLOW), R(sync_file_range, ALLOW), R(syncfs, ALLOW), R(sysfs, EPERM),
	R(sysinfo, ALLOW), R(syslog, EPERM), R(tee, ALLOW), R(tgkill, ALLOW), R(time, ALLOW),
	R(timer_create, ALLOW), R(timer_delete, ALLOW), R(timer_getoverrun, ALLOW), R(timer_gettime, ALLOW),
	R(timer_settime, ALLOW), R(timerfd_create, ALLOW), R(timerfd_gettime, ALLOW), R(timerfd_settime, ALLOW),
	R(times, ALLOW), R(tkill, ALLOW), R(truncate, ALLOW), R(tuxcall, EPERM), R(umask, ALLOW),
	R(umount2, EPERM), R(uname, ALLOW), R(unlink, ALLOW), R(unlinkat, ALLOW), R(unshare, UNSHARE),
	R(uretprobe, ALLOW), R(uselib, EPERM), R(userfaultfd, EPERM), R(ustat, EPERM), R(utime, ALLOW),
	R(utimensat, ALLOW), R(utimes, ALLOW), R(vfork, ALLOW), R(vhangup, EPERM), R(vmsplice, ALLOW),
	R(vserver, EPERM), R(wait4, ALLOW), R(waitid, ALLOW), R(write, ALLOW), R(writev, ALLOW),
};
/* clang-format on */
const size_t filter_n_rows = sizeof(filter_rows) / sizeof(filter_rows[0]);
