/* SPDX-License-Identifier: Apache-2.0 */
/*
 * creel-keeper: started by backend/keeper.h with a plan, a session's directory and a pipe to answer over, and by nobody else. It ends
 * when nobody has used the sandbox for a while, when it is told to, when its directory is removed, or when the sandbox ends; then nothing
 * of it is left.
 * When it is killed, the warden hears that its socket is closed, and ends everything.
 */
#include "keeper/keeper_priv.h"

#include "backend/keeper_boot.h"
#include "backend/native.h"
#include "base/private.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCES_MAX 4096u
#define FILES_WANTED 4096u
#define LOOK_MS 60000u
#define LOCK_FILE "keeper.lock"

void keeper_settle(struct keeper *k)
{
	clients_settle(k);
	if (k->gone)
		loop_stop(k->loop, 0);
}

/* ---- when to go ---- */

/*
 * Of the calls on lines pid 1 knows alone. When none is there, and none was for as long as we wait, it hangs up on all of them: none can come any more. Without
 * clients nobody has one, and a pid 1 that was stopped need not be waited for.
 */
static bool lines_are_used(struct keeper *k, uint64_t now)
{
	uint64_t unused_ms = 0;
	struct err ignored;

	if (!k->last_line || !k->n_clients || native_retire(k->box, k->idle_ms, &unused_ms, &ignored) == 1)
		return false;
	if (unused_ms > now - k->active_ms)
		unused_ms = now - k->active_ms;
	k->active_ms = now - unused_ms;
	return true;
}

static void idle(struct loop *l, void *ctx)
{
	struct keeper *k = ctx;
	uint64_t now = clock_mono_ms();
	bool busy = k->n_calls || k->n_live;

	if (!busy && now - k->active_ms >= k->idle_ms && !lines_are_used(k, now)) {
		if (clients_retire(k)) {
			loop_stop(l, 0);
			return;
		}
		keeper_active(k);
	}
	(void)loop_add_timer(l, (busy ? now : k->active_ms) + k->idle_ms, idle, k, &k->idle_source);
}

/* When our directory was removed nobody can come to us any more; those who are there may stay. */
static void look(struct loop *l, void *ctx)
{
	struct keeper *k = ctx;
	uint64_t wait = k->idle_ms && k->idle_ms < LOOK_MS ? k->idle_ms : LOOK_MS;
	struct stat st;

	if (!k->n_clients && fstatat(k->dir, KEEPER_SOCKET, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		loop_stop(l, 0);
	else
		(void)loop_add_timer(l, clock_mono_ms() + wait, look, k, &k->look_source);
}

static void told_to(struct loop *l, void *ctx)
{
	(void)ctx;
	loop_stop(l, 0);
}

static void box_ready(struct loop *l, void *ctx, uint32_t events)
{
	struct keeper *k = ctx;

	(void)l;
	(void)events;
	calls_hear(k);
	keeper_settle(k);
}

/* ---- beginning ---- */

static int take_lock(struct keeper *k, struct err *e)
{
	k->lock = private_file_open(k->dir, LOCK_FILE, O_RDWR | O_CREAT);
	if (k->lock < 0)
		return err_set(e, ERR_SYS, "open the lock of the session directory: %s",
			       private_why(k->lock));
	if (flock(k->lock, LOCK_EX | LOCK_NB) < 0)
		return err_set(e, ERR_LIMIT, "another keeper has this session directory");
	return 0;
}

/* Descriptors of clients, jobs and logs: as many as we may. What runs inside has limits of its own. */
static void set_limits(void)
{
	const struct rlimit none = { 0 };
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < FILES_WANTED) {
		r.rlim_cur = r.rlim_max < FILES_WANTED ? r.rlim_max : FILES_WANTED;
		(void)setrlimit(RLIMIT_NOFILE, &r);
	}
	(void)setrlimit(RLIMIT_CORE, &none); /* the environment of a call may hold secrets */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN); /* of whoever started us; a log that may not grow is cut */
	(void)signal(SIGHUP, SIG_IGN);
}

static int open_box(struct keeper *k, struct str bytes, struct str *ret_durable, struct err *e)
{
	struct cgroup c = CGROUP_EMPTY;
	struct native_spec spec = { .cgroup = &c };
	struct keeper_boot boot;

	if (keeper_boot_read(bytes, &boot, &spec.plan, &spec.workdir, ret_durable) < 0)
		return err_set(e, ERR_PROTO, "creel-keeper is started by creel, of the same version");
	c.version = (enum cgroup_version)boot.group_version;
	c.have = boot.group_have;
	memcpy(c.dir, boot.group, sizeof(c.dir));
	memcpy(c.aside, boot.group_aside, sizeof(c.aside));
	c.fd = c.version == CGROUP_V2 ? KEEPER_FD_GROUP : FD_NONE;
	k->idle_ms = boot.idle_s > UINT32_MAX ? 0 : boot.idle_s * 1000;
	k->log_bytes = boot.log_bytes;
	k->logs_bytes = boot.logs_bytes;
	return native_open(&spec, &k->box, e);
}

static int begin(struct keeper *k, struct err *e)
{
	_cleanup_(message_unmap) struct str bytes = { 0 };
	struct str durable = { 0 };
	off_t size = lseek(KEEPER_FD_SPEC, 0, SEEK_END);
	struct loop_id unused;
	int r = take_lock(k, e);

	if (r < 0)
		return r;
	r = size <= 0 || size > KEEPER_BOOT_MAX ? -EINVAL : message_map(KEEPER_FD_SPEC, (size_t)size, &bytes);
	if (r >= 0)
		r = loop_new(SOURCES_MAX, &k->loop);
	if (r >= 0)
		r = loop_add_signal(k->loop, SIGTERM, told_to, k, &unused);
	if (r >= 0)
		r = loop_add_signal(k->loop, SIGINT, told_to, k, &unused);
	if (r < 0)
		return err_sys(e, -r, "start creel-keeper");
	r = logs_open(k, e);
	if (r >= 0)
		r = open_box(k, bytes, &durable, e);
	if (r < 0)
		return r;
	r = loop_add_fd(k->loop, k->box->ops->fd(k->box), EPOLLIN, box_ready, k, &k->box_source);
	keeper_active(k);
	if (r >= 0)
		r = durable_begin(k, durable);
	if (r >= 0 && k->idle_ms)
		r = loop_add_timer(k->loop, k->active_ms + k->idle_ms, idle, k, &k->idle_source);
	if (r < 0)
		return err_sys(e, -r, "start creel-keeper");
	r = clients_listen(k, e);
	if (r == 0)
		look(k->loop, k);
	return r;
}

/* False when nobody waits for us any more. */
static bool say_ready(struct keeper *k, const struct err *e)
{
	struct keeper_ready ready = { .pid = getpid(), .err = *e };
	struct box_stat st;
	struct err why;
	ssize_t n;

	if (e->kind == ERR_NONE && k->box->ops->stat(k->box, &st, &why) == 0) {
		ready.probes = st.probes;
		ready.landlock_abi = st.landlock_abi;
		memcpy(ready.walls, st.walls, sizeof(st.walls));
	}
	n = write(KEEPER_FD_READY, &ready, sizeof(ready));
	(void)close(KEEPER_FD_READY);
	return n == (ssize_t)sizeof(ready) && e->kind == ERR_NONE;
}

static void end(struct keeper *k)
{
	if (k->listener >= 0)
		(void)unlinkat(k->dir, KEEPER_SOCKET, 0);
	k->listener = fd_close(k->listener);
	/* Clients hear last that we have gone: then everything has. */
	k->box = box_close(k->box);
	k->gone = true;
	jobs_done(k);
	logs_done(k);
	k->lock = fd_close(k->lock); /* whoever hears that we have gone may start the next one */
	clients_done(k);
	k->loop = loop_free(k->loop);
	durable_end(k);
}

int main(void)
{
	static struct keeper k = { .dir = KEEPER_FD_DIR,
				   .lock = FD_NONE,
				   .listener = FD_NONE,
				   .logs = FD_NONE,
				   .writer_fd = FD_NONE };
	struct err e = { 0 };
	pid_t pid;

	if (fcntl(KEEPER_FD_SPEC, F_GET_SEALS) < 0) {
		(void)fputs("creel-keeper: it is started by creel, with a sandbox to hold; see creel(1)\n",
			    stderr);
		return 2;
	}
	/* Whoever started us has nobody to reap; it waits for this one alone. */
	pid = fork();
	if (pid != 0)
		_exit(pid < 0 ? 1 : 0);
	set_limits();
	(void)umask(022); /* whoever started us may have any other; calls bring their own */
	k.jobs_end = &k.jobs;
	if (begin(&k, &e) < 0)
		end(&k); /* before it is told, so that the next one can begin at once */
	(void)close(KEEPER_FD_SPEC);
	if (say_ready(&k, &e))
		(void)loop_run(k.loop);
	end(&k);
	return 0;
}
