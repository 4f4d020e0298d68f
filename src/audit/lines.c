/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/audit_priv.h"

#include <stdlib.h>
#include <unistd.h>

int lines_init(struct lines *l, int fd, uint64_t from, uint64_t end)
{
	*l = (struct lines){ .fd = fd, .at = from, .end = end, .buf = malloc(AUDIT_LINE_MAX) };
	return l->buf ? 0 : -ENOMEM;
}

void lines_done(struct lines *l)
{
	free(l->buf);
	*l = (struct lines){ .fd = FD_NONE };
}

/* Moves what is left to the front and reads on. How much is there then; less than the buffer holds only at the end. */
static int fill(struct lines *l)
{
	memmove(l->buf, l->buf + l->used, l->n - l->used);
	l->n -= l->used;
	l->used = 0;
	while (l->n < AUDIT_LINE_MAX && l->at + l->n < l->end) {
		uint64_t left = l->end - l->at - l->n;
		size_t want = left < AUDIT_LINE_MAX - l->n ? (size_t)left : AUDIT_LINE_MAX - l->n;
		ssize_t got = pread(l->fd, l->buf + l->n, want, (off_t)(l->at + l->n));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			l->end = l->at + l->n; /* cut while we read */
		l->n += (size_t)got;
	}
	return 0;
}

static size_t take(struct lines *l, size_t n)
{
	l->used += n;
	l->at += n;
	return n;
}

/* Everything up to the next newline, or to the end: too long for a record, or torn. */
static int skip(struct lines *l, struct line *ret)
{
	unsigned char digest[SHA256_BYTES];
	struct sha256 c;

	sha256_init(&c);
	for (;;) {
		struct str have = { .p = l->buf + l->used, .n = l->n - l->used }, head = have, rest;

		ret->whole = str_cut(have, '\n', &head, &rest);
		sha256_add(&c, head);
		ret->bytes += take(l, head.n + ret->whole);
		if (ret->whole)
			break;
		if (fill(l) < 0)
			return -EIO;
		if (l->n == 0)
			break;
		ret->too_long = true;
	}
	sha256_end(&c, digest);
	hash_to_hex(digest, sizeof(digest), ret->hash);
	return 1;
}

int lines_next(struct lines *l, struct line *ret)
{
	struct str have = { .p = l->buf + l->used, .n = l->n - l->used }, text, rest;

	*ret = (struct line){ .at = l->at };
	if (!str_cut(have, '\n', &text, &rest)) {
		int r = fill(l);

		if (r < 0)
			return r;
		have = (struct str){ .p = l->buf, .n = l->n };
		if (have.n == 0)
			return 0;
		if (!str_cut(have, '\n', &text, &rest))
			return skip(l, ret);
	}
	ret->text = text;
	ret->whole = true;
	ret->bytes = take(l, text.n + 1);
	return 1;
}
