/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of the channels of openclaw.json from F to M.
 * creel reads of them only which tools a group has; the rest is here because a file with a wrong key is
 * refused by upstream, and so under compat.
 */
#include "config/openclaw_chat_priv.h"

#include <math.h>

/* clang-format off */
static const struct shape one_feishu_sticker_sets = { .kinds = K_STR, .text = TEXT_TRIMMED, .max_len = 64 };
static const struct shape one_feishu_sticker_sets2 = { .kinds = K_ARR,
	  .items = &one_feishu_sticker_sets, .min_items = 1, .max_items = 8 };
static const struct shape one_feishu_sticker_sets3 = { .kinds = K_OBJ,
	  .each = &one_feishu_sticker_sets2, .key_text = TEXT_FILE_NAME, .max_items = 256 };
static const struct shape_key feishu_markdown_keys[] = {
	{ "mode",       IS_WORD("native", "escape", "strip") },
	{ "tableMode",  IS_WORD("native", "ascii", "simple") },
	{ 0 },
};

static const struct shape_key feishu_groups_tools_keys[] = {
	{ "allow",  IS_LIST(oc_str) },
	{ "deny",   IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key feishu_groups_keys[] = {
	{ "requireMention",     IS_BOOL },
	{ "tools",              IS_OBJ(feishu_groups_tools_keys) },
	{ "skills",             IS_LIST(oc_str) },
	{ "enabled",            IS_BOOL },
	{ "allowFrom",          IS_LIST(oc_str_or_num) },
	{ "systemPrompt",       IS_STR },
	{ "groupSessionScope",  IS_WORD("group", "group_sender", "group_topic", "group_topic_sender") },
	{ "topicSessionMode",   IS_WORD("disabled", "enabled") },
	{ "replyInThread",      IS_WORD("disabled", "enabled") },
	{ 0 },
};

static const struct shape one_feishu_groups = IS_OBJ(feishu_groups_keys);
static const struct shape_key feishu_dms_keys[] = {
	{ "enabled",       IS_BOOL },
	{ "systemPrompt",  IS_STR },
	{ 0 },
};

static const struct shape one_feishu_dms = IS_OBJ(feishu_dms_keys);
static const struct shape_key feishu_heartbeat_visibility_keys[] = {
	{ "visibility",  IS_WORD("visible", "hidden") },
	{ "intervalMs",  IS_COUNT },
	{ 0 },
};

static const struct shape_key feishu_streaming_keys[] = {
	{ "mode",       IS_WORD("off", "partial") },
	{ "chunkMode",  IS_WORD("length", "newline") },
	{ "block",      IS_OBJ(oc_chat_streaming_block_keys) },
	{ 0 },
};

static const struct shape_key feishu_tools_keys[] = {
	{ "doc",      IS_BOOL },
	{ "chat",     IS_BOOL },
	{ "wiki",     IS_BOOL },
	{ "drive",    IS_BOOL },
	{ "perm",     IS_BOOL },
	{ "scopes",   IS_BOOL },
	{ "bitable",  IS_BOOL },
	{ 0 },
};

static const struct shape_key feishu_actions_keys[] = {
	{ "reactions",  IS_BOOL },
	{ "sticker",    IS_BOOL },
	{ 0 },
};

static const struct shape_key feishu_tts_keys[] = {
	{ "auto",            IS_WORD("off", "always", "inbound", "tagged") },
	{ "enabled",         IS_BOOL },
	{ "mode",            IS_WORD("final", "all") },
	{ "provider",        IS_STR },
	{ "persona",         IS_STR },
	{ "personas",        IS_MAP(oc_chat_one_voice_realtime_providers) },
	{ "summaryModel",    IS_STR },
	{ "modelOverrides",  IS_ANY_OBJ },
	{ "providers",       IS_MAP(oc_chat_one_voice_realtime_providers) },
	{ "prefsPath",       IS_STR },
	{ "maxTextLength",   IS_COUNT },
	{ "timeoutMs",       IS_INT(1000, 120000) },
	{ 0 },
};

static const struct shape_key feishu_dynamic_agent_creation_keys[] = {
	{ "enabled",            IS_BOOL },
	{ "workspaceTemplate",  IS_STR },
	{ "agentDirTemplate",   IS_STR },
	{ "maxAgents",          IS_COUNT },
	{ 0 },
};

static const struct shape_key feishu_keys[] = {
	{ "enabled",                IS_BOOL },
	{ "defaultAccount",         IS_STR, KEY_TOP },
	{ "stickerSets",            { .kinds = K_OBJ, .each = &one_feishu_sticker_sets3,
	  .key_text = TEXT_TRIMMED, .max_items = 32 }, KEY_TOP },
	{ "appId",                  IS_STR },
	{ "appSecret",              IS_SECRET },
	{ "encryptKey",             IS_SECRET },
	{ "verificationToken",      IS_SECRET },
	{ "domain",                 IS_SPELLED(TEXT_FEISHU) },
	{ "connectionMode",         IS_WORD("websocket", "webhook") },
	{ "webhookPath",            IS_STR },
	{ "webhookHost",            IS_STR },
	{ "webhookPort",            IS_COUNT },
	{ "capabilities",           IS_LIST(oc_str) },
	{ "markdown",               IS_OBJ(feishu_markdown_keys) },
	{ "configWrites",           IS_BOOL },
	{ "contextVisibility",      IS_WORD("all", "allowlist", "allowlist_quote") },
	{ "replyToMode",            IS_WORD("off", "first", "all", "batched") },
	{ "responsePrefix",         IS_STR },
	{ "dmPolicy",               IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "allowFrom",              IS_LIST(oc_str_or_num) },
	{ "groupPolicy",            IS_WORD("open", "disabled", "allowlist", "allowall") },
	{ "groupAllowFrom",         IS_LIST(oc_str_or_num) },
	{ "groupSenderAllowFrom",   IS_LIST(oc_str_or_num) },
	{ "requireMention",         IS_BOOL },
	{ "groups",                 IS_MAP(one_feishu_groups) },
	{ "historyLimit",           IS_SIZE },
	{ "dmHistoryLimit",         IS_SIZE },
	{ "dms",                    IS_MAP(one_feishu_dms) },
	{ "textChunkLimit",         IS_COUNT },
	{ "mediaMaxMb",             IS_ABOVE_0 },
	{ "httpTimeoutMs",          IS_INT(1, 300000) },
	{ "heartbeatVisibility",    IS_OBJ(feishu_heartbeat_visibility_keys) },
	{ "renderMode",             IS_WORD("auto", "raw", "card") },
	{ "streaming",              IS_OBJ(feishu_streaming_keys) },
	{ "tools",                  IS_OBJ(feishu_tools_keys) },
	{ "actions",                IS_OBJ(feishu_actions_keys) },
	{ "replyInThread",          IS_WORD("disabled", "enabled") },
	{ "reactionNotifications",  IS_WORD("off", "own", "all") },
	{ "typingIndicator",        IS_BOOL },
	{ "resolveSenderNames",     IS_BOOL },
	{ "allowBots",              IS_BOOL },
	{ "vcAutoJoin",             IS_BOOL },
	{ "tts",                    IS_OBJ(feishu_tts_keys) },
	{ "groupSessionScope",      IS_WORD("group", "group_sender", "group_topic", "group_topic_sender") },
	{ "topicSessionMode",       IS_WORD("disabled", "enabled") },
	{ "dynamicAgentCreation",   IS_OBJ(feishu_dynamic_agent_creation_keys), KEY_TOP },
	{ "accounts",               IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "name",                   IS_STR, KEY_BELOW },
	{ 0 },
};

static const struct shape_key googlechat_groups_keys[] = {
	{ "enabled",            IS_BOOL },
	{ "requireMention",     IS_BOOL },
	{ "botLoopProtection",  IS_OBJ(oc_chat_bot_loop_protection_keys) },
	{ "users",              IS_LIST(oc_str_or_num) },
	{ "systemPrompt",       IS_STR },
	{ 0 },
};

static const struct shape one_googlechat_groups = IS_OBJ(googlechat_groups_keys);
static const struct shape_key googlechat_keys[] = {
	{ "name",                          IS_STR },
	{ "capabilities",                  IS_LIST(oc_str) },
	{ "markdown",                      IS_OBJ(oc_chat_markdown_keys) },
	{ "configWrites",                  IS_BOOL },
	{ "enabled",                       IS_BOOL },
	{ "dmPolicy",                      IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "allowFrom",                     IS_LIST(oc_str_or_num) },
	{ "defaultTo",                     IS_STR },
	{ "groupAllowFrom",                IS_LIST(oc_str_or_num) },
	{ "groupPolicy",                   IS_WORD("open", "disabled", "allowlist") },
	{ "contextVisibility",             IS_WORD("all", "allowlist", "allowlist_quote") },
	{ "historyLimit",                  IS_SIZE },
	{ "dmHistoryLimit",                IS_SIZE },
	{ "dms",                           IS_MAP(oc_chat_one_dms) },
	{ "textChunkLimit",                IS_COUNT },
	{ "streaming",                     IS_OBJ(oc_chat_streaming_keys_too) },
	{ "heartbeatVisibility",           IS_OBJ(oc_chat_heartbeat_visibility_keys) },
	{ "healthMonitor",                 IS_OBJ(oc_chat_health_monitor_keys) },
	{ "responsePrefix",                IS_STR },
	{ "mediaMaxMb",                    IS_ABOVE_0 },
	{ "replyToMode",                   IS_WORD("off", "first", "all", "batched") },
	{ "allowBots",                     IS_BOOL },
	{ "botLoopProtection",             IS_OBJ(oc_chat_bot_loop_protection_keys) },
	{ "dangerouslyAllowNameMatching",  IS_BOOL },
	{ "requireMention",                IS_BOOL },
	{ "groups",                        IS_MAP(one_googlechat_groups) },
	{ "serviceAccount",                { .kinds = K_STR | K_OBJ, .each = &oc_any } },
	{ "serviceAccountFile",            IS_STR },
	{ "audienceType",                  IS_WORD("app-url", "project-number") },
	{ "audience",                      IS_STR },
	{ "appPrincipal",                  IS_STR },
	{ "webhookPath",                   IS_STR },
	{ "webhookUrl",                    IS_STR },
	{ "botUser",                       IS_STR },
	{ "dm",                            IS_OBJ(oc_chat_health_monitor_keys) },
	{ "typingIndicator",               IS_WORD("none", "message", "reaction") },
	{ "accounts",                      IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",                IS_STR, KEY_TOP },
	{ 0 },
};

static const struct shape_key imessage_actions_keys[] = {
	{ "reactions",          IS_BOOL },
	{ "edit",               IS_BOOL },
	{ "unsend",             IS_BOOL },
	{ "reply",              IS_BOOL },
	{ "sendWithEffect",     IS_BOOL },
	{ "renameGroup",        IS_BOOL },
	{ "setGroupIcon",       IS_BOOL },
	{ "addParticipant",     IS_BOOL },
	{ "removeParticipant",  IS_BOOL },
	{ "leaveGroup",         IS_BOOL },
	{ "sendAttachment",     IS_BOOL },
	{ "polls",              IS_BOOL },
	{ 0 },
};

static const struct shape_key imessage_catchup_keys[] = {
	{ "enabled",                  IS_BOOL },
	{ "maxAgeMinutes",            IS_INT(1, 720) },
	{ "perRunLimit",              IS_INT(1, 500) },
	{ "firstRunLookbackMinutes",  IS_INT(1, 720) },
	{ "maxFailureRetries",        IS_INT(1, 1000) },
	{ 0 },
};

static const struct shape_key imessage_keys[] = {
	{ "name",                   IS_STR },
	{ "capabilities",           IS_LIST(oc_str) },
	{ "markdown",               IS_OBJ(oc_chat_markdown_keys) },
	{ "configWrites",           IS_BOOL },
	{ "enabled",                IS_BOOL },
	{ "dmPolicy",               IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "allowFrom",              IS_LIST(oc_str_or_num) },
	{ "defaultTo",              IS_STR },
	{ "groupAllowFrom",         IS_LIST(oc_str_or_num) },
	{ "groupPolicy",            IS_WORD("open", "disabled", "allowlist") },
	{ "contextVisibility",      IS_WORD("all", "allowlist", "allowlist_quote") },
	{ "historyLimit",           IS_SIZE },
	{ "dmHistoryLimit",         IS_SIZE },
	{ "dms",                    IS_MAP(oc_chat_one_dms) },
	{ "textChunkLimit",         IS_COUNT },
	{ "streaming",              IS_OBJ(oc_chat_streaming_keys_too) },
	{ "heartbeatVisibility",    IS_OBJ(oc_chat_heartbeat_visibility_keys) },
	{ "healthMonitor",          IS_OBJ(oc_chat_health_monitor_keys) },
	{ "responsePrefix",         IS_STR },
	{ "mediaMaxMb",             IS_COUNT },
	{ "cliPath",                IS_STR },
	{ "dbPath",                 IS_STR },
	{ "remoteHost",             IS_STR },
	{ "actions",                IS_OBJ(imessage_actions_keys) },
	{ "service",                IS_WORD("imessage", "sms", "auto") },
	{ "sendTransport",          IS_WORD("auto", "bridge", "applescript") },
	{ "region",                 IS_STR },
	{ "includeAttachments",     IS_BOOL },
	{ "attachmentRoots",        IS_LIST(oc_str) },
	{ "remoteAttachmentRoots",  IS_LIST(oc_str) },
	{ "probeTimeoutMs",         IS_COUNT },
	{ "sendReadReceipts",       IS_BOOL },
	{ "reactionNotifications",  IS_WORD("off", "own", "all") },
	{ "catchup",                IS_OBJ(imessage_catchup_keys) },
	{ "groups",                 IS_MAP(oc_chat_one_groups) },
	{ "accounts",               IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",         IS_STR, KEY_TOP },
	{ 0 },
};

static const struct shape_key irc_nickserv_keys[] = {
	{ "enabled",        IS_BOOL },
	{ "service",        IS_STR },
	{ "password",       IS_STR },
	{ "passwordFile",   IS_STR },
	{ "register",       IS_BOOL },
	{ "registerEmail",  IS_STR },
	{ 0 },
};

static const struct shape_key irc_groups_keys[] = {
	{ "requireMention",  IS_BOOL },
	{ "tools",           IS_OBJ(oc_chat_guilds_tools_keys) },
	{ "toolsBySender",   IS_MAP(oc_chat_one_guilds_tools_by_sender) },
	{ "skills",          IS_LIST(oc_str) },
	{ "enabled",         IS_BOOL },
	{ "allowFrom",       IS_LIST(oc_str_or_num) },
	{ "systemPrompt",    IS_STR },
	{ 0 },
};

static const struct shape one_irc_groups = IS_OBJ(irc_groups_keys);
static const struct shape_key irc_keys[] = {
	{ "name",                          IS_STR },
	{ "enabled",                       IS_BOOL },
	{ "configWrites",                  IS_BOOL },
	{ "healthMonitor",                 IS_OBJ(oc_chat_health_monitor_keys) },
	{ "replyToMode",                   IS_WORD("off", "first", "all", "batched") },
	{ "dangerouslyAllowNameMatching",  IS_BOOL },
	{ "host",                          IS_STR },
	{ "port",                          IS_INT(1, 65535) },
	{ "tls",                           IS_BOOL },
	{ "nick",                          IS_STR },
	{ "username",                      IS_STR },
	{ "realname",                      IS_STR },
	{ "password",                      IS_STR },
	{ "passwordFile",                  IS_STR },
	{ "nickserv",                      IS_OBJ(irc_nickserv_keys) },
	{ "dmPolicy",                      IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "allowFrom",                     IS_LIST(oc_str_or_num) },
	{ "groupPolicy",                   IS_WORD("open", "disabled", "allowlist") },
	{ "groupAllowFrom",                IS_LIST(oc_str_or_num) },
	{ "groups",                        IS_MAP(one_irc_groups) },
	{ "channels",                      IS_LIST(oc_str) },
	{ "markdown",                      IS_OBJ(oc_chat_markdown_keys) },
	{ "historyLimit",                  IS_SIZE },
	{ "dmHistoryLimit",                IS_SIZE },
	{ "contextVisibility",             IS_WORD("all", "allowlist", "allowlist_quote") },
	{ "dms",                           IS_MAP(oc_chat_one_dms) },
	{ "textChunkLimit",                IS_COUNT },
	{ "streaming",                     IS_OBJ(oc_chat_streaming_keys_too) },
	{ "responsePrefix",                IS_STR },
	{ "mediaMaxMb",                    IS_ABOVE_0 },
	{ "accounts",                      IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",                IS_STR, KEY_TOP },
	{ 0 },
};

static const struct shape_key line_thread_bindings_keys[] = {
	{ "enabled",              IS_BOOL },
	{ "idleHours",            { .kinds = K_NUM } },
	{ "maxAgeHours",          { .kinds = K_NUM } },
	{ "spawnSessions",        IS_BOOL },
	{ "defaultSpawnContext",  IS_WORD("isolated", "fork") },
	{ 0 },
};

static const struct shape_key line_groups_keys[] = {
	{ "requireMention",  IS_BOOL },
	{ "skills",          IS_LIST(oc_str) },
	{ "enabled",         IS_BOOL },
	{ "allowFrom",       IS_LIST(oc_str_or_num) },
	{ "systemPrompt",    IS_STR },
	{ 0 },
};

static const struct shape one_line_groups = IS_OBJ(line_groups_keys);
static const struct shape_key line_keys[] = {
	{ "enabled",             IS_BOOL },
	{ "configWrites",        IS_BOOL },
	{ "joinIntro",           IS_BOOL },
	{ "historyLimit",        IS_SIZE },
	{ "channelAccessToken",  IS_STR },
	{ "channelSecret",       IS_STR },
	{ "tokenFile",           IS_STR },
	{ "secretFile",          IS_STR },
	{ "name",                IS_STR },
	{ "allowFrom",           IS_LIST(oc_str_or_num) },
	{ "groupAllowFrom",      IS_LIST(oc_str_or_num) },
	{ "dmPolicy",            IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "groupPolicy",         IS_WORD("open", "disabled", "allowlist") },
	{ "responsePrefix",      IS_STR },
	{ "replyToMode",         IS_WORD("off", "first", "all") },
	{ "streaming",           IS_OBJ(oc_chat_streaming_keys_too) },
	{ "mediaMaxMb",          { .kinds = K_NUM } },
	{ "webhookPath",         IS_STR },
	{ "threadBindings",      IS_OBJ(line_thread_bindings_keys) },
	{ "groups",              IS_MAP(one_line_groups) },
	{ "accounts",            IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",      IS_STR, KEY_TOP },
	{ 0 },
};

static const struct shape_key matrix_accounts_keys[] = {
	{ "joinIntro",    IS_BOOL },
	{ "accessToken",  IS_SECRET },
	{ "password",     IS_SECRET },
	{ 0 },
};

static const struct shape one_matrix_accounts = { .kinds = K_OBJ, .keys = matrix_accounts_keys,
	  .each = &oc_any };
static const struct shape_key matrix_streaming_preview_keys[] = {
	{ "toolProgress",  IS_BOOL },
	{ 0 },
};

static const struct shape_key matrix_streaming_keys[] = {
	{ "mode",       IS_WORD("partial", "quiet", "progress", "off") },
	{ "chunkMode",  IS_WORD("length", "newline") },
	{ "block",      IS_OBJ(oc_chat_streaming_block_keys) },
	{ "progress",   IS_OBJ(oc_chat_streaming_progress_keys_too) },
	{ "preview",    IS_OBJ(matrix_streaming_preview_keys) },
	{ 0 },
};

static const struct shape_key matrix_dm_keys[] = {
	{ "enabled",        IS_BOOL },
	{ "policy",         IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "allowFrom",      IS_LIST(oc_str_or_num) },
	{ "sessionScope",   IS_WORD("per-user", "per-room") },
	{ "threadReplies",  IS_WORD("off", "inbound", "always") },
	{ 0 },
};

static const struct shape_key matrix_groups_keys[] = {
	{ "requireMention",     IS_BOOL },
	{ "tools",              IS_OBJ(oc_chat_guilds_tools_keys) },
	{ "skills",             IS_LIST(oc_str) },
	{ "enabled",            IS_BOOL },
	{ "systemPrompt",       IS_STR },
	{ "account",            IS_STR },
	{ "allowBots",          { .kinds = K_BOOL | K_STR, .words = WORDS_OF("mentions") } },
	{ "botLoopProtection",  IS_OBJ(oc_chat_bot_loop_protection_keys) },
	{ "autoReply",          IS_BOOL },
	{ "users",              IS_LIST(oc_str_or_num) },
	{ 0 },
};

static const struct shape one_matrix_groups = IS_OBJ(matrix_groups_keys);
static const struct shape_key matrix_actions_keys[] = {
	{ "reactions",     IS_BOOL },
	{ "messages",      IS_BOOL },
	{ "pins",          IS_BOOL },
	{ "profile",       IS_BOOL },
	{ "memberInfo",    IS_BOOL },
	{ "channelInfo",   IS_BOOL },
	{ "verification",  IS_BOOL },
	{ 0 },
};

static const struct shape_key matrix_keys[] = {
	{ "name",                              IS_STR },
	{ "enabled",                           IS_BOOL },
	{ "configWrites",                      IS_BOOL },
	{ "joinIntro",                         IS_BOOL },
	{ "defaultAccount",                    IS_STR },
	{ "accounts",                          IS_MAP(one_matrix_accounts) },
	{ "markdown",                          IS_OBJ(oc_chat_markdown_keys) },
	{ "homeserver",                        IS_STR },
	{ "network",                           IS_OBJ(oc_chat_network_keys) },
	{ "proxy",                             IS_STR },
	{ "userId",                            IS_STR },
	{ "accessToken",                       IS_SECRET },
	{ "password",                          IS_SECRET },
	{ "deviceId",                          IS_STR },
	{ "deviceName",                        IS_STR },
	{ "avatarUrl",                         IS_STR },
	{ "initialSyncLimit",                  { .kinds = K_NUM } },
	{ "encryption",                        IS_BOOL },
	{ "allowlistOnly",                     IS_BOOL },
	{ "dangerouslyAllowNameMatching",      IS_BOOL },
	{ "allowBots",                         { .kinds = K_BOOL | K_STR, .words = WORDS_OF("mentions") } },
	{ "botLoopProtection",                 IS_OBJ(oc_chat_bot_loop_protection_keys) },
	{ "groupPolicy",                       IS_WORD("open", "disabled", "allowlist") },
	{ "mentionPatterns",                   IS_OBJ(oc_chat_mention_patterns_keys) },
	{ "contextVisibility",                 IS_WORD("all", "allowlist", "allowlist_quote") },
	{ "streaming",                         IS_OBJ(matrix_streaming_keys) },
	{ "replyToMode",                       IS_WORD("off", "first", "all", "batched") },
	{ "threadReplies",                     IS_WORD("off", "inbound", "always") },
	{ "textChunkLimit",                    { .kinds = K_NUM } },
	{ "responsePrefix",                    IS_STR },
	{ "ackReaction",                       IS_STR },
	{ "ackReactionScope",                  IS_WORD("group-mentions", "group-all", "direct", "all",
	  "none", "off") },
	{ "reactionNotifications",             IS_WORD("off", "own") },
	{ "threadBindings",                    IS_OBJ(oc_chat_thread_bindings_keys) },
	{ "startupVerification",               IS_WORD("off", "if-unverified") },
	{ "startupVerificationCooldownHours",  { .kinds = K_NUM } },
	{ "mediaMaxMb",                        { .kinds = K_NUM } },
	{ "historyLimit",                      IS_SIZE },
	{ "autoJoin",                          IS_WORD("always", "allowlist", "off") },
	{ "autoJoinAllowlist",                 IS_LIST(oc_str_or_num) },
	{ "groupAllowFrom",                    IS_LIST(oc_str_or_num) },
	{ "dm",                                IS_OBJ(matrix_dm_keys) },
	{ "execApprovals",                     IS_OBJ(oc_chat_exec_approvals_keys) },
	{ "groups",                            IS_MAP(one_matrix_groups) },
	{ "rooms",                             IS_MAP(one_matrix_groups) },
	{ "actions",                           IS_OBJ(matrix_actions_keys) },
	{ 0 },
};

const struct shape oc_chat_feishu = IS_OBJ(feishu_keys);
const struct shape oc_chat_googlechat = IS_OBJ(googlechat_keys);
const struct shape oc_chat_imessage = IS_OBJ(imessage_keys);
const struct shape oc_chat_irc = IS_OBJ(irc_keys);
const struct shape oc_chat_line = IS_OBJ(line_keys);
const struct shape oc_chat_matrix = IS_OBJ(matrix_keys);
/* clang-format on */
