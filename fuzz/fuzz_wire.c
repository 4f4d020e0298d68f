/* SPDX-License-Identifier: Apache-2.0 */
/* A body that is taken has members within their limits; written anew it is taken again, strictly, and means the same. One that is refused has a status and a text. */
#include "check.h"

#include "data/json.h"
#include "server/refusal.h"
#include "server/wire.h"

typedef bool read_fn(struct arena *a, struct str body, bool strict, struct wire_call *ret,
		     struct wire_fault *fault);
typedef void write_fn(struct jsonw *w, const struct wire_call *c);

static bool same(const struct wire_call *a, const struct wire_call *b)
{
	return str_eq(a->request_id, b->request_id) && str_eq(a->agent, b->agent) &&
	       str_eq(a->channel, b->channel) && str_eq(a->chat_id, b->chat_id) &&
	       str_eq(a->user_id, b->user_id) && str_eq(a->session, b->session) && str_eq(a->tool, b->tool) &&
	       a->timeout_s == b->timeout_s && a->has_scope == b->has_scope && !a->args == !b->args &&
	       (!a->args || value_equal(a->args, b->args));
}

static void check(struct str in, read_fn *read, write_fn *write)
{
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_buf_ struct buf text = { 0 };
	struct wire_call call = { 0 }, again = { 0 };
	struct wire_fault fault = { 0 };
	struct jsonw w;

	arena_init(&a, (size_t)64 << 20);
	if (!read(&a, in, false, &call, &fault)) {
		CHECK(fault.status >= 400 && fault.word && fault.text[0]);
		CHECK(!read(&a, in, true, &call, &fault));
		return;
	}
	CHECK(call.request_id.n <= WIRE_ID_MAX && call.tool.n <= WIRE_NAME_MAX &&
	      call.session.n <= WIRE_SESSION_MAX && call.chat_id.n <= WIRE_NAME_MAX &&
	      call.timeout_s <= WIRE_TIMEOUT_MAX_S && (!call.args || call.args->kind == VALUE_OBJ));
	buf_init(&text, WIRE_BODY_MAX);
	jsonw_init(&w, &text, 0);
	write(&w, &call);
	CHECK(!text.failed && read(&a, buf_str(&text), true, &again, &fault));
	CHECK(!again.has_policy && same(&call, &again));
}

/* What is taken is written as objects that are taken as the same. */
static void check_refusals(struct str in)
{
	static struct refusals got, again;
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_buf_ struct buf text = { 0 };
	struct wire_fault fault = { 0 };
	struct jsonw w;

	arena_init(&a, (size_t)64 << 20);
	if (!refusals_read(&a, in, &got, &fault)) {
		CHECK(fault.status >= 400 && fault.word && fault.text[0]);
		return;
	}
	buf_init(&text, WIRE_BODY_MAX);
	jsonw_init(&w, &text, 0);
	jsonw_obj(&w);
	jsonw_ku64(&w, "untold", got.untold);
	jsonw_karr(&w, "refused");
	for (size_t i = 0; i < got.n; i++)
		refusal_put(&w, &got.v[i]);
	jsonw_arr_end(&w);
	jsonw_obj_end(&w);
	if (text.n > REFUSALS_BODY_MAX)
		return;
	CHECK(!text.failed && refusals_read(&a, buf_str(&text), &again, &fault));
	CHECK(again.n == got.n && again.untold == got.untold);
	for (size_t i = 0; i < got.n; i++)
		CHECK(str_eq(got.v[i].code, again.v[i].code) && str_eq(got.v[i].tool, again.v[i].tool) &&
		      str_eq(got.v[i].peer, again.v[i].peer));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = { .p = (const char *)data, .n = size };

	check(in, wire_read_run, wire_write_run);
	check(in, wire_read_call, wire_write_call);
	check_refusals(in);
	return 0;
}
