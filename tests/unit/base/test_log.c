/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "base/cleanup.h"
#include "base/log.h"

#include <errno.h>

/* What one call of `emit` writes under the given options. Caller frees. */
static char *logged(struct log_opts o, void (*emit)(void))
{
	char *text = NULL;
	size_t n;

	o.out = open_memstream(&text, &n);
	assert_non_null(o.out);
	log_setup(&o);
	emit();
	log_open(NULL, LOG_INFO);
	fclose(o.out);
	assert_int_equal(strlen(text), n);
	return text;
}

static void every_type(void)
{
	LOG(LOG_INFO, "call done", KV_STR("tool", STR("python")), KV_U64("ms", UINT64_MAX),
	    KV_I64("delta", -5), KV_BOOL("ok", true), KV_BOOL("cached", false), KV_SECRET("token"),
	    KV_Z("z", "x"));
}

TEST(log_text_shows_every_type)
{
	_cleanup_free_ char *text = logged((struct log_opts){ .max = LOG_INFO }, every_type);

	assert_string_equal(text, "info call done tool=\"python\" ms=18446744073709551615 delta=-5 ok=true "
				  "cached=false token=*** z=\"x\"\n");
}

TEST(log_json_shows_every_type_and_the_time)
{
	_cleanup_free_ char *text =
		logged((struct log_opts){ .max = LOG_INFO, .format = LOG_JSON }, every_type);
	static const char head[] = "{\"time\":\"";
	static const char tail[] = "Z\",\"level\":\"info\",\"event\":\"call done\",\"tool\":\"python\","
				   "\"ms\":18446744073709551615,\"delta\":-5,\"ok\":true,\"cached\":false,"
				   "\"token\":\"***\",\"z\":\"x\"}\n";

	assert_memory_equal(text, head, strlen(head));
	assert_string_equal(text + strlen(head) + strlen("2026-09-01T12:34:56.789"), tail);
}

static void one_of_each(void)
{
	LOG(LOG_ERROR, "e");
	LOG(LOG_WARN, "w");
	LOG(LOG_INFO, "i");
	LOG(LOG_DEBUG, "d");
}

TEST(log_writes_up_to_its_level)
{
	_cleanup_free_ char *errors = logged((struct log_opts){ .max = LOG_ERROR }, one_of_each);
	_cleanup_free_ char *all = logged((struct log_opts){ .max = LOG_DEBUG }, one_of_each);

	assert_string_equal(errors, "error e\n");
	assert_string_equal(all, "error e\nwarn w\ninfo i\ndebug d\n");
}

TEST(log_without_a_file_is_silent)
{
	log_open(NULL, LOG_DEBUG);
	one_of_each();
}

TEST(log_journal_prefix_is_syslogs_priority)
{
	_cleanup_free_ char *text =
		logged((struct log_opts){ .max = LOG_DEBUG, .journal_prefix = true }, one_of_each);

	assert_string_equal(text, "<3>error e\n<4>warn w\n<6>info i\n<7>debug d\n");
}

static void evil_text(void)
{
	LOG(LOG_INFO, "got", KV_STR("v", STR("a\nerror fake=\"1\" \\ \x1b[2J \xe2\x80\xae \xff %s %n\0z")));
}

TEST(log_text_from_outside_cannot_leave_its_quotes)
{
	_cleanup_free_ char *text = logged((struct log_opts){ .max = LOG_INFO }, evil_text);

	assert_string_equal(text,
			    "info got v=\"a\\x0aerror fake=\\\"1\\\" \\\\ \\x1b[2J \\xe2\\x80\\xae \\xff "
			    "%s %n\\x00z\"\n");
}

TEST(log_json_from_outside_stays_one_valid_line)
{
	_cleanup_free_ char *text =
		logged((struct log_opts){ .max = LOG_INFO, .format = LOG_JSON }, evil_text);

	assert_non_null(strstr(text,
			       "\"v\":\"a\\nerror fake=\\\"1\\\" \\\\ \\u001b[2J \\u202e \xef\xbf\xbd %s "
			       "%n\\u0000z\"}\n"));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static char long_value[1000];

static void long_text(void)
{
	LOG(LOG_INFO, "got", KV_STR("v", ((struct str){ long_value, sizeof(long_value) })));
}

TEST(log_cuts_a_long_value_at_a_character_and_shows_the_cut)
{
	_cleanup_free_ char *text = NULL, *json = NULL;

	/* two-byte characters behind one byte: byte 256 is in the middle of one */
	for (size_t i = 0; i + 1 < sizeof(long_value); i += 2)
		memcpy(long_value + 1 + i, "\xc3\xa9", i + 2 < sizeof(long_value) ? 2 : 1);
	long_value[0] = 'x';
	text = logged((struct log_opts){ .max = LOG_INFO }, long_text);
	json = logged((struct log_opts){ .max = LOG_INFO, .format = LOG_JSON }, long_text);
	assert_non_null(strstr(text, "\xc3\xa9\"...\n"));
	assert_null(strstr(text, "\\x"));
	assert_int_equal(strlen(text), strlen("info got v=\"\"...\n") + 255);
	assert_non_null(strstr(json, "\xc3\xa9...\"}\n"));
	assert_null(strstr(json, "\xef\xbf\xbd"));
}

static void far_too_much(void)
{
	struct kv kv[200];

	memset(long_value, '\x01', sizeof(long_value));
	for (size_t i = 0; i + 1 < 200; i++)
		kv[i] = KV_STR("v", ((struct str){ long_value, sizeof(long_value) }));
	kv[199] = (struct kv){ 0 };
	log_emit(LOG_WARN, "flood", kv);
}

TEST(log_line_that_does_not_fit_still_says_what_happened)
{
	_cleanup_free_ char *text =
		logged((struct log_opts){ .max = LOG_INFO, .journal_prefix = true }, far_too_much);
	_cleanup_free_ char *json =
		logged((struct log_opts){ .max = LOG_INFO, .format = LOG_JSON }, far_too_much);

	assert_string_equal(text, "<4>warn flood truncated=true\n");
	assert_string_equal(json, "{\"level\":\"warn\",\"event\":\"flood\",\"truncated\":true}\n");
}

TEST(log_level_has_a_word)
{
	enum log_level level = LOG_ERROR;

	assert_int_equal(log_level_parse(STR("debug"), &level), 0);
	assert_int_equal(level, LOG_DEBUG);
	assert_int_equal(log_level_parse(STR("loud"), &level), -EINVAL);
	assert_int_equal(level, LOG_DEBUG);
}

TEST_MAIN()
