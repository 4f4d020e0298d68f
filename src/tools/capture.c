/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/capture.h"

#include "base/fd.h"
#include "base/utf8.h"
#include "tools/tools_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#define MFD_NOEXEC_SEAL_ 8u /* since Linux 6.3 */

void capture_init(struct capture *c, size_t max, uint64_t spill_max, int spill_dir)
{
	*c = (struct capture){ .max = max,
			       .head_max = max - max / 4,
			       .spill_max = spill_max,
			       .spill_dir = spill_dir,
			       .spill = FD_NONE };
	buf_init(&c->head, c->head_max + 1);
}

void capture_done(struct capture *c)
{
	buf_done(&c->head);
	free(c->tail);
	c->tail = NULL;
	c->spill = fd_close(c->spill);
}

/* ---- the file ---- */

static int open_spill(const struct capture *c)
{
	int fd = c->spill_dir >= 0 ? openat(c->spill_dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
				   : memfd_create("creel-output", MFD_CLOEXEC | MFD_NOEXEC_SEAL_);

	if (fd < 0 && errno == EINVAL && c->spill_dir < 0)
		fd = memfd_create("creel-output", MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void spill(struct capture *c, struct str bytes)
{
	uint64_t room = c->spill_max - c->spilled;
	int r;

	if (c->spill < 0 || c->spill_err < 0)
		return;
	if (bytes.n > room)
		bytes.n = (size_t)room;
	r = fd_write_all(c->spill, bytes);
	if (r < 0)
		c->spill_err = r;
	else
		c->spilled += bytes.n;
}

/* The ring in order: its older part first. */
static void tail_parts(const struct capture *c, struct str ret[static 2])
{
	const size_t size = c->max - c->head_max;

	ret[0] = ret[1] = (struct str){ .p = c->tail ? c->tail : "", .n = 0 };
	if (c->tail_n < size) {
		ret[0].n = c->tail_n;
		return;
	}
	ret[0] = (struct str){ .p = c->tail + c->tail_at, .n = size - c->tail_at };
	ret[1].n = c->tail_at;
}

/* It becomes more than is kept: from now on everything is in the file, from the first byte on. */
static void begin_spill(struct capture *c)
{
	struct str parts[2];
	int fd;

	if (c->spill_max == 0 || c->spill >= 0 || c->spill_err < 0)
		return;
	fd = open_spill(c);
	if (fd < 0) {
		c->spill_err = fd;
		return;
	}
	c->spill = fd;
	spill(c, buf_str(&c->head));
	tail_parts(c, parts);
	spill(c, parts[0]);
	spill(c, parts[1]);
}

/* ---- the two parts ---- */

static int put_tail(struct capture *c, struct str bytes)
{
	const size_t size = c->max - c->head_max;

	if (size == 0 || bytes.n == 0)
		return 0;
	if (!c->tail && !(c->tail = malloc(size)))
		return -ENOMEM;
	if (bytes.n > size) {
		bytes = str_from(bytes, bytes.n - size);
		c->tail_at = 0;
	}
	while (bytes.n > 0) {
		size_t n = size - c->tail_at < bytes.n ? size - c->tail_at : bytes.n;

		memcpy(c->tail + c->tail_at, bytes.p, n);
		c->tail_at = (c->tail_at + n) % size;
		c->tail_n = c->tail_n + n < size ? c->tail_n + n : size;
		bytes = str_from(bytes, n);
	}
	return 0;
}

int capture_put(struct capture *c, struct str bytes)
{
	struct str first = bytes;
	size_t room = c->head_max - c->head.n;

	if (c->total + bytes.n > c->max)
		begin_spill(c);
	spill(c, bytes);
	c->total += bytes.n;
	if (first.n > room)
		first.n = room;
	buf_put(&c->head, first);
	if (c->head.failed)
		return -ENOMEM;
	return put_tail(c, str_from(bytes, first.n));
}

/* ---- telling ---- */

static struct str without_stump(struct str s)
{
	size_t missing;

	s.n -= text_stump(s, &missing);
	return s;
}

static struct str without_rest(struct str s)
{
	size_t skip = 0;

	while (skip < 3 && skip < s.n && ((unsigned char)s.p[skip] & 0xc0) == 0x80)
		skip++;
	return str_from(s, skip);
}

void capture_text(const struct capture *c, struct str log, struct buf *out)
{
	struct str head = buf_str(&c->head), parts[2];
	uint64_t shown;

	tail_parts(c, parts);
	if (capture_is_cut(c)) {
		head = without_stump(head);
		if (parts[0].n > 3)
			parts[0] = without_rest(parts[0]);
		shown = head.n + parts[0].n + parts[1].n;
		buf_put(out, head);
		buf_printf(out, "\n[%" PRIu64 " bytes are left out here", c->total - shown);
		if (log.n)
			buf_printf(out, "; process log %.*s has them", (int)log.n, log.p);
		buf_puts(out, "]\n");
	} else
		buf_put(out, head);
	buf_put(out, parts[0]);
	buf_put(out, parts[1]);
}

struct str capture_front(const struct capture *c, size_t characters, bool *ret_cut)
{
	struct str head = buf_str(&c->head);
	size_t at = 0, n = 0;

	if (capture_is_cut(c))
		head = without_stump(head);
	while (at < head.n && n < characters) {
		uint32_t cp;
		int k = utf8_decode(str_from(head, at), &cp);

		at += (size_t)(k < 0 ? -k : k);
		n++;
	}
	*ret_cut = at < c->total;
	return (struct str){ .p = head.p, .n = at };
}
