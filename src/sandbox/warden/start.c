/* SPDX-License-Identifier: Apache-2.0 */
/* Entry point, what it is told of this kernel, and the handful of functions that the compiler may call by itself. */
#include "sandbox/warden/warden.h"

/* Names that the compiler chose. NOLINTBEGIN(bugprone-reserved-identifier) */
uintptr_t __stack_chk_guard;
_Noreturn void __stack_chk_fail(void);
/* NOLINTEND(bugprone-reserved-identifier) */
_Noreturn void warden_start(const long *sp);

_Noreturn void die(int code)
{
	for (;;)
		SYS1(exit_group, code);
}

_Noreturn void __stack_chk_fail(void)
{
	die(70);
}

/* Not a loop of bytes: the compiler clears every local buffer with memset() (-ftrivial-auto-var-init). */
#if defined(__x86_64__)
void *memcpy(void *restrict d, const void *restrict s, size_t n)
{
	void *to = d;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(s), "+c"(n) : : "memory");
	return d;
}

void *memset(void *d, int c, size_t n)
{
	void *to = d;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(c) : "memory");
	return d;
}
#else
/* May lie anywhere, and be of any type. */
struct word {
	uint64_t v;
} __attribute__((packed, may_alias));

void *memcpy(void *restrict d, const void *restrict s, size_t n)
{
	unsigned char *to = d;
	const unsigned char *from = s;

	for (; n >= sizeof(struct word); n -= sizeof(struct word)) {
		*(struct word *)to = *(const struct word *)from;
		to += sizeof(struct word);
		from += sizeof(struct word);
	}
	while (n--)
		*to++ = *from++;
	return d;
}

void *memset(void *d, int c, size_t n)
{
	const struct word all = { (uint64_t)(unsigned char)c * 0x0101010101010101u };
	unsigned char *to = d;

	for (; n >= sizeof(all); n -= sizeof(all)) {
		*(struct word *)to = all;
		to += sizeof(all);
	}
	while (n--)
		*to++ = (unsigned char)c;
	return d;
}
#endif

void *memmove(void *d, const void *s, size_t n)
{
	unsigned char *to = d;
	const unsigned char *from = s;

	if (to <= from)
		return memcpy(d, s, n); /* forwards, and nothing is written before it is read */
	while (n--)
		to[n] = from[n];
	return d;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n--; x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

#define AT_PAGESZ_ 6
#define AT_RANDOM_ 25

size_t page_bytes;

/* On our own stack (memory.c). The one that the kernel made is as it left it: argc, argv, NULL, envp, NULL, auxv. */
__attribute__((no_stack_protector)) _Noreturn void warden_start(const long *sp)
{
	const long *p = sp + 1 + sp[0] + 1;
	const char *const *argv = (const void *)(sp + 1);

	page_bytes = 65536; /* as large as they get */
	while (*p)
		p++;
	for (p++; *p; p += 2) {
		if (*p == AT_PAGESZ_)
			page_bytes = (size_t)p[1];
		if (*p == AT_RANDOM_)
			/* an address from the kernel: NOLINTNEXTLINE(performance-no-int-to-ptr) */
			memcpy(&__stack_chk_guard, (const void *)p[1], sizeof(__stack_chk_guard));
	}
	die(warden_main(sp[0] > 0 ? argv + 1 : argv));
}

#if defined(__x86_64__)
__asm__(".text\n.global _start\n_start:\n\txor %ebp,%ebp\n\tmov %rsp,%rdi\n\tmov stack_top(%rip),%rsp\n\tcall warden_start\n");

/* long spawn_vm(int (*fn)(void *), void *arg, void *stack_top, long flags, int *child_tid) */
__asm__(".text\n.global spawn_vm\nspawn_vm:\n"
	"\tmov %r8,%r10\n" /* cleared when the child has left our memory, with CLONE_CHILD_CLEARTID */
	"\tmov %rdi,%r8\n\tmov %rsi,%r9\n"
	"\tmov %rdx,%rsi\n" /* child's stack */
	"\tmov %rcx,%rdi\n" /* flags */
	"\txor %edx,%edx\n"
	"\tmov $56,%eax\n" /* clone */
	"\tpush %r8\n\tpush %r9\n"
	"\tmov %r8,-8(%rsi)\n\tmov %r9,-16(%rsi)\n"
	"\tsub $16,%rsi\n"
	"\txor %r8d,%r8d\n"
	"\tsyscall\n"
	"\ttest %rax,%rax\n\tjnz 1f\n"
	"\txor %ebp,%ebp\n"
	"\tpop %rdi\n\tpop %rax\n"
	"\tand $-16,%rsp\n"
	"\tcall *%rax\n"
	"\tmov %eax,%edi\n\tmov $60,%eax\n\tsyscall\n"
	"1:\tpop %r9\n\tpop %r8\n\tret\n");
#else
__asm__(".text\n.global _start\n_start:\n\tmov x29,#0\n\tmov x30,#0\n\tmov x0,sp\n"
	"\tadrp x1,stack_top\n\tldr x1,[x1,:lo12:stack_top]\n\tmov sp,x1\n\tb warden_start\n");
__asm__(".text\n.global spawn_vm\nspawn_vm:\n"
	"\tstp x0,x1,[x2,#-16]!\n"
	"\tmov x0,x3\n\tmov x1,x2\n\tmov x2,#0\n\tmov x3,#0\n\tmov x8,#220\n\tsvc #0\n"
	"\tcbz x0,1f\n\tret\n"
	"1:\tmov x29,#0\n\tldp x1,x0,[sp],#16\n\tblr x1\n\tmov x8,#93\n\tsvc #0\n");
#endif
