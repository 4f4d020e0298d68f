/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

static struct pair pairs[] = {
	{ .channel = { "telegram", 8 }, .agent = { "g-coder", 7 }, .chat_id = { "1", 1 } }
};
static struct token tokens[] = { { .all_pairs = true } };

static void as_guard(struct world *w)
{
	w->c.pairs = pairs;
	w->c.n_pairs = 1;
	w->c.tokens = tokens;
	w->c.n_tokens = 1;
	w->c.base.internal_hosts = KEEP(w, STR("ollama"), STR(" rag-service "), STR("chroma:8000"));
	w->r.via = VIA_GUARD;
	w->r.auth = AUTH_TOKEN;
	w->r.agent = STR("g-coder");
	w->r.channel = STR("telegram");
	w->r.chat_id = STR("1");
}

static enum code run(struct world *w, struct strs argv)
{
	w->r.tool = STR("shell_exec");
	w->r.argv = argv;
	ask(w);
	return w->d.code;
}
#define RUN(w, ...) run((w), LIST(__VA_ARGS__))

/* S2-4 and the wire contract: exactly three tools */
TEST(the_guard_knows_three_tools_by_their_own_names)
{
	static const char *const no[] = { "exec",      "read",    "bash", "SHELL_EXEC", "browser",
					  "web_fetch", "message", "",     "file_read2" };
	WORLD(w);

	as_guard(w);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		w->r.tool = str_z(no[i]);
		ask(w);
		CHECK_DENY(w, CODE_TOOL_NOT_ALLOWED);
	}
	w->r.tool = STR("file_read");
	ask(w);
	CHECK_ALLOW(w);
	CHECK_STR(w->d.tool.name, STR("read"));
	w->r.tool = STR("file_write");
	ask(w);
	CHECK_ALLOW(w);
	assert_int_equal(RUN(w, STR("python3"), STR("-c"), STR("1")), CODE_OK);
}

TEST(profile_tier1_holds_the_same_three_on_the_command_line)
{
	WORLD(w);

	w->c.base.profile = PROFILE_TIER1;
	w->c.base.has[OPT_PROGRAMS] = true;
	w->c.base.programs = LIST(STR("make"));
	ask_for(w, "", "read");
	CHECK_ALLOW(w);
	ask_for(w, "", "edit");
	CHECK_DENY(w, CODE_TOOL_NOT_ALLOWED);
	ask_for(w, "", "bash");
	CHECK_ALLOW(w); /* a question, no command */
	w->r.command = STR("make");
	ask_for(w, "", "bash");
	CHECK_DENY(w, CODE_INVALID_CMD);
	assert_int_equal(RUN(w, STR("make")), CODE_OK);
	assert_int_equal(RUN(w, STR("python3")), CODE_BINARY_DENIED);
}

TEST(a_command_is_a_non_empty_list_of_words)
{
	WORLD(w);

	as_guard(w);
	assert_int_equal(run(w, NO_LIST), CODE_INVALID_CMD);
	w->r.command = STR("python3 x.py");
	assert_int_equal(run(w, NO_LIST), CODE_INVALID_CMD);
	w->r.command = (struct str){ 0 };
	assert_int_equal(RUN(w, STR("")), CODE_INVALID_CMD);
	assert_int_equal(RUN(w, STR("python3"), ((struct str){ .p = "a\0b", .n = 3 })), CODE_INVALID_CMD);
}

TEST(shells_are_denied)
{
	WORLD(w);

	as_guard(w);
	assert_int_equal(RUN(w, STR("sh"), STR("-c"), STR("id")), CODE_SHELL_DENIED);
	assert_int_equal(RUN(w, STR("bash")), CODE_SHELL_DENIED);
	assert_int_equal(RUN(w, STR("zsh")), CODE_SHELL_DENIED);
	assert_int_equal(RUN(w, STR("fish")), CODE_SHELL_DENIED);
	assert_int_equal(RUN(w, STR("/bin/sh")), CODE_SHELL_DENIED);
	assert_int_equal(RUN(w, STR("dash")), CODE_SHELL_DENIED);
}

TEST(programs_not_listed_are_denied)
{
	WORLD(w);

	as_guard(w);
	assert_int_equal(RUN(w, STR("pytest"), STR("-q")), CODE_OK);
	assert_int_equal(RUN(w, STR("python")), CODE_OK);
	assert_int_equal(RUN(w, STR("rm"), STR("-rf")), CODE_BINARY_DENIED);
	assert_int_equal(RUN(w, STR("./python3")), CODE_BINARY_DENIED);
	assert_int_equal(RUN(w, STR("/usr/bin/python3")), CODE_BINARY_DENIED);
	w->c.base.has[OPT_PROGRAMS] = true;
	assert_int_equal(RUN(w, STR("python3")), CODE_BINARY_DENIED);
	w->c.base.programs = LIST(STR("make"));
	assert_int_equal(RUN(w, STR("make")), CODE_OK);
}

/* S2-18, S2-19, S2-42 */
TEST(curl_reaches_listed_hosts_with_the_listed_flags)
{
	WORLD(w);

	as_guard(w);
	assert_int_equal(RUN(w, STR("curl"), STR("-fsS"), STR("http://ollama:11434/api/tags")), CODE_OK);
	assert_int_equal(RUN(w, STR("curl"), STR("-f"), STR("-s"), STR("-S"), STR("-m"), STR("5"),
			     STR("https://RAG-service")),
			 CODE_OK);
	assert_int_equal(RUN(w, STR("curl"), STR("http://chroma:8000/")), CODE_OK);
	assert_int_equal(RUN(w, STR("curl"), STR("http://chroma:9000/")), CODE_HOST_NOT_ALLOWED);
	assert_int_equal(RUN(w, STR("curl"), STR("http://chroma/")), CODE_HOST_NOT_ALLOWED);
}

/* D2-1: the check of the original stops at the first URL */
TEST(curl_reads_no_configuration_from_the_workspace)
{
	WORLD(w);

	as_guard(w);
	assert_int_equal(RUN(w, STR("curl"), STR("-s"), STR("http://ollama/")), CODE_OK);
	assert_int_equal(w->d.tool.argv.n, 4);
	CHECK_STR(w->d.tool.argv.v[0], STR("curl"));
	CHECK_STR(w->d.tool.argv.v[1], STR("-q"));
	CHECK_STR(w->d.tool.argv.v[2], STR("-s"));
	CHECK_STR(w->d.tool.argv.v[3], STR("http://ollama/"));
}

TEST(every_argument_of_curl_is_looked_at)
{
	static const struct {
		const char *arg;
		enum code code;
	} t[] = {
		{ "file:///etc/hostname", CODE_INVALID_URL },
		{ "-o", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "-L", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "-K", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "--", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "-m5", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "-fs", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "-", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "-m", CODE_CURL_NEEDS_SECONDS },
		{ "", CODE_INVALID_URL },
		{ "http://evil.example/", CODE_HOST_NOT_ALLOWED },
		{ "https://ollama.evil.example/", CODE_HOST_NOT_ALLOWED },
		{ "http://ollama@evil.example/", CODE_INVALID_URL },
		{ "http://ollama:pw@evil.example/", CODE_INVALID_URL },
		{ "http://evil.example#ollama", CODE_HOST_NOT_ALLOWED },
		{ "http://evil.example?ollama", CODE_HOST_NOT_ALLOWED },
		{ "http://evil.example\\@ollama/", CODE_INVALID_URL },
		{ "http://{ollama,chroma}/", CODE_INVALID_URL },
		{ "http://[::1]/", CODE_INVALID_URL },
		{ "http://oll%61ma/", CODE_INVALID_URL },
		{ "http://ollama:0/", CODE_INVALID_URL },
		{ "http://ollama:99999/", CODE_INVALID_URL },
		{ "http://ollama:/", CODE_INVALID_URL },
		{ "http:///x", CODE_INVALID_URL },
		{ "http://", CODE_INVALID_URL },
		{ "ollama", CODE_INVALID_URL },
		{ "ftp://ollama/", CODE_INVALID_URL },
		{ "http:/ollama/", CODE_INVALID_URL },
		{ "http://ollama/a b", CODE_INVALID_URL },
		{ "@/etc/passwd", CODE_INVALID_URL },
		{ "--next", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "-K/etc/passwd", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "--config", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "--proxy", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "-x", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "--noproxy", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "--resolve", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "--connect-to", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "--url", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "--unix-socket", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "-d@/etc/passwd", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "-T", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "-fsSL", CODE_CURL_FLAG_NOT_ALLOWED },
		{ "FILE:///etc/hostname", CODE_INVALID_URL },
		{ "file://ollama/etc/hostname", CODE_INVALID_URL },
		{ "gopher://ollama:11434/", CODE_INVALID_URL },
		{ "http://ollama/{a,b}", CODE_INVALID_URL },
		{ "http://ollama/[1-9]", CODE_INVALID_URL },
		{ "http://ollama/?q={a}", CODE_INVALID_URL },
		{ "http://user@ollama/", CODE_INVALID_URL },
		{ "http://user:pw@ollama/", CODE_INVALID_URL },
		{ "http://@ollama/", CODE_INVALID_URL },
		{ "http://ollama:011434/", CODE_INVALID_URL },
		{ "http://ollama:+80/", CODE_INVALID_URL },
		{ "http://ollama:80:80/", CODE_INVALID_URL },
		{ "http://ollama../", CODE_INVALID_URL },
		{ "http://.ollama/", CODE_INVALID_URL },
		{ "http://-ollama/", CODE_INVALID_URL },
		{ "http://oll\xc3\xa4ma/", CODE_INVALID_URL },
		{ "http://0x7f.1/", CODE_INVALID_URL },
		{ "http://127.1/", CODE_INVALID_URL },
		{ "http://2130706433/", CODE_INVALID_URL },
		{ "http://0177.0.0.1/", CODE_INVALID_URL },
		{ "http://127.0.0.1/", CODE_HOST_NOT_ALLOWED },
		{ "http://169.254.169.254/", CODE_HOST_NOT_ALLOWED },
		{ "http://ollama.localdomain/", CODE_HOST_NOT_ALLOWED },
		{ " http://ollama/", CODE_INVALID_URL },
		{ "http://ollama/\tx", CODE_INVALID_URL },
		{ "http://ollama/\n", CODE_INVALID_URL },
	};
	WORLD(w);

	as_guard(w);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		enum code code = RUN(w, STR("curl"), STR("http://ollama/"), str_z(t[i].arg));

		CHECK_CASE(code == t[i].code, "'%s': %s, want %s", t[i].arg, code_word(code),
			   code_word(t[i].code));
		code = RUN(w, STR("curl"), str_z(t[i].arg), STR("http://ollama/"));
		CHECK_CASE(code != CODE_OK, "'%s' in front", t[i].arg);
	}
	assert_int_equal(RUN(w, STR("curl")), CODE_INVALID_URL);
	assert_int_equal(RUN(w, STR("curl"), STR("-s")), CODE_INVALID_URL);
	assert_int_equal(RUN(w, STR("curl"), STR("-m"), STR("x"), STR("http://ollama/")), CODE_CURL_NEEDS_SECONDS);
}

TEST(an_internal_host_with_an_address_is_reached_on_its_port_alone)
{
	static const struct {
		const char *url;
		enum code code;
	} t[] = {
		{ "http://ollama:11434/", CODE_OK },
		{ "HTTP://OLLAMA:11434/", CODE_OK },
		{ "http://ollama.:11434/", CODE_OK },
		{ "https://ollama:11434/", CODE_OK },
		{ "http://ollama/", CODE_HOST_NOT_ALLOWED },
		{ "http://ollama:80/", CODE_HOST_NOT_ALLOWED },
		{ "http://ollama:8080/", CODE_HOST_NOT_ALLOWED },
		{ "http://rag/", CODE_OK },
		{ "http://rag:80/", CODE_OK },
		{ "https://rag/", CODE_HOST_NOT_ALLOWED },
		{ "http://chroma:8000/", CODE_OK },
		{ "http://chroma:9000/", CODE_HOST_NOT_ALLOWED },
	};
	WORLD(w);

	as_guard(w);
	w->c.base.internal_hosts =
		KEEP(w, STR("ollama:11434=127.0.0.1:9000"), STR("rag=10.0.0.1"), STR("chroma=10.0.0.2:8000"));
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		enum code code = RUN(w, STR("curl"), str_z(t[i].url));

		CHECK_CASE(code == t[i].code, "'%s': %s", t[i].url, code_word(code));
	}
}

TEST(an_entry_that_cannot_be_read_lets_nobody_through)
{
	WORLD(w);

	as_guard(w);
	w->c.base.internal_hosts =
		KEEP(w, STR("ollama=localhost"), STR("*"), STR("*.ollama"), STR("=1.2.3.4"));
	assert_int_equal(RUN(w, STR("curl"), STR("http://ollama/")), CODE_HOST_NOT_ALLOWED);
	assert_int_equal(RUN(w, STR("curl"), STR("http://a.ollama/")), CODE_HOST_NOT_ALLOWED);
}

TEST(without_internal_hosts_curl_reaches_nobody)
{
	WORLD(w);

	as_guard(w);
	w->c.base.internal_hosts = NO_LIST;
	assert_int_equal(RUN(w, STR("curl"), STR("http://ollama/")), CODE_HOST_NOT_ALLOWED);
}

TEST(shells_and_programs_can_be_limited_for_anybody)
{
	WORLD(w);

	assert_int_equal(RUN(w, STR("bash"), STR("-c"), STR("id")), CODE_OK);
	w->c.base.shells = SHELLS_DENY;
	assert_int_equal(RUN(w, STR("bash"), STR("-c"), STR("id")), CODE_SHELL_DENIED);
	w->r.command = STR("id; id");
	assert_int_equal(run(w, NO_LIST), CODE_SHELL_DENIED);
	w->r.command = STR("id -u");
	assert_int_equal(run(w, NO_LIST), CODE_OK);
	w->c.base.shells = SHELLS_ALLOW;
	w->c.base.has[OPT_PROGRAMS] = true;
	w->c.base.programs = LIST(STR("id"));
	assert_int_equal(run(w, NO_LIST), CODE_OK);
	w->r.command = STR("id; id");
	assert_int_equal(run(w, NO_LIST), CODE_BINARY_DENIED);
	assert_int_equal(RUN(w, STR("curl"), STR("file:///etc/passwd")), CODE_BINARY_DENIED);
	w->c.base.programs = LIST(STR("curl"));
	assert_int_equal(RUN(w, STR("curl"), STR("file:///etc/passwd")),
			 CODE_OK); /* only tier 1 looks at curl's arguments */
}

TEST_MAIN()
