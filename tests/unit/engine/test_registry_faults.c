/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are damaged, foreign, newer, gone or full; writers that are killed. */
#include "entries.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>

#define REGISTRY(name, p) _cleanup_(registry_closep) struct registry *name = open_registry(p)

/* A session directory with the info of a sandbox in it. */
static void put_session(const char *sessions, const char *name, const struct reg_entry *en)
{
	char path[200];
	int fd;

	(void)mkdir(sessions, 0700);
	(void)snprintf(path, sizeof(path), "%s/%s", sessions, name);
	assert_int_equal(mkdir(path, 0700), 0);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	OK(registry_info_write(fd, en, e));
	fd_close(fd);
}

static unsigned count_aside(const struct spot *p)
{
	DIR *d = opendir(p->dir);
	unsigned n = 0;

	for (struct dirent *ent; (ent = readdir(d));)
		n += str_starts(str_z(ent->d_name), STR(REGISTRY_FILE ".corrupt-")) &&
		     !str_ends(str_z(ent->d_name), STR("-wal")) && !str_ends(str_z(ent->d_name), STR("-shm"));
	closedir(d);
	return n;
}

static void run_sql(const struct spot *p, const char *sql)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(spot_file(p, REGISTRY_FILE), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* What is in its log is not read from the file: it is written back first. */
static void overwrite(const struct spot *p, off_t at, struct str bytes)
{
	int fd;

	run_sql(p, "PRAGMA wal_checkpoint(TRUNCATE)");
	fd = open(spot_file(p, REGISTRY_FILE), O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes.p, bytes.n, at), bytes.n);
	fd_close(fd);
}

TEST(a_damaged_file_is_set_aside_and_what_lives_is_there_again)
{
	SPOT(p);
	struct reg_entry lives = entry("lives"), died = entry("died");
	char sessions[200];
	struct registry *r;

	(void)snprintf(sessions, sizeof(sessions), "%s/sessions", p.path);
	died.supervisor = gone();
	put_session(sessions, "a", &lives);
	put_session(sessions, "b", &died);
	r = open_registry_with(&p, sessions);
	put(r, &lives), put(r, &died);
	assert_null(registry_set_aside(r));
	registry_close(r);
	overwrite(&p, 0, STR("this is no database, whatever its name is"));
	r = open_registry_with(&p, sessions);
	assert_non_null(registry_set_aside(r));
	assert_int_equal(count_aside(&p), 1);
	assert_int_equal(count(r), 1);
	assert_int_equal(state_of(r, "lives"), REG_READY);
	registry_close(r);
}

TEST(damage_that_shows_while_it_is_open_is_healed_in_the_same_call)
{
	SPOT(p);
	REGISTRY(r, &p);
	REGISTRY(other, &p);
	struct reg_entry en = entry("k");
	static char junk[64 * 1024];

	put(r, &en);
	memset(junk, 0xee, sizeof(junk));
	overwrite(&p, 0, (struct str){ junk, sizeof(junk) });
	put(other, &en);
	assert_non_null(registry_set_aside(other));
	assert_int_equal(count(r), 1); /* on the new file, without noticing */
	assert_null(registry_set_aside(r));
	assert_int_equal(count_aside(&p), 1);
}

static void meet_damage(void *ctx)
{
	struct registry *r = open_registry(ctx);
	char key[32];
	struct reg_entry en;

	(void)snprintf(key, sizeof(key), "of-%d", (int)getpid());
	en = entry(key);
	put(r, &en);
	registry_close(r);
}

/* The file alone is wrong, and everything is in the log that nobody has written back. */
TEST(damage_to_the_file_loses_nothing_that_is_in_the_log)
{
	SPOT(p);
	struct registry *r = open_registry(&p);
	struct reg_entry en = entry("k");
	int fd;

	put(r, &en);
	registry_close(r);
	fd = open(spot_file(&p, REGISTRY_FILE), O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "no database", 11, 0), 11);
	fd_close(fd);
	r = open_registry(&p);
	assert_int_equal(count(r), 1);
	registry_close(r);
}

TEST(of_several_that_meet_the_damage_one_sets_it_aside)
{
	SPOT(p);
	pid_t pids[6];

	registry_close(open_registry(&p));
	overwrite(&p, 0, STR("garbage garbage garbage garbage garbage"));
	for (unsigned i = 0; i < 6; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			meet_damage(&p);
			_exit(0);
		}
	}
	for (unsigned i = 0; i < 6; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	{
		REGISTRY(r, &p);

		assert_int_equal(count_aside(&p), 1);
		assert_int_equal(count(r), 6);
	}
}

TEST(every_page_that_is_overwritten_is_survived)
{
	static char junk[4096];

	memset(junk, 0xa5, sizeof(junk));
	for (off_t page = 0; page < 9; page++) {
		SPOT(p);
		struct registry *r = open_registry(&p);
		struct reg_entry en = entry("k");
		char key[32];

		for (unsigned i = 0; i < 40; i++) {
			(void)snprintf(key, sizeof(key), "key %u", i);
			en.key = str_z(key);
			put(r, &en);
		}
		registry_close(r);
		overwrite(&p, page * 4096, (struct str){ junk, sizeof(junk) });
		r = open_registry(&p);
		en.key = STR("new");
		put(r, &en);
		assert_int_equal(state_of(r, "new"), REG_READY);
		(void)count(r);
		registry_close(r);
	}
}

TEST(a_file_that_was_removed_or_emptied_is_begun_anew_with_what_lives)
{
	SPOT(p);
	struct reg_entry lives = entry("lives");
	char sessions[200];
	struct registry *r;

	(void)snprintf(sessions, sizeof(sessions), "%s/sessions", p.path);
	put_session(sessions, "a", &lives);
	r = open_registry_with(&p, sessions);
	assert_int_equal(unlink(spot_file(&p, REGISTRY_FILE)), 0);
	(void)unlink(spot_file(&p, REGISTRY_FILE "-wal"));
	(void)unlink(spot_file(&p, REGISTRY_FILE "-shm"));
	assert_int_equal(count(r), 1); /* while it is open */
	registry_close(r);
	assert_int_equal(truncate(spot_file(&p, REGISTRY_FILE), 0), 0);
	r = open_registry_with(&p, sessions);
	assert_int_equal(count(r), 1);
	registry_close(r);
}

TEST(a_newer_schema_is_refused_and_left_alone)
{
	SPOT(p);
	struct registry *r = open_registry(&p);
	struct err e = { 0 };

	registry_close(r);
	run_sql(&p, "PRAGMA user_version = 3");
	assert_true(registry_open(&(struct registry_opts){ .dir = p.dir }, &r, &e) < 0);
	assert_non_null(strstr(e.msg, "newer creel"));
	assert_int_equal(count_aside(&p), 0);
	run_sql(&p, "PRAGMA user_version = 2");
	registry_close(open_registry(&p));
}

TEST(an_older_schema_is_brought_up_and_keeps_what_it_has)
{
	SPOT(p);
	struct registry *r = open_registry(&p);
	struct reg_entry en = entry("k");

	put(r, &en);
	registry_close(r);
	run_sql(&p, "DROP TABLE approvals; PRAGMA user_version = 1");
	r = open_registry(&p);
	assert_null(registry_set_aside(r));
	assert_int_equal(count(r), 1);
	registry_close(r);
	run_sql(&p, "SELECT count(*) FROM approvals");
}

TEST(somebody_elses_database_is_set_aside_and_not_used)
{
	SPOT(p);

	assert_int_equal(mkdir(p.dir, 0700), 0);
	spot_write(&p, REGISTRY_FILE, STR(""));
	run_sql(&p, "CREATE TABLE recipes (name TEXT); PRAGMA user_version = 1");
	{
		REGISTRY(r, &p);

		assert_non_null(registry_set_aside(r));
		assert_int_equal(count(r), 0);
	}
}

TEST(what_others_can_reach_is_refused_with_the_fix)
{
	SPOT(p);
	struct registry *r = open_registry(&p);
	struct err e = { 0 };

	registry_close(r);
	assert_int_equal(chmod(spot_file(&p, REGISTRY_FILE), 0644), 0);
	assert_true(registry_open(&(struct registry_opts){ .dir = p.dir }, &r, &e) < 0);
	assert_non_null(strstr(e.msg, "chmod 600"));
	assert_int_equal(chmod(spot_file(&p, REGISTRY_FILE), 0600), 0);
	assert_int_equal(chmod(p.dir, 0750), 0);
	assert_true(registry_open(&(struct registry_opts){ .dir = p.dir }, &r, &e) < 0);
	assert_non_null(strstr(e.msg, "0700"));
	assert_int_equal(chmod(p.dir, 0700), 0);
	assert_int_equal(rename(spot_file(&p, REGISTRY_FILE), spot_file(&p, "else.db")), 0);
	assert_int_equal(symlink("else.db", spot_file(&p, REGISTRY_FILE)), 0);
	assert_true(registry_open(&(struct registry_opts){ .dir = p.dir }, &r, &e) < 0);
	assert_non_null(strstr(e.msg, "symbolic link"));
}

static void use_after_fork(void *ctx)
{
	struct reg_entry en = entry("k");
	struct err e = { 0 };

	if (registry_put(ctx, &en, &e) >= 0 || e.kind != ERR_BUG)
		_exit(1);
	registry_close(ctx);
}

TEST(a_handle_of_before_a_fork_is_refused_and_closing_it_there_does_no_harm)
{
	SPOT(p);
	REGISTRY(r, &p);
	struct reg_entry en = entry("k");

	put(r, &en);
	assert_int_equal(spot_fork(use_after_fork, r), 0);
	put(r, &en);
	assert_int_equal(count(r), 1);
}

static void write_for_ever(const struct spot *p, unsigned who, int begun)
{
	struct registry *r = open_registry(p);
	char key[32];

	for (unsigned i = 0;; i++) {
		struct reg_entry en;

		(void)snprintf(key, sizeof(key), "%u/%u", who, i % 50);
		en = entry(key);
		put(r, &en);
		if (i == 0)
			assert_int_equal(write(begun, "", 1), 1);
	}
}

TEST(writers_that_are_killed_leave_a_registry_that_works_and_is_right_after_a_reap)
{
	SPOT(p);
	struct reg_reaped done = { 0 };

	for (unsigned round = 0; round < 6; round++) {
		pid_t pids[4];
		int begun[2];
		char byte;

		assert_int_equal(pipe(begun), 0);
		for (unsigned i = 0; i < 4; i++) {
			pids[i] = fork();
			if (pids[i] == 0)
				write_for_ever(&p, i, begun[1]);
		}
		assert_int_equal(read(begun[0], &byte, 1),
				 1); /* one has written, however slow this machine is */
		usleep(7000 * round);
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(kill(pids[i], SIGKILL), 0);
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
		assert_int_equal(close(begun[0]) | close(begun[1]), 0);
	}
	{
		REGISTRY(r, &p);
		struct reg_entry en = entry("mine");

		put(r, &en);
		OK(registry_reap(r, &done, e));
		assert_true(done.lost > 0);
		assert_int_equal(count(r), done.lost + 1);
		assert_int_equal(state_of(r, "mine"), REG_READY);
		assert_int_equal(count_aside(&p), 0);
	}
}

static void fill_small_disk(void *ctx)
{
	const struct spot *p = ctx;
	struct reg_entry en;
	struct registry *r;
	struct err e = { 0 };
	unsigned n = 0;
	char key[32];

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("t", p->path, "tmpfs", 0, "size=400k,mode=0700") < 0)
		_exit(77);
	r = open_registry(p);
	do {
		(void)snprintf(key, sizeof(key), "key %u", n++);
		en = entry(key);
	} while (n < 5000 && registry_put(r, &en, &e) == 0);
	if (n == 5000 || count_aside(p) || registry_set_aside(r))
		_exit(2);
	if (mount("t", p->path, "tmpfs", MS_REMOUNT, "size=8m") < 0 || registry_put(r, &en, &e) < 0)
		_exit(3);
	if (count(r) != n)
		_exit(4);
}

TEST(a_full_disk_is_an_error_and_not_damage)
{
	SPOT(p);
	int status = spot_fork(fill_small_disk, &p);

	if (status == 77 && !getenv("CREEL_MUST_WORK"))
		skip(); /* mounting needs root */
	assert_int_equal(status, 0);
}

/* ---- the disk ---- */

static int (*real_open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);
static int (*real_sync)(sqlite3_file *, int);
static sqlite3_io_methods counting;
static unsigned log_syncs;

static int count_sync(sqlite3_file *f, int flags)
{
	log_syncs++;
	return real_sync(f, flags);
}

static int open_log(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out)
{
	int r = real_open(v, name, f, flags, out);

	if (r == SQLITE_OK && flags & SQLITE_OPEN_WAL) {
		counting = *f->pMethods;
		real_sync = counting.xSync;
		counting.xSync = count_sync;
		f->pMethods = &counting;
	}
	return r;
}

/* A sandbox of this host does not outlive a power cut, and one that is elsewhere does. */
TEST(a_lease_is_on_the_disk_when_it_is_put_and_no_sandbox_waits_for_that)
{
	SPOT(p);
	sqlite3_vfs *real = sqlite3_vfs_find(NULL), ours = *real;
	const struct reg_lease lease = { .key = STR("s:browser"),
					 .backend = BACKEND_OPENSANDBOX,
					 .remote_id = STR("r"),
					 .expires_ms = 9000 };
	struct reg_entry one = entry("k");
	struct err ignored = { 0 };
	struct registry *r;

	real_open = real->xOpen;
	ours.zName = "counting";
	ours.xOpen = open_log;
	assert_int_equal(sqlite3_vfs_register(&ours, 1), SQLITE_OK);
	r = open_registry(&p);
	log_syncs = 0;
	OK(registry_put(r, &one, e));
	assert_int_equal(registry_remove(r, one.key, NULL, &ignored), 1);
	assert_int_equal(log_syncs, 0);
	OK(registry_lease_put(r, &lease, e));
	assert_true(log_syncs > 0);
	log_syncs = 0;
	OK(registry_put(r, &one, e));
	assert_int_equal(log_syncs, 0);
	assert_true(str_ends(str_z(registry_log(r)), STR("/registry.db-wal")));
	assert_int_equal(access(registry_log(r), F_OK), 0);
	registry_close(r);
	assert_int_equal(sqlite3_vfs_unregister(&ours), SQLITE_OK);
}

/* ---- info ---- */

TEST(an_info_file_says_what_was_written_and_is_ours_alone)
{
	SPOT(p);
	_cleanup_arena_ struct arena a = { 0 };
	struct reg_entry en = entry("k\n\"\\ü"), found;
	struct stat st;
	struct str text;
	int fd;

	assert_int_equal(mkdir(p.dir, 0700), 0);
	fd = open(p.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	OK(registry_info_write(fd, &en, e));
	en.calls = 7;
	en.workspace = STR("/home/caf\xe9"); /* a path is any bytes */
	OK(registry_info_write(fd, &en, e));
	fd_close(fd);
	assert_int_equal(stat(spot_file(&p, REGISTRY_INFO), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	arena_init(&a, 1 << 20);
	text = spot_read(&p, REGISTRY_INFO);
	OK(registry_info_parse(&a, text, &found, e));
	CHECK_STR(found.key, en.key);
	CHECK_STR(found.workspace, en.workspace);
	assert_int_equal(found.calls, 7);
	assert_int_equal(found.supervisor.start, en.supervisor.start);
	assert_string_equal(found.warden.boot, en.warden.boot);
	free((void *)(uintptr_t)text.p);
}

TEST(an_info_file_that_is_not_one_is_counted_and_left_out)
{
	SPOT(p);
	struct reg_entry good = entry("good");
	uint64_t found = 0, unreadable = 0;
	char sessions[200], path[300];
	struct registry *r;

	(void)snprintf(sessions, sizeof(sessions), "%s/sessions", p.path);
	r = open_registry_with(&p, sessions);
	put_session(sessions, "good", &good);
	put_session(sessions, "shared", &good);
	(void)snprintf(path, sizeof(path), "%s/shared/info", sessions);
	assert_int_equal(chmod(path, 0644), 0);
	(void)snprintf(path, sizeof(path), "%s/empty", sessions);
	assert_int_equal(mkdir(path, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/link", sessions);
	assert_int_equal(symlink("good", path), 0);
	OK(registry_rescan(r, &found, &unreadable, e));
	assert_int_equal(found, 1);
	assert_int_equal(unreadable, 3);
	assert_int_equal(count(r), 1);
	registry_close(r);
}

TEST(of_two_infos_with_one_key_the_newer_counts)
{
	SPOT(p);
	struct reg_entry old = entry("k"), new = entry("k");
	uint64_t found, unreadable;
	char sessions[200];
	struct registry *r;

	old.created_ms = 10, old.calls = 1;
	new.created_ms = 20, new.calls = 2;
	(void)snprintf(sessions, sizeof(sessions), "%s/sessions", p.path);
	r = open_registry_with(&p, sessions);
	put_session(sessions, "1", &new);
	put_session(sessions, "2", &old);
	put_session(sessions, "3", &new);
	OK(registry_rescan(r, &found, &unreadable, e));
	{
		_cleanup_arena_ struct arena a = { 0 };
		struct reg_entry got;

		arena_init(&a, 1 << 20);
		OK(registry_find(r, STR("k"), &a, &got, e));
		assert_int_equal(got.created_ms, 20);
	}
	registry_close(r);
}

TEST_MAIN()
