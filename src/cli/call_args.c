/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands behind the name of a tool, as the one JSON object that the tool takes: JSON itself, "-", or words that people type. What a word means
 * is looked up in the tool's own list of arguments; nothing is guessed from its looks but whether it is JSON.
 */
#include "cli/session.h"

#include "base/fd.h"
#include "base/parse.h"
#include "base/utf8.h"
#include "data/json.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct words {
	struct cli *cli;
	const struct value *tool;
	struct jsonw w;
	struct str *names; /* already given */
	size_t n_names;
	bool read_stdin;
};

/* ---- where a value comes from ---- */

static int too_large(const char *what, struct err *e)
{
	return err_set(e, ERR_LIMIT, "%s: more than %zu bytes (64 MiB), which is the most that a call takes",
		       what, CALL_INPUT_MAX);
}

static int read_input(struct cli *cli, int fd, const char *name, struct str *ret, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;
	int r = fd_read_all(fd, CALL_INPUT_MAX, &text, &n);

	if (r == -EFBIG)
		return too_large(name, e);
	if (r < 0)
		return err_sys(e, -r, "read %s", name);
	*ret = arena_str(cli->arena, (struct str){ .p = text, .n = n });
	return cli->arena->failed ? err_set(e, ERR_LIMIT, "out of memory") : 0;
}

static int read_stdin(struct cli *cli, bool *once, struct str *ret, struct err *e)
{
	if (*once)
		return err_set(e, ERR_USAGE, "standard input can be read once: '-' or '@-' stands twice");
	*once = true;
	return read_input(cli, STDIN_FILENO, "standard input", ret, e);
}

static int read_named(struct words *x, struct str name, struct str *ret, struct err *e)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;
	int r;

	if (str_eq(name, STR("-")))
		return read_stdin(x->cli, &x->read_stdin, ret, e);
	r = fd_read_file(name.p, CALL_INPUT_MAX, &text, &n);
	if (r == -EFBIG)
		return too_large(name.p, e);
	if (r < 0)
		return err_sys(e, -r, "'@%s': read '%s' (a text that begins with @ is written @@)", name.p,
			       name.p);
	*ret = arena_str(x->cli->arena, (struct str){ .p = text, .n = n });
	return 0;
}

/* "@FILE", "@-", and "@@text" for a text that begins with one @. */
static int value_text(struct words *x, struct str given, struct str *ret, struct err *e)
{
	*ret = given;
	if (given.n < 2 || given.p[0] != '@')
		return 0;
	if (given.p[1] == '@') {
		*ret = str_from(given, 1);
		return 0;
	}
	return read_named(x, str_from(given, 1), ret, e);
}

/* ---- one argument ---- */

static struct str tool_name(const struct words *x)
{
	return tool_member(x->tool, "name");
}

static int is_text(const struct words *x, struct str name, struct str text, struct err *e)
{
	if (utf8_valid(text))
		return 0;
	return err_set(e, ERR_USAGE,
		       STR_FMT ": '" STR_FMT "' is not UTF-8 at byte %zu; arguments of tools are text",
		       STR_ARG(tool_name(x)), STR_ARG(name), utf8_valid_prefix(text));
}

static int put_number(struct words *x, struct str name, struct str text, bool fraction, struct err *e)
{
	const struct json_opts o = { .name = "value" };
	struct err ignored = { 0 };
	struct value v;

	if (json_parse(x->cli->arena, text, &o, &v, &ignored) < 0 ||
	    (v.kind != VALUE_INT && !(fraction && v.kind == VALUE_NUM)))
		return err_set(e, ERR_USAGE, STR_FMT ": '" STR_FMT "' is '" STR_FMT "', and must be %s",
			       STR_ARG(tool_name(x)), STR_ARG(name), STR_ARG(text),
			       fraction ? "a number" : "an integer");
	json_write(&x->w, &v);
	return 0;
}

static int put_bool(struct words *x, struct str name, struct str text, struct err *e)
{
	bool v = str_eq(text, STR("true"));

	if (!v && !str_eq(text, STR("false")))
		return err_set(e, ERR_USAGE,
			       STR_FMT ": '" STR_FMT "' is '" STR_FMT "', and must be true or false",
			       STR_ARG(tool_name(x)), STR_ARG(name), STR_ARG(text));
	jsonw_bool(&x->w, v);
	return 0;
}

static int put_json(struct words *x, struct str name, struct str text, const char *what, struct err *e)
{
	struct json_opts o = { .name = arena_str(x->cli->arena, name).p, .max_bytes = CALL_INPUT_MAX };
	struct value v;
	int r = json_parse(x->cli->arena, text, &o, &v, e);

	if (r < 0)
		return err_wrap(e, STR_FMT ": '" STR_FMT "' is %s, written as JSON", STR_ARG(tool_name(x)),
				STR_ARG(name), what);
	json_write(&x->w, &v); /* whether it is of that kind is for the tool to say */
	return 0;
}

static int put_typed(struct words *x, const struct member *argument, struct str text, struct err *e)
{
	struct str name = argument->key;
	bool list = tool_argument_takes(argument, STR("array"));

	if (list && text.n && text.p[0] == '[')
		return put_json(x, name, text, "an array", e);
	if (tool_argument_takes(argument, STR("string"))) {
		jsonw_str(&x->w, text);
		return 0;
	}
	if (tool_argument_takes(argument, STR("integer")))
		return put_number(x, name, text, false, e);
	if (tool_argument_takes(argument, STR("number")))
		return put_number(x, name, text, true, e);
	if (tool_argument_takes(argument, STR("boolean")))
		return put_bool(x, name, text, e);
	return put_json(x, name, text, list ? "an array" : "an object", e);
}

static int give_once(struct words *x, struct str name, struct err *e)
{
	for (size_t i = 0; i < x->n_names; i++)
		if (str_eq(x->names[i], name))
			return err_set(e, ERR_USAGE, STR_FMT ": '" STR_FMT "' is given twice",
				       STR_ARG(tool_name(x)), STR_ARG(name));
	x->names[x->n_names++] = name;
	jsonw_key(&x->w, name);
	return 0;
}

static int give(struct words *x, const struct member *argument, struct str given, struct err *e)
{
	struct str name = argument->key, text;
	int r = value_text(x, given, &text, e);

	if (r >= 0)
		r = is_text(x, name, text, e);
	if (r >= 0)
		r = give_once(x, name, e);
	return r < 0 ? r : put_typed(x, argument, text, e);
}

/* ---- which argument ---- */

static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '_' && s.p[i] != '-')
			return false;
	return s.n > 0 && !isdigit((unsigned char)s.p[0]);
}

static void put_names(struct buf *out, const struct value *tool)
{
	const struct value *all = tool_properties(tool);

	for (size_t i = 0; i < all->obj.n; i++)
		buf_printf(out, "%s" STR_FMT, i ? ", " : "", STR_ARG(all->obj.m[i].key));
}

static int unknown(const struct words *x, struct str name, struct err *e)
{
	const struct value *all = tool_properties(x->tool);
	_cleanup_buf_ struct buf list = { 0 };
	struct str near = { 0 };

	buf_init(&list, 300);
	put_names(&list, x->tool);
	for (size_t i = 0; i < all->obj.n; i++)
		if (str_distance(name, all->obj.m[i].key, 2) <= 2)
			near = all->obj.m[i].key;
	if (near.n)
		return err_set(e, ERR_USAGE,
			       STR_FMT ": unknown argument '" STR_FMT "', did you mean '" STR_FMT
				       "'? It takes %s",
			       STR_ARG(tool_name(x)), STR_ARG(name), STR_ARG(near), list.p);
	return err_set(e, ERR_USAGE, STR_FMT ": unknown argument '" STR_FMT "'; it takes %s",
		       STR_ARG(tool_name(x)), STR_ARG(name), list.n ? list.p : "none");
}

/* One of its few words, when it is one of a few. */
static struct str example_word(const struct member *argument)
{
	const struct value *words = value_get(&argument->v, STR("examples"));

	return words && words->kind == VALUE_ARR && words->arr.n && words->arr.v[0].kind == VALUE_STR
		       ? words->arr.v[0].s
		       : (struct str){ 0 };
}

/* The argument that a text alone is for: the first text that the tool needs, or else takes, and that can be any text. */
static const struct member *main_argument(const struct value *tool)
{
	const struct value *all = tool_properties(tool);
	const struct member *first = NULL;

	for (size_t i = 0; i < all->obj.n; i++) {
		const struct member *a = &all->obj.m[i];

		if (!tool_argument_takes(a, STR("string")) || example_word(a).n)
			continue;
		if (tool_needs(tool, a))
			return a;
		if (!first)
			first = a;
	}
	return first;
}

/* The argument that a program and its arguments are for; NULL = none is. */
static const struct member *command_argument(const struct value *tool)
{
	static const char *const names[] = { "argv", "cmd", "command" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct member *argument = tool_argument(tool, str_z(names[i]));

		if (argument && tool_argument_takes(argument, STR("array")))
			return argument;
	}
	return NULL;
}

static int second_text(const struct words *x, struct str word, struct str first, struct err *e)
{
	bool runs = tool_argument(x->tool, STR("command")) || tool_argument(x->tool, STR("cmd"));
	_cleanup_buf_ struct buf fix = { 0 };

	buf_init(&fix, 400);
	if (runs)
		buf_puts(&fix, "quote a text with spaces, or write a command's words after '--'");
	else
		buf_puts(&fix, "it takes ");
	if (!runs)
		put_names(&fix, x->tool);
	return err_set(e, ERR_USAGE,
		       STR_FMT ": '" STR_FMT "' is not NAME=VALUE, and there already is a '" STR_FMT "'; %s",
		       STR_ARG(tool_name(x)), STR_ARG(word), STR_ARG(first), fix.p ? fix.p : "");
}

static int take_word(struct words *x, struct str word, struct err *e)
{
	const struct member *argument;
	struct str name, text;

	if (str_cut(word, '=', &name, &text) && is_name(name)) {
		argument = tool_argument(x->tool, name);
		return argument ? give(x, argument, text, e) : unknown(x, name, e);
	}
	argument = main_argument(x->tool);
	if (!argument)
		return err_set(e, ERR_USAGE,
			       STR_FMT ": '" STR_FMT
				       "' is neither NAME=VALUE nor JSON, and it takes no text%s",
			       STR_ARG(tool_name(x)), STR_ARG(word),
			       command_argument(x->tool) ? "; write a command's words after '--'" : "");
	for (size_t i = 0; i < x->n_names; i++)
		if (str_eq(x->names[i], argument->key))
			return second_text(x, word, argument->key, e);
	return give(x, argument, word, e);
}

/* What stands behind "--": the program and its arguments, untouched. */
static int take_command(struct words *x, struct err *e)
{
	const struct strs rest = x->cli->args.rest;
	const struct member *argument = command_argument(x->tool);
	int r;

	if (!x->cli->args.has_rest)
		return 0;
	if (!argument)
		return err_set(e, ERR_USAGE,
			       STR_FMT
			       ": takes no command after '--'; its arguments are NAME=VALUE words or JSON",
			       STR_ARG(tool_name(x)));
	if (rest.n == 0)
		return err_set(e, ERR_USAGE, "no command after '--'");
	r = give_once(x, argument->key, e);
	if (r < 0)
		return r;
	jsonw_arr(&x->w);
	for (size_t i = 0; i < rest.n && r >= 0; i++) {
		r = is_text(x, STR("command"), rest.v[i], e);
		jsonw_str(&x->w, rest.v[i]);
	}
	jsonw_arr_end(&x->w);
	return r;
}

/* ---- what is missing ---- */

static bool is_given(const struct words *x, struct str name)
{
	for (size_t i = 0; i < x->n_names; i++)
		if (str_eq(x->names[i], name))
			return true;
	return false;
}

/* A word of a command line that a shell leaves as it is. */
static void put_quoted(struct buf *out, struct str s)
{
	buf_putc(out, '\'');
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, s.p[i]);
	buf_putc(out, '\'');
}

/* The same object with what it lacks; `text` is one that has been ended. */
static struct str completed(const struct words *x, struct str text)
{
	const struct value *all = tool_properties(x->tool);
	_cleanup_buf_ struct buf out = { 0 };
	struct jsonw w;

	buf_init(&out, CALL_INPUT_MAX);
	jsonw_init(&w, &out, 0);
	jsonw_obj(&w);
	for (size_t i = 0; i < all->obj.n; i++) {
		const struct member *m = &all->obj.m[i];
		struct str word = example_word(m);

		if (!tool_needs(x->tool, m) || is_given(x, m->key))
			continue;
		jsonw_key(&w, m->key);
		jsonw_str(&w, word.n ? word : STR("..."));
	}
	jsonw_obj_end(&w);
	out.n--; /* the brace: what was given follows */
	if (x->n_names)
		buf_putc(&out, ',');
	buf_put(&out, str_from(text, 1));
	return out.failed ? (struct str){ 0 } : arena_str(x->cli->arena, buf_str(&out));
}

#define EXAMPLE_MAX 200u

/* Who typed words is told what would have worked; who sent JSON is answered by the tool. */
static int check_needed(const struct words *x, struct str text, struct err *e)
{
	const struct value *all = tool_properties(x->tool);
	const struct member *missing = NULL;
	_cleanup_buf_ struct buf example = { 0 };

	for (size_t i = 0; i < all->obj.n && !missing; i++)
		if (tool_needs(x->tool, &all->obj.m[i]) && !is_given(x, all->obj.m[i].key))
			missing = &all->obj.m[i];
	if (!missing || x->n_names == 0)
		return 0;
	buf_init(&example, EXAMPLE_MAX);
	put_quoted(&example, completed(x, text));
	if (example.failed) { /* a long one is not shown */
		buf_done(&example);
		buf_init(&example, EXAMPLE_MAX);
		buf_puts(&example, "'{\"name\": value, ...}'");
	}
	return err_set(e, ERR_USAGE,
		       STR_FMT ": '" STR_FMT "' is missing (" STR_FMT
			       "); arguments are NAME=VALUE words or one JSON object: creel call " STR_FMT
			       " " STR_FMT,
		       STR_ARG(tool_name(x)), STR_ARG(missing->key),
		       STR_ARG(tool_member(&missing->v, "description")), STR_ARG(tool_name(x)),
		       STR_ARG(buf_str(&example)));
}

static int from_words(struct cli *cli, const struct value *tool, struct str *ret, struct err *e)
{
	const struct arg_list *given = &cli->args.words;
	_cleanup_buf_ struct buf text = { 0 };
	struct words x = { .cli = cli, .tool = tool };
	int r = 0;

	buf_init(&text, CALL_INPUT_MAX);
	jsonw_init(&x.w, &text, 0);
	x.names = ARENA_ARRAY(cli->arena, struct str, given->n + 1);
	if (!x.names)
		return err_set(e, ERR_LIMIT, "out of memory");
	jsonw_obj(&x.w);
	for (size_t i = 1; i < given->n && r >= 0; i++)
		r = take_word(&x, given->v[i], e);
	if (r >= 0)
		r = take_command(&x, e);
	jsonw_obj_end(&x.w);
	if (r < 0)
		return r;
	if (text.failed)
		return too_large("the arguments together", e);
	r = check_needed(&x, buf_str(&text), e);
	if (r < 0)
		return r;
	*ret = arena_str(cli->arena, buf_str(&text));
	return cli->arena->failed ? err_set(e, ERR_LIMIT, "out of memory") : 0;
}

/* ---- all of it ---- */

static bool is_json(struct str word)
{
	word = str_trim(word);
	return word.n && (word.p[0] == '{' || word.p[0] == '[');
}

/* {pattern:TODO} was {"pattern":"TODO"} before a shell read it. */
static bool quotes_are_gone(struct str json)
{
	json = str_trim(json);
	return json.n > 2 && json.p[0] == '{' && isalpha((unsigned char)json.p[1]) &&
	       !memchr(json.p, '"', json.n);
}

static int check_object(struct cli *cli, const char *name, struct str json, struct err *e)
{
	const struct json_opts o = { .name = name, .max_bytes = CALL_INPUT_MAX };
	struct value v;
	int r = json_parse(cli->arena, json, &o, &v, e);

	if (r < 0 && !is_json(json))
		return err_set(
			e, ERR_USAGE,
			"'-' reads all arguments as one JSON object from standard input, and that begins "
			"otherwise; NAME=@- takes a text");
	if (r < 0 && quotes_are_gone(json))
		return err_set(e, ERR_USAGE,
			       "%s: a shell has taken the quotes away from '%.*s'"
			       ": put single quotes around it, or write NAME=VALUE words",
			       name, (int)(json.n < 80 ? json.n : 80), json.p);
	if (r < 0)
		return r;
	if (v.kind != VALUE_OBJ)
		return err_set(e, ERR_USAGE,
			       "%s:%u:%u: arguments are one JSON object, {\"name\": value, …}, and not %s %s",
			       name, v.line, v.col, v.kind == VALUE_ARR || v.kind == VALUE_INT ? "an" : "a",
			       value_kind_name(v.kind));
	return 0;
}

int call_arguments(struct cli *cli, const struct value *tool, struct str *ret, struct err *e)
{
	const struct arg_list *given = &cli->args.words;
	struct str first = given->n > 1 ? given->v[1] : (struct str){ 0 };
	bool from_stdin = str_eq(first, STR("-")), once = false;
	int r = 0;

	if (given->n < 2 || !(from_stdin || is_json(first)))
		return from_words(cli, tool, ret, e);
	if (given->n > 2 || cli->args.has_rest)
		return err_set(e, ERR_USAGE, "%s is all of the arguments; there is more behind it",
			       from_stdin ? "'-' (JSON from standard input)" : "a JSON object");
	if (from_stdin)
		r = read_stdin(cli, &once, &first, e);
	if (r >= 0)
		r = check_object(cli, from_stdin ? "standard input" : "arguments", first, e);
	if (r < 0)
		return r;
	*ret = first;
	return 0;
}
