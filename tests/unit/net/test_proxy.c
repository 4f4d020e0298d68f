/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy with real sockets on both sides; the loop is turned by hand. The server behind it writes what it was asked into `seen`. */
#include "check.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/sanitize.h"
#include "http/listen.h"
#include "net/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#define TURNS_MAX 200000

struct far {
	int listener, fd; /* the server: one connection at a time */
	uint16_t port;
	struct buf seen;    /* what it was sent, all connections together */
	const char *answer; /* said once what was sent ends with `after` */
	const char *after;
	const char *late;               /* said when nothing more comes */
	size_t repeat;                  /* the byte 'x' behind the answer, so often */
	bool answered, keep_open, deaf; /* deaf: reads nothing */
	unsigned n_accepted;
};

struct world {
	struct loop *loop;
	struct proxy *proxy;
	struct net_rules *rules;
	struct net_report *report;
	struct far far;
	int fd; /* to the proxy */
	uint16_t port;
	struct buf got;
	bool eof;
	char texts[4][128];
};

static int listen_here(uint16_t *port)
{
	struct err e = { 0 };
	int fd = FD_NONE;

	CHECK_CASE(http_listen_tcp("127.0.0.1", 0, &fd, port, &e) == 0, "%s", e.msg);
	return fd;
}

static void start_with(struct world *w, const struct proxy_opts *opts)
{
	struct err e = { 0 };
	int fd;

	*w = (struct world){ .far = { .fd = -1, .after = "\r\n\r\n" }, .fd = -1 };
	w->rules = calloc(1, sizeof(*w->rules));
	w->report = calloc(1, sizeof(*w->report));
	assert_true(w->rules && w->report);
	buf_init(&w->got, (size_t)64 << 20);
	buf_init(&w->far.seen, (size_t)64 << 20);
	assert_int_equal(loop_new(4096, &w->loop), 0);
	w->far.listener = listen_here(&w->far.port);
	(void)snprintf(w->texts[0], 128, "ollama:11434=127.0.0.1:%u", w->far.port);
	(void)snprintf(w->texts[1], 128, "web=127.0.0.1:%u", w->far.port);
	(void)snprintf(w->texts[2], 128, "web:80=127.0.0.1:%u", w->far.port);
	w->rules->option = "network.internal.hosts";
	for (int i = 0; i < 3; i++)
		CHECK_CASE(net_rules_add(w->rules, str_z(w->texts[i]), &e) == 0, "%s", e.msg);
	CHECK_CASE(proxy_new(w->loop, opts, w->rules, w->report, &w->proxy, &e) == 0, "%s", e.msg);
	fd = listen_here(&w->port);
	CHECK_CASE(proxy_listen(w->proxy, fd, &e) == 0, "%s", e.msg);
}

static void start(struct world *w)
{
	start_with(w, NULL);
}

static void done(struct world *w)
{
	w->proxy = proxy_free(w->proxy);
	w->loop = loop_free(w->loop);
	free(w->rules);
	free(w->report);
	buf_done(&w->got);
	buf_done(&w->far.seen);
	(void)close(w->far.listener);
	(void)close(w->far.fd);
	(void)close(w->fd);
}
#define _cleanup_world_ _cleanup_(done)

static void dial(struct world *w)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(w->port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	(void)close(w->fd);
	w->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(w->fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_true(fcntl(w->fd, F_SETFL, O_NONBLOCK) == 0);
	w->got.n = 0;
	w->eof = false;
}

static bool ends(const struct buf *b, const char *tail)
{
	size_t n = strlen(tail);

	return b->n >= n && memcmp(b->p + b->n - n, tail, n) == 0;
}

static void far_say(struct far *f)
{
	static char block[65536];
	size_t n;

	if (!f->answered && f->answer && ends(&f->seen, f->after)) {
		f->answered = true;
		assert_int_equal(send(f->fd, f->answer, strlen(f->answer), MSG_NOSIGNAL), strlen(f->answer));
	}
	if (!f->answered)
		return;
	memset(block, 'x', sizeof(block));
	while (f->repeat) {
		ssize_t sent = send(f->fd, block, f->repeat < sizeof(block) ? f->repeat : sizeof(block),
				    MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent <= 0)
			return;
		n = (size_t)sent;
		f->repeat -= n;
	}
	if (!f->keep_open) {
		(void)close(f->fd);
		f->fd = -1;
	}
}

static void far_turn(struct far *f)
{
	static char bytes[65536];
	ssize_t n;

	if (f->fd < 0) {
		f->fd = accept4(f->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		f->n_accepted += f->fd >= 0;
		f->answered = f->fd >= 0 ? false : f->answered;
	}
	if (f->fd < 0 || f->deaf)
		return;
	n = recv(f->fd, bytes, sizeof(bytes), 0);
	if (n > 0)
		buf_put(&f->seen, (struct str){ bytes, (size_t)n });
	if (n == 0 && f->late) {
		f->after = "";
		f->answer = f->late;
		f->late = NULL;
	} else if (n == 0 && !f->repeat) {
		(void)close(f->fd);
		f->fd = -1;
		return;
	}
	far_say(f);
}

static void near_turn(struct world *w)
{
	static char bytes[65536];
	ssize_t n = recv(w->fd, bytes, sizeof(bytes), 0);

	if (n > 0)
		buf_put(&w->got, (struct str){ bytes, (size_t)n });
	w->eof |= n == 0 || (n < 0 && errno == ECONNRESET);
}

static void turn(struct world *w)
{
	far_turn(&w->far);
	assert_true(loop_step(w->loop, clock_deadline(1)) >= 0);
}

#define UNTIL(w, cond)                                                    \
	do {                                                              \
		int n_ = 0;                                               \
		while (!(cond)) {                                         \
			CHECK_CASE(n_++ < TURNS_MAX, "never: %s", #cond); \
			turn(w);                                          \
			near_turn(w);                                     \
		}                                                         \
	} while (0)

static void say(struct world *w, struct str text)
{
	while (text.n) {
		ssize_t n = send(w->fd, text.p, text.n, MSG_NOSIGNAL);

		if (n < 0) {
			assert_int_equal(errno, EAGAIN);
			turn(w);
			continue;
		}
		text = str_from(text, (size_t)n);
	}
}

static bool has(const struct buf *b, const char *text)
{
	return b->n && memmem(b->p, b->n, text, strlen(text)) != NULL;
}

static void ask(struct world *w, const char *text)
{
	dial(w);
	say(w, str_z(text));
}

#define GET "GET http://ollama:11434/api/tags?a=b HTTP/1.1\r\nHost: ollama:11434\r\n"

TEST(proxy_asks_the_mapped_address_in_the_origins_own_form)
{
	_cleanup_world_ struct world w;

	start(&w);
	w.far.answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-It: y\r\n\r\nhello";
	ask(&w, GET "Accept: */*\r\n\r\n");
	UNTIL(&w, ends(&w.got, "hello"));
	assert_true(has(&w.far.seen, "GET /api/tags?a=b HTTP/1.1\r\nHost: ollama:11434\r\n"));
	assert_true(has(&w.far.seen, "Accept: */*\r\n"));
	assert_true(has(&w.far.seen, "Connection: close\r\n"));
	assert_true(has(&w.got, "HTTP/1.1 200 OK\r\n"));
	assert_true(has(&w.got, "Content-Length: 5\r\n"));
	assert_true(has(&w.got, "X-It: y\r\n"));
	assert_int_equal(w.report->requests, 1);
	assert_true(w.report->bytes_up > 0 && w.report->bytes_down > 5);
	assert_int_equal(w.report->n_denials, 0);
}

TEST(proxy_understands_a_request_the_same_wherever_it_is_cut)
{
	static const char text[] =
		"POST http://OLLAMA.:11434/x HTTP/1.1\r\nHost: ollama.:11434\r\n"
		"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: v\r\n\r\n";

	for (size_t cut = 1; cut < sizeof(text) - 1; cut++) {
		_cleanup_world_ struct world w;

		start(&w);
		w.far.answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
		w.far.after = "0\r\n\r\n";
		dial(&w);
		say(&w, (struct str){ text, cut });
		turn(&w);
		turn(&w);
		say(&w, (struct str){ text + cut, sizeof(text) - 1 - cut });
		UNTIL(&w, ends(&w.got, "0\r\n\r\n"));
		assert_true(has(&w.far.seen, "POST /x HTTP/1.1\r\nHost: ollama:11434\r\n"));
		assert_true(has(&w.far.seen, "Transfer-Encoding: chunked\r\n"));
		assert_true(has(&w.got, "2\r\nhi\r\n"));
		assert_false(has(&w.far.seen, "T: v"));
		assert_false(has(&w.far.seen, "x=y"));
	}
}

TEST(proxy_passes_an_answer_on_wherever_it_is_cut)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";

	for (size_t cut = 1; cut < sizeof(text) - 1; cut++) {
		_cleanup_world_ struct world w;

		start(&w);
		w.far.keep_open = true;
		ask(&w, GET "\r\n");
		UNTIL(&w, ends(&w.far.seen, "\r\n\r\n"));
		assert_int_equal(send(w.far.fd, text, cut, 0), cut);
		for (int i = 0; i < 3; i++)
			turn(&w);
		assert_int_equal(send(w.far.fd, text + cut, sizeof(text) - 1 - cut, 0),
				 sizeof(text) - 1 - cut);
		UNTIL(&w, ends(&w.got, "abc"));
		assert_true(has(&w.got, "HTTP/1.1 200 OK\r\n"));
	}
}

TEST(proxy_refuses_what_no_rule_names_and_dials_nobody)
{
	static const struct {
		const char *request, *status, *words;
	} t[] = {
		{ "GET http://ollama/ HTTP/1.1\r\nHost: ollama\r\n\r\n", "403", "\"port_not_allowed\"" },
		{ "GET http://ollama:11435/ HTTP/1.1\r\nHost: ollama:11435\r\n\r\n", "403",
		  "\"rule\":\"network.internal.hosts: ollama:11434\"" },
		{ "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", "403",
		  "\"host_not_allowed\"" },
		{ "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", "403",
		  "\"host\":\"example.com\",\"port\":80" },
		{ "GET http://127.0.0.1:11434/ HTTP/1.1\r\nHost: 127.0.0.1:11434\r\n\r\n", "403",
		  "host_not_allowed" },
		{ "GET http://169.254.169.254/ HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n", "403",
		  "host_not_allowed" },
		{ "GET http://[::1]:11434/ HTTP/1.1\r\nHost: [::1]:11434\r\n\r\n", "403",
		  "host_not_allowed" },
		{ "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", "403",
		  "host_not_allowed" },
		{ "CONNECT ollama:22 HTTP/1.1\r\nHost: ollama:22\r\n\r\n", "403", "port_not_allowed" },
		{ "POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\nContent-Length: 4\r\n\r\nabcd",
		  "403", "host_not" },
		/* what two readers could take for two hosts */
		{ "GET http://ollama:11434/ HTTP/1.1\r\nHost: example.com\r\n\r\n", "400", "" },
		{ "GET http://ollama:11434@example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", "400", "" },
		{ "GET http://0x7f.1:11434/ HTTP/1.1\r\nHost: 0x7f.1:11434\r\n\r\n", "400", "" },
		{ "GET http://2130706433/ HTTP/1.1\r\nHost: 2130706433\r\n\r\n", "400", "" },
		{ "GET http://[::ffff:127.0.0.1]:11434/ HTTP/1.1\r\nHost: [::ffff:127.0.0.1]:11434\r\n\r\n",
		  "400", "" },
		{ "GET http://ollama..:11434/ HTTP/1.1\r\nHost: ollama..:11434\r\n\r\n", "400", "" },
		{ "GET / HTTP/1.1\r\nHost: ollama:11434\r\n\r\n", "400", "this is a proxy" },
		{ "GET https://ollama:11434/ HTTP/1.1\r\nHost: ollama:11434\r\n\r\n", "400", "CONNECT" },
		{ "GET http://ollama:11434?x HTTP/1.1\r\nHost: ollama:11434\r\n\r\n", "400", "no path" },
		{ "CONNECT ollama HTTP/1.1\r\nHost: ollama\r\n\r\n", "400", "" },
		{ "CONNECT http://ollama:11434/ HTTP/1.1\r\nHost: ollama\r\n\r\n", "400", "" },
		{ "GET ftp://ollama:11434/ HTTP/1.1\r\nHost: ollama:11434\r\n\r\n", "400", "" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		_cleanup_world_ struct world w;
		char line[32];

		start(&w);
		ask(&w, t[i].request);
		UNTIL(&w, ends(&w.got, "\n") && has(&w.got, "\r\n\r\n"));
		(void)snprintf(line, sizeof(line), "HTTP/1.1 %s ", t[i].status);
		CHECK_CASE(has(&w.got, line) && has(&w.got, t[i].words), "%s: got %s", t[i].request, w.got.p);
		assert_int_equal(w.far.n_accepted, 0);
		assert_int_equal(w.report->requests, 0);
		assert_int_equal(w.report->n_denials, strcmp(t[i].status, "403") == 0);
	}
}

TEST(proxy_counts_a_destination_that_is_refused_again_and_again_once)
{
	_cleanup_world_ struct world w;
	char text[256];

	start(&w);
	for (int i = 0; i < 3; i++) {
		ask(&w, "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n");
		UNTIL(&w, ends(&w.got, "\n") && has(&w.got, "\r\n\r\n"));
	}
	assert_int_equal(w.report->n_denials, 1);
	assert_int_equal(w.report->denials[0].count, 3);
	assert_string_equal(w.report->denials[0].object, "example.com:80");
	for (int i = 0; i < 30; i++) {
		(void)snprintf(text, sizeof(text),
			       "GET http://h%d.example/ HTTP/1.1\r\nHost: h%d.example\r\n\r\n", i, i);
		ask(&w, text);
		UNTIL(&w, ends(&w.got, "\n") && has(&w.got, "\r\n\r\n"));
	}
	assert_int_equal(w.report->n_denials, NET_DENIALS_MAX);
	assert_int_equal(w.report->denials_lost, 31 - NET_DENIALS_MAX);
}

TEST(proxy_takes_off_what_is_about_one_connection)
{
	_cleanup_world_ struct world w;

	start(&w);
	w.far.answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\n"
		       "Keep-Alive: timeout=5\r\nProxy-Authenticate: Basic\r\nX-End: 1\r\n\r\n";
	ask(&w,
	    GET "Connection: keep-alive, X-Mine\r\nX-Mine: 1\r\nProxy-Authorization: Basic c2VjcmV0\r\n"
		"Proxy-Connection: keep-alive\r\nTE: trailers\r\nUpgrade: websocket\r\nX-Kept: 1\r\n\r\n");
	UNTIL(&w, ends(&w.got, "\r\n\r\n"));
	assert_true(has(&w.far.seen, "X-Kept: 1") && has(&w.got, "X-End: 1"));
	assert_false(has(&w.far.seen, "X-Mine") || has(&w.far.seen, "Proxy-") || has(&w.far.seen, "TE:") ||
		     has(&w.far.seen, "Upgrade"));
	assert_false(has(&w.got, "X-Hop") || has(&w.got, "Keep-Alive") || has(&w.got, "Proxy-"));
}

TEST(proxy_follows_no_redirect)
{
	_cleanup_world_ struct world w;

	start(&w);
	w.far.answer = "HTTP/1.1 302 Found\r\nLocation: http://example.com/\r\nContent-Length: 0\r\n\r\n";
	ask(&w, GET "\r\n");
	UNTIL(&w, ends(&w.got, "\r\n\r\n"));
	assert_true(has(&w.got, "302 Found") && has(&w.got, "Location: http://example.com/"));
	assert_int_equal(w.far.n_accepted, 1);
	/* who follows it asks, and is refused, on the same connection */
	w.got.n = 0;
	say(&w, STR("GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n"));
	UNTIL(&w, has(&w.got, "host_not_allowed"));
}

TEST(proxy_answers_requests_in_a_row_one_after_the_other)
{
	_cleanup_world_ struct world w;

	start(&w);
	w.far.answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	ask(&w, GET "\r\n" GET "\r\nGET http://evil/ HTTP/1.1\r\nHost: evil\r\n\r\n" GET "\r\n");
	UNTIL(&w, w.report->requests == 3 && ends(&w.got, "ok"));
	assert_int_equal(w.far.n_accepted, 3);
	assert_int_equal(w.report->n_denials, 1);
}

TEST(proxy_opens_a_tunnel_to_what_a_rule_names)
{
	_cleanup_world_ struct world w;

	start(&w);
	w.far.keep_open = true;
	w.far.after = "ping";
	w.far.answer = "pong";
	/* what is sent behind the head is the tunnel's */
	ask(&w, "CONNECT ollama:11434 HTTP/1.1\r\nHost: ollama:11434\r\n\r\npi");
	UNTIL(&w, has(&w.got, "200 OK\r\n"));
	say(&w, STR("ng"));
	UNTIL(&w, ends(&w.got, "pong"));
	assert_int_equal(w.far.seen.n, 4);
	/* the server ends it */
	(void)shutdown(w.far.fd, SHUT_RDWR);
	UNTIL(&w, w.eof);
}

TEST(proxy_passes_on_what_came_with_the_request_for_a_tunnel)
{
	_cleanup_world_ struct world w;
	int n = 0;

	start(&w);
	w.far.keep_open = true;
	w.far.after = "all of it";
	w.far.answer = "yes";
	ask(&w, "CONNECT ollama:11434 HTTP/1.1\r\nHost: ollama:11434\r\n\r\nall of it");
	for (; !ends(&w.got, "yes"); n++) {
		CHECK_CASE(n < 5000, "it waits for more");
		turn(&w);
		near_turn(&w);
	}
}

#define TUNNEL "CONNECT ollama:11434 HTTP/1.1\r\nHost: ollama:11434\r\n\r\n"

/* As `printf request | nc -N` does; with i = 1 even before the tunnel is there. */
TEST(proxy_passes_on_the_end_of_the_clients_half_and_what_comes_after_it)
{
	enum { BYTES = 4 << 20 };

	for (int i = 0; i < 2; i++) {
		_cleanup_world_ struct world w;

		start(&w);
		w.far.late = "pong";
		w.far.repeat = BYTES;
		ask(&w, i ? TUNNEL "ping" : TUNNEL);
		if (i == 0) {
			UNTIL(&w, has(&w.got, "200 OK\r\n"));
			say(&w, STR("ping"));
		}
		assert_int_equal(shutdown(w.fd, SHUT_WR), 0);
		UNTIL(&w, w.eof);
		assert_true(ends(&w.far.seen, "ping") && has(&w.got, "pongxxxx"));
		assert_true(w.got.n > BYTES);
		UNTIL(&w, w.far.fd < 0);
	}
}

TEST(proxy_passes_on_the_end_of_the_servers_half_and_what_the_client_sends_after_it)
{
	enum { BYTES = 4 << 20 };
	static char more[BYTES];
	_cleanup_world_ struct world w;

	memset(more, 'm', sizeof(more));
	start(&w);
	w.far.keep_open = true;
	ask(&w, TUNNEL "ping");
	UNTIL(&w, ends(&w.far.seen, "ping"));
	assert_int_equal(shutdown(w.far.fd, SHUT_WR), 0);
	UNTIL(&w, w.eof);
	say(&w, (struct str){ more, sizeof(more) });
	/* The last of it is still on its way when the client has ended its half, too. */
	w.far.deaf = true;
	assert_int_equal(shutdown(w.fd, SHUT_WR), 0);
	for (int i = 0; i < 100; i++)
		turn(&w);
	w.far.deaf = false;
	UNTIL(&w, w.far.fd < 0);
	assert_int_equal(w.far.seen.n, BYTES + 4);
}

/* Whoever keeps connections for later does not know that the server has ended one. */
TEST(proxy_ends_a_tunnel_whose_server_has_ended_its_half_and_whose_client_says_nothing)
{
	const struct proxy_opts opts = { .half_ms = 30 };
	_cleanup_world_ struct world w;

	start_with(&w, &opts);
	w.far.keep_open = true;
	ask(&w, TUNNEL);
	UNTIL(&w, has(&w.got, "200 OK\r\n") && w.far.fd >= 0);
	assert_int_equal(shutdown(w.far.fd, SHUT_WR), 0);
	UNTIL(&w, w.far.fd < 0);
}

TEST(proxy_ends_the_server_when_the_client_has_gone)
{
	static const char *const first[] = { "CONNECT ollama:11434 HTTP/1.1\r\nHost: ollama:11434\r\n\r\n",
					     GET "\r\n" };

	for (size_t i = 0; i < 2; i++) {
		_cleanup_world_ struct world w;

		start(&w);
		w.far.keep_open = true;
		ask(&w, first[i]);
		UNTIL(&w, i == 0 ? has(&w.got, "200 OK") : w.far.seen.n > 0);
		UNTIL(&w, w.far.fd >= 0);
		(void)close(w.fd);
		w.fd = -1;
		for (int n = 0; w.far.fd >= 0; n++) {
			CHECK_CASE(n < TURNS_MAX, "the server still has a connection");
			turn(&w);
		}
	}
}

TEST(proxy_tells_of_a_server_that_is_not_there_or_speaks_nonsense)
{
	_cleanup_world_ struct world w, v;

	start(&w);
	w.far.answer = "SSH-2.0-OpenSSH\r\n\r\n";
	ask(&w, GET "\r\n");
	UNTIL(&w, has(&w.got, "502 ") && has(&w.got, "\"unreachable\""));
	start(&v);
	(void)close(v.far.listener);
	v.far.listener = -1;
	ask(&v, GET "\r\n");
	UNTIL(&v, has(&v.got, "502 ") && has(&v.got, "ollama:11434"));
	ask(&v, "CONNECT ollama:11434 HTTP/1.1\r\nHost: ollama:11434\r\n\r\n");
	UNTIL(&v, has(&v.got, "502 "));
}

TEST(proxy_breaks_an_answer_that_the_server_does_not_finish)
{
	static const char *const cut[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"
	};

	for (size_t i = 0; i < 2; i++) {
		_cleanup_world_ struct world w;

		start(&w);
		w.far.answer = cut[i];
		ask(&w, GET "\r\n");
		UNTIL(&w, w.eof);
		assert_false(has(&w.got, "0\r\n\r\n"));
	}
}

TEST(proxy_ends_a_wait_for_a_server_that_says_nothing)
{
	const struct proxy_opts opts = { .answer_ms = 30, .connect_ms = 1000, .idle_ms = 30 };
	_cleanup_world_ struct world w, v;

	start_with(&w, &opts);
	w.far.keep_open = true;
	ask(&w, GET "\r\n");
	UNTIL(&w, has(&w.got, "504 ") && has(&w.got, "\"timeout\""));
	start_with(&v, &opts);
	v.far.keep_open = true;
	ask(&v, "CONNECT ollama:11434 HTTP/1.1\r\nHost: ollama:11434\r\n\r\n");
	UNTIL(&v, v.eof);
}

static size_t memory_kib(void)
{
	char text[4096], *at;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	(void)close(fd);
	assert_true(n > 0);
	text[n] = '\0';
	at = strstr(text, "VmRSS:");
#ifdef SANITIZE_ADDRESS_ON
	at = NULL; /* it keeps what was freed for a while: the bound cannot be seen */
#endif
	return at ? strtoul(at + 6, NULL, 10) : 0;
}

/* The client takes nothing while the server sends as much as anybody lets it: what waits is bounded, and all of it arrives later. */
static void big_answer(const char *request, const char *head, size_t bytes)
{
	_cleanup_world_ struct world w;
	size_t before, body = 0, from;

	start(&w);
	w.far.answer = head;
	w.far.repeat = bytes;
	ask(&w, request);
	before = memory_kib();
	for (int i = 0; i < 400 && w.far.repeat; i++)
		turn(&w);
	assert_true(w.far.repeat > 0);
	CHECK_CASE(memory_kib() - before < 4096, "%zu KiB more", memory_kib() - before);
	for (int i = 0; !w.eof && body < bytes; i++) {
		CHECK_CASE(i < TURNS_MAX, "%zu of %zu", body, bytes);
		turn(&w);
		near_turn(&w);
		for (from = 0; from < w.got.n; from++)
			body += w.got.p[from] == 'x';
		w.got.n = 0;
	}
	assert_int_equal(body, bytes);
	assert_true(w.report->bytes_down >= bytes);
}

TEST(proxy_holds_back_a_server_that_is_faster_than_its_client)
{
	big_answer(GET "\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 52428800\r\n\r\n", 52428800);
	big_answer("CONNECT ollama:11434 HTTP/1.1\r\nHost: ollama:11434\r\n\r\ngo\r\n\r\n", "200", 52428800);
}

TEST(proxy_holds_back_a_client_that_is_faster_than_its_server)
{
	static char block[65536];
	_cleanup_world_ struct world w;
	size_t sent = 0, before;
	const size_t all = 20 << 20;

	memset(block, 'y', sizeof(block));
	start(&w);
	w.far.deaf = true;
	ask(&w,
	    "POST http://ollama:11434/ HTTP/1.1\r\nHost: ollama:11434\r\nContent-Length: 20971520\r\n\r\n");
	before = memory_kib();
	for (int i = 0; i < 400; i++) {
		ssize_t n = send(w.fd, block, sizeof(block), MSG_NOSIGNAL);

		sent += n > 0 ? (size_t)n : 0;
		turn(&w);
	}
	assert_true(sent < all);
	CHECK_CASE(memory_kib() - before < 4096, "%zu KiB more", memory_kib() - before);
	w.far.deaf = false;
	w.far.answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	w.far.after = "yyyz";
	for (int i = 0; sent < all; i++) {
		size_t left = all - sent, n = left < sizeof(block) ? left : sizeof(block);
		ssize_t r;

		block[n - 1] = n == left ? 'z' : 'y';
		r = send(w.fd, block, n, MSG_NOSIGNAL);
		CHECK_CASE(i < TURNS_MAX, "%zu sent", sent);
		sent += r > 0 ? (size_t)r : 0;
		turn(&w);
	}
	UNTIL(&w, ends(&w.got, "ok"));
	assert_true(w.far.seen.n > all);
}

TEST(proxy_keeps_the_length_of_an_answer_without_a_body)
{
	_cleanup_world_ struct world w;

	start(&w);
	w.far.answer = "HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n";
	ask(&w, "HEAD http://web/ HTTP/1.1\r\nHost: web\r\n\r\n");
	UNTIL(&w, ends(&w.got, "\r\n\r\n"));
	assert_true(has(&w.got, "Content-Length: 77\r\n"));
	assert_true(has(&w.far.seen, "Host: web\r\n"));
}

/* The one that goes from here to the server. */
static void make_small_to(uint16_t port)
{
	int small = 4096;

	for (int fd = 3; fd < 100; fd++) {
		struct sockaddr_in a;
		socklen_t n = sizeof(a);

		if (getpeername(fd, (struct sockaddr *)&a, &n) == 0 && a.sin_family == AF_INET &&
		    ntohs(a.sin_port) == port)
			assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	}
}

/* More than the sockets take: some of it waits when both have ended their halves. */
static void both_end_and(size_t bytes)
{
	static char more[400 << 10];
	_cleanup_world_ struct world w;
	int small = 4096;

	memset(more, 'm', sizeof(more));
	start(&w);
	assert_int_equal(setsockopt(w.far.listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	w.far.keep_open = true;
	ask(&w, TUNNEL "ping");
	UNTIL(&w, ends(&w.far.seen, "ping"));
	make_small_to(w.far.port);
	assert_int_equal(shutdown(w.far.fd, SHUT_WR), 0);
	UNTIL(&w, w.eof);
	w.far.deaf = true;
	say(&w, (struct str){ more, bytes });
	for (int i = 0; i < 30; i++)
		turn(&w);
	assert_int_equal(shutdown(w.fd, SHUT_WR), 0);
	for (int i = 0; i < 100; i++)
		turn(&w);
	w.far.deaf = false;
	UNTIL(&w, w.far.fd < 0);
	assert_int_equal(w.far.seen.n, bytes + 4);
}

TEST(proxy_keeps_what_waits_for_a_server_when_both_halves_have_ended)
{
	both_end_and(40 << 10);
}

/* The client is not listened to then: what it has sent lies in the socket, behind its end. */
TEST(proxy_keeps_what_it_has_not_read_yet_when_both_halves_have_ended)
{
	both_end_and(200 << 10);
	both_end_and(400 << 10);
}

TEST_MAIN()
