/* SPDX-License-Identifier: Apache-2.0 */
#include "identity/tokens.h"

#include "base/jsonw.h"
#include "data/json.h"
#include "model/pair.h"

#include <stdarg.h>
#include <stdio.h>

/* clang-format off */
const struct enum_name token_state_names[] = {
	{ "unknown", TOKEN_UNKNOWN },
	{ "revoked", TOKEN_REVOKED },
	{ "expired", TOKEN_EXPIRED },
	{ "valid",   TOKEN_VALID },
	{ NULL, 0 },
};
/* clang-format on */

/* ---- reading ---- */

struct reading {
	struct arena *a;
	const char *name;
	struct err *e;
};

static int __attribute__((format(printf, 3, 4)))
bad(const struct reading *rd, const struct value *v, const char *fmt, ...)
{
	char what[300];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return err_set(rd->e, ERR_USAGE, "%s:%u:%u: %s", rd->name, v->line, v->col, what);
}

static bool is_hash(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!memchr("0123456789abcdef", s.p[i], 16))
			return false;
	return s.n == SHA256_HEX - 1;
}

bool token_name_valid(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '.' || c == '_' || c == '-'))
			return false;
	}
	return s.n >= 1 && s.n <= TOKEN_NAME_MAX;
}

static struct str *pair_slot(struct pair *p, const struct pair_field *f)
{
	return (struct str *)(void *)((char *)p + f->offset);
}

static int read_pair(const struct reading *rd, const struct value *v, struct pair *ret)
{
	if (v->kind != VALUE_OBJ || v->obj.n != PAIR_FIELDS)
		return bad(rd, v, "a pair is an object with channel, agent and chat_id");
	for (size_t i = 0; i < PAIR_FIELDS; i++) {
		const struct pair_field *f = &pair_fields[i];
		const struct value *part = value_get(v, str_z(f->key));

		if (!part || part->kind != VALUE_STR || !f->valid(part->s))
			return bad(rd, part ? part : v, "%s has to be a text, accepted: %s", f->key,
				   f->accepted);
		*pair_slot(ret, f) = arena_str(rd->a, part->s);
	}
	ret->origin = (struct origin){ .kind = ORIGIN_FILE, .name = str_z(TOKENS_FILE), .line = v->line };
	return 0;
}

static int read_pairs(const struct reading *rd, const struct value *v, struct token_entry *ret)
{
	if (v->kind == VALUE_STR && str_eq(v->s, STR("*"))) {
		ret->all_pairs = true;
		return 0;
	}
	if (v->kind != VALUE_ARR || v->arr.n == 0 || v->arr.n > TOKEN_PAIRS_MAX)
		return bad(rd, v, "pairs has to be \"*\" or a list of 1 to %d pairs", (int)TOKEN_PAIRS_MAX);
	ret->pairs = ARENA_ARRAY(rd->a, struct pair, v->arr.n);
	if (!ret->pairs)
		return err_set(rd->e, ERR_LIMIT, "%s: out of memory", rd->name);
	for (; ret->n_pairs < v->arr.n; ret->n_pairs++) {
		int r = read_pair(rd, &v->arr.v[ret->n_pairs], &ret->pairs[ret->n_pairs]);

		if (r < 0)
			return r;
	}
	return 0;
}

static const struct {
	const char *key;
	size_t offset;
} times[] = {
	{ "created", offsetof(struct token_entry, created_ms) },
	{ "expires", offsetof(struct token_entry, expires_ms) },
	{ "used", offsetof(struct token_entry, used_ms) },
	{ "revoked", offsetof(struct token_entry, revoked_ms) },
};
#define N_TIMES (sizeof(times) / sizeof(times[0]))

static uint64_t *time_slot(struct token_entry *t, size_t i)
{
	return (uint64_t *)(void *)((char *)t + times[i].offset);
}

static int read_member(const struct reading *rd, const struct member *m, struct token_entry *ret)
{
	const struct value *v = &m->v;

	if (str_eq(m->key, STR("pairs")))
		return read_pairs(rd, v, ret);
	if (str_eq(m->key, STR("hash"))) {
		if (v->kind != VALUE_STR || !is_hash(v->s))
			return bad(rd, v, "hash has to be 64 lower-case hexadecimal digits");
		memcpy(ret->hash, v->s.p, v->s.n);
		return 0;
	}
	if (str_eq(m->key, STR("name"))) {
		if (v->kind != VALUE_STR || (v->s.n && !token_name_valid(v->s)))
			return bad(rd, v, "name has to be letters, digits, '.', '_' and '-', at most 64");
		ret->name = arena_str(rd->a, v->s);
		return 0;
	}
	if (str_eq(m->key, STR("admin"))) {
		if (v->kind != VALUE_BOOL)
			return bad(rd, v, "admin has to be true or false");
		ret->admin = v->b;
		return 0;
	}
	for (size_t i = 0; i < N_TIMES; i++) {
		if (!str_eq(m->key, str_z(times[i].key)))
			continue;
		if (v->kind != VALUE_INT || v->i < 0)
			return bad(rd, v, "%s has to be milliseconds since 1970", times[i].key);
		*time_slot(ret, i) = (uint64_t)v->i;
		return 0;
	}
	return bad(rd, v, "unknown key '" STR_FMT "'", STR_ARG(m->key));
}

static int read_entry(const struct reading *rd, const struct value *v, struct tokens *t)
{
	struct token_entry *ret = &t->v[t->n];

	if (v->kind != VALUE_OBJ)
		return bad(rd, v, "a token is an object");
	for (size_t i = 0; i < v->obj.n; i++) {
		int r = read_member(rd, &v->obj.m[i], ret);

		if (r < 0)
			return r;
	}
	if (!ret->hash[0] || (!ret->all_pairs && !ret->n_pairs))
		return bad(rd, v, "a token needs hash and pairs");
	for (size_t i = 0; i < t->n; i++)
		if (memcmp(t->v[i].hash, ret->hash, TOKEN_ID_MAX - 1) == 0)
			return bad(rd, v, "the hash begins as that of another token does");
	t->n++;
	return 0;
}

int tokens_parse(struct arena *a, struct str text, const char *name, struct tokens *ret, struct err *e)
{
	const struct json_opts o = { .name = name, .max_depth = 8, .max_bytes = TOKENS_FILE_MAX };
	const struct reading rd = { .a = a, .name = name, .e = e };
	const struct value *version, *list;
	struct tokens t = { 0 };
	struct value v;
	int r = json_parse(a, text, &o, &v, e);

	if (r < 0)
		return r;
	version = value_get(&v, STR("version"));
	list = value_get(&v, STR("tokens"));
	if (!version || version->kind != VALUE_INT || version->i != 1 || v.obj.n != 2 || !list ||
	    list->kind != VALUE_ARR || list->arr.n > TOKENS_MAX)
		return bad(&rd, &v, "expected {\"version\": 1, \"tokens\": [at most %d]}", (int)TOKENS_MAX);
	t.v = ARENA_ARRAY(a, struct token_entry, list->arr.n);
	if (!t.v)
		return err_set(e, ERR_LIMIT, "%s: out of memory", name);
	for (size_t i = 0; i < list->arr.n; i++) {
		r = read_entry(&rd, &list->arr.v[i], &t);
		if (r < 0)
			return r;
	}
	if (a->failed)
		return err_set(e, ERR_LIMIT, "%s: out of memory", name);
	*ret = t;
	return 0;
}

/* ---- writing ---- */

static void write_pairs(struct jsonw *w, const struct token_entry *t)
{
	if (t->all_pairs) {
		jsonw_kz(w, "pairs", "*");
		return;
	}
	jsonw_karr(w, "pairs");
	for (size_t i = 0; i < t->n_pairs; i++) {
		jsonw_obj(w);
		for (size_t k = 0; k < PAIR_FIELDS; k++)
			jsonw_kstr(w, pair_fields[k].key, *pair_slot(&t->pairs[i], &pair_fields[k]));
		jsonw_obj_end(w);
	}
	jsonw_arr_end(w);
}

/* One token on a line: an error names it. */
void tokens_write(struct buf *out, const struct tokens *t)
{
	buf_puts(out, "{\"version\": 1, \"tokens\": [");
	for (size_t i = 0; i < t->n; i++) {
		struct token_entry *entry = &t->v[i];
		struct jsonw w;

		buf_puts(out, i ? ",\n" : "\n");
		jsonw_init(&w, out, 0);
		jsonw_obj(&w);
		jsonw_kz(&w, "hash", entry->hash);
		jsonw_kstr(&w, "name", entry->name);
		write_pairs(&w, entry);
		/* Only where it says something: a file without such tokens can be read by a creel that does not know of them. */
		if (entry->admin)
			jsonw_kbool(&w, "admin", true);
		for (size_t k = 0; k < N_TIMES; k++)
			jsonw_ku64(&w, times[k].key, *time_slot(entry, k));
		jsonw_obj_end(&w);
	}
	buf_puts(out, "\n]}\n");
}

/* ---- asking ---- */

enum token_state token_state(const struct token_entry *t, uint64_t now_ms)
{
	if (t->revoked_ms)
		return TOKEN_REVOKED;
	return t->expires_ms && now_ms >= t->expires_ms ? TOKEN_EXPIRED : TOKEN_VALID;
}

enum token_state tokens_find(const struct tokens *t, struct str presented, uint64_t now_ms, size_t *ret)
{
	char hash[SHA256_HEX];
	size_t found = t->n;

	if (presented.n == 0 || presented.n >= 4096)
		return TOKEN_UNKNOWN;
	sha256_hex(presented, hash);
	for (size_t i = 0; i < t->n; i++) /* all of them, always */
		if (hash_equal_ct((struct str){ hash, SHA256_HEX - 1 },
				  (struct str){ t->v[i].hash, SHA256_HEX - 1 }))
			found = i;
	if (found == t->n)
		return TOKEN_UNKNOWN;
	*ret = found;
	return token_state(&t->v[found], now_ms);
}

void token_id(const struct token_entry *t, char out[static TOKEN_ID_MAX])
{
	memcpy(out, t->hash, TOKEN_ID_MAX - 1);
	out[TOKEN_ID_MAX - 1] = '\0';
}

struct token *tokens_for_policy(const struct tokens *t, struct arena *a)
{
	struct token *v = ARENA_ARRAY(a, struct token, t->n);

	for (size_t i = 0; v && i < t->n; i++)
		v[i] = (struct token){ .id = { t->v[i].hash, TOKEN_ID_MAX - 1 },
				       .all_pairs = t->v[i].all_pairs,
				       .pairs = t->v[i].pairs,
				       .n_pairs = t->v[i].n_pairs,
				       .origin = { .kind = ORIGIN_FILE, .name = str_z(TOKENS_FILE) } };
	return v;
}

/* ---- pairs as people write them ---- */

static int parse_one(struct str text, struct pair *ret, struct err *e)
{
	struct str first, rest, more;

	*ret = (struct pair){ .channel = STR("telegram") };
	if (!str_cut(text, ':', &first, &rest))
		return err_set(e, ERR_USAGE,
			       "pair '" STR_FMT "' is not accepted: AGENT:CHAT or CHANNEL:AGENT:CHAT",
			       STR_ARG(text));
	if (str_cut(rest, ':', &ret->agent, &more)) {
		ret->channel = first;
		ret->chat_id = more;
	} else {
		ret->agent = first;
		ret->chat_id = rest;
	}
	for (size_t i = 0; i < PAIR_FIELDS; i++)
		if (!pair_fields[i].valid(*pair_slot(ret, &pair_fields[i])))
			return err_set(e, ERR_USAGE, "pair '" STR_FMT "': its %s is not accepted: %s",
				       STR_ARG(text), pair_fields[i].key, pair_fields[i].accepted);
	return 0;
}

int token_pairs_parse(struct arena *a, struct str text, struct token_entry *ret, struct err *e)
{
	struct str one;
	size_t cap = 0;

	if (str_eq(text, STR("*"))) {
		ret->all_pairs = true;
		return 0;
	}
	for (bool more = true; more;) {
		struct pair *grown;
		int r;

		more = str_cut(text, ',', &one, &text);
		if (!more)
			one = text;
		if (ret->n_pairs == TOKEN_PAIRS_MAX)
			return err_set(e, ERR_USAGE, "more than %d pairs", (int)TOKEN_PAIRS_MAX);
		grown = arena_grow(a, ret->pairs, ret->n_pairs, &cap, sizeof(*grown), alignof(struct pair));
		if (!grown)
			return err_set(e, ERR_LIMIT, "out of memory");
		ret->pairs = grown;
		r = parse_one(one, &ret->pairs[ret->n_pairs], e);
		if (r < 0)
			return r;
		ret->n_pairs++;
	}
	return 0;
}
