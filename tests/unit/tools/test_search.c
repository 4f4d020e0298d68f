/* SPDX-License-Identifier: Apache-2.0 */
#include "calling.h"

#include "tools/ignore.h"
#include "tools/nameglob.h"

/* "path:line" of all matches, or the files, joined by blanks. */
static struct str found(struct call *c)
{
	bool lines = has(c, "matches");
	const struct value *list = got(c, lines ? "matches" : "files");
	_cleanup_buf_ struct buf b = { 0 };

	buf_init(&b, 1 << 16);
	for (size_t i = 0; i < list->arr.n; i++) {
		const struct value *v = &list->arr.v[i];

		buf_puts(&b, i ? " " : "");
		buf_put(&b, lines ? value_get(v, STR("path"))->s : v->s);
		if (lines)
			buf_printf(&b, ":%ld", (long)value_get(v, STR("line"))->i);
	}
	return arena_str(&c->arena, buf_str(&b));
}

static void plant(struct yard *p)
{
	static const char *const dirs[] = { "src", "src/deep", ".git", "node_modules", "build", "docs" };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		assert_int_equal(mkdirat(p->work, dirs[i], 0755), 0);
	yard_put(p->work, "src/a.c", STR("int main(void)\n{\n\treturn 42;\n}\n"), 0644);
	yard_put(p->work, "src/deep/b.h", STR("#define ANSWER 42\r\n/* main */"), 0644);
	yard_put(p->work, "docs/x.md", STR("The Main thing\n"), 0644);
	yard_put(p->work, ".git/config", STR("main\n"), 0644);
	yard_put(p->work, "node_modules/m.js", STR("main\n"), 0644);
	yard_put(p->work, "build/out.c", STR("main\n"), 0644);
	yard_put(p->work, "blob", STR("main\0\1\2\n"), 0644);
	yard_put(p->work, ".gitignore", STR("# what is built\n/build/\n*.log\n!keep.log\n"), 0644);
	yard_put(p->work, "x.log", STR("main\n"), 0644);
	yard_put(p->work, "keep.log", STR("main\n"), 0644);
}

TEST(search_finds_lines_and_leaves_out_what_is_ignored)
{
	YARD(p);
	CALL(c, p);

	plant(&p);
	call_ok(&c, "search", "{pattern:'main'}");
	CHECK_STR(found(&c), STR("keep.log:1 src/a.c:1 src/deep/b.h:2"));
	assert_int_equal(got_int(&c, "filesNotText"), 1);
	call_ok(&c, "search", "{pattern:'main', ignoreCase:true, path:'docs'}");
	CHECK_STR(found(&c), STR("docs/x.md:1"));
	call_ok(&c, "search", "{pattern:'main', ignored:true, binary:true}");
	CHECK_STR(
		found(&c),
		STR(".git/config:1 blob:1 build/out.c:1 keep.log:1 node_modules/m.js:1 src/a.c:1 src/deep/b.h:2 x.log:1"));
	call_ok(&c, "search", "{pattern:'main', path:'src/a.c'}");
	CHECK_STR(found(&c), STR("src/a.c:1"));
	call_ok(&c, "search", "{pattern:'main', path:'node_modules'}");
	CHECK_STR(found(&c), STR("node_modules/m.js:1"));
	call_ok(&c, "search", "{pattern:'ANSWER', path:'./src/'}");
	CHECK_STR(found(&c), STR("./src/deep/b.h:1"));
	call_ok(&c, "search", "{glob:'deep/*.h', path:'src'}");
	CHECK_STR(found(&c), STR("src/deep/b.h"));
	call_ok(&c, "search", "{pattern:'main', depth:1}");
	CHECK_STR(found(&c), STR("keep.log:1"));
}

TEST(search_takes_regular_expressions_or_plain_text)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("f(x)\nfx\nA\xc3\x84\n\xff f(x)\n"), 0644);
	call_ok(&c, "search", "{pattern:'f(x)'}");
	CHECK_STR(found(&c), STR("a:2"));
	call_ok(&c, "search", "{pattern:'f(x)', literal:true}");
	CHECK_STR(found(&c), STR("a:1 a:4"));
	call_ok(&c, "search", "{pattern:'F(X)', literal:true, ignoreCase:true}");
	CHECK_STR(found(&c), STR("a:1 a:4"));
	call_ok(&c, "search", "{pattern:'^a\\u00e4$', ignoreCase:true}");
	CHECK_STR(found(&c), STR("a:3"));
	call_ok(&c, "search", "{pattern:'\\\\(x\\\\)$'}");
	CHECK_STR(found(&c), STR("a:1 a:4"));
	call_fails(&c, "search", "{pattern:'(x'}", ERR_USAGE, "is no regular expression");
	call_fails(&c, "search", "{pattern:'a\\\\Cb'}", ERR_USAGE, "is no regular expression");
}

TEST(search_shows_lines_around_and_long_lines_cut)
{
	YARD(p);
	CALL(c, p);
	static char text[10000];

	yard_put(p.work, "a", STR("1\n2\nhit\n4\n5\n"), 0644);
	call_ok(&c, "search", "{pattern:'hit', context:1}");
	CHECK_STR(value_get(&got(&c, "matches")->arr.v[0], STR("before"))->arr.v[0].s, STR("2"));
	CHECK_STR(value_get(&got(&c, "matches")->arr.v[0], STR("after"))->arr.v[0].s, STR("4"));
	assert_int_equal(value_get(&got(&c, "matches")->arr.v[0], STR("after"))->arr.n, 1);
	call_ok(&c, "search", "{pattern:'^1', context:3}");
	assert_int_equal(value_get(&got(&c, "matches")->arr.v[0], STR("before"))->arr.n, 0);
	assert_int_equal(value_get(&got(&c, "matches")->arr.v[0], STR("after"))->arr.n, 3);
	memset(text, 'x', sizeof(text));
	memcpy(text + 5000, "needle", 6);
	yard_put(p.work, "a", (struct str){ text, sizeof(text) }, 0644);
	call_ok(&c, "search", "{pattern:'needle'}");
	assert_true(value_get(&got(&c, "matches")->arr.v[0], STR("text"))->s.n <= 1000);
	assert_non_null(memmem(c.out.p, c.out.n, "needle", 6));
	assert_non_null(value_get(&got(&c, "matches")->arr.v[0], STR("cut")));
}

TEST(search_by_name_alone_lists_files)
{
	YARD(p);
	CALL(c, p);

	plant(&p);
	call_ok(&c, "search", "{glob:'*.{c,h}'}");
	CHECK_STR(found(&c), STR("src/a.c src/deep/b.h"));
	call_ok(&c, "search", "{glob:'src/**/*.h'}");
	CHECK_STR(found(&c), STR("src/deep/b.h"));
	call_ok(&c, "search", "{glob:'src/*'}");
	CHECK_STR(found(&c), STR("src/a.c"));
	call_ok(&c, "search", "{glob:'*.c', pattern:'42'}");
	CHECK_STR(found(&c), STR("src/a.c:3"));
	call_ok(&c, "search", "{glob:'nothing*'}");
	CHECK_STR(found(&c), STR(""));
}

TEST(search_stops_at_its_limit_and_says_so)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("x\nx\nx\n"), 0644);
	call_ok(&c, "search", "{pattern:'x', limit:2}");
	CHECK_STR(found(&c), STR("a:1 a:2"));
	assert_true(got_bool(&c, "truncated"));
	CHECK_STR(got_str(&c, "why"), STR("limit"));
	call_ok(&c, "search", "{pattern:'x', limit:3}");
	assert_false(got_bool(&c, "truncated"));
	c.ctx.deadline_ms = 1;
	call_ok(&c, "search", "{pattern:'x'}");
	CHECK_STR(got_str(&c, "why"), STR("time"));
}

TEST(search_ends_a_pattern_that_would_take_for_ever)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n"), 0644);
	call_fails(&c, "search", "{pattern:'^(a+)+$'}", ERR_LIMIT, "tries too many ways on line 1 of 'a'");
	call_fails(&c, "search", "{pattern:'(x+x+)+y|(a|a)*$!'}", ERR_LIMIT, "tries too many ways");
	call_fails(&c, "search", "{pattern:'((a{1,900}){1,900}){1,900}'}", ERR_USAGE,
		   "is no regular expression");
}

TEST(search_follows_no_link_and_opens_nothing_that_blocks)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.root, "top/secret", STR("needle\n"), 0644);
	yard_put(p.work, "real", STR("needle\n"), 0644);
	assert_int_equal(symlinkat("/top/secret", p.work, "l1"), 0);
	assert_int_equal(symlinkat("../..", p.work, "l2"), 0);
	assert_int_equal(symlinkat(".", p.work, "l3"), 0);
	assert_int_equal(mkfifoat(p.work, "fifo", 0644), 0);
	call_ok(&c, "search", "{pattern:'needle'}");
	CHECK_STR(found(&c), STR("real:1"));
	call_fails(&c, "search", "{pattern:'needle', path:'fifo'}", ERR_USAGE, "FIFO");
	call_fails(&c, "search", "{pattern:'needle', path:'gone'}", ERR_NOTFOUND, "no such file");
	call_ok(&c, "search", "{pattern:'needle', path:'l1'}");
	CHECK_STR(found(&c), STR("l1:1"));
}

TEST(search_tells_of_files_that_it_could_not_search)
{
	YARD(p);
	CALL(c, p);
	_cleanup_close_ int fd = openat(p.work, "big", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(ftruncate(fd, (16 << 20) + 1), 0);
	yard_put(p.work, "small", STR("x"), 0644);
	call_ok(&c, "search", "{pattern:'x'}");
	CHECK_STR(found(&c), STR("small:1"));
	assert_int_equal(got_int(&c, "filesTooLarge"), 1);
}

TEST(search_and_ls_tell_of_directories_that_are_too_deep_for_them)
{
	YARD(p);
	CALL(c, p);
	int at = fcntl(p.work, F_DUPFD_CLOEXEC, 3);

	yard_put(p.work, "top", STR("x"), 0644);
	for (int i = 0; i < 66; i++) {
		int below;

		assert_int_equal(mkdirat(at, "d", 0755), 0);
		below = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(below >= 0);
		(void)close(at);
		at = below;
	}
	yard_put(at, "deep", STR("x"), 0644);
	(void)close(at);
	call_ok(&c, "search", "{pattern:'x'}");
	CHECK_STR(found(&c), STR("top:1"));
	assert_true(got_bool(&c, "truncated"));
	CHECK_STR(got_str(&c, "why"), STR("directories too deep"));
	assert_int_equal(got_int(&c, "directoriesTooDeep"), 1);
	call_ok(&c, "search", "{pattern:'x', depth:2}"); /* as it was asked for */
	assert_false(got_bool(&c, "truncated"));
	call_ok(&c, "ls", "{recursive:true}");
	assert_true(got_bool(&c, "truncated"));
	assert_int_equal(got_int(&c, "directoriesTooDeep"), 1);
	for (int i = 0; i < 2; i++) {
		call_ok(&c, "ls", i ? "{depth:2}" : "{}");
		assert_false(got_bool(&c, "truncated") || has(&c, "directoriesTooDeep"));
	}
}

/* A clerk that is killed after so many answers: from then on there is none. */
static struct files_ops dying;
static const struct files_ops *honest;
static int answers_left;

static int dying_open(struct files *f, const char *path, unsigned flags, mode_t mode, struct files_stat *st)
{
	return answers_left-- > 0 ? honest->open(f, path, flags, mode, st) : -ECONNRESET;
}

static int dying_list(struct files *f, const char *path, unsigned flags, files_each *each, void *ctx)
{
	return answers_left-- > 0 ? honest->list(f, path, flags, each, ctx) : -ECONNRESET;
}

static int answers_of(struct call *c, const char *tool, const char *args)
{
	answers_left = 1000;
	call_ok(c, tool, args);
	return 1000 - answers_left;
}

TEST(search_and_ls_of_a_clerk_that_was_killed_are_no_success)
{
	static const char *const calls[][2] = { { "search", "{pattern:'main', ignored:true}" },
						{ "search", "{glob:'*.c', ignored:true}" },
						{ "ls", "{recursive:true}" } };
	YARD(p);
	CALL(c, p);

	plant(&p);
	honest = p.files->ops;
	dying = *honest;
	dying.open = dying_open;
	dying.list = dying_list;
	p.files->ops = &dying;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		for (int n = answers_of(&c, calls[i][0], calls[i][1]) - 1; n >= 0; n--) {
			answers_left = n;
			call_fails(&c, calls[i][0], calls[i][1], ERR_UNAVAIL, "was killed; try again");
		}
	p.files->ops = honest;
}

/* More names than are taken of one directory. */
static int crowded_list(struct files *f, const char *path, unsigned flags, files_each *each, void *ctx)
{
	int r = honest->list(f, path, flags, each, ctx);

	for (unsigned i = 0; r == 0 && i < 100001; i++) {
		char name[16];
		struct files_entry fake = { .st = { .mode = S_IFREG | 0644 } };

		(void)snprintf(name, sizeof(name), "z%u", i);
		fake.name = str_z(name);
		r = each(ctx, &fake);
	}
	return r;
}

TEST(search_of_a_directory_that_is_too_large_tells_what_it_has_seen)
{
	YARD(p);
	CALL(c, p);
	struct files_ops crowded = *p.files->ops;

	yard_put(p.work, "a.c", STR("x"), 0644);
	honest = p.files->ops;
	crowded.list = crowded_list;
	p.files->ops = &crowded;
	call_ok(&c, "search", "{glob:'a.*'}");
	p.files->ops = honest;
	CHECK_STR(found(&c), STR("a.c"));
	assert_true(got_bool(&c, "truncated"));
	CHECK_STR(got_str(&c, "why"), STR("directory too large"));
}

TEST(search_reads_ignore_files_of_every_directory)
{
	YARD(p);
	CALL(c, p);

	plant(&p);
	yard_put(p.work, "src/.ignore", STR("/a.c\ndeep/*\n!deep/b.h\n"), 0644);
	call_ok(&c, "search", "{pattern:'main'}");
	CHECK_STR(found(&c), STR("keep.log:1 src/deep/b.h:2"));
	yard_put(p.work, "src/.ignore", STR("deep\n"), 0644);
	call_ok(&c, "search", "{pattern:'main'}");
	CHECK_STR(found(&c), STR("keep.log:1 src/a.c:1"));
}

TEST(nameglob_matches_as_gitignore_does)
{
	static const struct {
		const char *pattern, *path;
		bool want;
	} cases[] = {
		{ "a", "a", true },        { "a", "b", false },
		{ "*", "abc", true },      { "*", "a/b", false },
		{ "**", "a/b", true },     { "a*c", "abbc", true },
		{ "a*c", "ab/c", false },  { "?", "x", true },
		{ "?", "/", false },       { "**/x", "x", true },
		{ "**/x", "a/b/x", true }, { "**/x", "ax", false },
		{ "a/**", "a/b/c", true }, { "a/**", "a", false },
		{ "a/**/b", "a/b", true }, { "a/**/b", "a/x/y/b", true },
		{ "a/**/b", "ab", false }, { "a**b", "a/b", false },
		{ "[a-c]x", "bx", true },  { "[!a-c]x", "bx", false },
		{ "[!a-c]x", "dx", true }, { "[]x]", "]", true },
		{ "[", "[", true },        { "[a", "[a", true },
		{ "\\*", "*", true },      { "\\*", "x", false },
		{ "*.c", ".c", true },     { "a/*/c", "a/b/c", true },
		{ "a/*/c", "a/c", false }, { "", "", true },
		{ "", "a", false },        { "a[/]b", "a/b", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_CASE(nameglob_matches(str_z(cases[i].pattern), str_z(cases[i].path)) == cases[i].want,
			   "'%s' and '%s'", cases[i].pattern, cases[i].path);
}

TEST(nameglob_braces_are_choices_and_bounded)
{
	struct nameglob *g = malloc(sizeof(*g));
	struct err e = { 0 };

	assert_int_equal(nameglob_parse(STR("{a,b{1,2}}.{c,}"), g, &e), 0);
	assert_int_equal(g->n, 6);
	assert_true(nameglob_any(g, STR("b2.c")));
	assert_true(nameglob_any(g, STR("x/a.")));
	assert_false(nameglob_any(g, STR("b.c")));
	assert_int_equal(nameglob_parse(STR("{a"), g, &e), 0);
	assert_true(nameglob_any(g, STR("{a")));
	assert_true(nameglob_parse(STR("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"), g, &e) < 0);
	assert_int_equal(e.kind, ERR_LIMIT);
	free(g);
}

TEST(nameglob_takes_no_longer_for_a_pattern_made_to_take_long)
{
	char path[2000];

	memset(path, 'a', sizeof(path));
	assert_false(nameglob_matches(STR("**/*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"),
				      (struct str){ path, sizeof(path) }));
	assert_false(nameglob_matches(STR("**/**/**/**/**/**/**/**/**/**/**/**/**/**/**/**/**/b"),
				      (struct str){ path, sizeof(path) }));
}

TEST_MAIN()
