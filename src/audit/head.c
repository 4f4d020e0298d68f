/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head: one line of fixed length that says where the chain stands. It saves reading the log before each record, and it knows
 * how long the log was when somebody has cut it.
 */
#include "audit/audit_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static bool take_number(struct str *rest, uint64_t *ret)
{
	struct str digits;

	return str_cut(*rest, ' ', &digits, rest) && digits.n == 20 &&
	       str_to_u64(digits, UINT64_MAX, ret) == 0;
}

static bool is_hash(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!(s.p[i] >= '0' && s.p[i] <= '9') && !(s.p[i] >= 'a' && s.p[i] <= 'f'))
			return false;
	return s.n == SHA256_HEX - 1;
}

static bool parse(struct str text, struct head *ret)
{
	struct str rest = str_from(text, sizeof(HEAD_MAGIC) - 1);

	if (!str_starts(text, STR(HEAD_MAGIC)) || !str_ends(text, STR("\n")))
		return false;
	if (!take_number(&rest, &ret->seq) || !take_number(&rest, &ret->size) ||
	    !take_number(&rest, &ret->first))
		return false;
	rest.n--;
	if (!is_hash(rest) || ret->first == 0 || ret->first > ret->seq + 1 || ret->seq == UINT64_MAX)
		return false;
	memcpy(ret->hash, rest.p, rest.n);
	ret->hash[rest.n] = '\0';
	return true;
}

/* What nobody has changed since says what it said: usually, between two records of one call. */
int head_read_again(int fd, struct head_seen *seen, struct head *ret)
{
	char text[HEAD_BYTES + 1];
	struct head h = { 0 };
	ssize_t n = pread(fd, text, sizeof(text), 0);

	if (n < 0)
		return -errno;
	if (n == 0)
		return 0;
	/* Nothing was seen: nothing is the same, not even nothing. */
	if (seen->text[0] && n == (ssize_t)HEAD_BYTES && memcmp(text, seen->text, HEAD_BYTES) == 0) {
		*ret = seen->head;
		return 1;
	}
	if (n != (ssize_t)HEAD_BYTES || !parse((struct str){ .p = text, .n = (size_t)n }, &h))
		return -EBADMSG;
	memcpy(seen->text, text, HEAD_BYTES);
	seen->head = *ret = h;
	return 1;
}

/* Without the lock: half of another one's line counts as well as all of it. */
bool head_moved(int fd, char mark[static HEAD_BYTES])
{
	char text[HEAD_BYTES] = { 0 };
	ssize_t n = pread(fd, text, sizeof(text), 0);
	bool moved = n > 0 && memcmp(text, mark, HEAD_BYTES) != 0;

	memcpy(mark, text, HEAD_BYTES);
	return moved;
}

int head_read(int fd, struct head *ret)
{
	struct head_seen nothing = { .head = { .seq = 0 } };

	return head_read_again(fd, &nothing, ret);
}

static char *put_number(char *at, uint64_t v)
{
	for (int i = 19; i >= 0; i--, v /= 10)
		at[i] = (char)('0' + v % 10);
	at[20] = ' ';
	return at + 21;
}

int head_write(int fd, const struct head *h, struct head_seen *seen)
{
	char text[HEAD_BYTES], *at = text + sizeof(HEAD_MAGIC) - 1;
	ssize_t n;

	memcpy(text, HEAD_MAGIC, sizeof(HEAD_MAGIC) - 1);
	at = put_number(at, h->seq);
	at = put_number(at, h->size);
	at = put_number(at, h->first);
	memcpy(at, h->hash, SHA256_HEX - 1);
	at[SHA256_HEX - 1] = '\n';
	n = pwrite(fd, text, HEAD_BYTES, 0);
	if (n < 0)
		return -errno;
	if (n != (ssize_t)HEAD_BYTES)
		return -ENOSPC;
	memcpy(seen->text, text, HEAD_BYTES);
	seen->head = *h;
	return 0;
}

void head_old_name(uint64_t first, char out[static FILE_NAME_MAX])
{
	(void)snprintf(out, FILE_NAME_MAX, "audit-%020" PRIu64 ".jsonl", first);
}
