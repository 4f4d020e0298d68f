/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/warden/request.h"

#include <linux/errno.h>

/* Where the compiler finds them: the warden's own, or the C library's when the fuzzer is built. */
void *memcpy(void *restrict d, const void *restrict s, size_t n);

#define SIGNAL_MAX 64

static bool counts_valid(const struct serve_request *h)
{
	if (h->msg != SERVE_EXEC)
		return h->body == 0 && h->streams == 0 && h->argc == 0 && h->envc == 0 && h->n_limits == 0;
	return h->argc > 0 && h->argc <= SERVE_ARGS_MAX && h->envc <= SERVE_ARGS_MAX &&
	       h->n_limits <= SERVE_LIMITS_MAX && h->body <= SERVE_BODY_MAX && h->umask <= 0777;
}

long request_head(const void *bytes, size_t n, struct request *ret, size_t *ret_rest)
{
	struct serve_request *h = &ret->head;

	if (n < sizeof(*h))
		return -EINVAL;
	memcpy(h, bytes, sizeof(*h));
	if (h->msg < SERVE_EXEC || h->msg >= SERVE_REQUEST_END_ || h->flags & ~SERVE_F_ALL ||
	    h->streams & ~(7u | SERVE_BODY_FD) || h->id >= SERVE_ID_MAX || h->signal < 0 ||
	    h->signal > SIGNAL_MAX || !counts_valid(h))
		return -EINVAL;
	*ret_rest = h->streams & SERVE_BODY_FD ? 0 : h->body;
	if (n - sizeof(*h) != *ret_rest)
		return -EINVAL;
	ret->body = NULL;
	return 0;
}

bool request_may_come(const struct request *r, uint32_t line)
{
	const struct serve_request *h = &r->head;

	if (h->msg == SERVE_LINE)
		return line == 0;
	if (h->id >> SERVE_LINE_BIT != line)
		return false;
	if (line == 0)
		return true;
	return h->msg == SERVE_CANCEL || h->msg == SERVE_SIGNAL ||
	       (h->msg == SERVE_EXEC && !(h->flags & ~SERVE_F_LINE));
}

/* The byte after n strings; NULL when they are not all there. */
static const char *skip(const char *at, const char *end, uint32_t n)
{
	for (; at && n > 0; n--) {
		while (at < end && *at)
			at++;
		at = at < end ? at + 1 : NULL;
	}
	return at;
}

long request_body(struct request *r, const char *body, size_t n)
{
	const struct serve_request *h = &r->head;
	size_t limits = h->n_limits * sizeof(struct serve_limit);
	const char *end = body + n;

	if (n == 0 || n != h->body || n < limits)
		return -EINVAL;
	r->body = body;
	r->argv = body + limits;
	r->env = skip(r->argv, end, h->argc);
	r->cwd = skip(r->env, end, h->envc);
	r->path = skip(r->cwd, end, 1);
	return skip(r->path, end, 1) == end ? 0 : -EINVAL;
}

struct serve_limit request_limit(const struct request *r, uint32_t i)
{
	struct serve_limit l;

	memcpy(&l, r->body + i * sizeof(l), sizeof(l));
	return l;
}

void request_list(const char *first, uint32_t n, char **out)
{
	for (uint32_t i = 0; i < n; i++) {
		memcpy(&out[i], &first, sizeof(first));
		while (*first)
			first++;
		first++;
	}
	out[n] = NULL;
}
