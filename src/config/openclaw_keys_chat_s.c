/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of the channels of openclaw.json from S to Z.
 * creel reads of them only which tools a group has; the rest is here because a file with a wrong key is
 * refused by upstream, and so under compat.
 */
#include "config/openclaw_chat_priv.h"

#include <math.h>

/* clang-format off */
static const struct shape_key slack_streaming_progress_keys[] = {
	{ "label",            { .kinds = K_STR | K_BOOL, .check = CHECK_FALSE } },
	{ "labels",           IS_LIST(oc_str) },
	{ "maxLines",         IS_COUNT },
	{ "maxLineChars",     IS_COUNT },
	{ "toolProgress",     IS_BOOL },
	{ "commandText",      IS_WORD("raw", "status") },
	{ "commentary",       IS_BOOL },
	{ "narration",        IS_BOOL },
	{ "style",            IS_WORD("card", "compact") },
	{ "nativeTaskCards",  IS_BOOL },
	{ 0 },
};

static const struct shape_key slack_streaming_keys[] = {
	{ "mode",             IS_WORD("off", "partial", "block", "progress") },
	{ "chunkMode",        IS_WORD("length", "newline") },
	{ "preview",          IS_OBJ(oc_chat_streaming_preview_keys) },
	{ "progress",         IS_OBJ(slack_streaming_progress_keys) },
	{ "block",            IS_OBJ(oc_chat_streaming_block_keys) },
	{ "nativeTransport",  IS_BOOL },
	{ 0 },
};

static const struct shape_key slack_relay_keys[] = {
	{ "url",        IS_STR },
	{ "authToken",  IS_SECRET },
	{ "gatewayId",  IS_STR },
	{ 0 },
};

static const struct shape_key slack_reply_to_mode_by_chat_type_keys[] = {
	{ "direct",   IS_WORD("off", "first", "all", "batched") },
	{ "group",    IS_WORD("off", "first", "all", "batched") },
	{ "channel",  IS_WORD("off", "first", "all", "batched") },
	{ 0 },
};

static const struct shape_key slack_thread_keys[] = {
	{ "historyScope",         IS_WORD("thread", "channel") },
	{ "inheritParent",        IS_BOOL },
	{ "initialHistoryLimit",  IS_SIZE },
	{ 0 },
};

static const struct shape_key slack_presence_events_keys[] = {
	{ "mode",    IS_WORD("off", "auto", "on") },
	{ "prompt",  { .kinds = K_STR, .max_len = 20000 } },
	{ 0 },
};

static const struct shape_key slack_actions_keys[] = {
	{ "reactions",    IS_BOOL },
	{ "messages",     IS_BOOL },
	{ "pins",         IS_BOOL },
	{ "search",       IS_BOOL },
	{ "permissions",  IS_BOOL },
	{ "memberInfo",   IS_BOOL },
	{ "channelInfo",  IS_BOOL },
	{ "emojiList",    IS_BOOL },
	{ 0 },
};

static const struct shape_key slack_slash_command_keys[] = {
	{ "enabled",        IS_BOOL },
	{ "name",           IS_STR },
	{ "sessionPrefix",  IS_STR },
	{ "ephemeral",      IS_BOOL },
	{ 0 },
};

static const struct shape_key slack_dm_keys[] = {
	{ "enabled",        IS_BOOL },
	{ "groupEnabled",   IS_BOOL },
	{ "groupChannels",  IS_LIST(oc_str_or_num) },
	{ 0 },
};

static const struct shape_key slack_channels_keys[] = {
	{ "requireMention",       IS_BOOL },
	{ "tools",                IS_OBJ(oc_chat_guilds_tools_keys) },
	{ "toolsBySender",        IS_MAP(oc_chat_one_guilds_tools_by_sender) },
	{ "skills",               IS_LIST(oc_str) },
	{ "enabled",              IS_BOOL },
	{ "systemPrompt",         IS_STR },
	{ "ignoreOtherMentions",  IS_BOOL },
	{ "replyToMode",          IS_WORD("off", "first", "all", "batched") },
	{ "allowBots",            { .kinds = K_BOOL | K_STR, .words = WORDS_OF("mentions") } },
	{ "botLoopProtection",    IS_OBJ(oc_chat_bot_loop_protection_keys) },
	{ "users",                IS_LIST(oc_str_or_num) },
	{ "presenceEvents",       IS_OBJ(slack_presence_events_keys) },
	{ 0 },
};

static const struct shape one_slack_channels = IS_OBJ(slack_channels_keys);
static const struct shape_key slack_keys[] = {
	{ "name",                          IS_STR },
	{ "capabilities",                  IS_LIST(oc_str) },
	{ "markdown",                      IS_OBJ(oc_chat_markdown_keys) },
	{ "configWrites",                  IS_BOOL },
	{ "enabled",                       IS_BOOL },
	{ "dmPolicy",                      IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "allowFrom",                     IS_LIST(oc_str_or_num) },
	{ "defaultTo",                     IS_STR },
	{ "groupPolicy",                   IS_WORD("open", "disabled", "allowlist") },
	{ "mentionPatterns",               IS_OBJ(oc_chat_mention_patterns_keys) },
	{ "contextVisibility",             IS_WORD("all", "allowlist", "allowlist_quote") },
	{ "historyLimit",                  IS_SIZE },
	{ "dmHistoryLimit",                IS_SIZE },
	{ "dms",                           IS_MAP(oc_chat_one_dms) },
	{ "textChunkLimit",                IS_COUNT },
	{ "streaming",                     IS_OBJ(slack_streaming_keys) },
	{ "heartbeatVisibility",           IS_OBJ(oc_chat_heartbeat_visibility_keys) },
	{ "healthMonitor",                 IS_OBJ(oc_chat_health_monitor_keys) },
	{ "responsePrefix",                IS_STR },
	{ "mediaMaxMb",                    IS_ABOVE_0 },
	{ "replyToMode",                   IS_WORD("off", "first", "all", "batched") },
	{ "joinIntro",                     IS_BOOL },
	{ "postAs",                        IS_WORD("bot", "user") },
	{ "mode",                          IS_WORD("socket", "http", "relay") },
	{ "relay",                         IS_OBJ(slack_relay_keys) },
	{ "signingSecret",                 IS_SECRET },
	{ "webhookPath",                   IS_STR },
	{ "execApprovals",                 IS_OBJ(oc_chat_exec_approvals_keys) },
	{ "commands",                      IS_OBJ(oc_chat_commands_keys) },
	{ "botToken",                      IS_SECRET },
	{ "appToken",                      IS_SECRET },
	{ "userToken",                     IS_SECRET },
	{ "userTokenReadOnly",             IS_BOOL },
	{ "allowBots",                     { .kinds = K_BOOL | K_STR, .words = WORDS_OF("mentions") } },
	{ "botLoopProtection",             IS_OBJ(oc_chat_bot_loop_protection_keys) },
	{ "dangerouslyAllowNameMatching",  IS_BOOL },
	{ "requireMention",                IS_BOOL },
	{ "implicitMentions",              IS_OBJ(oc_chat_implicit_mentions_keys) },
	{ "unfurlLinks",                   IS_BOOL },
	{ "unfurlMedia",                   IS_BOOL },
	{ "reactionNotifications",         IS_WORD("off", "own", "all", "allowlist") },
	{ "reactionAllowlist",             IS_LIST(oc_str_or_num) },
	{ "ackReaction",                   IS_STR },
	{ "replyToModeByChatType",         IS_OBJ(slack_reply_to_mode_by_chat_type_keys) },
	{ "thread",                        IS_OBJ(slack_thread_keys) },
	{ "presenceEvents",                IS_OBJ(slack_presence_events_keys) },
	{ "actions",                       IS_OBJ(slack_actions_keys) },
	{ "slashCommand",                  IS_OBJ(slack_slash_command_keys) },
	{ "dm",                            IS_OBJ(slack_dm_keys) },
	{ "channels",                      IS_MAP(one_slack_channels) },
	{ "typingReaction",                IS_STR },
	{ "accounts",                      IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",                IS_STR, KEY_TOP },
	{ 0 },
};

static const struct shape_key synology_chat_keys[] = {
	{ "webhookUrl",                            IS_STR },
	{ "dangerouslyAllowNameMatching",          IS_BOOL },
	{ "dangerouslyAllowInheritedWebhookPath",  IS_BOOL },
	{ 0 },
};

static const struct shape_key telegram_capabilities_keys[] = {
	{ "inlineButtons",  IS_WORD("off", "dm", "group", "all", "allowlist") },
	{ 0 },
};

static const struct shape_key telegram_custom_commands_keys[] = {
	{ "command",      IS_STR, KEY_NEEDED },
	{ "description",  IS_STR, KEY_NEEDED },
	{ 0 },
};

static const struct shape one_telegram_custom_commands = IS_OBJ(telegram_custom_commands_keys);
static const struct shape_key telegram_groups_topics_keys[] = {
	{ "requireMention",         IS_BOOL },
	{ "ingest",                 IS_BOOL },
	{ "disableAudioPreflight",  IS_BOOL },
	{ "groupPolicy",            IS_WORD("open", "disabled", "allowlist") },
	{ "skills",                 IS_LIST(oc_str) },
	{ "enabled",                IS_BOOL },
	{ "allowFrom",              IS_LIST(oc_str_or_num) },
	{ "systemPrompt",           IS_STR },
	{ "agentId",                IS_STR },
	{ "errorPolicy",            IS_WORD("always", "once", "silent") },
	{ 0 },
};

static const struct shape one_telegram_groups_topics = IS_OBJ(telegram_groups_topics_keys);
static const struct shape_key telegram_groups_keys[] = {
	{ "requireMention",         IS_BOOL },
	{ "tools",                  IS_OBJ(oc_chat_guilds_tools_keys) },
	{ "toolsBySender",          IS_MAP(oc_chat_one_guilds_tools_by_sender) },
	{ "skills",                 IS_LIST(oc_str) },
	{ "enabled",                IS_BOOL },
	{ "allowFrom",              IS_LIST(oc_str_or_num) },
	{ "systemPrompt",           IS_STR },
	{ "ingest",                 IS_BOOL },
	{ "disableAudioPreflight",  IS_BOOL },
	{ "groupPolicy",            IS_WORD("open", "disabled", "allowlist") },
	{ "topics",                 IS_MAP(one_telegram_groups_topics) },
	{ "errorPolicy",            IS_WORD("always", "once", "silent") },
	{ 0 },
};

static const struct shape one_telegram_groups = IS_OBJ(telegram_groups_keys);
static const struct shape_key telegram_direct_auto_topic_label_keys[] = {
	{ "enabled",  IS_BOOL },
	{ "prompt",   IS_STR },
	{ 0 },
};

static const struct shape_key telegram_direct_keys[] = {
	{ "dmPolicy",        IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "tools",           IS_OBJ(oc_chat_guilds_tools_keys) },
	{ "toolsBySender",   IS_MAP(oc_chat_one_guilds_tools_by_sender) },
	{ "skills",          IS_LIST(oc_str) },
	{ "enabled",         IS_BOOL },
	{ "allowFrom",       IS_LIST(oc_str_or_num) },
	{ "systemPrompt",    IS_STR },
	{ "topics",          IS_MAP(one_telegram_groups_topics) },
	{ "errorPolicy",     IS_WORD("always", "once", "silent") },
	{ "requireTopic",    IS_BOOL },
	{ "autoTopicLabel",  { .kinds = K_BOOL | K_OBJ, .keys = telegram_direct_auto_topic_label_keys } },
	{ 0 },
};

static const struct shape one_telegram_direct = IS_OBJ(telegram_direct_keys);
static const struct shape_key telegram_network_keys[] = {
	{ "autoSelectFamily",                IS_BOOL },
	{ "dnsResultOrder",                  IS_WORD("ipv4first", "verbatim") },
	{ "dangerouslyAllowPrivateNetwork",  IS_BOOL },
	{ 0 },
};

static const struct shape_key telegram_actions_keys[] = {
	{ "reactions",         IS_BOOL },
	{ "sendMessage",       IS_BOOL },
	{ "poll",              IS_BOOL },
	{ "deleteMessage",     IS_BOOL },
	{ "editMessage",       IS_BOOL },
	{ "sticker",           IS_BOOL },
	{ "createForumTopic",  IS_BOOL },
	{ "editForumTopic",    IS_BOOL },
	{ 0 },
};

static const struct shape_key telegram_keys[] = {
	{ "name",                   IS_STR },
	{ "capabilities",           { .kinds = K_ARR | K_OBJ, .items = &oc_str,
	  .keys = telegram_capabilities_keys } },
	{ "markdown",               IS_OBJ(oc_chat_markdown_keys) },
	{ "configWrites",           IS_BOOL },
	{ "enabled",                IS_BOOL },
	{ "dmPolicy",               IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "allowFrom",              IS_LIST(oc_str_or_num) },
	{ "defaultTo",              { .kinds = K_STR | K_NUM } },
	{ "groupAllowFrom",         IS_LIST(oc_str_or_num) },
	{ "groupPolicy",            IS_WORD("open", "disabled", "allowlist") },
	{ "mentionPatterns",        IS_OBJ(oc_chat_mention_patterns_keys) },
	{ "contextVisibility",      IS_WORD("all", "allowlist", "allowlist_quote") },
	{ "historyLimit",           IS_SIZE },
	{ "dmHistoryLimit",         IS_SIZE },
	{ "dms",                    IS_MAP(oc_chat_one_dms) },
	{ "textChunkLimit",         IS_COUNT },
	{ "streaming",              IS_OBJ(oc_chat_streaming_keys) },
	{ "heartbeatVisibility",    IS_OBJ(oc_chat_heartbeat_visibility_keys) },
	{ "healthMonitor",          IS_OBJ(oc_chat_health_monitor_keys) },
	{ "responsePrefix",         IS_STR },
	{ "mediaMaxMb",             IS_ABOVE_0 },
	{ "replyToMode",            IS_WORD("off", "first", "all", "batched") },
	{ "joinIntro",              IS_BOOL },
	{ "execApprovals",          IS_OBJ(oc_chat_exec_approvals_keys) },
	{ "commands",               IS_OBJ(oc_chat_commands_keys) },
	{ "customCommands",         IS_LIST(one_telegram_custom_commands) },
	{ "botToken",               IS_SECRET },
	{ "tokenFile",              IS_STR },
	{ "groups",                 IS_MAP(one_telegram_groups) },
	{ "direct",                 IS_MAP(one_telegram_direct) },
	{ "richMessages",           IS_BOOL },
	{ "network",                IS_OBJ(telegram_network_keys) },
	{ "proxy",                  IS_STR },
	{ "webhookUrl",             IS_STR },
	{ "webhookSecret",          IS_SECRET },
	{ "webhookPath",            IS_STR },
	{ "webhookHost",            IS_STR },
	{ "webhookPort",            IS_SIZE },
	{ "webhookCertPath",        IS_STR },
	{ "actions",                IS_OBJ(telegram_actions_keys) },
	{ "threadBindings",         IS_OBJ(oc_chat_thread_bindings_keys) },
	{ "reactionNotifications",  IS_WORD("off", "own", "all") },
	{ "reactionLevel",          IS_WORD("off", "ack", "minimal", "extensive") },
	{ "ackReaction",            IS_STR },
	{ "linkPreview",            IS_BOOL },
	{ "silentErrorReplies",     IS_BOOL },
	{ "errorPolicy",            IS_WORD("always", "once", "silent") },
	{ "apiRoot",                IS_SPELLED(TEXT_URI) },
	{ "trustedLocalFileRoots",  IS_LIST(oc_str) },
	{ "autoTopicLabel",         { .kinds = K_BOOL | K_OBJ,
	  .keys = telegram_direct_auto_topic_label_keys } },
	{ "accounts",               IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",         IS_STR, KEY_TOP },
	{ 0 },
};

static const struct shape_key tlon_authorization_channel_rules_keys[] = {
	{ "mode",          IS_WORD("restricted", "open") },
	{ "allowedShips",  IS_LIST(oc_text) },
	{ 0 },
};

static const struct shape one_tlon_authorization_channel_rules = IS_OBJ(tlon_authorization_channel_rules_keys);
static const struct shape_key tlon_authorization_keys[] = {
	{ "channelRules",  IS_MAP(one_tlon_authorization_channel_rules) },
	{ 0 },
};

static const struct shape_key tlon_keys[] = {
	{ "name",                    IS_STR },
	{ "enabled",                 IS_BOOL },
	{ "configWrites",            IS_BOOL },
	{ "mediaMaxMb",              IS_ABOVE_0 },
	{ "ship",                    IS_TEXT },
	{ "url",                     IS_STR },
	{ "code",                    IS_STR },
	{ "network",                 IS_OBJ(oc_chat_network_keys) },
	{ "groupChannels",           IS_LIST(oc_text) },
	{ "dmAllowlist",             IS_LIST(oc_text) },
	{ "groupInviteAllowlist",    IS_LIST(oc_text) },
	{ "autoDiscoverChannels",    IS_BOOL },
	{ "showModelSignature",      IS_BOOL },
	{ "responsePrefix",          IS_STR },
	{ "implicitMentions",        IS_OBJ(oc_chat_implicit_mentions_keys) },
	{ "autoAcceptDmInvites",     IS_BOOL },
	{ "autoAcceptGroupInvites",  IS_BOOL },
	{ "ownerShip",               IS_TEXT },
	{ "historyLimit",            IS_SIZE, KEY_TOP },
	{ "authorization",           IS_OBJ(tlon_authorization_keys), KEY_TOP },
	{ "defaultAuthorizedShips",  IS_LIST(oc_text), KEY_TOP },
	{ "accounts",                IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ 0 },
};

static const struct shape one_twitch_allowed_roles = IS_WORD("moderator", "owner", "vip", "subscriber",
	  "all");
static const struct shape_key twitch_keys[] = {
	{ "name",                 IS_STR },
	{ "enabled",              IS_BOOL },
	{ "configWrites",         IS_BOOL },
	{ "markdown",             IS_OBJ(oc_chat_markdown_keys) },
	{ "defaultAccount",       IS_STR },
	{ "historyLimit",         IS_SIZE },
	{ "responsePrefix",       IS_STR },
	{ "username",             IS_STR, KEY_NEEDED },
	{ "accessToken",          IS_STR, KEY_NEEDED },
	{ "clientId",             IS_STR },
	{ "channel",              IS_TEXT, KEY_NEEDED },
	{ "allowFrom",            IS_LIST(oc_str) },
	{ "allowedRoles",         IS_LIST(one_twitch_allowed_roles) },
	{ "requireMention",       IS_BOOL },
	{ "clientSecret",         IS_STR },
	{ "refreshToken",         IS_STR },
	{ "expiresIn",            { .kinds = K_NUM | K_NULL } },
	{ "obtainmentTimestamp",  { .kinds = K_NUM } },
	{ 0 },
};

static const struct shape one_twitch = IS_OBJ(twitch_keys);
static const struct shape_key twitch_alt1_accounts_keys[] = {
	{ "username",             IS_STR, KEY_NEEDED },
	{ "accessToken",          IS_STR, KEY_NEEDED },
	{ "clientId",             IS_STR },
	{ "channel",              IS_TEXT, KEY_NEEDED },
	{ "enabled",              IS_BOOL },
	{ "configWrites",         IS_BOOL },
	{ "allowFrom",            IS_LIST(oc_str) },
	{ "allowedRoles",         IS_LIST(one_twitch_allowed_roles) },
	{ "requireMention",       IS_BOOL },
	{ "responsePrefix",       IS_STR },
	{ "clientSecret",         IS_STR },
	{ "refreshToken",         IS_STR },
	{ "expiresIn",            { .kinds = K_NUM | K_NULL } },
	{ "obtainmentTimestamp",  { .kinds = K_NUM } },
	{ 0 },
};

static const struct shape one_twitch_alt1_accounts = IS_OBJ(twitch_alt1_accounts_keys);
static const struct shape_key twitch_alt1_keys[] = {
	{ "name",            IS_STR },
	{ "enabled",         IS_BOOL },
	{ "configWrites",    IS_BOOL },
	{ "markdown",        IS_OBJ(oc_chat_markdown_keys) },
	{ "defaultAccount",  IS_STR },
	{ "historyLimit",    IS_SIZE },
	{ "responsePrefix",  IS_STR },
	{ "accounts",        IS_MAP(one_twitch_alt1_accounts), KEY_NEEDED },
	{ 0 },
};

static const struct shape one_twitch_alt1 = IS_OBJ(twitch_alt1_keys);
static const struct shape *const any_twitch[] = { &one_twitch, &one_twitch_alt1, NULL };
static const struct shape_key whatsapp_direct_keys[] = {
	{ "systemPrompt",  IS_STR },
	{ 0 },
};

static const struct shape one_whatsapp_direct = IS_OBJ(whatsapp_direct_keys);
static const struct shape_key whatsapp_plugin_hooks_keys[] = {
	{ "messageReceived",  IS_BOOL },
	{ 0 },
};

static const struct shape_key whatsapp_actions_keys[] = {
	{ "reactions",    IS_BOOL },
	{ "sendMessage",  IS_BOOL },
	{ "polls",        IS_BOOL },
	{ "calls",        IS_BOOL },
	{ 0 },
};

static const struct shape_key whatsapp_keys[] = {
	{ "capabilities",         IS_LIST(oc_str) },
	{ "markdown",             IS_OBJ(oc_chat_markdown_keys) },
	{ "configWrites",         IS_BOOL },
	{ "enabled",              IS_BOOL },
	{ "dmPolicy",             IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "allowFrom",            IS_LIST(oc_str) },
	{ "defaultTo",            IS_STR },
	{ "groupAllowFrom",       IS_LIST(oc_str) },
	{ "groupPolicy",          IS_WORD("open", "disabled", "allowlist") },
	{ "mentionPatterns",      IS_OBJ(oc_chat_mention_patterns_keys) },
	{ "contextVisibility",    IS_WORD("all", "allowlist", "allowlist_quote") },
	{ "historyLimit",         IS_SIZE },
	{ "dmHistoryLimit",       IS_SIZE },
	{ "dms",                  IS_MAP(oc_chat_one_dms) },
	{ "textChunkLimit",       IS_COUNT },
	{ "streaming",            IS_OBJ(oc_chat_streaming_keys_too) },
	{ "heartbeatVisibility",  IS_OBJ(oc_chat_heartbeat_visibility_keys) },
	{ "healthMonitor",        IS_OBJ(oc_chat_health_monitor_keys) },
	{ "responsePrefix",       IS_STR },
	{ "mediaMaxMb",           IS_COUNT },
	{ "replyToMode",          IS_WORD("off", "first", "all", "batched") },
	{ "sendReadReceipts",     IS_BOOL },
	{ "selfChatMode",         IS_BOOL },
	{ "groups",               IS_MAP(oc_chat_one_groups) },
	{ "direct",               IS_MAP(one_whatsapp_direct) },
	{ "reactionLevel",        IS_WORD("off", "ack", "minimal", "extensive") },
	{ "pluginHooks",          IS_OBJ(whatsapp_plugin_hooks_keys) },
	{ "accounts",             IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",       IS_STR, KEY_TOP },
	{ "actions",              IS_OBJ(whatsapp_actions_keys), KEY_TOP },
	{ "name",                 IS_STR, KEY_BELOW },
	{ "authDir",              IS_STR, KEY_BELOW },
	{ 0 },
};

static const struct shape_key zalo_keys[] = {
	{ "name",            IS_STR },
	{ "enabled",         IS_BOOL },
	{ "configWrites",    IS_BOOL },
	{ "markdown",        IS_OBJ(oc_chat_markdown_keys) },
	{ "botToken",        IS_SECRET },
	{ "tokenFile",       IS_STR },
	{ "webhookUrl",      IS_STR },
	{ "webhookSecret",   IS_SECRET },
	{ "webhookPath",     IS_STR },
	{ "dmPolicy",        IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "allowFrom",       IS_LIST(oc_str_or_num) },
	{ "groupPolicy",     IS_WORD("open", "disabled", "allowlist") },
	{ "groupAllowFrom",  IS_LIST(oc_str_or_num) },
	{ "mediaMaxMb",      { .kinds = K_NUM } },
	{ "proxy",           IS_STR },
	{ "responsePrefix",  IS_STR },
	{ "historyLimit",    IS_SIZE, KEY_TOP },
	{ "accounts",        IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",  IS_STR, KEY_TOP },
	{ 0 },
};

static const struct shape_key zalouser_groups_keys[] = {
	{ "requireMention",  IS_BOOL },
	{ "tools",           IS_OBJ(oc_chat_guilds_tools_keys) },
	{ "enabled",         IS_BOOL },
	{ 0 },
};

static const struct shape one_zalouser_groups = IS_OBJ(zalouser_groups_keys);
static const struct shape_key zalouser_keys[] = {
	{ "name",                          IS_STR },
	{ "enabled",                       IS_BOOL },
	{ "configWrites",                  IS_BOOL },
	{ "mediaMaxMb",                    IS_ABOVE_0 },
	{ "markdown",                      IS_OBJ(oc_chat_markdown_keys) },
	{ "profile",                       IS_STR },
	{ "dangerouslyAllowNameMatching",  IS_BOOL },
	{ "dmPolicy",                      IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "allowFrom",                     IS_LIST(oc_str_or_num) },
	{ "historyLimit",                  IS_SIZE },
	{ "groupAllowFrom",                IS_LIST(oc_str_or_num) },
	{ "groupPolicy",                   IS_WORD("open", "disabled", "allowlist") },
	{ "groups",                        IS_MAP(one_zalouser_groups) },
	{ "messagePrefix",                 IS_STR },
	{ "responsePrefix",                IS_STR },
	{ "accounts",                      IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",                IS_STR, KEY_TOP },
	{ 0 },
};

const struct shape oc_chat_slack = IS_OBJ(slack_keys);
const struct shape oc_chat_synology_chat = { .kinds = K_OBJ, .keys = synology_chat_keys, .each = &oc_any };
const struct shape oc_chat_telegram = IS_OBJ(telegram_keys);
const struct shape oc_chat_tlon = IS_OBJ(tlon_keys);
const struct shape oc_chat_twitch = { .kinds = K_OBJ, .any = any_twitch };
const struct shape oc_chat_whatsapp = IS_OBJ(whatsapp_keys);
const struct shape oc_chat_zalo = IS_OBJ(zalo_keys);
const struct shape oc_chat_zalouser = IS_OBJ(zalouser_keys);
/* clang-format on */
