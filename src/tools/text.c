/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/tools_priv.h"

#include <unistd.h>

void text_done(struct text *t)
{
	free(t->p);
	*t = (struct text){ 0 };
}

static int grow(struct text *t, size_t *cap, size_t max)
{
	size_t more = *cap > max / 2 ? max : *cap * 2;
	char *p = realloc(t->p, more + 1);

	if (!p)
		return -ENOMEM;
	t->p = p;
	*cap = more;
	return 0;
}

static ssize_t read_some(int fd, char *p, size_t n, uint64_t at)
{
	ssize_t got;

	do
		got = pread(fd, p, n, (off_t)at);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

int text_read(int fd, uint64_t at, size_t max, uint64_t size, struct text *ret)
{
	uint64_t expect = size > at ? size - at : 4096; /* /proc says 0 */
	size_t cap = expect < max ? (size_t)expect : max;
	_cleanup_text_ struct text t = { .p = malloc(cap + 1) };
	ssize_t got;
	int r;

	if (!t.p)
		return -ENOMEM;
	while (t.n < max) {
		if (t.n == cap && (r = grow(&t, &cap, max)) < 0)
			return r;
		got = read_some(fd, t.p + t.n, cap - t.n, at + t.n);
		if (got < 0)
			return (int)got;
		t.n += (size_t)got;
		/* All that was there when it was opened: what came since is left for the next read, and saves this one a call. */
		if (got == 0 || (size > 0 && at + t.n == size))
			break;
	}
	t.p[t.n] = '\0';
	*ret = t;
	t.p = NULL;
	return 0;
}

int content_part(const struct files_content *c, uint64_t at, size_t max, struct text *ret)
{
	size_t n;

	if (!c->p)
		return text_read(c->fd, at, max, c->st.size, ret);
	n = at < c->n ? c->n - (size_t)at : 0;
	n = n < max ? n : max;
	ret->p = malloc(n + 1);
	if (!ret->p)
		return -ENOMEM;
	if (n)
		memcpy(ret->p, c->p + at, n);
	ret->p[n] = '\0';
	ret->n = n;
	return 0;
}

int content_take(struct files_content *c, size_t max, struct text *ret)
{
	if (!c->p)
		return text_read(c->fd, 0, max, c->st.size, ret);
	*ret = (struct text){ .p = c->p, .n = c->n < max ? c->n : max };
	ret->p[ret->n] = '\0';
	c->p = NULL;
	c->n = 0;
	return 0;
}

void content_done(struct files_content *c)
{
	free(c->p);
	(void)fd_close(c->fd);
	*c = CONTENT_NONE;
}

int tools_load(struct tool_ctx *x, struct str said, const char *path, struct text *ret,
	       struct files_stat *ret_st, struct err *e)
{
	_cleanup_content_ struct files_content c = CONTENT_NONE;
	int r = x->files->ops->get(x->files, path, 0, &c);

	if (r < 0)
		return tools_say(e, r, "read", said);
	*ret_st = c.st;
	if (c.st.size > TOOLS_FILE_BYTES)
		return err_set(e, ERR_LIMIT,
			       "'" STR_FMT "' has %llu bytes; a file that is changed may have %zu",
			       STR_ARG(said), (unsigned long long)c.st.size, TOOLS_FILE_BYTES);
	r = content_take(&c, TOOLS_FILE_BYTES, ret);
	return r < 0 ? tools_say(e, r, "read", said) : 0;
}

size_t text_count_lines(struct str s)
{
	size_t n = s.n > 0 && s.p[s.n - 1] != '\n';
	const char *p = s.p, *end = s.p + s.n;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		n++;
		p++;
	}
	return n;
}

bool text_next_line(struct str *rest, struct str *ret)
{
	const char *nl;

	if (rest->n == 0)
		return false;
	nl = memchr(rest->p, '\n', rest->n);
	*ret = (struct str){ .p = rest->p, .n = nl ? (size_t)(nl - rest->p) + 1 : rest->n };
	*rest = str_from(*rest, ret->n);
	return true;
}

size_t text_stump(struct str s, size_t *ret_missing)
{
	*ret_missing = 0;
	for (size_t back = 1; back <= 3 && back <= s.n; back++) {
		unsigned char c = (unsigned char)s.p[s.n - back];
		size_t needs = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

		if ((c & 0xc0) == 0x80)
			continue;
		if (needs <= back)
			return 0;
		*ret_missing = needs - back;
		return back;
	}
	return 0;
}

bool text_is_crlf(struct str s)
{
	const char *p = s.p, *end = s.p + s.n;
	bool any = false;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		if (p == s.p || p[-1] != '\r')
			return false;
		any = true;
		p++;
	}
	return any;
}

void text_put_base64(struct jsonw *w, struct str bytes)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = (const unsigned char *)bytes.p;
	char four[4];

	jsonw_raw(w, STR("\""));
	for (size_t i = 0; i < bytes.n; i += 3) {
		size_t left = bytes.n - i;
		unsigned v = (unsigned)p[i] << 16 | (left > 1 ? (unsigned)p[i + 1] << 8 : 0) |
			     (left > 2 ? p[i + 2] : 0);

		four[0] = digit[v >> 18];
		four[1] = digit[v >> 12 & 63];
		four[2] = left > 1 ? digit[v >> 6 & 63] : '=';
		four[3] = left > 2 ? digit[v & 63] : '=';
		buf_put(w->out, (struct str){ .p = four, .n = sizeof(four) });
	}
	buf_putc(w->out, '"');
}
