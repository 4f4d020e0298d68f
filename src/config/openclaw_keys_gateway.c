/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of the gateway and what stands around it. creel reads none of them;
 * they are here because a file with a wrong one is refused by upstream, and so under compat.
 */
#include "config/openclaw_shape_priv.h"

#include <math.h>

/* clang-format off */
static const struct shape_key ingress_keys[] = {
	{ "domain",  IS_SPELLED(TEXT_DOMAIN), KEY_NEEDED },
	{ "port",    IS_INT(1, 65535), KEY_NEEDED },
	{ 0 },
};

static const struct shape_key portals_keys[] = {
	{ "ingress",  IS_OBJ(ingress_keys) },
	{ 0 },
};

static const struct shape_key experimental_keys[] = {
	{ "customPlugins",  IS_BOOL },
	{ 0 },
};

static const struct shape_key environment_keys[] = {
	{ "label",  { .kinds = K_STR, .min_len = 1, .trim = true, .max_len = 24 }, KEY_NEEDED },
	{ "color",  IS_WORD("teal", "amber", "purple", "coral", "pink", "blue", "green", "red", "gray"),
	  KEY_NEEDED },
	{ 0 },
};

static const struct shape_key github_keys[] = {
	{ "token",  IS_SECRET },
	{ 0 },
};

static const struct shape_key control_ui_keys[] = {
	{ "dangerouslyDisableDeviceAuth",              IS_BOOL },
	{ "enabled",                                   IS_BOOL },
	{ "basePath",                                  IS_STR },
	{ "experimental",                              IS_OBJ(experimental_keys) },
	{ "root",                                      IS_STR },
	{ "environment",                               IS_OBJ(environment_keys) },
	{ "communityInvite",                           IS_BOOL },
	{ "github",                                    IS_OBJ(github_keys) },
	{ "sessionObserver",                           IS_BOOL },
	{ "embedSandbox",                              IS_WORD("strict", "scripts", "trusted") },
	{ "allowExternalEmbedUrls",                    IS_BOOL },
	{ "automaticallyFetchFavicons",                IS_BOOL },
	{ "allowedOrigins",                            IS_LIST(oc_str) },
	{ "dangerouslyAllowHostHeaderOriginFallback",  IS_BOOL },
	{ 0 },
};

static const struct shape_key cli_agents_keys[] = {
	{ "enabled",  IS_BOOL },
	{ 0 },
};

static const struct shape_key terminal_keys[] = {
	{ "enabled",                        IS_BOOL },
	{ "shell",                          IS_STR },
	{ "detachedSessionTimeoutSeconds",  IS_SIZE },
	{ 0 },
};

static const struct shape one_identity_scopes = IS_WORD("operator.admin", "operator.read",
	  "operator.write", "operator.sessions.read", "operator.sessions.write", "operator.approvals",
	  "operator.questions", "operator.pairing", "operator.talk", "operator.talk.secrets");
static const struct shape one_auth_identity_scopes = IS_LIST(one_identity_scopes);
static const struct shape_key rate_limit_keys[] = {
	{ "maxAttempts",     { .kinds = K_NUM } },
	{ "windowMs",        { .kinds = K_NUM } },
	{ "lockoutMs",       { .kinds = K_NUM } },
	{ "exemptLoopback",  IS_BOOL },
	{ 0 },
};

static const struct shape_key cloudflare_access_oidc_keys[] = {
	{ "issuer",                IS_SPELLED(TEXT_ISSUER), KEY_NEEDED },
	{ "providerId",            IS_TEXT, KEY_NEEDED },
	{ "githubAccountIdClaim",  IS_TEXT, KEY_NEEDED },
	{ 0 },
};

static const struct shape_key device_auto_approve_keys[] = {
	{ "enabled",  IS_BOOL },
	{ "scopes",   IS_LIST(oc_text) },
	{ 0 },
};

static const struct shape_key trusted_proxy_keys[] = {
	{ "userHeader",            IS_TEXT, KEY_NEEDED },
	{ "requiredHeaders",       IS_LIST(oc_str) },
	{ "allowUsers",            IS_LIST(oc_str) },
	{ "allowLoopback",         IS_BOOL },
	{ "cloudflareAccessOidc",  IS_OBJ(cloudflare_access_oidc_keys) },
	{ "deviceAutoApprove",     IS_OBJ(device_auto_approve_keys) },
	{ 0 },
};

static const struct shape_key auth_keys[] = {
	{ "mode",            IS_WORD("none", "token", "password", "trusted-proxy") },
	{ "token",           IS_SECRET },
	{ "password",        IS_SECRET },
	{ "allowTailscale",  IS_BOOL },
	{ "identityScopes",  IS_NAMED_MAP(TEXT_FILLED, one_auth_identity_scopes) },
	{ "rateLimit",       IS_OBJ(rate_limit_keys) },
	{ "trustedProxy",    IS_OBJ(trusted_proxy_keys) },
	{ 0 },
};

static const struct shape_key sessions_keys[] = {
	{ "others",  IS_WORD("none", "view", "suggest", "write"), KEY_NEEDED },
	{ 0 },
};

static const struct shape one_role_agent = IS_SPELLED_NAME(TEXT_AGENT);
static const struct shape_key definitions_keys[] = {
	{ "sessions",            IS_OBJ(sessions_keys), KEY_NEEDED },
	{ "sandbox",             IS_WORD("inherit", "required") },
	{ "agents",              { .kinds = K_STR | K_ARR, .words = WORDS_OF("*"), .items = &one_role_agent },
	  KEY_NEEDED },
	{ "scopes",              IS_LIST(one_identity_scopes), KEY_NEEDED },
	{ "accessPolicyPlugin",  { .kinds = K_STR, .min_len = 1, .trim = true, .max_len = 128 } },
	{ 0 },
};

static const struct shape one_roles_definitions = IS_OBJ(definitions_keys);
static const struct shape_key roles_keys[] = {
	{ "default",      { .kinds = K_STR, .min_len = 1, .trim = true, .max_len = 128 }, KEY_NEEDED },
	{ "definitions",  IS_NAMED_MAP(TEXT_ROLE, one_roles_definitions), KEY_NEEDED },
	{ 0 },
};

static const struct shape_key tools_keys[] = {
	{ "deny",   IS_LIST(oc_str) },
	{ "allow",  IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key tailscale_keys[] = {
	{ "mode",            IS_WORD("off", "serve", "funnel") },
	{ "preserveFunnel",  IS_BOOL },
	{ 0 },
};

static const struct shape_key remote_keys[] = {
	{ "url",               IS_STR },
	{ "transport",         IS_WORD("ssh", "direct") },
	{ "remotePort",        IS_INT(1, 65535) },
	{ "token",             IS_SECRET },
	{ "password",          IS_SECRET },
	{ "edgeAuth",          { .kinds = K_OBJ, .each = &oc_secret, .key_text = TEXT_HEADER, .check = CHECK_EDGE } },
	{ "tlsFingerprint",    IS_STR },
	{ "sshTarget",         IS_STR },
	{ "sshIdentity",       IS_STR },
	{ "sshHostKeyPolicy",  IS_WORD("strict", "openssh") },
	{ 0 },
};

static const struct shape_key reload_keys[] = {
	{ "mode",  IS_WORD("off", "hybrid") },
	{ 0 },
};

static const struct shape_key tls_keys[] = {
	{ "enabled",       IS_BOOL },
	{ "autoGenerate",  IS_BOOL },
	{ "certPath",      IS_SPELLED(TEXT_NOT_BLANK) },
	{ "keyPath",       IS_SPELLED(TEXT_NOT_BLANK) },
	{ "caPath",        IS_STR },
	{ 0 },
};

static const struct shape_key images_keys[] = {
	{ "allowUrl",      IS_BOOL },
	{ "urlAllowlist",  IS_LIST(oc_str) },
	{ "allowedMimes",  IS_LIST(oc_str) },
	{ "maxBytes",      IS_COUNT },
	{ "maxRedirects",  IS_SIZE },
	{ "timeoutMs",     IS_COUNT },
	{ 0 },
};

static const struct shape_key chat_completions_keys[] = {
	{ "enabled",  IS_BOOL },
	{ "images",   IS_OBJ(images_keys) },
	{ 0 },
};

static const struct shape_key pdf_keys[] = {
	{ "maxPages",      IS_COUNT },
	{ "maxPixels",     IS_COUNT },
	{ "minTextChars",  IS_SIZE },
	{ 0 },
};

static const struct shape_key files_keys[] = {
	{ "allowUrl",      IS_BOOL },
	{ "urlAllowlist",  IS_LIST(oc_str) },
	{ "allowedMimes",  IS_LIST(oc_str) },
	{ "maxBytes",      IS_COUNT },
	{ "maxRedirects",  IS_SIZE },
	{ "timeoutMs",     IS_COUNT },
	{ "maxChars",      IS_COUNT },
	{ "pdf",           IS_OBJ(pdf_keys) },
	{ 0 },
};

static const struct shape_key responses_keys[] = {
	{ "enabled",      IS_BOOL },
	{ "maxUrlParts",  IS_SIZE },
	{ "files",        IS_OBJ(files_keys) },
	{ "images",       IS_OBJ(images_keys) },
	{ 0 },
};

static const struct shape_key endpoints_keys[] = {
	{ "chatCompletions",  IS_OBJ(chat_completions_keys) },
	{ "responses",        IS_OBJ(responses_keys) },
	{ 0 },
};

static const struct shape_key security_headers_keys[] = {
	{ "strictTransportSecurity",  { .kinds = K_STR | K_BOOL, .check = CHECK_FALSE } },
	{ 0 },
};

static const struct shape_key http_keys[] = {
	{ "endpoints",        IS_OBJ(endpoints_keys) },
	{ "securityHeaders",  IS_OBJ(security_headers_keys) },
	{ 0 },
};

static const struct shape_key relay_keys[] = {
	{ "baseUrl",    IS_STR },
	{ "timeoutMs",  IS_COUNT },
	{ 0 },
};

static const struct shape_key apns_keys[] = {
	{ "relay",  IS_OBJ(relay_keys) },
	{ 0 },
};

static const struct shape_key push_keys[] = {
	{ "apns",  IS_OBJ(apns_keys) },
	{ 0 },
};

static const struct shape_key browser_keys[] = {
	{ "mode",  IS_WORD("auto", "manual", "off") },
	{ "node",  IS_STR },
	{ 0 },
};

static const struct shape_key ssh_verify_keys[] = {
	{ "user",       IS_STR },
	{ "identity",   IS_STR },
	{ "timeoutMs",  IS_COUNT },
	{ "cidrs",      IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key pairing_keys[] = {
	{ "autoApproveLocal",  IS_BOOL },
	{ "autoApproveCidrs",  IS_LIST(oc_str) },
	{ "sshVerify",         { .kinds = K_BOOL | K_OBJ, .keys = ssh_verify_keys } },
	{ 0 },
};

static const struct shape_key commands_keys[] = {
	{ "allow",  IS_LIST(oc_str) },
	{ "deny",   IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key nodes_keys[] = {
	{ "browser",      IS_OBJ(browser_keys) },
	{ "pairing",      IS_OBJ(pairing_keys) },
	{ "pluginTools",  IS_OBJ(cli_agents_keys) },
	{ "allowSkills",  IS_BOOL },
	{ "commands",     IS_OBJ(commands_keys) },
	{ 0 },
};

const struct shape_key oc_gateway_keys[] = {
	{ "port",                 IS_INT(1, 65535) },
	{ "mode",                 IS_WORD("local", "remote") },
	{ "bind",                 IS_WORD("auto", "lan", "loopback", "custom", "tailnet") },
	{ "customBindHost",       IS_STR },
	{ "publicOrigin",         IS_SPELLED(TEXT_PUBLIC_ORIGIN) },
	{ "portals",              IS_OBJ(portals_keys) },
	{ "controlUi",            IS_OBJ(control_ui_keys) },
	{ "cliAgents",            IS_OBJ(cli_agents_keys) },
	{ "terminal",             IS_OBJ(terminal_keys) },
	{ "auth",                 IS_OBJ(auth_keys) },
	{ "roles",                { .kinds = K_OBJ, .keys = roles_keys, .check = CHECK_ROLES } },
	{ "trustedProxies",       IS_LIST(oc_str) },
	{ "allowRealIpFallback",  IS_BOOL },
	{ "tools",                IS_OBJ(tools_keys) },
	{ "tailscale",            IS_OBJ(tailscale_keys) },
	{ "remote",               IS_OBJ(remote_keys) },
	{ "reload",               IS_OBJ(reload_keys) },
	{ "tls",                  { .kinds = K_OBJ, .keys = tls_keys, .each = &oc_any } },
	{ "http",                 IS_OBJ(http_keys) },
	{ "push",                 IS_OBJ(push_keys) },
	{ "nodes",                IS_OBJ(nodes_keys) },
	{ 0 },
};

static const struct shape_key agent_runs_keys[] = {
	{ "claude",  IS_OBJ(cli_agents_keys) },
	{ 0 },
};

static const struct shape_key worker_runs_keys[] = {
	{ "enabled",         IS_BOOL },
	{ "capacity",        IS_INT(1, 1024) },
	{ "isolation",       IS_WORD("none", "container") },
	{ "containerImage",  IS_NAME },
	{ 0 },
};

static const struct shape_key browser_proxy_keys[] = {
	{ "enabled",        IS_BOOL },
	{ "allowProfiles",  IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape one_env = { .kinds = K_STR | K_NUM | K_BOOL };
static const struct shape_key oauth_keys[] = {
	{ "identity",           IS_WORD("shared", "per-requester") },
	{ "authProfileId",      IS_NAME },
	{ "scope",              IS_NAME },
	{ "redirectUrl",        IS_SPELLED(TEXT_HTTP_URL) },
	{ "clientMetadataUrl",  IS_SPELLED(TEXT_METADATA_URL) },
	{ 0 },
};

static const struct shape_key tool_filter_keys[] = {
	{ "include",  { .kinds = K_ARR, .items = &oc_name, .min_items = 1 } },
	{ "exclude",  { .kinds = K_ARR, .items = &oc_name, .min_items = 1 } },
	{ 0 },
};

static const struct shape one_codex_agent = { .kinds = K_STR, .trim = true, .text = TEXT_AGENT };
static const struct shape_key codex_keys[] = {
	{ "agents",                    { .kinds = K_ARR, .items = &one_codex_agent, .min_items = 1 } },
	{ "defaultToolsApprovalMode",  IS_WORD("auto", "prompt", "approve") },
	{ 0 },
};

static const struct shape_key servers_keys[] = {
	{ "enabled",                    IS_BOOL },
	{ "command",                    IS_STR },
	{ "args",                       IS_LIST(oc_str) },
	{ "env",                        IS_MAP(one_env) },
	{ "cwd",                        IS_STR },
	{ "url",                        IS_SPELLED(TEXT_HTTP_URL) },
	{ "transport",                  IS_WORD("stdio", "sse", "streamable-http") },
	{ "headers",                    IS_MAP(one_env) },
	{ "connectionTimeoutMs",        IS_ABOVE_0 },
	{ "requestTimeoutMs",           IS_ABOVE_0 },
	{ "supportsParallelToolCalls",  IS_BOOL },
	{ "auth",                       IS_WORD("oauth") },
	{ "oauth",                      IS_OBJ(oauth_keys) },
	{ "sslVerify",                  IS_BOOL },
	{ "clientCert",                 IS_STR },
	{ "clientKey",                  IS_STR },
	{ "toolFilter",                 IS_OBJ(tool_filter_keys) },
	{ "codex",                      IS_OBJ(codex_keys) },
	{ 0 },
};

static const struct shape one_mcp_servers = { .kinds = K_OBJ, .each = &oc_any, .keys = servers_keys,
	  .check = CHECK_MCP };
static const struct shape_key mcp_keys[] = {
	{ "servers",  IS_NAMED_MAP(TEXT_TRIMMED, one_mcp_servers) },
	{ 0 },
};

const struct shape_key oc_node_host_keys[] = {
	{ "autoUpdate",    IS_OBJ(cli_agents_keys) },
	{ "agentRuns",     IS_OBJ(agent_runs_keys) },
	{ "workerRuns",    IS_OBJ(worker_runs_keys) },
	{ "browserProxy",  IS_OBJ(browser_proxy_keys) },
	{ "mcp",           IS_OBJ(mcp_keys) },
	{ "skills",        IS_OBJ(cli_agents_keys) },
	{ 0 },
};

static const struct shape_key suppressions_keys[] = {
	{ "checkId",         IS_TEXT, KEY_NEEDED },
	{ "titleIncludes",   IS_TEXT },
	{ "detailIncludes",  IS_TEXT },
	{ "reason",          IS_TEXT },
	{ 0 },
};

static const struct shape one_audit_suppressions = IS_OBJ(suppressions_keys);
static const struct shape_key audit_keys[] = {
	{ "suppressions",  IS_LIST(one_audit_suppressions) },
	{ 0 },
};

static const struct shape one_targets = IS_WORD("skill", "plugin");
static const struct shape_key exec_keys[] = {
	{ "source",             IS_WORD("exec"), KEY_NEEDED },
	{ "command",            IS_TEXT, KEY_NEEDED },
	{ "args",               IS_LIST(oc_str) },
	{ "timeoutMs",          IS_COUNT },
	{ "noOutputTimeoutMs",  IS_COUNT },
	{ "maxOutputBytes",     IS_COUNT },
	{ "env",                IS_MAP(oc_str) },
	{ "passEnv",            IS_LIST(oc_str) },
	{ "trustedDirs",        IS_LIST(oc_str) },
	{ 0 },
};

static const struct shape_key install_policy_keys[] = {
	{ "enabled",  IS_BOOL },
	{ "targets",  { .kinds = K_ARR, .items = &one_targets, .min_items = 1 } },
	{ "exec",     IS_OBJ(exec_keys) },
	{ 0 },
};

const struct shape_key oc_security_keys[] = {
	{ "audit",          IS_OBJ(audit_keys) },
	{ "installPolicy",  IS_OBJ(install_policy_keys) },
	{ 0 },
};

static const struct shape_key prepared_pool_keys[] = {
	{ "maxTotal",  IS_SIZE },
	{ 0 },
};

static const struct shape_key profiles_keys[] = {
	{ "provider",      IS_NAME, KEY_NEEDED },
	{ "install",       IS_WORD("bundle", "npm") },
	{ "suspendAfter",  IS_SPELLED(TEXT_A_MINUTE) },
	{ "readyWorkers",  IS_SIZE },
	{ "settings",      IS_ANY_OBJ },
	{ 0 },
};

static const struct shape one_worker = IS_SPELLED(TEXT_TRIMMED);
static const struct shape one_cloud_workers_profiles = IS_OBJ(profiles_keys);
const struct shape_key oc_cloud_workers_keys[] = {
	{ "desktop",          IS_BOOL },
	{ "preparedPool",     IS_OBJ(prepared_pool_keys) },
	{ "projectProfiles",  IS_NAMED_MAP(TEXT_REPOSITORY, one_worker) },
	{ "profiles",         IS_NAMED_MAP(TEXT_TRIMMED, one_cloud_workers_profiles) },
	{ 0 },
};

static const struct shape_key apps_keys[] = {
	{ "enabled",        IS_BOOL },
	{ "sandboxOrigin",  IS_SPELLED(TEXT_ORIGIN) },
	{ "sandboxPort",    IS_INT(1, 65535) },
	{ 0 },
};

const struct shape_key oc_mcp_keys[] = {
	{ "sessionIdleTtlMs",  IS_NUM(0, HUGE_VAL) },
	{ "servers",           IS_MAP(one_mcp_servers) },
	{ "apps",              IS_OBJ(apps_keys) },
	{ 0 },
};

static const struct shape_key proxy_tls_keys[] = {
	{ "caFile",  IS_TEXT },
	{ 0 },
};

const struct shape_key oc_proxy_keys[] = {
	{ "enabled",       IS_BOOL },
	{ "proxyUrl",      IS_SPELLED(TEXT_HTTP_URL) },
	{ "tls",           IS_OBJ(proxy_tls_keys) },
	{ "loopbackMode",  IS_WORD("gateway-only", "proxy", "block") },
	{ 0 },
};
/* clang-format on */
