/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_tty.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/parse.h"
#include "base/port.h"
#include "base/root.h"
#include "sandbox/advice.h"
#include "sandbox/plan.h"
#include "sandbox/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define PLAN_MAX ((size_t)4 << 20)
#define PLAN_USUAL ((size_t)64 << 10)

/* ---- before ---- */

/* ${NAME} in a template that policy let through; what is not set was left out by policy already. */
static struct str expand(struct run *r, struct str template)
{
	_cleanup_buf_ struct buf out = { 0 };
	struct str copy;

	buf_init(&out, (size_t)1 << 20);
	while (template.n) {
		struct str name, rest, value = { 0 };

		if (str_starts(template, STR("${")) && str_cut(str_from(template, 2), '}', &name, &rest) &&
		    cli_variable(r->cli, name, &value)) {
			buf_put(&out, value);
			template = rest;
			continue;
		}
		buf_putc(&out, template.p[0]);
		template = str_from(template, 1);
	}
	copy = arena_str(r->cli->arena, buf_str(&out));
	explicit_bzero(out.p, out.n);
	return copy;
}

/* What terminal it is belongs to it like its size. */
static bool gives_term(const struct run *r, const struct str *v, size_t n, struct str *ret)
{
	for (size_t i = 0; i < n; i++)
		if (str_starts(v[i], STR("TERM=")))
			return false;
	return r->terminals && cli_variable(r->cli, STR("TERM"), ret) && ret->n > 0 && ret->n <= 64;
}

/* The last of one name counts, in the place of the one before: of two, one program takes the first, and another the last. */
static size_t put_env(struct str *v, size_t n, struct str name, struct str item)
{
	for (size_t i = 0; i < n; i++)
		if (str_starts(v[i], name) && v[i].n > name.n && v[i].p[name.n] == '=') {
			v[i] = item;
			return n;
		}
	v[n] = item;
	return n + 1;
}

static int make_env(struct run *r, struct strs *ret, struct err *e)
{
	const struct decision *d = r->decision;
	struct arena *a = r->cli->arena;
	size_t n = 0, max = d->n_env + r->cli->env.n + 2;
	struct str *v = ARENA_ARRAY(a, struct str, max), term;

	if (!v)
		return err_set(e, ERR_LIMIT, "out of memory");
	for (size_t i = 0; i < d->n_env; i++) {
		const struct env_item *item = &d->env[i];
		struct str value = item->secret ? expand(r, item->template) : item->value;

		if (item->state == ENV_SET)
			v[n++] = arena_printf(a, "%.*s=%.*s", (int)item->name.n, item->name.p, (int)value.n,
					      value.p);
	}
	for (size_t i = 0; i < r->cli->env.n; i++) {
		struct str name = r->cli->env.v[i], value = { 0 };
		bool given = str_cut(name, '=', &name, &value);

		if (!env_name_valid(name))
			return err_set(e, ERR_USAGE,
				       "--env: '" STR_FMT "' is not a name of letters, digits and '_'",
				       STR_ARG(name));
		if (given || cli_variable(r->cli, name, &value))
			n = put_env(v, n, name,
				    arena_printf(a, "%.*s=%.*s", (int)name.n, name.p, (int)value.n, value.p));
	}
	output_unset(r->cli, "run");
	if (gives_term(r, v, n, &term)) {
		v[n] = arena_printf(a, "TERM=%.*s", (int)term.n, term.p);
		n++;
	}
	*ret = (struct strs){ .v = v, .n = n };
	return a->failed ? err_set(e, ERR_LIMIT, "the environment is too large") : 0;
}

static void choose_tty(struct run *r, struct profile_tty *t)
{
	r->terminals = r->no_stdio ? 0 : terminal_streams();
	t->streams = r->cli->tty ? 7 : r->terminals;
	if (!t->streams)
		return;
	t->foreground = terminal_at_once(r->terminals, r->cli->tty);
	terminal_describe(r->terminals, r->cli->arena, t);
}

/* What was found out about the host; the rest has been told. */
static void tell_since(const struct run *r, size_t first)
{
	struct diags late = r->diags;

	late.v += first;
	late.n -= first;
	late.n_dropped = 0;
	if (late.n && !r->cli->quiet)
		output_diags(&late, SEVERITY_WARN, &r->config);
}

/* The command is looked for where it would look itself. */
static void take_path(struct profile *p)
{
	for (size_t i = 0; p->path.n && i < p->env.n; i++)
		if (str_starts(p->env.v[i], STR("PATH=")) && p->env.v[i].n > 5)
			p->path = str_from(p->env.v[i], 5);
}

static int make_profile(struct run *r, struct err *e)
{
	size_t told = r->diags.n;
	struct source_rules rules = { .arena = r->cli->arena, .facts = &r->facts };
	struct profile_input in = { .decision = r->decision,
				    .argv = r->decision->tool.argv,
				    .uid = getuid(),
				    .root = root_of_host(),
				    .gid = getgid(),
				    .allowed = source_allowed,
				    .ctx = &rules };
	const struct state_dir state = run_state(r);
	struct git_user git;
	int rc = image_find(&state, r->cli->arena, r->cli->image.text, &in.image, e);

	git = git_user_find(r->cli->arena, r->facts.home, r->cli->environ);
	in.gitconfig = git_user_text(r->cli->arena, &git);
	choose_tty(r, &in.tty);
	if (rc >= 0)
		rc = make_env(r, &in.env, e);

	if (rc >= 0 && wants_layers(r->decision))
		rc = run_name_private_dir(r, e);
	in.private_dir = str_z(r->private_dir);
	if (rc >= 0)
		rc = profile_make(&in, r->cli->arena, &r->diags, &r->profile, e);
	take_path(&r->profile);
	tell_since(r, told);
	for (size_t i = 0; rc >= 0 && i < r->profile.n_mounts; i++)
		if (r->profile.mounts[i].overlay) {
			r->upper = r->profile.mounts[i].upper;
			r->lower = r->profile.mounts[i].source.path;
		}
	return rc;
}

int run_plan(struct run *r, struct err *e)
{
	_cleanup_buf_ struct buf plan = { 0 };
	int rc = make_profile(r, e);

	buf_init(&plan, PLAN_MAX);
	if (rc >= 0)
		rc = plan_build(&r->profile, &plan, e);
	if (rc >= 0)
		plan_print(buf_str(&plan), r->cli->out);
	return rc < 0 ? rc : 0;
}

/* ---- during ---- */

/* As after nohup(1), or behind "&" of a shell without jobs. Blocked, it reaches us all the same. */
static bool is_ignored(int sig)
{
	struct sigaction now;

	return sigaction(sig, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static void forward_signals(struct run *r, struct tty *tty, int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (is_ignored((int)info.ssi_signo))
			continue;
		if (info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT)
			r->interrupted = (int)info.ssi_signo;
		(void)sandbox_signal(&r->box, (int)info.ssi_signo);
		r->signalled = true;
		/*
		 * The shell that started us waits for us to stop, not for the command, which is in a session of its own. With a
		 * terminal the warden tells when that has stopped.
		 */
		if (tty)
			tty_signal(tty, (int)info.ssi_signo);
		else if (info.ssi_signo == SIGTSTP)
			(void)raise(SIGSTOP);
	}
}

/* Where building takes longer than the deadline allows, what ended it was told already. */
static void take_ready(struct run *r, const struct warden_report *m)
{
	struct warden_report before = r->last;

	r->started = r->walled = true;
	r->last = *m;
	if (before.msg == MSG_EXIT) {
		r->last.msg = before.msg;
		r->last.reason = before.reason;
		r->last.value = before.value;
	}
}

/* What ended it comes first, and then that it has ended. The walls were told before. */
static void take_exit(struct run *r, const struct warden_report *m)
{
	struct warden_report before = r->last;

	r->last = *m;
	r->last.probes = before.probes;
	r->last.landlock_abi = before.landlock_abi;
	if (before.msg == MSG_EXIT) {
		r->last.reason = before.reason;
		r->last.value = before.value;
	}
}

static int take_failure(struct run *r, const struct warden_report *m, struct err *e)
{
	if (r->last.msg == MSG_FAILED)
		return -1; /* what failed first made the rest fail */
	r->last = *m;
	r->walled = strcmp(m->what, "exec") == 0;
	return advice_failed(m, e);
}

static int take_report(struct run *r, const struct warden_report *m, struct err *e)
{
	switch (m->msg) {
	case MSG_READY:
		take_ready(r, m);
		return 0;
	case MSG_FAILED:
		return take_failure(r, m, e);
	case MSG_EXIT:
		take_exit(r, m);
		return 0;
	default:
		return 0;
	}
}

/*
 * The command's streams are its own: while we held them too, nobody would see that it has closed them. Standard error stays,
 * for our own words, and so does the number that --report names.
 */
static void let_go_of_streams(const struct run *r)
{
	_cleanup_close_ int null = FD_NONE;
	uint64_t report = UINT64_MAX;

	if (r->no_stdio)
		return;
	if (r->relay)
		relay_begin(r->relay);
	if (r->cli->report.has && str_to_u64(r->cli->report.text, 1 << 20, &report) != 0)
		report = UINT64_MAX;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO && null > STDERR_FILENO; fd++)
		if (report != (uint64_t)fd && !(r->profile.tty.streams & 1u << fd) &&
		    !(r->relay && fd == STDOUT_FILENO))
			(void)dup2(null, fd);
}

/*
 * Pid 1 says so when everything else has ended, and nothing follows; with an error, something cannot die and may still write.
 * While the kernel takes the walls down we look at what was changed; only the streams that go through us may still hold
 * something.
 */
static bool is_last(const struct run *r, const struct tty *tty, const struct warden_report *m)
{
	return m->msg == MSG_EXIT && m->err == 0 &&
	       (m->reason == REASON_EXIT || m->reason == REASON_SIGNAL) && r->started && !tty && !r->relay;
}

/* 1 = there may be more, 0 = the warden has gone, or has nothing more to say. */
static int hear(struct run *r, struct tty *tty, int *rc, struct err *e)
{
	struct warden_report m;
	int fd = FD_NONE, n = sandbox_next(&r->box, &m, &fd, e);

	if (n <= 0)
		return n;
	if (fd >= 0 && tty)
		tty_attach(tty, fd);
	else
		(void)fd_close(fd);
	if (m.msg == MSG_STOPPED && tty)
		tty_stopped(tty, m.value);
	if (take_report(r, &m, e) < 0)
		*rc = -1;
	r->ended = is_last(r, tty, &m);
	return !r->ended;
}

/* What the command says on its terminal goes first: it was said before the end. */
static int serve_once(struct run *r, struct tty *tty, int signals, int *rc, struct err *e)
{
	struct pollfd p[2 + RELAY_POLL + TTY_POLL] = { { .fd = r->box.control, .events = POLLIN },
						       { .fd = signals, .events = POLLIN },
						       { .fd = -1 },
						       { .fd = -1 } };
	int wait_ms = tty ? tty_wants(tty, p + 2 + RELAY_POLL) : -1;
	bool over = relay_over(r->relay);

	if (r->relay)
		relay_wants(r->relay, p + 2);
	if (poll(p, tty ? 2 + RELAY_POLL + TTY_POLL : r->relay ? 2 + RELAY_POLL : 2, wait_ms) < 0)
		return errno == EINTR ? 1 : err_sys(e, errno, "poll");
	if (tty)
		tty_serve(tty, p + 2 + RELAY_POLL);
	if (r->relay)
		relay_serve(r->relay, p + 2);
	if (relay_over(r->relay) && !over)
		(void)sandbox_end(&r->box);
	if (p[1].revents)
		forward_signals(r, tty, signals);
	return p[0].revents ? hear(r, tty, rc, e) : 1;
}

static int serve(struct run *r, int signals, struct err *e)
{
	_cleanup_(tty_closep) struct tty *tty = NULL;
	int rc = 0, n;

	if (r->profile.tty.streams) {
		rc = tty_open(r, &tty, e);
		if (rc < 0)
			return rc;
	}
	do
		n = serve_once(r, tty, signals, &rc, e);
	while (n > 0);
	if (tty)
		tty_drain(tty, signals);
	return rc < 0 ? rc : n;
}

/* ---- the whole ---- */

static int open_relay(struct run *r, struct sandbox_stdio *io, struct err *e)
{
	int rc;

	if (r->cli->tty)
		return err_set(e, ERR_USAGE,
			       "--tty has no limit on its output: leave out --output-limit (limits.output)");
	if (r->no_stdio)
		return 0;
	rc = relay_open(&r->relay, r->decision->limits.output, r->profile.tty.streams, e);
	if (rc >= 0)
		relay_give(r->relay, io);
	return rc;
}

static void init_plan(struct run *r, struct buf *plan)
{
	void *room = arena_alloc(r->cli->arena, PLAN_USUAL, 1);

	if (room)
		buf_init_on(plan, PLAN_MAX, room, PLAN_USUAL);
	else
		buf_init(plan, PLAN_MAX);
}

static int spawn(struct run *r, const struct sandbox_stdio *io, struct err *e)
{
	_cleanup_close_ int warden = FD_NONE;
	int rc = sandbox_open_warden(&warden, e);

	return rc < 0 ? rc : sandbox_spawn(warden, io, SPAWN_WAITS, &r->box, e);
}

/* The warden is there already, and is told of each before it is made: it removes them if we are killed. */
static int make_groups(struct run *r, struct err *e)
{
	const struct cgroup_heir heir = { .tell = sandbox_tell_group,
					  .ctx = &r->box,
					  .pid = r->box.warden.pid };
	int rc = limits_hold_for(&heir, r->decision, &r->limits, r->cli->cgroup_parent.text, &r->cgroup, e);

	return rc < 0 ? rc : sandbox_tell_birth(&r->box, &r->cgroup, e);
}

static int start(struct run *r, struct err *e)
{
	_cleanup_buf_ struct buf plan = { 0 };
	/* A stream that is a terminal inside is not given at all: ours never goes in. */
	const unsigned own = r->no_stdio ? 7 : r->profile.tty.streams;
	struct sandbox_stdio io = { own & 1 ? -1 : 0, own & 2 ? -1 : 1, own & 4 ? -1 : 2 };
	int rc = r->decision->limits.output ? open_relay(r, &io, e) : 0;

	/* Begun with our own streams, and perhaps without a group although the configuration names limits. */
	if (r->begun && ((r->limits.must && !r->waits) || r->relay || own))
		run_abandon(r);
	if (rc >= 0 && !r->begun) {
		rc = spawn(r, &io, e);
		if (rc >= 0)
			rc = make_groups(r, e);
	}
	if (rc < 0)
		return rc;
	init_plan(r, &plan);
	/* Both count alike where warden and payload are one user; the rlimit would answer first, and nobody would hear of it. */
	if (r->cgroup.have & CGROUP_PIDS)
		r->profile.pids++;
	rc = plan_build(&r->profile, &plan, e);
	return rc < 0 ? rc : sandbox_go(&r->box, buf_str(&plan), &r->cgroup, e);
}

int run_native(struct run *r, struct err *e)
{
	uint64_t begin = clock_mono_ns();
	int rc = run_open_signals(r, e);

	r->cgroup = CGROUP_EMPTY;
	r->tried = true;
	if (r->cli->verbose)
		run_tell_decided(r);
	if (rc >= 0 && r->begun && r->waits)
		rc = make_groups(r, e);
	if (rc >= 0)
		rc = make_profile(r, e);
	if (rc >= 0)
		rc = start(r, e);
	if (rc >= 0) {
		let_go_of_streams(r);
		run_ready_private_dir(r);
		rc = serve(r, r->signals, e);
		if (r->relay)
			relay_drain(r->relay, r->signals, r->signalled || r->last.reason >= REASON_TIMEOUT);
	}
	r->wall_us = (clock_mono_ns() - begin) / 1000;
	r->ended_ms = clock_unix_ms();
	r->held = r->cgroup.have;
	r->held_by = r->cgroup.version;
	cgroup_stat(&r->cgroup, &r->stat);
	if (rc < 0)
		sandbox_done(&r->box); /* it may still run */
	rc = run_end(r, e);
	/* Last: as long as the channel is open, the warden would remove all this if we were killed. */
	run_leave(r);
	sandbox_done(&r->box);
	cgroup_done(&r->cgroup);
	r->relay = relay_close(r->relay);
	return rc;
}
