/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words behind `creel call TOOL` become one JSON object, or an error with words of its own. What comes out reads back as an object whose
 * members are all among the tool's arguments, each once, unless it was JSON to begin with.
 *
 * Input: words with a NUL between two; what follows "--" is the command.
 */
#include "check.h"
#include "cli/session.h"
#include "data/json.h"

#define WORDS 64

static const char tools[] =
	"{\"name\":\"t\",\"inputSchema\":{\"properties\":{\"command\":{\"type\":[\"string\",\"array\"],\"x-aliases\":[\"cmd\"]},"
	"\"n\":{\"type\":\"integer\"},\"x\":{\"type\":\"number\"},\"b\":{\"type\":\"boolean\"},\"l\":{\"type\":\"array\"},"
	"\"env\":{\"type\":\"object\"}},\"required\":[\"command\"]}}";

/* Nothing of the host is read: no file, no standard input. */
static bool reads_something(struct str word)
{
	struct str name, value;

	if (str_eq(word, STR("-")) || (word.n && word.p[0] == '@'))
		return true;
	return str_cut(word, '=', &name, &value) && value.n && value.p[0] == '@';
}

static bool split(struct cli *cli, struct str input, struct str words[static WORDS])
{
	struct str all = arena_str(cli->arena, input), word;
	size_t n = 1;

	words[0] = STR("t");
	while (all.n && n < WORDS) {
		if (!str_cut(all, '\0', &word, &all)) {
			word = all;
			all.n = 0;
		}
		if (reads_something(word))
			return false;
		if (!cli->args.has_rest && str_eq(word, STR("--"))) {
			cli->args.has_rest = true;
			cli->args.words.n = n;
			continue;
		}
		words[n++] = word;
	}
	if (!cli->args.has_rest)
		cli->args.words.n = n;
	cli->args.words.v = words;
	cli->args.rest = (struct strs){ .v = words + cli->args.words.n, .n = n - cli->args.words.n };
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct json_opts strict = { .max_bytes = CALL_INPUT_MAX };
	_cleanup_arena_ struct arena arena = { 0 };
	struct cli cli = { .arena = &arena };
	struct str words[WORDS], json = { 0 };
	struct value tool, got;
	struct err e = { 0 };
	bool was_json;

	arena_init(&arena, (size_t)64 << 20);
	CHECK(json_parse(&arena, str_z(tools), &strict, &tool, &e) >= 0);
	if (!split(&cli, (struct str){ .p = (const char *)data, .n = size }, words))
		return 0;
	was_json = cli.args.words.n > 1 && str_trim(words[1]).n && strchr("{[", str_trim(words[1]).p[0]);
	if (call_arguments(&cli, &tool, &json, &e) < 0) {
		CHECK(e.kind != ERR_NONE && e.msg[0]);
		return 0;
	}
	CHECK(json_parse(&arena, json, &strict, &got, &e) >= 0);
	CHECK(got.kind == VALUE_OBJ);
	for (size_t i = 0; i < got.obj.n && !was_json; i++)
		CHECK(tool_argument(&tool, got.obj.m[i].key));
	return 0;
}
