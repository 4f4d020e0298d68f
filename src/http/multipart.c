/* SPDX-License-Identifier: Apache-2.0 */
#include "http/multipart.h"

#include "http/chars.h"
#include "http/params.h"

#include <errno.h>

enum { AT_FIRST = 0, AT_DATA, AT_HEAD, AT_LAST, AT_END, AT_BAD };

static enum multipart_event bad(struct multipart *m, const char *reason)
{
	m->state = AT_BAD;
	m->reason = reason;
	return MULTIPART_BAD;
}

/* RFC 2046's alphabet; a space may be inside. */
static bool boundary_ok(struct str b)
{
	for (size_t i = 0; i < b.n; i++) {
		bool other = memchr("'()+_,-./:=? ", b.p[i], 13);

		if (!other && !((b.p[i] | 0x20) >= 'a' && (b.p[i] | 0x20) <= 'z') &&
		    !http_char(b.p[i], CHAR_DIGIT))
			return false;
	}
	return b.n > 0 && b.n <= MULTIPART_BOUNDARY_MAX && b.p[b.n - 1] != ' ';
}

int multipart_init(struct multipart *m, struct str content_type, unsigned max_parts)
{
	const struct str wanted = STR("multipart/form-data");
	struct str rest, name, value, boundary = { 0 };
	int r;

	if (content_type.n < wanted.n || !str_eq_nocase((struct str){ content_type.p, wanted.n }, wanted))
		return -EINVAL;
	rest = str_from(content_type, wanted.n);
	while ((r = http_param_next(&rest, &name, &value)) > 0) {
		if (!str_eq_nocase(name, STR("boundary")))
			continue;
		if (boundary.n > 0 || !boundary_ok(value))
			return -EINVAL;
		boundary = value;
	}
	if (r < 0 || boundary.n == 0)
		return -EINVAL;
	*m = (struct multipart){ .parts_left = max_parts, .n_delimiter = (uint8_t)(boundary.n + 4) };
	memcpy(m->delimiter, "\r\n--", 4);
	memcpy(m->delimiter + 4, boundary.p, boundary.n);
	return 0;
}

/* One parameter of Content-Disposition, at most once each. */
static bool set_once(struct str *where, bool *has, struct str value)
{
	if (*has)
		return false;
	*has = true;
	*where = value;
	return true;
}

static bool disposition(struct multipart *m, struct str value, bool *has_name)
{
	const struct str wanted = STR("form-data");
	struct str rest, key, text;
	int r;

	if (value.n < wanted.n || !str_eq_nocase((struct str){ value.p, wanted.n }, wanted))
		return false;
	rest = str_from(value, wanted.n);
	while ((r = http_param_next(&rest, &key, &text)) > 0) {
		if (str_eq_nocase(key, STR("name")) && !set_once(&m->name, has_name, text))
			return false;
		if (str_eq_nocase(key, STR("filename")) && !set_once(&m->filename, &m->has_filename, text))
			return false;
	}
	return r == 0 && *has_name;
}

/* The lines of a part's head, without the empty one. */
static enum multipart_event read_head(struct multipart *m, struct str head)
{
	bool has_name = false, has_type = false;

	m->name = m->filename = m->type = (struct str){ .p = "", .n = 0 };
	m->has_filename = false;
	while (head.n > 0) {
		const char *end = memmem(head.p, head.n, "\r\n", 2);
		struct str line = { head.p, end ? (size_t)(end - head.p) : head.n }, value;
		size_t n = http_span_of(line, CHAR_TOKEN);

		head = end ? str_from(head, line.n + 2) : str_from(head, head.n);
		value = http_trim(str_from(line, n + 1));
		if (n == 0 || n == line.n || line.p[n] != ':' || http_span_field(value) != value.n)
			return bad(m, "a field of a part is not a name, a colon and a value");
		line.n = n;
		if (str_eq_nocase(line, STR("content-disposition")) &&
		    (has_name || !disposition(m, value, &has_name)))
			return bad(m, "Content-Disposition of a part is not 'form-data; name=\"...\"'");
		if (str_eq_nocase(line, STR("content-type")) && !set_once(&m->type, &has_type, value))
			return bad(m, "a part has two types");
		if (str_eq_nocase(line, STR("content-transfer-encoding")))
			return bad(m, "a part has a Content-Transfer-Encoding");
	}
	m->state = AT_DATA;
	m->data_began = false;
	return has_name ? MULTIPART_PART : bad(m, "a part has no name");
}

static enum multipart_event at_head(struct multipart *m, struct str *in)
{
	size_t n = in->n < MULTIPART_HEAD_MAX ? in->n : MULTIPART_HEAD_MAX;
	const char *end = memmem(in->p, n, "\r\n\r\n", 4);
	struct str head;

	if (!end)
		return n < MULTIPART_HEAD_MAX ? MULTIPART_MORE : bad(m, "the head of a part is too long");
	head = (struct str){ in->p, (size_t)(end - in->p) };
	/* The data's first delimiter may begin with this very line end: an empty part. */
	*in = str_from(*in, head.n + 2);
	if (m->parts_left == 0)
		return bad(m, "there are more parts than are taken");
	m->parts_left--;
	return read_head(m, head);
}

/* Behind a delimiter: another part, or the end. */
static enum multipart_event behind_delimiter(struct multipart *m, struct str *in, size_t n_delimiter,
					     bool first)
{
	const char *p = in->p + n_delimiter;

	if (in->n < n_delimiter + 2)
		return MULTIPART_MORE;
	if (memcmp(p, "\r\n", 2) == 0)
		m->state = AT_HEAD;
	else if (memcmp(p, "--", 2) == 0)
		m->state = AT_LAST;
	else
		return bad(m, "a boundary is not followed by CR LF or '--'");
	*in = str_from(*in, n_delimiter + 2);
	return first ? MULTIPART_MORE : MULTIPART_PART_END;
}

static enum multipart_event at_first(struct multipart *m, struct str *in)
{
	size_t n = m->n_delimiter - 2u, have = in->n < n ? in->n : n;

	if (have > 0 && memcmp(in->p, m->delimiter + 2, have) != 0)
		return bad(m, "the body does not begin with the boundary");
	return have < n ? MULTIPART_MORE : behind_delimiter(m, in, n, true);
}

/* How much of the front is data for certain: no delimiter begins in it. */
static size_t certain_data(const struct multipart *m, struct str s)
{
	const char *found = memmem(s.p, s.n, m->delimiter, m->n_delimiter);
	size_t from = s.n < m->n_delimiter ? 0 : s.n - m->n_delimiter + 1;

	if (found)
		return (size_t)(found - s.p);
	for (size_t i = from; i < s.n; i++)
		if (memcmp(s.p + i, m->delimiter, s.n - i) == 0)
			return i;
	return s.n;
}

/*
 * The line end before the data has been left in place by at_head(): with a boundary right behind it the part is empty, else
 * it is dropped.
 */
static bool begin_data(struct multipart *m, struct str *in)
{
	size_t have = in->n < m->n_delimiter ? in->n : m->n_delimiter;

	if (m->data_began)
		return true;
	if (have == 0 || memcmp(in->p, m->delimiter, have) != 0)
		*in = str_from(*in, have ? 2 : 0);
	else if (have < m->n_delimiter)
		return false;
	m->data_began = have > 0;
	return m->data_began;
}

static enum multipart_event at_data(struct multipart *m, struct str *in, struct str *ret)
{
	size_t n;

	if (!begin_data(m, in))
		return MULTIPART_MORE;
	n = certain_data(m, *in);
	if (n > 0) {
		*ret = (struct str){ in->p, n };
		*in = str_from(*in, n);
		return MULTIPART_DATA;
	}
	return in->n < m->n_delimiter ? MULTIPART_MORE : behind_delimiter(m, in, m->n_delimiter, false);
}

/* Behind the last boundary: one line end, or nothing. */
static enum multipart_event at_last(struct multipart *m, struct str *in)
{
	if (in->n == 0)
		return MULTIPART_END;
	if (m->state == AT_END || memcmp(in->p, "\r\n", in->n < 2 ? 1 : 2) != 0)
		return bad(m, "something follows the last boundary");
	if (in->n == 1)
		return MULTIPART_MORE;
	*in = str_from(*in, 2);
	m->state = AT_END;
	return at_last(m, in);
}

static enum multipart_event step(struct multipart *m, struct str *in, struct str *ret)
{
	switch (m->state) {
	case AT_FIRST:
		return at_first(m, in);
	case AT_HEAD:
		return at_head(m, in);
	case AT_DATA:
		return at_data(m, in, ret);
	case AT_LAST:
	case AT_END:
		return at_last(m, in);
	default:
		return MULTIPART_BAD;
	}
}

enum multipart_event multipart_next(struct multipart *m, struct str *in, struct str *ret)
{
	for (;;) {
		unsigned before = m->state;
		enum multipart_event e = step(m, in, ret);

		if (e != MULTIPART_MORE || m->state == before)
			return e;
	}
}
