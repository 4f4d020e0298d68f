/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "prepare/prepare.h"

static void check_user(const char *text, const char *name, const char *email)
{
	_cleanup_arena_ struct arena a = { 0 };
	struct git_user u = { 0 };

	arena_init(&a, 1 << 16);
	git_user_parse(&a, str_z(text), &u);
	CHECK_CASE(str_eq(u.name, str_z(name)) && str_eq(u.email, str_z(email)), "%s: '%.*s' '%.*s'", text,
		   (int)u.name.n, u.name.p, (int)u.email.n, u.email.p);
}

static void name_and_email_are_read_as_git_reads_them(void **state)
{
	(void)state;
	check_user("[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n", "Ada Lovelace",
		   "ada@example.org");
	check_user("[USER]\r\nName=Ada\r\nEMAIL =ada@example.org", "Ada", "ada@example.org");
	check_user("[core]\nname = x\n[user] name = Ada # her\n[user]\nemail = \"a;b\"@c ; d\n", "Ada",
		   "a;b@c");
	check_user("[user]\nname = \"Ada \\\"L\\\" \\\\ \"\n", "Ada \"L\" \\ ", "");
	check_user("[user]\nname = one\n[alias]\nname = !sh\n[user]\nname = two\n", "two", "");
	check_user("\xef\xbb\xbf[user]\nname = Zo\xc3\xab\n", "Zo\xc3\xab", "");
}

static void anything_else_is_no_value(void **state)
{
	(void)state;
	check_user("", "", "");
	check_user("[user]\nname\nemail =\n", "", "");
	check_user("[user \"x\"]\nname = a\n[userx]\nname = b\n[user\nname = c\n", "", "");
	check_user("[user]\nname = good\nname = a\\nb\n", "", ""); /* the last one counts, and that is none */
	check_user("[user]\nname = \"open\nemail = e@x\n", "", "e@x");
	check_user("[user]\nname = a\x1b[2Jb\n", "", "");
	check_user("[user]\nname = \xff\n", "", "");
	check_user("[user]\nname = a \\\nb\nemail = e@x\n", "", "");
	check_user("[alias]\nx = !sh \\\n[user]\nname = inside the alias\n", "", "");
	check_user("[user]\nname = a # b \\\n[alias]\nname = of the alias\n", "a", "");
	check_user("# \\\n[user]\nname = a\n", "a", "");
}

static void a_long_value_is_none(void **state)
{
	char text[GIT_USER_MAX + 32];
	int at = snprintf(text, sizeof(text), "[user]\nname = ");

	(void)state;
	memset(text + at, 'x', GIT_USER_MAX + 1);
	text[at + (int)GIT_USER_MAX + 1] = '\0';
	check_user(text, "", "");
	text[at + (int)GIT_USER_MAX] = '\0';
	check_user(text, text + at, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(name_and_email_are_read_as_git_reads_them),
		cmocka_unit_test(anything_else_is_no_value),
		cmocka_unit_test(a_long_value_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
