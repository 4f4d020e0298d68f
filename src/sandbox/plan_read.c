/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/plan_read.h"

#include <errno.h>
#include <linux/filter.h>

static bool within(const struct plan_view *v, uint32_t at, uint64_t n)
{
	return at <= v->bytes.n && n <= v->bytes.n - at;
}

static bool text_at(const struct plan_view *v, uint32_t offset)
{
	return offset < v->strings.n;
}

static bool head_valid(const struct plan_view *v)
{
	const struct plan_header *h = &v->head;

	return h->magic == PLAN_MAGIC && h->version == PLAN_VERSION && h->size == v->bytes.n &&
	       h->size <= PLAN_MAX_BYTES && h->n_steps <= PLAN_MAX_STEPS && h->steps % 8 == 0 &&
	       within(v, h->steps, (uint64_t)h->n_steps * sizeof(struct step)) && h->strings % 8 == 0 &&
	       h->n_strings > 0 && within(v, h->strings, h->n_strings) &&
	       (h->argc > 0) == !(h->flags & PLAN_F_SERVE) && h->argc <= PLAN_MAX_ARGS &&
	       h->envc <= PLAN_MAX_ARGS && h->argv % 4 == 0 && h->env % 4 == 0 &&
	       within(v, h->argv, 4ull * h->argc) && within(v, h->env, 4ull * h->envc);
}

static uint32_t word_at(const struct plan_view *v, uint32_t array, uint32_t i)
{
	uint32_t word;

	memcpy(&word, v->bytes.p + array + 4ul * i, sizeof(word));
	return word;
}

static bool words_valid(const struct plan_view *v, uint32_t array, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!text_at(v, word_at(v, array, i)))
			return false;
	return true;
}

static bool step_valid(const struct plan_view *v, const struct step *s)
{
	if (s->kind == STEP_NONE || s->kind >= STEP_COUNT_ || !text_at(v, s->a) || !text_at(v, s->b))
		return false;
	if (s->kind == STEP_TTY && s->y != 0 && s->y != TTY_MODES_BYTES)
		return false;
	if (s->kind == STEP_LISTEN)
		return s->x > 0 && s->x <= UINT16_MAX;
	if (s->kind == STEP_FILE || s->kind == STEP_TTY)
		return plan_bytes(v, s->b, s->y).p;
	if (s->kind == STEP_SECCOMP)
		return s->b % 8 == 0 && s->x > 0 && s->x <= BPF_MAXINSNS &&
		       plan_bytes(v, s->b, s->x * sizeof(struct sock_filter)).p;
	if (s->kind == STEP_OVERLAY) {
		struct str upper = plan_text_after(v, plan_text(v, s->b));

		return upper.n > 0 && plan_text_after(v, upper).n > 0;
	}
	return true;
}

int plan_open(struct str plan, struct plan_view *ret)
{
	struct plan_view v = { .bytes = plan };

	if (plan.n < sizeof(v.head))
		return -EINVAL;
	memcpy(&v.head, plan.p, sizeof(v.head));
	if (!head_valid(&v))
		return -EINVAL;
	v.strings = (struct str){ .p = plan.p + v.head.strings, .n = v.head.n_strings };
	if (v.strings.p[v.strings.n - 1] != '\0' || v.head.path >= v.strings.n ||
	    !words_valid(&v, v.head.argv, v.head.argc) || !words_valid(&v, v.head.env, v.head.envc))
		return -EINVAL;
	for (uint32_t i = 0; i < v.head.n_steps; i++) {
		struct step s = plan_step(&v, i);

		if (!step_valid(&v, &s))
			return -EINVAL;
	}
	*ret = v;
	return 0;
}

struct step plan_step(const struct plan_view *v, uint32_t i)
{
	struct step s;

	memcpy(&s, v->bytes.p + v->head.steps + i * sizeof(s), sizeof(s));
	return s;
}

struct str plan_text(const struct plan_view *v, uint32_t offset)
{
	return text_at(v, offset) ? str_z(v->strings.p + offset) : STR("");
}

struct str plan_arg(const struct plan_view *v, uint32_t i)
{
	return plan_text(v, word_at(v, v->head.argv, i));
}

struct str plan_env(const struct plan_view *v, uint32_t i)
{
	return plan_text(v, word_at(v, v->head.env, i));
}

struct str plan_bytes(const struct plan_view *v, uint32_t offset, uint64_t n)
{
	if (offset > v->strings.n || n > v->strings.n - offset)
		return (struct str){ .p = NULL, .n = 0 };
	return (struct str){ .p = v->strings.p + offset, .n = (size_t)n };
}

struct str plan_text_after(const struct plan_view *v, struct str before)
{
	size_t at = (size_t)(before.p - v->strings.p) + before.n + 1;

	return at < v->strings.n ? str_z(v->strings.p + at) : STR("");
}
