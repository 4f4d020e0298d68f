/* SPDX-License-Identifier: Apache-2.0 */
/* creel run: one command behind the walls that policy asks for. */
#include "cli/run.h"

#include "base/fd.h"
#include "base/proc.h"

#include <errno.h>
#include <unistd.h>

/* The rule's own place; a built-in one has none, and what was typed now is before one's eyes. */
static void put_place(struct buf *text, const struct decision *d)
{
	for (size_t i = 0; i < d->n_reasons; i++) {
		const struct reason *why = &d->reasons[i];

		bool looked_up = why->origin.kind == ORIGIN_FILE || why->origin.kind == ORIGIN_ENV ||
				 why->origin.kind == ORIGIN_PROFILE;

		if (why->stage != d->stopped_at || !str_eq(str_z(why->what), STR("refused")) || !looked_up)
			continue;
		buf_puts(text, "\tfrom: ");
		origin_put(text, &why->origin);
		buf_putc(text, '\n');
		return;
	}
}

static int refused(struct run *r)
{
	_cleanup_buf_ struct buf text = { 0 };
	const struct decision *d = r->decision;

	r->reason = RUN_DENIED;
	r->status = EXIT_REFUSED;
	r->message = d->message;
	buf_init(&text, 16384);
	buf_printf(&text, "creel run: refused (%s): ", code_word(d->code));
	buf_put_visible(&text, d->message);
	buf_putc(&text, '\n');
	put_place(&text, d);
	for (size_t i = 0; i < d->fix_it.n; i++) {
		buf_puts(&text, "\tfix: ");
		buf_put_visible(&text, output_fix(d->fix_it.v[i]));
		buf_putc(&text, '\n');
	}
	output_complain(buf_str(&text));
	return 0;
}

/* Only when the decision says host: trust none, or --no-sandbox. The caller's own environment, as any program it starts. */
int run_on_host(struct run *r, struct err *e)
{
	struct strs argv = r->decision->tool.argv;
	char **v = ARENA_ARRAY(r->cli->arena, char *, argv.n + 1);

	if (!v)
		return err_set(e, ERR_LIMIT, "out of memory");
	for (size_t i = 0; i < argv.n; i++) {
		struct str copy = arena_str(r->cli->arena, argv.v[i]);

		memcpy(&v[i], &copy.p, sizeof(copy.p));
	}
	signals_give_back();
	(void)execvpe(v[0], v, r->cli->environ);
	r->status = errno == ENOENT ? 127 : 126;
	r->reason = errno == ENOENT ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE;
	return err_sys(e, errno, "'%s'", v[0]);
}

/* What only a sandbox can give: asked for and not had is refused. */
static int needs_no_sandbox(const struct cli *cli, struct err *e)
{
	const struct {
		bool given;
		const char *name;
	} flags[] = {
		{ cli->workspace.has, "workspace" },
		{ cli->ws_access.has, "workspace-access" },
		{ cli->env.n > 0, "env" },
		{ cli->net.has, "net" },
		{ cli->timeout.has, "timeout" },
		{ cli->memory.has, "memory" },
		{ cli->pids.has, "pids" },
		{ cli->cpus.has, "cpus" },
		{ cli->disk.has, "disk" },
		{ cli->output_limit.has, "output-limit" },
		{ cli->cgroup_parent.has, "cgroup-parent" },
		{ cli->backend.has, "backend" },
		{ cli->image.has, "image" },
		{ cli->tty, "tty" },
		{ cli->report.has, "report" },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].given)
			return err_set(
				e, ERR_UNAVAIL,
				"--%s needs a sandbox, and this call runs on the host: --sandbox light asks for one",
				flags[i].name);
	return 0;
}

static int dispatch_to_host(struct run *r, struct err *e)
{
	const struct cli *cli = r->cli;
	int rc = needs_no_sandbox(cli, e);

	if (rc < 0)
		return rc;
	if (cli->plan) {
		buf_puts(cli->out, "on the host, without any wall\n");
		return 0;
	}
	if (!cli->quiet && !cli->no_sandbox)
		output_complain(
			STR("creel run: on the host, without any wall: nothing asks for a sandbox here; "
			    "--sandbox light does\n"));
	return run_on_host(r, e);
}

/* OpenClaw's default: whoever has brought its file here finds none of the files that they stand among. */
static void tell_private_workspace(const struct run *r)
{
	const struct decision *d = r->decision;
	_cleanup_buf_ struct buf line = { 0 };

	if (r->cli->ws_access.has || d->eff.ws_access != ACCESS_NONE)
		return;
	buf_init(&line, 16384);
	buf_puts(&line, "creel run: the workspace is a private directory of the session, and not '");
	buf_put_visible(&line, d->eff.ws_path);
	buf_puts(&line, "' (mounts.workspace.access is none, ");
	origin_put(&line, &d->eff.origin[OPT_WS_ACCESS]);
	buf_puts(&line, "); --workspace-access overlay shows that, and leaves it as it is\n");
	output_complain(buf_str(&line));
}

/* Of the decision; a command that sets up a sandbox which stays is none of ours. */
static void tell_warnings(const struct run *r)
{
	const struct decision *d = r->decision;
	struct diags told = { .v = ARENA_ARRAY(r->cli->arena, struct diag, d->n_warnings) };

	for (size_t i = 0; told.v && i < d->n_warnings; i++)
		if (!str_starts(str_z(d->warnings[i].code), STR("setup_")))
			told.v[told.n++] = d->warnings[i];
	if (r->cli->quiet)
		return;
	tell_private_workspace(r);
	if (told.n)
		output_diags(&told, SEVERITY_WARN, &r->config);
	if (r->cli->timeout.has && d->limits.timeout_s < r->cli->timeout.number) {
		_cleanup_buf_ struct buf line = { 0 };

		buf_init(&line, 256);
		buf_printf(&line, "creel run: --timeout: limits.timeout_max_s allows %llu s, and no more\n",
			   (unsigned long long)d->limits.timeout_s);
		output_complain(buf_str(&line));
	}
}

static int dispatch(struct run *r, struct err *e)
{
	const struct decision *d = r->decision;

	if (d->verdict != VERDICT_ALLOW)
		return refused(r);
	if (d->place.place == PLACE_HOST) {
		run_abandon(r);
		run_restore_signals(r);
		return dispatch_to_host(r, e);
	}
	if (d->place.backend != BACKEND_NATIVE)
		return err_set(e, ERR_UNAVAIL,
			       "backend '%s' cannot run commands in this build: use --backend native",
			       enum_name(backend_names, (int)d->place.backend));
	if (network_given(d, r->cli->net.has ? r->cli->net.text : (struct str){ 0 }, e) < 0)
		return -1;
	if (d->net.route != ROUTE_NONE)
		return network_missing(d, e);
	tell_warnings(r);
	if (r->cli->plan)
		return run_plan(r, e);
	return run_native(r, e);
}

int run_run(struct cli *cli, struct err *e)
{
	struct run *r = ARENA_NEW(cli->arena, struct run);
	struct err report_err = { 0 };
	int rc;

	if (!r)
		return err_set(e, ERR_LIMIT, "out of memory");
	run_init(r, cli);
	if (cli->args.rest.n == 0)
		return err_set(e, ERR_USAGE, "no command: creel run [OPTIONS] [--] COMMAND [ARGUMENT…]");
	if (cli->json)
		return err_set(
			e, ERR_USAGE,
			"--json: standard output is the command's own; --report FD|FILE writes the result as JSON");
	if (cli->plan && cli->report.has)
		return err_set(e, ERR_USAGE,
			       "--plan runs nothing, so there is nothing to --report: leave out one of them");
	rc = report_check(cli, e);
	if (rc < 0)
		return rc;
	run_begin(r);
	rc = run_load(r, e);
	if (rc < 0) {
		run_abandon(r);
		if (r->diags.n_errors == 0)
			return rc;
		output_diags(&r->diags, SEVERITY_ERROR, NULL);
		return EXIT_TROUBLE;
	}
	if (!cli->quiet)
		output_diags(&r->diags, SEVERITY_WARN, &r->config);
	rc = dispatch(r, e);
	run_abandon(r); /* what was begun and came to nothing */
	if (e->kind != ERR_NONE)
		r->message = str_z(e->msg);
	if (rc < 0 && r->status == 0) { /* nothing was even tried */
		r->status = err_kind_exit(e->kind);
		r->reason = e->kind == ERR_DENIED ? RUN_DENIED : RUN_FAILED;
	}
	if (run_report(r, &report_err) < 0) {
		*e = report_err;
		return -1;
	}
	if (rc < 0)
		return rc;
	if (e->kind != ERR_NONE) { /* 126 and 127: said by us, about the command */
		_cleanup_buf_ struct buf line = { 0 };

		buf_init(&line, 4096);
		buf_puts(&line, "creel run: ");
		buf_put_visible(&line, str_z(e->msg));
		buf_putc(&line, '\n');
		output_complain(buf_str(&line));
	}
	run_die_alike(r);
	return r->status;
}
