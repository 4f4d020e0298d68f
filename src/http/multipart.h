/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multipart/form-data (RFC 7578) as it comes, without copies. Strict: no text before the first boundary or behind the last, every
 * part says its name, the head of a part is bounded and has the grammar of HTTP's fields. Names and file names come as the client
 * wrote them: they are no paths, and nothing here makes them safe as such.
 */
#pragma once

#include "base/str.h"

enum { MULTIPART_HEAD_MAX = 2048, MULTIPART_BOUNDARY_MAX = 70 };

enum multipart_event {
	MULTIPART_BAD = 0,
	MULTIPART_MORE, /* what is left in *in has to be there again next time, with more behind it */
	MULTIPART_PART, /* a part begins: name, filename, type are good until the next call */
	MULTIPART_DATA, /* of that part, never empty */
	MULTIPART_PART_END,
	MULTIPART_END, /* and again, for as long as nothing follows */
};

struct multipart {
	struct str name, filename, type; /* `type` empty: text/plain */
	bool has_filename;
	const char *reason; /* MULTIPART_BAD: why */

	/* Private from here on. */
	char delimiter[4 + MULTIPART_BOUNDARY_MAX]; /* CR LF - - boundary */
	uint8_t n_delimiter, state;
	bool data_began;
	unsigned parts_left;
};

/* From the value of Content-Type. -EINVAL when it is not multipart/form-data with one good boundary. */
int multipart_init(struct multipart *m, struct str content_type, unsigned max_parts);

/*
 * Takes from the front of *in; until all bytes were given. Whoever calls needs room for MULTIPART_HEAD_MAX bytes that are not
 * taken.
 */
enum multipart_event multipart_next(struct multipart *m, struct str *in, struct str *ret);
