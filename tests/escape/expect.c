/* SPDX-License-Identifier: Apache-2.0 */
/* What the table in src/sandbox says to each call of numbers.h, in the words of numbers.c. */
#include "numbers.h"

#include "sandbox/filter.h"

#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>

static const char *word(uint32_t answer)
{
	if (answer == SECCOMP_RET_ALLOW)
		return "let through";
	if ((answer & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
		return strerrorname_np((int)(answer & SECCOMP_RET_DATA));
	return "killed";
}

int main(void)
{
	static struct call calls[NUMBERS_MAX];
	size_t n = all_calls(calls);

	for (size_t i = 0; i < n; i++) {
		const struct call *c = &calls[i];
		const uint64_t args[6] = { c->args[0], c->args[1], c->args[2], c->args[3] };
#if defined(__x86_64__)
		uint32_t arch = c->door == DOOR_I386 ? AUDIT_ARCH_I386 : AUDIT_ARCH_X86_64;
#else
		uint32_t arch = AUDIT_ARCH_AARCH64;
#endif

		printf("%s %u %llx %llx %llx %llx = %s\n", door_names[c->door], c->nr,
		       (unsigned long long)args[0], (unsigned long long)args[1], (unsigned long long)args[2],
		       (unsigned long long)args[3], word(filter_expect(arch, c->nr, args)));
	}
	return 0;
}
