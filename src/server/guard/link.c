/* SPDX-License-Identifier: Apache-2.0 */
#include "server/guard/link.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>
#include <unistd.h>

enum { TOKEN_MAX = 4096, REQUEST_MAX = 16 << 20 };
/* A stream may go on for weeks; what is collected is bounded by whoever collects. */
#define ANSWER_MAX ((uint64_t)1 << 62)

struct link {
	struct loop *loop;
	struct link_opts o;
	bool is_unix;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)], host[64];
	uint16_t port;
	char bearer[sizeof("Bearer ") + TOKEN_MAX];
	struct errand **idle; /* max_idle of them; the one that was used last is at the end */
	size_t n_idle;
	struct loop_id sweep;
};

/* A connection, and whoever uses it now. */
struct errand {
	struct link *link;
	struct http_client *client;
	const struct errand_handler *handler;
	void *ctx;
	uint64_t idle_ms; /* since when */
	uint64_t whose;   /* the last request */
};

static void on_sweep(struct loop *loop, void *ctx);

static void drop(struct errand *r)
{
	(void)http_client_free(r->client);
	free(r);
}

struct link *link_free(struct link *l)
{
	if (!l)
		return NULL;
	for (size_t i = 0; i < l->n_idle; i++)
		drop(l->idle[i]);
	(void)loop_del(l->loop, l->sweep);
	free(l->idle);
	explicit_bzero(l->bearer, sizeof(l->bearer));
	free(l);
	return NULL;
}

static int take_address(struct link *l, struct str address, struct err *e)
{
	struct str path, host;

	l->is_unix = str_starts(address, STR("unix:"));
	path = str_from(address, sizeof("unix:") - 1);
	if (l->is_unix) {
		if (path.n == 0 || path.n >= sizeof(l->path))
			return err_set(e, ERR_USAGE, "serve.runner: the path of a socket has 1 to %zu bytes",
				       sizeof(l->path) - 1);
		memcpy(l->path, path.p, path.n);
		return 0;
	}
	if (parse_host_port(address, 0, &host, &l->port) < 0 || host.n >= sizeof(l->host))
		return err_set(e, ERR_USAGE, "serve.runner: '" STR_FMT "' is neither unix:PATH nor IP:PORT",
			       STR_ARG(address));
	memcpy(l->host, host.p, host.n);
	return 0;
}

int link_new(struct loop *loop, const struct link_opts *o, struct link **ret, struct err *e)
{
	_cleanup_(link_freep) struct link *l = calloc(1, sizeof(*l));

	if (l)
		l->idle = calloc(o->max_idle ? o->max_idle : 1, sizeof(*l->idle));
	if (!l || !l->idle)
		return err_sys(e, ENOMEM, "connections to the runner");
	l->loop = loop;
	l->o = *o;
	if (o->token.n == 0 || o->token.n >= TOKEN_MAX)
		return err_set(e, ERR_USAGE, "the runner's token has 1 to %d bytes", TOKEN_MAX - 1);
	(void)snprintf(l->bearer, sizeof(l->bearer), "Bearer %.*s", (int)o->token.n, o->token.p);
	if (take_address(l, o->address, e) < 0)
		return -1;
	*ret = TAKE_PTR(l);
	return 0;
}

/* ---- connections that wait ---- */

/* Whether it has been ended meanwhile is looked at when somebody needs it. */
static void keep(struct errand *r)
{
	struct link *l = r->link;

	if (l->n_idle == l->o.max_idle || !http_client_is_idle(r->client)) {
		drop(r);
		return;
	}
	r->idle_ms = clock_mono_ms();
	l->idle[l->n_idle++] = r;
	if (!loop_has(l->loop, l->sweep))
		(void)loop_add_timer(l->loop, clock_deadline(l->o.idle_ms), on_sweep, l, &l->sweep);
}

/* A connection has a process of the runner for itself: what nobody needs is given back. */
static void on_sweep(struct loop *loop, void *ctx)
{
	struct link *l = ctx;
	uint64_t now = clock_mono_ms();
	size_t kept = 0;

	for (size_t i = 0; i < l->n_idle; i++) {
		uint64_t ms = i + 1 == l->n_idle ? l->o.last_ms : l->o.idle_ms;

		if (now - l->idle[i]->idle_ms < ms && http_client_is_ready(l->idle[i]->client))
			l->idle[kept++] = l->idle[i];
		else
			drop(l->idle[i]);
	}
	l->n_idle = kept;
	if (kept)
		(void)loop_add_timer(loop, clock_deadline(l->o.idle_ms), on_sweep, l, &l->sweep);
}

/* ---- one errand ---- */

static void on_head(void *ctx, struct http_client *c)
{
	struct errand *r = ctx;

	r->handler->head(r->ctx, r, http_client_head(c));
}

static void on_body(void *ctx, struct http_client *c, struct str piece)
{
	struct errand *r = ctx;

	(void)c;
	r->handler->body(r->ctx, r, piece);
}

/* Back among those that wait before anybody is told: who is told may have the next request for it. */
static void on_end(void *ctx, struct http_client *c)
{
	struct errand *r = ctx;
	const struct errand_handler *h = r->handler;
	void *whose = r->ctx;

	(void)c;
	keep(r);
	h->end(whose);
}

static void on_fail(void *ctx, struct http_client *c, const struct err *e)
{
	struct errand *r = ctx;
	const struct errand_handler *h = r->handler;
	void *whose = r->ctx;

	(void)c;
	drop(r);
	h->fail(whose, e);
}

static const struct http_client_handler client_handler = {
	.head = on_head, .body = on_body, .end = on_end, .fail = on_fail
};

/* A socket of another user is told apart by whoever listens on it; in the jail there is no name but our own. */
static int check_peer(const struct link *l, int fd, struct err *e)
{
	struct http_peer peer;

	if (!l->o.ours)
		return 0;
	http_peer_of(fd, &peer);
	return peer.is_unix && peer.uid == geteuid()
		       ? 0
		       : err_set(e, ERR_DENIED, "the runner's socket is another user's, and is not used");
}

static int reach(const struct link *l, int *ret_fd, struct err *e)
{
	if (l->o.refused)
		return err_set(e, ERR_DENIED, "%s", l->o.refused);
	return l->is_unix ? http_connect_unix(l->path, ret_fd, e)
			  : http_connect_tcp(l->host, l->port, ret_fd, e);
}

static int connect_new(struct link *l, struct errand **ret, struct err *e)
{
	const struct http_client_opts opts = {
		.limits = { .head_bytes = 16384, .line_bytes = 8192, .body_bytes = ANSWER_MAX },
		.request_bytes = REQUEST_MAX
	};
	struct errand *r = calloc(1, sizeof(*r));
	_cleanup_close_ int fd = FD_NONE;

	if (!r)
		return err_sys(e, ENOMEM, "connection to the runner");
	r->link = l;
	if (reach(l, &fd, e) < 0 || check_peer(l, fd, e) < 0 ||
	    http_client_new(l->loop, TAKE_FD(fd), &opts, &client_handler, r, &r->client, e) < 0) {
		free(r);
		return -1;
	}
	*ret = r;
	return 0;
}

/* His own, if there is one; else the one that was used last: the others can go. */
static struct errand *pick(struct link *l, uint64_t whose)
{
	size_t at = l->n_idle - 1;
	struct errand *r;

	for (size_t i = l->n_idle; whose && i > 0; i--)
		if (l->idle[i - 1]->whose == whose) {
			at = i - 1;
			break;
		}
	r = l->idle[at];
	l->n_idle--;
	memmove(l->idle + at, l->idle + at + 1, (l->n_idle - at) * sizeof(*l->idle));
	return r;
}

static int take_connection(struct link *l, uint64_t whose, struct errand **ret, struct err *e)
{
	while (l->n_idle) {
		struct errand *r = pick(l, whose);

		if (http_client_is_ready(r->client)) {
			*ret = r;
			return 0;
		}
		drop(r);
	}
	return connect_new(l, ret, e);
}

int link_send(struct link *l, const struct errand_request *q, const struct errand_handler *h, void *ctx,
	      struct errand **ret, struct err *e)
{
	const struct http_client_field all[] = {
		{ STR("Authorization"), str_z(l->bearer) },
		{ STR("X-Creel-Token"), q->caller_token },
		{ STR("Accept"), q->accept },
		{ STR("Last-Event-ID"), q->last_event_id },
		{ STR("Content-Type"), q->body.n ? STR("application/json") : (struct str){ 0 } },
	};
	struct http_client_field fields[sizeof(all) / sizeof(all[0])];
	struct errand *r = NULL;
	size_t n = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].value.n)
			fields[n++] = all[i];
	if (take_connection(l, q->whose, &r, e) < 0)
		return -1;
	r->whose = q->whose;
	r->handler = h;
	r->ctx = ctx;
	http_client_patience(r->client, q->answer_ms, q->body_ms);
	if (http_client_send(r->client, q->method, q->target, STR("runner"), fields, n, q->body, e) < 0) {
		drop(r);
		return -1;
	}
	*ret = r;
	return 0;
}

void errand_cancel(struct errand *r)
{
	drop(r);
}

void errand_pause(struct errand *r, bool paused)
{
	http_client_pause(r->client, paused);
}
