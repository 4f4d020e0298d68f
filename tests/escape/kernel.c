/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the kernel that a tool has no business with: numbers 16, 17, 34 to 38. A call that would do harm outside is made so
 * that it changes nothing, or so that it fails after the check for permission: REACHED lists the answers that prove that.
 */
#include "attack.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/personality.h>
#include <sys/quota.h>
#include <sys/reboot.h>
#include <sys/swap.h>
#include <sys/syscall.h>

/* 0 when the call worked or failed with `reached`: whoever asked was allowed to. */
static int reached(long r, int err)
{
	return r >= 0 || errno == err ? 0 : -errno;
}

static int do_bpf_map(char **argv)
{
	union bpf_attr a = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1
	};

	(void)argv;
	return outcome(syscall(SYS_bpf, BPF_MAP_CREATE, &a, sizeof(a)));
}

static int do_perf(char **argv)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof(a),
				     .config = PERF_COUNT_SW_TASK_CLOCK };

	(void)argv;
	return outcome(syscall(SYS_perf_event_open, &a, 0, -1, -1, 0));
}

static int do_uffd(char **argv)
{
	return outcome(syscall(SYS_userfaultfd, argv[0][0] ? 1 /* UFFD_USER_MODE_ONLY */ : 0));
}

static int do_kexec(char **argv)
{
	(void)argv;
	return reached(syscall(SYS_kexec_load, 0, 0, NULL, 1ul << 31), EINVAL);
}

static int do_kexec_file(char **argv)
{
	(void)argv;
	return reached(syscall(SYS_kexec_file_load, -1, -1, 0, NULL, 0x80000000ul), EINVAL);
}

static int do_module(char **argv)
{
	static char junk[64];

	(void)argv;
	return reached(syscall(SYS_init_module, junk, sizeof(junk), ""), ENOEXEC);
}

static int do_module_fd(char **argv)
{
	(void)argv;
	return reached(syscall(SYS_finit_module, open("/dev/null", O_RDONLY), "", 0), EINVAL);
}

static int do_module_out(char **argv)
{
	(void)argv;
	return reached(syscall(SYS_delete_module, "no_such_module", O_NONBLOCK), ENOENT);
}

/* Sets what Ctrl-Alt-Del does to what it does already. */
static int do_reboot(char **argv)
{
	char on = '0';
	int fd = open("/proc/sys/kernel/ctrl-alt-del", O_RDONLY);

	(void)argv;
	(void)!read(fd, &on, 1);
	return outcome(reboot(on == '0' ? RB_DISABLE_CAD : (int)RB_ENABLE_CAD));
}

static int do_swapon(char **argv)
{
	(void)argv;
	return reached(swapon("/dev/null", 0), EINVAL);
}

static int do_swapoff(char **argv)
{
	(void)argv;
	return reached(swapoff("/dev/null"), EINVAL);
}

static int do_acct(char **argv)
{
	(void)argv;
	return reached(acct("/"), EISDIR);
}

static int do_syslog(char **argv)
{
	char text[64];

	(void)argv;
	return outcome(klogctl(3 /* READ_ALL */, text, sizeof(text)));
}

static int do_quota(char **argv)
{
	char info[256];

	(void)argv;
	return reached(syscall(SYS_quotactl, QCMD(Q_GETFMT, USRQUOTA), "/dev/null", 0, info), ENOTBLK);
}

static int do_fanotify(char **argv)
{
	return outcome(syscall(SYS_fanotify_init, argv[0][0] ? 0x200 /* REPORT_FID */ : 0, O_RDONLY));
}

static int do_uring_setup(char **argv)
{
	char params[120] = { 0 };

	(void)argv;
	return outcome(syscall(425, 4, params));
}

static int do_uring_enter(char **argv)
{
	char params[120] = { 0 };
	long fd = syscall(425, 4, params);

	(void)argv;
	return outcome(syscall(426, fd, 0, 0, 0, NULL, 0));
}

static int do_uring_register(char **argv)
{
	char params[120] = { 0 };
	long fd = syscall(425, 4, params);
	int one = 0;

	(void)argv;
	return outcome(syscall(427, fd, 2 /* FILES */, &one, 1));
}

static int do_personality(char **argv)
{
	return outcome(personality(strtoul(argv[0], NULL, 0)));
}

static int do_memfd_secret(char **argv)
{
	(void)argv;
	return outcome(syscall(447, 0));
}

static int do_mempolicy(char **argv)
{
	(void)argv;
	return outcome(syscall(SYS_set_mempolicy, 0, NULL, 0));
}

static int do_move_pages(char **argv)
{
	(void)argv;
	return outcome(syscall(SYS_move_pages, 0, 0, NULL, NULL, NULL, 0));
}

#if defined(__x86_64__)
static int do_ldt(char **argv)
{
	/* one entry: a flat data segment */
	unsigned ldt[4] = { 0, 0, 0xfffff, 0x51 };

	(void)argv;
	return outcome(syscall(SYS_modify_ldt, 1, ldt, sizeof(ldt)));
}

static int do_iopl(char **argv)
{
	(void)argv;
	return outcome(syscall(SYS_iopl, 3));
}

static int do_ioperm(char **argv)
{
	(void)argv;
	return outcome(syscall(SYS_ioperm, 0x80, 1, 1));
}

static long int80(long nr, long a, long b, long c)
{
	long r;

	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	return r;
}

static int raw(long r)
{
	return r < 0 && r > -4096 ? (int)r : 0;
}

static int i386_getpid(char **argv)
{
	(void)argv;
	return raw(int80(20, 0, 0, 0));
}

static int i386_socket(char **argv)
{
	(void)argv;
	return raw(int80(359, 16 /* AF_NETLINK */, 3, 0));
}

static int i386_mount(char **argv)
{
	/* Addresses above 4 GiB cannot be said in 32 bits: these lie below. */
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	(void)argv;
	if (low == MAP_FAILED)
		return -errno;
	memcpy(low, "/tmp\0tmpfs", 11);
	return raw(int80(21, (long)low, (long)low, (long)low + 5));
}

static int x32_getpid(char **argv)
{
	(void)argv;
	return outcome(syscall(0x40000000 | SYS_getpid));
}
#endif

static const struct attempt attempts[] = {
	{ "bpf", do_bpf_map },
	{ "perf", do_perf },
	{ "uffd", do_uffd },
	{ "kexec_load", do_kexec },
	{ "kexec_file_load", do_kexec_file },
	{ "init_module", do_module },
	{ "finit_module", do_module_fd },
	{ "delete_module", do_module_out },
	{ "reboot", do_reboot },
	{ "swapon", do_swapon },
	{ "swapoff", do_swapoff },
	{ "acct", do_acct },
	{ "syslog", do_syslog },
	{ "quotactl", do_quota },
	{ "fanotify", do_fanotify },
	{ "io_uring_setup", do_uring_setup },
	{ "io_uring_enter", do_uring_enter },
	{ "io_uring_register", do_uring_register },
	{ "personality", do_personality },
	{ "memfd_secret", do_memfd_secret },
	{ "set_mempolicy", do_mempolicy },
	{ "move_pages", do_move_pages },
#if defined(__x86_64__)
	{ "modify_ldt", do_ldt },
	{ "iopl", do_iopl },
	{ "ioperm", do_ioperm },
	{ "i386_getpid", i386_getpid },
	{ "i386_socket", i386_socket },
	{ "i386_mount", i386_mount },
	{ "x32_getpid", x32_getpid },
#endif
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return attack_main(argc, argv, attempts);
}
