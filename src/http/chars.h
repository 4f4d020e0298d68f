/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes HTTP allows where (RFC 9110 section 5.6, RFC 3986): one table, looked up byte by byte, the same under every
 * locale. What is in no class is allowed nowhere.
 */
#pragma once

#include "base/str.h"

enum {
	CHAR_TOKEN = 1, /* names of methods, fields, codings */
	CHAR_FIELD = 2, /* inside a field's value: visible, space, tab, and above 0x7f */
	CHAR_PATH = 4,  /* path and query, '%' apart */
	CHAR_HEX = 8,
	CHAR_DIGIT = 16,
};

extern const unsigned char http_chars[256];

static inline bool http_char(char c, unsigned char_class)
{
	return http_chars[(unsigned char)c] & char_class;
}

/* Length of the longest prefix of that class. */
size_t http_span_of(struct str s, unsigned char_class);

/* The same for CHAR_FIELD, eight bytes at a time. */
size_t http_span_field(struct str s);

/* One or more bytes, all of them of that class. */
bool http_all(struct str s, unsigned char_class);

/* 0..15 for a hexadecimal digit, else -1. */
int http_hex(char c);

/* Without the spaces and tabs around it; nothing else is white space here. */
struct str http_trim(struct str s);

/* Takes the next element of a list with commas, trimmed; empty elements are skipped. False at the end. */
bool http_list_next(struct str *rest, struct str *ret);
