/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every system call there is, as the two programs that are compared see it: numbers.c makes them, expect.c says what the table
 * of src/sandbox answers. One line each: "x64 165 0 0 0 = EPERM".
 */
#pragma once

#include <linux/audit.h>
#include <linux/sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#define NUMBERS_MAX 4096
#define X32_BIT 0x40000000u

enum door { DOOR_NATIVE = 0, DOOR_X32, DOOR_I386 };
static const char *const door_names[] = { "native", "x32", "i386" };

struct call {
	enum door door;
	uint32_t nr;
	uint64_t args[4];
};

/* Where the answer depends on an argument: what is let through, what is not, and the same with the upper half full. */
static const struct call special_calls[] = {
	{ DOOR_NATIVE, SYS_clone, { 17 } },
	{ DOOR_NATIVE, SYS_clone, { CLONE_NEWNS | 17 } },
	{ DOOR_NATIVE, SYS_clone, { CLONE_NEWUSER | 17 } },
	{ DOOR_NATIVE, SYS_clone, { CLONE_NEWNET | 0x100000000ull } },
	{ DOOR_NATIVE, SYS_clone, { CLONE_VM | CLONE_FILES | CLONE_THREAD | CLONE_SIGHAND } },
	{ DOOR_NATIVE, SYS_unshare, { CLONE_FILES } },
	{ DOOR_NATIVE, SYS_unshare, { CLONE_NEWUSER } },
	{ DOOR_NATIVE, SYS_unshare, { 0x80 } },
	{ DOOR_NATIVE, SYS_unshare, { CLONE_NEWNS | 0xffffffff00000000ull } },
	{ DOOR_NATIVE, SYS_ioctl, { 0, 0x5401 } },
	{ DOOR_NATIVE, SYS_ioctl, { 0, 0x5412 } },
	{ DOOR_NATIVE, SYS_ioctl, { 0, 0x5412 | 1ull << 32 } },
	{ DOOR_NATIVE, SYS_ioctl, { 0, 0x541c } },
	{ DOOR_NATIVE, SYS_ioctl, { 0, 0x541c | 0xffffffff00000000ull } },
	{ DOOR_NATIVE, SYS_socket, { 1, 1, 0 } },
	{ DOOR_NATIVE, SYS_socket, { 2, 1, 0 } },
	{ DOOR_NATIVE, SYS_socket, { 2, 2 | 02000000, 17 } },
	{ DOOR_NATIVE, SYS_socket, { 2, 3, 1 } },
	{ DOOR_NATIVE, SYS_socket, { 2, 1, 262 } },
	{ DOOR_NATIVE, SYS_socket, { 2, 1, 132 } },
	{ DOOR_NATIVE, SYS_socket, { 10, 1, 6 } },
	{ DOOR_NATIVE, SYS_socket, { 16, 3, 0 } },
	{ DOOR_NATIVE, SYS_socket, { 17, 3, 0 } },
	{ DOOR_NATIVE, SYS_socket, { 38, 5, 0 } },
	{ DOOR_NATIVE, SYS_socket, { 40, 1, 0 } },
	{ DOOR_NATIVE, SYS_socket, { 16 | 1ull << 32, 3, 0 } },
	{ DOOR_NATIVE, SYS_socket, { 2 | 1ull << 32, 1, 0 } },
	{ DOOR_NATIVE, SYS_personality, { 0xffffffff } },
	{ DOOR_NATIVE, SYS_personality, { 0x40000 } },
	{ DOOR_NATIVE, SYS_personality, { 0x400000 } },
	{ DOOR_NATIVE, SYS_prlimit64, { 1 } },
	{ DOOR_NATIVE, SYS_prlimit64, { 1ull << 32 } },
	{ DOOR_NATIVE, SYS_fcntl, { 0, 1024 } },
	{ DOOR_NATIVE, SYS_fcntl, { 0, 3 } },
	{ DOOR_NATIVE, SYS_fchmod, { 0, 0777 } },
	{ DOOR_NATIVE, SYS_fchmod, { 0, 01777 } },
	{ DOOR_NATIVE, SYS_fchmod, { 0, 04755 } },
	{ DOOR_NATIVE, SYS_fchmod, { 0, 02755 | 1ull << 32 } },
	{ DOOR_NATIVE, SYS_fchmodat, { 0, 0, 0644 } },
	{ DOOR_NATIVE, SYS_fchmodat, { 0, 0, 06755 } },
	{ DOOR_NATIVE, SYS_openat, { 0, 0, 0, 04755 } },
	{ DOOR_NATIVE, SYS_openat, { 0, 0, 0100, 0644 } },
	{ DOOR_NATIVE, SYS_openat, { 0, 0, 0100, 04755 } },
	{ DOOR_NATIVE, SYS_openat, { 0, 0, 020200000, 02755 } },
	{ DOOR_NATIVE, SYS_mknodat, { 0, 0, 0010644 } },
	{ DOOR_NATIVE, SYS_mknodat, { 0, 0, 0020644 } },
	{ DOOR_NATIVE, SYS_mknodat, { 0, 0, 0060644 } },
	{ DOOR_NATIVE, SYS_mknodat, { 0, 0, 0104755 } },
#if defined(__x86_64__)
	{ DOOR_NATIVE, SYS_chmod, { 0, 0644 } },
	{ DOOR_NATIVE, SYS_chmod, { 0, 04755 } },
	{ DOOR_NATIVE, SYS_creat, { 0, 0644 } },
	{ DOOR_NATIVE, SYS_creat, { 0, 04755 } },
	{ DOOR_NATIVE, SYS_open, { 0, 0, 04755 } },
	{ DOOR_NATIVE, SYS_open, { 0, 0100, 0644 } },
	{ DOOR_NATIVE, SYS_open, { 0, 0100, 04755 } },
	{ DOOR_NATIVE, SYS_mknod, { 0, 0010644 } },
	{ DOOR_NATIVE, SYS_mknod, { 0, 0020644 } },
#endif
};

/*
 * uretprobe and uprobe: the kernel's own trampolines make these, and no filter is asked about them (Linux 6.14). Made by a
 * program they end it with SIGILL.
 */
static inline int is_probe(uint32_t nr)
{
#if defined(__x86_64__)
	return nr == 335 || nr == 336;
#else
	return nr > UINT32_MAX - 1;
#endif
}

/* All of them: 0 to 1023 without arguments, the special ones, and on x86 the two older tables. */
static inline size_t all_calls(struct call *out)
{
	size_t n = 0;

	for (uint32_t nr = 0; nr < 1024; nr++)
		if (!is_probe(nr))
			out[n++] = (struct call){ .nr = nr };
	for (size_t i = 0; i < sizeof(special_calls) / sizeof(special_calls[0]); i++)
		out[n++] = special_calls[i];
	out[n++] = (struct call){ .nr = 0x7fffffffu };
	out[n++] = (struct call){ .nr = 0xfffffff0u };
#if defined(__x86_64__)
	for (uint32_t nr = 0; nr < 1024; nr++)
		out[n++] = (struct call){ .door = DOOR_X32, .nr = nr | X32_BIT };
	for (uint32_t nr = 0; nr < 512; nr++)
		out[n++] = (struct call){ .door = DOOR_I386, .nr = nr };
#endif
	return n;
}
