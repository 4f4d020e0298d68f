/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A key is taken apart into slices of itself; what is called an agent key has an agent and a rest and, put together
 * again, means the same; an agent id always comes out of its alphabet, and a second time it does not change; what a
 * remote caller may say can stand in a path.
 */
#include "policy/session_key.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool inside(struct str part, struct str whole)
{
	return part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

static void check_id(struct arena *a, struct str text)
{
	struct str id, again;

	(void)agent_id_normalise(a, text, &id);
	assert(id.n >= 1 && id.n <= AGENT_ID_MAX && id.p[0] != '-');
	for (size_t i = 0; i < id.n; i++)
		assert((id.p[i] >= 'a' && id.p[i] <= 'z') || (id.p[i] >= '0' && id.p[i] <= '9') ||
		       id.p[i] == '_' || id.p[i] == '-');
	(void)agent_id_normalise(a, id, &again);
	assert(id.p[0] == '_' || str_eq(id, again)); /* "_…-", cut at 64, loses its '-' the next time */
}

static void check_remote(struct str s)
{
	if (!agent_id_is_strict(s) && !chat_id_is_valid(s))
		return;
	for (size_t i = 0; i < s.n; i++)
		assert(s.p[i] != '/' && s.p[i] != '.' && s.p[i] != '\0' && s.p[i] != ':');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { .p = (const char *)data, .n = size }, channel, group;
	_cleanup_arena_ struct arena a = { 0 };
	struct session_key key, again;
	enum session_shape shape;

	arena_init(&a, 1 << 20);
	shape = session_key_parse(text, &key);
	assert(inside(key.raw, text) && inside(key.agent, key.raw) && inside(key.rest, key.raw));
	assert((shape == SESSION_MISSING) == (key.raw.n == 0));
	if (shape == SESSION_AGENT) {
		struct str joined = arena_printf(&a, "agent:%.*s:%.*s", (int)key.agent.n, key.agent.p,
						 (int)key.rest.n, key.rest.p);

		assert(key.agent.n && key.rest.n && key.rest.p[0] != ':');
		assert(session_key_parse(joined, &again) == SESSION_AGENT);
		assert(str_eq(again.agent, key.agent) && str_eq(again.rest, key.rest));
		check_id(&a, key.agent);
	}
	if (session_rest_group(text, &channel, &group))
		assert(inside(channel, text) && inside(group, text) && channel.n && group.n);
	(void)session_rest_channel(text);
	check_id(&a, text);
	check_remote(text);
	return 0;
}
