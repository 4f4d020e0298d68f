/* SPDX-License-Identifier: Apache-2.0 */
#include "walls.h"

#include "policy/bind.h"

static struct bind_view view;

static enum code check(const char *text)
{
	struct bind_rules rules = { .facts = &w.r.facts, .s = &w.c.base };
	struct bind b = walls_bind(text);

	return bind_check(&w.a, &rules, &b, &view);
}

#define REFUSED(text, want_)                                                      \
	do {                                                                      \
		enum code got_ = check(text);                                     \
		CHECK_CASE(got_ == (want_), "%s: got %s", text, code_word(got_)); \
		assert_true(view.why.n > 0);                                      \
	} while (0)
#define TAKEN(text) CHECK_CASE(check(text) == CODE_OK, "%s: " STR_FMT, text, STR_ARG(view.why))

TEST(s1_23_dangerous_sources_are_blocked)
{
	static const char *const sources[] = {
		"/var/run/docker.sock",
		"/run/docker.sock",
		"/etc",
		"/etc/passwd",
		"/proc",
		"/proc/1/root",
		"/sys",
		"/dev",
		"/dev/mem",
		"/boot",
		"/root",
		"/root/x",
		"/run",
		"/run/user/1000",
		"/var/run",
		"/private/etc/x",
		"/private/var/run",
	};

	walls_reset();
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		REFUSED(arena_printf(&w.a, "%s:/x:ro", sources[i]).p, CODE_BIND_BLOCKED);
}

TEST(every_path_on_the_list_is_blocked_by_its_name_too)
{
	const struct blocked_path *list;
	bool key = false, own = false;
	size_t n = 0;

	w.r.facts.own_dir = STR("/srv/state");
	list = bind_blocked_paths(&w.a, &w.r.facts, &n);
	assert_in_range(n, 20, 500);
	for (size_t i = 0; i < n; i++) {
		struct bind_block block;

		CHECK_CASE(bind_source_blocked(&w.a, &w.r.facts, list[i].path, &block), STR_FMT,
			   STR_ARG(list[i].path));
		key |= str_ends(list[i].path, STR("/.ssh"));
		own |= str_eq(list[i].path, STR("/srv/state/tokens"));
	}
	assert_true(key && own);
}

TEST(a_parent_of_something_blocked_is_blocked_too)
{
	walls_reset();
	REFUSED("/:/x:ro", CODE_BIND_BLOCKED);
	assert_true(memmem(view.why.p, view.why.n, "covers '/'", 10));
	REFUSED("/var:/x:ro", CODE_BIND_BLOCKED);
	assert_true(memmem(view.why.p, view.why.n, "covers", 6));
	REFUSED("/private:/x:ro", CODE_BIND_BLOCKED);
	REFUSED("/home:/x:ro", CODE_BIND_BLOCKED);
	REFUSED("/home/u:/x:ro", CODE_BIND_BLOCKED);
}

TEST(secret_directories_of_every_home_are_blocked)
{
	const struct str roots[] = { STR("/srv/homes/x"), STR("/") };

	walls_reset();
	w.r.facts.home_roots = (struct strs){ .v = roots, .n = 2 };
	REFUSED("/home/u/.ssh:/s:ro", CODE_BIND_BLOCKED);
	REFUSED("/home/u/.aws/credentials:/s:ro", CODE_BIND_BLOCKED);
	REFUSED("/home/u/.config/gh:/s:ro", CODE_BIND_BLOCKED);
	REFUSED("~/.gnupg:/s:ro", CODE_BIND_BLOCKED);
	REFUSED("/srv/homes/x/.netrc:/s:ro", CODE_BIND_BLOCKED);
	REFUSED("/srv/homes:/s:ro", CODE_BIND_BLOCKED);
	REFUSED("/home/somebody/.ssh:/s:ro", CODE_BIND_BLOCKED);
	REFUSED("/home/somebody:/s:ro", CODE_BIND_BLOCKED);
	REFUSED("/home:/s:ro", CODE_BIND_BLOCKED);
	REFUSED("~/.kube/config:/s:ro", CODE_BIND_BLOCKED);
	TAKEN("/home/somebody/source:/s:ro");
	TAKEN("/home/u/.cache:/s:ro");
	TAKEN("/.ssh-of-nobody:/s:ro");
}

TEST(the_files_that_decide_are_not_bound)
{
	walls_reset();
	REFUSED("~/.openclaw:/s:rw", CODE_BIND_BLOCKED);
	REFUSED("~/.openclaw/openclaw.json:/s:ro", CODE_BIND_BLOCKED);
	REFUSED("~/.openclaw/creel.json5:/s:rw", CODE_BIND_BLOCKED);
	REFUSED("~/.openclaw/.env:/s:ro", CODE_BIND_BLOCKED);
	TAKEN("~/.openclaw/workspace/a:/s:rw");
}

TEST(what_creel_keeps_itself_is_neither_bound_nor_worked_in)
{
	static const struct {
		const char *own, *dir;
		bool bind, workspace; /* may be */
	} rows[] = {
		{ "/srv/state/./.", "/srv/state", false, false },
		{ "/srv/state/./.", "/srv", false, false },
		{ "/srv/state/./.", "/srv/state/registry", false, false },
		{ "/srv/state/./.", "/srv/state/audit/x", false, false },
		{ "/srv/state/./.", "/srv/state/sessions/x", false, false },
		{ "/srv/state/./.", "/srv/state/runner.token", false, false },
		{ "/srv/state/./.", "/srv/state/runs", false, false },
		{ "/srv/state/./.", "/srv/state/runs/1/upper0", false, true },
		{ "/srv/state/./.", "/srv/state/sandboxes/x", true, true },
		{ "/srv/state/./.", "/srv/state-2/audit", true, true },
		{ "st/./.", "/home/u/proj", false, false }, /* below the current directory */
		{ "", "/srv/state/registry", true, true },
		{ "", "/home/u/.config/creel", false, false },
		{ "", "/home/u/.config/nvim", false, true },
	};

	walls_reset();
	w.r.facts.cwd = STR("/home/u/proj");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str dir = str_z(rows[i].dir);
		struct bind_block block;

		w.r.facts.own_dir = str_z(rows[i].own);
		CHECK_CASE(bind_source_blocked(&w.a, &w.r.facts, dir, &block) != rows[i].bind, "bind %s",
			   rows[i].dir);
		CHECK_CASE(workspace_blocked(&w.a, &w.r.facts, dir, &block) != rows[i].workspace,
			   "workspace %s", rows[i].dir);
	}
}

TEST(an_audit_log_that_lies_elsewhere_is_neither_bound_nor_worked_in)
{
	static const struct {
		const char *log, *dir;
		bool may;
	} rows[] = {
		{ "/srv/log", "/srv/log", false },
		{ "/srv/log", "/srv", false },
		{ "/srv/log", "/srv/log/audit.jsonl", false },
		{ "/srv/log", "/srv/log/audit.head", false },
		{ "/srv/log", "/srv/log/audit-00000000000000000001.jsonl", false },
		{ "/srv/log", "/srv/log/project", true }, /* the directory may hold other things */
		{ "/srv/log", "/srv/log-2", true },
		{ "~/log", "/home/u/log", false },
		{ ".", "/home/u/proj", false }, /* the current directory */
		{ "/", "/srv/x", true },
		{ "/", "/audit.jsonl", false },
		{ "", "/srv/log", true },
	};

	walls_reset();
	w.r.facts.cwd = STR("/home/u/proj");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str dir = str_z(rows[i].dir);
		struct bind_block block;

		w.r.facts.audit_dir = str_z(rows[i].log);
		CHECK_CASE(bind_source_blocked(&w.a, &w.r.facts, dir, &block) != rows[i].may, "bind %s",
			   rows[i].dir);
		CHECK_CASE(workspace_blocked(&w.a, &w.r.facts, dir, &block) != rows[i].may, "workspace %s",
			   rows[i].dir);
	}
}

TEST(what_the_host_lives_on_is_of_the_system)
{
	static const struct {
		const char *dir;
		const char *by; /* NULL: not of the system */
	} rows[] = {
		{ "/usr", "/usr" },
		{ "/usr/local/bin", "/usr" },
		{ "/bin", "/bin" },
		{ "/lib64/x", "/lib64" },
		{ "/var", "/var/lib/apt" },
		{ "/var/lib", "/var/lib/apt" },
		{ "/var/lib/dpkg/info", "/var/lib/dpkg" },
		{ "/var/spool/cron/crontabs", "/var/spool/cron" },
		{ "/opt", "/opt" },
		{ "/var/log", "/var/log" },
		{ "/opt/project", NULL },
		{ "/var/lib/jenkins", NULL },
		{ "/var/www", NULL },
		{ "/usr/src", NULL },
		{ "/usr/src/linux", NULL },
		{ "/usr/local/src/x", NULL },
		{ "/usrx", NULL },
		{ "/srv", NULL },
		{ "/home/u/usr", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bind_block block = { 0 };
		bool is = source_is_system(str_z(rows[i].dir), &block);

		CHECK_CASE(is == (rows[i].by != NULL), "%s", rows[i].dir);
		if (is)
			CHECK_CASE(str_eq(block.path, str_z(rows[i].by)), "%s: " STR_FMT, rows[i].dir,
				   STR_ARG(block.path));
	}
}

TEST(c20_a_docker_socket_is_refused_wherever_it_lies)
{
	walls_reset();
	REFUSED("/srv/x/docker.sock:/s", CODE_BIND_BLOCKED);
	REFUSED("/srv/podman.sock:/s:ro", CODE_BIND_BLOCKED);
	TAKEN("/srv/docker.socket:/s:ro");
}

TEST(no_spelling_of_a_blocked_path_passes)
{
	static const char *const spellings[] = { "/etc/",        "//etc",       "/./etc",
						 "/x/../etc",    "/etc/.",      "/x//..//etc/",
						 "/home/../etc", "/../etc/ssl", "~/../../etc" };

	walls_reset();
	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
		REFUSED(arena_printf(&w.a, "%s:/x:ro", spellings[i]).p, CODE_BIND_BLOCKED);
}

TEST(what_is_merely_named_alike_is_not_blocked)
{
	walls_reset();
	TAKEN("/etcetera:/x:ro");
	TAKEN("/devel:/x:ro");
	TAKEN("/var/lib:/x:ro");
	TAKEN("/usr:/x:ro");
	TAKEN("/home/user/source:/source:ro");
	TAKEN("/var/data/myapp:/data:ro");
	TAKEN("/mnt/cache:/cache:rw");
}

/* As a workspace there with access rw is: the list is the same, above. */
TEST(what_the_host_itself_lives_on_is_bound_read_only)
{
	static const char *const there[] = { "/usr", "/usr/local/bin", "/bin",     "/lib/modules",
					     "/opt", "/var/cache",     "/var/lib", "/var/lib/dpkg/info" };
	static const char *const not_there[] = { "/usr/src/linux", "/usr/local/src", "/opt/thing",
						 "/var/lib/jenkins", "/srv" };

	walls_reset();
	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++) {
		TAKEN(arena_printf(&w.a, "%s:/x:ro", there[i]).p);
		REFUSED(arena_printf(&w.a, "%s:/x:rw", there[i]).p, CODE_BIND_BLOCKED);
	}
	for (size_t i = 0; i < sizeof(not_there) / sizeof(not_there[0]); i++)
		TAKEN(arena_printf(&w.a, "%s:/x:rw", not_there[i]).p);
}

TEST(a_source_that_is_no_absolute_path_of_this_system_is_invalid)
{
	walls_reset();
	REFUSED("data:/d:ro", CODE_BIND_INVALID);
	REFUSED("./x:/x:ro", CODE_BIND_INVALID);
	REFUSED("~root/x:/x:ro", CODE_BIND_INVALID);
	REFUSED("/data", CODE_BIND_INVALID);
	REFUSED("/data:rel:ro", CODE_BIND_INVALID);
}

TEST(a_windows_source_is_invalid_on_linux)
{
	struct bind_rules rules = { .facts = &w.r.facts, .s = &w.c.base };
	struct bind b = {
		.raw = STR("C:\\x:/y:ro"), .source = STR("C:\\x"), .target = STR("/y"), .options = STR("ro")
	};

	walls_reset();
	assert_int_equal(bind_check(&w.a, &rules, &b, &view), CODE_BIND_INVALID);
}

TEST(a_nul_byte_in_a_bind_is_invalid)
{
	struct bind_rules rules = { .facts = &w.r.facts, .s = &w.c.base };
	struct bind b = { .raw = { .p = "/a\0b:/y:ro", .n = 10 },
			  .source = { .p = "/a\0b", .n = 4 },
			  .target = STR("/y") };

	walls_reset();
	assert_int_equal(bind_check(&w.a, &rules, &b, &view), CODE_BIND_INVALID);
}

TEST(our_own_mount_points_are_reserved)
{
	walls_reset();
	REFUSED("/srv/a:/workspace:ro", CODE_BIND_RESERVED_TARGET);
	REFUSED("/srv/a:/workspace/x:ro", CODE_BIND_RESERVED_TARGET);
	REFUSED("/srv/a:/x/../agent/:ro", CODE_BIND_RESERVED_TARGET);
	REFUSED("/srv/a:/:ro", CODE_BIND_RESERVED_TARGET);
	REFUSED("/srv/a:/proc/x:ro", CODE_BIND_RESERVED_TARGET);
	TAKEN("/workspace-obsidian:/workspace-obsidian:ro");
	w.c.base.binds_reserved = true;
	TAKEN("/srv/a:/workspace/x:ro");
	REFUSED("/srv/a:/dev:ro", CODE_BIND_RESERVED_TARGET);
}

TEST(the_target_of_the_workspace_is_reserved_wherever_it_is)
{
	struct bind_rules rules = { .facts = &w.r.facts, .s = &w.c.base, .ws_target = STR("/sandbox/in") };
	struct bind inside = walls_bind("/srv/a:/sandbox/in/x:ro"), over = walls_bind("/srv/a:/sandbox:ro"),
		    beside = walls_bind("/srv/a:/sandbox/out:ro");

	walls_reset();
	assert_int_equal(bind_check(&w.a, &rules, &inside, &view), CODE_BIND_RESERVED_TARGET);
	assert_int_equal(bind_check(&w.a, &rules, &over, &view), CODE_BIND_RESERVED_TARGET);
	assert_int_equal(bind_check(&w.a, &rules, &beside, &view), CODE_OK);
}

TEST(a_source_must_lie_below_an_allowed_root_where_there_are_any)
{
	const struct str roots[] = { STR("/srv/a"), STR("/srv/b") };
	struct bind_rules rules = { .facts = &w.r.facts, .s = &w.c.base, .roots = { .v = roots, .n = 2 } };
	struct bind in = walls_bind("/srv/b/x:/x:ro"), out = walls_bind("/srv/c:/x:ro"),
		    climbs = walls_bind("/srv/a/../c:/x:ro");

	walls_reset();
	assert_int_equal(bind_check(&w.a, &rules, &in, &view), CODE_OK);
	assert_int_equal(bind_check(&w.a, &rules, &out, &view), CODE_BIND_OUTSIDE_ROOTS);
	assert_int_equal(bind_check(&w.a, &rules, &climbs, &view), CODE_BIND_OUTSIDE_ROOTS);
}

TEST(a_bind_is_writable_only_when_it_says_so)
{
	walls_reset();
	TAKEN("/srv/a:/x:rw");
	assert_true(view.writable && !view.mode_missing);
	TAKEN("/srv/a:/x:ro");
	assert_false(view.writable || view.mode_missing);
	TAKEN("/srv/a:/x:ro,z");
	assert_false(view.writable);
	TAKEN("/srv/a:/x:rw,Z");
	assert_true(view.writable);
	TAKEN("/srv/a:/x");
	assert_true(!view.writable && view.mode_missing);
	REFUSED("/srv/a:/x:wat", CODE_BIND_INVALID);
	REFUSED("/srv/a:/x:rw,rshared", CODE_BIND_INVALID);
}

TEST(upstream_takes_a_bind_without_mode_for_writable)
{
	struct bind_rules rules = { .facts = &w.r.facts, .s = &w.c.base, .upstream_options = true };
	struct bind plain = walls_bind("/srv/drafts:/drafts"), odd = walls_bind("/srv/z:/z:wat");

	walls_reset();
	assert_int_equal(bind_check(&w.a, &rules, &plain, &view), CODE_OK);
	assert_true(view.writable);
	assert_int_equal(bind_check(&w.a, &rules, &odd, &view), CODE_OK);
	assert_true(view.writable);
}

TEST(sensitive_names_are_recognised_in_any_part_of_the_path)
{
	static const char *const yes[] = { "/srv/.ssh",       "/srv/secrets/x", "/a/credentials",
					   "/a/server.pem",   "/a/.env",        "/a/prod.env",
					   "/b/.kube/config", "/x/id_rsa",      "/x/.gnupg" };
	static const char *const no[] = { "/srv/source", "/a/secretary", "/a/environment", "/x/keyboard",
					  "/a/pem" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		CHECK_CASE(bind_is_sensitive(str_z(yes[i])), "missed %s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		CHECK_CASE(!bind_is_sensitive(str_z(no[i])), "cried wolf at %s", no[i]);
}

TEST(a_message_names_a_bind_as_written_and_not_with_what_the_environment_made_of_it)
{
	struct bind b = walls_bind("/srv/hunter2:/x:ro");

	CHECK_STR(bind_shown(&b), STR("/srv/hunter2:/x:ro"));
	b.origin.raw = STR("${DIR}:/x:ro");
	CHECK_STR(bind_shown(&b), STR("${DIR}:/x:ro"));
}

TEST_MAIN()
