/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of the channels of openclaw.json from A to D.
 * creel reads of them only which tools a group has; the rest is here because a file with a wrong key is
 * refused by upstream, and so under compat.
 */
#include "config/openclaw_chat_priv.h"

#include <math.h>

/* clang-format off */
static const struct shape_key a2a_peers_keys[] = {
	{ "token",          IS_TEXT, KEY_NEEDED },
	{ "url",            IS_SPELLED(TEXT_HTTP_PREFIX) },
	{ "outboundToken",  IS_TEXT },
	{ 0 },
};

static const struct shape one_a2a_peers = IS_OBJ(a2a_peers_keys);
static const struct shape_key a2a_keys[] = {
	{ "enabled",             IS_BOOL },
	{ "configWrites",        IS_BOOL },
	{ "advertisedUrl",       IS_SPELLED(TEXT_HTTP_PREFIX) },
	{ "replyTimeoutMs",      IS_INT(5000, 600000) },
	{ "rateLimitPerMinute",  IS_SIZE },
	{ "exposeAgents",        IS_LIST(oc_str) },
	{ "peers",               { .kinds = K_OBJ, .each = &one_a2a_peers, .key_text = TEXT_PEER } },
	{ 0 },
};

static const struct shape_key buzz_groups_keys[] = {
	{ "enabled",         IS_BOOL },
	{ "requireMention",  IS_BOOL },
	{ "groupPolicy",     IS_WORD("open", "disabled", "allowlist") },
	{ "groupAllowFrom",  IS_LIST(oc_str_or_num) },
	{ 0 },
};

static const struct shape one_buzz_groups = IS_OBJ(buzz_groups_keys);
static const struct shape_key buzz_keys[] = {
	{ "name",            IS_STR },
	{ "enabled",         IS_BOOL },
	{ "configWrites",    IS_BOOL },
	{ "responsePrefix",  IS_STR },
	{ "replyToMode",     IS_WORD("off", "all") },
	{ "markdown",        IS_OBJ(oc_chat_markdown_keys) },
	{ "relayUrl",        IS_SPELLED(TEXT_WS_URL) },
	{ "privateKey",      IS_SECRET },
	{ "authTag",         IS_SECRET },
	{ "groupPolicy",     IS_WORD("open", "disabled", "allowlist") },
	{ "groupAllowFrom",  IS_LIST(oc_str_or_num) },
	{ "groups",          { .kinds = K_OBJ, .each = &one_buzz_groups, .key_text = TEXT_UUID } },
	{ "historyLimit",    IS_INT(0, 20) },
	{ "defaultTo",       IS_STR },
	{ "accounts",        { .kinds = K_OBJ, .each = &oc_any, .key_text = TEXT_ACCOUNT },
	  KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",  IS_SPELLED(TEXT_ACCOUNT), KEY_TOP },
	{ 0 },
};

static const struct shape_key clickclack_groups_keys[] = {
	{ "requireMention",     IS_BOOL },
	{ "mentionPatterns",    IS_LIST(oc_str) },
	{ "allowBots",          { .kinds = K_BOOL | K_STR, .words = WORDS_OF("mentions") } },
	{ "botLoopProtection",  IS_OBJ(oc_chat_bot_loop_protection_keys) },
	{ 0 },
};

static const struct shape one_clickclack_groups = IS_OBJ(clickclack_groups_keys);
static const struct shape_key clickclack_discussions_keys[] = {
	{ "enabled",         IS_BOOL },
	{ "workspace",       IS_STR },
	{ "controlUrlBase",  IS_SPELLED(TEXT_URI) },
	{ "section",         IS_STR },
	{ 0 },
};

static const struct shape_key clickclack_keys[] = {
	{ "name",               IS_STR },
	{ "enabled",            IS_BOOL },
	{ "configWrites",       IS_BOOL },
	{ "mediaMaxMb",         IS_ABOVE_0 },
	{ "responsePrefix",     IS_STR },
	{ "baseUrl",            IS_SPELLED(TEXT_URI) },
	{ "apiBaseUrl",         IS_SPELLED(TEXT_URI) },
	{ "token",              IS_SECRET },
	{ "tokenFile",          IS_STR },
	{ "workspace",          IS_STR },
	{ "botUserId",          IS_STR },
	{ "agentId",            IS_STR },
	{ "replyMode",          IS_WORD("agent", "model") },
	{ "model",              IS_STR },
	{ "systemPrompt",       IS_STR },
	{ "toolsAllow",         IS_LIST(oc_str) },
	{ "defaultTo",          IS_STR },
	{ "allowFrom",          IS_LIST(oc_str) },
	{ "allowBots",          { .kinds = K_BOOL | K_STR, .words = WORDS_OF("mentions") } },
	{ "botLoopProtection",  IS_OBJ(oc_chat_bot_loop_protection_keys) },
	{ "reconnectMs",        IS_INT(100, 60000) },
	{ "agentActivity",      IS_BOOL },
	{ "nativeProgress",     IS_BOOL },
	{ "commandMenu",        IS_BOOL },
	{ "requireMention",     IS_BOOL },
	{ "mentionPatterns",    IS_LIST(oc_str) },
	{ "groups",             IS_MAP(one_clickclack_groups) },
	{ "discussions",        IS_OBJ(clickclack_discussions_keys) },
	{ "historyLimit",       IS_SIZE, KEY_TOP },
	{ "accounts",           IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",     IS_STR, KEY_TOP },
	{ 0 },
};

static const struct shape_key discord_activities_keys[] = {
	{ "clientSecret",   IS_TEXT },
	{ "applicationId",  IS_SPELLED(TEXT_DIGITS) },
	{ 0 },
};

static const struct shape one_discord_mention_aliases = IS_SPELLED(TEXT_DIGITS);
static const struct shape_key discord_actions_keys[] = {
	{ "reactions",       IS_BOOL },
	{ "stickers",        IS_BOOL },
	{ "emojiUploads",    IS_BOOL },
	{ "stickerUploads",  IS_BOOL },
	{ "polls",           IS_BOOL },
	{ "permissions",     IS_BOOL },
	{ "messages",        IS_BOOL },
	{ "threads",         IS_BOOL },
	{ "pins",            IS_BOOL },
	{ "search",          IS_BOOL },
	{ "memberInfo",      IS_BOOL },
	{ "roleInfo",        IS_BOOL },
	{ "roles",           IS_BOOL },
	{ "channelInfo",     IS_BOOL },
	{ "voiceStatus",     IS_BOOL },
	{ "events",          IS_BOOL },
	{ "moderation",      IS_BOOL },
	{ "channels",        IS_BOOL },
	{ "presence",        IS_BOOL },
	{ 0 },
};

static const struct shape_key discord_thread_keys[] = {
	{ "inheritParent",  IS_BOOL },
	{ 0 },
};

static const struct shape_key discord_dm_keys[] = {
	{ "enabled",        IS_BOOL },
	{ "groupEnabled",   IS_BOOL },
	{ "groupChannels",  IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key discord_guilds_presence_events_keys[] = {
	{ "enabled",                   IS_BOOL },
	{ "channelId",                 IS_SPELLED(TEXT_DIGITS), KEY_NEEDED },
	{ "users",                     IS_LIST(one_discord_mention_aliases) },
	{ "reconnectSuppressSeconds",  IS_SIZE },
	{ "burstLimit",                IS_COUNT },
	{ "burstWindowSeconds",        IS_COUNT },
	{ 0 },
};

static const struct shape_key discord_guilds_channels_keys[] = {
	{ "requireMention",        IS_BOOL },
	{ "tools",                 IS_OBJ(oc_chat_guilds_tools_keys) },
	{ "toolsBySender",         IS_MAP(oc_chat_one_guilds_tools_by_sender) },
	{ "skills",                IS_LIST(oc_str) },
	{ "enabled",               IS_BOOL },
	{ "systemPrompt",          IS_STR },
	{ "ignoreOtherMentions",   IS_BOOL },
	{ "users",                 IS_LIST(oc_str) },
	{ "roles",                 IS_LIST(oc_str) },
	{ "includeThreadStarter",  IS_BOOL },
	{ "autoThread",            IS_BOOL },
	{ "autoThreadName",        IS_WORD("message", "generated") },
	{ "autoArchiveDuration",   { .kinds = K_STR | K_INT, .check = CHECK_ARCHIVE } },
	{ 0 },
};

static const struct shape one_discord_guilds_channels = IS_OBJ(discord_guilds_channels_keys);
static const struct shape_key discord_guilds_keys[] = {
	{ "requireMention",         IS_BOOL },
	{ "tools",                  IS_OBJ(oc_chat_guilds_tools_keys) },
	{ "toolsBySender",          IS_MAP(oc_chat_one_guilds_tools_by_sender) },
	{ "slug",                   IS_STR },
	{ "ignoreOtherMentions",    IS_BOOL },
	{ "reactionNotifications",  IS_WORD("off", "own", "all", "allowlist") },
	{ "users",                  IS_LIST(oc_str) },
	{ "roles",                  IS_LIST(oc_str) },
	{ "presenceEvents",         IS_OBJ(discord_guilds_presence_events_keys) },
	{ "channels",               IS_MAP(one_discord_guilds_channels) },
	{ 0 },
};

static const struct shape one_discord_guilds = IS_OBJ(discord_guilds_keys);
static const struct shape_key discord_exec_approvals_keys[] = {
	{ "enabled",              { .kinds = K_BOOL | K_STR, .words = WORDS_OF("auto") } },
	{ "approvers",            IS_LIST(oc_str) },
	{ "agentFilter",          IS_LIST(oc_str) },
	{ "sessionFilter",        IS_LIST(oc_str) },
	{ "target",               IS_WORD("dm", "channel", "both") },
	{ "cleanupAfterResolve",  IS_BOOL },
	{ 0 },
};

static const struct shape_key discord_agent_components_keys[] = {
	{ "enabled",  IS_BOOL },
	{ "ttlMs",    IS_INT(1, 86400000) },
	{ 0 },
};

static const struct shape_key discord_slash_command_keys[] = {
	{ "ephemeral",  IS_BOOL },
	{ 0 },
};

static const struct shape_key discord_intents_keys[] = {
	{ "messageContent",  IS_BOOL },
	{ "presence",        IS_BOOL },
	{ "guildMembers",    IS_BOOL },
	{ "voiceStates",     IS_BOOL },
	{ 0 },
};

static const struct shape_key discord_voice_agent_session_keys[] = {
	{ "mode",    IS_WORD("voice", "target") },
	{ "target",  IS_TEXT },
	{ 0 },
};

static const struct shape one_voice_realtime_wake_names = { .kinds = K_STR, .text = TEXT_WAKE_NAME,
	  .min_len = 1 };
static const struct shape one_voice_realtime_bootstrap_context_files = IS_WORD("IDENTITY.md",
	  "USER.md", "SOUL.md");
static const struct shape_key discord_voice_realtime_keys[] = {
	{ "provider",               IS_TEXT },
	{ "model",                  IS_TEXT },
	{ "speakerVoice",           IS_TEXT },
	{ "speakerVoiceId",         IS_TEXT },
	{ "instructions",           IS_TEXT },
	{ "toolPolicy",             IS_WORD("safe-read-only", "owner", "none") },
	{ "consultPolicy",          IS_WORD("auto", "always") },
	{ "requireWakeName",        IS_BOOL },
	{ "wakeNames",              { .kinds = K_ARR, .items = &one_voice_realtime_wake_names,
	  .min_items = 1 } },
	{ "bootstrapContextFiles",  IS_LIST(one_voice_realtime_bootstrap_context_files) },
	{ "bargeIn",                IS_BOOL },
	{ "minBargeInAudioEndMs",   IS_INT(0, 10000) },
	{ "debounceMs",             IS_INT(1, 10000) },
	{ "providers",              IS_MAP(oc_chat_one_voice_realtime_providers) },
	{ 0 },
};

static const struct shape_key discord_voice_auto_join_keys[] = {
	{ "guildId",       IS_TEXT, KEY_NEEDED },
	{ "channelId",     IS_TEXT, KEY_NEEDED },
	{ "whenOccupied",  IS_BOOL },
	{ 0 },
};

static const struct shape one_discord_voice_auto_join = IS_OBJ(discord_voice_auto_join_keys);
static const struct shape_key discord_voice_allowed_channels_keys[] = {
	{ "guildId",    IS_TEXT, KEY_NEEDED },
	{ "channelId",  IS_TEXT, KEY_NEEDED },
	{ 0 },
};

static const struct shape one_discord_voice_allowed_channels = IS_OBJ(discord_voice_allowed_channels_keys);
static const struct shape_key tts_personas_providers_keys[] = {
	{ "apiKey",  IS_SECRET },
	{ 0 },
};

static const struct shape one_tts_personas_providers = { .kinds = K_OBJ,
	  .keys = tts_personas_providers_keys, .each = &oc_any };
static const struct shape_key voice_tts_personas_keys[] = {
	{ "label",           IS_STR },
	{ "description",     IS_STR },
	{ "provider",        IS_TEXT },
	{ "fallbackPolicy",  IS_WORD("preserve-persona", "provider-defaults", "fail") },
	{ "providers",       IS_MAP(one_tts_personas_providers) },
	{ 0 },
};

static const struct shape one_voice_tts_personas = IS_OBJ(voice_tts_personas_keys);
static const struct shape_key voice_tts_model_overrides_keys[] = {
	{ "enabled",             IS_BOOL },
	{ "allowText",           IS_BOOL },
	{ "allowProvider",       IS_BOOL },
	{ "allowVoice",          IS_BOOL },
	{ "allowModelId",        IS_BOOL },
	{ "allowVoiceSettings",  IS_BOOL },
	{ "allowNormalization",  IS_BOOL },
	{ "allowSeed",           IS_BOOL },
	{ 0 },
};

static const struct shape_key discord_voice_tts_keys[] = {
	{ "auto",            IS_WORD("off", "always", "inbound", "tagged") },
	{ "enabled",         IS_BOOL },
	{ "mode",            IS_WORD("final", "all") },
	{ "provider",        IS_TEXT },
	{ "persona",         IS_STR },
	{ "personas",        IS_MAP(one_voice_tts_personas) },
	{ "summaryModel",    IS_STR },
	{ "modelOverrides",  IS_OBJ(voice_tts_model_overrides_keys) },
	{ "providers",       IS_MAP(one_tts_personas_providers) },
	{ "maxTextLength",   IS_COUNT },
	{ "timeoutMs",       IS_INT(1000, 120000) },
	{ 0 },
};

static const struct shape_key discord_voice_keys[] = {
	{ "enabled",                     IS_BOOL },
	{ "mode",                        IS_WORD("stt-tts", "agent-proxy", "bidi") },
	{ "agentSession",                IS_OBJ(discord_voice_agent_session_keys) },
	{ "model",                       IS_TEXT },
	{ "realtime",                    IS_OBJ(discord_voice_realtime_keys) },
	{ "autoJoin",                    IS_LIST(one_discord_voice_auto_join) },
	{ "followUsersEnabled",          IS_BOOL },
	{ "followUsers",                 IS_LIST(oc_text) },
	{ "allowedChannels",             IS_LIST(one_discord_voice_allowed_channels) },
	{ "daveEncryption",              IS_BOOL },
	{ "decryptionFailureTolerance",  IS_SIZE },
	{ "connectTimeoutMs",            IS_INT(1, 120000) },
	{ "reconnectGraceMs",            IS_INT(1, 120000) },
	{ "captureSilenceGraceMs",       IS_INT(1, 30000) },
	{ "tts",                         IS_OBJ(discord_voice_tts_keys) },
	{ 0 },
};

static const struct shape_key discord_pluralkit_keys[] = {
	{ "enabled",  IS_BOOL },
	{ "token",    IS_SECRET },
	{ 0 },
};

static const struct shape_key discord_auto_presence_keys[] = {
	{ "enabled",              IS_BOOL },
	{ "intervalMs",           IS_COUNT },
	{ "minUpdateIntervalMs",  IS_COUNT },
	{ 0 },
};

static const struct shape_key discord_inbound_worker_keys[] = {
	{ "runTimeoutMs",  IS_SIZE },
	{ 0 },
};

static const struct shape_key discord_keys[] = {
	{ "name",                          IS_STR },
	{ "capabilities",                  IS_LIST(oc_str) },
	{ "markdown",                      IS_OBJ(oc_chat_markdown_keys) },
	{ "configWrites",                  IS_BOOL },
	{ "enabled",                       IS_BOOL },
	{ "dmPolicy",                      IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "allowFrom",                     IS_LIST(oc_str) },
	{ "defaultTo",                     IS_STR },
	{ "groupPolicy",                   IS_WORD("open", "disabled", "allowlist") },
	{ "mentionPatterns",               IS_OBJ(oc_chat_mention_patterns_keys) },
	{ "contextVisibility",             IS_WORD("all", "allowlist", "allowlist_quote") },
	{ "historyLimit",                  IS_SIZE },
	{ "dmHistoryLimit",                IS_SIZE },
	{ "dms",                           IS_MAP(oc_chat_one_dms) },
	{ "textChunkLimit",                IS_COUNT },
	{ "streaming",                     IS_OBJ(oc_chat_streaming_keys) },
	{ "heartbeatVisibility",           IS_OBJ(oc_chat_heartbeat_visibility_keys) },
	{ "healthMonitor",                 IS_OBJ(oc_chat_health_monitor_keys) },
	{ "responsePrefix",                IS_STR },
	{ "mediaMaxMb",                    IS_ABOVE_0 },
	{ "replyToMode",                   IS_WORD("off", "first", "all", "batched") },
	{ "joinIntro",                     IS_BOOL },
	{ "commands",                      IS_OBJ(oc_chat_commands_keys) },
	{ "token",                         IS_SECRET },
	{ "applicationId",                 IS_STR },
	{ "activities",                    IS_OBJ(discord_activities_keys) },
	{ "proxy",                         IS_STR },
	{ "allowBots",                     { .kinds = K_BOOL | K_STR, .words = WORDS_OF("mentions") } },
	{ "botLoopProtection",             IS_OBJ(oc_chat_bot_loop_protection_keys) },
	{ "dangerouslyAllowNameMatching",  IS_BOOL },
	{ "mentionAliases",                IS_MAP(one_discord_mention_aliases) },
	{ "suppressEmbeds",                IS_BOOL },
	{ "maxLinesPerMessage",            IS_COUNT },
	{ "actions",                       IS_OBJ(discord_actions_keys) },
	{ "thread",                        IS_OBJ(discord_thread_keys) },
	{ "dm",                            IS_OBJ(discord_dm_keys) },
	{ "guilds",                        IS_MAP(one_discord_guilds) },
	{ "execApprovals",                 IS_OBJ(discord_exec_approvals_keys) },
	{ "agentComponents",               IS_OBJ(discord_agent_components_keys) },
	{ "slashCommand",                  IS_OBJ(discord_slash_command_keys) },
	{ "threadBindings",                IS_OBJ(oc_chat_thread_bindings_keys) },
	{ "intents",                       IS_OBJ(discord_intents_keys) },
	{ "voice",                         IS_OBJ(discord_voice_keys) },
	{ "pluralkit",                     IS_OBJ(discord_pluralkit_keys) },
	{ "ackReaction",                   IS_STR },
	{ "ackReactionScope",              IS_WORD("group-mentions", "group-all", "direct", "all",
	  "off", "none") },
	{ "activity",                      IS_STR },
	{ "status",                        IS_WORD("online", "dnd", "idle", "invisible") },
	{ "autoPresence",                  IS_OBJ(discord_auto_presence_keys) },
	{ "activityType",                  IS_INT(0, 5) },
	{ "activityUrl",                   IS_SPELLED(TEXT_URI) },
	{ "inboundWorker",                 IS_OBJ(discord_inbound_worker_keys) },
	{ "accounts",                      IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",                IS_STR, KEY_TOP },
	{ 0 },
};

const struct shape oc_chat_a2a = IS_OBJ(a2a_keys);
const struct shape oc_chat_buzz = IS_OBJ(buzz_keys);
const struct shape oc_chat_clickclack = IS_OBJ(clickclack_keys);
const struct shape oc_chat_discord = IS_OBJ(discord_keys);
/* clang-format on */
