/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that some architecture or some distribution's headers do not have. Newer calls have one number everywhere, so they
 * get it here; what an architecture never had is NONE, and matches nothing.
 */
#pragma once

#include <asm/unistd.h>

#define NONE 0xffffffffu

/* clang-format off */
#ifndef __NR__sysctl
#define __NR__sysctl NONE
#endif
#ifndef __NR_access
#define __NR_access NONE
#endif
#ifndef __NR_afs_syscall
#define __NR_afs_syscall NONE
#endif
#ifndef __NR_alarm
#define __NR_alarm NONE
#endif
#ifndef __NR_arch_prctl
#define __NR_arch_prctl NONE
#endif
#ifndef __NR_cachestat
#define __NR_cachestat 451
#endif
#ifndef __NR_chmod
#define __NR_chmod NONE
#endif
#ifndef __NR_chown
#define __NR_chown NONE
#endif
#ifndef __NR_creat
#define __NR_creat NONE
#endif
#ifndef __NR_create_module
#define __NR_create_module NONE
#endif
#ifndef __NR_dup2
#define __NR_dup2 NONE
#endif
#ifndef __NR_epoll_create
#define __NR_epoll_create NONE
#endif
#ifndef __NR_epoll_pwait2
#define __NR_epoll_pwait2 441
#endif
#ifndef __NR_epoll_wait
#define __NR_epoll_wait NONE
#endif
#ifndef __NR_eventfd
#define __NR_eventfd NONE
#endif
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_fork
#define __NR_fork NONE
#endif
#ifndef __NR_futex_requeue
#define __NR_futex_requeue 456
#endif
#ifndef __NR_futex_wait
#define __NR_futex_wait 455
#endif
#ifndef __NR_futex_waitv
#define __NR_futex_waitv 449
#endif
#ifndef __NR_futex_wake
#define __NR_futex_wake 454
#endif
#ifndef __NR_futimesat
#define __NR_futimesat NONE
#endif
#ifndef __NR_get_kernel_syms
#define __NR_get_kernel_syms NONE
#endif
#ifndef __NR_get_thread_area
#define __NR_get_thread_area NONE
#endif
#ifndef __NR_getdents
#define __NR_getdents NONE
#endif
#ifndef __NR_getpgrp
#define __NR_getpgrp NONE
#endif
#ifndef __NR_getpmsg
#define __NR_getpmsg NONE
#endif
#ifndef __NR_getrlimit
#define __NR_getrlimit NONE
#endif
#ifndef __NR_getxattrat
#define __NR_getxattrat 464
#endif
#ifndef __NR_inotify_init
#define __NR_inotify_init NONE
#endif
#ifndef __NR_ioperm
#define __NR_ioperm NONE
#endif
#ifndef __NR_iopl
#define __NR_iopl NONE
#endif
#ifndef __NR_kexec_file_load
#define __NR_kexec_file_load NONE
#endif
#ifndef __NR_landlock_add_rule
#define __NR_landlock_add_rule 445
#endif
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#endif
#ifndef __NR_landlock_restrict_self
#define __NR_landlock_restrict_self 446
#endif
#ifndef __NR_lchown
#define __NR_lchown NONE
#endif
#ifndef __NR_link
#define __NR_link NONE
#endif
#ifndef __NR_listxattrat
#define __NR_listxattrat 465
#endif
#ifndef __NR_lookup_dcookie
#define __NR_lookup_dcookie NONE
#endif
#ifndef __NR_lsm_get_self_attr
#define __NR_lsm_get_self_attr 459
#endif
#ifndef __NR_lsm_list_modules
#define __NR_lsm_list_modules 461
#endif
#ifndef __NR_lsm_set_self_attr
#define __NR_lsm_set_self_attr 460
#endif
#ifndef __NR_lstat
#define __NR_lstat NONE
#endif
#ifndef __NR_map_shadow_stack
#define __NR_map_shadow_stack 453
#endif
#ifndef __NR_memfd_secret
#define __NR_memfd_secret 447
#endif
#ifndef __NR_mkdir
#define __NR_mkdir NONE
#endif
#ifndef __NR_mknod
#define __NR_mknod NONE
#endif
#ifndef __NR_modify_ldt
#define __NR_modify_ldt NONE
#endif
#ifndef __NR_mseal
#define __NR_mseal 462
#endif
#ifndef __NR_nfsservctl
#define __NR_nfsservctl NONE
#endif
#ifndef __NR_open
#define __NR_open NONE
#endif
#ifndef __NR_pause
#define __NR_pause NONE
#endif
#ifndef __NR_pipe
#define __NR_pipe NONE
#endif
#ifndef __NR_poll
#define __NR_poll NONE
#endif
#ifndef __NR_process_madvise
#define __NR_process_madvise 440
#endif
#ifndef __NR_process_mrelease
#define __NR_process_mrelease 448
#endif
#ifndef __NR_putpmsg
#define __NR_putpmsg NONE
#endif
#ifndef __NR_query_module
#define __NR_query_module NONE
#endif
#ifndef __NR_quotactl_fd
#define __NR_quotactl_fd 443
#endif
#ifndef __NR_readlink
#define __NR_readlink NONE
#endif
#ifndef __NR_remap_file_pages
#define __NR_remap_file_pages NONE
#endif
#ifndef __NR_removexattrat
#define __NR_removexattrat 466
#endif
#ifndef __NR_rename
#define __NR_rename NONE
#endif
#ifndef __NR_rmdir
#define __NR_rmdir NONE
#endif
#ifndef __NR_security
#define __NR_security NONE
#endif
#ifndef __NR_select
#define __NR_select NONE
#endif
#ifndef __NR_set_mempolicy_home_node
#define __NR_set_mempolicy_home_node 450
#endif
#ifndef __NR_set_thread_area
#define __NR_set_thread_area NONE
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463
#endif
#ifndef __NR_signalfd
#define __NR_signalfd NONE
#endif
#ifndef __NR_stat
#define __NR_stat NONE
#endif
#ifndef __NR_symlink
#define __NR_symlink NONE
#endif
#ifndef __NR_sync_file_range
#define __NR_sync_file_range NONE
#endif
#ifndef __NR_sysfs
#define __NR_sysfs NONE
#endif
#ifndef __NR_time
#define __NR_time NONE
#endif
#ifndef __NR_tuxcall
#define __NR_tuxcall NONE
#endif
#ifndef __NR_unlink
#define __NR_unlink NONE
#endif
#ifndef __NR_uretprobe
#define __NR_uretprobe NONE
#endif
#ifndef __NR_uselib
#define __NR_uselib NONE
#endif
#ifndef __NR_ustat
#define __NR_ustat NONE
#endif
#ifndef __NR_utime
#define __NR_utime NONE
#endif
#ifndef __NR_utimes
#define __NR_utimes NONE
#endif
#ifndef __NR_vfork
#define __NR_vfork NONE
#endif
#ifndef __NR_vserver
#define __NR_vserver NONE
#endif
/* clang-format on */
