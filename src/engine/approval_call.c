/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which call a person is asked about: its digest, which covers everything that makes it this call and no other, and the same for people to read, without secrets
 * that are known or marked, and with nothing in it that a terminal would obey.
 */
#include "engine/approval.h"

#include "base/hash.h"
#include "base/jsonw.h"
#include "data/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the same arguments, whatever their order ---- */

static int by_key(const void *a, const void *b)
{
	return str_cmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

static void put_sorted(struct jsonw *w, const struct value *v, struct arena *a)
{
	struct member *m;

	if (v->kind == VALUE_ARR) {
		jsonw_arr(w);
		for (size_t i = 0; i < v->arr.n; i++)
			put_sorted(w, &v->arr.v[i], a);
		jsonw_arr_end(w);
		return;
	}
	if (v->kind != VALUE_OBJ) {
		json_write(w, v);
		return;
	}
	m = ARENA_ARRAY(a, struct member, v->obj.n);
	jsonw_obj(w);
	if (m && v->obj.n) {
		memcpy(m, v->obj.m, v->obj.n * sizeof(*m));
		qsort(m, v->obj.n, sizeof(*m), by_key);
	}
	for (size_t i = 0; m && i < v->obj.n; i++) {
		jsonw_key(w, m[i].key);
		put_sorted(w, &m[i].v, a);
	}
	jsonw_obj_end(w);
}

/* ---- the digest ---- */

/* With its length before it, so that two texts cannot become two others. */
static void add(struct sha256 *c, struct str s)
{
	char n[24];

	(void)snprintf(n, sizeof(n), "%zu:", s.n);
	sha256_add(c, str_z(n));
	sha256_add(c, s);
}

static void add_all(struct sha256 *c, struct strs list)
{
	char n[24];

	(void)snprintf(n, sizeof(n), "%zu[", list.n);
	sha256_add(c, str_z(n));
	for (size_t i = 0; i < list.n; i++)
		add(c, list.v[i]);
}

int approval_digest(const struct approval_call *q, struct arena *a, char out[static SHA256_HEX])
{
	const struct decision *d = q->d;
	const struct str texts[] = {
		STR("creel approval 1"),
		str_z(enum_name(via_names, (int)d->who.via)),
		d->who.session_key,
		d->who.agent,
		d->who.session_id,
		d->who.channel,
		d->who.chat_id,
		d->who.user_id,
		q->sender,
		d->tool.name,
		d->place.elevated.used ? STR("elevated") : STR("plain"),
		q->workdir,
		q->path,
	};
	unsigned char digest[SHA256_BYTES];
	_cleanup_buf_ struct buf json = { 0 };
	struct sha256 c;
	struct jsonw w;

	buf_init(&json, APPROVAL_ARGS_MAX);
	jsonw_init(&w, &json, 0);
	put_sorted(&w, q->args, a);
	if (json.failed || a->failed)
		return -ENOMEM;
	sha256_init(&c);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		add(&c, texts[i]);
	add_all(&c, d->tool.argv);
	add_all(&c, q->env);
	add(&c, buf_str(&json));
	sha256_end(&c, digest);
	hash_to_hex(digest, sizeof(digest), out);
	if (json.p)
		explicit_bzero(json.p, json.n);
	return 0;
}

/* ---- for people ---- */

static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!(s.p[i] >= 'a' && s.p[i] <= 'z') && !(s.p[i] >= 'A' && s.p[i] <= 'Z') &&
		    !(s.p[i] >= '0' && s.p[i] <= '9') && !(s.p[i] && strchr("_@%+=:,./-", s.p[i])))
			return false;
	return s.n > 0;
}

static void put_quoted(struct buf *b, struct str s)
{
	if (is_plain(s)) {
		buf_put(b, s);
		return;
	}
	buf_putc(b, '\'');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\'')
			buf_puts(b, "'\\''");
		else
			buf_putc(b, s.p[i]);
	}
	buf_putc(b, '\'');
}

static size_t char_start(struct str s, size_t at)
{
	while (at > 0 && at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80)
		at--;
	return at;
}

/* Both ends of what is too long: nobody should have to approve a beginning. */
static void put_ends(struct buf *out, struct str s)
{
	size_t head = APPROVAL_SHOWN_MAX * 3 / 4, tail = APPROVAL_SHOWN_MAX / 4;

	if (s.n <= APPROVAL_SHOWN_MAX) {
		buf_put(out, s);
		return;
	}
	head = char_start(s, head);
	tail = s.n - char_start(s, s.n - tail);
	buf_put(out, (struct str){ .p = s.p, .n = head });
	buf_printf(out, " [... %zu bytes that are not shown ...] ", s.n - head - tail);
	buf_put(out, str_from(s, s.n - tail));
}

static struct str for_people(const struct approval_call *q, struct str raw, struct arena *a)
{
	_cleanup_buf_ struct buf hidden = { 0 }, seen = { 0 }, cut = { 0 };

	buf_init(&hidden, APPROVAL_ARGS_MAX);
	buf_init(&seen, APPROVAL_ARGS_MAX);
	buf_init(&cut, APPROVAL_SHOWN_MAX + 256);
	redact_put(q->redactor, &hidden, raw);
	buf_put_visible(&seen, buf_str(&hidden));
	put_ends(&cut, buf_str(&seen));
	/* What could not be made readable is not shown in part. */
	return hidden.failed || seen.failed || cut.failed ? STR("<too long to be shown>")
							  : arena_str(a, buf_str(&cut));
}

void approval_show(const struct approval_call *q, struct arena *a, struct str *ret_command,
		   struct str *ret_arguments)
{
	const struct strs argv = q->d->tool.argv;
	_cleanup_buf_ struct buf line = { 0 }, json = { 0 };
	struct jsonw w;

	buf_init(&line, APPROVAL_ARGS_MAX);
	buf_init(&json, APPROVAL_ARGS_MAX);
	jsonw_init(&w, &json, 0);
	put_sorted(&w, q->args, a);
	for (size_t i = 0; i < argv.n; i++) {
		buf_puts(&line, i ? " " : "");
		put_quoted(&line, argv.v[i]);
	}
	if (argv.n == 0) {
		buf_put(&line, q->d->tool.name);
		buf_putc(&line, ' ');
		buf_put(&line, buf_str(&json));
	}
	*ret_command = line.failed ? STR("<too long to be shown>") : for_people(q, buf_str(&line), a);
	*ret_arguments = json.failed ? STR("<too long to be shown>") : for_people(q, buf_str(&json), a);
}
