/* SPDX-License-Identifier: Apache-2.0 */
#include "server/callers.h"

#include "base/log.h"

#include <errno.h>

#define ENVIRONMENT "SANDBOX_GUARD_TOKEN"

enum {
	FIXED_MAX = 64,
	USES_MAX = TOKENS_MAX,
	NOTE_MS = 60000,
	PATIENCE_MS = 20, /* whoever waits for the lock lets everybody wait */
	SHORT_TOKEN = 16,
};
#define ARENA_MAX ((size_t)4 << 20)

struct callers {
	struct token_store *store;
	struct token_entry fixed[FIXED_MAX]; /* of the environment and the configuration */
	size_t n_fixed;
	/* Made anew with every change of the file. */
	struct arena arena;
	struct tokens all; /* the file's first */
	struct config config;
	uint64_t list;                             /* counts them */
	char people[SHA256_HEX];                   /* what of them counts for policy */
	char said[sizeof(((struct err *)0)->msg)]; /* the last trouble that was logged */
	struct token_use uses[USES_MAX];
	size_t n_uses;
	uint64_t noted_ms;
};

struct callers *callers_free(struct callers *c)
{
	if (!c)
		return NULL;
	arena_done(&c->arena);
	(void)token_store_close(c->store);
	free(c);
	return NULL;
}

static struct str variable(char *const *vars, struct str name)
{
	struct str key, value;

	for (char *const *v = vars; v && *v; v++)
		if (str_cut(str_z(*v), '=', &key, &value) && str_eq(key, name))
			return value;
	return (struct str){ 0 };
}

static int add_fixed(struct callers *c, struct str secret, const struct token_entry *like, bool told,
		     struct err *e)
{
	struct token_entry *entry = &c->fixed[c->n_fixed];

	if (c->n_fixed == FIXED_MAX)
		return err_set(e, ERR_LIMIT, "identity.tokens: more than %d", FIXED_MAX - 1);
	if (secret.n < SHORT_TOKEN && !told)
		LOG(LOG_WARN,
		    "a token is so short that it can be guessed; 'creel token new' makes better ones",
		    KV_STR("token", like->name));
	*entry = *like;
	sha256_hex(secret, entry->hash);
	c->n_fixed++;
	return 0;
}

/* The configuration's come last: what is found last counts, and theirs may be bound to fewer pairs. */
static int add_all_fixed(struct callers *c, const struct callers_opts *o, struct err *e)
{
	const struct token_entry environment = { .name = STR("environment"), .all_pairs = true };
	struct str secret = variable(o->environ, STR(ENVIRONMENT));
	int r = secret.n ? add_fixed(c, secret, &environment, o->told, e) : 0;

	for (size_t i = 0; r >= 0 && i < o->config->n_tokens; i++) {
		const struct token *t = &o->config->tokens[i];
		const struct token_entry entry = { .name = STR("identity.tokens"),
						   .all_pairs = t->all_pairs,
						   .pairs = t->pairs,
						   .n_pairs = t->n_pairs };

		secret = t->ref.kind == REF_ENV ? variable(o->environ, t->ref.text) : t->ref.text;
		if (t->ref.kind != REF_NONE && secret.n)
			r = add_fixed(c, secret, &entry, o->told, e);
		else if (!o->told)
			LOG(LOG_WARN, "a token of identity.tokens is not used: its variable is not set",
			    KV_STR("variable", t->ref.kind == REF_ENV ? t->ref.text : STR("")));
	}
	return r;
}

static void add(struct sha256 *c, struct str s)
{
	uint64_t n = s.n;

	sha256_add(c, (struct str){ .p = (const char *)&n, .n = sizeof(n) });
	sha256_add(c, s);
}

/* All but when they were made and used. */
static void hash_people(const struct tokens *all, char out[static SHA256_HEX])
{
	unsigned char sum[SHA256_BYTES];
	struct sha256 c;

	sha256_init(&c);
	for (size_t i = 0; i < all->n; i++) {
		const struct token_entry *t = &all->v[i];
		const uint64_t numbers[] = { t->all_pairs, t->admin, t->expires_ms, t->revoked_ms,
					     t->n_pairs };

		sha256_add(&c, (struct str){ .p = (const char *)numbers, .n = sizeof(numbers) });
		add(&c, str_z(t->hash));
		add(&c, t->name);
		for (size_t j = 0; j < t->n_pairs; j++) {
			add(&c, t->pairs[j].channel);
			add(&c, t->pairs[j].agent);
			add(&c, t->pairs[j].chat_id);
		}
	}
	sha256_end(&c, sum);
	hash_to_hex(sum, sizeof(sum), out);
}

/* The file's and the others in one list, so that one search finds any of them in the same time. */
static int join(struct callers *c, struct err *e)
{
	const struct tokens *stored = token_store_tokens(c->store);
	_cleanup_arena_ struct arena a = { 0 };
	struct tokens all = { .n = stored->n + c->n_fixed };
	struct token *tokens;

	arena_init(&a, ARENA_MAX);
	all.v = ARENA_ARRAY(&a, struct token_entry, all.n);
	for (size_t i = 0; all.v && i < all.n; i++)
		all.v[i] = i < stored->n ? stored->v[i] : c->fixed[i - stored->n];
	tokens = all.v ? tokens_for_policy(&all, &a) : NULL;
	if (!tokens)
		return err_set(e, ERR_LIMIT, "the tokens need more memory than they may have");
	arena_done(&c->arena);
	c->arena = a;
	a = (struct arena){ 0 };
	c->all = all;
	hash_people(&all, c->people);
	c->config.tokens = tokens;
	c->config.n_tokens = all.n;
	return 0;
}

int callers_open(const struct callers_opts *o, struct callers **ret, struct err *e)
{
	_cleanup_(callers_freep) struct callers *c = calloc(1, sizeof(*c));

	if (!c)
		return err_sys(e, ENOMEM, "callers");
	c->config = *o->config;
	if (token_store_open(o->dir, &c->store, e) < 0 || token_store_load(c->store, e) < 0 ||
	    add_all_fixed(c, o, e) < 0 || join(c, e) < 0)
		return -1;
	token_store_patience(c->store, PATIENCE_MS);
	if (c->all.n == 0)
		return err_set(
			e, ERR_USAGE,
			"no caller has a token: 'creel token new --pairs AGENT:CHAT' makes one (or set " ENVIRONMENT
			" in the environment)");
	*ret = TAKE_PTR(c);
	return 0;
}

/* What the list borrowed is gone: nobody is let in rather than somebody wrong. */
static int join_or_none(struct callers *c, struct err *e)
{
	int r = join(c, e);

	c->list++;
	if (r < 0) {
		c->all.n = c->config.n_tokens = 0;
		c->people[0] = '\0';
	}
	return r;
}

int callers_refresh(struct callers *c)
{
	struct err e = { 0 };
	int r = token_store_load(c->store, &e);

	if (r > 0 && join_or_none(c, &e) < 0)
		r = -1;
	if (r < 0 && strcmp(c->said, e.msg) != 0) {
		LOG(LOG_ERROR, "tokens cannot be read again; those that were read last count",
		    KV_Z("why", e.msg));
		memcpy(c->said, e.msg, sizeof(c->said));
	}
	if (r > 0)
		c->said[0] = '\0';
	return r;
}

enum token_state callers_find(const struct callers *c, struct str presented, uint64_t now_ms,
			      struct caller *ret)
{
	size_t i = 0;
	enum token_state state = tokens_find(&c->all, presented, now_ms, &i);

	if (state != TOKEN_VALID)
		return state;
	*ret = (struct caller){ .index = i,
				.name = c->all.v[i].name,
				.all_pairs = c->all.v[i].all_pairs,
				.admin = c->all.v[i].admin,
				.stored = i < c->all.n - c->n_fixed,
				.list = c->list };
	token_id(&c->all.v[i], ret->id);
	return state;
}

bool callers_is_current(const struct callers *c, const struct caller *who)
{
	return who->list == c->list;
}

bool callers_speak_on(const struct callers *c, const struct caller *who, struct str channel)
{
	const struct token_entry *t = &c->all.v[who->index];

	for (size_t i = 0; i < t->n_pairs; i++)
		if (str_eq(t->pairs[i].channel, channel))
			return true;
	return t->all_pairs;
}

const char *callers_people(const struct callers *c)
{
	return c->people;
}

const struct config *callers_config(const struct callers *c)
{
	return &c->config;
}

void callers_used(struct callers *c, const struct caller *who, uint64_t now_ms)
{
	size_t i = 0;

	if (!who->stored)
		return;
	while (i < c->n_uses && strcmp(c->uses[i].id, who->id) != 0)
		i++;
	if (i == USES_MAX)
		return;
	if (i == c->n_uses)
		memcpy(c->uses[c->n_uses++].id, who->id, sizeof(who->id));
	c->uses[i].ms = now_ms;
}

int callers_note(struct callers *c, uint64_t now_ms)
{
	struct err e = { 0 };
	int r;

	if (c->n_uses == 0 || (c->noted_ms && now_ms >= c->noted_ms && now_ms < c->noted_ms + NOTE_MS))
		return 0;
	c->noted_ms = now_ms;
	r = tokens_used(c->store, c->uses, c->n_uses, &e);
	if (r < 0)
		LOG(LOG_INFO, "the last use of tokens was not noted", KV_Z("why", e.msg));
	else
		c->n_uses = 0;
	if (r == 0)
		return 0;
	/* Noted or not: what was read of the file may have moved. */
	if (join_or_none(c, &e) < 0)
		LOG(LOG_ERROR, "no token is known any more", KV_Z("why", e.msg));
	return 1;
}
