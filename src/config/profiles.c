/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each source system takes for granted, in the text form of -e. A profile sets defaults only: every file and flag
 * comes after it.
 */
#include "config/load_priv.h"

#include <assert.h>

struct row {
	const char *set; /* key=value */
	bool own;        /* holds also when files of several systems are read together */
};

/* S1. The same as the built-in defaults (C3), written down so that they have a name. */
static const struct row openclaw[] = {
	{ "mode.when=off", true },
	{ "backend.scope=session", true },
	{ "mounts.workspace.access=none", true },
	{ "network.primary=none", true },
	{ "backend.readOnlyRoot=true", true },
	{ NULL, false },
};

/* S0: nothing is sandboxed unless a rule or a prefix says so; then a read-only tree under a private layer. */
static const struct row athena[] = {
	{ "mode.trust.default=none", true },
	{ "mode.when=off", false },
	{ "mode.enforce=require", false },
	{ "backend.order=native,docker", false },
	{ "backend.image=athena-sandbox", false },
	{ "backend.readOnlyRoot=true", false },
	{ "backend.tmpfs=/tmp", false },
	{ "backend.workdir=/sandbox", false },
	{ "mounts.workspace.access=overlay", false },
	{ "mounts.workspace.target=/sandbox", false },
	{ "network.primary=none", false },
	{ "limits.timeout_s=30", false },
	{ NULL, false },
};

/* S2: one job per call, three tools, four programs, two hosts. */
static const struct row tier1[] = {
	{ "network.internal.name=openclaw_sandbox_net", true },
	{ "network.internal.hosts=ollama,rag-service", true },
	{ "mode.when=all", false },
	{ "mode.enforce=require", false },
	{ "tools.allow=read,write,exec", false },
	{ "tools.elevated.enabled=false", false },
	{ "tools.exec.shells=deny", false },
	{ "tools.exec.programs=curl,python3,python,pytest", false },
	{ "backend.scope=job", false },
	{ "backend.readOnlyRoot=true", false },
	{ "backend.tmpfs=/tmp", false },
	{ "backend.capDrop=ALL", false },
	{ "network.primary=none", false },
	{ "mounts.workspace.access=per-tool", false },
	{ "mounts.workspace.root=~/.openclaw/workspaces", false },
	{ "mounts.workspace.target=/workspace", false },
	{ "env.set=LANG=C.UTF-8,PYTHONUNBUFFERED=1", false },
	{ "limits.timeout_s=10", false },
	{ "limits.timeout_max_s=60", false },
	{ "limits.stdout=80000", false },
	{ "limits.stderr=80000", false },
	{ "limits.read=200000", false },
	{ "limits.read_max=2000000", false },
	{ "limits.write_max=2000000", false },
	{ "limits.pids=128", false },
	{ "limits.memory=512m", false },
	{ "limits.cpus=1", false },
	{ NULL, false },
};

/* S3: every session in a container without network, and a twin with network for what is listed. */
static const struct row bilrost[] = {
	{ "mode.when=all", true },
	{ "backend.scope=session", true },
	{ "backend.image=openclaw-sandbox:bookworm-slim", true },
	{ "backend.readOnlyRoot=true", true },
	{ "backend.setupScript=scripts/sandbox-setup.sh", true },
	{ "backend.buildBrowser=false", true },
	{ "mounts.workspace.access=rw", true },
	{ "mounts.vault.path=/workspace-obsidian", true },
	{ "mounts.vault.access=rw", true },
	{ "mounts.vault.enabled=true", true },
	{ "network.primary=none", true },
	{ "network.route.network=bridge", true },
	{ "network.route.workspace=rw", true },
	{ "network.route.tools=web_fetch,web_search", true },
	{ "network.route.exec=gh", true },
	{ "env.set=GH_TOKEN=${GH_TOKEN},BRAVE_API_KEY=${BRAVE_API_KEY}", true },
	{ "env.secretsFile=/etc/openclaw/secrets.env", true },
	{ NULL, false },
};

/* S4: the three high-risk tools go to the service when there is one. */
static const struct row openclaw_net[] = {
	{ "tools.per.exec.enforce=prefer", true },
	{ "tools.per.code_exec.enforce=prefer", true },
	{ "tools.per.browser.enforce=prefer", true },
	{ "backend.opensandbox.provider=None", true },
	{ "backend.opensandbox.defaultTTL=300", true },
	{ "mode.when=off", false },
	{ "limits.timeout_s=30", false },
	{ "limits.timeout_max_s=600", false },
	{ "limits.stdout=65536", false },
	{ "limits.stderr=65536", false },
	{ NULL, false },
};

/* Pull requests from strangers. */
static const struct row ci[] = {
	{ "mode.when=all", true },
	{ "mode.enforce=require", true },
	{ "network.primary=none", true },
	{ "network.route.workspace=ro", true },
	{ "mounts.workspace.access=overlay", true },
	{ "env.set=CI=1,LANG=C.UTF-8", true },
	{ "limits.cpus=2", true },
	{ "limits.memory=2g", true },
	{ "limits.pids=512", true },
	{ NULL, false },
};

static const struct row *const rows[PROFILE_COUNT_] = {
	[PROFILE_OPENCLAW] = openclaw,
	[PROFILE_ATHENA] = athena,
	[PROFILE_TIER1] = tier1,
	[PROFILE_BILROST] = bilrost,
	[PROFILE_OPENCLAW_NET] = openclaw_net,
	[PROFILE_CI] = ci,
};

enum profile_id profile_of_format(enum format f)
{
	static const enum profile_id of[FORMAT_COUNT_] = {
		[FORMAT_CREEL] = PROFILE_NONE,
		[FORMAT_ATHENA] = PROFILE_ATHENA,
		[FORMAT_OPENCLAW] = PROFILE_OPENCLAW,
		[FORMAT_ALLOWLIST] = PROFILE_TIER1,
		[FORMAT_OPENCLAW_NET] = PROFILE_OPENCLAW_NET,
		[FORMAT_ANSIBLE] = PROFILE_BILROST,
	};

	return of[f];
}

static void apply(struct load *l, const struct row *row, const struct origin *o)
{
	struct value v = { .kind = VALUE_STR };
	struct str key;

	if (str_cut(str_z(row->set), '=', &key, &v.s))
		load_set_key(l, key, &v, o, true);
}

void profile_apply(struct load *l, enum profile_id id, bool own_only)
{
	const struct origin o = { .kind = ORIGIN_PROFILE, .name = str_z(enum_name(profile_names, (int)id)) };

	for (const struct row *row = rows[id]; row && row->set; row++) {
		/* Upstream's own default of that version stays: it is not "session". */
		bool upstream_scope = l->c->base.compat == COMPAT_OPENCLAW_2026_9 && id == PROFILE_OPENCLAW &&
				      str_starts(str_z(row->set), STR("backend.scope="));

		if ((row->own || !own_only) && !upstream_scope)
			apply(l, row, &o);
	}
}
