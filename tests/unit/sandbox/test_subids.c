/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "sandbox/subids.h"

static void the_last_id_of_the_first_range_is_used(void **state)
{
	static const struct {
		const char *text;
		uint32_t id; /* 0 = none */
	} t[] = {
		{ "me:100000:65536\n", 165535 },
		{ "me:100000:65536", 165535 },
		{ "1000:500:1\n", 500 },
		{ "you:1:9\nme:20:2\nme:40:2\n", 21 },
		{ "", 0 },
		{ "me", 0 },
		{ "me:1", 0 },
		{ "me:1:0\n", 0 },
		{ "me:0:5\n", 0 },
		{ "me:-5:5\n", 0 },
		{ "me:4294967294:1\n", 4294967294u },
		{ "me:4294967294:2\n", 0 },
		{ "me:4294967295:1\n", 0 },
		{ "me:1000:1\n", 0 }, /* oneself is no second user */
		{ "mean:1:9\n", 0 },
		{ " me:1:9\n", 0 },
		{ "me:1:9:2\n", 0 },
		{ "me:1:x\nme:7:1\n", 7 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint32_t id = 0;
		bool found = subids_find(str_z(t[i].text), STR("me"), 1000, &id);

		if (found != (t[i].id != 0) || (found && id != t[i].id))
			fail_msg("'%s' gives %u", t[i].text, found ? id : 0);
	}
}

static void a_user_without_a_name_has_only_the_number(void **state)
{
	uint32_t id;

	(void)state;
	assert_false(subids_find(STR(":5:5\n"), STR(""), 1000, &id));
	assert_true(subids_find(STR(":5:5\n1000:9:1\n"), STR(""), 1000, &id));
	assert_int_equal(id, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_id_of_the_first_range_is_used),
		cmocka_unit_test(a_user_without_a_name_has_only_the_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
