/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/tooltables.h"

#include <assert.h>

#define S(lit)                                   \
	{                                        \
		.p = (lit), .n = sizeof(lit) - 1 \
	}
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LIST(array)                             \
	{                                       \
		.v = (array), .n = COUNT(array) \
	}

#define READ_ CAP_BIT(CAP_FS_READ)
#define WRITE_ CAP_BIT(CAP_FS_WRITE)
#define EXEC_ CAP_BIT(CAP_PROC_EXEC)
#define VCS_ CAP_BIT(CAP_VCS)
#define NET_ CAP_BIT(CAP_NET)
#define SECRETS_ CAP_BIT(CAP_SECRETS)
#define BROWSER_ CAP_BIT(CAP_BROWSER)
#define API_ CAP_BIT(CAP_API)

/* clang-format off */
#define HERE(name_, needs_)    { .info = { .name = (name_), .needs = (needs_) } }
#define COMMAND(name_, needs_) { .info = { .name = (name_), .needs = (needs_), .known_command = true } }
#define GATEWAY(name_, needs_) { .info = { .name = (name_), .needs = (needs_), .gateway_side = true } }
#define ACTION(name_, needs_)  { .info = { .name = (name_), .needs = (needs_), .gateway_side = true }, .action = true }

const struct tool_row tool_rows[] = {
	/* carried out here */
	HERE("read", READ_), HERE("ls", READ_), HERE("search", READ_),
	HERE("write", WRITE_), HERE("edit", WRITE_), HERE("apply_patch", WRITE_),
	COMMAND("exec", EXEC_), HERE("process", EXEC_), COMMAND("code_exec", EXEC_), COMMAND("git", EXEC_ | VCS_),
	HERE("web_fetch", NET_ | API_), HERE("web_search", NET_ | API_), HERE("browser", BROWSER_),
	/* S0's words */
	ACTION("git_push", VCS_), ACTION("network", NET_), ACTION("external_api", API_),
	/* carried out by the agent's gateway: only policy applies */
	GATEWAY("secrets", SECRETS_),
	GATEWAY("message", 0), GATEWAY("canvas", 0), GATEWAY("nodes", 0), GATEWAY("cron", 0),
	GATEWAY("automations", 0), GATEWAY("gateway", 0), GATEWAY("image", 0), GATEWAY("view_image", READ_),
	GATEWAY("memory_search", 0), GATEWAY("memory_get", 0),
	GATEWAY("sessions", 0), GATEWAY("sessions_list", 0), GATEWAY("sessions_history", 0),
	GATEWAY("sessions_search", 0), GATEWAY("sessions_send", 0), GATEWAY("sessions_spawn", 0),
	GATEWAY("sessions_yield", 0), GATEWAY("session_status", 0), GATEWAY("subagents", 0),
	GATEWAY("conversations_list", 0), GATEWAY("conversations_send", 0), GATEWAY("conversations_turn", 0),
	GATEWAY("agents_wait", 0), GATEWAY("agents_list", 0), GATEWAY("suggest_task", 0), GATEWAY("dismiss_task", 0),
	GATEWAY("get_goal", 0), GATEWAY("create_goal", 0), GATEWAY("update_goal", 0), GATEWAY("progress_card", 0),
	GATEWAY("update_plan", 0), GATEWAY("ask_user", 0), GATEWAY("skill_workshop", 0),
	GATEWAY("heartbeat_respond", 0), GATEWAY("plugins", 0), GATEWAY("openclaw", 0),
	GATEWAY("theme", 0), GATEWAY("dashboard", 0), GATEWAY("show_widget", 0), GATEWAY("portal", NET_),
	GATEWAY("screen", BROWSER_), GATEWAY("terminal", EXEC_),
	GATEWAY("computer", EXEC_ | BROWSER_), GATEWAY("mobile_ui", EXEC_ | BROWSER_),
	GATEWAY("code_execution", EXEC_ | API_), GATEWAY("x_search", NET_ | API_),
	GATEWAY("github_identity_status", API_), GATEWAY("github_publish", VCS_ | NET_ | API_),
	GATEWAY("image_generate", API_), GATEWAY("music_generate", API_), GATEWAY("video_generate", API_),
	GATEWAY("tts", API_), GATEWAY("pdf", READ_),
};
const size_t n_tool_rows = COUNT(tool_rows);

const struct tool_alias asked_aliases[] = {
	{ S("bash"), S("exec") }, { S("shell"), S("exec") }, { S("shell_exec"), S("exec") }, { S("execute"), S("exec") },
	{ S("file_read"), S("read") }, { S("file_write"), S("write") }, { S("apply-patch"), S("apply_patch") },
	{ { 0 }, { 0 } },
};

static const struct tool_alias documents_aliases[] = {
	{ S("bash"), S("exec") }, { S("shell"), S("exec") }, { S("shell_exec"), S("exec") }, { S("execute"), S("exec") },
	{ S("file_read"), S("read") }, { S("file_write"), S("write") }, { S("apply-patch"), S("apply_patch") },
	{ S("automations"), S("cron") }, { S("view_image"), S("image") },
	{ { 0 }, { 0 } },
};
static const struct tool_alias openclaw_aliases[] = {
	{ S("bash"), S("exec") }, { S("apply-patch"), S("apply_patch") }, { S("cron"), S("automations") },
	{ { 0 }, { 0 } },
};

#define CHANNELS_ \
	S("feishu"), S("googlechat"), S("nostr"), S("buzz"), S("msteams"), S("mattermost"), S("nextcloud-talk"), \
	S("matrix"), S("raft"), S("a2a"), S("line"), S("zalo"), S("clickclack"), S("zalouser"), S("sms"), \
	S("synology-chat"), S("tlon"), S("discord"), S("imessage"), S("irc"), S("reef"), S("signal"), S("slack"), \
	S("telegram"), S("twitch"), S("whatsapp")
static const struct str channels[] = { CHANNELS_, S("webchat") };

/* What the documents say. */

static const struct str d_fs[] = { S("read"), S("write"), S("edit"), S("apply_patch"), S("search"), S("ls") };
static const struct str d_runtime[] = { S("exec"), S("process"), S("code_exec") };
static const struct str d_web[] = { S("web_search"), S("web_fetch") };
static const struct str d_memory[] = { S("memory_search"), S("memory_get") };
static const struct str d_sessions[] = {
	S("sessions_list"), S("sessions_history"), S("sessions_send"), S("sessions_spawn"), S("session_status"),
};
static const struct str d_ui[] = { S("browser"), S("canvas") };
static const struct str d_messaging[] = { S("message") };
static const struct str d_automation[] = { S("cron"), S("gateway") };
static const struct str d_nodes[] = { S("nodes") };
static const struct tool_group documents_groups[] = {
	{ S("group:fs"), LIST(d_fs) }, { S("group:runtime"), LIST(d_runtime) }, { S("group:web"), LIST(d_web) },
	{ S("group:memory"), LIST(d_memory) }, { S("group:sessions"), LIST(d_sessions) }, { S("group:ui"), LIST(d_ui) },
	{ S("group:messaging"), LIST(d_messaging) }, { S("group:automation"), LIST(d_automation) },
	{ S("group:nodes"), LIST(d_nodes) },
};

static const struct str d_minimal[] = { S("session_status") };
static const struct str d_coding[] = {
	S("group:fs"), S("group:runtime"), S("group:sessions"), S("group:memory"), S("image"),
};
static const struct str d_messaging_profile[] = {
	S("group:messaging"), S("sessions_list"), S("sessions_history"), S("sessions_send"), S("session_status"),
};

static const struct str d_sandbox_allow[] = {
	S("exec"), S("process"), S("code_exec"), S("read"), S("search"), S("write"), S("edit"), S("apply_patch"), S("image"),
	S("web_fetch"), S("web_search"),
	S("sessions_list"), S("sessions_history"), S("sessions_send"), S("sessions_spawn"), S("session_status"),
};
static const struct str d_sandbox_deny[] = {
	S("browser"), S("canvas"), S("nodes"), S("cron"), S("gateway"), CHANNELS_,
};
static const struct str d_subagent_deny[] = {
	S("gateway"), S("agents_list"), S("session_status"), S("cron"), S("message"), S("sessions_send"),
	S("subagents"), S("sessions_list"), S("sessions_history"), S("sessions_spawn"),
};

/* Upstream OpenClaw 2026.9.6. */

#define O_SESSIONS_ \
	S("sessions"), S("sessions_list"), S("sessions_history"), S("sessions_search"), S("conversations_list"), \
	S("conversations_send"), S("conversations_turn"), S("sessions_send"), S("sessions_spawn"), \
	S("github_identity_status"), S("github_publish"), S("agents_wait"), S("sessions_yield"), S("subagents"), \
	S("session_status"), S("suggest_task"), S("dismiss_task")
#define O_AGENTS_ \
	S("agents_list"), S("get_goal"), S("create_goal"), S("update_goal"), S("progress_card"), S("ask_user"), \
	S("skill_workshop")
#define O_MEDIA_ \
	S("view_image"), S("image_generate"), S("music_generate"), S("video_generate"), S("tts"), S("pdf")

static const struct str o_fs[] = { S("ls"), S("read"), S("write"), S("edit"), S("apply_patch") };
static const struct str o_runtime[] = { S("exec"), S("process"), S("code_execution"), S("secrets") };
static const struct str o_web[] = { S("web_search"), S("web_fetch"), S("x_search") };
static const struct str o_memory[] = { S("memory_search"), S("memory_get") };
static const struct str o_sessions[] = { O_SESSIONS_ };
static const struct str o_ui[] = {
	S("browser"), S("screen"), S("theme"), S("dashboard"), S("terminal"), S("portal"), S("canvas"), S("show_widget"),
};
static const struct str o_messaging[] = { S("message") };
static const struct str o_automation[] = {
	S("heartbeat_respond"), S("automations"), S("gateway"), S("plugins"), S("openclaw"),
};
static const struct str o_nodes[] = { S("nodes"), S("computer"), S("mobile_ui") };
static const struct str o_agents[] = { O_AGENTS_ };
static const struct str o_media[] = { O_MEDIA_ };
static const struct str o_openclaw[] = {
	S("code_execution"), S("secrets"), S("web_search"), S("web_fetch"), S("x_search"), S("memory_search"),
	S("memory_get"), O_SESSIONS_, S("browser"), S("screen"), S("theme"), S("dashboard"), S("terminal"), S("portal"),
	S("show_widget"), S("message"), S("heartbeat_respond"), S("automations"), S("gateway"), S("plugins"),
	S("openclaw"), S("nodes"), S("computer"), S("mobile_ui"), O_AGENTS_, O_MEDIA_,
};
static const struct tool_group openclaw_groups[] = {
	{ S("group:fs"), LIST(o_fs) }, { S("group:runtime"), LIST(o_runtime) }, { S("group:web"), LIST(o_web) },
	{ S("group:memory"), LIST(o_memory) }, { S("group:sessions"), LIST(o_sessions) }, { S("group:ui"), LIST(o_ui) },
	{ S("group:messaging"), LIST(o_messaging) }, { S("group:automation"), LIST(o_automation) },
	{ S("group:nodes"), LIST(o_nodes) }, { S("group:agents"), LIST(o_agents) }, { S("group:media"), LIST(o_media) },
	{ S("group:openclaw"), LIST(o_openclaw) },
};

static const struct str o_minimal[] = { S("session_status"), S("gateway") };
static const struct str o_coding[] = {
	S("ls"), S("read"), S("write"), S("edit"), S("apply_patch"), S("exec"), S("process"), S("code_execution"),
	S("secrets"), S("web_search"), S("web_fetch"), S("x_search"), S("memory_search"), S("memory_get"), O_SESSIONS_,
	S("screen"), S("theme"), S("dashboard"), S("terminal"), S("portal"), S("automations"), S("gateway"), S("plugins"),
	S("get_goal"), S("create_goal"), S("update_goal"), S("progress_card"), S("ask_user"), S("skill_workshop"),
	S("view_image"), S("image_generate"), S("music_generate"), S("video_generate"), S("bundle-mcp"),
};
static const struct str o_messaging_profile[] = {
	S("secrets"), S("sessions"), S("sessions_list"), S("sessions_history"), S("sessions_search"),
	S("conversations_list"), S("conversations_send"), S("conversations_turn"), S("sessions_send"),
	S("sessions_spawn"), S("sessions_yield"), S("subagents"), S("session_status"), S("theme"), S("message"),
	S("gateway"), S("ask_user"), S("bundle-mcp"),
};

static const struct str o_sandbox_allow[] = {
	S("exec"), S("process"), S("read"), S("ls"), S("write"), S("edit"), S("apply_patch"), S("view_image"),
	S("sessions_list"), S("sessions_history"), S("sessions_search"), S("sessions_send"), S("sessions_spawn"),
	S("sessions_yield"), S("subagents"), S("session_status"),
};
static const struct str o_sandbox_deny[] = {
	S("browser"), S("canvas"), S("computer"), S("mobile_ui"), S("nodes"), S("automations"), S("gateway"), CHANNELS_,
};
static const struct str o_subagent_deny[] = {
	S("gateway"), S("agents_list"), S("openclaw"), S("session_status"), S("progress_card"), S("automations"),
	S("message"), S("sessions_send"), S("conversations_list"), S("conversations_send"), S("conversations_turn"),
	S("subagents"), S("sessions_list"), S("sessions_history"), S("sessions_search"), S("sessions_spawn"),
};

static const struct str everything[] = { S("*") };

/* One column per version. */
static const struct {
	const struct tool_alias *aliases;
	const struct tool_group *groups;
	size_t n_groups;
	struct strs profiles[TOOL_PROFILE_FULL + 1];
	struct strs sandbox_allow, sandbox_deny, subagent_deny;
	struct str image_tool;
} versions[] = {
	[COMPAT_DOCUMENTS] = {
		.aliases = documents_aliases,
		.groups = documents_groups,
		.n_groups = COUNT(documents_groups),
		.profiles = {
			[TOOL_PROFILE_MINIMAL] = LIST(d_minimal),
			[TOOL_PROFILE_CODING] = LIST(d_coding),
			[TOOL_PROFILE_MESSAGING] = LIST(d_messaging_profile),
			[TOOL_PROFILE_FULL] = LIST(everything),
		},
		.sandbox_allow = LIST(d_sandbox_allow),
		.sandbox_deny = LIST(d_sandbox_deny),
		.subagent_deny = LIST(d_subagent_deny),
	},
	[COMPAT_OPENCLAW_2026_9] = {
		.aliases = openclaw_aliases,
		.groups = openclaw_groups,
		.n_groups = COUNT(openclaw_groups),
		.profiles = {
			[TOOL_PROFILE_MINIMAL] = LIST(o_minimal),
			[TOOL_PROFILE_CODING] = LIST(o_coding),
			[TOOL_PROFILE_MESSAGING] = LIST(o_messaging_profile),
			[TOOL_PROFILE_FULL] = LIST(everything),
		},
		.sandbox_allow = LIST(o_sandbox_allow),
		.sandbox_deny = LIST(o_sandbox_deny),
		.subagent_deny = LIST(o_subagent_deny),
		.image_tool = S("view_image"),
	},
};
/* clang-format on */
static_assert(COUNT(versions) == COMPAT_COUNT_, "every version has its tables");

const struct tool_alias *tool_aliases(enum compat compat)
{
	return versions[compat].aliases;
}

const struct tool_group *tool_groups(enum compat compat, size_t *ret_n)
{
	*ret_n = versions[compat].n_groups;
	return versions[compat].groups;
}

struct strs tool_profile_list(enum compat compat, enum tool_profile profile)
{
	return profile <= TOOL_PROFILE_FULL ? versions[compat].profiles[profile] : (struct strs){ 0 };
}

struct strs sandbox_default_allow(enum compat compat)
{
	return versions[compat].sandbox_allow;
}

struct strs sandbox_default_deny(enum compat compat)
{
	return versions[compat].sandbox_deny;
}

struct strs subagent_always_deny(enum compat compat)
{
	return versions[compat].subagent_deny;
}

struct str sandbox_image_tool(enum compat compat)
{
	return versions[compat].image_tool;
}

struct strs channel_ids(void)
{
	return (struct strs)LIST(channels);
}
