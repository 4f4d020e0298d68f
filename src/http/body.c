/* SPDX-License-Identifier: Apache-2.0 */
#include "http/body.h"

#include "http/chars.h"

enum { SIZE_DIGITS_MAX = 16 };

/* Where in a chunked body the next byte stands. */
enum state {
	AT_SIZE = 0,
	AT_EXT_NAME, /* behind ';' */
	AT_EXT_VALUE,
	AT_EXT_QUOTED,
	AT_EXT_ESCAPE,
	AT_EXT_CLOSED, /* behind the closing quote */
	AT_SIZE_LF,
	AT_DATA,
	AT_DATA_CR,
	AT_DATA_LF,
	AT_TRAILER, /* first byte of a line */
	AT_TRAILER_NAME,
	AT_TRAILER_VALUE,
	AT_TRAILER_LF,
	AT_LAST_LF,
	AT_END,
	AT_FAULT,
	STATE_COUNT_
};

void http_body_init(struct http_body *b, const struct http_head *h)
{
	*b = (struct http_body){
		.framing = h->framing,
		.left = h->framing == HTTP_LENGTH ? h->length : 0,
		.max_bytes = h->limits.body_bytes,
		.bad_status = h->role == HTTP_RESPONSE ? 502 : 400,
	};
}

static enum http_piece bad(struct http_body *b, unsigned status, const char *reason)
{
	b->fault = (struct http_fault){ .status = b->bad_status == 502 ? 502 : status, .reason = reason };
	b->state = AT_FAULT;
	return HTTP_PIECE_BAD;
}

static enum state refuse(struct http_body *b, const char *reason)
{
	(void)bad(b, 400, reason);
	return AT_FAULT;
}

/* Behind the size of a chunk and its extensions. */
static enum state size_is_read(struct http_body *b)
{
	b->digits = 0;
	if (b->left == 0)
		return AT_TRAILER;
	if (b->left > b->max_bytes - b->total) {
		(void)bad(b, 413, "the body is larger than this server takes");
		return AT_FAULT;
	}
	return AT_DATA;
}

static enum state on_size(struct http_body *b, char c)
{
	int digit = http_hex(c);

	if (digit >= 0) {
		/* Sixteen digits with the highest bit set would not fit in what is added to a total. */
		if (b->digits == SIZE_DIGITS_MAX || b->left > (uint64_t)INT64_MAX >> 4)
			return refuse(b, "the size of a chunk is too large");
		b->left = b->left << 4 | (uint64_t)digit;
		b->digits++;
		return AT_SIZE;
	}
	if (b->digits > 0 && c == '\r')
		return AT_SIZE_LF;
	if (b->digits > 0 && c == ';') {
		b->digits = 0;
		return AT_EXT_NAME;
	}
	return refuse(b, "the size of a chunk is not a hexadecimal number and CR LF");
}

/* `digits` counts the bytes of a name or value here, up to one: an empty one is refused. */
static enum state on_extension(struct http_body *b, enum state at, char c)
{
	if (at == AT_EXT_QUOTED && c == '\\')
		return AT_EXT_ESCAPE;
	if (at == AT_EXT_QUOTED && c == '"')
		return AT_EXT_CLOSED;
	if ((at == AT_EXT_QUOTED || at == AT_EXT_ESCAPE) && http_char(c, CHAR_FIELD))
		return AT_EXT_QUOTED;
	if ((at == AT_EXT_NAME || at == AT_EXT_VALUE) && http_char(c, CHAR_TOKEN)) {
		b->digits = 1;
		return at;
	}
	if (at == AT_EXT_VALUE && c == '"' && b->digits == 0)
		return AT_EXT_QUOTED;
	if (at == AT_EXT_CLOSED || ((at == AT_EXT_NAME || at == AT_EXT_VALUE) && b->digits > 0)) {
		b->digits = 0;
		if (c == '\r')
			return AT_SIZE_LF;
		if (c == ';')
			return AT_EXT_NAME;
		if (c == '=' && at == AT_EXT_NAME)
			return AT_EXT_VALUE;
	}
	return refuse(b, "the extension of a chunk is malformed");
}

static enum state on_trailer(struct http_body *b, enum state at, char c)
{
	if (++b->trailer_bytes > HTTP_TRAILER_BYTES_MAX) {
		(void)bad(b, 431, "the trailer is longer than this server takes");
		return AT_FAULT;
	}
	if (at == AT_TRAILER && c == '\r')
		return AT_LAST_LF;
	if (at == AT_TRAILER_VALUE)
		return c == '\r'                  ? AT_TRAILER_LF
		       : http_char(c, CHAR_FIELD) ? AT_TRAILER_VALUE
						  : refuse(b, "the trailer has a control character");
	if (http_char(c, CHAR_TOKEN))
		return AT_TRAILER_NAME;
	if (at == AT_TRAILER_NAME && c == ':')
		return AT_TRAILER_VALUE;
	return refuse(b, "a field of the trailer is not a name, a colon and a value");
}

/* States that wait for one certain byte. */
static const struct {
	char byte;
	enum state next;
} awaited[STATE_COUNT_] = {
	[AT_SIZE_LF] = { '\n', AT_DATA }, [AT_DATA_CR] = { '\r', AT_DATA_LF },
	[AT_DATA_LF] = { '\n', AT_SIZE }, [AT_TRAILER_LF] = { '\n', AT_TRAILER },
	[AT_LAST_LF] = { '\n', AT_END },
};

static enum state step(struct http_body *b, enum state at, char c)
{
	if (at == AT_SIZE)
		return on_size(b, c);
	if (at >= AT_EXT_NAME && at <= AT_EXT_CLOSED) {
		if (++b->extension_bytes > HTTP_EXTENSION_BYTES_MAX)
			return refuse(b, "the extensions of the chunks are longer than this server takes");
		return on_extension(b, at, c);
	}
	if (at >= AT_TRAILER && at <= AT_TRAILER_VALUE)
		return on_trailer(b, at, c);
	if (c != awaited[at].byte)
		return refuse(b, "a chunk does not end in CR LF");
	return at == AT_SIZE_LF ? size_is_read(b) : awaited[at].next;
}

static enum http_piece take(struct http_body *b, struct str *in, struct str *ret)
{
	size_t n = b->left < in->n ? (size_t)b->left : in->n;

	*ret = (struct str){ .p = in->p, .n = n };
	*in = str_from(*in, n);
	b->left -= n;
	b->total += n;
	return HTTP_PIECE_DATA;
}

static enum http_piece chunked(struct http_body *b, struct str *in, struct str *ret)
{
	while (b->state != AT_END && b->state != AT_FAULT) {
		if (b->state == AT_DATA && b->left == 0)
			b->state = AT_DATA_CR;
		if (in->n == 0)
			return HTTP_PIECE_MORE;
		if (b->state == AT_DATA)
			return take(b, in, ret);
		b->state = (uint8_t)step(b, b->state, in->p[0]);
		*in = str_from(*in, 1);
	}
	return b->state == AT_END ? HTTP_PIECE_END : HTTP_PIECE_BAD;
}

static enum http_piece until_close(struct http_body *b, struct str *in, struct str *ret)
{
	if (b->state == AT_FAULT)
		return HTTP_PIECE_BAD;
	if (in->n == 0)
		return HTTP_PIECE_MORE;
	if (in->n > b->max_bytes - b->total)
		return bad(b, 413, "the body is larger than is taken");
	b->left = in->n;
	return take(b, in, ret);
}

enum http_piece http_body_next(struct http_body *b, struct str *in, struct str *ret)
{
	if (b->framing == HTTP_CHUNKED)
		return chunked(b, in, ret);
	if (b->framing == HTTP_UNTIL_CLOSE)
		return until_close(b, in, ret);
	if (b->left == 0)
		return HTTP_PIECE_END;
	return in->n == 0 ? HTTP_PIECE_MORE : take(b, in, ret);
}

bool http_body_ends_here(const struct http_body *b)
{
	if (b->framing == HTTP_UNTIL_CLOSE)
		return b->state != AT_FAULT;
	return b->framing == HTTP_CHUNKED ? b->state == AT_END : b->left == 0;
}
