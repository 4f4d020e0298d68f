/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of the channels of openclaw.json from M to S.
 * creel reads of them only which tools a group has; the rest is here because a file with a wrong key is
 * refused by upstream, and so under compat.
 */
#include "config/openclaw_chat_priv.h"

#include <math.h>

/* clang-format off */
static const struct shape_key mattermost_streaming_preview_keys[] = {
	{ "toolProgress",  IS_BOOL },
	{ "commandText",   IS_WORD("raw", "status") },
	{ 0 },
};

static const struct shape_key mattermost_streaming_keys[] = {
	{ "mode",       IS_WORD("off", "partial", "block", "progress") },
	{ "chunkMode",  IS_WORD("length", "newline") },
	{ "preview",    IS_OBJ(mattermost_streaming_preview_keys) },
	{ "progress",   IS_OBJ(oc_chat_streaming_progress_keys_too) },
	{ "block",      IS_OBJ(oc_chat_streaming_block_keys) },
	{ 0 },
};

static const struct shape_key mattermost_reply_to_mode_by_chat_type_keys[] = {
	{ "direct",   IS_WORD("off", "first", "all", "batched") },
	{ "group",    IS_WORD("off", "first", "all", "batched") },
	{ "channel",  IS_WORD("off", "first", "all", "batched") },
	{ 0 },
};

static const struct shape_key mattermost_actions_keys[] = {
	{ "messages",   IS_BOOL },
	{ "reactions",  IS_BOOL },
	{ 0 },
};

static const struct shape_key mattermost_commands_keys[] = {
	{ "native",        { .kinds = K_BOOL | K_STR, .words = WORDS_OF("auto") } },
	{ "nativeSkills",  { .kinds = K_BOOL | K_STR, .words = WORDS_OF("auto") } },
	{ "callbackPath",  IS_STR },
	{ "callbackUrl",   IS_STR },
	{ 0 },
};

static const struct shape_key mattermost_interactions_keys[] = {
	{ "callbackBaseUrl",   IS_STR },
	{ "allowedSourceIps",  IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key mattermost_groups_keys[] = {
	{ "requireMention",  IS_BOOL },
	{ 0 },
};

static const struct shape one_mattermost_groups = IS_OBJ(mattermost_groups_keys);
static const struct shape_key mattermost_dm_channel_retry_keys[] = {
	{ "maxRetries",      IS_INT(0, 10) },
	{ "initialDelayMs",  IS_INT(100, 60000) },
	{ "maxDelayMs",      IS_INT(1000, 60000) },
	{ "timeoutMs",       IS_INT(5000, 120000) },
	{ 0 },
};

static const struct shape_key mattermost_keys[] = {
	{ "name",                          IS_STR },
	{ "capabilities",                  IS_LIST(oc_str) },
	{ "dangerouslyAllowNameMatching",  IS_BOOL },
	{ "markdown",                      IS_OBJ(oc_chat_markdown_keys) },
	{ "enabled",                       IS_BOOL },
	{ "configWrites",                  IS_BOOL },
	{ "contextVisibility",             IS_WORD("all", "allowlist", "allowlist_quote") },
	{ "historyLimit",                  IS_SIZE },
	{ "mediaMaxMb",                    IS_ABOVE_0 },
	{ "botToken",                      IS_SECRET },
	{ "baseUrl",                       IS_STR },
	{ "chatmode",                      IS_WORD("oncall", "onmessage", "onchar") },
	{ "oncharPrefixes",                IS_LIST(oc_str) },
	{ "requireMention",                IS_BOOL },
	{ "implicitMentions",              IS_OBJ(oc_chat_implicit_mentions_keys) },
	{ "dmPolicy",                      IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "allowFrom",                     IS_LIST(oc_str_or_num) },
	{ "groupAllowFrom",                IS_LIST(oc_str_or_num) },
	{ "groupPolicy",                   IS_WORD("open", "disabled", "allowlist") },
	{ "textChunkLimit",                IS_COUNT },
	{ "streaming",                     IS_OBJ(mattermost_streaming_keys) },
	{ "replyToMode",                   IS_WORD("off", "first", "all", "batched") },
	{ "replyToModeByChatType",         IS_OBJ(mattermost_reply_to_mode_by_chat_type_keys) },
	{ "responsePrefix",                IS_STR },
	{ "actions",                       IS_OBJ(mattermost_actions_keys) },
	{ "commands",                      IS_OBJ(mattermost_commands_keys) },
	{ "interactions",                  IS_OBJ(mattermost_interactions_keys) },
	{ "groups",                        IS_MAP(one_mattermost_groups) },
	{ "network",                       IS_OBJ(oc_chat_network_keys) },
	{ "dmChannelRetry",                IS_OBJ(mattermost_dm_channel_retry_keys) },
	{ "accounts",                      IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",                IS_STR, KEY_TOP },
	{ 0 },
};

static const struct shape_key msteams_webhook_keys[] = {
	{ "port",  IS_COUNT },
	{ "path",  IS_STR },
	{ 0 },
};

static const struct shape_key msteams_teams_channels_keys[] = {
	{ "requireMention",  IS_BOOL },
	{ "tools",           IS_OBJ(oc_chat_guilds_tools_keys) },
	{ "toolsBySender",   IS_MAP(oc_chat_one_guilds_tools_by_sender) },
	{ "replyStyle",      IS_WORD("thread", "top-level") },
	{ 0 },
};

static const struct shape one_msteams_teams_channels = IS_OBJ(msteams_teams_channels_keys);
static const struct shape_key msteams_teams_keys[] = {
	{ "requireMention",  IS_BOOL },
	{ "tools",           IS_OBJ(oc_chat_guilds_tools_keys) },
	{ "toolsBySender",   IS_MAP(oc_chat_one_guilds_tools_by_sender) },
	{ "replyStyle",      IS_WORD("thread", "top-level") },
	{ "channels",        IS_MAP(one_msteams_teams_channels) },
	{ 0 },
};

static const struct shape one_msteams_teams = IS_OBJ(msteams_teams_keys);
static const struct shape_key msteams_delegated_auth_keys[] = {
	{ "enabled",  IS_BOOL },
	{ "scopes",   IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key msteams_sso_keys[] = {
	{ "enabled",         IS_BOOL },
	{ "connectionName",  IS_STR },
	{ 0 },
};

static const struct shape_key msteams_keys[] = {
	{ "capabilities",                  IS_LIST(oc_str) },
	{ "markdown",                      IS_OBJ(oc_chat_markdown_keys) },
	{ "configWrites",                  IS_BOOL },
	{ "enabled",                       IS_BOOL },
	{ "dmPolicy",                      IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "allowFrom",                     IS_LIST(oc_str) },
	{ "defaultTo",                     IS_STR },
	{ "groupAllowFrom",                IS_LIST(oc_str) },
	{ "groupPolicy",                   IS_WORD("open", "disabled", "allowlist") },
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
	{ "dangerouslyAllowNameMatching",  IS_BOOL },
	{ "appId",                         IS_STR },
	{ "appPassword",                   IS_SECRET },
	{ "tenantId",                      IS_STR },
	{ "cloud",                         IS_WORD("Public", "USGov", "USGovDoD", "China") },
	{ "serviceUrl",                    IS_SPELLED(TEXT_URI) },
	{ "authType",                      IS_WORD("secret", "federated") },
	{ "certificatePath",               IS_STR },
	{ "certificateThumbprint",         IS_STR },
	{ "useManagedIdentity",            IS_BOOL },
	{ "managedIdentityClientId",       IS_STR },
	{ "webhook",                       IS_OBJ(msteams_webhook_keys) },
	{ "typingIndicator",               IS_BOOL },
	{ "mediaAllowHosts",               IS_LIST(oc_str) },
	{ "mediaAuthAllowHosts",           IS_LIST(oc_str) },
	{ "graphMediaFallback",            IS_BOOL },
	{ "requireMention",                IS_BOOL },
	{ "replyStyle",                    IS_WORD("thread", "top-level") },
	{ "teams",                         IS_MAP(one_msteams_teams) },
	{ "sharePointSiteId",              IS_STR },
	{ "welcomeCard",                   IS_BOOL },
	{ "promptStarters",                IS_LIST(oc_str) },
	{ "groupWelcomeCard",              IS_BOOL },
	{ "feedbackEnabled",               IS_BOOL },
	{ "feedbackReflection",            IS_BOOL },
	{ "feedbackReflectionCooldownMs",  IS_SIZE },
	{ "delegatedAuth",                 IS_OBJ(msteams_delegated_auth_keys) },
	{ "sso",                           IS_OBJ(msteams_sso_keys) },
	{ 0 },
};

static const struct shape_key nextcloud_talk_rooms_keys[] = {
	{ "requireMention",  IS_BOOL },
	{ "tools",           IS_OBJ(oc_chat_guilds_tools_keys) },
	{ "skills",          IS_LIST(oc_str) },
	{ "enabled",         IS_BOOL },
	{ "allowFrom",       IS_LIST(oc_str) },
	{ "systemPrompt",    IS_STR },
	{ 0 },
};

static const struct shape one_nextcloud_talk_rooms = IS_OBJ(nextcloud_talk_rooms_keys);
static const struct shape_key nextcloud_talk_keys[] = {
	{ "name",               IS_STR },
	{ "enabled",            IS_BOOL },
	{ "configWrites",       IS_BOOL },
	{ "replyToMode",        IS_WORD("off", "first", "all", "batched") },
	{ "markdown",           IS_OBJ(oc_chat_markdown_keys) },
	{ "baseUrl",            IS_STR },
	{ "botSecret",          IS_SECRET },
	{ "botSecretFile",      IS_STR },
	{ "apiUser",            IS_STR },
	{ "apiPassword",        IS_SECRET },
	{ "apiPasswordFile",    IS_STR },
	{ "dmPolicy",           IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "webhookPort",        IS_COUNT },
	{ "webhookHost",        IS_STR },
	{ "webhookPath",        IS_STR },
	{ "webhookPublicUrl",   IS_STR },
	{ "allowFrom",          IS_LIST(oc_str) },
	{ "groupAllowFrom",     IS_LIST(oc_str) },
	{ "groupPolicy",        IS_WORD("open", "disabled", "allowlist") },
	{ "rooms",              IS_MAP(one_nextcloud_talk_rooms) },
	{ "network",            IS_OBJ(oc_chat_network_keys) },
	{ "historyLimit",       IS_SIZE },
	{ "dmHistoryLimit",     IS_SIZE },
	{ "contextVisibility",  IS_WORD("all", "allowlist", "allowlist_quote") },
	{ "dms",                IS_MAP(oc_chat_one_dms) },
	{ "textChunkLimit",     IS_COUNT },
	{ "streaming",          IS_OBJ(oc_chat_streaming_keys_too) },
	{ "responsePrefix",     IS_STR },
	{ "mediaMaxMb",         IS_ABOVE_0 },
	{ "accounts",           IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",     IS_STR, KEY_TOP },
	{ 0 },
};

static const struct shape_key nostr_profile_keys[] = {
	{ "name",         { .kinds = K_STR, .max_len = 256 } },
	{ "displayName",  { .kinds = K_STR, .max_len = 256 } },
	{ "about",        { .kinds = K_STR, .max_len = 2000 } },
	{ "picture",      IS_SPELLED(TEXT_URI) },
	{ "banner",       IS_SPELLED(TEXT_URI) },
	{ "website",      IS_SPELLED(TEXT_URI) },
	{ "nip05",        IS_STR },
	{ "lud16",        IS_STR },
	{ 0 },
};

static const struct shape_key nostr_keys[] = {
	{ "name",            IS_STR },
	{ "defaultAccount",  IS_STR },
	{ "enabled",         IS_BOOL },
	{ "configWrites",    IS_BOOL },
	{ "markdown",        IS_OBJ(oc_chat_markdown_keys) },
	{ "privateKey",      IS_SECRET },
	{ "relays",          IS_LIST(oc_str) },
	{ "dmPolicy",        IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "allowFrom",       IS_LIST(oc_str_or_num) },
	{ "profile",         IS_OBJ(nostr_profile_keys) },
	{ 0 },
};

static const struct shape_key raft_keys[] = {
	{ "name",            IS_STR },
	{ "enabled",         IS_BOOL },
	{ "configWrites",    IS_BOOL },
	{ "profile",         IS_TEXT },
	{ "accounts",        IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",  IS_STR, KEY_TOP },
	{ 0 },
};

static const struct shape_key reef_guard_rules_keys[] = {
	{ "outbound",  { .kinds = K_STR, .text = TEXT_NOT_BLANK, .max_len = 2000 } },
	{ "inbound",   { .kinds = K_STR, .text = TEXT_NOT_BLANK, .max_len = 2000 } },
	{ 0 },
};

static const struct shape_key reef_guard_keys[] = {
	{ "provider",       IS_WORD("openai"), KEY_NEEDED },
	{ "authMode",       IS_WORD("oauth"), KEY_NEEDED },
	{ "authProfileId",  IS_SPELLED(TEXT_OPENAI_PROFILE), KEY_NEEDED },
	{ "pinnedModel",    IS_TEXT, KEY_NEEDED },
	{ "policyVersion",  IS_TEXT, KEY_NEEDED },
	{ "timeoutMs",      IS_INT(100, 120000), KEY_NEEDED },
	{ "rules",          IS_OBJ(reef_guard_rules_keys) },
	{ 0 },
};

static const struct shape one_reef_guard = IS_OBJ(reef_guard_keys);
static const struct shape_key reef_guard_alt1_keys[] = {
	{ "provider",       IS_WORD("anthropic", "openai"), KEY_NEEDED },
	{ "authMode",       IS_WORD("api-key") },
	{ "apiKeyEnv",      IS_SPELLED(TEXT_SHELL_VARIABLE), KEY_NEEDED },
	{ "pinnedModel",    IS_TEXT, KEY_NEEDED },
	{ "policyVersion",  IS_TEXT, KEY_NEEDED },
	{ "timeoutMs",      IS_INT(100, 120000), KEY_NEEDED },
	{ "rules",          IS_OBJ(reef_guard_rules_keys) },
	{ 0 },
};

static const struct shape one_reef_guard_alt1 = IS_OBJ(reef_guard_alt1_keys);
static const struct shape *const any_reef_guard[] = { &one_reef_guard, &one_reef_guard_alt1, NULL };
static const struct shape_key reef_keys[] = {
	{ "enabled",        IS_BOOL },
	{ "configWrites",   IS_BOOL },
	{ "relayUrl",       IS_SPELLED(TEXT_RELAY) },
	{ "handle",         IS_SPELLED(TEXT_HANDLE) },
	{ "email",          IS_SPELLED(TEXT_EMAIL) },
	{ "guard",          { .kinds = K_OBJ, .any = any_reef_guard } },
	{ "stateDir",       IS_TEXT },
	{ "requestPolicy",  IS_WORD("code-only", "friends-of-friends", "open") },
	{ "friends",        IS_ANY },
	{ 0 },
};

static const struct shape_key signal_transport_keys[] = {
	{ "kind",              IS_WORD("managed-native"), KEY_NEEDED },
	{ "configPath",        IS_STR },
	{ "socketPath",        IS_SPELLED(TEXT_SOCKET) },
	{ "url",               IS_SPELLED(TEXT_HTTP_NO_LOGIN) },
	{ "httpHost",          IS_STR },
	{ "httpPort",          IS_INT(1, 65535) },
	{ "cliPath",           IS_STR },
	{ "startupTimeoutMs",  IS_INT(1000, 120000) },
	{ "receiveMode",       IS_WORD("on-start", "manual") },
	{ "ignoreStories",     IS_BOOL },
	{ 0 },
};

static const struct shape one_signal_transport = IS_OBJ(signal_transport_keys);
static const struct shape_key signal_transport_alt1_keys[] = {
	{ "kind",  IS_WORD("external-native"), KEY_NEEDED },
	{ "url",   IS_SPELLED(TEXT_HTTP_NO_LOGIN), KEY_NEEDED },
	{ 0 },
};

static const struct shape one_signal_transport_alt1 = IS_OBJ(signal_transport_alt1_keys);
static const struct shape_key signal_transport_alt2_keys[] = {
	{ "kind",  IS_WORD("container"), KEY_NEEDED },
	{ "url",   IS_SPELLED(TEXT_HTTP_NO_LOGIN), KEY_NEEDED },
	{ 0 },
};

static const struct shape one_signal_transport_alt2 = IS_OBJ(signal_transport_alt2_keys);
static const struct shape *const any_signal_transport[] = { &one_signal_transport,
	  &one_signal_transport_alt1, &one_signal_transport_alt2, NULL };
static const struct shape_key signal_groups_keys[] = {
	{ "requireMention",  IS_BOOL },
	{ "tools",           IS_OBJ(oc_chat_guilds_tools_keys) },
	{ "toolsBySender",   IS_MAP(oc_chat_one_guilds_tools_by_sender) },
	{ "ingest",          IS_BOOL },
	{ 0 },
};

static const struct shape one_signal_groups = IS_OBJ(signal_groups_keys);
static const struct shape_key signal_reply_to_mode_by_chat_type_keys[] = {
	{ "direct",  IS_WORD("off", "first", "all", "batched") },
	{ "group",   IS_WORD("off", "first", "all", "batched") },
	{ 0 },
};

static const struct shape_key signal_actions_keys[] = {
	{ "reactions",  IS_BOOL },
	{ 0 },
};

static const struct shape_key signal_keys[] = {
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
	{ "replyToMode",            IS_WORD("off", "first", "all", "batched") },
	{ "account",                IS_STR },
	{ "accountUuid",            IS_STR },
	{ "transport",              { .kinds = K_OBJ, .any = any_signal_transport } },
	{ "ignoreAttachments",      IS_BOOL },
	{ "sendReadReceipts",       IS_BOOL },
	{ "aliases",                IS_MAP(oc_str) },
	{ "groups",                 IS_MAP(one_signal_groups) },
	{ "replyToModeByChatType",  IS_OBJ(signal_reply_to_mode_by_chat_type_keys) },
	{ "reactionNotifications",  IS_WORD("off", "own", "all", "allowlist") },
	{ "reactionAllowlist",      IS_LIST(oc_str_or_num) },
	{ "reactionLevel",          IS_WORD("off", "ack", "minimal", "extensive") },
	{ "actions",                IS_OBJ(signal_actions_keys) },
	{ "accounts",               IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",         IS_STR, KEY_TOP },
	{ 0 },
};

static const struct shape_key sms_keys[] = {
	{ "name",                                   IS_STR },
	{ "enabled",                                IS_BOOL },
	{ "configWrites",                           IS_BOOL },
	{ "mediaMaxMb",                             IS_ABOVE_0 },
	{ "accountSid",                             IS_STR },
	{ "authToken",                              IS_SECRET },
	{ "fromNumber",                             IS_STR },
	{ "messagingServiceSid",                    IS_STR },
	{ "defaultTo",                              IS_STR },
	{ "webhookPath",                            IS_STR },
	{ "publicWebhookUrl",                       IS_STR },
	{ "dangerouslyDisableSignatureValidation",  IS_BOOL },
	{ "dmPolicy",                               IS_WORD("pairing", "allowlist", "open", "disabled") },
	{ "allowFrom",                              IS_LIST(oc_str_or_num) },
	{ "textChunkLimit",                         IS_COUNT },
	{ "accounts",                               IS_ANY_OBJ, KEY_ACCOUNTS | KEY_TOP },
	{ "defaultAccount",                         IS_STR, KEY_TOP },
	{ 0 },
};

const struct shape oc_chat_mattermost = IS_OBJ(mattermost_keys);
const struct shape oc_chat_msteams = IS_OBJ(msteams_keys);
const struct shape oc_chat_nextcloud_talk = IS_OBJ(nextcloud_talk_keys);
const struct shape oc_chat_nostr = IS_OBJ(nostr_keys);
const struct shape oc_chat_raft = IS_OBJ(raft_keys);
const struct shape oc_chat_reef = IS_OBJ(reef_keys);
const struct shape oc_chat_signal = IS_OBJ(signal_keys);
const struct shape oc_chat_sms = IS_OBJ(sms_keys);
/* clang-format on */
