/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file: opened, made, and set aside when it is damaged.
 *
 * Nobody but SQLite may open and close it in this process: closing any descriptor of a file drops the locks (fcntl) that SQLite holds on
 * it. So it is looked at by name (fstatat), and what keeps a writer and somebody who exchanges the file apart is another file, the guard.
 */
#include "engine/registry_priv.h"

#include "base/clock.h"
#include "base/private.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define GUARD_FILE "registry.lock"
#define APPLICATION_ID 0x4352454cu /* "CREL" */
enum { SCHEMA_VERSION = 2 };

/* clang-format off */
static const char schema[] =
	"CREATE TABLE sandboxes (key TEXT PRIMARY KEY NOT NULL, scope TEXT NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL,"
	" backend TEXT NOT NULL, state TEXT NOT NULL, profile_digest TEXT NOT NULL, mounts_digest TEXT NOT NULL,"
	" workspace TEXT NOT NULL, socket TEXT NOT NULL, sup_pid INTEGER NOT NULL, sup_start INTEGER NOT NULL,"
	" warden_pid INTEGER NOT NULL, warden_start INTEGER NOT NULL, pidns INTEGER NOT NULL, boot TEXT NOT NULL,"
	" created_ms INTEGER NOT NULL, used_ms INTEGER NOT NULL, warned_ms INTEGER NOT NULL, calls INTEGER NOT NULL)"
	" STRICT, WITHOUT ROWID;"
	"CREATE TABLE leases (key TEXT PRIMARY KEY NOT NULL, backend TEXT NOT NULL, remote_id TEXT NOT NULL, template TEXT NOT NULL,"
	" created_ms INTEGER NOT NULL, used_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL, renewed INTEGER NOT NULL)"
	" STRICT, WITHOUT ROWID;"
	"CREATE TABLE locks (name TEXT PRIMARY KEY NOT NULL, generation INTEGER NOT NULL, pid INTEGER NOT NULL, start INTEGER NOT NULL,"
	" pidns INTEGER NOT NULL, boot TEXT NOT NULL, until_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
	"CREATE TABLE counters (name TEXT PRIMARY KEY NOT NULL, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
	"INSERT INTO counters VALUES ('lock', 0);";
/* Since version 2. */
static const char schema_approvals[] =
	"CREATE TABLE approvals (id TEXT PRIMARY KEY NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, request TEXT NOT NULL,"
	" session TEXT NOT NULL, agent TEXT NOT NULL, channel TEXT NOT NULL, chat TEXT NOT NULL, tool TEXT NOT NULL, via TEXT NOT NULL,"
	" call TEXT NOT NULL, command TEXT NOT NULL, arguments TEXT NOT NULL, workdir TEXT NOT NULL, answered_by TEXT NOT NULL,"
	" reason TEXT NOT NULL, created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL, answered_ms INTEGER NOT NULL,"
	" until_ms INTEGER NOT NULL, until_boot_ms INTEGER NOT NULL, used INTEGER NOT NULL, pid INTEGER NOT NULL, start INTEGER NOT NULL,"
	" pidns INTEGER NOT NULL, boot TEXT NOT NULL) STRICT, WITHOUT ROWID;"
	"PRAGMA user_version = 2;";
/* clang-format on */

/* ---- SQLite ---- */

static bool is_damage(int code)
{
	return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

/* Why it could not be read or written; 0 = not for that. A quota that is used up is as good as a full disk. */
static int io_errno(sqlite3 *db, int code)
{
	int why = (code & 0xff) == SQLITE_IOERR ? sqlite3_system_errno(db) : 0;

	return (code & 0xff) == SQLITE_FULL || why == EDQUOT ? ENOSPC : why;
}

int reg_fail(struct registry *r, const char *what, struct err *e)
{
	int code = r->db ? sqlite3_errcode(r->db) : SQLITE_NOMEM;
	const char *text = r->db ? sqlite3_errmsg(r->db) : "out of memory";

	r->damaged |= is_damage(code);
	if (is_damage(code))
		return err_set(e, ERR_SYS, "'%s' is damaged: %s", r->path, text);
	if ((code & 0xff) == SQLITE_BUSY)
		return err_set(e, ERR_UNAVAIL, "'%s': another process has kept it locked for %u ms", r->path,
			       r->wait_ms);
	if (io_errno(r->db, code))
		return err_sys(e, io_errno(r->db, code), "'%s': %s", r->path, what);
	return err_set(e, ERR_SYS, "'%s': %s: %s", r->path, what, text);
}

int reg_prepare(struct registry *r, const char *sql, sqlite3_stmt **ret, struct err *e)
{
	return sqlite3_prepare_v2(r->db, sql, -1, ret, NULL) == SQLITE_OK ? 0 : reg_fail(r, "prepare", e);
}

int reg_step(struct registry *r, sqlite3_stmt *st, struct err *e)
{
	int code = sqlite3_step(st);

	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE ? 0 : reg_fail(r, "step", e);
}

int reg_exec(struct registry *r, const char *sql, struct err *e)
{
	return sqlite3_exec(r->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : reg_fail(r, "execute", e);
}

static int read_pragma(struct registry *r, const char *sql, int64_t *ret, struct err *e)
{
	REG_STMT(st);
	int row = reg_prepare(r, sql, &st, e);

	if (row == 0)
		row = reg_step(r, st, e);
	if (row > 0)
		*ret = sqlite3_column_int64(st, 0);
	return row < 0 ? row : 0;
}

/* ---- the guard ---- */

static int guard_lock(struct registry *r, int how, struct err *e)
{
	int n = fd_lock(r->guard, how, r->wait_ms);

	if (n == -ETIMEDOUT)
		return err_set(e, ERR_UNAVAIL, "'%s': another process has kept it locked for %u ms", r->path,
			       r->wait_ms);
	return n < 0 ? err_sys(e, -n, "lock '%s/" GUARD_FILE "'", r->dir) : 0;
}

static void guard_unlock(struct registry *r)
{
	(void)flock(r->guard, LOCK_UN);
}

/* ---- opening ---- */

#define WAL_SMALL (512 << 10)

/*
 * Who is the last to leave would write the log back into the file and wait twice for the disk: several milliseconds, after each call that stands alone. A
 * short log is left to the next one, who reads it: what was committed is there, however we end. A long one would take longer to read each time.
 */
static void leave_log(struct registry *r)
{
	struct stat st;
	bool small = fstatat(r->dir_fd, REGISTRY_FILE "-wal", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		     st.st_size <= WAL_SMALL;

	(void)sqlite3_db_config(r->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, small, NULL);
}

static void disconnect(struct registry *r)
{
	if (r->db)
		leave_log(r);
	(void)sqlite3_close_v2(r->db);
	r->db = NULL;
}

/* Made by us, so that its mode is ours; SQLite gives its other files the mode of this one. */
static int make_file(struct registry *r, struct err *e)
{
	int fd = openat(r->dir_fd, REGISTRY_FILE, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600),
	    fault;
	struct stat st;

	if (fd < 0 && errno != EEXIST)
		return err_sys(e, errno, "create '%s'", r->path);
	(void)fd_close(fd); /* nobody had it open before: there are no locks to lose */
	if (fstatat(r->dir_fd, REGISTRY_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(e, errno, "stat '%s'", r->path);
	fault = private_file_check(&st);
	/* Whatever the umask has left of it. In our directory nobody exchanges it. */
	if (fault == 0 && st.st_size == 0 && (st.st_mode & 0777) != 0600 &&
	    fchmodat(r->dir_fd, REGISTRY_FILE, 0600, 0) < 0)
		return err_sys(e, errno, "chmod '%s'", r->path);
	if (fault < 0)
		return err_set(e, ERR_UNAVAIL, "'%s' %s: chown and chmod 600 it, or move it away", r->path,
			       private_why(fault));
	r->dev = st.st_dev;
	r->ino = st.st_ino;
	return 0;
}

/* Of a new file: two that change it at once are told "busy" without any waiting, lest they wait for each other. */
static int use_wal(struct registry *r, struct err *e)
{
	uint64_t deadline = clock_deadline(r->wait_ms);
	struct timespec pause = { .tv_nsec = 500000 };
	int64_t ignored;
	int code;

	while ((code = read_pragma(r, "PRAGMA journal_mode = WAL", &ignored, e)) < 0 &&
	       (sqlite3_errcode(r->db) & 0xff) == SQLITE_BUSY && clock_mono_ms() < deadline) {
		*e = (struct err){ 0 };
		(void)nanosleep(&pause, NULL);
		if (pause.tv_nsec < 5000000)
			pause.tv_nsec *= 2;
	}
	return code;
}

static int set_up_connection(struct registry *r, struct err *e)
{
	int code;

	(void)sqlite3_extended_result_codes(r->db, 0);
	(void)sqlite3_busy_timeout(r->db, (int)r->wait_ms);
	(void)sqlite3_db_config(r->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(r->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	(void)sqlite3_limit(r->db, SQLITE_LIMIT_LENGTH, 1 << 20);
	code = reg_exec(r, "PRAGMA cell_size_check = ON; PRAGMA synchronous = NORMAL; PRAGMA mmap_size = 0;",
			e);
	return code < 0 ? code : use_wal(r, e);
}

static int connect(struct registry *r, struct err *e)
{
	int flags =
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
	int code = make_file(r, e);

	if (code < 0)
		return code;
	if (sqlite3_open_v2(r->path, &r->db, flags, NULL) != SQLITE_OK)
		return reg_fail(r, "open", e);
	return set_up_connection(r, e);
}

/* ---- the schema ---- */

static int make_schema(struct registry *r, struct err *e)
{
	char application[64];
	int code = reg_exec(r, schema, e);

	if (code == 0)
		code = reg_exec(r, schema_approvals, e);
	(void)snprintf(application, sizeof(application), "PRAGMA application_id = %u;", APPLICATION_ID);
	return code < 0 ? code : reg_exec(r, application, e);
}

static int refuse_newer(struct registry *r, int64_t version, struct err *e)
{
	return err_set(e, ERR_UNAVAIL,
		       "'%s' is of a newer creel (schema %" PRId64
		       ", this one knows up to %d): use that one, or move the file away",
		       r->path, version, SCHEMA_VERSION);
}

/* Somebody's database that has the right number and not our tables is none of ours: as good as damaged. */
static int check_tables(struct registry *r, int64_t version, struct err *e)
{
	static const char sql[] =
		"SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('sandboxes', 'leases', 'locks', 'counters', 'approvals')";
	int64_t n = 0;
	int code = read_pragma(r, sql, &n, e);

	if (code < 0)
		return code;
	if (n == (version == 1 ? 4 : 5))
		return 0;
	r->damaged = true;
	return err_set(e, ERR_SYS, "'%s' is damaged: tables are missing", r->path);
}

/* With whoever lives registered again in a new one, or not at all: the next to open it would take it for complete. */
static int ready_schema(struct registry *r, struct err *e)
{
	uint64_t found, unreadable;
	int64_t version = 0;
	int code = read_pragma(r, "PRAGMA user_version", &version, e);

	if (code < 0)
		return code;
	if (version > SCHEMA_VERSION)
		return refuse_newer(r, version, e);
	if (version == SCHEMA_VERSION)
		return check_tables(r, version, e);
	code = reg_exec(r, "BEGIN IMMEDIATE", e);
	if (code == 0)
		code = read_pragma(r, "PRAGMA user_version", &version,
				   e); /* another one may have been first */
	if (code == 0 && version == 0)
		code = make_schema(r, e);
	if (code == 0 && version == 0)
		code = reg_rescan(r, &found, &unreadable, e);
	if (code == 0 && version == 1)
		code = check_tables(r, version, e);
	if (code == 0 && version == 1)
		code = reg_exec(r, schema_approvals, e);
	return code < 0 ? code : reg_exec(r, "COMMIT", e);
}

/* With the guard. */
static int open_db(struct registry *r, struct err *e)
{
	int code = connect(r, e);

	if (code == 0)
		code = ready_schema(r, e);
	if (code < 0)
		disconnect(r);
	return code;
}

/* ---- damaged ---- */

static void rename_part(struct registry *r, const char *suffix)
{
	char from[64], to[128];

	(void)snprintf(from, sizeof(from), REGISTRY_FILE "%s", suffix);
	(void)snprintf(to, sizeof(to), "%s%s", r->aside, suffix);
	(void)renameat(r->dir_fd, from, r->dir_fd, to); /* not there: SQLite had removed it */
}

static void name_aside(struct registry *r)
{
	char time[CLOCK_TEXT_MAX];
	struct str t = STR("");

	(void)clock_format(clock_unix_ms(), time, &t);
	for (unsigned i = 0; i < 1000; i++) {
		(void)snprintf(r->aside, sizeof(r->aside), REGISTRY_FILE ".corrupt-%.*s%s%.0u", (int)t.n, t.p,
			       i ? "-" : "", i);
		if (faccessat(r->dir_fd, r->aside, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
			return;
	}
}

static bool is_same_file(const struct registry *r)
{
	struct stat st;

	return fstatat(r->dir_fd, REGISTRY_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == r->dev &&
	       st.st_ino == r->ino;
}

/* With nobody else in a transaction. Who comes second finds another file there already, and only opens it. */
static int exchange(struct registry *r, struct err *e)
{
	bool is_ours = is_same_file(r);
	int code = 0;

	disconnect(r);
	if (is_ours) {
		name_aside(r);
		rename_part(r, "-wal");
		rename_part(r, "-shm");
		if (renameat(r->dir_fd, REGISTRY_FILE, r->dir_fd, r->aside) < 0)
			code = err_sys(e, errno, "set '%s' aside", r->path);
	}
	r->damaged = false;
	return code < 0 ? code : open_db(r, e);
}

static int set_aside(struct registry *r, struct err *e)
{
	int code = guard_lock(r, LOCK_EX, e);

	if (code < 0)
		return code;
	code = exchange(r, e);
	guard_unlock(r);
	return code;
}

/* ---- transactions ---- */

static int reopen_if_exchanged(struct registry *r, struct err *e)
{
	if (r->db && is_same_file(r))
		return 0;
	disconnect(r);
	return open_db(r, e);
}

static int run_once(struct registry *r, bool writes, reg_work *work, void *ctx, struct err *e)
{
	struct err ignored = { 0 };
	int code = reopen_if_exchanged(r, e);

	if (code == 0 && r->lasting)
		code = reg_exec(r, "PRAGMA synchronous = FULL", e);
	if (code == 0 && writes)
		code = reg_exec(r, "BEGIN IMMEDIATE", e);
	if (code < 0)
		return code;
	code = work(r, ctx, e);
	if (code >= 0 && writes && reg_exec(r, "COMMIT", e) < 0)
		code = -1;
	if (code < 0 && writes && r->db && !sqlite3_get_autocommit(r->db))
		(void)reg_exec(r, "ROLLBACK", &ignored);
	if (r->lasting && r->db)
		(void)reg_exec(r, "PRAGMA synchronous = NORMAL", &ignored);
	return code;
}

int reg_run(struct registry *r, bool writes, reg_work *work, void *ctx, struct err *e)
{
	int code = 0;

	if (r->pid != getpid())
		return err_set(e, ERR_BUG, "the registry was opened before a fork");
	for (unsigned i = 0; i < 2; i++) {
		code = guard_lock(r, LOCK_SH, e);
		if (code < 0)
			return code;
		r->damaged = false;
		code = run_once(r, writes, work, ctx, e);
		guard_unlock(r);
		if (code >= 0 || !r->damaged || i > 0)
			break;
		code = set_aside(r, e);
		if (code < 0)
			break;
	}
	return code;
}

int reg_run_lasting(struct registry *r, reg_work *work, void *ctx, struct err *e)
{
	int code;

	r->lasting = true;
	code = reg_run(r, true, work, ctx, e);
	r->lasting = false;
	return code;
}

/* ---- handles ---- */

static int nothing(struct registry *r, void *ctx, struct err *e)
{
	(void)r, (void)ctx, (void)e;
	return 0;
}

static int open_dir(struct registry *r, const struct registry_opts *o, struct err *e)
{
	int fault;

	r->dir_fd = private_dir_open(o->dir);
	if (r->dir_fd < 0) {
		fault = r->dir_fd;
		r->dir_fd = FD_NONE;
		return err_set(e, ERR_UNAVAIL, "registry directory '%s' %s: it has to be ours with mode 0700",
			       o->dir, private_why(fault));
	}
	/* SQLite refuses links anywhere in the name; above the directory they are the user's own. */
	r->dir = realpath(o->dir, NULL);
	if (!r->dir || asprintf(&r->path, "%s/" REGISTRY_FILE, r->dir) < 0 ||
	    asprintf(&r->log, "%s-wal", r->path) < 0)
		return err_sys(e, errno, "resolve '%s'", o->dir);
	r->guard = private_file_open(r->dir_fd, GUARD_FILE, O_RDWR | O_CREAT);
	if (r->guard < 0) {
		fault = r->guard;
		r->guard = FD_NONE;
		return err_set(e, ERR_UNAVAIL, "'%s/" GUARD_FILE "' %s: remove it", r->dir,
			       private_why(fault));
	}
	return 0;
}

int registry_open(const struct registry_opts *o, struct registry **ret, struct err *e)
{
	_cleanup_(registry_closep) struct registry *r = calloc(1, sizeof(*r));
	int code;

	if (!r)
		return err_sys(e, ENOMEM, "registry");
	r->dir_fd = r->guard = FD_NONE;
	r->pid = getpid();
	r->wait_ms = o->wait_ms ? o->wait_ms : 15000;
	r->touched = calloc(TOUCHED_MAX, sizeof(*r->touched));
	if (!r->touched || (o->sessions && str_dupz(str_z(o->sessions), &r->sessions) < 0))
		return err_sys(e, ENOMEM, "registry");
	code = open_dir(r, o, e);
	if (code == 0)
		code = reg_run(r, false, nothing, NULL, e);
	if (code < 0)
		return code;
	*ret = TAKE_PTR(r);
	return 0;
}

struct registry *registry_close(struct registry *r)
{
	struct err ignored = { 0 };

	if (!r)
		return NULL;
	if (r->pid == getpid()) {
		if (r->db)
			(void)registry_flush(r, &ignored); /* when it was last used is all that can be lost */
		disconnect(r);
	} /* else: SQLite's state is the parent's, and closing it would drop locks that we do not hold */
	(void)fd_close(r->guard);
	(void)fd_close(r->dir_fd);
	free(r->touched);
	free(r->sessions);
	free(r->path);
	free(r->log);
	free(r->dir);
	free(r);
	return NULL;
}

const char *registry_log(const struct registry *r)
{
	return r->log;
}

const char *registry_set_aside(const struct registry *r)
{
	return r->aside[0] ? r->aside : NULL;
}
