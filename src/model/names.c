/* SPDX-License-Identifier: Apache-2.0 */
#include "model/names.h"
#include "model/config.h"
#include "model/decision.h"
#include "model/request.h"

#include <stdio.h>

#define NAMES(table, ...) const struct enum_name table[] = { __VA_ARGS__, { NULL, 0 } }

/* clang-format off */
NAMES(trust_names,
	{ "none", TRUST_NONE }, { "light", TRUST_LIGHT }, { "docker", TRUST_DOCKER }, { "readonly", TRUST_READONLY });
NAMES(when_names,
	{ "off", WHEN_OFF }, { "non-main", WHEN_NON_MAIN }, { "all", WHEN_ALL });
NAMES(enforce_names,
	{ "off", ENFORCE_OFF }, { "prefer", ENFORCE_PREFER }, { "require", ENFORCE_REQUIRE });
NAMES(place_names,
	{ "nowhere", PLACE_NOWHERE }, { "host", PLACE_HOST }, { "restricted", PLACE_RESTRICTED },
	{ "container", PLACE_CONTAINER }, { "remote", PLACE_REMOTE });
NAMES(scope_names,
	{ "session", SCOPE_SESSION }, { "agent", SCOPE_AGENT }, { "shared", SCOPE_SHARED },
	{ "job", SCOPE_JOB }, { "lease", SCOPE_LEASE });
NAMES(access_names,
	{ "none", ACCESS_NONE }, { "ro", ACCESS_RO }, { "rw", ACCESS_RW }, { "overlay", ACCESS_OVERLAY },
	{ "per-tool", ACCESS_PER_TOOL });
NAMES(profile_names,
	{ "none", PROFILE_NONE }, { "openclaw", PROFILE_OPENCLAW }, { "athena", PROFILE_ATHENA },
	{ "tier1", PROFILE_TIER1 }, { "bilrost", PROFILE_BILROST }, { "openclaw-net", PROFILE_OPENCLAW_NET },
	{ "ci", PROFILE_CI });
NAMES(compat_names,
	{ "documents", COMPAT_DOCUMENTS }, { "openclaw-2026.9", COMPAT_OPENCLAW_2026_9 });
NAMES(session_scope_names,
	{ "per-sender", SESSION_PER_SENDER }, { "global", SESSION_GLOBAL });
NAMES(ownership_names,
	{ "implicit", OWNERSHIP_IMPLICIT }, { "explicit", OWNERSHIP_EXPLICIT });
NAMES(tool_profile_names,
	{ "none", TOOL_PROFILE_NONE }, { "minimal", TOOL_PROFILE_MINIMAL }, { "coding", TOOL_PROFILE_CODING },
	{ "messaging", TOOL_PROFILE_MESSAGING }, { "full", TOOL_PROFILE_FULL });
NAMES(exec_host_names,
	{ "auto", EXEC_HOST_AUTO }, { "sandbox", EXEC_HOST_SANDBOX }, { "gateway", EXEC_HOST_GATEWAY },
	{ "node", EXEC_HOST_NODE });
NAMES(exec_mode_names,
	{ "unset", EXEC_MODE_UNSET }, { "deny", EXEC_MODE_DENY }, { "allowlist", EXEC_MODE_ALLOWLIST },
	{ "ask", EXEC_MODE_ASK }, { "auto", EXEC_MODE_AUTO }, { "full", EXEC_MODE_FULL },
	{ "always", EXEC_MODE_ALWAYS });
NAMES(shells_names,
	{ "deny", SHELLS_DENY }, { "allow", SHELLS_ALLOW });
NAMES(provider_names,
	{ "None", PROVIDER_NONE }, { "OpenSandbox", PROVIDER_OPENSANDBOX });
NAMES(secret_scope_names,
	{ "network", SECRET_SCOPE_NETWORK }, { "both", SECRET_SCOPE_BOTH });
NAMES(rw_names,
	{ "ro", RW_RO }, { "rw", RW_RW });
NAMES(wall_names,
	{ "landlock", WALL_LANDLOCK }, { "time", WALL_TIME }, { "limits", WALL_LIMITS });
NAMES(subuid_names,
	{ "auto", SUBUID_AUTO }, { "always", SUBUID_ALWAYS }, { "never", SUBUID_NEVER });
NAMES(metrics_names,
	{ "admin", METRICS_ADMIN }, { "open", METRICS_OPEN });
NAMES(sync_mode_names,
	{ "manual", SYNC_MANUAL }, { "auto", SYNC_AUTO });
NAMES(visibility_names,
	{ "spawned", VISIBILITY_SPAWNED }, { "all", VISIBILITY_ALL });
NAMES(verdict_names,
	{ "DENY", VERDICT_DENY }, { "ASK", VERDICT_ASK }, { "ALLOW", VERDICT_ALLOW });
NAMES(cap_names,
	{ "fs.read", CAP_FS_READ }, { "fs.write", CAP_FS_WRITE }, { "proc.exec", CAP_PROC_EXEC }, { "vcs", CAP_VCS },
	{ "net", CAP_NET }, { "secrets", CAP_SECRETS }, { "browser", CAP_BROWSER }, { "api", CAP_API },
	{ "net.internal", CAP_NET_INTERNAL });
NAMES(format_names,
	{ "creel", FORMAT_CREEL }, { "athena", FORMAT_ATHENA }, { "openclaw", FORMAT_OPENCLAW },
	{ "allowlist", FORMAT_ALLOWLIST }, { "openclaw-net", FORMAT_OPENCLAW_NET }, { "ansible", FORMAT_ANSIBLE });
NAMES(via_names,
	{ "cli", VIA_CLI }, { "guard", VIA_GUARD }, { "runner", VIA_RUNNER }, { "api", VIA_API },
	{ "library", VIA_LIBRARY });
NAMES(backend_names,
	{ "none", BACKEND_NONE }, { "host", BACKEND_HOST }, { "native", BACKEND_NATIVE },
	{ "docker", BACKEND_DOCKER }, { "opensandbox", BACKEND_OPENSANDBOX });
NAMES(stage_names,
	{ "identity", STAGE_IDENTITY }, { "mode", STAGE_MODE }, { "tool", STAGE_TOOL },
	{ "placement", STAGE_PLACEMENT }, { "network", STAGE_NETWORK }, { "mounts", STAGE_MOUNTS },
	{ "env", STAGE_ENV }, { "limits", STAGE_LIMITS });
NAMES(route_names,
	{ "none", ROUTE_NONE }, { "internal", ROUTE_INTERNAL }, { "hosts", ROUTE_HOSTS },
	{ "browser", ROUTE_BROWSER }, { "primary", ROUTE_PRIMARY }, { "network", ROUTE_NETWORK },
	{ "host", ROUTE_HOST });
NAMES(mount_source_names,
	{ "workspace", MOUNT_WORKSPACE }, { "agent", MOUNT_AGENT }, { "protectedSkill", MOUNT_SKILL },
	{ "bind", MOUNT_BIND },	{ "vault", MOUNT_VAULT }, { "tmpfs", MOUNT_SCRATCH });
NAMES(env_state_names,
	{ "withheld", ENV_WITHHELD }, { "unset", ENV_UNSET }, { "set", ENV_SET });
/* clang-format on */

const char *enum_name(const struct enum_name *table, int value)
{
	for (; table->name; table++)
		if (table->value == value)
			return table->name;
	return "?";
}

bool enum_value(const struct enum_name *table, struct str name, bool nocase, int *ret)
{
	for (; table->name; table++) {
		struct str n = str_z(table->name);

		if (nocase ? str_eq_nocase(n, name) : str_eq(n, name)) {
			*ret = table->value;
			return true;
		}
	}
	return false;
}

void enum_list(const struct enum_name *table, char *out, size_t size)
{
	size_t at = 0;

	out[0] = '\0';
	for (const struct enum_name *t = table; t->name && at < size; t++) {
		const char *sep = t == table ? "" : t[1].name ? ", " : " or ";
		int n = snprintf(out + at, size - at, "%s%s", sep, t->name);

		if (n < 0)
			return;
		at += (size_t)n;
	}
}

const char *enum_closest(const struct enum_name *table, struct str name)
{
	const char *best = NULL;
	unsigned best_d = 3;

	for (; table->name; table++) {
		unsigned d = str_distance(str_z(table->name), name, best_d);

		if (d < best_d && d < name.n) {
			best = table->name;
			best_d = d;
		}
	}
	return best;
}

static bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool env_name_valid(struct str name)
{
	if (name.n == 0 || !is_name_start(name.p[0]))
		return false;
	for (size_t i = 1; i < name.n; i++)
		if (!is_name_start(name.p[i]) && (name.p[i] < '0' || name.p[i] > '9'))
			return false;
	return true;
}

/* clang-format off */
static const char *const loader_names[] = {
	"BASHOPTS", "BASH_ENV", "ENV", "GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "HOSTALIASES", "IFS", "LOCALDOMAIN",
	"LOCPATH", "MALLOC_TRACE", "NIS_PATH", "NLSPATH", "PROMPT_COMMAND", "PS4", "RESOLV_HOST_CONF", "RES_OPTIONS",
	"SHELLOPTS", "TZDIR",
};
static const char *const loader_prefixes[] = { "LD_", "DYLD_", "BASH_FUNC_" };
/* clang-format on */
#define LEN(a) (sizeof(a) / sizeof((a)[0]))

bool env_name_is_loader(struct str name)
{
	for (size_t i = 0; i < LEN(loader_prefixes); i++)
		if (str_starts(name, str_z(loader_prefixes[i])))
			return true;
	for (size_t i = 0; i < LEN(loader_names); i++)
		if (str_eq(name, str_z(loader_names[i])))
			return true;
	return false;
}
