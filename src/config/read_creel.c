/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical file: options by their nested keys, and the parts that are lists of things. */
#include "config/load_priv.h"

#define KNOWN_MAX 96

static void ignore(struct load *l, const struct value *v, const struct at *at)
{
	(void)l, (void)v, (void)at; /* $schema is for editors */
}

/* A file's list was read before anything was applied; a flag comes too late for that. */
static void imported_already(struct load *l, const struct value *v, const struct at *at)
{
	if (at->from)
		bad(l, at, v, "import_from_flag", "only a file can import, accepted: -c FORMAT:FILE");
}

static const struct {
	const char *path;
	void (*read)(struct load *, const struct value *, const struct at *);
} parts[] = {
	{ "$schema", ignore },
	{ "import", imported_already },
	{ "identity.pairs", read_pairs },
	{ "identity.tokens", read_tokens },
	{ "mode.trust.rules", read_rules },
	{ "tools.per", read_per_tool },
	{ "agents", read_agents },
};
#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

/* The word after `path.` in `key`, or nothing. */
static struct str next_word(struct str key, struct str path)
{
	struct str word, rest;

	if (path.n) {
		if (!str_starts(key, path) || key.n <= path.n || key.p[path.n] != '.')
			return (struct str){ 0 };
		key = str_from(key, path.n + 1);
	}
	return str_cut(key, '.', &word, &rest) ? word : key;
}

static void add_known(struct load *l, const char **known, size_t *n, struct str word)
{
	for (size_t i = 0; i < *n; i++)
		if (str_eq(str_z(known[i]), word))
			return;
	if (word.n && *n < KNOWN_MAX)
		known[(*n)++] = arena_str(l->a, word).p;
}

/* What may stand below `path`, for messages. */
static const char *const *known_below(struct load *l, struct str path, unsigned need)
{
	const char **known = ARENA_ARRAY(l->a, const char *, KNOWN_MAX + 1);
	size_t n = 0;

	if (!known)
		return NULL;
	for (unsigned i = 0; i < OPT_COUNT_; i++) {
		const struct option_info *info = option_info((enum option)i);

		if (need == 0 || info->flags & need)
			add_known(l, known, &n, next_word(str_z(info->key), path));
	}
	if (need == F_AGENT && path.n == 0)
		add_known(l, known, &n, STR("default"));
	for (size_t i = 0; need == 0 && i < N_PARTS; i++)
		if (parts[i].path[0] != '$')
			add_known(l, known, &n, next_word(str_z(parts[i].path), path));
	return known;
}

static bool is_section(struct str path)
{
	for (unsigned i = 0; i < OPT_COUNT_; i++)
		if (next_word(str_z(option_info((enum option)i)->key), path).n)
			return true;
	return false;
}

static struct str below(struct load *l, struct str path, struct str key)
{
	const struct at at = { .key = path };

	return at_key(l, &at, key).key;
}

static bool read_part(struct load *l, struct str path, const struct value *v, const struct at *at)
{
	for (size_t i = 0; i < N_PARTS; i++) {
		if (str_eq(str_z(parts[i].path), path)) {
			parts[i].read(l, v, at);
			return true;
		}
	}
	return false;
}

static void read_option(struct load *l, struct settings *s, unsigned need, enum option id,
			const struct value *v, const struct at *at)
{
	if (need == 0 || option_info(id)->flags & need)
		(void)load_set(l, s, id, v, at, false);
	else
		bad(l, at, v, "not_here", "cannot be set %s, accepted: at the top level",
		    need & F_AGENT ? "for one agent" : "by a rule");
}

/* As deep as the table: its longest key has five words. NOLINTBEGIN(misc-no-recursion) */
static void read_one(struct load *l, struct settings *s, unsigned need, const struct member *m,
		     const struct at *at, struct str path)
{
	struct str down_path = below(l, path, m->key);
	struct at down = at_key(l, at, m->key);
	bool dotted = m->key.n && memchr(m->key.p, '.', m->key.n);
	enum option id;

	if (!dotted && option_find(down_path, &id))
		read_option(l, s, need, id, &m->v, &down);
	else if (!dotted && need == 0 && read_part(l, down_path, &m->v, &down))
		return;
	else if (dotted || m->key.n == 0 || !is_section(down_path))
		bad_key(l, at, m, known_below(l, path, need));
	else if (m->v.kind != VALUE_OBJ)
		bad(l, &down, &m->v, "wrong_type", "expected an object, found %s",
		    value_kind_name(m->v.kind));
	else
		read_options(l, s, need, &m->v, &down, down_path);
}

void read_options(struct load *l, struct settings *s, unsigned need, const struct value *obj,
		  const struct at *at, struct str path)
{
	for (size_t i = 0; i < obj->obj.n; i++)
		read_one(l, s, need, &obj->obj.m[i], at, path);
}

/* NOLINTEND(misc-no-recursion) */

bool read_creel_member(struct load *l, const struct member *m, const struct at *at)
{
	enum option id;
	bool known = option_find(m->key, &id) || is_section(m->key);

	for (size_t i = 0; !known && i < N_PARTS; i++)
		known = str_eq(str_z(parts[i].path), m->key);
	if (known)
		read_one(l, &l->c->base, 0, m, at, (struct str){ 0 });
	return known;
}

void read_creel(struct load *l, const struct value *root, struct str file)
{
	const struct at at = { .file = file };

	if (root->kind != VALUE_OBJ) {
		bad(l, &at, root, "wrong_type", "expected an object, found %s", value_kind_name(root->kind));
		return;
	}
	read_options(l, &l->c->base, 0, root, &at, (struct str){ 0 });
}
