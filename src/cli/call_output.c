/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tool prints, passed on as it comes: stdout to stdout, stderr to stderr. On a terminal it is made safe, because what prints there is a
 * stranger; into files and pipes it goes as it is.
 */
#include "cli/session.h"

#include "base/fd.h"
#include "base/termsafe.h"

#include <errno.h>
#include <unistd.h>

#define PIECE ((size_t)16 << 10)

struct stream {
	int fd;
	bool terminal;
	struct termsafe safe;
};

int output_open(struct cli *cli, struct output *o, struct err *e)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stream *s = ARENA_NEW(cli->arena, struct stream);

		if (!s)
			return err_set(e, ERR_LIMIT, "out of memory");
		*s = (struct stream){ .fd = fd,
				      .terminal = isatty(fd) == 1,
				      .safe = { .ascii = !output_reads_utf8(cli) } };
		o->stream[fd] = s;
	}
	return 0;
}

static int put_piece(struct stream *s, struct str piece, bool last)
{
	_cleanup_buf_ struct buf text = { 0 };

	if (!s->terminal)
		return fd_write_all(s->fd, piece);
	buf_init(&text, TERMSAFE_ROOM(PIECE));
	termsafe_put(&s->safe, piece, &text);
	if (last)
		termsafe_end(&s->safe, &text);
	return text.failed ? -ENOMEM : fd_write_all(s->fd, buf_str(&text));
}

int output_stream(void *ctx, int stream, const char *data, size_t n)
{
	struct output *o = ctx;
	struct str rest = { .p = data, .n = n };
	int r = 0;

	if (stream != CREEL_STDOUT && stream != CREEL_STDERR)
		return 0;
	o->any = true;
	while (rest.n && r >= 0) {
		size_t take = rest.n < PIECE ? rest.n : PIECE;

		r = put_piece(o->stream[stream], (struct str){ .p = rest.p, .n = take }, false);
		rest = str_from(rest, take);
	}
	if (r >= 0)
		return 0;
	o->failed = -r; /* nobody reads it any more: no use in going on */
	return 1;
}

void output_close(struct output *o)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (o->stream[fd] && o->stream[fd]->terminal)
			(void)put_piece(o->stream[fd], (struct str){ .p = "" }, true);
}
