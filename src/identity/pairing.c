/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/pairing.h"

#include "base/jsonw.h"
#include "base/utf8.h"
#include "data/json.h"
#include "model/pair.h"

#include <stddef.h>

/* ---- what the parts look like ---- */

bool pairing_user_valid(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      (c && strchr("_@.+:-", c))))
			return false;
	}
	return s.n >= 1 && s.n <= 64;
}

static bool code_valid(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!memchr("0123456789ABCDEF", s.p[i], 16))
			return false;
	return s.n == 0 || s.n == PAIRING_CODE_MAX - 1;
}

static bool name_valid(struct str s)
{
	return s.n <= PAIRING_NAME_BYTES;
}

static bool preview_valid(struct str s)
{
	return s.n <= PAIRING_PREVIEW_BYTES;
}

/* The members of a row: texts, and one time at the end. */
struct field {
	const char *key;
	size_t offset;
	bool (*valid)(struct str);
};
struct shape {
	const struct field *fields;
	size_t n;
	const char *time;
	size_t time_offset;
};
#define SENDER(key, valid)                                        \
	{                                                         \
#key, offsetof(struct pairing_sender, key), valid \
	}
#define PENDING(key, valid)                                        \
	{                                                          \
#key, offsetof(struct pairing_pending, key), valid \
	}

/* clang-format off */
static const struct field sender_fields[] = {
	SENDER(channel, pair_channel_valid), SENDER(user, pairing_user_valid), SENDER(name, name_valid), SENDER(by, name_valid),
};
static const struct field pending_fields[] = {
	PENDING(code, code_valid), PENDING(channel, pair_channel_valid), PENDING(user, pairing_user_valid), PENDING(name, name_valid),
	PENDING(preview, preview_valid),
};
/* clang-format on */
static const struct shape senders_shape = { sender_fields, sizeof(sender_fields) / sizeof(sender_fields[0]),
					    "approved", offsetof(struct pairing_sender, approved_ms) };
static const struct shape pending_shape = { pending_fields,
					    sizeof(pending_fields) / sizeof(pending_fields[0]), "asked",
					    offsetof(struct pairing_pending, asked_ms) };

/* ---- reading ---- */

struct reading {
	struct arena *a;
	const char *name;
	struct err *e;
};

static int bad(const struct reading *rd, const struct value *v, const char *key, const char *what)
{
	return err_set(rd->e, ERR_USAGE, "%s:%u:%u: %s %s", rd->name, v->line, v->col, key, what);
}

static int read_row(const struct reading *rd, const struct shape *s, const struct value *v, void *ret)
{
	const struct value *time = value_get(v, str_z(s->time));
	uint64_t ms;

	if (v->kind != VALUE_OBJ || v->obj.n != s->n + 1)
		return bad(rd, v, "a row", "has to be an object with all of its members and no others");
	for (size_t i = 0; i < s->n; i++) {
		const struct value *m = value_get(v, str_z(s->fields[i].key));
		struct str text;

		if (!m || m->kind != VALUE_STR || !s->fields[i].valid(m->s))
			return bad(rd, m ? m : v, s->fields[i].key, "is missing or not of its form");
		text = arena_str(rd->a, m->s);
		memcpy((char *)ret + s->fields[i].offset, &text, sizeof(text));
	}
	if (!time || time->kind != VALUE_INT || time->i < 0)
		return bad(rd, time ? time : v, s->time, "has to be milliseconds since 1970");
	ms = (uint64_t)time->i;
	memcpy((char *)ret + s->time_offset, &ms, sizeof(ms));
	return 0;
}

static int read_rows(const struct reading *rd, const struct shape *s, const struct value *list, size_t max,
		     size_t size, void **ret, size_t *ret_n)
{
	if (list->kind != VALUE_ARR || list->arr.n > max)
		return bad(rd, list, "a list", "is expected, and it is too long or something else");
	*ret = arena_alloc_array(rd->a, list->arr.n, size, alignof(max_align_t));
	if (!*ret)
		return err_set(rd->e, ERR_LIMIT, "%s: out of memory", rd->name);
	for (*ret_n = 0; *ret_n < list->arr.n; (*ret_n)++) {
		int r = read_row(rd, s, &list->arr.v[*ret_n], (char *)*ret + *ret_n * size);

		if (r < 0)
			return r;
	}
	return 0;
}

int pairing_parse(struct arena *a, struct str text, const char *name, struct pairing *ret, struct err *e)
{
	const struct json_opts o = { .name = name, .max_depth = 8, .max_bytes = PAIRING_FILE_MAX };
	const struct reading rd = { .a = a, .name = name, .e = e };
	const struct value *version, *senders, *pending;
	void *known = NULL, *waiting = NULL;
	struct pairing p = { 0 };
	struct value v;
	int r = json_parse(a, text, &o, &v, e);

	if (r < 0)
		return r;
	version = value_get(&v, STR("version"));
	senders = value_get(&v, STR("senders"));
	pending = value_get(&v, STR("pending"));
	if (!version || version->kind != VALUE_INT || version->i != 1 || !senders || !pending || v.obj.n != 3)
		return bad(&rd, &v, "{\"version\": 1, \"senders\": [], \"pending\": []}", "is expected");
	r = read_rows(&rd, &senders_shape, senders, PAIRING_SENDERS_MAX, sizeof(*p.senders), &known,
		      &p.n_senders);
	if (r >= 0)
		r = read_rows(&rd, &pending_shape, pending, PAIRING_PENDING_MAX, sizeof(*p.pending), &waiting,
			      &p.n_pending);
	if (r < 0)
		return r;
	if (a->failed)
		return err_set(e, ERR_LIMIT, "%s: out of memory", name);
	p.senders = known;
	p.pending = waiting;
	*ret = p;
	return 0;
}

/* ---- writing ---- */

static void write_row(struct buf *out, const struct shape *s, const void *row, bool first)
{
	struct jsonw w;
	uint64_t ms;

	buf_puts(out, first ? "\n" : ",\n");
	jsonw_init(&w, out, 0);
	jsonw_obj(&w);
	for (size_t i = 0; i < s->n; i++) {
		struct str text;

		memcpy(&text, (const char *)row + s->fields[i].offset, sizeof(text));
		jsonw_kstr(&w, s->fields[i].key, text);
	}
	memcpy(&ms, (const char *)row + s->time_offset, sizeof(ms));
	jsonw_ku64(&w, s->time, ms);
	jsonw_obj_end(&w);
}

void pairing_write(struct buf *out, const struct pairing *p)
{
	buf_puts(out, "{\"version\": 1, \"senders\": [");
	for (size_t i = 0; i < p->n_senders; i++)
		write_row(out, &senders_shape, &p->senders[i], i == 0);
	buf_puts(out, "\n], \"pending\": [");
	for (size_t i = 0; i < p->n_pending; i++)
		write_row(out, &pending_shape, &p->pending[i], i == 0);
	buf_puts(out, "\n]}\n");
}

/* ---- asking ---- */

bool pairing_knows(const struct pairing *p, struct str channel, struct str user)
{
	for (size_t i = 0; i < p->n_senders; i++)
		if (str_eq(p->senders[i].channel, channel) && str_eq(p->senders[i].user, user))
			return true;
	return false;
}

/* One from the future is of a clock that was wrong: it is not good for longer than any other. */
bool pairing_code_good(const struct pairing_pending *p, uint64_t now_ms)
{
	return p->code.n && now_ms < p->asked_ms + PAIRING_CODE_MS && p->asked_ms < now_ms + PAIRING_CODE_MS;
}

bool pairing_code_recent(const struct pairing_pending *p, uint64_t now_ms)
{
	return now_ms < p->asked_ms + PAIRING_HOUR_MS && p->asked_ms < now_ms + PAIRING_HOUR_MS;
}
