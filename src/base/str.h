/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Borrowed slices. A struct str never owns its bytes and need not end in NUL;
 * it must not outlive what it points into.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *p;
	size_t n;
};

/* A borrowed list of slices. */
struct strs {
	const struct str *v;
	size_t n;
};

#define STR(lit) ((struct str){ .p = (lit), .n = sizeof(lit) - 1 })

/* printf("%.*s"): capped, because what we print most often came from outside. */
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)((s).n < 128 ? (s).n : 128), (s).p
/* The whole of it: for names that are used, and not only read. */
#define STR_ALL(s) (int)(s).n, (s).p

static inline struct str str_z(const char *z)
{
	return (struct str){ .p = z, .n = strlen(z) };
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

struct str str_trim(struct str s);

/* ASCII only, so that a name means the same under every locale. */
bool str_eq_nocase(struct str a, struct str b);
int str_cmp(struct str a, struct str b); /* bytewise, for sorting */
bool strs_eq(struct strs a, struct strs b);

static inline bool str_starts(struct str s, struct str prefix)
{
	return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline bool str_ends(struct str s, struct str suffix)
{
	return s.n >= suffix.n && (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

/* The slice from byte `at` on; `at` past the end gives an empty slice. */
static inline struct str str_from(struct str s, size_t at)
{
	return at >= s.n ? (struct str){ .p = s.p + s.n, .n = 0 }
			 : (struct str){ .p = s.p + at, .n = s.n - at };
}

/*
 * Edits (insert, delete, change, swap two neighbours) needed to turn one into the other, for "did you mean".
 * More than `max` is told as max + 1; so are two different slices of which one is longer than 64 bytes.
 */
unsigned str_distance(struct str a, struct str b, unsigned max);

/* Splits at the first/last `sep`. False when there is none; then nothing is written. */
bool str_cut(struct str s, char sep, struct str *ret_head, struct str *ret_tail);
bool str_cut_last(struct str s, char sep, struct str *ret_head, struct str *ret_tail);

/* Decimal digits only: no sign, no space, no "0x". -EINVAL, or -ERANGE when above `max`. */
int str_to_u64(struct str s, uint64_t max, uint64_t *ret);

/* NUL-terminated copy. -EINVAL when the slice holds a NUL byte: "a\0b" must not become "a". */
int str_dupz(struct str s, char **ret);

/* Copies to `*at`, where there is room for it, and moves that behind the copy: for what is kept in one piece of memory. */
struct str str_put(char **at, struct str s);
