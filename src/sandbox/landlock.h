/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock's file system rights in our own words, by ABI: 1 = bits 0-12, 2 adds 13, 3 adds 14, 5 adds 15. */
#pragma once

#define LL_EXECUTE (1ull << 0)
#define LL_WRITE_FILE (1ull << 1)
#define LL_READ_FILE (1ull << 2)
#define LL_READ_DIR (1ull << 3)
#define LL_REMOVE_DIR (1ull << 4)
#define LL_REMOVE_FILE (1ull << 5)
#define LL_MAKE_CHAR (1ull << 6)
#define LL_MAKE_DIR (1ull << 7)
#define LL_MAKE_REG (1ull << 8)
#define LL_MAKE_SOCK (1ull << 9)
#define LL_MAKE_FIFO (1ull << 10)
#define LL_MAKE_BLOCK (1ull << 11)
#define LL_MAKE_SYM (1ull << 12)
#define LL_REFER (1ull << 13)
#define LL_TRUNCATE (1ull << 14)
#define LL_IOCTL_DEV (1ull << 15)
#define LL_ALL ((1ull << 16) - 1)

/* What our rules grant. Never device nodes: no rule names LL_MAKE_CHAR or LL_MAKE_BLOCK. */
#define LL_READ (LL_EXECUTE | LL_READ_FILE | LL_READ_DIR)
#define LL_WRITE                                                                                     \
	(LL_WRITE_FILE | LL_REMOVE_DIR | LL_REMOVE_FILE | LL_MAKE_DIR | LL_MAKE_REG | LL_MAKE_SOCK | \
	 LL_MAKE_FIFO | LL_MAKE_SYM | LL_REFER | LL_TRUNCATE)

#define LL_SCOPE_ABSTRACT 1ull
#define LL_SCOPE_SIGNAL 2ull
