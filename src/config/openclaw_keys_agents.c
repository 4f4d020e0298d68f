/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agents.defaults and agents.entries.*: everything but the sandbox and the tools. Not checked, because only
 * OpenClaw itself looks at them: how long texts and lists may be, and how names of models and runtimes are
 * spelled.
 */
#include "config/openclaw_shape_priv.h"

#include <math.h>

/* clang-format off */
static const struct shape_key image_model_keys[] = {
	{ "primary",    IS_STR },
	{ "fallbacks",  IS_LIST(oc_str) },
	{ "timeoutMs",  IS_COUNT },
	{ 0 },
};

static const struct shape_key media_models_keys[] = {
	{ "image",  { .kinds = K_STR | K_OBJ, .keys = image_model_keys } },
	{ "video",  { .kinds = K_STR | K_OBJ, .keys = image_model_keys } },
	{ "music",  { .kinds = K_STR | K_OBJ, .keys = image_model_keys } },
	{ 0 },
};

static const struct shape_key agent_runtime_keys[] = {
	{ "id",  IS_STR },
	{ 0 },
};

static const struct shape one_runtime = { .kinds = K_STR, .min_len = 1, .trim = true, .text = TEXT_RUNTIME,
	  .max_len = 128 };
static const struct shape_key models_keys[] = {
	{ "alias",           IS_STR },
	{ "params",          IS_ANY_OBJ },
	{ "agentRuntime",    IS_OBJ(agent_runtime_keys) },
	{ "pickerRuntimes",  { .kinds = K_ARR, .items = &one_runtime, .max_items = 8 } },
	{ "codeMode",        IS_BOOL },
	{ "streaming",       IS_BOOL },
	{ 0 },
};

static const struct shape one_defaults_models = IS_OBJ(models_keys);
static const struct shape_key model_policy_keys[] = {
	{ "allow",  IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key silent_reply_keys[] = {
	{ "group",     IS_WORD("allow", "disallow") },
	{ "internal",  IS_WORD("allow", "disallow") },
	{ 0 },
};

static const struct shape one_skip_optional_bootstrap_files = IS_WORD("SOUL.md", "USER.md",
	  "HEARTBEAT.md", "IDENTITY.md");
static const struct shape_key experimental_keys[] = {
	{ "localModelLean",  IS_BOOL },
	{ 0 },
};

static const struct shape one_apply_on = IS_WORD("new", "reset");
static const struct shape_key startup_context_keys[] = {
	{ "enabled",          IS_BOOL },
	{ "applyOn",          IS_LIST(one_apply_on) },
	{ "dailyMemoryDays",  IS_INT(1, 14) },
	{ "maxFileBytes",     IS_INT(1, 65536) },
	{ "maxFileChars",     IS_INT(1, 10000) },
	{ "maxTotalChars",    IS_INT(1, 50000) },
	{ 0 },
};

static const struct shape_key tools_keys[] = {
	{ "allow",  IS_LIST(oc_str) },
	{ "deny",   IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key hard_clear_keys[] = {
	{ "enabled",      IS_BOOL },
	{ "placeholder",  IS_STR },
	{ 0 },
};

static const struct shape_key context_pruning_keys[] = {
	{ "mode",       IS_WORD("off", "cache-ttl") },
	{ "ttl",        IS_STR },
	{ "tools",      IS_OBJ(tools_keys) },
	{ "hardClear",  IS_OBJ(hard_clear_keys) },
	{ 0 },
};

static const struct shape_key quality_guard_keys[] = {
	{ "enabled",     IS_BOOL },
	{ "maxRetries",  IS_SIZE },
	{ 0 },
};

static const struct shape_key mid_turn_precheck_keys[] = {
	{ "enabled",  IS_BOOL },
	{ 0 },
};

static const struct shape_key memory_flush_keys[] = {
	{ "enabled",                    IS_BOOL },
	{ "model",                      IS_STR },
	{ "softThresholdTokens",        IS_SIZE },
	{ "forceFlushTranscriptBytes",  { .kinds = K_INT | K_STR, .min = 0, .max = SAFE_INT, .text = TEXT_SIZE } },
	{ 0 },
};

static const struct shape_key compaction_keys[] = {
	{ "enabled",                   IS_BOOL },
	{ "mode",                      IS_WORD("default", "safeguard") },
	{ "provider",                  IS_STR },
	{ "thinkingLevel",             IS_WORD("off", "minimal", "low", "medium", "high", "xhigh",
	  "adaptive", "max", "ultra", "inherit") },
	{ "keepRecentTokens",          IS_COUNT },
	{ "identifierPolicy",          IS_WORD("strict", "off") },
	{ "recentTurnsPreserve",       IS_INT(0, 12) },
	{ "qualityGuard",              IS_OBJ(quality_guard_keys) },
	{ "midTurnPrecheck",           IS_OBJ(mid_turn_precheck_keys) },
	{ "postIndexSync",             IS_WORD("off", "async", "await") },
	{ "postCompactionSections",    IS_LIST(oc_str) },
	{ "model",                     IS_STR },
	{ "timeoutSeconds",            IS_COUNT },
	{ "memoryFlush",               IS_OBJ(memory_flush_keys) },
	{ "maxActiveTranscriptBytes",  { .kinds = K_INT | K_STR, .min = 0, .max = SAFE_INT, .text = TEXT_SIZE } },
	{ "notifyUser",                IS_BOOL },
	{ 0 },
};

static const struct shape_key cyber_failover_keys[] = {
	{ "mode",       IS_WORD("auto", "off") },
	{ "model",      IS_TEXT },
	{ "cooloffMs",  IS_COUNT },
	{ 0 },
};

static const struct shape_key embedded_agent_keys[] = {
	{ "projectSettingsPolicy",  IS_WORD("trusted", "sanitize", "ignore") },
	{ "executionContract",      IS_WORD("default", "strict-agentic") },
	{ "cyberFailover",          IS_OBJ(cyber_failover_keys) },
	{ 0 },
};

static const struct shape_key system_agent_keys[] = {
	{ "agentId",  IS_NAME },
	{ 0 },
};

static const struct shape_key subagents_keys[] = {
	{ "delegationMode",       IS_WORD("suggest", "prefer") },
	{ "allowAgents",          IS_LIST(oc_str) },
	{ "maxConcurrent",        IS_COUNT },
	{ "maxSpawnDepth",        IS_INT(1, 5) },
	{ "maxChildrenPerAgent",  IS_INT(1, 20) },
	{ "archiveAfterMinutes",  IS_SIZE },
	{ "model",                { .kinds = K_STR | K_OBJ, .keys = oc_model_keys } },
	{ "thinking",             IS_STR },
	{ "runTimeoutSeconds",    IS_SIZE },
	{ "announceTimeoutMs",    IS_COUNT },
	{ "requireAgentId",       IS_BOOL },
	{ 0 },
};

static const struct shape_key context_limits_keys[] = {
	{ "memoryGetMaxChars",       IS_INT(1, 250000) },
	{ "postCompactionMaxChars",  IS_INT(1, 50000) },
	{ 0 },
};

static const struct shape_key block_streaming_chunk_keys[] = {
	{ "minChars",         IS_COUNT },
	{ "maxChars",         IS_COUNT },
	{ "breakPreference",  IS_WORD("paragraph", "newline", "sentence") },
	{ 0 },
};

static const struct shape_key block_streaming_coalesce_keys[] = {
	{ "minChars",  IS_COUNT },
	{ "maxChars",  IS_COUNT },
	{ "idleMs",    IS_SIZE },
	{ 0 },
};

static const struct shape_key human_delay_keys[] = {
	{ "mode",   IS_WORD("off", "natural", "custom") },
	{ "minMs",  IS_SIZE },
	{ "maxMs",  IS_SIZE },
	{ 0 },
};

static const struct shape_key active_hours_keys[] = {
	{ "start",     { .kinds = K_STR, .check = CHECK_FROM } },
	{ "end",       { .kinds = K_STR, .check = CHECK_UNTIL } },
	{ "timezone",  IS_STR },
	{ 0 },
};

static const struct shape_key heartbeat_keys[] = {
	{ "every",            { .kinds = K_STR, .check = CHECK_EVERY } },
	{ "activeHours",      IS_OBJ(active_hours_keys) },
	{ "model",            IS_STR },
	{ "session",          IS_STR },
	{ "target",           IS_SPELLED(TEXT_TARGET) },
	{ "directPolicy",     IS_WORD("allow", "block") },
	{ "to",               IS_STR },
	{ "accountId",        IS_STR },
	{ "prompt",           IS_STR },
	{ "timeoutSeconds",   IS_COUNT },
	{ "lightContext",     IS_BOOL },
	{ "isolatedSession",  IS_BOOL },
	{ "agentId",          IS_NAME },
	{ 0 },
};

const struct shape_key oc_defaults_keys[] = {
	{ "params",                      IS_ANY_OBJ },
	{ "model",                       { .kinds = K_STR | K_OBJ, .keys = oc_model_keys } },
	{ "modelSelectionScope",         IS_WORD("session", "agent", "global") },
	{ "utilityModel",                IS_STR },
	{ "decisionModel",               { .kinds = K_STR, .trim = true, .text = TEXT_MODEL, .max_len = 512 } },
	{ "imageModel",                  { .kinds = K_STR | K_OBJ, .keys = image_model_keys } },
	{ "mediaModels",                 IS_OBJ(media_models_keys) },
	{ "voiceModel",                  { .kinds = K_STR | K_OBJ, .keys = image_model_keys } },
	{ "pdfModel",                    { .kinds = K_STR | K_OBJ, .keys = image_model_keys } },
	{ "pdfMaxMb",                    IS_ABOVE_0 },
	{ "pdfMaxPages",                 IS_COUNT },
	{ "models",                      { .kinds = K_OBJ, .each = &one_defaults_models, .check = CHECK_MODELS } },
	{ "modelPolicy",                 IS_OBJ(model_policy_keys) },
	{ "workspace",                   IS_STR, KEY_READ },
	{ "cwd",                         IS_STR },
	{ "skills",                      IS_LIST(oc_str) },
	{ "silentReply",                 IS_OBJ(silent_reply_keys) },
	{ "repoRoot",                    IS_STR },
	{ "skipBootstrap",               IS_BOOL },
	{ "skipOptionalBootstrapFiles",  IS_LIST(one_skip_optional_bootstrap_files) },
	{ "contextInjection",            IS_WORD("always", "continuation-skip", "never") },
	{ "bootstrapMaxChars",           IS_COUNT },
	{ "bootstrapTotalMaxChars",      IS_COUNT },
	{ "experimental",                IS_OBJ(experimental_keys) },
	{ "userTimezone",                IS_STR },
	{ "startupContext",              IS_OBJ(startup_context_keys) },
	{ "contextPruning",              IS_OBJ(context_pruning_keys) },
	{ "compaction",                  IS_OBJ(compaction_keys) },
	{ "embeddedAgent",               IS_OBJ(embedded_agent_keys) },
	{ "thinkingDefault",             IS_WORD("off", "minimal", "low", "medium", "high", "xhigh",
	  "adaptive", "max", "ultra") },
	{ "fastModeDefault",             { .kinds = K_BOOL | K_STR, .words = WORDS_OF("auto") } },
	{ "verboseDefault",              IS_WORD("off", "on", "full") },
	{ "toolProgressDetail",          IS_WORD("explain", "raw") },
	{ "reasoningDefault",            IS_WORD("off", "on", "stream") },
	{ "elevatedDefault",             IS_WORD("off", "on", "ask", "full") },
	{ "blockStreamingDefault",       IS_WORD("off", "on") },
	{ "blockStreamingBreak",         IS_WORD("text_end", "message_end") },
	{ "timeoutSeconds",              IS_SIZE },
	{ "mediaMaxMb",                  IS_ABOVE_0 },
	{ "imageMaxDimensionPx",         IS_COUNT },
	{ "imageQuality",                IS_WORD("auto", "efficient", "balanced", "high") },
	{ "typingIntervalSeconds",       IS_COUNT },
	{ "systemAgent",                 IS_OBJ(system_agent_keys) },
	{ "authInheritance",             IS_OBJ(system_agent_keys) },
	{ "sessionStore",                IS_OBJ(system_agent_keys) },
	{ "maxConcurrent",               IS_COUNT },
	{ "subagents",                   IS_OBJ(subagents_keys) },
	{ "contextLimits",               IS_OBJ(context_limits_keys) },
	{ "blockStreamingChunk",         IS_OBJ(block_streaming_chunk_keys) },
	{ "blockStreamingCoalesce",      IS_OBJ(block_streaming_coalesce_keys) },
	{ "humanDelay",                  IS_OBJ(human_delay_keys) },
	{ "typingMode",                  IS_WORD("never", "instant", "thinking", "message") },
	{ "heartbeat",                   IS_OBJ(heartbeat_keys) },
	{ "sandbox",                     IS_SANDBOX, KEY_READ },
	{ "contextTokens",               IS_ANY },
	{ 0 },
};

static const struct shape_key agent_subagents_keys[] = {
	{ "delegationMode",  IS_WORD("suggest", "prefer") },
	{ "allowAgents",     IS_LIST(oc_str) },
	{ "model",           { .kinds = K_STR | K_OBJ, .keys = oc_model_keys } },
	{ "thinking",        IS_STR },
	{ "requireAgentId",  IS_BOOL },
	{ 0 },
};

static const struct shape_key agent_embedded_agent_keys[] = {
	{ "executionContract",  IS_WORD("default", "strict-agentic") },
	{ 0 },
};

static const struct shape_key acp_keys[] = {
	{ "agent",    IS_STR },
	{ "backend",  IS_STR },
	{ "mode",     IS_WORD("persistent", "oneshot") },
	{ "cwd",      IS_STR },
	{ 0 },
};

static const struct shape_key runtime_keys[] = {
	{ "type",  IS_WORD("embedded", "acp"), KEY_NEEDED },
	{ "acp",   IS_OBJ(acp_keys) },
	{ 0 },
};

static const struct shape one_sources = IS_WORD("memory", "sessions");
static const struct shape_key extra_paths_keys[] = {
	{ "path",     IS_STR, KEY_NEEDED },
	{ "pattern",  IS_STR },
	{ 0 },
};

static const struct shape one_search_extra_paths = { .kinds = K_STR | K_OBJ, .keys = extra_paths_keys };
static const struct shape one_modalities = IS_WORD("image", "audio", "all");
static const struct shape_key multimodal_keys[] = {
	{ "enabled",       IS_BOOL },
	{ "modalities",    IS_LIST(one_modalities) },
	{ "maxFileBytes",  IS_COUNT },
	{ 0 },
};

static const struct shape_key search_experimental_keys[] = {
	{ "sessionMemory",  IS_BOOL },
	{ 0 },
};

static const struct shape_key remote_keys[] = {
	{ "baseUrl",  IS_STR },
	{ "apiKey",   IS_SECRET },
	{ "headers",  IS_MAP(oc_str) },
	{ "batch",    IS_OBJ(mid_turn_precheck_keys) },
	{ 0 },
};

static const struct shape_key local_keys[] = {
	{ "modelPath",  IS_STR },
	{ 0 },
};

static const struct shape_key fts_keys[] = {
	{ "tokenizer",  IS_WORD("unicode61", "trigram") },
	{ 0 },
};

static const struct shape_key vector_keys[] = {
	{ "enabled",        IS_BOOL },
	{ "extensionPath",  IS_STR },
	{ 0 },
};

static const struct shape_key store_keys[] = {
	{ "fts",     IS_OBJ(fts_keys) },
	{ "vector",  IS_OBJ(vector_keys) },
	{ 0 },
};

static const struct shape_key query_keys[] = {
	{ "maxResults",  IS_COUNT },
	{ "minScore",    IS_NUM(0, 1) },
	{ 0 },
};

static const struct shape_key search_keys[] = {
	{ "enabled",                      IS_BOOL },
	{ "rememberAcrossConversations",  IS_BOOL },
	{ "sources",                      IS_LIST(one_sources) },
	{ "extraPaths",                   IS_LIST(one_search_extra_paths) },
	{ "multimodal",                   IS_OBJ(multimodal_keys) },
	{ "experimental",                 IS_OBJ(search_experimental_keys) },
	{ "provider",                     IS_STR },
	{ "remote",                       IS_OBJ(remote_keys) },
	{ "fallback",                     IS_STR },
	{ "model",                        IS_STR },
	{ "inputType",                    IS_TEXT },
	{ "queryInputType",               IS_TEXT },
	{ "documentInputType",            IS_TEXT },
	{ "outputDimensionality",         IS_COUNT },
	{ "local",                        IS_OBJ(local_keys) },
	{ "store",                        IS_OBJ(store_keys) },
	{ "query",                        IS_OBJ(query_keys) },
	{ "cache",                        IS_OBJ(mid_turn_precheck_keys) },
	{ 0 },
};

static const struct shape_key memory_keys[] = {
	{ "search",  IS_OBJ(search_keys) },
	{ 0 },
};

static const struct shape_key providers_keys[] = {
	{ "apiKey",  IS_SECRET },
	{ 0 },
};

static const struct shape one_tts_personas_providers = { .kinds = K_OBJ,
	  .each = &oc_any, .keys = providers_keys };
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

static const struct shape_key tts_keys[] = {
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
	{ "prefsPath",       IS_STR },
	{ 0 },
};

static const struct shape_key skills_limits_keys[] = {
	{ "maxSkillsPromptChars",  IS_SIZE },
	{ 0 },
};

static const struct shape_key agent_heartbeat_keys[] = {
	{ "every",            { .kinds = K_STR, .check = CHECK_EVERY } },
	{ "activeHours",      IS_OBJ(active_hours_keys) },
	{ "model",            IS_STR },
	{ "session",          IS_STR },
	{ "target",           IS_SPELLED(TEXT_TARGET) },
	{ "directPolicy",     IS_WORD("allow", "block") },
	{ "to",               IS_STR },
	{ "accountId",        IS_STR },
	{ "prompt",           IS_STR },
	{ "timeoutSeconds",   IS_COUNT },
	{ "lightContext",     IS_BOOL },
	{ "isolatedSession",  IS_BOOL },
	{ 0 },
};

static const struct shape_key identity_keys[] = {
	{ "name",    IS_STR },
	{ "theme",   IS_STR },
	{ "emoji",   IS_STR },
	{ "avatar",  IS_STR },
	{ 0 },
};

static const struct shape_key group_chat_keys[] = {
	{ "mentionPatterns",     IS_LIST(oc_str) },
	{ "historyLimit",        IS_SIZE },
	{ "unmentionedInbound",  IS_WORD("user_request", "room_event") },
	{ 0 },
};

const struct shape_key oc_agent_keys[] = {
	{ "id",                      IS_STR, KEY_LIST },
	{ "name",                    IS_STR },
	{ "description",             IS_STR },
	{ "workspace",               IS_STR, KEY_READ },
	{ "cwd",                     IS_STR },
	{ "agentDir",                IS_STR },
	{ "model",                   { .kinds = K_STR | K_OBJ, .keys = oc_model_keys } },
	{ "utilityModel",            IS_STR },
	{ "decisionModel",           { .kinds = K_STR, .trim = true, .text = TEXT_MODEL, .max_len = 512 } },
	{ "models",                  { .kinds = K_OBJ, .each = &one_defaults_models, .check = CHECK_MODELS } },
	{ "modelPolicy",             IS_OBJ(model_policy_keys) },
	{ "thinkingDefault",         IS_WORD("off", "minimal", "low", "medium", "high", "xhigh",
	  "adaptive", "max", "ultra") },
	{ "verboseDefault",          IS_WORD("off", "on", "full") },
	{ "toolProgressDetail",      IS_WORD("explain", "raw") },
	{ "reasoningDefault",        IS_WORD("on", "off", "stream") },
	{ "fastModeDefault",         { .kinds = K_BOOL | K_STR, .words = WORDS_OF("auto") } },
	{ "contextInjection",        IS_WORD("always", "continuation-skip", "never") },
	{ "bootstrapMaxChars",       IS_COUNT },
	{ "bootstrapTotalMaxChars",  IS_COUNT },
	{ "experimental",            IS_OBJ(experimental_keys) },
	{ "skills",                  IS_LIST(oc_str) },
	{ "subagents",               IS_OBJ(agent_subagents_keys) },
	{ "embeddedAgent",           IS_OBJ(agent_embedded_agent_keys) },
	{ "params",                  IS_ANY_OBJ },
	{ "runtime",                 IS_OBJ(runtime_keys) },
	{ "memory",                  IS_OBJ(memory_keys) },
	{ "humanDelay",              IS_OBJ(human_delay_keys) },
	{ "typingMode",              IS_WORD("never", "instant", "thinking", "message") },
	{ "tts",                     IS_OBJ(tts_keys) },
	{ "skillsLimits",            IS_OBJ(skills_limits_keys) },
	{ "contextLimits",           IS_OBJ(context_limits_keys) },
	{ "heartbeat",               IS_OBJ(agent_heartbeat_keys) },
	{ "identity",                IS_OBJ(identity_keys) },
	{ "groupChat",               IS_OBJ(group_chat_keys) },
	{ "sandbox",                 IS_SANDBOX, KEY_READ },
	{ "tools",                   { .kinds = K_OBJ, .keys = oc_agent_tools_keys, .check = CHECK_POLICY,
	  .part = true }, KEY_READ },
	{ "default",                 IS_BOOL, KEY_READ },
	{ "contextTokens",           IS_ANY },
	{ 0 },
};
/* clang-format on */
