/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_json [--rounds N]: JSON parsing against jansson, on the same texts in one interleaved run: a busy machine slows both.
 * The best round of each counts. Ends with status 1 when one document is less than three times as fast; fewer rounds than
 * usual are no measurement, and only show that it still runs.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "data/json.h"

#include <jansson.h>
#include <stdio.h>
#include <time.h>

#define TEXT_MAX ((size_t)16 << 20)
#define ROUND_BYTES ((size_t)4 << 20)
enum { ROUNDS = 15, RATIO_MIN = 3 };

static double seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool parse_ours(struct str text)
{
	_cleanup_arena_ struct arena a;
	const struct json_opts opts = { .name = "bench" };
	struct value v;
	struct err e;

	arena_init(&a, (size_t)256 << 20);
	return json_parse(&a, text, &opts, &v, &e) >= 0;
}

static bool parse_jansson(struct str text)
{
	json_t *v = json_loadb(text.p, text.n, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);

	json_decref(v);
	return v;
}

/* The documents: a request, a long answer of records, the output of a tool. */

static void small_rpc(struct buf *b)
{
	buf_puts(
		b,
		"{\"jsonrpc\":\"2.0\",\"id\":17,\"method\":\"tools/call\",\"params\":{\"name\":\"exec\",\"arguments\":"
		"{\"command\":\"git status --short\",\"cwd\":\"/workspace\",\"timeout_ms\":30000,\"env\":{\"LANG\":\"C\"},"
		"\"background\":false},\"_meta\":{\"session\":\"agent:main:main\",\"progressToken\":null}}}");
}

static void record_list(struct buf *b)
{
	buf_puts(b, "[\n");
	for (unsigned i = 0; i < 2500; i++)
		buf_printf(
			b,
			"%s  {\"id\": %u, \"name\": \"sandbox-%u\", \"agent\": \"main\", \"running\": %s, \"cpu\": %u.%02u,\n"
			"   \"mounts\": [\"/workspace\", \"/agent\"], \"created\": \"2026-11-15T10:%02u:%02uZ\", \"exit\": null}",
			i ? ",\n" : "", i * 7919, i, i % 3 ? "true" : "false", i % 100, i * 37 % 100,
			i / 60 % 60, i % 60);
	buf_puts(b, "\n]\n");
}

static void tool_output(struct buf *b)
{
	buf_puts(b, "{\"exit\":0,\"stdout\":\"");
	for (unsigned i = 0; i < 12000; i++)
		buf_printf(
			b,
			"src/file_%u.c:%u:\\twarning: unused variable \\\"x%u\\\" in function 'f' na\xc3\xafve\\n",
			i, i * 13 % 997, i);
	buf_puts(b, "\",\"stderr\":\"\"}");
}

struct document {
	const char *name;
	void (*make)(struct buf *b);
};

static const struct document documents[] = {
	{ "small request", small_rpc },
	{ "list of records", record_list },
	{ "tool output", tool_output },
};

static double one_round(bool (*parse)(struct str), struct str text, double best)
{
	size_t n = ROUND_BYTES / text.n + 1;
	double start = seconds(), rate;

	for (size_t i = 0; i < n; i++)
		if (!parse(text))
			exit(2);
	rate = (double)(n * text.n) / (seconds() - start) / 1e6;
	return rate > best ? rate : best;
}

static bool compare(const struct document *d, uint64_t rounds)
{
	_cleanup_buf_ struct buf b;
	double ours = 0, theirs = 0;

	buf_init(&b, TEXT_MAX);
	d->make(&b);
	for (uint64_t i = 0; i < rounds; i++) {
		ours = one_round(parse_ours, buf_str(&b), ours);
		theirs = one_round(parse_jansson, buf_str(&b), theirs);
	}
	printf("%-16s %8zu bytes  creel %7.1f MB/s  jansson %7.1f MB/s  ratio %5.2f\n", d->name, b.n, ours,
	       theirs, ours / theirs);
	return ours >= (double)RATIO_MIN * theirs;
}

static bool read_rounds(int argc, char **argv, uint64_t *ret)
{
	if (argc == 1)
		return true;
	return argc == 3 && strcmp(argv[1], "--rounds") == 0 && str_to_u64(str_z(argv[2]), 1000, ret) == 0 &&
	       *ret > 0;
}

int main(int argc, char **argv)
{
	uint64_t rounds = ROUNDS;
	bool enough = true;

	if (!read_rounds(argc, argv, &rounds)) {
		fprintf(stderr, "usage: bench_json [--rounds N], N from 1 to 1000\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++)
		enough &= compare(&documents[i], rounds);
	if (rounds < ROUNDS || enough)
		return 0;
	fprintf(stderr, "bench_json: less than %d times jansson\n", RATIO_MIN);
	return 1;
}
