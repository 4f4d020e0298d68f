/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes into the members of a body of /run or /v1/calls, most of them as they should be, and then the guard's own way: read, checked, decided, written anew,
 * and read and decided again as the runner does. What is let through is of the listed pair, has one of S2's tools and programs, and a curl in it has no
 * argument that is not a listed flag, seconds, or a URL of a listed host (D2-1); both sides decide the same, and nothing of the caller's policy is left.
 */
#include "../tests/unit/policy/defaults.h"
#include "check.h"

#include "base/utf8.h"
#include "server/guard/ask.h"

#define LIT(text)                        \
	{                                \
		(text), sizeof(text) - 1 \
	}

struct input {
	const uint8_t *p;
	size_t n;
};

static unsigned take(struct input *in, unsigned below)
{
	if (in->n == 0)
		return 0;
	in->n--;
	return *in->p++ % below;
}

static struct str bytes(struct input *in)
{
	size_t n = take(in, 24);

	n = n < in->n ? n : in->n;
	in->p += n;
	in->n -= n;
	return utf8_prefix((struct str){ (const char *)in->p - n, n }, n);
}

/* One of the words, or any bytes. */
static void put_word(struct jsonw *w, struct input *in, const char *const *known, unsigned n)
{
	unsigned i = take(in, n + 1);
	struct str s = i < n ? str_z(known[i]) : bytes(in);

	jsonw_str(w, utf8_valid(s) ? s : STR("\xef\xbf\xbd"));
}
#define WORD(w, in, ...)                                      \
	put_word(w, in, (const char *const[]){ __VA_ARGS__ }, \
		 sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void put_any(struct jsonw *w, struct input *in)
{
	static const char *const raw[] = { "null",
					   "true",
					   "0",
					   "-1",
					   "1e400",
					   "1.5",
					   "9007199254740993",
					   "{}",
					   "[]",
					   "[[[]]]",
					   "\"\"",
					   "{\"a\":[{\"b\":null}]}" };

	jsonw_raw(w, str_z(raw[take(in, sizeof(raw) / sizeof(raw[0]))]));
}

static void put_argv(struct jsonw *w, struct input *in)
{
	unsigned n = take(in, 7);

	jsonw_arr(w);
	WORD(w, in, "curl", "curl", "curl", "python3", "pytest", "sh", "bash", "/usr/bin/curl", "ls");
	while (n--) {
		if (take(in, 24) == 23)
			put_any(w, in);
		else
			WORD(w, in, "http://ollama:11434/", "http://ollama:11434/api", "http://ollama/",
			     "http://chroma:8000/", "https://example.com", "file:///etc/passwd", "-f", "-s",
			     "-S", "-fsS", "-m", "5", "-o", "-K", "-x", "--next", "-m5", "@x",
			     "http://ollama:11434@evil/", "http://evil/ollama:11434", "http://OLLAMA:11434/",
			     "ollama:11434", "http://ollama:11434\\@evil", "http://{ollama,evil}:11434/",
			     "http://ollama:11434/[1-3]", "-", "");
	}
	jsonw_arr_end(w);
}

static void put_args(struct jsonw *w, struct input *in)
{
	unsigned n = take(in, 4);

	jsonw_kobj(w, "args");
	while (n--) {
		switch (take(in, 6)) {
		case 0:
			jsonw_key(w, STR("path"));
			WORD(w, in, "a", "a/b", "../x", "/etc/passwd", "", "\\a", ".env");
			break;
		case 1:
			jsonw_key(w, STR("content"));
			WORD(w, in, "x", "");
			break;
		case 2:
		case 3:
			jsonw_key(w, STR("cmd"));
			put_argv(w, in);
			break;
		case 4:
			jsonw_key(w, STR("timeout_s"));
			put_any(w, in);
			break;
		default:
			jsonw_key(w, bytes(in).n ? STR("odd") : STR("max_bytes"));
			put_any(w, in);
		}
	}
	jsonw_obj_end(w);
}

static void put_scope(struct jsonw *w, struct input *in)
{
	jsonw_kobj(w, "scope");
	jsonw_key(w, STR("type"));
	WORD(w, in, "telegram", "telegram", "telegram", "signal");
	jsonw_key(w, STR("chat_id"));
	WORD(w, in, "1", "1", "1", "2", "", "x/../../etc");
	if (take(in, 8) == 7) {
		jsonw_key(w, STR("user_id"));
		put_any(w, in);
	}
	jsonw_obj_end(w);
}

static void put_body(struct jsonw *w, struct input *in)
{
	unsigned leave_out = take(in, 64);

	jsonw_obj(w);
	if (leave_out != 1) {
		jsonw_key(w, STR("agent"));
		WORD(w, in, "main", "main", "main", "other", "", "../x");
	}
	if (leave_out != 2)
		put_scope(w, in);
	if (leave_out != 3) {
		jsonw_key(w, STR("tool"));
		WORD(w, in, "shell_exec", "shell_exec", "file_read", "file_write", "exec", "read");
	}
	if (leave_out != 4)
		put_args(w, in);
	if (leave_out == 5) {
		jsonw_key(w, STR("request_id"));
		WORD(w, in, "r-1", "");
	}
	if (leave_out >= 56) {
		jsonw_key(w, leave_out == 63 ? STR("trust") : STR("policy"));
		put_any(w, in);
	}
	if (leave_out == 6) {
		jsonw_key(w, STR("session"));
		WORD(w, in, "agent:main:main", "agent:main:telegram:group:1", "x");
	}
	jsonw_obj_end(w);
}

/* ---- what has to hold ---- */

static void make_config(struct arena *a, struct config *c)
{
	static struct pair pair = { .channel = LIT("telegram"), .agent = LIT("main"), .chat_id = LIT("1") };
	static struct token token = { .all_pairs = true };
	static const struct str host = LIT("ollama:11434=127.0.0.1:9");

	world_defaults(&c->base, a);
	c->base.internal_hosts = (struct strs){ .v = &host, .n = 1 };
	c->pairs = &pair;
	c->tokens = &token;
	c->n_pairs = c->n_tokens = 1;
}

static bool is_flag(struct str s)
{
	return str_eq(s, STR("-f")) || str_eq(s, STR("-s")) || str_eq(s, STR("-S")) ||
	       str_eq(s, STR("-fsS")) || str_eq(s, STR("-m"));
}

static void check_curl(struct strs argv)
{
	static const struct str url = LIT("http://ollama:11434");

	for (size_t i = 1; i < argv.n; i++) {
		struct str s = argv.v[i];

		if (is_flag(s) || (i > 1 && str_eq(argv.v[i - 1], STR("-m"))))
			continue;
		CHECK(s.n >= url.n && str_eq_nocase((struct str){ s.p, url.n }, url));
		CHECK(s.n == url.n || s.p[url.n] == '/' || s.p[url.n] == '?' || s.p[url.n] == '#');
		CHECK(!memchr(s.p, '@', s.n) && !memchr(s.p, '\\', s.n) && !memchr(s.p, '{', s.n) &&
		      !memchr(s.p, '[', s.n));
	}
}

static bool decide_it(struct arena *a, const struct config *c, const struct wire_call *call,
		      const struct ask_s2 *s2, enum via via, struct decision *d)
{
	struct request r = { .facts = { .backends = 1u << BACKEND_NATIVE } };
	struct err e = { 0 };

	ask_request(call, via, 0, &r);
	r.tool = call->tool;
	r.argv = s2->argv;
	r.has_timeout = s2->timeout_s.said;
	r.timeout_s = s2->timeout_s.n;
	CHECK(decide(c, &r, a, d, &e) >= 0);
	return d->verdict == VERDICT_ALLOW;
}

static void check_run(struct arena *a, struct str body)
{
	_cleanup_buf_ struct buf text = { 0 };
	struct wire_call call, again;
	static struct decision d, second;
	static struct config c;
	struct wire_fault f = { 0 };
	struct ask_s2 s2, s2_again;
	struct jsonw w;

	c = (struct config){ 0 };
	make_config(a, &c);
	if (!wire_read_run(a, body, false, &call, &f) || !ask_check_s2(a, &call, &s2, &f)) {
		CHECK(f.status >= 400 && f.word && f.text[0]);
		return;
	}
	if (!decide_it(a, &c, &call, &s2, VIA_GUARD, &d))
		return;
	CHECK(str_eq(call.agent, STR("main")) && str_eq(call.channel, STR("telegram")) &&
	      str_eq(call.chat_id, STR("1")));
	CHECK(d.place.place != PLACE_HOST);
	if (str_eq(call.tool, STR("shell_exec"))) {
		CHECK(str_eq(s2.argv.v[0], STR("curl")) || str_starts(s2.argv.v[0], STR("py")));
		if (str_eq(s2.argv.v[0], STR("curl")))
			check_curl(s2.argv);
		CHECK(d.net.route == ROUTE_NONE || str_eq(s2.argv.v[0], STR("curl")));
	} else {
		CHECK(d.net.route == ROUTE_NONE);
	}
	CHECK(ask_clean_s2(a, &call));
	buf_init(&text, WIRE_BODY_MAX);
	jsonw_init(&w, &text, 0);
	wire_write_run(&w, &call);
	CHECK(!text.failed && wire_read_run(a, buf_str(&text), true, &again, &f) && !again.has_policy);
	CHECK(ask_check_s2(a, &again, &s2_again, &f) && s2_again.argv.n == s2.argv.n);
	CHECK(decide_it(a, &c, &again, &s2_again, VIA_RUNNER, &second));
	CHECK(d.net.route == second.net.route && d.net.n_dests == second.net.n_dests);
}

static void check_call(struct arena *a, struct str body)
{
	_cleanup_buf_ struct buf text = { 0 };
	struct wire_call call, again;
	struct wire_fault f = { 0 };
	struct jsonw w;

	if (!wire_read_call(a, body, false, &call, &f)) {
		CHECK(f.status >= 400 && f.word && f.text[0]);
		return;
	}
	buf_init(&text, WIRE_BODY_MAX);
	jsonw_init(&w, &text, 0);
	wire_write_call(&w, &call);
	CHECK(!text.failed && wire_read_call(a, buf_str(&text), true, &again, &f) && !again.has_policy);
	CHECK(!call.args == !again.args && (!call.args || value_equal(call.args, again.args)));
	CHECK(str_eq(call.session, again.session) && str_eq(call.tool, again.tool) &&
	      call.timeout_s == again.timeout_s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { .p = data, .n = size };
	_cleanup_arena_ struct arena a = { 0 };
	_cleanup_buf_ struct buf body = { 0 };
	struct jsonw w;

	arena_init(&a, (size_t)64 << 20);
	buf_init(&body, 1 << 16);
	jsonw_init(&w, &body, 0);
	put_body(&w, &in);
	CHECK(!body.failed);
	check_run(&a, buf_str(&body));
	check_call(&a, buf_str(&body));
	return 0;
}
