/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/arena.h"

/* The sanitizer's allocator would rather stop the program than fail as malloc() may. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static bool is_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

TEST(arena_allocates_nothing_before_the_first_use)
{
	struct arena a;

	arena_init(&a, 100);
	assert_null(a.head);
	assert_int_equal(a.used_bytes, 0);
	arena_done(&a);
}

TEST(arena_hands_out_zeroed_memory)
{
	_cleanup_arena_ struct arena a = { 0 };

	arena_init(&a, 1 << 20);
	for (size_t n = 1; n < 5000; n += 371) {
		char *p = arena_alloc(&a, n, 1);

		assert_non_null(p);
		assert_true(is_zero(p, n));
		memset(p, 0xff, n);
	}
}

TEST(arena_keeps_every_alignment)
{
	_cleanup_arena_ struct arena a = { 0 };

	arena_init(&a, 8 << 20);
	for (size_t align = 1; align <= 4096; align *= 2) {
		for (size_t n = 1; n < 3000; n = n * 3 + 1) {
			char *p = arena_alloc(&a, n, align);

			assert_non_null(p);
			assert_int_equal((uintptr_t)p % align, 0);
			memset(p, 1, n); /* the sanitizer sees it when the block is too short */
		}
	}
}

TEST(arena_pieces_do_not_overlap)
{
	_cleanup_arena_ struct arena a = { 0 };
	enum { N = 2000 };
	static struct {
		unsigned char *p;
		size_t n;
	} piece[N];

	arena_init(&a, 64 << 20);
	for (size_t i = 0; i < N; i++) {
		piece[i].n = i * 2654435761u % (i % 50 == 0 ? 20000 : 200);
		piece[i].p = arena_alloc(&a, piece[i].n, (size_t)1 << i % 5);
		assert_non_null(piece[i].p);
		memset(piece[i].p, (int)(i % 251), piece[i].n);
	}
	for (size_t i = 0; i < N; i++)
		for (size_t k = 0; k < piece[i].n; k++)
			assert_int_equal(piece[i].p[k], i % 251);
}

TEST(arena_refuses_more_than_its_maximum_and_remembers)
{
	_cleanup_arena_ struct arena a = { 0 };

	arena_init(&a, 1000);
	assert_non_null(arena_alloc(&a, 600, 1));
	assert_non_null(arena_alloc(&a, 400, 1));
	assert_int_equal(a.used_bytes, 1000);
	assert_false(a.failed);
	assert_null(arena_alloc(&a, 1, 1));
	assert_true(a.failed);
}

TEST(arena_that_failed_once_gives_nothing_more)
{
	_cleanup_arena_ struct arena a = { 0 };

	arena_init(&a, 1000);
	assert_null(arena_alloc(&a, 1001, 1));
	assert_null(arena_alloc(&a, 1, 1));
	assert_null(arena_alloc(&a, 0, 1));
	assert_true(a.failed);
}

TEST(arena_maximum_holds_for_big_pieces_too)
{
	_cleanup_arena_ struct arena a = { 0 };

	arena_init(&a, 1 << 20);
	assert_non_null(arena_alloc(&a, 1 << 19, 1));
	assert_non_null(arena_alloc(&a, 1 << 19, 1));
	assert_null(arena_alloc(&a, 1, 1));
}

TEST(arena_failed_malloc_is_a_failed_arena_and_no_crash)
{
	_cleanup_arena_ struct arena a = { 0 };

	arena_init(&a, SIZE_MAX);
	assert_null(arena_alloc(&a, SIZE_MAX / 8, 1));
	assert_true(a.failed);
}

TEST(arena_array_whose_size_overflows_is_refused)
{
	_cleanup_arena_ struct arena a = { 0 };

	arena_init(&a, SIZE_MAX);
	assert_null(arena_alloc_array(&a, SIZE_MAX / 4, 8, 8));
	assert_true(a.failed);
}

TEST(arena_sizes_next_to_the_end_of_memory_do_not_wrap)
{
	for (size_t less = 0; less < 64; less++) {
		_cleanup_arena_ struct arena a = { 0 };

		arena_init(&a, SIZE_MAX);
		assert_null(arena_alloc(&a, SIZE_MAX - less, 16));
		assert_true(a.failed);
	}
}

TEST(arena_nothing_is_still_a_place_of_its_own)
{
	_cleanup_arena_ struct arena a = { 0 };
	void *p, *q;

	arena_init(&a, 100);
	p = arena_alloc(&a, 0, 1);
	q = arena_alloc(&a, 0, 1);
	assert_non_null(p);
	assert_non_null(q);
	assert_ptr_not_equal(p, q);
}

TEST(arena_big_piece_leaves_the_room_of_the_small_ones)
{
	_cleanup_arena_ struct arena a = { 0 };
	const char *before;

	arena_init(&a, 1 << 20);
	assert_non_null(arena_alloc(&a, 16, 8));
	before = a.next;
	assert_non_null(arena_alloc(&a, 100000, 8));
	assert_ptr_equal(a.next, before);
}

TEST(arena_blocks_double_up_to_a_mebibyte)
{
	_cleanup_arena_ struct arena a = { 0 };
	size_t largest = 0, blocks = 0;
	const char *end = NULL;

	arena_init(&a, 64 << 20);
	for (size_t i = 0; i < 200000; i++) {
		const char *p = arena_alloc(&a, 64, 8);

		if (a.end != end) {
			size_t room = (size_t)(a.end - p);

			end = a.end;
			blocks++;
			largest = room > largest ? room : largest;
		}
	}
	assert_int_equal(largest, 1 << 20);
	assert_true(blocks < 32);
}

TEST(arena_can_be_used_again_after_done)
{
	struct arena a;

	arena_init(&a, 100);
	assert_null(arena_alloc(&a, 101, 1));
	arena_done(&a);
	assert_false(a.failed);
	assert_non_null(arena_alloc(&a, 100, 1));
	arena_done(&a);
}

TEST(arena_str_copies_and_ends_in_nul)
{
	_cleanup_arena_ struct arena a = { 0 };
	char text[] = "abc";
	struct str s;

	arena_init(&a, 100);
	s = arena_str(&a, (struct str){ .p = text, .n = 3 });
	text[0] = 'x';
	CHECK_STR(s, STR("abc"));
	assert_int_equal(s.p[3], '\0');
}

TEST(arena_str_keeps_inner_nul_and_takes_empty_without_pointer)
{
	_cleanup_arena_ struct arena a = { 0 };

	arena_init(&a, 100);
	CHECK_STR(arena_str(&a, STR("a\0b")), STR("a\0b"));
	CHECK_STR(arena_str(&a, (struct str){ 0 }), STR(""));
	assert_false(a.failed);
}

TEST(arena_str_is_empty_and_usable_when_the_arena_is_full)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct str s;

	arena_init(&a, 3);
	s = arena_str(&a, STR("abc")); /* three and the NUL */
	CHECK_STR(s, STR(""));
	assert_non_null(s.p);
	assert_true(a.failed);
}

TEST(arena_printf_formats_long_text_whole)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct str s;

	arena_init(&a, 1 << 20);
	s = arena_printf(&a, "%0*d", 5000, 7);
	assert_int_equal(s.n, 5000);
	assert_int_equal(s.p[4999], '7');
	assert_int_equal(s.p[5000], '\0');
	CHECK_STR(arena_printf(&a, "%s", ""), STR(""));
	assert_false(a.failed);
}

TEST(arena_grow_keeps_what_was_there)
{
	_cleanup_arena_ struct arena a = { 0 };
	size_t cap = 0;
	int *v = NULL;

	arena_init(&a, 1 << 20);
	for (size_t n = 0; n < 1000; n++) {
		v = arena_grow(&a, v, n, &cap, sizeof(*v), alignof(int));
		assert_non_null(v);
		assert_true(cap > n);
		v[n] = (int)n;
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(v[i], i);
	assert_true(a.used_bytes <= 4 * 1024 * sizeof(*v)); /* 8 + 16 + ... + 1024, and no more */
}

TEST(arena_grow_that_fails_leaves_the_old_array_whole)
{
	_cleanup_arena_ struct arena a = { 0 };
	size_t cap = 0;
	int *v;

	arena_init(&a, 64);
	v = arena_grow(&a, NULL, 0, &cap, sizeof(*v), alignof(int));
	assert_non_null(v);
	v[7] = 42;
	assert_null(arena_grow(&a, v, cap, &cap, sizeof(*v), alignof(int)));
	assert_int_equal(cap, 8);
	assert_int_equal(v[7], 42);
	assert_true(a.failed);
}

TEST(memory_that_is_used_again_is_zero_again)
{
	static char memory[512];
	struct arena a;
	char *p;

	arena_init_on(&a, 4096, memory, sizeof(memory));
	p = arena_alloc(&a, 100, 1);
	memset(p, 'x', 100);
	arena_done(&a);
	arena_init_again(&a, 4096, memory, sizeof(memory), 100);
	p = arena_alloc(&a, 100, 1);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(p[i], 0);
	arena_done(&a);
}

TEST_MAIN()
