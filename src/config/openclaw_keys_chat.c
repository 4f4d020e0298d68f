/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several channels of openclaw.json have in common, and all of them by name.
 * creel reads of them only which tools a group has; the rest is here because a file with a wrong key is
 * refused by upstream, and so under compat.
 */
#include "config/openclaw_chat_priv.h"

#include <math.h>

/* clang-format off */
const struct shape_key oc_chat_markdown_keys[] = {
	{ "tables",  IS_WORD("off", "bullets", "code", "block") },
	{ 0 },
};

const struct shape_key oc_chat_bot_loop_protection_keys[] = {
	{ "enabled",             IS_BOOL },
	{ "maxEventsPerWindow",  IS_COUNT },
	{ "windowSeconds",       IS_COUNT },
	{ "cooldownSeconds",     IS_COUNT },
	{ 0 },
};

const struct shape_key oc_chat_mention_patterns_keys[] = {
	{ "mode",     IS_WORD("allow", "deny") },
	{ "allowIn",  IS_LIST(oc_str) },
	{ "denyIn",   IS_LIST(oc_str) },
	{ 0 },
};

const struct shape_key oc_chat_dms_keys[] = {
	{ "historyLimit",  IS_SIZE },
	{ 0 },
};

const struct shape oc_chat_one_dms = IS_OBJ(oc_chat_dms_keys);
const struct shape_key oc_chat_streaming_preview_chunk_keys[] = {
	{ "minChars",         IS_COUNT },
	{ "maxChars",         IS_COUNT },
	{ "breakPreference",  IS_WORD("paragraph", "newline", "sentence") },
	{ 0 },
};

const struct shape_key oc_chat_streaming_preview_keys[] = {
	{ "chunk",         IS_OBJ(oc_chat_streaming_preview_chunk_keys) },
	{ "toolProgress",  IS_BOOL },
	{ "commandText",   IS_WORD("raw", "status") },
	{ 0 },
};

const struct shape_key oc_chat_streaming_progress_keys[] = {
	{ "label",         { .kinds = K_STR | K_BOOL, .check = CHECK_FALSE } },
	{ "labels",        IS_LIST(oc_str) },
	{ "maxLines",      IS_COUNT },
	{ "maxLineChars",  IS_COUNT },
	{ "toolProgress",  IS_BOOL },
	{ "commandText",   IS_WORD("raw", "status") },
	{ "commentary",    IS_BOOL },
	{ "narration",     IS_BOOL },
	{ 0 },
};

const struct shape_key oc_chat_streaming_block_coalesce_keys[] = {
	{ "minChars",  IS_COUNT },
	{ "maxChars",  IS_COUNT },
	{ "idleMs",    IS_SIZE },
	{ 0 },
};

const struct shape_key oc_chat_streaming_block_keys[] = {
	{ "enabled",   IS_BOOL },
	{ "coalesce",  IS_OBJ(oc_chat_streaming_block_coalesce_keys) },
	{ 0 },
};

const struct shape_key oc_chat_streaming_keys[] = {
	{ "mode",       IS_WORD("off", "partial", "block", "progress") },
	{ "chunkMode",  IS_WORD("length", "newline") },
	{ "preview",    IS_OBJ(oc_chat_streaming_preview_keys) },
	{ "progress",   IS_OBJ(oc_chat_streaming_progress_keys) },
	{ "block",      IS_OBJ(oc_chat_streaming_block_keys) },
	{ 0 },
};

const struct shape_key oc_chat_heartbeat_visibility_keys[] = {
	{ "showOk",        IS_BOOL },
	{ "showAlerts",    IS_BOOL },
	{ "useIndicator",  IS_BOOL },
	{ 0 },
};

const struct shape_key oc_chat_health_monitor_keys[] = {
	{ "enabled",  IS_BOOL },
	{ 0 },
};

const struct shape_key oc_chat_commands_keys[] = {
	{ "native",        { .kinds = K_BOOL | K_STR, .words = WORDS_OF("auto") } },
	{ "nativeSkills",  { .kinds = K_BOOL | K_STR, .words = WORDS_OF("auto") } },
	{ 0 },
};

const struct shape_key oc_chat_guilds_tools_keys[] = {
	{ "allow",      IS_LIST(oc_str) },
	{ "alsoAllow",  IS_LIST(oc_str) },
	{ "deny",       IS_LIST(oc_str) },
	{ 0 },
};

const struct shape oc_chat_one_guilds_tools_by_sender = IS_OBJ(oc_chat_guilds_tools_keys);
const struct shape_key oc_chat_thread_bindings_keys[] = {
	{ "enabled",              IS_BOOL },
	{ "idleHours",            IS_NUM(0, HUGE_VAL) },
	{ "maxAgeHours",          IS_NUM(0, HUGE_VAL) },
	{ "spawnSessions",        IS_BOOL },
	{ "defaultSpawnContext",  IS_WORD("isolated", "fork") },
	{ 0 },
};

const struct shape oc_chat_one_voice_realtime_providers = IS_ANY_OBJ;
const struct shape_key oc_chat_streaming_keys_too[] = {
	{ "chunkMode",  IS_WORD("length", "newline") },
	{ "block",      IS_OBJ(oc_chat_streaming_block_keys) },
	{ 0 },
};

const struct shape_key oc_chat_groups_keys[] = {
	{ "requireMention",  IS_BOOL },
	{ "tools",           IS_OBJ(oc_chat_guilds_tools_keys) },
	{ "toolsBySender",   IS_MAP(oc_chat_one_guilds_tools_by_sender) },
	{ "systemPrompt",    IS_STR },
	{ 0 },
};

const struct shape oc_chat_one_groups = IS_OBJ(oc_chat_groups_keys);
const struct shape_key oc_chat_network_keys[] = {
	{ "dangerouslyAllowPrivateNetwork",  IS_BOOL },
	{ 0 },
};

const struct shape_key oc_chat_streaming_progress_keys_too[] = {
	{ "label",         { .kinds = K_STR | K_BOOL, .check = CHECK_FALSE } },
	{ "labels",        IS_LIST(oc_str) },
	{ "maxLines",      IS_COUNT },
	{ "maxLineChars",  IS_COUNT },
	{ "toolProgress",  IS_BOOL },
	{ "commandText",   IS_WORD("raw", "status") },
	{ 0 },
};

const struct shape_key oc_chat_exec_approvals_keys[] = {
	{ "enabled",        { .kinds = K_BOOL | K_STR, .words = WORDS_OF("auto") } },
	{ "approvers",      IS_LIST(oc_str_or_num) },
	{ "agentFilter",    IS_LIST(oc_str) },
	{ "sessionFilter",  IS_LIST(oc_str) },
	{ "target",         IS_WORD("dm", "channel", "both") },
	{ 0 },
};

const struct shape_key oc_chat_implicit_mentions_keys[] = {
	{ "replyToBot",           IS_BOOL },
	{ "quotedBot",            IS_BOOL },
	{ "threadParticipation",  IS_BOOL },
	{ 0 },
};


static const struct shape_key defaults_keys[] = {
	{ "groupPolicy",          IS_WORD("open", "disabled", "allowlist") },
	{ "contextVisibility",    IS_WORD("all", "allowlist", "allowlist_quote") },
	{ "heartbeatVisibility",  IS_OBJ(oc_chat_heartbeat_visibility_keys) },
	{ "botLoopProtection",    IS_OBJ(oc_chat_bot_loop_protection_keys) },
	{ "implicitMentions",     IS_OBJ(oc_chat_implicit_mentions_keys) },
	{ 0 },
};

static const struct shape one_model_by_channel = IS_MAP(oc_str);

const struct shape_key oc_channels_keys[] = {
	{ "defaults",        IS_OBJ(defaults_keys) },
	{ "modelByChannel",  IS_MAP(one_model_by_channel) },
	{ "a2a",             { .kinds = K_OBJ, .same = &oc_chat_a2a } },
	{ "buzz",            { .kinds = K_OBJ, .same = &oc_chat_buzz } },
	{ "clickclack",      { .kinds = K_OBJ, .same = &oc_chat_clickclack } },
	{ "discord",         { .kinds = K_OBJ, .same = &oc_chat_discord } },
	{ "feishu",          { .kinds = K_OBJ, .same = &oc_chat_feishu } },
	{ "googlechat",      { .kinds = K_OBJ, .same = &oc_chat_googlechat } },
	{ "imessage",        { .kinds = K_OBJ, .same = &oc_chat_imessage } },
	{ "irc",             { .kinds = K_OBJ, .same = &oc_chat_irc } },
	{ "line",            { .kinds = K_OBJ, .same = &oc_chat_line } },
	{ "matrix",          { .kinds = K_OBJ, .same = &oc_chat_matrix } },
	{ "mattermost",      { .kinds = K_OBJ, .same = &oc_chat_mattermost } },
	{ "msteams",         { .kinds = K_OBJ, .same = &oc_chat_msteams } },
	{ "nextcloud-talk",  { .kinds = K_OBJ, .same = &oc_chat_nextcloud_talk } },
	{ "nostr",           { .kinds = K_OBJ, .same = &oc_chat_nostr } },
	{ "raft",            { .kinds = K_OBJ, .same = &oc_chat_raft } },
	{ "reef",            { .kinds = K_OBJ, .same = &oc_chat_reef } },
	{ "signal",          { .kinds = K_OBJ, .same = &oc_chat_signal } },
	{ "slack",           { .kinds = K_OBJ, .same = &oc_chat_slack } },
	{ "sms",             { .kinds = K_OBJ, .same = &oc_chat_sms } },
	{ "synology-chat",   { .kinds = K_OBJ, .same = &oc_chat_synology_chat } },
	{ "telegram",        { .kinds = K_OBJ, .same = &oc_chat_telegram } },
	{ "tlon",            { .kinds = K_OBJ, .same = &oc_chat_tlon } },
	{ "twitch",          { .kinds = K_OBJ, .same = &oc_chat_twitch } },
	{ "whatsapp",        { .kinds = K_OBJ, .same = &oc_chat_whatsapp } },
	{ "zalo",            { .kinds = K_OBJ, .same = &oc_chat_zalo } },
	{ "zalouser",        { .kinds = K_OBJ, .same = &oc_chat_zalouser } },
	{ 0 },
};
/* clang-format on */
