/* SPDX-License-Identifier: Apache-2.0 */
#include "clerk/request.h"
#include "backend/files.h"

#include <errno.h>
#include <string.h>

#define FLAGS_ALL ((uint32_t)FILES_DIRECTORY * 2 - 1)

enum { PATH = 1, TO = 2, NUMBER = 4, CONTENT = 8 };

/* What each has, and has to have. */
static const uint8_t has[CLERK_OP_END_] = {
	[CLERK_OPEN] = PATH,   [CLERK_STAT] = PATH,          [CLERK_LIST] = PATH,
	[CLERK_NEXT] = NUMBER, [CLERK_END] = NUMBER,         [CLERK_MKDIR] = PATH,
	[CLERK_REMOVE] = PATH, [CLERK_RENAME] = PATH | TO,   [CLERK_CHMOD] = PATH,
	[CLERK_STAGE] = PATH,  [CLERK_COMMIT] = NUMBER,      [CLERK_UNDO] = NUMBER,
	[CLERK_DROP] = NUMBER, [CLERK_PUT] = PATH | CONTENT, [CLERK_GET] = PATH,
};

static bool is_path(const char *p, uint32_t n, bool wanted)
{
	if (!wanted)
		return n == 0;
	return n > 0 && n <= FILES_PATH_MAX && memchr(p, '\0', n) == p + n - 1;
}

int request_parse(const void *bytes, size_t n, struct request *ret)
{
	struct clerk_request *h = &ret->head;
	const char *p = bytes;
	size_t left = n - sizeof(*h);

	if (n < sizeof(*h) || n > CLERK_MESSAGE_MAX)
		return -EPROTO;
	memcpy(h, bytes, sizeof(*h));
	if (h->op == 0 || h->op >= CLERK_OP_END_ || h->flags & ~FLAGS_ALL || h->mode & ~07777u ||
	    h->seen.given > 1 || (h->number != 0) != !!(has[h->op] & NUMBER))
		return -EPROTO;
	if (left > CLERK_MESSAGE_MAX || h->n_path > left || h->n_to > left - h->n_path ||
	    h->n_content != left - h->n_path - h->n_to)
		return -EPROTO;
	p += sizeof(*h);
	if (!is_path(p, h->n_path, has[h->op] & PATH) || !is_path(p + h->n_path, h->n_to, has[h->op] & TO) ||
	    (h->n_content && !(has[h->op] & CONTENT)) || h->n_content > CLERK_PUT_MAX)
		return -EPROTO;
	ret->path = h->n_path ? p : "";
	ret->to = h->n_to ? p + h->n_path : "";
	ret->content = (struct str){ .p = p + h->n_path + h->n_to, .n = h->n_content };
	return 0;
}
