/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Canonical files out of a number: every option and every part comes up, with odd but legal values. The same number
 * gives the same text on every machine.
 */
#pragma once

#include "config/loading.h"

struct gen {
	uint64_t state;
	struct buf *out;
};

static inline uint64_t gen_next(struct gen *g)
{
	/* splitmix64: small, and good enough to walk through cases */
	uint64_t z = g->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static inline unsigned gen_below(struct gen *g, unsigned n)
{
	return (unsigned)(gen_next(g) % n);
}

static const char *const gen_words[] = {
	"a",     "read",     "group:fs", "*",     "x.y",    "with space", "\\u00e9",
	"\\\"q", "back\\\\", "${A}",     "$${A}", "$$${B}", "\\n",        "emoji \\ud83d\\ude00",
	"-100",  "\\u2028",  "'",        "//",    "",       "true"
};

static inline const char *gen_word(struct gen *g)
{
	return gen_words[gen_below(g, sizeof(gen_words) / sizeof(gen_words[0]))];
}

static inline void gen_list(struct gen *g, enum option id)
{
	unsigned n = gen_below(g, 4);

	buf_putc(g->out, '[');
	for (unsigned i = 0; i < n; i++) {
		if (id == OPT_BACKEND_ORDER)
			buf_puts(g->out, gen_below(g, 2) ? "\"docker\"," : "\"native\",");
		else if (id == OPT_ENV_SECRETS)
			buf_printf(g->out, "\"N%u\",", gen_below(g, 9));
		else if (id == OPT_WALLS_OPTIONAL)
			buf_puts(g->out, gen_below(g, 2) ? "\"landlock\"," : "\"time\",");
		else if (id == OPT_SYNC_BLOCKED_EXT)
			buf_printf(g->out, "\".e%u\",", gen_below(g, 9));
		else
			buf_printf(g->out, "\"%s\",", gen_word(g));
	}
	buf_putc(g->out, ']');
}

static inline void gen_env(struct gen *g)
{
	unsigned n = gen_below(g, 4);

	buf_putc(g->out, '{');
	for (unsigned i = 0; i < n; i++) {
		const char *word = gen_word(g);

		buf_printf(g->out, "V%u_TOKEN:\"%s\",", i, strcmp(word, "\\n") == 0 ? "line" : word);
	}
	buf_putc(g->out, '}');
}

static inline void gen_layers(struct gen *g)
{
	unsigned n = gen_below(g, 3);

	buf_putc(g->out, '{');
	for (unsigned i = 0; i < n; i++) {
		buf_printf(g->out, "\"p%u/%s\":{", i, gen_word(g));
		if (gen_below(g, 2))
			buf_puts(g->out, "profile:'coding',");
		if (gen_below(g, 2))
			buf_puts(g->out, "allow:"), gen_list(g, OPT_TOOLS_ALLOW), buf_putc(g->out, ',');
		if (gen_below(g, 2))
			buf_puts(g->out, "alsoAllow:[],");
		if (gen_below(g, 2))
			buf_puts(g->out, "deny:['d'],");
		buf_puts(g->out, "},");
	}
	buf_putc(g->out, '}');
}

static inline void gen_number(struct gen *g, const struct option_info *info)
{
	uint64_t min = (uint64_t)(info->min < 1 ? 1 : info->min), max = (uint64_t)info->max;
	uint64_t v = min + gen_next(g) % (max - min + 1);

	if (info->type == TYPE_SIZE && gen_below(g, 2) && max >= 1 << 21)
		buf_printf(g->out, "'%um'", 1 + gen_below(g, 1024));
	else if (info->type == TYPE_NUM && gen_below(g, 2))
		buf_printf(g->out, "%u.%02u", 1 + gen_below(g, 1000), gen_below(g, 100));
	else
		buf_printf(g->out, "%llu", (unsigned long long)v);
}

static inline void gen_text(struct gen *g, enum option id)
{
	if (id == OPT_SERVE_GUARD || id == OPT_SERVE_RUNNER || id == OPT_SERVE_OPENSANDBOX)
		buf_printf(g->out, "'127.0.0.1:%u'", gen_below(g, 65536));
	else if (id == OPT_VAULT_PATH)
		buf_printf(g->out, "\"/%s\"", gen_word(g));
	else
		buf_printf(g->out, "\"%s\"", gen_word(g));
}

static inline void gen_value(struct gen *g, enum option id)
{
	const struct option_info *info = option_info(id);
	unsigned n = 0;

	switch (info->type) {
	case TYPE_BOOL:
		buf_puts(g->out, gen_below(g, 2) ? "true" : "false");
		return;
	case TYPE_U64:
	case TYPE_NUM:
	case TYPE_SIZE:
		gen_number(g, info);
		return;
	case TYPE_ENUM:
		while (info->names[n].name)
			n++;
		buf_printf(g->out, "'%s'", info->names[gen_below(g, n)].name);
		return;
	case TYPE_STR:
		gen_text(g, id);
		return;
	case TYPE_LIST:
		gen_list(g, id);
		return;
	case TYPE_MAP:
		buf_printf(g->out, "{nofile:'%u:%u',core:%u}", gen_below(g, 9), gen_below(g, 99),
			   gen_below(g, 9));
		return;
	case TYPE_ENV:
		gen_env(g);
		return;
	case TYPE_BINDS:
		buf_printf(g->out, "[\"/h%u:/t:ro\",\"/x\"]", gen_below(g, 9));
		return;
	case TYPE_LAYERS:
		gen_layers(g);
		return;
	case TYPE_LISTMAP:
		buf_printf(g->out, "{telegram:[%u,'*'],\"%s!\":[]}", gen_below(g, 99), gen_word(g));
		return;
	case TYPE_REF:
		buf_puts(g->out, gen_below(g, 2) ? "'env:K'" : "'raw:sec ret'");
		return;
	}
}

/* key: {key: {key: value}} */
static inline void gen_option(struct gen *g, enum option id, const char *skip)
{
	struct str rest = str_from(str_z(option_info(id)->key), strlen(skip)), word;
	unsigned depth = 0;

	for (; str_cut(rest, '.', &word, &rest); depth++)
		buf_printf(g->out, "%.*s:{", (int)word.n, word.p);
	buf_printf(g->out, "%.*s:", (int)rest.n, rest.p);
	gen_value(g, id);
	for (; depth; depth--)
		buf_putc(g->out, '}');
}
