/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of the application itself: its screen, its messages, its schedules. creel reads none of them;
 * they are here because a file with a wrong one is refused by upstream, and so under compat.
 * Lengths, counts and spellings of names are not checked.
 */
#include "config/openclaw_shape_priv.h"

#include <math.h>

/* clang-format off */
static const struct shape_key migrations_keys[] = {
	{ "modelPolicyAllowlist",    IS_TRUE },
	{ "utilityModelSeparation",  IS_TRUE },
	{ 0 },
};

const struct shape_key oc_meta_keys[] = {
	{ "lastTouchedVersion",  IS_STR },
	{ "migrations",          IS_OBJ(migrations_keys) },
	{ 0 },
};

const struct shape_key oc_wizard_keys[] = {
	{ "accessMode",              IS_WORD("full", "guarded") },
	{ "appRecommendations",      IS_BOOL },
	{ "lastRunAt",               IS_STR },
	{ "lastRunVersion",          IS_STR },
	{ "lastRunCommit",           IS_STR },
	{ "lastRunCommand",          IS_STR },
	{ "lastRunMode",             IS_WORD("local", "remote") },
	{ "securityAcknowledgedAt",  IS_STR },
	{ 0 },
};

static const struct shape_key otel_keys[] = {
	{ "enabled",           IS_BOOL },
	{ "endpoint",          IS_STR },
	{ "tracesEndpoint",    IS_STR },
	{ "metricsEndpoint",   IS_STR },
	{ "logsEndpoint",      IS_STR },
	{ "protocol",          IS_WORD("http/protobuf") },
	{ "headers",           IS_MAP(oc_str) },
	{ "serviceName",       IS_STR },
	{ "metricNamePrefix",  { .kinds = K_STR, .text = TEXT_METRIC, .max_len = 128 } },
	{ "traces",            IS_BOOL },
	{ "metrics",           IS_BOOL },
	{ "logs",              IS_BOOL },
	{ "logsExporter",      IS_WORD("otlp", "stdout", "both") },
	{ "sampleRate",        IS_NUM(0, 1) },
	{ "flushIntervalMs",   IS_SIZE },
	{ "captureContent",    IS_BOOL },
	{ 0 },
};

static const struct shape_key cache_trace_keys[] = {
	{ "enabled",  IS_BOOL },
	{ 0 },
};

const struct shape_key oc_diagnostics_keys[] = {
	{ "enabled",     IS_BOOL },
	{ "flags",       IS_LIST(oc_str) },
	{ "otel",        IS_OBJ(otel_keys) },
	{ "cacheTrace",  IS_OBJ(cache_trace_keys) },
	{ 0 },
};

static const struct shape_key audit_keys[] = {
	{ "enabled",            IS_BOOL },
	{ "executionIdentity",  IS_BOOL },
	{ "messages",           IS_WORD("off", "direct", "all") },
	{ 0 },
};

const struct shape_key oc_logging_keys[] = {
	{ "level",           IS_WORD("silent", "fatal", "error", "warn", "info", "debug", "trace") },
	{ "file",            IS_STR },
	{ "maxFileBytes",    IS_COUNT },
	{ "consoleLevel",    IS_WORD("silent", "fatal", "error", "warn", "info", "debug", "trace") },
	{ "consoleStyle",    IS_WORD("pretty", "json") },
	{ "redactPatterns",  IS_LIST(oc_str) },
	{ "audit",           IS_OBJ(audit_keys) },
	{ 0 },
};

const struct shape_key oc_update_keys[] = {
	{ "channel",       IS_WORD("stable", "extended-stable", "beta", "dev") },
	{ "checkOnStart",  IS_BOOL },
	{ "auto",          IS_OBJ(cache_trace_keys) },
	{ 0 },
};

const struct shape_key oc_telemetry_keys[] = {
	{ "enabled",      IS_BOOL },
	{ "consentedAt",  IS_SPELLED(TEXT_MOMENT) },
	{ 0 },
};

static const struct shape_key snapshot_defaults_keys[] = {
	{ "mode",  IS_WORD("efficient") },
	{ 0 },
};

static const struct shape_key ssrf_policy_keys[] = {
	{ "dangerouslyAllowPrivateNetwork",  IS_BOOL },
	{ "allowRfc2544BenchmarkRange",      IS_BOOL },
	{ "allowIpv6UniqueLocalRange",       IS_BOOL },
	{ "allowedHostnames",                IS_LIST(oc_str) },
	{ "blockedHostnames",                IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key profiles_keys[] = {
	{ "cdpPort",         IS_INT(1, 65535) },
	{ "cdpUrl",          IS_STR },
	{ "userDataDir",     IS_STR },
	{ "mcpCommand",      IS_STR },
	{ "mcpArgs",         IS_LIST(oc_str) },
	{ "driver",          IS_WORD("openclaw", "clawd", "existing-session", "extension") },
	{ "headless",        IS_BOOL },
	{ "executablePath",  IS_STR },
	{ "attachOnly",      IS_BOOL },
	{ 0 },
};

static const struct shape one_browser_profiles = { .kinds = K_OBJ, .keys = profiles_keys,
	  .check = CHECK_BROWSER };
static const struct shape_key extension_relay_keys[] = {
	{ "allowLegacyAuth",  IS_BOOL },
	{ 0 },
};

const struct shape_key oc_browser_keys[] = {
	{ "enabled",                   IS_BOOL },
	{ "allowSystemProfileImport",  IS_BOOL },
	{ "evaluateEnabled",           IS_BOOL },
	{ "cdpUrl",                    IS_STR },
	{ "executablePath",            IS_STR },
	{ "headless",                  IS_BOOL },
	{ "noSandbox",                 IS_BOOL },
	{ "attachOnly",                IS_BOOL },
	{ "defaultProfile",            IS_STR },
	{ "snapshotDefaults",          IS_OBJ(snapshot_defaults_keys) },
	{ "ssrfPolicy",                IS_OBJ(ssrf_policy_keys) },
	{ "profiles",                  IS_NAMED_MAP(TEXT_DASHED, one_browser_profiles) },
	{ "extraArgs",                 IS_LIST(oc_str) },
	{ "tabCleanup",                IS_OBJ(cache_trace_keys) },
	{ "extensionRelay",            IS_OBJ(extension_relay_keys) },
	{ 0 },
};

static const struct shape_key prefs_keys[] = {
	{ "theme",                  IS_WORD("claw", "knot", "dash", "absolutely", "tide", "beacon",
	  "phosphor", "crt", "manuscript", "rose", "miami", "custom") },
	{ "themeMode",              IS_WORD("light", "dark", "system") },
	{ "accent",                 IS_SPELLED(TEXT_ACCENT) },
	{ "locale",                 { .kinds = K_STR, .max_len = 20 } },
	{ "chatShowThinking",       IS_BOOL },
	{ "chatShowToolCalls",      IS_BOOL },
	{ "chatPersistCommentary",  IS_BOOL },
	{ "chatSendShortcut",       IS_WORD("enter", "modifier-enter") },
	{ "chatFollowUpMode",       IS_WORD("steer", "queue") },
	{ "sidebarEntries",         IS_LIST(oc_str) },
	{ 0 },
};

const struct shape_key oc_ui_keys[] = {
	{ "seamColor",  IS_SPELLED(TEXT_COLOUR) },
	{ "prefs",      IS_OBJ(prefs_keys) },
	{ 0 },
};

static const struct shape_key auth_profiles_keys[] = {
	{ "provider",     IS_STR, KEY_NEEDED },
	{ "mode",         IS_WORD("api_key", "aws-sdk", "oauth", "token"), KEY_NEEDED },
	{ "email",        IS_STR },
	{ "displayName",  IS_STR },
	{ 0 },
};

static const struct shape one_auth_profiles2 = IS_OBJ(auth_profiles_keys);
const struct shape_key oc_auth_keys[] = {
	{ "profiles",  IS_MAP(one_auth_profiles2) },
	{ "order",     IS_MAP(oc_strs) },
	{ 0 },
};

static const struct shape one_members = IS_LIST(oc_text);
static const struct shape_key access_groups3_keys[] = {
	{ "type",        IS_WORD("discord.channelAudience", "message.senders"), KEY_NEEDED },
	{ "guildId",     IS_TEXT },
	{ "channelId",   IS_TEXT },
	{ "membership",  IS_WORD("canViewChannel") },
	{ "members",     IS_NAMED_MAP(TEXT_FILLED, one_members) },
	{ 0 },
};

const struct shape oc_one_access_groups = IS_OBJ(access_groups3_keys);
static const struct shape_key stream_keys[] = {
	{ "repeatSuppression",  IS_BOOL },
	{ "deliveryMode",       IS_WORD("live", "final_only") },
	{ "tagVisibility",      IS_MAP(oc_bool) },
	{ 0 },
};

static const struct shape_key runtime_keys[] = {
	{ "installCommand",  IS_STR },
	{ 0 },
};

const struct shape_key oc_acp_keys[] = {
	{ "enabled",        IS_BOOL },
	{ "dispatch",       IS_OBJ(cache_trace_keys) },
	{ "backend",        IS_STR },
	{ "fallbacks",      IS_LIST(oc_str) },
	{ "defaultAgent",   IS_STR },
	{ "allowedAgents",  IS_LIST(oc_str) },
	{ "stream",         IS_OBJ(stream_keys) },
	{ "runtime",        IS_OBJ(runtime_keys) },
	{ 0 },
};

const struct shape_key oc_attachments_keys[] = {
	{ "ttlHours",  IS_INT(1, 168) },
	{ 0 },
};

static const struct shape one_response_usage = IS_WORD("on", "off", "tokens", "full");
static const struct shape_key group_chat_keys[] = {
	{ "mentionPatterns",     IS_LIST(oc_str) },
	{ "historyLimit",        IS_SIZE },
	{ "unmentionedInbound",  IS_WORD("user_request", "room_event") },
	{ "visibleReplies",      { .kinds = K_STR | K_BOOL, .words = WORDS_OF("automatic",
	  "message_tool") } },
	{ 0 },
};

static const struct shape_key by_channel_keys[] = {
	{ "whatsapp",    IS_WORD("steer", "followup", "collect", "interrupt") },
	{ "telegram",    IS_WORD("steer", "followup", "collect", "interrupt") },
	{ "discord",     IS_WORD("steer", "followup", "collect", "interrupt") },
	{ "irc",         IS_WORD("steer", "followup", "collect", "interrupt") },
	{ "googlechat",  IS_WORD("steer", "followup", "collect", "interrupt") },
	{ "slack",       IS_WORD("steer", "followup", "collect", "interrupt") },
	{ "mattermost",  IS_WORD("steer", "followup", "collect", "interrupt") },
	{ "signal",      IS_WORD("steer", "followup", "collect", "interrupt") },
	{ "imessage",    IS_WORD("steer", "followup", "collect", "interrupt") },
	{ "msteams",     IS_WORD("steer", "followup", "collect", "interrupt") },
	{ "webchat",     IS_WORD("steer", "followup", "collect", "interrupt") },
	{ "matrix",      IS_WORD("steer", "followup", "collect", "interrupt") },
	{ 0 },
};

static const struct shape one_debounce_ms_by_channel = IS_SIZE;
static const struct shape_key queue_keys[] = {
	{ "mode",                 IS_WORD("steer", "followup", "collect", "interrupt") },
	{ "byChannel",            IS_OBJ(by_channel_keys) },
	{ "debounceMsByChannel",  IS_MAP(one_debounce_ms_by_channel) },
	{ "cap",                  IS_COUNT },
	{ "drop",                 IS_WORD("old", "new", "summarize") },
	{ 0 },
};

static const struct shape_key inbound_keys[] = {
	{ "debounceMs",  IS_SIZE },
	{ "byChannel",   IS_MAP(one_debounce_ms_by_channel) },
	{ 0 },
};

const struct shape_key oc_messages_keys[] = {
	{ "visibleReplies",    { .kinds = K_STR | K_BOOL, .words = WORDS_OF("automatic",
	  "message_tool") } },
	{ "responsePrefix",    IS_STR },
	{ "usageTemplate",     { .kinds = K_STR | K_OBJ, .each = &oc_any } },
	{ "responseUsage",     { .kinds = K_STR | K_OBJ, .words = WORDS_OF("on", "off", "tokens", "full"),
	  .each = &one_response_usage } },
	{ "groupChat",         IS_OBJ(group_chat_keys) },
	{ "queue",             IS_OBJ(queue_keys) },
	{ "inbound",           IS_OBJ(inbound_keys) },
	{ "ackReaction",       IS_STR },
	{ "ackReactionScope",  IS_WORD("group-mentions", "group-all", "direct", "all", "off", "none") },
	{ "statusReactions",   IS_OBJ(cache_trace_keys) },
	{ 0 },
};

static const struct shape_key providers_keys[] = {
	{ "apiKey",  IS_SECRET },
	{ 0 },
};

static const struct shape one_personas_providers = { .kinds = K_STR | K_NUM | K_BOOL | K_NULL | K_ARR | K_OBJ, .each = &oc_any };
static const struct shape one_tts_personas_providers = { .kinds = K_OBJ,
	  .each = &one_personas_providers, .keys = providers_keys };
static const struct shape_key personas_keys[] = {
	{ "label",           IS_STR },
	{ "description",     IS_STR },
	{ "provider",        IS_TEXT },
	{ "fallbackPolicy",  IS_WORD("preserve-persona", "provider-defaults", "fail") },
	{ "providers",       IS_MAP(one_tts_personas_providers) },
	{ 0 },
};

static const struct shape one_tts_personas = IS_OBJ(personas_keys);
static const struct shape_key model_overrides_keys[] = {
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

const struct shape_key oc_tts_keys[] = {
	{ "auto",            IS_WORD("off", "always", "inbound", "tagged") },
	{ "enabled",         IS_BOOL },
	{ "mode",            IS_WORD("final", "all") },
	{ "provider",        IS_TEXT },
	{ "persona",         IS_STR },
	{ "personas",        IS_MAP(one_tts_personas) },
	{ "summaryModel",    IS_STR },
	{ "modelOverrides",  IS_OBJ(model_overrides_keys) },
	{ "providers",       IS_MAP(one_tts_personas_providers) },
	{ "maxTextLength",   IS_COUNT },
	{ "timeoutMs",       IS_INT(1000, 120000) },
	{ 0 },
};

static const struct shape one_allow_from = IS_LIST(oc_str_or_num);
const struct shape_key oc_commands_keys[] = {
	{ "native",            { .kinds = K_BOOL | K_STR, .words = WORDS_OF("auto") } },
	{ "nativeSkills",      { .kinds = K_BOOL | K_STR, .words = WORDS_OF("auto") } },
	{ "text",              IS_BOOL },
	{ "bash",              IS_BOOL },
	{ "bashForegroundMs",  IS_INT(0, 30000) },
	{ "config",            IS_BOOL },
	{ "mcp",               IS_BOOL },
	{ "plugins",           IS_BOOL },
	{ "debug",             IS_BOOL },
	{ "restart",           IS_BOOL },
	{ "ownerAllowFrom",    IS_LIST(oc_str_or_num) },
	{ "allowFrom",         IS_MAP(one_allow_from) },
	{ 0 },
};

static const struct shape_key targets_keys[] = {
	{ "channel",    IS_TEXT, KEY_NEEDED },
	{ "to",         IS_TEXT, KEY_NEEDED },
	{ "accountId",  IS_STR },
	{ "threadId",   { .kinds = K_STR | K_NUM } },
	{ 0 },
};

static const struct shape one_exec_targets = IS_OBJ(targets_keys);
static const struct shape_key exec_keys[] = {
	{ "enabled",        IS_BOOL },
	{ "mode",           IS_WORD("session", "targets", "both") },
	{ "agentFilter",    IS_LIST(oc_str) },
	{ "sessionFilter",  IS_LIST(oc_str) },
	{ "targets",        IS_LIST(one_exec_targets) },
	{ 0 },
};

const struct shape_key oc_approvals_keys[] = {
	{ "exec",    IS_OBJ(exec_keys) },
	{ "plugin",  IS_OBJ(exec_keys) },
	{ 0 },
};

static const struct shape_key failure_alert_keys[] = {
	{ "enabled",         IS_BOOL },
	{ "after",           IS_COUNT },
	{ "cooldownMs",      IS_SIZE },
	{ "includeSkipped",  IS_BOOL },
	{ "mode",            IS_WORD("announce", "webhook") },
	{ "accountId",       IS_STR },
	{ "channel",         IS_STR },
	{ "to",              IS_STR },
	{ 0 },
};

const struct shape_key oc_cron_keys[] = {
	{ "enabled",            IS_BOOL },
	{ "skipMissedJobs",     IS_BOOL },
	{ "triggers",           IS_OBJ(cache_trace_keys) },
	{ "webhookToken",       IS_SECRET },
	{ "webhookSsrfPolicy",  IS_OBJ(ssrf_policy_keys) },
	{ "sessionRetention",   { .kinds = K_STR | K_BOOL, .text = TEXT_DURATION, .check = CHECK_FALSE } },
	{ "failureAlert",       IS_OBJ(failure_alert_keys) },
	{ 0 },
};

static const struct shape_key auto_start_keys[] = {
	{ "providerId",    IS_TEXT, KEY_NEEDED },
	{ "whenOccupied",  IS_BOOL },
	{ "sessionId",     IS_TEXT },
	{ "title",         IS_TEXT },
	{ "accountId",     IS_TEXT },
	{ "guildId",       IS_TEXT },
	{ "channelId",     IS_TEXT },
	{ "meetingUrl",    IS_TEXT },
	{ 0 },
};

static const struct shape one_transcripts_auto_start = IS_OBJ(auto_start_keys);
const struct shape_key oc_transcripts_keys[] = {
	{ "enabled",    IS_BOOL },
	{ "autoStart",  IS_LIST(one_transcripts_auto_start) },
	{ 0 },
};

static const struct shape_key match_keys[] = {
	{ "path",    IS_STR },
	{ "source",  IS_STR },
	{ 0 },
};

static const struct shape_key transform_keys[] = {
	{ "module",  IS_SPELLED(TEXT_MODULE), KEY_NEEDED },
	{ "export",  IS_STR },
	{ 0 },
};

static const struct shape_key mappings_keys[] = {
	{ "id",                          IS_STR },
	{ "match",                       { .kinds = K_OBJ, .keys = match_keys, .each = &oc_any } },
	{ "action",                      IS_WORD("wake", "agent") },
	{ "wakeMode",                    IS_WORD("now", "next-heartbeat") },
	{ "name",                        IS_STR },
	{ "agentId",                     IS_STR },
	{ "sessionKey",                  IS_STR },
	{ "sessionMode",                 IS_WORD("isolated", "persistent") },
	{ "messageTemplate",             IS_STR },
	{ "textTemplate",                IS_STR },
	{ "forEach",                     IS_SPELLED(TEXT_PAYLOAD_KEY) },
	{ "deliver",                     IS_BOOL },
	{ "allowUnsafeExternalContent",  IS_BOOL },
	{ "channel",                     IS_NAME },
	{ "to",                          IS_STR },
	{ "model",                       IS_STR },
	{ "thinking",                    IS_STR },
	{ "timeoutSeconds",              IS_COUNT },
	{ "transform",                   IS_OBJ(transform_keys) },
	{ 0 },
};

static const struct shape one_hooks_mappings = IS_OBJ(mappings_keys);
static const struct shape_key serve_keys[] = {
	{ "bind",  IS_STR },
	{ "port",  IS_COUNT },
	{ "path",  IS_STR },
	{ 0 },
};

static const struct shape_key tailscale_keys[] = {
	{ "mode",    IS_WORD("off", "serve", "funnel") },
	{ "path",    IS_STR },
	{ "target",  IS_STR },
	{ 0 },
};

static const struct shape_key gmail_keys[] = {
	{ "account",                     IS_STR },
	{ "label",                       IS_STR },
	{ "topic",                       IS_STR },
	{ "subscription",                IS_STR },
	{ "pushToken",                   IS_STR },
	{ "hookUrl",                     IS_STR },
	{ "includeBody",                 IS_BOOL },
	{ "maxBytes",                    IS_COUNT },
	{ "renewEveryMinutes",           IS_COUNT },
	{ "allowUnsafeExternalContent",  IS_BOOL },
	{ "serve",                       IS_OBJ(serve_keys) },
	{ "tailscale",                   IS_OBJ(tailscale_keys) },
	{ "model",                       IS_STR },
	{ "thinking",                    IS_WORD("off", "minimal", "low", "medium", "high") },
	{ 0 },
};

static const struct shape_key entries_keys[] = {
	{ "enabled",  IS_BOOL },
	{ "env",      IS_MAP(oc_str) },
	{ 0 },
};

static const struct shape one_internal_entries = { .kinds = K_OBJ, .each = &oc_any, .keys = entries_keys };
static const struct shape_key load_keys[] = {
	{ "extraDirs",  IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key internal_keys[] = {
	{ "enabled",  IS_BOOL },
	{ "entries",  IS_MAP(one_internal_entries) },
	{ "load",     IS_OBJ(load_keys) },
	{ 0 },
};

const struct shape_key oc_hooks_keys[] = {
	{ "enabled",                    IS_BOOL },
	{ "path",                       IS_STR },
	{ "token",                      IS_STR },
	{ "defaultSessionKey",          IS_STR },
	{ "allowRequestSessionKey",     IS_BOOL },
	{ "allowedSessionKeyPrefixes",  IS_LIST(oc_str) },
	{ "allowedAgentIds",            IS_LIST(oc_str) },
	{ "presets",                    IS_LIST(oc_str) },
	{ "transformsDir",              IS_STR },
	{ "mappings",                   IS_LIST(one_hooks_mappings) },
	{ "gmail",                      IS_OBJ(gmail_keys) },
	{ "internal",                   IS_OBJ(internal_keys) },
	{ 0 },
};

static const struct shape_key wide_area_keys[] = {
	{ "domain",  IS_STR },
	{ 0 },
};

static const struct shape_key mdns_keys[] = {
	{ "mode",  IS_WORD("off", "minimal", "full") },
	{ 0 },
};

const struct shape_key oc_discovery_keys[] = {
	{ "wideArea",  IS_OBJ(wide_area_keys) },
	{ "mdns",      IS_OBJ(mdns_keys) },
	{ 0 },
};

static const struct shape one_talk_providers = { .kinds = K_OBJ, .each = &oc_any, .keys = providers_keys };
static const struct shape_key realtime_keys[] = {
	{ "provider",           IS_STR },
	{ "providers",          IS_MAP(one_talk_providers) },
	{ "model",              IS_STR },
	{ "speakerVoice",       IS_STR },
	{ "speakerVoiceId",     IS_STR },
	{ "instructions",       IS_STR },
	{ "mode",               IS_WORD("realtime", "stt-tts", "transcription") },
	{ "transport",          IS_WORD("webrtc", "provider-websocket", "gateway-relay", "managed-room") },
	{ "vadThreshold",       IS_NUM(0, 1) },
	{ "silenceDurationMs",  IS_COUNT },
	{ "prefixPaddingMs",    IS_SIZE },
	{ "reasoningEffort",    IS_TEXT },
	{ "brain",              IS_WORD("agent-consult", "direct-tools", "none") },
	{ "consultRouting",     IS_WORD("provider-direct", "force-agent-consult") },
	{ 0 },
};

const struct shape_key oc_talk_keys[] = {
	{ "agentId",               IS_NAME },
	{ "provider",              IS_STR },
	{ "providers",             IS_MAP(one_talk_providers) },
	{ "realtime",              IS_OBJ(realtime_keys) },
	{ "consultThinkingLevel",  IS_WORD("off", "minimal", "low", "medium", "high", "xhigh", "adaptive",
	  "max", "ultra") },
	{ "consultFastMode",       IS_BOOL },
	{ "speechLocale",          IS_STR },
	{ "interruptOnSpeech",     IS_BOOL },
	{ "silenceTimeoutMs",      IS_COUNT },
	{ 0 },
};

static const struct shape_key host_keys[] = {
	{ "enabled",       IS_BOOL, KEY_NEEDED },
	{ "managed",       IS_BOOL },
	{ "port",          IS_INT(1, 65535) },
	{ "passwordFile",  IS_SPELLED_NAME(TEXT_ABSOLUTE) },
	{ 0 },
};

const struct shape_key oc_desktop_keys[] = {
	{ "host",  IS_OBJ(host_keys) },
	{ 0 },
};
/* clang-format on */
