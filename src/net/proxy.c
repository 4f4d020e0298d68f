/* SPDX-License-Identifier: Apache-2.0 */
#include "net/proxy.h"

#include "base/buf.h"
#include "base/clock.h"
#include "http/client.h"
#include "http/server.h"
#include "net/hop.h"
#include "net/tunnel.h"

#include <stdlib.h>

enum {
	FIELDS_MAX = 100,
	BODY_MAX_SHIFT = 60, /* bodies have no maximum: only what waits has one */
	OUTPUT_BYTES = 131072,
	REQUEST_BYTES = 262144,
	REFUSAL_BYTES = 4096,
};

struct proxy {
	struct loop *loop;
	struct proxy_opts opts;
	const struct net_rules *rules;
	struct net_report *report;
	struct http_server *server;
};

/* One exchange that was let through. */
struct visit {
	struct proxy *proxy;
	struct http_exchange *x;
	struct http_client *client; /* or */
	struct tunnel *tunnel;
	char where[DEST_TEXT_MAX]; /* the host, for messages */
	struct buf pending;        /* of the answer, for which there was no room */
	bool begun, ended;
	bool half; /* the server sends no more */
};

static struct visit *visit_free(struct visit *v)
{
	if (!v)
		return NULL;
	v->client = http_client_free(v->client);
	v->tunnel = tunnel_free(v->tunnel);
	buf_done(&v->pending);
	free(v);
	return NULL;
}

/* ---- answers of our own ---- */

struct refusal {
	unsigned status;
	const char *error;
	struct str message, rule, host, hint; /* empty = null */
	unsigned port;
};

static void put(struct jsonw *w, const char *key, struct str s)
{
	if (s.n)
		jsonw_kstr(w, key, s);
	else
		jsonw_knull(w, key);
}

static void answer(struct http_exchange *x, const struct refusal *r)
{
	static const struct http_answer_field fields[] = { { STR("Content-Type"), STR("application/json") },
							   { STR("Cache-Control"), STR("no-store") } };
	_cleanup_buf_ struct buf body = { 0 };
	struct jsonw w;

	buf_init(&body, REFUSAL_BYTES);
	jsonw_init(&w, &body, 0);
	jsonw_obj(&w);
	jsonw_kz(&w, "error", r->error);
	put(&w, "message", r->message);
	put(&w, "rule", r->rule);
	put(&w, "host", r->host);
	if (r->port)
		jsonw_ku64(&w, "port", r->port);
	else
		jsonw_knull(&w, "port");
	put(&w, "hint", r->hint);
	jsonw_obj_end(&w);
	buf_putc(&body, '\n');
	http_exchange_set(x, NULL);
	if (http_answer(x, r->status, fields, 2, buf_str(&body)) < 0)
		http_answer_abort(x);
}

static void answer_bad(struct http_exchange *x, const char *message)
{
	answer(x, &(struct refusal){ .status = 400, .error = "invalid_target", .message = str_z(message) });
}

/* The server could not be reached, or spoke no HTTP. */
static void answer_failed(struct visit *v, const struct err *e)
{
	struct http_exchange *x = v->x;
	char text[sizeof(e->msg) + DEST_TEXT_MAX + 4];
	_cleanup_buf_ struct buf message = { 0 };
	bool late = e->kind == ERR_LIMIT;

	buf_init_on(&message, sizeof(text), text, sizeof(text));
	buf_printf(&message, "%s: %s", v->where, e->msg);
	answer(x, &(struct refusal){ .status = late ? 504 : 502,
				     .error = late ? "timeout" : "unreachable",
				     .message = buf_str(&message) });
}

static void refuse(struct proxy *p, struct http_exchange *x, const struct dest_host *host, uint16_t port,
		   enum net_verdict verdict, const struct dest *near)
{
	char name[DEST_TEXT_MAX];
	struct net_denial d;
	const char *message = verdict == NET_PORT_NOT_ALLOWED
				      ? "the sandbox may reach this host on another port alone"
				      : "the sandbox may not reach this host";

	net_denial_fill(&d, p->rules, host, port, verdict, near);
	net_report_add(p->report, &d, clock_unix_ms());
	answer(x, &(struct refusal){ .status = 403,
				     .error = net_verdict_word(verdict),
				     .message = str_z(message),
				     .rule = str_z(d.rule),
				     .host = dest_text(host, 0, name),
				     .hint = str_z(d.hint),
				     .port = port });
}

/* ---- the way back ---- */

static void end_answer(struct visit *v)
{
	struct http_exchange *x = v->x;

	http_exchange_set(x, NULL);
	(void)visit_free(v);
	http_answer_end(x);
}

static void break_answer(struct visit *v)
{
	struct http_exchange *x = v->x;

	http_exchange_set(x, NULL);
	(void)visit_free(v);
	http_answer_abort(x);
}

static void pause_far(struct visit *v, bool paused)
{
	if (v->client)
		http_client_pause(v->client, paused);
	if (v->tunnel)
		tunnel_pause(v->tunnel, paused);
}

/* What does not fit waits here, and nothing more is read until it does. */
static void pass_back(struct visit *v, struct str piece)
{
	int r = http_answer_write(v->x, piece);

	v->proxy->report->bytes_down += piece.n;
	if (r >= 0)
		return;
	pause_far(v, true);
	if (r == -EAGAIN)
		buf_put(&v->pending, piece);
	if (v->pending.failed || (r < 0 && r != -EAGAIN && r != -EPIPE))
		break_answer(v);
	/* -EPIPE: `gone` follows */
}

static int begin_answer(struct visit *v, const struct http_head *h)
{
	struct http_answer_field fields[FIELDS_MAX + 1];
	struct str length;
	size_t n = 0;

	for (unsigned i = 0; i < h->n_fields && n < FIELDS_MAX; i++)
		if (hop_passes(h, &h->field[i]))
			fields[n++] = (struct http_answer_field){ http_field_name(h, &h->field[i]),
								  http_field_value(h, &h->field[i]) };
	fields[n++] = (struct http_answer_field){ STR("Via"), STR("1.1 creel") };
	if (h->framing == HTTP_LENGTH ||
	    (h->framing == HTTP_NO_BODY && http_head_one(h, STR("content-length"), &length) == 0))
		return http_answer_begin_sized(v->x, h->status, fields, n, h->length);
	return http_answer_begin(v->x, h->status, fields, n);
}

static void on_head(void *ctx, struct http_client *c)
{
	struct visit *v = ctx;
	const struct http_head *h = http_client_head(c);
	const struct err e = { .kind = ERR_PROTO, .msg = "the head of its answer cannot be passed on" };

	v->proxy->report->bytes_down += h->n_bytes;
	v->begun = begin_answer(v, h) == 0;
	if (v->begun)
		return;
	answer_failed(v, &e);
	(void)visit_free(v);
}

static void on_body(void *ctx, struct http_client *c, struct str piece)
{
	(void)c;
	pass_back(ctx, piece);
}

static void on_end(void *ctx, struct http_client *c)
{
	struct visit *v = ctx;

	(void)c;
	v->ended = true;
	if (v->pending.n == 0)
		end_answer(v);
}

static void fail(struct visit *v, const struct err *e)
{
	if (v->begun) {
		break_answer(v); /* the client sees that it is not whole */
		return;
	}
	answer_failed(v, e);
	(void)visit_free(v);
}

static void on_fail(void *ctx, struct http_client *c, const struct err *e)
{
	(void)c;
	fail(ctx, e);
}

static void on_client_room(void *ctx, struct http_client *c)
{
	struct visit *v = ctx;

	(void)c;
	http_exchange_pause(v->x, false);
}

static const struct http_client_handler client_handler = {
	.head = on_head, .body = on_body, .end = on_end, .fail = on_fail, .room = on_client_room
};

/* ---- tunnels ---- */

static void on_tunnel_open(void *ctx)
{
	struct visit *v = ctx;

	v->begun = http_answer_upgrade(v->x, 200, NULL, 0) == 0;
	if (!v->begun)
		break_answer(v);
}

static void on_tunnel_data(void *ctx, struct str piece)
{
	pass_back(ctx, piece);
}

static void on_tunnel_room(void *ctx)
{
	struct visit *v = ctx;

	http_exchange_pause(v->x, false);
}

static void on_tunnel_half(void *ctx)
{
	struct visit *v = ctx;

	v->half = true;
	if (v->pending.n == 0)
		http_answer_half(v->x);
}

static void on_tunnel_end(void *ctx, const struct err *e)
{
	struct visit *v = ctx;

	if (!v->begun || e->kind != ERR_NONE) {
		fail(v, e);
		return;
	}
	v->ended = true;
	if (v->pending.n == 0)
		end_answer(v);
}

static const struct tunnel_handler tunnel_handler = { .open = on_tunnel_open,
						      .data = on_tunnel_data,
						      .room = on_tunnel_room,
						      .half = on_tunnel_half,
						      .end = on_tunnel_end };

/* ---- the way there ---- */

static int begin_request(struct visit *v, const struct http_head *h, struct str host, struct err *e)
{
	struct http_client_field fields[FIELDS_MAX + 1];
	struct http_client_request r = { .method = http_head_slice(h, h->method_span),
					 .target = http_head_slice(h, h->target),
					 .host = host,
					 .fields = fields,
					 .framing = h->framing,
					 .length = h->length,
					 .close = true };

	/* The origin's own form: what stands behind the authority, from the path to the end; "http://host" alone has none. */
	if (h->path.n)
		r.target = str_from(r.target, (size_t)(h->path.at - h->target.at));
	else
		r.target = h->method == HTTP_OPTIONS ? STR("*") : STR("/");
	for (unsigned i = 0; i < h->n_fields && r.n_fields < FIELDS_MAX; i++)
		if (hop_passes(h, &h->field[i]))
			fields[r.n_fields++] =
				(struct http_client_field){ http_field_name(h, &h->field[i]),
							    http_field_value(h, &h->field[i]) };
	fields[r.n_fields++] = (struct http_client_field){ STR("Via"), STR("1.1 creel") };
	return http_client_begin(v->client, &r, e);
}

static int open_client(struct visit *v, int fd, const struct http_head *h, struct str host, struct err *e)
{
	const struct proxy_opts *o = &v->proxy->opts;
	const struct http_client_opts opts = { .limits = { .head_bytes = 65535,
							   .line_bytes = 16384,
							   .body_bytes = (uint64_t)1 << BODY_MAX_SHIFT },
					       .max_fields = FIELDS_MAX,
					       .request_bytes = REQUEST_BYTES,
					       .send_ms = o->connect_ms,
					       .answer_ms = o->answer_ms,
					       .body_ms = o->idle_ms };
	int r = http_client_new(v->proxy->loop, fd, &opts, &client_handler, v, &v->client, e);

	return r < 0 ? r : begin_request(v, h, host, e);
}

static int open_tunnel(struct visit *v, int fd, struct err *e)
{
	const struct tunnel_opts opts = { .connect_ms = v->proxy->opts.connect_ms,
					  .idle_ms = v->proxy->opts.idle_ms,
					  .half_ms = v->proxy->opts.half_ms };

	return tunnel_new(v->proxy->loop, fd, &opts, &tunnel_handler, v, &v->tunnel, e);
}

/* The address that the rule has: the one that was judged by is the one that is dialled. */
static void let_through(struct proxy *p, struct http_exchange *x, const struct dest_host *host, uint16_t port,
			const struct dest *rule)
{
	const struct http_head *h = http_exchange_head(x);
	struct visit *v = calloc(1, sizeof(*v));
	char address[DEST_TEXT_MAX];
	struct err e = { 0 };
	int fd, r;

	if (!v) {
		http_answer_abort(x);
		return;
	}
	v->proxy = p;
	v->x = x;
	buf_init(&v->pending, OUTPUT_BYTES);
	/* Port 80 is not said: it is what everybody takes for the same. */
	(void)dest_text(host, port == 80 && h->method != HTTP_CONNECT ? 0 : port, v->where);
	p->report->requests++;
	p->report->bytes_up += h->n_bytes;
	r = http_connect_tcp(dest_addr_text(&rule->addr, address).p, rule->addr_port, &fd, &e);
	if (r >= 0)
		r = h->method == HTTP_CONNECT ? open_tunnel(v, fd, &e)
					      : open_client(v, fd, h, str_z(v->where), &e);
	if (r >= 0) {
		http_exchange_set(x, v);
		return;
	}
	answer_failed(v, &e);
	(void)visit_free(v);
}

static void on_request(void *ctx, struct http_exchange *x)
{
	struct proxy *p = ctx;
	const struct http_head *h = http_exchange_head(x);
	bool connect = h->method == HTTP_CONNECT;
	const struct dest *rule;
	struct dest_host host;
	enum net_verdict verdict;
	uint16_t port;

	if (h->form != (connect ? HTTP_AUTHORITY : HTTP_ABSOLUTE)) {
		answer_bad(
			x,
			"this is a proxy: the target has to be http://host:port/…, or host:port with CONNECT");
		return;
	}
	if (h->path.n == 0 && h->has_query) {
		answer_bad(x, "the target has a query and no path");
		return;
	}
	if (h->is_https) {
		answer_bad(x, "https goes through CONNECT");
		return;
	}
	if (!dest_authority_parse(http_head_slice(h, h->authority), connect ? 0 : 80, &host, &port)) {
		answer_bad(
			x,
			"the host is not a name or an address in its usual spelling, or the port is missing");
		return;
	}
	verdict = net_judge(p->rules, &host, port, &rule);
	if (verdict == NET_ALLOWED)
		let_through(p, x, &host, port, rule);
	else
		refuse(p, x, &host, port, verdict, rule);
}

static void on_request_body(void *ctx, struct http_exchange *x, struct str piece)
{
	struct proxy *p = ctx;
	struct visit *v = http_exchange_get(x);
	int r = 0;

	if (!v)
		return;
	p->report->bytes_up += piece.n;
	r = v->client ? http_client_write(v->client, piece) : v->tunnel ? tunnel_write(v->tunnel, piece) : 0;
	if (r > 0)
		http_exchange_pause(x, true);
	if (r < 0)
		break_answer(v);
}

static void on_whole(void *ctx, struct http_exchange *x)
{
	struct visit *v = http_exchange_get(x);

	(void)ctx;
	if (v && v->client && http_client_finish(v->client) < 0)
		break_answer(v);
}

static void on_room(void *ctx, struct http_exchange *x)
{
	struct visit *v = http_exchange_get(x);

	(void)ctx;
	if (!v)
		return;
	if (v->pending.n) {
		int r = http_answer_write(x, buf_str(&v->pending));

		if (r == -EAGAIN || r == -EPIPE)
			return;
		v->pending.n = 0;
	}
	if (v->ended)
		end_answer(v);
	else if (v->half)
		http_answer_half(x);
	else
		pause_far(v, false);
}

static void on_half(void *ctx, struct http_exchange *x)
{
	struct visit *v = http_exchange_get(x);

	(void)ctx;
	if (v && v->tunnel)
		tunnel_finish(v->tunnel);
}

static void on_gone(void *ctx, struct http_exchange *x)
{
	(void)ctx;
	(void)visit_free(http_exchange_get(x));
	http_exchange_set(x, NULL);
}

static const struct http_handler server_handler = { .request = on_request,
						    .body = on_request_body,
						    .whole = on_whole,
						    .room = on_room,
						    .half = on_half,
						    .gone = on_gone };

/* ---- the whole ---- */

static uint64_t or_default(uint64_t v, uint64_t fallback)
{
	return v ? v : fallback;
}

int proxy_new(struct loop *loop, const struct proxy_opts *opts, const struct net_rules *rules,
	      struct net_report *report, struct proxy **ret, struct err *e)
{
	_cleanup_(proxy_freep) struct proxy *p = calloc(1, sizeof(*p));
	struct http_server_opts so = { .limits = { .head_bytes = 32768,
						   .line_bytes = 16384,
						   .body_bytes = (uint64_t)1 << BODY_MAX_SHIFT },
				       .max_fields = FIELDS_MAX,
				       .output_bytes = OUTPUT_BYTES };

	if (!p)
		return err_sys(e, ENOMEM, "proxy");
	p->loop = loop;
	p->rules = rules;
	p->report = report;
	p->opts = opts ? *opts : (struct proxy_opts){ 0 };
	p->opts.connect_ms = or_default(p->opts.connect_ms, 10000);
	p->opts.answer_ms = or_default(p->opts.answer_ms, 600000);
	p->opts.idle_ms = or_default(p->opts.idle_ms, 600000);
	p->opts.half_ms = or_default(p->opts.half_ms, 30000);
	so.max_connections = (unsigned)or_default(p->opts.max_connections, 64);
	so.write_ms = so.body_ms = p->opts.idle_ms;
	if (http_server_new(loop, &so, &server_handler, p, &p->server, e) < 0)
		return -1;
	*ret = TAKE_PTR(p);
	return 0;
}

struct proxy *proxy_free(struct proxy *p)
{
	if (!p)
		return NULL;
	p->server = http_server_free(p->server);
	free(p);
	return NULL;
}

int proxy_listen(struct proxy *p, int fd, struct err *e)
{
	return http_server_listen(p->server, fd, e);
}
