/* SPDX-License-Identifier: Apache-2.0 */
#include "data/yaml.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "data/place_priv.h"
#include "data/tree_priv.h"
#include "data/yaml_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <yaml.h>

enum { DEPTH_MAX = 64 };
#define BYTES_MAX ((size_t)1 << 20)

struct reader {
	yaml_parser_t parser;
	struct tree tree;
	struct str text;
	const char *name;
	unsigned n_documents;
	bool after_key; /* the item on top has its key and waits for its value */
	struct err *e;
};

static struct place place_of(const yaml_mark_t *mark)
{
	return (struct place){ .line = (uint32_t)mark->line + 1, .col = (uint32_t)mark->column + 1 };
}

/* Every error: name:line:column: what. `fmt` is a literal. */
#define FAIL(y, kind, at, fmt, ...)                                                                       \
	({                                                                                                \
		struct place at_ = (at);                                                                  \
		err_set((y)->e, (kind), "%s:%" PRIu32 ":%" PRIu32 ": " fmt, (y)->name, at_.line, at_.col, \
			##__VA_ARGS__);                                                                   \
	})

static int fail_memory(struct reader *y, const yaml_mark_t *mark)
{
	return FAIL(y, ERR_LIMIT, place_of(mark), "the document needs more memory than its maximum of %zu",
		    y->tree.arena->max_bytes);
}

/* What the caller wrote and we do not take: shown, with the way out. */
static int refuse(struct reader *y, const yaml_mark_t *mark, const char *what, const char *text,
		  const char *instead)
{
	_cleanup_buf_ struct buf shown = { .p = NULL };

	place_quote(&shown, str_z(text));
	return FAIL(y, ERR_USAGE, place_of(mark), "%s'%s' is not accepted, %s", what, buf_str(&shown).p,
		    instead);
}

/* Names that point elsewhere or change the type; `anchor` and `tag` may be NULL. */
static int refuse_decoration(struct reader *y, const yaml_mark_t *mark, const yaml_char_t *anchor,
			     const yaml_char_t *tag)
{
	if (anchor)
		return refuse(y, mark, "anchor ", (const char *)anchor, "write the value where it is used");
	if (tag)
		return refuse(y, mark, "tag ", (const char *)tag, "write the plain value");
	return 0;
}

static bool in_object(const struct reader *y)
{
	return y->tree.depth > 0 && tree_open_kind(&y->tree) == VALUE_OBJ;
}

/* The item that the next value belongs to; NULL when memory ran out. */
static struct member *value_item(struct reader *y)
{
	if (y->after_key) {
		y->after_key = false;
		return &y->tree.items[y->tree.n - 1];
	}
	return tree_push(&y->tree);
}

static void set_place(struct value *v, const yaml_mark_t *mark)
{
	struct place at = place_of(mark);

	v->line = at.line;
	v->col = at.col;
}

static int on_key(struct reader *y, const yaml_event_t *ev, struct str text)
{
	bool plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	struct place at = place_of(&ev->start_mark);
	struct member *m;

	if (plain && str_eq(text, STR("<<")))
		return refuse(y, &ev->start_mark, "merge key ", "<<", "write the keys where they are used");
	if (plain && text.n == 0)
		return FAIL(y, ERR_USAGE, at, "found no key, expected one before ':'");
	m = tree_push(&y->tree);
	if (!m)
		return fail_memory(y, &ev->start_mark);
	m->key = text;
	m->line = at.line;
	m->col = at.col;
	y->after_key = true;
	return 0;
}

static int on_scalar(struct reader *y, const yaml_event_t *ev)
{
	struct str text = { .p = (const char *)ev->data.scalar.value, .n = ev->data.scalar.length };
	bool plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	struct member *m;
	int r = refuse_decoration(y, &ev->start_mark, ev->data.scalar.anchor, ev->data.scalar.tag);

	if (r < 0)
		return r;
	text = arena_str(y->tree.arena, text);
	if (y->tree.arena->failed)
		return fail_memory(y, &ev->start_mark);
	if (in_object(y) && !y->after_key)
		return on_key(y, ev, text);
	if (y->tree.depth == 0 && plain && text.n == 0)
		return 0; /* a document without content */
	m = value_item(y);
	if (!m)
		return fail_memory(y, &ev->start_mark);
	set_place(&m->v, &ev->start_mark);
	if (plain) {
		yaml_plain_scalar(text, &m->v);
	} else {
		m->v.kind = VALUE_STR;
		m->v.s = text;
	}
	return 0;
}

static int on_open(struct reader *y, const yaml_event_t *ev, enum value_kind kind)
{
	struct member *m;

	if (in_object(y) && !y->after_key)
		return FAIL(y, ERR_USAGE, place_of(&ev->start_mark), "found %s as a key, expected a string",
			    kind == VALUE_OBJ ? "a map" : "a list");
	if (y->tree.depth == DEPTH_MAX)
		return FAIL(y, ERR_LIMIT, place_of(&ev->start_mark), "nesting deeper than the maximum of %d",
			    DEPTH_MAX);
	m = value_item(y);
	if (!m)
		return fail_memory(y, &ev->start_mark);
	set_place(&m->v, &ev->start_mark);
	tree_open(&y->tree, kind);
	return 0;
}

static int on_sequence(struct reader *y, const yaml_event_t *ev)
{
	int r = refuse_decoration(y, &ev->start_mark, ev->data.sequence_start.anchor,
				  ev->data.sequence_start.tag);

	return r < 0 ? r : on_open(y, ev, VALUE_ARR);
}

static int on_mapping(struct reader *y, const yaml_event_t *ev)
{
	int r = refuse_decoration(y, &ev->start_mark, ev->data.mapping_start.anchor,
				  ev->data.mapping_start.tag);

	return r < 0 ? r : on_open(y, ev, VALUE_OBJ);
}

static int on_close(struct reader *y, const yaml_event_t *ev)
{
	_cleanup_buf_ struct buf shown = { .p = NULL };
	struct tree_dup twice;
	struct place at;
	int r = tree_close(&y->tree, false, &twice);

	if (r == 0)
		return 0;
	if (r != -EEXIST)
		return fail_memory(y, &ev->start_mark);
	place_quote(&shown, twice.again->key);
	at = (struct place){ .line = twice.again->line, .col = twice.again->col };
	return FAIL(y, ERR_USAGE, at, "duplicate key '%s', first at %" PRIu32 ":%" PRIu32, buf_str(&shown).p,
		    twice.first->line, twice.first->col);
}

static int on_alias(struct reader *y, const yaml_event_t *ev)
{
	return refuse(y, &ev->start_mark, "alias ", (const char *)ev->data.alias.anchor,
		      "write the value where it is used");
}

static int on_document(struct reader *y, const yaml_event_t *ev)
{
	if (ev->data.document_start.tag_directives.start != ev->data.document_start.tag_directives.end)
		return FAIL(y, ERR_USAGE, place_of(&ev->start_mark), "tag directives are not accepted");
	if (++y->n_documents > 1)
		return FAIL(y, ERR_USAGE, place_of(&ev->start_mark), "found a second document, expected one");
	return 0;
}

static int on_event(struct reader *y, const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_DOCUMENT_START_EVENT:
		return on_document(y, ev);
	case YAML_ALIAS_EVENT:
		return on_alias(y, ev);
	case YAML_SCALAR_EVENT:
		return on_scalar(y, ev);
	case YAML_SEQUENCE_START_EVENT:
		return on_sequence(y, ev);
	case YAML_MAPPING_START_EVENT:
		return on_mapping(y, ev);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return on_close(y, ev);
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		break;
	}
	return 0;
}

/* libyaml's own words are good; they only lack the file and, for a bad character, the line. */
static int fail_parser(struct reader *y)
{
	const yaml_parser_t *p = &y->parser;
	struct place at = place_of(&p->problem_mark), end = place_find(y->text, y->text.n);
	const char *problem = p->problem ? p->problem : "not enough memory";

	if (at.line > end.line)
		at = end; /* libyaml puts the end of a text without a line feed on a line of its own */
	if (p->error == YAML_READER_ERROR)
		return FAIL(y, ERR_USAGE, place_find(y->text, p->problem_offset), "%s (byte 0x%02x)", problem,
			    (unsigned)p->problem_value);
	if (p->context && p->context_mark.line != p->problem_mark.line)
		return FAIL(y, ERR_USAGE, at, "%s, %s from line %zu on", problem, p->context,
			    p->context_mark.line + 1);
	if (p->context)
		return FAIL(y, ERR_USAGE, at, "%s, %s", problem, p->context);
	return FAIL(y, ERR_USAGE, at, "%s", problem);
}

static int read_events(struct reader *y)
{
	bool done = false;
	int r = 0;

	while (r >= 0 && !done) {
		_cleanup_(yaml_event_delete) yaml_event_t ev = { .type = YAML_NO_EVENT };

		if (!yaml_parser_parse(&y->parser, &ev))
			return fail_parser(y);
		r = on_event(y, &ev);
		done = ev.type == YAML_STREAM_END_EVENT;
	}
	return r;
}

/* What libyaml would say without a line, or would not say at all. */
static int check_text(struct reader *y)
{
	size_t valid;
	const char *nul;

	if (y->text.n > BYTES_MAX)
		return FAIL(y, ERR_LIMIT, place_find(y->text, 0),
			    "the text is longer than the maximum in bytes of %zu", BYTES_MAX);
	valid = utf8_valid_prefix(y->text);
	if (valid < y->text.n)
		return FAIL(y, ERR_USAGE, place_find(y->text, valid), "byte 0x%02x is not valid UTF-8 here",
			    (unsigned char)y->text.p[valid]);
	nul = y->text.n > 0 ? memchr(y->text.p, '\0', y->text.n) : NULL;
	if (nul)
		return FAIL(y, ERR_USAGE, place_find(y->text, (size_t)(nul - y->text.p)),
			    "found byte 0x00, expected text");
	return 0;
}

enum { ITEMS_ON_STACK = 32 };

int yaml_parse(struct arena *a, struct str text, const char *name, struct value *ret, struct err *e)
{
	struct member start[ITEMS_ON_STACK];
	struct reader y = { .text = text.p ? text : STR(""), .name = name ? name : "input", .e = e };
	int r = check_text(&y);

	if (r < 0)
		return r;
	if (!yaml_parser_initialize(&y.parser))
		return err_sys(e, ENOMEM, "%s", y.name);
	yaml_parser_set_encoding(&y.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&y.parser, (const unsigned char *)y.text.p, y.text.n);
	tree_init(&y.tree, a, start, ITEMS_ON_STACK);
	r = read_events(&y);
	if (r >= 0)
		*ret = y.tree.n > 0 ? y.tree.items[0].v
				    : (struct value){ .kind = VALUE_OBJ, .line = 1, .col = 1 };
	tree_done(&y.tree);
	yaml_parser_delete(&y.parser);
	return r;
}
