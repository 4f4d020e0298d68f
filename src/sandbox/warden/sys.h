/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls without a C library: the warden is one static program of a few pages that starts in a
 * fraction of the time a libc needs, and has nothing in it that we did not put there.
 * A call returns its result or -errno.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <asm/unistd.h>
#include <linux/errno.h>

#if defined(__x86_64__)
/* A system call has a number and six arguments. NOLINTNEXTLINE(readability-function-size) */
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
/* A system call has a number and six arguments. NOLINTNEXTLINE(readability-function-size) */
static inline long sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#else
#error "the warden knows x86-64 and arm64"
#endif

#define L_(v) ((long)(v))
#define SYS0(n) sys6(__NR_##n, 0, 0, 0, 0, 0, 0)
#define SYS1(n, a) sys6(__NR_##n, L_(a), 0, 0, 0, 0, 0)
#define SYS2(n, a, b) sys6(__NR_##n, L_(a), L_(b), 0, 0, 0, 0)
#define SYS3(n, a, b, c) sys6(__NR_##n, L_(a), L_(b), L_(c), 0, 0, 0)
#define SYS4(n, a, b, c, d) sys6(__NR_##n, L_(a), L_(b), L_(c), L_(d), 0, 0)
#define SYS5(n, a, b, c, d, e) sys6(__NR_##n, L_(a), L_(b), L_(c), L_(d), L_(e), 0)
#define SYS6(n, a, b, c, d, e, f) sys6(__NR_##n, L_(a), L_(b), L_(c), L_(d), L_(e), L_(f))

/* start.c; the compiler may call these by itself */
void *memcpy(void *restrict d, const void *restrict s, size_t n);
void *memset(void *d, int c, size_t n);
void *memmove(void *d, const void *s, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);

/* Numbers that older headers do not have yet. */
#ifndef __NR_clone3
#define __NR_clone3 435
#endif
#ifndef __NR_listmount
#define __NR_listmount 458
#endif
#ifndef __NR_mount_setattr
#define __NR_mount_setattr 442
#endif
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif
