/* SPDX-License-Identifier: Apache-2.0 */
#include "net/message.h"

#include "data/json.h"

#include <stdio.h>

#define ARENA_MAX ((size_t)1 << 20)
#define TEXT_MAX 512u

static const struct json_opts opts = {
	.name = "message", .max_depth = 4, .max_bytes = EGRESS_MESSAGE_MAX, .max_values = 1024
};

static int parse_object(struct arena *a, struct str text, struct value *ret, struct err *e)
{
	int r = json_parse(a, text, &opts, ret, e);

	if (r >= 0 && ret->kind != VALUE_OBJ)
		return err_set(e, ERR_PROTO, "message: %s is not accepted, an object is",
			       value_kind_name(ret->kind));
	if (r < 0)
		e->kind = ERR_PROTO;
	return r;
}

static int take_text(const struct value *o, const char *key, struct str *ret, struct err *e)
{
	const struct value *v = value_get(o, str_z(key));

	if (!v || v->kind != VALUE_STR || v->s.n > TEXT_MAX || (v->s.n && memchr(v->s.p, '\0', v->s.n)))
		return err_set(e, ERR_PROTO, "message: '%s' is not a text of at most %u bytes", key,
			       TEXT_MAX);
	*ret = v->s;
	return 0;
}

static int take_number(const struct value *o, const char *key, uint64_t *ret, struct err *e)
{
	const struct value *v = value_get(o, str_z(key));

	if (!v || v->kind != VALUE_INT || v->i < 0)
		return err_set(e, ERR_PROTO, "message: '%s' is not a number", key);
	*ret = (uint64_t)v->i;
	return 0;
}

/* ---- hello ---- */

void egress_hello_put(const struct egress_hello *h, struct buf *out)
{
	struct jsonw w;

	jsonw_init(&w, out, 0);
	jsonw_obj(&w);
	jsonw_kstr(&w, "sandbox", h->sandbox);
	jsonw_kstr(&w, "session", h->session);
	jsonw_kstr(&w, "request", h->request);
	jsonw_kstr(&w, "option", h->option);
	jsonw_karr(&w, "rules");
	for (size_t i = 0; i < h->rules.n; i++)
		jsonw_str(&w, h->rules.v[i]);
	jsonw_arr_end(&w);
	jsonw_obj_end(&w);
}

static int take_rules(const struct value *o, struct arena *a, struct strs *ret, struct err *e)
{
	const struct value *v = value_get(o, STR("rules"));
	struct str *rules;

	if (!v || v->kind != VALUE_ARR || v->arr.n > NET_RULES_MAX)
		return err_set(e, ERR_PROTO, "message: 'rules' is not a list of at most %u", NET_RULES_MAX);
	rules = ARENA_ARRAY(a, struct str, v->arr.n + 1);
	if (!rules)
		return err_set(e, ERR_LIMIT, "out of memory");
	for (size_t i = 0; i < v->arr.n; i++) {
		if (v->arr.v[i].kind != VALUE_STR || v->arr.v[i].s.n > TEXT_MAX)
			return err_set(e, ERR_PROTO, "message: a rule is not a text of at most %u bytes",
				       TEXT_MAX);
		rules[i] = v->arr.v[i].s;
	}
	*ret = (struct strs){ .v = rules, .n = v->arr.n };
	return 0;
}

int egress_hello_parse(struct str text, struct arena *a, struct egress_hello *ret, struct err *e)
{
	struct egress_hello h = { 0 };
	struct value o;
	int r = parse_object(a, text, &o, e);

	if (r >= 0)
		r = take_text(&o, "sandbox", &h.sandbox, e);
	if (r >= 0)
		r = take_text(&o, "session", &h.session, e);
	if (r >= 0)
		r = take_text(&o, "request", &h.request, e);
	if (r >= 0)
		r = take_text(&o, "option", &h.option, e);
	if (r >= 0 && h.option.n > 64)
		r = err_set(e, ERR_PROTO, "message: 'option' is longer than 64 bytes");
	if (r >= 0)
		r = take_rules(&o, a, &h.rules, e);
	if (r >= 0)
		*ret = h;
	return r;
}

/* ---- answer, end ---- */

void egress_answer_put(const struct err *refused, struct buf *out)
{
	struct jsonw w;

	jsonw_init(&w, out, 0);
	jsonw_obj(&w);
	jsonw_kbool(&w, "ok", refused->kind == ERR_NONE);
	if (refused->kind != ERR_NONE)
		jsonw_kz(&w, "message", refused->msg);
	jsonw_obj_end(&w);
}

int egress_answer_parse(struct str text, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	const struct value *ok;
	struct value o;
	struct str message = { 0 };

	arena_init(&a, ARENA_MAX);
	if (parse_object(&a, text, &o, e) < 0)
		return -1;
	ok = value_get(&o, STR("ok"));
	if (ok && ok->kind == VALUE_BOOL && ok->b)
		return 0;
	if (take_text(&o, "message", &message, e) < 0)
		return -1;
	return err_set(e, ERR_UNAVAIL, "%.*s", (int)message.n, message.p);
}

void egress_end_put(struct buf *out)
{
	buf_puts(out, "{\"end\":true}");
}

bool egress_is_end(struct str text)
{
	return str_eq(text, STR("{\"end\":true}"));
}

/* ---- report ---- */

void egress_report_put(const struct net_report *r, struct buf *out)
{
	struct jsonw w;

	jsonw_init(&w, out, 0);
	jsonw_obj(&w);
	jsonw_ku64(&w, "requests", r->requests);
	jsonw_ku64(&w, "bytes_up", r->bytes_up);
	jsonw_ku64(&w, "bytes_down", r->bytes_down);
	jsonw_ku64(&w, "denials_lost", r->denials_lost);
	jsonw_karr(&w, "denials");
	for (size_t i = 0; i < r->n_denials; i++) {
		const struct net_denial *d = &r->denials[i];

		jsonw_obj(&w);
		jsonw_ku64(&w, "time_ms", d->time_ms);
		jsonw_ku64(&w, "count", d->count);
		jsonw_ku64(&w, "verdict", d->verdict);
		jsonw_ku64(&w, "port", d->port);
		jsonw_kz(&w, "object", d->object);
		jsonw_kz(&w, "rule", d->rule);
		jsonw_kz(&w, "hint", d->hint);
		jsonw_obj_end(&w);
	}
	jsonw_arr_end(&w);
	jsonw_obj_end(&w);
}

static int take_into(const struct value *o, const char *key, char *out, size_t size, struct err *e)
{
	struct str s;

	if (take_text(o, key, &s, e) < 0)
		return -1;
	if (s.n >= size)
		return err_set(e, ERR_PROTO, "message: '%s' is longer than %zu bytes", key, size - 1);
	if (s.n)
		memcpy(out, s.p, s.n);
	out[s.n] = '\0';
	return 0;
}

static int take_denial(const struct value *o, struct net_denial *d, struct err *e)
{
	uint64_t verdict, port;

	if (o->kind != VALUE_OBJ)
		return err_set(e, ERR_PROTO, "message: a denial is not an object");
	if (take_number(o, "time_ms", &d->time_ms, e) < 0 || take_number(o, "count", &d->count, e) < 0 ||
	    take_number(o, "verdict", &verdict, e) < 0 || take_number(o, "port", &port, e) < 0 ||
	    take_into(o, "object", d->object, sizeof(d->object), e) < 0 ||
	    take_into(o, "rule", d->rule, sizeof(d->rule), e) < 0 ||
	    take_into(o, "hint", d->hint, sizeof(d->hint), e) < 0)
		return -1;
	if (verdict >= NET_ALLOWED || port > UINT16_MAX)
		return err_set(e, ERR_PROTO, "message: a denial that is none");
	d->verdict = (enum net_verdict)verdict;
	d->port = (uint16_t)port;
	return 0;
}

int egress_report_parse(struct str text, struct net_report *ret, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	const struct value *list;
	struct value o;

	arena_init(&a, ARENA_MAX);
	*ret = (struct net_report){ 0 };
	if (parse_object(&a, text, &o, e) < 0 || take_number(&o, "requests", &ret->requests, e) < 0 ||
	    take_number(&o, "bytes_up", &ret->bytes_up, e) < 0 ||
	    take_number(&o, "bytes_down", &ret->bytes_down, e) < 0 ||
	    take_number(&o, "denials_lost", &ret->denials_lost, e) < 0)
		return -1;
	list = value_get(&o, STR("denials"));
	if (!list || list->kind != VALUE_ARR || list->arr.n > NET_DENIALS_MAX)
		return err_set(e, ERR_PROTO, "message: 'denials' is not a list of at most %u",
			       NET_DENIALS_MAX);
	for (size_t i = 0; i < list->arr.n; i++)
		if (take_denial(&list->arr.v[i], &ret->denials[i], e) < 0)
			return -1;
	ret->n_denials = list->arr.n;
	return 0;
}

/* ---- numbers ---- */

void egress_ask_put(struct buf *out)
{
	buf_puts(out, "{\"ask\":true}");
}

bool egress_is_ask(struct str text)
{
	return str_eq(text, STR("{\"ask\":true}"));
}

static const struct {
	const char *key;
	size_t offset;
} numbers[] = {
	{ "guests", offsetof(struct egress_numbers, guests) },
	{ "requests", offsetof(struct egress_numbers, requests) },
	{ "denials", offsetof(struct egress_numbers, denials) },
	{ "bytes_up", offsetof(struct egress_numbers, bytes_up) },
	{ "bytes_down", offsetof(struct egress_numbers, bytes_down) },
	{ "memory_bytes", offsetof(struct egress_numbers, memory_bytes) },
};

void egress_numbers_put(const struct egress_numbers *n, struct buf *out)
{
	struct jsonw w;

	jsonw_init(&w, out, 0);
	jsonw_obj(&w);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uint64_t v;

		memcpy(&v, (const char *)n + numbers[i].offset, sizeof(v));
		jsonw_ku64(&w, numbers[i].key, v);
	}
	jsonw_obj_end(&w);
}

int egress_numbers_parse(struct str text, struct egress_numbers *ret, struct err *e)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct value o;

	arena_init(&a, ARENA_MAX);
	*ret = (struct egress_numbers){ 0 };
	if (parse_object(&a, text, &o, e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uint64_t v;

		if (take_number(&o, numbers[i].key, &v, e) < 0)
			return -1;
		memcpy((char *)ret + numbers[i].offset, &v, sizeof(v));
	}
	return 0;
}
