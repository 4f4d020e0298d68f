/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_http [--rounds N]: the heads of typical requests through our reader and http_parser's, in one interleaved run: a busy machine
 * slows both. The best round of each counts. http_parser gets callbacks that note where each part is, as ours does, and its strict
 * mode; it still takes seven of the 23 smuggling cases. Ends with status 1 when ours is slower; fewer rounds than usual are no
 * measurement, and only show that it still runs.
 */
#include "http/head.h"
#include "http_theirs.h"
#include "measure.h"

#include <stdio.h>
#include <time.h>

#define ROUND_BYTES ((size_t)8 << 20)
enum { ROUNDS = 15, FIELDS = 64 };

static bool parse_ours(struct str text)
{
	static struct http_field fields[FIELDS];
	struct http_head h;

	http_head_init(&h, HTTP_REQUEST, HTTP_OTHER, NULL, fields, FIELDS);
	return http_head_parse(&h, text) == HTTP_DONE && h.n_bytes == text.n;
}

static const struct {
	const char *name;
	struct str text;
} heads[] = {
	{ "curl",
	  STR("GET /health HTTP/1.1\r\nHost: 127.0.0.1:18888\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n\r\n") },
	{ "call of a tool",
	  STR("POST /v1/calls HTTP/1.1\r\nHost: 127.0.0.1:18888\r\nAccept-Encoding: identity\r\nContent-Length: 0\r\n"
	      "Content-Type: application/json\r\nAuthorization: Bearer 8Jx3mJ4rT0uYw2vXq7Zr1Kx93sLmN5pQ\r\n"
	      "User-Agent: python-requests/2.31.0\r\nAccept: text/event-stream\r\nConnection: keep-alive\r\n\r\n") },
	{ "browser",
	  STR("GET /dashboard/sessions?agent=main&state=live HTTP/1.1\r\nHost: localhost:18888\r\nConnection: keep-alive\r\n"
	      "Cache-Control: max-age=0\r\nsec-ch-ua: \"Chromium\";v=\"156\", \"Not A(Brand\";v=\"24\"\r\nsec-ch-ua-mobile: ?0\r\n"
	      "sec-ch-ua-platform: \"Linux\"\r\nUpgrade-Insecure-Requests: 1\r\n"
	      "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36\r\n"
	      "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n"
	      "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-User: ?1\r\nSec-Fetch-Dest: document\r\n"
	      "Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-US,en;q=0.9\r\n"
	      "Cookie: session=0123456789abcdef0123456789abcdef; theme=dark\r\n\r\n") },
};

/* Million heads in a second of processor time, if that is better than the best so far. */
static void one_round(bool (*parse)(struct str), struct str text, double *best)
{
	clock_t begin = clock();
	double rate;

	for (size_t left = ROUND_BYTES; left >= text.n; left -= text.n)
		if (!parse(text))
			measure_fail("a head was refused");
	rate = (double)(ROUND_BYTES / text.n) / ((double)(clock() - begin) / CLOCKS_PER_SEC) / 1e6;
	*best = rate > *best ? rate : *best;
}

static bool compare(const char *name, struct str text, unsigned rounds)
{
	double ours = 0, theirs = 0;

	for (unsigned i = 0; i < rounds; i++) {
		one_round(parse_ours, text, &ours);
		one_round(http_theirs, text, &theirs);
	}
	printf("%-16s %5zu bytes  creel %6.2f M heads/s (%4.0f ns)  http_parser %6.2f M heads/s (%4.0f ns)  ratio %5.2f\n",
	       name, text.n, ours, 1e3 / ours, theirs, 1e3 / theirs, ours / theirs);
	return ours >= theirs;
}

int main(int argc, char **argv)
{
	unsigned rounds = ROUNDS;
	bool enough = true;

	if (argc == 3 && strcmp(argv[1], "--rounds") == 0)
		rounds = measure_number(argv[1], argv[2], 1, 1000);
	else if (argc != 1)
		measure_fail("usage: bench_http [--rounds N], N from 1 to 1000");
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		enough &= compare(heads[i].name, heads[i].text, rounds);
	if (rounds >= ROUNDS && !enough)
		measure_fail("slower than http_parser");
	return 0;
}
