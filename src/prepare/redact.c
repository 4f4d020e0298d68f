/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last look at what is printed: values that a configuration took from the environment leave as ${NAME}. The rooms
 * below do not print them either; this is for the one place that was forgotten.
 */
#include "prepare/prepare.h"

#include "base/jsonw.h"
#include "policy/envname.h"

/*
 * Shorter ones are no secrets, and replacing them would garble everything. So would a word of ours that a variable
 * happens to hold (USER=node, MODE=none): unless its name speaks of a secret, it has to look like one.
 */
enum { SHORTEST_SECRET = 4, SHORTEST_OTHER = 8 };

/* Names of tools and agents are lower-cased on their way, so case does not count. */
static const char *find(struct str text, struct str part)
{
	for (; text.n >= part.n; text = str_from(text, 1))
		if (str_eq_nocase((struct str){ .p = text.p, .n = part.n }, part))
			return text.p;
	return NULL;
}

static void replace_all(struct buf *b, struct str from, const struct env_used *u)
{
	struct buf out = { 0 };
	struct str rest = buf_str(b);
	const char *next;

	if (!find(rest, from))
		return;
	buf_init(&out, b->max_bytes);
	while ((next = find(rest, from))) {
		buf_put(&out, (struct str){ .p = rest.p, .n = (size_t)(next - rest.p) });
		buf_printf(&out, "${%.*s}", (int)u->name.n, u->name.p);
		rest = str_from(rest, (size_t)(next - rest.p) + from.n);
	}
	buf_put(&out, rest);
	buf_done(b);
	*b = out;
}

/* As it is, as JSON writes it, and as people see it. */
static void hide(struct buf *b, const struct env_used *u)
{
	_cleanup_buf_ struct buf text = { 0 };
	struct jsonw w;

	replace_all(b, u->value, u);
	buf_init(&text, REDACT_MAX);
	jsonw_init(&w, &text, 0);
	jsonw_str(&w, u->value);
	if (!text.failed && text.n > u->value.n + 2)
		replace_all(b, (struct str){ .p = text.p + 1, .n = text.n - 2 }, u);
	buf_done(&text);
	buf_init(&text, REDACT_MAX);
	buf_put_visible(&text, u->value);
	if (text.n > u->value.n)
		replace_all(b, buf_str(&text), u);
}

static bool is_plain_word(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!(s.p[i] >= 'a' && s.p[i] <= 'z') && s.p[i] != '-' && s.p[i] != '_')
			return false;
	return true;
}

static bool is_worth_hiding(const struct env_used *u)
{
	if (env_name_looks_secret(u->name))
		return u->value.n >= SHORTEST_SECRET;
	return u->value.n >= SHORTEST_OTHER && !is_plain_word(u->value);
}

void redact(struct buf *b, const struct config *c, bool only_secret_names)
{
	for (size_t i = 0; i < c->n_env_used; i++)
		if (is_worth_hiding(&c->env_used[i]) &&
		    (!only_secret_names || env_name_looks_secret(c->env_used[i].name)))
			hide(b, &c->env_used[i]);
}
