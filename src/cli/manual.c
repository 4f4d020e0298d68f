/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the manual pages that come from tables, as scdoc text. The build puts them into man/ *.scd.in.
 */
#include "cli/cli.h"

#include "model/decision.h"

#include <assert.h>

const struct enum_name manual_names[] = {
	{ "commands", MANUAL_COMMANDS },
	{ "options", MANUAL_OPTIONS },
	{ "codes", MANUAL_CODES },
	{ "keys", MANUAL_KEYS },
	{ NULL, 0 },
};

/* clang-format off */
static const char *const code_help[] = {
	[CODE_UNDECIDED]               = "the decision was not finished; treated as a refusal",
	[CODE_OK]                      = "allowed",
	[CODE_MISSING_AUTH]            = "the caller sent no token",
	[CODE_INVALID_AUTH]            = "the caller's token is not one of the configured ones",
	[CODE_INVALID_AGENT]           = "the agent's name is not of the accepted form",
	[CODE_MISSING_CHAT_ID]         = "a guard call without a chat id",
	[CODE_INVALID_CHAT_ID]         = "the chat id is not of the accepted form",
	[CODE_PAIR_NOT_ALLOWED]        = "the pair of agent and chat is not in the allow list",
	[CODE_INVALID_SESSION]         = "the session key is malformed, or names no agent where one is needed",
	[CODE_UNKNOWN_AGENT]           = "no such agent is configured",
	[CODE_AGENT_MISMATCH]          = "the agent that is named and the one in the session key differ",
	[CODE_AGENT_AMBIGUOUS]         = "several agents are configured and the call names none",
	[CODE_WEAKEN_REFUSED]          = "a flag asks for less isolation than the rules demand",
	[CODE_NO_SANDBOX_REFUSED]      = "running without a sandbox is not possible here",
	[CODE_TOOL_NOT_ALLOWED]        = "the tool is unknown or not one that this door offers",
	[CODE_TOOL_DENIED_BY_POLICY]   = "a list of tools (allow, deny, profile, sandbox) leaves it out",
	[CODE_CAPABILITY_DENIED]       = "the trust mode or a rule lacks a capability that the tool needs",
	[CODE_SHELL_DENIED]            = "shells and command strings are not allowed here",
	[CODE_BINARY_DENIED]           = "the program is not in the list of programs",
	[CODE_INVALID_CMD]             = "the command is empty or malformed",
	[CODE_EXEC_MODE_DENIED]        = "tools.exec.mode or tools.exec.host rules the call out",
	[CODE_SANDBOX_UNAVAILABLE]     = "a sandbox is demanded and no backend can make it; nothing falls back to the host",
	[CODE_UNKNOWN_BACKEND]         = "the configured backend has a name that creel does not know",
	[CODE_BACKEND_NOT_BUILT]       = "the configured backend is not part of this build",
	[CODE_ELEVATED_REFUSED]        = "elevated execution is off, or the sender is not listed",
	[CODE_UNSAFE_PUBLIC_BIND]      = "local execution while the gateway listens on a public address",
	[CODE_PROFILE_UNCONFINED]      = "an unconfined seccomp or AppArmor profile is asked for",
	[CODE_NETWORK_HOST_BLOCKED]    = "network host is never given; use bridge",
	[CODE_NETWORK_JOIN_BLOCKED]    = "joining another container's network is not allowed",
	[CODE_NETWORK_NAME_INVALID]    = "the network's name is malformed",
	[CODE_HOST_NOT_ALLOWED]        = "the destination is not in the list of hosts",
	[CODE_CURL_FLAG_NOT_ALLOWED]   = "a curl option that could go around the list of hosts",
	[CODE_CURL_NEEDS_SECONDS]      = "curl -m without a number of seconds",
	[CODE_INVALID_URL]             = "the URL is not http or https with a host name",
	[CODE_BIND_INVALID]            = "a bind is not absolute or not of the form host:target:mode",
	[CODE_BIND_BLOCKED]            = "a bind or the workspace would show a system or secret directory, or a container engine's socket",
	[CODE_BIND_RESERVED_TARGET]    = "a bind covers the workspace's own place",
	[CODE_BIND_OUTSIDE_ROOTS]      = "a bind's source lies outside the allowed roots",
	[CODE_BIND_FORBIDDEN_IN_TIER1] = "profile tier1 takes no binds",
	[CODE_WORKSPACE_ESCAPE]        = "a path leads out of the workspace",
	[CODE_ENV_INVALID]             = "a variable's name or value cannot be handed to a tool",
	[CODE_RAW_SECRET_PUBLIC]       = "a raw: secret while the gateway listens on a public address",
	[CODE_LIMIT_INVALID]           = "a limit that the call asks for is out of range",
};
/* clang-format on */
static_assert(sizeof(code_help) / sizeof(code_help[0]) == CODE_COUNT_, "every code is explained");

/* scdoc gives a meaning to these in running text. */
static void put_text(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] && strchr("*_\\<>", text.p[i]))
			buf_putc(out, '\\');
		buf_putc(out, text.p[i]);
	}
}

static void put_z(struct buf *out, const char *text)
{
	put_text(out, str_z(text));
}

static void put_option(struct buf *out, const struct arg_option *o)
{
	char words[256];

	buf_putc(out, '*');
	if (o->letter)
		buf_printf(out, "-%c*, *", o->letter);
	buf_printf(out, "--%s*", o->name);
	if (o->meta) {
		buf_puts(out, o->kind == ARG_OPTIONAL ? "[=" : " ");
		put_z(out, o->meta);
		buf_puts(out, o->kind == ARG_OPTIONAL ? "]" : "");
	}
	buf_puts(out, "\n\t");
	put_z(out, o->help);
	if (o->names && !o->hidden_names) {
		enum_list(o->names, words, sizeof(words));
		buf_puts(out, ": ");
		put_z(out, words);
	}
	buf_puts(out, ".\n\n");
}

static void put_options(struct buf *out, const struct arg_options *o)
{
	for (size_t i = 0; i < o->n; i++)
		put_option(out, &o->v[i]);
}

static void put_examples(struct buf *out, const char *examples)
{
	struct str rest = str_z(examples ? examples : ""), line, command, what;

	while (str_cut(rest, '\n', &line, &rest)) {
		if (!str_cut(line, '\t', &command, &what))
			continue;
		put_text(out, what);
		buf_puts(out, ":\n\n```\n$ ");
		buf_put(out, command);
		buf_puts(out, "\n```\n\n");
	}
}

static void put_path(struct buf *out, const struct command_walk *w, size_t from)
{
	for (size_t i = from; i < w->n; i++)
		buf_printf(out, "%s%s", i > from ? " " : "", w->path[i]->name);
}

static void put_command(struct buf *out, const struct command_walk *w)
{
	const struct command *c = command_at(w);

	buf_puts(out, "## ");
	put_path(out, w, 1);
	buf_puts(out, "\n\n*");
	put_path(out, w, 0);
	buf_puts(out, "* [options]");
	if (c->usage) {
		buf_putc(out, ' ');
		put_z(out, c->usage);
	}
	buf_puts(out, "\n\n");
	put_z(out, c->about);
	buf_puts(out, "\n\n");
	put_options(out, &c->options);
	put_examples(out, c->examples);
}

static void put_commands(struct buf *out)
{
	struct command_walk w = { .path = { &creel_command } };

	while (command_next(&w))
		if (!command_at(&w)->hidden && !command_at(&w)->n_subs)
			put_command(out, &w);
}

static void put_codes(struct buf *out)
{
	for (int c = CODE_OK + 1; c < CODE_COUNT_; c++) {
		buf_putc(out, '*');
		buf_puts(out, code_word((enum code)c));
		buf_printf(out, "* (%u)\n\t", code_http((enum code)c));
		put_z(out, code_help[c]);
		buf_puts(out, ".\n\n");
	}
}

int run_manual(struct cli *cli, struct err *e)
{
	int part = MANUAL_COMMANDS;

	(void)e;
	(void)enum_value(manual_names, cli->args.words.v[0], false, &part);
	switch ((enum manual_part)part) {
	case MANUAL_COMMANDS:
		put_commands(cli->out);
		break;
	case MANUAL_OPTIONS:
		put_options(cli->out, &creel_command.options);
		break;
	case MANUAL_CODES:
		put_codes(cli->out);
		break;
	case MANUAL_KEYS:
		config_man_table(cli->out);
		break;
	}
	return 0;
}
