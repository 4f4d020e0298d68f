/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The top of openclaw.json, and what all tables share. Behind the keys that are no business of creel
 * (gateway, models, plugins and so on) any object is accepted: OpenClaw checks these itself.
 */
#include "config/openclaw_shape_priv.h"

#include <math.h>

/* clang-format off */
const struct shape oc_any = IS_ANY, oc_str = IS_STR, oc_bool = IS_BOOL, oc_text = IS_TEXT, oc_name = IS_NAME, oc_secret = IS_SECRET;
const struct shape oc_strs = IS_LIST(oc_str), oc_str_or_num = { .kinds = K_STR | K_NUM };

const struct shape_key oc_secret_keys[] = {
	{ "source",    IS_WORD("env", "file", "exec", "store"), KEY_NEEDED },
	{ "provider",  IS_STR, KEY_NEEDED },
	{ "id",        IS_STR, KEY_NEEDED },
	{ 0 },
};

const struct shape_key oc_model_keys[] = {
	{ "primary",    IS_STR },
	{ "fallbacks",  IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key reset_keys[] = {
	{ "mode",         IS_WORD("none", "daily", "idle") },
	{ "atHour",       IS_INT(0, 23) },
	{ "idleMinutes",  IS_COUNT },
	{ 0 },
};

static const struct shape_key reset_by_type_keys[] = {
	{ "direct",  IS_OBJ(reset_keys) },
	{ "group",   IS_OBJ(reset_keys) },
	{ "thread",  IS_OBJ(reset_keys) },
	{ 0 },
};

static const struct shape one_reset_by_channel = IS_OBJ(reset_keys);
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

static const struct shape one_send_policy_rules = IS_OBJ(rules_keys);
static const struct shape_key send_policy_keys[] = {
	{ "default",  IS_WORD("allow", "deny") },
	{ "rules",    IS_LIST(one_send_policy_rules) },
	{ 0 },
};

static const struct shape_key thread_bindings_keys[] = {
	{ "enabled",              IS_BOOL },
	{ "idleHours",            IS_NUM(0, HUGE_VAL) },
	{ "maxAgeHours",          IS_NUM(0, HUGE_VAL) },
	{ "spawnSessions",        IS_BOOL },
	{ "defaultSpawnContext",  IS_WORD("isolated", "fork") },
	{ 0 },
};

static const struct shape_key sharing_keys[] = {
	{ "readOnly",  IS_BOOL },
	{ "suggest",   IS_BOOL },
	{ "drafts",    IS_BOOL },
	{ 0 },
};

static const struct shape_key cold_storage_keys[] = {
	{ "enabled",    IS_BOOL },
	{ "afterDays",  IS_COUNT },
	{ 0 },
};

static const struct shape_key maintenance_keys[] = {
	{ "mode",                   IS_WORD("enforce", "warn") },
	{ "coldStorage",            IS_OBJ(cold_storage_keys) },
	{ "pruneAfter",             { .kinds = K_STR | K_NUM, .check = CHECK_AGE } },
	{ "archiveDashboardAfter",  { .kinds = K_STR | K_NUM | K_BOOL, .check = CHECK_AGE } },
	{ "maxEntries",             IS_COUNT },
	{ "preserveRecent",         { .kinds = K_STR | K_NUM | K_BOOL, .check = CHECK_AGE } },
	{ "resetArchiveRetention",  { .kinds = K_STR | K_NUM | K_BOOL, .check = CHECK_AGE } },
	{ "maxDiskBytes",           { .kinds = K_STR | K_NUM | K_BOOL, .check = CHECK_BYTES } },
	{ "highWaterBytes",         { .kinds = K_STR | K_NUM, .check = CHECK_BYTES } },
	{ 0 },
};

static const struct shape_key session_keys[] = {
	{ "scope",           IS_WORD("per-sender", "global"), KEY_READ },
	{ "dmScope",         IS_WORD("main", "per-peer", "per-channel-peer", "per-account-channel-peer") },
	{ "groupScope",      IS_WORD("main", "per-group") },
	{ "notifyOnCreate",  IS_BOOL },
	{ "identityLinks",   IS_MAP(oc_strs) },
	{ "resetTriggers",   IS_LIST(oc_str) },
	{ "reset",           IS_OBJ(reset_keys) },
	{ "resetByType",     IS_OBJ(reset_by_type_keys) },
	{ "resetByChannel",  IS_MAP(one_reset_by_channel) },
	{ "store",           IS_STR },
	{ "mainKey",         IS_STR, KEY_READ },
	{ "sendPolicy",      IS_OBJ(send_policy_keys) },
	{ "threadBindings",  IS_OBJ(thread_bindings_keys) },
	{ "sharing",         IS_OBJ(sharing_keys) },
	{ "maintenance",     IS_OBJ(maintenance_keys) },
	{ 0 },
};

static const struct shape_key shell_env_keys[] = {
	{ "enabled",    IS_BOOL },
	{ "timeoutMs",  IS_SIZE },
	{ 0 },
};

static const struct shape_key env_keys[] = {
	{ "shellEnv",  IS_OBJ(shell_env_keys) },
	{ "vars",      IS_MAP(oc_str), KEY_READ },
	{ 0 },
};

static const struct shape_key peer_keys[] = {
	{ "kind",  IS_WORD("direct", "group", "channel"), KEY_NEEDED },
	{ "id",    IS_STR, KEY_NEEDED },
	{ 0 },
};

static const struct shape_key binding_match_keys[] = {
	{ "channel",    IS_STR, KEY_NEEDED },
	{ "accountId",  IS_STR },
	{ "peer",       IS_OBJ(peer_keys) },
	{ "guildId",    IS_STR },
	{ "teamId",     IS_STR },
	{ "roles",      IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key binding_session_keys[] = {
	{ "dmScope",     IS_WORD("main", "per-peer", "per-channel-peer", "per-account-channel-peer") },
	{ "groupScope",  IS_WORD("main", "per-group") },
	{ 0 },
};

static const struct shape_key acp_keys[] = {
	{ "mode",     IS_WORD("persistent", "oneshot") },
	{ "label",    IS_STR },
	{ "cwd",      IS_STR },
	{ "backend",  IS_STR },
	{ 0 },
};

static const struct shape_key binding_keys[] = {
	{ "type",     IS_WORD("route", "acp") },
	{ "agentId",  IS_STR, KEY_NEEDED },
	{ "comment",  IS_STR },
	{ "match",    IS_OBJ(binding_match_keys), KEY_NEEDED },
	{ "session",  IS_OBJ(binding_session_keys) },
	{ "acp",      IS_OBJ(acp_keys) },
	{ 0 },
};

static const struct shape one_binding = IS_OBJ(binding_keys);
static const struct shape_key broadcast_keys[] = {
	{ "strategy",  IS_WORD("parallel", "sequential") },
	{ 0 },
};

static const struct shape_key broadcast_group_keys[] = {
	{ "agents",         { .kinds = K_ARR, .items = &oc_str, .max_items = 16 }, KEY_NEEDED },
	{ "mentionGating",  IS_BOOL },
	{ "maxRounds",      IS_INT(1, 4) },
	{ "maxTurns",       IS_INT(1, 32) },
	{ 0 },
};

static const struct shape one_broadcast = { .kinds = K_ARR | K_OBJ, .items = &oc_str,
	  .keys = broadcast_group_keys };

static const struct shape one_agent = {
	.kinds = K_OBJ, .keys = oc_agent_keys, .part = true, .open = true, .check = CHECK_AGENT,
};

static const struct shape_key agents_keys[] = {
	{ "ownership",  IS_WORD("explicit") },
	{ "defaults",   { .kinds = K_OBJ, .keys = oc_defaults_keys, .part = true, .open = true } },
	{ "entries",    { .kinds = K_OBJ, .each = &one_agent, .check = CHECK_AGENT_IDS } },
	{ 0 },
};

static const struct shape_key root_keys[] = {
	{ "$schema",                 IS_STR },
	{ "meta",                    IS_OBJ(oc_meta_keys) },
	{ "env",                     { .kinds = K_OBJ, .keys = env_keys, .part = true, .open = true }, KEY_READ },
	{ "wizard",                  IS_OBJ(oc_wizard_keys) },
	{ "diagnostics",             IS_OBJ(oc_diagnostics_keys) },
	{ "logging",                 IS_OBJ(oc_logging_keys) },
	{ "update",                  IS_OBJ(oc_update_keys) },
	{ "telemetry",               IS_OBJ(oc_telemetry_keys) },
	{ "browser",                 IS_OBJ(oc_browser_keys) },
	{ "ui",                      IS_OBJ(oc_ui_keys) },
	{ "secrets",                 IS_OBJ(oc_secrets_keys) },
	{ "auth",                    IS_OBJ(oc_auth_keys) },
	{ "accessGroups",            IS_NAMED_MAP(TEXT_FILLED, oc_one_access_groups) },
	{ "acp",                     IS_OBJ(oc_acp_keys) },
	{ "models",                  IS_OBJ(oc_models_keys) },
	{ "nodeHost",                IS_OBJ(oc_node_host_keys) },
	{ "agents",                  IS_OBJ(agents_keys), KEY_READ },
	{ "worktreeRoot",            IS_SPELLED_NAME(TEXT_ROOTED) },
	{ "worktreeAcceleration",    IS_BOOL },
	{ "tools",                   { .kinds = K_OBJ, .keys = oc_tools_keys, .part = true, .check = CHECK_POLICY }, KEY_READ },
	{ "security",                IS_OBJ(oc_security_keys) },
	{ "bindings",                IS_LIST(one_binding) },
	{ "broadcast",               { .kinds = K_OBJ, .each = &one_broadcast, .keys = broadcast_keys, .check = CHECK_BROADCAST } },
	{ "attachments",             IS_OBJ(oc_attachments_keys) },
	{ "messages",                IS_OBJ(oc_messages_keys) },
	{ "tts",                     IS_OBJ(oc_tts_keys) },
	{ "commands",                IS_OBJ(oc_commands_keys) },
	{ "approvals",               IS_OBJ(oc_approvals_keys) },
	{ "session",                 { .kinds = K_OBJ, .keys = session_keys, .part = true, .open = true }, KEY_READ },
	{ "cron",                    IS_OBJ(oc_cron_keys) },
	{ "transcripts",             IS_OBJ(oc_transcripts_keys) },
	{ "hooks",                   { .kinds = K_OBJ, .keys = oc_hooks_keys, .check = CHECK_HOOKS } },
	{ "channels",                { .kinds = K_OBJ, .each = &oc_any, .check = CHECK_CHANNELS }, KEY_READ },
	{ "discovery",               IS_OBJ(oc_discovery_keys) },
	{ "talk",                    { .kinds = K_OBJ, .keys = oc_talk_keys, .check = CHECK_TALK } },
	{ "gateway",                 { .kinds = K_OBJ, .keys = oc_gateway_keys, .check = CHECK_GATEWAY } },
	{ "cloudWorkers",            IS_OBJ(oc_cloud_workers_keys) },
	{ "desktop",                 IS_OBJ(oc_desktop_keys) },
	{ "memory",                  IS_OBJ(oc_memory_keys) },
	{ "mcp",                     IS_OBJ(oc_mcp_keys) },
	{ "skills",                  IS_OBJ(oc_skills_keys) },
	{ "plugins",                 IS_OBJ(oc_plugins_keys) },
	{ "surfaces",                IS_MAP(oc_one_surfaces) },
	{ "proxy",                   IS_OBJ(oc_proxy_keys) },
	/* of releases before 2026.9 */
	{ "audio",                   IS_ANY, KEY_OLD },
	{ "canvasHost",              IS_ANY, KEY_OLD },
	{ "media",                   IS_ANY, KEY_OLD },
	{ "web",                     IS_ANY, KEY_OLD },
	{ 0 },
};

const struct shape oc_root = { .kinds = K_OBJ, .keys = root_keys, .part = true };
/* clang-format on */
