/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox, of agents.defaults and of an agent. Checked whole in every mode: it says how untrusted code is
 * held.
 */
#include "config/openclaw_shape_priv.h"

#include <math.h>

/* clang-format off */
static const struct shape_key ulimit_keys[] = {
	{ "soft",  IS_SIZE },
	{ "hard",  IS_SIZE },
	{ 0 },
};
static const struct shape one_ulimit = { .kinds = K_STR | K_NUM | K_OBJ, .keys = ulimit_keys };
static const struct shape one_bind = { .kinds = K_STR, .check = CHECK_BIND };

static const struct shape_key docker_keys[] = {
	{ "image",            IS_STR },
	{ "containerPrefix",  IS_STR },
	{ "workdir",          IS_STR },
	{ "readOnlyRoot",     IS_BOOL },
	{ "tmpfs",            IS_LIST(oc_str) },
	{ "network",          IS_STR },
	{ "user",             IS_STR },
	{ "capDrop",          IS_LIST(oc_str) },
	{ "env",              IS_MAP(oc_str) },
	{ "setupCommand",     { .kinds = K_STR | K_ARR, .items = &oc_str } },
	{ "pidsLimit",        IS_COUNT },
	{ "memory",           { .kinds = K_STR | K_NUM } },
	{ "memorySwap",       { .kinds = K_STR | K_NUM } },
	{ "cpus",             IS_ABOVE_0 },
	{ "gpus",             IS_TEXT },
	{ "ulimits",          IS_MAP(one_ulimit) },
	{ "seccompProfile",   { .kinds = K_STR, .check = CHECK_PROFILE } },
	{ "apparmorProfile",  { .kinds = K_STR, .check = CHECK_PROFILE } },
	{ "dns",              IS_LIST(oc_str) },
	{ "extraHosts",       IS_LIST(oc_str) },
	{ "binds",            IS_LIST(one_bind) },
	{ "dangerouslyAllowReservedContainerTargets",  IS_BOOL },
	{ "dangerouslyAllowExternalBindSources",       IS_BOOL },
	{ "dangerouslyAllowContainerNamespaceJoin",    IS_BOOL },
	{ 0 },
};

static const struct shape_key ssh_keys[] = {
	{ "target",                 IS_TEXT },
	{ "command",                IS_TEXT },
	{ "workspaceRoot",          IS_TEXT },
	{ "strictHostKeyChecking",  IS_BOOL },
	{ "updateHostKeys",         IS_BOOL },
	{ "identityFile",           IS_TEXT },
	{ "certificateFile",        IS_TEXT },
	{ "knownHostsFile",         IS_TEXT },
	{ "identityData",           IS_SECRET },
	{ "certificateData",        IS_SECRET },
	{ "knownHostsData",         IS_SECRET },
	{ 0 },
};

static const struct shape_key browser_keys[] = {
	{ "enabled",             IS_BOOL },
	{ "image",               IS_STR },
	{ "containerPrefix",     IS_STR },
	{ "network",             IS_STR },
	{ "cdpPort",             IS_COUNT },
	{ "cdpSourceRange",      IS_STR },
	{ "vncPort",             IS_COUNT },
	{ "noVncPort",           IS_COUNT },
	{ "headless",            IS_BOOL },
	{ "noVncEnabled",        IS_BOOL },
	{ "enableNoVnc",         IS_BOOL, KEY_OLD, "noVncEnabled" },
	{ "allowHostControl",    IS_BOOL },
	{ "autoStart",           IS_BOOL },
	{ "autoStartTimeoutMs",  IS_COUNT },
	{ "binds",               IS_LIST(one_bind) },
	{ 0 },
};

static const struct shape_key prune_keys[] = {
	{ "idleHours",   IS_SIZE },
	{ "maxAgeDays",  IS_SIZE },
	{ 0 },
};

const struct shape_key oc_sandbox_keys[] = {
	{ "mode",                    IS_WORD("off", "non-main", "all") },
	{ "backend",                 IS_TEXT },
	{ "workspaceAccess",         IS_WORD("none", "ro", "rw") },
	{ "sessionToolsVisibility",  IS_WORD("spawned", "all") },
	{ "scope",                   IS_WORD("session", "agent", "shared") },
	{ "perSession",              IS_BOOL, KEY_OLD, "scope" },
	{ "workspaceRoot",           IS_STR },
	{ "docker",                  IS_OBJ(docker_keys) },
	{ "ssh",                     IS_OBJ(ssh_keys) },
	{ "browser",                 IS_OBJ(browser_keys) },
	{ "prune",                   IS_OBJ(prune_keys) },
	{ "networkAllow",            IS_LIST(oc_str), KEY_OURS },
	{ "networkExecAllow",        IS_LIST(oc_str), KEY_OURS },
	{ "networkDocker",           IS_OBJ(docker_keys), KEY_OURS },
	{ 0 },
};
/* clang-format on */
