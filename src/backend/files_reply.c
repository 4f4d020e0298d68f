/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/files_reply.h"

#define ERRNO_MAX 4095

/* What may come with a success, by what was asked. */
struct shape {
	uint32_t flags;
	bool number, entries, content;
};

static const struct shape shapes[CLERK_OP_END_] = {
	[CLERK_LIST] = { .flags = CLERK_R_MORE, .number = true, .entries = true },
	[CLERK_NEXT] = { .flags = CLERK_R_MORE, .number = true, .entries = true },
	[CLERK_STAGE] = { .flags = CLERK_R_EXISTS, .number = true },
	[CLERK_COMMIT] = { .flags = CLERK_R_OVER },
	[CLERK_DROP] = { .flags = CLERK_R_OVER },
	[CLERK_PUT] = { .flags = CLERK_R_EXISTS },
	[CLERK_GET] = { .flags = CLERK_R_WHOLE, .content = true },
};

static bool stat_valid(const struct clerk_stat *st)
{
	return st->size <= INT64_MAX && st->nlink <= INT64_MAX;
}

int reply_check(const struct clerk_reply *reply, const struct clerk_request *asked, size_t more)
{
	const struct shape *s = &shapes[asked->op];

	if (reply->op != asked->op || reply->seq != asked->seq || reply->result > 0 ||
	    reply->result < -ERRNO_MAX || reply->bytes != more || !stat_valid(&reply->st))
		return -EPROTO;
	if (reply->flags & ~s->flags ||
	    (more && !s->entries && !(s->content && reply->flags & CLERK_R_WHOLE && more <= CLERK_GET_MAX)))
		return -EPROTO;
	if (reply->result < 0)
		return more ? -EPROTO : 0;
	/* A number names what can be asked about next: none, when there is nothing to ask. */
	if (s->entries)
		return (reply->number != 0) == !!(reply->flags & CLERK_R_MORE) ? 0 : -EPROTO;
	return (reply->number != 0) == s->number && reply->number <= CLERK_STAGES_MAX ? 0 : -EPROTO;
}

struct files_stat reply_stat(const struct clerk_stat *st)
{
	return (struct files_stat){ .mode = st->mode,
				    .uid = st->uid,
				    .gid = st->gid,
				    .size = st->size,
				    .dev = st->dev,
				    .ino = st->ino,
				    .nlink = st->nlink,
				    .mtime_ms = st->mtime_ms };
}

static bool name_valid(struct str name)
{
	return name.n > 0 && name.n <= 255 && name.p[name.n] == '\0' && !memchr(name.p, '\0', name.n) &&
	       !memchr(name.p, '/', name.n) && !str_eq(name, STR(".")) && !str_eq(name, STR(".."));
}

int reply_next(struct reply_entries *e, struct files_entry *ret)
{
	struct clerk_entry head;
	struct clerk_stat st;
	size_t left = e->n - e->at, before = sizeof(head) + (e->with_stat ? sizeof(st) : 0);
	const char *p = e->p + e->at;

	if (left == 0)
		return 0;
	if (left < sizeof(head))
		return -EPROTO;
	memcpy(&head, p, sizeof(head));
	if (head.size > left || head.size % 8 || head.size < before + head.name + 1u)
		return -EPROTO;
	*ret = (struct files_entry){ .name = { .p = p + before, .n = head.name },
				     .st = { .mode = head.mode & S_IFMT } };
	if (e->with_stat) {
		memcpy(&st, p + sizeof(head), sizeof(st));
		if (!stat_valid(&st))
			return -EPROTO;
		ret->st = reply_stat(&st);
	}
	e->at += head.size;
	return name_valid(ret->name) ? 1 : -EPROTO;
}
