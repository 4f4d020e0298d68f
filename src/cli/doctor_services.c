/* SPDX-License-Identifier: Apache-2.0 */
/* The services are looked at by a program of its own: it speaks HTTP and TLS, and this one does neither. */
#include "cli/doctor.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/proc.h"
#include "data/json.h"
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PROGRAM "creel-survey"
#define ANSWER_MAX ((size_t)1 << 20)
enum { WAIT_MS = 10000, ARGS_MAX = 256 };

struct words {
	char *v[ARGS_MAX + 1];
	size_t n;
};

static void add(struct cli *cli, struct words *w, const char *option, struct str value)
{
	struct str copy = arena_str(cli->arena, value);

	if (w->n + 2 > ARGS_MAX || !copy.p)
		return;
	w->v[w->n++] = (char *)(uintptr_t)option;
	w->v[w->n++] = (char *)(uintptr_t)copy.p;
}

/* What was said to us about the configuration. */
static void fill(struct cli *cli, struct words *w)
{
	w->v[w->n++] = (char *)(uintptr_t)PROGRAM;
	for (size_t i = 0; i < cli->config.n; i++)
		add(cli, w, "-c", cli->config.v[i]);
	for (size_t i = 0; i < cli->sets.n; i++)
		add(cli, w, "-e", cli->sets.v[i]);
	if (cli->profile.has)
		add(cli, w, "--profile", cli->profile.text);
	if (cli->compat.has)
		add(cli, w, "--compat", cli->compat.text);
	if (cli->state_dir.has)
		add(cli, w, "--state-dir", cli->state_dir.text);
	if (cli->no_default_config && w->n < ARGS_MAX)
		w->v[w->n++] = (char *)(uintptr_t) "--no-default-config";
	w->v[w->n] = NULL;
}

static int ask(struct cli *cli, int program, char **text, size_t *n, struct err *e)
{
	struct words *w = ARENA_NEW(cli->arena, struct words);
	struct proc_status status = { 0 };
	struct proc p = PROC_NONE;
	int out[2], fds[3] = { FD_NONE, FD_NONE, FD_NONE }, r;

	if (!w || pipe2(out, O_CLOEXEC) < 0)
		return err_sys(e, w ? errno : ENOMEM, "start " PROGRAM);
	fill(cli, w);
	fds[1] = out[1];
	r = proc_spawn(&(struct proc_spec){ .exec_fd = program,
					    .argv = w->v,
					    .envp = cli->environ,
					    .fds = fds,
					    .n_fds = 3,
					    .die_with_parent = true },
		       &p);
	(void)fd_close(out[1]);
	if (r >= 0)
		r = fd_read_all(out[0], ANSWER_MAX, text, n);
	(void)fd_close(out[0]);
	if (r >= 0)
		r = proc_wait(&p, clock_deadline(WAIT_MS), &status);
	proc_done(&p);
	if (r < 0)
		return err_sys(e, -r, PROGRAM);
	if (status.end != PROC_EXITED || status.code != 0)
		return err_set(e, ERR_UNAVAIL, PROGRAM " did not come to an end (%s %d)",
			       status.end == PROC_EXITED ? "status" : "signal", status.code);
	return 0;
}

static struct str text_of(struct cli *cli, const struct value *v, const char *key)
{
	const struct value *t = value_get(v, str_z(key));

	return t && t->kind == VALUE_STR ? arena_str(cli->arena, t->s) : (struct str){ 0 };
}

static void take(struct cli *cli, const struct value *v, struct survey *s)
{
	struct str state = text_of(cli, v, "state"), name = text_of(cli, v, "name");

	if (s->n == SURVEY_MAX || !name.n)
		return;
	s->v[s->n++] = (struct survey_item){ .name = name.p,
					     .state = str_eq(state, STR("ok"))     ? SURVEY_OK
						      : str_eq(state, STR("warn")) ? SURVEY_WARN
										   : SURVEY_FAIL,
					     .found = text_of(cli, v, "found"),
					     .cause = text_of(cli, v, "cause"),
					     .fix = text_of(cli, v, "fix") };
}

static void say_trouble(struct cli *cli, const struct err *e, struct survey *s)
{
	if (s->n < SURVEY_MAX)
		s->v[s->n++] = (struct survey_item){ .name = "services",
						     .state = SURVEY_WARN,
						     .found = STR("the services could not be looked at"),
						     .cause = arena_str(cli->arena, str_z(e->msg)),
						     .fix = STR("creeld all --check") };
}

/* A service that is configured and was not asked is told of: silence would mean that none is. */
static void say_not_asked(struct survey *s)
{
	if (s->n < SURVEY_MAX)
		s->v[s->n++] = (struct survey_item){
			.name = "opensandbox",
			.state = SURVEY_WARN,
			.found = STR("the OpenSandbox service was not asked"),
			.cause = STR(PROGRAM ", which asks it, is not installed"),
			.fix = STR("meson install -C build/release, which installs it beside creel")
		};
}

void doctor_services(struct cli *cli, bool opensandbox, struct survey *s)
{
	_cleanup_close_ int program = FD_NONE;
	_cleanup_free_ char *text = NULL;
	const struct value *list;
	struct value v = { 0 };
	struct err e = { 0 };
	size_t n = 0;

	if (sandbox_find_program("server/survey", PROGRAM, &program, &e) < 0) {
		if (opensandbox)
			say_not_asked(s);
		return;
	}
	if (ask(cli, program, &text, &n, &e) < 0 ||
	    json_parse(cli->arena, (struct str){ text, n }, &(struct json_opts){ .name = PROGRAM }, &v, &e) <
		    0) {
		say_trouble(cli, &e, s);
		return;
	}
	list = value_get(&v, STR("findings"));
	for (size_t i = 0; list && list->kind == VALUE_ARR && i < list->arr.n; i++)
		take(cli, &list->arr.v[i], s);
}
