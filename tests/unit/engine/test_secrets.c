/* SPDX-License-Identifier: Apache-2.0 */
#include "spot.h"

#include "base/arena.h"
#include "engine/secrets.h"

#define SECRET "s3cr3t-Zq81"

/* ---- the format ---- */

static int parse(struct str in, struct secret *v, size_t *n, struct err *e)
{
	static char text[1 << 16];

	assert_true(in.n <= sizeof(text));
	memcpy(text, in.p, in.n);
	return secrets_parse(text, in.n, "f", v, 8, n, e);
}

TEST(a_line_is_a_name_and_a_value)
{
	static const struct {
		struct str in, value; /* of the last one */
		size_t n;
	} cases[] = {
		{ STR("A=b"), STR("b"), 1 },
		{ STR("A=b\n"), STR("b"), 1 },
		{ STR("A="), STR(""), 1 },
		{ STR("  A=b c \t\n"), STR("b c"), 1 },
		{ STR("# A=x\n;B=x\n\n \nC_1=y#z\n"), STR("y#z"), 1 },
		{ STR("A=a=b=c"), STR("a=b=c"), 1 },
		{ STR("A='x \" # \\ $y'"), STR("x \" # \\ $y"), 1 },
		{ STR("A='x' # a comment\n"), STR("x"), 1 },
		{ STR("A=\"x \\\" \\\\ \\$ \\` ' #\""), STR("x \" \\ $ ` ' #"), 1 },
		{ STR("A='one\ntwo\n'\nB=c"), STR("c"), 2 },
		{ STR("B=c\nA=\"-----BEGIN\nabc\n-----END\"\n"), STR("-----BEGIN\nabc\n-----END"), 2 },
		{ STR("A=\xff\xfe"), STR("\xff\xfe"), 1 },
		{ STR("A=''"), STR(""), 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct secret v[8];
		struct err e = { 0 };
		size_t n = 0;

		CHECK_CASE(parse(cases[i].in, v, &n, &e) == 0, "case %zu: %s", i, e.msg);
		CHECK_CASE(n == cases[i].n, "case %zu: %zu", i, n);
		CHECK_CASE(str_eq(v[n - 1].value, cases[i].value), "case %zu: '%.*s'", i,
			   (int)v[n - 1].value.n, v[n - 1].value.p);
	}
}

TEST(what_can_be_read_in_two_ways_is_refused_at_its_place_and_never_quoted)
{
	static const struct {
		struct str in;
		const char *at; /* and what it says */
	} cases[] = {
		{ STR(SECRET), "f:1:1: a line has to be NAME=value" },
		{ STR("A=b\n" SECRET "\n"), "f:2:1: a line has to be NAME=value" },
		{ STR("1" SECRET "=x"), "f:1:1: what stands before '='" },
		{ STR("A =" SECRET), "f:1:1: what stands before '='" },
		{ STR("A= " SECRET), "f:1:3: a blank after '='" },
		{ STR("export A=" SECRET), "f:1:1: 'export' is for shells" },
		{ STR("A=" SECRET " # x"), "f:1:15: a comment, or part of the value" },
		{ STR("A=" SECRET "\"x"), "f:1:14: a quote" },
		{ STR("A=" SECRET "\\x"), "f:1:14: a quote" },
		{ STR("A=" SECRET "\r\n"), "f:1:14: a carriage return" },
		{ STR("\nA='" SECRET "\n\n\n"), "f:2:3: the quote is not closed" },
		{ STR("A=\"" SECRET "\\n\""), "f:1:15: after a backslash" },
		{ STR("A=\"" SECRET "\\"), "f:1:15: after a backslash" },
		{ STR("A='x'" SECRET), "f:1:6: text after the closing quote" },
		{ STR("A='x'#" SECRET), "f:1:6: text after the closing quote" },
		{ STR("A='a\nb' c"), "f:2:4: text after the closing quote" },
		{ STR("A=b\n#\nA=" SECRET), "f:3:1: 'A' was set in line 1 already" },
		{ STR("A=" SECRET "\0x"), "f: a NUL byte at offset 13" },
		{ STR("A=1\nB=1\nC=1\nD=1\nE=1\nF=1\nG=1\nH=1\nI=" SECRET), "f:9:1: more than 8 secrets" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct secret v[8];
		struct err e = { 0 };
		size_t n = 0;

		CHECK_CASE(parse(cases[i].in, v, &n, &e) < 0, "case %zu is taken", i);
		CHECK_CASE(str_starts(str_z(e.msg), str_z(cases[i].at)), "case %zu: %s", i, e.msg);
		CHECK_CASE(!strstr(e.msg, "s3cr"), "case %zu quotes it: %s", i, e.msg);
	}
}

/* ---- the file ---- */

static int open_file(const struct spot *p, struct secrets **ret, struct err *e)
{
	return secrets_open(&(struct secrets_opts){ .file = spot_file(p, "secrets.env") }, ret, e);
}

static void make_file(const struct spot *p, struct str text)
{
	(void)mkdir(p->dir, 0700);
	spot_write(p, "secrets.env", text);
}

TEST(s3_67_a_file_of_ours_is_read)
{
	SPOT(p);
	_cleanup_(secrets_freep) struct secrets *s = NULL;
	_cleanup_arena_ struct arena a = { 0 };
	struct strs names;
	struct err e = { 0 };

	make_file(&p, STR("GH_TOKEN=" SECRET "\nBRAVE_API_KEY='x y'\n"));
	assert_int_equal(open_file(&p, &s, &e), 0);
	arena_init(&a, 1 << 16);
	assert_int_equal(secrets_names(s, &a, &names, &e), 0);
	assert_int_equal(names.n, 2);
	CHECK_STR(names.v[1], STR("BRAVE_API_KEY"));
}

TEST(s3_67_a_file_that_others_can_read_or_exchange_is_refused_with_the_fix)
{
	static const mode_t modes[] = { 0604, 0640, 0660, 0644, 0610, 0602, 0777 };
	SPOT(p);
	struct secrets *s = NULL;
	struct err e = { 0 };

	make_file(&p, STR("A=" SECRET));
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		assert_int_equal(chmod(spot_file(&p, "secrets.env"), modes[i]), 0);
		CHECK_CASE(open_file(&p, &s, &e) < 0 && strstr(e.msg, "chmod 600"), "mode %o: %s", modes[i],
			   e.msg);
	}
	assert_int_equal(chmod(spot_file(&p, "secrets.env"), 0400), 0);
	assert_int_equal(open_file(&p, &s, &e), 0); /* the control */
	s = secrets_free(s);
	assert_int_equal(link(spot_file(&p, "secrets.env"), spot_file(&p, "second")), 0);
	assert_true(open_file(&p, &s, &e) < 0);
	assert_non_null(strstr(e.msg, "hard link"));
	assert_int_equal(unlink(spot_file(&p, "secrets.env")), 0);
	assert_int_equal(symlink("second", spot_file(&p, "secrets.env")), 0);
	assert_true(open_file(&p, &s, &e) < 0);
	assert_non_null(strstr(e.msg, "symbolic link"));
	assert_int_equal(unlink(spot_file(&p, "secrets.env")), 0);
	assert_int_equal(mkfifo(spot_file(&p, "secrets.env"), 0600), 0);
	assert_true(open_file(&p, &s, &e) < 0);
	assert_non_null(strstr(e.msg, "regular file"));
}

TEST(s3_67_a_file_of_another_user_is_refused)
{
	SPOT(p);
	struct secrets *s = NULL;
	struct err e = { 0 };

	if (geteuid() != 0) {
		if (getenv("CREEL_MUST_WORK"))
			fail_msg("giving a file away needs root");
		skip();
	}
	make_file(&p, STR("A=" SECRET));
	assert_int_equal(chown(spot_file(&p, "secrets.env"), 12345, 12345), 0);
	assert_true(open_file(&p, &s, &e) < 0);
	assert_non_null(strstr(e.msg, "chown"));
}

TEST(a_file_that_is_not_there_is_an_error_unless_nobody_asked_for_it)
{
	SPOT(p);
	const char *file = spot_file(&p, "none");
	struct secrets *s = NULL;
	struct err e = { 0 };

	assert_true(secrets_open(&(struct secrets_opts){ .file = file }, &s, &e) < 0);
	assert_int_equal(secrets_open(&(struct secrets_opts){ .file = file, .optional = true }, &s, &e), 0);
	s = secrets_free(s);
	assert_int_equal(secrets_open(&(struct secrets_opts){ .file = "" }, &s, &e), 0);
	secrets_free(s);
}

TEST(a_file_that_is_too_large_is_refused)
{
	SPOT(p);
	static char big[SECRETS_FILE_MAX + 2];
	struct secrets *s = NULL;
	struct err e = { 0 };

	memset(big, '\n', sizeof(big));
	make_file(&p, (struct str){ big, sizeof(big) });
	assert_true(open_file(&p, &s, &e) < 0);
	assert_int_equal(e.kind, ERR_LIMIT);
	make_file(&p, (struct str){ big, SECRETS_FILE_MAX });
	assert_int_equal(open_file(&p, &s, &e), 0);
	secrets_free(s);
}

/* ---- what a program is given ---- */

static char own_token[] = "GH_TOKEN=from-environment", own_key[] = "KEY=k-from-env",
	    own_path[] = "PATH=/evil";
static char *const own[] = { own_token, own_key, own_path, NULL };

static struct env_item items[] = {
	{ .name = { "LANG", 4 }, .state = ENV_SET, .value = { "C.UTF-8", 7 } },
	{ .name = { "GH_TOKEN", 8 }, .state = ENV_SET, .secret = true, .template = { "${GH_TOKEN}", 11 } },
	{ .name = { "WITHHELD", 8 }, .state = ENV_WITHHELD, .secret = true, .template = { "${KEY}", 6 } },
	{ .name = { "UNSET", 5 }, .state = ENV_UNSET, .secret = true },
	{ .name = { "URL", 3 },
	  .state = ENV_SET,
	  .secret = true,
	  .template = { "https://u:${KEY}@h/${GH_TOKEN}?", 31 } },
};

static const struct decision *given(size_t n)
{
	static struct decision d;

	d.env = items;
	d.n_env = n;
	return &d;
}

TEST(c17_only_what_the_decision_gives_is_filled_in_and_the_file_comes_first)
{
	SPOT(p);
	_cleanup_(secrets_freep) struct secrets *s = NULL;
	_cleanup_secret_env_ struct secret_env env = { 0 };
	struct err e = { 0 };

	make_file(&p, STR("GH_TOKEN=" SECRET "\n"));
	assert_int_equal(
		secrets_open(&(struct secrets_opts){ .file = spot_file(&p, "secrets.env"), .environ = own },
			     &s, &e),
		0);
	assert_int_equal(secrets_env(s, given(5), &env, &e), 0);
	assert_int_equal(env.n, 3);
	assert_string_equal(env.v[0], "LANG=C.UTF-8");
	assert_string_equal(env.v[1], "GH_TOKEN=" SECRET);
	assert_string_equal(env.v[2], "URL=https://u:k-from-env@h/" SECRET "?");
	assert_null(env.v[3]);
}

TEST(c17_without_a_file_values_come_from_the_environment)
{
	_cleanup_(secrets_freep) struct secrets *s = NULL;
	_cleanup_secret_env_ struct secret_env env = { 0 };
	struct err e = { 0 };

	assert_int_equal(secrets_open(&(struct secrets_opts){ .environ = own }, &s, &e), 0);
	assert_int_equal(secrets_env(s, given(2), &env, &e), 0);
	assert_string_equal(env.v[1], "GH_TOKEN=from-environment");
}

TEST(a_variable_that_went_away_is_an_error_that_names_it)
{
	_cleanup_(secrets_freep) struct secrets *s = NULL;
	struct secret_env env = { 0 };
	struct err e = { 0 };

	assert_int_equal(secrets_open(&(struct secrets_opts){ 0 }, &s, &e), 0);
	assert_true(secrets_env(s, given(2), &env, &e) < 0);
	assert_int_equal(e.kind, ERR_NOTFOUND);
	assert_non_null(strstr(e.msg, "GH_TOKEN"));
	assert_null(env.memory);
}

/* What a sanitizer maps of this size holds notes about memory, no copy of it, and takes minutes to read. */
#define SHADOW_LEAST (1ul << 36)

/* Every page of that process that it can write to: heap, stacks, mappings. */
static bool is_in_memory_of(pid_t pid, struct str needle)
{
	char path[64], line[512], mode[8];
	static char chunk[1 << 20];
	unsigned long from, to;
	bool found = false;
	FILE *maps;
	int mem;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(maps && mem >= 0);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3 || mode[1] != 'w' ||
		    to - from > SHADOW_LEAST)
			continue;
		for (unsigned long at = from; at < to; at += sizeof(chunk) / 2) {
			ssize_t n = pread(mem, chunk, to - at < sizeof(chunk) ? to - at : sizeof(chunk),
					  (off_t)at);

			found |= n > 0 && memmem(chunk, (size_t)n, needle.p, needle.n);
		}
	}
	(void)fclose(maps);
	fd_close(mem);
	return found;
}

struct talk {
	int to_child[2], to_parent[2];
};

static void wait_for(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		_exit(9);
}

static void say(int fd)
{
	assert_int_equal(write(fd, "x", 1), 1);
}

/* Born before the secret is: what it has of it, it has read. */
static void use_a_secret(const struct spot *p, const struct talk *t)
{
	_cleanup_(redactor_freep) struct redactor *r = NULL;
	struct secrets *s = NULL;
	struct secret_env env = { 0 };
	struct err e = { 0 };

	wait_for(t->to_child[0]);
	if (open_file(p, &s, &e) < 0 || secrets_env(s, given(2), &env, &e) < 0 || redactor_new(&r) < 0 ||
	    secrets_teach(s, given(2), r, &e) < 0)
		_exit(1);
	say(t->to_parent[1]);
	wait_for(t->to_child[0]);
	secret_env_wipe(&env);
	secrets_free(s);
	r = redactor_free(r);
	say(t->to_parent[1]);
	wait_for(t->to_child[0]);
	_exit(0);
}

TEST(c17_a_secret_is_gone_from_memory_when_it_was_used)
{
	SPOT(p);
	char needle[64];
	struct talk t;
	pid_t pid;
	bool was, is;

	assert_int_equal(mkdir(p.dir, 0700), 0);
	assert_true(pipe2(t.to_child, O_CLOEXEC) == 0 && pipe2(t.to_parent, O_CLOEXEC) == 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		use_a_secret(&p, &t);
	(void)snprintf(needle, sizeof(needle), "GH_TOKEN='%lx-%d-not-to-be-found'\n",
		       (unsigned long)(uintptr_t)&t * 2654435761u, (int)pid);
	spot_write(&p, "secrets.env", str_z(needle));
	say(t.to_child[1]);
	wait_for(t.to_parent[0]);
	(void)snprintf(needle, sizeof(needle), "-%d-not-to-be-found", (int)pid);
	was = is_in_memory_of(pid, str_z(needle));
	say(t.to_child[1]);
	wait_for(t.to_parent[0]);
	is = is_in_memory_of(pid, str_z(needle));
	say(t.to_child[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(was); /* the control: it can be found while it is there */
	assert_false(is);
}

TEST(the_log_knows_the_values_of_the_file_and_those_that_were_given)
{
	SPOT(p);
	_cleanup_(secrets_freep) struct secrets *s = NULL;
	_cleanup_(redactor_freep) struct redactor *r = NULL;
	struct err e = { 0 };

	make_file(&p, STR("OTHER=" SECRET "\n"));
	assert_int_equal(
		secrets_open(&(struct secrets_opts){ .file = spot_file(&p, "secrets.env"), .environ = own },
			     &s, &e),
		0);
	assert_int_equal(redactor_new(&r), 0);
	assert_int_equal(secrets_teach(s, given(2), r, &e), 0);
	assert_true(redact_finds(r, STR("x" SECRET "x")));
	assert_true(redact_finds(r, STR("from-environment")));
	assert_false(redact_finds(r, STR("/evil and k-from-env"))); /* nobody's secret here */
}

TEST_MAIN()
