/* SPDX-License-Identifier: Apache-2.0 */
/* What the warden said last, turned into a reason and a status; and what becomes of the changes. */
#include "cli/run.h"

#include "base/fd.h"
#include "base/parse.h"
#include "base/tree.h"
#include "sandbox/plan.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static void judge(struct run *r)
{
	const struct warden_report *m = &r->last;

	r->code = m->value;
	if (m->reason == REASON_TIMEOUT) {
		r->reason = RUN_TIMEOUT;
		r->status = 124;
	} else if (m->reason == REASON_DISK || relay_over(r->relay)) {
		r->reason = m->reason == REASON_DISK ? RUN_DISK : RUN_OUTPUT;
		r->code = SIGKILL;
		r->status = 128 + SIGKILL;
	} else if (m->reason == REASON_SIGNAL) {
		r->reason = r->stat.oom_kills && m->value == SIGKILL ? RUN_OOM
			    : r->profile.disk && m->value == SIGXFSZ ? RUN_DISK
								     : RUN_SIGNAL;
		r->status = 128 + m->value;
	} else {
		r->reason = m->value == 0          ? RUN_OK
			    : r->stat.oom_kills    ? RUN_OOM
			    : r->stat.pids_refused ? RUN_PIDS
						   : RUN_EXIT;
		r->status = m->value;
	}
}

static void tell_small_memory(const struct run *r, struct err *e)
{
	char text[PARSE_TEXT_MAX];

	(void)err_set(e, ERR_UNAVAIL,
		      "the sandbox could not be built with " STR_FMT
		      " of memory; fix: --memory SIZE or limits.memory allows more",
		      STR_ARG(parse_format_size(r->limits.memory, text)));
}

static bool is_assignment(struct str word)
{
	struct str name, value;

	if (!str_cut(word, '=', &name, &value) || name.n == 0)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (!isalnum((unsigned char)name.p[i]) && name.p[i] != '_')
			return false;
	return true;
}

/* Why there may be no such program, as far as its name tells. */
static const char *why_not_found(const struct run *r, struct str name)
{
	static const char *const built_in[] = { "cd", "source", ".", "export", "alias", "set", "ulimit" };

	for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++)
		if (str_eq(name, str_z(built_in[i])))
			return "; it is a shell's own: use sh -c '...'";
	if (is_assignment(name))
		return "; a variable is given with --env NAME=VALUE";
	if (r->profile.argv.n == 1 && memchr(name.p, ' ', name.n))
		return "; it is one word here: leave out the quotes, or use sh -c '...'";
	if (r->cli->verbose && name.n && name.p[0] == '/' && memchr(name.p, ':', name.n))
		return "; -v is --verbose here, and --workspace DIR is the directory that it sees";
	if (r->cli->image.has && !memchr(name.p, '/', name.n))
		return "; the image has no such program in its PATH";
	if (memchr(name.p, '/', name.n))
		return ": neither there nor, if it is a script, the interpreter that its first line names; "
		       "the workspace is the current directory inside";
	return "";
}

/* The sandbox has these, too: whoever has not found it there was given another PATH. */
static bool is_of_the_system(struct str dir)
{
	return str_starts(dir, STR("/usr/")) || str_eq(dir, STR("/bin")) || str_eq(dir, STR("/sbin"));
}

/* A program of one's own home, such as ~/.cargo/bin/cargo: it is in the caller's PATH, and not in the sandbox. */
static struct str on_the_host(const struct run *r, struct str name)
{
	const char *path = environ_get(r->cli->environ, "PATH");
	struct str rest = str_z(path ? path : ""), dir;

	if (r->cli->image.has || memchr(name.p, '/', name.n))
		return (struct str){ 0 };
	while (rest.n) {
		struct str at;

		if (!str_cut(rest, ':', &dir, &rest)) {
			dir = rest;
			rest = (struct str){ 0 };
		}
		at = arena_printf(r->cli->arena, STR_FMT "/" STR_FMT, STR_ALL(dir), STR_ALL(name));
		if (dir.n && dir.p[0] == '/' && !is_of_the_system(dir) && at.p && access(at.p, X_OK) == 0)
			return dir;
	}
	return (struct str){ 0 };
}

static void tell_not_found(const struct run *r, struct str name, struct err *e)
{
	struct str dir = on_the_host(r, name);

	if (dir.n)
		(void)err_set(e, ERR_NOTFOUND,
			      "'" STR_FMT
			      "': command not found in the sandbox; on the host it is in '" STR_FMT
			      "', which -e 'mounts.binds=" STR_FMT
			      ":/opt/host:ro' --env PATH=/opt/host:/usr/bin:/bin "
			      "shows",
			      STR_ARG(name), STR_ARG(dir), STR_ARG(dir));
	else
		(void)err_set(e, ERR_NOTFOUND, "'" STR_FMT "': command not found in the sandbox%s",
			      STR_ARG(name), why_not_found(r, name));
}

/* The payload was never executed: what the kernel said about it decides between 126, 127 and our own failure. */
static int never_started(struct run *r, struct err *e)
{
	bool exec = r->last.msg == MSG_FAILED && strcmp(r->last.what, "exec") == 0;
	/* There is none yet when it failed this early. */
	struct str name = r->profile.argv.n ? r->profile.argv.v[0] : (struct str){ 0 };

	if (exec && r->last.err == ENOENT) {
		r->reason = RUN_NOT_FOUND;
		r->status = 127;
		tell_not_found(r, name, e);
	} else if (exec) {
		r->reason = RUN_NOT_EXECUTABLE;
		r->status = 126;
		(void)err_sys(e, r->last.err, "'" STR_FMT "': cannot be executed", STR_ARG(name));
	} else {
		if (r->stat.oom_kills)
			tell_small_memory(r, e);
		else if (e->kind == ERR_NONE)
			(void)err_set(e, ERR_UNAVAIL, "the sandbox ended before it had started");
		r->reason = e->kind == ERR_DENIED ? RUN_DENIED : RUN_FAILED;
		r->status = err_kind_exit(e->kind);
		return -1;
	}
	return 0;
}

/* Not an error of ours: it is said, and the status is the command's. */
static void tell_disk(const struct run *r, struct err *e)
{
	static const char more[] =
		"they are not kept; fix: --disk SIZE or limits.disk lets it take more, 0 is no limit";
	unsigned long long files = plan_disk_files(r->profile.disk);
	char text[PARSE_TEXT_MAX];
	struct str size = parse_format_size(r->profile.disk, text);

	switch (r->last.value) {
	case DISK_BYTES:
		(void)err_set(e, ERR_LIMIT, "its changes take more than " STR_FMT " of disk; %s",
			      STR_ARG(size), more);
		break;
	case DISK_FILES:
		(void)err_set(e, ERR_LIMIT, "its changes are more than %llu files; %s", files, more);
		break;
	case DISK_HIDDEN:
		(void)err_set(e, ERR_LIMIT,
			      "it took more than " STR_FMT " of disk, where nobody can count; %s",
			      STR_ARG(size), more);
		break;
	default:
		(void)err_set(
			e, ERR_LIMIT,
			"ended: the file system that it writes to is nearly full%s; fix: free some space there; "
			"--disk 0 would let it take the rest",
			r->upper.n ? ", and its changes are not kept" : "");
	}
}

static void tell_output(const struct run *r, struct err *e)
{
	char text[PARSE_TEXT_MAX];
	struct str size = parse_format_size(r->decision->limits.output, text);

	(void)err_set(
		e, ERR_LIMIT,
		"ended: it wrote more than " STR_FMT
		" to standard output and standard error; fix: --output-limit SIZE or limits.output lets it write more",
		STR_ARG(size));
}

/* Its own words name a directory of the host, and not why that is not there. */
static void tell_git(const struct run *r, struct err *e)
{
	struct str hint = r->status == GIT_FATAL ? git_hint(r->cli->arena, r->decision) : (struct str){ 0 };

	if (hint.n)
		(void)err_set(e, ERR_NOTFOUND, "%.*s", (int)hint.n, hint.p);
}

/* One line on how it ended, where the command itself could not say it; nothing where there is nothing to say. */
static void tell_end(const struct run *r, struct err *e)
{
	char text[PARSE_TEXT_MAX];

	if (r->reason == RUN_EXIT && !r->cli->quiet)
		tell_git(r, e);
	else if (r->reason == RUN_OUTPUT)
		tell_output(r, e);
	else if (r->reason == RUN_DISK)
		(void)err_set(e, ERR_LIMIT,
			      "ended: one of its files grew over " STR_FMT
			      "; fix: --disk SIZE or limits.disk lets it take more, 0 is no limit",
			      STR_ARG(parse_format_size(r->profile.disk, text)));
	else if (r->reason == RUN_TIMEOUT && !r->cli->quiet)
		(void)err_set(e, ERR_LIMIT, "ended: it ran for %llu s; fix: %s allows more",
			      (unsigned long long)(r->profile.timeout_ms / 1000),
			      r->decision->limits.timeout_s < r->decision->eff.timeout_max_s
				      ? "--timeout SECONDS"
				      : "limits.timeout_max_s (and --timeout SECONDS)");
	else if (r->reason == RUN_PIDS && !r->cli->quiet)
		(void)err_set(e, ERR_LIMIT,
			      "it failed, and was refused processes over %llu; fix: --pids N or limits.pids "
			      "allows more",
			      (unsigned long long)r->decision->limits.pids);
	else if (r->reason == RUN_OOM && !r->cli->quiet)
		(void)err_set(e, ERR_LIMIT,
			      "ended: it needed more memory than " STR_FMT
			      "; fix: --memory SIZE or limits.memory allows more",
			      STR_ARG(parse_format_size(r->limits.memory, text)));
}

/* False when there are none that could be read. */
static bool read_changes(struct run *r)
{
	_cleanup_close_ int upper = FD_NONE, lower = FD_NONE;
	struct err ignored = { 0 };
	int why;

	if (!r->upper.n)
		return false;
	upper = open(r->upper.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	why = upper < 0 ? errno : 0;
	lower = open(r->lower.p, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* The command may have locked its workspace behind itself: what is in it is there all the same. */
	if (upper < 0 ? why != ENOENT : changes_read(r->cli->arena, upper, lower, &r->changes, &ignored) < 0)
		r->changes.incomplete = true;
	return upper >= 0;
}

static enum disk_end disk_taken(const struct run *r)
{
	struct tree_size size = { .bytes = r->changes.bytes, .entries = r->changes.files };
	const struct tree_size most = { .bytes = r->profile.disk,
					.entries = plan_disk_files(r->profile.disk) };
	struct tree_size all;
	uint64_t now;

	/* Something lies deeper than the list goes, or cannot be read. Nobody is left who could mind: it can be. */
	size.incomplete = r->changes.incomplete;
	if (size.incomplete && tree_measure_locked(AT_FDCWD, r->upper.p, &most, &all) == 0) {
		size.incomplete = all.incomplete;
		size.bytes = all.bytes > size.bytes ? all.bytes : size.bytes;
		size.entries = all.entries > size.entries ? all.entries : size.entries;
	}
	if (size.bytes > most.bytes)
		return DISK_BYTES;
	if (size.entries > most.entries)
		return DISK_FILES;
	if (!size.incomplete)
		return DISK_FINE;
	/* What is hidden even so, the file system tells, as it does the warden. */
	if (!run_disk_free(r, &now) || (r->disk_free > now && r->disk_free - now > r->profile.disk))
		return DISK_HIDDEN;
	return DISK_FINE;
}

/* The warden looks at the disk now and then. Who was faster than its first look, or its last one, may not keep more for that. */
static void judge_disk(struct run *r)
{
	enum disk_end end = r->profile.disk ? disk_taken(r) : DISK_FINE;

	if (end == DISK_FINE)
		return;
	r->last.reason = REASON_DISK;
	r->last.value = (int)end;
	r->changes = (struct changes){ 0 };
}

static int settle_changes(struct run *r, bool read, struct err *e)
{
	if (!r->upper.n)
		return 0;
	if (r->changes.total != 0 || r->changes.incomplete)
		return run_keep_private_dir(r, e);
	if (read && r->private_fd < 0)
		run_give_back_private_dir(r);
	else
		run_remove_private_dir(r);
	return 0;
}

/* The command ran, and then pid 1 was killed, from outside or for its memory. */
static void note_loss(struct run *r)
{
	if (r->last.msg != MSG_READY)
		return;
	run_lock_private_dir(r);
	r->last.msg = MSG_EXIT;
	r->last.reason = REASON_SIGNAL;
	r->last.value = SIGKILL;
}

int run_end(struct run *r, struct err *e)
{
	bool read;

	note_loss(r);
	if (r->last.msg == MSG_EXIT && (r->started || r->last.reason == REASON_TIMEOUT)) {
		read = r->last.reason != REASON_DISK && read_changes(r);
		judge_disk(r);
		judge(r);
		if (r->last.reason != REASON_DISK) {
			tell_end(r, e);
			return settle_changes(r, read, e);
		}
		run_remove_private_dir(r); /* the space is needed */
		tell_disk(r, e);
		return 0;
	}
	run_remove_private_dir(r);
	return never_started(r, e);
}
