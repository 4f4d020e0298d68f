/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/native_priv.h"
#include "base/hash.h"
#include "base/port.h"
#include "sandbox/advice.h"
#include "sandbox/plan_read.h"

#include <errno.h>
#include <linux/filter.h>
#include <stdio.h>
#include <sys/resource.h>

/* ---- a call ---- */

struct warm_call native_call(const struct box_call *c, struct str workdir,
			     struct serve_limit limits[static 2])
{
	struct warm_call w = { .argv = c->argv,
			       .env = c->env,
			       .cwd = c->cwd.n ? c->cwd : workdir,
			       .path = c->path,
			       .stdio = { c->stdio[0], c->stdio[1], c->stdio[2] },
			       .flags = (c->pty ? SERVE_F_PTY : 0) | (c->keep ? SERVE_F_KEEP : 0) |
					(c->apart ? SERVE_F_APART : 0) | (c->tell ? SERVE_F_TELL : 0),
			       .deadline_ms = c->deadline_ms,
			       .grace_ms = c->grace_ms,
			       .limits = limits,
			       .umask = c->umask & 0777,
			       .cpu = c->cpu,
			       .rows = c->rows,
			       .columns = c->columns };

	if (c->open_files)
		limits[w.n_limits++] =
			(struct serve_limit){ .resource = RLIMIT_NOFILE, .value = c->open_files };
	if (c->file_bytes)
		limits[w.n_limits++] =
			(struct serve_limit){ .resource = RLIMIT_FSIZE, .value = c->file_bytes };
	return w;
}

void native_name(char out[static NATIVE_NAME_MAX], struct str s)
{
	const size_t n = s.n < NATIVE_NAME_MAX ? s.n : NATIVE_NAME_MAX - 1;

	if (n)
		memcpy(out, s.p, n);
	out[n] = '\0';
}

int native_unless_gone(int r, struct err *e)
{
	return r < 0 && (e->sys_errno == EPIPE || e->sys_errno == ECONNRESET) ? box_unbegun(e) : r;
}

/* ---- how it ended ---- */

void native_end(const struct serve_event *ev, struct box_end *ret)
{
	static const enum box_reason reasons[] = { [SERVE_EXITED] = BOX_EXITED,
						   [SERVE_SIGNALED] = BOX_SIGNALED,
						   [SERVE_TIMEOUT] = BOX_TIMEOUT,
						   [SERVE_CANCELLED] = BOX_CANCELLED };

	*ret = (struct box_end){ .reason = ev->reason < sizeof(reasons) / sizeof(reasons[0])
						   ? reasons[ev->reason]
						   : BOX_LOST,
				 .value = ev->value,
				 .wall_us = ev->wall_us,
				 .user_us = ev->user_us,
				 .sys_us = ev->sys_us,
				 .peak_kib = ev->max_rss_kb,
				 .left = ev->left,
				 .ended = ev->ended };
}

/* ---- a call that did not start ---- */

static const char *const before[] = {
	[SERVE_AT_SETUP] = "start ", [SERVE_AT_CWD] = "working directory ", [SERVE_AT_EXEC] = ""
};

/* clang-format off */
static const struct {
	int at, err;
	enum err_kind kind;
	const char *text; /* behind the program, or the directory */
} failures[] = {
	{ SERVE_AT_EXEC,  ENOENT,     ERR_NOTFOUND, "no such program in this sandbox, or not what its #! line names" },
	{ SERVE_AT_EXEC,  ENOTDIR,    ERR_NOTFOUND, "no such program in this sandbox" },
	{ SERVE_AT_EXEC,  EACCES,     ERR_DENIED,   "not executable in this sandbox" },
	{ SERVE_AT_EXEC,  EPERM,      ERR_DENIED,   "not executable in this sandbox" },
	{ SERVE_AT_EXEC,  EISDIR,     ERR_DENIED,   "a directory, not a program" },
	{ SERVE_AT_EXEC,  ENOEXEC,    ERR_DENIED,   "not a program that this kernel can run; a script needs a #! line" },
	{ SERVE_AT_EXEC,  E2BIG,      ERR_LIMIT,    "arguments and environment are more than the kernel takes" },
	{ SERVE_AT_EXEC,  ENOMEM,     ERR_LIMIT,    "no memory is left to start it" },
	{ SERVE_AT_CWD,   ENOENT,     ERR_USAGE,    "no such directory in this sandbox" },
	{ SERVE_AT_CWD,   ENOTDIR,    ERR_USAGE,    "not a directory" },
	{ SERVE_AT_CWD,   EACCES,     ERR_USAGE,    "it may not be entered" },
	{ SERVE_AT_SETUP, EISDIR,     ERR_USAGE,    "a standard stream is a directory; pass a file, pipe or socket" },
	{ SERVE_AT_SETUP, ENOTTY,     ERR_USAGE,    "a standard stream is a terminal; ask for one inside (pty)" },
	{ SERVE_AT_SETUP, EAGAIN,     ERR_LIMIT,    "this sandbox has no room for another process" },
	{ SERVE_AT_SETUP, EUSERS,     ERR_LIMIT,    "256 calls run in this sandbox already" },
	{ SERVE_AT_SETUP, ENOMEM,     ERR_LIMIT,    "no memory is left to start it" },
	{ SERVE_AT_SETUP, EOPNOTSUPP, ERR_UNAVAIL,  "it cannot stand apart from other calls: this kernel has no Landlock" },
};
/* clang-format on */
static_assert(SERVE_CALLS_MAX == 256, "as one of the texts says");

void native_failure(const struct serve_event *ev, struct str program, struct str cwd, struct err *ret)
{
	const int at = ev->value < 0 || ev->value > SERVE_AT_EXEC ? SERVE_AT_SETUP : ev->value;
	const struct str what = at == SERVE_AT_CWD ? cwd : program;

	for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
		if (failures[i].at != at || failures[i].err != ev->err)
			continue;
		(void)err_set(ret, failures[i].kind, "%s'" STR_FMT "': %s", before[at], STR_ARG(what),
			      failures[i].text);
		ret->sys_errno = ev->err;
		return;
	}
	(void)err_sys(ret, ev->err, "%s'" STR_FMT "'", at == SERVE_AT_EXEC ? "start " : before[at],
		      STR_ARG(what));
}

/* ---- a box that went ---- */

static const char *const disk_words[] = {
	[DISK_FINE] = "the sandbox was ended for its disk",
	[DISK_BYTES] = "the sandbox wrote more to disk than it may",
	[DISK_FILES] = "the sandbox made more files than it may",
	[DISK_HIDDEN] = "the sandbox wrote more to disk than it may, where it cannot be counted",
	[DISK_RESERVE] = "the disk is nearly full",
};

void native_why(const struct warden_report *r, struct err *ret)
{
	if (r->msg == MSG_FAILED)
		(void)advice_failed(r, ret);
	else if (r->msg != MSG_EXIT)
		return;
	else if (r->reason == REASON_TIMEOUT)
		(void)err_set(ret, ERR_LIMIT, "the sandbox has reached its own time limit");
	else if (r->reason == REASON_DISK)
		(void)err_set(ret, ERR_LIMIT, "%s",
			      disk_words[r->value > 0 && r->value <= DISK_RESERVE ? r->value : DISK_FINE]);
}

/* ---- walls ---- */

static void add_number(struct sha256 *h, uint64_t v)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%jx,", (uintmax_t)v);

	sha256_add(h, (struct str){ .p = text, .n = (size_t)n });
}

/* The numbers of these are walls; of others they are sizes and identities of files. */
static bool has_numbers(uint32_t kind)
{
	return kind == STEP_RLIMIT || kind == STEP_LANDLOCK || kind == STEP_CAPS ||
	       kind == STEP_LANDLOCK_RULE;
}

static void add_plan(struct sha256 *h, struct str plan)
{
	struct plan_view v;

	if (plan_open(plan, &v) < 0)
		return; /* then the warden has refused it, too */
	add_number(h, v.head.ns_flags);
	add_number(h, v.head.flags);
	for (uint32_t i = 0; i < v.head.n_steps; i++) {
		struct step s = plan_step(&v, i);

		add_number(h, s.kind);
		add_number(h, s.flags);
		add_number(h, has_numbers(s.kind) ? s.x : 0);
		add_number(h, has_numbers(s.kind) ? s.y : 0);
		if (s.kind == STEP_SECCOMP)
			sha256_add(h, plan_bytes(&v, s.b, s.x * sizeof(struct sock_filter)));
	}
}

void native_walls(const struct warden_report *ready, struct str plan, const struct cgroup *c,
		  struct box_stat *ret)
{
	unsigned char digest[SHA256_BYTES];
	struct sha256 h;

	sha256_init(&h);
	add_number(&h, ready->probes);
	add_number(&h, ready->landlock_abi);
	add_number(&h, ready->time_ns);
	add_number(&h, c->version);
	add_number(&h, c->have);
	add_plan(&h, plan);
	sha256_end(&h, digest);
	hash_to_hex(digest, sizeof(digest), ret->walls);
	ret->probes = (uint32_t)__builtin_popcountll(ready->probes);
	ret->landlock_abi = ready->landlock_abi;
}
