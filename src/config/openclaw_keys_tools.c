/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tools and the smaller tools of an agent. Of tools.media only the shape is checked, not how its secrets and
 * headers belong together: no decision of creel looks at it.
 */
#include "config/openclaw_shape_priv.h"

#include <math.h>

/* clang-format off */
static const struct shape_key by_provider_keys[] = {
	{ "allow",      IS_LIST(oc_str) },
	{ "alsoAllow",  IS_LIST(oc_str) },
	{ "deny",       IS_LIST(oc_str) },
	{ "profile",    IS_WORD("minimal", "coding", "messaging", "full") },
	{ 0 },
};

static const struct shape one_agent_tools_by_provider = { .kinds = K_OBJ, .keys = by_provider_keys,
	  .check = CHECK_POLICY };
static const struct shape_key tools_by_sender_keys[] = {
	{ "allow",      IS_LIST(oc_str) },
	{ "alsoAllow",  IS_LIST(oc_str) },
	{ "deny",       IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape one_agent_tools_tools_by_sender = { .kinds = K_OBJ,
	  .keys = tools_by_sender_keys, .check = CHECK_POLICY };
static const struct shape_key code_mode_keys[] = {
	{ "enabled",              { .kinds = K_BOOL | K_STR, .words = WORDS_OF("auto") } },
	{ "executor",             IS_WORD("node", "quickjs") },
	{ "mode",                 IS_WORD("only") },
	{ "timeoutMs",            IS_COUNT },
	{ "memoryLimitBytes",     IS_COUNT },
	{ "maxOutputBytes",       IS_COUNT },
	{ "maxSnapshotBytes",     IS_COUNT },
	{ "maxPendingToolCalls",  IS_COUNT },
	{ "snapshotTtlSeconds",   IS_COUNT },
	{ "searchDefaultLimit",   IS_COUNT },
	{ "maxSearchLimit",       IS_COUNT },
	{ 0 },
};

static const struct shape_key swarm_keys[] = {
	{ "enabled",                IS_BOOL },
	{ "maxConcurrent",          IS_COUNT },
	{ "maxChildrenPerGroup",    IS_COUNT },
	{ "maxTotalPerGroup",       IS_COUNT },
	{ "waitTimeoutSecondsMax",  IS_COUNT },
	{ "defaultAgentId",         IS_STR },
	{ 0 },
};

static const struct shape one_allow_from = IS_LIST(oc_str_or_num);
static const struct shape_key elevated_keys[] = {
	{ "enabled",    IS_BOOL },
	{ "allowFrom",  IS_MAP(one_allow_from) },
	{ 0 },
};

static const struct shape_key safe_bin_profiles_keys[] = {
	{ "minPositional",      IS_SIZE },
	{ "maxPositional",      IS_SIZE },
	{ "allowedValueFlags",  IS_LIST(oc_str) },
	{ "deniedFlags",        IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape one_exec_safe_bin_profiles = IS_OBJ(safe_bin_profiles_keys);
static const struct shape_key reviewer_keys[] = {
	{ "model",      { .kinds = K_STR | K_OBJ, .keys = oc_model_keys } },
	{ "thinking",   IS_WORD("minimal", "low", "medium", "high", "xhigh", "max") },
	{ "fastMode",   IS_BOOL },
	{ "timeoutMs",  IS_COUNT },
	{ 0 },
};

static const struct shape_key apply_patch_keys[] = {
	{ "enabled",        IS_BOOL },
	{ "workspaceOnly",  IS_BOOL },
	{ "allowModels",    IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key exec_keys[] = {
	{ "host",                      IS_WORD("auto", "sandbox", "gateway", "node"), KEY_READ },
	{ "mode",                      IS_WORD("deny", "allowlist", "ask", "auto", "full"), KEY_READ },
	{ "security",                  IS_WORD("deny", "allowlist", "full"), KEY_READ },
	{ "ask",                       IS_WORD("off", "on-miss", "always"), KEY_READ },
	{ "node",                      IS_STR },
	{ "pathPrepend",               IS_LIST(oc_str) },
	{ "safeBins",                  IS_LIST(oc_str) },
	{ "strictInlineEval",          IS_BOOL },
	{ "commandHighlighting",       IS_BOOL },
	{ "grantExpiryDays",           IS_INT(1, 3650) },
	{ "safeBinTrustedDirs",        IS_LIST(oc_str) },
	{ "safeBinProfiles",           IS_MAP(one_exec_safe_bin_profiles) },
	{ "reviewer",                  IS_OBJ(reviewer_keys) },
	{ "backgroundMs",              IS_COUNT },
	{ "approvalRunningNoticeMs",   IS_SIZE },
	{ "timeoutSeconds",            IS_COUNT },
	{ "cleanupMs",                 IS_COUNT },
	{ "notifyOnExit",              IS_BOOL },
	{ "notifyOnExitEmptySuccess",  IS_BOOL },
	{ "applyPatch",                IS_OBJ(apply_patch_keys) },
	{ 0 },
};

static const struct shape_key git_author_keys[] = {
	{ "name",   IS_NAME },
	{ "email",  IS_NAME },
	{ 0 },
};

static const struct shape_key github_keys[] = {
	{ "profileId",  { .kinds = K_STR, .check = CHECK_GITHUB }, KEY_NEEDED },
	{ "kind",       IS_WORD("oauth") },
	{ "gitAuthor",  IS_OBJ(git_author_keys) },
	{ 0 },
};

static const struct shape_key fs_keys[] = {
	{ "workspaceOnly",  IS_BOOL },
	{ 0 },
};

static const struct shape_key loop_detection_keys[] = {
	{ "enabled",  IS_BOOL },
	{ 0 },
};

static const struct shape_key marker_keys[] = {
	{ "enabled",  IS_BOOL },
	{ "prefix",   IS_STR },
	{ "suffix",   IS_STR },
	{ 0 },
};

static const struct shape_key cross_context_keys[] = {
	{ "allowWithinProvider",   IS_BOOL },
	{ "allowAcrossProviders",  IS_BOOL },
	{ "marker",                IS_OBJ(marker_keys) },
	{ 0 },
};

static const struct shape_key actions_keys[] = {
	{ "allow",  IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key message_keys[] = {
	{ "crossContext",  IS_OBJ(cross_context_keys) },
	{ "actions",       IS_OBJ(actions_keys) },
	{ "broadcast",     IS_OBJ(loop_detection_keys) },
	{ 0 },
};

static const struct shape_key sandbox_keys[] = {
	{ "tools",  { .kinds = K_OBJ, .keys = tools_by_sender_keys, .check = CHECK_POLICY } },
	{ 0 },
};

const struct shape_key oc_agent_tools_keys[] = {
	{ "profile",        IS_WORD("minimal", "coding", "messaging", "full"), KEY_READ },
	{ "allow",          IS_LIST(oc_str), KEY_READ },
	{ "alsoAllow",      IS_LIST(oc_str), KEY_READ },
	{ "deny",           IS_LIST(oc_str), KEY_READ },
	{ "byProvider",     IS_MAP(one_agent_tools_by_provider), KEY_READ },
	{ "toolsBySender",  IS_MAP(one_agent_tools_tools_by_sender), KEY_READ },
	{ "codeMode",       { .kinds = K_BOOL | K_STR | K_OBJ, .words = WORDS_OF("auto"),
	  .keys = code_mode_keys } },
	{ "swarm",          { .kinds = K_BOOL | K_OBJ, .keys = swarm_keys } },
	{ "elevated",       IS_OBJ(elevated_keys), KEY_READ },
	{ "exec",           { .kinds = K_OBJ, .keys = exec_keys, .check = CHECK_EXEC, .part = true, .open = true }, KEY_READ },
	{ "github",         IS_OBJ(github_keys) },
	{ "fs",             IS_OBJ(fs_keys), KEY_READ },
	{ "loopDetection",  IS_OBJ(loop_detection_keys) },
	{ "message",        IS_OBJ(message_keys) },
	{ "sandbox",        IS_OBJ(sandbox_keys), KEY_READ },
	{ 0 },
};

static const struct shape_key user_location_keys[] = {
	{ "country",   IS_STR },
	{ "region",    IS_STR },
	{ "city",      IS_STR },
	{ "timezone",  IS_STR },
	{ 0 },
};

static const struct shape_key openai_codex_keys[] = {
	{ "enabled",         IS_BOOL },
	{ "mode",            IS_WORD("cached", "live") },
	{ "allowedDomains",  IS_LIST(oc_str) },
	{ "contextSize",     IS_WORD("low", "medium", "high") },
	{ "userLocation",    IS_OBJ(user_location_keys) },
	{ 0 },
};

static const struct shape_key search_keys[] = {
	{ "enabled",          IS_BOOL },
	{ "provider",         IS_STR },
	{ "maxResults",       IS_COUNT },
	{ "timeoutSeconds",   IS_COUNT },
	{ "cacheTtlMinutes",  IS_NUM(0, HUGE_VAL) },
	{ "openaiCodex",      IS_OBJ(openai_codex_keys) },
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

static const struct shape_key fetch_keys[] = {
	{ "enabled",             IS_BOOL },
	{ "provider",            IS_STR },
	{ "maxChars",            IS_COUNT },
	{ "maxCharsCap",         IS_COUNT },
	{ "maxResponseBytes",    IS_COUNT },
	{ "timeoutSeconds",      IS_COUNT },
	{ "cacheTtlMinutes",     IS_NUM(0, HUGE_VAL) },
	{ "maxRedirects",        IS_SIZE },
	{ "userAgent",           IS_STR },
	{ "headers",             IS_MAP(oc_str) },
	{ "readability",         IS_BOOL },
	{ "useTrustedEnvProxy",  IS_BOOL },
	{ "ssrfPolicy",          IS_OBJ(ssrf_policy_keys) },
	{ 0 },
};

static const struct shape_key web_keys[] = {
	{ "search",  { .kinds = K_OBJ, .each = &oc_any, .keys = search_keys, .check = CHECK_SEARCH } },
	{ "fetch",   IS_OBJ(fetch_keys) },
	{ 0 },
};

static const struct shape one_capabilities = IS_WORD("image", "audio", "video");
static const struct shape one_provider_options = { .kinds = K_STR | K_NUM | K_BOOL };
static const struct shape one_models_provider_options = IS_MAP(one_provider_options);
static const struct shape_key auth_keys[] = {
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

static const struct shape_key proxy_keys[] = {
	{ "mode",  IS_WORD("env-proxy", "explicit-proxy"), KEY_NEEDED },
	{ "tls",   IS_OBJ(tls_keys) },
	{ "url",   IS_TEXT },
	{ 0 },
};

static const struct shape_key request_keys[] = {
	{ "headers",  IS_MAP(oc_secret) },
	{ "auth",     IS_OBJ(auth_keys) },
	{ "proxy",    IS_OBJ(proxy_keys) },
	{ "tls",      IS_OBJ(tls_keys) },
	{ 0 },
};

static const struct shape_key models_keys[] = {
	{ "provider",          IS_STR },
	{ "model",             IS_STR },
	{ "capabilities",      IS_LIST(one_capabilities) },
	{ "type",              IS_WORD("provider", "cli") },
	{ "command",           IS_STR },
	{ "args",              IS_LIST(oc_str) },
	{ "maxChars",          IS_COUNT },
	{ "maxBytes",          IS_COUNT },
	{ "prompt",            IS_STR },
	{ "timeoutSeconds",    IS_COUNT },
	{ "language",          IS_STR },
	{ "providerOptions",   IS_MAP(one_models_provider_options) },
	{ "baseUrl",           IS_STR },
	{ "headers",           IS_MAP(oc_str) },
	{ "request",           IS_OBJ(request_keys) },
	{ "profile",           IS_STR },
	{ "preferredProfile",  IS_STR },
	{ 0 },
};

static const struct shape one_media_models = IS_OBJ(models_keys);
static const struct shape_key match_keys[] = {
	{ "channel",       IS_STR },
	{ "chatType",      IS_WORD("direct", "group", "channel") },
	{ "keyPrefix",     IS_STR },
	{ "rawKeyPrefix",  IS_STR },
	{ 0 },
};

static const struct shape_key rules_keys[] = {
	{ "action",  IS_WORD("allow", "deny"), KEY_NEEDED },
	{ "match",   IS_OBJ(match_keys) },
	{ 0 },
};

static const struct shape one_scope_rules = IS_OBJ(rules_keys);
static const struct shape_key scope_keys[] = {
	{ "default",  IS_WORD("allow", "deny") },
	{ "rules",    IS_LIST(one_scope_rules) },
	{ 0 },
};

static const struct shape_key attachments_keys[] = {
	{ "mode",            IS_WORD("first", "all") },
	{ "maxAttachments",  IS_COUNT },
	{ "prefer",          IS_WORD("first", "last", "path", "url") },
	{ 0 },
};

static const struct shape_key image_keys[] = {
	{ "enabled",          IS_BOOL },
	{ "preferredModel",   IS_NAME },
	{ "scope",            IS_OBJ(scope_keys) },
	{ "maxBytes",         IS_COUNT },
	{ "maxChars",         IS_COUNT },
	{ "prompt",           IS_STR },
	{ "timeoutSeconds",   IS_COUNT },
	{ "language",         IS_STR },
	{ "providerOptions",  IS_MAP(one_models_provider_options) },
	{ "baseUrl",          IS_STR },
	{ "headers",          IS_MAP(oc_str) },
	{ "request",          IS_OBJ(request_keys) },
	{ "attachments",      IS_OBJ(attachments_keys) },
	{ 0 },
};

static const struct shape_key audio_keys[] = {
	{ "enabled",          IS_BOOL },
	{ "preferredModel",   IS_NAME },
	{ "scope",            IS_OBJ(scope_keys) },
	{ "maxBytes",         IS_COUNT },
	{ "maxChars",         IS_COUNT },
	{ "prompt",           IS_STR },
	{ "timeoutSeconds",   IS_COUNT },
	{ "language",         IS_STR },
	{ "providerOptions",  IS_MAP(one_models_provider_options) },
	{ "baseUrl",          IS_STR },
	{ "headers",          IS_MAP(oc_str) },
	{ "request",          IS_OBJ(request_keys) },
	{ "attachments",      IS_OBJ(attachments_keys) },
	{ "echoTranscript",   IS_BOOL },
	{ "echoFormat",       IS_STR },
	{ 0 },
};

static const struct shape_key media_keys[] = {
	{ "models",       IS_LIST(one_media_models) },
	{ "concurrency",  IS_COUNT },
	{ "image",        IS_OBJ(image_keys) },
	{ "audio",        IS_OBJ(audio_keys) },
	{ "video",        IS_OBJ(image_keys) },
	{ 0 },
};

static const struct shape_key links_models_keys[] = {
	{ "type",            IS_WORD("cli") },
	{ "command",         IS_TEXT, KEY_NEEDED },
	{ "args",            IS_LIST(oc_str) },
	{ "timeoutSeconds",  IS_COUNT },
	{ 0 },
};

static const struct shape one_tools_links_models = IS_OBJ(links_models_keys);
static const struct shape_key links_keys[] = {
	{ "enabled",         IS_BOOL },
	{ "scope",           IS_OBJ(scope_keys) },
	{ "maxLinks",        IS_COUNT },
	{ "timeoutSeconds",  IS_COUNT },
	{ "models",          IS_LIST(one_tools_links_models) },
	{ 0 },
};

static const struct shape_key sessions_keys[] = {
	{ "visibility",  IS_WORD("self", "tree", "agent", "all") },
	{ 0 },
};

static const struct shape_key tool_search_keys[] = {
	{ "enabled",             IS_BOOL },
	{ "mode",                IS_WORD("code", "tools", "directory") },
	{ "codeTimeoutMs",       IS_COUNT },
	{ "searchDefaultLimit",  IS_COUNT },
	{ "maxSearchLimit",      IS_COUNT },
	{ 0 },
};

static const struct shape_key agent_to_agent_keys[] = {
	{ "enabled",  IS_BOOL },
	{ "allow",    IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key sessions_spawn_attachments_keys[] = {
	{ "enabled",              IS_BOOL },
	{ "maxTotalBytes",        { .kinds = K_NUM } },
	{ "maxFiles",             { .kinds = K_NUM } },
	{ "maxFileBytes",         { .kinds = K_NUM } },
	{ "retainOnSessionKeep",  IS_BOOL },
	{ 0 },
};

static const struct shape_key sessions_spawn_keys[] = {
	{ "attachments",  IS_OBJ(sessions_spawn_attachments_keys) },
	{ 0 },
};

const struct shape_key oc_tools_keys[] = {
	{ "profile",         IS_WORD("minimal", "coding", "messaging", "full"), KEY_READ },
	{ "allow",           IS_LIST(oc_str), KEY_READ },
	{ "alsoAllow",       IS_LIST(oc_str), KEY_READ },
	{ "deny",            IS_LIST(oc_str), KEY_READ },
	{ "byProvider",      IS_MAP(one_agent_tools_by_provider), KEY_READ },
	{ "toolsBySender",   IS_MAP(one_agent_tools_tools_by_sender), KEY_READ },
	{ "web",             IS_OBJ(web_keys) },
	{ "github",          IS_OBJ(github_keys) },
	{ "media",           IS_OBJ(media_keys) },
	{ "links",           IS_OBJ(links_keys) },
	{ "sessions",        IS_OBJ(sessions_keys) },
	{ "loopDetection",   IS_OBJ(loop_detection_keys) },
	{ "toolSearch",      { .kinds = K_BOOL | K_OBJ, .keys = tool_search_keys } },
	{ "codeMode",        { .kinds = K_BOOL | K_STR | K_OBJ, .words = WORDS_OF("auto"),
	  .keys = code_mode_keys } },
	{ "swarm",           { .kinds = K_BOOL | K_OBJ, .keys = swarm_keys } },
	{ "message",         IS_OBJ(message_keys) },
	{ "agentToAgent",    IS_OBJ(agent_to_agent_keys) },
	{ "elevated",        IS_OBJ(elevated_keys), KEY_READ },
	{ "exec",            { .kinds = K_OBJ, .keys = exec_keys, .check = CHECK_EXEC, .part = true, .open = true }, KEY_READ },
	{ "fs",              IS_OBJ(fs_keys), KEY_READ },
	{ "subagents",       IS_OBJ(sandbox_keys), KEY_READ },
	{ "sandbox",         IS_OBJ(sandbox_keys), KEY_READ },
	{ "sessions_spawn",  IS_OBJ(sessions_spawn_keys) },
	{ "updatePlan",      IS_BOOL },
	{ 0 },
};
/* clang-format on */
