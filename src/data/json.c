/* SPDX-License-Identifier: Apache-2.0 */
#include "data/json.h"

#include "base/cleanup.h"
#include "data/json_priv.h"

#include <errno.h>

enum { DEPTH_DEFAULT = 64 };
#define BYTES_DEFAULT ((size_t)16 << 20)
#define BYTES_MAX ((size_t)1 << 30) /* lines and columns are 32 bits */
#define VALUES_DEFAULT ((size_t)1000000)

static int fail_memory(const struct json_parser *p)
{
	return json_fail_limit(p, p->s, "the document needs more memory than its maximum of",
			       p->tree.arena->max_bytes);
}

static int literal(struct json_parser *p, struct str word, struct value *v, enum value_kind kind)
{
	if (!str_starts((struct str){ .p = p->s, .n = (size_t)(p->end - p->s) }, word))
		return json_fail_expected(p, p->s, "a value");
	v->kind = kind;
	v->b = *p->s == 't';
	p->s += word.n;
	return 0;
}

static int open_container(struct json_parser *p, enum value_kind kind)
{
	if (p->tree.depth == p->max_depth)
		return json_fail_limit(p, p->s, "nesting deeper than the maximum of", p->max_depth);
	tree_open(&p->tree, kind);
	p->s++;
	p->after_value = false;
	return 0;
}

static int close_container(struct json_parser *p)
{
	struct tree_dup twice;
	int r = tree_close(&p->tree, p->opts->dup_keys == JSON_DUP_LAST, &twice);

	if (r == -EEXIST)
		return json_fail_duplicate(p, &twice);
	if (r < 0)
		return fail_memory(p);
	p->s++;
	p->after_value = true;
	return 0;
}

/* What begins like no value of strict JSON. */
static int json5_value(struct json_parser *p, struct value *v, int c)
{
	if (p->json5 && c == '\'') {
		v->kind = VALUE_STR;
		return json_string(p, &v->s);
	}
	if (p->json5 && (c == '+' || c == '.' || c == 'I' || c == 'N'))
		return json_number(p, v);
	return json_fail_expected(p, p->s, "a value");
}

static int scalar(struct json_parser *p, struct value *v, int c)
{
	switch (c) {
	case '"':
		v->kind = VALUE_STR;
		return json_string(p, &v->s);
	case '-':
	case '0' ... '9':
		return json_number(p, v);
	case 't':
		return literal(p, STR("true"), v, VALUE_BOOL);
	case 'f':
		return literal(p, STR("false"), v, VALUE_BOOL);
	case 'n':
		return literal(p, STR("null"), v, VALUE_NULL);
	default:
		return json5_value(p, v, c);
	}
}

/* p->s stands at its first byte; `item` is on top of the tree's stack. */
static int value(struct json_parser *p, struct member *item)
{
	int c = json_peek(p);

	item->v.line = p->line;
	item->v.col = json_column(p);
	if (c == '{' || c == '[')
		return open_container(p, c == '{' ? VALUE_OBJ : VALUE_ARR);
	p->after_value = true;
	return scalar(p, &item->v, c);
}

static int key(struct json_parser *p, struct member *item)
{
	int c = json_peek(p), r;

	item->line = p->line;
	item->col = json_column(p);
	if (c == '"' || (p->json5 && c == '\''))
		r = json_string(p, &item->key);
	else if (p->json5)
		r = json_bare_key(p, &item->key);
	else
		return json_fail_expected(p, p->s, "a key in double quotes or '}'");
	if (r < 0)
		return r;
	r = json_skip(p);
	if (r < 0)
		return r;
	if (json_peek(p) != ':')
		return json_fail_expected(p, p->s, "':' after the key");
	p->s++;
	return json_skip(p);
}

/* NULL with the error set when there is no room for one more value. */
static struct member *push(struct json_parser *p)
{
	struct member *item = p->values_left > 0 ? tree_push(&p->tree) : NULL;

	if (p->values_left == 0)
		(void)json_fail_limit(p, p->s, "more values than the maximum of",
				      p->opts->max_values ? p->opts->max_values : VALUES_DEFAULT);
	else if (!item)
		(void)fail_memory(p);
	else
		p->values_left--;
	return item;
}

/* From after a value to the next one or to the closing bracket. */
static int comma(struct json_parser *p, int closing)
{
	bool in_object = closing == '}';
	int r;

	if (json_peek(p) != ',')
		return json_fail_expected(p, p->s, in_object ? "',' or '}'" : "',' or ']'");
	p->s++;
	r = json_skip(p);
	if (r < 0)
		return r;
	if (json_peek(p) == closing && !p->json5)
		return json_fail_expected(p, p->s,
					  in_object
						  ? "a key after ',' (strict JSON has no trailing comma)"
						  : "a value after ',' (strict JSON has no trailing comma)");
	return 0;
}

/* One step inside the innermost container: its next child, or its end. */
static int step(struct json_parser *p)
{
	bool in_object = tree_open_kind(&p->tree) == VALUE_OBJ;
	int closing = in_object ? '}' : ']', r;
	struct member *item;

	r = json_skip(p);
	if (r >= 0 && p->after_value && json_peek(p) != closing)
		r = comma(p, closing);
	if (r < 0)
		return r;
	if (json_peek(p) == closing)
		return close_container(p);
	item = push(p);
	if (!item)
		return -ENOMEM;
	r = in_object ? key(p, item) : 0;
	return r < 0 ? r : value(p, item);
}

static int document(struct json_parser *p)
{
	int r = json_skip(p);
	struct member *root = r < 0 ? NULL : push(p);

	r = root ? value(p, root) : -EINVAL;
	while (r >= 0 && p->tree.depth > 0)
		r = step(p);
	if (r >= 0)
		r = json_skip(p);
	if (r >= 0 && p->s < p->end)
		r = json_fail_expected(p, p->s, "nothing after the document");
	return r;
}

/* Enough for most requests; deeper or longer ones move to the heap. */
enum { ITEMS_ON_STACK = 48 };

int json_parse(struct arena *a, struct str text, const struct json_opts *o, struct value *ret, struct err *e)
{
	struct member start[ITEMS_ON_STACK];
	const char *s = text.p ? text.p : "";
	struct json_parser p = {
		.s = s,
		.end = s + text.n,
		.text = s,
		.line_base = s,
		.line = 1,
		.json5 = o->json5,
		.finite = o->finite,
		.opts = o,
		.e = e,
		.max_depth = o->max_depth ? o->max_depth : DEPTH_DEFAULT,
		.values_left = o->max_values ? o->max_values : VALUES_DEFAULT,
	};
	size_t max_bytes = o->max_bytes ? o->max_bytes : BYTES_DEFAULT;
	int r;

	tree_init(&p.tree, a, start, ITEMS_ON_STACK);
	max_bytes = max_bytes < BYTES_MAX ? max_bytes : BYTES_MAX;
	p.max_depth = p.max_depth < JSON_DEPTH_MAX ? p.max_depth : JSON_DEPTH_MAX;
	if (text.n > max_bytes)
		return json_fail_limit(&p, s, "the text is longer than the maximum in bytes of", max_bytes);
	r = document(&p);
	if (r >= 0)
		*ret = p.tree.items[0].v;
	tree_done(&p.tree);
	return r;
}
