/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/lease.h"

/* clang-format off */
const struct enum_name keep_names[] = {
	{ "refuse", KEEP_REFUSE }, { "recreate", KEEP_RECREATE }, { "warn", KEEP_WARN }, { "keep", KEEP_AS_IS }, { NULL, 0 },
};
const struct enum_name prune_names[] = {
	{ "keep", PRUNE_KEEP }, { "idle", PRUNE_IDLE }, { "old", PRUNE_OLD }, { NULL, 0 },
};
const struct enum_name lease_use_names[] = {
	{ "create", LEASE_CREATE }, { "replace", LEASE_REPLACE }, { "renew", LEASE_RENEW }, { "reuse", LEASE_REUSE }, { NULL, 0 },
};
/* clang-format on */

/* A clock that went back leaves a last use in the future: it was just now, as far as anybody can tell. */
static uint64_t since(uint64_t then_ms, uint64_t now_ms)
{
	return now_ms > then_ms ? now_ms - then_ms : 0;
}

static bool is_hot(const struct keep_input *in)
{
	return in->running > 0 || in->old->used_ms == 0 || since(in->old->used_ms, in->now_ms) < KEEP_HOT_MS;
}

static bool is_digest(struct str now, struct str old)
{
	return now.n > 0 && str_eq(now, old); /* two that nobody knows are not the same */
}

static void recreate(const struct keep_input *in, const char *why, struct keep_verdict *ret)
{
	ret->keep = KEEP_RECREATE;
	ret->ends_calls = in->running > 0;
	ret->why = why;
}

static void warn_or_recreate(const struct keep_input *in, struct keep_verdict *ret)
{
	uint64_t warned = in->old->warned_ms;

	if (warned && warned <= in->now_ms && in->now_ms - warned >= KEEP_GRACE_MS) {
		recreate(in, "its walls have changed, and the time after the warning is over", ret);
		return;
	}
	ret->tell = warned == 0;
	if (warned == 0 || warned > in->now_ms) /* the clock went back: counted from now */
		warned = in->now_ms;
	ret->keep = KEEP_WARN;
	ret->warned_ms = warned;
	ret->until_ms = warned > UINT64_MAX - KEEP_GRACE_MS ? UINT64_MAX : warned + KEEP_GRACE_MS;
	ret->why = "its walls have changed; it is in use, and will be made anew";
}

void keep_decide(const struct keep_input *in, struct keep_verdict *ret)
{
	const struct reg_entry *old = in->old;
	bool same_mounts = is_digest(in->mounts, old->mounts_digest);

	*ret = (struct keep_verdict){
		.why = "its mounts have changed while it is in use: end what runs in it, or recreate it"
	};
	if (old->state == REG_LOST || old->state == REG_STOPPING) {
		recreate(in, "it has ended", ret);
	} else if (same_mounts && is_digest(in->walls, old->profile_digest)) {
		ret->keep = KEEP_AS_IS;
		ret->why = "its walls are as they should be";
	} else if (!is_hot(in)) {
		recreate(in, "its walls have changed, and nobody uses it", ret);
	} else if (same_mounts) {
		warn_or_recreate(in, ret);
	} else {
		ret->warned_ms = old->warned_ms;
	}
}

static uint64_t times(uint64_t n, uint64_t unit_ms)
{
	uint64_t ms;

	return __builtin_mul_overflow(n, unit_ms, &ms) ? UINT64_MAX : ms;
}

enum prune prune_decide(const struct reg_entry *entry, uint64_t idle_hours, uint64_t max_age_days,
			uint64_t running, uint64_t now_ms)
{
	if (running > 0 || entry->scope == SCOPE_LEASE)
		return PRUNE_KEEP;
	if (idle_hours && since(entry->used_ms, now_ms) > times(idle_hours, 3600000))
		return PRUNE_IDLE;
	if (max_age_days && since(entry->created_ms, now_ms) > times(max_age_days, 86400000))
		return PRUNE_OLD;
	return PRUNE_KEEP;
}

enum lease_use lease_decide(const struct reg_lease *old, struct str template, uint64_t ttl_ms,
			    uint64_t now_ms)
{
	if (!old || old->expires_ms <= now_ms)
		return LEASE_CREATE;
	if (!str_eq(old->template, template))
		return LEASE_REPLACE;
	if (now_ms < old->used_ms || old->expires_ms - now_ms < ttl_ms / 2)
		return LEASE_RENEW;
	return LEASE_REUSE;
}
