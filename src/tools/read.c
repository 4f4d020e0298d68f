/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read: a part of a file, by lines or by bytes. At most limits.read bytes unless told, and never more than limits.read_max;
 * what is left out is never held in memory, however large the file is.
 */
#include "tools/tools_priv.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <unistd.h>

#define HEAD_BYTES ((size_t)8192)
#define CHUNK_BYTES ((size_t)64 * 1024)
/* Beyond this the lines that are left out are not counted. */
#define COUNT_BYTES ((uint64_t)256 << 20)

struct reading {
	struct str said;
	struct files_content file;
	size_t max_bytes;
	bool by_bytes;
	uint64_t first_line, n_lines; /* by lines: from 1; UINT64_MAX = all */
	uint64_t at, total;           /* bytes: where the text starts, how many the file has */
	uint64_t total_lines;
	bool lines_known;
	struct text text;
	struct mime mime;
};

static void reading_done(struct reading *rd)
{
	text_done(&rd->text);
	content_done(&rd->file);
}

static uint64_t or_default(uint64_t v, uint64_t def)
{
	return v ? v : def;
}

static int take_range(const struct tool_ctx *x, const struct tool_in *in, struct reading *rd, struct err *e)
{
	bool lines = in->v[READ_OFFSET] || in->v[READ_LIMIT];
	uint64_t most = or_default(x->read_max, TOOLS_READ_MAX);
	uint64_t want = or_default(x->read_bytes, TOOLS_READ_BYTES);

	rd->by_bytes = in->v[READ_BYTE_OFFSET] || in->v[READ_BYTE_LIMIT];
	if (lines && rd->by_bytes)
		return err_set(
			e, ERR_USAGE,
			"read: give offset and limit (lines) or byteOffset and byteLimit (bytes), not both");
	want = (uint64_t)tools_int(in, READ_BYTE_LIMIT, (int64_t)(want < most ? want : most));
	if (want > most)
		return err_set(e, ERR_LIMIT,
			       "read: byteLimit is %" PRIu64 ", and may be %" PRIu64 " (limits.read_max)",
			       want, most);
	if (in->v[READ_LIMIT])
		want = most; /* who says how many lines means all of them */
	rd->max_bytes = (size_t)want;
	rd->first_line = (uint64_t)tools_int(in, READ_OFFSET, 1);
	rd->n_lines = in->v[READ_LIMIT] ? (uint64_t)in->v[READ_LIMIT]->i : UINT64_MAX;
	rd->at = (uint64_t)tools_int(in, READ_BYTE_OFFSET, 0);
	return 0;
}

static ssize_t read_at(const struct reading *rd, char *p, size_t n, uint64_t at)
{
	const struct files_content *c = &rd->file;
	ssize_t got;

	if (c->p) {
		n = at >= c->n ? 0 : n < c->n - at ? n : c->n - (size_t)at;
		if (n)
			memcpy(p, c->p + at, n);
		return (ssize_t)n;
	}
	got = pread(c->fd, p, n, (off_t)at);
	return got < 0 ? -errno : got;
}

/* Walks over `lines` line ends from *at on, or to the end; says how many there were. */
static int skip_lines(const struct reading *rd, uint64_t *at, uint64_t lines, uint64_t *ret_seen,
		      bool *ret_open)
{
	_cleanup_free_ char *chunk = malloc(CHUNK_BYTES);
	uint64_t seen = 0;
	char last = '\n';

	if (!chunk)
		return -ENOMEM;
	while (seen < lines) {
		ssize_t got = read_at(rd, chunk, CHUNK_BYTES, *at);
		const char *p = chunk;

		if (got < 0)
			return (int)got;
		if (got == 0)
			break;
		while (seen < lines && (p = memchr(p, '\n', (size_t)(chunk + got - p)))) {
			p++;
			seen++;
		}
		*at += seen == lines ? (uint64_t)(p - chunk) : (uint64_t)got;
		last = seen == lines ? '\n' : chunk[got - 1];
	}
	*ret_seen = seen;
	*ret_open = last != '\n';
	return 0;
}

/* Without the first bytes of a character at the end; text that is not UTF-8 stays as it is. */
static size_t whole_chars(struct str s)
{
	size_t valid = utf8_valid_prefix(s);

	return valid > 0 && s.n - valid < 4 ? valid : s.n;
}

/* Keeps whole lines, as many as are wanted; one that is too long by itself is cut. */
static void keep_lines(struct reading *rd)
{
	struct str rest = text_str(&rd->text), line;
	bool ends_here = rd->at + rd->text.n >= rd->total;
	size_t kept = 0;

	for (uint64_t i = 0; i < rd->n_lines && text_next_line(&rest, &line); i++) {
		bool whole = line.p[line.n - 1] == '\n' || (rest.n == 0 && ends_here);

		if (!whole && kept > 0)
			break;
		kept += whole ? line.n : whole_chars(line);
	}
	rd->text.n = kept;
}

static int count_rest(struct reading *rd)
{
	uint64_t at = rd->at + rd->text.n, seen = 0;
	bool open = false;
	int r;

	rd->total_lines = rd->first_line - 1 + text_count_lines(text_str(&rd->text));
	rd->lines_known = at >= rd->total;
	if (rd->lines_known || rd->total > COUNT_BYTES)
		return 0;
	/* A line that was cut goes on: it has been counted. */
	open = rd->text.n > 0 && rd->text.p[rd->text.n - 1] != '\n';
	rd->total_lines -= open;
	r = skip_lines(rd, &at, UINT64_MAX, &seen, &open);
	if (r < 0)
		return r;
	rd->total_lines += seen + open;
	rd->lines_known = true;
	return 0;
}

/* A few lines of a large file should not cost more than a few lines: a guess first, the most only when that was not enough. */
static size_t guess(const struct reading *rd)
{
	if (rd->by_bytes || rd->n_lines >= rd->max_bytes / 256)
		return rd->max_bytes;
	return HEAD_BYTES + (size_t)rd->n_lines * 256 < rd->max_bytes ? HEAD_BYTES + (size_t)rd->n_lines * 256
								      : rd->max_bytes;
}

static bool has_enough(const struct reading *rd)
{
	return rd->text.n >= rd->max_bytes || rd->at + rd->text.n >= rd->total ||
	       text_count_lines(text_str(&rd->text)) > rd->n_lines;
}

static int load_enough(struct reading *rd)
{
	int r = 0;

	if (rd->at > 0) {
		text_done(&rd->text);
		r = content_part(&rd->file, rd->at, guess(rd), &rd->text);
	}
	if (r < 0 || has_enough(rd))
		return r;
	text_done(&rd->text);
	return content_part(&rd->file, rd->at, rd->max_bytes, &rd->text);
}

static int load_lines(struct reading *rd, struct err *e)
{
	uint64_t seen = 0;
	bool open = false;
	int r = rd->first_line > 1 ? skip_lines(rd, &rd->at, rd->first_line - 1, &seen, &open) : 0;

	if (r < 0)
		return tools_say(e, r, "read", rd->said);
	if (rd->first_line > 1 && (seen < rd->first_line - 1 || rd->at >= rd->total))
		return err_set(e, ERR_USAGE,
			       "read: offset is line %" PRIu64 ", and '" STR_FMT "' has %" PRIu64 " lines",
			       rd->first_line, STR_ARG(rd->said), seen + open);
	r = load_enough(rd);
	if (r == 0 && rd->at + rd->text.n > rd->total)
		rd->total = rd->at + rd->text.n; /* /proc: the size is what came */
	if (r == 0 && (rd->n_lines != UINT64_MAX || rd->at + rd->text.n < rd->total))
		keep_lines(rd);
	if (r == 0)
		r = count_rest(rd);
	return r < 0 ? tools_say(e, r, "read", rd->said) : 0;
}

static int load_bytes(struct reading *rd, struct err *e)
{
	int r = 0;

	if (rd->at > rd->total)
		return err_set(e, ERR_USAGE,
			       "read: byteOffset is %" PRIu64 ", and '" STR_FMT "' has %" PRIu64 " bytes",
			       rd->at, STR_ARG(rd->said), rd->total);
	if (rd->at > 0 || !rd->text.p) {
		text_done(&rd->text);
		r = content_part(&rd->file, rd->at, rd->max_bytes, &rd->text);
	}
	if (r < 0)
		return tools_say(e, r, "read", rd->said);
	if (rd->at + rd->text.n > rd->total)
		rd->total = rd->at + rd->text.n;
	if (rd->mime.text && rd->at + rd->text.n < rd->total)
		rd->text.n = whole_chars(text_str(&rd->text));
	return 0;
}

static void put_place(const struct reading *rd, struct jsonw *w)
{
	uint64_t end = rd->at + rd->text.n, lines;

	jsonw_ku64(w, "bytes", rd->text.n);
	jsonw_ku64(w, "totalBytes", rd->total);
	jsonw_kbool(w, "truncated", end < rd->total);
	if (rd->by_bytes) {
		jsonw_ku64(w, "byteOffset", rd->at);
		if (end < rd->total)
			jsonw_ku64(w, "nextByteOffset", end);
		return;
	}
	lines = text_count_lines(text_str(&rd->text));
	jsonw_ku64(w, "offset", rd->first_line);
	jsonw_ku64(w, "lines", lines);
	if (rd->lines_known)
		jsonw_ku64(w, "totalLines", rd->total_lines);
	if (end >= rd->total)
		return;
	/* In the middle of a line only its bytes lead on. */
	if (rd->text.n > 0 && rd->text.p[rd->text.n - 1] != '\n')
		jsonw_ku64(w, "nextByteOffset", end);
	else
		jsonw_ku64(w, "nextOffset", rd->first_line + lines);
}

static void put_kind(const struct reading *rd, struct jsonw *w)
{
	jsonw_kstr(w, "path", rd->said);
	jsonw_kz(w, "type", rd->mime.text ? "text" : rd->mime.image ? "image" : "binary");
	jsonw_kz(w, "mime", rd->mime.name);
}

/* The whole of an image, since a part of one shows nothing; of other bytes only what was asked for by number. */
static int put_binary(struct reading *rd, size_t most, struct jsonw *w, struct err *e)
{
	int r;

	if (rd->mime.image && !rd->by_bytes) {
		rd->max_bytes = most;
		text_done(&rd->text);
		if (rd->total > most)
			return err_set(e, ERR_LIMIT,
				       "read: the image '" STR_FMT "' has %" PRIu64
				       " bytes, and may have %zu (limits.read_max); make a smaller one",
				       STR_ARG(rd->said), rd->total, most);
		rd->at = 0;
	}
	put_kind(rd, w);
	if (!rd->mime.image && !rd->by_bytes) {
		jsonw_ku64(w, "totalBytes", rd->total);
		jsonw_kz(w, "note", "not text; byteOffset and byteLimit give a part of it in base64");
		return 0;
	}
	r = load_bytes(rd, e);
	if (r < 0)
		return r;
	jsonw_kz(w, "encoding", "base64");
	jsonw_key(w, STR("data"));
	text_put_base64(w, text_str(&rd->text));
	rd->by_bytes = true;
	put_place(rd, w);
	return 0;
}

/* Looks at the front to say what it is. When that is where reading starts, it is the reading, too. */
static int look(struct reading *rd, struct err *e)
{
	bool from_start = rd->at == 0 && rd->first_line == 1;
	size_t want = from_start && guess(rd) > HEAD_BYTES ? guess(rd) : HEAD_BYTES;
	int r = content_part(&rd->file, 0, want, &rd->text);
	struct str head = text_str(&rd->text);

	if (r < 0)
		return tools_say(e, r, "read", rd->said);
	head.n = head.n < HEAD_BYTES ? head.n : HEAD_BYTES;
	rd->mime = mime_of(head);
	if (rd->text.n > rd->max_bytes)
		rd->text.n = rd->max_bytes;
	return 0;
}

int tool_read(struct tool_ctx *x, const struct tool_in *in, struct jsonw *w, struct err *e)
{
	_cleanup_(reading_done) struct reading rd = { .file = CONTENT_NONE,
						      .said = tools_str(in, READ_PATH) };
	const char *path;
	int r = tools_path(x, rd.said, &path, e);

	if (r == 0)
		r = take_range(x, in, &rd, e);
	if (r < 0)
		return r;
	r = x->files->ops->get(x->files, path, 0, &rd.file);
	if (r < 0)
		return tools_say(e, r, "read", rd.said);
	rd.total = rd.file.st.size;
	r = look(&rd, e);
	if (r < 0)
		return r;
	if (!rd.mime.text)
		return put_binary(&rd, (size_t)or_default(x->read_max, TOOLS_READ_MAX), w, e);
	r = rd.by_bytes ? load_bytes(&rd, e) : load_lines(&rd, e);
	if (r < 0)
		return r;
	put_kind(&rd, w);
	jsonw_kstr(w, "text", text_str(&rd.text));
	put_place(&rd, w);
	return 0;
}
