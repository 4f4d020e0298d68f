/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every command and every option, once.
 */
#include "cli/cli.h"

#include "model/decision.h"

#include <stddef.h>

#define AT(field) .at = offsetof(struct cli, field)
#define TABLE(t)                                          \
	{                                                 \
		.v = (t), .n = sizeof(t) / sizeof((t)[0]) \
	}
#define COUNT(t) (sizeof(t) / sizeof((t)[0]))

/* Options with the same number exclude each other. */
enum { X_NONE = 0, X_LOUDNESS, X_SHAPE, X_COMMAND, X_FORM, X_CALL };

/* clang-format off */
const struct enum_name format_words[] = {
	{ "creel", FORMAT_CREEL },
	{ "athena", FORMAT_ATHENA },
	{ "openclaw", FORMAT_OPENCLAW },
	{ "allowlist", FORMAT_ALLOWLIST },
	{ "openclaw-net", FORMAT_OPENCLAW_NET },
	{ "ansible", FORMAT_ANSIBLE },
	/* the words that import: [{format: …}] uses */
	{ "athena-yaml", FORMAT_ATHENA },
	{ "openclaw-json5", FORMAT_OPENCLAW },
	{ "allowlist-json", FORMAT_ALLOWLIST },
	{ "ansible-vars", FORMAT_ANSIBLE },
	{ NULL, 0 },
};
static const struct enum_name run_access_names[] = {
	{ "none", ACCESS_NONE }, { "ro", ACCESS_RO }, { "rw", ACCESS_RW }, { "overlay", ACCESS_OVERLAY }, { NULL, 0 },
};
static const struct enum_name as_names[] = { { "creel", 0 }, { "openclaw", 1 }, { NULL, 0 } };

static const struct arg_option common_options[] = {
	{ .name = "config", .letter = 'c', .kind = ARG_LIST, AT(config), .meta = "[FORMAT:]FILE", .hint = HINT_CONFIG,
	  .help = "read this configuration; repeatable, later ones win. FORMAT is creel, athena, openclaw, allowlist, "
		  "openclaw-net or ansible; without it the content tells" },
	{ .name = "no-default-config", .kind = ARG_FLAG, AT(no_default_config),
	  .help = "do not look for $CREEL_CONFIG, ~/.config/creel/creel.json5, ~/.openclaw/creel.json5 and .athena/settings.yaml" },
	{ .name = "profile", .kind = ARG_TEXT, AT(profile), .meta = "NAME", .names = profile_names,
	  .help = "defaults of one source system" },
	{ .name = "set", .letter = 'e', .kind = ARG_LIST, AT(sets), .meta = "KEY=VALUE", .hint = HINT_KEY,
	  .help = "set one option by its dotted name or a sandbox_* variable; or several as '{json}'; repeatable" },
	{ .name = "compat", .kind = ARG_TEXT, AT(compat), .meta = "NAME", .names = compat_names,
	  .help = "follow the documents, or OpenClaw as it behaves in that version" },
	{ .name = "session", .kind = ARG_TEXT, AT(session), .meta = "KEY", .hint = HINT_SANDBOX,
	  .help = "session key, such as agent:main:main or untrusted:pr-482" },
	{ .name = "agent", .kind = ARG_TEXT, AT(agent), .meta = "ID", .help = "agent that asks" },
	{ .name = "sandbox", .kind = ARG_TEXT, AT(sandbox), .meta = "MODE", .names = trust_names,
	  .help = "trust mode for this call; it can make the rules' mode stricter, not weaker" },
	{ .name = "state-dir", .kind = ARG_TEXT, AT(state_dir), .meta = "DIR", .hint = HINT_DIR,
	  .help = "keep what belongs to runs (live/, runs/, images/) here, instead of $XDG_STATE_HOME/creel, ~/.local/state/creel "
		  "or, for root, /var/lib/creel; and read it as OpenClaw's state directory, instead of $OPENCLAW_STATE_DIR or ~/.openclaw" },
	{ .name = "json", .kind = ARG_FLAG, AT(json), .exclude = X_FORM,
	  .help = "print JSON for programs; run has --report instead" },
	{ .name = "quiet", .letter = 'q', .kind = ARG_FLAG, AT(quiet), .exclude = X_LOUDNESS,
	  .help = "no banner, no warnings; the result and errors only" },
	{ .name = "verbose", .letter = 'v', .kind = ARG_FLAG, AT(verbose), .exclude = X_LOUDNESS,
	  .help = "every reason with the place it comes from; run: what was decided and which walls held, on standard error" },
	{ .name = "help", .letter = 'h', .kind = ARG_FLAG, AT(help), .help = "show help for the command and exit" },
	{ .name = "version", .kind = ARG_FLAG, AT(version), .help = "show the version and exit" },
};

/* The same in several commands. */
#define BOX_OPTIONS \
	{ .name = "workspace", .kind = ARG_TEXT, AT(workspace), .meta = "DIR", .hint = HINT_DIR, \
	  .help = "directory that the command works on; the current one unless given" }, \
	{ .name = "workspace-access", .kind = ARG_TEXT, AT(ws_access), .meta = "ACCESS", .names = run_access_names, \
	  .help = "none: a private directory of the session; ro: seen at /agent; rw; overlay (default): writes go to a private layer, the host tree never " \
		  "changes" }, \
	{ .name = "env", .kind = ARG_LIST, AT(env), .meta = "NAME[=VALUE]", \
	  .help = "give the command this variable; without a value, the one we have; repeatable" }, \
	{ .name = "net", .kind = ARG_TEXT, AT(net), .meta = "none|bridge|HOST[,HOST...]", \
	  .help = "network of the command: none unless given; anything else is refused, for no sandbox of this build has one" }, \
	{ .name = "timeout", .kind = ARG_NUMBER, AT(timeout), .meta = "SECONDS", \
	  .help = "end the command after so long; creel then exits with 124. At least 1, at most limits.timeout_max_s; " \
		  "that is also what it gets without this option and limits.timeout_s" }, \
	{ .name = "memory", .kind = ARG_TEXT, AT(memory), .meta = "SIZE", \
	  .help = "memory limit, such as 512m or 2g, 1m at least; refused where it cannot be enforced" }, \
	{ .name = "pids", .kind = ARG_TEXT, AT(pids), .meta = "N", .help = "limit on processes and threads" }, \
	{ .name = "cpus", .kind = ARG_TEXT, AT(cpus), .meta = "N", .help = "limit on processors, such as 0.5" }, \
	{ .name = "disk", .kind = ARG_TEXT, AT(disk), .meta = "SIZE", \
	  .help = "how much of the disk its changes and a single file may take, 10g unless given; 0 = no limit" }, \
	{ .name = "output-limit", .kind = ARG_TEXT, AT(output_limit), .meta = "SIZE", \
	  .help = "end the command when it has written more than so much, standard output and standard error together" }, \
	{ .name = "cgroup-parent", .kind = ARG_TEXT, AT(cgroup_parent), .meta = "DIR", .hint = HINT_DIR, \
	  .help = "make the sandbox's cgroup in this cgroup v2 directory: one's own, without processes" }, \
	{ .name = "backend", .kind = ARG_TEXT, AT(backend), .meta = "NAME", .help = "backend to use: native, the only one in this build that runs commands" }, \
	{ .name = "image", .kind = ARG_TEXT, AT(image), .meta = "DIR|NAME", .hint = HINT_DIR, \
	  .help = "a root file system instead of the host's own /usr: a directory with a slash in its name, or a name below images/ in " \
		  "the state directory or in /var/lib/creel" },
#define WHO_OPTIONS \
	{ .name = "channel", .kind = ARG_TEXT, AT(channel), .meta = "NAME", .help = "channel of the call, such as telegram" }, \
	{ .name = "chat-id", .kind = ARG_TEXT, AT(chat_id), .meta = "ID", .help = "chat on that channel" }, \
	{ .name = "sender", .kind = ARG_TEXT, AT(sender), .meta = "ID", .help = "who sent the message, for lists by sender" }, \
	{ .name = "provider", .kind = ARG_TEXT, AT(provider), .meta = "NAME", .help = "model provider, for lists by provider" }, \
	{ .name = "model", .kind = ARG_TEXT, AT(model), .meta = "NAME", .help = "model, for lists by provider/model" }, \
	{ .name = "elevated", .kind = ARG_FLAG, AT(elevated), .help = "the call asks for elevated execution on the host" },
#define WEAKEN_OPTION \
	{ .name = "allow-weaken", .kind = ARG_FLAG, AT(allow_weaken), .help = "let --sandbox go below what the rules say" },
#define NO_SANDBOX_OPTION \
	{ .name = "no-sandbox", .kind = ARG_FLAG, AT(no_sandbox), \
	  .help = "run on the host, without any wall; refused on a public bind" },

static const struct arg_option run_options[] = {
	BOX_OPTIONS
	{ .name = "tty", .letter = 't', .kind = ARG_FLAG, AT(tty),
	  .help = "a terminal for all three streams of the command, whatever ours are, and what it prints there untouched" },
	{ .name = "report", .kind = ARG_TEXT, AT(report), .meta = "FD|FILE", .hint = HINT_FILE,
	  .help = "write the result as JSON: exit, reason, usage, limits that were hit, walls, changes" },
	{ .name = "plan", .kind = ARG_FLAG, AT(plan), .help = "print the steps that would build the sandbox, and run nothing" },
	NO_SANDBOX_OPTION
	WEAKEN_OPTION
};

static const struct arg_option explain_options[] = {
	{ .name = "tool", .kind = ARG_TEXT, AT(tool), .meta = "TOOL", .hint = HINT_TOOL,
	  .help = "tool that is called, by any of its names; a command alone means exec" },
	{ .name = "command", .kind = ARG_TEXT, AT(command), .meta = "TEXT", .exclude = X_COMMAND,
	  .help = "the command as one string, as a model sends it, instead of words after --" },
	{ .name = "matrix", .kind = ARG_FLAG, AT(matrix), .exclude = X_SHAPE,
	  .help = "one line for each session and tool: the sessions of all rules, agents and built-in prefixes" },
	{ .name = "as", .kind = ARG_TEXT, AT(as), .meta = "SHAPE", .names = as_names, .exclude = X_SHAPE,
	  .help = "print creel's own record, or what OpenClaw's sandbox explain prints" },
	{ .name = "via", .kind = ARG_TEXT, AT(via), .meta = "DOOR", .names = via_names,
	  .help = "door through which the call comes; guard means a caller with a valid token" },
	WHO_OPTIONS
	WEAKEN_OPTION
	{ .name = "timeout", .kind = ARG_NUMBER, AT(timeout), .meta = "SECONDS", .help = "timeout that the call asks for" },
	{ .name = "assume-backends", .kind = ARG_TEXT, AT(backends), .meta = "LIST",
	  .help = "suppose that these backends work here: none, or a list of native, docker and opensandbox" },
};

static const struct arg_option call_options[] = {
	{ .name = "list", .kind = ARG_FLAG, AT(list_tools), .exclude = X_CALL,
	  .help = "print the tools that exist, with what each needs; -q: their names alone" },
	{ .name = "schema", .kind = ARG_FLAG, AT(schema), .exclude = X_CALL,
	  .help = "print the JSON Schema of the tool's arguments, and call nothing" },
	{ .name = "text", .kind = ARG_FLAG, AT(text), .exclude = X_FORM,
	  .help = "for people: the output of the tool as it comes, then a line on standard error; what a terminal gets unless --json is given" },
	{ .name = "stream", .kind = ARG_FLAG, AT(stream), .exclude = X_FORM,
	  .help = "the output of the tool as it comes and nothing else; --report takes the result" },
	{ .name = "report", .kind = ARG_TEXT, AT(report), .meta = "FD|FILE", .hint = HINT_FILE, .help = "write the result as JSON there, too" },
	{ .name = "scope", .kind = ARG_TEXT, AT(scope), .meta = "SCOPE", .names = scope_names,
	  .help = "who shares the sandbox: this call alone, its session, its agent, or all" },
	BOX_OPTIONS
	WHO_OPTIONS
	{ .name = "session-id", .kind = ARG_TEXT, AT(session_id), .meta = "ID", .help = "id of the conversation, for leases" },
	{ .name = "user-id", .kind = ARG_TEXT, AT(user_id), .meta = "ID", .help = "user on whose behalf the call is made" },
	{ .name = "request-id", .kind = ARG_TEXT, AT(request_id), .meta = "ID", .help = "name of this call in the result and the audit log; one is made unless given" },
	NO_SANDBOX_OPTION
	WEAKEN_OPTION
};

static const struct arg_option list_options[] = {
	{ .name = "all", .kind = ARG_FLAG, AT(all), .help = "also those that were lost: their processes are gone" },
	{ .name = "scope", .kind = ARG_TEXT, AT(scope), .meta = "SCOPE", .names = scope_names, .help = "those of this scope alone" },
};

#define END_OPTIONS \
	{ .name = "all", .kind = ARG_FLAG, AT(all), .help = "every sandbox" }, \
	{ .name = "scope", .kind = ARG_TEXT, AT(scope), .meta = "SCOPE", .names = scope_names, .help = "those of this scope" },
static const struct arg_option kill_options[] = {
	END_OPTIONS
	{ .name = "yes", .letter = 'y', .kind = ARG_FLAG, AT(yes), .help = "do not ask, also when calls are running in it" },
};

static const struct arg_option recreate_options[] = {
	END_OPTIONS
	{ .name = "yes", .letter = 'y', .kind = ARG_FLAG, AT(yes), .help = "do not ask, and end the calls that are running in it" },
};

static const struct arg_option prune_options[] = {
	{ .name = "idle-hours", .kind = ARG_NUMBER, AT(idle_hours), .meta = "N",
	  .help = "end those idle for so many hours, instead of backend.prune.idleHours; 0 = none" },
	{ .name = "max-age-days", .kind = ARG_NUMBER, AT(max_age_days), .meta = "N",
	  .help = "end those older than so many days, instead of backend.prune.maxAgeDays; 0 = none" },
	{ .name = "layers-days", .kind = ARG_NUMBER, AT(layers_days), .meta = "N",
	  .help = "remove what was written to private layers that nobody has used for so many days, instead of backend.prune.layersDays; 0 = none" },
	{ .name = "dry-run", .letter = 'n', .kind = ARG_FLAG, AT(dry_run), .help = "tell what would end, and end nothing" },
};

#define RECORD_OPTIONS \
	{ .name = "tool", .kind = ARG_TEXT, AT(tool), .meta = "TOOL", .hint = HINT_TOOL, .help = "calls of this tool, by the name that the log has" }, \
	{ .name = "request", .kind = ARG_TEXT, AT(request_id), .meta = "ID", .help = "one call, by the request_id of its result" }, \
	{ .name = "since", .kind = ARG_TEXT, AT(since), .meta = "TIME", .help = "how long ago (30m, 2h, 7d) or a time in UTC (2026-11-17T01:02:03Z)" }, \
	{ .name = "denied", .kind = ARG_FLAG, AT(denied), .help = "what was refused, or ended by whoever enforces a limit" },
static const struct arg_option record_options[] = { RECORD_OPTIONS };
static const struct arg_option audit_show_options[] = {
	RECORD_OPTIONS
	{ .name = "last", .letter = 'n', .kind = ARG_NUMBER, AT(last), .meta = "N", .help = "the last N of them, at most 10000" },
};
static const struct arg_option verify_options[] = {
	{ .name = "anchor", .kind = ARG_LIST, AT(anchors), .meta = "NUMBER:HASH",
	  .help = "this record, as an earlier verify printed it, must still be there; repeatable" },
	{ .name = "first", .kind = ARG_NUMBER, AT(first_seq), .meta = "NUMBER", .help = "older files were taken away on purpose: the log begins with this record" },
};

static const struct arg_option token_options[] = {
	{ .name = "pairs", .kind = ARG_TEXT, AT(pairs), .meta = "AGENT:CHAT[,...]",
	  .help = "for whom its holder may speak: agents and their chats, on telegram unless it is CHANNEL:AGENT:CHAT; or '*', every pair of the allowlist" },
	{ .name = "expires", .kind = ARG_TEXT, AT(expires), .meta = "TIME", .help = "good for so long (12h, 90d); for ever unless given" },
	{ .name = "name", .kind = ARG_TEXT, AT(name), .meta = "NAME", .help = "what to call it in the list and the audit log" },
	{ .name = "runner", .kind = ARG_FLAG, AT(for_runner),
	  .help = "the one that the guard shows the runner: written to runner.token in the state directory, in place of an old one; its path is printed" },
	{ .name = "admin", .kind = ARG_FLAG, AT(admin), .help = "its holder may also answer approvals, export incidents, and see the metrics and the events of everybody" },
};
static const struct enum_name service_names[] = {
	{ "guard", 0 }, { "runner", 1 }, { "egress", 2 }, { "all", 3 }, { NULL, 0 },
};
static const struct enum_name log_format_names[] = { { "text", 0 }, { "json", 1 }, { NULL, 0 } };
static const struct arg_option serve_options[] = {
	{ .name = "check", .kind = ARG_FLAG, AT(serve_check), .help = "look at the configuration and the tokens, tell, and end" },
	{ .name = "log-format", .kind = ARG_TEXT, AT(log_format), .meta = "FORMAT", .names = log_format_names, .help = "how lines of the log look" },
};
static const struct arg_word serve_words[] = { { .name = "SERVICE", .names = service_names } };
static const struct arg_word code_words[] = { { .name = "CODE" } };
static const struct arg_word sender_words[] = { { .name = "CHANNEL" }, { .name = "USER" } };
static const struct arg_word token_words[] = { { .name = "TOKEN", .hint = HINT_TOKEN, .many = true } };

static const struct arg_option approvals_list_options[] = {
	{ .name = "all", .kind = ARG_FLAG, AT(all), .help = "also those that have ended: used, denied, expired, withdrawn" },
};
#define REASON_OPTION \
	{ .name = "reason", .kind = ARG_TEXT, AT(reason), .meta = "TEXT", .help = "why, for the caller and the audit log" },
static const struct arg_option approvals_allow_options[] = {
	{ .name = "for", .kind = ARG_TEXT, AT(for_time), .meta = "TIME", .help = "also the same call again, for so long (10m, 2h), 24h at most; once unless given" },
	REASON_OPTION
};
static const struct arg_option approvals_deny_options[] = { REASON_OPTION };
static const struct arg_word approval_words[] = { { .name = "ID", .hint = HINT_APPROVAL } };

static const struct arg_option incident_options[] = {
	{ .name = "request", .kind = ARG_TEXT, AT(request_id), .meta = "ID", .help = "one call, by the request_id of its result" },
	{ .name = "output", .letter = 'o', .kind = ARG_TEXT, AT(output), .meta = "FILE", .hint = HINT_FILE,
	  .help = "write a new file (0600) instead of standard output; one that exists is not overwritten" },
};

static const struct arg_option check_options[] = {
	{ .name = "strict", .kind = ARG_FLAG, AT(strict), .help = "warnings fail too (exit 125)" },
};

static const struct arg_option show_options[] = {
	{ .name = "origin", .kind = ARG_FLAG, AT(origin), .help = "with every value, where it comes from" },
	{ .name = "all", .kind = ARG_FLAG, AT(all), .help = "defaults too, not only what was set" },
	{ .name = "as", .kind = ARG_TEXT, AT(show_as), .meta = "FORMAT", .names = format_words, .hidden_names = true,
	  .help = "in another format's shape: athena, openclaw, allowlist, openclaw-net or ansible" },
};

static const struct arg_option import_options[] = {
	{ .name = "write", .kind = ARG_OPTIONAL, AT(write_to), .meta = "PATH",
	  .help = "write the result to PATH (~/.openclaw/creel.json5 unless given), mode 0600, instead of printing it" },
	{ .name = "force", .kind = ARG_FLAG, AT(force), .help = "replace a file that exists" },
};

static const struct arg_word import_words[] = {
	{ .name = "FORMAT", .names = format_words },
	{ .name = "FILE", .hint = HINT_FILE },
	{ .name = "PATH", .hint = HINT_FILE, .optional = true },
};
static const struct arg_word help_words[] = {
	{ .name = "COMMAND", .hint = HINT_COMMAND, .optional = true },
	{ .name = "COMMAND", .optional = true },
};
static const struct arg_word call_words[] = {
	{ .name = "TOOL", .hint = HINT_TOOL, .optional = true },
	{ .name = "ARGUMENT", .hint = HINT_FILE, .optional = true, .many = true },
};
static const struct arg_word sandbox_words[] = { { .name = "KEY", .hint = HINT_SANDBOX, .optional = true, .many = true } };
static const struct arg_word inspect_words[] = { { .name = "KEY", .hint = HINT_SANDBOX, .optional = true } };
static const struct arg_word completion_words[] = { { .name = "SHELL", .names = shell_names } };
static const struct arg_word manual_words[] = { { .name = "PART", .names = manual_names } };

static const struct command config_commands[] = {
	{ .name = "check", .summary = "check the configuration and look for risky or useless settings",
	  .about = "Reads the configuration as every other command does and prints each error as "
		   "file:line:column: key: what is wrong and what is accepted. Then it looks for rules that can never "
		   "match, grants that contradict each other and risky values, each with the fix.",
	  .examples = "creel config check --strict\tfail on warnings too\n"
		      "creel config check -c openclaw:openclaw.json --json\tfindings as JSON\n",
	  .options = TABLE(check_options), .reads_config = true, .run = run_config_check },
	{ .name = "show", .summary = "print the configuration in force",
	  .about = "Prints what was set by profile, files, variables and flags as one creel.json5, which reads back to the "
		   "same configuration but for what must not be shown: values that came from the environment stand as they are "
		   "written, secrets as <redacted>.",
	  .examples = "creel config show --all --origin\tevery value with its source\n"
		      "creel --profile bilrost config show --as openclaw | jq .agents.defaults.sandbox\tas openclaw.json\n",
	  .options = TABLE(show_options), .reads_config = true, .run = run_config_show },
	{ .name = "import", .summary = "turn a foreign configuration file into creel.json5",
	  .usage = "FORMAT FILE [PATH]",
	  .about = "Reads one file of FORMAT (creel, athena, openclaw, allowlist, openclaw-net or ansible) and prints it in "
		   "canonical form, or writes it with --write. A file is written whole or not at all, and holds the values of "
		   "literal secrets and of variables outside of env.set.",
	  .examples = "creel config import openclaw ~/.openclaw/openclaw.json --write\twrite ~/.openclaw/creel.json5\n",
	  .options = TABLE(import_options), .words = import_words, .n_words = COUNT(import_words),
	  .run = run_config_import },
	{ .name = "schema", .summary = "print the JSON Schema of creel.json5",
	  .about = "Prints a JSON Schema made from the table of options, for editors and other programs.",
	  .run = run_config_schema },
	{ .name = "keys", .summary = "print every option's dotted name, one on a line",
	  .about = "These are the names that -e takes and that creel.json5(5) describes.", .run = run_config_keys },
};

static const struct command audit_commands[] = {
	{ .name = "show", .summary = "print the records of the audit log",
	  .about = "Prints what was decided about each call, what came of it, and what became of sandboxes, oldest first, over all files of the log. --session and "
		   "--agent choose, too. With --json each record is the line of the log, with its hash.",
	  .examples = "creel audit show --last 20\tthe newest records\n"
		      "creel audit show --since 1h --denied\twhat was refused in the last hour\n"
		      "creel audit show --session untrusted:pr-482 --json | jq .\teverything about one session\n",
	  .options = TABLE(audit_show_options), .run = run_audit_show },
	{ .name = "follow", .summary = "print records as they are written",
	  .about = "Prints the last ten records and then each new one as it comes, also when the log goes on in a new file. Ends with SIGINT, or when nobody reads "
		   "what it prints.",
	  .examples = "creel audit follow --denied\twatch refusals\n",
	  .options = TABLE(record_options), .run = run_audit_follow },
	{ .name = "verify", .summary = "check that no record was changed, removed or moved",
	  .about = "Walks the chain of hashes through all files of the log and prints, for each fault, file:line and what is wrong: a record that was changed, removed, "
		   "moved or cut off at the end, a torn line, a missing head. The last line says how many records there are, and number and hash of the last one: "
		   "kept elsewhere, it is what --anchor takes, and finds a log that was written anew as a whole. Exit status 0: whole; 1: not; 125: it could not be read.",
	  .examples = "creel audit verify\tis it whole\n"
		      "creel audit verify --json | jq .last\tnumber and hash of the last record\n",
	  .options = TABLE(verify_options), .run = run_audit_verify },
};

static const struct command pairing_commands[] = {
	{ .name = "list", .summary = "list senders that wait and that are known",
	  .about = "Prints a line for each sender who has a code and for each who is known.", .examples = "creel pairing list --json\tfor programs\n",
	  .run = run_pairing_list },
	{ .name = "approve", .summary = "make a sender known by the code that he shows", .usage = "CODE",
	  .about = "The sender of that code is known from then on. A code is good for 24 hours; upper and lower case do not matter.",
	  .examples = "creel pairing approve A1B2C3\tas the sender was told\n", .words = code_words, .n_words = COUNT(code_words), .run = run_pairing_approve },
	{ .name = "add", .summary = "make a sender known without a code", .usage = "CHANNEL USER",
	  .about = "For oneself, and for whom one knows already.", .examples = "creel pairing add telegram 123456789\tthe owner's own id\n",
	  .words = sender_words, .n_words = COUNT(sender_words), .run = run_pairing_add },
	{ .name = "revoke", .summary = "forget a sender", .usage = "CHANNEL USER",
	  .about = "He is a stranger again, and codes that he has are good for nothing.", .examples = "creel pairing revoke telegram 123456789\tone sender\n",
	  .words = sender_words, .n_words = COUNT(sender_words), .run = run_pairing_revoke },
};

static const struct command approvals_commands[] = {
	{ .name = "list", .summary = "list calls that wait for a person",
	  .about = "Prints a line for each call that waits for an answer and for each that is allowed for a time, oldest first; --all also those that have ended; with -q the ids alone. "
		   "The command is shown as a shell would be told it, without secrets that are known, and with nothing in it that a terminal would obey.",
	  .examples = "creel approvals list --json\tfor programs\n", .options = TABLE(approvals_list_options), .run = run_approvals_list },
	{ .name = "show", .summary = "show everything about one of them", .usage = "ID",
	  .about = "Prints who asks, the command, all arguments, the directory, and what became of it.", .examples = "creel approvals show k7m29xqd\tbefore you answer\n",
	  .words = approval_words, .n_words = COUNT(approval_words), .run = run_approvals_show },
	{ .name = "allow", .summary = "let a call that waits run", .usage = "ID [--for TIME]",
	  .about = "The call that waits runs, once. With --for the same call may be made again until the time is over: from the same session and sender, with the same "
		   "arguments, in the same directory; what differs in any of that is asked about again.",
	  .examples = "creel approvals allow k7m29xqd\tonce\n"
		      "creel approvals allow k7m29xqd --for 10m\tand the same call again for ten minutes\n",
	  .options = TABLE(approvals_allow_options), .words = approval_words, .n_words = COUNT(approval_words), .run = run_approvals_allow },
	{ .name = "deny", .summary = "refuse a call that waits, or take back what was allowed", .usage = "ID [--reason TEXT]",
	  .about = "The call that waits is refused, and its caller is told the reason. One that was allowed for a time is not allowed any more.",
	  .examples = "creel approvals deny k7m29xqd --reason 'use the sandbox'\twith a reason\n",
	  .options = TABLE(approvals_deny_options), .words = approval_words, .n_words = COUNT(approval_words), .run = run_approvals_deny },
};

static const struct command token_commands[] = {
	{ .name = "new", .summary = "make a token and print it once", .usage = "--pairs AGENT:CHAT[,...]",
	  .about = "Makes a token of 256 random bits and prints it. Only its hash is kept, so it is never shown again. Its holder may speak for these pairs of agent and "
		   "chat, as far as the allowlist (identity.pairs) has them, and for nobody else.",
	  .examples = "creel token new --pairs g-coder:-100123 --expires 90d --name coder\tfor one agent in one chat\n",
	  .options = TABLE(token_options), .run = run_token_new },
	{ .name = "list", .summary = "list tokens, with pairs, expiry and last use",
	  .about = "Prints a line for each token that was made, also for those that are revoked or have expired; with -q the ids alone.", .examples = "creel token list --json\tfor programs\n",
	  .run = run_token_list },
	{ .name = "revoke", .summary = "make tokens good for nothing", .usage = "TOKEN...",
	  .about = "From then on nobody gets in with them. TOKEN is an id or a name of the list, not the token itself.",
	  .examples = "creel token revoke coder\tby its name\n",
	  .words = token_words, .n_words = COUNT(token_words), .run = run_token_revoke },
};

static const struct command incident_commands[] = {
	{ .name = "export", .summary = "write what is known about a call or session, without secrets", .usage = "--request ID | --session KEY",
	  .about = "Prints one JSON object with the decisions, what came of them, what was denied, and the life of the sandboxes, from the audit log. Secret values that "
		   "are known now (secrets file, variables and references of the configuration) become ${NAME}; what stands behind raw:, Bearer or the name of a "
		   "secret becomes <redacted>. A command line can hold a secret that nobody knows as one: read the file before you give it away.",
	  .examples = "creel incident export --session untrusted:pr-482 --output incident.json\tone session\n"
		      "creel incident export --request 6f1c0a77-12 | jq .denials\twhat was denied to one call\n",
	  .options = TABLE(incident_options), .run = run_incident_export },
};

static const struct arg_guess guesses[] = {
	{ "ps", "creel list" }, { "ls", "creel list" }, { "status", "creel list' or 'creel doctor" },
	{ "sandboxes", "creel list" }, { "sessions", "creel list" },
	{ "exec", "creel call exec -- COMMAND" }, { "bash", "creel run -t -- bash" }, { "sh", "creel run -t -- sh" },
	{ "shell", "creel run -t -- sh" }, { "tools", "creel call --list" },
	{ "logs", "creel audit show" }, { "log", "creel audit show" }, { "history", "creel audit show" },
	{ "stop", "creel kill" }, { "rm", "creel kill" }, { "delete", "creel kill" }, { "restart", "creel recreate" },
	{ "start", "creel serve all" }, { "up", "creel serve all" }, { "daemon", "creel serve all" },
	{ "check", "creel config check" }, { "import", "creel config import" }, { "init", "creel config import" },
	{ "why", "creel explain" }, { "sandbox", "creel explain' or 'creel list" }, { "approve", "creel approvals allow" },
	{ "top", "creel list" }, { "stats", "creel list" }, { "info", "creel doctor' or 'creel inspect KEY" },
	{ "attach", "creel call exec -- COMMAND" }, { "cp", "creel call write path=NAME content=@FILE" }, { "test", "creel run -- COMMAND" },
	{ "image", "creel run --image DIR" }, { "images", "creel run --image DIR" }, { "pull", "creel run --image DIR" }, { "build", "creel run --image DIR" },
	{ "system", "creel prune' or 'creel doctor" }, { "create", "creel call exec -- COMMAND" }, { "volume", "creel run --workspace DIR -- COMMAND" },
	{ NULL, NULL },
};
static const struct arg_guess common_habits[] = { { "V", "write --version" }, { NULL, NULL } };
static const struct arg_guess config_guesses[] = {
	{ "get", "creel config show --all" }, { "list", "creel config keys" }, { "set", "creel -e KEY=VALUE COMMAND" }, { "validate", "creel config check" },
	{ "lint", "creel config check" }, { "convert", "creel config import" }, { "edit", "creel config import FORMAT FILE --write" }, { NULL, NULL },
};
static const struct arg_guess audit_guesses[] = {
	{ "tail", "creel audit show --last 10' or 'creel audit follow" }, { "log", "creel audit show" }, { "list", "creel audit show" },
	{ "check", "creel audit verify" }, { NULL, NULL },
};
static const struct arg_guess token_guesses[] = {
	{ "create", "creel token new" }, { "add", "creel token new" }, { "delete", "creel token revoke" }, { "rm", "creel token revoke" },
	{ "show", "creel token list" }, { NULL, NULL },
};
static const struct arg_guess approvals_guesses[] = {
	{ "approve", "creel approvals allow" }, { "reject", "creel approvals deny" }, { "refuse", "creel approvals deny" }, { NULL, NULL },
};

static const struct command commands[] = {
	{ .name = "run", .summary = "run one command in a sandbox",
	  .usage = "[--] COMMAND [ARGUMENT...]",
	  .about = "Runs the command behind every wall that policy asks for, without daemon, image or root. Unless a session or a "
		   "mode is named, trust is light: no network, no secrets, the host's own programs read-only, and the "
		   "current directory as an overlay, so that the host tree never changes. The exit status is the command's "
		   "own; 124 timed out, 125 the sandbox could not be built, 126 refused by policy or not executable, 127 not "
		   "found, 128+N killed by signal N.",
	  .examples = "creel run -- make test\tin a sandbox, the tree stays as it is\n"
		      "creel run --workspace-access rw --timeout 60 -- ./build.sh\twith the workspace writable\n"
		      "creel run --sandbox docker --report result.json -- python3 evil.py\tuntrusted code, and the result for programs\n",
	  .options = TABLE(run_options), .habits = habits, .takes_command = true, .bare_command = true, .run = run_run },
	{ .name = "explain", .summary = "say what would happen to a tool call, and why",
	  .usage = "[-- CMD [ARG...]]",
	  .about = "Decides the call exactly as it will be decided when it runs, runs nothing, and prints each stage: identity, "
		   "mode, tool policy, backend, network, mounts, environment, limits, verdict. The exit status is 0 for ALLOW "
		   "(or when no tool is asked about and nothing is refused), 126 when policy refuses, 125 for bad usage or a bad configuration.",
	  .examples = "creel explain --session untrusted:pr-482 --tool bash -- pytest -q\tone call\n"
		      "creel explain --matrix -c new.json5\tall sessions and tools, made to be compared with diff\n"
		      "creel explain --compat openclaw-2026.9 --as openclaw --json -c openclaw:openclaw.json\tas OpenClaw prints it\n",
	  .options = TABLE(explain_options), .takes_command = true, .run = run_explain },
	{ .name = "call", .summary = "call one tool in the sandbox of a session",
	  .usage = "TOOL [JSON|-|TEXT|NAME=VALUE...] [-- COMMAND [ARGUMENT...]]",
	  .about = "Calls a tool (exec, read, write, edit, apply_patch, search, ...) in the sandbox of the session, which is made with the first call and "
		   "stays for the next ones, with its files, its /tmp and what runs in the background. Arguments are one JSON object, or - to read it from "
		   "standard input; or words: NAME=VALUE by the types that the tool has, NAME=@FILE (@- is standard input) for the content of a file, a text "
		   "alone for the argument that the tool needs first, and what follows -- for the command of exec. The result is one JSON object on "
		   "standard output, or on a terminal the output itself. The exit status is the command's own; 124 timed out, 125 the tool or "
		   "creel failed, 126 refused by policy, 127 not found, 128+N killed by signal N.",
	  .examples = "creel call exec -- make test\tin the main session's sandbox\n"
		      "creel call --session untrusted:pr-482 exec 'cd /tmp && echo hi > a'\tin a session of its own, by a shell\n"
		      "creel call read path=src/a.c limit=20\tthe first 20 lines\n"
		      "creel call edit '{\"path\":\"a.c\",\"oldText\":\"x\",\"newText\":\"y\"}'\targuments as JSON\n"
		      "creel call --list\twhich tools there are\n"
		      "creel call search --help\tthe arguments of one tool\n",
	  .options = TABLE(call_options), .habits = habits, .words = call_words, .n_words = COUNT(call_words), .takes_command = true, .helps = true,
	  .run = run_call },
	{ .name = "list", .summary = "list the sandboxes of sessions",
	  .about = "Prints a line for each sandbox that lives, last used first: session, scope, backend, state, age, time since the last call, memory and "
		   "number of calls. --session and --agent choose; -q prints their keys alone.",
	  .examples = "creel list --json\tfor programs\n",
	  .options = TABLE(list_options), .run = run_list },
	{ .name = "inspect", .summary = "show everything about one sandbox", .usage = "KEY | --session KEY",
	  .about = "Prints what is known about the sandbox of a key or a session: state, walls, workspace, processes, when it was made and used, and what runs in it.",
	  .examples = "creel inspect --session agent:main:main\tthe main session's\n",
	  .words = inspect_words, .n_words = COUNT(inspect_words), .run = run_inspect },
	{ .name = "kill", .summary = "end sandboxes with everything in them", .usage = "KEY... | --session KEY | --agent ID | --all",
	  .about = "Ends sandboxes and what runs in them, and prints a line for each. Workspaces and what was changed in private layers stay. The next call of "
		   "the session makes a new sandbox. On a terminal it asks first when calls are running.",
	  .examples = "creel kill --session untrusted:pr-482\tone session's\n"
		      "creel kill --all -y\tall, without asking\n",
	  .options = TABLE(kill_options), .words = sandbox_words, .n_words = COUNT(sandbox_words), .run = run_kill },
	{ .name = "recreate", .summary = "end sandboxes so that the next call makes them anew",
	  .usage = "KEY... | --session KEY | --agent ID | --all",
	  .about = "For after a change of the configuration: ends the sandboxes, and the next call makes them as it is configured then. One in which a call is "
		   "running is left alone, unless -y or an answer on the terminal says otherwise.",
	  .examples = "creel recreate --agent work\tall of one agent's\n",
	  .options = TABLE(recreate_options), .words = sandbox_words, .n_words = COUNT(sandbox_words), .run = run_recreate },
	{ .name = "prune", .summary = "end sandboxes that nobody has used for long",
	  .about = "Ends sandboxes that were idle for backend.prune.idleHours or are older than backend.prune.maxAgeDays, and forgets those whose processes are "
		   "gone. One in which a call is running is kept. Workspaces are never removed. Private layers, of sessions and of kept runs, in which something was "
		   "changed are removed only when --layers-days or backend.prune.layersDays says after how many days without use; the audit log never is.",
	  .examples = "creel prune --dry-run\twhat would end\n"
		      "creel prune --idle-hours 1\twhat was idle for an hour\n"
		      "creel prune --layers-days 30 -n\twhich changes of sessions nobody has used for a month\n",
	  .options = TABLE(prune_options), .run = run_prune },
	{ .name = "config", .summary = "check, show and convert configuration",
	  .about = "Works on the configuration that the common options name, in any of the formats.",
	  .guesses = config_guesses, .subs = config_commands, .n_subs = COUNT(config_commands) },
	{ .name = "audit", .summary = "show, follow and verify the record of all calls",
	  .about = "Works on the audit log: audit/ in the state directory, unless audit.path says another place.",
	  .guesses = audit_guesses, .subs = audit_commands, .n_subs = COUNT(audit_commands) },
	{ .name = "serve", .summary = "answer callers over HTTP", .usage = "guard|runner|egress|all",
	  .about = "Starts services and stays: the guard that callers speak to (serve.guard, 127.0.0.1:18888), the runner behind it, which runs their calls in "
		   "sandboxes, and egress, through which sandboxes reach what they may. all starts the three. They stop on SIGTERM, when what was begun is done, and read their "
		   "configuration again on SIGHUP and when a file of it has changed: all of it, or nothing of it. Executes creeld(8), which has the same words and options.",
	  .examples = "creel token new --runner; creel token new --pairs '*'\tmake the two tokens that it takes, once\n"
		      "creel serve all\tthe guard, the runner and egress\n"
		      "creel serve all --check\twould it start?\n",
	  .options = TABLE(serve_options), .words = serve_words, .n_words = COUNT(serve_words), .run = run_serve },
	{ .name = "incident", .summary = "export what is known about a call or session",
	  .about = "For whoever has to find out what happened, also when that is somebody else.",
	  .subs = incident_commands, .n_subs = COUNT(incident_commands) },
	{ .name = "token", .summary = "make, list and revoke tokens of callers over the network",
	  .about = "Works on tokens/tokens.json in the state directory (0600, hashes alone). Each is bound to the pairs of agent and chat that its holder may speak for.",
	  .guesses = token_guesses, .subs = token_commands, .n_subs = COUNT(token_commands) },
	{ .name = "approvals", .summary = "answer calls that a person has to allow",
	  .about = "A call whose verdict is ASK (tools.exec.mode, elevated) waits for approvals.timeout_s seconds. No answer is a refusal.",
	  .guesses = approvals_guesses, .subs = approvals_commands, .n_subs = COUNT(approvals_commands) },
	{ .name = "pairing", .summary = "say which senders are known",
	  .about = "Works on pairing/pairing.json in the state directory. Who is not known gets a code and nothing else, until somebody approves it.",
	  .subs = pairing_commands, .n_subs = COUNT(pairing_commands) },
	{ .name = "doctor", .summary = "tell what this host can do, and what would fix what it cannot",
	  .about = "Looks at the kernel, user namespaces, Landlock, cgroups and what may stand in the way, and then starts a real "
		   "sandbox to see. Where services were set up (tokens, serve.* or their sockets are there), it asks them, too: do they answer, "
		   "which version, do their walls hold, are tokens there, does the audit log take records, may anybody call, is the certificate good for 14 days. "
		   "Where the provider is OpenSandbox, its service is asked, too, within five seconds: is it there, does it take the API key. "
		   "Every finding that is not ok has its cause and one command that fixes it. Exit status 125 "
		   "when a sandbox cannot be started, or something that is set up does not work.",
	  .examples = "creel doctor --json\tfor programs\n",
	  .run = run_doctor },
	{ .name = "version", .summary = "print the version",
	  .about = "Prints the version; with --json also what this build contains.", .run = run_version },
	{ .name = "help", .summary = "show help for a command", .usage = "[COMMAND...]",
	  .about = "Shows what --help of that command shows.", .words = help_words, .n_words = COUNT(help_words),
	  .run = run_help },
	{ .name = "completion", .summary = "print a shell's completion script", .usage = "bash|zsh|fish",
	  .about = "Prints the script that the build installs for that shell.", .hidden = true, .words = completion_words,
	  .n_words = COUNT(completion_words), .run = run_completion },
	{ .name = "manual", .summary = "print a generated part of the manual", .usage = "commands|options|codes|keys",
	  .about = "Prints scdoc text made from the tables, for the build of the manual pages.", .hidden = true,
	  .words = manual_words, .n_words = COUNT(manual_words), .run = run_manual },
};

const struct command creel_command = {
	.name = "creel", .summary = "runs the tool calls of AI agents in sandboxes",
	.usage = "COMMAND",
	.about = "creel decides who may run what, where, and with which walls around it, and says why. It reads creel.json5 and "
		 "the configuration of five other systems as they are.",
	.examples = "creel run -- make test\tone command in a sandbox of its own\n"
		    "creel call exec -- make test\tin a sandbox that stays for the next call\n"
		    "creel explain --tool exec -- make test\twhat would happen to this call\n"
		    "creel config check\tis the configuration right\n",
	.options = TABLE(common_options), .guesses = guesses, .habits = common_habits, .subs = commands, .n_subs = COUNT(commands),
};
/* clang-format on */
