/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include "server/paths.h"

static const struct path_row rows[] = {
	{ .method = HTTP_GET, .path = "/v1/sessions", .label = "list" },
	{ .method = HTTP_GET, .path = "/v1/sessions/{key}", .label = "one" },
	{ .method = HTTP_DELETE, .path = "/v1/sessions/{key}", .label = "end" },
	{ .method = HTTP_POST, .path = "/v1/processes/{id}/kill", .label = "kill" },
};

static unsigned find(enum http_method m, const char *path, struct path_match *ret)
{
	return path_find(rows, sizeof(rows) / sizeof(rows[0]), m, str_z(path), ret);
}

TEST(a_path_is_found_as_it_is_spelled_and_in_no_other_way)
{
	static const struct {
		enum http_method method;
		const char *path, *label;
		unsigned status;
	} cases[] = {
		{ HTTP_GET, "/v1/sessions", "list", 0 },
		{ HTTP_GET, "/v1/sessions/agent:a:b", "one", 0 },
		{ HTTP_DELETE, "/v1/sessions/agent:a:b", "end", 0 },
		{ HTTP_POST, "/v1/processes/7/kill", "kill", 0 },
		{ HTTP_POST, "/v1/sessions", NULL, 405 },
		{ HTTP_GET, "/v1/sessions/", NULL, 404 },
		{ HTTP_GET, "//v1/sessions", NULL, 404 },
		{ HTTP_GET, "/v1//sessions", NULL, 404 },
		{ HTTP_GET, "/v1/./sessions", NULL, 404 },
		{ HTTP_GET, "/V1/sessions", NULL, 404 },
		{ HTTP_GET, "/v1/%73essions", NULL, 404 },
		{ HTTP_GET, "/v1/sessions/a/b", NULL, 404 },
		{ HTTP_GET, "/", NULL, 404 },
		{ HTTP_GET, "", NULL, 404 },
		{ HTTP_POST, "/v1/processes//kill", NULL, 404 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct path_match m;

		CHECK_CASE(find(cases[i].method, cases[i].path, &m) == cases[i].status, "%s", cases[i].path);
		if (cases[i].label)
			assert_string_equal(m.route->label, cases[i].label);
	}
}

TEST(parts_are_decoded_to_text_or_refused)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "agent:a:b", "agent:a:b" },
		{ "a%2Fb", "a/b" },
		{ "%41+%e2%82%ac", "A+\xe2\x82\xac" },
		{ "%", NULL },
		{ "%4", NULL },
		{ "%zz", NULL },
		{ "%00", NULL },
		{ "%0a", NULL },
		{ "%ff", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_arena_ struct arena a = { 0 };
		struct str out;
		bool ok;

		arena_init(&a, 65536);
		ok = path_decode(&a, str_z(cases[i].in), &out);
		CHECK_CASE(ok == (cases[i].out != NULL), "%s", cases[i].in);
		if (ok)
			CHECK_STR(out, str_z(cases[i].out));
	}
}

TEST(what_is_encoded_is_decoded_again)
{
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_buf_ struct buf text = { 0 };
	struct str in = STR("agent:a/b c%\xc3\xa9?&=#~"), out;

	arena_init(&a, 65536);
	buf_init(&text, 4096);
	path_encode(&text, in);
	assert_true(path_decode(&a, buf_str(&text), &out));
	CHECK_STR(out, in);
}

TEST(a_query_has_known_names_once_each)
{
	static const char *const names[] = { "agent", "type", NULL };
	static const struct {
		const char *query, *why; /* NULL: it is well */
	} cases[] = {
		{ "", NULL },
		{ "agent=a&type=t", NULL },
		{ "type=%20", NULL },
		{ "agent=a&agent=b", "is there twice" },
		{ "other=1", "is not known here" },
		{ "agent=%0a", "has a value that is no text, or not encoded as one" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_arena_ struct arena a = { 0 };
		struct path_query q;

		arena_init(&a, 65536);
		CHECK_CASE(path_query(&a, names, str_z(cases[i].query), &q) == !cases[i].why, "%s",
			   cases[i].query);
		CHECK_CASE(!cases[i].why || strcmp(q.why, cases[i].why) == 0, "%s: %s", cases[i].query,
			   q.why);
	}
}

TEST_MAIN()
