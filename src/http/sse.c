/* SPDX-License-Identifier: Apache-2.0 */
#include "http/sse.h"

#include <errno.h>
#include <inttypes.h>

static bool is_one_line(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\r' || s.p[i] == '\n' || s.p[i] == '\0')
			return false;
	return true;
}

static void put_field(struct buf *out, const char *name, struct str value)
{
	buf_puts(out, name);
	buf_puts(out, ": ");
	buf_put(out, value);
	buf_putc(out, '\n');
}

/* A reader ends a line at CR, LF or CR LF, so each of them ends one here. */
static void put_data(struct buf *out, struct str data)
{
	for (;;) {
		size_t n = 0;

		while (n < data.n && data.p[n] != '\r' && data.p[n] != '\n')
			n++;
		put_field(out, "data", (struct str){ data.p, n });
		if (n == data.n)
			return;
		n += data.p[n] == '\r' && n + 1 < data.n && data.p[n + 1] == '\n' ? 2 : 1;
		data = str_from(data, n);
	}
}

int sse_write(struct buf *out, const struct sse_event *e)
{
	if (!is_one_line(e->type) || (e->has_id && !is_one_line(e->id)))
		return -EINVAL;
	if (e->type.n > 0)
		put_field(out, "event", e->type);
	if (e->has_id)
		put_field(out, "id", e->id);
	if (e->retry_ms != SSE_NO_RETRY)
		buf_printf(out, "retry: %" PRIu64 "\n", e->retry_ms);
	put_data(out, e->data);
	buf_putc(out, '\n');
	return 0;
}

int sse_write_comment(struct buf *out, struct str text)
{
	if (!is_one_line(text))
		return -EINVAL;
	buf_puts(out, ": ");
	buf_put(out, text);
	buf_puts(out, "\n\n");
	return 0;
}

void sse_reader_init(struct sse_reader *r, size_t max_bytes)
{
	*r = (struct sse_reader){ .retry_ms = SSE_NO_RETRY };
	buf_init(&r->line, max_bytes);
	buf_init(&r->type, max_bytes);
	buf_init(&r->data, max_bytes);
	buf_init(&r->id, max_bytes);
}

void sse_reader_done(struct sse_reader *r)
{
	buf_done(&r->line);
	buf_done(&r->type);
	buf_done(&r->data);
	buf_done(&r->id);
}

/* Keeps the memory for the next one. */
static void empty(struct buf *b)
{
	b->n = 0;
}

static void replace(struct buf *b, struct str s)
{
	empty(b);
	buf_put(b, s);
}

static int dispatch(struct sse_reader *r, sse_fn *fn, void *ctx)
{
	struct sse_event e = { .type = buf_str(&r->type),
			       .data = buf_str(&r->data),
			       .id = buf_str(&r->id),
			       .has_id = r->has_id,
			       .retry_ms = r->retry_ms };
	int result = r->has_data ? fn(ctx, &e) : 0;

	empty(&r->type);
	empty(&r->data);
	r->has_data = r->has_id = false;
	r->retry_ms = SSE_NO_RETRY;
	return result;
}

static void on_data(struct sse_reader *r, struct str value)
{
	if (r->has_data)
		buf_putc(&r->data, '\n');
	buf_put(&r->data, value);
	r->has_data = true;
}

static void on_type(struct sse_reader *r, struct str value)
{
	replace(&r->type, value);
}

static void on_id(struct sse_reader *r, struct str value)
{
	if (value.n > 0 && memchr(value.p, '\0', value.n))
		return;
	replace(&r->id, value);
	r->has_id = true;
}

static void on_retry(struct sse_reader *r, struct str value)
{
	uint64_t ms;

	if (str_to_u64(value, SSE_NO_RETRY - 1, &ms) == 0)
		r->retry_ms = ms;
}

static const struct {
	struct str name;
	void (*set)(struct sse_reader *r, struct str value);
} fields[] = {
	{ STR("data"), on_data },
	{ STR("event"), on_type },
	{ STR("id"), on_id },
	{ STR("retry"), on_retry },
};

static int on_line(struct sse_reader *r, struct str line, sse_fn *fn, void *ctx)
{
	struct str name = line, value = { .p = "", .n = 0 };

	if (!r->began && str_starts(line, STR("\xef\xbb\xbf")))
		line = name = str_from(line, 3);
	r->began = true;
	if (line.n == 0)
		return dispatch(r, fn, ctx);
	if (str_cut(line, ':', &name, &value) && value.n > 0 && value.p[0] == ' ')
		value = str_from(value, 1);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (str_eq(name, fields[i].name))
			fields[i].set(r, value);
	return 0;
}

static int read_status(const struct sse_reader *r)
{
	return r->line.failed || r->type.failed || r->data.failed || r->id.failed ? -EMSGSIZE : 0;
}

int sse_read(struct sse_reader *r, struct str bytes, sse_fn *fn, void *ctx)
{
	int result = read_status(r);

	while (bytes.n > 0 && result == 0) {
		size_t n = 0;

		/* The LF of a CR LF whose line has ended with the CR. */
		if (r->after_cr && bytes.p[0] == '\n') {
			r->after_cr = false;
			bytes = str_from(bytes, 1);
			continue;
		}
		r->after_cr = false;
		while (n < bytes.n && bytes.p[n] != '\r' && bytes.p[n] != '\n')
			n++;
		buf_put(&r->line, (struct str){ bytes.p, n });
		if (n < bytes.n && !r->line.failed) {
			r->after_cr = bytes.p[n] == '\r';
			result = on_line(r, buf_str(&r->line), fn, ctx);
			empty(&r->line);
			n++;
		}
		bytes = str_from(bytes, n);
		result = result < 0 ? result : read_status(r);
	}
	return result;
}
