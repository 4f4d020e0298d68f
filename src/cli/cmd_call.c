/* SPDX-License-Identifier: Apache-2.0 */
/* creel call: one tool in the sandbox of a session. */
#include "cli/session.h"

#include "base/fd.h"
#include "data/json.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct call {
	struct cli *cli;
	struct value tool;
	struct str arguments;
	struct output output;
	bool text;       /* for people, not JSON */
	unsigned warned; /* of what, before it ran */
	int signals;
	sigset_t before;
};

/* ---- who asks, and for what ---- */

static int fill_session(struct cli *cli, struct creel_session_options *o, struct err *e)
{
	const struct {
		const struct arg_value *v;
		const char *flag;
		const char **to;
	} map[] = {
		{ &cli->session, "--session", &o->session },
		{ &cli->agent, "--agent", &o->agent },
		{ &cli->session_id, "--session-id", &o->session_id },
		{ &cli->channel, "--channel", &o->channel },
		{ &cli->chat_id, "--chat-id", &o->chat_id },
		{ &cli->user_id, "--user-id", &o->user_id },
		{ &cli->sender, "--sender", &o->sender },
		{ &cli->provider, "--provider", &o->provider },
		{ &cli->model, "--model", &o->model },
		{ &cli->sandbox, "--sandbox", &o->trust },
		{ &cli->workspace, "--workspace", &o->workspace },
		{ &cli->ws_access, "--workspace-access", &o->workspace_access },
		{ &cli->net, "--net", &o->network },
		{ &cli->backend, "--backend", &o->backend },
		{ &cli->memory, "--memory", &o->memory },
		{ &cli->pids, "--pids", &o->pids },
		{ &cli->cpus, "--cpus", &o->cpus },
		{ &cli->disk, "--disk", &o->disk },
		{ &cli->output_limit, "--output-limit", &o->output_limit },
		{ &cli->scope, "--scope", &o->scope },
		{ &cli->image, "--image", &o->image },
		{ &cli->cgroup_parent, "--cgroup-parent", &o->cgroup_parent },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]) && r >= 0; i++)
		r = session_text(cli, map[i].v, map[i].flag, map[i].to, e);
	return r;
}

static int fill_env(struct cli *cli, struct creel_session_options *o, struct err *e)
{
	const char **env = ARENA_ARRAY(cli->arena, const char *, cli->env.n + 1);

	if (!env)
		return err_set(e, ERR_LIMIT, "out of memory");
	for (size_t i = 0; i < cli->env.n; i++)
		env[i] = cli->env.v[i].p;
	output_unset(cli, "call");
	o->env = env;
	o->n_env = cli->env.n;
	return 0;
}

static int open_session(struct cli *cli, struct creel_engine *c, struct creel_session **ret, struct err *e)
{
	struct creel_session_options o = CREEL_SESSION_INIT;
	struct creel_error ce = { 0 };
	int r = fill_session(cli, &o, e);

	if (r >= 0)
		r = fill_env(cli, &o, e);
	if (r < 0)
		return r;
	o.flags = CREEL_VIA_CLI | (cli->no_sandbox ? CREEL_NO_SANDBOX : 0u) |
		  (cli->allow_weaken ? CREEL_ALLOW_WEAKEN : 0u) | (cli->elevated ? CREEL_ELEVATED : 0u);
	/* As run does: who names neither session nor mode is given all walls. */
	if (!cli->session.has && !cli->sandbox.has && !cli->no_sandbox) {
		o.flags |= CREEL_FORCE_SANDBOX;
		o.trust = "light";
	}
	r = creel_open(c, &o, ret, &ce);
	return r < 0 ? session_error(&ce, e) : 0;
}

/* ---- signals: the call is ended whole, and then we end as we were told to ---- */

static void watch_signals(struct call *x)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction now;
	sigset_t set;

	(void)sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) /* nohup */
			(void)sigaddset(&set, signals[i]);
	if (sigprocmask(SIG_BLOCK, &set, &x->before) == 0)
		x->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Dies as whoever sent it wanted, after the call's tree has; returns when nobody did. */
static void die_alike(struct call *x)
{
	struct signalfd_siginfo info;

	if (x->signals < 0 || read(x->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	(void)signal((int)info.ssi_signo, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &x->before, NULL);
	(void)raise((int)info.ssi_signo);
}

/* ---- the result ---- */

static int put_result(struct call *x, const struct creel_result *result, struct err *e)
{
	struct cli *cli = x->cli;
	struct str json = { .p = result->json, .n = result->n_json };
	_cleanup_buf_ struct buf line = { 0 };
	struct value tree;
	bool streamed;
	int r;

	if (cli->report.has) {
		buf_init(&line, (size_t)1 << 30);
		buf_put(&line, json);
		buf_putc(&line, '\n');
		r = line.failed ? err_set(e, ERR_LIMIT, "--report: too large")
				: report_write(cli, buf_str(&line), e);
		if (r < 0)
			return r;
	}
	if (!x->text) {
		r = output_all(STDOUT_FILENO, json, e);
		return r < 0 ? r : output_all(STDOUT_FILENO, STR("\n"), e);
	}
	r = session_json(cli, result->json, &tree, e);
	if (r < 0)
		return r;
	streamed = x->output.any;
	call_show(cli, &tree, &x->output);
	output_close(&x->output);
	if (!cli->stream)
		call_closing_line(cli, &tree, streamed, x->warned, result->exit);
	return 0;
}

/* Whoever has not seen it coming can still stop it. */
static void warn_first(void *ctx, int severity, const char *text)
{
	struct call *x = ctx;
	_cleanup_buf_ struct buf line = { 0 };

	(void)severity;
	x->warned++;
	if (x->cli->quiet)
		return;
	buf_init(&line, OUTPUT_MAX);
	buf_puts(&line, "creel call: ");
	buf_put_visible(&line, str_z(text));
	buf_putc(&line, '\n');
	output_complain(buf_str(&line));
}

/* A person is asked: what about, and how to answer. */
static void tell_waiting(void *ctx, const struct creel_approval *a)
{
	struct call *x = ctx;
	_cleanup_buf_ struct buf text = { 0 };
	const char *kind = strcmp(a->kind, "elevated") == 0 ? "elevated, on the host" : "on the host";

	if (x->cli->quiet)
		return;
	buf_init(&text, OUTPUT_MAX);
	buf_printf(&text, "creel call: waits for a person to allow this %s, for %llu s: ", kind,
		   (unsigned long long)((a->expires_ms - a->created_ms) / 1000));
	buf_put_visible(&text, str_z(a->command));
	buf_puts(&text, "\ncreel call: answer with: creel");
	if (x->cli->state_dir.has) {
		buf_puts(&text, " --state-dir ");
		buf_put_visible(&text, x->cli->state_dir.text);
	}
	buf_printf(&text, " approvals allow %s (or deny)\n", a->id);
	output_complain(buf_str(&text));
}

static int pass_output(void *ctx, int stream, const char *data, size_t n)
{
	struct call *x = ctx;

	return output_stream(&x->output, stream, data, n);
}

static int make_call(struct call *x, struct creel_session *s, struct err *e)
{
	struct creel_call call = CREEL_CALL_INIT;
	struct creel_result result = CREEL_RESULT_INIT;
	struct creel_error ce = { 0 };
	int r = session_text(x->cli, &x->cli->request_id, "--request-id", &call.request_id, e);

	if (r < 0)
		return r;
	call.tool = x->cli->args.words.v[0].p; /* as it was said: an alias is recorded, too */
	call.arguments = x->arguments.p;
	call.n_arguments = x->arguments.n;
	call.timeout_s = x->cli->timeout.number;
	call.cancel_fd = x->signals;
	call.output = x->text ? pass_output : NULL;
	call.warn = warn_first;
	call.waiting = tell_waiting;
	call.ctx = x;
	r = creel_call(s, &call, &result, &ce);
	if (r < 0)
		return session_error(&ce, e);
	r = put_result(x, &result, e);
	if (r >= 0 && x->output.failed)
		r = err_sys(e, x->output.failed, "write the output of the tool");
	if (r >= 0)
		r = result.exit;
	creel_result_free(&result);
	return r;
}

/* ---- the command ---- */

static int list_all(struct cli *cli, struct creel_engine *c, struct err *e)
{
	struct value tools = { 0 };
	int r = toollist_load(cli, c, &tools, e);

	if (r >= 0)
		toollist_put(cli, &tools);
	return r;
}

static int check_usage(struct cli *cli, struct err *e)
{
	if (cli->list_tools && cli->args.words.n)
		return err_set(e, ERR_USAGE,
			       "--list is about all tools; 'creel call " STR_FMT " --help' tells about one",
			       STR_ARG(cli->args.words.v[0]));
	if (!cli->list_tools && cli->args.words.n == 0)
		return err_set(
			e, ERR_USAGE,
			"which tool? creel call TOOL [ARGUMENTS]; 'creel call --list' prints those that exist");
	if (!cli->list_tools && str_trim(cli->args.words.v[0]).n == 0)
		return err_set(e, ERR_USAGE, "TOOL must not be blank");
	if (timeout_check(cli, e) < 0)
		return -1;
	return report_check(cli, e);
}

static int in_session(struct call *x, struct creel_engine *c, struct err *e)
{
	_cleanup_(creel_closep) struct creel_session *s = NULL;
	int r = output_open(x->cli, &x->output, e);

	if (r >= 0)
		r = open_session(x->cli, c, &s, e);
	if (r < 0)
		return r;
	watch_signals(x);
	return make_call(x, s, e);
}

static int call_tool(struct call *x, struct err *e)
{
	_cleanup_(creel_engine_freep) struct creel_engine *c = NULL;
	struct cli *cli = x->cli;
	int r = session_engine(cli, CREEL_HURRY, &c, e);

	if (r >= 0 && cli->list_tools)
		return list_all(cli, c, e);
	if (r >= 0)
		r = toollist_choose(cli, c, cli->args.words.v[0], &x->tool, e);
	if (r < 0)
		return r;
	if (cli->schema)
		return toollist_put_schema(cli->out, &x->tool, e);
	if (cli->help) {
		toollist_put_help(cli->out, &x->tool);
		return 0;
	}
	r = call_arguments(cli, &x->tool, &x->arguments, e);
	return r < 0 ? r : in_session(x, c, e);
}

int run_call(struct cli *cli, struct err *e)
{
	struct call x = { .cli = cli, .signals = FD_NONE };
	int r = check_usage(cli, e);

	if (r < 0)
		return r;
	x.text = cli->text || cli->stream || (!cli->json && isatty(STDOUT_FILENO) == 1);
	r = call_tool(&x, e);
	if (r < 0)
		r = session_failed(r, e);
	/* After the session was let go of: nothing of the call is left by then. */
	if (x.signals >= 0 && cli->out->n)
		(void)output_all(STDOUT_FILENO, buf_str(cli->out), e);
	if (x.signals >= 0)
		cli->out->n = 0;
	die_alike(&x);
	return r;
}
