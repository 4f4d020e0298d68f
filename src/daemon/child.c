/* SPDX-License-Identifier: Apache-2.0 */
/* One service: started on its sockets, heard when it is ready, started again when it dies. */
#include "daemon/parent.h"

#include "base/clock.h"
#include "sandbox/sandbox.h"

#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_AGAIN_MS 50u
#define CHECK_MS 10000u
#define AGAIN_MS 1500u   /* at most */
#define LASTED_MS 10000u /* who lived so long did not fail at its start */
enum { ENV_MAX = 4096, MESSAGE_MAX = 2048 };

extern char **environ;

const char *const kind_names[KIND_COUNT_] = { "egress", "runner", "guard" };
static const char *const programs[KIND_COUNT_] = { "creel-egress", "creel-runner", "creel-guard" };
static const char *const rooms[KIND_COUNT_] = { "server/egress", "server/runner", "server/guard" };

unsigned children_count(const struct parent *p)
{
	unsigned n = 0;

	for (size_t i = 0; i < CHILDREN_MAX; i++)
		n += p->children[i].state != CHILD_NONE;
	return n;
}

struct child *child_next(struct parent *p, enum kind kind)
{
	for (size_t i = 0; i < CHILDREN_MAX; i++) {
		struct child *c = &p->children[i];

		if (c->state != CHILD_NONE && c->is_next && c->kind == kind)
			return c;
	}
	return NULL;
}

/* ---- ends ---- */

static void on_too_long(struct loop *l, void *ctx)
{
	struct child *c = ctx;

	(void)l;
	LOG(LOG_WARN, "service did not end in time: killed", KV_Z("name", kind_names[c->kind]),
	    KV_I64("pid", c->proc.pid));
	(void)proc_kill(&c->proc, SIGKILL);
}

void child_end(struct child *c, uint64_t ms)
{
	struct parent *p = c->p;

	if (c->state == CHILD_NONE)
		return;
	(void)proc_kill(&c->proc, SIGTERM);
	(void)loop_del(p->loop, c->timer);
	if (loop_add_timer(p->loop, clock_mono_ms() + ms, on_too_long, c, &c->timer) < 0)
		(void)proc_kill(&c->proc, SIGKILL);
	c->state = CHILD_ENDING;
	c->is_next = false;
	if (p->kinds[c->kind].now == c)
		p->kinds[c->kind].now = NULL;
}

/* The guard takes nothing new while the others finish what it has begun; so from the outside to the inside. */
static void end_next_kind(struct parent *p)
{
	for (int k = KIND_COUNT_ - 1; k >= 0; k--) {
		bool any = false;

		for (size_t i = 0; i < CHILDREN_MAX; i++) {
			struct child *c = &p->children[i];

			if (c->state == CHILD_NONE || c->kind != (enum kind)k)
				continue;
			any = true;
			if (c->state != CHILD_ENDING)
				child_end(c, drain_ms(p->s));
		}
		if (any)
			return;
	}
	loop_stop(p->loop, p->result);
}

void parent_stop(struct parent *p, int result)
{
	if (result)
		p->result = result;
	p->ending = true;
	for (int k = 0; k < KIND_COUNT_; k++)
		(void)loop_del(p->loop, p->kinds[k].again);
	end_next_kind(p);
}

static void start_again(struct loop *l, void *ctx);

static void plan_again(struct parent *p, enum kind kind)
{
	struct kind_state *k = &p->kinds[kind];
	uint64_t ms = FIRST_AGAIN_MS << (k->failures < 6 ? k->failures : 6);

	if (ms > AGAIN_MS)
		ms = AGAIN_MS;
	k->failures++;
	if (loop_add_timer(p->loop, clock_mono_ms() + ms, start_again, k, &k->again) < 0) {
		LOG(LOG_ERROR, "no room to start a service again");
		parent_stop(p, 1);
	}
}

static struct parent *parent_of_kind(struct kind_state *k, enum kind *ret);

static void start_again(struct loop *l, void *ctx)
{
	struct err e = { 0 };
	enum kind kind;
	struct parent *p = parent_of_kind(ctx, &kind);

	(void)l;
	if (p->ending)
		return;
	if (child_start(p, kind, false, &e) < 0) {
		LOG(LOG_ERROR, "cannot start a service", KV_Z("name", kind_names[kind]), KV_Z("why", e.msg));
		plan_again(p, kind);
	}
}

static struct parent *the_parent; /* one per process: timers of a kind have to find it */

static struct parent *parent_of_kind(struct kind_state *k, enum kind *ret)
{
	*ret = (enum kind)(k - the_parent->kinds);
	return the_parent;
}

static void on_death(struct loop *l, void *ctx, struct proc_status status)
{
	struct child *c = ctx;
	struct parent *p = c->p;
	struct kind_state *k = &p->kinds[c->kind];
	enum child_state was = c->state;
	enum kind kind = c->kind;
	bool is_next = c->is_next, is_now = k->now == c;

	c->proc.pid = 0;
	c->proc.pidfd = fd_close(c->proc.pidfd);
	(void)loop_del(l, c->timer);
	LOG(was == CHILD_ENDING ? LOG_INFO : LOG_ERROR, "service has ended", KV_Z("name", kind_names[kind]),
	    KV_Z("by", status.end == PROC_SIGNALED ? "signal" : "exit"), KV_I64("code", status.code));
	if (was == CHILD_READY && clock_mono_ms() - c->started_ms >= LASTED_MS)
		k->failures = 0;
	*c = (struct child){ .proc = PROC_NONE };
	if (is_now)
		k->now = NULL;
	if (p->ending) {
		end_next_kind(p);
	} else if (is_next) {
		change_failed(p, "a new service has ended before it was ready");
	} else if (was == CHILD_STARTING && !p->started) {
		LOG(LOG_ERROR, "a service cannot start; the lines above say why",
		    KV_Z("name", kind_names[kind]));
		parent_stop(p, 1);
	} else if (is_now) {
		plan_again(p, kind);
	}
}

/* ---- starts ---- */

static struct child *free_child(struct parent *p)
{
	for (size_t i = 0; i < CHILDREN_MAX; i++)
		if (p->children[i].state == CHILD_NONE)
			return &p->children[i];
	return NULL;
}

struct start {
	char *argv[2 * SERVICE_ARGS_MAX + 64], *envp[ENV_MAX + 8];
	int fds[3 + SOCKETS_MAX];
	char pid[sizeof("LISTEN_PID=") + PROC_PID_TEXT], count[32], names[128], notify[SERVICE_PATH_MAX + 16];
};

/* Our own words, without the one that says which service is meant. */
static int fill_argv(struct start *st, const struct parent *p, enum kind kind, struct err *e)
{
	size_t n = 0;

	st->argv[n++] = (char *)(uintptr_t)programs[kind];
	for (int i = 1; i < p->argc; i++) {
		if (p->argv[i] == p->s->args.words[0].p)
			continue;
		if (n + 1 >= sizeof(st->argv) / sizeof(st->argv[0]))
			return err_set(e, ERR_LIMIT, "too many arguments");
		st->argv[n++] = p->argv[i];
	}
	st->argv[n] = NULL;
	return 0;
}

static int fill_env(struct start *st, const struct parent *p, enum kind kind, struct err *e)
{
	const struct kind_state *k = &p->kinds[kind];
	size_t n = 0, used = 0;

	for (char **v = environ; *v; v++) {
		if (n == ENV_MAX)
			return err_set(e, ERR_LIMIT, "the environment has more than %d variables", ENV_MAX);
		/* Egress sees what tools send, and has no use for a token. */
		if (kind != KIND_EGRESS || !service_is_token(p->s, *v))
			st->envp[n++] = *v;
	}
	(void)snprintf(st->pid, sizeof(st->pid), "LISTEN_PID=");
	(void)snprintf(st->count, sizeof(st->count), "LISTEN_FDS=%zu", k->n_fds);
	used = (size_t)snprintf(st->names, sizeof(st->names), "LISTEN_FDNAMES=");
	for (size_t i = 0; i < k->n_fds; i++)
		used += (size_t)snprintf(st->names + used, sizeof(st->names) - used, "%s%s", i ? ":" : "",
					 kind_names[kind]);
	(void)snprintf(st->notify, sizeof(st->notify), "NOTIFY_SOCKET=%s", p->notify_path);
	st->envp[n++] = st->pid;
	st->envp[n++] = st->count;
	st->envp[n++] = st->names;
	st->envp[n++] = st->notify;
	st->envp[n] = NULL;
	return 0;
}

static void fill_fds(struct start *st, const struct kind_state *k)
{
	st->fds[0] = FD_NONE;
	st->fds[1] = STDOUT_FILENO;
	st->fds[2] = STDERR_FILENO;
	for (size_t i = 0; i < k->n_fds; i++)
		st->fds[SERVICE_LISTEN_FIRST + i] = k->fds[i];
}

static int spawn_only(struct parent *p, struct child *c, struct err *e)
{
	static struct start st; /* large, and used by one start at a time */
	_cleanup_close_ int program = FD_NONE;
	/* A session of its own: ^C on a terminal is for us alone, or a service would be told twice and end at once. */
	struct proc_spec spec = {
		.argv = st.argv, .envp = st.envp, .fds = st.fds, .new_session = true, .die_with_parent = true
	};
	int r;

	if (fill_argv(&st, p, c->kind, e) < 0 || fill_env(&st, p, c->kind, e) < 0 ||
	    sandbox_find_program(rooms[c->kind], programs[c->kind], &program, e) < 0)
		return -1;
	fill_fds(&st, &p->kinds[c->kind]);
	spec.exec_fd = program;
	spec.n_fds = SERVICE_LISTEN_FIRST + p->kinds[c->kind].n_fds;
	spec.pid_text = st.pid + sizeof("LISTEN_PID=") - 1;
	r = proc_spawn(&spec, &c->proc);
	return r < 0 ? err_sys(e, -r, "start %s", programs[c->kind]) : 0;
}

static int spawn(struct parent *p, struct child *c, struct err *e)
{
	int r = spawn_only(p, c, e);

	if (r < 0)
		return r;
	r = loop_add_child(p->loop, c->proc.pidfd, on_death, c, &c->watch);
	if (r < 0) {
		proc_done(&c->proc);
		return err_sys(e, -r, "watch %s", programs[c->kind]);
	}
	return 0;
}

/* --check is among our words, and so among its own: it looks and ends. */
int child_check(struct parent *p, enum kind kind, struct err *e)
{
	struct proc_status status = { 0 };
	struct child c = { .p = p, .kind = kind, .proc = PROC_NONE };
	int r = spawn_only(p, &c, e);

	if (r < 0)
		return r;
	r = proc_wait(&c.proc, clock_deadline(CHECK_MS), &status);
	proc_done(&c.proc);
	if (r < 0)
		return err_sys(e, -r, "wait for %s", programs[kind]);
	return status.end == PROC_EXITED && status.code == 0
		       ? 0
		       : err_set(e, ERR_UNAVAIL, "%s could not serve with this; the lines above say why",
				 programs[kind]);
}

int child_start(struct parent *p, enum kind kind, bool is_next, struct err *e)
{
	struct child *c = free_child(p);

	the_parent = p;
	if (!c)
		return err_set(e, ERR_LIMIT, "%d services are still ending", CHILDREN_MAX);
	*c = (struct child){
		.p = p, .kind = kind, .is_next = is_next, .proc = PROC_NONE, .started_ms = clock_mono_ms()
	};
	if (spawn(p, c, e) < 0)
		return -1;
	c->state = CHILD_STARTING;
	if (!is_next)
		p->kinds[kind].now = c;
	LOG(LOG_DEBUG, "service started", KV_Z("name", kind_names[kind]), KV_I64("pid", c->proc.pid));
	return 0;
}

/* ---- what they say ---- */

void children_go_on(struct parent *p, bool is_next)
{
	struct err e = { 0 };

	for (int i = 0; i < KIND_COUNT_; i++) {
		enum kind kind = (enum kind)i;
		struct child *c = is_next ? child_next(p, kind) : p->kinds[i].now;

		/* Egress has no configuration: a reload leaves it and its tunnels alone. */
		if (!p->kinds[i].wanted || (is_next && kind == KIND_EGRESS && !p->kinds[i].renewed))
			continue;
		if (c && c->state == CHILD_READY)
			continue;
		if (!c && child_start(p, kind, is_next, &e) < 0) {
			if (is_next) {
				change_failed(p, e.msg);
				return;
			}
			LOG(LOG_ERROR, "cannot start a service", KV_Z("name", kind_names[i]),
			    KV_Z("why", e.msg));
			parent_stop(p, 1);
		}
		return;
	}
	if (is_next) {
		change_done(p);
	} else if (!p->started) {
		p->started = true;
		service_ready(p->s, "serving");
		LOG(LOG_INFO, "serving");
	}
}

static struct child *child_of(struct parent *p, pid_t pid)
{
	for (size_t i = 0; i < CHILDREN_MAX; i++)
		if (p->children[i].state != CHILD_NONE && p->children[i].proc.pid == pid)
			return &p->children[i];
	return NULL;
}

static bool has_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (strncmp(at, line, n) == 0 && (at[n] == '\n' || at[n] == '\0'))
			return true;
	return false;
}

/* Only what our own children say counts, as the kernel tells who they are. */
static void on_message(struct loop *l, void *ctx, uint32_t events)
{
	struct parent *p = ctx;
	char text[MESSAGE_MAX], control[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec v = { .iov_base = text, .iov_len = sizeof(text) - 1 };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	ssize_t n = recvmsg(p->notify_fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	struct ucred who;
	struct child *child;

	(void)l;
	(void)events;
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
		return;
	text[n] = '\0';
	memcpy(&who, CMSG_DATA(c), sizeof(who));
	child = child_of(p, who.pid);
	if (!child || child->state != CHILD_STARTING || !has_line(text, "READY=1"))
		return;
	child->state = CHILD_READY;
	LOG(LOG_INFO, "service is ready", KV_Z("name", kind_names[child->kind]),
	    KV_I64("pid", child->proc.pid));
	if (!p->ending)
		children_go_on(p, child->is_next);
}

int notify_listen(struct parent *p, struct err *e)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	char name[64];
	int one = 1, r;

	(void)snprintf(name, sizeof(name), "notify-%d.sock", (int)getpid());
	r = service_socket_path(p->s, name, p->notify_path, e);
	if (r < 0)
		return r;
	memcpy(sa.sun_path, p->notify_path, strlen(p->notify_path));
	p->notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	(void)unlink(p->notify_path); /* of a process that had our number before */
	if (p->notify_fd < 0 || setsockopt(p->notify_fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) < 0 ||
	    bind(p->notify_fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0)
		return err_sys(e, errno, "listen on '%s'", p->notify_path);
	r = loop_add_fd(p->loop, p->notify_fd, EPOLLIN, on_message, p, &p->notify_source);
	return r < 0 ? err_sys(e, -r, "wait for the services") : 0;
}

void notify_mend(struct parent *p)
{
	struct err e = { 0 };

	if (access(p->notify_path, F_OK) == 0 || errno != ENOENT)
		return;
	(void)loop_del(p->loop, p->notify_source);
	fd_closep(&p->notify_fd);
	if (notify_listen(p, &e) >= 0) {
		p->notify_lost = false;
		return;
	}
	if (!p->notify_lost)
		LOG(LOG_ERROR, "services cannot say any more that they are ready; fix: restart creeld",
		    KV_Z("why", e.msg));
	p->notify_lost = true;
}
