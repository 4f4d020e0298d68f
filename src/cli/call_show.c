/* SPDX-License-Identifier: Apache-2.0 */
/* Results of tools for people. What a tool is not known for here is shown member by member. */
#include "cli/session.h"

#include <inttypes.h>
#include <string.h>

static struct str text_of(const struct value *v, const char *key)
{
	return tool_member(v, key);
}

static uint64_t number_of(const struct value *v, const char *key)
{
	const struct value *n = value_get(v, str_z(key));

	return n && n->kind == VALUE_INT && n->i > 0 ? (uint64_t)n->i : 0;
}

static bool is_set(const struct value *v, const char *key)
{
	const struct value *b = value_get(v, str_z(key));

	return b && b->kind == VALUE_BOOL && b->b;
}

static const struct value *list_of(const struct value *v, const char *key)
{
	const struct value *l = value_get(v, str_z(key));

	return l && l->kind == VALUE_ARR ? l : NULL;
}

/* ---- one shape each ---- */

/* Text as it is; a line's end is added where it lacks one. */
static void put_text(struct output *to, struct str text)
{
	if (text.n == 0)
		return;
	(void)output_stream(to, CREEL_STDOUT, text.p, text.n);
	if (text.p[text.n - 1] != '\n')
		(void)output_stream(to, CREEL_STDOUT, "\n", 1);
}

static void put_entries(struct buf *out, const struct value *entries)
{
	for (size_t i = 0; i < entries->arr.n; i++) {
		const struct value *entry = &entries->arr.v[i];
		struct str type = text_of(entry, "type");

		buf_printf(out, "%10" PRIu64 " ", number_of(entry, "size"));
		buf_put_visible(out, text_of(entry, "name"));
		buf_puts(out, str_eq(type, STR("directory")) || str_eq(type, STR("dir")) ? "/"
			      : str_eq(type, STR("link"))                                ? "@"
											 : "");
		buf_putc(out, '\n');
	}
}

static void put_matches(struct buf *out, const struct value *matches)
{
	for (size_t i = 0; i < matches->arr.n; i++) {
		const struct value *m = &matches->arr.v[i];

		if (m->kind == VALUE_STR) {
			buf_put_visible(out, m->s);
		} else {
			buf_put_visible(out, text_of(m, "path"));
			if (number_of(m, "line"))
				buf_printf(out, ":%" PRIu64 ":", number_of(m, "line"));
			buf_put_visible(out, text_of(m, "text"));
			if (text_of(m, "change").n) {
				buf_puts(out, ": ");
				buf_put_visible(out, text_of(m, "change"));
			}
		}
		buf_putc(out, '\n');
	}
}

/* What says nothing to a person who has just typed the call. */
static bool is_bookkeeping(struct str key)
{
	static const char *const keys[] = { "version",    "ok",       "exit",       "reason",      "tool",
					    "stdout",     "stderr",   "truncated",  "duration_us", "wall_us",
					    "usage",      "denials",  "walls",      "session",     "error",
					    "request_id", "message",  "artifacts",  "requestId",   "status",
					    "sandbox",    "warnings", "limits_hit", "key",         "code",
					    "output" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (str_eq(key, str_z(keys[i])))
			return true;
	return str_ends(key, STR("_us")) || str_ends(key, STR("_ms")) || str_ends(key, STR("_bytes"));
}

static void put_members(struct cli *cli, const struct value *v)
{
	struct value rest = { .kind = VALUE_OBJ };

	rest.obj.m = ARENA_ARRAY(cli->arena, struct member, v->obj.n);
	for (size_t i = 0; rest.obj.m && i < v->obj.n; i++)
		if (!is_bookkeeping(v->obj.m[i].key))
			rest.obj.m[rest.obj.n++] = v->obj.m[i];
	show_value(cli->out, &rest, 0);
}

/* A program that goes on after the call. */
static void put_background(struct buf *out, struct str id)
{
	buf_puts(out, "runs in the background as ");
	buf_put_visible(out, id);
	buf_puts(out, "; 'creel call process action=poll sessionId=");
	buf_put_visible(out, id);
	buf_puts(out, "' tells what it says\n");
}

/* Why the sandbox could not be made ready, in the words of its set-up. */
static void put_setup(const struct value *result, struct output *to)
{
	const struct value *setup = value_get(result, STR("setup"));

	if (!setup || setup->kind != VALUE_OBJ)
		return;
	for (int stream = CREEL_STDOUT; stream <= CREEL_STDERR; stream++) {
		struct str text = text_of(setup, stream == CREEL_STDOUT ? "stdout" : "stderr");

		(void)output_stream(to, CREEL_STDERR, text.p, text.n);
	}
}

/* The tool's own members: in an object of their own, or beside the others. */
static const struct value *own_members(const struct value *result)
{
	const struct value *own = value_get(result, STR("result"));

	return own && own->kind == VALUE_OBJ ? own : result;
}

void call_show(struct cli *cli, const struct value *result, struct output *to)
{
	const struct value *own = own_members(result), *list;
	const struct value *text = value_get(own, STR("text"));

	if (!to->any) {
		struct str out = text_of(result, "stdout"), err = text_of(result, "stderr");

		(void)output_stream(to, CREEL_STDOUT, out.p, out.n);
		(void)output_stream(to, CREEL_STDERR, err.p, err.n);
	}
	put_setup(result, to);
	if (str_eq(text_of(own, "status"), STR("running")) && text_of(own, "sessionId").n)
		put_background(cli->out, text_of(own, "sessionId"));
	if (value_get(result, STR("stdout")) || !is_set(result, "ok"))
		return;
	if (text && text->kind == VALUE_STR) {
		put_text(to, text->s);
		return;
	}
	list = list_of(own, "entries");
	if (list) {
		put_entries(cli->out, list);
		return;
	}
	list = list_of(own, "matches");
	if (!list)
		list = list_of(own, "files");
	if (list)
		put_matches(cli->out, list);
	else
		put_members(cli, own);
}

/* ---- the line behind it ---- */

/* Which rule, and in which file it stands, is explain's to tell: results go to callers who must not see paths. */
static void put_why(struct buf *line, const struct value *result)
{
	const struct value *box = value_get(result, STR("sandbox"));
	struct str session = box ? text_of(box, "session") : (struct str){ 0 };
	struct str trust = box ? text_of(box, "trust") : (struct str){ 0 };

	if (session.n == 0 || memchr(session.p, '\'', session.n))
		return; /* it would not be what a shell makes of it */
	buf_puts(line, "\twhy: creel explain --session '");
	buf_put_visible(line, session);
	buf_putc(line, '\'');
	if (trust.n && !str_eq(trust, STR("none")))
		buf_printf(line, " --sandbox " STR_FMT, STR_ARG(trust));
	buf_puts(line, " --tool ");
	buf_put_visible(line, text_of(result, "tool"));
	buf_puts(line, ", with the same -c and -e\n");
}

/* The whole call, by policy: the message has said so, and what would change it follows. */
static bool put_fixes(struct buf *line, const struct value *result, const struct value *denial)
{
	const struct value *fixes = list_of(result, "fix_it");

	if (!str_eq(text_of(denial, "layer"), STR("policy")) ||
	    !str_eq(text_of(denial, "operation"), STR("call")))
		return false;
	for (size_t i = 0; fixes && i < fixes->arr.n; i++)
		if (fixes->arr.v[i].kind == VALUE_STR) {
			buf_puts(line, "\tfix: ");
			buf_put_visible(line, output_fix(fixes->arr.v[i].s));
			buf_putc(line, '\n');
		}
	put_why(line, result);
	return true;
}

static void put_refusals(struct buf *line, const struct value *result)
{
	const struct value *denials = list_of(result, "denials");

	for (size_t i = 0; denials && i < denials->arr.n; i++) {
		const struct value *d = &denials->arr.v[i];

		if (put_fixes(line, result, d))
			continue;
		buf_puts(line, "\tdenied: ");
		buf_put_visible(line, text_of(d, "operation"));
		buf_putc(line, ' ');
		buf_put_visible(line, text_of(d, "object"));
		if (text_of(d, "hint").n) {
			buf_puts(line, "; ");
			buf_put_visible(line, text_of(d, "hint"));
		}
		buf_putc(line, '\n');
	}
}

static void put_end(struct buf *line, const struct value *result, int status)
{
	struct str reason = text_of(result, "reason");

	if (number_of(result, "signal"))
		buf_printf(line, "the command was killed by signal %" PRIu64, number_of(result, "signal"));
	else if (str_eq(reason, STR("timeout")))
		buf_puts(line, "the command took too long, and was ended");
	else if (str_eq(reason, STR("cancelled")))
		buf_puts(line, "the call was cancelled");
	else if (str_eq(reason, STR("lost"))) {
		buf_puts(line, "the sandbox was ended, and the command with it: ");
		if (text_of(result, "why").n)
			buf_put_visible(line, text_of(result, "why"));
		else
			buf_puts(line, "creel kill or recreate, or it was killed from outside");
	} else
		buf_printf(line, "the command ended with status %d", status);
}

/* Those that were told before come first. */
static void put_warnings(struct buf *line, const struct value *result, unsigned told)
{
	const struct value *warnings = list_of(result, "warnings");

	for (size_t i = told; warnings && i < warnings->arr.n; i++) {
		buf_puts(line, "creel call: warning: ");
		if (warnings->arr.v[i].kind == VALUE_STR)
			buf_put_visible(line, warnings->arr.v[i].s);
		buf_putc(line, '\n');
	}
}

void call_closing_line(const struct cli *cli, const struct value *result, bool streamed, unsigned told,
		       int status)
{
	_cleanup_buf_ struct buf line = { 0 };
	struct str message = text_of(result, "message");
	bool ok = is_set(result, "ok");
	/* What came as it was written has passed whole, whatever the result could keep of it. */
	bool cut = !streamed && (is_set(result, "truncated") || is_set(own_members(result), "truncated"));

	buf_init(&line, OUTPUT_MAX);
	put_warnings(&line, result, told);
	if (!ok || cut || message.n) {
		buf_puts(&line, "creel call: ");
		if (message.n)
			buf_put_visible(&line, message);
		else if (ok)
			buf_puts(&line, "there is more than is shown");
		else
			put_end(&line, result, status);
		if (cut && (message.n || !ok))
			buf_puts(&line, "; there is more output than is shown");
		buf_putc(&line, '\n');
	}
	put_refusals(&line, result);
	if (!cli->quiet || !ok)
		output_complain(buf_str(&line));
}
