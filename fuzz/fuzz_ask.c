/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies as the guard reads them. Those of /run: what passes S2's checks has the shape that they promise, also after the arguments that nobody knows were taken
 * away. The small ones: within their limits, and an answer that is written anew means the same. What is refused has a status and a text that can be printed.
 */
#include "check.h"

#include "server/guard/ask.h"

static void check_fault(const struct wire_fault *f)
{
	CHECK(f->status >= 400 && f->status < 600 && f->word && f->text[0]);
	for (const char *c = f->text; *c; c++)
		CHECK((unsigned char)*c >= 0x20 && *c != 0x7f);
}

static void check_run(struct arena *a, struct str in)
{
	struct wire_fault f = { 0 };
	struct wire_call c;
	struct ask_s2 s2;

	if (!wire_read_run(a, in, false, &c, &f)) {
		check_fault(&f);
		return;
	}
	if (!ask_check_s2(a, &c, &s2, &f)) {
		check_fault(&f);
		return;
	}
	CHECK(s2.timeout_s.n <= WIRE_TIMEOUT_MAX_S);
	CHECK(ask_clean_s2(a, &c) && c.args->obj.n <= 2);
	for (size_t i = 0; i < c.args->obj.n; i++)
		CHECK(c.args->obj.m[i].v.kind != VALUE_OBJ);
}

static void check_small(struct arena *a, struct str in)
{
	struct wire_fault f = { 0 };
	struct ask_answer answer, again;
	struct ask_pairing pairing;

	if (!ask_read_pairing(a, in, &pairing, &f))
		check_fault(&f);
	else
		CHECK(pairing.channel.n <= WIRE_NAME_MAX && pairing.user.n <= WIRE_NAME_MAX);
	f = (struct wire_fault){ 0 };
	if (!ask_read_answer(a, in, &answer, &f)) {
		check_fault(&f);
	} else {
		_cleanup_buf_ struct buf text = { 0 };
		struct jsonw w;

		buf_init(&text, 4096);
		jsonw_init(&w, &text, 0);
		ask_write_answer(&w, &answer);
		CHECK(!text.failed && ask_read_answer(a, buf_str(&text), &again, &f));
		CHECK(str_eq(answer.answer, again.answer) && answer.for_s.said == again.for_s.said &&
		      answer.for_s.n == again.for_s.n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = { .p = (const char *)data, .n = size };
	_cleanup_arena_ struct arena a = { 0 };

	arena_init(&a, (size_t)64 << 20);
	check_run(&a, in);
	check_small(&a, in);
	return 0;
}
