/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/session.h"

static const char *copy(struct arena *a, const char *text)
{
	struct str s = arena_str(a, str_z(text ? text : ""));

	return s.p ? s.p : "";
}

int boxes_add(void *ctx, const struct creel_sandbox *sandbox)
{
	struct boxes *b = ctx;
	struct creel_sandbox *grown;

	if (b->n == b->cap) {
		grown = arena_grow(b->arena, b->v, b->n, &b->cap, sizeof(*grown),
				   alignof(struct creel_sandbox));
		if (!grown)
			return 1;
		b->v = grown;
	}
	grown = &b->v[b->n++];
	*grown = *sandbox;
	grown->key = copy(b->arena, sandbox->key);
	grown->session = copy(b->arena, sandbox->session);
	grown->agent = copy(b->arena, sandbox->agent);
	grown->scope = copy(b->arena, sandbox->scope);
	grown->backend = copy(b->arena, sandbox->backend);
	grown->state = copy(b->arena, sandbox->state);
	grown->workspace = copy(b->arena, sandbox->workspace);
	grown->walls = copy(b->arena, sandbox->walls);
	grown->mounts = copy(b->arena, sandbox->mounts);
	grown->why = sandbox->why ? copy(b->arena, sandbox->why) : NULL;
	return 0;
}

struct str box_name(const struct creel_sandbox *b)
{
	return str_z(b->session[0] ? b->session : b->key);
}

void box_json(struct jsonw *w, const struct creel_sandbox *b)
{
	jsonw_obj(w);
	jsonw_kz(w, "key", b->key);
	jsonw_kz(w, "session", b->session);
	jsonw_kz(w, "agent", b->agent);
	jsonw_kz(w, "scope", b->scope);
	jsonw_kz(w, "backend", b->backend);
	jsonw_kz(w, "state", b->state);
	jsonw_kbool(w, "alive", b->alive);
	jsonw_kz(w, "workspace", b->workspace);
	jsonw_kz(w, "walls", b->walls);
	jsonw_kz(w, "mounts", b->mounts);
	jsonw_ku64(w, "created_ms", b->created_ms);
	jsonw_ku64(w, "used_ms", b->used_ms);
	jsonw_ku64(w, "calls", b->calls);
	jsonw_ku64(w, "running", b->running);
	jsonw_ku64(w, "memory_bytes", b->memory_bytes);
	jsonw_kz(w, "memory_of", b->memory_summed ? "processes" : b->memory_bytes ? "cgroup" : "");
	jsonw_ku64(w, "cpu_us", b->cpu_us);
	jsonw_ku64(w, "supervisor", b->supervisor > 0 ? (uint64_t)b->supervisor : 0);
	jsonw_ku64(w, "warden", b->warden > 0 ? (uint64_t)b->warden : 0);
	jsonw_ku64(w, "owner", b->owner > 0 ? (uint64_t)b->owner : 0);
	if (b->disk_bytes)
		jsonw_ku64(w, "disk_bytes", b->disk_bytes);
	if (b->why)
		jsonw_kz(w, "why", b->why);
	jsonw_obj_end(w);
}

void boxes_json(struct buf *out, const char *key, const struct boxes *all)
{
	struct jsonw w;

	jsonw_init(&w, out, 2);
	jsonw_obj(&w);
	jsonw_karr(&w, key);
	for (size_t i = 0; i < all->n; i++)
		box_json(&w, &all->v[i]);
	jsonw_arr_end(&w);
	jsonw_obj_end(&w);
	buf_putc(out, '\n');
}
