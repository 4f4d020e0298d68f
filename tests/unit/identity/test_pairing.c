/* SPDX-License-Identifier: Apache-2.0 */
/* S0-64: who is not known gets a code and nothing else; the operator makes him known, and unknown again. */
#include "spot.h"

#include "identity/pairing.h"

#define NOW ((uint64_t)1700000000000)

static struct pairing_store *open_store(const struct spot *p)
{
	struct pairing_store *s = NULL;
	struct err e = { 0 };

	if (pairing_store_open(p->dir, &s, &e) < 0 || pairing_store_load(s, &e) < 0)
		fail_msg("%s", e.msg);
	return s;
}
#define STORE(name, p) _cleanup_(pairing_store_closep) struct pairing_store *name = open_store(&p)

static int ask(struct pairing_store *s, const char *user, uint64_t now, char code[static PAIRING_CODE_MAX],
	       struct err *e)
{
	const struct pairing_ask a = { .channel = STR("telegram"),
				       .user = str_z(user),
				       .name = STR("Ann"),
				       .preview = STR("hello"),
				       .now_ms = now };

	return pairing_ask(s, &a, code, e);
}

static bool knows(const struct pairing_store *s, const char *user)
{
	return pairing_knows(pairing_store_get(s), STR("telegram"), str_z(user));
}

TEST(a_stranger_is_unknown_until_his_code_is_approved)
{
	SPOT(p);
	STORE(s, p);
	struct pairing_sender who;
	char code[PAIRING_CODE_MAX], lower[PAIRING_CODE_MAX];
	struct err e = { 0 };

	assert_int_equal(ask(s, "42", NOW, code, &e), 0);
	assert_int_equal(strlen(code), 6);
	assert_false(knows(s, "42"));
	for (size_t i = 0; i < sizeof(lower); i++)
		lower[i] = code[i] >= 'A' ? (char)(code[i] - 'A' + 'a') : code[i];
	assert_int_equal(pairing_approve(s, str_z(lower), STR("me"), NOW + 1, &who, &e), 0);
	CHECK_STR(who.user, STR("42"));
	CHECK_STR(who.by, STR("me"));
	assert_true(knows(s, "42"));
	assert_false(knows(s, "43"));
	assert_false(pairing_knows(pairing_store_get(s), STR("slack"), STR("42")));
	assert_int_equal(ask(s, "42", NOW + 2, code, &e), 1); /* he needs none any more */
	CHECK_STR(pairing_store_get(s)->pending[0].code, STR(""));
	assert_true(pairing_approve(s, STR(""), STR("me"), NOW + 3, &who, &e) < 0);
	assert_true(pairing_approve(s, str_z(code), STR("me"), NOW + 3, &who, &e) < 0); /* once */
	assert_int_equal(e.kind, ERR_NOTFOUND);
}

TEST(a_code_is_good_for_a_day)
{
	SPOT(p);
	STORE(s, p);
	struct pairing_sender who;
	char code[PAIRING_CODE_MAX];
	struct err e = { 0 };

	assert_int_equal(ask(s, "42", NOW, code, &e), 0);
	assert_true(pairing_approve(s, str_z(code), STR("me"), NOW + PAIRING_CODE_MS, &who, &e) < 0);
	assert_non_null(strstr(e.msg, "has expired"));
	assert_false(knows(s, "42"));
	assert_int_equal(pairing_approve(s, str_z(code), STR("me"), NOW + PAIRING_CODE_MS - 1, &who, &e), 0);
}

TEST(a_sender_gets_three_codes_in_an_hour_and_others_are_not_in_his_way)
{
	SPOT(p);
	STORE(s, p);
	char code[PAIRING_CODE_MAX];
	struct err e = { 0 };

	for (unsigned i = 0; i < PAIRING_PER_HOUR; i++)
		assert_int_equal(ask(s, "42", NOW + i, code, &e), 0);
	assert_true(ask(s, "42", NOW + 10, code, &e) < 0);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(ask(s, "43", NOW + 10, code, &e), 0);
	assert_int_equal(ask(s, "42", NOW + PAIRING_HOUR_MS, code, &e), 0);
}

/* Protocol 412: at most three in an hour, whatever the operator did with them. */
TEST(codes_that_were_approved_and_revoked_count_for_the_hour)
{
	SPOT(p);
	STORE(s, p);
	struct pairing_sender who;
	char code[PAIRING_CODE_MAX];
	struct err e = { 0 };

	for (unsigned i = 0; i < PAIRING_PER_HOUR; i++) {
		assert_int_equal(ask(s, "42", NOW + i, code, &e), 0);
		assert_int_equal(pairing_approve(s, str_z(code), STR("me"), NOW + i, &who, &e), 0);
		assert_int_equal(pairing_revoke(s, STR("telegram"), STR("42"), &e), 0);
	}
	assert_true(ask(s, "42", NOW + 10, code, &e) < 0);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(ask(s, "43", NOW + 10, code, &e), 0);
	assert_int_equal(ask(s, "42", NOW + PAIRING_HOUR_MS + 10, code, &e), 0);
	assert_int_equal(pairing_store_get(s)->n_pending, 2); /* those that count no more have gone */
}

TEST(a_code_of_a_clock_that_was_wrong_counts_for_no_more_than_an_hour)
{
	SPOT(p);
	STORE(s, p);
	char code[PAIRING_CODE_MAX];
	struct err e = { 0 };

	for (unsigned i = 0; i < PAIRING_PER_HOUR; i++)
		assert_int_equal(ask(s, "42", NOW + 2 * PAIRING_HOUR_MS, code, &e), 0);
	assert_int_equal(ask(s, "42", NOW, code, &e), 0);
}

TEST(a_flood_of_strangers_is_bounded_and_old_codes_make_room)
{
	SPOT(p);
	STORE(s, p);
	_cleanup_buf_ struct buf text = { 0 };
	char code[PAIRING_CODE_MAX];
	struct err e = { 0 };

	buf_init(&text, PAIRING_FILE_MAX);
	buf_puts(&text, "{\"version\": 1, \"senders\": [], \"pending\": [");
	for (unsigned i = 0; i < PAIRING_PENDING_MAX; i++)
		buf_printf(
			&text,
			"%s{\"code\":\"%06X\",\"channel\":\"telegram\",\"user\":\"u%u\",\"name\":\"\",\"preview\":\"\",\"asked\":%llu}",
			i ? "," : "", i, i, (unsigned long long)NOW);
	buf_puts(&text, "]}");
	spot_write(&p, PAIRING_FILE, buf_str(&text));
	assert_true(ask(s, "42", NOW + 10, code, &e) < 0);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(ask(s, "42", NOW + PAIRING_CODE_MS, code, &e), 0);
	assert_int_equal(pairing_store_get(s)->n_pending, 1);
}

TEST(revoked_is_unknown_again_also_for_who_watches_the_file)
{
	SPOT(p);
	STORE(s, p);
	STORE(other, p);
	const struct pairing_sender owner = { .channel = STR("telegram"), .user = STR("1"), .by = STR("0") };
	struct err e = { 0 };

	assert_int_equal(pairing_add(s, &owner, &e), 1);
	assert_int_equal(pairing_add(s, &owner, &e), 0);
	assert_int_equal(pairing_store_load(other, &e), 1);
	assert_true(knows(other, "1"));
	assert_int_equal(pairing_revoke(other, STR("telegram"), STR("1"), &e), 0);
	assert_int_equal(pairing_store_load(s, &e), 1);
	assert_false(knows(s, "1"));
	assert_true(pairing_revoke(s, STR("telegram"), STR("1"), &e) < 0);
	assert_int_equal(e.kind, ERR_NOTFOUND);
}

TEST(what_strangers_write_is_cut_and_names_that_cannot_be_are_refused)
{
	SPOT(p);
	STORE(s, p);
	char longer[2000], code[PAIRING_CODE_MAX];
	struct pairing_ask a = { .channel = STR("telegram"), .user = STR("42"), .now_ms = NOW };
	struct err e = { 0 };

	memset(longer, 0xc3, sizeof(longer)); /* no UTF-8 at all */
	a.name = a.preview = (struct str){ longer, sizeof(longer) };
	assert_int_equal(pairing_ask(s, &a, code, &e), 0);
	assert_true(pairing_store_get(s)->pending[0].name.n <= PAIRING_NAME_BYTES);
	assert_true(pairing_store_get(s)->pending[0].preview.n <= PAIRING_PREVIEW_BYTES);
	a.user = STR("4 2");
	assert_true(pairing_ask(s, &a, code, &e) < 0);
	assert_int_equal(e.kind, ERR_USAGE);
	a.user = STR("");
	assert_true(pairing_ask(s, &a, code, &e) < 0);
	a.user = STR("42");
	a.channel = STR("../x");
	assert_true(pairing_ask(s, &a, code, &e) < 0);
}

TEST(a_broken_file_lets_nobody_in_and_is_not_written_over)
{
	SPOT(p);
	STORE(s, p);
	char code[PAIRING_CODE_MAX];
	struct err e = { 0 };

	spot_write(&p, PAIRING_FILE, STR("{\"version\": 1, \"senders\": [\n{}], \"pending\": []}"));
	assert_true(pairing_store_load(s, &e) < 0);
	assert_non_null(strstr(e.msg, "pairing.json:2:1: a row has to be"));
	assert_true(ask(s, "42", NOW, code, &e) < 0);
	assert_false(knows(s, "42"));
}

TEST_MAIN()
