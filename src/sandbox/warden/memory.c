/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an idle sandbox takes. The stack that the kernel makes for a program lies far from its variables, beside what is mapped for a C
 * library, and page tables for both take more than all that we write. So we stand on a stack of our own, in front of our variables, and where a
 * sandbox stays the rest is given back.
 */
#include "sandbox/warden/warden.h"

#include <linux/mman.h>

#define STACK_BYTES 65536
#define PAGE_LEAST 4096u
#define FRAMES_BELOW 512 /* of whoever calls and what it calls, below where it stands */

/*
 * The page that the first frames lie in has the warden as well, and the small variables of all files: this one is linked first. So
 * what lies below the stack is our constants, and who runs over its end ends.
 */
#define HOT_BYTES 2304

static struct {
	char stack[STACK_BYTES - HOT_BYTES] __attribute__((aligned(16)));
	struct warden warden;
} room __attribute__((aligned(PAGE_LEAST)));

_Static_assert(offsetof(__typeof__(room), warden) == sizeof(room.stack) && sizeof(room.stack) % 16 == 0,
	       "the stack begins where the warden lies");
SPARSE(0) static struct built built;

extern const void *const stack_top;
const void *const stack_top = &room.warden; /* start.c */

struct warden *warden_room(void)
{
	room.warden.built = &built;
	return &room.warden;
}

void pages_forget(void *from, size_t n)
{
	uintptr_t first = ((uintptr_t)from + page_bytes - 1) & ~(page_bytes - 1),
		  end = ((uintptr_t)from + n) & ~(page_bytes - 1);

	if (first < end)
		SYS3(madvise, first, end - first, MADV_DONTNEED);
}

void stack_forget(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), bottom = (uintptr_t)room.stack;

	if (here > bottom + FRAMES_BELOW && here <= (uintptr_t)stack_top)
		pages_forget(room.stack, here - FRAMES_BELOW - bottom);
}

/* Where the addresses of a program end. */
static const uint64_t tops[] = {
#if defined(__x86_64__)
	(1ull << 47) - PAGE_LEAST,
#else
	/* of each size that a kernel may be built for; a larger one is refused */
	1ull << 48, 1ull << 47, 1ull << 42, 1ull << 39, 1ull << 36,
#endif
};

extern char end_of_program[] __asm__("_end"); /* the linker's */

/*
 * The stack that we began on, and what the kernel maps for a C library: clocks (nothing here reads them but by a call), and on arm64 the way back from a
 * signal's handler (we have none). Nothing else is mapped there by now. A kernel that does not let go of it leaves all as it is.
 */
void above_forget(void)
{
	uint64_t from = ((uintptr_t)end_of_program + page_bytes - 1) & ~(uint64_t)(page_bytes - 1);

	for (unsigned i = 0; i < sizeof(tops) / sizeof(tops[0]); i++)
		if (SYS2(munmap, from, tops[i] - from) != -EINVAL)
			return;
}
