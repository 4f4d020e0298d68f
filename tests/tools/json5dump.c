/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON5 parser as a filter, so that another implementation can be held against it.
 *
 *   json5dump docs < FILE   documents, each after its length in 4 bytes (little endian); one line for each:
 *                           "error MESSAGE", or the value as JSON. What JSON cannot say is a string beginning
 *                           with '#' (#Infinity, #-Infinity, #NaN); a real '#' at the start is doubled.
 *   json5dump ids           two lines: the code points beyond ASCII where "may begin a bare key" and "may go on in
 *                           a bare key" change from no to yes and back.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "data/json.h"

#include <math.h>
#include <stdio.h>

#define DOC_MAX ((size_t)1 << 20)

static void dump(struct jsonw *w, const struct value *v);

static void dump_string(struct jsonw *w, struct str s)
{
	_cleanup_buf_ struct buf doubled;

	buf_init(&doubled, DOC_MAX + 1);
	if (s.n > 0 && s.p[0] == '#')
		buf_putc(&doubled, '#');
	buf_put(&doubled, s);
	jsonw_str(w, buf_str(&doubled));
}

static void dump_object(struct jsonw *w, const struct value *v)
{
	jsonw_obj(w);
	for (size_t i = 0; i < v->obj.n; i++) {
		jsonw_key(w, v->obj.m[i].key);
		dump(w, &v->obj.m[i].v);
	}
	jsonw_obj_end(w);
}

static void dump_array(struct jsonw *w, const struct value *v)
{
	jsonw_arr(w);
	for (size_t i = 0; i < v->arr.n; i++)
		dump(w, &v->arr.v[i]);
	jsonw_arr_end(w);
}

static void dump(struct jsonw *w, const struct value *v)
{
	if (v->kind == VALUE_NUM && isnan(v->num))
		jsonw_str(w, STR("#NaN"));
	else if (v->kind == VALUE_NUM && isinf(v->num))
		jsonw_str(w, v->num > 0 ? STR("#Infinity") : STR("#-Infinity"));
	else if (v->kind == VALUE_STR)
		dump_string(w, v->s);
	else if (v->kind == VALUE_OBJ)
		dump_object(w, v);
	else if (v->kind == VALUE_ARR)
		dump_array(w, v);
	else
		json_write(w, v);
}

static int parse(struct arena *a, struct str text, struct value *ret, struct err *e)
{
	const struct json_opts opts = { .json5 = true, .dup_keys = JSON_DUP_LAST };

	arena_init(a, (size_t)256 << 20);
	return json_parse(a, text, &opts, ret, e);
}

static void print_one(struct str text)
{
	_cleanup_arena_ struct arena a;
	_cleanup_buf_ struct buf out;
	struct err e = { .kind = ERR_NONE };
	struct value v;
	struct jsonw w;

	buf_init(&out, 16 * DOC_MAX);
	jsonw_init(&w, &out, 0);
	if (parse(&a, text, &v, &e) < 0) {
		printf("error %s\n", e.msg);
		return;
	}
	dump(&w, &v);
	printf("%s\n", out.failed ? "error: cannot write" : buf_str(&out).p);
}

static int docs(void)
{
	_cleanup_free_ char *text = malloc(DOC_MAX);
	unsigned char head[4];

	while (text && fread(head, 1, sizeof(head), stdin) == sizeof(head)) {
		size_t n = (size_t)head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 |
			   (size_t)head[3] << 24;

		if (n > DOC_MAX || fread(text, 1, n, stdin) != n)
			return 1;
		print_one((struct str){ .p = text, .n = n });
	}
	return fflush(stdout) != 0 || !feof(stdin);
}

static bool accepts(const char *before, uint32_t cp)
{
	_cleanup_arena_ struct arena a;
	struct err e;
	struct value v;
	char text[16], c[4];
	size_t n = utf8_encode(cp, c);
	int len = snprintf(text, sizeof(text), "{%s%.*s:1}", before, (int)n, c);

	/* White space is accepted as well, but it does not become part of the key. */
	return parse(&a, (struct str){ .p = text, .n = (size_t)len }, &v, &e) >= 0 &&
	       v.obj.m[0].key.n == strlen(before) + n;
}

static void print_edges(const char *before)
{
	bool inside = false;

	for (uint32_t cp = 0x80; cp <= 0x10ffff; cp++) {
		if (cp == 0xd800)
			cp = 0xe000; /* no UTF-8 for surrogates */
		if (accepts(before, cp) == inside)
			continue;
		inside = !inside;
		printf("%u ", cp);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "docs") == 0)
		return docs();
	if (argc == 2 && strcmp(argv[1], "ids") == 0) {
		print_edges("");
		print_edges("a");
		return 0;
	}
	fprintf(stderr, "usage: json5dump docs | ids\n");
	return 2;
}
