/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of models, secrets, memory, skills and plugins. creel reads none of them;
 * they are here because a file with a wrong one is refused by upstream, and so under compat.
 * Lengths, counts and spellings of names are not checked.
 */
#include "config/openclaw_shape_priv.h"

#include <math.h>

/* clang-format off */
static const struct shape_key agent_runtime_keys[] = {
	{ "id",  IS_STR },
	{ 0 },
};

static const struct shape_key local_service_keys[] = {
	{ "command",         IS_TEXT, KEY_NEEDED },
	{ "args",            IS_LIST(oc_str) },
	{ "cwd",             IS_TEXT },
	{ "env",             IS_MAP(oc_str) },
	{ "healthUrl",       IS_TEXT },
	{ "readyTimeoutMs",  IS_COUNT },
	{ "idleStopMs",      IS_SIZE },
	{ 0 },
};

static const struct shape_key models_providers_request_auth_keys[] = {
	{ "mode",        IS_WORD("provider-default", "authorization-bearer", "header"), KEY_NEEDED },
	{ "token",       IS_SECRET },
	{ "headerName",  IS_TEXT },
	{ "value",       IS_SECRET },
	{ "prefix",      IS_STR },
	{ 0 },
};

static const struct shape_key tls_keys[] = {
	{ "ca",                  IS_SECRET },
	{ "cert",                IS_SECRET },
	{ "key",                 IS_SECRET },
	{ "passphrase",          IS_SECRET },
	{ "serverName",          IS_STR },
	{ "insecureSkipVerify",  IS_BOOL },
	{ 0 },
};

static const struct shape_key providers_request_proxy_keys[] = {
	{ "mode",  IS_WORD("env-proxy", "explicit-proxy"), KEY_NEEDED },
	{ "tls",   IS_OBJ(tls_keys) },
	{ "url",   IS_TEXT },
	{ 0 },
};

static const struct shape_key request_keys[] = {
	{ "headers",              IS_MAP(oc_secret) },
	{ "auth",                 IS_OBJ(models_providers_request_auth_keys) },
	{ "proxy",                IS_OBJ(providers_request_proxy_keys) },
	{ "tls",                  IS_OBJ(tls_keys) },
	{ "allowPrivateNetwork",  IS_BOOL },
	{ 0 },
};

static const struct shape one_input = IS_WORD("text", "image", "video", "audio");
static const struct shape_key tiered_pricing_keys[] = {
	{ "input",       { .kinds = K_NUM }, KEY_NEEDED },
	{ "output",      { .kinds = K_NUM }, KEY_NEEDED },
	{ "cacheRead",   { .kinds = K_NUM }, KEY_NEEDED },
	{ "cacheWrite",  { .kinds = K_NUM }, KEY_NEEDED },
	{ "range",       { .kinds = K_ARR }, KEY_NEEDED },
	{ 0 },
};

static const struct shape one_cost_tiered_pricing = IS_OBJ(tiered_pricing_keys);
static const struct shape_key cost_keys[] = {
	{ "input",          { .kinds = K_NUM } },
	{ "output",         { .kinds = K_NUM } },
	{ "cacheRead",      { .kinds = K_NUM } },
	{ "cacheWrite",     { .kinds = K_NUM } },
	{ "tieredPricing",  IS_LIST(one_cost_tiered_pricing) },
	{ 0 },
};

static const struct shape_key thinking_level_map_keys[] = {
	{ "off",      { .kinds = K_STR | K_NULL } },
	{ "minimal",  { .kinds = K_STR | K_NULL } },
	{ "low",      { .kinds = K_STR | K_NULL } },
	{ "medium",   { .kinds = K_STR | K_NULL } },
	{ "high",     { .kinds = K_STR | K_NULL } },
	{ "xhigh",    { .kinds = K_STR | K_NULL } },
	{ "max",      { .kinds = K_STR | K_NULL } },
	{ 0 },
};

static const struct shape_key sort_keys[] = {
	{ "by",         IS_STR },
	{ "partition",  { .kinds = K_STR | K_NULL } },
	{ 0 },
};

static const struct shape_key max_price_keys[] = {
	{ "prompt",      { .kinds = K_NUM | K_STR } },
	{ "completion",  { .kinds = K_NUM | K_STR } },
	{ "image",       { .kinds = K_NUM | K_STR } },
	{ "audio",       { .kinds = K_NUM | K_STR } },
	{ "request",     { .kinds = K_NUM | K_STR } },
	{ 0 },
};

static const struct shape_key preferred_min_throughput_keys[] = {
	{ "p50",  { .kinds = K_NUM } },
	{ "p75",  { .kinds = K_NUM } },
	{ "p90",  { .kinds = K_NUM } },
	{ "p99",  { .kinds = K_NUM } },
	{ 0 },
};

static const struct shape_key open_router_routing_keys[] = {
	{ "allow_fallbacks",           IS_BOOL },
	{ "require_parameters",        IS_BOOL },
	{ "data_collection",           IS_WORD("deny", "allow") },
	{ "zdr",                       IS_BOOL },
	{ "enforce_distillable_text",  IS_BOOL },
	{ "order",                     IS_LIST(oc_str) },
	{ "only",                      IS_LIST(oc_str) },
	{ "ignore",                    IS_LIST(oc_str) },
	{ "quantizations",             IS_LIST(oc_str) },
	{ "sort",                      { .kinds = K_STR | K_OBJ, .keys = sort_keys } },
	{ "max_price",                 IS_OBJ(max_price_keys) },
	{ "preferred_min_throughput",  { .kinds = K_NUM | K_OBJ, .keys = preferred_min_throughput_keys } },
	{ "preferred_max_latency",     { .kinds = K_NUM | K_OBJ, .keys = preferred_min_throughput_keys } },
	{ 0 },
};

static const struct shape_key vercel_gateway_routing_keys[] = {
	{ "only",   IS_LIST(oc_str) },
	{ "order",  IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key compat_keys[] = {
	{ "supportsStore",                                IS_BOOL },
	{ "supportsPromptCacheKey",                       IS_BOOL },
	{ "supportsResponsesContinuation",                IS_BOOL },
	{ "supportsDeveloperRole",                        IS_BOOL },
	{ "supportsReasoningEffort",                      IS_BOOL },
	{ "supportsTemperature",                          IS_BOOL },
	{ "supportsInstructions",                         IS_BOOL },
	{ "supportsUsageInStreaming",                     IS_BOOL },
	{ "supportsTools",                                IS_BOOL },
	{ "codeMode",                                     IS_WORD("preferred", "capable") },
	{ "supportsStrictMode",                           IS_BOOL },
	{ "supportsJsonSchemaResponseFormat",             IS_BOOL },
	{ "requiresStringContent",                        IS_BOOL },
	{ "strictMessageKeys",                            IS_BOOL },
	{ "visibleReasoningDetailTypes",                  IS_LIST(oc_text) },
	{ "supportedReasoningEfforts",                    IS_LIST(oc_text) },
	{ "reasoningEffortMap",                           IS_MAP(oc_text) },
	{ "maxTokensField",                               IS_WORD("max_completion_tokens", "max_tokens") },
	{ "thinkingFormat",                               IS_WORD("openai", "openrouter", "deepseek",
	  "together", "qwen", "qwen-chat-template", "zai") },
	{ "requiresToolResultName",                       IS_BOOL },
	{ "requiresAssistantAfterToolResult",             IS_BOOL },
	{ "requiresThinkingAsText",                       IS_BOOL },
	{ "requiresReasoningContentOnAssistantMessages",  IS_BOOL },
	{ "toolSchemaProfile",                            IS_STR },
	{ "unsupportedToolSchemaKeywords",                IS_LIST(oc_text) },
	{ "toolCallArgumentsEncoding",                    IS_STR },
	{ "requiresOpenAiAnthropicToolPayload",           IS_BOOL },
	{ "openRouterRouting",                            IS_OBJ(open_router_routing_keys) },
	{ "vercelGatewayRouting",                         IS_OBJ(vercel_gateway_routing_keys) },
	{ "zaiToolStream",                                IS_BOOL },
	{ "cacheControlFormat",                           IS_WORD("anthropic") },
	{ "sendSessionAffinityHeaders",                   IS_BOOL },
	{ "sendSessionIdHeader",                          IS_BOOL },
	{ "supportsEagerToolInputStreaming",              IS_BOOL },
	{ "supportsLongCacheRetention",                   IS_BOOL },
	{ 0 },
};

static const struct shape_key image_keys[] = {
	{ "maxBytes",         IS_COUNT },
	{ "maxPixels",        IS_COUNT },
	{ "maxSidePx",        IS_COUNT },
	{ "preferredSidePx",  IS_COUNT },
	{ "tokenMode",        IS_WORD("tile", "detail", "provider") },
	{ 0 },
};

static const struct shape_key media_input_keys[] = {
	{ "image",  IS_OBJ(image_keys) },
	{ 0 },
};

static const struct shape_key models_keys[] = {
	{ "id",                IS_TEXT, KEY_NEEDED },
	{ "name",              IS_TEXT, KEY_NEEDED },
	{ "api",               IS_WORD("openai-completions", "openai-responses",
	  "openai-chatgpt-responses", "anthropic-messages", "google-generative-ai", "google-vertex",
	  "github-copilot", "bedrock-converse-stream", "ollama", "pi-messages", "azure-openai-responses") },
	{ "baseUrl",           IS_TEXT },
	{ "reasoning",         IS_BOOL },
	{ "input",             IS_LIST(one_input) },
	{ "cost",              IS_OBJ(cost_keys) },
	{ "contextWindow",     IS_ABOVE_0 },
	{ "contextTokens",     IS_COUNT },
	{ "maxTokens",         IS_ABOVE_0 },
	{ "thinkingLevelMap",  IS_OBJ(thinking_level_map_keys) },
	{ "params",            IS_ANY_OBJ },
	{ "agentRuntime",      IS_OBJ(agent_runtime_keys) },
	{ "headers",           IS_MAP(oc_str) },
	{ "compat",            IS_OBJ(compat_keys) },
	{ "mediaInput",        IS_OBJ(media_input_keys) },
	{ "metadataSource",    IS_WORD("models-add") },
	{ 0 },
};

static const struct shape one_providers_models = IS_OBJ(models_keys);
static const struct shape_key providers_keys[] = {
	{ "baseUrl",                      IS_STR },
	{ "apiKey",                       IS_SECRET },
	{ "auth",                         IS_WORD("api-key", "aws-sdk", "oauth", "token") },
	{ "api",                          IS_WORD("openai-completions", "openai-responses",
	  "openai-chatgpt-responses", "anthropic-messages", "google-generative-ai", "google-vertex",
	  "github-copilot", "bedrock-converse-stream", "ollama", "pi-messages", "azure-openai-responses") },
	{ "maxTokens",                    IS_ABOVE_0 },
	{ "timeoutSeconds",               IS_COUNT },
	{ "region",                       IS_TEXT },
	{ "injectNumCtxForOpenAICompat",  IS_BOOL },
	{ "params",                       IS_ANY_OBJ },
	{ "agentRuntime",                 IS_OBJ(agent_runtime_keys) },
	{ "localService",                 IS_OBJ(local_service_keys) },
	{ "headers",                      IS_MAP(oc_secret) },
	{ "authHeader",                   IS_BOOL },
	{ "request",                      IS_OBJ(request_keys) },
	{ "models",                       IS_LIST(one_providers_models) },
	{ 0 },
};

static const struct shape one_models_providers = IS_OBJ(providers_keys);
static const struct shape_key catalog_refresh_keys[] = {
	{ "enabled",  IS_BOOL },
	{ "url",      IS_SPELLED(TEXT_CATALOG_URL) },
	{ 0 },
};

const struct shape_key oc_models_keys[] = {
	{ "mode",            IS_WORD("merge", "replace") },
	{ "providers",       { .kinds = K_OBJ, .each = &one_models_providers, .check = CHECK_PROVIDERS } },
	{ "catalogRefresh",  IS_OBJ(catalog_refresh_keys) },
	{ 0 },
};

static const struct shape one_host = IS_SPELLED_NAME(TEXT_HOST);
static const struct shape_key egress_proxy_keys[] = {
	{ "enabled",       IS_BOOL },
	{ "allowedHosts",  { .kinds = K_ARR, .items = &one_host, .max_items = 256 } },
	{ "bypassHosts",   { .kinds = K_ARR, .items = &one_host, .max_items = 256 } },
	{ 0 },
};

static const struct shape one_variable = IS_SPELLED(TEXT_VARIABLE);
static const struct shape_key env_provider_keys[] = {
	{ "source",     IS_WORD("env"), KEY_NEEDED },
	{ "allowlist",  { .kinds = K_ARR, .items = &one_variable, .max_items = 256 } },
	{ 0 },
};

static const struct shape_key file_provider_keys[] = {
	{ "source",     IS_WORD("file"), KEY_NEEDED },
	{ "path",       IS_TEXT, KEY_NEEDED },
	{ "mode",       IS_WORD("singleValue", "json") },
	{ "timeoutMs",  IS_INT(1, 120000) },
	{ "maxBytes",   IS_INT(1, 20971520) },
	{ 0 },
};

static const struct shape one_argument = { .kinds = K_STR, .max_len = 1024 };
static const struct shape one_trusted_dir = IS_SPELLED(TEXT_ANY_ABSOLUTE);
static const struct shape_key exec_provider_keys[] = {
	{ "source",             IS_WORD("exec"), KEY_NEEDED },
	{ "command",            IS_SPELLED(TEXT_PROGRAM), KEY_NEEDED },
	{ "args",               { .kinds = K_ARR, .items = &one_argument, .max_items = 128 } },
	{ "timeoutMs",          IS_INT(1, 120000) },
	{ "noOutputTimeoutMs",  IS_INT(1, 120000) },
	{ "maxOutputBytes",     IS_INT(1, 20971520) },
	{ "jsonOnly",           IS_BOOL },
	{ "env",                IS_MAP(oc_str) },
	{ "passEnv",            { .kinds = K_ARR, .items = &one_variable, .max_items = 128 } },
	{ "trustedDirs",        { .kinds = K_ARR, .items = &one_trusted_dir, .max_items = 64 } },
	{ 0 },
};

static const struct shape_key integration_keys[] = {
	{ "pluginId",       { .kinds = K_STR, .min_len = 1, .max_len = 128 }, KEY_NEEDED },
	{ "integrationId",  { .kinds = K_STR, .min_len = 1, .max_len = 128 }, KEY_NEEDED },
	{ 0 },
};

static const struct shape_key plugin_provider_keys[] = {
	{ "source",             IS_WORD("exec"), KEY_NEEDED },
	{ "pluginIntegration",  IS_OBJ(integration_keys), KEY_NEEDED },
	{ 0 },
};

static const struct shape_key store_provider_keys[] = {
	{ "source",  IS_WORD("store"), KEY_NEEDED },
	{ 0 },
};

static const struct shape env_provider = IS_OBJ(env_provider_keys), file_provider = IS_OBJ(file_provider_keys),
	  exec_provider = IS_OBJ(exec_provider_keys), plugin_provider = IS_OBJ(plugin_provider_keys),
	  store_provider = IS_OBJ(store_provider_keys);
static const struct shape *const any_provider[] = {
	&env_provider, &file_provider, &exec_provider, &plugin_provider, &store_provider, NULL,
};
static const struct shape one_secrets_providers8 = { .kinds = K_OBJ, .any = any_provider };
static const struct shape_key defaults_keys[] = {
	{ "env",    IS_SPELLED(TEXT_ALIAS) },
	{ "file",   IS_SPELLED(TEXT_ALIAS) },
	{ "exec",   IS_SPELLED(TEXT_ALIAS) },
	{ "store",  IS_SPELLED(TEXT_ALIAS) },
	{ 0 },
};

const struct shape_key oc_secrets_keys[] = {
	{ "egressProxy",  IS_OBJ(egress_proxy_keys) },
	{ "providers",    IS_MAP(one_secrets_providers8) },
	{ "defaults",     IS_OBJ(defaults_keys) },
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

static const struct shape_key experimental_keys[] = {
	{ "sessionMemory",  IS_BOOL },
	{ 0 },
};

static const struct shape_key batch_keys[] = {
	{ "enabled",  IS_BOOL },
	{ 0 },
};

static const struct shape_key remote_keys[] = {
	{ "baseUrl",  IS_STR },
	{ "apiKey",   IS_SECRET },
	{ "headers",  IS_MAP(oc_str) },
	{ "batch",    IS_OBJ(batch_keys) },
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
	{ "experimental",                 IS_OBJ(experimental_keys) },
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
	{ "cache",                        IS_OBJ(batch_keys) },
	{ 0 },
};

const struct shape_key oc_memory_keys[] = {
	{ "citations",  IS_WORD("auto", "on", "off") },
	{ "search",     IS_OBJ(search_keys) },
	{ 0 },
};

static const struct shape_key load_keys[] = {
	{ "extraDirs",            IS_LIST(oc_str) },
	{ "allowSymlinkTargets",  IS_LIST(oc_str) },
	{ "watch",                IS_BOOL },
	{ 0 },
};

static const struct shape_key install_keys[] = {
	{ "preferBrew",             IS_BOOL },
	{ "nodeManager",            IS_WORD("npm", "pnpm", "yarn", "bun") },
	{ "allowUploadedArchives",  IS_BOOL },
	{ 0 },
};

static const struct shape_key limits_keys[] = {
	{ "maxCandidatesPerRoot",      IS_COUNT },
	{ "maxSkillsLoadedPerSource",  IS_COUNT },
	{ "maxSkillsInPrompt",         IS_SIZE },
	{ "maxSkillsPromptChars",      IS_SIZE },
	{ "maxSkillFileBytes",         IS_SIZE },
	{ 0 },
};

static const struct shape_key autonomous_keys[] = {
	{ "mode",  IS_WORD("off", "propose", "auto") },
	{ 0 },
};

static const struct shape_key workshop_keys[] = {
	{ "autonomous",      IS_OBJ(autonomous_keys) },
	{ "approvalPolicy",  IS_WORD("pending", "auto") },
	{ "maxPending",      IS_COUNT },
	{ "maxSkillBytes",   IS_COUNT },
	{ 0 },
};

static const struct shape_key entries_keys[] = {
	{ "enabled",  IS_BOOL },
	{ "apiKey",   IS_SECRET },
	{ "env",      IS_MAP(oc_str) },
	{ "config",   IS_ANY_OBJ },
	{ 0 },
};

static const struct shape one_skills_entries = IS_OBJ(entries_keys);
const struct shape_key oc_skills_keys[] = {
	{ "allowBundled",  IS_LIST(oc_str) },
	{ "load",          IS_OBJ(load_keys) },
	{ "install",       IS_OBJ(install_keys) },
	{ "limits",        IS_OBJ(limits_keys) },
	{ "workshop",      IS_OBJ(workshop_keys) },
	{ "entries",       IS_MAP(one_skills_entries) },
	{ 0 },
};

static const struct shape_key plugins_load_keys[] = {
	{ "paths",  IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key slots_keys[] = {
	{ "memory",         IS_SPELLED(TEXT_MEMORY_SLOT) },
	{ "contextEngine",  IS_STR },
	{ 0 },
};

static const struct shape one_timeouts = IS_INT(1, 600000);
static const struct shape_key hooks_keys[] = {
	{ "allowPromptInjection",     IS_BOOL },
	{ "allowConversationAccess",  IS_BOOL },
	{ "timeoutMs",                IS_INT(1, 600000) },
	{ "timeouts",                 IS_MAP(one_timeouts) },
	{ 0 },
};

static const struct shape_key subagent_keys[] = {
	{ "allowModelOverride",  IS_BOOL },
	{ "allowedModels",       IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key llm_keys[] = {
	{ "allowModelOverride",        IS_BOOL },
	{ "allowedModels",             IS_LIST(oc_str) },
	{ "allowedCompletionModels",   IS_LIST(oc_str) },
	{ "allowAuthProfileOverride",  IS_BOOL },
	{ "allowAgentIdOverride",      IS_BOOL },
	{ 0 },
};

static const struct shape_key plugins_entries_keys[] = {
	{ "enabled",   IS_BOOL },
	{ "hooks",     IS_OBJ(hooks_keys) },
	{ "subagent",  IS_OBJ(subagent_keys) },
	{ "llm",       IS_OBJ(llm_keys) },
	{ "config",    IS_ANY_OBJ },
	{ 0 },
};

static const struct shape one_plugins_entries2 = IS_OBJ(plugins_entries_keys);
const struct shape_key oc_plugins_keys[] = {
	{ "enabled",  IS_BOOL },
	{ "allow",    IS_LIST(oc_str) },
	{ "deny",     IS_LIST(oc_str) },
	{ "load",     IS_OBJ(plugins_load_keys) },
	{ "slots",    IS_OBJ(slots_keys) },
	{ "entries",  IS_MAP(one_plugins_entries2) },
	{ 0 },
};

static const struct shape_key silent_reply_keys[] = {
	{ "group",     IS_WORD("allow", "disallow") },
	{ "internal",  IS_WORD("allow", "disallow") },
	{ 0 },
};

static const struct shape_key surfaces_keys[] = {
	{ "silentReply",  IS_OBJ(silent_reply_keys) },
	{ 0 },
};

const struct shape oc_one_surfaces = IS_OBJ(surfaces_keys);/* clang-format on */
