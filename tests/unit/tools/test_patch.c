/* SPDX-License-Identifier: Apache-2.0 */
#include "calling.h"

#include "tools/patch.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* The patch as it is, in a call. */
static int apply(struct call *c, const char *patch)
{
	_cleanup_buf_ struct buf b = { 0 };
	struct jsonw w;

	buf_init(&b, 1 << 20);
	jsonw_init(&w, &b, 0);
	jsonw_obj(&w);
	jsonw_kz(&w, "input", patch);
	jsonw_obj_end(&w);
	return call_run(c, "apply_patch", arena_str(&c->arena, buf_str(&b)));
}

static void apply_ok(struct call *c, const char *patch)
{
	if (apply(c, patch) < 0)
		fail_msg("%s\n%s", patch, c->e.msg);
}

static void apply_fails(struct call *c, const char *patch, enum err_kind kind, const char *words)
{
	if (apply(c, patch) >= 0)
		fail_msg("did not fail: %s", patch);
	if (c->e.kind != kind || !strstr(c->e.msg, words))
		fail_msg("got kind %u, '%s'; want kind %u, '%s'", (unsigned)c->e.kind, c->e.msg,
			 (unsigned)kind, words);
}

#define BEGIN "*** Begin Patch\n"
#define END "*** End Patch\n"

TEST(patch_adds_updates_moves_and_deletes)
{
	YARD(p);
	CALL(c, p);
	struct stat st;

	yard_put(p.work, "a.c", STR("one\ntwo\nthree\n"), 0644);
	yard_put(p.work, "tool.sh", STR("#!/bin/sh\necho\n"), 0755);
	yard_put(p.work, "gone", STR("x"), 0644);
	apply_ok(&c, BEGIN "*** Add File: new/dir/n.txt\n+first\n+\n+third\n"
			   "*** Update File: a.c\n@@\n one\n-two\n+2\n+2.5\n three\n"
			   "*** Update File: tool.sh\n*** Move to: bin/tool\n@@\n-echo\n+echo hi\n"
			   "*** Delete File: gone\n" END);
	YARD_CHECK(p.work, "new/dir/n.txt", STR("first\n\nthird\n"));
	YARD_CHECK(p.work, "a.c", STR("one\n2\n2.5\nthree\n"));
	YARD_CHECK(p.work, "bin/tool", STR("#!/bin/sh\necho hi\n"));
	assert_int_equal(fstatat(p.work, "bin/tool", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(faccessat(p.work, "gone", F_OK, 0), -1);
	assert_int_equal(faccessat(p.work, "tool.sh", F_OK, 0), -1);
	assert_int_equal(yard_count(p.work), 3);
	assert_int_equal(got(&c, "files")->arr.n, 4);
	CHECK_STR(value_get(&got(&c, "files")->arr.v[2], STR("change"))->s, STR("moved"));
	assert_int_equal(value_get(&got(&c, "files")->arr.v[1], STR("added"))->i, 2);
}

TEST(patch_finds_its_place_by_the_lines_behind_the_signs)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("class A\n  def f\n    x\nclass B\n  def f\n    x\nend\n"), 0644);
	apply_ok(&c, BEGIN "*** Update File: a\n@@ class B\n@@   def f\n-    x\n+    y\n" END);
	YARD_CHECK(p.work, "a", STR("class A\n  def f\n    x\nclass B\n  def f\n    y\nend\n"));
	apply_ok(&c, BEGIN "*** Update File: a\n@@ class A\n+  # added\n" END);
	YARD_CHECK(p.work, "a", STR("class A\n  # added\n  def f\n    x\nclass B\n  def f\n    y\nend\n"));
	apply_ok(&c, BEGIN "*** Update File: a\n-end\n+END\n*** End of File\n" END);
	apply_ok(&c, BEGIN "*** Update File: a\n+last\n" END);
	YARD_CHECK(p.work, "a",
		   STR("class A\n  # added\n  def f\n    x\nclass B\n  def f\n    y\nEND\nlast\n"));
	apply_fails(&c, BEGIN "*** Update File: a\n@@ class C\n-x\n+y\n" END, ERR_USAGE,
		    "there is no line 'class C'");
}

TEST(patch_forgives_white_space_and_keeps_the_file_s_own)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("\tif (x) {  \n\t\tgo();\n\t}\n"), 0644);
	apply_ok(&c, BEGIN "*** Update File: a\n@@\n if (x) {\n-  go();\n+\t\tstay();\n }\n" END);
	YARD_CHECK(p.work, "a", STR("\tif (x) {  \n\t\tstay();\n\t}\n"));
}

TEST(patch_keeps_line_ends_and_a_missing_newline)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "dos", STR("one\r\ntwo\r\n"), 0644);
	yard_put(p.work, "open", STR("one\ntwo"), 0644);
	apply_ok(&c, BEGIN
		 "*** Update File: dos\n one\n-two\n+2\n+3\n*** Update File: open\n one\n-two\n+2\n" END);
	YARD_CHECK(p.work, "dos", STR("one\r\n2\r\n3\r\n"));
	YARD_CHECK(p.work, "open", STR("one\n2"));
	apply_ok(&c, BEGIN "*** Update File: open\n-one\n+1\n" END);
	YARD_CHECK(p.work, "open", STR("1\n2"));
}

TEST(patch_that_fails_in_its_third_hunk_changes_nothing)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("1\n2\n3\n4\n5\n6\n"), 0644);
	yard_put(p.work, "b", STR("b\n"), 0644);
	yard_put(p.work, "z", STR("z\n"), 0644);
	apply_fails(
		&c,
		BEGIN "*** Update File: b\n-b\n+B\n*** Delete File: z\n*** Add File: n/e/w\n+x\n"
		      "*** Update File: a\n@@\n-1\n+one\n@@\n-3\n+three\n@@\n 5\n-six\n+6\n" END,
		ERR_USAGE,
		"'a', hunk 3 (patch line 15) does not fit: its first 1 lines are at line 5, then line 6 is '6' and the patch has 'six'");
	YARD_CHECK(p.work, "a", STR("1\n2\n3\n4\n5\n6\n"));
	YARD_CHECK(p.work, "b", STR("b\n"));
	YARD_CHECK(p.work, "z", STR("z\n"));
	assert_int_equal(yard_count(p.work), 3);
	assert_non_null(strstr(c.e.msg, "nothing was changed"));
}

/* Makes the n-th of an operation fail, as a disk or a kernel can at any time. */
static struct files_ops failing;
static const struct files_ops *honest;
static int commits_left, renames_left, stages_left;

static int failing_commit(struct files *f, struct files_stage *s, unsigned flags)
{
	return commits_left-- == 0 ? -EIO : honest->commit(f, s, flags);
}

static int failing_rename(struct files *f, const char *from, const char *to, unsigned flags)
{
	return renames_left-- == 0 ? -EIO : honest->rename(f, from, to, flags);
}

static int failing_stage(struct files *f, const char *path, unsigned flags, mode_t mode,
			 struct files_stage *ret)
{
	return stages_left-- == 0 ? -ENOSPC : honest->stage(f, path, flags, mode, ret);
}

static void check_as_before(struct yard *p, const struct call *c)
{
	YARD_CHECK(p->work, "a", STR("a\n"));
	YARD_CHECK(p->work, "b", STR("b\n"));
	YARD_CHECK(p->work, "m", STR("m\n"));
	YARD_CHECK(p->work, "z", STR("z\n"));
	assert_int_equal(yard_count(p->work), 4);
	assert_null(strstr(c->e.msg, "put back")); /* it was: there is nothing to tell */
}

TEST(patch_is_taken_back_whichever_of_its_last_steps_fails)
{
	static const char patch[] =
		BEGIN "*** Update File: a\n-a\n+A\n*** Delete File: z\n*** Add File: x/y/new\n+n\n"
		      "*** Update File: m\n*** Move to: q/moved\n-m\n+M\n*** Update File: b\n-b\n+B\n" END;
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("a\n"), 0644);
	yard_put(p.work, "b", STR("b\n"), 0600);
	yard_put(p.work, "m", STR("m\n"), 0644);
	yard_put(p.work, "z", STR("z\n"), 0644);
	honest = p.files->ops;
	failing = *honest;
	failing.commit = failing_commit;
	failing.rename = failing_rename;
	failing.stage = failing_stage;
	p.files->ops = &failing;
	for (int i = 0; i < 4; i++) {
		commits_left = i;
		renames_left = stages_left = 1000;
		assert_true(apply(&c, patch) < 0);
		check_as_before(&p, &c);
	}
	for (int i = 0; i < 2; i++) {
		renames_left = i;
		commits_left = stages_left = 1000;
		assert_true(apply(&c, patch) < 0);
		check_as_before(&p, &c);
	}
	for (int i = 0; i < 4; i++) {
		stages_left = i;
		renames_left = commits_left = 1000;
		assert_true(apply(&c, patch) < 0);
		assert_non_null(strstr(c.e.msg, "no space is left"));
		check_as_before(&p, &c);
	}
	/* The same patch is good. */
	p.files->ops = honest;
	apply_ok(&c, patch);
	YARD_CHECK(p.work, "q/moved", STR("M\n"));
	YARD_CHECK(p.work, "b", STR("B\n"));
}

TEST(patch_refuses_what_is_not_one_with_its_line)
{
	static const struct {
		const char *patch, *words;
	} cases[] = {
		{ "", "neither '*** Begin Patch' nor" },
		{ "hello", "neither '*** Begin Patch' nor" },
		{ BEGIN "*** Add File: a\n+x\n", "no '*** End Patch': it was cut off after line 3" },
		{ BEGIN END, "the patch names no file" },
		{ BEGIN "*** Add File: a\nx\n" END,
		  "patch line 3: every line of an added file must begin with '+'" },
		{ BEGIN "*** Add File: \n+x\n" END, "patch line 2: no file is named" },
		{ BEGIN "*** Rename File: a\n" END, "expected '*** Add File: '" },
		{ BEGIN "*** Update File: a\n" END, "the update of 'a' has no hunk" },
		{ BEGIN "*** Update File: a\n@@\n x\n" END, "has no '-' and no '+' line" },
		{ BEGIN "*** Update File: a\n@@\n!x\n" END,
		  "patch line 4: a line of a hunk must begin with" },
		{ "--- a\n", "after '--- FILE' comes '+++ FILE'" },
		{ "--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n", "the hunk of line 3 lacks 1 lines" },
		{ "--- a\n+++ a\n@@ -1 +1 @@\n-x\n-y\n", "fewer or other lines" },
		{ "--- a\n+++ a\n@@ nonsense @@\n", "expected '@@ -LINE,COUNT" },
		{ "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-x\n+y\n", "both files are /dev/null" },
		{ "--- a\n+++ a\n", "nothing is changed in 'a'" },
		{ "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\nfoo\n@@ -3 +3 @@\n-x\n+y\n", "belongs to no file" },
		{ "diff --git a/b b/b\nGIT binary patch\n", "binary patches are not supported" },
		{ "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n",
		  "only regular files" },
		{ "--- \"a\\q\"\n+++ b\n", "unknown escape" },
	};
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("x\n"), 0644);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		apply_fails(&c, cases[i].patch, ERR_USAGE, cases[i].words);
	YARD_CHECK(p.work, "a", STR("x\n"));
	assert_int_equal(yard_count(p.work), 1);
}

TEST(patch_refuses_files_that_are_or_are_not_there)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("x\n"), 0644);
	yard_put(p.work, "b", STR("y\n"), 0644);
	assert_int_equal(mkdirat(p.work, "d", 0755), 0);
	assert_int_equal(symlinkat("a", p.work, "link"), 0);
	apply_fails(&c, BEGIN "*** Add File: a\n+y\n" END, ERR_USAGE, "'a' is there already");
	apply_fails(&c, BEGIN "*** Add File: link\n+y\n" END, ERR_USAGE, "'link' is there already");
	apply_fails(&c, BEGIN "*** Update File: gone\n-x\n+y\n" END, ERR_NOTFOUND, "no such file");
	apply_fails(&c, BEGIN "*** Delete File: gone\n" END, ERR_NOTFOUND, "no such file");
	apply_fails(&c, BEGIN "*** Delete File: d\n" END, ERR_USAGE, "it is a directory");
	apply_fails(&c, BEGIN "*** Update File: a\n*** Move to: b\n-x\n+y\n" END, ERR_USAGE,
		    "something of that name");
	apply_fails(&c, BEGIN "*** Update File: a\n-x\n+1\n*** Update File: a\n-x\n+2\n" END, ERR_USAGE,
		    "are the same file");
	apply_fails(&c, BEGIN "*** Update File: a\n-x\n+1\n*** Update File: link\n-x\n+2\n" END, ERR_USAGE,
		    "are the same file");
	apply_fails(&c, BEGIN "*** Update File: a\n-x\n+1\n*** Update File: d/../a\n-x\n+2\n" END, ERR_USAGE,
		    "are the same file");
	YARD_CHECK(p.work, "a", STR("x\n"));
	YARD_CHECK(p.work, "b", STR("y\n"));
	assert_int_equal(yard_count(p.work), 4);
	apply_ok(&c, BEGIN "*** Update File: link\n-x\n+through\n" END);
	YARD_CHECK(p.work, "a", STR("through\n"));
	apply_ok(&c, BEGIN "*** Delete File: link\n" END);
	YARD_CHECK(p.work, "a", STR("through\n"));
}

TEST(patch_takes_unified_diffs_as_diff_and_git_write_them)
{
	YARD(p);
	CALL(c, p);
	struct stat st;

	yard_put(p.work, "a", STR("1\n2\n3\n4\n5\n6\n7\n8\n"), 0644);
	yard_put(p.work, "old", STR("x\n"), 0755);
	yard_put(p.work, "gone", STR("bye\n"), 0644);
	yard_put(p.work, "empty", STR(""), 0644);
	apply_ok(
		&c,
		"From 123 Mon Sep 17\nSubject: x\n---\n a | 2 +-\n\n"
		"diff --git a/a b/a\nindex 1..2 100644\n--- a/a\t2026-01-01\n+++ b/a\n@@ -2,3 +2,3 @@ fn\n 2\n-3\n+three\n 4\n@@ -7,2 +7,3 @@\n 7\n+7.5\n 8\n"
		"diff --git a/old b/dir/new\nsimilarity index 90%\nrename from old\nrename to dir/new\n--- a/old\n+++ b/dir/new\n@@ -1 +1 @@\n-x\n+y\n"
		"diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n"
		"diff --git a/empty b/empty\ndeleted file mode 100644\nindex e69de29..0000000\n"
		"diff --git \"a/f\\303\\274r.sh\" \"b/f\\303\\274r.sh\"\nnew file mode 100755\n--- /dev/null\n+++ \"b/f\\303\\274r.sh\"\n@@ -0,0 +1,2 @@\n+#!\n+end\n\\ No newline at end of file\n"
		"-- \n2.39\n");
	YARD_CHECK(p.work, "a", STR("1\n2\nthree\n4\n5\n6\n7\n7.5\n8\n"));
	YARD_CHECK(p.work, "dir/new", STR("y\n"));
	YARD_CHECK(p.work, "f\xc3\xbcr.sh", STR("#!\nend"));
	assert_int_equal(fstatat(p.work, "f\xc3\xbcr.sh", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(fstatat(p.work, "dir/new", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(yard_count(p.work), 3);
}

TEST(patch_of_a_diff_finds_hunks_that_have_moved)
{
	YARD(p);
	CALL(c, p);

	yard_put(p.work, "a", STR("new\nnew\nnew\n1\n2\n3\n"), 0644);
	apply_ok(&c, "--- a.orig\n+++ a\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n");
	YARD_CHECK(p.work, "a", STR("new\nnew\nnew\n1\ntwo\n3\n"));
	apply_fails(&c, "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n", ERR_USAGE, "does not fit");
	apply_ok(&c, "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n");
	apply_ok(&c, "--- a/a\n+++ b/a\n@@ -6 +6 @@\n-3\n+3\n\\ No newline at end of file\n");
	YARD_CHECK(p.work, "a", STR("new\nnew\nnew\n1\ntwo\n3"));
	apply_ok(&c, "--- a/a\n+++ b/a\n@@ -6 +6,2 @@\n-3\n\\ No newline at end of file\n+3\n+4\n");
	YARD_CHECK(p.work, "a", STR("new\nnew\nnew\n1\ntwo\n3\n4\n"));
}

TEST(patch_that_would_compare_for_ever_ends)
{
	YARD(p);
	CALL(c, p);
	_cleanup_free_ char *text = malloc(800000), *patch = malloc(500000);
	size_t n;

	for (size_t i = 0; i < 800000; i += 2)
		memcpy(text + i, "a\n", 2);
	yard_put(p.work, "a", (struct str){ text, 800000 }, 0644);
	n = (size_t)sprintf(patch, BEGIN "*** Update File: a\n@@\n");
	for (size_t i = 0; i < 100000; i++, n += 3)
		memcpy(patch + n, "-a\n", 3);
	(void)sprintf(patch + n, "-b\n" END);
	apply_fails(&c, patch, ERR_LIMIT, "too much to compare");
}

static int fill_disk_by_patch(struct yard *p)
{
	CALL(c, *p);
	struct rlimit small = { 4096, 4096 };
	_cleanup_free_ char *patch = malloc(20000);
	size_t n = (size_t)sprintf(patch, BEGIN "*** Update File: a\n-a\n+A\n*** Add File: big\n+");

	memset(patch + n, 'x', 10000);
	(void)sprintf(patch + n + 10000, "\n" END);
	(void)signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &small) < 0)
		return 1;
	return apply(&c, patch) < 0 && c.e.kind == ERR_LIMIT ? 0 : 2;
}

TEST(patch_on_a_full_disk_leaves_everything_as_it_was)
{
	YARD(p);
	int status = 0;
	pid_t pid;

	yard_put(p.work, "a", STR("a\n"), 0644);
	pid = fork();
	if (pid == 0)
		_exit(fill_disk_by_patch(&p));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	YARD_CHECK(p.work, "a", STR("a\n"));
	assert_int_equal(yard_count(p.work), 1);
}

TEST_MAIN()
