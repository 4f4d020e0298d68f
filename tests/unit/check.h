/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test is a sentence: TEST(arena_refuses_more_than_its_maximum) { ... } registers itself, and
 * TEST_MAIN() at the end of the file runs what was registered under cmocka.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

#define TEST_MAX 400
extern struct CMUnitTest test_list_[TEST_MAX];
extern size_t test_n_;

#define TEST(name_)                                                                                \
	static void name_(void **state_);                                                          \
	__attribute__((constructor)) static void register_##name_(void)                            \
	{                                                                                          \
		if (test_n_ == TEST_MAX)                                                           \
			abort();                                                                   \
		test_list_[test_n_++] = (struct CMUnitTest){ .name = #name_, .test_func = name_ }; \
	}                                                                                          \
	static void name_(__attribute__((unused)) void **state_)

#define TEST_MAIN()                                                                             \
	struct CMUnitTest test_list_[TEST_MAX];                                                 \
	size_t test_n_;                                                                         \
	int main(void)                                                                          \
	{                                                                                       \
		return _cmocka_run_group_tests(__FILE__, test_list_, test_n_, NULL, NULL) != 0; \
	}

/* The case of a table is printed with the failure, so a family of inputs can share one test. */
#define CHECK_STR(got, want)                                                                             \
	do {                                                                                             \
		struct str got_ = (got), want_ = (want);                                                 \
		if (!str_eq(got_, want_))                                                                \
			fail_msg("got '%.*s', want '%.*s'", (int)got_.n, got_.p, (int)want_.n, want_.p); \
	} while (0)
#define CHECK_CASE(cond, ...)                  \
	do {                                   \
		if (!(cond))                   \
			fail_msg(__VA_ARGS__); \
	} while (0)
